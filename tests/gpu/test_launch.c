// Launches of kernels of our own: by blocks (base/launch.h) every index runs exactly once, whatever the extent, and the
// result is what one invocation per index gives.
#include "gpu.h"

static kp_program *compile(const char *source) {
    kp_program *program = NULL;
    OK(kp_compile(source, NULL, &program));
    return program;
}

// Every index adds 1 to its element, and nothing else: too few, too many and wrong ones all show.
static const char count_1d[] = "def count(i: Index, x: Array[i32], n: i32):\n"
                               "    if i < n:\n"
                               "        x[i] = x[i] + 1\n"
                               "    else:\n"
                               "        x[n] = x[n] + 1\n";
static const char count_3d[] = "def count(p: Index3, x: Array[i32], w: i32, h: i32, d: i32):\n"
                               "    if p.x < w and p.y < h and p.z < d:\n"
                               "        k = p.x + w * (p.y + h * p.z)\n"
                               "        x[k] = x[k] + 1\n"
                               "    else:\n"
                               "        x[w * h * d] = x[w * h * d] + 1\n";

static kp_tensor *ints(kp_manager *mgr, uint64_t count) {
    kp_tensor *tensor = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = count, .label = "x"}, &tensor));
    return tensor;
}

static void expect_ones(kp_tensor *x, uint64_t n, const char *what) {
    const int32_t *data = kp_tensor_data(x);
    for (uint64_t i = 0; i < n; i++) {
        if (data[i] != 1)
            fail_msg("%s: index %llu ran %d times", what, (unsigned long long)i, data[i]);
    }
    if (data[n] != 0)
        fail_msg("%s: %d indices outside ran", what, data[n]);
}

static void every_index_runs_once_on_one_axis(void **state) {
    kp_manager *mgr = *state;
    static const uint32_t extents[] = {
        1,     2,     3,     31,    32,    33,    63,    64,    65,    127,    128,    129,    255,    256,    257,
        511,   512,   513,   1023,  1024,  1025,  2047,  2048,  2049,  4095,   4096,   4097,   8191,   8192,   8193,
        16383, 16384, 16385, 32767, 32769, 65535, 65536, 65537, 99991, 131071, 131073, 262143, 262145, 1000003};
    kp_program *program = compile(count_1d);
    for (size_t k = 0; k < COUNT_OF(extents); k++) {
        uint32_t n = extents[k];
        int32_t push = (int32_t)n;
        kp_tensor *x = ints(mgr, n + 1);
        kp_algorithm *count = NULL;
        char what[32];
        snprintf(what, sizeof what, "%u", n);
        OK(kp_algorithm_create(
            mgr,
            &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1, .push = &push, .push_size = 4},
            &count));
        gpu_once(mgr, count, &x, 1, &(kp_dispatch_desc){.extent = {n, 0, 0}});
        expect_ones(x, n, what);
        memset(kp_tensor_data(x), 0, 4 * (size_t)(n + 1));
        gpu_once(mgr, count, &x, 1, &(kp_dispatch_desc){.workgroups = {n, 1, 1}}); // means indices too
        expect_ones(x, n, what);
        kp_algorithm_destroy(count);
        kp_tensor_destroy(x);
    }
    kp_program_destroy(program);
}

