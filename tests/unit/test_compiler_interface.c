// kp/compiler.h from C: what a program says about its parameters, types and constants from the caller, the dumps, text
// of every kind, and memory that runs out. What kernels mean is in tests/python, what is refused in tests/compile.
#include "test.h"

#include "base/alloc.h"

#include <kp/compiler.h>

#include <pthread.h>

static const char multiply[] = "def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):\n"
                               "    out[i] = a[i] * b[i]\n";

// Uses a good part of the compiler.
static const char everything[] =
    "N = 4\n"
    "@kernel\n"
    "def other(i: Index, x: Array[f32]):\n"
    "    x[i] = 0.0\n"
    "def everything(i: Index2, s: f32, flag: bool, v: Array[vec3], n: Array[i32], x: 'Array[f32]'):\n"
    "    '''A docstring.'''\n"
    "    a, b = n[i.x], n[-1]\n"
    "    total: f32 = 0\n"
    "    for k in range(N, a, 3):\n"
    "        if k % 2 == 0 and b != 0:\n"
    "            continue\n"
    "        elif 0 < k < 100 or flag:\n"
    "            total += x[k] ** 0.5 if s > 0.0 else x[k] // 2.0\n"
    "        else:\n"
    "            break\n"
    "    else:\n"
    "        total = sqrt(s)\n"
    "    while b > 0:\n"
    "        b //= 2\n"
    "    q, r = divmod(a, b)\n"
    "    v[i.y].xz = v[0].zx * total\n"
    "    n[i.x] = i32(total) << (q - r)\n";

static void test_a_program_tells_what_its_parameters_are(void **state) {
    (void)state;
    kp_program *p;
    assert_ok(kp_compile(everything, NULL, &p));
    assert_string_equal(p->name, "everything");
    assert_int_equal(p->param_count, 6);
    assert_int_equal(p->push_size, 8);
    const kp_param *index = &p->params[0], *s = &p->params[1], *flag = &p->params[2], *v = &p->params[3];
    assert_int_equal(index->kind, KP_PARAM_INPUT);
    assert_string_equal(index->type, "Index2");
    assert_int_equal(index->components, 2);
    assert_int_equal(s->kind, KP_PARAM_CONSTANT);
    assert_string_equal(s->type, "f32");
    assert_int_equal(s->offset, 0);
    assert_int_equal(flag->dtype, KP_BOOL);
    assert_int_equal(flag->offset, 4);
    assert_int_equal(flag->size, 4);
    assert_int_equal(v->kind, KP_PARAM_BUFFER);
    assert_string_equal(v->type, "Array[vec3]");
    assert_int_equal(v->components, 3);
    assert_int_equal(v->size, 12);
    assert_true(v->reads && v->writes);
    assert_true(p->params[5].reads && !p->params[5].writes);
    for (uint32_t k = 3; k < 6; k++)
        assert_int_equal(p->params[k].binding, k - 3);
    kp_program_destroy(p);
}

static void test_push_constants_have_their_natural_alignment(void **state) {
    (void)state;
    static const uint32_t offsets[] = {0, 8, 16, 32, 44};
    kp_program *p;
    assert_ok(kp_compile("def k(i: Index, a: f32, b: vec2, c: i32, d: vec3, e: u32, x: Array[f32]):\n    x[i] = a\n",
                         NULL, &p));
    for (size_t k = 0; k < 5; k++)
        assert_int_equal(p->params[k + 1].offset, offsets[k]);
    assert_int_equal(p->push_size, 48);
    kp_program_destroy(p);
}

static void test_the_caller_can_give_types(void **state) {
    (void)state;
    const kp_param_type types[] = {{"a", "Array[vec2]"}, {"b", "('buffer', (1, 7), Array(i32))"}, {"i", "Index3"}};
    const kp_compile_desc desc = {.params = types, .param_count = 3};
    kp_program *p;
    assert_ok(kp_compile("def h(a, b):\n    return a * b\n\n"
                         "def k(i, a, b):\n    a[i.x] = h(vec2(f32(b[i.y])), 2)\n",
                         &desc, &p)); // of k, not of h
    assert_string_equal(p->params[0].type, "Index3");
    assert_string_equal(p->params[1].type, "Array[vec2]");
    assert_int_equal(p->params[2].set, 1);
    assert_int_equal(p->params[2].binding, 7);
    kp_program_destroy(p);
    const kp_param_type wrong = {"a", "Array[f32"};
    assert_fails(
        kp_compile("def k(i: Index, a):\n    pass\n", &(kp_compile_desc){.params = &wrong, .param_count = 1}, &p),
        KP_ERROR_COMPILE, "<type of 'a'>:1:6: '[' is never closed");
    const kp_param_type unknown = {"q", "f32"};
    assert_fails(kp_compile(multiply, &(kp_compile_desc){.params = &unknown, .param_count = 1}, &p), KP_ERROR_COMPILE,
                 "<kernel>:1:5: multiply has no parameter 'q', for which a type is given");
}

