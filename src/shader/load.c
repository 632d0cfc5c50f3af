// kp_shader_load: a file of SPIR-V, GLSL or HLSL to a program (kp/shader.h).
#include <kp/shader.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC = 0x07230203, FIRST_STEP = 64 * 1024, LARGEST = 256 * 1024 * 1024 };

static kp_result io_error(const char *path, int code) {
    char reason[256];
    if (strerror_r(code, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", code);
    return kp_error_set(KP_ERROR_IO, "cannot read '%s': %s", path, reason);
}

// The rest of an open file; free *bytes.
static kp_result read_all(const char *path, FILE *file, char **bytes, size_t *size) {
    char *buffer = NULL;
    size_t capacity = 0, used = 0;
    kp_result result = KP_OK;
    do {
        if (used == capacity) {
            capacity = capacity == 0 ? FIRST_STEP : capacity * 2;
            char *bigger = capacity <= LARGEST ? kp_alloc_resize(buffer, capacity) : NULL;
            if (bigger == NULL) {
                result = capacity > LARGEST ? io_error(path, EFBIG) : kp_error_host_memory(capacity);
                goto fail;
            }
            buffer = bigger;
        }
        errno = 0;
        used += fread(buffer + used, 1, capacity - used, file);
        if (ferror(file)) {
            result = io_error(path, errno != 0 ? errno : EIO);
            goto fail;
        }
    } while (!feof(file));
    *bytes = buffer;
    *size = used;
    return KP_OK;
fail:
    kp_alloc_free(buffer);
    return result;
}

static kp_result read_file(const char *path, char **bytes, size_t *size) {
    errno = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return io_error(path, errno);
    kp_result result = read_all(path, file, bytes, size);
    fclose(file);
    return result;
}

static uint32_t swapped(uint32_t w) { return w << 24 | (w & 0xFF00u) << 8 | (w >> 8 & 0xFF00u) | w >> 24; }

static bool is_spirv(const char *bytes, size_t size, bool *other_order) {
    uint32_t magic = 0;
    memcpy(&magic, bytes, size < sizeof magic ? size : sizeof magic);
    *other_order = magic == swapped(MAGIC);
    return magic == MAGIC || *other_order;
}

// `bytes` comes from the allocator, so that it is aligned for words.
static kp_result wrap_words(const char *path, const char *name, char *bytes, size_t size, bool swap, kp_program **out) {
    if (size % sizeof(uint32_t) != 0)
        return kp_error_set(KP_ERROR_SPIRV, "'%s': SPIR-V of %zu bytes, which is not a multiple of 4", path, size);
    uint32_t *words = (uint32_t *)(void *)bytes;
    for (size_t i = 0; swap && i < size / sizeof *words; i++)
        words[i] = swapped(words[i]);
    return kp_program_new(&(kp_program){.words = words, .word_count = size / sizeof *words, .name = name}, out);
}

kp_result kp_shader_load(const char *path, const kp_shader_desc *desc, kp_program **out) {
    if (path == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_shader_load: %s is NULL", path == NULL ? "path" : "out");
    char *bytes = NULL;
    size_t size = 0;
    kp_result result = read_file(path, &bytes, &size);
    if (result != KP_OK || bytes == NULL)
        return result;
    kp_shader_desc text = desc != NULL ? *desc : (kp_shader_desc){0};
    text.file = text.file != NULL ? text.file : path;
    bool swap;
    if (is_spirv(bytes, size, &swap))
        result = wrap_words(path, text.file, bytes, size, swap, out);
    else
        result = kp_shader_compile(bytes, size, &text, out);
    kp_alloc_free(bytes);
    return result;
}
