// Expressions: each function is headed by its rule of Python's grammar. A run of left-associative operators is a loop
// and may be as long as it likes; what nests is counted (kp_parser_enter).
#include "habit.h"
#include "parsing.h"

// number := INT | FLOAT
static kp_node *number(kp_parser *p) {
    const kp_token *token = take(p);
    kp_node *n = kp_parser_node(p, KP_NODE_CONST, token);
    if (token->kind == KP_TOKEN_FLOAT) {
        n->type = kp_type_float_literal();
        n->u.value.f = kp_lexer_float(p->unit, token);
    } else {
        n->type = kp_type_int_literal();
        if (!kp_lexer_int(p->unit, token, &n->u.value.i))
            kp_error_at(p->unit, token, NULL, "this integer is too large; the limit is 2**64 - 1");
        if (n->u.value.i < 0) // 2**63 or more, which nothing else holds
            n->type = kp_type_scalar(KP_U64);
    }
    return n;
}

static kp_node *truth(kp_parser *p) {
    const kp_token *token = take(p);
    kp_node *n = kp_parser_node(p, KP_NODE_CONST, token);
    n->type = kp_type_scalar(KP_BOOL);
    n->u.value.i = token->kind == KP_TOKEN_TRUE;
    return n;
}

// string := STRING+; its value is of use in annotations and as a docstring only
static kp_node *string(kp_parser *p) {
    kp_node *n = kp_parser_node(p, KP_NODE_STRING, p->at);
    do {
        char c = p->unit->text[p->at->at], d = p->unit->text[p->at->at + 1];
        if ((c | 0x20) == 'f' || ((d | 0x20) == 'f' && (c | 0x20) == 'r'))
            kp_error_at(
                p->unit, p->at, NULL,
                "f-strings are not in the kernel language; print takes values beside texts, as in print('x is', x)");
        take(p);
    } while (is(p, KP_TOKEN_STRING));
    return kp_parser_end_node(p, n);
}

// items := [expression (',' expression)* [',']], up to the closing bracket; *comma: there was one
static void push_items(kp_parser *p, kp_token_kind end, bool *comma) {
    *comma = false;
    while (!is(p, end)) {
        if (is(p, KP_TOKEN_STAR) || is(p, KP_TOKEN_DOUBLE_STAR))
            kp_error_at(p->unit, p->at, NULL, "'%s' before a value is not in the kernel language",
                        kp_lexer_spelling(p->at->kind));
        kp_parser_push(p, kp_parser_expression(p));
        if (!accept(p, KP_TOKEN_COMMA))
            break;
        *comma = true;
    }
}

// group := '(' items ')': one expression without a comma is itself, all else a tuple
static kp_node *group(kp_parser *p) {
    const kp_token *open = take(p);
    bool comma;
    uint32_t base = p->item_count;
    push_items(p, KP_TOKEN_RIGHT_PAREN, &comma);
    kp_parser_close(p, KP_TOKEN_RIGHT_PAREN, open);
    kp_list list = kp_parser_pop(p, base);
    if (list.count == 1 && !comma) {
        list.items[0]->first = open;
        return kp_parser_end_node(p, list.items[0]);
    }
    kp_node *n = kp_parser_node(p, KP_NODE_TUPLE, open);
    n->u.list = list;
    return kp_parser_end_node(p, n);
}

static kp_node *junction(kp_parser *p, kp_token_kind op);

// comprehension := '[' expression 'for' NAME 'in' expression ']', from the 'for' on
static kp_node *comprehension(kp_parser *p, const kp_token *open, kp_node *element) {
    kp_node *n = kp_parser_node(p, KP_NODE_COMPREHENSION, open);
    take(p);
    n->u.comprehension.element = element;
    n->u.comprehension.variable = kp_parser_expect(p, KP_TOKEN_NAME, "after 'for'")->name;
    kp_parser_expect(p, KP_TOKEN_IN, "after the variable of 'for'");
    n->u.comprehension.range = junction(p, KP_TOKEN_OR);
    if (is(p, KP_TOKEN_IF) || is(p, KP_TOKEN_FOR))
        kp_error_at(p->unit, p->at, NULL, "a comprehension of a kernel has one 'for' and no 'if'; its length is fixed");
    kp_parser_close(p, KP_TOKEN_RIGHT_BRACKET, open);
    return kp_parser_end_node(p, n);
}

