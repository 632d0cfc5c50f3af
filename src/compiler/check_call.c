// Calls: conversions, constructors, and the functions of builtins.def.
#include "checker.h"
#include "habit.h"

#include "builtin.h"
#include "fold.h"

#include <string.h>

kp_node *kp_check_builtin(kp_checker *c, const kp_node *n, const kp_builtin *row, kp_list list, const kp_type *type) {
    kp_node *call = kp_check_new(c, KP_NODE_BUILTIN, n, type);
    call->u.call.row = row;
    call->u.call.list = list;
    return call;
}

// ---------------------------------------------------------------------------------------------------------------------
// Conversions and constructors
// ---------------------------------------------------------------------------------------------------------------------

static kp_node *convert(kp_checker *c, kp_node *n, const kp_type *type, kp_node *value) {
    if (value->type->kind == KP_TYPE_ARRAY)
        kp_check_fail(c, n, "%s takes a number, but '%s' is %s; index it, as in %s[i]", type->name,
                      kp_check_text(c, value), kp_check_array_word(value->type), kp_check_text(c, value));
    if (kp_type_is_matrix(value->type))
        kp_check_fail(c, n, "%s takes a number or a vector, but this is %s; take its rows or elements", type->name,
                      value->type->name);
    bool spreads = kp_type_is_scalar(value->type);
    if (!spreads && kp_type_components(value->type) != kp_type_components(type))
        kp_check_fail(c, n, "%s %s cannot become %s %s", kp_check_article(value->type->name), value->type->name,
                      kp_check_article(type->name), type->name);
    kp_node *result = kp_check_cast(c, value, type);
    if (result != value) { // what is said of it is said of the whole call
        result->first = n->first;
        result->more = n->more;
    }
    return result;
}

// vec4(v.xy, 0, 1): scalars and vectors of the right kind, with the right number of components in all.
static kp_node *construct(kp_checker *c, kp_node *n, const kp_type *type, kp_list list) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_type *its = list.items[i]->type;
        if (its->kind == KP_TYPE_ARRAY || kp_type_is_opaque(its))
            convert(c, n, type, list.items[i]); // says what is wrong
        if (kp_type_is_struct(its))
            kp_check_fail(c, list.items[i], "a component is %s, but this is %s", type->element->name, its->name);
        const kp_type *wanted = kp_type_vector(type->dtype, kp_type_components(its));
        list.items[i] = kp_check_coerce(c, list.items[i], wanted, "a component");
        total += kp_type_components(its);
    }
    if (total != type->components)
        kp_check_fail(c, n, "%s has %u components, but these are %u", type->name, type->components, total);
    kp_node *result = kp_check_new(c, KP_NODE_CONSTRUCT, n, type);
    result->u.list = list;
    return result;
}

// vec3([x, y, z]) and vec3((x, y, z))
static void refuse_sequence(kp_checker *c, const kp_type *type, kp_list list) {
    if (list.count != 1 || type->kind != KP_TYPE_VECTOR)
        return;
    if (list.items[0]->kind == KP_NODE_LIST || list.items[0]->kind == KP_NODE_TUPLE)
        kp_check_fail(c, list.items[0], "%s takes its numbers one by one, as in %s(x, y%s)", type->name, type->name,
                      type->components == 2   ? ""
                      : type->components == 3 ? ", z"
                                              : ", z, w");
}