static void every_index_runs_once_on_three_axes(void **state) {
    kp_manager *mgr = *state;
    static const uint32_t extents[][3] = {{1, 1, 1},     {1, 7, 1},     {1, 1, 9},     {5, 3, 2},     {16, 16, 1},
                                          {17, 15, 1},   {257, 3, 1},   {1, 257, 3},   {3, 1, 257},   {64, 64, 4},
                                          {63, 65, 5},   {1, 1000, 1},  {1, 1, 1000},  {1000, 1, 10}, {33, 1, 33},
                                          {128, 128, 8}, {1, 65537, 1}, {1, 1, 65537}, {2, 65536, 2}, {2, 2, 65536}};
    kp_program *program = compile(count_3d);
    for (size_t k = 0; k < COUNT_OF(extents); k++) {
        const uint32_t *e = extents[k];
        int32_t push[3] = {(int32_t)e[0], (int32_t)e[1], (int32_t)e[2]};
        uint64_t n = (uint64_t)e[0] * e[1] * e[2];
        kp_tensor *x = ints(mgr, n + 1);
        kp_algorithm *count = NULL;
        char what[64];
        snprintf(what, sizeof what, "%u x %u x %u", e[0], e[1], e[2]);
        OK(kp_algorithm_create(mgr,
                               &(kp_algorithm_desc){.program = program,
                                                    .memory = &x,
                                                    .memory_count = 1,
                                                    .push = push,
                                                    .push_size = 12,
                                                    .extent = {e[0], e[1], e[2]}},
                               &count));
        gpu_once(mgr, count, &x, 1, NULL);
        expect_ones(x, n, what);
        kp_algorithm_destroy(count);
        kp_tensor_destroy(x);
    }
    kp_program_destroy(program);
}

// One run of the kernel below, with arrays of their own lengths; what is beyond an array reads as 0 and is not written.
static void run_neighbours(kp_manager *mgr, kp_program *program, const uint32_t counts[3], uint32_t extent) {
    const kp_dtype dtypes[3] = {KP_I32, KP_F32, KP_U32};
    const int32_t push = -3;
    kp_tensor *t[3];
    for (unsigned k = 0; k < 3; k++)
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = dtypes[k], .count = counts[k]}, &t[k]));
    int32_t *a = kp_tensor_data(t[0]);
    float *b = kp_tensor_data(t[1]);
    uint32_t *c = kp_tensor_data(t[2]);
    for (uint32_t i = 0; i < counts[0]; i++)
        a[i] = (int32_t)(i * 7 % 1001) - 500;
    for (uint32_t i = 0; i < counts[1]; i++)
        b[i] = 0.25f;
    for (uint32_t i = 0; i < counts[2]; i++)
        c[i] = i;
    kp_algorithm *algorithm = NULL;
    OK(kp_algorithm_create(mgr,
                           &(kp_algorithm_desc){.program = program,
                                                .memory = t,
                                                .memory_count = 3,
                                                .push = &push,
                                                .push_size = sizeof push,
                                                .extent = {extent, 1, 1}},
                           &algorithm));
    gpu_once(mgr, algorithm, t, 3, NULL);
    for (uint32_t i = 0; i < counts[1]; i++) {
        int32_t x = i < counts[0] ? (int32_t)(i * 7 % 1001) - 500 : 0;
        if (b[i] != (i < extent ? (float)(x * push + 7) * 0.5f : 0.25f))
            fail_msg("extent %u: b[%u] is %g", extent, i, (double)b[i]);
    }
    for (uint32_t i = 0; i < counts[2]; i++) {
        if (c[i] != (i < extent ? i ^ 5 : i))
            fail_msg("extent %u: c[%u] is %u", extent, i, c[i]);
    }
    kp_algorithm_destroy(algorithm);
    for (unsigned k = 0; k < 3; k++)
        kp_tensor_destroy(t[k]);
}

// Large launches of kernels of single elements, which lavapipe runs by pairs (runtime/pairs.h).
static void neighbours_stay_apart(void **state) {
    kp_manager *mgr = *state;
    enum { N = 1 << 19 };
    static const struct {
        uint32_t counts[3], extent;
    } cases[] = {
        {{N, N, N}, N},     {{N + 1, N + 1, N + 1}, N + 1}, {{N + 2, N + 2, N + 2}, N}, {{N - 1, N, N}, N},
        {{N, N - 1, N}, N}, {{N, N + 1, N - 3}, N},         {{N + 9, N, N + 1}, N},     {{N + 2, N + 2, N + 2}, N + 2}};
    kp_program *program = compile("def k(i: Index, s: i32, a: Array[i32], b: Array[f32], c: Array[u32]):\n"
                                  "    x = a[i] * s\n"
                                  "    x = x + 7\n"
                                  "    b[i] = f32(x) * 0.5\n"
                                  "    c[i] = c[i] ^ 5\n");
    for (size_t k = 0; k < COUNT_OF(cases); k++)
        run_neighbours(mgr, program, cases[k].counts, cases[k].extent);
    kp_program_destroy(program);
}

