// See pixel.h: a table. The names are SPIR-V's, in small letters.
#include "pixel.h"

#include "error.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

// X(name, SPIR-V's name, stored as, read as, channels, extended)
#define FORMATS(X)                                 \
    X("r32f", R32f, F32, F32, 1, false)            \
    X("rg32f", Rg32f, F32, F32, 2, true)           \
    X("rgba32f", Rgba32f, F32, F32, 4, false)      \
    X("r16f", R16f, F16, F32, 1, true)             \
    X("rg16f", Rg16f, F16, F32, 2, true)           \
    X("rgba16f", Rgba16f, F16, F32, 4, false)      \
    X("r8", R8, U8, F32, 1, true)                  \
    X("rg8", Rg8, U8, F32, 2, true)                \
    X("rgba8", Rgba8, U8, F32, 4, false)           \
    X("r8snorm", R8Snorm, I8, F32, 1, true)        \
    X("rg8snorm", Rg8Snorm, I8, F32, 2, true)      \
    X("rgba8snorm", Rgba8Snorm, I8, F32, 4, false) \
    X("r32i", R32i, I32, I32, 1, false)            \
    X("rg32i", Rg32i, I32, I32, 2, true)           \
    X("rgba32i", Rgba32i, I32, I32, 4, false)      \
    X("r16i", R16i, I16, I32, 1, true)             \
    X("rg16i", Rg16i, I16, I32, 2, true)           \
    X("rgba16i", Rgba16i, I16, I32, 4, false)      \
    X("r8i", R8i, I8, I32, 1, true)                \
    X("rg8i", Rg8i, I8, I32, 2, true)              \
    X("rgba8i", Rgba8i, I8, I32, 4, false)         \
    X("r32ui", R32ui, U32, U32, 1, false)          \
    X("rg32ui", Rg32ui, U32, U32, 2, true)         \
    X("rgba32ui", Rgba32ui, U32, U32, 4, false)    \
    X("r16ui", R16ui, U16, U32, 1, true)           \
    X("rg16ui", Rg16ui, U16, U32, 2, true)         \
    X("rgba16ui", Rgba16ui, U16, U32, 4, false)    \
    X("r8ui", R8ui, U8, U32, 1, true)              \
    X("rg8ui", Rg8ui, U8, U32, 2, true)            \
    X("rgba8ui", Rgba8ui, U8, U32, 4, false)

static const kp_pixel_format formats[] = {
#define X(name, spirv, dtype, reads, channels, extended) \
    {name, SpvImageFormat##spirv, KP_##dtype, KP_##reads, channels, extended},
    FORMATS(X)
#undef X
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

// The other names of 8-bit normalized formats.
static const char *const others[][2] = {
    {"r8unorm", "r8"},       {"rg8unorm", "rg8"},       {"rgba8unorm", "rgba8"},
    {"r8_snorm", "r8snorm"}, {"rg8_snorm", "rg8snorm"}, {"rgba8_snorm", "rgba8snorm"},
};

const kp_pixel_format *kp_pixel_find(const char *name) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i][0], name) == 0)
            name = others[i][1];
    }
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

const kp_pixel_format *kp_pixel_nearest(const char *name) {
    const kp_pixel_format *best = NULL;
    uint32_t length = (uint32_t)strlen(name), limit = 3;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        uint32_t distance = kp_error_distance(name, length, formats[i].name, (uint32_t)strlen(formats[i].name), limit);
        if (distance < limit) {
            limit = distance;
            best = &formats[i];
        }
    }
    return best;
}

const kp_pixel_format *kp_pixel_default(const kp_type *texel) {
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (formats[i].dtype == texel->dtype && formats[i].reads == texel->dtype &&
            formats[i].channels == texel->components)
            return &formats[i];
    }
    return NULL;
}

const char *kp_pixel_texel(const kp_pixel_format *format) {
    static const char *const names[3][3] = {
        {"f32", "vec2", "vec4"}, {"i32", "ivec2", "ivec4"}, {"u32", "uvec2", "uvec4"}};
    return names[format->reads == KP_F32 ? 0 : format->reads == KP_I32 ? 1 : 2][format->channels / 2];
}
