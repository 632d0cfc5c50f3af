// runtime/reflect on modules from spirv/*.spvasm: each says in its comments what must come out.
#include "test.h"

#include "base/alloc.h"
#include "base/launch.h"
#include "runtime/reflect.h"

#include <pthread.h>
#include <spirv/unified1/spirv.h>

static kp_reflect *reflect_file(const char *name, const char *entry) {
    size_t size;
    void *bytes = test_read(name, &size);
    kp_reflect *r = NULL;
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = bytes, .size = size, .entry = entry}, &r));
    free(bytes); // it keeps its own
    return r;
}

static const kp_reflect_binding *binding_of(const kp_reflect *r, uint32_t set, uint32_t binding) {
    for (size_t k = 0; k < r->binding_count; k++) {
        if (r->bindings[k].set == set && r->bindings[k].binding == binding)
            return &r->bindings[k];
    }
    return NULL;
}

// `how` is "-", "r", "w" or "rw"; NULL when the entry point does not use the binding.
static void assert_access(const kp_reflect *r, uint32_t set, uint32_t binding, const char *how) {
    const kp_reflect_binding *b = binding_of(r, set, binding);
    const char *found = b == NULL ? "none" : b->reads && b->writes ? "rw" : b->reads ? "r" : b->writes ? "w" : "-";
    if (strcmp(found, how != NULL ? how : "none") != 0)
        fail_msg("set %u, binding %u: %s, not %s", (unsigned)set, (unsigned)binding, found, how != NULL ? how : "none");
}

static void test_the_old_form_of_storage_buffers(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("multiply_old.spv", NULL);
    assert_int_equal(r->version, 0x10000);
    assert_int_equal(r->binding_count, 3);
    assert_int_equal(r->set_count, 1);
    static const char *const names[] = {"a", "b", "out"}, *const access[] = {"r", "r", "w"};
    for (uint32_t k = 0; k < 3; k++) {
        const kp_reflect_binding *b = &r->bindings[k];
        assert_int_equal(b->set, 0);
        assert_int_equal(b->binding, k);
        assert_int_equal(b->kind, KP_REFLECT_STORAGE_BUFFER);
        assert_string_equal(b->name, names[k]);
        assert_access(r, 0, k, access[k]);
        assert_int_equal(b->count, 1);
        assert_int_equal(b->min_size, 0);
        assert_int_equal(b->array_stride, 4);
        assert_true(b->array_open && b->has_dtype);
        assert_int_equal(b->dtype, KP_F32);
        assert_int_equal(b->components, 1);
    }
    assert_string_equal(r->entry->name, "main");
    assert_true(r->entry->compute);
    assert_int_equal(r->entry->local_size[0], 1);
    assert_int_equal(r->push_size, 0);
    assert_int_equal(r->spec_count, 0);
    assert_int_equal(r->shared_bytes, 0);
    assert_false(r->loops);
    assert_false(r->regroupable);
    kp_reflect_destroy(r);
}

static void test_the_new_form_and_push_constants(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("multiply.spv", NULL);
    assert_int_equal(r->version, 0x10300);
    assert_int_equal(r->binding_count, 2); // the third variable is not used
    assert_access(r, 0, 2, "w");
    assert_access(r, 0, 5, "r");
    assert_string_equal(binding_of(r, 0, 5)->name, "a");
    assert_string_equal(binding_of(r, 0, 2)->name, "Floats"); // the variable has no name, its block has
    assert_int_equal(r->push_offset, 4);
    assert_int_equal(r->push_size, 12);
    assert_int_equal(r->entry->local_size[0], 64);
    assert_int_equal(r->entry->local_size[1], 2);
    assert_int_equal(r->entry->local_size[2], 1);
    assert_int_equal(r->entry->local_size_spec[0], KP_REFLECT_NO_SPEC);
    assert_int_equal(r->capability_count, 1);
    assert_true(kp_reflect_has_capability(r, SpvCapabilityShader));
    assert_false(kp_reflect_has_capability(r, SpvCapabilityFloat64));
    kp_reflect_destroy(r);
}

static void test_every_kind_of_access(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("access.spv", NULL);
    static const char *const access[] = {"r", "w", "-", "r", "w", "w", "r", "r", "w", "rw", "rw", NULL, "-", "r"};
    for (uint32_t k = 0; k < COUNT_OF(access); k++)
        assert_access(r, 0, k, access[k]);
    assert_access(r, 0, 20, "rw");
    assert_access(r, 1, 0, "r");
    assert_access(r, 1, 1, "w");
    assert_access(r, 1, 2, "-");
    assert_access(r, 1, 3, "rw");
    assert_int_equal(r->set_count, 2);
    assert_true(r->loops);
    assert_int_equal(r->extension_count, 1);
    assert_string_equal(r->extensions[0], "SPV_KHR_variable_pointers");
    kp_reflect_destroy(r);
}

