// See objects.h. kp.Manager: one device. What it makes keeps the device alive through the core, not through this
// object.
#include "objects.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making
// ---------------------------------------------------------------------------------------------------------------------

// What kp_manager_desc points to, read from Python objects.
typedef struct request {
    kp_manager_desc desc;
    char index[24];
    uint32_t *families;
    ext_names extensions;
} request;

static void release(request *r) {
    PyMem_Free(r->families);
    ext_options_release(&r->extensions);
}

static int read_device(PyObject *device, request *r) {
    if (device == NULL || device == Py_None)
        return 0;
    if (PyUnicode_Check(device))
        return ext_options_text(device, "device", &r->desc.device);
    PyObject *number = PyBool_Check(device) ? NULL : PyNumber_Index(device);
    if (number == NULL) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "device: must be an index, or a name or UUID (str), not %R", Py_TYPE(device));
        return -1;
    }
    int beyond;
    long index = PyLong_AsLongAndOverflow(number, &beyond);
    Py_DECREF(number);
    if (index == -1 && beyond == 0 && PyErr_Occurred())
        return -1;
    if (beyond != 0) {
        PyErr_SetString(PyExc_ValueError, "device: there is no device of an index this large; see kp.devices()");
        return -1;
    }
    if (index < 0) {
        PyErr_Format(PyExc_ValueError, "device: index %ld; indices start at 0, see kp.devices()", index);
        return -1;
    }
    snprintf(r->index, sizeof r->index, "%ld", index);
    r->desc.device = r->index;
    return 0;
}

// A family's index, or the use of a queue.
static int read_family(PyObject *item, uint32_t *out) {
    static const char what[] = "family_queue_indices";
    if (PyUnicode_Check(item)) {
        bool compute = PyUnicode_CompareWithASCIIString(item, "compute") == 0;
        *out = compute ? KP_FAMILY_COMPUTE : KP_FAMILY_TRANSFER;
        if (compute || PyUnicode_CompareWithASCIIString(item, "transfer") == 0)
            return 0;
        PyErr_Format(PyExc_ValueError, "%s: must be the index of a family, 'compute' or 'transfer', not %R", what,
                     item);
        return -1;
    }
    if (ext_element_count(KP_U32, item, what, out) < 0)
        return -1;
    if (*out != KP_FAMILY_COMPUTE && *out != KP_FAMILY_TRANSFER)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: there is no queue family %R", what, item);
    return -1;
}

static int read_families(PyObject *object, request *r) {
    if (object == NULL || object == Py_None)
        return 0;
    PyObject *all = ext_options_list(object, "family_queue_indices", "whole numbers or uses");
    size_t count = all != NULL ? (size_t)PyTuple_Size(all) : 0;
    r->families = all != NULL ? PyMem_Calloc(count + 1, sizeof *r->families) : NULL;
    int result = all != NULL ? 0 : -1;
    if (all != NULL && r->families == NULL) {
        PyErr_NoMemory();
        result = -1;
    }
    for (size_t i = 0; result == 0 && i < count; i++)
        result = read_family(PyTuple_GetItem(all, (Py_ssize_t)i), &r->families[i]);
    Py_XDECREF(all);
    r->desc.queue_families = r->families;
    r->desc.queue_family_count = count;
    return result;
}

static ext_core *create(kp_ext *ext, request *r) {
    kp_manager *handle = NULL;
    r->desc.extensions = r->extensions.names;
    r->desc.extension_count = r->extensions.count;
    r->desc.print = ext_log_print;
    ext_log_follow();
    PyThreadState *thread = ext_core_go();
    kp_result result = kp_manager_create(&r->desc, &handle);
    ext_core_come(thread);
    if (result == KP_OK)
        return ext_core_new(handle);
    ext_error_raise(ext, result);
    return NULL;
}

