// What a kernel tells the host (base/launch.h): the first fault of a checked kernel, and what it prints.
//
// A fault ends the invocation: what follows it in the text does not run. A helper that faults returns to its caller,
// which finds `stopped` set and returns as well. Where others wait at barriers nobody may leave: there the invocation
// goes on, and what it would write out of range is not written (kp_place.outside).
#include "emitter.h"
#include "texts.h"

#include "base/launch.h"
#include "error.h"

#include <stdio.h>
#include <string.h>

static uint32_t word_at(kp_emitter *e, uint32_t index) {
    uint32_t indices[2] = {kp_emit_u32(e, 0), index};
    return kp_spirv_access(e->s, e->report.word, e->report.buffer, indices, 2);
}

static uint32_t atomic(kp_emitter *e, SpvOp op, uint32_t index, uint32_t value) {
    uint32_t operands[4] = {word_at(e, kp_emit_u32(e, index)), kp_emit_u32(e, SpvScopeDevice),
                            kp_emit_u32(e, SpvMemorySemanticsMaskNone), value};
    return kp_spirv_instruction(e->s, op, e->type_u32, operands, 4);
}

// ---------------------------------------------------------------------------------------------------------------------
// The buffer, and where an invocation is
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t private_variable(kp_emitter *e, uint32_t type, const char *name) {
    uint32_t pointer = kp_spirv_type_pointer(e->s, SpvStorageClassPrivate, type);
    uint32_t variable = kp_spirv_global(e->s, pointer, SpvStorageClassPrivate);
    kp_spirv_name(e->s, variable, name);
    return variable;
}

// Behind all buffers of the kernel, so that it takes no descriptor set of its own.
static void find_place(const kp_kernel *kernel, uint32_t *set, uint32_t *binding) {
    *set = *binding = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const kp_check_param *param = &kernel->params[i];
        if (!kp_check_is_bound(param->kind) || param->set < *set)
            continue;
        *binding = param->set > *set || param->binding >= *binding ? param->binding + 1 : *binding;
        *set = param->set;
    }
}

void kp_emit_report_setup(kp_emitter *e) {
    kp_spirv *s = e->s;
    uint32_t set, binding;
    e->report.active = e->unit->desc->checked || e->kernel->prints;
    if (!e->report.active)
        return;
    enum { SALT = 0x6B700000 };
    uint32_t words = kp_spirv_type_array(s, e->type_u32, 0, 4);
    uint32_t block = kp_spirv_type_struct(s, &words, 1, SALT);
    kp_spirv_decorate(s, block, SpvDecorationBlock);
    kp_spirv_member_offset(s, block, 0, 0);
    kp_spirv_name(s, block, "kp_report");
    kp_spirv_member_name(s, block, 0, "words");
    uint32_t pointer = kp_spirv_type_pointer(s, SpvStorageClassStorageBuffer, block);
    e->report.word = kp_spirv_type_pointer(s, SpvStorageClassStorageBuffer, e->type_u32);
    e->report.buffer = kp_spirv_global(s, pointer, SpvStorageClassStorageBuffer);
    kp_spirv_name(s, e->report.buffer, "kp_report");
    find_place(e->kernel, &set, &binding);
    kp_spirv_decorate_with(s, e->report.buffer, SpvDecorationDescriptorSet, set);
    kp_spirv_decorate_with(s, e->report.buffer, SpvDecorationBinding, binding);
    kp_spirv_name(s, kp_spirv_spec(s, e->type_u32, set << 16 | binding, KP_LAUNCH_SPEC_REPORT), "REPORT");
    e->report.uvec3 = kp_emit_type(e, kp_type_vector(KP_U32, 3));
    e->report.at = private_variable(e, e->report.uvec3, "kp_at");
    e->report.key = private_variable(e, e->type_u32, "kp_key");
    if (e->kernel->instances != NULL && e->unit->desc->checked && !e->kernel->has_barrier)
        e->report.stopped = private_variable(e, e->type_bool, "kp_stopped");
}

void kp_emit_report_enter(kp_emitter *e, uint32_t index, uint32_t extent) {
    kp_spirv *s = e->s;
    kp_spirv_store(s, e->report.at, index);
    uint32_t key = kp_spirv_extract(s, e->type_u32, index, 2);
    for (uint32_t axis = 2; axis-- > 0;) {
        uint32_t before = kp_emit_u32_op(e, SpvOpIMul, key, kp_spirv_extract(s, e->type_u32, extent, axis));
        key = kp_emit_u32_op(e, SpvOpIAdd, before, kp_spirv_extract(s, e->type_u32, index, axis));
    }
    kp_spirv_store(s, e->report.key, key);
    if (e->report.stopped != 0)
        kp_spirv_store(s, e->report.stopped, kp_spirv_constant_bool(s, false));
}

