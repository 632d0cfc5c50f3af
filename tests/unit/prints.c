// runtime/prints and what reflect knows of sites: any words that a device leaves, and any module, give some text or
// none. The text of sound ones is tested in Python, against CPython's.
#include "test.h"

#include "base/launch.h"
#include "runtime/prints.h"

#include <kp/compiler.h>

static kp_program *compile(void) {
    kp_program *program = NULL;
    assert_ok(kp_compile("def k(i: Index, a: Array[f32], b: Array[i32]):\n"
                         "    print('one', i, vec3(a[i]), a[i] > 1.0)\n"
                         "    print()\n"
                         "    assert b[i] > 3, 'three'\n"
                         "    print('%', b[i] // b[0], end='')\n",
                         &(kp_compile_desc){.checked = true}, &program));
    return program;
}

static kp_reflect *reflect(const uint32_t *words, size_t count) {
    kp_reflect *r = NULL;
    kp_result result = kp_reflect_create(&(kp_reflect_desc){.bytes = words, .size = count * 4}, &r);
    return result == KP_OK ? r : NULL;
}

static void format_as(const kp_reflect *r, const uint32_t *words, size_t count, bool places, const char *wanted) {
    kp_str text = {0};
    assert_true(kp_prints_format(r, words, count, places, &text));
    if (wanted != NULL)
        assert_string_equal(text.data != NULL ? text.data : "", wanted);
    kp_str_free(&text);
}

static void format(const kp_reflect *r, const uint32_t *words, size_t count, const char *wanted) {
    format_as(r, words, count, false, wanted);
    if (wanted == NULL)
        format_as(r, words, count, true, NULL);
}

// The number of the n-th print, as records have it.
static uint32_t print_site(const kp_reflect *r, size_t n) {
    for (uint32_t k = 0; k < r->site_count; k++) {
        if (r->sites[k].kind == KP_LAUNCH_SITE_PRINT && n-- == 0)
            return k + 1;
    }
    fail_msg("there is no such print");
    return 0;
}

static void test_records_in_order_of_their_keys(void **state) {
    (void)state;
    kp_program *program = compile();
    kp_reflect *r = reflect(program->words, program->word_count);
    assert_non_null(r);
    uint32_t first = print_site(r, 0), empty = print_site(r, 1), last = print_site(r, 2);
    const uint32_t half = 0x3F000000, words[] = {last, 7, 5,     first, 2,    UINT32_MAX, half, 0, half, 1,     last,
                                                 7,    6, empty, 0,     last, 8,          1234, 0, 0,    first, 3};
    format(r, words, COUNT_OF(words), "\none -1 vec3(0.5, 0.0, 0.5) True\n% 5% 6% 1234");
    format(r, words, 17, "\none -1 vec3(0.5, 0.0, 0.5) True\n% 5% 6"); // the last one is cut off
    format_as(r, words, COUNT_OF(words), true,
              "<kernel>:3: k: \n<kernel>:2: k: one -1 vec3(0.5, 0.0, 0.5) True\n<kernel>:5: k: % 5% 6% 1234");
    format(r, words, 2, "");
    format(r, words, 0, "");
    kp_reflect_destroy(r);
    kp_program_destroy(program);
}

static void test_any_words(void **state) {
    (void)state;
    kp_program *program = compile();
    kp_reflect *r = reflect(program->words, program->word_count);
    test_random random = {7};
    for (int round = 0; round < 2000; round++) {
        uint32_t words[64];
        for (size_t k = 0; k < COUNT_OF(words); k++)
            words[k] = test_below(&random, 3) == 0 ? (uint32_t)test_next(&random) : test_below(&random, 12);
        format(r, words, test_below(&random, COUNT_OF(words) + 1), NULL);
    }
    kp_reflect_destroy(r);
    kp_program_destroy(program);
}

static void test_any_module(void **state) {
    (void)state;
    kp_program *program = compile();
    size_t size = program->word_count * 4;
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    test_random random = {11};
    for (int round = 0; round < 3000; round++) {
        memcpy(bytes, program->words, size);
        for (uint32_t k = test_below(&random, 6); k-- > 0;)
            bytes[20 + test_below(&random, (uint32_t)size - 20)] = (unsigned char)test_next(&random);
        kp_reflect *r = reflect((const uint32_t *)(void *)bytes, program->word_count);
        if (r == NULL)
            continue;
        uint32_t words[32];
        for (size_t k = 0; k < COUNT_OF(words); k++)
            words[k] = test_below(&random, 12);
        format(r, words, COUNT_OF(words), NULL);
        kp_reflect_destroy(r);
    }
    free(bytes);
    kp_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_in_order_of_their_keys),
        cmocka_unit_test(test_any_words),
        cmocka_unit_test(test_any_module),
    };
    return cmocka_run_group_tests_name("prints", tests, NULL, NULL);
}
