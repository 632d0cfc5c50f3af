// See objects.h. kp.Sequence: ops recorded once and evaluated many times. It holds what its recording uses, and lets go
// of it when the next recording starts. `busy` keeps a second thread out while a call runs without the GIL.
#include "objects.h"

#include <stdlib.h>
#include <string.h>

PyObject *ext_sequence_new(kp_ext *ext, ext_core *core, uint32_t queue, uint32_t timestamps, const char *label) {
    kp_manager *manager = ext_core_use(ext, core);
    if (manager == NULL)
        return NULL;
    const kp_sequence_desc desc = {.queue = queue, .timestamps = timestamps, .label = label};
    kp_sequence *handle;
    kp_result result = kp_sequence_create(manager, &desc, &handle);
    if (result != KP_OK)
        return ext_error_raise(ext, result);
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(ext->sequence_class, Py_tp_alloc);
    ext_sequence *s = (ext_sequence *)alloc(ext->sequence_class, 0);
    if (s == NULL) {
        kp_sequence_destroy(handle);
        return NULL;
    }
    s->ext = ext;
    s->core = ext_core_hold(core);
    s->handle = handle;
    s->timestamps = timestamps;
    s->recorded = PyList_New(0);
    if (s->recorded == NULL)
        Py_CLEAR(s);
    return (PyObject *)s;
}

kp_sequence *ext_sequence_use(ext_sequence *s) {
    if (s->busy) {
        ext_error_format(s->ext, KP_ERROR_STATE, "the sequence is in use by another thread, or awaited");
        return NULL;
    }
    if (s->handle == NULL) {
        ext_error_format(s->ext, KP_ERROR_STATE, "the sequence is destroyed");
        return NULL;
    }
    return ext_core_use(s->ext, s->core) != NULL ? s->handle : NULL;
}

int ext_sequence_keep(ext_sequence *s, PyObject *object) {
    if (s->ended) {
        PyObject *fresh = PyList_New(0);
        if (fresh == NULL)
            return -1;
        s->ended = false;
        EXT_SET(s->recorded, fresh);
    }
    return PyList_Append(s->recorded, object);
}

kp_sequence *ext_sequence_enter(ext_sequence *s, PyThreadState **thread) {
    kp_sequence *handle = ext_sequence_use(s);
    if (handle == NULL)
        return NULL;
    s->busy = true;
    *thread = ext_core_enter(s->core);
    return handle;
}

static void ended(ext_sequence *s) {
    s->ended = true;
    s->begun = false;
}

int ext_sequence_leave(ext_sequence *s, PyThreadState *thread, kp_result result) {
    ext_core_leave(s->core, thread);
    s->busy = false;
    if (ext_error_check(s->ext, result) < 0)
        return -1;
    ended(s);
    return 0;
}

typedef struct evaluation {
    kp_sequence *handle;
    ext_sequence_call call;
    bool submitted;
} evaluation;

static kp_result evaluate(void *payload, uint64_t timeout) {
    evaluation *e = payload;
    if (e->call != EXT_AWAIT && !e->submitted) {
        kp_result result = kp_sequence_eval_async(e->handle);
        e->submitted = result == KP_OK;
        if (result != KP_OK || e->call == EXT_EVAL_ASYNC)
            return result;
    }
    return kp_sequence_await(e->handle, timeout);
}

static int run_once(ext_sequence *s, ext_sequence_call call, uint64_t timeout) {
    evaluation e = {.handle = ext_sequence_use(s), .call = call};
    if (e.handle == NULL)
        return -1;
    s->busy = true;
    int result = ext_core_wait(s->ext, s->core, evaluate, &e, timeout);
    s->busy = false;
    if (result == 0 || e.submitted)
        ended(s);
    return result;
}

int ext_sequence_run(ext_sequence *s, ext_sequence_call call, uint64_t timeout) {
    int result = run_once(s, call, timeout);
    bool submitted = call == EXT_AWAIT || s->handle == NULL || kp_sequence_is_running(s->handle);
    if (result < 0 && !submitted && ext_spares_relieve(s->ext, s->core))
        result = run_once(s, call, timeout);
    return result;
}

