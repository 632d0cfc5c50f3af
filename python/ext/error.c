// See ext.h. The one map from kp_result to exceptions, and the exceptions themselves.
#include "ext.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    ERROR,
    STATE_ERROR,
    DEVICE_MEMORY_ERROR,
    LIMIT_ERROR,
    COMPILE_ERROR,
    SPIRV_ERROR,
    NO_DEVICE_ERROR,
    UNSUPPORTED_ERROR,
    DEVICE_LOST_ERROR,
    EXCEPTION_COUNT
};
_Static_assert((int)EXCEPTION_COUNT <= (int)EXT_EXCEPTIONS, "room in kp_ext");

// In the order above. `base` is NULL for kp.Error alone.
static const struct exception {
    const char *name;
    PyObject **base;
    const char *doc;
} exceptions[EXCEPTION_COUNT] = {
    [ERROR] = {"kp.Error", NULL,
               "Base of all exceptions of kp's own; itself: the driver returned an unexpected error."},
    [STATE_ERROR] = {"kp.StateError", &PyExc_RuntimeError,
                     "The object is not in a state that allows the call: destroyed, not created, running."},
    [DEVICE_MEMORY_ERROR] = {"kp.DeviceMemoryError", &PyExc_MemoryError,
                             "Out of device memory. Smaller requests still work."},
    [LIMIT_ERROR] = {"kp.LimitError", &PyExc_ValueError,
                     "The request is beyond a limit of the device; the message gives the limit and both numbers."},
    [COMPILE_ERROR] =
        {"kp.CompileError", NULL,
         "A kernel or shader does not compile.\n\n"
         "msg is the message alone; filename, lineno, offset, end_offset and text are as SyntaxError has\n"
         "them (lines and columns count from 1; None where unknown). str() shows line and caret."},
    [SPIRV_ERROR] = {"kp.SpirvError", &PyExc_ValueError, "The SPIR-V is not valid."},
    [NO_DEVICE_ERROR] = {"kp.NoDeviceError", &PyExc_RuntimeError,
                         "No Vulkan loader, driver or device; the message says which, and how to get it."},
    [UNSUPPORTED_ERROR] = {"kp.UnsupportedError", &PyExc_RuntimeError,
                           "The device, or this build, lacks a feature that the request needs."},
    [DEVICE_LOST_ERROR] = {"kp.DeviceLostError", &PyExc_RuntimeError,
                           "The device stopped working; its manager answers only destroy() from now on."},
};

// The map. Results that are not here are kp.Error.
static PyObject *exception_of(kp_ext *ext, kp_result result) {
    switch (result) {
    case KP_ERROR_ARGUMENT:
        return PyExc_ValueError;
    case KP_ERROR_TYPE:
        return PyExc_TypeError;
    case KP_ERROR_INDEX:
        return PyExc_IndexError;
    case KP_ERROR_STATE:
        return ext->exceptions[STATE_ERROR];
    case KP_ERROR_HOST_MEMORY:
        return PyExc_MemoryError;
    case KP_ERROR_DEVICE_MEMORY:
        return ext->exceptions[DEVICE_MEMORY_ERROR];
    case KP_ERROR_LIMIT:
        return ext->exceptions[LIMIT_ERROR];
    case KP_ERROR_COMPILE:
        return ext->exceptions[COMPILE_ERROR];
    case KP_ERROR_SPIRV:
        return ext->exceptions[SPIRV_ERROR];
    case KP_ERROR_NO_DEVICE:
        return ext->exceptions[NO_DEVICE_ERROR];
    case KP_ERROR_UNSUPPORTED:
        return ext->exceptions[UNSUPPORTED_ERROR];
    case KP_ERROR_DEVICE_LOST:
        return ext->exceptions[DEVICE_LOST_ERROR];
    case KP_ERROR_TIMEOUT:
        return PyExc_TimeoutError;
    case KP_ERROR_IO:
        return PyExc_OSError;
    case KP_ERROR_DIVISION:
        return PyExc_ZeroDivisionError;
    case KP_ERROR_ASSERT:
        return PyExc_AssertionError;
    case KP_ERROR_OVERFLOW:
        return PyExc_OverflowError;
    case KP_OK:
    case KP_ERROR_DRIVER:
        break;
    }
    return ext->exceptions[ERROR];
}

