// See known_zeros.h. Two facts are told of every id with floats in it, by walks over the module until they stay:
// whether a compiler may KNOW it, that is, make a constant of some part of it, and whether such a part may be ZERO. A
// pointer's facts are those of what is loaded through it. All that is no float may be known, and be zero.
//
// What is hidden is known no more. That is done where a zero goes into arithmetic, and also where it goes into a
// choice, a variable, a call or a function's result: so a sum that starts at 0 costs something where it starts, and
// nothing in the loop that adds to it.
//
//     x * zero        x * (zero | n << k), n = w * w & 2, w the number of the workgroup: no square has that bit
#include "known_zeros.h"

#include "rewrite.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <string.h>

enum { KNOWN = 1, ZERO = 2, BOTH = KNOWN | ZERO, SHIFTS = 30 };

// Of a type.
typedef struct shape {
    uint8_t width;         // of its floats; 0: there are none
    uint8_t rows, columns; // of a matrix; a vector is a column, and a scalar one of one row. 0: of arrays and structs
} shape;

typedef struct walk {
    kp_rewrite r;
    shape *shapes;    // by row of a type
    uint8_t *facts;   // by row
    bool changed;     // since the last walk began
    uint32_t nothing; // in the function that is written: the number that is 0
    uint32_t workgroup, type_u32, type_u32x3, two;
    uint32_t shifts[SHIFTS]; // constants from 1 on; 0: not made
    uint32_t hidden;         // numbers
    bool int16, int64;
} walk;

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

static shape shape_of_type(walk *w, uint32_t type) {
    uint32_t row = kp_reflect_module_find(&w->r.module, type);
    return row != KP_REFLECT_NONE ? w->shapes[row] : (shape){0};
}

static shape any_member(walk *w, const kp_reflect_instruction *i) {
    shape s = {0};
    for (uint32_t k = 2; k < i->count && s.width == 0; k++)
        s.width = shape_of_type(w, i->words[k]).width;
    return s;
}

static void read_type(walk *w, uint32_t row, const kp_reflect_instruction *i) {
    shape s = {0};
    switch (i->op) {
    case SpvOpTypeFloat:
        s = (shape){(uint8_t)kp_reflect_operand(i, 2), 1, 1};
        break;
    case SpvOpTypeVector:
        s = shape_of_type(w, kp_reflect_operand(i, 2));
        s.rows = (uint8_t)kp_reflect_operand(i, 3);
        break;
    case SpvOpTypeMatrix:
        s = shape_of_type(w, kp_reflect_operand(i, 2));
        s.columns = (uint8_t)kp_reflect_operand(i, 3);
        break;
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
        s.width = shape_of_type(w, kp_reflect_operand(i, 2)).width;
        break;
    case SpvOpTypeStruct:
        s = any_member(w, i);
        break;
    default:
        break;
    }
    w->shapes[row] = s;
}

static shape shape_of_row(walk *w, uint32_t row) {
    uint32_t type = kp_reflect_module_type(&w->r.module, row);
    return type != KP_REFLECT_NONE ? w->shapes[type] : (shape){0};
}

static bool is_number(shape s) { return s.width != 0 && s.rows != 0; }

// ---------------------------------------------------------------------------------------------------------------------
// Facts
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t row_of(walk *w, uint32_t id) { return kp_reflect_module_find(&w->r.module, id); }

static uint8_t fact(walk *w, uint32_t id) {
    uint32_t row = row_of(w, id);
    return row != KP_REFLECT_NONE ? w->facts[row] : BOTH;
}

static void add(walk *w, uint32_t row, uint8_t facts) {
    if (row == KP_REFLECT_NONE || (w->facts[row] | facts) == w->facts[row])
        return;
    w->facts[row] |= facts;
    w->changed = true;
}

// Is it hidden, where it is stored, passed or returned, or an operand of one step?
static bool is_hidden_for(walk *w, uint32_t id, uint8_t facts) {
    uint32_t row = row_of(w, id);
    return row != KP_REFLECT_NONE && (w->facts[row] & facts) != 0 && is_number(shape_of_row(w, row));
}