static void test_images(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("access.spv", NULL);
    const kp_reflect_binding *plain = binding_of(r, 1, 0), *layers = binding_of(r, 1, 1), *line = binding_of(r, 1, 3);
    assert_int_equal(plain->kind, KP_REFLECT_STORAGE_IMAGE);
    assert_int_equal(plain->dimensions, 2);
    assert_int_equal(plain->format, SpvImageFormatRgba32f);
    assert_false(plain->arrayed);
    assert_int_equal(plain->dtype, KP_F32);
    assert_true(layers->arrayed);
    assert_int_equal(layers->format, SpvImageFormatUnknown);
    assert_int_equal(line->dimensions, 1);
    assert_int_equal(line->dtype, KP_U32);
    kp_reflect_destroy(r);
}

static void test_groups_and_two_variables_at_one_place(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("groups.spv", NULL);
    assert_int_equal(r->binding_count, 1);
    const kp_reflect_binding *b = binding_of(r, 2, 4);
    assert_non_null(b);
    assert_access(r, 2, 4, "rw");               // one variable is read, the other one written
    assert_int_equal(b->min_size, 32 * 3 + 16); // the larger of the two: a matrix with columns 32 bytes apart
    assert_int_equal(b->array_offset, 16);
    assert_int_equal(b->array_stride, 8);
    assert_int_equal(b->components, 2);
    assert_int_equal(r->set_count, 3);
    kp_reflect_destroy(r);
}

static void test_entry_points_by_name(void **state) {
    (void)state;
    kp_reflect *fill = reflect_file("entries.spv", "fill"), *blur = reflect_file("entries.spv", "blur");
    assert_int_equal(fill->entry_count, 4);
    assert_access(fill, 0, 0, "w");
    assert_access(fill, 0, 1, NULL);
    assert_int_equal(fill->entry->local_size[1], 4);
    assert_int_equal(fill->shared_bytes, 0);
    assert_access(blur, 0, 0, NULL);
    assert_access(blur, 0, 1, "r");
    assert_int_equal(blur->entry->local_size[0], 16);
    assert_int_equal(blur->shared_bytes, 400);
    assert_string_equal(blur->entries[3].name, "pixel");
    assert_int_equal(blur->entries[3].model, SpvExecutionModelFragment);
    assert_false(blur->entries[3].compute);
    kp_reflect_destroy(fill);
    kp_reflect_destroy(blur);
}

static kp_result reflect_bytes(const void *bytes, size_t size, const char *entry) {
    kp_reflect *r = NULL;
    kp_result result = kp_reflect_create(&(kp_reflect_desc){.bytes = bytes, .size = size, .entry = entry}, &r);
    if (result == KP_OK)
        kp_reflect_destroy(r);
    else
        assert_null(r);
    return result;
}

static void test_entry_points_that_are_not_there(void **state) {
    (void)state;
    size_t size;
    void *bytes = test_read("entries.spv", &size);
    assert_fails(
        reflect_bytes(bytes, size, "sharpen"), KP_ERROR_ARGUMENT,
        "SPIR-V: no compute entry point 'sharpen', the module has: 'fill', 'blur', 'fill again', 'pixel' (fragment)");
    assert_fails(
        reflect_bytes(bytes, size, "pixel"), KP_ERROR_ARGUMENT,
        "SPIR-V: no compute entry point 'pixel', the module has: 'fill', 'blur', 'fill again', 'pixel' (fragment)");
    assert_fails(reflect_bytes(bytes, size, NULL), KP_ERROR_ARGUMENT,
                 "SPIR-V: several entry points and none is 'main', name one of: 'fill', 'blur', 'fill again', 'pixel' "
                 "(fragment)");
    kp_reflect *r;
    assert_fails_like(
        kp_reflect_create(&(kp_reflect_desc){.bytes = bytes, .size = size, .entry = "x", .label = "algorithm 'a'"}, &r),
        KP_ERROR_ARGUMENT, "algorithm 'a': no compute entry point 'x'");
    free(bytes);
}

static void test_local_size_and_shared_memory_by_ids(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("local_size_id.spv", NULL);
    static const uint32_t size[] = {4, 16, 2}, spec[] = {KP_REFLECT_NO_SPEC, 1000, KP_REFLECT_NO_SPEC};
    assert_memory_equal(r->entry->local_size, size, sizeof size);
    assert_memory_equal(r->entry->local_size_spec, spec, sizeof spec);
    assert_int_equal(r->shared_bytes, 16 * 2 * 4 + 3 * 20);
    kp_reflect_destroy(r);
}

