// Atomics on f32 by the instructions that the device has for them, in buffers and in shared memory, and by loops of
// compare and exchange where it has none: the same sums either way. atomics_layer.c hides what there is, and counts.
#include "gpu.h"

#include <dlfcn.h>
#include <stdatomic.h>

enum { COUNT = 5000, GROUP = 64 };

static atomic_uint *adds;   // the layer's
static bool buffer, shared; // whether the device adds so
static bool exchanges;      // ... and exchanges

static kp_algorithm *make(kp_manager *mgr, const char *text, kp_tensor *x, kp_tensor *out, uint32_t groups) {
    kp_program *program = NULL;
    kp_algorithm *algorithm = NULL;
    OK(kp_compile(text, &(kp_compile_desc){.local_size = {groups, 0, 0}}, &program));
    OK(kp_algorithm_create(mgr,
                           &(kp_algorithm_desc){.program = program,
                                                .memory = LIST((kp_memory *)x, (kp_memory *)out),
                                                .memory_count = 2,
                                                .extent = {COUNT, 1, 1}},
                           &algorithm));
    kp_program_destroy(program);
    return algorithm;
}

// Runs it on 0, 1, 2, ... 99, 0, 1, ... and gives how many such instructions the driver got.
static unsigned run(kp_manager *mgr, const char *text, uint32_t groups, float out[4]) {
    float data[COUNT];
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)(i % 100);
    unsigned before = atomic_load(adds);
    kp_tensor *x = gpu_floats(mgr, "x", COUNT, data), *y = gpu_floats(mgr, "out", 4, out);
    kp_algorithm *algorithm = make(mgr, text, x, y, groups);
    gpu_once(mgr, algorithm, LIST((kp_memory *)x, (kp_memory *)y), 2, NULL);
    memcpy(out, kp_tensor_data(y), 4 * sizeof *out);
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    return atomic_load(adds) - before;
}

static const float total = 99.0f * 100 / 2 * (COUNT / 100);

static void in_a_buffer(void **state) {
    float out[4] = {1, 2, 3, 4};
    unsigned count = run(*state,
                         "def k(i: Index, x: Array[f32], out: Array[f32]):\n"
                         "    atomic_add(out, 0, x[i])\n"
                         "    atomic_sub(out, 1, x[i])\n",
                         0, out);
    assert_int_equal(count != 0, buffer);
    assert_true(out[0] == total + 1 && out[1] == 2 - total && out[2] == 3 && out[3] == 4);
}

static const char both_memories[] = "def k(i: Index, t: LocalIndex, x: Array[f32], out: Array[f32]):\n"
                                    "    mine = shared(f32, 2)\n"
                                    "    if t < 2:\n"
                                    "        mine[t] = 0.0\n"
                                    "    barrier()\n"
                                    "    if i < len(x):\n"
                                    "        atomic_add(mine, i % 2, x[i])\n"
                                    "    barrier()\n"
                                    "    if t < 2:\n"
                                    "        atomic_add(out, t, mine[t])\n";

static void in_shared_memory_and_a_buffer(void **state) {
    float out[4] = {0};
    unsigned count = run(*state, both_memories, GROUP, out);
    assert_int_equal(count, (buffer ? 1 : 0) + (shared ? 1 : 0));
    assert_true(out[0] + out[1] == total && out[1] - out[0] == COUNT / 2);
}

static void exchanged_too(void **state) {
    float out[4] = {0, -1, 0, 0};
    unsigned count = run(*state,
                         "def k(i: Index, x: Array[f32], out: Array[f32]):\n"
                         "    atomic_add(out, 0, x[i])\n"
                         "    if atomic_exchange(out, 1, 7.5) == -1.0:\n"
                         "        out[2] = 3.0\n",
                         0, out);
    assert_int_equal(count != 0, buffer && exchanges);
    assert_true(out[0] == total && out[1] == 7.5f && out[2] == 3);
}

