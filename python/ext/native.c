// See objects.h. Vulkan's own handles, as numbers: out of kp's objects, and a manager on those of another library.
#include "objects.h"

#include <kp/vulkan.h>

// A handle as a number. Where pointers have 32 bits, some handles are pointers, and others numbers of 64 bits.
static uint64_t number_of(uint64_t handle) { return handle; }
static uint64_t number_of_pointer(const void *handle) { return (uintptr_t)handle; }
#define NUMBER(handle) \
    PyLong_FromUnsignedLongLong(_Generic((handle), uint64_t : number_of, default : number_of_pointer)(handle))

static int set(PyObject *dict, const char *key, PyObject *value) {
    int result = value != NULL ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Out
// ---------------------------------------------------------------------------------------------------------------------

static PyObject *list_queues(const kp_manager *manager) {
    uint32_t count = kp_manager_queue_count(manager);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        VkQueue queue;
        uint32_t family;
        PyObject *pair = kp_vulkan_from_queue(manager, i, &queue, &family) == KP_OK
                             ? Py_BuildValue("(NI)", NUMBER(queue), family)
                             : PyErr_NoMemory();
        if (pair == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, pair);
    }
    return list;
}

static PyObject *list_names(const char *const *names, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (name == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, name);
    }
    return list;
}

PyObject *ext_native_manager(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_manager *m = (ext_manager *)self;
    kp_manager *manager = ext_core_use(m->ext, m->core);
    kp_vulkan_manager native;
    if (manager == NULL)
        return NULL;
    kp_result result = kp_vulkan_from_manager(manager, &native);
    if (result != KP_OK)
        return ext_error_raise(m->ext, result);
    PyObject *dict = PyDict_New();
    if (dict != NULL &&
        (set(dict, "instance", NUMBER(native.instance)) < 0 ||
         set(dict, "physical_device", NUMBER(native.physical_device)) < 0 ||
         set(dict, "device", NUMBER(native.device)) < 0 || set(dict, "queues", list_queues(manager)) < 0 ||
         set(dict, "api_version", PyLong_FromUnsignedLong(native.api_version)) < 0 ||
         set(dict, "extensions", list_names(native.extensions, native.extension_count)) < 0 ||
         set(dict, "features", NUMBER(native.features)) < 0 ||
         set(dict, "get_instance_proc_addr", NUMBER((uint64_t)(uintptr_t)native.get_instance_proc_addr)) < 0))
        Py_CLEAR(dict);
    return dict;
}

static PyObject *image_handles(kp_ext *ext, const kp_image *image) {
    kp_vulkan_image native;
    kp_result result = kp_vulkan_from_image(image, &native);
    if (result != KP_OK)
        return ext_error_raise(ext, result);
    return Py_BuildValue("{s:N,s:N,s:i,s:i}", "image", NUMBER(native.image), "view", NUMBER(native.view), "format",
                         (int)native.format, "layout", (int)native.layout);
}

PyObject *ext_native_memory(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_tensor *t = (ext_tensor *)self;
    kp_vulkan_buffer native;
    if (ext_memory_use(t) == NULL)
        return NULL;
    if (t->image)
        return image_handles(t->ext, t->handle);
    kp_result result = kp_vulkan_from_tensor(t->handle, &native);
    if (result != KP_OK)
        return ext_error_raise(t->ext, result);
    return Py_BuildValue("{s:N,s:K,s:K,s:N,s:K}", "buffer", NUMBER(native.buffer), "offset",
                         (unsigned long long)native.offset, "size", (unsigned long long)native.size, "memory",
                         NUMBER(native.memory), "memory_offset", (unsigned long long)native.memory_offset);
}

const char ext_native_semaphore_doc[] = "vulkan($self, /)\n--\n\n"
                                        "The VkSemaphore, as a number.";

PyObject *ext_native_semaphore(PyObject *self, PyObject *unused) {
    (void)unused;
    ext_semaphore *s = (ext_semaphore *)self;
    VkSemaphore native;
    if (s->handle == NULL)
        return ext_error_format(s->ext, KP_ERROR_STATE, "the semaphore is destroyed");
    if (ext_core_use(s->ext, s->core) == NULL)
        return NULL;
    kp_result result = kp_vulkan_from_semaphore(s->handle, &native);
    return result == KP_OK ? NUMBER(native) : ext_error_raise(s->ext, result);
}

// ---------------------------------------------------------------------------------------------------------------------
// In
// ---------------------------------------------------------------------------------------------------------------------

