// See shaderc.h. The library is linked in, or opened by name when first needed (CMakeLists.txt says when which);
// RTLD_LOCAL then keeps its copies of glslang and SPIRV-Tools apart from everybody else's. One compiler object serves
// all threads (shaderc says that it may) and lives as long as the process: setting glslang up takes longer than a
// compile.
#include "shaderc.h"

#include "base/error.h"

#ifndef KP_HAVE_SHADERC

kp_result kp_shaderc_compile(const kp_shaderc_source *source,
                             kp_result (*take)(void *payload, const uint32_t *words, size_t word_count),
                             void *payload) {
    (void)take;
    (void)payload;
    return kp_error_set(
        KP_ERROR_UNSUPPORTED,
        "%s: this build of kp cannot compile %s: it was made without shaderc's headers (Debian: install "
        "libshaderc-dev and build again)",
        source->file, source->hlsl ? "HLSL" : "GLSL");
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <shaderc/shaderc.h>
#include <string.h>

#ifndef KP_SHADERC_LIBRARY // tests name one that is not there
#define KP_SHADERC_LIBRARY "libshaderc.so.1"
#endif

// What is used of shaderc; X(name without its prefix).
#define FUNCTIONS(X)                          \
    X(compiler_initialize)                    \
    X(compile_options_initialize)             \
    X(compile_options_release)                \
    X(compile_options_set_source_language)    \
    X(compile_options_set_target_env)         \
    X(compile_options_set_auto_bind_uniforms) \
    X(compile_into_spv)                       \
    X(result_release)                         \
    X(result_get_compilation_status)          \
    X(result_get_error_message)               \
    X(result_get_bytes)                       \
    X(result_get_length)

typedef struct library {
    shaderc_compiler_t compiler; // NULL: not loaded
#define X(name) __typeof__(shaderc_##name) *name;
    FUNCTIONS(X)
#undef X
} library;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static library loaded;

#ifdef KP_SHADERC_STATIC

static kp_result find_functions(const kp_shaderc_source *source, library *lib) {
    (void)source;
#define X(name) lib->name = shaderc_##name;
    FUNCTIONS(X)
#undef X
    return KP_OK;
}

#else

static kp_result find_functions(const kp_shaderc_source *source, library *lib) {
    void *handle = dlopen(KP_SHADERC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return kp_error_set(KP_ERROR_UNSUPPORTED,
                            "%s: compiling %s needs shaderc (Debian: apt-get install libshaderc1): %s", source->file,
                            source->hlsl ? "HLSL" : "GLSL", dlerror());
    const char *missing = NULL;
#define X(name)                                               \
    *(void **)(&lib->name) = dlsym(handle, "shaderc_" #name); \
    if (lib->name == NULL)                                    \
        missing = "shaderc_" #name;
    FUNCTIONS(X)
#undef X
    if (missing == NULL)
        return KP_OK;
    dlclose(handle);
    return kp_error_set(KP_ERROR_UNSUPPORTED, "%s: " KP_SHADERC_LIBRARY " has no %s", source->file, missing);
}

#endif

static kp_result load(const kp_shaderc_source *source) {
    library lib = {0};
    kp_result result = find_functions(source, &lib);
    if (result != KP_OK || lib.compiler_initialize == NULL)
        return result;
    lib.compiler = lib.compiler_initialize();
    if (lib.compiler == NULL)
        return kp_error_set(KP_ERROR_HOST_MEMORY, "%s: shaderc cannot set up its compiler", source->file);
    loaded = lib;
    return KP_OK;
}

// The library, loading it first if need be: a failure is tried again by the next call.
static kp_result get_library(const kp_shaderc_source *source, library *out) {
    pthread_mutex_lock(&lock);
    kp_result result = loaded.compiler != NULL ? KP_OK : load(source);
    *out = loaded;
    pthread_mutex_unlock(&lock);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------------------------------

// The file's name as shaderc sees it: it takes names with a colon in them apart.
#define NAME "shader"

// One line of the compiler's, taken apart: "shader:12: error: message", or "shader: error: message".
typedef struct complaint {
    const char *message;
    size_t length;
    uint32_t line; // 0: none
} complaint;

static const char *end_of_line(const char *text) {
    const char *end = strchr(text, '\n');
    return end != NULL ? end : text + strlen(text);
}

static bool take_prefix(const char **at, const char *prefix) {
    size_t n = strlen(prefix);
    if (strncmp(*at, prefix, n) != 0)
        return false;
    *at += n;
    return true;
}

// Reads one line; false when it is a warning or a note.
static bool read_complaint(const char *line, complaint *out) {
    const char *at = line;
    uint32_t number = 0;
    if (take_prefix(&at, NAME ":")) {
        const char *digits = at;
        while (*digits >= '0' && *digits <= '9' && number < 100000000)
            number = number * 10 + (uint32_t)(*digits++ - '0');
        at = number != 0 && *digits == ':' ? digits + 1 : at;
        while (*at == ' ')
            at++;
    }
    bool error = take_prefix(&at, "error: ");
    *out = (complaint){at, (size_t)(end_of_line(at) - at), number};
    return error;
}

// The first error among the compiler's lines, or else the first line.
static complaint find_complaint(const char *messages) {
    complaint first = {0}, c;
    for (const char *line = messages; *line != '\0';) {
        if (read_complaint(line, &c))
            return c;
        if (first.message == NULL)
            first = c;
        line = end_of_line(line);
        line += *line == '\n';
    }
    return first.message != NULL ? first : (complaint){"the compiler gave no reason", 27, 0};
}

// The n-th line of the text, 1 is the first; NULL when there is none.
static const char *find_line(const kp_shaderc_source *source, uint32_t n, size_t *length) {
    const char *at = source->text, *end = source->text + source->length;
    for (; n > 1 && at != NULL; n--) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    if (n != 1 || at == NULL)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop != NULL ? stop : end;
    *length = (size_t)(stop - at) - (stop != at && stop[-1] == '\r');
    return at;
}

static kp_result complain(const kp_shaderc_source *source, const char *messages) {
    complaint c = find_complaint(messages);
    char message[1024];
    size_t n = c.length < sizeof message - 1 ? c.length : sizeof message - 1;
    memcpy(message, c.message, n);
    message[n] = '\0';
    kp_error_position at = {.file = source->file, .line = c.line};
    at.source_line = find_line(source, c.line, &at.source_length);
    return kp_error_set_diagnostic(&at, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Compiling
// ---------------------------------------------------------------------------------------------------------------------

// Vulkan 1.1 (SPIR-V 1.3) has subgroup operations, and every device that kp supports takes it.
static void set_options(const library *lib, shaderc_compile_options_t options, bool hlsl) {
    lib->compile_options_set_source_language(options,
                                             hlsl ? shaderc_source_language_hlsl : shaderc_source_language_glsl);
    lib->compile_options_set_target_env(options, shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_1);
    lib->compile_options_set_auto_bind_uniforms(options, hlsl); // HLSL need not number its resources
}

static kp_result finish(const library *lib, const kp_shaderc_source *source, shaderc_compilation_result_t compiled,
                        kp_result (*take)(void *, const uint32_t *, size_t), void *payload) {
    if (compiled == NULL)
        return kp_error_host_memory(source->length);
    if (lib->result_get_compilation_status(compiled) != shaderc_compilation_status_success)
        return complain(source, lib->result_get_error_message(compiled));
    const void *words = lib->result_get_bytes(compiled); // shaderc keeps words
    return take(payload, words, lib->result_get_length(compiled) / sizeof(uint32_t));
}

kp_result kp_shaderc_compile(const kp_shaderc_source *source,
                             kp_result (*take)(void *payload, const uint32_t *words, size_t word_count),
                             void *payload) {
    library lib;
    kp_result result = get_library(source, &lib);
    if (result != KP_OK)
        return result;
    shaderc_compile_options_t options = lib.compile_options_initialize();
    if (options == NULL)
        return kp_error_host_memory(sizeof(void *));
    set_options(&lib, options, source->hlsl);
    shaderc_compilation_result_t compiled = lib.compile_into_spv(lib.compiler, source->text, source->length,
                                                                 shaderc_compute_shader, NAME, source->entry, options);
    result = finish(&lib, source, compiled, take, payload);
    lib.result_release(compiled);
    lib.compile_options_release(options);
    return result;
}

#endif
