// Fixed arrays: list literals, their repetition, copies, and lengths.
//
// A list of literals stays one of literals, as a number does, until something asks for a type: its type is then an
// array of a literal type, and kp_check_array_adapt makes it another. Python's lists are references, the arrays of a
// kernel are values: where the two would differ (two names of one list), the kernel is refused.
#include "checker.h"

#include "fold.h"

#include <string.h>

enum { MOST_BYTES = 1 << 16 }; // of a local array

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

bool kp_check_array_is_literal(const kp_type *type) {
    return type->kind == KP_TYPE_ARRAY && kp_type_is_literal(kp_type_leaf(type));
}

static const kp_type *with_leaf(kp_checker *c, const kp_type *type, const kp_type *leaf) {
    return type->kind == KP_TYPE_ARRAY ? kp_type_array(c->unit, with_leaf(c, type->element, leaf), type->length) : leaf;
}

// The ends of the range that the integers of a list of literals take.
static void whole_range(const kp_node *n, int64_t *least, int64_t *most) {
    for (uint32_t i = 0; i < n->u.array.list.count; i++) {
        const kp_node *item = n->u.array.list.items[i];
        if (item->kind == KP_NODE_ARRAY) {
            whole_range(item, least, most);
            continue;
        }
        *least = item->u.value.i < *least ? item->u.value.i : *least;
        *most = item->u.value.i > *most ? item->u.value.i : *most;
    }
}

kp_node *kp_check_array_settle(kp_checker *c, kp_node *n) {
    int64_t least = 0, most = 0;
    bool whole = kp_type_leaf(n->type)->kind == KP_TYPE_INT_LITERAL;
    if (whole)
        whole_range(n, &least, &most);
    const kp_type *leaf = kp_type_scalar(whole ? kp_fold_table_type(least, most) : KP_F32);
    return kp_check_array_adapt(c, n, with_leaf(c, n->type, leaf), "an element");
}

// The type that values of both types can have without a cast; NULL: none.
static const kp_type *common(kp_checker *c, const kp_type *a, const kp_type *b) {
    if (a == b)
        return a;
    if (a->kind == KP_TYPE_ARRAY || b->kind == KP_TYPE_ARRAY) {
        if (a->kind != b->kind || a->length != b->length)
            return NULL;
        const kp_type *element = common(c, a->element, b->element);
        return element != NULL ? kp_type_array(c->unit, element, a->length) : NULL;
    }
    if (!kp_type_is_literal(a) && !kp_type_is_literal(b))
        return NULL;
    if (kp_type_is_literal(a) && kp_type_is_literal(b))
        return kp_type_float_literal();
    const kp_type *literal = kp_type_is_literal(a) ? a : b, *type = literal == a ? b : a;
    bool fits = kp_type_is_scalar(type) &&
                (literal->kind == KP_TYPE_INT_LITERAL ? kp_type_is_numeric(type) : kp_type_is_float(type));
    return fits ? type : NULL;
}

static void check_size(kp_checker *c, const kp_node *at, const kp_type *element, uint64_t length) {
    const kp_type *leaf = kp_type_leaf(element);
    uint64_t each =
        (uint64_t)kp_type_items(element) * (kp_type_is_literal(leaf) ? 4 : kp_type_size(leaf)) / kp_type_items(leaf);
    if (length > MOST_BYTES / 4 || each * length > MOST_BYTES)
        kp_check_fail(c, at,
                      "an array of %llu elements is too large for a variable; the limits are %d elements and %d bytes",
                      (unsigned long long)length, MOST_BYTES / 4, MOST_BYTES);
}

void kp_check_array_size(kp_checker *c, const kp_node *at, const kp_type *type) {
    if (type->kind == KP_TYPE_ARRAY)
        check_size(c, at, type->element, type->length);
    if (kp_type_is_struct(type) && type->size > MOST_BYTES)
        kp_check_fail(c, at, "%s has %u bytes, which is too large for a variable; the limit is %d", type->name,
                      type->size, MOST_BYTES);
}

// ---------------------------------------------------------------------------------------------------------------------
// Values
// ---------------------------------------------------------------------------------------------------------------------

// What is in a temporary has no name to be an alias of.
static bool is_place(const kp_node *n) {
    while (n->kind == KP_NODE_SUBSCRIPT || n->kind == KP_NODE_FIELD)
        n = n->kind == KP_NODE_SUBSCRIPT ? n->u.subscript.object : n->u.field.operand;
    return n->kind == KP_NODE_BUFFER || (n->kind == KP_NODE_VARIABLE && n->u.symbol->name != NULL);
}

