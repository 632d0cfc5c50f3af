// Every Vulkan call that can fail does fail once, for every n and every answer that the specification lets it give, in
// five programs: the article's multiply, its logistic regression, asynchronous work on all the queues that there are,
// an image with views and memory of the program's own, and memory and semaphores that are shared. And every host
// allocation fails once. Each time the program gets the right kp_result and words, or right numbers where kp knows
// another way; nothing stays allocated, on the device or by kp on the host; and nothing hangs (the alarm ends the
// test).
#include "blocks.h"
#include "layer.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <kp/kp.h>
#include <signal.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const kp_fault_layer *layer; // in the library that the loader loaded too

static char logged[4096]; // the first error or validation message

static void on_log(void *payload, kp_log_level level, const char *message) {
    (void)payload;
    if ((level >= KP_LOG_ERROR || strncmp(message, "validation:", 11) == 0) && logged[0] == '\0')
        snprintf(logged, sizeof logged, "%s", message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The programs. Each stops at the first call that fails, destroys what it has, and says what that call answered.
// ---------------------------------------------------------------------------------------------------------------------

enum { TENSORS = 9, JOBS = 2, STEPS = 3, SEQUENCES = JOBS + 1 };

typedef struct things {
    kp_manager *mgr;
    kp_program *program;
    kp_tensor *tensors[TENSORS];
    kp_algorithm *algorithms[JOBS];
    kp_sequence *sequences[SEQUENCES];
    kp_semaphore *semaphores[3];
} things;

#define TRY(call)                   \
    do {                            \
        kp_result result_ = (call); \
        if (result_ != KP_OK)       \
            return result_;         \
    } while (0)

static kp_result clean_up(things *t, kp_result result) {
    for (int k = 0; k < SEQUENCES; k++)
        kp_sequence_destroy(t->sequences[k]);
    for (int k = 0; k < JOBS; k++)
        kp_algorithm_destroy(t->algorithms[k]);
    for (int k = 0; k < 3; k++)
        kp_semaphore_destroy(t->semaphores[k]);
    for (int k = 0; k < TENSORS; k++)
        kp_tensor_destroy(t->tensors[k]);
    kp_program_destroy(t->program);
    kp_manager_destroy(t->mgr);
    return result;
}

static kp_result multiply_steps(things *t) {
    TRY(kp_manager_create(NULL, &t->mgr));
    TRY(kp_compile("def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):\n"
                   "    out[i] = a[i] * b[i]\n",
                   NULL, &t->program));
    TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){2, 2, 2}}, &t->tensors[0]));
    TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &t->tensors[1]));
    TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = 3}, &t->tensors[2]));
    TRY(kp_algorithm_create(t->mgr,
                            &(kp_algorithm_desc){.program = t->program, .memory = t->tensors, .memory_count = 3},
                            &t->algorithms[0]));
    TRY(kp_sequence_create(t->mgr, &(kp_sequence_desc){.timestamps = 3}, &t->sequences[0]));
    TRY(kp_record_sync_device(t->sequences[0], t->tensors, 2));
    TRY(kp_record_dispatch(t->sequences[0], t->algorithms[0], NULL));
    TRY(kp_record_sync_local(t->sequences[0], &t->tensors[2], 1));
    TRY(kp_sequence_eval(t->sequences[0]));
    uint64_t ticks[4];
    size_t count;
    TRY(kp_sequence_timestamps(t->sequences[0], ticks, 4, &count));
    const float *out = kp_tensor_data(t->tensors[2]);
    assert_true(out[0] == 2 && out[1] == 4 && out[2] == 6);
    return KP_OK;
}

static const char gradients[] =
    "def gradients(i: Index, x_i: Array[f32], x_j: Array[f32], y: Array[f32], w_in: Array[f32], w_out_i: Array[f32],\n"
    "              w_out_j: Array[f32], b_in: Array[f32], b_out: Array[f32], l_out: Array[f32], m: f32):\n"
    "    w = vec2(w_in[0], w_in[1])\n"
    "    x = vec2(x_i[i], x_j[i])\n"
    "    y_hat = 1.0 / (1.0 + exp(-(w @ x + b_in[0])))\n"
    "    d_z = y_hat - y[i]\n"
    "    d_w = (1.0 / m) * x * d_z\n"
    "    w_out_i[i] = d_w.x\n"
    "    w_out_j[i] = d_w.y\n"
    "    b_out[i] = (1.0 / m) * d_z\n"
    "    l_out[i] = -(y[i] * log(y_hat) + (1.0 - y[i]) * log(1.0 - y_hat))\n";

