// See objects.h. kp.Semaphore, which orders evaluations with other queues, processes and libraries.
#include "objects.h"

#include <kp/external.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *wrap(ext_manager *m, kp_semaphore *handle, bool binary) {
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(m->ext->semaphore_type, Py_tp_alloc);
    ext_semaphore *s = (ext_semaphore *)alloc(m->ext->semaphore_type, 0);
    if (s == NULL) {
        kp_semaphore_destroy(handle);
        return NULL;
    }
    s->ext = m->ext;
    s->core = ext_core_hold(m->core);
    s->handle = handle;
    s->binary = binary;
    return (PyObject *)s;
}

// A word, or whether it is opaque_fd.
static int read_exported(PyObject *object, kp_handle_type *out) {
    if (object == NULL)
        return 0;
    const char *word = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (word != NULL)
        return ext_external_handle(word, "exported", KP_HANDLE_SYNC_FD, out);
    int truth = PyErr_Occurred() ? -1 : PyObject_IsTrue(object);
    *out = truth > 0 ? KP_HANDLE_OPAQUE_FD : KP_HANDLE_NONE;
    return truth < 0 ? -1 : 0;
}

PyObject *ext_semaphore_new(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"value", "binary", "exported", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *value = NULL, *exported = NULL;
    int binary = 0;
    kp_semaphore_desc desc = {0};
    kp_semaphore *handle;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$pO:semaphore", names, &value, &binary, &exported) ||
        ext_element_count(KP_U64, value, "value", &desc.value) < 0 || read_exported(exported, &desc.exported) < 0)
        return NULL;
    kp_manager *manager = ext_core_use(m->ext, m->core);
    if (manager == NULL)
        return NULL;
    desc.binary = binary != 0 || desc.exported == KP_HANDLE_SYNC_FD;
    kp_result result = kp_semaphore_create(manager, &desc, &handle);
    return result == KP_OK ? wrap(m, handle, desc.binary) : ext_error_raise(m->ext, result);
}

PyObject *ext_semaphore_import(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"fd", "binary", "handle", NULL};
    ext_manager *m = (ext_manager *)self;
    int32_t fd;
    int binary = 0;
    PyObject *number;
    const char *word = "opaque_fd";
    kp_semaphore_desc desc = {0};
    kp_semaphore *handle;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$ps:import_semaphore", names, &number, &binary, &word) ||
        ext_element_count(KP_I32, number, "fd", &fd) < 0 ||
        ext_external_handle(word, "handle", KP_HANDLE_SYNC_FD, &desc.imported) < 0)
        return NULL;
    desc.binary = binary != 0 || desc.imported == KP_HANDLE_SYNC_FD;
    kp_manager *manager = ext_core_use(m->ext, m->core);
    if (manager == NULL)
        return NULL;
    kp_result result = kp_semaphore_import(manager, fd, &desc, &handle);
    return result == KP_OK ? wrap(m, handle, desc.binary) : ext_error_raise(m->ext, result);
}

// ---------------------------------------------------------------------------------------------------------------------
// Methods
// ---------------------------------------------------------------------------------------------------------------------

// The handle, or NULL with StateError.
static kp_semaphore *use(ext_semaphore *s) {
    if (s->handle == NULL)
        ext_error_format(s->ext, KP_ERROR_STATE, "the semaphore is destroyed");
    return s->handle != NULL && ext_core_use(s->ext, s->core) != NULL ? s->handle : NULL;
}

static PyObject *semaphore_value(PyObject *self, void *unused) {
    (void)unused;
    ext_semaphore *s = (ext_semaphore *)self;
    kp_semaphore *handle = use(s);
    uint64_t value;
    if (handle == NULL)
        return NULL;
    kp_result result = kp_semaphore_value(handle, &value);
    return result == KP_OK ? PyLong_FromUnsignedLongLong(value) : ext_error_raise(s->ext, result);
}

static PyObject *semaphore_signal(PyObject *self, PyObject *object) {
    ext_semaphore *s = (ext_semaphore *)self;
    uint64_t value;
    kp_semaphore *handle = ext_element_count(KP_U64, object, "value", &value) == 0 ? use(s) : NULL;
    if (handle == NULL)
        return NULL;
    kp_result result = kp_semaphore_signal(handle, value);
    return result == KP_OK ? Py_NewRef(Py_None) : ext_error_raise(s->ext, result);
}

