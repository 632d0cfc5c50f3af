// See ext.h. Devices as Python objects: kp.Device (a struct sequence, all that kp_device_info has) and Kompute's dicts.
#include "ext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PyStructSequence_Field family_fields[] = {
    {"count", "queues in the family"},
    {"compute", "takes dispatches"},
    {"transfer", "takes copies"},
    {"graphics", "draws"},
    {NULL, NULL},
};
static PyStructSequence_Desc family_desc = {"kp.QueueFamily", "A family of queues of a device.", family_fields, 4};

static PyStructSequence_Field device_fields[] = {
    {"index", "what kp.Manager(index) takes"},
    {"name", "as the driver reports it"},
    {"driver", "the driver's name and version"},
    {"uuid", "32 hex digits; kp.Manager(uuid) takes it"},
    {"type", "'discrete', 'integrated', 'virtual', 'cpu' or 'other'"},
    {"vendor_id", "PCI vendor"},
    {"api_version", "of Vulkan, such as '1.3.239'"},
    {"memory", "bytes of the largest device-local heap"},
    {"unified", "host and device share memory"},
    {"max_workgroup_count", "workgroups per dispatch, each axis"},
    {"max_workgroup_size", "invocations per workgroup, each axis"},
    {"max_workgroup_invocations", "invocations per workgroup, in all"},
    {"max_push_constants", "bytes"},
    {"max_buffer_range", "bytes of one bound storage buffer"},
    {"max_allocation", "bytes of one allocation"},
    {"subgroup_size", "invocations that run in step, unless a kernel asks for another number"},
    {"min_subgroup_size", "the least that a kernel can ask for"},
    {"max_subgroup_size", "the most that a kernel can ask for"},
    {"max_shared_memory", "bytes per workgroup"},
    {"timestamps", "Sequence.get_timestamps() works"},
    {"timestamp_period", "nanoseconds per tick"},
    {"subgroup_ops", "frozenset of 'basic', 'vote', 'arithmetic', 'ballot', 'shuffle', 'shuffle_relative', "
                     "'clustered', 'quad'"},
    {"device_id", "the vendor's number of the product"},
    {"driver_id", "VkDriverId; 0: unknown"},
    {"driver_version", "in the vendor's own form"},
    {"driver_uuid", "32 hex digits: what memory and semaphores are shared within"},
    {"max_storage_buffers", "bound by one kernel"},
    {"max_uniform_buffers", "bound by one kernel"},
    {"max_storage_images", "bound by one kernel"},
    {"max_sampled_images", "bound by one kernel"},
    {"max_samplers", "bound by one kernel"},
    {"max_uniform_range", "bytes of one bound uniform buffer"},
    {"storage_alignment", "bytes: where in a tensor a view that a kernel binds may begin"},
    {"uniform_alignment", "... as a uniform buffer"},
    {"max_image_size", "pixels on an axis of a 1-D, a 2-D and a 3-D image"},
    {"max_allocations", "live device allocations"},
    {"memory_heaps", "tuple of (bytes, is device-local)"},
#define KP_X(name, meaning) {#name, meaning},
    KP_DEVICE_FEATURES(KP_X)
#undef KP_X
        {"queue_families", "tuple of kp.QueueFamily; kp.Manager(device, [index, ...]) takes their indices"},
    {NULL, NULL},
};
static PyStructSequence_Desc device_desc = {"kp.Device", "What is known about a device before a manager is made on it.",
                                            device_fields, sizeof device_fields / sizeof *device_fields - 1};

int ext_device_init(kp_ext *ext, PyObject *module) {
    ext->family_type = PyStructSequence_NewType(&family_desc);
    ext->device_type = PyStructSequence_NewType(&device_desc);
    if (ext->family_type == NULL || ext->device_type == NULL)
        return -1;
    if (PyModule_AddType(module, ext->family_type) < 0)
        return -1;
    return PyModule_AddType(module, ext->device_type);
}

static PyObject *three(const uint32_t v[3]) {
    return Py_BuildValue("(kkk)", (unsigned long)v[0], (unsigned long)v[1], (unsigned long)v[2]);
}

static PyObject *uuid(const uint8_t bytes[16]) {
    char text[33];
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return PyUnicode_FromString(text);
}