static kp_result regression_steps(things *t) {
    static const float x_i[5] = {0, 1, 1, 1, 1}, x_j[5] = {0, 0, 0, 1, 1}, y[5] = {0, 0, 0, 1, 1}, w[2] = {0},
                       b[1] = {0};
    static const float m = 5;
    static const struct {
        uint64_t count;
        const float *data;
    } made[TENSORS] = {{5, x_i}, {5, x_j}, {5, y}, {2, w}, {5, NULL}, {5, NULL}, {1, b}, {5, NULL}, {5, NULL}};
    TRY(kp_manager_create(NULL, &t->mgr));
    for (int k = 0; k < TENSORS; k++)
        TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = made[k].count, .data = made[k].data}, &t->tensors[k]));
    TRY(kp_compile(gradients, NULL, &t->program));
    TRY(kp_algorithm_create(
        t->mgr,
        &(kp_algorithm_desc){
            .program = t->program, .memory = t->tensors, .memory_count = TENSORS, .push = &m, .push_size = sizeof m},
        &t->algorithms[0]));
    TRY(kp_sequence_create(t->mgr, NULL, &t->sequences[0]));
    TRY(kp_record_sync_device(t->sequences[0], t->tensors, TENSORS));
    TRY(kp_sequence_eval(t->sequences[0]));
    TRY(kp_record_sync_device(t->sequences[0], (kp_memory *[]){t->tensors[3], t->tensors[6]}, 2));
    TRY(kp_record_dispatch(t->sequences[0], t->algorithms[0], NULL));
    TRY(kp_record_sync_local(t->sequences[0], (kp_memory *[]){t->tensors[4], t->tensors[7]}, 2));
    for (int n = 0; n < STEPS; n++)
        TRY(kp_sequence_eval(t->sequences[0]));
    const float *w_out = kp_tensor_data(t->tensors[4]), *b_out = kp_tensor_data(t->tensors[7]);
    for (int i = 0; i < 5; i++) { // with w and b zero, y_hat is 1/2
        float d_z = (0.5f - y[i]) / 5;
        assert_true(w_out[i] - d_z * x_i[i] < 1e-6f && d_z * x_i[i] - w_out[i] < 1e-6f);
        assert_true(b_out[i] - d_z < 1e-6f && d_z - b_out[i] < 1e-6f);
    }
    return KP_OK;
}

// One queue from each compute family, as often as it has queues, at most JOBS.
static kp_result open_queues(things *t) {
    kp_device_info info;
    uint32_t families[JOBS], count = 0;
    TRY(kp_manager_create(NULL, &t->mgr));
    TRY(kp_manager_device(t->mgr, &info));
    kp_manager_destroy(t->mgr);
    t->mgr = NULL;
    for (uint32_t family = 0; family < info.queue_family_count; family++) {
        for (uint32_t k = 0; k < info.queue_families[family].count && count < JOBS; k++) {
            if (info.queue_families[family].compute)
                families[count++] = family;
        }
    }
    return kp_manager_create(&(kp_manager_desc){.queue_families = families, .queue_family_count = count}, &t->mgr);
}

// Takes what both jobs write, so it waits for another queue where there are two.
static kp_result copy_of_both(things *t) {
    kp_sequence **seq = &t->sequences[JOBS];
    TRY(kp_sequence_create(t->mgr, NULL, seq));
    for (int k = 0; k < JOBS; k++) {
        TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = 1000}, &t->tensors[JOBS + k]));
        TRY(kp_record_copy(*seq, (kp_memory *[]){t->tensors[k], t->tensors[JOBS + k]}, 2));
    }
    TRY(kp_record_sync_local(*seq, &t->tensors[JOBS], JOBS));
    return kp_sequence_eval_async(*seq);
}

