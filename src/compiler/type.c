// See type.h. Scalars and vectors are few and made at the start; arrays are kept in a list.
#include "type.h"

#include <stdio.h>
#include <string.h>

enum { WIDEST = 4 };

struct kp_types {
    kp_type int_literal, float_literal;
    kp_type values[KP_DTYPE_COUNT][WIDEST + 1];               // [dtype][components]
    kp_type matrices[KP_DTYPE_COUNT][WIDEST + 1][WIDEST + 1]; // [dtype][rows][columns]
    kp_type *arrays;
    kp_type *structs; // the newest first
};

// The vectors of each type, as messages name them, and the other names that are understood, less the digit.
#define NAMES(base) \
    { NULL, NULL, base "2", base "3", base "4" }
static const struct {
    const char *names[WIDEST + 1]; // [components]
    const char *base, *other;
} vectors[KP_DTYPE_COUNT] = {
    [KP_F32] = {NAMES("vec"), "vec", "f32vec"},   [KP_F64] = {NAMES("dvec"), "dvec", "f64vec"},
    [KP_F16] = {NAMES("hvec"), "hvec", "f16vec"}, [KP_BOOL] = {NAMES("bvec"), "bvec", NULL},
    [KP_I8] = {NAMES("i8vec"), "i8vec", NULL},    [KP_I16] = {NAMES("i16vec"), "i16vec", NULL},
    [KP_I32] = {NAMES("ivec"), "ivec", "i32vec"}, [KP_I64] = {NAMES("i64vec"), "i64vec", NULL},
    [KP_U8] = {NAMES("u8vec"), "u8vec", NULL},    [KP_U16] = {NAMES("u16vec"), "u16vec", NULL},
    [KP_U32] = {NAMES("uvec"), "uvec", "u32vec"}, [KP_U64] = {NAMES("u64vec"), "u64vec", NULL},
};
#undef NAMES

// As GLSL, pyshader and WGSL name them: mat3x2 has three columns and two rows.
#define SQUARE(prefix, n) [n][n] = prefix #n
#define OBLONG(prefix, columns, rows) [rows][columns] = prefix #columns "x" #rows
#define MATRICES(prefix)                                                                                     \
    {                                                                                                        \
        SQUARE(prefix, 2), SQUARE(prefix, 3), SQUARE(prefix, 4), OBLONG(prefix, 2, 3), OBLONG(prefix, 2, 4), \
            OBLONG(prefix, 3, 2), OBLONG(prefix, 3, 4), OBLONG(prefix, 4, 2), OBLONG(prefix, 4, 3)           \
    }
static const struct {
    const char *names[WIDEST + 1][WIDEST + 1]; // [rows][columns]
    const char *base, *other;
} matrices[KP_DTYPE_COUNT] = {
    [KP_F32] = {MATRICES("mat"), "mat", "f32mat"},
    [KP_F64] = {MATRICES("dmat"), "dmat", "f64mat"},
    [KP_F16] = {MATRICES("hmat"), "hmat", "f16mat"},
};
#undef MATRICES
#undef OBLONG
#undef SQUARE

// Other names of scalars: Python's, pyshader's, and those of NumPy that mean the same everywhere.
static const struct {
    const char *name;
    kp_dtype dtype;
} scalars[] = {
    {"float", KP_F32}, {"int", KP_I32},    {"boolean", KP_BOOL}, {"bool_", KP_BOOL},
    {"half", KP_F16},  {"single", KP_F32}, {"double", KP_F64},
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
                                                .name = vectors[dtype].names[n]};
        for (uint32_t rows = 2; rows <= WIDEST; rows++) {
            for (uint32_t columns = 2; columns <= WIDEST; columns++)
                types->matrices[dtype][rows][columns] = (kp_type){.kind = KP_TYPE_MATRIX,
                                                                  .dtype = dtype,
                                                                  .components = rows * columns,
                                                                  .element = &types->values[dtype][columns],
                                                                  .length = rows,
                                                                  .name = matrices[dtype].names[rows][columns]};
        }
    }
}

const kp_type *kp_type_int_literal(kp_unit *unit) { return &unit->types->int_literal; }
const kp_type *kp_type_float_literal(kp_unit *unit) { return &unit->types->float_literal; }
const kp_type *kp_type_scalar(kp_unit *unit, kp_dtype dtype) { return &unit->types->values[dtype][1]; }

const kp_type *kp_type_vector(kp_unit *unit, kp_dtype dtype, uint32_t components) {
    return &unit->types->values[dtype][components];
}

const kp_type *kp_type_matrix(kp_unit *unit, kp_dtype dtype, uint32_t rows, uint32_t columns) {
    return &unit->types->matrices[dtype][rows][columns];
}

