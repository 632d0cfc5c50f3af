// See check.h.
#include "checker.h"

#include "builtin.h"
#include "fold.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kp_check_fail(kp_checker *c, const kp_node *at, const char *format, ...) {
    char message[2048];
    va_list args;
    va_start(args, format);
    if (vsnprintf(message, sizeof message, format, args) < 0)
        message[0] = '\0';
    va_end(args);
    kp_error_at(c->unit, at->first, kp_ast_last(at), "%s%s", message, kp_check_place_of_call(c));
}

const char *kp_check_text(kp_checker *c, const kp_node *n) {
    const char *text = kp_ast_text(c->unit, n);
    return text != NULL ? text : "...";
}

// True for a text whose first and last tokens are the two of a pair of parentheses.
static bool in_parentheses(const kp_node *n) {
    uint32_t depth = 0;
    for (const kp_token *t = n->first; t < kp_ast_last(n); t++) {
        depth += t->kind == KP_TOKEN_LEFT_PAREN;
        depth -= t->kind == KP_TOKEN_RIGHT_PAREN;
        if (depth == 0)
            return false;
    }
    return n->first != kp_ast_last(n);
}

const char *kp_check_converted(kp_checker *c, const kp_node *n, const char *type) {
    char text[2 * KP_AST_LONGEST_TEXT + 32];
    bool bare = !in_parentheses(n);
    int length =
        snprintf(text, sizeof text, "%.64s%s%s%s", type, bare ? "(" : "", kp_check_text(c, n), bare ? ")" : "");
    return kp_arena_text(&c->unit->arena, text, (size_t)length);
}

// By how it is said: an f32, an i32, an ivec2, a u32, a uvec2, a vec2.
const char *kp_check_article(const char *noun) {
    bool letter_f = noun[0] == 'f' && noun[1] >= '0' && noun[1] <= '9';
    return letter_f || strchr("aeioI", noun[0]) != NULL ? "an" : "a";
}

kp_node *kp_check_new(kp_checker *c, kp_node_kind kind, const kp_node *like, const kp_type *type) {
    kp_node *n = kp_ast_node(c->unit, kind, like->first, kp_ast_last(like));
    n->type = type;
    return n;
}

static kp_node *captured_value(kp_checker *c, const kp_node *n, const kp_constant *constant) {
    if (constant->items != NULL)
        kp_check_fail(c, n, "'%s' is a tuple; index it, as in %s[0], or assign it to several names", constant->name,
                      constant->name);
    kp_node *k = kp_check_new(c, KP_NODE_CONST, n, NULL);
    kp_dtype dtype = constant->dtype;
    if (dtype == KP_F64) {
        k->type = kp_type_float_literal();
        k->u.value.f = constant->value.f;
    } else if (dtype == KP_I64) {
        k->type = kp_type_int_literal();
        k->u.value.i = constant->value.i;
    } else if ((unsigned)dtype >= KP_DTYPE_COUNT) {
        kp_check_fail(c, n, "'%s' is a captured constant of no known type", constant->name);
    } else { // of the widest of its kind, brought into its own type
        k->type = kp_type_scalar(dtype);
        kp_value value = {.i = constant->value.i};
        if (kp_type_is_float(k->type))
            value.f = constant->value.f;
        kp_dtype widest = kp_type_is_float(k->type) ? KP_F64 : dtype == KP_U64 ? KP_U64 : KP_I64;
        k->u.value = kp_fold_cast(kp_type_scalar(widest), k->type, value);
    }
    return k;
}

static kp_parser_global *find_global(kp_checker *c, const kp_name *name) {
    const kp_parser_outline *outline = c->module->outline;
    int32_t index = kp_lookup_get(&outline->global_names, name);
    return index != KP_LOOKUP_NONE ? &outline->globals[index] : NULL;
}

static const kp_constant *find_constant(kp_checker *c, const kp_name *name) {
    kp_checker_module *m = c->module;
    if (m->constant_count != 0 && m->constant_names.count == 0) { // the first one of a name counts
        for (size_t i = m->constant_count; i-- > 0;) {
            const char *text = m->constants[i].name;
            kp_lookup_put(c->unit, &m->constant_names, kp_lexer_intern(c->unit, text, (uint32_t)strlen(text)),
                          (int32_t)i);
        }
    }
    int32_t index = kp_lookup_get(&m->constant_names, name);
    return index != KP_LOOKUP_NONE ? &m->constants[index] : NULL;
}

