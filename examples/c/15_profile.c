// 15 where the time goes: a sequence with timestamps, and how long the device took for each op. A device without
// timestamps says so. You should see a line an op, such as
//
//     sync_device 'x'            2.1 us
//     dispatch 'heavy'        1405.3 us

#include "example.h"

enum { COUNT = 100000, OPS = 3 };

int main(void) {
    kp_manager *mgr;
    kp_device_info device;
    check(kp_manager_create(NULL, &mgr));
    check(kp_manager_device(mgr, &device));
    if (!device.timestamps) {
        printf("%s has no timestamps\n", device.name);
        kp_manager_destroy(mgr);
        return 77;
    }

    kp_tensor *x;
    kp_program *program;
    kp_algorithm *heavy;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = COUNT, .label = "x"}, &x));
    check(kp_compile("def heavy(i: Index, x: Array[f32]):\n"
                     "    value = x[i]\n"
                     "    for _ in range(200):\n"
                     "        value = value * 0.5 + 1.0\n"
                     "    x[i] = value\n",
                     NULL, &program));
    check(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1}, &heavy));

    kp_sequence *seq;
    check(kp_sequence_create(mgr, &(kp_sequence_desc){.timestamps = OPS}, &seq));
    check(kp_record_sync_device(seq, &x, 1));
    check(kp_record_dispatch(seq, heavy, NULL));
    check(kp_record_sync_local(seq, &x, 1));
    check(kp_sequence_eval(seq));

    uint64_t ticks[OPS + 1]; // one at the start, then one after each op
    size_t count;
    check(kp_sequence_timestamps(seq, ticks, OPS + 1, &count));
    for (size_t i = 0; i + 1 < count; i++) {
        char name[64];
        check(kp_sequence_op_name(seq, i, name, sizeof name));
        printf("%-20s %10.1f us\n", name, 1e-3 * device.timestamp_period * (double)(ticks[i + 1] - ticks[i]));
    }

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(heavy);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
    kp_manager_destroy(mgr);
    return 0;
}
