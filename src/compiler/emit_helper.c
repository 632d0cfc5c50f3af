// Functions that a module carries because SPIR-V has no instruction for them. They are written in SPIR-V directly,
// through a few short words (fadd, select ...) that keep the algorithms readable. No call has two arguments that write
// instructions: C leaves open which would be written first.
//
// Each is written for 32 bits and for 64, as far as it is needed there: narrower types are worked out in 32. What
// touches the bits of an f64 does so in its high word, so that no 64-bit integers are needed.
//
// fmod is exact. With a quotient below 2^9, n = the quotient to the nearest integer, and y = high + low with 12 bits in
// high, the products n * high and n * low and both differences of (x - n * high) - n * low are exact, so the rest is
// exact too, whatever the precision of the division. Larger quotients are first brought down by multiples y * 2^k. In
// f64 the numbers are 2^18, and 21 bits.
#include "emitter.h"

#include <math.h>

typedef struct writer {
    kp_emitter *e;
    kp_spirv *s;
    bool wide;
    const kp_type *real, *whole; // f32 and i32 or, wide, f64 and i64
    const kp_type *i32, *u32;    //
    uint32_t mantissa;           // bits of the mantissa in the word that has the exponent
} writer;

static writer writer_of(kp_emitter *e, bool wide) {
    return (writer){.e = e,
                    .s = e->s,
                    .wide = wide,
                    .real = kp_type_scalar(wide ? KP_F64 : KP_F32),
                    .whole = kp_type_scalar(wide ? KP_I64 : KP_I32),
                    .i32 = kp_type_scalar(KP_I32),
                    .u32 = kp_type_scalar(KP_U32),
                    .mantissa = wide ? 20 : 23};
}

static uint32_t f(writer *w, double value) { return kp_emit_constant(w->e, w->real, (kp_value){.f = value}); }
static uint32_t i(writer *w, int64_t value) { return kp_emit_constant(w->e, w->i32, (kp_value){.i = value}); }
static uint32_t u(writer *w, int64_t value) { return kp_emit_constant(w->e, w->u32, (kp_value){.i = value}); }

static uint32_t two(writer *w, SpvOp op, const kp_type *type, uint32_t a, uint32_t b) {
    return kp_spirv_binary(w->s, op, kp_emit_type(w->e, type), a, b);
}

static uint32_t fsub(writer *w, uint32_t a, uint32_t b) { return two(w, SpvOpFSub, w->real, a, b); }
static uint32_t fadd(writer *w, uint32_t a, uint32_t b) { return two(w, SpvOpFAdd, w->real, a, b); }
static uint32_t fmul(writer *w, uint32_t a, uint32_t b) { return two(w, SpvOpFMul, w->real, a, b); }
static uint32_t fdiv(writer *w, uint32_t a, uint32_t b) { return two(w, SpvOpFDiv, w->real, a, b); }

static uint32_t test(writer *w, SpvOp op, uint32_t a, uint32_t b) {
    return kp_spirv_binary(w->s, op, w->e->type_bool, a, b);
}

static uint32_t both(writer *w, uint32_t a, uint32_t b) { return test(w, SpvOpLogicalAnd, a, b); }
static uint32_t either(writer *w, uint32_t a, uint32_t b) { return test(w, SpvOpLogicalOr, a, b); }

static uint32_t real_id(writer *w) { return kp_emit_type(w->e, w->real); }

static uint32_t select_f(writer *w, uint32_t condition, uint32_t yes, uint32_t no) {
    return kp_spirv_select(w->s, real_id(w), condition, yes, no);
}

static uint32_t bits_of(writer *w, uint32_t x) { return kp_spirv_unary(w->s, SpvOpBitcast, w->e->type_u32, x); }

// An f64 as its two words, the low one first.
static uint32_t words_of(writer *w, uint32_t x) {
    return kp_spirv_unary(w->s, SpvOpBitcast, kp_emit_type(w->e, kp_type_vector(KP_U32, 2)), x);
}

// The word that has the sign and the exponent.
static uint32_t high_word(writer *w, uint32_t x) {
    return w->wide ? kp_spirv_extract(w->s, w->e->type_u32, words_of(w, x), 1) : bits_of(w, x);
}

