// See objects.h. The ops of the object API: kp.OpBase and one type for each. An op says what to do; recording it on a
// sequence is what checks it against the manager.
#include "objects.h"

typedef enum op_kind { SYNC_DEVICE, SYNC_LOCAL, COPY, REGION, DISPATCH, INDIRECT, MULT, BARRIER, FILL, OWN } op_kind;

typedef struct ext_op {
    PyObject_HEAD kp_ext *ext;
    op_kind kind;
    PyObject *memories;  // tuple, or NULL
    PyObject *algorithm; // or NULL
    ext_data push_data;  // overrides the algorithm's; count 0: none
    PyObject *value;     // of a fill, or NULL
    uint64_t offset;     // of an indirect launch
    kp_copy_region region;
} ext_op;

static ext_op *allocate(PyTypeObject *type, op_kind kind) {
    kp_ext *ext = ext_of_type(type);
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    ext_op *op = ext != NULL ? (ext_op *)alloc(type, 0) : NULL;
    if (op != NULL) {
        op->ext = ext;
        op->kind = kind;
    }
    return op;
}

static int op_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((ext_op *)self)->memories);
    Py_VISIT(((ext_op *)self)->algorithm);
    Py_VISIT(((ext_op *)self)->value);
    return 0;
}

static int op_clear(PyObject *self) {
    Py_CLEAR(((ext_op *)self)->memories);
    Py_CLEAR(((ext_op *)self)->algorithm);
    Py_CLEAR(((ext_op *)self)->value);
    return 0;
}

static void op_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    op_clear(self);
    ext_data_release(&((ext_op *)self)->push_data);
    ext_free(self);
}

static PyObject *new_on_memories(PyTypeObject *type, PyObject *memories, op_kind kind) {
    ext_op *op = allocate(type, kind);
    if (op != NULL && (op->memories = ext_memories_tuple(op->ext, memories, "memories")) == NULL)
        Py_CLEAR(op);
    return (PyObject *)op;
}

static PyObject *new_simple(PyTypeObject *type, PyObject *args, PyObject *kwargs, op_kind kind) {
    static char *names[] = {"memories", NULL};
    PyObject *memories;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &memories))
        return NULL;
    return new_on_memories(type, memories, kind);
}

static PyObject *new_sync_device(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    return new_simple(type, args, kwargs, SYNC_DEVICE);
}

static PyObject *new_sync_local(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    return new_simple(type, args, kwargs, SYNC_LOCAL);
}

static PyObject *new_copy(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    return new_simple(type, args, kwargs, COPY);
}

static PyObject *new_region(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"source", "target", "source_offset", "target_offset", "size", NULL};
    PyObject *source, *target, *from = NULL, *to = NULL, *size = NULL;
    kp_copy_region region;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOO:OpCopyRegion", names, &source, &target, &from, &to, &size) ||
        ext_launch_axes(from, "source_offset", region.from) < 0 ||
        ext_launch_axes(to, "target_offset", region.to) < 0 || ext_launch_axes(size, "size", region.size) < 0)
        return NULL;
    PyObject *both = PyTuple_Pack(2, source, target);
    ext_op *op = both != NULL ? (ext_op *)new_on_memories(type, both, REGION) : NULL;
    Py_XDECREF(both);
    if (op != NULL)
        op->region = region;
    return (PyObject *)op;
}

static PyObject *new_fill(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"memories", "value", NULL};
    PyObject *memories, *value;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:OpFill", names, &memories, &value))
        return NULL;
    ext_op *op = (ext_op *)new_on_memories(type, memories, FILL);
    if (op != NULL)
        op->value = Py_NewRef(value);
    return (PyObject *)op;
}

// Kompute's arguments name access masks and stages; barriers are computed here, so they are taken and not needed.
static PyObject *new_barrier(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {
        "memories", "src_access_mask", "dst_access_mask", "src_stage_mask", "dst_stage_mask", "barrier_on_primary",
        NULL};
    PyObject *memories, *ignored[5];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOO:OpMemoryBarrier", names, &memories, &ignored[0],
                                     &ignored[1], &ignored[2], &ignored[3], &ignored[4]))
        return NULL;
    return new_on_memories(type, memories, BARRIER);
}

