// See ext.h. One value of a type, from Python to the bytes that a kernel reads: what push and specialization constants,
// uniforms and the fields of structs have in common. A number is converted where its value stays what it is, floats
// being rounded; a vector, matrix or array is a sequence in its own shape, or all its numbers in a row. Anything else
// is refused with the name of the place.
#include "ext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AXES = 16, PATH_ROOM = 256, TYPE_ROOM = 96 };

typedef struct place { // for messages: k() argument 'box.low[2]'
    const char *who;
    char path[PATH_ROOM];
} place;

typedef struct form { // what a value is made of
    char type[TYPE_ROOM];
    kp_dtype dtype;
    const kp_struct *structure; // NULL: numbers
    size_t each;                // bytes of a number or a struct
    int axes;
    size_t lengths[MAX_AXES];
    int inner; // how many of them are those of a vector or a matrix
} form;

static int put(const form *f, int axis, PyObject *value, place *at, char *to);

// ---------------------------------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------------------------------

static int fail(const place *at, PyObject *exception, const char *format, ...) {
    va_list args;
    va_start(args, format);
    PyObject *text = PyUnicode_FromFormatV(format, args);
    va_end(args);
    if (text != NULL)
        PyErr_Format(exception, "%s '%s': %U", at->who, at->path, text);
    Py_XDECREF(text);
    return -1;
}

static int refuse(const place *at, const char *wanted, PyObject *value) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
    if (name != NULL)
        fail(at, PyExc_TypeError, "must be %s, not %U", wanted, name);
    Py_XDECREF(name);
    return -1;
}

// Adds to the path; `length` is where it ended before.
static void enter(place *at, size_t length, const char *name, size_t index) {
    if (name != NULL)
        snprintf(at->path + length, PATH_ROOM - length, ".%s", name);
    else
        snprintf(at->path + length, PATH_ROOM - length, "[%zu]", index);
}

static void leave(place *at, size_t length) { at->path[length] = '\0'; }

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

static size_t count_from(const form *f, int axis) {
    size_t count = 1;
    for (int i = axis; i < f->axes; i++)
        count *= f->lengths[i];
    return count;
}

static void add_axis(form *f, size_t length) {
    if (f->axes < MAX_AXES)
        f->lengths[f->axes++] = length;
}

// The axes of a vector, "vec3", or a matrix, which has its columns first: "mat2x3", "mat4".
static void read_leaf(form *f, const char *name) {
    const char *vector = strstr(name, "vec"), *matrix = strstr(name, "mat");
    int before = f->axes;
    if (f->structure != NULL)
        return;
    if (matrix != NULL && matrix[3] >= '2' && matrix[3] <= '4') {
        add_axis(f, (size_t)(matrix[4] == 'x' ? matrix[5] : matrix[3]) - '0');
        add_axis(f, (size_t)matrix[3] - '0');
    } else if (vector != NULL && vector[3] >= '2' && vector[3] <= '4') {
        add_axis(f, (size_t)vector[3] - '0');
    }
    f->inner = f->axes - before;
}

// `count` numbers or structs in `size` bytes, of a type as the language writes it; foreign modules tell the dtype
// alone.
static void read_form(form *f, const char *type, kp_dtype dtype, const kp_struct *structure, size_t count,
                      size_t size) {
    *f = (form){.dtype = dtype, .structure = structure, .each = size / count};
    const char *at = type, *bracket = strchr(type, '['), *arrow = strchr(type, '(');
    size_t length = strlen(type);
    if (bracket != NULL && (arrow == NULL || bracket < arrow)) { // Uniform[...], Const[...], Array[..., 2]
        at = bracket + 1;
        length = (size_t)(strrchr(type, ']') - at);
    }
    snprintf(f->type, TYPE_ROOM, "%.*s", (int)length, at);
    while (strncmp(at, "Array(", 6) == 0) {
        char *end;
        add_axis(f, strtoul(at + 6, &end, 10));
        at = end + strspn(end, ", ");
    }
    read_leaf(f, at);
    if (count_from(f, 0) == count)
        return;
    f->axes = 0;
    f->inner = 1;
    add_axis(f, count);
    snprintf(f->type, TYPE_ROOM, "%zu x %s", count, kp_dtype_name(dtype));
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------------------------------------------------

// 'b', 'i', 'u', 'f' and so on of what has a dtype of NumPy's; 0 of anything else.
static char kind_of(PyObject *value) {
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value))
        return 0;
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    PyObject *kind = dtype != NULL ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *text = kind != NULL && PyUnicode_Check(kind) ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    char letter = text != NULL ? text[0] : 0;
    PyErr_Clear();
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    return letter;
}

