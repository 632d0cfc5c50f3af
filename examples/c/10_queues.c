// 10 two long pieces of work that share nothing: one after the other, then both at once, on two queues (drivers for the
// CPU have one, which is both then). kp orders what depends on each other and leaves alone what does not. You
// should see three times and
//
//     results: 2 2

#include "example.h"

#include <time.h>

enum { COUNT = 64, STEPS = 20000 };

typedef struct job {
    kp_tensor *x;
    kp_algorithm *algorithm;
    kp_sequence *sequence;
} job;

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void open_job(kp_manager *mgr, const kp_program *program, uint32_t queue, job *j) {
    const int32_t steps = STEPS;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = COUNT}, &j->x));
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = program, .memory = &j->x, .memory_count = 1, .push = &steps, .push_size = sizeof steps},
        &j->algorithm));
    check(kp_sequence_create(mgr, &(kp_sequence_desc){.queue = queue}, &j->sequence));
    check(kp_record_sync_device(j->sequence, &j->x, 1));
    check(kp_record_dispatch(j->sequence, j->algorithm, NULL));
    check(kp_record_sync_local(j->sequence, &j->x, 1));
    check(kp_sequence_eval(j->sequence)); // once, so that nothing but the work is timed
}

static void close_job(job *j) {
    kp_sequence_destroy(j->sequence);
    kp_algorithm_destroy(j->algorithm);
    kp_tensor_destroy(j->x);
}

int main(void) {
    kp_manager *mgr;
    const uint32_t uses[] = {KP_FAMILY_COMPUTE, KP_FAMILY_COMPUTE};
    check(kp_manager_create(&(kp_manager_desc){.queue_families = uses, .queue_family_count = 2}, &mgr));
    kp_program *program;
    check(kp_compile("def long_work(i: Index, x: Array[f32], steps: i32):\n"
                     "    value = x[i]\n"
                     "    for _ in range(steps):\n"
                     "        value = value * 0.5 + 1.0\n"
                     "    x[i] = value\n",
                     NULL, &program));
    job one, two;
    open_job(mgr, program, 0, &one);
    open_job(mgr, program, 1, &two);

    double start = now();
    check(kp_sequence_eval(one.sequence));
    check(kp_sequence_eval(two.sequence));
    double middle = now();
    check(kp_sequence_eval_async(one.sequence));
    check(kp_sequence_eval_async(two.sequence));
    check(kp_sequence_await(one.sequence, UINT64_MAX));
    check(kp_sequence_await(two.sequence, UINT64_MAX));
    double end = now();

    printf("one after the other: %.2f ms\n", middle - start);
    printf("at once, on %u queue(s): %.2f ms\n", kp_manager_queue_count(mgr), end - middle);
    printf("results: %g %g\n", (double)((float *)kp_tensor_data(one.x))[0],
           (double)((float *)kp_tensor_data(two.x))[63]);
    close_job(&one);
    close_job(&two);
    kp_program_destroy(program);
    kp_manager_destroy(mgr);
    return 0;
}
