// The functions of the bits of numbers (builtins.def, BITS): types, and what they refuse. bit_count and bit_length are
// methods of an integer too, as Python has them.
#include "checker.h"

#include "builtin.h"
#include "fold.h"

#include <string.h>

static void want_integer(kp_checker *c, const kp_node *value, const kp_builtin *row) {
    const kp_type *type = value->type;
    if (kp_type_is_float(type) && (kp_type_is_scalar(type) || type->kind == KP_TYPE_VECTOR))
        kp_check_fail(c, value, "%s takes integers, but this is %s; its bits are bitcast(u%u, %s)", row->name,
                      type->name, 8 * (unsigned)kp_dtype_size(type->dtype), kp_check_text(c, value));
    if (!kp_type_is_int(type) || kp_type_is_bool(type) || kp_type_is_matrix(type))
        kp_check_fail(c, value, "%s takes integers, but this is %s", row->name, type->name);
}

// A literal is as wide as what it becomes.
static kp_node *settle_bits(kp_checker *c, kp_node *value, kp_dtype to) {
    if (value->kind != KP_NODE_CONST || value->type != kp_type_int_literal())
        return kp_check_settle(c, value);
    bool below = kp_fold_compare(KP_TOKEN_LESS, value->type, value->u.value, (kp_value){0});
    return kp_check_coerce(c, value, kp_type_scalar(kp_type_int_like(to, below)), "bitcast");
}

// bitcast(f32, n): the number that has those bits. The type is a scalar for each component, or the whole.
static kp_node *bitcast(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    const kp_type *to = kp_signature_value_type(c, list.items[0]);
    kp_check_arguments(c, (kp_list){.items = list.items + 1, .count = 1}, row->name);
    kp_node *value = list.items[1];
    if (!kp_type_is_numeric(to) || kp_type_is_bool(to) || kp_type_is_matrix(to))
        kp_check_fail(c, list.items[0], "bitcast gives numbers and vectors of them, but this is %s", to->name);
    value = settle_bits(c, value, to->dtype);
    const kp_type *from = value->type;
    if (!kp_type_is_numeric(from) || kp_type_is_bool(from) || kp_type_is_matrix(from))
        kp_check_fail(c, list.items[1], "bitcast takes numbers and vectors of them, but this is %s", from->name);
    if (kp_type_is_scalar(to))
        to = kp_type_vector(to->dtype, kp_type_components(from));
    if (kp_type_components(to) != kp_type_components(from))
        kp_check_fail(c, n, "%s %s cannot become %s %s", kp_check_article(from->name), from->name,
                      kp_check_article(to->name), to->name);
    if (kp_dtype_size(to->dtype) != kp_dtype_size(from->dtype))
        kp_check_fail(c, n, "bitcast keeps the size, but %s has %u bits and %s has %u",
                      kp_type_scalar(from->dtype)->name, 8 * (unsigned)kp_dtype_size(from->dtype),
                      kp_type_scalar(to->dtype)->name, 8 * (unsigned)kp_dtype_size(to->dtype));
    if (to->dtype == from->dtype)
        return value;
    list.items[1] = value;
    return kp_check_builtin(c, n, row, list, to);
}

static kp_node *mul_hi(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    want_integer(c, list.items[1], row);
    kp_check_unify(c, n, row->name, &list.items[0], &list.items[1]);
    list.items[0] = kp_check_settle(c, list.items[0]);
    list.items[1] = kp_check_settle(c, list.items[1]);
    const kp_type *type = list.items[0]->type;
    if (kp_dtype_size(type->dtype) == 8)
        kp_check_fail(c, n, "mul_hi takes integers of at most 32 bits, but this is %s", type->name);
    return kp_check_builtin(c, n, row, list, type);
}

kp_node *kp_check_bits(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    if (row->op == KP_BITS_CAST)
        return bitcast(c, n, row, list);
    kp_check_arguments(c, list, row->name);
    want_integer(c, list.items[0], row);
    if (row->op == KP_BITS_MUL_HI)
        return mul_hi(c, n, row, list);
    list.items[0] = kp_check_settle(c, list.items[0]);
    const kp_type *type = list.items[0]->type;
    if (row->op != KP_BITS_REVERSE)
        type = kp_type_vector(KP_I32, kp_type_components(type));
    return kp_check_builtin(c, n, row, list, type);
}

kp_node *kp_check_bits_method(kp_checker *c, kp_node *n) {
    kp_node *callee = n->u.call.callee;
    if (callee->kind != KP_NODE_ATTRIBUTE)
        return NULL;
    const kp_builtin *row = kp_builtin_find(callee->u.attribute.name);
    if (row == NULL || row->rule != KP_BUILTIN_BITS || (row->op != KP_BITS_COUNT && row->op != KP_BITS_LENGTH))
        return NULL;
    if (n->u.call.list.count != 0)
        kp_check_fail(c, n, "%s takes no arguments behind the dot", row->name);
    kp_list list = {.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    list.items[0] = callee->u.attribute.object;
    return kp_check_bits(c, n, row, list);
}
