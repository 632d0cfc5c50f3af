// base/error: one line, whole characters, carets under what they mean, one set of words a thread.
#include "test.h"

#include "base/error.h"

#include <pthread.h>

static void test_nothing_has_failed_yet(void **state) {
    (void)state;
    assert_string_equal(kp_last_error(), "");
    const kp_diagnostic *d = kp_last_diagnostic();
    assert_string_equal(d->message, "");
    assert_string_equal(d->file, "");
    assert_string_equal(d->source_line, "");
    assert_string_equal(d->rendered, "");
    assert_int_equal(d->line, 0);
}

static void test_set_returns_its_result(void **state) {
    (void)state;
    assert_int_equal(kp_error_set(KP_ERROR_LIMIT, "%s: %d > %d", "tensor", 3, 2), KP_ERROR_LIMIT);
    assert_string_equal(kp_last_error(), "tensor: 3 > 2");
}

static void test_newlines_become_spaces(void **state) {
    (void)state;
    kp_error_set(KP_ERROR_IO, "a\nb\r\nc");
    assert_string_equal(kp_last_error(), "a b  c");
}

static void test_the_last_error_may_be_an_argument(void **state) {
    (void)state;
    kp_error_set(KP_ERROR_IO, "inner");
    kp_error_set(KP_ERROR_IO, "outer: %s", kp_last_error());
    assert_string_equal(kp_last_error(), "outer: inner");
}

// Is `text` made of whole UTF-8 characters of the four kinds used here?
static bool is_whole(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        size_t n = *c >= 0xF0 ? 4 : *c >= 0xE0 ? 3 : *c >= 0xC0 ? 2 : 1;
        for (size_t k = 1; k < n; k++) {
            if ((c[k] & 0xC0) != 0x80)
                return false;
        }
        c += n;
    }
    return true;
}

static void test_long_messages_are_cut_between_characters(void **state) {
    (void)state;
    static const char *const characters[] = {"x", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t which = 0; which < COUNT_OF(characters); which++) {
        for (int shift = 0; shift < 4; shift++) {
            char text[4000];
            memset(text, '-', (size_t)shift);
            test_repeat(text, (size_t)shift, 3000, characters[which]);
            kp_error_set(KP_ERROR_IO, "%s", text);
            size_t length = strlen(kp_last_error());
            assert_in_range(length, 2047 - 3, 2047);
            assert_memory_equal(kp_last_error(), text, length);
            assert_true(is_whole(kp_last_error()));
        }
    }
}

static void test_a_message_that_just_fits_is_whole(void **state) {
    (void)state;
    char text[2048];
    memset(text, 'a', 2045);
    memcpy(text + 2045, "\xC3\xA4", 3);
    kp_error_set(KP_ERROR_IO, "%s", text);
    assert_string_equal(kp_last_error(), text);
}

static void test_host_memory(void **state) {
    (void)state;
    assert_fails(kp_error_host_memory(123), KP_ERROR_HOST_MEMORY, "out of host memory: 123 bytes");
}

static kp_result diagnose(uint32_t line, uint32_t column, uint32_t end, const char *source, const char *message) {
    kp_error_position at = {.file = "k.py", .line = line, .column = column, .end_column = end};
    at.source_line = source;
    at.source_length = source != NULL ? strlen(source) : 0;
    return kp_error_set_diagnostic(&at, message);
}

static void test_diagnostic_parts(void **state) {
    (void)state;
    assert_fails(diagnose(12, 5, 8, "    abc = d", "no such name"), KP_ERROR_COMPILE, "k.py:12:5: no such name");
    const kp_diagnostic *d = kp_last_diagnostic();
    assert_string_equal(d->message, "no such name");
    assert_string_equal(d->file, "k.py");
    assert_string_equal(d->source_line, "    abc = d");
    assert_int_equal(d->line, 12);
    assert_int_equal(d->column, 5);
    assert_int_equal(d->end_column, 8);
    assert_string_equal(d->rendered, "k.py:12:5: no such name\n        abc = d\n        ^^^");
}

