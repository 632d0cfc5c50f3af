// Places: where values are kept, what an assignment stores to and a load comes from. Variables, buffers, and what is
// inside of them: elements of arrays, components of vectors.
//
// What lies in a buffer has the layout of C and NumPy, where a value is aligned as its scalars are. Vulkan knows this
// as scalar block layout, which not every device has; so what its older rules do not take as it is, is made of scalars:
// a vec3 is an array of three, and so is any vector in a struct, whose fields may lie anywhere. Such a value is loaded
// and stored scalar by scalar, on every device alike.
#include "emitter.h"

#include <string.h>

static uint32_t pointer_to(kp_emitter *e, SpvStorageClass storage, uint32_t type) {
    return kp_spirv_type_pointer(e->s, storage, type);
}

// ---------------------------------------------------------------------------------------------------------------------
// Types in buffers
// ---------------------------------------------------------------------------------------------------------------------

// `scalars`: it is inside of a struct.
static bool is_split(const kp_type *type, bool scalars) {
    return type->kind == KP_TYPE_VECTOR && (scalars || type->components == 3);
}

// A number or a vector of an array whose floats are kept as u32.
static bool is_bits(const kp_type *type, bool bits) { return bits && type->dtype == KP_F32; }

// A bool is a byte in a buffer: 0, or anything else for true.
static uint32_t plain_type(kp_emitter *e, const kp_type *type, bool bits) {
    if (is_bits(type, bits))
        return kp_emit_type(e, kp_type_vector(KP_U32, type->components));
    if (!kp_type_is_bool(type))
        return kp_emit_type(e, type);
    uint32_t byte = kp_spirv_type_int(e->s, 8, false); // Int8 is for computing with it
    return type->kind == KP_TYPE_VECTOR ? kp_spirv_type_vector(e->s, byte, type->components) : byte;
}

static bool is_byte(const kp_place *place) { return place->memory && kp_type_is_bool(place->type); }

static uint32_t from_bytes(kp_emitter *e, const kp_type *type, uint32_t bytes) {
    const kp_type *words = kp_type_vector(KP_U32, type->components);
    return kp_emit_cast(e, words, type, kp_spirv_unary(e->s, SpvOpUConvert, kp_emit_type(e, words), bytes));
}

static uint32_t to_bytes(kp_emitter *e, const kp_type *type, uint32_t value) {
    const kp_type *words = kp_type_vector(KP_U32, type->components);
    uint32_t word = kp_emit_cast(e, type, words, value);
    return kp_spirv_unary(e->s, SpvOpUConvert, plain_type(e, type, false), word);
}

static uint32_t memory_type(kp_emitter *e, const kp_type *type, bool scalars, bool bits) {
    if (type->kind == KP_TYPE_ARRAY || kp_type_is_matrix(type))
        return kp_spirv_type_array(e->s, memory_type(e, type->element, scalars, bits), type->length,
                                   kp_type_size(type->element));
    if (is_split(type, scalars))
        return kp_spirv_type_array(e->s, memory_type(e, type->element, scalars, bits), type->components,
                                   kp_type_size(type->element));
    if (type->kind != KP_TYPE_STRUCT)
        return plain_type(e, type, bits);
    uint32_t *members = KP_UNIT_NEW(e->unit, uint32_t, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++)
        members[i] = memory_type(e, type->fields[i].type, true, bits);
    return kp_emit_memory_struct(e, type, members);
}

uint32_t kp_emit_memory_type(kp_emitter *e, const kp_type *type, bool bits) {
    return memory_type(e, type, false, bits);
}

