// What kp records and submits (commands_layer.c counts it): nothing for a sync where both sides are one, no barrier
// between what shares nothing, nothing anew in a replay.
#include "gpu.h"

#include "commands_layer.h"

#include <dlfcn.h>
#include <kp/vulkan.h>
#include <stdatomic.h>

enum { N = 8, COUNT = 64 };

static atomic_uint *commands; // the layer's
static void *(*mapped)(uint64_t memory);

typedef struct counts {
    unsigned barriers, copies, dispatches, submits;
} counts;

static counts eval(kp_sequence *sequence) {
    for (int i = 0; i < COMMAND_KINDS; i++)
        atomic_store(&commands[i], 0);
    OK(kp_sequence_eval(sequence));
    return (counts){atomic_load(&commands[COMMAND_BARRIER]), atomic_load(&commands[COMMAND_COPY]),
                    atomic_load(&commands[COMMAND_DISPATCH]), atomic_load(&commands[COMMAND_SUBMIT])};
}

typedef struct world {
    kp_tensor *tensors[N + 1];
    kp_algorithm *algorithms[N];
    kp_sequence *sequence;
} world;

// Algorithm k multiplies tensor (from + k * step) by itself, into tensor k + 1.
static void make(kp_manager *mgr, int from, int step, world *w) {
    for (int k = 0; k < N + 1; k++)
        w->tensors[k] = gpu_floats(mgr, "x", COUNT, NULL);
    for (int k = 0; k < N; k++) {
        kp_tensor *in = w->tensors[from + k * step];
        w->algorithms[k] = gpu_multiply(mgr, in, in, w->tensors[k + 1]);
    }
    w->sequence = gpu_sequence(mgr);
}

static void drop(world *w) {
    kp_sequence_destroy(w->sequence);
    for (int k = 0; k < N; k++)
        kp_algorithm_destroy(w->algorithms[k]);
    for (int k = 0; k < N + 1; k++)
        kp_tensor_destroy(w->tensors[k]);
}

// Barriers of a sequence that dispatches the first `count` of them.
static unsigned barriers(world *w, int count) {
    for (int k = 0; k < count; k++)
        OK(kp_record_dispatch(w->sequence, w->algorithms[k], NULL));
    counts found = eval(w->sequence);
    assert_int_equal(found.dispatches, count);
    return found.barriers;
}

static void syncs_copy_only_where_there_are_two_sides(void **state) {
    kp_manager *mgr = *state;
    world w;
    make(mgr, 0, 1, &w);
    OK(kp_record_sync_device(w.sequence, w.tensors, N));
    OK(kp_record_sync_local(w.sequence, w.tensors, N));
    counts found = eval(w.sequence);
    assert_int_equal(found.copies, gpu_unified(mgr) ? 0 : 2 * N);
    if (gpu_unified(mgr))
        assert_int_equal(found.submits, 0);
    drop(&w);
}

static void the_host_side_is_the_device_side_where_they_are_one(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", COUNT, NULL);
    kp_vulkan_buffer buffer;
    OK(kp_vulkan_from_tensor(x, &buffer));
    unsigned char *device = mapped((uint64_t)(uintptr_t)buffer.memory);
    const unsigned char *host = kp_tensor_data(x);
    if (gpu_unified(mgr))
        assert_ptr_equal(host, device + buffer.memory_offset);
    else
        assert_true(device == NULL || host != device + buffer.memory_offset);
    kp_tensor_destroy(x);
}

static void what_shares_nothing_has_no_barrier_between(void **state) {
    world w;
    make(*state, 1, 1, &w); // each on its own
    unsigned alone = barriers(&w, 1);
    assert_int_equal(barriers(&w, N), alone);
    drop(&w);
}

static void readers_of_one_tensor_have_no_barrier_between(void **state) {
    world w;
    make(*state, 0, 0, &w);
    unsigned alone = barriers(&w, 1);
    assert_int_equal(barriers(&w, N), alone);
    drop(&w);
}

static void what_depends_on_each_other_has_one_barrier_each(void **state) {
    world w;
    make(*state, 0, 1, &w); // a chain
    unsigned alone = barriers(&w, 1);
    assert_int_equal(barriers(&w, N), alone + N - 1);
    drop(&w);
}

static void a_replay_records_nothing_and_submits_once(void **state) {
    world w;
    make(*state, 0, 1, &w);
    OK(kp_record_sync_device(w.sequence, w.tensors, N));
    barriers(&w, N);
    for (int k = 0; k < 3; k++) {
        counts found = eval(w.sequence);
        assert_int_equal(found.dispatches + found.copies + found.barriers, 0);
        assert_int_equal(found.submits, 1);
    }
    drop(&w);
}

int main(void) {
    void *library = dlopen(KP_COMMANDS_LIBRARY, RTLD_NOW);
    commands = library != NULL ? dlsym(library, "kp_test_commands") : NULL;
    void *function = library != NULL ? dlsym(library, "kp_test_mapped") : NULL;
    memcpy(&mapped, &function, sizeof mapped);
    if (commands == NULL || mapped == NULL) {
        printf("commands: %s\n", dlerror());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        GPU_TEST(syncs_copy_only_where_there_are_two_sides),
        GPU_TEST(the_host_side_is_the_device_side_where_they_are_one),
        GPU_TEST(what_shares_nothing_has_no_barrier_between),
        GPU_TEST(readers_of_one_tensor_have_no_barrier_between),
        GPU_TEST(what_depends_on_each_other_has_one_barrier_each),
        GPU_TEST(a_replay_records_nothing_and_submits_once),
    };
    return gpu_run("commands", tests);
}
