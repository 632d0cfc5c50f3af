// soak.c - flat memory over a long time: a million evaluations, a hundred thousand tensors and algorithms made and
// dropped, a thousand managers. `soak` does all of it, `soak N` an N-th. Exit status 1 where memory grew.
//
// Measured behind a warm-up of a tenth, in which allocators and drivers take what they keep: what malloc has handed
// out, and what kp holds on the device, which must be the same to the byte. A driver may keep something for each
// manager that comes and goes; that is its own, and it is why the limit for managers is one page each.
#include <kp/kp.h>

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVALUATIONS = 1000000, OBJECTS = 100000, MANAGERS = 1000 };

static void check(kp_result result) {
    if (result == KP_OK)
        return;
    fprintf(stderr, "soak: %s: %s\n", kp_result_name(result), kp_last_error());
    exit(1);
}

static size_t allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

typedef struct world {
    kp_manager *mgr; // NULL in the soak of managers
    kp_program *program;
    kp_tensor *x;
    kp_algorithm *grow;
    kp_sequence *seq;
} world;

static void open_world(world *w) {
    check(kp_manager_create(NULL, &w->mgr));
    check(kp_compile("def grow(i: Index, x: Array[f32], by: f32):\n"
                     "    x[i] = x[i] + by\n",
                     NULL, &w->program));
    const float by = 1;
    check(kp_tensor_create(w->mgr, &(kp_tensor_desc){.count = 64}, &w->x));
    check(kp_algorithm_create(
        w->mgr,
        &(kp_algorithm_desc){
            .program = w->program, .memory = &w->x, .memory_count = 1, .push = &by, .push_size = sizeof by},
        &w->grow));
    check(kp_sequence_create(w->mgr, NULL, &w->seq));
    check(kp_record_sync_device(w->seq, &w->x, 1));
    check(kp_record_dispatch(w->seq, w->grow, NULL));
    check(kp_record_sync_local(w->seq, &w->x, 1));
}

static void close_world(world *w) {
    kp_sequence_destroy(w->seq);
    kp_algorithm_destroy(w->grow);
    kp_tensor_destroy(w->x);
    kp_program_destroy(w->program);
    kp_manager_destroy(w->mgr);
}

// Every third evaluation is asynchronous, every thousandth recorded anew.
static void evaluate(world *w, size_t i) {
    if (i % 1000 == 0)
        check(kp_sequence_rerecord(w->seq));
    if (i % 3 != 0) {
        check(kp_sequence_eval(w->seq));
        return;
    }
    check(kp_sequence_eval_async(w->seq));
    check(kp_sequence_await(w->seq, UINT64_MAX));
}

static void make_objects(world *w, size_t i) {
    kp_tensor *tensor;
    kp_algorithm *algorithm;
    kp_sequence *sequence;
    const float by = (float)i;
    check(kp_tensor_create(w->mgr, &(kp_tensor_desc){.count = 1 + i % 5000}, &tensor));
    check(kp_algorithm_create(
        w->mgr,
        &(kp_algorithm_desc){
            .program = w->program, .memory = &tensor, .memory_count = 1, .push = &by, .push_size = sizeof by},
        &algorithm));
    check(kp_sequence_create(w->mgr, NULL, &sequence));
    check(kp_record_dispatch(sequence, algorithm, NULL));
    if (i % 10 == 0)
        check(kp_sequence_eval(sequence));
    kp_tensor_destroy(tensor); // in an order that is not that of making
    kp_sequence_destroy(sequence);
    kp_algorithm_destroy(algorithm);
}

static void make_manager(world *w, size_t i) {
    world own;
    (void)w;
    open_world(&own);
    if (i % 2 == 0)
        check(kp_sequence_eval(own.seq));
    close_world(&own);
}

// `limit` is how many bytes of malloc's it may grow by.
static bool soak(const char *what, world *w, void (*step)(world *w, size_t i), size_t count, size_t limit) {
    size_t warm = count / 10 != 0 ? count / 10 : 1;
    kp_memory_stats before = {0}, after = {0};
    for (size_t i = 0; i < warm; i++)
        step(w, i);
    if (w->mgr != NULL)
        check(kp_manager_memory(w->mgr, &before));
    size_t start = allocated();
    for (size_t i = 0; i < count; i++)
        step(w, i);
    size_t end = allocated();
    if (w->mgr != NULL)
        check(kp_manager_memory(w->mgr, &after));
    size_t grown = end > start ? end - start : 0;
    bool flat = grown <= limit && before.used == after.used && before.reserved == after.reserved;
    printf("%s %zu: host memory grew by %zu bytes (limit %zu), device memory %llu to %llu bytes: %s\n", what, count,
           grown, limit, (unsigned long long)before.reserved, (unsigned long long)after.reserved,
           flat ? "flat" : "NOT FLAT");
    return flat;
}

int main(int argc, char **argv) {
    size_t part = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (part == 0) {
        fprintf(stderr, "usage: soak [N]: all of it, or an N-th\n");
        return 2;
    }
    world w, none = {0};
    open_world(&w);
    bool flat = soak("evaluations", &w, evaluate, EVALUATIONS / part, 65536);
    flat &= soak("tensors, algorithms and sequences", &w, make_objects, OBJECTS / part, 65536);
    close_world(&w);
    size_t managers = MANAGERS / part != 0 ? MANAGERS / part : 1;
    flat &= soak("managers", &none, make_manager, managers, 4096 * managers + 65536);
    return flat ? 0 : 1;
}