uint32_t kp_emit_kept_type(kp_emitter *e, const kp_type *type, bool bits) {
    if (!bits)
        return kp_emit_type(e, type);
    if (type->kind == KP_TYPE_ARRAY || kp_type_is_matrix(type))
        return kp_spirv_type_array(e->s, kp_emit_kept_type(e, type->element, bits), type->length, 0);
    if (type->kind != KP_TYPE_STRUCT)
        return is_bits(type, bits) ? plain_type(e, type, bits) : kp_emit_type(e, type);
    uint32_t *members = KP_UNIT_NEW(e->unit, uint32_t, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++)
        members[i] = kp_emit_kept_type(e, type->fields[i].type, bits);
    return kp_emit_struct(e, type, members);
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps into a place
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t place_type(kp_emitter *e, const kp_place *place, const kp_type *type) {
    return place->memory ? memory_type(e, type, place->scalars, place->bits) : kp_emit_kept_type(e, type, place->bits);
}

// The part of that type, by its indices. One access chain from the variable on: of a chain of chains the validation
// layer does not see what it does to the buffer.
static kp_place step(kp_emitter *e, const kp_place *from, const kp_type *type, const uint32_t *indices,
                     uint32_t count) {
    kp_place place = {.type = type, .storage = from->storage, .memory = from->memory, .scalars = from->scalars};
    place.bits = from->bits;
    place.buffer = from->buffer;
    place.index = from->index;
    place.index_type = from->index_type;
    place.scalars |= from->type != NULL && kp_type_is_struct(from->type);
    uint32_t pointer = pointer_to(e, from->storage, place_type(e, &place, type));
    place.root = from->root != 0 ? from->root : from->pointer;
    if (from->depth + count > sizeof place.path / sizeof *place.path) {
        place.pointer = kp_spirv_access(e->s, pointer, from->pointer, indices, count);
        place.root = place.pointer;
        return place;
    }
    memcpy(place.path, from->path, from->depth * sizeof *place.path);
    memcpy(place.path + from->depth, indices, count * sizeof *place.path);
    place.depth = from->depth + count;
    place.pointer = kp_spirv_access(e->s, pointer, place.root, place.path, place.depth);
    return place;
}

static kp_place element_at(kp_emitter *e, const kp_place *array, uint32_t index) {
    const kp_type *element = array->type->element;
    return array->uniform ? kp_emit_uniform_step(e, array, element, kp_type_size(element), index)
                          : step(e, array, element, &index, 1);
}

uint32_t kp_emit_length(kp_emitter *e, const kp_symbol *buffer) {
    return kp_spirv_array_length(e->s, e->type_u32, buffer->id, 0);
}

// An index, i32 or u32 (check makes one of the two of narrower types). One of 64 bits that 32 do not hold becomes the
// highest u32, which is outside as well.
static uint32_t as_index(kp_emitter *e, kp_node *n, uint32_t value, const kp_type **type) {
    *type = n->type;
    if (kp_dtype_size(n->type->dtype) != 8)
        return value;
    const kp_type *wide = kp_type_scalar(KP_U64);
    value = kp_emit_cast(e, n->type, wide, value);
    *type = kp_type_scalar(KP_U32);
    uint32_t most = kp_emit_constant(e, wide, (kp_value){.i = UINT32_MAX});
    return kp_emit_cast(e, wide, *type, kp_emit_pick(e, wide, false, value, most));
}

// What a fault calls it: a buffer by the name that the kernel has for it, in helpers too, all else as the text does.
static const char *name_of(kp_emitter *e, const kp_node *n) {
    return n->kind == KP_NODE_BUFFER ? n->u.symbol->name->text : kp_ast_text(e->unit, n);
}

uint32_t kp_emit_check_index(kp_emitter *e, const kp_node *of, const kp_node *n, uint32_t given, uint32_t index,
                             const kp_type *type, uint32_t length) {
    if (!e->unit->desc->checked)
        return 0;
    if (kp_type_is_signed(type))
        index = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, index);
    uint32_t words[2], bad = kp_spirv_binary(e->s, SpvOpUGreaterThanEqual, e->type_bool, index, length);
    kp_emit_split(e, n->type, given, words);
    kp_emit_fault(e, KP_LAUNCH_SITE_INDEX, n, bad,
                  &(kp_emit_fault_data){name_of(e, of), {words[0], words[1], length}, 3});
    return e->kernel->has_barrier ? bad : 0;
}

static uint32_t buffer_index(kp_emitter *e, kp_node *n, const kp_type **type, uint32_t *outside) {
    kp_node *node = n->u.subscript.index;
    const kp_symbol *buffer = n->u.subscript.object->u.symbol;
    bool checked = e->unit->desc->checked;
    uint32_t given = kp_emit_expr(e, node), index = as_index(e, node, given, type);
    uint32_t length = 0;
    if (checked || n->from_end)
        length = buffer->type->length != 0 ? kp_emit_u32(e, buffer->type->length) : kp_emit_length(e, buffer);
    if (n->from_end) {
        uint32_t end = kp_spirv_unary(e->s, SpvOpBitcast, e->type_i32, length);
        index = kp_spirv_binary(e->s, SpvOpIAdd, e->type_i32, end, index);
    }
    *outside = kp_emit_check_index(e, n->u.subscript.object, node, given, index, *type, length);
    return index;
}

