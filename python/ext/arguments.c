// See ext.h. Which parameters of a kernel take memory, and over which indices it runs when nobody says: the same for a
// call and for Kernel.algorithm().
#include "ext.h"

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

// A new tuple of `count` axes, `step` apart.
static PyObject *axes_tuple(const uint64_t *axes, uint32_t count, int step) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *axis = PyLong_FromUnsignedLongLong(axes[(int)i * step]);
        if (axis == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, (Py_ssize_t)i, axis);
    }
    return tuple;
}

// "Index2", how many axes that has, or NULL and 1.
static const char *index_of(const kp_program *program, uint32_t *axes) {
    *axes = 1;
    for (size_t i = 0; i < program->param_count; i++) {
        const kp_param *p = &program->params[i];
        bool two = strcmp(p->type, "Index2") == 0, three = strcmp(p->type, "Index3") == 0;
        if (p->kind == KP_PARAM_INPUT && (two || three)) {
            *axes = two ? 2 : 3;
            return p->type;
        }
    }
    return NULL;
}

static PyObject *no_extent(const char *name, const char *index) {
    if (index != NULL)
        return PyErr_Format(PyExc_TypeError, "%s() has %s: give its extent, as in %s(..., extent=(640, 480))", name,
                            index, name);
    return PyErr_Format(PyExc_TypeError, "%s() writes no buffer: give its extent, as in %s(..., extent=100)", name,
                        name);
}

PyObject *ext_argument_extent(const kp_program *program, const char *name, const ext_wanted *given) {
    uint32_t axes;
    const char *index = index_of(program, &axes);
    for (const kp_param *p = ext_argument_next(program, NULL); p != NULL; p = ext_argument_next(program, p), given++) {
        if (!p->writes)
            continue;
        if (ext_argument_is_image(p) && axes == p->ndim) // x is the last axis but that of the channels
            return axes_tuple(given->shape + given->ndim - 2, given->ndim - 1, -1);
        if (ext_argument_is_image(p))
            return PyErr_Format(PyExc_TypeError, "%s() has %s, but '%s' has %u axes: give its extent", name,
                                index != NULL ? index : "Index", p->name, p->ndim);
        if (p->ndim > 1 && axes <= p->ndim)
            return axes_tuple(given->shape + axes - 1, axes, -1);
        if (axes > 1)
            break;
        uint64_t count = ext_argument_count(given) / p->components;
        return axes_tuple(&count, 1, 1);
    }
    return no_extent(name, index);
}
