// What the files of emit share. See emit.h.
#ifndef KP_SRC_COMPILER_EMITTER_H
#define KP_SRC_COMPILER_EMITTER_H

#include "base/launch.h"
#include "emit.h"

typedef struct kp_emitter_loop {
    struct kp_emitter_loop *outer;
    uint32_t merge, next; // labels: where break and continue go
    uint32_t broken;      // variable, set by a break; 0: nobody asks
} kp_emitter_loop;

// Functions that the module carries because SPIR-V has no instruction for them, of 32 and of 64 bits.
typedef enum kp_helper {
    KP_HELPER_FMOD,      // float, float: exact remainder of positive numbers
    KP_HELPER_MOD,       // float, float: Python's %
    KP_HELPER_FLOOR_DIV, // float, float: Python's //
    KP_HELPER_POW,       // f32, f32
    KP_HELPER_POW_INT,   // float, i32
    KP_HELPER_IPOW,      // signed, signed
    KP_HELPER_UPOW,      // unsigned, unsigned
    KP_HELPER_COUNT,
} kp_helper;

// What emit_report.c needs; ids of the module.
typedef struct kp_emitter_report {
    bool active;                  // the module has the buffer
    uint32_t buffer, word;        // the variable; the type of a pointer into it
    uint32_t uvec3, at, key;      // private variables: the index of this call, its rank among all
    uint32_t stopped;             // ... a fault has ended this call; 0: nobody asks
    uint32_t fault, print, sites; // functions, 0: not in use; strings written
} kp_emitter_report;

typedef struct kp_emitter {
    kp_unit *unit;
    kp_kernel *kernel;
    kp_spirv *s;
    uint32_t type_void, type_bool, type_i32, type_u32, type_f32; // ids that are needed all the time
    uint32_t value_types[KP_DTYPE_COUNT][5];                     // [dtype][components], 0: not asked for yet
    kp_instance *instance;                                       // that is being written; NULL: the kernel
    uint32_t line, line_block;                                   // of the last OpLine, and the block that it is in
    uint32_t target;                                             // value of KP_NODE_TARGET
    uint32_t outside; // a bool: an axis of the index that is being written is out of range; 0: none that is asked
    kp_emitter_loop *loop;
    uint32_t nesting;                     // statements of control flow around this one
    uint32_t helpers[KP_HELPER_COUNT][2]; // [helper][64 bits], ids of those in use; 0: not
    bool helper_done[KP_HELPER_COUNT][2];
    uint32_t subgroup_inputs[4]; // variables, by kp_subgroup; 0: not in use
    kp_emitter_report report;
} kp_emitter;

// A constant of u32, and operations whose result is a u32 or a bool.
static inline uint32_t kp_emit_u32(kp_emitter *e, uint32_t value) {
    return kp_spirv_constant(e->s, e->type_u32, value);
}
static inline uint32_t kp_emit_u32_op(kp_emitter *e, SpvOp op, uint32_t a, uint32_t b) {
    return kp_spirv_binary(e->s, op, e->type_u32, a, b);
}
static inline uint32_t kp_emit_bool_op(kp_emitter *e, SpvOp op, uint32_t a, uint32_t b) {
    return kp_spirv_binary(e->s, op, e->type_bool, a, b);
}

// emit.c
uint32_t kp_emit_type(kp_emitter *e, const kp_type *type);                            // of what can be in a variable
uint32_t kp_emit_struct(kp_emitter *e, const kp_type *type, const uint32_t *members); // in the device's own memory
uint32_t kp_emit_memory_struct(kp_emitter *e, const kp_type *type, const uint32_t *members); // with its offsets
uint32_t kp_emit_bool_type(kp_emitter *e, uint32_t components);
uint32_t kp_emit_variable(kp_emitter *e, const kp_type *type, const char *name);      // a zeroed local
uint32_t kp_emit_bare_variable(kp_emitter *e, const kp_type *type, const char *name); // one that holds nothing yet

void kp_emit_locals(kp_emitter *e, kp_symbol *symbols); // variables for what is stored to

// emit_function.c
uint32_t kp_emit_invoke(kp_emitter *e, const kp_node *n); // 0 is never its id, but the value may be none or several
bool kp_emit_is_checked(const kp_emitter *e);             // what is written now: library.py makes no mistakes
uint32_t kp_emit_library(kp_emitter *e, const kp_node *n);
void kp_emit_unpack(kp_emitter *e, const kp_node *n);
void kp_emit_return(kp_emitter *e, const kp_node *n);
void kp_emit_functions(kp_emitter *e); // writes the helpers

