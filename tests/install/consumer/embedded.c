// A program whose kernels were compiled when it was built, by kp_add_kernels: ((x * 2) + 1) squared.
#include "square-of.kernel.h"
#include "tables.kernel.h"

#include <kp/kp.h>
#include <stdio.h>

static kp_result run(kp_manager *mgr, kp_tensor *x, const kp_program *program, float *push) {
    kp_algorithm *algorithm = NULL;
    kp_sequence *seq = NULL;
    kp_result result = kp_algorithm_create(mgr,
                                           &(kp_algorithm_desc){.program = program,
                                                                .memory = (kp_memory *[]){x},
                                                                .memory_count = 1,
                                                                .push = push,
                                                                .push_size = push != NULL ? sizeof *push : 0},
                                           &algorithm);
    if (result == KP_OK)
        result = kp_sequence_create(mgr, NULL, &seq);
    if (result == KP_OK)
        result = kp_record_dispatch(seq, algorithm, NULL);
    if (result == KP_OK)
        result = kp_sequence_eval(seq);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(algorithm);
    return result;
}

static kp_result sync(kp_manager *mgr, kp_tensor *x, bool up) {
    kp_sequence *seq = NULL;
    kp_result result = kp_sequence_create(mgr, NULL, &seq);
    if (result == KP_OK)
        result = up ? kp_record_sync_device(seq, &x, 1) : kp_record_sync_local(seq, &x, 1);
    if (result == KP_OK)
        result = kp_sequence_eval(seq);
    kp_sequence_destroy(seq);
    return result;
}

int main(void) {
    kp_manager *mgr = NULL;
    kp_tensor *x = NULL;
    float one = 1;
    bool fine = kp_manager_create(NULL, &mgr) == KP_OK &&
                kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &x) == KP_OK &&
                sync(mgr, x, true) == KP_OK && run(mgr, x, &twice_program, NULL) == KP_OK &&
                run(mgr, x, &plus_program, &one) == KP_OK && run(mgr, x, &square_of_program, NULL) == KP_OK &&
                sync(mgr, x, false) == KP_OK;
    if (fine) {
        const float *out = kp_tensor_data(x);
        printf("%g %g %g\n", (double)out[0], (double)out[1], (double)out[2]);
    } else {
        fprintf(stderr, "%s\n", kp_last_error());
    }
    kp_tensor_destroy(x);
    kp_manager_destroy(mgr);
    return fine ? 0 : 1;
}
