// base/alloc: sizes of zero, overflow, and failures on demand.
#include "test.h"

#include "base/alloc.h"

static void test_size_zero_gives_a_block(void **state) {
    (void)state;
    void *a = kp_alloc_new(0), *b = kp_alloc_zero(0, 8), *c = kp_alloc_zero(8, 0), *d = kp_alloc_resize(NULL, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_non_null(d);
    kp_alloc_free(a);
    kp_alloc_free(b);
    kp_alloc_free(c);
    kp_alloc_free(d);
    kp_alloc_free(NULL);
}

static void test_zero_is_zeroed(void **state) {
    (void)state;
    unsigned char *bytes = kp_alloc_zero(1000, 3);
    assert_non_null(bytes);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    kp_alloc_free(bytes);
}

static void test_product_that_overflows_is_refused(void **state) {
    (void)state;
    assert_null(kp_alloc_zero(SIZE_MAX, 2));
    assert_null(kp_alloc_zero(SIZE_MAX / 2 + 1, 2));
    assert_null(kp_alloc_zero(2, SIZE_MAX));
}

static void test_text_is_copied(void **state) {
    (void)state;
    char text[] = "kp";
    char *copy = kp_alloc_text(text);
    text[0] = 'x';
    assert_string_equal(copy, "kp");
    kp_alloc_free(copy);
    char *empty = kp_alloc_text("");
    assert_string_equal(empty, "");
    kp_alloc_free(empty);
    assert_null(kp_alloc_text(NULL));
}

static void test_resize_keeps_the_contents(void **state) {
    (void)state;
    char *block = kp_alloc_text("abc");
    block = kp_alloc_resize(block, 4000);
    assert_non_null(block);
    assert_string_equal(block, "abc");
    kp_alloc_free(block);
}

static void test_the_nth_allocation_fails_once(void **state) {
    (void)state;
    kp_alloc_fail_at(3);
    void *first = kp_alloc_new(1), *second = kp_alloc_zero(1, 1);
    assert_non_null(first);
    assert_non_null(second);
    assert_null(kp_alloc_resize(first, 100)); // `first` is untouched
    void *fourth = kp_alloc_new(1);
    assert_non_null(fourth);
    kp_alloc_free(first);
    kp_alloc_free(second);
    kp_alloc_free(fourth);
}

static void test_every_kind_of_allocation_can_fail(void **state) {
    (void)state;
    kp_alloc_fail_at(1);
    assert_null(kp_alloc_new(1));
    kp_alloc_fail_at(1);
    assert_null(kp_alloc_zero(1, 1));
    kp_alloc_fail_at(1);
    assert_null(kp_alloc_resize(NULL, 1));
    kp_alloc_fail_at(1);
    assert_null(kp_alloc_text("a"));
}

static void test_failing_can_be_switched_off(void **state) {
    (void)state;
    kp_alloc_fail_at(1);
    kp_alloc_fail_at(0);
    void *block = kp_alloc_new(1);
    assert_non_null(block);
    kp_alloc_free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_zero_gives_a_block),           cmocka_unit_test(test_zero_is_zeroed),
        cmocka_unit_test(test_product_that_overflows_is_refused), cmocka_unit_test(test_text_is_copied),
        cmocka_unit_test(test_resize_keeps_the_contents),         cmocka_unit_test(test_the_nth_allocation_fails_once),
        cmocka_unit_test(test_every_kind_of_allocation_can_fail), cmocka_unit_test(test_failing_can_be_switched_off),
    };
    return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}
