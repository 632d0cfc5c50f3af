// See objects.h. kp.Tensor.
//
// A tensor made by calling kp.Tensor(...) is classic (the 0.5 API): it has local data first, and a manager gives it
// device memory later. From then on its local data is the host side of that memory, under a kp_view, so it can be read
// whatever is destroyed.
#include "objects.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making
// ---------------------------------------------------------------------------------------------------------------------

// An empty one: the arguments are for __init__, which subclasses may replace.
static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    kp_ext *ext = ext_of_type(type);
    ext_tensor *t = ext != NULL ? ext_memory_allocate(ext, type, KP_F32, 0, KP_MEMORY_DEVICE) : NULL;
    if (t == NULL)
        return NULL;
    t->classic = true;
    t->host = ext_memory_host(NULL, NULL);
    if (t->host == NULL)
        Py_CLEAR(t);
    return (PyObject *)t;
}

// Local data of its own for an empty tensor that nobody has looked at. Releases `data`.
static int take(ext_tensor *t, ext_data *data, kp_memory_type memory_type) {
    if (!t->classic || t->count != 0 || t->core != NULL || t->host->references > 1) {
        ext_data_release(data);
        ext_error_format(t->ext, KP_ERROR_STATE, "the tensor has its data: __init__ is called once");
        return -1;
    }
    size_t bytes = data->count * sizeof(float);
    void *local = data->owned;
    if (local != NULL) {
        data->owned = NULL; // made for us: take it
    } else if ((local = malloc(bytes + 1)) != NULL) {
        if (bytes > 0)
            memcpy(local, data->bytes, bytes);
    }
    ext_host *host = local != NULL ? ext_memory_host(local, NULL) : (ext_host *)PyErr_NoMemory();
    size_t count = data->count;
    if (host != NULL) {
        ext_memory_drop_host(t->host);
        t->host = host;
        ext_memory_set_count(t, (Py_ssize_t)count);
        t->memory_type = memory_type;
    }
    ext_data_release(data); // may run code of the user's: last
    return host != NULL ? 0 : -1;
}

static int tensor_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"data", "tensor_type", NULL};
    PyObject *object, *type_object = NULL;
    kp_memory_type memory_type = KP_MEMORY_DEVICE;
    ext_data data;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:Tensor", names, &object, &type_object) ||
        ext_memory_type(type_object, &memory_type) < 0 ||
        ext_data_read(object, KP_F32, EXT_DATA_CONVERT, "data", &data) < 0)
        return -1;
    return take((ext_tensor *)self, &data, memory_type);
}

enum { QUICK_BYTES = 1 << 16 }; // below it, giving the GIL away costs more than it frees

int ext_tensor_handle(kp_ext *ext, ext_core *core, const kp_tensor_desc *desc, kp_tensor **out) {
    kp_manager *manager = ext_core_use(ext, core);
    if (manager == NULL)
        return -1;
    kp_result result;
    if (desc->ndim == 0 && desc->count * kp_dtype_size(desc->dtype) < QUICK_BYTES) {
        result = kp_tensor_create(manager, desc, out);
    } else {
        PyThreadState *thread = ext_core_enter(core);
        result = kp_tensor_create(manager, desc, out);
        ext_core_leave(core, thread);
    }
    if (result == KP_ERROR_DEVICE_MEMORY && ext_spares_clear(core))
        return ext_tensor_handle(ext, core, desc, out);
    return ext_error_check(ext, result);
}

PyObject *ext_tensor_from_desc(kp_ext *ext, ext_core *core, const kp_tensor_desc *desc) {
    kp_tensor *handle;
    return ext_tensor_handle(ext, core, desc, &handle) == 0 ? ext_memory_wrap(ext, core, handle) : NULL;
}

PyObject *ext_tensor_new(kp_ext *ext, ext_core *core, const ext_data *data, const kp_tensor_desc *kind) {
    kp_tensor_desc desc = *kind;
    desc.dtype = data->dtype;
    desc.count = data->count;
    // A storage tensor has no host side: like Kompute, it takes from the data dtype and size alone.
    desc.data = kind->memory_type != KP_MEMORY_STORAGE ? data->bytes : NULL;
    return ext_tensor_from_desc(ext, core, &desc);
}

