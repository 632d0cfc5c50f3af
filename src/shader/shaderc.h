// The door to libshaderc: loads it when first needed, turns text into SPIR-V words.
#ifndef KP_SRC_SHADER_SHADERC_H
#define KP_SRC_SHADER_SHADERC_H

#include <kp/base.h>

typedef struct kp_shaderc_source {
    const char *text;
    size_t length;     // bytes
    const char *file;  // as it shall stand in messages
    const char *entry; // of HLSL text
    bool hlsl;
} kp_shaderc_source;

// Calls `take` with the words, which are valid during the call only, and returns its result. KP_ERROR_COMPILE with the
// diagnostic of the first error; KP_ERROR_UNSUPPORTED when shaderc is not there, saying how to get it. Safe from any
// thread.
kp_result kp_shaderc_compile(const kp_shaderc_source *source,
                             kp_result (*take)(void *payload, const uint32_t *words, size_t word_count), void *payload);

#endif
