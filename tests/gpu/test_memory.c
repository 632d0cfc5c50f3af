// Memory beyond the plain tensor: views, fills, pools, budgets.
#include "gpu.h"

#include <kp/vulkan.h>

static const char scale_glsl[] = "layout(local_size_x = 1) in;\n"
                                 "layout(binding = 0) buffer A { float a[]; };\n"
                                 "layout(push_constant) uniform P { float factor; };\n"
                                 "void main() { a[gl_GlobalInvocationID.x] *= factor; }\n";

static const char sum_glsl[] = "layout(local_size_x = 1) in;\n"
                               "layout(binding = 0) readonly buffer A { float a[]; };\n"
                               "layout(binding = 1) readonly buffer B { float b[]; };\n"
                               "layout(binding = 2) writeonly buffer C { float c[]; };\n"
                               "void main() { uint i = gl_GlobalInvocationID.x; c[i] = a[i] + b[i]; }\n";

static kp_tensor *part(kp_tensor *tensor, const char *label, uint64_t first, uint64_t count) {
    kp_tensor *view = NULL;
    OK(kp_tensor_view(tensor, &(kp_tensor_view_desc){.first = first, .count = count, .label = label}, &view));
    return view;
}

static kp_tensor *counting(kp_manager *mgr, const char *label, uint64_t count) {
    kp_tensor *t = gpu_floats(mgr, label, count, NULL);
    for (uint64_t i = 0; i < count; i++)
        ((float *)kp_tensor_data(t))[i] = (float)i;
    return t;
}

static void a_view_shares_the_host_side(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 100);
    kp_tensor *view = part(t, NULL, 10, 5), *nested = part(view, NULL, 2, 0);
    assert_ptr_equal(kp_tensor_data(view), (float *)kp_tensor_data(t) + 10);
    assert_ptr_equal(kp_tensor_data(nested), (float *)kp_tensor_data(t) + 12);
    assert_int_equal(kp_tensor_count(view), 5);
    assert_int_equal(kp_tensor_bytes(view), 20);
    assert_int_equal(kp_tensor_count(nested), 3);
    ((float *)kp_tensor_data(nested))[0] = -1;
    assert_true(((float *)kp_tensor_data(t))[12] == -1.0f);
    kp_tensor_destroy(nested);
    kp_tensor_destroy(view);
    kp_tensor_destroy(t);
}

static void a_view_may_have_another_shape(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = NULL, *view = NULL;
    uint64_t shape[KP_MAX_DIMS];
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.ndim = 2, .shape = {4, 6}}, &t));
    OK(kp_tensor_view(t, NULL, &view));
    assert_int_equal(kp_tensor_shape(view, shape), 2);
    assert_int_equal(shape[1], 6);
    kp_tensor_destroy(view);
    OK(kp_tensor_view(t, &(kp_tensor_view_desc){.ndim = 3, .shape = {2, 3, 4}}, &view));
    assert_int_equal(kp_tensor_shape(view, shape), 3);
    assert_int_equal(shape[2], 4);
    kp_tensor_destroy(view);
    OK(kp_tensor_view(t, &(kp_tensor_view_desc){.first = 12, .ndim = 2, .shape = {2, 6}}, &view));
    assert_int_equal(kp_tensor_count(view), 12);
    kp_tensor_destroy(view);
    FAILS(kp_tensor_view(t, &(kp_tensor_view_desc){.ndim = 2, .shape = {5, 5}}, &view), KP_ERROR_INDEX,
          "tensor 'tensor': a view of 25 elements from element 0 on, the tensor has 24");
    FAILS(kp_tensor_view(t, &(kp_tensor_view_desc){.first = UINT64_MAX, .count = 2}, &view), KP_ERROR_INDEX,
          "tensor 'tensor': a view of 2 elements from element 18446744073709551615 on, the tensor has 24");
    FAILS(kp_tensor_view(NULL, NULL, &view), KP_ERROR_ARGUMENT, "kp_tensor_view: tensor is NULL");
    FAILS(kp_tensor_view(t, NULL, NULL), KP_ERROR_ARGUMENT, "kp_tensor_view: out is NULL");
    kp_tensor_destroy(t);
}