// The local data moves to the host side of `handle`, where there is one.
static int adopt(ext_tensor *t, ext_core *core, kp_tensor *handle) {
    kp_view *view = NULL;
    ext_host *host = NULL;
    if (t->memory_type != KP_MEMORY_STORAGE && t->count > 0) {
        kp_result result = kp_view_create(handle, &view);
        if (result != KP_OK)
            ext_error_raise(t->ext, result);
        else
            host = ext_memory_host(NULL, view);
        if (host == NULL) {
            kp_tensor_destroy(handle);
            return -1;
        }
    }
    if (host != NULL) {
        ext_memory_drop_host(t->host);
        t->host = host;
    }
    ext_memory_set_handle(t, handle, core);
    return 0;
}

int ext_tensor_create(ext_tensor *t, ext_core *core, Py_ssize_t position) {
    if (ext_memory_alive(t)) {
        if (t->core == core)
            return 0;
        ext_error_format(t->ext, KP_ERROR_ARGUMENT, "tensors[%zd]: belongs to another manager", position);
        return -1;
    }
    if (t->pins > 0) {
        ext_error_format(t->ext, KP_ERROR_STATE, "tensors[%zd]: is in use by another thread", position);
        return -1;
    }
    if (!t->classic) {
        ext_error_format(t->ext, KP_ERROR_STATE, "tensors[%zd]: is destroyed", position);
        return -1;
    }
    if (t->host->references > 1) {
        PyErr_Format(PyExc_BufferError,
                     "tensors[%zd]: its local data cannot move to the device while an array or memoryview shows it",
                     position);
        return -1;
    }
    kp_tensor *handle;
    const kp_tensor_desc desc = {.dtype = t->dtype,
                                 .count = (uint64_t)t->count,
                                 .data = t->memory_type != KP_MEMORY_STORAGE ? t->host->data : NULL,
                                 .memory_type = t->memory_type};
    t->host->references++; // nobody frees or moves it while the GIL is away
    int result = ext_tensor_handle(t->ext, core, &desc, &handle);
    ext_memory_drop_host(t->host);
    if (result == 0 && (ext_memory_alive(t) || t->pins > 0 || t->host->references > 1)) { // another thread was quicker
        kp_tensor_destroy(handle);
        return ext_tensor_create(t, core, position);
    }
    return result == 0 ? adopt(t, core, handle) : -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements
// ---------------------------------------------------------------------------------------------------------------------

static Py_ssize_t tensor_length(PyObject *self) { return ((ext_tensor *)self)->shape[0]; }

// A part of the NumPy array that shows the host side.
static PyObject *part_of(ext_tensor *t, PyObject *key) {
    PyObject *array = key != NULL ? PyObject_CallMethod((PyObject *)t, "data", NULL) : NULL;
    PyObject *flat = array != NULL ? PyObject_CallMethod(array, "reshape", "i", -1) : NULL;
    PyObject *part = flat != NULL ? PyObject_GetItem(flat, key) : NULL;
    Py_XDECREF(array);
    Py_XDECREF(flat);
    Py_XDECREF(key);
    return part;
}

static PyObject *get(ext_tensor *t, Py_ssize_t index) {
    if (t->numpy != NULL)
        return part_of(t, PyLong_FromSsize_t(index));
    const char *data = ext_memory_elements(t);
    return data != NULL ? ext_element_get(t->dtype, data + index * t->stride) : NULL;
}

static bool in_range(const ext_tensor *t, Py_ssize_t index, const char *message) {
    if (index >= 0 && index < t->shape[0])
        return true;
    PyErr_SetString(PyExc_IndexError, message);
    return false;
}

static PyObject *tensor_item(PyObject *self, Py_ssize_t index) {
    ext_tensor *t = (ext_tensor *)self;
    if (!in_range(t, index, "tensor index out of range"))
        return NULL;
    if (t->ndim == 1)
        return get(t, index);
    PyObject *key = PyLong_FromSsize_t(index);
    PyObject *row = key != NULL ? ext_view_take(t, key) : NULL;
    Py_XDECREF(key);
    return row;
}

static int set_part(ext_tensor *t, PyObject *key, PyObject *value) {
    PyObject *array = key != NULL ? PyObject_CallMethod((PyObject *)t, "data", NULL) : NULL;
    int result = array != NULL ? PyObject_SetItem(array, key, value) : -1;
    Py_XDECREF(array);
    Py_XDECREF(key);
    return result;
}

// Element `index` from `value`. Converting may run code of the user's, so it is done before the data is looked up.
static int set(ext_tensor *t, Py_ssize_t index, PyObject *value) {
    char element[8];
    if (t->numpy != NULL)
        return set_part(t, PyLong_FromSsize_t(index), value);
    if (ext_element_set(t->dtype, element, value) < 0)
        return -1;
    char *data = ext_memory_elements(t);
    if (data == NULL)
        return -1;
    memcpy(data + index * t->stride, element, (size_t)t->stride);
    return 0;
}

// Every `step`th element from `start` on, as list.
PyObject *ext_tensor_list(ext_tensor *t, Py_ssize_t start, Py_ssize_t step, Py_ssize_t count) {
    const char *data = ext_memory_elements(t);
    PyObject *list = data != NULL ? PyList_New(count) : NULL;
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *number = ext_element_get(t->dtype, data + (start + i * step) * t->stride);
        if (number == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, number);
    }
    return list;
}

