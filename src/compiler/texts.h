// The texts of a compile: put into one, so that every token is an offset into it and knows where it comes from.
#ifndef KP_SRC_COMPILER_TEXTS_H
#define KP_SRC_COMPILER_TEXTS_H

#include "lexer.h"

void kp_texts_gather(kp_unit *unit,
                     const char *source); // fills unit->text and unit->texts; fails where one is no UTF-8
kp_text *kp_texts_of(const kp_unit *unit, const kp_token *token);

const kp_text *kp_texts_add_library(kp_unit *unit); // library.py, behind the others; once, after the types were read

// The line that a token starts in.
typedef struct kp_texts_line {
    kp_text *text;
    uint32_t number; // as users count them
    uint32_t start;  // where it starts in kp_unit.text
} kp_texts_line;

kp_texts_line kp_texts_line_of(kp_unit *unit, const kp_token *token);
uint32_t kp_texts_mark(const char *text, uint32_t length); // bytes of the byte order mark that a text starts with

kp_text *kp_texts_type(const kp_unit *unit, uint32_t module, size_t param); // module 0: desc; n: desc->functions[n - 1]

kp_text *kp_texts_named(const kp_unit *unit, uint32_t module, size_t name); // the type that a name from outside is

#endif
