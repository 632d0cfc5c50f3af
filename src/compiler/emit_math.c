// Functions of GLSL.std.450 whose results Vulkan leaves to the device where Python has an answer: what drivers do badly
// is led around. Vulkan lets tanh be sinh / cosh, which is NaN for 100 on a device that takes it at its word, asinh
// overflow for half of all numbers, and atan2(0, 0) be anything; one device has atan2(-0.0, 1) = pi. SwiftShader
// makes numbers of NaN in functions that go by its bits, and step(edge, NaN) and smoothstep are left to the device.
#include "emitter.h"

#include "builtin.h"

static uint32_t number(kp_emitter *e, const kp_type *type, double value) {
    return kp_emit_constant(e, type, (kp_value){.f = value});
}

static uint32_t id_of(kp_emitter *e, const kp_type *type) { return kp_emit_type(e, type); }

static uint32_t glsl(kp_emitter *e, uint32_t op, const kp_type *type, uint32_t x) {
    return kp_spirv_glsl(e->s, op, id_of(e, type), &x, 1);
}

static uint32_t pick(kp_emitter *e, const kp_type *type, uint32_t test, uint32_t yes, uint32_t no) {
    return kp_spirv_select(e->s, id_of(e, type), test, yes, no);
}

// It is 1 from 9.1 on.
static uint32_t tanh_of(kp_emitter *e, const kp_type *type, uint32_t x) {
    x = kp_emit_pick(e, type, true, x, number(e, type, -10));
    return glsl(e, GLSLstd450Tanh, type, kp_emit_pick(e, type, false, x, number(e, type, 10)));
}

// asinh or acosh: log(2 * x) where the square of x would be too large; there it is exact enough.
static uint32_t arc_of(kp_emitter *e, uint32_t op, const kp_type *type, uint32_t x) {
    uint32_t size = op == GLSLstd450Asinh ? glsl(e, GLSLstd450FAbs, type, x) : x;
    uint32_t large = kp_emit_compare(e, KP_TOKEN_GREATER, type, size, number(e, type, 65536));
    uint32_t one = number(e, type, 1), id = id_of(e, type);
    uint32_t near = glsl(e, op, type, pick(e, type, large, one, x));
    uint32_t far = glsl(e, GLSLstd450Log, type, pick(e, type, large, size, one));
    far = kp_spirv_binary(e->s, SpvOpFAdd, id, far, number(e, type, 0.69314718055994530942));
    if (op == GLSLstd450Asinh)
        far = kp_spirv_binary(e->s, SpvOpFMul, id, far, glsl(e, GLSLstd450FSign, type, x));
    return pick(e, type, large, far, near);
}

static uint32_t is_minus(kp_emitter *e, const kp_type *type, uint32_t x) {
    const kp_type *i32 = kp_type_vector(KP_I32, type->components);
    uint32_t bits = kp_spirv_unary(e->s, SpvOpBitcast, id_of(e, i32), x);
    return kp_emit_compare(e, KP_TOKEN_LESS, i32, bits, kp_emit_number(e, i32, 0));
}

// For a y of 0 or -0.0 it is 0 or pi, by the sign of x, with the sign of y.
static uint32_t atan2_of(kp_emitter *e, const kp_type *type, uint32_t y, uint32_t x) {
    uint32_t zero = number(e, type, 0), id = id_of(e, type);
    uint32_t at_zero = kp_emit_compare(e, KP_TOKEN_EQUAL, type, y, zero);
    uint32_t some = kp_emit_compare(e, KP_TOKEN_EQUAL, type, x, x); // no NaN
    at_zero = kp_spirv_binary(e->s, SpvOpLogicalAnd, kp_emit_bool_type(e, type->components), at_zero, some);
    uint32_t turn = pick(e, type, is_minus(e, type, x), number(e, type, 3.14159265358979323846), zero);
    turn = pick(e, type, is_minus(e, type, y), kp_spirv_unary(e->s, SpvOpFNegate, id, turn), turn);
    uint32_t operands[2] = {pick(e, type, at_zero, number(e, type, 1), y), x};
    return pick(e, type, at_zero, turn, kp_spirv_glsl(e->s, GLSLstd450Atan2, id, operands, 2));
}

// x - floor(x), as NumPy has it: 1 for tiny negative numbers, where Fract may be the number below.
static uint32_t fract_of(kp_emitter *e, const kp_type *type, uint32_t x) {
    return kp_spirv_binary(e->s, SpvOpFSub, id_of(e, type), x, glsl(e, GLSLstd450Floor, type, x));
}

// 0 below the edge, else 1.
static uint32_t step_of(kp_emitter *e, const kp_type *type, uint32_t edge, uint32_t x) {
    uint32_t below = kp_emit_compare(e, KP_TOKEN_LESS, type, x, edge);
    return pick(e, type, below, number(e, type, 0), number(e, type, 1));
}

