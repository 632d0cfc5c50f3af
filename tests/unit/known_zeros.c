// runtime/known_zeros: where numbers are hidden, where a module stays as it is, and that what comes out is valid. What
// it computes is tested on a device (tests/python/test_language_zeros.py).
#include "test.h"

#include "base/alloc.h"
#include "runtime/float_rules.h"
#include "runtime/known_zeros.h"
#include "runtime/loop_guard.h"
#include "runtime/pairs.h"
#include "runtime/reflect.h"
#include "runtime/validate.h"

#include <kp/compiler.h>
#include <spirv/unified1/spirv.h>

#define HEAD "def k(i: Index, n: i32, a: Array[f32], b: Array[f32]"
#define KERNEL(body) HEAD "):\n    " body "\n"
#define WITH(params, body) HEAD ", " params "):\n    " body "\n"

// Which numbers of a kernel are hidden.
typedef struct sample {
    const char *source;
    size_t hidden;
} sample;

static const sample samples[] = {
    {KERNEL("a[i] = a[i] * b[i]"), 0},
    {KERNEL("a[i] = a[i] * 2.0 + 1.0"), 0},
    {KERNEL("a[i] = exp(a[i]) / max(b[i], 0.5)"), 0},
    {KERNEL("b[i] = abs(sqrt(a[i]))"), 1},
    {KERNEL("a[i] = a[i] if b[i] > 0.0 else -a[i]"), 0},
    {KERNEL("b[i] = a[i + n]"), 0},
    {KERNEL("a[i] = a[i] * 0.0"), 1},
    {KERNEL("a[i] = a[i] + 0.0"), 1},
    {KERNEL("a[i] = 0.0 / a[i]"), 1},
    {KERNEL("a[i] = 0.0"), 1},                  // a later load may be of that
    {KERNEL("a[i] = a[i] * f32(n)"), 1},        // n may be a constant
    {KERNEL("a[i] = max(a[i], 0.0) * 0.5"), 1}, // where a maximum is a zero, the product is not
    {KERNEL("a[i] = a[i] * b[i] * 0.0 * b[i] * a[i]"), 1},
    {KERNEL("x = a[i]\n    b[i] = x * 3.0 - x"), 1},                                          // what x starts with
    {KERNEL("x = 0.0\n    for j in range(n):\n        x += a[j]\n    b[i] = x"), 2},          // nothing in the loop
    {KERNEL("x = 2.0\n    for j in range(n):\n        x *= a[j]\n    b[i] = x"), 1},          //
    {KERNEL("x = 0.0\n    for j in range(n):\n        x += a[j] * f32(j)\n    b[i] = x"), 3}, //
    {KERNEL("x = 2.0\n    y = x - 2.0\n    b[i] = a[i] * y"), 3}, // a constant that is worked out
    {KERNEL("b[i] = mix(a[i], b[i], 1.0)"), 1},                   // between the steps
    {KERNEL("b[i] = mix(a[i], b[i], b[n])"), 0},
    {KERNEL("b[i] = dot(vec2(a[i], 1.0), vec2(b[i], a[n]))"), 1},
    {WITH("h: Array[f16]", "h[i] = h[i] * f16(0.0)"), 1},
    {WITH("d: Array[f64]", "d[i] = d[i] * 0.0"), 1},
    {WITH("v: Array[vec3]", "v[i] = v[i] * vec3(a[i], 0.0, b[i])"), 1},
    {WITH("d: Array[dvec4]", "d[i] = d[i] + 0.0"), 1},
    {KERNEL("a[i] = 1.0 if b[i] > 2.0 else -0.0"), 1}, // would be made of the condition
    {KERNEL("a[i] = 1.0 if b[i] > 2.0 else 2.0"), 0},
    {WITH("s: f32", "a[i] = a[i] * s"), 2}, // loaded in two places, for whose values the driver may compile
    {WITH("c: Const[f32]", "a[i] = a[i] * c"), 1},
    {WITH("m: Array[mat3]", "m[i] = m[i] @ eye(3)"), 3},
    {WITH("v: Array[vec3], m: Array[mat3]", "v[i] = m[i] @ v[i]"), 0},
    {"def f(x: f32, y: f32):\n    return x * y\n" KERNEL("a[i] = f(a[i], b[i])"), 0},
    {"def f(x: f32, y: f32):\n    return x * y\n" KERNEL("a[i] = f(a[i], 0.0)"), 1},
    {"def f() -> f32:\n    return 0.0\n" KERNEL("a[i] = a[i] * f()"), 1},
    {"def k(i: Index, a: Array[f32]):\n    atomic_add(a, i, 1.0)\n", 2}, // numbers that were bits
};

