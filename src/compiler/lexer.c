// See lexer.h. One pass over the bytes into a growing array. The state is a stack of indentation columns and the depth
// of brackets, as in CPython's tokenizer; tabs go to the next multiple of 8, and a second column that counts a tab as
// one character tells whether two lines' indentations can be compared at all.
#include "lexer.h"

#include "error.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_INDENT = 100, TAB = 8, FIRST_BUCKETS = 128, LONGEST_NUMBER = 1000 };

typedef enum fault {
    FAULT_NONE,
    FAULT_CHARACTER,
    FAULT_NOT_ASCII,
    FAULT_STRING,
    FAULT_DEDENT,
    FAULT_TABS,
    FAULT_DEPTH,
    FAULT_BRACKET,
    FAULT_NUMBER,
    FAULT_LEADING_ZERO,
    FAULT_UNDERSCORE,
    FAULT_COMPLEX,
    FAULT_BACKSLASH,
} fault;

static const char *const fault_words[] = {
    [FAULT_NONE] = "",
    [FAULT_CHARACTER] = "this character is not part of the kernel language",
    [FAULT_NOT_ASCII] = "names in a kernel are made of the letters a-z and A-Z, digits and '_' only",
    [FAULT_STRING] = "this string has no end",
    [FAULT_DEDENT] = "this indentation matches no line above",
    [FAULT_TABS] = "tabs and spaces are mixed here in a way that leaves the indentation open; use spaces",
    [FAULT_DEPTH] = "too many levels of indentation; the limit is 100",
    [FAULT_BRACKET] = "this bracket closes nothing",
    [FAULT_NUMBER] = "this is not a number",
    [FAULT_LEADING_ZERO] = "a decimal integer cannot start with 0; an octal one starts with 0o",
    [FAULT_UNDERSCORE] = "'_' in a number stands between two digits",
    [FAULT_COMPLEX] = "complex numbers are not in the kernel language",
    [FAULT_BACKSLASH] = "a backslash that continues a line is the last character of that line",
};

static const char *const spellings[] = {
#define TOKEN(name, text) [KP_TOKEN_##name] = text,
#define OPERATOR(name, text) [KP_TOKEN_##name] = text,
#define KEYWORD(name, text) [KP_TOKEN_##name] = text,
#include "tokens.def"
};

static const char *const quoted[] = {
#define TOKEN(name, text) [KP_TOKEN_##name] = "'" text "'",
#define OPERATOR(name, text) [KP_TOKEN_##name] = "'" text "'",
#define KEYWORD(name, text) [KP_TOKEN_##name] = "'" text "'",
#include "tokens.def"
};

typedef struct indent {
    uint32_t column, narrow; // with tabs to the next multiple of 8, and with tabs as 1
} indent;

typedef struct lexer {
    kp_unit *unit;
    const char *text;
    uint32_t at, end; // bytes of text
    uint32_t line_start;
    uint32_t depth; // open brackets
    bool inside;    // read as if in brackets throughout
    indent indents[DEEPEST_INDENT];
    uint32_t indent_count;
    kp_token *tokens;
    size_t count, capacity;
} lexer;

// ---------------------------------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------------------------------

struct kp_names {
    kp_name **buckets;
    uint32_t count, capacity; // capacity is a power of two
};

static void rehash(kp_unit *unit, struct kp_names *names, uint32_t capacity) {
    kp_name **buckets = KP_UNIT_NEW(unit, kp_name *, capacity);
    for (uint32_t i = 0; i < names->capacity; i++) {
        for (kp_name *name = names->buckets[i], *next; name != NULL; name = next) {
            next = name->next;
            name->next = buckets[name->hash & (capacity - 1)];
            buckets[name->hash & (capacity - 1)] = name;
        }
    }
    names->buckets = buckets;
    names->capacity = capacity;
}

static uint32_t hash_of(const char *text, uint32_t length) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

