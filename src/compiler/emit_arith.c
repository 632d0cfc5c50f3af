// Operators and conversions, on scalars and by component on vectors. Python's meaning, and no instruction whose result
// Vulkan leaves open:
//
//   x // 0 and x % 0 are 0 for integers; the least i32 // -1 is itself, % -1 is 0 (as in NumPy)
//   x << n is 0 and x >> n all sign (0 for unsigned) when n is not below the width of x; a negative n counts as such
//   i32(f), u32(f) stop at the ends of their range; NaN gives 0
//
// Where Python raises an exception, a checked kernel has a fault instead.
//
// Division, shifts and powers of 8 and 16 bits are worked out in 32, of f16 in f32: the result is the same once it is
// brought back, and few devices have instructions for less.
#include "emitter.h"

#include "fold.h"

#include "base/launch.h"

#include <math.h>

static const kp_type *bool_like(const kp_type *type) { return kp_type_vector(KP_BOOL, type->components); }

static uint32_t id_of(kp_emitter *e, const kp_type *type) { return kp_emit_type(e, type); }

// What an operator that has no narrow form works in: 32 bits for 8 and 16, f32 for f16.
static const kp_type *working_type(const kp_type *type) {
    if (type->dtype == KP_BOOL || kp_dtype_size(type->dtype) >= 4)
        return type;
    kp_dtype wide = kp_type_is_float(type) ? KP_F32 : kp_type_is_signed(type) ? KP_I32 : KP_U32;
    return kp_type_vector(wide, type->components);
}

// An operand as a `type` that has every value of its own.
static uint32_t operand(kp_emitter *e, const kp_type *type, kp_node *n) {
    if (n->kind == KP_NODE_CONST)
        return kp_emit_constant(e, type, n->u.value);
    return kp_emit_cast(e, n->type, type, kp_emit_expr(e, n));
}

// Comparisons and logic give bools of the operands' width.
static uint32_t test(kp_emitter *e, SpvOp op, const kp_type *type, uint32_t a, uint32_t b) {
    return kp_spirv_binary(e->s, op, id_of(e, bool_like(type)), a, b);
}

static uint32_t two(kp_emitter *e, SpvOp op, const kp_type *type, uint32_t a, uint32_t b) {
    return kp_spirv_binary(e->s, op, id_of(e, type), a, b);
}

// ---------------------------------------------------------------------------------------------------------------------
// Integer division
// ---------------------------------------------------------------------------------------------------------------------

typedef struct quotient {
    uint32_t value, rest; // floored
} quotient;

// The divisor, with 1 in place of what would trap.
static uint32_t safe_divisor(kp_emitter *e, const kp_type *type, uint32_t a, uint32_t b, uint32_t zero) {
    uint32_t bad = zero;
    if (kp_type_is_signed(type)) {
        uint32_t least = kp_emit_constant(e, type, (kp_value){.i = kp_type_least(type->dtype)});
        uint32_t at_least = test(e, SpvOpIEqual, type, a, least);
        uint32_t minus = test(e, SpvOpIEqual, type, b, kp_emit_number(e, type, -1));
        bad = test(e, SpvOpLogicalOr, type, bad, test(e, SpvOpLogicalAnd, type, at_least, minus));
    }
    uint32_t one = kp_emit_number(e, type, 1);
    return kp_spirv_select(e->s, id_of(e, type), bad, one, b);
}

// Truncated division made into floored division: where there is a rest whose sign is not the divisor's.
static quotient floored(kp_emitter *e, const kp_type *type, uint32_t a, uint32_t b) {
    uint32_t zero = kp_emit_number(e, type, 0);
    uint32_t q = two(e, SpvOpSDiv, type, a, b);
    uint32_t r = two(e, SpvOpISub, type, a, two(e, SpvOpIMul, type, q, b));
    uint32_t rest = test(e, SpvOpINotEqual, type, r, zero);
    uint32_t signs = test(e, SpvOpSLessThan, type, two(e, SpvOpBitwiseXor, type, r, b), zero);
    uint32_t adjust = test(e, SpvOpLogicalAnd, type, rest, signs);
    uint32_t id = id_of(e, type), one = kp_emit_number(e, type, 1);
    quotient result;
    result.value = two(e, SpvOpISub, type, q, kp_spirv_select(e->s, id, adjust, one, zero));
    result.rest = two(e, SpvOpIAdd, type, r, kp_spirv_select(e->s, id, adjust, b, zero));
    return result;
}

