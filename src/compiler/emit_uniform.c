// Uniform buffers. The rules for what may lie where in one are older than those for storage buffers, and stricter: an
// array's elements are 16 bytes apart. So to the module a uniform is an array of uvec4, whatever it is to the kernel:
// each scalar is made of the word that it lies in, or of two. That is valid on every device, and needs no features for
// small types.
#include "emitter.h"

enum { ROW = 16 }; // bytes of a uvec4

void kp_emit_uniform(kp_emitter *e, const kp_check_param *param, uint32_t salt) {
    kp_spirv *s = e->s;
    kp_symbol *symbol = param->symbol;
    uint32_t rows = (kp_type_size(symbol->type) + ROW - 1) / ROW;
    uint32_t row = kp_emit_type(e, kp_type_vector(KP_U32, 4));
    uint32_t data = kp_spirv_type_array(s, row, rows, ROW), block = kp_spirv_type_struct(s, &data, 1, salt);
    kp_spirv_decorate(s, block, SpvDecorationBlock);
    kp_spirv_member_offset(s, block, 0, 0);
    kp_spirv_name(s, block, param->type_name);
    kp_spirv_member_name(s, block, 0, "data");
    symbol->id = kp_spirv_global(s, kp_spirv_type_pointer(s, SpvStorageClassUniform, block), SpvStorageClassUniform);
    kp_spirv_name(s, symbol->id, symbol->name->text);
    kp_spirv_decorate_with(s, symbol->id, SpvDecorationDescriptorSet, param->set);
    kp_spirv_decorate_with(s, symbol->id, SpvDecorationBinding, param->binding);
}

kp_place kp_emit_uniform_place(const kp_symbol *symbol) {
    return (kp_place){.type = symbol->type,
                      .pointer = symbol->id,
                      .storage = SpvStorageClassUniform,
                      .memory = true,
                      .uniform = true};
}

kp_place kp_emit_uniform_step(kp_emitter *e, const kp_place *from, const kp_type *type, uint32_t bytes,
                              uint32_t index) {
    kp_place place = *from;
    place.type = type;
    place.count = 0;
    place.outside = 0;
    if (index == 0) {
        place.byte += bytes;
        return place;
    }
    uint32_t moved = kp_spirv_binary(e->s, SpvOpIMul, e->type_u32, index, kp_emit_u32(e, bytes));
    place.moved = place.moved != 0 ? kp_spirv_binary(e->s, SpvOpIAdd, e->type_u32, place.moved, moved) : moved;
    return place;
}

// The word `more` bytes behind the place.
static uint32_t load_word(kp_emitter *e, const kp_place *place, uint32_t more) {
    kp_spirv *s = e->s;
    uint32_t byte = place->byte + more,
             path[3] = {kp_emit_u32(e, 0), kp_emit_u32(e, byte / ROW), kp_emit_u32(e, byte / 4 % 4)};
    if (place->moved != 0) {
        uint32_t at = kp_spirv_binary(s, SpvOpIAdd, e->type_u32, place->moved, kp_emit_u32(e, byte));
        uint32_t word = kp_spirv_binary(s, SpvOpShiftRightLogical, e->type_u32, at, kp_emit_u32(e, 2));
        path[1] = kp_spirv_binary(s, SpvOpShiftRightLogical, e->type_u32, at, kp_emit_u32(e, 4));
        path[2] = kp_spirv_binary(s, SpvOpBitwiseAnd, e->type_u32, word, kp_emit_u32(e, 3));
    }
    uint32_t pointer = kp_spirv_type_pointer(s, SpvStorageClassUniform, e->type_u32);
    return kp_spirv_load(s, e->type_u32, kp_spirv_access(s, pointer, place->pointer, path, 3));
}

// One or two bytes of a word, from its lowest bit on.
static uint32_t load_part(kp_emitter *e, const kp_place *place, uint32_t size) {
    kp_spirv *s = e->s;
    uint32_t word = load_word(e, place, 0), shift = kp_emit_u32(e, place->byte % 4 * 8);
    if (place->moved != 0) {
        uint32_t at = kp_spirv_binary(s, SpvOpIAdd, e->type_u32, place->moved, kp_emit_u32(e, place->byte));
        uint32_t byte = kp_spirv_binary(s, SpvOpBitwiseAnd, e->type_u32, at, kp_emit_u32(e, 3));
        shift = kp_spirv_binary(s, SpvOpIMul, e->type_u32, byte, kp_emit_u32(e, 8));
    }
    word = kp_spirv_binary(s, SpvOpShiftRightLogical, e->type_u32, word, shift);
    return kp_spirv_binary(s, SpvOpBitwiseAnd, e->type_u32, word, kp_emit_u32(e, size == 1 ? 0xFF : 0xFFFF));
}

uint32_t kp_emit_uniform_load(kp_emitter *e, const kp_place *place) {
    kp_spirv *s = e->s;
    const kp_type *type = place->type, *word = kp_type_scalar(KP_U32);
    uint32_t id = kp_emit_type(e, type), size = kp_type_size(type);
    if (size < 4 && type->dtype == KP_F16) {
        const kp_type *half = kp_type_scalar(KP_U16);
        return kp_spirv_unary(s, SpvOpBitcast, id, kp_emit_cast(e, word, half, load_part(e, place, size)));
    }
    if (size < 4)
        return kp_emit_cast(e, word, type, load_part(e, place, size));
    if (size == 4)
        return type == word ? load_word(e, place, 0) : kp_spirv_unary(s, SpvOpBitcast, id, load_word(e, place, 0));
    uint32_t words[2] = {load_word(e, place, 0), 0};
    words[1] = load_word(e, place, 4);
    uint32_t pair = kp_emit_type(e, kp_type_vector(KP_U32, 2));
    return kp_spirv_unary(s, SpvOpBitcast, id, kp_spirv_construct(s, pair, words, 2));
}
