// See objects.h. kp.Image. It is an ext_tensor, and has most of its methods from kp.Memory.
#include "objects.h"

#include <string.h>

static const char *const filters[2] = {"nearest", "linear"}; // by kp_filter
static const char *const modes[4] = {"clamp_to_edge", "repeat", "mirrored_repeat",
                                     "clamp_to_border"}; // by kp_address_mode

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
    return describe(self, &desc) ? PyUnicode_FromString(filters[desc.filter]) : NULL;
}

static PyObject *image_address_mode(PyObject *self, void *unused) {
    (void)unused;
    kp_image_desc desc;
    return describe(self, &desc) ? PyUnicode_FromString(modes[desc.address_mode]) : NULL;
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
    return result == KP_OK ? ext_memory_wrap(ext, core, handle) : ext_error_raise(ext, result);
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
    if (ext_core_use(ext, core) == NULL || ext_axes_check(shape, ndim, true, object, "data") < 0 ||
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

// ("nearest", "linear") and the like: the position of a word. -1 with a ValueError.
static int word_of(const char *word, const char *what, const char *const *words, int count) {
    for (int i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return i;
    }
    PyErr_Format(PyExc_ValueError, "%s: '%s' is none of %s, %s%s%s%s%s", what, word, words[0], words[1],
                 count > 2 ? ", " : "", count > 2 ? words[2] : "", count > 2 ? ", " : "", count > 2 ? words[3] : "");
    return -1;
}

// What images are told, but for their data.
typedef struct image_words {
    PyObject *axes[3], *type, *depth; // width, height, channels
    const char *filter, *mode;
    int normalized;
} image_words;

static int read_image(const image_words *w, kp_image_desc *desc) {
    int filter = 0, mode = 0;
    if (ext_element_count(KP_U32, w->axes[0], "width", &desc->width) < 0 ||
        ext_element_count(KP_U32, w->axes[1], "height", &desc->height) < 0 ||
        ext_element_count(KP_U32, w->axes[2], "num_channels", &desc->channels) < 0 ||
        ext_element_count(KP_U32, w->depth, "depth", &desc->depth) < 0 ||
        ext_memory_type(w->type, &desc->memory_type) < 0 || (filter = word_of(w->filter, "filter", filters, 2)) < 0 ||
        (mode = word_of(w->mode, "address_mode", modes, 4)) < 0)
        return -1;
    if (desc->channels == 0) {
        PyErr_SetString(PyExc_ValueError, "num_channels: must be 1 to 4, not 0");
        return -1;
    }
    desc->normalized = w->normalized != 0;
    desc->filter = (kp_filter)filter;
    desc->address_mode = (kp_address_mode)mode;
    return 0;
}

static PyObject *make_image(ext_manager *m, PyObject *args, PyObject *kwargs, int want, const char *format) {
    static char *names[] = {"data",       "width",  "height",       "num_channels", "memory_type", "depth",
                            "normalized", "filter", "address_mode", "exported",     "label",       NULL};
    PyObject *data;
    image_words w = {.filter = filters[0], .mode = modes[0]};
    int exported = 0;
    kp_image_desc desc = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &data, &w.axes[0], &w.axes[1], &w.axes[2], &w.type,
                                     &w.depth, &w.normalized, &w.filter, &w.mode, &exported, &desc.label) ||
        read_image(&w, &desc) < 0)
        return NULL;
    desc.exported = exported != 0 ? KP_HANDLE_OPAQUE_FD : KP_HANDLE_NONE;
    return ext_image_new(m->ext, m->core, data, want, &desc);
}

PyObject *ext_image_import(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"memory", "width",      "height", "num_channels", "dtype", "memory_type",
                            "depth",  "normalized", "filter", "address_mode", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *memory, *dtype = NULL;
    image_words w = {.filter = filters[0], .mode = modes[0]};
    kp_image_desc desc = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO|OO$Opss:import_image", names, &memory, &w.axes[0], &w.axes[1],
                                     &w.axes[2], &dtype, &w.type, &w.depth, &w.normalized, &w.filter, &w.mode) ||
        read_image(&w, &desc) < 0 || (dtype != NULL && ext_making_dtype(m->ext, dtype, &desc.dtype) < 0))
        return NULL;
    return ext_external_import_image(m, memory, &desc);
}

PyObject *ext_image_image(PyObject *self, PyObject *args, PyObject *kwargs) {
    return make_image((ext_manager *)self, args, kwargs, KP_F32, "OOOO|O$Opsspz:image");
}

PyObject *ext_image_image_t(PyObject *self, PyObject *args, PyObject *kwargs) {
    return make_image((ext_manager *)self, args, kwargs, EXT_DATA_OWN, "OOOO|O$Opsspz:image_t");
}

// ---------------------------------------------------------------------------------------------------------------------
// The type
// ---------------------------------------------------------------------------------------------------------------------

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
    {"address_mode", image_address_mode, NULL,
     "How it is sampled beyond its edges: 'clamp_to_edge', 'repeat', 'mirrored_repeat' or 'clamp_to_border'.", NULL},
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
