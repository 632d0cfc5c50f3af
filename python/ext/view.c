// See ext.h. Views: a slice, a row or another shape of a tensor, which is the same memory. And what describes a shape.
#include "ext.h"

#include <string.h>

kp_tensor *ext_view_handle(ext_tensor *t, const kp_tensor_view_desc *desc) {
    kp_tensor *handle = NULL;
    if (t->handle == NULL || t->doomed) {
        ext_error_format(t->ext, KP_ERROR_STATE,
                         t->handle == NULL && t->classic ? "the tensor has no device memory; call "
                                                           "manager.eval_tensor_create_def([tensor]) first"
                                                         : "the tensor is destroyed");
        return NULL;
    }
    if (ext_core_use(t->ext, t->core) == NULL)
        return NULL;
    kp_result result = kp_tensor_view(t->handle, desc, &handle);
    if (result != KP_OK)
        ext_error_raise(t->ext, result);
    return handle;
}

static PyObject *make(ext_tensor *t, const kp_tensor_view_desc *desc) {
    kp_tensor *handle = ext_view_handle(t, desc);
    ext_tensor *view = handle != NULL ? (ext_tensor *)ext_tensor_wrap(t->ext, t->core, handle) : NULL;
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

static int read_axis(PyObject *object, uint64_t *out) {
    PyObject *index = PyNumber_Index(object);
    long long axis = index != NULL ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (axis == -1 && PyErr_Occurred())
        return -1;
    if (axis < 0)
        PyErr_Format(PyExc_ValueError, "shape: an axis of %lld elements", axis);
    *out = (uint64_t)axis;
    return axis < 0 ? -1 : 0;
}

int ext_tensor_shape(PyObject *object, uint32_t *ndim, uint64_t shape[KP_MAX_DIMS]) {
    PyObject *axes = PyIndex_Check(object) ? Py_BuildValue("(O)", object) : PySequence_Tuple(object);
    int result = axes != NULL ? 0 : -1;
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

// Puts what is left in the place of an axis of -1, where there is one. A new tuple.
static PyObject *resolve(const ext_tensor *t, PyObject *axes) {
    Py_ssize_t known = 1, open = -1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(axes); i++) {
        Py_ssize_t axis = PyNumber_AsSsize_t(PyTuple_GetItem(axes, i), PyExc_ValueError);
        if (axis == -1 && PyErr_Occurred())
            return NULL;
        if (axis == -1 && open < 0)
            open = i;
        else if (axis > 0 && known <= PY_SSIZE_T_MAX / axis)
            known *= axis;
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
    if (all == NULL || ext_tensor_shape(all, &desc.ndim, desc.shape) < 0) {
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

// The name that NumPy has for it, as text. NULL with an exception.
static PyObject *numpy_name(PyObject *object) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *dtype = numpy != NULL ? PyObject_CallMethod(numpy, "dtype", "O", object) : NULL;
    PyObject *name = dtype != NULL ? PyObject_GetAttrString(dtype, "name") : NULL;
    Py_XDECREF(numpy);
    Py_XDECREF(dtype);
    return name;
}

int ext_tensor_dtype(kp_ext *ext, PyObject *object, kp_dtype *out) {
    if (PyLong_Check(object) && !PyBool_Check(object)) {
        long number = PyLong_AsLong(object);
        if (number >= 0 && number < KP_DTYPE_COUNT) {
            *out = (kp_dtype)number;
            return 0;
        }
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "dtype: %R is none of kp.DataTypes", object);
        return -1;
    }
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (text != NULL && kp_dtype_find(text, out) == KP_OK)
        return 0;
    PyErr_Clear();
    PyObject *name = numpy_name(object);
    text = name != NULL ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    kp_result result = text != NULL ? kp_dtype_find(text, out) : KP_OK;
    if (result != KP_OK)
        ext_error_raise(ext, result);
    Py_XDECREF(name);
    return text != NULL && result == KP_OK ? 0 : -1;
}