static int check_algorithm(kp_ext *ext, PyObject *object) {
    if (PyObject_TypeCheck(object, ext->algorithm_type))
        return 0;
    PyErr_Format(PyExc_TypeError, "algorithm: must be a kp.Algorithm, not %R%s", Py_TYPE(object),
                 ext_call_hint(ext, object));
    return -1;
}

static int read_push(ext_op *op, PyObject *algorithm, PyObject *push) {
    if (!ext_constants_named(push))
        return ext_launch_push(push, "push_consts", &op->push_data) < 0
                   ? -1
                   : ext_data_own(&op->push_data, op->push_data.count);
    kp_algorithm *handle = ext_algorithm_use((ext_algorithm *)algorithm);
    return handle != NULL ? ext_constants_push(op->ext, handle, push, "push_consts", &op->push_data) : -1;
}

static PyObject *new_dispatch(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"algorithm", "push_consts", NULL};
    PyObject *algorithm, *push = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:OpAlgoDispatch", names, &algorithm, &push))
        return NULL;
    ext_op *op = allocate(type, DISPATCH);
    if (op == NULL)
        return NULL;
    if (check_algorithm(op->ext, algorithm) < 0 || read_push(op, algorithm, push) < 0) {
        Py_DECREF(op);
        return NULL;
    }
    op->algorithm = Py_NewRef(algorithm);
    return (PyObject *)op;
}

static PyObject *new_indirect(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"algorithm", "counts", "offset", "push_consts", NULL};
    PyObject *algorithm, *counts, *offset = NULL, *push = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:OpAlgoDispatchIndirect", names, &algorithm, &counts, &offset,
                                     &push))
        return NULL;
    ext_op *op = allocate(type, INDIRECT);
    if (op == NULL)
        return NULL;
    PyObject *list = PyTuple_Pack(1, counts);
    op->memories = list != NULL ? ext_memories_tuple(op->ext, list, "counts") : NULL;
    Py_XDECREF(list);
    if (op->memories == NULL || check_algorithm(op->ext, algorithm) < 0 || read_push(op, algorithm, push) < 0 ||
        ext_element_count(KP_U64, offset, "offset", &op->offset) < 0) {
        Py_DECREF(op);
        return NULL;
    }
    op->algorithm = Py_NewRef(algorithm);
    return (PyObject *)op;
}

// A class of the user's.
static PyObject *new_own(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args; // for its __init__
    (void)kwargs;
    kp_ext *ext = ext_of_type(type);
    if (ext != NULL && type == ext->op_type)
        return PyErr_Format(PyExc_TypeError, "kp.OpBase: make a subclass with a method ops(), or use one of kp's ops");
    return (PyObject *)allocate(type, OWN);
}

static PyObject *new_mult(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"memories", "algorithm", NULL};
    PyObject *memories, *algorithm = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:OpMult", names, &memories, &algorithm))
        return NULL;
    ext_op *op = (ext_op *)new_on_memories(type, memories, MULT);
    if (op == NULL || algorithm == NULL || algorithm == Py_None)
        return (PyObject *)op;
    if (check_algorithm(op->ext, algorithm) < 0)
        Py_CLEAR(op);
    else
        op->algorithm = Py_NewRef(algorithm);
    return (PyObject *)op;
}

// ---------------------------------------------------------------------------------------------------------------------
// Recording
// ---------------------------------------------------------------------------------------------------------------------

static int failed(kp_ext *ext, kp_result result) { return ext_error_check(ext, result); }

static int record_memories(ext_op *op, ext_sequence *sequence) {
    ext_memories m;
    if (ext_memories_read(op->ext, sequence->core, op->memories, "memories", &m) < 0)
        return -1;
    kp_sequence *to = ext_sequence_use(sequence);
    int result = -1;
    if (to != NULL && op->kind == SYNC_DEVICE)
        result = failed(op->ext, kp_record_sync_device(to, m.handles, m.count));
    else if (to != NULL && op->kind == SYNC_LOCAL)
        result = failed(op->ext, kp_record_sync_local(to, m.handles, m.count));
    else if (to != NULL && op->kind == COPY)
        result = failed(op->ext, kp_record_copy(to, m.handles, m.count));
    else if (to != NULL && op->kind == REGION)
        result = failed(op->ext, kp_record_copy_region(to, m.handles[0], m.handles[1], &op->region));
    else if (to != NULL)
        result = failed(op->ext, kp_record_barrier(to, m.handles, m.count));
    ext_memories_release(&m);
    return result;
}

