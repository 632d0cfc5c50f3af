// Kernels that work in groups: their launches, their constants, and the sizes that they ask for.
#include "gpu.h"

static const char ids[] = "def ids(i: Index2, t: LocalIndex, g: GroupIndex2, n: LocalSize, out: Array[i32]):\n"
                          "    atomic_add(out, 0, 1)\n"
                          "    atomic_max(out, 1, i.x)\n"
                          "    atomic_max(out, 2, i.y)\n"
                          "    atomic_max(out, 3, t)\n"
                          "    atomic_max(out, 4, g.x + 100 * g.y)\n"
                          "    out[5] = n\n";

static kp_tensor *ints(kp_manager *mgr, uint64_t count) {
    kp_tensor *tensor = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = count, .label = "out"}, &tensor));
    return tensor;
}

static void extents_are_rounded_up_to_groups(void **state) {
    kp_manager *mgr = *state;
    static const struct {
        uint32_t local[3], extent[3];
        int32_t expected[6];
    } rows[] = {{{4, 2, 0}, {8, 4, 0}, {32, 7, 3, 7, 101, 8}},
                {{4, 2, 0}, {9, 5, 0}, {12 * 6, 11, 5, 7, 202, 8}},
                {{64, 0, 0}, {1, 3, 0}, {192, 63, 2, 63, 200, 64}},
                {{1, 1, 1}, {3, 2, 0}, {6, 2, 1, 0, 102, 1}}};
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        kp_program *program = NULL;
        kp_compile_desc desc = {0};
        memcpy(desc.local_size, rows[k].local, sizeof desc.local_size);
        OK(kp_compile(ids, &desc, &program));
        assert_int_equal(program->local_size[0], rows[k].local[0]);
        assert_true(program->local_size[1] >= 1 && program->local_size[2] == 1);
        kp_tensor *out = ints(mgr, 6);
        kp_algorithm *algorithm = NULL;
        OK(kp_algorithm_create(
            mgr, &(kp_algorithm_desc){.program = program, .memory = &out, .memory_count = 1, .extent = {1}},
            &algorithm));
        kp_dispatch_desc dispatch = {0};
        memcpy(dispatch.extent, rows[k].extent, sizeof dispatch.extent);
        gpu_once(mgr, algorithm, &out, 1, &dispatch);
        assert_memory_equal(kp_tensor_data(out), rows[k].expected, sizeof rows[k].expected);
        kp_algorithm_destroy(algorithm);
        kp_tensor_destroy(out);
        kp_program_destroy(program);
    }
}

static const char folds[] = "def folds(i: Index2, g: GroupIndex2, n: GroupCount2, t: LocalIndex, w: i32, h: i32,\n"
                            "          out: Array[i32]):\n"
                            "    part = shared(i32, 4)\n"
                            "    part[3 - t] = i.x\n"
                            "    barrier()\n"
                            "    right = g.x == i.x // 4 and g.y == i.y and n.x == (w + 3) // 4 and n.y == h\n"
                            "    if i.x < w and i.y < h:\n"
                            "        out[w * i.y + i.x] += 1 if right and part[3 - t] == i.x else 100\n"
                            "    else:\n"
                            "        atomic_add(out, w * h, 1)\n";

// More workgroups than a device takes on an axis: every group runs once, and knows which one it is.
static void launches_fold(void **state) {
    kp_manager *mgr = *state;
    static const uint32_t extents[][2] = {{3, 70001}, {4 * 65535 + 1, 1}, {4 * 65536 + 1, 2}, {5, 65535}, {5, 65536}};
    kp_program *program = NULL;
    OK(kp_compile(folds, &(kp_compile_desc){.local_size = {4}}, &program));
    for (size_t k = 0; k < COUNT_OF(extents); k++) {
        uint32_t w = extents[k][0], h = extents[k][1], beyond = ((w + 3) / 4 * 4 - w) * h;
        uint64_t n = (uint64_t)w * h;
        int32_t push[2] = {(int32_t)w, (int32_t)h};
        kp_tensor *out = ints(mgr, n + 1);
        kp_algorithm_desc desc = {
            .program = program, .memory = &out, .memory_count = 1, .push = push, .push_size = sizeof push};
        kp_algorithm *algorithm = NULL;
        OK(kp_algorithm_create(mgr, &desc, &algorithm));
        gpu_once(mgr, algorithm, &out, 1, &(kp_dispatch_desc){.extent = {w, h}});
        const int32_t *data = kp_tensor_data(out);
        for (uint64_t i = 0; i < n; i++) {
            if (data[i] != 1)
                fail_msg("%u x %u: index %llu gives %d", w, h, (unsigned long long)i, data[i]);
        }
        assert_int_equal(data[n], beyond);
        kp_algorithm_destroy(algorithm);
        kp_tensor_destroy(out);
    }
    kp_program_destroy(program);
}

