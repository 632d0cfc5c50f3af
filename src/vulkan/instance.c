// See instance.h. The extensions are not looked up first: that makes the loader read and open every driver once more,
// which takes as long as creating the instance. kp asks for what it would like and, if the loader refuses, for less.
//
// The validation layer runs with its synchronization and best-practice checks; its messages go to the log as errors,
// but for the few best practices that are mere advice about sizes and habits (table below).
//
// The first instance of the process stays open when its owner is done with it. Otherwise the loader unloads the drivers
// with the last instance and loads them again with the next, and some do not survive that for long: NVIDIA's takes
// static thread-local storage each time, which runs out after some thirty managers made one after the other.
#include "instance.h"

#include "base/alloc.h"
#include "guard.h"
#include "loader.h"
#include "names.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
#define API_VERSION VK_API_VERSION_1_3

// Advice that does not fit what kp does on purpose.
static const char *const advice[] = {
    "vkAllocateMemory-small-allocation",       // the first block of a memory type is small
    "vkBindMemory-small-dedicated-allocation", // a lone tensor in its block looks like one
    "vkCreateInstance-specialuse-extension",   // debug utils is what this is about
    "vkCreateDevice-specialuse-extension",     // the same for what the caller asks for
    "vkCreateDevice-deprecated-extension",     // a module of an older SPIR-V may need what the core does otherwise now
    "SpirvDeprecated_WorkgroupSize",           // a module of an older SPIR-V may use what a newer one does not
};

// Copies of images in the layout GENERAL, in which kp keeps them (pixels.h), are warned of for their speed. Errors have
// the same name.
static bool is_about_general_layout(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                    VkDebugUtilsMessageTypeFlagsEXT types, const char *id) {
    return severity == VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT &&
           types == VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT && strstr(id, "InvalidImageLayout") != NULL;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *payload) {
    (void)payload;
    const char *id = data->pMessageIdName != NULL ? data->pMessageIdName : "";
    if (is_about_general_layout(severity, types, id))
        return VK_FALSE;
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        if (strstr(id, advice[i]) != NULL)
            return VK_FALSE;
    }
    char text[2048];
    snprintf(text, sizeof text, "validation: %s", data->pMessage != NULL ? data->pMessage : id);
    kp_guard_log(KP_LOG_ERROR, text);
    return VK_FALSE;
}

static const VkDebugUtilsMessengerCreateInfoEXT messenger_info = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
    .pfnUserCallback = on_message,
};

static VkResult create(bool portability, bool validation, bool labels, VkInstance *out) {
    static const VkValidationFeatureEnableEXT checks[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,
                                                          VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT};
    const VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                              .pNext = &messenger_info,
                                              .enabledValidationFeatureCount = 2,
                                              .pEnabledValidationFeatures = checks};
    const char *extensions[3];
    uint32_t count = 0;
    if (portability)
        extensions[count++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    if (labels)
        extensions[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    if (validation)
        extensions[count++] = VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
    return vkCreateInstance(
        &(VkInstanceCreateInfo){
            .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
            .pNext = validation ? &features : NULL,
            .flags = portability ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
            .pApplicationInfo = &(VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                                     .pEngineName = "kp",
                                                     .engineVersion = VK_MAKE_API_VERSION(
                                                         0, KP_VERSION_MAJOR, KP_VERSION_MINOR, KP_VERSION_PATCH),
                                                     .apiVersion = API_VERSION},
            .enabledLayerCount = validation ? 1 : 0,
            .ppEnabledLayerNames = (const char *const[]){VALIDATION_LAYER},
            .enabledExtensionCount = count,
            .ppEnabledExtensionNames = extensions,
        },
        NULL, out);
}

static bool has_validation_layer(void) {
    uint32_t count = 0;
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || count == 0)
        return false;
    VkLayerProperties *layers = kp_alloc_zero(count, sizeof *layers);
    if (layers == NULL)
        return false;
    bool found = false;
    if (vkEnumerateInstanceLayerProperties(&count, layers) >= 0) {
        for (uint32_t i = 0; i < count && !found; i++)
            found = strcmp(layers[i].layerName, VALIDATION_LAYER) == 0;
    }
    kp_alloc_free(layers);
    return found;
}

static void warn_of_validation(const char *why) {
    kp_log_write(KP_LOG_WARNING,
                 "validation was asked for, but " VALIDATION_LAYER
                 " %s (Debian, Ubuntu: apt install vulkan-validationlayers)",
                 why);
}

