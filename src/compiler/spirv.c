// See spirv.h. Sections are growing word buffers in the arena; functions, which are most of a module, are lists of
// pieces that are written once. Types and constants are found again through a hash table over the words of their
// instructions, so asking twice gives one id.
#include "spirv.h"

#include <string.h>

enum { FIRST_WORDS = 64, LARGEST_PIECE = 16 * 1024, FIRST_UNIQUE = 128, VERSION_1_3 = 0x00010300, GENERATOR = 0 };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

// ---------------------------------------------------------------------------------------------------------------------
// Words
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t *reserve(kp_spirv *s, kp_spirv_words *words, uint32_t count) {
    if (words->count + count > words->capacity) {
        uint32_t capacity = words->capacity == 0 ? FIRST_WORDS : words->capacity * 2;
        while (capacity < words->count + count)
            capacity *= 2;
        uint32_t *data = kp_arena_new(s->arena, capacity * sizeof *data);
        if (words->count != 0)
            memcpy(data, words->data, words->count * sizeof *data);
        words->data = data;
        words->capacity = capacity;
    }
    words->count += count;
    return words->data + words->count - count;
}

static void put_all(uint32_t *to, const uint32_t *from, uint32_t count) {
    if (count != 0)
        memcpy(to, from, count * sizeof *to);
}

// The first words of an instruction that has `count` words in all; the rest are for the caller to fill in.
static uint32_t *start(kp_spirv *s, kp_spirv_words *words, SpvOp op, uint32_t count) {
    uint32_t *w = reserve(s, words, count);
    w[0] = count << SpvWordCountShift | (uint32_t)op;
    return w + 1;
}

static kp_spirv_piece *new_piece(kp_spirv *s, uint32_t *data, uint32_t capacity) {
    kp_spirv_piece *piece = kp_arena_new(s->arena, sizeof *piece);
    *piece = (kp_spirv_piece){.data = data, .capacity = capacity};
    return piece;
}

// Pieces double up to 64 KiB.
static void lengthen_body(kp_spirv *s, uint32_t count) {
    uint32_t capacity = s->body_end->capacity * 2;
    if (capacity > LARGEST_PIECE)
        capacity = LARGEST_PIECE;
    if (capacity < count)
        capacity = count;
    s->body_end->next = new_piece(s, kp_arena_raw(s->arena, capacity * sizeof(uint32_t)), capacity);
    s->body_end = s->body_end->next;
}

// As start, for an instruction of the current function's body.
static uint32_t *code(kp_spirv *s, SpvOp op, uint32_t count) {
    if (count > s->body_end->capacity - s->body_end->count)
        lengthen_body(s, count);
    uint32_t *w = s->body_end->data + s->body_end->count;
    s->body_end->count += count;
    w[0] = count << SpvWordCountShift | (uint32_t)op;
    return w + 1;
}

static uint32_t text_words(uint32_t length) { return length / 4 + 1; }

static void put_text(uint32_t *to, const char *text, uint32_t length) {
    for (uint32_t i = 0; i < text_words(length); i++) {
        to[i] = 0;
        for (uint32_t k = 0; k < 4 && i * 4 + k < length; k++)
            to[i] |= (uint32_t)(unsigned char)text[i * 4 + k] << (8 * k); // little end first, on any machine
    }
}

void kp_spirv_setup(kp_spirv *s, kp_arena *arena, bool debug) {
    *s = (kp_spirv){.arena = arena, .debug = debug, .bound = 1};
}

uint32_t kp_spirv_id(kp_spirv *s) { return s->bound++; }

// Words behind those before them; `words` NULL counts alone.
typedef struct writer {
    uint32_t *words;
    size_t count;
} writer;

static void put(writer *w, const uint32_t *words, uint32_t count) {
    if (w->words != NULL)
        put_all(w->words + w->count, words, count);
    w->count += count;
}

