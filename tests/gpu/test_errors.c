// Bad input: each gives one clear line, and everything stays usable.
#include "gpu.h"

static kp_result from_bytes(kp_manager *mgr, const void *bytes, size_t size, kp_tensor *x) {
    kp_algorithm *algorithm = NULL;
    kp_result result = kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.spirv = bytes, .spirv_size = size, .memory = LIST(x, x, x), .memory_count = 3},
        &algorithm);
    kp_algorithm_destroy(algorithm);
    return result;
}

static void what_is_not_spirv_is_refused(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 2, (float[]){1, 2});
    kp_program *program = gpu_glsl(gpu_multiply_glsl);
    size_t size = program->word_count * 4;
    unsigned char *bytes = malloc(size + 4);
    memcpy(bytes, program->words, size);
    FAILS(from_bytes(mgr, bytes, 0, x), KP_ERROR_SPIRV, "algorithm 'algorithm': *");
    FAILS(from_bytes(mgr, "#version 450\nvoid main() {}\n", 28, x), KP_ERROR_SPIRV, "algorithm 'algorithm': *");
    FAILS(from_bytes(mgr, bytes, size - 3, x), KP_ERROR_SPIRV, "algorithm 'algorithm': *");
    for (size_t cut = 0; cut < size; cut += 4) // cut short anywhere
        FAILS(from_bytes(mgr, bytes, cut, x), KP_ERROR_SPIRV, "algorithm 'algorithm': *");
    uint32_t random = 1; // random words never reach the driver
    for (int round = 0; round < 300; round++) {
        memcpy(bytes, program->words, size);
        for (int i = 0; i < 1 + round % 3; i++) {
            random = random * 1664525u + 1013904223u;
            size_t at = 20 + (random >> 8) % (size - 20);
            bytes[at] ^= (unsigned char)(1u << (random >> 5 & 7u));
        }
        kp_result result = from_bytes(mgr, bytes, size, x);
        assert_true(result == KP_OK || result == KP_ERROR_SPIRV || result == KP_ERROR_ARGUMENT ||
                    result == KP_ERROR_UNSUPPORTED || result == KP_ERROR_LIMIT);
    }
    OK(from_bytes(mgr, program->words, size, x));
    free(bytes);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
}

static void entry_points_are_found(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 2, (float[]){1, 2});
    kp_program *program = gpu_glsl(gpu_multiply_glsl);
    kp_algorithm *algorithm = NULL;
    kp_algorithm_desc desc = {
        .program = program, .entry = "kernel", .memory = LIST(x, x, x), .memory_count = 3, .label = "a"};
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT, "algorithm 'a': *kernel*main*");
    desc.entry = "main";
    OK(kp_algorithm_create(mgr, &desc, &algorithm));
    kp_algorithm_destroy(algorithm);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
}

static void bindings_must_match(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 2, NULL);
    kp_program *program = gpu_glsl(gpu_multiply_glsl);
    kp_algorithm *algorithm = NULL;
    kp_algorithm_desc desc = {.program = program, .memory = LIST(x, x), .memory_count = 2, .label = "m"};
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'm': the module uses binding 2 of set 0 ('Out'), but only 2 memories are given");
    desc.memory_count = 1;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'm': the module uses binding 1 of set 0 ('B'), but only 1 memory is given");
    desc.memory = NULL;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'm': memory is NULL, but memory_count is 1");
    desc.memory = LIST(x, NULL, x);
    desc.memory_count = 3;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT, "algorithm 'm': memory[1] is NULL");
    kp_program_destroy(program);
    program =
        gpu_glsl("layout(binding = 0) buffer X { float head[4]; float x[]; };\nvoid main() { x[0] = head[3]; }\n");
    desc = (kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1, .label = "m"};
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'm': binding 0 of set 0 ('X') needs at least 16 bytes, tensor 'x' has 8");
    kp_program_destroy(program);
    program =
        gpu_glsl("layout(binding = 0, r32f) uniform image2D i;\nvoid main() { imageStore(i, ivec2(0), vec4(1)); }\n");
    desc.program = program;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_TYPE,
          "algorithm 'm': binding 0 of set 0 ('i') is a storage image, 'x' is a tensor");
    kp_program_destroy(program);
    program =
        gpu_glsl("layout(binding = 0, r32f) uniform imageBuffer i;\nvoid main() { imageStore(i, 0, vec4(1)); }\n");
    desc.program = program;
    FAILS(
        kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_UNSUPPORTED,
        "algorithm 'm': binding 0 of set 0 is a storage texel buffer; only buffers, images and samplers can be bound");
    kp_program_destroy(program);
    program = gpu_glsl(
        "layout(binding = 0, r32f) uniform image2DArray i;\nvoid main() { imageStore(i, ivec3(0), vec4(1)); }\n");
    desc.program = program;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_UNSUPPORTED,
          "algorithm 'm': binding 0 of set 0 is a storage image with layers; none has them");
    kp_program_destroy(program);
    program = gpu_glsl("layout(binding = 0) buffer X { float x[]; } b[2];\nvoid main() { b[1].x[0] = 1.0; }\n");
    desc.program = program;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_UNSUPPORTED,
          "algorithm 'm': binding 0 of set 0 is an array of storage buffers; only single ones can be bound");
    kp_program_destroy(program);
    assert_null(algorithm);
    kp_tensor_destroy(x);
}

