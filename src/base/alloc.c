// See alloc.h. The countdown is atomic so that a test may inject failures while threads run.
#include "alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_size_t countdown; // 0: off

static int must_fail(void) {
    size_t left = atomic_load_explicit(&countdown, memory_order_relaxed);
    while (left != 0) {
        if (atomic_compare_exchange_weak_explicit(&countdown, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return left == 1;
    }
    return 0;
}

void kp_alloc_fail_at(size_t n) { atomic_store(&countdown, n); }

void *kp_alloc_new(size_t size) { return must_fail() ? NULL : malloc(size != 0 ? size : 1); }

void *kp_alloc_zero(size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    size_t bytes = count * size;
    return must_fail() ? NULL : calloc(1, bytes != 0 ? bytes : 1);
}

void *kp_alloc_resize(void *old, size_t size) { return must_fail() ? NULL : realloc(old, size != 0 ? size : 1); }

char *kp_alloc_text(const char *text) {
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = kp_alloc_new(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

void kp_alloc_free(void *block) { free(block); }
