// multiply.c - how fast does out = a * b run? GB/s over the three arrays, dispatches only: the data is on the device
// and stays there.
//
//     multiply [--elements N] [--dispatches N] [--sweep]
//
// Wall clock over many dispatches in one sequence, and the device's own timestamps around each. The peer is what the
// driver's copy command moves between two of the arrays. --sweep times the compiled module by hand in every launch
// setting of the contract in src/base/launch.h: what to look at when the runtime's choice for a device is in question.
#include "bench.h"
#include "raw.h"

#include <stdlib.h>
#include <string.h>

// What the module offers and the ids by which it is asked (src/base/launch.h).
#define BLOCKS_ENTRY "kp_blocks"
enum { SPEC_LOCAL_X = 0x6B700000, SPEC_ITEMS = SPEC_LOCAL_X + 3, SPEC_ADJACENT = SPEC_LOCAL_X + 4 };

// a = 2 or 3 and b = 1 to 5 by index: nothing is copied up, yet every product is known.
static const char kernels[] = "def fill(i: Index, a: Array[f32], b: Array[f32]):\n"
                              "    a[i] = f32(2 + i % 2)\n"
                              "    b[i] = f32(1 + i % 5)\n"
                              "\n"
                              "def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):\n"
                              "    out[i] = a[i] * b[i]\n"
                              "\n"
                              "def pick(i: Index, stride: i32, out: Array[f32], picked: Array[f32]):\n"
                              "    picked[i] = out[i * stride]\n";

enum { PICKED = 1021 };

typedef struct arrays {
    kp_manager *manager;
    uint32_t count;                // elements of each
    size_t dispatches;             // in a sequence or command buffer
    kp_tensor *tensors[3];         // a, b, out
    kp_program *program;           // multiply
    kp_sequence *sequence;         // `dispatches` times multiply
    kp_device_info device;         //
    raw vk;                        //
    raw_commands copies, commands; // `dispatches` copies; one launch setting of the sweep
} arrays;

static kp_program *compile(const char *kernel) {
    kp_program *program;
    bench_check(kp_compile(kernels, &(kp_compile_desc){.kernel = kernel}, &program));
    return program;
}

static kp_algorithm *new_algorithm(arrays *s, const kp_program *program, kp_tensor *const *tensors, size_t count,
                                   const void *push, size_t push_size) {
    kp_algorithm *algorithm;
    bench_check(kp_algorithm_create(s->manager,
                                    &(kp_algorithm_desc){.program = program,
                                                         .memory = tensors,
                                                         .memory_count = count,
                                                         .extent = {(uint32_t)kp_tensor_count(tensors[count - 1])},
                                                         .push = push,
                                                         .push_size = push_size},
                                    &algorithm));
    return algorithm;
}

// Runs `kernel` once over the last of `tensors`, which comes back to the host side when it has one.
static void run_once(arrays *s, const char *kernel, kp_tensor *const *tensors, size_t count, const void *push,
                     size_t push_size) {
    kp_program *program = compile(kernel);
    kp_algorithm *algorithm = new_algorithm(s, program, tensors, count, push, push_size);
    kp_sequence *sequence;
    bench_check(kp_sequence_create(s->manager, NULL, &sequence));
    bench_check(kp_record_dispatch(sequence, algorithm, NULL));
    if (kp_tensor_memory_type(tensors[count - 1]) != KP_MEMORY_STORAGE) {
        bench_check(kp_record_sync_local(sequence, &tensors[count - 1], 1));
    }
    bench_check(kp_sequence_eval(sequence));
    kp_sequence_destroy(sequence);
    kp_algorithm_destroy(algorithm);
    kp_program_destroy(program);
}

// Looks at PICKED products, spread over the whole of `out`.
static void check_products(arrays *s) {
    int32_t stride = (int32_t)(s->count / PICKED);
    kp_tensor *picked;
    bench_check(kp_tensor_create(s->manager, &(kp_tensor_desc){.count = PICKED}, &picked));
    run_once(s, "pick", (kp_tensor *[]){s->tensors[2], picked}, 2, &stride, sizeof stride);
    const float *products = kp_tensor_data(picked);
    for (int32_t k = 0; k < PICKED; k++) {
        int32_t i = k * stride;
        bench_require(products[k] == (float)((2 + i % 2) * (1 + i % 5)), "right products");
    }
    kp_tensor_destroy(picked);
}

static void set_up(arrays *s) {
    bench_check(kp_manager_create(NULL, &s->manager));
    bench_check(kp_manager_device(s->manager, &s->device));
    for (int i = 0; i < 3; i++) {
        bench_check(kp_tensor_create(s->manager, &(kp_tensor_desc){.count = s->count, .memory_type = KP_MEMORY_STORAGE},
                                     &s->tensors[i]));
    }
    run_once(s, "fill", s->tensors, 2, NULL, 0);

    s->program = compile("multiply");
    kp_algorithm *algorithm = new_algorithm(s, s->program, s->tensors, 3, NULL, 0);
    kp_sequence_desc desc = {.timestamps = s->device.timestamps ? (uint32_t)s->dispatches : 0};
    bench_check(kp_sequence_create(s->manager, &desc, &s->sequence));
    for (size_t i = 0; i < s->dispatches; i++) {
        bench_check(kp_record_dispatch(s->sequence, algorithm, NULL));
    }
    bench_check(kp_sequence_eval(s->sequence));
    check_products(s);

    raw_adopt(&s->vk, s->manager);
    raw_commands_begin(&s->vk, &s->copies);
    for (size_t i = 0; i < s->dispatches; i++) {
        if (i > 0) {
            raw_barrier_copy(&s->vk, &s->copies);
        }
        raw_copy(&s->vk, &s->copies, s->tensors[0], s->tensors[2]);
    }
    raw_commands_end(&s->vk, &s->copies);
}

