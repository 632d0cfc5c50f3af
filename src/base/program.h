// Makes the programs that kp_program_destroy (kp/base.h) frees, whoever compiled them.
#ifndef KP_SRC_BASE_PROGRAM_H
#define KP_SRC_BASE_PROGRAM_H

#include <kp/base.h>

// A copy of `from` and of all that it points to (words, name, params with their names and types), in one block.
// KP_ERROR_HOST_MEMORY, `*out` untouched. Free it with kp_program_destroy.
kp_result kp_program_new(const kp_program *from, kp_program **out);

// The same, but for `from->words`, which nobody reads: *words has room for `from->word_count`, for the caller to fill
// in.
kp_result kp_program_new_empty(const kp_program *from, uint32_t **words, kp_program **out);

#endif
