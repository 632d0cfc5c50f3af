// What a Vulkan layer of the tests and benchmarks needs besides the calls that it changes: its way into the loader's
// chain, and the loader's way into it. A layer is a library with a manifest; it defines
//
//     create_instance(...) { next = layer_next_of_instance(info); ... }     as vkCreateInstance
//     get_instance_proc_addr, get_device_proc_addr                          with layer_find, for what is its own
//     LAYER_NEGOTIATE(get_instance_proc_addr, get_device_proc_addr)
#ifndef KP_TESTS_LAYER_LINK_H
#define KP_TESTS_LAYER_LINK_H

#include <stdbool.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define LAYER_API __attribute__((visibility("default")))

// A handle as a number. Where pointers have 32 bits, some handles are pointers, and others numbers of 64 bits.
static inline uint64_t layer_number_of(uint64_t handle) { return handle; }
static inline uint64_t layer_number_of_pointer(const void *handle) { return (uintptr_t)handle; }
#define LAYER_NUMBER(handle) _Generic((handle), uint64_t : layer_number_of, default : layer_number_of_pointer)(handle)

// A call that the layer answers itself.
typedef struct layer_call {
    const char *name;
    PFN_vkVoidFunction function;
} layer_call;

// NULL when the call is not in the list.
static inline PFN_vkVoidFunction layer_find(const layer_call *calls, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, calls[i].name) == 0)
            return calls[i].function;
    }
    return NULL;
}

// get_device_proc_addr and get_instance_proc_addr of a layer whose `find` gives its own calls, for devices and
// instances alike, and NULL for all others.
#define LAYER_PROC_ADDRS(find, next_instance, next_device)                                                          \
    static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name) {       \
        PFN_vkVoidFunction own = find(name);                                                                        \
        return own != NULL ? own : next_device(device, name);                                                       \
    }                                                                                                               \
                                                                                                                    \
    static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name) { \
        PFN_vkVoidFunction own = find(name);                                                                        \
        if (own != NULL)                                                                                            \
            return own;                                                                                             \
        return instance != VK_NULL_HANDLE ? next_instance(instance, name) : NULL;                                   \
    }

// The next layer's functions for an instance that is being created; the chain then begins behind this layer. NULL when
// the loader did not call.
static inline PFN_vkGetInstanceProcAddr layer_next_of_instance(const VkInstanceCreateInfo *info) {
    VkLayerInstanceCreateInfo *chain = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
    while (chain != NULL &&
           !(chain->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerInstanceCreateInfo *)(uintptr_t)chain->pNext;
    if (chain == NULL)
        return NULL;
    PFN_vkGetInstanceProcAddr next = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    return next;
}

// The same for a device: its functions, and vkCreateDevice. NULL: as above.
static inline PFN_vkGetDeviceProcAddr layer_next_of_device(const VkDeviceCreateInfo *info, PFN_vkCreateDevice *create) {
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;
    while (chain != NULL &&
           !(chain->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerDeviceCreateInfo *)(uintptr_t)chain->pNext;
    if (chain == NULL)
        return NULL;
    PFN_vkGetDeviceProcAddr next = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    *create = (PFN_vkCreateDevice)chain->u.pLayerInfo->pfnNextGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateDevice");
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    return next;
}

// vkCreateInstance and vkCreateDevice of the next layer, whose other functions *next gives from then on.
static inline VkResult layer_create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *host,
                                             VkInstance *out, PFN_vkGetInstanceProcAddr *next) {
    *next = layer_next_of_instance(info);
    if (*next == NULL)
        return VK_ERROR_INITIALIZATION_FAILED;
    return ((PFN_vkCreateInstance)(*next)(NULL, "vkCreateInstance"))(info, host, out);
}

static inline VkResult layer_create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                           const VkAllocationCallbacks *host, VkDevice *out,
                                           PFN_vkGetDeviceProcAddr *next) {
    PFN_vkCreateDevice create;
    *next = layer_next_of_device(info, &create);
    return *next != NULL ? create(physical, info, host, out) : VK_ERROR_INITIALIZATION_FAILED;
}

// What the loader calls first.
#define LAYER_NEGOTIATE(get_instance, get_device)                                                                   \
    LAYER_API VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(                                \
        VkNegotiateLayerInterface *negotiation);                                                                    \
    VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation) { \
        if (negotiation->loaderLayerInterfaceVersion < 2)                                                           \
            return VK_ERROR_INITIALIZATION_FAILED;                                                                  \
        negotiation->loaderLayerInterfaceVersion = 2;                                                               \
        negotiation->pfnGetInstanceProcAddr = get_instance;                                                         \
        negotiation->pfnGetDeviceProcAddr = get_device;                                                             \
        negotiation->pfnGetPhysicalDeviceProcAddr = NULL;                                                           \
        return VK_SUCCESS;                                                                                          \
    }

#endif
