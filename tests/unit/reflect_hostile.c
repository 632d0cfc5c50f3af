// runtime/reflect on bytes that nobody meant: random ones, valid modules with random damage, and modules built to make
// a reader recurse, loop or allocate. Any answer is right but a crash, a hang, or memory out of proportion. The same
// bytes in every run.
#include "test.h"

#include "runtime/reflect.h"

#include <spirv/unified1/spirv.h>
#include <time.h>

static const char *const seeds[] = {"multiply.spv", "multiply_old.spv", "access.spv",       "groups.spv",
                                    "entries.spv",  "blocks.spv",       "local_size_id.spv"};

static size_t accepted;

static size_t length_of(const char *text) { return text != NULL ? strlen(text) : 0; }

// Reads all that came out, so that a sanitizer sees it.
static size_t read_all(const kp_reflect *r) {
    size_t sum = r->word_count + length_of(r->entry->name);
    for (size_t k = 0; k < r->entry_count; k++)
        sum += length_of(r->entries[k].name);
    for (size_t k = 0; k < r->binding_count; k++) {
        const kp_reflect_binding *b = &r->bindings[k];
        sum += length_of(b->name) + length_of(kp_reflect_kind_name(b->kind)) + kp_dtype_size(b->dtype);
        assert_true(k == 0 || b[-1].set < b->set || (b[-1].set == b->set && b[-1].binding < b->binding));
        assert_true(b->set < r->set_count);
        assert_true(!b->has_dtype || (b->components >= 1 && b->components <= 4));
    }
    for (size_t k = 0; k < r->spec_count; k++)
        sum += length_of(r->specs[k].name) + kp_dtype_size(r->specs[k].dtype);
    for (size_t k = 0; k < r->extension_count; k++)
        sum += length_of(r->extensions[k]);
    assert_int_equal(r->push_size % 4, 0);
    assert_true(r->push_offset <= r->push_size);
    return sum;
}

static void reflect_bytes(const void *bytes, size_t size) {
    kp_reflect *r = NULL;
    kp_result result = kp_reflect_create(&(kp_reflect_desc){.bytes = bytes, .size = size}, &r);
    if (result != KP_OK) {
        assert_true(result == KP_ERROR_SPIRV || result == KP_ERROR_ARGUMENT);
        assert_true(length_of(kp_last_error()) > 10);
        return;
    }
    accepted++;
    assert_true(read_all(r) > 0);
    const kp_reflect_value values[] = {{1000, 3}, {7, 0}, {40, 5}};
    kp_reflect_sizes sizes;
    assert_ok(kp_reflect_specialize(r, values, COUNT_OF(values), &sizes));
    kp_reflect_destroy(r);
}

static void test_random_bytes(void **state) {
    (void)state;
    test_random random = {1};
    for (int round = 0; round < 3000; round++) {
        size_t size = test_below(&random, 400);
        unsigned char *bytes = malloc(size + 1);
        assert_non_null(bytes);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (unsigned char)test_next(&random);
        static const uint32_t magic = SpvMagicNumber;
        if (size >= 4 && round % 2 == 0)
            memcpy(bytes, &magic, 4);
        reflect_bytes(bytes, size);
        free(bytes);
    }
}

// A header, then instructions of any opcode, with lengths that fit and operands that are small.
static void test_random_instructions(void **state) {
    (void)state;
    test_random random = {2};
    for (int round = 0; round < 3000; round++) {
        uint32_t words[600] = {SpvMagicNumber, 0x10300, 0, 64, 0};
        size_t n = 5;
        while (n < 560) {
            uint32_t length = 1 + test_below(&random, 7);
            words[n] = length << 16 | test_below(&random, test_below(&random, 2) ? 90 : 400);
            for (uint32_t k = 1; k < length; k++)
                words[n + k] = test_below(&random, 64);
            n += length;
        }
        reflect_bytes(words, n * 4);
    }
}

