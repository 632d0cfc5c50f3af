// Which SPIR-V capabilities a device's features allow.
#ifndef KP_SRC_RUNTIME_CAPABILITIES_H
#define KP_SRC_RUNTIME_CAPABILITIES_H

#include "vulkan/features.h"

// NULL when a module that declares the SPIR-V capability may run; else the name of the Vulkan feature that is missing
// ("shaderFloat64").
const char *kp_capabilities_missing(const kp_features *features, uint32_t capability);

// SPIR-V's name of it, "Float64"; NULL for one that kp does not know. Static storage.
const char *kp_capabilities_name(uint32_t capability);

#endif
