// See features.h. The table of feature structs is in the header, since the object has one field for each.
#include "features.h"

#include "base/alloc.h"
#include "names.h"

#include <string.h>

kp_result kp_features_extensions(const kp_instance *instance, VkPhysicalDevice device, VkExtensionProperties **out,
                                 uint32_t *count) {
    VkExtensionProperties *list = NULL;
    uint32_t n = 0;
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) {
        kp_alloc_free(list);
        list = NULL;
        result = instance->EnumerateDeviceExtensionProperties(device, NULL, &n, NULL);
        if (result < 0)
            break;
        list = kp_alloc_zero(n, sizeof *list);
        if (list == NULL)
            return kp_error_host_memory(n * sizeof *list);
        result = instance->EnumerateDeviceExtensionProperties(device, NULL, &n, list);
    }
    if (result < 0) {
        kp_alloc_free(list);
        return kp_names_check(result, "vkEnumerateDeviceExtensionProperties", NULL);
    }
    *out = list;
    *count = n;
    return KP_OK;
}

bool kp_features_has_extension(const VkExtensionProperties *list, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    }
    return false;
}

static void enable(kp_features *f, const char *extension) {
    if (f->extension_count < KP_FEATURES_MAX_EXTENSIONS)
        f->extensions[f->extension_count++] = extension;
}

// Puts a feature struct in the chain when the device knows it, and its extension on the list when that is needed.
static void chain(kp_features *f, void *entry, VkStructureType type, uint32_t minor, uint32_t core_minor,
                  const char *extension, const VkExtensionProperties *list, uint32_t count) {
    bool in_core = minor >= core_minor;
    if (!in_core && !kp_features_has_extension(list, count, extension))
        return;
    if (!in_core)
        enable(f, extension);
    VkBaseOutStructure *base = entry;
    base->sType = type;
    base->pNext = f->core.pNext;
    f->core.pNext = base;
}

// Of the core's features those that compute shaders can use; the others would only cost.
static VkPhysicalDeviceFeatures compute_only(const VkPhysicalDeviceFeatures *all) {
    return (VkPhysicalDeviceFeatures){
        .robustBufferAccess = all->robustBufferAccess,
        .shaderImageGatherExtended = all->shaderImageGatherExtended,
        .shaderStorageImageExtendedFormats = all->shaderStorageImageExtendedFormats,
        .shaderStorageImageReadWithoutFormat = all->shaderStorageImageReadWithoutFormat,
        .shaderStorageImageWriteWithoutFormat = all->shaderStorageImageWriteWithoutFormat,
        .shaderUniformBufferArrayDynamicIndexing = all->shaderUniformBufferArrayDynamicIndexing,
        .shaderSampledImageArrayDynamicIndexing = all->shaderSampledImageArrayDynamicIndexing,
        .shaderStorageBufferArrayDynamicIndexing = all->shaderStorageBufferArrayDynamicIndexing,
        .shaderStorageImageArrayDynamicIndexing = all->shaderStorageImageArrayDynamicIndexing,
        .shaderFloat64 = all->shaderFloat64,
        .shaderInt64 = all->shaderInt64,
        .shaderInt16 = all->shaderInt16,
        .shaderResourceMinLod = all->shaderResourceMinLod,
    };
}

void kp_features_query(const kp_instance *instance, VkPhysicalDevice device, uint32_t api_version,
                       const VkExtensionProperties *list, uint32_t count, kp_features *out) {
    kp_features *f = out;
    uint32_t minor = VK_API_VERSION_MINOR(api_version);
    f->core = (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
#define KP_X(field, type, stype, version, extension) \
    chain(f, &f->field, VK_STRUCTURE_TYPE_##stype, minor, version, extension, list, count);
    KP_FEATURE_STRUCTS(KP_X)
#undef KP_X
    instance->GetPhysicalDeviceFeatures2(device, &f->core);
    f->core.features = compute_only(&f->core.features);
    f->storage16.storageInputOutput16 = VK_FALSE;
    f->memory_model.vulkanMemoryModelAvailabilityVisibilityChains = VK_FALSE;
    if (!f->core.features.robustBufferAccess)
        f->robustness2.robustBufferAccess2 = VK_FALSE; // needs the other
    f->push_descriptors = kp_features_has_extension(list, count, "VK_KHR_push_descriptor");
    f->spirv_1_4 = minor >= 2 || (kp_features_has_extension(list, count, "VK_KHR_spirv_1_4") &&
                                  kp_features_has_extension(list, count, "VK_KHR_shader_float_controls"));
    f->host_import = kp_features_has_extension(list, count, "VK_EXT_external_memory_host");
    if (f->host_import)
        enable(f, "VK_EXT_external_memory_host");
    f->memory_budget = kp_features_has_extension(list, count, "VK_EXT_memory_budget");
    if (f->memory_budget)
        enable(f, "VK_EXT_memory_budget");
    if (f->push_descriptors)
        enable(f, "VK_KHR_push_descriptor");
    if (f->spirv_1_4 && minor < 2) {
        enable(f, "VK_KHR_spirv_1_4");
        enable(f, "VK_KHR_shader_float_controls");
    }
    if (minor < 3 && kp_features_has_extension(list, count, "VK_KHR_shader_non_semantic_info"))
        enable(f, "VK_KHR_shader_non_semantic_info");
    if (kp_features_has_extension(list, count, "VK_KHR_portability_subset"))
        enable(f, "VK_KHR_portability_subset"); // must be enabled where it is offered
}
