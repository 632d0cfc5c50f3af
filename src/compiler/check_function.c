// Calls of other functions of the source, or of kp_compile_desc.functions. A function is checked anew for each
// signature that it is called with (an instance): the types of its arguments, the buffers among them, and the literals,
// which stay literals inside as long as nothing is assigned to the parameter. What depends on the function alone is
// worked out at its first call. Each instance is parsed anew, for checking changes the tree.
#include "checker.h"

#include "builtin.h"
#include "habit.h"
#include "texts.h"

#include <stdio.h>
#include <string.h>

enum { DEEPEST_CALLS = 64, MOST_PARAMETERS = 255 };

// ---------------------------------------------------------------------------------------------------------------------
// Modules
// ---------------------------------------------------------------------------------------------------------------------

void kp_check_modules(kp_checker *c, kp_parser_outline *outline, const kp_function *kernel) {
    const kp_compile_desc *desc = c->unit->desc;
    c->modules = KP_UNIT_NEW(c->unit, kp_checker_module, 2 + desc->function_count);
    c->modules[0] = (kp_checker_module){.outline = outline,
                                        .constants = desc->constants,
                                        .constant_count = desc->constant_count,
                                        .callees = desc->callees,
                                        .callee_count = desc->callee_count,
                                        .names = desc->types,
                                        .name_count = desc->type_count};
    for (uint32_t i = 0; i < desc->function_count; i++) {
        const kp_function_source *f = &desc->functions[i];
        c->modules[i + 1] = (kp_checker_module){.index = i + 1,
                                                .constants = f->constants,
                                                .constant_count = f->constant_count,
                                                .callees = f->callees,
                                                .callee_count = f->callee_count,
                                                .names = f->types,
                                                .name_count = f->type_count};
    }
    c->modules[desc->function_count + 1] =
        (kp_checker_module){.index = (uint32_t)desc->function_count + 1, .library = true};
    c->module = &c->modules[0];
    for (uint32_t i = 0; i < outline->function_count; i++) {
        if (outline->functions[i].token != kernel->token)
            continue;
        kp_checker_helper *helper = KP_UNIT_NEW(c->unit, kp_checker_helper, 1); // calling it is recursion
        *helper = (kp_checker_helper){.source = &outline->functions[i], .module = c->module, .busy = true};
        outline->functions[i].helper = helper;
    }
}

static kp_parser_function *last_of_name(kp_parser_outline *outline, const char *name) {
    for (uint32_t i = outline->function_count; i-- > 0;) {
        if (name == NULL || strcmp(outline->functions[i].name->text, name) == 0)
            return &outline->functions[i];
    }
    return NULL;
}

// desc->functions[index], read when it is first called.
static kp_parser_function *function_of(kp_checker *c, const kp_node *site, size_t index) {
    const kp_function_source *source = &c->unit->desc->functions[index];
    kp_checker_module *module = &c->modules[index + 1];
    if (module->outline == NULL) {
        const kp_text *text = &c->unit->texts[index + 1];
        module->outline = kp_parser_find(c->unit, kp_lexer_run(c->unit, text->at, text->at + text->length, false));
    }
    kp_parser_function *function = last_of_name(module->outline, source->name);
    if (function == NULL)
        kp_check_fail(c, site, "the source of '%s' has no function '%s'", kp_check_text(c, site),
                      source->name != NULL ? source->name : "");
    return function;
}

const kp_callee *kp_check_callee(kp_checker *c, const kp_node *n) {
    if (c->module->callee_count == 0)
        return NULL;
    const char *name = kp_check_dotted(c, n)->text;
    for (size_t i = 0; i < c->module->callee_count; i++) {
        if (strcmp(c->module->callees[i].name, name) == 0)
            return &c->module->callees[i];
    }
    return NULL;
}

// The function that an expression names, and its module; NULL when it names none.
static kp_parser_function *find(kp_checker *c, const kp_node *n, kp_checker_module **module) {
    if (kp_check_path(c, n) == NULL)
        return NULL;
    const kp_callee *callee = kp_check_callee(c, n);
    if (callee != NULL && callee->refusal != NULL)
        kp_check_fail(c, n, "'%s' cannot be called from a kernel: %s%s", kp_check_dotted(c, n)->text, callee->refusal,
                      kp_habit_name(c->unit, kp_check_path(c, n)->text));
    if (callee != NULL && callee->stands_for != NULL)
        return NULL;
    if (callee != NULL) {
        *module = &c->modules[callee->function + 1];
        return function_of(c, n, callee->function);
    }
    *module = c->module;
    const kp_parser_outline *outline = c->module->outline;
    int32_t index =
        n->kind == KP_NODE_NAME ? kp_lookup_get(&outline->function_names, n->u.name) : (int32_t)KP_LOOKUP_NONE;
    return index != KP_LOOKUP_NONE ? &outline->functions[index] : NULL;
}

