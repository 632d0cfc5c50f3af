// Tensors: sizes, shapes, element types, memory types, views, pools.
#include "gpu.h"

#define MIB ((uint64_t)1 << 20)

static const kp_memory_type with_host[] = {KP_MEMORY_DEVICE, KP_MEMORY_HOST, KP_MEMORY_DEVICE_AND_HOST};

static void every_element_type_comes_back_unchanged(void **state) {
    kp_manager *mgr = *state;
    for (int dtype = 0; dtype < KP_DTYPE_COUNT; dtype++) {
        for (uint64_t count = 1; count <= 9; count++) {
            unsigned char data[9 * 8];
            size_t bytes = (size_t)count * kp_dtype_size((kp_dtype)dtype);
            for (size_t i = 0; i < bytes; i++)
                data[i] = (unsigned char)(37 * i + 11 * (size_t)dtype);
            kp_tensor *from = NULL, *to = NULL;
            kp_tensor_desc desc = {.dtype = (kp_dtype)dtype, .count = count, .data = data, .label = "from"};
            OK(kp_tensor_create(mgr, &desc, &from));
            desc.data = NULL;
            OK(kp_tensor_create(mgr, &desc, &to));
            assert_memory_equal(kp_tensor_data(from), data, bytes);
            kp_sequence *seq = gpu_sequence(mgr);
            OK(kp_record_sync_device(seq, &from, 1));
            OK(kp_record_copy(seq, LIST(from, to), 2));
            OK(kp_sequence_eval(seq));
            memset(kp_tensor_data(to), 0xAA, bytes);
            OK(kp_record_sync_device(seq, &from, 1)); // afresh
            OK(kp_record_copy(seq, LIST(from, to), 2));
            OK(kp_record_sync_local(seq, &to, 1));
            OK(kp_sequence_eval(seq));
            assert_memory_equal(kp_tensor_data(to), data, bytes);
            assert_int_equal(kp_tensor_dtype(to), dtype);
            assert_int_equal(kp_tensor_bytes(to), bytes);
            kp_sequence_destroy(seq);
            kp_tensor_destroy(from);
            kp_tensor_destroy(to);
        }
    }
}

static void the_host_side_starts_as_the_data_or_as_zeros(void **state) {
    kp_manager *mgr = *state;
    const float data[] = {1, 2, 3};
    for (size_t i = 0; i < COUNT_OF(with_host); i++) {
        // The first fills memory with something else, so that the second finds no fresh zeros.
        kp_tensor *t = NULL;
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = data, .memory_type = with_host[i]}, &t));
        assert_memory_equal(kp_tensor_data(t), data, sizeof data);
        assert_int_equal((uintptr_t)kp_tensor_data(t) % 64, 0);
        kp_tensor_destroy(t);
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .memory_type = with_host[i]}, &t));
        assert_memory_equal(kp_tensor_data(t), ((float[]){0, 0, 0}), sizeof data);
        kp_tensor_destroy(t);
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .memory_type = with_host[i], .uninitialized = true},
                            &t));
        assert_non_null(kp_tensor_data(t));
        kp_tensor_destroy(t);
    }
}

static void shapes_are_kept(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = NULL;
    uint64_t shape[KP_MAX_DIMS];
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.ndim = 3, .shape = {2, 3, 4}}, &t));
    assert_int_equal(kp_tensor_shape(t, shape), 3);
    assert_int_equal(shape[0], 2);
    assert_int_equal(shape[2], 4);
    assert_int_equal(kp_tensor_count(t), 24);
    assert_int_equal(kp_tensor_bytes(t), 96);
    kp_tensor_destroy(t);
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 24, .ndim = 2, .shape = {6, 4}}, &t));
    assert_int_equal(kp_tensor_shape(t, NULL), 2);
    kp_tensor_destroy(t);
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 5}, &t));
    assert_int_equal(kp_tensor_shape(t, shape), 1);
    assert_int_equal(shape[0], 5);
    kp_tensor_destroy(t);
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.ndim = 2, .shape = {0, 7}}, &t));
    assert_int_equal(kp_tensor_shape(t, shape), 2);
    assert_int_equal(shape[1], 7);
    assert_int_equal(kp_tensor_count(t), 0);
    kp_tensor_destroy(t);
}