size_t kp_spirv_write(const kp_spirv *s, uint32_t *words) {
    const uint32_t header[] = {SpvMagicNumber, VERSION_1_3, GENERATOR, s->bound, 0};
    const uint32_t memory_model[] = {3 << SpvWordCountShift | SpvOpMemoryModel, SpvAddressingModelLogical,
                                     SpvMemoryModelGLSL450};
    const kp_spirv_words *before[] = {&s->capabilities, &s->extensions, &s->imports};
    const kp_spirv_words *behind[] = {&s->entries, &s->modes, &s->strings, &s->names, &s->decorations, &s->globals};
    writer w = {.words = words};
    put(&w, header, COUNT_OF(header));
    for (size_t i = 0; i < COUNT_OF(before); i++)
        put(&w, before[i]->data, before[i]->count);
    put(&w, memory_model, COUNT_OF(memory_model));
    for (size_t i = 0; i < COUNT_OF(behind); i++)
        put(&w, behind[i]->data, behind[i]->count);
    for (const kp_spirv_piece *p = s->functions; p != NULL; p = p->next)
        put(&w, p->data, p->count);
    return w.count;
}

// ---------------------------------------------------------------------------------------------------------------------
// Module level
// ---------------------------------------------------------------------------------------------------------------------

void kp_spirv_capability(kp_spirv *s, SpvCapability capability) {
    for (uint32_t i = 1; i < s->capabilities.count; i += 2) {
        if (s->capabilities.data[i] == (uint32_t)capability)
            return;
    }
    start(s, &s->capabilities, SpvOpCapability, 2)[0] = (uint32_t)capability;
}

void kp_spirv_extension(kp_spirv *s, const char *name) {
    enum { MOST_WORDS = 16 };
    uint32_t text[MOST_WORDS], length = (uint32_t)strlen(name), words = text_words(length);
    put_text(text, name, length);
    for (uint32_t i = 0; i < s->extensions.count; i += s->extensions.data[i] >> SpvWordCountShift) {
        if (memcmp(&s->extensions.data[i + 1], text, words * sizeof *text) == 0)
            return;
    }
    put_all(start(s, &s->extensions, SpvOpExtension, 1 + words), text, words);
}

void kp_spirv_entry(kp_spirv *s, uint32_t function, const char *name, const uint32_t *interface, uint32_t count) {
    uint32_t length = (uint32_t)strlen(name), words = text_words(length);
    uint32_t *w = start(s, &s->entries, SpvOpEntryPoint, 3 + words + count);
    w[0] = SpvExecutionModelGLCompute;
    w[1] = function;
    put_text(w + 2, name, length);
    put_all(w + 2 + words, interface, count);
}

void kp_spirv_mode_local_size(kp_spirv *s, uint32_t function, const uint32_t size[3]) {
    uint32_t *w = start(s, &s->modes, SpvOpExecutionMode, 6);
    w[0] = function;
    w[1] = SpvExecutionModeLocalSize;
    put_all(w + 2, size, 3);
}

// An instruction has at most 65,535 words, and nobody reads a name as long as that.
static uint32_t name_length(const char *name) {
    enum { LONGEST = 1000 };
    return (uint32_t)strnlen(name, LONGEST);
}

void kp_spirv_name(kp_spirv *s, uint32_t id, const char *name) {
    if (!s->debug)
        return;
    uint32_t length = name_length(name);
    uint32_t *w = start(s, &s->names, SpvOpName, 2 + text_words(length));
    w[0] = id;
    put_text(w + 1, name, length);
}

void kp_spirv_member_name(kp_spirv *s, uint32_t id, uint32_t member, const char *name) {
    if (!s->debug)
        return;
    uint32_t length = name_length(name);
    uint32_t *w = start(s, &s->names, SpvOpMemberName, 3 + text_words(length));
    w[0] = id;
    w[1] = member;
    put_text(w + 2, name, length);
}

uint32_t kp_spirv_string(kp_spirv *s, const char *text, uint32_t length) {
    enum { LONGEST = 4096 }; // an instruction has at most 65,535 words
    if (length > LONGEST)
        length = LONGEST;
    uint32_t *w = start(s, &s->strings, SpvOpString, 2 + text_words(length));
    w[0] = kp_spirv_id(s);
    put_text(w + 1, text, length);
    return w[0];
}

