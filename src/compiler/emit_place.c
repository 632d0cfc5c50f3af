// Places: where values are kept, what an assignment stores to and a load comes from. Elements of buffers, components of
// vectors.
#include "emitter.h"

static uint32_t pointer_to(kp_emitter *e, SpvStorageClass storage, const kp_type *type) {
    bool buffer = storage == SpvStorageClassStorageBuffer;
    return kp_spirv_type_pointer(e->s, storage, buffer ? kp_emit_memory_type(e, type) : kp_emit_type(e, type));
}

// A bool is a byte in a buffer: 0, or anything else for true.
static bool is_byte(SpvStorageClass storage, const kp_type *type) {
    return storage == SpvStorageClassStorageBuffer && kp_type_is_bool(type);
}

static uint32_t load(kp_emitter *e, SpvStorageClass storage, const kp_type *type, uint32_t pointer) {
    if (!is_byte(storage, type))
        return kp_spirv_load(e->s, kp_emit_type(e, type), pointer);
    const kp_type *words = kp_type_vector(e->unit, KP_U32, type->components);
    uint32_t bytes = kp_spirv_load(e->s, kp_emit_memory_type(e, type), pointer);
    return kp_emit_cast(e, words, type, kp_spirv_unary(e->s, SpvOpUConvert, kp_emit_type(e, words), bytes));
}

static void store(kp_emitter *e, SpvStorageClass storage, const kp_type *type, uint32_t pointer, uint32_t value) {
    if (is_byte(storage, type)) {
        const kp_type *words = kp_type_vector(e->unit, KP_U32, type->components);
        uint32_t word = kp_emit_cast(e, type, words, value);
        value = kp_spirv_unary(e->s, SpvOpUConvert, kp_emit_memory_type(e, type), word);
    }
    kp_spirv_store(e->s, pointer, value);
}

static uint32_t u32(kp_emitter *e, uint32_t value) { return kp_spirv_constant(e->s, e->type_u32, value); }

static bool is_packed(const kp_type *element) { return element->components == 3; }

uint32_t kp_emit_length(kp_emitter *e, const kp_symbol *buffer) {
    uint32_t length = kp_spirv_array_length(e->s, e->type_u32, buffer->id, 0);
    if (is_packed(buffer->type->element))
        length = kp_spirv_binary(e->s, SpvOpUDiv, e->type_u32, length, u32(e, 3));
    return length;
}

// An index, i32 or u32 (check makes one of the two of narrower types). One of 64 bits that 32 do not hold becomes the
// highest u32, which is outside as well.
static uint32_t emit_index(kp_emitter *e, kp_node *n, const kp_type **type) {
    uint32_t value = kp_emit_expr(e, n);
    *type = n->type;
    if (kp_dtype_size(n->type->dtype) != 8)
        return value;
    const kp_type *wide = kp_type_scalar(e->unit, KP_U64);
    value = kp_emit_cast(e, n->type, wide, value);
    *type = kp_type_scalar(e->unit, KP_U32);
    uint32_t most = kp_emit_constant(e, wide, (kp_value){.i = UINT32_MAX});
    return kp_emit_cast(e, wide, *type, kp_emit_pick(e, wide, false, value, most));
}

static uint32_t index_of(kp_emitter *e, kp_node *n, const kp_type **type) {
    uint32_t index = emit_index(e, n->u.subscript.index, type);
    if (!n->u.subscript.from_end)
        return index;
    uint32_t length = kp_emit_length(e, n->u.subscript.object->u.symbol);
    length = kp_spirv_unary(e->s, SpvOpBitcast, e->type_i32, length);
    return kp_spirv_binary(e->s, SpvOpIAdd, e->type_i32, length, index);
}

static kp_place element_place(kp_emitter *e, kp_node *n) {
    const kp_symbol *buffer = n->u.subscript.object->u.symbol;
    if (buffer->kind == KP_SYMBOL_SHARED)
        return kp_emit_shared_place(e, n);
    kp_place place = {
        .type = n->type, .storage = SpvStorageClassStorageBuffer, .buffer = buffer->id, .bits = buffer->bits};
    const kp_type *index_type;
    uint32_t index = index_of(e, n, &index_type);
    if (is_packed(n->type)) {
        uint32_t three = kp_emit_number(e, index_type, 3);
        place.first = kp_spirv_binary(e->s, SpvOpIMul, kp_emit_type(e, index_type), index, three);
        if (!kp_type_is_signed(index_type))
            place.first = kp_spirv_unary(e->s, SpvOpBitcast, e->type_i32, place.first);
        return place;
    }
    uint32_t indices[2] = {u32(e, 0), index};
    const kp_type *kept = place.bits ? kp_type_scalar(e->unit, KP_U32) : n->type;
    place.pointer = kp_spirv_access(e->s, pointer_to(e, place.storage, kept), buffer->id, indices, 2);
    place.index = index;
    place.index_type = index_type;
    return place;
}

