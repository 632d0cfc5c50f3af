// Sequences: recording rules, replay, barriers, copies, asynchronous evaluation, timestamps.
#include "gpu.h"

static const char add_one[] = "layout(binding = 0) buffer X { float x[]; };\n"
                              "void main() { x[gl_GlobalInvocationID.x] += 1.0; }\n";

// lavapipe allocates for each workgroup while a submission runs; under the address sanitizer that adds up to gigabytes.
#if defined(__SANITIZE_ADDRESS__)
enum { MANY = 64, VERY_MANY = 512 };
#else
enum { MANY = 1000, VERY_MANY = 20000 };
#endif

static float first(const kp_tensor *tensor) { return ((const float *)kp_tensor_data(tensor))[0]; }

static void recording_follows_the_rules(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    assert_false(kp_sequence_is_recording(seq));
    assert_false(kp_sequence_is_running(seq));
    assert_true(kp_sequence_alive(seq));
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, add, NULL));
    OK(kp_record_sync_local(seq, &x, 1));
    assert_true(kp_sequence_is_recording(seq));
    assert_int_equal(kp_sequence_op_count(seq), 3);
    OK(kp_sequence_eval(seq));
    assert_false(kp_sequence_is_recording(seq));
    assert_true(first(x) == 1.0f);
    OK(kp_sequence_eval(seq)); // replay: the host side is synced in again
    assert_true(first(x) == 2.0f);
    OK(kp_record_dispatch(seq, add, NULL)); // afresh
    assert_int_equal(kp_sequence_op_count(seq), 1);
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_end(seq));
    assert_false(kp_sequence_is_recording(seq));
    OK(kp_sequence_eval(seq));
    assert_true(first(x) == 3.0f);
    OK(kp_sequence_end(seq));
    OK(kp_record_dispatch(seq, add, NULL));
    assert_int_equal(kp_sequence_op_count(seq), 1);
    OK(kp_sequence_clear(seq));
    assert_int_equal(kp_sequence_op_count(seq), 0);
    OK(kp_sequence_eval(seq)); // nothing to do
    OK(kp_sequence_eval_async(seq));
    assert_true(kp_sequence_is_running(seq));
    OK(kp_sequence_await(seq, 0));
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    assert_true(first(x) == 3.0f);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

static void an_op_that_fails_leaves_the_sequence_as_it_was(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL), *y = gpu_floats(mgr, "y", 5, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, add, NULL));
    FAILS(kp_record_copy(seq, LIST(x, y), 2), KP_ERROR_ARGUMENT,
          "sequence 'sequence': tensor 'x' has 4 elements, tensor 'y' has 5");
    assert_int_equal(kp_sequence_op_count(seq), 2);
    assert_true(kp_sequence_is_recording(seq));
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    assert_true(first(x) == 1.0f);
    FAILS(kp_record_copy(seq, LIST(x, y), 2), KP_ERROR_ARGUMENT, "*"); // does not start afresh either
    assert_int_equal(kp_sequence_op_count(seq), 3);
    OK(kp_sequence_eval(seq));
    assert_true(first(x) == 2.0f);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

// Every dispatch needs the one before it; a missing barrier shows on real devices, and to the validation layer
// anywhere.
static void dependent_dispatches_are_ordered(void **state) {
    kp_manager *mgr = *state;
    enum { N = 200, ELEMENTS = MANY };
    kp_tensor *x = gpu_floats(mgr, "x", ELEMENTS, NULL), *y = gpu_floats(mgr, "y", ELEMENTS, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_algorithm *square = gpu_multiply(mgr, x, x, y);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(x, y), 2));
    for (int i = 0; i < N; i++) {
        OK(kp_record_dispatch(seq, add, NULL));
        OK(kp_record_dispatch(seq, square, NULL)); // reads x, writes y: then x is written again, and y too
        if (i % 50 == 0)
            OK(kp_record_barrier(seq, LIST(x, y), 2));
    }
    OK(kp_record_sync_local(seq, LIST(x, y), 2));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < ELEMENTS; i++) {
        assert_true(((float *)kp_tensor_data(x))[i] == N);
        assert_true(((float *)kp_tensor_data(y))[i] == (float)N * N);
    }
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

