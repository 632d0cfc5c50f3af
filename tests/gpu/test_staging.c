// Arrays to the device side and back, through the manager's staging ring: whole pieces and parts of them, every kind of
// memory, next to other work, from several threads, and with memory that runs out.
#include "gpu.h"

#include <pthread.h>

#define PIECE ((size_t)4 << 20) // runtime/staging.c

static uint32_t *numbers(size_t count, uint32_t seed) {
    uint32_t *data = malloc(count * sizeof *data + 1);
    assert_non_null(data);
    for (size_t i = 0; i < count; i++)
        data[i] = (uint32_t)i * 2654435761u + seed;
    return data;
}

static kp_tensor *words(kp_manager *mgr, size_t count, kp_memory_type type) {
    kp_tensor *t = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = count, .memory_type = type, .label = "t"},
                        &t));
    return t;
}

static void arrays_come_back_as_they_went(void **state) {
    kp_manager *mgr = *state;
    static const size_t counts[] = {1, 3, PIECE / 4 - 1, PIECE / 4, PIECE / 4 + 1, 5 * PIECE / 4 + 7};
    static const kp_memory_type types[] = {KP_MEMORY_DEVICE, KP_MEMORY_HOST, KP_MEMORY_STORAGE,
                                           KP_MEMORY_DEVICE_AND_HOST};
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        for (size_t type = 0; type < COUNT_OF(types); type++) {
            size_t count = counts[k], bytes = count * 4;
            uint32_t *data = numbers(count, (uint32_t)type), *back = numbers(count, 9);
            kp_tensor *t = words(mgr, count, types[type]);
            OK(kp_tensor_upload(t, data, bytes));
            OK(kp_tensor_download(t, back, bytes));
            assert_memory_equal(back, data, bytes);
            kp_tensor_destroy(t);
            free(data);
            free(back);
        }
    }
}

// Any address, elements of any size, and a part of a tensor only.
static void bytes_and_parts_move_too(void **state) {
    kp_manager *mgr = *state;
    size_t count = PIECE + 5;
    unsigned char *data = (unsigned char *)numbers(count / 4 + 1, 1) + 1, *back = malloc(count + 3);
    kp_tensor *t = NULL, *part = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U8, .count = count + 100}, &t));
    OK(kp_tensor_view(t, &(kp_tensor_view_desc){.first = 33, .count = count}, &part));
    unsigned char *all = calloc(1, count + 100);
    OK(kp_tensor_upload(t, all, count + 100));
    OK(kp_tensor_upload(part, data, count));
    OK(kp_tensor_download(part, back + 3, count));
    assert_memory_equal(back + 3, data, count);
    OK(kp_tensor_download(t, all, count + 100));
    assert_memory_equal(all + 33, data, count);
    for (unsigned i = 0; i < 33; i++)
        assert_true(all[i] == 0 && all[33 + count + i] == 0);
    kp_tensor_destroy(part);
    kp_tensor_destroy(t);
    free(data - 1);
    free(back);
    free(all);
}

// The host side is another place, unless the device side is the host's as well.
static void the_host_side_stays(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = words(mgr, 4, KP_MEMORY_DEVICE);
    const uint32_t data[4] = {1, 2, 3, 4};
    memset(kp_tensor_data(t), 0, sizeof data);
    OK(kp_tensor_upload(t, data, sizeof data));
    assert_int_equal(((uint32_t *)kp_tensor_data(t))[3], gpu_unified(mgr) ? 4 : 0);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_local(seq, &t, 1));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(kp_tensor_data(t), data, sizeof data);
    kp_sequence_destroy(seq);
    kp_tensor_destroy(t);
}

// Behind what was submitted before, in front of what comes after.
static void an_array_keeps_its_place_among_sequences(void **state) {
    kp_manager *mgr = *state;
    enum { COUNT = 1 << 18 };
    kp_program *program = NULL;
    OK(kp_compile("def f(i: Index, x: Array[u32], y: Array[u32]):\n    y[i] = x[i] + u32(1)\n", NULL, &program));
    kp_tensor *x = words(mgr, COUNT, KP_MEMORY_DEVICE), *y = words(mgr, COUNT, KP_MEMORY_STORAGE);
    kp_algorithm *f = NULL;
    OK(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = program, .memory = LIST(x, y), .memory_count = 2, .extent = {COUNT, 1, 1}},
        &f));
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, f, NULL));
    uint32_t *data = numbers(COUNT, 0), *back = malloc(COUNT * 4);
    for (uint32_t round = 0; round < 20; round++) {
        data[round] = round;
        OK(kp_tensor_upload(x, data, COUNT * 4));
        OK(kp_sequence_eval_async(seq));
        OK(kp_tensor_download(y, back, COUNT * 4));
        OK(kp_sequence_await(seq, UINT64_MAX));
        for (uint32_t i = 0; i < COUNT; i++) {
            if (back[i] != data[i] + 1)
                fail_msg("round %u: element %u is %u, not %u", round, i, back[i], data[i] + 1);
        }
    }
    free(data);
    free(back);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(f);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    kp_program_destroy(program);
}