// The same tensor to read from and to write to, and pyshader's form of a kernel.
static void neighbours_in_place(void **state) {
    kp_manager *mgr = *state;
    enum { N = 1 << 19 };
    kp_program *program = compile("def k(p=(\"input\", \"GlobalInvocationId\", ivec3),\n"
                                  "      a=(\"buffer\", 0, Array(f32)), b=(\"buffer\", 1, Array(f32))):\n"
                                  "    i = p.x\n"
                                  "    b[i] = a[i] + b[i] * 2.0\n");
    kp_tensor *x = gpu_floats(mgr, "x", N, NULL);
    float *data = kp_tensor_data(x);
    for (uint32_t i = 0; i < N; i++)
        data[i] = (float)i;
    kp_algorithm *algorithm = NULL;
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = LIST(x, x), .memory_count = 2},
                           &algorithm));
    gpu_once(mgr, algorithm, &x, 1, NULL);
    for (uint32_t i = 0; i < N; i++) {
        if (data[i] != (float)i * 3.0f)
            fail_msg("x[%u] is %g", i, (double)data[i]);
    }
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(x);
    kp_program_destroy(program);
}

// More blocks than one axis of a dispatch can have: 65,535 of 64 deep, or, for a kernel with loops on lavapipe, of 256
// long (launch_plan.h).
static void long_launches_fold(void **state) {
    kp_manager *mgr = *state;
    static const uint32_t extents[][3] = {{20000003, 1, 1}, {1, 1, 5000003}, {3, 1, 4300001}, {1, 2, 4300001}};
    static const char *const sources[] = {count_3d, "def count(p: Index3, x: Array[i32], w: i32, h: i32, d: i32):\n"
                                                    "    for r in range(2):\n"
                                                    "        k = p.x + w * (p.y + h * p.z)\n"
                                                    "        if r == 1 and p.x < w and p.y < h and p.z < d:\n"
                                                    "            x[k] = x[k] + 1\n"};
    for (size_t s = 0; s < COUNT_OF(sources); s++) {
        kp_program *program = compile(sources[s]);
        for (size_t k = 0; k < COUNT_OF(extents); k++) {
            const uint32_t *e = extents[k];
            int32_t push[3] = {(int32_t)e[0], (int32_t)e[1], (int32_t)e[2]};
            uint64_t n = (uint64_t)e[0] * e[1] * e[2];
            kp_tensor *x = ints(mgr, n + 1);
            kp_algorithm *count = NULL;
            char what[64];
            snprintf(what, sizeof what, "%u x %u x %u", e[0], e[1], e[2]);
            OK(kp_algorithm_create(
                mgr,
                &(kp_algorithm_desc){
                    .program = program, .memory = &x, .memory_count = 1, .push = push, .push_size = 12},
                &count));
            gpu_once(mgr, count, &x, 1, &(kp_dispatch_desc){.extent = {e[0], e[1], e[2]}});
            expect_ones(x, n, what);
            kp_algorithm_destroy(count);
            kp_tensor_destroy(x);
        }
        kp_program_destroy(program);
    }
}

