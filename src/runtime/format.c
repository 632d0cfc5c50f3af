// See format.h: two tables.
#include "format.h"

#include <spirv/unified1/spirv.h>

// X(dtype, read as, normalized, channels, Vulkan's name, SPIR-V's)
#define FOUR(X, dtype, reads, normalized, bits, kind, one, two, four)           \
    X(dtype, reads, normalized, 1, R##bits##_##kind, one)                       \
    X(dtype, reads, normalized, 2, R##bits##G##bits##_##kind, two)              \
    X(dtype, reads, normalized, 3, R##bits##G##bits##B##bits##_##kind, Unknown) \
    X(dtype, reads, normalized, 4, R##bits##G##bits##B##bits##A##bits##_##kind, four)
#define FORMATS(X)                                                  \
    FOUR(X, F32, F32, false, 32, SFLOAT, R32f, Rg32f, Rgba32f)      \
    FOUR(X, F16, F32, false, 16, SFLOAT, R16f, Rg16f, Rgba16f)      \
    FOUR(X, I32, I32, false, 32, SINT, R32i, Rg32i, Rgba32i)        \
    FOUR(X, I16, I32, false, 16, SINT, R16i, Rg16i, Rgba16i)        \
    FOUR(X, I8, I32, false, 8, SINT, R8i, Rg8i, Rgba8i)             \
    FOUR(X, U32, U32, false, 32, UINT, R32ui, Rg32ui, Rgba32ui)     \
    FOUR(X, U16, U32, false, 16, UINT, R16ui, Rg16ui, Rgba16ui)     \
    FOUR(X, U8, U32, false, 8, UINT, R8ui, Rg8ui, Rgba8ui)          \
    FOUR(X, I8, F32, true, 8, SNORM, R8Snorm, Rg8Snorm, Rgba8Snorm) \
    FOUR(X, U8, F32, true, 8, UNORM, R8, Rg8, Rgba8)

static const kp_format formats[] = {
#define X(dtype, reads, normalized, channels, name, spirv) \
    {KP_##dtype, KP_##reads, normalized, channels, VK_FORMAT_##name, SpvImageFormat##spirv, "VK_FORMAT_" #name},
    FORMATS(X)
#undef X
};

const kp_format *kp_format_find(kp_dtype dtype, bool normalized, uint32_t channels) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const kp_format *f = &formats[i];
        if (f->dtype == dtype && f->normalized == normalized && f->channels == channels)
            return f;
    }
    return NULL;
}

const char *kp_format_spirv_name(uint32_t spirv) {
    static const char *const names[] = {
        [SpvImageFormatRgba32f] = "rgba32f",
        [SpvImageFormatRgba16f] = "rgba16f",
        [SpvImageFormatR32f] = "r32f",
        [SpvImageFormatRgba8] = "rgba8",
        [SpvImageFormatRgba8Snorm] = "rgba8_snorm",
        [SpvImageFormatRg32f] = "rg32f",
        [SpvImageFormatRg16f] = "rg16f",
        [SpvImageFormatR11fG11fB10f] = "r11f_g11f_b10f",
        [SpvImageFormatR16f] = "r16f",
        [SpvImageFormatRgba16] = "rgba16",
        [SpvImageFormatRgb10A2] = "rgb10_a2",
        [SpvImageFormatRg16] = "rg16",
        [SpvImageFormatRg8] = "rg8",
        [SpvImageFormatR16] = "r16",
        [SpvImageFormatR8] = "r8",
        [SpvImageFormatRgba16Snorm] = "rgba16_snorm",
        [SpvImageFormatRg16Snorm] = "rg16_snorm",
        [SpvImageFormatRg8Snorm] = "rg8_snorm",
        [SpvImageFormatR16Snorm] = "r16_snorm",
        [SpvImageFormatR8Snorm] = "r8_snorm",
        [SpvImageFormatRgba32i] = "rgba32i",
        [SpvImageFormatRgba16i] = "rgba16i",
        [SpvImageFormatRgba8i] = "rgba8i",
        [SpvImageFormatR32i] = "r32i",
        [SpvImageFormatRg32i] = "rg32i",
        [SpvImageFormatRg16i] = "rg16i",
        [SpvImageFormatRg8i] = "rg8i",
        [SpvImageFormatR16i] = "r16i",
        [SpvImageFormatR8i] = "r8i",
        [SpvImageFormatRgba32ui] = "rgba32ui",
        [SpvImageFormatRgba16ui] = "rgba16ui",
        [SpvImageFormatRgba8ui] = "rgba8ui",
        [SpvImageFormatR32ui] = "r32ui",
        [SpvImageFormatRgb10a2ui] = "rgb10_a2ui",
        [SpvImageFormatRg32ui] = "rg32ui",
        [SpvImageFormatRg16ui] = "rg16ui",
        [SpvImageFormatRg8ui] = "rg8ui",
        [SpvImageFormatR16ui] = "r16ui",
        [SpvImageFormatR8ui] = "r8ui",
        [SpvImageFormatR64ui] = "r64ui",
        [SpvImageFormatR64i] = "r64i",
    };
    const char *name = spirv < sizeof names / sizeof *names ? names[spirv] : NULL;
    return name != NULL ? name : "?";
}
