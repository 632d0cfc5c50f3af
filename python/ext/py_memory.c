// See objects.h. kp.Memory, which has all that tensors and images share: a handle of kp's, and a host side.
//
// A host side is read where it lies, and answers StateError once it is gone; a classic tensor's (py_tensor.c) is held
// by the tensor. Each export of the buffer holds the host side on its own.
#include "objects.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Host sides
// ---------------------------------------------------------------------------------------------------------------------

static char nothing[64]; // the data of empty tensors

ext_host *ext_memory_host(void *owned, kp_view *view) {
    ext_host *host = malloc(sizeof *host);
    if (host == NULL) {
        free(owned);
        kp_view_destroy(view);
        PyErr_NoMemory();
        return NULL;
    }
    void *data = view != NULL ? kp_view_data(view) : owned;
    *host = (ext_host){1, data != NULL ? data : nothing, owned, view, ext_core_process()};
    return host;
}

void ext_memory_drop_host(ext_host *host) {
    if (host == NULL || --host->references > 0)
        return;
    if (!ext_core_foreign(host->process))
        kp_view_destroy(host->view);
    free(host->owned);
    free(host);
}

static void destroy(void *handle) { kp_tensor_destroy(handle); }

bool ext_memory_alive(const ext_tensor *t) {
    return t->handle != NULL && !t->doomed && ext_core_usable(t->core) && kp_memory_alive(t->handle);
}

static const char *kind_of(const ext_tensor *t) { return t->image ? "image" : "tensor"; }

kp_memory *ext_memory_use(ext_tensor *t) {
    if (t->handle != NULL && !t->doomed)
        return ext_core_use(t->ext, t->core) != NULL ? t->handle : NULL;
    ext_error_format(t->ext, KP_ERROR_STATE, "the %s %s", kind_of(t),
                     t->handle == NULL && t->classic
                         ? "has no device memory; call manager.eval_tensor_create_def([tensor]) first"
                         : "is destroyed");
    return NULL;
}

// NULL with StateError that tells what is missing.
static PyObject *no_host(ext_tensor *t) {
    if (ext_memory_use(t) == NULL)
        return NULL;
    return ext_error_format(t->ext, KP_ERROR_STATE,
                            "the %s's memory type is storage: it has no host side; copy it to another tensor",
                            kind_of(t));
}

// A host side that is not there yet, or the exception that says why there is none.
static void *make_host(ext_tensor *t) {
    kp_view *view;
    int result = ext_error_check(t->ext, kp_view_create(t->handle, &view));
    if (result < 0 && ext_spares_relieve(t->ext, t->core))
        result = ext_error_check(t->ext, kp_view_create(t->handle, &view));
    if (result < 0)
        return NULL;
    kp_view_destroy(view);
    return kp_tensor_data(t->handle);
}

char *ext_memory_elements(ext_tensor *t) {
    if (t->classic)
        return t->host->data;
    void *data = ext_memory_alive(t) ? kp_tensor_data(t->handle) : NULL;
    if (data != NULL)
        return data;
    if (!ext_memory_alive(t) || t->memory_type == KP_MEMORY_STORAGE)
        no_host(t);
    else
        data = t->count == 0 ? nothing : make_host(t);
    return data;
}

// A hold on the host side of its own, or NULL with an exception.
static ext_host *hold_host(ext_tensor *t) {
    if (t->classic) {
        t->host->references++;
        return t->host;
    }
    if (ext_memory_elements(t) == NULL)
        return NULL;
    if (t->count == 0)
        return ext_memory_host(NULL, NULL);
    kp_view *view;
    kp_result result = kp_view_create(t->handle, &view);
    if (ext_error_check(t->ext, result) < 0)
        return NULL;
    return ext_memory_host(NULL, view);
}

// ---------------------------------------------------------------------------------------------------------------------
// Making
// ---------------------------------------------------------------------------------------------------------------------

int ext_memory_type(PyObject *object, kp_memory_type *out) {
    if (object == NULL)
        return 0;
    if (!PyLong_Check(object) || PyBool_Check(object)) {
        PyErr_Format(PyExc_TypeError,
                     "memory type: must be one of kp.MemoryTypes, such as kp.MemoryTypes.device, not %R",
                     Py_TYPE(object));
        return -1;
    }
    long number = PyLong_AsLong(object);
    if (number < 0 || number >= EXT_MEMORY_TYPES) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "memory type: %R is none of kp.MemoryTypes", object);
        return -1;
    }
    *out = (kp_memory_type)number;
    return 0;
}

