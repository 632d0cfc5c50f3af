// The public face (kp/compiler.h), and the passes in order. One arena holds all that a compile makes; the first error
// jumps back here, and freeing the arena is all the cleaning up that there is.
#include "base/alloc.h"
#include "base/program.h"
#include "base/str.h"
#include "check.h"
#include "emit.h"
#include "error.h"
#include "parser.h"
#include "texts.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// The passes
// ---------------------------------------------------------------------------------------------------------------------

static const kp_token *lex(kp_unit *unit) { return kp_lexer_run(unit, 0, unit->texts[0].length, false); }

static bool list_names(const kp_parser_outline *outline, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < outline->function_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", outline->functions[i].name->text);
    return used < size;
}

// The function that is asked for; the last of that name, as in Python.
static const kp_parser_function *choose(kp_unit *unit, const kp_parser_outline *outline) {
    char names[512];
    const char *wanted = unit->desc->kernel;
    if (outline->function_count == 0)
        kp_error_in_file(unit, "there is no function in the source; a kernel starts with def");
    if (wanted == NULL)
        return &outline->functions[outline->function_count - 1];
    for (uint32_t i = outline->function_count; i-- > 0;) {
        if (strcmp(outline->functions[i].name->text, wanted) == 0)
            return &outline->functions[i];
    }
    bool all = list_names(outline, names, sizeof names);
    kp_error_in_file(unit, "there is no function '%s' in the source; it has %s%s", wanted, names, all ? "" : " ...");
}

static void refuse_twins(kp_unit *unit, const kp_parser_outline *outline, const kp_parser_function *function) {
    for (const kp_parser_function *other = outline->functions; other < function; other++) {
        if (other->name == function->name)
            kp_error_at(unit, function->token, NULL, "there are two functions '%s'; the other one is in line %u",
                        function->name->text, kp_error_line(unit, other->token));
    }
}

static kp_function *parse(kp_unit *unit, kp_parser_outline **outline) {
    *outline = kp_parser_find(unit, lex(unit));
    const kp_parser_function *function = choose(unit, *outline);
    refuse_twins(unit, *outline, function);
    return kp_parser_function_at(unit, function);
}

static const kp_struct *describe_struct(kp_unit *unit, const kp_type *type);

static kp_field describe_field(kp_unit *unit, const kp_type_field *field) {
    const kp_type *leaf = kp_type_leaf(field->type);
    uint32_t components = kp_type_is_struct(leaf)   ? 1
                          : kp_type_is_matrix(leaf) ? leaf->element->components
                                                    : leaf->components;
    return (kp_field){
        .name = field->name,
        .type = field->type->name,
        .dtype = leaf->dtype,
        .components = components,
        .count = kp_type_items(field->type) / components,
        .offset = field->offset,
        .size = kp_type_size(field->type),
        .structure = describe_struct(unit, leaf),
    };
}

// NULL for what is no struct.
static const kp_struct *describe_struct(kp_unit *unit, const kp_type *type) {
    if (!kp_type_is_struct(type))
        return NULL;
    kp_field *fields = KP_UNIT_NEW(unit, kp_field, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++)
        fields[i] = describe_field(unit, &type->fields[i]);
    kp_struct *structure = KP_UNIT_NEW(unit, kp_struct, 1);
    *structure = (kp_struct){.name = type->name,
                             .size = type->size,
                             .align = type->align,
                             .fields = fields,
                             .field_count = type->field_count};
    return structure;
}

