// soak.c - does memory grow as a sequence is evaluated again and again? Resident memory before and after, beside the
// same number of submissions by hand, since a driver may keep something too.
#include "bench.h"
#include "raw.h"

#include <stdio.h>
#include <unistd.h>

enum { ELEMENTS = 16 };

static const char kernel[] = "def grow(i: Index, x: Array[f32]):\n"
                             "    x[i] = x[i] + 1.0\n";

// KiB of memory that the process has in RAM.
static double resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    bench_require(file != NULL && fscanf(file, "%*s %ld", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

int main(int argc, char **argv) {
    bench_init("soak", argc, argv);
    size_t evaluations = bench_option("evaluations", bench_fewer(100000));
    kp_manager *manager;
    kp_program *program;
    kp_tensor *x;
    kp_algorithm *algorithm;
    kp_sequence *sequence;
    bench_check(kp_manager_create(&(kp_manager_desc){.regroup = KP_OFF}, &manager));
    bench_check(kp_compile(kernel, NULL, &program));
    bench_check(kp_tensor_create(manager, &(kp_tensor_desc){.count = ELEMENTS}, &x));
    bench_check(kp_algorithm_create(manager, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1},
                                    &algorithm));
    bench_check(kp_sequence_create(manager, NULL, &sequence));
    bench_check(kp_record_sync_device(sequence, &x, 1));
    bench_check(kp_record_dispatch(sequence, algorithm, NULL));
    bench_check(kp_record_sync_local(sequence, &x, 1));

    raw vk;
    raw_pipeline pipeline;
    raw_commands commands;
    raw_adopt(&vk, manager);
    raw_pipeline_create(
        &vk, &(raw_pipeline_desc){.program = program, .entry = "main", .tensors = &x, .tensor_count = 1}, &pipeline);
    raw_commands_begin(&vk, &commands);
    raw_dispatch(&vk, &commands, &pipeline, NULL, 0, ELEMENTS, 1, 1);
    raw_barrier_host(&vk, &commands);
    raw_commands_end(&vk, &commands);

    for (size_t i = 0; i < evaluations / 10; i++) { // until allocators and drivers have what they keep
        bench_check(kp_sequence_eval(sequence));
        raw_run(&vk, &commands, 0);
    }
    double start = resident();
    for (size_t i = 0; i < evaluations; i++) {
        raw_run(&vk, &commands, 0);
    }
    double peer = resident() - start;
    start = resident();
    for (size_t i = 0; i < evaluations; i++) {
        bench_check(kp_sequence_eval(sequence));
    }
    double grown = resident() - start;

    char question[80];
    snprintf(question, sizeof question, "resident memory gained in %zu evaluations", evaluations);
    bench_row row = {.question = question, .unit = "KiB", .limit = BENCH_KP_AT_MOST, .value = 64};
    bench_report(&row, &grown, NULL, 1);
    row = (bench_row){.question = "the same by hand, without kp", .unit = "KiB"};
    bench_report(&row, &peer, NULL, 1);

    raw_commands_destroy(&vk, &commands);
    raw_pipeline_destroy(&vk, &pipeline);
    kp_sequence_destroy(sequence);
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(x);
    kp_program_destroy(program);
    kp_manager_destroy(manager);
    return 0;
}