static void an_empty_view_does_nothing(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 8), *view = NULL;
    OK(kp_tensor_view(t, &(kp_tensor_view_desc){.first = 8, .ndim = 1}, &view));
    assert_int_equal(kp_tensor_count(view), 0);
    assert_null(kp_tensor_data(view));
    kp_algorithm *scale = gpu_algorithm(
        mgr, scale_glsl, &(kp_algorithm_desc){.memory = &view, .memory_count = 1, .push = &(float){2}, .push_size = 4});
    gpu_once(mgr, scale, &view, 1, NULL);
    gpu_once(mgr, scale, &view, 1, &(kp_dispatch_desc){.workgroups = {1, 1, 1}}); // writes nothing of t
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    OK(kp_record_fill(seq, view, &(float){5}));
    OK(kp_record_sync_local(seq, &t, 1));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < 8; i++)
        assert_true(((float *)kp_tensor_data(t))[i] == (float)i);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(scale);
    kp_tensor_destroy(view);
    kp_tensor_destroy(t);
}

static void a_kernel_works_on_a_view_alone(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 200), *view = part(t, "view", 64, 70);
    kp_algorithm *scale = gpu_algorithm(
        mgr, scale_glsl, &(kp_algorithm_desc){.memory = &view, .memory_count = 1, .push = &(float){2}, .push_size = 4});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    OK(kp_record_dispatch(seq, scale, NULL));                                           // 70 elements
    OK(kp_record_dispatch(seq, scale, &(kp_dispatch_desc){.workgroups = {200, 1, 1}})); // the rest is out
    OK(kp_record_sync_local(seq, &t, 1));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < 200; i++)
        assert_true(((float *)kp_tensor_data(t))[i] == (float)i * (i >= 64 && i < 134 ? 4.0f : 1.0f));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(scale);
    kp_tensor_destroy(view);
    kp_tensor_destroy(t);
}

static void a_sync_of_a_view_moves_its_part_alone(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 100), *view = part(t, "view", 10, 5);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    OK(kp_sequence_eval(seq));
    float *data = kp_tensor_data(t);
    for (int i = 0; i < 100; i++)
        data[i] = -1;
    OK(kp_record_sync_local(seq, &view, 1));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < 100 && !gpu_unified(mgr); i++)
        assert_true(data[i] == (i >= 10 && i < 15 ? (float)i : -1.0f));
    for (int i = 0; i < 100; i++)
        data[i] = -2;
    OK(kp_record_sync_device(seq, &view, 1));
    OK(kp_record_sync_local(seq, &t, 1));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < 100 && !gpu_unified(mgr); i++)
        assert_true(data[i] == (i >= 10 && i < 15 ? -2.0f : (float)i));
    kp_sequence_destroy(seq);
    kp_tensor_destroy(view);
    kp_tensor_destroy(t);
}

// Prefix sums by doubling, on views of one tensor: each dispatch reads what the one before wrote, through another view.
static void barriers_know_that_views_share_memory(void **state) {
    kp_manager *mgr = *state;
    enum { STEPS = 30, N = 64 };
    kp_tensor *t = gpu_floats(mgr, "t", (STEPS + 2) * N, NULL), *rows[STEPS + 2];
    for (int i = 0; i < N; i++)
        ((float *)kp_tensor_data(t))[i] = ((float *)kp_tensor_data(t))[N + i] = 1;
    for (uint64_t row = 0; row < STEPS + 2; row++)
        rows[row] = part(t, "row", row * N, N);
    kp_algorithm *sums[STEPS];
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    for (int i = 0; i < STEPS; i++) {
        sums[i] = gpu_algorithm(mgr, sum_glsl, &(kp_algorithm_desc){.memory = &rows[i], .memory_count = 3});
        OK(kp_record_dispatch(seq, sums[i], NULL));
    }
    OK(kp_record_sync_local(seq, &rows[STEPS + 1], 1));
    for (int run = 0; run < 20; run++) {
        OK(kp_sequence_eval(seq));
        for (int i = 0; i < N; i++)
            assert_true(((float *)kp_tensor_data(rows[STEPS + 1]))[i] == 2178309.0f); // the 32nd Fibonacci number
    }
    kp_sequence_destroy(seq);
    for (int i = 0; i < STEPS; i++)
        kp_algorithm_destroy(sums[i]);
    for (int row = 0; row < STEPS + 2; row++)
        kp_tensor_destroy(rows[row]);
    kp_tensor_destroy(t);
}