static void an_empty_tensor_does_nothing_in_every_op(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 0, NULL), *b = gpu_floats(mgr, "b", 0, NULL),
              *c = gpu_floats(mgr, "c", 0, NULL);
    assert_null(kp_tensor_data(a));
    kp_algorithm *multiply = gpu_multiply(mgr, a, b, c);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(a, b), 2));
    OK(kp_record_dispatch(seq, multiply, NULL));
    OK(kp_record_copy(seq, LIST(a, b, c), 3));
    OK(kp_record_barrier(seq, &a, 1));
    OK(kp_record_sync_local(seq, &c, 1));
    OK(kp_sequence_eval(seq));
    kp_view *view = NULL;
    OK(kp_view_create(a, &view));
    assert_null(kp_view_data(view));
    kp_view_destroy(view);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(multiply);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
    kp_tensor_destroy(c);
}

static void an_empty_tensor_may_be_bound_where_the_launch_is_given(void **state) {
    kp_manager *mgr = *state;
    const float ones[] = {1, 1};
    kp_tensor *a = gpu_floats(mgr, "a", 2, ones), *b = gpu_floats(mgr, "b", 0, NULL),
              *c = gpu_floats(mgr, "c", 2, ones);
    kp_algorithm *multiply = gpu_multiply(mgr, a, b, c);
    gpu_once(mgr, multiply, LIST(a, b, c), 3, &(kp_dispatch_desc){.workgroups = {2, 1, 1}});
    kp_algorithm_destroy(multiply);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
    kp_tensor_destroy(c);
}

// Leaves numbers other than zero in the memory that the next small tensors get.
static void stain(kp_manager *mgr, kp_memory_type type) {
    kp_tensor *t[200];
    kp_sequence *seq = gpu_sequence(mgr);
    for (size_t i = 0; i < COUNT_OF(t); i++) {
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 4, .memory_type = type}, &t[i]));
        OK(kp_record_fill(seq, t[i], &(uint32_t){0xABABABAB}));
    }
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    for (size_t i = 0; i < COUNT_OF(t); i++)
        kp_tensor_destroy(t[i]);
}

static const kp_memory_type all_types[] = {KP_MEMORY_DEVICE, KP_MEMORY_HOST, KP_MEMORY_STORAGE,
                                           KP_MEMORY_DEVICE_AND_HOST};

// Its length is 0 to a kernel, which finds nothing of another tensor's behind it, and may write there.
static void an_empty_array_has_no_elements_for_a_kernel(void **state) {
    static const char glsl[] = "layout(local_size_x = 1) in;\n"
                               "layout(binding = 0) buffer X { uint x[]; };\n"
                               "layout(binding = 1) buffer V { uvec4 v[]; };\n"
                               "layout(binding = 2) buffer O { uint o[]; };\n"
                               "void main() {\n"
                               "    o[0] = x.length(); o[1] = v.length(); o[2] = x[0]; o[3] = v[0].y; o[4] = x[3];\n"
                               "    x[0] = 7; v[1] = uvec4(7);\n"
                               "}\n";
    kp_manager *mgr = *state;
    const uint32_t none[5] = {0}, ones[] = {1, 1, 1, 1, 1};
    for (size_t k = 0; k < COUNT_OF(all_types); k++) {
        kp_tensor *x = NULL, *v = NULL, *o = NULL;
        stain(mgr, all_types[k]);
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .memory_type = all_types[k]}, &x));
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .memory_type = all_types[k]}, &v));
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 5, .data = ones}, &o));
        kp_algorithm *a = gpu_algorithm(
            mgr, glsl, &(kp_algorithm_desc){.memory = LIST(x, v, o), .memory_count = 3, .workgroups = {1, 1, 1}});
        gpu_once(mgr, a, LIST(o), 1, NULL);
        assert_memory_equal(kp_tensor_data(o), none, sizeof none);
        kp_algorithm_destroy(a);
        kp_tensor_destroy(x);
        kp_tensor_destroy(v);
        kp_tensor_destroy(o);
    }
}

