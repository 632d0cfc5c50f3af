// See reflect_types.h. One walk in the order of definition: each row is made from smaller rows only, so there is no
// recursion, no cycle and no work done twice, however types nest. Whatever a row cannot be computed from leaves it
// unknown.
#include "reflect_types.h"

#include <stdlib.h>

enum { MAX_BITS = 64, DEEPEST = 64 };

uint64_t kp_reflect_types_sum(uint64_t a, uint64_t b) {
    return a > KP_REFLECT_UNKNOWN - b ? KP_REFLECT_UNKNOWN : a + b;
}

uint64_t kp_reflect_types_product(uint64_t a, uint64_t b) {
    return b != 0 && a > KP_REFLECT_UNKNOWN / b ? KP_REFLECT_UNKNOWN : a * b;
}

// The row that operand k of `user` names, when it lies before `user`; else NONE.
static uint32_t earlier(const kp_reflect_types *t, const kp_reflect_instruction *i, uint32_t k, uint32_t user) {
    uint32_t row = kp_reflect_module_find(t->module, kp_reflect_operand(i, k));
    return row < user && row < t->module->global_count ? row : KP_REFLECT_NONE;
}

// ---------------------------------------------------------------------------------------------------------------------
// Constants
// ---------------------------------------------------------------------------------------------------------------------

// Bits of the scalar type of a constant; a bool has 1, anything else 0.
static unsigned width_of(const kp_reflect_module *m, uint32_t row) {
    uint32_t type = kp_reflect_module_type(m, row);
    if (type == KP_REFLECT_NONE)
        return 0;
    kp_reflect_instruction i = kp_reflect_module_def(m, type);
    if (i.op == SpvOpTypeBool)
        return 1;
    if (i.op != SpvOpTypeInt && i.op != SpvOpTypeFloat)
        return 0;
    uint32_t width = kp_reflect_operand(&i, 2);
    return width <= MAX_BITS ? width : 0;
}

static uint64_t cut(uint64_t value, unsigned width) {
    return width < MAX_BITS ? value & (((uint64_t)1 << width) - 1) : value;
}

// Two's complement of `width` bits, widened to 64.
static int64_t as_signed(uint64_t value, unsigned width) {
    uint64_t sign = (uint64_t)1 << (width - 1);
    return (int64_t)((cut(value, width) ^ sign) - sign);
}

static void set_value(kp_reflect_row *row, uint64_t value, unsigned width) {
    row->value = cut(value, width);
    row->known = width != 0;
}

int kp_reflect_types_order(const void *a, const void *b) {
    uint32_t x = ((const kp_reflect_value *)a)->id, y = ((const kp_reflect_value *)b)->id;
    return x < y ? -1 : x > y;
}

// The value given for a specialization constant, or NULL.
static const kp_reflect_value *given(const kp_reflect_types *t, uint32_t row) {
    kp_reflect_value key = {.id = t->module->defs[row].spec};
    if (key.id == KP_REFLECT_NONE || t->value_count == 0)
        return NULL;
    return bsearch(&key, t->values, t->value_count, sizeof key, kp_reflect_types_order);
}

static uint64_t literal(const kp_reflect_instruction *i, unsigned width) {
    uint64_t low = kp_reflect_operand(i, 3), high = width > 32 ? kp_reflect_operand(i, 4) : 0;
    return high << 32 | low;
}