// A place of the text that can tell something: a string of the module, which the runtime finds by its number.
static uint32_t add_site(kp_emitter *e, kp_launch_site kind, const kp_token *token, const char *text) {
    const kp_texts_line in = kp_texts_line_of(e->unit, token);
    const char *file = in.text->file;
    text = text != NULL ? text : "";
    size_t room = strlen(text) + strlen(e->kernel->name) + strlen(file) + 80;
    char *line = KP_UNIT_NEW(e->unit, char, room);
    int length = snprintf(line, room, KP_LAUNCH_SITE "%d\n%u\n%u\n%zu\n%s%s\n%s", (int)kind, in.number,
                          token->at - in.start + 1, strlen(text), text, e->kernel->name, file);
    kp_spirv_string(e->s, line, (uint32_t)length);
    return e->report.sites++;
}

// ---------------------------------------------------------------------------------------------------------------------
// Faults
// ---------------------------------------------------------------------------------------------------------------------

enum { FAULT_DATA = 3, FAULT_DATA_MOST = 6 };

// How many words of a record the sites decide on; those of pixels are the longest.
static uint32_t fault_data(const kp_emitter *e) {
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        if (kp_type_is_image(e->kernel->params[i].symbol->type))
            return FAULT_DATA_MOST;
    }
    return FAULT_DATA;
}

// Leaves the function that is being written.
static void leave(kp_emitter *e) {
    if (e->instance == NULL || e->instance->return_count == 0)
        kp_spirv_return(e->s);
    else
        kp_spirv_return_value(e->s, kp_spirv_constant_null(e->s, e->instance->result));
}

void kp_emit_fault(kp_emitter *e, kp_launch_site kind, const kp_node *at, uint32_t bad,
                   const kp_emit_fault_data *data) {
    kp_spirv *s = e->s;
    uint32_t wrong = kp_spirv_id(s), right = kp_spirv_id(s), zero = kp_emit_u32(e, 0);
    if (e->report.fault == 0)
        e->report.fault = kp_spirv_id(s);
    uint32_t arguments[1 + FAULT_DATA_MOST] = {kp_emit_u32(e, add_site(e, kind, at->first, data->text))};
    for (uint32_t i = 0; i < FAULT_DATA_MOST; i++)
        arguments[1 + i] = i < data->word_count ? data->words[i] : zero;
    kp_spirv_select_branch(s, bad, wrong, right, right);
    kp_spirv_label(s, wrong);
    kp_spirv_call(s, e->type_void, e->report.fault, arguments, 1 + fault_data(e));
    if (e->report.stopped != 0)
        kp_spirv_store(s, e->report.stopped, kp_spirv_constant_bool(s, true));
    if (e->kernel->has_barrier)
        kp_spirv_branch(s, right);
    else
        leave(e);
    kp_spirv_label(s, right);
}

void kp_emit_stop(kp_emitter *e) {
    if (e->report.stopped == 0)
        return;
    kp_spirv *s = e->s;
    uint32_t stop = kp_spirv_id(s), on = kp_spirv_id(s);
    kp_spirv_select_branch(s, kp_spirv_load(s, e->type_bool, e->report.stopped), stop, on, on);
    kp_spirv_label(s, stop);
    leave(e);
    kp_spirv_label(s, on);
}

void kp_emit_split(kp_emitter *e, const kp_type *type, uint32_t value, uint32_t words[2]) {
    kp_spirv *s = e->s;
    if (kp_dtype_size(type->dtype) == 8) {
        uint32_t pair_type = kp_emit_type(e, kp_type_vector(KP_U32, 2));
        uint32_t pair = kp_spirv_unary(s, SpvOpBitcast, pair_type, value);
        words[0] = kp_spirv_extract(s, e->type_u32, pair, 0);
        words[1] = kp_spirv_extract(s, e->type_u32, pair, 1);
        return;
    }
    words[0] = words[1] = value;
    if (type->dtype == KP_U32) {
        words[1] = kp_emit_u32(e, 0);
        return;
    }
    words[0] = kp_spirv_unary(s, SpvOpBitcast, e->type_u32, value);
    words[1] = kp_emit_u32(e, 0);
    if (type->dtype == KP_I32) { // all sign
        uint32_t sign = kp_spirv_binary(s, SpvOpShiftRightArithmetic, e->type_i32, value, kp_emit_u32(e, 31));
        words[1] = kp_spirv_unary(s, SpvOpBitcast, e->type_u32, sign);
    }
}

