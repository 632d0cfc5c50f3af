// What the invocations of a workgroup do together: shared memory, barriers, atomics, subgroup operations.
//
// Float atomics are a loop of compare and exchange on the number's bits, which every device has: the array is declared
// as one of u32 (kp_symbol.bits), and all other loads and stores of it convert. In an alternative module, for devices
// that add floats by one instruction, an array that is added to, and needs no such loop besides, stays one of floats.
#include "emitter.h"

#include "builtin.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Shared memory
// ---------------------------------------------------------------------------------------------------------------------

// The product of the axes less `less`, as a constant of the module.
static uint32_t total_length(kp_emitter *e, const kp_symbol *symbol, uint32_t less) {
    uint64_t known = 1;
    uint32_t spec = 0;
    for (uint32_t i = 0; i < symbol->axis_count; i++) {
        const kp_node *axis = symbol->axes[i];
        if (axis->kind == KP_NODE_CONST) {
            known *= (uint64_t)axis->u.value.i;
            continue;
        }
        uint32_t id = axis->u.symbol->id;
        spec = spec == 0 ? id : kp_spirv_spec_op(e->s, SpvOpIMul, e->type_i32, (uint32_t[]){spec, id}, 2);
    }
    if (spec == 0)
        return kp_spirv_constant(e->s, e->type_u32, (uint32_t)known - less);
    if (known != 1) {
        uint32_t factor = kp_spirv_constant(e->s, e->type_i32, (uint32_t)known);
        spec = kp_spirv_spec_op(e->s, SpvOpIMul, e->type_i32, (uint32_t[]){spec, factor}, 2);
    }
    uint32_t minus = kp_spirv_constant(e->s, e->type_i32, (uint32_t) - (int32_t)less);
    return kp_spirv_spec_op(e->s, SpvOpIAdd, e->type_u32, (uint32_t[]){spec, minus}, 2);
}

void kp_emit_shared(kp_emitter *e) {
    for (kp_symbol *symbol = e->kernel->symbols; symbol != NULL; symbol = symbol->next) {
        if (symbol->kind != KP_SYMBOL_SHARED)
            continue;
        uint32_t element = kp_emit_kept_type(e, symbol->type->element, symbol->bits);
        symbol->last = total_length(e, symbol, 1);
        uint32_t array = kp_spirv_type_sized(e->s, element, total_length(e, symbol, 0));
        uint32_t pointer = kp_spirv_type_pointer(e->s, SpvStorageClassWorkgroup, array);
        symbol->id = kp_spirv_global(e->s, pointer, SpvStorageClassWorkgroup);
        kp_spirv_name(e->s, symbol->id, symbol->name->text);
    }
}

// An index out of range, a negative one too, is that of the last element: nothing outside of the array is touched.
kp_place kp_emit_shared_place(kp_emitter *e, kp_node *n) {
    const kp_symbol *symbol = n->u.subscript.object->u.symbol;
    kp_node *index = n->u.subscript.index;
    uint32_t before = e->outside;
    e->outside = 0;
    uint32_t given = kp_emit_expr(e, index), at = given;
    kp_place place = {.type = n->type, .storage = SpvStorageClassWorkgroup, .bits = symbol->bits};
    place.outside = e->outside;
    e->outside = before;
    if (index->kind != KP_NODE_CONST || symbol->axes[symbol->axis_count - 1]->kind != KP_NODE_CONST) {
        if (kp_type_is_signed(index->type))
            at = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, at);
        if (e->unit->desc->checked && symbol->axis_count == 1)
            place.outside = kp_emit_check_index(e, n->u.subscript.object, index, given, at, kp_type_scalar(KP_U32),
                                                total_length(e, symbol, 0));
        at = kp_spirv_glsl(e->s, GLSLstd450UMin, e->type_u32, (uint32_t[]){at, symbol->last}, 2);
    }
    uint32_t type = kp_emit_kept_type(e, n->type, symbol->bits);
    uint32_t pointer = kp_spirv_type_pointer(e->s, place.storage, type);
    place.pointer = kp_spirv_access(e->s, pointer, symbol->id, &at, 1);
    return place;
}

// ---------------------------------------------------------------------------------------------------------------------
// Barriers
// ---------------------------------------------------------------------------------------------------------------------

