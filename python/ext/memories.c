// See objects.h. Lists of memory, as arguments: the handles of what is usable, held while a call works on them.
#include "objects.h"

PyObject *ext_memories_tuple(kp_ext *ext, PyObject *object, const char *what) {
    if (PyObject_TypeCheck(object, ext->memory_type)) // iterating over it would give its elements
        return PyErr_Format(PyExc_TypeError, "%s: must be a list of kp.Tensor, not one tensor; write [tensor]", what);
    PyObject *tuple = PySequence_Tuple(object);
    if (tuple == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%s: must be a list of kp.Tensor, not %R", what, Py_TYPE(object));
        }
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (PyObject_TypeCheck(item, ext->memory_type))
            continue;
        PyErr_Format(PyExc_TypeError, "%s[%zd]: must be a kp.Tensor, not %R", what, i, Py_TYPE(item));
        Py_DECREF(tuple);
        return NULL;
    }
    return tuple;
}

// What a tensor lacks that is to be used by this manager; NULL: nothing.
static const char *unusable(const ext_core *core, const ext_tensor *t, kp_result *result) {
    *result = KP_ERROR_STATE;
    if (t->handle == NULL && t->classic)
        return "has no device memory; call manager.eval_tensor_create_def([tensor]) first";
    if (!ext_memory_alive(t))
        return "is destroyed";
    *result = KP_ERROR_ARGUMENT;
    return core != NULL && t->core != core ? "belongs to another manager" : NULL;
}

static int check_usable(kp_ext *ext, const ext_core *core, const ext_tensor *t, const char *what, Py_ssize_t i) {
    kp_result result;
    const char *reason = unusable(core, t, &result);
    if (reason != NULL)
        ext_error_format(ext, result, "%s[%zd]: %s", what, i, reason);
    return reason != NULL ? -1 : 0;
}

int ext_memories_check(kp_ext *ext, const kp_program *program, const char *kernel, PyObject *tuple) {
    const ext_core *core = NULL;
    Py_ssize_t i = 0;
    for (const kp_param *p = ext_argument_next(program, NULL); p != NULL; p = ext_argument_next(program, p), i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (item == NULL)
            return -1;
        if (!PyObject_TypeCheck(item, ext->memory_type))
            continue;
        kp_result result;
        const char *reason = unusable(core, (ext_tensor *)item, &result);
        if (reason != NULL) {
            char what[EXT_ARGUMENT_NAME];
            ext_argument_name(kernel, p, what);
            ext_error_format(ext, result, "%s: %s", what, reason);
            return -1;
        }
        core = ((ext_tensor *)item)->core;
    }
    return 0;
}

int ext_memories_read(kp_ext *ext, const ext_core *core, PyObject *object, const char *what, ext_memories *out) {
    *out = (ext_memories){0};
    if (ext_core_use(ext, core) == NULL || (out->tuple = ext_memories_tuple(ext, object, what)) == NULL)
        return -1;
    out->count = (size_t)PyTuple_Size(out->tuple);
    out->handles = out->few;
    if (out->count > sizeof out->few / sizeof *out->few) {
        out->handles = PyMem_Calloc(out->count, sizeof *out->handles);
        if (out->handles == NULL) {
            PyErr_NoMemory();
            ext_memories_release(out);
            return -1;
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        ext_tensor *t = (ext_tensor *)PyTuple_GetItem(out->tuple, (Py_ssize_t)i);
        if (check_usable(ext, core, t, what, (Py_ssize_t)i) < 0) {
            ext_memories_release(out);
            return -1;
        }
        out->handles[i] = t->handle;
    }
    return 0;
}

void ext_memories_pin(const ext_memories *memories) {
    for (size_t i = 0; i < memories->count; i++)
        ((ext_tensor *)PyTuple_GetItem(memories->tuple, (Py_ssize_t)i))->pins++;
}

void ext_memories_unpin(const ext_memories *memories) {
    for (size_t i = 0; i < memories->count; i++) {
        ext_tensor *t = (ext_tensor *)PyTuple_GetItem(memories->tuple, (Py_ssize_t)i);
        if (--t->pins == 0 && t->doomed)
            ext_memory_set_handle(t, NULL, NULL);
    }
}

void ext_memories_release(ext_memories *memories) {
    if (memories->handles != memories->few)
        PyMem_Free(memories->handles);
    memories->handles = NULL;
    Py_CLEAR(memories->tuple);
}
