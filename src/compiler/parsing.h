// What the files of the parser share. See parser.h for what they do.
#ifndef KP_SRC_COMPILER_PARSING_H
#define KP_SRC_COMPILER_PARSING_H

#include "error.h"
#include "parser.h"

typedef struct kp_parser {
    kp_unit *unit;
    const kp_token *at; // the next token
    uint32_t depth;     // nested expressions and blocks
    kp_node **items;    // a stack of nodes for lists that are being read
    uint32_t item_count, item_capacity;
} kp_parser;

static inline bool is(const kp_parser *p, kp_token_kind kind) { return p->at->kind == kind; }

// END stays: reading past it is safe.
static inline const kp_token *take(kp_parser *p) {
    const kp_token *token = p->at;
    if (token->kind != KP_TOKEN_END)
        p->at++;
    return token;
}

static inline bool accept(kp_parser *p, kp_token_kind kind) {
    if (!is(p, kind))
        return false;
    take(p);
    return true;
}

// parser.c
const char *kp_parser_describe(kp_parser *p); // the next token, for a message
_Noreturn void kp_parser_fault(kp_parser *p); // the next token is an ERROR
const kp_token *kp_parser_expect(kp_parser *p, kp_token_kind kind, const char *where);
void kp_parser_close(kp_parser *p, kp_token_kind kind,
                     const kp_token *open); // the bracket that ends what `open` starts
void kp_parser_enter(kp_parser *p);         // one level deeper, up to a limit
void kp_parser_leave(kp_parser *p);
kp_node *kp_parser_node(kp_parser *p, kp_node_kind kind, const kp_token *first);
kp_node *kp_parser_end_node(kp_parser *p, kp_node *n); // it ends before the next token
void kp_parser_push(kp_parser *p, kp_node *n);         //
kp_list kp_parser_pop(kp_parser *p, uint32_t base);    // the items pushed since the stack was `base` high

// parser_expr.c
kp_node *kp_parser_expression(kp_parser *p);
kp_node *kp_parser_expressions(kp_parser *p); // with commas, a tuple
kp_node *kp_parser_primary(kp_parser *p);

// parser_stmt.c
kp_node *kp_parser_block(kp_parser *p, const char *what); // from its colon on; the first statement
void kp_parser_end_statement(kp_parser *p);

#endif