// The float with that high word; `low` is the low one of an f64.
static uint32_t float_of(writer *w, uint32_t high, uint32_t low) {
    if (!w->wide)
        return kp_spirv_unary(w->s, SpvOpBitcast, real_id(w), high);
    uint32_t words = kp_emit_type(w->e, kp_type_vector(KP_U32, 2)), parts[2] = {low, high};
    return kp_spirv_unary(w->s, SpvOpBitcast, real_id(w), kp_spirv_construct(w->s, words, parts, 2));
}

static uint32_t low_word(writer *w, uint32_t x) {
    return w->wide ? kp_spirv_extract(w->s, w->e->type_u32, words_of(w, x), 0) : 0;
}

static uint32_t infinity(writer *w) { return f(w, HUGE_VAL); }
static uint32_t not_a_number(writer *w) { return f(w, NAN); }

static uint32_t glsl(writer *w, uint32_t instruction, uint32_t x) {
    return kp_spirv_glsl(w->s, instruction, real_id(w), &x, 1);
}

static uint32_t masked_bits(writer *w, uint32_t x, uint32_t mask) {
    uint32_t bits = high_word(w, x);
    return two(w, SpvOpBitwiseAnd, w->u32, bits, u(w, mask));
}

// The magnitude of x with the sign of y. By the bits, so that zeros keep theirs.
static uint32_t copy_sign(writer *w, uint32_t x, uint32_t y) {
    uint32_t magnitude = masked_bits(w, x, 0x7FFFFFFF);
    uint32_t sign = masked_bits(w, y, 0x80000000);
    uint32_t high = two(w, SpvOpBitwiseOr, w->u32, magnitude, sign);
    return float_of(w, high, low_word(w, x));
}

static uint32_t is_negative(writer *w, uint32_t x) { return test(w, SpvOpFOrdLessThan, x, f(w, 0)); }

// A helper may use others, also itself not yet written.
static uint32_t call(writer *w, kp_helper helper, uint32_t type, uint32_t a, uint32_t b) {
    uint32_t *id = &w->e->helpers[helper][w->wide];
    if (*id == 0)
        *id = kp_spirv_id(w->s);
    return kp_spirv_call(w->s, type, *id, (uint32_t[]){a, b}, 2);
}

// ---------------------------------------------------------------------------------------------------------------------
// Remainders
// ---------------------------------------------------------------------------------------------------------------------

// x mod y for x >= y > 0 and x / y below about 2^10; exact, where x / y is near enough.
static uint32_t reduce_normal(writer *w, uint32_t x, uint32_t y) {
    uint32_t n = glsl(w, GLSLstd450RoundEven, fdiv(w, x, y));
    uint32_t bits = w->wide ? high_word(w, y) : masked_bits(w, y, 0xFFFFF000);
    uint32_t high = float_of(w, bits, u(w, 0));
    uint32_t low = fsub(w, y, high);
    uint32_t over = test(w, SpvOpFOrdEqual, fmul(w, n, high), infinity(w)); // rounded up beyond the largest number
    n = select_f(w, over, fsub(w, n, f(w, 1)), n);
    uint32_t rest = fsub(w, x, fmul(w, n, high));
    rest = fsub(w, rest, fmul(w, n, low));
    uint32_t below = is_negative(w, rest);
    return select_f(w, below, fadd(w, rest, y), rest);
}

// The same for x < y too. Devices divide as they like by an f32 whose reciprocal is subnormal, and take the subnormal
// parts of a tiny one for 0: what is of such a size is scaled.
static uint32_t reduce(writer *w, uint32_t x, uint32_t y) {
    uint32_t rest;
    if (w->wide) {
        rest = reduce_normal(w, x, y);
    } else {
        uint32_t tiny = test(w, SpvOpFOrdLessThan, y, f(w, 0x1p-100));
        uint32_t huge = test(w, SpvOpFOrdGreaterThan, y, f(w, 0x1p100));
        uint32_t up = f(w, 0x1p60), down = f(w, 0x1p-60), one = f(w, 1);
        uint32_t scale = select_f(w, tiny, up, select_f(w, huge, down, one));
        uint32_t back = select_f(w, tiny, down, select_f(w, huge, up, one));
        uint32_t scaled = fmul(w, x, scale);
        rest = fmul(w, reduce_normal(w, scaled, fmul(w, y, scale)), back);
    }
    return select_f(w, test(w, SpvOpFOrdLessThan, x, y), x, rest);
}

