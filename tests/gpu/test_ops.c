// Ops beyond the plain ones: indirect dispatches and the user's own; algorithms that change after they were recorded;
// and what ops are called.
#include "gpu.h"

#include <kp/vulkan.h>

static const char add_one[] = "layout(local_size_x_id = 3) in;\n"
                              "layout(constant_id = 7) const float step = 1.0;\n"
                              "layout(binding = 0) buffer X { float x[]; };\n"
                              "void main() { x[gl_GlobalInvocationID.x] += step; }\n";

static kp_tensor *words(kp_manager *mgr, const char *label, uint64_t count, const uint32_t *data) {
    kp_tensor *tensor = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = count, .data = data, .label = label},
                        &tensor));
    return tensor;
}

static void expect(const kp_tensor *tensor, const float *values, size_t count) {
    const float *data = kp_tensor_data(tensor);
    for (size_t i = 0; i < count; i++) {
        if (data[i] != values[i])
            fail_msg("element %zu is %g, not %g", i, (double)data[i], (double)values[i]);
    }
}
#define EXPECT(tensor, ...) \
    expect(tensor, (const float[]){__VA_ARGS__}, sizeof(const float[]){__VA_ARGS__} / sizeof(float))

// ---------------------------------------------------------------------------------------------------------------------
// Indirect dispatches
// ---------------------------------------------------------------------------------------------------------------------

static void an_indirect_dispatch_takes_its_launch_from_memory(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 6, NULL);
    kp_tensor *counts = words(mgr, "counts", 5, (const uint32_t[]){9, 4, 1, 1, 9});
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(x, counts), 2));
    OK(kp_record_dispatch_indirect(seq, add, counts, 4, NULL));
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 1, 1, 1, 1, 0, 0);
    ((uint32_t *)kp_tensor_data(counts))[1] = 2; // replayed with another launch
    OK(kp_sequence_eval(seq));
    EXPECT(x, 2, 2, 1, 1, 0, 0);
    ((uint32_t *)kp_tensor_data(counts))[1] = 0; // nothing at all
    OK(kp_sequence_eval(seq));
    EXPECT(x, 2, 2, 1, 1, 0, 0);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
    kp_tensor_destroy(counts);
}

static void a_kernel_says_how_much_the_next_one_does(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 8, NULL), *counts = words(mgr, "counts", 3, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_algorithm *plan = gpu_algorithm(mgr,
                                       "layout(binding = 0) buffer C { uint c[]; };\n"
                                       "void main() { c[0] += 3; c[1] = 1; c[2] = 1; }\n",
                                       &(kp_algorithm_desc){.memory = &counts, .memory_count = 1, .workgroups = {1}});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(x, counts), 2));
    for (unsigned i = 0; i < 2; i++) {
        OK(kp_record_dispatch(seq, plan, NULL));
        OK(kp_record_dispatch_indirect(seq, add, counts, 0, NULL));
    }
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 2, 2, 2, 1, 1, 1, 0, 0);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_algorithm_destroy(plan);
    kp_tensor_destroy(x);
    kp_tensor_destroy(counts);
}

static void kernels_in_python_syntax_dispatch_indirectly_too(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 5, NULL), *counts = words(mgr, "counts", 3, (const uint32_t[]){3, 1, 1});
    kp_program *program = NULL;
    OK(kp_compile("def k(i: Index, by: f32, x: Array[f32]):\n    x[i] = x[i] + by\n", NULL, &program));
    kp_algorithm *add = NULL;
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1}, &add));
    kp_program_destroy(program);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(x, counts), 2));
    OK(kp_record_dispatch_indirect(seq, add, counts, 0,
                                   &(kp_dispatch_desc){.push = (const float[]){2}, .push_size = 4}));
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 2, 2, 2, 0, 0);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
    kp_tensor_destroy(counts);
}

