// See objects.h. What compile() and compile_list() take, as the descriptor of kp_compile: strings are borrowed from the
// arguments, or from objects that `reading` holds; arrays are blocks that it owns.
#include "objects.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading {
    kp_ext *ext;
    void **blocks; // to be freed
    size_t block_count, block_capacity;
    PyObject *held; // a list; NULL: nothing yet
} reading;

static void release(reading *r) {
    for (size_t i = 0; i < r->block_count; i++)
        PyMem_Free(r->blocks[i]);
    PyMem_Free(r->blocks);
    Py_XDECREF(r->held);
}

// Zeroed, for at least one element; NULL with an exception.
static void *block(reading *r, size_t count, size_t size) {
    if (r->block_count == r->block_capacity) {
        size_t capacity = r->block_capacity == 0 ? 16 : r->block_capacity * 2;
        void **more = PyMem_Realloc(r->blocks, capacity * sizeof *more);
        if (more == NULL)
            return PyErr_NoMemory();
        r->blocks = more;
        r->block_capacity = capacity;
    }
    void *memory = PyMem_Calloc(count + 1, size);
    if (memory == NULL)
        return PyErr_NoMemory();
    return r->blocks[r->block_count++] = memory;
}

// Takes the reference over. -1 with an exception, also for NULL.
static int hold(reading *r, PyObject *object) {
    if (object == NULL)
        return -1;
    if (r->held == NULL)
        r->held = PyList_New(0);
    int result = r->held != NULL ? PyList_Append(r->held, object) : -1;
    Py_DECREF(object);
    return result;
}

// UTF-8 without NUL, borrowed from `object`; NULL for None. -1 with an exception.
static int text_of(PyObject *object, const char *what, const char **out) {
    *out = NULL;
    if (object == NULL || object == Py_None)
        return 0;
    Py_ssize_t length;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s: must be str, not %R", what, Py_TYPE(object));
        return -1;
    }
    *out = PyUnicode_AsUTF8AndSize(object, &length);
    if (*out == NULL)
        return -1;
    if (strlen(*out) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s: has a NUL character", what);
        return -1;
    }
    return 0;
}

// The items of a dict as a list that the reading holds, and a block for as many elements.
static int open_table(reading *r, PyObject *dict, const char *what, size_t size, PyObject **items, void **array,
                      size_t *count) {
    *count = 0;
    *array = NULL;
    if (dict == NULL || dict == Py_None)
        return 0;
    if (!PyDict_Check(dict)) {
        PyErr_Format(PyExc_TypeError, "%s: must be a dict, not %R", what, Py_TYPE(dict));
        return -1;
    }
    *items = PyDict_Items(dict);
    if (hold(r, *items) < 0)
        return -1;
    size_t length = (size_t)PyList_Size(*items);
    *array = block(r, length, size);
    if (*array == NULL)
        return -1;
    *count = length;
    return 0;
}

