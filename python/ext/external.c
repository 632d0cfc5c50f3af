// See objects.h. Memory that others have too, by file descriptor.
#include "objects.h"

#include <kp/external.h>

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// kp.ExternalMemory
// ---------------------------------------------------------------------------------------------------------------------

static PyStructSequence_Field memory_fields[] = {
    {"fd", "file descriptor, yours to close"},
    {"handle", "'opaque_fd' or 'dma_buf'"},
    {"size", "bytes of the memory behind it"},
    {"offset", "of the tensor's first byte; 0 for an image"},
    {"memory_type", "Vulkan's index of it"},
    {"dedicated", "it is for one buffer or image alone"},
    {"device_uuid", "32 hex digits"},
    {"driver_uuid", "32 hex digits"},
    {"kind", "'tensor' or 'image', whose memory it is; 'unknown': only its size is compared"},
    {"image", "of an image (dtype, normalized, channels, width, height, depth), with 0 for axes that it does not have; "
              "else None"},
    {NULL, NULL},
};
static PyStructSequence_Desc memory_desc = {
    "kp.ExternalMemory",
    "What another process, manager or library has to know of a tensor's or an image's memory. A process that got the "
    "descriptor\n"
    "under another number makes one of its own: kp.ExternalMemory((fd, *memory[1:])).",
    memory_fields, 10};

static const char *const handles[] = {
    [KP_HANDLE_OPAQUE_FD] = "opaque_fd", [KP_HANDLE_DMA_BUF] = "dma_buf", [KP_HANDLE_SYNC_FD] = "sync_fd"};

int ext_external_handle(const char *word, const char *what, kp_handle_type other, kp_handle_type *out) {
    bool opaque = strcmp(word, handles[KP_HANDLE_OPAQUE_FD]) == 0;
    *out = opaque ? KP_HANDLE_OPAQUE_FD : other;
    if (opaque || strcmp(word, handles[other]) == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: '%s' is none of opaque_fd, %s", what, word, handles[other]);
    return -1;
}

static PyObject *write_uuid(const uint8_t uuid[16]) {
    static const char digits[] = "0123456789abcdef";
    char text[33] = "";
    for (int i = 0; i < 16; i++) {
        text[2 * i] = digits[uuid[i] >> 4];
        text[2 * i + 1] = digits[uuid[i] & 15];
    }
    return PyUnicode_FromString(text);
}

static int read_uuid(PyObject *object, uint8_t uuid[16]) {
    static const char digits[] = "0123456789abcdef";
    const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
    if (text == NULL)
        return -1;
    for (size_t i = 0; i < 32; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        if (digit == NULL || (i == 31 && text[32] != '\0')) {
            PyErr_Format(PyExc_ValueError, "memory: '%s' is not a UUID of 32 hex digits", text);
            return -1;
        }
        uuid[i / 2] = (uint8_t)(i % 2 == 0 ? (digit - digits) << 4 : uuid[i / 2] | (digit - digits));
    }
    return 0;
}

static const char *const kinds[] = {
    [KP_EXTERNAL_UNKNOWN] = "unknown", [KP_EXTERNAL_TENSOR] = "tensor", [KP_EXTERNAL_IMAGE] = "image"};

static PyObject *write_image(const kp_external_memory *m) {
    if (m->kind != KP_EXTERNAL_IMAGE)
        return Py_NewRef(Py_None);
    return Py_BuildValue("sOIIII", kp_dtype_name(m->image.dtype), m->image.normalized ? Py_True : Py_False,
                         m->image.channels, m->image.width, m->image.height, m->image.depth);
}

// -1 with an exception.
static int read_image(const char *kind, PyObject *object, kp_external_memory *out) {
    const char *dtype;
    int normalized;
    kp_external_image *image = &out->image;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i]) == 0)
            out->kind = (kp_external_kind)i;
    }
    if (strcmp(kind, kinds[out->kind]) != 0) {
        PyErr_Format(PyExc_ValueError, "memory: '%s' is none of tensor, image, unknown", kind);
        return -1;
    }
    if (out->kind != KP_EXTERNAL_IMAGE)
        return 0;
    PyObject *numbers[4];
    uint32_t *const to[4] = {&image->channels, &image->width, &image->height, &image->depth};
    if (!PyTuple_Check(object) ||
        !PyArg_ParseTuple(object, "spOOOO", &dtype, &normalized, &numbers[0], &numbers[1], &numbers[2], &numbers[3])) {
        PyErr_Format(PyExc_TypeError,
                     "memory: image must be a tuple (dtype, normalized, channels, width, height, depth), not %R",
                     object);
        return -1;
    }
    for (size_t i = 0; i < 4; i++) {
        if (ext_element_count(KP_U32, numbers[i], "memory: image", to[i]) < 0)
            return -1;
    }
    image->normalized = normalized != 0;
    if (kp_dtype_find(dtype, &image->dtype) == KP_OK)
        return 0;
    PyErr_Format(PyExc_ValueError, "memory: %s", kp_last_error());
    return -1;
}

