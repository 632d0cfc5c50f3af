// Tuples of numbers that a function takes from outside. They exist while compiling only: an index that is known picks
// an item, a number like any other constant; one that is not makes a TABLE, for which the tuple becomes an array,
// tuples inside of it laid out one behind the other.
#include "checker.h"

#include "fold.h"

#include <string.h>

// Where an expression has come to in a tuple.
typedef struct pick {
    kp_node *node;  // a TUPLE or a CONST; behind an index that is not known: the first of those that it may be
    kp_node *base;  // the TUPLE in which that index picks; NULL: there was none
    kp_node *index; // of `node` in the flat base, an i32
} pick;

// An index into one of several tuples that lie one behind the other: it stays in its own.
static kp_node *axis_index(kp_checker *c, const kp_node *of, kp_node *index, uint32_t count) {
    if (index->kind == KP_NODE_CONST)
        return index;
    const kp_type *i32 = kp_type_scalar(KP_I32);
    return kp_check_bounded(c, of, index, index, kp_check_constant(c, index, i32, (kp_value){.i = count}), true);
}

static void step_in(kp_checker *c, const kp_node *n, pick *p) {
    if (p->node->kind != KP_NODE_TUPLE)
        kp_check_fail(c, n, "'%s' is a number and cannot be indexed", kp_check_text(c, n->u.subscript.object));
    if (n->u.subscript.index->kind == KP_NODE_TUPLE)
        kp_check_fail(c, n->u.subscript.index, "a tuple takes one index at a time, as in %s[0][1]",
                      kp_check_text(c, n->u.subscript.object));
    kp_list list = p->node->u.list;
    kp_node *index = kp_check_index(c, n->u.subscript.index);
    if (index->kind == KP_NODE_CONST) {
        int64_t at = index->u.value.i, count = list.count;
        if (at < -count || at >= count)
            kp_check_fail(c, index, "index %lld is out of range: %s has %lld items", (long long)at,
                          kp_check_text(c, n->u.subscript.object), (long long)count);
        index = kp_check_whole_number(c, index, at < 0 ? at + count : at);
    }
    if (index->kind == KP_NODE_CONST && p->base == NULL) {
        p->node = list.items[index->u.value.i];
        return;
    }
    if (p->base != NULL || list.items[0]->kind == KP_NODE_TUPLE)
        index = axis_index(c, n->u.subscript.object, index, list.count);
    if (p->base == NULL)
        p->base = p->node;
    else
        index = kp_check_operation(
            c, n, KP_TOKEN_PLUS,
            kp_check_operation(c, n, KP_TOKEN_STAR, p->index, kp_check_whole_number(c, n, list.count)), index);
    p->index = index;
    p->node = list.items[0];
}

static bool follow(kp_checker *c, const kp_node *n, pick *p) {
    if (n->kind == KP_NODE_SUBSCRIPT) {
        if (!follow(c, n->u.subscript.object, p))
            return false;
        step_in(c, n, p);
        return true;
    }
    *p = (pick){.node = n->kind == KP_NODE_NAME || n->kind == KP_NODE_ATTRIBUTE ? kp_check_captured_tuple(c, n) : NULL};
    return p->node != NULL;
}

// The leaves of a tuple, in which tuples side by side have as many items.
static void flatten(kp_checker *c, const kp_node *at, const kp_node *shape, kp_node *n, kp_node **out,
                    uint32_t *count) {
    bool tuple = shape->kind == KP_NODE_TUPLE;
    if (tuple != (n->kind == KP_NODE_TUPLE) || (tuple && shape->u.list.count != n->u.list.count))
        kp_check_fail(c, at, "an index that is not known while compiling needs a tuple whose items are alike");
    if (!tuple) {
        if (out != NULL)
            out[*count] = n;
        ++*count;
        return;
    }
    for (uint32_t i = 0; i < n->u.list.count; i++)
        flatten(c, at, shape->u.list.items[0], n->u.list.items[i], out, count);
}

