// Algorithms: bindings, sets, push and specialization constants, launches of modules that are not ours, the cache.
#include "gpu.h"

static void dispatch(kp_manager *mgr, kp_algorithm *algorithm, kp_tensor *out, const kp_dispatch_desc *desc) {
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, algorithm, desc));
    OK(kp_record_sync_local(seq, &out, 1));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
}

static void multiplies(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 3, (float[]){2, 4, 6}), *b = gpu_floats(mgr, "b", 3, (float[]){1, 2, 3}),
              *out = gpu_floats(mgr, "out", 3, NULL);
    kp_algorithm *multiply = gpu_multiply(mgr, a, b, out);
    gpu_once(mgr, multiply, LIST(a, b, out), 3, NULL);
    assert_memory_equal(kp_tensor_data(out), ((float[]){2, 8, 18}), 12);
    assert_true(kp_algorithm_alive(multiply));
    kp_algorithm_destroy(multiply);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
    kp_tensor_destroy(out);
}

static void words_in_the_other_byte_order_and_unaligned_are_taken(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 2, (float[]){3, 5}), *out = gpu_floats(mgr, "out", 2, NULL);
    kp_program *program = gpu_glsl(gpu_multiply_glsl);
    size_t size = program->word_count * 4;
    unsigned char *bytes = malloc(size + 1);
    for (int swap = 0; swap < 2; swap++) {
        for (size_t i = 0; i < size; i++)
            bytes[1 + i] = ((const unsigned char *)program->words)[swap ? i ^ 3 : i];
        kp_algorithm *square = NULL;
        OK(kp_algorithm_create(
            mgr,
            &(kp_algorithm_desc){.spirv = bytes + 1, .spirv_size = size, .memory = LIST(a, a, out), .memory_count = 3},
            &square));
        memset(kp_tensor_data(out), 0, 8);
        gpu_once(mgr, square, LIST(a, out), 2, NULL);
        assert_memory_equal(kp_tensor_data(out), ((float[]){9, 25}), 8);
        kp_algorithm_destroy(square);
    }
    free(bytes);
    kp_program_destroy(program);
    kp_tensor_destroy(a);
    kp_tensor_destroy(out);
}

static void bindings_may_have_gaps_and_more_memory_may_be_given(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t[5];
    for (int i = 0; i < 5; i++)
        t[i] = gpu_floats(mgr, "t", 2, (float[]){(float)i, (float)(10 * i)});
    kp_algorithm *gaps = gpu_algorithm(mgr,
                                       "layout(binding = 1) readonly buffer A { float a[]; };\n"
                                       "layout(binding = 3) buffer B { float b[]; };\n"
                                       "void main() { uint i = gl_GlobalInvocationID.x; b[i] += a[i]; }\n",
                                       &(kp_algorithm_desc){.memory = t, .memory_count = 5});
    gpu_once(mgr, gaps, t, 5, NULL);
    assert_memory_equal(kp_tensor_data(t[3]), ((float[]){4, 40}), 8);
    kp_algorithm_destroy(gaps);
    for (int i = 0; i < 5; i++)
        kp_tensor_destroy(t[i]);
}

static void many_sets_take_memory_in_their_order(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 2, (float[]){1, 2}), *b = gpu_floats(mgr, "b", 2, (float[]){10, 20}),
              *out = gpu_floats(mgr, "out", 2, NULL);
    kp_algorithm *sets = gpu_algorithm(mgr,
                                       "layout(set = 0, binding = 4) readonly buffer A { float a[]; };\n"
                                       "layout(set = 2, binding = 0) readonly buffer B { float b[]; };\n"
                                       "layout(set = 2, binding = 1) buffer C { float c[]; };\n"
                                       "void main() { uint i = gl_GlobalInvocationID.x; c[i] = a[i] - b[i]; }\n",
                                       &(kp_algorithm_desc){.memory = LIST(a, b, out), .memory_count = 3});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(a, b), 2));
    for (int i = 0; i < 300; i++) // more than a descriptor pool holds
        OK(kp_record_dispatch(seq, sets, NULL));
    OK(kp_record_sync_local(seq, &out, 1));
    OK(kp_sequence_eval(seq));
    OK(kp_sequence_rerecord(seq));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(out), ((float[]){-9, -18}), 8);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(sets);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
    kp_tensor_destroy(out);
}