// Damage that a real module may suffer: a word replaced by a small number, by any number, by another word of the
// module, one bit turned; words lost or repeated; the end gone.
static size_t damage(test_random *random, uint32_t *words, size_t count, size_t most) {
    uint32_t at = 1 + test_below(random, (uint32_t)count - 1), from = test_below(random, (uint32_t)count);
    switch (test_below(random, 9)) {
    case 0:
    case 1:
        words[at] = test_below(random, 80);
        return count;
    case 2:
        words[at] = (uint32_t)test_next(random);
        return count;
    case 3:
    case 4:
        words[at] = words[from];
        return count;
    case 5:
        words[at] ^= 1u << test_below(random, 32);
        return count;
    case 6:
        return at;
    case 7: {
        size_t lost = test_below(random, 8);
        lost = at + lost < count ? lost : count - at;
        memmove(words + at, words + at + lost, (count - at - lost) * sizeof *words);
        return count - lost;
    }
    default: {
        size_t more = test_below(random, 8);
        if (count + more > most || from + more > count)
            return count;
        memmove(words + at + more, words + at, (count - at) * sizeof *words);
        return count + more; // what was there is there twice
    }
    }
}

static void test_damaged_modules(void **state) {
    (void)state;
    test_random random = {3};
    accepted = 0;
    for (size_t s = 0; s < COUNT_OF(seeds); s++) {
        size_t size;
        uint32_t *seed = test_read(seeds[s], &size), *words = malloc(2 * size);
        assert_non_null(words);
        for (int round = 0; round < 3000; round++) {
            memcpy(words, seed, size);
            size_t count = size / 4;
            for (uint32_t k = 0; k < 1 + test_below(&random, 4) && count > 6; k++)
                count = damage(&random, words, count, size / 2);
            uint32_t *exact = malloc(count * 4 + 1);
            assert_non_null(exact);
            memcpy(exact, words, count * 4);
            reflect_bytes(exact, count * 4);
            free(exact);
        }
        free(seed);
        free(words);
    }
    assert_true(accepted > 1000); // much damage goes unnoticed: then the answer is about something
}

static void test_every_word_of_every_module_damaged(void **state) {
    (void)state;
    static const uint32_t values[] = {0, 1, 5, 0x7FFFFFFF, UINT32_MAX, 0x10000, 0x00020013, 0x000400FF};
    for (size_t s = 0; s < COUNT_OF(seeds); s++) {
        size_t size;
        uint32_t *words = test_read(seeds[s], &size);
        for (size_t k = 0; k < size / 4; k++) {
            uint32_t old = words[k];
            for (size_t v = 0; v < COUNT_OF(values); v++) {
                words[k] = values[v];
                reflect_bytes(words, size);
            }
            words[k] = old;
        }
        free(words);
    }
}

// A computed constant with every operation, on every other id first: operands of unequal types, bools among them, where
// a divisor may be 0 in the width of the dividend alone.
static void test_every_computed_constant(void **state) {
    (void)state;
    size_t size;
    uint32_t *words = test_read("local_size_id.spv", &size);
    for (size_t k = 5; k < size / 4; k += words[k] >> SpvWordCountShift) {
        if ((words[k] & SpvOpCodeMask) != SpvOpSpecConstantOp || words[k] >> SpvWordCountShift < 6)
            continue;
        uint32_t op = words[k + 3], first = words[k + 4];
        for (words[k + 3] = SpvOpSNegate; words[k + 3] <= SpvOpBitwiseAnd; words[k + 3]++) {
            for (words[k + 4] = 1; words[k + 4] < words[3]; words[k + 4]++)
                reflect_bytes(words, size);
        }
        words[k + 3] = op;
        words[k + 4] = first;
    }
    free(words);
}