static void a_view_that_is_not_aligned_is_refused_with_both_numbers(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 100), *view = part(t, "odd", 1, 50);
    kp_program *program = gpu_glsl(scale_glsl);
    kp_algorithm *scale = NULL;
    FAILS(
        kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &view, .memory_count = 1}, &scale),
        KP_ERROR_LIMIT,
        "algorithm '*': minStorageBufferOffsetAlignment of * is * bytes, tensor 'odd' for binding 0 of set 0 "
        "('A') is a view that begins at byte 4");
    kp_program_destroy(program);
    kp_tensor_destroy(view);
    kp_tensor_destroy(t);
}

static void views_of_one_tensor_are_copied_unless_they_overlap(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 100);
    kp_tensor *low = part(t, "low", 3, 20), *high = part(t, "high", 41, 20), *near = part(t, "near", 10, 20);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    OK(kp_record_copy(seq, LIST(low, high), 2));
    OK(kp_record_sync_local(seq, &t, 1));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < 100; i++)
        assert_true(((float *)kp_tensor_data(t))[i] == (float)(i >= 41 && i < 61 ? i - 38 : i));
    FAILS(kp_record_copy(seq, LIST(low, near), 2), KP_ERROR_ARGUMENT,
          "*tensor 'low' and tensor 'near' overlap: bytes 12 and 40 of one tensor, 80 each");
    kp_sequence_destroy(seq);
    kp_tensor_destroy(near);
    kp_tensor_destroy(high);
    kp_tensor_destroy(low);
    kp_tensor_destroy(t);
}

static void a_view_keeps_the_contents_of_a_destroyed_tensor(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 100), *view = part(t, "view", 64, 30);
    kp_memory_stats stats;
    kp_tensor_destroy(t);
    kp_tensor *again = part(view, "again", 0, 10); // of what is destroyed
    kp_algorithm *scale = gpu_algorithm(
        mgr, scale_glsl, &(kp_algorithm_desc){.memory = &view, .memory_count = 1, .push = &(float){2}, .push_size = 4});
    gpu_once(mgr, scale, &view, 1, NULL);
    assert_true(((float *)kp_tensor_data(view))[29] == 186.0f);
    kp_view *hold = NULL;
    OK(kp_view_create(again, &hold));
    kp_tensor_destroy(view);
    kp_tensor_destroy(again);
    assert_true(((const float *)kp_view_data(hold))[1] == 130.0f);
    OK(kp_manager_memory(mgr, &stats));
    assert_true(stats.used != 0);
    kp_view_destroy(hold);
    OK(kp_manager_memory(mgr, &stats));
    assert_int_equal(stats.used, 0);
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_dispatch(seq, scale, NULL), KP_ERROR_STATE, "*tensor 'view'*is destroyed");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(scale);
}

static void a_manager_may_go_before_its_views(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 100), *view = part(t, "view", 64, 30), *other = NULL;
    kp_view *hold = NULL;
    OK(kp_view_create(view, &hold));
    kp_manager_destroy(mgr);
    *state = NULL;
    assert_null(kp_tensor_data(view));
    assert_false(kp_memory_alive(view));
    assert_true(((const float *)kp_view_data(hold))[0] == 64.0f);
    FAILS(kp_tensor_view(view, NULL, &other), KP_ERROR_STATE, "*is destroyed");
    kp_tensor_destroy(t);
    assert_true(((const float *)kp_view_data(hold))[1] == 65.0f);
    kp_view_destroy(hold);
    kp_tensor_destroy(view);
}

