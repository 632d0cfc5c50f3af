// See devices.h, and kp_devices in kp/runtime.h.
#include "devices.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "vulkan/features.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Listing
// ---------------------------------------------------------------------------------------------------------------------

kp_device_type kp_devices_type(VkPhysicalDeviceType type) {
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return KP_DEVICE_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return KP_DEVICE_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return KP_DEVICE_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return KP_DEVICE_CPU;
    default:
        return KP_DEVICE_OTHER;
    }
}

// X(field, condition on `f`)
#define FEATURES(X)                                                             \
    X(float16, f->small.shaderFloat16)                                          \
    X(float64, f->core.features.shaderFloat64)                                  \
    X(int8, f->small.shaderInt8)                                                \
    X(int16, f->core.features.shaderInt16)                                      \
    X(int64, f->core.features.shaderInt64)                                      \
    X(storage8, f->storage8.storageBuffer8BitAccess)                            \
    X(storage16, f->storage16.storageBuffer16BitAccess)                         \
    X(uniform8, f->storage8.uniformAndStorageBuffer8BitAccess)                  \
    X(uniform16, f->storage16.uniformAndStorageBuffer16BitAccess)               \
    X(push8, f->storage8.storagePushConstant8)                                  \
    X(push16, f->storage16.storagePushConstant16)                               \
    X(atomic_int64, f->atomic64.shaderBufferInt64Atomics)                       \
    X(atomic_int64_shared, f->atomic64.shaderSharedInt64Atomics)                \
    X(atomic_float32_add, f->atomic_float.shaderBufferFloat32AtomicAdd)         \
    X(atomic_float32_add_shared, f->atomic_float.shaderSharedFloat32AtomicAdd)  \
    X(atomic_float64_add, f->atomic_float.shaderBufferFloat64AtomicAdd)         \
    X(atomic_float16_add, f->atomic_float2.shaderBufferFloat16AtomicAdd)        \
    X(atomic_float32_min_max, f->atomic_float2.shaderBufferFloat32AtomicMinMax) \
    X(scalar_layout, f->scalar.scalarBlockLayout)                               \
    X(uniform_standard_layout, f->standard.uniformBufferStandardLayout)         \
    X(subgroup_extended_types, f->subgroup_types.shaderSubgroupExtendedTypes)   \
    X(subgroup_size_control, f->subgroup_size.subgroupSizeControl)              \
    X(integer_dot_product, f->dot.shaderIntegerDotProduct)                      \
    X(memory_model, f->memory_model.vulkanMemoryModel)                          \
    X(zero_shared_memory, f->zero_shared.shaderZeroInitializeWorkgroupMemory)   \
    X(cooperative_matrix, f->matrix_nv.cooperativeMatrix)                       \
    X(shader_clock, f->clock.shaderSubgroupClock)                               \
    X(robust_access, f->core.features.robustBufferAccess)                       \
    X(robust_access2, f->robustness2.robustBufferAccess2)                       \
    X(timeline_semaphores, f->timeline.timelineSemaphore)                       \
    X(push_descriptors, f->push_descriptors)                                    \
    X(memory_budget, f->memory_budget)                                          \
    X(host_import, f->host_import)                                              \
    X(memory_fd, f->memory_fd)                                                  \
    X(dma_buf, f->dma_buf)                                                      \
    X(semaphore_fd, f->semaphore_fd)                                            \
    X(portability, f->portability)

static void describe_features(const kp_features *f, kp_device_info *d) {
#define X(field, condition) d->field = (condition) != 0;
    FEATURES(X)
#undef X
}

