// Faults in the kernel text. The first one ends the compile: these functions store the diagnostic and jump to
// compile.c, so that no pass has code for errors of another.
#ifndef KP_SRC_COMPILER_ERROR_H
#define KP_SRC_COMPILER_ERROR_H

#include "base/error.h"
#include "lexer.h"
#include "unit.h"

// Marks the text from the start of `first` to the end of `last` (NULL: `first` alone).
_Noreturn void kp_error_at(kp_unit *unit, const kp_token *first, const kp_token *last, const char *format, ...)
    KP_PRINTF(4, 5);

// A fault of the text as a whole.
_Noreturn void kp_error_in_file(kp_unit *unit, const char *format, ...) KP_PRINTF(2, 3);

// For kp_arena.on_full; the payload is the unit.
void kp_error_out_of_memory(void *unit);

// The line of a token as users count them, and the file that it is in.
uint32_t kp_error_line(kp_unit *unit, const kp_token *token);
const char *kp_error_file(const kp_unit *unit, const kp_token *token);

// How far apart two words are: insertions, deletions, replacements and swaps of neighbours; `limit` when it is that or
// more. For "did you mean".
uint32_t kp_error_distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length, uint32_t limit);

// How near another word must be to be offered in place of one of that length: less than this.
uint32_t kp_error_nearness(uint32_t length);

#endif
