// Many threads on one manager.
#include "gpu.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8 };

typedef struct worker {
    kp_manager *mgr;
    kp_tensor *shared; // read by all
    unsigned number;
    int rounds;
    pthread_t thread;
    char failure[2300]; // "" when all went well
} worker;

// cmocka's checks are for the main thread: a worker notes what went wrong.
#define TRY(call)                                                                                                   \
    do {                                                                                                            \
        kp_result result_ = (call);                                                                                 \
        if (result_ != KP_OK) {                                                                                     \
            snprintf(w->failure, sizeof w->failure, "%s: %s: %s", #call, kp_result_name(result_), kp_last_error()); \
            return NULL;                                                                                            \
        }                                                                                                           \
    } while (0)
#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            snprintf(w->failure, sizeof w->failure, "line %d: %s", __LINE__, #condition); \
            return NULL;                                                                  \
        }                                                                                 \
    } while (0)

static void run(kp_manager *mgr, kp_tensor *shared, int rounds, void *(*work)(void *)) {
    static worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.mgr = mgr, .shared = shared, .number = i, .rounds = rounds};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        if (workers[i].failure[0] != '\0')
            fail_msg("thread %u: %s", i, workers[i].failure);
    }
}

static int rounds(int many) {
    const char *validation = getenv("KP_VALIDATION");
    bool slow = validation != NULL && strcmp(validation, "1") == 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    slow = true;
#endif
    const char *all = getenv("KP_THREAD_ROUNDS"); // "all": as many as without a layer or a sanitizer
    return slow && (all == NULL || strcmp(all, "all") != 0) ? many / 20 : many;
}

static kp_program *add_program; // x[i] += y[0]

static void *evaluate(void *payload) {
    worker *w = payload;
    kp_tensor *x = NULL;
    kp_sequence *seq = NULL;
    kp_algorithm *add = NULL;
    TRY(kp_tensor_create(w->mgr, &(kp_tensor_desc){.count = 8, .label = "own"}, &x));
    TRY(kp_algorithm_create(
        w->mgr, &(kp_algorithm_desc){.program = add_program, .memory = LIST(x, w->shared), .memory_count = 2}, &add));
    TRY(kp_sequence_create(w->mgr, NULL, &seq));
    TRY(kp_record_sync_device(seq, LIST(x, w->shared), 2));
    TRY(kp_record_dispatch(seq, add, NULL));
    TRY(kp_record_sync_local(seq, &x, 1));
    for (int i = 0; i < w->rounds; i++) {
        if (i % 3 == 0) {
            TRY(kp_sequence_eval_async(seq));
            TRY(kp_sequence_await(seq, UINT64_MAX));
        } else {
            TRY(kp_sequence_eval(seq));
        }
        CHECK(((float *)kp_tensor_data(x))[7] == (float)(2 * (i + 1)));
    }
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
    return NULL;
}

static void each_thread_evaluates_its_own_sequence(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *two = gpu_floats(mgr, "two", 1, (float[]){2});
    run(mgr, two, rounds(10000), evaluate);
    kp_tensor_destroy(two);
}

static void *make_and_drop(void *payload) {
    worker *w = payload;
    for (int i = 0; i < w->rounds; i++) {
        kp_tensor *x = NULL;
        kp_sequence *seq = NULL;
        kp_algorithm *add = NULL;
        kp_view *view = NULL;
        uint64_t count = 1 + (uint64_t)(i * 131 + (int)w->number * 17) % 3000;
        TRY(kp_tensor_create(w->mgr, &(kp_tensor_desc){.count = count}, &x));
        TRY(kp_algorithm_create(
            w->mgr, &(kp_algorithm_desc){.program = add_program, .memory = LIST(x, w->shared), .memory_count = 2},
            &add));
        TRY(kp_sequence_create(w->mgr, NULL, &seq));
        TRY(kp_record_sync_device(seq, LIST(x, w->shared), 2));
        TRY(kp_record_dispatch(seq, add, NULL));
        TRY(kp_record_sync_local(seq, &x, 1));
        if (i % 4 == 0) {
            TRY(kp_sequence_eval_async(seq)); // destroyed in flight
        } else {
            TRY(kp_sequence_eval(seq));
            TRY(kp_view_create(x, &view));
            CHECK(((float *)kp_view_data(view))[count - 1] == 2.0f);
        }
        kp_tensor_destroy(x);
        kp_algorithm_destroy(add);
        kp_sequence_destroy(seq);
        kp_view_destroy(view);
        kp_memory_stats stats;
        TRY(kp_manager_memory(w->mgr, &stats));
    }
    return NULL;
}

static void threads_make_and_drop_everything(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *two = gpu_floats(mgr, "two", 1, (float[]){2});
    run(mgr, two, rounds(600), make_and_drop);
    kp_tensor_destroy(two);
}

