// A Vulkan layer that makes a driver's one queue look like five, so that what orders queues (timeline semaphores) runs
// on drivers for the CPU too: four of the driver's family, and one of a family that only copies, images in blocks of 8
// x 8 pixels, as GPUs have it, whose calls go to the driver's own family. All five are the one, which runs its
// submissions in their order: a wait for what was submitted before is met, and the validation layer below sees every
// semaphore. What a queue that only copies must not be given ends the program. For one driver of one family.
#include "../layer_link.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 4, COPY_FAMILY = 1, MAX_COMMANDS = 4096, MAX_BUFFERS = 65536 };

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties next_families;
static PFN_vkGetDeviceQueue next_queue;
static PFN_vkCreateCommandPool next_pool;
static PFN_vkCreateBuffer next_buffer;
static PFN_vkCreateImage next_image;
static PFN_vkAllocateCommandBuffers next_allocate;
static PFN_vkCmdPipelineBarrier next_barrier;
static PFN_vkCmdDispatch next_dispatch;
static PFN_vkCmdCopyBuffer next_copy;
static PFN_vkQueueSubmit next_submit;
static PFN_vkQueueWaitIdle next_wait;

// For tests, which load the library as well: submissions to the family that only copies.
LAYER_API extern atomic_uint kp_queues_layer_copies;
atomic_uint kp_queues_layer_copies;

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *host, VkInstance *out) {
    VkResult result = layer_create_instance(info, host, out, &next_instance);
    if (result == VK_SUCCESS)
        LAYER_NEXT(next_families, next_instance, *out, GetPhysicalDeviceQueueFamilyProperties);
    return result;
}

// The driver's one family, and one more.
static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
    uint32_t one = 1;
    if (families == NULL) {
        next_families(device, count, NULL);
        *count = 2;
        return;
    }
    next_families(device, &one, families);
    families[0].queueCount = QUEUES;
    if (*count > 1) {
        families[1] = families[0];
        families[1].queueFlags = VK_QUEUE_TRANSFER_BIT;
        families[1].queueCount = 1;
        families[1].minImageTransferGranularity = (VkExtent3D){8, 8, 1};
    }
    *count = *count > 1 ? 2 : 1;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    if (info->queueCreateInfoCount == 0)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkDeviceQueueCreateInfo queue = info->pQueueCreateInfos[0];
    queue.queueFamilyIndex = 0;
    queue.queueCount = 1;
    VkDeviceCreateInfo copy = *info;
    copy.queueCreateInfoCount = 1;
    copy.pQueueCreateInfos = &queue;
    VkResult result = layer_create_device(physical, &copy, host, out, &next_device);
    if (result == VK_SUCCESS) {
        LAYER_NEXT(next_queue, next_device, *out, GetDeviceQueue);
        LAYER_NEXT(next_pool, next_device, *out, CreateCommandPool);
        LAYER_NEXT(next_buffer, next_device, *out, CreateBuffer);
        LAYER_NEXT(next_image, next_device, *out, CreateImage);
        LAYER_NEXT(next_allocate, next_device, *out, AllocateCommandBuffers);
        LAYER_NEXT(next_barrier, next_device, *out, CmdPipelineBarrier);
        LAYER_NEXT(next_dispatch, next_device, *out, CmdDispatch);
        LAYER_NEXT(next_copy, next_device, *out, CmdCopyBuffer);
        LAYER_NEXT(next_submit, next_device, *out, QueueSubmit);
        LAYER_NEXT(next_wait, next_device, *out, QueueWaitIdle);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out) {
    (void)family, (void)index;
    next_queue(device, 0, 0, out);
}

// ---------------------------------------------------------------------------------------------------------------------
// What goes to the family that only copies
// ---------------------------------------------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t copy_pools[MAX_COMMANDS], copy_commands[MAX_COMMANDS]; // handles
static uint64_t single_buffers[MAX_BUFFERS];                           // that belong to one family alone
static uint32_t pool_count, command_count, single_count;

static void stop(const char *words) {
    fprintf(stderr, "queues_layer: %s\n", words);
    abort();
}

// Handles come again: the last that got one says whose it is.
static void note(uint64_t *list, uint32_t *count, uint32_t most, uint64_t handle, bool copies) {
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < *count && list[i] != handle)
        i++;
    if (copies && i == *count) {
        if (*count == most)
            stop("too many command buffers, or buffers");
        list[(*count)++] = handle;
    } else if (!copies && i < *count) {
        list[i] = list[--*count];
    }
    pthread_mutex_unlock(&lock);
}