kp_name *kp_lexer_intern(kp_unit *unit, const char *text, uint32_t length) {
    struct kp_names *names = unit->names;
    if (names == NULL) {
        names = unit->names = KP_UNIT_NEW(unit, struct kp_names, 1);
        rehash(unit, names, FIRST_BUCKETS);
    }
    uint32_t hash = hash_of(text, length);
    for (kp_name *name = names->buckets[hash & (names->capacity - 1)]; name != NULL; name = name->next) {
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return name;
    }
    if (names->count == names->capacity)
        rehash(unit, names, names->capacity * 2);
    kp_name *name = KP_UNIT_NEW(unit, kp_name, 1);
    kp_name **bucket = &names->buckets[hash & (names->capacity - 1)];
    *name = (kp_name){.text = kp_arena_text(&unit->arena, text, length),
                      .length = length,
                      .hash = hash,
                      .next = *bucket,
                      .index = names->count++};
    *bucket = name;
    return name;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tokens
// ---------------------------------------------------------------------------------------------------------------------

static kp_token *add(lexer *l, kp_token_kind kind, uint32_t at, uint32_t length) {
    if (l->count == l->capacity) {
        size_t capacity = l->capacity * 2;
        kp_token *tokens = kp_arena_raw(&l->unit->arena, capacity * sizeof *tokens);
        memcpy(tokens, l->tokens, l->count * sizeof *tokens);
        l->tokens = tokens;
        l->capacity = capacity;
    }
    kp_token *token = &l->tokens[l->count++];
    *token = (kp_token){.at = at, .length = length & 0xFFFFFF, .kind = (uint8_t)kind};
    return token;
}

static void add_fault(lexer *l, fault what, uint32_t at, uint32_t length) {
    add(l, KP_TOKEN_ERROR, at, length)->fault = what;
}

static char peek(const lexer *l, uint32_t ahead) { return l->at + ahead < l->end ? l->text[l->at + ahead] : '\0'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c); }
static bool is_wide(char c) { return ((unsigned char)c & 0x80u) != 0; }
static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Steps over "\n", "\r\n" or "\r".
static void pass_line_end(lexer *l) {
    l->at += peek(l, 0) == '\r' && peek(l, 1) == '\n' ? 2 : 1;
    l->line_start = l->at;
}

static kp_token_kind keyword(const char *text, uint32_t length) {
    int low = KP_TOKEN_FALSE, high = KP_TOKEN_YIELD;
    while (low <= high) {
        int middle = (low + high) / 2;
        const char *word = spellings[middle];
        int order = text[0] != word[0] ? text[0] - word[0] : strncmp(text, word, length);
        if (order == 0 && word[length] != '\0')
            order = -1;
        if (order == 0)
            return (kp_token_kind)middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return KP_TOKEN_NAME;
}

static bool is_quote(char c) { return c == '"' || c == '\''; }

// True where a string starts, with a prefix such as rb; *length is that of the prefix.
static bool at_string(const lexer *l, uint32_t *length) {
    for (*length = 0; *length < 3; ++*length) {
        char c = peek(l, *length);
        if (is_quote(c))
            return true;
        c |= 0x20;
        if (c != 'r' && c != 'b' && c != 'u' && c != 'f' && c != 't')
            return false;
    }
    return false;
}

static void lex_string(lexer *l, uint32_t prefix) {
    uint32_t start = l->at;
    l->at += prefix;
    char quote = peek(l, 0);
    bool triple = peek(l, 1) == quote && peek(l, 2) == quote;
    l->at += triple ? 3 : 1;
    for (bool closed = false; !closed;) {
        char c = peek(l, 0);
        if (l->at >= l->end || (is_line_end(c) && !triple)) {
            add_fault(l, FAULT_STRING, start, l->at - start);
            return;
        }
        if (is_line_end(c)) {
            pass_line_end(l);
        } else if (c == '\\' && l->at + 1 < l->end) {
            l->at++;
            if (is_line_end(peek(l, 0)))
                pass_line_end(l);
            else
                l->at++;
        } else if (c == quote && (!triple || (peek(l, 1) == quote && peek(l, 2) == quote))) {
            l->at += triple ? 3 : 1;
            closed = true;
        } else {
            l->at++;
        }
    }
    add(l, KP_TOKEN_STRING, start, l->at - start);
}

// Bytes of a character that starts here and is no letter: a sign, punctuation or a space beyond ASCII; 0: it is none.
static uint32_t sign_length(const lexer *l) {
    unsigned char a = (unsigned char)peek(l, 0), b = (unsigned char)peek(l, 1);
    bool two = a == 0xC2 || (a == 0xC3 && (b == 0x97 || b == 0xB7)); // up to U+00BF; the signs of times and division
    return two ? 2 : a == 0xE2 && b >= 0x80 && b < 0xB0 ? 3 : 0;     // U+2000 to U+2BFF
}

static void lex_name(lexer *l) {
    uint32_t start = l->at, sign = sign_length(l);
    if (sign != 0) {
        l->at += sign;
        add_fault(l, FAULT_CHARACTER, start, sign);
        return;
    }
    bool wide = false;
    while (is_word(peek(l, 0)) || (is_wide(peek(l, 0)) && sign_length(l) == 0)) {
        wide |= is_wide(peek(l, 0));
        l->at++;
    }
    if (wide) {
        add_fault(l, FAULT_NOT_ASCII, start, l->at - start);
        return;
    }
    kp_token_kind kind = keyword(l->text + start, l->at - start);
    kp_token *token = add(l, kind, start, l->at - start);
    if (kind == KP_TOKEN_NAME)
        token->name = kp_lexer_intern(l->unit, l->text + start, l->at - start);
}

static bool is_digit_of(char c, unsigned base) {
    if (base == 16)
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    return c >= '0' && (unsigned)(c - '0') < base;
}

// Steps over digits with single underscores between them; false for an underscore elsewhere, or when there is no digit.
static bool pass_digits(lexer *l, unsigned base) {
    bool good = is_digit_of(peek(l, 0), base);
    for (;;) {
        if (is_digit_of(peek(l, 0), base)) {
            l->at++;
        } else if (peek(l, 0) == '_') {
            good &= is_digit_of(peek(l, 1), base);
            l->at++;
        } else {
            return good;
        }
    }
}

// The part of a number that makes it a float: a fraction, an exponent. *good: as pass_digits.
static bool pass_fraction(lexer *l, bool *good) {
    bool is_float = false;
    if (peek(l, 0) == '.') {
        is_float = true;
        l->at++;
        if (is_digit(peek(l, 0)))
            *good &= pass_digits(l, 10);
    }
    char sign = peek(l, 1);
    if ((peek(l, 0) | 0x20) == 'e' && (is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(peek(l, 2))))) {
        is_float = true;
        l->at += is_digit(sign) ? 1 : 2;
        *good &= pass_digits(l, 10);
    }
    return is_float;
}