// What also needs a loop of compare and exchange has it for all.
static void compared_too(void **state) {
    float out[4] = {0, 0, 50, 0};
    unsigned count = run(*state,
                         "def k(i: Index, x: Array[f32], out: Array[f32]):\n"
                         "    atomic_add(out, 0, x[i])\n"
                         "    atomic_max(out, 1, x[i])\n"
                         "    atomic_compare_exchange(out, 2, 50.0, 60.0)\n",
                         0, out);
    assert_int_equal(count, 0);
    assert_true(out[0] == total && out[1] == 99 && out[2] == 60);
}

// The capability says nothing of where: a module that adds where the device cannot is refused by the feature's name.
static void modules_of_others_are_refused(void **state) {
    kp_program *program = NULL;
    kp_algorithm *algorithm = NULL;
    OK(kp_compile(both_memories, &(kp_compile_desc){.local_size = {GROUP, 0, 0}}, &program));
    assert_int_equal(program->alternative_count, 3);
    const uint32_t needs[3] = {KP_NEED_BUFFER_ADD | KP_NEED_SHARED_ADD, KP_NEED_SHARED_ADD, KP_NEED_BUFFER_ADD};
    for (unsigned i = 0; i < 3; i++) {
        const kp_alternative *a = &program->alternatives[i];
        assert_int_equal(a->needs, needs[i]);
        kp_tensor *x = gpu_floats(*state, "x", 4, NULL);
        kp_result result = kp_algorithm_create(*state,
                                               &(kp_algorithm_desc){.spirv = a->words,
                                                                    .spirv_size = a->word_count * sizeof *a->words,
                                                                    .memory = LIST((kp_memory *)x, (kp_memory *)x),
                                                                    .memory_count = 2,
                                                                    .workgroups = {1, 1, 1},
                                                                    .label = "k"},
                                               &algorithm);
        bool wants_buffer = (a->needs & KP_NEED_BUFFER_ADD) != 0, wants_shared = (a->needs & KP_NEED_SHARED_ADD) != 0;
        if ((buffer || !wants_buffer) && (shared || !wants_shared)) {
            OK(result);
            kp_algorithm_destroy(algorithm);
        } else if (!buffer && !shared) {
            FAILS(result, KP_ERROR_UNSUPPORTED,
                  "algorithm 'k': * lacks shaderBufferFloat32AtomicAdd, which the module's capability "
                  "AtomicFloat32AddEXT needs");
        } else {
            FAILS(result, KP_ERROR_UNSUPPORTED,
                  "algorithm 'k': * lacks shaderBufferFloat32AtomicAdd, which atomic additions to f32 in buffers need");
        }
        kp_tensor_destroy(x);
    }
    kp_program_destroy(program);
}

// kp_device_info, and what the layer is to hide.
static void the_device_looks_as_the_layer_says(void **state) {
    const kp_device_info d = gpu_device(*state);
    const char *face = getenv("KP_TEST_ATOMICS");
    buffer = d.atomic_float32_add;
    shared = d.atomic_float32_add_shared;
    exchanges = strcmp(face, "all") == 0;
    if (strcmp(face, "none") == 0)
        assert_false(buffer || shared);
    if (strcmp(face, "shared") == 0)
        assert_false(buffer);
}

int main(void) {
    void *library = dlopen(KP_ATOMICS_LIBRARY, RTLD_NOW);
    adds = library != NULL ? dlsym(library, "kp_test_atomic_adds") : NULL;
    if (adds == NULL || getenv("KP_TEST_ATOMICS") == NULL) {
        printf("atomics: %s\n", adds != NULL ? "KP_TEST_ATOMICS is not set" : dlerror());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        GPU_TEST(the_device_looks_as_the_layer_says),
        GPU_TEST(in_a_buffer),
        GPU_TEST(in_shared_memory_and_a_buffer),
        GPU_TEST(exchanged_too),
        GPU_TEST(compared_too),
        GPU_TEST(modules_of_others_are_refused),
    };
    return gpu_run("atomics", tests);
}
