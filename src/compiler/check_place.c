// Names and places: what a name stands for, elements, components, and what can be assigned to.
#include "checker.h"
#include "habit.h"

#include "fold.h"

#include "builtin.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------------------------------

// A kernel that has no index, but uses one.
static bool misses_index(const kp_checker *c, const char *name) {
    static const char *const names[] = {"i", "idx", "index", "gid", "tid", "thread_id"};
    for (uint32_t i = 0; i < c->kernel->param_count; i++) {
        if (c->kernel->params[i].kind == KP_PARAM_INPUT)
            return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static _Noreturn void fail_unknown(kp_checker *c, const kp_node *n) {
    const kp_name *name = n->u.name;
    const char *hint = kp_habit_comment(c->unit, n->first);
    if (*hint == '\0')
        hint = kp_habit_name(c->unit, name->text);
    if (c->call == NULL && misses_index(c, name->text))
        kp_check_fail(c, n, "there is no '%s' here; the index is a parameter, %s: Index", name->text, name->text);
    if (*hint != '\0')
        kp_check_fail(c, n, "there is no '%s' here%s", name->text, hint);
    const char *best = NULL;
    uint32_t nearest = kp_error_nearness(name->length);
    for (const kp_symbol *s = c->scope.first; s != NULL; s = s->next) {
        uint32_t distance = s->name == NULL || s->name == name // the variable of a comprehension that has ended
                                ? nearest
                                : kp_error_distance(name->text, name->length, s->name->text, s->name->length, nearest);
        if (distance < nearest) {
            nearest = distance;
            best = s->name->text;
        }
    }
    const char *builtin = kp_builtin_nearest(name, nearest);
    best = builtin != NULL ? builtin : best;
    if (best != NULL)
        kp_check_fail(c, n, "there is no '%s' here; did you mean '%s'?", name->text, best);
    kp_check_fail(c, n,
                  "there is no '%s' here: it is neither a parameter, nor assigned in the kernel, nor a name of "
                  "the kernel language",
                  name->text);
}

// True inside of the block of that number.
static bool is_open(const kp_checker *c, uint32_t block) {
    for (uint32_t i = c->block_count; i-- > 0;) {
        if (c->blocks[i] <= block)
            return c->blocks[i] == block;
    }
    return false;
}

void kp_check_fail_target(kp_checker *c, const kp_node *n) { kp_check_fail(c, n, "this cannot be assigned to"); }

void kp_check_fail_unassigned(kp_checker *c, const kp_node *n) {
    kp_check_fail(c, n, "'%s' is used here before it is assigned", kp_check_text(c, n));
}

static kp_node *check_symbol(kp_checker *c, kp_node *n, kp_symbol *symbol) {
    if (symbol->kind == KP_SYMBOL_CONSTANT && symbol->tuple != NULL)
        kp_check_fail(c, n, "'%s' is a tuple; index it, as in %s[0], or assign it to several names", symbol->name->text,
                      symbol->name->text);
    if (symbol->kind == KP_SYMBOL_CONSTANT)
        return kp_check_constant(c, n, symbol->type, symbol->value);
    if (symbol->kind == KP_SYMBOL_LOCAL) {
        bool comes_round = c->loop != NULL && symbol->loop == c->loop->outermost; // in the loop's last turn
        if (symbol->type == NULL || (!symbol->reached && !comes_round && !c->dead))
            kp_check_fail_unassigned(c, n);
        symbol->zeroed |= !symbol->reached || !is_open(c, symbol->home);
    }
    if (symbol->fixed && !symbol->stored)
        return kp_check_constant(c, n, symbol->type, symbol->value);
    bool buffer = symbol->kind == KP_SYMBOL_BUFFER || symbol->kind == KP_SYMBOL_SHARED;
    if (buffer && symbol->type->kind != KP_TYPE_ARRAY && !kp_type_is_opaque(symbol->type))
        symbol->reads = true;
    kp_node *use = kp_check_new(c, buffer ? KP_NODE_BUFFER : KP_NODE_VARIABLE, n, symbol->type);
    use->u.symbol = symbol;
    return use;
}

kp_node *kp_check_name(kp_checker *c, kp_node *n) {
    kp_symbol *symbol = kp_check_find(c, n->u.name);
    if (symbol != NULL)
        return check_symbol(c, n, symbol);
    kp_node *captured = kp_check_captured(c, n);
    if (captured != NULL)
        return captured;
    if (kp_builtin_find(n->u.name) != NULL)
        kp_check_fail(c, n, "'%s' is a function; call it, as in %s(...)", n->u.name->text, n->u.name->text);
    if (kp_check_struct_named(c, n) != NULL)
        kp_check_fail(c, n, "'%s' is a type; make one, as in %s(...)", n->u.name->text, n->u.name->text);
    if (kp_type_find(n->u.name->text) != NULL)
        kp_check_fail(c, n, "'%s' is a type; convert to it, as in %s(x)", n->u.name->text, n->u.name->text);
    fail_unknown(c, n);
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements and components
// ---------------------------------------------------------------------------------------------------------------------

static void read_swizzle(kp_checker *c, kp_node *n, const kp_type *type, kp_node *swizzle) {
    static const char *const letters[] = {"xyzw", "rgba"};
    const kp_name *name = n->u.attribute.name;
    if (name->length > 4)
        kp_error_at(c->unit, n->u.attribute.at, NULL, "a swizzle has one to four components");
    const char *set = strchr(letters[0], name->text[0]) != NULL ? letters[0] : letters[1];
    for (uint32_t i = 0; i < name->length; i++) {
        const char *at = strchr(set, name->text[i]);
        if (at == NULL)
            kp_error_at(c->unit, n->u.attribute.at, NULL, "%s has no '%s'; a vector has the components xyzw, or rgba",
                        type->name, name->text);
        if ((uint32_t)(at - set) >= type->components)
            kp_error_at(c->unit, n->u.attribute.at, NULL, "%s has no component '%c'", type->name, name->text[i]);
        swizzle->u.swizzle.components[i] = (uint8_t)(at - set);
    }
    swizzle->u.swizzle.count = (uint8_t)name->length;
}

// True for the parameter i: Index and the like.
static bool is_index(const kp_checker *c, const kp_node *n) {
    for (uint32_t i = 0; n->kind == KP_NODE_VARIABLE && i < c->kernel->param_count; i++) {
        const kp_check_param *param = &c->kernel->params[i];
        if (param->symbol == n->u.symbol)
            return param->kind == KP_PARAM_INPUT && kp_type_is_scalar(param->symbol->type);
    }
    return false;
}

static kp_node *swizzle_of(kp_checker *c, kp_node *n, kp_node *object) {
    if (object->type == NULL)
        kp_check_fail_unassigned(c, object);
    if (kp_type_is_image(object->type))
        return kp_check_image_member(c, n, object);
    const char *hint = kp_habit_member(c->unit, n->u.attribute.name->text);
    if (object->type->kind == KP_TYPE_ARRAY && *hint != '\0')
        kp_check_fail(c, n, "'%s' is a buffer and has no '%s'%s", kp_check_text(c, object), n->u.attribute.name->text,
                      hint);
    if (object->type->kind == KP_TYPE_ARRAY)
        kp_check_fail(c, n, "'%s' is %s and has no '%s'; index it first, as in %s[i].%s", kp_check_text(c, object),
                      kp_check_array_word(object->type), n->u.attribute.name->text, kp_check_text(c, object),
                      n->u.attribute.name->text);
    if (kp_type_is_struct(object->type))
        return kp_check_struct_field(c, n, object);
    if (is_index(c, object))
        kp_check_fail(c, n, "'%s' is one number and has no '%s'; %s: Index2 has x and y", kp_check_text(c, object),
                      n->u.attribute.name->text, kp_check_text(c, object));
    if (object->type->kind != KP_TYPE_VECTOR)
        kp_check_fail(c, n, "'%s' is %s %s and has no '%s'", kp_check_text(c, object),
                      kp_check_article(object->type->name), object->type->name, n->u.attribute.name->text);
    kp_node *swizzle = kp_check_new(c, KP_NODE_SWIZZLE, n, NULL);
    read_swizzle(c, n, object->type, swizzle);
    swizzle->u.swizzle.operand = object;
    swizzle->type = kp_type_vector(object->type->dtype, swizzle->u.swizzle.count);
    return swizzle;
}

kp_node *kp_check_attribute(kp_checker *c, kp_node *n) {
    if (kp_check_shape_of(c, n) != NULL)
        kp_check_fail(c, n, "a shape is indexed or unpacked, as in %s[0]", kp_check_text(c, n));
    const kp_name *path = kp_check_path(c, n);
    if (path == NULL) {
        kp_node *object = kp_check_expr(c, n->u.attribute.object);
        bool turned = object->type != NULL && kp_type_is_matrix(object->type);
        return turned ? kp_check_matrix_attribute(c, n, object) : swizzle_of(c, n, object);
    }
    double value;
    kp_node *captured = kp_check_captured(c, n);
    if (captured != NULL)
        return captured;
    if (kp_builtin_constant(path, &value))
        return kp_check_constant(c, n, kp_type_float_literal(), (kp_value){.f = value});
    if (kp_builtin_find(path) != NULL)
        kp_check_fail(c, n, "'%s' is a function; call it, as in %s(...)", path->text, path->text);
    kp_node *root = n;
    while (root->kind == KP_NODE_ATTRIBUTE)
        root = root->u.attribute.object;
    if (kp_check_captured(c, root) != NULL)
        kp_check_fail(c, n, "'%s' is a number and has no '%s'", root->u.name->text, path->text);
    const char *hint = kp_habit_name(c->unit, root->kind == KP_NODE_NAME ? root->u.name->text : path->text);
    for (const kp_node *part = n; part->kind == KP_NODE_ATTRIBUTE && *hint == '\0'; part = part->u.attribute.object)
        hint = kp_habit_name(c->unit, part->u.attribute.name->text);
    kp_check_fail(c, n, "there is no '%s' here%s", kp_check_text(c, n), hint);
}

// Wraps a constant index that counts from the end; says when one lies outside of [0, length).
static kp_node *constant_index(kp_checker *c, kp_node *index, const kp_type *object, uint32_t length) {
    int64_t at = index->u.value.i;
    if (at < -(int64_t)length || at >= (int64_t)length)
        kp_check_fail(c, index, "index %lld is out of range: %s has %u elements", (long long)at, object->name, length);
    return kp_check_constant(c, index, kp_type_scalar(KP_I32), (kp_value){.i = at < 0 ? at + length : at});
}

// Of 32 bits, or of 64 when it is no constant.
static kp_node *index_as_word(kp_checker *c, kp_node *index) {
    const kp_type *i32 = kp_type_scalar(KP_I32);
    index = kp_check_settle(c, index);
    if (index->kind == KP_NODE_CONST && index->type != i32 && !kp_fold_fits(index->type, i32, index->u.value))
        kp_check_fail(c, index, "a constant index is at most 2147483647");
    bool narrow = kp_check_widens(index->type, i32);
    return narrow || index->kind == KP_NODE_CONST ? kp_check_cast(c, index, i32) : index;
}

// True for a / b of two integers.
static bool divides_integers(const kp_node *n) {
    if (n->kind != KP_NODE_BINARY || n->op != KP_TOKEN_SLASH)
        return false;
    const kp_node *sides[] = {n->u.binary.left, n->u.binary.right};
    for (int i = 0; i < 2; i++) {
        bool literal = sides[i]->kind == KP_NODE_CONST && sides[i]->first->kind == KP_TOKEN_INT;
        bool cast =
            sides[i]->kind == KP_NODE_CAST && sides[i]->first == sides[i]->u.operand->first; // not one in the text
        if (!literal && (!cast || !kp_type_is_int(sides[i]->u.operand->type)))
            return false;
    }
    return true;
}

static _Noreturn void fail_index(kp_checker *c, const kp_node *index) {
    const kp_type *type = index->type;
    if (divides_integers(index))
        kp_check_fail(c, index, "an index is an integer, but '/' gives %s; write %s // %s", type->name,
                      kp_check_text(c, index->u.binary.left), kp_check_text(c, index->u.binary.right));
    if (kp_type_is_float(type) && kp_type_is_scalar(type))
        kp_check_fail(c, index, "an index is an integer, but this is %s; write %s", type->name,
                      kp_check_converted(c, index, "i32"));
    if (kp_type_is_int(type))
        kp_check_fail(c, index, "an index is an integer, but this is %s; index with a component, as in %s.x",
                      type->name, kp_check_text(c, index));
    kp_check_fail(c, index, "an index is an integer, but this is %s", type->name);
}

kp_node *kp_check_index(kp_checker *c, kp_node *n) {
    kp_node *index = kp_check_expr(c, n);
    if (!kp_type_is_int(index->type) || !kp_type_is_scalar(index->type))
        fail_index(c, index);
    return index_as_word(c, index);
}

kp_node *kp_check_bounded(kp_checker *c, const kp_node *of, kp_node *given, kp_node *at, kp_node *limit, bool wraps) {
    kp_node *n = kp_check_new(c, KP_NODE_BOUNDED, given, kp_type_scalar(KP_I32));
    n->u.bounded.of = of;
    n->u.bounded.given = given;
    n->u.bounded.at = at;
    n->u.bounded.limit = limit;
    n->u.bounded.wraps = wraps;
    return n;
}

// An index on one of several axes, as an i32: `given`, counted from the end where it is a negative constant. Looked at
// on its own in a checked kernel: all axes together may be in range when one is not.
static kp_node *on_axis(kp_checker *c, kp_node *n, const kp_node *of, kp_node *given, kp_node *limit) {
    kp_node *at = given;
    if (given->kind == KP_NODE_CONST && given->u.value.i < 0)
        at = kp_check_operation(c, n, KP_TOKEN_PLUS, limit, given);
    if (c->unit->desc->checked)
        return kp_check_bounded(c, of, given, at, limit, false);
    return kp_check_cast(c, at, kp_type_scalar(KP_I32));
}

// The index on one axis of shared memory, as an i32.
static kp_node *axis_index(kp_checker *c, kp_node *n, const kp_node *of, uint32_t axis) {
    const kp_symbol *symbol = of->u.symbol;
    kp_node *index = kp_check_index(c, n);
    const kp_node *length = symbol->axes[axis];
    if (index->kind == KP_NODE_CONST && length->kind == KP_NODE_CONST) {
        int64_t at = index->u.value.i, most = length->u.value.i;
        if (at < -most || at >= most)
            kp_check_fail(c, index, "index %lld is out of range: '%s' has %lld elements%s", (long long)at,
                          symbol->name->text, (long long)most, symbol->axis_count > 1 ? " on this axis" : "");
        return kp_check_constant(c, index, length->type, (kp_value){.i = at < 0 ? at + most : at});
    }
    if (symbol->axis_count > 1)
        return on_axis(c, n, of, index, symbol->axes[axis]);
    index = kp_check_cast(c, index, kp_type_scalar(KP_I32));
    if (index->kind == KP_NODE_CONST && index->u.value.i < 0)
        return kp_check_operation(c, n, KP_TOKEN_PLUS, symbol->axes[axis], index);
    return index;
}

// An element of shared memory: all axes become one.
static kp_node *shared_element(kp_checker *c, kp_node *n, kp_node *object) {
    const kp_symbol *symbol = object->u.symbol;
    kp_node *index = n->u.subscript.index;
    bool several = index->kind == KP_NODE_TUPLE;
    uint32_t given = several ? index->u.list.count : 1;
    if (given != symbol->axis_count)
        kp_check_fail(c, index, "'%s' has %u ax%s, but this is an index on %u", symbol->name->text, symbol->axis_count,
                      symbol->axis_count == 1 ? "is" : "es", given);
    kp_node *flat = axis_index(c, several ? index->u.list.items[0] : index, object, 0);
    if (several) {
        kp_node *column = axis_index(c, index->u.list.items[1], object, 1);
        flat = kp_check_operation(c, n, KP_TOKEN_STAR, flat, symbol->axes[1]);
        flat = kp_check_operation(c, n, KP_TOKEN_PLUS, flat, column);
    }
    n->type = object->type->element;
    n->u.subscript.object = object;
    n->u.subscript.index = flat;
    n->from_end = false;
    return n;
}

kp_node *kp_check_shape(kp_checker *c, const kp_node *like, const kp_node *buffer, uint32_t axis) {
    const kp_type *i32 = kp_type_scalar(KP_I32);
    kp_symbol *symbol = buffer->u.symbol;
    if (symbol->type->axes == 0) {
        kp_node *length = kp_check_new(c, KP_NODE_LENGTH, like, i32);
        length->u.symbol = symbol;
        return length;
    }
    kp_node *shape = kp_check_new(c, KP_NODE_SHAPE, like, i32);
    shape->u.shape.symbol = symbol;
    shape->u.shape.axis = axis;
    symbol->shaped[axis] = true;
    return shape;
}

// As many indices as a view has no axes. An index that is a vector, such as that of the kernel, is split: x is the
// last.
static _Noreturn void fail_view(kp_checker *c, const kp_node *object, const kp_node *index, uint32_t count) {
    const char *name = kp_check_text(c, object);
    uint32_t axes = object->type->axes;
    const kp_symbol *symbol = index->kind == KP_NODE_NAME ? kp_check_find(c, index->u.name) : NULL;
    if (symbol != NULL && symbol->type != NULL && symbol->type->kind == KP_TYPE_VECTOR) {
        const char *i = index->u.name->text;
        kp_check_fail(c, index, "'%s' has %u axes, but this is 1 index; write %s[%s%s%s.y, %s.x]", name, axes, name,
                      axes == 3 ? i : "", axes == 3 ? ".z, " : "", i, i);
    }
    kp_check_fail(c, index, "'%s' has %u axes, but %s %u ind%s; write %s[%s]", name, axes,
                  count == 1 ? "this is" : "these are", count, count == 1 ? "ex" : "ices", name,
                  axes == 2 ? "i, j" : "i, j, k");
}

// a[i, j] is element i * shape[1] + j: NumPy's order, in which the last index is the one of neighbours.
static kp_node *view_element(kp_checker *c, kp_node *n, kp_node *object) {
    const kp_type *type = object->type;
    kp_node *index = n->u.subscript.index, *flat = NULL;
    uint32_t count = index->kind == KP_NODE_TUPLE ? index->u.list.count : 1;
    if (count != type->axes)
        fail_view(c, object, index, count);
    for (uint32_t axis = 0; axis < count; axis++) {
        kp_node *given = kp_check_index(c, index->u.list.items[axis]);
        kp_node *at = on_axis(c, n, object, given, kp_check_shape(c, n, object, axis));
        if (axis > 0)
            flat = kp_check_operation(c, n, KP_TOKEN_STAR, flat, kp_check_shape(c, n, object, axis));
        flat = axis > 0 ? kp_check_operation(c, n, KP_TOKEN_PLUS, flat, at) : at;
    }
    n->type = type->element;
    n->u.subscript.object = object;
    n->u.subscript.index = flat;
    n->from_end = false;
    return n;
}

// Several indices for what has one axis.
static _Noreturn void fail_axes(kp_checker *c, const kp_node *n, const kp_node *object) {
    const kp_node *index = n->u.subscript.index;
    uint32_t count = index->u.list.count;
    const kp_type *type = object->type;
    bool view =
        object->kind == KP_NODE_BUFFER && kp_type_is_buffer(type) && kp_type_is_value(type->element) && count < 4;
    if (view)
        kp_check_fail(c, index, "'%s' is %s and has one axis, but these are %u indices; declare it as Array[%s, %u]",
                      kp_check_text(c, object), type->name, count, type->element->name, count);
    kp_check_fail(c, index, "'%s' is %s and has one axis, but these are %u indices", kp_check_text(c, object),
                  type->name, count);
}

static kp_node *element_of(kp_checker *c, kp_node *n, kp_node *object);

// m[i, j] is m[i][j].
static kp_node *matrix_element(kp_checker *c, kp_node *n, kp_node *object) {
    kp_list list = n->u.subscript.index->u.list;
    if (list.count != 2)
        kp_check_fail(c, n->u.subscript.index, "'%s' is %s and has two axes, but these are %u indices",
                      kp_check_text(c, object), object->type->name, list.count);
    kp_node *row = kp_check_new(c, KP_NODE_SUBSCRIPT, n, NULL);
    row->u.subscript.index = list.items[0];
    n->u.subscript.index = list.items[1];
    return element_of(c, n, element_of(c, row, object));
}

static kp_node *element_of(kp_checker *c, kp_node *n, kp_node *object) {
    const kp_type *type = object->type;
    if (type == NULL)
        kp_check_fail(c, object, "'%s' is used here before it is assigned", kp_check_text(c, object));
    if (kp_type_is_image(type))
        return kp_check_pixel(c, n, object);
    if (type->kind != KP_TYPE_ARRAY && type->kind != KP_TYPE_VECTOR && !kp_type_is_matrix(type))
        kp_check_fail(c, n, "'%s' is %s %s and cannot be indexed", kp_check_text(c, object),
                      kp_check_article(type->name), type->name);
    if (object->kind == KP_NODE_BUFFER && object->u.symbol->kind == KP_SYMBOL_SHARED)
        return shared_element(c, n, object);
    if (type->kind == KP_TYPE_ARRAY && type->axes != 0)
        return view_element(c, n, object);
    if (kp_type_is_matrix(type) && n->u.subscript.index->kind == KP_NODE_TUPLE)
        return matrix_element(c, n, object);
    if (n->u.subscript.index->kind == KP_NODE_TUPLE)
        fail_axes(c, n, object);
    kp_node *index = kp_check_index(c, n->u.subscript.index);
    uint32_t length = type->kind == KP_TYPE_VECTOR ? type->components : type->length;
    n->from_end = false;
    if (index->kind == KP_NODE_CONST && length != 0)
        index = constant_index(c, index, type, length);
    else if (index->kind == KP_NODE_CONST && index->u.value.i < 0)
        n->from_end = true;
    n->type = type->element;
    if (type->kind == KP_TYPE_VECTOR && index->kind == KP_NODE_CONST) {
        kp_node *swizzle = kp_check_new(c, KP_NODE_SWIZZLE, n, type->element);
        swizzle->u.swizzle.operand = object;
        swizzle->u.swizzle.count = 1;
        swizzle->u.swizzle.components[0] = (uint8_t)index->u.value.i;
        return swizzle;
    }
    n->u.subscript.object = object;
    n->u.subscript.index = index;
    return n;
}

// The buffer of buffer.shape; NULL: it is something else.
kp_node *kp_check_shape_of(kp_checker *c, kp_node *n) {
    if (n->kind != KP_NODE_ATTRIBUTE || strcmp(n->u.attribute.name->text, "shape") != 0)
        return NULL;
    kp_node *object = n->u.attribute.object;
    kp_symbol *symbol = object->kind == KP_NODE_NAME ? kp_check_find(c, object->u.name) : NULL;
    if (symbol == NULL || symbol->kind != KP_SYMBOL_BUFFER || symbol->type->kind != KP_TYPE_ARRAY || symbol->uniform)
        return NULL;
    return kp_check_expr(c, object);
}

uint32_t kp_check_axes(const kp_type *type) { return type->axes != 0 ? type->axes : 1; }

// buffer.shape[axis]
static kp_node *shape_element(kp_checker *c, kp_node *n, const kp_node *buffer) {
    int64_t count = kp_check_axes(buffer->type);
    int64_t axis = kp_check_constant_int(c, n->u.subscript.index, "the axis of a shape");
    if (axis < -count || axis >= count)
        kp_check_fail(c, n->u.subscript.index, "axis %lld is out of range: '%s' has %lld", (long long)axis,
                      kp_check_text(c, buffer), (long long)count);
    return kp_check_shape(c, n, buffer, (uint32_t)(axis < 0 ? axis + count : axis));
}

kp_node *kp_check_subscript(kp_checker *c, kp_node *n) {
    kp_node *item = kp_check_table_item(c, n);
    if (item != NULL)
        return item;
    const kp_node *shape_of = kp_check_shape_of(c, n->u.subscript.object);
    if (shape_of != NULL)
        return shape_element(c, n, shape_of);
    if (n->u.subscript.object->kind == KP_NODE_TUPLE)
        n->u.subscript.object->kind = KP_NODE_LIST; // (1, 2)[i]
    kp_node *object = kp_check_expr(c, n->u.subscript.object);
    if (object->type != NULL && object->type->kind == KP_TYPE_ARRAY && kp_check_array_is_literal(object->type))
        object = kp_check_settle(c, object); // [1, 2][i]
    if (object->kind == KP_NODE_BUFFER)
        object->u.symbol->reads = true;
    return element_of(c, n, object);
}

// ---------------------------------------------------------------------------------------------------------------------
// Targets
// ---------------------------------------------------------------------------------------------------------------------

static kp_node *target_name(kp_checker *c, kp_node *n, bool reads, bool whole) {
    kp_symbol *symbol = kp_scope_find(&c->scope, n->u.name);
    if (symbol == NULL || symbol->kind == KP_SYMBOL_CONSTANT)
        kp_check_fail(c, n, "there is no '%s' here to assign to", n->u.name->text);
    if (symbol->kind == KP_SYMBOL_SHARED && whole)
        kp_check_fail(c, n, "'%s' is shared memory; assign to an element, as in %s[i] = ...", n->u.name->text,
                      n->u.name->text);
    if (symbol->uniform)
        kp_check_fail(c, n, "'%s' is a uniform, which kernels only read; write to a buffer, Array[...]",
                      n->u.name->text);
    if (symbol->kind == KP_SYMBOL_BUFFER || symbol->kind == KP_SYMBOL_SHARED) {
        if (whole && symbol->type->kind == KP_TYPE_ARRAY)
            kp_check_fail(c, n, "'%s' is a buffer; assign to an element, as in %s[i] = ...", n->u.name->text,
                          n->u.name->text);
        if (whole && kp_type_is_opaque(symbol->type))
            kp_check_fail(c, n, "'%s' is %s; assign to a pixel, as in %s[x, y] = ...", n->u.name->text,
                          symbol->type->name, n->u.name->text);
        symbol->writes = true;
        symbol->reads |= reads;
        kp_node *buffer = kp_check_new(c, KP_NODE_BUFFER, n, symbol->type);
        buffer->u.symbol = symbol;
        return buffer;
    }
    if (reads || !whole)
        check_symbol(c, n, symbol); // fails when it is not assigned
    if (!whole)
        symbol->stored = true;
    kp_node *variable = kp_check_new(c, KP_NODE_VARIABLE, n, symbol->type);
    variable->u.symbol = symbol;
    return variable;
}

static kp_node *target(kp_checker *c, kp_node *n, bool reads, bool whole) {
    switch (n->kind) {
    case KP_NODE_NAME:
        return target_name(c, n, reads, whole);
    case KP_NODE_SUBSCRIPT: {
        kp_node *object = target(c, n->u.subscript.object, reads, false);
        kp_check_image_written(c, n, object);
        return element_of(c, n, object);
    }
    case KP_NODE_ATTRIBUTE: {
        kp_node *object = target(c, n->u.attribute.object, reads, false);
        kp_check_image_written(c, n, object);
        if (object->type != NULL && kp_type_is_matrix(object->type))
            kp_check_fail(c, n, "'%s' cannot be assigned to; assign to a row of '%s', or an element",
                          kp_check_text(c, n), kp_check_text(c, object));
        kp_node *swizzle = swizzle_of(c, n, object);
        uint32_t seen = 0;
        if (swizzle->kind == KP_NODE_FIELD)
            return swizzle;
        for (uint32_t i = 0; i < swizzle->u.swizzle.count; i++) {
            uint32_t bit = 1u << swizzle->u.swizzle.components[i];
            if ((seen & bit) != 0)
                kp_check_fail(c, n, "a component is assigned twice in '.%s'", n->u.attribute.name->text);
            seen |= bit;
        }
        return swizzle;
    }
    default:
        kp_check_fail_target(c, n);
    }
}

kp_node *kp_check_target(kp_checker *c, kp_node *n, bool reads) {
    kp_node *made = target(c, n, reads, true);
    kp_check_struct_change(c, made);
    return made;
}