static const char *type_name(kp_device_type type) {
    switch (type) {
    case KP_DEVICE_INTEGRATED:
        return "integrated";
    case KP_DEVICE_DISCRETE:
        return "discrete";
    case KP_DEVICE_VIRTUAL:
        return "virtual";
    case KP_DEVICE_CPU:
        return "cpu";
    case KP_DEVICE_OTHER:
        break;
    }
    return "other";
}

static PyObject *version(uint32_t v) {
    return PyUnicode_FromFormat("%u.%u.%u", (v >> 22) & 0x7Fu, (v >> 12) & 0x3FFu, v & 0xFFFu);
}

// Fills one field after the other; a NULL value ends it with its exception.
typedef struct filler {
    PyObject *object;
    Py_ssize_t next;
    bool failed;
} filler;

static void put(filler *f, PyObject *value) {
    if (value == NULL || f->failed) {
        Py_XDECREF(value);
        f->failed = true;
        return;
    }
    PyStructSequence_SetItem(f->object, f->next++, value);
}

static PyObject *finish(filler *f) {
    if (f->failed)
        Py_CLEAR(f->object);
    return f->object;
}

static PyObject *families(kp_ext *ext, const kp_device_info *info) {
    PyObject *all = PyTuple_New((Py_ssize_t)info->queue_family_count);
    for (uint32_t i = 0; all != NULL && i < info->queue_family_count; i++) {
        filler f = {.object = PyStructSequence_New(ext->family_type)};
        f.failed = f.object == NULL;
        put(&f, PyLong_FromUnsignedLong(info->queue_families[i].count));
        put(&f, PyBool_FromLong(info->queue_families[i].compute));
        put(&f, PyBool_FromLong(info->queue_families[i].transfer));
        put(&f, PyBool_FromLong(info->queue_families[i].graphics));
        PyObject *family = finish(&f);
        if (family == NULL)
            Py_CLEAR(all);
        else
            PyTuple_SetItem(all, i, family);
    }
    return all;
}

static PyObject *subgroup_ops(uint32_t flags) {
    static const char *const names[] = {"basic",     "vote", "arithmetic", "ballot", "shuffle", "shuffle_relative",
                                        "clustered", "quad"};
    PyObject *list = PyList_New(0), *set = NULL;
    for (unsigned i = 0; list != NULL && i < sizeof names / sizeof *names; i++) {
        PyObject *name = (flags >> i & 1) != 0 ? PyUnicode_FromString(names[i]) : NULL;
        if ((flags >> i & 1) != 0 && (name == NULL || PyList_Append(list, name) < 0))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    if (list != NULL)
        set = PyFrozenSet_New(list);
    Py_XDECREF(list);
    return set;
}

static PyObject *heaps(const kp_device_info *info) {
    uint32_t count = info->memory_heap_count < KP_MAX_MEMORY_HEAPS ? info->memory_heap_count : KP_MAX_MEMORY_HEAPS;
    PyObject *all = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; all != NULL && i < count; i++) {
        PyObject *heap = Py_BuildValue("(KN)", (unsigned long long)info->memory_heaps[i].bytes,
                                       PyBool_FromLong(info->memory_heaps[i].device_local));
        if (heap == NULL)
            Py_CLEAR(all);
        else
            PyTuple_SetItem(all, (Py_ssize_t)i, heap);
    }
    return all;
}

