// The log's callback may take any lock, one that other threads hold while they call kp included, as Python's callback
// does with the GIL: kp holds nothing that they could wait for.
#include "gpu.h"

#include <kp/vulkan.h>

#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER; // as the GIL: held in the callback, and by those who call kp

typedef struct scene {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool recording;   // the op's callback is under way
    bool other_is_in; // the other thread has `outer`, and goes into kp
    kp_algorithm *algorithm;
    kp_memory *memory[3];
    kp_result changed_result;
    unsigned messages;
} scene;

static scene s = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void set(bool *flag) {
    pthread_mutex_lock(&s.lock);
    *flag = true;
    pthread_cond_broadcast(&s.changed);
    pthread_mutex_unlock(&s.lock);
}

static void await(const bool *flag) {
    pthread_mutex_lock(&s.lock);
    while (!*flag)
        pthread_cond_wait(&s.changed, &s.lock);
    pthread_mutex_unlock(&s.lock);
}

static void on_log(void *payload, kp_log_level level, const char *message) {
    (void)payload, (void)level;
    if (strncmp(message, "validation:", 11) != 0)
        return;
    pthread_mutex_lock(&outer);
    s.messages++;
    pthread_mutex_unlock(&outer);
}

static PFN_vkCmdFillBuffer fill_buffer;
static VkBuffer buffer;

// The layer objects to a size that is no multiple of 4; nothing is submitted.
static kp_result record(void *payload, VkDevice device, VkCommandBuffer commands) {
    (void)payload, (void)device;
    set(&s.recording);
    await(&s.other_is_in);
    fill_buffer(commands, buffer, 0, 3, 0);
    return KP_ERROR_DRIVER;
}

static void *change(void *payload) {
    (void)payload;
    await(&s.recording);
    pthread_mutex_lock(&outer);
    set(&s.other_is_in);
    s.changed_result = kp_algorithm_bind(s.algorithm, s.memory, 3); // waits until nothing is recorded
    pthread_mutex_unlock(&outer);
    return NULL;
}

static void a_callback_that_takes_a_lock_of_callers_never_deadlocks(void **state) {
    kp_manager *mgr = NULL;
    kp_vulkan_manager native;
    kp_vulkan_buffer where;
    alarm(30); // what hangs, ends
    OK(kp_manager_create(&(kp_manager_desc){.validation = KP_ON}, &mgr));
    *state = mgr;
    if (gpu_warning()[0] != '\0')
        skip(); // there is no layer to speak
    kp_tensor *x = gpu_floats(mgr, "x", 4, (float[]){1, 2, 3, 4});
    OK(kp_vulkan_from_manager(mgr, &native));
    OK(kp_vulkan_from_tensor(x, &where));
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)native.get_instance_proc_addr(native.instance, "vkGetDeviceProcAddr");
    fill_buffer = (PFN_vkCmdFillBuffer)get(native.device, "vkCmdFillBuffer");
    buffer = where.buffer;
    s.algorithm = gpu_multiply(mgr, x, x, x);
    for (int i = 0; i < 3; i++)
        s.memory[i] = x;
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_vulkan_record(seq, &(kp_vulkan_op){.name = "bad",
                                             .uses = &(kp_vulkan_use){.memory = x, .writes = true},
                                             .use_count = 1,
                                             .record = record}));
    kp_set_log(on_log, NULL, KP_LOG_WARNING);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
    kp_result result = kp_sequence_eval(seq);
    pthread_join(thread, NULL);
    kp_set_log(NULL, NULL, KP_LOG_NONE);
    assert_int_equal(result, KP_ERROR_DRIVER);
    assert_int_equal(s.changed_result, KP_OK);
    assert_true(s.messages >= 1);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(s.algorithm);
    kp_tensor_destroy(x);
    alarm(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_BARE(a_callback_that_takes_a_lock_of_callers_never_deadlocks),
    };
    return gpu_run("log", tests);
}
