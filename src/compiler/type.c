// See type.h. Scalars, vectors and matrices are few, and constant; arrays, images and structs are kept in lists.
#include "type.h"

#include <stdio.h>
#include <string.h>

enum { WIDEST = 4 };

static const kp_type int_literal = {.kind = KP_TYPE_INT_LITERAL, .components = 1, .name = "an integer literal"};
static const kp_type float_literal = {.kind = KP_TYPE_FLOAT_LITERAL, .components = 1, .name = "a float literal"};

static const kp_type scalars[KP_DTYPE_COUNT] = {
#define KP_X(id, bytes, lang, numpy, format) \
    [KP_##id] = {.kind = KP_TYPE_SCALAR, .dtype = KP_##id, .components = 1, .name = lang},
    KP_DTYPES(KP_X)
#undef KP_X
};

// X(ID, the vectors' name in messages, another that is understood, both less the digit)
#define VECTORS(X)           \
    X(F32, "vec", "f32vec")  \
    X(F64, "dvec", "f64vec") \
    X(F16, "hvec", "f16vec") \
    X(BOOL, "bvec", NULL)    \
    X(I8, "i8vec", NULL)     \
    X(I16, "i16vec", NULL)   \
    X(I32, "ivec", "i32vec") \
    X(I64, "i64vec", NULL)   \
    X(U8, "u8vec", NULL)     \
    X(U16, "u16vec", NULL)   \
    X(U32, "uvec", "u32vec") \
    X(U64, "u64vec", NULL)

#define VECTOR(id, base, n) \
    [n] = {.kind = KP_TYPE_VECTOR, .dtype = KP_##id, .components = n, .element = &scalars[KP_##id], .name = base #n}
static const kp_type vectors[KP_DTYPE_COUNT][WIDEST + 1] = {
#define KP_X(id, base, other) [KP_##id] = {VECTOR(id, base, 2), VECTOR(id, base, 3), VECTOR(id, base, 4)},
    VECTORS(KP_X)
#undef KP_X
};
#undef VECTOR

// The same for matrices, less their size.
#define MATRICES(X)          \
    X(F32, "mat", "f32mat")  \
    X(F64, "dmat", "f64mat") \
    X(F16, "hmat", "f16mat")

// As GLSL, pyshader and WGSL name them: mat3x2 has three columns and two rows.
#define MATRIX(id, rows, columns, title)                      \
    [rows][columns] = {.kind = KP_TYPE_MATRIX,                \
                       .dtype = KP_##id,                      \
                       .components = rows * columns,          \
                       .element = &vectors[KP_##id][columns], \
                       .length = rows,                        \
                       .name = title}
#define SQUARE(id, base, n) MATRIX(id, n, n, base #n)
#define OBLONG(id, base, columns, rows) MATRIX(id, rows, columns, base #columns "x" #rows)
static const kp_type matrices[KP_DTYPE_COUNT][WIDEST + 1][WIDEST + 1] = {
#define KP_X(id, base, other)                                                            \
    [KP_##id] = {SQUARE(id, base, 2),    SQUARE(id, base, 3),    SQUARE(id, base, 4),    \
                 OBLONG(id, base, 2, 3), OBLONG(id, base, 2, 4), OBLONG(id, base, 3, 2), \
                 OBLONG(id, base, 3, 4), OBLONG(id, base, 4, 2), OBLONG(id, base, 4, 3)},
    MATRICES(KP_X)
#undef KP_X
};
#undef OBLONG
#undef SQUARE
#undef MATRIX

// Other names of scalars: Python's, pyshader's, and those of NumPy that mean the same everywhere.
static const struct {
    const char *name;
    kp_dtype dtype;
} other_scalars[] = {
    {"float", KP_F32}, {"int", KP_I32},    {"boolean", KP_BOOL}, {"bool_", KP_BOOL},
    {"half", KP_F16},  {"single", KP_F32}, {"double", KP_F64},
};

const kp_type *kp_type_int_literal(void) { return &int_literal; }
const kp_type *kp_type_float_literal(void) { return &float_literal; }
const kp_type *kp_type_scalar(kp_dtype dtype) { return &scalars[dtype]; }

const kp_type *kp_type_vector(kp_dtype dtype, uint32_t components) {
    return components == 1 ? &scalars[dtype] : &vectors[dtype][components];
}

const kp_type *kp_type_matrix(kp_dtype dtype, uint32_t rows, uint32_t columns) {
    return &matrices[dtype][rows][columns];
}

static const kp_type *find_array(kp_unit *unit, const kp_type *element, uint32_t length, uint32_t axes) {
    for (kp_type *type = unit->arrays; type != NULL; type = type->next) {
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
                      .next = unit->arrays};
    return unit->arrays = type;
}

const kp_type *kp_type_array(kp_unit *unit, const kp_type *element, uint32_t length) {
    return find_array(unit, element, length, 0);
}

const kp_type *kp_type_view(kp_unit *unit, const kp_type *element, uint32_t axes) {
    return find_array(unit, element, 0, axes > 1 ? axes : 0);
}

const kp_type *kp_type_image(kp_unit *unit, const kp_type *like) {
    for (kp_type *type = unit->arrays; type != NULL; type = type->next) {
        if (type->kind == like->kind && type->element == like->element && type->axes == like->axes &&
            type->use == like->use && type->format == like->format && type->filter == like->filter &&
            type->address_mode == like->address_mode && type->unnormalized == like->unnormalized)
            return type;
    }
    kp_type *type = KP_UNIT_NEW(unit, kp_type, 1);
    *type = *like;
    type->name = kp_arena_text(&unit->arena, like->name, strlen(like->name));
    type->next = unit->arrays;
    return unit->arrays = type;
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
    for (const kp_type *type = unit->structs; type != NULL; type = type->next) {
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
    type->next = unit->structs;
    type->number = type->next != NULL ? type->next->number + 1 : 1;
    return unit->structs = type;
}

int32_t kp_type_field_of(const kp_type *type, const char *name) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

// True when `name` is `base`, of which it has `length` bytes, and something behind it.
static bool starts_with(const char *name, const char *base, size_t length) {
    return base != NULL && strncmp(name, base, length) == 0 && base[length] == '\0';
}

static bool is_width(char c) { return c >= '2' && c <= '0' + WIDEST; }

// "vec3" and the like.
static const kp_type *find_vector(const char *name, size_t length) {
    uint32_t width = (uint32_t)(name[length - 1] - '0');
#define KP_X(id, base, other)                                                        \
    if (starts_with(name, base, length - 1) || starts_with(name, other, length - 1)) \
        return kp_type_vector(KP_##id, width);
    VECTORS(KP_X)
#undef KP_X
    return NULL;
}

// "mat4" or "mat4x3", columns first.
static const kp_type *find_matrix(const char *name, size_t length) {
    bool oblong = length > 3 && name[length - 2] == 'x' && is_width(name[length - 3]);
    size_t base_length = oblong ? length - 3 : length - 1;
    uint32_t rows = (uint32_t)(name[length - 1] - '0'), columns = (uint32_t)(name[base_length] - '0');
#define KP_X(id, base, other)                                                          \
    if (starts_with(name, base, base_length) || starts_with(name, other, base_length)) \
        return kp_type_matrix(KP_##id, rows, columns);
    MATRICES(KP_X)
#undef KP_X
    return NULL;
}

const kp_type *kp_type_find(const char *name) {
    size_t length = strlen(name);
    if (length > 1 && is_width(name[length - 1])) {
        const kp_type *type = find_vector(name, length);
        type = type != NULL ? type : find_matrix(name, length);
        if (type != NULL)
            return type;
    }
    for (size_t i = 0; i < sizeof other_scalars / sizeof *other_scalars; i++) {
        if (strcmp(name, other_scalars[i].name) == 0)
            return kp_type_scalar(other_scalars[i].dtype);
    }
#define KP_X(id, bytes, lang, numpy, format)                 \
    if (strcmp(name, lang) == 0 || strcmp(name, numpy) == 0) \
        return kp_type_scalar(KP_##id);
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

kp_dtype kp_type_int_like(kp_dtype dtype, bool is_signed) {
    static const kp_dtype of[9][2] = {
        [1] = {KP_U8, KP_I8}, [2] = {KP_U16, KP_I16}, [4] = {KP_U32, KP_I32}, [8] = {KP_U64, KP_I64}};
    return of[kp_dtype_size(dtype)][is_signed];
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
