// See devices.h, and kp_devices in kp/runtime.h.
#include "devices.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Listing
// ---------------------------------------------------------------------------------------------------------------------

static kp_device_type as_type(VkPhysicalDeviceType type) {
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

kp_device_info kp_devices_describe(const kp_info *info) {
    kp_device_info d = {.index = info->index,
                        .type = as_type(info->type),
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
                        .float16 = info->float16,
                        .float64 = info->float64,
                        .int8 = info->int8,
                        .int16 = info->int16,
                        .int64 = info->int64,
                        .storage8 = info->storage8,
                        .storage16 = info->storage16,
                        .queue_family_count = info->queue_family_count};
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
            infos[i] = kp_devices_describe(&info);
    }
    if (result == KP_OK)
        *count = instance->device_count;
    kp_alloc_free(features);
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

static kp_result not_found(const kp_instance *instance, const char *text) {
    kp_str list = {0};
    for (uint32_t i = 0; i < instance->device_count; i++) {
        VkPhysicalDeviceProperties p;
        instance->GetPhysicalDeviceProperties(instance->devices[i], &p);
        kp_str_format(&list, "%s%u (%s)", i != 0 ? ", " : "", i, p.deviceName);
    }
    kp_result result = kp_error_set(KP_ERROR_ARGUMENT, "there is no device '%s'; there are: %s", text,
                                    list.data != NULL ? list.data : "");
    kp_str_free(&list);
    return result;
}

kp_result kp_devices_choose(const kp_instance *instance, const char *text, uint32_t *out) {
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
        return not_found(instance, text);
    *out = found;
    return KP_OK;
}