static kp_result async_steps(things *t) {
    TRY(open_queues(t));
    TRY(kp_compile("def scale(i: Index, a: f32, x: Array[f32]):\n"
                   "    x[i] = a * f32(i)\n",
                   NULL, &t->program));
    for (uint32_t k = 0; k < JOBS; k++) {
        float a = (float)(k + 2);
        TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = 1000}, &t->tensors[k]));
        TRY(kp_algorithm_create(
            t->mgr,
            &(kp_algorithm_desc){
                .program = t->program, .memory = &t->tensors[k], .memory_count = 1, .push = &a, .push_size = sizeof a},
            &t->algorithms[k]));
        uint32_t queue = k % kp_manager_queue_count(t->mgr);
        TRY(kp_sequence_create(t->mgr, &(kp_sequence_desc){.queue = queue}, &t->sequences[k]));
        TRY(kp_record_dispatch(t->sequences[k], t->algorithms[k], NULL));
        TRY(kp_record_sync_local(t->sequences[k], &t->tensors[k], 1));
        TRY(kp_sequence_eval_async(t->sequences[k]));
    }
    TRY(copy_of_both(t));
    for (int k = SEQUENCES - 1; k >= 0; k--)
        TRY(kp_sequence_await(t->sequences[k], UINT64_MAX));
    for (int k = 0; k < 2 * JOBS; k++)
        assert_true(((const float *)kp_tensor_data(t->tensors[k]))[999] == (float)(k % JOBS + 2) * 999);
    return KP_OK;
}

static const char sampled[] = "#version 450\n"
                              "layout(binding = 0) uniform sampler2D i;\n"
                              "layout(binding = 1) buffer O { float o[]; };\n"
                              "void main() { uint k = gl_GlobalInvocationID.x; o[k] += texture(i, vec2(0.5)).x; }\n";

static void count_release(void *payload) { ++*(int *)payload; }

static kp_result memory_steps(things *t) {
    static float *page;
    static int released;
    if (page == NULL)
        page = aligned_alloc(65536, 65536);
    assert_non_null(page);
    memset(page, 0, 65536);
    released = 0;
    TRY(kp_manager_create(NULL, &t->mgr));
    TRY(kp_shader_compile(sampled, strlen(sampled), NULL, &t->program));
    TRY(kp_image_create(t->mgr, &(kp_image_desc){.width = 4, .height = 4}, &t->tensors[0]));
    TRY(kp_tensor_create(
        t->mgr,
        &(kp_tensor_desc){
            .count = 16384, .data = page, .import_data = true, .release = count_release, .release_payload = &released},
        &t->tensors[1]));
    TRY(kp_tensor_view(t->tensors[1], &(kp_tensor_view_desc){.first = 64, .count = 16}, &t->tensors[2]));
    TRY(kp_algorithm_create(t->mgr,
                            &(kp_algorithm_desc){.program = t->program,
                                                 .memory = (kp_memory *[]){t->tensors[0], t->tensors[2]},
                                                 .memory_count = 2},
                            &t->algorithms[0]));
    TRY(kp_sequence_create(t->mgr, NULL, &t->sequences[0]));
    TRY(kp_record_fill(t->sequences[0], t->tensors[0], &(float){3}));
    TRY(kp_record_copy(t->sequences[0], (kp_memory *[]){t->tensors[0], t->tensors[2]}, 2));
    TRY(kp_record_dispatch(t->sequences[0], t->algorithms[0], NULL));
    TRY(kp_record_sync_local(t->sequences[0], &t->tensors[2], 1));
    TRY(kp_sequence_eval(t->sequences[0]));
    TRY(kp_manager_trim(t->mgr));
    const float *out = kp_tensor_data(t->tensors[1]);
    assert_true(out[63] == 0 && out[64] == 6 && out[79] == 6 && out[80] == 0);
    kp_manager_destroy(t->mgr);
    t->mgr = NULL;
    assert_int_equal(released, 1);
    return KP_OK;
}

// A descriptor is open no longer than one step.
static kp_result share_memory(things *t) {
    kp_external_memory e;
    TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = 16, .exported = KP_HANDLE_OPAQUE_FD}, &t->tensors[0]));
    TRY(kp_tensor_export(t->tensors[0], &e));
    kp_result result = kp_tensor_import(t->mgr, &e, &(kp_tensor_desc){.count = 16}, &t->tensors[1]);
    close(e.fd);
    return result;
}

