// What every test of this folder includes: cmocka, and checks of results with their whole text.
#ifndef KP_TESTS_UNIT_TEST_H
#define KP_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <kp/base.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

// The call succeeds; if not, the test shows why.
#define assert_ok(call)                                                              \
    do {                                                                             \
        kp_result result_ = (call);                                                  \
        if (result_ != KP_OK)                                                        \
            fail_msg("%s: %s: %s", #call, kp_result_name(result_), kp_last_error()); \
    } while (0)

// The call fails with that result and exactly that message.
#define assert_fails(call, expected, message)                                        \
    do {                                                                             \
        kp_result result_ = (call);                                                  \
        if (result_ != (expected))                                                   \
            fail_msg("%s: %s: %s", #call, kp_result_name(result_), kp_last_error()); \
        assert_string_equal(kp_last_error(), message);                               \
    } while (0)

// The call fails with that result and a message that starts like this.
#define assert_fails_like(call, expected, start)                                            \
    do {                                                                                    \
        kp_result result_ = (call);                                                         \
        if (result_ != (expected) || strncmp(kp_last_error(), (start), strlen(start)) != 0) \
            fail_msg("%s: %s: %s", #call, kp_result_name(result_), kp_last_error());        \
    } while (0)

// What changes a module: each of its host allocations fails once, and it says so and gives nothing. It has something to
// change in these words. For files that include base/alloc.h.
#define TEST_MEMORY_RUNS_OUT(apply, words, word_count)                                                      \
    do {                                                                                                    \
        kp_result result_ = KP_ERROR_HOST_MEMORY;                                                           \
        for (size_t n_ = 1; result_ != KP_OK; n_++) {                                                       \
            uint32_t *out_ = NULL;                                                                          \
            size_t count_;                                                                                  \
            kp_alloc_fail_at(n_);                                                                           \
            result_ = apply(words, word_count, &out_, &count_);                                             \
            kp_alloc_fail_at(0);                                                                            \
            assert_true(result_ == KP_OK ? out_ != NULL : out_ == NULL && result_ == KP_ERROR_HOST_MEMORY); \
            kp_alloc_free(out_);                                                                            \
        }                                                                                                   \
    } while (0)

// Random numbers that are the same in every run (xorshift64).
typedef struct test_random {
    uint64_t state; // not 0
} test_random;

static inline uint64_t test_next(test_random *random) {
    uint64_t x = random->state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return random->state = x;
}

// 0 to n - 1.
static inline uint32_t test_below(test_random *random, uint32_t n) { return (uint32_t)(test_next(random) >> 11) % n; }

// Fills `text` behind its first `used` bytes with copies of `piece`, to about `length` bytes, and ends it.
static inline void test_repeat(char *text, size_t used, size_t length, const char *piece) {
    size_t n = strlen(piece);
    for (; used < length; used += n)
        memcpy(text + used, piece, n);
    text[used] = '\0';
}

// A file of the build folder, whole; free it. Aligned for words.
static inline void *test_read(const char *name, size_t *size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", KP_UNIT_DATA, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    const size_t most = 1u << 20;
    void *bytes = malloc(most);
    assert_non_null(bytes);
    *size = fread(bytes, 1, most, file);
    fclose(file);
    void *fitting = realloc(bytes, *size != 0 ? *size : 1); // so that a sanitizer sees a read past the end
    assert_non_null(fitting);
    return fitting;
}

#endif
