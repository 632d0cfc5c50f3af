// kp/shader.h: GLSL, HLSL and files to programs; whole messages for what goes wrong.
#include "test.h"

#include "base/alloc.h"

#include <kp/shader.h>

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 0x07230203 };

static const char glsl[] = "#version 450\n"
                           "layout(local_size_x = 64) in;\n"
                           "layout(binding = 0) buffer B { float x[]; };\n"
                           "void main() { x[gl_GlobalInvocationID.x] *= 2.0; }\n";
static const char hlsl[] = "RWStructuredBuffer<float> x;\n"
                           "[numthreads(64, 1, 1)]\n"
                           "void twice(uint3 i : SV_DispatchThreadID) { x[i.x] *= 2.0; }\n";

static kp_result compile(const char *text, const kp_shader_desc *desc, kp_program **out) {
    return kp_shader_compile(text, strlen(text), desc, out);
}

// Does the module hold the text, at a word?
static bool holds(const kp_program *program, const char *text) {
    for (size_t k = 0; k < program->word_count; k++) {
        if (memcmp(&program->words[k], text, strlen(text) < 4 * (program->word_count - k) ? strlen(text) : 0) == 0 &&
            strlen(text) < 4 * (program->word_count - k))
            return true;
    }
    return false;
}

static void assert_program(kp_program *p, const char *name) {
    assert_true(p->word_count > 20);
    assert_int_equal(p->words[0], MAGIC);
    assert_int_equal(p->words[1], 0x10300);
    if (name == NULL)
        assert_null(p->name);
    else
        assert_string_equal(p->name, name);
    assert_null(p->params);
    assert_int_equal(p->param_count, 0);
    assert_int_equal(p->push_size, 0);
    kp_program_destroy(p);
}

static void test_glsl(void **state) {
    (void)state;
    kp_program *p;
    assert_ok(compile(glsl, NULL, &p));
    assert_program(p, NULL);
    assert_ok(compile(glsl, &(kp_shader_desc){.language = KP_SHADER_GLSL, .file = "twice.comp"}, &p));
    assert_program(p, "twice.comp");
}

static void test_hlsl(void **state) {
    (void)state;
    kp_program *p;
    assert_ok(compile(hlsl, &(kp_shader_desc){.language = KP_SHADER_HLSL, .entry = "twice"}, &p));
    assert_true(holds(p, "twice"));
    assert_program(p, NULL);
}

static void test_language_is_guessed(void **state) {
    (void)state;
    kp_program *p;
    assert_ok(compile(hlsl, &(kp_shader_desc){.entry = "twice"}, &p)); // [numthreads( and no #version
    kp_program_destroy(p);
    static const char odd[] = "#define THREADS numthreads\nRWStructuredBuffer<float> x;\n"
                              "[THREADS(1, 1, 1)] void main() { x[0] = 1; }\n";
    assert_ok(compile(odd, &(kp_shader_desc){.file = "odd.hlsl"}, &p)); // by the file's name
    kp_program_destroy(p);
    static const char comment[] = "#version 450\n// [numthreads(\nvoid main() {}\n";
    assert_ok(compile(comment, NULL, &p));
    kp_program_destroy(p);
}

static void test_subgroup_operations_compile(void **state) {
    (void)state;
    static const char text[] =
        "#version 450\n#extension GL_KHR_shader_subgroup_arithmetic : require\n"
        "layout(binding = 0) buffer B { float x[]; };\nvoid main() { x[0] = subgroupAdd(x[1]); }\n";
    kp_program *p;
    assert_ok(compile(text, NULL, &p));
    kp_program_destroy(p);
}

static void test_length_is_respected(void **state) {
    (void)state;
    char text[sizeof glsl + 10];
    snprintf(text, sizeof text, "%s@@@", glsl);
    kp_program *p;
    assert_ok(kp_shader_compile(text, strlen(glsl), NULL, &p));
    kp_program_destroy(p);
}

static void test_a_wrong_name(void **state) {
    (void)state;
    static const char text[] = "#version 450\nvoid main() {\n    float a = wrong;\n}\n";
    kp_program *p = NULL;
    assert_fails(compile(text, &(kp_shader_desc){.file = "dir/blur.comp"}, &p), KP_ERROR_COMPILE,
                 "dir/blur.comp:3: 'wrong' : undeclared identifier");
    assert_null(p);
    const kp_diagnostic *d = kp_last_diagnostic();
    assert_string_equal(d->file, "dir/blur.comp");
    assert_string_equal(d->message, "'wrong' : undeclared identifier");
    assert_string_equal(d->source_line, "    float a = wrong;");
    assert_int_equal(d->line, 3);
    assert_int_equal(d->column, 0);
}

