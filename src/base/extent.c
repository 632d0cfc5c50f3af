// See extent.h.
#include "extent.h"

#include "error.h"

#include <string.h>

uint32_t kp_extent_axes(const kp_program *program) {
    for (size_t i = 0; i < program->param_count; i++) {
        const char *type = program->params[i].type;
        if (program->params[i].kind == KP_PARAM_INPUT && type != NULL && strncmp(type, "Index", 5) == 0)
            return type[5] == '3' ? 3 : type[5] == '2' ? 2 : 1;
    }
    return 0;
}

static bool is_image(const kp_param *param) {
    return param->kind == KP_PARAM_IMAGE || param->kind == KP_PARAM_TEXTURE || param->kind == KP_PARAM_SAMPLER;
}

// What does not fit is beyond every limit in any case.
static uint32_t cut(uint64_t count) { return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count; }

// The index's x is the last axis of a view, but for those of its elements; of an image the last but for the channels.
bool kp_extent_find(const kp_param *param, uint32_t index_axes, uint32_t ndim, const uint64_t *shape,
                    uint32_t extent[3]) {
    bool image = is_image(param), flat = !image && param->ndim < 2;
    if (image ? index_axes != param->ndim || ndim != index_axes + 1
              : index_axes > (flat ? 1 : param->ndim) || (!flat && ndim < param->ndim))
        return false;
    extent[0] = extent[1] = extent[2] = 1;
    for (uint32_t i = 0; !flat && i < index_axes; i++)
        extent[i] = cut(shape[index_axes - 1 - i]);
    uint64_t count = 1;
    for (uint32_t i = 0; i < ndim; i++)
        count *= shape[i];
    if (flat)
        extent[0] = cut(count / param->components);
    return true;
}

kp_result kp_program_extent(const kp_program *program, const kp_param *param, uint32_t ndim, const uint64_t *shape,
                            uint32_t extent[3]) {
    if (program == NULL || (param != NULL && shape == NULL) || extent == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_program_extent: %s is NULL",
                            program == NULL  ? "program"
                            : extent == NULL ? "extent"
                                             : "shape");
    const char *name = program->name != NULL ? program->name : "kernel";
    static const char *const indices[] = {"Index", "Index", "Index2", "Index3"};
    uint32_t given = kp_extent_axes(program), axes = given != 0 ? given : 1;
    if (param != NULL && kp_extent_find(param, axes, ndim, shape, extent))
        return KP_OK;
    if (param != NULL && is_image(param))
        return kp_error_set(KP_ERROR_TYPE, "%s() has %s, but '%s' has %u axes: give its extent", name, indices[axes],
                            param->name, param->ndim);
    if (axes > 1)
        return kp_error_set(KP_ERROR_TYPE, "%s() has %s: give its extent, as in %s(..., extent=(640, 480))", name,
                            indices[axes], name);
    return kp_error_set(KP_ERROR_TYPE, "%s() writes no buffer: give its extent, as in %s(..., extent=100)", name, name);
}