static void many_memories_in_one_sequence(void **state) {
    kp_manager *mgr = *state;
    enum { N = 100 };
    kp_tensor *t[N];
    kp_algorithm *multiply[N] = {0};
    kp_sequence *seq = gpu_sequence(mgr);
    for (int i = 0; i < N; i++)
        t[i] = gpu_floats(mgr, "t", 3, i == 0 ? (float[]){2, 3, -1} : NULL);
    OK(kp_record_sync_device(seq, t, N));
    for (int i = 1; i < N; i++) { // t[i] = t[i - 1] * t[0], that is t[0] to the power i + 1, within a float
        multiply[i] = gpu_algorithm(mgr,
                                    "layout(binding = 0) readonly buffer A { float a[]; };\n"
                                    "layout(binding = 1) buffer B { float b[]; };\n"
                                    "void main() { uint i = gl_GlobalInvocationID.x; b[i] = a[i] + 1.0; }\n",
                                    &(kp_algorithm_desc){.memory = LIST(t[i - 1], t[i]), .memory_count = 2});
        OK(kp_record_dispatch(seq, multiply[i], NULL));
    }
    OK(kp_record_sync_local(seq, t, N));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < N; i++)
        assert_true(first(t[i]) == 2.0f + (float)i);
    kp_sequence_destroy(seq);
    for (int i = 0; i < N; i++) {
        kp_algorithm_destroy(multiply[i]);
        kp_tensor_destroy(t[i]);
    }
}

static void the_same_memory_may_be_bound_twice(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 2, (float[]){3, 4});
    kp_algorithm *square = gpu_multiply(mgr, x, x, x);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(x, x), 2));
    OK(kp_record_dispatch(seq, square, NULL));
    OK(kp_record_sync_local(seq, LIST(x, x), 2));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(x), ((float[]){9, 16}), 8);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(x);
}

static void a_copy_takes_both_sides(void **state) {
    kp_manager *mgr = *state;
    static const kp_memory_type types[] = {KP_MEMORY_DEVICE, KP_MEMORY_HOST, KP_MEMORY_DEVICE_AND_HOST};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        for (size_t k = 0; k < COUNT_OF(types); k++) {
            kp_tensor *a = NULL, *b = NULL, *c = NULL;
            OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 2, .data = (float[]){1, 2}, .memory_type = types[i]},
                                &a));
            OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 2, .memory_type = types[k]}, &b));
            OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 2, .data = (float[]){8, 9}}, &c));
            kp_sequence *seq = gpu_sequence(mgr);
            OK(kp_record_sync_device(seq, LIST(a, b, c), 3));
            OK(kp_record_copy(seq, LIST(a, b, c), 3));
            OK(kp_sequence_eval(seq));
            assert_memory_equal(kp_tensor_data(b), ((float[]){1, 2}), 8); // host sides
            assert_memory_equal(kp_tensor_data(c), ((float[]){1, 2}), 8);
            memset(kp_tensor_data(c), 0, 8);
            OK(kp_record_copy(seq, LIST(b, c), 2));
            OK(kp_record_sync_local(seq, &c, 1)); // device sides
            OK(kp_sequence_eval(seq));
            assert_memory_equal(kp_tensor_data(c), ((float[]){1, 2}), 8);
            kp_sequence_destroy(seq);
            kp_tensor_destroy(a);
            kp_tensor_destroy(b);
            kp_tensor_destroy(c);
        }
    }
}

static void a_copy_knows_host_sides_that_came_later(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *a = gpu_floats(mgr, "a", 2, NULL), *b = gpu_floats(mgr, "b", 2, NULL);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_copy(seq, LIST(a, b), 2));
    OK(kp_sequence_eval(seq));
    ((float *)kp_tensor_data(a))[1] = 5;
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(b), ((float[]){0, 5}), 8);
    kp_tensor_destroy(a);
    a = gpu_floats(mgr, "a", 2, NULL); // its host side holds zeros, made or not
    OK(kp_record_copy(seq, LIST(a, b), 2));
    OK(kp_sequence_eval(seq));
    if (!gpu_unified(mgr)) // the device side of a is not defined yet
        assert_memory_equal(kp_tensor_data(b), ((float[]){0, 0}), 8);
    kp_sequence_destroy(seq);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
}