int ext_sequence_timeout(PyObject *object, uint64_t *out) {
    *out = UINT64_MAX;
    if (object == NULL || object == Py_None)
        return 0;
    if (ext_element_whole(KP_U64, object, out) == 0)
        return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "timeout: must be nanoseconds from 0 to 2**64 - 1, not %R", object);
    } else if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "timeout: must be nanoseconds, a whole number, not %R", Py_TYPE(object));
    }
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Methods
// ---------------------------------------------------------------------------------------------------------------------

// The sequence itself when `result` is 0, so that calls chain.
static PyObject *chain(PyObject *self, int result) { return result == 0 ? Py_NewRef(self) : NULL; }

static int succeeded(ext_sequence *s, kp_result result) { return ext_error_check(s->ext, result); }

static PyObject *sequence_record(PyObject *self, PyObject *op) {
    return chain(self, ext_op_record(op, (ext_sequence *)self));
}

// Records `op` alone: ending first makes it start afresh, and leaves the old recording if it does not record.
static int record_alone(ext_sequence *s, PyObject *op) {
    kp_sequence *handle = ext_sequence_use(s);
    if (handle == NULL || succeeded(s, kp_sequence_end(handle)) < 0)
        return -1;
    s->ended = true;
    return ext_op_record(op, s);
}

static PyObject *eval_with(PyObject *self, PyObject *args, PyObject *kwargs, const char *format,
                           ext_sequence_call call) {
    static char *names[] = {"op", NULL};
    ext_sequence *s = (ext_sequence *)self;
    PyObject *op = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &op))
        return NULL;
    if (op != NULL && op != Py_None && record_alone(s, op) < 0)
        return NULL;
    return chain(self, ext_sequence_run(s, call, UINT64_MAX));
}

static PyObject *sequence_eval(PyObject *self, PyObject *args, PyObject *kwargs) {
    return eval_with(self, args, kwargs, "|O:eval", EXT_EVAL);
}

static PyObject *sequence_eval_async(PyObject *self, PyObject *args, PyObject *kwargs) {
    return eval_with(self, args, kwargs, "|O:eval_async", EXT_EVAL_ASYNC);
}

static PyObject *sequence_eval_await(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"wait_for", NULL};
    PyObject *object = NULL;
    uint64_t timeout;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:eval_await", names, &object) ||
        ext_sequence_timeout(object, &timeout) < 0)
        return NULL;
    return chain(self, ext_sequence_run((ext_sequence *)self, EXT_AWAIT, timeout));
}

enum { SLICE = 2000000 }; // nanoseconds between looks at whether to go on waiting

// Waits without the GIL until the work is done or another thread sets stop[0]. stop[1] says that the wait has begun.
static kp_result await_unless(ext_sequence *s, kp_sequence *handle, volatile char *stop) {
    kp_result result = KP_ERROR_TIMEOUT;
    stop[1] = 1;
    s->busy = true;
    PyThreadState *thread = ext_core_enter(s->core);
    while (stop[0] == 0 && result == KP_ERROR_TIMEOUT)
        result = kp_sequence_await(handle, SLICE);
    ext_core_leave(s->core, thread);
    s->busy = false;
    return result;
}

// _await(stop): eval_await() for a thread of asyncio's. `stop` is a bytearray of two.
static PyObject *sequence_await(PyObject *self, PyObject *stop) {
    ext_sequence *s = (ext_sequence *)self;
    Py_buffer buffer;
    if (PyObject_GetBuffer(stop, &buffer, PyBUF_WRITABLE) < 0)
        return NULL;
    kp_sequence *handle = buffer.len >= 2 ? ext_sequence_use(s) : NULL;
    kp_result result = handle != NULL ? await_unless(s, handle, buffer.buf) : KP_OK;
    PyBuffer_Release(&buffer);
    if (handle == NULL)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "stop: has fewer than two bytes");
    if (result == KP_OK) {
        s->ended = true;
        s->begun = false;
    }
    if (result != KP_OK && result != KP_ERROR_TIMEOUT)
        return ext_error_raise(s->ext, result);
    Py_RETURN_NONE;
}

static int drop_recording(ext_sequence *s) {
    kp_sequence *handle = ext_sequence_use(s);
    if (handle == NULL || succeeded(s, kp_sequence_clear(handle)) < 0)
        return -1;
    s->ended = true;
    s->begun = false;
    return PyList_SetSlice(s->recorded, 0, PyList_Size(s->recorded), NULL);
}