static bool same_words(const kp_program *a, const kp_program *b) {
    return a->word_count == b->word_count && memcmp(a->words, b->words, a->word_count * sizeof *a->words) == 0;
}

static void test_captured_names_are_constants(void **state) {
    (void)state;
    static const char form[] = "def k(i: Index, x: Array[f32], n: Array[i32], u: Array[u32]):\n"
                               "    if %s:\n        x[i] = %s\n        n[i] = %s\n        u[i] = %s\n";
    char named[256], literal[256];
    snprintf(named, sizeof named, form, "B", "F", "N", "U");
    snprintf(literal, sizeof literal, form, "True", "0.1", "-7", "3000000000");
    const kp_constant constants[] = {{.name = "B", .dtype = KP_BOOL, .value = {.i = 1}},
                                     {.name = "F", .dtype = KP_F64, .value = {.f = 0.1}},
                                     {.name = "N", .dtype = KP_I64, .value = {.i = -7}},
                                     {.name = "U", .dtype = KP_U32, .value = {.u = 3000000000u}}};
    const kp_compile_desc desc = {.constants = constants, .constant_count = 4, .no_debug_info = true};
    kp_program *a, *b;
    assert_ok(kp_compile(named, &desc, &a));
    assert_ok(kp_compile(literal, &(kp_compile_desc){.no_debug_info = true}, &b));
    assert_true(same_words(a, b));
    kp_program_destroy(a);
    kp_program_destroy(b);
    const kp_constant typed = {.name = "N", .dtype = KP_I32, .value = {.i = 3}};
    assert_fails(kp_compile("def k(i: Index, x: Array[f32]):\n    x[i] = N\n",
                            &(kp_compile_desc){.constants = &typed, .constant_count = 1}, &a),
                 KP_ERROR_COMPILE, "<kernel>:2:12: 'x[i]' is f32, but this is i32; write f32(N)");
}

static void test_source_of_a_nested_function_keeps_its_place(void **state) {
    (void)state;
    kp_program *p;
    const kp_compile_desc desc = {.file = "a.py", .first_line = 100};
    assert_ok(
        kp_compile("        @kernel\n        def k(i: Index, x: Array[f32]):\n            x[i] = 1.0\n", &desc, &p));
    kp_program_destroy(p);
    assert_fails(
        kp_compile("\tdef k(i: Index, x: Array[f32]):\n\t\t# \xC3\xA4\n\t\tx[i] = y\n", &desc, &p), KP_ERROR_COMPILE,
        "a.py:102:10: there is no 'y' here: it is neither a parameter, nor assigned in the kernel, nor a name of "
        "the kernel language");
    assert_int_equal(kp_last_diagnostic()->line, 102);
    assert_int_equal(kp_last_diagnostic()->end_column, 11);
    assert_string_equal(kp_last_diagnostic()->source_line, "\t\tx[i] = y");
}

static void test_debug_information_can_be_left_out(void **state) {
    (void)state;
    kp_program *with, *without;
    assert_ok(kp_compile(multiply, NULL, &with));
    assert_ok(kp_compile(multiply, &(kp_compile_desc){.no_debug_info = true}, &without));
    assert_true(without->word_count < with->word_count);
    for (size_t at = 5; at < without->word_count; at += without->words[at] >> 16) {
        uint32_t op = without->words[at] & 0xFFFF;
        assert_false(op == 5 || op == 6 || op == 7 || op == 8); // OpName, OpMemberName, OpString, OpLine
    }
    kp_program_destroy(with);
    kp_program_destroy(without);
}

