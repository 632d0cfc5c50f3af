// Memory that is freed all at once: one arena per compile, per reflected module.
#ifndef KP_SRC_BASE_ARENA_H
#define KP_SRC_BASE_ARENA_H

#include <stddef.h>

typedef struct kp_arena_block kp_arena_block;

typedef struct kp_arena {
    kp_arena_block *head;    // newest block
    char *next, *end;        // free part of it
    size_t least;            // bytes of the next block at least, for who knows what will be needed
    void (*on_full)(void *); // called when the system has no memory left; must not return (longjmp). NULL: the
    void *payload;           // allocation answers NULL
} kp_arena;

// A zeroed kp_arena is a good empty one.
void *kp_arena_new(kp_arena *arena, size_t size);                      // zeroed, aligned for pointers and 64 bits
void *kp_arena_raw(kp_arena *arena, size_t size);                      // the same, uninitialised
char *kp_arena_text(kp_arena *arena, const char *text, size_t length); // a copy, NUL-terminated
void kp_arena_free(kp_arena *arena);                                   // frees every block; the arena is empty again

#endif
