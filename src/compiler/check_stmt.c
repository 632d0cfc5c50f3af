// Statements. Besides types, this pass follows which locals an assignment may have reached ("reached"), so that a use
// that no assignment can have come before is an error; a use that some path leaves unassigned reads zero.
//
// `trail` lists the locals in the order in which they became reached, so that leaving a branch can take its own back;
// what falls out of a branch alive is then put back in.
#include "checker.h"

#include <string.h>

static void check_block(kp_checker *c, kp_node **first);

// ---------------------------------------------------------------------------------------------------------------------
// Which locals are assigned
// ---------------------------------------------------------------------------------------------------------------------

static void reach(kp_checker *c, kp_symbol *symbol) {
    if (symbol->home == 0 && c->block_count != 0)
        symbol->home = c->blocks[c->block_count - 1];
    if (c->loop != NULL)
        symbol->loop = c->loop->outermost;
    if (c->dead || symbol->reached)
        return;
    symbol->reached = true;
    if (c->trail_count == c->trail_capacity) {
        uint32_t capacity = c->trail_capacity == 0 ? 64 : c->trail_capacity * 2;
        kp_symbol **trail = KP_UNIT_NEW(c->unit, kp_symbol *, capacity);
        if (c->trail_count != 0)
            memcpy(trail, c->trail, c->trail_count * sizeof *trail);
        c->trail = trail;
        c->trail_capacity = capacity;
    }
    c->trail[c->trail_count++] = symbol;
}

// Adds what was reached since the trail was `base` high to *list.
static void keep(kp_checker *c, uint32_t base, kp_checker_exit **list) {
    for (uint32_t i = base; i < c->trail_count; i++) {
        kp_checker_exit *exit = KP_UNIT_NEW(c->unit, kp_checker_exit, 1);
        *exit = (kp_checker_exit){.symbol = c->trail[i], .next = *list};
        *list = exit;
    }
}

// Adds what was reached in the innermost loop to what its exits leave; each once, however many exits there are.
static void keep_exit(kp_checker *c) {
    kp_checker_loop *loop = c->loop;
    keep(c, loop->kept > loop->trail ? loop->kept : loop->trail, &loop->exits);
    loop->kept = c->trail_count;
}

static void take_back(kp_checker *c, uint32_t base) {
    if (c->loop != NULL && c->loop->kept > base)
        c->loop->kept = base;
    while (c->trail_count > base)
        c->trail[--c->trail_count]->reached = false;
}

static void put_in(kp_checker *c, const kp_checker_exit *list) {
    for (; list != NULL; list = list->next)
        reach(c, list->symbol);
}

// ---------------------------------------------------------------------------------------------------------------------
// Assignment
// ---------------------------------------------------------------------------------------------------------------------

static const char *target_name(kp_checker *c, const kp_node *target) {
    return target->kind == KP_NODE_VARIABLE && target->u.symbol->name != NULL ? target->u.symbol->name->text
                                                                              : kp_check_text(c, target);
}

static _Noreturn void fail_type(kp_checker *c, const kp_node *target, const kp_node *value) {
    const char *name = target_name(c, target), *has = target->type->name, *gets = value->type->name;
    kp_symbol *symbol = target->kind == KP_NODE_VARIABLE ? target->u.symbol : NULL;
    bool same_shape = kp_type_is_alike(target->type, value->type);
    if (symbol != NULL && symbol->typed_by_int && kp_type_is_float(value->type) && kp_type_is_scalar(value->type))
        kp_check_fail(c, value,
                      "'%s' is i32, because line %u gives it an integer, but this is %s; write %s = 0.0 or the like "
                      "there, or %s here",
                      name, kp_error_line(c->unit, symbol->typed_at), gets, name, kp_check_converted(c, value, "i32"));
    if (symbol != NULL && symbol->typed_at != NULL && same_shape)
        kp_check_fail(c, value, "'%s' is %s since line %u, but this is %s; write %s", name, has,
                      kp_error_line(c->unit, symbol->typed_at), gets, kp_check_converted(c, value, has));
    if (same_shape)
        kp_check_fail(c, value, "'%s' is %s, but this is %s; write %s", name, has, gets,
                      kp_check_converted(c, value, has));
    kp_check_fail(c, value, "'%s' is %s, but this is %s", name, has, gets);
}