bool kp_check_is_function(kp_checker *c, const kp_node *callee) {
    kp_checker_module *module;
    return find(c, callee, &module) != NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// What depends on the function alone
// ---------------------------------------------------------------------------------------------------------------------

// The parts of the checker that belong to one function.
typedef struct frame {
    kp_checker_module *module;
    kp_scope scope;
    bool dead;
    kp_checker_loop *loop;
    kp_symbol **trail;
    uint32_t trail_count, trail_capacity;
    kp_node *prelude, *prelude_last;
    kp_checker_bound *bound;
} frame;

static frame enter(kp_checker *c, kp_checker_module *module) {
    frame f = {.module = c->module,
               .scope = c->scope,
               .dead = c->dead,
               .loop = c->loop,
               .trail = c->trail,
               .trail_count = c->trail_count,
               .trail_capacity = c->trail_capacity,
               .prelude = c->prelude,
               .prelude_last = c->prelude_last,
               .bound = c->bound};
    c->module = module;
    c->scope = (kp_scope){0};
    c->dead = false;
    c->loop = NULL;
    c->trail = NULL;
    c->trail_count = c->trail_capacity = 0;
    c->prelude = c->prelude_last = NULL;
    c->bound = NULL;
    return f;
}

static void leave(kp_checker *c, const frame *f) {
    c->module = f->module;
    c->scope = f->scope;
    c->dead = f->dead;
    c->loop = f->loop;
    c->trail = f->trail;
    c->trail_count = f->trail_count;
    c->trail_capacity = f->trail_capacity;
    c->prelude = f->prelude;
    c->prelude_last = f->prelude_last;
    c->bound = f->bound;
}

// A default that says what a kernel's parameter is: helpers have no use for it.
static bool is_type_default(const kp_node *n) { return n->kind == KP_NODE_TUPLE || n->kind == KP_NODE_STRING; }

static kp_node *default_of(kp_checker *c, kp_checker_helper *h, const kp_parameter *parameter) {
    if (h->module->index != 0 && !h->module->library) {
        const kp_function_source *source = &c->unit->desc->functions[h->module->index - 1];
        for (size_t i = 0; i < source->default_count; i++) {
            if (strcmp(source->defaults[i].name, parameter->token->name->text) == 0)
                return kp_check_given(c, kp_ast_node(c->unit, KP_NODE_NAME, parameter->token, parameter->token),
                                      &source->defaults[i]);
        }
    }
    if (parameter->value == NULL || is_type_default(parameter->value))
        return NULL;
    kp_node *value = kp_check_expr(c, parameter->value);
    if (value->kind != KP_NODE_CONST)
        kp_check_fail(c, parameter->value, "the default value of '%s' is not a constant that a kernel can use",
                      parameter->token->name->text);
    return value;
}

// Of a helper that has a source of its own; those for the kernel's source are the kernel's parameters.
static kp_node *given_type(kp_checker *c, const kp_checker_helper *h, const char *name) {
    return h->module->library || h->module->index == 0 ? NULL : kp_signature_given(c, h->module->index, name);
}

static void read_parameters(kp_checker *c, kp_checker_helper *h) {
    const kp_function *f = h->function;
    if (f->parameter_count > MOST_PARAMETERS)
        kp_error_at(c->unit, f->token, NULL, "a function that kernels call has at most %d parameters", MOST_PARAMETERS);
    h->types = KP_UNIT_NEW(c->unit, const kp_type *, f->parameter_count);
    h->defaults = KP_UNIT_NEW(c->unit, kp_node *, f->parameter_count);
    h->stored = KP_UNIT_NEW(c->unit, bool, f->parameter_count);
    kp_scope scope = {0};
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const kp_parameter *p = &f->parameters[i];
        if (kp_scope_find(&scope, p->token->name) != NULL)
            kp_error_at(c->unit, p->token, NULL, "there are two parameters '%s'", p->token->name->text);
        kp_scope_add(c->unit, &scope, KP_SYMBOL_VALUE, p->token->name);
        kp_node *given = given_type(c, h, p->token->name->text);
        kp_node *annotation = given != NULL ? given : p->annotation;
        h->types[i] = annotation != NULL ? kp_signature_hint(c, annotation) : NULL;
        h->generic |= h->types[i] == NULL;
        h->defaults[i] = default_of(c, h, p);
    }
    kp_scope_add_locals(c->unit, &scope, f->body);
    for (uint32_t i = 0; i < f->parameter_count; i++)
        h->stored[i] = kp_scope_find(&scope, f->parameters[i].token->name)->stored;
}

