// runtime/loop_guard: a guarded module is valid wherever the module was, means the same, and binds one buffer more.
#include "test.h"

#include "base/alloc.h"
#include "runtime/loop_guard.h"
#include "runtime/reflect.h"
#include "runtime/validate.h"

#define VULKAN(minor) ((uint32_t)1 << 22 | (uint32_t)(minor) << 12)

static const struct {
    const char *file;
    uint32_t minor; // of the Vulkan version that takes it
} modules[] = {{"multiply_old.spv", 0}, {"multiply.spv", 1}, {"access.spv", 1},       {"groups.spv", 1},
               {"entries.spv", 1},      {"blocks.spv", 1},   {"local_size_id.spv", 3}};

typedef struct guarded {
    uint32_t *words;
    size_t count;
} guarded;

static guarded guard(const uint32_t *words, size_t count, uint32_t set, uint32_t binding) {
    guarded g = {0};
    assert_ok(kp_loop_guard_apply(words, count, set, binding, &g.words, &g.count));
    return g;
}

static void assert_valid(const guarded *g, uint32_t minor, const char *label) {
    assert_ok(kp_validate_module(&(kp_validate_desc){.words = g->words,
                                                     .word_count = g->count,
                                                     .api_version = VULKAN(minor),
                                                     .local_size_id = true,
                                                     .label = label}));
}

static kp_reflect *reflect(const void *bytes, size_t size, const char *entry) {
    kp_reflect *r = NULL;
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = bytes, .size = size, .entry = entry}, &r));
    return r;
}

static void assert_same(const kp_reflect *before, const kp_reflect *after, uint32_t set, uint32_t binding) {
    assert_string_equal(before->entry->name, after->entry->name);
    assert_int_equal(before->binding_count + 1, after->binding_count);
    for (size_t k = 0; k < before->binding_count; k++) {
        const kp_reflect_binding *a = &before->bindings[k], *b = &after->bindings[k];
        assert_true(a->set == b->set && a->binding == b->binding && a->kind == b->kind && a->reads == b->reads &&
                    a->writes == b->writes);
    }
    const kp_reflect_binding *last = &after->bindings[after->binding_count - 1];
    assert_true(last->set == set && last->binding == binding && last->kind == KP_REFLECT_STORAGE_BUFFER);
    assert_int_equal(last->min_size, sizeof(kp_loop_guard));
    assert_memory_equal(before->entry->local_size, after->entry->local_size, sizeof before->entry->local_size);
    assert_int_equal(before->push_size, after->push_size);
    assert_int_equal(before->spec_count, after->spec_count);
    assert_true(after->loops);
}

static void test_guarded_modules_are_valid_and_mean_the_same(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(modules); k++) {
        size_t size;
        uint32_t *words = test_read(modules[k].file, &size);
        guarded g = guard(words, size / 4, 9, 2);
        assert_valid(&g, modules[k].minor, modules[k].file);
        kp_reflect *all = reflect(words, size, strcmp(modules[k].file, "entries.spv") == 0 ? "fill" : NULL);
        for (size_t n = 0; n < all->entry_count; n++) {
            if (!all->entries[n].compute)
                continue;
            kp_reflect *before = reflect(words, size, all->entries[n].name);
            kp_reflect *after = reflect(g.words, g.count * 4, all->entries[n].name);
            assert_same(before, after, 9, 2);
            kp_reflect_destroy(before);
            kp_reflect_destroy(after);
        }
        kp_reflect_destroy(all);
        kp_alloc_free(g.words);
        free(words);
    }
}

static void test_running_out_of_memory_is_an_error(void **state) {
    (void)state;
    size_t size, count;
    uint32_t *words = test_read("multiply.spv", &size), *out = NULL;
    for (size_t n = 1; n <= 2; n++) {
        kp_alloc_fail_at(n);
        assert_int_equal(kp_loop_guard_apply(words, size / 4, 0, 0, &out, &count), KP_ERROR_HOST_MEMORY);
        assert_null(out);
    }
    kp_alloc_fail_at(0);
    free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guarded_modules_are_valid_and_mean_the_same),
        cmocka_unit_test(test_running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests_name("loop_guard", tests, NULL, NULL);
}
