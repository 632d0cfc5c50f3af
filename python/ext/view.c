// See objects.h. Views: a slice, a row or another shape of a tensor, which is the same memory.
#include "objects.h"

#include <string.h>

kp_tensor *ext_view_handle(ext_tensor *t, const kp_tensor_view_desc *desc) {
    kp_tensor *handle = NULL;
    if (ext_memory_use(t) == NULL)
        return NULL;
    kp_result result = kp_tensor_view(t->handle, desc, &handle);
    if (result != KP_OK)
        ext_error_raise(t->ext, result);
    return handle;
}

static PyObject *make(ext_tensor *t, const kp_tensor_view_desc *desc) {
    kp_tensor *handle = ext_view_handle(t, desc);
    ext_tensor *view = handle != NULL ? (ext_tensor *)ext_memory_wrap(t->ext, t->core, handle) : NULL;
    if (view != NULL) {
        view->numpy = Py_XNewRef(t->numpy);
        view->format = Py_XNewRef(t->format);
    }
    return (PyObject *)view;
}

// Elements of one row.
static uint64_t row_of(const ext_tensor *t) {
    uint64_t count = 1;
    for (int i = 1; i < t->ndim; i++)
        count *= (uint64_t)t->shape[i];
    return count;
}

PyObject *ext_view_take(ext_tensor *t, PyObject *key) {
    kp_tensor_view_desc desc = {.ndim = (uint32_t)t->ndim};
    for (int i = 0; i < t->ndim; i++)
        desc.shape[i] = (uint64_t)t->shape[i];
    if (PySlice_Check(key)) {
        Py_ssize_t start, stop, step;
        if (PySlice_Unpack(key, &start, &stop, &step) < 0)
            return NULL;
        Py_ssize_t count = PySlice_AdjustIndices(t->shape[0], &start, &stop, step);
        if (step != 1)
            return PyErr_Format(PyExc_ValueError, "a view has a step of 1, not %zd: slice data(), the NumPy array",
                                step);
        desc.first = count != 0 ? (uint64_t)start * row_of(t) : 0;
        desc.shape[0] = (uint64_t)count;
    } else { // a row, by an index that was checked
        desc.first = (uint64_t)PyLong_AsSsize_t(key) * row_of(t);
        desc.ndim--;
        memmove(desc.shape, desc.shape + 1, sizeof desc.shape - sizeof desc.shape[0]);
    }
    return make(t, &desc);
}

// Puts what is left in the place of an axis of -1, where there is one. A new tuple.
static PyObject *resolve(const ext_tensor *t, PyObject *axes) {
    Py_ssize_t known = 1, open = -1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(axes); i++) {
        int64_t axis;
        if (ext_element_count(KP_I64, PyTuple_GetItem(axes, i), "shape", &axis) < 0)
            return NULL;
        if (axis == -1 && open < 0)
            open = i;
        else if (axis > 0 && known <= PY_SSIZE_T_MAX / axis)
            known *= (Py_ssize_t)axis;
        else
            known = 0; // or too many: another number of elements in any case, unless it is none
    }
    if (open < 0 || known == 0)
        return Py_NewRef(axes);
    PyObject *list = PySequence_List(axes), *left = PyLong_FromSsize_t(t->count / known);
    if (list != NULL && left != NULL)
        PyList_SetItem(list, open, Py_NewRef(left));
    PyObject *all = list != NULL && left != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(left);
    return all;
}

static PyObject *reshape(ext_tensor *t, PyObject *axes) {
    kp_tensor_view_desc desc = {0};
    PyObject *all = resolve(t, axes);
    if (all == NULL || ext_axes_read(all, &desc.ndim, desc.shape) < 0) {
        Py_XDECREF(all);
        return NULL;
    }
    uint64_t count = 1;
    for (uint32_t i = 0; i < desc.ndim; i++) {
        bool fits = desc.shape[i] == 0 || count <= UINT64_MAX / desc.shape[i];
        count = fits ? count * desc.shape[i] : UINT64_MAX;
    }
    PyObject *view = NULL;
    if (desc.ndim == 0 || count != (uint64_t)t->count)
        PyErr_Format(PyExc_ValueError, "a tensor of %zd elements cannot have the shape %R", t->count, axes);
    else
        view = make(t, &desc);
    Py_DECREF(all);
    return view;
}

PyObject *ext_view_reshape(PyObject *self, PyObject *args) {
    PyObject *first = PyTuple_Size(args) == 1 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *axes = first != NULL && !PyIndex_Check(first) ? PySequence_Tuple(first) : Py_NewRef(args);
    PyObject *view = axes != NULL ? reshape((ext_tensor *)self, axes) : NULL;
    Py_XDECREF(axes);
    return view;
}