static PyObject *sequence_clear_recording(PyObject *self, PyObject *unused) {
    (void)unused;
    return chain(self, drop_recording((ext_sequence *)self));
}

static PyObject *sequence_begin(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_sequence *s = (ext_sequence *)self;
    if (drop_recording(s) < 0)
        return NULL;
    s->begun = true;
    return Py_NewRef(self);
}

static PyObject *sequence_end(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_sequence *s = (ext_sequence *)self;
    kp_sequence *handle = ext_sequence_use(s);
    if (handle == NULL || succeeded(s, kp_sequence_end(handle)) < 0)
        return NULL;
    s->ended = true;
    s->begun = false;
    return Py_NewRef(self);
}

static PyObject *sequence_rerecord(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_sequence *s = (ext_sequence *)self;
    kp_sequence *handle = ext_sequence_use(s);
    return chain(self, handle != NULL ? succeeded(s, kp_sequence_rerecord(handle)) : -1);
}

static bool is_alive(const ext_sequence *s) {
    return s->handle != NULL && ext_core_usable(s->core) && kp_sequence_alive(s->handle);
}

static PyObject *sequence_is_recording(PyObject *self, PyObject *unused) {
    (void)unused;
    const ext_sequence *s = (ext_sequence *)self;
    return PyBool_FromLong(is_alive(s) && (s->begun || kp_sequence_is_recording(s->handle)));
}

static PyObject *sequence_is_running(PyObject *self, PyObject *unused) {
    (void)unused;
    const ext_sequence *s = (ext_sequence *)self;
    return PyBool_FromLong(is_alive(s) && (s->busy || kp_sequence_is_running(s->handle)));
}

static PyObject *sequence_is_init(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(is_alive((ext_sequence *)self));
}

static PyObject *sequence_init(PyObject *self, PyObject *unused) {
    (void)unused;
    return chain(self, ext_sequence_use((ext_sequence *)self) != NULL ? 0 : -1);
}

static PyObject *sequence_timestamps(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_sequence *s = (ext_sequence *)self;
    kp_sequence *handle = ext_sequence_use(s);
    if (handle == NULL)
        return NULL;
    size_t room = (size_t)s->timestamps + 1, count = 0;
    uint64_t *ticks = PyMem_Calloc(room, sizeof *ticks);
    if (ticks == NULL)
        return PyErr_NoMemory();
    PyObject *list = NULL;
    if (succeeded(s, kp_sequence_timestamps(handle, ticks, room, &count)) == 0)
        list = PyList_New((Py_ssize_t)(count < room ? count : room));
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(list); i++) {
        PyObject *tick = PyLong_FromUnsignedLongLong(ticks[i]);
        if (tick == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, tick);
    }
    PyMem_Free(ticks);
    return list;
}