static int read_params(reading *r, PyObject *dict, const char *what, const kp_param_type **out, size_t *count) {
    PyObject *items = NULL;
    void *array;
    if (open_table(r, dict, what, sizeof **out, &items, &array, count) < 0)
        return -1;
    kp_param_type *params = array;
    *out = params;
    for (size_t i = 0; i < *count; i++) {
        PyObject *item = PyList_GetItem(items, (Py_ssize_t)i);
        if (text_of(PyTuple_GetItem(item, 0), what, &params[i].name) < 0 ||
            text_of(PyTuple_GetItem(item, 1), params[i].name, &params[i].type) < 0)
            return -1;
        if (params[i].name == NULL || params[i].type == NULL) {
            PyErr_Format(PyExc_TypeError, "%s: must map str to str, not None", what);
            return -1;
        }
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Constants
// ---------------------------------------------------------------------------------------------------------------------

// The widest of its kind, which is what the descriptor holds.
static int read_number(PyObject *value, kp_constant *out) {
    if (!PyLong_Check(value) && !PyFloat_Check(value)) {
        PyErr_Format(PyExc_TypeError, "constants: '%s' must be a number, not %R", out->name, Py_TYPE(value));
        return -1;
    }
    switch (out->dtype) {
    case KP_F32:
    case KP_F64:
    case KP_F16:
        return ext_element_set(KP_F64, &out->value.f, value);
    case KP_U8:
    case KP_U16:
    case KP_U32:
    case KP_U64:
        return ext_element_set(KP_U64, &out->value.u, value);
    default:
        return ext_element_set(KP_I64, &out->value.i, value);
    }
}

static int read_constant(reading *r, PyObject *value, kp_constant *out);

static int read_items(reading *r, PyObject *list, kp_constant *out) {
    size_t count = (size_t)PyList_Size(list);
    kp_constant *items = block(r, count, sizeof *items);
    if (items == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(list, (Py_ssize_t)i);
        items[i].name = out->name;
        if (item == NULL || read_constant(r, item, &items[i]) < 0)
            return -1;
    }
    out->items = items;
    out->item_count = count;
    return 0;
}

// A bool, int or float; (dtype name, number) for one whose type is fixed; a list of these for a tuple; (dtype name,
// list of rows) for a matrix.
static int read_constant(reading *r, PyObject *value, kp_constant *out) {
    if (PyList_Check(value)) {
        if (Py_EnterRecursiveCall(" in a constant") != 0)
            return -1;
        int result = read_items(r, value, out);
        Py_LeaveRecursiveCall();
        return result;
    }
    if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
        out->dtype = PyBool_Check(value) ? KP_BOOL : PyFloat_Check(value) ? KP_F64 : KP_I64;
        return read_number(value, out);
    }
    const char *name;
    if (text_of(PyTuple_GetItem(value, 0), "constants", &name) < 0)
        return -1;
    kp_result result = kp_dtype_find(name != NULL ? name : "", &out->dtype);
    if (ext_error_check(r->ext, result) < 0)
        return -1;
    PyObject *number = PyTuple_GetItem(value, 1);
    out->matrix = PyList_Check(number);
    return out->matrix ? read_items(r, number, out) : read_number(number, out);
}

static int read_constants(reading *r, PyObject *dict, const char *what, const kp_constant **out, size_t *count) {
    PyObject *items = NULL;
    void *array;
    if (open_table(r, dict, what, sizeof **out, &items, &array, count) < 0)
        return -1;
    kp_constant *constants = array;
    *out = constants;
    for (size_t i = 0; i < *count; i++) {
        PyObject *item = PyList_GetItem(items, (Py_ssize_t)i);
        if (text_of(PyTuple_GetItem(item, 0), what, &constants[i].name) < 0 ||
            read_constant(r, PyTuple_GetItem(item, 1), &constants[i]) < 0)
            return -1;
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions
// ---------------------------------------------------------------------------------------------------------------------

// {name: index of a function, "=" and the name of the language that it stands for, or why kernels cannot call it}
static int read_callees(reading *r, PyObject *dict, const kp_callee **out, size_t *count) {
    PyObject *items = NULL;
    void *array;
    if (open_table(r, dict, "callees", sizeof **out, &items, &array, count) < 0)
        return -1;
    kp_callee *callees = array;
    *out = callees;
    for (size_t i = 0; i < *count; i++) {
        PyObject *item = PyList_GetItem(items, (Py_ssize_t)i), *value = PyTuple_GetItem(item, 1);
        if (text_of(PyTuple_GetItem(item, 0), "callees", &callees[i].name) < 0)
            return -1;
        if (PyUnicode_Check(value)) {
            const char *text;
            if (text_of(value, "callees", &text) < 0)
                return -1;
            if (text[0] == '=')
                callees[i].stands_for = text + 1;
            else
                callees[i].refusal = text;
            continue;
        }
        callees[i].function = PyLong_AsSize_t(value);
        if (callees[i].function == (size_t)-1 && PyErr_Occurred() != NULL)
            return -1;
    }
    return 0;
}

static int read_function(reading *r, PyObject *dict, kp_function_source *out) {
    PyObject *first_line = PyDict_GetItemString(dict, "first_line");
    if (first_line != NULL) {
        unsigned long line = PyLong_AsUnsignedLong(first_line);
        if (PyErr_Occurred() != NULL)
            return -1;
        out->first_line = line <= UINT32_MAX ? (uint32_t)line : 1;
    }
    if (read_params(r, PyDict_GetItemString(dict, "types"), "types", &out->types, &out->type_count) < 0 ||
        text_of(PyDict_GetItemString(dict, "source"), "functions: source", &out->source) < 0 ||
        text_of(PyDict_GetItemString(dict, "name"), "functions: name", &out->name) < 0 ||
        text_of(PyDict_GetItemString(dict, "file"), "functions: file", &out->file) < 0 ||
        read_params(r, PyDict_GetItemString(dict, "params"), "params", &out->params, &out->param_count) < 0 ||
        read_constants(r, PyDict_GetItemString(dict, "defaults"), "defaults", &out->defaults, &out->default_count) < 0)
        return -1;
    return read_constants(r, PyDict_GetItemString(dict, "constants"), "constants", &out->constants,
                          &out->constant_count) < 0
               ? -1
               : read_callees(r, PyDict_GetItemString(dict, "callees"), &out->callees, &out->callee_count);
}

static int read_functions(reading *r, PyObject *list, kp_compile_desc *desc) {
    if (list == NULL || list == Py_None)
        return 0;
    PyObject *fast = PySequence_List(list);
    if (hold(r, fast) < 0)
        return -1;
    size_t count = (size_t)PyList_Size(fast);
    kp_function_source *functions = block(r, count, sizeof *functions);
    if (functions == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(fast, (Py_ssize_t)i);
        if (!PyDict_Check(item)) {
            PyErr_Format(PyExc_TypeError, "functions: must be dicts, not %R", Py_TYPE(item));
            return -1;
        }
        if (read_function(r, item, &functions[i]) < 0)
            return -1;
    }
    desc->functions = functions;
    desc->function_count = count;
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// compile() and compile_list()
// ---------------------------------------------------------------------------------------------------------------------

// None: what $KP_CHECKED says.
static int read_checked(PyObject *object, bool *out) {
    const char *variable = getenv("KP_CHECKED");
    int truth = variable != NULL && strcmp(variable, "1") == 0;
    if (object != NULL && object != Py_None)
        truth = PyObject_IsTrue(object);
    *out = truth > 0;
    return truth;
}

static int parse(reading *r, PyObject *args, PyObject *kwargs, const char **text, kp_compile_desc *desc) {
    static char *names[] = {"source",    "kernel",     "file",       "first_line",    "params",
                            "constants", "debug_info", "local_size", "subgroup_size", "functions",
                            "callees",   "checked",    "defaults",   "types",         NULL};
    PyObject *source, *kernel = NULL, *file = NULL, *params = NULL, *constants = NULL, *local_size = NULL;
    PyObject *functions = NULL, *callees = NULL, *checked = NULL, *defaults = NULL, *types = NULL;
    PyObject *first_line = NULL, *subgroup_size = NULL;
    int debug_info = 1;
    *desc = (kp_compile_desc){.first_line = 1};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOpOOOOOOO:compile", names, &source, &kernel, &file,
                                     &first_line, &params, &constants, &debug_info, &local_size, &subgroup_size,
                                     &functions, &callees, &checked, &defaults, &types) ||
        ext_element_count(KP_U32, first_line, "first_line", &desc->first_line) < 0 ||
        ext_element_count(KP_U32, subgroup_size, "subgroup_size", &desc->subgroup_size) < 0 ||
        read_checked(checked, &desc->checked) < 0)
        return -1;
    if (source == Py_None) {
        PyErr_SetString(PyExc_TypeError, "source: must be str, not None");
        return -1;
    }
    desc->no_debug_info = !debug_info;
    if (text_of(source, "source", text) < 0 || text_of(kernel, "kernel", &desc->kernel) < 0 ||
        text_of(file, "file", &desc->file) < 0 ||
        read_params(r, params, "params", &desc->params, &desc->param_count) < 0 ||
        read_params(r, types, "types", &desc->types, &desc->type_count) < 0 ||
        read_constants(r, constants, "constants", &desc->constants, &desc->constant_count) < 0 ||
        read_constants(r, defaults, "defaults", &desc->defaults, &desc->default_count) < 0 ||
        read_functions(r, functions, desc) < 0 || ext_launch_three(local_size, "local_size", desc->local_size) < 0)
        return -1;
    return read_callees(r, callees, &desc->callees, &desc->callee_count);
}

PyObject *ext_program_compile(PyObject *module, PyObject *args, PyObject *kwargs) {
    reading r = {.ext = PyModule_GetState(module)};
    const char *source;
    kp_compile_desc desc;
    kp_program *handle = NULL;
    kp_result result = KP_OK;
    bool read = parse(&r, args, kwargs, &source, &desc) == 0;
    if (read) {
        Py_BEGIN_ALLOW_THREADS result = kp_compile(source, &desc, &handle);
        Py_END_ALLOW_THREADS
    }
    release(&r);
    if (!read)
        return NULL;
    return result == KP_OK ? ext_program_new(r.ext, handle) : ext_error_raise(r.ext, result);
}

PyObject *ext_program_compile_check(PyObject *module, PyObject *args, PyObject *kwargs) {
    reading r = {.ext = PyModule_GetState(module)};
    const char *source;
    kp_compile_desc desc;
    bool read = parse(&r, args, kwargs, &source, &desc) == 0;
    kp_result result = read ? kp_compile_check(source, &desc) : KP_OK;
    release(&r);
    if (!read)
        return NULL;
    return result == KP_OK ? Py_NewRef(Py_None) : ext_error_raise(r.ext, result);
}

PyObject *ext_program_compile_list(PyObject *module, PyObject *args, PyObject *kwargs) {
    reading r = {.ext = PyModule_GetState(module)};
    const char *source;
    kp_compile_desc desc;
    char *names = NULL;
    bool read = parse(&r, args, kwargs, &source, &desc) == 0;
    kp_result result = read ? kp_compile_list(source, &desc, &names) : KP_OK;
    release(&r);
    if (!read)
        return NULL;
    if (result != KP_OK)
        return ext_error_raise(r.ext, result);
    PyObject *text = PyUnicode_FromString(names);
    kp_free(names);
    PyObject *list = text != NULL ? PyUnicode_Splitlines(text, 0) : NULL;
    Py_XDECREF(text);
    return list;
}
