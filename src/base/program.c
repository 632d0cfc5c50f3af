// See program.h. One block holds, in this order: the kp_program, its params, their structs, its alternatives, all
// words, and the texts, so that each part is aligned by the one before it and destroying a program is one free.
#include "program.h"

#include "alloc.h"
#include "error.h"
#include "structs.h"

#include <string.h>

typedef struct block {
    kp_program program;
    kp_param params[]; // then structs, then kp_alternative alternatives[], then uint32_t words[], then char texts[]
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
    if (!grow(total, from->param_count, sizeof(kp_param)) || !grow(total, from->word_count, sizeof(uint32_t)) ||
        !grow(total, from->alternative_count, sizeof(kp_alternative)))
        return false;
    for (size_t i = 0; i < from->alternative_count; i++) {
        if (!grow(total, from->alternatives[i].word_count, sizeof(uint32_t)))
            return false;
    }
    *s = (kp_structs_size){.texts = kp_structs_text_size(from->name)};
    for (size_t i = 0; i < from->param_count; i++) {
        s->texts += kp_structs_text_size(from->params[i].name) + kp_structs_text_size(from->params[i].type);
        s->texts += kp_structs_text_size(from->params[i].format);
        kp_structs_measure(from->params[i].structure, s);
    }
    return grow(total, s->structs, 1) && grow(total, s->texts, 1);
}

// Copies words to *at, unless there are none yet, and moves it behind them.
static const uint32_t *put_words(uint32_t **at, const uint32_t *words, size_t count) {
    uint32_t *to = *at;
    if (count != 0 && words != NULL)
        memcpy(to, words, count * sizeof *words);
    *at += count;
    return to;
}

// The words of the program and of its alternatives; gives the place behind them.
static char *put_modules(kp_program *to, const kp_program *from, kp_alternative *alternatives) {
    uint32_t *at = (uint32_t *)(void *)(alternatives + from->alternative_count);
    to->words = put_words(&at, from->words, from->word_count);
    to->alternatives = from->alternative_count != 0 ? alternatives : NULL;
    for (size_t i = 0; i < from->alternative_count; i++) {
        alternatives[i] = from->alternatives[i];
        alternatives[i].words = put_words(&at, from->alternatives[i].words, from->alternatives[i].word_count);
    }
    return (char *)at;
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
    b->program = *from;
    at.texts = put_modules(&b->program, from, (kp_alternative *)(void *)(at.structs + s.structs));
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

kp_result kp_program_new_empty(const kp_program *from, uint32_t **words, kp_program **out) {
    kp_program empty = *from;
    empty.words = NULL;
    kp_result result = kp_program_new(&empty, out);
    if (result == KP_OK)
        *words = (uint32_t *)(*out)->words; // they are in the block
    return result;
}

void kp_program_destroy(kp_program *program) { kp_alloc_free(program); }