// A fault where `bad`, a bool for each component of the type, is true.
static void check(kp_emitter *e, kp_launch_site kind, const kp_type *type, const kp_node *at, uint32_t bad,
                  const char *text) {
    if (type->components > 1)
        bad = kp_spirv_unary(e->s, SpvOpAny, e->type_bool, bad);
    kp_emit_fault(e, kind, at, bad, &(kp_emit_fault_data){.text = text});
}

static uint32_t divide(kp_emitter *e, const kp_type *type, bool modulo, uint32_t a, uint32_t b, const kp_node *at,
                       bool safe) {
    uint32_t none = 0, zero = kp_emit_number(e, type, 0);
    if (!safe) {
        none = test(e, SpvOpIEqual, type, b, zero);
        if (kp_emit_is_checked(e))
            check(e, KP_LAUNCH_SITE_DIVISION, type, at, none, NULL);
        b = safe_divisor(e, type, a, b, none);
    }
    uint32_t result;
    if (kp_type_is_signed(type)) {
        quotient q = floored(e, type, a, b);
        result = modulo ? q.rest : q.value;
    } else {
        result = two(e, modulo ? SpvOpUMod : SpvOpUDiv, type, a, b);
    }
    return safe || modulo ? result : kp_spirv_select(e->s, id_of(e, type), none, zero, result);
}

// The divisor when it is a constant, through a spread; else 0.
static int64_t constant_divisor(const kp_node *n) {
    while (n->kind == KP_NODE_CAST && n->u.operand->kind == KP_NODE_CONST)
        n = n->u.operand;
    return n->kind == KP_NODE_CONST ? n->u.value.i : 0;
}

static uint32_t power_of_two(int64_t x) {
    uint32_t shift = 0;
    if (x <= 0 || (x & (x - 1)) != 0)
        return 0;
    while ((int64_t)1 << shift < x)
        shift++;
    return shift;
}