static bool may_be_constant(kp_checker *c, const kp_node *n);

static bool all_may_be_constant(kp_checker *c, kp_list list) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (!may_be_constant(c, list.items[i]))
            return false;
    }
    return true;
}

// False for what only Python can work out, so that the fault is reported where a kernel uses it.
static bool may_be_constant(kp_checker *c, const kp_node *n) {
    for (; n->kind == KP_NODE_BINARY; n = n->u.binary.left) {
        if (!may_be_constant(c, n->u.binary.right))
            return false;
    }
    double value;
    switch (n->kind) {
    case KP_NODE_CONST:
        return true;
    case KP_NODE_NAME:
        return find_constant(c, n->u.name) != NULL || find_global(c, n->u.name) != NULL;
    case KP_NODE_ATTRIBUTE:
        return kp_builtin_constant(n->u.attribute.name, &value) || kp_check_captured(c, n) != NULL;
    case KP_NODE_UNARY:
        return may_be_constant(c, n->u.operand);
    case KP_NODE_COMPARE:
        return all_may_be_constant(c, n->u.compare.list);
    case KP_NODE_CALL: {
        const kp_name *name = kp_check_path(c, n->u.call.callee);
        bool known = name != NULL && (kp_type_find(name->text) != NULL || kp_builtin_find(name) != NULL);
        return known && all_may_be_constant(c, n->u.call.list);
    }
    default:
        return false;
    }
}

// A module-level NAME = constant of the source.
static kp_node *global_of(kp_checker *c, const kp_node *n, kp_parser_global *global) {
    if (global->busy)
        kp_check_fail(c, n, "'%s' is defined by itself", n->u.name->text);
    global->busy = true;
    kp_scope scope = c->scope;
    c->scope = (kp_scope){0};
    kp_node *value = kp_parser_global_at(c->unit, global->value);
    value = may_be_constant(c, value) ? kp_check_expr(c, value) : NULL;
    c->scope = scope;
    global->busy = false;
    if (value == NULL || value->kind != KP_NODE_CONST)
        kp_check_fail(c, n, "'%s' is not a constant that a kernel can use", n->u.name->text);
    kp_node *k = kp_check_new(c, KP_NODE_CONST, n, value->type);
    k->u.value = value->u.value;
    return k;
}

// The constant of the caller's that a name, or a path through modules, stands for.
static const kp_constant *captured(kp_checker *c, const kp_node *n) {
    if (c->module->constant_count == 0 || (n->kind == KP_NODE_ATTRIBUTE && kp_check_path(c, n) == NULL))
        return NULL;
    return find_constant(c, kp_check_dotted(c, n));
}

kp_node *kp_check_given(kp_checker *c, const kp_node *n, const kp_constant *constant) {
    if (constant->items == NULL)
        return captured_value(c, n, constant);
    kp_node *tuple = kp_check_new(c, KP_NODE_TUPLE, n, NULL);
    kp_list list = {.items = KP_UNIT_NEW(c->unit, kp_node *, constant->item_count), .count = 0};
    for (size_t i = 0; i < constant->item_count; i++)
        list.items[list.count++] = kp_check_given(c, n, &constant->items[i]);
    tuple->u.list = list;
    return tuple;
}

// A TUPLE as parsed, with its items checked; NULL when one is no constant.
static kp_node *checked_tuple(kp_checker *c, kp_node *n) {
    if (n->kind != KP_NODE_TUPLE) {
        kp_node *value = may_be_constant(c, n) ? kp_check_expr(c, n) : NULL;
        return value != NULL && value->kind == KP_NODE_CONST ? value : NULL;
    }
    for (uint32_t i = 0; i < n->u.list.count; i++) {
        n->u.list.items[i] = checked_tuple(c, n->u.list.items[i]);
        if (n->u.list.items[i] == NULL)
            return NULL;
    }
    return n->u.list.count > 0 ? n : NULL;
}

static kp_node *global_tuple(kp_checker *c, const kp_node *n, kp_parser_global *global) {
    if (global->busy)
        kp_check_fail(c, n, "'%s' is defined by itself", n->u.name->text);
    kp_node *value = kp_parser_global_at(c->unit, global->value);
    if (value->kind != KP_NODE_TUPLE)
        return NULL;
    global->busy = true;
    kp_scope scope = c->scope;
    c->scope = (kp_scope){0};
    value = checked_tuple(c, value);
    c->scope = scope;
    global->busy = false;
    return value;
}