static size_t count_of(const uint32_t *words, size_t count, SpvOp op) {
    size_t found = 0;
    for (size_t at = 5; at < count; at += words[at] >> SpvWordCountShift)
        found += (words[at] & SpvOpCodeMask) == (uint32_t)op;
    return found;
}

static void assert_valid(const uint32_t *words, size_t count, const char *source) {
    if (kp_validate_module(&(kp_validate_desc){
            .words = words, .word_count = count, .api_version = 1u << 22 | 1u << 12, .label = source}) != KP_OK)
        fail_msg("%s: %s", source, kp_last_error());
}

static kp_program *compile(const char *source) {
    kp_program *program;
    if (kp_compile(source, NULL, &program) != KP_OK)
        fail_msg("%s: %s", source, kp_last_error());
    return program;
}

static void test_what_a_compiler_may_know_is_hidden(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(samples); k++) {
        const char *source = samples[k].source;
        kp_program *program = compile(source);
        uint32_t *words = NULL;
        size_t count = 0;
        assert_ok(kp_known_zeros_apply(program->words, program->word_count, &words, &count));
        if (words != NULL)
            assert_valid(words, count, source);
        size_t before = count_of(program->words, program->word_count, SpvOpBitwiseOr);
        size_t hidden = words == NULL ? 0 : count_of(words, count, SpvOpBitwiseOr) - before;
        if (hidden != samples[k].hidden || (words == NULL) != (hidden == 0))
            fail_msg("%s: %zu numbers are hidden, %zu should be", source, hidden, samples[k].hidden);
        kp_alloc_free(words);
        kp_program_destroy(program);
    }
}

// As the runtime does, with the other changes to a module.
static void test_modules_that_were_changed_before(void **state) {
    (void)state;
    kp_program *program = compile(KERNEL("a[i] = a[i] * 0.0"));
    uint32_t *ruled, *paired, *guarded, *words;
    size_t count, paired_count;
    assert_ok(kp_float_rules_apply(program->words, program->word_count, 32, &ruled, &count));
    assert_ok(kp_pairs_apply(ruled, count, &paired, &paired_count));
    assert_non_null(paired);
    assert_ok(kp_known_zeros_apply(paired, paired_count, &words, &paired_count));
    assert_non_null(words);
    assert_valid(words, paired_count, "pairs");
    kp_alloc_free(words);
    assert_ok(kp_loop_guard_apply(ruled, count, 0, 7, &guarded, &count));
    assert_ok(kp_known_zeros_apply(guarded, count, &words, &count));
    assert_non_null(words);
    assert_valid(words, count, "loop guard");
    kp_alloc_free(words);
    kp_alloc_free(guarded);
    kp_alloc_free(paired);
    kp_alloc_free(ruled);
    kp_program_destroy(program);
}

static void test_memory_may_run_out(void **state) {
    (void)state;
    kp_program *program = compile(KERNEL("x = 0.0\n    a[i] = x * f32(n)"));
    TEST_MEMORY_RUNS_OUT(kp_known_zeros_apply, program->words, program->word_count);
    kp_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_compiler_may_know_is_hidden),
        cmocka_unit_test(test_modules_that_were_changed_before),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests_name("known_zeros", tests, NULL, NULL);
}