static void test_the_first_error_is_the_one(void **state) {
    (void)state;
    static const char text[] = "#version 450\r\nvoid main() {\r\n  int a = 0;\r\n  one;\r\n  two;\r\n}\r\n";
    kp_program *p;
    assert_fails(compile(text, NULL, &p), KP_ERROR_COMPILE, "<shader>:4: 'one' : undeclared identifier");
    assert_string_equal(kp_last_diagnostic()->source_line, "  one;");
}

static void test_errors_after_warnings(void **state) {
    (void)state;
    static const char text[] = "#version 450\n#extension GL_no_such_thing : enable\nvoid main() {\n  wrong;\n}\n";
    kp_program *p;
    assert_fails(compile(text, NULL, &p), KP_ERROR_COMPILE, "<shader>:4: 'wrong' : undeclared identifier");
}

static void test_file_names_that_look_like_positions(void **state) {
    (void)state;
    static const char text[] = "#version 450\nvoid main() {\n  wrong;\n}\n";
    kp_program *p;
    assert_fails(compile(text, &(kp_shader_desc){.file = "c:7: x"}, &p), KP_ERROR_COMPILE,
                 "c:7: x:3: 'wrong' : undeclared identifier");
}

static void test_hlsl_errors(void **state) {
    (void)state;
    static const char text[] = "[numthreads(1, 1, 1)]\nvoid main() {\n  wrong = 1;\n}\n";
    kp_program *p;
    assert_fails_like(compile(text, NULL, &p), KP_ERROR_COMPILE, "<shader>:3: ");
    assert_fails_like(compile(hlsl, &(kp_shader_desc){.entry = "thrice"}, &p), KP_ERROR_COMPILE, "<shader>: ");
}

static void test_text_that_is_no_shader(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "#version 450",
                                        "#version 450\n",
                                        "hello",
                                        "#include \"x\"",
                                        "{",
                                        "/*",
                                        "#version 450\nvoid main() {",
                                        "\xFF\xFE\x01",
                                        "#version 450\n#error own words",
                                        "//",
                                        "/"};
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
        kp_program *p = NULL;
        assert_fails_like(compile(texts[k], NULL, &p), KP_ERROR_COMPILE, "<shader>");
        assert_null(p);
        assert_true(strlen(kp_last_diagnostic()->message) > 0);
    }
}

static void test_versions(void **state) {
    (void)state;
    static const char *const good[] = {"#version 450",
                                       "#version 430 core",
                                       "#version 310 es",
                                       "#version 320 es",
                                       "#version 460",
                                       "\xEF\xBB\xBF#version 450",
                                       "\r\n \t# version\t450 // x",
                                       "/* a\n * b */ // c\n#version 450",
                                       "//\n/**/#version 450/**/",
                                       "// \\ x\n#version 450"};
    static const char *const none[] = {"",
                                       "void f() {}",
                                       "int a;\n#version 450",
                                       "// #version 450",
                                       "/* #version 450 */",
                                       "//\\\n#version 450",
                                       "//\\\r\n#version 450",
                                       "#ver\\\nsion 450",
                                       "#/**/version 450",
                                       "/*/#version 450"};
    static const char *const old[] = {"#version 100",  "#version 110",        "#version 140 core", "#version 300 es",
                                      "#version",      "#version x",          "#version -5",       "#version 45",
                                      "#version 4500", "#version 4294967746", "#version /**/ 450"};
    char text[128];
    kp_program *p;
    for (size_t k = 0; k < COUNT_OF(good); k++) {
        snprintf(text, sizeof text, "%s\nvoid main() {}\n", good[k]);
        assert_ok(compile(text, NULL, &p));
        kp_program_destroy(p);
    }
    for (size_t k = 0; k < COUNT_OF(none); k++) {
        snprintf(text, sizeof text, "%s\nvoid main() {}\n", none[k]);
        assert_fails(compile(text, NULL, &p), KP_ERROR_COMPILE,
                     "<shader>:1: no #version: GLSL starts with a line like '#version 450'");
    }
    for (size_t k = 0; k < COUNT_OF(old); k++) {
        snprintf(text, sizeof text, "\n// 2\n%s\nvoid main() {}\n", old[k]);
        assert_fails(compile(text, NULL, &p), KP_ERROR_COMPILE,
                     "<shader>:3: compute shaders need '#version 310 es', or '#version 430' or above");
    }
}

// Sends what the process prints to a file, and closes `to`; returns where it went before.
static int swap_stdout(int to) {
    fflush(stdout);
    int old = dup(STDOUT_FILENO);
    assert_true(old >= 0 && dup2(to, STDOUT_FILENO) >= 0);
    close(to);
    return old;
}

