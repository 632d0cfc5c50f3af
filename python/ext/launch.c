// See ext.h. What algorithms and dispatches take: counts on three axes, push constants, specialization constants.
// Constants are float32 when given as a list; an array's bytes are taken as they are, if its dtype is one that shaders
// have.
#include "ext.h"

#include <string.h>

static void refuse_three(const char *what, PyObject *object) {
    PyErr_Format(PyExc_TypeError, "%s: must be up to three whole numbers, such as (64, 1, 1), not %R", what,
                 Py_TYPE(object));
}

// The rest stays 0; how many there were, or -1.
static Py_ssize_t read_three(PyObject *object, const char *what, uint32_t out[3]) {
    memset(out, 0, 3 * sizeof *out);
    if (object == NULL || object == Py_None)
        return 0;
    bool one = PyIndex_Check(object) && !PySequence_Check(object); // arrays of one number are both
    PyObject *fast = ext_unordered(object) ? NULL : one ? PyTuple_Pack(1, object) : PySequence_Fast(object, "");
    Py_ssize_t count = fast != NULL ? PySequence_Size(fast) : 0;
    PyObject *bad = NULL;
    int result = 0;
    if (fast == NULL || count > 3) {
        PyErr_Clear();
        if (fast == NULL)
            refuse_three(what, object);
        else
            PyErr_Format(PyExc_TypeError, "%s: must be up to three whole numbers, such as (64, 1, 1), not %zd of them",
                         what, count);
        result = -1;
    }
    for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
        PyObject *item = PySequence_GetItem(fast, i);
        if (item == NULL || ext_element_whole(KP_U32, item, &out[i]) < 0)
            result = -1;
        if (result < 0)
            bad = item;
        else
            Py_DECREF(item);
    }
    Py_XDECREF(fast);
    if (bad != NULL && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s: has a number outside 0 to 2**32 - 1, %R", what, bad);
    } else if (bad != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        refuse_three(what, bad);
    }
    Py_XDECREF(bad);
    return result == 0 ? count : -1;
}

int ext_launch_axes(PyObject *object, const char *what, uint32_t out[3]) {
    return read_three(object, what, out) < 0 ? -1 : 0;
}

int ext_launch_three(PyObject *object, const char *what, uint32_t out[3]) {
    Py_ssize_t count = read_three(object, what, out);
    for (Py_ssize_t i = count; count > 0 && i < 3; i++)
        out[i] = 1;
    return count < 0 ? -1 : 0;
}

int ext_launch_extent(PyObject *object, uint32_t out[3]) {
    if (ext_launch_three(object, "extent", out) < 0)
        return -1;
    if (object == NULL || object == Py_None || (out[0] != 0 && out[1] != 0 && out[2] != 0))
        return 0;
    PyErr_Format(PyExc_ValueError, "extent: must be numbers from 1 up, not %R, which leaves nothing to dispatch",
                 object);
    return -1;
}

int ext_launch_workgroup(PyObject *object, uint32_t out[3]) {
    int result = ext_launch_three(object, "workgroup", out);
    if (result == 0 && out[0] == 0) // as Kompute has it: x tells whether one is given
        out[1] = out[2] = 0;
    return result;
}

static bool is_constant_type(kp_dtype dtype) {
    return dtype == KP_F32 || dtype == KP_F64 || dtype == KP_I32 || dtype == KP_U32;
}

static int read_constants(PyObject *object, const char *what, ext_data *out) {
    bool array = PyObject_CheckBuffer(object) || PyObject_HasAttrString(object, "__array__");
    return ext_data_read(object, array ? (int)EXT_DATA_OWN : (int)KP_F32, EXT_DATA_STRICT, what, out);
}

static int refuse_type(ext_data *data, const char *what, const char *or_bytes) {
    PyErr_Format(PyExc_TypeError, "%s: has dtype %s, must be float32, float64, int32 or uint32%s", what,
                 ext_element_numpy(data->dtype), or_bytes);
    ext_data_release(data);
    return -1;
}

int ext_launch_push(PyObject *object, const char *what, ext_data *out) {
    *out = (ext_data){0};
    if (object == NULL || object == Py_None)
        return 0;
    if (read_constants(object, what, out) < 0)
        return -1;
    if (!is_constant_type(out->dtype) && out->dtype != KP_U8)
        return refuse_type(out, what, ", or bytes");
    out->count *= kp_dtype_size(out->dtype);
    return 0;
}

int ext_launch_specs(PyObject *object, ext_data *values, kp_spec **out, size_t *count) {
    *values = (ext_data){0};
    *out = NULL;
    *count = 0;
    if (object == NULL || object == Py_None)
        return 0;
    if (read_constants(object, "spec_consts", values) < 0)
        return -1;
    if (!is_constant_type(values->dtype))
        return refuse_type(values, "spec_consts", "");
    *out = PyMem_Calloc(values->count + 1, sizeof **out);
    if (*out == NULL) {
        ext_data_release(values);
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < values->count; i++)
        (*out)[i] =
            (kp_spec){(uint32_t)i, values->dtype, (const char *)values->bytes + i * kp_dtype_size(values->dtype)};
    *count = values->count;
    return 0;
}

int ext_launch_spec_words(const char *words, size_t count, kp_spec **out) {
    kp_spec *specs = PyMem_Calloc(count + 1, sizeof *specs);
    if (specs == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++) { // unsigned ones stand for all of their size
        const char *at = words + EXT_SPEC_BYTES * i;
        kp_dtype dtype = at[0] == 1 ? KP_U8 : at[0] == 2 ? KP_U16 : at[0] == 4 ? KP_U32 : KP_U64;
        specs[i] = (kp_spec){(uint32_t)i, dtype, at + 1};
    }
    *out = specs;
    return 0;
}
