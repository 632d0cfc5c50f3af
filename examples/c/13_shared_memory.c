// 13 one tensor in two managers, as two processes or two libraries would share it: the first exports its memory as a
// file descriptor, the second imports that, and a kernel of the second changes what the first sees. A device that
// cannot says so. You should see
//
//     2 4 6

#include "example.h"

#include <kp/external.h>
#include <unistd.h>

int main(void) {
    kp_manager *ours, *theirs;
    check(kp_manager_create(NULL, &ours));
    check(kp_manager_create(NULL, &theirs));

    kp_tensor *x, *same;
    kp_result result = kp_tensor_create(
        ours, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}, .exported = KP_HANDLE_OPAQUE_FD}, &x);
    if (result == KP_ERROR_UNSUPPORTED) {
        printf("not on this device: %s\n", kp_last_error());
        return 77;
    }
    check(result);

    // Another process would get the struct and the descriptor through a socket; CUDA takes fd, size and offset.
    kp_external_memory memory;
    check(kp_tensor_export(x, &memory));
    check(kp_tensor_import(theirs, &memory, &(kp_tensor_desc){.count = 3}, &same));
    close(memory.fd); // both sides have their own

    kp_sequence *up, *work, *down;
    check(kp_sequence_create(ours, NULL, &up));
    check(kp_record_sync_device(up, &x, 1));
    check(kp_sequence_eval(up));

    kp_program *program;
    kp_algorithm *twice;
    check(kp_compile("def twice(i: Index, x: Array[f32]):\n"
                     "    x[i] = 2.0 * x[i]\n",
                     NULL, &program));
    check(kp_algorithm_create(theirs, &(kp_algorithm_desc){.program = program, .memory = &same, .memory_count = 1},
                              &twice));
    check(kp_sequence_create(theirs, NULL, &work));
    check(kp_record_dispatch(work, twice, NULL));
    check(kp_sequence_eval(work)); // done when this returns; kp_sequence_submit takes semaphores instead

    check(kp_sequence_create(ours, NULL, &down));
    check(kp_record_sync_local(down, &x, 1));
    check(kp_sequence_eval(down));
    const float *data = kp_tensor_data(x);
    printf("%g %g %g\n", (double)data[0], (double)data[1], (double)data[2]);

    kp_manager_destroy(theirs);
    kp_manager_destroy(ours);
    kp_sequence_destroy(up);
    kp_sequence_destroy(work);
    kp_sequence_destroy(down);
    kp_algorithm_destroy(twice);
    kp_program_destroy(program);
    kp_tensor_destroy(same);
    kp_tensor_destroy(x);
    return 0;
}