// Where the driver shares semaphores at all.
static kp_result share_semaphore(things *t) {
    int fd;
    kp_result result = kp_semaphore_create(
        t->mgr, &(kp_semaphore_desc){.binary = true, .exported = KP_HANDLE_OPAQUE_FD}, &t->semaphores[1]);
    if (result == KP_ERROR_UNSUPPORTED)
        return KP_OK;
    TRY(result);
    TRY(kp_semaphore_export(t->semaphores[1], &fd));
    result = kp_semaphore_import(t->mgr, fd, &(kp_semaphore_desc){.binary = true}, &t->semaphores[2]);
    close(fd);
    return result;
}

static kp_result external_steps(things *t) {
    TRY(kp_manager_create(NULL, &t->mgr));
    TRY(share_memory(t));
    TRY(share_semaphore(t));
    TRY(kp_semaphore_create(t->mgr, NULL, &t->semaphores[0]));
    for (int k = 0; k < JOBS; k++)
        TRY(kp_sequence_create(t->mgr, NULL, &t->sequences[k]));
    TRY(kp_record_fill(t->sequences[0], t->tensors[0], &(float){5}));
    TRY(kp_record_sync_local(t->sequences[1], &t->tensors[1], 1));
    const kp_semaphore_point done = {t->semaphores[0], 2};
    TRY(kp_semaphore_signal(t->semaphores[0], 1));
    TRY(kp_sequence_submit(t->sequences[0], &(kp_submit_desc){.signals = &done, .signal_count = 1}));
    TRY(kp_sequence_submit(t->sequences[1], &(kp_submit_desc){.waits = &done, .wait_count = 1}));
    for (int k = JOBS - 1; k >= 0; k--)
        TRY(kp_sequence_await(t->sequences[k], UINT64_MAX));
    TRY(kp_semaphore_wait(t->semaphores[0], 2, UINT64_MAX));
    assert_true(((const float *)kp_tensor_data(t->tensors[1]))[15] == 5);
    return KP_OK;
}

// An array up and down again, in two pieces. What failed once, and did not lose the device, works the next time.
static kp_result move(kp_tensor *tensor, float *data, uint64_t bytes, bool up) {
    kp_result result = up ? kp_tensor_upload(tensor, data, bytes) : kp_tensor_download(tensor, data, bytes);
    if (result != KP_ERROR_HOST_MEMORY && result != KP_ERROR_DEVICE_MEMORY && result != KP_ERROR_TIMEOUT)
        return result;
    char words[512];
    snprintf(words, sizeof words, "%s", kp_last_error());
    kp_result again = up ? kp_tensor_upload(tensor, data, bytes) : kp_tensor_download(tensor, data, bytes);
    if (again != KP_OK)
        fail_msg("%s, and then %s", words, kp_last_error());
    return result;
}

