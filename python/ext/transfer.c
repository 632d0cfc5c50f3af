// See objects.h. Arrays to a tensor's device side and back (kp_tensor_upload, kp_tensor_download), without the GIL. The
// call works on a view of the tensor, so that another thread may destroy the tensor meanwhile.
#include "objects.h"

#include <string.h>

static int move(kp_ext *ext, ext_core *core, kp_tensor *view, void *bytes, bool up) {
    uint64_t size = kp_tensor_bytes(view);
    PyThreadState *thread = ext_core_enter(core);
    kp_result result = up ? kp_tensor_upload(view, bytes, size) : kp_tensor_download(view, bytes, size);
    ext_core_leave(core, thread);
    return ext_error_check(ext, result);
}

// Gives `view` up.
static int run(ext_tensor *t, kp_tensor *view, void *bytes, bool up) {
    ext_core *core = ext_core_hold(t->core);
    int result = move(t->ext, core, view, bytes, up);
    if (result < 0 && ext_spares_relieve(t->ext, core))
        result = move(t->ext, core, view, bytes, up);
    ext_core_release(core, (void (*)(void *))kp_tensor_destroy, view);
    ext_core_drop(core);
    return result;
}

// An array of structs, or a copy of it whose elements lie side by side, as what ext_data_read gives.
static int read_structs(ext_tensor *t, PyObject *array, ext_data *out) {
    *out = (ext_data){0};
    if (ext_struct_check(t, array, "array") < 0)
        return -1;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *dense = numpy != NULL ? PyObject_CallMethod(numpy, "ascontiguousarray", "O", array) : NULL;
    int result = dense != NULL ? PyObject_GetBuffer(dense, &out->buffer, PyBUF_C_CONTIGUOUS) : -1;
    Py_XDECREF(numpy);
    Py_XDECREF(dense); // the buffer holds it
    if (result < 0)
        return -1;
    out->bytes = out->buffer.buf;
    out->count = (size_t)(out->buffer.len / t->stride);
    return 0;
}

PyObject *ext_transfer_upload(PyObject *self, PyObject *array) {
    ext_tensor *t = (ext_tensor *)self;
    ext_data data;
    if (ext_axes_fits(t, array, "array") < 0)
        return NULL;
    int result = t->numpy != NULL ? read_structs(t, array, &data)
                                  : ext_data_read(array, (int)t->dtype, EXT_DATA_CONVERT, "array", &data);
    if (result < 0)
        return NULL;
    if (data.count != (size_t)t->count) {
        PyErr_Format(PyExc_ValueError, "array: has %zu elements, the tensor has %zd", data.count, t->count);
        result = -1;
    } else {
        kp_tensor *view = ext_view_handle(t, NULL);
        result = view != NULL ? run(t, view, (void *)(uintptr_t)data.bytes, true) : -1;
    }
    ext_data_release(&data);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

// Whether a buffer can take the tensor's elements as they are.
static int check_out(const ext_tensor *t, PyObject *out, const Py_buffer *buffer) {
    ext_element element;
    if (ext_axes_fits(t, out, "out") < 0)
        return -1;
    if (t->numpy != NULL && ext_struct_check(t, out, "out") < 0)
        return -1;
    if (t->numpy == NULL && ext_element_parse(buffer->format, buffer->itemsize, "out", &element) < 0)
        return -1;
    if (t->numpy == NULL && (ext_element_dtype(element) != (int)t->dtype || element.swapped)) {
        PyErr_Format(PyExc_TypeError, "out: holds elements of format '%s', the tensor holds %s",
                     buffer->format != NULL ? buffer->format : "B", ext_element_numpy(t->dtype));
        return -1;
    }
    if (buffer->len != t->count * t->stride) {
        PyErr_Format(PyExc_ValueError, "out: has %zd elements, the tensor has %zd", buffer->len / t->stride, t->count);
        return -1;
    }
    return 0;
}

static PyObject *empty(const ext_tensor *t) {
    PyObject *numpy = PyImport_ImportModule("numpy"), *array = NULL;
    PyObject *shape = numpy != NULL ? ext_axes_tuple(t) : NULL;
    if (shape != NULL)
        array = t->numpy != NULL ? PyObject_CallMethod(numpy, "empty", "OO", shape, t->numpy)
                                 : PyObject_CallMethod(numpy, "empty", "Os", shape, ext_element_numpy(t->dtype));
    Py_XDECREF(numpy);
    Py_XDECREF(shape);
    return array;
}

PyObject *ext_transfer_download(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"out", NULL};
    ext_tensor *t = (ext_tensor *)self;
    PyObject *out = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:download", names, &out))
        return NULL;
    out = out == Py_None ? empty(t) : Py_NewRef(out);
    Py_buffer buffer;
    if (out == NULL)
        return NULL;
    if (PyObject_GetBuffer(out, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_MemoryError))
            PyErr_Format(PyExc_TypeError, "out: must be a writable array, its elements side by side, not %R",
                         Py_TYPE(out));
        Py_DECREF(out);
        return NULL;
    }
    kp_tensor *view = check_out(t, out, &buffer) == 0 ? ext_view_handle(t, NULL) : NULL;
    int result = view != NULL ? run(t, view, buffer.buf, false) : -1;
    PyBuffer_Release(&buffer);
    if (result < 0)
        Py_CLEAR(out);
    return out;
}
