// Expressions. Every expression becomes one SPIR-V id; what Python evaluates only sometimes (and, or, if
// else) goes under a branch, unless it is so cheap and harmless that doing it always costs less.
#include "emitter.h"

#include "fold.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Constants
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t float_bits(double x) {
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint64_t double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t scalar_constant(kp_emitter *e, const kp_type *type, kp_value value) {
    uint32_t id = kp_emit_type(e, type);
    switch (type->dtype) {
    case KP_BOOL:
        return kp_spirv_constant_bool(e->s, value.i != 0);
    case KP_F16:
        return kp_spirv_constant(e->s, id, kp_fold_half_bits(value.f));
    case KP_F64:
        return kp_spirv_constant_wide(e->s, id, double_bits(value.f));
    case KP_I64:
    case KP_U64:
        return kp_spirv_constant_wide(e->s, id, (uint64_t)value.i);
    case KP_F32:
        return kp_spirv_constant(e->s, id, float_bits(value.f));
    default:
        return kp_spirv_constant(e->s, id, (uint32_t)value.i);
    }
}

uint32_t kp_emit_constant(kp_emitter *e, const kp_type *type, kp_value value) {
    if (type->kind != KP_TYPE_VECTOR)
        return scalar_constant(e, type, value);
    uint32_t part = scalar_constant(e, type->element, value);
    uint32_t parts[4] = {part, part, part, part};
    return kp_spirv_constant_composite(e->s, kp_emit_type(e, type), parts, type->components);
}

uint32_t kp_emit_number(kp_emitter *e, const kp_type *type, double value) {
    return kp_emit_constant(e, type, kp_type_is_float(type) ? (kp_value){.f = value} : (kp_value){.i = (int64_t)value});
}

// ---------------------------------------------------------------------------------------------------------------------
// Cheap expressions
// ---------------------------------------------------------------------------------------------------------------------

static bool cheap_operator(kp_token_kind op) {
    return op == KP_TOKEN_PLUS || op == KP_TOKEN_MINUS || op == KP_TOKEN_STAR || op == KP_TOKEN_AMPERSAND ||
           op == KP_TOKEN_BAR || op == KP_TOKEN_CARET;
}

// True for an expression that reads no buffer, cannot misbehave and takes few instructions; *left counts those down.
static bool is_cheap(const kp_node *n, int *left) {
    if (--*left < 0)
        return false;
    switch (n->kind) {
    case KP_NODE_CONST:
    case KP_NODE_VARIABLE:
    case KP_NODE_TARGET:
        return true;
    case KP_NODE_CAST:
        return is_cheap(n->u.operand, left);
    case KP_NODE_UNARY:
        return is_cheap(n->u.operand, left);
    case KP_NODE_SWIZZLE:
        return is_cheap(n->u.swizzle.operand, left);
    case KP_NODE_FIELD:
        return is_cheap(n->u.field.operand, left);
    case KP_NODE_BINARY:
        return cheap_operator(n->op) && is_cheap(n->u.binary.left, left) && is_cheap(n->u.binary.right, left);
    case KP_NODE_COMPARE:
        return n->u.compare.list.count == 2 && !kp_check_is_member(n) && is_cheap(n->u.compare.lefts[0], left) &&
               is_cheap(n->u.compare.rights[0], left);
    default:
        return false;
    }
}

static bool cheap(const kp_node *n) {
    int left = 8;
    return is_cheap(n, &left);
}

// ---------------------------------------------------------------------------------------------------------------------
// Choices
// ---------------------------------------------------------------------------------------------------------------------

// One operand of a chain of `and`s or `or`s; `payload` is the node that it belongs to.
typedef uint32_t item_fn(kp_emitter *e, kp_node *payload, uint32_t index);

// item 0 and item 1 and ...: each later one in a selection of its own, which runs when the value so far does not
// decide: one after the other, not nested, so that a chain may be long. Bools are their own truth; `type` says what
// others are.
static uint32_t junction(kp_emitter *e, kp_node *n, item_fn *item, uint32_t count, bool is_and, const kp_type *type) {
    kp_spirv *s = e->s;
    const kp_type *truth = kp_type_scalar(KP_BOOL);
    uint32_t value = item(e, n, 0);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t test = type == truth ? value : kp_emit_cast(e, type, truth, value);
        uint32_t next = kp_spirv_id(s), merge = kp_spirv_id(s), from = s->block;
        kp_spirv_select_branch(s, test, is_and ? next : merge, is_and ? merge : next, merge);
        kp_spirv_label(s, next);
        uint32_t more = item(e, n, i), more_from = s->block;
        kp_spirv_branch(s, merge);
        kp_spirv_label(s, merge);
        value = kp_spirv_phi(s, kp_emit_type(e, type), value, from, more, more_from);
        if (n->kind == KP_NODE_COMPARE) {
            uint32_t side = kp_emit_type(e, n->u.compare.rights[i]->type);
            n->u.compare.kept =
                kp_spirv_phi(s, side, kp_spirv_constant_null(s, side), from, n->u.compare.kept, more_from);
        }
    }
    return value;
}