static void copies_need_the_same_type_and_size(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *f = gpu_floats(mgr, "f", 2, NULL), *i = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = 2, .label = "i"}, &i));
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_copy(seq, LIST(f, i), 2), KP_ERROR_TYPE,
          "sequence 'sequence': tensor 'f' holds f32, tensor 'i' holds i32");
    FAILS(kp_record_copy(seq, LIST(f), 1), KP_ERROR_ARGUMENT,
          "sequence 'sequence': a copy needs at least 2 memories, 1 given");
    FAILS(kp_record_copy(seq, NULL, 0), KP_ERROR_ARGUMENT,
          "sequence 'sequence': a copy needs at least 2 memories, 0 given");
    OK(kp_record_copy(seq, LIST(f, f, f), 3)); // into itself: nothing
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_tensor_destroy(f);
    kp_tensor_destroy(i);
}

// Long enough to be seen running.
static const char slow_glsl[] =
    "layout(local_size_x = 16) in;\n"
    "layout(binding = 0) buffer X { uint x[]; };\n"
    "void main() { uint s = x[0]; for (uint i = 0; i < 30000; i++) s = s * 1664525 + 1013904223; x[1] = s; }\n";

static void asynchronous_work_is_awaited(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 2, .data = (uint32_t[]){1, 0}}, &x));
    kp_algorithm *slow = gpu_algorithm(mgr, slow_glsl, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_sequence_await(seq, UINT64_MAX), KP_ERROR_STATE,
          "sequence 'sequence': nothing to await, nothing was submitted since the last await");
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, slow, &(kp_dispatch_desc){.workgroups = {1000, 1, 1}}));
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval_async(seq));
    assert_true(kp_sequence_is_running(seq));
    kp_result result = kp_sequence_await(seq, 0);
    if (result == KP_ERROR_TIMEOUT) { // it may be done already, on a quick device
        assert_true(kp_sequence_is_running(seq));
        FAILS(kp_record_sync_local(seq, &x, 1), KP_ERROR_STATE, "sequence 'sequence' is running: await it first");
        FAILS(kp_sequence_eval(seq), KP_ERROR_STATE, "sequence 'sequence' is running: await it first");
        FAILS(kp_sequence_eval_async(seq), KP_ERROR_STATE, "sequence 'sequence' is running: await it first");
        FAILS(kp_sequence_clear(seq), KP_ERROR_STATE, "sequence 'sequence' is running: await it first");
        FAILS(kp_sequence_end(seq), KP_ERROR_STATE, "sequence 'sequence' is running: await it first");
        FAILS(kp_sequence_rerecord(seq), KP_ERROR_STATE, "sequence 'sequence' is running: await it first");
        result = kp_sequence_await(seq, UINT64_MAX);
    }
    OK(result);
    assert_false(kp_sequence_is_running(seq));
    uint32_t s = 1;
    for (int i = 0; i < 30000; i++)
        s = s * 1664525u + 1013904223u;
    assert_int_equal(((uint32_t *)kp_tensor_data(x))[1], s);
    FAILS(kp_sequence_await(seq, UINT64_MAX), KP_ERROR_STATE, "*");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(slow);
    kp_tensor_destroy(x);
}