static void test_carets_follow_tabs(void **state) {
    (void)state;
    diagnose(1, 3, 4, "\t\tx", "m");
    assert_string_equal(kp_last_diagnostic()->rendered, "k.py:1:3: m\n    \t\tx\n    \t\t^");
}

static void test_carets_count_characters_not_bytes(void **state) {
    (void)state;
    diagnose(1, 4, 6, "\xC3\xA4\xE2\x82\xAC = ab", "m");
    assert_string_equal(kp_last_diagnostic()->rendered, "k.py:1:4: m\n    \xC3\xA4\xE2\x82\xAC = ab\n       ^^");
}

static void test_positions_that_are_not_known(void **state) {
    (void)state;
    assert_fails(diagnose(0, 0, 0, NULL, "m"), KP_ERROR_COMPILE, "k.py: m");
    assert_string_equal(kp_last_diagnostic()->rendered, "k.py: m");
    assert_fails(diagnose(3, 0, 0, "text", "m"), KP_ERROR_COMPILE, "k.py:3: m");
    assert_string_equal(kp_last_diagnostic()->rendered, "k.py:3: m");
    assert_fails(diagnose(3, 2, 0, "text", "m"), KP_ERROR_COMPILE, "k.py:3:2: m");
    assert_string_equal(kp_last_diagnostic()->rendered, "k.py:3:2: m\n    text\n     ^");
    assert_fails(diagnose(3, 2, 2, NULL, "m"), KP_ERROR_COMPILE, "k.py:3:2: m");
    assert_string_equal(kp_last_diagnostic()->rendered, "k.py:3: m");
}

static void test_positions_far_outside_the_line(void **state) {
    (void)state;
    diagnose(UINT32_MAX, UINT32_MAX - 1, UINT32_MAX, "ab", "m");
    assert_string_equal(kp_last_diagnostic()->rendered, "k.py:4294967295:4294967294: m\n    ab\n      ^");
    diagnose(1, 1, UINT32_MAX, "ab", "m");
    assert_true(strlen(kp_last_diagnostic()->rendered) < 8192);
}

static void test_source_line_needs_no_end(void **state) {
    (void)state;
    const char text[] = "first\nsecond";
    kp_error_position at = {.file = "f", .line = 1, .column = 1, .end_column = 6};
    at.source_line = text;
    at.source_length = 5;
    kp_error_set_diagnostic(&at, "m");
    assert_string_equal(kp_last_diagnostic()->source_line, "first");
}

static void *fail_on_another_thread(void *out) {
    snprintf(out, 64, "%s", kp_last_error());
    kp_error_set(KP_ERROR_IO, "theirs");
    return NULL;
}

static void test_each_thread_has_its_own(void **state) {
    (void)state;
    kp_error_set(KP_ERROR_IO, "mine");
    char seen[64] = "?";
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_on_another_thread, seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(seen, "");
    assert_string_equal(kp_last_error(), "mine");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_has_failed_yet), // first
        cmocka_unit_test(test_set_returns_its_result),
        cmocka_unit_test(test_newlines_become_spaces),
        cmocka_unit_test(test_the_last_error_may_be_an_argument),
        cmocka_unit_test(test_long_messages_are_cut_between_characters),
        cmocka_unit_test(test_a_message_that_just_fits_is_whole),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_diagnostic_parts),
        cmocka_unit_test(test_carets_follow_tabs),
        cmocka_unit_test(test_carets_count_characters_not_bytes),
        cmocka_unit_test(test_positions_that_are_not_known),
        cmocka_unit_test(test_positions_far_outside_the_line),
        cmocka_unit_test(test_source_line_needs_no_end),
        cmocka_unit_test(test_each_thread_has_its_own),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
