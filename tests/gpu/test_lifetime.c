// Lifetimes: every order of destruction, work in flight, views that outlive their manager, forks.
#include "gpu.h"

#include <kp/vulkan.h>

#include <sys/wait.h>
#include <unistd.h>

static const char slow_glsl[] =
    "layout(local_size_x = 16) in;\n"
    "layout(binding = 0) buffer X { uint x[]; };\n"
    "void main() { uint s = x[0]; for (uint i = 0; i < 20000; i++) s = s * 1664525 + 1013904223; x[1] = s; }\n";

static void make(gpu_world *w) {
    memset(w, 0, sizeof *w);
    OK(kp_manager_create(NULL, &w->mgr));
    OK(kp_tensor_create(w->mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 2, .data = (uint32_t[]){1, 2}},
                        &w->tensor));
    OK(kp_view_create(w->tensor, &w->view));
    w->algorithm = gpu_algorithm(w->mgr, slow_glsl,
                                 &(kp_algorithm_desc){.memory = &w->tensor, .memory_count = 1, .label = "slow"});
    w->sequence = gpu_sequence(w->mgr);
    OK(kp_record_sync_device(w->sequence, &w->tensor, 1));
    OK(kp_record_dispatch(w->sequence, w->algorithm, &(kp_dispatch_desc){.workgroups = {20, 1, 1}}));
    OK(kp_record_sync_local(w->sequence, &w->tensor, 1));
}

// All that is left answers, and says what is wrong.
static void probe(gpu_world *w, void *payload) {
    bool in_flight = *(bool *)payload;
    if (!w->gone[GPU_VIEW] && (!in_flight || w->gone[GPU_MANAGER])) // else the device may be writing to it
        assert_true(((volatile uint32_t *)kp_view_data(w->view))[0] == 1);
    bool dead = w->gone[GPU_MANAGER];
    if (!w->gone[GPU_TENSOR]) {
        assert_int_equal(kp_memory_alive(w->tensor), !dead);
        assert_int_equal(kp_tensor_data(w->tensor) == NULL, dead);
        assert_int_equal(kp_tensor_count(w->tensor), 2);
    }
    if (!w->gone[GPU_ALGORITHM]) {
        assert_int_equal(kp_algorithm_alive(w->algorithm), !dead);
        if (dead)
            FAILS(kp_algorithm_bind(w->algorithm, NULL, 0), KP_ERROR_STATE,
                  "algorithm 'slow': manager '*' is destroyed");
    }
    if (w->gone[GPU_SEQUENCE])
        return;
    assert_int_equal(kp_sequence_alive(w->sequence), !dead);
    if (dead) {
        assert_false(kp_sequence_is_running(w->sequence));
        FAILS(kp_sequence_eval(w->sequence), KP_ERROR_STATE, "sequence 'sequence': manager '*' is destroyed");
        FAILS(kp_sequence_await(w->sequence, 0), KP_ERROR_STATE, "sequence 'sequence': manager '*' is destroyed");
    } else if (in_flight && kp_sequence_is_running(w->sequence)) {
        return;
    } else if (w->gone[GPU_TENSOR]) {
        FAILS(kp_sequence_eval(w->sequence), KP_ERROR_STATE,
              "sequence 'sequence': tensor 'tensor', which it recorded, is destroyed");
    } else if (w->gone[GPU_ALGORITHM]) {
        FAILS(kp_sequence_eval(w->sequence), KP_ERROR_STATE,
              "sequence 'sequence': algorithm 'slow', which it recorded, is destroyed");
    }
}

static void every_order(bool in_flight) {
    for (int order = 0; order < GPU_ORDERS; order++) {
        gpu_world w;
        make(&w);
        if (in_flight)
            OK(kp_sequence_eval_async(w.sequence));
        else if (order % 2 == 0)
            OK(kp_sequence_eval(w.sequence));
        gpu_world_destroy(&w, order, probe, &in_flight);
    }
}

static void everything_may_be_destroyed_in_every_order(void **state) {
    (void)state;
    every_order(false);
}

static void everything_may_be_destroyed_in_every_order_in_flight(void **state) {
    (void)state;
    every_order(true);
}