static void a_view_is_destroyed_while_work_uses_it(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 4096), *view = part(t, "view", 1024, 1024);
    kp_algorithm *scale = gpu_algorithm(
        mgr, scale_glsl, &(kp_algorithm_desc){.memory = &view, .memory_count = 1, .push = &(float){1}, .push_size = 4});
    kp_sequence *seq = gpu_sequence(mgr);
    for (int i = 0; i < 50; i++)
        OK(kp_record_dispatch(seq, scale, NULL));
    OK(kp_sequence_eval_async(seq));
    kp_tensor_destroy(t);
    kp_tensor_destroy(view);
    kp_algorithm_destroy(scale);
    OK(kp_sequence_await(seq, UINT64_MAX));
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE, "*is destroyed");
    kp_sequence_destroy(seq);
}

static void native_handles_say_where_a_view_begins(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = counting(mgr, "t", 100), *view = part(t, "view", 25, 30);
    kp_vulkan_buffer all, some;
    OK(kp_vulkan_from_tensor(t, &all));
    OK(kp_vulkan_from_tensor(view, &some));
    assert_true(all.buffer == some.buffer);
    assert_int_equal(some.offset, 100);
    assert_int_equal(some.size, 120);
    kp_tensor_destroy(view);
    kp_tensor_destroy(t);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fills
// ---------------------------------------------------------------------------------------------------------------------

static void fill_and_look(kp_manager *mgr, kp_dtype dtype, uint64_t count, uint64_t first, uint64_t filled) {
    const unsigned char element[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    kp_tensor *t = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = dtype, .count = count}, &t));
    kp_tensor *view = part(t, "view", first, filled);
    size_t size = kp_dtype_size(dtype);
    unsigned char *data = kp_tensor_data(t);
    memset(data, 0xEE, (size_t)count * size);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    bool whole = first * size % 4 == 0 && (first + filled) * size % 4 == 0;
    uint64_t words = (first + filled) * size / 4 - (first * size + 3) / 4;
    if (whole || (filled * size >= 8 && words >= 1) || first + filled == count) {
        OK(kp_record_fill(seq, view, element));
        OK(kp_record_sync_local(seq, &t, 1));
        OK(kp_sequence_eval(seq));
        for (uint64_t i = 0; i < count * size; i++) {
            bool inside = i >= first * size && i < (first + filled) * size;
            assert_int_equal(data[i], inside ? element[i % size] : 0xEE);
        }
    } else {
        FAILS(kp_record_fill(seq, view, element), KP_ERROR_UNSUPPORTED,
              "*tensor 'view' is a view of * bytes from byte *");
    }
    kp_sequence_destroy(seq);
    kp_tensor_destroy(view);
    kp_tensor_destroy(t);
}

static void a_fill_reaches_every_element_of_a_view_and_no_other(void **state) {
    kp_manager *mgr = *state;
    for (int dtype = 0; dtype < KP_DTYPE_COUNT; dtype++) {
        fill_and_look(mgr, (kp_dtype)dtype, 37, 0, 37);
        fill_and_look(mgr, (kp_dtype)dtype, 37, 4, 32);
        fill_and_look(mgr, (kp_dtype)dtype, 37, 3, 29);
        fill_and_look(mgr, (kp_dtype)dtype, 37, 1, 2);
        fill_and_look(mgr, (kp_dtype)dtype, 37, 36, 1);
    }
    fill_and_look(mgr, KP_F64, 5000, 1, 4997); // longer than one update
}

static void a_fill_is_refused_without_an_element(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = gpu_floats(mgr, "t", 4, NULL);
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_fill(seq, t, NULL), KP_ERROR_ARGUMENT, "kp_record_fill: element is NULL");
    FAILS(kp_record_fill(seq, NULL, &(float){1}), KP_ERROR_ARGUMENT, "*memory[0] is NULL");
    FAILS(kp_record_fill(NULL, t, &(float){1}), KP_ERROR_ARGUMENT, "*sequence is NULL");
    assert_int_equal(kp_sequence_op_count(seq), 0);
    kp_sequence_destroy(seq);
    kp_tensor_destroy(t);
}

