// base/str: growth, formats, and failure that is remembered.
#include "test.h"

#include "base/alloc.h"
#include "base/str.h"

static void test_adds_and_formats(void **state) {
    (void)state;
    kp_str str = {0};
    kp_str_add(&str, "abcdef", 3);
    kp_str_format(&str, " %d %s", 42, "x");
    kp_str_add(&str, "", 0);
    assert_string_equal(str.data, "abc 42 x");
    assert_int_equal(str.length, 8);
    kp_str_free(&str);
    assert_null(str.data);
}

static void test_grows_far(void **state) {
    (void)state;
    kp_str str = {0};
    for (int k = 0; k < 20000; k++)
        kp_str_format(&str, "%05d", k);
    assert_false(str.failed);
    assert_int_equal(str.length, 100000);
    assert_int_equal(strlen(str.data), 100000);
    assert_memory_equal(str.data + 5 * 12345, "12345", 5);
    kp_str_free(&str);
}

static void test_a_format_longer_than_the_buffer(void **state) {
    (void)state;
    char big[5000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    kp_str str = {0};
    kp_str_format(&str, "<%s>", big);
    assert_int_equal(str.length, 5001);
    assert_int_equal(str.data[5000], '>');
    kp_str_free(&str);
}

static void test_take_gives_the_text_away(void **state) {
    (void)state;
    kp_str str = {0};
    char *empty = kp_str_take(&str);
    assert_string_equal(empty, "");
    kp_alloc_free(empty);
    kp_str_add(&str, "kp", 2);
    char *text = kp_str_take(&str);
    assert_string_equal(text, "kp");
    assert_null(str.data);
    assert_int_equal(str.length, 0);
    kp_alloc_free(text);
}

static void test_failure_is_remembered(void **state) {
    (void)state;
    kp_str str = {0};
    kp_str_add(&str, "kept", 4);
    kp_alloc_fail_at(1);
    kp_str_format(&str, "%1000d", 1);
    assert_true(str.failed);
    kp_str_add(&str, "lost", 4);
    assert_string_equal(str.data, "kept");
    assert_null(kp_str_take(&str)); // and nothing leaks
    assert_false(str.failed);
    kp_str_add(&str, "new", 3);
    assert_string_equal(str.data, "new");
    kp_str_free(&str);
}

static void test_failure_on_the_empty_text(void **state) {
    (void)state;
    kp_str str = {0};
    kp_alloc_fail_at(1);
    assert_null(kp_str_take(&str));
    kp_str_free(&str);
}

static void test_lengths_that_overflow(void **state) {
    (void)state;
    kp_str str = {0};
    kp_str_add(&str, "x", SIZE_MAX - 1);
    assert_true(str.failed);
    kp_str_free(&str);
    assert_false(str.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adds_and_formats),
        cmocka_unit_test(test_grows_far),
        cmocka_unit_test(test_a_format_longer_than_the_buffer),
        cmocka_unit_test(test_take_gives_the_text_away),
        cmocka_unit_test(test_failure_is_remembered),
        cmocka_unit_test(test_failure_on_the_empty_text),
        cmocka_unit_test(test_lengths_that_overflow),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