static void test_stages_are_dumped(void **state) {
    (void)state;
    char *text;
    assert_ok(kp_compile_dump("def k(i: Index):\n    pass\n", NULL, KP_DUMP_TOKENS, &text));
    assert_string_equal(text, "1:1 def\n1:5 name k\n1:6 (\n1:7 name i\n1:8 :\n1:10 name Index\n1:15 )\n1:16 :\n"
                              "1:17 end of the line\n2:5 indented block\n2:5 pass\n2:9 end of the line\n"
                              "3:1 end of the block\n3:1 end of the source\n");
    kp_free(text);
    assert_ok(kp_compile_dump(multiply, NULL, KP_DUMP_AST, &text));
    assert_non_null(strstr(text, "binary *\n"));
    kp_free(text);
    assert_ok(kp_compile_dump(multiply, NULL, KP_DUMP_TYPES, &text));
    assert_non_null(strstr(text, "binary * -> f32\n"));
    kp_free(text);
    assert_ok(kp_compile_list(everything, NULL, &text));
    assert_string_equal(text, "other\neverything\n");
    kp_free(text);
    kp_free(NULL);
}

// What no types could mend is found without any.
static void test_kernels_without_types_are_looked_at(void **state) {
    (void)state;
    const kp_param_type type = {"b", "Array[f32]"};
    const kp_compile_desc desc = {.params = &type, .param_count = 1, .file = "k.py"};
    kp_program *p;
    const char *good = "def k(i: Index, a, b):\n    a[i] = sin(b[i])\n";
    assert_ok(kp_compile_check(good, NULL));
    assert_ok(kp_compile_check(good, &desc));
    assert_ok(kp_compile_check(multiply, NULL));
    assert_fails(kp_compile(good, &desc, &p), KP_ERROR_COMPILE,
                 "k.py:1:17: the parameter 'a' has no type; write a: Array[f32], a: Index or a: f32");
    assert_fails(kp_compile_check("def k(i: Index, a, b):\n    a[i] = sin(b[i], 1)\n", &desc), KP_ERROR_COMPILE,
                 "k.py:2:12: sin takes 1 argument, not 2");
    assert_fails(kp_compile_check("def k(i: Index, a, b):\n    a[i] = (b[i]\n", &desc), KP_ERROR_COMPILE,
                 "k.py:2:12: '(' is never closed");
    assert_fails(kp_compile_check(NULL, NULL), KP_ERROR_ARGUMENT, "kp_compile_check: source is NULL");
}

static void test_arguments_that_are_no_use(void **state) {
    (void)state;
    kp_program *p;
    char *text;
    assert_fails(kp_compile(NULL, NULL, &p), KP_ERROR_ARGUMENT, "kp_compile: source is NULL");
    assert_fails(kp_compile(multiply, NULL, NULL), KP_ERROR_ARGUMENT, "kp_compile: out is NULL");
    assert_fails(kp_compile(multiply, &(kp_compile_desc){.param_count = 1}, &p), KP_ERROR_ARGUMENT,
                 "kp_compile: params is NULL, but its count is not 0");
    assert_fails(kp_compile_dump(multiply, NULL, (kp_dump)99, &text), KP_ERROR_ARGUMENT,
                 "kp_compile_dump: there is no stage 99");
    assert_fails(kp_compile("", NULL, &p), KP_ERROR_COMPILE,
                 "<kernel>: there is no function in the source; a kernel starts with def");
    assert_fails(kp_compile(multiply, &(kp_compile_desc){.kernel = "add"}, &p), KP_ERROR_COMPILE,
                 "<kernel>: there is no function 'add' in the source; it has multiply");
}

// Makes the n-th allocation fail, for every n, until the compile needs fewer.
static void test_memory_that_runs_out_is_an_error(void **state) {
    (void)state;
    const kp_param_type type = {"s", "f32"};
    const kp_compile_desc desc = {.params = &type, .param_count = 1};
    kp_result result = KP_ERROR_HOST_MEMORY;
    size_t n = 0;
    while (result != KP_OK) {
        kp_program *p = NULL;
        kp_alloc_fail_at(++n);
        result = kp_compile(everything, &desc, &p);
        kp_alloc_fail_at(0);
        if (result == KP_OK)
            kp_program_destroy(p);
        else
            assert_int_equal(result, KP_ERROR_HOST_MEMORY);
    }
    assert_in_range(n, 3, 1000);
    result = KP_ERROR_HOST_MEMORY;
    for (n = 1; result != KP_OK; n++) {
        char *text = NULL;
        kp_alloc_fail_at(n);
        result = kp_compile_dump(everything, NULL, KP_DUMP_TYPES, &text);
        kp_alloc_fail_at(0);
        if (result == KP_OK)
            kp_free(text);
        else
            assert_int_equal(result, KP_ERROR_HOST_MEMORY);
    }
}