// The index of a vector's component, kept inside of the vector.
uint32_t kp_emit_component_index(kp_emitter *e, kp_node *index, uint32_t count) {
    const kp_type *type;
    uint32_t value = emit_index(e, index, &type);
    if (kp_type_is_signed(type))
        value = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, value);
    return kp_spirv_glsl(e->s, GLSLstd450UMin, e->type_u32, (uint32_t[]){value, u32(e, count - 1)}, 2);
}

// Scalar number `offset` (an i32 id) of a packed vec3.
static uint32_t packed_pointer(kp_emitter *e, const kp_place *place, uint32_t offset) {
    uint32_t index = kp_spirv_binary(e->s, SpvOpIAdd, e->type_i32, place->first, offset);
    uint32_t indices[2] = {u32(e, 0), index};
    return kp_spirv_access(e->s, pointer_to(e, place->storage, place->type->element), place->buffer, indices, 2);
}

static kp_place component_place(kp_emitter *e, kp_node *n) {
    kp_place whole = kp_emit_place(e, n->u.subscript.object);
    kp_place place = {.type = n->type, .storage = whole.storage};
    uint32_t index = kp_emit_component_index(e, n->u.subscript.index, whole.type->components);
    if (whole.pointer == 0)
        place.pointer = packed_pointer(e, &whole, kp_spirv_unary(e->s, SpvOpBitcast, e->type_i32, index));
    else
        place.pointer = kp_spirv_access(e->s, pointer_to(e, whole.storage, n->type), whole.pointer, &index, 1);
    return place;
}

static kp_place swizzle_place(kp_emitter *e, kp_node *n) {
    kp_place place = kp_emit_place(e, n->u.swizzle.operand);
    kp_place before = place;
    place.count = n->u.swizzle.count;
    for (uint32_t i = 0; i < place.count; i++) {
        uint8_t component = n->u.swizzle.components[i];
        place.components[i] = before.count != 0 ? before.components[component] : component;
    }
    return place;
}

kp_place kp_emit_place(kp_emitter *e, kp_node *n) {
    switch (n->kind) {
    case KP_NODE_VARIABLE:
        return (kp_place){.type = n->type, .pointer = n->u.symbol->id, .storage = SpvStorageClassFunction};
    case KP_NODE_BUFFER: {
        uint32_t zero = u32(e, 0);
        uint32_t type = pointer_to(e, SpvStorageClassStorageBuffer, n->type);
        return (kp_place){.type = n->type,
                          .pointer = kp_spirv_access(e->s, type, n->u.symbol->id, &zero, 1),
                          .storage = SpvStorageClassStorageBuffer};
    }
    case KP_NODE_SUBSCRIPT:
        return n->u.subscript.object->type->kind == KP_TYPE_ARRAY ? element_place(e, n) : component_place(e, n);
    default:
        return swizzle_place(e, n);
    }
}

static uint32_t component_pointer(kp_emitter *e, const kp_place *place, uint32_t component) {
    if (place->pointer == 0)
        return packed_pointer(e, place, kp_spirv_constant(e->s, e->type_i32, component));
    uint32_t index = u32(e, component);
    return kp_spirv_access(e->s, pointer_to(e, place->storage, place->type->element), place->pointer, &index, 1);
}

uint32_t kp_emit_load(kp_emitter *e, const kp_place *place) {
    if (place->bits)
        return kp_spirv_unary(e->s, SpvOpBitcast, e->type_f32, kp_spirv_load(e->s, e->type_u32, place->pointer));
    if (place->pointer != 0 && place->count == 0)
        return load(e, place->storage, place->type, place->pointer);
    uint32_t parts[4], count = place->count != 0 ? place->count : place->type->components;
    const kp_type *type = place->type->element;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pointer = component_pointer(e, place, place->count != 0 ? place->components[i] : i);
        parts[i] = load(e, place->storage, type, pointer);
    }
    if (count == 1)
        return parts[0];
    return kp_spirv_construct(e->s, kp_emit_type(e, kp_type_vector(e->unit, place->type->dtype, count)), parts, count);
}

void kp_emit_store(kp_emitter *e, const kp_place *place, uint32_t value) {
    if (place->bits)
        value = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, value);
    if (place->pointer != 0 && place->count == 0) {
        store(e, place->storage, place->type, place->pointer, value);
        return;
    }
    uint32_t count = place->count != 0 ? place->count : place->type->components;
    const kp_type *type = place->type->element;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = count == 1 ? value : kp_spirv_extract(e->s, kp_emit_type(e, type), value, i);
        uint32_t pointer = component_pointer(e, place, place->count != 0 ? place->components[i] : i);
        store(e, place->storage, type, pointer, part);
    }
}

// True for what is kept in memory, so that a component can be loaded on its own.
bool kp_emit_in_memory(const kp_node *n) {
    if (n->kind == KP_NODE_VARIABLE)
        return n->u.symbol->stored;
    if (n->kind == KP_NODE_SUBSCRIPT)
        return n->u.subscript.object->type->kind == KP_TYPE_ARRAY || kp_emit_in_memory(n->u.subscript.object);
    return n->kind == KP_NODE_BUFFER;
}
