// See ext.h. What kernels print goes to sys.stdout.
//
// kp has one log callback per process; it hands each line to logging.getLogger("kp"). The callback may come
// from any thread, with or without the GIL, also while an exception is set. `logging` is imported when the first line
// arrives. At interpreter exit an atexit hook takes the callback away before anything is torn down.
#include "ext.h"

#include <stdatomic.h>

static atomic_bool listening;          // set in the main interpreter alone
static PyObject *logger;               // under the GIL; NULL until first needed
static int threshold = KP_LOG_WARNING; // what kp was told

// Messages of a sub-interpreter's own work go nowhere.
static bool in_main(void) { return PyInterpreterState_GetID(PyInterpreterState_Get()) == 0; }

// Borrowed, or NULL with an exception.
static PyObject *get_logger(void) {
    if (logger != NULL)
        return logger;
    PyObject *logging = PyImport_ImportModule("logging");
    if (logging == NULL)
        return NULL;
    PyObject *found = PyObject_CallMethod(logging, "getLogger", "s", "kp");
    Py_DECREF(logging);
    if (logger == NULL)
        logger = found;
    else
        Py_XDECREF(found);
    return logger;
}

static void hand_over(void *payload, kp_log_level level, const char *message) {
    (void)payload;
    if (!atomic_load(&listening))
        return;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!in_main()) { // the thread runs a sub-interpreter, which must not touch the main one's objects
        PyGILState_Release(gil);
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *to = atomic_load(&listening) ? get_logger() : NULL;
    if (to != NULL)
        Py_XDECREF(PyObject_CallMethod(to, "log", "iss", (int)level, "%s", message));
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(to);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(gil);
}

void ext_log_print(void *payload, const char *text, size_t length) {
    (void)payload;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *out = PySys_GetObject("stdout"); // borrowed; None where there is no console
    PyObject *words = out != NULL && out != Py_None ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace") : NULL;
    if (words != NULL) {
        Py_INCREF(out);
        Py_XDECREF(PyObject_CallMethod(out, "write", "O", words));
        Py_DECREF(out);
    }
    Py_XDECREF(words);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(gil);
}

void ext_log_follow(void) {
    if (!atomic_load(&listening) || !in_main())
        return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *name = PyUnicode_FromString("logging");
    PyObject *logging = name != NULL ? PyImport_GetModule(name) : NULL; // nobody has set a level before that
    PyObject *to = logging != NULL ? get_logger() : NULL;
    PyObject *level = to != NULL ? PyObject_CallMethod(to, "getEffectiveLevel", NULL) : NULL;
    long number = level != NULL ? PyLong_AsLong(level) : KP_LOG_WARNING;
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    Py_XDECREF(level);
    Py_XDECREF(logging);
    Py_XDECREF(name);
    if (number == threshold || number < 0 || number > INT32_MAX)
        return;
    threshold = (int)number;
    kp_set_log(hand_over, NULL, (kp_log_level)number);
}

PyObject *ext_log_level(PyObject *module, PyObject *level) {
    (void)module;
    static const int classic[] = {1, KP_LOG_DEBUG, KP_LOG_INFO, KP_LOG_WARNING, KP_LOG_ERROR, 50, KP_LOG_NONE};
    int64_t number;
    if (ext_element_count(KP_I64, level, "log level", &number) < 0)
        return NULL;
    if (number < 0 || number > 1000) {
        PyErr_Format(PyExc_ValueError,
                     "log level %lld: must be 0 (all) to 6 (none), as in Kompute, or a level of logging, such as 30",
                     (long long)number);
        return NULL;
    }
    if (number < (int64_t)(sizeof classic / sizeof *classic))
        number = classic[number];
    if (!in_main())
        Py_RETURN_NONE;
    PyObject *to = get_logger();
    PyObject *done = to != NULL ? PyObject_CallMethod(to, "setLevel", "l", number) : NULL;
    if (done == NULL)
        return NULL;
    Py_DECREF(done);
    ext_log_follow();
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ext_core_close();
    atomic_store(&listening, false);
    kp_set_log(NULL, NULL, KP_LOG_NONE);
    Py_CLEAR(logger);
    Py_RETURN_NONE;
}

static PyMethodDef stop_def = {"stop_log", stop, METH_NOARGS, NULL};

int ext_log_init(PyObject *module) {
    (void)module;
    if (!in_main())
        return 0;
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *hook = atexit != NULL ? PyCFunction_New(&stop_def, NULL) : NULL;
    PyObject *done = hook != NULL ? PyObject_CallMethod(atexit, "register", "O", hook) : NULL;
    Py_XDECREF(hook);
    Py_XDECREF(atexit);
    if (done == NULL)
        return -1;
    Py_DECREF(done);
    atomic_store(&listening, true);
    threshold = KP_LOG_WARNING;
    kp_set_log(hand_over, NULL, KP_LOG_WARNING);
    ext_log_follow();
    return 0;
}