// One module for any device, and one for each set of what the kernel can make use of, best first.
static const struct {
    const char *body;
    size_t count;
    uint32_t needs[3];
} alternatives[] = {
    {"    atomic_add(a, 0, 1)\n    atomic_max(x, 0, 1.0)\n    atomic_exchange(x, 1, 1.0)\n", 0, {0}},
    {"    atomic_add(x, 0, 1.0)\n", 1, {KP_NEED_BUFFER_ADD}},
    {"    atomic_sub(x[i], 1.0)\n    atomic_exchange(x, 1, 1.0)\n", 1, {KP_NEED_BUFFER_ADD | KP_NEED_BUFFER_EXCHANGE}},
    {"    s = shared(f32, 4)\n    atomic_add(s, 0, 1.0)\n    atomic_exchange(s, 1, 1.0)\n    atomic_min(x, 0, 1.0)\n",
     1,
     {KP_NEED_SHARED_ADD | KP_NEED_SHARED_EXCHANGE}},
    {"    s = shared(f32, 4)\n    atomic_add(s, 0, 1.0)\n    atomic_sub(x, 0, 1.0)\n    atomic_add(y, 0, 1.0)\n"
     "    atomic_max(y, 0, 1.0)\n",
     3,
     {KP_NEED_BUFFER_ADD | KP_NEED_SHARED_ADD, KP_NEED_SHARED_ADD, KP_NEED_BUFFER_ADD}},
};

static void test_alternatives_of_float_atomics(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(alternatives); k++) {
        kp_program *p;
        char source[512];
        snprintf(source, sizeof source, "def k(i: Index, a: Array[i32], x: Array[f32], y: Array[f32]):\n%s",
                 alternatives[k].body);
        const kp_compile_desc desc = {.local_size = {32, 1, 1}};
        assert_ok(kp_compile(source, &desc, &p));
        assert_int_equal(p->alternative_count, alternatives[k].count);
        for (size_t i = 0; i < p->alternative_count; i++) {
            const kp_alternative *a = &p->alternatives[i];
            assert_int_equal(a->needs, alternatives[k].needs[i]);
            assert_int_equal(a->words[0], p->words[0]);
            assert_false(a->word_count == p->word_count && memcmp(a->words, p->words, a->word_count * 4) == 0);
        }
        kp_program_destroy(p);
        kp_result result = KP_ERROR_HOST_MEMORY;
        for (size_t n = 1; result != KP_OK; n++) {
            kp_alloc_fail_at(n);
            result = kp_compile(source, &desc, &p);
            kp_alloc_fail_at(0);
            assert_true(result == KP_OK || result == KP_ERROR_HOST_MEMORY);
        }
        kp_program_destroy(p);
    }
}

static void *compile_often(void *payload) {
    const kp_program *wanted = payload;
    for (int k = 0; k < 50; k++) {
        kp_program *p;
        if (kp_compile(everything, NULL, &p) != KP_OK || !same_words(p, wanted))
            return payload;
        kp_program_destroy(p);
    }
    return NULL;
}

static void test_threads_compile_at_once(void **state) {
    (void)state;
    pthread_t threads[4];
    kp_program *wanted;
    assert_ok(kp_compile(everything, NULL, &wanted));
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, compile_often, wanted), 0);
    for (size_t k = 0; k < 4; k++) {
        void *fault;
        pthread_join(threads[k], &fault);
        assert_null(fault);
    }
    kp_program_destroy(wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_tells_what_its_parameters_are),
        cmocka_unit_test(test_alternatives_of_float_atomics),
        cmocka_unit_test(test_push_constants_have_their_natural_alignment),
        cmocka_unit_test(test_the_caller_can_give_types),
        cmocka_unit_test(test_captured_names_are_constants),
        cmocka_unit_test(test_source_of_a_nested_function_keeps_its_place),
        cmocka_unit_test(test_debug_information_can_be_left_out),
        cmocka_unit_test(test_stages_are_dumped),
        cmocka_unit_test(test_kernels_without_types_are_looked_at),
        cmocka_unit_test(test_arguments_that_are_no_use),
        cmocka_unit_test(test_memory_that_runs_out_is_an_error),
        cmocka_unit_test(test_threads_compile_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
