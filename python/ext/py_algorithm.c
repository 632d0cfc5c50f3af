// See objects.h. kp.Algorithm: a program with memory bound to it.
#include "objects.h"

// What create_handle needs, read from Python objects; released as one.
typedef struct request {
    ext_memories memories;
    ext_data spirv, specs_data, push;
    kp_spec *specs;
    size_t spec_count;
    uint32_t workgroup[3], extent[3];
    const kp_program *program;
    const void *push_bytes;
    size_t push_size;
    const char *label;
} request;

static void release(request *r) {
    ext_memories_release(&r->memories);
    ext_data_release(&r->spirv);
    ext_data_release(&r->specs_data);
    ext_data_release(&r->push);
    PyMem_Free(r->specs);
}

static int read_program(kp_ext *ext, const ext_algorithm_desc *desc, request *r) {
    r->program = desc->program;
    if (r->program != NULL)
        return 0;
    if (PyObject_TypeCheck(desc->spirv, ext->program_type)) {
        r->program = ((ext_program *)desc->spirv)->handle;
        return 0;
    }
    const char *hint = ext_call_hint(ext, desc->spirv);
    if (hint[0] != '\0') {
        PyErr_Format(PyExc_TypeError, "spirv: must be SPIR-V or a kp.Program, not %R%s, kernel.spirv() its SPIR-V",
                     Py_TYPE(desc->spirv), hint);
        return -1;
    }
    if (PyObject_HasAttrString(desc->spirv, "to_spirv")) { // pyshader's
        PyErr_Format(PyExc_TypeError, "spirv: must be SPIR-V, not %R; its to_spirv() gives that", Py_TYPE(desc->spirv));
        return -1;
    }
    return ext_data_spirv(desc->spirv, &r->spirv);
}

static int read_specs(const ext_algorithm_desc *desc, request *r) {
    if (ext_constants_named(desc->specs))
        return 0; // when there is an algorithm to ask for names
    if (desc->spec_count == 0)
        return ext_launch_specs(desc->specs, &r->specs_data, &r->specs, &r->spec_count);
    r->spec_count = desc->spec_count;
    return ext_launch_spec_words(desc->spec_words, desc->spec_count, &r->specs);
}

static int read_request(kp_ext *ext, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc, request *r) {
    *r = (request){.push_bytes = desc->push_bytes, .push_size = desc->push_size, .label = desc->label};
    // Handles come last: reading the others may run code of the user's, which may destroy a tensor.
    if (read_program(ext, desc, r) == 0 && ext_launch_workgroup(desc->workgroup, r->workgroup) == 0 &&
        ext_launch_extent(desc->extent, r->extent) == 0 && read_specs(desc, r) == 0 &&
        (ext_constants_named(desc->push) || ext_launch_push(desc->push, "push_consts", &r->push) == 0) &&
        ext_memories_read(ext, core, memories, "tensors", &r->memories) == 0)
        return 0;
    release(r);
    return -1;
}

// NULL with an exception.
static kp_algorithm *create_handle(kp_ext *ext, ext_core *core, const request *r) {
    kp_manager *manager = ext_core_use(ext, core);
    if (manager == NULL)
        return NULL;
    const kp_algorithm_desc desc = {
        .program = r->program,
        .spirv = r->program != NULL       ? NULL
                 : r->spirv.bytes != NULL ? r->spirv.bytes
                                          : "",
        .spirv_size = r->program != NULL ? 0 : r->spirv.count,
        .memory = r->memories.handles,
        .memory_count = r->memories.count,
        .workgroups = {r->workgroup[0], r->workgroup[1], r->workgroup[2]},
        .extent = {r->extent[0], r->extent[1], r->extent[2]},
        .specs = r->specs,
        .spec_count = r->spec_count,
        .push = r->push.count > 0 ? r->push.bytes : r->push_bytes,
        .push_size = r->push.count > 0 ? r->push.count : r->push_size,
        .label = r->label,
    };
    kp_algorithm *handle = NULL;
    ext_memories_pin(&r->memories);
    PyThreadState *thread = ext_core_enter(core);
    kp_result result = kp_algorithm_create(manager, &desc, &handle);
    ext_core_leave(core, thread);
    ext_memories_unpin(&r->memories);
    if (result == KP_OK)
        return handle;
    ext_error_raise(ext, result);
    return NULL;
}

