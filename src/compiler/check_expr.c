// Expressions. A literal stays of a literal type until something asks for a type; kp_check_coerce then makes it one.
// Constants are folded as they are met (fold.h).
#include "checker.h"

#include "builtin.h"
#include "fold.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Conversions
// ---------------------------------------------------------------------------------------------------------------------

kp_node *kp_check_constant(kp_checker *c, const kp_node *like, const kp_type *type, kp_value value) {
    kp_node *n = kp_check_new(c, KP_NODE_CONST, like, type);
    n->u.value = value;
    return n;
}

static kp_node *truth_constant(kp_checker *c, const kp_node *like, bool value) {
    return kp_check_constant(c, like, kp_type_scalar(KP_BOOL), (kp_value){.i = value});
}

static kp_node *cast_node(kp_checker *c, kp_node *n, const kp_type *type) {
    kp_node *cast = kp_check_new(c, KP_NODE_CAST, n, type);
    cast->u.operand = n;
    return cast;
}

// A literal of `type`, which it may convert to. Literals that are not constant are choices between constants.
static kp_node *adapt(kp_checker *c, kp_node *n, const kp_type *type) {
    if (type->kind == KP_TYPE_VECTOR)
        return cast_node(c, adapt(c, n, type->element), type);
    if (n->kind == KP_NODE_COND) {
        n->u.cond.yes = adapt(c, n->u.cond.yes, type);
        n->u.cond.no = adapt(c, n->u.cond.no, type);
        n->type = type;
        return n;
    }
    if (n->kind == KP_NODE_BOOL) {
        for (uint32_t i = 0; i < n->u.list.count; i++)
            n->u.list.items[i] = adapt(c, n->u.list.items[i], type);
        n->type = type;
        return n;
    }
    if (!kp_fold_fits(n->type, type, n->u.value)) {
        if (kp_type_is_float(type))
            kp_check_fail(c, n, "%lld is not exact in %s; write %s(%lld)", (long long)n->u.value.i, type->name,
                          type->name, (long long)n->u.value.i);
        if (!kp_type_is_signed(type))
            kp_check_fail(c, n, "%lld does not fit in %s, which holds 0 to %llu", (long long)n->u.value.i, type->name,
                          (unsigned long long)kp_type_most(type->dtype));
        const char *wider = type->dtype != KP_I32                                       ? ""
                            : kp_fold_fits(n->type, kp_type_scalar(KP_U32), n->u.value) ? "; a u32 holds it"
                                                                                        : "; an i64 holds it";
        kp_check_fail(c, n, "%lld does not fit in %s, which holds %lld to %lld%s", (long long)n->u.value.i, type->name,
                      (long long)kp_type_least(type->dtype), (long long)kp_type_most(type->dtype), wider);
    }
    kp_value value = kp_fold_cast(n->type, type, n->u.value);
    if (kp_type_is_float(type) && isinf(value.f) && kp_type_is_float(n->type) && !isinf(n->u.value.f))
        kp_check_fail(c, n, "%g is too large for %s", n->u.value.f, type->name);
    return kp_check_constant(c, n, type, value);
}

// True when a literal becomes the type without a word: integers any number, floats any float.
static bool adapts(const kp_type *literal, const kp_type *type) {
    if (!kp_type_is_literal(literal) || kp_type_is_literal(type))
        return false;
    return literal->kind == KP_TYPE_INT_LITERAL ? kp_type_is_numeric(type) : kp_type_is_float(type);
}

const kp_type *kp_check_settle_type(const kp_type *type) {
    if (!kp_type_is_literal(type))
        return type;
    return kp_type_scalar(type->kind == KP_TYPE_INT_LITERAL ? KP_I32 : KP_F32);
}

// True when a typed value becomes the type without a word, because that has every value of its own.
bool kp_check_widens(const kp_type *from, const kp_type *to) {
    return kp_type_is_value(from) && kp_type_is_value(to) && from->components == to->components &&
           kp_type_holds(to->dtype, from->dtype);
}