static void test_every_truncation(void **state) {
    (void)state;
    for (size_t s = 0; s < COUNT_OF(seeds); s++) {
        size_t size;
        unsigned char *bytes = test_read(seeds[s], &size);
        for (size_t n = 0; n < size; n += 4) {
            unsigned char *part = malloc(n + 1);
            assert_non_null(part);
            memcpy(part, bytes, n);
            reflect_bytes(part, n);
            free(part);
        }
        free(bytes);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Built to hurt
// ---------------------------------------------------------------------------------------------------------------------

typedef struct builder {
    uint32_t *words;
    size_t count, capacity;
} builder;

static void put(builder *b, SpvOp op, const uint32_t *operands, size_t count) {
    if (b->count + count + 1 > b->capacity) {
        b->capacity = (b->count + count + 1) * 2;
        b->words = realloc(b->words, b->capacity * sizeof *b->words);
        assert_non_null(b->words);
    }
    b->words[b->count] = (uint32_t)(count + 1) << 16 | (uint32_t)op;
    memcpy(b->words + b->count + 1, operands, count * sizeof *operands);
    b->count += count + 1;
}

#define PUT(b, op, ...)                                 \
    do {                                                \
        const uint32_t operands_[] = {__VA_ARGS__};     \
        put((b), (op), operands_, COUNT_OF(operands_)); \
    } while (0)

enum { MAIN_TEXT = 0x6E69616D, ENTRY = 1, VOID = 2, FLOAT = 3, UINT = 4, HUGE_COUNT = 5, FIRST_FREE = 10 };

// A module with "main" (id ENTRY), a few types, and a constant of 2^32 - 1.
static builder begin(void) {
    builder b = {0};
    b.words = malloc(64 * sizeof *b.words);
    assert_non_null(b.words);
    b.capacity = 64;
    const uint32_t header[] = {SpvMagicNumber, 0x10300, 0, UINT32_MAX, 0};
    memcpy(b.words, header, sizeof header);
    b.count = COUNT_OF(header);
    PUT(&b, SpvOpEntryPoint, SpvExecutionModelGLCompute, ENTRY, MAIN_TEXT, 0);
    PUT(&b, SpvOpExecutionMode, ENTRY, SpvExecutionModeLocalSize, 1, 1, 1);
    return b;
}

static void put_types(builder *b) {
    PUT(b, SpvOpTypeVoid, VOID);
    PUT(b, SpvOpTypeFloat, FLOAT, 32);
    PUT(b, SpvOpTypeInt, UINT, 32, 0);
    PUT(b, SpvOpConstant, UINT, HUGE_COUNT, UINT32_MAX);
}

// Reflects it as it is; it must be accepted, within two seconds (milliseconds, unless something is quadratic).
static kp_reflect *finish(builder *b) {
    kp_reflect *r = NULL;
    clock_t start = clock();
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = b->words, .size = b->count * 4}, &r));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
    free(b->words);
    return r;
}

static void put_function(builder *b, uint32_t id) { PUT(b, SpvOpFunction, VOID, id, 0, VOID); }

// struct { s, s } of struct { s, s } of ...: 2^60 floats after sixty lines.
static void test_sizes_that_double(void **state) {
    (void)state;
    builder b = begin();
    for (uint32_t k = 0; k < 60; k++) {
        PUT(&b, SpvOpMemberDecorate, FIRST_FREE + k, 0, SpvDecorationOffset, 0);
        PUT(&b, SpvOpMemberDecorate, FIRST_FREE + k, 1, SpvDecorationOffset, 1u << (k % 31));
    }
    PUT(&b, SpvOpDecorate, 200, SpvDecorationDescriptorSet, 0);
    PUT(&b, SpvOpDecorate, 200, SpvDecorationBinding, 0);
    put_types(&b);
    for (uint32_t k = 0; k < 60; k++)
        PUT(&b, SpvOpTypeStruct, FIRST_FREE + k, k == 0 ? (uint32_t)FLOAT : FIRST_FREE + k - 1,
            k == 0 ? (uint32_t)FLOAT : FIRST_FREE + k - 1);
    PUT(&b, SpvOpTypePointer, 100, SpvStorageClassStorageBuffer, FIRST_FREE + 59);
    PUT(&b, SpvOpTypePointer, 101, SpvStorageClassWorkgroup, FIRST_FREE + 59);
    PUT(&b, SpvOpVariable, 100, 200, SpvStorageClassStorageBuffer);
    PUT(&b, SpvOpVariable, 101, 201, SpvStorageClassWorkgroup);
    put_function(&b, ENTRY);
    PUT(&b, SpvOpLoad, FIRST_FREE + 59, 300, 200);
    PUT(&b, SpvOpLoad, FIRST_FREE + 59, 301, 201);
    kp_reflect *r = finish(&b);
    assert_true(r->shared_bytes == (uint64_t)4 << 60);
    assert_true(r->bindings[0].min_size > 4);
    kp_reflect_destroy(r);
}

