// The functions that a kernel calls: each instance is a function of the module.
#include "emitter.h"

static uint32_t result_type(kp_emitter *e, const kp_instance *instance) {
    if (instance->return_count == 0)
        return e->type_void;
    if (instance->return_count == 1)
        return kp_emit_type(e, instance->returns[0]);
    uint32_t *members = KP_UNIT_NEW(e->unit, uint32_t, instance->return_count);
    for (uint32_t i = 0; i < instance->return_count; i++)
        members[i] = kp_emit_type(e, instance->returns[i]);
    return kp_spirv_type_struct(e->s, members, instance->return_count, 0);
}

static bool has_pointer(const kp_symbol *param) { return param->kind == KP_SYMBOL_ARRAY && param->in_buffer == NULL; }

// How many parameters of the SPIR-V function one of the helper is.
static uint32_t size_of(const kp_symbol *param) {
    if (param->kind == KP_SYMBOL_ARRAY)
        return param->depth + (has_pointer(param) ? 1 : 0);
    return param->kind == KP_SYMBOL_VALUE ? 1 : 0;
}

static uint32_t pointer_type(kp_emitter *e, const kp_symbol *param) {
    return kp_spirv_type_pointer(e->s, SpvStorageClassFunction, kp_emit_type(e, param->whole));
}

static void declare(kp_emitter *e, kp_instance *instance) {
    if (instance->id != 0)
        return;
    uint32_t total = 0, count = 0;
    for (uint32_t i = 0; i < instance->param_count; i++)
        total += size_of(instance->params[i]);
    uint32_t *types = KP_UNIT_NEW(e->unit, uint32_t, total);
    for (uint32_t i = 0; i < instance->param_count; i++) {
        const kp_symbol *param = instance->params[i];
        if (param->kind == KP_SYMBOL_VALUE)
            types[count++] = kp_emit_type(e, param->type);
        else if (has_pointer(param))
            types[count++] = pointer_type(e, param);
        for (uint32_t k = 0; param->kind == KP_SYMBOL_ARRAY && k < param->depth; k++)
            types[count++] = e->type_u32;
    }
    instance->result = result_type(e, instance);
    instance->type = kp_spirv_type_function(e->s, instance->result, types, count);
    instance->id = kp_spirv_id(e->s);
    kp_spirv_name(e->s, instance->id, instance->name);
}

bool kp_emit_is_checked(const kp_emitter *e) {
    return e->unit->desc->checked && (e->instance == NULL || !e->instance->library);
}

static void pass(kp_emitter *e, const kp_symbol *param, kp_node *value, uint32_t *arguments) {
    if (param->kind == KP_SYMBOL_VALUE) {
        arguments[0] = kp_emit_expr(e, value);
        return;
    }
    kp_emit_reference r = kp_emit_refer(e, value);
    if (r.pointer != 0)
        *arguments++ = r.pointer;
    for (uint32_t i = 0; i < r.depth; i++)
        arguments[i] = r.steps[i];
}

uint32_t kp_emit_invoke(kp_emitter *e, const kp_node *n) {
    kp_instance *instance = n->u.invoke.instance;
    kp_list list = n->u.invoke.list;
    uint32_t *starts = KP_UNIT_NEW(e->unit, uint32_t, list.count), total = 0, passed = 0;
    const kp_symbol **params = KP_UNIT_NEW(e->unit, const kp_symbol *, list.count);
    for (uint32_t i = 0; i < instance->param_count; i++) {
        if (!kp_symbol_is_passed(instance->params[i]))
            continue;
        params[passed] = instance->params[i];
        starts[passed++] = total;
        total += size_of(instance->params[i]);
    }
    uint32_t *arguments = KP_UNIT_NEW(e->unit, uint32_t, total);
    declare(e, instance);
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t position = n->u.invoke.positions[i];
        pass(e, params[position], list.items[i], arguments + starts[position]);
    }
    uint32_t value = kp_spirv_call(e->s, instance->result, instance->id, arguments, total);
    kp_emit_stop(e);
    return value;
}