void ext_memory_set_count(ext_tensor *t, Py_ssize_t count) {
    t->count = t->shape[0] = count;
    t->strides[0] = t->stride;
    t->ndim = 1;
}

ext_tensor *ext_memory_allocate(kp_ext *ext, PyTypeObject *type, kp_dtype dtype, size_t count,
                                kp_memory_type memory_type) {
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    ext_tensor *t = (ext_tensor *)alloc(type, 0);
    if (t == NULL)
        return NULL;
    t->ext = ext;
    t->serial = ++ext->serials;
    t->stride = (Py_ssize_t)kp_dtype_size(dtype);
    ext_memory_set_count(t, (Py_ssize_t)count);
    t->dtype = dtype;
    t->memory_type = memory_type;
    return t;
}

void ext_memory_set_handle(ext_tensor *t, kp_tensor *handle, ext_core *core) {
    kp_tensor *old = t->handle;
    ext_core *old_core = t->core;
    t->handle = handle;
    t->core = core != NULL ? ext_core_hold(core) : NULL;
    t->doomed = false;
    t->serial = ++t->ext->serials;
    if (old_core != NULL)
        ext_core_release(old_core, destroy, old);
    ext_core_drop(old_core);
}

static void memory_dealloc(PyObject *self) {
    ext_tensor *t = (ext_tensor *)self;
    ext_memory_drop_host(t->host);
    if (t->core != NULL)
        ext_core_release(t->core, destroy, t->handle);
    ext_core_drop(t->core);
    Py_XDECREF(t->numpy);
    Py_XDECREF(t->format);
    ext_free(self);
    ext_borrow_return();
}

PyObject *ext_memory_wrap(kp_ext *ext, ext_core *core, kp_memory *handle) {
    bool image = kp_memory_is_image(handle);
    ext_tensor *t = ext_memory_allocate(ext, image ? ext->image_type : ext->tensor_type, kp_tensor_dtype(handle),
                                        (size_t)kp_tensor_count(handle), kp_tensor_memory_type(handle));
    if (t == NULL) {
        kp_memory_destroy(handle);
        return NULL;
    }
    uint64_t shape[KP_MAX_DIMS];
    t->ndim = (int)kp_tensor_shape(handle, shape);
    if (!image)
        t->stride = (Py_ssize_t)kp_tensor_item_size(handle);
    Py_ssize_t stride = t->stride;
    for (int i = t->ndim - 1; i >= 0; i--) {
        t->shape[i] = (Py_ssize_t)shape[i];
        t->strides[i] = stride;
        stride *= t->shape[i];
    }
    t->image = image;
    t->handle = handle;
    t->core = ext_core_hold(core);
    return (PyObject *)t;
}

// ---------------------------------------------------------------------------------------------------------------------
// Data
// ---------------------------------------------------------------------------------------------------------------------

static int memory_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    ext_tensor *t = (ext_tensor *)self;
    view->obj = NULL;
    ext_host *host = hold_host(t);
    if (host == NULL)
        return -1;
    view->buf = host->data;
    view->obj = Py_NewRef(self);
    view->len = t->count * t->stride;
    view->readonly = 0;
    view->itemsize = t->stride;
    const char *format = t->format != NULL ? PyBytes_AsString(t->format) : ext_element_format(t->dtype);
    view->format = (flags & PyBUF_FORMAT) != 0 ? (char *)(uintptr_t)format : NULL;
    view->ndim = (flags & PyBUF_ND) != 0 ? t->ndim : 1;
    view->shape = (flags & PyBUF_ND) != 0 ? t->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? t->strides : NULL;
    view->suboffsets = NULL;
    view->internal = host;
    return 0;
}

static void memory_releasebuffer(PyObject *self, Py_buffer *view) {
    (void)self;
    ext_memory_drop_host(view->internal);
}

