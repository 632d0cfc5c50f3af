// See ast.h.
#include "ast.h"

#include "base/str.h"
#include "builtin.h"
#include "check.h"

#include <string.h>

enum { DEEPEST_SHOWN = 400 };

static const char *const kind_names[] = {
#define KP_X(name, member, text) [KP_NODE_##name] = text,
    KP_NODES(KP_X)
#undef KP_X
};

static const uint8_t sizes[] = {
#define KP_X(name, member, text) [KP_NODE_##name] = offsetof(kp_node, u) + sizeof(((kp_node *)0)->u.member),
    KP_NODES(KP_X)
#undef KP_X
};

// EXPRESSIONs become these.
_Static_assert(sizeof(((kp_node *)0)->u.assign) <= sizeof(((kp_node *)0)->u.expression), "an ASSIGN in its place");
_Static_assert(sizeof(((kp_node *)0)->u.report) <= sizeof(((kp_node *)0)->u.expression), "a PRINT in its place");

kp_node *kp_ast_node(kp_unit *unit, kp_node_kind kind, const kp_token *first, const kp_token *last) {
    kp_node *n = kp_arena_new(&unit->arena, sizes[kind]);
    n->kind = (uint8_t)kind;
    n->first = first;
    n->more = (uint32_t)(last - first);
    return n;
}

const char *kp_ast_text(kp_unit *unit, const kp_node *n) {
    uint32_t start = n->first->at, end = kp_ast_last(n)->at + kp_ast_last(n)->length;
    if (end <= start || end - start > KP_AST_LONGEST_TEXT || strcspn(unit->text + start, "\r\n") < end - start)
        return NULL;
    return kp_arena_text(&unit->arena, unit->text + start, end - start);
}

kp_list kp_ast_left_edge(kp_unit *unit, kp_node *n) {
    kp_list edge = {0};
    for (const kp_node *at = n; at->kind == KP_NODE_BINARY; at = at->u.binary.left)
        edge.count++;
    edge.items = KP_UNIT_NEW(unit, kp_node *, edge.count);
    for (uint32_t i = edge.count; i-- > 0; n = n->u.binary.left)
        edge.items[i] = n;
    return edge;
}

// ---------------------------------------------------------------------------------------------------------------------
// Dump
// ---------------------------------------------------------------------------------------------------------------------

typedef struct dumper {
    kp_str *out;
    bool types;
    uint32_t depth;
} dumper;

static void dump(dumper *d, const kp_node *n);

static void indent(dumper *d) {
    for (uint32_t i = 0; i < d->depth; i++)
        kp_str_add(d->out, "  ", 2);
}

static void heading(dumper *d, const char *text) {
    indent(d);
    kp_str_format(d->out, "%s:\n", text);
}

static void dump_under(dumper *d, const char *text, const kp_node *n) {
    if (n == NULL)
        return;
    d->depth++;
    heading(d, text);
    d->depth++;
    dump(d, n);
    d->depth -= 2;
}

static void dump_block(dumper *d, const char *text, const kp_node *first) {
    if (first == NULL)
        return;
    d->depth++;
    heading(d, text);
    d->depth++;
    for (const kp_node *n = first; n != NULL; n = n->next)
        dump(d, n);
    d->depth -= 2;
}

static void dump_child(dumper *d, const kp_node *n) {
    d->depth++;
    dump(d, n);
    d->depth--;
}

static void dump_list(dumper *d, kp_list list) {
    for (uint32_t i = 0; i < list.count; i++)
        dump_child(d, list.items[i]);
}

static void dump_constant(dumper *d, const kp_node *n) {
    if (n->type->kind == KP_TYPE_SCALAR && n->type->dtype == KP_BOOL)
        kp_str_format(d->out, " %s", n->u.value.i ? "True" : "False");
    else if (kp_type_is_float(n->type))
        kp_str_format(d->out, " %.9g", n->u.value.f);
    else
        kp_str_format(d->out, " %lld", (long long)n->u.value.i);
}

static void dump_symbol(dumper *d, const kp_symbol *symbol) {
    kp_str_format(d->out, " %s", symbol->name != NULL ? symbol->name->text : "(temporary)");
}