void kp_check_array_alias(kp_checker *c, const kp_node *n) {
    kp_check_image_alias(c, n);
    if (kp_type_is_struct(n->type))
        kp_check_struct_alias(c, n, NULL);
    if (n->type->kind != KP_TYPE_ARRAY || !is_place(n))
        return;
    if (kp_type_is_buffer(n->type))
        kp_check_fail(c, n, "'%s' is a buffer and cannot be in a variable; index it here", kp_check_text(c, n));
    kp_check_fail(c, n,
                  "in Python this would be a second name of the array '%s', which a kernel has not; write %s.copy()",
                  kp_check_text(c, n), kp_check_text(c, n));
}

// The value as the target gets it: into a buffer Python copies too.
kp_node *kp_check_array_taken(kp_checker *c, kp_node *value, const kp_node *target) {
    while (target->kind == KP_NODE_SUBSCRIPT || target->kind == KP_NODE_FIELD)
        target = target->kind == KP_NODE_SUBSCRIPT ? target->u.subscript.object : target->u.field.operand;
    bool copied = target->kind == KP_NODE_BUFFER && value->type->kind == KP_TYPE_ARRAY && is_place(value) &&
                  !kp_type_is_buffer(value->type);
    if (!copied) {
        kp_check_array_alias(c, value);
        return value;
    }
    kp_node *copy = kp_check_new(c, KP_NODE_COPY, value, value->type);
    copy->u.operand = value;
    return copy;
}

kp_node *kp_check_array_adapt(kp_checker *c, kp_node *n, const kp_type *type, const char *where) {
    if (n->type == type)
        return n;
    if (n->kind != KP_NODE_ARRAY || type->kind != KP_TYPE_ARRAY || type->length != n->type->length)
        kp_check_fail(c, n, "%s is %s, but this is %s", where, type->name, n->type->name);
    for (uint32_t i = 0; i < n->u.array.list.count; i++) {
        kp_node **item = &n->u.array.list.items[i];
        if (type->element->kind == KP_TYPE_ARRAY)
            *item = kp_check_array_adapt(c, *item, type->element, where);
        else if (kp_type_is_literal(type->element))
            *item = kp_check_cast(c, *item, type->element);
        else
            *item = kp_check_coerce(c, *item, type->element, where);
    }
    n->type = type;
    return n;
}

static kp_node *array_of(kp_checker *c, const kp_node *at, kp_list list, uint32_t times, const kp_type *element) {
    check_size(c, at, element, (uint64_t)list.count * times);
    kp_node *array = kp_check_new(c, KP_NODE_ARRAY, at, kp_type_array(c->unit, element, list.count * times));
    array->u.array.list = list;
    array->u.array.times = times;
    return array;
}

static kp_node *check_item(kp_checker *c, kp_node *n) {
    kp_node *item = kp_check_expr(c, n);
    kp_check_array_alias(c, item);
    if (item->kind != KP_NODE_CONST && item->kind != KP_NODE_ARRAY)
        item = kp_check_settle(c, item);
    if (!kp_type_is_local(item->type) && !kp_type_is_literal(item->type) && item->type->kind != KP_TYPE_ARRAY)
        kp_check_fail(c, item, "%s cannot be in a list", item->type->name);
    return item;
}

kp_node *kp_check_array(kp_checker *c, kp_node *n) {
    kp_list list = n->u.list;
    if (list.count == 0)
        kp_check_fail(c, n, "an empty list is not in the kernel language; an array has its length from the start");
    const kp_type *type = NULL;
    for (uint32_t i = 0; i < list.count; i++) {
        list.items[i] = check_item(c, list.items[i]);
        const kp_type *its = list.items[i]->type, *both = i == 0 ? its : common(c, type, its);
        if (both == NULL)
            kp_check_fail(c, list.items[i], "the elements of a list have one type, but these are %s and %s", type->name,
                          its->name);
        type = both;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        kp_node **item = &list.items[i];
        if (type->kind == KP_TYPE_ARRAY)
            *item = kp_check_array_adapt(c, *item, type, "an element");
        else if (kp_type_is_literal(type))
            *item = kp_check_cast(c, *item, type);
        else
            *item = kp_check_coerce(c, *item, type, "an element");
    }
    return array_of(c, n, list, 1, type);
}