static int bad_index(PyObject *key) {
    PyErr_Format(PyExc_TypeError, "tensor indices must be integers or slices, not %R", Py_TYPE(key));
    return -1;
}

static bool is_index(PyObject *key) { return PyIndex_Check(key) && !PyBool_Check(key); }

// An index, negative ones counted from the end. -1 with an exception.
static Py_ssize_t index_of(ext_tensor *t, PyObject *key, const char *message) {
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred())
        return -1;
    if (index < 0)
        index += t->shape[0];
    return in_range(t, index, message) ? index : -1;
}

static PyObject *tensor_subscript(PyObject *self, PyObject *key) {
    ext_tensor *t = (ext_tensor *)self;
    if (is_index(key)) {
        Py_ssize_t index = index_of(t, key, "tensor index out of range");
        return index >= 0 ? tensor_item(self, index) : NULL;
    }
    if (!t->classic && PySlice_Check(key))
        return ext_view_take(t, key);
    Py_ssize_t start, stop, step;
    if (!PySlice_Check(key)) {
        bad_index(key);
        return NULL;
    }
    if (PySlice_Unpack(key, &start, &stop, &step) < 0)
        return NULL;
    Py_ssize_t count = PySlice_AdjustIndices(t->count, &start, &stop, step);
    return ext_tensor_list(t, start, step, count);
}

static int set_slice(ext_tensor *t, PyObject *key, PyObject *value) {
    Py_ssize_t start, stop, step;
    if (t->ndim > 1) {
        PyErr_SetString(PyExc_TypeError, "rows of a tensor are assigned through data(): t.data()[0:2] = ...");
        return -1;
    }
    if (t->numpy != NULL)
        return set_part(t, Py_NewRef(key), value);
    if (PySlice_Unpack(key, &start, &stop, &step) < 0)
        return -1;
    Py_ssize_t count = PySlice_AdjustIndices(t->count, &start, &stop, step);
    ext_data data;
    if (ext_data_read(value, (int)t->dtype, EXT_DATA_CONVERT, "data", &data) < 0)
        return -1;
    // The value may be this tensor.
    char *to = ext_data_own(&data, data.count * (size_t)t->stride) == 0 ? ext_memory_elements(t) : NULL;
    int result = to != NULL ? 0 : -1;
    if (result == 0 && data.count != (size_t)count) {
        PyErr_Format(PyExc_ValueError, "a slice of %zd elements cannot take %zu: a tensor keeps its size", count,
                     data.count);
        result = -1;
    }
    for (Py_ssize_t i = 0; result == 0 && i < count; i++)
        memcpy(to + (start + i * step) * t->stride, (const char *)data.bytes + i * t->stride, (size_t)t->stride);
    ext_data_release(&data);
    return result;
}

static int tensor_assign(PyObject *self, PyObject *key, PyObject *value) {
    ext_tensor *t = (ext_tensor *)self;
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted: a tensor keeps its size");
        return -1;
    }
    if (PySlice_Check(key))
        return set_slice(t, key, value);
    if (!is_index(key))
        return bad_index(key);
    Py_ssize_t index = index_of(t, key, "tensor assignment index out of range");
    if (index >= 0 && t->ndim > 1) {
        PyErr_SetString(PyExc_TypeError, "rows of a tensor are assigned through data(): t.data()[0] = ...");
        return -1;
    }
    return index >= 0 ? set(t, index, value) : -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Text
