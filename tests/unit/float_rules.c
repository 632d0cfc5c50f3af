// runtime/float_rules: a module that keeps NaN and -0.0 is valid, asks for that once for each entry point and each
// width of its floats, and is else the same.
#include "test.h"

#include "base/alloc.h"
#include "runtime/float_rules.h"
#include "runtime/validate.h"

#include <spirv/unified1/spirv.h>

static const char *const modules[] = {"multiply.spv", "access.spv", "groups.spv",
                                      "entries.spv",  "blocks.spv", "local_size_id.spv"};

// Instructions with that opcode, and `word` at that place when it is not 0.
static size_t count_of(const uint32_t *words, size_t count, SpvOp op, size_t place, uint32_t word) {
    size_t found = 0;
    for (size_t at = 5; at < count; at += words[at] >> SpvWordCountShift)
        found += (words[at] & SpvOpCodeMask) == (uint32_t)op && (place == 0 || words[at + place] == word);
    return found;
}

static uint32_t widths_of(const uint32_t *words, size_t count) {
    uint32_t widths = 0;
    for (uint32_t width = 16; width <= 64; width *= 2)
        widths |= count_of(words, count, SpvOpTypeFloat, 2, width) != 0 ? width : 0;
    return widths;
}

static void test_every_entry_point_asks_once(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(modules); k++) {
        size_t size, count, again;
        uint32_t *words = test_read(modules[k], &size), *ruled, *twice;
        assert_ok(kp_float_rules_apply(words, size / 4, 16 + 32 + 64, &ruled, &count));
        assert_ok(kp_validate_module(&(kp_validate_desc){.words = ruled,
                                                         .word_count = count,
                                                         .api_version = (uint32_t)1 << 22 | (uint32_t)3 << 12,
                                                         .scalar_block_layout = true,
                                                         .local_size_id = true,
                                                         .label = modules[k]}));
        size_t entries = count_of(words, size / 4, SpvOpEntryPoint, 0, 0);
        assert_true(entries > 0);
        uint32_t widths = widths_of(words, size / 4);
        size_t asked = entries * ((widths >> 4 & 1) + (widths >> 5 & 1) + (widths >> 6 & 1));
        assert_int_equal(count_of(ruled, count, SpvOpExecutionMode, 2, SpvExecutionModeSignedZeroInfNanPreserve),
                         asked);
        assert_int_equal(count_of(ruled, count, SpvOpCapability, 1, SpvCapabilitySignedZeroInfNanPreserve),
                         widths != 0);
        assert_int_equal(count_of(ruled, count, SpvOpFunction, 0, 0), count_of(words, size / 4, SpvOpFunction, 0, 0));
        assert_ok(kp_float_rules_apply(ruled, count, 16 + 32 + 64, &twice, &again)); // it is there already
        assert_int_equal(again, count);
        assert_memory_equal(twice, ruled, count * sizeof *ruled);
        kp_alloc_free(twice);
        kp_alloc_free(ruled);
        free(words);
    }
}

static void test_a_device_keeps_some_widths(void **state) {
    (void)state;
    size_t size, count;
    uint32_t *words = test_read("multiply.spv", &size), *ruled;
    assert_int_equal(widths_of(words, size / 4), 32);
    assert_ok(kp_float_rules_apply(words, size / 4, 16 + 64, &ruled, &count));
    assert_int_equal(count, size / 4);
    assert_memory_equal(ruled, words, size);
    kp_alloc_free(ruled);
    free(words);
}

static void test_memory_may_run_out(void **state) {
    (void)state;
    size_t size, count;
    uint32_t *words = test_read("multiply.spv", &size), *ruled = NULL;
    kp_alloc_fail_at(1);
    assert_int_equal(kp_float_rules_apply(words, size / 4, 16 + 32 + 64, &ruled, &count), KP_ERROR_HOST_MEMORY);
    kp_alloc_fail_at(0);
    assert_null(ruled);
    free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_entry_point_asks_once),
        cmocka_unit_test(test_a_device_keeps_some_widths),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests_name("float_rules", tests, NULL, NULL);
}
