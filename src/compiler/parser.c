// See parser.h. Recursive descent; each function is headed by its rule of Python's grammar, as far as the kernel
// language has it. What Python has and the kernel language has not is recognised here and refused by name.
//
// A run of left-associative operators is a loop and may be as long as it likes; what nests is counted in `depth`.
#include "parser.h"

#include "error.h"

#include <string.h>

enum { DEEPEST = 200, FIRST_ITEMS = 16 };

typedef struct parser {
    kp_unit *unit;
    const kp_token *at; // the next token
    uint32_t depth;     // nested expressions and blocks
    kp_node **items;    // a stack of nodes for lists that are being read
    uint32_t item_count, item_capacity;
} parser;

static kp_node *expression(parser *p);
static kp_node *statement(parser *p);

// ---------------------------------------------------------------------------------------------------------------------
// Tokens
// ---------------------------------------------------------------------------------------------------------------------

static bool is(const parser *p, kp_token_kind kind) { return p->at->kind == kind; }

// END stays: reading past it is safe.
static const kp_token *take(parser *p) {
    const kp_token *token = p->at;
    if (token->kind != KP_TOKEN_END)
        p->at++;
    return token;
}

static bool accept(parser *p, kp_token_kind kind) {
    if (!is(p, kind))
        return false;
    take(p);
    return true;
}

static const char *describe(parser *p) { return kp_lexer_describe(p->unit, p->at); }

static _Noreturn void fault(parser *p) { kp_error_at(p->unit, p->at, NULL, "%s", kp_lexer_fault(p->at)); }

static const kp_token *expect(parser *p, kp_token_kind kind, const char *where) {
    if (is(p, KP_TOKEN_ERROR))
        fault(p);
    if (!is(p, kind)) {
        const char *quote = kind > KP_TOKEN_ERROR ? "'" : "";
        kp_error_at(p->unit, p->at, NULL, "expected %s%s%s %s, found %s%s", quote, kp_lexer_spelling(kind), quote,
                    where, describe(p), kind == KP_TOKEN_COLON && is(p, KP_TOKEN_ASSIGN) ? "; '==' compares" : "");
    }
    return take(p);
}

static void close(parser *p, kp_token_kind kind, const kp_token *open) {
    if (is(p, KP_TOKEN_ERROR))
        fault(p);
    if (is(p, KP_TOKEN_END))
        kp_error_at(p->unit, open, NULL, "'%s' is never closed", kp_lexer_spelling(open->kind));
    if (is(p, kind))
        take(p);
    else if (is(p, KP_TOKEN_FOR) || is(p, KP_TOKEN_ASYNC))
        kp_error_at(p->unit, p->at, NULL, "comprehensions are not in the kernel language; write a for loop");
    else if (is(p, KP_TOKEN_WALRUS))
        kp_error_at(p->unit, p->at, NULL, "':=' is not in the kernel language; assign on a line of its own");
    else
        kp_error_at(p->unit, p->at, NULL, "expected '%s' or ',' here to go on from the '%s' of line %u, found %s",
                    kp_lexer_spelling(kind), kp_lexer_spelling(open->kind), kp_error_line(p->unit, open), describe(p));
}

static void enter(parser *p) {
    if (++p->depth > DEEPEST)
        kp_error_at(p->unit, p->at, NULL, "this is nested too deep; the limit is %d levels", DEEPEST);
}

static void leave(parser *p) { p->depth--; }

static kp_node *node(parser *p, kp_node_kind kind, const kp_token *first) {
    return kp_ast_node(p->unit, kind, first, first);
}

static kp_node *end_node(parser *p, kp_node *n) {
    n->last = p->at - 1;
    return n;
}