static void lex_number(lexer *l) {
    uint32_t start = l->at;
    char second = (char)(peek(l, 1) | 0x20);
    unsigned base = peek(l, 0) != '0' ? 10 : second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 10;
    bool good = true, is_float = false;
    if (base != 10) {
        l->at += peek(l, 2) == '_' ? 3 : 2; // "0x_ff" is legal
        good = pass_digits(l, base);
    } else {
        if (peek(l, 0) != '.')
            good = pass_digits(l, 10);
        is_float = pass_fraction(l, &good);
    }
    fault what = good ? FAULT_NONE : FAULT_UNDERSCORE;
    if (is_word(peek(l, 0)) || is_wide(peek(l, 0))) {
        what = (peek(l, 0) | 0x20) == 'j' && !is_word(peek(l, 1)) ? FAULT_COMPLEX : FAULT_NUMBER;
        while (is_word(peek(l, 0)) || is_wide(peek(l, 0)))
            l->at++;
    } else if (what == FAULT_UNDERSCORE && memchr(l->text + start, '_', l->at - start) == NULL) {
        what = FAULT_NUMBER; // "0x"
    } else if (what == FAULT_NONE && base == 10 && !is_float && l->text[start] == '0') {
        for (uint32_t i = start; i < l->at; i++)
            what = l->text[i] != '0' && l->text[i] != '_' ? FAULT_LEADING_ZERO : what;
    }
    if (what != FAULT_NONE)
        add_fault(l, what, start, l->at - start);
    else
        add(l, is_float ? KP_TOKEN_FLOAT : KP_TOKEN_INT, start, l->at - start);
}