static kp_param describe(kp_unit *unit, const kp_kernel *kernel, const kp_check_param *param) {
    const kp_symbol *symbol = param->symbol;
    if (kp_type_is_opaque(symbol->type)) {
        kp_param image = kp_check_image_describe(param);
        image.fills = image.kind == KP_PARAM_IMAGE && kp_check_fills(kernel, symbol, image.ndim);
        return image;
    }
    bool uniform = param->kind == KP_PARAM_UNIFORM;
    const kp_type *value = symbol->type->kind == KP_TYPE_ARRAY && !uniform ? symbol->type->element : symbol->type;
    bool buffer = param->kind == KP_PARAM_BUFFER;
    return (kp_param){
        .name = symbol->name->text,
        .type = param->type_name,
        .kind = param->kind,
        .dtype = kp_type_leaf(value)->dtype,
        .components = kp_type_items(value),
        .ndim = buffer ? kp_check_axes(symbol->type) : 0,
        .shape_offset = param->shape_offset,
        .set = param->set,
        .binding = param->binding,
        .offset = param->offset,
        .size = param->kind == KP_PARAM_CONSTANT ? kp_signature_push_size(value) : kp_type_size(value),
        .spec_id = param->spec_id,
        .optional = param->optional,
        .default_bits = param->optional ? kp_signature_default_bits(symbol) : 0,
        .reads = (buffer || uniform) && symbol->reads,
        .writes = buffer && symbol->writes,
        .fills = buffer && kp_check_fills(kernel, symbol, kp_check_axes(symbol->type)),
        .structure = describe_struct(unit, kp_type_leaf(value)),
    };
}

// A program that is being made: first without alternatives, then each of them on its own.
typedef struct making {
    uint32_t may_need; // kp_need
    uint32_t could_need, needs;
    kp_program *program;
} making;

static kp_result finish(kp_unit *unit, const kp_kernel *kernel, kp_spirv *s, kp_program **out) {
    kp_param *params = KP_UNIT_NEW(unit, kp_param, kernel->param_count);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        params[i] = describe(unit, kernel, &kernel->params[i]);
    kp_program program = {
        .name = kernel->name, .params = params, .param_count = kernel->param_count, .push_size = kernel->push_size};
    if (kernel->has_local_size)
        memcpy(program.local_size, kernel->local_size, sizeof program.local_size);
    program.subgroup_size = kernel->subgroup_size;
    program.word_count = kp_spirv_write(s, NULL);
    uint32_t *words;
    kp_result result = kp_program_new_empty(&program, &words, out);
    if (result == KP_OK)
        kp_spirv_write(s, words);
    return result;
}

static kp_result compile(kp_unit *unit, void *payload) {
    making *m = payload;
    kp_parser_outline *outline;
    kp_spirv s;
    unit->may_need = m->may_need;
    kp_function *function = parse(unit, &outline);
    kp_kernel *kernel = kp_check_run(unit, outline, function);
    kp_spirv_setup(&s, &unit->arena, !unit->desc->no_debug_info);
    kp_emit_run(unit, kernel, &s);
    m->could_need = unit->could_need;
    m->needs = unit->needs;
    return finish(unit, kernel, &s, &m->program);
}

// ---------------------------------------------------------------------------------------------------------------------
// Dumps
// ---------------------------------------------------------------------------------------------------------------------

typedef struct dump {
    kp_dump stage;
    kp_str text;
} dump;

static void dump_tokens(kp_unit *unit, kp_str *out) {
    for (const kp_token *t = lex(unit);; t++) {
        const char *kind = t->kind > KP_TOKEN_ERROR ? "" : kp_lexer_spelling((kp_token_kind)t->kind);
        const kp_texts_line in = kp_texts_line_of(unit, t);
        kp_str_format(out, "%u:%u ", in.number, t->at - in.start + 1);
        if (t->kind == KP_TOKEN_ERROR)
            kp_str_format(out, "%s: %s\n", kind, kp_lexer_fault(t));
        else if (t->length == 0)
            kp_str_format(out, "%s\n", kind);
        else
            kp_str_format(out, "%s%s%.*s\n", kind, kind[0] != '\0' ? " " : "", (int)t->length, unit->text + t->at);
        if (t->kind == KP_TOKEN_END)
            return;
    }
}

static kp_result dump_stage(kp_unit *unit, void *payload) {
    dump *d = payload;
    kp_parser_outline *outline;
    if (d->stage == KP_DUMP_TOKENS) {
        dump_tokens(unit, &d->text);
        return KP_OK;
    }
    kp_function *function = parse(unit, &outline);
    if (d->stage == KP_DUMP_TYPES)
        kp_check_run(unit, outline, function);
    kp_ast_dump(function, d->stage == KP_DUMP_TYPES, &d->text);
    return KP_OK;
}

