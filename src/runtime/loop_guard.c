// See loop_guard.h. Each entry point's function becomes an ordinary one, and a new function takes its place, which
// calls it and runs the loop. What the loop found is a number that went through memory, so that no compiler can work it
// out:
//
//     kernel()
//     p = 0
//     while p < guard.rounds: p += 1
//     if p != guard.again: guard.cut = 1
#include "loop_guard.h"

#include "base/alloc.h"
#include "rewrite.h"

#include <string.h>

enum {
    SHARED_WORDS = 96, // at most, that all entry points share
    ENTRY_WORDS = 128, // at most, for each entry point
    SPIRV_1_3 = 0x00010300,
};

typedef struct entry {
    uint32_t function, type, result; // the function that it names, its types
    uint32_t guard;                  // the function that it gets
} entry;

typedef struct writer {
    const uint32_t *from; // the module
    size_t from_count;
    uint32_t *to; // its copy
    size_t count;
    uint32_t bound; // the next id
    entry *entries;
    size_t entry_count;
    size_t decorate_at, declare_at; // where decorations go; where types and the buffer go
    bool old;                       // before SPIR-V 1.3: storage buffers are uniform blocks of a kind
    uint32_t type_u32, type_bool;   // 0: not there
    uint32_t block, buffer, pointer, constants[3];
} writer;

static void put(writer *w, SpvOp op, const uint32_t *operands, uint32_t count) {
    w->to[w->count++] = (count + 1) << SpvWordCountShift | (uint32_t)op;
    memcpy(w->to + w->count, operands, count * sizeof *operands);
    w->count += count;
}

