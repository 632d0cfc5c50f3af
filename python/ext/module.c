// See ext.h. The module kp._kp: its state, its functions, its enums.
#include "objects.h"

kp_ext *ext_of_type(PyTypeObject *type) {
    while (type != NULL) {
        PyObject *module = PyType_GetModule(type);
        if (module != NULL)
            return PyModule_GetState(module);
        PyErr_Clear(); // a subclass made in Python
        type = (PyTypeObject *)PyType_GetSlot(type, Py_tp_base);
    }
    PyErr_SetString(PyExc_SystemError, "not a type of kp");
    return NULL;
}

PyTypeObject *ext_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base) {
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, (PyObject *)base);
    if (type != NULL && PyModule_AddType(module, type) < 0)
        Py_CLEAR(type);
    return type;
}

void ext_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

// ---------------------------------------------------------------------------------------------------------------------
// Enums
// ---------------------------------------------------------------------------------------------------------------------

// Members in order; a value that comes again is an older name.
typedef struct member {
    const char *name;
    int value;
} member;

static const member memory_types[] = {
    {"device", KP_MEMORY_DEVICE},   {"host", KP_MEMORY_HOST},
    {"storage", KP_MEMORY_STORAGE}, {"deviceAndHost", KP_MEMORY_DEVICE_AND_HOST},
    {"staging", KP_MEMORY_HOST},    {NULL, 0},
};

// Kompute's names, and three of ours for what it does not have.
static const member data_types[] = {
    {"bool", KP_BOOL}, {"int", KP_I32},   {"uint", KP_U32},   {"float", KP_F32}, {"double", KP_F64},
    {"custom", -1},    {"short", KP_I16}, {"ushort", KP_U16}, {"char", KP_I8},   {"uchar", KP_U8},
    {"half", KP_F16},  {"long", KP_I64},  {"ulong", KP_U64},  {NULL, 0},
};

