// Arithmetic on constants, as the kernel would do it: literals as Python computes them, typed values rounded to their
// float type or wrapped to their integer type.
#ifndef KP_SRC_COMPILER_FOLD_H
#define KP_SRC_COMPILER_FOLD_H

#include "ast.h"

typedef enum kp_fold {
    KP_FOLD_DONE,
    KP_FOLD_NOT,           // leave it to the device
    KP_FOLD_ZERO_DIVISION, // Python raises ZeroDivisionError
    KP_FOLD_OVERFLOW,      // a literal beyond 64 bits
} kp_fold;

// `type` is the scalar or literal type of the operands and the result.
kp_fold kp_fold_unary(kp_token_kind op, const kp_type *type, kp_value a, kp_value *out);
kp_fold kp_fold_binary(kp_token_kind op, const kp_type *type, kp_value a, kp_value b, kp_value *out);
bool kp_fold_compare(kp_token_kind op, const kp_type *type, kp_value a, kp_value b);

// What T(x) gives: floats to integers truncate, and stop at the ends of the range; integers wrap.
kp_value kp_fold_cast(const kp_type *from, const kp_type *to, kp_value value);

uint16_t kp_fold_half_bits(double x); // x as an f16

// True when the literal's value is one of `to`, exactly; a float literal is one of any float type.
bool kp_fold_fits(const kp_type *from, const kp_type *to, kp_value value);

// The first of i32, u32 and i64 that holds all integers from `least` to `most`: what a table of literals is made of.
kp_dtype kp_fold_table_type(int64_t least, int64_t most);

#endif
