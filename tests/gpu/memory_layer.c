// A Vulkan layer that gives the one memory type of a driver for the CPU the faces that GPUs have, so that it can be
// tested there in which memory kp puts what:
//
//     KP_TEST_MEMORY=card    a discrete GPU: its own memory; the host's, write-combined (not cached); the host's,
//                            cached; and a window of its own memory that the host sees, not cached
//     KP_TEST_MEMORY=board   a small board: one type, the device's own, which the host sees, not cached
//
// It counts the bytes that are allocated of each type: the test finds kp_test_memory in the library. For one driver.
#include "../layer_link.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT

enum { MOST_TYPES = 4 };

static const struct face {
    const char *name;
    VkPhysicalDeviceType device;
    uint32_t count;
    VkMemoryPropertyFlags types[MOST_TYPES];
} faces[] = {
    {"card", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, 4, {LOCAL, HOST, HOST | CACHED, LOCAL | HOST}},
    {"board", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, 1, {LOCAL | HOST}},
};

extern atomic_ullong kp_test_memory[MOST_TYPES];
LAYER_API atomic_ullong kp_test_memory[MOST_TYPES]; // bytes allocated so far

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkGetPhysicalDeviceMemoryProperties next_memory;
static PFN_vkGetPhysicalDeviceProperties next_properties;
static PFN_vkGetBufferMemoryRequirements next_buffer;
static PFN_vkGetImageMemoryRequirements next_image;
static PFN_vkAllocateMemory next_allocate;

static const struct face *face(void) {
    const char *name = getenv("KP_TEST_MEMORY");
    return name != NULL && strcmp(name, faces[1].name) == 0 ? &faces[1] : &faces[0];
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out) {
    VkPhysicalDeviceMemoryProperties real;
    next_memory(device, &real);
    VkDeviceSize half = real.memoryHeaps[0].size / 2;
    *out = (VkPhysicalDeviceMemoryProperties){.memoryTypeCount = face()->count, .memoryHeapCount = 2};
    out->memoryHeaps[0] = (VkMemoryHeap){half, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    out->memoryHeaps[1] = (VkMemoryHeap){half, 0};
    for (uint32_t i = 0; i < face()->count; i++)
        out->memoryTypes[i] = (VkMemoryType){face()->types[i], (face()->types[i] & LOCAL) != 0 ? 0 : 1};
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out) {
    next_properties(device, out);
    out->deviceType = face()->device;
}

static VKAPI_ATTR void VKAPI_CALL get_buffer(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out) {
    next_buffer(device, buffer, out);
    out->memoryTypeBits = (1u << face()->count) - 1;
}

static VKAPI_ATTR void VKAPI_CALL get_image(VkDevice device, VkImage image, VkMemoryRequirements *out) {
    next_image(device, image, out);
    out->memoryTypeBits = (1u << face()->count) - 1;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *host, VkDeviceMemory *out) {
    VkMemoryAllocateInfo copy = *info;
    copy.memoryTypeIndex = 0;
    VkResult result = next_allocate(device, &copy, host, out);
    if (result == VK_SUCCESS && info->memoryTypeIndex < MOST_TYPES)
        atomic_fetch_add(&kp_test_memory[info->memoryTypeIndex], info->allocationSize);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *host, VkInstance *out) {
    VkResult result = layer_create_instance(info, host, out, &next_instance);
    if (result != VK_SUCCESS)
        return result;
    LAYER_NEXT(next_memory, next_instance, *out, GetPhysicalDeviceMemoryProperties);
    LAYER_NEXT(next_properties, next_instance, *out, GetPhysicalDeviceProperties);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    VkResult result = layer_create_device(physical, info, host, out, &next_device);
    if (result != VK_SUCCESS)
        return result;
    LAYER_NEXT(next_buffer, next_device, *out, GetBufferMemoryRequirements);
    LAYER_NEXT(next_image, next_device, *out, GetImageMemoryRequirements);
    LAYER_NEXT(next_allocate, next_device, *out, AllocateMemory);
    return VK_SUCCESS;
}

LAYER(next_instance, next_device, LAYER_CALL(CreateInstance, create_instance), LAYER_CALL(CreateDevice, create_device),
      LAYER_CALL(GetPhysicalDeviceMemoryProperties, get_memory),
      LAYER_CALL(GetPhysicalDeviceProperties, get_properties), LAYER_CALL(GetBufferMemoryRequirements, get_buffer),
      LAYER_CALL(GetImageMemoryRequirements, get_image), LAYER_CALL(AllocateMemory, allocate))
