// What a kernel tells the host: assert and print. Their texts are put together here; what is printed is a format, in
// which each value is a '%', the letter of its element type (kp/base.h) and the number of its components.
#include "checker.h"

#include <string.h>

enum { LONGEST = 3000 }; // bytes of a text: it must fit an OpString of the module

typedef struct text {
    kp_checker *c;
    const kp_node *at; // for messages
    char data[LONGEST + 16];
    uint32_t length;
} text;

static void add(text *t, const char *bytes, size_t length) {
    if (length > LONGEST - t->length)
        kp_check_fail(t->c, t->at, "the text is too long; the limit is %d bytes", LONGEST);
    memcpy(t->data + t->length, bytes, length);
    t->length += (uint32_t)length;
}

static void add_code(text *t, uint32_t code) {
    char bytes[4];
    uint32_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        kp_check_fail(t->c, t->at, "the text of a kernel has no character %u", (unsigned)code);
    for (uint32_t i = count - 1; i > 0 && i < sizeof bytes; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    bytes[0] = (char)(leads[count] | code);
    add(t, bytes, count);
}

static uint32_t digit_of(char c) {
    return c >= '0' && c <= '9'                 ? (uint32_t)(c - '0')
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (uint32_t)(c | 32) - 87
                                                : 16;
}

// Up to `most` digits; moves *at behind them. `exact`: neither more nor fewer.
static uint32_t digits(text *t, const char **at, const char *end, uint32_t base, uint32_t most, bool exact) {
    uint32_t value = 0, count = 0;
    for (; count < most && *at < end && digit_of(**at) < base; count++)
        value = value * base + digit_of(*(*at)++);
    if (exact && count != most)
        kp_check_fail(t->c, t->at, "this escape sequence needs %u digits", (unsigned)most);
    return value;
}

// What stands behind a backslash.
static void escape(text *t, const char **at, const char *end) {
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    char c = *(*at)++;
    const char *known = memchr(names, c, sizeof names - 1);
    if (known != NULL)
        add(t, values + (known - names), 1);
    else if (c == '\r' || c == '\n') // the line goes on
        *at += c == '\r' && *at < end && **at == '\n';
    else if (c == 'x' || c == 'u' || c == 'U')
        add_code(t, digits(t, at, end, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, true));
    else if (c == 'N')
        kp_check_fail(t->c, t->at, "characters by name are not in the kernel language; write the character itself");
    else if (c >= '0' && c <= '7') {
        --*at;
        add_code(t, digits(t, at, end, 8, 3, false));
    } else {
        add(t, "\\", 1);
        add(t, &c, 1);
    }
}

static void add_token(text *t, const kp_token *token) {
    const char *at = t->c->unit->text + token->at, *end = at + token->length;
    bool raw = false;
    for (; *at != '\'' && *at != '"'; at++) {
        if ((*at | 32) == 'b')
            kp_check_fail(t->c, t->at, "bytes are not in the kernel language; leave out the b");
        raw |= (*at | 32) == 'r';
    }
    uint32_t quotes = end - at >= 6 && at[1] == at[0] && at[2] == at[0] ? 3 : 1;
    at += quotes;
    end -= quotes;
    while (at < end) {
        if (*at == '\\' && !raw) {
            at++;
            escape(t, &at, end);
        } else if (*at == '\r') { // the end of a line is "\n" in every file
            at += end - at > 1 && at[1] == '\n' ? 2 : 1;
            add(t, "\n", 1);
        } else {
            add(t, at++, 1);
        }
    }
}

// n is a STRING: the tokens from its first to its last.
static void add_string(text *t, const kp_node *n) {
    t->at = n;
    for (const kp_token *token = n->first; token <= kp_ast_last(n); token++) {
        if (token->kind == KP_TOKEN_STRING)
            add_token(t, token);
    }
}

static void add_escaped(text *t, const text *plain) {
    for (uint32_t i = 0; i < plain->length; i++) {
        if (plain->data[i] == '%')
            add(t, "%", 1);
        add(t, &plain->data[i], 1);
    }
}

// A text is large, so each is on the stack of who makes it.
static void start(text *t, kp_checker *c, const kp_node *at) {
    t->c = c;
    t->at = at;
    t->length = 0;
}

static const char *finish(const text *t) { return kp_arena_text(&t->c->unit->arena, t->data, t->length); }

void kp_check_assert_message(kp_checker *c, const kp_node *n) {
    if (n->u.report.list.count != 0 && n->u.report.list.items[0]->kind != KP_NODE_STRING)
        kp_check_fail(c, n->u.report.list.items[0], "the message of assert is a text in quotes");
}

void kp_check_assert(kp_checker *c, kp_node *n) {
    kp_check_assert_message(c, n);
    if (n->u.report.list.count != 0) {
        const kp_node *message = n->u.report.list.items[0];
        text t;
        start(&t, c, message);
        add_string(&t, message);
        n->u.report.text = finish(&t);
    }
    n->u.report.list.count = 0;
    n->u.report.test = kp_check_condition(c, n->u.report.test);
}

// ---------------------------------------------------------------------------------------------------------------------
// print
// ---------------------------------------------------------------------------------------------------------------------

bool kp_check_is_print(kp_checker *c, const kp_node *call) {
    const kp_name *name = call->kind == KP_NODE_CALL ? kp_check_path(c, call->u.call.callee) : NULL;
    return name != NULL && call->u.call.callee->kind == KP_NODE_NAME && strcmp(name->text, "print") == 0;
}

// sep="..." and end="..."; what stands for them by default.
static void option(text *t, kp_checker *c, kp_list list, const char *name, const char *otherwise) {
    start(t, c, NULL);
    const kp_node *found = NULL;
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_node *n = list.items[i];
        if (n->kind == KP_NODE_KEYWORD && strcmp(n->u.keyword.name->text, name) == 0)
            found = n->u.keyword.value;
    }
    if (found == NULL || found->kind == KP_NODE_NONE) {
        add(t, otherwise, strlen(otherwise));
        return;
    }
    if (found->kind != KP_NODE_STRING)
        kp_check_fail(c, found, "the '%s' of print is a text in quotes", name);
    add_string(t, found);
}

