// A Vulkan instance and a device that are a test's own, made with Vulkan alone: what a program has that used Vulkan
// before it met kp.
#ifndef KP_TESTS_GPU_NATIVE_H
#define KP_TESTS_GPU_NATIVE_H

#include "gpu.h"

#include <kp/vulkan.h>

#define NATIVE_FUNCTIONS(X)        \
    X(BindBufferMemory)            \
    X(AllocateMemory)              \
    X(CreateBuffer)                \
    X(CreateFence)                 \
    X(DestroyBuffer)               \
    X(DestroyDevice)               \
    X(DestroyFence)                \
    X(DeviceWaitIdle)              \
    X(FreeMemory)                  \
    X(GetBufferMemoryRequirements) \
    X(GetDeviceQueue)              \
    X(MapMemory)                   \
    X(QueueSubmit)                 \
    X(WaitForFences)

enum { NATIVE_MAX_QUEUES = 4, NATIVE_MAX_EXTENSIONS = 64 };

typedef struct native {
    PFN_vkGetInstanceProcAddr get_proc;
    uint32_t api_version;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger; // VK_NULL_HANDLE without validation
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    kp_vulkan_queue queues[NATIVE_MAX_QUEUES];
    uint32_t queue_count;
    const char *extensions[NATIVE_MAX_EXTENSIONS]; // enabled
    uint32_t extension_count;                      //
    VkPhysicalDeviceFeatures2 features;            // enabled, with its chain
    VkPhysicalDeviceVulkan11Features features11;   //
    VkPhysicalDeviceVulkan12Features features12;   //
    VkPhysicalDeviceVulkan13Features features13;   //
#define X(name) PFN_vk##name name;
    NATIVE_FUNCTIONS(X)
#undef X
} native;

// Vulkan 1.3 with all features of compute and as many queues as there are, or `poor`: Vulkan 1.1, one queue, and
// nothing enabled. With $KP_VALIDATION the validation layer is on; what it says counts as gpu_errors(). Skips the test
// where the device cannot.
void native_open(native *n, bool poor);
void native_close(native *n);

// A description for kp.
kp_vulkan_device_desc native_desc(const native *n);

// A buffer with memory that the host sees.
typedef struct native_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    void *mapped;
} native_buffer;
native_buffer native_buffer_create(const native *n, VkDeviceSize size);
void native_buffer_destroy(const native *n, native_buffer *buffer);

// The device answers.
void native_probe(const native *n);

#endif