// A manager object on a core, which it holds.
static PyObject *wrap(kp_ext *ext, PyTypeObject *type, ext_core *core) {
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    ext_manager *m = (ext_manager *)alloc(type, 0);
    if (m == NULL)
        return NULL;
    m->ext = ext;
    m->core = ext_core_hold(core);
    m->named = PyDict_New();
    if (m->named == NULL)
        Py_CLEAR(m);
    else
        core->object = (PyObject *)m;
    return (PyObject *)m;
}

// One without a device: the arguments are for __init__, which subclasses may replace.
static PyObject *manager_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    kp_ext *ext = ext_of_type(type);
    ext_core *core = ext != NULL ? ext_core_new(NULL) : NULL;
    if (core == NULL)
        return NULL;
    PyObject *manager = wrap(ext, type, core);
    ext_core_drop(core);
    return manager;
}

// Takes `core` over.
static int adopt(ext_manager *m, ext_core *core) {
    if (m->made) {
        ext_core_drop(core);
        ext_error_format(m->ext, KP_ERROR_STATE, "the manager has its device: __init__ is called once");
        return -1;
    }
    ext_core *none = m->core;
    none->object = NULL;
    m->core = core;
    m->made = true;
    core->object = (PyObject *)m;
    ext_core_drop(none);
    return 0;
}

static int manager_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {
        "device", "family_queue_indices", "desired_extensions", "unified", "validation", "regroup", "label", NULL};
    PyObject *device = NULL, *families = NULL, *extensions = NULL, *unified = NULL, *validation = NULL, *regroup = NULL;
    ext_manager *m = (ext_manager *)self;
    request r = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOO$OOOz:Manager", names, &device, &families, &extensions,
                                     &unified, &validation, &regroup, &r.desc.label))
        return -1;
    ext_core *core = NULL;
    if (read_device(device, &r) == 0 && read_families(families, &r) == 0 &&
        ext_options_names(extensions, "desired_extensions", &r.extensions) == 0 &&
        ext_options_toggle(unified, &r.desc.unified) == 0 && ext_options_toggle(validation, &r.desc.validation) == 0 &&
        ext_options_toggle(regroup, &r.desc.regroup) == 0)
        core = create(m->ext, &r);
    release(&r);
    return core != NULL ? adopt(m, core) : -1;
}

PyObject *ext_manager_of(kp_ext *ext, ext_core *core) {
    if (core->object != NULL)
        return Py_NewRef(core->object);
    PyObject *manager = wrap(ext, ext->manager_class, core);
    if (manager != NULL)
        ((ext_manager *)manager)->made = true;
    return manager;
}

PyObject *ext_manager_on(PyTypeObject *type, kp_ext *ext, kp_manager *handle) {
    ext_core *core = ext_core_new(handle);
    PyObject *manager = core != NULL ? wrap(ext, type, core) : NULL;
    if (manager != NULL)
        ((ext_manager *)manager)->made = true;
    ext_core_drop(core);
    return manager;
}

static int manager_traverse(PyObject *self, visitproc visit, void *arg) {
    ext_manager *m = (ext_manager *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(m->named);
    return 0;
}

static int manager_clear(PyObject *self) {
    PyDict_Clear(((ext_manager *)self)->named);
    return 0;
}

static void manager_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    ext_manager *m = (ext_manager *)self;
    if (m->core != NULL && m->core->object == self)
        m->core->object = NULL; // before anything is dropped whose finalizer may ask for it
    if (m->ext != NULL && m->ext->default_manager == self)
        m->ext->default_manager = NULL;
    Py_CLEAR(m->named);
    ext_core_drop(m->core);
    ext_free(self);
}

static PyObject *manager_destroy(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_manager *m = (ext_manager *)self;
    PyDict_Clear(m->named);
    ext_core_destroy(m->core);
    Py_RETURN_NONE;
}

