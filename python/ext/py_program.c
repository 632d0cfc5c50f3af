// See objects.h. kp.Program: a compiled kernel, and the functions that make one.
#include "objects.h"

#include <string.h>

PyObject *ext_program_new(kp_ext *ext, kp_program *handle) {
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(ext->program_type, Py_tp_alloc);
    ext_program *p = (ext_program *)alloc(ext->program_type, 0);
    if (p == NULL) {
        kp_program_destroy(handle);
        return NULL;
    }
    p->ext = ext;
    p->handle = handle;
    return (PyObject *)p;
}

static void program_dealloc(PyObject *self) {
    ext_program *p = (ext_program *)self;
    kp_program_destroy(p->handle);
    Py_XDECREF(p->spirv);
    Py_XDECREF(p->params);
    ext_free(self);
}

// ---------------------------------------------------------------------------------------------------------------------
// Making
// ---------------------------------------------------------------------------------------------------------------------

static int parse_language(const char *name, kp_shader_language *out) {
    static const struct {
        const char *name;
        kp_shader_language language;
    } all[] = {{"auto", KP_SHADER_AUTO}, {"glsl", KP_SHADER_GLSL}, {"hlsl", KP_SHADER_HLSL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(name, all[i].name) == 0) {
            *out = all[i].language;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "language: must be 'auto', 'glsl' or 'hlsl', not '%s'", name);
    return -1;
}

static PyObject *compile_shader(kp_ext *ext, const char *text, Py_ssize_t length, const kp_shader_desc *desc) {
    kp_program *handle = NULL;
    kp_result result;
    Py_BEGIN_ALLOW_THREADS result = kp_shader_compile(text, (size_t)length, desc, &handle);
    Py_END_ALLOW_THREADS return result == KP_OK ? ext_program_new(ext, handle) : ext_error_raise(ext, result);
}

// One str of what 0.5 took as shader text. A new reference.
static PyObject *shader_text(PyObject *object) {
    if (PyUnicode_Check(object))
        return Py_NewRef(object);
    if (PyBytes_Check(object) || PyByteArray_Check(object))
        return PyUnicode_FromEncodedObject(object, "utf-8", "strict");
    PyObject *first = PySequence_Check(object) && PySequence_Size(object) > 0 ? PySequence_GetItem(object, 0) : NULL;
    bool numbers = first != NULL && PyLong_Check(first);
    Py_XDECREF(first);
    PyErr_Clear();
    PyObject *joined = NULL;
    if (numbers) {
        PyObject *bytes = PyObject_CallFunctionObjArgs((PyObject *)&PyByteArray_Type, object, NULL);
        joined = bytes != NULL ? PyUnicode_FromEncodedObject(bytes, "utf-8", "strict") : NULL;
        Py_XDECREF(bytes);
    } else {
        PyObject *empty = PyUnicode_FromString("");
        joined = empty != NULL ? PyUnicode_Join(empty, object) : NULL;
        Py_XDECREF(empty);
    }
    if (joined == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "shader: must be a string or a list of characters, not %R", Py_TYPE(object));
    }
    return joined;
}

PyObject *ext_program_from_text(kp_ext *ext, PyObject *object) {
    PyObject *text = shader_text(object);
    Py_ssize_t length;
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
    PyObject *program = NULL;
    if (utf8 != NULL)
        program = compile_shader(ext, utf8, length, &(kp_shader_desc){0});
    Py_XDECREF(text);
    return program;
}

PyObject *ext_program_from_file(kp_ext *ext, PyObject *path, const kp_shader_desc *desc) {
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    kp_program *handle = NULL;
    kp_result result;
    const char *name = PyBytes_AsString(bytes);
    Py_BEGIN_ALLOW_THREADS result = kp_shader_load(name, desc, &handle);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    return result == KP_OK ? ext_program_new(ext, handle) : ext_error_raise_path(ext, result, path);
}

PyObject *ext_program_shader(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"text", "language", "file", "entry", NULL};
    kp_ext *ext = PyModule_GetState(module);
    const char *text, *language = "auto", *file = NULL, *entry = NULL;
    Py_ssize_t length;
    kp_shader_desc desc = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#|$szz:compile_shader", names, &text, &length, &language, &file,
                                     &entry) ||
        parse_language(language, &desc.language) < 0)
        return NULL;
    desc.file = file;
    desc.entry = entry;
    return compile_shader(ext, text, length, &desc);
}