// An array of arrays of ..., each 2^32 - 1 long, ten thousand deep; and as many of descriptors.
static void test_sizes_beyond_64_bits(void **state) {
    (void)state;
    const uint32_t depth = 10000, last = FIRST_FREE + depth;
    builder b = begin();
    PUT(&b, SpvOpDecorate, last + 10, SpvDecorationDescriptorSet, 0);
    PUT(&b, SpvOpDecorate, last + 10, SpvDecorationBinding, 0);
    put_types(&b);
    for (uint32_t k = 0; k <= depth; k++)
        PUT(&b, SpvOpTypeArray, FIRST_FREE + k, k == 0 ? (uint32_t)FLOAT : FIRST_FREE + k - 1, HUGE_COUNT);
    PUT(&b, SpvOpTypePointer, last + 1, SpvStorageClassWorkgroup, last);
    PUT(&b, SpvOpVariable, last + 1, last + 2, SpvStorageClassWorkgroup);
    PUT(&b, SpvOpTypePointer, last + 9, SpvStorageClassUniformConstant, last);
    PUT(&b, SpvOpVariable, last + 9, last + 10, SpvStorageClassUniformConstant);
    put_function(&b, ENTRY);
    PUT(&b, SpvOpLoad, last, last + 20, last + 2);
    PUT(&b, SpvOpLoad, last, last + 21, last + 10);
    kp_reflect *r = finish(&b);
    assert_true(r->shared_bytes == UINT64_MAX);
    assert_true(r->bindings[0].count == UINT32_MAX);
    kp_reflect_destroy(r);
}

// Types that contain themselves and each other, and constants and pointers that do.
static void test_cycles_of_types(void **state) {
    (void)state;
    builder b = begin();
    PUT(&b, SpvOpDecorate, 30, SpvDecorationDescriptorSet, 0);
    PUT(&b, SpvOpDecorate, 30, SpvDecorationBinding, 0);
    put_types(&b);
    PUT(&b, SpvOpTypeStruct, 20, 20, 21, FLOAT);
    PUT(&b, SpvOpTypeStruct, 21, 20, 21);
    PUT(&b, SpvOpTypeArray, 22, 22, HUGE_COUNT);
    PUT(&b, SpvOpTypeArray, 23, 22, 23);
    PUT(&b, SpvOpTypeVector, 24, 24, 4);
    PUT(&b, SpvOpTypeRuntimeArray, 25, 25);
    PUT(&b, SpvOpTypePointer, 26, SpvStorageClassStorageBuffer, 26);
    PUT(&b, SpvOpTypePointer, 27, SpvStorageClassUniformConstant, 25);
    PUT(&b, SpvOpSpecConstantOp, UINT, 28, SpvOpIAdd, 28, 28);
    PUT(&b, SpvOpSpecConstantComposite, 29, 29, 29, 29);
    PUT(&b, SpvOpVariable, 27, 30, SpvStorageClassUniformConstant);
    put_function(&b, ENTRY);
    PUT(&b, SpvOpLoad, 25, 40, 30);
    kp_reflect_destroy(finish(&b));
}

