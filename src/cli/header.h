// kpc's C headers: programs as constants, and structs as C has them.
#ifndef KP_SRC_CLI_HEADER_H
#define KP_SRC_CLI_HEADER_H

#include <kp/base.h>

#include <stdbool.h>

// A text that grows; `data` is NULL once memory has run out.
typedef struct header_text {
    char *data;
    size_t length, capacity;
} header_text;

header_text header_new(void);
void header_add(header_text *t, const char *more);
void header_quoted(header_text *t, const char *s);   // what stands between the quotes of a string in C
void header_begin(header_text *t, const char *file); // what it is made from
void header_program(header_text *t, const kp_program *program, const char *symbol);

const char *header_dtype(kp_dtype dtype); // "KP_F32"

// header_struct.c
bool header_is_name(const char *text); // whether something in C can be called that

// A struct without a name of its own is called after what it is in, `owner` and `member`.
void header_struct(header_text *t, const kp_struct *structure, const char *owner, const char *member); // NULL: nothing
void header_struct_address(header_text *t, const kp_struct *structure, const char *owner,
                           const char *member); // of its kp_struct, or NULL

#endif