static void destroy(void *handle) { kp_algorithm_destroy(handle); }

// ---------------------------------------------------------------------------------------------------------------------
// Changes
// ---------------------------------------------------------------------------------------------------------------------

static int set_push(kp_ext *ext, kp_algorithm *handle, PyObject *object) {
    ext_data push;
    int result = ext_constants_named(object) ? ext_constants_push(ext, handle, object, "push_consts", &push)
                                             : ext_launch_push(object, "push_consts", &push);
    if (result < 0)
        return -1;
    result = ext_error_check(ext, kp_algorithm_set_push(handle, push.bytes != NULL ? push.bytes : "", push.count));
    ext_data_release(&push);
    return result;
}

// The driver may compile: that is done without the GIL.
static int set_specs(kp_ext *ext, ext_core *core, kp_algorithm *handle, PyObject *object) {
    ext_data values;
    kp_spec *specs;
    size_t count;
    int read = ext_constants_named(object)
                   ? ext_constants_specs(ext, handle, object, "spec_consts", &values, &specs, &count)
                   : ext_launch_specs(object, &values, &specs, &count);
    if (read < 0)
        return -1;
    PyThreadState *thread = ext_core_enter(core);
    kp_result result = kp_algorithm_set_specs(handle, specs, count);
    ext_core_leave(core, thread);
    ext_data_release(&values);
    PyMem_Free(specs);
    return ext_error_check(ext, result);
}

// What a new algorithm is given by name.
static int set_named(kp_ext *ext, ext_core *core, kp_algorithm *handle, const ext_algorithm_desc *desc) {
    if (ext_constants_named(desc->specs) && set_specs(ext, core, handle, desc->specs) < 0)
        return -1;
    return ext_constants_named(desc->push) ? set_push(ext, handle, desc->push) : 0;
}

static ext_algorithm *allocate(kp_ext *ext) {
    ext_algorithm *a = PyObject_GC_New(ext_algorithm, ext->algorithm_type);
    if (a == NULL)
        return NULL;
    a->ext = ext;
    a->core = NULL;
    a->handle = NULL;
    a->memories = NULL;
    a->busy = false;
    PyObject_GC_Track(a);
    return a;
}

int ext_algorithm_fill(ext_algorithm *a, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc) {
    request r;
    if (read_request(a->ext, core, memories, desc, &r) < 0)
        return -1;
    kp_algorithm *handle = create_handle(a->ext, core, &r);
    if (handle != NULL && set_named(a->ext, core, handle, desc) < 0) {
        ext_core_release(core, destroy, handle);
        handle = NULL;
    }
    if (handle != NULL && a->handle != NULL) // another thread was quicker
        ext_core_release(core, destroy, handle);
    else if (handle != NULL) {
        a->handle = handle;
        if (a->core == NULL)
            a->core = ext_core_hold(core);
        EXT_SET(a->memories, Py_NewRef(r.memories.tuple));
    }
    release(&r);
    return handle != NULL ? 0 : -1;
}

PyObject *ext_algorithm_new(kp_ext *ext, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc) {
    ext_algorithm *a = allocate(ext);
    if (a == NULL)
        return NULL;
    bool empty = desc->program == NULL && desc->spirv == NULL;
    int result = 0;
    if (empty) {
        a->core = ext_core_hold(core);
        a->memories = ext_memories_tuple(ext, memories, "tensors");
        result = a->memories != NULL && ext_core_use(ext, core) != NULL ? 0 : -1;
    } else {
        result = ext_algorithm_fill(a, core, memories, desc);
    }
    if (result < 0)
        Py_CLEAR(a);
    return (PyObject *)a;
}

PyObject *ext_algorithm_of_program(PyObject *self, PyObject *args) {
    ext_program *p = (ext_program *)self;
    PyObject *manager, *memories;
    Py_ssize_t push_size, specs_size;
    ext_algorithm_desc desc = {.program = p->handle};
    if (!PyArg_ParseTuple(args, "O!OOy#y#:_algorithm", p->ext->manager_type, &manager, &memories, &desc.extent,
                          &desc.push_bytes, &push_size, &desc.spec_words, &specs_size))
        return NULL;
    desc.push_size = (size_t)push_size;
    desc.spec_count = (size_t)specs_size / EXT_SPEC_BYTES;
    ext_log_follow();
    return ext_algorithm_new(p->ext, ((ext_manager *)manager)->core, memories, &desc);
}