static void local_size_and_shared_memory_are_checked(void **state) {
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    kp_tensor *x = gpu_floats(mgr, "x", 2, NULL);
    kp_algorithm *algorithm = NULL;
    kp_program *program = gpu_glsl("layout(local_size_x_id = 0, local_size_y_id = 1) in;\n"
                                   "layout(constant_id = 2) const uint n = 1;\n"
                                   "layout(binding = 0) buffer X { float x[]; };\n"
                                   "shared float s[n];\n"
                                   "void main() { s[gl_LocalInvocationID.x % n] = 1.0; barrier(); x[0] = s[0]; }\n");
    uint32_t lx = device.max_workgroup_size[0] + 1, ly = 1, n = 1;
    kp_spec specs[] = {{0, KP_U32, &lx}, {1, KP_U32, &ly}, {2, KP_U32, &n}};
    kp_algorithm_desc desc = {
        .program = program, .memory = &x, .memory_count = 1, .specs = specs, .spec_count = 3, .label = "a"};
    char words[300];
    snprintf(words, sizeof words,
             "algorithm 'a': maxComputeWorkGroupSize on axis x is %u, the module's local size is %u",
             device.max_workgroup_size[0], lx);
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_LIMIT, words);
    lx = device.max_workgroup_size[0];
    ly = 2;
    if (device.max_workgroup_invocations < lx * ly) {
        snprintf(words, sizeof words,
                 "algorithm 'a': maxComputeWorkGroupInvocations is %u, the module's local size %u x 2 x 1 has %u",
                 device.max_workgroup_invocations, lx, lx * 2);
        FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_LIMIT, words);
    }
    lx = ly = 1;
    n = device.max_shared_memory / 4 + 1;
    snprintf(words, sizeof words, "algorithm 'a': maxComputeSharedMemorySize is %u bytes, the module shares %u",
             device.max_shared_memory, device.max_shared_memory / 4 * 4 + 4);
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_LIMIT, words);
    lx = 0;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_SPIRV, "algorithm 'a': *local size*axis x*");
    lx = n = 1;
    OK(kp_algorithm_create(mgr, &desc, &algorithm));
    kp_algorithm_destroy(algorithm);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
}