static bool is_noted(const uint64_t *list, const uint32_t *count, uint64_t handle) {
    pthread_mutex_lock(&lock);
    bool found = false;
    for (uint32_t i = 0; i < *count && !found; i++)
        found = list[i] == handle;
    pthread_mutex_unlock(&lock);
    return found;
}

#define NOTE(list, count, handle, copies) \
    note(list, &(count), sizeof(list) / sizeof *(list), LAYER_NUMBER(handle), copies)
#define IS_NOTED(list, count, handle) is_noted(list, &(count), LAYER_NUMBER(handle))

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *host, VkCommandPool *out) {
    VkCommandPoolCreateInfo copy = *info;
    copy.queueFamilyIndex = 0;
    VkResult result = next_pool(device, &copy, host, out);
    if (result == VK_SUCCESS)
        NOTE(copy_pools, pool_count, *out, info->queueFamilyIndex == COPY_FAMILY);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                               VkCommandBuffer *out) {
    VkResult result = next_allocate(device, info, out);
    bool copies = IS_NOTED(copy_pools, pool_count, info->commandPool);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->commandBufferCount; i++)
        NOTE(copy_commands, command_count, out[i], copies);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags source,
                                          VkPipelineStageFlags target, VkDependencyFlags flags, uint32_t memory_count,
                                          const VkMemoryBarrier *memory, uint32_t buffer_count,
                                          const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                          const VkImageMemoryBarrier *images) {
    const VkPipelineStageFlags may = VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT |
                                     VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
    if (((source | target) & ~may) != 0 && IS_NOTED(copy_commands, command_count, commands))
        stop("a barrier on a queue that only copies has stages of kernels");
    next_barrier(commands, source, target, flags, memory_count, memory, buffer_count, buffers, image_count, images);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    if (IS_NOTED(copy_commands, command_count, commands))
        stop("a queue that only copies was given a dispatch");
    next_dispatch(commands, x, y, z);
}

// What several families share belongs to the one.
static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkBuffer *out) {
    VkBufferCreateInfo copy = *info;
    copy.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    copy.queueFamilyIndexCount = 0;
    VkResult result = next_buffer(device, &copy, host, out);
    bool shared = info->sharingMode == VK_SHARING_MODE_CONCURRENT;
    for (uint32_t i = 0; shared && i < COPY_FAMILY + 1; i++) {
        bool there = false;
        for (uint32_t k = 0; k < info->queueFamilyIndexCount; k++)
            there = there || info->pQueueFamilyIndices[k] == i;
        shared = there;
    }
    if (result == VK_SUCCESS)
        NOTE(single_buffers, single_count, *out, !shared);
    return result;
}

// What both families use has to be both's: nothing is handed over.
static VKAPI_ATTR void VKAPI_CALL copy_buffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count,
                                              const VkBufferCopy *regions) {
    if (IS_NOTED(copy_commands, command_count, commands) &&
        (IS_NOTED(single_buffers, single_count, from) || IS_NOTED(single_buffers, single_count, to)))
        stop("a queue of another family uses a buffer that is not shared with it");
    next_copy(commands, from, to, count, regions);
}

// The program holds a lock of each queue; here they are one.
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = infos[i].commandBufferCount;
        if (last != 0 && IS_NOTED(copy_commands, command_count, infos[i].pCommandBuffers[last - 1]))
            atomic_fetch_add(&kp_queues_layer_copies, 1);
    }
    pthread_mutex_lock(&queue_lock);
    VkResult result = next_submit(queue, count, infos, fence);
    pthread_mutex_unlock(&queue_lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_idle(VkQueue queue) {
    pthread_mutex_lock(&queue_lock);
    VkResult result = next_wait(queue);
    pthread_mutex_unlock(&queue_lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo *info,
                                                   const VkAllocationCallbacks *host, VkImage *out) {
    VkImageCreateInfo copy = *info;
    copy.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    copy.queueFamilyIndexCount = 0;
    return next_image(device, &copy, host, out);
}

LAYER(next_instance, next_device, LAYER_CALL(GetDeviceQueue, get_queue), LAYER_CALL(CreateCommandPool, create_pool),
      LAYER_CALL(CreateBuffer, create_buffer), LAYER_CALL(CreateImage, create_image),
      LAYER_CALL(AllocateCommandBuffers, allocate), LAYER_CALL(CmdPipelineBarrier, barrier),
      LAYER_CALL(CmdDispatch, dispatch), LAYER_CALL(CmdCopyBuffer, copy_buffer), LAYER_CALL(QueueSubmit, submit),
      LAYER_CALL(QueueWaitIdle, wait_idle), LAYER_CALL(CreateInstance, create_instance),
      LAYER_CALL(CreateDevice, create_device), LAYER_CALL(GetPhysicalDeviceQueueFamilyProperties, get_families))
