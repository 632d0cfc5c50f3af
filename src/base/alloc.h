// Host memory: the one door to malloc, so that a test can make the n-th allocation fail.
#ifndef KP_SRC_BASE_ALLOC_H
#define KP_SRC_BASE_ALLOC_H

#include <stddef.h>

void *kp_alloc_new(size_t size);                // uninitialised; NULL when out of memory; size 0 gives a valid pointer
void *kp_alloc_zero(size_t count, size_t size); // zeroed; NULL when out of memory or when count * size overflows
void *kp_alloc_resize(void *old, size_t size);  // as realloc: on NULL the old block is untouched
char *kp_alloc_text(const char *text);          // a copy; NULL for NULL or when out of memory
void kp_alloc_free(void *block);                // NULL is fine

// Tests only: the n-th allocation from now (1 is the next) fails, once; 0 switches it off. Process-wide.
void kp_alloc_fail_at(size_t n);

#endif
