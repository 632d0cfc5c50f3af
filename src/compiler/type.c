// See type.h. Scalars and vectors are few and made at the start; arrays are kept in a list.
#include "type.h"

#include <stdio.h>
#include <string.h>

enum { WIDEST = 4 };

struct kp_types {
    kp_type int_literal, float_literal;
    kp_type values[KP_DTYPE_COUNT][WIDEST + 1]; // [dtype][components]
    kp_type *arrays;
};

static const char *const vector_names[KP_DTYPE_COUNT][WIDEST + 1] = {
    [KP_F32] = {NULL, NULL, "vec2", "vec3", "vec4"},
    [KP_I32] = {NULL, NULL, "ivec2", "ivec3", "ivec4"},
    [KP_U32] = {NULL, NULL, "uvec2", "uvec3", "uvec4"},
    [KP_BOOL] = {NULL, NULL, "bvec2", "bvec3", "bvec4"},
};

void kp_type_setup(kp_unit *unit) {
    struct kp_types *types = unit->types = KP_UNIT_NEW(unit, struct kp_types, 1);
    types->int_literal = (kp_type){.kind = KP_TYPE_INT_LITERAL, .components = 1, .name = "an integer literal"};
    types->float_literal = (kp_type){.kind = KP_TYPE_FLOAT_LITERAL, .components = 1, .name = "a float literal"};
    for (kp_dtype dtype = 0; dtype < KP_DTYPE_COUNT; dtype++) {
        kp_type *scalar = &types->values[dtype][1];
        *scalar = (kp_type){.kind = KP_TYPE_SCALAR, .dtype = dtype, .components = 1, .name = kp_dtype_name(dtype)};
        for (uint32_t n = 2; n <= WIDEST; n++)
            types->values[dtype][n] = (kp_type){.kind = KP_TYPE_VECTOR,
                                                .dtype = dtype,
                                                .components = n,
                                                .element = scalar,
                                                .name = vector_names[dtype][n]};
    }
}

const kp_type *kp_type_int_literal(kp_unit *unit) { return &unit->types->int_literal; }
const kp_type *kp_type_float_literal(kp_unit *unit) { return &unit->types->float_literal; }
const kp_type *kp_type_scalar(kp_unit *unit, kp_dtype dtype) { return &unit->types->values[dtype][1]; }

const kp_type *kp_type_vector(kp_unit *unit, kp_dtype dtype, uint32_t components) {
    return &unit->types->values[dtype][components];
}

const kp_type *kp_type_array(kp_unit *unit, const kp_type *element, uint32_t length) {
    for (kp_type *type = unit->types->arrays; type != NULL; type = type->next) {
        if (type->element == element && type->length == length)
            return type;
    }
    char name[64];
    if (length == 0)
        snprintf(name, sizeof name, "Array[%s]", element->name);
    else
        snprintf(name, sizeof name, "Array(%u, %s)", length, element->name);
    kp_type *type = KP_UNIT_NEW(unit, kp_type, 1);
    *type = (kp_type){.kind = KP_TYPE_ARRAY,
                      .dtype = element->dtype,
                      .element = element,
                      .length = length,
                      .name = kp_arena_text(&unit->arena, name, strlen(name)),
                      .next = unit->types->arrays};
    return unit->types->arrays = type;
}

const kp_type *kp_type_find(kp_unit *unit, const char *name) {
    kp_dtype dtype;
    if (strcmp(name, "float") == 0)
        return kp_type_scalar(unit, KP_F32);
    if (strcmp(name, "int") == 0)
        return kp_type_scalar(unit, KP_I32);
    if (strcmp(name, "boolean") == 0 || strcmp(name, "bool_") == 0)
        return kp_type_scalar(unit, KP_BOOL);
    for (dtype = 0; dtype < KP_DTYPE_COUNT; dtype++) {
        for (uint32_t n = 2; n <= WIDEST; n++) {
            if (vector_names[dtype][n] != NULL && strcmp(vector_names[dtype][n], name) == 0)
                return kp_type_vector(unit, dtype, n);
        }
    }
#define KP_X(id, bytes, lang, numpy, format)                 \
    if (strcmp(name, lang) == 0 || strcmp(name, numpy) == 0) \
        return kp_type_scalar(unit, KP_##id);
    KP_DTYPES(KP_X)
#undef KP_X
    return NULL;
}

bool kp_type_supported(kp_dtype dtype) { return vector_names[dtype][2] != NULL; }

static bool is_float_dtype(kp_dtype dtype) { return dtype == KP_F16 || dtype == KP_F32 || dtype == KP_F64; }

static bool is_signed_dtype(kp_dtype dtype) {
    return dtype == KP_I8 || dtype == KP_I16 || dtype == KP_I32 || dtype == KP_I64;
}

bool kp_type_is_value(const kp_type *type) { return type->kind == KP_TYPE_SCALAR || type->kind == KP_TYPE_VECTOR; }

bool kp_type_is_literal(const kp_type *type) {
    return type->kind == KP_TYPE_INT_LITERAL || type->kind == KP_TYPE_FLOAT_LITERAL;
}

bool kp_type_is_scalar(const kp_type *type) { return type->kind == KP_TYPE_SCALAR || kp_type_is_literal(type); }

bool kp_type_is_float(const kp_type *type) {
    return type->kind == KP_TYPE_FLOAT_LITERAL || (kp_type_is_value(type) && is_float_dtype(type->dtype));
}

bool kp_type_is_signed(const kp_type *type) {
    return type->kind == KP_TYPE_INT_LITERAL || (kp_type_is_value(type) && is_signed_dtype(type->dtype));
}

bool kp_type_is_bool(const kp_type *type) { return kp_type_is_value(type) && type->dtype == KP_BOOL; }

bool kp_type_is_int(const kp_type *type) {
    return type->kind == KP_TYPE_INT_LITERAL ||
           (kp_type_is_value(type) && !is_float_dtype(type->dtype) && type->dtype != KP_BOOL);
}

bool kp_type_is_numeric(const kp_type *type) { return kp_type_is_float(type) || kp_type_is_int(type); }

uint32_t kp_type_components(const kp_type *type) { return type->components; }

// A bool takes a word of four bytes where the kernel sees it in memory.
static uint32_t scalar_size(kp_dtype dtype) { return dtype == KP_BOOL ? 4 : (uint32_t)kp_dtype_size(dtype); }

uint32_t kp_type_size(const kp_type *type) {
    if (type->kind == KP_TYPE_ARRAY)
        return type->length * kp_type_size(type->element);
    return type->components * scalar_size(type->dtype);
}

int64_t kp_type_least(kp_dtype dtype) {
    if (!is_signed_dtype(dtype))
        return 0;
    return dtype == KP_I64 ? INT64_MIN : -((int64_t)1 << (8 * kp_dtype_size(dtype) - 1));
}

int64_t kp_type_most(kp_dtype dtype) {
    size_t bits = 8 * kp_dtype_size(dtype) - (is_signed_dtype(dtype) ? 1 : 0);
    return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}