static void indirect_launches_that_do_not_fit_are_refused(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL), *counts = words(mgr, "counts", 3, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &x, 1));
    FAILS(kp_record_dispatch_indirect(seq, add, counts, 4, NULL), KP_ERROR_ARGUMENT,
          "sequence 'sequence': an indirect dispatch reads 12 bytes at a multiple of 4, tensor 'counts' has 12 bytes, "
          "and the offset is 4");
    FAILS(kp_record_dispatch_indirect(seq, add, counts, UINT64_MAX - 3, NULL), KP_ERROR_ARGUMENT, "*offset is *");
    FAILS(kp_record_dispatch_indirect(seq, add, x, 0, NULL), KP_ERROR_TYPE,
          "sequence 'sequence': the counts of an indirect dispatch are u32, tensor 'x' holds f32");
    FAILS(kp_record_dispatch_indirect(seq, add, counts, 0, &(kp_dispatch_desc){.extent = {4}}), KP_ERROR_ARGUMENT,
          "sequence 'sequence': an indirect dispatch takes its launch from tensor 'counts'");
    FAILS(kp_record_dispatch_indirect(seq, NULL, counts, 0, NULL), KP_ERROR_ARGUMENT, "*algorithm is NULL");
    FAILS(kp_record_dispatch_indirect(seq, add, NULL, 0, NULL), KP_ERROR_ARGUMENT, "*memory[0] is NULL");
    assert_int_equal(kp_sequence_op_count(seq), 1);
    OK(kp_record_dispatch(seq, add, NULL)); // still usable
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 1, 1, 1, 1);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
    kp_tensor_destroy(counts);
}

static void counts_that_are_destroyed_are_named(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL);
    kp_tensor *counts = words(mgr, "counts", 3, (const uint32_t[]){1, 1, 1});
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch_indirect(seq, add, counts, 0, NULL));
    kp_tensor_destroy(counts);
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE,
          "sequence 'sequence': tensor 'counts', which it recorded, is destroyed");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

// ---------------------------------------------------------------------------------------------------------------------
// Ops of the user's
// ---------------------------------------------------------------------------------------------------------------------

typedef struct filler {
    PFN_vkCmdFillBuffer fill;
    kp_vulkan_buffer buffer;
    uint32_t word;
    kp_result answer;
    unsigned recorded, destroyed;
} filler;

static kp_result record_fill(void *payload, VkDevice device, VkCommandBuffer commands) {
    filler *f = payload;
    assert_non_null(device);
    f->recorded++;
    if (f->answer == KP_OK)
        f->fill(commands, f->buffer.buffer, f->buffer.offset, f->buffer.size, f->word);
    return f->answer;
}

static void destroy_fill(void *payload) { ((filler *)payload)->destroyed++; }

static filler open_filler(kp_manager *mgr, kp_tensor *tensor) {
    filler f = {.word = 0x40400000}; // 3.0
    kp_vulkan_manager native;
    OK(kp_vulkan_from_manager(mgr, &native));
    OK(kp_vulkan_from_tensor(tensor, &f.buffer));
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)native.get_instance_proc_addr(native.instance, "vkGetDeviceProcAddr");
    f.fill = (PFN_vkCmdFillBuffer)get(native.device, "vkCmdFillBuffer");
    assert_non_null(f.fill);
    return f;
}

static void an_op_of_ones_own_is_ordered_like_any_other(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    filler f = open_filler(mgr, x);
    const kp_vulkan_op op = {.name = "fill with 3",
                             .uses = &(kp_vulkan_use){.memory = x, .writes = true},
                             .use_count = 1,
                             .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                             .record = record_fill,
                             .destroy = destroy_fill,
                             .payload = &f};
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, add, NULL));
    OK(kp_vulkan_record(seq, &op));
    OK(kp_record_dispatch(seq, add, NULL));
    OK(kp_record_sync_local(seq, &x, 1));
    assert_int_equal(f.recorded, 0);
    for (unsigned i = 0; i < 3; i++) {
        OK(kp_sequence_eval(seq));
        EXPECT(x, 4, 4, 4, 4);
    }
    assert_int_equal(f.recorded, 1); // replayed, not recorded again
    OK(kp_sequence_rerecord(seq));
    OK(kp_sequence_eval(seq));
    assert_int_equal(f.recorded, 2);
    char text[64];
    OK(kp_sequence_op_name(seq, 2, text, sizeof text));
    assert_string_equal(text, "fill with 3");
    assert_int_equal(f.destroyed, 0);
    OK(kp_sequence_clear(seq));
    assert_int_equal(f.destroyed, 1);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

