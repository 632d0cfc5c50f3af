// A Vulkan layer that makes a driver's one queue look like four, so that what orders queues (timeline semaphores) runs
// on drivers for the CPU too. All four are the one, which runs its submissions in their order: a wait for what was
// submitted before is met, and the validation layer below sees every semaphore. For one driver and one thread at a
// time.
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define LAYER_API __attribute__((visibility("default")))

enum { QUEUES = 4, MAX_FAMILIES = 16 };

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties next_families;
static PFN_vkGetDeviceQueue next_queue;

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *host, VkInstance *out) {
    VkLayerInstanceCreateInfo *chain = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
    while (chain != NULL &&
           !(chain->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerInstanceCreateInfo *)(uintptr_t)chain->pNext;
    if (chain == NULL)
        return VK_ERROR_INITIALIZATION_FAILED;
    next_instance = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance");
    VkResult result = create(info, host, out);
    if (result == VK_SUCCESS)
        next_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)next_instance(
            *out, "vkGetPhysicalDeviceQueueFamilyProperties");
    return result;
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
    next_families(device, count, families);
    for (uint32_t i = 0; families != NULL && i < *count; i++)
        families[i].queueCount = QUEUES;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;
    while (chain != NULL &&
           !(chain->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerDeviceCreateInfo *)(uintptr_t)chain->pNext;
    if (chain == NULL || info->queueCreateInfoCount > MAX_FAMILIES)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr instance = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next_device = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    VkDeviceQueueCreateInfo queues[MAX_FAMILIES];
    memcpy(queues, info->pQueueCreateInfos, info->queueCreateInfoCount * sizeof *queues);
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++)
        queues[i].queueCount = 1;
    VkDeviceCreateInfo copy = *info;
    copy.pQueueCreateInfos = queues;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)instance(VK_NULL_HANDLE, "vkCreateDevice");
    VkResult result = create(physical, &copy, host, out);
    if (result == VK_SUCCESS)
        next_queue = (PFN_vkGetDeviceQueue)next_device(*out, "vkGetDeviceQueue");
    return result;
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out) {
    (void)index;
    next_queue(device, family, 0, out);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name) {
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    if (strcmp(name, "vkGetDeviceQueue") == 0)
        return (PFN_vkVoidFunction)get_queue;
    return next_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name) {
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } own[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc_addr},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc_addr},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)get_families},
        {"vkGetDeviceQueue", (PFN_vkVoidFunction)get_queue},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(name, own[i].name) == 0)
            return own[i].function;
    }
    return instance != VK_NULL_HANDLE ? next_instance(instance, name) : NULL;
}

LAYER_API VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation);

LAYER_API VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation) {
    if (negotiation->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    negotiation->loaderLayerInterfaceVersion = 2;
    negotiation->pfnGetInstanceProcAddr = get_instance_proc_addr;
    negotiation->pfnGetDeviceProcAddr = get_device_proc_addr;
    negotiation->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
