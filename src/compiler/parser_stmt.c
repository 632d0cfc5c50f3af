// Statements and blocks: each function is headed by its rule of Python's grammar. Statements that Python has and the
// kernel language has not are recognised here and refused by name.
#include "habit.h"
#include "parsing.h"

#include <string.h>

static kp_node *statement(kp_parser *p);

void kp_parser_end_statement(kp_parser *p) {
    if (accept(p, KP_TOKEN_SEMICOLON)) {
        if (p->at->kind == KP_TOKEN_IF || p->at->kind == KP_TOKEN_WHILE || p->at->kind == KP_TOKEN_FOR)
            kp_error_at(p->unit, p->at, NULL, "'%s' starts a line of its own", kp_lexer_spelling(p->at->kind));
        accept(p, KP_TOKEN_NEWLINE);
        return;
    }
    if (is(p, KP_TOKEN_ERROR))
        kp_parser_fault(p);
    if (is(p, KP_TOKEN_WALRUS))
        kp_error_at(p->unit, p->at, NULL, "':=' is not in the kernel language; assign with '='");
    if (!is(p, KP_TOKEN_NEWLINE) && !is(p, KP_TOKEN_END))
        kp_error_at(p->unit, p->at, NULL, "expected the end of the statement, found %s%s", kp_parser_describe(p),
                    kp_habit_syntax(p->unit, p->at));
    accept(p, KP_TOKEN_NEWLINE);
}

// block := simple statements NEWLINE | NEWLINE INDENT statement+ DEDENT
kp_node *kp_parser_block(kp_parser *p, const char *what) {
    kp_parser_expect(p, KP_TOKEN_COLON, what);
    kp_parser_enter(p);
    kp_node *first = NULL, *last = NULL;
    if (!is(p, KP_TOKEN_NEWLINE)) {
        do {
            if (p->at->kind == KP_TOKEN_IF || p->at->kind == KP_TOKEN_WHILE || p->at->kind == KP_TOKEN_FOR)
                kp_error_at(p->unit, p->at, NULL, "'%s' starts a line of its own", kp_lexer_spelling(p->at->kind));
            kp_node *n = statement(p);
            if (last != NULL)
                last->next = n;
            first = first != NULL ? first : n;
            last = n;
        } while (p->at[-1].kind == KP_TOKEN_SEMICOLON);
    } else {
        const kp_token *line = take(p);
        if (is(p, KP_TOKEN_ERROR))
            kp_parser_fault(p);
        if (!is(p, KP_TOKEN_INDENT))
            kp_error_at(p->unit, line, NULL, "expected an indented block %s", what);
        take(p);
        while (!is(p, KP_TOKEN_DEDENT) && !is(p, KP_TOKEN_END)) {
            kp_node *n = statement(p);
            if (last != NULL)
                last->next = n;
            first = first != NULL ? first : n;
            last = n;
        }
        accept(p, KP_TOKEN_DEDENT);
    }
    kp_parser_leave(p);
    return first;
}

// if := 'if' expression block ('elif' expression block)* ['else' block]
static kp_node *if_statement(kp_parser *p) {
    kp_node *n = kp_parser_node(p, KP_NODE_IF, p->at);
    uint32_t base = p->item_count;
    while (is(p, KP_TOKEN_IF) || is(p, KP_TOKEN_ELIF)) {
        const char *what = is(p, KP_TOKEN_IF) ? "after the condition of 'if'" : "after the condition of 'elif'";
        take(p);
        kp_parser_push(p, kp_parser_expression(p));
        kp_parser_push(p, kp_parser_block(p, what));
        if (is(p, KP_TOKEN_IF))
            break; // the next statement
    }
    if (accept(p, KP_TOKEN_ELSE)) {
        kp_parser_push(p, NULL);
        kp_parser_push(p, kp_parser_block(p, "after 'else'"));
    }
    kp_list list = kp_parser_pop(p, base);
    n->u.branches.count = list.count / 2;
    n->u.branches.branches = KP_UNIT_NEW(p->unit, kp_branch, n->u.branches.count);
    for (uint32_t i = 0; i < n->u.branches.count; i++)
        n->u.branches.branches[i] = (kp_branch){.test = list.items[2 * i], .body = list.items[2 * i + 1]};
    return n;
}

static kp_node *loop_else(kp_parser *p) { return accept(p, KP_TOKEN_ELSE) ? kp_parser_block(p, "after 'else'") : NULL; }

