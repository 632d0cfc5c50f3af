// See reflect_module.h. Passes: bytes to words in host order; lengths, and how many ids are defined; ids into rows,
// with sorted keys to find them; decorations, names and execution modes into the rows.
//
// Ids are found by bisection, not through a table of the header's bound: a bound can claim four billion ids in twenty
// bytes.
#define SPV_ENABLE_UTILITY_CODE // SpvHasResultAndType
#include "reflect_module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void SpvHasResultAndType(SpvOp opcode, bool *has_result,
                                bool *has_type); // makes the header's inline function linkable

enum { HEADER_WORDS = 5, LARGEST = 256 * 1024 * 1024 };

void kp_reflect_module_fail(kp_reflect_module *m, kp_result result, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    m->result = kp_error_set(result, "%s: %s", m->label, text);
    longjmp(m->escape, 1);
}

void *kp_reflect_module_alloc(kp_reflect_module *m, kp_arena *arena, size_t count, size_t size) {
    void *block = size != 0 && count > SIZE_MAX / size ? NULL : kp_arena_new(arena, count * size);
    if (block == NULL) {
        m->result = kp_error_host_memory(count * size);
        longjmp(m->escape, 1);
    }
    return block;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes to words
// ---------------------------------------------------------------------------------------------------------------------

// Does it open as text does: only printable characters (or parts of UTF-8) and white space?
static bool looks_like_text(const unsigned char *bytes, size_t size) {
    size_t n = size < 64 ? size : 64;
    if (n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        return true;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = bytes[i];
        bool white = c == '\t' || c == '\n' || c == '\r' || c == '\f';
        if (!white && (c < 0x20 || c == 0x7F))
            return i != 0 && i + 1 == n && c == 0; // a C string with its end
    }
    return true;
}

static uint32_t swapped(uint32_t w) { return w << 24 | (w & 0xFF00u) << 8 | (w >> 8 & 0xFF00u) | w >> 24; }

static void check_bytes(kp_reflect_module *m, const void *bytes, size_t size) {
    if (size == 0)
        kp_reflect_module_fail(m, KP_ERROR_SPIRV, "the module is empty");
    uint32_t magic = 0;
    memcpy(&magic, bytes, size < 4 ? size : 4);
    bool spirv = magic == SpvMagicNumber || magic == swapped(SpvMagicNumber);
    if (!spirv && looks_like_text(bytes, size))
        kp_reflect_module_fail(m, KP_ERROR_SPIRV, "this is text, not SPIR-V: use kp_shader_compile");
    if (!spirv)
        kp_reflect_module_fail(m, KP_ERROR_SPIRV, "not SPIR-V: it starts with 0x%08X, not 0x%08X", (unsigned)magic,
                               (unsigned)SpvMagicNumber);
    if (size % 4 != 0)
        kp_reflect_module_fail(m, KP_ERROR_SPIRV, "%zu bytes, which is not a multiple of 4", size);
    if (size < HEADER_WORDS * 4)
        kp_reflect_module_fail(m, KP_ERROR_SPIRV, "cut short: %zu bytes, the header alone has %d", size,
                               HEADER_WORDS * 4);
    if (size > LARGEST)
        kp_reflect_module_fail(m, KP_ERROR_SPIRV, "%zu bytes, the most is %d", size, LARGEST);
}

static void copy_words(kp_reflect_module *m, const void *bytes, size_t size) {
    m->words = kp_reflect_module_alloc(m, m->keep, size, 1);
    m->word_count = (uint32_t)(size / 4);
    memcpy(m->words, bytes, size);
    if (m->words[0] == SpvMagicNumber)
        return;
    for (uint32_t i = 0; i < m->word_count; i++)
        m->words[i] = swapped(m->words[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Instructions
// ---------------------------------------------------------------------------------------------------------------------

kp_reflect_instruction kp_reflect_module_at(const kp_reflect_module *m, uint32_t at) {
    const uint32_t *words = m->words + at;
    return (kp_reflect_instruction){words, words[0] >> SpvWordCountShift, at, (SpvOp)(words[0] & SpvOpCodeMask)};
}

bool kp_reflect_module_next(const kp_reflect_module *m, uint32_t *at, kp_reflect_instruction *out) {
    if (*at >= m->word_count)
        return false;
    *out = kp_reflect_module_at(m, *at);
    *at += out->count;
    return true;
}

// Which operand is the result id (0: none).
static uint32_t result_operand(SpvOp op) {
    bool has_result, has_type;
    SpvHasResultAndType(op, &has_result, &has_type);
    return !has_result ? 0 : has_type ? 2 : 1;
}

// Makes sure that the instructions tile the words; counts ids and struct members, and finds the first function.
static void check_instructions(kp_reflect_module *m, size_t *member_count) {
    m->function_at = m->word_count;
    *member_count = 0;
    for (uint32_t at = HEADER_WORDS; at < m->word_count;) {
        kp_reflect_instruction i = kp_reflect_module_at(m, at);
        if (i.count == 0)
            kp_reflect_module_fail(m, KP_ERROR_SPIRV, "the instruction at word %u has no length", (unsigned)at);
        if (i.count > m->word_count - at)
            kp_reflect_module_fail(m, KP_ERROR_SPIRV, "cut short: the instruction at word %u has %u words, %u are left",
                                   (unsigned)at, (unsigned)i.count, (unsigned)(m->word_count - at));
        uint32_t result = result_operand(i.op);
        if (result >= i.count)
            kp_reflect_module_fail(m, KP_ERROR_SPIRV, "the instruction at word %u is too short", (unsigned)at);
        m->def_count += result != 0;
        *member_count += i.op == SpvOpTypeStruct ? i.count : 0;
        if (i.op == SpvOpFunction && m->function_at == m->word_count)
            m->function_at = at;
        at += i.count;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Ids
// ---------------------------------------------------------------------------------------------------------------------

static int by_id(const void *a, const void *b) {
    uint32_t x = ((const kp_reflect_key *)a)->id, y = ((const kp_reflect_key *)b)->id;
    return x < y ? -1 : x > y;
}

static void collect_defs(kp_reflect_module *m) {
    uint32_t row = 0, member = 0, bound = m->words[3];
    kp_reflect_instruction i;
    for (uint32_t at = HEADER_WORDS; kp_reflect_module_next(m, &at, &i);) {
        uint32_t result = result_operand(i.op);
        if (result == 0)
            continue;
        uint32_t id = i.words[result];
        if (id == 0 || id >= bound)
            kp_reflect_module_fail(m, KP_ERROR_SPIRV, "id %u at word %u is not below the module's bound, %u",
                                   (unsigned)id, (unsigned)i.at, (unsigned)bound);
        const uint32_t none = KP_REFLECT_NONE;
        m->keys[row] = (kp_reflect_key){id, row};
        m->defs[row++] = (kp_reflect_def){.id = id,
                                          .at = i.at,
                                          .name_at = none,
                                          .members = member,
                                          .local_at = none,
                                          .set = none,
                                          .binding = none,
                                          .spec = none,
                                          .stride = none,
                                          .builtin = none};
        member += i.op == SpvOpTypeStruct ? i.count : 0;
        m->global_count += i.at < m->function_at;
    }
    qsort(m->keys, m->def_count, sizeof *m->keys, by_id);
    for (uint32_t k = 1; k < m->def_count; k++) {
        if (m->keys[k].id == m->keys[k - 1].id)
            kp_reflect_module_fail(m, KP_ERROR_SPIRV, "id %u is defined twice", (unsigned)m->keys[k].id);
    }
}

uint32_t kp_reflect_module_find(const kp_reflect_module *m, uint32_t id) {
    uint32_t low = 0, high = m->def_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->keys[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->def_count && m->keys[low].id == id ? m->keys[low].row : KP_REFLECT_NONE;
}

kp_reflect_instruction kp_reflect_module_def(const kp_reflect_module *m, uint32_t row) {
    return kp_reflect_module_at(m, m->defs[row].at);
}

uint32_t kp_reflect_module_type(const kp_reflect_module *m, uint32_t row) {
    kp_reflect_instruction i = kp_reflect_module_def(m, row);
    if (result_operand(i.op) != 2)
        return KP_REFLECT_NONE;
    uint32_t type = kp_reflect_module_find(m, i.words[1]);
    return type < row ? type : KP_REFLECT_NONE;
}

// ---------------------------------------------------------------------------------------------------------------------
// Decorations, names, execution modes
// ---------------------------------------------------------------------------------------------------------------------

// i is OpDecorate: target, decoration, literals.
static void decorate(kp_reflect_def *def, const kp_reflect_instruction *i) {
    uint32_t literal = kp_reflect_operand(i, 3);
    bool given = i->count > 3;
    switch (kp_reflect_operand(i, 2)) {
    case SpvDecorationDescriptorSet:
        def->set = given ? literal : def->set;
        break;
    case SpvDecorationBinding:
        def->binding = given ? literal : def->binding;
        break;
    case SpvDecorationSpecId:
        def->spec = given ? literal : def->spec;
        break;
    case SpvDecorationArrayStride:
        def->stride = given ? literal : def->stride;
        break;
    case SpvDecorationBuiltIn:
        def->builtin = given ? literal : def->builtin;
        break;
    case SpvDecorationBlock:
        def->block = true;
        break;
    case SpvDecorationBufferBlock:
        def->buffer_block = true;
        break;
    case SpvDecorationNonWritable:
        def->non_writable = true;
        break;
    case SpvDecorationNonReadable:
        def->non_readable = true;
        break;
    }
}

// Adds what the decoration group has to the target. The group's own decorations stand before it in the module.
static void decorate_from(kp_reflect_def *def, const kp_reflect_def *group) {
    const uint32_t none = KP_REFLECT_NONE;
    def->set = group->set != none ? group->set : def->set;
    def->binding = group->binding != none ? group->binding : def->binding;
    def->spec = group->spec != none ? group->spec : def->spec;
    def->stride = group->stride != none ? group->stride : def->stride;
    def->builtin = group->builtin != none ? group->builtin : def->builtin;
    def->block |= group->block;
    def->buffer_block |= group->buffer_block;
    def->non_writable |= group->non_writable;
    def->non_readable |= group->non_readable;
}

static kp_reflect_def *target(const kp_reflect_module *m, uint32_t id) {
    uint32_t row = kp_reflect_module_find(m, id);
    return row != KP_REFLECT_NONE ? &m->defs[row] : NULL;
}

static kp_reflect_member *target_member(const kp_reflect_module *m, uint32_t id, uint32_t index) {
    uint32_t row = kp_reflect_module_find(m, id);
    if (row == KP_REFLECT_NONE)
        return NULL;
    kp_reflect_instruction i = kp_reflect_module_def(m, row);
    return i.op == SpvOpTypeStruct && index < i.count - 2 ? &m->members[m->defs[row].members + index] : NULL;
}

// i is OpMemberDecorate: type, member, decoration, literals.
static void decorate_member(kp_reflect_member *member, const kp_reflect_instruction *i) {
    uint32_t literal = kp_reflect_operand(i, 4);
    switch (kp_reflect_operand(i, 3)) {
    case SpvDecorationOffset:
        member->offset = i->count > 4 ? literal : member->offset;
        break;
    case SpvDecorationMatrixStride:
        member->matrix_stride = i->count > 4 ? literal : member->matrix_stride;
        break;
    case SpvDecorationRowMajor:
        member->row_major = true;
        break;
    case SpvDecorationNonWritable:
        member->non_writable = true;
        break;
    case SpvDecorationNonReadable:
        member->non_readable = true;
        break;
    }
}

static void apply_group(kp_reflect_module *m, const kp_reflect_instruction *i) {
    const kp_reflect_def *group = target(m, kp_reflect_operand(i, 1));
    for (uint32_t k = 2; k < i->count && group != NULL; k++) {
        kp_reflect_def *def = target(m, i->words[k]);
        if (def != NULL)
            decorate_from(def, group);
    }
}

static void apply_member_group(kp_reflect_module *m, const kp_reflect_instruction *i) {
    const kp_reflect_def *group = target(m, kp_reflect_operand(i, 1));
    for (uint32_t k = 2; k + 1 < i->count && group != NULL; k += 2) {
        kp_reflect_member *member = target_member(m, i->words[k], i->words[k + 1]);
        if (member == NULL)
            continue;
        member->non_writable |= group->non_writable;
        member->non_readable |= group->non_readable;
    }
}

static void annotate(kp_reflect_module *m, const kp_reflect_instruction *i) {
    kp_reflect_def *def = target(m, kp_reflect_operand(i, 1));
    switch (i->op) {
    case SpvOpName:
        if (def != NULL && i->count > 2)
            def->name_at = i->at;
        break;
    case SpvOpDecorate:
        if (def != NULL)
            decorate(def, i);
        break;
    case SpvOpMemberName: {
        kp_reflect_member *member = target_member(m, kp_reflect_operand(i, 1), kp_reflect_operand(i, 2));
        if (member != NULL)
            member->name_at = i->at;
        break;
    }
    case SpvOpMemberDecorate: {
        kp_reflect_member *member = target_member(m, kp_reflect_operand(i, 1), kp_reflect_operand(i, 2));
        if (member != NULL)
            decorate_member(member, i);
        break;
    }
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId: {
        uint32_t mode = kp_reflect_operand(i, 2);
        if (def != NULL && (mode == SpvExecutionModeLocalSize || mode == SpvExecutionModeLocalSizeId))
            def->local_at = i->at;
        break;
    }
    case SpvOpGroupDecorate:
        apply_group(m, i);
        break;
    case SpvOpGroupMemberDecorate:
        apply_member_group(m, i);
        break;
    default:
        break;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it
// ---------------------------------------------------------------------------------------------------------------------

void kp_reflect_module_read(kp_reflect_module *m, const void *bytes, size_t size) {
    check_bytes(m, bytes, size);
    copy_words(m, bytes, size);
    size_t member_count;
    check_instructions(m, &member_count);
    m->defs = kp_reflect_module_alloc(m, m->keep, m->def_count, sizeof *m->defs);
    m->keys = kp_reflect_module_alloc(m, m->keep, m->def_count, sizeof *m->keys);
    m->members = kp_reflect_module_alloc(m, m->keep, member_count, sizeof *m->members);
    for (size_t k = 0; k < member_count; k++)
        m->members[k] = (kp_reflect_member){
            .offset = KP_REFLECT_NONE, .matrix_stride = KP_REFLECT_NONE, .name_at = KP_REFLECT_NONE};
    collect_defs(m);
    kp_reflect_instruction i;
    for (uint32_t at = HEADER_WORDS; at < m->function_at && kp_reflect_module_next(m, &at, &i);)
        annotate(m, &i);
}

const char *kp_reflect_module_text(kp_reflect_module *m, const kp_reflect_instruction *i, uint32_t first) {
    size_t space = first < i->count ? (size_t)(i->count - first) * 4 : 0;
    char *text = kp_reflect_module_alloc(m, m->keep, space + 1, 1);
    for (size_t k = 0; k < space; k++) {
        text[k] = (char)(i->words[first + k / 4] >> 8 * (k % 4) & 0xFFu);
        if (text[k] == '\0')
            return text;
    }
    kp_reflect_module_fail(m, KP_ERROR_SPIRV, "the text at word %u has no end", (unsigned)i->at);
}

const char *kp_reflect_module_name(kp_reflect_module *m, uint32_t row) {
    if (m->defs[row].name_at == KP_REFLECT_NONE)
        return NULL;
    kp_reflect_instruction i = kp_reflect_module_at(m, m->defs[row].name_at);
    const char *name = kp_reflect_module_text(m, &i, 2);
    return name[0] != '\0' ? name : NULL;
}

const char *kp_reflect_module_member_name(kp_reflect_module *m, uint32_t row, uint32_t member) {
    uint32_t at = m->members[m->defs[row].members + member].name_at;
    if (at == KP_REFLECT_NONE)
        return NULL;
    kp_reflect_instruction i = kp_reflect_module_at(m, at);
    const char *name = kp_reflect_module_text(m, &i, 3);
    return name[0] != '\0' ? name : NULL;
}