static void a_tensor_may_start_filled(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = NULL, *copy = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_F64, .count = 1001, .fill = &(double){1.5}}, &t));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_F64, .count = 1001, .fill = &(double){2.5}}, &copy));
    assert_true(((double *)kp_tensor_data(copy))[1000] == 2.5);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_copy(seq, LIST(t, copy), 2)); // where staged, nobody has asked for t's host side yet
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < 1001; i++) {
        assert_true(((double *)kp_tensor_data(copy))[i] == 1.5);
        assert_true(((double *)kp_tensor_data(t))[i] == 1.5);
    }
    kp_sequence_destroy(seq);
    kp_tensor_destroy(copy);
    kp_tensor_destroy(t);
    FAILS(kp_tensor_create(
              mgr, &(kp_tensor_desc){.count = 4, .memory_type = KP_MEMORY_STORAGE, .fill = &(float){1}, .label = "s"},
              &t),
          KP_ERROR_ARGUMENT, "tensor 's': a storage tensor has no host side to fill; record a fill");
}

// ---------------------------------------------------------------------------------------------------------------------
// Import
// ---------------------------------------------------------------------------------------------------------------------

static void count_release(void *payload) { ++*(int *)payload; }

// 64 KiB at a page's start; `*count` counts its releases.
static float *page_of_numbers(void) {
    float *page = aligned_alloc(65536, 65536);
    assert_non_null(page);
    for (int i = 0; i < 16384; i++)
        page[i] = (float)i;
    return page;
}

static kp_tensor *imported(kp_manager *mgr, kp_memory_type type, void *data, uint64_t count, int *released) {
    kp_tensor *t = NULL;
    OK(kp_tensor_create(mgr,
                        &(kp_tensor_desc){.count = count,
                                          .data = data,
                                          .import_data = true,
                                          .memory_type = type,
                                          .release = count_release,
                                          .release_payload = released,
                                          .label = "imported"},
                        &t));
    return t;
}

static void imported_memory_is_the_host_side(void **state) {
    kp_manager *mgr = *state;
    const kp_memory_type types[] = {KP_MEMORY_DEVICE, KP_MEMORY_HOST, KP_MEMORY_DEVICE_AND_HOST};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        float *page = page_of_numbers();
        int released = 0;
        kp_tensor *t = imported(mgr, types[i], page, 16384, &released);
        if (kp_tensor_data(t) != page) { // the device cannot: copied, and free to go
            assert_int_equal(gpu_device(mgr).type != KP_DEVICE_CPU, 1);
            assert_int_equal(released, 1);
        } else {
            assert_int_equal(released, 0);
        }
        kp_tensor *view = part(t, "view", 64, 64);
        kp_algorithm *scale = gpu_algorithm(
            mgr, scale_glsl,
            &(kp_algorithm_desc){.memory = &view, .memory_count = 1, .push = &(float){2}, .push_size = 4});
        gpu_once(mgr, scale, &t, 1, NULL);
        for (int k = 0; k < 16384; k++)
            assert_true(((float *)kp_tensor_data(t))[k] == (float)k * (k >= 64 && k < 128 ? 2.0f : 1.0f));
        kp_algorithm_destroy(scale);
        kp_tensor_destroy(t);
        kp_view *hold = NULL;
        OK(kp_view_create(view, &hold));
        kp_tensor_destroy(view);
        assert_true(((const float *)kp_view_data(hold))[1] == 130.0f);
        kp_view_destroy(hold); // the last that needs it
        assert_int_equal(released, 1);
        free(page);
    }
    kp_memory_stats stats;
    OK(kp_manager_memory(mgr, &stats));
    assert_int_equal(stats.used, 0);
}