static VkResult try_both(const kp_instance *instance, VkInstance *out) {
    VkResult result = create(true, instance->validation, instance->labels, out);
    return result == VK_ERROR_EXTENSION_NOT_PRESENT ? create(false, instance->validation, instance->labels, out)
                                                    : result;
}

// Drivers have threads and locks that a fork does not copy: an instance in the child of a process that has one may hang
// for ever.
static kp_result check_process(void) {
    static atomic_long user; // the process that made the first one; 0: there was none yet
    long first = 0, now = (long)getpid();
    if (atomic_compare_exchange_strong(&user, &first, now) || first == now)
        return KP_OK;
    return kp_error_set(KP_ERROR_STATE,
                        "this process was forked from one that used Vulkan, which no driver survives; fork before the "
                        "first manager, or start processes anew (in Python: multiprocessing's 'spawn')");
}

static kp_result open_instance(kp_instance *instance) {
    kp_loader_lock();
    VkResult result = try_both(instance, &instance->handle);
    bool unloadable =
        instance->validation && (result == VK_ERROR_LAYER_NOT_PRESENT || result == VK_ERROR_EXTENSION_NOT_PRESENT);
    if (unloadable) { // as one of 64 bits in a process of 32, or a very old one
        instance->validation = false;
        result = try_both(instance, &instance->handle);
    }
    if (result == VK_ERROR_EXTENSION_NOT_PRESENT && instance->labels && !instance->validation) {
        instance->labels = false;
        result = create(false, false, false, &instance->handle);
    }
    kp_loader_unlock();
    if (unloadable)
        warn_of_validation("cannot be loaded");
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return kp_error_set(KP_ERROR_NO_DEVICE,
                            "no Vulkan driver: the loader found none that works (Debian, Ubuntu: apt install "
                            "mesa-vulkan-drivers, or the GPU vendor's; is VK_ICD_FILENAMES or VK_DRIVER_FILES set?)");
    return kp_names_check(result, "vkCreateInstance", NULL);
}

static kp_result load_functions(kp_instance *instance) {
#define KP_X(name)                                                                   \
    instance->name = (PFN_vk##name)instance->get_proc(instance->handle, "vk" #name); \
    if (instance->name == NULL)                                                      \
        return kp_error_set(KP_ERROR_DRIVER, "the Vulkan loader has no vk" #name);
    KP_INSTANCE_FUNCTIONS(KP_X)
#undef KP_X
    return KP_OK;
}

static kp_result start_messenger(kp_instance *instance) {
    PFN_vkCreateDebugUtilsMessengerEXT start =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance->handle, "vkCreateDebugUtilsMessengerEXT");
    if (start == NULL)
        return KP_OK;
    return kp_names_check(start(instance->handle, &messenger_info, NULL, &instance->messenger),
                          "vkCreateDebugUtilsMessengerEXT", NULL);
}

static kp_result list_devices(kp_instance *instance) {
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) { // a device may come between the two calls
        uint32_t count = 0;
        result = instance->EnumeratePhysicalDevices(instance->handle, &count, NULL);
        if (result == VK_ERROR_INITIALIZATION_FAILED || (result >= 0 && count == 0))
            return KP_OK; // older loaders' word for "none"
        if (result < 0)
            break;
        kp_alloc_free(instance->devices);
        instance->devices = kp_alloc_zero(count, sizeof *instance->devices);
        if (instance->devices == NULL)
            return kp_error_host_memory(count * sizeof *instance->devices);
        result = instance->EnumeratePhysicalDevices(instance->handle, &count, instance->devices);
        instance->device_count = result >= 0 ? count : 0;
    }
    return kp_names_check(result, "vkEnumeratePhysicalDevices", NULL);
}