static void uniform_buffers_are_bound(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *factor = gpu_floats(mgr, "factor", 4, (float[]){3, 100, 0, 0}),
              *x = gpu_floats(mgr, "x", 2, (float[]){1, 2});
    kp_algorithm *scale = gpu_algorithm(mgr,
                                        "layout(binding = 0) buffer X { float x[]; };\n"
                                        "layout(binding = 1) uniform F { vec4 f; };\n"
                                        "void main() { uint i = gl_GlobalInvocationID.x; x[i] = x[i] * f.x + f.y; }\n",
                                        &(kp_algorithm_desc){.memory = LIST(x, factor), .memory_count = 2});
    gpu_once(mgr, scale, LIST(x, factor), 2, NULL);
    assert_memory_equal(kp_tensor_data(x), ((float[]){103, 106}), 8);
    kp_algorithm_destroy(scale);
    kp_tensor_destroy(factor);
    kp_tensor_destroy(x);
}

static const char push_glsl[] = "layout(push_constant) uniform P { float f; uint u; int i; } p;\n"
                                "layout(binding = 0) buffer Out { float x[]; };\n"
                                "void main() { x[0] = p.f; x[1] = float(p.u); x[2] = float(p.i); }\n";

struct push {
    float f;
    uint32_t u;
    int32_t i;
};

static void push_constants_default_and_override(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *out = gpu_floats(mgr, "out", 3, NULL);
    struct push p = {1.5f, 7, -3}, q = {2.5f, 8, -4};
    kp_algorithm_desc desc = {.memory = &out,
                              .memory_count = 1,
                              .workgroups = {1, 1, 1},
                              .push = &p,
                              .push_size = sizeof p,
                              .label = "pushes"};
    kp_algorithm *pushes = gpu_algorithm(mgr, push_glsl, &desc);
    p.f = 99; // copied
    dispatch(mgr, pushes, out, NULL);
    assert_memory_equal(kp_tensor_data(out), ((float[]){1.5f, 7, -3}), 12);
    dispatch(mgr, pushes, out, &(kp_dispatch_desc){.push = &q, .push_size = sizeof q});
    assert_memory_equal(kp_tensor_data(out), ((float[]){2.5f, 8, -4}), 12);
    dispatch(mgr, pushes, out, NULL);
    assert_memory_equal(kp_tensor_data(out), ((float[]){1.5f, 7, -3}), 12);
    kp_algorithm_destroy(pushes);
    kp_tensor_destroy(out);
}

static void new_push_constants_reach_recorded_sequences(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *out = gpu_floats(mgr, "out", 3, NULL);
    struct push p = {1, 2, 3};
    kp_algorithm *pushes = gpu_algorithm(mgr, push_glsl,
                                         &(kp_algorithm_desc){.memory = &out,
                                                              .memory_count = 1,
                                                              .workgroups = {1},
                                                              .push = &p,
                                                              .push_size = sizeof p,
                                                              .label = "pushes"});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, pushes, NULL));
    OK(kp_record_sync_local(seq, &out, 1));
    for (int i = 0; i < 5; i++) {
        p.f = (float)i;
        OK(kp_algorithm_set_push(pushes, &p, sizeof p));
        OK(kp_sequence_eval(seq));
        assert_true(((float *)kp_tensor_data(out))[0] == (float)i);
    }
    FAILS(kp_algorithm_set_push(pushes, &p, 4), KP_ERROR_ARGUMENT,
          "algorithm 'pushes': made with 12 bytes of push constants, 4 were given");
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(pushes);
    kp_tensor_destroy(out);
}

