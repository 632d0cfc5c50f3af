// base/program: a program owns copies of all that it was made from.
#include "test.h"

#include "base/alloc.h"
#include "base/program.h"

static kp_program *make(void) {
    uint32_t words[5] = {0x07230203, 1, 2, 3, 4};
    char name[] = "saxpy", a[] = "a", a_type[] = "f32";
    kp_param params[] = {
        {.name = a, .type = a_type, .kind = KP_PARAM_CONSTANT, .components = 1, .offset = 0, .size = 4},
        {.name = "x",
         .type = "Array[f32]",
         .kind = KP_PARAM_BUFFER,
         .components = 1,
         .binding = 3,
         .reads = true,
         .format = "rgba8"},
        {.name = NULL, .type = NULL, .kind = KP_PARAM_INPUT},
    };
    kp_program *program = NULL;
    assert_ok(kp_program_new(&(kp_program){.words = words,
                                           .word_count = COUNT_OF(words),
                                           .name = name,
                                           .params = params,
                                           .param_count = COUNT_OF(params),
                                           .push_size = 4},
                             &program));
    memset(words, 0, sizeof words); // the program keeps its own
    memset(name, 'z', sizeof name - 1);
    memset(params, 0, sizeof params);
    memset(a, 'z', sizeof a - 1);
    memset(a_type, 'z', sizeof a_type - 1);
    return program;
}

static void test_everything_is_copied(void **state) {
    (void)state;
    kp_program *p = make();
    assert_int_equal(p->word_count, 5);
    assert_int_equal(p->words[0], 0x07230203);
    assert_int_equal(p->words[4], 4);
    assert_int_equal((uintptr_t)p->words % sizeof(uint32_t), 0);
    assert_string_equal(p->name, "saxpy");
    assert_int_equal(p->param_count, 3);
    assert_string_equal(p->params[0].name, "a");
    assert_string_equal(p->params[0].type, "f32");
    assert_string_equal(p->params[1].type, "Array[f32]");
    assert_int_equal(p->params[1].binding, 3);
    assert_true(p->params[1].reads);
    assert_null(p->params[2].name);
    assert_null(p->params[2].type);
    assert_null(p->params[2].format);
    assert_string_equal(p->params[1].format, "rgba8");
    assert_int_equal(p->push_size, 4);
    kp_program_destroy(p);
}

static void test_alternatives_are_copied(void **state) {
    (void)state;
    const uint32_t words[2] = {7, 8};
    uint32_t first[3] = {1, 2, 3}, second[1] = {4};
    kp_alternative alternatives[] = {{KP_NEED_BUFFER_ADD, first, 3}, {KP_NEED_SHARED_ADD, second, 1}};
    kp_param param = {.name = "x", .type = "Array[f32]"};
    kp_program *p, *copy;
    assert_ok(kp_program_new(&(kp_program){.words = words,
                                           .word_count = 2,
                                           .name = "k",
                                           .params = &param,
                                           .param_count = 1,
                                           .alternatives = alternatives,
                                           .alternative_count = 2},
                             &p));
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    memset(alternatives, 0, sizeof alternatives);
    assert_ok(kp_program_new(p, &copy));
    kp_program_destroy(p);
    assert_int_equal(copy->words[1], 8);
    assert_string_equal(copy->name, "k");
    assert_string_equal(copy->params[0].type, "Array[f32]");
    assert_int_equal(copy->alternative_count, 2);
    assert_int_equal(copy->alternatives[0].needs, KP_NEED_BUFFER_ADD);
    assert_int_equal(copy->alternatives[0].word_count, 3);
    assert_int_equal(copy->alternatives[0].words[2], 3);
    assert_int_equal(copy->alternatives[1].needs, KP_NEED_SHARED_ADD);
    assert_int_equal(copy->alternatives[1].words[0], 4);
    assert_int_equal((uintptr_t)copy->alternatives % sizeof(void *), 0);
    kp_program_destroy(copy);
}

static void test_words_alone(void **state) {
    (void)state;
    const uint32_t word = 7;
    kp_program *p;
    assert_ok(kp_program_new(&(kp_program){.words = &word, .word_count = 1}, &p));
    assert_int_equal(p->words[0], 7);
    assert_null(p->name);
    assert_null(p->params);
    assert_int_equal(p->param_count, 0);
    kp_program_destroy(p);
}

static void test_nothing_at_all(void **state) {
    (void)state;
    kp_program *p;
    assert_ok(kp_program_new(&(kp_program){0}, &p));
    assert_int_equal(p->word_count, 0);
    kp_program_destroy(p);
    kp_program_destroy(NULL);
}

static void test_out_of_memory_leaves_out_alone(void **state) {
    (void)state;
    const uint32_t word = 7;
    kp_program *p = (kp_program *)state;
    kp_alloc_fail_at(1);
    assert_fails_like(kp_program_new(&(kp_program){.words = &word, .word_count = 1}, &p), KP_ERROR_HOST_MEMORY,
                      "out of host memory: ");
    assert_ptr_equal(p, state);
}