static void launches_do_not_fold_where_asked(void **state) {
    (void)state;
    kp_manager *mgr = NULL;
    kp_program *program = NULL;
    kp_algorithm *algorithm = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.regroup = KP_OFF}, &mgr));
    OK(kp_compile(ids, &(kp_compile_desc){.local_size = {4}}, &program));
    uint32_t most = gpu_device(mgr).max_workgroup_count[1];
    kp_tensor *out = ints(mgr, 6);
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &out, .memory_count = 1},
                           &algorithm));
    kp_sequence *seq = gpu_sequence(mgr);
    kp_result result = kp_record_dispatch(seq, algorithm, &(kp_dispatch_desc){.extent = {4, most + 1}});
    if (most < UINT32_MAX)
        FAILS(result, KP_ERROR_LIMIT, "*maxComputeWorkGroupCount on axis y is *");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(out);
    kp_program_destroy(program);
    kp_manager_destroy(mgr);
}

static const char constants[] = "def constants(t: LocalIndex, n: Const[i32], f: Const[f32], on: Const[bool] = True,\n"
                                "              out: Array[i32] = ('buffer', 0, Array(i32))):\n"
                                "    part = shared(i32, n)\n"
                                "    if t < n:\n"
                                "        part[t] = t\n"
                                "    barrier()\n"
                                "    out[0] = len(part)\n"
                                "    out[1] = i32(f) if on else -1\n"
                                "    out[2] = part[n - 1]\n";

static void expect(kp_manager *mgr, kp_algorithm *algorithm, kp_tensor *out, int32_t a, int32_t b, int32_t c) {
    const int32_t *data = kp_tensor_data(out);
    gpu_once(mgr, algorithm, &out, 1, &(kp_dispatch_desc){.extent = {8}});
    assert_int_equal(data[0], a);
    assert_int_equal(data[1], b);
    assert_int_equal(data[2], c);
}

static void constants_have_the_ids_of_the_signature(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = NULL;
    OK(kp_compile(constants, &(kp_compile_desc){.local_size = {8}}, &program));
    assert_int_equal(program->params[1].kind, KP_PARAM_SPEC);
    assert_int_equal(program->params[2].spec_id, 1);
    assert_true(program->params[3].optional && program->params[3].default_bits == 1);
    kp_tensor *out = ints(mgr, 3);
    int32_t n = 5;
    float f = 7.5f;
    bool off = false;
    uint32_t word = 0;
    const kp_spec specs[] = {{1, KP_F32, &f}, {0, KP_I32, &n}, {2, KP_BOOL, &off}};
    kp_algorithm_desc desc = {
        .program = program, .memory = &out, .memory_count = 1, .extent = {8}, .specs = specs, .spec_count = 2};
    kp_algorithm *algorithm = NULL;
    OK(kp_algorithm_create(mgr, &desc, &algorithm));
    expect(mgr, algorithm, out, 5, 7, 4);
    OK(kp_algorithm_set_specs(algorithm, specs, 3));
    expect(mgr, algorithm, out, 5, -1, 4);
    OK(kp_algorithm_set_specs(algorithm, &(kp_spec){2, KP_U32, &word}, 1)); // the others have no value: 1
    expect(mgr, algorithm, out, 1, -1, 0);
    n = 1 << 24;
    FAILS(kp_algorithm_set_specs(algorithm, specs, 2), KP_ERROR_LIMIT, "*maxComputeSharedMemorySize is *67108864*");
    FAILS(kp_algorithm_set_specs(algorithm, &(kp_spec){3, KP_I32, &n}, 1), KP_ERROR_ARGUMENT,
          "*no specialization constant 3; it has 0 (i32), 1 (f32), 2 (bool)");
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(out);
    kp_program_destroy(program);
}

static const char wide[] = "def wide(i: Index, out: Array[i32], a: Const[i64], b: Const[u8] = 200):\n"
                           "    out[0] = i32(a >> 40)\n"
                           "    out[1] = i32(b)\n";