static void read_returns(kp_checker *c, kp_checker_helper *h) {
    kp_node *given = given_type(c, h, "return");
    kp_node *n = given != NULL ? given : h->function->returns;
    kp_list parts = {.items = &n, .count = 1};
    if (n == NULL)
        return;
    if (n->kind == KP_NODE_NONE) {
        h->returns_known = true;
        return;
    }
    kp_signature_hints(c, n, &parts);
    h->returns = KP_UNIT_NEW(c->unit, const kp_type *, parts.count);
    for (uint32_t i = 0; i < parts.count; i++) {
        h->returns[i] = kp_signature_hint(c, parts.items[i]);
        if (h->returns[i] == NULL)
            return;
    }
    h->return_count = parts.count;
    h->returns_known = true;
}

static kp_checker_helper *helper_of(kp_checker *c, kp_parser_function *function, kp_checker_module *module) {
    if (function->helper != NULL)
        return function->helper;
    kp_checker_helper *h = KP_UNIT_NEW(c->unit, kp_checker_helper, 1);
    h->source = function;
    h->module = module;
    h->function = kp_parser_function_at(c->unit, function);
    frame f = enter(c, module);
    kp_checker_call *call = c->call;
    c->call = NULL;
    read_parameters(c, h);
    read_returns(c, h);
    c->call = call;
    leave(c, &f);
    return function->helper = h;
}

// ---------------------------------------------------------------------------------------------------------------------
// Arguments
// ---------------------------------------------------------------------------------------------------------------------

static const char *name_of(const kp_checker_helper *h) { return h->source->name->text; }

static _Noreturn void fail_count(kp_checker *c, const kp_node *n, const kp_checker_helper *h) {
    uint32_t most = h->function->parameter_count, least = 0;
    for (uint32_t i = 0; i < most; i++)
        least += h->defaults[i] == NULL;
    uint32_t count = n->u.call.list.count;
    if (least == most)
        kp_check_fail(c, n, "%s takes %u argument%s, not %u; it is defined in line %u", name_of(h), most,
                      most == 1 ? "" : "s", count, kp_error_line(c->unit, h->source->token));
    kp_check_fail(c, n, "%s takes %u to %u arguments, not %u; it is defined in line %u", name_of(h), least, most, count,
                  kp_error_line(c->unit, h->source->token));
}

static uint32_t position_of(kp_checker *c, const kp_node *keyword, const kp_checker_helper *h) {
    const kp_function *f = h->function;
    const char *best = NULL;
    const kp_name *name = keyword->u.keyword.name;
    uint32_t nearest = kp_error_nearness(name->length);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const kp_name *its = f->parameters[i].token->name;
        if (its == name && i < f->by_place)
            kp_check_fail(c, keyword, "%s takes '%s' by its place, not by name", name_of(h), name->text);
        if (its == name)
            return i;
        uint32_t distance = kp_error_distance(name->text, name->length, its->text, its->length, nearest);
        if (distance < nearest) {
            nearest = distance;
            best = its->text;
        }
    }
    kp_check_fail(c, keyword, "%s has no parameter '%s'%s%s%s", name_of(h), name->text,
                  best != NULL ? "; did you mean '" : "", best != NULL ? best : "", best != NULL ? "'?" : "");
}

// The arguments as written, each with the position of its parameter; the names of those given by name are taken off.
static uint32_t *place_arguments(kp_checker *c, kp_node *n, const kp_checker_helper *h) {
    kp_list list = n->u.call.list;
    uint32_t count = h->function->parameter_count;
    uint32_t *positions = KP_UNIT_NEW(c->unit, uint32_t, list.count);
    bool *given = KP_UNIT_NEW(c->unit, bool, count), named = false;
    for (uint32_t i = 0; i < list.count; i++) {
        kp_node *argument = list.items[i];
        if (argument->kind != KP_NODE_KEYWORD && named)
            kp_check_fail(c, argument, "an argument without a name follows one with a name");
        if (argument->kind != KP_NODE_KEYWORD && i >= count)
            fail_count(c, n, h);
        if (argument->kind != KP_NODE_KEYWORD && i >= h->function->by_name)
            kp_check_fail(c, argument, "%s takes %u argument%s by place; write %s=%s", name_of(h), h->function->by_name,
                          h->function->by_name == 1 ? "" : "s", h->function->parameters[i].token->name->text,
                          kp_check_text(c, argument));
        positions[i] = argument->kind == KP_NODE_KEYWORD ? position_of(c, argument, h) : i;
        if (given[positions[i]])
            kp_check_fail(c, argument, "%s gets '%s' twice", name_of(h),
                          h->function->parameters[positions[i]].token->name->text);
        given[positions[i]] = true;
        if (argument->kind == KP_NODE_KEYWORD) {
            named = true;
            list.items[i] = argument->u.keyword.value;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!given[i] && h->defaults[i] == NULL && !named)
            fail_count(c, n, h);
        if (!given[i] && h->defaults[i] == NULL)
            kp_check_fail(c, n, "%s needs a value for '%s'", name_of(h), h->function->parameters[i].token->name->text);
    }
    return positions;
}

