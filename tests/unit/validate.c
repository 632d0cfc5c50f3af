// runtime/validate: the validator's verdict, in one line, for the device's Vulkan version and features.
#include "test.h"

#include "runtime/validate.h"

#include <pthread.h>

#define VULKAN(minor) ((uint32_t)1 << 22 | (uint32_t)(minor) << 12 | 250) // some patch

static kp_result validate_words(const uint32_t *words, size_t word_count, kp_validate_desc desc) {
    desc.words = words;
    desc.word_count = word_count;
    return kp_validate_module(&desc);
}

static kp_result validate_file(const char *name, kp_validate_desc desc) {
    size_t size;
    uint32_t *words = test_read(name, &size);
    kp_result result = validate_words(words, size / 4, desc);
    free(words);
    return result;
}

static void test_valid_modules(void **state) {
    (void)state;
    assert_ok(validate_file("multiply_old.spv", (kp_validate_desc){.api_version = VULKAN(0)}));
    for (uint32_t minor = 1; minor <= 4; minor++) { // newer Vulkan takes older SPIR-V; 1.4 counts as 1.3
        static const char *const names[] = {"multiply_old.spv", "multiply.spv", "access.spv",
                                            "groups.spv",       "entries.spv",  "blocks.spv"};
        for (size_t k = 0; k < COUNT_OF(names); k++)
            assert_ok(validate_file(names[k], (kp_validate_desc){.api_version = VULKAN(minor)}));
    }
    assert_ok(validate_file("local_size_id.spv", (kp_validate_desc){.api_version = VULKAN(3), .local_size_id = true}));
}

static void test_spirv_beyond_the_device(void **state) {
    (void)state;
    assert_fails(validate_file("multiply.spv", (kp_validate_desc){.api_version = VULKAN(0)}), KP_ERROR_UNSUPPORTED,
                 "SPIR-V: SPIR-V 1.3, but the device (Vulkan 1.0) takes at most 1.0");
    assert_fails(
        validate_file("local_size_id.spv", (kp_validate_desc){.api_version = VULKAN(2), .label = "algorithm 'a'"}),
        KP_ERROR_UNSUPPORTED, "algorithm 'a': SPIR-V 1.6, but the device (Vulkan 1.2) takes at most 1.5");
    assert_fails(validate_file("local_size_id.spv", (kp_validate_desc){.api_version = VULKAN(1), .spirv_1_4 = true}),
                 KP_ERROR_UNSUPPORTED, "SPIR-V: SPIR-V 1.6, but the device (Vulkan 1.1) takes at most 1.4");
}

static void test_spirv_beyond_the_validator(void **state) {
    (void)state;
    size_t size;
    uint32_t *words = test_read("multiply.spv", &size);
    words[1] = 0x00010900;
    assert_fails_like(validate_words(words, size / 4, (kp_validate_desc){.api_version = VULKAN(3)}),
                      KP_ERROR_UNSUPPORTED,
                      "SPIR-V: SPIR-V 1.9 is newer than 1.6, the last that kp can check (SPIRV-Tools ");
    free(words);
}

static void test_spirv_1_4_on_vulkan_1_1(void **state) {
    (void)state;
    size_t size;
    uint32_t *words = test_read("multiply_old.spv", &size);
    words[1] = 0x00010400; // in which Uniform and BufferBlock are gone: the validator sees that it is 1.4
    assert_fails_like(validate_words(words, size / 4, (kp_validate_desc){.api_version = VULKAN(1)}),
                      KP_ERROR_UNSUPPORTED, "SPIR-V: SPIR-V 1.4, but the device (Vulkan 1.1) takes at most 1.3");
    assert_fails_like(validate_words(words, size / 4, (kp_validate_desc){.api_version = VULKAN(1), .spirv_1_4 = true}),
                      KP_ERROR_SPIRV, "SPIR-V: not valid SPIR-V: ");
    free(words);
}

