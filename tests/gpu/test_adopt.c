// Managers on Vulkan devices that the test makes itself.
#include "native.h"

#include <pthread.h>

static kp_manager *adopt(const native *n) {
    kp_manager *mgr = NULL;
    kp_vulkan_device_desc desc = native_desc(n);
    OK(kp_vulkan_adopt_device(&desc, &(kp_manager_desc){.label = "theirs"}, &mgr));
    return mgr;
}

static void square(kp_manager *mgr) {
    kp_tensor *x = gpu_floats(mgr, "x", 3, (float[]){1, 2, 3});
    kp_algorithm *multiply = gpu_multiply(mgr, x, x, x);
    gpu_once(mgr, multiply, &x, 1, NULL);
    assert_memory_equal(kp_tensor_data(x), ((float[]){1, 4, 9}), 12);
    kp_algorithm_destroy(multiply);
    kp_tensor_destroy(x);
}

static void a_device_with_all_features_is_used_as_it_is(void **state) {
    (void)state;
    native n;
    kp_vulkan_manager handles;
    native_open(&n, false);
    kp_manager *mgr = adopt(&n), *own = NULL;
    assert_int_equal(kp_manager_queue_count(mgr), n.queue_count);
    OK(kp_vulkan_from_manager(mgr, &handles));
    assert_true(handles.instance == n.instance && handles.physical_device == n.physical && handles.device == n.device &&
                handles.get_instance_proc_addr == n.get_proc);
    for (uint32_t i = 0; i < n.queue_count; i++) {
        VkQueue queue;
        uint32_t family;
        OK(kp_vulkan_from_queue(mgr, i, &queue, &family));
        assert_true(queue == n.queues[i].queue && family == n.queues[i].family);
    }
    square(mgr);
    kp_device_info theirs = gpu_device(mgr);
    OK(kp_manager_create(&(kp_manager_desc){.device = "0"}, &own));
    kp_device_info ours = gpu_device(own);
    assert_int_equal(theirs.index, UINT32_MAX);
    ours.index = theirs.index;
    assert_string_equal(ours.name, theirs.name);
    assert_memory_equal(ours.uuid, theirs.uuid, sizeof ours.uuid);
    assert_true(ours.float64 == theirs.float64 && ours.int64 == theirs.int64 && ours.int8 == theirs.int8 &&
                ours.storage16 == theirs.storage16 && ours.max_subgroup_size == theirs.max_subgroup_size);
    kp_manager_destroy(own);
    kp_manager_destroy(mgr);
    native_close(&n);
}

// A kernel of one type more than nothing.
static void needs(kp_manager *mgr, const char *type, const char *feature) {
    char text[128], words[128];
    kp_program *program = NULL;
    kp_algorithm *algorithm = NULL;
    kp_tensor *x = NULL;
    snprintf(text, sizeof text, "def k(i: Index, x: Array[%s]):\n    x[i] = x[i] + x[i]\n", type);
    snprintf(words, sizeof words, "algorithm 'k': *%s*", feature);
    OK(kp_compile(text, NULL, &program));
    kp_dtype dtype;
    OK(kp_dtype_find(type, &dtype));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = dtype, .count = 4}, &x));
    FAILS(
        kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1}, &algorithm),
        KP_ERROR_UNSUPPORTED, words);
    kp_tensor_destroy(x);
    kp_program_destroy(program);
}

static void what_is_not_enabled_is_not_used(void **state) {
    (void)state;
    native n;
    native_open(&n, true);
    kp_manager *mgr = adopt(&n);
    square(mgr);
    kp_device_info device = gpu_device(mgr);
    assert_false(device.float64 || device.int64 || device.int16 || device.int8 || device.float16 || device.storage8);
    needs(mgr, "f64", "shaderFloat64");
    needs(mgr, "i64", "shaderInt64");
    needs(mgr, "i16", "shaderInt16");
    needs(mgr, "u8", "shaderInt8");
    kp_memory_stats stats;
    OK(kp_manager_memory(mgr, &stats)); // without VK_EXT_memory_budget
    assert_true(stats.budget != 0);
    kp_manager_destroy(mgr);
    native_close(&n);
}

