// See program.h. One block holds, in this order: the kp_program, its params, its words, and the texts, so that each
// part is aligned by the one before it and destroying a program is one free.
#include "program.h"

#include "alloc.h"
#include "error.h"

#include <string.h>

typedef struct block {
    kp_program program;
    kp_param params[]; // then uint32_t words[], then char texts[]
} block;

static size_t text_size(const char *text) { return text != NULL ? strlen(text) + 1 : 0; }

// Adds count * size to *total; false when that does not fit.
static bool grow(size_t *total, size_t count, size_t size) {
    if (count > (SIZE_MAX - *total) / size)
        return false;
    *total += count * size;
    return true;
}

static bool block_size(const kp_program *from, size_t *total) {
    *total = sizeof(block);
    if (!grow(total, from->param_count, sizeof(kp_param)) || !grow(total, from->word_count, sizeof(uint32_t)))
        return false;
    bool fits = grow(total, text_size(from->name), 1);
    for (size_t i = 0; i < from->param_count && fits; i++)
        fits = grow(total, text_size(from->params[i].name), 1) && grow(total, text_size(from->params[i].type), 1) &&
               grow(total, text_size(from->params[i].format), 1);
    return fits;
}

// Copies `text` to *at and moves *at behind it.
static const char *put_text(char **at, const char *text) {
    if (text == NULL)
        return NULL;
    const char *copy = memcpy(*at, text, text_size(text));
    *at += text_size(text);
    return copy;
}

kp_result kp_program_new(const kp_program *from, kp_program **out) {
    size_t total;
    if (!block_size(from, &total))
        return kp_error_host_memory(SIZE_MAX);
    block *b = kp_alloc_new(total);
    if (b == NULL)
        return kp_error_host_memory(total);
    uint32_t *words = (uint32_t *)(b->params + from->param_count);
    char *texts = (char *)(words + from->word_count);
    if (from->word_count != 0)
        memcpy(words, from->words, from->word_count * sizeof *words);
    b->program = *from;
    b->program.words = words;
    b->program.name = put_text(&texts, from->name);
    b->program.params = from->param_count != 0 ? b->params : NULL;
    for (size_t i = 0; i < from->param_count; i++) {
        b->params[i] = from->params[i];
        b->params[i].name = put_text(&texts, from->params[i].name);
        b->params[i].type = put_text(&texts, from->params[i].type);
        b->params[i].format = put_text(&texts, from->params[i].format);
    }
    *out = &b->program;
    return KP_OK;
}

void kp_program_destroy(kp_program *program) { kp_alloc_free(program); }
