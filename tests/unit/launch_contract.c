// The seam between compiler and runtime: what kp_compile makes keeps base/launch.h, as runtime/reflect reads it, and
// what the program says about its parameters is what the module does.
#include "test.h"

#include "base/launch.h"
#include "runtime/reflect.h"
#include "runtime/validate.h"

#include <kp/compiler.h>

typedef struct compiled {
    kp_program *program;
    kp_reflect *reflect;
} compiled;

static compiled compile(const char *source) {
    compiled c;
    assert_ok(kp_compile(source, NULL, &c.program));
    assert_ok(kp_validate_module(&(kp_validate_desc){
        .words = c.program->words, .word_count = c.program->word_count, .api_version = 1u << 22 | 1u << 12}));
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = c.program->words, .size = c.program->word_count * 4},
                                &c.reflect));
    return c;
}

static void release(compiled c) {
    kp_reflect_destroy(c.reflect);
    kp_program_destroy(c.program);
}

static const kp_reflect_binding *binding_of(const kp_reflect *r, const kp_param *p) {
    for (size_t k = 0; k < r->binding_count; k++) {
        if (r->bindings[k].set == p->set && r->bindings[k].binding == p->binding)
            return &r->bindings[k];
    }
    return NULL;
}

// Every buffer of the signature that the kernel touches is a binding, with the access and the elements that it says.
static void assert_params(const compiled *c) {
    for (size_t k = 0; k < c->program->param_count; k++) {
        const kp_param *p = &c->program->params[k];
        if (p->kind != KP_PARAM_BUFFER)
            continue;
        const kp_reflect_binding *b = binding_of(c->reflect, p);
        if (b == NULL) {
            assert_false(p->reads || p->writes);
            continue;
        }
        if (b->kind != KP_REFLECT_STORAGE_BUFFER || b->reads != p->reads || b->writes != p->writes)
            fail_msg("%s: says %d %d, does %d %d", p->name, p->reads, p->writes, b->reads, b->writes);
        assert_int_equal(b->array_stride % kp_dtype_size(p->dtype), 0);
    }
    assert_true(c->reflect->push_size <= (c->program->push_size + 3) / 4 * 4);
}

static const char *const kernels[] = {
    "def k(i: Index, a: Array[f32], b: Array[f32]):\n    b[i] = a[i] * 2.0\n",
    "def k(i: Index, s: f32, x: Array[f32], y: Array[f32]):\n    y[i] = s * x[i] + y[i]\n",
    "def k(i: Index, n: i32, s: f32, x: Array[i32]):\n    if n > 0:\n        x[i] = i\n",
    "def k(i: Index2, a: Array[f32]):\n    a[i.x] = 1.0\n",
    "def k(i: Index, a: Array[f32], unused: Array[f32]):\n    a[i] = 0.0\n",
    ("def k(i: Index, a: Array[i32], b: Array[i32]):\n"
     "    t = 0\n    for j in range(10):\n        t += a[j]\n    b[i] = t\n"),
};

static void test_kernels_can_be_regrouped(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        compiled c = compile(kernels[k]);
        if (!c.reflect->regroupable)
            fail_msg("%s: cannot be regrouped", kernels[k]);
        assert_true(c.reflect->launch_push_offset >= c.program->push_size);
        assert_true(c.reflect->launch_push_offset < c.program->push_size + 4);
        assert_int_equal(c.reflect->entry->local_size_spec[0], KP_LAUNCH_SPEC_LOCAL_X);
        assert_int_equal(c.reflect->entry->local_size[0], 1);
        assert_params(&c);
        release(c);
    }
}

static void test_loops_are_the_kernels_own(void **state) {
    (void)state;
    compiled with = compile(kernels[5]), without = compile(kernels[0]);
    assert_true(with.reflect->loops);
    assert_false(without.reflect->loops);
    release(with);
    release(without);
}

// A checked module, and one that prints, has one buffer more, which is not among the bindings, and knows what it can
// tell.
static void test_reports(void **state) {
    (void)state;
    static const char source[] = "def half(x: i32):\n"
                                 "    return 8 // x\n"
                                 "def k(i: Index, a: Array[i32], b=('buffer', (0, 7), Array(vec3))):\n"
                                 "    assert a[i] > 0, 'two\\nlines'\n"
                                 "    print('100%', a[i], b[i])\n"
                                 "    a[i] = half(i)\n";
    static const struct {
        uint32_t kind, line, column;
        const char *text;
    } wanted[] = {{KP_LAUNCH_SITE_INDEX, 4, 14, "a"},
                  {KP_LAUNCH_SITE_ASSERT, 4, 5, "two\nlines"},
                  {KP_LAUNCH_SITE_INDEX, 5, 21, "a"},
                  {KP_LAUNCH_SITE_INDEX, 5, 27, "b"},
                  {KP_LAUNCH_SITE_PRINT, 5, 5, "100%% %i1 %f3\n"},
                  {KP_LAUNCH_SITE_INDEX, 6, 7, "a"},
                  {KP_LAUNCH_SITE_DIVISION, 2, 17, ""}};
    for (int checked = 0; checked < 2; checked++) {
        compiled c = {0};
        assert_ok(kp_compile(source, &(kp_compile_desc){.file = "f.py", .checked = checked != 0}, &c.program));
        assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = c.program->words, .size = c.program->word_count * 4},
                                    &c.reflect));
        const kp_reflect *r = c.reflect;
        assert_true(r->reports && r->prints && r->regroupable);
        assert_int_equal(r->binding_count, 2);
        assert_true(r->report_set == 0 && r->report_binding == 8);
        assert_int_equal(r->site_count, checked ? COUNT_OF(wanted) : 1);
        for (size_t k = 0; k < r->site_count; k++) {
            const kp_reflect_site *site = &r->sites[k];
            size_t n = checked ? k : 4;
            if (site->kind != wanted[n].kind || site->line != wanted[n].line || site->column != wanted[n].column)
                fail_msg("site %zu: %u %u:%u", k, site->kind, site->line, site->column);
            assert_string_equal(site->text, wanted[n].text);
            assert_string_equal(site->kernel, "k");
            assert_string_equal(site->file, "f.py");
        }
        release(c);
    }
    compiled plain = compile("def k(i: Index, a: Array[i32]):\n    assert a[i] > 0\n    a[i] = 1\n");
    assert_false(plain.reflect->reports);
    assert_int_equal(plain.reflect->site_count, 0);
    release(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_can_be_regrouped),
        cmocka_unit_test(test_loops_are_the_kernels_own),
        cmocka_unit_test(test_reports),
    };
    return cmocka_run_group_tests_name("launch_contract", tests, NULL, NULL);
}