// The value as the target takes it; a local without a type gets the value's.
static kp_node *fit(kp_checker *c, kp_node *target, kp_node *value) {
    if (target->type == NULL) {
        kp_symbol *symbol = target->u.symbol;
        symbol->typed_by_int = value->type->kind == KP_TYPE_INT_LITERAL;
        if (kp_type_is_struct(value->type))
            kp_check_struct_alias(c, value, target);
        else
            kp_check_array_alias(c, value);
        value = kp_check_settle(c, value);
        kp_check_array_size(c, value, value->type);
        c->kernel->has_arrays |= value->type->kind == KP_TYPE_ARRAY;
        symbol->type = value->type;
        symbol->typed_at = target->first;
        target->type = value->type;
        return value;
    }
    bool adapts = kp_type_is_literal(value->type) && kp_type_is_numeric(target->type) &&
                  kp_type_is_scalar(target->type) &&
                  (value->type->kind == KP_TYPE_INT_LITERAL || kp_type_is_float(target->type));
    if (adapts || (target->type->kind == KP_TYPE_ARRAY && kp_check_array_is_literal(value->type)))
        return kp_check_coerce(c, value, target->type, target_name(c, target));
    if (kp_check_widens(value->type, target->type))
        return kp_check_cast(c, value, target->type);
    if (value->type != target->type) {
        if (kp_type_is_literal(value->type))
            value = kp_check_settle(c, value);
        fail_type(c, target, value);
    }
    if (kp_type_is_struct(value->type)) {
        kp_check_struct_alias(c, value, target);
        return value;
    }
    return kp_check_array_taken(c, value, target);
}

static void assigned(kp_checker *c, const kp_node *target) {
    if (target->kind == KP_NODE_VARIABLE && target->u.symbol->held != 0 && target->type->kind == KP_TYPE_ARRAY)
        kp_check_fail(c, target, "the loop goes over '%s', which cannot be another array from here on",
                      target_name(c, target));
    if (target->kind == KP_NODE_VARIABLE)
        reach(c, target->u.symbol);
}

static void annotate(kp_checker *c, kp_node *n) {
    kp_node *target = n->u.assign.targets.items[0];
    if (target->kind != KP_NODE_VARIABLE || target->u.symbol->kind != KP_SYMBOL_LOCAL)
        kp_check_fail(c, target, "only a local variable takes a type");
    const kp_type *type = kp_signature_value_type(c, n->u.assign.annotation);
    kp_symbol *symbol = target->u.symbol;
    if (symbol->type != NULL && symbol->type != type)
        kp_check_fail(c, n->u.assign.annotation, "'%s' is %s since line %u, and cannot be %s too", symbol->name->text,
                      symbol->type->name, kp_error_line(c->unit, symbol->typed_at), type->name);
    if (symbol->type == NULL) {
        symbol->type = type;
        symbol->typed_at = target->first;
    }
    c->kernel->has_arrays |= type->kind == KP_TYPE_ARRAY;
    target->type = type;
}

static void want_values(kp_checker *c, const kp_node *value, uint32_t names, uint32_t values) {
    if (names != values)
        kp_check_fail(c, value, "%u names, but %u values", names, values);
}

// a, b = array, or a matrix
static kp_list elements_of(kp_checker *c, kp_node *value, uint32_t count) {
    if (value->type->length != count)
        kp_check_fail(c, value, "%u names, but the %u %s of %s", count, value->type->length,
                      kp_type_is_matrix(value->type) ? "rows" : "elements", value->type->name);
    if (!kp_type_is_value(value->type->element) && !kp_type_is_matrix(value->type->element))
        kp_check_fail(c, value,
                      "in Python these would be second names of what is in '%s', which a kernel has not; copy them one "
                      "by one, as in %s[0].copy()",
                      kp_check_text(c, value), kp_check_text(c, value));
    kp_list values = {.items = KP_UNIT_NEW(c->unit, kp_node *, count), .count = count};
    value = kp_check_temporary(c, value);
    c->kernel->has_arrays |= value->type->kind == KP_TYPE_ARRAY;
    for (uint32_t i = 0; i < count; i++) {
        values.items[i] = kp_check_new(c, KP_NODE_SUBSCRIPT, value, value->type->element);
        values.items[i]->u.subscript.object = value;
        values.items[i]->u.subscript.index = kp_check_constant(c, value, kp_type_scalar(KP_I32), (kp_value){.i = i});
    }
    return values;
}