// Without the sign, though x >= 0: Mesa takes the FAbs of what it knows to be zero for that zero, be it -0.0.
static uint32_t exponent_of(writer *w, uint32_t x) {
    uint32_t bits = masked_bits(w, x, 0x7FFFFFFF);
    uint32_t shifted = two(w, SpvOpShiftRightLogical, w->u32, bits, u(w, w->mantissa));
    return kp_spirv_unary(w->s, SpvOpBitcast, w->e->type_i32, shifted);
}

// fmod(x, y), x >= 0, y > 0, both finite.
static void write_fmod(writer *w, uint32_t x, uint32_t y) {
    const int small = w->wide ? 18 : 9; // exponents apart that `reduce` takes
    kp_spirv *s = w->s;
    uint32_t rest = kp_emit_variable(w->e, w->real, NULL);
    uint32_t header = kp_spirv_id(s), head = kp_spirv_id(s), body = kp_spirv_id(s), next = kp_spirv_id(s);
    uint32_t merge = kp_spirv_id(s);
    kp_spirv_store(s, rest, x);
    kp_spirv_branch(s, header);
    kp_spirv_label(s, header);
    kp_spirv_loop(s, merge, next, SpvLoopControlMaskNone, head);
    kp_spirv_label(s, head);
    uint32_t now = kp_spirv_load(s, real_id(w), rest);
    uint32_t own = exponent_of(w, now);
    uint32_t apart = two(w, SpvOpISub, w->i32, own, exponent_of(w, y));
    kp_spirv_branch_if(s, test(w, SpvOpSGreaterThan, apart, i(w, small)), body, merge);
    kp_spirv_label(s, body);
    uint32_t shift = two(w, SpvOpISub, w->i32, apart, i(w, small));
    uint32_t raise = two(w, SpvOpShiftLeftLogical, w->i32, shift, i(w, w->mantissa));
    uint32_t bits = high_word(w, y);
    uint32_t high = two(w, SpvOpIAdd, w->u32, bits, bits_of(w, raise));
    uint32_t scaled = float_of(w, high, low_word(w, y));
    kp_spirv_store(s, rest, reduce(w, now, scaled));
    kp_spirv_branch(s, next);
    kp_spirv_label(s, next);
    kp_spirv_branch(s, header);
    kp_spirv_label(s, merge);
    kp_spirv_return_value(s, reduce(w, kp_spirv_load(s, real_id(w), rest), y));
}

// math.fmod: x for an infinite y; NaN for y = 0, an infinite x and NaN. Ends the current block.
static uint32_t signed_fmod(writer *w, uint32_t x, uint32_t y) {
    kp_spirv *s = w->s;
    uint32_t ax = glsl(w, GLSLstd450FAbs, x), ay = glsl(w, GLSLstd450FAbs, y);
    uint32_t finite = test(w, SpvOpFOrdLessThan, ax, infinity(w));
    uint32_t normal = both(w, finite, test(w, SpvOpFOrdLessThan, ay, infinity(w)));
    normal = both(w, normal, test(w, SpvOpFOrdGreaterThan, ay, f(w, 0)));
    uint32_t yes = kp_spirv_id(s), merge = kp_spirv_id(s), from = s->block;
    uint32_t other = select_f(w, both(w, finite, test(w, SpvOpFOrdEqual, ay, infinity(w))), x, not_a_number(w));
    kp_spirv_select_branch(s, normal, yes, merge, merge);
    kp_spirv_label(s, yes);
    uint32_t rest = copy_sign(w, call(w, KP_HELPER_FMOD, real_id(w), ax, ay), x);
    uint32_t rest_block = s->block;
    kp_spirv_branch(s, merge);
    kp_spirv_label(s, merge);
    return kp_spirv_phi(s, real_id(w), other, from, rest, rest_block);
}

// True where a rest that is not 0 has the other sign than y.
static uint32_t signs_differ(writer *w, uint32_t rest, uint32_t y) {
    uint32_t some = test(w, SpvOpFOrdNotEqual, rest, f(w, 0));
    uint32_t below = is_negative(w, rest);
    return both(w, some, test(w, SpvOpLogicalNotEqual, below, is_negative(w, y)));
}