kp_node *kp_check_captured_tuple(kp_checker *c, const kp_node *n) {
    const kp_symbol *symbol = n->kind == KP_NODE_NAME ? kp_scope_find(&c->scope, n->u.name) : NULL;
    if (symbol != NULL)
        return symbol->tuple;
    const kp_constant *constant = captured(c, n);
    if (constant != NULL)
        return constant->items != NULL && !constant->matrix ? kp_check_given(c, n, constant) : NULL;
    kp_parser_global *global = n->kind == KP_NODE_NAME ? find_global(c, n->u.name) : NULL;
    return global != NULL ? global_tuple(c, n, global) : NULL;
}

kp_node *kp_check_captured(kp_checker *c, const kp_node *n) {
    const kp_constant *constant = captured(c, n);
    if (constant != NULL && constant->matrix)
        return kp_check_matrix_captured(c, n, constant);
    if (constant != NULL)
        return captured_value(c, n, constant);
    if (n->kind == KP_NODE_ATTRIBUTE)
        return NULL;
    kp_parser_global *global = find_global(c, n->u.name);
    if (global != NULL && global_tuple(c, n, global) != NULL)
        kp_check_fail(c, n, "'%s' is a tuple; index it, as in %s[0], or assign it to several names", n->u.name->text,
                      n->u.name->text);
    return global != NULL ? global_of(c, n, global) : NULL;
}

int64_t kp_check_constant_int(kp_checker *c, kp_node *n, const char *what) {
    kp_node *k = n->kind == KP_NODE_STRING ? n : kp_check_expr(c, n);
    if (k->kind != KP_NODE_CONST || !kp_type_is_int(k->type))
        kp_check_fail(c, n, "%s is an integer constant", what);
    return k->u.value.i;
}

kp_symbol *kp_check_find(kp_checker *c, const kp_name *name) {
    for (const kp_checker_bound *b = c->bound; b != NULL; b = b->outer) {
        if (b->symbol->name == name)
            return b->symbol;
    }
    return kp_scope_find(&c->scope, name);
}

const kp_name *kp_check_path(kp_checker *c, const kp_node *n) {
    const kp_node *whole = n;
    const kp_name *last = n->kind == KP_NODE_NAME        ? n->u.name
                          : n->kind == KP_NODE_ATTRIBUTE ? n->u.attribute.name
                                                         : NULL;
    while (n->kind == KP_NODE_ATTRIBUTE)
        n = n->u.attribute.object;
    if (n->kind != KP_NODE_NAME || kp_check_find(c, n->u.name) != NULL || find_constant(c, n->u.name) != NULL)
        return NULL;
    const kp_callee *callee = kp_check_callee(c, whole);
    return callee != NULL && callee->stands_for != NULL
               ? kp_lexer_intern(c->unit, callee->stands_for, (uint32_t)strlen(callee->stands_for))
               : last;
}

kp_name *kp_check_dotted(kp_checker *c, const kp_node *n) {
    kp_name *name = n->kind == KP_NODE_NAME ? n->u.name : NULL;
    if (n->kind != KP_NODE_ATTRIBUTE)
        return name;
    name = kp_check_dotted(c, n->u.attribute.object);
    if (name == NULL)
        return NULL;
    uint32_t length = name->length + 1 + n->u.attribute.name->length;
    char *text = KP_UNIT_NEW(c->unit, char, length + 1);
    memcpy(text, name->text, name->length);
    text[name->length] = '.';
    memcpy(text + name->length + 1, n->u.attribute.name->text, n->u.attribute.name->length);
    return kp_lexer_intern(c->unit, text, length);
}

kp_checker *kp_check_start(kp_unit *unit, kp_parser_outline *outline, kp_function *function) {
    kp_checker *c = KP_UNIT_NEW(unit, kp_checker, 1);
    c->unit = unit;
    c->kernel = KP_UNIT_NEW(unit, kp_kernel, 1);
    c->kernel->name = function->token->name->text;
    c->kernel->token = function->token;
    c->kernel->function = function;
    kp_check_modules(c, outline, function);
    return c;
}

kp_kernel *kp_check_run(kp_unit *unit, kp_parser_outline *outline, kp_function *function) {
    kp_checker *c = kp_check_start(unit, outline, function);
    kp_signature_run(c, function);
    kp_scope_add_locals(unit, &c->scope, function->body);
    kp_check_body(c, &function->body);
    kp_uniform_run(c);
    c->kernel->symbols = c->scope.first;
    return c->kernel;
}
