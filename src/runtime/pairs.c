// See pairs.h. The kernel's function is walked once. What is the same for all invocations stays a scalar, the index
// stays what it is (now a pair's number), and what comes from a buffer is a vector of two; what meets one becomes one.
// Locals need no memory in the new function, which has no branches: a store says what a later load gives.
//
//     OpLoad of data[i]            OpLoad of pairs[i], OpBitcast to a vector of two
//     OpStore to data[i]           OpBitcast to 64 bits, OpStore to pairs[i]
//     arithmetic                   the same on vectors of two
//
// Anything else ends the walk, and the module stays as it is.
#include "pairs.h"

#include "base/launch.h"
#include "rewrite.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <string.h>

enum { PAIR_BYTES = 8 };

typedef enum kind {
    NOTHING, // not met, or no value: a label, a local that was not stored to
    INDEX,   // the kernel's index, or its first axis
    INDICES, // the kernel's index, on three axes
    SCALAR,  // `id`, the same in all invocations
    PAIR,    // `id`, a vector of two
    LOCAL,   // a variable of the function; what it holds is at `id`, a row
    ELEMENT, // pointer to a buffer's element at the index; `id`: pointer to the pair
    CONSTANT // pointer to push constants, `id`
} kind;

typedef struct value {
    kind kind;
    uint32_t id;
} value;

// A buffer's variable, seen as pairs; by the row of the original.
typedef struct pairs_of {
    uint32_t variable; // 0: not met
    bool reads, writes;
} pairs_of;

typedef struct walk {
    kp_rewrite r;
    uint32_t blocks_at, call_at, kernel_at; // "kp_blocks", a call in it, and the kernel that is called
    uint32_t word64, array, pointer, index_type;
    value *values;     // by row
    value *held;       // by row of a local
    pairs_of *buffers; // by row of a variable
    bool fits;
} walk;

// ---------------------------------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------------------------------

// Ends the walk.
static bool no(walk *w) {
    w->fits = false;
    return false;
}

static uint32_t row_of(walk *w, uint32_t id) {
    uint32_t row = kp_reflect_module_find(&w->r.module, id);
    if (row == KP_REFLECT_NONE)
        no(w);
    return row;
}

static SpvOp defined_by(walk *w, uint32_t id) {
    uint32_t row = row_of(w, id);
    return row == KP_REFLECT_NONE ? SpvOpNop : kp_reflect_module_def(&w->r.module, row).op;
}

// f32, i32, u32 and, where it is no memory, bool.
static bool is_narrow(walk *w, uint32_t type) {
    uint32_t row = row_of(w, type);
    if (row == KP_REFLECT_NONE)
        return false;
    kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, row);
    return i.op == SpvOpTypeBool ||
           ((i.op == SpvOpTypeInt || i.op == SpvOpTypeFloat) && kp_reflect_operand(&i, 2) == 32);
}

// The vector of two of a scalar's type: the module's own, or one made now.
static uint32_t pair_type(walk *w, uint32_t type) {
    uint32_t next = w->r.next, made = kp_rewrite_global(&w->r, SpvOpTypeVector, type, 2);
    if (made == next && !is_narrow(w, type))
        no(w);
    return made;
}

// ---------------------------------------------------------------------------------------------------------------------
// Buffers
// ---------------------------------------------------------------------------------------------------------------------

static void make_types(walk *w) {
    if (w->word64 != 0)
        return;
    w->word64 = w->r.next++;
    w->array = w->r.next++;
    w->pointer = w->r.next++;
    KP_REWRITE_PUT(&w->r.globals, SpvOpTypeInt, w->word64, 64, 0);
    KP_REWRITE_PUT(&w->r.globals, SpvOpTypeRuntimeArray, w->array, w->word64);
    KP_REWRITE_PUT(&w->r.globals, SpvOpTypePointer, w->pointer, SpvStorageClassStorageBuffer, w->word64);
    KP_REWRITE_PUT(&w->r.annotations, SpvOpDecorate, w->array, SpvDecorationArrayStride, PAIR_BYTES);
}