// The operator that starts here, the longest one.
static kp_token_kind operator_at(const lexer *l) {
    char a = peek(l, 0), b = peek(l, 1), c = peek(l, 2);
    bool eq = b == '=', twice = a == b, twice_eq = twice && c == '=';
    switch (a) {
    case '+':
        return eq ? KP_TOKEN_PLUS_ASSIGN : KP_TOKEN_PLUS;
    case '-':
        return eq ? KP_TOKEN_MINUS_ASSIGN : b == '>' ? KP_TOKEN_ARROW : KP_TOKEN_MINUS;
    case '*':
        return twice_eq ? KP_TOKEN_DOUBLE_STAR_ASSIGN
               : twice  ? KP_TOKEN_DOUBLE_STAR
               : eq     ? KP_TOKEN_STAR_ASSIGN
                        : KP_TOKEN_STAR;
    case '/':
        return twice_eq ? KP_TOKEN_DOUBLE_SLASH_ASSIGN
               : twice  ? KP_TOKEN_DOUBLE_SLASH
               : eq     ? KP_TOKEN_SLASH_ASSIGN
                        : KP_TOKEN_SLASH;
    case '%':
        return eq ? KP_TOKEN_PERCENT_ASSIGN : KP_TOKEN_PERCENT;
    case '@':
        return eq ? KP_TOKEN_AT_ASSIGN : KP_TOKEN_AT;
    case '<':
        return twice_eq ? KP_TOKEN_LEFT_SHIFT_ASSIGN
               : twice  ? KP_TOKEN_LEFT_SHIFT
               : eq     ? KP_TOKEN_LESS_EQUAL
                        : KP_TOKEN_LESS;
    case '>':
        return twice_eq ? KP_TOKEN_RIGHT_SHIFT_ASSIGN
               : twice  ? KP_TOKEN_RIGHT_SHIFT
               : eq     ? KP_TOKEN_GREATER_EQUAL
                        : KP_TOKEN_GREATER;
    case '&':
        return eq ? KP_TOKEN_AMPERSAND_ASSIGN : KP_TOKEN_AMPERSAND;
    case '|':
        return eq ? KP_TOKEN_BAR_ASSIGN : KP_TOKEN_BAR;
    case '^':
        return eq ? KP_TOKEN_CARET_ASSIGN : KP_TOKEN_CARET;
    case '~':
        return KP_TOKEN_TILDE;
    case '=':
        return eq ? KP_TOKEN_EQUAL : KP_TOKEN_ASSIGN;
    case '!':
        return eq ? KP_TOKEN_NOT_EQUAL : KP_TOKEN_ERROR;
    case '(':
        return KP_TOKEN_LEFT_PAREN;
    case ')':
        return KP_TOKEN_RIGHT_PAREN;
    case '[':
        return KP_TOKEN_LEFT_BRACKET;
    case ']':
        return KP_TOKEN_RIGHT_BRACKET;
    case '{':
        return KP_TOKEN_LEFT_BRACE;
    case '}':
        return KP_TOKEN_RIGHT_BRACE;
    case ',':
        return KP_TOKEN_COMMA;
    case ':':
        return eq ? KP_TOKEN_WALRUS : KP_TOKEN_COLON;
    case ';':
        return KP_TOKEN_SEMICOLON;
    case '.':
        return b == '.' && c == '.' ? KP_TOKEN_ELLIPSIS : KP_TOKEN_DOT;
    default:
        return KP_TOKEN_ERROR;
    }
}

static void lex_operator(lexer *l) {
    kp_token_kind kind = operator_at(l);
    const char *text = spellings[kind];
    uint32_t length = text[1] == '\0' ? 1 : text[2] == '\0' ? 2 : 3;
    if (kind == KP_TOKEN_ERROR) {
        add_fault(l, FAULT_CHARACTER, l->at++, 1);
        return;
    }
    if (kind == KP_TOKEN_LEFT_PAREN || kind == KP_TOKEN_LEFT_BRACKET || kind == KP_TOKEN_LEFT_BRACE)
        l->depth++;
    if (kind == KP_TOKEN_RIGHT_PAREN || kind == KP_TOKEN_RIGHT_BRACKET || kind == KP_TOKEN_RIGHT_BRACE) {
        if (l->depth == 0) {
            add_fault(l, FAULT_BRACKET, l->at, length);
            l->at += length;
            return;
        }
        l->depth--;
    }
    add(l, kind, l->at, length);
    l->at += length;
}

// ---------------------------------------------------------------------------------------------------------------------
// Lines
// ---------------------------------------------------------------------------------------------------------------------

// Steps over the white space at the start of a line; false when nothing but a comment follows.
static bool measure(lexer *l, indent *width) {
    *width = (indent){0};
    for (;; l->at++) {
        char c = peek(l, 0);
        if (c == ' ') {
            width->column++;
            width->narrow++;
        } else if (c == '\t') {
            width->column = (width->column / TAB + 1) * TAB;
            width->narrow++;
        } else if (c == '\f') {
            *width = (indent){0};
        } else {
            return l->at < l->end && c != '#' && !is_line_end(c) &&
                   !(c == '\\' && is_line_end(peek(l, 1))); // "\" on a line of its own: the next line decides
        }
    }
}

