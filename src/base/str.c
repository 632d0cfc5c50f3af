// See str.h.
#include "str.h"

#include "alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool reserve(kp_str *str, size_t more) {
    if (str->failed || more >= SIZE_MAX / 2 - str->length) {
        str->failed = true;
        return false;
    }
    size_t need = str->length + more + 1;
    if (str->data != NULL && need <= str->capacity)
        return true;
    size_t capacity = str->capacity < 64 ? 64 : str->capacity * 2;
    if (capacity < need)
        capacity = need;
    char *data = kp_alloc_resize(str->data, capacity);
    if (data == NULL) {
        str->failed = true;
        return false;
    }
    str->data = data;
    str->capacity = capacity;
    return true;
}

void kp_str_add(kp_str *str, const char *text, size_t length) {
    if (!reserve(str, length))
        return;
    memcpy(str->data + str->length, text, length);
    str->length += length;
    str->data[str->length] = '\0';
}

void kp_str_format(kp_str *str, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        str->failed = true;
    else if (reserve(str, (size_t)length)) {
        vsnprintf(str->data + str->length, (size_t)length + 1, format, again);
        str->length += (size_t)length;
    }
    va_end(again);
}

char *kp_str_take(kp_str *str) {
    if (!str->failed && str->data == NULL)
        kp_str_add(str, "", 0);
    char *data = str->failed ? NULL : str->data;
    if (data == NULL)
        kp_alloc_free(str->data);
    *str = (kp_str){0};
    return data;
}

void kp_str_free(kp_str *str) {
    kp_alloc_free(str->data);
    *str = (kp_str){0};
}
