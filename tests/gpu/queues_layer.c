// A Vulkan layer that makes a driver's one queue look like five, so that what orders queues (timeline semaphores) runs
// on drivers for the CPU too: four of the driver's family, and one of a family that only copies, as GPUs have it, whose
// calls go to the driver's own family. All five are the one, which runs its submissions in their order: a wait for what
// was submitted before is met, and the validation layer below sees every semaphore. For one driver of one family, and
// one thread at a time.
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define LAYER_API __attribute__((visibility("default")))

enum { QUEUES = 4 };

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties next_families;
static PFN_vkGetDeviceQueue next_queue;
static PFN_vkCreateCommandPool next_pool;
static PFN_vkCreateBuffer next_buffer;
static PFN_vkCreateImage next_image;

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
    }
    *count = *count > 1 ? 2 : 1;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;
    while (chain != NULL &&
           !(chain->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerDeviceCreateInfo *)(uintptr_t)chain->pNext;
    if (chain == NULL || info->queueCreateInfoCount == 0)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr instance = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next_device = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    VkDeviceQueueCreateInfo queue = info->pQueueCreateInfos[0];
    queue.queueFamilyIndex = 0;
    queue.queueCount = 1;
    VkDeviceCreateInfo copy = *info;
    copy.queueCreateInfoCount = 1;
    copy.pQueueCreateInfos = &queue;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)instance(VK_NULL_HANDLE, "vkCreateDevice");
    VkResult result = create(physical, &copy, host, out);
    if (result == VK_SUCCESS) {
        next_queue = (PFN_vkGetDeviceQueue)next_device(*out, "vkGetDeviceQueue");
        next_pool = (PFN_vkCreateCommandPool)next_device(*out, "vkCreateCommandPool");
        next_buffer = (PFN_vkCreateBuffer)next_device(*out, "vkCreateBuffer");
        next_image = (PFN_vkCreateImage)next_device(*out, "vkCreateImage");
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out) {
    (void)family, (void)index;
    next_queue(device, 0, 0, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *host, VkCommandPool *out) {
    VkCommandPoolCreateInfo copy = *info;
    copy.queueFamilyIndex = 0;
    return next_pool(device, &copy, host, out);
}

// What several families share belongs to the one.
static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkBuffer *out) {
    VkBufferCreateInfo copy = *info;
    copy.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    copy.queueFamilyIndexCount = 0;
    return next_buffer(device, &copy, host, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo *info,
                                                   const VkAllocationCallbacks *host, VkImage *out) {
    VkImageCreateInfo copy = *info;
    copy.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    copy.queueFamilyIndexCount = 0;
    return next_image(device, &copy, host, out);
}

typedef struct own {
    const char *name;
    PFN_vkVoidFunction function;
} own;

// NULL when it is not in the list.
static PFN_vkVoidFunction find(const own *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i].name) == 0)
            return list[i].function;
    }
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name) {
    static const own list[] = {
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc_addr},
        {"vkGetDeviceQueue", (PFN_vkVoidFunction)get_queue},
        {"vkCreateCommandPool", (PFN_vkVoidFunction)create_pool},
        {"vkCreateBuffer", (PFN_vkVoidFunction)create_buffer},
        {"vkCreateImage", (PFN_vkVoidFunction)create_image},
    };
    PFN_vkVoidFunction function = find(list, sizeof list / sizeof *list, name);
    return function != NULL ? function : next_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name) {
    static const own list[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc_addr},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc_addr},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)get_families},
    };
    PFN_vkVoidFunction function = find(list, sizeof list / sizeof *list, name);
    if (function == NULL && instance != VK_NULL_HANDLE)
        function = next_instance(instance, name);
    return function;
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