static kp_node *call_type(kp_checker *c, kp_node *n, const kp_type *type, kp_list list) {
    if (list.count == 1)
        return convert(c, n, type, list.items[0]);
    if (type->kind == KP_TYPE_SCALAR || list.count == 0)
        kp_check_fail(c, n, "%s takes %s, not %u", type->name,
                      type->kind == KP_TYPE_SCALAR ? "one value" : "one value or its components", list.count);
    return construct(c, n, type, list);
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions
// ---------------------------------------------------------------------------------------------------------------------

// Takes one argument more into the common type of floats.
static const kp_type *join_floats(kp_checker *c, kp_node *n, const char *name, const kp_type *type, kp_node *argument) {
    const kp_type *its = argument->type;
    bool mend = kp_type_is_int(its) && kp_type_is_scalar(its);
    if (!kp_type_is_float(its))
        kp_check_fail(c, argument, "%s takes floats, but this is %s%s%s%s", name, its->name, mend ? "; write f32(" : "",
                      mend ? kp_check_text(c, argument) : "", mend ? ")" : "");
    if (type == NULL)
        return its;
    if (type->components > 1 && its->components > 1 && its->components != type->components)
        kp_check_fail(c, n, "%s takes values of one type, but these are %s and %s", name, type->name, its->name);
    kp_dtype dtype = kp_type_holds(type->dtype, its->dtype) ? type->dtype : its->dtype;
    return kp_type_vector(dtype, type->components > 1 ? type->components : its->components);
}

// All arguments of one float type, the widest among them, f32 when there are only literals; scalars are spread.
const kp_type *kp_check_floats(kp_checker *c, kp_node *n, const char *name, kp_list list) {
    const kp_type *type = NULL;
    for (uint32_t i = 0; i < list.count; i++) {
        if (!kp_type_is_literal(list.items[i]->type))
            type = join_floats(c, n, name, type, list.items[i]);
    }
    if (type == NULL)
        type = kp_type_scalar(KP_F32);
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_type *its = list.items[i]->type;
        if (type->kind == KP_TYPE_VECTOR && its->kind == KP_TYPE_SCALAR)
            list.items[i] = kp_check_cast(c, kp_check_cast(c, list.items[i], type->element), type);
        else
            list.items[i] = kp_check_coerce(c, list.items[i], type, name);
    }
    return type;
}

// SPIR-V has most functions in 16 and 32 bits only.
const kp_type *kp_check_narrow(kp_checker *c, kp_node *n, const kp_builtin *row, const kp_type *type) {
    if (type->dtype == KP_F64)
        kp_check_fail(c, n, "devices have no %s of f64; compute it in f32, as in %s(%s(%s(%s)%s))", row->name,
                      type->name, row->name, kp_type_vector(KP_F32, type->components)->name,
                      kp_check_text(c, n->u.call.list.items[0]), n->u.call.list.count > 1 ? ", ..." : "");
    return type;
}

// All arguments of one numeric type, scalars spread.
const kp_type *kp_check_numbers(kp_checker *c, kp_node *n, const char *name, kp_list list) {
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_type *its = list.items[i]->type;
        if (!kp_type_is_numeric(its))
            kp_check_fail(c, list.items[i], "%s takes numbers, but this is %s", name, its->name);
        if (i > 0)
            kp_check_unify(c, n, name, &list.items[0], &list.items[i]);
    }
    for (uint32_t i = 1; i + 1 < list.count; i++) // what came before the widest one
        kp_check_unify(c, n, name, &list.items[0], &list.items[i]);
    for (uint32_t i = 0; i < list.count; i++)
        list.items[i] = kp_check_settle(c, list.items[i]);
    for (uint32_t i = 1; i < list.count; i++)
        kp_check_unify(c, n, name, &list.items[0], &list.items[i]);
    return list.items[0]->type;
}

static bool all_constant(kp_list list) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.items[i]->kind != KP_NODE_CONST)
            return false;
    }
    return true;
}

static kp_node *call_min_max(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    if (list.count == 1) {
        const kp_type *type = list.items[0]->type;
        if (type->kind != KP_TYPE_VECTOR || kp_type_is_bool(type))
            kp_check_fail(c, n, "%s takes two numbers or more, or one vector", row->name);
        return kp_check_builtin(c, n, row, list, type->element);
    }
    bool literals = all_constant(list);
    for (uint32_t i = 0; i < list.count; i++)
        literals &= kp_type_is_literal(list.items[i]->type);
    if (literals) {
        kp_token_kind op = row->op == KP_CALL_MIN ? KP_TOKEN_LESS : KP_TOKEN_GREATER;
        kp_node *best = list.items[0];
        for (uint32_t i = 1; i < list.count; i++) {
            kp_node *left = list.items[i], *right = best;
            kp_check_unify(c, n, row->name, &left, &right);
            if (kp_fold_compare(op, left->type, left->u.value, right->u.value))
                best = list.items[i];
        }
        return best;
    }
    return kp_check_builtin(c, n, row, list, kp_check_numbers(c, n, row->name, list));
}