static kp_result staging_steps(things *t) {
    enum { COUNT = (5 << 20) / 4 };
    static float data[COUNT], back[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        data[i] = (float)i;
    memset(back, 0, sizeof back);
    TRY(kp_manager_create(&(kp_manager_desc){.unified = KP_OFF}, &t->mgr));
    TRY(kp_tensor_create(t->mgr, &(kp_tensor_desc){.count = COUNT, .uninitialized = true}, &t->tensors[0]));
    TRY(move(t->tensors[0], data, sizeof data, true));
    TRY(move(t->tensors[0], back, sizeof back, false));
    assert_memory_equal(back, data, sizeof data);
    return KP_OK;
}

typedef struct program {
    const char *name;
    kp_result (*steps)(things *t);
} program;

static const program programs[] = {{"multiply", multiply_steps}, {"regression", regression_steps},
                                   {"async", async_steps},       {"memory", memory_steps},
                                   {"external", external_steps}, {"staging", staging_steps}};

// cmocka turns a crash into a failure of the test, but in a thread that it does not know it ends the process without a
// word: kp's threads and the driver's say where they were first.
static void on_crash(int number) {
    static const char text[] = "crashed at:\n";
    void *frames[64];
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    backtrace_symbols_fd(frames, backtrace(frames, COUNT_OF(frames)), STDERR_FILENO);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_for_crashes(void) {
    void *frame;
    backtrace(&frame, 1); // loads what it needs
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
}

static kp_result run(const program *p) {
    things t = {0};
    alarm(60);
    kp_result result = p->steps(&t);
    clean_up(&t, result);
    alarm(0);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// What must come of it
// ---------------------------------------------------------------------------------------------------------------------

static const struct {
    unsigned bit;
    VkResult code;
    kp_result fits;
} codes[] = {
    {KP_FAULT_HOST_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY, KP_ERROR_HOST_MEMORY},
    {KP_FAULT_DEVICE_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, KP_ERROR_DEVICE_MEMORY},
    {KP_FAULT_DEVICE_LOST, VK_ERROR_DEVICE_LOST, KP_ERROR_DEVICE_LOST},
    {KP_FAULT_INITIALIZATION, VK_ERROR_INITIALIZATION_FAILED, KP_ERROR_DRIVER},
    {KP_FAULT_TIMEOUT, VK_TIMEOUT, KP_ERROR_TIMEOUT},
};

static void nothing_is_left(const char *when) {
    char left[512];
    if (layer->live(left, sizeof left) != 0)
        fail_msg("%s: objects left: %s", when, left);
    if (blocks_live() != 0)
        fail_msg("%s: %ld of %ld host allocations are left", when, blocks_live(), blocks_made());
    if (logged[0] != '\0')
        fail_msg("%s: the log has: %s", when, logged);
}

// The words must name what failed: the call, or what it was for.
static void look_at(kp_result result, kp_result fits, const kp_fault_call *call, const char *when) {
    if (result == KP_OK)
        return; // kp knew another way, and the numbers were right
    bool none = strcmp(call->name, "EnumeratePhysicalDevices") == 0 && result == KP_ERROR_NO_DEVICE;
    if (result != fits && !none)
        fail_msg("%s: gives %s (%s), should give %s", when, kp_result_name(result), kp_last_error(),
                 kp_result_name(fits));
    if (kp_last_error()[0] == '\0' || strchr(kp_last_error(), '\n') != NULL)
        fail_msg("%s: the words are not one line: '%s'", when, kp_last_error());
}

static void fail_each_call(const program *p) {
    watch_for_crashes();
    layer->arm(0, 0, 0);
    assert_int_equal(run(p), KP_OK);
    unsigned counts[64], points = 0, survived = 0;
    assert_true(layer->call_count <= COUNT_OF(counts));
    for (size_t i = 0; i < layer->call_count; i++)
        counts[i] = layer->count(i);
    for (size_t i = 0; i < layer->call_count; i++) {
        for (size_t c = 0; c < COUNT_OF(codes); c++) {
            if ((layer->calls[i].codes & codes[c].bit) == 0)
                continue;
            for (unsigned n = 1; n <= counts[i]; n++) {
                char when[128];
                snprintf(when, sizeof when, "%s: vk%s number %u of %u answers %d", p->name, layer->calls[i].name, n,
                         counts[i], (int)codes[c].code);
                layer->arm(i, n, codes[c].code);
                kp_result result = run(p);
                bool struck = layer->struck();
                layer->arm(0, 0, 0);
                look_at(result, codes[c].fits, &layer->calls[i], when);
                nothing_is_left(when);
                points += struck;
                survived += struck && result == KP_OK;
            }
        }
    }
    assert_int_equal(run(p), KP_OK);
    nothing_is_left(p->name);
    print_message("%s: %u calls failed, %u of them without harm\n", p->name, points, survived);
    assert_true(points > 40 && blocks_made() > 40);
}

static void fail_each_allocation(const program *p) {
    unsigned n = 1, failures = 0, in_a_row = 0;
    watch_for_crashes();
    for (; in_a_row < 20; n++) { // behind the last allocation nothing fails any more
        kp_alloc_fail_at(n);
        kp_result result = run(p);
        kp_alloc_fail_at(0);
        char when[64];
        snprintf(when, sizeof when, "%s: allocation %u fails", p->name, n);
        if (result != KP_OK && result != KP_ERROR_HOST_MEMORY)
            fail_msg("%s: gives %s (%s)", when, kp_result_name(result), kp_last_error());
        nothing_is_left(when);
        failures += result != KP_OK;
        in_a_row = result == KP_OK ? in_a_row + 1 : 0;
    }
    assert_int_equal(run(p), KP_OK);
    print_message("%s: %u allocations failed\n", p->name, failures);
    assert_true(failures > 40);
}

static void multiply_calls(void **state) { (void)state, fail_each_call(&programs[0]); }
static void regression_calls(void **state) { (void)state, fail_each_call(&programs[1]); }
static void async_calls(void **state) { (void)state, fail_each_call(&programs[2]); }
static void multiply_allocations(void **state) { (void)state, fail_each_allocation(&programs[0]); }
static void memory_calls(void **state) { (void)state, fail_each_call(&programs[3]); }
static void memory_allocations(void **state) { (void)state, fail_each_allocation(&programs[3]); }
static void external_calls(void **state) { (void)state, fail_each_call(&programs[4]); }
static void external_allocations(void **state) { (void)state, fail_each_allocation(&programs[4]); }
static void staging_calls(void **state) { (void)state, fail_each_call(&programs[5]); }
static void staging_allocations(void **state) { (void)state, fail_each_allocation(&programs[5]); }
static void async_allocations(void **state) { (void)state, fail_each_allocation(&programs[2]); }
static void regression_allocations(void **state) { (void)state, fail_each_allocation(&programs[1]); }

static unsigned calls_of(const char *name) {
    for (size_t i = 0; i < layer->call_count; i++) {
        if (strcmp(layer->calls[i].name, name) == 0)
            return layer->count(i);
    }
    fail_msg("no call %s", name);
    return 0;
}

// Behind tests/gpu/queues_layer.c, that is, which gives every driver four queues: the async program then has semaphores
// between its queues.
static void async_calls_on_two_queues(void **state) {
    things t = {0};
    layer->arm(0, 0, 0);
    assert_int_equal(open_queues(&t), KP_OK);
    assert_int_equal(kp_manager_queue_count(t.mgr), JOBS);
    clean_up(&t, KP_OK);
    async_calls(state);
    assert_true(calls_of("CreateSemaphore") > 0);
}

// Drivers keep in a pipeline cache all that they ever compiled: a program that makes ever new pipelines would grow.
static void caches_do_not_grow(void **state) {
    (void)state;
    char folder[] = "faults_cache_XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("KP_CACHE_DIR", folder, 1), 0);
    kp_manager *mgr;
    kp_program *compiled;
    kp_tensor *x;
    layer->arm(0, 0, 0);
    assert_int_equal(kp_manager_create(NULL, &mgr), KP_OK);
    assert_int_equal(kp_compile("def k(i: Index, x: Array[i32], n: Const[i32]):\n    x[i] = n\n", NULL, &compiled),
                     KP_OK);
    assert_int_equal(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = 1}, &x), KP_OK);
    for (int32_t n = 0; n < 300; n++) {
        kp_algorithm *algorithm;
        kp_sequence *sequence;
        const kp_algorithm_desc desc = {
            .program = compiled, .memory = &x, .memory_count = 1, .specs = &(kp_spec){0, KP_I32, &n}, .spec_count = 1};
        assert_int_equal(kp_algorithm_create(mgr, &desc, &algorithm), KP_OK);
        assert_int_equal(kp_sequence_create(mgr, NULL, &sequence), KP_OK);
        assert_int_equal(kp_record_dispatch(sequence, algorithm, NULL), KP_OK);
        assert_int_equal(kp_record_sync_local(sequence, &x, 1), KP_OK);
        assert_int_equal(kp_sequence_eval(sequence), KP_OK);
        assert_int_equal(*(const int32_t *)kp_tensor_data(x), n);
        kp_sequence_destroy(sequence);
        kp_algorithm_destroy(algorithm);
    }
    assert_int_equal(calls_of("CreateComputePipelines"), 300);
    assert_int_equal(calls_of("CreatePipelineCache"), 2); // one for 256, and the next
    kp_tensor_destroy(x);
    kp_program_destroy(compiled);
    kp_manager_destroy(mgr);
    nothing_is_left("300 pipelines");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0); // the first one's file is in it
    assert_int_equal(setenv("KP_CACHE_DIR", "", 1), 0);
}

