// See device.h.
#include "device.h"

#include "base/alloc.h"
#include "base/str.h"
#include "command.h"
#include "guard.h"
#include "loader.h"
#include "names.h"
#include "pixels.h"
#include "queues.h"

#include <stdio.h>
#include <string.h>

kp_result kp_device_check(kp_device *device, VkResult result, const char *call) {
    if (result >= 0)
        return KP_OK;
    if (result == VK_ERROR_DEVICE_LOST)
        atomic_store(&device->lost, true);
    return kp_names_check(result, call, device->label);
}

void kp_device_name(const kp_device *device, VkObjectType type, uint64_t handle, const char *name) {
    if (device->set_name == NULL || name == NULL || handle == 0)
        return;
    kp_loader_lock();
    device->set_name(device->handle,
                     &(VkDebugUtilsObjectNameInfoEXT){.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                                      .objectType = type,
                                                      .objectHandle = handle,
                                                      .pObjectName = name});
    kp_loader_unlock();
}

// The extensions to enable: kp's own and the caller's, each once.
static kp_result collect_extensions(kp_device *device, const kp_device_desc *desc, const VkExtensionProperties *there,
                                    uint32_t there_count, const char **list, uint32_t *count) {
    for (uint32_t i = 0; i < device->features.extension_count; i++)
        list[(*count)++] = device->features.extensions[i];
    for (size_t i = 0; i < desc->extension_count; i++) {
        const char *name = desc->extensions[i];
        if (name == NULL)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: extension %zu is NULL", device->label, i);
        if (!kp_features_has_extension(there, there_count, name))
            return kp_error_set(KP_ERROR_UNSUPPORTED, "%s: the device has no extension '%s'", device->label, name);
        bool known = false;
        for (uint32_t k = 0; k < *count; k++)
            known = known || strcmp(list[k], name) == 0;
        if (!known)
            list[(*count)++] = name;
    }
    return KP_OK;
}

