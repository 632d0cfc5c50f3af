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

kp_result kp_features_given_extensions(const kp_features_given *given, VkExtensionProperties **out, uint32_t *count) {
    VkExtensionProperties *list = kp_alloc_zero(given->extension_count, sizeof *list);
    if (list == NULL)
        return kp_error_host_memory(given->extension_count * sizeof *list);
    for (size_t i = 0; i < given->extension_count; i++) {
        const char *name = given->extensions[i];
        if (name == NULL || strlen(name) >= sizeof list[i].extensionName) {
            kp_alloc_free(list);
            return kp_error_set(KP_ERROR_ARGUMENT, "extension %zu %s", i,
                                name == NULL ? "is NULL" : "has no such name");
        }
        memcpy(list[i].extensionName, name, strlen(name));
    }
    *out = list;
    *count = (uint32_t)given->extension_count;
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

// Enables an extension that brings no features, where it is.
static bool offer(kp_features *f, const VkExtensionProperties *list, uint32_t count, const char *extension) {
    bool there = kp_features_has_extension(list, count, extension);
    if (there)
        enable(f, extension);
    return there;
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
    f->matrix_nv.cooperativeMatrixRobustBufferAccess =
        f->matrix_nv.cooperativeMatrixRobustBufferAccess && f->core.features.robustBufferAccess;
    if (!f->core.features.robustBufferAccess)
        f->robustness2.robustBufferAccess2 = VK_FALSE; // needs the other
    f->push_descriptors = kp_features_has_extension(list, count, "VK_KHR_push_descriptor");
    f->spirv_1_4 = minor >= 2 || (kp_features_has_extension(list, count, "VK_KHR_spirv_1_4") &&
                                  kp_features_has_extension(list, count, "VK_KHR_shader_float_controls"));
    f->host_import = offer(f, list, count, "VK_EXT_external_memory_host");
    f->memory_budget = offer(f, list, count, "VK_EXT_memory_budget");
    if (f->push_descriptors)
        enable(f, "VK_KHR_push_descriptor");
    f->memory_fd = offer(f, list, count, "VK_KHR_external_memory_fd");
    f->dma_buf = f->memory_fd && offer(f, list, count, "VK_EXT_external_memory_dma_buf");
    f->semaphore_fd = offer(f, list, count, "VK_KHR_external_semaphore_fd");
    if (f->spirv_1_4 && minor < 2) {
        enable(f, "VK_KHR_spirv_1_4");
        enable(f, "VK_KHR_shader_float_controls");
    }
    if (minor < 3 && kp_features_has_extension(list, count, "VK_KHR_shader_non_semantic_info"))
        enable(f, "VK_KHR_shader_non_semantic_info");
    f->portability = offer(f, list, count, "VK_KHR_portability_subset"); // must be enabled where it is offered
    f->ballot = offer(f, list, count, "VK_EXT_shader_subgroup_ballot");
    f->vote = offer(f, list, count, "VK_EXT_shader_subgroup_vote");
    offer(f, list, count, "VK_NV_shader_subgroup_partitioned"); // subgroup_ops says so
    offer(f, list, count, "VK_GOOGLE_hlsl_functionality1");     // what HLSL compilers add to modules
    offer(f, list, count, "VK_GOOGLE_user_type");
}

// ---------------------------------------------------------------------------------------------------------------------
// Devices of others
// ---------------------------------------------------------------------------------------------------------------------

// What Vulkan's structs for whole versions say, in the structs for single features.
static void take_version(kp_features *f, const VkBaseInStructure *entry) {
    if (entry->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
        const VkPhysicalDeviceVulkan11Features *v = (const void *)entry;
        f->storage16.storageBuffer16BitAccess = v->storageBuffer16BitAccess;
        f->storage16.uniformAndStorageBuffer16BitAccess = v->uniformAndStorageBuffer16BitAccess;
        f->storage16.storagePushConstant16 = v->storagePushConstant16;
        f->pointers.variablePointersStorageBuffer = v->variablePointersStorageBuffer;
        f->pointers.variablePointers = v->variablePointers;
    } else if (entry->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
        const VkPhysicalDeviceVulkan12Features *v = (const void *)entry;
        f->storage8.storageBuffer8BitAccess = v->storageBuffer8BitAccess;
        f->storage8.uniformAndStorageBuffer8BitAccess = v->uniformAndStorageBuffer8BitAccess;
        f->storage8.storagePushConstant8 = v->storagePushConstant8;
        f->small.shaderFloat16 = v->shaderFloat16;
        f->small.shaderInt8 = v->shaderInt8;
        f->atomic64.shaderBufferInt64Atomics = v->shaderBufferInt64Atomics;
        f->atomic64.shaderSharedInt64Atomics = v->shaderSharedInt64Atomics;
        f->scalar.scalarBlockLayout = v->scalarBlockLayout;
        f->standard.uniformBufferStandardLayout = v->uniformBufferStandardLayout;
        f->subgroup_types.shaderSubgroupExtendedTypes = v->shaderSubgroupExtendedTypes;
        f->memory_model.vulkanMemoryModel = v->vulkanMemoryModel;
        f->memory_model.vulkanMemoryModelDeviceScope = v->vulkanMemoryModelDeviceScope;
        f->timeline.timelineSemaphore = v->timelineSemaphore;
    } else if (entry->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
        const VkPhysicalDeviceVulkan13Features *v = (const void *)entry;
        f->subgroup_size.subgroupSizeControl = v->subgroupSizeControl;
        f->subgroup_size.computeFullSubgroups = v->computeFullSubgroups;
        f->dot.shaderIntegerDotProduct = v->shaderIntegerDotProduct;
        f->zero_shared.shaderZeroInitializeWorkgroupMemory = v->shaderZeroInitializeWorkgroupMemory;
        f->maintenance4.maintenance4 = v->maintenance4;
    }
}

static void take(kp_features *f, const VkBaseInStructure *entry) {
    switch (entry->sType) {
#define KP_X(field, type, stype, version, extension) \
    case VK_STRUCTURE_TYPE_##stype:                  \
        memcpy(&f->field, entry, sizeof f->field);   \
        break;
        KP_FEATURE_STRUCTS(KP_X)
#undef KP_X
    default:
        take_version(f, entry);
        break;
    }
}

// A feature stays where both have it. `from` is where the first of them is, counted in bytes.
static void both(void *features, const void *given, size_t from, size_t size) {
    for (size_t at = from; at + sizeof(VkBool32) <= size; at += sizeof(VkBool32)) {
        VkBool32 has, may;
        memcpy(&has, (unsigned char *)features + at, sizeof has);
        memcpy(&may, (const unsigned char *)given + at, sizeof may);
        has = has != VK_FALSE && may != VK_FALSE;
        memcpy((unsigned char *)features + at, &has, sizeof has);
    }
}

void kp_features_restrict(kp_features *features, const kp_features_given *given) {
    kp_features told = {0};
    if (given->features != NULL)
        told.core.features = given->features->features;
    for (const VkBaseInStructure *s = given->features != NULL ? given->features->pNext : NULL; s != NULL; s = s->pNext)
        take(&told, s);
    both(&features->core.features, &told.core.features, 0, sizeof told.core.features);
#define KP_X(field, type, stype, version, extension) \
    both(&features->field, &told.field, sizeof(VkBaseInStructure), sizeof told.field);
    KP_FEATURE_STRUCTS(KP_X)
#undef KP_X
}