// What kp_vulkan_device_desc points to, read from Python objects.
typedef struct request {
    kp_vulkan_device_desc native;
    kp_manager_desc desc;
    kp_vulkan_queue *queues;
    ext_names extensions;
} request;

static void release(request *r) {
    PyMem_Free(r->queues);
    ext_options_release(&r->extensions);
}

static int read_queues(PyObject *object, request *r) {
    PyObject *all = object != NULL ? PySequence_Tuple(object) : PyTuple_New(0);
    Py_ssize_t count = all != NULL ? PyTuple_Size(all) : 0;
    r->queues = all != NULL ? PyMem_Calloc((size_t)count + 1, sizeof *r->queues) : NULL;
    int result = r->queues != NULL ? 0 : -1;
    if (all != NULL && r->queues == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
        uint64_t queue = 0;
        uint32_t family = 0;
        PyObject *handle, *index;
        PyObject *pair = PySequence_Tuple(PyTuple_GetItem(all, i));
        result =
            pair != NULL &&
                    PyArg_ParseTuple(pair, "OO;queues: must be tuples of a handle and a family", &handle, &index) &&
                    ext_element_count(KP_U64, handle, "queues: handle", &queue) == 0 &&
                    ext_element_count(KP_U32, index, "queues: family", &family) == 0
                ? 0
                : -1;
        if (result == 0)
            r->queues[i] = (kp_vulkan_queue){(VkQueue)(uintptr_t)queue, family}; // NOLINT(performance-no-int-to-ptr)
        Py_XDECREF(pair);
    }
    Py_XDECREF(all);
    r->native.queues = r->queues;
    r->native.queue_count = (size_t)count;
    return result;
}

// The numbers are what the caller says they are.
#define HANDLE(type, number) ((type)(uintptr_t)(number)) // NOLINT(performance-no-int-to-ptr)

static int read_request(PyObject *args, PyObject *kwargs, request *r) {
    static char *names[] = {"instance", "physical_device",        "device",  "queues", "api_version", "extensions",
                            "features", "get_instance_proc_addr", "unified", "label",  NULL};
    uint64_t instance = 0, physical = 0, device = 0, features = 0, get = 0;
    PyObject *given[5] = {NULL}, *version = NULL, *queues = NULL, *extensions = NULL, *unified = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOOOOOOOz:from_vulkan", names, &given[0], &given[1], &given[2],
                                     &queues, &version, &extensions, &given[3], &given[4], &unified, &r->desc.label) ||
        ext_element_count(KP_U64, given[0], names[0], &instance) < 0 ||
        ext_element_count(KP_U64, given[1], names[1], &physical) < 0 ||
        ext_element_count(KP_U64, given[2], names[2], &device) < 0 ||
        ext_element_count(KP_U32, version, names[4], &r->native.api_version) < 0 ||
        ext_element_count(KP_U64, given[3], names[6], &features) < 0 ||
        ext_element_count(KP_U64, given[4], names[7], &get) < 0)
        return -1;
    r->native.instance = HANDLE(VkInstance, instance);
    r->native.physical_device = HANDLE(VkPhysicalDevice, physical);
    r->native.device = HANDLE(VkDevice, device);
    r->native.features = HANDLE(const VkPhysicalDeviceFeatures2 *, features);
    r->native.get_instance_proc_addr = HANDLE(PFN_vkGetInstanceProcAddr, get);
    if (ext_options_toggle(unified, &r->desc.unified) < 0 || read_queues(queues, r) < 0 ||
        ext_options_names(extensions, "extensions", &r->extensions) < 0)
        return -1;
    r->native.extensions = r->extensions.names;
    r->native.extension_count = r->extensions.count;
    return 0;
}

PyObject *ext_native_adopt(PyObject *type, PyObject *args, PyObject *kwargs) {
    kp_ext *ext = ext_of_type((PyTypeObject *)type);
    request r = {0};
    kp_manager *handle = NULL;
    PyObject *manager = NULL;
    if (ext == NULL || read_request(args, kwargs, &r) < 0) {
        release(&r);
        return NULL;
    }
    r.desc.print = ext_log_print;
    ext_log_follow();
    PyThreadState *thread = ext_core_go();
    kp_result result = kp_vulkan_adopt_device(&r.native, &r.desc, &handle);
    ext_core_come(thread);
    if (result == KP_OK)
        manager = ext_manager_on((PyTypeObject *)type, ext, handle);
    else
        ext_error_raise(ext, result);
    release(&r);
    return manager;
}
