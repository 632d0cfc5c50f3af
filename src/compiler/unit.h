// One compile: the memory, the text and the way out that every pass shares. Made and freed by compile.c alone.
#ifndef KP_SRC_COMPILER_UNIT_H
#define KP_SRC_COMPILER_UNIT_H

#include "base/arena.h"

#include <kp/compiler.h>

#include <setjmp.h>

struct kp_token;
struct kp_names;
struct kp_type;

// One of the texts that are compiled together: the source, the sources of kp_compile_desc.functions, and the types of
// parameters that the caller gives, of the kernel and of each function.
typedef struct kp_text {
    uint32_t at, length; // where it lies in kp_unit.text
    uint32_t first_line; // at least 1
    const char *file;    // for messages; of a type: "<type of 'a'>"
    uint32_t file_id;    // emit: its OpString; 0: not written yet
    uint32_t *lines;     // where each line starts; NULL: nobody has asked yet
    uint32_t line_count; //
    uint32_t line;       // that was asked for last
} kp_text;

typedef struct kp_unit {
    kp_arena arena;              // all that a compile allocates
    jmp_buf escape;              // where an error goes; set by compile.c
    kp_result result;            // what the error was
    const kp_compile_desc *desc; // never NULL
    const char *file;            // of the source; never NULL
    const char *text;            // all texts, each followed by a NUL
    kp_text *texts;              // [0]: the source; [1 + n]: desc->functions[n]; then the types, in order
    uint32_t text_count;         //
    struct kp_names *names;      // see lexer.h
    struct kp_type *arrays;      // that are in use, images too; see type.h
    struct kp_type *structs;     // ... the newest first
    uint32_t may_need;           // kp_need: what the module may take for given
    uint32_t could_need;         // ... what it would have a use for
    uint32_t needs;              // ... what it has used
} kp_unit;

// What most kernels need, so that a compile takes two blocks of memory from the system, or one when it is small: for
// the tokens, and then, when their number is known, for all else.
enum { KP_UNIT_LEAST = 24 * 1024, KP_UNIT_A_BYTE = 8, KP_UNIT_A_TOKEN = 128 };

// Zeroed memory that lives as long as the unit; never NULL (running out of memory ends the compile).
#define KP_UNIT_NEW(unit, type, count) ((type *)kp_arena_new(&(unit)->arena, sizeof(type) * (count)))

#endif
