// runtime/pairs: which kernels become kernels of two neighbours, and that what comes out is valid and binds the same.
// What they compute is tested on a device (tests/gpu/test_launch.c).
#include "test.h"

#include "base/alloc.h"
#include "runtime/float_rules.h"
#include "runtime/pairs.h"
#include "runtime/reflect.h"
#include "runtime/validate.h"

#include <kp/compiler.h>

#define KERNEL(params, body) "def k(i: Index, a: Array[f32], b: Array[i32], c: Array[u32]" params "):\n    " body "\n"

static const char *const good[] = {
    KERNEL("", "a[i] = a[i] * 2.0 + 1.0"),
    KERNEL("", "b[i] = b[i] ^ 5 & ~b[i]"),
    KERNEL("", "c[i] = (c[i] << 3) | (c[i] >> 29)"),
    KERNEL("", "a[i] = f32(b[i])"),
    KERNEL("", "a[i] = 0.5"),
    KERNEL(", s: f32", "x = a[i]\n    x = x * s\n    a[i] = max(x, s)"),
    KERNEL(", s: i32, t: f32", "a[i] = t\n    b[i] = s"),
    "def k(p=(\"input\", \"GlobalInvocationId\", ivec3), a=(\"buffer\", 0, Array(f32)), b=(\"buffer\", 1, "
    "Array(f32))):\n"
    "    i = p.x\n    b[i] = sqrt(abs(a[i]))\n",
};

static const char *const other[] = {
    KERNEL("", "a[i] = a[i + 1]"),
    KERNEL("", "a[0] = a[i]"),
    KERNEL("", "b[i] = i"),
    KERNEL("", "a[i] = a[b[i]]"),
    KERNEL("", "a[i] = a[i] if b[i] > 0 else a[i - 1]"),
    KERNEL("", "if b[i] > 0:\n        a[i] = 1.0"),
    KERNEL("", "for j in range(3):\n        a[i] += 1.0"),
    KERNEL("", "b[i] = b[i] // 3"),
    KERNEL(", v: Array[vec2]", "v[i] = v[i] * 2.0"),
    KERNEL(", h: Array[i16]", "h[i] = h[i]"),
    KERNEL(", d: Array[f64]", "d[i] = d[i] * 2.0\n    a[i] = 1.0"),
    "def k(p: Index2, a: Array[f32]):\n    a[p.y] = 1.0\n",
    "def f(x):\n    return x * x\ndef k(i: Index, a: Array[f32]):\n    a[i] = f(a[i])\n",
    "def k(i: Index, a: Array[f32]):\n    atomic_add(a, i, 1.0)\n",
};

static void assert_valid(const uint32_t *words, size_t count, const char *source) {
    if (kp_validate_module(&(kp_validate_desc){
            .words = words, .word_count = count, .api_version = 1u << 22 | 1u << 12, .label = source}) != KP_OK)
        fail_msg("%s: %s", source, kp_last_error());
}

static void assert_same_bindings(const uint32_t *words, size_t count, const kp_program *program) {
    kp_reflect *before, *after;
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = program->words, .size = program->word_count * 4}, &before));
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = words, .size = count * 4, .entry = "kp_blocks"}, &after));
    assert_int_equal(after->binding_count, before->binding_count);
    for (size_t k = 0; k < before->binding_count; k++) {
        const kp_reflect_binding *x = &before->bindings[k], *y = &after->bindings[k];
        assert_int_equal(x->set, y->set);
        assert_int_equal(x->binding, y->binding);
        assert_int_equal(x->reads, y->reads);
        assert_int_equal(x->writes, y->writes);
        assert_int_equal(y->array_stride, 8);
    }
    kp_reflect_destroy(before);
    kp_reflect_destroy(after);
}

static void test_kernels_of_single_elements_become_pairs(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(good); k++) {
        kp_program *program;
        uint32_t *ruled, *words = NULL;
        size_t count;
        if (kp_compile(good[k], NULL, &program) != KP_OK)
            fail_msg("%s: %s", good[k], kp_last_error());
        assert_ok(kp_pairs_apply(program->words, program->word_count, &words, &count));
        if (words == NULL)
            fail_msg("%s: stays as it is", good[k]);
        assert_valid(words, count, good[k]);
        assert_same_bindings(words, count, program);
        kp_alloc_free(words);
        assert_ok(kp_float_rules_apply(program->words, program->word_count, 32, &ruled, &count)); // as the runtime does
        assert_ok(kp_pairs_apply(ruled, count, &words, &count));
        assert_non_null(words);
        assert_valid(words, count, good[k]);
        kp_alloc_free(words);
        kp_alloc_free(ruled);
        kp_program_destroy(program);
    }
}

static void test_other_kernels_stay(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(other); k++) {
        kp_program *program;
        uint32_t *words;
        size_t count;
        if (kp_compile(other[k], NULL, &program) != KP_OK)
            fail_msg("%s: %s", other[k], kp_last_error());
        assert_ok(kp_pairs_apply(program->words, program->word_count, &words, &count));
        if (words != NULL)
            fail_msg("%s: became pairs", other[k]);
        kp_program_destroy(program);
    }
}

static void test_modules_of_others_stay(void **state) {
    (void)state;
    static const char *const names[] = {"multiply.spv", "access.spv", "groups.spv", "entries.spv"};
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        size_t size, count;
        uint32_t *module = test_read(names[k], &size), *words;
        assert_ok(kp_pairs_apply(module, size / 4, &words, &count));
        assert_null(words);
        free(module);
    }
}

static void test_memory_may_run_out(void **state) {
    (void)state;
    kp_program *program;
    assert_ok(kp_compile(good[0], NULL, &program));
    TEST_MEMORY_RUNS_OUT(kp_pairs_apply, program->words, program->word_count);
    kp_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_of_single_elements_become_pairs),
        cmocka_unit_test(test_other_kernels_stay),
        cmocka_unit_test(test_modules_of_others_stay),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
