// What a Vulkan layer of the tests and benchmarks needs besides the calls that it changes: its way into the loader's
// chain, and the loader's way into it. A layer is a library with a manifest; it defines
//
//     create_instance, create_device    with layer_create_instance, layer_create_device and LAYER_NEXT
//     LAYER(next_instance, next_device, LAYER_CALL(CreateInstance, create_instance), ...)
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

// The next layer's vk<name>: next is what layer_create_instance or layer_create_device gave.
#define LAYER_NEXT(variable, next, handle, name) ((variable) = (PFN_vk##name)(next)(handle, "vk" #name))

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

#define LAYER_CALL(name, function) \
    { "vk" #name, (PFN_vkVoidFunction)(function) }

// The loader's way into a layer that answers these calls itself, each a LAYER_CALL.
#define LAYER(next_instance, next_device, ...)                                                                      \
    static PFN_vkVoidFunction layer_own(const char *name);                                                          \
                                                                                                                    \
    static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name) {       \
        PFN_vkVoidFunction own = layer_own(name);                                                                   \
        return own != NULL ? own : next_device(device, name);                                                       \
    }                                                                                                               \
                                                                                                                    \
    static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name) { \
        PFN_vkVoidFunction own = layer_own(name);                                                                   \
        return own != NULL || instance == VK_NULL_HANDLE ? own : next_instance(instance, name);                     \
    }                                                                                                               \
                                                                                                                    \
    static PFN_vkVoidFunction layer_own(const char *name) {                                                         \
        static const layer_call list[] = {LAYER_CALL(GetInstanceProcAddr, get_instance_proc_addr),                  \
                                          LAYER_CALL(GetDeviceProcAddr, get_device_proc_addr), __VA_ARGS__};        \
        return layer_find(list, sizeof list / sizeof *list, name);                                                  \
    }                                                                                                               \
                                                                                                                    \
    LAYER_NEGOTIATE(get_instance_proc_addr, get_device_proc_addr)

#endif