void kp_spirv_decorate(kp_spirv *s, uint32_t id, SpvDecoration decoration) {
    uint32_t *w = start(s, &s->decorations, SpvOpDecorate, 3);
    w[0] = id;
    w[1] = (uint32_t)decoration;
}

void kp_spirv_decorate_with(kp_spirv *s, uint32_t id, SpvDecoration decoration, uint32_t value) {
    uint32_t *w = start(s, &s->decorations, SpvOpDecorate, 4);
    w[0] = id;
    w[1] = (uint32_t)decoration;
    w[2] = value;
}

void kp_spirv_member_decorate(kp_spirv *s, uint32_t id, uint32_t member, SpvDecoration decoration) {
    uint32_t *w = start(s, &s->decorations, SpvOpMemberDecorate, 4);
    w[0] = id;
    w[1] = member;
    w[2] = (uint32_t)decoration;
}

void kp_spirv_member_offset(kp_spirv *s, uint32_t id, uint32_t member, uint32_t offset) {
    uint32_t *w = start(s, &s->decorations, SpvOpMemberDecorate, 5);
    w[0] = id;
    w[1] = member;
    w[2] = SpvDecorationOffset;
    w[3] = offset;
}

// ---------------------------------------------------------------------------------------------------------------------
// Types and constants
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t hash_words(uint32_t hash, const uint32_t *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * 0x9E3779B1u;
        hash ^= hash >> 15;
    }
    return hash;
}

static void grow_unique(kp_spirv *s) {
    uint32_t capacity = s->unique_capacity == 0 ? FIRST_UNIQUE : s->unique_capacity * 2;
    kp_spirv_unique *bigger = kp_arena_new(s->arena, capacity * sizeof *bigger);
    for (uint32_t i = 0; i < s->unique_capacity; i++) {
        if (s->unique[i].id == 0)
            continue;
        uint32_t k = s->unique[i].hash & (capacity - 1);
        while (bigger[k].id != 0)
            k = (k + 1) & (capacity - 1);
        bigger[k] = s->unique[i];
    }
    s->unique = bigger;
    s->unique_capacity = capacity;
}

// The instruction `op [type] result operands...`, which is written unless it is there already. type 0: none.
static uint32_t unique(kp_spirv *s, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count, uint32_t salt) {
    uint32_t skip = type != 0 ? 3 : 2; // words before the operands
    uint32_t first = (skip + count) << SpvWordCountShift | (uint32_t)op;
    uint32_t hash = hash_words(hash_words(salt * 31 + first, &type, 1), operands, count);
    if (s->unique_count * 2 >= s->unique_capacity)
        grow_unique(s);
    uint32_t k = hash & (s->unique_capacity - 1);
    for (; s->unique[k].id != 0; k = (k + 1) & (s->unique_capacity - 1)) {
        const uint32_t *w = s->globals.data + s->unique[k].at;
        if (s->unique[k].hash == hash && s->unique[k].salt == salt && w[0] == first && (type == 0 || w[1] == type) &&
            (count == 0 || memcmp(w + skip, operands, count * sizeof *w) == 0))
            return s->unique[k].id;
    }
    uint32_t at = s->globals.count;
    uint32_t *w = start(s, &s->globals, op, skip + count);
    uint32_t id = kp_spirv_id(s);
    if (type != 0)
        *w++ = type;
    *w++ = id;
    put_all(w, operands, count);
    s->unique[k] = (kp_spirv_unique){.hash = hash, .id = id, .at = at, .salt = salt};
    s->unique_count++;
    return id;
}

uint32_t kp_spirv_type_void(kp_spirv *s) { return unique(s, SpvOpTypeVoid, 0, NULL, 0, 0); }
uint32_t kp_spirv_type_bool(kp_spirv *s) { return unique(s, SpvOpTypeBool, 0, NULL, 0, 0); }

uint32_t kp_spirv_type_int(kp_spirv *s, uint32_t width, bool is_signed) {
    return unique(s, SpvOpTypeInt, 0, (uint32_t[]){width, is_signed}, 2, 0);
}