// Python's float.__mod__
static void write_mod(writer *w, uint32_t x, uint32_t y) {
    uint32_t rest = signed_fmod(w, x, y);
    uint32_t zero = test(w, SpvOpFOrdEqual, rest, f(w, 0));
    uint32_t differ = signs_differ(w, rest, y);
    uint32_t adjusted = select_f(w, differ, fadd(w, rest, y), rest);
    kp_spirv_return_value(w->s, select_f(w, zero, copy_sign(w, f(w, 0), y), adjusted));
}

// Python's float.__floordiv__; x / y where y is 0.
static void write_floor_div(writer *w, uint32_t x, uint32_t y) {
    uint32_t rest = signed_fmod(w, x, y);
    uint32_t plain = fdiv(w, x, y);
    uint32_t quotient = fdiv(w, fsub(w, x, rest), y);
    uint32_t differ = signs_differ(w, rest, y);
    quotient = select_f(w, differ, fsub(w, quotient, f(w, 1)), quotient);
    uint32_t floor = glsl(w, GLSLstd450Floor, quotient);
    uint32_t fraction = fsub(w, quotient, floor);
    uint32_t short_by_one = test(w, SpvOpFOrdGreaterThan, fraction, f(w, 0.5));
    floor = select_f(w, short_by_one, fadd(w, floor, f(w, 1)), floor);
    uint32_t zero = test(w, SpvOpFOrdEqual, quotient, f(w, 0));
    floor = select_f(w, zero, copy_sign(w, f(w, 0), plain), floor);
    kp_spirv_return_value(w->s, select_f(w, test(w, SpvOpFOrdEqual, y, f(w, 0)), plain, floor));
}

// ---------------------------------------------------------------------------------------------------------------------
// Powers
// ---------------------------------------------------------------------------------------------------------------------

// x ** n, n unsigned, of `n_type`, by squaring; the current block ends up behind the loop.
static uint32_t power_loop(writer *w, const kp_type *type, uint32_t x, const kp_type *n_type, uint32_t n) {
    kp_spirv *s = w->s;
    SpvOp multiply = kp_type_is_float(type) ? SpvOpFMul : SpvOpIMul;
    uint32_t id = kp_emit_type(w->e, type), one = kp_emit_number(w->e, type, 1);
    uint32_t result = kp_emit_variable(w->e, type, NULL), base = kp_emit_variable(w->e, type, NULL);
    uint32_t left = kp_emit_variable(w->e, n_type, NULL), n_id = kp_emit_type(w->e, n_type);
    uint32_t zero = kp_emit_number(w->e, n_type, 0), unit = kp_emit_number(w->e, n_type, 1);
    uint32_t header = kp_spirv_id(s), head = kp_spirv_id(s), body = kp_spirv_id(s), next = kp_spirv_id(s);
    uint32_t merge = kp_spirv_id(s);
    kp_spirv_store(s, result, one);
    kp_spirv_store(s, base, x);
    kp_spirv_store(s, left, n);
    kp_spirv_branch(s, header);
    kp_spirv_label(s, header);
    kp_spirv_loop(s, merge, next, SpvLoopControlMaskNone, head);
    kp_spirv_label(s, head);
    uint32_t now = kp_spirv_load(s, n_id, left);
    kp_spirv_branch_if(s, test(w, SpvOpINotEqual, now, zero), body, merge);
    kp_spirv_label(s, body);
    uint32_t factor = kp_spirv_load(s, id, base);
    uint32_t last_bit = two(w, SpvOpBitwiseAnd, n_type, now, unit);
    uint32_t odd = test(w, SpvOpINotEqual, last_bit, zero);
    uint32_t so_far = kp_spirv_load(s, id, result);
    kp_spirv_store(s, result, two(w, multiply, type, so_far, kp_spirv_select(s, id, odd, factor, one)));
    kp_spirv_store(s, base, two(w, multiply, type, factor, factor));
    kp_spirv_branch(s, next);
    kp_spirv_label(s, next);
    kp_spirv_store(s, left, two(w, SpvOpShiftRightLogical, n_type, now, unit));
    kp_spirv_branch(s, header);
    kp_spirv_label(s, merge);
    return kp_spirv_load(s, id, result);
}

