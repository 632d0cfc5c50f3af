// What is wrong with a kernel whatever the types of its parameters are: names that there are not, calls with too few or
// too many arguments, recursion, statements where they cannot stand. For kernels whose types come with the arguments of
// a call (kp_compile_check), so that mistakes of this kind do not wait for one; all others find them in check.
//
// The tree is walked once, each function that is called once, without types. Where those may decide, nothing is said:
// the words for what is said are those of check, which is asked for them.
#include "checker.h"

#include "builtin.h"

#include <string.h>

typedef struct names {
    kp_checker *c;
    uint32_t loops; // around this statement
} names;

static void expression(names *w, kp_node *n);
static void block(names *w, kp_node *first);

static void expressions(names *w, kp_list list) {
    for (uint32_t i = 0; i < list.count; i++)
        expression(w, list.items[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Expressions
// ---------------------------------------------------------------------------------------------------------------------

static bool is_constant(names *w, const kp_node *n) {
    return kp_check_captured_tuple(w->c, n) != NULL || kp_check_captured(w->c, n) != NULL;
}

static void name(names *w, kp_node *n) {
    const kp_symbol *symbol = kp_check_find(w->c, n->u.name);
    if (symbol != NULL && symbol->kind == KP_SYMBOL_LOCAL && !symbol->reached)
        kp_check_fail_unassigned(w->c, n);
    if (symbol == NULL && !is_constant(w, n))
        kp_check_name(w->c, n); // says what it is instead
}

static void attribute(names *w, kp_node *n) {
    double value;
    const kp_name *path = kp_check_path(w->c, n);
    if (path == NULL)
        expression(w, n->u.attribute.object);
    else if (!is_constant(w, n) && !kp_builtin_constant(path, &value))
        kp_check_attribute(w->c, n); // ... the same
}

static void comprehension(names *w, kp_node *n) {
    kp_symbol symbol = {.kind = KP_SYMBOL_VALUE, .name = n->u.comprehension.variable};
    kp_checker_bound bound = {.outer = w->c->bound, .symbol = &symbol};
    expression(w, n->u.comprehension.range);
    w->c->bound = &bound;
    expression(w, n->u.comprehension.element);
    w->c->bound = bound.outer;
}

// A type among the arguments, as in bitcast(u32, x).
static bool is_type(names *w, kp_node *n) {
    const kp_name *path = kp_check_path(w->c, n);
    const kp_node *called = n->kind == KP_NODE_CALL ? n->u.call.callee : n;
    const kp_name *outer = kp_check_path(w->c, called);
    bool made = outer != NULL && n->kind == KP_NODE_CALL && strcmp(outer->text, "Array") == 0;
    return made || (path != NULL && (kp_type_find(path->text) != NULL || kp_check_struct_named(w->c, n) != NULL));
}

static void arguments(names *w, kp_list list, bool plain, const char *function) {
    for (uint32_t i = 0; i < list.count; i++) {
        kp_node *argument = list.items[i];
        if (plain)
            kp_check_plain_argument(w->c, argument, function);
        if (argument->kind == KP_NODE_KEYWORD)
            argument = argument->u.keyword.value;
        if (plain || !is_type(w, argument))
            expression(w, argument);
    }
}

// What stands in the body of a function that is called; its parameters are in scope.
static void function_body(kp_checker *c, kp_function *function) {
    names w = {.c = c};
    block(&w, function->body);
}

// Of an image, an array, a struct, an integer.
static bool is_method(const kp_name *name) {
    const kp_builtin *row = kp_builtin_find(name);
    return strcmp(name->text, "copy") == 0 ||
           (row != NULL && (row->rule == KP_BUILTIN_IMAGE || row->rule == KP_BUILTIN_BITS));
}

static void call(names *w, kp_node *n) {
    kp_checker *c = w->c;
    kp_node *callee = n->u.call.callee;
    if (kp_check_call_outline(c, n, function_body)) {
        arguments(w, n->u.call.list, false, "");
        return;
    }
    const kp_name *path = kp_check_path(c, callee);
    if (path == NULL) { // a method, or Array(16, f32)()
        if (callee->kind == KP_NODE_NAME || (callee->kind == KP_NODE_ATTRIBUTE && !is_method(callee->u.attribute.name)))
            kp_check_fail_call(c, callee);
        if (callee->kind == KP_NODE_ATTRIBUTE)
            expression(w, callee->u.attribute.object);
        arguments(w, n->u.call.list, false, "");
        return;
    }
    const kp_type *type = kp_check_struct_named(c, callee);
    if (type != NULL || kp_type_find(path->text) != NULL) {
        arguments(w, n->u.call.list, type == NULL, path->text);
        return;
    }
    const kp_builtin *row = kp_check_builtin_named(c, callee, path);
    kp_check_count(c, n, row, n->u.call.list.count);
    if (row->rule == KP_BUILTIN_SUBGROUP)
        kp_check_need_local_size(c, n, row->name);
    bool plain = row->rule == KP_BUILTIN_FLOATS || row->rule == KP_BUILTIN_NARROW || row->rule == KP_BUILTIN_VECTORS ||
                 (row->rule == KP_BUILTIN_CUSTOM && row->op != KP_CALL_SHARED);
    arguments(w, n->u.call.list, plain, row->name);
}

static void range(names *w, kp_node *n) {
    kp_check_range_arguments(w->c, n);
    expressions(w, n->u.call.list);
}

static void expression(names *w, kp_node *n) {
    switch (n->kind) {
    case KP_NODE_NAME:
        name(w, n);
        break;
    case KP_NODE_STRING:
    case KP_NODE_NONE:
        kp_check_expr(w->c, n); // says that there are none
        break;
    case KP_NODE_UNARY:
        expression(w, n->u.operand);
        break;
    case KP_NODE_BINARY:
        expression(w, n->u.binary.left);
        expression(w, n->u.binary.right);
        break;
    case KP_NODE_COMPARE:
        expressions(w, n->u.compare.list);
        break;
    case KP_NODE_BOOL:
    case KP_NODE_TUPLE:
    case KP_NODE_LIST:
        expressions(w, n->u.list);
        break;
    case KP_NODE_COND:
        expression(w, n->u.cond.test);
        expression(w, n->u.cond.yes);
        expression(w, n->u.cond.no);
        break;
    case KP_NODE_ATTRIBUTE:
        attribute(w, n);
        break;
    case KP_NODE_SUBSCRIPT:
        expression(w, n->u.subscript.object);
        expression(w, n->u.subscript.index);
        break;
    case KP_NODE_COMPREHENSION:
        comprehension(w, n);
        break;
    case KP_NODE_CALL:
        if (kp_check_is_range(w->c, n)) // of a loop or a comprehension
            range(w, n);
        else
            call(w, n);
        break;
    default: // CONST
        break;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Statements
// ---------------------------------------------------------------------------------------------------------------------

static void target(names *w, kp_node *n) {
    kp_symbol *symbol;
    switch (n->kind) {
    case KP_NODE_NAME:
        symbol = kp_check_find(w->c, n->u.name);
        if (symbol != NULL)
            symbol->reached = true;
        break;
    case KP_NODE_TUPLE:
    case KP_NODE_LIST:
        for (uint32_t i = 0; i < n->u.list.count; i++)
            target(w, n->u.list.items[i]);
        break;
    case KP_NODE_SUBSCRIPT:
    case KP_NODE_ATTRIBUTE:
        expression(w, n);
        break;
    default:
        kp_check_fail_target(w->c, n);
    }
}

// All that a loop assigns may have been assigned in the round before.
static void reach_all(names *w, const kp_node *body) {
    kp_scope assigned = {0};
    kp_scope_add_locals(w->c->unit, &assigned, body);
    for (const kp_symbol *s = assigned.first; s != NULL; s = s->next) {
        kp_symbol *symbol = kp_check_find(w->c, s->name);
        if (symbol != NULL)
            symbol->reached = true;
    }
}

static void loop(names *w, kp_node *n) {
    if (n->kind == KP_NODE_FOR) {
        expression(w, n->u.loop.range);
        target(w, n->u.loop.target);
    }
    reach_all(w, n->u.loop.body);
    if (n->kind == KP_NODE_WHILE)
        expression(w, n->u.loop.test);
    w->loops++;
    block(w, n->u.loop.body);
    w->loops--;
    block(w, n->u.loop.other);
}

static void assign(names *w, kp_node *n) {
    kp_node *value = n->u.assign.value, *annotation = n->u.assign.annotation;
    if (annotation != NULL && annotation->kind == KP_NODE_NAME && kp_check_find(w->c, annotation->u.name) == NULL)
        kp_signature_value_type(w->c, annotation);
    if (value != NULL && kp_check_is_shared(w->c, value))
        kp_check_shared_place(w->c, n);
    if (value != NULL)
        expression(w, value);
    for (uint32_t i = 0; i < n->u.assign.targets.count && value != NULL; i++)
        target(w, n->u.assign.targets.items[i]);
}

static void effect(names *w, kp_node *value) {
    if (value->kind == KP_NODE_STRING || value->kind == KP_NODE_NONE) // a docstring
        return;
    if (kp_check_is_barrier(w->c, value)) {
        kp_check_barrier(w->c, value);
        return;
    }
    if (!kp_check_is_print(w->c, value)) {
        expression(w, value);
        return;
    }
    kp_check_print_arguments(w->c, value->u.call.list);
    for (uint32_t i = 0; i < value->u.call.list.count; i++) {
        kp_node *argument = value->u.call.list.items[i];
        if (argument->kind != KP_NODE_STRING && argument->kind != KP_NODE_KEYWORD)
            expression(w, argument);
    }
}

static void statement(names *w, kp_node *n) {
    switch (n->kind) {
    case KP_NODE_ASSIGN:
        assign(w, n);
        break;
    case KP_NODE_AUGMENT:
        kp_check_want_one(w->c, n);
        expression(w, n->u.augment.target);
        expression(w, n->u.augment.value);
        break;
    case KP_NODE_EXPRESSION:
        effect(w, n->u.operand);
        break;
    case KP_NODE_IF:
        for (uint32_t i = 0; i < n->u.branches.count; i++) {
            if (n->u.branches.branches[i].test != NULL)
                expression(w, n->u.branches.branches[i].test);
            block(w, n->u.branches.branches[i].body);
        }
        break;
    case KP_NODE_WHILE:
    case KP_NODE_FOR:
        loop(w, n);
        break;
    case KP_NODE_BREAK:
    case KP_NODE_CONTINUE:
        if (w->loops == 0)
            kp_check_fail_outside(w->c, n);
        break;
    case KP_NODE_RETURN:
        if (w->c->call == NULL)
            kp_check_return_of_kernel(w->c, n);
        else if (n->u.operand != NULL && n->u.operand->kind != KP_NODE_NONE)
            expression(w, n->u.operand);
        break;
    case KP_NODE_GLOBAL:
        kp_check_global(w->c, n);
        break;
    case KP_NODE_ASSERT:
        kp_check_assert_message(w->c, n);
        expression(w, n->u.report.test);
        break;
    default:
        break;
    }
}

static void block(names *w, kp_node *first) {
    w->c->depth++;
    for (kp_node *n = first; n != NULL; n = n->next)
        statement(w, n);
    w->c->depth--;
}

void kp_names_run(kp_unit *unit, kp_parser_outline *outline, kp_function *function) {
    kp_checker *c = kp_check_start(unit, outline, function);
    c->open = true;
    kp_signature_run(c, function);
    kp_scope_add_locals(unit, &c->scope, function->body);
    names w = {.c = c};
    block(&w, function->body);
}