static kp_list components_of(kp_checker *c, kp_node *value, uint32_t count) {
    if (kp_type_is_matrix(value->type) || (value->type->kind == KP_TYPE_ARRAY && !kp_type_is_buffer(value->type)))
        return elements_of(c, value, count);
    if (value->type->kind != KP_TYPE_VECTOR)
        kp_check_fail(c, value, "%u names, but one value of type %s", count, value->type->name);
    if (value->type->components != count)
        kp_check_fail(c, value, "%u names, but the %u components of %s %s", count, value->type->components,
                      kp_check_article(value->type->name), value->type->name);
    kp_list values = {.items = KP_UNIT_NEW(c->unit, kp_node *, count), .count = count};
    value = kp_check_temporary(c, value);
    for (uint32_t i = 0; i < count; i++) {
        values.items[i] = kp_check_new(c, KP_NODE_SWIZZLE, value, value->type->element);
        values.items[i]->u.swizzle.operand = value;
        values.items[i]->u.swizzle.count = 1;
        values.items[i]->u.swizzle.components[0] = (uint8_t)i;
    }
    return values;
}

// rows, columns = buffer.shape
static kp_list shape_values(kp_checker *c, const kp_node *value, const kp_node *buffer, uint32_t count) {
    kp_list values = {.items = KP_UNIT_NEW(c->unit, kp_node *, count), .count = count};
    if (kp_check_axes(buffer->type) != count)
        kp_check_fail(c, value, "%u names, but '%s' has %u ax%ss", count, kp_check_text(c, buffer),
                      kp_check_axes(buffer->type), kp_check_axes(buffer->type) == 1 ? "i" : "e");
    for (uint32_t i = 0; i < count; i++)
        values.items[i] = kp_check_shape(c, value, buffer, i);
    return values;
}

// What a group of targets gets: a tuple, what a call gives, what is in a vector or an array. A value for a group within
// the group is left unchecked.
static kp_list values_of(kp_checker *c, kp_node *value, kp_list targets) {
    kp_list values;
    if (kp_check_table_items(c, value, &values)) {
        want_values(c, value, targets.count, values.count);
        return values;
    }
    const kp_node *shape_of = kp_check_shape_of(c, value);
    if (shape_of != NULL)
        return shape_values(c, value, shape_of, targets.count);
    kp_node *several = value->kind == KP_NODE_CALL ? kp_check_several(c, value) : NULL;
    if (several != NULL && several->kind == KP_NODE_TUPLE) {
        want_values(c, several, targets.count, several->u.list.count);
        return several->u.list;
    }
    if (several != NULL || !kp_ast_is_group(value))
        return components_of(c, several != NULL ? several : kp_check_value(c, value), targets.count);
    values = value->u.list;
    want_values(c, value, targets.count, values.count);
    for (uint32_t i = 0; i < values.count; i++) {
        if (!kp_ast_is_group(targets.items[i]))
            values.items[i] = kp_check_expr(c, values.items[i]);
    }
    return values;
}

// Targets and what they get, one by one.
typedef struct pairs {
    kp_list targets, values;
} pairs;

static uint32_t count_targets(const kp_node *n) {
    uint32_t count = kp_ast_is_group(n) ? 0 : 1;
    for (uint32_t i = 0; kp_ast_is_group(n) && i < n->u.list.count; i++)
        count += count_targets(n->u.list.items[i]);
    return count;
}

// Working one value out may need statements before this one; what comes before it then is worked out before them.
static void keep_values(kp_checker *c, pairs *p) {
    for (uint32_t i = 0; i < p->values.count; i++) {
        kp_node *value = p->values.items[i];
        if (value->kind != KP_NODE_CONST && value->kind != KP_NODE_VARIABLE)
            p->values.items[i] = kp_check_temporary(c, kp_check_settle(c, value));
    }
}

static void pair_up(kp_checker *c, kp_list targets, kp_list values, pairs *p) {
    for (uint32_t i = 0; i < targets.count; i++) {
        if (kp_ast_is_group(targets.items[i])) {
            kp_list inside = targets.items[i]->u.list;
            keep_values(c, p);
            pair_up(c, inside, values_of(c, values.items[i], inside), p);
            continue;
        }
        p->targets.items[p->targets.count++] = targets.items[i];
        p->values.items[p->values.count++] = values.items[i];
    }
}