// An op that leaves other push constants behind.
typedef struct spoiler {
    PFN_vkCmdPushConstants push;
    VkPipelineLayout layout;
} spoiler;

static kp_result record_spoil(void *payload, VkDevice device, VkCommandBuffer commands) {
    static const uint32_t garbage[4] = {77, 77, 77, 77};
    const spoiler *s = payload;
    (void)device;
    s->push(commands, s->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof garbage, garbage);
    return KP_OK;
}

static const char mix[] = "def mix(i: Index, x: Array[i32], a: i32):\n"
                          "    x[i] = x[i] * 3 + a\n";
static const char flip[] = "def flip(i: Index, x: Array[i32]):\n"
                           "    x[i] = -x[i]\n";

// Dispatches of a few kinds in a random order, of which one may find bound what it needs: the numbers come out as those
// of the same steps here.
static void what_is_bound_already_need_not_be_bound_again(void **state) {
    kp_manager *mgr = *state;
    enum { SIZE = 1000, STEPS = 600 };
    static uint32_t here[2][SIZE];
    memset(here, 0, sizeof here);
    kp_tensor *x[2];
    kp_program *programs[2];
    kp_algorithm *algorithms[2][2];
    const int32_t one = 1;
    OK(kp_compile(mix, NULL, &programs[0]));
    OK(kp_compile(flip, NULL, &programs[1]));
    for (int t = 0; t < 2; t++) {
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = SIZE, .fill = &(int32_t){0}}, &x[t]));
        for (int p = 0; p < 2; p++)
            OK(kp_algorithm_create(mgr,
                                   &(kp_algorithm_desc){.program = programs[p],
                                                        .memory = &x[t],
                                                        .memory_count = 1,
                                                        .push = p == 0 ? &one : NULL,
                                                        .push_size = p == 0 ? sizeof one : 0},
                                   &algorithms[t][p]));
    }
    kp_vulkan_manager native;
    OK(kp_vulkan_from_manager(mgr, &native));
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)native.get_instance_proc_addr(native.instance, "vkGetDeviceProcAddr");
    spoiler s = {.push = (PFN_vkCmdPushConstants)get(native.device, "vkCmdPushConstants")};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges =
                                                   &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, 16}};
    PFN_vkCreatePipelineLayout create = (PFN_vkCreatePipelineLayout)get(native.device, "vkCreatePipelineLayout");
    assert_int_equal(create(native.device, &layout, NULL, &s.layout), VK_SUCCESS);
    kp_sequence *seq = gpu_sequence(mgr);
    uint32_t random = 1;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        uint32_t t = random >> 16 & 1, kind = random >> 17 & 7, count = (random >> 20 & 1) != 0 ? SIZE : 700;
        const int32_t given = (int32_t)(random >> 22 & 1);
        kp_dispatch_desc desc = {.extent = {count, 1, 1}};
        if (kind == 1 && step > STEPS / 2) // it hides what was wrong before
            kind = 0;
        if (kind == 0)
            OK(kp_vulkan_record(seq, &(kp_vulkan_op){.record = record_spoil, .payload = &s}));
        if (kind == 1)
            OK(kp_record_fill(seq, x[t], &given));
        for (uint32_t i = 0; kind == 1 && i < SIZE; i++)
            here[t][i] = (uint32_t)given;
        if (kind >= 2 && kind < 6) {
            desc.push = kind < 4 ? &given : NULL;
            desc.push_size = kind < 4 ? sizeof given : 0;
            OK(kp_record_dispatch(seq, algorithms[t][0], &desc));
            for (uint32_t i = 0; i < count; i++)
                here[t][i] = here[t][i] * 3 + (uint32_t)(kind < 4 ? given : one);
        }
        if (kind >= 6) {
            OK(kp_record_dispatch(seq, algorithms[t][1], &desc));
            for (uint32_t i = 0; i < count; i++)
                here[t][i] = 0 - here[t][i];
        }
    }
    OK(kp_record_sync_local(seq, x, 2));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(x[0]), here[0], sizeof here[0]);
    assert_memory_equal(kp_tensor_data(x[1]), here[1], sizeof here[1]);
    kp_sequence_destroy(seq);
    PFN_vkDestroyPipelineLayout drop = (PFN_vkDestroyPipelineLayout)get(native.device, "vkDestroyPipelineLayout");
    drop(native.device, s.layout, NULL);
    for (int k = 0; k < 2; k++) {
        kp_algorithm_destroy(algorithms[k][0]);
        kp_algorithm_destroy(algorithms[k][1]);
        kp_tensor_destroy(x[k]);
        kp_program_destroy(programs[k]);
    }
}

