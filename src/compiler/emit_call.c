// The functions of builtins.def.
#include "emitter.h"

#include "builtin.h"

static uint32_t binary(kp_emitter *e, SpvOp op, const kp_type *type, uint32_t a, uint32_t b) {
    return kp_spirv_binary(e->s, op, kp_emit_type(e, type), a, b);
}

static uint32_t glsl1(kp_emitter *e, uint32_t instruction, const kp_type *type, uint32_t a) {
    return kp_spirv_glsl(e->s, instruction, kp_emit_type(e, type), &a, 1);
}

// Python's min(a, b) is b where b < a, else a; so NaN and -0.0 come out as in Python.
uint32_t kp_emit_pick(kp_emitter *e, const kp_type *type, bool larger, uint32_t a, uint32_t b) {
    uint32_t better = kp_emit_compare(e, larger ? KP_TOKEN_GREATER : KP_TOKEN_LESS, type, b, a);
    return kp_spirv_select(e->s, kp_emit_type(e, type), better, b, a);
}

static uint32_t component(kp_emitter *e, const kp_type *vector, uint32_t value, uint32_t index) {
    return kp_spirv_extract(e->s, kp_emit_type(e, vector->element), value, index);
}

static uint32_t emit_min_max(kp_emitter *e, kp_node *n, bool larger) {
    kp_list list = n->u.call.list;
    uint32_t best = kp_emit_expr(e, list.items[0]);
    if (list.count == 1) {
        const kp_type *vector = list.items[0]->type;
        uint32_t all = best;
        best = component(e, vector, all, 0);
        for (uint32_t i = 1; i < vector->components; i++)
            best = kp_emit_pick(e, n->type, larger, best, component(e, vector, all, i));
        return best;
    }
    for (uint32_t i = 1; i < list.count; i++)
        best = kp_emit_pick(e, n->type, larger, best, kp_emit_expr(e, list.items[i]));
    return best;
}

static uint32_t emit_clamp(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.call.list;
    uint32_t x = kp_emit_expr(e, list.items[0]);
    x = kp_emit_pick(e, n->type, true, x, kp_emit_expr(e, list.items[1]));
    return kp_emit_pick(e, n->type, false, x, kp_emit_expr(e, list.items[2]));
}

static uint32_t emit_fold(kp_emitter *e, SpvOp op, const kp_type *vector, uint32_t value) {
    uint32_t result = component(e, vector, value, 0);
    for (uint32_t i = 1; i < vector->components; i++)
        result = binary(e, op, vector->element, result, component(e, vector, value, i));
    return result;
}

static uint32_t emit_sum(kp_emitter *e, const kp_type *vector, uint32_t value) {
    return emit_fold(e, kp_type_is_float(vector) ? SpvOpFAdd : SpvOpIAdd, vector, value);
}

static uint32_t emit_product(kp_emitter *e, const kp_type *vector, uint32_t value) {
    return emit_fold(e, kp_type_is_float(vector) ? SpvOpFMul : SpvOpIMul, vector, value);
}

static uint32_t emit_dot(kp_emitter *e, kp_node *n) {
    const kp_type *vector = n->u.call.list.items[0]->type;
    uint32_t a = kp_emit_expr(e, n->u.call.list.items[0]), b = kp_emit_expr(e, n->u.call.list.items[1]);
    if (kp_type_is_float(vector))
        return binary(e, SpvOpDot, n->type, a, b);
    return emit_sum(e, vector, binary(e, SpvOpIMul, vector, a, b));
}

// The bits of one float, less the sign, as a u32 that compares to that of infinity as they do.
static uint32_t magnitude(kp_emitter *e, const kp_type *type, uint32_t x) {
    const kp_type *u32 = kp_type_scalar(KP_U32), *f32 = kp_type_scalar(KP_F32);
    uint32_t mask = kp_emit_constant(e, u32, (kp_value){.i = 0x7FFFFFFF}), zero = kp_emit_number(e, u32, 0);
    if (type->dtype != KP_F64) {
        uint32_t bits = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, kp_emit_cast(e, type, f32, x));
        return binary(e, SpvOpBitwiseAnd, u32, bits, mask);
    }
    uint32_t words = kp_spirv_unary(e->s, SpvOpBitcast, kp_emit_type(e, kp_type_vector(KP_U32, 2)), x);
    uint32_t low = kp_spirv_extract(e->s, e->type_u32, words, 0), high = kp_spirv_extract(e->s, e->type_u32, words, 1);
    high = binary(e, SpvOpBitwiseAnd, u32, high, mask);
    uint32_t some = kp_emit_compare(e, KP_TOKEN_NOT_EQUAL, u32, low, zero);
    return binary(e, SpvOpBitwiseOr, u32, high, kp_emit_cast(e, kp_type_scalar(KP_BOOL), u32, some));
}

