// The functions of library.py: what they take is checked here, at the call; then an instance of the function is made
// for the types, as for one of the source. f16 becomes f32 before, and f16 again after.
#include "checker.h"

#include "builtin.h"

#include <stdio.h>
#include <string.h>

// The call of library.py's `name`, for arguments of one type, or one number of components, of which none is f16.
static kp_node *call(kp_checker *c, kp_node *n, const char *name, kp_list list) {
    uint32_t components = kp_type_components(list.items[0]->type);
    kp_list scalars = {.items = KP_UNIT_NEW(c->unit, kp_node *, list.count), .count = list.count};
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_type *type = list.items[i]->type;
        scalars.items[i] = components == 1 ? list.items[i] : kp_check_new(c, KP_NODE_CAST, n, type->element);
    }
    kp_instance *instance = kp_check_instance(c, n, name, scalars);
    kp_node *result = kp_check_new(c, KP_NODE_LIBRARY, n, kp_type_vector(instance->returns[0]->dtype, components));
    result->u.invoke.instance = instance;
    result->u.invoke.list = list;
    return result;
}

static kp_list pick(kp_checker *c, kp_node *const *items, uint32_t count) {
    kp_list list = {.items = KP_UNIT_NEW(c->unit, kp_node *, count), .count = count};
    memcpy(list.items, items, count * sizeof *items);
    return list;
}

static const kp_type *widened(const kp_type *type) {
    return type->dtype == KP_F16 ? kp_type_vector(KP_F32, type->components) : type;
}

// Floats of one type, of which f16 becomes f32; *type: what it was.
static kp_list floats(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list, const kp_type **type) {
    kp_check_arguments(c, list, row->name);
    *type = kp_check_floats(c, n, row->name, list);
    if (row->op == KP_LIBRARY_NARROW)
        kp_check_narrow(c, n, row, *type);
    for (uint32_t i = 0; i < list.count; i++)
        list.items[i] = kp_check_cast(c, list.items[i], widened(*type));
    return list;
}

static kp_node *call_floats(kp_checker *c, kp_node *n, const kp_builtin *row) {
    const kp_type *type;
    kp_list list = floats(c, n, row, n->u.call.list, &type);
    char name[32];
    snprintf(name, sizeof name, "%s%s", row->name, row->op == KP_LIBRARY_DIGITS && type->dtype == KP_F16 ? "_16" : "");
    return kp_check_cast(c, call(c, n, name, list), type);
}

// Integers of one type, scalars spread.
static const kp_type *integers(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_list list = n->u.call.list;
    kp_check_arguments(c, list, row->name);
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_type *type = list.items[i]->type;
        if (!kp_type_is_int(type))
            kp_check_fail(c, list.items[i], "%s takes integers, but this is %s", row->name, type->name);
    }
    return kp_check_numbers(c, n, row->name, list);
}

static kp_node *call_whole(kp_checker *c, kp_node *n, const kp_builtin *row) {
    integers(c, n, row);
    kp_list list = n->u.call.list;
    return call(c, n, row->op == KP_LIBRARY_PERM && list.count == 1 ? "factorial" : row->name, list);
}

// gcd(a, b, c) is gcd(gcd(a, b), c), and of one number both are its magnitude.
static kp_node *call_fold(kp_checker *c, kp_node *n, const kp_builtin *row) {
    integers(c, n, row);
    kp_list list = n->u.call.list;
    kp_node *result = list.items[0];
    if (list.count == 1)
        return call(c, n, "magnitude", list);
    for (uint32_t i = 1; i < list.count; i++)
        result = call(c, n, row->name, pick(c, (kp_node *[]){result, list.items[i]}, 2));
    return result;
}

// Of more than four the first four make one.
static kp_node *hypot_of(kp_checker *c, kp_node *n, kp_list list) {
    while (list.count > 4) {
        kp_list first = pick(c, list.items, 4);
        list = pick(c, list.items + 3, list.count - 3);
        list.items[0] = call(c, n, "hypot_4", first);
    }
    static const char *const names[] = {"hypot_1", "hypot_2", "hypot_3", "hypot_4"};
    return call(c, n, names[list.count - 1], list);
}

static kp_node *call_hypot(kp_checker *c, kp_node *n, const kp_builtin *row) {
    const kp_type *type;
    kp_list list = floats(c, n, row, n->u.call.list, &type);
    return kp_check_cast(c, hypot_of(c, n, list), type);
}

// math.dist of two points.
static kp_node *call_dist(kp_checker *c, kp_node *n, const kp_builtin *row) {
    const kp_type *type;
    kp_list list = floats(c, n, row, n->u.call.list, &type);
    if (type->kind != KP_TYPE_VECTOR)
        kp_check_fail(c, n, "dist takes two vectors of floats, but these are %s", type->name);
    char name[32];
    snprintf(name, sizeof name, "dist_%u", type->components);
    kp_instance *instance = kp_check_instance(c, n, name, list);
    kp_node *result = kp_check_new(c, KP_NODE_LIBRARY, n, instance->returns[0]);
    result->u.invoke.instance = instance;
    result->u.invoke.list = list;
    return kp_check_cast(c, result, type->element);
}

