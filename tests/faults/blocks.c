// See blocks.h. The linker puts each __wrap_ in the place of its function for all who call it from another file, and
// the function itself under __real_ (--wrap).
#include "blocks.h"

#include "base/alloc.h"

#include <stdatomic.h>

void *__real_kp_alloc_new(size_t size);
void *__real_kp_alloc_zero(size_t count, size_t size);
void *__real_kp_alloc_resize(void *old, size_t size);
char *__real_kp_alloc_text(const char *text);
void __real_kp_alloc_free(void *block);

void *__wrap_kp_alloc_new(size_t size);
void *__wrap_kp_alloc_zero(size_t count, size_t size);
void *__wrap_kp_alloc_resize(void *old, size_t size);
char *__wrap_kp_alloc_text(const char *text);
void __wrap_kp_alloc_free(void *block);

static atomic_long live, made;

static void *count(void *block) {
    if (block != NULL) {
        atomic_fetch_add(&live, 1);
        atomic_fetch_add(&made, 1);
    }
    return block;
}

void *__wrap_kp_alloc_new(size_t size) { return count(__real_kp_alloc_new(size)); }
void *__wrap_kp_alloc_zero(size_t n, size_t size) { return count(__real_kp_alloc_zero(n, size)); }
char *__wrap_kp_alloc_text(const char *text) { return count(__real_kp_alloc_text(text)); }

void *__wrap_kp_alloc_resize(void *old, size_t size) {
    void *block = __real_kp_alloc_resize(old, size);
    return old == NULL ? count(block) : block;
}

void __wrap_kp_alloc_free(void *block) {
    if (block != NULL)
        atomic_fetch_sub(&live, 1);
    __real_kp_alloc_free(block);
}

long blocks_live(void) { return atomic_load(&live); }
long blocks_made(void) { return atomic_load(&made); }