static void test_the_message_is_one_line(void **state) {
    (void)state;
    size_t size;
    uint32_t *words = test_read("multiply.spv", &size);
    for (size_t k = 5; k + 2 < size / 4; k++) {
        if (words[k] == (3 << 16 | 71) && words[k + 2] == 2) { // OpDecorate %constants Block, or that of the buffers
            words[k + 2] = 18;                                 // Invariant
            break;
        }
    }
    assert_fails_like(
        validate_words(words, size / 4, (kp_validate_desc){.api_version = VULKAN(1), .label = "algorithm 'a'"}),
        KP_ERROR_SPIRV, "algorithm 'a': not valid SPIR-V: ");
    assert_null(strpbrk(kp_last_error(), "\n\r\t"));
    assert_null(strstr(kp_last_error(), "  "));
    assert_non_null(strstr(kp_last_error(), " (SPIRV-Tools v"));
    free(words);
}

static void test_scalar_block_layout(void **state) {
    (void)state;
    assert_fails_like(validate_file("scalar_layout.spv", (kp_validate_desc){.api_version = VULKAN(1)}), KP_ERROR_SPIRV,
                      "SPIR-V: not valid SPIR-V: ");
    assert_non_null(strstr(kp_last_error(), "stride 12 not satisfying alignment to 16"));
    assert_ok(
        validate_file("scalar_layout.spv", (kp_validate_desc){.api_version = VULKAN(1), .scalar_block_layout = true}));
}

static void test_local_size_by_id_needs_a_feature(void **state) {
    (void)state;
    assert_ok(validate_file("local_size_id.spv", (kp_validate_desc){.api_version = VULKAN(3), .local_size_id = true}));
}

static void test_what_is_no_module(void **state) {
    (void)state;
    const uint32_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_fails(validate_words(words, 8, (kp_validate_desc){0}), KP_ERROR_SPIRV, "SPIR-V: not a SPIR-V module");
    assert_fails(validate_words(NULL, 0, (kp_validate_desc){0}), KP_ERROR_SPIRV, "SPIR-V: not a SPIR-V module");
    const uint32_t header[5] = {0x07230203, 0x10000, 0, 1, 0};
    assert_fails(validate_words(header, 4, (kp_validate_desc){0}), KP_ERROR_SPIRV, "SPIR-V: not a SPIR-V module");
    assert_fails_like(validate_words(header, 5, (kp_validate_desc){.api_version = VULKAN(1)}), KP_ERROR_SPIRV,
                      "SPIR-V: not valid SPIR-V: ");
}

static void test_damaged_modules_get_an_answer(void **state) {
    (void)state;
    size_t size;
    uint32_t *words = test_read("access.spv", &size);
    test_random random = {5};
    for (int round = 0; round < 300; round++) {
        uint32_t at = 2 + test_below(&random, (uint32_t)(size / 4 - 2)), old = words[at];
        words[at] = test_below(&random, 120);
        kp_result result = validate_words(words, size / 4, (kp_validate_desc){.api_version = VULKAN(1)});
        assert_true(result == KP_OK || result == KP_ERROR_SPIRV);
        words[at] = old;
    }
    free(words);
}

typedef struct work {
    const uint32_t *words;
    size_t word_count;
} work;

static void *validate_many(void *payload) {
    const work *w = payload;
    for (int k = 0; k < 50; k++) {
        if (validate_words(w->words, w->word_count, (kp_validate_desc){.api_version = VULKAN(1)}) != KP_OK ||
            validate_words(w->words, w->word_count - 1, (kp_validate_desc){.api_version = VULKAN(1)}) != KP_ERROR_SPIRV)
            return payload;
    }
    return NULL;
}

static void test_many_threads(void **state) {
    (void)state;
    size_t size;
    uint32_t *words = test_read("blocks.spv", &size);
    work w = {words, size / 4};
    pthread_t threads[4];
    for (size_t k = 0; k < COUNT_OF(threads); k++)
        assert_int_equal(pthread_create(&threads[k], NULL, validate_many, &w), 0);
    for (size_t k = 0; k < COUNT_OF(threads); k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
    }
    free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_modules),
        cmocka_unit_test(test_spirv_beyond_the_device),
        cmocka_unit_test(test_spirv_beyond_the_validator),
        cmocka_unit_test(test_spirv_1_4_on_vulkan_1_1),
        cmocka_unit_test(test_the_message_is_one_line),
        cmocka_unit_test(test_scalar_block_layout),
        cmocka_unit_test(test_local_size_by_id_needs_a_feature),
        cmocka_unit_test(test_what_is_no_module),
        cmocka_unit_test(test_damaged_modules_get_an_answer),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