static void indent_line(lexer *l, indent width) {
    if (l->indent_count == 0) { // the first line: the base
        l->indents[l->indent_count++] = width;
        return;
    }
    indent *top = &l->indents[l->indent_count - 1];
    if (width.column == top->column) {
        if (width.narrow != top->narrow)
            add_fault(l, FAULT_TABS, l->line_start, l->at - l->line_start);
        return;
    }
    if (width.column > top->column) {
        if (width.narrow <= top->narrow)
            add_fault(l, FAULT_TABS, l->line_start, l->at - l->line_start);
        else if (l->indent_count == DEEPEST_INDENT)
            add_fault(l, FAULT_DEPTH, l->line_start, l->at - l->line_start);
        else {
            l->indents[l->indent_count++] = width;
            add(l, KP_TOKEN_INDENT, l->at, 0);
        }
        return;
    }
    while (l->indent_count > 1 && l->indents[l->indent_count - 1].column > width.column) {
        l->indent_count--;
        add(l, KP_TOKEN_DEDENT, l->at, 0);
    }
    top = &l->indents[l->indent_count - 1];
    if (top->column != width.column)
        add_fault(l, FAULT_DEDENT, l->line_start, l->at - l->line_start);
    else if (top->narrow != width.narrow)
        add_fault(l, FAULT_TABS, l->line_start, l->at - l->line_start);
}

static bool in_brackets(const lexer *l) { return l->inside || l->depth > 0; }

// Ends the logical line, unless it is empty.
static void end_line(lexer *l) {
    if (l->count == 0)
        return;
    uint8_t last = l->tokens[l->count - 1].kind;
    if (last != KP_TOKEN_NEWLINE && last != KP_TOKEN_INDENT && last != KP_TOKEN_DEDENT)
        add(l, KP_TOKEN_NEWLINE, l->at, 0);
}

// One token, or the white space before one.
static void lex_one(lexer *l) {
    char c = peek(l, 0);
    uint32_t prefix;
    if (c == ' ' || c == '\t' || c == '\f') {
        l->at++;
    } else if (c == '#') {
        while (l->at < l->end && !is_line_end(peek(l, 0)))
            l->at++;
    } else if (c == '\\') {
        l->at++;
        if (is_line_end(peek(l, 0)))
            pass_line_end(l);
        else
            add_fault(l, FAULT_BACKSLASH, l->at - 1, 1);
    } else if (at_string(l, &prefix)) {
        lex_string(l, prefix);
    } else if (is_letter(c) || is_wide(c)) {
        lex_name(l);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
        lex_number(l);
    } else {
        lex_operator(l);
    }
}

const kp_token *kp_lexer_run(kp_unit *unit, uint32_t start, uint32_t end, bool inside) {
    lexer *l = KP_UNIT_NEW(unit, lexer, 1);
    l->unit = unit;
    l->text = unit->text;
    l->at = l->line_start = start + kp_texts_mark(unit->text + start, end - start);
    l->end = end;
    l->inside = inside;
    l->capacity = (end - start) / 2 + 16; // most texts need less
    l->tokens = kp_arena_raw(&unit->arena, l->capacity * sizeof *l->tokens);
    bool fresh = !inside; // at the start of a line whose indentation counts
    while (l->at < l->end) {
        indent width;
        if (fresh && measure(l, &width))
            indent_line(l, width);
        fresh = false;
        if (l->at >= l->end)
            break;
        if (!is_line_end(peek(l, 0))) {
            lex_one(l);
        } else if (in_brackets(l)) {
            pass_line_end(l);
        } else {
            end_line(l);
            pass_line_end(l);
            fresh = true;
        }
    }
    if (!in_brackets(l)) {
        end_line(l);
        for (; l->indent_count > 1; l->indent_count--)
            add(l, KP_TOKEN_DEDENT, l->at, 0);
    }
    add(l, KP_TOKEN_END, l->at, 0);
    unit->arena.least = l->count * KP_UNIT_A_TOKEN;
    return l->tokens;
}

// Bytes of the UTF-8 character at `text`; 0 where there is none.
static uint32_t character_length(const char *text) {
    const unsigned char *b = (const unsigned char *)text; // NUL-terminated, and a NUL continues nothing
    if (b[0] < 0x80)
        return 1;
    if (b[0] < 0xC2 || b[0] > 0xF4 || (b[1] & 0xC0) != 0x80)
        return 0;
    if (b[0] < 0xE0)
        return 2;
    bool overlong = (b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xF0 && b[1] < 0x90);
    bool beyond = (b[0] == 0xED && b[1] >= 0xA0) || (b[0] == 0xF4 && b[1] >= 0x90);
    if (overlong || beyond || (b[2] & 0xC0) != 0x80)
        return 0;
    if (b[0] < 0xF0)
        return 3;
    return (b[3] & 0xC0) == 0x80 ? 4 : 0;
}