static PyObject *make_enum(PyObject *module, const char *name, const member *members, const char *doc) {
    PyObject *library = PyImport_ImportModule("enum");
    PyObject *list = PyList_New(0), *type = NULL;
    for (; list != NULL && members->name != NULL; members++) {
        PyObject *pair = Py_BuildValue("(si)", members->name, members->value);
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    PyObject *base = library != NULL ? PyObject_GetAttrString(library, "IntEnum") : NULL;
    PyObject *args = base != NULL && list != NULL ? Py_BuildValue("(sO)", name, list) : NULL;
    PyObject *kwargs = args != NULL ? Py_BuildValue("{s:s,s:s}", "module", "kp", "qualname", name) : NULL;
    if (kwargs != NULL)
        type = PyObject_Call(base, args, kwargs);
    PyObject *text = type != NULL ? PyUnicode_FromString(doc) : NULL;
    if (text == NULL || PyObject_SetAttrString(type, "__doc__", text) < 0 ||
        PyModule_AddObjectRef(module, name, type) < 0)
        Py_CLEAR(type);
    Py_XDECREF(text);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(base);
    Py_XDECREF(list);
    Py_XDECREF(library);
    return type;
}

// The members by value, each a new reference.
static int by_value(PyObject *type, const member *members, PyObject **out) {
    for (; members->name != NULL; members++) {
        if (members->value < 0 || out[members->value] != NULL)
            continue;
        out[members->value] = PyObject_GetAttrString(type, members->name);
        if (out[members->value] == NULL)
            return -1;
    }
    return 0;
}

static int add_enums(kp_ext *ext, PyObject *module) {
    ext->memory_types =
        make_enum(module, "MemoryTypes", memory_types, "Where a tensor lives; staging is the older name of host.");
    ext->data_types = ext->memory_types != NULL
                          ? make_enum(module, "DataTypes", data_types, "Element types, by Kompute's names.")
                          : NULL;
    if (ext->data_types == NULL || by_value(ext->memory_types, memory_types, ext->memory_type_members) < 0)
        return -1;
    return by_value(ext->data_types, data_types, ext->dtype_members);
}

// DTYPES: one row per element type, (kernel-language name, NumPy name, bytes, struct-module format).
static int add_dtypes(PyObject *module) {
    PyObject *rows = PyTuple_New(KP_DTYPE_COUNT);
    for (int i = 0; rows != NULL && i < KP_DTYPE_COUNT; i++) {
        kp_dtype dtype = (kp_dtype)i;
        PyObject *row = Py_BuildValue("(ssns)", kp_dtype_name(dtype), ext_element_numpy(dtype),
                                      (Py_ssize_t)kp_dtype_size(dtype), ext_element_format(dtype));
        if (row == NULL)
            Py_CLEAR(rows);
        else
            PyTuple_SetItem(rows, i, row);
    }
    int result = rows != NULL ? PyModule_AddObjectRef(module, "DTYPES", rows) : -1;
    Py_XDECREF(rows);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *devices(PyObject *module, PyObject *unused) {
    (void)unused;
    return ext_device_all(PyModule_GetState(module));
}

static PyObject *list_devices(PyObject *module, PyObject *unused) {
    (void)unused;
    return ext_device_list(PyModule_GetState(module));
}

static PyObject *version(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyUnicode_FromString(kp_version());
}

// set_classes(manager, sequence): subclasses of the two types here, which the types here make from now on.
static PyObject *set_classes(PyObject *module, PyObject *args) {
    kp_ext *ext = PyModule_GetState(module);
    PyObject *manager, *sequence;
    if (!PyArg_ParseTuple(args, "OO:set_classes", &manager, &sequence))
        return NULL;
    int fits = PyObject_IsSubclass(manager, (PyObject *)ext->manager_type);
    if (fits > 0)
        fits = PyObject_IsSubclass(sequence, (PyObject *)ext->sequence_type);
    if (fits < 0)
        return NULL;
    if (!fits)
        return PyErr_Format(PyExc_TypeError, "must be subclasses of Manager and Sequence");
    EXT_SET(ext->manager_class, (PyTypeObject *)Py_NewRef(manager));
    EXT_SET(ext->sequence_class, (PyTypeObject *)Py_NewRef(sequence));
    Py_RETURN_NONE;
}

// numbers(data, dtype, what): what a kernel gets of an array or a sequence, as bytes.
static PyObject *numbers(PyObject *module, PyObject *args) {
    kp_ext *ext = PyModule_GetState(module);
    PyObject *object;
    const char *name, *what;
    kp_dtype dtype;
    ext_data data;
    if (!PyArg_ParseTuple(args, "Oss:numbers", &object, &name, &what))
        return NULL;
    kp_result result = kp_dtype_find(name, &dtype);
    if (result != KP_OK)
        return ext_error_raise(ext, result);
    if (ext_data_read(object, (int)dtype, EXT_DATA_STRICT, what, &data) < 0)
        return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(data.bytes, (Py_ssize_t)(data.count * kp_dtype_size(dtype)));
    ext_data_release(&data);
    return bytes;
}

PyDoc_STRVAR(numbers_doc,
             "numbers(data, dtype, what, /)\n--\n\n"
             "What a kernel gets of an array or a sequence of numbers, as bytes: arrays must have the dtype\n"
             "(kernel-language name), sequences are converted.");
PyDoc_STRVAR(devices_doc, "devices()\n--\n\n"
                          "What is known about each device, as list of kp.Device; empty on a machine without Vulkan.");
PyDoc_STRVAR(list_devices_doc, "list_devices()\n--\n\n"
                               "As Manager.list_devices(), without a manager.");
PyDoc_STRVAR(device_extensions_doc, "device_extensions(index, /)\n--\n\n"
                                    "Names of the extensions that the driver has for devices()[index], which\n"
                                    "kp.Manager(desired_extensions=...) may enable. IndexError.");
PyDoc_STRVAR(version_doc, "version()\n--\n\n"
                          "Version of the C library.");
PyDoc_STRVAR(log_level_doc,
             "log_level(level, /)\n--\n\n"
             "Sets the level of logging.getLogger('kp'): 0 (all) to 6 (none) as in Kompute, or a level of the\n"
             "logging module. logging.basicConfig() makes messages below WARNING visible.");
PyDoc_STRVAR(compile_doc,
             "compile(source, *, kernel=None, file=None, first_line=1, params=None, constants=None, "
             "debug_info=True, local_size=(0, 0, 0), subgroup_size=0, checked=None)\n--\n\n"
             "Compiles one kernel of a text in the kernel language. Returns a kp.Program.\n\n"
             "kernel names the function (default: the last). file and first_line are for messages. params maps "
             "names of\n"
             "parameters to types, as text, that replace the source's. constants maps captured names to numbers, "
             "or to\n"
             "(dtype, number) for a fixed type. local_size and subgroup_size go before what the text says, unless 0.\n"
             "checked: the kernel looks for mistakes as it runs; by default where $KP_CHECKED is 1.\n\n"
             "CompileError: with line and caret.");
PyDoc_STRVAR(compile_check_doc,
             "compile_check(source, *, kernel=None, file=None, first_line=1, params=None, constants=None, "
             "debug_info=True, local_size=(0, 0, 0), subgroup_size=0, checked=None)\n--\n\n"
             "Looks for what is wrong with a kernel whatever the types of its parameters are, which may have none\n"
             "here. CompileError as compile().");
PyDoc_STRVAR(compile_list_doc,
             "compile_list(source, *, kernel=None, file=None, first_line=1, params=None, constants=None, "
             "debug_info=True, local_size=(0, 0, 0), subgroup_size=0, checked=None)\n--\n\n"
             "Names of the functions in a text, in order. CompileError as compile().");
PyDoc_STRVAR(shader_doc, "compile_shader(text, *, language='auto', file=None, entry=None)\n--\n\n"
                         "Compiles GLSL or HLSL. Returns a kp.Program.\n\n"
                         "CompileError: the compiler's own line. UnsupportedError: shaderc is not installed.");
PyDoc_STRVAR(load_doc, "load_shader(path, *, language='auto', entry=None)\n--\n\n"
                       "Reads a file of SPIR-V, GLSL or HLSL. Returns a kp.Program.\n\n"
                       "OSError: cannot be read. The rest as compile_shader().");
PyDoc_STRVAR(set_classes_doc, "set_classes(manager, sequence, /)\n--\n\n"
                              "The subclasses that are made from now on.");
PyDoc_STRVAR(
    launch_doc,
    "launch(program, name, arguments, extent, push, specs, manager, /)\n--\n\n"
    "Runs a program and waits. name is for messages. An argument is a kp.Memory, or of an array (what the caller\n"
    "gave, what to read, where results go or None, its shape or None, None or (size, channels, normalized) of an\n"
    "image). extent is a tuple, or None. specs has nine bytes for each specialization constant: the size of its\n"
    "value, and the value in eight bytes. manager is for calls without memory.\n\n"
    "Returns what the call came to, for kp.Kernel to remember; 0: nothing was to be done.");
PyDoc_STRVAR(extent_doc,
             "extent(name, index, shape, param, image, ndim, components, /)\n--\n\n"
             "kp_program_extent: of a kernel with that index, 'Index2', and the first parameter that it writes.");

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"devices", devices, METH_NOARGS, devices_doc},
    {"device_extensions", ext_device_extensions, METH_O, device_extensions_doc},
    {"list_devices", list_devices, METH_NOARGS, list_devices_doc},
    {"version", version, METH_NOARGS, version_doc},
    {"log_level", ext_log_level, METH_O, log_level_doc},
    {"compile", KEYWORDS(ext_program_compile), compile_doc},
    {"compile_check", KEYWORDS(ext_program_compile_check), compile_check_doc},
    {"compile_list", KEYWORDS(ext_program_compile_list), compile_list_doc},
    {"compile_shader", KEYWORDS(ext_program_shader), shader_doc},
    {"load_shader", KEYWORDS(ext_program_load), load_doc},
    {"set_classes", set_classes, METH_VARARGS, set_classes_doc},
    {"launch", ext_arrays_launch, METH_VARARGS, launch_doc},
    {"extent", ext_argument_extent, METH_VARARGS, extent_doc},
    {"numbers", numbers, METH_VARARGS, numbers_doc},
    {NULL, NULL, 0, NULL},
};

