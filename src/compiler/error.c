// See error.h. Tokens know their byte offsets; the position that people read (line of the file, column in characters,
// the text of the line) is worked out here, once, when there is something to report.
#include "error.h"

#include "texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048, LONGEST_WORD = 64 };

uint32_t kp_error_line(kp_unit *unit, const kp_token *token) { return kp_texts_line_of(unit, token).number; }

const char *kp_error_file(const kp_unit *unit, const kp_token *token) { return kp_texts_of(unit, token)->file; }

// Characters in the first `bytes` bytes, plus one.
static uint32_t column_after(const char *line, uint32_t bytes) {
    uint32_t column = 1;
    for (uint32_t i = 0; i < bytes; i++)
        column += ((unsigned char)line[i] & 0xC0u) != 0x80u;
    return column;
}

static kp_result report(kp_unit *unit, const kp_token *first, const kp_token *last, const char *message) {
    const kp_texts_line in = kp_texts_line_of(unit, first);
    const char *line = unit->text + in.start;
    uint32_t length = (uint32_t)strcspn(line, "\r\n");
    uint32_t start = first->at - in.start;
    uint32_t end = last->at + last->length - in.start;
    if (last->at < first->at || end > length)
        end = length; // the faulty text goes on in the next line: mark the rest of this one
    if (end <= start)
        end = start;
    uint32_t column = column_after(line, start);
    uint32_t end_column = column + (column_after(line + start, end - start) - 1);
    if (end_column == column)
        end_column = column + 1; // an empty token, such as the end of the line
    kp_error_position at = {
        .file = in.text->file,
        .line = in.number,
        .column = column,
        .end_column = end_column,
        .source_line = line,
        .source_length = length,
    };
    return kp_error_set_diagnostic(&at, message);
}

void kp_error_at(kp_unit *unit, const kp_token *first, const kp_token *last, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    if (vsnprintf(message, sizeof message, format, args) < 0)
        message[0] = '\0';
    va_end(args);
    unit->result = report(unit, first, last != NULL ? last : first, message);
    longjmp(unit->escape, 1);
}

void kp_error_in_file(kp_unit *unit, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    if (vsnprintf(message, sizeof message, format, args) < 0)
        message[0] = '\0';
    va_end(args);
    kp_error_position at = {.file = unit->file};
    unit->result = kp_error_set_diagnostic(&at, message);
    longjmp(unit->escape, 1);
}

void kp_error_out_of_memory(void *payload) {
    kp_unit *unit = payload;
    unit->result = kp_error_set(KP_ERROR_HOST_MEMORY, "out of host memory while compiling %s", unit->file);
    longjmp(unit->escape, 1);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t kp_error_distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length, uint32_t limit) {
    uint32_t rows[3][LONGEST_WORD + 1];
    if (a_length > LONGEST_WORD || b_length > LONGEST_WORD)
        return limit;
    uint32_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (uint32_t j = 0; j <= b_length; j++)
        above[j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t cost = a[i - 1] != b[j - 1];
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        uint32_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return least(above[b_length], limit);
}

uint32_t kp_error_nearness(uint32_t length) { return length <= 1 ? 1 : length <= 3 ? 2 : 3; }