// while := 'while' expression block ['else' block]
static kp_node *while_statement(kp_parser *p) {
    kp_node *n = kp_parser_node(p, KP_NODE_WHILE, take(p));
    n->u.loop.test = kp_parser_expression(p);
    n->u.loop.body = kp_parser_block(p, "after the condition of 'while'");
    n->u.loop.other = loop_else(p);
    return n;
}

// target := primary (',' primary)* [',']; with a comma, a tuple
static kp_node *for_target(kp_parser *p) {
    kp_node *first = kp_parser_primary(p);
    if (!is(p, KP_TOKEN_COMMA))
        return first;
    kp_node *n = kp_parser_node(p, KP_NODE_TUPLE, first->first);
    uint32_t base = p->item_count;
    kp_parser_push(p, first);
    while (accept(p, KP_TOKEN_COMMA) && !is(p, KP_TOKEN_IN))
        kp_parser_push(p, kp_parser_primary(p));
    n->u.list = kp_parser_pop(p, base);
    return kp_parser_end_node(p, n);
}

// for := 'for' target 'in' expression block ['else' block]
static kp_node *for_statement(kp_parser *p) {
    kp_node *n = kp_parser_node(p, KP_NODE_FOR, take(p));
    n->u.loop.target = for_target(p);
    kp_parser_expect(p, KP_TOKEN_IN, "after the variable of 'for'");
    n->u.loop.range = kp_parser_expression(p);
    n->u.loop.body = kp_parser_block(p, "after the range of 'for'");
    n->u.loop.other = loop_else(p);
    return n;
}

// assignment := expressions (':' expression ['=' expressions] | ('=' expressions)+ | OP'=' expressions)
static kp_node *assignment(kp_parser *p) {
    kp_node *left = kp_parser_expressions(p);
    kp_node *n;
    if (is(p, KP_TOKEN_COLON)) {
        take(p);
        n = kp_parser_node(p, KP_NODE_ASSIGN, left->first);
        kp_parser_push(p, left);
        n->u.assign.targets = kp_parser_pop(p, p->item_count - 1);
        n->u.assign.annotation = kp_parser_expression(p);
        n->u.assign.value = accept(p, KP_TOKEN_ASSIGN) ? kp_parser_expressions(p) : NULL;
    } else if (is(p, KP_TOKEN_ASSIGN)) {
        n = kp_parser_node(p, KP_NODE_ASSIGN, left->first);
        uint32_t base = p->item_count;
        kp_parser_push(p, left);
        while (accept(p, KP_TOKEN_ASSIGN))
            kp_parser_push(p, kp_parser_expressions(p));
        n->u.assign.targets = kp_parser_pop(p, base);
        n->u.assign.value = n->u.assign.targets.items[--n->u.assign.targets.count];
    } else if (p->at->kind >= KP_TOKEN_PLUS_ASSIGN && p->at->kind <= KP_TOKEN_CARET_ASSIGN) {
        n = kp_parser_node(p, KP_NODE_AUGMENT, left->first);
        n->u.augment.at = take(p);
        n->op = (uint8_t)(n->u.augment.at->kind - KP_TOKEN_PLUS_ASSIGN + KP_TOKEN_PLUS);
        n->u.augment.target = left;
        n->u.augment.value = kp_parser_expressions(p);
    } else {
        n = kp_parser_node(p, KP_NODE_EXPRESSION, left->first);
        n->u.operand = left;
    }
    return kp_parser_end_node(p, n);
}

static _Noreturn void refuse(kp_parser *p) {
    const kp_token *token = p->at;
    const char *word = kp_lexer_spelling(token->kind);
    switch (token->kind) {
    case KP_TOKEN_DEF:
        kp_error_at(p->unit, token, NULL,
                    "functions inside a kernel are not in the kernel language; define it outside and call it");
    case KP_TOKEN_AT:
        kp_error_at(p->unit, token, NULL, "decorators inside a kernel are not in the kernel language");
    case KP_TOKEN_IMPORT:
    case KP_TOKEN_FROM:
        kp_error_at(p->unit, token, NULL, "'import' is not in the kernel language; import outside of the kernel");
    case KP_TOKEN_INDENT:
        kp_error_at(p->unit, p->at + 1, NULL, "this line is indented more than the block that it is in");
    case KP_TOKEN_ELIF:
    case KP_TOKEN_ELSE:
        kp_error_at(p->unit, token, NULL, "this '%s' belongs to no 'if' or loop of the same indentation", word);
    default:
        kp_error_at(p->unit, token, NULL, "'%s' is not in the kernel language%s", word, kp_habit_word(p->unit, word));
    }
}

