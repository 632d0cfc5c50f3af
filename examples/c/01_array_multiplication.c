// 01 array multiplication: the article's first program. You should see
//
//     2 4 6

#include "example.h"

int main(void) {
    // 1. A manager for the best device.
    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));

    // 2, 3. Tensors: two inputs, one output. float32 unless you say otherwise.
    kp_tensor *a, *b, *out;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){2, 2, 2}}, &a));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &b));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3}, &out));

    // 4. The code that runs on the device, once for each index.
    kp_program *program;
    check(kp_compile("def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):\n"
                     "    out[i] = a[i] * b[i]\n",
                     NULL, &program));
    kp_algorithm *multiply;
    check(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = program, .memory = (kp_memory *[]){a, b, out}, .memory_count = 3},
        &multiply));

    // 5, 6. Copy the inputs to the device, run it, bring the result back.
    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, (kp_memory *[]){a, b}, 2));
    check(kp_record_dispatch(seq, multiply, NULL));
    check(kp_record_sync_local(seq, &out, 1));
    check(kp_sequence_eval(seq));

    // 7. Print it.
    const float *result = kp_tensor_data(out);
    printf("%g %g %g\n", result[0], result[1], result[2]);

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(multiply);
    kp_program_destroy(program);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
    kp_tensor_destroy(out);
    kp_manager_destroy(mgr);
    return 0;
}
