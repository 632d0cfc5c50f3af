// See prints.h. Floats have the fewest digits that tell them from their neighbours, in Python's notation.
#include "prints.h"

#include "base/alloc.h"
#include "base/launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct record {
    uint32_t key;
    size_t at; // of its site
} record;

// ---------------------------------------------------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------------------------------------------------

// Does the text of a number mean this one among those of its type? `x` is one of them.
static bool means(const char *text, double x, kp_dtype dtype) {
    double y = strtod(text, NULL);
    if (dtype == KP_F64)
        return y == x;
    if (dtype == KP_F32)
        return strtof(text, NULL) == (float)x;
    int exponent;
    frexp(x, &exponent);
    double unit = ldexp(1.0, (exponent > -13 ? exponent : -13) - 11); // from one f16 to the next
    double off = fabs(y - x);
    return off < unit / 2 || (off == unit / 2 && (long long)(x / unit) % 2 == 0); // halves go to even
}

// Digits d.ddd and an exponent as Python writes them: 0.0001 to 9999999999999998.0 without one.
static void add_float(kp_str *out, double x, kp_dtype dtype) {
    if (x != x || x - x != 0) {
        kp_str_format(out, "%s", x != x ? "nan" : x > 0 ? "inf" : "-inf");
        return;
    }
    char text[40];
    int digits = 0;
    do
        snprintf(text, sizeof text, "%.*e", digits++, x);
    while (digits < 17 && !means(text, x, dtype));
    char *e = strchr(text, 'e');
    int exponent = atoi(e + 1);
    if (exponent >= 16 || exponent < -4) {
        kp_str_add(out, text, (size_t)(e - text));
        kp_str_format(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    int decimals = digits - 1 - exponent;
    if (decimals >= 1) {
        kp_str_format(out, "%.*f", decimals, strtod(text, NULL));
        return;
    }
    // All digits stand before the point: zeros fill the rest, as those of x would claim too much.
    const char *c = text;
    if (*c == '-')
        kp_str_add(out, c++, 1);
    for (int i = 0; i <= exponent; i++) {
        bool digit = c < e;
        kp_str_add(out, digit ? c : "0", 1);
        c += digit ? (c[1] == '.' ? 2 : 1) : 0;
    }
    kp_str_add(out, ".0", 2);
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void add_number(kp_str *out, kp_dtype dtype, const uint32_t *words) {
    bool wide = kp_dtype_size(dtype) == 8;
    uint64_t bits = wide ? words[0] | (uint64_t)words[1] << 32 : words[0];
    double x;
    switch (dtype) {
    case KP_BOOL:
        kp_str_format(out, "%s", bits != 0 ? "True" : "False");
        break;
    case KP_F16:
    case KP_F32:
        add_float(out, (double)float_of(words[0]), dtype);
        break;
    case KP_F64:
        memcpy(&x, &bits, sizeof x);
        add_float(out, x, dtype);
        break;
    case KP_U8:
    case KP_U16:
    case KP_U32:
    case KP_U64:
        kp_str_format(out, "%llu", (unsigned long long)bits);
        break;
    default:
        kp_str_format(out, "%lld", wide ? (long long)bits : (long long)(int32_t)words[0]);
        break;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Records
// ---------------------------------------------------------------------------------------------------------------------

static kp_dtype dtype_of(char letter) {
    static const char letters[] = {
#define KP_X(name, bytes, lang, numpy, format) [KP_##name] = format,
        KP_DTYPES(KP_X)
#undef KP_X
    };
    const char *found = memchr(letters, letter, sizeof letters);
    return found != NULL ? (kp_dtype)(found - letters) : KP_DTYPE_COUNT;
}

// A value of a format, "%f3": its type and the number of its components. False: it is none.
static bool read_value(const char *format, kp_dtype *dtype, uint32_t *components) {
    if (format[0] != '%' || format[1] == '\0' || format[2] < '1' || format[2] > '4')
        return false;
    *dtype = dtype_of(format[1]);
    *components = (uint32_t)(format[2] - '0');
    return *dtype != KP_DTYPE_COUNT;
}

static uint32_t words_of(kp_dtype dtype) { return kp_dtype_size(dtype) == 8 ? 2 : 1; }

// Words of a record with that format.
static size_t record_length(const char *format) {
    size_t length = 2;
    kp_dtype dtype;
    uint32_t components;
    for (const char *c = format; *c != '\0'; c++) {
        if (*c == '%' && c[1] == '%')
            c++;
        else if (read_value(c, &dtype, &components))
            length += words_of(dtype) * components;
    }
    return length;
}

// ivec2, u8vec3: as the language calls them.
static void add_vector_name(kp_str *out, kp_dtype dtype, uint32_t components) {
    static const char *const prefixes[KP_DTYPE_COUNT] = {
        [KP_F32] = "", [KP_F64] = "d", [KP_F16] = "h", [KP_I32] = "i", [KP_U32] = "u", [KP_BOOL] = "b"};
    if (prefixes[dtype] != NULL)
        kp_str_format(out, "%svec%u", prefixes[dtype], (unsigned)components);
    else
        kp_str_format(out, "%svec%u", kp_dtype_name(dtype), (unsigned)components);
}

static void add_value(kp_str *out, kp_dtype dtype, uint32_t components, const uint32_t *words) {
    if (components > 1) {
        add_vector_name(out, dtype, components);
        kp_str_add(out, "(", 1);
    }
    for (uint32_t i = 0; i < components; i++) {
        if (i > 0)
            kp_str_add(out, ", ", 2);
        add_number(out, dtype, words + i * words_of(dtype));
    }
    if (components > 1)
        kp_str_add(out, ")", 1);
}

static void add_record(kp_str *out, const char *format, const uint32_t *words) {
    kp_dtype dtype;
    uint32_t components;
    for (const char *c = format; *c != '\0'; c++) {
        if (*c == '%' && read_value(c, &dtype, &components)) {
            add_value(out, dtype, components, words);
            words += words_of(dtype) * components;
            c += 2;
        } else {
            c += *c == '%' && c[1] == '%';
            kp_str_add(out, c, 1);
        }
    }
}

// The print that a record is of. NULL: of none.
static const kp_reflect_site *site_of(const kp_reflect *reflect, uint32_t word) {
    const kp_reflect_site *site = word - 1 < reflect->site_count ? &reflect->sites[word - 1] : NULL;
    return site != NULL && site->kind == KP_LAUNCH_SITE_PRINT ? site : NULL;
}

static void add_place(kp_str *out, const kp_reflect_site *site) {
    if (out->length == 0 || out->data[out->length - 1] == '\n')
        kp_str_format(out, "%s:%u: %s: ", site->file, (unsigned)site->line, site->kernel);
}

// How many records there are; `records` gets them, if it is not NULL.
static size_t find_records(const kp_reflect *reflect, const uint32_t *words, size_t count, record *records) {
    size_t found = 0;
    for (size_t at = 0; at + 2 <= count; found++) {
        const kp_reflect_site *site = site_of(reflect, words[at]);
        size_t length = site != NULL ? record_length(site->text) : 0;
        if (site == NULL || length > count - at)
            break;
        if (records != NULL)
            records[found] = (record){.key = words[at + 1], .at = at};
        at += length;
    }
    return found;
}

static int by_key(const void *a, const void *b) {
    const record *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

bool kp_prints_format(const kp_reflect *reflect, const uint32_t *words, size_t count, bool places, kp_str *out) {
    size_t found = find_records(reflect, words, count, NULL);
    record *records = kp_alloc_zero(found, sizeof *records);
    if (records == NULL)
        return false;
    find_records(reflect, words, count, records);
    if (found != 0)
        qsort(records, found, sizeof *records, by_key);
    for (size_t i = 0; i < found; i++) {
        const uint32_t *at = words + records[i].at;
        const kp_reflect_site *site = site_of(reflect, at[0]);
        if (places)
            add_place(out, site);
        add_record(out, site->text, at + 2);
    }
    kp_alloc_free(records);
    return !out->failed;
}