// global := ('global' | 'nonlocal') NAME (',' NAME)*
static kp_node *global_statement(kp_parser *p) {
    kp_node *n = kp_parser_node(p, KP_NODE_GLOBAL, take(p));
    uint32_t base = p->item_count;
    do {
        const kp_token *token = kp_parser_expect(p, KP_TOKEN_NAME, "here");
        kp_node *name = kp_parser_node(p, KP_NODE_NAME, token);
        name->u.name = token->name;
        kp_parser_push(p, name);
    } while (accept(p, KP_TOKEN_COMMA));
    n->u.list = kp_parser_pop(p, base);
    return kp_parser_end_node(p, n);
}

// assert := 'assert' expression [',' expression]
static kp_node *assertion(kp_parser *p) {
    kp_node *n = kp_parser_node(p, KP_NODE_ASSERT, take(p));
    n->u.report.test = kp_parser_expression(p);
    uint32_t base = p->item_count;
    if (accept(p, KP_TOKEN_COMMA))
        kp_parser_push(p, kp_parser_expression(p));
    n->u.report.list = kp_parser_pop(p, base);
    return kp_parser_end_node(p, n);
}

// simple := 'global' ... | 'pass' | 'break' | 'continue' | 'return' [expressions] | assert | assignment
static kp_node *simple(kp_parser *p) {
    kp_node *n;
    switch (p->at->kind) {
    case KP_TOKEN_PASS:
        n = kp_parser_node(p, KP_NODE_PASS, take(p));
        break;
    case KP_TOKEN_BREAK:
        n = kp_parser_node(p, KP_NODE_BREAK, take(p));
        break;
    case KP_TOKEN_CONTINUE:
        n = kp_parser_node(p, KP_NODE_CONTINUE, take(p));
        break;
    case KP_TOKEN_GLOBAL:
    case KP_TOKEN_NONLOCAL:
        n = global_statement(p);
        break;
    case KP_TOKEN_ASSERT:
        n = assertion(p);
        break;
    case KP_TOKEN_RETURN:
        n = kp_parser_node(p, KP_NODE_RETURN, take(p));
        if (!is(p, KP_TOKEN_NEWLINE) && !is(p, KP_TOKEN_SEMICOLON) && !is(p, KP_TOKEN_END))
            n->u.operand = kp_parser_expressions(p);
        kp_parser_end_node(p, n);
        break;
    default:
        n = assignment(p);
        break;
    }
    kp_parser_end_statement(p);
    return n;
}

// A soft keyword: "match x:" is a statement, "match = 3" is not.
static bool at_match(const kp_parser *p) {
    return is(p, KP_TOKEN_NAME) && strcmp(p->at->name->text, "match") == 0 &&
           (p->at[1].kind == KP_TOKEN_NAME || p->at[1].kind == KP_TOKEN_INT);
}

// statement := if | while | for | simple
static kp_node *statement(kp_parser *p) {
    switch (p->at->kind) {
    case KP_TOKEN_IF:
        return if_statement(p);
    case KP_TOKEN_WHILE:
        return while_statement(p);
    case KP_TOKEN_FOR:
        return for_statement(p);
    case KP_TOKEN_DEF:
    case KP_TOKEN_AT:
    case KP_TOKEN_CLASS:
    case KP_TOKEN_TRY:
    case KP_TOKEN_EXCEPT:
    case KP_TOKEN_FINALLY:
    case KP_TOKEN_WITH:
    case KP_TOKEN_IMPORT:
    case KP_TOKEN_FROM:
    case KP_TOKEN_ASYNC:
    case KP_TOKEN_DEL:
    case KP_TOKEN_RAISE:
    case KP_TOKEN_INDENT:
    case KP_TOKEN_ELIF:
    case KP_TOKEN_ELSE:
        refuse(p);
    case KP_TOKEN_ERROR:
        kp_parser_fault(p);
    default:
        if (at_match(p))
            kp_error_at(p->unit, p->at, NULL, "'match' is not in the kernel language; write if and elif");
        return simple(p);
    }
}