kp_node *kp_check_settle(kp_checker *c, kp_node *n) {
    if (kp_check_array_is_literal(n->type))
        return kp_check_array_settle(c, n);
    return kp_type_is_literal(n->type) ? adapt(c, n, kp_check_settle_type(n->type)) : n;
}

kp_node *kp_check_coerce(kp_checker *c, kp_node *n, const kp_type *type, const char *where) {
    if (n->type == type)
        return n;
    if (adapts(n->type, type))
        return adapt(c, n, type);
    if (kp_check_widens(n->type, type))
        return kp_check_cast(c, n, type);
    if (kp_check_array_is_literal(n->type))
        return kp_check_array_adapt(c, n, type, where);
    if (kp_type_is_alike(n->type, type))
        kp_check_fail(c, n, "%s is %s, but this is %s; write %s(%s)", where, type->name, n->type->name, type->name,
                      kp_check_text(c, n));
    kp_check_fail(c, n, "%s is %s, but this is %s", where, type->name, n->type->name);
}

kp_node *kp_check_cast(kp_checker *c, kp_node *n, const kp_type *type) {
    if (n->type == type)
        return n;
    if (n->kind == KP_NODE_CONST && kp_type_is_float(n->type) && kp_type_is_int(type) && !isfinite(n->u.value.f))
        kp_check_fail(c, n, "cannot convert float %s to integer", isnan(n->u.value.f) ? "NaN" : "infinity");
    if (n->kind == KP_NODE_CONST && type->kind != KP_TYPE_VECTOR)
        return kp_check_constant(c, n, type, kp_fold_cast(n->type, type, n->u.value));
    n = kp_check_settle(c, n);
    if (n->type == type)
        return n;
    if (type->kind == KP_TYPE_VECTOR && kp_type_is_scalar(n->type) && n->type != type->element)
        n = kp_check_cast(c, n, type->element);
    return cast_node(c, n, type);
}

void kp_check_before(kp_checker *c, kp_node *statement) {
    if (c->prelude_last != NULL)
        c->prelude_last->next = statement;
    else
        c->prelude = statement;
    c->prelude_last = statement;
}

kp_node *kp_check_new_temporary(kp_checker *c, const kp_node *like, const kp_type *type) {
    kp_symbol *symbol = kp_scope_add(c->unit, &c->scope, KP_SYMBOL_LOCAL, NULL);
    symbol->type = type;
    symbol->stored = symbol->reached = true;
    kp_node *variable = kp_check_new(c, KP_NODE_VARIABLE, like, type);
    variable->u.symbol = symbol;
    return variable;
}

kp_node *kp_check_temporary(kp_checker *c, kp_node *value) {
    if (value->kind == KP_NODE_CONST)
        return value;
    kp_node *target = kp_check_new_temporary(c, value, value->type);
    kp_node *assign = kp_check_new(c, KP_NODE_ASSIGN, value, NULL);
    assign->u.assign.targets = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    assign->u.assign.targets.items[0] = target;
    assign->u.assign.value = kp_check_new(c, KP_NODE_TUPLE, value, NULL);
    assign->u.assign.value->u.list = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    assign->u.assign.value->u.list.items[0] = value;
    kp_check_before(c, assign);
    return target;
}

// ---------------------------------------------------------------------------------------------------------------------
// Two operands
// ---------------------------------------------------------------------------------------------------------------------

static _Noreturn void fail_pair(kp_checker *c, const kp_node *at, const char *what, kp_node *left, kp_node *right) {
    const char *l = left->type->name, *r = right->type->name;
    bool numeric = kp_type_is_numeric(left->type) && kp_type_is_numeric(right->type);
    bool scalars = kp_type_is_scalar(left->type) && kp_type_is_scalar(right->type);
    if (!numeric || left->type->kind == KP_TYPE_ARRAY || right->type->kind == KP_TYPE_ARRAY)
        kp_check_fail(c, at, "%s takes two values of one type, but these are %s and %s", what, l, r);
    bool to_left = !kp_type_is_float(right->type); // towards the float, else towards the left side
    kp_node *from = to_left ? right : left;
    const kp_type *to = to_left ? left->type : right->type;
    if (kp_type_is_literal(to))
        to = kp_type_scalar(KP_F32);
    if (to->kind == KP_TYPE_VECTOR && kp_type_is_scalar(from->type))
        to = to->element;
    if (scalars || kp_type_components(from->type) == kp_type_components(to))
        kp_check_fail(c, at, "%s takes two values of one type, but these are %s and %s; write %s(%s)", what, l, r,
                      to->name, kp_check_text(c, from));
    kp_check_fail(c, at, "%s takes two values of one type, but these are %s and %s", what, l, r);
}

