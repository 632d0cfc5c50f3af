// See habit.h. The lists are searched in order: they are short, and only an error looks into them.
#include "habit.h"

#include "base/arena.h"
#include "texts.h"

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

static const char *hint_of_fault(kp_unit *unit, const kp_token *token) {
    const char *text = unit->text + token->at;
    char last = token->length > 0 ? text[token->length - 1] : '\0';
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
    return in_line_before(unit, token, "//") ? "; a comment starts with '#'" : "";
}
