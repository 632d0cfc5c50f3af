// See arena.h. Blocks double from 16 KiB to 32 MiB, so that a small compile makes one allocation and a large one few;
// and so that the largest is about half of all. Allocators such as glibc's keep freed memory up to a multiple of the
// largest block that they have seen, and fresh memory from the system takes longer than to fill it with a tree.
#include "arena.h"

#include "alloc.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

struct kp_arena_block {
    kp_arena_block *older;
    size_t size; // bytes behind the header
    alignas(max_align_t) char bytes[];
};

enum { STEP = 8, SMALL = 64, FIRST_BLOCK = 16 * 1024, LARGEST_STEP = 32 * 1024 * 1024 };

static void *fail(kp_arena *arena) {
    if (arena->on_full != NULL)
        arena->on_full(arena->payload);
    return NULL;
}

static kp_arena_block *add_block(kp_arena *arena, size_t need) {
    size_t size = FIRST_BLOCK;
    if (arena->head != NULL)
        size = arena->head->size < LARGEST_STEP / 2 ? arena->head->size * 2 : LARGEST_STEP;
    if (size < arena->least)
        size = arena->least;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof(kp_arena_block))
        return NULL;
    kp_arena_block *block = kp_alloc_new(sizeof(kp_arena_block) + size);
    if (block == NULL)
        return NULL;
    block->older = arena->head;
    block->size = size;
    arena->head = block;
    arena->next = block->bytes;
    arena->end = block->bytes + size;
    return block;
}

void *kp_arena_raw(kp_arena *arena, size_t size) {
    if (size > SIZE_MAX - STEP)
        return fail(arena);
    size_t padded = (size + STEP - 1) / STEP * STEP;
    if (arena->head == NULL || (size_t)(arena->end - arena->next) < padded) {
        if (add_block(arena, padded) == NULL)
            return fail(arena);
    }
    void *result = arena->next;
    arena->next += padded;
    return result;
}

void *kp_arena_new(kp_arena *arena, size_t size) {
    uint64_t *result = kp_arena_raw(arena, size);
    if (result == NULL || size > SMALL)
        return result != NULL ? memset(result, 0, size) : NULL;
    for (size_t i = 0; i * STEP < size; i++)
        result[i] = 0;
    return result;
}

char *kp_arena_text(kp_arena *arena, const char *text, size_t length) {
    char *copy = length == SIZE_MAX ? fail(arena) : kp_arena_new(arena, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

void kp_arena_free(kp_arena *arena) {
    for (kp_arena_block *block = arena->head; block != NULL;) {
        kp_arena_block *older = block->older;
        kp_alloc_free(block);
        block = older;
    }
    arena->head = NULL;
    arena->next = arena->end = NULL;
}
