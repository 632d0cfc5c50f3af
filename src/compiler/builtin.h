// The table of builtins.def.
#ifndef KP_SRC_COMPILER_BUILTIN_H
#define KP_SRC_COMPILER_BUILTIN_H

#include "lexer.h"

typedef enum kp_builtin_rule {
    KP_BUILTIN_FLOATS,
    KP_BUILTIN_NARROW,
    KP_BUILTIN_VECTORS,
    KP_BUILTIN_CUSTOM,
    KP_BUILTIN_LIBRARY,
    KP_BUILTIN_PRIMITIVE,
    KP_BUILTIN_MATRIX,
    KP_BUILTIN_BARRIER,
    KP_BUILTIN_ATOMIC,
    KP_BUILTIN_SUBGROUP,
    KP_BUILTIN_IMAGE,
    KP_BUILTIN_BITS,
} kp_builtin_rule;

typedef enum kp_builtin_call {
    KP_CALL_NONE,
    KP_CALL_RADIANS,
    KP_CALL_DEGREES,
    KP_CALL_LOG,
    KP_CALL_LOG10,
    KP_CALL_POW,
    KP_CALL_ABS,
    KP_CALL_SIGN,
    KP_CALL_MIN,
    KP_CALL_MAX,
    KP_CALL_CLAMP,
    KP_CALL_DIVMOD,
    KP_CALL_MODF,
    KP_CALL_SUM,
    KP_CALL_PROD,
    KP_CALL_ANY_OF,
    KP_CALL_ALL_OF,
    KP_CALL_LEN,
    KP_CALL_ISNAN,
    KP_CALL_ISINF,
    KP_CALL_ISFINITE,
    KP_CALL_DOT,
    KP_CALL_CROSS,
    KP_CALL_SHARED,
} kp_builtin_call;

typedef enum kp_library_call {
    KP_LIBRARY_FLOATS, // arguments of one float type, which it gives
    KP_LIBRARY_NARROW, // ... but f64
    KP_LIBRARY_DIGITS, // as FLOATS, with a function of its own for f16: name_16
    KP_LIBRARY_WHOLE,  // arguments of one integer type, which it gives
    KP_LIBRARY_FOLD,   // ... of two at a time
    KP_LIBRARY_PERM,   // ... of one it is factorial
    KP_LIBRARY_HYPOT,  // hypot_1 to hypot_4
    KP_LIBRARY_DIST,   // hypot of a difference
    KP_LIBRARY_LDEXP,
    KP_LIBRARY_FREXP, // two values: frexp_mantissa and frexp_exponent
    KP_LIBRARY_ISCLOSE,
} kp_library_call;

typedef enum kp_primitive {
    KP_PRIMITIVE_WIDE,
    KP_PRIMITIVE_HIGH,
    KP_PRIMITIVE_LOW,
    KP_PRIMITIVE_REAL,
} kp_primitive;

typedef enum kp_image_access {
    KP_IMAGE_READ,
    KP_IMAGE_WRITE,
    KP_IMAGE_SAMPLE,
} kp_image_access;

typedef enum kp_matrix_call {
    KP_MATRIX_PRODUCT,
    KP_MATRIX_TRANSPOSE,
    KP_MATRIX_DETERMINANT,
    KP_MATRIX_INVERSE,
    KP_MATRIX_EYE,
} kp_matrix_call;

typedef enum kp_bits {
    KP_BITS_COUNT,
    KP_BITS_LENGTH,
    KP_BITS_REVERSE,
    KP_BITS_MUL_HI,
    KP_BITS_CAST,
} kp_bits;

typedef enum kp_barrier {
    KP_BARRIER_ALL,    // all invocations of the workgroup arrive, then go on
    KP_BARRIER_DEVICE, // orders memory for all invocations of the device
    KP_BARRIER_GROUP,  // ... of the workgroup
} kp_barrier;

typedef enum kp_atomic {
    KP_ATOMIC_ADD,
    KP_ATOMIC_SUB,
    KP_ATOMIC_MIN,
    KP_ATOMIC_MAX,
    KP_ATOMIC_AND,
    KP_ATOMIC_OR,
    KP_ATOMIC_XOR,
    KP_ATOMIC_EXCHANGE,
    KP_ATOMIC_COMPARE_EXCHANGE,
} kp_atomic;

// The first four are values of the invocation; the reductions come last, three times in one order.
typedef enum kp_subgroup {
    KP_SUBGROUP_SIZE,
    KP_SUBGROUP_LANE,
    KP_SUBGROUP_ID,
    KP_SUBGROUP_COUNT,
    KP_SUBGROUP_ELECT,
    KP_SUBGROUP_ANY_OF,
    KP_SUBGROUP_ALL_OF,
    KP_SUBGROUP_BALLOT,
    KP_SUBGROUP_BROADCAST,
    KP_SUBGROUP_BROADCAST_FIRST,
    KP_SUBGROUP_SHUFFLE,
    KP_SUBGROUP_SHUFFLE_XOR,
    KP_SUBGROUP_SHUFFLE_UP,
    KP_SUBGROUP_SHUFFLE_DOWN,
    KP_SUBGROUP_ADD,
    KP_SUBGROUP_MUL,
    KP_SUBGROUP_MIN,
    KP_SUBGROUP_MAX,
    KP_SUBGROUP_AND,
    KP_SUBGROUP_OR,
    KP_SUBGROUP_XOR,
    KP_SUBGROUP_INCLUSIVE_ADD,
    KP_SUBGROUP_INCLUSIVE_MUL,
    KP_SUBGROUP_INCLUSIVE_MIN,
    KP_SUBGROUP_INCLUSIVE_MAX,
    KP_SUBGROUP_INCLUSIVE_AND,
    KP_SUBGROUP_INCLUSIVE_OR,
    KP_SUBGROUP_INCLUSIVE_XOR,
    KP_SUBGROUP_EXCLUSIVE_ADD,
    KP_SUBGROUP_EXCLUSIVE_MUL,
    KP_SUBGROUP_EXCLUSIVE_MIN,
    KP_SUBGROUP_EXCLUSIVE_MAX,
    KP_SUBGROUP_EXCLUSIVE_AND,
    KP_SUBGROUP_EXCLUSIVE_OR,
    KP_SUBGROUP_EXCLUSIVE_XOR,
} kp_subgroup;

enum { KP_SUBGROUP_INPUTS = KP_SUBGROUP_COUNT + 1, KP_SUBGROUP_REDUCTIONS = 7 };

#define KP_BUILTIN_ANY UINT32_MAX

typedef struct kp_builtin {
    const char *name;
    uint32_t least, most; // arguments
    kp_builtin_rule rule;
    uint32_t op; // GLSL.std.450 instruction, or the enum of the rule
} kp_builtin;

const kp_builtin *kp_builtin_find(const kp_name *name);       // NULL when there is none
const kp_builtin *kp_builtin_primitive(const kp_name *name);  // of library.py; never NULL
bool kp_builtin_constant(const kp_name *name, double *value); // math.pi and its kind

// The name that is most like `name`, where one is nearer than `limit` (kp_error_distance); else NULL.
const char *kp_builtin_nearest(const kp_name *name, uint32_t limit);

#endif