#define PUT(w, op, ...) \
    put((w), (op), (const uint32_t[]){__VA_ARGS__}, sizeof(const uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

static uint32_t id(writer *w) { return w->bound++; }

static uint32_t make(writer *w, SpvOp op, uint32_t type, uint32_t a, uint32_t b) {
    uint32_t result = id(w);
    PUT(w, op, type, result, a, b);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------------------------------

static entry *entry_of(const writer *w, uint32_t function) {
    for (size_t i = 0; i < w->entry_count; i++) {
        if (w->entries[i].function == function)
            return &w->entries[i];
    }
    return NULL;
}

// What comes before the first type, constant or variable: annotations go behind it.
static bool is_head(SpvOp op) {
    switch (op) {
    case SpvOpCapability:
    case SpvOpExtension:
    case SpvOpExtInstImport:
    case SpvOpMemoryModel:
    case SpvOpEntryPoint:
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
    case SpvOpString:
    case SpvOpSourceExtension:
    case SpvOpSource:
    case SpvOpSourceContinued:
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpModuleProcessed:
    case SpvOpDecorate:
    case SpvOpMemberDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
    case SpvOpMemberDecorateString:
    case SpvOpDecorationGroup:
    case SpvOpGroupDecorate:
    case SpvOpGroupMemberDecorate:
    case SpvOpNop:
        return true;
    default:
        return false;
    }
}

static void read_one(writer *w, size_t at, uint32_t length) {
    const uint32_t *i = w->from + at;
    SpvOp op = kp_rewrite_op(i[0]);
    if (w->decorate_at == 0 && !is_head(op))
        w->decorate_at = at;
    if (w->declare_at == 0 && op == SpvOpFunction)
        w->declare_at = at;
    if (op == SpvOpEntryPoint && length > 3 && i[1] == SpvExecutionModelGLCompute && entry_of(w, i[2]) == NULL)
        w->entries[w->entry_count++].function = i[2];
    if (op == SpvOpTypeInt && length == 4 && i[2] == 32 && i[3] == 0 && w->type_u32 == 0)
        w->type_u32 = i[1];
    if (op == SpvOpTypeBool && length == 2 && w->type_bool == 0)
        w->type_bool = i[1];
    if (op == SpvOpFunction && length == 5) {
        entry *e = entry_of(w, i[2]);
        if (e != NULL) {
            e->result = i[1];
            e->type = i[4];
        }
    }
}

// False when an entry point's function is not there.
static bool read_module(writer *w) {
    for (size_t at = KP_REWRITE_HEADER; at < w->from_count; at += kp_rewrite_length(w->from[at]))
        read_one(w, at, kp_rewrite_length(w->from[at]));
    for (size_t i = 0; i < w->entry_count; i++) {
        if (w->entries[i].result == 0)
            return false;
    }
    return w->entry_count != 0 && w->decorate_at != 0 && w->declare_at != 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------------------------------

static void reserve_ids(writer *w) {
    w->block = id(w);
    w->buffer = id(w);
    w->pointer = id(w);
    for (size_t i = 0; i < w->entry_count; i++)
        w->entries[i].guard = id(w);
}

static void put_decorations(writer *w, uint32_t set, uint32_t binding) {
    PUT(w, SpvOpDecorate, w->block, w->old ? SpvDecorationBufferBlock : SpvDecorationBlock);
    for (uint32_t member = 0; member < 3; member++)
        PUT(w, SpvOpMemberDecorate, w->block, member, SpvDecorationOffset, 4 * member);
    PUT(w, SpvOpDecorate, w->buffer, SpvDecorationDescriptorSet, set);
    PUT(w, SpvOpDecorate, w->buffer, SpvDecorationBinding, binding);
}

static void put_declarations(writer *w) {
    uint32_t storage = w->old ? SpvStorageClassUniform : SpvStorageClassStorageBuffer, block_pointer = id(w);
    if (w->type_u32 == 0) {
        w->type_u32 = id(w);
        PUT(w, SpvOpTypeInt, w->type_u32, 32, 0);
    }
    if (w->type_bool == 0) {
        w->type_bool = id(w);
        PUT(w, SpvOpTypeBool, w->type_bool);
    }
    PUT(w, SpvOpTypeStruct, w->block, w->type_u32, w->type_u32, w->type_u32);
    PUT(w, SpvOpTypePointer, block_pointer, storage, w->block);
    PUT(w, SpvOpTypePointer, w->pointer, storage, w->type_u32);
    for (uint32_t i = 0; i < 3; i++) {
        w->constants[i] = id(w);
        PUT(w, SpvOpConstant, w->type_u32, w->constants[i], i);
    }
    PUT(w, SpvOpVariable, block_pointer, w->buffer, storage);
}

static uint32_t member(writer *w, uint32_t index) {
    return make(w, SpvOpAccessChain, w->pointer, w->buffer, w->constants[index]);
}

static uint32_t load(writer *w, uint32_t index) {
    uint32_t pointer = member(w, index), result = id(w);
    PUT(w, SpvOpLoad, w->type_u32, result, pointer);
    return result;
}

static void label(writer *w, uint32_t block) { PUT(w, SpvOpLabel, block); }
static void branch(writer *w, uint32_t block) { PUT(w, SpvOpBranch, block); }

static void put_guard(writer *w, const entry *e) {
    uint32_t start = id(w), header = id(w), head = id(w), body = id(w), merge = id(w), cut = id(w), end = id(w);
    uint32_t call = id(w), turn = id(w), next = id(w);
    PUT(w, SpvOpFunction, e->result, e->guard, SpvFunctionControlMaskNone, e->type);
    label(w, start);
    PUT(w, SpvOpFunctionCall, e->result, call, e->function);
    uint32_t rounds = load(w, 0);
    branch(w, header);
    label(w, header);
    PUT(w, SpvOpPhi, w->type_u32, turn, w->constants[0], start, next, body);
    PUT(w, SpvOpLoopMerge, merge, body, SpvLoopControlMaskNone);
    branch(w, head);
    label(w, head);
    uint32_t goes_on = make(w, SpvOpULessThan, w->type_bool, turn, rounds);
    PUT(w, SpvOpBranchConditional, goes_on, body, merge);
    label(w, body);
    PUT(w, SpvOpIAdd, w->type_u32, next, turn, w->constants[1]);
    branch(w, header);
    label(w, merge);
    uint32_t was_cut = make(w, SpvOpINotEqual, w->type_bool, turn, load(w, 1));
    PUT(w, SpvOpSelectionMerge, end, SpvSelectionControlMaskNone);
    PUT(w, SpvOpBranchConditional, was_cut, cut, end);
    label(w, cut);
    uint32_t flag = member(w, 2);
    PUT(w, SpvOpStore, flag, w->constants[1]);
    branch(w, end);
    label(w, end);
    w->to[w->count++] = 1u << SpvWordCountShift | SpvOpReturn;
    w->to[w->count++] = 1u << SpvWordCountShift | SpvOpFunctionEnd;
}

static void copy_one(writer *w, size_t at, uint32_t length) {
    uint32_t *to = w->to + w->count;
    memcpy(to, w->from + at, length * sizeof *to);
    w->count += length;
    SpvOp op = kp_rewrite_op(to[0]);
    if (op == SpvOpEntryPoint && length > 3) {
        const entry *e = entry_of(w, to[2]);
        if (e == NULL)
            return;
        to[2] = e->guard;
        if (w->from[1] >= KP_REWRITE_SPIRV_1_4) { // since then it lists all the variables that it uses
            to[0] += 1u << SpvWordCountShift;
            w->to[w->count++] = w->buffer;
        }
    } else if ((op == SpvOpExecutionMode || op == SpvOpExecutionModeId) && length > 2) {
        const entry *e = entry_of(w, to[1]);
        to[1] = e != NULL ? e->guard : to[1];
    }
}

static void write_module(writer *w, uint32_t set, uint32_t binding) {
    reserve_ids(w);
    memcpy(w->to, w->from, KP_REWRITE_HEADER * sizeof *w->to);
    w->count = KP_REWRITE_HEADER;
    for (size_t at = KP_REWRITE_HEADER; at < w->from_count; at += kp_rewrite_length(w->from[at])) {
        if (at == w->decorate_at)
            put_decorations(w, set, binding);
        if (at == w->declare_at)
            put_declarations(w);
        copy_one(w, at, kp_rewrite_length(w->from[at]));
    }
    for (size_t i = 0; i < w->entry_count; i++)
        put_guard(w, &w->entries[i]);
    w->to[3] = w->bound;
}

static size_t count_entries(const uint32_t *words, size_t word_count) {
    size_t count = 0;
    for (size_t at = KP_REWRITE_HEADER; at < word_count; at += kp_rewrite_length(words[at]))
        count += kp_rewrite_op(words[at]) == SpvOpEntryPoint;
    return count;
}

kp_result kp_loop_guard_apply(const uint32_t *words, size_t word_count, uint32_t set, uint32_t binding, uint32_t **out,
                              size_t *out_count) {
    writer w = {.from = words, .from_count = word_count, .bound = words[3], .old = words[1] < SPIRV_1_3};
    size_t entries = count_entries(words, word_count);
    size_t room = word_count + SHARED_WORDS + entries * ENTRY_WORDS;
    w.entries = kp_alloc_zero(entries, sizeof *w.entries);
    w.to = kp_alloc_zero(room, sizeof *w.to);
    kp_result result = KP_OK;
    if (w.entries == NULL || w.to == NULL)
        result = kp_error_host_memory(room * sizeof *w.to);
    else if (!read_module(&w))
        result = kp_error_set(KP_ERROR_SPIRV, "the module has no compute entry point with a function");
    if (result == KP_OK)
        write_module(&w, set, binding);
    kp_alloc_free(w.entries);
    if (result != KP_OK) {
        kp_alloc_free(w.to);
        return result;
    }
    *out = w.to;
    *out_count = w.count;
    return KP_OK;
}