// x ** n for floats; a negative n by the reciprocal.
static void write_pow_int(writer *w, uint32_t x, uint32_t n) {
    uint32_t down = test(w, SpvOpSLessThan, n, i(w, 0));
    uint32_t bits = bits_of(w, n);
    uint32_t size = kp_spirv_select(w->s, w->e->type_u32, down, two(w, SpvOpISub, w->u32, u(w, 0), bits), bits);
    uint32_t result = power_loop(w, w->real, x, w->u32, size);
    kp_spirv_return_value(w->s, select_f(w, down, fdiv(w, f(w, 1), result), result));
}

static const kp_type *unsigned_type(writer *w) { return kp_type_scalar(w->wide ? KP_U64 : KP_U32); }

// x ** n for integers; a negative n gives 0, but for 1 and -1.
static void write_ipow(writer *w, uint32_t x, uint32_t n) {
    kp_spirv *s = w->s;
    const kp_type *bits = unsigned_type(w);
    uint32_t id = kp_emit_type(w->e, w->whole), none = kp_emit_number(w->e, w->whole, 0);
    uint32_t one = kp_emit_number(w->e, w->whole, 1);
    uint32_t down = test(w, SpvOpSLessThan, n, none);
    uint32_t is_one = test(w, SpvOpIEqual, x, one);
    uint32_t unit = either(w, is_one, test(w, SpvOpIEqual, x, kp_emit_number(w->e, w->whole, -1)));
    uint32_t sign = two(w, SpvOpBitwiseAnd, w->whole, n, one); // all that matters of n for 1 and -1
    uint32_t size = kp_spirv_select(s, id, unit, sign, n);
    uint32_t counts = either(w, unit, test(w, SpvOpSGreaterThanEqual, n, none));
    size = kp_spirv_select(s, id, counts, size, none);
    size = kp_spirv_unary(s, SpvOpBitcast, kp_emit_type(w->e, bits), size);
    uint32_t result = power_loop(w, w->whole, x, bits, size);
    uint32_t zero = both(w, down, test(w, SpvOpLogicalEqual, unit, kp_spirv_constant_bool(s, false)));
    kp_spirv_return_value(s, kp_spirv_select(s, id, zero, none, result));
}

static void write_upow(writer *w, uint32_t x, uint32_t n) {
    kp_spirv_return_value(w->s, power_loop(w, unsigned_type(w), x, unsigned_type(w), n));
}

// x ** y for floats: GLSL's Pow is for x > 0 only. A negative x takes the sign of an odd y, and is NaN for a y that is
// no integer (Python has a complex number there). 0 ** negative is infinity (Python raises).
static void write_pow(writer *w, uint32_t x, uint32_t y) {
    kp_spirv *s = w->s;
    uint32_t nan = not_a_number(w);
    uint32_t ax = glsl(w, GLSLstd450FAbs, x);
    uint32_t whole = test(w, SpvOpFOrdEqual, glsl(w, GLSLstd450Floor, y), y);
    uint32_t half = fmul(w, y, f(w, 0.5));
    uint32_t odd = both(w, whole, test(w, SpvOpFOrdNotEqual, glsl(w, GLSLstd450Floor, half), half));
    uint32_t zero = test(w, SpvOpFOrdEqual, ax, f(w, 0)), down = is_negative(w, y);
    uint32_t safe = select_f(w, zero, f(w, 1), ax);
    uint32_t power = kp_spirv_glsl(s, GLSLstd450Pow, real_id(w), (uint32_t[]){safe, y}, 2);
    power = select_f(w, zero, select_f(w, down, infinity(w), f(w, 0)), power);
    uint32_t sign = masked_bits(w, x, 0x80000000);
    uint32_t minus = both(w, odd, test(w, SpvOpINotEqual, sign, u(w, 0)));
    power = select_f(w, minus, kp_spirv_unary(s, SpvOpFNegate, real_id(w), power), power);
    uint32_t broken = kp_spirv_unary(s, SpvOpLogicalNot, w->e->type_bool, whole);
    power = select_f(w, both(w, broken, is_negative(w, x)), nan, power);
    uint32_t x_nan = test(w, SpvOpFUnordNotEqual, x, x);
    power = select_f(w, either(w, x_nan, test(w, SpvOpFUnordNotEqual, y, y)), nan, power);
    uint32_t one = test(w, SpvOpFOrdEqual, y, f(w, 0));
    one = either(w, one, test(w, SpvOpFOrdEqual, x, f(w, 1)));
    kp_spirv_return_value(s, select_f(w, one, f(w, 1), power));
}