static const kp_type *find_array(kp_unit *unit, const kp_type *element, uint32_t length, uint32_t axes) {
    for (kp_type *type = unit->types->arrays; type != NULL; type = type->next) {
        if (type->kind == KP_TYPE_ARRAY && type->element == element && type->length == length && type->axes == axes)
            return type;
    }
    char name[256];
    if (axes != 0)
        snprintf(name, sizeof name, "Array[%s, %u]", element->name, axes);
    else if (length == 0)
        snprintf(name, sizeof name, "Array[%s]", element->name);
    else
        snprintf(name, sizeof name, "Array(%u, %s)", length, element->name);
    kp_type *type = KP_UNIT_NEW(unit, kp_type, 1);
    *type = (kp_type){.kind = KP_TYPE_ARRAY,
                      .dtype = element->dtype,
                      .element = element,
                      .length = length,
                      .axes = axes,
                      .name = kp_arena_text(&unit->arena, name, strlen(name)),
                      .next = unit->types->arrays};
    return unit->types->arrays = type;
}

const kp_type *kp_type_array(kp_unit *unit, const kp_type *element, uint32_t length) {
    return find_array(unit, element, length, 0);
}

const kp_type *kp_type_view(kp_unit *unit, const kp_type *element, uint32_t axes) {
    return find_array(unit, element, 0, axes > 1 ? axes : 0);
}

const kp_type *kp_type_image(kp_unit *unit, const kp_type *like) {
    for (kp_type *type = unit->types->arrays; type != NULL; type = type->next) {
        if (type->kind == like->kind && type->element == like->element && type->axes == like->axes &&
            type->use == like->use && type->format == like->format)
            return type;
    }
    kp_type *type = KP_UNIT_NEW(unit, kp_type, 1);
    *type = *like;
    type->name = kp_arena_text(&unit->arena, like->name, strlen(like->name));
    type->next = unit->types->arrays;
    return unit->types->arrays = type;
}

static bool same_fields(const kp_type *type, const kp_type_field *fields, uint32_t count) {
    if (type->field_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (type->fields[i].type != fields[i].type || strcmp(type->fields[i].name, fields[i].name) != 0)
            return false;
    }
    return true;
}

static uint32_t round_up(uint32_t value, uint32_t align) { return (value + align - 1) / align * align; }

const kp_type *kp_type_struct(kp_unit *unit, const char *name, kp_type_field *fields, uint32_t count) {
    for (const kp_type *type = unit->types->structs; type != NULL; type = type->next) {
        if (strcmp(type->name, name) == 0 && same_fields(type, fields, count))
            return type;
    }
    kp_type *type = KP_UNIT_NEW(unit, kp_type, 1);
    *type = (kp_type){.kind = KP_TYPE_STRUCT, .dtype = KP_U8, .name = name, .fields = fields, .field_count = count};
    type->align = type->depth = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t align = kp_type_align(fields[i].type);
        fields[i].offset = round_up(type->size, align);
        type->size = fields[i].offset + kp_type_size(fields[i].type);
        type->align = align > type->align ? align : type->align;
        const kp_type *leaf = kp_type_leaf(fields[i].type);
        type->depth = leaf->depth + 1 > type->depth ? leaf->depth + 1 : type->depth;
        type->leaves += leaf->kind == KP_TYPE_STRUCT ? leaf->leaves : 1;
    }
    type->size = round_up(type->size, type->align);
    type->next = unit->types->structs;
    type->number = type->next != NULL ? type->next->number + 1 : 1;
    return unit->types->structs = type;
}

int32_t kp_type_field_of(const kp_type *type, const char *name) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

// True for `base` and one digit, 2 to 4.
static bool names_vector(const char *base, const char *name) {
    size_t length = base != NULL ? strlen(base) : 0;
    return length != 0 && strncmp(name, base, length) == 0 && name[length] >= '2' && name[length] <= '4' &&
           name[length + 1] == '\0';
}

// The matrix called `base` and "4" or "4x3", columns first; NULL: it is none of that base.
static const kp_type *find_matrix(kp_unit *unit, kp_dtype dtype, const char *base, const char *name) {
    size_t length = base != NULL ? strlen(base) : 0;
    if (length == 0 || strncmp(name, base, length) != 0)
        return NULL;
    const char *size = name + length;
    bool square = size[0] != '\0' && size[1] == '\0';
    if (!square && (size[0] == '\0' || size[1] != 'x' || size[2] == '\0' || size[3] != '\0'))
        return NULL;
    char columns = size[0], rows = square ? size[0] : size[2];
    if (columns < '2' || columns > '4' || rows < '2' || rows > '4')
        return NULL;
    return kp_type_matrix(unit, dtype, (uint32_t)(rows - '0'), (uint32_t)(columns - '0'));
}

const kp_type *kp_type_find(kp_unit *unit, const char *name) {
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (strcmp(name, scalars[i].name) == 0)
            return kp_type_scalar(unit, scalars[i].dtype);
    }
    for (kp_dtype dtype = 0; dtype < KP_DTYPE_COUNT; dtype++) {
        if (names_vector(vectors[dtype].base, name) || names_vector(vectors[dtype].other, name))
            return kp_type_vector(unit, dtype, (uint32_t)(name[strlen(name) - 1] - '0'));
        const kp_type *matrix = find_matrix(unit, dtype, matrices[dtype].base, name);
        if (matrix == NULL)
            matrix = find_matrix(unit, dtype, matrices[dtype].other, name);
        if (matrix != NULL)
            return matrix;
    }