kp_node *kp_check_array_repeat(kp_checker *c, kp_node *n, kp_node *left, kp_node *right) {
    kp_node *array = left->type->kind == KP_TYPE_ARRAY ? left : right, *times = array == left ? right : left;
    if (array->kind != KP_NODE_ARRAY)
        kp_check_fail(c, n, "'*' takes numbers, but '%s' is %s; index it, as in %s[i]", kp_check_text(c, array),
                      kp_check_array_word(array->type), kp_check_text(c, array));
    if (times->kind != KP_NODE_CONST || !kp_type_is_int(times->type))
        kp_check_fail(c, times, "a list is repeated by an integer constant, since arrays have a fixed length");
    if (times->u.value.i < 1)
        kp_check_fail(c, times, "a list is repeated at least once, not %lld times", (long long)times->u.value.i);
    uint64_t most = (uint64_t)times->u.value.i > INT32_MAX ? INT32_MAX : (uint64_t)times->u.value.i;
    check_size(c, n, array->type->element, array->type->length * most);
    if (array->type->element->kind == KP_TYPE_ARRAY && times->u.value.i > 1)
        kp_check_fail(c, n,
                      "in Python all these elements would be one and the same list; write [[...] for _ in range(%lld)]",
                      (long long)times->u.value.i);
    return array_of(c, n, array->u.array.list, array->u.array.times * (uint32_t)times->u.value.i, array->type->element);
}

static bool is_shared(const kp_node *n) { return n->kind == KP_NODE_BUFFER && n->u.symbol->kind == KP_SYMBOL_SHARED; }

const char *kp_check_array_word(const kp_type *type) { return kp_type_is_buffer(type) ? "a buffer" : "an array"; }

// array.copy()
kp_node *kp_check_array_copy(kp_checker *c, kp_node *n) {
    kp_node *object = kp_check_expr(c, n->u.call.callee->u.attribute.object);
    if (is_shared(object))
        kp_check_fail(c, n, "copy is for arrays of one invocation, but '%s' is shared", kp_check_text(c, object));
    bool copied = object->type->kind == KP_TYPE_ARRAY || kp_type_is_struct(object->type);
    if (!copied || kp_type_is_buffer(object->type))
        kp_check_fail(c, n, "copy is for arrays and structs, but '%s' is %s %s", kp_check_text(c, object),
                      kp_check_article(object->type->name), object->type->name);
    if (n->u.call.list.count != 0)
        kp_check_fail(c, n, "copy takes no arguments");
    kp_node *copy = kp_check_new(c, KP_NODE_COPY, n, object->type);
    copy->u.operand = object;
    return copy;
}

// Array(n, type)(): zeros.
kp_node *kp_check_array_zeros(kp_checker *c, kp_node *n, const kp_type *type) {
    if (kp_type_is_buffer(type) || n->u.call.list.count != 0)
        kp_check_fail(c, n, "an array of zeros is made as in Array(16, f32)(); any other is a list, as in [1, 2, 3]");
    kp_check_array_size(c, n, type);
    kp_node *zeros = kp_check_new(c, KP_NODE_ARRAY, n, type);
    return zeros;
}

// ---------------------------------------------------------------------------------------------------------------------
// Going over something
// ---------------------------------------------------------------------------------------------------------------------

bool kp_check_is_range(kp_checker *c, const kp_node *n) {
    const kp_name *name = n->kind == KP_NODE_CALL ? kp_check_path(c, n->u.call.callee) : NULL;
    return name != NULL && strcmp(name->text, "range") == 0;
}

kp_node *kp_check_whole_number(kp_checker *c, const kp_node *like, int64_t value) {
    return kp_check_constant(c, like, kp_type_int_literal(), (kp_value){.i = value});
}

static kp_node *i32_number(kp_checker *c, const kp_node *like, int64_t value) {
    return kp_check_constant(c, like, kp_type_scalar(KP_I32), (kp_value){.i = value});
}

static kp_node *subscript_of(kp_checker *c, const kp_node *like, kp_node *object, kp_node *index) {
    kp_node *n = kp_check_new(c, KP_NODE_SUBSCRIPT, like, NULL);
    n->u.subscript.object = object;
    n->u.subscript.index = index;
    return n;
}

static kp_node *variable_of(kp_checker *c, const kp_node *like, kp_symbol *symbol) {
    kp_node *n = kp_check_new(c, KP_NODE_VARIABLE, like, symbol->type);
    n->u.symbol = symbol;
    return n;
}

static kp_symbol *new_local(kp_checker *c, kp_name *name, const kp_type *type) {
    kp_symbol *symbol = kp_scope_add(c->unit, &c->scope, KP_SYMBOL_LOCAL, NULL);
    symbol->name = name;
    symbol->type = type;
    symbol->stored = symbol->reached = true;
    return symbol;
}