// ---------------------------------------------------------------------------------------------------------------------

// The values, the first few of many.
static PyObject *values_text(ext_tensor *t) {
    enum { FEW = 8, HEAD = 6 };
    if (!t->classic && t->memory_type == KP_MEMORY_STORAGE && ext_memory_alive(t))
        return PyUnicode_FromFormat("<%zd elements on the device>", t->count);
    if (!t->classic && !ext_memory_alive(t))
        return PyUnicode_FromFormat("<%zd elements, destroyed>", t->count);
    if (t->count <= FEW) {
        PyObject *list = ext_tensor_list(t, 0, 1, t->count);
        PyObject *text = list != NULL ? PyObject_Repr(list) : NULL;
        Py_XDECREF(list);
        return text;
    }
    PyObject *head = ext_tensor_list(t, 0, 1, HEAD);
    PyObject *text = head != NULL ? PyObject_Repr(head) : NULL;
    PyObject *cut = text != NULL ? PyUnicode_Substring(text, 0, PyUnicode_GetLength(text) - 1) : NULL;
    PyObject *last = cut != NULL ? get(t, t->count - 1) : NULL;
    PyObject *all = last != NULL ? PyUnicode_FromFormat("%U, ..., %R]", cut, last) : NULL;
    Py_XDECREF(head);
    Py_XDECREF(text);
    Py_XDECREF(cut);
    Py_XDECREF(last);
    return all;
}

PyObject *ext_tensor_dtype_text(const ext_tensor *t) {
    if (t->numpy == NULL)
        return PyUnicode_FromString(ext_element_numpy(t->dtype));
    PyObject *names = PyObject_GetAttrString(t->numpy, "names"), *comma = PyUnicode_FromString(", ");
    PyObject *listed = names != NULL && comma != NULL ? PyUnicode_Join(comma, names) : NULL;
    PyObject *text = listed != NULL ? PyUnicode_FromFormat("structs of %zd bytes (%U)", t->stride, listed) : NULL;
    Py_XDECREF(names);
    Py_XDECREF(comma);
    Py_XDECREF(listed);
    return text;
}

static PyObject *tensor_repr(PyObject *self) {
    ext_tensor *t = (ext_tensor *)self;
    if (t->numpy != NULL)
        return ext_struct_repr(t);
    PyObject *values = values_text(t);
    PyObject *name = PyObject_GetAttrString(t->ext->memory_type_members[t->memory_type], "name");
    PyObject *text = NULL;
    PyObject *shape = t->ndim > 1 ? ext_axes_tuple(t) : NULL, *dtype = ext_tensor_dtype_text(t);
    if (values != NULL && name != NULL && shape != NULL && dtype != NULL)
        text = PyUnicode_FromFormat("kp.Tensor(%U, shape=%R, dtype=%U, memory_type=%U)", values, shape, dtype, name);
    else if (values != NULL && name != NULL && t->ndim == 1 && dtype != NULL)
        text = PyUnicode_FromFormat("kp.Tensor(%U, size=%zd, dtype=%U, memory_type=%U)", values, t->count, dtype, name);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    Py_XDECREF(values);
    Py_XDECREF(name);
    return text;
}

// ---------------------------------------------------------------------------------------------------------------------
// The rest
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *tensor_map(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    return ext_memory_use(t) != NULL ? Py_NewRef(Py_None) : NULL;
}

PyDoc_STRVAR(tensor_doc,
             "Tensor(data, tensor_type=kp.MemoryTypes.device)\n--\n\n"
             "An array with a device side and a host side.\n\n"
             "Called directly, it is float32 local data without a manager (the 0.5 API): give it device memory with\n"
             "Manager.eval_tensor_create_def([tensor]). data is any array (converted to float32 by value) or "
             "sequence of\n"
             "numbers, nested ones flattened. data() of such a tensor is a list; len(), indexing, "
             "iteration and slices are a\n"
             "list's, except that the size never changes.\n\n"
             "Manager.tensor() and Manager.tensor_t() make tensors whose data() is a NumPy array.\n\n"
             "Every tensor with a host side offers a writable buffer (memoryview, numpy.asarray) without a copy, "
             "which stays\n"
             "valid whatever is destroyed.\n\n"
             "TypeError: data is not numbers. ValueError: nested sequences of different lengths.");
PyDoc_STRVAR(tensor_type_doc, "tensor_type($self, /)\n--\n\n"
                              "Older name of memory_type().");