static uint32_t emit_divide(kp_emitter *e, const kp_type *type, bool modulo, uint32_t a, kp_node *right) {
    int64_t divisor = constant_divisor(right);
    uint32_t shift = power_of_two(divisor);
    if (divisor == 1)
        return modulo ? kp_emit_number(e, type, 0) : a;
    if (shift != 0 && modulo) // floored: right for negative numbers too
        return two(e, SpvOpBitwiseAnd, type, a, kp_emit_constant(e, type, (kp_value){.i = divisor - 1}));
    if (shift != 0)
        return two(e, kp_type_is_signed(type) ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical, type, a,
                   kp_emit_number(e, type, shift));
    return divide(e, type, modulo, a, operand(e, type, right), right, divisor != 0 && divisor != -1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Shifts, powers
// ---------------------------------------------------------------------------------------------------------------------

// The amount of a shift as u32s below the width of what is shifted; *beyond: where it was not, 0 when it always is.
static uint32_t shift_amount(kp_emitter *e, kp_node *right, uint32_t width, uint32_t *beyond) {
    const kp_type *type = right->type, *words = kp_type_vector(KP_U32, type->components);
    const kp_type *wide = kp_type_vector(KP_U64, type->components);
    bool is_wide = kp_dtype_size(type->dtype) == 8;
    uint32_t given = kp_emit_expr(e, right), amount = kp_emit_cast(e, type, is_wide ? wide : words, given);
    if (kp_emit_is_checked(e) && kp_type_is_signed(type))
        check(e, KP_LAUNCH_SITE_VALUE, type, right, test(e, SpvOpSLessThan, type, given, kp_emit_number(e, type, 0)),
              "negative shift count");
    const kp_type *its = is_wide ? wide : words;
    uint32_t most = kp_emit_number(e, its, width - 1);
    uint32_t bounded = is_wide ? kp_emit_pick(e, its, false, amount, most)
                               : kp_spirv_glsl(e->s, GLSLstd450UMin, id_of(e, its), (uint32_t[]){amount, most}, 2);
    *beyond = test(e, SpvOpUGreaterThan, its, amount, most);
    return kp_emit_cast(e, its, words, bounded);
}

static uint32_t emit_shift(kp_emitter *e, const kp_type *type, bool left, uint32_t a, kp_node *right) {
    bool is_signed = kp_type_is_signed(type);
    uint32_t width = 8 * (uint32_t)kp_dtype_size(type->dtype), beyond;
    SpvOp op = left ? SpvOpShiftLeftLogical : is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical;
    int64_t constant = constant_divisor(right);
    if (constant > 0 && constant < width)
        return two(e, op, type, a, kp_emit_expr(e, right));
    uint32_t shifted = two(e, op, type, a, shift_amount(e, right, width, &beyond));
    if (!left && is_signed)
        return shifted; // by one less than the width: the sign everywhere
    uint32_t zero = kp_emit_number(e, type, 0);
    return kp_spirv_select(e->s, id_of(e, type), beyond, zero, shifted);
}

// x ** n for a constant n, by squaring.
static uint32_t constant_power(kp_emitter *e, const kp_type *type, uint32_t x, int64_t exponent) {
    SpvOp multiply = kp_type_is_float(type) ? SpvOpFMul : SpvOpIMul;
    uint64_t n = exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent;
    uint32_t result = 0;
    for (; n != 0; n >>= 1) {
        if ((n & 1) != 0)
            result = result == 0 ? x : two(e, multiply, type, result, x);
        if (n > 1)
            x = two(e, multiply, type, x, x);
    }
    if (result == 0)
        return kp_emit_number(e, type, 1);
    return exponent < 0 ? two(e, SpvOpFDiv, type, kp_emit_number(e, type, 1), result) : result;
}

static uint32_t emit_power(kp_emitter *e, const kp_type *type, uint32_t left, kp_node *right) {
    const kp_node *constant = right;
    while (constant->kind == KP_NODE_CAST)
        constant = constant->u.operand;
    if (constant->kind == KP_NODE_CONST && kp_type_is_int(constant->type))
        return constant_power(e, type, left, constant->u.value.i);
    if (constant->kind == KP_NODE_CONST && kp_type_is_float(constant->type)) {
        double y = constant->u.value.f;
        if (y >= -64 && y <= 64 && y == (double)(int)y)
            return constant_power(e, type, left, (int64_t)y);
    }
    if (kp_type_is_float(type) && kp_type_is_int(right->type))
        return kp_emit_helper(e, KP_HELPER_POW_INT, type, left, kp_emit_expr(e, right));
    kp_helper helper = kp_type_is_float(type)    ? KP_HELPER_POW
                       : kp_type_is_signed(type) ? KP_HELPER_IPOW
                                                 : KP_HELPER_UPOW;
    return kp_emit_helper(e, helper, type, left, operand(e, type, right));
}

// ---------------------------------------------------------------------------------------------------------------------
// Operators
// ---------------------------------------------------------------------------------------------------------------------

uint32_t kp_emit_unary(kp_emitter *e, kp_token_kind op, const kp_type *type, uint32_t a) {
    if (kp_type_is_matrix(type))
        return kp_emit_matrix_minus(e, type, a);
    SpvOp code = op == KP_TOKEN_NOT       ? SpvOpLogicalNot
                 : op == KP_TOKEN_TILDE   ? SpvOpNot
                 : kp_type_is_float(type) ? SpvOpFNegate
                                          : SpvOpSNegate;
    return kp_spirv_unary(e->s, code, id_of(e, type), a);
}

static SpvOp plain_operator(kp_token_kind op, const kp_type *type) {
    bool is_float = kp_type_is_float(type), is_bool = kp_type_is_bool(type);
    switch (op) {
    case KP_TOKEN_PLUS:
        return is_float ? SpvOpFAdd : SpvOpIAdd;
    case KP_TOKEN_MINUS:
        return is_float ? SpvOpFSub : SpvOpISub;
    case KP_TOKEN_STAR:
        return is_float ? SpvOpFMul : SpvOpIMul;
    case KP_TOKEN_SLASH:
        return SpvOpFDiv;
    case KP_TOKEN_AMPERSAND:
        return is_bool ? SpvOpLogicalAnd : SpvOpBitwiseAnd;
    case KP_TOKEN_BAR:
        return is_bool ? SpvOpLogicalOr : SpvOpBitwiseOr;
    default:
        return is_bool ? SpvOpLogicalNotEqual : SpvOpBitwiseXor;
    }
}

// The operators that Python defines and SPIR-V has not.
static uint32_t emit_long_operator(kp_emitter *e, kp_token_kind op, const kp_type *type, uint32_t left,
                                   kp_node *right) {
    bool modulo = op == KP_TOKEN_PERCENT;
    switch (op) {
    case KP_TOKEN_DOUBLE_SLASH:
    case KP_TOKEN_PERCENT:
        if (!kp_type_is_float(type))
            return emit_divide(e, type, modulo, left, right);
        return kp_emit_helper(e, modulo ? KP_HELPER_MOD : KP_HELPER_FLOOR_DIV, type, left, operand(e, type, right));
    case KP_TOKEN_DOUBLE_STAR:
        return emit_power(e, type, left, right);
    default:
        return emit_shift(e, type, op == KP_TOKEN_LEFT_SHIFT, left, right);
    }
}

uint32_t kp_emit_binary(kp_emitter *e, kp_node *n, uint32_t left) {
    if (kp_type_is_matrix(n->type))
        return kp_emit_matrix_binary(e, n, left);
    const kp_type *type = n->type, *work = working_type(type);
    kp_node *right = n->u.binary.right;
    kp_token_kind op = n->op;
    switch (op) {
    case KP_TOKEN_DOUBLE_SLASH:
    case KP_TOKEN_PERCENT:
    case KP_TOKEN_LEFT_SHIFT:
    case KP_TOKEN_RIGHT_SHIFT:
    case KP_TOKEN_DOUBLE_STAR:
        left = kp_emit_cast(e, type, work, left);
        return kp_emit_cast(e, work, type, emit_long_operator(e, op, work, left, right));
    default:
        return two(e, plain_operator(op, type), type, left, kp_emit_expr(e, right));
    }
}

uint32_t kp_emit_compare(kp_emitter *e, kp_token_kind op, const kp_type *type, uint32_t a, uint32_t b) {
    bool is_float = kp_type_is_float(type), is_bool = kp_type_is_bool(type), is_signed = kp_type_is_signed(type);
    SpvOp code;
    switch (op) {
    case KP_TOKEN_LESS:
        code = is_float ? SpvOpFOrdLessThan : is_signed ? SpvOpSLessThan : SpvOpULessThan;
        break;
    case KP_TOKEN_LESS_EQUAL:
        code = is_float ? SpvOpFOrdLessThanEqual : is_signed ? SpvOpSLessThanEqual : SpvOpULessThanEqual;
        break;
    case KP_TOKEN_GREATER:
        code = is_float ? SpvOpFOrdGreaterThan : is_signed ? SpvOpSGreaterThan : SpvOpUGreaterThan;
        break;
    case KP_TOKEN_GREATER_EQUAL:
        code = is_float ? SpvOpFOrdGreaterThanEqual : is_signed ? SpvOpSGreaterThanEqual : SpvOpUGreaterThanEqual;
        break;
    case KP_TOKEN_EQUAL:
        code = is_float ? SpvOpFOrdEqual : is_bool ? SpvOpLogicalEqual : SpvOpIEqual;
        break;
    default:
        code = is_float ? SpvOpFUnordNotEqual : is_bool ? SpvOpLogicalNotEqual : SpvOpINotEqual; // NaN != NaN
        break;
    }
    return test(e, code, type, a, b);
}

// ---------------------------------------------------------------------------------------------------------------------
// Conversions
// ---------------------------------------------------------------------------------------------------------------------

// What float_to_int takes from f32 or f64 `x` for an integer of `dtype`, in 32 or 64 bits: the float is brought into
// the range first, for beyond it the conversion has no defined result. The range ends at a power of two.
static uint32_t bounded_int(kp_emitter *e, const kp_type *from, const kp_type *to, kp_dtype dtype, uint32_t x) {
    bool is_signed = kp_type_is_signed(to);
    double least = (double)kp_type_least(dtype);
    double limit = is_signed ? -least : 2.0 * (double)((uint64_t)1 << (8 * kp_dtype_size(dtype) - 1));
    uint32_t type = id_of(e, from), result_type = id_of(e, to);
    uint32_t low = kp_emit_constant(e, from, (kp_value){.f = least});
    uint32_t over = test(e, SpvOpFOrdGreaterThanEqual, from, x, kp_emit_constant(e, from, (kp_value){.f = limit}));
    uint32_t inside = kp_spirv_select(e->s, type, over, low, x);
    inside = kp_spirv_select(e->s, type, test(e, SpvOpFOrdGreaterThanEqual, from, x, low), inside, low);
    uint32_t value = kp_spirv_unary(e->s, is_signed ? SpvOpConvertFToS : SpvOpConvertFToU, result_type, inside);
    uint32_t most = kp_emit_constant(e, to, (kp_value){.i = kp_type_most(dtype)});
    value = kp_spirv_select(e->s, result_type, over, most, value);
    if (!is_signed)
        return value; // NaN went to `low`, which is 0
    uint32_t nan = test(e, SpvOpFUnordNotEqual, from, x, x);
    return kp_spirv_select(e->s, result_type, nan, kp_emit_number(e, to, 0), value);
}

static uint32_t float_to_int(kp_emitter *e, const kp_type *from, const kp_type *to, uint32_t x) {
    const kp_type *from_work = working_type(from), *to_work = working_type(to);
    x = kp_emit_cast(e, from, from_work, x);
    return kp_emit_cast(e, to_work, to, bounded_int(e, from_work, to_work, to->dtype, x));
}

void kp_emit_check_whole(kp_emitter *e, const kp_node *n, const kp_type *type, uint32_t x) {
    uint32_t infinite = kp_emit_constant(e, type, (kp_value){.f = INFINITY});
    uint32_t magnitude = kp_spirv_glsl(e->s, GLSLstd450FAbs, id_of(e, type), &x, 1);
    check(e, KP_LAUNCH_SITE_VALUE, type, n, test(e, SpvOpFUnordNotEqual, type, x, x),
          "cannot convert float NaN to integer");
    check(e, KP_LAUNCH_SITE_OVERFLOW, type, n, test(e, SpvOpFOrdEqual, type, magnitude, infinite),
          "cannot convert float infinity to integer");
}

static uint32_t int_to_float(kp_emitter *e, const kp_type *from, const kp_type *to, uint32_t x) {
    const kp_type *from_work = working_type(from), *to_work = working_type(to);
    x = kp_emit_cast(e, from, from_work, x);
    x = kp_spirv_unary(e->s, kp_type_is_signed(from) ? SpvOpConvertSToF : SpvOpConvertUToF, id_of(e, to_work), x);
    return kp_emit_cast(e, to_work, to, x);
}

// 64 bits of an i32, made of two words: Mesa 22.3 compares what SConvert makes of it with constants, and is wrong.
static uint32_t sign_extended(kp_emitter *e, const kp_type *to, uint32_t x) {
    uint32_t pair = kp_emit_type(e, kp_type_vector(KP_I32, 2)), thirty_one = kp_spirv_constant(e->s, e->type_u32, 31);
    uint32_t wide = kp_emit_type(e, kp_type_scalar(to->dtype)), parts[4];
    for (uint32_t i = 0; i < to->components; i++) {
        uint32_t words[2] = {to->components == 1 ? x : kp_spirv_extract(e->s, e->type_i32, x, i)};
        words[1] = kp_spirv_binary(e->s, SpvOpShiftRightArithmetic, e->type_i32, words[0], thirty_one);
        parts[i] = kp_spirv_unary(e->s, SpvOpBitcast, wide, kp_spirv_construct(e->s, pair, words, 2));
    }
    return to->components == 1 ? parts[0] : kp_spirv_construct(e->s, id_of(e, to), parts, to->components);
}

// Integers keep their low bits; wider ones get the sign, or zeros, in front.
static uint32_t int_to_int(kp_emitter *e, const kp_type *from, const kp_type *to, uint32_t x) {
    if (kp_dtype_size(from->dtype) == kp_dtype_size(to->dtype))
        return kp_spirv_unary(e->s, SpvOpBitcast, id_of(e, to), x);
    if (from->dtype == KP_I32 && kp_dtype_size(to->dtype) == 8)
        return sign_extended(e, to, x);
    if (kp_type_is_signed(from))
        return kp_spirv_unary(e->s, SpvOpSConvert, id_of(e, to), x);
    if (!kp_type_is_signed(to))
        return kp_spirv_unary(e->s, SpvOpUConvert, id_of(e, to), x);
    static const kp_dtype bits[] = {[KP_I8] = KP_U8, [KP_I16] = KP_U16, [KP_I32] = KP_U32, [KP_I64] = KP_U64};
    const kp_type *middle = kp_type_vector(bits[to->dtype], to->components);
    return int_to_int(e, middle, to, int_to_int(e, from, middle, x));
}

uint32_t kp_emit_cast(kp_emitter *e, const kp_type *from, const kp_type *to, uint32_t value) {
    if (from == to)
        return value;
    if (kp_type_is_matrix(to))
        return kp_emit_matrix_cast(e, from, to, value);
    if (kp_type_is_bool(to))
        return kp_emit_compare(e, KP_TOKEN_NOT_EQUAL, from, value, kp_emit_number(e, from, 0));
    if (kp_type_is_bool(from)) {
        uint32_t type = id_of(e, to), zero = kp_emit_number(e, to, 0);
        return kp_spirv_select(e->s, type, value, kp_emit_number(e, to, 1), zero);
    }
    bool was_float = kp_type_is_float(from), is_float = kp_type_is_float(to);
    if (was_float && is_float)
        return kp_spirv_unary(e->s, SpvOpFConvert, id_of(e, to), value);
    return is_float    ? int_to_float(e, from, to, value)
           : was_float ? float_to_int(e, from, to, value)
                       : int_to_int(e, from, to, value);
}
