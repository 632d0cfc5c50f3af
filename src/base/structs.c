// See structs.h.
#include "structs.h"

#include "alloc.h"
#include "error.h"

#include <stdio.h>
#include <string.h>

enum { DEEPEST = 32 };

size_t kp_structs_text_size(const char *text) { return text != NULL ? strlen(text) + 1 : 0; }

void kp_structs_measure(const kp_struct *structure, kp_structs_size *size) {
    if (structure == NULL)
        return;
    size->structs += sizeof *structure + structure->field_count * sizeof *structure->fields;
    size->texts += kp_structs_text_size(structure->name);
    for (size_t i = 0; i < structure->field_count; i++) {
        const kp_field *field = &structure->fields[i];
        size->texts += kp_structs_text_size(field->name) + kp_structs_text_size(field->type);
        kp_structs_measure(field->structure, size);
    }
}

const char *kp_structs_put_text(kp_structs_at *at, const char *text) {
    if (text == NULL)
        return NULL;
    size_t size = kp_structs_text_size(text);
    const char *copy = memcpy(at->texts, text, size);
    at->texts += size;
    return copy;
}

const kp_struct *kp_structs_put(kp_structs_at *at, const kp_struct *from) {
    if (from == NULL)
        return NULL;
    kp_struct *structure = (kp_struct *)(void *)at->structs;
    kp_field *fields = (kp_field *)(structure + 1);
    at->structs = (char *)(fields + from->field_count);
    *structure = *from;
    structure->name = kp_structs_put_text(at, from->name);
    structure->fields = fields;
    for (size_t i = 0; i < from->field_count; i++) {
        fields[i] = from->fields[i];
        fields[i].name = kp_structs_put_text(at, from->fields[i].name);
        fields[i].type = kp_structs_put_text(at, from->fields[i].type);
        fields[i].structure = kp_structs_put(at, from->fields[i].structure);
    }
    return structure;
}

static kp_result check(const kp_struct *structure, const char *who, int depth) {
    if (structure->size == 0 || structure->field_count == 0 || structure->fields == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: a struct without %s", who,
                            structure->size == 0 ? "bytes" : "fields");
    if (depth > DEEPEST)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: structs inside of each other %d deep are the limit", who, DEEPEST);
    for (size_t i = 0; i < structure->field_count; i++) {
        const kp_field *field = &structure->fields[i];
        if (field->name == NULL || kp_dtype_size(field->dtype) == 0)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: fields[%zu] has no %s", who, i,
                                field->name == NULL ? "name" : "type");
        if (field->size == 0 || field->offset > structure->size || field->size > structure->size - field->offset)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: field '%s' has %u bytes at byte %u, its struct has %u", who,
                                field->name, field->size, field->offset, structure->size);
        kp_result result = field->structure != NULL ? check(field->structure, who, depth + 1) : KP_OK;
        if (result != KP_OK)
            return result;
    }
    return KP_OK;
}

kp_result kp_structs_copy(const kp_struct *from, const char *who, kp_struct **out) {
    kp_structs_size size = {0};
    kp_result result = check(from, who, 1);
    if (result != KP_OK)
        return result;
    kp_structs_measure(from, &size);
    char *block = kp_alloc_new(size.structs + size.texts);
    if (block == NULL)
        return kp_error_host_memory(size.structs + size.texts);
    kp_structs_at at = {.structs = block, .texts = block + size.structs};
    kp_structs_put(&at, from);
    *out = (kp_struct *)(void *)block;
    return KP_OK;
}

// "vec3", or else "3 x f32"
static const char *type_of(const kp_field *field, char text[64]) {
    unsigned scalars = field->components * (field->count != 0 ? field->count : 1);
    if (field->type != NULL)
        return field->type;
    const char *name = kp_dtype_name(field->dtype);
    if (field->structure != NULL)
        name = field->structure->name != NULL ? field->structure->name : "a struct"; // of a dtype, which has no name
    if (scalars == 1)
        snprintf(text, 64, "%.50s", name);
    else
        snprintf(text, 64, "%u x %.40s", scalars, name);
    return text;
}

static bool fields_differ(const kp_field *wanted, const kp_field *has, char *text, size_t size) {
    char wanted_text[64], has_text[64];
    uint64_t wants = (uint64_t)wanted->components * (wanted->count != 0 ? wanted->count : 1);
    uint64_t holds = (uint64_t)has->components * (has->count != 0 ? has->count : 1);
    bool types =
        wanted->dtype != has->dtype || wants != holds || (wanted->structure != NULL) != (has->structure != NULL);
    if (strcmp(wanted->name, has->name) != 0)
        snprintf(text, size, "the field after byte %u is '%.60s', not '%.60s'", wanted->offset, has->name,
                 wanted->name);
    else if (types)
        snprintf(text, size, "field '%.60s' is %.60s, not %.60s", has->name, type_of(has, has_text),
                 type_of(wanted, wanted_text));
    else if (wanted->offset != has->offset)
        snprintf(text, size, "field '%.60s' is at byte %u, not %u", has->name, has->offset, wanted->offset);
    else
        return wanted->structure != NULL && kp_structs_differ(wanted->structure, has->structure, text, size);
    return true;
}

bool kp_structs_differ(const kp_struct *wanted, const kp_struct *has, char *text, size_t size) {
    size_t count = wanted->field_count < has->field_count ? wanted->field_count : has->field_count;
    for (size_t i = 0; i < count; i++) {
        if (fields_differ(&wanted->fields[i], &has->fields[i], text, size))
            return true;
    }
    if (wanted->field_count > count)
        snprintf(text, size, "there is no field '%.60s'", wanted->fields[count].name);
    else if (has->field_count > count)
        snprintf(text, size, "there is a field '%.60s' more", has->fields[count].name);
    else if (wanted->size != has->size)
        snprintf(text, size, "it has %u bytes, not %u", has->size, wanted->size);
    else
        return false;
    return true;
}
