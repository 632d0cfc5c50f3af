// What a device can do: which of the features that compute uses it has; kp enables them all.
#ifndef KP_SRC_VULKAN_FEATURES_H
#define KP_SRC_VULKAN_FEATURES_H

#include "instance.h"

// Feature structs that kp asks for and enables as far as the device supports them.
// X(field, type, sType, Vulkan version whose core has it, extension that brings it to older ones)
#define KP_FEATURE_STRUCTS(X)                                                                                         \
    X(storage16, VkPhysicalDevice16BitStorageFeatures, PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, 1,                     \
      "VK_KHR_16bit_storage")                                                                                         \
    X(pointers, VkPhysicalDeviceVariablePointersFeatures, PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES, 1,              \
      "VK_KHR_variable_pointers")                                                                                     \
    X(storage8, VkPhysicalDevice8BitStorageFeatures, PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, 2, "VK_KHR_8bit_storage") \
    X(small, VkPhysicalDeviceShaderFloat16Int8Features, PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, 2,              \
      "VK_KHR_shader_float16_int8")                                                                                   \
    X(atomic64, VkPhysicalDeviceShaderAtomicInt64Features, PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES, 2,           \
      "VK_KHR_shader_atomic_int64")                                                                                   \
    X(scalar, VkPhysicalDeviceScalarBlockLayoutFeatures, PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES, 2,             \
      "VK_EXT_scalar_block_layout")                                                                                   \
    X(standard, VkPhysicalDeviceUniformBufferStandardLayoutFeatures,                                                  \
      PHYSICAL_DEVICE_UNIFORM_BUFFER_STANDARD_LAYOUT_FEATURES, 2, "VK_KHR_uniform_buffer_standard_layout")            \
    X(subgroup_types, VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures,                                            \
      PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES, 2, "VK_KHR_shader_subgroup_extended_types")            \
    X(memory_model, VkPhysicalDeviceVulkanMemoryModelFeatures, PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, 2,       \
      "VK_KHR_vulkan_memory_model")                                                                                   \
    X(timeline, VkPhysicalDeviceTimelineSemaphoreFeatures, PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, 2,            \
      "VK_KHR_timeline_semaphore")                                                                                    \
    X(subgroup_size, VkPhysicalDeviceSubgroupSizeControlFeatures, PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, 3,  \
      "VK_EXT_subgroup_size_control")                                                                                 \
    X(dot, VkPhysicalDeviceShaderIntegerDotProductFeatures, PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES, 3,   \
      "VK_KHR_shader_integer_dot_product")                                                                            \
    X(zero_shared, VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures,                                             \
      PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES, 3, "VK_KHR_zero_initialize_workgroup_memory")        \
    X(maintenance4, VkPhysicalDeviceMaintenance4Features, PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, 3,                  \
      "VK_KHR_maintenance4")                                                                                          \
    X(robustness2, VkPhysicalDeviceRobustness2FeaturesEXT, PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT, 99,             \
      "VK_EXT_robustness2")                                                                                           \
    X(atomic_float, VkPhysicalDeviceShaderAtomicFloatFeaturesEXT, PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT,   \
      99, "VK_EXT_shader_atomic_float")                                                                               \
    X(atomic_float2, VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT,                                                   \
      PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT, 99, "VK_EXT_shader_atomic_float2")                          \
    X(clock, VkPhysicalDeviceShaderClockFeaturesKHR, PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR, 99,                   \
      "VK_KHR_shader_clock")                                                                                          \
    X(shared_layout, VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR,                                        \
      PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR, 99, "VK_KHR_workgroup_memory_explicit_layout")   \
    X(image_atomic64, VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT,                                              \
      PHYSICAL_DEVICE_SHADER_IMAGE_ATOMIC_INT64_FEATURES_EXT, 99, "VK_EXT_shader_image_atomic_int64")                 \
    X(matrix_nv, VkPhysicalDeviceCooperativeMatrixFeaturesNV, PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV, 99,     \
      "VK_NV_cooperative_matrix")                                                                                     \
    X(derivatives_nv, VkPhysicalDeviceComputeShaderDerivativesFeaturesNV,                                             \
      PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_FEATURES_NV, 99, "VK_NV_compute_shader_derivatives")                 \
    X(sm_nv, VkPhysicalDeviceShaderSMBuiltinsFeaturesNV, PHYSICAL_DEVICE_SHADER_SM_BUILTINS_FEATURES_NV, 99,          \
      "VK_NV_shader_sm_builtins")                                                                                     \
    X(integers_intel, VkPhysicalDeviceShaderIntegerFunctions2FeaturesINTEL,                                           \
      PHYSICAL_DEVICE_SHADER_INTEGER_FUNCTIONS_2_FEATURES_INTEL, 99, "VK_INTEL_shader_integer_functions2")

enum { KP_FEATURES_MAX_EXTENSIONS = 64 };

// Made by kp_features_query. `core.pNext` chains the structs that the device knows: they point into this object, so it
// must not be copied.
typedef struct kp_features {
    VkPhysicalDeviceFeatures2 core;
#define KP_X(field, type, stype, version, extension) type field;
    KP_FEATURE_STRUCTS(KP_X)
#undef KP_X
    VkSubgroupFeatureFlags subgroup_ops;                // in compute shaders
    bool push_descriptors;                              // VK_KHR_push_descriptor is there
    bool host_import;                                   // VK_EXT_external_memory_host is there
    bool memory_budget;                                 // VK_EXT_memory_budget is there
    bool memory_fd;                                     // VK_KHR_external_memory_fd is there
    bool dma_buf;                                       // VK_EXT_external_memory_dma_buf is there, and that
    bool semaphore_fd;                                  // VK_KHR_external_semaphore_fd is there
    bool ballot, vote;                                  // VK_EXT_shader_subgroup_ballot, and _vote, are there
    bool portability;                                   // VK_KHR_portability_subset is there
    bool spirv_1_4;                                     // VK_KHR_spirv_1_4, or Vulkan 1.2
    const char *extensions[KP_FEATURES_MAX_EXTENSIONS]; // to be enabled; static storage
    uint32_t extension_count;                           //
} kp_features;

// What somebody else enabled on a device of his.
typedef struct kp_features_given {
    const char *const *extensions;
    size_t extension_count;
    const VkPhysicalDeviceFeatures2 *features; // and the structs in its chain; NULL: none
} kp_features_given;

// The device extensions as the driver lists them; free with kp_alloc_free.
kp_result kp_features_extensions(const kp_instance *instance, VkPhysicalDevice device, VkExtensionProperties **out,
                                 uint32_t *count);
// The same of those that were enabled. KP_ERROR_ARGUMENT for one that is NULL or too long for a name.
kp_result kp_features_given_extensions(const kp_features_given *given, VkExtensionProperties **out, uint32_t *count);
bool kp_features_has_extension(const VkExtensionProperties *list, uint32_t count, const char *name);

// Fills `out` with what the device supports, as it is to be enabled. `api_version` is the device's, at most 1.3.
// `subgroup_ops` is left alone.
void kp_features_query(const kp_instance *instance, VkPhysicalDevice device, uint32_t api_version,
                       const VkExtensionProperties *list, uint32_t count, kp_features *out);

// Leaves of them those that were enabled.
void kp_features_restrict(kp_features *features, const kp_features_given *given);

#endif