// void kp_fault(site, data ...): a record, unless an invocation before this one had a fault.
static void write_fault(kp_emitter *e) {
    kp_spirv *s = e->s;
    uint32_t types[1 + FAULT_DATA_MOST], arguments[1 + FAULT_DATA_MOST], count = 1 + fault_data(e);
    for (uint32_t i = 0; i < count; i++)
        types[i] = e->type_u32;
    kp_spirv_function(s, e->report.fault, e->type_void, kp_spirv_type_function(s, e->type_void, types, count));
    kp_spirv_name(s, e->report.fault, "kp_fault");
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = kp_spirv_parameter(s, e->type_u32);
    uint32_t first = kp_spirv_id(s), end = kp_spirv_id(s);
    uint32_t most[2] = {kp_spirv_load(s, e->type_u32, e->report.key), kp_emit_u32(e, UINT32_MAX - 1)};
    uint32_t key = kp_spirv_glsl(s, GLSLstd450UMin, e->type_u32, most, 2);
    uint32_t before = atomic(e, SpvOpAtomicUMin, KP_LAUNCH_REPORT_FIRST, key);
    kp_spirv_select_branch(s, kp_emit_bool_op(e, SpvOpULessThan, key, before), first, end, end);
    kp_spirv_label(s, first);
    uint32_t number = atomic(e, SpvOpAtomicIAdd, KP_LAUNCH_REPORT_FAULTS, kp_emit_u32(e, 1));
    uint32_t slot = kp_emit_u32_op(e, SpvOpBitwiseAnd, number, kp_emit_u32(e, KP_LAUNCH_FAULT_COUNT - 1));
    uint32_t record = kp_emit_u32_op(e, SpvOpIMul, slot, kp_emit_u32(e, KP_LAUNCH_FAULT_WORDS));
    record = kp_emit_u32_op(e, SpvOpIAdd, record, kp_emit_u32(e, KP_LAUNCH_REPORT_RECORDS));
    uint32_t at = kp_spirv_load(s, e->report.uvec3, e->report.at);
    uint32_t words[KP_LAUNCH_FAULT_WORDS] = {arguments[0], key};
    for (uint32_t i = 0; i < 3; i++)
        words[2 + i] = kp_spirv_extract(s, e->type_u32, at, i);
    for (uint32_t i = 1; i < count; i++)
        words[KP_LAUNCH_FAULT_DATA + i - 1] = arguments[i];
    for (uint32_t i = 0; i < KP_LAUNCH_FAULT_DATA + count - 1; i++)
        kp_spirv_store(s, word_at(e, kp_emit_u32_op(e, SpvOpIAdd, record, kp_emit_u32(e, i))), words[i]);
    kp_spirv_branch(s, end);
    kp_spirv_label(s, end);
    kp_spirv_return(s);
    kp_spirv_function_end(s);
}

void kp_emit_assert(kp_emitter *e, const kp_node *n) {
    if (!kp_emit_is_checked(e))
        return;
    uint32_t good = kp_emit_expr(e, n->u.report.test);
    kp_emit_fault(e, KP_LAUNCH_SITE_ASSERT, n, kp_spirv_unary(e->s, SpvOpLogicalNot, e->type_bool, good),
                  &(kp_emit_fault_data){.text = n->u.report.text});
}

// ---------------------------------------------------------------------------------------------------------------------
// Prints
// ---------------------------------------------------------------------------------------------------------------------