static void push_constants_are_checked(void **state) {
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    kp_tensor *x = gpu_floats(mgr, "x", 2, NULL);
    kp_algorithm *algorithm = NULL;
    unsigned char bytes[512] = {0};
    kp_program *program = gpu_glsl("layout(push_constant) uniform P { float a, b, c; };\n"
                                   "layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[0] = a + b + c; }\n");
    kp_algorithm_desc desc = {.program = program, .memory = &x, .memory_count = 1, .label = "p"};
    desc.push = bytes;
    desc.push_size = 8;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'p': the module has 12 bytes of push constants, 8 were given");
    desc.push_size = 512;
    if (device.max_push_constants < 512)
        FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_LIMIT,
              "algorithm 'p': maxPushConstantsSize is * bytes, 512 were given (a buffer can hold more)");
    desc.push = NULL;
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'p': push is NULL, but push_size is 512");
    desc.push_size = 0;
    OK(kp_algorithm_create(mgr, &desc, &algorithm));
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_dispatch(seq, algorithm, NULL), KP_ERROR_ARGUMENT,
          "sequence 'sequence': algorithm 'p' has 12 bytes of push constants, none were given");
    FAILS(kp_record_dispatch(seq, algorithm, &(kp_dispatch_desc){.push = bytes, .push_size = 4}), KP_ERROR_ARGUMENT,
          "algorithm 'p': the module has 12 bytes of push constants, 4 were given");
    OK(kp_record_dispatch(seq, algorithm, &(kp_dispatch_desc){.push = bytes, .push_size = 12}));
    OK(kp_record_dispatch(seq, algorithm, &(kp_dispatch_desc){.push = bytes, .push_size = 16})); // a C struct's padding
    OK(kp_sequence_eval(seq));
    kp_algorithm_destroy(algorithm);
    kp_program_destroy(program);
    program = gpu_glsl("layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[0] = 1.0; }\n");
    desc = (kp_algorithm_desc){
        .program = program, .memory = &x, .memory_count = 1, .push = bytes, .push_size = 4, .label = "p"};
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'p': the module has no push constants, 4 bytes were given");
    kp_program_destroy(program);
    char text[300];
    snprintf(text, sizeof text,
             "layout(push_constant) uniform P { float a[%u]; };\n"
             "layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[0] = a[1]; }\n",
             device.max_push_constants / 4 + 1);
    program = gpu_glsl(text);
    desc = (kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1, .label = "p"};
    FAILS(kp_algorithm_create(mgr, &desc, &algorithm), KP_ERROR_LIMIT,
          "algorithm 'p': maxPushConstantsSize is * bytes, the module has * bytes of push constants (a buffer can hold "
          "more)");
    kp_program_destroy(program);
    kp_sequence_destroy(seq);
    kp_tensor_destroy(x);
}

static void workgroups_are_checked_on_each_axis(void **state) {
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    kp_tensor *x = gpu_floats(mgr, "x", 2, NULL);
    kp_algorithm *add =
        gpu_algorithm(mgr, "layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[0] += 1.0; }\n",
                      &(kp_algorithm_desc){.memory = &x, .memory_count = 1, .label = "a"});
    kp_sequence *seq = gpu_sequence(mgr);
    for (unsigned axis = 0; axis < 3; axis++) {
        if (device.max_workgroup_count[axis] == UINT32_MAX)
            continue;
        kp_dispatch_desc desc = {0};
        char words[300];
        desc.workgroups[axis] = device.max_workgroup_count[axis] + 1;
        snprintf(words, sizeof words,
                 "algorithm 'a': maxComputeWorkGroupCount on axis %c is %u, the launch has %u workgroups", "xyz"[axis],
                 device.max_workgroup_count[axis], desc.workgroups[axis]);
        FAILS(kp_record_dispatch(seq, add, &desc), KP_ERROR_LIMIT, words);
        desc = (kp_dispatch_desc){0};
        desc.extent[axis] = UINT32_MAX;
        FAILS(kp_record_dispatch(seq, add, &desc), KP_ERROR_LIMIT, "algorithm 'a': maxComputeWorkGroupCount on axis *");
    }
    FAILS(kp_record_dispatch(seq, add, &(kp_dispatch_desc){.workgroups = {1}, .extent = {1}}), KP_ERROR_ARGUMENT,
          "algorithm 'a': give workgroups or extent, not both");
    assert_int_equal(kp_sequence_op_count(seq), 0);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

static void memory_of_another_manager_is_refused(void **state) {
    kp_manager *mgr = *state, *other = NULL;
    OK(kp_manager_create(NULL, &other));
    kp_tensor *mine = gpu_floats(mgr, "mine", 2, NULL), *theirs = gpu_floats(other, "theirs", 2, NULL);
    kp_algorithm *foreign = gpu_multiply(other, theirs, theirs, theirs), *own = gpu_multiply(mgr, mine, mine, mine),
                 *none = NULL;
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_sync_device(seq, LIST(mine, theirs), 2), KP_ERROR_ARGUMENT,
          "sequence 'sequence': tensor 'theirs' belongs to another manager");
    FAILS(kp_record_copy(seq, LIST(mine, theirs), 2), KP_ERROR_ARGUMENT,
          "sequence 'sequence': tensor 'theirs' belongs to another manager");
    FAILS(kp_record_dispatch(seq, foreign, NULL), KP_ERROR_ARGUMENT,
          "sequence 'sequence': algorithm 'multiply' belongs to another manager");
    FAILS(kp_algorithm_bind(own, LIST(mine, mine, theirs), 3), KP_ERROR_ARGUMENT,
          "algorithm 'multiply': tensor 'theirs' belongs to another manager");
    kp_program *program = gpu_glsl(gpu_multiply_glsl);
    FAILS(kp_algorithm_create(
              mgr,
              &(kp_algorithm_desc){
                  .program = program, .memory = LIST(mine, mine, theirs), .memory_count = 3, .label = "m"},
              &none),
          KP_ERROR_ARGUMENT, "algorithm 'm': tensor 'theirs' belongs to another manager");
    kp_program_destroy(program);
    OK(kp_record_dispatch(seq, own, NULL));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(foreign);
    kp_algorithm_destroy(own);
    kp_tensor_destroy(mine);
    kp_tensor_destroy(theirs);
    kp_manager_destroy(other);
}