// numpy.ndarray, and the dtype; imported when an array is first asked for. -1 with an exception.
static int need_numpy(kp_ext *ext, kp_dtype dtype) {
    if (ext->make_array != NULL && ext->numpy_dtypes[dtype] != NULL)
        return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return -1;
    PyObject *make_array = PyObject_GetAttrString(numpy, "ndarray");
    PyObject *made = make_array != NULL ? PyObject_CallMethod(numpy, "dtype", "s", ext_element_numpy(dtype)) : NULL;
    Py_DECREF(numpy);
    if (make_array == NULL || made == NULL) {
        Py_XDECREF(make_array);
        Py_XDECREF(made);
        return -1;
    }
    EXT_SET(ext->make_array, make_array);
    EXT_SET(ext->numpy_dtypes[dtype], made);
    return 0;
}

static PyObject *memory_shape(PyObject *self, void *unused) {
    (void)unused;
    return ext_axes_tuple((ext_tensor *)self);
}

static PyObject *memory_data(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    if (t->classic)
        return ext_tensor_list(t, 0, 1, t->count);
    if (ext_memory_elements(t) == NULL || need_numpy(t->ext, t->dtype) < 0)
        return NULL;
    PyObject *dtype = t->numpy != NULL ? t->numpy : t->ext->numpy_dtypes[t->dtype];
    PyObject *shape = t->image ? Py_BuildValue("(n)", t->count) : ext_axes_tuple(t);
    PyObject *side = shape != NULL ? ext_host_side_new(t->ext, self) : NULL;
    PyObject *array = side != NULL ? PyObject_CallFunctionObjArgs(t->ext->make_array, shape, dtype, side, NULL) : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(side);
    return array;
}

static PyObject *memory_set_data(PyObject *self, PyObject *object) {
    ext_tensor *t = (ext_tensor *)self;
    ext_data data;
    if (ext_axes_fits(t, object, "data") < 0)
        return NULL;
    if (t->numpy != NULL)
        return ext_struct_assign(t, object);
    if (ext_data_read(object, (int)t->dtype, EXT_DATA_CONVERT, "data", &data) < 0)
        return NULL;
    char *to = NULL;
    if (data.count != (size_t)t->count)
        PyErr_Format(PyExc_ValueError, "data: has %zu elements, the %s has %zd: %s keeps its size", data.count,
                     kind_of(t), t->count, t->image ? "an image" : "a tensor");
    else
        to = ext_memory_elements(t);
    if (to != NULL)
        memmove(to, data.bytes != NULL ? data.bytes : to, (size_t)(t->count * t->stride));
    ext_data_release(&data);
    return to != NULL ? Py_NewRef(Py_None) : NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// The rest
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *memory_size(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromSsize_t(((ext_tensor *)self)->count);
}

PyObject *ext_memory_type_method(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    return Py_NewRef(t->ext->memory_type_members[t->memory_type]);
}

static PyObject *memory_data_type(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    return Py_NewRef(t->ext->dtype_members[t->dtype]);
}

static PyObject *memory_is_init(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(ext_memory_alive((ext_tensor *)self));
}

static PyObject *memory_destroy(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    if (t->pins > 0)
        t->doomed = t->handle != NULL;
    else if (t->handle != NULL)
        ext_memory_set_handle(t, NULL, NULL);
    Py_RETURN_NONE;
}

static PyObject *memory_manager(PyObject *self, void *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    return t->core != NULL ? ext_manager_of(t->ext, t->core) : Py_NewRef(Py_None);
}

static PyObject *memory_shares_array(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((ext_tensor *)self)->borrowed);
}

static PyObject *memory_dtype(PyObject *self, void *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    if (t->numpy != NULL)
        return Py_NewRef(t->numpy);
    return need_numpy(t->ext, t->dtype) == 0 ? Py_NewRef(t->ext->numpy_dtypes[t->dtype]) : NULL;
}

PyDoc_STRVAR(data_doc,
             "data($self, /)\n--\n\n"
             "The host side: a flat NumPy array that views it without a copy, or, for a tensor made by calling\n"
             "Tensor(...), a new list of floats.\n\n"
             "StateError: the tensor is destroyed, or its memory type is storage.");

PyDoc_STRVAR(set_data_doc, "set_data($self, data, /)\n--\n\n"
                           "Replaces the host side. data is as in the constructor.\n\n"
                           "ValueError: another size.");