PyObject *ext_program_load(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"path", "language", "entry", NULL};
    kp_ext *ext = PyModule_GetState(module);
    PyObject *path;
    const char *language = "auto", *entry = NULL;
    kp_shader_desc desc = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$sz:load_shader", names, &path, &language, &entry) ||
        parse_language(language, &desc.language) < 0)
        return NULL;
    desc.entry = entry;
    return ext_program_from_file(ext, path, &desc);
}

// ---------------------------------------------------------------------------------------------------------------------
// Attributes
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *get_spirv(PyObject *self, void *unused) {
    (void)unused;
    ext_program *p = (ext_program *)self;
    if (p->spirv == NULL)
        p->spirv = PyBytes_FromStringAndSize((const char *)p->handle->words,
                                             (Py_ssize_t)(p->handle->word_count * sizeof *p->handle->words));
    return Py_XNewRef(p->spirv);
}

static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    const char *name = ((ext_program *)self)->handle->name;
    return name != NULL ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

static PyObject *get_push_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLong(((ext_program *)self)->handle->push_size);
}

static PyObject *get_local_size(PyObject *self, void *unused) {
    (void)unused;
    const uint32_t *size = ((ext_program *)self)->handle->local_size;
    if (size[0] == 0)
        return Py_NewRef(Py_None);
    return Py_BuildValue("(III)", size[0], size[1], size[2]);
}

static PyObject *get_subgroup_size(PyObject *self, void *unused) {
    (void)unused;
    uint32_t size = ((ext_program *)self)->handle->subgroup_size;
    return size == 0 ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(size);
}

static const char *kind_name(kp_param_kind kind) {
    static const char *const names[] = {
        [KP_PARAM_BUFFER] = "buffer",   [KP_PARAM_UNIFORM] = "uniform", [KP_PARAM_CONSTANT] = "constant",
        [KP_PARAM_INPUT] = "input",     [KP_PARAM_SPEC] = "spec",       [KP_PARAM_IMAGE] = "image",
        [KP_PARAM_TEXTURE] = "texture", [KP_PARAM_SAMPLER] = "sampler"};
    return names[kind];
}

// None where there is none.
static PyObject *default_value(const kp_param *p) {
    char bytes[sizeof p->default_bits];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(p->default_bits >> 8 * i);
    return p->optional ? ext_element_get(p->dtype, bytes) : Py_NewRef(Py_None);
}

static PyObject *param_object(kp_ext *ext, const kp_param *p) {
    PyObject *values = Py_BuildValue("(ssssIIIIINNINIzNN)", p->name, p->type, kind_name(p->kind),
                                     kp_dtype_name(p->dtype), p->components, p->set, p->binding, p->offset, p->size,
                                     PyBool_FromLong(p->reads), PyBool_FromLong(p->writes), p->spec_id,
                                     default_value(p), p->ndim, p->format, ext_struct_describe(p->structure),
                                     ext_value_shape(p->type, p->dtype, p->structure, p->components));
    PyObject *param = values != NULL ? PyStructSequence_New(ext->param_type) : NULL;
    for (Py_ssize_t i = 0; param != NULL && i < PyTuple_Size(values); i++)
        PyStructSequence_SetItem(param, i, Py_NewRef(PyTuple_GetItem(values, i)));
    Py_XDECREF(values);
    return param;
}

static PyObject *get_params(PyObject *self, void *unused) {
    (void)unused;
    ext_program *p = (ext_program *)self;
    if (p->params != NULL)
        return Py_NewRef(p->params);
    PyObject *params = PyTuple_New((Py_ssize_t)p->handle->param_count);
    for (size_t i = 0; params != NULL && i < p->handle->param_count; i++) {
        PyObject *param = param_object(p->ext, &p->handle->params[i]);
        if (param == NULL)
            Py_CLEAR(params);
        else
            PyTuple_SetItem(params, (Py_ssize_t)i, param);
    }
    p->params = params;
    return Py_XNewRef(params);
}