// A negative one counts from the end, as in Python.
uint32_t kp_emit_bounded_index(kp_emitter *e, const kp_node *of, kp_node *index, uint32_t count, uint32_t *outside) {
    const kp_type *type = index->type;
    uint32_t given = kp_emit_expr(e, index), bad = 0;
    if (index->kind != KP_NODE_CONST) {
        uint32_t value = given;
        if (kp_type_is_signed(type)) {
            uint32_t negative = kp_emit_compare(e, KP_TOKEN_LESS, type, value, kp_emit_number(e, type, 0));
            uint32_t own = kp_emit_type(e, type);
            uint32_t end = kp_spirv_binary(e->s, SpvOpIAdd, own, value, kp_emit_number(e, type, count));
            value = kp_spirv_select(e->s, own, negative, end, value);
        }
        value = as_index(e, index, value, &type);
        if (kp_type_is_signed(type))
            value = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, value);
        bad = kp_emit_check_index(e, of, index, given, value, kp_type_scalar(KP_U32), kp_emit_u32(e, count));
        given = kp_spirv_glsl(e->s, GLSLstd450UMin, e->type_u32, (uint32_t[]){value, kp_emit_u32(e, count - 1)}, 2);
    }
    if (outside != NULL)
        *outside = bad;
    return given;
}

static uint32_t either(kp_emitter *e, uint32_t a, uint32_t b) {
    return a == 0 || b == 0 ? a | b : kp_spirv_binary(e->s, SpvOpLogicalOr, e->type_bool, a, b);
}

uint32_t kp_emit_bounded(kp_emitter *e, kp_node *n) {
    const kp_node *of = n->u.bounded.of;
    kp_node *given = n->u.bounded.given, *at = n->u.bounded.at;
    const kp_type *type = kp_type_scalar(KP_U32);
    uint32_t index, bad = 0;
    if (n->u.bounded.wraps) {
        index = kp_emit_bounded_index(e, of, at, (uint32_t)n->u.bounded.limit->u.value.i, &bad);
    } else {
        uint32_t value = kp_emit_expr(e, at), text = at == given ? value : kp_emit_expr(e, given);
        index = as_index(e, at, value, &type);
        uint32_t limit = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, kp_emit_expr(e, n->u.bounded.limit));
        bad = kp_emit_check_index(e, of, given, text, index, type, limit);
    }
    e->outside = either(e, e->outside, bad);
    return kp_type_is_signed(type) ? index : kp_spirv_unary(e->s, SpvOpBitcast, e->type_i32, index);
}

static kp_place buffer_place(const kp_symbol *buffer) {
    return (kp_place){
        .pointer = buffer->id, .storage = SpvStorageClassStorageBuffer, .memory = true, .bits = buffer->bits};
}

// A value that is in no variable gets one, so that it can be indexed.
static kp_place spilled(kp_emitter *e, kp_node *n) {
    uint32_t value = kp_emit_expr(e, n);
    kp_place place = {.type = n->type, .storage = SpvStorageClassFunction};
    place.pointer = kp_emit_bare_variable(e, n->type, NULL);
    kp_spirv_store(e->s, place.pointer, value);
    return place;
}

static kp_place element_place(kp_emitter *e, kp_node *n) {
    const kp_symbol *buffer = n->u.subscript.object->u.symbol;
    kp_place block = buffer_place(buffer);
    uint32_t indices[2] = {kp_emit_u32(e, 0), 0};
    uint32_t outside, before = e->outside;
    e->outside = 0;
    indices[1] = buffer_index(e, n, &block.index_type, &outside);
    block.index = indices[1];
    block.buffer = buffer;
    kp_place place = step(e, &block, n->type, indices, 2);
    place.outside = either(e, outside, e->outside);
    e->outside = before;
    return place;
}

