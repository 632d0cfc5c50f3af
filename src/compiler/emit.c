// See emit.h. The kernel becomes one SPIR-V function, whose parameters are its inputs and push constants; its buffers
// are variables of the module. The entry points of base/launch.h work the inputs out and call it, so that what a kernel
// computes does not depend on how it is launched.
#include "emitter.h"

#include "base/launch.h"
#include "builtin.h"
#include "error.h"

#include <string.h>

// The type of a scalar, and what it takes to compute with it.
static uint32_t scalar_type(kp_emitter *e, const kp_type *type) {
    uint32_t width = 8 * (uint32_t)kp_dtype_size(type->dtype);
    bool is_float = kp_type_is_float(type);
    if (type->dtype == KP_BOOL)
        return kp_spirv_type_bool(e->s);
    if (width == 8)
        kp_spirv_capability(e->s, SpvCapabilityInt8);
    else if (width == 16)
        kp_spirv_capability(e->s, is_float ? SpvCapabilityFloat16 : SpvCapabilityInt16);
    else if (width == 64)
        kp_spirv_capability(e->s, is_float ? SpvCapabilityFloat64 : SpvCapabilityInt64);
    return is_float ? kp_spirv_type_float(e->s, width) : kp_spirv_type_int(e->s, width, kp_type_is_signed(type));
}

// Keeps struct types apart whose members are alike: each push constant block, each buffer, each struct of the kernel as
// a value and as it is in memory.
enum { SALT_PUSH = 1, SALT_LAUNCH, SALT_FIRST_BUFFER, SALT_FIRST_STRUCT = 1 << 24 };

uint32_t kp_emit_struct(kp_emitter *e, const kp_type *type, const uint32_t *members) {
    uint32_t before = e->s->bound;
    uint32_t id = kp_spirv_type_struct(e->s, members, type->field_count, SALT_FIRST_STRUCT + 2 * type->number);
    if (id < before)
        return id;
    kp_spirv_name(e->s, id, type->name);
    for (uint32_t i = 0; i < type->field_count; i++)
        kp_spirv_member_name(e->s, id, i, type->fields[i].name);
    return id;
}

static uint32_t struct_type(kp_emitter *e, const kp_type *type) {
    uint32_t *members = KP_UNIT_NEW(e->unit, uint32_t, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++)
        members[i] = kp_emit_type(e, type->fields[i].type);
    return kp_emit_struct(e, type, members);
}

uint32_t kp_emit_memory_struct(kp_emitter *e, const kp_type *type, const uint32_t *members) {
    uint32_t before = e->s->bound;
    uint32_t id = kp_spirv_type_struct(e->s, members, type->field_count, SALT_FIRST_STRUCT + 2 * type->number + 1);
    if (id < before)
        return id;
    kp_spirv_name(e->s, id, type->name);
    for (uint32_t i = 0; i < type->field_count; i++) {
        kp_spirv_member_offset(e->s, id, i, type->fields[i].offset);
        kp_spirv_member_name(e->s, id, i, type->fields[i].name);
    }
    return id;
}

uint32_t kp_emit_type(kp_emitter *e, const kp_type *type) {
    if (type->kind == KP_TYPE_ARRAY)
        return kp_spirv_type_array(e->s, kp_emit_type(e, type->element), type->length, 0);
    if (type->kind == KP_TYPE_STRUCT)
        return struct_type(e, type);
    if (kp_type_is_matrix(type)) // SPIR-V's columns are our rows
        return kp_spirv_type_matrix(e->s, kp_emit_type(e, type->element), type->length);
    uint32_t *id = &e->value_types[type->dtype][type->components];
    if (*id != 0)
        return *id;
    if (type->kind == KP_TYPE_VECTOR)
        return *id = kp_spirv_type_vector(e->s, kp_emit_type(e, type->element), type->components);
    return *id = scalar_type(e, type);
}

static void declare_storage(kp_emitter *e, const kp_type *type, SpvStorageClass storage) {
    bool push = storage == SpvStorageClassPushConstant;
    type = kp_type_leaf(type);
    kp_dtype dtype = type->dtype;
    if (type->kind == KP_TYPE_STRUCT) {
        for (uint32_t i = 0; i < type->field_count; i++)
            declare_storage(e, type->fields[i].type, storage);
    } else if (kp_dtype_size(dtype) == 1) {
        kp_spirv_capability(e->s, push ? SpvCapabilityStoragePushConstant8 : SpvCapabilityStorageBuffer8BitAccess);
        kp_spirv_extension(e->s, "SPV_KHR_8bit_storage");
    } else if (kp_dtype_size(dtype) == 2) {
        kp_spirv_capability(e->s, push ? SpvCapabilityStoragePushConstant16 : SpvCapabilityStorageBuffer16BitAccess);
    }
}

uint32_t kp_emit_bool_type(kp_emitter *e, uint32_t components) {
    return kp_emit_type(e, kp_type_vector(KP_BOOL, components));
}

