// What a kernel tells the host: that lavapipe cut its loops (docs/drivers.md; everywhere else these kernels are right),
// the first fault of a checked kernel, what it prints.
#include "gpu.h"

#define CUT "algorithm '%s': the driver, lavapipe, ends the loops of an invocation after 65535 rounds in all*"

static bool on_lavapipe(kp_manager *mgr) { return strstr(gpu_device(mgr).driver, "llvmpipe") != NULL; }

static kp_tensor *numbers(kp_manager *mgr, const int32_t *data, uint64_t count) {
    kp_tensor *t = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = count, .data = data}, &t));
    return t;
}

static kp_algorithm *algorithm(kp_manager *mgr, const char *source, kp_tensor *x, const char *label) {
    kp_program *program = NULL;
    kp_algorithm *a = NULL;
    OK(kp_compile(source, NULL, &program));
    OK(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1, .label = label}, &a));
    kp_program_destroy(program);
    return a;
}

// x[i] rounds, one at a time.
static const char count_to[] = "def k(i: Index, x: Array[i32]):\n"
                               "    n = 0\n"
                               "    while n < x[i]:\n"
                               "        n += 1\n"
                               "    x[i] = n + 1\n";

// Evaluates; the result is right, or an error that names `label` where the driver cannot do it.
static void right_or_refused(kp_manager *mgr, kp_result result, const char *label, kp_tensor *x,
                             const int32_t *wanted) {
    char words[256];
    if (on_lavapipe(mgr)) {
        snprintf(words, sizeof words, CUT, label);
        FAILS(result, KP_ERROR_LIMIT, words);
        return;
    }
    OK(result);
    assert_memory_equal(kp_tensor_data(x), wanted, (size_t)kp_tensor_bytes(x));
}

static void dispatch(kp_sequence *seq, kp_tensor *x, kp_algorithm *a) {
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, a, NULL));
    OK(kp_record_sync_local(seq, &x, 1));
}

static void a_cut_loop_is_an_error_and_the_sequence_goes_on(void **state) {
    kp_manager *mgr = *state;
    enum { N = 20 };
    int32_t data[N], wanted[N];
    for (int32_t i = 0; i < N; i++) {
        data[i] = i == 13 ? 70000 : i; // one invocation of many
        wanted[i] = data[i] + 1;
    }
    kp_tensor *x = numbers(mgr, data, N);
    kp_algorithm *a = algorithm(mgr, count_to, x, "count");
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, a);
    right_or_refused(mgr, kp_sequence_eval(seq), "count", x, wanted);
    assert_false(kp_sequence_is_running(seq));
    int32_t *host = kp_tensor_data(x);
    host[13] = 65000;
    OK(kp_sequence_eval(seq)); // the same commands again
    assert_int_equal(host[13], 65001);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
}

static void without_regrouping_too(void **state) {
    (void)state;
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.regroup = KP_OFF}, &mgr));
    int32_t data[] = {5, 70000, 0}, wanted[] = {6, 70001, 1};
    kp_tensor *x = numbers(mgr, data, 3);
    kp_algorithm *a = algorithm(mgr, count_to, x, "count");
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, a);
    right_or_refused(mgr, kp_sequence_eval(seq), "count", x, wanted);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
    kp_manager_destroy(mgr);
}

static void await_reports_the_first_that_was_cut(void **state) {
    kp_manager *mgr = *state;
    int32_t small[] = {7}, large[] = {70000}, wanted[] = {70001};
    kp_tensor *x = numbers(mgr, small, 1), *y = numbers(mgr, large, 1), *z = numbers(mgr, large, 1);
    kp_algorithm *fine = algorithm(mgr, count_to, x, "fine"), *second = algorithm(mgr, count_to, y, "second");
    kp_algorithm *third = algorithm(mgr, count_to, z, "third");
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, fine);
    dispatch(seq, y, second);
    dispatch(seq, z, third);
    OK(kp_sequence_eval_async(seq));
    right_or_refused(mgr, kp_sequence_await(seq, UINT64_MAX), "second", y, wanted);
    assert_int_equal(*(int32_t *)kp_tensor_data(x), 8);
    FAILS(kp_sequence_await(seq, UINT64_MAX), KP_ERROR_STATE, "*nothing to await*");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(fine);
    kp_algorithm_destroy(second);
    kp_algorithm_destroy(third);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    kp_tensor_destroy(z);
}