typedef struct goal {
    kp_semaphore *handle;
    uint64_t value;
} goal;

static kp_result reach(void *payload, uint64_t timeout) {
    const goal *g = payload;
    return kp_semaphore_wait(g->handle, g->value, timeout);
}

static PyObject *semaphore_wait(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"value", "wait_for", NULL};
    ext_semaphore *s = (ext_semaphore *)self;
    PyObject *object, *limit = NULL;
    uint64_t value, timeout;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:wait", names, &object, &limit) ||
        ext_element_count(KP_U64, object, "value", &value) < 0 || ext_sequence_timeout(limit, &timeout) < 0)
        return NULL;
    kp_semaphore *handle = use(s);
    if (handle == NULL)
        return NULL;
    s->waiting++;
    int result = ext_core_wait(s->ext, s->core, reach, &(goal){handle, value}, timeout);
    s->waiting--;
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *semaphore_export(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_semaphore *s = (ext_semaphore *)self;
    kp_semaphore *handle = use(s);
    int fd;
    if (handle == NULL)
        return NULL;
    kp_result result = kp_semaphore_export(handle, &fd);
    return result == KP_OK ? PyLong_FromLong(fd) : ext_error_raise(s->ext, result);
}

static PyObject *semaphore_is_binary(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((ext_semaphore *)self)->binary);
}

static void destroy(void *handle) { kp_semaphore_destroy(handle); }

static PyObject *semaphore_destroy(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_semaphore *s = (ext_semaphore *)self;
    if (s->waiting != 0)
        return ext_error_format(s->ext, KP_ERROR_STATE, "the semaphore is waited for by another thread");
    kp_semaphore *handle = s->handle;
    s->handle = NULL;
    ext_core_release(s->core, destroy, handle);
    Py_RETURN_NONE;
}

static void semaphore_dealloc(PyObject *self) {
    ext_semaphore *s = (ext_semaphore *)self;
    if (s->core != NULL)
        ext_core_release(s->core, destroy, s->handle);
    ext_core_drop(s->core);
    ext_free(self);
}

// ---------------------------------------------------------------------------------------------------------------------
// Evaluations between them
// ---------------------------------------------------------------------------------------------------------------------

// (semaphore, value), or a binary semaphore.
static int read_point(kp_ext *ext, PyObject *item, const char *what, kp_semaphore_point *out) {
    PyObject *semaphore = item, *value = NULL;
    if (PyTuple_Check(item) && PyTuple_Size(item) == 2) {
        semaphore = PyTuple_GetItem(item, 0);
        value = PyTuple_GetItem(item, 1);
    }
    if (!PyObject_TypeCheck(semaphore, ext->semaphore_type) ||
        (value == NULL && !((ext_semaphore *)semaphore)->binary)) {
        PyErr_Format(PyExc_TypeError, "%s: must be tuples of a kp.Semaphore and a value, or binary semaphores, not %R",
                     what, item);
        return -1;
    }
    out->value = 0;
    if (ext_element_count(KP_U64, value, what, &out->value) < 0)
        return -1;
    out->semaphore = use((ext_semaphore *)semaphore);
    return out->semaphore != NULL ? 0 : -1;
}

