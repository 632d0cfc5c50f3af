// See parser.h. Recursive descent; parser_expr.c and parser_stmt.c have the grammar, as far as the kernel language has
// it. What Python has and the kernel language has not is recognised there and refused by name. Here: what both need,
// and functions.
#include "habit.h"
#include "parsing.h"

#include <string.h>

enum { DEEPEST = 200, FIRST_ITEMS = 8 };

const char *kp_parser_describe(kp_parser *p) { return kp_lexer_describe(p->unit, p->at); }

_Noreturn void kp_parser_fault(kp_parser *p) {
    kp_error_at(p->unit, p->at, NULL, "%s%s", kp_lexer_fault(p->at), kp_habit_syntax(p->unit, p->at));
}

const kp_token *kp_parser_expect(kp_parser *p, kp_token_kind kind, const char *where) {
    if (is(p, KP_TOKEN_ERROR))
        kp_parser_fault(p);
    if (!is(p, kind)) {
        const char *quote = kind > KP_TOKEN_ERROR ? "'" : "";
        kp_error_at(p->unit, p->at, NULL, "expected %s%s%s %s, found %s%s", quote, kp_lexer_spelling(kind), quote,
                    where, kp_parser_describe(p), kind == KP_TOKEN_COLON ? kp_habit_syntax(p->unit, p->at) : "");
    }
    return take(p);
}

void kp_parser_close(kp_parser *p, kp_token_kind kind, const kp_token *open) {
    if (is(p, KP_TOKEN_ERROR))
        kp_parser_fault(p);
    if (is(p, KP_TOKEN_END))
        kp_error_at(p->unit, open, NULL, "'%s' is never closed", kp_lexer_spelling(open->kind));
    if (is(p, kind))
        take(p);
    else if (is(p, KP_TOKEN_FOR) && kind == KP_TOKEN_RIGHT_PAREN)
        kp_error_at(p->unit, p->at, NULL, "generators are not in the kernel language; write a for loop");
    else if (is(p, KP_TOKEN_FOR) || is(p, KP_TOKEN_ASYNC))
        kp_error_at(p->unit, p->at, NULL, "comprehensions are not in the kernel language; write a for loop");
    else if (is(p, KP_TOKEN_WALRUS))
        kp_error_at(p->unit, p->at, NULL, "':=' is not in the kernel language; assign on a line of its own");
    else
        kp_error_at(p->unit, p->at, NULL, "expected '%s' or ',' here to go on from the '%s' of line %u, found %s",
                    kp_lexer_spelling(kind), kp_lexer_spelling(open->kind), kp_error_line(p->unit, open),
                    kp_parser_describe(p));
}

void kp_parser_enter(kp_parser *p) {
    if (++p->depth > DEEPEST)
        kp_error_at(p->unit, p->at, NULL, "this is nested too deep; the limit is %d levels", DEEPEST);
}

void kp_parser_leave(kp_parser *p) { p->depth--; }

kp_node *kp_parser_node(kp_parser *p, kp_node_kind kind, const kp_token *first) {
    return kp_ast_node(p->unit, kind, first, first);
}

kp_node *kp_parser_end_node(kp_parser *p, kp_node *n) {
    n->more = (uint32_t)(p->at - 1 - n->first);
    return n;
}

void kp_parser_push(kp_parser *p, kp_node *n) {
    if (p->item_count == p->item_capacity) {
        uint32_t capacity = p->item_capacity == 0 ? FIRST_ITEMS : p->item_capacity * 2;
        kp_node **items = KP_UNIT_NEW(p->unit, kp_node *, capacity);
        if (p->item_count != 0)
            memcpy(items, p->items, p->item_count * sizeof(kp_node *));
        p->items = items;
        p->item_capacity = capacity;
    }
    p->items[p->item_count++] = n;
}

