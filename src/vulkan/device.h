// A logical device: the handles, functions, queues and memory that everything else is made with.
//
// It is counted: a manager holds it, and so does memory that outlives its manager under a view. The last to let go
// destroys the device and its instance.
#ifndef KP_SRC_VULKAN_DEVICE_H
#define KP_SRC_VULKAN_DEVICE_H

#include "disk_cache.h"
#include "heap.h"
#include "info.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct kp_command kp_command;

// The device-level functions that kp calls. A table of its own: volk's has every function there is, which takes longer
// to fill than all else that a manager adds to the driver's time.
#define KP_DEVICE_FUNCTIONS(X)     \
    X(AllocateCommandBuffers)      \
    X(AllocateDescriptorSets)      \
    X(AllocateMemory)              \
    X(BeginCommandBuffer)          \
    X(BindBufferMemory)            \
    X(BindImageMemory)             \
    X(CmdBindDescriptorSets)       \
    X(CmdBindPipeline)             \
    X(CmdClearColorImage)          \
    X(CmdCopyBuffer)               \
    X(CmdCopyBufferToImage)        \
    X(CmdCopyImage)                \
    X(CmdCopyImageToBuffer)        \
    X(CmdDispatch)                 \
    X(CmdDispatchIndirect)         \
    X(CmdFillBuffer)               \
    X(CmdPipelineBarrier)          \
    X(CmdPushConstants)            \
    X(CmdResetQueryPool)           \
    X(CmdUpdateBuffer)             \
    X(CmdWriteTimestamp)           \
    X(CreateBuffer)                \
    X(CreateCommandPool)           \
    X(CreateComputePipelines)      \
    X(CreateDescriptorPool)        \
    X(CreateDescriptorSetLayout)   \
    X(CreateFence)                 \
    X(CreateImage)                 \
    X(CreateImageView)             \
    X(CreatePipelineCache)         \
    X(CreatePipelineLayout)        \
    X(CreateQueryPool)             \
    X(CreateSampler)               \
    X(CreateSemaphore)             \
    X(CreateShaderModule)          \
    X(DestroyBuffer)               \
    X(DestroyCommandPool)          \
    X(DestroyDescriptorPool)       \
    X(DestroyDescriptorSetLayout)  \
    X(DestroyDevice)               \
    X(DestroyFence)                \
    X(DestroyImage)                \
    X(DestroyImageView)            \
    X(DestroyPipeline)             \
    X(DestroyPipelineCache)        \
    X(DestroyPipelineLayout)       \
    X(DestroyQueryPool)            \
    X(DestroySampler)              \
    X(DestroySemaphore)            \
    X(DestroyShaderModule)         \
    X(EndCommandBuffer)            \
    X(FreeMemory)                  \
    X(GetBufferMemoryRequirements) \
    X(GetDeviceQueue)              \
    X(GetFenceStatus)              \
    X(GetImageMemoryRequirements)  \
    X(GetPipelineCacheData)        \
    X(GetQueryPoolResults)         \
    X(MapMemory)                   \
    X(MergePipelineCaches)         \
    X(QueueSubmit)                 \
    X(QueueWaitIdle)               \
    X(ResetCommandPool)            \
    X(ResetDescriptorPool)         \
    X(ResetFences)                 \
    X(UpdateDescriptorSets)        \
    X(WaitForFences)

typedef struct kp_device_functions {
#define KP_X(name) PFN_vk##name vk##name;
    KP_DEVICE_FUNCTIONS(KP_X)
#undef KP_X
    PFN_vkCmdBeginDebugUtilsLabelEXT vkCmdBeginDebugUtilsLabelEXT; // NULL without labels
    PFN_vkCmdEndDebugUtilsLabelEXT vkCmdEndDebugUtilsLabelEXT;     //
    PFN_vkCmdPushDescriptorSetKHR vkCmdPushDescriptorSetKHR;       // NULL where kp_features.push_descriptors is false
    PFN_vkGetMemoryHostPointerPropertiesEXT vkGetMemoryHostPointerPropertiesEXT; // ... host_import is false
    PFN_vkGetMemoryFdKHR vkGetMemoryFdKHR;                                       // ... memory_fd is false
    PFN_vkGetMemoryFdPropertiesKHR vkGetMemoryFdPropertiesKHR;                   //
    PFN_vkGetSemaphoreFdKHR vkGetSemaphoreFdKHR;                                 // ... semaphore_fd is false
    PFN_vkImportSemaphoreFdKHR vkImportSemaphoreFdKHR;                           //
    PFN_vkGetSemaphoreCounterValue vkGetSemaphoreCounterValue; // ... timeline.timelineSemaphore is false
    PFN_vkSignalSemaphore vkSignalSemaphore;                   //
    PFN_vkWaitSemaphores vkWaitSemaphores;                     //
} kp_device_functions;

enum { KP_DEVICE_SAMPLERS = 2 * 4 * 2 * 2 }; // of kp_pixels_sampling