// Other memory, push constants and launches of an algorithm, and specialization constants that it had before, are for
// the pipelines that there are.
static void changes_make_no_pipelines(void **state) {
    (void)state;
    enum { N = 50 };
    kp_manager *mgr;
    kp_program *compiled;
    kp_tensor *x[N];
    kp_algorithm *algorithm;
    kp_sequence *sequence;
    float by = 0;
    int32_t power = 1;
    const kp_spec spec = {0, KP_I32, &power};
    layer->arm(0, 0, 0);
    assert_int_equal(kp_manager_create(NULL, &mgr), KP_OK);
    assert_int_equal(kp_compile("def k(i: Index, power: Const[i32], by: f32, x: Array[f32]):\n"
                                "    for _ in range(power):\n"
                                "        x[i] += by\n",
                                NULL, &compiled),
                     KP_OK);
    for (int n = 0; n < N; n++)
        assert_int_equal(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 4 + (uint64_t)n % 2}, &x[n]), KP_OK);
    const kp_algorithm_desc desc = {.program = compiled,
                                    .memory = x,
                                    .memory_count = 1,
                                    .specs = &spec,
                                    .spec_count = 1,
                                    .push = &by,
                                    .push_size = sizeof by};
    assert_int_equal(kp_algorithm_create(mgr, &desc, &algorithm), KP_OK);
    assert_int_equal(kp_sequence_create(mgr, NULL, &sequence), KP_OK);
    assert_int_equal(kp_record_sync_device(sequence, x, N), KP_OK);
    assert_int_equal(kp_record_dispatch(sequence, algorithm, NULL), KP_OK);
    assert_int_equal(kp_record_sync_local(sequence, x, N), KP_OK);
    for (int n = 0; n < N; n++) {
        by = (float)n + 1;
        power = 1 + n % 3;
        assert_int_equal(kp_algorithm_bind(algorithm, &x[n], 1), KP_OK);
        assert_int_equal(kp_algorithm_set_push(algorithm, &by, sizeof by), KP_OK);
        assert_int_equal(kp_algorithm_set_specs(algorithm, &spec, 1), KP_OK);
        assert_int_equal(kp_algorithm_set_launch(algorithm, NULL, (uint32_t[]){1 + (uint32_t)n % 4, 1, 1}), KP_OK);
        assert_int_equal(kp_sequence_eval(sequence), KP_OK);
        const float *data = kp_tensor_data(x[n]);
        for (int i = 0; i < 4; i++)
            assert_true(data[i] == (i <= n % 4 ? by * (float)power : 0));
    }
    assert_int_equal(calls_of("CreateComputePipelines"), 3); // one for each power
    for (int n = 0; n < N; n++)
        kp_tensor_destroy(x[n]);
    kp_sequence_destroy(sequence);
    kp_algorithm_destroy(algorithm);
    kp_program_destroy(compiled);
    kp_manager_destroy(mgr);
    nothing_is_left("changes");
}

