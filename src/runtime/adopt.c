// A manager on a Vulkan device of the caller's (kp/vulkan.h). What kp knows of such a device is what it is told: the
// physical device says what there could be, the caller what is enabled.
#include "manager.h"

#include "base/alloc.h"

#include <kp/vulkan.h>

static const char *missing(const kp_vulkan_device_desc *native) {
    return native->instance == VK_NULL_HANDLE          ? "instance"
           : native->physical_device == VK_NULL_HANDLE ? "physical_device"
           : native->device == VK_NULL_HANDLE          ? "device"
                                                       : NULL;
}

static kp_result check_queues(const kp_vulkan_device_desc *native) {
    if (native->queue_count == 0 || native->queues == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: there are no queues");
    for (size_t i = 0; i < native->queue_count; i++) {
        if (native->queues[i].queue == VK_NULL_HANDLE)
            return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: queue %zu is VK_NULL_HANDLE", i);
        for (size_t k = 0; k < i; k++) {
            if (native->queues[k].queue == native->queues[i].queue)
                return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: queues %zu and %zu are the same", k, i);
        }
    }
    return KP_OK;
}

static kp_result check(const kp_vulkan_device_desc *native, const kp_manager_desc *desc) {
    if (missing(native) != NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: %s is VK_NULL_HANDLE", missing(native));
    if (native->api_version < VK_API_VERSION_1_1)
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "kp_vulkan_adopt_device: api_version, which the instance was made for, is %u.%u; 1.1 is "
                            "needed",
                            VK_API_VERSION_MAJOR(native->api_version), VK_API_VERSION_MINOR(native->api_version));
    if (native->extension_count != 0 && native->extensions == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: extensions is NULL, but extension_count is %zu",
                            native->extension_count);
    if ((native->lock == NULL) != (native->unlock == NULL))
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: %s is NULL, but %s is not",
                            native->lock == NULL ? "lock" : "unlock", native->lock == NULL ? "unlock" : "lock");
    if (desc->device != NULL || desc->queue_family_count != 0 || desc->extension_count != 0 ||
        desc->validation == KP_ON)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: %s is for a device that kp makes",
                            desc->device != NULL            ? "device"
                            : desc->queue_family_count != 0 ? "queue_families"
                            : desc->extension_count != 0    ? "extensions"
                                                            : "validation");
    return check_queues(native);
}

static kp_result open_device(const kp_vulkan_device_desc *native, const kp_manager_desc *desc, kp_device **out) {
    kp_instance *instance = NULL;
    VkQueue *queues = kp_alloc_zero(native->queue_count, sizeof *queues);
    uint32_t *families = kp_alloc_zero(native->queue_count, sizeof *families);
    kp_result result = queues != NULL && families != NULL
                           ? kp_instance_adopt(native->get_instance_proc_addr, native->instance, native->api_version,
                                               native->physical_device, native->debug_utils, &instance)
                           : kp_error_host_memory(native->queue_count * sizeof *queues);
    for (size_t i = 0; i < native->queue_count && result == KP_OK; i++) {
        queues[i] = native->queues[i].queue;
        families[i] = native->queues[i].family;
    }
    if (result == KP_OK)
        result = kp_device_create(instance,
                                  &(kp_device_desc){.given = &(kp_device_given){.handle = native->device,
                                                                                .queues = queues,
                                                                                .features = native->features,
                                                                                .guard = {native->lock, native->unlock,
                                                                                          native->lock_payload}},
                                                    .families = families,
                                                    .family_count = native->queue_count,
                                                    .extensions = native->extensions,
                                                    .extension_count = native->extension_count,
                                                    .label = desc->label},
                                  out);
    kp_alloc_free(queues);
    kp_alloc_free(families);
    return result;
}

kp_result kp_vulkan_adopt_device(const kp_vulkan_device_desc *native, const kp_manager_desc *desc, kp_manager **out) {
    const kp_manager_desc defaults = {0};
    desc = desc != NULL ? desc : &defaults;
    if (native == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: %s is NULL", native == NULL ? "native" : "out");
    kp_device *device = NULL;
    kp_result result = check(native, desc);
    if (result == KP_OK)
        result = open_device(native, desc, &device);
    return result == KP_OK ? kp_manager_open(device, desc, out) : result;
}