static void new_memory_reaches_recorded_sequences(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 2, (float[]){1, 2}), *b = gpu_floats(mgr, "b", 4, (float[]){3, 4, 5, 6}),
              *out = gpu_floats(mgr, "out", 4, NULL);
    kp_algorithm *square = gpu_multiply(mgr, a, a, out);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(a, b, out), 3));
    OK(kp_record_dispatch(seq, square, NULL));
    OK(kp_record_sync_local(seq, &out, 1));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(out), ((float[]){1, 4, 0, 0}), 16);
    OK(kp_algorithm_bind(square, LIST(b, b, out), 3)); // and the launch is as long as the new memory[0]
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(out), ((float[]){9, 16, 25, 36}), 16);
    FAILS(kp_algorithm_bind(square, LIST(b), 1), KP_ERROR_ARGUMENT,
          "algorithm 'multiply': the module uses binding 1 of set 0 ('B'), but only 1 memory is given");
    OK(kp_algorithm_bind(square, LIST(a, a, out), 3));
    kp_tensor_destroy(b); // the syncs still name it
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE, "sequence 'sequence': tensor 'b', which it recorded, is destroyed");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(a);
    kp_tensor_destroy(out);
}

static void specialization_constants_of_each_type(void **state) {
    kp_manager *mgr = *state;
    static const char text[] = "layout(constant_id = 0) const uint u = 1;\n"
                               "layout(constant_id = 7) const float f = 2.0;\n"
                               "layout(constant_id = 9) const bool b = false;\n"
                               "layout(constant_id = 1000) const int i = 4;\n"
                               "layout(binding = 0) buffer Out { float x[]; };\n"
                               "void main() { x[0] = float(u); x[1] = f; x[2] = b ? 1.0 : 0.0; x[3] = float(i); }\n";
    kp_tensor *out = gpu_floats(mgr, "out", 4, NULL);
    uint32_t u = 11;
    float f = 0.25f;
    unsigned char b = 1;
    int32_t i = -5;
    kp_spec specs[] = {{1000, KP_I32, &i}, {9, KP_BOOL, &b}, {7, KP_F32, &f}, {0, KP_U32, &u}};
    kp_algorithm_desc desc = {.memory = &out, .memory_count = 1, .workgroups = {1}, .label = "special"};
    kp_algorithm *plain = gpu_algorithm(mgr, text, &desc);
    desc.specs = specs;
    desc.spec_count = 4;
    kp_algorithm *special = gpu_algorithm(mgr, text, &desc);
    dispatch(mgr, plain, out, NULL);
    assert_memory_equal(kp_tensor_data(out), ((float[]){1, 2, 0, 4}), 16);
    dispatch(mgr, special, out, NULL);
    assert_memory_equal(kp_tensor_data(out), ((float[]){11, 0.25f, 1, -5}), 16);
    kp_program *program = gpu_glsl(text);
    desc.program = program;
    kp_algorithm *bad = NULL;
    specs[0].id = 5;
    FAILS(kp_algorithm_create(mgr, &desc, &bad), KP_ERROR_ARGUMENT,
          "algorithm 'special': the module has no specialization constant 5; it has 0 (u32), 7 (f32), 9 (bool), 1000 "
          "(i32)");
    specs[0] = (kp_spec){7, KP_F32, &f};
    FAILS(kp_algorithm_create(mgr, &desc, &bad), KP_ERROR_ARGUMENT,
          "algorithm 'special': specialization constant 7 is given twice");
    specs[0] = (kp_spec){1000, KP_I64, &(int64_t){1}};
    FAILS(kp_algorithm_create(mgr, &desc, &bad), KP_ERROR_TYPE,
          "algorithm 'special': specialization constant 1000 is i32 in the module, i64 was given");
    specs[0] = (kp_spec){1000, KP_I32, NULL};
    FAILS(kp_algorithm_create(mgr, &desc, &bad), KP_ERROR_ARGUMENT,
          "algorithm 'special': specialization constant 1000 has no value");
    specs[0] = (kp_spec){1000, KP_F32, &(float){2}};
    FAILS(kp_algorithm_create(mgr, &desc, &bad), KP_ERROR_TYPE,
          "algorithm 'special': specialization constant 1000 is i32 in the module, f32 was given");
    specs[0] = (kp_spec){7, KP_I32, &i};
    FAILS(kp_algorithm_create(mgr, &desc, &bad), KP_ERROR_TYPE,
          "algorithm 'special': specialization constant 7 is f32 in the module, i32 was given");
    kp_program_destroy(program);
    kp_algorithm_destroy(plain);
    kp_algorithm_destroy(special);
    kp_tensor_destroy(out);
}

