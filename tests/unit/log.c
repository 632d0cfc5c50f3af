// base/log: silent without a callback, filtered by level, whole lines, and safe while threads change the callback.
#include "test.h"

#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct heard {
    int count;
    kp_log_level level;
    char message[4096];
} heard;

static void hear(void *payload, kp_log_level level, const char *message) {
    heard *h = payload;
    h->count++;
    h->level = level;
    snprintf(h->message, sizeof h->message, "%s", message);
}

static int be_silent(void **state) {
    (void)state;
    kp_set_log(NULL, NULL, KP_LOG_DEBUG);
    return 0;
}

static void test_silent_at_first(void **state) {
    (void)state;
    assert_false(kp_log_wants(KP_LOG_ERROR));
    kp_log_write(KP_LOG_ERROR, "nobody hears %d", 1);
}

static void test_level_and_text_arrive(void **state) {
    (void)state;
    heard h = {0};
    kp_set_log(hear, &h, KP_LOG_DEBUG);
    kp_log_write(KP_LOG_INFO, "device %s has %d queues", "x", 3);
    assert_int_equal(h.count, 1);
    assert_int_equal(h.level, KP_LOG_INFO);
    assert_string_equal(h.message, "device x has 3 queues");
}

static void test_lower_levels_are_dropped(void **state) {
    (void)state;
    heard h = {0};
    kp_set_log(hear, &h, KP_LOG_WARNING);
    assert_false(kp_log_wants(KP_LOG_INFO));
    assert_true(kp_log_wants(KP_LOG_WARNING));
    kp_log_write(KP_LOG_INFO, "no");
    kp_log_write(KP_LOG_ERROR, "yes");
    assert_int_equal(h.count, 1);
    kp_set_log(hear, &h, KP_LOG_NONE);
    kp_log_write(KP_LOG_ERROR, "no");
    assert_int_equal(h.count, 1);
}

static void test_null_silences_again(void **state) {
    (void)state;
    heard h = {0};
    kp_set_log(hear, &h, KP_LOG_DEBUG);
    kp_set_log(NULL, NULL, KP_LOG_DEBUG);
    kp_log_write(KP_LOG_ERROR, "no");
    assert_int_equal(h.count, 0);
}

static void test_one_line_that_is_cut_between_characters(void **state) {
    (void)state;
    heard h = {0};
    kp_set_log(hear, &h, KP_LOG_DEBUG);
    kp_log_write(KP_LOG_INFO, "a\nb\r\nc");
    assert_null(strpbrk(h.message, "\r\n"));
    char text[4000] = "-";
    test_repeat(text, 1, 3000, "\xE2\x82\xAC");
    kp_log_write(KP_LOG_INFO, "%s", text);
    size_t length = strlen(h.message);
    assert_in_range(length, 2044, 2047);
    assert_int_equal((length - 1) % 3, 0);
}

static void log_again(void *payload, kp_log_level level, const char *message) {
    (void)level;
    (void)message;
    atomic_int *count = payload;
    if (atomic_fetch_add(count, 1) < 5)
        kp_log_write(KP_LOG_INFO, "from inside");
}

static void test_the_callback_may_log(void **state) {
    (void)state;
    atomic_int count = 0;
    kp_set_log(log_again, &count, KP_LOG_DEBUG);
    kp_log_write(KP_LOG_INFO, "start");
    assert_int_equal(count, 6);
}

static void unset(void *payload, kp_log_level level, const char *message) {
    (void)level;
    (void)message;
    ++*(int *)payload;
    kp_set_log(NULL, NULL, KP_LOG_NONE);
}

static void test_the_callback_may_change_the_callback(void **state) {
    (void)state;
    int count = 0;
    kp_set_log(unset, &count, KP_LOG_DEBUG);
    kp_log_write(KP_LOG_INFO, "one");
    kp_log_write(KP_LOG_INFO, "two");
    assert_int_equal(count, 1);
}

// Callback and payload belong together: a message never reaches one with the other's.
static atomic_int mismatches, arrivals;
static int payload_a, payload_b;

static void check_a(void *payload, kp_log_level level, const char *message) {
    (void)level;
    atomic_fetch_add(&arrivals, 1);
    if (payload != &payload_a || strcmp(message, "tick") != 0)
        atomic_fetch_add(&mismatches, 1);
}

static void check_b(void *payload, kp_log_level level, const char *message) {
    (void)level;
    atomic_fetch_add(&arrivals, 1);
    if (payload != &payload_b || strcmp(message, "tick") != 0)
        atomic_fetch_add(&mismatches, 1);
}

static void *write_many(void *unused) {
    (void)unused;
    for (int k = 0; k < 20000; k++)
        kp_log_write(KP_LOG_INFO, "tick");
    return NULL;
}

static void *change_many(void *unused) {
    (void)unused;
    for (int k = 0; k < 5000; k++) {
        kp_set_log(check_a, &payload_a, KP_LOG_DEBUG);
        kp_set_log(check_b, &payload_b, KP_LOG_INFO);
    }
    return NULL;
}

static void test_threads_that_log_and_change(void **state) {
    (void)state;
    kp_set_log(check_a, &payload_a, KP_LOG_DEBUG);
    pthread_t threads[5];
    for (size_t k = 0; k < COUNT_OF(threads); k++)
        assert_int_equal(pthread_create(&threads[k], NULL, k == 0 ? change_many : write_many, NULL), 0);
    for (size_t k = 0; k < COUNT_OF(threads); k++)
        pthread_join(threads[k], NULL);
    assert_int_equal(mismatches, 0);
    assert_int_equal(arrivals, 4 * 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_at_first), // first
        cmocka_unit_test_teardown(test_level_and_text_arrive, be_silent),
        cmocka_unit_test_teardown(test_lower_levels_are_dropped, be_silent),
        cmocka_unit_test_teardown(test_null_silences_again, be_silent),
        cmocka_unit_test_teardown(test_one_line_that_is_cut_between_characters, be_silent),
        cmocka_unit_test_teardown(test_the_callback_may_log, be_silent),
        cmocka_unit_test_teardown(test_the_callback_may_change_the_callback, be_silent),
        cmocka_unit_test_teardown(test_threads_that_log_and_change, be_silent),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
