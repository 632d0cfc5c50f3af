// See objects.h. The manager's tensors: of data, by tensor() and tensor_t(), and of a shape and a dtype, by zeros(),
// full() and empty(); and what of it others share.
#include "objects.h"

// ---------------------------------------------------------------------------------------------------------------------
// Of data
// ---------------------------------------------------------------------------------------------------------------------

// What tensor() and tensor_t() are told. Kompute 0.8 has the memory type under the older of its two names.
typedef struct words {
    PyObject *data, *type, *older;
    const char *label;
} words;

// Memory type and label, for a manager that is in use. -1 with an exception.
static int read_words(const ext_manager *m, const words *w, kp_tensor_desc *kind) {
    PyObject *older = w->older != Py_None ? w->older : NULL;
    if (w->type != NULL && older != NULL) {
        PyErr_SetString(PyExc_TypeError, "memory_type and tensor_type are two names of one argument");
        return -1;
    }
    kind->label = w->label;
    if (ext_core_use(m->ext, m->core) == NULL)
        return -1;
    return ext_memory_type(w->type != NULL ? w->type : older, &kind->memory_type);
}

static PyObject *make_of(ext_manager *m, const words *w, int want) {
    kp_tensor_desc kind = {0};
    ext_data data;
    if (read_words(m, w, &kind) < 0)
        return NULL;
    PyObject *dtype = ext_struct_dtype(w->data);
    if (dtype != NULL) {
        PyObject *structs = ext_struct_tensor(m->ext, m->core, w->data, dtype, "data", &kind);
        Py_DECREF(dtype);
        return structs;
    }
    if (ext_data_read(w->data, want, EXT_DATA_CONVERT, "data", &data) < 0)
        return NULL;
    PyObject *tensor = ext_tensor_new(m->ext, m->core, &data, &kind);
    ext_data_release(&data);
    return tensor;
}

PyObject *ext_making_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"data", "memory_type", "tensor_type", "label", NULL};
    words w = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$Oz:tensor", names, &w.data, &w.type, &w.older, &w.label))
        return NULL;
    return make_of((ext_manager *)self, &w, KP_F32);
}

static PyObject *borrow(ext_manager *m, const words *w) {
    kp_tensor_desc kind = {0};
    ext_data data;
    PyObject *dtype = ext_struct_dtype(w->data);
    Py_XDECREF(dtype);
    if (dtype != NULL) // NumPy's memory is aligned to 16 bytes, which few devices import: a copy is as good
        return make_of(m, w, EXT_DATA_OWN);
    if (read_words(m, w, &kind) < 0 || ext_data_read(w->data, EXT_DATA_OWN, EXT_DATA_CONVERT, "data", &data) < 0)
        return NULL;
    PyObject *tensor = ext_borrow_tensor(m->ext, m->core, &data, &kind);
    ext_data_release(&data);
    return tensor;
}

PyObject *ext_making_tensor_t(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"data", "memory_type", "copy", "tensor_type", "label", NULL};
    words w = {0};
    int copy = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$pOz:tensor_t", names, &w.data, &w.type, &copy, &w.older,
                                     &w.label))
        return NULL;
    return copy == 0 ? borrow((ext_manager *)self, &w) : make_of((ext_manager *)self, &w, EXT_DATA_OWN);
}

// ---------------------------------------------------------------------------------------------------------------------
// Of a shape
// ---------------------------------------------------------------------------------------------------------------------

// The name that NumPy has for it, as text. NULL with an exception.
static PyObject *numpy_name(PyObject *object) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *dtype = numpy != NULL ? PyObject_CallMethod(numpy, "dtype", "O", object) : NULL;
    PyObject *name = dtype != NULL ? PyObject_GetAttrString(dtype, "name") : NULL;
    Py_XDECREF(numpy);
    Py_XDECREF(dtype);
    return name;
}