static kp_place subscript_place(kp_emitter *e, kp_node *n) {
    kp_node *object = n->u.subscript.object;
    if (object->kind == KP_NODE_BUFFER && object->u.symbol->kind == KP_SYMBOL_SHARED)
        return kp_emit_shared_place(e, n);
    if (kp_type_is_image(object->type))
        return kp_emit_pixel_place(e, n);
    if (object->kind == KP_NODE_BUFFER && object->type->kind == KP_TYPE_ARRAY && !object->u.symbol->uniform)
        return element_place(e, n);
    kp_place whole = kp_emit_place(e, object);
    uint32_t count = object->type->kind == KP_TYPE_VECTOR ? object->type->components : object->type->length, outside;
    uint32_t index = kp_emit_bounded_index(e, object, n->u.subscript.index, count, &outside);
    kp_place place = element_at(e, &whole, index);
    place.outside = either(e, whole.outside, outside);
    return place;
}

// An array that a helper was given.
static kp_place array_place(kp_emitter *e, const kp_symbol *symbol) {
    kp_place root = {.type = symbol->whole, .pointer = symbol->id, .storage = SpvStorageClassFunction};
    uint32_t *indices = KP_UNIT_NEW(e->unit, uint32_t, symbol->depth + 1), first = symbol->in_buffer != NULL ? 0 : 1;
    if (symbol->in_buffer != NULL)
        root = buffer_place(symbol->in_buffer);
    if (symbol->depth == 0)
        return root;
    indices[0] = kp_emit_u32(e, 0);
    memcpy(indices + 1, symbol->steps, symbol->depth * sizeof *indices);
    if (symbol->in_buffer != NULL) {
        root.buffer = symbol->in_buffer;
        root.index = symbol->steps[0];
        root.index_type = kp_type_scalar(KP_U32);
    }
    return step(e, &root, symbol->type, indices + first, symbol->depth + 1 - first);
}

// The way in is the root's own, where that is such an array, and what is added to it.
kp_emit_reference kp_emit_refer(kp_emitter *e, kp_node *n) {
    uint32_t more = 0;
    kp_node *root = n;
    for (; root->kind == KP_NODE_SUBSCRIPT; root = root->u.subscript.object)
        more++;
    const kp_symbol *symbol = root->kind == KP_NODE_VARIABLE ? root->u.symbol : NULL;
    bool is_array = symbol != NULL && symbol->kind == KP_SYMBOL_ARRAY;
    uint32_t before = is_array ? symbol->depth : 0;
    kp_emit_reference r = {.depth = before + more, .steps = KP_UNIT_NEW(e->unit, uint32_t, before + more)};
    if (is_array)
        memcpy(r.steps, symbol->steps, before * sizeof *r.steps);
    r.pointer = is_array ? symbol->id : root->kind == KP_NODE_BUFFER ? 0 : kp_emit_place(e, root).pointer;
    kp_node **steps = KP_UNIT_NEW(e->unit, kp_node *, more);
    for (uint32_t i = more; i-- > 0; n = n->u.subscript.object)
        steps[i] = n;
    for (uint32_t i = 0; i < more; i++) {
        const kp_node *object = steps[i]->u.subscript.object;
        kp_node *at = steps[i]->u.subscript.index;
        const kp_type *type = NULL;
        uint32_t outside;
        bool in_buffer = i == 0 && root->kind == KP_NODE_BUFFER;
        uint32_t index = in_buffer ? buffer_index(e, steps[i], &type, &outside)
                                   : kp_emit_bounded_index(e, object, at, object->type->length, &outside);
        bool is_signed = in_buffer ? kp_type_is_signed(type) : at->kind == KP_NODE_CONST;
        r.steps[before + i] = is_signed ? kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, index) : index;
    }
    return r;
}

