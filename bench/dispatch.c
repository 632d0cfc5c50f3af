// dispatch.c - what does evaluating a recorded sequence cost beside submitting the same commands by hand?
//
// Both sides run the same entry point of the same module on the same buffers, device and queue, in the same launch
// shape: 16 workgroups of one invocation (the manager has regrouping off), so that little but the submission is timed.
// By hand comes in two forms: vkQueueSubmit and vkWaitForFences, and the same with a short spin before the wait. The
// second has no target on a CPU driver, where kp does not spin: that would take the cores which do the work.
#include "bench.h"
#include "raw.h"

enum { ELEMENTS = 16, MANY = 100, CHAINED = 1000 };

static const double spin_seconds = 50e-6;

// x grows at each dispatch, so every one depends on the one before; y only reads, so it never does.
static const char chained[] = "def chained(i: Index, x: Array[f32]):\n"
                              "    x[i] = x[i] + 1.0\n";
static const char separate[] = "def separate(i: Index, x: Array[f32], y: Array[f32]):\n"
                               "    y[i] = x[i] + 1.0\n";

// One comparison: the same commands on both sides.
typedef struct pair {
    kp_manager *manager;
    kp_device_info device;
    raw *vk;
    kp_program *program;
    kp_sequence *sequence;
    raw_commands commands;
    double spin;  // of the side by hand
    int64_t runs; // of both sides together
} pair;

static void run_kp(void *context) {
    pair *p = context;
    bench_check(kp_sequence_eval(p->sequence));
    p->runs++;
}

static void run_raw(void *context) {
    pair *p = context;
    raw_run(p->vk, &p->commands, p->spin);
    p->runs++;
}

// Runs `row` against both ways to wait by hand.
static void compare(pair *p, bench_row row) {
    p->spin = 0;
    row.peer = "by hand, blocking wait";
    bench_compare(&row, run_kp, p, run_raw, p);
    p->spin = spin_seconds;
    row.peer = "by hand, short spin";
    row.limit = p->device.type == KP_DEVICE_CPU ? BENCH_NO_LIMIT : row.limit;
    bench_compare(&row, run_kp, p, run_raw, p);
}

static kp_tensor *new_tensor(pair *p) {
    kp_tensor *tensor;
    bench_check(kp_tensor_create(p->manager, &(kp_tensor_desc){.count = ELEMENTS}, &tensor));
    return tensor;
}

static kp_algorithm *new_algorithm(pair *p, kp_tensor *const *tensors, uint32_t count) {
    kp_algorithm *algorithm;
    bench_check(kp_algorithm_create(
        p->manager, &(kp_algorithm_desc){.program = p->program, .memory = tensors, .memory_count = count}, &algorithm));
    return algorithm;
}

static void upload(pair *p, kp_tensor *tensor) {
    kp_sequence *sequence;
    bench_check(kp_sequence_create(p->manager, NULL, &sequence));
    bench_check(kp_record_sync_device(sequence, &tensor, 1));
    bench_check(kp_sequence_eval(sequence));
    kp_sequence_destroy(sequence);
}

// Both sides work on x, and each of their dispatches adds 1 to it.
static void check_runs(pair *p, kp_tensor *x, int64_t dispatches) {
    kp_sequence *sequence;
    bench_check(kp_sequence_create(p->manager, NULL, &sequence));
    bench_check(kp_record_sync_local(sequence, &x, 1));
    bench_check(kp_sequence_eval(sequence));
    bench_require(*(const float *)kp_tensor_data(x) == (float)(p->runs * dispatches), "every dispatch ran");
    kp_sequence_destroy(sequence);
}

