// See ext.h. One number: from and to Python objects, and out of foreign buffers, whatever their byte order and
// alignment.
#include "ext.h"

#include <math.h>
#include <string.h>

// memoryview and NumPy both take a 64-bit integer for NumPy's own int64 when it is called long.
static const char *wide(const char *format, const char *as_long) { return sizeof(long) == 8 ? as_long : format; }

const char *ext_element_format(kp_dtype dtype) {
    static const char formats[KP_DTYPE_COUNT][2] = {
#define KP_X(name, bytes, lang, numpy, format) [KP_##name] = {format, '\0'},
        KP_DTYPES(KP_X)
#undef KP_X
    };
    if (dtype == KP_I64)
        return wide(formats[dtype], "l");
    if (dtype == KP_U64)
        return wide(formats[dtype], "L");
    return formats[dtype];
}

const char *ext_element_numpy(kp_dtype dtype) {
    static const char *const names[KP_DTYPE_COUNT] = {
#define KP_X(name, bytes, lang, numpy, format) [KP_##name] = (numpy),
        KP_DTYPES(KP_X)
#undef KP_X
    };
    return names[dtype];
}

static double half_to_double(uint16_t bits) {
    int exponent = (bits >> 10) & 0x1F;
    double fraction = bits & 0x3FF;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction == 0 ? (double)INFINITY : (double)NAN)
                                    : ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000u) != 0 ? -value : value;
}

#define HALF_LIMIT 65520.0 // what a half would be infinite from

// Round to nearest, ties to even, as every float conversion; too large becomes infinite.
static uint16_t double_to_half(double value) {
    uint16_t sign = signbit(value) ? 0x8000u : 0;
    double size = fabs(value);
    if (isnan(value))
        return sign | 0x7E00u;
    if (size >= HALF_LIMIT)
        return sign | 0x7C00u;
    if (size < 0x1p-14) // subnormal; rounding up to the first normal number carries into the exponent by itself
        return sign | (uint16_t)nearbyint(ldexp(size, 24));
    int exponent;
    double fraction = frexp(size, &exponent); // [0.5, 1)
    unsigned bits = (unsigned)nearbyint(ldexp(fraction, 11)) + ((unsigned)(exponent + 13) << 10);
    return sign | (uint16_t)bits;
}

PyObject *ext_element_get(kp_dtype dtype, const void *at) {
    union {
        float f32;
        double f64;
        uint16_t f16;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } v;
    memcpy(&v, at, kp_dtype_size(dtype));
    switch (dtype) {
    case KP_F32:
        return PyFloat_FromDouble((double)v.f32);
    case KP_F64:
        return PyFloat_FromDouble(v.f64);
    case KP_F16:
        return PyFloat_FromDouble(half_to_double(v.f16));
    case KP_I8:
        return PyLong_FromLong(v.i8);
    case KP_I16:
        return PyLong_FromLong(v.i16);
    case KP_I32:
        return PyLong_FromLong(v.i32);
    case KP_I64:
        return PyLong_FromLongLong(v.i64);
    case KP_U8:
        return PyLong_FromLong(v.u8);
    case KP_U16:
        return PyLong_FromLong(v.u16);
    case KP_U32:
        return PyLong_FromUnsignedLong(v.u32);
    case KP_U64:
        return PyLong_FromUnsignedLongLong(v.u64);
    case KP_BOOL:
        return PyBool_FromLong(v.u8 != 0);
    case KP_DTYPE_COUNT:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "element of no dtype");
    return NULL;
}

static int out_of_range(kp_dtype dtype, PyObject *value) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit in %s", value, ext_element_numpy(dtype));
    return -1;
}

static int set_float(kp_dtype dtype, void *at, PyObject *value) {
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred())
        return -1;
    if (isfinite(number) && (dtype == KP_F32 ? isinf((float)number) : dtype == KP_F16 && fabs(number) >= HALF_LIMIT))
        return out_of_range(dtype, value);
    if (dtype == KP_F64) {
        memcpy(at, &number, sizeof number);
    } else if (dtype == KP_F32) {
        float narrow = (float)number;
        memcpy(at, &narrow, sizeof narrow);
    } else {
        uint16_t narrow = double_to_half(number);
        memcpy(at, &narrow, sizeof narrow);
    }
    return 0;
}