static uint32_t bool_item(kp_emitter *e, kp_node *n, uint32_t index) { return kp_emit_expr(e, n->u.list.items[index]); }

static uint32_t emit_junction(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.list;
    bool is_and = n->op == KP_TOKEN_AND, all_cheap = kp_type_is_bool(n->type);
    for (uint32_t i = 1; i < list.count && all_cheap; i++)
        all_cheap = cheap(list.items[i]);
    if (!all_cheap)
        return junction(e, n, bool_item, list.count, is_and, n->type);
    uint32_t value = kp_emit_expr(e, list.items[0]);
    for (uint32_t i = 1; i < list.count; i++)
        value = kp_spirv_binary(e->s, is_and ? SpvOpLogicalAnd : SpvOpLogicalOr, e->type_bool, value,
                                kp_emit_expr(e, list.items[i]));
    return value;
}

// A middle operand is evaluated once: as the right side of one comparison, then kept as the left side of the next. The
// two may have been converted to different types, which both have its value.
static uint32_t compare_item(kp_emitter *e, kp_node *n, uint32_t index) {
    kp_node *before = index > 0 ? n->u.compare.rights[index - 1] : NULL, *now = n->u.compare.lefts[index];
    bool again = before != NULL && now->kind != KP_NODE_CONST && before->kind != KP_NODE_CONST;
    uint32_t left = again ? kp_emit_cast(e, before->type, now->type, n->u.compare.kept) : kp_emit_expr(e, now);
    uint32_t right = kp_emit_expr(e, n->u.compare.rights[index]);
    n->u.compare.kept = right;
    return kp_emit_compare(e, n->u.compare.ops[index], n->u.compare.lefts[index]->type, left, right);
}

// x is worked out once.
static uint32_t emit_member(kp_emitter *e, kp_node *n) {
    const kp_node *x = n->u.compare.list.items[0];
    uint32_t kept = x->kind != KP_NODE_CONST ? kp_emit_expr(e, n->u.compare.list.items[0]) : 0, found = 0;
    for (uint32_t i = 0; i + 1 < n->u.compare.list.count; i++) {
        kp_node *left = n->u.compare.lefts[i];
        uint32_t own = kept != 0 ? kp_emit_cast(e, x->type, left->type, kept) : kp_emit_expr(e, left);
        uint32_t other = kp_emit_expr(e, n->u.compare.rights[i]);
        uint32_t same = kp_emit_compare(e, KP_TOKEN_EQUAL, left->type, own, other);
        found = found == 0 ? same : kp_spirv_binary(e->s, SpvOpLogicalOr, e->type_bool, found, same);
    }
    bool negated = n->u.compare.ops[0] == KP_TOKEN_NOT;
    return negated ? kp_spirv_unary(e->s, SpvOpLogicalNot, e->type_bool, found) : found;
}

