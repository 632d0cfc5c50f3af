// See capabilities.h: one table.
#include "capabilities.h"

#include <spirv/unified1/spirv.h>

// Capabilities of compute modules. X(SPIR-V name, condition, Vulkan feature)
#define ALWAYS true
#define CAPABILITIES(X)                                                                                               \
    X(Matrix, ALWAYS, "")                                                                                             \
    X(Shader, ALWAYS, "")                                                                                             \
    X(Float16, f->small.shaderFloat16, "shaderFloat16")                                                               \
    X(Float64, f->core.features.shaderFloat64, "shaderFloat64")                                                       \
    X(Int8, f->small.shaderInt8, "shaderInt8")                                                                        \
    X(Int16, f->core.features.shaderInt16, "shaderInt16")                                                             \
    X(Int64, f->core.features.shaderInt64, "shaderInt64")                                                             \
    X(Int64Atomics, f->atomic64.shaderBufferInt64Atomics || f->atomic64.shaderSharedInt64Atomics,                     \
      "shaderBufferInt64Atomics")                                                                                     \
    X(AtomicFloat32AddEXT,                                                                                            \
      f->atomic_float.shaderBufferFloat32AtomicAdd || f->atomic_float.shaderSharedFloat32AtomicAdd,                   \
      "shaderBufferFloat32AtomicAdd")                                                                                 \
    X(AtomicFloat64AddEXT,                                                                                            \
      f->atomic_float.shaderBufferFloat64AtomicAdd || f->atomic_float.shaderSharedFloat64AtomicAdd,                   \
      "shaderBufferFloat64AtomicAdd")                                                                                 \
    X(AtomicFloat16AddEXT,                                                                                            \
      f->atomic_float2.shaderBufferFloat16AtomicAdd || f->atomic_float2.shaderSharedFloat16AtomicAdd,                 \
      "shaderBufferFloat16AtomicAdd")                                                                                 \
    X(AtomicFloat32MinMaxEXT,                                                                                         \
      f->atomic_float2.shaderBufferFloat32AtomicMinMax || f->atomic_float2.shaderSharedFloat32AtomicMinMax,           \
      "shaderBufferFloat32AtomicMinMax")                                                                              \
    X(AtomicFloat64MinMaxEXT,                                                                                         \
      f->atomic_float2.shaderBufferFloat64AtomicMinMax || f->atomic_float2.shaderSharedFloat64AtomicMinMax,           \
      "shaderBufferFloat64AtomicMinMax")                                                                              \
    X(AtomicFloat16MinMaxEXT,                                                                                         \
      f->atomic_float2.shaderBufferFloat16AtomicMinMax || f->atomic_float2.shaderSharedFloat16AtomicMinMax,           \
      "shaderBufferFloat16AtomicMinMax")                                                                              \
    X(StorageBuffer16BitAccess, f->storage16.storageBuffer16BitAccess, "storageBuffer16BitAccess")                    \
    X(UniformAndStorageBuffer16BitAccess, f->storage16.uniformAndStorageBuffer16BitAccess,                            \
      "uniformAndStorageBuffer16BitAccess")                                                                           \
    X(StoragePushConstant16, f->storage16.storagePushConstant16, "storagePushConstant16")                             \
    X(StorageBuffer8BitAccess, f->storage8.storageBuffer8BitAccess, "storageBuffer8BitAccess")                        \
    X(UniformAndStorageBuffer8BitAccess, f->storage8.uniformAndStorageBuffer8BitAccess,                               \
      "uniformAndStorageBuffer8BitAccess")                                                                            \
    X(StoragePushConstant8, f->storage8.storagePushConstant8, "storagePushConstant8")                                 \
    X(VariablePointersStorageBuffer, f->pointers.variablePointersStorageBuffer, "variablePointersStorageBuffer")      \
    X(VariablePointers, f->pointers.variablePointers, "variablePointers")                                             \
    X(VulkanMemoryModel, f->memory_model.vulkanMemoryModel, "vulkanMemoryModel")                                      \
    X(VulkanMemoryModelDeviceScope, f->memory_model.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope")     \
    X(ImageBasic, false, "")                                                                                          \
    X(Image1D, ALWAYS, "")                                                                                            \
    X(Sampled1D, ALWAYS, "")                                                                                          \
    X(ImageBuffer, ALWAYS, "")                                                                                        \
    X(SampledBuffer, ALWAYS, "")                                                                                      \
    X(ImageQuery, ALWAYS, "")                                                                                         \
    X(DerivativeControl, ALWAYS, "")                                                                                  \
    X(StorageImageExtendedFormats, f->core.features.shaderStorageImageExtendedFormats,                                \
      "shaderStorageImageExtendedFormats")                                                                            \
    X(StorageImageReadWithoutFormat, f->core.features.shaderStorageImageReadWithoutFormat,                            \
      "shaderStorageImageReadWithoutFormat")                                                                          \
    X(StorageImageWriteWithoutFormat, f->core.features.shaderStorageImageWriteWithoutFormat,                          \
      "shaderStorageImageWriteWithoutFormat")                                                                         \
    X(ImageGatherExtended, f->core.features.shaderImageGatherExtended, "shaderImageGatherExtended")                   \
    X(MinLod, f->core.features.shaderResourceMinLod, "shaderResourceMinLod")                                          \
    X(UniformBufferArrayDynamicIndexing, f->core.features.shaderUniformBufferArrayDynamicIndexing,                    \
      "shaderUniformBufferArrayDynamicIndexing")                                                                      \
    X(SampledImageArrayDynamicIndexing, f->core.features.shaderSampledImageArrayDynamicIndexing,                      \
      "shaderSampledImageArrayDynamicIndexing")                                                                       \
    X(StorageBufferArrayDynamicIndexing, f->core.features.shaderStorageBufferArrayDynamicIndexing,                    \
      "shaderStorageBufferArrayDynamicIndexing")                                                                      \
    X(StorageImageArrayDynamicIndexing, f->core.features.shaderStorageImageArrayDynamicIndexing,                      \
      "shaderStorageImageArrayDynamicIndexing")                                                                       \
    X(GroupNonUniform, f->subgroup_ops &VK_SUBGROUP_FEATURE_BASIC_BIT, "subgroup basic operations")                   \
    X(GroupNonUniformVote, f->subgroup_ops &VK_SUBGROUP_FEATURE_VOTE_BIT, "subgroup vote operations")                 \
    X(GroupNonUniformArithmetic, f->subgroup_ops &VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,                                 \
      "subgroup arithmetic operations")                                                                               \
    X(GroupNonUniformBallot, f->subgroup_ops &VK_SUBGROUP_FEATURE_BALLOT_BIT, "subgroup ballot operations")           \
    X(GroupNonUniformShuffle, f->subgroup_ops &VK_SUBGROUP_FEATURE_SHUFFLE_BIT, "subgroup shuffle operations")        \
    X(GroupNonUniformShuffleRelative, f->subgroup_ops &VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT,                      \
      "subgroup relative shuffle operations")                                                                         \
    X(GroupNonUniformClustered, f->subgroup_ops &VK_SUBGROUP_FEATURE_CLUSTERED_BIT, "subgroup clustered operations")  \
    X(GroupNonUniformQuad, f->subgroup_ops &VK_SUBGROUP_FEATURE_QUAD_BIT, "subgroup quad operations")                 \
    X(ShaderClockKHR, f->clock.shaderSubgroupClock || f->clock.shaderDeviceClock, "shaderSubgroupClock")              \
    X(DotProduct, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                                          \
    X(DotProductInputAll, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                                  \
    X(DotProductInput4x8Bit, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                               \
    X(DotProductInput4x8BitPacked, f->dot.shaderIntegerDotProduct, "shaderIntegerDotProduct")                         \
    X(WorkgroupMemoryExplicitLayoutKHR, f->shared_layout.workgroupMemoryExplicitLayout,                               \
      "workgroupMemoryExplicitLayout")                                                                                \
    X(WorkgroupMemoryExplicitLayout8BitAccessKHR, f->shared_layout.workgroupMemoryExplicitLayout8BitAccess,           \
      "workgroupMemoryExplicitLayout8BitAccess")                                                                      \
    X(WorkgroupMemoryExplicitLayout16BitAccessKHR, f->shared_layout.workgroupMemoryExplicitLayout16BitAccess,         \
      "workgroupMemoryExplicitLayout16BitAccess")                                                                     \
    X(PhysicalStorageBufferAddresses, false, "bufferDeviceAddress")                                                   \
    X(RuntimeDescriptorArray, false, "runtimeDescriptorArray")                                                        \
    X(ShaderNonUniform, false, "descriptorIndexing")                                                                  \
    X(SubgroupBallotKHR, f->ballot, "VK_EXT_shader_subgroup_ballot")                                                  \
    X(SubgroupVoteKHR, f->vote, "VK_EXT_shader_subgroup_vote")                                                        \
    X(GroupNonUniformPartitionedNV, f->subgroup_ops &VK_SUBGROUP_FEATURE_PARTITIONED_BIT_NV,                          \
      "VK_NV_shader_subgroup_partitioned")                                                                            \
    X(Int64ImageEXT, f->image_atomic64.shaderImageInt64Atomics, "shaderImageInt64Atomics")                            \
    X(ComputeDerivativeGroupQuadsNV, f->derivatives_nv.computeDerivativeGroupQuads, "computeDerivativeGroupQuads")    \
    X(ComputeDerivativeGroupLinearNV, f->derivatives_nv.computeDerivativeGroupLinear, "computeDerivativeGroupLinear") \
    X(ShaderSMBuiltinsNV, f->sm_nv.shaderSMBuiltins, "shaderSMBuiltins")                                              \
    X(IntegerFunctions2INTEL, f->integers_intel.shaderIntegerFunctions2, "shaderIntegerFunctions2")                   \
    X(RayQueryKHR, false, "rayQuery")                                                                                 \
    X(CooperativeMatrixNV, f->matrix_nv.cooperativeMatrix, "cooperativeMatrix")                                       \
    X(Kernel, false, "none: the module is for OpenCL")                                                                \
    X(SignedZeroInfNanPreserve, ALWAYS, "")                                                                           \
    X(DenormPreserve, ALWAYS, "")                                                                                     \
    X(DenormFlushToZero, ALWAYS, "")                                                                                  \
    X(RoundingModeRTE, ALWAYS, "")                                                                                    \
    X(RoundingModeRTZ, ALWAYS, "")

const char *kp_capabilities_missing(const kp_features *features, uint32_t capability) {
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

const char *kp_capabilities_name(uint32_t capability) {
    switch (capability) {
#define X(name, condition, feature) \
    case SpvCapability##name:       \
        return #name;
        CAPABILITIES(X)
#undef X
    default:
        return NULL;
    }
}
