// Results: every value has its name, and no other has.
#include "test.h"

static void test_names(void **state) {
    (void)state;
    assert_string_equal(kp_result_name(KP_OK), "KP_OK");
#define KP_X(name, value, meaning)                               \
    assert_int_equal(KP_##name, value);                          \
    assert_string_equal(kp_result_name(KP_##name), "KP_" #name); \
    assert_true(strlen(meaning) > 0);
    KP_RESULTS(KP_X)
#undef KP_X
}

static void test_values_that_are_no_result(void **state) {
    (void)state;
    const int others[] = {1, -19, -1000, INT32_MAX};
    for (size_t k = 0; k < COUNT_OF(others); k++) {
        kp_result result;
        memcpy(&result, &others[k], sizeof result);
        assert_string_equal(kp_result_name(result), "KP_ERROR_?");
    }
}

static void test_version(void **state) {
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", KP_VERSION_MAJOR, KP_VERSION_MINOR, KP_VERSION_PATCH);
    assert_string_equal(kp_version(), text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_values_that_are_no_result),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
