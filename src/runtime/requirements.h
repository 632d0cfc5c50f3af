// What a module asks of a device: features, descriptors, a subgroup size; and what a kernel of it does, a workgroup and
// shared memory.
#ifndef KP_SRC_RUNTIME_REQUIREMENTS_H
#define KP_SRC_RUNTIME_REQUIREMENTS_H

#include "reflect.h"
#include "vulkan/device.h"

// `label` is the algorithm's. KP_ERROR_UNSUPPORTED: the device lacks a feature. KP_ERROR_LIMIT.
kp_result kp_requirements_check(const kp_device *device, const kp_reflect *reflect, uint32_t subgroup_size,
                                const char *label);

// Once the specialization constants are known. KP_ERROR_SPIRV: there is no local size.
kp_result kp_requirements_check_sizes(const kp_device *device, const kp_reflect_sizes *sizes, uint32_t subgroup_size,
                                      const char *label);

// Vulkan's type, or VK_DESCRIPTOR_TYPE_MAX_ENUM for what cannot be bound.
VkDescriptorType kp_requirements_descriptor(kp_reflect_kind kind);

#endif