static bool both_constant(const kp_node *a, const kp_node *b) {
    return a->kind == KP_NODE_CONST && b->kind == KP_NODE_CONST;
}

// Two literals: of one literal type when both are constant, else settled.
static void unify_literals(kp_checker *c, kp_node **left, kp_node **right) {
    bool is_float = kp_type_is_float((*left)->type) || kp_type_is_float((*right)->type);
    const kp_type *type = is_float ? kp_type_float_literal() : kp_type_int_literal();
    if (both_constant(*left, *right)) {
        *left = kp_check_constant(c, *left, type, kp_fold_cast((*left)->type, type, (*left)->u.value));
        *right = kp_check_constant(c, *right, type, kp_fold_cast((*right)->type, type, (*right)->u.value));
        return;
    }
    type = kp_type_scalar(is_float ? KP_F32 : KP_I32);
    *left = adapt(c, *left, type);
    *right = adapt(c, *right, type);
}

// Makes the two of one type: literals adapt, a scalar beside a vector is spread over its components.
void kp_check_unify(kp_checker *c, const kp_node *at, const char *what, kp_node **left, kp_node **right) {
    const kp_type *l = (*left)->type, *r = (*right)->type;
    if (kp_type_is_literal(l) && kp_type_is_literal(r))
        unify_literals(c, left, right);
    else if (adapts(l, r))
        *left = adapt(c, *left, r);
    else if (adapts(r, l))
        *right = adapt(c, *right, l);
    else if (l == r && l->kind != KP_TYPE_ARRAY)
        return;
    else if (l->kind == KP_TYPE_VECTOR && (r == l->element || kp_check_widens(r, l->element)))
        *right = cast_node(c, kp_check_cast(c, *right, l->element), l);
    else if (r->kind == KP_TYPE_VECTOR && (l == r->element || kp_check_widens(l, r->element)))
        *left = cast_node(c, kp_check_cast(c, *left, r->element), r);
    else if (kp_check_widens(l, r))
        *left = kp_check_cast(c, *left, r);
    else if (kp_check_widens(r, l))
        *right = kp_check_cast(c, *right, l);
    else
        fail_pair(c, at, what, *left, *right);
}

static kp_node *finish_binary(kp_checker *c, kp_node *n, kp_node *left, kp_node *right) {
    if (both_constant(left, right) && left->type == right->type) {
        kp_value value;
        switch (kp_fold_binary(n->op, left->type, left->u.value, right->u.value, &value)) {
        case KP_FOLD_DONE:
            return kp_check_constant(c, n, left->type, value);
        case KP_FOLD_ZERO_DIVISION:
            kp_check_fail(c, n, "division by zero");
        case KP_FOLD_OVERFLOW:
            kp_check_fail(c, n, "this constant is larger than 64 bits hold");
        case KP_FOLD_NOT:
            break;
        }
    }
    left = kp_check_settle(c, left);
    n->u.binary.left = left;
    n->u.binary.right = kp_check_settle(c, right);
    n->type = left->type;
    return n;
}

static bool is_zero(const kp_node *n) {
    while (n->kind == KP_NODE_CAST)
        n = n->u.operand;
    return n->kind == KP_NODE_CONST && (kp_type_is_float(n->type) ? n->u.value.f == 0 : n->u.value.i == 0);
}