static void shaders_of_other_languages_too(void **state) {
    kp_manager *mgr = *state;
    static const char glsl[] = "layout(local_size_x = 4) in;\n"
                               "layout(set = 0, binding = 1) buffer X { int x[]; };\n"
                               "layout(set = 2, binding = 3) readonly buffer Y { int y[]; };\n"
                               "void main() {\n"
                               "    int n = 0;\n"
                               "    for (;; n++) { if (n >= y[gl_GlobalInvocationID.x]) return; x[0] = n + 1; }\n"
                               "}\n";
    int32_t zero[] = {0}, turns[] = {70000, 70000, 70000, 70000}, wanted[] = {70000};
    kp_tensor *x = numbers(mgr, zero, 1), *y = numbers(mgr, turns, 4);
    kp_algorithm *a = gpu_algorithm(
        mgr, glsl,
        &(kp_algorithm_desc){.memory = LIST(x, y), .memory_count = 2, .workgroups = {1, 1, 1}, .label = "glsl"});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(x, y), 2));
    OK(kp_record_dispatch(seq, a, NULL));
    OK(kp_record_sync_local(seq, LIST(x), 1));
    right_or_refused(mgr, kp_sequence_eval(seq), "glsl", x, wanted);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

// ---------------------------------------------------------------------------------------------------------------------
// Checked kernels
// ---------------------------------------------------------------------------------------------------------------------

static kp_algorithm *checked(kp_manager *mgr, const char *source, kp_tensor *const *x, size_t count) {
    kp_program *program = NULL;
    kp_algorithm *a = NULL;
    OK(kp_compile(source, &(kp_compile_desc){.file = "f.py", .checked = true}, &program));
    OK(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = program, .memory = x, .memory_count = count, .extent = {40, 1, 1}}, &a));
    kp_program_destroy(program);
    return a;
}

static void faults_have_place_invocation_and_numbers(void **state) {
    kp_manager *mgr = *state;
    static const struct {
        const char *line;
        kp_result result;
        const char *words;
    } cases[] = {
        {"x[i + 3] = 1", KP_ERROR_INDEX,
         "f.py:2:7: index 40 of 'x' is out of range for size 40, in invocation (37, 0, 0) of kernel 'k'"},
        {"x[i] = x[4 - i]", KP_ERROR_INDEX,
         "f.py:2:14: index -1 of 'x' is out of range for size 40, in invocation (5, 0, 0) of kernel 'k'"},
        {"x[i] = 7 // (i - 9)", KP_ERROR_DIVISION,
         "f.py:2:17: integer division or modulo by zero, in invocation (9, 0, 0) of kernel 'k'"},
        {"x[i] = 7 % (i - 9)", KP_ERROR_DIVISION,
         "f.py:2:16: integer division or modulo by zero, in invocation (9, 0, 0) of kernel 'k'"},
        {"x[i] = 7 << (9 - i)", KP_ERROR_ARGUMENT,
         "f.py:2:17: negative shift count, in invocation (10, 0, 0) of kernel 'k'"},
        {"x[i] = i32(1.0 / f32(i - 4))", KP_ERROR_OVERFLOW,
         "f.py:2:16: cannot convert float infinity to integer, in invocation (4, 0, 0) of kernel 'k'"},
        {"x[i] = i32(f32(i - 4) / f32(i - 4))", KP_ERROR_ARGUMENT,
         "f.py:2:16: cannot convert float NaN to integer, in invocation (4, 0, 0) of kernel 'k'"},
        {"assert i < 6, 'small'", KP_ERROR_ASSERT,
         "f.py:2:5: assertion failed: small, in invocation (6, 0, 0) of kernel 'k'"},
        {"assert i < 6", KP_ERROR_ASSERT, "f.py:2:5: assertion failed, in invocation (6, 0, 0) of kernel 'k'"},
        {"x[i] = i32(vec3(1)[i])", KP_ERROR_INDEX,
         "f.py:2:24: index 3 of 'vec3(1)' is out of range for size 3, in invocation (3, 0, 0) of kernel 'k'"},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        char source[160];
        int32_t zeros[40] = {0};
        snprintf(source, sizeof source, "def k(i: Index, x: Array[i32]):\n    %s\n    x[i] = 5\n", cases[k].line);
        kp_tensor *x = numbers(mgr, zeros, 40);
        kp_algorithm *a = checked(mgr, source, &x, 1);
        kp_sequence *seq = gpu_sequence(mgr);
        dispatch(seq, x, a);
        FAILS(kp_sequence_eval(seq), cases[k].result, cases[k].words);
        FAILS(kp_sequence_eval(seq), cases[k].result, cases[k].words);
        kp_sequence_destroy(seq);
        kp_algorithm_destroy(a);
        kp_tensor_destroy(x);
    }
}

