// See header.h. Words, parameters and the kp_program of a kernel.
#include "header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void header_add(header_text *t, const char *more) {
    size_t length = strlen(more);
    if (t->data == NULL)
        return;
    if (t->length + length + 1 > t->capacity) {
        char *bigger = realloc(t->data, t->capacity = (t->length + length + 1) * 2);
        if (bigger == NULL)
            free(t->data);
        t->data = bigger;
        if (bigger == NULL)
            return;
    }
    memcpy(t->data + t->length, more, length + 1);
    t->length += length;
}

static void add_words(header_text *t, const uint32_t *words, size_t count, const char *symbol, const char *end) {
    char piece[64];
    header_add(t, "static const uint32_t ");
    header_add(t, symbol);
    header_add(t, end);
    header_add(t, "[] = {");
    for (size_t i = 0; i < count; i++) {
        snprintf(piece, sizeof piece, "%s0x%08xu,", i % 8 == 0 ? "\n    " : " ", (unsigned)words[i]);
        header_add(t, piece);
    }
    header_add(t, "\n};\n\n");
}

static void add_alternatives(header_text *t, const kp_program *program, const char *symbol) {
    char end[32], piece[64];
    for (size_t i = 0; i < program->alternative_count; i++) {
        const kp_alternative *a = &program->alternatives[i];
        snprintf(end, sizeof end, "_words_%zu", i + 1);
        add_words(t, a->words, a->word_count, symbol, end);
    }
    header_add(t, "// needs, words, word_count\nstatic const kp_alternative ");
    header_add(t, symbol);
    header_add(t, "_alternatives[] = {\n");
    for (size_t i = 0; i < program->alternative_count; i++) {
        snprintf(piece, sizeof piece, "    {%u, ", (unsigned)program->alternatives[i].needs);
        header_add(t, piece);
        header_add(t, symbol);
        snprintf(piece, sizeof piece, "_words_%zu, %zu},\n", i + 1, program->alternatives[i].word_count);
        header_add(t, piece);
    }
    header_add(t, "};\n\n");
}

static const char *kind_name(kp_param_kind kind) {
    switch (kind) {
    case KP_PARAM_BUFFER:
        return "KP_PARAM_BUFFER";
    case KP_PARAM_UNIFORM:
        return "KP_PARAM_UNIFORM";
    case KP_PARAM_CONSTANT:
        return "KP_PARAM_CONSTANT";
    case KP_PARAM_SPEC:
        return "KP_PARAM_SPEC";
    case KP_PARAM_IMAGE:
        return "KP_PARAM_IMAGE";
    case KP_PARAM_TEXTURE:
        return "KP_PARAM_TEXTURE";
    case KP_PARAM_SAMPLER:
        return "KP_PARAM_SAMPLER";
    case KP_PARAM_INPUT:
        break;
    }
    return "KP_PARAM_INPUT";
}

const char *header_dtype(kp_dtype dtype) {
    switch (dtype) {
#define KP_X(name, bytes, lang, numpy, format) \
    case KP_##name:                            \
        return "KP_" #name;
        KP_DTYPES(KP_X)
#undef KP_X
    case KP_DTYPE_COUNT:
        break;
    }
    return "KP_F32";
}

void header_quoted(header_text *t, const char *s) {
    for (; *s != '\0'; s++)
        header_add(t, *s == '"' ? "\\\"" : (const char[]){*s, '\0'});
}

static void add_params(header_text *t, const kp_program *program, const char *symbol) {
    char piece[256];
    header_add(t, "// name, type, kind, dtype, components, set, binding, offset, size, reads, writes, spec_id, "
                  "optional, default_bits, ndim, shape_offset, format, structure, fills\nstatic const kp_param ");
    header_add(t, symbol);
    header_add(t, "_params[] = {\n");
    for (size_t i = 0; i < program->param_count; i++) {
        const kp_param *p = &program->params[i];
        header_add(t, "    {\"");
        header_add(t, p->name);
        header_add(t, "\", \"");
        header_quoted(t, p->type);
        snprintf(piece, sizeof piece, "\", %s, %s, %u, %u, %u, %u, %u, %s, %s, %u, %s, 0x%llxu, %u, %u, ",
                 kind_name(p->kind), header_dtype(p->dtype), (unsigned)p->components, (unsigned)p->set,
                 (unsigned)p->binding, (unsigned)p->offset, (unsigned)p->size, p->reads ? "true" : "false",
                 p->writes ? "true" : "false", (unsigned)p->spec_id, p->optional ? "true" : "false",
                 (unsigned long long)p->default_bits, (unsigned)p->ndim, (unsigned)p->shape_offset);
        header_add(t, piece);
        header_add(t, p->format != NULL ? "\"" : "NULL");
        header_add(t, p->format != NULL ? p->format : "");
        header_add(t, p->format != NULL ? "\", " : ", ");
        header_struct_address(t, p->structure, program->name, p->name);
        header_add(t, p->fills ? ", true},\n" : ", false},\n");
    }
    header_add(t, "};\n\n");
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

header_text header_new(void) {
    header_text t = {.data = malloc(1 << 16), .capacity = 1 << 16};
    if (t.data != NULL)
        t.data[0] = '\0';
    return t;
}

// A header may be included twice.
void header_begin(header_text *t, const char *file) {
    header_add(t, "// Made by kpc from ");
    header_add(t, base_name(file));
    header_add(t, ".\n#pragma once\n#include <kp/base.h>\n");
}

void header_program(header_text *t, const kp_program *program, const char *symbol) {
    char piece[256];
    header_add(t, "\n// The kernel ");
    header_add(t, program->name);
    header_add(t, ".\n");
    add_words(t, program->words, program->word_count, symbol, "_words");
    if (program->alternative_count != 0)
        add_alternatives(t, program, symbol);
    for (size_t i = 0; i < program->param_count; i++)
        header_struct(t, program->params[i].structure, program->name, program->params[i].name);
    if (program->param_count != 0)
        add_params(t, program, symbol);
    header_add(t,
               "// words, word_count, name, params, param_count, push_size, local_size, subgroup_size, alternatives, "
               "alternative_count\nstatic const kp_program ");
    header_add(t, symbol);
    header_add(t, " = {\n    ");
    header_add(t, symbol);
    snprintf(piece, sizeof piece, "_words, %zu, \"", program->word_count);
    header_add(t, piece);
    header_add(t, program->name);
    header_add(t, "\", ");
    header_add(t, program->param_count != 0 ? symbol : "NULL");
    snprintf(piece, sizeof piece, "%s, %zu, %u, {%u, %u, %u}, %u, ", program->param_count != 0 ? "_params" : "",
             program->param_count, (unsigned)program->push_size, (unsigned)program->local_size[0],
             (unsigned)program->local_size[1], (unsigned)program->local_size[2], (unsigned)program->subgroup_size);
    header_add(t, piece);
    header_add(t, program->alternative_count != 0 ? symbol : "NULL");
    snprintf(piece, sizeof piece, "%s, %zu,\n};\n", program->alternative_count != 0 ? "_alternatives" : "",
             program->alternative_count);
    header_add(t, piece);
}