static void a_callback_that_fails_leaves_the_sequence_usable(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL);
    kp_sequence *seq = gpu_sequence(mgr);
    filler f = open_filler(mgr, x);
    const kp_vulkan_use use = {.memory = x, .reads = true, .writes = true};
    kp_vulkan_op op = {.uses = &use, .use_count = 1, .record = record_fill, .destroy = destroy_fill, .payload = &f};
    OK(kp_vulkan_record(seq, &op));
    OK(kp_record_sync_local(seq, &x, 1));
    f.answer = KP_ERROR_IO;
    FAILS(kp_sequence_eval(seq), KP_ERROR_IO, "*op 'native': its callback answered KP_ERROR_IO");
    assert_false(kp_sequence_is_running(seq));
    f.answer = KP_OK;
    OK(kp_sequence_eval(seq));
    EXPECT(x, 3, 3, 3, 3);
    FAILS(kp_vulkan_record(seq, NULL), KP_ERROR_ARGUMENT, "kp_vulkan_record: desc is NULL");
    op.stages = VK_PIPELINE_STAGE_VERTEX_SHADER_BIT;
    FAILS(kp_vulkan_record(seq, &op), KP_ERROR_ARGUMENT, "kp_vulkan_record: stages may be *, not 0x8");
    assert_int_equal(f.destroyed, 1); // what is refused is dropped
    op.stages = 0;
    op.record = NULL;
    FAILS(kp_vulkan_record(seq, &op), KP_ERROR_ARGUMENT, "kp_vulkan_record: record is NULL");
    kp_sequence_destroy(seq);
    assert_int_equal(f.destroyed, 3);
    kp_tensor_destroy(x);
}

// ---------------------------------------------------------------------------------------------------------------------
// Buffers of the user's
// ---------------------------------------------------------------------------------------------------------------------

static void a_buffer_of_ones_own_is_a_tensor(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *lender = gpu_floats(mgr, "lender", 4, NULL), *x = NULL;
    kp_vulkan_buffer buffer; // any buffer of the device will do: this one is a tensor's
    OK(kp_vulkan_from_tensor(lender, &buffer));
    const kp_tensor_desc desc = {.count = 4, .data = (const float[]){1, 2, 3, 4}, .label = "adopted"};
    OK(kp_vulkan_adopt_buffer(mgr, buffer.buffer, buffer.size, &desc, &x));
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    gpu_once(mgr, add, &x, 1, NULL);
    EXPECT(x, 2, 3, 4, 5);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_local(seq, &lender, 1)); // the same bytes
    OK(kp_sequence_eval(seq));
    EXPECT(lender, 2, 3, 4, 5);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x); // the buffer stays
    OK(kp_sequence_eval(seq));
    EXPECT(lender, 2, 3, 4, 5);
    kp_tensor *none = NULL;
    FAILS(kp_vulkan_adopt_buffer(mgr, buffer.buffer, buffer.size, &(kp_tensor_desc){.count = 5}, &none),
          KP_ERROR_ARGUMENT, "tensor 'tensor': needs 20 bytes, the buffer has 16");
    FAILS(kp_vulkan_adopt_buffer(mgr, VK_NULL_HANDLE, 16, &desc, &none), KP_ERROR_ARGUMENT, "*VK_NULL_HANDLE");
    FAILS(kp_vulkan_adopt_buffer(mgr, buffer.buffer, 16, &(kp_tensor_desc){.count = 4, .memory_type = KP_MEMORY_HOST},
                                 &none),
          KP_ERROR_ARGUMENT, "*must be DEVICE or STORAGE");
    kp_vulkan_manager native;
    VkQueue queue;
    uint32_t family;
    OK(kp_vulkan_from_manager(mgr, &native));
    OK(kp_vulkan_from_queue(mgr, 0, &queue, &family));
    assert_ptr_equal(queue, native.queue);
    assert_int_equal(family, native.queue_family);
    FAILS(kp_vulkan_from_queue(mgr, 1, &queue, &family), KP_ERROR_INDEX, "*there is no queue 1, the manager has 1");
    kp_sequence_destroy(seq);
    kp_tensor_destroy(lender);
}