// i is OpSpecConstantOp with the operands a, b, c (0 where it has fewer), `width` bits each unless it converts. False
// for what is not computed: an opcode that sizes do not use, or a division by zero.
static bool apply(SpvOp op, unsigned width, unsigned from, uint64_t a, uint64_t b, uint64_t c, uint64_t *out) {
    int64_t sa = as_signed(a, from), sb = as_signed(b, from);
    bool overflow = sb == -1 && a == cut((uint64_t)1 << (from - 1), from); // the least number by -1
    switch (op) {
    case SpvOpIAdd:
        *out = a + b;
        return true;
    case SpvOpISub:
        *out = a - b;
        return true;
    case SpvOpIMul:
        *out = a * b;
        return true;
    case SpvOpUDiv:
        *out = b != 0 ? a / b : 0;
        return b != 0;
    case SpvOpUMod:
        *out = b != 0 ? a % b : 0;
        return b != 0;
    case SpvOpSDiv:
        *out = sb != 0 && !overflow ? (uint64_t)(sa / sb) : 0;
        return sb != 0 && !overflow;
    case SpvOpSRem:
    case SpvOpSMod: {
        if (sb == 0 || overflow)
            return false;
        int64_t rest = sa % sb;
        *out = (uint64_t)(op == SpvOpSMod && rest != 0 && (rest < 0) != (sb < 0) ? rest + sb : rest);
        return true;
    }
    case SpvOpSNegate:
        *out = 0 - a;
        return true;
    case SpvOpNot:
        *out = ~a;
        return true;
    case SpvOpShiftLeftLogical:
        *out = b < MAX_BITS ? a << b : 0;
        return b < width;
    case SpvOpShiftRightLogical:
        *out = b < MAX_BITS ? a >> b : 0;
        return b < width;
    case SpvOpShiftRightArithmetic:
        *out = b < width ? (uint64_t)(sa < 0 ? ~(~sa >> b) : sa >> b) : 0;
        return b < width;
    case SpvOpBitwiseAnd:
    case SpvOpLogicalAnd:
        *out = a & b;
        return true;
    case SpvOpBitwiseOr:
    case SpvOpLogicalOr:
        *out = a | b;
        return true;
    case SpvOpBitwiseXor:
    case SpvOpLogicalNotEqual:
    case SpvOpINotEqual:
        *out = op == SpvOpBitwiseXor ? a ^ b : (uint64_t)(a != b);
        return true;
    case SpvOpIEqual:
    case SpvOpLogicalEqual:
        *out = a == b;
        return true;
    case SpvOpLogicalNot:
        *out = a == 0;
        return true;
    case SpvOpULessThan:
        *out = a < b;
        return true;
    case SpvOpULessThanEqual:
        *out = a <= b;
        return true;
    case SpvOpUGreaterThan:
        *out = a > b;
        return true;
    case SpvOpUGreaterThanEqual:
        *out = a >= b;
        return true;
    case SpvOpSLessThan:
        *out = sa < sb;
        return true;
    case SpvOpSLessThanEqual:
        *out = sa <= sb;
        return true;
    case SpvOpSGreaterThan:
        *out = sa > sb;
        return true;
    case SpvOpSGreaterThanEqual:
        *out = sa >= sb;
        return true;
    case SpvOpSelect:
        *out = a != 0 ? b : c;
        return true;
    case SpvOpUConvert:
        *out = a;
        return true;
    case SpvOpSConvert:
        *out = (uint64_t)sa;
        return true;
    default:
        return false;
    }
}

// Operand k as a number; bits of its type in *width.
static bool number(const kp_reflect_types *t, const kp_reflect_instruction *i, uint32_t k, uint32_t user,
                   uint64_t *value, unsigned *width) {
    uint32_t row = earlier(t, i, k, user);
    if (row == KP_REFLECT_NONE || !t->rows[row].known)
        return false;
    *value = t->rows[row].value;
    *width = width_of(t->module, row);
    return *width != 0;
}

// OpSpecConstantOp CompositeExtract: composite, indices.
static void extract(kp_reflect_types *t, uint32_t row, const kp_reflect_instruction *i) {
    uint32_t id = kp_reflect_operand(i, 4);
    for (uint32_t k = 5; k < i->count && id != 0; k++)
        id = kp_reflect_types_component(t, id, i->words[k]);
    uint32_t from = kp_reflect_module_find(t->module, id);
    if (from < row && t->rows[from].known)
        set_value(&t->rows[row], t->rows[from].value, width_of(t->module, row));
}