static void buffers_of_the_device_become_tensors(void **state) {
    (void)state;
    native n;
    native_open(&n, false);
    kp_manager *mgr = adopt(&n);
    native_buffer b = native_buffer_create(&n, 256);
    kp_tensor *x = NULL;
    kp_vulkan_buffer handle;
    memcpy(b.mapped, (float[]){1, 2, 3, 4}, 16);
    OK(kp_vulkan_adopt_buffer(mgr, b.handle, 256, &(kp_tensor_desc){.count = 4, .memory_type = KP_MEMORY_STORAGE}, &x));
    OK(kp_vulkan_from_tensor(x, &handle));
    assert_true(handle.buffer == b.handle && handle.memory == VK_NULL_HANDLE);
    kp_algorithm *multiply = gpu_multiply(mgr, x, x, x);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, multiply, NULL));
    OK(kp_sequence_eval(seq));
    assert_memory_equal(b.mapped, ((float[]){1, 4, 9, 16}), 16);
    kp_manager_destroy(mgr);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(multiply);
    kp_tensor_destroy(x);
    native_buffer_destroy(&n, &b);
    native_close(&n);
}

static void probe(gpu_world *w, void *payload) {
    (void)w;
    native_probe(payload);
}

static void all_may_go_in_every_order_and_the_device_stays(void **state) {
    (void)state;
    native n;
    native_open(&n, false);
    for (int order = 0; order < GPU_ORDERS; order++) {
        gpu_world w = {.mgr = adopt(&n)};
        w.tensor = gpu_floats(w.mgr, "x", 64, NULL);
        OK(kp_view_create(w.tensor, &w.view));
        w.algorithm = gpu_multiply(w.mgr, w.tensor, w.tensor, w.tensor);
        w.sequence = gpu_sequence(w.mgr);
        OK(kp_record_sync_device(w.sequence, &w.tensor, 1));
        OK(kp_record_dispatch(w.sequence, w.algorithm, NULL));
        OK(kp_record_sync_local(w.sequence, &w.tensor, 1));
        OK(kp_sequence_eval_async(w.sequence));
        gpu_world_destroy(&w, order, probe, &n);
    }
    native_close(&n); // the validation layer counts what is left
}

// ---------------------------------------------------------------------------------------------------------------------
// Queues that others use too
// ---------------------------------------------------------------------------------------------------------------------

typedef struct guard {
    pthread_mutex_t mutex;
    unsigned locks, unlocks;
} guard;

static void lock(void *payload, VkQueue queue) {
    guard *g = payload;
    assert_non_null(queue);
    pthread_mutex_lock(&g->mutex);
    g->locks++;
}

static void unlock(void *payload, VkQueue queue) {
    guard *g = payload;
    (void)queue;
    g->unlocks++;
    pthread_mutex_unlock(&g->mutex);
}

typedef struct worker {
    kp_manager *mgr;
    float result[3];
} worker;

static void *work(void *argument) {
    worker *w = argument;
    kp_tensor *x = gpu_floats(w->mgr, "x", 3, (float[]){1, 1, 1}), *two = gpu_floats(w->mgr, "two", 3, NULL);
    memcpy(kp_tensor_data(two), (float[]){2, 2, 2}, 12);
    kp_algorithm *multiply = gpu_multiply(w->mgr, x, two, x);
    kp_sequence *seq = gpu_sequence(w->mgr);
    OK(kp_record_sync_device(seq, LIST(x, two), 2));
    OK(kp_sequence_eval(seq));
    OK(kp_record_dispatch(seq, multiply, NULL));
    for (int i = 0; i < 20; i++)
        OK(kp_sequence_eval(seq));
    OK(kp_record_sync_local(seq, &x, 1));
    OK(kp_sequence_eval(seq));
    memcpy(w->result, kp_tensor_data(x), sizeof w->result);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(multiply);
    kp_tensor_destroy(two);
    kp_tensor_destroy(x);
    return NULL;
}

