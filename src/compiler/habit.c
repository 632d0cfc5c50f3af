// See habit.h. The lists are searched in order: they are short, and only an error looks into them.
#include "habit.h"

#include "base/arena.h"
#include "texts.h"
#include "type.h"

#include <stdio.h>
#include <string.h>

typedef struct habit {
    const char *word, *hint;
} habit;

static const habit names[] = {
#define NAME(name, hint) {name, hint},
#include "habits.def"
    {NULL, NULL},
};

static const habit members[] = {
#define MEMBER(name, hint) {name, hint},
#include "habits.def"
    {NULL, NULL},
};

static const habit words[] = {
#define WORD(name, hint) {name, hint},
#include "habits.def"
    {NULL, NULL},
};

static const char *hint_of(kp_unit *unit, const habit *list, const char *word) {
    while (list->word != NULL && strcmp(list->word, word) != 0)
        list++;
    if (list->word == NULL)
        return "";
    char text[128];
    int length = snprintf(text, sizeof text, "; %s", list->hint);
    return kp_arena_text(&unit->arena, text, (size_t)length);
}

const char *kp_habit_name(kp_unit *unit, const char *name) { return hint_of(unit, names, name); }
const char *kp_habit_member(kp_unit *unit, const char *member) { return hint_of(unit, members, member); }
const char *kp_habit_word(kp_unit *unit, const char *word) { return hint_of(unit, words, word); }

// ---------------------------------------------------------------------------------------------------------------------
// Syntax: looked at as text, where the parser could not go on
// ---------------------------------------------------------------------------------------------------------------------

// Whether `what` stands right before the token, spaces aside, in the same line.
static bool follows(kp_unit *unit, const kp_token *token, const char *what) {
    uint32_t end = token->at, length = (uint32_t)strlen(what), start = kp_texts_line_of(unit, token).start;
    while (end > start && unit->text[end - 1] == ' ')
        end--;
    return end >= start + length && memcmp(unit->text + end - length, what, length) == 0;
}

static bool in_line_before(kp_unit *unit, const kp_token *token, const char *what) {
    uint32_t length = (uint32_t)strlen(what);
    for (uint32_t at = kp_texts_line_of(unit, token).start; at + length <= token->at; at++) {
        if (memcmp(unit->text + at, what, length) == 0)
            return true;
    }
    return false;
}

const char *kp_habit_comment(kp_unit *unit, const kp_token *token) {
    bool ends = token[1].kind == KP_TOKEN_NEWLINE || token[1].kind == KP_TOKEN_END;
    return ends && token->kind == KP_TOKEN_NAME && follows(unit, token, "//") ? "; a comment starts with '#'" : "";
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether a type stands right before the token; *start: where.
static bool follows_type(kp_unit *unit, uint32_t end, uint32_t *start) {
    const char *text = unit->text;
    char name[16];
    for (*start = end; *start > 0 && is_word(text[*start - 1]);)
        --*start;
    uint32_t length = end - *start;
    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, text + *start, length);
    name[length] = '\0';
    return kp_type_find(name) != NULL;
}

// C's "float x = 1" and "(float)x".
static const char *hint_of_type(kp_unit *unit, const kp_token *token) {
    uint32_t end = token->at, start, line = kp_texts_line_of(unit, token).start;
    while (end > line && unit->text[end - 1] == ' ')
        end--;
    if (end > line && unit->text[end - 1] == ')')
        return follows_type(unit, end - 1, &start) && start > line && unit->text[start - 1] == '('
                   ? "; a conversion is a call, as in f32(x)"
                   : "";
    if (token->kind != KP_TOKEN_NAME || !follows_type(unit, end, &start))
        return "";
    while (start > line && unit->text[start - 1] == ' ')
        start--;
    return start == line
               ? "; a variable takes its type from its value, as in x = 1.0, or behind its name, as in x: f32 = 1"
               : "";
}

