// See ext.h. The manager's tensors: of data, by tensor() and tensor_t(), and of a shape and a dtype, by zeros(), full()
// and empty(); and what of it others share.
#include "ext.h"

// ---------------------------------------------------------------------------------------------------------------------
// Of data
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *make_of(ext_manager *m, PyObject *object, int want, ext_data_rule rule, const char *what,
                         PyObject *type_object) {
    kp_memory_type memory_type = KP_MEMORY_DEVICE;
    ext_data data;
    if (ext_core_use(m->ext, m->core) == NULL || ext_memory_type(type_object, &memory_type) < 0)
        return NULL;
    PyObject *dtype = ext_struct_dtype(object);
    if (dtype != NULL) {
        PyObject *structs = ext_struct_tensor(m->ext, m->core, object, dtype, what, memory_type);
        Py_DECREF(dtype);
        return structs;
    }
    if (ext_data_read(object, want, rule, what, &data) < 0)
        return NULL;
    PyObject *tensor = ext_tensor_new(m->ext, m->core, &data, memory_type);
    ext_data_release(&data);
    return tensor;
}

PyObject *ext_making_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"data", "memory_type", NULL};
    PyObject *data, *type = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:tensor", names, &data, &type))
        return NULL;
    return make_of((ext_manager *)self, data, KP_F32, EXT_DATA_CONVERT, "data", type);
}

static PyObject *borrow(ext_manager *m, PyObject *object, PyObject *type) {
    kp_memory_type memory_type = KP_MEMORY_DEVICE;
    ext_data data;
    PyObject *dtype = ext_struct_dtype(object);
    Py_XDECREF(dtype);
    if (dtype != NULL) // NumPy's memory is aligned to 16 bytes, which few devices import: a copy is as good
        return make_of(m, object, EXT_DATA_OWN, EXT_DATA_CONVERT, "data", type);
    if (ext_core_use(m->ext, m->core) == NULL || ext_memory_type(type, &memory_type) < 0 ||
        ext_data_read(object, EXT_DATA_OWN, EXT_DATA_CONVERT, "data", &data) < 0)
        return NULL;
    PyObject *tensor = ext_borrow_tensor(m->ext, m->core, &data, memory_type);
    ext_data_release(&data);
    return tensor;
}

PyObject *ext_making_tensor_t(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"data", "memory_type", "copy", NULL};
    PyObject *data, *type = NULL;
    int copy = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$p:tensor_t", names, &data, &type, &copy))
        return NULL;
    if (copy == 0)
        return borrow((ext_manager *)self, data, type);
    return make_of((ext_manager *)self, data, EXT_DATA_OWN, EXT_DATA_CONVERT, "data", type);
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
    static char *names[] = {"shape", "value", "dtype", "memory_type", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *shape, *value, *dtype = NULL, *type = NULL;
    ext_making making = {0};
    char element[8];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:full", names, &shape, &value, &dtype, &type) ||
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
    static char *names[] = {"shape", "dtype", "memory_type", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *shape, *dtype = NULL, *type = NULL;
    ext_making making = {.desc = {.uninitialized = uninitialized}};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &shape, &dtype, &type) ||
        ext_making_read(m, shape, dtype, type, &making) < 0)
        return NULL;
    return make(m, &making);
}

PyObject *ext_making_zeros(PyObject *self, PyObject *args, PyObject *kwargs) {
    return make_new(self, args, kwargs, "O|OO:zeros", false);
}

PyObject *ext_making_empty(PyObject *self, PyObject *args, PyObject *kwargs) {
    return make_new(self, args, kwargs, "O|OO:empty", true);
}
