// kp/shader.h - programs that are not kernels: GLSL and HLSL text, and files of SPIR-V, GLSL or HLSL.
//
// GLSL and HLSL go through shaderc, which is linked in, or loaded from libshaderc.so.1 when first needed; without it
// KP_ERROR_UNSUPPORTED says how to get it. SPIR-V is taken as it is; the runtime validates it when an algorithm is made
// from it. The programs have no params and no push_size: the runtime reads both from the module.
#ifndef KP_SHADER_H
#define KP_SHADER_H

#include <kp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kp_shader_language {
    KP_SHADER_AUTO, // HLSL when the file ends in .hlsl, or the text has [numthreads( and no #version; else GLSL
    KP_SHADER_GLSL,
    KP_SHADER_HLSL,
} kp_shader_language;

// All fields may be zero.
typedef struct kp_shader_desc {
    kp_shader_language language;
    const char *file;  // name for messages; NULL: "<shader>"
    const char *entry; // entry point of HLSL text; NULL: "main"
} kp_shader_desc;

// Compiles compute shader text, for Vulkan 1.1. `length` is in bytes. GLSL starts with its #version; HLSL resources
// without [[vk::binding]] are numbered in order of use. `desc` may be NULL. On KP_ERROR_COMPILE the error line is the
// compiler's own, "file:line: message", and kp_last_diagnostic() has the parts. KP_ERROR_UNSUPPORTED without shaderc,
// KP_ERROR_ARGUMENT, KP_ERROR_HOST_MEMORY. Thread-safety: any.
KP_API kp_result kp_shader_compile(const char *text, size_t length, const kp_shader_desc *desc, kp_program **out);

// Reads a file: SPIR-V when it starts with SPIR-V's magic number (in either byte order; words come out in host order),
// else shader text, compiled as above, with its errors. KP_ERROR_IO names the path and the reason. Thread-safety: any.
KP_API kp_result kp_shader_load(const char *path, const kp_shader_desc *desc, kp_program **out);

#ifdef __cplusplus
}
#endif

#endif