static PyObject *program_repr(PyObject *self) {
    const kp_program *p = ((ext_program *)self)->handle;
    return PyUnicode_FromFormat("<kp.Program %s: %zu bytes of SPIR-V>", p->name != NULL ? p->name : "without a name",
                                p->word_count * sizeof *p->words);
}

static int program_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    const kp_program *p = ((ext_program *)self)->handle;
    return PyBuffer_FillInfo(view, self, (void *)(uintptr_t)p->words, (Py_ssize_t)(p->word_count * sizeof *p->words), 1,
                             flags);
}

static PyObject *program_disassemble(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_program *p = (ext_program *)self;
    char *text = NULL;
    kp_result result = kp_disassemble(p->handle->words, p->handle->word_count, &text);
    if (result != KP_OK)
        return ext_error_raise(p->ext, result);
    PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    kp_free(text);
    return made;
}

// The value of a parameter, borrowed.
static PyObject *value_of(PyObject *values, const kp_param *p) {
    PyObject *name = PyUnicode_FromString(p->name);
    PyObject *value = name != NULL ? PyDict_GetItemWithError(values, name) : NULL;
    if (value == NULL && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, name);
    Py_XDECREF(name);
    return value;
}

// _push(values, who): the push constants, each at its offset.
static PyObject *program_push(PyObject *self, PyObject *args) {
    const kp_program *program = ((ext_program *)self)->handle;
    PyObject *values;
    const char *who;
    if (!PyArg_ParseTuple(args, "O!s:_push", &PyDict_Type, &values, &who))
        return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)program->push_size);
    char *to = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    if (to != NULL)
        memset(to, 0, program->push_size);
    for (size_t i = 0; bytes != NULL && i < program->param_count; i++) {
        const kp_param *p = &program->params[i];
        PyObject *value = p->kind == KP_PARAM_CONSTANT ? value_of(values, p) : Py_None;
        if (value == NULL ||
            (p->kind == KP_PARAM_CONSTANT && ext_value_put(p, value, who, to + p->offset, p->size) < 0))
            Py_CLEAR(bytes);
    }
    return bytes;
}

// _specs(values, who): the specialization constants 0, 1, ..., EXT_SPEC_BYTES each.
static PyObject *program_specs(PyObject *self, PyObject *args) {
    const kp_program *program = ((ext_program *)self)->handle;
    PyObject *values;
    const char *who;
    size_t count = 0;
    if (!PyArg_ParseTuple(args, "O!s:_specs", &PyDict_Type, &values, &who))
        return NULL;
    for (size_t i = 0; i < program->param_count; i++)
        count += program->params[i].kind == KP_PARAM_SPEC;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(EXT_SPEC_BYTES * count));
    char *to = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    if (to != NULL)
        memset(to, 0, EXT_SPEC_BYTES * count);
    for (size_t i = 0; bytes != NULL && i < program->param_count; i++) {
        const kp_param *p = &program->params[i];
        if (p->kind != KP_PARAM_SPEC)
            continue;
        PyObject *value = value_of(values, p);
        size_t size = p->dtype == KP_BOOL ? sizeof(uint32_t) : p->size;
        char *at = to + EXT_SPEC_BYTES * p->spec_id;
        at[0] = (char)size;
        if (value == NULL || ext_value_put(p, value, who, at + 1, size) < 0)
            Py_CLEAR(bytes);
    }
    return bytes;
}

// _value(name, value, who): the bytes of a parameter that is a value, be it in a uniform.
static PyObject *program_value(PyObject *self, PyObject *args) {
    const kp_program *program = ((ext_program *)self)->handle;
    PyObject *value;
    const char *name, *who;
    if (!PyArg_ParseTuple(args, "sOs:_value", &name, &value, &who))
        return NULL;
    for (size_t i = 0; i < program->param_count; i++) {
        const kp_param *p = &program->params[i];
        if (strcmp(p->name, name) != 0)
            continue;
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)p->size);
        char *to = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
        if (to != NULL)
            memset(to, 0, p->size);
        if (to == NULL || ext_value_put(p, value, who, to, p->size) < 0)
            Py_CLEAR(bytes);
        return bytes;
    }
    return PyErr_Format(PyExc_KeyError, "%s", name);
}

