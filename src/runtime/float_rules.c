// See float_rules.h. What is added goes behind the last instruction of its kind: a capability, the extension that older
// SPIR-V needs, and an execution mode for each entry point and width.
#include "float_rules.h"

#include "base/alloc.h"
#include "rewrite.h"

#include <string.h>

enum {
    CAPABILITY_WORDS = 2,
    EXTENSION_WORDS = 7,
    MODE_WORDS = 4,
    WIDTHS = 3, // 16, 32, 64
};

static const char extension[(EXTENSION_WORDS - 1) * 4] = "SPV_KHR_float_controls";

// Where things are, in words.
typedef struct places {
    size_t capabilities, extensions, entries; // behind the last one of each; extensions: 0 where there is none
    size_t entry_count;
    uint32_t widths; // of its floats, as a sum
    bool has_capability;
} places;

// The module was read before: its instructions end where it ends.
static places find(const uint32_t *words, size_t count) {
    places p = {0};
    for (size_t at = KP_REWRITE_HEADER; at < count && kp_rewrite_op(words[at]) != SpvOpFunction;
         at += kp_rewrite_length(words[at])) {
        size_t end = at + kp_rewrite_length(words[at]);
        if (kp_rewrite_op(words[at]) == SpvOpCapability) {
            p.capabilities = end;
            p.has_capability = p.has_capability || words[at + 1] == SpvCapabilitySignedZeroInfNanPreserve;
        } else if (kp_rewrite_op(words[at]) == SpvOpExtension) {
            p.extensions = end;
        } else if (kp_rewrite_op(words[at]) == SpvOpEntryPoint) {
            p.entries = end;
            p.entry_count++;
        } else if (kp_rewrite_op(words[at]) == SpvOpTypeFloat) {
            p.widths |= words[at + 2];
        }
    }
    return p;
}

typedef struct writer {
    const uint32_t *from;
    size_t read; // words of it that are copied
    uint32_t *to;
    size_t count;
} writer;

static void copy_until(writer *w, size_t end) {
    memcpy(w->to + w->count, w->from + w->read, (end - w->read) * sizeof *w->to);
    w->count += end - w->read;
    w->read = end;
}

static void put(writer *w, uint32_t word) { w->to[w->count++] = word; }

static void put_extension(writer *w) {
    put(w, EXTENSION_WORDS << SpvWordCountShift | SpvOpExtension);
    memcpy(w->to + w->count, extension, sizeof extension);
    w->count += sizeof extension / 4;
}

static void put_modes(writer *w, uint32_t widths) {
    for (size_t at = KP_REWRITE_HEADER; at < w->read; at += kp_rewrite_length(w->from[at])) {
        if (kp_rewrite_op(w->from[at]) != SpvOpEntryPoint)
            continue;
        for (uint32_t width = 16; width <= 64; width *= 2) {
            if ((widths & width) == 0)
                continue;
            put(w, MODE_WORDS << SpvWordCountShift | SpvOpExecutionMode);
            put(w, w->from[at + 2]);
            put(w, SpvExecutionModeSignedZeroInfNanPreserve);
            put(w, width);
        }
    }
}

kp_result kp_float_rules_apply(const uint32_t *words, size_t word_count, uint32_t widths, uint32_t **out,
                               size_t *out_count) {
    const places p = find(words, word_count);
    size_t most = word_count + CAPABILITY_WORDS + EXTENSION_WORDS + WIDTHS * MODE_WORDS * p.entry_count;
    writer w = {.from = words, .to = kp_alloc_new(most * sizeof *words)};
    if (w.to == NULL)
        return kp_error_host_memory(most * sizeof *words);
    if (!p.has_capability && (p.widths & widths) != 0) {
        copy_until(&w, p.capabilities);
        put(&w, CAPABILITY_WORDS << SpvWordCountShift | SpvOpCapability);
        put(&w, SpvCapabilitySignedZeroInfNanPreserve);
        if (p.extensions != 0)
            copy_until(&w, p.extensions);
        if (words[1] < KP_REWRITE_SPIRV_1_4)
            put_extension(&w);
        copy_until(&w, p.entries);
        put_modes(&w, p.widths & widths);
    }
    copy_until(&w, word_count);
    *out = w.to;
    *out_count = w.count;
    return KP_OK;
}