// What is not an array, or stands in front of one, is needed.
static void an_empty_tensor_is_too_small_for_what_is_no_array(void **state) {
    static const char *const blocks[] = {"buffer X { uint n; uint x[]; }", "buffer X { uvec4 n; }",
                                         "uniform X { uint n; }"};
    static const unsigned needs[] = {4, 16, 4};
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 0, NULL), *o = gpu_floats(mgr, "o", 1, NULL);
    for (size_t k = 0; k < COUNT_OF(blocks); k++) {
        char glsl[256], words[160];
        kp_algorithm *a = NULL;
        snprintf(glsl, sizeof glsl,
                 "#version 450\nlayout(binding = 0) %s; layout(binding = 1) buffer O { uint o[]; };\n"
                 "void main() { o[0] = uint(n%s); }\n",
                 blocks[k], k == 1 ? ".x" : "");
        snprintf(words, sizeof words, "algorithm 'a': *needs at least %u bytes, tensor 'x' has 0", needs[k]);
        kp_program *program = NULL;
        OK(kp_shader_compile(glsl, strlen(glsl), NULL, &program));
        FAILS(kp_algorithm_create(
                  mgr, &(kp_algorithm_desc){.program = program, .memory = LIST(x, o), .memory_count = 2, .label = "a"},
                  &a),
              KP_ERROR_ARGUMENT, words);
        kp_program_destroy(program);
    }
    kp_tensor_destroy(x);
    kp_tensor_destroy(o);
}

// Kernels read whole words, and uniform buffers in rows of 16 bytes.
static void what_rounds_a_tensor_up_is_zero(void **state) {
    static const char glsl[] = "layout(local_size_x = 1) in;\n"
                               "layout(binding = 0) buffer X { uint x[]; };\n"
                               "layout(binding = 1) uniform U { uvec4 u; };\n"
                               "layout(binding = 2) buffer O { uint o[]; };\n"
                               "void main() { o[0] = x.length(); o[1] = x[1]; o[2] = u.y; o[3] = u.z; o[4] = u.w; }\n";
    static const unsigned char bytes[] = {1, 2, 3, 4, 5};
    static const uint32_t expected[] = {2, 5, 5, 0, 0};
    kp_manager *mgr = *state;
    for (size_t k = 0; k < COUNT_OF(all_types); k++) {
        if (all_types[k] != KP_MEMORY_HOST && !(gpu_unified(mgr) && all_types[k] != KP_MEMORY_STORAGE))
            continue; // what the host does not see is left as it is
        kp_tensor *x = NULL, *o = NULL;
        const kp_tensor_desc desc = {.dtype = KP_U8, .count = 5, .data = bytes, .memory_type = all_types[k]};
        stain(mgr, all_types[k]);
        OK(kp_tensor_create(mgr, &desc, &x));
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 5}, &o));
        kp_algorithm *a = gpu_algorithm(
            mgr, glsl, &(kp_algorithm_desc){.memory = LIST(x, x, o), .memory_count = 3, .workgroups = {1, 1, 1}});
        gpu_once(mgr, a, LIST(x, o), 2, NULL);
        assert_memory_equal(kp_tensor_data(o), expected, sizeof expected);
        kp_algorithm_destroy(a);
        kp_tensor_destroy(x);
        kp_tensor_destroy(o);
    }
}