static int set_unsigned(kp_dtype dtype, void *at, PyObject *integer) {
    uint64_t number = PyLong_AsUnsignedLongLong(integer);
    if (number == UINT64_MAX && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return -1;
        PyErr_Clear();
        return out_of_range(dtype, integer);
    }
    size_t size = kp_dtype_size(dtype);
    if (size < 8 && number >> (8 * size) != 0)
        return out_of_range(dtype, integer);
    uint8_t u8 = (uint8_t)number;
    uint16_t u16 = (uint16_t)number;
    uint32_t u32 = (uint32_t)number;
    const void *from = size == 1 ? (const void *)&u8 : size == 2 ? (const void *)&u16 : (const void *)&u32;
    memcpy(at, size == 8 ? (const void *)&number : from, size);
    return 0;
}

static int set_signed(kp_dtype dtype, void *at, PyObject *integer) {
    int overflow;
    int64_t number = PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (number == -1 && PyErr_Occurred())
        return -1;
    int bits = 8 * (int)kp_dtype_size(dtype);
    int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    if (overflow != 0 || number > most || number < -most - 1)
        return out_of_range(dtype, integer);
    int8_t i8 = (int8_t)number;
    int16_t i16 = (int16_t)number;
    int32_t i32 = (int32_t)number;
    const void *from = bits == 8 ? (const void *)&i8 : bits == 16 ? (const void *)&i16 : (const void *)&i32;
    memcpy(at, bits == 64 ? (const void *)&number : from, (size_t)bits / 8);
    return 0;
}

int ext_element_set(kp_dtype dtype, void *at, PyObject *value) {
    if (dtype == KP_F32 || dtype == KP_F64 || dtype == KP_F16)
        return set_float(dtype, at, value);
    if (dtype == KP_BOOL) {
        PyObject *whole = PyIndex_Check(value) ? PyNumber_Index(value) : NULL; // NumPy's bools have none
        if (whole == NULL && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        int truth = PyNumber_Check(value) ? PyObject_IsTrue(whole != NULL ? whole : value) : -1; // a text's is another
        Py_XDECREF(whole);
        if (truth < 0 && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "must be a bool, not %R", Py_TYPE(value));
        if (truth >= 0)
            *(uint8_t *)at = (uint8_t)truth;
        return truth < 0 ? -1 : 0;
    }
    PyObject *integer = PyNumber_Index(value); // a float is refused, not cut
    if (integer == NULL)
        return -1;
    bool is_unsigned = dtype == KP_U8 || dtype == KP_U16 || dtype == KP_U32 || dtype == KP_U64;
    int result = is_unsigned ? set_unsigned(dtype, at, integer) : set_signed(dtype, at, integer);
    Py_DECREF(integer);
    return result;
}

int ext_element_whole(kp_dtype dtype, PyObject *object, void *at) {
    if (!PyBool_Check(object))
        return ext_element_set(dtype, at, object);
    PyErr_SetString(PyExc_TypeError, "must be a whole number, not bool");
    return -1;
}

int ext_element_count(kp_dtype dtype, PyObject *object, const char *what, void *at) {
    if (object == NULL || ext_element_whole(dtype, object, at) == 0)
        return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        int bits = 8 * (int)kp_dtype_size(dtype);
        PyErr_Clear();
        if (dtype == KP_U32 || dtype == KP_U64)
            PyErr_Format(PyExc_ValueError, "%s: must be from 0 to 2**%d - 1, not %R", what, bits, object);
        else
            PyErr_Format(PyExc_ValueError, "%s: must be from -2**%d to 2**%d - 1, not %R", what, bits - 1, bits - 1,
                         object);
    } else if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: must be a whole number, not %R", what, Py_TYPE(object));
    }
    return -1;
}

