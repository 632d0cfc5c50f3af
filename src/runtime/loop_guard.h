// Makes a driver that ends long loops say so (design decision 9). Mesa's lavapipe counts the rounds of all loops that
// the invocations of a vector run, down from 65,535, and from zero on ends every loop after one round, without a word.
//
// So a module with loops gets, for that driver alone, a few words at the end of its entry points: one more loop, of two
// rounds. The count only falls, so when any loop was cut, this one is; and when this one is not, none was.
#ifndef KP_SRC_RUNTIME_LOOP_GUARD_H
#define KP_SRC_RUNTIME_LOOP_GUARD_H

#include <kp/base.h>

// How the rounds are counted there; a kernel has a few less, which the last loop needs.
#define KP_LOOP_GUARD_ROUNDS 65535

// The storage buffer that the added words work with.
typedef struct kp_loop_guard {
    uint32_t rounds, again; // set both to KP_LOOP_GUARD_TURNS before the launch; no compiler may know that
    uint32_t cut;           // set to 0; it is 1 after the launch when a loop was cut
} kp_loop_guard;

enum { KP_LOOP_GUARD_TURNS = 2 };

// A copy of a module that kp_reflect_create read, whose compute entry points end with that loop. Its buffer is at `set`
// and `binding`, which must be free, or hold a buffer that begins so. `*out` is for kp_alloc_free.
// KP_ERROR_HOST_MEMORY, KP_ERROR_SPIRV.
kp_result kp_loop_guard_apply(const uint32_t *words, size_t word_count, uint32_t set, uint32_t binding, uint32_t **out,
                              size_t *out_count);

#endif