static void a_storage_tensor_computes_but_has_no_host_side(void **state) {
    kp_manager *mgr = *state;
    const float x[] = {1, 2, 3};
    kp_tensor *a = gpu_floats(mgr, "a", 3, x), *out = gpu_floats(mgr, "out", 3, NULL), *middle = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .memory_type = KP_MEMORY_STORAGE, .label = "middle"},
                        &middle));
    assert_null(kp_tensor_data(middle));
    assert_int_equal(kp_tensor_memory_type(middle), KP_MEMORY_STORAGE);
    kp_algorithm *first = gpu_multiply(mgr, a, a, middle), *second = gpu_multiply(mgr, middle, a, out);
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_sync_device(seq, &middle, 1), KP_ERROR_STATE,
          "sequence 'sequence': tensor 'middle' is a storage tensor, which has no host side to sync");
    FAILS(kp_record_sync_local(seq, &middle, 1), KP_ERROR_STATE,
          "sequence 'sequence': tensor 'middle' is a storage tensor, which has no host side to sync");
    kp_view *view = NULL;
    FAILS(kp_view_create(middle, &view), KP_ERROR_STATE, "tensor 'middle': a storage tensor has no host side");
    OK(kp_record_sync_device(seq, &a, 1));
    OK(kp_record_dispatch(seq, first, NULL));
    OK(kp_record_dispatch(seq, second, NULL));
    OK(kp_record_sync_local(seq, &out, 1));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(out), ((float[]){1, 8, 27}), 12);
    OK(kp_record_copy(seq, LIST(middle, out), 2));
    OK(kp_record_sync_local(seq, &out, 1));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(out), ((float[]){1, 4, 9}), 12);
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .memory_type = KP_MEMORY_STORAGE, .data = x}, &middle),
          KP_ERROR_ARGUMENT, "tensor 'tensor': a storage tensor has no host side to hold data");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(first);
    kp_algorithm_destroy(second);
    kp_tensor_destroy(a);
    kp_tensor_destroy(out);
    kp_tensor_destroy(middle);
}

static void every_memory_type_computes(void **state) {
    kp_manager *mgr = *state;
    for (size_t i = 0; i < COUNT_OF(with_host); i++) {
        for (size_t k = 0; k < COUNT_OF(with_host); k++) {
            kp_tensor *a = NULL, *out = NULL;
            OK(kp_tensor_create(
                mgr, &(kp_tensor_desc){.count = 2, .data = (float[]){3, 4}, .memory_type = with_host[i]}, &a));
            OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 2, .memory_type = with_host[k]}, &out));
            kp_algorithm *square = gpu_multiply(mgr, a, a, out);
            gpu_once(mgr, square, LIST(a, out), 2, NULL);
            assert_memory_equal(kp_tensor_data(out), ((float[]){9, 16}), 8);
            kp_algorithm_destroy(square);
            kp_tensor_destroy(a);
            kp_tensor_destroy(out);
        }
    }
}

static void a_host_tensor_needs_no_sync(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 2, .memory_type = KP_MEMORY_HOST}, &a));
    kp_algorithm *square = gpu_multiply(mgr, a, a, a);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, square, NULL));
    ((float *)kp_tensor_data(a))[1] = 5;
    OK(kp_sequence_eval(seq));
    assert_true(((float *)kp_tensor_data(a))[1] == 25.0f);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(a);
}

static void the_two_sides_differ_only_without_unified_memory(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 1, (float[]){3});
    kp_algorithm *square = gpu_multiply(mgr, a, a, a);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &a, 1));
    OK(kp_record_dispatch(seq, square, NULL));
    OK(kp_sequence_eval(seq));
    assert_true(((float *)kp_tensor_data(a))[0] == (gpu_unified(mgr) ? 9.0f : 3.0f));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(a);
}