// What follows a fault does not run, in the kernel and in what calls it; the other invocations do.
static void a_fault_ends_its_invocation_alone(void **state) {
    kp_manager *mgr = *state;
    static const char source[] = "def get(x: Array[i32], j: i32):\n"
                                 "    while x[j] != -1:\n"
                                 "        j += 1\n"
                                 "    return j\n"
                                 "def k(i: Index, x: Array[i32], y: Array[i32]):\n"
                                 "    y[i] = get(x, 20 - i)\n"
                                 "    y[i] += 100\n";
    int32_t data[40] = {0}, before[40];
    data[10] = -1;
    for (int k = 0; k < 40; k++)
        before[k] = 7;
    kp_tensor *x = numbers(mgr, data, 40), *y = numbers(mgr, before, 40);
    kp_algorithm *a = checked(mgr, source, LIST(x, y), 2);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(x, y), 2));
    OK(kp_record_dispatch(seq, a, NULL));
    OK(kp_record_sync_local(seq, LIST(y), 1));
    FAILS(kp_sequence_eval(seq), KP_ERROR_INDEX,
          "f.py:2:13: index 40 of 'x' is out of range for size 40, in invocation (0, 0, 0) of kernel 'k'");
    const int32_t *out = kp_tensor_data(y);
    for (int k = 0; k < 40; k++)
        assert_int_equal(out[k], k >= 10 && k <= 20 ? 110 : 7); // those before find no -1, those after start below 0
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

static void the_first_dispatch_with_a_fault_is_reported(void **state) {
    kp_manager *mgr = *state;
    int32_t zeros[40] = {0};
    kp_tensor *x = numbers(mgr, zeros, 40);
    kp_algorithm *good = checked(mgr, "def good(i: Index, x: Array[i32]):\n    x[i] += 1\n", &x, 1);
    kp_algorithm *first = checked(mgr, "def first(i: Index, x: Array[i32]):\n    assert x[i] != 1\n", &x, 1);
    kp_algorithm *second = checked(mgr, "def second(i: Index, x: Array[i32]):\n    x[i - 1] = 3\n", &x, 1);
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, good);
    dispatch(seq, x, first);
    dispatch(seq, x, second);
    OK(kp_sequence_eval_async(seq));
    FAILS(kp_sequence_await(seq, UINT64_MAX), KP_ERROR_ASSERT,
          "f.py:2:5: assertion failed, in invocation (0, 0, 0) of kernel 'first'");
    FAILS(kp_sequence_eval(seq), KP_ERROR_INDEX,
          "f.py:2:7: index -1 of 'x' is out of range for size 40, in invocation (0, 0, 0) of kernel 'second'");
    OK(kp_sequence_clear(seq));
    dispatch(seq, x, good);
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq); // one that is destroyed while it runs tells nobody
    seq = gpu_sequence(mgr);
    dispatch(seq, x, second);
    OK(kp_sequence_eval_async(seq));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(good);
    kp_algorithm_destroy(first);
    kp_algorithm_destroy(second);
    kp_tensor_destroy(x);
}