// ---------------------------------------------------------------------------------------------------------------------
// Algorithms that change
// ---------------------------------------------------------------------------------------------------------------------

static kp_spec step_of(const float *value) { return (kp_spec){.id = 7, .dtype = KP_F32, .value = value}; }

static void new_constants_and_launches_reach_recorded_sequences(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 8, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, add, NULL));
    OK(kp_record_sync_local(seq, &x, 1));
    kp_sequence *up = gpu_sequence(mgr);
    OK(kp_record_sync_device(up, &x, 1));
    OK(kp_sequence_eval(up));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 1, 1, 1, 1, 1, 1, 1, 1);
    const kp_spec ten = step_of(&(float){10});
    OK(kp_algorithm_set_specs(add, &ten, 1));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 11, 11, 11, 11, 11, 11, 11, 11);
    OK(kp_algorithm_set_launch(add, (const uint32_t[3]){2}, NULL));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 21, 21, 11, 11, 11, 11, 11, 11);
    const kp_spec two[] = {{.id = 3, .dtype = KP_U32, .value = &(uint32_t){2}}, step_of(&(float){100})};
    OK(kp_algorithm_set_specs(add, two, 2)); // the local size too
    OK(kp_sequence_eval(seq));
    EXPECT(x, 121, 121, 111, 111, 11, 11, 11, 11);
    OK(kp_algorithm_set_specs(add, NULL, 0)); // the module's own
    OK(kp_algorithm_set_launch(add, NULL, (const uint32_t[3]){1, 1, 1}));
    OK(kp_sequence_eval(seq));
    EXPECT(x, 122, 121, 111, 111, 11, 11, 11, 11);
    OK(kp_algorithm_set_launch(add, NULL, NULL)); // as many as x has
    OK(kp_sequence_eval(seq));
    EXPECT(x, 123, 122, 112, 112, 12, 12, 12, 12);
    kp_sequence_destroy(seq);
    kp_sequence_destroy(up);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

static void changes_that_do_not_fit_leave_the_algorithm_as_it_was(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 2, NULL);
    kp_algorithm *add =
        gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1, .label = "add"});
    const uint32_t two[3] = {2};
    FAILS(kp_algorithm_set_launch(add, two, two), KP_ERROR_ARGUMENT,
          "algorithm 'add': give workgroups or extent, not both");
    const kp_spec unknown = {.id = 5, .dtype = KP_F32, .value = &(float){1}};
    FAILS(kp_algorithm_set_specs(add, &unknown, 1), KP_ERROR_ARGUMENT,
          "algorithm 'add': the module has no specialization constant 5; it has 3 (*), 7 (f32)");
    const kp_spec wrong = {.id = 7, .dtype = KP_I32, .value = &(int32_t){1}};
    FAILS(kp_algorithm_set_specs(add, &wrong, 1), KP_ERROR_TYPE, "*constant 7 is f32 in the module, i32 was given");
    const kp_spec huge = {.id = 3, .dtype = KP_U32, .value = &(uint32_t){1000000}};
    FAILS(kp_algorithm_set_specs(add, &huge, 1), KP_ERROR_LIMIT, "*maxComputeWorkGroupSize on axis x is *, *1000000");
    FAILS(kp_algorithm_set_specs(add, NULL, 1), KP_ERROR_ARGUMENT, "*specs is NULL*");
    FAILS(kp_algorithm_set_specs(NULL, NULL, 0), KP_ERROR_ARGUMENT, "*algorithm is NULL");
    gpu_once(mgr, add, &x, 1, NULL);
    EXPECT(x, 1, 1);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

