// In which memory kp puts what, on devices with the memory types of a card and of a small board (memory_layer.c). What
// the host reads is never memory that it reads at a crawl, where there is other; and what a device lacks, nothing
// needs.
#include "gpu.h"

#include <dlfcn.h>
#include <stdatomic.h>

enum { OWN, WRITE_COMBINED, HOST_CACHED, WINDOW, TYPES }; // of the card
enum { COUNT = 100000 };

static atomic_ullong *allocated; // the layer's, by type
static bool board;

static void reset(void) {
    for (int i = 0; i < TYPES; i++)
        atomic_store(&allocated[i], 0);
}

// The types that were allocated from since reset(), as a mask.
static unsigned used(void) {
    unsigned mask = 0;
    for (int i = 0; i < TYPES; i++)
        mask |= atomic_load(&allocated[i]) != 0 ? 1u << i : 0;
    return mask;
}

static void expect(unsigned card) {
    unsigned mask = used(), right = board ? 1u : card;
    if (mask != right)
        fail_msg("memory of the types 0x%x was allocated, 0x%x would be right", mask, right);
}

static kp_tensor *make(kp_manager *mgr, kp_memory_type type) {
    kp_tensor *x = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.count = COUNT, .memory_type = type}, &x));
    return x;
}

// Up, squared, down.
static void use(kp_manager *mgr, kp_tensor *x) {
    float *data = kp_tensor_data(x);
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)(i % 1000);
    kp_algorithm *square = gpu_multiply(mgr, x, x, x);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, square, &(kp_dispatch_desc){.workgroups = {65535, 1, 1}}));
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    assert_true(data[999] == 999.0f * 999.0f && data[65534] == 534.0f * 534.0f && data[65535] == 535.0f);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
}

static void a_device_tensor_reads_back_through_cached_memory(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = make(mgr, KP_MEMORY_DEVICE);
    use(mgr, x);
    expect(1u << OWN | 1u << HOST_CACHED);
    kp_tensor_destroy(x);
}

static void a_host_tensor_lies_in_cached_memory(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = make(mgr, KP_MEMORY_HOST);
    use(mgr, x);
    expect(1u << HOST_CACHED);
    kp_tensor_destroy(x);
}

static void a_storage_tensor_lies_in_the_devices_own(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = make(mgr, KP_MEMORY_STORAGE);
    expect(1u << OWN);
    kp_tensor_destroy(x);
}

// Its own memory that the host reads at full speed is not there: it is as a device tensor.
static void device_and_host_without_such_memory_is_staged(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = make(mgr, KP_MEMORY_DEVICE_AND_HOST);
    use(mgr, x);
    expect(1u << OWN | 1u << HOST_CACHED);
    kp_tensor_destroy(x);
}

static void arrays_move_through_cached_memory(void **state) {
    kp_manager *mgr = *state;
    float *data = calloc(COUNT, sizeof *data);
    assert_non_null(data);
    kp_tensor *x = make(mgr, KP_MEMORY_STORAGE);
    data[COUNT - 1] = 7;
    OK(kp_tensor_upload(x, data, COUNT * sizeof *data));
    data[COUNT - 1] = 0;
    OK(kp_tensor_download(x, data, COUNT * sizeof *data));
    assert_true(data[COUNT - 1] == 7);
    expect(1u << OWN | 1u << HOST_CACHED);
    free(data);
    kp_tensor_destroy(x);
}

static void an_image_lies_in_the_devices_own(void **state) {
    kp_manager *mgr = *state;
    kp_image *image = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 64, .height = 64, .memory_type = KP_MEMORY_STORAGE}, &image));
    expect(1u << OWN);
    kp_image_destroy(image);
}

static void the_device_looks_as_the_layer_says(void **state) {
    const kp_device_info d = gpu_device(*state);
    assert_int_equal(d.type, board ? KP_DEVICE_INTEGRATED : KP_DEVICE_DISCRETE);
    assert_int_equal(d.unified, board);
    assert_int_equal(d.memory_heap_count, 2);
    assert_true(d.memory_heaps[0].device_local && !d.memory_heaps[1].device_local);
}

static int open_type(void **state) {
    reset();
    return gpu_open(state);
}

#define TYPE_TEST(function) cmocka_unit_test_setup_teardown(function, open_type, gpu_close)

int main(void) {
    const char *name = getenv("KP_TEST_MEMORY");
    void *library = dlopen(KP_MEMORY_LIBRARY, RTLD_NOW);
    allocated = library != NULL ? dlsym(library, "kp_test_memory") : NULL;
    if (allocated == NULL || name == NULL) {
        printf("memory_types: %s\n", name == NULL ? "KP_TEST_MEMORY is not set" : dlerror());
        return 1;
    }
    board = strcmp(name, "board") == 0;
    const struct CMUnitTest tests[] = {
        TYPE_TEST(the_device_looks_as_the_layer_says),
        TYPE_TEST(a_device_tensor_reads_back_through_cached_memory),
        TYPE_TEST(a_host_tensor_lies_in_cached_memory),
        TYPE_TEST(a_storage_tensor_lies_in_the_devices_own),
        TYPE_TEST(device_and_host_without_such_memory_is_staged),
        TYPE_TEST(arrays_move_through_cached_memory),
        TYPE_TEST(an_image_lies_in_the_devices_own),
    };
    return gpu_run("memory_types", tests);
}
