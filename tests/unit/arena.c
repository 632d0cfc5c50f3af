// base/arena: alignment, zeroes, growth, and what happens when there is no memory.
#include "test.h"

#include "base/alloc.h"
#include "base/arena.h"

#include <stdalign.h>

static void test_blocks_are_aligned_zeroed_and_apart(void **state) {
    (void)state;
    kp_arena arena = {0};
    unsigned char *blocks[500];
    for (size_t k = 0; k < COUNT_OF(blocks); k++) {
        size_t size = k * 7 % 97;
        blocks[k] = kp_arena_new(&arena, size);
        assert_non_null(blocks[k]);
        assert_int_equal((uintptr_t)blocks[k] % sizeof(uint64_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(blocks[k][i], 0);
        memset(blocks[k], (int)(k % 255) + 1, size);
    }
    for (size_t k = 0; k < COUNT_OF(blocks); k++) {
        for (size_t i = 0; i < k * 7 % 97; i++)
            assert_int_equal(blocks[k][i], k % 255 + 1);
    }
    kp_arena_free(&arena);
}

static void test_a_block_larger_than_any_step(void **state) {
    (void)state;
    kp_arena arena = {0};
    const size_t size = 5u << 20;
    char *big = kp_arena_new(&arena, size), *small = kp_arena_new(&arena, 16);
    assert_non_null(big);
    assert_non_null(small);
    big[size - 1] = small[15] = 1;
    kp_arena_free(&arena);
}

static void test_text_is_cut_to_its_length_and_ended(void **state) {
    (void)state;
    kp_arena arena = {0};
    assert_string_equal(kp_arena_text(&arena, "kernel", 4), "kern");
    assert_string_equal(kp_arena_text(&arena, "kernel", 0), "");
    kp_arena_free(&arena);
}

static void test_an_arena_can_be_used_again(void **state) {
    (void)state;
    kp_arena arena = {0};
    kp_arena_free(&arena); // empty
    assert_non_null(kp_arena_new(&arena, 8));
    kp_arena_free(&arena);
    assert_null(arena.head);
    assert_non_null(kp_arena_new(&arena, 8));
    kp_arena_free(&arena);
    kp_arena_free(&arena);
}

static void test_sizes_that_overflow_are_refused(void **state) {
    (void)state;
    kp_arena arena = {0};
    assert_null(kp_arena_new(&arena, SIZE_MAX));
    assert_null(kp_arena_new(&arena, SIZE_MAX - 15));
    assert_null(kp_arena_text(&arena, "", SIZE_MAX));
    kp_arena_free(&arena);
}

static void test_out_of_memory_answers_null_and_the_arena_lives_on(void **state) {
    (void)state;
    kp_arena arena = {0};
    char *text = kp_arena_text(&arena, "before", 6);
    kp_alloc_fail_at(1);
    assert_null(kp_arena_new(&arena, 1u << 20));
    assert_string_equal(text, "before");
    assert_non_null(kp_arena_new(&arena, 1u << 20));
    kp_arena_free(&arena);
}

static jmp_buf out_of_memory;

static void leave(void *payload) { longjmp(out_of_memory, *(int *)payload); }

static void test_on_full_is_called_with_its_payload(void **state) {
    (void)state;
    static int payload = 7;
    static kp_arena arena;
    arena = (kp_arena){.on_full = leave, .payload = &payload};
    int reason = setjmp(out_of_memory);
    if (reason == 0) {
        kp_alloc_fail_at(1);
        kp_arena_new(&arena, 8);
        fail_msg("on_full was not called");
    }
    assert_int_equal(reason, 7);
    kp_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_aligned_zeroed_and_apart),
        cmocka_unit_test(test_a_block_larger_than_any_step),
        cmocka_unit_test(test_text_is_cut_to_its_length_and_ended),
        cmocka_unit_test(test_an_arena_can_be_used_again),
        cmocka_unit_test(test_sizes_that_overflow_are_refused),
        cmocka_unit_test(test_out_of_memory_answers_null_and_the_arena_lives_on),
        cmocka_unit_test(test_on_full_is_called_with_its_payload),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