static void constants_change_while_work_is_in_flight(void **state) {
    enum { ROUNDS = 100 };
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 64, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seqs[2] = {gpu_sequence(mgr), gpu_sequence(mgr)}, *down = gpu_sequence(mgr);
    OK(kp_record_sync_device(down, &x, 1));
    OK(kp_sequence_eval(down));
    for (unsigned i = 0; i < 2; i++)
        OK(kp_record_dispatch(seqs[i], add, NULL));
    float sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++) { // more kernels than stay in the cache when idle
        float step = (float)(i + 1);
        const kp_spec spec = step_of(&step);
        OK(kp_algorithm_set_specs(add, &spec, 1));
        if (i >= 2)
            OK(kp_sequence_await(seqs[i % 2], UINT64_MAX));
        OK(kp_sequence_eval_async(seqs[i % 2]));
        sum += step;
    }
    kp_algorithm_destroy(add);
    for (unsigned i = 0; i < 2; i++)
        OK(kp_sequence_await(seqs[i], UINT64_MAX));
    OK(kp_record_sync_local(down, &x, 1));
    OK(kp_sequence_eval(down));
    EXPECT(x, sum, sum);
    kp_sequence_destroy(seqs[0]);
    kp_sequence_destroy(seqs[1]);
    kp_sequence_destroy(down);
    kp_tensor_destroy(x);
}

static void ops_have_names(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 4, NULL), *b = gpu_floats(mgr, "b", 4, NULL);
    kp_algorithm *add =
        gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &a, .memory_count = 1, .label = "add"});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(a, b), 2));
    OK(kp_record_dispatch(seq, add, NULL));
    OK(kp_record_copy(seq, LIST(a, b), 2));
    static const char *const names[] = {"sync_device 'a', 'b'", "dispatch 'add'", "copy 'a', 'b'"};
    char text[64], little[8];
    for (size_t i = 0; i < 3; i++) {
        OK(kp_sequence_op_name(seq, i, text, sizeof text));
        assert_string_equal(text, names[i]);
    }
    OK(kp_sequence_op_name(seq, 1, little, sizeof little));
    assert_string_equal(little, "dispatc");
    FAILS(kp_sequence_op_name(seq, 3, text, sizeof text), KP_ERROR_INDEX,
          "sequence 'sequence': there is no op 3, it has 3");
    FAILS(kp_sequence_op_name(seq, 0, NULL, 1), KP_ERROR_ARGUMENT, "kp_sequence_op_name: text is NULL");
    FAILS(kp_sequence_op_name(seq, 0, text, 0), KP_ERROR_ARGUMENT, "kp_sequence_op_name: size is 0");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
}

static void labels_work_without_the_validation_layer(void **state) {
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.labels = KP_ON, .validation = KP_OFF}, &mgr));
    *state = mgr;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    gpu_once(mgr, add, &x, 1, NULL);
    EXPECT(x, 1, 1, 1, 1);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(an_indirect_dispatch_takes_its_launch_from_memory),
        GPU_TEST(a_kernel_says_how_much_the_next_one_does),
        GPU_TEST(kernels_in_python_syntax_dispatch_indirectly_too),
        GPU_TEST(indirect_launches_that_do_not_fit_are_refused),
        GPU_TEST(counts_that_are_destroyed_are_named),
        GPU_TEST(an_op_of_ones_own_is_ordered_like_any_other),
        GPU_TEST(what_is_bound_already_need_not_be_bound_again),
        GPU_TEST(a_callback_that_fails_leaves_the_sequence_usable),
        GPU_TEST(a_buffer_of_ones_own_is_a_tensor),
        GPU_TEST(new_constants_and_launches_reach_recorded_sequences),
        GPU_TEST(changes_that_do_not_fit_leave_the_algorithm_as_it_was),
        GPU_TEST(constants_change_while_work_is_in_flight),
        GPU_TEST(ops_have_names),
        GPU_BARE(labels_work_without_the_validation_layer),
    };
    return gpu_run("ops", tests);
}
