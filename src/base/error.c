// See error.h. Fixed thread-local buffers: reporting a failure never allocates, so it cannot fail itself.
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 2048, SOURCE_SIZE = 1024, RENDERED_SIZE = 8192 };

static _Thread_local struct {
    char line[LINE_SIZE];
    char message[LINE_SIZE];
    char file[SOURCE_SIZE];
    char source_line[SOURCE_SIZE];
    char rendered[RENDERED_SIZE];
    kp_diagnostic diagnostic;
} last;

const char *kp_last_error(void) { return last.line; }

const kp_diagnostic *kp_last_diagnostic(void) {
    kp_diagnostic *d = &last.diagnostic;
    d->message = last.message;
    d->file = last.file;
    d->source_line = last.source_line;
    d->rendered = last.rendered;
    return d;
}

// Drops the bytes of a UTF-8 character that was cut at the end of `text`.
static void trim_cut_character(char *text) {
    size_t length = strlen(text);
    size_t start = length;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0u) == 0x80u)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : lead >= 0xC0u ? 2 : 1;
    if (length - (start - 1) < need)
        text[start - 1] = '\0';
}

void kp_error_make_line(char *text) {
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    }
    trim_cut_character(text);
}

kp_result kp_error_set(kp_result result, const char *format, ...) {
    char text[LINE_SIZE]; // the arguments may point into last.line
    va_list args;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    va_end(args);
    kp_error_make_line(text);
    memcpy(last.line, text, sizeof text);
    return result;
}

kp_result kp_error_host_memory(size_t bytes) {
    return kp_error_set(KP_ERROR_HOST_MEMORY, "out of host memory: %zu bytes", bytes);
}

static void copy_cut(char *to, size_t size, const char *from, size_t length) {
    size_t n = length < size - 1 ? length : size - 1;
    memcpy(to, from, n);
    to[n] = '\0';
    kp_error_make_line(to);
}

// White space that puts the caret under its character: tabs stay tabs, so that it lines up in any terminal.
static size_t write_indent(char *out, size_t size, const char *source_line, uint32_t column) {
    size_t used = 0;
    uint32_t at = 1;
    for (const char *c = source_line; *c != '\0' && at < column && used + 1 < size; c++) {
        if (((unsigned char)*c & 0xC0u) == 0x80u)
            continue; // not the first byte of a character
        out[used++] = *c == '\t' ? '\t' : ' ';
        at++;
    }
    out[used] = '\0';
    return used;
}

static void render(const kp_diagnostic *d) {
    char indent[SOURCE_SIZE], carets[SOURCE_SIZE];
    write_indent(indent, sizeof indent, last.source_line, d->column);
    size_t width = d->end_column > d->column ? d->end_column - d->column : 1;
    if (width > sizeof carets - 1)
        width = sizeof carets - 1;
    memset(carets, '^', width);
    carets[width] = '\0';
    if (d->line == 0)
        snprintf(last.rendered, sizeof last.rendered, "%s: %s", last.file, last.message);
    else if (d->column == 0 || last.source_line[0] == '\0')
        snprintf(last.rendered, sizeof last.rendered, "%s:%u: %s", last.file, d->line, last.message);
    else
        snprintf(last.rendered, sizeof last.rendered, "%s:%u:%u: %s\n    %s\n    %s%s", last.file, d->line, d->column,
                 last.message, last.source_line, indent, carets);
}

kp_result kp_error_set_diagnostic(const kp_error_position *at, const char *message) {
    copy_cut(last.message, sizeof last.message, message, strlen(message));
    copy_cut(last.file, sizeof last.file, at->file, strlen(at->file));
    copy_cut(last.source_line, sizeof last.source_line, at->source_line != NULL ? at->source_line : "",
             at->source_length);
    last.diagnostic = (kp_diagnostic){.line = at->line, .column = at->column, .end_column = at->end_column};
    render(&last.diagnostic);
    if (at->line == 0)
        return kp_error_set(KP_ERROR_COMPILE, "%s: %s", last.file, last.message);
    if (at->column == 0)
        return kp_error_set(KP_ERROR_COMPILE, "%s:%u: %s", last.file, at->line, last.message);
    return kp_error_set(KP_ERROR_COMPILE, "%s:%u:%u: %s", last.file, at->line, at->column, last.message);
}