static uint32_t local_variable(kp_emitter *e, const kp_type *type, bool zeroed, const char *name) {
    uint32_t id = kp_emit_type(e, type);
    uint32_t pointer = kp_spirv_type_pointer(e->s, SpvStorageClassFunction, id);
    uint32_t variable = kp_spirv_local(e->s, pointer, zeroed ? kp_spirv_constant_null(e->s, id) : 0);
    if (name != NULL)
        kp_spirv_name(e->s, variable, name);
    return variable;
}

uint32_t kp_emit_variable(kp_emitter *e, const kp_type *type, const char *name) {
    return local_variable(e, type, true, name);
}

uint32_t kp_emit_bare_variable(kp_emitter *e, const kp_type *type, const char *name) {
    return local_variable(e, type, false, name);
}

// ---------------------------------------------------------------------------------------------------------------------
// Buffers
// ---------------------------------------------------------------------------------------------------------------------

// Each buffer has a block type of its own, and what the kernel does not do stands on the type's member, as in the
// modules that drivers see most. Two buffers of one type, of which one is NonWritable, are legal, but NVIDIA's driver
// (580) then takes both for constant: a load after a store in one invocation gives the old value.
//
// A buffer through which invocations talk to each other, which needs a barrier of some kind, is coherent.
static void emit_buffer(kp_emitter *e, kp_check_param *param, uint32_t index) {
    kp_spirv *s = e->s;
    kp_symbol *symbol = param->symbol;
    uint32_t contents = kp_emit_memory_type(e, symbol->type, symbol->bits);
    declare_storage(e, symbol->type, SpvStorageClassStorageBuffer);
    uint32_t block = kp_spirv_type_struct(s, &contents, 1, SALT_FIRST_BUFFER + index);
    kp_spirv_decorate(s, block, SpvDecorationBlock);
    kp_spirv_member_offset(s, block, 0, 0);
    if (!symbol->writes)
        kp_spirv_member_decorate(s, block, 0, SpvDecorationNonWritable);
    if (!symbol->reads)
        kp_spirv_member_decorate(s, block, 0, SpvDecorationNonReadable);
    if (symbol->reads && symbol->writes && e->kernel->orders_memory)
        kp_spirv_member_decorate(s, block, 0, SpvDecorationCoherent);
    kp_spirv_name(s, block, symbol->type->name);
    kp_spirv_member_name(s, block, 0, "data");
    uint32_t pointer = kp_spirv_type_pointer(s, SpvStorageClassStorageBuffer, block);
    symbol->id = kp_spirv_global(s, pointer, SpvStorageClassStorageBuffer);
    kp_spirv_name(s, symbol->id, symbol->name->text);
    kp_spirv_decorate_with(s, symbol->id, SpvDecorationDescriptorSet, param->set);
    kp_spirv_decorate_with(s, symbol->id, SpvDecorationBinding, param->binding);
}

// ---------------------------------------------------------------------------------------------------------------------
// The kernel function
// ---------------------------------------------------------------------------------------------------------------------

typedef struct kernel_function {
    uint32_t id, type;
    uint32_t *param_types; // of those passed by value
    uint32_t param_count;
} kernel_function;

static bool is_by_value(const kp_check_param *param) {
    return param->kind == KP_PARAM_INPUT || param->kind == KP_PARAM_CONSTANT;
}

static kernel_function declare_kernel(kp_emitter *e) {
    kernel_function f = {.id = kp_spirv_id(e->s)};
    f.param_types = KP_UNIT_NEW(e->unit, uint32_t, e->kernel->param_count);
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        if (is_by_value(&e->kernel->params[i]))
            f.param_types[f.param_count++] = kp_emit_type(e, e->kernel->params[i].symbol->type);
    }
    f.type = kp_spirv_type_function(e->s, e->type_void, f.param_types, f.param_count);
    kp_spirv_name(e->s, f.id, e->kernel->name);
    return f;
}

static void fill_zeros(kp_emitter *e, const kp_symbol *symbol) {
    kp_place place = {.type = symbol->type, .pointer = symbol->id, .storage = SpvStorageClassFunction};
    kp_emit_fill(e, &place, 0);
}

void kp_emit_locals(kp_emitter *e, kp_symbol *symbols) {
    for (kp_symbol *symbol = symbols; symbol != NULL; symbol = symbol->next) {
        if (symbol->kind == KP_SYMBOL_BUFFER || symbol->kind == KP_SYMBOL_SHARED || symbol->kind == KP_SYMBOL_ARRAY ||
            !symbol->stored || symbol->type == NULL || symbol->same != NULL)
            continue;
        uint32_t value = symbol->id;
        bool plain = kp_type_is_value(symbol->type) || kp_type_is_matrix(symbol->type) || symbol->zeroed;
        bool zeroed = plain && !kp_emit_is_large(symbol->type);
        symbol->id = local_variable(e, symbol->type, zeroed, symbol->name != NULL ? symbol->name->text : NULL);
        if (symbol->kind == KP_SYMBOL_VALUE)
            kp_spirv_store(e->s, symbol->id, value);
    }
    for (kp_symbol *symbol = symbols; symbol != NULL; symbol = symbol->next) {
        if (symbol->same != NULL)
            symbol->id = symbol->same->id;
        else if (symbol->zeroed && symbol->stored && kp_emit_is_large(symbol->type))
            fill_zeros(e, symbol);
    }
}