static int algorithm_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((ext_algorithm *)self)->memories);
    return 0;
}

static int algorithm_clear(PyObject *self) {
    Py_CLEAR(((ext_algorithm *)self)->memories);
    return 0;
}

static void destroy_handle(ext_algorithm *a) {
    if (a->core != NULL)
        ext_core_release(a->core, destroy, a->handle);
    a->handle = NULL;
}

static void algorithm_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    ext_algorithm *a = (ext_algorithm *)self;
    destroy_handle(a);
    ext_core_drop(a->core);
    algorithm_clear(self);
    ext_free(self);
}

static PyObject *algorithm_memories(PyObject *self, PyObject *unused) {
    (void)unused;
    return PySequence_List(((ext_algorithm *)self)->memories);
}

static bool alive(const ext_algorithm *a) {
    return a->handle != NULL && ext_core_usable(a->core) && kp_algorithm_alive(a->handle);
}

static PyObject *algorithm_repr(PyObject *self) {
    ext_algorithm *a = (ext_algorithm *)self;
    Py_ssize_t count = a->memories != NULL ? PyTuple_Size(a->memories) : 0;
    return PyUnicode_FromFormat("kp.Algorithm(memories=%zd%s)", count, alive(a) ? "" : ", is_init=False");
}

static PyObject *algorithm_is_init(PyObject *self, PyObject *unused) {
    (void)unused;
    const ext_algorithm *a = (ext_algorithm *)self;
    return PyBool_FromLong(alive(a));
}

kp_algorithm *ext_algorithm_use(const ext_algorithm *a) {
    if (a->busy)
        ext_error_format(a->ext, KP_ERROR_STATE, "algorithm: is in use by another thread");
    else if (a->handle == NULL)
        ext_error_format(a->ext, KP_ERROR_STATE, "algorithm: is empty or destroyed");
    else if (ext_core_use(a->ext, a->core) != NULL)
        return a->handle;
    return NULL;
}

// The algorithm itself when `result` is 0, so that calls chain.
static PyObject *chain(PyObject *self, int result) { return result == 0 ? Py_NewRef(self) : NULL; }

static PyObject *algorithm_bind(PyObject *self, PyObject *memories) {
    ext_algorithm *a = (ext_algorithm *)self;
    ext_memories m;
    if (ext_algorithm_use(a) == NULL || ext_memories_read(a->ext, a->core, memories, "tensors", &m) < 0)
        return NULL;
    kp_algorithm *handle = ext_algorithm_use(a); // reading may run code of the user's
    int result = handle != NULL ? ext_error_check(a->ext, kp_algorithm_bind(handle, m.handles, m.count)) : -1;
    if (result == 0)
        EXT_SET(a->memories, Py_NewRef(m.tuple));
    ext_memories_release(&m);
    return chain(self, result);
}

static PyObject *algorithm_set_push(PyObject *self, PyObject *object) {
    ext_algorithm *a = (ext_algorithm *)self;
    kp_algorithm *handle = ext_algorithm_use(a);
    if (handle == NULL)
        return NULL;
    a->busy = true; // reading may run code of the user's
    int result = set_push(a->ext, handle, object);
    a->busy = false;
    return chain(self, result);
}

static PyObject *algorithm_set_specs(PyObject *self, PyObject *object) {
    ext_algorithm *a = (ext_algorithm *)self;
    kp_algorithm *handle = ext_algorithm_use(a);
    if (handle == NULL)
        return NULL;
    a->busy = true;
    int result = set_specs(a->ext, a->core, handle, object);
    a->busy = false;
    return chain(self, result);
}

static PyObject *set_launch(PyObject *self, PyObject *object, bool workgroups) {
    ext_algorithm *a = (ext_algorithm *)self;
    uint32_t axes[3];
    if ((workgroups ? ext_launch_workgroup(object, axes) : ext_launch_extent(object, axes)) < 0)
        return NULL;
    kp_algorithm *handle = ext_algorithm_use(a);
    if (handle == NULL)
        return NULL;
    return chain(self, ext_error_check(a->ext, kp_algorithm_set_launch(handle, workgroups ? axes : NULL,
                                                                       workgroups ? NULL : axes)));
}