// ---------------------------------------------------------------------------------------------------------------------
// The module
// ---------------------------------------------------------------------------------------------------------------------

static int add_classic_ops(PyObject *module) {
#define EXT_X(name)                                             \
    if (PyModule_AddIntConstant(module, #name, EXT_##name) < 0) \
        return -1;
    EXT_CLASSIC_OPS(EXT_X)
#undef EXT_X
    return 0;
}

static int module_exec(PyObject *module) {
    kp_ext *ext = PyModule_GetState(module);
    if (ext_error_init(ext, module) < 0 || add_enums(ext, module) < 0 || add_dtypes(module) < 0 ||
        add_classic_ops(module) < 0 || ext_device_init(ext, module) < 0 || ext_memory_init(ext, module) < 0 ||
        ext_host_side_init(ext, module) < 0 || ext_tensor_init(ext, module) < 0 || ext_image_init(ext, module) < 0 ||
        ext_program_init(ext, module) < 0 || ext_call_init(ext, module) < 0 || ext_algorithm_init(ext, module) < 0 ||
        ext_sequence_init(ext, module) < 0 || ext_external_init(ext, module) < 0 ||
        ext_semaphore_init(ext, module) < 0 || ext_op_init(ext, module) < 0 || ext_manager_init(ext, module) < 0)
        return -1;
    return ext_log_init(module);
}

// Every reference of the state, for traverse and clear.
#define EACH_REFERENCE(X)                          \
    do {                                           \
        for (int i = 0; i < EXT_EXCEPTIONS; i++)   \
            X(ext->exceptions[i]);                 \
        X(ext->memory_types);                      \
        X(ext->data_types);                        \
        for (int i = 0; i < EXT_MEMORY_TYPES; i++) \
            X(ext->memory_type_members[i]);        \
        for (int i = 0; i < KP_DTYPE_COUNT; i++)   \
            X(ext->dtype_members[i]);              \
        X(ext->memory_type);                       \
        X(ext->tensor_type);                       \
        X(ext->image_type);                        \
        X(ext->manager_type);                      \
        X(ext->algorithm_type);                    \
        X(ext->sequence_type);                     \
        X(ext->program_type);                      \
        X(ext->call_type);                         \
        X(ext->op_type);                           \
        for (int i = 0; i < EXT_OP_TYPES; i++)     \
            X(ext->op_types[i]);                   \
        X(ext->device_type);                       \
        X(ext->family_type);                       \
        X(ext->param_type);                        \
        X(ext->external_type);                     \
        X(ext->semaphore_type);                    \
        X(ext->manager_class);                     \
        X(ext->sequence_class);                    \
        X(ext->ndarray);                           \
        for (int i = 0; i < EXT_NUMBERS; i++)      \
            X(ext->numbers[i]);                    \
        X(ext->struct_dtypes);                     \
        X(ext->make_array);                        \
        X(ext->host_side_type);                    \
        for (int i = 0; i < KP_DTYPE_COUNT; i++)   \
            X(ext->numpy_dtypes[i]);               \
    } while (0)

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    kp_ext *ext = PyModule_GetState(module);
    EACH_REFERENCE(Py_VISIT);
    return 0;
}

static int module_clear(PyObject *module) {
    kp_ext *ext = PyModule_GetState(module);
    EACH_REFERENCE(Py_CLEAR);
    return 0;
}

static void module_free(void *module) { (void)module_clear(module); }

static PyModuleDef_Slot slots[] = {{Py_mod_exec, EXT_SLOT(module_exec)}, {0, NULL}};
static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "kp._kp",
    .m_doc = "The C side of kp. Use the package kp.",
    .m_size = sizeof(kp_ext),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__kp(void);
PyMODINIT_FUNC PyInit__kp(void) { return PyModuleDef_Init(&definition); }