kp_list kp_parser_pop(kp_parser *p, uint32_t base) {
    kp_list list = {.count = p->item_count - base};
    list.items = KP_UNIT_NEW(p->unit, kp_node *, list.count);
    if (list.count != 0)
        memcpy(list.items, p->items + base, list.count * sizeof(kp_node *));
    p->item_count = base;
    return list;
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions
// ---------------------------------------------------------------------------------------------------------------------

// parameter := NAME [':' expression] ['=' expression]
static kp_parameter parameter(kp_parser *p) {
    if (is(p, KP_TOKEN_STAR) || is(p, KP_TOKEN_DOUBLE_STAR))
        kp_error_at(p->unit, p->at, NULL, "'%s' parameters are not in the kernel language",
                    kp_lexer_spelling(p->at->kind));
    kp_parameter param = {.token = kp_parser_expect(p, KP_TOKEN_NAME, "as the name of a parameter")};
    if (accept(p, KP_TOKEN_COLON))
        param.annotation = kp_parser_expression(p);
    if (accept(p, KP_TOKEN_ASSIGN))
        param.value = kp_parser_expression(p);
    return param;
}

// '*' and '/', on their own, among the parameters; true for one.
static bool divider(kp_parser *p, kp_function *f) {
    bool ends = p->at[1].kind == KP_TOKEN_COMMA || p->at[1].kind == KP_TOKEN_RIGHT_PAREN;
    if (is(p, KP_TOKEN_SLASH) && ends) {
        if (f->parameter_count == 0 || f->divider != NULL)
            kp_error_at(p->unit, p->at, NULL, "'/' stands once, behind parameters and in front of '*'");
        f->by_place = f->parameter_count;
    } else if (is(p, KP_TOKEN_STAR) && ends) {
        if (f->by_name != UINT32_MAX || p->at[1].kind != KP_TOKEN_COMMA || p->at[2].kind != KP_TOKEN_NAME)
            kp_error_at(p->unit, p->at, NULL, "'*' stands once, in front of the parameters that are passed by name");
        f->by_name = f->parameter_count;
    } else {
        return false;
    }
    f->divider = take(p);
    return true;
}

// parameters := '(' [parameter (',' parameter)* [',']] ')'
static void parameters(kp_parser *p, kp_function *f) {
    const kp_token *open = kp_parser_expect(p, KP_TOKEN_LEFT_PAREN, "after the function's name");
    uint32_t capacity = 0;
    while (!is(p, KP_TOKEN_RIGHT_PAREN)) {
        if (f->parameter_count == capacity) {
            capacity = capacity == 0 ? FIRST_ITEMS : capacity * 2;
            kp_parameter *more = KP_UNIT_NEW(p->unit, kp_parameter, capacity);
            if (f->parameter_count != 0)
                memcpy(more, f->parameters, f->parameter_count * sizeof *more);
            f->parameters = more;
        }
        if (!divider(p, f))
            f->parameters[f->parameter_count++] = parameter(p);
        if (!accept(p, KP_TOKEN_COMMA))
            break;
    }
    kp_parser_close(p, KP_TOKEN_RIGHT_PAREN, open);
}

// Decorators are Python's business, but for local_size=... and subgroup_size=... in the brackets of one.
static void decorators(kp_parser *p, const kp_token *end, kp_function *f) {
    uint32_t depth = 0;
    while (p->at < end) {
        const kp_token *token = take(p);
        if (token->kind == KP_TOKEN_LEFT_PAREN || token->kind == KP_TOKEN_LEFT_BRACKET)
            depth++;
        else if (token->kind == KP_TOKEN_RIGHT_PAREN || token->kind == KP_TOKEN_RIGHT_BRACKET)
            depth--;
        if (depth != 1 || token->kind != KP_TOKEN_NAME || !is(p, KP_TOKEN_ASSIGN))
            continue;
        bool local = strcmp(token->name->text, "local_size") == 0;
        if (local || strcmp(token->name->text, "subgroup_size") == 0) {
            take(p);
            *(local ? &f->local_size : &f->subgroup_size) = kp_parser_expression(p);
        }
    }
}

// function := decorators 'def' NAME parameters ['->' expression] block
kp_function *kp_parser_function_at(kp_unit *unit, const kp_parser_function *function) {
    kp_parser p = {.unit = unit, .at = function->decorators != NULL ? function->decorators : function->start};
    kp_function *f = KP_UNIT_NEW(unit, kp_function, 1);
    f->by_name = UINT32_MAX;
    decorators(&p, function->start, f);
    if (is(&p, KP_TOKEN_ASYNC))
        kp_error_at(unit, p.at, NULL, "'async' is not in the kernel language%s", kp_habit_word(unit, "async"));
    take(&p);
    f->token = take(&p);
    if (is(&p, KP_TOKEN_LEFT_BRACKET))
        kp_error_at(unit, p.at, NULL, "type parameters are not in the kernel language");
    parameters(&p, f);
    if (accept(&p, KP_TOKEN_ARROW))
        f->returns = kp_parser_expression(&p);
    f->body = kp_parser_block(&p, "after the parameters");
    return f;
}

// Steps over one logical line and the block that may hang on it.
static const kp_token *pass_line(const kp_token *t) {
    while (t->kind != KP_TOKEN_NEWLINE && t->kind != KP_TOKEN_END)
        t++;
    if (t->kind == KP_TOKEN_NEWLINE)
        t++;
    uint32_t depth = 0;
    do {
        if (t->kind == KP_TOKEN_INDENT)
            depth++;
        else if (t->kind == KP_TOKEN_DEDENT && depth > 0)
            depth--;
        else if (depth == 0 || t->kind == KP_TOKEN_END)
            return t;
        t++;
    } while (depth > 0);
    return t;
}

// The colon of "class NAME(Struct):", or of one whose base is called so in a module; NULL for any other line.
static const kp_token *struct_body(const kp_token *t) {
    if (t->kind != KP_TOKEN_CLASS || t[1].kind != KP_TOKEN_NAME || t[2].kind != KP_TOKEN_LEFT_PAREN)
        return NULL;
    for (t += 3; t->kind == KP_TOKEN_NAME && t[1].kind == KP_TOKEN_DOT;)
        t += 2;
    bool is_struct = t->kind == KP_TOKEN_NAME && strcmp(t->name->text, "Struct") == 0;
    return is_struct && t[1].kind == KP_TOKEN_RIGHT_PAREN ? t + 2 : NULL;
}

// Where the value of "NAME = value" or "NAME: type = value" starts; NULL for any other line.
static const kp_token *global_value(const kp_token *t) {
    if (t->kind != KP_TOKEN_NAME || (t[1].kind != KP_TOKEN_ASSIGN && t[1].kind != KP_TOKEN_COLON))
        return NULL;
    uint32_t depth = 0;
    for (t++; t->kind != KP_TOKEN_NEWLINE && t->kind != KP_TOKEN_END; t++) {
        if (t->kind == KP_TOKEN_ASSIGN && depth == 0)
            return t + 1;
        depth += t->kind == KP_TOKEN_LEFT_BRACKET || t->kind == KP_TOKEN_LEFT_PAREN;
        depth -= depth > 0 && (t->kind == KP_TOKEN_RIGHT_BRACKET || t->kind == KP_TOKEN_RIGHT_PAREN);
    }
    return NULL;
}

// What hangs on a top-level line: 'f', 'g', 'c' for a struct, or 0 for none of these.
static char kind_of_line(const kp_token *t) {
    if (struct_body(t) != NULL)
        return 'c';
    if (t->kind == KP_TOKEN_ASYNC && t[1].kind == KP_TOKEN_DEF && t[2].kind == KP_TOKEN_NAME)
        return 'f';
    if (t->kind == KP_TOKEN_DEF && t[1].kind == KP_TOKEN_NAME)
        return 'f';
    return global_value(t) != NULL ? 'g' : 0;
}

static void count_lines(const kp_token *t, uint32_t *functions, uint32_t *globals, uint32_t *classes) {
    for (; t->kind != KP_TOKEN_END; t = pass_line(t)) {
        while (t->kind == KP_TOKEN_DEDENT || t->kind == KP_TOKEN_INDENT)
            t++;
        char kind = kind_of_line(t);
        *functions += kind == 'f';
        *globals += kind == 'g';
        *classes += kind == 'c';
        if (t->kind == KP_TOKEN_END)
            break;
    }
}

static kp_parser_function outline_function(const kp_token *start, const kp_token *decorators) {
    const kp_token *token = start + (start->kind == KP_TOKEN_ASYNC ? 2 : 1);
    return (kp_parser_function){.name = token->name, .decorators = decorators, .start = start, .token = token};
}

static void add_function(kp_unit *unit, kp_parser_outline *outline, kp_parser_function function) {
    kp_lookup_put(unit, &outline->function_names, function.name, (int32_t)outline->function_count);
    outline->functions[outline->function_count++] = function;
}

static void add_global(kp_unit *unit, kp_parser_outline *outline, kp_parser_global global) {
    kp_lookup_put(unit, &outline->global_names, global.name, (int32_t)outline->global_count);
    outline->globals[outline->global_count++] = global;
}

static void add_class(kp_unit *unit, kp_parser_outline *outline, kp_parser_class class) {
    kp_lookup_put(unit, &outline->class_names, class.name, (int32_t)outline->class_count);
    outline->classes[outline->class_count++] = class;
}

kp_parser_outline *kp_parser_find(kp_unit *unit, const kp_token *tokens) {
    uint32_t functions = 0, globals = 0, classes = 0;
    count_lines(tokens, &functions, &globals, &classes);
    kp_parser_outline *outline = KP_UNIT_NEW(unit, kp_parser_outline, 1);
    outline->functions = KP_UNIT_NEW(unit, kp_parser_function, functions);
    outline->globals = KP_UNIT_NEW(unit, kp_parser_global, globals);
    outline->classes = KP_UNIT_NEW(unit, kp_parser_class, classes);
    const kp_token *decorated = NULL;
    for (const kp_token *t = tokens; t->kind != KP_TOKEN_END; t = pass_line(t)) {
        while (t->kind == KP_TOKEN_DEDENT || t->kind == KP_TOKEN_INDENT)
            t++;
        char kind = kind_of_line(t);
        if (kind == 'f')
            add_function(unit, outline, outline_function(t, decorated));
        else if (kind == 'g')
            add_global(unit, outline, (kp_parser_global){.name = t->name, .value = global_value(t)});
        else if (kind == 'c')
            add_class(unit, outline, (kp_parser_class){.name = t[1].name, .token = &t[1], .body = struct_body(t)});
        if (t->kind != KP_TOKEN_AT)
            decorated = NULL;
        else if (decorated == NULL)
            decorated = t;
        if (t->kind == KP_TOKEN_END)
            break;
    }
    return outline;
}

// A body that is more than a description of data is Python's alone.
static void refuse_methods(kp_unit *unit, const kp_parser_class *class) {
    for (const kp_token *t = class->body, *end = pass_line(t); t < end; t++) {
        if (t->kind == KP_TOKEN_DEF || t->kind == KP_TOKEN_AT || t->kind == KP_TOKEN_CLASS)
            kp_error_at(unit, t, NULL, "a struct of a kernel has fields alone, as in mass: f32");
    }
}

static bool is_docstring(const kp_node *n) {
    return n->kind == KP_NODE_PASS || (n->kind == KP_NODE_EXPRESSION && n->u.operand->kind == KP_NODE_STRING);
}

kp_list kp_parser_class_at(kp_unit *unit, const kp_parser_class *class) {
    kp_parser p = {.unit = unit, .at = class->body};
    refuse_methods(unit, class);
    for (kp_node *n = kp_parser_block(&p, "after the name of the class"); n != NULL; n = n->next) {
        if (is_docstring(n))
            continue;
        bool field = n->kind == KP_NODE_ASSIGN && n->u.assign.annotation != NULL &&
                     n->u.assign.targets.items[0]->kind == KP_NODE_NAME;
        if (!field)
            kp_error_at(unit, n->first, kp_ast_last(n), "a struct of a kernel has fields alone, as in mass: f32");
        if (n->u.assign.value != NULL)
            kp_error_at(unit, n->u.assign.value->first, kp_ast_last(n->u.assign.value), "a field has no default value");
        kp_parser_push(&p, n);
    }
    return kp_parser_pop(&p, 0);
}

kp_node *kp_parser_global_at(kp_unit *unit, const kp_token *value) {
    kp_parser p = {.unit = unit, .at = value};
    kp_node *n = kp_parser_expressions(&p);
    kp_parser_end_statement(&p);
    return n;
}

kp_node *kp_parser_text(kp_unit *unit, uint32_t start, uint32_t end) {
    kp_parser p = {.unit = unit, .at = kp_lexer_run(unit, start, end, true)};
    kp_node *n = kp_parser_expressions(&p);
    if (is(&p, KP_TOKEN_ERROR))
        kp_parser_fault(&p);
    if (!is(&p, KP_TOKEN_END))
        kp_error_at(unit, p.at, NULL, "expected the end of the type, found %s", kp_parser_describe(&p));
    return n;
}