// By the bits, which no fast arithmetic can take for granted: isnan, isinf, isfinite of the magnitude against infinity.
static uint32_t emit_classify(kp_emitter *e, kp_node *n, SpvOp compare) {
    const kp_type *type = n->u.call.list.items[0]->type, *u32 = kp_type_scalar(KP_U32);
    uint32_t x = kp_emit_expr(e, n->u.call.list.items[0]), parts[4];
    uint32_t infinity = kp_emit_constant(e, u32, (kp_value){.i = type->dtype == KP_F64 ? 0x7FF00000 : 0x7F800000});
    if (type->components == 1)
        return kp_spirv_binary(e->s, compare, e->type_bool, magnitude(e, type, x), infinity);
    for (uint32_t i = 0; i < type->components; i++) {
        uint32_t bits = magnitude(e, type->element, component(e, type, x, i));
        parts[i] = kp_spirv_binary(e->s, compare, e->type_bool, bits, infinity);
    }
    return kp_spirv_construct(e->s, kp_emit_type(e, n->type), parts, type->components);
}

// Of f64 there is no instruction.
static uint32_t emit_angle(kp_emitter *e, kp_node *n, bool to_radians) {
    uint32_t x = kp_emit_expr(e, n->u.call.list.items[0]);
    if (n->type->dtype != KP_F64)
        return glsl1(e, to_radians ? GLSLstd450Radians : GLSLstd450Degrees, n->type, x);
    double factor = to_radians ? 0.017453292519943295769 : 57.295779513082320877;
    return binary(e, SpvOpFMul, n->type, x, kp_emit_constant(e, n->type, (kp_value){.f = factor}));
}

static uint32_t emit_log(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.call.list;
    uint32_t x = kp_emit_expr(e, list.items[0]);
    x = kp_emit_math(e, GLSLstd450Log, n->type, &x, 1);
    if (list.count == 1)
        return x;
    uint32_t base = kp_emit_expr(e, list.items[1]);
    return binary(e, SpvOpFDiv, n->type, x, kp_emit_math(e, GLSLstd450Log, n->type, &base, 1));
}

static uint32_t emit_log10(kp_emitter *e, kp_node *n) {
    uint32_t x = kp_emit_expr(e, n->u.call.list.items[0]);
    x = kp_emit_math(e, GLSLstd450Log2, n->type, &x, 1);
    return binary(e, SpvOpFMul, n->type, x, kp_emit_constant(e, n->type, (kp_value){.f = 0.30102999566398119521}));
}

// Neither SAbs nor a maximum: NVIDIA's compiler gets comparisons of what is negated then wrong (docs/drivers.md).
uint32_t kp_emit_abs_int(kp_emitter *e, const kp_type *type, uint32_t x) {
    uint32_t positive = kp_emit_compare(e, KP_TOKEN_GREATER_EQUAL, type, x, kp_emit_number(e, type, 0));
    return kp_spirv_select(e->s, kp_emit_type(e, type), positive, x, kp_emit_unary(e, KP_TOKEN_MINUS, type, x));
}

static uint32_t emit_abs_sign(kp_emitter *e, kp_node *n, bool is_abs) {
    const kp_type *type = n->type;
    uint32_t x = kp_emit_expr(e, n->u.call.list.items[0]);
    if (kp_type_is_float(type) && is_abs)
        return glsl1(e, GLSLstd450FAbs, type, x);
    if (kp_type_is_float(type)) // NaN stays NaN
        return kp_spirv_select(e->s, kp_emit_type(e, type), kp_emit_compare(e, KP_TOKEN_EQUAL, type, x, x),
                               glsl1(e, GLSLstd450FSign, type, x), x);
    if (kp_type_is_signed(type) && is_abs)
        return kp_emit_abs_int(e, type, x);
    if (kp_type_is_signed(type) && kp_dtype_size(type->dtype) == 4)
        return glsl1(e, GLSLstd450SSign, type, x);
    if (kp_type_is_signed(type))
        x = kp_emit_pick(e, type, true, x, kp_emit_number(e, type, -1));
    return is_abs ? x : kp_emit_pick(e, type, false, x, kp_emit_number(e, type, 1));
}

