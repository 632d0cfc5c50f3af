// Writes a SPIR-V module: a box of sections in the order of the specification, unique types and constants, and one
// function per instruction, each returning the id that it makes. Knows nothing of the kernel language.
//
// Instructions of a function's body go to the current block. A block that was ended (branch, return) cannot be added
// to: `block` is 0 until kp_spirv_label starts the next one.
#ifndef KP_SRC_COMPILER_SPIRV_H
#define KP_SRC_COMPILER_SPIRV_H

#include "base/arena.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct kp_spirv_words {
    uint32_t *data;
    uint32_t count, capacity;
} kp_spirv_words;

// A run of words, which stays where it is: what is written once and read at the end needs no copies to grow.
typedef struct kp_spirv_piece {
    uint32_t *data;
    uint32_t count, capacity;
    struct kp_spirv_piece *next;
} kp_spirv_piece;

typedef struct kp_spirv_unique {
    uint32_t hash, id; // id 0: free
    uint32_t at;       // word offset of the instruction in `globals`
    uint32_t salt;     // tells equal instructions with different decorations apart
} kp_spirv_unique;

typedef struct kp_spirv {
    kp_arena *arena;      // its on_full does not return
    bool debug;           // write names and lines
    uint32_t bound;       // the next id
    uint32_t block;       // label of the current block; 0: none is open
    uint32_t first_block; // of the current function
    uint32_t glsl;        // id of GLSL.std.450; 0: not imported yet
    kp_spirv_words capabilities, extensions, imports, entries, modes, strings, names, decorations, globals;
    kp_spirv_words head, variables;            // of the current function
    kp_spirv_piece *functions, *functions_end; // those that are complete; NULL: none
    kp_spirv_piece *body, *body_end;           // of the current function, or of the last one; NULL: there was none
    kp_spirv_unique *unique;                   // hash table
    uint32_t unique_count, unique_capacity;
} kp_spirv;

void kp_spirv_setup(kp_spirv *s, kp_arena *arena, bool debug);
// The module, once it is complete, of as many words as it answers; NULL: counts them alone.
size_t kp_spirv_write(const kp_spirv *s, uint32_t *words);

uint32_t kp_spirv_id(kp_spirv *s); // an id for later use

// Module level
void kp_spirv_capability(kp_spirv *s, SpvCapability capability);
void kp_spirv_extension(kp_spirv *s, const char *name);
void kp_spirv_entry(kp_spirv *s, uint32_t function, const char *name, const uint32_t *interface, uint32_t count);
void kp_spirv_mode_local_size(kp_spirv *s, uint32_t function, const uint32_t size[3]);
void kp_spirv_name(kp_spirv *s, uint32_t id, const char *name);
void kp_spirv_member_name(kp_spirv *s, uint32_t id, uint32_t member, const char *name);
uint32_t kp_spirv_string(kp_spirv *s, const char *text, uint32_t length);
void kp_spirv_decorate(kp_spirv *s, uint32_t id, SpvDecoration decoration);
void kp_spirv_decorate_with(kp_spirv *s, uint32_t id, SpvDecoration decoration, uint32_t value);
void kp_spirv_member_decorate(kp_spirv *s, uint32_t id, uint32_t member, SpvDecoration decoration);
void kp_spirv_member_offset(kp_spirv *s, uint32_t id, uint32_t member, uint32_t offset);

// Types, each once: an id from the `bound` before the call on is new, and may be decorated
uint32_t kp_spirv_type_void(kp_spirv *s);
uint32_t kp_spirv_type_bool(kp_spirv *s);
uint32_t kp_spirv_type_int(kp_spirv *s, uint32_t width, bool is_signed);
uint32_t kp_spirv_type_float(kp_spirv *s, uint32_t width);
uint32_t kp_spirv_type_vector(kp_spirv *s, uint32_t element, uint32_t count);
uint32_t kp_spirv_type_matrix(kp_spirv *s, uint32_t column, uint32_t count);
uint32_t kp_spirv_type_array(kp_spirv *s, uint32_t element, uint32_t length, uint32_t stride); // length 0: run time
uint32_t kp_spirv_type_sized(kp_spirv *s, uint32_t element, uint32_t length); // an array; length: id of a constant
uint32_t kp_spirv_type_struct(kp_spirv *s, const uint32_t *members, uint32_t count, uint32_t salt);
// Not arrayed, one sample; sampled: 1 with a sampler, 2 without.
uint32_t kp_spirv_type_image(kp_spirv *s, uint32_t type, SpvDim dim, uint32_t sampled, SpvImageFormat format);
uint32_t kp_spirv_type_sampled_image(kp_spirv *s, uint32_t image);
uint32_t kp_spirv_type_sampler(kp_spirv *s);
uint32_t kp_spirv_type_pointer(kp_spirv *s, SpvStorageClass storage, uint32_t type);
uint32_t kp_spirv_type_function(kp_spirv *s, uint32_t result, const uint32_t *parameters, uint32_t count);