// ---------------------------------------------------------------------------------------------------------------------
// Objects
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *manager_algorithm(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"tensors", "spirv", "workgroup", "spec_consts", "push_consts", "extent", "label", NULL};
    ext_manager *m = (ext_manager *)self;
    PyObject *tensors = NULL;
    ext_algorithm_desc desc = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOOO$Oz:algorithm", names, &tensors, &desc.spirv, &desc.workgroup,
                                     &desc.specs, &desc.push, &desc.extent, &desc.label))
        return NULL;
    if (desc.spirv == Py_None)
        desc.spirv = NULL;
    ext_log_follow();
    PyObject *none = tensors == NULL ? PyTuple_New(0) : Py_NewRef(tensors);
    PyObject *algorithm = none != NULL ? ext_algorithm_new(m->ext, m->core, none, &desc) : NULL;
    Py_XDECREF(none);
    return algorithm;
}

static PyObject *manager_sequence(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"queue_index", "total_timestamps", "label", NULL};
    ext_manager *m = (ext_manager *)self;
    const char *label = NULL;
    PyObject *queue_object = NULL, *timestamps_object = NULL;
    uint32_t queue = 0, timestamps = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO$z:sequence", names, &queue_object, &timestamps_object,
                                     &label) ||
        ext_element_count(KP_U32, queue_object, "queue_index", &queue) < 0 ||
        ext_element_count(KP_U32, timestamps_object, "total_timestamps", &timestamps) < 0)
        return NULL;
    return ext_sequence_new(m->ext, m->core, queue, timestamps, label);
}

// ---------------------------------------------------------------------------------------------------------------------
// Questions
// ---------------------------------------------------------------------------------------------------------------------

static int device_of(ext_manager *m, kp_device_info *out) {
    kp_manager *handle = ext_core_use(m->ext, m->core);
    if (handle == NULL)
        return -1;
    kp_result result = kp_manager_device(handle, out);
    return ext_error_check(m->ext, result);
}

static PyObject *manager_list_devices(PyObject *self, PyObject *unused) {
    (void)unused;
    return ext_device_list(((ext_manager *)self)->ext);
}

static PyObject *manager_device_properties(PyObject *self, PyObject *unused) {
    (void)unused;
    kp_device_info info;
    return device_of((ext_manager *)self, &info) == 0 ? ext_device_properties(&info) : NULL;
}

static PyObject *manager_device(PyObject *self, void *unused) {
    (void)unused;
    kp_device_info info;
    return device_of((ext_manager *)self, &info) == 0 ? ext_device_object(((ext_manager *)self)->ext, &info) : NULL;
}

static PyObject *manager_queue_count(PyObject *self, void *unused) {
    (void)unused;
    ext_manager *m = (ext_manager *)self;
    kp_manager *handle = ext_core_use(m->ext, m->core);
    return handle != NULL ? PyLong_FromUnsignedLong(kp_manager_queue_count(handle)) : NULL;
}

static PyObject *manager_memory(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_manager *m = (ext_manager *)self;
    kp_manager *handle = ext_core_use(m->ext, m->core);
    kp_memory_stats stats;
    if (handle == NULL)
        return NULL;
    kp_result result = kp_manager_memory(handle, &stats);
    if (result != KP_OK)
        return ext_error_raise(m->ext, result);
    return Py_BuildValue("{s:K,s:K,s:K,s:I,s:K,s:K}", "used", (unsigned long long)stats.used, "reserved",
                         (unsigned long long)stats.reserved, "peak", (unsigned long long)stats.peak, "allocations",
                         stats.allocations, "budget", (unsigned long long)stats.budget, "device_usage",
                         (unsigned long long)stats.device_usage);
}

static PyObject *manager_trim(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_manager *m = (ext_manager *)self;
    kp_manager *handle = ext_core_use(m->ext, m->core);
    if (handle == NULL)
        return NULL;
    ext_spares_clear(m->core);
    PyThreadState *thread = ext_core_enter(m->core);
    kp_result result = kp_manager_trim(handle);
    ext_core_leave(m->core, thread);
    return result == KP_OK ? Py_NewRef(Py_None) : ext_error_raise(m->ext, result);
}

static PyObject *manager_is_init(PyObject *self, PyObject *unused) {
    (void)unused;
    const ext_core *core = ((ext_manager *)self)->core;
    return PyBool_FromLong(ext_core_usable(core));
}