static void emit_barrier(kp_emitter *e, const kp_node *n) {
    uint32_t op = n->u.call.row->op;
    uint32_t images = kp_emit_has_images(e) ? SpvMemorySemanticsImageMemoryMask : 0;
    uint32_t semantics = kp_emit_u32(e, SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsUniformMemoryMask |
                                            SpvMemorySemanticsWorkgroupMemoryMask | images);
    uint32_t group = kp_emit_u32(e, SpvScopeWorkgroup);
    if (op == KP_BARRIER_ALL)
        kp_spirv_effect(e->s, SpvOpControlBarrier, (uint32_t[]){group, group, semantics}, 3);
    else if (op == KP_BARRIER_GROUP)
        kp_spirv_effect(e->s, SpvOpMemoryBarrier, (uint32_t[]){group, semantics}, 2);
    else
        kp_spirv_effect(e->s, SpvOpMemoryBarrier, (uint32_t[]){kp_emit_u32(e, SpvScopeDevice), semantics}, 2);
}

// ---------------------------------------------------------------------------------------------------------------------
// Atomics
// ---------------------------------------------------------------------------------------------------------------------

static SpvOp atomic_op(uint32_t op, bool is_signed) {
    switch ((kp_atomic)op) {
    case KP_ATOMIC_ADD:
        return SpvOpAtomicIAdd;
    case KP_ATOMIC_SUB:
        return SpvOpAtomicISub;
    case KP_ATOMIC_MIN:
        return is_signed ? SpvOpAtomicSMin : SpvOpAtomicUMin;
    case KP_ATOMIC_MAX:
        return is_signed ? SpvOpAtomicSMax : SpvOpAtomicUMax;
    case KP_ATOMIC_AND:
        return SpvOpAtomicAnd;
    case KP_ATOMIC_OR:
        return SpvOpAtomicOr;
    case KP_ATOMIC_XOR:
        return SpvOpAtomicXor;
    case KP_ATOMIC_EXCHANGE:
        return SpvOpAtomicExchange;
    default:
        return SpvOpAtomicCompareExchange;
    }
}

enum {
    ADDS = 1u << KP_ATOMIC_ADD | 1u << KP_ATOMIC_SUB,
    EXCHANGES = 1u << KP_ATOMIC_EXCHANGE,
};

// What the device must have for an array whose floats stay floats; 0: there is no gain, or no way.
static uint32_t array_needs(const kp_symbol *symbol) {
    bool shared = symbol->kind == KP_SYMBOL_SHARED;
    uint32_t ops = symbol->float_atomics;
    if ((ops & ADDS) == 0 || (ops & ~(uint32_t)(ADDS | EXCHANGES)) != 0)
        return 0;
    uint32_t exchange = shared ? KP_NEED_SHARED_EXCHANGE : KP_NEED_BUFFER_EXCHANGE;
    return (shared ? KP_NEED_SHARED_ADD : KP_NEED_BUFFER_ADD) | ((ops & EXCHANGES) != 0 ? exchange : 0);
}

void kp_emit_choose_atomics(kp_emitter *e) {
    kp_unit *unit = e->unit;
    for (kp_symbol *symbol = e->kernel->symbols; symbol != NULL; symbol = symbol->next) {
        if (symbol->float_atomics == 0)
            continue;
        uint32_t needs = array_needs(symbol);
        symbol->bits = needs == 0 || (needs & ~unit->may_need) != 0;
        unit->could_need |= needs;
        unit->needs |= symbol->bits ? 0 : needs;
    }
}

static uint32_t bits_of(kp_emitter *e, uint32_t x) { return kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, x); }
static uint32_t float_of(kp_emitter *e, uint32_t x) { return kp_spirv_unary(e->s, SpvOpBitcast, e->type_f32, x); }

static uint32_t scope_of(kp_emitter *e, const kp_place *place) {
    return kp_emit_u32(e, place->storage == SpvStorageClassWorkgroup ? SpvScopeWorkgroup : SpvScopeDevice);
}

static uint32_t compare_exchange(kp_emitter *e, const kp_place *place, uint32_t type, uint32_t value,
                                 uint32_t expected) {
    uint32_t relaxed = kp_emit_u32(e, SpvMemorySemanticsMaskNone);
    uint32_t operands[6] = {place->pointer, scope_of(e, place), relaxed, relaxed, value, expected};
    return kp_spirv_instruction(e->s, SpvOpAtomicCompareExchange, type, operands, 6);
}

static uint32_t combined(kp_emitter *e, uint32_t op, uint32_t was, uint32_t x) {
    const kp_type *f32 = kp_type_scalar(KP_F32);
    if (op == KP_ATOMIC_ADD || op == KP_ATOMIC_SUB)
        return kp_spirv_binary(e->s, op == KP_ATOMIC_ADD ? SpvOpFAdd : SpvOpFSub, e->type_f32, was, x);
    return kp_emit_pick(e, f32, op == KP_ATOMIC_MAX, was, x);
}