static void emit_kernel(kp_emitter *e, const kernel_function *f) {
    kp_spirv *s = e->s;
    kp_spirv_function(s, f->id, e->type_void, f->type);
    uint32_t next = 0;
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        kp_check_param *param = &e->kernel->params[i];
        if (!is_by_value(param))
            continue;
        param->symbol->id = kp_spirv_parameter(s, f->param_types[next++]);
        kp_spirv_name(s, param->symbol->id, param->symbol->name->text);
    }
    kp_emit_locals(e, e->kernel->symbols);
    kp_emit_block(e, e->kernel->function->body);
    if (s->block != 0)
        kp_spirv_return(s);
    kp_spirv_function_end(s);
}

// ---------------------------------------------------------------------------------------------------------------------
// Entry points
// ---------------------------------------------------------------------------------------------------------------------

enum { BUILTIN_COUNT = 5 };
typedef enum builtin { GLOBAL_ID, LOCAL_ID, GROUP_ID, GROUP_COUNT, LOCAL_INDEX } builtin;

// What one entry point is made of.
typedef struct entry {
    kp_emitter *e;
    const kernel_function *kernel;
    uint32_t id;
    uint32_t builtins[BUILTIN_COUNT]; // variables in use; 0: not
    uint32_t push;                    // variable; 0: none
    uint32_t push_members;            // of the kernel's own
    uint32_t inputs[KP_INPUT_COUNT];  // values, as u32 or uvec3, of this call; 0: not worked out
    uint32_t *constants;              // values of the kernel's push constants, by parameter
} entry;

typedef struct shared {
    uint32_t builtins[BUILTIN_COUNT]; // variables of the module
    uint32_t uvec3;
} shared;

static uint32_t builtin_variable(kp_emitter *e, shared *sh, builtin which) {
    static const SpvBuiltIn kinds[] = {SpvBuiltInGlobalInvocationId, SpvBuiltInLocalInvocationId, SpvBuiltInWorkgroupId,
                                       SpvBuiltInNumWorkgroups, SpvBuiltInLocalInvocationIndex};
    static const char *const names[] = {"GlobalInvocationId", "LocalInvocationId", "WorkgroupId", "NumWorkgroups",
                                        "LocalInvocationIndex"};
    if (sh->builtins[which] == 0) {
        uint32_t type = which == LOCAL_INDEX ? e->type_u32 : sh->uvec3;
        uint32_t pointer = kp_spirv_type_pointer(e->s, SpvStorageClassInput, type);
        sh->builtins[which] = kp_spirv_global(e->s, pointer, SpvStorageClassInput);
        kp_spirv_decorate_with(e->s, sh->builtins[which], SpvDecorationBuiltIn, (uint32_t)kinds[which]);
        kp_spirv_name(e->s, sh->builtins[which], names[which]);
    }
    return sh->builtins[which];
}

static uint32_t load_builtin(entry *en, shared *sh, builtin which) {
    en->builtins[which] = builtin_variable(en->e, sh, which);
    return kp_spirv_load(en->e->s, which == LOCAL_INDEX ? en->e->type_u32 : sh->uvec3, en->builtins[which]);
}

// What it is there: a bool takes a word.
static const kp_type *push_type(const kp_type *type) {
    return kp_type_is_bool(type) ? kp_type_vector(KP_U32, type->components) : type;
}

// The push constant block: the kernel's own members and, behind them, kp_launch_push. 0 when it would be empty.
static uint32_t push_variable(kp_emitter *e, bool launch, uint32_t *own) {
    enum { LAUNCH_WORDS = sizeof(kp_launch_push) / sizeof(uint32_t) };
    static const char *const launch_names[LAUNCH_WORDS] = {"extent_x", "extent_y", "extent_z",
                                                           "blocks_x", "blocks_y", "blocks_z"};
    kp_spirv *s = e->s;
    uint32_t shapes = e->kernel->shape_size / 4;
    uint32_t *members = KP_UNIT_NEW(e->unit, uint32_t, e->kernel->param_count + shapes + LAUNCH_WORDS);
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_type *type = e->kernel->params[i].symbol->type;
        if (e->kernel->params[i].kind != KP_PARAM_CONSTANT)
            continue;
        type = push_type(type);
        members[count++] = kp_type_is_struct(type) || kp_type_is_matrix(type) ? kp_emit_memory_type(e, type, false)
                                                                              : kp_emit_type(e, type);
        declare_storage(e, type, SpvStorageClassPushConstant);
    }
    for (uint32_t i = 0; i < shapes; i++)
        members[count++] = e->type_i32;
    *own = count;
    for (uint32_t i = 0; i < LAUNCH_WORDS && launch; i++)
        members[count++] = e->type_u32;
    if (count == 0)
        return 0;
    uint32_t block = kp_spirv_type_struct(s, members, count, launch ? SALT_LAUNCH : SALT_PUSH);
    kp_spirv_decorate(s, block, SpvDecorationBlock);
    kp_spirv_name(s, block, launch ? "blocks_push" : "push");
    uint32_t member = 0;
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_check_param *param = &e->kernel->params[i];
        if (param->kind != KP_PARAM_CONSTANT)
            continue;
        kp_spirv_member_offset(s, block, member, param->offset);
        kp_spirv_member_name(s, block, member++, param->symbol->name->text);
    }
    uint32_t offset = e->kernel->push_size;
    for (uint32_t i = 0; i < shapes; i++, offset += 4) {
        kp_spirv_member_offset(s, block, member, offset);
        kp_spirv_member_name(s, block, member++, "shape");
    }
    for (uint32_t i = 0; i < LAUNCH_WORDS && launch; i++) {
        kp_spirv_member_offset(s, block, member, offset + 4 * i);
        kp_spirv_member_name(s, block, member++, launch_names[i]);
    }
    return kp_spirv_global(s, kp_spirv_type_pointer(s, SpvStorageClassPushConstant, block),
                           SpvStorageClassPushConstant);
}