static void dump_components(dumper *d, const kp_node *n) {
    kp_str_add(d->out, " .", 2);
    for (uint32_t i = 0; i < n->u.swizzle.count; i++)
        kp_str_add(d->out, &"xyzw"[n->u.swizzle.components[i]], 1);
}

// What stands on the node's own line.
static void dump_head(dumper *d, const kp_node *n) {
    kp_str_format(d->out, "%s", kind_names[n->kind]);
    switch (n->kind) {
    case KP_NODE_NAME:
        kp_str_format(d->out, " %s", n->u.name->text);
        break;
    case KP_NODE_CONST:
        dump_constant(d, n);
        break;
    case KP_NODE_UNARY:
        kp_str_format(d->out, " %s", kp_lexer_spelling(n->op));
        break;
    case KP_NODE_BINARY:
        kp_str_format(d->out, " %s", kp_lexer_spelling(n->op));
        break;
    case KP_NODE_COMPARE:
        for (uint32_t i = 0; i + 1 < n->u.compare.list.count; i++)
            kp_str_format(d->out, " %s", kp_lexer_spelling(n->u.compare.ops[i]));
        break;
    case KP_NODE_BOOL:
        kp_str_format(d->out, " %s", kp_lexer_spelling(n->op));
        break;
    case KP_NODE_KEYWORD:
        kp_str_format(d->out, " %s", n->u.keyword.name->text);
        break;
    case KP_NODE_ATTRIBUTE:
        kp_str_format(d->out, " .%s", n->u.attribute.name->text);
        break;
    case KP_NODE_VARIABLE:
    case KP_NODE_BUFFER:
    case KP_NODE_LENGTH:
        dump_symbol(d, n->u.symbol);
        break;
    case KP_NODE_SHAPE:
        kp_str_format(d->out, " %s[%u]", n->u.shape.symbol->name->text, n->u.shape.axis);
        break;
    case KP_NODE_SWIZZLE:
        dump_components(d, n);
        break;
    case KP_NODE_FIELD:
        kp_str_format(d->out, " .%s", n->u.field.operand->type->fields[n->u.field.index].name);
        break;
    case KP_NODE_BUILTIN:
        kp_str_format(d->out, " %s", n->u.call.row->name);
        break;
    case KP_NODE_LIBRARY:
    case KP_NODE_INVOKE:
        kp_str_format(d->out, " %s", n->u.invoke.instance->name);
        break;
    case KP_NODE_AUGMENT:
        kp_str_format(d->out, " %s=", kp_lexer_spelling(n->op));
        break;
    default:
        break;
    }
    if (d->types && n->kind < KP_NODE_ASSIGN && n->type != NULL)
        kp_str_format(d->out, " -> %s", n->type->name);
    kp_str_add(d->out, "\n", 1);
}

static void dump_compare(dumper *d, const kp_node *n) {
    if (n->u.compare.lefts == NULL) {
        dump_list(d, n->u.compare.list);
        return;
    }
    dump_child(d, n->u.compare.lefts[0]);
    for (uint32_t i = 0; i + 1 < n->u.compare.list.count; i++)
        dump_child(d, n->u.compare.rights[i]);
}

static void dump_loop(dumper *d, const kp_node *n) {
    if (n->kind == KP_NODE_FOR)
        dump_under(d, "variable", n->u.loop.target);
    dump_under(d, "range", n->u.loop.range);
    dump_under(d, "start", n->u.loop.start);
    dump_under(d, "stop", n->u.loop.stop);
    dump_under(d, "step", n->u.loop.step);
    dump_under(d, "test", n->u.loop.test);
    dump_block(d, "body", n->u.loop.body);
    dump_block(d, "else", n->u.loop.other);
}