// An f64 of a 64-bit integer, an f32 of any other.
static kp_node *to_float(kp_checker *c, kp_node *n) {
    if (kp_type_is_float(n->type))
        return n;
    if (kp_type_is_literal(n->type) && n->kind == KP_NODE_CONST)
        return kp_check_cast(c, n, kp_type_float_literal());
    bool wide = kp_type_is_value(n->type) && kp_dtype_size(n->type->dtype) == 8;
    return kp_check_cast(c, n, kp_type_vector(wide ? KP_F64 : KP_F32, kp_type_components(n->type)));
}

// True for a constant that is an integer below 0.
static bool is_negative(const kp_node *n) {
    return n->kind == KP_NODE_CONST && kp_type_is_signed(n->type) && n->u.value.i < 0;
}

static void want_numbers(kp_checker *c, const kp_node *n, const char *op, const kp_node *left, const kp_node *right) {
    const kp_node *sides[] = {left, right};
    for (int i = 0; i < 2; i++) {
        const kp_type *type = sides[i]->type;
        if (kp_type_is_bool(type)) {
            const kp_type *other = kp_check_settle_type(sides[1 - i]->type);
            const char *number = kp_type_is_numeric(other) && kp_type_is_scalar(other) ? other->name : "i32";
            kp_check_fail(c, n, "%s takes numbers, but this is %s; write %s", op, type->name,
                          kp_check_converted(c, sides[i], number));
        }
        if (type->kind == KP_TYPE_ARRAY)
            kp_check_fail(c, n, "%s takes numbers, but '%s' is %s; index it, as in %s[i]", op,
                          kp_check_text(c, sides[i]), kp_check_array_word(type), kp_check_text(c, sides[i]));
        if (!kp_type_is_numeric(type))
            kp_check_fail(c, n, "%s takes numbers, but this is %s", op, type->name);
    }
}

// Devices have no power of f64 values; one with a whole constant is made of multiplications.
static void refuse_power(kp_checker *c, const kp_node *n, const kp_node *left, const kp_node *right) {
    if (!kp_type_is_value(left->type) || left->type->dtype != KP_F64)
        return;
    while (right->kind == KP_NODE_CAST)
        right = right->u.operand;
    double y = right->kind == KP_NODE_CONST ? right->u.value.f : 0.25;
    if (y == 0.5)
        kp_check_fail(c, n, "f64 has no '**' with an exponent that is not whole; write sqrt(%s)",
                      kp_check_text(c, left));
    if (y != floor(y) || fabs(y) > 64)
        kp_check_fail(c, n,
                      "f64 has no '**' with an exponent that is not whole; make that an i32, or compute in f32: "
                      "f32(%s) ** ...",
                      kp_check_text(c, left));
}

// x ** y: of one type, but that an integer constant stays one (it is expanded to multiplications), and a negative one
// makes floats of integers.
static kp_node *combine_power(kp_checker *c, kp_node *n, kp_node *left, kp_node *right) {
    const kp_type *i32 = kp_type_scalar(KP_I32);
    bool whole = right->kind == KP_NODE_CONST && kp_type_is_int(right->type) && kp_type_is_scalar(right->type) &&
                 kp_fold_fits(right->type, i32, right->u.value);
    if (is_negative(right))
        left = to_float(c, left);
    if (both_constant(left, right)) {
        kp_check_unify(c, n, "'**'", &left, &right);
        return finish_binary(c, n, left, right);
    }
    left = kp_check_settle(c, left);
    bool int_exponent = kp_type_is_float(left->type) && (right->type == i32 || kp_check_widens(right->type, i32));
    if (whole || int_exponent) {
        n->u.binary.left = left;
        n->u.binary.right = kp_check_cast(c, right, i32);
        n->type = left->type;
        return n;
    }
    kp_check_unify(c, n, "'**'", &left, &right);
    refuse_power(c, n, left, right);
    n->u.binary.left = left;
    n->u.binary.right = right;
    n->type = left->type;
    return n;
}

// Beyond 64 all amounts do the same.
static kp_value bounded_amount(kp_value amount) { return (uint64_t)amount.i > 64 ? (kp_value){.i = 64} : amount; }

