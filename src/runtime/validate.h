// Is a SPIR-V module valid for the device? Asks the Khronos validator (SPIRV-Tools) before a driver sees the module:
// drivers crash on, or silently miscompile, what it would have refused.
#ifndef KP_SRC_RUNTIME_VALIDATE_H
#define KP_SRC_RUNTIME_VALIDATE_H

#include <kp/base.h>

typedef struct kp_validate_desc {
    const uint32_t *words;        // host byte order
    size_t word_count;            //
    uint32_t api_version;         // of the device, as VK_MAKE_API_VERSION; what lies below its major.minor is ignored
    bool spirv_1_4;               // VK_KHR_spirv_1_4 is enabled (matters on a 1.1 device)
    bool scalar_block_layout;     // the feature is enabled
    bool uniform_standard_layout; // uniformBufferStandardLayout is enabled
    bool workgroup_scalar_layout; // workgroupMemoryExplicitLayoutScalarBlockLayout is enabled
    bool local_size_id;           // maintenance4 is enabled
    const char *label;            // opens the message: "algorithm 'blur'"; NULL: "SPIR-V"
} kp_validate_desc;

// KP_ERROR_SPIRV with the validator's words on one line; KP_ERROR_UNSUPPORTED when the module's SPIR-V version is
// beyond what the device's Vulkan version takes. Dear (from 0.1 ms up, grows with the module): do it once per content.
// Safe from any thread.
kp_result kp_validate_module(const kp_validate_desc *desc);

#endif