static uint32_t load_push(entry *en, uint32_t type, uint32_t member) {
    kp_spirv *s = en->e->s;
    uint32_t index = kp_emit_u32(en->e, member);
    uint32_t pointer = kp_spirv_type_pointer(s, SpvStorageClassPushConstant, type);
    return kp_spirv_load(s, type, kp_spirv_access(s, pointer, en->push, &index, 1));
}

// A struct or a matrix.
static uint32_t load_push_parts(entry *en, const kp_type *type, uint32_t member) {
    kp_emitter *e = en->e;
    uint32_t index = kp_emit_u32(e, member);
    uint32_t pointer = kp_spirv_type_pointer(e->s, SpvStorageClassPushConstant, kp_emit_memory_type(e, type, false));
    kp_place place = {
        .type = type, .storage = SpvStorageClassPushConstant, .memory = true, .root = en->push, .depth = 1};
    place.path[0] = index;
    place.pointer = kp_spirv_access(e->s, pointer, en->push, &index, 1);
    return kp_emit_load(e, &place);
}

// A variable for each length of a view that the kernel or its helpers ask for.
static void emit_shapes(kp_emitter *e) {
    if (e->kernel->shape_size == 0)
        return;
    uint32_t pointer = kp_spirv_type_pointer(e->s, SpvStorageClassPrivate, e->type_i32);
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        kp_symbol *symbol = e->kernel->params[i].symbol;
        for (uint32_t axis = 0; axis < 3; axis++) {
            if (!symbol->shaped[axis])
                continue;
            symbol->shape[axis] = kp_spirv_global(e->s, pointer, SpvStorageClassPrivate);
            kp_spirv_name(e->s, symbol->shape[axis], "shape");
        }
    }
}

static void load_shapes(entry *en) {
    kp_emitter *e = en->e;
    uint32_t first = en->push_members - e->kernel->shape_size / 4;
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_check_param *param = &e->kernel->params[i];
        uint32_t member = first + (param->shape_offset - e->kernel->push_size) / 4;
        for (uint32_t axis = 0; axis < 3; axis++) {
            if (param->symbol->shaped[axis])
                kp_spirv_store(e->s, param->symbol->shape[axis], load_push(en, e->type_i32, member + axis));
        }
    }
}

static void load_constants(entry *en) {
    load_shapes(en);
    kp_emitter *e = en->e;
    uint32_t member = 0;
    en->constants = KP_UNIT_NEW(e->unit, uint32_t, e->kernel->param_count);
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_type *type = e->kernel->params[i].symbol->type;
        if (e->kernel->params[i].kind != KP_PARAM_CONSTANT)
            continue;
        const kp_type *stored = push_type(type);
        if (kp_type_is_struct(type) || kp_type_is_matrix(type))
            en->constants[i] = load_push_parts(en, type, member++);
        else
            en->constants[i] = kp_emit_cast(e, stored, type, load_push(en, kp_emit_type(e, stored), member++));
    }
}

// Vulkan's input, of which a native one is a part; SIZE for the local size, which is known.
static kp_input source_of(kp_input input) {
    switch (input) {
    case KP_INPUT_INDEX:
    case KP_INPUT_INDEX2:
    case KP_INPUT_INDEX3:
        return KP_INPUT_GLOBAL_ID;
    case KP_INPUT_LOCAL:
        return KP_INPUT_LOCAL_INDEX;
    case KP_INPUT_LOCAL2:
    case KP_INPUT_LOCAL3:
        return KP_INPUT_LOCAL_ID;
    case KP_INPUT_GROUP:
    case KP_INPUT_GROUP2:
    case KP_INPUT_GROUP3:
        return KP_INPUT_WORKGROUP_ID;
    case KP_INPUT_GROUPS:
    case KP_INPUT_GROUPS2:
    case KP_INPUT_GROUPS3:
        return KP_INPUT_WORKGROUP_COUNT;
    case KP_INPUT_SIZE:
    case KP_INPUT_SIZE2:
    case KP_INPUT_SIZE3:
        return KP_INPUT_SIZE;
    default:
        return input;
    }
}

static uint32_t size_constant(kp_emitter *e, const kp_type *type) {
    const uint32_t *size = e->kernel->local_size;
    uint32_t parts[3];
    for (uint32_t i = 0; i < 3; i++)
        parts[i] = kp_spirv_constant(e->s, e->type_i32, size[i]);
    if (type->components == 1)
        return kp_spirv_constant(e->s, e->type_i32, size[0] * size[1] * size[2]);
    return kp_spirv_constant_composite(e->s, kp_emit_type(e, type), parts, type->components);
}