static bool is_hidden(walk *w, uint32_t id) { return is_hidden_for(w, id, ZERO); }

// What is known of it there.
static uint8_t left_of(walk *w, uint32_t id) { return is_hidden(w, id) ? 0 : fact(w, id); }

// The row of the variable or parameter that a pointer points into.
static uint32_t root_of(walk *w, uint32_t pointer) {
    for (;;) {
        uint32_t row = row_of(w, pointer);
        if (row == KP_REFLECT_NONE)
            return row;
        kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, row);
        if (i.op != SpvOpAccessChain && i.op != SpvOpInBoundsAccessChain && i.op != SpvOpCopyObject)
            return row;
        pointer = kp_reflect_operand(&i, 3);
    }
}

static bool is_zero(const kp_reflect_instruction *i, uint8_t width) {
    uint32_t low = kp_reflect_operand(i, 3), high = kp_reflect_operand(i, 4);
    return width == 16 ? (low & 0x7FFF) == 0 : width == 32 ? low << 1 == 0 : low == 0 && high << 1 == 0;
}

static uint8_t any_of(walk *w, const kp_reflect_instruction *i, uint32_t first, uint32_t end) {
    uint8_t facts = 0;
    for (uint32_t k = first; k < end && k < i->count; k++)
        facts |= fact(w, i->words[k]);
    return facts;
}

// A number that is loaded from push constants or a uniform, which are known where the driver compiles for their values:
// it is hidden at once, outside of the loops that use it.
static bool is_from_outside(walk *w, const kp_reflect_instruction *i) {
    uint32_t root = i->op == SpvOpLoad ? root_of(w, kp_reflect_operand(i, 3)) : KP_REFLECT_NONE;
    if (root == KP_REFLECT_NONE || !is_number(shape_of_type(w, i->words[1])))
        return false;
    kp_reflect_instruction variable = kp_reflect_module_def(&w->r.module, root);
    uint32_t storage = kp_reflect_operand(&variable, 3);
    return variable.op == SpvOpVariable &&
           (storage == SpvStorageClassPushConstant || storage == SpvStorageClassUniform);
}

static bool has_no_initializer(const kp_reflect_instruction *i) { return i->count < 5; }

static uint8_t of_variable(walk *w, const kp_reflect_instruction *i) {
    switch (i->words[3]) {
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassWorkgroup:
        return 0;
    case SpvStorageClassFunction:
        return has_no_initializer(i) ? 0 : left_of(w, i->words[4]);
    case SpvStorageClassPrivate:
        return has_no_initializer(i) ? 0 : fact(w, i->words[4]) | KNOWN;
    default:
        return BOTH;
    }
}

static bool is_choice(uint32_t instruction) {
    switch (instruction) {
    case GLSLstd450FMin:
    case GLSLstd450FMax:
    case GLSLstd450FClamp:
    case GLSLstd450NMin:
    case GLSLstd450NMax:
    case GLSLstd450NClamp:
        return true;
    default:
        return false;
    }
}

static bool is_rounding(uint32_t instruction) {
    switch (instruction) {
    case GLSLstd450Floor:
    case GLSLstd450Ceil:
    case GLSLstd450Trunc:
    case GLSLstd450Round:
    case GLSLstd450RoundEven:
        return true;
    default:
        return false;
    }
}

// Functions that a driver makes of several steps, and operations that are a sum: between the steps there may be zeros
// of 1 - 1 or of a tiny product, so nothing may be known there.
static uint8_t hidden_of_function(const kp_reflect_instruction *i) {
    uint32_t instruction = kp_reflect_operand(i, 4);
    if (is_choice(instruction) || is_rounding(instruction))
        return 0;
    switch (instruction) {
    case GLSLstd450Length:
    case GLSLstd450Normalize:
    case GLSLstd450Determinant:
    case GLSLstd450MatrixInverse:
        return KNOWN;
    default:
        return i->count > 6 ? KNOWN : ZERO;
    }
}