// Whether two are one card, seen through two drivers, or through one that is installed twice: its UUID and its maker
// say so. (Names differ between drivers.)
static bool is_same(const kp_instance *instance, VkPhysicalDevice a, VkPhysicalDevice b) {
    static const uint8_t none[VK_UUID_SIZE];
    VkPhysicalDeviceIDProperties ids[2];
    VkPhysicalDeviceProperties2 all[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = (VkPhysicalDeviceIDProperties){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        all[i] =
            (VkPhysicalDeviceProperties2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &ids[i]};
        instance->GetPhysicalDeviceProperties(i == 0 ? a : b, &all[i].properties);
        if (all[i].properties.apiVersion < VK_API_VERSION_1_1)
            return false;
        instance->GetPhysicalDeviceProperties2(i == 0 ? a : b, &all[i]);
    }
    const VkPhysicalDeviceProperties *p = &all[0].properties, *q = &all[1].properties;
    return memcmp(ids[0].deviceUUID, ids[1].deviceUUID, VK_UUID_SIZE) == 0 &&
           memcmp(ids[0].deviceUUID, none, VK_UUID_SIZE) != 0 && p->vendorID == q->vendorID &&
           p->deviceID == q->deviceID && p->deviceType == q->deviceType;
}

// Keeps the first of those that are the same: the loader's order is the system's preference.
static void drop_duplicates(kp_instance *instance) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < instance->device_count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < kept && !known; k++)
            known = is_same(instance, instance->devices[k], instance->devices[i]);
        if (!known)
            instance->devices[kept++] = instance->devices[i];
    }
    instance->device_count = kept;
}

kp_result kp_instance_create(bool validation, bool labels, kp_instance **out) {
    kp_result result = check_process();
    if (result == KP_OK)
        result = kp_loader_open();
    if (result != KP_OK)
        return result;
    kp_instance *instance = kp_alloc_zero(1, sizeof *instance);
    if (instance == NULL)
        return kp_error_host_memory(sizeof *instance);
    instance->get_proc = vkGetInstanceProcAddr;
    instance->api_version = API_VERSION;
    instance->validation = validation && has_validation_layer();
    instance->labels = labels || instance->validation;
    if (validation && !instance->validation)
        warn_of_validation("is not installed");
    result = open_instance(instance);
    if (result != KP_OK)
        goto fail;
    result = load_functions(instance);
    if (result == KP_OK && instance->validation)
        result = start_messenger(instance);
    if (result == KP_OK)
        result = list_devices(instance);
    if (result != KP_OK)
        goto fail;
    drop_duplicates(instance);
    *out = instance;
    return KP_OK;
fail:
    kp_instance_destroy(instance);
    return result;
}

kp_result kp_instance_adopt(PFN_vkGetInstanceProcAddr get_proc, VkInstance handle, uint32_t api_version,
                            VkPhysicalDevice physical, bool labels, kp_instance **out) {
    kp_result result = get_proc == NULL ? kp_loader_open() : KP_OK;
    if (result != KP_OK)
        return result;
    kp_instance *instance = kp_alloc_zero(1, sizeof *instance);
    VkPhysicalDevice *devices = kp_alloc_zero(1, sizeof *devices);
    if (instance == NULL || devices == NULL) {
        kp_alloc_free(instance);
        kp_alloc_free(devices);
        return kp_error_host_memory(sizeof *instance);
    }
    *devices = physical;
    *instance = (kp_instance){.handle = handle,
                              .get_proc = get_proc != NULL ? get_proc : vkGetInstanceProcAddr,
                              .api_version = api_version,
                              .foreign = true,
                              .labels = labels,
                              .devices = devices,
                              .device_count = 1};
    result = load_functions(instance);
    if (result == KP_OK)
        *out = instance;
    else
        kp_instance_destroy(instance);
    return result;
}

// True once in the process: that instance keeps the drivers loaded.
static bool becomes_keeper(void) {
    static atomic_flag there_is_one = ATOMIC_FLAG_INIT;
    return !atomic_flag_test_and_set(&there_is_one);
}

void kp_instance_destroy(kp_instance *instance) {
    if (instance == NULL)
        return;
    if (instance->messenger != VK_NULL_HANDLE) {
        PFN_vkDestroyDebugUtilsMessengerEXT stop = (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            instance->handle, "vkDestroyDebugUtilsMessengerEXT");
        stop(instance->handle, instance->messenger, NULL);
    }
    if (instance->handle != VK_NULL_HANDLE && !instance->foreign && !becomes_keeper()) {
        PFN_vkDestroyInstance destroy =
            (PFN_vkDestroyInstance)vkGetInstanceProcAddr(instance->handle, "vkDestroyInstance");
        kp_loader_lock();
        destroy(instance->handle, NULL);
        kp_loader_unlock();
    }
    kp_alloc_free(instance->devices);
    kp_alloc_free(instance);
}