static void check_options(kp_checker *c, kp_list list) {
    bool options = false;
    for (uint32_t i = 0; i < list.count; i++) {
        const kp_node *n = list.items[i];
        const char *name = n->kind == KP_NODE_KEYWORD ? n->u.keyword.name->text : NULL;
        if (name != NULL && strcmp(name, "sep") != 0 && strcmp(name, "end") != 0)
            kp_check_fail(c, n, "print of a kernel takes sep= and end=, not %s=", name);
        if (name == NULL && options)
            kp_check_fail(c, n, "a value stands before the options of a call");
        options |= name != NULL;
    }
}

// "..." % x and "...".format(x)
static bool is_formatted(const kp_node *n) {
    if (n->kind == KP_NODE_CALL && n->u.call.callee->kind == KP_NODE_ATTRIBUTE)
        return n->u.call.callee->u.attribute.object->kind == KP_NODE_STRING;
    return n->kind == KP_NODE_BINARY && n->u.binary.left->kind == KP_NODE_STRING;
}

void kp_check_print_arguments(kp_checker *c, kp_list list) {
    check_options(c, list);
    for (uint32_t i = 0; i < list.count; i++) {
        if (is_formatted(list.items[i]))
            kp_check_fail(c, list.items[i], "print of a kernel takes values beside texts, as in print('x is', x)");
    }
}

static kp_node *print_value(kp_checker *c, kp_node *n) {
    kp_node *value = kp_check_value(c, n);
    if (value->type->kind != KP_TYPE_SCALAR && value->type->kind != KP_TYPE_VECTOR)
        kp_check_fail(c, n, "print takes numbers, vectors and texts, but this is %s", value->type->name);
    return value;
}

static char letter_of(kp_dtype dtype) {
    static const char letters[] = {
#define KP_X(name, bytes, lang, numpy, format) [KP_##name] = format,
        KP_DTYPES(KP_X)
#undef KP_X
    };
    return letters[dtype];
}

void kp_check_print(kp_checker *c, kp_node *n, kp_node *call) {
    kp_list list = call->u.call.list;
    kp_check_print_arguments(c, list);
    text format, sep, end, t;
    start(&format, c, call);
    option(&sep, c, list, "sep", " ");
    option(&end, c, list, "end", "\n");
    kp_list values = {.items = KP_UNIT_NEW(c->unit, kp_node *, list.count)};
    for (uint32_t i = 0; i < list.count && list.items[i]->kind != KP_NODE_KEYWORD; i++) {
        if (i > 0)
            add_escaped(&format, &sep);
        if (list.items[i]->kind == KP_NODE_STRING) {
            start(&t, c, list.items[i]);
            add_string(&t, list.items[i]);
            add_escaped(&format, &t);
            continue;
        }
        kp_node *value = print_value(c, list.items[i]);
        char code[3] = {'%', letter_of(value->type->dtype), (char)('0' + value->type->components)};
        add(&format, code, sizeof code);
        values.items[values.count++] = value;
    }
    add_escaped(&format, &end);
    n->kind = KP_NODE_PRINT;
    n->u.report.text = finish(&format);
    n->u.report.list = values;
    n->u.report.test = NULL;
    c->kernel->prints = true;
}