static void dump_expression_children(dumper *d, const kp_node *n) {
    switch (n->kind) {
    case KP_NODE_UNARY:
        dump_child(d, n->u.operand);
        break;
    case KP_NODE_BINARY:
        dump_child(d, n->u.binary.left);
        dump_child(d, n->u.binary.right);
        break;
    case KP_NODE_COMPARE:
        dump_compare(d, n);
        break;
    case KP_NODE_COND:
        dump_under(d, "test", n->u.cond.test);
        dump_under(d, "yes", n->u.cond.yes);
        dump_under(d, "no", n->u.cond.no);
        break;
    case KP_NODE_CALL:
        dump_child(d, n->u.call.callee);
        dump_list(d, n->u.call.list);
        break;
    case KP_NODE_BUILTIN:
        dump_list(d, n->u.call.list);
        break;
    case KP_NODE_LIBRARY:
    case KP_NODE_INVOKE:
        dump_list(d, n->u.invoke.list);
        break;
    case KP_NODE_TABLE:
        dump_list(d, n->u.table.list);
        dump_under(d, "index", n->u.table.index);
        break;
    case KP_NODE_KEYWORD:
        dump_child(d, n->u.keyword.value);
        break;
    case KP_NODE_ATTRIBUTE:
        dump_child(d, n->u.attribute.object);
        break;
    case KP_NODE_SUBSCRIPT:
        dump_child(d, n->u.subscript.object);
        dump_child(d, n->u.subscript.index);
        break;
    case KP_NODE_BOOL:
    case KP_NODE_TUPLE:
    case KP_NODE_LIST:
    case KP_NODE_CONSTRUCT:
        dump_list(d, n->u.list);
        break;
    case KP_NODE_ARRAY:
        dump_list(d, n->u.array.list);
        break;
    case KP_NODE_COMPREHENSION:
        dump_child(d, n->u.comprehension.element);
        dump_child(d, n->u.comprehension.range);
        break;
    case KP_NODE_BOUNDED:
        dump_child(d, n->u.bounded.at);
        dump_under(d, "limit", n->u.bounded.limit);
        break;
    case KP_NODE_CAST:
    case KP_NODE_COPY:
        dump_child(d, n->u.operand);
        break;
    case KP_NODE_SWIZZLE:
        dump_child(d, n->u.swizzle.operand);
        break;
    case KP_NODE_FIELD:
        dump_child(d, n->u.field.operand);
        break;
    case KP_NODE_MAKE:
        dump_list(d, n->u.make.list);
        break;
    default:
        break;
    }
}

static void dump(dumper *d, const kp_node *n) {
    indent(d);
    if (d->depth > DEEPEST_SHOWN) {
        kp_str_add(d->out, "...\n", 4);
        return;
    }
    dump_head(d, n);
    switch (n->kind) {
    case KP_NODE_ASSIGN:
        dump_list(d, n->u.assign.targets);
        dump_under(d, "type", n->u.assign.annotation);
        dump_under(d, "value", n->u.assign.value);
        break;
    case KP_NODE_GLOBAL:
        dump_list(d, n->u.list);
        break;
    case KP_NODE_UNPACK:
        dump_list(d, n->u.unpack.targets);
        dump_under(d, "value", n->u.unpack.value);
        break;
    case KP_NODE_AUGMENT:
        dump_child(d, n->u.augment.target);
        dump_under(d, "value", n->u.augment.value);
        break;
    case KP_NODE_EXPRESSION:
    case KP_NODE_RETURN:
        if (n->u.operand != NULL)
            dump_child(d, n->u.operand);
        break;
    case KP_NODE_IF:
        for (uint32_t i = 0; i < n->u.branches.count; i++) {
            dump_under(d, "test", n->u.branches.branches[i].test);
            dump_block(d, n->u.branches.branches[i].test != NULL ? "then" : "else", n->u.branches.branches[i].body);
        }
        break;
    case KP_NODE_WHILE:
    case KP_NODE_FOR:
        dump_loop(d, n);
        break;
    case KP_NODE_ASSERT:
    case KP_NODE_PRINT:
        dump_under(d, "test", n->u.report.test);
        dump_list(d, n->u.report.list);
        break;
    default:
        dump_expression_children(d, n);
        break;
    }
}

void kp_ast_dump(const kp_function *function, bool types, kp_str *out) {
    dumper d = {.out = out, .types = types};
    kp_str_format(out, "function %s\n", function->token->name->text);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        d.depth = 1;
        indent(&d);
        kp_str_format(out, "parameter %s\n", function->parameters[i].token->name->text);
        if (!types) {
            dump_under(&d, "type", function->parameters[i].annotation);
            dump_under(&d, "default", function->parameters[i].value);
        }
    }
    d.depth = 0;
    dump_block(&d, "body", function->body);
}