// Two managers on one queue, and a program that submits to it as well.
static void a_shared_queue_is_locked_around_each_use(void **state) {
    (void)state;
    enum { THREADS = 4 };
    native n;
    native_open(&n, true);
    guard g = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    kp_vulkan_device_desc desc = native_desc(&n);
    desc.lock = lock;
    desc.unlock = unlock;
    desc.lock_payload = &g;
    kp_manager *mgr[2];
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < 2; i++)
        OK(kp_vulkan_adopt_device(&desc, NULL, &mgr[i]));
    for (int i = 0; i < THREADS; i++) {
        workers[i].mgr = mgr[i % 2];
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        lock(&g, n.queues[0].queue);
        native_probe(&n);
        unlock(&g, n.queues[0].queue);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(workers[i].result[0] == 1 << 20 && workers[i].result[2] == 1 << 20);
    }
    kp_manager_destroy(mgr[0]);
    kp_manager_destroy(mgr[1]);
    assert_int_equal(g.locks, g.unlocks);
    assert_true(g.locks >= THREADS * 20 + 20);
    native_close(&n);
}

static void bad_descriptions_are_refused(void **state) {
    (void)state;
    native n;
    native_open(&n, true);
    kp_manager *mgr = NULL;
    kp_vulkan_device_desc good = native_desc(&n), desc = good;
    FAILS(kp_vulkan_adopt_device(NULL, NULL, &mgr), KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: native is NULL");
    FAILS(kp_vulkan_adopt_device(&desc, NULL, NULL), KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: out is NULL");
    desc.device = VK_NULL_HANDLE;
    FAILS(kp_vulkan_adopt_device(&desc, NULL, &mgr), KP_ERROR_ARGUMENT,
          "kp_vulkan_adopt_device: device is VK_NULL_HANDLE");
    desc = good;
    desc.api_version = VK_API_VERSION_1_0;
    FAILS(kp_vulkan_adopt_device(&desc, NULL, &mgr), KP_ERROR_ARGUMENT,
          "kp_vulkan_adopt_device: api_version, which the instance was made for, is 1.0; 1.1 is needed");
    desc = good;
    desc.queue_count = 0;
    FAILS(kp_vulkan_adopt_device(&desc, NULL, &mgr), KP_ERROR_ARGUMENT, "kp_vulkan_adopt_device: there are no queues");
    kp_vulkan_queue queues[2] = {n.queues[0], n.queues[0]};
    desc.queues = queues;
    desc.queue_count = 2;
    FAILS(kp_vulkan_adopt_device(&desc, NULL, &mgr), KP_ERROR_ARGUMENT,
          "kp_vulkan_adopt_device: queues 0 and 1 are the same");
    queues[0].family = 99;
    desc.queue_count = 1;
    FAILS(kp_vulkan_adopt_device(&desc, &(kp_manager_desc){.label = "m"}, &mgr), KP_ERROR_ARGUMENT,
          "m: there is no queue family 99; families that compute: *");
    desc = good;
    desc.lock = lock;
    FAILS(kp_vulkan_adopt_device(&desc, NULL, &mgr), KP_ERROR_ARGUMENT,
          "kp_vulkan_adopt_device: unlock is NULL, but lock is not");
    desc = good;
    desc.extensions = (const char *[]){NULL};
    desc.extension_count = 1;
    FAILS(kp_vulkan_adopt_device(&desc, NULL, &mgr), KP_ERROR_ARGUMENT, "extension 0 is NULL");
    FAILS(kp_vulkan_adopt_device(&good, &(kp_manager_desc){.device = "0"}, &mgr), KP_ERROR_ARGUMENT,
          "kp_vulkan_adopt_device: device is for a device that kp makes");
    FAILS(kp_vulkan_adopt_device(&good, &(kp_manager_desc){.validation = KP_ON}, &mgr), KP_ERROR_ARGUMENT,
          "kp_vulkan_adopt_device: validation is for a device that kp makes");
    assert_null(mgr);
    native_close(&n);
}

// The handles of one manager make another, with kp's own features, which it tells.
static void a_manager_adopts_another_ones_device(void **state) {
    kp_manager *first = *state, *second = NULL;
    kp_vulkan_manager handles;
    OK(kp_vulkan_from_manager(first, &handles));
    kp_vulkan_queue queue = {handles.queue, handles.queue_family};
    OK(kp_vulkan_adopt_device(&(kp_vulkan_device_desc){.get_instance_proc_addr = handles.get_instance_proc_addr,
                                                       .instance = handles.instance,
                                                       .api_version = handles.api_version,
                                                       .physical_device = handles.physical_device,
                                                       .device = handles.device,
                                                       .queues = &queue,
                                                       .queue_count = 1,
                                                       .extensions = handles.extensions,
                                                       .extension_count = handles.extension_count,
                                                       .features = handles.features},
                              NULL, &second));
    square(second);
    square(first);
    kp_device_info a = gpu_device(first), b = gpu_device(second);
    assert_true(a.float64 == b.float64 && a.int64 == b.int64 && a.int8 == b.int8 && a.storage8 == b.storage8);
    kp_manager_destroy(second);
    square(first);
}

// The handles of an algorithm are the device's: its own command buffer, submitted by hand, does the dispatch once more.
static void native_handles_of_algorithms_and_sequences(void **state) {
    (void)state;
    native n;
    native_open(&n, true);
    kp_manager *mgr = adopt(&n);
    kp_tensor *x = gpu_floats(mgr, "x", 3, (float[]){1, 2, 3});
    kp_algorithm *square = gpu_multiply(mgr, x, x, x);
    kp_vulkan_algorithm algorithm;
    kp_vulkan_sequence sequence;
    OK(kp_vulkan_from_algorithm(square, &algorithm));
    assert_true(algorithm.module != VK_NULL_HANDLE && algorithm.layout != VK_NULL_HANDLE &&
                algorithm.pipeline != VK_NULL_HANDLE);
    assert_true(algorithm.workgroups[0] == 3 && algorithm.workgroups[1] == 1 && algorithm.workgroups[2] == 1);
    kp_sequence *up = gpu_sequence(mgr), *work = gpu_sequence(mgr), *down = gpu_sequence(mgr);
    OK(kp_record_sync_device(up, &x, 1));
    OK(kp_record_dispatch(work, square, NULL));
    OK(kp_record_sync_local(down, &x, 1));
    OK(kp_sequence_eval(up));
    OK(kp_sequence_eval(work));
    OK(kp_vulkan_from_sequence(work, &sequence));
    assert_true(sequence.queue == n.queues[0].queue && sequence.queue_family == n.queues[0].family);
    assert_true(sequence.fence != VK_NULL_HANDLE);
    assert_int_equal(n.QueueSubmit(sequence.queue, 1,
                                   &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                                   .commandBufferCount = 1,
                                                   .pCommandBuffers = &sequence.commands},
                                   VK_NULL_HANDLE),
                     VK_SUCCESS);
    assert_int_equal(n.DeviceWaitIdle(n.device), VK_SUCCESS);
    OK(kp_sequence_eval(down));
    assert_memory_equal(kp_tensor_data(x), ((float[]){1, 16, 81}), 12);
    FAILS(kp_vulkan_from_algorithm(NULL, &algorithm), KP_ERROR_ARGUMENT, "kp_vulkan_from_algorithm: algorithm is NULL");
    FAILS(kp_vulkan_from_sequence(work, NULL), KP_ERROR_ARGUMENT, "kp_vulkan_from_sequence: out is NULL");
    kp_manager_destroy(mgr);
    FAILS(kp_vulkan_from_algorithm(square, &algorithm), KP_ERROR_STATE, "algorithm '*': manager '*' is destroyed");
    FAILS(kp_vulkan_from_sequence(work, &sequence), KP_ERROR_STATE, "sequence 'sequence': manager '*' is destroyed");
    kp_sequence_destroy(up);
    kp_sequence_destroy(work);
    kp_sequence_destroy(down);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(x);
    native_close(&n);
}

int main(void) {
    unsetenv("KP_DEVICE");
    const struct CMUnitTest tests[] = {
        GPU_BARE(a_device_with_all_features_is_used_as_it_is), GPU_BARE(what_is_not_enabled_is_not_used),
        GPU_BARE(buffers_of_the_device_become_tensors),        GPU_BARE(all_may_go_in_every_order_and_the_device_stays),
        GPU_BARE(a_shared_queue_is_locked_around_each_use),    GPU_BARE(bad_descriptions_are_refused),
        GPU_TEST(a_manager_adopts_another_ones_device),        GPU_BARE(native_handles_of_algorithms_and_sequences),
    };
    return gpu_run("adopt", tests);
}
