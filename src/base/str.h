// A growing text. Failure is remembered, so that a writer checks once, at the end.
#ifndef KP_SRC_BASE_STR_H
#define KP_SRC_BASE_STR_H

#include "error.h"

typedef struct kp_str {
    char *data; // NUL-terminated once anything was added
    size_t length, capacity;
    bool failed; // out of memory: what was added since is lost
} kp_str;

// A zeroed kp_str is a good empty one.
void kp_str_add(kp_str *str, const char *text, size_t length);
void kp_str_format(kp_str *str, const char *format, ...) KP_PRINTF(2, 3);
char *kp_str_take(
    kp_str *str); // the text ("" when empty), now the caller's (kp_alloc_free); NULL when failed. str is empty again
void kp_str_free(kp_str *str);

#endif
