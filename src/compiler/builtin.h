// The table of builtins.def.
#ifndef KP_SRC_COMPILER_BUILTIN_H
#define KP_SRC_COMPILER_BUILTIN_H

#include "lexer.h"

typedef enum kp_builtin_rule {
    KP_BUILTIN_FLOATS,
    KP_BUILTIN_NARROW,
    KP_BUILTIN_VECTORS,
    KP_BUILTIN_CUSTOM,
    KP_BUILTIN_LATER,
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
    KP_CALL_ANY_OF,
    KP_CALL_ALL_OF,
    KP_CALL_LEN,
    KP_CALL_ISNAN,
    KP_CALL_ISINF,
    KP_CALL_ISFINITE,
    KP_CALL_DOT,
    KP_CALL_CROSS,
} kp_builtin_call;

#define KP_BUILTIN_ANY UINT32_MAX

typedef struct kp_builtin {
    const char *name;
    uint32_t least, most; // arguments
    kp_builtin_rule rule;
    uint32_t op; // GLSL.std.450 instruction, or kp_builtin_call when the rule is CUSTOM
} kp_builtin;

const kp_builtin *kp_builtin_find(const kp_name *name);       // NULL when there is none
bool kp_builtin_constant(const kp_name *name, double *value); // math.pi and its kind
const kp_builtin *kp_builtin_next(const kp_builtin *row);     // NULL starts; NULL ends

#endif
