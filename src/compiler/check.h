// Decides everything: what each name stands for, the type of each expression, every conversion. The tree that comes out
// needs no more decisions (ast.h says what each kind means then).
//
// Files: check.c (the front, constants), signature.c (parameters), check_stmt.c, check_expr.c, check_place.c,
// check_array.c, check_struct.c, check_matrix.c, check_call.c, check_function.c (helpers), check_parallel.c (what
// invocations do together), uniform.c (barriers that all reach), fills.c (buffers that are overwritten).
#ifndef KP_SRC_COMPILER_CHECK_H
#define KP_SRC_COMPILER_CHECK_H

#include "parser.h"
#include "scope.h"

// Inputs: X(NAME, name in annotations, type). Those before GLOBAL_ID are the native ones.
#define KP_INPUTS(X)                             \
    X(INDEX, "Index", "i32")                     \
    X(INDEX2, "Index2", "ivec2")                 \
    X(INDEX3, "Index3", "ivec3")                 \
    X(LOCAL, "LocalIndex", "i32")                \
    X(LOCAL2, "LocalIndex2", "ivec2")            \
    X(LOCAL3, "LocalIndex3", "ivec3")            \
    X(SIZE, "LocalSize", "i32")                  \
    X(SIZE2, "LocalSize2", "ivec2")              \
    X(SIZE3, "LocalSize3", "ivec3")              \
    X(GROUP, "GroupIndex", "i32")                \
    X(GROUP2, "GroupIndex2", "ivec2")            \
    X(GROUP3, "GroupIndex3", "ivec3")            \
    X(GROUPS, "GroupCount", "i32")               \
    X(GROUPS2, "GroupCount2", "ivec2")           \
    X(GROUPS3, "GroupCount3", "ivec3")           \
    X(GLOBAL_ID, "GlobalInvocationId", "ivec3")  \
    X(LOCAL_ID, "LocalInvocationId", "ivec3")    \
    X(WORKGROUP_ID, "WorkgroupId", "ivec3")      \
    X(WORKGROUP_COUNT, "NumWorkgroups", "ivec3") \
    X(LOCAL_INDEX, "LocalInvocationIndex", "i32")

typedef enum kp_input {
#define KP_X(name, text, type) KP_INPUT_##name,
    KP_INPUTS(KP_X)
#undef KP_X
        KP_INPUT_COUNT
} kp_input;

typedef struct kp_check_param {
    kp_symbol *symbol;     // its type is that of the contents, for a buffer
    kp_param_kind kind;    //
    kp_input input;        // KP_PARAM_INPUT
    uint32_t set, binding; // of what is bound
    uint32_t offset;       // KP_PARAM_CONSTANT: bytes from the start of the block
    uint32_t shape_offset; // a view: bytes from the start of the block to its shape
    uint32_t spec_id;      // KP_PARAM_SPEC
    bool optional;         // KP_PARAM_SPEC, CONSTANT: the source has a default value, which is in symbol->value
    const char *type_name; // kp_param.type
} kp_check_param;

// A function that the kernel calls ("helper"), for one signature: the types of its arguments, and which buffers and
// literals are among them.
typedef struct kp_instance {
    const char *name;
    kp_function *function;
    kp_symbol **params; // in order; VALUE: passed by value; ARRAY: by reference; CONSTANT: a literal; else a buffer
    uint32_t param_count;
    kp_symbol *symbols;        // parameters and locals, by `next`
    kp_node *literal;          // all that it does is to give this; NULL: it does more
    const kp_type **returns;   // types of the values that it gives
    uint32_t return_count;     //
    bool library;              // it is one of library.py
    bool shares;               // what it gives is a struct that in Python is elsewhere too
    bool varies;               // uniform.c: what it gives may differ between the invocations of a workgroup
    const kp_node *why;        // uniform.c: what keeps some of them from calling it; NULL: nothing
    uint32_t id, result, type; // emit: of the function, of what it returns, of its type; 0: not declared yet
    struct kp_instance *next;  // in kp_kernel.instances
    struct kp_instance *other; // another one of the same function
} kp_instance;

// A kernel that is ready to be translated.
typedef struct kp_kernel {
    const char *name;
    const kp_token *token; // its name
    kp_function *function;
    kp_check_param *params; // in the order of the signature
    uint32_t param_count;
    uint32_t push_size;       // bytes, a multiple of 4
    uint32_t shape_size;      // bytes of the shapes of views, behind the push constants
    bool has_local_size;      // declared in a decorator
    uint32_t local_size[3];   //
    uint32_t subgroup_size;   // declared in a decorator; 0: not
    uint32_t subgroup_inputs; // bits: those of KP_SUBGROUP_SIZE ... that it reads
    bool has_barrier;         // waits for its workgroup somewhere
    bool orders_memory;       // ... or orders memory for others
    kp_symbol *symbols;       // parameters and locals, by `next`
    kp_instance *instances;   // the helpers
    bool has_arrays;          // it has local arrays
    bool has_other_widths;    // it computes with f16, f64, i64 or u64
    bool prints;              // somewhere
} kp_kernel;

// True for what has a set and a binding.
static inline bool kp_check_is_bound(kp_param_kind kind) {
    return kind == KP_PARAM_BUFFER || kind == KP_PARAM_UNIFORM || kind == KP_PARAM_IMAGE || kind == KP_PARAM_TEXTURE ||
           kind == KP_PARAM_SAMPLER;
}

uint64_t kp_signature_default_bits(const kp_symbol *symbol); // the bits of a default value, zeros in front
kp_param kp_check_image_describe(const kp_check_param *param);
uint32_t kp_check_axes(const kp_type *type);                                          // of a buffer
bool kp_check_fills(const kp_kernel *kernel, const kp_symbol *buffer, uint32_t axes); // kp_param.fills
uint32_t kp_signature_push_size(const kp_type *type); // bytes of a push constant: a bool takes a word there

kp_kernel *kp_check_run(kp_unit *unit, kp_parser_outline *outline, kp_function *function);

bool kp_check_is_member(const kp_node *n); // a COMPARE of `in` or `not in`

// names.c: only what does not depend on types; parameters may have none.
void kp_names_run(kp_unit *unit, kp_parser_outline *outline, kp_function *function);

#endif
