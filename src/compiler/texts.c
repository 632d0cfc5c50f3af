// See texts.h.
#include "texts.h"

#include "error.h"

#include <stdio.h>
#include <string.h>

static const char library[] = {
#include "library.inc" // made of library.py by CMake
    0};

enum { LONGEST_TEXT = (16 << 20) - 1, LONGEST_ALL = 256 << 20 };

// Notes a text; kp_texts_gather copies it later, when the length of all is known.
static void add(kp_unit *unit, const char *text, const char *file, uint32_t first_line, const char *what) {
    size_t length = strlen(text);
    kp_text *last = unit->text_count > 0 ? &unit->texts[unit->text_count - 1] : NULL;
    uint32_t at = last != NULL ? last->at + last->length + 1 : 0;
    if (length > LONGEST_TEXT)
        kp_error_in_file(unit, "%s has %zu bytes; the limit is %d", what, length, LONGEST_TEXT);
    if (at + length >= LONGEST_ALL)
        kp_error_in_file(unit, "the texts have more than %d bytes together", LONGEST_ALL - 1);
    unit->texts[unit->text_count++] =
        (kp_text){.at = at, .length = (uint32_t)length, .first_line = first_line != 0 ? first_line : 1, .file = file};
}

static void add_types(kp_unit *unit, const kp_param_type *params, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char file[128];
        int written = snprintf(file, sizeof file, "<type of '%.100s'>", params[i].name);
        add(unit, params[i].type, kp_arena_text(&unit->arena, file, (size_t)written), 1, "a type");
    }
}

// In the order of kp_unit.texts.
static void add_all(kp_unit *unit, const char *source) {
    const kp_compile_desc *desc = unit->desc;
    add(unit, source, unit->file, desc->first_line, "the source");
    for (size_t i = 0; i < desc->function_count; i++) {
        const kp_function_source *f = &desc->functions[i];
        add(unit, f->source, f->file != NULL ? f->file : "<kernel>", f->first_line, "the source of a function");
    }
    add_types(unit, desc->params, desc->param_count);
    for (size_t i = 0; i < desc->function_count; i++)
        add_types(unit, desc->functions[i].params, desc->functions[i].param_count);
    add_types(unit, desc->types, desc->type_count);
    for (size_t i = 0; i < desc->function_count; i++)
        add_types(unit, desc->functions[i].types, desc->functions[i].type_count);
}

static void copy(char *text, const kp_text *to, const char *from) { memcpy(text + to->at, from, to->length + 1); }

static void copy_all(kp_unit *unit, const char *source, char *text) {
    const kp_compile_desc *desc = unit->desc;
    const kp_text *next = unit->texts;
    copy(text, next++, source);
    for (size_t i = 0; i < desc->function_count; i++)
        copy(text, next++, desc->functions[i].source);
    for (size_t i = 0; i < desc->param_count; i++)
        copy(text, next++, desc->params[i].type);
    for (size_t i = 0; i < desc->function_count; i++) {
        for (size_t k = 0; k < desc->functions[i].param_count; k++)
            copy(text, next++, desc->functions[i].params[k].type);
    }
    for (size_t i = 0; i < desc->type_count; i++)
        copy(text, next++, desc->types[i].type);
    for (size_t i = 0; i < desc->function_count; i++) {
        for (size_t k = 0; k < desc->functions[i].type_count; k++)
            copy(text, next++, desc->functions[i].types[k].type);
    }
}

// How many types of parameters there are, of all functions.
static size_t count_params(const kp_compile_desc *desc) {
    size_t count = desc->param_count;
    for (size_t i = 0; i < desc->function_count; i++)
        count += desc->functions[i].param_count;
    return count;
}