PyDoc_STRVAR(manager_doc,
             "Manager(device=None, family_queue_indices=(), desired_extensions=(), *, unified=None, "
             "validation=None, regroup=None, label=None)\n--\n\n"
             "One device, with its queues and memory; all other objects come from it and keep it alive.\n\n"
             "device is an index into kp.devices(), a UUID, or part of a name; None is $KP_DEVICE, "
             "or the best: discrete\n"
             "before integrated before virtual before CPU. family_queue_indices takes one queue for each entry: "
             "of the\n"
             "family with that index, or by use: 'compute', or 'transfer', which only copies where there is such a "
             "queue. Uses\n"
             "share queues where the device has too few. None: one for compute. desired_extensions are device "
             "extensions to enable as well.\n"
             "unified=False stages copies even where host and device share memory; validation=True turns the Khronos\n"
             "validation layer on, its messages going to logging.getLogger('kp'); regroup=False launches kernels one\n"
             "invocation a workgroup. Each of the three is by default what $KP_UNIFIED, $KP_VALIDATION, "
             "$KP_REGROUP say.\n\n"
             "NoDeviceError: no Vulkan loader, driver or device. ValueError: no such device or queue family.");
PyDoc_STRVAR(tensor_doc,
             "tensor($self, /, data, memory_type=kp.MemoryTypes.device, *, tensor_type=None, label=None)\n--\n\n"
             "A float32 tensor from any array (converted by value) or sequence of numbers, flattened. tensor_type is\n"
             "Kompute 0.8's name of memory_type; label is for messages, profiles and debuggers.\n\n"
             "TypeError: not numbers. LimitError, DeviceMemoryError: too large.");
PyDoc_STRVAR(
    tensor_t_doc,
    "tensor_t($self, /, data, memory_type=kp.MemoryTypes.device, *, copy=True, tensor_type=None, label=None)\n--\n\n"
    "A tensor of the array's own dtype, flattened: float16/32/64, int8 to int64, uint8 to uint64, bool.\n"
    "copy=False makes the array's own memory the host side where the device can use it: the array is "
    "writable,\n"
    "contiguous, and begins where a buffer may; else it is copied. t.shares_array tells.\n\n"
    "TypeError: not an array, or of another dtype. LimitError, DeviceMemoryError: too large.");
PyDoc_STRVAR(algorithm_doc,
             "algorithm($self, /, tensors=(), spirv=None, workgroup=(0, 0, 0), spec_consts=None, push_consts=None, *, "
             "extent=None, label=None)\n--\n\n"
             "A program with memory bound to it. tensors[k] is binding k of set 0.\n\n"
             "spirv is SPIR-V as bytes, bytearray, memoryview, an array of uint32 or a list of ints, "
             "or a kp.Program.\n"
             "workgroup is how many workgroups a dispatch has, extent how many invocations: give one of the two, "
             "or neither\n"
             "for (elements of tensors[0], 1, 1). spec_consts have the ids 0, 1, 2, "
             "...; they and push_consts are float32\n"
             "when given as list, else an array of float32, float64, "
             "int32 or uint32 whose bytes are taken as they are;\n"
             "push_consts also as bytes. Without spirv the algorithm is empty: something for OpMult to fill.\n\n"
             "SpirvError: not valid. TypeError, ValueError: does not fit the module. LimitError: beyond the device.");
PyDoc_STRVAR(sequence_doc, "sequence($self, /, queue_index=0, total_timestamps=0, *, label=None)\n--\n\n"
                           "A sequence on the manager's queue_index-th queue. total_timestamps ops get a timestamp.\n\n"
                           "IndexError: no such queue.");
PyDoc_STRVAR(list_devices_doc, "list_devices($self, /)\n--\n\n"
                               "All devices, as get_device_properties() tells of one.");
PyDoc_STRVAR(properties_doc, "get_device_properties($self, /)\n--\n\n"
                             "A dict: device_name, max_work_group_count and max_work_group_size (three ints each),\n"
                             "max_work_group_invocations, timestamps_supported. `device` has more.");
