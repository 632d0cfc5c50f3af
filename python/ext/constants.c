// See ext.h. Push and specialization constants by name or id, from a dict or a structured scalar: each value is
// converted to the type that the module has, or refused; nothing is reinterpreted.
#include "ext.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Zeroed bytes that `out` owns. NULL with MemoryError.
static char *new_bytes(ext_data *out, size_t size) {
    *out = (ext_data){.owned = calloc(size + 1, 1), .count = size, .dtype = KP_U8};
    out->bytes = out->owned;
    if (out->owned == NULL)
        PyErr_NoMemory();
    return out->owned;
}

typedef struct names {
    kp_param *list;
    size_t count;
} names;

static int read_names(kp_ext *ext, const kp_algorithm *algorithm, names *out) {
    size_t count = 0;
    kp_result result = kp_algorithm_constants(algorithm, NULL, 0, &count);
    if (ext_error_check(ext, result) < 0)
        return -1;
    *out = (names){.list = PyMem_Calloc(count + 1, sizeof *out->list)};
    if (out->list == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    kp_algorithm_constants(algorithm, out->list, count, &out->count);
    return 0;
}

// ValueError "push_consts: there is no 'x'; there are: 'a', 'b'".
static int unknown(const names *n, kp_param_kind kind, const char *what, PyObject *key) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n->count; i++) {
        const kp_param *p = &n->list[i];
        if (p->kind != kind)
            continue;
        PyObject *text = p->name[0] != '\0'      ? PyUnicode_FromFormat("'%s'", p->name)
                         : kind == KP_PARAM_SPEC ? PyUnicode_FromFormat("%u", p->spec_id)
                                                 : PyUnicode_FromFormat("one without a name");
        if (text == NULL || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *all = list != NULL && comma != NULL ? PyUnicode_Join(comma, list) : NULL;
    if (all != NULL)
        PyErr_Format(PyExc_ValueError, "%s: there is no %R; there are: %U", what, key,
                     PyUnicode_GetLength(all) != 0 ? all : comma);
    Py_XDECREF(all);
    Py_XDECREF(comma);
    Py_XDECREF(list);
    return -1;
}

static const kp_param *find(const names *n, kp_param_kind kind, PyObject *key) {
    const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
    uint32_t number = 0;
    bool numbered = kind == KP_PARAM_SPEC && name == NULL && ext_element_whole(KP_U32, key, &number) == 0;
    PyErr_Clear();
    for (size_t i = 0; i < n->count; i++) {
        const kp_param *p = &n->list[i];
        bool named = name != NULL && p->name[0] != '\0' && strcmp(p->name, name) == 0;
        if (p->kind == kind && (named || (numbered && p->spec_id == number)))
            return p;
    }
    return NULL;
}

static int check_all_given(const names *n, const bool *given, const char *what) {
    for (size_t i = 0; i < n->count; i++) {
        if (n->list[i].kind == KP_PARAM_CONSTANT && !given[i]) {
            PyErr_Format(PyExc_ValueError, "%s: '%s' is not given", what, n->list[i].name);
            return -1;
        }
    }
    return 0;
}

static int fill_push(const names *n, PyObject *dict, const char *what, bool *given, char *bytes, size_t size) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(dict, &at, &key, &value)) {
        const kp_param *p = find(n, KP_PARAM_CONSTANT, key);
        if (p == NULL)
            return unknown(n, KP_PARAM_CONSTANT, what, key);
        if ((size_t)p->offset + p->size > size) {
            PyErr_Format(PyExc_ValueError, "%s: '%s' lies outside the push constants", what, p->name);
            return -1;
        }
        if (ext_value_put(p, value, what, bytes + p->offset, p->size) < 0)
            return -1;
        given[p - n->list] = true;
    }
    return check_all_given(n, given, what);
}

// The names of the fields of a structured scalar, or of an array of one. NULL without an exception: it is neither.
static PyObject *fields_of(PyObject *object) {
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *fields = dtype != NULL ? PyObject_GetAttrString(dtype, "names") : NULL;
    PyErr_Clear();
    Py_XDECREF(dtype);
    if (fields == Py_None)
        Py_CLEAR(fields);
    return fields;
}

