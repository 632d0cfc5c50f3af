// Matrices: what makes them, and what can be done with them. As in NumPy, m[i] is a row, '*' goes by element, '@' is
// the product, and numbers stand in row order. A matrix is no value to the rest of the checker (type.h), so whatever is
// not said here is refused where it stands.
#include "checker.h"

#include "builtin.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making one
// ---------------------------------------------------------------------------------------------------------------------

static kp_list new_list(kp_checker *c, uint32_t count) {
    return (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, count), .count = count};
}

static kp_node *scalar_item(kp_checker *c, kp_node *n, const kp_type *type) {
    kp_node *value = n->kind == KP_NODE_CONST ? n : kp_check_expr(c, n);
    if (!kp_type_is_scalar(value->type))
        kp_check_fail(c, value, "the elements of a row of %s are numbers, but this is %s", type->name,
                      value->type->name);
    return kp_check_coerce(c, value, type->element->element, "an element");
}

static kp_node *construct(kp_checker *c, const kp_node *like, const kp_type *type, kp_list list) {
    kp_node *n = kp_check_new(c, KP_NODE_CONSTRUCT, like, type);
    n->u.list = list;
    return n;
}

// A row from its numbers.
static kp_node *row_of(kp_checker *c, const kp_node *at, const kp_type *type, kp_list numbers) {
    if (numbers.count != type->element->components)
        kp_check_fail(c, at, "a row of %s has %u numbers, but this has %u", type->name, type->element->components,
                      numbers.count);
    kp_list list = new_list(c, numbers.count);
    for (uint32_t i = 0; i < numbers.count; i++)
        list.items[i] = scalar_item(c, numbers.items[i], type);
    return construct(c, at, type->element, list);
}

// A row as it is given: a vector, or a group of numbers.
static kp_node *given_row(kp_checker *c, kp_node *n, const kp_type *type) {
    kp_node *tuple = kp_ast_is_group(n) ? n : kp_check_table(c, n);
    if (tuple != NULL)
        return row_of(c, n, type, tuple->u.list);
    kp_node *value = kp_check_expr(c, n);
    bool fits = value->type->kind == KP_TYPE_VECTOR && value->type->components == type->element->components;
    if (!fits)
        kp_check_fail(c, value, "a row of %s is %s %s, but this is %s", type->name,
                      kp_check_article(type->element->name), type->element->name, value->type->name);
    return kp_check_coerce(c, value, type->element, "a row");
}

static kp_node *from_rows(kp_checker *c, const kp_node *at, const kp_type *type, kp_list rows) {
    if (rows.count != type->length)
        kp_check_fail(c, at, "%s has %u rows, but these are %u", type->name, type->length, rows.count);
    kp_list list = new_list(c, rows.count);
    for (uint32_t i = 0; i < rows.count; i++)
        list.items[i] = given_row(c, rows.items[i], type);
    return construct(c, at, type, list);
}

static kp_node *from_numbers(kp_checker *c, const kp_node *at, const kp_type *type, kp_list numbers) {
    uint32_t width = type->element->components;
    if (numbers.count != type->components)
        kp_check_fail(c, at, "%s has %u elements, in %u rows of %u, but these are %u", type->name, type->components,
                      type->length, width, numbers.count);
    kp_list list = new_list(c, type->length);
    for (uint32_t i = 0; i < type->length; i++)
        list.items[i] = row_of(c, at, type, (kp_list){.items = numbers.items + i * width, .count = width});
    return construct(c, at, type, list);
}

// mat2(x): another matrix, in this type; the rows of one thing. A number is refused: NumPy would fill with it, and GLSL
// take it for the diagonal.
static kp_node *from_one(kp_checker *c, kp_node *n, const kp_type *type, kp_node *given) {
    kp_node *tuple = kp_ast_is_group(given) ? given : kp_check_table(c, given);
    if (tuple != NULL)
        return from_rows(c, n, type, tuple->u.list);
    kp_node *value = kp_check_expr(c, given);
    if (kp_type_is_scalar(value->type))
        kp_check_fail(c, n, "%s takes its elements or its rows; a diagonal is %s * eye(%u)", type->name,
                      kp_check_text(c, value), type->length);
    if (!kp_type_is_matrix(value->type))
        kp_check_fail(c, n, "%s takes its elements or its rows, but this is %s", type->name, value->type->name);
    if (value->type->length != type->length || value->type->element->components != type->element->components)
        kp_check_fail(c, n, "a %s cannot become a %s", value->type->name, type->name);
    return kp_check_cast(c, value, type);
}

kp_node *kp_check_matrix(kp_checker *c, kp_node *n, const kp_type *type, kp_list list) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.items[i]->kind == KP_NODE_KEYWORD)
            kp_check_fail(c, list.items[i], "%s takes no names for its arguments", type->name);
    }
    if (list.count == 1)
        return from_one(c, n, type, list.items[0]);
    bool rows = list.count == type->length;
    return rows ? from_rows(c, n, type, list) : from_numbers(c, n, type, list);
}

// A NumPy array of two axes from outside.
kp_node *kp_check_matrix_captured(kp_checker *c, const kp_node *n, const kp_constant *constant) {
    size_t rows = constant->item_count, columns = constant->items[0].item_count;
    bool floats = constant->dtype == KP_F32 || constant->dtype == KP_F16 || constant->dtype == KP_F64;
    if (!floats || rows < 2 || rows > 4 || columns < 2 || columns > 4)
        kp_check_fail(c, n, "'%s' is an array of %zu rows of %zu; a matrix has 2 to 4 of 2 to 4 floats", constant->name,
                      rows, columns);
    const kp_type *type = kp_type_matrix(constant->dtype, (uint32_t)rows, (uint32_t)columns);
    return from_rows(c, n, type, kp_check_given(c, n, constant)->u.list);
}