static void regrouped_or_not_the_result_is_the_same(void **state) {
    (void)state;
    enum { N = 3001 };
    static float input[N], output[2][N];
    for (int i = 0; i < N; i++)
        input[i] = (float)(i * 37 % 101) / 7.0f;
    kp_program *program = compile("def f(i: Index, a: f32, x: Array[f32], y: Array[f32]):\n"
                                  "    y[i] = a * x[i] + f32(i)\n");
    for (int round = 0; round < 3; round++) { // OFF, ON, and OFF by the environment
        kp_manager *mgr = NULL;
        if (round == 2)
            setenv("KP_REGROUP", "0", 1);
        OK(kp_manager_create(&(kp_manager_desc){.regroup = round == 0   ? KP_OFF
                                                           : round == 1 ? KP_ON
                                                                        : KP_DEFAULT},
                             &mgr));
        unsetenv("KP_REGROUP");
        kp_tensor *x = gpu_floats(mgr, "x", N, input), *y = gpu_floats(mgr, "y", N, NULL);
        kp_algorithm *f = NULL;
        OK(kp_algorithm_create(
            mgr,
            &(kp_algorithm_desc){
                .program = program, .memory = LIST(x, y), .memory_count = 2, .push = &(float){2.5f}, .push_size = 4},
            &f));
        gpu_once(mgr, f, LIST(x, y), 2, NULL);
        memcpy(output[round != 0], kp_tensor_data(y), sizeof output[0]);
        if (round != 0)
            assert_memory_equal(output[0], output[1], sizeof output[0]);
        if (round != 1 && gpu_device(mgr).max_workgroup_count[0] == 65535) {
            kp_sequence *seq = gpu_sequence(mgr);
            FAILS(kp_record_dispatch(seq, f, &(kp_dispatch_desc){.extent = {65536, 1, 1}}), KP_ERROR_LIMIT,
                  "algorithm 'f': maxComputeWorkGroupCount on axis x is 65535, the launch has 65536 workgroups");
            kp_sequence_destroy(seq);
        }
        kp_algorithm_destroy(f);
        kp_tensor_destroy(x);
        kp_tensor_destroy(y);
        kp_manager_destroy(mgr);
    }
    kp_program_destroy(program);
}

// The words alone, as the classic API passes them, are recognised.
static void plain_words_are_regrouped_too(void **state) {
    kp_manager *mgr = *state;
    enum { N = 70000 }; // more than one axis has workgroups on most devices
    kp_program *program = compile("def f(i: Index, x: Array[f32], y: Array[f32]):\n    y[i] = 2.0 * x[i]\n");
    kp_tensor *x = gpu_floats(mgr, "x", N, NULL), *y = gpu_floats(mgr, "y", N, NULL);
    for (int i = 0; i < N; i++)
        ((float *)kp_tensor_data(x))[i] = (float)i;
    kp_algorithm *f = NULL;
    OK(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .spirv = program->words, .spirv_size = program->word_count * 4, .memory = LIST(x, y), .memory_count = 2},
        &f));
    gpu_once(mgr, f, LIST(x, y), 2, NULL);
    for (int i = 0; i < N; i++)
        assert_true(((float *)kp_tensor_data(y))[i] == 2.0f * (float)i);
    kp_algorithm_destroy(f);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    kp_program_destroy(program);
}

static void a_launch_follows_the_memory_that_is_bound(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = compile("def f(i: Index, x: Array[f32], y: Array[f32]):\n    y[i] = x[i] + 1.0\n");
    kp_tensor *small = gpu_floats(mgr, "small", 10, NULL), *large = gpu_floats(mgr, "large", 10000, NULL),
              *y = gpu_floats(mgr, "y", 10000, NULL);
    kp_algorithm *f = NULL;
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = LIST(small, y), .memory_count = 2},
                           &f));
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(small, large, y), 3));
    OK(kp_record_dispatch(seq, f, NULL));
    OK(kp_record_sync_local(seq, &y, 1));
    OK(kp_sequence_eval(seq));
    const float *data = kp_tensor_data(y);
    assert_true(data[9] == 1.0f && data[10] == 0.0f);
    OK(kp_algorithm_bind(f, LIST(large, y), 2));
    OK(kp_sequence_eval(seq));
    assert_true(data[10] == 1.0f && data[9999] == 1.0f);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(f);
    kp_tensor_destroy(small);
    kp_tensor_destroy(large);
    kp_tensor_destroy(y);
    kp_program_destroy(program);
}