// Elements first: a value that does not fit leaves the sequence as it is.
// The value of a fill as an element.
static int set_value(kp_dtype dtype, void *at, PyObject *value) {
    if (ext_element_set(dtype, at, value) == 0)
        return 0;
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "value: must be %s, not %R", kp_dtype_name(dtype), Py_TYPE(value));
    else if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_OverflowError, "value: %R does not fit in %s", value, kp_dtype_name(dtype));
    return -1;
}

static int record_fill(ext_op *op, ext_sequence *sequence) {
    ext_memories m;
    char elements[12][8], *all = elements[0];
    if (ext_memories_read(op->ext, sequence->core, op->memories, "memories", &m) < 0)
        return -1;
    if (m.count > sizeof elements / sizeof *elements)
        all = PyMem_Malloc(m.count * sizeof *elements);
    int result = all != NULL ? 0 : -1;
    if (all == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; result == 0 && i < m.count; i++)
        result = set_value(((ext_tensor *)PyTuple_GetItem(m.tuple, (Py_ssize_t)i))->dtype, all + 8 * i, op->value);
    kp_sequence *to = result == 0 ? ext_sequence_use(sequence) : NULL;
    result = to != NULL ? 0 : -1;
    for (size_t i = 0; result == 0 && i < m.count; i++)
        result = failed(op->ext, kp_record_fill(to, m.handles[i], all + 8 * i));
    if (all != elements[0])
        PyMem_Free(all);
    ext_memories_release(&m);
    return result;
}

static int record_dispatch(ext_op *op, ext_algorithm *algorithm, ext_sequence *sequence) {
    ext_memories m = {0};
    if (op->kind == INDIRECT && ext_memories_read(op->ext, sequence->core, op->memories, "counts", &m) < 0)
        return -1;
    kp_sequence *to = ext_sequence_use(sequence);
    kp_algorithm *handle = to != NULL ? ext_algorithm_use(algorithm) : NULL;
    int result = -1;
    if (handle != NULL && algorithm->core != sequence->core) {
        ext_error_format(op->ext, KP_ERROR_ARGUMENT, "algorithm: belongs to another manager");
    } else if (handle != NULL) {
        const kp_dispatch_desc desc = {.push = op->push_data.count > 0 ? op->push_data.bytes : NULL,
                                       .push_size = op->push_data.count};
        result = failed(op->ext, op->kind != INDIRECT
                                     ? kp_record_dispatch(to, handle, &desc)
                                     : kp_record_dispatch_indirect(to, handle, m.handles[0], op->offset, &desc));
    }
    ext_memories_release(&m);
    return result;
}
// The built-in multiply. It fills an empty algorithm, as Kompute's OpMult does, and leaves any other as it is.
static int record_mult(ext_op *op, ext_sequence *sequence) {
    const ext_algorithm_desc desc = {.program = kp_kernel_multiply()};
    ext_algorithm *given = (ext_algorithm *)op->algorithm;
    ext_algorithm *algorithm = NULL;
    if (PyTuple_Size(op->memories) != 3) {
        PyErr_Format(PyExc_ValueError, "memories: OpMult takes three, lhs, rhs and out, not %zd",
                     PyTuple_Size(op->memories));
        return -1;
    }
    if (given != NULL && given->handle == NULL && given->core == sequence->core) {
        if (ext_algorithm_fill(given, sequence->core, op->memories, &desc) == 0)
            algorithm = (ext_algorithm *)Py_NewRef((PyObject *)given);
    } else {
        algorithm = (ext_algorithm *)ext_algorithm_new(op->ext, sequence->core, op->memories, &desc);
    }
    if (algorithm == NULL)
        return -1;
    int result = record_dispatch(op, algorithm, sequence);
    if (result == 0)
        result = ext_sequence_keep(sequence, (PyObject *)algorithm);
    Py_DECREF(algorithm);
    return result;
}