static kp_place field_place(kp_emitter *e, kp_node *n) {
    kp_place whole = kp_emit_place(e, n->u.field.operand);
    kp_place place = kp_emit_part(e, &whole, n->u.field.index);
    place.outside = whole.outside;
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
        if (n->u.symbol->kind == KP_SYMBOL_ARRAY)
            return array_place(e, n->u.symbol);
        if (!n->u.symbol->stored)
            return spilled(e, n);
        return (kp_place){.type = n->type, .pointer = n->u.symbol->id, .storage = SpvStorageClassFunction};
    case KP_NODE_BUFFER: {
        if (n->u.symbol->uniform)
            return kp_emit_uniform_place(n->u.symbol);
        kp_place block = buffer_place(n->u.symbol);
        uint32_t zero = kp_emit_u32(e, 0);
        return step(e, &block, n->type, &zero, 1);
    }
    case KP_NODE_SUBSCRIPT:
        return subscript_place(e, n);
    case KP_NODE_SWIZZLE:
        return swizzle_place(e, n);
    case KP_NODE_FIELD:
        return field_place(e, n);
    default:
        return spilled(e, n);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Loads and stores
// ---------------------------------------------------------------------------------------------------------------------

static const kp_type *part_type(const kp_type *type, uint32_t index) {
    return kp_type_is_struct(type) ? type->fields[index].type : type->element;
}

kp_place kp_emit_part(kp_emitter *e, const kp_place *place, uint32_t index) {
    const kp_type *type = place->type, *its = part_type(type, index);
    if (place->uniform)
        return kp_emit_uniform_step(
            e, place, its, kp_type_is_struct(type) ? type->fields[index].offset : index * kp_type_size(its), 0);
    uint32_t id = kp_emit_u32(e, index);
    return step(e, place, its, &id, 1);
}

// True for what is loaded and stored at once.
static bool is_plain(const kp_place *place) {
    if (place->uniform)
        return place->type->kind == KP_TYPE_SCALAR;
    if (!place->memory)
        return !place->bits || kp_type_is_value(place->type);
    return kp_type_is_value(place->type) && !is_split(place->type, place->scalars);
}

static uint32_t load_parts(kp_emitter *e, const kp_place *place, uint32_t count) {
    uint32_t few[4], *parts = count <= 4 ? few : KP_UNIT_NEW(e->unit, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        kp_place item = kp_emit_part(e, place, i);
        parts[i] = kp_emit_load(e, &item);
    }
    return kp_spirv_construct(e->s, kp_emit_type(e, place->type), parts, count);
}

static uint32_t load_swizzle(kp_emitter *e, const kp_place *place) {
    uint32_t parts[4];
    for (uint32_t i = 0; i < place->count; i++) {
        kp_place item = kp_emit_part(e, place, place->components[i]);
        parts[i] = kp_emit_load(e, &item);
    }
    if (place->count == 1)
        return parts[0];
    const kp_type *type = kp_type_vector(place->type->dtype, place->count);
    return kp_spirv_construct(e->s, kp_emit_type(e, type), parts, place->count);
}

static uint32_t part_count(const kp_type *type) {
    return type->kind == KP_TYPE_ARRAY    ? type->length
           : type->kind == KP_TYPE_STRUCT ? type->field_count
           : kp_type_is_matrix(type)      ? type->length
                                          : type->components;
}

uint32_t kp_emit_load(kp_emitter *e, const kp_place *place) {
    if (place->image != NULL)
        return kp_emit_read_pixel(e, place);
    if (place->count != 0)
        return load_swizzle(e, place);
    if (place->uniform && is_plain(place))
        return kp_emit_uniform_load(e, place);
    if (!is_plain(place))
        return load_parts(e, place, part_count(place->type));
    uint32_t value = kp_spirv_load(e->s, place_type(e, place, place->type), place->pointer);
    if (is_bits(place->type, place->bits))
        return kp_spirv_unary(e->s, SpvOpBitcast, kp_emit_type(e, place->type), value);
    return is_byte(place) ? from_bytes(e, place->type, value) : value;
}

static void store_all(kp_emitter *e, const kp_place *place, uint32_t value) {
    if (place->image != NULL) {
        kp_emit_write_pixel(e, place, value);
        return;
    }
    if (place->count == 0 && is_plain(place)) {
        if (is_bits(place->type, place->bits))
            value = kp_spirv_unary(e->s, SpvOpBitcast, place_type(e, place, place->type), value);
        kp_spirv_store(e->s, place->pointer, is_byte(place) ? to_bytes(e, place->type, value) : value);
        return;
    }
    uint32_t count = place->count != 0 ? place->count : part_count(place->type);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = kp_emit_type(e, part_type(place->type, i));
        uint32_t item_value = place->count == 1 ? value : kp_spirv_extract(e->s, type, value, i);
        kp_place item = kp_emit_part(e, place, place->count != 0 ? place->components[i] : i);
        kp_emit_store(e, &item, item_value);
    }
}

void kp_emit_store(kp_emitter *e, const kp_place *place, uint32_t value) {
    if (place->outside == 0) {
        store_all(e, place, value);
        return;
    }
    uint32_t inside = kp_spirv_id(e->s), end = kp_spirv_id(e->s);
    kp_spirv_select_branch(e->s, place->outside, end, inside, end);
    kp_spirv_label(e->s, inside);
    store_all(e, place, value);
    kp_spirv_branch(e->s, end);
    kp_spirv_label(e->s, end);
}