// emit_stmt.c
void kp_emit_block(kp_emitter *e, const kp_node *first);

// emit_expr.c
uint32_t kp_emit_expr(kp_emitter *e, kp_node *n);
uint32_t kp_emit_constant(kp_emitter *e, const kp_type *type, kp_value value); // in every component
uint32_t kp_emit_number(kp_emitter *e, const kp_type *type, double value);     // the same, of a small whole number

// emit_place.c
// Where a value is kept: what an assignment stores to.
typedef struct kp_place {
    const kp_type *type;          // of the whole
    uint32_t pointer;             //
    uint32_t root, path[8];       // where it came from, and the indices from there
    uint32_t depth;               // ... how many; root 0: it is one itself
    SpvStorageClass storage;      //
    bool memory;                  // its type is kp_emit_memory_type's: it is in a buffer
    bool scalars;                 // ... inside of a struct, where vectors are arrays
    bool uniform;                 // it is in a uniform buffer (emit_uniform.c):
    uint32_t byte, moved;         // ... where, a number and what is added to it, an id; 0: nothing
    uint8_t count, components[4]; // a swizzle of it; count 0: all of it
    uint32_t index;               // of the buffer's element that it is in
    const kp_type *index_type;    // ... i32 or u32
    const kp_symbol *buffer;      // ... NULL: in none
    bool bits;                    // floats in it are kept as u32
    uint32_t outside;             // a bool: nothing is stored where it is true; 0: it always is
    const kp_symbol *image;       // the pixel of it at `index`, a vector; NULL: it is no pixel
} kp_place;

kp_place kp_emit_place(kp_emitter *e, kp_node *n);

// How an array is passed to a helper: a pointer to the variable that it is in, and the indices from there.
typedef struct kp_emit_reference {
    uint32_t pointer; // 0: in a buffer
    uint32_t *steps;  // ids of u32
    uint32_t depth;
} kp_emit_reference;

kp_emit_reference kp_emit_refer(kp_emitter *e, kp_node *n); // n: of a fixed array
uint32_t kp_emit_load(kp_emitter *e, const kp_place *place);
void kp_emit_store(kp_emitter *e, const kp_place *place, uint32_t value);

// Arrays, and structs that have some, are stored element by element, and lavapipe takes a time to compile that grows
// with the third power of the number of stores: 400 take half a minute. So large ones are filled and copied in loops.
bool kp_emit_is_large(const kp_type *type);
void kp_emit_fill(kp_emitter *e, const kp_place *array, uint32_t value); // every element; value 0: with zeros
void kp_emit_copy(kp_emitter *e, const kp_place *to, const kp_place *from);
bool kp_emit_in_memory(const kp_node *n); // a component of it can be loaded on its own
uint32_t kp_emit_length(kp_emitter *e, const kp_symbol *buffer);
// What a value, or all of a buffer, is in memory; and what it is in the device's own. `bits`: floats are u32.
uint32_t kp_emit_memory_type(kp_emitter *e, const kp_type *type, bool bits);
uint32_t kp_emit_kept_type(kp_emitter *e, const kp_type *type, bool bits);
kp_place kp_emit_part(kp_emitter *e, const kp_place *place, uint32_t index); // a component, an element, a field

// The index of one of the `count` elements or components of `of`: one that is out of range at run time becomes the last
// one. *outside: what kp_emit_check_index gives; NULL: nobody asks.
uint32_t kp_emit_bounded_index(kp_emitter *e, const kp_node *of, kp_node *index, uint32_t count, uint32_t *outside);

uint32_t kp_emit_bounded(kp_emitter *e, kp_node *n); // n: BOUNDED

// In a checked kernel, a fault where the index of `of` (`given` in the text) is not below `length`, a u32. Gives a bool
// that says so where the invocation goes on in spite of it; else 0.
uint32_t kp_emit_check_index(kp_emitter *e, const kp_node *of, const kp_node *n, uint32_t given, uint32_t index,
                             const kp_type *type, uint32_t length);

// emit_image.c
void kp_emit_image(kp_emitter *e, const kp_check_param *param); // its variable
bool kp_emit_has_images(const kp_emitter *e);                   // that the kernel writes
uint32_t kp_emit_image_size(kp_emitter *e, const kp_symbol *symbol);
kp_place kp_emit_pixel_place(kp_emitter *e, kp_node *n); // n: SUBSCRIPT
uint32_t kp_emit_read_pixel(kp_emitter *e, const kp_place *place);
void kp_emit_write_pixel(kp_emitter *e, const kp_place *place, uint32_t value);
uint32_t kp_emit_sample(kp_emitter *e, kp_node *n);

