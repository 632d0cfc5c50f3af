// A Vulkan layer that gives a driver for the CPU two extensions that it lacks, so that what kp does with them can be
// tested there:
//
//     VK_KHR_portability_subset       a device that has it must be made with it, or is not made at all
//     VK_KHR_external_semaphore_fd    binary semaphores by SYNC_FD: a sync file is made when the signal is there, which
//                                     is allowed (its descriptor is of /dev/null, or -1 each second time), and is a
//                                     signal at once where it is imported
//
// What breaks Vulkan's rules for them ends the program. For one driver, and one device at a time per thread.
#include "../layer_link.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const VkExtensionProperties given[] = {{"VK_KHR_portability_subset", 1}, {"VK_KHR_external_semaphore_fd", 1}};
enum { PORTABILITY, SEMAPHORE_FD, GIVEN, MAX_EXTENSIONS = 512, MAX_DEVICES = 64 };

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkEnumerateDeviceExtensionProperties next_extensions;
static PFN_vkGetPhysicalDeviceExternalSemaphoreProperties next_semaphores;
static PFN_vkCreateSemaphore next_semaphore;
static PFN_vkGetDeviceQueue next_queue;
static PFN_vkQueueSubmit next_submit;
static PFN_vkCreateFence create_fence;
static PFN_vkWaitForFences wait_fences;
static PFN_vkDestroyFence destroy_fence;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the queues, and what follows
static struct {
    VkDevice device;
    VkQueue queue;
} queues[MAX_DEVICES];
static unsigned queue_count, exports;

static void stop(const char *words) {
    fprintf(stderr, "extensions_layer: %s\n", words);
    abort();
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *host, VkInstance *out) {
    VkResult result = layer_create_instance(info, host, out, &next_instance);
    if (result != VK_SUCCESS)
        return result;
    LAYER_NEXT(next_extensions, next_instance, *out, EnumerateDeviceExtensionProperties);
    LAYER_NEXT(next_semaphores, next_instance, *out, GetPhysicalDeviceExternalSemaphoreProperties);
    return VK_SUCCESS;
}

static bool has(const VkExtensionProperties *list, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    }
    return false;
}

// The driver's, and those of the above that it lacks.
static uint32_t list_extensions(VkPhysicalDevice device, VkExtensionProperties list[MAX_EXTENSIONS],
                                bool lacks[GIVEN]) {
    uint32_t count = MAX_EXTENSIONS - GIVEN;
    if (next_extensions(device, NULL, &count, list) < 0)
        stop("vkEnumerateDeviceExtensionProperties fails");
    uint32_t own = count;
    for (unsigned i = 0; i < GIVEN; i++) {
        lacks[i] = !has(list, own, given[i].extensionName);
        if (lacks[i])
            list[count++] = given[i];
    }
    return count;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                                VkExtensionProperties *out) {
    VkExtensionProperties list[MAX_EXTENSIONS];
    bool lacks[GIVEN];
    if (layer != NULL)
        return next_extensions(device, layer, count, out);
    uint32_t all = list_extensions(device, list, lacks);
    if (out == NULL) {
        *count = all;
        return VK_SUCCESS;
    }
    *count = *count < all ? *count : all;
    memcpy(out, list, *count * sizeof *list);
    return *count < all ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL get_semaphores(VkPhysicalDevice device,
                                                 const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                                 VkExternalSemaphoreProperties *out) {
    const VkSemaphoreTypeCreateInfo *type = info->pNext;
    bool timeline = type != NULL && type->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO &&
                    type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    next_semaphores(device, info, out);
    if (info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT || timeline)
        return;
    out->exportFromImportedHandleTypes = out->compatibleHandleTypes = info->handleType;
    out->externalSemaphoreFeatures =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    VkExtensionProperties list[MAX_EXTENSIONS];
    bool lacks[GIVEN], portable = false;
    const char *names[MAX_EXTENSIONS];
    VkDeviceCreateInfo copy = *info;
    copy.enabledExtensionCount = 0;
    copy.ppEnabledExtensionNames = names;
    list_extensions(physical, list, lacks);
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        const char *name = info->ppEnabledExtensionNames[i];
        bool ours = false;
        for (unsigned k = 0; k < GIVEN; k++)
            ours = ours || (lacks[k] && strcmp(name, given[k].extensionName) == 0);
        portable = portable || strcmp(name, given[PORTABILITY].extensionName) == 0;
        if (!ours)
            names[copy.enabledExtensionCount++] = name;
    }
    if (!portable)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult result = layer_create_device(physical, &copy, host, out, &next_device);
    if (result != VK_SUCCESS)
        return result;
    LAYER_NEXT(next_semaphore, next_device, *out, CreateSemaphore);
    LAYER_NEXT(next_queue, next_device, *out, GetDeviceQueue);
    LAYER_NEXT(next_submit, next_device, *out, QueueSubmit);
    LAYER_NEXT(create_fence, next_device, *out, CreateFence);
    LAYER_NEXT(wait_fences, next_device, *out, WaitForFences);
    LAYER_NEXT(destroy_fence, next_device, *out, DestroyFence);
    return VK_SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sync files
// ---------------------------------------------------------------------------------------------------------------------

// Handles come again: the last device that got one has it.
static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out) {
    next_queue(device, family, index, out);
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < queue_count && queues[i].device != device)
        i++;
    if (i == MAX_DEVICES)
        stop("too many devices");
    queue_count += i == queue_count;
    queues[i].device = device;
    queues[i].queue = *out;
    pthread_mutex_unlock(&lock);
}