PyObject *ext_device_object(kp_ext *ext, const kp_device_info *info) {
    filler f = {.object = PyStructSequence_New(ext->device_type)};
    f.failed = f.object == NULL;
    put(&f, PyLong_FromUnsignedLong(info->index));
    put(&f, PyUnicode_DecodeUTF8(info->name, (Py_ssize_t)strlen(info->name), "replace"));
    put(&f, PyUnicode_DecodeUTF8(info->driver, (Py_ssize_t)strlen(info->driver), "replace"));
    put(&f, uuid(info->uuid));
    put(&f, PyUnicode_FromString(type_name(info->type)));
    put(&f, PyLong_FromUnsignedLong(info->vendor_id));
    put(&f, version(info->api_version));
    put(&f, PyLong_FromUnsignedLongLong(info->memory));
    put(&f, PyBool_FromLong(info->unified));
    put(&f, three(info->max_workgroup_count));
    put(&f, three(info->max_workgroup_size));
    put(&f, PyLong_FromUnsignedLong(info->max_workgroup_invocations));
    put(&f, PyLong_FromUnsignedLong(info->max_push_constants));
    put(&f, PyLong_FromUnsignedLongLong(info->max_buffer_range));
    put(&f, PyLong_FromUnsignedLongLong(info->max_allocation));
    put(&f, PyLong_FromUnsignedLong(info->subgroup_size));
    put(&f, PyLong_FromUnsignedLong(info->min_subgroup_size));
    put(&f, PyLong_FromUnsignedLong(info->max_subgroup_size));
    put(&f, PyLong_FromUnsignedLong(info->max_shared_memory));
    put(&f, PyBool_FromLong(info->timestamps));
    put(&f, PyFloat_FromDouble(info->timestamp_period));
    put(&f, subgroup_ops(info->subgroup_ops));
    put(&f, PyLong_FromUnsignedLong(info->device_id));
    put(&f, PyLong_FromUnsignedLong(info->driver_id));
    put(&f, PyLong_FromUnsignedLong(info->driver_version));
    put(&f, uuid(info->driver_uuid));
    put(&f, PyLong_FromUnsignedLong(info->max_storage_buffers));
    put(&f, PyLong_FromUnsignedLong(info->max_uniform_buffers));
    put(&f, PyLong_FromUnsignedLong(info->max_storage_images));
    put(&f, PyLong_FromUnsignedLong(info->max_sampled_images));
    put(&f, PyLong_FromUnsignedLong(info->max_samplers));
    put(&f, PyLong_FromUnsignedLong(info->max_uniform_range));
    put(&f, PyLong_FromUnsignedLong(info->storage_alignment));
    put(&f, PyLong_FromUnsignedLong(info->uniform_alignment));
    put(&f, three(info->max_image_size));
    put(&f, PyLong_FromUnsignedLong(info->max_allocations));
    put(&f, heaps(info));
#define KP_X(name, meaning) put(&f, PyBool_FromLong(info->name));
    KP_DEVICE_FEATURES(KP_X)
#undef KP_X
    put(&f, families(ext, info));
    return finish(&f);
}

PyObject *ext_device_properties(const kp_device_info *info) {
    return Py_BuildValue(
        "{s:s,s:N,s:k,s:N,s:O}", "device_name", info->name, "max_work_group_count", three(info->max_workgroup_count),
        "max_work_group_invocations", (unsigned long)info->max_workgroup_invocations, "max_work_group_size",
        three(info->max_workgroup_size), "timestamps_supported", info->timestamps ? Py_True : Py_False);
}

// All devices; the caller frees them. The loader reads files and opens drivers: the GIL is released.
static kp_device_info *all_devices(kp_ext *ext, size_t *count) {
    kp_device_info *infos = NULL;
    size_t room = 0;
    kp_result result;
    do { // again when a device appears in between
        room = room == 0 ? 8 : *count;
        free(infos);
        infos = calloc(room, sizeof *infos);
        if (infos == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        PyThreadState *thread = ext_core_go();
        result = kp_devices(infos, room, count);
        ext_core_come(thread);
        if (result != KP_OK) {
            free(infos);
            ext_error_raise(ext, result);
            return NULL;
        }
    } while (*count > room);
    return infos;
}

static PyObject *each_device(kp_ext *ext, bool dicts) {
    ext_log_follow();
    size_t count;
    kp_device_info *infos = all_devices(ext, &count);
    if (infos == NULL)
        return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *device = dicts ? ext_device_properties(&infos[i]) : ext_device_object(ext, &infos[i]);
        if (device == NULL || PyList_Append(list, device) < 0)
            Py_CLEAR(list);
        Py_XDECREF(device);
    }
    free(infos);
    return list;
}

PyObject *ext_device_all(kp_ext *ext) { return each_device(ext, false); }

PyObject *ext_device_list(kp_ext *ext) { return each_device(ext, true); }

PyObject *ext_device_extensions(PyObject *module, PyObject *object) {
    kp_ext *ext = PyModule_GetState(module);
    uint32_t index;
    size_t count = 0, room = 0;
    kp_extension_name *names = NULL;
    if (ext_element_count(KP_U32, object, "index", &index) < 0)
        return NULL;
    kp_result result;
    do { // once for their number
        room = count;
        free(names);
        names = calloc(room + 1, sizeof *names);
        if (names == NULL)
            return PyErr_NoMemory();
        PyThreadState *thread = ext_core_go();
        result = kp_device_extensions(index, names, room, &count);
        ext_core_come(thread);
    } while (result == KP_OK && count > room);
    PyObject *list = result == KP_OK ? PyList_New(0) : ext_error_raise(ext, result);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (name == NULL || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    free(names);
    return list;
}
