// kp_shader_compile: text to a program (kp/shader.h).
#include <kp/shader.h>

#include "base/error.h"
#include "base/program.h"
#include "shaderc.h"

#include <string.h>

// Does `text` hold `word` anywhere?
static bool contains(const char *text, size_t length, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++) {
        if (memcmp(text + i, word, n) == 0)
            return true;
    }
    return false;
}

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_hlsl(const char *text, size_t length, const kp_shader_desc *desc) {
    if (desc->language != KP_SHADER_AUTO)
        return desc->language == KP_SHADER_HLSL;
    if (desc->file != NULL && ends_in(desc->file, ".hlsl"))
        return true;
    return contains(text, length, "[numthreads(") && !contains(text, length, "#version");
}

typedef struct request {
    const char *name;
    kp_program **out;
} request;

static kp_result make_program(void *payload, const uint32_t *words, size_t word_count) {
    const request *r = payload;
    return kp_program_new(&(kp_program){.words = words, .word_count = word_count, .name = r->name}, r->out);
}

kp_result kp_shader_compile(const char *text, size_t length, const kp_shader_desc *desc, kp_program **out) {
    if (text == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_shader_compile: %s is NULL", text == NULL ? "text" : "out");
    const kp_shader_desc defaults = {0};
    desc = desc != NULL ? desc : &defaults;
    if ((unsigned)desc->language > KP_SHADER_HLSL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_shader_compile: no language has the number %d", (int)desc->language);
    kp_shaderc_source source = {.text = text,
                                .length = length,
                                .file = desc->file != NULL ? desc->file : "<shader>",
                                .entry = desc->entry != NULL ? desc->entry : "main",
                                .hlsl = is_hlsl(text, length, desc)};
    return kp_shaderc_compile(&source, make_program, &(request){desc->file, out});
}