// The buffer of a variable as pairs. What it is read and written for is known at the end.
static uint32_t pairs_variable(walk *w, uint32_t row) {
    pairs_of *b = &w->buffers[row];
    if (b->variable != 0)
        return b->variable;
    const kp_reflect_def *def = &w->r.module.defs[row];
    make_types(w);
    uint32_t block = w->r.next++, pointer = w->r.next++;
    b->variable = w->r.next++;
    KP_REWRITE_PUT(&w->r.globals, SpvOpTypeStruct, block, w->array);
    KP_REWRITE_PUT(&w->r.globals, SpvOpTypePointer, pointer, SpvStorageClassStorageBuffer, block);
    KP_REWRITE_PUT(&w->r.globals, SpvOpVariable, pointer, b->variable, SpvStorageClassStorageBuffer);
    KP_REWRITE_PUT(&w->r.annotations, SpvOpDecorate, block, SpvDecorationBlock);
    KP_REWRITE_PUT(&w->r.annotations, SpvOpMemberDecorate, block, 0, SpvDecorationOffset, 0);
    KP_REWRITE_PUT(&w->r.annotations, SpvOpDecorate, b->variable, SpvDecorationDescriptorSet, def->set);
    KP_REWRITE_PUT(&w->r.annotations, SpvOpDecorate, b->variable, SpvDecorationBinding, def->binding);
    return b->variable;
}

