// Text to tokens. White space ends here: blocks are INDENT and DEDENT tokens, a logical line ends with NEWLINE.
#ifndef KP_SRC_COMPILER_LEXER_H
#define KP_SRC_COMPILER_LEXER_H

#include "unit.h"

typedef enum kp_token_kind {
#define TOKEN(name, text) KP_TOKEN_##name,
#define OPERATOR(name, text) KP_TOKEN_##name,
#define KEYWORD(name, text) KP_TOKEN_##name,
#include "tokens.def"
    KP_TOKEN_COUNT
} kp_token_kind;

// A name, interned: two names are the same when their pointers are.
typedef struct kp_name {
    const char *text; // NUL-terminated
    uint32_t length;
    uint32_t hash;
    struct kp_name *next; // in its bucket
    uint32_t index;       // 0, 1, 2 ... in the order of first appearance
} kp_name;

// Small, since a text has one for every three bytes or so; kp_texts_line_of tells its line.
typedef struct kp_token {
    union {
        kp_name *name;  // of a NAME
        uint32_t fault; // of an ERROR: what is wrong, see kp_lexer_fault
    };
    uint32_t at;          // bytes of kp_unit.text; length 0 for INDENT, DEDENT, END
    uint32_t length : 24; // a text is shorter than that, see texts.c
    uint32_t kind : 8;    // kp_token_kind
} kp_token;

// Turns the bytes [start, end) of the unit's text into tokens, ended by END. The first line's indentation is the base
// that others are measured from. `inside` reads as if in brackets (no NEWLINE, INDENT, DEDENT): for a type in a string.
// Never fails on account of the text: what is no token becomes an ERROR token, which matters only if it is parsed.
const kp_token *kp_lexer_run(kp_unit *unit, uint32_t start, uint32_t end, bool inside);

// Fails where the text is not UTF-8.
void kp_lexer_check_text(kp_unit *unit, const kp_text *text);

// Words for a message: "'+='", "name 'x'", "end of the line".
const char *kp_lexer_describe(kp_unit *unit, const kp_token *token);

// "+" for PLUS; "name" for NAME.
const char *kp_lexer_spelling(kp_token_kind kind);

// "'+'" for PLUS.
const char *kp_lexer_quoted(kp_token_kind kind);

// == or !=.
static inline bool kp_lexer_is_equality(kp_token_kind kind) {
    return kind == KP_TOKEN_EQUAL || kind == KP_TOKEN_NOT_EQUAL;
}

// What is wrong with an ERROR token.
const char *kp_lexer_fault(const kp_token *token);

kp_name *kp_lexer_intern(kp_unit *unit, const char *text, uint32_t length);

// The value of an INT, its bits from 2^63 on; false when it is above 2^64 - 1.
bool kp_lexer_int(const kp_unit *unit, const kp_token *token, int64_t *value);
double kp_lexer_float(const kp_unit *unit, const kp_token *token);

// The bytes inside the quotes of a STRING; false for one with escapes or a prefix.
bool kp_lexer_string(const kp_unit *unit, const kp_token *token, uint32_t *start, uint32_t *end);

#endif