// a, b = value: into n as one assignment of several values, all worked out before the first is stored.
static void check_unpack(kp_checker *c, kp_node *n, kp_node *tuple) {
    uint32_t count = count_targets(tuple);
    if (count == 0)
        kp_check_fail(c, tuple, "there is nothing to assign to");
    kp_list targets = tuple->u.list;
    pairs p = {.targets.items = KP_UNIT_NEW(c->unit, kp_node *, count),
               .values.items = KP_UNIT_NEW(c->unit, kp_node *, count)};
    pair_up(c, targets, values_of(c, n->u.assign.value, targets), &p);
    for (uint32_t i = 0; i < count; i++) {
        p.targets.items[i] = kp_check_target(c, p.targets.items[i], false);
        p.values.items[i] = fit(c, p.targets.items[i], p.values.items[i]);
        assigned(c, p.targets.items[i]); // the next target may use it
    }
    n->u.assign.targets = p.targets;
    n->u.assign.value = kp_check_new(c, KP_NODE_TUPLE, n, NULL);
    n->u.assign.value->u.list = p.values;
}

// a, b = c, d = value: each group gets the same values, worked out once.
static void check_chain(kp_checker *c, kp_node *n) {
    kp_list targets = n->u.assign.targets;
    kp_list first = targets.items[0]->u.list, values = values_of(c, n->u.assign.value, first);
    uint32_t total = values.count * targets.count;
    pairs p = {.targets.items = KP_UNIT_NEW(c->unit, kp_node *, total),
               .values.items = KP_UNIT_NEW(c->unit, kp_node *, total)};
    for (uint32_t i = 0; i < values.count; i++) {
        if (kp_ast_is_group(first.items[i]))
            kp_check_fail(c, first.items[i], "assign to groups within groups on a line of its own");
        values.items[i] = kp_check_temporary(c, kp_check_settle(c, values.items[i]));
    }
    for (uint32_t k = 0; k < targets.count; k++) {
        kp_node *group = targets.items[k];
        if (!kp_ast_is_group(group))
            kp_check_fail(c, group, "a tuple cannot be in a variable; assign to several names");
        want_values(c, n->u.assign.value, group->u.list.count, values.count);
        pair_up(c, group->u.list, values, &p);
    }
    for (uint32_t i = 0; i < total; i++) {
        p.targets.items[i] = kp_check_target(c, p.targets.items[i], false);
        p.values.items[i] = fit(c, p.targets.items[i], p.values.items[i]);
        assigned(c, p.targets.items[i]);
    }
    n->u.assign.targets = p.targets;
    n->u.assign.value = kp_check_new(c, KP_NODE_TUPLE, n, NULL);
    n->u.assign.value->u.list = p.values;
}

static _Noreturn void fail_tuple(kp_checker *c, const kp_node *n) {
    const kp_node *value = n->u.assign.value;
    const kp_type *type = n->u.assign.annotation != NULL ? kp_signature_value_type(c, n->u.assign.annotation) : NULL;
    if (type != NULL && (type->kind == KP_TYPE_VECTOR || kp_type_is_struct(type)))
        kp_check_fail(c, value, "a tuple is no %s; write %s(...)", type->name, type->name);
    kp_check_fail(c, value, "a tuple cannot be in a variable; assign to several names, or write a list");
}