static kp_node *call_abs_sign(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    const kp_type *type = list.items[0]->type;
    if (!kp_type_is_numeric(type))
        kp_check_fail(c, list.items[0], "%s takes a number, but this is %s", row->name, type->name);
    if (row->op == KP_CALL_ABS && list.items[0]->kind == KP_NODE_CONST) {
        kp_value value = list.items[0]->u.value;
        bool negative = kp_fold_compare(KP_TOKEN_LESS, type, value, (kp_value){0});
        if (kp_type_is_float(type))
            value.f = value.f < 0 || value.f == 0 ? 0 - value.f : value.f;
        else if (negative)
            kp_fold_unary(KP_TOKEN_MINUS, type, value, &value);
        list.items[0]->u.value = value;
        return list.items[0];
    }
    list.items[0] = kp_check_settle(c, list.items[0]);
    return kp_check_builtin(c, n, row, list, list.items[0]->type);
}

static kp_node *call_pow(kp_checker *c, kp_node *n, kp_list list) {
    kp_node *binary = kp_check_new(c, KP_NODE_BINARY, n, NULL);
    binary->op = KP_TOKEN_DOUBLE_STAR;
    return kp_check_combine(c, binary, list.items[0], list.items[1]);
}

static kp_node *call_len(kp_checker *c, kp_node *n, kp_list list) {
    const kp_node *object = list.items[0];
    const kp_type *type = object->type;
    if (object->kind == KP_NODE_BUFFER && object->u.symbol->kind == KP_SYMBOL_SHARED)
        return object->u.symbol->axes[0];
    if (type->kind == KP_TYPE_VECTOR || type->length != 0) { // a matrix, and an array
        kp_node *k = kp_check_new(c, KP_NODE_CONST, n, kp_type_int_literal());
        k->u.value.i = type->kind == KP_TYPE_VECTOR ? type->components : type->length;
        return k;
    }
    if (type->kind == KP_TYPE_ARRAY && type->axes != 0)
        return kp_check_shape(c, n, object, 0);
    if (type->kind != KP_TYPE_ARRAY)
        kp_check_fail(c, object, "len takes an array or a vector, but this is %s", type->name);
    kp_node *length = kp_check_new(c, KP_NODE_LENGTH, n, kp_type_scalar(KP_I32));
    length->u.symbol = object->u.symbol;
    return length;
}

static kp_node *call_vector(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    const kp_type *type = list.items[0]->type;
    bool wants_bools = row->op != KP_CALL_SUM && row->op != KP_CALL_PROD;
    if (type->kind != KP_TYPE_VECTOR || kp_type_is_bool(type) != wants_bools)
        kp_check_fail(c, list.items[0], "%s takes a vector of %s, but this is %s", row->name,
                      wants_bools ? "bools" : "numbers", type->name);
    return kp_check_builtin(c, n, row, list, type->element);
}

static kp_node *call_dot(kp_checker *c, kp_node *n, kp_list list) {
    kp_node *binary = kp_check_new(c, KP_NODE_BINARY, n, NULL);
    binary->op = KP_TOKEN_AT;
    return kp_check_combine(c, binary, list.items[0], list.items[1]);
}

static kp_node *call_custom(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    switch ((kp_builtin_call)row->op) {
    case KP_CALL_MIN:
    case KP_CALL_MAX:
        return call_min_max(c, n, row, list);
    case KP_CALL_CLAMP:
        return kp_check_builtin(c, n, row, list, kp_check_numbers(c, n, row->name, list));
    case KP_CALL_ABS:
    case KP_CALL_SIGN:
        return call_abs_sign(c, n, row, list);
    case KP_CALL_POW:
        return call_pow(c, n, list);
    case KP_CALL_LEN:
        return call_len(c, n, list);
    case KP_CALL_SUM:
    case KP_CALL_PROD:
    case KP_CALL_ANY_OF:
    case KP_CALL_ALL_OF:
        return call_vector(c, n, row, list);
    case KP_CALL_DOT:
        return call_dot(c, n, list);
    case KP_CALL_ISNAN:
    case KP_CALL_ISINF:
    case KP_CALL_ISFINITE: {
        const kp_type *type = kp_check_floats(c, n, row->name, list);
        return kp_check_builtin(c, n, row, list, kp_type_vector(KP_BOOL, kp_type_components(type)));
    }
    case KP_CALL_CROSS: {
        const kp_type *type = kp_check_floats(c, n, row->name, list);
        if (type->components != 3)
            kp_check_fail(c, n, "cross takes two vec3, but these are %s", type->name);
        return kp_check_builtin(c, n, row, list, type);
    }
    case KP_CALL_DIVMOD:
    case KP_CALL_MODF:
        kp_check_fail(c, n, "%s gives two values; assign them to two names, as in a, b = %s(...)", row->name,
                      row->name);
    case KP_CALL_LOG:
    case KP_CALL_LOG10:
        return kp_check_builtin(c, n, row, list, kp_check_narrow(c, n, row, kp_check_floats(c, n, row->name, list)));
    default:
        return kp_check_builtin(c, n, row, list, kp_check_floats(c, n, row->name, list));
    }
}

