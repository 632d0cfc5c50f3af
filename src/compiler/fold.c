// See fold.h. An operation of f32 or f16 is done in double and rounded once, which for + - * / and sqrt gives the same
// as doing it in that type (a double has more than twice the digits).
#include "fold.h"

#include <math.h>

static bool is_float(const kp_type *type) { return kp_type_is_float(type); }
static bool is_literal(const kp_type *type) { return kp_type_is_literal(type); }

static bool is_u64(const kp_type *type) { return type->kind == KP_TYPE_SCALAR && type->dtype == KP_U64; }

// To the nearest, halves to even; what is left of the number behind its last digit is cut off by rint().
uint16_t kp_fold_half_bits(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double size = fabs(x);
    if (isnan(x))
        return 0x7E00;
    if (size >= 65520)
        return sign | 0x7C00;
    if (size < 0x1p-14)
        return (uint16_t)(sign | (unsigned)rint(size * 0x1p24));
    int exponent;
    unsigned digits = (unsigned)rint(frexp(size, &exponent) * 2048); // 1024 to 2048: a carry goes to the exponent
    return (uint16_t)(sign | (((unsigned)(exponent + 14) << 10) + (digits - 1024)));
}

static double half_value(uint16_t bits) {
    unsigned exponent = (bits >> 10) & 31, digits = bits & 1023;
    double size = exponent == 0 ? digits * 0x1p-24 : ldexp(1024 + digits, (int)exponent - 25);
    if (exponent == 31)
        size = digits != 0 ? NAN : INFINITY;
    return (bits & 0x8000) != 0 ? -size : size;
}

static double rounded(const kp_type *type, double x) {
    if (type->kind != KP_TYPE_SCALAR || type->dtype == KP_F64)
        return x;
    return type->dtype == KP_F16 ? half_value(kp_fold_half_bits(x)) : (double)(float)x;
}

// The low bits of `x`, as an integer of the type.
static int64_t wrapped(const kp_type *type, uint64_t x) {
    if (is_literal(type))
        return (int64_t)x;
    size_t bits = 8 * kp_dtype_size(type->dtype);
    if (bits >= 64)
        return (int64_t)x;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    x &= mask;
    if (kp_type_is_signed(type) && (x >> (bits - 1)) != 0)
        x |= ~mask;
    return (int64_t)x;
}

static kp_fold give_int(const kp_type *type, bool overflow, int64_t x, kp_value *out) {
    if (overflow && is_literal(type))
        return KP_FOLD_OVERFLOW;
    out->i = wrapped(type, (uint64_t)x);
    return KP_FOLD_DONE;
}

static kp_fold give_float(const kp_type *type, double x, kp_value *out) {
    out->f = rounded(type, x);
    return KP_FOLD_DONE;
}

kp_fold kp_fold_unary(kp_token_kind op, const kp_type *type, kp_value a, kp_value *out) {
    *out = a;
    switch (op) {
    case KP_TOKEN_PLUS:
        return KP_FOLD_DONE;
    case KP_TOKEN_MINUS:
        if (is_float(type))
            return give_float(type, -a.f, out);
        return give_int(type, a.i == INT64_MIN, (int64_t)(0 - (uint64_t)a.i), out);
    case KP_TOKEN_TILDE:
        return give_int(type, false, ~a.i, out);
    case KP_TOKEN_NOT:
        out->i = !a.i;
        return KP_FOLD_DONE;
    default:
        return KP_FOLD_NOT;
    }
}

// Python's float.__mod__, each step rounded to the type.
static double float_mod(const kp_type *type, double a, double b) {
    double mod = fmod(a, b);
    if (mod == 0)
        return copysign(0.0, b);
    return (b < 0) != (mod < 0) ? rounded(type, mod + b) : mod;
}

// Python's float.__floordiv__.
static double float_floor_div(const kp_type *type, double a, double b) {
    double mod = fmod(a, b);
    double div = rounded(type, rounded(type, a - mod) / b);
    if (mod != 0 && (b < 0) != (mod < 0))
        div = rounded(type, div - 1);
    if (div == 0)
        return copysign(0.0, a / b);
    double floored = floor(div);
    return div - floored > 0.5 ? rounded(type, floored + 1) : floored;
}

