// What the tests of this folder share: a manager from the environment, checks of results with their words, and a log
// that fails the test when a validation layer, or kp, reports an error.
//
//     static void adds_two(void **state) { kp_manager *mgr = *state; ... }
//     int main(void) {
//         const struct CMUnitTest tests[] = {GPU_TEST(adds_two)};
//         return gpu_run("tensor", tests, COUNT_OF(tests));
//     }
#ifndef KP_TESTS_GPU_GPU_H
#define KP_TESTS_GPU_GPU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <kp/kp.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define LIST(...) ((kp_memory *[]){__VA_ARGS__})

// A test that gets a manager of its own as its state; after it the manager is destroyed and the log looked at.
#define GPU_TEST(function) cmocka_unit_test_setup_teardown(function, gpu_open, gpu_close)
// A test that makes its own managers.
#define GPU_BARE(function) cmocka_unit_test_setup_teardown(function, gpu_bare, gpu_close)

int gpu_open(void **state);
int gpu_bare(void **state);
int gpu_close(void **state); // also where the test destroyed the manager itself and set *state to NULL

// Runs them; the program's exit status.
#define gpu_run(name, tests) cmocka_run_group_tests_name("gpu." name, tests, NULL, NULL)

// The call succeeds; if not, the test shows why.
#define OK(call) gpu_ok((call), #call, __FILE__, __LINE__)
void gpu_ok(kp_result result, const char *call, const char *file, int line);

// The call fails with that result and these words, in which each '*' stands for any text.
#define FAILS(call, expected, words) gpu_fails((call), (expected), (words), #call, __FILE__, __LINE__)
void gpu_fails(kp_result result, kp_result expected, const char *words, const char *call, const char *file, int line);

// Text with '*' for any text.
bool gpu_matches(const char *text, const char *pattern);

// Messages of KP_LOG_ERROR, and from validation, since the last call; the test's end asks too.
unsigned gpu_errors(void);

// Counts as one of those.
void gpu_count_error(const char *message);

// The last message of KP_LOG_WARNING; "" when there was none since the test began.
const char *gpu_warning(void);

// A float tensor.
kp_tensor *gpu_floats(kp_manager *manager, const char *label, uint64_t count, const float *data);

// out[i] = a[i] * b[i]: the built-in shape of algorithm, from GLSL with local size 1.
kp_algorithm *gpu_multiply(kp_manager *manager, kp_tensor *a, kp_tensor *b, kp_tensor *out);

// GLSL, the part after "#version 450"; the test fails where it does not compile.
kp_program *gpu_glsl(const char *text);

// An algorithm from GLSL, which `desc` need not have.
kp_algorithm *gpu_algorithm(kp_manager *manager, const char *glsl, const kp_algorithm_desc *desc);

kp_sequence *gpu_sequence(kp_manager *manager);

// Syncs to the device, dispatches, syncs back, evaluates.
void gpu_once(kp_manager *manager, kp_algorithm *algorithm, kp_memory *const *memory, size_t count,
              const kp_dispatch_desc *desc);

// The device that the tests run on, as kp_manager_device has it.
kp_device_info gpu_device(kp_manager *manager);

// True where KP_UNIFIED and the device make a DEVICE tensor's two sides one.
bool gpu_unified(kp_manager *manager);

// What one program makes; each may be destroyed at any time.
typedef enum gpu_kind { GPU_MANAGER, GPU_TENSOR, GPU_VIEW, GPU_ALGORITHM, GPU_SEQUENCE, GPU_KINDS } gpu_kind;

typedef struct gpu_world {
    kp_manager *mgr;
    kp_tensor *tensor;
    kp_view *view;
    kp_algorithm *algorithm;
    kp_sequence *sequence;
    bool gone[GPU_KINDS];
} gpu_world;

void gpu_world_drop(gpu_world *world, int kind);

// Destroys all five in the order of that number, and calls `then` after each.
enum { GPU_ORDERS = 5 * 4 * 3 * 2 };
void gpu_world_destroy(gpu_world *world, int order, void (*then)(gpu_world *world, void *payload), void *payload);

// File descriptors that this process has open.
unsigned gpu_open_descriptors(void);

extern const char gpu_multiply_glsl[];

#endif