PyDoc_STRVAR(size_doc, "size($self, /)\n--\n\n"
                       "Number of elements.");

PyDoc_STRVAR(memory_type_doc, "memory_type($self, /)\n--\n\n"
                              "One of MemoryTypes.");

PyDoc_STRVAR(data_type_doc, "data_type($self, /)\n--\n\n"
                            "One of DataTypes.");

PyDoc_STRVAR(is_init_doc, "is_init($self, /)\n--\n\n"
                          "Whether device memory exists.");

PyDoc_STRVAR(destroy_doc, "destroy($self, /)\n--\n\n"
                          "Frees the device memory; work in flight is safe. Sequences that recorded the tensor answer\n"
                          "StateError from now on. Calling it again does nothing.");

PyDoc_STRVAR(vulkan_doc,
             "vulkan($self, /)\n--\n\n"
             "Vulkan's handles as numbers, in a dict: of a tensor buffer, offset, size, memory, memory_offset, "
             "of an image\n"
             "image, view, format, layout. Valid until it is destroyed.");

PyDoc_STRVAR(export_doc,
             "export($self, /)\n--\n\n"
             "A new file descriptor for its memory, yours to close, with all that another process, manager or "
             "library has to\n"
             "know: a kp.ExternalMemory, for Manager.import_tensor() or import_image().\n\n"
             "StateError: a tensor that Manager.exportable() did not make, an image without exported=True.");

PyDoc_STRVAR(array_doc, "__array__($self, /, dtype=None, copy=None)\n--\n\n"
                        "The host side as a NumPy array, without a copy where dtype and copy allow that.\n\n"
                        "StateError: a storage tensor, or a destroyed one.");

static PyMethodDef memory_methods[] = {
    {"data", memory_data, METH_NOARGS, data_doc},
    {"set_data", memory_set_data, METH_O, set_data_doc},
    {"size", memory_size, METH_NOARGS, size_doc},
    {"memory_type", ext_memory_type_method, METH_NOARGS, memory_type_doc},
    {"data_type", memory_data_type, METH_NOARGS, data_type_doc},
    {"is_init", memory_is_init, METH_NOARGS, is_init_doc},
    {"destroy", memory_destroy, METH_NOARGS, destroy_doc},
    {"vulkan", ext_native_memory, METH_NOARGS, vulkan_doc},
    {"export", ext_external_export, METH_NOARGS, export_doc},
    {"__array__", (PyCFunction)(void (*)(void))ext_exchange_array, METH_VARARGS | METH_KEYWORDS, array_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef memory_getset[] = {
    {"dtype", memory_dtype, NULL, "The NumPy dtype of an element, structured for a tensor of structs.", NULL},
    {"manager", memory_manager, NULL, "The Manager that holds its device memory; None when there is none.", NULL},
    {"shares_array", memory_shares_array, NULL,
     "Whether its host side is an array's own memory, as Manager.tensor_t(copy=False) has it where that can be.", NULL},
    {"shape", memory_shape, NULL, "The axes, as NumPy has them: rows, ..., and of an image the channels last.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static Py_ssize_t memory_length(PyObject *self) { return ((ext_tensor *)self)->count; }

PyDoc_STRVAR(memory_doc, "What algorithms bind and ops work on: the base of Tensor and Image.");

static PyType_Slot memory_slots[] = {
    {Py_tp_doc, EXT_SLOT(memory_doc)},
    {Py_tp_dealloc, EXT_SLOT(memory_dealloc)},
    {Py_tp_methods, memory_methods},
    {Py_tp_getset, memory_getset},
    {Py_sq_length, EXT_SLOT(memory_length)},
    {Py_bf_getbuffer, EXT_SLOT(memory_getbuffer)},
    {Py_bf_releasebuffer, EXT_SLOT(memory_releasebuffer)},
    {0, NULL},
};

static PyType_Spec memory_spec = {"kp.Memory", sizeof(ext_tensor), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  memory_slots};

int ext_memory_init(kp_ext *ext, PyObject *module) {
    ext->memory_type = ext_add_type(module, &memory_spec, NULL);
    return ext->memory_type != NULL ? 0 : -1;
}
