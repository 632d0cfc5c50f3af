// A SPIR-V module as tables: instructions, ids, decorations, names. The bottom of reflect.h; the only part that touches
// untrusted lengths and ids. What it hands on is safe to walk: instructions tile the words exactly, every id is looked
// up.
#ifndef KP_SRC_RUNTIME_REFLECT_MODULE_H
#define KP_SRC_RUNTIME_REFLECT_MODULE_H

#include "base/arena.h"
#include "base/error.h"

#include <setjmp.h>
#include <spirv/unified1/spirv.h>

#define KP_REFLECT_NONE UINT32_MAX // "there is none": of ids' rows, decorations, offsets

typedef struct kp_reflect_instruction {
    const uint32_t *words; // words[0] is length and opcode
    uint32_t count;        // length, at least 1
    uint32_t at;           // position of words[0] in the module
    SpvOp op;
} kp_reflect_instruction;

// What is known about one result id. Rows are in the order of definition: an id that a type or constant may use has a
// smaller row, so walks that only go to smaller rows end.
typedef struct kp_reflect_def {
    uint32_t id;
    uint32_t at;                         // its defining instruction
    uint32_t name_at;                    // its OpName; NONE
    uint32_t members;                    // structs: row of the first member in kp_reflect_module.members
    uint32_t local_at;                   // entry functions: their OpExecutionMode(Id) LocalSize(Id); NONE
    uint32_t set, binding, spec, stride; // decorations DescriptorSet, Binding, SpecId, ArrayStride; NONE
    uint32_t builtin;                    // decoration BuiltIn; NONE
    bool block, buffer_block, non_writable, non_readable;
} kp_reflect_def;

typedef struct kp_reflect_member {
    uint32_t offset, matrix_stride; // decorations; NONE
    uint32_t name_at;               // its OpMemberName; NONE
    bool row_major, non_writable, non_readable;
} kp_reflect_member;

typedef struct kp_reflect_key {
    uint32_t id, row;
} kp_reflect_key;

typedef struct kp_reflect_module {
    const char *label;
    uint32_t *words; // host byte order
    uint32_t word_count;
    kp_reflect_def *defs;
    uint32_t def_count;
    uint32_t global_count; // rows below it are outside functions
    uint32_t function_at;  // the first OpFunction, or word_count
    kp_reflect_key *keys;  // sorted by id
    kp_reflect_member *members;

    kp_arena *keep;    // what lives as long as the module
    kp_arena *scratch; // what lives as long as the call
    jmp_buf escape;    // where kp_reflect_module_fail goes
    kp_result result;  // what failed
} kp_reflect_module;

// Fills the tables from any bytes. `label`, `keep`, `scratch` and `escape` are set.
void kp_reflect_module_read(kp_reflect_module *m, const void *bytes, size_t size);

// Sets the error, opened by the label, and leaves through m->escape.
_Noreturn void kp_reflect_module_fail(kp_reflect_module *m, kp_result result, const char *format, ...) KP_PRINTF(3, 4);

// count * size bytes, zeroed; leaves through m->escape when there are none.
void *kp_reflect_module_alloc(kp_reflect_module *m, kp_arena *arena, size_t count, size_t size);

// The instruction at a position where one starts, below word_count.
kp_reflect_instruction kp_reflect_module_at(const kp_reflect_module *m, uint32_t at);

// Walks: for (uint32_t at = first; kp_reflect_module_next(m, &at, &i);)
bool kp_reflect_module_next(const kp_reflect_module *m, uint32_t *at, kp_reflect_instruction *out);

// Row of an id, or NONE.
uint32_t kp_reflect_module_find(const kp_reflect_module *m, uint32_t id);

// The defining instruction of a row.
kp_reflect_instruction kp_reflect_module_def(const kp_reflect_module *m, uint32_t row);

// Row of the result type of a row, or NONE when it has none or the type is not defined before it.
uint32_t kp_reflect_module_type(const kp_reflect_module *m, uint32_t row);

// A copy, in `keep`, of the text that starts at operand `first`.
const char *kp_reflect_module_text(kp_reflect_module *m, const kp_reflect_instruction *i, uint32_t first);

// The name that OpName gives a row, and the one that OpMemberName gives a member of a struct, or NULL.
const char *kp_reflect_module_name(kp_reflect_module *m, uint32_t row);
const char *kp_reflect_module_member_name(kp_reflect_module *m, uint32_t row, uint32_t member);

// Operand k (0 is the length and opcode), or 0, which is no id, when the instruction is shorter.
static inline uint32_t kp_reflect_operand(const kp_reflect_instruction *i, uint32_t k) {
    return k < i->count ? i->words[k] : 0;
}

#endif