// Where an array is that is passed by reference: in a variable or a buffer, some indices further.
typedef struct array_place {
    const kp_node *root; // a VARIABLE, a BUFFER, or an array that is in no variable yet
    const kp_type *whole;
    kp_symbol *in_buffer;
    uint32_t depth;
} array_place;

static array_place locate(const kp_node *n) {
    array_place place = {0};
    for (; n->kind == KP_NODE_SUBSCRIPT; n = n->u.subscript.object)
        place.depth++;
    place.root = n;
    place.whole = n->type;
    if (n->kind == KP_NODE_BUFFER)
        place.in_buffer = n->u.symbol;
    if (n->kind == KP_NODE_VARIABLE && n->u.symbol->kind == KP_SYMBOL_ARRAY) {
        place.whole = n->u.symbol->whole;
        place.in_buffer = n->u.symbol->in_buffer;
        place.depth += n->u.symbol->depth;
    }
    return place;
}

static bool is_array(const kp_node *value) {
    return value->kind != KP_NODE_BUFFER && value->type != NULL && value->type->kind == KP_TYPE_ARRAY;
}

// A hint Array[f32] takes arrays of any length: of a buffer, of shared memory, of a list.
static bool is_any_length(const kp_type *wanted, const kp_node *value) {
    const kp_type *type = value->type;
    return wanted->kind == KP_TYPE_ARRAY && wanted->length == 0 && wanted->axes == 0 && type->kind == KP_TYPE_ARRAY &&
           type->axes == 0 && type->element == wanted->element;
}

static kp_node *fit_array(kp_checker *c, const char *what, kp_node *value, const kp_type *wanted, bool stored) {
    if (kp_check_array_is_literal(value->type)) {
        bool any = wanted != NULL && wanted->kind == KP_TYPE_ARRAY && wanted->length == 0 && wanted->axes == 0;
        const kp_type *type = any ? kp_type_array(c->unit, wanted->element, value->type->length) : wanted;
        value = type != NULL ? kp_check_array_adapt(c, value, type, what) : kp_check_settle(c, value);
    }
    if (wanted != NULL && value->type != wanted && !is_any_length(wanted, value))
        kp_check_coerce(c, value, wanted, what); // says what is wrong
    if (stored)
        kp_check_fail(c, value, "%s is an array of the caller, and cannot be another one; use another name for that",
                      what);
    const kp_node *root = locate(value).root;
    if (root->kind == KP_NODE_BUFFER && root->u.symbol->kind == KP_SYMBOL_SHARED)
        kp_check_fail(c, value, "%s cannot be a part of shared memory; pass '%s' and the index", what,
                      kp_check_text(c, root));
    if (root->kind == KP_NODE_FIELD || (root->kind == KP_NODE_BUFFER && root->u.symbol->uniform))
        kp_check_fail(c, value, "%s cannot be an array in a %s; pass a copy, made before the call: a = %s.copy()", what,
                      root->kind == KP_NODE_FIELD ? "struct" : "uniform", kp_check_text(c, value));
    c->kernel->has_arrays = true;
    return value;
}

// What is alone in a buffer: a helper gets its value.
static kp_node *by_value(kp_checker *c, kp_node *n) {
    kp_node *copy = kp_check_new(c, KP_NODE_COPY, n, n->type);
    copy->u.operand = n;
    return copy;
}

// What an argument is, as its parameter takes it.
static kp_node *fit_argument(kp_checker *c, const kp_checker_helper *h, uint32_t position, kp_node *value) {
    const kp_parameter *parameter = &h->function->parameters[position];
    const kp_type *wanted = h->types[position];
    char what[160];
    snprintf(what, sizeof what, "'%.60s' of %.60s", parameter->token->name->text, name_of(h));
    if (value->kind == KP_NODE_TUPLE && (wanted != NULL || h->stored[position]))
        kp_check_fail(c, value, "%s %s%s, but this is a tuple", what, wanted != NULL ? "is " : "is assigned to",
                      wanted != NULL ? wanted->name : "");
    if (value->kind == KP_NODE_TUPLE)
        return value;
    const char *kept = kp_arena_text(&c->unit->arena, what, strlen(what));
    if (is_array(value))
        return fit_array(c, kept, value, wanted, h->stored[position]);
    if (value->kind == KP_NODE_BUFFER && (kp_type_is_value(value->type) || kp_type_is_struct(value->type)) &&
        (!value->u.symbol->uniform || h->stored[position]))
        value = by_value(c, value);
    if (wanted != NULL && value->type != wanted && !is_any_length(wanted, value))
        value = kp_check_coerce(c, value, wanted, kept);
    if (value->kind != KP_NODE_CONST || h->stored[position])
        value = kp_check_settle(c, value);
    bool passes = value->kind == KP_NODE_BUFFER || kp_type_is_literal(value->type) || kp_type_is_value(value->type) ||
                  kp_type_is_struct(value->type) || kp_type_is_matrix(value->type);
    if (!passes)
        kp_check_fail(c, value, "%s cannot be a value of type %s", what, value->type->name);
    return value;
}