// old = what is there; until that is what it should become, or still was: exchange(old, old + x)
static uint32_t float_loop(kp_emitter *e, uint32_t op, const kp_place *place, uint32_t x) {
    kp_spirv *s = e->s;
    uint32_t old = kp_emit_variable(e, kp_type_scalar(KP_U32), NULL);
    uint32_t header = kp_spirv_id(s), head = kp_spirv_id(s), body = kp_spirv_id(s), next = kp_spirv_id(s);
    uint32_t merge = kp_spirv_id(s);
    uint32_t load[3] = {place->pointer, scope_of(e, place), kp_emit_u32(e, SpvMemorySemanticsMaskNone)};
    kp_spirv_store(s, old, kp_spirv_instruction(s, SpvOpAtomicLoad, e->type_u32, load, 3));
    kp_spirv_branch(s, header);
    kp_spirv_label(s, header);
    kp_spirv_loop(s, merge, next, SpvLoopControlMaskNone, head);
    kp_spirv_label(s, head);
    uint32_t was = kp_spirv_load(s, e->type_u32, old);
    uint32_t value = bits_of(e, combined(e, op, float_of(e, was), x));
    kp_spirv_branch_if(s, kp_spirv_binary(s, SpvOpINotEqual, e->type_bool, value, was), body, merge);
    kp_spirv_label(s, body);
    uint32_t seen = compare_exchange(e, place, e->type_u32, value, was);
    kp_spirv_store(s, old, seen);
    kp_spirv_branch_if(s, kp_spirv_binary(s, SpvOpINotEqual, e->type_bool, seen, was), next, merge);
    kp_spirv_label(s, next);
    kp_spirv_branch(s, header);
    kp_spirv_label(s, merge);
    return float_of(e, kp_spirv_load(s, e->type_u32, old));
}

static bool is_arithmetic(uint32_t op) {
    return op == KP_ATOMIC_ADD || op == KP_ATOMIC_SUB || op == KP_ATOMIC_MIN || op == KP_ATOMIC_MAX;
}

static bool is_bits(const kp_place *place) { return place->bits && place->type->dtype == KP_F32; }

static uint32_t float_add(kp_emitter *e, uint32_t op, const kp_place *place, uint32_t x) {
    if (op == KP_ATOMIC_SUB)
        x = kp_spirv_unary(e->s, SpvOpFNegate, e->type_f32, x);
    kp_spirv_capability(e->s, SpvCapabilityAtomicFloat32AddEXT);
    kp_spirv_extension(e->s, "SPV_EXT_shader_atomic_float_add");
    uint32_t operands[4] = {place->pointer, scope_of(e, place), kp_emit_u32(e, SpvMemorySemanticsMaskNone), x};
    return kp_spirv_instruction(e->s, SpvOpAtomicFAddEXT, e->type_f32, operands, 4);
}

// Does it, and gives what was there, as the element's type.
static uint32_t do_atomic(kp_emitter *e, uint32_t op, const kp_place *place, const uint32_t values[2]) {
    bool bits = is_bits(place);
    uint32_t type = bits ? e->type_u32 : kp_emit_type(e, place->type), result;
    if (is_arithmetic(op) && kp_type_is_float(place->type))
        return bits ? float_loop(e, op, place, values[0]) : float_add(e, op, place, values[0]);
    if (op == KP_ATOMIC_COMPARE_EXCHANGE) {
        result = compare_exchange(e, place, type, values[1], values[0]);
    } else {
        uint32_t operands[4] = {place->pointer, scope_of(e, place), kp_emit_u32(e, SpvMemorySemanticsMaskNone),
                                values[0]};
        result = kp_spirv_instruction(e->s, atomic_op(op, kp_type_is_signed(place->type)), type, operands, 4);
    }
    return bits ? float_of(e, result) : result;
}

// Is the element inside of its buffer? Drivers that guard loads and stores forget atomics (SwiftShader crashes).
static uint32_t in_buffer(kp_emitter *e, const kp_place *place) {
    const kp_symbol *symbol = place->buffer;
    uint32_t length = symbol->type->length != 0 ? kp_emit_u32(e, symbol->type->length) : kp_emit_length(e, symbol);
    uint32_t index = place->index;
    if (kp_type_is_signed(place->index_type))
        index = kp_spirv_unary(e->s, SpvOpBitcast, e->type_u32, index);
    return kp_spirv_binary(e->s, SpvOpULessThan, e->type_bool, index, length);
}