static void test_specialization_constants(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("local_size_id.spv", NULL);
    static const kp_reflect_spec expected[] = {{7, KP_BOOL, 1, NULL},
                                               {8, KP_U64, 5000000000u, NULL},
                                               {9, KP_F32, 0x3F000000, NULL},
                                               {1000, KP_U32, 16, "width"}};
    assert_int_equal(r->spec_count, COUNT_OF(expected));
    for (size_t k = 0; k < r->spec_count; k++) {
        assert_int_equal(r->specs[k].id, expected[k].id);
        assert_int_equal(r->specs[k].dtype, expected[k].dtype);
        assert_true(r->specs[k].value == expected[k].value);
    }
    assert_string_equal(r->specs[3].name, "width");
    assert_null(r->specs[0].name);
    assert_ptr_equal(kp_reflect_find_spec(r, 9), &r->specs[2]);
    assert_null(kp_reflect_find_spec(r, 10));
    kp_reflect_destroy(r);
}

static void test_specialize(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("local_size_id.spv", NULL);
    kp_reflect_sizes s;
    assert_ok(kp_reflect_specialize(r, NULL, 0, &s));
    assert_int_equal(s.local_size[1], 16);
    assert_int_equal(s.shared_bytes, r->shared_bytes);
    const kp_reflect_value values[] = {{1000, 100}, {7, 0}, {12345, 9}}; // the last one is not there: ignored
    assert_ok(kp_reflect_specialize(r, values, COUNT_OF(values), &s));
    assert_int_equal(s.local_size[0], 4);
    assert_int_equal(s.local_size[1], 100);
    assert_int_equal(s.local_size[2], 3);
    assert_int_equal(s.shared_bytes, 100 * 3 * 4 + 3 * 20);
    const kp_reflect_value huge[] = {{1000, UINT64_MAX}}; // cut to the constant's 32 bits
    assert_ok(kp_reflect_specialize(r, huge, 1, &s));
    assert_true(s.local_size[1] == UINT32_MAX);
    assert_true(s.shared_bytes == (uint64_t)(UINT32_MAX - 1) * 4 + 60); // 2 * width wraps to 32 bits
    kp_reflect_destroy(r);
    r = reflect_file("entries.spv", "blur");
    const kp_reflect_value length = {40, 3};
    assert_ok(kp_reflect_specialize(r, &length, 1, &s));
    assert_int_equal(s.shared_bytes, 36);
    kp_reflect_destroy(r);
}

static void test_a_module_that_keeps_the_launch_contract(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("blocks.spv", NULL);
    assert_true(r->regroupable);
    assert_int_equal(r->push_size, 4);
    assert_int_equal(r->launch_push_offset, 4);
    assert_int_equal(r->entry->local_size_spec[2], KP_LAUNCH_SPEC_LOCAL_Z);
    kp_reflect_destroy(r);
    r = reflect_file("blocks.spv", "kp_blocks"); // asked for by name, it is an entry point like any other
    assert_false(r->regroupable);
    assert_int_equal(r->push_size, 28);
    kp_reflect_destroy(r);
}

// Breaks one word of blocks.spv after another, wherever it is `from` behind `before`: no such module keeps the
// contract.
static void assert_not_regroupable(uint32_t before, uint32_t from, uint32_t to) {
    size_t size;
    uint32_t *words = test_read("blocks.spv", &size);
    bool found = false;
    for (size_t k = 5; k < size / 4; k++) {
        if (words[k - 1] != before || words[k] != from)
            continue;
        found = true;
        words[k] = to;
        kp_reflect *r;
        if (kp_reflect_create(&(kp_reflect_desc){.bytes = words, .size = size}, &r) == KP_OK) {
            assert_false(r->regroupable);
            kp_reflect_destroy(r);
        }
        words[k] = from;
    }
    assert_true(found);
    free(words);
}

static void test_modules_that_break_the_launch_contract(void **state) {
    (void)state;
    for (uint32_t id = KP_LAUNCH_SPEC_LOCAL_X; id <= KP_LAUNCH_SPEC_FOLDED; id++)
        assert_not_regroupable(SpvDecorationSpecId, id, 3);
    for (uint32_t offset = 4; offset <= 24; offset += 4)
        assert_not_regroupable(SpvDecorationOffset, offset, offset + 24);
    size_t size;
    uint32_t *words = test_read("blocks.spv", &size);
    for (size_t k = 0; k < size / 4; k++)
        words[k] = words[k] == 0x625F706B ? 0x615F706B : words[k]; // "kp_b", "kp_a"
    kp_reflect *r;
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = words, .size = size}, &r));
    assert_false(r->regroupable);
    kp_reflect_destroy(r);
    free(words);
}