// A word that starts a statement elsewhere, and in Python is a name.
static const char *hint_of_statement(kp_unit *unit, const kp_token *token) {
    static const habit statements[] = {
        {"print", "; write print(...)"},   {"elseif", "; write 'elif'"},         {"elsif", "; write 'elif'"},
        {"switch", "; write if and elif"}, {"goto", "; write if, while or for"}, {"let", "; write x = 1.0"},
        {"var", "; write x = 1.0"},        {"const", "; write x = 1.0"},         {"auto", "; write x = 1.0"},
    };
    const uint32_t line = kp_texts_line_of(unit, token).start;
    uint32_t start = line;
    while (unit->text[start] == ' ' || unit->text[start] == '\t')
        start++;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        size_t length = strlen(statements[i].word);
        if (start + length < token->at && strncmp(unit->text + start, statements[i].word, length) == 0 &&
            unit->text[start + length] == ' ' && follows(unit, token, statements[i].word))
            return statements[i].hint;
    }
    return "";
}

// Characters that look like one of Python's, as word processors and web pages have them, in UTF-8.
static const char *hint_of_character(const char *text) {
    static const struct {
        const char *bytes, *hint;
    } characters[] = {
        {"\xC2\xA0", "; write a plain space"},
        {"\xE2\x80\x89", "; write a plain space"},
        {"\xE2\x80\xAF", "; write a plain space"},
        {"\xE2\x80\x8B", "; it is a space without a width"},
        {"\xE2\x88\x92", "; write '-'"},
        {"\xE2\x80\x93", "; write '-'"},
        {"\xE2\x80\x94", "; write '-'"},
        {"\xC3\x97", "; write '*'"},
        {"\xC2\xB7", "; write '*'"},
        {"\xC3\xB7", "; write '/'"},
        {"\xE2\x89\xA4", "; write '<='"},
        {"\xE2\x89\xA5", "; write '>='"},
        {"\xE2\x89\xA0", "; write '!='"},
        {"\xC2\xB2", "; write ** 2"},
        {"\xE2\x80\x98", "; write '"},
        {"\xE2\x80\x99", "; write '"},
        {"\xE2\x80\x9C", "; write \""},
        {"\xE2\x80\x9D", "; write \""},
    };
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
        if (strncmp(text, characters[i].bytes, strlen(characters[i].bytes)) == 0)
            return characters[i].hint;
    }
    return "";
}

static const char *hint_of_fault(kp_unit *unit, const kp_token *token) {
    const char *text = unit->text + token->at;
    char last = token->length > 0 ? text[token->length - 1] : '\0';
    if (((unsigned char)*text & 0x80u) != 0)
        return hint_of_character(text);
    if (*text == '!')
        return "; write 'not'";
    if (*text == '?')
        return "; write a if c else b";
    if (*text >= '0' && *text <= '9' && (last == 'f' || last == 'F'))
        return "; write it without the f";
    if (*text >= '0' && *text <= '9' && (last == 'u' || last == 'U'))
        return "; write u32(...)";
    return "";
}

const char *kp_habit_syntax(kp_unit *unit, const kp_token *token) {
    switch ((kp_token_kind)token->kind) {
    case KP_TOKEN_ERROR:
        return hint_of_fault(unit, token);
    case KP_TOKEN_AMPERSAND:
        return follows(unit, token, "&") ? "; write 'and'" : "";
    case KP_TOKEN_BAR:
        return follows(unit, token, "|") ? "; write 'or'" : "";
    case KP_TOKEN_DOUBLE_SLASH:
        return "; a comment starts with '#'";
    case KP_TOKEN_STAR:
        return follows(unit, token, "/") ? "; a comment starts with '#'" : "";
    case KP_TOKEN_GREATER:
        return follows(unit, token, "<") ? "; write '!='" : "";
    case KP_TOKEN_LEFT_BRACE:
        return "; a block is indented below its ':', without braces";
    case KP_TOKEN_IF:
        return follows(unit, token, "else") ? "; write 'elif'" : "";
    case KP_TOKEN_ASSIGN:
        return "; '==' compares";
    default:
        break;
    }
    if (follows(unit, token, "++"))
        return "; write n += 1";
    if (follows(unit, token, "--"))
        return "; write n -= 1";
    const char *hint = hint_of_statement(unit, token);
    if (*hint == '\0')
        hint = hint_of_type(unit, token);
    if (*hint != '\0')
        return hint;
    return in_line_before(unit, token, "//") ? "; a comment starts with '#'" : "";
}
