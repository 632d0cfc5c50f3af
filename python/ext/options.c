// See ext.h. What a manager is asked for: texts, lists of names, toggles.
#include "ext.h"

#include <string.h>

int ext_options_text(PyObject *text, const char *what, const char **out) {
    Py_ssize_t length;
    *out = PyUnicode_AsUTF8AndSize(text, &length);
    if (*out == NULL)
        return -1;
    if (strlen(*out) == (size_t)length)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: has a NUL character", what);
    return -1;
}

PyObject *ext_options_list(PyObject *object, const char *what, const char *items) {
    PyObject *tuple = PyUnicode_Check(object) || PyBytes_Check(object) ? NULL : PySequence_Tuple(object);
    if (tuple == NULL && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: must be a list of %s, not %R", what, items, Py_TYPE(object));
    }
    return tuple;
}

int ext_options_names(PyObject *object, const char *what, ext_names *out) {
    if (object == NULL || object == Py_None)
        return 0;
    out->held = ext_options_list(object, what, "str");
    if (out->held == NULL)
        return -1;
    out->count = (size_t)PyTuple_Size(out->held);
    out->names = PyMem_Calloc(out->count + 1, sizeof *out->names);
    if (out->names == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < out->count; i++) {
        PyObject *item = PyTuple_GetItem(out->held, (Py_ssize_t)i);
        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "%s[%zu]: must be str, not %R", what, i, Py_TYPE(item));
            return -1;
        }
        if (ext_options_text(item, what, &out->names[i]) < 0)
            return -1;
    }
    return 0;
}

void ext_options_release(ext_names *names) {
    PyMem_Free((void *)(uintptr_t)names->names);
    Py_CLEAR(names->held);
}

int ext_options_toggle(PyObject *object, kp_toggle *out) {
    int truth = object == NULL || object == Py_None ? 2 : PyObject_IsTrue(object);
    *out = truth == 2 ? KP_DEFAULT : truth == 1 ? KP_ON : KP_OFF;
    return truth < 0 ? -1 : 0;
}