// On one queue what is submitted later sees what was submitted before, also where a sync has no commands of its own.
static void sequences_on_one_queue_are_in_order(void **state) {
    kp_manager *mgr = *state;
    enum { N = 8 };
    kp_tensor *x = gpu_floats(mgr, "x", VERY_MANY, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq[N], *read = gpu_sequence(mgr), *write = gpu_sequence(mgr);
    OK(kp_record_sync_device(write, &x, 1));
    OK(kp_sequence_eval_async(write));
    for (int i = 0; i < N; i++) {
        seq[i] = gpu_sequence(mgr);
        for (int k = 0; k < 10; k++)
            OK(kp_record_dispatch(seq[i], add, NULL));
        OK(kp_sequence_eval_async(seq[i]));
    }
    OK(kp_record_sync_local(read, &x, 1));
    OK(kp_sequence_eval(read));
    assert_true(first(x) == 10.0f * N);
    assert_true(((float *)kp_tensor_data(x))[VERY_MANY - 1] == 10.0f * N);
    for (int i = N; i-- > 0;) {
        OK(kp_sequence_await(seq[i], UINT64_MAX));
        kp_sequence_destroy(seq[i]);
    }
    kp_sequence_destroy(read);
    kp_sequence_destroy(write); // never awaited: fine
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

static void timestamps_come_one_after_each_op(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = NULL, *plain = gpu_sequence(mgr);
    uint64_t ticks[8];
    size_t count = 0;
    OK(kp_sequence_create(mgr, &(kp_sequence_desc){.timestamps = 3, .label = "timed"}, &seq));
    if (!gpu_device(mgr).timestamps) {
        FAILS(kp_sequence_timestamps(seq, ticks, 8, &count), KP_ERROR_UNSUPPORTED,
              "sequence 'timed': * has no timestamps");
    } else {
        FAILS(kp_sequence_timestamps(plain, ticks, 8, &count), KP_ERROR_STATE,
              "sequence 'sequence': made without timestamps");
        FAILS(kp_sequence_timestamps(seq, ticks, 8, &count), KP_ERROR_STATE, "sequence 'timed': not evaluated yet");
        OK(kp_record_sync_device(seq, &x, 1));
        OK(kp_record_dispatch(seq, add, NULL));
        OK(kp_sequence_eval(seq));
        OK(kp_sequence_timestamps(seq, ticks, 8, &count));
        assert_int_equal(count, 3);
        assert_true(ticks[0] <= ticks[1] && ticks[1] <= ticks[2]);
        for (int i = 0; i < 5; i++)
            OK(kp_record_dispatch(seq, add, NULL));
        OK(kp_sequence_eval(seq));
        OK(kp_sequence_timestamps(seq, ticks, 2, &count)); // fewer than there are
        assert_int_equal(count, 4);
        OK(kp_sequence_timestamps(seq, NULL, 0, &count));
        assert_int_equal(count, 4);
    }
    kp_sequence_destroy(seq);
    kp_sequence_destroy(plain);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

static long resident_pages(void) {
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (f != NULL)
        fclose(f);
    return resident;
}

static void evaluations_and_recordings_leave_memory_flat(void **state) {
    kp_manager *mgr = *state;
    const char *validation = getenv("KP_VALIDATION");
    int rounds = validation != NULL && strcmp(validation, "1") == 0 ? 500 : 5000; // the layer is slow, and keeps things
    kp_tensor *x = gpu_floats(mgr, "x", 4, NULL);
    kp_algorithm *add = gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    long before = 0;
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    for (int round = 0; round < 2 * rounds; round++) {
        if (round == rounds)
            before = resident_pages();
        OK(kp_record_dispatch(seq, add, NULL));
        for (int i = 0; i < 3; i++)
            OK(kp_sequence_eval(seq));
        kp_sequence *other = gpu_sequence(mgr);
        OK(kp_record_sync_local(other, &x, 1));
        OK(kp_sequence_eval_async(other));
        kp_sequence_destroy(other);
        kp_tensor *y = gpu_floats(mgr, "y", 1000, NULL);
        kp_tensor_destroy(y);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(resident_pages() - before < 512); // 2 MiB
#else
    (void)before;
#endif
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    assert_true(first(x) == 6.0f * (float)rounds);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(recording_follows_the_rules),
        GPU_TEST(an_op_that_fails_leaves_the_sequence_as_it_was),
        GPU_TEST(dependent_dispatches_are_ordered),
        GPU_TEST(many_memories_in_one_sequence),
        GPU_TEST(the_same_memory_may_be_bound_twice),
        GPU_TEST(a_copy_takes_both_sides),
        GPU_TEST(a_copy_knows_host_sides_that_came_later),
        GPU_TEST(copies_need_the_same_type_and_size),
        GPU_TEST(asynchronous_work_is_awaited),
        GPU_TEST(sequences_on_one_queue_are_in_order),
        GPU_TEST(timestamps_come_one_after_each_op),
        GPU_TEST(evaluations_and_recordings_leave_memory_flat),
    };
    return gpu_run("sequence", tests);
}
