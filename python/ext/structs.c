// See objects.h. Structured dtypes of NumPy: read as a kp_struct, which says where each field lies, and the tensors of
// them.
#include "objects.h"

#include <string.h>

// Blocks that live as long as the description.
typedef struct reading {
    kp_ext *ext;
    const char *what;
    PyObject *held; // list: names, which are borrowed, and blocks of memory in bytes objects
    int depth;
} reading;

enum { DEEPEST = 16 };

static void *block(reading *r, size_t size) {
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(size + 1));
    if (bytes == NULL || PyList_Append(r->held, bytes) < 0) {
        Py_XDECREF(bytes);
        return NULL;
    }
    void *memory = memset(PyByteArray_AsString(bytes), 0, size + 1);
    Py_DECREF(bytes);
    return memory;
}

// UTF-8 that the reading holds.
static const char *text_of(reading *r, PyObject *text) {
    if (text == NULL || PyList_Append(r->held, text) < 0)
        return NULL;
    return PyUnicode_AsUTF8AndSize(text, NULL);
}

static uint32_t number_of(PyObject *object, const char *name) {
    PyObject *number = PyObject_GetAttrString(object, name);
    unsigned long value = number != NULL ? PyLong_AsUnsignedLong(number) : 0;
    Py_XDECREF(number);
    return value <= UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static bool has_names(PyObject *dtype) {
    PyObject *names = PyObject_GetAttrString(dtype, "names");
    bool has = names != NULL && PyTuple_Check(names);
    PyErr_Clear();
    Py_XDECREF(names);
    return has;
}

static int refuse(reading *r, const char *name, PyObject *dtype) {
    PyErr_Format(PyExc_TypeError, "%s: field '%s' has dtype %S, which no device has", r->what, name, dtype);
    return -1;
}

static int read_scalar(reading *r, PyObject *dtype, kp_field *field) {
    PyObject *order = PyObject_GetAttrString(dtype, "isnative"), *name = PyObject_GetAttrString(dtype, "name");
    const char *text = name != NULL ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int result = order != NULL && text != NULL ? 0 : -1;
    if (result == 0 && (PyObject_IsTrue(order) != 1 || kp_dtype_find(text, &field->dtype) != KP_OK))
        result = refuse(r, field->name, dtype);
    Py_XDECREF(order);
    Py_XDECREF(name);
    return result;
}

static const kp_struct *read_struct(reading *r, PyObject *dtype);

// What a field, or an element of one that is an array, is.
static int read_base(reading *r, PyObject *dtype, kp_field *field) {
    if (!has_names(dtype))
        return read_scalar(r, dtype, field);
    field->dtype = KP_U8;
    field->structure = read_struct(r, dtype);
    return field->structure != NULL ? 0 : -1;
}

static int read_type(reading *r, PyObject *dtype, kp_field *field) {
    PyObject *parts = PyObject_GetAttrString(dtype, "subdtype"); // None, or (dtype, shape)
    field->size = number_of(dtype, "itemsize");
    field->components = field->count = 1;
    int result = parts != NULL && PyErr_Occurred() == NULL ? 0 : -1;
    if (result == 0 && PyTuple_Check(parts)) {
        result = read_base(r, PyTuple_GetItem(parts, 0), field);
        uint32_t each = number_of(PyTuple_GetItem(parts, 0), "itemsize");
        field->count = each != 0 ? field->size / each : 0;
    } else if (result == 0) {
        result = read_base(r, dtype, field);
    }
    Py_XDECREF(parts);
    return result;
}

// fields[name] is (dtype, offset), or that and a title.
static int read_field(reading *r, PyObject *fields, PyObject *name, kp_field *field) {
    field->name = text_of(r, name);
    PyObject *entry = field->name != NULL ? PyObject_GetItem(fields, name) : NULL;
    if (entry == NULL || !PyTuple_Check(entry) || PyTuple_Size(entry) < 2) {
        Py_XDECREF(entry);
        return -1;
    }
    unsigned long offset = PyLong_AsUnsignedLong(PyTuple_GetItem(entry, 1));
    field->offset = offset <= UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
    int result = PyErr_Occurred() != NULL ? -1 : read_type(r, PyTuple_GetItem(entry, 0), field);
    Py_DECREF(entry);
    return result;
}

static const kp_struct *read_struct(reading *r, PyObject *dtype) {
    PyObject *names = PyObject_GetAttrString(dtype, "names"), *fields = PyObject_GetAttrString(dtype, "fields");
    size_t count = names != NULL && PyTuple_Check(names) ? (size_t)PyTuple_Size(names) : 0;
    kp_struct *structure = block(r, sizeof *structure);
    kp_field *list = structure != NULL ? block(r, count * sizeof *list) : NULL;
    int result = list != NULL && fields != NULL ? 0 : -1;
    if (result == 0 && ++r->depth > DEEPEST) {
        PyErr_Format(PyExc_TypeError, "%s: structs inside of each other %d deep are the limit", r->what, DEEPEST);
        result = -1;
    }
    for (size_t i = 0; result == 0 && i < count; i++)
        result = read_field(r, fields, PyTuple_GetItem(names, (Py_ssize_t)i), &list[i]);
    r->depth--;
    if (result == 0)
        *structure = (kp_struct){.size = number_of(dtype, "itemsize"),
                                 .align = number_of(dtype, "alignment"),
                                 .fields = list,
                                 .field_count = count};
    Py_XDECREF(names);
    Py_XDECREF(fields);
    return result == 0 && PyErr_Occurred() == NULL ? structure : NULL;
}

PyObject *ext_struct_dtype(PyObject *object) {
    PyObject *dtype = PyObject_CheckBuffer(object) ? PyObject_GetAttrString(object, "dtype") : NULL;
    if (dtype == NULL || !has_names(dtype)) {
        PyErr_Clear();
        Py_XDECREF(dtype);
        return NULL;
    }
    return dtype;
}

// What memoryview says of an array of that dtype. A new bytes object.
static PyObject *format_of(PyObject *dtype) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy != NULL ? PyObject_CallMethod(numpy, "empty", "iO", 0, dtype) : NULL;
    PyObject *view = array != NULL ? PyMemoryView_FromObject(array) : NULL;
    PyObject *format = view != NULL ? PyObject_GetAttrString(view, "format") : NULL;
    PyObject *bytes = format != NULL ? PyUnicode_AsUTF8String(format) : NULL;
    Py_XDECREF(numpy);
    Py_XDECREF(array);
    Py_XDECREF(view);
    Py_XDECREF(format);
    return bytes;
}

