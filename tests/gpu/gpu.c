// See gpu.h.
#include "gpu.h"

#include <fcntl.h>

#include <dlfcn.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned errors;
static char first_error[2048], last_warning[2048];

static void on_log(void *payload, kp_log_level level, const char *message) {
    (void)payload;
    if (level >= KP_LOG_ERROR || strncmp(message, "validation:", 11) == 0) {
        gpu_count_error(message);
    } else if (level == KP_LOG_WARNING) {
        pthread_mutex_lock(&lock);
        snprintf(last_warning, sizeof last_warning, "%s", message);
        pthread_mutex_unlock(&lock);
    }
}

void gpu_count_error(const char *message) {
    pthread_mutex_lock(&lock);
    if (errors++ == 0)
        snprintf(first_error, sizeof first_error, "%s", message);
    pthread_mutex_unlock(&lock);
}

unsigned gpu_errors(void) {
    pthread_mutex_lock(&lock);
    unsigned count = errors;
    errors = 0;
    pthread_mutex_unlock(&lock);
    return count;
}

const char *gpu_warning(void) { return last_warning; }

// The leak checker cannot tell whose a block is, nor what points to it, once the loader has unloaded the layer.
static void keep_layer_loaded(void) {
#if defined(__SANITIZE_ADDRESS__)
    static bool done;
    if (!done)
        dlopen("libVkLayer_khronos_validation.so", RTLD_NOW | RTLD_NODELETE);
    done = true;
#endif
}

int gpu_bare(void **state) {
    keep_layer_loaded();
    kp_set_log(on_log, NULL, KP_LOG_DEBUG);
    errors = 0;
    last_warning[0] = '\0';
    *state = NULL;
    return 0;
}

int gpu_open(void **state) {
    gpu_bare(state);
    kp_manager *manager = NULL;
    OK(kp_manager_create(NULL, &manager));
    *state = manager;
    return 0;
}

int gpu_close(void **state) {
    kp_manager_destroy(*state);
    kp_set_log(NULL, NULL, KP_LOG_NONE);
    if (gpu_errors() != 0) {
        print_error("the log has an error: %s\n", first_error);
        return -1;
    }
    return 0;
}

void gpu_ok(kp_result result, const char *call, const char *file, int line) {
    if (result == KP_OK)
        return;
    print_error("%s: %s: %s\n", call, kp_result_name(result), kp_last_error());
    _fail(file, line);
}

bool gpu_matches(const char *text, const char *pattern) {
    for (; *pattern != '\0'; pattern++, text++) {
        if (*pattern == '*') {
            while (!gpu_matches(text, pattern + 1)) {
                if (*text++ == '\0')
                    return false;
            }
            return true;
        }
        if (*pattern != *text)
            return false;
    }
    return *text == '\0';
}

void gpu_fails(kp_result result, kp_result expected, const char *words, const char *call, const char *file, int line) {
    if (result == expected && gpu_matches(kp_last_error(), words))
        return;
    print_error("%s\n  gives    %s: %s\n  expected %s: %s\n", call, kp_result_name(result),
                result != KP_OK ? kp_last_error() : "", kp_result_name(expected), words);
    _fail(file, line);
}

kp_tensor *gpu_floats(kp_manager *manager, const char *label, uint64_t count, const float *data) {
    kp_tensor *tensor = NULL;
    OK(kp_tensor_create(manager, &(kp_tensor_desc){.count = count, .data = data, .label = label}, &tensor));
    return tensor;
}

const char gpu_multiply_glsl[] = "layout(local_size_x = 1) in;\n"
                                 "layout(binding = 0) readonly buffer A { float a[]; };\n"
                                 "layout(binding = 1) readonly buffer B { float b[]; };\n"
                                 "layout(binding = 2) buffer Out { float c[]; };\n"
                                 "void main() { uint i = gl_GlobalInvocationID.x; c[i] = a[i] * b[i]; }\n";

kp_program *gpu_glsl(const char *text) {
    char *whole = malloc(strlen(text) + 32);
    assert_non_null(whole);
    size_t length = (size_t)sprintf(whole, "#version 450\n%s", text);
    kp_program *program = NULL;
    kp_result result =
        kp_shader_compile(whole, length, &(kp_shader_desc){.language = KP_SHADER_GLSL, .file = "test"}, &program);
    free(whole);
    OK(result);
    return program;
}

kp_algorithm *gpu_algorithm(kp_manager *manager, const char *glsl, const kp_algorithm_desc *desc) {
    kp_algorithm_desc full = desc != NULL ? *desc : (kp_algorithm_desc){0};
    kp_program *program = gpu_glsl(glsl);
    full.program = program;
    kp_algorithm *algorithm = NULL;
    kp_result result = kp_algorithm_create(manager, &full, &algorithm);
    kp_program_destroy(program);
    OK(result);
    return algorithm;
}

kp_algorithm *gpu_multiply(kp_manager *manager, kp_tensor *a, kp_tensor *b, kp_tensor *out) {
    return gpu_algorithm(manager, gpu_multiply_glsl,
                         &(kp_algorithm_desc){.memory = LIST(a, b, out), .memory_count = 3, .label = "multiply"});
}

kp_sequence *gpu_sequence(kp_manager *manager) {
    kp_sequence *sequence = NULL;
    OK(kp_sequence_create(manager, NULL, &sequence));
    return sequence;
}

void gpu_once(kp_manager *manager, kp_algorithm *algorithm, kp_memory *const *memory, size_t count,
              const kp_dispatch_desc *desc) {
    kp_sequence *sequence = gpu_sequence(manager);
    OK(kp_record_sync_device(sequence, memory, count));
    OK(kp_record_dispatch(sequence, algorithm, desc));
    OK(kp_record_sync_local(sequence, memory, count));
    OK(kp_sequence_eval(sequence));
    kp_sequence_destroy(sequence);
}

kp_device_info gpu_device(kp_manager *manager) {
    kp_device_info info;
    OK(kp_manager_device(manager, &info));
    return info;
}

bool gpu_unified(kp_manager *manager) {
    const char *word = getenv("KP_UNIFIED");
    return gpu_device(manager).unified && !(word != NULL && strcmp(word, "0") == 0);
}

void gpu_world_drop(gpu_world *w, int kind) {
    if (kind == GPU_MANAGER)
        kp_manager_destroy(w->mgr);
    else if (kind == GPU_TENSOR)
        kp_tensor_destroy(w->tensor);
    else if (kind == GPU_VIEW)
        kp_view_destroy(w->view);
    else if (kind == GPU_ALGORITHM)
        kp_algorithm_destroy(w->algorithm);
    else
        kp_sequence_destroy(w->sequence);
    w->gone[kind] = true;
}

void gpu_world_destroy(gpu_world *world, int order, void (*then)(gpu_world *world, void *payload), void *payload) {
    int left[] = {GPU_MANAGER, GPU_TENSOR, GPU_VIEW, GPU_ALGORITHM, GPU_SEQUENCE};
    for (int n = GPU_KINDS; n > 0; n--) {
        int pick = order % n;
        order /= n;
        gpu_world_drop(world, left[pick]);
        left[pick] = left[n - 1];
        then(world, payload);
    }
}

unsigned gpu_open_descriptors(void) {
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}