static uint32_t emit_comparison(kp_emitter *e, kp_node *n) {
    if (kp_check_is_member(n))
        return emit_member(e, n);
    uint32_t pairs = n->u.compare.list.count - 1;
    bool all_cheap = true;
    for (uint32_t i = 1; i < pairs; i++)
        all_cheap &= cheap(n->u.compare.rights[i]);
    if (!all_cheap)
        return junction(e, n, compare_item, pairs, true, kp_type_scalar(KP_BOOL));
    uint32_t value = compare_item(e, n, 0);
    for (uint32_t i = 1; i < pairs; i++)
        value = kp_spirv_binary(e->s, SpvOpLogicalAnd, e->type_bool, value, compare_item(e, n, i));
    return value;
}

static uint32_t spread(kp_emitter *e, uint32_t value, uint32_t type, uint32_t count) {
    uint32_t parts[4] = {value, value, value, value};
    return kp_spirv_construct(e->s, type, parts, count);
}

static uint32_t emit_cond(kp_emitter *e, kp_node *n) {
    kp_spirv *s = e->s;
    uint32_t type = kp_emit_type(e, n->type);
    uint32_t test = kp_emit_expr(e, n->u.cond.test);
    bool whole = kp_type_is_struct(n->type) || kp_type_is_matrix(n->type);
    if (!whole && cheap(n->u.cond.yes) && cheap(n->u.cond.no)) {
        uint32_t yes = kp_emit_expr(e, n->u.cond.yes), no = kp_emit_expr(e, n->u.cond.no);
        if (n->type->components > 1)
            test = spread(e, test, kp_emit_bool_type(e, n->type->components), n->type->components);
        return kp_spirv_select(s, type, test, yes, no);
    }
    uint32_t yes_label = kp_spirv_id(s), no_label = kp_spirv_id(s), merge = kp_spirv_id(s);
    kp_spirv_select_branch(s, test, yes_label, no_label, merge);
    kp_spirv_label(s, yes_label);
    uint32_t yes = kp_emit_expr(e, n->u.cond.yes), yes_block = s->block;
    kp_spirv_branch(s, merge);
    kp_spirv_label(s, no_label);
    uint32_t no = kp_emit_expr(e, n->u.cond.no), no_block = s->block;
    kp_spirv_branch(s, merge);
    kp_spirv_label(s, merge);
    return kp_spirv_phi(s, type, yes, yes_block, no, no_block);
}

// ---------------------------------------------------------------------------------------------------------------------

static uint32_t emit_variable(kp_emitter *e, kp_node *n) {
    if (!kp_symbol_is_kept(n->u.symbol))
        return n->u.symbol->id;
    if (n->u.symbol->kind == KP_SYMBOL_ARRAY) {
        kp_place place = kp_emit_place(e, n);
        return kp_emit_load(e, &place);
    }
    return kp_spirv_load(e->s, kp_emit_type(e, n->type), n->u.symbol->id);
}

static uint32_t emit_swizzle(kp_emitter *e, kp_node *n) {
    kp_node *operand = n->u.swizzle.operand;
    if (n->u.swizzle.count == 1 && kp_emit_in_memory(operand)) {
        kp_place place = kp_emit_place(e, n);
        return kp_emit_load(e, &place);
    }
    uint32_t vector = kp_emit_expr(e, operand), type = kp_emit_type(e, n->type);
    if (n->u.swizzle.count == 1)
        return kp_spirv_extract(e->s, type, vector, n->u.swizzle.components[0]);
    return kp_spirv_shuffle(e->s, type, vector, n->u.swizzle.components, n->u.swizzle.count);
}