static void a_local_size_from_constants_divides_the_extent(void **state) {
    kp_manager *mgr = *state;
    static const char text[] =
        "layout(local_size_x_id = 0, local_size_y_id = 1) in;\n"
        "layout(binding = 0) buffer Out { uint x[]; };\n"
        "void main() { atomicAdd(x[0], 1); x[1] = gl_NumWorkGroups.x; x[2] = gl_NumWorkGroups.y; }\n";
    for (uint32_t lx = 1; lx <= 8; lx *= 2) {
        kp_tensor *out = NULL;
        uint32_t ly = 4;
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 3}, &out));
        kp_spec specs[] = {{0, KP_U32, &lx}, {1, KP_U32, &ly}};
        kp_algorithm *counts = gpu_algorithm(
            mgr, text, &(kp_algorithm_desc){.memory = &out, .memory_count = 1, .specs = specs, .spec_count = 2});
        gpu_once(mgr, counts, &out, 1, &(kp_dispatch_desc){.extent = {17, 5, 0}});
        const uint32_t *x = kp_tensor_data(out);
        assert_int_equal(x[1], (17 + lx - 1) / lx);
        assert_int_equal(x[2], 2);
        assert_int_equal(x[0], x[1] * 2 * lx * ly);
        kp_algorithm_destroy(counts);
        kp_tensor_destroy(out);
    }
}

static void launches_default_to_the_first_memory_and_can_be_given(void **state) {
    kp_manager *mgr = *state;
    static const char text[] =
        "layout(binding = 0) buffer Out { uint x[]; };\n"
        "void main() { x[0] = gl_NumWorkGroups.x; x[1] = gl_NumWorkGroups.y; x[2] = gl_NumWorkGroups.z; }\n";
    kp_tensor *out = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 3}, &out));
    kp_algorithm_desc desc = {.memory = &out, .memory_count = 1};
    kp_algorithm *plain = gpu_algorithm(mgr, text, &desc);
    desc.workgroups[1] = 5;
    kp_algorithm *given = gpu_algorithm(mgr, text, &desc);
    dispatch(mgr, plain, out, NULL);
    assert_memory_equal(kp_tensor_data(out), ((uint32_t[]){3, 1, 1}), 12);
    dispatch(mgr, given, out, NULL);
    assert_memory_equal(kp_tensor_data(out), ((uint32_t[]){1, 5, 1}), 12);
    dispatch(mgr, given, out, &(kp_dispatch_desc){.workgroups = {2, 3, 4}});
    assert_memory_equal(kp_tensor_data(out), ((uint32_t[]){2, 3, 4}), 12);
    dispatch(mgr, given, out, &(kp_dispatch_desc){.extent = {6, 0, 7}}); // of invocations: the local size is 1
    assert_memory_equal(kp_tensor_data(out), ((uint32_t[]){6, 1, 7}), 12);
    kp_algorithm_destroy(plain);
    kp_algorithm_destroy(given);
    kp_tensor_destroy(out);
}

static void a_module_without_bindings_runs(void **state) {
    kp_manager *mgr = *state;
    kp_algorithm *nothing =
        gpu_algorithm(mgr, "void main() {}\n", &(kp_algorithm_desc){.workgroups = {1}, .label = "nothing"});
    kp_algorithm *unlaunched = gpu_algorithm(mgr, "void main() {}\n", &(kp_algorithm_desc){.label = "nothing"});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, nothing, NULL));
    OK(kp_sequence_eval(seq));
    FAILS(kp_record_dispatch(seq, unlaunched, NULL), KP_ERROR_ARGUMENT,
          "algorithm 'nothing': no launch was given, and there is no memory to take one from");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(nothing);
    kp_algorithm_destroy(unlaunched);
}