static void push(parser *p, kp_node *n) {
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

// The items pushed since the stack was `base` high.
static kp_list pop(parser *p, uint32_t base) {
    kp_list list = {.count = p->item_count - base};
    list.items = KP_UNIT_NEW(p->unit, kp_node *, list.count);
    if (list.count != 0)
        memcpy(list.items, p->items + base, list.count * sizeof(kp_node *));
    p->item_count = base;
    return list;
}

// ---------------------------------------------------------------------------------------------------------------------
// Expressions
// ---------------------------------------------------------------------------------------------------------------------

// number := INT | FLOAT
static kp_node *number(parser *p) {
    const kp_token *token = take(p);
    kp_node *n = node(p, KP_NODE_CONST, token);
    if (token->kind == KP_TOKEN_FLOAT) {
        n->type = kp_type_float_literal(p->unit);
        n->u.value.f = kp_lexer_float(p->unit, token);
    } else {
        n->type = kp_type_int_literal(p->unit);
        if (!kp_lexer_int(p->unit, token, &n->u.value.i))
            kp_error_at(p->unit, token, NULL, "this integer is too large; the limit is 2**63 - 1");
    }
    return n;
}

static kp_node *truth(parser *p) {
    const kp_token *token = take(p);
    kp_node *n = node(p, KP_NODE_CONST, token);
    n->type = kp_type_scalar(p->unit, KP_BOOL);
    n->u.value.i = token->kind == KP_TOKEN_TRUE;
    return n;
}

// string := STRING+; its value is of use in annotations and as a docstring only
static kp_node *string(parser *p) {
    kp_node *n = node(p, KP_NODE_STRING, p->at);
    do {
        char c = p->unit->text[p->at->at], d = p->unit->text[p->at->at + 1];
        if ((c | 0x20) == 'f' || ((d | 0x20) == 'f' && (c | 0x20) == 'r'))
            kp_error_at(p->unit, p->at, NULL, "f-strings are not in the kernel language");
        take(p);
    } while (is(p, KP_TOKEN_STRING));
    return end_node(p, n);
}

// items := [expression (',' expression)* [',']], up to the closing bracket; *comma: there was one
static kp_list items(parser *p, kp_token_kind end, const kp_token *open, bool *comma) {
    uint32_t base = p->item_count;
    *comma = false;
    while (!is(p, end)) {
        if (is(p, KP_TOKEN_STAR) || is(p, KP_TOKEN_DOUBLE_STAR))
            kp_error_at(p->unit, p->at, NULL, "'%s' before a value is not in the kernel language",
                        kp_lexer_spelling(p->at->kind));
        push(p, expression(p));
        if (!accept(p, KP_TOKEN_COMMA))
            break;
        *comma = true;
    }
    close(p, end, open);
    return pop(p, base);
}

// group := '(' items ')': one expression without a comma is itself, all else a tuple
static kp_node *group(parser *p) {
    const kp_token *open = take(p);
    bool comma;
    kp_list list = items(p, KP_TOKEN_RIGHT_PAREN, open, &comma);
    if (list.count == 1 && !comma) {
        list.items[0]->first = open;
        return end_node(p, list.items[0]);
    }
    kp_node *n = node(p, KP_NODE_TUPLE, open);
    n->u.list.list = list;
    return end_node(p, n);
}

// list := '[' items ']'
static kp_node *list(parser *p) {
    const kp_token *open = take(p);
    bool comma;
    kp_node *n = node(p, KP_NODE_LIST, open);
    n->u.list.list = items(p, KP_TOKEN_RIGHT_BRACKET, open, &comma);
    return end_node(p, n);
}

// atom := NAME | number | string | 'True' | 'False' | 'None' | group | list
static kp_node *atom(parser *p) {
    const kp_token *token = p->at;
    switch (token->kind) {
    case KP_TOKEN_NAME: {
        kp_node *n = node(p, KP_NODE_NAME, take(p));
        n->u.name = token->name;
        return n;
    }
    case KP_TOKEN_INT:
    case KP_TOKEN_FLOAT:
        return number(p);
    case KP_TOKEN_TRUE:
    case KP_TOKEN_FALSE:
        return truth(p);
    case KP_TOKEN_NONE:
        return node(p, KP_NODE_NONE, take(p));
    case KP_TOKEN_STRING:
        return string(p);
    case KP_TOKEN_LEFT_PAREN:
        return group(p);
    case KP_TOKEN_LEFT_BRACKET:
        return list(p);
    case KP_TOKEN_LEFT_BRACE:
        kp_error_at(p->unit, token, NULL, "dicts and sets are not in the kernel language");
    case KP_TOKEN_ELLIPSIS:
        kp_error_at(p->unit, token, NULL, "'...' is not in the kernel language");
    case KP_TOKEN_LAMBDA:
        kp_error_at(p->unit, token, NULL, "'lambda' is not in the kernel language");
    case KP_TOKEN_YIELD:
    case KP_TOKEN_AWAIT:
        kp_error_at(p->unit, token, NULL, "'%s' is not in the kernel language", kp_lexer_spelling(token->kind));
    case KP_TOKEN_ERROR:
        fault(p);
    default:
        kp_error_at(p->unit, token, NULL, "expected an expression, found %s", describe(p));
    }
}

// argument := [NAME '='] expression
static kp_node *argument(parser *p) {
    if (is(p, KP_TOKEN_STAR) || is(p, KP_TOKEN_DOUBLE_STAR))
        kp_error_at(p->unit, p->at, NULL, "'%s' arguments are not in the kernel language",
                    kp_lexer_spelling(p->at->kind));
    if (!is(p, KP_TOKEN_NAME) || p->at[1].kind != KP_TOKEN_ASSIGN)
        return expression(p);
    kp_node *n = node(p, KP_NODE_KEYWORD, p->at);
    n->u.keyword.name = take(p)->name;
    take(p);
    n->u.keyword.value = expression(p);
    return end_node(p, n);
}

// call := primary '(' [argument (',' argument)* [',']] ')'
static kp_node *call(parser *p, kp_node *callee) {
    const kp_token *open = take(p);
    kp_node *n = node(p, KP_NODE_CALL, callee->first);
    uint32_t base = p->item_count;
    while (!is(p, KP_TOKEN_RIGHT_PAREN)) {
        push(p, argument(p));
        if (!accept(p, KP_TOKEN_COMMA))
            break;
    }
    close(p, KP_TOKEN_RIGHT_PAREN, open);
    n->u.call.callee = callee;
    n->u.call.list = pop(p, base);
    return end_node(p, n);
}

// subscript := primary '[' expression (',' expression)* [','] ']'
static kp_node *subscript(parser *p, kp_node *object) {
    const kp_token *open = take(p);
    kp_node *n = node(p, KP_NODE_SUBSCRIPT, object->first);
    n->u.subscript.object = object;
    if (is(p, KP_TOKEN_COLON))
        kp_error_at(p->unit, p->at, NULL, "slices are not in the kernel language; index one element");
    const kp_token *start = p->at;
    kp_node *index = expression(p);
    if (is(p, KP_TOKEN_COLON))
        kp_error_at(p->unit, p->at, NULL, "slices are not in the kernel language; index one element");
    if (is(p, KP_TOKEN_COMMA)) {
        uint32_t base = p->item_count;
        push(p, index);
        while (accept(p, KP_TOKEN_COMMA) && !is(p, KP_TOKEN_RIGHT_BRACKET))
            push(p, expression(p));
        index = node(p, KP_NODE_TUPLE, start);
        index->u.list.list = pop(p, base);
        end_node(p, index);
    }
    close(p, KP_TOKEN_RIGHT_BRACKET, open);
    n->u.subscript.index = index;
    return end_node(p, n);
}

static kp_node *attribute(parser *p, kp_node *object) {
    take(p);
    kp_node *n = node(p, KP_NODE_ATTRIBUTE, object->first);
    n->u.attribute.object = object;
    n->u.attribute.at = expect(p, KP_TOKEN_NAME, "after '.'");
    n->u.attribute.name = n->u.attribute.at->name;
    return end_node(p, n);
}

// primary := atom ('.' NAME | call | subscript)*
static kp_node *primary(parser *p) {
    kp_node *n = atom(p);
    uint32_t depth = p->depth;
    for (;;) {
        enter(p); // a chain is a tree as deep as it is long
        if (is(p, KP_TOKEN_DOT))
            n = attribute(p, n);
        else if (is(p, KP_TOKEN_LEFT_PAREN))
            n = call(p, n);
        else if (is(p, KP_TOKEN_LEFT_BRACKET))
            n = subscript(p, n);
        else
            break;
    }
    p->depth = depth;
    return n;
}

static kp_node *unary(parser *p);

static kp_node *binary_node(parser *p, kp_token_kind op, const kp_token *at, kp_node *left, kp_node *right) {
    kp_node *n = node(p, KP_NODE_BINARY, left->first);
    n->u.binary.op = op;
    n->u.binary.at = at;
    n->u.binary.left = left;
    n->u.binary.right = right;
    n->last = right->last;
    return n;
}

// power := primary ['**' unary]
static kp_node *power(parser *p) {
    kp_node *left = primary(p);
    if (!is(p, KP_TOKEN_DOUBLE_STAR))
        return left;
    const kp_token *at = take(p);
    enter(p);
    kp_node *right = unary(p);
    leave(p);
    return binary_node(p, KP_TOKEN_DOUBLE_STAR, at, left, right);
}

// unary := ('+' | '-' | '~') unary | power
static kp_node *unary(parser *p) {
    if (!is(p, KP_TOKEN_PLUS) && !is(p, KP_TOKEN_MINUS) && !is(p, KP_TOKEN_TILDE))
        return power(p);
    kp_node *n = node(p, KP_NODE_UNARY, p->at);
    n->u.unary.op = take(p)->kind;
    enter(p);
    n->u.unary.operand = unary(p);
    leave(p);
    return end_node(p, n);
}

// How tightly a binary operator binds; 0: none.
static int precedence(uint8_t kind) {
    switch (kind) {
    case KP_TOKEN_BAR:
        return 1;
    case KP_TOKEN_CARET:
        return 2;
    case KP_TOKEN_AMPERSAND:
        return 3;
    case KP_TOKEN_LEFT_SHIFT:
    case KP_TOKEN_RIGHT_SHIFT:
        return 4;
    case KP_TOKEN_PLUS:
    case KP_TOKEN_MINUS:
        return 5;
    case KP_TOKEN_STAR:
    case KP_TOKEN_SLASH:
    case KP_TOKEN_DOUBLE_SLASH:
    case KP_TOKEN_PERCENT:
    case KP_TOKEN_AT:
        return 6;
    default:
        return 0;
    }
}

// binary := unary (operator unary)*, by precedence
static kp_node *binary(parser *p, int least) {
    kp_node *left = unary(p);
    for (int level; (level = precedence(p->at->kind)) >= least;) {
        const kp_token *at = take(p);
        left = binary_node(p, at->kind, at, left, binary(p, level + 1));
    }
    return left;
}

static bool is_comparison(const parser *p) { return p->at->kind >= KP_TOKEN_LESS && p->at->kind <= KP_TOKEN_NOT_EQUAL; }

// comparison := binary (('<' | '>' | '<=' | '>=' | '==' | '!=') binary)*
static kp_node *comparison(parser *p) {
    kp_node *first = binary(p, 1);
    if (is(p, KP_TOKEN_IN) || is(p, KP_TOKEN_IS) || (is(p, KP_TOKEN_NOT) && p->at[1].kind == KP_TOKEN_IN))
        kp_error_at(p->unit, p->at, NULL, "'%s' is not in the kernel language%s", kp_lexer_spelling(p->at->kind),
                    is(p, KP_TOKEN_IS) ? "; compare with '=='" : "");
    if (!is_comparison(p))
        return first;
    kp_node *n = node(p, KP_NODE_COMPARE, first->first);
    const kp_token *start = p->at;
    uint32_t base = p->item_count;
    push(p, first);
    while (is_comparison(p)) {
        take(p);
        push(p, binary(p, 1));
    }
    kp_list list = pop(p, base);
    kp_token_kind *ops = KP_UNIT_NEW(p->unit, kp_token_kind, list.count - 1);
    ops[0] = start->kind;
    for (uint32_t i = 1; i + 1 < list.count; i++)
        ops[i] = list.items[i]->last[1].kind;
    n->u.compare.list = list;
    n->u.compare.ops = ops;
    return end_node(p, n);
}

// negation := 'not' negation | comparison
static kp_node *negation(parser *p) {
    if (!is(p, KP_TOKEN_NOT))
        return comparison(p);
    kp_node *n = node(p, KP_NODE_UNARY, p->at);
    n->u.unary.op = take(p)->kind;
    enter(p);
    n->u.unary.operand = negation(p);
    leave(p);
    return end_node(p, n);
}

// conjunction := negation ('and' negation)*        disjunction := conjunction ('or' conjunction)*
static kp_node *junction(parser *p, kp_token_kind op) {
    kp_node *first = op == KP_TOKEN_OR ? junction(p, KP_TOKEN_AND) : negation(p);
    if (!is(p, op))
        return first;
    kp_node *n = node(p, KP_NODE_BOOL, first->first);
    uint32_t base = p->item_count;
    push(p, first);
    while (accept(p, op))
        push(p, op == KP_TOKEN_OR ? junction(p, KP_TOKEN_AND) : negation(p));
    n->u.list.list = pop(p, base);
    n->u.list.op = op;
    return end_node(p, n);
}

// expression := disjunction ['if' disjunction 'else' expression]
static kp_node *expression(parser *p) {
    enter(p);
    kp_node *yes = junction(p, KP_TOKEN_OR);
    if (is(p, KP_TOKEN_IF)) {
        take(p);
        kp_node *n = node(p, KP_NODE_COND, yes->first);
        n->u.cond.yes = yes;
        n->u.cond.test = junction(p, KP_TOKEN_OR);
        expect(p, KP_TOKEN_ELSE, "of the conditional expression");
        n->u.cond.no = expression(p);
        yes = end_node(p, n);
    }
    leave(p);
    return yes;
}

// expressions := expression (',' expression)* [',']; with a comma, a tuple
static kp_node *expressions(parser *p) {
    if (is(p, KP_TOKEN_STAR))
        kp_error_at(p->unit, p->at, NULL, "'*' before a name is not in the kernel language");
    kp_node *first = expression(p);
    if (!is(p, KP_TOKEN_COMMA))
        return first;
    kp_node *n = node(p, KP_NODE_TUPLE, first->first);
    uint32_t base = p->item_count;
    push(p, first);
    while (accept(p, KP_TOKEN_COMMA)) {
        if (is(p, KP_TOKEN_STAR))
            kp_error_at(p->unit, p->at, NULL, "'*' before a name is not in the kernel language");
        if (is(p, KP_TOKEN_NEWLINE) || is(p, KP_TOKEN_ASSIGN) || is(p, KP_TOKEN_IN) || is(p, KP_TOKEN_SEMICOLON))
            break;
        push(p, expression(p));
    }
    n->u.list.list = pop(p, base);
    return end_node(p, n);
}

// ---------------------------------------------------------------------------------------------------------------------
// Statements
// ---------------------------------------------------------------------------------------------------------------------

static void end_statement(parser *p) {
    if (accept(p, KP_TOKEN_SEMICOLON)) {
        if (p->at->kind == KP_TOKEN_IF || p->at->kind == KP_TOKEN_WHILE || p->at->kind == KP_TOKEN_FOR)
            kp_error_at(p->unit, p->at, NULL, "'%s' starts a line of its own", kp_lexer_spelling(p->at->kind));
        accept(p, KP_TOKEN_NEWLINE);
        return;
    }
    if (is(p, KP_TOKEN_ERROR))
        fault(p);
    if (is(p, KP_TOKEN_WALRUS))
        kp_error_at(p->unit, p->at, NULL, "':=' is not in the kernel language; assign with '='");
    if (!is(p, KP_TOKEN_NEWLINE) && !is(p, KP_TOKEN_END))
        kp_error_at(p->unit, p->at, NULL, "expected the end of the statement, found %s", describe(p));
    accept(p, KP_TOKEN_NEWLINE);
}

// block := simple statements NEWLINE | NEWLINE INDENT statement+ DEDENT
static kp_node *block(parser *p, const char *what) {
    expect(p, KP_TOKEN_COLON, what);
    enter(p);
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
            fault(p);
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
    leave(p);
    return first;
}

// if := 'if' expression block ('elif' expression block)* ['else' block]
static kp_node *if_statement(parser *p) {
    kp_node *n = node(p, KP_NODE_IF, p->at);
    uint32_t base = p->item_count;
    while (is(p, KP_TOKEN_IF) || is(p, KP_TOKEN_ELIF)) {
        const char *what = is(p, KP_TOKEN_IF) ? "after the condition of 'if'" : "after the condition of 'elif'";
        take(p);
        push(p, expression(p));
        push(p, block(p, what));
        if (is(p, KP_TOKEN_IF))
            break; // the next statement
    }
    if (accept(p, KP_TOKEN_ELSE)) {
        push(p, NULL);
        push(p, block(p, "after 'else'"));
    }
    kp_list list = pop(p, base);
    n->u.branches.count = list.count / 2;
    n->u.branches.branches = KP_UNIT_NEW(p->unit, kp_branch, n->u.branches.count);
    for (uint32_t i = 0; i < n->u.branches.count; i++)
        n->u.branches.branches[i] = (kp_branch){.test = list.items[2 * i], .body = list.items[2 * i + 1]};
    return n;
}

static kp_node *loop_else(parser *p) { return accept(p, KP_TOKEN_ELSE) ? block(p, "after 'else'") : NULL; }

// while := 'while' expression block ['else' block]
static kp_node *while_statement(parser *p) {
    kp_node *n = node(p, KP_NODE_WHILE, take(p));
    n->u.loop.test = expression(p);
    n->u.loop.body = block(p, "after the condition of 'while'");
    n->u.loop.other = loop_else(p);
    return n;
}

// for := 'for' target 'in' expression block ['else' block]
static kp_node *for_statement(parser *p) {
    kp_node *n = node(p, KP_NODE_FOR, take(p));
    n->u.loop.target = primary(p);
    if (is(p, KP_TOKEN_COMMA))
        kp_error_at(p->unit, p->at, NULL, "a for loop of a kernel has one variable");
    expect(p, KP_TOKEN_IN, "after the variable of 'for'");
    n->u.loop.range = expression(p);
    n->u.loop.body = block(p, "after the range of 'for'");
    n->u.loop.other = loop_else(p);
    return n;
}

// assignment := expressions (':' expression ['=' expressions] | ('=' expressions)+ | OP'=' expressions)
static kp_node *assignment(parser *p) {
    kp_node *left = expressions(p);
    kp_node *n;
    if (is(p, KP_TOKEN_COLON)) {
        take(p);
        n = node(p, KP_NODE_ASSIGN, left->first);
        push(p, left);
        n->u.assign.targets = pop(p, p->item_count - 1);
        n->u.assign.annotation = expression(p);
        n->u.assign.value = accept(p, KP_TOKEN_ASSIGN) ? expressions(p) : NULL;
    } else if (is(p, KP_TOKEN_ASSIGN)) {
        n = node(p, KP_NODE_ASSIGN, left->first);
        uint32_t base = p->item_count;
        push(p, left);
        while (accept(p, KP_TOKEN_ASSIGN))
            push(p, expressions(p));
        n->u.assign.targets = pop(p, base);
        n->u.assign.value = n->u.assign.targets.items[--n->u.assign.targets.count];
    } else if (p->at->kind >= KP_TOKEN_PLUS_ASSIGN && p->at->kind <= KP_TOKEN_CARET_ASSIGN) {
        n = node(p, KP_NODE_AUGMENT, left->first);
        n->u.augment.at = take(p);
        n->u.augment.op = (kp_token_kind)(n->u.augment.at->kind - KP_TOKEN_PLUS_ASSIGN + KP_TOKEN_PLUS);
        n->u.augment.target = left;
        n->u.augment.value = expressions(p);
    } else {
        n = node(p, KP_NODE_EXPRESSION, left->first);
        n->u.operand = left;
    }
    return end_node(p, n);
}

static _Noreturn void refuse(parser *p) {
    const kp_token *token = p->at;
    const char *word = kp_lexer_spelling(token->kind);
    switch (token->kind) {
    case KP_TOKEN_DEF:
        kp_error_at(p->unit, token, NULL, "functions inside a kernel are not in the kernel language");
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
        kp_error_at(p->unit, token, NULL, "'%s' is not in the kernel language", word);
    }
}

// simple := 'pass' | 'break' | 'continue' | 'return' [expressions] | assignment
static kp_node *simple(parser *p) {
    kp_node *n;
    switch (p->at->kind) {
    case KP_TOKEN_PASS:
        n = node(p, KP_NODE_PASS, take(p));
        break;
    case KP_TOKEN_BREAK:
        n = node(p, KP_NODE_BREAK, take(p));
        break;
    case KP_TOKEN_CONTINUE:
        n = node(p, KP_NODE_CONTINUE, take(p));
        break;
    case KP_TOKEN_RETURN:
        n = node(p, KP_NODE_RETURN, take(p));
        if (!is(p, KP_TOKEN_NEWLINE) && !is(p, KP_TOKEN_SEMICOLON) && !is(p, KP_TOKEN_END))
            n->u.operand = expressions(p);
        end_node(p, n);
        break;
    default:
        n = assignment(p);
        break;
    }
    end_statement(p);
    return n;
}

// A soft keyword: "match x:" is a statement, "match = 3" is not.
static bool at_match(const parser *p) {
    return is(p, KP_TOKEN_NAME) && strcmp(p->at->name->text, "match") == 0 &&
           (p->at[1].kind == KP_TOKEN_NAME || p->at[1].kind == KP_TOKEN_INT);
}

// statement := if | while | for | simple
static kp_node *statement(parser *p) {
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
    case KP_TOKEN_GLOBAL:
    case KP_TOKEN_NONLOCAL:
    case KP_TOKEN_ASSERT:
    case KP_TOKEN_INDENT:
    case KP_TOKEN_ELIF:
    case KP_TOKEN_ELSE:
        refuse(p);
    case KP_TOKEN_ERROR:
        fault(p);
    default:
        if (at_match(p))
            kp_error_at(p->unit, p->at, NULL, "'match' is not in the kernel language; write if and elif");
        return simple(p);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions
// ---------------------------------------------------------------------------------------------------------------------

// parameter := NAME [':' expression] ['=' expression]
static kp_parameter parameter(parser *p) {
    if (is(p, KP_TOKEN_STAR) || is(p, KP_TOKEN_DOUBLE_STAR))
        kp_error_at(p->unit, p->at, NULL, "'%s' parameters are not in the kernel language",
                    kp_lexer_spelling(p->at->kind));
    if (is(p, KP_TOKEN_SLASH))
        kp_error_at(p->unit, p->at, NULL, "'/' among parameters is not in the kernel language");
    kp_parameter param = {.token = expect(p, KP_TOKEN_NAME, "as the name of a parameter")};
    if (accept(p, KP_TOKEN_COLON))
        param.annotation = expression(p);
    if (accept(p, KP_TOKEN_ASSIGN))
        param.value = expression(p);
    return param;
}

// parameters := '(' [parameter (',' parameter)* [',']] ')'
static void parameters(parser *p, kp_function *f) {
    const kp_token *open = expect(p, KP_TOKEN_LEFT_PAREN, "after the function's name");
    uint32_t capacity = 0;
    while (!is(p, KP_TOKEN_RIGHT_PAREN)) {
        if (f->parameter_count == capacity) {
            capacity = capacity == 0 ? FIRST_ITEMS : capacity * 2;
            kp_parameter *more = KP_UNIT_NEW(p->unit, kp_parameter, capacity);
            if (f->parameter_count != 0)
                memcpy(more, f->parameters, f->parameter_count * sizeof *more);
            f->parameters = more;
        }
        f->parameters[f->parameter_count++] = parameter(p);
        if (!accept(p, KP_TOKEN_COMMA))
            break;
    }
    close(p, KP_TOKEN_RIGHT_PAREN, open);
}

// Decorators are Python's business, but for local_size=... in the brackets of one.
static kp_node *decorators(parser *p, const kp_token *end) {
    kp_node *size = NULL;
    uint32_t depth = 0;
    while (p->at < end) {
        const kp_token *token = take(p);
        if (token->kind == KP_TOKEN_LEFT_PAREN || token->kind == KP_TOKEN_LEFT_BRACKET)
            depth++;
        else if (token->kind == KP_TOKEN_RIGHT_PAREN || token->kind == KP_TOKEN_RIGHT_BRACKET)
            depth--;
        else if (depth == 1 && token->kind == KP_TOKEN_NAME && is(p, KP_TOKEN_ASSIGN) &&
                 strcmp(token->name->text, "local_size") == 0) {
            take(p);
            size = expression(p);
        }
    }
    return size;
}

// function := decorators 'def' NAME parameters ['->' expression] block
kp_function *kp_parser_function_at(kp_unit *unit, const kp_parser_function *function) {
    parser p = {.unit = unit, .at = function->decorators != NULL ? function->decorators : function->start};
    kp_function *f = KP_UNIT_NEW(unit, kp_function, 1);
    f->local_size = decorators(&p, function->start);
    if (is(&p, KP_TOKEN_ASYNC))
        refuse(&p);
    take(&p);
    f->token = take(&p);
    if (is(&p, KP_TOKEN_LEFT_BRACKET))
        kp_error_at(unit, p.at, NULL, "type parameters are not in the kernel language");
    parameters(&p, f);
    if (accept(&p, KP_TOKEN_ARROW))
        f->returns = expression(&p);
    f->body = block(&p, "after the parameters");
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

// What hangs on a top-level line: 'f', 'g' or 0 for neither; *start is where a function begins.
static char kind_of_line(const kp_token *t) {
    if (t->kind == KP_TOKEN_ASYNC && t[1].kind == KP_TOKEN_DEF && t[2].kind == KP_TOKEN_NAME)
        return 'f';
    if (t->kind == KP_TOKEN_DEF && t[1].kind == KP_TOKEN_NAME)
        return 'f';
    return t->kind == KP_TOKEN_NAME && t[1].kind == KP_TOKEN_ASSIGN ? 'g' : 0;
}

static void count_lines(const kp_token *t, uint32_t *functions, uint32_t *globals) {
    for (; t->kind != KP_TOKEN_END; t = pass_line(t)) {
        while (t->kind == KP_TOKEN_DEDENT || t->kind == KP_TOKEN_INDENT)
            t++;
        char kind = kind_of_line(t);
        *functions += kind == 'f';
        *globals += kind == 'g';
        if (t->kind == KP_TOKEN_END)
            break;
    }
}

static kp_parser_function outline_function(const kp_token *start, const kp_token *decorators) {
    const kp_token *token = start + (start->kind == KP_TOKEN_ASYNC ? 2 : 1);
    return (kp_parser_function){.name = token->name, .decorators = decorators, .start = start, .token = token};
}

kp_parser_outline *kp_parser_find(kp_unit *unit, const kp_token *tokens) {
    uint32_t functions = 0, globals = 0;
    count_lines(tokens, &functions, &globals);
    kp_parser_outline *outline = KP_UNIT_NEW(unit, kp_parser_outline, 1);
    outline->functions = KP_UNIT_NEW(unit, kp_parser_function, functions);
    outline->globals = KP_UNIT_NEW(unit, kp_parser_global, globals);
    const kp_token *decorated = NULL;
    for (const kp_token *t = tokens; t->kind != KP_TOKEN_END; t = pass_line(t)) {
        while (t->kind == KP_TOKEN_DEDENT || t->kind == KP_TOKEN_INDENT)
            t++;
        char kind = kind_of_line(t);
        if (kind == 'f')
            outline->functions[outline->function_count++] = outline_function(t, decorated);
        else if (kind == 'g')
            outline->globals[outline->global_count++] = (kp_parser_global){.name = t->name, .value = t + 2};
        if (t->kind != KP_TOKEN_AT)
            decorated = NULL;
        else if (decorated == NULL)
            decorated = t;
        if (t->kind == KP_TOKEN_END)
            break;
    }
    return outline;
}

kp_node *kp_parser_global_at(kp_unit *unit, const kp_token *value) {
    parser p = {.unit = unit, .at = value};
    kp_node *n = expressions(&p);
    end_statement(&p);
    return n;
}

kp_node *kp_parser_text(kp_unit *unit, uint32_t start, uint32_t end, uint32_t line, uint32_t line_start) {
    parser p = {.unit = unit, .at = kp_lexer_run(unit, start, end, line, line_start, true)};
    kp_node *n = expressions(&p);
    if (is(&p, KP_TOKEN_ERROR))
        fault(&p);
    if (!is(&p, KP_TOKEN_END))
        kp_error_at(unit, p.at, NULL, "expected the end of the type, found %s", describe(&p));
    return n;
}