static uint32_t emit_field(kp_emitter *e, kp_node *n) {
    if (kp_emit_in_memory(n)) {
        kp_place place = kp_emit_place(e, n);
        return kp_emit_load(e, &place);
    }
    uint32_t whole = kp_emit_expr(e, n->u.field.operand);
    return kp_spirv_extract(e->s, kp_emit_type(e, n->type), whole, n->u.field.index);
}

static uint32_t emit_subscript(kp_emitter *e, kp_node *n) {
    kp_node *object = n->u.subscript.object;
    if (object->type->kind == KP_TYPE_ARRAY || kp_type_is_image(object->type) || kp_emit_in_memory(n)) {
        kp_place place = kp_emit_place(e, n);
        return kp_emit_load(e, &place);
    }
    if (kp_type_is_matrix(object->type) && n->u.subscript.index->kind != KP_NODE_CONST) {
        kp_place place = kp_emit_place(e, n);
        return kp_emit_load(e, &place);
    }
    uint32_t vector = kp_emit_expr(e, object);
    if (kp_type_is_matrix(object->type))
        return kp_spirv_extract(e->s, kp_emit_type(e, n->type), vector, (uint32_t)n->u.subscript.index->u.value.i);
    uint32_t index = kp_emit_bounded_index(e, object, n->u.subscript.index, object->type->components, NULL);
    return kp_spirv_extract_dynamic(e->s, kp_emit_type(e, n->type), vector, index);
}

static bool all_constant(const kp_node *n) {
    if (n->kind != KP_NODE_ARRAY)
        return n->kind == KP_NODE_CONST;
    for (uint32_t i = 0; i < n->u.array.list.count; i++) {
        if (!all_constant(n->u.array.list.items[i]))
            return false;
    }
    return true;
}

static uint32_t emit_array(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.array.list;
    uint32_t type = kp_emit_type(e, n->type), length = n->type->length;
    if (list.count == 0)
        return kp_spirv_constant_null(e->s, type);
    uint32_t *parts = KP_UNIT_NEW(e->unit, uint32_t, length);
    for (uint32_t i = 0; i < list.count; i++)
        parts[i] = kp_emit_expr(e, list.items[i]);
    for (uint32_t i = list.count; i < length; i++)
        parts[i] = parts[i - list.count];
    return all_constant(n) ? kp_spirv_constant_composite(e->s, type, parts, length)
                           : kp_spirv_construct(e->s, type, parts, length);
}

static uint32_t emit_construct(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.list;
    uint32_t parts[4];
    bool constants = list.count == n->type->components;
    for (uint32_t i = 0; i < list.count; i++) {
        constants &= list.items[i]->kind == KP_NODE_CONST;
        parts[i] = kp_emit_expr(e, list.items[i]);
    }
    if (constants)
        return kp_spirv_constant_composite(e->s, kp_emit_type(e, n->type), parts, list.count);
    return kp_spirv_construct(e->s, kp_emit_type(e, n->type), parts, list.count);
}