bool ext_unordered(PyObject *object) {
    return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object) || PyDict_Check(object) ||
           PyAnySet_Check(object);
}

static bool little_endian(void) {
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

static int refuse(const char *what, const char *format, const char *reason) {
    PyErr_Format(PyExc_TypeError, "%s: %s (format '%s'); expected an array of numbers", what, reason, format);
    return -1;
}

int ext_element_parse(const char *format, Py_ssize_t itemsize, const char *what, ext_element *out) {
    const char *all = format != NULL ? format : "B";
    const char *f = all;
    bool swapped = false;
    if (*f != '\0' && strchr("@=<>!^", *f) != NULL) {
        swapped = (*f == '<' && !little_endian()) || ((*f == '>' || *f == '!') && little_endian());
        f++;
    }
    if (*f == 'O')
        return refuse(what, all, "an array of Python objects");
    size_t digits = strspn(f, "0123456789");
    if (f[digits] != '\0' && strchr("swuc", f[digits]) != NULL && f[digits + 1] == '\0')
        return refuse(what, all, "an array of characters");
    if (*f == 'T' || (*f != '\0' && *f != 'Z' && f[1] != '\0'))
        return refuse(what, all, "a structured array");
    if (*f == 'Z')
        return refuse(what, all, "an array of complex numbers");
    char kind = *f == '\0'                     ? '\0'
                : strchr("bhilqn", *f) != NULL ? 'i'
                : strchr("BHILQN", *f) != NULL ? 'u'
                : strchr("efd", *f) != NULL    ? 'f'
                : *f == '?'                    ? '?'
                                               : '\0';
    bool size_fits = itemsize == 1 || itemsize == 2 || itemsize == 4 || itemsize == 8;
    if (kind == '\0' || !size_fits)
        return refuse(what, all, "elements of a type that no device has");
    *out = (ext_element){kind, (uint8_t)itemsize, swapped && itemsize > 1};
    return 0;
}

int ext_element_dtype(ext_element element) {
    for (int dtype = 0; dtype < KP_DTYPE_COUNT; dtype++) {
        const char *format = ext_element_format((kp_dtype)dtype);
        char kind = strchr("efd", *format) != NULL     ? 'f'
                    : *format == '?'                   ? '?'
                    : strchr("bhilq", *format) != NULL ? 'i'
                                                       : 'u';
        if (kind == element.kind && kp_dtype_size((kp_dtype)dtype) == element.size)
            return dtype;
    }
    return -1;
}

void ext_element_copy(ext_element element, const void *at, void *to) {
    if (!element.swapped) {
        memcpy(to, at, element.size);
        return;
    }
    const uint8_t *from = at;
    uint8_t *bytes = to;
    for (size_t i = 0; i < element.size; i++)
        bytes[i] = from[element.size - 1 - i];
}

bool ext_element_too_large(ext_element element, const void *at) {
    double number;
    if (element.kind != 'f' || element.size != sizeof number)
        return false;
    ext_element_copy(element, at, &number);
    return isfinite(number) && isinf((float)number);
}

float ext_element_float(ext_element element, const void *at) {
    union {
        uint8_t bytes[8];
        float f32;
        double f64;
        uint16_t u16;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint32_t u32;
        uint64_t u64;
    } v;
    ext_element_copy(element, at, v.bytes);
    if (element.kind == '?')
        return v.u8 != 0 ? 1.0f : 0.0f;
    if (element.kind == 'f')
        return element.size == 4 ? v.f32 : element.size == 8 ? (float)v.f64 : (float)half_to_double(v.u16);
    if (element.kind == 'i')
        return element.size == 1   ? (float)v.i8
               : element.size == 2 ? (float)v.i16
               : element.size == 4 ? (float)v.i32
                                   : (float)v.i64;
    return element.size == 1   ? (float)v.u8
           : element.size == 2 ? (float)v.u16
           : element.size == 4 ? (float)v.u32
                               : (float)v.u64;
}
