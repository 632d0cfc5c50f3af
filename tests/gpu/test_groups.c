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
    const struct CMUnitTest tests[] = {GPU_TEST(extents_are_rounded_up_to_groups),
                                       GPU_TEST(constants_have_the_ids_of_the_signature),
                                       GPU_TEST(a_subgroup_size_is_met_or_refused)};
    return gpu_run("groups", tests);
}