// Which facts of its operands, those from word 3 or 5 on, make that they are hidden. 0: it is no arithmetic, or such
// that Mesa does right.
static uint8_t hidden_of(const kp_reflect_instruction *i) {
    switch (i->op) {
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpOuterProduct:
        return ZERO;
    case SpvOpFRem:
    case SpvOpFMod:
    case SpvOpDot:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
        return KNOWN;
    case SpvOpExtInst:
        return hidden_of_function(i);
    default:
        return 0;
    }
}

static uint32_t first_operand(const kp_reflect_instruction *i) { return i->op == SpvOpExtInst ? 5 : 3; }

// Of what is computed: known when all that it is computed from is.
static uint8_t computed(walk *w, const kp_reflect_instruction *i, uint8_t hidden) {
    for (uint32_t k = first_operand(i); k < i->count; k++) {
        if (is_hidden_for(w, i->words[k], hidden) || (fact(w, i->words[k]) & KNOWN) == 0)
            return 0;
    }
    return BOTH;
}

// Bits that are made a number: those that memory gives are known as far as what was stored there is.
static uint8_t of_bits(walk *w, const kp_reflect_instruction *i) {
    uint32_t row = row_of(w, kp_reflect_operand(i, 3));
    if (row == KP_REFLECT_NONE)
        return BOTH;
    kp_reflect_instruction load = kp_reflect_module_def(&w->r.module, row);
    return load.op == SpvOpLoad ? fact(w, kp_reflect_operand(&load, 3)) : BOTH;
}

static uint8_t of_value(walk *w, const kp_reflect_instruction *i) {
    uint8_t hidden = hidden_of(i);
    if (i->op == SpvOpExtInst && kp_reflect_operand(i, 4) == GLSLstd450Sqrt)
        return BOTH; // Mesa takes it for its absolute value, be it -0.0
    if (hidden != 0)
        return computed(w, i, hidden);
    switch (i->op) {
    case SpvOpConstant:
        return KNOWN | (is_zero(i, shape_of_type(w, i->words[1]).width) ? ZERO : 0);
    case SpvOpConstantComposite:
        return KNOWN | any_of(w, i, 3, i->count);
    case SpvOpVariable:
        return of_variable(w, i);
    case SpvOpLoad:
        return is_from_outside(w, i) ? 0 : any_of(w, i, 3, 4);
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpCopyObject:
    case SpvOpCompositeExtract:
    case SpvOpVectorExtractDynamic:
    case SpvOpTranspose:
    case SpvOpFNegate:
    case SpvOpFunctionCall:
        return any_of(w, i, 3, 4);
    case SpvOpCompositeInsert:
    case SpvOpVectorInsertDynamic:
    case SpvOpVectorShuffle:
        return any_of(w, i, 3, 5);
    case SpvOpCompositeConstruct:
        return any_of(w, i, 3, i->count);
    case SpvOpSelect:
        return left_of(w, kp_reflect_operand(i, 4)) | left_of(w, kp_reflect_operand(i, 5));
    case SpvOpFConvert:
    case SpvOpQuantizeToF16:
        return any_of(w, i, 3, 4) != 0 ? BOTH : 0; // a small number may become 0
    case SpvOpBitcast:
        return of_bits(w, i);
    case SpvOpExtInst: // a choice keeps a number, rounding may make a zero of it
        return any_of(w, i, 5, i->count) == 0 ? 0 : is_choice(i->words[4]) ? any_of(w, i, 5, i->count) : BOTH;
    case SpvOpFunction:
    case SpvOpFunctionParameter:
    case SpvOpAtomicLoad:
    case SpvOpAtomicExchange:
    case SpvOpAtomicFAddEXT:
        return 0;
    default:
        return BOTH;
    }
}

// A constant, which can be hidden before it is known where it goes.
static bool is_hidden_constant(walk *w, uint32_t id) {
    uint32_t row = row_of(w, id);
    return row < w->r.module.global_count && is_hidden(w, id);
}

static uint8_t of_phi(walk *w, const kp_reflect_instruction *i) {
    uint8_t facts = 0;
    for (uint32_t k = 3; k < i->count; k += 2)
        facts |= is_hidden_constant(w, i->words[k]) ? 0 : fact(w, i->words[k]);
    return facts;
}