// Push constants that leave no room for the launch's own: one invocation per index then, and the same result.
static void kernels_with_full_push_constants_still_run(void **state) {
    kp_manager *mgr = *state;
    uint32_t limit = gpu_device(mgr).max_push_constants;
    char source[4096];
    float push[256];
    size_t count = limit / 4 < 128 ? limit / 4 : 128;
    for (size_t n = count - 8; n <= count; n++) {
        size_t at = (size_t)snprintf(source, sizeof source, "def f(i: Index, x: Array[f32]");
        for (size_t k = 0; k < n; k++) {
            at += (size_t)snprintf(source + at, sizeof source - at, ", p%zu: f32", k);
            push[k] = (float)k;
        }
        snprintf(source + at, sizeof source - at, "):\n    x[i] = p0 + p%zu\n", n - 1);
        kp_program *program = compile(source);
        kp_tensor *x = gpu_floats(mgr, "x", 1000, NULL);
        kp_algorithm *f = NULL;
        OK(kp_algorithm_create(
            mgr,
            &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1, .push = push, .push_size = n * 4},
            &f));
        gpu_once(mgr, f, &x, 1, NULL);
        for (int i = 0; i < 1000; i++)
            assert_true(((float *)kp_tensor_data(x))[i] == (float)(n - 1));
        kp_algorithm_destroy(f);
        kp_tensor_destroy(x);
        kp_program_destroy(program);
    }
}

static void extents_beyond_the_contract_are_refused(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = compile("def f(i: Index, x: Array[f32]):\n    x[i] = 1.0\n");
    kp_tensor *x = gpu_floats(mgr, "x", 10, NULL);
    kp_algorithm *f = NULL;
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1}, &f));
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_dispatch(seq, f, &(kp_dispatch_desc){.extent = {(uint32_t)1 << 31, 1, 1}}), KP_ERROR_LIMIT,
          "algorithm 'f': *");
    FAILS(kp_record_dispatch(seq, f, &(kp_dispatch_desc){.workgroups = {1, 1, UINT32_MAX}}), KP_ERROR_LIMIT,
          "algorithm 'f': *");
    FAILS(kp_record_dispatch(seq, f, &(kp_dispatch_desc){.extent = {65536, 65536, 65536}}), KP_ERROR_LIMIT,
          "algorithm 'f': extent (65536, 65536, 65536) needs *");
    OK(kp_record_dispatch(seq, f, NULL));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(f);
    kp_tensor_destroy(x);
    kp_program_destroy(program);
}

// The CPU drivers count in 32 bits, and would run none of these 2^32.
static void more_workgroups_than_drivers_count_are_refused(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 10, NULL);
    kp_algorithm *f =
        gpu_algorithm(mgr, "layout(set = 0, binding = 0) buffer X { float x[]; }; void main() { x[0] = 1; }",
                      &(kp_algorithm_desc){.memory = &x, .memory_count = 1, .label = "f"});
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_dispatch(seq, f, &(kp_dispatch_desc){.workgroups = {32768, 32768, 4}}), KP_ERROR_LIMIT,
          "algorithm 'f': 32768 x 32768 x 4 workgroups, at most 2^32 - 1 in all are possible");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(f);
    kp_tensor_destroy(x);
}

static void a_tensor_of_another_type_is_refused(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = compile("def f(i: Index, x: Array[f32]):\n    x[i] = 1.0\n");
    kp_tensor *x = ints(mgr, 4);
    kp_algorithm *f = NULL;
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1}, &f),
          KP_ERROR_TYPE, "algorithm 'f': parameter 'x' is Array[f32], tensor 'x' holds i32");
    kp_tensor_destroy(x);
    kp_program_destroy(program);
}

static void a_tensor_of_another_type_is_refused_later_too(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = compile("def f(i: Index, x: Array[f32]):\n    x[i] = x[i] + 1.0\n");
    kp_tensor *good = gpu_floats(mgr, "good", 2, (float[]){1, 2}), *x = ints(mgr, 4);
    kp_algorithm *f = NULL;
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &good, .memory_count = 1}, &f));
    kp_program_destroy(program);
    FAILS(kp_algorithm_bind(f, &x, 1), KP_ERROR_TYPE,
          "algorithm 'f': parameter 'x' is Array[f32], tensor 'x' holds i32");
    gpu_once(mgr, f, &good, 1, NULL); // still bound
    assert_memory_equal(kp_tensor_data(good), ((float[]){2, 3}), 8);
    kp_algorithm_destroy(f);
    kp_tensor_destroy(good);
    kp_tensor_destroy(x);
}