#define KP_X(id, bytes, lang, numpy, format)                 \
    if (strcmp(name, lang) == 0 || strcmp(name, numpy) == 0) \
        return kp_type_scalar(unit, KP_##id);
    KP_DTYPES(KP_X)
#undef KP_X
    return NULL;
}

static bool is_float_dtype(kp_dtype dtype) { return dtype == KP_F16 || dtype == KP_F32 || dtype == KP_F64; }

static bool is_signed_dtype(kp_dtype dtype) {
    return dtype == KP_I8 || dtype == KP_I16 || dtype == KP_I32 || dtype == KP_I64;
}

bool kp_type_is_value(const kp_type *type) { return type->kind == KP_TYPE_SCALAR || type->kind == KP_TYPE_VECTOR; }

bool kp_type_is_buffer(const kp_type *type) { return type->kind == KP_TYPE_ARRAY && type->length == 0; }

bool kp_type_is_image(const kp_type *type) { return type->kind == KP_TYPE_IMAGE; }

bool kp_type_is_opaque(const kp_type *type) { return type->kind == KP_TYPE_IMAGE || type->kind == KP_TYPE_SAMPLER; }

const kp_type *kp_type_leaf(const kp_type *type) {
    while (type->kind == KP_TYPE_ARRAY)
        type = type->element;
    return type;
}

bool kp_type_is_struct(const kp_type *type) { return type->kind == KP_TYPE_STRUCT; }

bool kp_type_is_alike(const kp_type *a, const kp_type *b) {
    if (kp_type_is_matrix(a) || kp_type_is_matrix(b))
        return a->kind == b->kind && a->length == b->length && a->components == b->components;
    bool values = (kp_type_is_value(a) || kp_type_is_literal(a)) && (kp_type_is_value(b) || kp_type_is_literal(b));
    return values && a->components == b->components;
}

bool kp_type_is_matrix(const kp_type *type) { return type->kind == KP_TYPE_MATRIX; }

bool kp_type_is_local(const kp_type *type) {
    return kp_type_is_value(type) || kp_type_is_matrix(type) || kp_type_is_struct(type) ||
           (type->kind == KP_TYPE_ARRAY && type->length != 0);
}

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

uint32_t kp_type_size(const kp_type *type) {
    if (type->kind == KP_TYPE_ARRAY)
        return type->length * kp_type_size(type->element);
    if (type->kind == KP_TYPE_STRUCT)
        return type->size;
    return type->components * (uint32_t)kp_dtype_size(type->dtype);
}

uint32_t kp_type_align(const kp_type *type) {
    type = kp_type_leaf(type);
    return type->kind == KP_TYPE_STRUCT ? type->align : (uint32_t)kp_dtype_size(type->dtype);
}

// How many digits of an integer a float type holds, in bits.
static size_t float_digits(kp_dtype dtype) { return dtype == KP_F16 ? 11 : dtype == KP_F32 ? 24 : 53; }

bool kp_type_holds(kp_dtype wide, kp_dtype narrow) {
    size_t bytes = kp_dtype_size(wide), its = kp_dtype_size(narrow);
    if (wide == narrow || wide == KP_BOOL || narrow == KP_BOOL)
        return wide == narrow;
    if (is_float_dtype(narrow))
        return is_float_dtype(wide) && its < bytes;
    if (is_float_dtype(wide))
        return 8 * its <= float_digits(wide);
    return its < bytes && (is_signed_dtype(wide) || !is_signed_dtype(narrow));
}

uint32_t kp_type_scalars(const kp_type *type) {
    uint32_t sum = 0;
    if (type->kind == KP_TYPE_ARRAY)
        return type->length * kp_type_scalars(type->element);
    if (type->kind != KP_TYPE_STRUCT)
        return type->components;
    for (uint32_t i = 0; i < type->field_count; i++)
        sum += kp_type_scalars(type->fields[i].type);
    return sum;
}

uint32_t kp_type_items(const kp_type *type) {
    if (type->kind == KP_TYPE_ARRAY)
        return type->length * kp_type_items(type->element);
    return type->kind == KP_TYPE_STRUCT ? 1 : type->components;
}

int64_t kp_type_least(kp_dtype dtype) {
    if (!is_signed_dtype(dtype))
        return 0;
    return dtype == KP_I64 ? INT64_MIN : -((int64_t)1 << (8 * kp_dtype_size(dtype) - 1));
}

int64_t kp_type_most(kp_dtype dtype) {
    size_t bits = 8 * kp_dtype_size(dtype) - (is_signed_dtype(dtype) ? 1 : 0);
    return bits == 64 ? -1 : bits == 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}
