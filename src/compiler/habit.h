// Hints for what people bring from elsewhere (habits.def): each is the end of a message, "; write barrier()", and ""
// where there is nothing to say.
#ifndef KP_SRC_COMPILER_HABIT_H
#define KP_SRC_COMPILER_HABIT_H

#include "lexer.h"

const char *kp_habit_name(kp_unit *unit, const char *name);         // a name, a function or a type that there is not
const char *kp_habit_member(kp_unit *unit, const char *member);     // what stands behind a dot
const char *kp_habit_word(kp_unit *unit, const char *word);         // a word of Python
const char *kp_habit_comment(kp_unit *unit, const kp_token *token); // a name that ends the line, behind "//"
const char *kp_habit_syntax(kp_unit *unit, const kp_token *token);  // where the parser cannot go on

#endif