// The part behind the point, with the sign of x: x - trunc(x), and 0 of that sign for infinity.
static uint32_t emit_modf(kp_emitter *e, kp_node *n) {
    const kp_type *type = n->type;
    uint32_t x = kp_emit_expr(e, n->u.call.list.items[0]);
    uint32_t whole = glsl1(e, GLSLstd450Trunc, type, x);
    uint32_t equal = kp_emit_compare(e, KP_TOKEN_EQUAL, type, whole, x);
    uint32_t rest = binary(e, SpvOpFSub, type, x, whole);
    uint32_t sign = glsl1(e, GLSLstd450FSign, type, x);
    uint32_t zero = binary(e, SpvOpFMul, type, sign, kp_emit_number(e, type, 0));
    return kp_spirv_select(e->s, kp_emit_type(e, type), equal, zero, rest);
}

static uint32_t emit_custom(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.call.list;
    switch ((kp_builtin_call)n->u.call.row->op) {
    case KP_CALL_MIN:
    case KP_CALL_MAX:
        return emit_min_max(e, n, n->u.call.row->op == KP_CALL_MAX);
    case KP_CALL_CLAMP:
        return emit_clamp(e, n);
    case KP_CALL_SUM:
        return emit_sum(e, list.items[0]->type, kp_emit_expr(e, list.items[0]));
    case KP_CALL_PROD:
        return emit_product(e, list.items[0]->type, kp_emit_expr(e, list.items[0]));
    case KP_CALL_ANY_OF:
    case KP_CALL_ALL_OF:
        return kp_spirv_unary(e->s, n->u.call.row->op == KP_CALL_ANY_OF ? SpvOpAny : SpvOpAll, e->type_bool,
                              kp_emit_expr(e, list.items[0]));
    case KP_CALL_DOT:
        return emit_dot(e, n);
    case KP_CALL_ISNAN:
        return emit_classify(e, n, SpvOpUGreaterThan);
    case KP_CALL_ISINF:
        return emit_classify(e, n, SpvOpIEqual);
    case KP_CALL_ISFINITE:
        return emit_classify(e, n, SpvOpULessThan);
    case KP_CALL_RADIANS:
    case KP_CALL_DEGREES:
        return emit_angle(e, n, n->u.call.row->op == KP_CALL_RADIANS);
    case KP_CALL_LOG:
        return emit_log(e, n);
    case KP_CALL_LOG10:
        return emit_log10(e, n);
    case KP_CALL_ABS:
    case KP_CALL_SIGN:
        return emit_abs_sign(e, n, n->u.call.row->op == KP_CALL_ABS);
    case KP_CALL_MODF:
        return emit_modf(e, n);
    default: { // CROSS: the others became other nodes in check
        uint32_t operands[2];
        operands[0] = kp_emit_expr(e, list.items[0]);
        operands[1] = kp_emit_expr(e, list.items[1]);
        return kp_spirv_glsl(e->s, GLSLstd450Cross, kp_emit_type(e, n->type), operands, 2);
    }
    }
}

uint32_t kp_emit_call(kp_emitter *e, kp_node *n) {
    kp_builtin_rule rule = n->u.call.row->rule;
    if (rule == KP_BUILTIN_CUSTOM)
        return emit_custom(e, n);
    if (rule == KP_BUILTIN_PRIMITIVE)
        return kp_emit_primitive(e, n);
    if (rule == KP_BUILTIN_MATRIX)
        return kp_emit_matrix_call(e, n);
    if (rule == KP_BUILTIN_BARRIER || rule == KP_BUILTIN_ATOMIC || rule == KP_BUILTIN_SUBGROUP)
        return kp_emit_parallel(e, n);
    if (rule == KP_BUILTIN_BITS)
        return kp_emit_bits(e, n);
    if (rule == KP_BUILTIN_IMAGE)
        return kp_emit_sample(e, n);
    uint32_t operands[3];
    for (uint32_t i = 0; i < n->u.call.list.count; i++)
        operands[i] = kp_emit_expr(e, n->u.call.list.items[i]);
    const kp_type *type = n->u.call.list.items[0]->type;
    if (rule != KP_BUILTIN_VECTORS)
        return kp_emit_math(e, n->u.call.row->op, type, operands, n->u.call.list.count);
    return kp_spirv_glsl(e->s, n->u.call.row->op, kp_emit_type(e, n->type), operands, n->u.call.list.count);
}