// list := '[' items ']' | comprehension
static kp_node *list(kp_parser *p) {
    const kp_token *open = take(p);
    bool comma = true;
    kp_node *n = kp_parser_node(p, KP_NODE_LIST, open);
    uint32_t base = p->item_count;
    if (!is(p, KP_TOKEN_RIGHT_BRACKET) && !is(p, KP_TOKEN_STAR)) {
        kp_node *first = kp_parser_expression(p);
        if (is(p, KP_TOKEN_FOR))
            return comprehension(p, open, first);
        kp_parser_push(p, first);
        comma = accept(p, KP_TOKEN_COMMA);
    }
    if (comma)
        push_items(p, KP_TOKEN_RIGHT_BRACKET, &comma);
    kp_parser_close(p, KP_TOKEN_RIGHT_BRACKET, open);
    n->u.list = kp_parser_pop(p, base);
    return kp_parser_end_node(p, n);
}

// atom := NAME | number | string | 'True' | 'False' | 'None' | group | list
static kp_node *atom(kp_parser *p) {
    const kp_token *token = p->at;
    switch (token->kind) {
    case KP_TOKEN_NAME: {
        kp_node *n = kp_parser_node(p, KP_NODE_NAME, take(p));
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
        return kp_parser_node(p, KP_NODE_NONE, take(p));
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
    case KP_TOKEN_YIELD:
    case KP_TOKEN_AWAIT:
        kp_error_at(p->unit, token, NULL, "'%s' is not in the kernel language%s", kp_lexer_spelling(token->kind),
                    kp_habit_word(p->unit, kp_lexer_spelling(token->kind)));
    case KP_TOKEN_ERROR:
        kp_parser_fault(p);
    default:
        kp_error_at(p->unit, token, NULL, "expected an expression, found %s%s", kp_parser_describe(p),
                    kp_habit_syntax(p->unit, token));
    }
}

// argument := [NAME '='] expression
static kp_node *argument(kp_parser *p) {
    if (is(p, KP_TOKEN_STAR) || is(p, KP_TOKEN_DOUBLE_STAR))
        kp_error_at(p->unit, p->at, NULL, "'%s' arguments are not in the kernel language",
                    kp_lexer_spelling(p->at->kind));
    if (!is(p, KP_TOKEN_NAME) || p->at[1].kind != KP_TOKEN_ASSIGN)
        return kp_parser_expression(p);
    kp_node *n = kp_parser_node(p, KP_NODE_KEYWORD, p->at);
    n->u.keyword.name = take(p)->name;
    take(p);
    n->u.keyword.value = kp_parser_expression(p);
    return kp_parser_end_node(p, n);
}

// call := primary '(' [argument (',' argument)* [',']] ')'
static kp_node *call(kp_parser *p, kp_node *callee) {
    const kp_token *open = take(p);
    kp_node *n = kp_parser_node(p, KP_NODE_CALL, callee->first);
    uint32_t base = p->item_count;
    while (!is(p, KP_TOKEN_RIGHT_PAREN)) {
        kp_parser_push(p, argument(p));
        if (!accept(p, KP_TOKEN_COMMA))
            break;
    }
    kp_parser_close(p, KP_TOKEN_RIGHT_PAREN, open);
    n->u.call.callee = callee;
    n->u.call.list = kp_parser_pop(p, base);
    return kp_parser_end_node(p, n);
}

// subscript := primary '[' expression (',' expression)* [','] ']'
static kp_node *subscript(kp_parser *p, kp_node *object) {
    const kp_token *open = take(p);
    kp_node *n = kp_parser_node(p, KP_NODE_SUBSCRIPT, object->first);
    n->u.subscript.object = object;
    if (is(p, KP_TOKEN_COLON))
        kp_error_at(p->unit, p->at, NULL, "slices are not in the kernel language; index one element");
    if (is(p, KP_TOKEN_ELLIPSIS))
        kp_error_at(p->unit, p->at, NULL, "'...' is not in the kernel language; index one element");
    const kp_token *start = p->at;
    kp_node *index = kp_parser_expression(p);
    if (is(p, KP_TOKEN_COLON))
        kp_error_at(p->unit, p->at, NULL, "slices are not in the kernel language; index one element");
    if (is(p, KP_TOKEN_COMMA)) {
        uint32_t base = p->item_count;
        kp_parser_push(p, index);
        while (accept(p, KP_TOKEN_COMMA) && !is(p, KP_TOKEN_RIGHT_BRACKET))
            kp_parser_push(p, kp_parser_expression(p));
        index = kp_parser_node(p, KP_NODE_TUPLE, start);
        index->u.list = kp_parser_pop(p, base);
        kp_parser_end_node(p, index);
    }
    kp_parser_close(p, KP_TOKEN_RIGHT_BRACKET, open);
    n->u.subscript.index = index;
    return kp_parser_end_node(p, n);
}

static kp_node *attribute(kp_parser *p, kp_node *object) {
    take(p);
    kp_node *n = kp_parser_node(p, KP_NODE_ATTRIBUTE, object->first);
    n->u.attribute.object = object;
    n->u.attribute.at = kp_parser_expect(p, KP_TOKEN_NAME, "after '.'");
    n->u.attribute.name = n->u.attribute.at->name;
    return kp_parser_end_node(p, n);
}

// primary := atom ('.' NAME | call | subscript)*
kp_node *kp_parser_primary(kp_parser *p) {
    kp_node *n = atom(p);
    uint32_t depth = p->depth;
    for (;;) {
        kp_parser_enter(p); // a chain is a tree as deep as it is long
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

static kp_node *unary(kp_parser *p);

static kp_node *binary_node(kp_parser *p, uint8_t op, kp_node *left, kp_node *right) {
    kp_node *n = kp_parser_node(p, KP_NODE_BINARY, left->first);
    n->op = op;
    n->u.binary.left = left;
    n->u.binary.right = right;
    n->more = (uint32_t)(kp_ast_last(right) - n->first);
    return n;
}

// power := primary ['**' unary]
static kp_node *power(kp_parser *p) {
    kp_node *left = kp_parser_primary(p);
    if (!is(p, KP_TOKEN_DOUBLE_STAR))
        return left;
    take(p);
    kp_parser_enter(p);
    kp_node *right = unary(p);
    kp_parser_leave(p);
    return binary_node(p, KP_TOKEN_DOUBLE_STAR, left, right);
}

// unary := ('+' | '-' | '~') unary | power
static kp_node *unary(kp_parser *p) {
    if (!is(p, KP_TOKEN_PLUS) && !is(p, KP_TOKEN_MINUS) && !is(p, KP_TOKEN_TILDE))
        return power(p);
    kp_node *n = kp_parser_node(p, KP_NODE_UNARY, p->at);
    n->op = take(p)->kind;
    kp_parser_enter(p);
    n->u.operand = unary(p);
    kp_parser_leave(p);
    return kp_parser_end_node(p, n);
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
static kp_node *binary(kp_parser *p, int least) {
    kp_node *left = unary(p);
    for (int level; (level = precedence(p->at->kind)) >= least;) {
        uint8_t op = take(p)->kind;
        left = binary_node(p, op, left, binary(p, level + 1));
    }
    return left;
}

static bool is_comparison(const kp_parser *p) {
    return p->at->kind >= KP_TOKEN_LESS && p->at->kind <= KP_TOKEN_NOT_EQUAL;
}

static bool is_member(const kp_parser *p) {
    return is(p, KP_TOKEN_IN) || (is(p, KP_TOKEN_NOT) && p->at[1].kind == KP_TOKEN_IN);
}

// member := binary ['not'] 'in' binary
static kp_node *member(kp_parser *p, kp_node *first) {
    kp_node *n = kp_parser_node(p, KP_NODE_COMPARE, first->first);
    kp_list list = {.items = KP_UNIT_NEW(p->unit, kp_node *, 2), .count = 2};
    n->u.compare.ops = KP_UNIT_NEW(p->unit, kp_token_kind, 1);
    n->u.compare.ops[0] = p->at->kind;
    if (take(p)->kind == KP_TOKEN_NOT)
        take(p);
    list.items[0] = first;
    list.items[1] = binary(p, 1);
    n->u.compare.list = list;
    if (is_comparison(p) || is_member(p))
        kp_error_at(p->unit, p->at, NULL, "'in' is not chained with other comparisons; join them with 'and'");
    return kp_parser_end_node(p, n);
}

// comparison := binary (('<' | '>' | '<=' | '>=' | '==' | '!=') binary)* | member
static kp_node *comparison(kp_parser *p) {
    kp_node *first = binary(p, 1);
    if (is(p, KP_TOKEN_IS))
        kp_error_at(p->unit, p->at, NULL, "'is' is not in the kernel language%s", kp_habit_word(p->unit, "is"));
    if (is_member(p))
        return member(p, first);
    if (!is_comparison(p))
        return first;
    kp_node *n = kp_parser_node(p, KP_NODE_COMPARE, first->first);
    const kp_token *start = p->at;
    uint32_t base = p->item_count;
    kp_parser_push(p, first);
    while (is_comparison(p)) {
        take(p);
        kp_parser_push(p, binary(p, 1));
    }
    if (is_member(p))
        kp_error_at(p->unit, p->at, NULL, "'in' is not chained with other comparisons; join them with 'and'");
    kp_list list = kp_parser_pop(p, base);
    kp_token_kind *ops = KP_UNIT_NEW(p->unit, kp_token_kind, list.count - 1);
    ops[0] = start->kind;
    for (uint32_t i = 1; i + 1 < list.count; i++)
        ops[i] = kp_ast_last(list.items[i])[1].kind;
    n->u.compare.list = list;
    n->u.compare.ops = ops;
    return kp_parser_end_node(p, n);
}

// negation := 'not' negation | comparison
static kp_node *negation(kp_parser *p) {
    if (!is(p, KP_TOKEN_NOT))
        return comparison(p);
    kp_node *n = kp_parser_node(p, KP_NODE_UNARY, p->at);
    n->op = take(p)->kind;
    kp_parser_enter(p);
    n->u.operand = negation(p);
    kp_parser_leave(p);
    return kp_parser_end_node(p, n);
}

// conjunction := negation ('and' negation)*        disjunction := conjunction ('or' conjunction)*
static kp_node *junction(kp_parser *p, kp_token_kind op) {
    kp_node *first = op == KP_TOKEN_OR ? junction(p, KP_TOKEN_AND) : negation(p);
    if (!is(p, op))
        return first;
    kp_node *n = kp_parser_node(p, KP_NODE_BOOL, first->first);
    uint32_t base = p->item_count;
    kp_parser_push(p, first);
    while (accept(p, op))
        kp_parser_push(p, op == KP_TOKEN_OR ? junction(p, KP_TOKEN_AND) : negation(p));
    n->u.list = kp_parser_pop(p, base);
    n->op = (uint8_t)op;
    return kp_parser_end_node(p, n);
}

// expression := disjunction ['if' disjunction 'else' expression]
kp_node *kp_parser_expression(kp_parser *p) {
    kp_parser_enter(p);
    kp_node *yes = junction(p, KP_TOKEN_OR);
    if (is(p, KP_TOKEN_IF)) {
        take(p);
        kp_node *n = kp_parser_node(p, KP_NODE_COND, yes->first);
        n->u.cond.yes = yes;
        n->u.cond.test = junction(p, KP_TOKEN_OR);
        kp_parser_expect(p, KP_TOKEN_ELSE, "of the conditional expression");
        n->u.cond.no = kp_parser_expression(p);
        yes = kp_parser_end_node(p, n);
    }
    kp_parser_leave(p);
    return yes;
}

// expressions := expression (',' expression)* [',']; with a comma, a tuple
kp_node *kp_parser_expressions(kp_parser *p) {
    if (is(p, KP_TOKEN_STAR))
        kp_error_at(p->unit, p->at, NULL, "'*' before a name is not in the kernel language");
    kp_node *first = kp_parser_expression(p);
    if (!is(p, KP_TOKEN_COMMA))
        return first;
    kp_node *n = kp_parser_node(p, KP_NODE_TUPLE, first->first);
    uint32_t base = p->item_count;
    kp_parser_push(p, first);
    while (accept(p, KP_TOKEN_COMMA)) {
        if (is(p, KP_TOKEN_STAR))
            kp_error_at(p->unit, p->at, NULL, "'*' before a name is not in the kernel language");
        if (is(p, KP_TOKEN_NEWLINE) || is(p, KP_TOKEN_ASSIGN) || is(p, KP_TOKEN_IN) || is(p, KP_TOKEN_SEMICOLON))
            break;
        kp_parser_push(p, kp_parser_expression(p));
    }
    n->u.list = kp_parser_pop(p, base);
    return kp_parser_end_node(p, n);
}
