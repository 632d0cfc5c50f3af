// Keeps zeros from a compiler that computes wrongly with those it knows. Mesa's lavapipe takes a float constant of 0
// for the whole of x * 0 and 0 / x, though x may be NaN or infinite, leaves out stores of x / 0, and takes x + 0 for x,
// though x may be -0.0. What it knows it may know from far away: a variable, a specialization constant, the first round
// of a loop that it unrolled.
#ifndef KP_SRC_RUNTIME_KNOWN_ZEROS_H
#define KP_SRC_RUNTIME_KNOWN_ZEROS_H

#include <kp/base.h>

// A copy of a module of kp's compiler that kp_reflect_create read, whose arithmetic has no operand that a compiler
// might know to be zero: such a number is combined with bits that are 0 and that no compiler can work out. `*out` is
// for kp_alloc_free, and NULL when the module may stay as it is. KP_ERROR_HOST_MEMORY.
kp_result kp_known_zeros_apply(const uint32_t *words, size_t word_count, uint32_t **out, size_t *out_count);

#endif