static void constants_are_of_any_size(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = NULL;
    kp_algorithm *algorithm = NULL;
    kp_tensor *out = ints(mgr, 2);
    int64_t a = -((int64_t)5 << 40);
    uint8_t b = 7;
    OK(kp_compile(wide, NULL, &program));
    assert_true(program->params[3].optional && program->params[3].default_bits == 200);
    const kp_spec specs[] = {{0, KP_I64, &a}, {1, KP_U8, &b}};
    kp_algorithm_desc desc = {
        .program = program, .memory = &out, .memory_count = 1, .extent = {1}, .specs = specs, .spec_count = 1};
    kp_result result = kp_algorithm_create(mgr, &desc, &algorithm);
    if (result == KP_ERROR_UNSUPPORTED) {
        assert_true(gpu_matches(kp_last_error(), "algorithm 'wide': * lacks shaderInt*"));
    } else {
        OK(result);
        const int32_t *data = kp_tensor_data(out);
        gpu_once(mgr, algorithm, &out, 1, NULL);
        assert_true(data[0] == -5 && data[1] == 200);
        OK(kp_algorithm_set_specs(algorithm, specs, 2));
        gpu_once(mgr, algorithm, &out, 1, NULL);
        assert_true(data[0] == -5 && data[1] == 7);
        FAILS(kp_algorithm_set_specs(algorithm, &(kp_spec){0, KP_I32, &a}, 1), KP_ERROR_TYPE,
              "*constant 0 is i64 in the module, i32 was given");
    }
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(out);
    kp_program_destroy(program);
}

static const char defaults[] = "def defaults(i: Index, out: Array[i32], a: i32 = -7, b: f32 = 2.5, on: bool = True):\n"
                               "    out[0] = a if on else 0\n"
                               "    out[1] = i32(b * 4)\n";

static void numbers_have_the_defaults_of_the_source(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = NULL;
    kp_algorithm *algorithm = NULL;
    kp_tensor *out = ints(mgr, 2);
    OK(kp_compile(defaults, NULL, &program));
    kp_algorithm_desc desc = {.program = program, .memory = &out, .memory_count = 1, .extent = {1}};
    OK(kp_algorithm_create(mgr, &desc, &algorithm));
    const int32_t *data = kp_tensor_data(out);
    gpu_once(mgr, algorithm, &out, 1, NULL);
    assert_true(data[0] == -7 && data[1] == 10);
    const struct {
        int32_t a;
        float b;
        uint32_t on;
    } push = {3, 0.5f, 0};
    OK(kp_algorithm_set_push(algorithm, &push, sizeof push));
    gpu_once(mgr, algorithm, &out, 1, NULL);
    assert_true(data[0] == 0 && data[1] == 2);
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(out);
    kp_program_destroy(program);
}

static const char size[] = "def size(t: LocalIndex, out: Array[i32]):\n"
                           "    out[t] = subgroup_size()\n";

static void a_subgroup_size_is_met_or_refused(void **state) {
    kp_manager *mgr = *state;
    kp_device_info info = gpu_device(mgr);
    assert_true(info.min_subgroup_size <= info.subgroup_size && info.subgroup_size <= info.max_subgroup_size);
    kp_tensor *out = ints(mgr, 256);
    for (uint32_t asked = 1; asked <= 128; asked *= 2) {
        kp_program *program = NULL;
        kp_algorithm *algorithm = NULL;
        OK(kp_compile(size, &(kp_compile_desc){.local_size = {128}, .subgroup_size = asked}, &program));
        assert_int_equal(program->subgroup_size, asked);
        kp_algorithm_desc desc = {.program = program, .memory = &out, .memory_count = 1, .extent = {128}};
        kp_result result = kp_algorithm_create(mgr, &desc, &algorithm);
        bool offered = asked >= info.min_subgroup_size && asked <= info.max_subgroup_size;
        assert_true(result == KP_OK || result == KP_ERROR_LIMIT || result == KP_ERROR_UNSUPPORTED);
        if (!offered)
            assert_true(result != KP_OK && strstr(kp_last_error(), "subgroup size of ") != NULL);
        if (result == KP_OK) {
            gpu_once(mgr, algorithm, &out, 1, NULL);
            assert_int_equal(((const int32_t *)kp_tensor_data(out))[0], asked);
        }
        kp_algorithm_destroy(algorithm);
        kp_program_destroy(program);
    }
    kp_tensor_destroy(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(extents_are_rounded_up_to_groups), GPU_TEST(launches_fold),
        GPU_BARE(launches_do_not_fold_where_asked), GPU_TEST(constants_have_the_ids_of_the_signature),
        GPU_TEST(constants_are_of_any_size),        GPU_TEST(numbers_have_the_defaults_of_the_source),
        GPU_TEST(a_subgroup_size_is_met_or_refused)};
    return gpu_run("groups", tests);
}
