// See native.h.
#include "native.h"

#include <dlfcn.h>

#define VK(call) assert_int_equal((call), VK_SUCCESS)

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *payload) {
    (void)severity, (void)types, (void)payload;
    gpu_count_error(data->pMessage);
    return VK_FALSE;
}

static const VkDebugUtilsMessengerCreateInfoEXT messenger_info = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
    .pfnUserCallback = on_message,
};

static PFN_vkVoidFunction get(const native *n, const char *name) {
    PFN_vkVoidFunction function = n->get_proc(n->instance, name);
    assert_non_null((void *)(uintptr_t)function);
    return function;
}

static void open_loader(native *n) {
    static void *library;
    if (library == NULL)
        library = dlopen("libvulkan.so.1", RTLD_NOW);
    assert_non_null(library);
    void *symbol = dlsym(library, "vkGetInstanceProcAddr");
    memcpy(&n->get_proc, &symbol, sizeof symbol);
    assert_non_null(symbol);
}

static void open_instance(native *n) {
    const char *word = getenv("KP_VALIDATION");
    bool validation = word != NULL && strcmp(word, "1") == 0;
    const char *layer = "VK_LAYER_KHRONOS_validation", *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)n->get_proc(NULL, "vkCreateInstance");
    VK(create(
        &(VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &(VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                                                         .apiVersion = n->api_version},
                                .enabledLayerCount = validation ? 1 : 0,
                                .ppEnabledLayerNames = &layer,
                                .enabledExtensionCount = validation ? 1 : 0,
                                .ppEnabledExtensionNames = &extension},
        NULL, &n->instance));
    if (!validation)
        return;
    PFN_vkCreateDebugUtilsMessengerEXT start =
        (PFN_vkCreateDebugUtilsMessengerEXT)get(n, "vkCreateDebugUtilsMessengerEXT");
    VK(start(n->instance, &messenger_info, NULL, &n->messenger));
}

static void find_device(native *n) {
    PFN_vkEnumeratePhysicalDevices list = (PFN_vkEnumeratePhysicalDevices)get(n, "vkEnumeratePhysicalDevices");
    uint32_t count = 1;
    assert_true(list(n->instance, &count, &n->physical) >= 0 && count == 1);
    ((PFN_vkGetPhysicalDeviceMemoryProperties)get(n, "vkGetPhysicalDeviceMemoryProperties"))(n->physical, &n->memory);
}

static void ask_features(native *n) {
    n->features = (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (n->api_version < VK_API_VERSION_1_3)
        return;
    n->features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    n->features12 = (VkPhysicalDeviceVulkan12Features){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                       .pNext = &n->features13};
    n->features11 = (VkPhysicalDeviceVulkan11Features){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                                       .pNext = &n->features12};
    n->features.pNext = &n->features11;
    ((PFN_vkGetPhysicalDeviceFeatures2)get(n, "vkGetPhysicalDeviceFeatures2"))(n->physical, &n->features);
}

// Queues of families that compute, one of each family first; as many as there are.
static void plan_queues(native *n, bool poor, VkDeviceQueueCreateInfo *infos, uint32_t *info_count) {
    static const float priorities[NATIVE_MAX_QUEUES] = {1, 1, 1, 1};
    VkQueueFamilyProperties families[16];
    uint32_t count = 0, most = poor || !n->features12.timelineSemaphore ? 1 : NATIVE_MAX_QUEUES;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties list =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)get(n, "vkGetPhysicalDeviceQueueFamilyProperties");
    list(n->physical, &count, NULL); // SwiftShader fills as many as it is given room for
    count = count < COUNT_OF(families) ? count : COUNT_OF(families);
    list(n->physical, &count, families);
    for (uint32_t f = 0; f < count && n->queue_count < most; f++) {
        if ((families[f].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
            continue;
        uint32_t room = most - n->queue_count, some = families[f].queueCount < 2 ? families[f].queueCount : 2;
        some = some < room ? some : room;
        infos[(*info_count)++] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                           .queueFamilyIndex = f,
                                                           .queueCount = some,
                                                           .pQueuePriorities = priorities};
        for (uint32_t k = 0; k < some; k++)
            n->queues[n->queue_count++].family = f;
    }
    assert_true(n->queue_count != 0);
}

// Those of some value to kp that the device has.
static void list_extensions(native *n) {
    static const char *const wanted[] = {"VK_KHR_push_descriptor", "VK_EXT_memory_budget",
                                         "VK_EXT_external_memory_host", "VK_KHR_external_memory_fd",
                                         "VK_KHR_external_semaphore_fd"};
    static VkExtensionProperties there[512];
    uint32_t count = COUNT_OF(there);
    ((PFN_vkEnumerateDeviceExtensionProperties)get(n, "vkEnumerateDeviceExtensionProperties"))(n->physical, NULL,
                                                                                               &count, there);
    for (size_t w = 0; w < COUNT_OF(wanted); w++) {
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(there[i].extensionName, wanted[w]) == 0)
                n->extensions[n->extension_count++] = wanted[w];
        }
    }
}

