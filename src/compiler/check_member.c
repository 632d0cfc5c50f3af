// x in (1, 2, y) and x not in ...: whether a number is one of some. What is looked through stands in the text, or is a
// tuple from outside; all of it is worked out, as in Python, and compared with x, which is worked out once.
//
// A COMPARE whose operators are all IN, or NOT for `not in`: lefts are x as each comparison takes it.
#include "checker.h"

#include "fold.h"

bool kp_check_is_member(const kp_node *n) {
    return n->kind == KP_NODE_COMPARE && (n->u.compare.ops[0] == KP_TOKEN_IN || n->u.compare.ops[0] == KP_TOKEN_NOT);
}

static const char *word_of(const kp_node *n) { return n->u.compare.ops[0] == KP_TOKEN_IN ? "in" : "not in"; }

static bool is_sequence(const kp_node *n) { return n->kind == KP_NODE_TUPLE || n->kind == KP_NODE_LIST; }

// What x is compared with, unchecked or constant.
static kp_list items_of(kp_checker *c, const kp_node *n) {
    kp_node *where = n->u.compare.list.items[1];
    const char *text = kp_check_text(c, where);
    if (is_sequence(where))
        return where->u.list;
    kp_list items;
    if (kp_check_table_items(c, where, &items))
        return items;
    if (kp_check_is_range(c, where))
        kp_check_fail(c, where, "'%s' takes a tuple or a list here; write a <= x < b", word_of(n));
    kp_check_expr(c, where); // says what else is wrong with it
    kp_check_fail(c, where, "'%s' takes a tuple or a list of numbers, as in x in (1, 2); go over '%s' in a for loop",
                  word_of(n), text);
}

static kp_node *number_of(kp_checker *c, const kp_node *n, kp_node *item) {
    if (is_sequence(item))
        kp_check_fail(c, item, "'%s' looks for a number, but this is a tuple", word_of(n));
    kp_node *value = kp_check_expr(c, item);
    if (value->kind != KP_NODE_CONST)
        value = kp_check_settle(c, value);
    if (!kp_type_is_literal(value->type) && value->type->kind != KP_TYPE_SCALAR)
        kp_check_fail(c, item, "'%s' looks for a number, but this is %s", word_of(n), value->type->name);
    return value;
}

kp_node *kp_check_member(kp_checker *c, kp_node *n) {
    kp_node *x = number_of(c, n, n->u.compare.list.items[0]);
    kp_list items = items_of(c, n);
    kp_list list = {.items = KP_UNIT_NEW(c->unit, kp_node *, items.count + 1), .count = items.count + 1};
    kp_node **lefts = KP_UNIT_NEW(c->unit, kp_node *, items.count + 1);
    kp_node **rights = KP_UNIT_NEW(c->unit, kp_node *, items.count + 1);
    kp_token_kind *ops = KP_UNIT_NEW(c->unit, kp_token_kind, items.count + 1);
    bool negated = n->u.compare.ops[0] == KP_TOKEN_NOT, constant = x->kind == KP_NODE_CONST, found = false;
    list.items[0] = x;
    for (uint32_t i = 0; i < items.count; i++) {
        lefts[i] = x;
        rights[i] = list.items[i + 1] = number_of(c, n, items.items[i]);
        ops[i] = n->u.compare.ops[0];
        kp_check_unify(c, items.items[i], negated ? "'not in'" : "'in'", &lefts[i], &rights[i]);
        constant &= rights[i]->kind == KP_NODE_CONST && lefts[i]->kind == KP_NODE_CONST;
        if (constant)
            found |= kp_fold_compare(KP_TOKEN_EQUAL, lefts[i]->type, lefts[i]->u.value, rights[i]->u.value);
        lefts[i] = kp_check_settle(c, lefts[i]);
        rights[i] = kp_check_settle(c, rights[i]);
    }
    if (constant || items.count == 0)
        return kp_check_constant(c, n, kp_type_scalar(KP_BOOL), (kp_value){.i = found != negated});
    n->u.compare.list = list;
    n->u.compare.lefts = lefts;
    n->u.compare.rights = rights;
    n->u.compare.ops = ops;
    n->type = kp_type_scalar(KP_BOOL);
    return n;
}