// What is stored: a number, or the bits of one.
static uint8_t of_stored(walk *w, uint32_t id) {
    uint32_t row = row_of(w, id);
    if (row == KP_REFLECT_NONE)
        return BOTH;
    kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, row);
    bool bits = i.op == SpvOpBitcast && shape_of_row(w, row).width == 0;
    return bits ? fact(w, kp_reflect_operand(&i, 3)) : left_of(w, id);
}

// To the parameters; what is passed by reference may be given anything.
static void read_call(walk *w, const kp_reflect_instruction *i) {
    uint32_t function = row_of(w, kp_reflect_operand(i, 3));
    if (function == KP_REFLECT_NONE)
        return;
    uint32_t at = w->r.module.defs[function].at;
    kp_reflect_instruction p;
    kp_reflect_module_next(&w->r.module, &at, &p);
    for (uint32_t k = 4; k < i->count && kp_reflect_module_next(&w->r.module, &at, &p); k++) {
        if (p.op != SpvOpFunctionParameter)
            return;
        uint32_t type = row_of(w, p.words[1]);
        if (type != KP_REFLECT_NONE && kp_reflect_module_def(&w->r.module, type).op == SpvOpTypePointer) {
            add(w, root_of(w, i->words[k]), BOTH);
            add(w, row_of(w, p.words[2]), BOTH);
        } else {
            add(w, row_of(w, p.words[2]), left_of(w, i->words[k]));
        }
    }
}

static void read_statement(walk *w, const kp_reflect_instruction *i, uint32_t function) {
    switch (i->op) {
    case SpvOpStore:
        add(w, root_of(w, kp_reflect_operand(i, 1)), of_stored(w, kp_reflect_operand(i, 2)));
        break;
    case SpvOpCopyMemory:
        add(w, root_of(w, kp_reflect_operand(i, 1)), fact(w, kp_reflect_operand(i, 2)));
        break;
    case SpvOpReturnValue:
        add(w, function, left_of(w, kp_reflect_operand(i, 1)));
        break;
    case SpvOpFunctionCall:
        read_call(w, i);
        break;
    default:
        break;
    }
}

// Ids without floats: all is said at once.
static void read_ids(walk *w) {
    for (uint32_t row = 0; row < w->r.module.def_count; row++) {
        kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, row);
        if (row < w->r.module.global_count)
            read_type(w, row, &i);
        uint32_t type = kp_reflect_module_type(&w->r.module, row);
        bool pointer = type != KP_REFLECT_NONE && kp_reflect_module_def(&w->r.module, type).op == SpvOpTypePointer;
        if (i.op != SpvOpFunction && !pointer && shape_of_row(w, row).width == 0)
            w->facts[row] = BOTH;
    }
}