// What a loop goes over stays what it is, whatever the body does to the variables in its indices.
static void freeze(kp_checker *c, kp_node *n) {
    while (n->kind == KP_NODE_SUBSCRIPT || n->kind == KP_NODE_FIELD) {
        if (n->kind == KP_NODE_SUBSCRIPT)
            n->u.subscript.index = kp_check_temporary(c, n->u.subscript.index);
        n = n->kind == KP_NODE_SUBSCRIPT ? n->u.subscript.object : n->u.field.operand;
    }
}

static kp_node *iterable(kp_checker *c, kp_node *n) {
    if (n->kind == KP_NODE_TUPLE)
        n->kind = KP_NODE_LIST;
    n = kp_check_settle(c, kp_check_expr(c, n));
    if (n->type->kind != KP_TYPE_ARRAY && n->type->kind != KP_TYPE_VECTOR && !kp_type_is_matrix(n->type))
        kp_check_fail(c, n, "a loop of a kernel goes over range(...) or an array, but this is %s", n->type->name);
    if (is_shared(n))
        kp_check_fail(c, n, "'%s' is shared; go over range(len(%s))", kp_check_text(c, n), kp_check_text(c, n));
    if (n->type->kind == KP_TYPE_ARRAY && n->type->axes != 0)
        kp_check_fail(c, n, "'%s' has %u axes; go over range(len(%s))", kp_check_text(c, n), n->type->axes,
                      kp_check_text(c, n));
    if (kp_type_is_buffer(n->type))
        return n;
    bool place = n->kind == KP_NODE_VARIABLE || n->kind == KP_NODE_SUBSCRIPT || n->kind == KP_NODE_FIELD;
    if (n->type->kind != KP_TYPE_ARRAY || !place)
        return kp_check_temporary(c, n);
    freeze(c, n);
    return n;
}

static uint32_t length_of(const kp_type *type) {
    return type->kind == KP_TYPE_VECTOR ? type->components : type->length;
}

static kp_node *assign_to(kp_checker *c, kp_node *target, kp_node *value) {
    kp_node *assign = kp_check_new(c, KP_NODE_ASSIGN, target, NULL);
    assign->u.assign.targets = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    assign->u.assign.targets.items[0] = target;
    assign->u.assign.value = value;
    return assign;
}