static void compute(kp_reflect_types *t, uint32_t row, const kp_reflect_instruction *i) {
    SpvOp op = (SpvOp)kp_reflect_operand(i, 3);
    if (op == SpvOpCompositeExtract) {
        extract(t, row, i);
        return;
    }
    uint64_t v[3] = {0}, result;
    unsigned width = width_of(t->module, row), widths[3] = {0};
    for (uint32_t k = 4; k < i->count; k++) {
        if (k - 4 >= 3 || !number(t, i, k, row, &v[k - 4], &widths[k - 4]))
            return;
    }
    if (width != 0 && widths[0] != 0 && apply(op, width, widths[0], v[0], v[1], v[2], &result))
        set_value(&t->rows[row], result, width);
}

static void evaluate_constant(kp_reflect_types *t, uint32_t row, const kp_reflect_instruction *i) {
    unsigned width = width_of(t->module, row);
    const kp_reflect_value *override = NULL;
    switch (i->op) {
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse:
        override = given(t, row);
        set_value(&t->rows[row], override != NULL ? override->bits != 0 : i->op == SpvOpSpecConstantTrue, width);
        break;
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
        set_value(&t->rows[row], i->op == SpvOpConstantTrue, width);
        break;
    case SpvOpSpecConstant:
        override = given(t, row);
        set_value(&t->rows[row], override != NULL ? override->bits : literal(i, width), width);
        break;
    case SpvOpConstant:
        set_value(&t->rows[row], literal(i, width), width);
        break;
    case SpvOpConstantNull:
        set_value(&t->rows[row], 0, width);
        break;
    case SpvOpSpecConstantOp:
        compute(t, row, i);
        break;
    default:
        break;
    }
}

bool kp_reflect_types_constant(const kp_reflect_types *t, uint32_t id, uint64_t *out) {
    uint32_t row = kp_reflect_module_find(t->module, id);
    if (row >= t->module->global_count || !t->rows[row].known)
        return false;
    *out = t->rows[row].value;
    return true;
}