// The input as its parameter has it: the right number of components, signed unless declared otherwise.
static uint32_t input_value(entry *en, const kp_check_param *param) {
    kp_emitter *e = en->e;
    const kp_type *type = param->symbol->type;
    kp_input source = source_of(param->input);
    if (source == KP_INPUT_SIZE)
        return size_constant(e, type);
    uint32_t raw = en->inputs[source];
    const kp_type *unsigned_type = kp_type_vector(KP_U32, type->components);
    if (type->components == 1 && source != KP_INPUT_LOCAL_INDEX)
        raw = kp_spirv_extract(e->s, e->type_u32, raw, 0);
    else if (type->components == 2)
        raw = kp_spirv_shuffle(e->s, kp_emit_type(e, unsigned_type), raw, (const uint8_t[]){0, 1}, 2);
    return kp_emit_cast(e, unsigned_type, type, raw);
}

// How many invocations there are on each axis.
static uint32_t extent_of(const entry *en) {
    kp_emitter *e = en->e;
    uint32_t count = en->inputs[KP_INPUT_WORKGROUP_COUNT], size[3];
    if (!e->kernel->has_local_size)
        return count;
    for (uint32_t i = 0; i < 3; i++)
        size[i] = kp_emit_u32(e, e->kernel->local_size[i]);
    uint32_t type = e->report.uvec3;
    return kp_spirv_binary(e->s, SpvOpIMul, type, count, kp_spirv_constant_composite(e->s, type, size, 3));
}

static void call_kernel(entry *en) {
    kp_emitter *e = en->e;
    uint32_t *arguments = KP_UNIT_NEW(e->unit, uint32_t, en->kernel->param_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_check_param *param = &e->kernel->params[i];
        if (param->kind == KP_PARAM_INPUT)
            arguments[count++] = input_value(en, param);
        else if (param->kind == KP_PARAM_CONSTANT)
            arguments[count++] = en->constants[i];
    }
    if (e->report.active)
        kp_emit_report_enter(e, en->inputs[KP_INPUT_GLOBAL_ID], extent_of(en));
    kp_spirv_call(e->s, e->type_void, en->kernel->id, arguments, count);
}

static void open_entry(entry *en) {
    kp_spirv *s = en->e->s;
    en->id = kp_spirv_id(s);
    kp_spirv_function(s, en->id, en->e->type_void, kp_spirv_type_function(s, en->e->type_void, NULL, 0));
}

static void close_entry(entry *en, const char *name, const uint32_t local_size[3]) {
    kp_spirv *s = en->e->s;
    uint32_t interface[BUILTIN_COUNT + KP_SUBGROUP_INPUTS], count = 0;
    if (s->block != 0)
        kp_spirv_return(s);
    kp_spirv_function_end(s);
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
        if (en->builtins[i] != 0)
            interface[count++] = en->builtins[i];
    }
    for (uint32_t i = 0; i < KP_SUBGROUP_INPUTS; i++) {
        if (en->e->subgroup_inputs[i] != 0)
            interface[count++] = en->e->subgroup_inputs[i];
    }
    kp_spirv_entry(s, en->id, name, interface, count);
    kp_spirv_mode_local_size(s, en->id, local_size);
    kp_spirv_name(s, en->id, name);
}

static bool uses_input(const kp_emitter *e, kp_input input) {
    if (e->report.active && (input == KP_INPUT_GLOBAL_ID || input == KP_INPUT_WORKGROUP_COUNT))
        return true;
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_check_param *param = &e->kernel->params[i];
        if (param->kind == KP_PARAM_INPUT && source_of(param->input) == input)
            return true;
    }
    return false;
}

// "main": Vulkan's own numbers.
static void emit_main(kp_emitter *e, const kernel_function *kernel, shared *sh) {
    static const struct {
        kp_input input;
        builtin which;
    } sources[] = {{KP_INPUT_GLOBAL_ID, GLOBAL_ID},
                   {KP_INPUT_LOCAL_ID, LOCAL_ID},
                   {KP_INPUT_WORKGROUP_ID, GROUP_ID},
                   {KP_INPUT_WORKGROUP_COUNT, GROUP_COUNT},
                   {KP_INPUT_LOCAL_INDEX, LOCAL_INDEX}};
    static const uint32_t one[3] = {1, 1, 1};
    entry en = {.e = e, .kernel = kernel};
    en.push = push_variable(e, false, &en.push_members);
    open_entry(&en);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (uses_input(e, sources[i].input))
            en.inputs[sources[i].input] = load_builtin(&en, sh, sources[i].which);
    }
    load_constants(&en);
    call_kernel(&en);
    close_entry(&en, KP_LAUNCH_ENTRY, e->kernel->has_local_size ? e->kernel->local_size : one);
}

// ---------------------------------------------------------------------------------------------------------------------
// "kp_blocks"
// ---------------------------------------------------------------------------------------------------------------------