// Constants, each once
uint32_t kp_spirv_constant(kp_spirv *s, uint32_t type, uint32_t bits);      // int or float of at most 32 bits: signed
                                                                            // ones are extended to 32 by their sign
uint32_t kp_spirv_constant_wide(kp_spirv *s, uint32_t type, uint64_t bits); // of 64 bits
uint32_t kp_spirv_constant_bool(kp_spirv *s, bool value);
uint32_t kp_spirv_constant_composite(kp_spirv *s, uint32_t type, const uint32_t *parts, uint32_t count);
uint32_t kp_spirv_constant_null(kp_spirv *s, uint32_t type);

// Specialization constants
uint32_t kp_spirv_spec(kp_spirv *s, uint32_t type, uint32_t bits, uint32_t spec_id);
uint32_t kp_spirv_spec_wide(kp_spirv *s, uint32_t type, uint64_t bits, uint32_t spec_id); // of 64 bits
uint32_t kp_spirv_spec_bool(kp_spirv *s, bool value, uint32_t spec_id);
uint32_t kp_spirv_spec_composite(kp_spirv *s, uint32_t type, const uint32_t *parts, uint32_t count);
uint32_t kp_spirv_spec_op(kp_spirv *s, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count);

// Variables: of the module, or of the current function (pointer type of storage class Function)
uint32_t kp_spirv_global(kp_spirv *s, uint32_t pointer_type, SpvStorageClass storage);
uint32_t kp_spirv_local(kp_spirv *s, uint32_t pointer_type, uint32_t initializer); // initializer 0: none

// Functions
void kp_spirv_function(kp_spirv *s, uint32_t id, uint32_t result, uint32_t type); // opens the first block as well
uint32_t kp_spirv_parameter(kp_spirv *s, uint32_t type);                          // before any instruction
void kp_spirv_function_end(kp_spirv *s);

// Instructions
void kp_spirv_line(kp_spirv *s, uint32_t file, uint32_t line, uint32_t column);
uint32_t kp_spirv_instruction(kp_spirv *s, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count);
void kp_spirv_effect(kp_spirv *s, SpvOp op, const uint32_t *operands, uint32_t count); // one that gives nothing
uint32_t kp_spirv_unary(kp_spirv *s, SpvOp op, uint32_t type, uint32_t a);
uint32_t kp_spirv_binary(kp_spirv *s, SpvOp op, uint32_t type, uint32_t a, uint32_t b);
uint32_t kp_spirv_select(kp_spirv *s, uint32_t type, uint32_t condition, uint32_t yes, uint32_t no);
uint32_t kp_spirv_glsl(kp_spirv *s, uint32_t instruction, uint32_t type, const uint32_t *operands, uint32_t count);
uint32_t kp_spirv_load(kp_spirv *s, uint32_t type, uint32_t pointer);
void kp_spirv_store(kp_spirv *s, uint32_t pointer, uint32_t value);
uint32_t kp_spirv_access(kp_spirv *s, uint32_t pointer_type, uint32_t base, const uint32_t *indices, uint32_t count);
uint32_t kp_spirv_array_length(kp_spirv *s, uint32_t u32, uint32_t structure, uint32_t member);
uint32_t kp_spirv_construct(kp_spirv *s, uint32_t type, const uint32_t *parts, uint32_t count);
uint32_t kp_spirv_extract(kp_spirv *s, uint32_t type, uint32_t composite, uint32_t index);
uint32_t kp_spirv_extract_dynamic(kp_spirv *s, uint32_t type, uint32_t vector, uint32_t index);
uint32_t kp_spirv_shuffle(kp_spirv *s, uint32_t type, uint32_t vector, const uint8_t *components, uint32_t count);
uint32_t kp_spirv_phi(kp_spirv *s, uint32_t type, uint32_t a, uint32_t a_block, uint32_t b, uint32_t b_block);
uint32_t kp_spirv_call(kp_spirv *s, uint32_t type, uint32_t function, const uint32_t *arguments, uint32_t count);

// Control flow. A merge is one with its branch, since nothing may stand between the two.
void kp_spirv_label(kp_spirv *s, uint32_t label);
void kp_spirv_branch(kp_spirv *s, uint32_t label);
void kp_spirv_branch_if(kp_spirv *s, uint32_t condition, uint32_t yes, uint32_t no); // no merge: leaves a loop
void kp_spirv_select_branch(kp_spirv *s, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge);
void kp_spirv_loop(kp_spirv *s, uint32_t merge, uint32_t next, SpvLoopControlMask control, uint32_t body);
void kp_spirv_return(kp_spirv *s);
void kp_spirv_return_value(kp_spirv *s, uint32_t value);
void kp_spirv_unreachable(kp_spirv *s);

#endif