static void check_assign(kp_checker *c, kp_node *n) {
    kp_list targets = n->u.assign.targets;
    if (targets.count == 1 && kp_ast_is_group(targets.items[0])) {
        if (n->u.assign.annotation != NULL)
            kp_check_fail(c, targets.items[0], "only a single name takes a type");
        check_unpack(c, n, targets.items[0]);
        return;
    }
    if (kp_ast_is_group(targets.items[0])) {
        check_chain(c, n);
        return;
    }
    kp_node *value = n->u.assign.value;
    if (value != NULL && kp_check_is_shared(c, value)) {
        kp_check_shared(c, n);
        return;
    }
    if (value != NULL && value->kind == KP_NODE_TUPLE)
        fail_tuple(c, n);
    if (value != NULL)
        value = kp_check_expr(c, value);
    if (value != NULL && targets.count > 1 && value->type->kind == KP_TYPE_ARRAY)
        kp_check_fail(c, n, "in Python these would be names of one array, which a kernel has not; assign to one name");
    if (value != NULL && targets.count > 1 && kp_type_is_struct(value->type))
        kp_check_fail(c, n, "in Python these would be names of one %s; assign to one name, and its copy() to the next",
                      value->type->name);
    if (value != NULL && targets.count > 1)
        value = kp_check_settle(c, value);
    kp_list values = {.items = KP_UNIT_NEW(c->unit, kp_node *, targets.count), .count = targets.count};
    for (uint32_t i = 0; i < targets.count; i++) {
        if (kp_ast_is_group(targets.items[i]))
            kp_check_fail(c, targets.items[i], "assign to several names on a line of its own");
        kp_node *target = targets.items[i] = kp_check_target(c, targets.items[i], false);
        if (n->u.assign.annotation != NULL)
            annotate(c, n);
        if (value == NULL)
            continue;
        values.items[i] = fit(c, target, value);
        if (kp_check_array_is_new(value, target))
            value->u.symbol->same = target->u.symbol; // made in place
        assigned(c, target);
    }
    if (value == NULL) {
        n->kind = KP_NODE_PASS;
        return;
    }
    n->u.assign.value = kp_check_new(c, KP_NODE_TUPLE, n, NULL);
    n->u.assign.value->u.list = values;
}

void kp_check_want_one(kp_checker *c, const kp_node *n) {
    if (kp_ast_is_group(n->u.augment.target))
        kp_check_fail(c, n->u.augment.target, "'%s' assigns to one name", kp_lexer_spelling(n->u.augment.at->kind));
}

static void check_augment(kp_checker *c, kp_node *n) {
    kp_check_want_one(c, n);
    kp_node *target = kp_check_target(c, n->u.augment.target, true);
    kp_node *right = kp_check_expr(c, n->u.augment.value);
    bool float_into_int = target->kind == KP_NODE_VARIABLE && target->u.symbol->typed_by_int &&
                          kp_type_is_float(right->type) && kp_type_is_scalar(right->type);
    if (float_into_int)
        fail_type(c, target, kp_check_settle(c, right));
    kp_node *left = kp_check_new(c, KP_NODE_TARGET, target, target->type);
    kp_node *binary = kp_check_new(c, KP_NODE_BINARY, n, NULL);
    binary->op = n->op;
    kp_node *value = kp_check_combine(c, binary, left, right);
    if (value->type != target->type) {
        if (n->op == KP_TOKEN_SLASH && kp_type_is_int(target->type))
            kp_check_fail(c, n, "'/' gives a float, but '%s' is %s; write '//=' to divide integers",
                          target_name(c, target), target->type->name);
        bool by_right = kp_type_is_value(right->type) && right->type->components == value->type->components;
        fail_type(c, target, by_right ? right : value);
    }
    n->u.augment.target = target;
    n->u.augment.value = value;
    assigned(c, target);
}

// ---------------------------------------------------------------------------------------------------------------------
// Branches and loops
// ---------------------------------------------------------------------------------------------------------------------

static void check_if(kp_checker *c, kp_node *n) {
    bool was_dead = c->dead, alive = false, complete = false;
    kp_checker_exit *kept = NULL;
    uint32_t base = c->trail_count;
    for (uint32_t i = 0; i < n->u.branches.count; i++) {
        kp_branch *branch = &n->u.branches.branches[i];
        if (branch->test != NULL)
            branch->test = kp_check_condition(c, branch->test);
        complete = branch->test == NULL;
        check_block(c, &branch->body);
        if (!c->dead) {
            keep(c, base, &kept);
            alive = true;
        }
        take_back(c, base);
        c->dead = was_dead;
    }
    put_in(c, kept);
    c->dead = was_dead || (complete && !alive);
}

// How often a range with constant ends turns; 0: they are not constant.
static uint64_t constant_turns(const kp_node *n) {
    const kp_node *start = n->u.loop.start, *stop = n->u.loop.stop, *step = n->u.loop.step;
    if (n->kind != KP_NODE_FOR || start->kind != KP_NODE_CONST || stop->kind != KP_NODE_CONST ||
        step->kind != KP_NODE_CONST)
        return 0;
    int64_t by = step->u.value.i;
    int64_t distance = by > 0 ? stop->u.value.i - start->u.value.i : start->u.value.i - stop->u.value.i;
    return distance > 0 ? (uint64_t)(distance - 1) / (uint64_t)(by > 0 ? by : -by) + 1 : 0;
}