static void destroyed_objects_are_named(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 2, NULL), *y = gpu_floats(mgr, "y", 2, NULL);
    kp_algorithm *multiply = gpu_multiply(mgr, x, x, y);
    kp_sequence *seq = NULL;
    OK(kp_sequence_create(mgr, &(kp_sequence_desc){.label = "s"}, &seq));
    OK(kp_record_dispatch(seq, multiply, NULL));
    kp_tensor_destroy(y);
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE, "sequence 's': tensor 'y', which it recorded, is destroyed");
    FAILS(kp_record_dispatch(seq, multiply, NULL), KP_ERROR_STATE,
          "sequence 's': tensor 'y', which algorithm 'multiply' binds, is destroyed");
    OK(kp_algorithm_bind(multiply, LIST(x, x, x), 3));
    OK(kp_sequence_eval(seq)); // bound anew: well again
    kp_algorithm_destroy(multiply);
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE, "sequence 's': algorithm 'multiply', which it recorded, is destroyed");
    OK(kp_sequence_clear(seq));
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_tensor_destroy(x);
}

static void null_arguments_are_refused(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = NULL;
    kp_algorithm *algorithm = NULL;
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_tensor_create(NULL, &(kp_tensor_desc){.count = 1}, &x), KP_ERROR_ARGUMENT,
          "kp_tensor_create: manager is NULL");
    FAILS(kp_tensor_create(mgr, NULL, &x), KP_ERROR_ARGUMENT, "kp_tensor_create: desc is NULL");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 1}, NULL), KP_ERROR_ARGUMENT,
          "kp_tensor_create: out is NULL");
    FAILS(kp_algorithm_create(mgr, NULL, &algorithm), KP_ERROR_ARGUMENT, "kp_algorithm_create: desc is NULL");
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.label = "a"}, &algorithm), KP_ERROR_ARGUMENT,
          "algorithm 'a': no program and no SPIR-V was given");
    FAILS(kp_algorithm_create(NULL, &(kp_algorithm_desc){0}, &algorithm), KP_ERROR_ARGUMENT,
          "kp_algorithm_create: manager is NULL");
    FAILS(kp_sequence_create(mgr, NULL, NULL), KP_ERROR_ARGUMENT, "kp_sequence_create: out is NULL");
    FAILS(kp_record_sync_device(seq, NULL, 2), KP_ERROR_ARGUMENT,
          "sequence 'sequence': memory is NULL, but count is 2");
    FAILS(kp_record_sync_device(seq, LIST(NULL), 1), KP_ERROR_ARGUMENT, "sequence 'sequence': memory[0] is NULL");
    FAILS(kp_record_dispatch(seq, NULL, NULL), KP_ERROR_ARGUMENT, "sequence 'sequence': algorithm is NULL");
    FAILS(kp_record_dispatch(NULL, NULL, NULL), KP_ERROR_ARGUMENT, "*: sequence is NULL");
    FAILS(kp_sequence_eval(NULL), KP_ERROR_ARGUMENT, "kp_sequence_eval: sequence is NULL");
    FAILS(kp_sequence_await(NULL, 0), KP_ERROR_ARGUMENT, "kp_sequence_await: sequence is NULL");
    FAILS(kp_manager_device(mgr, NULL), KP_ERROR_ARGUMENT, "kp_manager_device: out is NULL");
    FAILS(kp_manager_memory(NULL, NULL), KP_ERROR_ARGUMENT, "kp_manager_memory: manager is NULL");
    FAILS(kp_view_create(NULL, NULL), KP_ERROR_ARGUMENT, "kp_view_create: tensor is NULL");
    FAILS(kp_algorithm_bind(NULL, NULL, 0), KP_ERROR_ARGUMENT, "kp_algorithm_bind: algorithm is NULL");
    assert_null(kp_tensor_data(NULL));
    assert_int_equal(kp_tensor_count(NULL) + kp_tensor_bytes(NULL) + kp_tensor_shape(NULL, NULL), 0);
    assert_int_equal(kp_tensor_dtype(NULL), KP_F32);
    assert_false(kp_memory_alive(NULL) || kp_algorithm_alive(NULL) || kp_sequence_alive(NULL));
    assert_false(kp_sequence_is_running(NULL) || kp_sequence_is_recording(NULL));
    assert_int_equal(kp_sequence_op_count(NULL), 0);
    assert_null(x);
    assert_null(algorithm);
    kp_sequence_destroy(seq);
}