static uint32_t emit_make(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.make.list;
    uint32_t type = kp_emit_type(e, n->type), *parts = KP_UNIT_NEW(e->unit, uint32_t, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        parts[n->u.make.positions[i]] = kp_emit_expr(e, list.items[i]);
    return list.count == 0 ? kp_spirv_constant_null(e->s, type) : kp_spirv_construct(e->s, type, parts, list.count);
}

static uint32_t emit_cast(kp_emitter *e, kp_node *n) {
    kp_node *operand = n->u.operand;
    if (n->type->kind != KP_TYPE_VECTOR || operand->type->kind == KP_TYPE_VECTOR) {
        uint32_t value = kp_emit_expr(e, operand);
        if (kp_emit_is_checked(e) && kp_type_is_float(operand->type) && kp_type_is_int(n->type))
            kp_emit_check_whole(e, operand, operand->type, value);
        return kp_emit_cast(e, operand->type, n->type, value);
    }
    if (operand->kind == KP_NODE_CONST)
        return kp_emit_constant(e, n->type, operand->u.value);
    uint32_t value = kp_emit_expr(e, operand);
    return spread(e, value, kp_emit_type(e, n->type), n->type->components);
}

// The constants are an array in a variable; an index outside of it takes the last one.
static uint32_t emit_table(kp_emitter *e, kp_node *n) {
    kp_spirv *s = e->s;
    kp_list list = n->u.table.list;
    uint32_t type = kp_emit_type(e, n->type), *parts = KP_UNIT_NEW(e->unit, uint32_t, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        parts[i] = kp_emit_expr(e, list.items[i]);
    uint32_t array = kp_spirv_type_array(s, type, list.count, 0);
    uint32_t constants = kp_spirv_constant_composite(s, array, parts, list.count);
    uint32_t variable = kp_spirv_local(s, kp_spirv_type_pointer(s, SpvStorageClassFunction, array), constants);
    uint32_t outside = e->outside; // of the index that this is part of, if any
    uint32_t index = kp_emit_bounded_index(e, n->u.table.of, n->u.table.index, list.count, NULL);
    e->outside = outside;
    uint32_t pointer = kp_spirv_type_pointer(s, SpvStorageClassFunction, type);
    return kp_spirv_load(s, type, kp_spirv_access(s, pointer, variable, &index, 1));
}

static uint32_t emit_binary(kp_emitter *e, kp_node *n) {
    kp_list edge = kp_ast_left_edge(e->unit, n);
    uint32_t value = kp_emit_expr(e, edge.items[0]->u.binary.left);
    for (uint32_t i = 0; i < edge.count; i++)
        value = kp_emit_binary(e, edge.items[i], value);
    return value;
}

uint32_t kp_emit_expr(kp_emitter *e, kp_node *n) {
    switch (n->kind) {
    case KP_NODE_CONST:
        return kp_emit_constant(e, n->type, n->u.value);
    case KP_NODE_VARIABLE:
        return emit_variable(e, n);
    case KP_NODE_BUFFER: {
        kp_place place = kp_emit_place(e, n);
        return kp_emit_load(e, &place);
    }
    case KP_NODE_TARGET:
        return e->target;
    case KP_NODE_UNARY:
        return kp_emit_unary(e, n->op, n->type, kp_emit_expr(e, n->u.operand));
    case KP_NODE_BINARY:
        return emit_binary(e, n);
    case KP_NODE_COMPARE:
        return emit_comparison(e, n);
    case KP_NODE_BOOL:
        return emit_junction(e, n);
    case KP_NODE_COND:
        return emit_cond(e, n);
    case KP_NODE_CAST:
        return emit_cast(e, n);
    case KP_NODE_SWIZZLE:
        return emit_swizzle(e, n);
    case KP_NODE_FIELD:
        return emit_field(e, n);
    case KP_NODE_SUBSCRIPT:
        return emit_subscript(e, n);
    case KP_NODE_LENGTH:
        if (kp_type_is_image(n->u.symbol->type))
            return kp_emit_image_size(e, n->u.symbol);
        return kp_spirv_unary(e->s, SpvOpBitcast, e->type_i32, kp_emit_length(e, n->u.symbol));
    case KP_NODE_SHAPE:
        return kp_spirv_load(e->s, e->type_i32, n->u.shape.symbol->shape[n->u.shape.axis]);
    case KP_NODE_BOUNDED:
        return kp_emit_bounded(e, n);
    case KP_NODE_CONSTRUCT:
        return emit_construct(e, n);
    case KP_NODE_MAKE:
        return emit_make(e, n);
    case KP_NODE_TABLE:
        return emit_table(e, n);
    case KP_NODE_INVOKE:
        return kp_emit_invoke(e, n);
    case KP_NODE_LIBRARY:
        return kp_emit_library(e, n);
    case KP_NODE_ARRAY:
        return emit_array(e, n);
    case KP_NODE_COPY:
        return kp_emit_expr(e, n->u.operand);
    default:
        return kp_emit_call(e, n);
    }
}