// `count` dispatches of `chained` on one tensor.
static void compare_chained(pair *p, int count, const bench_row *row) {
    bench_check(kp_compile(chained, NULL, &p->program));
    kp_tensor *x = new_tensor(p);
    upload(p, x);
    kp_algorithm *algorithm = new_algorithm(p, &x, 1);
    raw_pipeline pipeline;
    raw_pipeline_create(p->vk,
                        &(raw_pipeline_desc){.program = p->program, .entry = "main", .tensors = &x, .tensor_count = 1},
                        &pipeline);

    bench_check(kp_sequence_create(p->manager, NULL, &p->sequence));
    raw_commands_begin(p->vk, &p->commands);
    for (int i = 0; i < count; i++) {
        bench_check(kp_record_dispatch(p->sequence, algorithm, NULL));
        if (i > 0) {
            raw_barrier_dispatch(p->vk, &p->commands);
        }
        raw_dispatch(p->vk, &p->commands, &pipeline, NULL, 0, ELEMENTS, 1, 1);
    }
    raw_barrier_host(p->vk, &p->commands);
    raw_commands_end(p->vk, &p->commands);

    p->runs = 0;
    compare(p, *row);
    check_runs(p, x, count);

    kp_sequence_destroy(p->sequence);
    raw_commands_destroy(p->vk, &p->commands);
    raw_pipeline_destroy(p->vk, &pipeline);
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(x);
    kp_program_destroy(p->program);
}

// MANY dispatches that have nothing to do with each other.
static void compare_separate(pair *p, const bench_row *row) {
    kp_tensor *x = new_tensor(p), *y[MANY];
    kp_algorithm *algorithms[MANY];
    raw_pipeline pipelines[MANY];
    bench_check(kp_compile(separate, NULL, &p->program));
    bench_check(kp_sequence_create(p->manager, NULL, &p->sequence));
    raw_commands_begin(p->vk, &p->commands);
    for (int i = 0; i < MANY; i++) {
        y[i] = new_tensor(p);
        kp_tensor *both[] = {x, y[i]};
        algorithms[i] = new_algorithm(p, both, 2);
        bench_check(kp_record_dispatch(p->sequence, algorithms[i], NULL));
        raw_pipeline_create(
            p->vk, &(raw_pipeline_desc){.program = p->program, .entry = "main", .tensors = both, .tensor_count = 2},
            &pipelines[i]);
        raw_dispatch(p->vk, &p->commands, &pipelines[i], NULL, 0, ELEMENTS, 1, 1);
    }
    raw_barrier_host(p->vk, &p->commands);
    raw_commands_end(p->vk, &p->commands);

    compare(p, *row);

    kp_sequence_destroy(p->sequence);
    raw_commands_destroy(p->vk, &p->commands);
    for (int i = 0; i < MANY; i++) {
        raw_pipeline_destroy(p->vk, &pipelines[i]);
        kp_algorithm_destroy(algorithms[i]);
        kp_tensor_destroy(y[i]);
    }
    kp_tensor_destroy(x);
    kp_program_destroy(p->program);
}

int main(int argc, char **argv) {
    bench_init("dispatch", argc, argv);
    raw vk;
    pair p = {.vk = &vk};
    bench_check(kp_manager_create(&(kp_manager_desc){.regroup = KP_OFF}, &p.manager));
    bench_check(kp_manager_device(p.manager, &p.device));
    raw_adopt(&vk, p.manager);

    compare_chained(&p, 1,
                    &(bench_row){.question = "1 dispatch recorded, evaluated",
                                 .unit = "us",
                                 .rounds = 300,
                                 .repeat = 20,
                                 .limit = BENCH_RATIO_AT_MOST,
                                 .value = 1.15});
    compare_chained(&p, CHAINED,
                    &(bench_row){.question = "1,000 dependent dispatches, evaluated",
                                 .unit = "us",
                                 .rounds = 40,
                                 .limit = BENCH_RATIO_AT_MOST,
                                 .value = 1.05});
    compare_separate(&p, &(bench_row){.question = "100 independent dispatches, evaluated",
                                      .unit = "us",
                                      .rounds = 200,
                                      .limit = BENCH_RATIO_AT_MOST,
                                      .value = 1.2});
    kp_manager_destroy(p.manager);
    return 0;
}