static kp_node *argument_of(kp_checker *c, kp_node *n) {
    kp_node *tuple = kp_check_table(c, n);
    return tuple != NULL ? tuple : kp_check_expr(c, n);
}

static kp_symbol *parameter_symbol(kp_checker *c, kp_scope *scope, const kp_token *token, kp_node *value) {
    bool tuple = value->kind == KP_NODE_TUPLE;
    bool literal = tuple || kp_type_is_literal(value->type), buffer = value->kind == KP_NODE_BUFFER;
    kp_symbol *symbol = kp_scope_add(c->unit, scope,
                                     buffer            ? KP_SYMBOL_BUFFER
                                     : literal         ? KP_SYMBOL_CONSTANT
                                     : is_array(value) ? KP_SYMBOL_ARRAY
                                                       : KP_SYMBOL_VALUE,
                                     token->name);
    symbol->type = value->type;
    symbol->typed_at = token;
    symbol->reached = true;
    if (tuple)
        symbol->tuple = value;
    else if (literal)
        symbol->value = value->u.value;
    if (buffer)
        symbol->stands_for = value->u.symbol;
    if (symbol->kind == KP_SYMBOL_ARRAY) {
        array_place place = locate(value);
        symbol->whole = place.whole;
        symbol->in_buffer = place.in_buffer;
        symbol->depth = place.depth;
    }
    return symbol;
}

static bool same_parameter(const kp_symbol *symbol, const kp_node *value) {
    if (symbol->tuple != NULL)
        return kp_check_table_same(symbol->tuple, value);
    if (symbol->type != value->type)
        return false;
    if (symbol->stands_for != NULL)
        return value->kind == KP_NODE_BUFFER && value->u.symbol == symbol->stands_for;
    if (symbol->kind == KP_SYMBOL_ARRAY) {
        array_place place = locate(value);
        return place.whole == symbol->whole && place.in_buffer == symbol->in_buffer && place.depth == symbol->depth;
    }
    return symbol->kind != KP_SYMBOL_CONSTANT || kp_value_same(symbol->value, value->u.value);
}

