// See objects.h. A tensor's host side for other libraries: NumPy, DLPack, and HTML for notebooks. All go through the
// array that views the host side without a copy and keeps it alive: NumPy knows every version of DLPack.
#include "objects.h"

enum { DLPACK_CPU = 1 }; // kDLCPU

static PyObject *as_numpy(PyObject *tensor) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy != NULL ? PyObject_CallMethod(numpy, "asarray", "O", tensor) : NULL;
    Py_XDECREF(numpy);
    return array;
}

// NumPy itself takes the buffer; this is for those that ask for the method, and says why where there is no buffer.
PyObject *ext_exchange_array(PyObject *memory, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy))
        return NULL;
    PyObject *view = PyMemoryView_FromObject(memory);
    PyObject *numpy = view != NULL ? PyImport_ImportModule("numpy") : NULL;
    PyObject *make = numpy != NULL ? PyObject_GetAttrString(numpy, "array") : NULL;
    PyObject *one = make != NULL ? PyTuple_Pack(1, view) : NULL;
    PyObject *how = one != NULL ? Py_BuildValue("{sOsO}", "dtype", dtype, "copy", copy) : NULL;
    PyObject *array = how != NULL ? PyObject_Call(make, one, how) : NULL;
    Py_XDECREF(view);
    Py_XDECREF(numpy);
    Py_XDECREF(make);
    Py_XDECREF(one);
    Py_XDECREF(how);
    return array;
}

PyObject *ext_exchange_dlpack(PyObject *tensor, PyObject *args, PyObject *kwargs) {
    if (((ext_tensor *)tensor)->numpy != NULL) {
        PyErr_SetString(PyExc_BufferError,
                        "DLPack has no structs; data() is a NumPy array of them, whose fields can be "
                        "exported one by one");
        return NULL;
    }
    PyObject *array = as_numpy(tensor);
    PyObject *method = array != NULL ? PyObject_GetAttrString(array, "__dlpack__") : NULL;
    PyObject *capsule = method != NULL ? PyObject_Call(method, args, kwargs) : NULL;
    Py_XDECREF(array);
    Py_XDECREF(method);
    return capsule;
}

PyObject *ext_exchange_dlpack_device(PyObject *tensor, PyObject *unused) {
    (void)tensor, (void)unused;
    return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}

// The values as NumPy prints them, which leaves out the middle of many; else what repr() says.
static PyObject *values_text(PyObject *tensor) {
    PyObject *array = as_numpy(tensor);
    PyObject *text = array != NULL ? PyObject_Str(array) : NULL;
    Py_XDECREF(array);
    if (text != NULL)
        return text;
    PyErr_Clear(); // a storage tensor, or a destroyed one
    return PyObject_Repr(tensor);
}

PyObject *ext_exchange_html(PyObject *tensor, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)tensor;
    PyObject *values = values_text(tensor);
    PyObject *html = values != NULL ? PyImport_ImportModule("html") : NULL;
    PyObject *safe = html != NULL ? PyObject_CallMethod(html, "escape", "O", values) : NULL;
    PyObject *text = NULL;
    PyObject *dtype = safe != NULL ? ext_tensor_dtype_text(t) : NULL;
    if (dtype != NULL)
        text = PyUnicode_FromFormat("<div><b>kp.Tensor</b> of %zd %U<pre>%U</pre></div>", t->count, dtype, safe);
    Py_XDECREF(dtype);
    Py_XDECREF(values);
    Py_XDECREF(html);
    Py_XDECREF(safe);
    return text;
}