static void evaluate(void *context) { bench_check(kp_sequence_eval(((arrays *)context)->sequence)); }
static void copy(void *context) { raw_run(&((arrays *)context)->vk, &((arrays *)context)->copies, 0); }
static void launch(void *context) { raw_run(&((arrays *)context)->vk, &((arrays *)context)->commands, 0); }

static double bytes_of(const arrays *s) { return 3.0 * sizeof(float) * s->count; }

// The median of what the device's clock says of each dispatch, over `rounds` evaluations.
static void report_timestamps(arrays *s, size_t rounds) {
    double *rates = calloc(rounds, sizeof *rates), *seconds = calloc(s->dispatches, sizeof *seconds);
    uint64_t *ticks = calloc(s->dispatches + 1, sizeof *ticks);
    bench_require(rates != NULL && seconds != NULL && ticks != NULL, "calloc");
    for (size_t i = 0; i < rounds; i++) {
        size_t count;
        evaluate(s);
        bench_check(kp_sequence_timestamps(s->sequence, ticks, s->dispatches + 1, &count));
        for (size_t k = 0; k < s->dispatches; k++) {
            seconds[k] = 1e-9 * s->device.timestamp_period * (double)(ticks[k + 1] - ticks[k]);
        }
        rates[i] = bytes_of(s) / bench_median(seconds, s->dispatches) * 1e-9;
    }
    bench_report(&(bench_row){.question = "multiply, by device timestamps", .unit = "GB/s"}, rates, NULL, rounds);
    free(rates);
    free(seconds);
    free(ticks);
}

// ---------------------------------------------------------------------------------------------------------------------
// The sweep
// ---------------------------------------------------------------------------------------------------------------------

typedef struct setting {
    uint32_t local, items, adjacent;
} setting;

// GB/s of one launch setting by hand; 0 where the shape is beyond what one dispatch in x can be.
static double measure(arrays *s, setting at) {
    uint32_t block = at.local * at.items, blocks = (uint32_t)(((uint64_t)s->count + block - 1) / block);
    if (blocks > s->device.max_workgroup_count[0]) {
        return 0;
    }
    VkSpecializationMapEntry entries[] = {{SPEC_LOCAL_X, 0, 4}, {SPEC_ITEMS, 4, 4}, {SPEC_ADJACENT, 8, 4}};
    VkSpecializationInfo constants = {3, entries, sizeof at, &at};
    uint32_t push[6] = {s->count, 1, 1, blocks, 1, 1};
    raw_pipeline pipeline;
    raw_pipeline_create(&s->vk,
                        &(raw_pipeline_desc){.program = s->program,
                                             .entry = BLOCKS_ENTRY,
                                             .tensors = s->tensors,
                                             .tensor_count = 3,
                                             .constants = &constants,
                                             .push_size = sizeof push},
                        &pipeline);
    raw_commands_begin(&s->vk, &s->commands);
    for (size_t i = 0; i < s->dispatches; i++) {
        if (i > 0) {
            raw_barrier_dispatch(&s->vk, &s->commands);
        }
        raw_dispatch(&s->vk, &s->commands, &pipeline, push, sizeof push, blocks, 1, 1);
    }
    raw_commands_end(&s->vk, &s->commands);
    launch(s);
    double seconds[5];
    for (int i = 0; i < 5; i++) {
        double start = bench_now();
        launch(s);
        seconds[i] = bench_now() - start;
    }
    raw_commands_destroy(&s->vk, &s->commands);
    raw_pipeline_destroy(&s->vk, &pipeline);
    return bytes_of(s) * (double)s->dispatches / bench_median(seconds, 5) * 1e-9;
}

static void sweep(arrays *s) {
    for (uint32_t adjacent = 0; adjacent <= 1; adjacent++) {
        bench_note("GB/s, items %s; local size down, items across: 1 2 4 8 16 32 64",
                   adjacent ? "side by side" : "a local size apart");
        for (uint32_t local = 32; local <= s->device.max_workgroup_size[0]; local *= 2) {
            double rates[7];
            for (uint32_t k = 0; k < 7; k++) {
                rates[k] = measure(s, (setting){local, 1u << k, adjacent});
            }
            bench_note("%5u  %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f", local, rates[0], rates[1], rates[2], rates[3],
                       rates[4], rates[5], rates[6]);
        }
    }
}

int main(int argc, char **argv) {
    bench_init("multiply", argc, argv);
    arrays s = {.count = (uint32_t)bench_option("elements", 1 << 24), .dispatches = bench_option("dispatches", 10)};
    bench_require(s.count >= PICKED, "at least 1021 elements");
    set_up(&s);
    bench_note("%s, %s: %u elements, %zu dispatches a sequence", s.device.name, s.device.driver, s.count, s.dispatches);
    bool target = strstr(s.device.name, "H200") != NULL && s.count >= 1u << 28;
    bench_compare(&(bench_row){.question = "multiply in C, wall clock",
                               .peer = "the driver's copy of one array",
                               .unit = "GB/s",
                               .bytes = bytes_of(&s) * (double)s.dispatches,
                               .peer_bytes = bytes_of(&s) * (double)s.dispatches * 2 / 3,
                               .rounds = 30,
                               .limit = target ? BENCH_KP_AT_LEAST : BENCH_NO_LIMIT,
                               .value = 4100},
                  evaluate, &s, copy, &s);
    if (s.device.timestamps) {
        report_timestamps(&s, bench_option("rounds", bench_fewer(30)));
    }
    if (bench_flag("sweep")) {
        sweep(&s);
    }
    raw_commands_destroy(&s.vk, &s.copies);
    kp_manager_destroy(s.manager);
    return 0;
}
