// 20 work that changes without being recorded again: other memory, other constants and another launch of an algorithm
// reach the sequence that recorded it, and so does what its tensors hold. You should see
//
//     recorded once:    3 6 9
//     another factor:   -3 -6 -9
//     another tensor:   -10 -20 -30
//     the first alone:  10 -20 -30
//     another power:    100 -20 -30

#include "example.h"

static void show(const char *what, kp_sequence *seq, const kp_tensor *x) {
    check(kp_sequence_eval(seq)); // replays: nothing is recorded here
    const float *data = kp_tensor_data(x);
    printf("%-18s%g %g %g\n", what, (double)data[0], (double)data[1], (double)data[2]);
}

int main(void) {
    kp_manager *mgr;
    kp_tensor *x[2];
    kp_program *program;
    kp_algorithm *change;
    kp_sequence *seq;
    check(kp_manager_create(NULL, &mgr));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &x[0]));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){10, 20, 30}}, &x[1]));
    check(kp_compile("def change(i: Index, power: Const[i32], by: f32, x: Array[f32]):\n"
                     "    y = by\n"
                     "    for _ in range(power):\n"
                     "        y *= x[i]\n"
                     "    x[i] = y\n",
                     NULL, &program));
    check(kp_algorithm_create(mgr,
                              &(kp_algorithm_desc){.program = program,
                                                   .memory = x,
                                                   .memory_count = 1,
                                                   .push = &(float){3},
                                                   .push_size = sizeof(float),
                                                   .specs = &(kp_spec){0, KP_I32, &(int32_t){1}},
                                                   .spec_count = 1},
                              &change));
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, x, 2));
    check(kp_record_dispatch(seq, change, NULL));
    check(kp_record_sync_local(seq, x, 2));
    show("recorded once:", seq, x[0]);

    check(kp_algorithm_set_push(change, &(float){-1}, sizeof(float)));
    show("another factor:", seq, x[0]);

    check(kp_algorithm_bind(change, &x[1], 1));
    show("another tensor:", seq, x[1]);

    check(kp_algorithm_set_launch(change, NULL, (uint32_t[]){1, 1, 1}));
    show("the first alone:", seq, x[1]);

    // A specialization constant is part of the machine code: this one makes a pipeline, unless there was one already.
    check(kp_algorithm_set_push(change, &(float){1}, sizeof(float)));
    check(kp_algorithm_set_specs(change, &(kp_spec){0, KP_I32, &(int32_t){2}}, 1));
    show("another power:", seq, x[1]);

    kp_manager_destroy(mgr);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(change);
    kp_program_destroy(program);
    kp_tensor_destroy(x[0]);
    kp_tensor_destroy(x[1]);
    return 0;
}