static PyMethodDef program_methods[] = {
    {"_algorithm", ext_algorithm_of_program, METH_VARARGS,
     "_algorithm($self, manager, tensors, extent, push, specs, /)\n--\n\nAn algorithm with constants of _push() and "
     "_specs()."},
    {"_push", program_push, METH_VARARGS,
     "_push($self, values, who, /)\n--\n\nThe push constants of these values by name, as bytes; who is for messages."},
    {"_specs", program_specs, METH_VARARGS,
     "_specs($self, values, who, /)\n--\n\nThe specialization constants, as launch() takes them."},
    {"_value", program_value, METH_VARARGS,
     "_value($self, name, value, who, /)\n--\n\nThe bytes of one parameter that is a value."},
    {"disassemble", program_disassemble, METH_NOARGS,
     "disassemble($self, /)\n--\n\nThe SPIR-V module as text, one instruction a line."},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(program_doc,
             "A compiled kernel. Made by compile(), compile_shader() and load_shader(). bytes() of it is the\n"
             "SPIR-V module.");

static PyGetSetDef program_getset[] = {
    {"spirv", get_spirv, NULL, "The SPIR-V module, as bytes.", NULL},
    {"name", get_name, NULL, "Name of the kernel; None when unknown.", NULL},
    {"params", get_params, NULL, "A tuple of Param, in the order of the signature; empty when unknown.", NULL},
    {"local_size", get_local_size, NULL, "Invocations in a workgroup that the kernel asks for; None: kp chooses.",
     NULL},
    {"subgroup_size", get_subgroup_size, NULL,
     "Invocations in a subgroup that the kernel asks for; None: the device chooses.", NULL},
    {"push_size", get_push_size, NULL, "Bytes of push constants that the caller passes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot program_slots[] = {
    {Py_tp_doc, EXT_SLOT(program_doc)},
    {Py_tp_dealloc, EXT_SLOT(program_dealloc)},
    {Py_tp_repr, EXT_SLOT(program_repr)},
    {Py_tp_getset, program_getset},
    {Py_tp_methods, program_methods},
    {Py_bf_getbuffer, EXT_SLOT(program_getbuffer)},
    {0, NULL},
};
static PyType_Spec program_spec = {"kp.Program", sizeof(ext_program), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, program_slots};

static PyStructSequence_Field param_fields[] = {
    {"name", "as in the source"},
    {"type", "as in the language: 'Array[f32]'"},
    {"kind", "'buffer', 'uniform', 'image', 'texture', 'sampler', 'constant' (push constant), 'spec' (specialization "
             "constant) or 'input' (an index; the caller passes nothing)"},
    {"dtype", "of one scalar: 'f32'; images: of one channel as it is stored; textures: as it reads"},
    {"components", "scalars in an element: 1, 2 to 4 for a vector, all of them for an array; images: channels"},
    {"set", "of what is bound"},
    {"binding", "of what is bound"},
    {"offset", "push constants: bytes from the start of the block"},
    {"size", "bytes of one element as the kernel sees it"},
    {"reads", "buffers, images: the kernel loads from it"},
    {"writes", "buffers, images: the kernel stores to it"},
    {"spec_id", "specialization constants"},
    {"default", "push and specialization constants: the default value; None: there is none"},
    {"ndim", "buffers: axes of the tensor, 2 or 3; 1: of any shape; images: 1 to 3"},
    {"format", "images: how a pixel is stored, 'rgba8'; None for textures: any that reads as dtype"},
    {"structure", "of structs: (name, size, align, fields), each field (name, type, dtype, components, count, offset, "
                  "size, structure); else None"},
    {"shape", "axes of one element, as NumPy has them: () of a number, (3,) of a vec3, (3, 3) of a mat3"},
    {NULL, NULL},
};
static PyStructSequence_Desc param_desc = {"kp.Param", "One parameter of a kernel.", param_fields, 17};

int ext_program_init(kp_ext *ext, PyObject *module) {
    ext->program_type = ext_add_type(module, &program_spec, NULL);
    ext->param_type = PyStructSequence_NewType(&param_desc);
    if (ext->program_type == NULL || ext->param_type == NULL)
        return -1;
    return PyModule_AddType(module, ext->param_type);
}
