// See ext.h. The ops of the 0.5 API: what each records.
#include "ext.h"

static int succeeded(kp_ext *ext, kp_result result) {
    if (result == KP_OK)
        return 0;
    ext_error_raise(ext, result);
    return -1;
}

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
            result = succeeded(ext, kp_record_sync_device(sequence, m.handles, uploads));
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
    int done = succeeded(ext, result);
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
    return succeeded(ext, kp_record_sync_local(sequence, &out->handle, 1));
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
        result = succeeded(ext, kp_record_dispatch(sequence, ((ext_algorithm *)algorithm)->handle, NULL));
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