static PyObject *write_memory(kp_ext *ext, const kp_external_memory *m) {
    PyObject *object = PyStructSequence_New(ext->external_type);
    PyObject *fields[] = {PyLong_FromLong(m->fd),
                          PyUnicode_FromString(handles[m->type]),
                          PyLong_FromUnsignedLongLong(m->size),
                          PyLong_FromUnsignedLongLong(m->offset),
                          PyLong_FromUnsignedLong(m->memory_type),
                          PyBool_FromLong(m->dedicated),
                          write_uuid(m->device_uuid),
                          write_uuid(m->driver_uuid),
                          PyUnicode_FromString(kinds[m->kind]),
                          write_image(m)};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (object != NULL && fields[i] != NULL) {
            PyStructSequence_SetItem(object, (Py_ssize_t)i, fields[i]);
        } else {
            Py_XDECREF(fields[i]);
            Py_CLEAR(object);
        }
    }
    return object;
}

// -1 with an exception.
static int read_memory(kp_ext *ext, PyObject *object, kp_external_memory *out) {
    const char *handle, *kind;
    int dedicated;
    int32_t fd;
    PyObject *number, *size, *offset, *type, *device, *driver, *image;
    if (!PyObject_TypeCheck(object, ext->external_type)) {
        PyErr_Format(PyExc_TypeError, "memory: must be a kp.ExternalMemory, not %R", Py_TYPE(object));
        return -1;
    }
    if (!PyArg_ParseTuple(object, "OsOOOpUUsO:import_tensor", &number, &handle, &size, &offset, &type, &dedicated,
                          &device, &driver, &kind, &image) ||
        ext_element_count(KP_I32, number, "memory: fd", &fd) < 0 ||
        ext_element_count(KP_U64, size, "memory: size", &out->size) < 0 ||
        ext_element_count(KP_U64, offset, "memory: offset", &out->offset) < 0 ||
        ext_element_count(KP_U32, type, "memory: memory_type", &out->memory_type) < 0 ||
        ext_external_handle(handle, "handle", KP_HANDLE_DMA_BUF, &out->type) < 0 ||
        read_uuid(device, out->device_uuid) < 0 || read_uuid(driver, out->driver_uuid) < 0 ||
        read_image(kind, image, out) < 0)
        return -1;
    out->fd = fd;
    out->dedicated = dedicated != 0;
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tensors
// ---------------------------------------------------------------------------------------------------------------------

PyObject *ext_external_exportable(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"shape", "dtype", "memory_type", "handle", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *shape, *dtype = NULL, *type = NULL;
    const char *handle = handles[KP_HANDLE_OPAQUE_FD];
    ext_making making = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO$s:exportable", names, &shape, &dtype, &type, &handle) ||
        ext_external_handle(handle, "handle", KP_HANDLE_DMA_BUF, &making.desc.exported) < 0 ||
        ext_making_read(m, shape, dtype, type, &making) < 0)
        return NULL;
    return ext_making_finish(ext_tensor_from_desc(m->ext, m->core, &making.desc), &making);
}

PyObject *ext_external_import(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"memory", "shape", "dtype", "memory_type", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *memory, *shape, *dtype = NULL, *type = NULL;
    kp_external_memory from = {0};
    ext_making making = {0};
    kp_tensor *handle;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:import_tensor", names, &memory, &shape, &dtype, &type) ||
        read_memory(m->ext, memory, &from) < 0 || ext_making_read(m, shape, dtype, type, &making) < 0)
        return NULL;
    kp_manager *manager = ext_core_use(m->ext, m->core);
    if (manager == NULL)
        return ext_making_finish(NULL, &making);
    PyThreadState *thread = ext_core_enter(m->core);
    kp_result result = kp_tensor_import(manager, &from, &making.desc, &handle);
    ext_core_leave(m->core, thread);
    return ext_making_finish(
        result == KP_OK ? ext_memory_wrap(m->ext, m->core, handle) : ext_error_raise(m->ext, result), &making);
}

PyObject *ext_external_import_image(ext_manager *m, PyObject *memory, const kp_image_desc *desc) {
    kp_external_memory from = {0};
    kp_image *handle;
    kp_manager *manager = read_memory(m->ext, memory, &from) == 0 ? ext_core_use(m->ext, m->core) : NULL;
    if (manager == NULL)
        return NULL;
    PyThreadState *thread = ext_core_enter(m->core);
    kp_result result = kp_image_import(manager, &from, desc, &handle);
    ext_core_leave(m->core, thread);
    return result == KP_OK ? ext_memory_wrap(m->ext, m->core, handle) : ext_error_raise(m->ext, result);
}

PyObject *ext_external_export(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    kp_external_memory memory;
    if (ext_memory_use(t) == NULL)
        return NULL;
    kp_result result = (t->image ? kp_image_export : kp_tensor_export)(t->handle, &memory);
    return result == KP_OK ? write_memory(t->ext, &memory) : ext_error_raise(t->ext, result);
}

int ext_external_init(kp_ext *ext, PyObject *module) {
    ext->external_type = PyStructSequence_NewType(&memory_desc);
    return ext->external_type != NULL ? PyModule_AddType(module, ext->external_type) : -1;
}