void kp_check_count(kp_checker *c, const kp_node *n, const kp_builtin *row, uint32_t count) {
    if (count >= row->least && count <= row->most)
        return;
    if (row->least == row->most)
        kp_check_fail(c, n, "%s takes %u argument%s, not %u", row->name, row->least, row->least == 1 ? "" : "s", count);
    if (row->most == KP_BUILTIN_ANY)
        kp_check_fail(c, n, "%s takes at least %u argument, not %u", row->name, row->least, count);
    kp_check_fail(c, n, "%s takes %u to %u arguments, not %u", row->name, row->least, row->most, count);
}

// float("inf") and the like.
static _Noreturn void fail_string(kp_checker *c, const kp_node *n) {
    const char *text = c->unit->text + n->first->at + 1; // behind the quote
    bool inf = strncmp(text, "inf", 3) == 0, nan = strncmp(text, "nan", 3) == 0;
    kp_check_fail(c, n, "strings are not in the kernel language%s",
                  inf   ? "; write math.inf"
                  : nan ? "; write math.nan"
                        : "");
}

// What goes over all that it is given, in Python.
static bool goes_over(const char *name) {
    return strcmp(name, "sum") == 0 || strcmp(name, "prod") == 0 || strcmp(name, "min") == 0 ||
           strcmp(name, "max") == 0 || strcmp(name, "any") == 0 || strcmp(name, "all") == 0;
}

void kp_check_plain_argument(kp_checker *c, const kp_node *n, const char *name) {
    if (n->kind == KP_NODE_KEYWORD)
        kp_check_fail(c, n, "%s takes no names for its arguments", name);
    if (n->kind == KP_NODE_STRING)
        fail_string(c, n);
}

void kp_check_arguments(kp_checker *c, kp_list list, const char *name) {
    bool least = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
    if (least && list.count == 1 && kp_ast_is_group(list.items[0]))
        kp_check_fail(c, list.items[0], "%s takes its values one by one, as in %s(a, b)", name, name);
    for (uint32_t i = 0; i < list.count; i++) {
        kp_check_plain_argument(c, list.items[i], name);
        list.items[i] = kp_check_expr(c, list.items[i]);
        if (list.items[i]->type->kind == KP_TYPE_ARRAY && list.count == 1 && goes_over(name))
            kp_check_fail(c, list.items[i], "%s takes values, but '%s' is %s; go over it in a for loop", name,
                          kp_check_text(c, list.items[i]), kp_check_array_word(list.items[i]->type));
        if (list.items[i]->type->kind == KP_TYPE_ARRAY && strcmp(name, "len") != 0)
            kp_check_fail(c, list.items[i], "%s takes values, but '%s' is %s; index it, as in %s[i]", name,
                          kp_check_text(c, list.items[i]), kp_check_array_word(list.items[i]->type),
                          kp_check_text(c, list.items[i]));
    }
}

static kp_node *call_builtin(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_list list = n->u.call.list;
    kp_check_count(c, n, row, list.count);
    if (row->rule == KP_BUILTIN_LIBRARY)
        return kp_check_library(c, n, row);
    if (row->rule == KP_BUILTIN_IMAGE)
        return kp_check_image_call(c, n, row);
    if (row->rule == KP_BUILTIN_BITS)
        return kp_check_bits(c, n, row, list);
    kp_node *tuple = row->rule == KP_BUILTIN_CUSTOM && row->op == KP_CALL_LEN ? kp_check_table(c, list.items[0]) : NULL;
    if (tuple != NULL)
        return kp_check_constant(c, n, kp_type_int_literal(), (kp_value){.i = tuple->u.list.count});
    if (row->rule == KP_BUILTIN_BARRIER || row->rule == KP_BUILTIN_ATOMIC || row->rule == KP_BUILTIN_SUBGROUP)
        return kp_check_parallel(c, n, row);
    if (kp_check_is_shared(c, n))
        kp_check_fail(c, n, "shared memory has a name of its own; assign it to one, as in tile = shared(f32, 256)");
    kp_check_arguments(c, list, row->name);
    if (row->rule == KP_BUILTIN_CUSTOM)
        return call_custom(c, n, row, list);
    if (row->rule == KP_BUILTIN_MATRIX)
        return kp_check_matrix_call(c, n, row, list);
    const kp_type *type = kp_check_floats(c, n, row->name, list);
    if (row->rule == KP_BUILTIN_NARROW)
        kp_check_narrow(c, n, row, type);
    if (row->rule == KP_BUILTIN_VECTORS && type->kind == KP_TYPE_VECTOR)
        type = type->element;
    return kp_check_builtin(c, n, row, list, type);
}

