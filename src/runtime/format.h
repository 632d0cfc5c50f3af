// The formats that images may have: one for each element type, number of channels, and reading as numbers from 0 to 1.
#ifndef KP_SRC_RUNTIME_FORMAT_H
#define KP_SRC_RUNTIME_FORMAT_H

#include <kp/base.h>

#include <volk.h>

typedef struct kp_format {
    kp_dtype dtype;    // of one channel on the host
    kp_dtype reads;    // what a kernel reads and writes: KP_F32, KP_I32 or KP_U32
    bool normalized;   // 8 bits that a kernel sees as 0 to 1, or -1 to 1
    uint32_t channels; //
    VkFormat vulkan;   //
    uint32_t spirv;    // SpvImageFormat; 0: none, kernels must leave it open
    const char *name;  // Vulkan's
} kp_format;

// NULL when there is none.
const kp_format *kp_format_find(kp_dtype dtype, bool normalized, uint32_t channels);

// As GLSL and SPIR-V say it, "rgba8": for messages. "?" for a number that is none. Static storage.
const char *kp_format_spirv_name(uint32_t spirv);

#endif
