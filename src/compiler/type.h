// The types of the kernel language. Interned: two types are the same when their pointers are.
#ifndef KP_SRC_COMPILER_TYPE_H
#define KP_SRC_COMPILER_TYPE_H

#include "unit.h"

typedef enum kp_type_kind {
    KP_TYPE_INT_LITERAL,   // 3, N: takes the numeric type of its surroundings, i32 where there is none
    KP_TYPE_FLOAT_LITERAL, // 0.5, math.pi: takes the float type of its surroundings, f32 where there is none
    KP_TYPE_SCALAR,        // dtype
    KP_TYPE_VECTOR,        // components of dtype
    KP_TYPE_MATRIX,        // length rows, each of which is the element, a vector of floats
    KP_TYPE_ARRAY,         // length of element; length 0: as many as the buffer holds
    KP_TYPE_IMAGE,         // pixels, on `axes` axes, which read as `element`
    KP_TYPE_SAMPLER,       // how a texture is sampled, apart from it
    KP_TYPE_STRUCT,        // named fields
} kp_type_kind;

// What a kernel can do with an image.
typedef enum kp_type_use {
    KP_TYPE_STORAGE, // reads and writes its pixels
    KP_TYPE_TEXTURE, // reads and samples them; it has its own sampler
    KP_TYPE_PLAIN,   // the same with a sampler that is another parameter (pyshader's "2d f32")
    KP_TYPE_EITHER,  // PLAIN where the kernel samples it, else STORAGE (pyshader's "2d rgba8")
} kp_type_use;

struct kp_pixel_format;

// A field of a struct.
typedef struct kp_type_field {
    const char *name;
    const struct kp_type *type;
    uint32_t offset; // bytes from the start of the struct, as C and NumPy lay it out
} kp_type_field;

typedef struct kp_type {
    kp_type_kind kind;                    //
    kp_dtype dtype;                       // SCALAR, VECTOR, MATRIX: of one scalar; STRUCT: KP_U8, for its bytes
    uint32_t components;                  // SCALAR: 1; VECTOR: 2 to 4; MATRIX: all scalars, 4 to 16
    const struct kp_type *element;        // ARRAY; VECTOR: the scalar; MATRIX: a row
    uint32_t length;                      // ARRAY; MATRIX: rows
    uint32_t axes;                        // ARRAY: of a buffer's view, 2 or 3; 0: one. IMAGE: 1 to 3
    kp_type_use use;                      // IMAGE
    const struct kp_pixel_format *format; // IMAGE: of what is stored; NULL: any that reads as `dtype`
    uint8_t filter, address_mode;         // IMAGE: as in base/launch.h
    bool unnormalized;                    // IMAGE: it is sampled at pixels, not from 0 to 1
    const char *name;                     // as in the language, for messages and kp_param.type
    const kp_type_field *fields;          // STRUCT
    uint32_t field_count;                 // STRUCT
    uint32_t size, align;                 // STRUCT: bytes
    uint32_t depth;                       // STRUCT: 1, or one more than the structs among its fields
    uint32_t leaves;                      // STRUCT: fields that are none, of all depths
    uint32_t number;                      // STRUCT: 1, 2, ... in the unit
    struct kp_type *next;                 // ARRAY, IMAGE, STRUCT: in the list of all
} kp_type;

const kp_type *kp_type_int_literal(void);
const kp_type *kp_type_float_literal(void);
const kp_type *kp_type_scalar(kp_dtype dtype);
const kp_type *kp_type_vector(kp_dtype dtype, uint32_t components);             // components 1: the scalar
const kp_type *kp_type_matrix(kp_dtype dtype, uint32_t rows, uint32_t columns); // of floats, 2 to 4 each
const kp_type *kp_type_array(kp_unit *unit, const kp_type *element, uint32_t length);
const kp_type *kp_type_view(kp_unit *unit, const kp_type *element, uint32_t axes); // a buffer with 1 to 3 axes

const kp_type *kp_type_image(kp_unit *unit, const kp_type *like); // what is said of IMAGE above, dtype, element, name
// The struct of that name and those fields, whose offsets are worked out; two that are alike are one. `fields` stays.
const kp_type *kp_type_struct(kp_unit *unit, const char *name, kp_type_field *fields, uint32_t count);
int32_t kp_type_field_of(const kp_type *type, const char *name); // the number of a STRUCT's field; -1: it has none

// The type called `name`: "f32", "float", "float32", "vec2", "bool", "boolean" ...; NULL when there is none.
const kp_type *kp_type_find(const char *name);

// True when `wide` has every value of `narrow`: i32 those of i16 and u16, f32 those of f16 and u16.
bool kp_type_holds(kp_dtype wide, kp_dtype narrow);

kp_dtype kp_type_int_like(kp_dtype dtype, bool is_signed); // the integer of as many bytes

bool kp_type_is_literal(const kp_type *type);              // either of the two
bool kp_type_is_scalar(const kp_type *type);               // one number or bool, literals included
bool kp_type_is_float(const kp_type *type);                // scalar or vector of floats, or a float literal
bool kp_type_is_int(const kp_type *type);                  // ... of integers
bool kp_type_is_signed(const kp_type *type);               // ... of signed integers; an integer literal is
bool kp_type_is_bool(const kp_type *type);                 // ... of bools
bool kp_type_is_numeric(const kp_type *type);              // float or int
bool kp_type_is_value(const kp_type *type);                // scalar or vector
bool kp_type_is_struct(const kp_type *type);               //
bool kp_type_is_alike(const kp_type *a, const kp_type *b); // of one shape, so that one converts to the other
bool kp_type_is_matrix(const kp_type *type);               // no value: what works by component does not take it
bool kp_type_is_local(const kp_type *type);       // can be in a variable: a value, a matrix, a struct, or a fixed array
bool kp_type_is_buffer(const kp_type *type);      // an array as long as the buffer that it is in
bool kp_type_is_image(const kp_type *type);       // textures too
bool kp_type_is_opaque(const kp_type *type);      // an image or a sampler: nothing in memory
const kp_type *kp_type_leaf(const kp_type *type); // what an array of arrays is made of; any other type is its own
uint32_t kp_type_size(const kp_type *type);       // bytes in memory, a bool's is one: of what can be in a variable; a
                                                  // vector's are tight
uint32_t kp_type_align(const kp_type *type);      // ... what its address is a multiple of: that of its scalars
uint32_t kp_type_scalars(const kp_type *type);    // how many: of what can be in a variable
uint32_t kp_type_items(const kp_type *type);      // ... where a struct counts as one
uint32_t kp_type_components(const kp_type *type); // scalars in a scalar or vector

// The integers that a type holds. Values of u64 are kept as their bits: most is -1.
int64_t kp_type_least(kp_dtype dtype);
int64_t kp_type_most(kp_dtype dtype);

#endif