static void ten_thousand_tensors_share_few_allocations(void **state) {
    kp_manager *mgr = *state;
    enum { N = 10000 };
    static kp_tensor *tensors[N];
    kp_memory_stats stats;
    for (int i = 0; i < N; i++)
        tensors[i] = gpu_floats(mgr, "small", 16, (float[16]){(float)i});
    OK(kp_manager_memory(mgr, &stats));
    assert_true(stats.allocations <= 8);
    assert_true(stats.used >= N * 64);
    assert_true(stats.reserved >= stats.used);
    for (int i = 0; i < N; i++)
        assert_true(((float *)kp_tensor_data(tensors[i]))[0] == (float)i);
    for (int i = 0; i < N; i += 2) // holes, then the rest
        kp_tensor_destroy(tensors[i]);
    for (int i = 1; i < N; i += 2)
        kp_tensor_destroy(tensors[i]);
    OK(kp_manager_memory(mgr, &stats));
    assert_int_equal(stats.used, 0);
    assert_true(stats.reserved <= 16 * MIB); // a small block of each memory type may stay
    assert_true(stats.peak >= N * 64);
}

static void large_tensors_are_given_back_at_once(void **state) {
    kp_manager *mgr = *state;
    kp_memory_stats before, during, after;
    OK(kp_manager_memory(mgr, &before));
    kp_tensor *large = gpu_floats(mgr, "large", 12 * MIB, NULL);
    OK(kp_manager_memory(mgr, &during));
    assert_true(during.reserved - before.reserved >= 48 * MIB);
    assert_true(during.reserved - before.reserved <= 49 * MIB);
    kp_tensor_destroy(large);
    OK(kp_manager_memory(mgr, &after));
    assert_int_equal(after.reserved, before.reserved);
    assert_int_equal(after.used, 0);
}

// A few hundred of every size, made and dropped in a scrambled order; each keeps its own contents throughout.
static void the_pool_survives_any_order(void **state) {
    kp_manager *mgr = *state;
    enum { N = 200 };
    kp_tensor *tensors[N] = {0};
    uint32_t random = 1;
    for (int step = 0; step < 3000; step++) {
        random = random * 1664525u + 1013904223u;
        unsigned at = random >> 8 & 0xFFFF, i = at % N;
        if (tensors[i] != NULL) {
            const uint32_t *data = kp_tensor_data(tensors[i]);
            uint64_t count = kp_tensor_count(tensors[i]);
            assert_int_equal(data[0], i);
            assert_int_equal(data[count - 1], count == 1 ? i : i + 1);
            kp_tensor_destroy(tensors[i]);
            tensors[i] = NULL;
        } else {
            uint64_t count = 1 + (random >> 4) % (random % 7 == 0 ? 200000 : 300);
            OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = count, .uninitialized = true},
                                &tensors[i]));
            uint32_t *data = kp_tensor_data(tensors[i]);
            data[count - 1] = i + 1;
            data[0] = i;
        }
    }
    for (int i = 0; i < N; i++)
        kp_tensor_destroy(tensors[i]);
    kp_memory_stats stats;
    OK(kp_manager_memory(mgr, &stats));
    assert_int_equal(stats.used, 0);
}

static void sizes_beyond_the_device_are_refused_and_smaller_ones_still_work(void **state) {
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    kp_tensor *t = NULL;
    char words[512];
    snprintf(words, sizeof words, "tensor 'big': maxStorageBufferRange of %s is %llu bytes, the tensor has %llu",
             device.name, (unsigned long long)device.max_buffer_range,
             (unsigned long long)(device.max_buffer_range + 4) / 4 * 4);
    if (device.max_buffer_range % 4 == 0)
        FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.count = device.max_buffer_range / 4 + 1, .label = "big"}, &t),
              KP_ERROR_LIMIT, words);
    const uint64_t sizes[] = {(uint64_t)1 << 40, (uint64_t)1 << 60, UINT64_MAX / 4, UINT64_MAX / 4 + 1, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.count = sizes[i], .label = "big"}, &t), KP_ERROR_LIMIT,
              "tensor 'big': *");
    for (uint64_t less = 0; less < 70; less++) { // what is rounded up comes round
        for (size_t k = 0; k < COUNT_OF(all_types); k++)
            FAILS(kp_tensor_create(mgr,
                                   &(kp_tensor_desc){.dtype = KP_U8,
                                                     .count = UINT64_MAX - less,
                                                     .memory_type = all_types[k],
                                                     .uninitialized = true,
                                                     .label = "big"},
                                   &t),
                  KP_ERROR_LIMIT, "tensor 'big': *");
    }
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.ndim = 2, .shape = {UINT64_MAX, 2}}, &t), KP_ERROR_LIMIT,
          "tensor 'tensor': the shape has more than 2^64 elements");
    assert_null(t);
    t = gpu_floats(mgr, "small", 4, NULL);
    kp_tensor_destroy(t);
}