// Those of extensions. One that lacks its functions counts as not there.
static void load_optional(kp_device *device, PFN_vkGetDeviceProcAddr get) {
    kp_device_functions *vk = &device->vk;
    kp_features *f = &device->features;
#define LOAD(name) vk->name = (PFN_##name)get(device->handle, #name)
#define LOAD_PROMOTED(name) \
    LOAD(name);             \
    if (vk->name == NULL)   \
    vk->name = (PFN_##name)get(device->handle, #name "KHR")
    LOAD(vkCmdPushDescriptorSetKHR);
    LOAD(vkGetMemoryHostPointerPropertiesEXT);
    LOAD(vkGetMemoryFdKHR);
    LOAD(vkGetMemoryFdPropertiesKHR);
    LOAD(vkGetSemaphoreFdKHR);
    LOAD(vkImportSemaphoreFdKHR);
    LOAD_PROMOTED(vkGetSemaphoreCounterValue);
    LOAD_PROMOTED(vkSignalSemaphore);
    LOAD_PROMOTED(vkWaitSemaphores);
#undef LOAD_PROMOTED
#undef LOAD
    f->push_descriptors = f->push_descriptors && vk->vkCmdPushDescriptorSetKHR != NULL;
    f->host_import = f->host_import && vk->vkGetMemoryHostPointerPropertiesEXT != NULL;
    f->memory_fd = f->memory_fd && vk->vkGetMemoryFdKHR != NULL && vk->vkGetMemoryFdPropertiesKHR != NULL;
    f->dma_buf = f->dma_buf && f->memory_fd;
    f->semaphore_fd = f->semaphore_fd && vk->vkGetSemaphoreFdKHR != NULL && vk->vkImportSemaphoreFdKHR != NULL;
}

static kp_result load_functions(kp_device *device) {
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)device->instance->get_proc(device->instance->handle, "vkGetDeviceProcAddr");
    if (get == NULL)
        return kp_error_set(KP_ERROR_DRIVER, "the Vulkan loader has no vkGetDeviceProcAddr");
#define KP_X(name)                                                       \
    device->vk.vk##name = (PFN_vk##name)get(device->handle, "vk" #name); \
    if (device->vk.vk##name == NULL)                                     \
        return kp_error_set(KP_ERROR_DRIVER, "%s: the driver has no vk" #name, device->label);
    KP_DEVICE_FUNCTIONS(KP_X)
#undef KP_X
    load_optional(device, get);
    if (device->instance->labels) {
        const kp_instance *instance = device->instance;
        device->vk.vkCmdBeginDebugUtilsLabelEXT =
            (PFN_vkCmdBeginDebugUtilsLabelEXT)instance->get_proc(instance->handle, "vkCmdBeginDebugUtilsLabelEXT");
        device->vk.vkCmdEndDebugUtilsLabelEXT =
            (PFN_vkCmdEndDebugUtilsLabelEXT)instance->get_proc(instance->handle, "vkCmdEndDebugUtilsLabelEXT");
        device->set_name =
            (PFN_vkSetDebugUtilsObjectNameEXT)instance->get_proc(instance->handle, "vkSetDebugUtilsObjectNameEXT");
    }
    return KP_OK;
}

static kp_result open_device(kp_device *device, const kp_queues_plan *plan, const char *const *extensions,
                             uint32_t extension_count) {
    float priorities[KP_QUEUES_MAX + 1];
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++)
        priorities[i] = 1.0f;
    VkDeviceQueueCreateInfo queues[KP_INFO_MAX_FAMILIES];
    for (uint32_t i = 0; i < plan->used_count; i++)
        queues[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                              .queueFamilyIndex = plan->used[i],
                                              .queueCount = plan->opened[plan->used[i]],
                                              .pQueuePriorities = priorities};
    VkResult result =
        device->instance->CreateDevice(device->physical,
                                       &(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                                             .pNext = &device->features.core,
                                                             .queueCreateInfoCount = plan->used_count,
                                                             .pQueueCreateInfos = queues,
                                                             .enabledExtensionCount = extension_count,
                                                             .ppEnabledExtensionNames = extensions},
                                       NULL, &device->handle);
    if (result < 0)
        return kp_device_check(device, result, "vkCreateDevice");
    return load_functions(device);
}

static kp_result open_locked(kp_device *device, const kp_queues_plan *plan, const char *const *extensions,
                             uint32_t extension_count) {
    kp_loader_lock();
    kp_result result =
        device->foreign ? load_functions(device) : open_device(device, plan, extensions, extension_count);
    kp_loader_unlock();
    return result;
}

static kp_result get_queues(kp_device *device, const kp_queues_plan *plan, const kp_device_given *given) {
    device->queues = kp_alloc_zero(plan->count, sizeof *device->queues);
    if (device->queues == NULL)
        return kp_error_host_memory(plan->count * sizeof *device->queues);
    device->queue_count = plan->named;
    device->family_count = plan->used_count;
    device->named_family_count = plan->named_family_count;
    memcpy(device->families, plan->used, sizeof device->families);
    while (device->all_queue_count < plan->count) {
        uint32_t i = device->all_queue_count++;
        kp_queue *queue = &device->queues[i];
        queue->family = plan->families[i];
        queue->owner = plan->owners[i];
        queue->tells = plan->named > 1 || i >= plan->named;
        pthread_mutex_init(&queue->lock, NULL);
        if (given != NULL)
            queue->handle = given->queues[i];
        else
            device->vk.vkGetDeviceQueue(device->handle, queue->family, plan->indices[i], &queue->handle);
    }
    return KP_OK;
}

static kp_result make_timelines(kp_device *device) {
    if (device->all_queue_count == 1)
        return KP_OK;
    if (!device->features.timeline.timelineSemaphore)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "%s: several queues need timelineSemaphore, which the device lacks",
                            device->label);
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    kp_result result = KP_OK;
    for (uint32_t i = 0; i < device->all_queue_count && result == KP_OK; i++)
        result = KP_VK(device, CreateSemaphore, device->handle, &info, NULL, &device->queues[i].timeline);
    return result;
}

static void drop_timelines(kp_device *device) {
    for (uint32_t i = 0; i < device->all_queue_count; i++) {
        if (device->queues[i].timeline != VK_NULL_HANDLE)
            device->vk.vkDestroySemaphore(device->handle, device->queues[i].timeline, NULL);
    }
}

static void name_all(const kp_device *device) {
    char text[64];
    kp_device_name(device, VK_OBJECT_TYPE_DEVICE, KP_DEVICE_HANDLE(device->handle), device->label);
    for (uint32_t i = 0; i < device->all_queue_count; i++) {
        snprintf(text, sizeof text, "queue %u of family %u", i, device->queues[i].family);
        kp_device_name(device, VK_OBJECT_TYPE_QUEUE, KP_DEVICE_HANDLE(device->queues[i].handle), text);
        kp_device_name(device, VK_OBJECT_TYPE_SEMAPHORE, KP_DEVICE_HANDLE(device->queues[i].timeline), text);
    }
}

// The queue for copies is beside those of a device that kp makes, where memory has to be copied; ordering it needs
// timelines.
static kp_result choose_queues(const kp_device *device, const kp_device_desc *desc, kp_queues_plan *plan) {
    const kp_queues_request request = {.families = desc->families,
                                       .count = desc->family_count,
                                       .indices_alone = desc->given != NULL,
                                       .copies = desc->given == NULL && (desc->separate || !device->info.unified) &&
                                                 device->features.timeline.timelineSemaphore,
                                       .label = device->label};
    return kp_queues_choose(&device->info, &device->limits, &request, plan);
}

