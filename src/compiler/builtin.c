// See builtin.h.
#include "builtin.h"

#include "error.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <string.h>

#define OP_FLOATS(op) op
#define OP_NARROW(op) op
#define OP_VECTORS(op) op
#define OP_CUSTOM(op) KP_CALL_##op
#define OP_BARRIER(op) KP_BARRIER_##op
#define OP_ATOMIC(op) KP_ATOMIC_##op
#define OP_SUBGROUP(op) KP_SUBGROUP_##op
#define OP_BITS(op) KP_BITS_##op
#define OP_IMAGE(op) KP_IMAGE_##op
#define OP_MATRIX(op) KP_MATRIX_##op
#define OP_LIBRARY(op) KP_LIBRARY_##op
#define ANY KP_BUILTIN_ANY

static const kp_builtin rows[] = {
#define BUILTIN(name, least, most, rule, op) {name, least, most, KP_BUILTIN_##rule, OP_##rule(op)},
#include "builtins.def"
};

static const struct {
    const char *name;
    double value;
} constants[] = {
#define CONSTANT(name, value) {name, value},
#include "builtins.def"
};

enum { ROW_COUNT = sizeof rows / sizeof *rows, CONSTANT_COUNT = sizeof constants / sizeof *constants };

const kp_builtin *kp_builtin_find(const kp_name *name) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].name[0] == name->text[0] && strcmp(rows[i].name, name->text) == 0)
            return &rows[i];
    }
    return NULL;
}

static const kp_builtin primitives[] = {
#define PRIMITIVE(name, count, op) {name, count, count, KP_BUILTIN_PRIMITIVE, KP_PRIMITIVE_##op},
#include "builtins.def"
};

const kp_builtin *kp_builtin_primitive(const kp_name *name) {
    const kp_builtin *row = primitives;
    while (strcmp(row->name, name->text) != 0)
        row++;
    return row;
}

bool kp_builtin_constant(const kp_name *name, double *value) {
    for (size_t i = 0; i < CONSTANT_COUNT; i++) {
        if (strcmp(constants[i].name, name->text) == 0) {
            *value = constants[i].value;
            return true;
        }
    }
    return false;
}

static const kp_builtin *next(const kp_builtin *row) {
    if (row == NULL)
        return rows;
    return row + 1 < rows + ROW_COUNT ? row + 1 : NULL;
}

const char *kp_builtin_nearest(const kp_name *name, uint32_t limit) {
    const char *best = NULL;
    for (const kp_builtin *row = next(NULL); row != NULL; row = next(row)) {
        uint32_t distance = kp_error_distance(name->text, name->length, row->name, (uint32_t)strlen(row->name), limit);
        if (distance < limit) {
            limit = distance;
            best = row->name;
        }
    }
    return best;
}