// How many tensors of 32 MiB there is memory for, up to N.
static int fill_up(kp_manager *mgr, kp_tensor **tensors, int most) {
    kp_result result = KP_OK;
    int n = 0;
    while (n < most && result == KP_OK) {
        result = kp_tensor_create(
            mgr, &(kp_tensor_desc){.count = 8 * MIB, .memory_type = KP_MEMORY_STORAGE, .uninitialized = true},
            &tensors[n]);
        n += result == KP_OK;
    }
    if (result != KP_OK)
        gpu_fails(result, KP_ERROR_DEVICE_MEMORY, "*out of device memory*", "fill_up", __FILE__, __LINE__);
    return n;
}

// What uploads went through is kept, and is given back where it is needed.
static void kept_memory_gives_way(void **state) {
    enum { N = 200 };
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    if (device.type != KP_DEVICE_CPU || device.memory > 4096 * MIB) // a GPU's memory is not ours to fill
        skip();
    kp_tensor *tensors[N] = {0}, *x = NULL;
    int before = fill_up(mgr, tensors, N);
    if (before == N)
        skip();
    for (int i = 0; i < N; i++)
        kp_tensor_destroy(tensors[i]);
    size_t bytes = 16 * MIB;
    void *data = calloc(1, bytes);
    assert_non_null(data);
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = bytes / 4, .uninitialized = true}, &x));
    OK(kp_tensor_upload(x, data, bytes));
    kp_tensor_destroy(x);
    memset(tensors, 0, sizeof tensors);
    assert_int_equal(fill_up(mgr, tensors, N), before);
    for (int i = 0; i < N; i++)
        kp_tensor_destroy(tensors[i]);
    free(data);
}

static void device_memory_runs_out_politely(void **state) {
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    if (device.type != KP_DEVICE_CPU || device.memory > 4096 * MIB) // a GPU's memory is not ours to fill
        skip();
    enum { N = 200 };
    kp_tensor *tensors[N] = {0};
    kp_result result = KP_OK;
    int n = 0;
    uint64_t count = 8 * MIB; // STORAGE: the host never touches it, so that no memory is really used
    for (; n < N && result == KP_OK; n++)
        result = kp_tensor_create(
            mgr,
            &(kp_tensor_desc){
                .count = count, .memory_type = KP_MEMORY_STORAGE, .uninitialized = true, .label = "filler"},
            &tensors[n]);
    if (result == KP_OK)
        skip();
    gpu_fails(result, KP_ERROR_DEVICE_MEMORY,
              "tensor 'filler': *: out of device memory: * bytes wanted, * of * bytes of heap * in use", "fill",
              __FILE__, __LINE__);
    kp_tensor_destroy(tensors[0]);
    kp_tensor *small = gpu_floats(mgr, "small", 4, (float[]){1, 2, 3, 4});
    assert_true(((float *)kp_tensor_data(small))[3] == 4.0f);
    for (int i = 1; i < N; i++)
        kp_tensor_destroy(tensors[i]);
    kp_tensor *again = gpu_floats(mgr, "again", count, NULL);
    kp_tensor_destroy(again);
    kp_tensor_destroy(small);
}