static kp_list leaves(kp_checker *c, const kp_node *at, kp_node *base) {
    kp_list list = {0};
    flatten(c, at, base, base, NULL, &list.count);
    list.items = KP_UNIT_NEW(c->unit, kp_node *, list.count);
    list.count = 0;
    flatten(c, at, base, base, list.items, &list.count);
    return list;
}

static const kp_type *whole_type(kp_list list) {
    int64_t least = 0, most = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        int64_t value = list.items[i]->u.value.i;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    return kp_type_scalar(kp_fold_table_type(least, most));
}

// All items of the type that the first with a type of its own has. When none has, of f32, or of the first of i32, u32
// and i64 that holds them all.
static const kp_type *unify(kp_checker *c, kp_list list) {
    const kp_type *type = list.items[0]->type;
    for (uint32_t i = 1; i < list.count; i++) {
        const kp_type *its = list.items[i]->type;
        if (kp_type_is_literal(type) && its->kind != KP_TYPE_INT_LITERAL)
            type = its;
    }
    type = type->kind == KP_TYPE_INT_LITERAL ? whole_type(list) : kp_check_settle_type(type);
    for (uint32_t i = 0; i < list.count; i++)
        list.items[i] = kp_check_coerce(c, list.items[i], type, "an item of the tuple");
    return type;
}

static kp_node *table(kp_checker *c, const kp_node *n, kp_node *base, kp_node *index) {
    kp_list list = leaves(c, n, base);
    kp_node *result = kp_check_new(c, KP_NODE_TABLE, n, unify(c, list));
    result->u.table.list = list;
    result->u.table.index = index;
    result->u.table.of = n->kind == KP_NODE_SUBSCRIPT ? n->u.subscript.object : n;
    return result;
}

static kp_node *copy(kp_checker *c, const kp_node *n, const kp_node *k) {
    return kp_check_constant(c, n, k->type, k->u.value);
}

kp_node *kp_check_table_item(kp_checker *c, kp_node *n) {
    pick p;
    if (!follow(c, n, &p))
        return NULL;
    if (p.node->kind == KP_NODE_TUPLE)
        kp_check_fail(c, n, "'%s' is a tuple; index it, as in %s[0], or assign it to several names",
                      kp_check_text(c, n), kp_check_text(c, n));
    return p.base == NULL ? copy(c, n, p.node) : table(c, n, p.base, p.index);
}

kp_node *kp_check_table(kp_checker *c, const kp_node *n) {
    pick p;
    return follow(c, n, &p) && p.node->kind == KP_NODE_TUPLE && p.base == NULL ? p.node : NULL;
}

bool kp_check_table_items(kp_checker *c, kp_node *n, kp_list *out) {
    pick p;
    if (!follow(c, n, &p) || p.node->kind != KP_NODE_TUPLE)
        return false;
    uint32_t count = p.node->u.list.count;
    *out = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, count), .count = count};
    kp_node *row = p.base != NULL ? kp_check_temporary(c, p.index) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        kp_node *item = p.node->u.list.items[i];
        if (item->kind == KP_NODE_TUPLE)
            kp_check_fail(c, n, "the items of '%s' are tuples; index it once more", kp_check_text(c, n));
        if (row != NULL)
            item = table(
                c, n, p.base,
                kp_check_operation(c, n, KP_TOKEN_PLUS,
                                   kp_check_operation(c, n, KP_TOKEN_STAR, row, kp_check_whole_number(c, n, count)),
                                   kp_check_whole_number(c, n, i)));
        out->items[i] = row != NULL ? item : copy(c, n, item);
    }
    return true;
}

bool kp_check_table_same(const kp_node *a, const kp_node *b) {
    if (a->kind != b->kind || a->type != b->type)
        return false;
    if (a->kind == KP_NODE_CONST)
        return kp_value_same(a->u.value, b->u.value);
    bool same = a->u.list.count == b->u.list.count;
    for (uint32_t i = 0; same && i < a->u.list.count; i++)
        same = kp_check_table_same(a->u.list.items[i], b->u.list.items[i]);
    return same;
}
