// What a kernel tells the host: that lavapipe cut its loops (docs/drivers.md). Everywhere else these kernels are right.
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
    assert_memory_equal(kp_tensor_data(x), wanted, kp_tensor_bytes(x));
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
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(a_cut_loop_is_an_error_and_the_sequence_goes_on),
        GPU_BARE(without_regrouping_too),
        GPU_TEST(await_reports_the_first_that_was_cut),
        GPU_TEST(shaders_of_other_languages_too),
    };
    return gpu_run("faults", tests);
}