// Tensors whose size does not divide that of the pool's blocks leave little of the device unused.
static void tensors_of_an_odd_size_fill_the_device(void **state) {
    kp_manager *mgr = *state;
    kp_device_info device = gpu_device(mgr);
    if (device.type != KP_DEVICE_CPU || device.memory > 4096 * MIB) // as above
        skip();
    enum { N = 200 };
    kp_tensor *tensors[N] = {0};
    const kp_tensor_desc desc = {
        .count = 22 * MIB / 4, .memory_type = KP_MEMORY_STORAGE, .uninitialized = true, .label = "filler"};
    kp_result result = KP_OK;
    for (int n = 0; n < N && result == KP_OK; n++)
        result = kp_tensor_create(mgr, &desc, &tensors[n]);
    assert_int_equal(result, KP_ERROR_DEVICE_MEMORY);
    kp_memory_stats stats;
    OK(kp_manager_memory(mgr, &stats));
    if (stats.used < device.memory / 100 * 95)
        fail_msg("%llu of %llu bytes used", (unsigned long long)stats.used, (unsigned long long)device.memory);
    for (int n = 0; n < N; n++)
        kp_tensor_destroy(tensors[n]);
}

// Out of range never reaches a neighbour.
static void a_kernel_cannot_write_outside_its_tensor(void **state) {
    kp_manager *mgr = *state;
    enum { N = 8 };
    kp_tensor *around[N];
    const float data[4] = {7, 7, 7, 7};
    for (int i = 0; i < N; i++)
        around[i] = gpu_floats(mgr, "around", 4, data);
    kp_algorithm *wild = gpu_algorithm(mgr,
                                       "layout(local_size_x = 64) in;\n"
                                       "layout(binding = 0) buffer A { float a[]; };\n"
                                       "void main() { a[gl_GlobalInvocationID.x + 4] = 666.0; }\n",
                                       &(kp_algorithm_desc){.memory = &around[3], .memory_count = 1});
    gpu_once(mgr, wild, around, N, &(kp_dispatch_desc){.workgroups = {64, 1, 1}});
    for (int i = 0; i < N; i++) {
        if (i != 3)
            assert_memory_equal(kp_tensor_data(around[i]), data, sizeof data);
        kp_tensor_destroy(around[i]);
    }
    kp_algorithm_destroy(wild);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(every_element_type_comes_back_unchanged),
        GPU_TEST(the_host_side_starts_as_the_data_or_as_zeros),
        GPU_TEST(shapes_are_kept),
        GPU_TEST(an_empty_tensor_does_nothing_in_every_op),
        GPU_TEST(an_empty_tensor_may_be_bound_where_the_launch_is_given),
        GPU_TEST(an_empty_array_has_no_elements_for_a_kernel),
        GPU_TEST(an_empty_tensor_is_too_small_for_what_is_no_array),
        GPU_TEST(what_rounds_a_tensor_up_is_zero),
        GPU_TEST(a_storage_tensor_computes_but_has_no_host_side),
        GPU_TEST(every_memory_type_computes),
        GPU_TEST(a_host_tensor_needs_no_sync),
        GPU_TEST(the_two_sides_differ_only_without_unified_memory),
        GPU_TEST(ten_thousand_tensors_share_few_allocations),
        GPU_TEST(large_tensors_are_given_back_at_once),
        GPU_TEST(the_pool_survives_any_order),
        GPU_TEST(sizes_beyond_the_device_are_refused_and_smaller_ones_still_work),
        GPU_TEST(device_memory_runs_out_politely),
        GPU_TEST(kept_memory_gives_way),
        GPU_TEST(tensors_of_an_odd_size_fill_the_device),
        GPU_TEST(a_kernel_cannot_write_outside_its_tensor),
    };
    return gpu_run("tensor", tests);
}
