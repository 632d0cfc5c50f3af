// kp_shader_compile: text to a program (kp/shader.h).
//
// GLSL is looked at before glslang sees it: where it finds no #version, or an old one, glslang fails to read its own
// built-in functions, and prints all 4,500 lines of them.
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

// ---------------------------------------------------------------------------------------------------------------------
// The #version line
// ---------------------------------------------------------------------------------------------------------------------

typedef struct cursor {
    const char *at, *end;
    uint32_t line;
} cursor;

static char peek(const cursor *c, size_t ahead) { return (size_t)(c->end - c->at) > ahead ? c->at[ahead] : '\0'; }

static void step(cursor *c) { c->line += *c->at++ == '\n'; }

// To the end of a comment that starts here; a backslash carries a // comment over to the next line.
static void skip_line_comment(cursor *c) {
    for (char before = '\0'; c->at < c->end; step(c)) {
        if (*c->at == '\n' && before != '\\')
            return;
        before = *c->at != '\r' ? *c->at : before;
    }
}

static void skip_block_comment(cursor *c) {
    for (c->at += 2; c->at < c->end; step(c)) {
        if (*c->at == '*' && peek(c, 1) == '/') {
            c->at += 2;
            return;
        }
    }
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void skip_blanks(cursor *c) {
    while (c->at < c->end && is_blank(*c->at))
        step(c);
}

// Moves to the number of a #version line at the start of the text, behind white space and comments; false when there is
// none.
static bool find_version(cursor *c) {
    for (;;) {
        char now = peek(c, 0), then = peek(c, 1);
        if (now == '/' && then == '/')
            skip_line_comment(c);
        else if (now == '/' && then == '*')
            skip_block_comment(c);
        else if (is_blank(now) || now == '\n' || now == '\r')
            step(c);
        else
            break;
    }
    if (peek(c, 0) != '#')
        return false;
    step(c);
    skip_blanks(c);
    static const char word[] = "version";
    size_t n = sizeof word - 1;
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    skip_blanks(c);
    return true;
}

static kp_result refuse_version(const kp_shaderc_source *source, uint32_t line, const char *message) {
    return kp_error_set_diagnostic(&(kp_error_position){.file = source->file, .line = line}, message);
}

static kp_result check_version(const kp_shaderc_source *source) {
    cursor c = {source->text, source->text + source->length, 1};
    if (!find_version(&c))
        return refuse_version(source, 1, "no #version: GLSL starts with a line like '#version 450'");
    unsigned number = 0, digits = 0;
    for (; digits < 4 && peek(&c, 0) >= '0' && peek(&c, 0) <= '9'; digits++)
        number = number * 10 + (unsigned)(*c.at++ - '0');
    if (digits != 3 || number < 310)
        return refuse_version(source, c.line, "compute shaders need '#version 310 es', or '#version 430' or above");
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// The door
// ---------------------------------------------------------------------------------------------------------------------

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
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { // a byte order mark
        text += 3;
        length -= 3;
    }
    kp_shaderc_source source = {.text = text,
                                .length = length,
                                .file = desc->file != NULL ? desc->file : "<shader>",
                                .entry = desc->entry != NULL ? desc->entry : "main",
                                .hlsl = is_hlsl(text, length, desc)};
    kp_result result = source.hlsl ? KP_OK : check_version(&source);
    if (result != KP_OK)
        return result;
    return kp_shaderc_compile(&source, make_program, &(request){desc->file, out});
}
