// memory.c - how many device allocations do many small tensors cost? A driver may allow only 4,096 in all. The peer is
// one allocation a tensor.
#include "bench.h"

#include <stdlib.h>

enum { TENSORS = 10000, BYTES = 64 };

int main(int argc, char **argv) {
    bench_init("memory", argc, argv);
    kp_manager *manager;
    kp_memory_stats before, during, after;
    kp_tensor **tensors = calloc(TENSORS, sizeof *tensors);
    bench_require(tensors != NULL, "calloc");
    bench_check(kp_manager_create(NULL, &manager));
    bench_check(kp_manager_memory(manager, &before));

    double start = bench_now();
    for (int i = 0; i < TENSORS; i++) {
        bench_check(kp_tensor_create(manager, &(kp_tensor_desc){.count = BYTES / sizeof(float)}, &tensors[i]));
    }
    double created = bench_now();
    bench_check(kp_manager_memory(manager, &during));
    for (int i = 0; i < TENSORS; i++) {
        kp_tensor_destroy(tensors[i]);
    }
    double destroyed = bench_now();
    bench_check(kp_manager_memory(manager, &after));

    double value = during.allocations - before.allocations, peer = TENSORS;
    bench_report(&(bench_row){.question = "device allocations of 10,000 tensors of 64 bytes",
                              .peer = "one a tensor",
                              .unit = "allocations",
                              .limit = BENCH_KP_AT_MOST,
                              .value = 8},
                 &value, &peer, 1);
    value = (double)(during.reserved - before.reserved) / TENSORS;
    peer = BYTES;
    bench_report(&(bench_row){.question = "device bytes reserved for each", .peer = "its own bytes", .unit = "bytes"},
                 &value, &peer, 1);
    value = (double)after.used - (double)before.used;
    bench_report(
        &(bench_row){
            .question = "bytes in use once they are destroyed", .unit = "bytes", .limit = BENCH_KP_AT_MOST, .value = 0},
        &value, NULL, 1);
    bench_note("one tensor: created in %.2f us, destroyed in %.2f us", 1e6 * (created - start) / TENSORS,
               1e6 * (destroyed - created) / TENSORS);
    kp_manager_destroy(manager);
    free(tensors);
    return 0;
}