// for x in array: ...   is   for k in range(len(array)): x = array[k]; ...
kp_symbol *kp_check_each(kp_checker *c, kp_node *n) {
    kp_node *array = iterable(c, n->u.loop.range), *target = n->u.loop.target;
    if (array->type->kind == KP_TYPE_ARRAY && array->type->element->kind == KP_TYPE_ARRAY && !kp_ast_is_group(target))
        kp_check_fail(c, target,
                      "in Python this would be a second name of what is in '%s', which a kernel has not; go over "
                      "range(len(%s))",
                      kp_check_text(c, array), kp_check_text(c, array));
    kp_node *k = variable_of(c, target, new_local(c, NULL, kp_type_scalar(KP_I32)));
    kp_node *assign = assign_to(c, target, subscript_of(c, target, array, k));
    assign->next = n->u.loop.body;
    n->u.loop.body = assign;
    n->u.loop.target = k;
    n->u.loop.start = i32_number(c, array, 0);
    n->u.loop.step = i32_number(c, array, 1);
    if (kp_type_is_buffer(array->type)) {
        n->u.loop.stop = kp_check_new(c, KP_NODE_LENGTH, array, k->type);
        n->u.loop.stop->u.symbol = array->u.symbol;
    } else {
        n->u.loop.stop = i32_number(c, array, length_of(array->type));
    }
    n->u.loop.range = NULL;
    return array->kind == KP_NODE_VARIABLE ? array->u.symbol : NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Comprehensions
// ---------------------------------------------------------------------------------------------------------------------

// What the variable of a comprehension gets: start + step * k, or array[k].
typedef struct domain {
    kp_node *array; // NULL: a range
    int64_t start, step;
    uint32_t count;
} domain;

static domain range_domain(kp_checker *c, kp_node *n) {
    kp_list list = n->u.call.list;
    int64_t numbers[3] = {0, 0, 1};
    if (list.count < 1 || list.count > 3)
        kp_check_fail(c, n, "range takes one to three arguments, not %u", list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        int64_t value =
            kp_check_constant_int(c, list.items[i], "the range of a comprehension, which fixes its length,");
        numbers[list.count == 1 ? 1 : i] = value;
        if (value < INT32_MIN || value > INT32_MAX)
            kp_check_fail(c, list.items[i], "%lld does not fit in i32", (long long)value);
    }
    domain d = {.start = numbers[0], .step = numbers[2]};
    if (d.step == 0)
        kp_check_fail(c, n, "the step of range is not 0");
    int64_t distance = d.step > 0 ? numbers[1] - d.start : d.start - numbers[1], size = d.step > 0 ? d.step : -d.step;
    if (distance <= 0)
        kp_check_fail(c, n, "this range is empty, but an array has at least one element");
    d.count = (uint32_t)((distance + size - 1) / size);
    return d;
}

static domain domain_of(kp_checker *c, kp_node *n) {
    if (kp_check_is_range(c, n))
        return range_domain(c, n);
    kp_node *array = iterable(c, n);
    if (kp_type_is_buffer(array->type))
        kp_check_fail(c, n,
                      "the length of a buffer is not known here, but an array has a fixed one; write range(16) or the "
                      "like");
    return (domain){.array = array, .step = 1, .count = length_of(array->type)};
}

static kp_node *domain_value(kp_checker *c, const kp_node *like, const domain *d, kp_node *k) {
    if (d->array != NULL)
        return kp_check_expr(c, subscript_of(c, like, d->array, k));
    kp_node *scaled = d->step == 1 ? k : kp_check_operation(c, like, KP_TOKEN_STAR, k, i32_number(c, like, d->step));
    return d->start == 0 ? scaled : kp_check_operation(c, like, KP_TOKEN_PLUS, scaled, i32_number(c, like, d->start));
}

// A checked assignment: its value is a tuple of one.
static kp_node *checked_assign(kp_checker *c, kp_node *target, kp_node *value) {
    kp_node *tuple = kp_check_new(c, KP_NODE_TUPLE, value, NULL);
    tuple->u.list = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    tuple->u.list.items[0] = value;
    return assign_to(c, target, tuple);
}

// Of the comprehensions inside.
static uint32_t turns_of(const kp_node *first) {
    uint32_t turns = 0;
    for (const kp_node *n = first; n != NULL; n = n->next)
        turns += n->kind == KP_NODE_FOR ? n->u.loop.turns : 0;
    return turns;
}

// [f(x) for x in range(n)]   is   for k in range(n): x = k; array[k] = f(x)   before the statement.
kp_node *kp_check_comprehension(kp_checker *c, kp_node *n) {
    const kp_type *i32 = kp_type_scalar(KP_I32);
    domain d = domain_of(c, n->u.comprehension.range);
    kp_node *k = variable_of(c, n, new_local(c, NULL, i32));
    kp_node *first = domain_value(c, n, &d, k);
    kp_node *x = variable_of(c, n, new_local(c, n->u.comprehension.variable, first->type));
    kp_node *prelude = c->prelude, *prelude_last = c->prelude_last;
    c->prelude = c->prelude_last = NULL;
    kp_check_before(c, checked_assign(c, x, first));
    kp_checker_bound bound = {.outer = c->bound, .symbol = x->u.symbol};
    c->bound = &bound;
    kp_node *element = kp_check_settle(c, kp_check_expr(c, n->u.comprehension.element));
    kp_check_array_alias(c, element);
    c->bound = bound.outer;
    check_size(c, n, element->type, d.count);
    kp_node *array = variable_of(c, n, new_local(c, NULL, kp_type_array(c->unit, element->type, d.count)));
    kp_node *target = subscript_of(c, n, array, k);
    target->type = element->type;
    kp_check_before(c, checked_assign(c, target, element));
    kp_node *loop = kp_check_new(c, KP_NODE_FOR, n, NULL);
    loop->u.loop.target = k;
    loop->u.loop.start = i32_number(c, n, 0);
    loop->u.loop.stop = i32_number(c, n, d.count);
    loop->u.loop.step = i32_number(c, n, 1);
    loop->u.loop.body = c->prelude;
    loop->u.loop.turns = d.count * (turns_of(c->prelude) > 1 ? turns_of(c->prelude) : 1);
    if (c->loop != NULL)
        c->loop->turns += loop->u.loop.turns;
    c->kernel->has_arrays = true;
    c->prelude = prelude;
    c->prelude_last = prelude_last;
    kp_check_before(c, loop);
    return array;
}

bool kp_check_array_is_new(const kp_node *value, const kp_node *target) {
    return value->kind == KP_NODE_VARIABLE && value->u.symbol->name == NULL && value->type->kind == KP_TYPE_ARRAY &&
           target->kind == KP_NODE_VARIABLE && target->u.symbol->kind == KP_SYMBOL_LOCAL && target->u.symbol->home == 0;
}