// Gives the tensor its dtype and format; drops it without.
static PyObject *finish(PyObject *tensor, PyObject *dtype) {
    ext_tensor *t = (ext_tensor *)tensor;
    PyObject *format = tensor != NULL ? format_of(dtype) : NULL;
    if (format == NULL) {
        Py_XDECREF(tensor);
        return NULL;
    }
    t->numpy = Py_NewRef(dtype);
    t->format = format;
    return tensor;
}

PyObject *ext_struct_one(kp_ext *ext, PyObject *dtype) {
    if (ext->struct_dtypes == NULL)
        ext->struct_dtypes = PyDict_New();
    PyObject *one = ext->struct_dtypes != NULL ? PyDict_GetItemWithError(ext->struct_dtypes, dtype) : NULL;
    if (one != NULL || PyErr_Occurred())
        return one;
    return PyDict_SetItem(ext->struct_dtypes, dtype, dtype) == 0 ? dtype : NULL;
}

int ext_struct_named(PyObject *object, PyObject **out) {
    kp_dtype scalar;
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    *out = NULL;
    if (PyErr_Occurred())
        return -1;
    if (PyLong_Check(object) || (text != NULL && kp_dtype_find(text, &scalar) == KP_OK))
        return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return -1;
    PyObject *own = PyObject_GetAttrString(object, "dtype"); // of a kp.Struct
    PyErr_Clear();
    PyObject *dtype = PyObject_CallMethod(numpy, "dtype", "O", own != NULL && has_names(own) ? own : object);
    PyErr_Clear(); // no dtype at all: others say so
    if (dtype != NULL && has_names(dtype))
        *out = Py_NewRef(dtype);
    Py_XDECREF(dtype);
    Py_XDECREF(own);
    Py_DECREF(numpy);
    return 0;
}

int ext_struct_read(kp_ext *ext, PyObject *dtype, const char *what, kp_tensor_desc *desc, ext_structure *out) {
    reading r = {.ext = ext, .what = what, .held = PyList_New(0)};
    desc->structure = r.held != NULL ? read_struct(&r, dtype) : NULL;
    if (desc->structure == NULL) {
        Py_XDECREF(r.held);
        return -1;
    }
    *out = (ext_structure){Py_NewRef(dtype), r.held};
    return 0;
}

PyObject *ext_struct_finish(PyObject *tensor, ext_structure *structure) {
    if (structure->dtype != NULL && tensor != NULL)
        tensor = finish(tensor, structure->dtype);
    Py_CLEAR(structure->dtype);
    Py_CLEAR(structure->held);
    return tensor;
}

// `desc` has all but the elements' type.
PyObject *ext_struct_create(kp_ext *ext, ext_core *core, PyObject *dtype, const char *what, kp_tensor_desc *desc) {
    ext_structure structure;
    if (ext_struct_read(ext, dtype, what, desc, &structure) < 0)
        return NULL;
    return ext_struct_finish(ext_tensor_from_desc(ext, core, desc), &structure);
}