// eye(n): the identity.
static kp_node *eye(kp_checker *c, kp_node *n, const kp_node *size) {
    if (size->kind != KP_NODE_CONST || !kp_type_is_int(size->type) || size->u.value.i < 2 || size->u.value.i > 4)
        kp_check_fail(c, size, "eye takes the number of rows, 2 to 4");
    uint32_t rows = (uint32_t)size->u.value.i;
    const kp_type *type = kp_type_matrix(KP_F32, rows, rows);
    kp_list numbers = new_list(c, rows * rows);
    for (uint32_t i = 0; i < numbers.count; i++)
        numbers.items[i] = kp_check_whole_number(c, n, i % (rows + 1) == 0);
    return from_numbers(c, n, type, numbers);
}

// ---------------------------------------------------------------------------------------------------------------------
// Working with them
// ---------------------------------------------------------------------------------------------------------------------

static const kp_type *transposed(const kp_type *type) {
    return kp_type_matrix(type->dtype, type->element->components, type->length);
}

kp_node *kp_check_matrix_call(kp_checker *c, kp_node *n, const kp_builtin *row, kp_list list) {
    const kp_type *type = list.items[0]->type;
    if (row->op == KP_MATRIX_EYE)
        return eye(c, n, list.items[0]);
    if (!kp_type_is_matrix(type))
        kp_check_fail(c, list.items[0], "%s takes a matrix, but this is %s", row->name, type->name);
    if (row->op == KP_MATRIX_TRANSPOSE)
        return kp_check_builtin(c, n, row, list, transposed(type));
    if (type->length != type->element->components)
        kp_check_fail(c, list.items[0], "%s takes a square matrix, but this is %s", row->name, type->name);
    return kp_check_builtin(c, n, row, list, row->op == KP_MATRIX_DETERMINANT ? type->element->element : type);
}

// m.T
kp_node *kp_check_matrix_attribute(kp_checker *c, kp_node *n, kp_node *matrix) {
    static const kp_builtin row = {"transpose", 1, 1, KP_BUILTIN_MATRIX, KP_MATRIX_TRANSPOSE};
    if (strcmp(n->u.attribute.name->text, "T") != 0)
        kp_check_fail(c, n, "'%s' is a %s and has no '%s'; it has .T, rows m[i] and elements m[i, j]",
                      kp_check_text(c, matrix), matrix->type->name, n->u.attribute.name->text);
    kp_list list = new_list(c, 1);
    list.items[0] = matrix;
    return kp_check_builtin(c, n, &row, list, transposed(matrix->type));
}

static uint32_t rows_of(const kp_type *type) { return kp_type_is_matrix(type) ? type->length : type->components; }

static uint32_t columns_of(const kp_type *type) {
    return kp_type_is_matrix(type) ? type->element->components : type->components;
}

static kp_node *product(kp_checker *c, kp_node *n, kp_node *left, kp_node *right) {
    static const kp_builtin row = {"'@'", 2, 2, KP_BUILTIN_MATRIX, KP_MATRIX_PRODUCT};
    const kp_type *l = left->type, *r = right->type, *type;
    bool shapes =
        (kp_type_is_matrix(l) || l->kind == KP_TYPE_VECTOR) && (kp_type_is_matrix(r) || r->kind == KP_TYPE_VECTOR);
    if (!shapes || l->dtype != r->dtype || columns_of(l) != rows_of(r))
        kp_check_fail(c, n, "'@' takes matrices and vectors of sizes that fit, but these are %s and %s", l->name,
                      r->name);
    if (kp_type_is_matrix(l) && kp_type_is_matrix(r))
        type = kp_type_matrix(l->dtype, l->length, r->element->components);
    else
        type = kp_type_vector(l->dtype, kp_type_is_matrix(l) ? l->length : r->element->components);
    kp_list list = new_list(c, 2);
    list.items[0] = left;
    list.items[1] = right;
    return kp_check_builtin(c, n, &row, list, type);
}

// A number beside a matrix stays one; emit spreads it.
static kp_node *beside(kp_checker *c, kp_node *n, const char *op, kp_node *value, const kp_type *matrix) {
    if (kp_type_is_scalar(value->type))
        return kp_check_coerce(c, value, matrix->element->element, "a number beside a matrix");
    if (value->type->kind == KP_TYPE_VECTOR)
        kp_check_fail(c, n, "%s takes no matrix and vector; the product is m @ v, and rows go one by one", op);
    kp_check_fail(c, n, "%s takes two values of one type, but these are %s and %s", op, matrix->name,
                  value->type->name);
}

kp_node *kp_check_matrix_combine(kp_checker *c, kp_node *n, const char *op, kp_node *left, kp_node *right) {
    bool both = kp_type_is_matrix(left->type) && kp_type_is_matrix(right->type);
    kp_token_kind kind = n->op;
    if (kind == KP_TOKEN_AT)
        return product(c, n, left, right);
    if (kind != KP_TOKEN_PLUS && kind != KP_TOKEN_MINUS && kind != KP_TOKEN_STAR && kind != KP_TOKEN_SLASH)
        kp_check_fail(c, n, "%s is not for matrices, which have + - * / by element, and @", op);
    if (both && left->type != right->type)
        kp_check_fail(c, n, "%s takes two values of one type, but these are %s and %s%s", op, left->type->name,
                      right->type->name, kind == KP_TOKEN_STAR ? "; the product is '@'" : "");
    n->type = kp_type_is_matrix(left->type) ? left->type : right->type;
    n->u.binary.left = kp_type_is_matrix(left->type) ? left : beside(c, n, op, left, n->type);
    n->u.binary.right = kp_type_is_matrix(right->type) ? right : beside(c, n, op, right, n->type);
    return n;
}