static _Noreturn void fail_unknown(kp_checker *c, const kp_node *n, const kp_name *name) {
    if (strcmp(name->text, "print") == 0)
        kp_check_fail(c, n, "print gives no value; it is a statement of its own");
    if (strcmp(name->text, "range") == 0)
        kp_check_fail(c, n, "range(...) is for the head of a for loop only");
    const char *hint = kp_habit_name(c->unit, name->text);
    if (*hint != '\0')
        kp_check_fail(c, n, "there is no function '%s' in the kernel language%s", name->text, hint);
    const char *best = kp_builtin_nearest(name, kp_error_nearness(name->length));
    if (best != NULL)
        kp_check_fail(c, n, "there is no function '%s'; did you mean %s?", name->text, best);
    kp_check_fail(c, n, "there is no function '%s' in the kernel language", name->text);
}

// A call of a helper that gives one value.
static kp_node *one_value(kp_checker *c, kp_node *invoke) {
    if (invoke->kind == KP_NODE_CONST)
        return invoke;
    const kp_instance *instance = invoke->u.invoke.instance;
    if (instance->return_count == 0)
        kp_check_fail(c, invoke, "%s returns nothing; it has no return with a value", instance->name);
    if (instance->return_count > 1)
        kp_check_fail(c, invoke, "%s gives %u values; assign them to %u names", instance->name, instance->return_count,
                      instance->return_count);
    return invoke;
}

// pyshader's isqrt is not Python's.
static void refuse_isqrt(kp_checker *c, const kp_node *callee, const kp_name *name) {
    const kp_node *module = callee->kind == KP_NODE_ATTRIBUTE ? callee->u.attribute.object : NULL;
    if (module != NULL && module->kind == KP_NODE_NAME && strcmp(module->u.name->text, "math") == 0 &&
        strcmp(name->text, "isqrt") == 0)
        kp_check_fail(c, callee,
                      "math.isqrt is not in the kernel language, whose isqrt(x) is one over the square root");
}

const kp_builtin *kp_check_builtin_named(kp_checker *c, const kp_node *callee, const kp_name *name) {
    const kp_builtin *row = kp_builtin_find(name);
    if (row == NULL)
        fail_unknown(c, callee, name);
    refuse_isqrt(c, callee, name);
    return row;
}

void kp_check_fail_call(kp_checker *c, const kp_node *callee) {
    if (callee->kind == KP_NODE_ATTRIBUTE)
        kp_check_fail(c, callee, "methods are not in the kernel language%s",
                      kp_habit_member(c->unit, callee->u.attribute.name->text));
    kp_check_fail(c, callee, "'%s' is not a function", kp_check_text(c, callee));
}

kp_node *kp_check_call(kp_checker *c, kp_node *n) {
    kp_node *callee = n->u.call.callee;
    kp_node *invoke = kp_check_invoke(c, n);
    if (invoke != NULL)
        return one_value(c, invoke);
    const kp_name *name = kp_check_path(c, callee);
    if (name == NULL) {
        kp_node *method = kp_check_image_method(c, n);
        if (method == NULL)
            method = kp_check_bits_method(c, n);
        if (method != NULL)
            return method;
        const kp_type *array = callee->kind == KP_NODE_CALL ? kp_signature_array_type(c, callee) : NULL;
        if (array != NULL)
            return kp_check_array_zeros(c, n, array);
        if (callee->kind == KP_NODE_ATTRIBUTE && strcmp(callee->u.attribute.name->text, "copy") == 0)
            return kp_check_array_copy(c, n);
        kp_check_fail_call(c, callee);
    }
    const kp_type *type = kp_check_struct_named(c, callee);
    if (type != NULL && kp_type_is_struct(type))
        return kp_check_struct_make(c, n, type);
    type = type != NULL ? type : kp_type_find(name->text);
    if (type != NULL && kp_type_is_matrix(type))
        return kp_check_matrix(c, n, type, n->u.call.list);
    if (type != NULL) {
        refuse_sequence(c, type, n->u.call.list);
        kp_check_arguments(c, n->u.call.list, name->text);
        return call_type(c, n, type, n->u.call.list);
    }
    if (kp_builtin_find(name) == NULL && c->module->library)
        return kp_check_primitive(c, n, kp_builtin_primitive(name));
    return call_builtin(c, n, kp_check_builtin_named(c, callee, name));
}

