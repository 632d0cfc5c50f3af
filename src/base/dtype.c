// Element types: the table of KP_DTYPES, looked up by value and by name.
#include <kp/base.h>

#include "error.h"

#include <string.h>

static const struct {
    size_t size;
    const char *lang;
    const char *numpy;
} rows[KP_DTYPE_COUNT] = {
#define KP_X(name, bytes, lang, numpy, format) [KP_##name] = {bytes, lang, numpy},
    KP_DTYPES(KP_X)
#undef KP_X
};

static bool is_dtype(kp_dtype dtype) { return (unsigned)dtype < (unsigned)KP_DTYPE_COUNT; }

size_t kp_dtype_size(kp_dtype dtype) { return is_dtype(dtype) ? rows[dtype].size : 0; }

const char *kp_dtype_name(kp_dtype dtype) { return is_dtype(dtype) ? rows[dtype].lang : "?"; }

kp_result kp_dtype_find(const char *name, kp_dtype *out) {
    if (name == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_dtype_find: %s is NULL", name == NULL ? "name" : "out");
    for (unsigned i = 0; i < KP_DTYPE_COUNT; i++) {
        if (strcmp(rows[i].lang, name) == 0 || strcmp(rows[i].numpy, name) == 0) {
            *out = (kp_dtype)i;
            return KP_OK;
        }
    }
    return kp_error_set(KP_ERROR_TYPE, "no element type is called '%s'", name);
}