static void count_turns(kp_node *n, const kp_checker_loop *loop) {
    uint64_t turns = constant_turns(n) * (loop->turns > 1 ? loop->turns : 1);
    n->u.loop.turns = turns > UINT32_MAX ? UINT32_MAX : (uint32_t)turns;
    if (loop->outer != NULL)
        loop->outer->turns += n->u.loop.turns;
}

static void check_loop_body(kp_checker *c, kp_node *n, bool endless) {
    kp_checker_loop loop = {.outer = c->loop, .node = n, .id = ++c->loop_count, .trail = c->trail_count};
    bool was_dead = c->dead;
    loop.outermost = c->loop != NULL ? c->loop->outermost : loop.id;
    c->loop = &loop;
    if (n->kind == KP_NODE_FOR)
        reach(c, n->u.loop.target->u.symbol);
    check_block(c, &n->u.loop.body);
    if (!c->dead)
        keep_exit(c);
    take_back(c, loop.trail);
    c->loop = loop.outer;
    count_turns(n, &loop);
    c->dead = was_dead;
    put_in(c, loop.exits);
    c->dead = was_dead || (endless && !n->u.loop.breaks);
    check_block(c, &n->u.loop.other);
    if (n->u.loop.breaks)
        c->dead = was_dead;
}

static void check_while(kp_checker *c, kp_node *n) {
    kp_node *test = n->u.loop.test = kp_check_condition(c, n->u.loop.test);
    if (c->prelude != NULL)
        kp_check_fail(c, test, "a comprehension is not for the test of a while loop; assign it to a name in the loop");
    check_loop_body(c, n, test->kind == KP_NODE_CONST && test->u.value.i != 0);
}

void kp_check_range_arguments(kp_checker *c, const kp_node *range) {
    kp_list list = range->u.call.list;
    if (list.count < 1 || list.count > 3)
        kp_check_fail(c, range, "range takes one to three arguments, not %u", list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.items[i]->kind == KP_NODE_KEYWORD)
            kp_check_fail(c, list.items[i], "range takes no names for its arguments");
    }
}

// The arguments of range(...), which is all that a for loop goes over.
static kp_list range_of(kp_checker *c, kp_node *n) {
    kp_node *range = n->u.loop.range;
    kp_list list = range->u.call.list;
    kp_check_range_arguments(c, range);
    for (uint32_t i = 0; i < list.count; i++) {
        list.items[i] = kp_check_expr(c, list.items[i]);
        const kp_type *type = list.items[i]->type;
        if (!kp_type_is_int(type) || !kp_type_is_scalar(type))
            kp_check_fail(c, list.items[i],
                          "range takes integers, but this is %s; write i32(%s), or work the number out from an integer",
                          type->name, kp_check_text(c, list.items[i]));
    }
    return list;
}

// The type of the loop's variable: that of the arguments which have one, else that of the variable itself, else i32.
static const kp_type *range_type(kp_checker *c, kp_list list, const kp_symbol *symbol) {
    const kp_type *type = NULL;
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_type *its = list.items[i]->type;
        if (its->kind == KP_TYPE_INT_LITERAL || (i == 2 && type != NULL))
            continue;
        if (type != NULL && kp_check_widens(its, type))
            continue;
        if (type != NULL && !kp_check_widens(type, its))
            kp_check_fail(c, list.items[i],
                          "the arguments of range have one type, but these are %s and %s; write %s(%s)", type->name,
                          its->name, type->name, kp_check_text(c, list.items[i]));
        type = its;
    }
    if (type != NULL)
        return type;
    return symbol->type != NULL && kp_type_is_int(symbol->type) && kp_type_is_scalar(symbol->type)
               ? symbol->type
               : kp_type_scalar(KP_I32);
}

