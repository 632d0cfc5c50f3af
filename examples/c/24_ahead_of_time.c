// 24 kernels that are compiled when the program is built: 24_kernels.py is the kernels' text, kp_add_kernels in
// CMakeLists.txt has them compiled, and what comes of it is a header with the words, the parameters, and the struct as
// C has it. The program does without the compiler then, and without the text. You should see
//
//     2 of 5 weights are above the limit
//     scaled: 10 20 30 40 50

#include "24_kernels.kernel.h"
#include "example.h"

int main(void) {
    kp_manager *mgr;
    kp_tensor *x, *found;
    kp_algorithm *scale, *above;
    kp_sequence *seq;
    check(kp_manager_create(NULL, &mgr));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 5, .data = (float[]){1, 2, 3, 4, 5}}, &x));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 1}, &found));
    const float factor = 10, limit = 3;
    check(kp_algorithm_create(mgr,
                              &(kp_algorithm_desc){.program = &above_program,
                                                   .memory = (kp_memory *[]){x, found},
                                                   .memory_count = 2,
                                                   .extent = {5, 1, 1},
                                                   .push = &limit,
                                                   .push_size = sizeof limit},
                              &above));
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = &scale_program, .memory = &x, .memory_count = 1, .push = &factor, .push_size = sizeof factor},
        &scale));
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, (kp_memory *[]){x, found}, 2));
    check(kp_record_dispatch(seq, above, NULL));
    check(kp_record_dispatch(seq, scale, NULL));
    check(kp_record_sync_local(seq, (kp_memory *[]){x, found}, 2));
    check(kp_sequence_eval(seq));
    const float *data = kp_tensor_data(x);
    printf("%u of 5 weights are above the limit\n", *(const unsigned *)kp_tensor_data(found));
    printf("scaled: %g %g %g %g %g\n", (double)data[0], (double)data[1], (double)data[2], (double)data[3],
           (double)data[4]);

    kp_manager_destroy(mgr);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(scale);
    kp_algorithm_destroy(above);
    kp_tensor_destroy(x);
    kp_tensor_destroy(found);
    return 0;
}
