// See ext.h. kp.Algorithm: a program with memory bound to it.
#include "ext.h"

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
    return ext_data_spirv(desc->spirv, &r->spirv);
}

static int read_specs(const ext_algorithm_desc *desc, request *r) {
    if (desc->spec_count == 0)
        return ext_launch_specs(desc->specs, &r->specs_data, &r->specs, &r->spec_count);
    r->spec_count = desc->spec_count;
    return ext_launch_spec_words(desc->spec_words, desc->spec_count, &r->specs);
}

static int read_request(kp_ext *ext, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc, request *r) {
    *r = (request){.push_bytes = desc->push_bytes, .push_size = desc->push_size};
    // Handles come last: reading the others may run code of the user's, which may destroy a tensor.
    if (read_program(ext, desc, r) == 0 && ext_launch_three(desc->workgroup, "workgroup", r->workgroup) == 0 &&
        ext_launch_three(desc->extent, "extent", r->extent) == 0 && read_specs(desc, r) == 0 &&
        ext_launch_push(desc->push, "push_consts", &r->push) == 0 &&
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

static ext_algorithm *allocate(kp_ext *ext) {
    ext_algorithm *a = PyObject_GC_New(ext_algorithm, ext->algorithm_type);
    if (a == NULL)
        return NULL;
    a->ext = ext;
    a->core = NULL;
    a->handle = NULL;
    a->memories = NULL;
    PyObject_GC_Track(a);
    return a;
}

int ext_algorithm_fill(ext_algorithm *a, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc) {
    request r;
    if (read_request(a->ext, core, memories, desc, &r) < 0)
        return -1;
    kp_algorithm *handle = create_handle(a->ext, core, &r);
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

static PyObject *algorithm_is_init(PyObject *self, PyObject *unused) {
    (void)unused;
    const ext_algorithm *a = (ext_algorithm *)self;
    return PyBool_FromLong(a->handle != NULL && ext_core_usable(a->core) && kp_algorithm_alive(a->handle));
}

static PyObject *algorithm_destroy(PyObject *self, PyObject *unused) {
    (void)unused;
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

static PyMethodDef algorithm_methods[] = {
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
