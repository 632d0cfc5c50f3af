// 03 saxpy with push constants: a number that a kernel takes beside its arrays, another one at each dispatch, without
// compiling or making anything again. Each dispatch sees what the one before it wrote. You should see
//
//     12 24 36
//     1012 2024 3036

#include "example.h"

static void print(const kp_tensor *tensor) {
    const float *v = kp_tensor_data(tensor);
    printf("%g %g %g\n", v[0], v[1], v[2]);
}

int main(void) {
    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_tensor *x, *y;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &x));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){10, 20, 30}}, &y));

    kp_program *program;
    check(kp_compile("def saxpy(i: Index, a: f32, x: Array[f32], y: Array[f32]):\n"
                     "    y[i] = a * x[i] + y[i]\n",
                     NULL, &program));
    float a = 2; // the default of the algorithm's dispatches
    kp_algorithm *saxpy;
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = program, .memory = (kp_memory *[]){x, y}, .memory_count = 2, .push = &a, .push_size = sizeof a},
        &saxpy));

    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, (kp_memory *[]){x, y}, 2));
    check(kp_record_dispatch(seq, saxpy, NULL));
    check(kp_record_sync_local(seq, &y, 1));
    check(kp_sequence_eval(seq));
    print(y);

    // Recording after an evaluation starts afresh: y stays on the device, and a is 400, then 600.
    check(kp_record_dispatch(seq, saxpy, &(kp_dispatch_desc){.push = &(float){400}, .push_size = sizeof a}));
    check(kp_record_dispatch(seq, saxpy, &(kp_dispatch_desc){.push = &(float){600}, .push_size = sizeof a}));
    check(kp_record_sync_local(seq, &y, 1));
    check(kp_sequence_eval(seq));
    print(y);

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(saxpy);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    kp_manager_destroy(mgr);
    return 0;
}