// All of them, or none: what was added before one that does not record is taken back.
static int record_all(PyObject *ops, ext_sequence *sequence) {
    kp_sequence *to = ext_sequence_use(sequence);
    if (to == NULL)
        return -1;
    size_t before = sequence->ended ? 0 : kp_sequence_op_count(to);
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PySequence_Size(ops); i++) {
        PyObject *op = PySequence_GetItem(ops, i);
        result = op != NULL ? ext_op_record(op, sequence) : -1;
        Py_XDECREF(op);
        if (result < 0 && i > 0 && sequence->handle != NULL)
            kp_sequence_truncate(sequence->handle, before);
    }
    return result;
}

// An op of the user's: its method says which ops it is made of.
static int record_own(PyObject *object, ext_sequence *sequence) {
    if (Py_EnterRecursiveCall(" while recording an op made of ops"))
        return -1;
    PyObject *made = PyObject_CallMethod(object, "ops", NULL);
    PyObject *ops = made != NULL ? PySequence_Tuple(made) : NULL;
    int result = ops != NULL ? record_all(ops, sequence) : -1;
    Py_XDECREF(ops);
    Py_XDECREF(made);
    Py_LeaveRecursiveCall();
    return result;
}

static int record_one(PyObject *object, ext_sequence *sequence) {
    ext_op *op = (ext_op *)object;
    switch (op->kind) {
    case DISPATCH:
    case INDIRECT:
        return record_dispatch(op, (ext_algorithm *)op->algorithm, sequence);
    case MULT:
        return record_mult(op, sequence);
    case FILL:
        return record_fill(op, sequence);
    case OWN:
        return record_own(object, sequence);
    default:
        return record_memories(op, sequence);
    }
}