// ---------------------------------------------------------------------------------------------------------------------

// In 32 bits and in 64; the result is of type a.
static const struct {
    const char *name[2];
    kp_dtype a[2], b[2]; // parameters
    void (*write)(writer *w, uint32_t a, uint32_t b);
} helpers[KP_HELPER_COUNT] = {
    [KP_HELPER_FMOD] = {{"kp_fmod", "kp_fmod_64"}, {KP_F32, KP_F64}, {KP_F32, KP_F64}, write_fmod},
    [KP_HELPER_MOD] = {{"kp_mod", "kp_mod_64"}, {KP_F32, KP_F64}, {KP_F32, KP_F64}, write_mod},
    [KP_HELPER_FLOOR_DIV] = {{"kp_floor_div", "kp_floor_div_64"}, {KP_F32, KP_F64}, {KP_F32, KP_F64}, write_floor_div},
    [KP_HELPER_POW] = {{"kp_pow", NULL}, {KP_F32, KP_F32}, {KP_F32, KP_F32}, write_pow},
    [KP_HELPER_POW_INT] = {{"kp_pow_int", "kp_pow_int_64"}, {KP_F32, KP_F64}, {KP_I32, KP_I32}, write_pow_int},
    [KP_HELPER_IPOW] = {{"kp_ipow", "kp_ipow_64"}, {KP_I32, KP_I64}, {KP_I32, KP_I64}, write_ipow},
    [KP_HELPER_UPOW] = {{"kp_upow", "kp_upow_64"}, {KP_U32, KP_U64}, {KP_U32, KP_U64}, write_upow},
};

uint32_t kp_emit_helper(kp_emitter *e, kp_helper helper, const kp_type *type, uint32_t a, uint32_t b) {
    writer w = writer_of(e, kp_dtype_size(type->dtype) == 8);
    if (type->kind != KP_TYPE_VECTOR)
        return call(&w, helper, kp_emit_type(e, type), a, b);
    uint32_t element = kp_emit_type(e, type->element), parts[4];
    uint32_t b_element = kp_emit_type(e, kp_type_scalar(helpers[helper].b[w.wide]));
    for (uint32_t k = 0; k < type->components; k++) {
        uint32_t part = kp_spirv_extract(e->s, element, a, k);
        parts[k] = call(&w, helper, element, part, kp_spirv_extract(e->s, b_element, b, k));
    }
    return kp_spirv_construct(e->s, kp_emit_type(e, type), parts, type->components);
}

static void write_helper(kp_emitter *e, kp_helper helper, bool wide) {
    writer w = writer_of(e, wide);
    uint32_t a_type = kp_emit_type(e, kp_type_scalar(helpers[helper].a[wide]));
    uint32_t b_type = kp_emit_type(e, kp_type_scalar(helpers[helper].b[wide]));
    uint32_t type = kp_spirv_type_function(e->s, a_type, (uint32_t[]){a_type, b_type}, 2);
    kp_spirv_name(e->s, e->helpers[helper][wide], helpers[helper].name[wide]);
    kp_spirv_function(e->s, e->helpers[helper][wide], a_type, type);
    uint32_t a = kp_spirv_parameter(e->s, a_type), b = kp_spirv_parameter(e->s, b_type);
    helpers[helper].write(&w, a, b);
    kp_spirv_function_end(e->s);
}

// Writing one may put another to use.
void kp_emit_helpers(kp_emitter *e) {
    for (bool more = true; more;) {
        more = false;
        for (kp_helper helper = 0; helper < KP_HELPER_COUNT; helper++) {
            for (int wide = 0; wide < 2; wide++) {
                if (e->helpers[helper][wide] == 0 || e->helper_done[helper][wide])
                    continue;
                e->helper_done[helper][wide] = more = true;
                write_helper(e, helper, wide != 0);
            }
        }
    }
}