// A fact may take as many walks as there are variables that it goes through against their order. After some walks all
// may be known and zero: what is hidden needlessly costs a little, and is right.
static void read_facts(walk *w) {
    enum { WALKS = 24 };
    kp_reflect_instruction i;
    uint32_t walks = 0;
    do {
        uint32_t function = KP_REFLECT_NONE;
        w->changed = false;
        for (uint32_t row = 0; row < w->r.module.global_count; row++) {
            i = kp_reflect_module_def(&w->r.module, row);
            if (w->facts[row] != BOTH)
                add(w, row, of_value(w, &i));
        }
        for (uint32_t at = w->r.module.function_at; kp_reflect_module_next(&w->r.module, &at, &i);) {
            function = i.op == SpvOpFunction ? row_of(w, i.words[2]) : function;
            read_statement(w, &i, function);
            uint32_t row = i.count > 2 ? row_of(w, i.words[2]) : KP_REFLECT_NONE;
            if (row != KP_REFLECT_NONE && w->r.module.defs[row].at == i.at && w->facts[row] != BOTH)
                add(w, row, i.op == SpvOpPhi ? of_phi(w, &i) : of_value(w, &i));
        }
    } while (w->changed && ++walks < WALKS);
    if (w->changed)
        memset(w->facts, BOTH, w->r.module.def_count);
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t make(walk *w, SpvOp op, uint32_t type, uint32_t operand) {
    KP_REWRITE_PUT(&w->r.body, op, type, w->r.next, operand);
    return w->r.next++;
}

static uint32_t make2(walk *w, SpvOp op, uint32_t type, uint32_t a, uint32_t b) {
    KP_REWRITE_PUT(&w->r.body, op, type, w->r.next, a, b);
    return w->r.next++;
}

static uint32_t unsigned_type(walk *w, uint32_t width, uint32_t rows) {
    w->int16 = w->int16 || width == 16;
    w->int64 = w->int64 || width == 64;
    uint32_t type = kp_rewrite_global(&w->r, SpvOpTypeInt, width, 0);
    return rows == 1 ? type : kp_rewrite_global(&w->r, SpvOpTypeVector, type, rows);
}

// A number that is 0, with as many bits and components, and another one each time: Mesa makes `(c ? 1.0 : -0.0) | n` of
// `c ? 1.0 | n : -0.0 | n`, and of that it makes +0.0.
static uint32_t nothing_like(walk *w, shape s) {
    uint32_t *shift = &w->shifts[w->hidden++ % SHIFTS];
    if (*shift == 0) {
        *shift = w->r.next++;
        KP_REWRITE_PUT(&w->r.globals, SpvOpConstant, w->type_u32, *shift, w->hidden);
    }
    uint32_t one = make2(w, SpvOpShiftLeftLogical, w->type_u32, w->nothing, *shift);
    if (s.width != 32)
        one = make(w, SpvOpUConvert, unsigned_type(w, s.width, 1), one);
    if (s.rows == 1)
        return one;
    uint32_t type = unsigned_type(w, s.width, s.rows), operands[6] = {type, w->r.next, one, one, one, one};
    kp_rewrite_put(&w->r.body, SpvOpCompositeConstruct, operands, 2u + s.rows);
    return w->r.next++;
}

static uint32_t hide_column(walk *w, uint32_t type, uint32_t id, shape s) {
    uint32_t bits_type = unsigned_type(w, s.width, s.rows);
    uint32_t bits = make(w, SpvOpBitcast, bits_type, id);
    bits = make2(w, SpvOpBitwiseOr, bits_type, bits, nothing_like(w, s));
    return make(w, SpvOpBitcast, type, bits);
}

static uint32_t hide_as(walk *w, uint32_t type, uint32_t id) {
    kp_reflect_instruction i = kp_reflect_module_def(&w->r.module, type);
    shape s = w->shapes[type];
    if (i.op != SpvOpTypeMatrix)
        return hide_column(w, i.words[1], id, s);
    uint32_t operands[6] = {i.words[1], 0};
    for (uint32_t k = 0; k < s.columns; k++)
        operands[2 + k] = hide_column(w, i.words[2], make2(w, SpvOpCompositeExtract, i.words[2], id, k), s);
    operands[1] = w->r.next;
    kp_rewrite_put(&w->r.body, SpvOpCompositeConstruct, operands, 2u + s.columns);
    return w->r.next++;
}

static uint32_t hide(walk *w, uint32_t id) {
    return hide_as(w, kp_reflect_module_type(&w->r.module, row_of(w, id)), id);
}

// Its operands from `first` on, as far as they must be, are others from now on.
static void hide_operands(walk *w, const kp_reflect_instruction *i, uint32_t first, uint8_t facts) {
    for (uint32_t k = first; k < i->count; k++) {
        if (is_hidden_for(w, i->words[k], facts))
            w->r.module.words[i->at + k] = hide(w, i->words[k]);
    }
}

static void write_operands(walk *w, const kp_reflect_instruction *i) {
    uint8_t hidden = hidden_of(i);
    if (hidden != 0)
        hide_operands(w, i, first_operand(i), hidden);
    else if (i->op == SpvOpFunctionCall)
        hide_operands(w, i, 4, ZERO);
    else if (i->op == SpvOpStore && is_hidden(w, i->words[2]))
        w->r.module.words[i->at + 2] = hide(w, i->words[2]);
    else if (i->op == SpvOpReturnValue)
        hide_operands(w, i, 1, ZERO);
    else if (i->op == SpvOpSelect)
        hide_operands(w, i, 4, ZERO);
}

static void write_one(walk *w, const kp_reflect_instruction *i) {
    kp_str_add(&w->r.body, (const char *)i->words, i->count * sizeof *i->words);
}

static bool starts_hidden(walk *w, const kp_reflect_instruction *i) {
    return i->op == SpvOpVariable && !has_no_initializer(i) && is_hidden(w, i->words[4]);
}

static void write_nothing(walk *w) {
    uint32_t ids = make(w, SpvOpLoad, w->type_u32x3, w->workgroup);
    uint32_t id = make2(w, SpvOpCompositeExtract, w->type_u32, ids, 0);
    id = make2(w, SpvOpIMul, w->type_u32, id, id);
    w->nothing = make2(w, SpvOpBitwiseAnd, w->type_u32, id, w->two);
}

// The constants that OpPhi chooses among, behind where a function's variables end.
static void hide_choices(walk *w, uint32_t at) {
    kp_reflect_instruction i;
    while (kp_reflect_module_next(&w->r.module, &at, &i) && i.op != SpvOpFunctionEnd) {
        for (uint32_t k = 3; i.op == SpvOpPhi && k < i.count; k += 2) {
            if (is_hidden_constant(w, i.words[k]))
                w->r.module.words[i.at + k] = hide(w, i.words[k]);
        }
    }
}

// What stands between a function's variables and the rest: the number that is 0, stores of what variables start with,
// and constants.
static void write_start(walk *w, uint32_t first, uint32_t end) {
    kp_reflect_instruction i;
    write_nothing(w);
    hide_choices(w, end);
    for (uint32_t at = first; at < end && kp_reflect_module_next(&w->r.module, &at, &i);) {
        if (starts_hidden(w, &i)) {
            uint32_t value = hide(w, i.words[4]);
            KP_REWRITE_PUT(&w->r.body, SpvOpStore, i.words[2], value);
        }
    }
}

static void write_load(walk *w, const kp_reflect_instruction *i) {
    uint32_t id = i->words[2], type = i->words[1], loaded = w->r.next++;
    w->r.module.words[i->at + 2] = loaded;
    write_one(w, i);
    KP_REWRITE_PUT(&w->r.body, SpvOpCopyObject, type, id, hide_as(w, row_of(w, type), loaded));
}

static void write_variable(walk *w, const kp_reflect_instruction *i) {
    if (starts_hidden(w, i))
        KP_REWRITE_PUT(&w->r.body, SpvOpVariable, i->words[1], i->words[2], i->words[3]);
    else
        write_one(w, i);
}

static bool is_line(SpvOp op) { return op == SpvOpLine || op == SpvOpNoLine; }

static void write_functions(walk *w) {
    kp_reflect_instruction i;
    bool begins = false;    // the next label is the function's first
    uint32_t variables = 0; // where they begin, until they are behind
    for (uint32_t at = w->r.module.function_at; kp_reflect_module_next(&w->r.module, &at, &i);) {
        if (variables != 0 && i.op != SpvOpVariable && !is_line(i.op)) {
            write_start(w, variables, i.at);
            variables = 0;
        }
        if (i.op == SpvOpLabel && begins)
            variables = at;
        begins = i.op == SpvOpFunction || (begins && i.op != SpvOpLabel);
        write_operands(w, &i);
        if (i.op == SpvOpVariable)
            write_variable(w, &i);
        else if (is_from_outside(w, &i))
            write_load(w, &i);
        else
            write_one(w, &i);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The module
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t find_workgroup(walk *w) {
    for (uint32_t row = 0; row < w->r.module.global_count; row++) {
        const kp_reflect_def *def = &w->r.module.defs[row];
        if (def->builtin == SpvBuiltInWorkgroupId && kp_reflect_module_def(&w->r.module, row).op == SpvOpVariable)
            return def->id;
    }
    return 0;
}

static bool has_capability(const walk *w, SpvCapability capability) {
    const uint32_t *words = w->r.module.words;
    for (size_t at = KP_REWRITE_HEADER; (words[at] & SpvOpCodeMask) == SpvOpCapability;
         at += words[at] >> SpvWordCountShift) {
        if (words[at + 1] == (uint32_t)capability)
            return true;
    }
    return false;
}

static bool lists(const kp_reflect_instruction *entry, uint32_t variable) {
    uint32_t k = 3;
    while (k < entry->count && (entry->words[k] >> 24) != 0) // its name
        k++;
    for (k++; k < entry->count; k++) {
        if (entry->words[k] == variable)
            return true;
    }
    return false;
}

static void write_entry(walk *w, const kp_reflect_instruction *i, kp_str *to) {
    uint32_t first = i->words[0];
    bool more = !lists(i, w->workgroup);
    first += more ? 1u << SpvWordCountShift : 0;
    kp_str_add(to, (const char *)&first, sizeof first);
    kp_str_add(to, (const char *)(i->words + 1), (i->count - 1) * sizeof first);
    if (more)
        kp_str_add(to, (const char *)&w->workgroup, sizeof w->workgroup);
}

static bool is_annotation(SpvOp op) { return op == SpvOpDecorate || op == SpvOpMemberDecorate; }

static void assemble(walk *w, bool decorate, kp_str *to) {
    kp_reflect_instruction i;
    bool capable = false;
    w->r.module.words[KP_REWRITE_BOUND] = w->r.next;
    kp_str_add(to, (const char *)w->r.module.words, KP_REWRITE_HEADER * sizeof(uint32_t));
    for (uint32_t at = KP_REWRITE_HEADER;
         at < w->r.module.function_at && kp_reflect_module_next(&w->r.module, &at, &i);) {
        if (!capable && w->int16 && !has_capability(w, SpvCapabilityInt16))
            KP_REWRITE_PUT(to, SpvOpCapability, SpvCapabilityInt16);
        if (!capable && w->int64 && !has_capability(w, SpvCapabilityInt64))
            KP_REWRITE_PUT(to, SpvOpCapability, SpvCapabilityInt64);
        capable = true;
        if (decorate && is_annotation(i.op)) {
            KP_REWRITE_PUT(to, SpvOpDecorate, w->workgroup, SpvDecorationBuiltIn, SpvBuiltInWorkgroupId);
            decorate = false;
        }
        if (i.op == SpvOpEntryPoint)
            write_entry(w, &i, to);
        else
            kp_str_add(to, (const char *)i.words, i.count * sizeof *i.words);
    }
    kp_rewrite_append(to, &w->r.globals);
    kp_rewrite_append(to, &w->r.body);
}

static void change(kp_rewrite *r, kp_str *to) {
    walk *w = (walk *)r;
    kp_reflect_module *m = &w->r.module;
    w->shapes = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *w->shapes);
    w->facts = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *w->facts);
    read_ids(w);
    read_facts(w);
    w->type_u32 = unsigned_type(w, 32, 1);
    w->type_u32x3 = unsigned_type(w, 32, 3);
    w->workgroup = find_workgroup(w);
    bool decorate = w->workgroup == 0;
    if (decorate) {
        uint32_t pointer = kp_rewrite_global(&w->r, SpvOpTypePointer, SpvStorageClassInput, w->type_u32x3);
        w->workgroup = w->r.next++;
        KP_REWRITE_PUT(&w->r.globals, SpvOpVariable, pointer, w->workgroup, SpvStorageClassInput);
    }
    w->two = w->r.next++;
    KP_REWRITE_PUT(&w->r.globals, SpvOpConstant, w->type_u32, w->two, 2);
    write_functions(w);
    if (w->hidden != 0)
        assemble(w, decorate, to);
}

kp_result kp_known_zeros_apply(const uint32_t *words, size_t word_count, uint32_t **out, size_t *out_count) {
    walk w = {0};
    return kp_rewrite_apply(&w.r, "known zeros", change, words, word_count, out, out_count);
}
