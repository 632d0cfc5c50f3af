// The bits of numbers. SPIR-V for Vulkan counts and reverses bits of 32-bit integers alone: narrow ones are widened
// without their sign, and wide ones are done by halves.
#include "emitter.h"

#include "builtin.h"

#include <spirv/unified1/GLSL.std.450.h>

// An integer as words of 32 bits, with as many components.
typedef struct words {
    const kp_type *type; // u32, or a vector of them
    uint32_t low, high;  // high: 0 for integers of at most 32 bits
} words;

static const kp_type *like(const kp_type *type, kp_dtype dtype) {
    return kp_type_vector(dtype, kp_type_components(type));
}

static const kp_type *unsigned_like(const kp_type *type) { return like(type, kp_type_int_like(type->dtype, false)); }

static words split(kp_emitter *e, const kp_type *type, uint32_t x) {
    const kp_type *bare = unsigned_like(type);
    words w = {.type = like(type, KP_U32)};
    x = kp_emit_cast(e, type, bare, x);
    w.low = kp_emit_cast(e, bare, w.type, x);
    if (kp_dtype_size(type->dtype) == 8) {
        uint32_t by = kp_emit_number(e, bare, 32), id = kp_emit_type(e, bare);
        w.high = kp_emit_cast(e, bare, w.type, kp_spirv_binary(e->s, SpvOpShiftRightLogical, id, x, by));
    }
    return w;
}

static uint32_t count(kp_emitter *e, const words *w) {
    uint32_t id = kp_emit_type(e, w->type), low = kp_spirv_unary(e->s, SpvOpBitCount, id, w->low);
    if (w->high == 0)
        return low;
    return kp_spirv_binary(e->s, SpvOpIAdd, id, low, kp_spirv_unary(e->s, SpvOpBitCount, id, w->high));
}

// One more than the place of the first bit from the left; FindUMsb of 0 is -1.
static uint32_t length_of(kp_emitter *e, const kp_type *type, uint32_t word, double more) {
    uint32_t id = kp_emit_type(e, type), place = kp_spirv_glsl(e->s, GLSLstd450FindUMsb, id, &word, 1);
    return kp_spirv_binary(e->s, SpvOpIAdd, id, place, kp_emit_number(e, type, 1 + more));
}

static uint32_t length(kp_emitter *e, const words *w) {
    uint32_t low = length_of(e, w->type, w->low, 0);
    if (w->high == 0)
        return low;
    uint32_t some = kp_emit_compare(e, KP_TOKEN_NOT_EQUAL, w->type, w->high, kp_emit_number(e, w->type, 0));
    return kp_spirv_select(e->s, kp_emit_type(e, w->type), some, length_of(e, w->type, w->high, 32), low);
}

static uint32_t reverse(kp_emitter *e, const kp_type *type, const words *w) {
    const kp_type *bare = unsigned_like(type);
    uint32_t id = kp_emit_type(e, w->type), bare_id = kp_emit_type(e, bare),
             size = (uint32_t)kp_dtype_size(type->dtype);
    uint32_t low = kp_spirv_unary(e->s, SpvOpBitReverse, id, w->low);
    if (size < 4)
        low = kp_spirv_binary(e->s, SpvOpShiftRightLogical, id, low, kp_emit_number(e, w->type, 32 - 8.0 * size));
    uint32_t result = kp_emit_cast(e, w->type, bare, low);
    if (size == 8) {
        uint32_t high = kp_emit_cast(e, w->type, bare, kp_spirv_unary(e->s, SpvOpBitReverse, id, w->high));
        result = kp_spirv_binary(e->s, SpvOpShiftLeftLogical, bare_id, result, kp_emit_number(e, bare, 32));
        result = kp_spirv_binary(e->s, SpvOpBitwiseOr, bare_id, result, high);
    }
    return kp_emit_cast(e, bare, type, result);
}

// The upper half of a product of twice the size.
static uint32_t mul_hi(kp_emitter *e, const kp_type *type, uint32_t a, uint32_t b) {
    bool is_signed = kp_type_is_signed(type);
    uint32_t size = (uint32_t)kp_dtype_size(type->dtype), id = kp_emit_type(e, type), members[2] = {id, id};
    if (size == 4) {
        uint32_t both = kp_spirv_type_struct(e->s, members, 2, 0);
        SpvOp op = is_signed ? SpvOpSMulExtended : SpvOpUMulExtended;
        return kp_spirv_extract(e->s, id, kp_spirv_binary(e->s, op, both, a, b), 1);
    }
    const kp_type *wide = like(type, is_signed ? KP_I32 : KP_U32);
    uint32_t wide_id = kp_emit_type(e, wide), by = kp_emit_number(e, wide, 8.0 * size);
    uint32_t product =
        kp_spirv_binary(e->s, SpvOpIMul, wide_id, kp_emit_cast(e, type, wide, a), kp_emit_cast(e, type, wide, b));
    SpvOp shift = is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical;
    return kp_emit_cast(e, wide, type, kp_spirv_binary(e->s, shift, wide_id, product, by));
}

uint32_t kp_emit_bits(kp_emitter *e, kp_node *n) {
    kp_bits op = (kp_bits)n->u.call.row->op;
    kp_list list = n->u.call.list;
    if (op == KP_BITS_CAST)
        return kp_spirv_unary(e->s, SpvOpBitcast, kp_emit_type(e, n->type), kp_emit_expr(e, list.items[1]));
    const kp_type *type = list.items[0]->type;
    uint32_t x = kp_emit_expr(e, list.items[0]);
    if (op == KP_BITS_MUL_HI)
        return mul_hi(e, type, x, kp_emit_expr(e, list.items[1]));
    if (op != KP_BITS_REVERSE && kp_type_is_signed(type))
        x = kp_emit_abs_int(e, type, x);
    words w = split(e, type, x);
    if (op == KP_BITS_REVERSE)
        return reverse(e, type, &w);
    return kp_emit_cast(e, w.type, n->type, op == KP_BITS_COUNT ? count(e, &w) : length(e, &w));
}