// The specialization constants of base/launch.h, and what is made of them.
typedef struct launch {
    uint32_t local[3], items, adjacent, folded;
    uint32_t block;  // LOCAL_X * ITEMS: indices of a block along x
    uint32_t spread; // indices from an invocation's first item to that of the next invocation
    uint32_t stride; // ... from one item of an invocation to the next
} launch;

static launch emit_spec_constants(kp_emitter *e, uint32_t uvec3) {
    static const char *const axes[] = {"LOCAL_X", "LOCAL_Y", "LOCAL_Z"};
    kp_spirv *s = e->s;
    launch l;
    for (uint32_t i = 0; i < 3; i++) {
        l.local[i] = kp_spirv_spec(s, e->type_u32, 1, KP_LAUNCH_SPEC_LOCAL_X + i);
        kp_spirv_name(s, l.local[i], axes[i]);
    }
    l.items = kp_spirv_spec(s, e->type_u32, 1, KP_LAUNCH_SPEC_ITEMS);
    l.adjacent = kp_spirv_spec_bool(s, false, KP_LAUNCH_SPEC_ADJACENT);
    l.folded = kp_spirv_spec_bool(s, false, KP_LAUNCH_SPEC_FOLDED);
    kp_spirv_name(s, l.items, "ITEMS");
    kp_spirv_name(s, l.adjacent, "ADJACENT");
    kp_spirv_name(s, l.folded, "FOLDED");
    uint32_t one = kp_emit_u32(e, 1);
    l.block = kp_spirv_spec_op(s, SpvOpIMul, e->type_u32, (uint32_t[]){l.local[0], l.items}, 2);
    l.spread = kp_spirv_spec_op(s, SpvOpSelect, e->type_u32, (uint32_t[]){l.adjacent, l.items, one}, 3);
    l.stride = kp_spirv_spec_op(s, SpvOpSelect, e->type_u32, (uint32_t[]){l.adjacent, one, l.local[0]}, 3);
    uint32_t size = kp_spirv_spec_composite(s, uvec3, l.local, 3);
    kp_spirv_decorate_with(s, size, SpvDecorationBuiltIn, SpvBuiltInWorkgroupSize);
    return l;
}

static uint32_t both(kp_emitter *e, uint32_t a, uint32_t b) { return kp_emit_bool_op(e, SpvOpLogicalAnd, a, b); }

// Which block this workgroup has: its id, or, FOLDED, its number in the dispatch taken apart again; a workgroup beyond
// the last block returns.
static uint32_t emit_block_id(entry *en, shared *sh, const launch *l) {
    kp_emitter *e = en->e;
    kp_spirv *s = e->s;
    uint32_t group = load_builtin(en, sh, GROUP_ID);
    uint32_t folded = kp_spirv_id(s), found = kp_spirv_id(s), merge = kp_spirv_id(s), outside = kp_spirv_id(s);
    uint32_t plain_from = s->block;
    kp_spirv_select_branch(s, l->folded, folded, merge, merge);
    kp_spirv_label(s, folded);
    uint32_t count = load_builtin(en, sh, GROUP_COUNT);
    uint32_t w[3], n[2], blocks[3];
    for (uint32_t i = 0; i < 3; i++) {
        w[i] = kp_spirv_extract(s, e->type_u32, group, i);
        blocks[i] = load_push(en, e->type_u32, en->push_members + 3 + i);
    }
    for (uint32_t i = 0; i < 2; i++)
        n[i] = kp_spirv_extract(s, e->type_u32, count, i);
    uint32_t number = kp_emit_u32_op(e, SpvOpIAdd, w[1], kp_emit_u32_op(e, SpvOpIMul, n[1], w[2]));
    number = kp_emit_u32_op(e, SpvOpIAdd, w[0], kp_emit_u32_op(e, SpvOpIMul, n[0], number));
    uint32_t rows = kp_emit_u32_op(e, SpvOpUDiv, number, blocks[0]);
    uint32_t parts[3]; // one after the other: the order inside braces is the C compiler's choice
    parts[0] = kp_emit_u32_op(e, SpvOpUMod, number, blocks[0]);
    parts[1] = kp_emit_u32_op(e, SpvOpUMod, rows, blocks[1]);
    parts[2] = kp_emit_u32_op(e, SpvOpUDiv, rows, blocks[1]);
    uint32_t unfolded = kp_spirv_construct(s, sh->uvec3, parts, 3);
    kp_spirv_select_branch(s, kp_emit_bool_op(e, SpvOpUGreaterThanEqual, parts[2], blocks[2]), outside, found, found);
    kp_spirv_label(s, outside);
    kp_spirv_return(s);
    kp_spirv_label(s, found);
    kp_spirv_branch(s, merge);
    kp_spirv_label(s, merge);
    return kp_spirv_phi(s, sh->uvec3, group, plain_from, unfolded, found);
}

// What the loops over a block's items need.
typedef struct block_run {
    uint32_t first;  // x of this invocation's first item
    uint32_t yz[2];  // its y and z
    uint32_t extent; // of x; 0: no check
} block_run;

static void call_item(entry *en, shared *sh, const block_run *run, uint32_t x) {
    uint32_t parts[3] = {x, run->yz[0], run->yz[1]};
    uint32_t index = kp_spirv_construct(en->e->s, sh->uvec3, parts, 3);
    en->inputs[KP_INPUT_GLOBAL_ID] = en->inputs[KP_INPUT_WORKGROUP_ID] = index;
    call_kernel(en);
}