static void what_cannot_be_imported_is_copied(void **state) {
    kp_manager *mgr = *state;
    float *page = page_of_numbers();
    int released = 0;
    kp_tensor *odd = imported(mgr, KP_MEMORY_DEVICE, page + 1, 100, &released); // no buffer may begin there
    assert_ptr_not_equal(kp_tensor_data(odd), page + 1);
    assert_int_equal(released, 1);
    assert_true(((float *)kp_tensor_data(odd))[99] == 100.0f);
    kp_tensor_destroy(odd);
    assert_int_equal(released, 1);
    kp_tensor *bytes = NULL; // a kernel of words could write behind its end
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U8, .count = 4095, .data = page, .import_data = true},
                        &bytes));
    assert_ptr_not_equal(kp_tensor_data(bytes), page);
    kp_tensor_destroy(bytes);
    kp_tensor *none = imported(mgr, KP_MEMORY_DEVICE, NULL, 100, &released);
    assert_int_equal(released, 2);
    assert_true(((float *)kp_tensor_data(none))[99] == 0.0f);
    kp_tensor_destroy(none);
    FAILS(kp_tensor_create(mgr,
                           &(kp_tensor_desc){.count = UINT64_MAX / 8,
                                             .data = page,
                                             .import_data = true,
                                             .release = count_release,
                                             .release_payload = &released},
                           &none),
          KP_ERROR_LIMIT, "*");
    assert_int_equal(released, 2); // the caller still has it
    free(page);
}

static void imported_memory_stays_while_work_uses_it(void **state) {
    kp_manager *mgr = *state;
    float *page = page_of_numbers();
    int released = 0;
    kp_tensor *t = imported(mgr, KP_MEMORY_DEVICE, page, 16384, &released);
    kp_algorithm *scale = gpu_algorithm(
        mgr, scale_glsl, &(kp_algorithm_desc){.memory = &t, .memory_count = 1, .push = &(float){1}, .push_size = 4});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    for (int i = 0; i < 20; i++)
        OK(kp_record_dispatch(seq, scale, NULL));
    OK(kp_record_sync_local(seq, &t, 1));
    OK(kp_sequence_eval_async(seq));
    bool is_in = kp_tensor_data(t) == page;
    kp_tensor_destroy(t);
    assert_int_equal(released, is_in ? 0 : 1);
    OK(kp_sequence_await(seq, UINT64_MAX));
    assert_int_equal(released, 1);
    assert_true(page[16383] == 16383.0f);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(scale);
    free(page);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pools
// ---------------------------------------------------------------------------------------------------------------------

static void a_trim_gives_everything_idle_back(void **state) {
    kp_manager *mgr = *state;
    kp_memory_stats stats;
    for (int i = 0; i < 20; i++) {
        kp_tensor *t = counting(mgr, "t", 1000);
        kp_algorithm *square = gpu_multiply(mgr, t, t, t);
        gpu_once(mgr, square, &t, 1, NULL);
        kp_algorithm_destroy(square);
        kp_tensor_destroy(t);
    }
    OK(kp_manager_memory(mgr, &stats));
    assert_true(stats.reserved != 0); // kept for reuse
    kp_tensor *live = counting(mgr, "live", 10);
    OK(kp_manager_trim(mgr));
    OK(kp_manager_memory(mgr, &stats));
    assert_true(stats.reserved >= stats.used && stats.used != 0);
    assert_true(((float *)kp_tensor_data(live))[9] == 9.0f);
    kp_tensor_destroy(live);
    OK(kp_manager_trim(mgr));
    OK(kp_manager_memory(mgr, &stats));
    assert_int_equal(stats.reserved, 0);
    assert_int_equal(stats.allocations, 0);
    assert_true(stats.peak != 0);
    kp_tensor *t = counting(mgr, "t", 10); // and goes on
    kp_algorithm *square = gpu_multiply(mgr, t, t, t);
    gpu_once(mgr, square, &t, 1, NULL);
    assert_true(((float *)kp_tensor_data(t))[9] == 81.0f);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(t);
    FAILS(kp_manager_trim(NULL), KP_ERROR_ARGUMENT, "kp_manager_trim: manager is NULL");
}

// Nobody pays for a host side that he never asks for; with unified memory there is none of its own.
static void host_sides_are_made_when_they_are_asked_for(void **state) {
    kp_manager *mgr = *state;
    enum { MIB = 1 << 20 };
    kp_memory_stats made, asked;
    kp_tensor *t = gpu_floats(mgr, "t", MIB / 4, NULL);
    kp_image *image = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 512, .height = 512}, &image));
    OK(kp_manager_memory(mgr, &made));
    assert_true(made.used >= 2 * MIB && made.used < 3 * MIB);
    kp_tensor *view = part(t, "view", 0, 16);
    assert_non_null(kp_tensor_data(view));
    OK(kp_manager_memory(mgr, &asked));
    assert_int_equal(asked.used - made.used, gpu_unified(mgr) ? 0 : MIB);
    if (gpu_unified(mgr)) { // a sync has nothing to do
        kp_sequence *seq = gpu_sequence(mgr);
        void *before = kp_tensor_data(t);
        OK(kp_record_sync_device(seq, &t, 1));
        OK(kp_record_sync_local(seq, &t, 1));
        OK(kp_sequence_eval(seq));
        assert_ptr_equal(kp_tensor_data(t), before);
        kp_sequence_destroy(seq);
    }
    kp_sequence *seq = gpu_sequence(mgr); // what comes after the image's making has waited for it
    OK(kp_record_fill(seq, image, &(float){1}));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_tensor_destroy(view);
    kp_image_destroy(image);
    kp_tensor_destroy(t);
    OK(kp_manager_memory(mgr, &asked));
    assert_int_equal(asked.used, 0);
}

