// See ext.h. Lists of memory, as arguments: the handles of what is usable, held while a call works on them.
#include "ext.h"

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

static int check_usable(kp_ext *ext, const ext_core *core, const ext_tensor *t, const char *what, Py_ssize_t i) {
    if (t->handle == NULL && t->classic)
        ext_error_format(ext, KP_ERROR_STATE,
                         "%s[%zd]: has no device memory; call manager.eval_tensor_create_def([tensor]) first", what, i);
    else if (!ext_tensor_alive(t))
        ext_error_format(ext, KP_ERROR_STATE, "%s[%zd]: is destroyed", what, i);
    else if (t->core != core)
        ext_error_format(ext, KP_ERROR_ARGUMENT, "%s[%zd]: belongs to another manager", what, i);
    else
        return 0;
    return -1;
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
            ext_tensor_forget(t);
    }
}

void ext_memories_release(ext_memories *memories) {
    if (memories->handles != memories->few)
        PyMem_Free(memories->handles);
    memories->handles = NULL;
    Py_CLEAR(memories->tuple);
}