static void destroying_nothing_is_fine(void **state) {
    (void)state;
    kp_manager_destroy(NULL);
    kp_tensor_destroy(NULL);
    kp_memory_destroy(NULL);
    kp_view_destroy(NULL);
    kp_algorithm_destroy(NULL);
    kp_sequence_destroy(NULL);
    kp_program_destroy(NULL);
}

static void memory_goes_when_the_work_in_flight_is_done(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = NULL;
    kp_memory_stats stats;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 2, .data = (uint32_t[]){1, 2}}, &x));
    kp_algorithm *slow = gpu_algorithm(mgr, slow_glsl, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, slow, &(kp_dispatch_desc){.workgroups = {100, 1, 1}}));
    OK(kp_sequence_eval_async(seq));
    kp_tensor_destroy(x);
    kp_algorithm_destroy(slow);
    OK(kp_manager_memory(mgr, &stats));
    assert_true(stats.used > 0); // in use
    OK(kp_sequence_await(seq, UINT64_MAX));
    OK(kp_manager_memory(mgr, &stats));
    assert_int_equal(stats.used, 0); // though the sequence still knows it
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE,
          "sequence 'sequence': tensor 'tensor', which it recorded, is destroyed");
    OK(kp_sequence_clear(seq));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
}

static void a_destroyed_sequence_gives_its_memory_back_later(void **state) {
    kp_manager *mgr = *state;
    kp_memory_stats stats;
    for (int i = 0; i < 20; i++) {
        kp_tensor *x = NULL;
        OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 2, .data = (uint32_t[]){1, 2}}, &x));
        kp_algorithm *slow = gpu_algorithm(mgr, slow_glsl, &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
        kp_sequence *seq = gpu_sequence(mgr);
        OK(kp_record_dispatch(seq, slow, &(kp_dispatch_desc){.workgroups = {10, 1, 1}}));
        OK(kp_sequence_eval_async(seq));
        kp_sequence_destroy(seq);
        kp_tensor_destroy(x);
        kp_algorithm_destroy(slow);
    }
    kp_sequence *last = gpu_sequence(mgr); // behind all of them on the queue
    kp_tensor *y = gpu_floats(mgr, "y", 1, NULL);
    kp_algorithm *add = gpu_multiply(mgr, y, y, y);
    OK(kp_record_dispatch(last, add, NULL));
    for (int i = 0; i < 1000; i++) { // each evaluation looks for work that is done, and waits for what is not
        OK(kp_sequence_eval(last));
        OK(kp_manager_memory(mgr, &stats));
        if (stats.used == kp_tensor_bytes(y))
            break;
    }
    kp_sequence_destroy(last);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(y);
    OK(kp_manager_memory(mgr, &stats));
    if (stats.used != 0)
        fail_msg("%llu bytes are still in use", (unsigned long long)stats.used);
}

static void a_view_keeps_its_bytes_after_everything(void **state) {
    kp_manager *mgr = *state;
    kp_view *views[3];
    static const kp_memory_type types[] = {KP_MEMORY_DEVICE, KP_MEMORY_HOST, KP_MEMORY_DEVICE_AND_HOST};
    for (int i = 0; i < 3; i++) {
        kp_tensor *t = NULL;
        OK(kp_tensor_create(
            mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, (float)i}, .memory_type = types[i]}, &t));
        OK(kp_view_create(t, &views[i]));
        kp_view *second = NULL;
        OK(kp_view_create(t, &second));
        kp_view_destroy(second);
        if (i == 1)
            kp_tensor_destroy(t);
        else if (i == 0) {
            kp_manager *other = NULL; // its memory is not ours
            OK(kp_manager_create(NULL, &other));
            kp_manager_destroy(other);
            kp_tensor_destroy(t);
        } else {
            kp_manager_destroy(mgr);
            *state = NULL;
            assert_null(kp_tensor_data(t));
            FAILS(kp_view_create(t, &second), KP_ERROR_STATE, "tensor 'tensor': manager '*' is destroyed");
            kp_tensor_destroy(t);
        }
    }
    for (int i = 0; i < 3; i++) {
        float *data = kp_view_data(views[i]);
        assert_memory_equal(data, ((float[]){1, 2, (float)i}), 12);
        data[0] = 9;
        kp_view_destroy(views[i]);
    }
    assert_null(kp_view_data(NULL));
}