static kp_node *call_ldexp(kp_checker *c, kp_node *n, const kp_builtin *row) {
    const kp_type *type;
    kp_list both = n->u.call.list;
    kp_list list = floats(c, n, row, pick(c, both.items, 1), &type), counts = pick(c, both.items + 1, 1);
    kp_check_arguments(c, counts, row->name);
    uint32_t components = type->components, its = kp_type_components(counts.items[0]->type);
    if (components > 1 && its > 1 && components != its)
        kp_check_fail(c, n, "ldexp takes as many exponents as numbers, but these are %s and %s", type->name,
                      counts.items[0]->type->name);
    kp_node *count = kp_check_coerce(c, counts.items[0], kp_type_vector(KP_I32, its), "the exponent of ldexp");
    if (components == 1)
        type = kp_type_vector(type->dtype, its);
    components = type->components;
    list = pick(c,
                (kp_node *[]){kp_check_cast(c, list.items[0], widened(type)),
                              kp_check_cast(c, count, kp_type_vector(KP_I32, components))},
                2);
    return kp_check_cast(c, call(c, n, "ldexp", list), type);
}

// rel_tol and abs_tol by name, as in Python.
static kp_node *call_isclose(kp_checker *c, kp_node *n, const kp_builtin *row) {
    static const char *const names[2] = {"rel_tol", "abs_tol"};
    kp_node *given[2] = {kp_check_constant(c, n, kp_type_float_literal(), (kp_value){.f = 1e-9}),
                         kp_check_constant(c, n, kp_type_float_literal(), (kp_value){.f = 0})};
    kp_list list = n->u.call.list;
    for (uint32_t i = 2; i < list.count; i++) {
        kp_node *argument = list.items[i];
        uint32_t k = 0;
        while (k < 2 && (argument->kind != KP_NODE_KEYWORD || strcmp(argument->u.keyword.name->text, names[k]) != 0))
            k++;
        if (k == 2)
            kp_check_fail(c, argument, "isclose takes two numbers, and rel_tol= and abs_tol= by name");
        given[k] = kp_check_expr(c, argument->u.keyword.value);
    }
    kp_list values = pick(c, (kp_node *[]){list.items[0], list.items[1], NULL, NULL}, 4);
    kp_check_arguments(c, (kp_list){.items = values.items, .count = 2}, row->name);
    values.items[2] = given[0];
    values.items[3] = given[1];
    const kp_type *type = kp_check_floats(c, n, row->name, values);
    for (uint32_t i = 0; i < 4; i++)
        values.items[i] = kp_check_cast(c, values.items[i], widened(type));
    return call(c, n, row->name, values);
}

kp_node *kp_check_library(kp_checker *c, kp_node *n, const kp_builtin *row) {
    switch ((kp_library_call)row->op) {
    case KP_LIBRARY_WHOLE:
    case KP_LIBRARY_PERM:
        return call_whole(c, n, row);
    case KP_LIBRARY_FOLD:
        return call_fold(c, n, row);
    case KP_LIBRARY_HYPOT:
        return call_hypot(c, n, row);
    case KP_LIBRARY_DIST:
        return call_dist(c, n, row);
    case KP_LIBRARY_LDEXP:
        return call_ldexp(c, n, row);
    case KP_LIBRARY_FREXP:
        kp_check_fail(c, n, "frexp gives two values; assign them to two names, as in a, b = frexp(...)");
    case KP_LIBRARY_ISCLOSE:
        return call_isclose(c, n, row);
    default:
        return call_floats(c, n, row);
    }
}

kp_node *kp_check_library_pair(kp_checker *c, kp_node *n, const kp_builtin *row) {
    const kp_type *type;
    kp_list list = floats(c, n, row, n->u.call.list, &type);
    list.items[0] = kp_check_temporary(c, list.items[0]);
    kp_node *tuple = kp_check_new(c, KP_NODE_TUPLE, n, NULL);
    tuple->u.list = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 2), .count = 2};
    tuple->u.list.items[0] = kp_check_cast(c, call(c, n, "frexp_mantissa", list), type);
    tuple->u.list.items[1] = call(c, n, "frexp_exponent", list);
    return tuple;
}

kp_node *kp_check_primitive(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_list list = n->u.call.list;
    for (uint32_t i = 0; i < list.count; i++)
        list.items[i] = kp_check_expr(c, list.items[i]);
    const kp_type *type = list.items[0]->type, *u32 = kp_type_scalar(KP_U32);
    if (row->op == KP_PRIMITIVE_WIDE)
        return kp_check_constant(c, n, kp_type_int_literal(), (kp_value){.i = type->dtype == KP_F64});
    for (uint32_t i = 1; i < list.count; i++)
        list.items[i] = kp_check_coerce(c, list.items[i], u32, "a word");
    kp_node *result = kp_check_new(c, KP_NODE_BUILTIN, n, row->op == KP_PRIMITIVE_REAL ? type : u32);
    result->u.call.row = row;
    result->u.call.list = list;
    return result;
}