// How many, or -1 with an exception. `held`: a new reference to the tuple that holds them.
static Py_ssize_t read_points(kp_ext *ext, PyObject *object, const char *what,
                              kp_semaphore_point points[KP_MAX_SEMAPHORE_POINTS], PyObject **held) {
    *held = object != NULL ? PySequence_Tuple(object) : PyTuple_New(0);
    if (*held == NULL)
        return -1;
    Py_ssize_t count = PyTuple_Size(*held);
    if (count > KP_MAX_SEMAPHORE_POINTS) {
        PyErr_Format(PyExc_ValueError, "%s: at most %d, not %zd", what, KP_MAX_SEMAPHORE_POINTS, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (read_point(ext, PyTuple_GetItem(*held, i), what, &points[i]) < 0)
            return -1;
    }
    return count;
}

static int submit(ext_sequence *s, const kp_submit_desc *desc) {
    PyThreadState *thread;
    kp_sequence *handle = ext_sequence_enter(s, &thread);
    return handle != NULL ? ext_sequence_leave(s, thread, kp_sequence_submit(handle, desc)) : -1;
}

PyObject *ext_semaphore_submit(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"waits", "signals", NULL};
    ext_sequence *s = (ext_sequence *)self;
    PyObject *waits = NULL, *signals = NULL, *held[2] = {NULL, NULL};
    kp_semaphore_point points[2][KP_MAX_SEMAPHORE_POINTS];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:submit", names, &waits, &signals))
        return NULL;
    Py_ssize_t wait_count = read_points(s->ext, waits, "waits", points[0], &held[0]);
    Py_ssize_t signal_count = wait_count >= 0 ? read_points(s->ext, signals, "signals", points[1], &held[1]) : -1;
    int result = -1;
    if (signal_count >= 0)
        result = submit(s, &(kp_submit_desc){.waits = points[0],
                                             .wait_count = (size_t)wait_count,
                                             .signals = points[1],
                                             .signal_count = (size_t)signal_count});
    Py_XDECREF(held[0]);
    Py_XDECREF(held[1]);
    return result == 0 ? Py_NewRef(self) : NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// The type
// ---------------------------------------------------------------------------------------------------------------------

PyDoc_STRVAR(semaphore_doc, "Orders evaluations with other queues, processes and libraries: Sequence.submit().\n\n"
                            "Manager.semaphore() and Manager.import_semaphore() make them. A timeline is a number that "
                            "goes up; a binary\n"
                            "semaphore is set by one evaluation and waited for by one, in turns.");
PyDoc_STRVAR(signal_doc, "signal($self, value, /)\n--\n\n"
                         "Gives a timeline this value now, above all that it has had.\n\n"
                         "ValueError: it has that value. TypeError: a binary one.");
PyDoc_STRVAR(wait_doc, "wait($self, /, value, wait_for=18446744073709551615)\n--\n\n"
                       "Waits until a timeline has reached the value, at most that many nanoseconds.\n\n"
                       "TimeoutError: it has not. TypeError: a binary one.");
PyDoc_STRVAR(export_doc, "export_fd($self, /)\n--\n\n"
                         "A new file descriptor for it, yours to close. Of 'sync_fd' it is the signal that was "
                         "submitted last, which\n"
                         "it takes over as a wait would; -1 stands for work that is done.\n\n"
                         "StateError: it was not made with exported; there is no signal.");
PyDoc_STRVAR(destroy_doc, "destroy($self, /)\n--\n\n"
                          "Releases it; work in flight that uses it goes on.");
static PyMethodDef semaphore_methods[] = {
    {"signal", semaphore_signal, METH_O, signal_doc},
    {"wait", (PyCFunction)(void (*)(void))semaphore_wait, METH_VARARGS | METH_KEYWORDS, wait_doc},
    {"export_fd", semaphore_export, METH_NOARGS, export_doc},
    {"destroy", semaphore_destroy, METH_NOARGS, destroy_doc},
    {"vulkan", ext_native_semaphore, METH_NOARGS, ext_native_semaphore_doc},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef semaphore_getset[] = {
    {"value", semaphore_value, NULL, "Of a timeline, now.", NULL},
    {"binary", semaphore_is_binary, NULL, "Whether it is binary.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot semaphore_slots[] = {
    {Py_tp_doc, EXT_SLOT(semaphore_doc)},
    {Py_tp_dealloc, EXT_SLOT(semaphore_dealloc)},
    {Py_tp_methods, semaphore_methods},
    {Py_tp_getset, semaphore_getset},
    {0, NULL},
};
static PyType_Spec semaphore_spec = {"kp.Semaphore", sizeof(ext_semaphore), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, semaphore_slots};

int ext_semaphore_init(kp_ext *ext, PyObject *module) {
    ext->semaphore_type = ext_add_type(module, &semaphore_spec, NULL);
    return ext->semaphore_type != NULL ? 0 : -1;
}