PyDoc_STRVAR(reshape_doc,
             "reshape($self, /, *shape)\n--\n\n"
             "The same memory in another shape, on both sides: a view, which keeps the contents. One axis may be\n"
             "-1: what is left.\n\n"
             "ValueError: another number of elements. StateError: no device memory.");
PyDoc_STRVAR(map_from_doc, "map_data_from_host($self, /)\n--\n\n"
                           "Local data from host-visible device memory. They are one here: nothing is left to do.\n\n"
                           "StateError: no device memory.");
PyDoc_STRVAR(map_into_doc, "map_data_into_host($self, /)\n--\n\n"
                           "Local data into host-visible device memory. They are one here: nothing is left to do.\n\n"
                           "StateError: no device memory.");

PyDoc_STRVAR(dlpack_doc, "__dlpack__($self, /, **options)\n--\n\n"
                         "The local data as a DLPack capsule, without a copy; options as NumPy's arrays take them.\n\n"
                         "StateError: a storage tensor, or a destroyed one.");
PyDoc_STRVAR(dlpack_device_doc, "__dlpack_device__($self, /)\n--\n\n"
                                "DLPack's name for where the local data is: the CPU, (1, 0).");
PyDoc_STRVAR(
    upload_doc,
    "upload($self, array, /)\n--\n\n"
    "An array to the device side, as many elements as the tensor has, without the local data;\n"
    "returns when it is there. Faster than the local data and a sync for large arrays. A float32 tensor takes numbers\n"
    "of any type, by value; others take arrays of their own dtype, or lists of numbers.\n\n"
    "ValueError: another number of elements; TypeError: an array of another dtype; OverflowError: a number that\n"
    "does not fit; StateError.");
PyDoc_STRVAR(download_doc, "download($self, out=None)\n--\n\n"
                           "The device side as a NumPy array of the tensor's shape, or in `out`, a writable array of\n"
                           "as many elements, which is returned; behind all work that was submitted before.\n\n"
                           "ValueError, TypeError: `out` does not fit; StateError.");
PyDoc_STRVAR(html_doc, "_repr_html_($self, /)\n--\n\n"
                       "The values, for notebooks.");

static PyMethodDef tensor_methods[] = {
    {"tensor_type", ext_memory_type_method, METH_NOARGS, tensor_type_doc},
    {"reshape", ext_view_reshape, METH_VARARGS, reshape_doc},
    {"upload", ext_transfer_upload, METH_O, upload_doc},
    {"download", (PyCFunction)(void (*)(void))ext_transfer_download, METH_VARARGS | METH_KEYWORDS, download_doc},
    {"map_data_from_host", tensor_map, METH_NOARGS, map_from_doc},
    {"map_data_into_host", tensor_map, METH_NOARGS, map_into_doc},
    {"__dlpack__", (PyCFunction)(void (*)(void))ext_exchange_dlpack, METH_VARARGS | METH_KEYWORDS, dlpack_doc},
    {"__dlpack_device__", ext_exchange_dlpack_device, METH_NOARGS, dlpack_device_doc},
    {"_repr_html_", ext_exchange_html, METH_NOARGS, html_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tensor_slots[] = {
    {Py_tp_iter, EXT_SLOT(PySeqIter_New)},
    {Py_tp_doc, EXT_SLOT(tensor_doc)},
    {Py_tp_new, EXT_SLOT(tensor_new)},
    {Py_tp_init, EXT_SLOT(tensor_init)},
    {Py_tp_repr, EXT_SLOT(tensor_repr)},
    {Py_tp_methods, tensor_methods},
    {Py_sq_length, EXT_SLOT(tensor_length)},
    {Py_sq_item, EXT_SLOT(tensor_item)},
    {Py_mp_length, EXT_SLOT(tensor_length)},
    {Py_mp_subscript, EXT_SLOT(tensor_subscript)},
    {Py_mp_ass_subscript, EXT_SLOT(tensor_assign)},
    {0, NULL},
};
static PyType_Spec tensor_spec = {"kp.Tensor", sizeof(ext_tensor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                  tensor_slots};

int ext_tensor_init(kp_ext *ext, PyObject *module) {
    ext->tensor_type = ext_add_type(module, &tensor_spec, ext->memory_type);
    return ext->tensor_type != NULL ? 0 : -1;
}