// A bool, or 0 for an element that always is.
static uint32_t is_inside(kp_emitter *e, const kp_place *place) {
    uint32_t inside = 0, fine = 0;
    if (place->buffer != NULL)
        inside = in_buffer(e, place);
    if (place->outside != 0)
        fine = kp_spirv_unary(e->s, SpvOpLogicalNot, e->type_bool, place->outside);
    if (inside == 0 || fine == 0)
        return inside | fine;
    return kp_spirv_binary(e->s, SpvOpLogicalAnd, e->type_bool, inside, fine);
}

// The number that an atomic works on: all of the place, or a component of it.
static kp_place number_place(kp_emitter *e, kp_node *n) {
    kp_place place = kp_emit_place(e, n);
    if (place.count == 0)
        return place;
    kp_place component = kp_emit_part(e, &place, place.components[0]);
    component.outside = place.outside;
    return component;
}

static uint32_t emit_atomic(kp_emitter *e, kp_node *n) {
    kp_spirv *s = e->s;
    kp_list list = n->u.call.list;
    uint32_t op = n->u.call.row->op, values[2] = {0, 0}, from = 0, merge = 0;
    kp_place place = number_place(e, list.items[0]);
    for (uint32_t i = 1; i < list.count; i++) {
        values[i - 1] = kp_emit_expr(e, list.items[i]);
        if (is_bits(&place) && !is_arithmetic(op))
            values[i - 1] = bits_of(e, values[i - 1]);
    }
    if (kp_dtype_size(n->type->dtype) == 8)
        kp_spirv_capability(s, SpvCapabilityInt64Atomics);
    uint32_t inside = is_inside(e, &place);
    if (inside != 0) {
        uint32_t yes = kp_spirv_id(s);
        from = s->block;
        merge = kp_spirv_id(s);
        kp_spirv_select_branch(s, inside, yes, merge, merge);
        kp_spirv_label(s, yes);
    }
    uint32_t result = do_atomic(e, op, &place, values);
    if (merge == 0)
        return result;
    uint32_t type = kp_emit_type(e, n->type), end = s->block;
    kp_spirv_branch(s, merge);
    kp_spirv_label(s, merge);
    return kp_spirv_phi(s, type, kp_spirv_constant_null(s, type), from, result, end);
}

// ---------------------------------------------------------------------------------------------------------------------
// Subgroups
// ---------------------------------------------------------------------------------------------------------------------

void kp_emit_subgroup_inputs(kp_emitter *e) {
    static const struct {
        SpvBuiltIn kind;
        const char *name;
    } inputs[KP_SUBGROUP_INPUTS] = {[KP_SUBGROUP_SIZE] = {SpvBuiltInSubgroupSize, "SubgroupSize"},
                                    [KP_SUBGROUP_LANE] = {SpvBuiltInSubgroupLocalInvocationId, "SubgroupLane"},
                                    [KP_SUBGROUP_ID] = {SpvBuiltInSubgroupId, "SubgroupId"},
                                    [KP_SUBGROUP_COUNT] = {SpvBuiltInNumSubgroups, "NumSubgroups"}};
    for (uint32_t i = 0; i < KP_SUBGROUP_INPUTS; i++) {
        if ((e->kernel->subgroup_inputs >> i & 1) == 0)
            continue;
        uint32_t pointer = kp_spirv_type_pointer(e->s, SpvStorageClassInput, e->type_u32);
        e->subgroup_inputs[i] = kp_spirv_global(e->s, pointer, SpvStorageClassInput);
        kp_spirv_decorate_with(e->s, e->subgroup_inputs[i], SpvDecorationBuiltIn, (uint32_t)inputs[i].kind);
        kp_spirv_name(e->s, e->subgroup_inputs[i], inputs[i].name);
    }
}

static SpvOp reduction_op(uint32_t which, const kp_type *type) {
    static const SpvOp ops[KP_SUBGROUP_REDUCTIONS][3] = {
        // of floats, of signed integers, of unsigned ones
        {SpvOpGroupNonUniformFAdd, SpvOpGroupNonUniformIAdd, SpvOpGroupNonUniformIAdd},
        {SpvOpGroupNonUniformFMul, SpvOpGroupNonUniformIMul, SpvOpGroupNonUniformIMul},
        {SpvOpGroupNonUniformFMin, SpvOpGroupNonUniformSMin, SpvOpGroupNonUniformUMin},
        {SpvOpGroupNonUniformFMax, SpvOpGroupNonUniformSMax, SpvOpGroupNonUniformUMax},
        {SpvOpNop, SpvOpGroupNonUniformBitwiseAnd, SpvOpGroupNonUniformBitwiseAnd},
        {SpvOpNop, SpvOpGroupNonUniformBitwiseOr, SpvOpGroupNonUniformBitwiseOr},
        {SpvOpNop, SpvOpGroupNonUniformBitwiseXor, SpvOpGroupNonUniformBitwiseXor}};
    return ops[which][kp_type_is_float(type) ? 0 : kp_type_is_signed(type) ? 1 : 2];
}