PyObject *ext_struct_tensor(kp_ext *ext, ext_core *core, PyObject *object, PyObject *dtype, const char *what,
                            const kp_tensor_desc *kind) {
    PyObject *numpy = PyImport_ImportModule("numpy"), *tensor = NULL;
    PyObject *flat = numpy != NULL ? PyObject_CallMethod(numpy, "ascontiguousarray", "O", object) : NULL;
    Py_buffer buffer = {0};
    if (flat != NULL && PyObject_GetBuffer(flat, &buffer, PyBUF_C_CONTIGUOUS) == 0) {
        kp_tensor_desc desc = *kind;
        desc.count = buffer.itemsize != 0 ? (uint64_t)(buffer.len / buffer.itemsize) : 0;
        desc.data = kind->memory_type != KP_MEMORY_STORAGE && buffer.len != 0 ? buffer.buf : NULL;
        tensor = ext_struct_create(ext, core, dtype, what, &desc);
        PyBuffer_Release(&buffer);
    }
    Py_XDECREF(flat);
    Py_XDECREF(numpy);
    return tensor;
}

int ext_struct_check(const ext_tensor *t, PyObject *object, const char *what) {
    PyObject *dtype = ext_struct_dtype(object);
    if (dtype == NULL && PyErr_Occurred())
        return -1;
    PyObject *has = dtype != NULL ? Py_NewRef(dtype) : PyObject_GetAttrString(object, "dtype");
    if (has == NULL) {
        PyErr_Clear();
        has = Py_NewRef((PyObject *)Py_TYPE(object));
    }
    int same = dtype != NULL ? PyObject_RichCompareBool(dtype, t->numpy, Py_EQ) : 0;
    if (same == 0)
        PyErr_Format(PyExc_TypeError, "%s: has dtype %S, must be %S", what, has, t->numpy);
    Py_DECREF(has);
    Py_XDECREF(dtype);
    return same == 1 ? 0 : -1;
}

// The array has to be of the tensor's dtype and size.
PyObject *ext_struct_assign(ext_tensor *t, PyObject *object) {
    int same = ext_struct_check(t, object, "data") == 0;
    PyObject *flat = same ? PyObject_CallMethod(object, "reshape", "i", -1) : NULL;
    Py_ssize_t count = flat != NULL ? PyObject_Size(flat) : -1;
    if (count >= 0 && count != t->count)
        PyErr_Format(PyExc_ValueError, "data: has %zd elements, the tensor has %zd: a tensor keeps its size", count,
                     t->count);
    PyObject *array = count == t->count ? PyObject_CallMethod((PyObject *)t, "data", NULL) : NULL;
    PyObject *to = array != NULL ? PyObject_CallMethod(array, "reshape", "i", -1) : NULL;
    int result = to != NULL ? PyObject_SetItem(to, Py_Ellipsis, flat) : -1;
    Py_XDECREF(flat);
    Py_XDECREF(array);
    Py_XDECREF(to);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

// "kp.Tensor(structs of 28 bytes (position, velocity, mass), shape=(1000,), memory_type=device)"
PyObject *ext_struct_repr(ext_tensor *t) {
    PyObject *dtype = ext_tensor_dtype_text(t), *shape = ext_axes_tuple(t), *text = NULL;
    PyObject *name = PyObject_GetAttrString(t->ext->memory_type_members[t->memory_type], "name");
    if (dtype != NULL && name != NULL && shape != NULL)
        text = PyUnicode_FromFormat("kp.Tensor(%U, shape=%R, memory_type=%U)", dtype, shape, name);
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    Py_XDECREF(shape);
    return text;
}

// (name, size, align, ((name, type, dtype, shape, offset, struct), ...))
PyObject *ext_struct_describe(const kp_struct *structure) {
    if (structure == NULL)
        return Py_NewRef(Py_None);
    PyObject *fields = PyTuple_New((Py_ssize_t)structure->field_count);
    for (size_t i = 0; fields != NULL && i < structure->field_count; i++) {
        const kp_field *f = &structure->fields[i];
        PyObject *field =
            Py_BuildValue("(sssNIN)", f->name, f->type, kp_dtype_name(f->dtype),
                          ext_value_shape(f->type, f->dtype, f->structure, (size_t)f->components * f->count), f->offset,
                          ext_struct_describe(f->structure));
        if (field == NULL)
            Py_CLEAR(fields);
        else
            PyTuple_SetItem(fields, (Py_ssize_t)i, field);
    }
    return fields != NULL ? Py_BuildValue("(sIIN)", structure->name, structure->size, structure->align, fields) : NULL;
}