static void describe_limits(const kp_info_limits *limits, kp_device_info *d) {
    d->device_id = limits->device_id;
    d->driver_id = limits->driver;
    d->driver_version = limits->driver_version;
    memcpy(d->driver_uuid, limits->driver_uuid, sizeof d->driver_uuid);
    d->max_storage_buffers = limits->max_storage_buffers;
    d->max_uniform_buffers = limits->max_uniform_buffers;
    d->max_storage_images = limits->max_storage_images;
    d->max_sampled_images = limits->max_sampled_images;
    d->max_samplers = limits->max_samplers;
    d->max_uniform_range = limits->max_uniform_range;
    d->storage_alignment = (uint32_t)limits->storage_alignment;
    d->uniform_alignment = (uint32_t)limits->uniform_alignment;
    memcpy(d->max_image_size, limits->max_image_size, sizeof d->max_image_size);
    d->max_allocations = limits->max_allocations;
    d->memory_heap_count = limits->memory.memoryHeapCount;
    for (uint32_t i = 0; i < d->memory_heap_count && i < KP_MAX_MEMORY_HEAPS; i++) {
        d->memory_heaps[i].bytes = limits->memory.memoryHeaps[i].size;
        d->memory_heaps[i].device_local = (limits->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    }
}

kp_device_info kp_devices_describe(const kp_info *info, const kp_info_limits *limits, const kp_features *features) {
    kp_device_info d = {.index = info->index,
                        .type = kp_devices_type(info->type),
                        .vendor_id = info->vendor_id,
                        .api_version = info->api_version,
                        .memory = info->memory,
                        .unified = info->unified,
                        .max_workgroup_invocations = info->max_workgroup_invocations,
                        .max_push_constants = info->max_push_constants,
                        .max_buffer_range = info->max_buffer_range,
                        .max_allocation = info->max_allocation,
                        .subgroup_size = info->subgroup_size,
                        .min_subgroup_size = info->min_subgroup_size,
                        .max_subgroup_size = info->max_subgroup_size,
                        .max_shared_memory = info->max_shared_memory,
                        .timestamps = info->timestamps,
                        .timestamp_period = info->timestamp_period,
                        .subgroup_ops = features->subgroup_ops,
                        .queue_family_count = info->queue_family_count};
    describe_features(features, &d);
    describe_limits(limits, &d);
    memcpy(d.name, info->name, sizeof d.name);
    memcpy(d.driver, info->driver, sizeof d.driver);
    memcpy(d.uuid, info->uuid, sizeof d.uuid);
    memcpy(d.max_workgroup_count, info->max_workgroup_count, sizeof d.max_workgroup_count);
    memcpy(d.max_workgroup_size, info->max_workgroup_size, sizeof d.max_workgroup_size);
    for (uint32_t i = 0; i < info->queue_family_count && i < KP_MAX_QUEUE_FAMILIES; i++) {
        d.queue_families[i].count = info->queue_families[i].count;
        d.queue_families[i].compute = info->queue_families[i].compute;
        d.queue_families[i].transfer = info->queue_families[i].transfer;
        d.queue_families[i].graphics = info->queue_families[i].graphics;
    }
    return d;
}

kp_result kp_devices(kp_device_info *infos, size_t capacity, size_t *count) {
    if (count == NULL || (infos == NULL && capacity != 0))
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_devices: %s is NULL", count == NULL ? "count" : "infos");
    kp_instance *instance = NULL;
    kp_result result = kp_instance_create(false, false, &instance);
    if (result == KP_ERROR_NO_DEVICE) {
        *count = 0;
        return KP_OK;
    }
    if (result != KP_OK)
        return result;
    kp_features *features = kp_alloc_zero(1, sizeof *features);
    if (features == NULL)
        result = kp_error_host_memory(sizeof *features);
    for (uint32_t i = 0; i < instance->device_count && i < capacity && result == KP_OK; i++) {
        kp_info_limits limits;
        kp_info info;
        result = kp_info_query(instance, i, NULL, &info, &limits, features, NULL, NULL);
        if (result == KP_OK)
            infos[i] = kp_devices_describe(&info, &limits, features);
    }
    if (result == KP_OK)
        *count = instance->device_count;
    kp_alloc_free(features);
    kp_instance_destroy(instance);
    return result;
}

static kp_result list_extensions(const kp_instance *instance, uint32_t index, kp_extension_name *names, size_t capacity,
                                 size_t *count) {
    VkExtensionProperties *there = NULL;
    uint32_t there_count = 0;
    if (index >= instance->device_count)
        return kp_error_set(KP_ERROR_INDEX, "kp_device_extensions: there is no device %u, there are %u", index,
                            instance->device_count);
    kp_result result = kp_features_extensions(instance, instance->devices[index], &there, &there_count);
    if (result != KP_OK)
        return result;
    for (uint32_t i = 0; i < there_count && i < capacity; i++)
        memcpy(names[i], there[i].extensionName, sizeof names[i]);
    *count = there_count;
    kp_alloc_free(there);
    return KP_OK;
}

kp_result kp_device_extensions(uint32_t index, kp_extension_name *names, size_t capacity, size_t *count) {
    if (count == NULL || (names == NULL && capacity != 0))
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_device_extensions: %s is NULL", count == NULL ? "count" : "names");
    kp_instance *instance = NULL;
    kp_result result = kp_instance_create(false, false, &instance);
    if (result == KP_ERROR_NO_DEVICE)
        return kp_error_set(KP_ERROR_INDEX, "kp_device_extensions: there is no device %u, there are none", index);
    if (result != KP_OK)
        return result;
    result = list_extensions(instance, index, names, capacity, count);
    kp_instance_destroy(instance);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Choosing
// ---------------------------------------------------------------------------------------------------------------------

// How much a device is preferred; 0: it cannot be used.
static int rank(const VkPhysicalDeviceProperties *p) {
    if (p->apiVersion < VK_API_VERSION_1_1)
        return 0;
    switch (p->deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 5;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 2;
    default:
        return 1;
    }
}

// "1" and the like. False: not a number.
static bool read_index(const char *text, uint64_t *out) {
    uint64_t index = 0;
    size_t length = strlen(text);
    if (length == 0 || length > 9)
        return false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9')
            return false;
        index = index * 10 + (uint64_t)(*c - '0');
    }
    *out = index;
    return true;
}

// 32 hex digits, dashes between them. False: not a UUID.
static bool read_uuid(const char *text, uint8_t uuid[VK_UUID_SIZE]) {
    static const char hex[] = "0123456789abcdef";
    unsigned digits = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '-')
            continue;
        const char *digit = strchr(hex, tolower((unsigned char)*c));
        if (digit == NULL || digits == 2 * VK_UUID_SIZE)
            return false;
        unsigned value = (unsigned)(digit - hex);
        uuid[digits / 2] = (uint8_t)(digits % 2 == 0 ? value << 4 : uuid[digits / 2] | value);
        digits++;
    }
    return digits == 2 * VK_UUID_SIZE;
}