static kp_node *combine_shift(kp_checker *c, kp_node *n, const char *op, kp_node *left, kp_node *right) {
    if (!kp_type_is_int(left->type) || !kp_type_is_int(right->type))
        kp_check_fail(c, n, "%s takes integers, but these are %s and %s", op, left->type->name, right->type->name);
    if (is_negative(right))
        kp_check_fail(c, right, "the amount of a shift is not negative");
    if (both_constant(left, right)) {
        kp_value value;
        if (kp_fold_binary(n->op, left->type, left->u.value, right->u.value, &value) == KP_FOLD_OVERFLOW)
            kp_check_fail(c, n, "this constant is larger than 64 bits hold");
        return kp_check_constant(c, n, left->type, value);
    }
    if (kp_type_is_literal(left->type) && !kp_type_is_literal(right->type))
        left = adapt(c, left, right->type);
    left = kp_check_settle(c, left);
    right = kp_check_settle(c, right);
    if (right->kind == KP_NODE_CONST && right->type->kind == KP_TYPE_SCALAR)
        right = kp_check_constant(c, right, kp_type_scalar(KP_U32), bounded_amount(right->u.value));
    if (left->type->kind == KP_TYPE_VECTOR && kp_type_is_scalar(right->type))
        right = cast_node(c, right, kp_type_vector(right->type->dtype, left->type->components));
    if (kp_type_components(left->type) != kp_type_components(right->type))
        fail_pair(c, n, op, left, right);
    n->u.binary.left = left;
    n->u.binary.right = right;
    n->type = left->type;
    return n;
}

static kp_node *combine_bits(kp_checker *c, kp_node *n, const char *op, kp_node *left, kp_node *right) {
    bool bools = kp_type_is_bool(left->type) && kp_type_is_bool(right->type);
    bool ints = kp_type_is_int(left->type) && kp_type_is_int(right->type);
    if (!bools && !ints)
        kp_check_fail(c, n, "%s takes integers or bools, but these are %s and %s%s", op, left->type->name,
                      right->type->name, n->op == KP_TOKEN_CARET ? "; a power is written **" : "");
    kp_check_unify(c, n, op, &left, &right);
    return finish_binary(c, n, left, right);
}

static kp_node *combine_dot(kp_checker *c, kp_node *n, kp_node *left, kp_node *right) {
    if (left->type->kind != KP_TYPE_VECTOR || left->type != right->type || kp_type_is_bool(left->type))
        kp_check_fail(c, n, "'@' takes two vectors of one type, but these are %s and %s", left->type->name,
                      right->type->name);
    static const kp_builtin row = {"dot", 2, 2, KP_BUILTIN_CUSTOM, KP_CALL_DOT};
    kp_node *dot = kp_check_new(c, KP_NODE_BUILTIN, n, left->type->element);
    dot->u.call.row = &row;
    dot->u.call.list = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 2), .count = 2};
    dot->u.call.list.items[0] = left;
    dot->u.call.list.items[1] = right;
    return dot;
}

// The tree below `n` stays shallow: both sides are already checked.
kp_node *kp_check_combine(kp_checker *c, kp_node *n, kp_node *left, kp_node *right) {
    kp_token_kind op = n->op;
    const char *text = kp_lexer_quoted(op);
    if (kp_type_is_matrix(left->type) || kp_type_is_matrix(right->type))
        return kp_check_matrix_combine(c, n, text, left, right);
    switch (op) {
    case KP_TOKEN_AT:
        return combine_dot(c, n, left, right);
    case KP_TOKEN_AMPERSAND:
    case KP_TOKEN_BAR:
    case KP_TOKEN_CARET:
        return combine_bits(c, n, text, left, right);
    case KP_TOKEN_LEFT_SHIFT:
    case KP_TOKEN_RIGHT_SHIFT:
        return combine_shift(c, n, text, left, right);
    default:
        break;
    }
    bool arrays = left->type->kind == KP_TYPE_ARRAY || right->type->kind == KP_TYPE_ARRAY;
    if (op == KP_TOKEN_STAR && arrays)
        return kp_check_array_repeat(c, n, left, right);
    want_numbers(c, n, text, left, right);
    if (op == KP_TOKEN_DOUBLE_STAR)
        return combine_power(c, n, left, right);
    kp_check_unify(c, n, text, &left, &right);
    bool divides = op == KP_TOKEN_SLASH || op == KP_TOKEN_DOUBLE_SLASH || op == KP_TOKEN_PERCENT;
    if (divides && kp_type_is_int(left->type) && is_zero(right))
        kp_check_fail(c, n, "division by zero");
    if (op == KP_TOKEN_SLASH) {
        left = to_float(c, left);
        right = to_float(c, right);
    }
    return finish_binary(c, n, left, right);
}