static void the_built_in_kernel_multiplies(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 3, (float[]){2, 4, 6}), *b = gpu_floats(mgr, "b", 3, (float[]){1, 2, 3}),
              *out = gpu_floats(mgr, "out", 3, NULL);
    kp_algorithm *multiply = NULL;
    OK(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = kp_kernel_multiply(), .memory = LIST(a, b, out), .memory_count = 3},
        &multiply));
    gpu_once(mgr, multiply, LIST(a, b, out), 3, NULL);
    assert_memory_equal(kp_tensor_data(out), ((float[]){2, 8, 18}), 12);
    kp_algorithm_destroy(multiply);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
    kp_tensor_destroy(out);
}

// out[y, x] = factor * width + a[y, x]: shapes and launch come from the tensors, also of those bound later.
static void a_view_takes_its_shape_from_the_tensor(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = compile("def k(i: Index2, factor: i32, a: Array[i32, 2], out: Array[i32, 2]):\n"
                                  "    out[i.y, i.x] = factor * out.shape[1] + a[i.y, i.x]\n");
    int32_t factor = 100;
    kp_tensor *t[4];
    for (unsigned k = 0; k < 4; k++) {
        kp_tensor_desc desc = {.dtype = KP_I32, .ndim = 2, .shape = {k < 2 ? 3 : 2, k < 2 ? 4 : 6}, .label = "t"};
        OK(kp_tensor_create(mgr, &desc, &t[k]));
        for (int32_t i = 0; i < 12 && k % 2 == 0; i++)
            ((int32_t *)kp_tensor_data(t[k]))[i] = i;
    }
    kp_algorithm *algorithm = NULL;
    OK(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = program, .memory = t, .memory_count = 2, .push = &factor, .push_size = sizeof factor},
        &algorithm));
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, t, 4));
    OK(kp_record_dispatch(seq, algorithm, NULL));
    OK(kp_record_sync_local(seq, t, 4));
    OK(kp_sequence_eval(seq));
    for (int32_t i = 0; i < 12; i++)
        assert_int_equal(((int32_t *)kp_tensor_data(t[1]))[i], 400 + i);
    OK(kp_algorithm_bind(algorithm, t + 2, 2));
    OK(kp_sequence_eval(seq));
    for (int32_t i = 0; i < 12; i++)
        assert_int_equal(((int32_t *)kp_tensor_data(t[3]))[i], 600 + i);
    kp_tensor *flat = ints(mgr, 12);
    FAILS(kp_algorithm_bind(algorithm, LIST(flat, t[1]), 2), KP_ERROR_ARGUMENT,
          "algorithm 'k': parameter 'a' is Array[i32, 2], tensor 'x' has 1 axes, not 2");
    OK(kp_sequence_eval(seq)); // as before
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(flat);
    for (unsigned k = 0; k < 4; k++)
        kp_tensor_destroy(t[k]);
    kp_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(a_view_takes_its_shape_from_the_tensor),
        GPU_TEST(every_index_runs_once_on_one_axis),
        GPU_TEST(every_index_runs_once_on_three_axes),
        GPU_TEST(neighbours_stay_apart),
        GPU_TEST(neighbours_in_place),
        GPU_TEST(long_launches_fold),
        GPU_BARE(regrouped_or_not_the_result_is_the_same),
        GPU_TEST(plain_words_are_regrouped_too),
        GPU_TEST(a_launch_follows_the_memory_that_is_bound),
        GPU_TEST(kernels_with_full_push_constants_still_run),
        GPU_TEST(extents_beyond_the_contract_are_refused),
        GPU_TEST(a_tensor_of_another_type_is_refused),
        GPU_TEST(a_tensor_of_another_type_is_refused_later_too),
        GPU_TEST(the_built_in_kernel_multiplies),
        GPU_TEST(more_workgroups_than_drivers_count_are_refused),
    };
    return gpu_run("launch", tests);
}
