// See objects.h. The 0.5 API: what each of its ops records, and the methods of the manager that are of it alone.
#include "objects.h"

#include <stdio.h>

// Device memory for each, then its upload; storage tensors have no host side to upload.
static int record_create(kp_ext *ext, ext_core *core, kp_sequence *sequence, PyObject *tensors) {
    PyObject *tuple = ext_memories_tuple(ext, tensors, "tensors");
    if (tuple == NULL)
        return -1;
    Py_ssize_t count = PyTuple_Size(tuple);
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < count; i++)
        result = ext_tensor_create((ext_tensor *)PyTuple_GetItem(tuple, i), core, i);
    ext_memories m;
    if (result == 0 && ext_memories_read(ext, core, tuple, "tensors", &m) == 0) {
        size_t uploads = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            if (((ext_tensor *)PyTuple_GetItem(tuple, i))->memory_type != KP_MEMORY_STORAGE)
                m.handles[uploads++] = m.handles[i];
        }
        if (uploads > 0)
            result = ext_error_check(ext, kp_record_sync_device(sequence, m.handles, uploads));
        ext_memories_release(&m);
    } else {
        result = -1;
    }
    Py_DECREF(tuple);
    return result;
}

static int record_memories(kp_ext *ext, ext_core *core, kp_sequence *sequence, ext_classic_op op, PyObject *tensors) {
    ext_memories m;
    if (ext_memories_read(ext, core, tensors, "tensors", &m) < 0)
        return -1;
    kp_result result = op == EXT_TENSOR_COPY          ? kp_record_copy(sequence, m.handles, m.count)
                       : op == EXT_TENSOR_SYNC_DEVICE ? kp_record_sync_device(sequence, m.handles, m.count)
                                                      : kp_record_sync_local(sequence, m.handles, m.count);
    int done = ext_error_check(ext, result);
    ext_memories_release(&m);
    return done;
}

static PyObject *make_algorithm(kp_ext *ext, ext_core *core, ext_classic_op op, PyObject *tensors, PyObject *extra) {
    ext_algorithm_desc desc = {0};
    PyObject *program = NULL;
    if (op == EXT_ALGO_MULT || (op == EXT_ALGO_LRO && extra == Py_None)) {
        desc.program = kp_kernel_multiply();
    } else if (op == EXT_ALGO_FILE || op == EXT_ALGO_STR) {
        program = op == EXT_ALGO_STR ? ext_program_from_text(ext, extra)
                                     : ext_program_from_file(ext, extra, &(kp_shader_desc){0});
        if (program == NULL)
            return NULL;
        desc.spirv = program;
    } else {
        desc.spirv = extra;
    }
    PyObject *algorithm = ext_algorithm_new(ext, core, tensors, &desc);
    Py_XDECREF(program);
    return algorithm;
}

// lhs * rhs = out and its base leave the result in the host side too, as in 0.5.
static int record_output(kp_ext *ext, kp_sequence *sequence, PyObject *algorithm) {
    ext_tensor *out = (ext_tensor *)PyTuple_GetItem(((ext_algorithm *)algorithm)->memories, 2);
    if (out->memory_type == KP_MEMORY_STORAGE)
        return 0;
    return ext_error_check(ext, kp_record_sync_local(sequence, &out->handle, 1));
}

static int record_algorithm(kp_ext *ext, ext_core *core, kp_sequence *sequence, ext_classic_op op, PyObject *tensors,
                            PyObject *extra, PyObject **out) {
    PyObject *algorithm = make_algorithm(ext, core, op, tensors, extra);
    if (algorithm == NULL)
        return -1;
    bool three = op == EXT_ALGO_MULT || op == EXT_ALGO_LRO;
    int result = 0;
    if (ext_core_use(ext, core) == NULL)
        result = -1; // destroyed while the algorithm was made without the GIL
    else
        result = ext_error_check(ext, kp_record_dispatch(sequence, ((ext_algorithm *)algorithm)->handle, NULL));
    if (result == 0 && three)
        result = record_output(ext, sequence, algorithm);
    if (result == 0)
        *out = algorithm;
    else
        Py_DECREF(algorithm);
    return result;
}