kp_node *kp_check_operation(kp_checker *c, const kp_node *like, kp_token_kind op, kp_node *left, kp_node *right) {
    kp_node *n = kp_check_new(c, KP_NODE_BINARY, like, NULL);
    n->op = (uint8_t)op;
    return kp_check_combine(c, n, left, right);
}

static kp_node *check_binary(kp_checker *c, kp_node *n) {
    kp_list edge = kp_ast_left_edge(c->unit, n);
    kp_node *left = kp_check_expr(c, edge.items[0]->u.binary.left);
    for (uint32_t i = 0; i < edge.count; i++)
        left = kp_check_combine(c, edge.items[i], left, kp_check_expr(c, edge.items[i]->u.binary.right));
    return left;
}

// ---------------------------------------------------------------------------------------------------------------------
// Comparisons and conditions
// ---------------------------------------------------------------------------------------------------------------------

static kp_node *check_compare(kp_checker *c, kp_node *n) {
    if (kp_check_is_member(n))
        return kp_check_member(c, n);
    kp_list list = n->u.compare.list;
    uint32_t pairs = list.count - 1;
    kp_node **lefts = n->u.compare.lefts = KP_UNIT_NEW(c->unit, kp_node *, pairs);
    kp_node **rights = n->u.compare.rights = KP_UNIT_NEW(c->unit, kp_node *, pairs);
    bool constants = true, value = true;
    for (uint32_t i = 0; i < list.count; i++) {
        list.items[i] = kp_check_expr(c, list.items[i]);
        if (list.items[i]->kind != KP_NODE_CONST)
            list.items[i] = kp_check_settle(c, list.items[i]);
        if (kp_type_is_opaque(list.items[i]->type))
            kp_check_fail(c, list.items[i], "%s cannot be compared", list.items[i]->type->name);
        if (kp_type_is_matrix(list.items[i]->type))
            kp_check_fail(c, list.items[i], "matrices are compared row by row, as in all(%s[0] == ...)",
                          kp_check_text(c, list.items[i]));
        if (list.items[i]->type->kind == KP_TYPE_ARRAY)
            kp_check_fail(c, list.items[i], "%s cannot be compared; index it, as in %s[i]",
                          kp_check_array_word(list.items[i]->type), kp_check_text(c, list.items[i]));
        if (kp_type_is_struct(list.items[i]->type))
            kp_check_fail(c, list.items[i], "structs cannot be compared; compare their fields: %s",
                          kp_check_struct_names(c, list.items[i]->type));
    }
    for (uint32_t i = 0; i < pairs; i++) {
        lefts[i] = list.items[i];
        rights[i] = list.items[i + 1];
        kp_check_unify(c, n, kp_lexer_quoted(n->u.compare.ops[i]), &lefts[i], &rights[i]);
        if (kp_type_is_bool(lefts[i]->type) && !kp_lexer_is_equality(n->u.compare.ops[i]))
            kp_check_fail(c, n, "%s takes numbers, but these are bools", kp_lexer_quoted(n->u.compare.ops[i]));
        constants &= both_constant(lefts[i], rights[i]);
        if (constants)
            value &= kp_fold_compare(n->u.compare.ops[i], lefts[i]->type, lefts[i]->u.value, rights[i]->u.value);
        lefts[i] = kp_check_settle(c, lefts[i]);
        rights[i] = kp_check_settle(c, rights[i]);
    }
    uint32_t width = kp_type_components(lefts[0]->type);
    if (width > 1 && pairs > 1)
        kp_check_fail(c, n, "vectors are compared two at a time");
    if (constants && width == 1)
        return truth_constant(c, n, value);
    n->type = kp_type_vector(KP_BOOL, width);
    return n;
}