static void the_same_words_again_are_quick_and_many_leave_nothing(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 2, (float[]){1, 2});
    for (uint32_t i = 0; i < 2000; i++) { // cached: this would take a minute otherwise
        kp_algorithm *square = NULL;
        kp_program *program = i % 500 == 0 ? gpu_glsl(gpu_multiply_glsl) : NULL;
        static uint32_t words[4096];
        static size_t count;
        if (program != NULL) {
            count = program->word_count;
            memcpy(words, program->words, count * 4);
            kp_program_destroy(program);
        }
        OK(kp_algorithm_create(
            mgr,
            &(kp_algorithm_desc){.spirv = words, .spirv_size = count * 4, .memory = LIST(a, a, a), .memory_count = 3},
            &square));
        kp_algorithm_destroy(square);
    }
    // Each of these is another pipeline: the old ones go.
    static const char text[] = "layout(constant_id = 0) const uint u = 1;\n"
                               "layout(binding = 0) buffer Out { float x[]; };\nvoid main() { x[0] = float(u); }\n";
    kp_program *program = gpu_glsl(text);
    for (uint32_t i = 0; i < 200; i++) {
        kp_algorithm *one = NULL;
        OK(kp_algorithm_create(mgr,
                               &(kp_algorithm_desc){.program = program,
                                                    .memory = &a,
                                                    .memory_count = 1,
                                                    .workgroups = {1},
                                                    .specs = &(kp_spec){0, KP_U32, &i},
                                                    .spec_count = 1},
                               &one));
        dispatch(mgr, one, a, NULL);
        assert_true(((float *)kp_tensor_data(a))[0] == (float)i);
        kp_algorithm_destroy(one);
    }
    kp_program_destroy(program);
    kp_tensor_destroy(a);
}

static void wide_types_run_where_the_device_has_them(void **state) {
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    static const char f64[] = "layout(binding = 0) buffer Out { double x[]; };\n"
                              "void main() { x[0] = x[0] * double(0.5); }\n";
    kp_tensor *x = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_F64, .count = 1, .data = (double[]){3}}, &x));
    if (device.float64) {
        kp_algorithm *half = gpu_algorithm(mgr, f64, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
        gpu_once(mgr, half, &x, 1, NULL);
        assert_true(((double *)kp_tensor_data(x))[0] == 1.5);
        kp_algorithm_destroy(half);
    } else {
        kp_program *program = gpu_glsl(f64);
        kp_algorithm *bad = NULL;
        FAILS(
            kp_algorithm_create(
                mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1, .label = "half"}, &bad),
            KP_ERROR_UNSUPPORTED,
            "algorithm 'half': * lacks shaderFloat64, which the module's capability Float64 needs");
        kp_program_destroy(program);
    }
    kp_tensor_destroy(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(multiplies),
        GPU_TEST(words_in_the_other_byte_order_and_unaligned_are_taken),
        GPU_TEST(bindings_may_have_gaps_and_more_memory_may_be_given),
        GPU_TEST(many_sets_take_memory_in_their_order),
        GPU_TEST(uniform_buffers_are_bound),
        GPU_TEST(push_constants_default_and_override),
        GPU_TEST(new_push_constants_reach_recorded_sequences),
        GPU_TEST(new_memory_reaches_recorded_sequences),
        GPU_TEST(specialization_constants_of_each_type),
        GPU_TEST(a_local_size_from_constants_divides_the_extent),
        GPU_TEST(launches_default_to_the_first_memory_and_can_be_given),
        GPU_TEST(a_module_without_bindings_runs),
        GPU_TEST(the_same_words_again_are_quick_and_many_leave_nothing),
        GPU_TEST(wide_types_run_where_the_device_has_them),
    };
    return gpu_run("algorithm", tests);
}