// What CompileError has as long as no diagnostic is known: all of its fields, None.
static PyObject *compile_error_fields(void) {
    return Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:O}", "msg", Py_None, "filename", Py_None, "lineno", Py_None, "offset",
                         Py_None, "end_offset", Py_None, "text", Py_None);
}

int ext_error_init(kp_ext *ext, PyObject *module) {
    for (int i = 0; i < EXCEPTION_COUNT; i++) {
        const struct exception *e = &exceptions[i];
        PyObject *bases = NULL, *fields = NULL;
        if (i != ERROR)
            bases = e->base != NULL ? Py_BuildValue("(OO)", ext->exceptions[ERROR], *e->base)
                                    : Py_BuildValue("(O)", ext->exceptions[ERROR]);
        if (i == COMPILE_ERROR)
            fields = compile_error_fields();
        bool failed = (i != ERROR && bases == NULL) || (i == COMPILE_ERROR && fields == NULL);
        if (!failed)
            ext->exceptions[i] = PyErr_NewExceptionWithDoc(e->name, e->doc, bases, fields);
        Py_XDECREF(bases);
        Py_XDECREF(fields);
        if (ext->exceptions[i] == NULL ||
            PyModule_AddObjectRef(module, strchr(e->name, '.') + 1, ext->exceptions[i]) < 0)
            return -1;
    }
    return 0;
}

// Takes `value` over, NULL included. A failure leaves its exception.
static int set_field(PyObject *error, const char *name, PyObject *value) {
    if (value == NULL)
        return -1;
    int result = PyObject_SetAttrString(error, name, value);
    Py_DECREF(value);
    return result;
}

static PyObject *number_or_none(uint32_t number) {
    return number != 0 ? PyLong_FromUnsignedLong(number) : Py_NewRef(Py_None);
}

// Names in SPIR-V and shader files may hold any bytes.
static PyObject *text_of(const char *bytes) {
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

static PyObject *raise_compile(kp_ext *ext) {
    const kp_diagnostic *d = kp_last_diagnostic();
    PyObject *type = ext->exceptions[COMPILE_ERROR];
    PyObject *words = text_of(d->rendered[0] != '\0' ? d->rendered : kp_last_error());
    PyObject *error = words != NULL ? PyObject_CallFunctionObjArgs(type, words, NULL) : NULL;
    Py_XDECREF(words);
    if (error == NULL)
        return NULL;
    if (set_field(error, "msg", text_of(d->message)) == 0 && set_field(error, "filename", text_of(d->file)) == 0 &&
        set_field(error, "lineno", number_or_none(d->line)) == 0 &&
        set_field(error, "offset", number_or_none(d->column)) == 0 &&
        set_field(error, "end_offset", number_or_none(d->end_column)) == 0 &&
        set_field(error, "text", text_of(d->source_line)) == 0)
        PyErr_SetObject(type, error);
    Py_DECREF(error);
    return NULL;
}

bool ext_error_matches(kp_ext *ext, kp_result result) { return PyErr_ExceptionMatches(exception_of(ext, result)) != 0; }

PyObject *ext_error_raise(kp_ext *ext, kp_result result) {
    if (PyErr_Occurred())
        return NULL;
    if (result == KP_ERROR_COMPILE)
        return raise_compile(ext);
    PyObject *words = text_of(kp_last_error());
    if (words != NULL)
        PyErr_SetObject(exception_of(ext, result), words);
    Py_XDECREF(words);
    return NULL;
}

// Why `path` cannot be read, as errno has it.
static int reason(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return errno;
    fclose(file);
    return EIO;
}

int ext_error_check(kp_ext *ext, kp_result result) {
    if (result == KP_OK)
        return 0;
    ext_error_raise(ext, result);
    return -1;
}

PyObject *ext_error_raise_path(kp_ext *ext, kp_result result, PyObject *path) {
    PyObject *bytes = NULL;
    if (result != KP_ERROR_IO || !PyUnicode_FSConverter(path, &bytes))
        return ext_error_raise(ext, result);
    int code = reason(PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    PyObject *args = Py_BuildValue("(isO)", code, strerror(code), path);
    if (args != NULL)
        PyErr_SetObject(PyExc_OSError, args);
    Py_XDECREF(args);
    return NULL;
}

PyObject *ext_error_format(kp_ext *ext, kp_result result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    PyErr_FormatV(exception_of(ext, result), format, args);
    va_end(args);
    return NULL;
}