uint32_t kp_spirv_type_float(kp_spirv *s, uint32_t width) { return unique(s, SpvOpTypeFloat, 0, &width, 1, 0); }

uint32_t kp_spirv_type_vector(kp_spirv *s, uint32_t element, uint32_t count) {
    return unique(s, SpvOpTypeVector, 0, (uint32_t[]){element, count}, 2, 0);
}

uint32_t kp_spirv_type_matrix(kp_spirv *s, uint32_t column, uint32_t count) {
    return unique(s, SpvOpTypeMatrix, 0, (uint32_t[]){column, count}, 2, 0);
}

uint32_t kp_spirv_type_array(kp_spirv *s, uint32_t element, uint32_t length, uint32_t stride) {
    uint32_t operands[2] = {element, 0};
    if (length != 0)
        operands[1] = kp_spirv_constant(s, kp_spirv_type_int(s, 32, false), length);
    uint32_t before = s->bound;
    uint32_t id = length != 0 ? unique(s, SpvOpTypeArray, 0, operands, 2, stride)
                              : unique(s, SpvOpTypeRuntimeArray, 0, operands, 1, stride);
    if (stride != 0 && id >= before)
        kp_spirv_decorate_with(s, id, SpvDecorationArrayStride, stride);
    return id;
}

uint32_t kp_spirv_type_sized(kp_spirv *s, uint32_t element, uint32_t length) {
    return unique(s, SpvOpTypeArray, 0, (uint32_t[]){element, length}, 2, 0);
}

uint32_t kp_spirv_type_struct(kp_spirv *s, const uint32_t *members, uint32_t count, uint32_t salt) {
    return unique(s, SpvOpTypeStruct, 0, members, count, salt);
}

uint32_t kp_spirv_type_image(kp_spirv *s, uint32_t type, SpvDim dim, uint32_t sampled, SpvImageFormat format) {
    enum { DEPTH = 0, ARRAYED = 0, MULTISAMPLED = 0 };
    const uint32_t operands[] = {type, (uint32_t)dim, DEPTH, ARRAYED, MULTISAMPLED, sampled, (uint32_t)format};
    return unique(s, SpvOpTypeImage, 0, operands, sizeof operands / sizeof *operands, 0);
}

uint32_t kp_spirv_type_sampled_image(kp_spirv *s, uint32_t image) {
    return unique(s, SpvOpTypeSampledImage, 0, &image, 1, 0);
}

uint32_t kp_spirv_type_sampler(kp_spirv *s) { return unique(s, SpvOpTypeSampler, 0, NULL, 0, 0); }

uint32_t kp_spirv_type_pointer(kp_spirv *s, SpvStorageClass storage, uint32_t type) {
    return unique(s, SpvOpTypePointer, 0, (uint32_t[]){(uint32_t)storage, type}, 2, 0);
}

uint32_t kp_spirv_type_function(kp_spirv *s, uint32_t result, const uint32_t *parameters, uint32_t count) {
    uint32_t *operands = kp_arena_new(s->arena, (count + 1) * sizeof *operands);
    operands[0] = result;
    put_all(operands + 1, parameters, count);
    return unique(s, SpvOpTypeFunction, 0, operands, count + 1, 0);
}

uint32_t kp_spirv_constant(kp_spirv *s, uint32_t type, uint32_t bits) {
    return unique(s, SpvOpConstant, type, &bits, 1, 0);
}

uint32_t kp_spirv_constant_wide(kp_spirv *s, uint32_t type, uint64_t bits) {
    return unique(s, SpvOpConstant, type, (uint32_t[]){(uint32_t)bits, (uint32_t)(bits >> 32)}, 2, 0);
}

uint32_t kp_spirv_constant_bool(kp_spirv *s, bool value) {
    return unique(s, value ? SpvOpConstantTrue : SpvOpConstantFalse, kp_spirv_type_bool(s), NULL, 0, 0);
}

uint32_t kp_spirv_constant_composite(kp_spirv *s, uint32_t type, const uint32_t *parts, uint32_t count) {
    return unique(s, SpvOpConstantComposite, type, parts, count, 0);
}