// Whether a variable is a buffer of nothing but elements of 4 bytes.
static bool is_narrow_buffer(walk *w, uint32_t row, uint32_t element_pointer) {
    const kp_reflect_module *m = &w->r.module;
    const kp_reflect_def *def = &m->defs[row];
    uint32_t type = row_of(w, element_pointer);
    if (type == KP_REFLECT_NONE || def->set == KP_REFLECT_NONE || def->binding == KP_REFLECT_NONE)
        return false;
    kp_reflect_instruction pointer = kp_reflect_module_def(m, type);
    kp_reflect_instruction variable = kp_reflect_module_def(m, row);
    return variable.op == SpvOpVariable && variable.words[3] == SpvStorageClassStorageBuffer &&
           pointer.op == SpvOpTypePointer && defined_by(w, pointer.words[3]) != SpvOpTypeBool &&
           is_narrow(w, pointer.words[3]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Values
// ---------------------------------------------------------------------------------------------------------------------

static bool is_constant(SpvOp op) {
    return op == SpvOpConstant || op == SpvOpConstantTrue || op == SpvOpConstantFalse || op == SpvOpSpecConstant ||
           op == SpvOpSpecConstantTrue || op == SpvOpSpecConstantFalse || op == SpvOpSpecConstantOp;
}

static value value_of(walk *w, uint32_t id) {
    uint32_t row = row_of(w, id);
    if (row == KP_REFLECT_NONE)
        return (value){0};
    if (row < w->r.module.global_count && is_constant(kp_reflect_module_def(&w->r.module, row).op))
        return (value){SCALAR, id};
    return w->values[row];
}

static bool define(walk *w, uint32_t id, kind what, uint32_t as) {
    uint32_t row = row_of(w, id);
    if (row == KP_REFLECT_NONE)
        return false;
    w->values[row] = (value){what, as};
    return true;
}

// An id for the value as a vector of two, of a scalar of that type.
static uint32_t as_pair(walk *w, value v, uint32_t type) {
    if (v.kind == PAIR)
        return v.id;
    if (v.kind != SCALAR)
        no(w);
    KP_REWRITE_PUT(&w->r.body, SpvOpCompositeConstruct, pair_type(w, type), w->r.next, v.id, v.id);
    return w->r.next++;
}

static uint32_t type_of(walk *w, uint32_t id) {
    uint32_t row = row_of(w, id);
    return row == KP_REFLECT_NONE ? 0 : kp_reflect_module_def(&w->r.module, row).words[1];
}

// ---------------------------------------------------------------------------------------------------------------------
// Instructions
// ---------------------------------------------------------------------------------------------------------------------

static bool access_chain(walk *w, const kp_reflect_instruction *i) {
    uint32_t base = row_of(w, i->words[3]);
    if (base == KP_REFLECT_NONE)
        return false;
    if (kp_reflect_module_def(&w->r.module, base).words[3] == SpvStorageClassPushConstant) {
        for (uint32_t k = 4; k < i->count; k++)
            w->fits = w->fits && is_constant(defined_by(w, i->words[k]));
        uint32_t operands[8];
        if (i->count > 8)
            return no(w);
        memcpy(operands, i->words + 1, (i->count - 1) * sizeof *operands);
        operands[1] = w->r.next;
        kp_rewrite_put(&w->r.body, SpvOpAccessChain, operands, i->count - 1);
        return define(w, i->words[2], CONSTANT, w->r.next++);
    }
    if (i->count != 6 || value_of(w, i->words[5]).kind != INDEX || !is_narrow_buffer(w, base, i->words[1]))
        return no(w);
    uint32_t variable = pairs_variable(w, base);
    KP_REWRITE_PUT(&w->r.body, SpvOpAccessChain, w->pointer, w->r.next, variable, i->words[4],
                   value_of(w, i->words[5]).id);
    return define(w, i->words[2], ELEMENT, w->r.next++);
}

// The variable behind an access chain.
static pairs_of *buffer_of(walk *w, uint32_t chain) {
    kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, row_of(w, chain));
    return &w->buffers[row_of(w, i.words[3])];
}

static bool load(walk *w, const kp_reflect_instruction *i) {
    uint32_t type = i->words[1], id = i->words[2];
    value from = value_of(w, i->words[3]);
    if (i->count != 4 || (from.kind != LOCAL && from.kind != ELEMENT && from.kind != CONSTANT))
        return no(w);
    if (from.kind == LOCAL)
        return define(w, id, w->held[from.id].kind, w->held[from.id].id);
    if (!is_narrow(w, type))
        return no(w);
    if (from.kind == CONSTANT) {
        KP_REWRITE_PUT(&w->r.body, SpvOpLoad, type, w->r.next, from.id);
        return define(w, id, SCALAR, w->r.next++);
    }
    buffer_of(w, i->words[3])->reads = true;
    uint32_t word = w->r.next++;
    KP_REWRITE_PUT(&w->r.body, SpvOpLoad, w->word64, word, from.id);
    KP_REWRITE_PUT(&w->r.body, SpvOpBitcast, pair_type(w, type), w->r.next, word);
    return define(w, id, PAIR, w->r.next++);
}

static bool store(walk *w, const kp_reflect_instruction *i) {
    value to = value_of(w, i->words[1]), what = value_of(w, i->words[2]);
    if (i->count != 3 || what.kind == NOTHING || (to.kind != LOCAL && to.kind != ELEMENT))
        return no(w);
    if (to.kind == LOCAL) {
        w->held[to.id] = what;
        return true;
    }
    buffer_of(w, i->words[1])->writes = true;
    uint32_t pair = as_pair(w, what, type_of(w, i->words[2]));
    KP_REWRITE_PUT(&w->r.body, SpvOpBitcast, w->word64, w->r.next, pair);
    KP_REWRITE_PUT(&w->r.body, SpvOpStore, to.id, w->r.next);
    w->r.next++;
    return true;
}

// What kp's compiler wants to be rounded by itself.
static bool is_rounded(SpvOp op) { return op == SpvOpFAdd || op == SpvOpFSub || op == SpvOpFMul || op == SpvOpFDiv; }

// Operations on numbers, with a result: all operands from `first` on are values.
static bool arithmetic(walk *w, const kp_reflect_instruction *i, uint32_t first) {
    uint32_t operands[8];
    if (i->count > 8 || !is_narrow(w, i->words[1]))
        return no(w);
    for (uint32_t k = 3; k < i->count; k++)
        operands[k - 1] = k < first ? i->words[k] : as_pair(w, value_of(w, i->words[k]), type_of(w, i->words[k]));
    operands[0] = pair_type(w, i->words[1]);
    operands[1] = w->r.next;
    kp_rewrite_put(&w->r.body, i->op, operands, i->count - 1);
    if (is_rounded(i->op))
        KP_REWRITE_PUT(&w->r.annotations, SpvOpDecorate, w->r.next, SpvDecorationNoContraction);
    return define(w, i->words[2], PAIR, w->r.next++);
}

// Of GLSL.std.450, those that work on each component by itself.
static bool by_component(uint32_t function) {
    return (function >= GLSLstd450Round && function <= GLSLstd450InverseSqrt) ||
           (function >= GLSLstd450FMin && function <= GLSLstd450Fma && function != GLSLstd450IMix) ||
           (function >= GLSLstd450FindILsb && function <= GLSLstd450FindUMsb) ||
           (function >= GLSLstd450NMin && function <= GLSLstd450NClamp);
}

static bool extract(walk *w, const kp_reflect_instruction *i) {
    value from = value_of(w, i->words[3]);
    if (from.kind != INDICES || i->count != 5 || i->words[4] != 0)
        return no(w);
    KP_REWRITE_PUT(&w->r.body, SpvOpCompositeExtract, i->words[1], w->r.next, from.id, 0);
    return define(w, i->words[2], INDEX, w->r.next++);
}

static bool bitcast(walk *w, const kp_reflect_instruction *i) {
    value from = value_of(w, i->words[3]);
    if (from.kind != INDEX)
        return arithmetic(w, i, 3);
    KP_REWRITE_PUT(&w->r.body, SpvOpBitcast, i->words[1], w->r.next, from.id);
    return define(w, i->words[2], INDEX, w->r.next++);
}

static bool local(walk *w, const kp_reflect_instruction *i) {
    uint32_t row = row_of(w, i->words[2]);
    if (row == KP_REFLECT_NONE)
        return false;
    w->values[row] = (value){LOCAL, row};
    w->held[row] = (value){0}; // an initializer is never needed: the kernel stores before it loads, or is not taken
    return true;
}

static bool instruction(walk *w, const kp_reflect_instruction *i) {
    switch (i->op) {
    case SpvOpLine:
    case SpvOpNoLine:
        return true;
    case SpvOpVariable:
        return local(w, i);
    case SpvOpAccessChain:
        return access_chain(w, i);
    case SpvOpLoad:
        return load(w, i);
    case SpvOpStore:
        return store(w, i);
    case SpvOpCompositeExtract:
        return extract(w, i);
    case SpvOpBitcast:
        return bitcast(w, i);
    case SpvOpExtInst:
        return by_component(i->words[4]) ? arithmetic(w, i, 5) : no(w);
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
    case SpvOpFNegate:
    case SpvOpIAdd:
    case SpvOpISub:
    case SpvOpIMul:
    case SpvOpSNegate:
    case SpvOpNot:
    case SpvOpBitwiseAnd:
    case SpvOpBitwiseOr:
    case SpvOpBitwiseXor:
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
    case SpvOpIsNan:
    case SpvOpIsInf:
    case SpvOpLogicalAnd:
    case SpvOpLogicalOr:
    case SpvOpLogicalNot:
    case SpvOpLogicalEqual:
    case SpvOpLogicalNotEqual:
    case SpvOpIEqual:
    case SpvOpINotEqual:
    case SpvOpSLessThan:
    case SpvOpSLessThanEqual:
    case SpvOpSGreaterThan:
    case SpvOpSGreaterThanEqual:
    case SpvOpULessThan:
    case SpvOpULessThanEqual:
    case SpvOpUGreaterThan:
    case SpvOpUGreaterThanEqual:
    case SpvOpFOrdEqual:
    case SpvOpFOrdLessThan:
    case SpvOpFOrdLessThanEqual:
    case SpvOpFOrdGreaterThan:
    case SpvOpFOrdGreaterThanEqual:
    case SpvOpFUnordNotEqual:
    case SpvOpSelect:
        return arithmetic(w, i, 3);
    default:
        return no(w);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The module
// ---------------------------------------------------------------------------------------------------------------------

// "kp_blocks", and the kernel that it calls wherever it calls one.
static void find_functions(walk *w) {
    const kp_reflect_module *m = &w->r.module;
    kp_reflect_instruction i;
    uint32_t blocks = 0, kernel = 0;
    bool inside = false;
    for (uint32_t at = KP_REWRITE_HEADER; kp_reflect_module_next(m, &at, &i);) {
        if (i.op == SpvOpEntryPoint && strcmp((const char *)&i.words[3], KP_LAUNCH_BLOCKS_ENTRY) == 0)
            blocks = i.words[2];
        if (i.op == SpvOpFunction)
            inside = i.words[2] == blocks;
        if (i.op == SpvOpFunction && inside)
            w->blocks_at = i.at;
        if (i.op == SpvOpFunctionCall && inside) {
            w->fits = w->fits && (kernel == 0 || kernel == i.words[3]);
            kernel = i.words[3];
            w->call_at = i.at;
        }
    }
    w->fits = w->fits && w->blocks_at != 0 && kernel != 0;
    uint32_t row = w->fits ? row_of(w, kernel) : KP_REFLECT_NONE;
    w->kernel_at = row != KP_REFLECT_NONE ? kp_reflect_module_def(m, row).at : 0;
}

// Decorations of what the kernel computes would have to go along: NoContraction does, and there are no others so far.
static void check_decorations(walk *w) {
    kp_reflect_instruction i;
    for (uint32_t at = KP_REWRITE_HEADER;
         at < w->r.module.function_at && kp_reflect_module_next(&w->r.module, &at, &i);) {
        bool of_value = i.op == SpvOpDecorate && row_of(w, i.words[1]) >= w->r.module.global_count;
        if (of_value && i.words[2] != SpvDecorationNoContraction)
            no(w);
        if (i.op == SpvOpTypeInt && i.words[2] == 64)
            no(w); // works on pairs of words by itself
    }
}

// Whether a value of "kp_blocks" comes from its counter of items, which only the index does.
static bool counts_items(walk *w, uint32_t id) {
    uint32_t row = row_of(w, id);
    if (row == KP_REFLECT_NONE || row < w->r.module.global_count)
        return false;
    kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, row);
    switch (i.op) {
    case SpvOpLoad:
        return defined_by(w, i.words[3]) == SpvOpVariable &&
               kp_reflect_module_def(&w->r.module, row_of(w, i.words[3])).words[3] == SpvStorageClassFunction;
    case SpvOpBitcast:
    case SpvOpCompositeExtract:
    case SpvOpCompositeConstruct: // of the axes, x first
        return counts_items(w, i.words[3]);
    case SpvOpIAdd:
    case SpvOpIMul:
        return counts_items(w, i.words[3]) || counts_items(w, i.words[4]);
    default:
        return false;
    }
}

// What the kernel gets for a parameter: the index, or a push constant. All else is for kernels that stay as they are.
static kind kind_of_argument(walk *w, uint32_t argument, uint32_t type) {
    if (counts_items(w, argument))
        return defined_by(w, type) == SpvOpTypeInt ? INDEX : INDICES;
    uint32_t row = row_of(w, argument);
    if (row == KP_REFLECT_NONE)
        return NOTHING;
    kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, row);
    return i.op == SpvOpLoad && defined_by(w, i.words[3]) == SpvOpAccessChain && is_narrow(w, type) ? SCALAR : NOTHING;
}

static void parameter(walk *w, const kp_reflect_instruction *i, uint32_t k) {
    kp_reflect_instruction call = kp_reflect_module_at(&w->r.module, w->call_at);
    if (k + 4 >= call.count) {
        no(w);
        return;
    }
    KP_REWRITE_PUT(&w->r.body, SpvOpFunctionParameter, i->words[1], w->r.next);
    define(w, i->words[2], kind_of_argument(w, call.words[k + 4], i->words[1]), w->r.next);
    w->r.next++;
}

// The function, from its head to its end. What it becomes is in w->r.body.
static uint32_t rewrite(walk *w) {
    const kp_reflect_module *m = &w->r.module;
    uint32_t at = w->kernel_at, function = w->r.next++, parameters = 0;
    kp_reflect_instruction i;
    bool begun = false, ended = false;
    kp_reflect_module_next(m, &at, &i);
    KP_REWRITE_PUT(&w->r.body, SpvOpFunction, i.words[1], function, i.words[3], i.words[4]);
    while (w->fits && !ended && kp_reflect_module_next(m, &at, &i)) {
        if (!begun && i.op == SpvOpFunctionParameter) {
            parameter(w, &i, parameters++);
        } else if (!begun && i.op == SpvOpLabel) {
            begun = true;
            KP_REWRITE_PUT(&w->r.body, SpvOpLabel, w->r.next);
            w->r.next++;
        } else if (i.op == SpvOpReturn) {
            kp_rewrite_put(&w->r.body, SpvOpReturn, NULL, 0);
            ended = true;
        } else {
            instruction(w, &i);
        }
    }
    ended = ended && kp_reflect_module_next(m, &at, &i) && i.op == SpvOpFunctionEnd && w->word64 != 0;
    kp_rewrite_put(&w->r.body, SpvOpFunctionEnd, NULL, 0);
    w->fits = w->fits && ended;
    return function;
}

static void annotate_access(walk *w) {
    for (uint32_t row = 0; row < w->r.module.global_count; row++) {
        const pairs_of *b = &w->buffers[row];
        if (b->variable != 0 && !b->writes)
            KP_REWRITE_PUT(&w->r.annotations, SpvOpDecorate, b->variable, SpvDecorationNonWritable);
        if (b->variable != 0 && !b->reads)
            KP_REWRITE_PUT(&w->r.annotations, SpvOpDecorate, b->variable, SpvDecorationNonReadable);
    }
}

static bool is_type(SpvOp op) { return op >= SpvOpTypeVoid && op <= SpvOpTypeForwardPointer; }

static void copy(walk *w, kp_str *to, uint32_t from, uint32_t end) {
    kp_str_add(to, (const char *)(w->r.module.words + from), (end - from) * sizeof(uint32_t));
}

// The old module with all that is new in its place, and "kp_blocks" calling the new function.
static void assemble(walk *w, uint32_t function, kp_str *to) {
    const kp_reflect_module *m = &w->r.module;
    kp_reflect_instruction i;
    uint32_t capabilities = KP_REWRITE_HEADER, types = 0;
    for (uint32_t at = KP_REWRITE_HEADER; kp_reflect_module_next(m, &at, &i);) {
        capabilities = i.op == SpvOpCapability ? at : capabilities;
        types = types == 0 && is_type(i.op) ? i.at : types;
        if (i.op == SpvOpFunction && i.at > w->blocks_at)
            break;
        if (i.op == SpvOpFunctionCall && i.at > w->blocks_at)
            w->r.module.words[i.at + 3] = function;
    }
    w->r.module.words[KP_REWRITE_BOUND] = w->r.next;
    copy(w, to, 0, capabilities);
    KP_REWRITE_PUT(to, SpvOpCapability, SpvCapabilityInt64);
    copy(w, to, capabilities, types);
    kp_rewrite_append(to, &w->r.annotations);
    copy(w, to, types, m->function_at);
    kp_rewrite_append(to, &w->r.globals);
    copy(w, to, m->function_at, m->word_count);
    kp_rewrite_append(to, &w->r.body);
}

static void change(kp_rewrite *r, kp_str *to) {
    walk *w = (walk *)r;
    kp_reflect_module *m = &w->r.module;
    w->values = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *w->values);
    w->held = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *w->held);
    w->buffers = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *w->buffers);
    w->fits = m->words[1] < KP_REWRITE_SPIRV_1_4; // later, entry points list their buffers
    find_functions(w);
    if (w->fits)
        check_decorations(w);
    uint32_t function = w->fits ? rewrite(w) : 0;
    if (!w->fits)
        return;
    annotate_access(w);
    assemble(w, function, to);
}

kp_result kp_pairs_apply(const uint32_t *words, size_t word_count, uint32_t **out, size_t *out_count) {
    walk w = {0};
    return kp_rewrite_apply(&w.r, "pairs", change, words, word_count, out, out_count);
}