// ---------------------------------------------------------------------------------------------------------------------
// Calls that give several values
// ---------------------------------------------------------------------------------------------------------------------

static kp_node *pair(kp_checker *c, kp_node *n, kp_node *first, kp_node *second) {
    kp_node *tuple = kp_check_new(c, KP_NODE_TUPLE, n, NULL);
    tuple->u.list = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 2), .count = 2};
    tuple->u.list.items[0] = first;
    tuple->u.list.items[1] = second;
    return tuple;
}

static kp_node *binary(kp_checker *c, kp_node *n, kp_token_kind op, kp_node *left, kp_node *right) {
    kp_node *b = kp_check_new(c, KP_NODE_BINARY, n, NULL);
    b->op = (uint8_t)op;
    return kp_check_combine(c, b, left, right);
}

// (x // y, x % y)
static kp_node *divmod(kp_checker *c, kp_node *n, kp_list list) {
    kp_check_unify(c, n, "divmod", &list.items[0], &list.items[1]);
    kp_node *x = kp_check_temporary(c, kp_check_settle(c, list.items[0]));
    kp_node *y = kp_check_temporary(c, kp_check_settle(c, list.items[1]));
    return pair(c, n, binary(c, n, KP_TOKEN_DOUBLE_SLASH, x, y), binary(c, n, KP_TOKEN_PERCENT, x, y));
}

// math.modf: (the part behind the point, the whole part), both with the sign of x
static kp_node *modf_pair(kp_checker *c, kp_node *n, kp_list list, const kp_builtin *row) {
    const kp_type *type = kp_check_floats(c, n, "modf", list);
    list.items[0] = kp_check_temporary(c, list.items[0]);
    static const kp_name name = {.text = "trunc", .length = 5};
    kp_node *whole = kp_check_builtin(c, n, kp_builtin_find(&name), list, type);
    return pair(c, n, kp_check_builtin(c, n, row, list, type), whole);
}

// What a helper gives, in temporaries.
static kp_node *unpacked(kp_checker *c, kp_node *invoke) {
    const kp_instance *instance = invoke->u.invoke.instance;
    kp_list list = {.items = KP_UNIT_NEW(c->unit, kp_node *, instance->return_count), .count = instance->return_count};
    kp_node *unpack = kp_check_new(c, KP_NODE_UNPACK, invoke, NULL);
    for (uint32_t i = 0; i < list.count; i++)
        list.items[i] = kp_check_new_temporary(c, invoke, instance->returns[i]);
    unpack->u.unpack.targets = list;
    unpack->u.unpack.value = invoke;
    kp_check_before(c, unpack);
    kp_node *tuple = kp_check_new(c, KP_NODE_TUPLE, invoke, NULL);
    tuple->u.list = list;
    return tuple;
}

kp_node *kp_check_several(kp_checker *c, kp_node *n) {
    kp_node *invoke = kp_check_invoke(c, n);
    if (invoke != NULL && invoke->kind == KP_NODE_CONST)
        return invoke;
    if (invoke != NULL)
        return invoke->u.invoke.instance->return_count > 1 ? unpacked(c, invoke) : one_value(c, invoke);
    const kp_name *name = kp_check_path(c, n->u.call.callee);
    const kp_builtin *row = name != NULL ? kp_builtin_find(name) : NULL;
    bool frexp = row != NULL && row->rule == KP_BUILTIN_LIBRARY && row->op == KP_LIBRARY_FREXP;
    bool two = row != NULL && row->rule == KP_BUILTIN_CUSTOM && (row->op == KP_CALL_DIVMOD || row->op == KP_CALL_MODF);
    if (!frexp && !two)
        return NULL;
    kp_check_count(c, n, row, n->u.call.list.count);
    if (frexp)
        return kp_check_library_pair(c, n, row);
    kp_check_arguments(c, n->u.call.list, row->name);
    return row->op == KP_CALL_DIVMOD ? divmod(c, n, n->u.call.list) : modf_pair(c, n, n->u.call.list, row);
}