static void odd_tensor_descriptors_are_refused(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = NULL;
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = (kp_dtype)77, .count = 1}, &t), KP_ERROR_ARGUMENT,
          "tensor 'tensor': 77 is not an element type");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.memory_type = (kp_memory_type)9, .count = 1}, &t), KP_ERROR_ARGUMENT,
          "tensor 'tensor': 9 is not a memory type");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 7, .ndim = 2, .shape = {2, 3}}, &t), KP_ERROR_ARGUMENT,
          "tensor 'tensor': count is 7, but the shape has 6 elements");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.ndim = 9}, &t), KP_ERROR_ARGUMENT,
          "tensor 'tensor': 9 axes, at most 8 are possible");
    assert_null(t);
}

static void words_that_cannot_be_there_are_refused(void **state) {
    kp_manager *mgr = *state;
    kp_algorithm *algorithm = NULL;
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = &(kp_program){0}, .label = "a"}, &algorithm),
          KP_ERROR_ARGUMENT, "algorithm 'a': the program has no words");
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = &(kp_program){.word_count = 9}, .label = "a"},
                              &algorithm),
          KP_ERROR_ARGUMENT, "algorithm 'a': the program has no words");
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.spirv = "", .spirv_size = (size_t)-1, .label = "a"},
                              &algorithm), // as from a file that could not be measured
          KP_ERROR_SPIRV, "algorithm 'a': no module has * bytes");
    kp_program endless = {.words = (uint32_t[]){0x07230203}, .word_count = SIZE_MAX / 2 + 1};
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = &endless, .label = "a"}, &algorithm), KP_ERROR_SPIRV,
          "algorithm 'a': no module has * bytes");
    assert_null(algorithm);
}

static void more_timestamps_than_a_driver_can_count_are_refused(void **state) {
    kp_manager *mgr = *state;
    static const uint32_t counts[] = {UINT32_MAX, UINT32_MAX - 1, (1u << 20) + 1};
    kp_sequence *seq = NULL;
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        FAILS(kp_sequence_create(mgr, &(kp_sequence_desc){.timestamps = counts[i]}, &seq), KP_ERROR_LIMIT,
              "sequence 'sequence': at most 1048576 ops get a timestamp, * were asked for");
    assert_null(seq);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(what_is_not_spirv_is_refused),
        GPU_TEST(entry_points_are_found),
        GPU_TEST(bindings_must_match),
        GPU_TEST(local_size_and_shared_memory_are_checked),
        GPU_TEST(push_constants_are_checked),
        GPU_TEST(workgroups_are_checked_on_each_axis),
        GPU_TEST(memory_of_another_manager_is_refused),
        GPU_TEST(destroyed_objects_are_named),
        GPU_TEST(null_arguments_are_refused),
        GPU_TEST(odd_tensor_descriptors_are_refused),
        GPU_TEST(words_that_cannot_be_there_are_refused),
        GPU_TEST(more_timestamps_than_a_driver_can_count_are_refused),
    };
    return gpu_run("errors", tests);
}