static void test_nothing_is_printed(void **state) {
    (void)state;
    static const char *const profiles[] = {"", " core", " es", " compatibility", " none"};
    FILE *file = tmpfile();
    assert_non_null(file);
    int terminal = swap_stdout(dup(fileno(file)));
    kp_program *p;
    for (unsigned number = 0; number < 1000; number += number % 10 == 0 && number % 50 != 0 ? 10 : 5) {
        for (size_t k = 0; k < COUNT_OF(profiles); k++) {
            char text[128];
            snprintf(text, sizeof text, "#version %u%s\nvoid main() { wrong; }\n", number, profiles[k]);
            if (compile(text, NULL, &p) == KP_OK)
                kp_program_destroy(p);
        }
    }
    test_random random = {9};
    for (int round = 0; round < 100; round++) { // damaged shaders of both languages
        char text[sizeof glsl + sizeof hlsl];
        int length = snprintf(text, sizeof text, "%s", round % 2 == 0 ? glsl : hlsl);
        for (int k = 0; k < 3; k++)
            text[test_below(&random, (uint32_t)length)] = (char)(32 + test_below(&random, 95));
        if (compile(text, NULL, &p) == KP_OK)
            kp_program_destroy(p);
    }
    close(swap_stdout(terminal));
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file), 0);
    fclose(file);
}

static void test_arguments(void **state) {
    (void)state;
    kp_program *p;
    assert_fails(kp_shader_compile(NULL, 0, NULL, &p), KP_ERROR_ARGUMENT, "kp_shader_compile: text is NULL");
    assert_fails(kp_shader_compile("", 0, NULL, NULL), KP_ERROR_ARGUMENT, "kp_shader_compile: out is NULL");
    assert_fails(compile(glsl, &(kp_shader_desc){.language = (kp_shader_language)9}, &p), KP_ERROR_ARGUMENT,
                 "kp_shader_compile: no language has the number 9");
    assert_fails(kp_shader_load(NULL, NULL, &p), KP_ERROR_ARGUMENT, "kp_shader_load: path is NULL");
    assert_fails(kp_shader_load("x", NULL, NULL), KP_ERROR_ARGUMENT, "kp_shader_load: out is NULL");
}

// ---------------------------------------------------------------------------------------------------------------------
// Files
// ---------------------------------------------------------------------------------------------------------------------

// Writes a file of the build folder and returns its path (until the next call).
static const char *write_file(const char *name, const void *bytes, size_t size) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", KP_UNIT_DATA, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void test_load_text(void **state) {
    (void)state;
    kp_program *p;
    const char *path = write_file("shader_text.comp", glsl, strlen(glsl));
    assert_ok(kp_shader_load(path, NULL, &p));
    assert_program(p, path);
    path = write_file("shader_text.hlsl", hlsl, strlen(hlsl));
    assert_ok(kp_shader_load(path, &(kp_shader_desc){.entry = "twice", .file = "named.hlsl"}, &p));
    assert_program(p, "named.hlsl");
}

static void test_load_text_with_an_error(void **state) {
    (void)state;
    static const char text[] = "#version 450\nvoid main() { wrong; }\n";
    const char *path = write_file("shader_wrong.comp", text, strlen(text));
    char expected[1100];
    snprintf(expected, sizeof expected, "%s:2: 'wrong' : undeclared identifier", path);
    kp_program *p;
    assert_fails(kp_shader_load(path, NULL, &p), KP_ERROR_COMPILE, expected);
}

static void test_load_spirv_in_both_orders(void **state) {
    (void)state;
    size_t size;
    unsigned char *bytes = test_read("multiply.spv", &size), *swapped = malloc(size);
    assert_non_null(swapped);
    for (size_t k = 0; k < size; k++)
        swapped[k ^ 3] = bytes[k];
    kp_program *same, *other;
    assert_ok(kp_shader_load(write_file("shader_same.spv", bytes, size), NULL, &same));
    assert_ok(kp_shader_load(write_file("shader_other.spv", swapped, size), &(kp_shader_desc){.file = "f"}, &other));
    assert_int_equal(same->word_count, size / 4);
    assert_int_equal(other->word_count, size / 4);
    assert_memory_equal(same->words, bytes, size);
    assert_memory_equal(other->words, bytes, size);
    assert_string_equal(other->name, "f");
    kp_program_destroy(same);
    kp_program_destroy(other);
    const char *path = write_file("shader_cut.spv", bytes, size - 1);
    char expected[1100];
    snprintf(expected, sizeof expected, "'%s': SPIR-V of %zu bytes, which is not a multiple of 4", path, size - 1);
    assert_fails(kp_shader_load(path, NULL, &same), KP_ERROR_SPIRV, expected);
    free(bytes);
    free(swapped);
}