static PyObject *algorithm_set_workgroup(PyObject *self, PyObject *object) { return set_launch(self, object, true); }

static PyObject *algorithm_set_extent(PyObject *self, PyObject *object) { return set_launch(self, object, false); }

static PyObject *algorithm_destroy(PyObject *self, PyObject *unused) {
    (void)unused;
    if (((ext_algorithm *)self)->busy)
        return ext_error_format(((ext_algorithm *)self)->ext, KP_ERROR_STATE, "algorithm: is in use by another thread");
    destroy_handle((ext_algorithm *)self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(algorithm_doc, "A program with memory bound to it. Made by Manager.algorithm().");
PyDoc_STRVAR(memories_doc, "get_mem_objects($self, /)\n--\n\n"
                           "A list of what is bound, in binding order.");
PyDoc_STRVAR(tensors_doc, "get_tensors($self, /)\n--\n\n"
                          "Older name of get_mem_objects().");
PyDoc_STRVAR(is_init_doc, "is_init($self, /)\n--\n\n"
                          "Whether it can be dispatched: not empty, not destroyed.");
PyDoc_STRVAR(destroy_doc,
             "destroy($self, /)\n--\n\n"
             "Releases it; work in flight is safe. Sequences that recorded it answer StateError from now on.");

PyDoc_STRVAR(bind_doc, "bind($self, tensors, /)\n--\n\n"
                       "Binds other memory, without a new pipeline. Sequences that recorded the algorithm use it from\n"
                       "their next evaluation. Returns the algorithm.\n\n"
                       "ValueError, TypeError as Manager.algorithm(); it stays as it was then.");
PyDoc_STRVAR(set_push_doc,
             "set_push_consts($self, push_consts, /)\n--\n\n"
             "Replaces the push constants: as in Manager.algorithm(), or a dict by name, or a NumPy structured\n"
             "scalar; values are converted to what the module has. Returns the algorithm.");
PyDoc_STRVAR(set_specs_doc,
             "set_spec_consts($self, spec_consts, /)\n--\n\n"
             "Replaces the specialization constants: as in Manager.algorithm(), or a dict by id or name. Those that\n"
             "are not given have the module's defaults. Returns the algorithm.");
PyDoc_STRVAR(set_workgroup_doc, "set_workgroup($self, workgroup, /)\n--\n\n"
                                "Replaces the launch, in workgroups; (0, ...): the elements of tensors[0].");
PyDoc_STRVAR(set_extent_doc, "set_extent($self, extent, /)\n--\n\n"
                             "Replaces the launch, in invocations.\n\nValueError: 0 on an axis.");

static PyMethodDef algorithm_methods[] = {
    {"bind", algorithm_bind, METH_O, bind_doc},
    {"set_push_consts", algorithm_set_push, METH_O, set_push_doc},
    {"set_spec_consts", algorithm_set_specs, METH_O, set_specs_doc},
    {"set_workgroup", algorithm_set_workgroup, METH_O, set_workgroup_doc},
    {"set_extent", algorithm_set_extent, METH_O, set_extent_doc},
    {"get_mem_objects", algorithm_memories, METH_NOARGS, memories_doc},
    {"get_tensors", algorithm_memories, METH_NOARGS, tensors_doc},
    {"is_init", algorithm_is_init, METH_NOARGS, is_init_doc},
    {"destroy", algorithm_destroy, METH_NOARGS, destroy_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot algorithm_slots[] = {
    {Py_tp_doc, EXT_SLOT(algorithm_doc)},
    {Py_tp_dealloc, EXT_SLOT(algorithm_dealloc)},
    {Py_tp_traverse, EXT_SLOT(algorithm_traverse)},
    {Py_tp_clear, EXT_SLOT(algorithm_clear)},
    {Py_tp_repr, EXT_SLOT(algorithm_repr)},
    {Py_tp_methods, algorithm_methods},
    {0, NULL},
};
static PyType_Spec algorithm_spec = {"kp.Algorithm", sizeof(ext_algorithm), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     algorithm_slots};

int ext_algorithm_init(kp_ext *ext, PyObject *module) {
    ext->algorithm_type = ext_add_type(module, &algorithm_spec, NULL);
    return ext->algorithm_type != NULL ? 0 : -1;
}