static void images_and_views_pile_up_nowhere(void **state) {
    kp_manager *mgr = *state;
    kp_memory_stats first = {0}, last;
    kp_tensor *t = gpu_floats(mgr, "t", 4096, NULL);
    for (int i = 0; i < 500; i++) {
        kp_tensor *view = part(t, "view", 64, 64);
        kp_image *image = NULL;
        OK(kp_image_create(mgr, &(kp_image_desc){.width = 8, .height = 8}, &image));
        kp_sequence *seq = gpu_sequence(mgr);
        OK(kp_record_copy(seq, LIST(view, image), 2));
        OK(kp_record_sync_local(seq, &image, 1));
        OK(kp_sequence_eval(seq));
        kp_sequence_destroy(seq);
        kp_image_destroy(image);
        kp_tensor_destroy(view);
        if (i == 10)
            OK(kp_manager_memory(mgr, &first));
    }
    OK(kp_manager_memory(mgr, &last));
    assert_int_equal(last.used, first.used);
    assert_int_equal(last.reserved, first.reserved);
    assert_int_equal(last.allocations, first.allocations);
    kp_tensor_destroy(t);
}

static void the_budget_is_known(void **state) {
    kp_manager *mgr = *state;
    kp_memory_stats before, after;
    OK(kp_manager_memory(mgr, &before));
    assert_true(before.budget > 0);
    kp_tensor *t = counting(mgr, "t", 1 << 20);
    OK(kp_manager_memory(mgr, &after));
    assert_true(after.device_usage <= after.budget);
    assert_true(after.used >= 4 << 20);
    kp_tensor_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(a_view_shares_the_host_side),
        GPU_TEST(a_view_may_have_another_shape),
        GPU_TEST(an_empty_view_does_nothing),
        GPU_TEST(a_kernel_works_on_a_view_alone),
        GPU_TEST(a_sync_of_a_view_moves_its_part_alone),
        GPU_TEST(barriers_know_that_views_share_memory),
        GPU_TEST(a_view_that_is_not_aligned_is_refused_with_both_numbers),
        GPU_TEST(views_of_one_tensor_are_copied_unless_they_overlap),
        GPU_TEST(a_view_keeps_the_contents_of_a_destroyed_tensor),
        GPU_TEST(a_manager_may_go_before_its_views),
        GPU_TEST(a_view_is_destroyed_while_work_uses_it),
        GPU_TEST(native_handles_say_where_a_view_begins),
        GPU_TEST(a_fill_reaches_every_element_of_a_view_and_no_other),
        GPU_TEST(a_fill_is_refused_without_an_element),
        GPU_TEST(a_tensor_may_start_filled),
        GPU_TEST(imported_memory_is_the_host_side),
        GPU_TEST(what_cannot_be_imported_is_copied),
        GPU_TEST(imported_memory_stays_while_work_uses_it),
        GPU_TEST(a_trim_gives_everything_idle_back),
        GPU_TEST(host_sides_are_made_when_they_are_asked_for),
        GPU_TEST(images_and_views_pile_up_nowhere),
        GPU_TEST(the_budget_is_known),
    };
    return gpu_run("memory", tests);
}