// All that can fail.
static kp_result build(kp_device *device, const kp_device_desc *desc, VkExtensionProperties **there,
                       const char ***names) {
    uint32_t there_count = 0, name_count = 0;
    kp_features_given given = {.extensions = desc->extensions, .extension_count = desc->extension_count};
    if (desc->given != NULL)
        given.features = desc->given->features;
    kp_result result = kp_info_query(device->instance, desc->index, desc->given != NULL ? &given : NULL, &device->info,
                                     &device->limits, &device->features, there, &there_count);
    if (result != KP_OK)
        return result;
    device->label = kp_alloc_text(desc->label != NULL ? desc->label : device->info.name);
    size_t room = KP_FEATURES_MAX_EXTENSIONS + desc->extension_count;
    *names = kp_alloc_zero(room, sizeof **names);
    if (device->label == NULL || *names == NULL)
        return kp_error_host_memory(room * sizeof **names);
    if (device->limits.api_version < VK_API_VERSION_1_1)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "%s: the device has Vulkan 1.0 only, 1.1 is needed", device->label);
    kp_queues_plan plan;
    result = choose_queues(device, desc, &plan);
    if (result == KP_OK)
        result = collect_extensions(device, desc, *there, there_count, *names, &name_count);
    if (result == KP_OK)
        result = open_locked(device, &plan, *names, name_count);
    if (result == KP_OK)
        result = get_queues(device, &plan, desc->given);
    if (result == KP_OK)
        result = make_timelines(device);
    if (result == KP_OK)
        name_all(device);
    return result;
}

kp_result kp_device_create(kp_instance *instance, const kp_device_desc *desc, kp_device **out) {
    kp_device *device = kp_alloc_zero(1, sizeof *device);
    if (device == NULL) {
        kp_instance_destroy(instance);
        return kp_error_host_memory(sizeof *device);
    }
    atomic_store(&device->refs, 1);
    device->instance = instance;
    device->physical = instance->devices[desc->index];
    if (desc->given != NULL) {
        device->foreign = true;
        device->handle = desc->given->handle;
        device->guard = desc->given->guard;
    }
    pthread_mutex_init(&device->command_lock, NULL);
    kp_heap_init(device);
    kp_disk_cache_init(&device->disk_cache);
    VkExtensionProperties *there = NULL;
    const char **names = NULL;
    kp_result result = build(device, desc, &there, &names);
    kp_alloc_free(there);
    kp_alloc_free(names);
    if (result != KP_OK) {
        kp_device_release(device);
        return result;
    }
    if (device->foreign)
        device->info.index = UINT32_MAX; // of no list
    device->unified_flags = kp_info_unified_flags(device->info.type, &device->limits.memory);
    *out = device;
    return KP_OK;
}

void kp_device_hold(kp_device *device) { atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed); }

void kp_device_release(kp_device *device) {
    if (atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) != 1)
        return;
    kp_disk_cache_close(device);
    if (device->handle != VK_NULL_HANDLE) {
        drop_timelines(device);
        kp_command_drop_idle(device);
        kp_pixels_destroy_samplers(device);
        kp_heap_destroy(device);
        kp_loader_lock();
        if (!device->foreign)
            device->vk.vkDestroyDevice(device->handle, NULL);
        kp_loader_unlock();
    }
    kp_instance_destroy(device->instance);
    for (uint32_t i = 0; i < device->all_queue_count; i++)
        pthread_mutex_destroy(&device->queues[i].lock);
    pthread_mutex_destroy(&device->command_lock);
    pthread_mutex_destroy(&device->heap.lock);
    kp_alloc_free(device->queues);
    kp_alloc_free(device->label);
    kp_alloc_free(device);
}

void kp_device_lock_queue(kp_device *device, kp_queue *queue) {
    kp_guard_lock(&device->queues[queue->owner].lock);
    if (device->guard.lock != NULL)
        device->guard.lock(device->guard.payload, queue->handle);
}

void kp_device_unlock_queue(kp_device *device, kp_queue *queue) {
    if (device->guard.unlock != NULL)
        device->guard.unlock(device->guard.payload, queue->handle);
    kp_guard_unlock(&device->queues[queue->owner].lock);
}

kp_result kp_device_wait(kp_device *device) {
    kp_result result = KP_OK;
    for (uint32_t i = 0; i < device->all_queue_count; i++) {
        kp_queue *queue = &device->queues[i];
        kp_device_lock_queue(device, queue);
        kp_result one = KP_VK(device, QueueWaitIdle, queue->handle);
        kp_device_unlock_queue(device, queue);
        if (result == KP_OK)
            result = one;
    }
    return result;
}
