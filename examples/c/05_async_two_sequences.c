// 05 two sequences at once: both are submitted before either is waited for, and the program is free to do something
// else meanwhile. You should see
//
//     running: 1 1
//     sums: 499500 1998000

#include "example.h"

enum { COUNT = 1000 };

// out[i] = a * i, over a sequence of its own.
typedef struct job {
    kp_tensor *out;
    kp_algorithm *algorithm;
    kp_sequence *sequence;
} job;

static void start(kp_manager *mgr, const kp_program *program, float a, job *j) {
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = COUNT}, &j->out));
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = program, .memory = &j->out, .memory_count = 1, .push = &a, .push_size = sizeof a},
        &j->algorithm));
    check(kp_sequence_create(mgr, NULL, &j->sequence));
    check(kp_record_dispatch(j->sequence, j->algorithm, NULL));
    check(kp_record_sync_local(j->sequence, &j->out, 1));
    check(kp_sequence_eval_async(j->sequence));
}

static double finish(job *j) {
    check(kp_sequence_await(j->sequence, UINT64_MAX));
    const float *out = kp_tensor_data(j->out);
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += out[i];
    }
    kp_sequence_destroy(j->sequence);
    kp_algorithm_destroy(j->algorithm);
    kp_tensor_destroy(j->out);
    return sum;
}

int main(void) {
    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_program *program;
    check(kp_compile("def scale(i: Index, a: f32, out: Array[f32]):\n"
                     "    out[i] = a * f32(i)\n",
                     NULL, &program));

    job one, two;
    start(mgr, program, 1, &one);
    start(mgr, program, 4, &two);
    printf("running: %d %d\n", kp_sequence_is_running(one.sequence), kp_sequence_is_running(two.sequence));

    double second = finish(&two), first = finish(&one); // in any order
    printf("sums: %.0f %.0f\n", first, second);

    kp_program_destroy(program);
    kp_manager_destroy(mgr);
    return 0;
}
