// One compile: the memory, the text and the way out that every pass shares. Made and freed by compile.c alone.
#ifndef KP_SRC_COMPILER_UNIT_H
#define KP_SRC_COMPILER_UNIT_H

#include "base/arena.h"

#include <kp/compiler.h>

#include <setjmp.h>

struct kp_token;
struct kp_names;
struct kp_types;

// A text that is compiled along with the source: a parameter's type that the caller gives (kp_param_type).
typedef struct kp_extra_text {
    uint32_t at, length; // where it lies in kp_unit.text
    const char *file;    // for messages: "<type of 'a'>"
} kp_extra_text;

typedef struct kp_unit {
    kp_arena arena;              // all that a compile allocates
    jmp_buf escape;              // where an error goes; set by compile.c
    kp_result result;            // what the error was
    const kp_compile_desc *desc; // never NULL
    const char *file;            // never NULL
    uint32_t first_line;         // at least 1
    const char *text;            // the source, then the extra texts, each followed by a NUL
    uint32_t source_length;      // bytes of the source
    kp_extra_text *extras;       // one for each desc->params
    struct kp_names *names;      // see lexer.h
    struct kp_types *types;      // see type.h
} kp_unit;

// Zeroed memory that lives as long as the unit; never NULL (running out of memory ends the compile).
#define KP_UNIT_NEW(unit, type, count) ((type *)kp_arena_new(&(unit)->arena, sizeof(type) * (count)))

#endif
