// See features.h. Two tables: the feature structs (in the header, since the object has one field for each) and the
// SPIR-V capabilities with the feature behind each.
#include "features.h"

#include "base/alloc.h"
#include "names.h"

#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <string.h>

// Capabilities of compute modules. X(SPIR-V name, condition, Vulkan feature)
#define ALWAYS true
#define CAPABILITIES(X)                                                                                              \
    X(Matrix, ALWAYS, "")                                                                                            \
    X(Shader, ALWAYS, "")                                                                                            \
    X(Float16, f->small.shaderFloat16, "shaderFloat16")                                                              \
    X(Float64, f->core.features.shaderFloat64, "shaderFloat64")                                                      \
    X(Int8, f->small.shaderInt8, "shaderInt8")                                                                       \
    X(Int16, f->core.features.shaderInt16, "shaderInt16")                                                            \
    X(Int64, f->core.features.shaderInt64, "shaderInt64")                                                            \
    X(Int64Atomics, f->atomic64.shaderBufferInt64Atomics || f->atomic64.shaderSharedInt64Atomics,                    \
      "shaderBufferInt64Atomics")                                                                                    \
    X(AtomicFloat32AddEXT,                                                                                           \
      f->atomic_float.shaderBufferFloat32AtomicAdd || f->atomic_float.shaderSharedFloat32AtomicAdd,                  \
      "shaderBufferFloat32AtomicAdd")                                                                                \
    X(AtomicFloat64AddEXT,                                                                                           \
      f->atomic_float.shaderBufferFloat64AtomicAdd || f->atomic_float.shaderSharedFloat64AtomicAdd,                  \
      "shaderBufferFloat64AtomicAdd")                                                                                \
    X(AtomicFloat16AddEXT,                                                                                           \
      f->atomic_float2.shaderBufferFloat16AtomicAdd || f->atomic_float2.shaderSharedFloat16AtomicAdd,                \
      "shaderBufferFloat16AtomicAdd")                                                                                \
    X(AtomicFloat32MinMaxEXT,                                                                                        \
      f->atomic_float2.shaderBufferFloat32AtomicMinMax || f->atomic_float2.shaderSharedFloat32AtomicMinMax,          \
      "shaderBufferFloat32AtomicMinMax")                                                                             \
    X(AtomicFloat64MinMaxEXT,                                                                                        \
      f->atomic_float2.shaderBufferFloat64AtomicMinMax || f->atomic_float2.shaderSharedFloat64AtomicMinMax,          \
      "shaderBufferFloat64AtomicMinMax")                                                                             \
    X(AtomicFloat16MinMaxEXT,                                                                                        \
      f->atomic_float2.shaderBufferFloat16AtomicMinMax || f->atomic_float2.shaderSharedFloat16AtomicMinMax,          \
      "shaderBufferFloat16AtomicMinMax")                                                                             \
    X(StorageBuffer16BitAccess, f->storage16.storageBuffer16BitAccess, "storageBuffer16BitAccess")                   \
    X(UniformAndStorageBuffer16BitAccess, f->storage16.uniformAndStorageBuffer16BitAccess,                           \
      "uniformAndStorageBuffer16BitAccess")                                                                          \
    X(StoragePushConstant16, f->storage16.storagePushConstant16, "storagePushConstant16")                            \
    X(StorageBuffer8BitAccess, f->storage8.storageBuffer8BitAccess, "storageBuffer8BitAccess")                       \
    X(UniformAndStorageBuffer8BitAccess, f->storage8.uniformAndStorageBuffer8BitAccess,                              \
      "uniformAndStorageBuffer8BitAccess")                                                                           \
    X(StoragePushConstant8, f->storage8.storagePushConstant8, "storagePushConstant8")                                \
    X(VariablePointersStorageBuffer, f->pointers.variablePointersStorageBuffer, "variablePointersStorageBuffer")     \
    X(VariablePointers, f->pointers.variablePointers, "variablePointers")                                            \
    X(VulkanMemoryModel, f->memory_model.vulkanMemoryModel, "vulkanMemoryModel")                                     \
    X(VulkanMemoryModelDeviceScope, f->memory_model.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope")    \
    X(ImageBasic, false, "")                                                                                         \
    X(Image1D, ALWAYS, "")                                                                                           \
    X(Sampled1D, ALWAYS, "")                                                                                         \
    X(ImageBuffer, ALWAYS, "")                                                                                       \
    X(SampledBuffer, ALWAYS, "")                                                                                     \
    X(ImageQuery, ALWAYS, "")                                                                                        \
    X(DerivativeControl, ALWAYS, "")                                                                                 \
    X(StorageImageExtendedFormats, f->core.features.shaderStorageImageExtendedFormats,                               \
      "shaderStorageImageExtendedFormats")                                                                           \
    X(StorageImageReadWithoutFormat, f->core.features.shaderStorageImageReadWithoutFormat,                           \
      "shaderStorageImageReadWithoutFormat")                                                                         \
    X(StorageImageWriteWithoutFormat, f->core.features.shaderStorageImageWriteWithoutFormat,                         \
      "shaderStorageImageWriteWithoutFormat")                                                                        \
    X(ImageGatherExtended, f->core.features.shaderImageGatherExtended, "shaderImageGatherExtended")                  \
    X(MinLod, f->core.features.shaderResourceMinLod, "shaderResourceMinLod")                                         \
    X(UniformBufferArrayDynamicIndexing, f->core.features.shaderUniformBufferArrayDynamicIndexing,                   \
      "shaderUniformBufferArrayDynamicIndexing")                                                                     \
    X(SampledImageArrayDynamicIndexing, f->core.features.shaderSampledImageArrayDynamicIndexing,                     \
      "shaderSampledImageArrayDynamicIndexing")                                                                      \
    X(StorageBufferArrayDynamicIndexing, f->core.features.shaderStorageBufferArrayDynamicIndexing,                   \
      "shaderStorageBufferArrayDynamicIndexing")                                                                     \
    X(StorageImageArrayDynamicIndexing, f->core.features.shaderStorageImageArrayDynamicIndexing,                     \
      "shaderStorageImageArrayDynamicIndexing")                                                                      \
    X(GroupNonUniform, f->subgroup_ops &VK_SUBGROUP_FEATURE_BASIC_BIT, "subgroup basic operations")                  \
    X(GroupNonUniformVote, f->subgroup_ops &VK_SUBGROUP_FEATURE_VOTE_BIT, "subgroup vote operations")                \
    X(GroupNonUniformArithmetic, f->subgroup_ops &VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,                                \
      "subgroup arithmetic operations")                                                                              \
    X(GroupNonUniformBallot, f->subgroup_ops &VK_SUBGROUP_FEATURE_BALLOT_BIT, "subgroup ballot operations")          \
    X(GroupNonUniformShuffle, f->subgroup_ops &VK_SUBGROUP_FEATURE_SHUFFLE_BIT, "subgroup shuffle operations")       \
    X(GroupNonUniformShuffleRelative, f->subgroup_ops &VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT,                     \
      "subgroup relative shuffle operations")                                                                        \
    X(GroupNonUniformClustered, f->subgroup_ops &VK_SUBGROUP_FEATURE_CLUSTERED_BIT, "subgroup clustered operations") \
    X(GroupNonUniformQuad, f->subgroup_ops &VK_SUBGROUP_FEATURE_QUAD_BIT, "subgroup quad operations")                \
    X(ShaderClockKHR, f->clock.shaderSubgroupClock, "shaderSubgroupClock")                                           \
    X(DotProduct, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                                         \
    X(DotProductInputAll, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                                 \
    X(DotProductInput4x8Bit, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                              \
    X(DotProductInput4x8BitPacked, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                        \
    X(WorkgroupMemoryExplicitLayoutKHR, f->shared_layout.workgroupMemoryExplicitLayout,                              \
      "workgroupMemoryExplicitLayout")                                                                               \
    X(WorkgroupMemoryExplicitLayout8BitAccessKHR, f->shared_layout.workgroupMemoryExplicitLayout8BitAccess,          \
      "workgroupMemoryExplicitLayout8BitAccess")                                                                     \
    X(WorkgroupMemoryExplicitLayout16BitAccessKHR, f->shared_layout.workgroupMemoryExplicitLayout16BitAccess,        \
      "workgroupMemoryExplicitLayout16BitAccess")                                                                    \
    X(PhysicalStorageBufferAddresses, false, "bufferDeviceAddress")                                                  \
    X(RuntimeDescriptorArray, false, "runtimeDescriptorArray")                                                       \
    X(ShaderNonUniform, false, "descriptorIndexing")                                                                 \
    X(RayQueryKHR, false, "rayQuery")                                                                                \
    X(CooperativeMatrixNV, false, "cooperativeMatrix")                                                               \
    X(Kernel, false, "none: the module is for OpenCL")                                                               \
    X(SignedZeroInfNanPreserve, ALWAYS, "")                                                                          \
    X(DenormPreserve, ALWAYS, "")                                                                                    \
    X(DenormFlushToZero, ALWAYS, "")                                                                                 \
    X(RoundingModeRTE, ALWAYS, "")                                                                                   \
    X(RoundingModeRTZ, ALWAYS, "")

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

const char *kp_features_missing(const kp_features *features, uint32_t capability) {
    const kp_features *f = features;
    switch (capability) {
#define X(name, condition, feature) \
    case SpvCapability##name:       \
        return (condition) ? NULL : feature;
        CAPABILITIES(X)
#undef X
    default:
        return "a feature that kp does not know";
    }
}