// u32 kp_print(count): where to write so many words; UINT32_MAX when there is none. The look before the addition keeps
// the number of words from ever wrapping.
static void write_print(kp_emitter *e) {
    kp_spirv *s = e->s;
    uint32_t none = kp_emit_u32(e, UINT32_MAX);
    kp_spirv_function(s, e->report.print, e->type_u32, kp_spirv_type_function(s, e->type_u32, &e->type_u32, 1));
    kp_spirv_name(s, e->report.print, "kp_print");
    uint32_t count = kp_spirv_parameter(s, e->type_u32);
    uint32_t claim = kp_spirv_id(s), claimed = kp_spirv_id(s), drop = kp_spirv_id(s), end = kp_spirv_id(s);
    uint32_t start = s->block;
    uint32_t used = kp_spirv_load(s, e->type_u32, word_at(e, kp_emit_u32(e, KP_LAUNCH_REPORT_PRINTED)));
    uint32_t room = kp_spirv_load(s, e->type_u32, word_at(e, kp_emit_u32(e, KP_LAUNCH_REPORT_ROOM)));
    kp_spirv_select_branch(s, kp_emit_bool_op(e, SpvOpULessThan, used, room), claim, claimed, claimed);
    kp_spirv_label(s, claim);
    uint32_t first = atomic(e, SpvOpAtomicIAdd, KP_LAUNCH_REPORT_PRINTED, count);
    uint32_t fits = kp_emit_bool_op(e, SpvOpULessThanEqual, kp_emit_u32_op(e, SpvOpIAdd, first, count), room);
    uint32_t place = kp_emit_u32_op(e, SpvOpIAdd, first, kp_emit_u32(e, KP_LAUNCH_REPORT_PRINTS));
    uint32_t here = kp_spirv_select(s, e->type_u32, fits, place, none);
    kp_spirv_branch(s, claimed);
    kp_spirv_label(s, claimed);
    uint32_t result = kp_spirv_phi(s, e->type_u32, none, start, here, claim);
    kp_spirv_select_branch(s, kp_emit_bool_op(e, SpvOpIEqual, result, none), drop, end, end);
    kp_spirv_label(s, drop);
    atomic(e, SpvOpAtomicIAdd, KP_LAUNCH_REPORT_DROPPED, kp_emit_u32(e, 1));
    kp_spirv_branch(s, end);
    kp_spirv_label(s, end);
    kp_spirv_return_value(s, result);
    kp_spirv_function_end(s);
}

// A scalar as words: narrow types widened to 32 bits, a bool 0 or 1. Returns how many.
static uint32_t print_words(kp_emitter *e, const kp_type *type, uint32_t value, uint32_t words[2]) {
    kp_dtype wide = type->dtype;
    if (type->dtype == KP_F16)
        wide = KP_F32;
    else if (type->dtype == KP_I8 || type->dtype == KP_I16)
        wide = KP_I32;
    else if (type->dtype == KP_U8 || type->dtype == KP_U16 || type->dtype == KP_BOOL)
        wide = KP_U32;
    const kp_type *stored = kp_type_scalar(wide);
    kp_emit_split(e, stored, kp_emit_cast(e, type, stored, value), words);
    return kp_dtype_size(wide) == 8 ? 2 : 1;
}

static uint32_t most_words(kp_list list) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < list.count; i++)
        count += 2 * list.items[i]->type->components;
    return count;
}

void kp_emit_print(kp_emitter *e, const kp_node *n) {
    kp_spirv *s = e->s;
    kp_list list = n->u.report.list;
    uint32_t *words = KP_UNIT_NEW(e->unit, uint32_t, most_words(list) + 2), count = 2;
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_type *type = list.items[i]->type;
        const kp_type *scalar = kp_type_scalar(type->dtype);
        uint32_t value = kp_emit_expr(e, list.items[i]);
        for (uint32_t k = 0; k < type->components; k++) {
            uint32_t part = type->components == 1 ? value : kp_spirv_extract(s, kp_emit_type(e, scalar), value, k);
            count += print_words(e, scalar, part, words + count);
        }
    }
    words[0] = kp_emit_u32(e, add_site(e, KP_LAUNCH_SITE_PRINT, n->first, n->u.report.text) + 1);
    words[1] = kp_spirv_load(s, e->type_u32, e->report.key);
    if (e->report.print == 0)
        e->report.print = kp_spirv_id(s);
    uint32_t write = kp_spirv_id(s), end = kp_spirv_id(s), size = kp_emit_u32(e, count);
    uint32_t first = kp_spirv_call(s, e->type_u32, e->report.print, &size, 1);
    kp_spirv_select_branch(s, kp_emit_bool_op(e, SpvOpINotEqual, first, kp_emit_u32(e, UINT32_MAX)), write, end, end);
    kp_spirv_label(s, write);
    for (uint32_t i = 0; i < count; i++)
        kp_spirv_store(s, word_at(e, kp_emit_u32_op(e, SpvOpIAdd, first, kp_emit_u32(e, i))), words[i]);
    kp_spirv_branch(s, end);
    kp_spirv_label(s, end);
}

void kp_emit_report_finish(kp_emitter *e) {
    if (e->report.fault != 0)
        write_fault(e);
    if (e->report.print != 0)
        write_print(e);
}