static void open_device(native *n, bool poor) {
    VkDeviceQueueCreateInfo infos[16];
    uint32_t info_count = 0;
    plan_queues(n, poor, infos, &info_count);
    if (!poor)
        list_extensions(n);
    VK(((PFN_vkCreateDevice)get(n, "vkCreateDevice"))(
        n->physical,
        &(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                              .pNext = &n->features,
                              .queueCreateInfoCount = info_count,
                              .pQueueCreateInfos = infos,
                              .enabledExtensionCount = n->extension_count,
                              .ppEnabledExtensionNames = n->extensions},
        NULL, &n->device));
    PFN_vkGetDeviceProcAddr get_device = (PFN_vkGetDeviceProcAddr)get(n, "vkGetDeviceProcAddr");
#define X(name)                                                \
    n->name = (PFN_vk##name)get_device(n->device, "vk" #name); \
    assert_non_null((void *)(uintptr_t)n->name);
    NATIVE_FUNCTIONS(X)
#undef X
    uint32_t index[16] = {0};
    for (uint32_t i = 0; i < n->queue_count; i++)
        n->GetDeviceQueue(n->device, n->queues[i].family, index[n->queues[i].family]++, &n->queues[i].queue);
}

void native_open(native *n, bool poor) {
    *n = (native){.api_version = poor ? VK_API_VERSION_1_1 : VK_API_VERSION_1_3};
    open_loader(n);
    open_instance(n);
    find_device(n);
    ask_features(n);
    open_device(n, poor);
}

void native_close(native *n) {
    native_probe(n);
    n->DestroyDevice(n->device, NULL);
    if (n->messenger != VK_NULL_HANDLE)
        ((PFN_vkDestroyDebugUtilsMessengerEXT)get(n, "vkDestroyDebugUtilsMessengerEXT"))(n->instance, n->messenger,
                                                                                         NULL);
    ((PFN_vkDestroyInstance)get(n, "vkDestroyInstance"))(n->instance, NULL);
}

kp_vulkan_device_desc native_desc(const native *n) {
    return (kp_vulkan_device_desc){.get_instance_proc_addr = n->get_proc,
                                   .instance = n->instance,
                                   .api_version = n->api_version,
                                   .physical_device = n->physical,
                                   .device = n->device,
                                   .queues = n->queues,
                                   .queue_count = n->queue_count,
                                   .extensions = n->extensions,
                                   .extension_count = n->extension_count,
                                   .features = &n->features,
                                   .debug_utils = n->messenger != VK_NULL_HANDLE};
}

native_buffer native_buffer_create(const native *n, VkDeviceSize size) {
    const VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    native_buffer b = {0};
    uint32_t families[NATIVE_MAX_QUEUES], family_count = 0, type = 0;
    for (uint32_t i = 0; i < n->queue_count; i++) {
        bool known = family_count != 0 && families[family_count - 1] == n->queues[i].family;
        if (!known)
            families[family_count++] = n->queues[i].family;
    }
    VK(n->CreateBuffer(
        n->device,
        &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                              .size = size,
                              .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                       VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              .sharingMode = family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
                              .queueFamilyIndexCount = family_count,
                              .pQueueFamilyIndices = families},
        NULL, &b.handle));
    VkMemoryRequirements needs;
    n->GetBufferMemoryRequirements(n->device, b.handle, &needs);
    while ((needs.memoryTypeBits >> type & 1) == 0 || (n->memory.memoryTypes[type].propertyFlags & host) != host)
        type++;
    assert_true(type < n->memory.memoryTypeCount);
    VK(n->AllocateMemory(n->device,
                         &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                 .allocationSize = needs.size,
                                                 .memoryTypeIndex = type},
                         NULL, &b.memory));
    VK(n->BindBufferMemory(n->device, b.handle, b.memory, 0));
    VK(n->MapMemory(n->device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.mapped));
    return b;
}

void native_buffer_destroy(const native *n, native_buffer *buffer) {
    n->DestroyBuffer(n->device, buffer->handle, NULL);
    n->FreeMemory(n->device, buffer->memory, NULL);
    *buffer = (native_buffer){0};
}

void native_probe(const native *n) {
    VkFence fence = VK_NULL_HANDLE;
    VK(n->CreateFence(n->device, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL, &fence));
    VK(n->QueueSubmit(n->queues[0].queue, 0, NULL, fence));
    VK(n->WaitForFences(n->device, 1, &fence, VK_TRUE, UINT64_MAX));
    n->DestroyFence(n->device, fence, NULL);
}