uint32_t kp_spirv_constant_null(kp_spirv *s, uint32_t type) { return unique(s, SpvOpConstantNull, type, NULL, 0, 0); }

// An instruction of the globals that stands for itself, however often it is asked for.
static uint32_t add_global(kp_spirv *s, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count) {
    uint32_t *w = start(s, &s->globals, op, 3 + count);
    w[0] = type;
    w[1] = kp_spirv_id(s);
    put_all(w + 2, operands, count);
    return w[1];
}

uint32_t kp_spirv_spec(kp_spirv *s, uint32_t type, uint32_t bits, uint32_t spec_id) {
    uint32_t id = add_global(s, SpvOpSpecConstant, type, &bits, 1);
    kp_spirv_decorate_with(s, id, SpvDecorationSpecId, spec_id);
    return id;
}

uint32_t kp_spirv_spec_wide(kp_spirv *s, uint32_t type, uint64_t bits, uint32_t spec_id) {
    uint32_t id = add_global(s, SpvOpSpecConstant, type, (uint32_t[]){(uint32_t)bits, (uint32_t)(bits >> 32)}, 2);
    kp_spirv_decorate_with(s, id, SpvDecorationSpecId, spec_id);
    return id;
}

uint32_t kp_spirv_spec_bool(kp_spirv *s, bool value, uint32_t spec_id) {
    uint32_t type = kp_spirv_type_bool(s);
    uint32_t id = add_global(s, value ? SpvOpSpecConstantTrue : SpvOpSpecConstantFalse, type, NULL, 0);
    kp_spirv_decorate_with(s, id, SpvDecorationSpecId, spec_id);
    return id;
}

uint32_t kp_spirv_spec_composite(kp_spirv *s, uint32_t type, const uint32_t *parts, uint32_t count) {
    return add_global(s, SpvOpSpecConstantComposite, type, parts, count);
}

uint32_t kp_spirv_spec_op(kp_spirv *s, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count) {
    uint32_t *w = start(s, &s->globals, SpvOpSpecConstantOp, 4 + count);
    w[0] = type;
    w[1] = kp_spirv_id(s);
    w[2] = (uint32_t)op;
    put_all(w + 3, operands, count);
    return w[1];
}