static void *make_same_kernels(void *payload) {
    worker *w = payload;
    static const uint32_t values[] = {1, 2, 3, 4};
    for (int i = 0; i < w->rounds; i++) {
        kp_tensor *x = NULL;
        kp_algorithm *add = NULL;
        TRY(kp_tensor_create(w->mgr, &(kp_tensor_desc){.count = 1}, &x));
        TRY(kp_algorithm_create(w->mgr,
                                &(kp_algorithm_desc){.program = add_program,
                                                     .memory = LIST(x, w->shared),
                                                     .memory_count = 2,
                                                     .specs = &(kp_spec){0, KP_U32, &values[i % 4]},
                                                     .spec_count = 1},
                                &add));
        kp_algorithm_destroy(add);
        kp_tensor_destroy(x);
    }
    return NULL;
}

static void threads_share_the_pipeline_cache(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *two = gpu_floats(mgr, "two", 1, (float[]){2});
    run(mgr, two, rounds(400), make_same_kernels);
    kp_tensor_destroy(two);
}

static void *destroy_shared(void *payload) {
    worker *w = payload;
    if (w->number == 0) {
        kp_tensor_destroy(w->shared);
        return NULL;
    }
    kp_tensor *x = NULL;
    kp_sequence *seq = NULL;
    TRY(kp_tensor_create(w->mgr, &(kp_tensor_desc){.count = 1}, &x));
    TRY(kp_sequence_create(w->mgr, NULL, &seq));
    TRY(kp_record_sync_device(seq, &x, 1));
    for (int i = 0; i < w->rounds; i++)
        TRY(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_tensor_destroy(x);
    return NULL;
}

// While it is bound by algorithms in flight elsewhere.
static void a_tensor_is_destroyed_while_others_work(void **state) {
    kp_manager *mgr = *state;
    for (int i = 0; i < 5; i++) {
        kp_tensor *shared = gpu_floats(mgr, "shared", 1, (float[]){2}), *x = gpu_floats(mgr, "x", 4, NULL);
        kp_algorithm *add = NULL;
        OK(kp_algorithm_create(
            mgr, &(kp_algorithm_desc){.program = add_program, .memory = LIST(x, shared), .memory_count = 2}, &add));
        kp_sequence *seq = gpu_sequence(mgr);
        OK(kp_record_dispatch(seq, add, NULL));
        OK(kp_sequence_eval_async(seq));
        run(mgr, shared, rounds(100), destroy_shared);
        OK(kp_sequence_await(seq, UINT64_MAX));
        FAILS(kp_sequence_eval(seq), KP_ERROR_STATE,
              "sequence 'sequence': tensor 'shared', which it recorded, is destroyed");
        kp_sequence_destroy(seq);
        kp_algorithm_destroy(add);
        kp_tensor_destroy(x);
    }
}

static void *make_managers(void *payload) {
    worker *w = payload;
    for (int i = 0; i < 3; i++) {
        kp_manager *mgr = NULL;
        kp_tensor *x = NULL, *two = NULL;
        kp_sequence *seq = NULL;
        kp_algorithm *add = NULL;
        size_t count = 0;
        TRY(kp_devices(NULL, 0, &count));
        TRY(kp_manager_create(NULL, &mgr));
        TRY(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 1}, &x));
        TRY(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 1, .data = (float[]){2}}, &two));
        TRY(kp_algorithm_create(
            mgr, &(kp_algorithm_desc){.program = add_program, .memory = LIST(x, two), .memory_count = 2}, &add));
        TRY(kp_sequence_create(mgr, NULL, &seq));
        TRY(kp_record_sync_device(seq, LIST(x, two), 2));
        TRY(kp_record_dispatch(seq, add, NULL));
        TRY(kp_record_sync_local(seq, &x, 1));
        TRY(kp_sequence_eval(seq));
        CHECK(((float *)kp_tensor_data(x))[0] == 2.0f);
        kp_manager_destroy(mgr);
        kp_sequence_destroy(seq);
        kp_algorithm_destroy(add);
        kp_tensor_destroy(x);
        kp_tensor_destroy(two);
    }
    return NULL;
}

static void threads_make_managers_of_their_own(void **state) {
    kp_manager *mgr = *state;
    run(mgr, NULL, 1, make_managers);
}

static int compile(void **state) {
    (void)state;
    add_program = gpu_glsl("layout(constant_id = 0) const uint unused = 1;\n"
                           "layout(binding = 0) buffer X { float x[]; };\n"
                           "layout(binding = 1) readonly buffer Y { float y[]; };\n"
                           "void main() { x[gl_GlobalInvocationID.x] += y[0] + float(unused) * 0.0; }\n");
    return 0;
}

static int drop(void **state) {
    (void)state;
    kp_program_destroy(add_program);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(each_thread_evaluates_its_own_sequence), GPU_TEST(threads_make_and_drop_everything),
        GPU_TEST(threads_share_the_pipeline_cache),       GPU_TEST(a_tensor_is_destroyed_while_others_work),
        GPU_TEST(threads_make_managers_of_their_own),
    };
    return cmocka_run_group_tests_name("gpu.threads", tests, compile, drop);
}