static kp_node *truth(kp_checker *c, kp_node *n) {
    if (kp_type_is_bool(n->type) && kp_type_is_scalar(n->type))
        return n;
    if (kp_type_is_bool(n->type))
        kp_check_fail(c, n, "%s %s is neither true nor false; write any(%s) or all(%s)",
                      kp_check_article(n->type->name), n->type->name, kp_check_text(c, n), kp_check_text(c, n));
    if (!kp_type_is_scalar(n->type))
        kp_check_fail(c, n, "a condition is a bool or a number, but this is %s", n->type->name);
    return kp_check_cast(c, n, kp_type_scalar(KP_BOOL));
}

// and, or of bools, with constants taken out.
static kp_node *finish_junction(kp_checker *c, kp_node *n, kp_list list) {
    bool is_and = n->op == KP_TOKEN_AND;
    kp_list left = {.items = list.items};
    for (uint32_t i = 0; i < list.count; i++) {
        kp_node *item = list.items[i];
        bool constant = item->kind == KP_NODE_CONST;
        if (constant && (item->u.value.i != 0) == is_and)
            continue; // changes nothing
        left.items[left.count++] = item;
        if (constant)
            break; // decides: what follows does not run
    }
    if (left.count == 0)
        return truth_constant(c, n, is_and);
    if (left.count == 1)
        return left.items[0];
    n->u.list = left;
    n->type = kp_type_scalar(KP_BOOL);
    return n;
}

kp_node *kp_check_condition(kp_checker *c, kp_node *n) {
    if (n->kind == KP_NODE_BOOL) {
        for (uint32_t i = 0; i < n->u.list.count; i++)
            n->u.list.items[i] = kp_check_condition(c, n->u.list.items[i]);
        return finish_junction(c, n, n->u.list);
    }
    if (n->kind == KP_NODE_UNARY && n->op == KP_TOKEN_NOT)
        return kp_check_expr(c, n);
    return truth(c, kp_check_expr(c, n));
}

// As a value, `a or b` is one of its operands, so they are of one type.
static kp_node *check_junction(kp_checker *c, kp_node *n) {
    kp_list list = n->u.list;
    const char *what = n->op == KP_TOKEN_AND ? "'and'" : "'or'";
    for (uint32_t i = 0; i < list.count; i++) {
        list.items[i] = kp_check_expr(c, list.items[i]);
        if (i > 0 && kp_type_is_bool(list.items[0]->type) && kp_type_is_numeric(list.items[i]->type))
            kp_check_fail(c, n, "%s takes two values of one type, but these are %s and %s; write x if c else y", what,
                          list.items[0]->type->name, list.items[i]->type->name);
        if (i > 0 && list.items[i]->type != list.items[0]->type)
            kp_check_unify(c, n, what, &list.items[0], &list.items[i]);
    }
    const kp_type *type = list.items[0]->type;
    if (!kp_type_is_scalar(type))
        truth(c, list.items[0]); // says what is wrong
    bool literals = kp_type_is_literal(type);
    for (uint32_t i = 0; i < list.count && !literals; i++)
        list.items[i] = kp_check_coerce(c, list.items[i], type, what);
    if (kp_type_is_bool(type))
        return finish_junction(c, n, list);
    n->type = type;
    return literals ? kp_check_settle(c, n) : n;
}

static kp_node *check_cond(kp_checker *c, kp_node *n) {
    kp_node *test = kp_check_condition(c, n->u.cond.test);
    kp_node *yes = kp_check_expr(c, n->u.cond.yes), *no = kp_check_expr(c, n->u.cond.no);
    bool literals = kp_type_is_literal(yes->type) && kp_type_is_literal(no->type);
    if (!literals || yes->type != no->type)
        kp_check_unify(c, n, "a conditional expression", &yes, &no);
    if (test->kind == KP_NODE_CONST)
        return test->u.value.i ? yes : no;
    n->u.cond.test = test;
    n->u.cond.yes = yes;
    n->u.cond.no = no;
    n->type = yes->type;
    return n;
}