uint32_t kp_spirv_global(kp_spirv *s, uint32_t pointer_type, SpvStorageClass storage) {
    uint32_t operand = (uint32_t)storage;
    return add_global(s, SpvOpVariable, pointer_type, &operand, 1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions
// ---------------------------------------------------------------------------------------------------------------------

// Where the last function left room.
static void start_body(kp_spirv *s) {
    const kp_spirv_piece *last = s->body_end;
    uint32_t room = last != NULL ? last->capacity - last->count : 0;
    if (room == 0)
        s->body = new_piece(s, kp_arena_raw(s->arena, FIRST_WORDS * sizeof(uint32_t)), FIRST_WORDS);
    else
        s->body = new_piece(s, last->data + last->count, room);
    s->body_end = s->body;
}

// The words of a function are its head (OpFunction, parameters, at last the first label), its variables, its body.
void kp_spirv_function(kp_spirv *s, uint32_t id, uint32_t result, uint32_t type) {
    s->head.count = s->variables.count = 0;
    start_body(s);
    uint32_t *w = start(s, &s->head, SpvOpFunction, 5);
    w[0] = result;
    w[1] = id;
    w[2] = SpvFunctionControlMaskNone;
    w[3] = type;
    s->block = s->first_block = kp_spirv_id(s);
}

uint32_t kp_spirv_parameter(kp_spirv *s, uint32_t type) {
    uint32_t *w = start(s, &s->head, SpvOpFunctionParameter, 3);
    w[0] = type;
    return w[1] = kp_spirv_id(s);
}

void kp_spirv_function_end(kp_spirv *s) {
    start(s, &s->head, SpvOpLabel, 2)[0] = s->first_block;
    code(s, SpvOpFunctionEnd, 1);
    uint32_t total = s->head.count + s->variables.count;
    kp_spirv_piece *top = new_piece(s, kp_arena_raw(s->arena, total * sizeof(uint32_t)), total);
    put_all(top->data, s->head.data, s->head.count);
    put_all(top->data + s->head.count, s->variables.data, s->variables.count);
    top->count = total;
    top->next = s->body;
    if (s->functions_end != NULL)
        s->functions_end->next = top;
    else
        s->functions = top;
    s->functions_end = s->body_end;
    s->block = 0;
}

uint32_t kp_spirv_local(kp_spirv *s, uint32_t pointer_type, uint32_t initializer) {
    uint32_t *w = start(s, &s->variables, SpvOpVariable, initializer != 0 ? 5 : 4);
    w[0] = pointer_type;
    w[1] = kp_spirv_id(s);
    w[2] = SpvStorageClassFunction;
    if (initializer != 0)
        w[3] = initializer;
    return w[1];
}

// ---------------------------------------------------------------------------------------------------------------------
// Instructions
// ---------------------------------------------------------------------------------------------------------------------

// op type result operands...
static uint32_t give(kp_spirv *s, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count) {
    uint32_t *w = code(s, op, 3 + count);
    w[0] = type;
    w[1] = s->bound++;
    put_all(w + 2, operands, count);
    return w[1];
}

// op type result first operands...
static uint32_t give_list(kp_spirv *s, SpvOp op, uint32_t type, uint32_t first, const uint32_t *operands,
                          uint32_t count) {
    uint32_t *w = code(s, op, 4 + count);
    w[0] = type;
    w[1] = s->bound++;
    w[2] = first;
    put_all(w + 3, operands, count);
    return w[1];
}

void kp_spirv_line(kp_spirv *s, uint32_t file, uint32_t line, uint32_t column) {
    uint32_t *w = code(s, SpvOpLine, 4);
    w[0] = file;
    w[1] = line;
    w[2] = column;
}

uint32_t kp_spirv_instruction(kp_spirv *s, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t count) {
    return give(s, op, type, operands, count);
}

void kp_spirv_effect(kp_spirv *s, SpvOp op, const uint32_t *operands, uint32_t count) {
    put_all(code(s, op, 1 + count), operands, count);
}

uint32_t kp_spirv_unary(kp_spirv *s, SpvOp op, uint32_t type, uint32_t a) { return give(s, op, type, &a, 1); }

// What a driver may calculate otherwise than step by step, unless it is told not to.
static bool is_float_arithmetic(SpvOp op) {
    switch (op) {
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
    case SpvOpDot:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
        return true;
    default:
        return false;
    }
}

uint32_t kp_spirv_binary(kp_spirv *s, SpvOp op, uint32_t type, uint32_t a, uint32_t b) {
    uint32_t id = give(s, op, type, (uint32_t[]){a, b}, 2);
    if (is_float_arithmetic(op))
        kp_spirv_decorate(s, id, SpvDecorationNoContraction);
    return id;
}

uint32_t kp_spirv_select(kp_spirv *s, uint32_t type, uint32_t condition, uint32_t yes, uint32_t no) {
    return give(s, SpvOpSelect, type, (uint32_t[]){condition, yes, no}, 3);
}

uint32_t kp_spirv_glsl(kp_spirv *s, uint32_t instruction, uint32_t type, const uint32_t *operands, uint32_t count) {
    static const char name[] = "GLSL.std.450";
    if (s->glsl == 0) {
        uint32_t *w = start(s, &s->imports, SpvOpExtInstImport, 2 + text_words(sizeof name - 1));
        w[0] = s->glsl = kp_spirv_id(s);
        put_text(w + 1, name, sizeof name - 1);
    }
    uint32_t *w = code(s, SpvOpExtInst, 5 + count);
    w[0] = type;
    w[1] = s->bound++;
    w[2] = s->glsl;
    w[3] = instruction;
    put_all(w + 4, operands, count);
    return w[1];
}

uint32_t kp_spirv_load(kp_spirv *s, uint32_t type, uint32_t pointer) { return give(s, SpvOpLoad, type, &pointer, 1); }

void kp_spirv_store(kp_spirv *s, uint32_t pointer, uint32_t value) {
    uint32_t *w = code(s, SpvOpStore, 3);
    w[0] = pointer;
    w[1] = value;
}

uint32_t kp_spirv_access(kp_spirv *s, uint32_t pointer_type, uint32_t base, const uint32_t *indices, uint32_t count) {
    return give_list(s, SpvOpAccessChain, pointer_type, base, indices, count);
}

uint32_t kp_spirv_array_length(kp_spirv *s, uint32_t u32, uint32_t structure, uint32_t member) {
    return give(s, SpvOpArrayLength, u32, (uint32_t[]){structure, member}, 2);
}

uint32_t kp_spirv_construct(kp_spirv *s, uint32_t type, const uint32_t *parts, uint32_t count) {
    return give(s, SpvOpCompositeConstruct, type, parts, count);
}

uint32_t kp_spirv_extract(kp_spirv *s, uint32_t type, uint32_t composite, uint32_t index) {
    return give(s, SpvOpCompositeExtract, type, (uint32_t[]){composite, index}, 2);
}

uint32_t kp_spirv_extract_dynamic(kp_spirv *s, uint32_t type, uint32_t vector, uint32_t index) {
    return give(s, SpvOpVectorExtractDynamic, type, (uint32_t[]){vector, index}, 2);
}

uint32_t kp_spirv_shuffle(kp_spirv *s, uint32_t type, uint32_t vector, const uint8_t *components, uint32_t count) {
    uint32_t operands[6] = {vector, vector};
    for (uint32_t i = 0; i < count; i++)
        operands[2 + i] = components[i];
    return give(s, SpvOpVectorShuffle, type, operands, 2 + count);
}

uint32_t kp_spirv_phi(kp_spirv *s, uint32_t type, uint32_t a, uint32_t a_block, uint32_t b, uint32_t b_block) {
    return give(s, SpvOpPhi, type, (uint32_t[]){a, a_block, b, b_block}, 4);
}

uint32_t kp_spirv_call(kp_spirv *s, uint32_t type, uint32_t function, const uint32_t *arguments, uint32_t count) {
    return give_list(s, SpvOpFunctionCall, type, function, arguments, count);
}

// ---------------------------------------------------------------------------------------------------------------------
// Control flow
// ---------------------------------------------------------------------------------------------------------------------

void kp_spirv_label(kp_spirv *s, uint32_t label) {
    code(s, SpvOpLabel, 2)[0] = label;
    s->block = label;
}

void kp_spirv_branch(kp_spirv *s, uint32_t label) {
    code(s, SpvOpBranch, 2)[0] = label;
    s->block = 0;
}

void kp_spirv_branch_if(kp_spirv *s, uint32_t condition, uint32_t yes, uint32_t no) {
    uint32_t *w = code(s, SpvOpBranchConditional, 4);
    w[0] = condition;
    w[1] = yes;
    w[2] = no;
    s->block = 0;
}

void kp_spirv_select_branch(kp_spirv *s, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge) {
    uint32_t *w = code(s, SpvOpSelectionMerge, 3);
    w[0] = merge;
    w[1] = SpvSelectionControlMaskNone;
    kp_spirv_branch_if(s, condition, yes, no);
}

void kp_spirv_loop(kp_spirv *s, uint32_t merge, uint32_t next, SpvLoopControlMask control, uint32_t body) {
    uint32_t *w = code(s, SpvOpLoopMerge, 4);
    w[0] = merge;
    w[1] = next;
    w[2] = (uint32_t)control;
    kp_spirv_branch(s, body);
}

void kp_spirv_return(kp_spirv *s) {
    code(s, SpvOpReturn, 1);
    s->block = 0;
}

void kp_spirv_return_value(kp_spirv *s, uint32_t value) {
    code(s, SpvOpReturnValue, 2)[0] = value;
    s->block = 0;
}

void kp_spirv_unreachable(kp_spirv *s) {
    code(s, SpvOpUnreachable, 1);
    s->block = 0;
}