// Whether an object has axes: it is no number then, even one of NumPy's arrays that would answer float().
static bool has_axes(PyObject *value) {
    PyObject *shape = PyObject_GetAttrString(value, "shape");
    bool has = shape != NULL && PySequence_Check(shape) && PySequence_Size(shape) != 0;
    PyErr_Clear();
    Py_XDECREF(shape);
    return has;
}

static bool is_float(kp_dtype dtype) { return dtype == KP_F16 || dtype == KP_F32 || dtype == KP_F64; }

// Whether a value is a number of the kind that the dtype takes: whole ones where it holds no others, no bool but for a
// bool.
static bool suits(kp_dtype dtype, PyObject *value) {
    char kind = kind_of(value);
    bool truth = PyBool_Check(value) || kind == 'b';
    if ((kind != 0 && strchr("biuf", kind) == NULL) || (!PyFloat_CheckExact(value) && has_axes(value)))
        return false;
    if (truth)
        return dtype == KP_BOOL;
    if (PyIndex_Check(value) && kind != 'f')
        return true;
    return is_float(dtype) && (PyFloat_Check(value) || PyObject_HasAttrString(value, "__float__"));
}

static int put_number(const form *f, PyObject *value, const place *at, char *to) {
    char number[8] = {0};
    if (!suits(f->dtype, value))
        return refuse(at, kp_dtype_name(f->dtype), value);
    if (ext_element_set(f->dtype, number, value) == 0) {
        const uint32_t truth = (uint32_t)number[0];
        bool wide = f->dtype == KP_BOOL && f->each == sizeof truth; // a push constant
        memcpy(to, wide ? (const void *)&truth : number, wide ? sizeof truth : kp_dtype_size(f->dtype));
        return 0;
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return refuse(at, kp_dtype_name(f->dtype), value);
    }
    if (!PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    PyErr_Clear();
    return fail(at, PyExc_OverflowError, "%R does not fit in %s", value, kp_dtype_name(f->dtype));
}

// ---------------------------------------------------------------------------------------------------------------------
// Structs
// ---------------------------------------------------------------------------------------------------------------------

// "low, high"; a new string.
static PyObject *listed(const kp_struct *structure) {
    PyObject *text = PyUnicode_FromString(structure->fields[0].name);
    for (size_t i = 1; text != NULL && i < structure->field_count; i++)
        EXT_SET(text, PyUnicode_FromFormat("%U, %s", text, structure->fields[i].name));
    return text;
}

static int count_error(const kp_struct *structure, Py_ssize_t count, const place *at) {
    PyObject *names = listed(structure);
    if (names != NULL)
        fail(at, PyExc_TypeError, "%s has %zu fields, %U, but these are %zd", structure->name, structure->field_count,
             names, count);
    Py_XDECREF(names);
    return -1;
}

// Whether a struct has all keys of a dict.
static int check_keys(const kp_struct *structure, PyObject *dict, const place *at) {
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (PyDict_Next(dict, &position, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        bool known = false;
        PyErr_Clear();
        for (size_t i = 0; name != NULL && i < structure->field_count && !known; i++)
            known = strcmp(structure->fields[i].name, name) == 0;
        if (known)
            continue;
        PyObject *names = listed(structure);
        if (names != NULL)
            fail(at, PyExc_TypeError, "%s has no field '%S'; it has %U", structure->name, key, names);
        Py_XDECREF(names);
        return -1;
    }
    return 0;
}

// {name: value} of a NumPy structured scalar, or of a value of a class with the base kp.Struct; a dict or a sequence as
// it is. A new reference, or NULL with an exception.
static PyObject *fields_of(const kp_struct *structure, PyObject *value, const place *at) {
    bool plain = PyDict_Check(value) || PyTuple_Check(value) || PyList_Check(value);
    PyObject *dtype = plain ? NULL : PyObject_GetAttrString(value, "dtype"), *names = NULL;
    if (dtype != NULL && !PyType_Check(value))
        names = PyObject_GetAttrString(dtype, "names");
    PyErr_Clear();
    PyObject *fields = plain ? NULL : PyObject_GetAttrString((PyObject *)Py_TYPE(value), "fields");
    PyErr_Clear();
    bool numpy = names != NULL && PyTuple_Check(names);
    PyObject *list = numpy                                    ? PySequence_List(names)
                     : fields != NULL && PyDict_Check(fields) ? PyDict_Keys(fields)
                                                              : NULL;
    PyObject *dict = list != NULL ? PyDict_New() : plain ? Py_NewRef(value) : NULL;
    for (Py_ssize_t i = 0; dict != NULL && list != NULL && i < PyList_Size(list); i++) {
        PyObject *name = PyList_GetItem(list, i);
        PyObject *item = numpy ? PyObject_GetItem(value, name) : PyObject_GetAttr(value, name);
        if (item == NULL || PyDict_SetItem(dict, name, item) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(item);
    }
    if (dict == NULL && list == NULL && !PyErr_Occurred()) {
        PyObject *wanted = PyUnicode_FromFormat("%s, a dict or a tuple of its fields", structure->name);
        const char *text = wanted != NULL ? PyUnicode_AsUTF8AndSize(wanted, NULL) : NULL;
        if (text != NULL)
            refuse(at, text, value);
        Py_XDECREF(wanted);
    }
    Py_XDECREF(dtype);
    Py_XDECREF(names);
    Py_XDECREF(fields);
    Py_XDECREF(list);
    return dict;
}

// The value of a field; a new reference.
static PyObject *field_of(const kp_struct *structure, size_t i, PyObject *values, const place *at) {
    if (!PyDict_Check(values))
        return PySequence_GetItem(values, (Py_ssize_t)i);
    PyObject *name = PyUnicode_FromString(structure->fields[i].name);
    PyObject *value = name != NULL ? PyDict_GetItemWithError(values, name) : NULL;
    Py_XINCREF(value);
    Py_XDECREF(name);
    if (value == NULL && !PyErr_Occurred())
        fail(at, PyExc_TypeError, "%s needs a value for '%s'", structure->name, structure->fields[i].name);
    return value;
}

static int put_struct(const kp_struct *structure, PyObject *value, place *at, char *to) {
    PyObject *values = fields_of(structure, value, at);
    int result = values != NULL ? 0 : -1;
    if (result == 0 && PyDict_Check(values))
        result = check_keys(structure, values, at);
    else if (result == 0 && PySequence_Size(values) != (Py_ssize_t)structure->field_count)
        result = count_error(structure, PySequence_Size(values), at);
    size_t length = strlen(at->path);
    for (size_t i = 0; result == 0 && i < structure->field_count; i++) {
        const kp_field *field = &structure->fields[i];
        PyObject *item = field_of(structure, i, values, at);
        form f;
        read_form(&f, field->type, field->dtype, field->structure, (size_t)field->components * field->count,
                  field->size);
        enter(at, length, field->name, 0);
        result = item != NULL ? put(&f, 0, item, at, to + field->offset) : -1;
        leave(at, length);
        Py_XDECREF(item);
    }
    Py_XDECREF(values);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sequences
// ---------------------------------------------------------------------------------------------------------------------

static int put_item(const form *f, PyObject *value, place *at, char *to) {
    return f->structure != NULL ? put_struct(f->structure, value, at, to) : put_number(f, value, at, to);
}

// The type from an axis on, in `room`.
static const char *type_at(const form *f, int axis, char room[TYPE_ROOM]) {
    const char *at = f->type;
    size_t skipped = 0;
    for (; (int)skipped < axis && strncmp(at, "Array(", 6) == 0; skipped++)
        at += strcspn(at, " ") + 1;
    size_t length = strlen(at);
    snprintf(room, TYPE_ROOM, "%.*s", (int)(length > skipped ? length - skipped : 0), at);
    return room;
}

// What an array is in a message: "mat2x3 is 3 rows of 2 numbers", "Array(5, f32) has 5 elements".
static int wrong_length(const form *f, int axis, size_t count, const place *at) {
    char room[TYPE_ROOM];
    const char *type = type_at(f, axis, room);
    size_t length = f->lengths[axis];
    if (f->axes - axis == 2 && f->inner == 2)
        return fail(at, PyExc_ValueError, "%s is %zu rows of %zu numbers", type, length, f->lengths[axis + 1]);
    const char *what = axis < f->axes - f->inner ? "elements" : f->inner == 2 ? "numbers in a row" : "components";
    return fail(at, PyExc_ValueError, "%s has %zu %s, not %zu", type, length, what, count);
}

// "has shape (2, 3), mat2x3 takes (3, 2), or 6 numbers in a row".
static int wrong_shape(const form *f, int axis, PyObject *shape, const place *at) {
    char room[TYPE_ROOM];
    const char *type = type_at(f, axis, room);
    PyObject *takes = PyTuple_New(f->axes - axis);
    for (int i = axis; takes != NULL && i < f->axes; i++)
        PyTuple_SetItem(takes, i - axis, PyLong_FromSize_t(f->lengths[i]));
    if (takes != NULL && f->axes - axis > 1)
        fail(at, PyExc_ValueError, "has shape %R, %s takes %R, or %zu in a row", shape, type, takes,
             count_from(f, axis));
    else if (takes != NULL)
        fail(at, PyExc_ValueError, "has shape %R, %s takes %R", shape, type, takes);
    Py_XDECREF(takes);
    return -1;
}

// Whether an array has the type's shape from this axis on, or all in a row. -1 with an exception.
static int check_shape(const form *f, int axis, PyObject *array, const place *at) {
    PyObject *shape = PyObject_GetAttrString(array, "shape");
    Py_ssize_t axes = shape != NULL ? PyTuple_Size(shape) : -1;
    bool same = axes == f->axes - axis, flat = axes == 1;
    for (Py_ssize_t i = 0; i < axes; i++) {
        size_t length = PyLong_AsSize_t(PyTuple_GetItem(shape, i));
        same = same && length == f->lengths[axis + i];
        flat = flat && length == count_from(f, axis);
    }
    int result = axes < 0 ? -1 : same || flat ? 0 : wrong_shape(f, axis, shape, at);
    Py_XDECREF(shape);
    return result;
}

// The bytes of an array that has them as they are needed: 1. 0: it is to be read number by number.
static int put_bytes(const form *f, int axis, PyObject *array, const place *at, char *to) {
    Py_buffer buffer;
    ext_element element;
    if (f->structure != NULL || f->each != kp_dtype_size(f->dtype) ||
        PyObject_GetBuffer(array, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        return 0;
    }
    bool fits = ext_element_parse(buffer.format, buffer.itemsize, at->who, &element) == 0 && !element.swapped &&
                ext_element_dtype(element) == (int)f->dtype && (size_t)buffer.len == count_from(f, axis) * f->each;
    PyErr_Clear();
    if (fits)
        memcpy(to, buffer.buf, (size_t)buffer.len);
    PyBuffer_Release(&buffer);
    return fits;
}

// An array of another library, or a memoryview, as one of NumPy's; a new reference. NULL without an exception: it is a
// sequence of another kind.
static PyObject *as_array(PyObject *value) {
    if (PyList_Check(value) || PyTuple_Check(value) ||
        !(PyMemoryView_Check(value) || PyObject_HasAttrString(value, "__array__")))
        return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy != NULL ? PyObject_CallMethod(numpy, "asarray", "O", value) : NULL;
    Py_XDECREF(numpy);
    return array;
}

static bool is_sequence(PyObject *value) {
    return PySequence_Check(value) && !PyDict_Check(value) && !PyUnicode_Check(value) && !PyType_Check(value);
}

// Whether an array has structs for structs, else numbers, or objects that may be some.
static int check_kind(const form *f, PyObject *array, const place *at) {
    char kind = kind_of(array);
    if (kind != 0 && strchr(f->structure != NULL ? "VO" : "biufO", kind) != NULL)
        return 0;
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *names = dtype != NULL && kind == 'V' ? PyObject_GetAttrString(dtype, "names") : NULL;
    if (dtype != NULL)
        fail(at, PyExc_TypeError, "must be %s, not an array of %S", f->type,
             names != NULL && names != Py_None ? names : dtype);
    Py_XDECREF(dtype);
    Py_XDECREF(names);
    return -1;
}

// `list` has the items from `axis` on: each with those of the next, or all numbers in a row.
static int put_items(const form *f, int axis, PyObject *list, place *at, char *to) {
    size_t count = (size_t)PyList_Size(list), rest = count_from(f, axis);
    size_t length = strlen(at->path);
    PyObject *first = count > 0 ? PyList_GetItem(list, 0) : NULL;
    bool last = axis + 1 == f->axes;
    bool nested = !last && first != NULL && is_sequence(first) && (f->structure == NULL || count == f->lengths[axis]);
    if (count != (nested || last ? f->lengths[axis] : rest))
        return wrong_length(f, axis, count, at);
    size_t step = rest / count * f->each;
    int result = 0;
    for (size_t i = 0; result == 0 && i < count && i < (size_t)PyList_Size(list); i++) {
        PyObject *item = Py_NewRef(PyList_GetItem(list, (Py_ssize_t)i));
        if (nested || f->structure != NULL)
            enter(at, length, NULL, i);
        result = nested ? put(f, axis + 1, item, at, to + i * step) : put_item(f, item, at, to + i * step);
        leave(at, length);
        Py_DECREF(item);
    }
    return result;
}

static int put_sequence(const form *f, int axis, PyObject *value, place *at, char *to) {
    char room[TYPE_ROOM];
    if (ext_data_masked(value))
        return refuse(at, type_at(f, axis, room), value);
    PyObject *array = as_array(value), *list = NULL;
    int result = -1;
    if (array != NULL && check_kind(f, array, at) == 0 && check_shape(f, axis, array, at) == 0) {
        result = put_bytes(f, axis, array, at, to);
        if (result == 0)
            list = f->structure != NULL ? PySequence_List(array) : PyObject_CallMethod(array, "tolist", NULL);
    } else if (array == NULL && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError)) { // of __array__()
            PyErr_Clear();
            refuse(at, type_at(f, axis, room), value);
        }
    } else if (array == NULL) {
        bool bytes = (PyBytes_Check(value) || PyByteArray_Check(value)) && f->dtype != KP_U8;
        list = is_sequence(value) && !bytes ? PySequence_List(value) : NULL;
        if (list == NULL && !PyErr_Occurred())
            refuse(at, type_at(f, axis, room), value);
    }
    if (result <= 0)
        result = list != NULL ? put_items(f, axis, list, at, to) : -1;
    Py_XDECREF(array);
    Py_XDECREF(list);
    return result < 0 ? -1 : 0;
}

// The one struct of an array of one, as arrays of them have to be one to be a struct.
static int put_one(const form *f, PyObject *value, place *at, char *to) {
    if (f->structure == NULL || !has_axes(value))
        return put_item(f, value, at, to);
    PyObject *shape = PyObject_GetAttrString(value, "shape"), *flat = NULL, *one = NULL;
    Py_ssize_t size = -1;
    if (shape != NULL && PyObject_HasAttrString(value, "reshape"))
        flat = PyObject_CallMethod(value, "reshape", "i", -1);
    if (flat != NULL)
        size = PyObject_Size(flat);
    if (size == 1)
        one = PySequence_GetItem(flat, 0);
    int result = one != NULL ? put_item(f, one, at, to) : -1;
    if (one == NULL && !PyErr_Occurred())
        fail(at, PyExc_ValueError, "has shape %R, but is one %s", shape, f->type);
    Py_XDECREF(shape);
    Py_XDECREF(flat);
    Py_XDECREF(one);
    return result;
}

static int put(const form *f, int axis, PyObject *value, place *at, char *to) {
    return axis == f->axes ? put_one(f, value, at, to) : put_sequence(f, axis, value, at, to);
}

PyObject *ext_value_shape(const char *type, kp_dtype dtype, const kp_struct *structure, size_t count) {
    form f;
    read_form(&f, type, dtype, structure, count != 0 ? count : 1, 1);
    PyObject *shape = PyTuple_New(f.axes);
    for (int i = 0; shape != NULL && i < f.axes; i++)
        PyTuple_SetItem(shape, i, PyLong_FromSize_t(f.lengths[i]));
    return shape;
}

int ext_value_put(const kp_param *param, PyObject *value, const char *who, char *to, size_t size) {
    place at = {.who = who};
    form f;
    size_t count = param->components != 0 ? param->components : 1;
    read_form(&f, param->type, param->dtype, param->structure, count, size);
    snprintf(at.path, PATH_ROOM, "%s", param->name);
    if (ext_data_masked(value))
        return fail(&at, PyExc_TypeError, "has masked elements, which no device knows; pass what filled() gives");
    return put(&f, 0, value, &at, to);
}