static kp_result dump_names(kp_unit *unit, void *payload) {
    dump *d = payload;
    kp_parser_outline *outline = kp_parser_find(unit, lex(unit));
    for (uint32_t i = 0; i < outline->function_count; i++)
        kp_str_format(&d->text, "%s\n", outline->functions[i].name->text);
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// The frame around them
// ---------------------------------------------------------------------------------------------------------------------

typedef kp_result pass_fn(kp_unit *unit, void *payload);

static kp_result guarded(kp_unit *unit, const char *source, pass_fn *pass, void *payload) {
    if (setjmp(unit->escape) != 0)
        return unit->result;
    kp_texts_gather(unit, source);
    return pass(unit, payload);
}

static kp_result run(const char *source, const kp_compile_desc *desc, pass_fn *pass, void *payload) {
    static const kp_compile_desc none = {0};
    kp_unit unit = {.desc = desc != NULL ? desc : &none};
    unit.file = unit.desc->file != NULL ? unit.desc->file : "<kernel>";
    unit.arena.least = KP_UNIT_LEAST + strlen(source) * KP_UNIT_A_BYTE;
    unit.arena.on_full = kp_error_out_of_memory;
    unit.arena.payload = &unit;
    kp_result result = guarded(&unit, source, pass, payload);
    kp_arena_free(&unit.arena);
    return result;
}

// What a function of the descriptor, or the kernel, has in tables.
typedef struct tables {
    const kp_param_type *params;
    size_t param_count;
    const kp_constant *constants;
    size_t constant_count;
    const kp_callee *callees;
    size_t callee_count;
    const kp_param_type *types;
    size_t type_count;
} tables;

static kp_result check_constants(const char *call, const char *what, const kp_constant *constants, size_t count) {
    if (count != 0 && constants == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s is NULL, but its count is not 0", call, what);
    for (size_t i = 0; i < count; i++) {
        if (constants[i].name == NULL)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s[%zu] has no name", call, what, i);
        if (constants[i].items == NULL && constants[i].item_count != 0)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s[%zu].items is NULL, but its count is not 0", call, what, i);
    }
    return KP_OK;
}

static kp_result check_types(const char *call, const char *what, const kp_param_type *types, size_t count) {
    if (count != 0 && types == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s is NULL, but its count is not 0", call, what);
    for (size_t i = 0; i < count; i++) {
        if (types[i].name == NULL || types[i].type == NULL)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s[%zu] has no %s", call, what, i,
                                types[i].name == NULL ? "name" : "type");
    }
    return KP_OK;
}

static kp_result check_tables(const char *call, const tables *t, size_t function_count) {
    kp_result result = check_types(call, "params", t->params, t->param_count);
    if (result == KP_OK)
        result = check_types(call, "types", t->types, t->type_count);
    if (result != KP_OK)
        return result;
    if (t->callee_count != 0 && t->callees == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: callees is NULL, but its count is not 0", call);
    for (size_t i = 0; i < t->callee_count; i++) {
        const kp_callee *callee = &t->callees[i];
        if (callee->name == NULL)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: callees[%zu] has no name", call, i);
        if (callee->refusal == NULL && callee->stands_for == NULL && callee->function >= function_count)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: '%s' is function %zu, but there are %zu", call, callee->name,
                                callee->function, function_count);
    }
    return check_constants(call, "constants", t->constants, t->constant_count);
}

static kp_result check_function(const char *call, const kp_function_source *f, size_t index, size_t function_count) {
    if (f->source == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: functions[%zu] has no source", call, index);
    kp_result result = check_constants(call, "defaults", f->defaults, f->default_count);
    const tables t = {f->params,  f->param_count,  f->constants, f->constant_count,
                      f->callees, f->callee_count, f->types,     f->type_count};
    return result != KP_OK ? result : check_tables(call, &t, function_count);
}

static kp_result check_arguments(const char *call, const char *source, const kp_compile_desc *desc, const void *out) {
    if (source == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s is NULL", call, source == NULL ? "source" : "out");
    if (desc == NULL)
        return KP_OK;
    if (desc->function_count != 0 && desc->functions == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: functions is NULL, but its count is not 0", call);
    if (desc->function_count > 0xFFFF)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: there are %zu functions; the limit is 65535", call,
                            desc->function_count);
    const tables t = {desc->params,  desc->param_count,  desc->constants, desc->constant_count,
                      desc->callees, desc->callee_count, desc->types,     desc->type_count};
    kp_result result = check_tables(call, &t, desc->function_count);
    if (result == KP_OK)
        result = check_constants(call, "defaults", desc->defaults, desc->default_count);
    for (size_t i = 0; i < desc->function_count && result == KP_OK; i++)
        result = check_function(call, &desc->functions[i], i, desc->function_count);
    return result;
}

// The program with its alternatives: the kernel compiled once more for each set of what it could need, best first.
static kp_result add_alternatives(const char *source, const kp_compile_desc *desc, making *first) {
    enum { ADDS = KP_NEED_BUFFER_ADD | KP_NEED_SHARED_ADD, SHARED = KP_NEED_SHARED_ADD | KP_NEED_SHARED_EXCHANGE };
    const uint32_t tries[3] = {UINT32_MAX, SHARED, ~(uint32_t)SHARED};
    uint32_t count = (first->could_need & ADDS) == ADDS ? 3 : 1;
    kp_alternative alternatives[3];
    making made[3] = {{0}};
    kp_program whole = *first->program, *program = NULL;
    kp_result result = KP_OK;
    for (uint32_t i = 0; i < count && result == KP_OK; i++) {
        made[i].may_need = first->could_need & tries[i];
        result = run(source, desc, compile, &made[i]);
        if (result == KP_OK)
            alternatives[i] = (kp_alternative){made[i].needs, made[i].program->words, made[i].program->word_count};
    }
    whole.alternatives = alternatives;
    whole.alternative_count = count;
    if (result == KP_OK)
        result = kp_program_new(&whole, &program);
    for (uint32_t i = 0; i < count; i++)
        kp_program_destroy(made[i].program);
    if (result != KP_OK)
        return result;
    kp_program_destroy(first->program);
    first->program = program;
    return KP_OK;
}

kp_result kp_compile(const char *source, const kp_compile_desc *desc, kp_program **out) {
    making made = {0};
    kp_result result = check_arguments("kp_compile", source, desc, out);
    if (result == KP_OK)
        result = run(source, desc, compile, &made);
    if (result == KP_OK && made.could_need != 0)
        result = add_alternatives(source, desc, &made);
    if (result == KP_OK)
        *out = made.program;
    else
        kp_program_destroy(made.program);
    return result;
}

static kp_result run_dump(const char *source, const kp_compile_desc *desc, pass_fn *pass, dump *d, char **out) {
    kp_result result = run(source, desc, pass, d);
    char *text = result == KP_OK ? kp_str_take(&d->text) : NULL;
    if (result == KP_OK && text == NULL)
        result = kp_error_set(KP_ERROR_HOST_MEMORY, "out of host memory for a dump");
    if (result == KP_OK)
        *out = text;
    kp_str_free(&d->text);
    return result;
}

kp_result kp_compile_dump(const char *source, const kp_compile_desc *desc, kp_dump stage, char **out) {
    dump d = {.stage = stage};
    kp_result result = check_arguments("kp_compile_dump", source, desc, out);
    if (result == KP_OK && stage != KP_DUMP_TOKENS && stage != KP_DUMP_AST && stage != KP_DUMP_TYPES)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_compile_dump: there is no stage %d", (int)stage);
    return result != KP_OK ? result : run_dump(source, desc, dump_stage, &d, out);
}

static kp_result look(kp_unit *unit, void *payload) {
    kp_parser_outline *outline;
    (void)payload;
    kp_function *function = parse(unit, &outline);
    kp_names_run(unit, outline, function);
    return KP_OK;
}

kp_result kp_compile_check(const char *source, const kp_compile_desc *desc) {
    kp_result result = check_arguments("kp_compile_check", source, desc, source);
    return result != KP_OK ? result : run(source, desc, look, NULL);
}

kp_result kp_compile_list(const char *source, const kp_compile_desc *desc, char **out) {
    dump d = {0};
    kp_result result = check_arguments("kp_compile_list", source, desc, out);
    return result != KP_OK ? result : run_dump(source, desc, dump_names, &d, out);
}

void kp_free(char *text) { kp_alloc_free(text); }
