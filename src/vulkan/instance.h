// A Vulkan instance with its physical devices and, when asked for, the Khronos validation layer.
#ifndef KP_SRC_VULKAN_INSTANCE_H
#define KP_SRC_VULKAN_INSTANCE_H

#include "base/error.h"

#include <volk.h>

// The instance-level functions that kp calls. Each instance has its own table: volk's globals would be shared.
#define KP_INSTANCE_FUNCTIONS(X)                    \
    X(DestroyInstance)                              \
    X(EnumeratePhysicalDevices)                     \
    X(GetPhysicalDeviceProperties)                  \
    X(GetPhysicalDeviceProperties2)                 \
    X(GetPhysicalDeviceExternalBufferProperties)    \
    X(GetPhysicalDeviceExternalSemaphoreProperties) \
    X(GetPhysicalDeviceFeatures2)                   \
    X(GetPhysicalDeviceFormatProperties)            \
    X(GetPhysicalDeviceImageFormatProperties)       \
    X(GetPhysicalDeviceImageFormatProperties2)      \
    X(GetPhysicalDeviceMemoryProperties)            \
    X(GetPhysicalDeviceMemoryProperties2)           \
    X(GetPhysicalDeviceQueueFamilyProperties)       \
    X(EnumerateDeviceExtensionProperties)           \
    X(CreateDevice)

typedef struct kp_instance {
    VkInstance handle;
    PFN_vkGetInstanceProcAddr get_proc; // the loader's
    uint32_t api_version;               // that it was made for
    bool foreign;                       // somebody else destroys it
#define KP_X(name) PFN_vk##name name;
    KP_INSTANCE_FUNCTIONS(KP_X)
#undef KP_X
    bool validation;                    // the layer is on
    bool labels;                        // VK_EXT_debug_utils is: objects and commands get names
    VkDebugUtilsMessengerEXT messenger; // of the layer
    VkPhysicalDevice *devices;          // in Vulkan's order
    uint32_t device_count;              //
} kp_instance;

// `validation` asks for the layer, and labels with it; where there is none the log gets one warning. `labels` asks for
// labels alone, where the loader has them. KP_ERROR_NO_DEVICE when there is no loader or no driver, KP_ERROR_STATE in a
// child that was forked from a process with an instance. An instance may have no devices at all.
kp_result kp_instance_create(bool validation, bool labels, kp_instance **out);

// Somebody else's, with one device of it. `get_proc` NULL: the loader's, which is opened then.
kp_result kp_instance_adopt(PFN_vkGetInstanceProcAddr get_proc, VkInstance handle, uint32_t api_version,
                            VkPhysicalDevice physical, bool labels, kp_instance **out);
void kp_instance_destroy(kp_instance *instance); // NULL is fine

#endif