uint32_t kp_emit_library(kp_emitter *e, const kp_node *n) {
    kp_instance *instance = n->u.invoke.instance;
    kp_list list = n->u.invoke.list;
    uint32_t *operands = KP_UNIT_NEW(e->unit, uint32_t, list.count),
             *parts = KP_UNIT_NEW(e->unit, uint32_t, list.count);
    uint32_t results[4];
    declare(e, instance);
    for (uint32_t i = 0; i < list.count; i++)
        operands[i] = kp_emit_expr(e, list.items[i]);
    if (n->type->components == 1)
        return kp_spirv_call(e->s, instance->result, instance->id, operands, list.count);
    for (uint32_t k = 0; k < n->type->components; k++) {
        for (uint32_t i = 0; i < list.count; i++)
            parts[i] = kp_spirv_extract(e->s, kp_emit_type(e, list.items[i]->type->element), operands[i], k);
        results[k] = kp_spirv_call(e->s, instance->result, instance->id, parts, list.count);
    }
    return kp_spirv_construct(e->s, kp_emit_type(e, n->type), results, n->type->components);
}

void kp_emit_unpack(kp_emitter *e, const kp_node *n) {
    uint32_t values = kp_emit_invoke(e, n->u.unpack.value);
    kp_list targets = n->u.unpack.targets;
    for (uint32_t i = 0; i < targets.count; i++) {
        kp_place place = kp_emit_place(e, targets.items[i]);
        kp_emit_store(e, &place, kp_spirv_extract(e->s, kp_emit_type(e, targets.items[i]->type), values, i));
    }
}

void kp_emit_return(kp_emitter *e, const kp_node *n) {
    kp_list list = n->u.operand != NULL ? n->u.operand->u.list : (kp_list){0};
    if (list.count == 0) {
        kp_spirv_return(e->s);
        return;
    }
    uint32_t *values = KP_UNIT_NEW(e->unit, uint32_t, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        values[i] = kp_emit_expr(e, list.items[i]);
    kp_spirv_return_value(e->s, list.count == 1 ? values[0]
                                                : kp_spirv_construct(e->s, e->instance->result, values, list.count));
}

// Two of them may be one array.
static bool may_alias(const kp_instance *instance) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < instance->param_count; i++)
        count += has_pointer(instance->params[i]);
    return count > 1;
}

static void emit_array_parameter(kp_emitter *e, const kp_instance *instance, kp_symbol *symbol) {
    if (has_pointer(symbol)) {
        symbol->id = kp_spirv_parameter(e->s, pointer_type(e, symbol));
        kp_spirv_name(e->s, symbol->id, symbol->name->text);
        if (may_alias(instance))
            kp_spirv_decorate(e->s, symbol->id, SpvDecorationAliased);
    }
    symbol->steps = KP_UNIT_NEW(e->unit, uint32_t, symbol->depth);
    for (uint32_t i = 0; i < symbol->depth; i++)
        symbol->steps[i] = kp_spirv_parameter(e->s, e->type_u32);
}

static void emit_instance(kp_emitter *e, kp_instance *instance) {
    kp_spirv *s = e->s;
    e->instance = instance;
    declare(e, instance);
    kp_spirv_function(s, instance->id, instance->result, instance->type);
    for (uint32_t i = 0; i < instance->param_count; i++) {
        kp_symbol *symbol = instance->params[i];
        if (symbol->kind == KP_SYMBOL_ARRAY)
            emit_array_parameter(e, instance, symbol);
        if (symbol->kind != KP_SYMBOL_VALUE)
            continue;
        symbol->id = kp_spirv_parameter(s, kp_emit_type(e, symbol->type));
        kp_spirv_name(s, symbol->id, symbol->name->text);
    }
    kp_emit_locals(e, instance->symbols);
    kp_emit_block(e, instance->function->body);
    if (s->block != 0 && instance->return_count == 0)
        kp_spirv_return(s);
    else if (s->block != 0)
        kp_spirv_unreachable(s);
    kp_spirv_function_end(s);
}

void kp_emit_functions(kp_emitter *e) {
    for (kp_instance *instance = e->kernel->instances; instance != NULL; instance = instance->next)
        emit_instance(e, instance);
}
