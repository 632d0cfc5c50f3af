// 21 semaphores: two sequences are submitted at once and run in an order that kp does not know of, since the host has
// its part in it. A timeline is a number that goes up; evaluations wait for it and set it, and the host does too. A
// device that has none says so. You should see
//
//     submitted, and the timeline is at 0
//     the host goes on at 1, and the last one is done at 3
//     first 5, second 10

#include "example.h"

#include <kp/external.h>

int main(void) {
    kp_manager *mgr;
    kp_semaphore *timeline;
    check(kp_manager_create(NULL, &mgr));
    kp_result result = kp_semaphore_create(mgr, &(kp_semaphore_desc){.label = "steps"}, &timeline);
    if (result == KP_ERROR_UNSUPPORTED) {
        printf("not on this device: %s\n", kp_last_error());
        return 77;
    }
    check(result);

    kp_tensor *first, *second;
    kp_program *program;
    kp_algorithm *twice;
    kp_sequence *fill, *work;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 4}, &first));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 4}, &second));
    check(kp_compile("def twice(i: Index, x: Array[f32], y: Array[f32]):\n"
                     "    y[i] = 2.0 * x[i]\n",
                     NULL, &program));
    check(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = program, .memory = (kp_memory *[]){first, second}, .memory_count = 2},
        &twice));
    check(kp_sequence_create(mgr, NULL, &fill));
    check(kp_record_fill(fill, first, &(float){5}));
    check(kp_record_sync_local(fill, &first, 1));
    check(kp_sequence_create(mgr, NULL, &work));
    check(kp_record_dispatch(work, twice, NULL));
    check(kp_record_sync_local(work, &second, 1));

    // From 1 on the first one may run, and makes it 2; that starts the second one, which makes it 3.
    check(kp_sequence_submit(fill, &(kp_submit_desc){.waits = &(kp_semaphore_point){timeline, 1},
                                                     .wait_count = 1,
                                                     .signals = &(kp_semaphore_point){timeline, 2},
                                                     .signal_count = 1}));
    check(kp_sequence_submit(work, &(kp_submit_desc){.waits = &(kp_semaphore_point){timeline, 2},
                                                     .wait_count = 1,
                                                     .signals = &(kp_semaphore_point){timeline, 3},
                                                     .signal_count = 1}));
    uint64_t value;
    check(kp_semaphore_value(timeline, &value));
    printf("submitted, and the timeline is at %d\n", (int)value);
    check(kp_semaphore_signal(timeline, 1));
    check(kp_semaphore_wait(timeline, 3, UINT64_MAX));
    check(kp_semaphore_value(timeline, &value));
    printf("the host goes on at 1, and the last one is done at %d\n", (int)value);
    check(kp_sequence_await(fill, UINT64_MAX));
    check(kp_sequence_await(work, UINT64_MAX));
    printf("first %g, second %g\n", (double)*(const float *)kp_tensor_data(first),
           (double)*(const float *)kp_tensor_data(second));

    kp_manager_destroy(mgr);
    kp_semaphore_destroy(timeline);
    kp_sequence_destroy(fill);
    kp_sequence_destroy(work);
    kp_algorithm_destroy(twice);
    kp_program_destroy(program);
    kp_tensor_destroy(first);
    kp_tensor_destroy(second);
    return 0;
}
