// What kp records and submits (commands_layer.c counts it): nothing for a sync where both sides are one, no barrier
// between what shares nothing, nothing anew in a replay.
#include "gpu.h"

#include "../layer_link.h"
#include "commands_layer.h"

#include <dlfcn.h>
#include <kp/vulkan.h>
#include <stdatomic.h>

enum { N = 8, COUNT = 64 };

static atomic_uint *commands; // the layer's
static void *(*mapped)(uint64_t memory);
static const char *(*name)(int type, uint64_t handle);
static const char *(*label)(unsigned back);

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
    unsigned char *device = mapped(LAYER_NUMBER(buffer.memory));
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

static const char sampled_glsl[] = "layout(binding = 0) uniform sampler2D i;\n"
                                   "layout(binding = 1) buffer O { float o[]; };\n"
                                   "void main() { o[0] = texture(i, vec2(0.5)).x; }\n";

// Objects of Vulkan that stand behind what a program makes, and each op.
static void all_that_is_made_has_a_name(void **state) {
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.labels = KP_ON}, &mgr));
    *state = mgr;
    kp_tensor *weights = gpu_floats(mgr, "weights", 4, NULL);
    kp_image *photo = NULL;
    kp_sequence *steps = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 4, .height = 4, .label = "photo"}, &photo));
    kp_algorithm *blur =
        gpu_algorithm(mgr, sampled_glsl,
                      &(kp_algorithm_desc){
                          .memory = LIST(photo, weights), .memory_count = 2, .workgroups = {1, 1, 1}, .label = "blur"});
    OK(kp_sequence_create(mgr, &(kp_sequence_desc){.timestamps = 2, .label = "steps"}, &steps));
    OK(kp_record_fill(steps, photo, &(float){3}));
    OK(kp_record_dispatch(steps, blur, NULL));
    OK(kp_sequence_eval(steps));

    kp_vulkan_buffer buffer;
    kp_vulkan_image image;
    kp_vulkan_algorithm algorithm;
    kp_vulkan_sequence sequence;
    OK(kp_vulkan_from_tensor(weights, &buffer));
    OK(kp_vulkan_from_image(photo, &image));
    OK(kp_vulkan_from_algorithm(blur, &algorithm));
    OK(kp_vulkan_from_sequence(steps, &sequence));
#define NAMED(type, handle, wanted) assert_string_equal(name(VK_OBJECT_TYPE_##type, LAYER_NUMBER(handle)), wanted)
    NAMED(BUFFER, buffer.buffer, "weights");
    NAMED(IMAGE, image.image, "photo");
    NAMED(IMAGE_VIEW, image.view, "photo");
    NAMED(SHADER_MODULE, algorithm.module, "blur");
    NAMED(PIPELINE_LAYOUT, algorithm.layout, "blur");
    NAMED(PIPELINE, algorithm.pipeline, "blur");
    NAMED(COMMAND_BUFFER, sequence.commands, "steps");
    NAMED(FENCE, sequence.fence, "steps");
    const int others[] = {VK_OBJECT_TYPE_DEVICE,       VK_OBJECT_TYPE_QUEUE,   VK_OBJECT_TYPE_DEVICE_MEMORY,
                          VK_OBJECT_TYPE_COMMAND_POOL, VK_OBJECT_TYPE_SAMPLER, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (name(others[i], 0) == NULL)
            fail_msg("no object of type %d has a name", others[i]);
    if (gpu_device(mgr).timestamps)
        assert_string_equal(name(VK_OBJECT_TYPE_QUERY_POOL, 0), "steps");
    if (!gpu_device(mgr).push_descriptors)
        assert_non_null(name(VK_OBJECT_TYPE_DESCRIPTOR_POOL, 0));
    assert_string_equal(label(0), "dispatch 'blur'");
    assert_string_equal(label(1), "fill 'photo'");

    kp_sequence_destroy(steps);
    kp_algorithm_destroy(blur);
    kp_image_destroy(photo);
    kp_tensor_destroy(weights);
}

// The function of that name in the layer. C has no cast from void * to it.
static bool find(void *library, const char *symbol, void *function) {
    void *found = library != NULL ? dlsym(library, symbol) : NULL;
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

int main(void) {
    void *library = dlopen(KP_COMMANDS_LIBRARY, RTLD_NOW);
    commands = library != NULL ? dlsym(library, "kp_test_commands") : NULL;
    if (commands == NULL || !find(library, "kp_test_mapped", &mapped) || !find(library, "kp_test_name", &name) ||
        !find(library, "kp_test_label", &label)) {
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
        GPU_BARE(all_that_is_made_has_a_name),
    };
    return gpu_run("commands", tests);
}