static kp_fold fold_float(kp_token_kind op, const kp_type *type, double a, double b, kp_value *out) {
    switch (op) {
    case KP_TOKEN_PLUS:
        return give_float(type, a + b, out);
    case KP_TOKEN_MINUS:
        return give_float(type, a - b, out);
    case KP_TOKEN_STAR:
        return give_float(type, a * b, out);
    case KP_TOKEN_SLASH:
        return b == 0 ? KP_FOLD_ZERO_DIVISION : give_float(type, a / b, out);
    case KP_TOKEN_DOUBLE_SLASH:
        return b == 0 ? KP_FOLD_ZERO_DIVISION : give_float(type, float_floor_div(type, a, b), out);
    case KP_TOKEN_PERCENT:
        return b == 0 ? KP_FOLD_ZERO_DIVISION : give_float(type, float_mod(type, a, b), out);
    case KP_TOKEN_DOUBLE_STAR:
        if (a == 0 && b < 0)
            return KP_FOLD_ZERO_DIVISION;
        return a < 0 && b != floor(b) ? KP_FOLD_NOT : give_float(type, pow(a, b), out);
    default:
        return KP_FOLD_NOT;
    }
}

static kp_fold int_power(const kp_type *type, int64_t a, int64_t b, kp_value *out) {
    bool overflow = false;
    int64_t result = 1;
    if (b < 0 && !is_u64(type))
        return KP_FOLD_NOT;
    for (uint64_t left = (uint64_t)b; left != 0; left >>= 1) {
        if (left & 1)
            overflow |= __builtin_mul_overflow(result, a, &result);
        if (left > 1)
            overflow |= __builtin_mul_overflow(a, a, &a);
        result = wrapped(type, (uint64_t)result); // keeps typed values small, so that they never overflow here
        a = wrapped(type, (uint64_t)a);
    }
    return give_int(type, overflow, result, out);
}

static kp_fold int_divide(kp_token_kind op, const kp_type *type, int64_t a, int64_t b, kp_value *out) {
    if (b == 0)
        return KP_FOLD_ZERO_DIVISION;
    if (is_u64(type)) {
        uint64_t x = (uint64_t)a, y = (uint64_t)b;
        return give_int(type, false, (int64_t)(op == KP_TOKEN_PERCENT ? x % y : x / y), out);
    }
    if (b == -1)
        return op == KP_TOKEN_PERCENT ? give_int(type, false, 0, out)
                                      : give_int(type, a == INT64_MIN, (int64_t)(0 - (uint64_t)a), out);
    int64_t q = a / b, r = a % b;
    bool adjust = r != 0 && (r < 0) != (b < 0);
    return give_int(type, false, op == KP_TOKEN_PERCENT ? (adjust ? r + b : r) : (adjust ? q - 1 : q), out);
}

static kp_fold int_shift(kp_token_kind op, const kp_type *type, int64_t a, int64_t b, kp_value *out) {
    uint64_t width = is_literal(type) ? 64 : 8 * kp_dtype_size(type->dtype);
    bool beyond = (uint64_t)b >= width; // a negative amount too
    if (op == KP_TOKEN_RIGHT_SHIFT && is_u64(type))
        return give_int(type, false, beyond ? 0 : (int64_t)((uint64_t)a >> b), out);
    if (op == KP_TOKEN_RIGHT_SHIFT)
        return give_int(type, false, beyond ? (a < 0 ? -1 : 0) : a >> b, out);
    if (beyond)
        return give_int(type, a != 0, 0, out);
    int64_t shifted = (int64_t)((uint64_t)a << b);
    return give_int(type, shifted >> b != a, shifted, out);
}

static kp_fold fold_int(kp_token_kind op, const kp_type *type, int64_t a, int64_t b, kp_value *out) {
    int64_t result = 0;
    bool overflow;
    switch (op) {
    case KP_TOKEN_PLUS:
        overflow = __builtin_add_overflow(a, b, &result);
        return give_int(type, overflow, result, out);
    case KP_TOKEN_MINUS:
        overflow = __builtin_sub_overflow(a, b, &result);
        return give_int(type, overflow, result, out);
    case KP_TOKEN_STAR:
        overflow = __builtin_mul_overflow(a, b, &result);
        return give_int(type, overflow, result, out);
    case KP_TOKEN_DOUBLE_SLASH:
    case KP_TOKEN_PERCENT:
        return int_divide(op, type, a, b, out);
    case KP_TOKEN_DOUBLE_STAR:
        return int_power(type, a, b, out);
    case KP_TOKEN_LEFT_SHIFT:
    case KP_TOKEN_RIGHT_SHIFT:
        return int_shift(op, type, a, b, out);
    case KP_TOKEN_AMPERSAND:
        return give_int(type, false, a & b, out);
    case KP_TOKEN_BAR:
        return give_int(type, false, a | b, out);
    case KP_TOKEN_CARET:
        return give_int(type, false, a ^ b, out);
    default:
        return KP_FOLD_NOT;
    }
}

