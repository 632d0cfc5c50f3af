// A SPIR-V module that is read, and written anew with something else in it: what the files that change modules share
// (known_zeros.h, pairs.h; and the words of float_rules.h and loop_guard.h).
#ifndef KP_SRC_RUNTIME_REWRITE_H
#define KP_SRC_RUNTIME_REWRITE_H

#include "base/str.h"
#include "reflect_module.h"

enum { KP_REWRITE_HEADER = 5, KP_REWRITE_BOUND = 3, KP_REWRITE_SPIRV_1_4 = 0x00010400 }; // words of a module's head

static inline uint32_t kp_rewrite_length(uint32_t word) { return word >> SpvWordCountShift; }
static inline SpvOp kp_rewrite_op(uint32_t word) { return (SpvOp)(word & SpvOpCodeMask); }

enum { KP_REWRITE_FOUND = 64 };

typedef struct kp_rewrite {
    kp_reflect_module module;          // as it was read
    uint32_t next;                     // id
    kp_str annotations, globals, body; // new instructions, by where they go
    kp_str whole;                      // the new module
    kp_arena arena;                    // what reading needs
    struct {
        SpvOp op;
        uint32_t a, b, id;
    } found[KP_REWRITE_FOUND]; // by kp_rewrite_global, lately
} kp_rewrite;

// Reads the module into a zeroed one and has `change` write all of the new one, or nothing where it may stay as it is:
// *out is NULL then, and else for kp_alloc_free. `change` gets r->whole, and leaves through module.escape when memory
// runs out; what `r` holds is freed. KP_ERROR_HOST_MEMORY.
kp_result kp_rewrite_apply(kp_rewrite *r, const char *label, void (*change)(kp_rewrite *r, kp_str *to),
                           const uint32_t *words, size_t word_count, uint32_t **out, size_t *out_count);

// One instruction.
#define KP_REWRITE_PUT(to, op, ...)                         \
    kp_rewrite_put(to, op, (const uint32_t[]){__VA_ARGS__}, \
                   (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))
void kp_rewrite_put(kp_str *to, SpvOp op, const uint32_t *operands, uint32_t count);

void kp_rewrite_append(kp_str *to, const kp_str *from);

// The type or constant with these operands: the module's own, or one that is made now.
uint32_t kp_rewrite_global(kp_rewrite *r, SpvOp op, uint32_t a, uint32_t b);

#endif