// Two buffers of which one is never written out of range, whatever the kernel does: a tensor between two others.
static void nothing_is_written_out_of_range(void **state) {
    kp_manager *mgr = *state;
    for (int is_checked = 0; is_checked < 2; is_checked++) {
        int32_t data[40], j[40];
        for (int k = 0; k < 40; k++) {
            data[k] = k;
            j[k] = k % 2 == 0 ? 40 + 977 * k * k : -1 - 311 * k;
        }
        kp_tensor *before = numbers(mgr, data, 40), *x = numbers(mgr, data, 40), *after = numbers(mgr, data, 40);
        kp_tensor *where = numbers(mgr, j, 40);
        kp_program *program = NULL;
        kp_algorithm *a = NULL;
        OK(kp_compile("def k(i: Index, x: Array[i32], j: Array[i32]):\n    x[j[i]] = -5\n",
                      &(kp_compile_desc){.checked = is_checked != 0}, &program));
        OK(kp_algorithm_create(
            mgr, &(kp_algorithm_desc){.program = program, .memory = LIST(x, where), .memory_count = 2}, &a));
        kp_program_destroy(program);
        kp_sequence *seq = gpu_sequence(mgr);
        OK(kp_record_sync_device(seq, LIST(before, x, after, where), 4));
        OK(kp_record_dispatch(seq, a, NULL));
        OK(kp_record_sync_local(seq, LIST(before, x, after, where), 4));
        if (is_checked)
            FAILS(kp_sequence_eval(seq), KP_ERROR_INDEX,
                  "*index 40 of 'x' is out of range for size 40, in invocation (0, 0, 0)*");
        else
            OK(kp_sequence_eval(seq));
        assert_memory_equal(kp_tensor_data(before), data, sizeof data);
        assert_memory_equal(kp_tensor_data(after), data, sizeof data);
        assert_memory_equal(kp_tensor_data(where), j, sizeof j);
        if (is_checked)
            assert_memory_equal(kp_tensor_data(x), data, sizeof data);
        kp_sequence_destroy(seq);
        kp_algorithm_destroy(a);
        kp_tensor_destroy(before);
        kp_tensor_destroy(x);
        kp_tensor_destroy(after);
        kp_tensor_destroy(where);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Prints
// ---------------------------------------------------------------------------------------------------------------------

typedef struct printed {
    char text[8192];
    size_t length;
    unsigned calls;
} printed;

static void collect(void *payload, const char *text, size_t length) {
    printed *p = payload;
    assert_int_equal(strlen(text), length);
    assert_true(p->length + length < sizeof p->text);
    memcpy(p->text + p->length, text, length + 1);
    p->length += length;
    p->calls++;
}

static void prints_come_in_the_order_of_the_invocations(void **state) {
    (void)state;
    static printed p;
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.print = collect, .print_payload = &p}, &mgr));
    int32_t data[40];
    char wanted[4096];
    size_t length = 0;
    for (int k = 0; k < 40; k++) {
        data[k] = k * k;
        for (int r = 0; r < k % 3; r++)
            length += (size_t)snprintf(wanted + length, sizeof wanted - length, "%d: %d, %d%%\n", k, data[k], r);
    }
    kp_tensor *x = numbers(mgr, data, 40);
    kp_algorithm *a = algorithm(mgr,
                                "def k(i: Index, x: Array[i32]):\n"
                                "    for r in range(i % 3):\n"
                                "        print(i, ': ', x[i], ', ', r, '%', sep='')\n",
                                x, "print");
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, a);
    for (int round = 1; round <= 2; round++) {
        p.length = 0;
        OK(kp_sequence_eval(seq));
        assert_string_equal(p.text, wanted);
        assert_int_equal(p.calls, round);
    }
    OK(kp_sequence_eval_async(seq));
    p.length = 0;
    OK(kp_sequence_await(seq, UINT64_MAX));
    assert_string_equal(p.text, wanted);
    kp_manager_destroy(mgr);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
}