static VkQueue queue_of(VkDevice device) {
    for (unsigned i = 0; i < queue_count; i++) {
        if (queues[i].device == device)
            return queues[i].queue;
    }
    stop("the device has no queue");
    return VK_NULL_HANDLE;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
    pthread_mutex_lock(&lock);
    VkResult result = next_submit(queue, count, infos, fence);
    pthread_mutex_unlock(&lock);
    return result;
}

// The driver hears nothing of sync files.
static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *host, VkSemaphore *out) {
    const VkExportSemaphoreCreateInfo *export = info->pNext;
    VkSemaphoreCreateInfo copy = *info;
    if (export != NULL && export->sType == VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO &&
        export->handleTypes == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT)
        copy.pNext = export->pNext;
    return next_semaphore(device, &copy, host, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fd(VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *out) {
    if (info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT) {
        PFN_vkGetSemaphoreFdKHR next = (PFN_vkGetSemaphoreFdKHR)next_device(device, "vkGetSemaphoreFdKHR");
        return next != NULL ? next(device, info, out) : VK_ERROR_FEATURE_NOT_PRESENT;
    }
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .waitSemaphoreCount = 1,
                               .pWaitSemaphores = &info->semaphore,
                               .pWaitDstStageMask = &stage};
    VkFence fence;
    if (create_fence(device, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL, &fence) < 0)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (submit(queue_of(device), 1, &wait, fence) < 0 ||
        wait_fences(device, 1, &fence, VK_TRUE, UINT64_C(10000000000)) != VK_SUCCESS)
        stop("a semaphore was exported that nothing signals");
    destroy_fence(device, fence, NULL);
    *out = exports++ % 2 == 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL import_fd(VkDevice device, const VkImportSemaphoreFdInfoKHR *info) {
    if (info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT) {
        PFN_vkImportSemaphoreFdKHR next = (PFN_vkImportSemaphoreFdKHR)next_device(device, "vkImportSemaphoreFdKHR");
        return next != NULL ? next(device, info) : VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if ((info->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT) == 0)
        stop("a sync file was imported for good");
    if (info->fd != -1 && close(info->fd) != 0) // it is the driver's now
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    const VkSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .signalSemaphoreCount = 1, .pSignalSemaphores = &info->semaphore};
    return submit(queue_of(device), 1, &signal, VK_NULL_HANDLE);
}

// ---------------------------------------------------------------------------------------------------------------------
// The way in
// ---------------------------------------------------------------------------------------------------------------------

LAYER(next_instance, next_device, LAYER_CALL(CreateInstance, create_instance),
      LAYER_CALL(EnumerateDeviceExtensionProperties, enumerate),
      LAYER_CALL(GetPhysicalDeviceExternalSemaphoreProperties, get_semaphores), LAYER_CALL(CreateDevice, create_device),
      LAYER_CALL(GetDeviceQueue, get_queue), LAYER_CALL(QueueSubmit, submit),
      LAYER_CALL(CreateSemaphore, create_semaphore), LAYER_CALL(GetSemaphoreFdKHR, get_fd),
      LAYER_CALL(ImportSemaphoreFdKHR, import_fd))