static void native_handles_work_beside_kp(void **state) {
    kp_manager *mgr = *state;
    kp_vulkan_manager native;
    kp_vulkan_buffer buffer;
    OK(kp_vulkan_from_manager(mgr, &native));
    PFN_vkGetPhysicalDeviceProperties properties = (PFN_vkGetPhysicalDeviceProperties)native.get_instance_proc_addr(
        native.instance, "vkGetPhysicalDeviceProperties");
    VkPhysicalDeviceProperties p;
    properties(native.physical_device, &p);
    assert_string_equal(p.deviceName, gpu_device(mgr).name);
    assert_non_null(native.queue);
    kp_tensor *t = gpu_floats(mgr, "t", 3, NULL), *empty = gpu_floats(mgr, "empty", 0, NULL);
    OK(kp_vulkan_from_tensor(t, &buffer));
    assert_int_equal(buffer.size, 12);
    FAILS(kp_vulkan_from_tensor(empty, &buffer), KP_ERROR_STATE, "tensor 'empty' is empty: it has no buffer");
    kp_manager_destroy(mgr);
    *state = NULL;
    FAILS(kp_vulkan_from_tensor(t, &buffer), KP_ERROR_STATE, "tensor 't': manager '*' is destroyed");
    kp_tensor_destroy(t);
    kp_tensor_destroy(empty);
}

// The child exits with 0 when all is as it should be.
static int in_child(gpu_world *w) {
    if (kp_sequence_eval(w->sequence) != KP_ERROR_STATE ||
        !gpu_matches(kp_last_error(), "sequence 'sequence': manager '*' belongs to the parent process; Vulkan does not "
                                      "survive a fork"))
        return 1;
    kp_manager *another = NULL;
    size_t count = 0;
    if (kp_manager_create(NULL, &another) != KP_ERROR_STATE || kp_devices(NULL, 0, &count) != KP_ERROR_STATE ||
        !gpu_matches(kp_last_error(), "this process was forked from one that used Vulkan, which no driver survives; *"))
        return 3;
    kp_tensor *t = NULL;
    if (kp_tensor_create(w->mgr, &(kp_tensor_desc){.count = 1}, &t) != KP_ERROR_STATE || kp_memory_alive(w->tensor) ||
        kp_tensor_data(w->tensor) != NULL || kp_sequence_alive(w->sequence))
        return 2;
    kp_sequence_destroy(w->sequence);
    kp_algorithm_destroy(w->algorithm);
    kp_view_destroy(w->view);
    kp_tensor_destroy(w->tensor);
    kp_manager_destroy(w->mgr);
    return 0;
}

static void a_forked_child_gets_errors_and_no_crash(void **state) {
    (void)state;
    gpu_world w;
    make(&w);
    OK(kp_sequence_eval(w.sequence));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(in_child(&w));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    OK(kp_sequence_eval(w.sequence)); // the parent goes on
    for (int kind = 0; kind < GPU_KINDS; kind++)
        gpu_world_drop(&w, kind);
}

static void a_process_may_end_with_everything_alive(void **state) {
    (void)state;
    fflush(NULL);
    pid_t child = fork(); // before it has a device
    assert_true(child >= 0);
    if (child == 0) {
        static gpu_world w;
        make(&w);
        OK(kp_sequence_eval_async(w.sequence));
        kp_set_log(NULL, NULL, KP_LOG_NONE);
        execl("/bin/true", "true", (char *)NULL); // no clean-up at all
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void many_managers_one_after_the_other(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        gpu_world w;
        make(&w);
        OK(kp_sequence_eval(w.sequence));
        for (int kind = 0; kind < GPU_KINDS; kind++)
            gpu_world_drop(&w, (kind + i) % GPU_KINDS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_BARE(a_process_may_end_with_everything_alive), // first: while there is one thread
        GPU_BARE(everything_may_be_destroyed_in_every_order),
        GPU_BARE(everything_may_be_destroyed_in_every_order_in_flight),
        GPU_BARE(destroying_nothing_is_fine),
        GPU_TEST(memory_goes_when_the_work_in_flight_is_done),
        GPU_TEST(a_destroyed_sequence_gives_its_memory_back_later),
        GPU_TEST(a_view_keeps_its_bytes_after_everything),
        GPU_TEST(native_handles_work_beside_kp),
        GPU_BARE(a_forked_child_gets_errors_and_no_crash),
        GPU_BARE(many_managers_one_after_the_other),
    };
    return gpu_run("lifetime", tests);
}