static int open_layer(void **state) {
    (void)state;
    void *library = dlopen(KP_FAULT_LIBRARY, RTLD_NOW);
    if (library == NULL) {
        print_error("%s\n", dlerror());
        return -1;
    }
    layer = dlsym(library, "kp_fault");
    if (layer == NULL)
        return -1;
    kp_set_log(on_log, NULL, KP_LOG_WARNING);
    return 0;
}

// With "queues" the tests that want several queues, with a pattern of names those tests, else all.
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiply_calls),     cmocka_unit_test(regression_calls),
        cmocka_unit_test(async_calls),        cmocka_unit_test(multiply_allocations),
        cmocka_unit_test(async_allocations),  cmocka_unit_test(regression_allocations),
        cmocka_unit_test(memory_calls),       cmocka_unit_test(memory_allocations),
        cmocka_unit_test(external_calls),     cmocka_unit_test(external_allocations),
        cmocka_unit_test(staging_calls),      cmocka_unit_test(staging_allocations),
        cmocka_unit_test(caches_do_not_grow), cmocka_unit_test(changes_make_no_pipelines),
    };
    const struct CMUnitTest two_queues[] = {cmocka_unit_test(async_calls_on_two_queues),
                                            cmocka_unit_test(async_allocations)};
    if (argc > 1 && strcmp(argv[1], "queues") == 0)
        return cmocka_run_group_tests_name("faults_queues", two_queues, open_layer, NULL);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("faults", tests, open_layer, NULL);
}