static kp_instance *find_instance(const kp_checker_helper *h, kp_node **values) {
    for (kp_instance *instance = h->instances; instance != NULL; instance = instance->other) {
        uint32_t i = 0;
        while (i < instance->param_count && same_parameter(instance->params[i], values[i]))
            i++;
        if (i == instance->param_count)
            return instance;
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Returns
// ---------------------------------------------------------------------------------------------------------------------

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

// The values that a return gives, as a TUPLE; NULL for none.
static kp_node *returned_values(kp_checker *c, kp_node *n) {
    kp_node *value = n->u.operand;
    if (value == NULL || value->kind == KP_NODE_NONE)
        return NULL;
    kp_node *several = value->kind == KP_NODE_CALL ? kp_check_several(c, value) : NULL;
    if (several != NULL && several->kind == KP_NODE_TUPLE)
        return several;
    if (several == NULL && value->kind == KP_NODE_TUPLE) {
        for (uint32_t i = 0; i < value->u.list.count; i++)
            value->u.list.items[i] = kp_check_expr(c, value->u.list.items[i]);
        return value;
    }
    kp_node *tuple = kp_check_new(c, KP_NODE_TUPLE, value, NULL);
    tuple->u.list = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    tuple->u.list.items[0] = several != NULL ? several : kp_check_expr(c, value);
    return tuple;
}

static uint32_t count_of(const kp_node *returned) {
    return returned->u.operand != NULL ? returned->u.operand->u.list.count : 0;
}

static void want_count(kp_checker *c, const kp_node *n, const kp_checker_call *call) {
    const char *name = name_of(call->helper);
    uint32_t count = count_of(n);
    if (call->helper->returns_known && count != call->helper->return_count) {
        kp_check_fail(c, n, "%s is declared to return %u value%s, but this is %u", name, call->helper->return_count,
                      plural(call->helper->return_count), count);
    }
    const kp_node *first = call->return_count > 0 ? call->returns[0] : NULL;
    if (first != NULL && count_of(first) != count)
        kp_check_fail(c, n, "%s returns %u value%s in line %u, but %u here", name, count_of(first),
                      plural(count_of(first)), kp_error_line(c->unit, first->first), count);
}

static bool agree(const kp_type *a, const kp_type *b) {
    if (a == b)
        return true;
    if (a->kind == KP_TYPE_INT_LITERAL)
        return kp_type_is_numeric(b);
    if (b->kind == KP_TYPE_INT_LITERAL)
        return kp_type_is_numeric(a);
    return (a->kind == KP_TYPE_FLOAT_LITERAL && kp_type_is_float(b)) ||
           (b->kind == KP_TYPE_FLOAT_LITERAL && kp_type_is_float(a));
}

// Each value against that of every return before, of which the last to have a type of its own speaks for all.
static void want_types(kp_checker *c, const kp_node *n, const kp_checker_call *call) {
    for (uint32_t i = 0; i < count_of(n); i++) {
        kp_node *value = n->u.operand->u.list.items[i];
        const kp_type *type = value->type;
        call->instance->shares |= kp_type_is_struct(type) && kp_check_struct_shares(value);
        if (!kp_type_is_literal(type) && !kp_type_is_value(type) && !kp_type_is_struct(type) &&
            !kp_type_is_matrix(type))
            kp_check_fail(c, value, "%s cannot return a value of type %s; index it here", name_of(call->helper),
                          type->name);
        for (uint32_t k = call->return_count; k-- > 0 && !call->helper->returns_known;) {
            const kp_node *other = call->returns[k]->u.operand->u.list.items[i];
            if (agree(type, other->type))
                continue;
            bool same = kp_type_components(type) == kp_type_components(other->type);
            const char *to =
                kp_type_is_literal(other->type) ? kp_check_settle_type(other->type)->name : other->type->name;
            kp_check_fail(c, value, "%s returns %s in line %u, but %s here%s%s%s%s%s", name_of(call->helper),
                          other->type->name, kp_error_line(c->unit, other->first), type->name, same ? "; write " : "",
                          same ? to : "", same ? "(" : "", same ? kp_check_text(c, value) : "", same ? ")" : "");
        }
    }
}

void kp_check_return(kp_checker *c, kp_node *n) {
    kp_checker_call *call = c->call;
    n->u.operand = returned_values(c, n);
    want_count(c, n, call);
    want_types(c, n, call);
    if (call->return_count == call->return_capacity) {
        uint32_t capacity = call->return_capacity == 0 ? 8 : call->return_capacity * 2;
        kp_node **more = KP_UNIT_NEW(c->unit, kp_node *, capacity);
        if (call->return_count != 0)
            memcpy(more, call->returns, call->return_count * sizeof *more);
        call->returns = more;
        call->return_capacity = capacity;
    }
    call->returns[call->return_count++] = n;
}

// The type of the i-th value: as declared, else that of a return which has one of its own, else a literal's.
static const kp_type *return_type(const kp_checker_call *call, uint32_t i) {
    const kp_type *type = kp_type_int_literal();
    if (call->helper->returns_known)
        return call->helper->returns[i];
    for (uint32_t k = 0; k < call->return_count; k++) {
        const kp_type *its = call->returns[k]->u.operand->u.list.items[i]->type;
        if (its->kind != KP_TYPE_INT_LITERAL && kp_type_is_literal(type))
            type = its->kind == KP_TYPE_FLOAT_LITERAL ? kp_type_float_literal() : its;
    }
    return kp_check_settle_type(type);
}

// A function whose body is `return literal` here, such as square(3): a call of it is that literal.
static kp_node *literal_of(const kp_checker_call *call, const kp_node *body) {
    while (body != NULL && body->kind == KP_NODE_PASS)
        body = body->next;
    if (body == NULL || body->kind != KP_NODE_RETURN || count_of(body) != 1 || call->helper->returns_known)
        return NULL;
    kp_node *value = body->u.operand->u.list.items[0];
    return value->kind == KP_NODE_CONST && kp_type_is_literal(value->type) ? value : NULL;
}

static void settle_returns(kp_checker *c, const kp_checker_call *call) {
    kp_instance *instance = call->instance;
    instance->return_count = call->return_count > 0 ? count_of(call->returns[0]) : 0;
    instance->returns = KP_UNIT_NEW(c->unit, const kp_type *, instance->return_count);
    for (uint32_t i = 0; i < instance->return_count; i++) {
        instance->returns[i] = return_type(call, i);
        for (uint32_t k = 0; k < call->return_count; k++) {
            kp_node **value = &call->returns[k]->u.operand->u.list.items[i];
            *value = kp_check_coerce(c, *value, instance->returns[i], "the value returned");
        }
    }
    const kp_token *token = call->helper->function->token;
    if (instance->return_count > 0 && !c->dead)
        kp_error_at(c->unit, token, NULL,
                    "%s returns %s in line %u, but its end, which can be reached, returns nothing",
                    name_of(call->helper), instance->return_count == 1 ? instance->returns[0]->name : "values",
                    kp_error_line(c->unit, call->returns[0]->first));
    if (call->return_count == 0 && call->helper->return_count > 0)
        kp_error_at(c->unit, token, NULL, "%s is declared to return %u value%s, but it returns nothing",
                    name_of(call->helper), call->helper->return_count, plural(call->helper->return_count));
}

// ---------------------------------------------------------------------------------------------------------------------
// Instances
// ---------------------------------------------------------------------------------------------------------------------

// "; f calls g, which calls f"
static _Noreturn void fail_recursion(kp_checker *c, const kp_node *n, const kp_checker_helper *h) {
    const kp_checker_helper *chain[DEEPEST_CALLS + 1];
    uint32_t count = 0;
    for (const kp_checker_call *call = c->call; call != NULL; call = call->outer) {
        chain[count++] = call->helper;
        if (call->helper == h)
            break;
    }
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%.60s calls", name_of(h));
    for (uint32_t i = count; i-- > 0;) {
        if (chain[i] != h && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " %.60s, which calls", name_of(chain[i]));
    }
    if (count == 0 || (count == 1 && chain[0] == h))
        kp_check_fail(c, n, "recursion is not in the kernel language: %s calls itself", name_of(h));
    kp_check_fail(c, n, "recursion is not in the kernel language: %s %s", text, name_of(h));
}

static kp_instance *make_instance(kp_checker *c, const kp_node *site, kp_checker_helper *h, kp_node **values) {
    kp_instance *instance = KP_UNIT_NEW(c->unit, kp_instance, 1);
    kp_checker_call call = {.outer = c->call, .helper = h, .instance = instance, .site = site};
    kp_function *function = h->taken ? kp_parser_function_at(c->unit, h->source) : h->function;
    if (c->call_depth >= DEEPEST_CALLS && !h->module->library)
        kp_check_fail(c, site, "functions that call each other %d deep are the limit", DEEPEST_CALLS);
    h->taken = h->busy = true;
    instance->name = name_of(h);
    instance->library = h->module->library;
    instance->function = function;
    instance->param_count = function->parameter_count;
    instance->params = KP_UNIT_NEW(c->unit, kp_symbol *, instance->param_count);
    frame f = enter(c, h->module);
    for (uint32_t i = 0; i < instance->param_count; i++)
        instance->params[i] = parameter_symbol(c, &c->scope, function->parameters[i].token, values[i]);
    kp_scope_add_locals(c->unit, &c->scope, function->body);
    c->call = &call;
    c->call_depth++;
    kp_check_body(c, &function->body);
    instance->literal = literal_of(&call, function->body);
    settle_returns(c, &call);
    c->call_depth--;
    c->call = call.outer;
    instance->symbols = c->scope.first;
    leave(c, &f);
    h->busy = false;
    instance->other = h->instances;
    h->instances = instance;
    if (instance->literal != NULL)
        return instance;
    instance->next = c->kernel->instances;
    return c->kernel->instances = instance;
}

const char *kp_check_place_of_call(kp_checker *c) {
    if (c->call == NULL || c->call->instance == NULL || !c->call->helper->generic)
        return "";
    char text[512];
    const kp_instance *instance = c->call->instance;
    size_t used = (size_t)snprintf(text, sizeof text, " (in %.60s(", instance->name);
    for (uint32_t i = 0; i < instance->param_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "",
                                 instance->params[i]->tuple != NULL ? "a tuple" : instance->params[i]->type->name);
    if (used >= sizeof text)
        return "";
    const kp_token *site = c->call->site->first, *here = c->call->helper->source->token;
    const char *file = kp_error_file(c->unit, site);
    bool elsewhere = strcmp(file, kp_error_file(c->unit, here)) != 0;
    used += (size_t)snprintf(text + used, sizeof text - used, "), called in %s%.200s%s%u)", elsewhere ? "" : "line ",
                             elsewhere ? file : "", elsewhere ? ":" : "", kp_error_line(c->unit, site));
    return kp_arena_text(&c->unit->arena, text, used < sizeof text ? used : sizeof text - 1);
}

// Which of the parameters that are passed the one at `position` is.
static uint32_t place_among_passed(const kp_instance *instance, uint32_t position) {
    uint32_t place = 0;
    for (uint32_t i = 0; i < position; i++)
        place += kp_symbol_is_passed(instance->params[i]);
    return place;
}

// What the helper does to an array, it does to where that comes from.
static void pass_on_writes(const kp_symbol *param, const kp_node *value) {
    array_place place = locate(value);
    if (!param->stored)
        return;
    if (place.in_buffer != NULL)
        place.in_buffer->writes = true;
    if (place.root->kind == KP_NODE_VARIABLE)
        place.root->u.symbol->stored = true;
}

// What the call passes: the arguments as written, then the defaults.
static void pass_values(kp_checker *c, kp_node *invoke, kp_list written, const uint32_t *positions, kp_node **values) {
    const kp_instance *instance = invoke->u.invoke.instance;
    uint32_t count = instance->param_count, passed = 0;
    bool *done = KP_UNIT_NEW(c->unit, bool, count);
    kp_list *list = &invoke->u.invoke.list;
    list->items = KP_UNIT_NEW(c->unit, kp_node *, count);
    invoke->u.invoke.positions = KP_UNIT_NEW(c->unit, uint32_t, count);
    for (uint32_t i = 0; i < written.count + count; i++) {
        uint32_t position = i < written.count ? positions[i] : i - written.count;
        if (done[position] || !kp_symbol_is_passed(instance->params[position]))
            continue;
        done[position] = true;
        if (instance->params[position]->kind == KP_SYMBOL_ARRAY)
            pass_on_writes(instance->params[position], values[position]);
        list->items[passed] = values[position];
        invoke->u.invoke.positions[passed++] = place_among_passed(instance, position);
    }
    list->count = passed;
}

kp_node *kp_check_invoke(kp_checker *c, kp_node *n) {
    kp_checker_module *module;
    kp_parser_function *function = find(c, n->u.call.callee, &module);
    if (function == NULL)
        return NULL;
    if (function->helper != NULL && function->helper->busy)
        fail_recursion(c, n, function->helper);
    kp_checker_helper *h = helper_of(c, function, module);
    uint32_t *positions = place_arguments(c, n, h);
    kp_list list = n->u.call.list;
    kp_node **values = KP_UNIT_NEW(c->unit, kp_node *, h->function->parameter_count);
    for (uint32_t i = 0; i < list.count; i++)
        values[positions[i]] = list.items[i] = fit_argument(c, h, positions[i], argument_of(c, list.items[i]));
    for (uint32_t i = 0; i < h->function->parameter_count; i++) {
        if (values[i] == NULL)
            values[i] = fit_argument(c, h, i, h->defaults[i]);
    }
    kp_instance *instance = find_instance(h, values);
    if (instance == NULL)
        instance = make_instance(c, n, h, values);
    if (instance->literal != NULL)
        return kp_check_constant(c, n, instance->literal->type, instance->literal->u.value);
    kp_node *invoke = kp_check_new(c, KP_NODE_INVOKE, n, instance->return_count == 1 ? instance->returns[0] : NULL);
    invoke->u.invoke.instance = instance;
    pass_values(c, invoke, list, positions, values);
    return invoke;
}

bool kp_check_call_outline(kp_checker *c, kp_node *n, void (*body)(kp_checker *c, kp_function *function)) {
    kp_checker_module *module;
    kp_parser_function *function = find(c, n->u.call.callee, &module);
    if (function == NULL)
        return false;
    if (function->helper != NULL && function->helper->busy)
        fail_recursion(c, n, function->helper);
    kp_checker_helper *h = helper_of(c, function, module);
    place_arguments(c, n, h);
    if (h->taken || c->call_depth >= DEEPEST_CALLS)
        return true;
    kp_checker_call call = {.outer = c->call, .helper = h, .site = n};
    h->taken = h->busy = true;
    frame f = enter(c, module);
    for (uint32_t i = 0; i < h->function->parameter_count; i++)
        kp_scope_add(c->unit, &c->scope, KP_SYMBOL_VALUE, h->function->parameters[i].token->name);
    kp_scope_add_locals(c->unit, &c->scope, h->function->body);
    c->call = &call;
    c->call_depth++;
    body(c, h->function);
    c->call_depth--;
    c->call = call.outer;
    leave(c, &f);
    h->busy = false;
    return true;
}

kp_instance *kp_check_instance(kp_checker *c, const kp_node *site, const char *name, kp_list values) {
    kp_checker_module *module = &c->modules[c->unit->desc->function_count + 1];
    if (module->outline == NULL) {
        const kp_text *text = kp_texts_add_library(c->unit);
        module->outline = kp_parser_find(c->unit, kp_lexer_run(c->unit, text->at, text->at + text->length, false));
    }
    kp_checker_helper *h = helper_of(c, last_of_name(module->outline, name), module);
    kp_instance *instance = find_instance(h, values.items);
    return instance != NULL ? instance : make_instance(c, site, h, values.items);
}