bool kp_emit_in_memory(const kp_node *n) {
    if (n->kind == KP_NODE_VARIABLE)
        return kp_symbol_is_kept(n->u.symbol);
    if (n->kind == KP_NODE_SUBSCRIPT && kp_type_is_image(n->u.subscript.object->type))
        return false;
    if (n->kind == KP_NODE_SUBSCRIPT)
        return n->u.subscript.object->type->kind == KP_TYPE_ARRAY || kp_emit_in_memory(n->u.subscript.object);
    if (n->kind == KP_NODE_FIELD)
        return kp_emit_in_memory(n->u.field.operand);
    return n->kind == KP_NODE_BUFFER;
}

// ---------------------------------------------------------------------------------------------------------------------
// Large arrays
// ---------------------------------------------------------------------------------------------------------------------

bool kp_emit_is_large(const kp_type *type) {
    enum { FEW = 16 };
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (kp_emit_is_large(type->fields[i].type))
            return true;
    }
    return type->kind == KP_TYPE_ARRAY && kp_type_scalars(type) > FEW;
}

static void fill_item(kp_emitter *e, const kp_place *item, uint32_t value) {
    if (value == 0 && kp_emit_is_large(item->type)) {
        kp_emit_fill(e, item, 0);
        return;
    }
    kp_emit_store(e, item, value != 0 ? value : kp_spirv_constant_null(e->s, kp_emit_type(e, item->type)));
}

static void copy_item(kp_emitter *e, const kp_place *to, const kp_place *from) {
    if (kp_emit_is_large(to->type))
        kp_emit_copy(e, to, from);
    else
        kp_emit_store(e, to, kp_emit_load(e, from));
}

// for k in range(length): to[k] = from[k], or the value where `from` is NULL
static void each_item(kp_emitter *e, const kp_place *to, const kp_place *from, uint32_t value) {
    kp_spirv *s = e->s;
    uint32_t header = kp_spirv_id(s), head = kp_spirv_id(s), body = kp_spirv_id(s), next = kp_spirv_id(s);
    uint32_t merge = kp_spirv_id(s), counter = kp_emit_variable(e, kp_type_scalar(KP_U32), NULL);
    kp_spirv_store(s, counter, kp_emit_u32(e, 0));
    kp_spirv_branch(s, header);
    kp_spirv_label(s, header);
    kp_spirv_loop(s, merge, next, SpvLoopControlDontUnrollMask, head);
    kp_spirv_label(s, head);
    uint32_t k = kp_spirv_load(s, e->type_u32, counter);
    uint32_t goes_on = kp_spirv_binary(s, SpvOpULessThan, e->type_bool, k, kp_emit_u32(e, to->type->length));
    kp_spirv_branch_if(s, goes_on, body, merge);
    kp_spirv_label(s, body);
    kp_place item = element_at(e, to, k);
    if (from != NULL) {
        kp_place source = element_at(e, from, k);
        copy_item(e, &item, &source);
    } else {
        fill_item(e, &item, value);
    }
    kp_spirv_branch(s, next);
    kp_spirv_label(s, next);
    kp_spirv_store(s, counter, kp_spirv_binary(s, SpvOpIAdd, e->type_u32, k, kp_emit_u32(e, 1)));
    kp_spirv_branch(s, header);
    kp_spirv_label(s, merge);
}

// The fields of a struct, one by one.
static void each_field(kp_emitter *e, const kp_place *to, const kp_place *from) {
    for (uint32_t i = 0; i < to->type->field_count; i++) {
        kp_place part = kp_emit_part(e, to, i);
        if (from != NULL) {
            kp_place source = kp_emit_part(e, from, i);
            copy_item(e, &part, &source);
        } else {
            fill_item(e, &part, 0);
        }
    }
}

void kp_emit_fill(kp_emitter *e, const kp_place *array, uint32_t value) {
    if (kp_type_is_struct(array->type))
        each_field(e, array, NULL);
    else
        each_item(e, array, NULL, value);
}

void kp_emit_copy(kp_emitter *e, const kp_place *to, const kp_place *from) {
    if (kp_type_is_struct(to->type))
        each_field(e, to, from);
    else
        each_item(e, to, from, 0);
}