static PyObject *sequence_op_names(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_sequence *s = (ext_sequence *)self;
    kp_sequence *handle = ext_sequence_use(s);
    PyObject *list = handle != NULL ? PyList_New(0) : NULL;
    char text[256];
    for (size_t i = 0; list != NULL && i < kp_sequence_op_count(handle); i++) {
        kp_sequence_op_name(handle, i, text, sizeof text);
        PyObject *name = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
        if (name == NULL || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

// Nanoseconds of a tick.
static PyObject *sequence_tick(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_sequence *s = (ext_sequence *)self;
    kp_manager *manager = ext_core_use(s->ext, s->core);
    kp_device_info info;
    if (manager == NULL || succeeded(s, kp_manager_device(manager, &info)) < 0)
        return NULL;
    return PyFloat_FromDouble(info.timestamp_period);
}

static void destroy(void *handle) { kp_sequence_destroy(handle); }

static void destroy_handle(ext_sequence *s) {
    kp_sequence *handle = s->handle;
    s->handle = NULL;
    if (s->core != NULL)
        ext_core_release(s->core, destroy, handle);
}

static PyObject *sequence_destroy(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_sequence *s = (ext_sequence *)self;
    if (s->busy)
        return ext_error_format(s->ext, KP_ERROR_STATE, "the sequence is in use by another thread, or awaited");
    destroy_handle(s);
    if (PyList_SetSlice(s->recorded, 0, PyList_Size(s->recorded), NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

// record_op(op, tensors, extra): what record_<op> of the 0.5 API come to.
static PyObject *sequence_record_op(PyObject *self, PyObject *args) {
    ext_sequence *s = (ext_sequence *)self;
    int op;
    PyObject *tensors, *extra = Py_None, *algorithm = NULL;
    if (!PyArg_ParseTuple(args, "iO|O:_record_op", &op, &tensors, &extra))
        return NULL;
    if (op < 0 || op >= EXT_CLASSIC_OP_COUNT)
        return PyErr_Format(PyExc_ValueError, "no op %d", op);
    PyObject *used = ext_memories_tuple(s->ext, tensors, "tensors");
    kp_sequence *handle = used != NULL ? ext_sequence_use(s) : NULL;
    int result = -1;
    if (handle != NULL) {
        s->busy = true; // reading a shader may run code of the user's, or give the GIL away
        result = ext_classic_record(s->ext, s->core, handle, (ext_classic_op)op, used, extra, &algorithm);
        s->busy = false;
    }
    if (result == 0)
        result = ext_sequence_keep(s, used);
    if (result == 0 && algorithm != NULL)
        result = ext_sequence_keep(s, algorithm);
    Py_XDECREF(used);
    Py_XDECREF(algorithm);
    return chain(self, result);
}

static int sequence_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((ext_sequence *)self)->recorded);
    return 0;
}

static int sequence_clear(PyObject *self) {
    Py_CLEAR(((ext_sequence *)self)->recorded);
    return 0;
}

static void sequence_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    ext_sequence *s = (ext_sequence *)self;
    destroy_handle(s);
    sequence_clear(self);
    ext_core_drop(s->core);
    ext_free(self);
}

PyDoc_STRVAR(sequence_doc,
             "Ops recorded once and evaluated many times, on one queue. Made by Manager.sequence().\n\n"
             "Recording after an evaluation starts afresh; evaluating again replays. One thread uses a sequence "
             "at a time:\n"
             "a second one gets StateError. Every call that waits releases the GIL.");
PyDoc_STRVAR(record_doc,
             "record($self, op, /)\n--\n\n"
             "Adds one op. Returns the sequence. An op that does not fit raises and leaves the sequence as it was.\n\n"
             "StateError: running, or something is destroyed. ValueError: memory of another manager.");
PyDoc_STRVAR(eval_doc,
             "eval($self, /, op=None)\n--\n\n"
             "Runs what is recorded, and waits. With an op: records that alone first. Returns the sequence.\n\n"
             "StateError: running, or something that was recorded is destroyed.");
PyDoc_STRVAR(eval_async_doc, "eval_async($self, /, op=None)\n--\n\n"
                             "As eval(), without waiting: call eval_await() before anything else.");
PyDoc_STRVAR(eval_await_doc, "eval_await($self, /, wait_for=18446744073709551615)\n--\n\n"
                             "Waits for eval_async(), at most that many nanoseconds. Returns the sequence.\n\n"
                             "StateError: nothing was started. TimeoutError: it goes on; call again.");
PyDoc_STRVAR(await_doc, "_await($self, stop, /)\n--\n\n"
                        "As eval_await(), until another thread sets stop[0].");
PyDoc_STRVAR(is_recording_doc, "is_recording($self, /)\n--\n\n"
                               "Whether ops were recorded since the last evaluation.");
PyDoc_STRVAR(is_rec_doc, "is_rec($self, /)\n--\n\n"
                         "Older name of is_recording().");
PyDoc_STRVAR(is_running_doc, "is_running($self, /)\n--\n\n"
                             "Whether eval_async() was called and not awaited yet.");
PyDoc_STRVAR(is_init_doc, "is_init($self, /)\n--\n\n"
                          "Whether it can be used: neither it nor its manager is destroyed.");
PyDoc_STRVAR(init_doc, "init($self, /)\n--\n\n"
                       "Does nothing (0.5 API): a sequence is ready when it is made.");
PyDoc_STRVAR(begin_doc, "begin($self, /)\n--\n\n"
                        "Starts a recording and drops the old one (0.5 API).\n\n"
                        "StateError: running.");
PyDoc_STRVAR(end_doc, "end($self, /)\n--\n\n"
                      "Ends the recording (0.5 API): the next op starts afresh.\n\n"
                      "StateError: running.");
PyDoc_STRVAR(clear_doc, "clear($self, /)\n--\n\n"
                        "Drops what was recorded. Returns the sequence.\n\n"
                        "StateError: running.");
PyDoc_STRVAR(rerecord_doc, "rerecord($self, /)\n--\n\n"
                           "Records the same ops again. Returns the sequence.");
PyDoc_STRVAR(timestamps_doc,
             "get_timestamps($self, /)\n--\n\n"
             "Device ticks of the last evaluation: one at its start, one after each of the first\n"
             "total_timestamps ops. Device.timestamp_period is the length of a tick.\n\n"
             "StateError: not evaluated, or made without timestamps. UnsupportedError: not on this device.");
PyDoc_STRVAR(tick_doc, "_tick($self, /)\n--\n\n"
                       "Nanoseconds of a tick of get_timestamps().");
PyDoc_STRVAR(op_names_doc, "op_names($self, /)\n--\n\n"
                           "What each recorded op is called, such as \"dispatch 'multiply'\".");
PyDoc_STRVAR(destroy_doc, "destroy($self, /)\n--\n\n"
                          "Releases it. Work in flight goes on.");
PyDoc_STRVAR(record_op_doc, "_record_op($self, op, tensors, extra=None, /)\n--\n\n"
                            "One op of the 0.5 API; see kp.classic.");

PyDoc_STRVAR(submit_doc,
             "submit($self, /, waits=(), signals=())\n--\n\n"
             "eval_async(), after some semaphores and before others: tuples of a kp.Semaphore and the value of "
             "a timeline, or\n"
             "binary semaphores. A wait that is never met holds up the queue while the manager lives. Returns the "
             "sequence;\n"
             "eval_await() waits for it.");

static PyMethodDef sequence_methods[] = {
    {"record", sequence_record, METH_O, record_doc},
    {"eval", (PyCFunction)(void (*)(void))sequence_eval, METH_VARARGS | METH_KEYWORDS, eval_doc},
    {"eval_async", (PyCFunction)(void (*)(void))sequence_eval_async, METH_VARARGS | METH_KEYWORDS, eval_async_doc},
    {"submit", (PyCFunction)(void (*)(void))ext_semaphore_submit, METH_VARARGS | METH_KEYWORDS, submit_doc},
    {"eval_await", (PyCFunction)(void (*)(void))sequence_eval_await, METH_VARARGS | METH_KEYWORDS, eval_await_doc},
    {"is_recording", sequence_is_recording, METH_NOARGS, is_recording_doc},
    {"is_rec", sequence_is_recording, METH_NOARGS, is_rec_doc},
    {"is_running", sequence_is_running, METH_NOARGS, is_running_doc},
    {"is_init", sequence_is_init, METH_NOARGS, is_init_doc},
    {"init", sequence_init, METH_NOARGS, init_doc},
    {"begin", sequence_begin, METH_NOARGS, begin_doc},
    {"end", sequence_end, METH_NOARGS, end_doc},
    {"clear", sequence_clear_recording, METH_NOARGS, clear_doc},
    {"rerecord", sequence_rerecord, METH_NOARGS, rerecord_doc},
    {"get_timestamps", sequence_timestamps, METH_NOARGS, timestamps_doc},
    {"op_names", sequence_op_names, METH_NOARGS, op_names_doc},
    {"destroy", sequence_destroy, METH_NOARGS, destroy_doc},
    {"_await", sequence_await, METH_O, await_doc},
    {"_tick", sequence_tick, METH_NOARGS, tick_doc},
    {"_record_op", sequence_record_op, METH_VARARGS, record_op_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot sequence_slots[] = {
    {Py_tp_doc, EXT_SLOT(sequence_doc)},
    {Py_tp_dealloc, EXT_SLOT(sequence_dealloc)},
    {Py_tp_traverse, EXT_SLOT(sequence_traverse)},
    {Py_tp_clear, EXT_SLOT(sequence_clear)},
    {Py_tp_methods, sequence_methods},
    {0, NULL},
};
static PyType_Spec sequence_spec = {
    "kp._kp.Sequence", sizeof(ext_sequence), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, sequence_slots};

int ext_sequence_init(kp_ext *ext, PyObject *module) {
    ext->sequence_type = ext_add_type(module, &sequence_spec, NULL);
    ext->sequence_class = (PyTypeObject *)Py_XNewRef((PyObject *)ext->sequence_type);
    return ext->sequence_type != NULL ? 0 : -1;
}