static void test_load_a_long_file(void **state) {
    (void)state;
    const size_t size = 3u << 20; // more than the reader's first steps
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    memcpy(text, glsl, sizeof glsl - 1);
    kp_program *p;
    assert_ok(kp_shader_load(write_file("shader_long.comp", text, size), NULL, &p));
    kp_program_destroy(p);
    free(text);
}

static void test_files_that_cannot_be_read(void **state) {
    (void)state;
    kp_program *p = NULL;
    assert_fails(kp_shader_load("/no/such/file.spv", NULL, &p), KP_ERROR_IO,
                 "cannot read '/no/such/file.spv': No such file or directory");
    assert_fails(kp_shader_load("/", NULL, &p), KP_ERROR_IO, "cannot read '/': Is a directory");
    assert_fails(kp_shader_load("", NULL, &p), KP_ERROR_IO, "cannot read '': No such file or directory");
    if (geteuid() != 0) { // root may read anything
        const char *path = write_file("shader_secret.comp", "x", 1);
        char expected[1100];
        snprintf(expected, sizeof expected, "cannot read '%s': Permission denied", path);
        assert_int_equal(chmod(path, 0), 0);
        assert_fails(kp_shader_load(path, NULL, &p), KP_ERROR_IO, expected);
        assert_int_equal(chmod(path, 0600), 0);
    }
    assert_null(p);
}

static void test_empty_files(void **state) {
    (void)state;
    kp_program *p;
    assert_int_equal(kp_shader_load(write_file("shader_empty.comp", "", 0), NULL, &p), KP_ERROR_COMPILE);
    assert_int_equal(kp_shader_load("/dev/null", NULL, &p), KP_ERROR_COMPILE);
}

static void test_each_allocation_may_fail(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s", write_file("shader_memory.comp", glsl, strlen(glsl)));
    kp_program *p = NULL;
    size_t n = 1;
    for (;; n++) {
        kp_alloc_fail_at(n);
        kp_result result = kp_shader_load(path, NULL, &p);
        kp_alloc_fail_at(0);
        if (result == KP_OK)
            break;
        assert_int_equal(result, KP_ERROR_HOST_MEMORY);
        assert_null(p);
    }
    assert_in_range(n, 3, 10);
    kp_program_destroy(p);
}

// ---------------------------------------------------------------------------------------------------------------------
// Threads
// ---------------------------------------------------------------------------------------------------------------------

static void *compile_many(void *payload) {
    char text[256], expected[128];
    for (int k = 0; k < 10; k++) {
        kp_program *p;
        if (compile(glsl, NULL, &p) != KP_OK)
            return payload;
        kp_program_destroy(p);
        snprintf(text, sizeof text, "#version 450\nvoid main() { wrong%d%s; }\n", k, (const char *)payload);
        snprintf(expected, sizeof expected, "<shader>:2: 'wrong%d%s' : undeclared identifier", k,
                 (const char *)payload);
        if (compile(text, NULL, &p) != KP_ERROR_COMPILE || strcmp(kp_last_error(), expected) != 0)
            return payload;
    }
    return NULL;
}

static void test_many_threads(void **state) {
    (void)state;
    static char names[4][2] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    for (size_t k = 0; k < COUNT_OF(threads); k++)
        assert_int_equal(pthread_create(&threads[k], NULL, compile_many, names[k]), 0);
    for (size_t k = 0; k < COUNT_OF(threads); k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_threads), // first, so that they race to load the library
        cmocka_unit_test(test_glsl),
        cmocka_unit_test(test_hlsl),
        cmocka_unit_test(test_language_is_guessed),
        cmocka_unit_test(test_subgroup_operations_compile),
        cmocka_unit_test(test_length_is_respected),
        cmocka_unit_test(test_a_wrong_name),
        cmocka_unit_test(test_the_first_error_is_the_one),
        cmocka_unit_test(test_errors_after_warnings),
        cmocka_unit_test(test_file_names_that_look_like_positions),
        cmocka_unit_test(test_hlsl_errors),
        cmocka_unit_test(test_text_that_is_no_shader),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_nothing_is_printed),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_load_text),
        cmocka_unit_test(test_load_text_with_an_error),
        cmocka_unit_test(test_load_spirv_in_both_orders),
        cmocka_unit_test(test_load_a_long_file),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_empty_files),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("shader", tests, NULL, NULL);
}
