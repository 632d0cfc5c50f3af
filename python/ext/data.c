// See ext.h. Data arguments: arrays through the buffer protocol, read element by element where they are not already
// what is asked for; sequences of numbers, nested ones flattened in order. An array is converted by value or refused
// with a TypeError, never reinterpreted.
#include "ext.h"

#include <stdlib.h>
#include <string.h>

static const char *type_text(PyObject *object, PyObject **keep) {
    *keep = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    const char *text = *keep != NULL ? PyUnicode_AsUTF8AndSize(*keep, NULL) : NULL;
    if (text == NULL)
        PyErr_Clear();
    return text != NULL ? text : "object";
}

// TypeError "<what>: <wanted>, not <type of object>".
static int refuse(PyObject *object, const char *what, const char *wanted) {
    PyObject *keep;
    const char *name = type_text(object, &keep);
    PyErr_Format(PyExc_TypeError, "%s: must be %s, not %s", what, wanted, name);
    Py_XDECREF(keep);
    return -1;
}

void ext_data_release(ext_data *data) {
    free(data->owned);
    if (data->buffer.obj != NULL)
        PyBuffer_Release(&data->buffer);
    *data = (ext_data){0};
}

int ext_data_own(ext_data *data, size_t bytes) {
    if (data->owned != NULL || bytes == 0)
        return 0;
    void *copy = malloc(bytes);
    if (copy == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(copy, data->bytes, bytes);
    if (data->buffer.obj != NULL)
        PyBuffer_Release(&data->buffer);
    data->buffer.obj = NULL;
    data->bytes = data->owned = copy;
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Arrays
// ---------------------------------------------------------------------------------------------------------------------

// Walks a strided buffer in C order.
typedef struct walk {
    const Py_buffer *buffer;
    Py_ssize_t index[64]; // PyBUF_MAX_NDIM
} walk;

static const char *walk_at(const walk *w) {
    const char *at = w->buffer->buf;
    for (int axis = 0; axis < w->buffer->ndim; axis++) {
        at += w->index[axis] * w->buffer->strides[axis];
        if (w->buffer->suboffsets != NULL && w->buffer->suboffsets[axis] >= 0)
            at = *(char *const *)at + w->buffer->suboffsets[axis];
    }
    return at;
}

static void walk_next(walk *w) {
    for (int axis = w->buffer->ndim - 1; axis >= 0; axis--) {
        if (++w->index[axis] < w->buffer->shape[axis])
            return;
        w->index[axis] = 0;
    }
}

static size_t element_count(const Py_buffer *buffer) {
    size_t count = 1;
    for (int axis = 0; axis < buffer->ndim; axis++)
        count *= (size_t)buffer->shape[axis];
    return count;
}

static int allocate(ext_data *out) {
    size_t size = kp_dtype_size(out->dtype);
    if (out->count > SIZE_MAX / size || (out->owned = malloc(out->count * size + 1)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    out->bytes = out->owned;
    return 0;
}

// Each element of a buffer into `out`, which has dtype and count.
static int read_elements(const Py_buffer *buffer, ext_element element, bool convert, const char *what, ext_data *out) {
    if (allocate(out) < 0)
        return -1;
    bool contiguous = PyBuffer_IsContiguous(buffer, 'C') != 0;
    walk w = {.buffer = buffer};
    char *to = out->owned;
    size_t size = kp_dtype_size(out->dtype);
    for (size_t i = 0; i < out->count; i++, to += size) {
        const char *at = contiguous ? (const char *)buffer->buf + i * element.size : walk_at(&w);
        if (convert && ext_element_too_large(element, at)) {
            PyErr_Format(PyExc_OverflowError, "%s[%zu]: does not fit in float32", what, i);
            return -1;
        }
        if (convert) {
            float value = ext_element_float(element, at);
            memcpy(to, &value, sizeof value);
        } else {
            ext_element_copy(element, at, to);
        }
        if (!contiguous)
            walk_next(&w);
    }
    return 0;
}

static int mismatch(ext_element element, int want, const char *what) {
    int has = ext_element_dtype(element);
    PyErr_Format(PyExc_TypeError, "%s: has dtype %s, must be %s", what,
                 has >= 0 ? ext_element_numpy((kp_dtype)has) : "of no device", ext_element_numpy((kp_dtype)want));
    return -1;
}

// A buffer that is held in out->buffer. On failure it is still held.
static int read_buffer(int want, ext_data_rule rule, const char *what, ext_data *out) {
    Py_buffer *buffer = &out->buffer;
    ext_element element;
    if (ext_element_parse(buffer->format, buffer->itemsize, what, &element) < 0)
        return -1;
    int has = ext_element_dtype(element);
    if (has < 0) {
        PyErr_Format(PyExc_TypeError, "%s: elements of %zd bytes (format '%s') are of no type that a device has", what,
                     buffer->itemsize, buffer->format);
        return -1;
    }
    if (want == EXT_DATA_OWN)
        want = has;
    bool convert = has != want;
    if (convert && (rule == EXT_DATA_STRICT || want != KP_F32))
        return mismatch(element, want, what);
    out->dtype = (kp_dtype)want;
    out->count = element_count(buffer);
    if (convert || element.swapped || !PyBuffer_IsContiguous(buffer, 'C'))
        return read_elements(buffer, element, convert, what, out);
    out->bytes = buffer->buf;
    return 0;
}

// Turns the error of an array that has no buffer into a TypeError that keeps its reason; others are the user's own.
static int no_buffer(const char *what) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
        !PyErr_ExceptionMatches(PyExc_BufferError))
        return -1;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_Format(PyExc_TypeError, "%s: an array that cannot be read as numbers (%S)", what, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

static int read_array(PyObject *array, int want, ext_data_rule rule, const char *what, ext_data *out) {
    *out = (ext_data){0};
    if (PyObject_GetBuffer(array, &out->buffer, PyBUF_FULL_RO) < 0) {
        out->buffer.obj = NULL;
        return no_buffer(what);
    }
    if (read_buffer(want, rule, what, out) == 0)
        return 0;
    ext_data_release(out);
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sequences
// ---------------------------------------------------------------------------------------------------------------------

enum { MAX_NESTING = 32 };

typedef struct reader {
    ext_data *out;
    size_t room; // elements
    const char *what;
    Py_ssize_t lengths[MAX_NESTING]; // of the first sequence at each depth
    int seen;                        // depths with a length
    int leaf;                        // depth of numbers; 0: none yet
} reader;

static void *grow(reader *r) {
    size_t size = kp_dtype_size(r->out->dtype);
    if (r->out->count == r->room) {
        size_t room = r->room == 0 ? 16 : 2 * r->room;
        void *larger = room <= SIZE_MAX / size ? realloc(r->out->owned, room * size) : NULL;
        if (larger == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        r->out->owned = larger;
        r->room = room;
    }
    return (char *)r->out->owned + r->out->count * size;
}

static bool is_text(PyObject *object) {
    return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

// Says where, keeping the type of the error that element.c raised.
static int bad_number(const reader *r, PyObject *item) {
    PyObject *keep;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        bool whole = r->out->dtype != KP_F32 && r->out->dtype != KP_F64 && r->out->dtype != KP_F16;
        const char *name = type_text(item, &keep);
        PyErr_Format(PyExc_TypeError, "%s[%zu]: must be a%s number, not %s", r->what, r->out->count,
                     whole ? " whole" : "", name);
        Py_XDECREF(keep);
    } else if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "%s[%zu]: does not fit in %s", r->what, r->out->count,
                     ext_element_numpy(r->out->dtype));
    }
    return -1;
}

static int read_number(reader *r, PyObject *item, int depth) {
    if (r->leaf != 0 && r->leaf != depth) {
        PyErr_Format(PyExc_ValueError, "%s: numbers at different depths; the nested sequences must have one shape",
                     r->what);
        return -1;
    }
    r->leaf = depth;
    void *to = grow(r);
    if (to == NULL)
        return -1;
    if (is_text(item)) {
        PyErr_SetNone(PyExc_TypeError);
        return bad_number(r, item);
    }
    if (ext_element_set(r->out->dtype, to, item) < 0)
        return bad_number(r, item);
    r->out->count++;
    return 0;
}

static int read_items(reader *r, PyObject *sequence, int depth);

// Numbers first: they are nearly all that there is. Arrays of NumPy are sequences that also answer float().
static int read_item(reader *r, PyObject *item, int depth) {
    if (PyFloat_Check(item) || PyLong_Check(item) || is_text(item))
        return read_number(r, item, depth);
    bool nested = PyList_Check(item) || PyTuple_Check(item);
    if (!nested && PySequence_Check(item)) {
        nested = PySequence_Size(item) >= 0;
        PyErr_Clear();
    }
    return nested ? read_items(r, item, depth + 1) : read_number(r, item, depth);
}

static int check_length(reader *r, Py_ssize_t length, int depth) {
    if (depth >= MAX_NESTING) {
        PyErr_Format(PyExc_ValueError, "%s: nested more than %d deep", r->what, MAX_NESTING - 1);
        return -1;
    }
    if (depth > r->seen) {
        r->lengths[depth] = length;
        r->seen = depth;
    } else if (depth > 1 && r->lengths[depth] != length) {
        PyErr_Format(PyExc_ValueError, "%s: nested sequences of different lengths, %zd and %zd", r->what,
                     r->lengths[depth], length);
        return -1;
    }
    return 0;
}

static int read_items(reader *r, PyObject *sequence, int depth) {
    PyObject *fast = PySequence_Fast(sequence, "not iterable");
    if (fast == NULL) {
        if (PyErr_ExceptionMatches(PyExc_NotImplementedError)) // memoryviews of several axes cannot be gone over
            refuse(sequence, r->what, "an array, or lists of numbers");
        return -1;
    }
    bool list = PyList_Check(fast);
    int result = check_length(r, PySequence_Size(fast), depth);
    // The size is asked for each time: converting an item may run code that changes the list.
    for (Py_ssize_t i = 0; result == 0 && i < PySequence_Size(fast); i++) {
        PyObject *item = list ? PyList_GetItem(fast, i) : PyTuple_GetItem(fast, i);
        if (item == NULL) {
            result = -1;
            break;
        }
        Py_INCREF(item);
        result = read_item(r, item, depth);
        Py_DECREF(item);
    }
    Py_DECREF(fast);
    return result;
}

static int read_sequence(PyObject *object, kp_dtype dtype, const char *what, ext_data *out) {
    *out = (ext_data){.dtype = dtype};
    reader r = {.out = out, .what = what};
    if (read_items(&r, object, 1) < 0) {
        ext_data_release(out);
        return -1;
    }
    out->bytes = out->owned;
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Any
// ---------------------------------------------------------------------------------------------------------------------

// numpy.from_dlpack(object): a view, where its memory is the host's. NULL without an exception when it has no DLPack.
static PyObject *from_dlpack(PyObject *object, const char *what) {
    if (!PyObject_HasAttrString(object, "__dlpack__"))
        return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy != NULL ? PyObject_CallMethod(numpy, "from_dlpack", "O", object) : NULL;
    Py_XDECREF(numpy);
    if (array == NULL)
        no_buffer(what);
    return array;
}

// What an object of another array library (torch, jax, pandas) shows as NumPy array. NULL without an exception when it
// has no such way.
static PyObject *as_array(PyObject *object, const char *what) {
    if (PyList_Check(object) || PyTuple_Check(object))
        return NULL;
    PyObject *method = PyObject_GetAttrString(object, "__array__");
    if (method == NULL) {
        PyErr_Clear();
        return from_dlpack(object, what);
    }
    PyObject *array = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return array;
}

bool ext_data_masked(PyObject *object) {
    if (PyList_Check(object) || PyTuple_Check(object) || PyType_Check(object))
        return false;
    PyObject *keep;
    bool masked = strcmp(type_text(object, &keep), "MaskedArray") == 0;
    Py_XDECREF(keep);
    PyObject *module = masked ? PyImport_ImportModule("numpy.ma") : NULL;
    PyObject *answer = module != NULL ? PyObject_CallMethod(module, "is_masked", "O", object) : NULL;
    masked = answer == Py_True;
    PyErr_Clear();
    Py_XDECREF(module);
    Py_XDECREF(answer);
    return masked;
}

// A single date of NumPy's, which offers its bytes as a buffer.
static bool is_time(PyObject *object) {
    if (PyList_Check(object) || PyTuple_Check(object) || !PyNumber_Check(object) || !PyObject_CheckBuffer(object))
        return false;
    PyObject *keep;
    const char *name = type_text(object, &keep);
    bool is = strcmp(name, "datetime64") == 0 || strcmp(name, "timedelta64") == 0;
    Py_XDECREF(keep);
    return is;
}

int ext_data_read(PyObject *object, int want, ext_data_rule rule, const char *what, ext_data *out) {
    static const char wanted[] = "an array or a sequence of numbers";
    if (is_time(object))
        return refuse(object, what, wanted);
    if (ext_data_masked(object)) {
        PyErr_Format(PyExc_TypeError, "%s: has masked elements, which no device knows; pass what filled() gives", what);
        return -1;
    }
    if (PyObject_CheckBuffer(object))
        return read_array(object, want, rule, what, out);
    PyObject *array = as_array(object, what);
    if (array != NULL) {
        int result =
            PyObject_CheckBuffer(array) ? read_array(array, want, rule, what, out) : refuse(object, what, wanted);
        Py_DECREF(array);
        return result;
    }
    if (PyErr_Occurred())
        return -1;
    if (want == EXT_DATA_OWN)
        return refuse(object, what, "an array with a dtype");
    if (PyUnicode_Check(object) || PyDict_Check(object) || PyAnySet_Check(object)) // a set has no order
        return refuse(object, what, wanted);
    PyObject *iterator = PyObject_GetIter(object);
    if (iterator == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        return refuse(object, what, wanted);
    }
    Py_DECREF(iterator);
    return read_sequence(object, (kp_dtype)want, what, out);
}

// ---------------------------------------------------------------------------------------------------------------------
// SPIR-V
// ---------------------------------------------------------------------------------------------------------------------

enum { SPIRV_MAGIC = 0x07230203, SPIRV_MAGIC_SWAPPED = 0x03022307 };

// Bytes one by one, or words of 32 bits: what it is shows in the first number.
static int spirv_from_list(PyObject *list, ext_data *out) {
    ext_data words;
    if (read_sequence(list, KP_U32, "spirv", &words) < 0)
        return -1;
    const uint32_t *word = words.bytes;
    size_t count = words.count;
    if (count > 0 && (word[0] == SPIRV_MAGIC || word[0] == SPIRV_MAGIC_SWAPPED)) {
        *out = words;
        out->count = count * sizeof *word;
        return 0;
    }
    uint8_t *bytes = words.owned;
    for (size_t i = 0; i < count; i++) {
        if (word[i] > UINT8_MAX) {
            PyErr_Format(PyExc_ValueError,
                         "spirv: a list of numbers that neither starts with SPIR-V's magic number nor "
                         "holds bytes only (spirv[%zu] is %lu)",
                         i, (unsigned long)word[i]);
            ext_data_release(&words);
            return -1;
        }
        bytes[i] = (uint8_t)word[i]; // never ahead of what is read
    }
    *out = words;
    out->dtype = KP_U8;
    return 0;
}

int ext_data_spirv(PyObject *object, ext_data *out) {
    static const char wanted[] = "SPIR-V: bytes, an array of uint32, or a list of ints";
    *out = (ext_data){0};
    if (PyUnicode_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "spirv: must be SPIR-V (bytes), not str; kp.compile_shader(text) makes SPIR-V "
                                         "from GLSL and HLSL, kp.load_shader(path) reads a file");
        return -1;
    }
    if (PyObject_CheckBuffer(object)) {
        ext_element element;
        if (PyObject_GetBuffer(object, &out->buffer, PyBUF_FULL_RO) < 0)
            return no_buffer("spirv");
        int result = ext_element_parse(out->buffer.format, out->buffer.itemsize, "spirv", &element);
        if (result == 0 && ((element.kind != 'u' && element.kind != 'i') || (element.size != 1 && element.size != 4)))
            result = mismatch(element, KP_U32, "spirv");
        out->count = (size_t)out->buffer.len;
        out->dtype = KP_U8;
        out->bytes = out->buffer.buf;
        if (result == 0 && !PyBuffer_IsContiguous(&out->buffer, 'C')) {
            out->owned = malloc(out->count + 1);
            if (out->owned == NULL)
                PyErr_NoMemory();
            result = out->owned == NULL ? -1 : PyBuffer_ToContiguous(out->owned, &out->buffer, out->buffer.len, 'C');
            out->bytes = out->owned;
        }
        // It is read without the GIL, more than once: another thread must not change it meanwhile.
        if (result == 0 && !out->buffer.readonly)
            result = ext_data_own(out, out->count);
        if (result < 0)
            ext_data_release(out);
        return result;
    }
    if (PyList_Check(object) || PyTuple_Check(object))
        return spirv_from_list(object, out);
    return refuse(object, "spirv", wanted);
}
