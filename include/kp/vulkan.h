// kp/vulkan.h - the native handles, for programs that use Vulkan beside kp. The only header with Vulkan types.
#ifndef KP_VULKAN_H
#define KP_VULKAN_H

#include <kp/runtime.h>
#include <vulkan/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

// Handles that kp owns; valid until the manager is destroyed.
typedef struct kp_vulkan_manager {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;         // the manager's first; submit to it only while no other thread uses the manager
    uint32_t queue_family; //
} kp_vulkan_manager;

// KP_ERROR_STATE when the manager is destroyed. Thread-safety: any.
KP_API kp_result kp_vulkan_from_manager(const kp_manager *manager, kp_vulkan_manager *out);

// The device side of a tensor; valid until it is destroyed. Its usage is storage, transfer source and destination.
typedef struct kp_vulkan_buffer {
    VkBuffer buffer;
    VkDeviceSize offset; // of the tensor's first byte
    VkDeviceSize size;   // bytes
} kp_vulkan_buffer;

// KP_ERROR_STATE for an empty or dead tensor. Thread-safety: any.
KP_API kp_result kp_vulkan_from_tensor(const kp_tensor *tensor, kp_vulkan_buffer *out);

#ifdef __cplusplus
}
#endif

#endif
