// The formats of images: how a pixel is stored, and what a kernel sees of it.
#ifndef KP_SRC_COMPILER_PIXEL_H
#define KP_SRC_COMPILER_PIXEL_H

#include "type.h"

typedef struct kp_pixel_format {
    const char *name;  // as in the language
    uint32_t spirv;    // SpvImageFormat
    kp_dtype dtype;    // of one channel, as it is stored
    kp_dtype reads;    // ... as a kernel sees it: f32, i32 or u32
    uint32_t channels; // 1, 2 or 4
    bool extended;     // not every device has it: StorageImageExtendedFormats
} kp_pixel_format;

const kp_pixel_format *kp_pixel_find(const char *name);        // NULL when there is none
const kp_pixel_format *kp_pixel_nearest(const char *name);     // the one that is most like it; NULL: none is
const kp_pixel_format *kp_pixel_default(const kp_type *texel); // 32 bits a channel; NULL: there is none
const char *kp_pixel_texel(const kp_pixel_format *format);     // "vec4": what holds one pixel of it

#endif