// The device works // and % of f16 out in f32.
static kp_fold fold_half(kp_token_kind op, const kp_type *type, double a, double b, kp_value *out) {
    static const kp_type f32 = {.kind = KP_TYPE_SCALAR, .dtype = KP_F32, .components = 1};
    kp_fold result = fold_float(op, &f32, a, b, out);
    if (result == KP_FOLD_DONE)
        out->f = rounded(type, out->f);
    return result;
}

kp_fold kp_fold_binary(kp_token_kind op, const kp_type *type, kp_value a, kp_value b, kp_value *out) {
    bool steps = op == KP_TOKEN_DOUBLE_SLASH || op == KP_TOKEN_PERCENT;
    if (steps && type->kind == KP_TYPE_SCALAR && type->dtype == KP_F16)
        return fold_half(op, type, a.f, b.f, out);
    if (is_float(type))
        return fold_float(op, type, a.f, b.f, out);
    if (kp_type_is_bool(type)) {
        out->i = op == KP_TOKEN_AMPERSAND ? a.i & b.i : op == KP_TOKEN_BAR ? a.i | b.i : a.i ^ b.i;
        return KP_FOLD_DONE;
    }
    return fold_int(op, type, a.i, b.i, out);
}

bool kp_fold_compare(kp_token_kind op, const kp_type *type, kp_value a, kp_value b) {
    bool is_unsigned = is_u64(type);
    bool less = is_float(type) ? a.f < b.f : is_unsigned ? (uint64_t)a.i < (uint64_t)b.i : a.i < b.i;
    bool equal = is_float(type) ? a.f == b.f : a.i == b.i;
    bool greater = is_float(type) ? a.f > b.f : is_unsigned ? (uint64_t)a.i > (uint64_t)b.i : a.i > b.i;
    switch (op) {
    case KP_TOKEN_LESS:
        return less;
    case KP_TOKEN_LESS_EQUAL:
        return less || equal;
    case KP_TOKEN_GREATER:
        return greater;
    case KP_TOKEN_GREATER_EQUAL:
        return greater || equal;
    case KP_TOKEN_EQUAL:
        return equal;
    default:
        return !equal;
    }
}

static int64_t float_to_int(const kp_type *to, double x) {
    kp_dtype dtype = is_literal(to) ? KP_I64 : to->dtype;
    int64_t least = kp_type_least(dtype), most = kp_type_most(dtype);
    if (isnan(x))
        return 0;
    if (dtype == KP_U64)
        return x <= 0 ? 0 : x >= 0x1p64 ? most : (int64_t)(uint64_t)x;
    if (x <= (double)least)
        return least;
    return x >= (double)most ? most : (int64_t)x;
}

kp_value kp_fold_cast(const kp_type *from, const kp_type *to, kp_value value) {
    bool was_float = is_float(from);
    if (kp_type_is_bool(to))
        return (kp_value){.i = was_float ? value.f != 0 : value.i != 0};
    if (is_float(to)) {
        double whole = is_u64(from) ? (double)(uint64_t)value.i : (double)value.i;
        return (kp_value){.f = rounded(to, was_float ? value.f : whole)};
    }
    return (kp_value){.i = was_float ? float_to_int(to, value.f) : wrapped(to, (uint64_t)value.i)};
}

bool kp_fold_fits(const kp_type *from, const kp_type *to, kp_value value) {
    if (is_float(from))
        return is_float(to);
    if (is_literal(to) && !is_float(to))
        return true;
    if (is_u64(from) && value.i < 0) // 2**63 or more
        return is_u64(to);
    if (!is_float(to))
        return kp_type_is_int(to) && value.i >= kp_type_least(to->dtype) &&
               (is_u64(to) || value.i <= kp_type_most(to->dtype));
    double x = kp_fold_cast(from, to, value).f;
    return x < 9223372036854775808.0 && (int64_t)x == value.i;
}

kp_dtype kp_fold_table_type(int64_t least, int64_t most) {
    if (least >= INT32_MIN && most <= INT32_MAX)
        return KP_I32;
    return least >= 0 && most <= UINT32_MAX ? KP_U32 : KP_I64;
}