int ext_classic_record(kp_ext *ext, ext_core *core, kp_sequence *sequence, ext_classic_op op, PyObject *tensors,
                       PyObject *extra, PyObject **algorithm) {
    *algorithm = NULL;
    PyObject *tuple = ext_memories_tuple(ext, tensors, "tensors");
    Py_ssize_t count = tuple != NULL ? PyTuple_Size(tuple) : 0;
    int result = -1;
    if (tuple == NULL)
        return -1;
    if (count == 0)
        PyErr_SetString(PyExc_ValueError, "tensors: needs at least one");
    else if ((op == EXT_ALGO_MULT || op == EXT_ALGO_LRO) && count != 3)
        PyErr_Format(PyExc_ValueError, "tensors: takes three, lhs, rhs and out, not %zd", count);
    else if (op == EXT_TENSOR_CREATE)
        result = record_create(ext, core, sequence, tuple);
    else if (op < EXT_ALGO_MULT)
        result = record_memories(ext, core, sequence, op, tuple);
    else
        result = record_algorithm(ext, core, sequence, op, tuple, extra, algorithm);
    Py_DECREF(tuple);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Methods of the manager
// ---------------------------------------------------------------------------------------------------------------------

// A new sequence under `name`; an older one of that name loses it.
static PyObject *make_named(ext_manager *m, const char *name, uint32_t queue) {
    PyObject *sequence = ext_sequence_new(m->ext, m->core, queue, 0, name);
    if (sequence != NULL && PyDict_SetItemString(m->named, name, sequence) < 0)
        Py_CLEAR(sequence);
    return sequence;
}

PyObject *ext_classic_create_sequence(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name", "queueIndex", NULL};
    ext_manager *m = (ext_manager *)self;
    const char *name = "";
    PyObject *queue_object = NULL;
    uint32_t queue = 0;
    char made_up[48];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|sO:create_sequence", names, &name, &queue_object) ||
        ext_element_count(KP_U32, queue_object, "queueIndex", &queue) < 0)
        return NULL;
    if (name[0] == '\0') {
        snprintf(made_up, sizeof made_up, "sequence %llu", (unsigned long long)++m->next_name);
        name = made_up;
    }
    return make_named(m, name, queue);
}

static PyObject *get_named(ext_manager *m, const char *name) {
    PyObject *found = PyDict_GetItemString(m->named, name); // borrowed
    return found != NULL ? Py_NewRef(found) : make_named(m, name, 0);
}

PyObject *ext_classic_get_create_sequence(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name", NULL};
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s:get_create_sequence", names, &name))
        return NULL;
    return get_named((ext_manager *)self, name);
}

PyObject *ext_classic_build_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"data", "tensorType", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *data, *type = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:build_tensor", names, &data, &type))
        return NULL;
    PyObject *tensor = PyObject_CallFunctionObjArgs((PyObject *)m->ext->tensor_type, data, type, NULL);
    PyObject *one = tensor != NULL ? Py_BuildValue("(O)", tensor) : NULL;
    if (one == NULL || ext_anonymous_eval(m->ext, m->core, EXT_TENSOR_CREATE, one, Py_None, false) < 0)
        Py_CLEAR(tensor);
    Py_XDECREF(one);
    return tensor;
}

static int eval_named(ext_manager *m, ext_classic_op op, PyObject *tensors, PyObject *extra, const char *name,
                      bool async) {
    ext_sequence *s = (ext_sequence *)get_named(m, name);
    PyObject *done = s != NULL ? PyObject_CallMethod((PyObject *)s, "begin", NULL) : NULL;
    if (done != NULL)
        EXT_SET(done, PyObject_CallMethod((PyObject *)s, "_record_op", "iOO", (int)op, tensors, extra));
    int result = done != NULL ? ext_sequence_run(s, async ? EXT_EVAL_ASYNC : EXT_EVAL, UINT64_MAX) : -1;
    Py_XDECREF(done);
    Py_XDECREF((PyObject *)s);
    return result;
}

// _eval_op(op, tensors, extra, name, async): what eval_<op> and its relatives come to. name is None for the anonymous.
PyObject *ext_classic_eval_op(PyObject *self, PyObject *args) {
    ext_manager *m = (ext_manager *)self;
    int op, async;
    PyObject *tensors, *extra, *text;
    const char *name = NULL;
    if (!PyArg_ParseTuple(args, "iOOOp:_eval_op", &op, &tensors, &extra, &text, &async))
        return NULL;
    if (text != Py_None && !PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "sequence_name: must be str, not %R", Py_TYPE(text));
    if (text != Py_None && ext_options_text(text, "sequence_name", &name) < 0)
        return NULL;
    if (op < 0 || op >= EXT_CLASSIC_OP_COUNT)
        return PyErr_Format(PyExc_ValueError, "no op %d", op);
    if (op >= EXT_ALGO_MULT)
        ext_log_follow();
    int result = name != NULL ? eval_named(m, (ext_classic_op)op, tensors, extra, name, async != 0)
                              : ext_anonymous_eval(m->ext, m->core, (ext_classic_op)op, tensors, extra, async != 0);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

PyObject *ext_classic_eval_await(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name", "waitFor", NULL};
    ext_manager *m = (ext_manager *)self;
    const char *name;
    PyObject *object = NULL;
    uint64_t timeout;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|O:eval_await", names, &name, &object) ||
        ext_sequence_timeout(object, &timeout) < 0)
        return NULL;
    PyObject *found = PyDict_GetItemString(m->named, name); // borrowed
    if (found == NULL) {
        PyObject *all = PyDict_Keys(m->named);
        if (all != NULL)
            PyErr_Format(PyExc_ValueError, "no sequence is called '%s'; there are %R", name, all);
        Py_XDECREF(all);
        return NULL;
    }
    Py_INCREF(found);
    int result = ext_sequence_run((ext_sequence *)found, EXT_AWAIT, timeout);
    Py_DECREF(found);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

PyObject *ext_classic_eval_await_def(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"waitFor", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *object = NULL;
    uint64_t timeout;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:eval_await_def", names, &object) ||
        ext_sequence_timeout(object, &timeout) < 0 || ext_anonymous_await(m->ext, m->core, timeout) < 0)
        return NULL;
    Py_RETURN_NONE;
}
