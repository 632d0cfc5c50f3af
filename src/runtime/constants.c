// See constants.h.
#include "constants.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/launch.h"
#include "base/structs.h"

static kp_result add(kp_constants *c, const kp_param *param) {
    kp_param *p = &c->list[c->count];
    *p = *param;
    p->name = kp_alloc_text(param->name != NULL ? param->name : "");
    p->type = kp_alloc_text(param->type != NULL ? param->type : kp_dtype_name(param->dtype));
    p->structure = NULL;
    c->count++; // kp_constants_free frees what there is
    if (p->name == NULL || p->type == NULL)
        return kp_error_host_memory(1);
    if (param->structure == NULL)
        return KP_OK;
    kp_struct *copy = NULL;
    kp_result result = kp_structs_copy(param->structure, "push constants", &copy);
    p->structure = copy;
    return result;
}

static kp_result from_program(kp_constants *c, const kp_program *program) {
    kp_result result = KP_OK;
    for (size_t i = 0; i < program->param_count && result == KP_OK; i++) {
        const kp_param *p = &program->params[i];
        if (p->kind == KP_PARAM_CONSTANT || p->kind == KP_PARAM_SPEC)
            result = add(c, p);
    }
    return result;
}

static kp_result from_module(kp_constants *c, const kp_reflect *reflect) {
    kp_result result = KP_OK;
    for (size_t i = 0; i < reflect->push_count && result == KP_OK; i++) {
        const kp_reflect_member_info *m = &reflect->push[i];
        result = add(c, &(kp_param){.name = m->name,
                                    .kind = KP_PARAM_CONSTANT,
                                    .dtype = m->dtype,
                                    .components = m->components,
                                    .offset = m->offset,
                                    .size = m->components * (uint32_t)kp_dtype_size(m->dtype)});
    }
    for (size_t i = 0; i < reflect->spec_count && result == KP_OK; i++) {
        const kp_reflect_spec *s = &reflect->specs[i];
        if (!kp_launch_has_spec(s->id))
            result = add(c, &(kp_param){.name = s->name,
                                        .kind = KP_PARAM_SPEC,
                                        .dtype = s->dtype,
                                        .components = 1,
                                        .size = (uint32_t)kp_dtype_size(s->dtype),
                                        .spec_id = s->id,
                                        .optional = true,
                                        .default_bits = s->value});
    }
    return result;
}

kp_result kp_constants_read(kp_constants *constants, const kp_program *program, const kp_reflect *reflect) {
    bool known = program != NULL && program->params != NULL;
    size_t room = known ? program->param_count : reflect->push_count + reflect->spec_count;
    kp_constants c = {.list = kp_alloc_zero(room, sizeof *c.list)};
    if (c.list == NULL)
        return kp_error_host_memory(room * sizeof *c.list);
    kp_result result = known ? from_program(&c, program) : from_module(&c, reflect);
    if (result != KP_OK)
        kp_constants_free(&c);
    else
        *constants = c;
    return result;
}

void kp_constants_free(kp_constants *constants) {
    for (size_t i = 0; i < constants->count; i++) {
        kp_alloc_free((void *)(uintptr_t)constants->list[i].name);
        kp_alloc_free((void *)(uintptr_t)constants->list[i].type);
        kp_alloc_free((void *)(uintptr_t)constants->list[i].structure);
    }
    kp_alloc_free(constants->list);
    *constants = (kp_constants){0};
}
