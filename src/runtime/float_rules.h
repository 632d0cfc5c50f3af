// Makes a driver keep NaN, infinities and the sign of zeros (SPV_KHR_float_controls). Without being asked, NVIDIA's
// compiler makes one instruction of `y if y < x else x`, which knows no NaN and takes -0.0 for less than 0.0, and
// Mesa's takes x - x for 0 and (x + y) - y for x.
#ifndef KP_SRC_RUNTIME_FLOAT_RULES_H
#define KP_SRC_RUNTIME_FLOAT_RULES_H

#include <kp/base.h>

// A copy of a module that kp_reflect_create read, each of whose entry points asks for that in its arithmetic with
// floats of these widths: a sum of 16, 32 and 64, as far as the device has shaderSignedZeroInfNanPreserveFloat16 and so
// on.
// `*out` is for kp_alloc_free. KP_ERROR_HOST_MEMORY.
kp_result kp_float_rules_apply(const uint32_t *words, size_t word_count, uint32_t widths, uint32_t **out,
                               size_t *out_count);

#endif
