// See header.h. A struct becomes a C struct, whose size and offsets the C compiler is made to check, and a kp_struct
// that describes it. Both stand under a guard, since several headers may have the same struct; the checks stand
// outside, so that another struct of the same name does not go unnoticed.
#include "header.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 256 };

static bool is_word(const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_';
        if (!letter && !(*at >= '0' && *at <= '9' && at != text))
            return false;
    }
    return text[0] != '\0';
}

// Words of C and C++ that are names in Python.
static const char *const reserved[] = {
    "alignas",       "alignof",     "and_eq",     "asm",       "auto",      "bitand",
    "bitor",         "bool",        "case",       "catch",     "char",      "char16_t",
    "char32_t",      "char8_t",     "co_await",   "co_return", "co_yield",  "compl",
    "concept",       "const",       "const_cast", "consteval", "constexpr", "constinit",
    "decltype",      "default",     "delete",     "do",        "double",    "dynamic_cast",
    "enum",          "explicit",    "export",     "extern",    "false",     "float",
    "friend",        "goto",        "inline",     "int",       "long",      "mutable",
    "namespace",     "new",         "noexcept",   "not_eq",    "nullptr",   "operator",
    "or_eq",         "private",     "protected",  "public",    "register",  "reinterpret_cast",
    "requires",      "restrict",    "short",      "signed",    "sizeof",    "static",
    "static_assert", "static_cast", "struct",     "switch",    "template",  "this",
    "thread_local",  "throw",       "true",       "typedef",   "typeid",    "typename",
    "typeof",        "union",       "unsigned",   "using",     "virtual",   "void",
    "volatile",      "wchar_t",     "xor",        "xor_eq",
};

// What such a name has behind it in C.
static const char *tail_of(const char *name) {
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(reserved[i], name) == 0)
            return "_";
    }
    return "";
}

bool header_is_name(const char *text) { return is_word(text) && tail_of(text)[0] == '\0'; }

// The name of the C struct.
static void name_of(const kp_struct *structure, const char *owner, const char *member, char name[LONGEST]) {
    if (is_word(structure->name))
        snprintf(name, LONGEST, "%.250s%s", structure->name, tail_of(structure->name));
    else
        snprintf(name, LONGEST, "%.120s_%.120s", owner, member);
}

static const char *c_type(kp_dtype dtype) {
    switch (dtype) {
    case KP_F32:
        return "float";
    case KP_F64:
        return "double";
    case KP_F16: // its bits
    case KP_U16:
        return "uint16_t";
    case KP_I8:
        return "int8_t";
    case KP_I16:
        return "int16_t";
    case KP_I32:
        return "int32_t";
    case KP_I64:
        return "int64_t";
    case KP_U8:
        return "uint8_t";
    case KP_U32:
        return "uint32_t";
    case KP_U64:
        return "uint64_t";
    case KP_BOOL:
        return "bool";
    case KP_DTYPE_COUNT:
        break;
    }
    return "float";
}

static void add_field(header_text *t, const kp_field *field, const char *owner) {
    char name[LONGEST], piece[64];
    if (field->structure != NULL)
        name_of(field->structure, owner, field->name, name);
    header_add(t, "    ");
    header_add(t, field->structure != NULL ? name : c_type(field->dtype));
    header_add(t, " ");
    header_add(t, field->name);
    header_add(t, tail_of(field->name));
    if (field->count > 1) {
        snprintf(piece, sizeof piece, "[%u]", (unsigned)field->count);
        header_add(t, piece);
    }
    if (field->components > 1) {
        snprintf(piece, sizeof piece, "[%u]", (unsigned)field->components);
        header_add(t, piece);
    }
    header_add(t, "; // ");
    header_add(t, field->type);
    header_add(t, "\n");
}

static void add_row(header_text *t, const kp_field *field, const char *owner) {
    char piece[160];
    header_add(t, "    {\"");
    header_add(t, field->name);
    header_add(t, "\", \"");
    header_quoted(t, field->type);
    snprintf(piece, sizeof piece, "\", %s, %u, %u, %u, %u, ", header_dtype(field->dtype), (unsigned)field->components,
             (unsigned)field->count, (unsigned)field->offset, (unsigned)field->size);
    header_add(t, piece);
    header_struct_address(t, field->structure, owner, field->name);
    header_add(t, "},\n");
}

// #ifndef KP_STRUCT_name
static void open_guard(header_text *t, const char *name) {
    header_add(t, "#ifndef KP_STRUCT_");
    header_add(t, name);
    header_add(t, "\n#define KP_STRUCT_");
    header_add(t, name);
    header_add(t, "\ntypedef struct ");
    header_add(t, name);
    header_add(t, " {\n");
}

static void add_description(header_text *t, const kp_struct *structure, const char *name) {
    char piece[64];
    header_add(t, "// name, type, dtype, components, count, offset, size, structure\nstatic const kp_field kp_fields_");
    header_add(t, name);
    header_add(t, "[] = {\n");
    for (size_t i = 0; i < structure->field_count; i++)
        add_row(t, &structure->fields[i], name);
    header_add(t, "};\n// name, size, align, fields, field_count\nstatic const kp_struct kp_struct_");
    header_add(t, name);
    header_add(t, " = {\"");
    header_quoted(t, structure->name);
    snprintf(piece, sizeof piece, "\", %u, %u, kp_fields_", (unsigned)structure->size, (unsigned)structure->align);
    header_add(t, piece);
    header_add(t, name);
    snprintf(piece, sizeof piece, ", %zu};\n", structure->field_count);
    header_add(t, piece);
}

static void add_check(header_text *t, const char *name, const char *field, unsigned bytes) {
    char piece[LONGEST * 3];
    if (field != NULL)
        snprintf(piece, sizeof piece, "KP_ASSERT(offsetof(%s, %s%s) == %u, \"%s.%s\");\n", name, field, tail_of(field),
                 bytes, name, field);
    else
        snprintf(piece, sizeof piece, "KP_ASSERT(sizeof(%s) == %u, \"%s\");\n", name, bytes, name);
    header_add(t, piece);
}

void header_struct(header_text *t, const kp_struct *structure, const char *owner, const char *member) {
    char name[LONGEST];
    if (structure == NULL)
        return;
    name_of(structure, owner, member, name);
    for (size_t i = 0; i < structure->field_count; i++)
        header_struct(t, structure->fields[i].structure, name, structure->fields[i].name);
    open_guard(t, name);
    for (size_t i = 0; i < structure->field_count; i++)
        add_field(t, &structure->fields[i], name);
    header_add(t, "} ");
    header_add(t, name);
    header_add(t, ";\n");
    add_description(t, structure, name);
    header_add(t, "#endif\n");
    add_check(t, name, NULL, structure->size);
    for (size_t i = 0; i < structure->field_count; i++)
        add_check(t, name, structure->fields[i].name, structure->fields[i].offset);
    header_add(t, "\n");
}

void header_struct_address(header_text *t, const kp_struct *structure, const char *owner, const char *member) {
    char name[LONGEST];
    if (structure == NULL) {
        header_add(t, "NULL");
        return;
    }
    name_of(structure, owner, member, name);
    header_add(t, "&kp_struct_");
    header_add(t, name);
}