// for x in TUPLE: ...   is   for k in range(len(TUPLE)): x = TUPLE[k]; ...
static bool for_in_tuple(kp_checker *c, kp_node *n) {
    const kp_node *tuple = kp_check_table(c, n->u.loop.range);
    if (tuple == NULL)
        return false;
    const kp_type *i32 = kp_type_scalar(KP_I32);
    kp_node *counter = kp_check_new_temporary(c, n->u.loop.target, i32);
    kp_node *assign = kp_check_new(c, KP_NODE_ASSIGN, n->u.loop.target, NULL);
    kp_node *item = kp_check_new(c, KP_NODE_SUBSCRIPT, n->u.loop.range, NULL);
    item->u.subscript.object = n->u.loop.range;
    item->u.subscript.index = kp_check_new(c, KP_NODE_VARIABLE, n->u.loop.target, i32);
    item->u.subscript.index->u.symbol = counter->u.symbol;
    assign->u.assign.targets = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    assign->u.assign.targets.items[0] = n->u.loop.target;
    assign->u.assign.value = item;
    assign->next = n->u.loop.body;
    n->u.loop.body = assign;
    n->u.loop.target = counter;
    n->u.loop.start = kp_check_constant(c, n, i32, (kp_value){.i = 0});
    n->u.loop.stop = kp_check_constant(c, n, i32, (kp_value){.i = tuple->u.list.count});
    n->u.loop.step = kp_check_constant(c, n, i32, (kp_value){.i = 1});
    n->u.loop.range = NULL;
    check_loop_body(c, n, false);
    return true;
}

static void check_for_each(kp_checker *c, kp_node *n) {
    kp_symbol *gone_over = kp_check_each(c, n);
    if (gone_over != NULL)
        gone_over->held++;
    check_loop_body(c, n, false);
    if (gone_over != NULL)
        gone_over->held--;
}

static void check_for(kp_checker *c, kp_node *n) {
    if (for_in_tuple(c, n))
        return;
    if (!kp_check_is_range(c, n->u.loop.range)) {
        check_for_each(c, n);
        return;
    }
    kp_list list = range_of(c, n);
    kp_node *target = n->u.loop.target;
    if (target->kind == KP_NODE_TUPLE)
        kp_check_fail(c, target, "a for loop over range(...) has one variable");
    if (target->kind != KP_NODE_NAME)
        kp_check_fail(c, target, "the variable of a for loop is a name");
    target = n->u.loop.target = kp_check_target(c, target, false);
    if (target->kind != KP_NODE_VARIABLE)
        kp_check_fail(c, target, "the variable of a for loop is a local, not a buffer");
    const kp_type *type = range_type(c, list, target->u.symbol);
    if (target->type != NULL && kp_type_is_int(target->type) && kp_check_widens(type, target->type))
        type = target->type;
    kp_node *value = kp_check_new(c, KP_NODE_TARGET, target, type); // stands for the numbers of the range
    if (target->type != NULL && target->type != type)
        fail_type(c, target, value);
    fit(c, target, value);
    kp_node *step = list.count == 3 ? list.items[2] : kp_check_whole_number(c, n->u.loop.range, 1);
    if (step->kind == KP_NODE_CONST && step->u.value.i == 0)
        kp_check_fail(c, step, "the step of range is not 0");
    const kp_type *plain = kp_type_scalar(kp_dtype_size(type->dtype) == 8 ? KP_I64 : KP_I32);
    const kp_type *step_type = step->type->kind == KP_TYPE_INT_LITERAL ? plain : step->type;
    n->u.loop.step = kp_check_coerce(c, step, step_type, "the step of range");
    n->u.loop.start = kp_check_coerce(c, list.count == 1 ? kp_check_whole_number(c, n->u.loop.range, 0) : list.items[0],
                                      type, "the start of range");
    n->u.loop.stop = kp_check_coerce(c, list.items[list.count == 1 ? 0 : 1], type, "the end of range");
    n->u.loop.range = NULL;
    check_loop_body(c, n, false);
}

void kp_check_fail_outside(kp_checker *c, const kp_node *n) {
    kp_check_fail(c, n, "'%s' is outside of any loop", n->kind == KP_NODE_BREAK ? "break" : "continue");
}

static void check_exit(kp_checker *c, kp_node *n) {
    if (c->loop == NULL)
        kp_check_fail_outside(c, n);
    if (n->kind == KP_NODE_BREAK)
        c->loop->node->u.loop.breaks = true;
    if (!c->dead)
        keep_exit(c);
    c->dead = true;
}

void kp_check_return_of_kernel(kp_checker *c, const kp_node *n) {
    if (n->u.operand != NULL && n->u.operand->kind != KP_NODE_NONE)
        kp_check_fail(c, n, "a kernel returns nothing; write the result to a buffer");
}