static uint32_t emit_reduction(kp_emitter *e, kp_node *n, uint32_t scope) {
    uint32_t number = n->u.call.row->op - KP_SUBGROUP_ADD;
    uint32_t way = number / KP_SUBGROUP_REDUCTIONS; // SpvGroupOperation: Reduce, InclusiveScan, ExclusiveScan
    SpvOp op = reduction_op(number % KP_SUBGROUP_REDUCTIONS, n->type);
    uint32_t operands[3] = {scope, way, kp_emit_expr(e, n->u.call.list.items[0])};
    kp_spirv_capability(e->s, SpvCapabilityGroupNonUniformArithmetic);
    return kp_spirv_instruction(e->s, op, kp_emit_type(e, n->type), operands, 3);
}

// What takes one value: SIZE stands for none of these.
static SpvOp lane_op(const kp_node *n, SpvCapability *capability) {
    switch ((kp_subgroup)n->u.call.row->op) {
    case KP_SUBGROUP_ANY_OF:
        *capability = SpvCapabilityGroupNonUniformVote;
        return SpvOpGroupNonUniformAny;
    case KP_SUBGROUP_ALL_OF:
        *capability = SpvCapabilityGroupNonUniformVote;
        return SpvOpGroupNonUniformAll;
    case KP_SUBGROUP_BALLOT:
        *capability = SpvCapabilityGroupNonUniformBallot;
        return SpvOpGroupNonUniformBallot;
    case KP_SUBGROUP_BROADCAST_FIRST:
        *capability = SpvCapabilityGroupNonUniformBallot;
        return SpvOpGroupNonUniformBroadcastFirst;
    case KP_SUBGROUP_SHUFFLE_XOR:
        *capability = SpvCapabilityGroupNonUniformShuffle;
        return SpvOpGroupNonUniformShuffleXor;
    case KP_SUBGROUP_SHUFFLE_UP:
        *capability = SpvCapabilityGroupNonUniformShuffleRelative;
        return SpvOpGroupNonUniformShuffleUp;
    case KP_SUBGROUP_SHUFFLE_DOWN:
        *capability = SpvCapabilityGroupNonUniformShuffleRelative;
        return SpvOpGroupNonUniformShuffleDown;
    default: // SPIR-V 1.3 broadcasts from a constant lane only
        if (n->u.call.row->op == KP_SUBGROUP_BROADCAST && n->u.call.list.items[1]->kind == KP_NODE_CONST) {
            *capability = SpvCapabilityGroupNonUniformBallot;
            return SpvOpGroupNonUniformBroadcast;
        }
        *capability = SpvCapabilityGroupNonUniformShuffle;
        return SpvOpGroupNonUniformShuffle;
    }
}

static uint32_t emit_subgroup(kp_emitter *e, kp_node *n) {
    uint32_t which = n->u.call.row->op, scope = kp_emit_u32(e, SpvScopeSubgroup);
    kp_spirv_capability(e->s, SpvCapabilityGroupNonUniform);
    if (which < KP_SUBGROUP_INPUTS)
        return kp_spirv_unary(e->s, SpvOpBitcast, e->type_i32,
                              kp_spirv_load(e->s, e->type_u32, e->subgroup_inputs[which]));
    if (which == KP_SUBGROUP_ELECT)
        return kp_spirv_instruction(e->s, SpvOpGroupNonUniformElect, e->type_bool, &scope, 1);
    if (which >= KP_SUBGROUP_ADD)
        return emit_reduction(e, n, scope);
    SpvCapability capability;
    SpvOp op = lane_op(n, &capability);
    kp_list list = n->u.call.list;
    uint32_t operands[3] = {scope, kp_emit_expr(e, list.items[0]), 0};
    if (list.count > 1)
        operands[2] = kp_emit_expr(e, list.items[1]);
    kp_spirv_capability(e->s, capability);
    return kp_spirv_instruction(e->s, op, kp_emit_type(e, n->type), operands, 1 + list.count);
}

uint32_t kp_emit_parallel(kp_emitter *e, kp_node *n) {
    switch (n->u.call.row->rule) {
    case KP_BUILTIN_BARRIER:
        emit_barrier(e, n);
        return 0;
    case KP_BUILTIN_ATOMIC:
        return emit_atomic(e, n);
    default:
        return emit_subgroup(e, n);
    }
}