int ext_op_record(PyObject *object, ext_sequence *sequence) {
    if (!PyObject_TypeCheck(object, sequence->ext->op_type)) {
        PyErr_Format(PyExc_TypeError, "op: must be a kp.OpBase, such as kp.OpSyncDevice([tensor]), not %R%s",
                     Py_TYPE(object), ext_call_hint(sequence->ext, object));
        return -1;
    }
    int result = record_one(object, sequence);
    if (result < 0 && ((ext_op *)object)->kind != OWN && ext_spares_relieve(sequence->ext, sequence->core))
        result = record_one(object, sequence); // host sides are made when they are first needed
    return result == 0 ? ext_sequence_keep(sequence, object) : -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

PyDoc_STRVAR(base_doc,
             "OpBase(*args, **kwargs)\n--\n\n"
             "One step of a sequence: the base of all ops.\n\n"
             "A subclass of your own has a method ops(), which returns the ops that it is made of. It is called when\n"
             "the op is recorded; all of them are recorded, in order, or none.");
PyDoc_STRVAR(indirect_doc,
             "OpAlgoDispatchIndirect(algorithm, counts, offset=0, push_consts=None)\n--\n\n"
             "Runs an algorithm on as many workgroups as three uint32 in the tensor `counts` say when it runs,\n"
             "`offset` bytes from its start.");
PyDoc_STRVAR(sync_device_doc, "OpSyncDevice(memories)\n--\n\n"
                              "Host side to device side, for each.");
PyDoc_STRVAR(sync_local_doc, "OpSyncLocal(memories)\n--\n\n"
                             "Device side to host side, for each.");
PyDoc_STRVAR(copy_doc, "OpCopy(memories)\n--\n\n"
                       "The first into all the others, device and host side. They must have one dtype and size.");
PyDoc_STRVAR(region_doc,
             "OpCopyRegion(source, target, source_offset=(), target_offset=(), size=())\n--\n\n"
             "A part of an image to another image, or to a tensor of as many elements, or the other way round; on\n"
             "the device. Offsets and size are pixels, x first, axes that are left out 0; a size of 0 is all that the\n"
             "image has from there on. The host sides see it after OpSyncLocal.");
PyDoc_STRVAR(fill_doc,
             "OpFill(memories, value)\n--\n\n"
             "One number into every element of each, on the device. The host sides see it after OpSyncLocal.");
PyDoc_STRVAR(dispatch_doc,
             "OpAlgoDispatch(algorithm, push_consts=None)\n--\n\n"
             "Runs an algorithm. push_consts override the algorithm's for this dispatch; they are given as\n"
             "in Manager.algorithm().");
PyDoc_STRVAR(mult_doc,
             "OpMult(memories, algorithm=None)\n--\n\n"
             "memories[2] = memories[0] * memories[1], float32, built in. An empty algorithm is filled with it.");
PyDoc_STRVAR(barrier_doc,
             "OpMemoryBarrier(memories, src_access_mask=None, dst_access_mask=None, src_stage_mask=None, "
             "dst_stage_mask=None, barrier_on_primary=True)\n--\n\n"
             "A barrier between all that came before and all that follows. Never needed for right results: "
             "barriers are\n"
             "computed. Kompute's masks are taken and have no effect.");

static PyType_Slot base_slots[] = {
    {Py_tp_doc, EXT_SLOT(base_doc)},         {Py_tp_new, EXT_SLOT(new_own)},    {Py_tp_dealloc, EXT_SLOT(op_dealloc)},
    {Py_tp_traverse, EXT_SLOT(op_traverse)}, {Py_tp_clear, EXT_SLOT(op_clear)}, {0, NULL},
};
enum { OP_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC };
static PyType_Spec base_spec = {"kp.OpBase", sizeof(ext_op), 0, OP_FLAGS, base_slots};

static PyObject *op_repr(PyObject *self) {
    ext_op *op = (ext_op *)self;
    PyObject *name = PyType_GetName(Py_TYPE(self)), *text = NULL;
    if (name != NULL && op->algorithm != NULL)
        text = PyUnicode_FromFormat("kp.%U(%R)", name, op->algorithm);
    else if (name != NULL)
        text = PyUnicode_FromFormat("kp.%U(memories=%zd)", name, op->memories != NULL ? PyTuple_Size(op->memories) : 0);
    Py_XDECREF(name);
    return text;
}

#define OP_TYPE(name, title)                                                         \
    static PyType_Slot name##_slots[] = {{Py_tp_doc, (void *)(uintptr_t)name##_doc}, \
                                         {Py_tp_new, EXT_SLOT(new_##name)},          \
                                         {Py_tp_dealloc, EXT_SLOT(op_dealloc)},      \
                                         {Py_tp_traverse, EXT_SLOT(op_traverse)},    \
                                         {Py_tp_clear, EXT_SLOT(op_clear)},          \
                                         {Py_tp_repr, EXT_SLOT(op_repr)},            \
                                         {0, NULL}};                                 \
    static PyType_Spec name##_spec = {"kp." title, sizeof(ext_op), 0, OP_FLAGS, name##_slots};
OP_TYPE(sync_device, "OpSyncDevice")
OP_TYPE(sync_local, "OpSyncLocal")
OP_TYPE(copy, "OpCopy")
OP_TYPE(region, "OpCopyRegion")
OP_TYPE(dispatch, "OpAlgoDispatch")
OP_TYPE(indirect, "OpAlgoDispatchIndirect")
OP_TYPE(mult, "OpMult")
OP_TYPE(barrier, "OpMemoryBarrier")
OP_TYPE(fill, "OpFill")

int ext_op_init(kp_ext *ext, PyObject *module) {
    ext->op_type = ext_add_type(module, &base_spec, NULL);
    if (ext->op_type == NULL)
        return -1;
    PyType_Spec *specs[EXT_OP_TYPES] = {&sync_device_spec, &sync_local_spec, &copy_spec, &dispatch_spec, &indirect_spec,
                                        &mult_spec,        &barrier_spec,    &fill_spec, &region_spec};
    for (int i = 0; i < EXT_OP_TYPES; i++) {
        ext->op_types[i] = ext_add_type(module, specs[i], ext->op_type);
        if (ext->op_types[i] == NULL)
            return -1;
    }
    return 0;
}