PyDoc_STRVAR(
    memory_doc,
    "memory($self, /)\n--\n\n"
    "A dict of bytes: used (live tensors, both sides), reserved (device allocations), peak (the most that\n"
    "reserved has been), budget and device_usage (what this process may have and has of the device's own memory,\n"
    "as the driver says, or else that memory's size and what this manager has of it); and the number of device\n"
    "allocations.");
PyDoc_STRVAR(trim_doc,
             "trim($self, /)\n--\n\n"
             "Gives back to the driver what is kept for reuse: memory of calls with arrays, empty blocks of memory,\n"
             "pipelines that no algorithm uses, command buffers.");
PyDoc_STRVAR(full_doc,
             "full($self, /, shape, value, dtype='float32', memory_type=kp.MemoryTypes.device, *, label=None)\n--\n\n"
             "A tensor whose host side starts as that number everywhere, or that struct.\n\n"
             "ValueError: a storage tensor, which has no host side; record OpFill.");
PyDoc_STRVAR(zeros_doc,
             "zeros($self, /, shape, dtype='float32', memory_type=kp.MemoryTypes.device, *, label=None)\n--\n\n"
             "A tensor whose host side starts as zeros.");
PyDoc_STRVAR(empty_doc,
             "empty($self, /, shape, dtype='float32', memory_type=kp.MemoryTypes.device, *, label=None)\n--\n\n"
             "A tensor whose host side starts as anything: for what kernels write. dtype is a NumPy dtype, also one of "
             "structs,\n"
             "a name, or one of DataTypes.");
PyDoc_STRVAR(
    image_doc,
    "image($self, /, data, width, height, num_channels, memory_type=kp.MemoryTypes.device, *, depth=0, "
    "normalized=False, filter='nearest', address_mode='clamp_to_edge', exported=False, label=None)\n--\n\n"
    "A float32 image: data is as in tensor(), or None for zeros. height 0 is a 1-D image, depth above 0 a 3-D "
    "one.\n"
    "filter (nearest, linear) and address_mode (clamp_to_edge, repeat, mirrored_repeat, clamp_to_border) are for\n"
    "shaders that sample it, with coordinates from 0 to 1, and do not say themselves how. exported: others may have "
    "its memory too, Image.export().\n\n"
    "ValueError: data of another size. UnsupportedError: the device has no such images. LimitError.");
PyDoc_STRVAR(
    image_t_doc,
    "image_t($self, /, data, width, height, num_channels, memory_type=kp.MemoryTypes.device, *, depth=0, "
    "normalized=False, filter='nearest', address_mode='clamp_to_edge', exported=False, label=None)\n--\n\n"
    "An image of the array's own dtype: float32, float16, or integers of 8, 16, 32 bits. normalized: shaders see\n"
    "8-bit integers as 0 to 1, or -1 to 1. Else as image().");
PyDoc_STRVAR(
    exportable_doc,
    "exportable($self, /, shape, dtype='float32', memory_type=kp.MemoryTypes.device, *, handle='opaque_fd')\n--\n\n"
    "A tensor of zeros whose memory others may have too: Tensor.export(). handle is opaque_fd, for the same\n"
    "driver on the same device (CUDA on an NVIDIA GPU too), or dma_buf, for others.\n\n"
    "UnsupportedError: names the extension that the device lacks.");
PyDoc_STRVAR(import_tensor_doc,
             "import_tensor($self, /, memory, shape, dtype='float32', memory_type=kp.MemoryTypes.device)\n--\n\n"
             "A tensor in the memory that a kp.ExternalMemory tells of, with the contents that it has. The descriptor\n"
             "stays yours to close. Between the two sides kp knows no order: wait for the one's work, or use a\n"
             "semaphore.\n\n"
             "ValueError: no such memory, of another device or driver, or too small. UnsupportedError.");