uint32_t kp_reflect_types_component(const kp_reflect_types *t, uint32_t id, uint32_t index) {
    uint32_t row = kp_reflect_module_find(t->module, id);
    if (row == KP_REFLECT_NONE)
        return 0;
    kp_reflect_instruction i = kp_reflect_module_def(t->module, row);
    bool composite = i.op == SpvOpConstantComposite || i.op == SpvOpSpecConstantComposite;
    return composite && i.count > 3 && index < i.count - 3 ? i.words[3 + index] : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

bool kp_reflect_types_element(const kp_reflect_module *m, uint32_t row, kp_dtype *dtype, uint32_t *components) {
    static const kp_dtype floats[] = {KP_F16, KP_F32, KP_F64};
    static const kp_dtype ints[] = {KP_I8, KP_I16, KP_I32, KP_I64};
    static const kp_dtype uints[] = {KP_U8, KP_U16, KP_U32, KP_U64};
    kp_reflect_instruction i = kp_reflect_module_def(m, row);
    *components = 1;
    if (i.op == SpvOpTypeVector) {
        *components = kp_reflect_operand(&i, 3);
        uint32_t scalar = kp_reflect_module_find(m, kp_reflect_operand(&i, 2));
        if (scalar >= row || *components < 2 || *components > 4)
            return false;
        i = kp_reflect_module_def(m, scalar);
    }
    uint32_t width = kp_reflect_operand(&i, 2);
    unsigned step = width == 8 ? 0 : width == 16 ? 1 : width == 32 ? 2 : width == 64 ? 3 : 4;
    *dtype = KP_BOOL;
    if (i.op == SpvOpTypeInt && step < 4)
        *dtype = kp_reflect_operand(&i, 3) != 0 ? ints[step] : uints[step];
    else if (i.op == SpvOpTypeFloat && i.count == 3 && step >= 1 && step < 4) // longer: an encoding other than IEEE's
        *dtype = floats[step - 1];
    else if (i.op != SpvOpTypeBool)
        return false;
    return true;
}

static void set_type(kp_reflect_row *row, uint64_t laid, uint64_t tight, uint8_t align) {
    *row = (kp_reflect_row){.laid = laid, .tight = tight, .align = align};
}

// Bytes of `count` elements a stride apart: the last one ends with its own size. Without a stride, they are packed.
static uint64_t strided(uint64_t count, uint32_t stride, uint64_t element) {
    if (count == 0)
        return 0;
    if (stride == KP_REFLECT_NONE)
        return kp_reflect_types_product(count, element);
    return kp_reflect_types_sum(kp_reflect_types_product(count - 1, stride), element);
}

// Bytes of a member, whose decorations give the stride of the matrices in it, under any arrays.
static uint64_t member_size(const kp_reflect_types *t, const kp_reflect_member *member, uint32_t type) {
    uint64_t before = 0; // bytes in front of the last element, of all the arrays passed
    for (int depth = 0; depth < DEEPEST; depth++) {
        const kp_reflect_module *m = t->module;
        kp_reflect_instruction i = kp_reflect_module_def(m, type);
        uint32_t inner = earlier(t, &i, 2, type);
        if (inner == KP_REFLECT_NONE || member->matrix_stride == KP_REFLECT_NONE)
            break;
        if (i.op == SpvOpTypeMatrix) {
            kp_reflect_instruction column = kp_reflect_module_def(m, inner);
            uint32_t columns = kp_reflect_operand(&i, 3), rows = kp_reflect_operand(&column, 3);
            uint64_t scalar = t->rows[inner].align;
            uint64_t lines = member->row_major ? rows : columns, length = member->row_major ? columns : rows;
            uint64_t size = strided(lines, member->matrix_stride, kp_reflect_types_product(length, scalar));
            return kp_reflect_types_sum(before, size);
        }
        uint64_t count;
        if (i.op != SpvOpTypeArray || !kp_reflect_types_constant(t, kp_reflect_operand(&i, 3), &count) || count == 0 ||
            m->defs[type].stride == KP_REFLECT_NONE)
            break;
        before = kp_reflect_types_sum(before, kp_reflect_types_product(count - 1, m->defs[type].stride));
        type = inner;
    }
    return kp_reflect_types_sum(before, t->rows[type].laid);
}

static void evaluate_struct(kp_reflect_types *t, uint32_t row, const kp_reflect_instruction *i) {
    kp_reflect_row sum = {.align = 1};
    for (uint32_t k = 2; k < i->count; k++) {
        const kp_reflect_member *member = &t->module->members[t->module->defs[row].members + k - 2];
        uint32_t type = earlier(t, i, k, row);
        if (type == KP_REFLECT_NONE) { // a pointer declared ahead
            sum.tight = KP_REFLECT_UNKNOWN;
            continue;
        }
        const kp_reflect_row *r = &t->rows[type];
        uint64_t offset = member->offset != KP_REFLECT_NONE ? member->offset : sum.laid;
        uint64_t size = member_size(t, member, type), end = size != 0 ? kp_reflect_types_sum(offset, size) : 0;
        sum.laid = end > sum.laid ? end : sum.laid;
        uint64_t align = r->align != 0 ? r->align : 1;
        uint64_t gap = (align - sum.tight % align) % align;
        sum.tight = kp_reflect_types_sum(kp_reflect_types_sum(sum.tight, gap), r->tight);
        sum.align = align > sum.align ? (uint8_t)align : sum.align;
    }
    set_type(&t->rows[row], sum.laid, sum.tight, sum.align);
}

static void evaluate_array(kp_reflect_types *t, uint32_t row, const kp_reflect_instruction *i) {
    uint32_t element = earlier(t, i, 2, row);
    uint64_t count;
    if (element == KP_REFLECT_NONE || !kp_reflect_types_constant(t, kp_reflect_operand(i, 3), &count)) {
        set_type(&t->rows[row], KP_REFLECT_UNKNOWN, KP_REFLECT_UNKNOWN, 1);
        return;
    }
    const kp_reflect_row *r = &t->rows[element];
    uint64_t align = r->align != 0 ? r->align : 1;
    uint64_t step = kp_reflect_types_sum(r->tight, (align - r->tight % align) % align);
    set_type(&t->rows[row], strided(count, t->module->defs[row].stride, r->laid), kp_reflect_types_product(count, step),
             r->align);
}

// A vector or matrix: `count` times the type of operand 2.
static void evaluate_repeated(kp_reflect_types *t, uint32_t row, const kp_reflect_instruction *i) {
    uint32_t element = earlier(t, i, 2, row), count = kp_reflect_operand(i, 3);
    if (element == KP_REFLECT_NONE)
        return;
    const kp_reflect_row *r = &t->rows[element];
    set_type(&t->rows[row], kp_reflect_types_product(r->laid, count), kp_reflect_types_product(r->tight, count),
             r->align);
}

static void evaluate_type(kp_reflect_types *t, uint32_t row, const kp_reflect_instruction *i) {
    uint32_t width = kp_reflect_operand(i, 2);
    uint8_t bytes = width >= 8 && width <= MAX_BITS ? (uint8_t)(width / 8) : 4;
    switch (i->op) {
    case SpvOpTypeBool:
        set_type(&t->rows[row], 4, 4, 4);
        break;
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        set_type(&t->rows[row], bytes, bytes, bytes);
        break;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        evaluate_repeated(t, row, i);
        break;
    case SpvOpTypeArray:
        evaluate_array(t, row, i);
        break;
    case SpvOpTypeStruct:
        evaluate_struct(t, row, i);
        break;
    case SpvOpTypePointer:
        set_type(&t->rows[row], 8, 8, 8);
        break;
    default:
        break;
    }
}

void kp_reflect_types_evaluate(kp_reflect_types *t) {
    kp_reflect_module *m = t->module;
    t->rows = kp_reflect_module_alloc(m, m->scratch, m->global_count, sizeof *t->rows);
    for (uint32_t row = 0; row < m->global_count; row++) {
        kp_reflect_instruction i = kp_reflect_module_def(m, row);
        evaluate_constant(t, row, &i);
        evaluate_type(t, row, &i);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Types by row
// ---------------------------------------------------------------------------------------------------------------------

uint32_t kp_reflect_types_before(const kp_reflect_module *m, uint32_t row, uint32_t k) {
    kp_reflect_instruction i = kp_reflect_module_def(m, row);
    uint32_t type = kp_reflect_module_find(m, kp_reflect_operand(&i, k));
    return type < row ? type : KP_REFLECT_NONE;
}

uint32_t kp_reflect_types_pointee(const kp_reflect_module *m, uint32_t variable) {
    uint32_t pointer = kp_reflect_module_type(m, variable);
    if (pointer == KP_REFLECT_NONE || kp_reflect_module_def(m, pointer).op != SpvOpTypePointer)
        return KP_REFLECT_NONE;
    // A forward-declared pointer may be defined before what it points to.
    kp_reflect_instruction i = kp_reflect_module_def(m, pointer);
    uint32_t type = kp_reflect_module_find(m, kp_reflect_operand(&i, 3));
    return type < m->global_count ? type : KP_REFLECT_NONE;
}

uint32_t kp_reflect_types_storage_class(const kp_reflect_module *m, uint32_t row) {
    kp_reflect_instruction i = kp_reflect_module_def(m, row);
    return i.op == SpvOpVariable && i.count > 3 ? i.words[3] : KP_REFLECT_NONE;
}