// emit_uniform.c
void kp_emit_uniform(kp_emitter *e, const kp_check_param *param, uint32_t salt); // declares it
kp_place kp_emit_uniform_place(const kp_symbol *symbol);                         // all of it
kp_place kp_emit_uniform_step(kp_emitter *e, const kp_place *from, const kp_type *type, uint32_t bytes,
                              uint32_t index);                       // `bytes` further, or, index not 0, that id times
uint32_t kp_emit_uniform_load(kp_emitter *e, const kp_place *place); // a scalar

// emit_parallel.c
void kp_emit_choose_atomics(kp_emitter *e); // kp_symbol.bits; before all that depends on it
void kp_emit_shared(kp_emitter *e);         // its variables
void kp_emit_subgroup_inputs(kp_emitter *e);
kp_place kp_emit_shared_place(kp_emitter *e, kp_node *n); // n: SUBSCRIPT
uint32_t kp_emit_parallel(kp_emitter *e, kp_node *n);

// emit_report.c
typedef struct kp_emit_fault_data {
    const char *text;  // NULL: none
    uint32_t words[6]; // of the record (base/launch.h)
    uint32_t word_count;
} kp_emit_fault_data;

void kp_emit_report_setup(kp_emitter *e);
void kp_emit_report_enter(kp_emitter *e, uint32_t index, uint32_t extent); // uvec3; before each call of the kernel
void kp_emit_report_finish(kp_emitter *e);                                 // between functions
void kp_emit_split(kp_emitter *e, const kp_type *type, uint32_t value, uint32_t words[2]); // of 32 or 64 bits, extended
void kp_emit_assert(kp_emitter *e, const kp_node *n);
void kp_emit_print(kp_emitter *e, const kp_node *n);
void kp_emit_stop(kp_emitter *e); // after the call of a helper: leaves when a fault ended it

// A fault where `bad`, a bool, is true: it ends the invocation, but in kernels with barriers. In checked kernels only.
void kp_emit_fault(kp_emitter *e, kp_launch_site kind, const kp_node *at, uint32_t bad, const kp_emit_fault_data *data);

// emit_arith.c
uint32_t kp_emit_unary(kp_emitter *e, kp_token_kind op, const kp_type *type, uint32_t a);
uint32_t kp_emit_binary(kp_emitter *e, kp_node *n, uint32_t left);
uint32_t kp_emit_compare(kp_emitter *e, kp_token_kind op, const kp_type *type, uint32_t a, uint32_t b);
uint32_t kp_emit_cast(kp_emitter *e, const kp_type *from, const kp_type *to, uint32_t value);
void kp_emit_check_whole(kp_emitter *e, const kp_node *n, const kp_type *type, uint32_t x); // x: to become an integer

// emit_math.c
uint32_t kp_emit_primitive(kp_emitter *e, kp_node *n); // of library.py
uint32_t kp_emit_math(kp_emitter *e, uint32_t op, const kp_type *type, const uint32_t *operands, uint32_t count);

// emit_matrix.c
uint32_t kp_emit_matrix_call(kp_emitter *e, const kp_node *n);
uint32_t kp_emit_matrix_binary(kp_emitter *e, const kp_node *n, uint32_t left);
uint32_t kp_emit_matrix_minus(kp_emitter *e, const kp_type *type, uint32_t value);
uint32_t kp_emit_matrix_cast(kp_emitter *e, const kp_type *from, const kp_type *to, uint32_t value);

// emit_call.c
uint32_t kp_emit_call(kp_emitter *e, kp_node *n);
uint32_t kp_emit_pick(kp_emitter *e, const kp_type *type, bool larger, uint32_t a, uint32_t b); // Python's min, max
uint32_t kp_emit_abs_int(kp_emitter *e, const kp_type *type, uint32_t x);                       // of a signed type

// emit_bits.c
uint32_t kp_emit_bits(kp_emitter *e, kp_node *n);

// emit_helper.c
uint32_t kp_emit_helper(kp_emitter *e, kp_helper helper, const kp_type *type, uint32_t a, uint32_t b); // by component
void kp_emit_helpers(kp_emitter *e); // writes those in use; between functions

#endif