// Functions that call themselves and each other, in all directions; values made from values in circles.
static void test_cycles_of_calls_and_values(void **state) {
    (void)state;
    const uint32_t functions = 300;
    builder b = begin();
    put_types(&b);
    PUT(&b, SpvOpTypePointer, 9, SpvStorageClassStorageBuffer, FLOAT);
    uint32_t id = 10000;
    for (uint32_t f = 0; f < functions; f++) {
        put_function(&b, f == 0 ? (uint32_t)ENTRY : 100 + f);
        PUT(&b, SpvOpFunctionParameter, 9, 1000 + f);
        for (uint32_t g = 1; g < functions; g++) {
            PUT(&b, SpvOpFunctionCall, 9, id, 100 + g, 1000 + (f + g) % functions);
            PUT(&b, SpvOpPhi, 9, id + 1, id, 0, id + 1, 0, 1000 + f, 0);
            id += 2;
        }
        PUT(&b, SpvOpReturnValue, id - 1);
        PUT(&b, SpvOpFunctionEnd, 0);
    }
    kp_reflect_destroy(finish(&b));
}

// Many calls of a function whose parameters hide behind many lines of debug information.
static void test_parameters_behind_lines(void **state) {
    (void)state;
    builder b = begin();
    put_types(&b);
    put_function(&b, ENTRY);
    for (uint32_t k = 0; k < 20000; k++)
        PUT(&b, SpvOpFunctionCall, VOID, 1000 + k, 7, HUGE_COUNT);
    PUT(&b, SpvOpFunctionEnd, 0);
    put_function(&b, 7);
    for (uint32_t k = 0; k < 20000; k++)
        PUT(&b, SpvOpLine, 0, k, k);
    PUT(&b, SpvOpFunctionParameter, UINT, 8);
    kp_reflect_destroy(finish(&b));
}

// Many entry points, each with many execution modes, on one function; a long list in the message when none is "main".
static void test_many_entry_points(void **state) {
    (void)state;
    builder b = begin();
    for (uint32_t k = 0; k < 20000; k++)
        PUT(&b, SpvOpEntryPoint, k % 7, ENTRY, 0x41414141, k % 100 == 0 ? 0 : 0x00424242, 0);
    for (uint32_t k = 0; k < 20000; k++)
        PUT(&b, SpvOpExecutionMode, ENTRY, SpvExecutionModeLocalSize, k, 1, 1);
    put_types(&b);
    put_function(&b, ENTRY);
    kp_reflect *r;
    assert_fails_like(kp_reflect_create(&(kp_reflect_desc){.bytes = b.words, .size = b.count * 4, .entry = "zoom"}, &r),
                      KP_ERROR_ARGUMENT, "SPIR-V: no compute entry point 'zoom', the module has: 'main', 'AAAA'");
    assert_non_null(strstr(kp_last_error(), " and 19993 more"));
    r = finish(&b);
    assert_int_equal(r->entry_count, 20001);
    kp_reflect_destroy(r);
}

// Forty thousand variables at one place, and one function that names each.
static void test_many_variables(void **state) {
    (void)state;
    const uint32_t count = 40000;
    builder b = begin();
    for (uint32_t k = 0; k < count; k++) {
        PUT(&b, SpvOpDecorate, 1000 + k, SpvDecorationDescriptorSet, 0);
        PUT(&b, SpvOpDecorate, 1000 + k, SpvDecorationBinding, k % 3);
    }
    put_types(&b);
    PUT(&b, SpvOpTypeStruct, 20, FLOAT);
    PUT(&b, SpvOpTypePointer, 21, SpvStorageClassStorageBuffer, 20);
    for (uint32_t k = 0; k < count; k++)
        PUT(&b, SpvOpVariable, 21, 1000 + k, SpvStorageClassStorageBuffer);
    put_function(&b, ENTRY);
    for (uint32_t k = 0; k < count; k++)
        PUT(&b, SpvOpStore, 1000 + k, HUGE_COUNT);
    kp_reflect *r = finish(&b);
    assert_int_equal(r->binding_count, 3);
    kp_reflect_destroy(r);
}