typedef struct kp_queue {
    VkQueue handle;
    uint32_t family;
    uint32_t owner;         // first queue of the device that is the same VkQueue, whose lock counts: itself, or another
    pthread_mutex_t lock;   // held around vkQueueSubmit
    atomic_uint pending;    // submissions not yet seen done
    _Atomic(uint64_t) done; // number of one that was, and with it all before it
    VkSemaphore timeline;   // its submissions' numbers, as they are done; where there is more than one queue
    bool tells;             // each submission signals it; else one of its own does, when somebody is to wait
    uint64_t promised;      // number that it will reach with what is submitted; as the numbers, kept by who submits
} kp_queue;

// Guards the queues of a device that is somebody else's, who uses them too.
typedef struct kp_queue_guard {
    void (*lock)(void *payload, VkQueue queue); // both or neither
    void (*unlock)(void *payload, VkQueue queue);
    void *payload;
} kp_queue_guard;

struct kp_device {
    atomic_uint refs;                          //
    atomic_bool lost;                          // VK_ERROR_DEVICE_LOST was seen
    kp_instance *instance;                     // owned
    VkPhysicalDevice physical;                 //
    VkDevice handle;                           //
    bool foreign;                              // somebody else destroys the handle
    kp_queue_guard guard;                      // his; zeroed: none
    kp_device_functions vk;                    //
    PFN_vkSetDebugUtilsObjectNameEXT set_name; // NULL without labels
    char *label;                               // for messages
    kp_info info;                              //
    kp_info_limits limits;                     //
    kp_features features;                      // all enabled
    VkMemoryPropertyFlags unified_flags;       // of memory that host and device share; 0: none
    kp_queue *queues;                          // those that programs name, and then perhaps one for copies alone
    uint32_t queue_count, all_queue_count;     // that programs name; with that one
    uint32_t families[KP_INFO_MAX_FAMILIES];   // that the queues are of, each once
    uint32_t family_count, named_family_count; // of all, and of those that programs name, which come first
    kp_heap heap;                              // device memory
    kp_disk_cache disk_cache;                  // of pipelines
    pthread_mutex_t command_lock;              // guards what follows
    kp_command *idle_commands;                 // for reuse, linked
    uint32_t idle_command_count;               //
    VkSampler samplers[KP_DEVICE_SAMPLERS];    // see pixels.c; VK_NULL_HANDLE: not made yet
};

// Whether a queue of the device runs kernels, or copies only.
static inline bool kp_device_queue_computes(const kp_device *device, uint32_t queue) {
    return device->info.queue_families[device->queues[queue].family].compute;
}

// A device that is there already.
typedef struct kp_device_given {
    VkDevice handle;
    const VkQueue *queues;                     // one for each of kp_device_desc.families
    const VkPhysicalDeviceFeatures2 *features; // enabled, as kp_features_given
    kp_queue_guard guard;
} kp_device_given;

typedef struct kp_device_desc {
    const kp_device_given *given;  // NULL: make one
    uint32_t index;                // in the instance's list
    const uint32_t *families;      // one queue from each entry's family (queues.h); NULL: one that computes
    size_t family_count;           //
    bool separate;                 // host and device sides are apart, even where they could be one
    const char *const *extensions; // more to enable; those that are, where the device is given
    size_t extension_count;        //
    const char *label;             // NULL: the device's name
} kp_device_desc;

// Takes over the instance, also when it fails. KP_ERROR_ARGUMENT for families that are not there, KP_ERROR_UNSUPPORTED
// for extensions that are not and for a device of Vulkan 1.0.
kp_result kp_device_create(kp_instance *instance, const kp_device_desc *desc, kp_device **out);
void kp_device_hold(kp_device *device);
void kp_device_release(kp_device *device);

// Around each use of a queue.
void kp_device_lock_queue(kp_device *device, kp_queue *queue);
void kp_device_unlock_queue(kp_device *device, kp_queue *queue);

// Waits until every queue is idle.
kp_result kp_device_wait(kp_device *device);

// What every call on the device goes through: KP_VK(device, CreateFence, handle, &info, NULL, &fence) is KP_OK, or the
// fitting error with "label: vkCreateFence: VK_ERROR_..." as its words.
#define KP_VK(device, function, ...) kp_device_check((device), (device)->vk.vk##function(__VA_ARGS__), "vk" #function)
kp_result kp_device_check(kp_device *device, VkResult result, const char *call);

// A name for debuggers and for the layer's messages.
void kp_device_name(const kp_device *device, VkObjectType type, uint64_t handle, const char *name);
#define KP_DEVICE_HANDLE(handle) \
    _Generic((handle), uint64_t : kp_device_number_of, default : kp_device_number_of_pointer)(handle)

// A handle as a number. Where pointers have 32 bits, some handles are pointers, and others numbers of 64 bits.
static inline uint64_t kp_device_number_of(uint64_t handle) { return handle; }
static inline uint64_t kp_device_number_of_pointer(const void *handle) { return (uintptr_t)handle; }

#endif
