// 18 a launch that the device decides: one kernel picks what is left to do, and the number of workgroups of the next
// comes from the tensor that it counts in. The host learns how much there was only when all is done. You should see
//
//     3 above the limit: 2 200 3 300 400

#include "example.h"

enum { COUNT = 5 };

static const char *const source =
    "def pick(i: Index, limit: i32, values: Array[i32], counts: Array[u32], todo: Array[i32]):\n"
    "    if values[i] > limit:\n"
    "        todo[atomic_add(counts, 0, 1)] = i\n";

static const char *const second = "def shrink(i: Index, todo: Array[i32], values: Array[i32]):\n"
                                  "    values[todo[i]] = values[todo[i]] // 10\n";

int main(void) {
    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_tensor *values, *counts, *todo;
    check(kp_tensor_create(
        mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = COUNT, .data = (int32_t[]){2, 2000, 3, 3000, 4000}}, &values));
    check(
        kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 3, .data = (uint32_t[]){0, 1, 1}}, &counts));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = COUNT}, &todo));

    kp_program *programs[2];
    kp_algorithm *pick, *shrink;
    check(kp_compile(source, NULL, &programs[0]));
    check(kp_compile(second, NULL, &programs[1]));
    check(kp_algorithm_create(mgr,
                              &(kp_algorithm_desc){.program = programs[0],
                                                   .memory = (kp_memory *[]){values, counts, todo},
                                                   .memory_count = 3,
                                                   .push = &(int32_t){100},
                                                   .push_size = sizeof(int32_t)},
                              &pick));
    check(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = programs[1], .memory = (kp_memory *[]){todo, values}, .memory_count = 2},
        &shrink));

    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, (kp_memory *[]){values, counts}, 2));
    check(kp_record_dispatch(seq, pick, NULL));
    check(kp_record_dispatch_indirect(seq, shrink, counts, 0, NULL));
    check(kp_record_sync_local(seq, (kp_memory *[]){values, counts}, 2));
    check(kp_sequence_eval(seq));
    const uint32_t *c = kp_tensor_data(counts);
    const int32_t *v = kp_tensor_data(values);
    printf("%u above the limit: %d %d %d %d %d\n", (unsigned)c[0], v[0], v[1], v[2], v[3], v[4]);

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(pick);
    kp_algorithm_destroy(shrink);
    kp_program_destroy(programs[0]);
    kp_program_destroy(programs[1]);
    kp_tensor_destroy(values);
    kp_tensor_destroy(counts);
    kp_tensor_destroy(todo);
    kp_manager_destroy(mgr);
    return 0;
}
