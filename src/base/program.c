// See program.h. One block holds, in this order: the kp_program, its params, their structs, its words, and the texts,
// so that each part is aligned by the one before it and destroying a program is one free.
#include "program.h"

#include "alloc.h"
#include "error.h"
#include "structs.h"

#include <string.h>

typedef struct block {
    kp_program program;
    kp_param params[]; // then structs, then uint32_t words[], then char texts[]
} block;

// Adds count * size to *total; false when that does not fit.
static bool grow(size_t *total, size_t count, size_t size) {
    if (count > (SIZE_MAX - *total) / size)
        return false;
    *total += count * size;
    return true;
}

static bool block_size(const kp_program *from, kp_structs_size *s, size_t *total) {
    *total = sizeof(block);
    if (!grow(total, from->param_count, sizeof(kp_param)) || !grow(total, from->word_count, sizeof(uint32_t)))
        return false;
    *s = (kp_structs_size){.texts = kp_structs_text_size(from->name)};
    for (size_t i = 0; i < from->param_count; i++) {
        s->texts += kp_structs_text_size(from->params[i].name) + kp_structs_text_size(from->params[i].type);
        s->texts += kp_structs_text_size(from->params[i].format);
        kp_structs_measure(from->params[i].structure, s);
    }
    return grow(total, s->structs, 1) && grow(total, s->texts, 1);
}

kp_result kp_program_new(const kp_program *from, kp_program **out) {
    kp_structs_size s;
    size_t total;
    if (!block_size(from, &s, &total))
        return kp_error_host_memory(SIZE_MAX);
    block *b = kp_alloc_new(total);
    if (b == NULL)
        return kp_error_host_memory(total);
    kp_structs_at at = {.structs = (char *)(b->params + from->param_count)};
    uint32_t *words = (uint32_t *)(void *)(at.structs + s.structs);
    at.texts = (char *)(words + from->word_count);
    if (from->word_count != 0)
        memcpy(words, from->words, from->word_count * sizeof *words);
    b->program = *from;
    b->program.words = words;
    b->program.name = kp_structs_put_text(&at, from->name);
    b->program.params = from->param_count != 0 ? b->params : NULL;
    for (size_t i = 0; i < from->param_count; i++) {
        b->params[i] = from->params[i];
        b->params[i].name = kp_structs_put_text(&at, from->params[i].name);
        b->params[i].type = kp_structs_put_text(&at, from->params[i].type);
        b->params[i].format = kp_structs_put_text(&at, from->params[i].format);
        b->params[i].structure = kp_structs_put(&at, from->params[i].structure);
    }
    *out = &b->program;
    return KP_OK;
}

void kp_program_destroy(kp_program *program) { kp_alloc_free(program); }