static bool has_uuid(const kp_instance *instance, VkPhysicalDevice device, const uint8_t uuid[VK_UUID_SIZE]) {
    VkPhysicalDeviceProperties p;
    instance->GetPhysicalDeviceProperties(device, &p);
    if (p.apiVersion < VK_API_VERSION_1_1)
        return false;
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    instance->GetPhysicalDeviceProperties2(
        device, &(VkPhysicalDeviceProperties2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id});
    return memcmp(id.deviceUUID, uuid, VK_UUID_SIZE) == 0;
}

// strcasestr, which is not in POSIX.
static bool contains(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (i < length && text[i] != '\0' && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

// The best of those whose name has `part` in it (NULL: of all); device_count: none.
static uint32_t best(const kp_instance *instance, const char *part) {
    uint32_t found = instance->device_count;
    int points = part != NULL ? -1 : 0; // who names one gets it, also where it cannot be used: that is for later to say
    for (uint32_t i = 0; i < instance->device_count; i++) {
        VkPhysicalDeviceProperties p;
        instance->GetPhysicalDeviceProperties(instance->devices[i], &p);
        if (rank(&p) > points && (part == NULL || contains(p.deviceName, part))) {
            points = rank(&p);
            found = i;
        }
    }
    return found;
}

static kp_result not_found(const kp_instance *instance, const char *text, const char *from) {
    kp_str list = {0};
    for (uint32_t i = 0; i < instance->device_count; i++) {
        VkPhysicalDeviceProperties p;
        instance->GetPhysicalDeviceProperties(instance->devices[i], &p);
        kp_str_format(&list, "%s%u (%s)", i != 0 ? ", " : "", i, p.deviceName);
    }
    kp_result result =
        kp_error_set(KP_ERROR_ARGUMENT, "%s%sthere is no device '%s'; there are: %s", from != NULL ? from : "",
                     from != NULL ? ": " : "", text, list.data != NULL ? list.data : "");
    kp_str_free(&list);
    return result;
}

kp_result kp_devices_choose(const kp_instance *instance, const char *text, const char *from, uint32_t *out) {
    if (instance->device_count == 0)
        return kp_error_set(KP_ERROR_NO_DEVICE,
                            "no Vulkan device: the loader has drivers, but none of them drives anything here (Debian, "
                            "Ubuntu: apt install mesa-vulkan-drivers brings one for the CPU)");
    uint32_t found = instance->device_count;
    uint64_t index = 0;
    uint8_t uuid[VK_UUID_SIZE];
    if (text == NULL || text[0] == '\0') {
        found = best(instance, NULL);
        if (found == instance->device_count)
            return kp_error_set(KP_ERROR_NO_DEVICE,
                                "no usable Vulkan device: those that there are have Vulkan 1.0 only");
    } else if (read_index(text, &index)) {
        found = index < instance->device_count ? (uint32_t)index : instance->device_count;
    } else if (read_uuid(text, uuid)) {
        for (found = 0; found < instance->device_count && !has_uuid(instance, instance->devices[found], uuid);)
            found++;
    } else {
        found = best(instance, text);
    }
    if (found == instance->device_count)
        return not_found(instance, text, from);
    *out = found;
    return KP_OK;
}