// Groups that decorate members of structs, all of them again and again.
static void test_many_groups(void **state) {
    (void)state;
    builder b = begin();
    PUT(&b, SpvOpDecorationGroup, 8);
    for (uint32_t k = 0; k < 20000; k++) {
        PUT(&b, SpvOpGroupMemberDecorate, 8, 20, 0, 20, 1, 20, 99, 20, UINT32_MAX, 999, 0);
        PUT(&b, SpvOpGroupDecorate, 8, 8, 20, 21, 22, 999);
        PUT(&b, SpvOpMemberDecorate, 20, UINT32_MAX, SpvDecorationOffset, 4);
    }
    put_types(&b);
    PUT(&b, SpvOpTypeStruct, 20, FLOAT, FLOAT);
    put_function(&b, ENTRY);
    kp_reflect_destroy(finish(&b));
}

static void test_resources_without_a_place(void **state) {
    (void)state;
    builder b = begin();
    put_types(&b);
    PUT(&b, SpvOpTypePointer, 21, SpvStorageClassStorageBuffer, FLOAT);
    PUT(&b, SpvOpVariable, 21, 22, SpvStorageClassStorageBuffer);
    put_function(&b, ENTRY);
    PUT(&b, SpvOpLoad, FLOAT, 23, 22);
    kp_reflect *r;
    assert_fails(kp_reflect_create(&(kp_reflect_desc){.bytes = b.words, .size = b.count * 4}, &r), KP_ERROR_SPIRV,
                 "SPIR-V: variable 22 ('') has no descriptor set");
    free(b.words);
}

static void test_two_kinds_at_one_place(void **state) {
    (void)state;
    builder b = begin();
    for (uint32_t id = 30; id <= 31; id++) {
        PUT(&b, SpvOpDecorate, id, SpvDecorationDescriptorSet, 1);
        PUT(&b, SpvOpDecorate, id, SpvDecorationBinding, 6);
    }
    put_types(&b);
    PUT(&b, SpvOpTypeStruct, 20, FLOAT);
    PUT(&b, SpvOpTypeSampler, 21);
    PUT(&b, SpvOpTypePointer, 22, SpvStorageClassStorageBuffer, 20);
    PUT(&b, SpvOpTypePointer, 23, SpvStorageClassUniformConstant, 21);
    PUT(&b, SpvOpVariable, 22, 30, SpvStorageClassStorageBuffer);
    PUT(&b, SpvOpVariable, 23, 31, SpvStorageClassUniformConstant);
    put_function(&b, ENTRY);
    PUT(&b, SpvOpLoad, 20, 40, 30);
    PUT(&b, SpvOpLoad, 21, 41, 31);
    kp_reflect *r;
    assert_int_equal(kp_reflect_create(&(kp_reflect_desc){.bytes = b.words, .size = b.count * 4}, &r), KP_ERROR_SPIRV);
    assert_true(strcmp(kp_last_error(), "SPIR-V: set 1, binding 6 is a storage buffer and a sampler") == 0 ||
                strcmp(kp_last_error(), "SPIR-V: set 1, binding 6 is a sampler and a storage buffer") == 0);
    free(b.words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_random_instructions),
        cmocka_unit_test(test_damaged_modules),
        cmocka_unit_test(test_every_word_of_every_module_damaged),
        cmocka_unit_test(test_every_computed_constant),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_sizes_that_double),
        cmocka_unit_test(test_sizes_beyond_64_bits),
        cmocka_unit_test(test_cycles_of_types),
        cmocka_unit_test(test_cycles_of_calls_and_values),
        cmocka_unit_test(test_parameters_behind_lines),
        cmocka_unit_test(test_many_entry_points),
        cmocka_unit_test(test_many_variables),
        cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_resources_without_a_place),
        cmocka_unit_test(test_two_kinds_at_one_place),
    };
    return cmocka_run_group_tests_name("reflect_hostile", tests, NULL, NULL);
}