void kp_texts_gather(kp_unit *unit, const char *source) {
    size_t count = 1 + unit->desc->function_count + count_params(unit->desc) + unit->desc->type_count;
    for (size_t i = 0; i < unit->desc->function_count; i++)
        count += unit->desc->functions[i].type_count;
    unit->texts = KP_UNIT_NEW(unit, kp_text, count);
    unit->text = source; // for messages, until the copy is there
    add_all(unit, source);
    if (count > 1) {
        const kp_text *last = &unit->texts[count - 1];
        char *text = KP_UNIT_NEW(unit, char, last->at + last->length + 1);
        copy_all(unit, source, text);
        unit->text = text;
    }
    for (size_t i = 0; i < 1 + unit->desc->function_count; i++)
        kp_lexer_check_text(unit, &unit->texts[i]);
}

const kp_text *kp_texts_add_library(kp_unit *unit) {
    kp_text *texts = KP_UNIT_NEW(unit, kp_text, unit->text_count + 1);
    memcpy(texts, unit->texts, unit->text_count * sizeof *texts);
    unit->texts = texts;
    add(unit, library, "<library>", 1, "the library");
    const kp_text *added = &texts[unit->text_count - 1];
    char *text = kp_arena_raw(&unit->arena, added->at + sizeof library);
    memcpy(text, unit->text, added->at);
    memcpy(text + added->at, library, sizeof library);
    unit->text = text;
    return added;
}

kp_text *kp_texts_of(const kp_unit *unit, const kp_token *token) {
    uint32_t low = 0, high = unit->text_count; // the last text that starts at the token or before it
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (unit->texts[middle].at <= token->at)
            low = middle;
        else
            high = middle;
    }
    return &unit->texts[low];
}

uint32_t kp_texts_mark(const char *text, uint32_t length) {
    return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

// A line ends with "\n", "\r\n" or "\r". Counts them, and notes where they start unless `lines` is NULL.
static uint32_t find_lines(const char *text, uint32_t at, uint32_t end, uint32_t *lines) {
    uint32_t count = 0;
    for (;;) {
        if (lines != NULL)
            lines[count] = at;
        count++;
        at += (uint32_t)strcspn(text + at, "\r\n");
        if (at >= end)
            return count;
        at += text[at] == '\r' && text[at + 1] == '\n' ? 2 : 1;
    }
}

static void note_lines(kp_unit *unit, kp_text *text) {
    uint32_t start = text->at + kp_texts_mark(unit->text + text->at, text->length), end = text->at + text->length;
    uint32_t count = find_lines(unit->text, start, end, NULL);
    text->lines = kp_arena_raw(&unit->arena, count * sizeof *text->lines);
    text->line_count = find_lines(unit->text, start, end, text->lines);
}

kp_texts_line kp_texts_line_of(kp_unit *unit, const kp_token *token) {
    kp_text *text = kp_texts_of(unit, token);
    if (text->lines == NULL)
        note_lines(unit, text);
    uint32_t low = 0, high = text->line_count;  // the last line that starts at the token or before it
    if (text->lines[text->line] <= token->at) { // mostly it is this one or the next
        low = text->line;
        if (low + 2 < high && text->lines[low + 2] > token->at)
            high = low + 2;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (text->lines[middle] <= token->at)
            low = middle;
        else
            high = middle;
    }
    text->line = low;
    return (kp_texts_line){.text = text, .number = low + text->first_line, .start = text->lines[low]};
}

kp_text *kp_texts_type(const kp_unit *unit, uint32_t module, size_t param) {
    size_t index = 1 + unit->desc->function_count + param;
    if (module > 0)
        index += unit->desc->param_count;
    for (uint32_t i = 1; i < module; i++)
        index += unit->desc->functions[i - 1].param_count;
    return &unit->texts[index];
}

kp_text *kp_texts_named(const kp_unit *unit, uint32_t module, size_t name) {
    size_t index = 1 + unit->desc->function_count + count_params(unit->desc) + name;
    if (module > 0)
        index += unit->desc->type_count;
    for (uint32_t i = 1; i < module; i++)
        index += unit->desc->functions[i - 1].type_count;
    return &unit->texts[index];
}
