// Matrices. SPIR-V's are made of columns and the language's of rows: a matrix is kept as its transpose, whose columns
// are its rows. So a product changes its sides, and an element of a row is where a driver looks for it.
#include "emitter.h"

#include "builtin.h"

static uint32_t row(kp_emitter *e, const kp_type *matrix, uint32_t value, uint32_t index) {
    return kp_spirv_extract(e->s, kp_emit_type(e, matrix->element), value, index);
}

static uint32_t from_rows(kp_emitter *e, const kp_type *type, const uint32_t *rows) {
    return kp_spirv_construct(e->s, kp_emit_type(e, type), rows, type->length);
}

uint32_t kp_emit_matrix_minus(kp_emitter *e, const kp_type *type, uint32_t value) {
    uint32_t rows[4], id = kp_emit_type(e, type->element);
    for (uint32_t i = 0; i < type->length; i++)
        rows[i] = kp_spirv_unary(e->s, SpvOpFNegate, id, row(e, type, value, i));
    return from_rows(e, type, rows);
}

uint32_t kp_emit_matrix_cast(kp_emitter *e, const kp_type *from, const kp_type *to, uint32_t value) {
    uint32_t rows[4];
    for (uint32_t i = 0; i < to->length; i++)
        rows[i] = kp_emit_cast(e, from->element, to->element, row(e, from, value, i));
    return from_rows(e, to, rows);
}

// What stands beside each row of a matrix: a row of the other one, or a number in every component.
typedef struct side {
    const kp_type *matrix; // NULL: a number
    uint32_t value;
} side;

static side side_of(kp_emitter *e, const kp_node *n, const kp_type *type, uint32_t value) {
    uint32_t parts[4] = {value, value, value, value};
    if (kp_type_is_matrix(n->type))
        return (side){.matrix = type, .value = value};
    return (side){.value = kp_spirv_construct(e->s, kp_emit_type(e, type->element), parts, type->element->components)};
}

static uint32_t row_of(kp_emitter *e, const side *s, uint32_t index) {
    return s->matrix != NULL ? row(e, s->matrix, s->value, index) : s->value;
}

static SpvOp operator_of(kp_token_kind op) {
    return op == KP_TOKEN_PLUS    ? SpvOpFAdd
           : op == KP_TOKEN_MINUS ? SpvOpFSub
           : op == KP_TOKEN_STAR  ? SpvOpFMul
                                  : SpvOpFDiv;
}

uint32_t kp_emit_matrix_binary(kp_emitter *e, const kp_node *n, uint32_t left) {
    const kp_type *type = n->type;
    uint32_t right = kp_emit_expr(e, n->u.binary.right), rows[4], id = kp_emit_type(e, type->element);
    side a = side_of(e, n->u.binary.left, type, left), b = side_of(e, n->u.binary.right, type, right);
    for (uint32_t i = 0; i < type->length; i++) {
        uint32_t its = row_of(e, &a, i);
        rows[i] = kp_spirv_binary(e->s, operator_of(n->op), id, its, row_of(e, &b, i));
    }
    return from_rows(e, type, rows);
}

static uint32_t product(kp_emitter *e, const kp_node *n) {
    kp_list list = n->u.call.list;
    uint32_t left = kp_emit_expr(e, list.items[0]), right = kp_emit_expr(e, list.items[1]),
             id = kp_emit_type(e, n->type);
    if (!kp_type_is_matrix(list.items[0]->type))
        return kp_spirv_binary(e->s, SpvOpMatrixTimesVector, id, right, left);
    if (!kp_type_is_matrix(list.items[1]->type))
        return kp_spirv_binary(e->s, SpvOpVectorTimesMatrix, id, right, left);
    return kp_spirv_binary(e->s, SpvOpMatrixTimesMatrix, id, right, left);
}

uint32_t kp_emit_matrix_call(kp_emitter *e, const kp_node *n) {
    kp_matrix_call op = (kp_matrix_call)n->u.call.row->op;
    if (op == KP_MATRIX_PRODUCT)
        return product(e, n);
    uint32_t value = kp_emit_expr(e, n->u.call.list.items[0]), id = kp_emit_type(e, n->type);
    if (op == KP_MATRIX_TRANSPOSE)
        return kp_spirv_unary(e->s, SpvOpTranspose, id, value);
    uint32_t instruction = op == KP_MATRIX_DETERMINANT ? GLSLstd450Determinant : GLSLstd450MatrixInverse;
    return kp_spirv_glsl(e->s, instruction, id, &value, 1);
}
