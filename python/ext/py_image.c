// See ext.h. kp.Image. It is an ext_tensor, and has most of its methods from kp.Memory.
#include "ext.h"

const char *const ext_image_filters[2] = {"nearest", "linear"};               // by kp_filter
const char *const ext_image_wraps[4] = {"clamp", "repeat", "mirror", "zero"}; // by kp_wrap

static PyObject *image_width(PyObject *self, void *unused) {
    (void)unused;
    const ext_tensor *t = (const ext_tensor *)self;
    return PyLong_FromSsize_t(t->shape[t->ndim - 2]);
}

static PyObject *image_height(PyObject *self, void *unused) {
    (void)unused;
    const ext_tensor *t = (const ext_tensor *)self;
    return PyLong_FromSsize_t(t->ndim > 2 ? t->shape[t->ndim - 3] : 1);
}

static PyObject *image_depth(PyObject *self, void *unused) {
    (void)unused;
    const ext_tensor *t = (const ext_tensor *)self;
    return PyLong_FromSsize_t(t->ndim > 3 ? t->shape[0] : 1);
}

static PyObject *image_channels(PyObject *self, void *unused) {
    (void)unused;
    const ext_tensor *t = (const ext_tensor *)self;
    return PyLong_FromSsize_t(t->shape[t->ndim - 1]);
}

// 0 with an exception when it is not there any more.
static int describe(PyObject *self, kp_image_desc *out) {
    const ext_tensor *t = (const ext_tensor *)self;
    if (t->handle == NULL || !kp_memory_alive(t->handle)) {
        ext_error_format(t->ext, KP_ERROR_STATE, "the image is destroyed");
        return 0;
    }
    kp_result result = kp_image_describe(t->handle, out);
    if (result != KP_OK)
        ext_error_raise(t->ext, result);
    return result == KP_OK;
}

static PyObject *image_normalized(PyObject *self, void *unused) {
    (void)unused;
    kp_image_desc desc;
    return describe(self, &desc) ? PyBool_FromLong(desc.normalized) : NULL;
}

static PyObject *image_filter(PyObject *self, void *unused) {
    (void)unused;
    kp_image_desc desc;
    return describe(self, &desc) ? PyUnicode_FromString(ext_image_filters[desc.filter]) : NULL;
}

static PyObject *image_wrap(PyObject *self, void *unused) {
    (void)unused;
    kp_image_desc desc;
    return describe(self, &desc) ? PyUnicode_FromString(ext_image_wraps[desc.wrap]) : NULL;
}

static PyObject *image_repr(PyObject *self) {
    ext_tensor *t = (ext_tensor *)self;
    PyObject *shape = PyObject_GetAttrString(self, "shape");
    PyObject *name = PyObject_GetAttrString(t->ext->memory_type_members[t->memory_type], "name");
    PyObject *text = NULL;
    if (shape != NULL && name != NULL)
        text =
            PyUnicode_FromFormat("kp.Image(shape=%R, dtype=%s, memory_type=%U%s)", shape, ext_element_numpy(t->dtype),
                                 name, t->handle != NULL && kp_memory_alive(t->handle) ? "" : ", destroyed");
    Py_XDECREF(shape);
    Py_XDECREF(name);
    return text;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making
// ---------------------------------------------------------------------------------------------------------------------

static uint64_t count_of(const kp_image_desc *desc) {
    uint64_t rows = (uint64_t)(desc->height != 0 ? desc->height : 1) * (desc->depth != 0 ? desc->depth : 1);
    uint64_t row = (uint64_t)desc->width * (desc->channels != 0 ? desc->channels : 1);
    return rows != 0 && row > UINT64_MAX / rows ? UINT64_MAX : row * rows;
}

static PyObject *create(kp_ext *ext, ext_core *core, const kp_image_desc *desc) {
    kp_manager *manager = ext_core_use(ext, core);
    kp_image *handle;
    if (manager == NULL)
        return NULL;
    PyThreadState *thread = ext_core_enter(core);
    kp_result result = kp_image_create(manager, desc, &handle);
    ext_core_leave(core, thread);
    if (result == KP_ERROR_DEVICE_MEMORY && ext_spares_clear(core))
        return create(ext, core, desc);
    return result == KP_OK ? ext_tensor_wrap(ext, core, handle) : ext_error_raise(ext, result);
}

PyObject *ext_image_new(kp_ext *ext, ext_core *core, PyObject *object, int want, kp_image_desc *desc) {
    if (object == Py_None && want == (int)desc->dtype)
        return create(ext, core, desc);
    ext_data data;
    PyObject *image = NULL;
    Py_ssize_t shape[4];
    int ndim = 0;
    if (desc->depth != 0)
        shape[ndim++] = desc->depth;
    if (desc->height != 0)
        shape[ndim++] = desc->height;
    shape[ndim++] = desc->width;
    shape[ndim++] = desc->channels;
    if (ext_core_use(ext, core) == NULL || ext_shape_check(shape, ndim, true, object, "data") < 0 ||
        ext_data_read(object, want, EXT_DATA_CONVERT, "data", &data) < 0)
        return NULL;
    desc->dtype = data.dtype;
    desc->data = desc->memory_type != KP_MEMORY_STORAGE ? data.bytes : NULL;
    if (data.count != count_of(desc))
        PyErr_Format(PyExc_ValueError,
                     "data: has %zu elements, an image of %u x %u x %u pixels and %u channels has %llu", data.count,
                     desc->width, desc->height != 0 ? desc->height : 1, desc->depth != 0 ? desc->depth : 1,
                     desc->channels, (unsigned long long)count_of(desc));
    else
        image = create(ext, core, desc);
    ext_data_release(&data);
    return image;
}

PyDoc_STRVAR(image_doc,
             "Pixels with a device side, a Vulkan image, and a host side: rows of pixels of channels.\n\n"
             "Manager.image() and Manager.image_t() make them. data() is a flat NumPy array that views the host "
             "side\n"
             "without a copy; numpy.asarray(image) has the image's shape.");
static PyGetSetDef image_getset[] = {
    {"width", image_width, NULL, "Pixels of a row.", NULL},
    {"height", image_height, NULL, "Rows; 1 for a 1-D image.", NULL},
    {"depth", image_depth, NULL, "Slices; 1 for an image of fewer axes.", NULL},
    {"num_channels", image_channels, NULL, "1 to 4.", NULL},
    {"normalized", image_normalized, NULL, "Whether shaders see its integers as 0 to 1, or -1 to 1.", NULL},
    {"filter", image_filter, NULL, "How it is sampled between pixels: 'nearest' or 'linear'.", NULL},
    {"wrap", image_wrap, NULL, "How it is sampled beyond its edges: 'clamp', 'repeat', 'mirror' or 'zero'.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot image_slots[] = {
    {Py_tp_doc, EXT_SLOT(image_doc)},
    {Py_tp_repr, EXT_SLOT(image_repr)},
    {Py_tp_getset, image_getset},
    {0, NULL},
};
static PyType_Spec image_spec = {"kp.Image", sizeof(ext_tensor), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, image_slots};

int ext_image_init(kp_ext *ext, PyObject *module) {
    ext->image_type = ext_add_type(module, &image_spec, ext->memory_type);
    return ext->image_type != NULL ? 0 : -1;
}