// -2**63, whose digits alone are a u64: the only integer literal that is one with its sign.
static bool is_least_literal(const kp_node *n) {
    const kp_node *digits = n->u.operand;
    return n->op == KP_TOKEN_MINUS && digits->kind == KP_NODE_CONST && digits->type->kind == KP_TYPE_SCALAR &&
           digits->type->dtype == KP_U64 && digits->u.value.i == INT64_MIN;
}

static kp_node *check_unary(kp_checker *c, kp_node *n) {
    kp_token_kind op = n->op;
    if (is_least_literal(n))
        return kp_check_constant(c, n, kp_type_int_literal(), (kp_value){.i = INT64_MIN});
    kp_node *operand = op == KP_TOKEN_NOT ? kp_check_condition(c, n->u.operand) : kp_check_expr(c, n->u.operand);
    const char *text = kp_lexer_quoted(op);
    bool signs_matrix = kp_type_is_matrix(operand->type) && (op == KP_TOKEN_MINUS || op == KP_TOKEN_PLUS);
    if (op != KP_TOKEN_NOT && !signs_matrix)
        want_numbers(c, n, text, operand, operand);
    if (op == KP_TOKEN_TILDE && !kp_type_is_int(operand->type))
        kp_check_fail(c, n, "'~' takes integers, but this is %s", operand->type->name);
    if (operand->kind == KP_NODE_CONST) {
        kp_value value;
        if (kp_fold_unary(op, operand->type, operand->u.value, &value) == KP_FOLD_OVERFLOW)
            kp_check_fail(c, n, "this constant is larger than 64 bits hold");
        return kp_check_constant(c, n, operand->type, value);
    }
    operand = kp_check_settle(c, operand);
    if (op == KP_TOKEN_PLUS)
        return operand;
    n->u.operand = operand;
    n->type = operand->type;
    return n;
}

// ---------------------------------------------------------------------------------------------------------------------

static kp_node *check_any(kp_checker *c, kp_node *n) {
    switch (n->kind) {
    case KP_NODE_NAME:
        return kp_check_name(c, n);
    case KP_NODE_UNARY:
        return check_unary(c, n);
    case KP_NODE_BINARY:
        return check_binary(c, n);
    case KP_NODE_COMPARE:
        return check_compare(c, n);
    case KP_NODE_BOOL:
        return check_junction(c, n);
    case KP_NODE_COND:
        return check_cond(c, n);
    case KP_NODE_CALL:
        return kp_check_call(c, n);
    case KP_NODE_ATTRIBUTE:
        return kp_check_attribute(c, n);
    case KP_NODE_SUBSCRIPT:
        return kp_check_subscript(c, n);
    case KP_NODE_STRING:
        kp_check_fail(c, n, "strings are not in the kernel language");
    case KP_NODE_NONE:
        kp_check_fail(c, n, "None is not in the kernel language");
    case KP_NODE_TUPLE:
        kp_check_fail(
            c, n,
            "a tuple is not a value of the kernel language; write a list, or give it a name outside of the kernel");
    case KP_NODE_LIST:
        return kp_check_array(c, n);
    case KP_NODE_COMPREHENSION:
        return kp_check_comprehension(c, n);
    default:
        return n;
    }
}

static bool has_other_width(const kp_type *type) {
    bool computes = type->kind == KP_TYPE_SCALAR || type->kind == KP_TYPE_VECTOR || type->kind == KP_TYPE_MATRIX;
    return computes && (type->dtype == KP_F16 || kp_dtype_size(type->dtype) == 8);
}

kp_node *kp_check_expr(kp_checker *c, kp_node *n) {
    n = check_any(c, n);
    c->kernel->has_other_widths |= n->type != NULL && has_other_width(n->type);
    return n;
}

kp_node *kp_check_value(kp_checker *c, kp_node *n) { return kp_check_settle(c, kp_check_expr(c, n)); }