PyDoc_STRVAR(
    import_image_doc,
    "import_image($self, /, memory, width, height, num_channels, dtype='float32', memory_type=kp.MemoryTypes.device, "
    "*, "
    "depth=0, normalized=False, filter='nearest', address_mode='clamp_to_edge')\n--\n\n"
    "An image in the memory that a kp.ExternalMemory tells of, with the contents that it has: it must be said as it "
    "was\n"
    "made, since only the driver knows how an image lies in memory. Else as import_tensor().");
PyDoc_STRVAR(semaphore_doc,
             "semaphore($self, /, value=0, *, binary=False, exported=False)\n--\n\n"
             "A kp.Semaphore: a timeline that starts with the value, or a binary one. exported: export_fd() works,\n"
             "for 'opaque_fd' (or True), which is the semaphore itself, or 'sync_fd', which is the next signal of a "
             "binary one.\n\n"
             "UnsupportedError: names what the device lacks.");
PyDoc_STRVAR(import_semaphore_doc, "import_semaphore($self, /, fd, *, binary=False, handle='opaque_fd')\n--\n\n"
                                   "The semaphore behind a file descriptor, which stays yours to close; with handle "
                                   "'sync_fd' a binary one that\n"
                                   "is set when the descriptor's work is done (-1: it is), once.\n\n"
                                   "ValueError: no such semaphore. UnsupportedError: names what the device lacks.");
PyDoc_STRVAR(vulkan_doc, "vulkan($self, /)\n--\n\n"
                         "Vulkan's handles as numbers, in a dict: instance, physical_device, device, queues (tuples of "
                         "queue and family),\n"
                         "get_instance_proc_addr; api_version, extensions and features (a pointer to\n"
                         "VkPhysicalDeviceFeatures2) as they are enabled. Valid until the manager is destroyed.");
PyDoc_STRVAR(
    from_vulkan_doc,
    "from_vulkan(*, instance, physical_device, device, queues, api_version, extensions=(), features=0, "
    "get_instance_proc_addr=0, unified=None, label=None)\n--\n\n"
    "A manager on a device that another library made, all as vulkan() has it: kp uses what is said to be\n"
    "enabled, and destroys none of it. It must outlive the manager and all arrays on its tensors, and nobody\n"
    "may use the queues while kp does. api_version is what the instance was made for, as VK_MAKE_API_VERSION.");
PyDoc_STRVAR(is_init_doc, "is_init($self, /)\n--\n\n"
                          "Whether it can be used: not destroyed.");
PyDoc_STRVAR(destroy_doc,
             "destroy($self, /)\n--\n\n"
             "Waits for work in flight and releases everything on the device. What was made from it answers\n"
             "StateError from now on; arrays that view a host side stay valid. When another thread is inside a\n"
             "call, the release happens as that call returns.");
PyDoc_STRVAR(create_sequence_doc,
             "create_sequence($self, /, name='', queueIndex=0)\n--\n\n"
             "A new sequence that the manager keeps under this name (0.5 API); one is made up when empty.\n"
             "An older sequence of that name loses it.\n\n"
             "IndexError: no such queue.");
PyDoc_STRVAR(get_create_sequence_doc, "get_create_sequence($self, /, name)\n--\n\n"
                                      "The sequence of that name, made when there is none.");
PyDoc_STRVAR(build_tensor_doc, "build_tensor($self, /, data, tensorType=kp.MemoryTypes.device)\n--\n\n"
                               "kp.Tensor(data, tensorType), created on the device at once (0.5 API).");
PyDoc_STRVAR(eval_op_doc, "_eval_op($self, op, tensors, extra, name, is_async, /)\n--\n\n"
                          "One op of the 0.5 API; see kp.classic.");
PyDoc_STRVAR(eval_await_doc, "eval_await($self, /, name, waitFor=18446744073709551615)\n--\n\n"
                             "Waits for the asynchronous work of the named sequence, at most that many nanoseconds.\n\n"
                             "ValueError: no such name. StateError: nothing was started. TimeoutError: it goes on.");