static void what_does_not_fit_is_refused(void **state) {
    kp_manager *mgr = *state;
    uint32_t data[4] = {0};
    kp_tensor *t = words(mgr, 4, KP_MEMORY_DEVICE), *empty = words(mgr, 0, KP_MEMORY_DEVICE);
    FAILS(kp_tensor_upload(NULL, data, 16), KP_ERROR_ARGUMENT, "kp_tensor_upload: tensor is NULL");
    FAILS(kp_tensor_upload(t, data, 12), KP_ERROR_ARGUMENT, "kp_tensor_upload: tensor 't' has 16 bytes, 12 were given");
    FAILS(kp_tensor_download(t, data, 20), KP_ERROR_ARGUMENT,
          "kp_tensor_download: tensor 't' has 16 bytes, 20 were given");
    FAILS(kp_tensor_download(t, NULL, 16), KP_ERROR_ARGUMENT,
          "kp_tensor_download: data is NULL, tensor 't' has 16 bytes");
    OK(kp_tensor_upload(empty, NULL, 0));
    OK(kp_tensor_download(empty, NULL, 0));
    kp_image *image = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 4, .label = "p"}, &image));
    FAILS(kp_tensor_upload(image, data, 16), KP_ERROR_TYPE, "kp_tensor_upload: 'p' is an image; copy a tensor to it");
    kp_memory_destroy(image);
    kp_tensor_destroy(empty);
    kp_manager_destroy(mgr);
    *state = NULL;
    FAILS(kp_tensor_upload(t, data, 16), KP_ERROR_STATE, "tensor 't': manager '*' is destroyed");
    kp_tensor_destroy(t);
}

typedef struct mover {
    kp_manager *mgr;
    uint32_t seed;
    bool right;
} mover;

static void *move(void *payload) {
    mover *m = payload;
    size_t count = PIECE / 2;
    kp_tensor *t = NULL;
    uint32_t *data = malloc(count * 4), *back = malloc(count * 4);
    m->right = data != NULL && back != NULL &&
               kp_tensor_create(m->mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = count}, &t) == KP_OK;
    for (uint32_t round = 0; round < 4 && m->right; round++) {
        for (size_t i = 0; i < count; i++)
            data[i] = (uint32_t)i ^ m->seed ^ round;
        m->right = kp_tensor_upload(t, data, count * 4) == KP_OK && kp_tensor_download(t, back, count * 4) == KP_OK &&
                   memcmp(data, back, count * 4) == 0;
    }
    kp_tensor_destroy(t);
    free(data);
    free(back);
    return NULL;
}

static void threads_move_arrays_of_their_own(void **state) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    mover movers[THREADS];
    for (unsigned k = 0; k < THREADS; k++) {
        movers[k] = (mover){.mgr = *state, .seed = k << 24};
        assert_int_equal(pthread_create(&threads[k], NULL, move, &movers[k]), 0);
    }
    for (unsigned k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        assert_true(movers[k].right);
    }
}

static void a_trim_frees_the_ring(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = words(mgr, 2 * PIECE, KP_MEMORY_STORAGE);
    uint32_t *data = numbers(2 * PIECE, 5), *back = numbers(2 * PIECE, 6);
    kp_memory_stats before, between, after;
    OK(kp_manager_memory(mgr, &before));
    OK(kp_tensor_upload(t, data, 8 * PIECE));
    OK(kp_manager_memory(mgr, &between));
    assert_true(between.used > before.used);
    OK(kp_manager_trim(mgr));
    OK(kp_manager_memory(mgr, &after));
    assert_int_equal(after.used, before.used);
    OK(kp_tensor_download(t, back, 8 * PIECE));
    assert_memory_equal(back, data, 8 * PIECE);
    kp_tensor_destroy(t);
    free(data);
    free(back);
}

// Structs of any size: of three bytes, and of more than a piece of the staging memory.
static void elements_of_any_size_move(void **state) {
    static const uint32_t sizes[] = {3, 12, (4 << 20) + 4, 9 << 20};
    kp_manager *mgr = *state;
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        uint64_t count = sizes[k] < 100 ? 2000000 : 2;
        size_t bytes = (size_t)(sizes[k] * count);
        unsigned char *data = malloc(bytes), *back = calloc(1, bytes);
        assert_true(data != NULL && back != NULL);
        for (size_t i = 0; i < bytes; i++)
            data[i] = (unsigned char)(i * 7 + (i >> 13));
        kp_tensor *t = NULL;
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.item_size = sizes[k], .count = count, .uninitialized = true}, &t));
        OK(kp_tensor_upload(t, data, bytes));
        OK(kp_tensor_download(t, back, bytes));
        assert_memory_equal(back, data, bytes);
        kp_tensor_destroy(t);
        free(data);
        free(back);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(arrays_come_back_as_they_went), GPU_TEST(bytes_and_parts_move_too),
        GPU_TEST(the_host_side_stays),           GPU_TEST(an_array_keeps_its_place_among_sequences),
        GPU_TEST(what_does_not_fit_is_refused),  GPU_TEST(threads_move_arrays_of_their_own),
        GPU_TEST(a_trim_frees_the_ring),         GPU_TEST(elements_of_any_size_move),
    };
    return gpu_run("staging", tests);
}