static void check_return(kp_checker *c, kp_node *n) {
    if (c->call != NULL) {
        kp_check_return(c, n);
        c->dead = true;
        return;
    }
    kp_check_return_of_kernel(c, n);
    n->u.operand = NULL;
    c->dead = true;
}

void kp_check_global(kp_checker *c, const kp_node *n) {
    for (uint32_t i = 0; i < n->u.list.count; i++) {
        const kp_node *name = n->u.list.items[i];
        if (kp_scope_find(&c->scope, name->u.name) != NULL)
            kp_check_fail(c, name,
                          "'%s' is assigned in this function, but what is outside of it is constant; write the "
                          "result to a buffer",
                          name->u.name->text);
    }
}

// A call of a helper may give any number of values here.
static void check_effect(kp_checker *c, kp_node *n) {
    kp_node *value = n->u.operand, *invoke = value->kind == KP_NODE_CALL ? kp_check_invoke(c, value) : NULL;
    if (invoke == NULL && kp_check_image_write(c, n)) {
        check_assign(c, n);
        return;
    }
    if (invoke != NULL)
        n->u.operand = invoke->type != NULL ? kp_check_settle(c, invoke) : invoke;
    else if (kp_check_is_print(c, value))
        kp_check_print(c, n, value);
    else
        n->u.operand = kp_check_value(c, value);
}

static void check_statement(kp_checker *c, kp_node *n) {
    switch (n->kind) {
    case KP_NODE_ASSIGN:
        check_assign(c, n);
        break;
    case KP_NODE_AUGMENT:
        check_augment(c, n);
        break;
    case KP_NODE_EXPRESSION:
        if (n->u.operand->kind == KP_NODE_STRING || n->u.operand->kind == KP_NODE_NONE)
            n->kind = KP_NODE_PASS; // a docstring
        else if (kp_check_is_barrier(c, n->u.operand))
            n->u.operand = kp_check_barrier(c, n->u.operand);
        else
            check_effect(c, n);
        if (n->kind == KP_NODE_EXPRESSION && n->u.operand->type != NULL &&
            (kp_type_is_opaque(n->u.operand->type) || kp_type_is_buffer(n->u.operand->type)))
            n->kind = KP_NODE_PASS; // a buffer's name alone: it is no value to be computed
        break;
    case KP_NODE_IF:
        check_if(c, n);
        break;
    case KP_NODE_WHILE:
        check_while(c, n);
        break;
    case KP_NODE_FOR:
        check_for(c, n);
        break;
    case KP_NODE_BREAK:
    case KP_NODE_CONTINUE:
        check_exit(c, n);
        break;
    case KP_NODE_RETURN:
        check_return(c, n);
        break;
    case KP_NODE_GLOBAL:
        kp_check_global(c, n);
        break;
    case KP_NODE_ASSERT:
        kp_check_assert(c, n);
        break;
    default:
        break;
    }
}

static void open_block(kp_checker *c) {
    if (c->block_count == c->block_capacity) {
        uint32_t capacity = c->block_capacity == 0 ? 64 : c->block_capacity * 2;
        uint32_t *blocks = KP_UNIT_NEW(c->unit, uint32_t, capacity);
        if (c->block_count != 0)
            memcpy(blocks, c->blocks, c->block_count * sizeof *blocks);
        c->blocks = blocks;
        c->block_capacity = capacity;
    }
    c->blocks[c->block_count++] = ++c->block_number;
}

// A statement may need others before it (kp_check_temporary): they are put in where it stands.
static void check_block(kp_checker *c, kp_node **first) {
    kp_node *prelude = c->prelude, *prelude_last = c->prelude_last; // of the statement that the block is in
    open_block(c);
    c->depth++;
    for (kp_node **link = first; *link != NULL; link = &(*link)->next) {
        kp_node *n = *link;
        c->prelude = c->prelude_last = NULL;
        check_statement(c, n);
        if (c->prelude != NULL) {
            *link = c->prelude;
            c->prelude_last->next = n;
            link = &c->prelude_last->next;
        }
    }
    c->prelude = prelude;
    c->prelude_last = prelude_last;
    c->block_count--;
    c->depth--;
}

void kp_check_body(kp_checker *c, kp_node **body) { check_block(c, body); }
