// A program of someone who has kp installed: doubles three numbers on whatever device there is.
#include <kp/kp.h>
#include <stdio.h>

int main(void) {
    kp_manager *mgr = NULL;
    kp_tensor *x = NULL, *y = NULL;
    kp_program *program = NULL;
    kp_algorithm *twice = NULL;
    kp_sequence *seq = NULL;

    bool fine = kp_manager_create(NULL, &mgr) == KP_OK &&
                kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &x) == KP_OK &&
                kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3}, &y) == KP_OK &&
                kp_compile("def twice(i: Index, x: Array[f32], y: Array[f32]):\n"
                           "    y[i] = 2.0 * x[i]\n",
                           NULL, &program) == KP_OK &&
                kp_algorithm_create(
                    mgr, &(kp_algorithm_desc){.program = program, .memory = (kp_memory *[]){x, y}, .memory_count = 2},
                    &twice) == KP_OK &&
                kp_sequence_create(mgr, NULL, &seq) == KP_OK && kp_record_sync_device(seq, &x, 1) == KP_OK &&
                kp_record_dispatch(seq, twice, NULL) == KP_OK && kp_record_sync_local(seq, &y, 1) == KP_OK &&
                kp_sequence_eval(seq) == KP_OK;
    if (fine) {
        const float *out = kp_tensor_data(y);
        printf("kp %s: %g %g %g\n", kp_version(), (double)out[0], (double)out[1], (double)out[2]);
    } else {
        fprintf(stderr, "%s\n", kp_last_error());
    }
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(twice);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    kp_manager_destroy(mgr);
    return fine ? 0 : 1;
}