void kp_lexer_check_text(kp_unit *unit, const kp_text *text) {
    kp_token here = {.at = text->at, .length = 1};
    for (uint32_t length; here.at < text->at + text->length; here.at += length) {
        length = character_length(unit->text + here.at);
        if (length == 0)
            kp_error_at(unit, &here, NULL, "the source is not UTF-8 here");
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What tokens say
// ---------------------------------------------------------------------------------------------------------------------

const char *kp_lexer_quoted(kp_token_kind kind) { return quoted[kind]; }

const char *kp_lexer_spelling(kp_token_kind kind) { return spellings[kind]; }

const char *kp_lexer_fault(const kp_token *token) { return fault_words[token->fault]; }

const char *kp_lexer_describe(kp_unit *unit, const kp_token *token) {
    enum { LONGEST = 40 };
    char text[LONGEST + 32];
    int shown = token->length < LONGEST ? (int)token->length : LONGEST;
    switch (token->kind) {
    case KP_TOKEN_END:
    case KP_TOKEN_NEWLINE:
    case KP_TOKEN_DEDENT:
        return spellings[token->kind];
    case KP_TOKEN_INDENT:
        return "an indented block";
    case KP_TOKEN_STRING:
        return "a string";
    case KP_TOKEN_NAME:
    case KP_TOKEN_INT:
    case KP_TOKEN_FLOAT:
    default:
        snprintf(text, sizeof text, "'%.*s'", shown, unit->text + token->at);
        return kp_arena_text(&unit->arena, text, strlen(text));
    }
}

static unsigned digit_value(char c) { return is_digit(c) ? (unsigned)(c - '0') : (unsigned)(c | 0x20) - 'a' + 10; }

bool kp_lexer_int(const kp_unit *unit, const kp_token *token, int64_t *value) {
    const char *text = unit->text + token->at;
    unsigned base = 10;
    uint32_t i = 0;
    if (token->length > 2 && text[0] == '0' && is_letter(text[1]) && text[1] != '_') {
        base = (text[1] | 0x20) == 'x' ? 16 : (text[1] | 0x20) == 'o' ? 8 : 2;
        i = 2;
    }
    uint64_t sum = 0;
    for (; i < token->length; i++) {
        if (text[i] == '_')
            continue;
        unsigned digit = digit_value(text[i]);
        if (sum > (UINT64_MAX - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = (int64_t)sum;
    return true;
}

// strtod obeys the locale's decimal point, so the text handed to it has none: "3.25e2" becomes "325e0".
double kp_lexer_float(const kp_unit *unit, const kp_token *token) {
    char digits[LONGEST_NUMBER + 32];
    const char *text = unit->text + token->at;
    size_t count = 0;
    long scale = 0, exponent = 0; // digits dropped from or behind the point; what follows the e
    bool behind = false, seen = false;
    uint32_t i = 0;
    for (; i < token->length && (text[i] | 0x20) != 'e'; i++) {
        if (text[i] == '.') {
            behind = true;
        } else if (text[i] != '_') {
            seen |= text[i] != '0';
            bool keep = seen && count < LONGEST_NUMBER; // more digits than decide any rounding
            if (keep)
                digits[count++] = text[i];
            scale += behind ? -(long)(keep || !seen) : (long)(seen && !keep);
        }
    }
    if (count == 0)
        return 0.0;
    bool negative = ++i < token->length && text[i] == '-';
    for (; i < token->length; i++) {
        if (is_digit(text[i]) && exponent < 100000000)
            exponent = exponent * 10 + (text[i] - '0');
    }
    snprintf(digits + count, 32, "e%ld", scale + (negative ? -exponent : exponent));
    return strtod(digits, NULL);
}

bool kp_lexer_string(const kp_unit *unit, const kp_token *token, uint32_t *start, uint32_t *end) {
    const char *text = unit->text + token->at;
    if (!is_quote(text[0]) || memchr(text, '\\', token->length) != NULL)
        return false;
    uint32_t quotes = token->length >= 6 && text[1] == text[0] && text[2] == text[0] ? 3 : 1;
    *start = token->at + quotes;
    *end = token->at + token->length - quotes;
    return true;
}