// for k in range(ITEMS): kernel(first + k * stride)
//
// The checked loop must stay a loop: a driver that has masks where others branch (lavapipe) runs both sides of the test
// for every block, and would run each copy of the checked body that it had unrolled.
static void emit_items(entry *en, shared *sh, const launch *l, const block_run *run) {
    kp_emitter *e = en->e;
    kp_spirv *s = e->s;
    uint32_t counter = kp_emit_variable(e, kp_type_scalar(KP_U32), NULL);
    uint32_t header = kp_spirv_id(s), head = kp_spirv_id(s), body = kp_spirv_id(s), next = kp_spirv_id(s);
    uint32_t merge = kp_spirv_id(s);
    kp_spirv_store(s, counter, kp_emit_u32(e, 0));
    kp_spirv_branch(s, header);
    kp_spirv_label(s, header);
    kp_spirv_loop(s, merge, next, run->extent != 0 ? SpvLoopControlDontUnrollMask : SpvLoopControlMaskNone, head);
    kp_spirv_label(s, head);
    uint32_t k = kp_spirv_load(s, e->type_u32, counter);
    kp_spirv_branch_if(s, kp_emit_bool_op(e, SpvOpULessThan, k, l->items), body, merge);
    kp_spirv_label(s, body);
    uint32_t x = kp_emit_u32_op(e, SpvOpIAdd, run->first, kp_emit_u32_op(e, SpvOpIMul, k, l->stride));
    if (run->extent != 0) {
        uint32_t inside = kp_spirv_id(s), after = kp_spirv_id(s);
        kp_spirv_select_branch(s, kp_emit_bool_op(e, SpvOpULessThan, x, run->extent), inside, after, after);
        kp_spirv_label(s, inside);
        call_item(en, sh, run, x);
        kp_spirv_branch(s, after);
        kp_spirv_label(s, after);
    } else {
        call_item(en, sh, run, x);
    }
    kp_spirv_branch(s, next);
    kp_spirv_label(s, next);
    kp_spirv_store(s, counter, kp_emit_u32_op(e, SpvOpIAdd, k, kp_emit_u32(e, 1)));
    kp_spirv_branch(s, header);
    kp_spirv_label(s, merge);
}

static void emit_blocks(kp_emitter *e, const kernel_function *kernel, shared *sh, const launch *l) {
    static const uint32_t one[3] = {1, 1, 1};
    kp_spirv *s = e->s;
    entry en = {.e = e, .kernel = kernel};
    en.push = push_variable(e, true, &en.push_members);
    open_entry(&en);
    uint32_t block = emit_block_id(&en, sh, l);
    uint32_t local = load_builtin(&en, sh, LOCAL_ID);
    uint32_t extent[3], origin[3], at[3], fits[3];
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t size = i == 0 ? l->block : l->local[i];
        extent[i] = load_push(&en, e->type_u32, en.push_members + i);
        origin[i] = kp_emit_u32_op(e, SpvOpIMul, kp_spirv_extract(s, e->type_u32, block, i), size);
        at[i] = kp_spirv_extract(s, e->type_u32, local, i);
        if (i == 0)
            at[i] = kp_emit_u32_op(e, SpvOpIMul, at[i], l->spread);
        at[i] = kp_emit_u32_op(e, SpvOpIAdd, origin[i], at[i]);
        fits[i] = kp_emit_bool_op(e, SpvOpULessThanEqual, kp_emit_u32_op(e, SpvOpIAdd, origin[i], size), extent[i]);
    }
    load_constants(&en);
    en.inputs[KP_INPUT_WORKGROUP_COUNT] = kp_spirv_construct(s, sh->uvec3, extent, 3);
    en.inputs[KP_INPUT_LOCAL_ID] = kp_spirv_constant_null(s, sh->uvec3);
    en.inputs[KP_INPUT_LOCAL_INDEX] = kp_emit_u32(e, 0);
    block_run run = {.first = at[0], .yz = {at[1], at[2]}};
    uint32_t whole = kp_spirv_id(s), part = kp_spirv_id(s), checked = kp_spirv_id(s), merge = kp_spirv_id(s);
    kp_spirv_select_branch(s, both(e, fits[0], both(e, fits[1], fits[2])), whole, part, merge);
    kp_spirv_label(s, whole);
    emit_items(&en, sh, l, &run);
    kp_spirv_branch(s, merge);
    kp_spirv_label(s, part);
    uint32_t y_inside = kp_emit_bool_op(e, SpvOpULessThan, at[1], extent[1]);
    uint32_t z_inside = kp_emit_bool_op(e, SpvOpULessThan, at[2], extent[2]);
    uint32_t inside = both(e, y_inside, z_inside);
    uint32_t part_merge = kp_spirv_id(s);
    kp_spirv_select_branch(s, inside, checked, part_merge, part_merge);
    kp_spirv_label(s, checked);
    run.extent = extent[0];
    emit_items(&en, sh, l, &run);
    kp_spirv_branch(s, part_merge);
    kp_spirv_label(s, part_merge);
    kp_spirv_branch(s, merge);
    kp_spirv_label(s, merge);
    close_entry(&en, KP_LAUNCH_BLOCKS_ENTRY, one);
}

