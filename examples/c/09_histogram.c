// 09 a histogram: each workgroup counts in its shared memory, and adds its counts to the buffer's by atomics. The
// number of bins is a specialization constant, the size of a workgroup is said when the kernel is compiled. You should
// see
//
//     0: 25
//     1: 25
//     2: 25
//     3: 25

#include "example.h"

static const char *const source =
    "def histogram(i: Index, t: LocalIndex, bins: Const[i32], x: Array[u32], counts: Array[u32]):\n"
    "    mine = shared(u32, bins)\n"
    "    if t < bins:\n"
    "        mine[t] = 0\n"
    "    barrier()\n"
    "    if i < len(x):\n" // the last workgroup reaches beyond the end
    "        atomic_add(mine, x[i], 1)\n"
    "    barrier()\n"
    "    if t < bins:\n"
    "        atomic_add(counts, t, mine[t])\n";

int main(void) {
    enum { COUNT = 100, BINS = 4 };
    uint32_t values[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        values[i] = i % BINS;

    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_tensor *x, *counts;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT, .data = values}, &x));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = BINS}, &counts));

    kp_program *program;
    check(kp_compile(source, &(kp_compile_desc){.local_size = {64}}, &program));
    kp_algorithm *histogram;
    check(kp_algorithm_create(mgr,
                              &(kp_algorithm_desc){
                                  .program = program,
                                  .memory = (kp_memory *[]){x, counts},
                                  .memory_count = 2,
                                  .extent = {COUNT},
                                  .specs = &(kp_spec){.id = 0, .dtype = KP_I32, .value = &(int32_t){BINS}},
                                  .spec_count = 1,
                              },
                              &histogram));

    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, (kp_memory *[]){x, counts}, 2));
    check(kp_record_dispatch(seq, histogram, NULL));
    check(kp_record_sync_local(seq, &counts, 1));
    check(kp_sequence_eval(seq));
    const uint32_t *c = kp_tensor_data(counts);
    for (unsigned i = 0; i < BINS; i++)
        printf("%u: %u\n", i, (unsigned)c[i]);

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(histogram);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
    kp_tensor_destroy(counts);
    kp_manager_destroy(mgr);
    return 0;
}