// 3 t^2 - 2 t^3 of the place t between the edges.
static uint32_t smooth_step_of(kp_emitter *e, const kp_type *type, const uint32_t *operands) {
    uint32_t id = id_of(e, type);
    uint32_t size = kp_spirv_binary(e->s, SpvOpFSub, id, operands[1], operands[0]);
    uint32_t t = kp_spirv_binary(e->s, SpvOpFSub, id, operands[2], operands[0]);
    t = kp_spirv_binary(e->s, SpvOpFDiv, id, t, size);
    t = kp_emit_pick(e, type, true, t, number(e, type, 0));
    t = kp_emit_pick(e, type, false, t, number(e, type, 1));
    uint32_t slope = kp_spirv_binary(e->s, SpvOpFMul, id, t, number(e, type, 2));
    slope = kp_spirv_binary(e->s, SpvOpFSub, id, number(e, type, 3), slope);
    return kp_spirv_binary(e->s, SpvOpFMul, id, kp_spirv_binary(e->s, SpvOpFMul, id, t, t), slope);
}

static bool may_lose_nan(uint32_t op) {
    return op == GLSLstd450Exp || op == GLSLstd450Exp2 || op == GLSLstd450Log || op == GLSLstd450Log2 ||
           op == GLSLstd450Cosh || op == GLSLstd450Asinh || op == GLSLstd450Acosh || op == GLSLstd450Atanh ||
           op == GLSLstd450Atan;
}

static uint32_t keep_nan(kp_emitter *e, const kp_type *type, uint32_t x, uint32_t result) {
    return pick(e, type, kp_emit_compare(e, KP_TOKEN_EQUAL, type, x, x), result, x);
}

// SwiftShader's optimizer waits for ever for the value of one of these, when it knows all operands: of `sqrt(4.0) if c
// else y` it takes y for the whole. It does so where it may fold no floats, as kp asks of it; so a product by 1, which
// it may not fold either, is no constant for it, and neither is what becomes of that.
static bool may_be_lost(uint32_t op) {
    return op == GLSLstd450Sin || op == GLSLstd450Cos || op == GLSLstd450Tan || op == GLSLstd450Asin ||
           op == GLSLstd450Acos || op == GLSLstd450Sqrt || op == GLSLstd450FMix;
}

static uint32_t plain(kp_emitter *e, uint32_t op, const kp_type *type, const uint32_t *operands, uint32_t count) {
    uint32_t all[3] = {0};
    for (uint32_t i = 0; i < count; i++)
        all[i] = operands[i];
    if (may_be_lost(op))
        all[0] = kp_spirv_binary(e->s, SpvOpFMul, id_of(e, type), all[0], number(e, type, 1));
    return kp_spirv_glsl(e->s, op, id_of(e, type), all, count);
}

// In f16 too many results of the formulas between would be infinite.
static bool is_wide(uint32_t op) {
    return op == GLSLstd450Sinh || op == GLSLstd450Cosh || op == GLSLstd450Tanh || op == GLSLstd450Asinh ||
           op == GLSLstd450Acosh || op == GLSLstd450Atanh || op == GLSLstd450Atan2;
}

uint32_t kp_emit_math(kp_emitter *e, uint32_t op, const kp_type *type, const uint32_t *operands, uint32_t count) {
    if (type->dtype == KP_F16 && is_wide(op)) {
        const kp_type *wide = kp_type_vector(KP_F32, type->components);
        uint32_t wides[2] = {0, 0};
        for (uint32_t i = 0; i < count; i++)
            wides[i] = kp_emit_cast(e, type, wide, operands[i]);
        return kp_emit_cast(e, wide, type, kp_emit_math(e, op, wide, wides, count));
    }
    uint32_t result;
    switch (op) {
    case GLSLstd450Fract:
        return fract_of(e, type, operands[0]);
    case GLSLstd450Step:
        return step_of(e, type, operands[0], operands[1]);
    case GLSLstd450SmoothStep:
        return smooth_step_of(e, type, operands);
    case GLSLstd450Tanh:
        return tanh_of(e, type, operands[0]);
    case GLSLstd450Atan2:
        return atan2_of(e, type, operands[0], operands[1]);
    case GLSLstd450Asinh:
    case GLSLstd450Acosh:
        result = arc_of(e, op, type, operands[0]);
        break;
    default:
        result = plain(e, op, type, operands, count);
        break;
    }
    return may_lose_nan(op) ? keep_nan(e, type, operands[0], result) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// What library.py is made of
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t word_of(kp_emitter *e, const kp_type *type, uint32_t x, bool high) {
    if (type->dtype != KP_F64)
        return high ? kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, x) : kp_emit_number(e, kp_type_scalar(KP_U32), 0);
    uint32_t words = kp_spirv_unary(e->s, SpvOpBitcast, id_of(e, kp_type_vector(KP_U32, 2)), x);
    return kp_spirv_extract(e->s, e->type_u32, words, high ? 1 : 0);
}

uint32_t kp_emit_primitive(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.call.list;
    uint32_t x = kp_emit_expr(e, list.items[0]);
    if (n->u.call.row->op != KP_PRIMITIVE_REAL)
        return word_of(e, list.items[0]->type, x, n->u.call.row->op == KP_PRIMITIVE_HIGH);
    uint32_t words[2] = {0, kp_emit_expr(e, list.items[1])}; // the low one first
    words[0] = kp_emit_expr(e, list.items[2]);
    if (n->type->dtype != KP_F64)
        return kp_spirv_unary(e->s, SpvOpBitcast, id_of(e, n->type), words[1]);
    uint32_t both = kp_spirv_construct(e->s, id_of(e, kp_type_vector(KP_U32, 2)), words, 2);
    return kp_spirv_unary(e->s, SpvOpBitcast, id_of(e, n->type), both);
}