static void test_counts_that_overflow(void **state) {
    (void)state;
    kp_program *p = (kp_program *)state;
    const uint32_t word = 7;
    const size_t counts[] = {SIZE_MAX, SIZE_MAX / 4, SIZE_MAX / 4 - 10};
    for (size_t k = 0; k < COUNT_OF(counts); k++)
        assert_fails_like(kp_program_new(&(kp_program){.words = &word, .word_count = counts[k]}, &p),
                          KP_ERROR_HOST_MEMORY, "out of host memory: ");
    const kp_alternative huge = {.words = &word, .word_count = SIZE_MAX / 4};
    assert_fails_like(kp_program_new(&(kp_program){.alternatives = &huge, .alternative_count = 1}, &p),
                      KP_ERROR_HOST_MEMORY, "out of host memory: ");
    assert_fails_like(kp_program_new(&(kp_program){.param_count = SIZE_MAX / 8}, &p), KP_ERROR_HOST_MEMORY,
                      "out of host memory: ");
    assert_ptr_equal(p, state);
}

// Of a kernel with that index that writes `param`, bound to memory of that shape.
static kp_result extent_of(const char *index, const kp_param *param, uint32_t ndim, const uint64_t *shape,
                           uint32_t extent[3]) {
    const kp_param input = {.kind = KP_PARAM_INPUT, .type = index};
    const kp_program program = {.name = "k", .params = &input, .param_count = 1};
    return kp_program_extent(&program, param, ndim, shape, extent);
}

static void test_extent_of_what_is_written(void **state) {
    (void)state;
    const kp_param flat = {.ndim = 1, .components = 1}, vectors = {.ndim = 1, .components = 3};
    const kp_param view = {.ndim = 2, .components = 3}, image = {.kind = KP_PARAM_IMAGE, .ndim = 2, .components = 4};
    const uint64_t shape[] = {5, 7, 3};
    const struct {
        const char *index;
        const kp_param *param;
        uint32_t ndim, extent[3];
    } cases[] = {{"Index", &flat, 3, {105, 1, 1}},  {"Index", &flat, 0, {1, 1, 1}},  {"Index", &vectors, 3, {35, 1, 1}},
                 {"Index", &view, 3, {5, 1, 1}},    {"Index2", &view, 3, {7, 5, 1}}, {"Index2", &image, 3, {7, 5, 1}},
                 {"ivec3", &vectors, 3, {35, 1, 1}}};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        uint32_t extent[3];
        assert_ok(extent_of(cases[k].index, cases[k].param, cases[k].ndim, shape, extent));
        assert_memory_equal(extent, cases[k].extent, sizeof extent);
    }
    uint32_t most[3];
    assert_ok(extent_of("Index", &flat, 1, (uint64_t[]){UINT64_C(1) << 40}, most));
    assert_int_equal(most[0], UINT32_MAX);
}

static void test_extent_that_has_to_be_given(void **state) {
    (void)state;
    const kp_param flat = {.ndim = 1, .components = 1};
    const kp_param image = {.kind = KP_PARAM_IMAGE, .name = "out", .ndim = 2, .components = 4};
    const uint64_t shape[] = {5, 7, 4};
    uint32_t extent[3];
    assert_fails(extent_of("Index2", &flat, 3, shape, extent), KP_ERROR_TYPE,
                 "k() has Index2: give its extent, as in k(..., extent=(640, 480))");
    assert_fails(extent_of("Index", &image, 3, shape, extent), KP_ERROR_TYPE,
                 "k() has Index, but 'out' has 2 axes: give its extent");
    assert_fails(extent_of("Index", NULL, 0, NULL, extent), KP_ERROR_TYPE,
                 "k() writes no buffer: give its extent, as in k(..., extent=100)");
    assert_fails(kp_program_extent(NULL, NULL, 0, NULL, extent), KP_ERROR_ARGUMENT,
                 "kp_program_extent: program is NULL");
    assert_fails(extent_of("Index", &flat, 1, NULL, extent), KP_ERROR_ARGUMENT, "kp_program_extent: shape is NULL");
    assert_fails(extent_of("Index", NULL, 0, NULL, NULL), KP_ERROR_ARGUMENT, "kp_program_extent: extent is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_is_copied),
        cmocka_unit_test(test_alternatives_are_copied),
        cmocka_unit_test(test_words_alone),
        cmocka_unit_test(test_nothing_at_all),
        cmocka_unit_test(test_out_of_memory_leaves_out_alone),
        cmocka_unit_test(test_counts_that_overflow),
        cmocka_unit_test(test_extent_of_what_is_written),
        cmocka_unit_test(test_extent_that_has_to_be_given),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