static void test_byte_order(void **state) {
    (void)state;
    static const char *const files[] = {"multiply.spv", "multiply_old.spv", "blocks.spv", "local_size_id.spv",
                                        "access.spv"};
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        size_t size;
        unsigned char *bytes = test_read(files[f], &size), *swapped = malloc(size + 1);
        assert_non_null(swapped);
        for (size_t k = 0; k < size; k++)
            swapped[1 + (k ^ 3)] = bytes[k]; // and not aligned
        kp_reflect *r, *s;
        assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = bytes, .size = size}, &r));
        assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = swapped + 1, .size = size}, &s));
        assert_int_equal(s->word_count, size / 4);
        assert_memory_equal(s->words, r->words, size);
        assert_int_equal(s->binding_count, r->binding_count);
        assert_string_equal(s->entry->name, r->entry->name);
        kp_reflect_destroy(r);
        kp_reflect_destroy(s);
        free(bytes);
        free(swapped);
    }
}

static void test_what_is_not_spirv(void **state) {
    (void)state;
    assert_fails(reflect_bytes("", 0, NULL), KP_ERROR_SPIRV, "SPIR-V: the module is empty");
    assert_fails(reflect_bytes(NULL, 0, NULL), KP_ERROR_SPIRV, "SPIR-V: the module is empty");
    assert_fails(reflect_bytes(NULL, 20, NULL), KP_ERROR_ARGUMENT, "SPIR-V: no module");
    static const char text[] = "#version 450\nvoid main() {}\n";
    assert_fails(reflect_bytes(text, sizeof text - 1, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: this is text, not SPIR-V: use kp_shader_compile");
    assert_fails(reflect_bytes(text, sizeof text, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: this is text, not SPIR-V: use kp_shader_compile");
    assert_fails(reflect_bytes("ab", 3, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: this is text, not SPIR-V: use kp_shader_compile");
    assert_fails(reflect_bytes("\xEF\xBB\xBF// \xC3\xA4", 8, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: this is text, not SPIR-V: use kp_shader_compile");
    static const uint32_t elf[] = {0x464C457F, 0x00010102, 0, 0, 0x003E0003};
    assert_fails(reflect_bytes(elf, sizeof elf, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: not SPIR-V: it starts with 0x464C457F, not 0x07230203");
    static const uint32_t zeros[8];
    assert_fails(reflect_bytes(zeros, sizeof zeros, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: not SPIR-V: it starts with 0x00000000, not 0x07230203");
    static const uint32_t header[] = {SpvMagicNumber, 0x10000, 0, 1, 0, 0x00020011};
    assert_fails(reflect_bytes(header, 7, NULL), KP_ERROR_SPIRV, "SPIR-V: 7 bytes, which is not a multiple of 4");
    assert_fails(reflect_bytes(header, 16, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: cut short: 16 bytes, the header alone has 20");
    assert_fails(reflect_bytes(header, 20, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: no compute entry point, the module has: none");
    assert_fails(reflect_bytes(header, 24, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: cut short: the instruction at word 5 has 2 words, 1 are left");
}

static void test_every_truncation_is_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *bytes = test_read("multiply.spv", &size);
    for (size_t n = 0; n < size; n++) {
        unsigned char *part = malloc(n != 0 ? n : 1); // exactly as long, for the sanitizer
        assert_non_null(part);
        memcpy(part, bytes, n);
        // Where an instruction ends, what is left can be read; what it is about may still be missing.
        kp_result result = reflect_bytes(part, n, NULL);
        assert_true(result == KP_ERROR_SPIRV || (result == KP_OK && n % 4 == 0 && n > size / 2));
        free(part);
    }
    free(bytes);
}

static void test_ids(void **state) {
    (void)state;
    enum { VOID = 2 << 16 | SpvOpTypeVoid };
    const uint32_t twice[] = {SpvMagicNumber, 0x10000, 0, 9, 0, VOID, 3, VOID, 3};
    assert_fails(reflect_bytes(twice, sizeof twice, NULL), KP_ERROR_SPIRV, "SPIR-V: id 3 is defined twice");
    const uint32_t beyond[] = {SpvMagicNumber, 0x10000, 0, 3, 0, VOID, 3};
    assert_fails(reflect_bytes(beyond, sizeof beyond, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: id 3 at word 5 is not below the module's bound, 3");
    const uint32_t zero[] = {SpvMagicNumber, 0x10000, 0, 3, 0, VOID, 0};
    assert_fails(reflect_bytes(zero, sizeof zero, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: id 0 at word 5 is not below the module's bound, 3");
    const uint32_t none[] = {SpvMagicNumber, 0x10000, 0, 3, 0, 1 << 16 | SpvOpTypeVoid};
    assert_fails(reflect_bytes(none, sizeof none, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: the instruction at word 5 is too short");
    const uint32_t still[] = {SpvMagicNumber, 0x10000, 0, 3, 0, SpvOpNop};
    assert_fails(reflect_bytes(still, sizeof still, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: the instruction at word 5 has no length");
    const uint32_t high[] = {SpvMagicNumber, 0x10000, 0, UINT32_MAX, 0, VOID, UINT32_MAX - 1}; // costs no memory
    assert_fails(reflect_bytes(high, sizeof high, NULL), KP_ERROR_SPIRV,
                 "SPIR-V: no compute entry point, the module has: none");
}

static void test_kind_names(void **state) {
    (void)state;
    assert_string_equal(kp_reflect_kind_name(KP_REFLECT_STORAGE_BUFFER), "storage buffer");
    assert_string_equal(kp_reflect_kind_name((kp_reflect_kind)99), "?");
    kp_reflect_destroy(NULL);
}

static void test_each_allocation_may_fail(void **state) {
    (void)state;
    size_t size;
    void *bytes = test_read("blocks.spv", &size);
    kp_reflect *r = NULL;
    int n = 1;
    for (;; n++) {
        kp_alloc_fail_at((size_t)n);
        kp_result result = kp_reflect_create(&(kp_reflect_desc){.bytes = bytes, .size = size}, &r);
        kp_alloc_fail_at(0);
        if (result == KP_OK)
            break;
        assert_int_equal(result, KP_ERROR_HOST_MEMORY);
        assert_null(r);
    }
    assert_in_range(n, 3, 50);
    const kp_reflect_value value = {KP_LAUNCH_SPEC_LOCAL_X, 64};
    kp_reflect_sizes sizes = {{0}, 77};
    for (n = 1;; n++) {
        kp_alloc_fail_at((size_t)n);
        kp_result result = kp_reflect_specialize(r, &value, 1, &sizes);
        kp_alloc_fail_at(0);
        if (result == KP_OK)
            break;
        assert_int_equal(result, KP_ERROR_HOST_MEMORY);
        assert_int_equal(sizes.shared_bytes, 77);
    }
    assert_int_equal(sizes.local_size[0], 64);
    kp_reflect_destroy(r);
    free(bytes);
}

static void *specialize_many(void *reflect) {
    for (uint32_t k = 0; k < 500; k++) {
        const kp_reflect_value value = {1000, k};
        kp_reflect_sizes s;
        if (kp_reflect_specialize(reflect, &value, 1, &s) != KP_OK || s.local_size[1] != k)
            return reflect;
    }
    return NULL;
}

static void test_specialize_from_many_threads(void **state) {
    (void)state;
    kp_reflect *r = reflect_file("local_size_id.spv", NULL);
    pthread_t threads[4];
    for (size_t k = 0; k < COUNT_OF(threads); k++)
        assert_int_equal(pthread_create(&threads[k], NULL, specialize_many, r), 0);
    for (size_t k = 0; k < COUNT_OF(threads); k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
    }
    kp_reflect_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_old_form_of_storage_buffers),
        cmocka_unit_test(test_the_new_form_and_push_constants),
        cmocka_unit_test(test_every_kind_of_access),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_groups_and_two_variables_at_one_place),
        cmocka_unit_test(test_entry_points_by_name),
        cmocka_unit_test(test_entry_points_that_are_not_there),
        cmocka_unit_test(test_local_size_and_shared_memory_by_ids),
        cmocka_unit_test(test_specialization_constants),
        cmocka_unit_test(test_specialize),
        cmocka_unit_test(test_a_module_that_keeps_the_launch_contract),
        cmocka_unit_test(test_modules_that_break_the_launch_contract),
        cmocka_unit_test(test_byte_order),
        cmocka_unit_test(test_what_is_not_spirv),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_kind_names),
        cmocka_unit_test(test_each_allocation_may_fail),
        cmocka_unit_test(test_specialize_from_many_threads),
    };
    return cmocka_run_group_tests_name("reflect", tests, NULL, NULL);
}