static void prints_without_room_are_counted(void **state) {
    (void)state;
    static printed p;
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.print = collect, .print_payload = &p, .print_bytes = 100}, &mgr));
    int32_t data[40] = {0};
    kp_tensor *x = numbers(mgr, data, 40);
    kp_algorithm *a = algorithm(mgr, "def k(i: Index, x: Array[i32]):\n    print('', x[i])\n", x, "full");
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, a);
    OK(kp_sequence_eval(seq));
    assert_string_equal(p.text, " 0\n 0\n 0\n 0\n 0\n 0\n 0\n 0\n[full: 32 more prints found no room in 100 bytes]\n");
    kp_manager_destroy(mgr);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
}

static void prints_tell_their_places(void **state) {
    (void)state;
    static printed p;
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.print = collect, .print_payload = &p, .print_places = KP_ON}, &mgr));
    kp_tensor *x = numbers(mgr, (int32_t[]){7, 8}, 2);
    kp_algorithm *a = algorithm(mgr,
                                "def show(n):\n    print('shown', n)\n\n"
                                "def k(i: Index, x: Array[i32]):\n"
                                "    print('at', i, end=' ')\n"
                                "    show(x[i])\n",
                                x, "places");
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, a);
    OK(kp_sequence_eval(seq));
    assert_string_equal(p.text, "<kernel>:5: k: at 0 shown 7\n<kernel>:5: k: at 1 shown 8\n");
    kp_manager_destroy(mgr);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
}

static char last_line[256];

static void keep_line(void *payload, kp_log_level level, const char *message) {
    (void)payload;
    if (level == KP_LOG_INFO)
        snprintf(last_line, sizeof last_line, "%s", message);
}

static void without_a_function_prints_go_to_the_log(void **state) {
    kp_manager *mgr = *state;
    int32_t data[2] = {1, 2};
    kp_tensor *x = numbers(mgr, data, 2);
    kp_algorithm *a = algorithm(mgr, "def k(i: Index, x: Array[i32]):\n    print('line', x[i])\n", x, "log");
    kp_sequence *seq = gpu_sequence(mgr);
    dispatch(seq, x, a);
    kp_set_log(keep_line, NULL, KP_LOG_INFO);
    OK(kp_sequence_eval(seq));
    kp_set_log(NULL, NULL, KP_LOG_NONE);
    assert_string_equal(last_line, "<kernel>:2: k: line 2");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(a);
    kp_tensor_destroy(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(a_cut_loop_is_an_error_and_the_sequence_goes_on),
        GPU_BARE(without_regrouping_too),
        GPU_TEST(await_reports_the_first_that_was_cut),
        GPU_TEST(shaders_of_other_languages_too),
        GPU_TEST(faults_have_place_invocation_and_numbers),
        GPU_TEST(a_fault_ends_its_invocation_alone),
        GPU_TEST(the_first_dispatch_with_a_fault_is_reported),
        GPU_TEST(nothing_is_written_out_of_range),
        GPU_BARE(prints_come_in_the_order_of_the_invocations),
        GPU_BARE(prints_without_room_are_counted),
        GPU_BARE(prints_tell_their_places),
        GPU_TEST(without_a_function_prints_go_to_the_log),
    };
    return gpu_run("faults", tests);
}