// A copy of a dict, or of those fields. NULL without an exception: neither.
static PyObject *as_dict(PyObject *object) {
    if (PyDict_Check(object))
        return PyDict_Copy(object);
    PyObject *fields = fields_of(object), *dict = NULL;
    PyObject *flat = fields != NULL ? PyObject_CallMethod(object, "item", NULL) : NULL; // a tuple of the fields
    PyObject *builtins = flat != NULL ? PyImport_ImportModule("builtins") : NULL;
    PyObject *pairs = builtins != NULL ? PyObject_CallMethod(builtins, "zip", "OO", fields, flat) : NULL;
    if (pairs != NULL)
        dict = PyDict_New();
    if (dict != NULL && PyDict_MergeFromSeq2(dict, pairs, 1) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(pairs);
    Py_XDECREF(builtins);
    Py_XDECREF(flat);
    Py_XDECREF(fields);
    return dict;
}

bool ext_constants_named(PyObject *object) {
    if (object == NULL || object == Py_None || PyDict_Check(object))
        return object != NULL && object != Py_None;
    PyObject *fields = fields_of(object);
    Py_XDECREF(fields);
    return fields != NULL;
}

// What both calls below start from. -1 with an exception.
static int begin(kp_ext *ext, const kp_algorithm *algorithm, PyObject *object, const char *what, PyObject **dict,
                 names *n) {
    *dict = as_dict(object);
    if (*dict == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: must be a dict", what);
    if (*dict != NULL && read_names(ext, algorithm, n) < 0)
        Py_CLEAR(*dict);
    return *dict != NULL ? 0 : -1;
}

int ext_constants_push(kp_ext *ext, const kp_algorithm *algorithm, PyObject *object, const char *what, ext_data *out) {
    PyObject *dict;
    names n;
    *out = (ext_data){0};
    if (begin(ext, algorithm, object, what, &dict, &n) < 0)
        return -1;
    size_t size = kp_algorithm_push_bytes(algorithm);
    bool *given = PyMem_Calloc(n.count + 1, sizeof *given);
    char *bytes = new_bytes(out, size);
    int result = -1;
    if (given != NULL && bytes != NULL)
        result = fill_push(&n, dict, what, given, bytes, size);
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    if (result < 0)
        ext_data_release(out);
    PyMem_Free(given);
    PyMem_Free(n.list);
    Py_DECREF(dict);
    return result;
}

static int fill_specs(const names *n, PyObject *dict, const char *what, char *bytes, kp_spec *specs, size_t *count) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(dict, &at, &key, &value)) {
        const kp_param *p = find(n, KP_PARAM_SPEC, key);
        if (p == NULL)
            return unknown(n, KP_PARAM_SPEC, what, key);
        char *to = bytes + 8 * *count;
        if (ext_value_put(p, value, what, to, kp_dtype_size(p->dtype)) < 0)
            return -1;
        specs[(*count)++] = (kp_spec){.id = p->spec_id, .dtype = p->dtype, .value = to};
    }
    return 0;
}

int ext_constants_specs(kp_ext *ext, const kp_algorithm *algorithm, PyObject *object, const char *what,
                        ext_data *values, kp_spec **out, size_t *count) {
    PyObject *dict;
    names n;
    *values = (ext_data){0};
    *count = 0;
    *out = NULL;
    if (begin(ext, algorithm, object, what, &dict, &n) < 0)
        return -1;
    size_t room = (size_t)PyDict_Size(dict);
    kp_spec *specs = PyMem_Calloc(room + 1, sizeof *specs);
    char *bytes = new_bytes(values, 8 * room);
    int result = -1;
    if (specs != NULL && bytes != NULL)
        result = fill_specs(&n, dict, what, bytes, specs, count);
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    if (result < 0) {
        ext_data_release(values);
        PyMem_Free(specs);
    } else {
        *out = specs;
    }
    PyMem_Free(n.list);
    Py_DECREF(dict);
    return result;
}