// "kp_groups": whole workgroups, in a dispatch of any shape.
static void emit_groups(kp_emitter *e, const kernel_function *kernel, shared *sh) {
    kp_spirv *s = e->s;
    const uint32_t *size = e->kernel->local_size;
    uint32_t sizes[3], blocks[3];
    launch l = {.folded = kp_spirv_constant_bool(s, true)};
    entry en = {.e = e, .kernel = kernel};
    en.push = push_variable(e, true, &en.push_members);
    open_entry(&en);
    uint32_t group = emit_block_id(&en, sh, &l);
    for (uint32_t i = 0; i < 3; i++) {
        sizes[i] = kp_emit_u32(e, size[i]);
        blocks[i] = load_push(&en, e->type_u32, en.push_members + 3 + i);
    }
    en.inputs[KP_INPUT_LOCAL_ID] = load_builtin(&en, sh, LOCAL_ID);
    if (uses_input(e, KP_INPUT_LOCAL_INDEX))
        en.inputs[KP_INPUT_LOCAL_INDEX] = load_builtin(&en, sh, LOCAL_INDEX);
    uint32_t first = kp_spirv_constant_composite(s, sh->uvec3, sizes, 3);
    first = kp_spirv_binary(s, SpvOpIMul, sh->uvec3, group, first);
    en.inputs[KP_INPUT_GLOBAL_ID] = kp_spirv_binary(s, SpvOpIAdd, sh->uvec3, first, en.inputs[KP_INPUT_LOCAL_ID]);
    en.inputs[KP_INPUT_WORKGROUP_ID] = group;
    en.inputs[KP_INPUT_WORKGROUP_COUNT] = kp_spirv_construct(s, sh->uvec3, blocks, 3);
    load_constants(&en);
    call_kernel(&en);
    close_entry(&en, KP_LAUNCH_GROUPS_ENTRY, size);
}

// ---------------------------------------------------------------------------------------------------------------------

static void setup(kp_emitter *e) {
    e->type_void = kp_spirv_type_void(e->s);
    e->type_bool = kp_emit_type(e, kp_type_scalar(KP_BOOL));
    e->type_i32 = kp_emit_type(e, kp_type_scalar(KP_I32));
    e->type_u32 = kp_emit_type(e, kp_type_scalar(KP_U32));
    e->type_f32 = kp_emit_type(e, kp_type_scalar(KP_F32));
    kp_spirv_capability(e->s, SpvCapabilityShader);
}

// The kernel's own specialization constants.
static void emit_specs(kp_emitter *e) {
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_check_param *param = &e->kernel->params[i];
        kp_symbol *symbol = param->symbol;
        if (param->kind != KP_PARAM_SPEC)
            continue;
        uint64_t bits = kp_signature_default_bits(symbol);
        if (kp_type_is_signed(symbol->type)) // extended by its sign
            bits = (uint64_t)symbol->value.i;
        if (kp_type_is_bool(symbol->type))
            symbol->id = kp_spirv_spec_bool(e->s, bits != 0, param->spec_id);
        else if (kp_dtype_size(symbol->type->dtype) == 8)
            symbol->id = kp_spirv_spec_wide(e->s, kp_emit_type(e, symbol->type), bits, param->spec_id);
        else
            symbol->id = kp_spirv_spec(e->s, kp_emit_type(e, symbol->type), (uint32_t)bits, param->spec_id);
        kp_spirv_name(e->s, symbol->id, symbol->name->text);
    }
}

void kp_emit_run(kp_unit *unit, kp_kernel *kernel, kp_spirv *s) {
    kp_emitter *e = KP_UNIT_NEW(unit, kp_emitter, 1);
    e->unit = unit;
    e->kernel = kernel;
    e->s = s;
    setup(e);
    kp_emit_choose_atomics(e);
    shared sh = {.uvec3 = kp_emit_type(e, kp_type_vector(KP_U32, 3))};
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (kernel->params[i].kind == KP_PARAM_UNIFORM)
            kp_emit_uniform(e, &kernel->params[i], SALT_FIRST_BUFFER + i);
        else if (kernel->params[i].kind == KP_PARAM_BUFFER)
            emit_buffer(e, &kernel->params[i], i);
        else if (kp_type_is_opaque(kernel->params[i].symbol->type))
            kp_emit_image(e, &kernel->params[i]);
    }
    emit_specs(e);
    emit_shapes(e);
    kp_emit_shared(e);
    kp_emit_subgroup_inputs(e);
    kp_emit_report_setup(e);
    kernel_function f = declare_kernel(e);
    if (kernel->has_local_size) {
        emit_main(e, &f, &sh);
        emit_groups(e, &f, &sh);
    } else {
        launch l = emit_spec_constants(e, sh.uvec3);
        emit_main(e, &f, &sh);
        emit_blocks(e, &f, &sh, &l);
    }
    emit_kernel(e, &f);
    kp_emit_functions(e);
    kp_emit_helpers(e);
    kp_emit_report_finish(e);
}
