// See rewrite.h.
#include "rewrite.h"

void kp_rewrite_put(kp_str *to, SpvOp op, const uint32_t *operands, uint32_t count) {
    uint32_t first = (count + 1) << SpvWordCountShift | (uint32_t)op;
    kp_str_add(to, (const char *)&first, sizeof first);
    if (count != 0)
        kp_str_add(to, (const char *)operands, count * sizeof *operands);
}

void kp_rewrite_append(kp_str *to, const kp_str *from) {
    if (from->length != 0)
        kp_str_add(to, from->data, from->length);
    to->failed = to->failed || from->failed;
}

// The id of an instruction among words that has these operands behind it; 0: there is none.
static uint32_t find_in(const uint32_t *words, size_t count, SpvOp op, uint32_t a, uint32_t b) {
    for (size_t at = 0; at < count; at += kp_rewrite_length(words[at])) {
        if (kp_rewrite_op(words[at]) == op && words[at + 2] == a && words[at + 3] == b)
            return words[at + 1];
    }
    return 0;
}

static uint32_t find_global(kp_rewrite *r, SpvOp op, uint32_t a, uint32_t b) {
    const kp_reflect_module *m = &r->module;
    uint32_t found = find_in(m->words + KP_REWRITE_HEADER, m->function_at - KP_REWRITE_HEADER, op, a, b);
    if (found == 0)
        found = find_in((const uint32_t *)(const void *)r->globals.data, r->globals.length / 4, op, a, b);
    if (found != 0)
        return found;
    KP_REWRITE_PUT(&r->globals, op, r->next, a, b);
    return r->next++;
}

// Asked for at every step, and a module has many words in front of its types: a decoration for each sum.
uint32_t kp_rewrite_global(kp_rewrite *r, SpvOp op, uint32_t a, uint32_t b) {
    uint32_t at = ((uint32_t)op * 29 + a * 5 + b) % KP_REWRITE_FOUND;
    if (r->found[at].id == 0 || r->found[at].op != op || r->found[at].a != a || r->found[at].b != b) {
        r->found[at].id = find_global(r, op, a, b);
        r->found[at].op = op;
        r->found[at].a = a;
        r->found[at].b = b;
    }
    return r->found[at].id;
}

static void read_and_change(kp_rewrite *r, void (*change)(kp_rewrite *r, kp_str *to), const uint32_t *words,
                            size_t word_count, kp_str *to) {
    kp_reflect_module_read(&r->module, words, word_count * sizeof *words);
    r->next = r->module.words[KP_REWRITE_BOUND];
    change(r, to);
}

kp_result kp_rewrite_apply(kp_rewrite *r, const char *label, void (*change)(kp_rewrite *r, kp_str *to),
                           const uint32_t *words, size_t word_count, uint32_t **out, size_t *out_count) {
    r->module.label = label;
    r->module.keep = r->module.scratch = &r->arena;
    if (setjmp(r->module.escape) == 0)
        read_and_change(r, change, words, word_count, &r->whole);
    kp_result result = r->module.result;
    size_t length = r->whole.length;
    if (result == KP_OK && (r->whole.failed || r->annotations.failed || r->globals.failed || r->body.failed))
        result = kp_error_host_memory(word_count * sizeof *words);
    if (result == KP_OK) {
        *out = length != 0 ? (uint32_t *)(void *)kp_str_take(&r->whole) : NULL;
        *out_count = length / sizeof *words;
    }
    kp_str_free(&r->whole);
    kp_str_free(&r->annotations);
    kp_str_free(&r->globals);
    kp_str_free(&r->body);
    kp_arena_free(&r->arena);
    return result;
}
