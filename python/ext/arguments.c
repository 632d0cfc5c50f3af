// See objects.h. Which parameters of a kernel take memory.
#include "objects.h"

#include <stdio.h>
#include <string.h>

bool ext_argument_is_image(const kp_param *p) {
    return p->kind == KP_PARAM_IMAGE || p->kind == KP_PARAM_TEXTURE || p->kind == KP_PARAM_SAMPLER;
}

static bool is_memory(const kp_param *p) {
    return p->kind == KP_PARAM_BUFFER || p->kind == KP_PARAM_UNIFORM || ext_argument_is_image(p);
}

const kp_param *ext_argument_next(const kp_program *program, const kp_param *p) {
    const kp_param *end = program->params + program->param_count;
    for (p = p == NULL ? program->params : p + 1; p != end; p++) {
        if (is_memory(p))
            return p;
    }
    return NULL;
}

void ext_argument_name(const char *kernel, const kp_param *p, char text[EXT_ARGUMENT_NAME]) {
    snprintf(text, EXT_ARGUMENT_NAME, "%.200s() argument '%.200s'", kernel, p->name);
}

ext_wanted ext_argument_of(const ext_tensor *t) {
    ext_wanted w = {.image = t->image, .dtype = t->dtype, .ndim = (uint32_t)t->ndim};
    for (int i = 0; i < t->ndim; i++)
        w.shape[i] = (uint64_t)t->shape[i];
    return w;
}

uint64_t ext_argument_count(const ext_wanted *w) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < w->ndim; i++)
        count *= w->shape[i];
    return count;
}

const kp_param *ext_argument_written(const kp_program *program, size_t *number) {
    *number = 0;
    const kp_param *p = ext_argument_next(program, NULL);
    for (; p != NULL && !p->writes; p = ext_argument_next(program, p))
        ++*number;
    return p;
}

PyObject *ext_argument_extent(PyObject *module, PyObject *args) {
    const char *name, *index;
    PyObject *shape;
    kp_param params[2] = {{.kind = KP_PARAM_INPUT}};
    uint64_t axes[KP_MAX_DIMS];
    uint32_t ndim, extent[3];
    int image;
    if (!PyArg_ParseTuple(args, "ssOzpII:extent", &name, &index, &shape, &params[1].name, &image, &params[1].ndim,
                          &params[1].components) ||
        ext_axes_read(shape, &ndim, axes) < 0)
        return NULL;
    params[0].type = index;
    params[1].kind = image ? KP_PARAM_IMAGE : KP_PARAM_BUFFER;
    const kp_program kernel = {.name = name, .params = params, .param_count = 1};
    kp_result result = kp_program_extent(&kernel, params[1].name != NULL ? &params[1] : NULL, ndim, axes, extent);
    if (result != KP_OK)
        return ext_error_raise(PyModule_GetState(module), result);
    PyObject *tuple = Py_BuildValue("(III)", extent[0], extent[1], extent[2]);
    Py_ssize_t count = strcmp(index, "Index3") == 0 ? 3 : strcmp(index, "Index2") == 0 ? 2 : 1;
    PyObject *part = tuple != NULL ? PyTuple_GetSlice(tuple, 0, count) : NULL;
    Py_XDECREF(tuple);
    return part;
}