int ext_making_dtype(kp_ext *ext, PyObject *object, kp_dtype *out) {
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

int ext_making_read(ext_manager *m, PyObject *shape, PyObject *dtype, PyObject *type, ext_making *out) {
    kp_tensor_desc *desc = &out->desc;
    PyObject *structure = NULL;
    if (ext_axes_read(shape, &desc->ndim, desc->shape) < 0 || ext_memory_type(type, &desc->memory_type) < 0)
        return -1;
    if (desc->ndim == 0)
        desc->count = 1; // NumPy's scalar
    if (dtype == NULL)
        return 0;
    if (ext_struct_named(dtype, &structure) < 0)
        return -1;
    if (structure == NULL)
        return ext_making_dtype(m->ext, dtype, &desc->dtype);
    int result = ext_struct_read(m->ext, structure, "dtype", desc, &out->structure);
    Py_DECREF(structure);
    return result;
}

PyObject *ext_making_finish(PyObject *tensor, ext_making *making) {
    return ext_struct_finish(tensor, &making->structure);
}

static PyObject *make(ext_manager *m, ext_making *making) {
    return ext_making_finish(ext_tensor_from_desc(m->ext, m->core, &making->desc), making);
}

// A NumPy array of the shape, each element of which is `value`: what NumPy takes for one, or a kp.Struct.
static PyObject *filled(PyObject *shape, PyObject *value, PyObject *dtype) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return NULL;
    PyObject *convert = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "_array"), *own = NULL;
    if (convert == NULL)
        PyErr_Clear();
    else if ((own = PyObject_CallFunctionObjArgs(convert, value, NULL)) == NULL)
        Py_CLEAR(numpy);
    PyObject *from = own != NULL ? own : value;
    PyObject *element = numpy != NULL ? PyObject_CallMethod(numpy, "array", "OO", from, dtype) : NULL;
    PyObject *array = element != NULL ? PyObject_CallMethod(numpy, "full", "OOO", shape, element, dtype) : NULL;
    Py_XDECREF(numpy);
    Py_XDECREF(convert);
    Py_XDECREF(own);
    Py_XDECREF(element);
    return array;
}

static PyObject *full_of_structs(ext_manager *m, PyObject *shape, PyObject *value, ext_making *making) {
    if (making->desc.memory_type == KP_MEMORY_STORAGE) {
        PyErr_SetString(PyExc_ValueError, "memory_type: a storage tensor has no host side to fill");
        return ext_making_finish(NULL, making);
    }
    PyObject *array = filled(shape, value, making->structure.dtype), *tensor = NULL;
    Py_buffer buffer;
    if (array == NULL || PyObject_GetBuffer(array, &buffer, PyBUF_C_CONTIGUOUS) < 0) {
        tensor = ext_making_finish(NULL, making);
    } else {
        making->desc.data = buffer.len != 0 ? buffer.buf : NULL;
        tensor = make(m, making);
        PyBuffer_Release(&buffer);
    }
    Py_XDECREF(array);
    return tensor;
}

PyObject *ext_making_full(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "value", "dtype", "memory_type", "label", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *shape, *value, *dtype = NULL, *type = NULL;
    ext_making making = {0};
    char element[8];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO$z:full", names, &shape, &value, &dtype, &type,
                                     &making.desc.label) ||
        ext_making_read(m, shape, dtype, type, &making) < 0)
        return NULL;
    if (making.structure.dtype != NULL)
        return full_of_structs(m, shape, value, &making);
    if (ext_element_set(making.desc.dtype, element, value) < 0)
        return NULL;
    making.desc.fill = element;
    return make(m, &making);
}

static PyObject *make_new(PyObject *self, PyObject *args, PyObject *kwargs, const char *format, bool uninitialized) {
    static char *names[] = {"shape", "dtype", "memory_type", "label", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *shape, *dtype = NULL, *type = NULL;
    ext_making making = {.desc = {.uninitialized = uninitialized}};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &shape, &dtype, &type, &making.desc.label) ||
        ext_making_read(m, shape, dtype, type, &making) < 0)
        return NULL;
    return make(m, &making);
}

PyObject *ext_making_zeros(PyObject *self, PyObject *args, PyObject *kwargs) {
    return make_new(self, args, kwargs, "O|OO$z:zeros", false);
}

PyObject *ext_making_empty(PyObject *self, PyObject *args, PyObject *kwargs) {
    return make_new(self, args, kwargs, "O|OO$z:empty", true);
}