PyDoc_STRVAR(eval_await_def_doc,
             "eval_await_def($self, /, waitFor=18446744073709551615)\n--\n\n"
             "Waits for the last eval_async_<op>_def(), and those before it, at most that many nanoseconds.\n\n"
             "StateError: nothing was started. TimeoutError: it goes on.");

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef manager_methods[] = {
    {"tensor", KEYWORDS(ext_making_tensor), tensor_doc},
    {"tensor_t", KEYWORDS(ext_making_tensor_t), tensor_t_doc},
    {"full", KEYWORDS(ext_making_full), full_doc},
    {"zeros", KEYWORDS(ext_making_zeros), zeros_doc},
    {"empty", KEYWORDS(ext_making_empty), empty_doc},
    {"image", KEYWORDS(ext_image_image), image_doc},
    {"image_t", KEYWORDS(ext_image_image_t), image_t_doc},
    {"exportable", KEYWORDS(ext_external_exportable), exportable_doc},
    {"import_tensor", KEYWORDS(ext_external_import), import_tensor_doc},
    {"import_image", KEYWORDS(ext_image_import), import_image_doc},
    {"semaphore", KEYWORDS(ext_semaphore_new), semaphore_doc},
    {"import_semaphore", KEYWORDS(ext_semaphore_import), import_semaphore_doc},
    {"vulkan", ext_native_manager, METH_NOARGS, vulkan_doc},
    {"from_vulkan", (PyCFunction)(void (*)(void))ext_native_adopt, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     from_vulkan_doc},
    {"algorithm", KEYWORDS(manager_algorithm), algorithm_doc},
    {"sequence", KEYWORDS(manager_sequence), sequence_doc},
    {"list_devices", manager_list_devices, METH_NOARGS, list_devices_doc},
    {"get_device_properties", manager_device_properties, METH_NOARGS, properties_doc},
    {"memory", manager_memory, METH_NOARGS, memory_doc},
    {"trim", manager_trim, METH_NOARGS, trim_doc},
    {"is_init", manager_is_init, METH_NOARGS, is_init_doc},
    {"destroy", manager_destroy, METH_NOARGS, destroy_doc},
    {"create_sequence", KEYWORDS(ext_classic_create_sequence), create_sequence_doc},
    {"get_create_sequence", KEYWORDS(ext_classic_get_create_sequence), get_create_sequence_doc},
    {"build_tensor", KEYWORDS(ext_classic_build_tensor), build_tensor_doc},
    {"eval_await", KEYWORDS(ext_classic_eval_await), eval_await_doc},
    {"eval_await_def", KEYWORDS(ext_classic_eval_await_def), eval_await_def_doc},
    {"_eval_op", ext_classic_eval_op, METH_VARARGS, eval_op_doc},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef manager_getset[] = {
    {"device", manager_device, NULL, "The kp.Device that it runs on.", NULL},
    {"queue_count", manager_queue_count, NULL, "How many queues it has; sequence(queue_index) takes one.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot manager_slots[] = {
    {Py_tp_doc, EXT_SLOT(manager_doc)},
    {Py_tp_new, EXT_SLOT(manager_new)},
    {Py_tp_init, EXT_SLOT(manager_init)},
    {Py_tp_dealloc, EXT_SLOT(manager_dealloc)},
    {Py_tp_traverse, EXT_SLOT(manager_traverse)},
    {Py_tp_clear, EXT_SLOT(manager_clear)},
    {Py_tp_methods, manager_methods},
    {Py_tp_getset, manager_getset},
    {0, NULL},
};
static PyType_Spec manager_spec = {"kp._kp.Manager", sizeof(ext_manager), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, manager_slots};

int ext_manager_init(kp_ext *ext, PyObject *module) {
    ext->manager_type = ext_add_type(module, &manager_spec, NULL);
    ext->manager_class = (PyTypeObject *)Py_XNewRef((PyObject *)ext->manager_type);
    return ext->manager_type != NULL ? 0 : -1;
}
