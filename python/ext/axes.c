// See objects.h. Shapes: read from an argument, held against an array's, and as a tuple.
#include "objects.h"

#include <string.h>

static int read_axis(PyObject *object, uint64_t *out) {
    int64_t axis;
    if (ext_element_count(KP_I64, object, "shape", &axis) < 0)
        return -1;
    if (axis < 0)
        PyErr_Format(PyExc_ValueError, "shape: an axis of %lld elements", (long long)axis);
    *out = (uint64_t)axis;
    return axis < 0 ? -1 : 0;
}

int ext_axes_read(PyObject *object, uint32_t *ndim, uint64_t shape[KP_MAX_DIMS]) {
    PyObject *axes = PyIndex_Check(object)   ? Py_BuildValue("(O)", object)
                     : ext_unordered(object) ? NULL
                                             : PySequence_Tuple(object);
    int result = axes != NULL ? 0 : -1;
    if (axes == NULL && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "shape: must be a whole number or a tuple of some, not %R", Py_TYPE(object));
    }
    if (axes != NULL && PyTuple_Size(axes) > KP_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "shape: %zd axes, at most %d are possible", PyTuple_Size(axes), KP_MAX_DIMS);
        result = -1;
    }
    *ndim = axes != NULL ? (uint32_t)PyTuple_Size(axes) : 0;
    for (uint32_t i = 0; result == 0 && i < *ndim; i++)
        result = read_axis(PyTuple_GetItem(axes, (Py_ssize_t)i), &shape[i]);
    Py_XDECREF(axes);
    return result;
}

static PyObject *tuple_of(const Py_ssize_t *lengths, int count) {
    PyObject *shape = PyTuple_New(count);
    for (int i = 0; shape != NULL && i < count; i++) {
        PyObject *axis = PyLong_FromSsize_t(lengths[i]);
        if (axis == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SetItem(shape, i, axis);
    }
    return shape;
}

PyObject *ext_axes_tuple(const ext_tensor *t) { return tuple_of(t->shape, t->ndim); }

// Puts the lengths that are not 1 at the front; gives how many they are.
static int squeeze(Py_ssize_t *lengths, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (lengths[i] != 1)
            lengths[kept++] = lengths[i];
    }
    return kept;
}

// Axes of one element apart. What has one axis has all in a row.
static bool same_shape(const Py_ssize_t *shape, int ndim, PyObject *axes) {
    enum { MOST = 64 };
    Py_ssize_t own[KP_MAX_DIMS + 1], its[MOST], count = PyTuple_Size(axes);
    for (Py_ssize_t i = 0; i < count && i < MOST; i++)
        its[i] = PyLong_AsSsize_t(PyTuple_GetItem(axes, i));
    for (int i = 0; i < ndim; i++)
        own[i] = shape[i];
    int has = squeeze(its, (int)(count < MOST ? count : MOST)), wants = squeeze(own, ndim);
    return has < 2 || wants < 2 || (has == wants && memcmp(own, its, (size_t)has * sizeof *own) == 0);
}

int ext_axes_check(const Py_ssize_t *shape, int ndim, bool image, PyObject *array, const char *what) {
    PyObject *axes = PyList_Check(array) || PyTuple_Check(array) ? NULL : PyObject_GetAttrString(array, "shape");
    bool fits = axes == NULL || !PyTuple_Check(axes) || same_shape(shape, ndim, axes);
    PyErr_Clear();
    PyObject *own = fits ? NULL : tuple_of(shape, ndim);
    if (own != NULL)
        PyErr_Format(PyExc_ValueError, "%s: has shape %R, the %s has %R", what, axes, image ? "image" : "tensor", own);
    Py_XDECREF(axes);
    Py_XDECREF(own);
    return fits ? 0 : -1;
}

int ext_axes_fits(const ext_tensor *t, PyObject *array, const char *what) {
    return ext_axes_check(t->shape, t->ndim, t->image, array, what);
}
