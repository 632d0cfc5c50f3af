// Structs: their types, from a class of the text, a name that the caller gives or Struct(...) in a type; making one,
// and its fields.
//
// A struct is a value in a kernel, as a vector is; in Python it is an object with perhaps several names. The two do the
// same as long as nothing is assigned to a field of an object with two names, so that is refused.
#include "checker.h"
#include "texts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_LEAVES = 1024, DEEPEST = 16 };

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

static void check_fields(kp_checker *c, const kp_node *at, const kp_type_field *fields, uint32_t count) {
    uint64_t bytes = 0, leaves = 0;
    if (count == 0)
        kp_check_fail(c, at, "a struct has at least one field, as in mass: f32");
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, "copy") == 0)
            kp_check_fail(c, at, "a field cannot be called 'copy', which makes a copy");
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(fields[i].name, fields[k].name) == 0)
                kp_check_fail(c, at, "there are two fields '%s'", fields[i].name);
        }
        bytes += kp_type_size(fields[i].type) + kp_type_align(fields[i].type);
        if (bytes > MOST_BYTES)
            kp_check_fail(c, at, "a struct has at most %d bytes", MOST_BYTES);
        const kp_type *leaf = kp_type_leaf(fields[i].type);
        leaves += kp_type_is_struct(leaf) ? leaf->leaves : 1;
        if (leaves > MOST_LEAVES)
            kp_check_fail(c, at, "a struct has at most %d fields, those of structs in it counted", MOST_LEAVES);
        if (leaf->depth >= DEEPEST)
            kp_check_fail(c, at, "structs inside of each other %d deep are the limit", DEEPEST);
    }
}

static const kp_type *class_type(kp_checker *c, kp_parser_class *class) {
    if (class->busy)
        kp_error_at(c->unit, class->token, NULL, "the struct '%s' cannot have itself as a field", class->name->text);
    if (c->class_depth == DEEPEST)
        kp_error_at(c->unit, class->token, NULL, "structs inside of each other %d deep are the limit", DEEPEST);
    kp_list list = kp_parser_class_at(c->unit, class);
    kp_type_field *fields = KP_UNIT_NEW(c->unit, kp_type_field, list.count);
    kp_scope scope = c->scope;
    kp_checker_bound *bound = c->bound;
    class->busy = true;
    c->class_depth++;
    c->scope = (kp_scope){0};
    c->bound = NULL;
    for (uint32_t i = 0; i < list.count; i++)
        fields[i] = (kp_type_field){.name = list.items[i]->u.assign.targets.items[0]->u.name->text,
                                    .type = kp_signature_field_type(c, list.items[i]->u.assign.annotation)};
    kp_node *at = kp_ast_node(c->unit, KP_NODE_NAME, class->token, class->token);
    check_fields(c, at, fields, list.count);
    c->bound = bound;
    c->scope = scope;
    c->class_depth--;
    class->busy = false;
    return class->type = kp_type_struct(c->unit, class->name->text, fields, list.count);
}

// A name that the caller gives a type.
static const kp_type *given_type(kp_checker *c, const kp_node *n) {
    kp_checker_module *m = c->module;
    const kp_name *name = m->name_count != 0 ? kp_check_dotted(c, n) : NULL;
    for (size_t i = 0; name != NULL && i < m->name_count; i++) {
        if (strcmp(m->names[i].name, name->text) != 0)
            continue;
        if (m->named == NULL)
            m->named = KP_UNIT_NEW(c->unit, const kp_type *, m->name_count);
        if (m->named[i] == NULL) {
            const kp_text *text = kp_texts_named(c->unit, m->index, i);
            kp_node *type = kp_parser_text(c->unit, text->at, text->at + text->length);
            kp_scope scope = c->scope;
            c->scope = (kp_scope){0};
            m->named[i] = kp_signature_field_type(c, type);
            c->scope = scope;
        }
        return m->named[i];
    }
    return NULL;
}

const kp_type *kp_check_struct_named(kp_checker *c, const kp_node *n) {
    const kp_parser_outline *outline = c->module->outline;
    if (kp_check_path(c, n) == NULL)
        return NULL;
    int32_t index = n->kind == KP_NODE_NAME ? kp_lookup_get(&outline->class_names, n->u.name) : (int32_t)KP_LOOKUP_NONE;
    if (index == KP_LOOKUP_NONE)
        return given_type(c, n);
    kp_parser_class *class = &outline->classes[index];
    return class->type != NULL ? class->type : class_type(c, class);
}

// "Struct(position=vec2, age=f32)"
static const char *written_name(kp_checker *c, const kp_type_field *fields, uint32_t count) {
    char text[200] = "Struct(";
    size_t used = strlen(text);
    for (uint32_t i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i > 0 ? ", " : "", fields[i].name,
                                 fields[i].type->name);
    if (used + 2 > sizeof text) {
        used = (size_t)snprintf(text, sizeof text, "Struct(%.60s=%.60s, ...", fields[0].name, fields[0].type->name);
    }
    text[used++] = ')';
    return kp_arena_text(&c->unit->arena, text, used);
}

const kp_type *kp_check_struct_type(kp_checker *c, kp_node *n) {
    const kp_name *callee = n->kind == KP_NODE_CALL ? kp_check_path(c, n->u.call.callee) : NULL;
    uint32_t start, end, count = 0;
    if (callee == NULL || strcmp(callee->text, "Struct") != 0)
        return NULL;
    kp_list list = n->u.call.list;
    const char *name = NULL;
    kp_type_field *fields = KP_UNIT_NEW(c->unit, kp_type_field, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        kp_node *item = list.items[i];
        if (i == 0 && item->kind == KP_NODE_STRING && kp_lexer_string(c->unit, item->first, &start, &end)) {
            name = kp_arena_text(&c->unit->arena, c->unit->text + start, end - start);
            continue;
        }
        if (item->kind != KP_NODE_KEYWORD)
            kp_check_fail(c, item, "Struct takes its fields by name, as in Struct(position=vec3, mass=f32)");
        fields[count++] = (kp_type_field){.name = item->u.keyword.name->text,
                                          .type = kp_signature_field_type(c, item->u.keyword.value)};
    }
    check_fields(c, n, fields, count);
    return kp_type_struct(c->unit, name != NULL ? name : written_name(c, fields, count), fields, count);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fields
// ---------------------------------------------------------------------------------------------------------------------

const char *kp_check_struct_names(kp_checker *c, const kp_type *type) {
    char text[128];
    size_t used = 0;
    for (uint32_t i = 0; i < type->field_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "", type->fields[i].name);
    if (used >= sizeof text) {
        memcpy(text + sizeof text - 4, "...", 3);
        used = sizeof text - 1;
    }
    return kp_arena_text(&c->unit->arena, text, used);
}

static const char *nearest_field(const kp_type *type, const kp_name *name) {
    uint32_t nearest = kp_error_nearness(name->length);
    const char *best = NULL;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const char *its = type->fields[i].name;
        uint32_t distance = kp_error_distance(name->text, name->length, its, (uint32_t)strlen(its), nearest);
        if (distance < nearest) {
            nearest = distance;
            best = its;
        }
    }
    return best;
}

static _Noreturn void fail_field(kp_checker *c, const kp_token *at, const kp_type *type, const kp_name *name) {
    const char *best = nearest_field(type, name);
    if (best != NULL)
        kp_error_at(c->unit, at, NULL, "%s has no field '%s'; did you mean '%s'?", type->name, name->text, best);
    kp_error_at(c->unit, at, NULL, "%s has no field '%s'; it has %s", type->name, name->text,
                kp_check_struct_names(c, type));
}

kp_node *kp_check_struct_field(kp_checker *c, kp_node *n, kp_node *object) {
    int32_t index = kp_type_field_of(object->type, n->u.attribute.name->text);
    if (index < 0)
        fail_field(c, n->u.attribute.at, object->type, n->u.attribute.name);
    kp_node *field = kp_check_new(c, KP_NODE_FIELD, n, object->type->fields[index].type);
    field->u.field.operand = object;
    field->u.field.index = (uint32_t)index;
    return field;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making one
// ---------------------------------------------------------------------------------------------------------------------

// The field that the i-th argument is for; one given by name loses that.
static uint32_t place_of(kp_checker *c, kp_node **argument, uint32_t i, const kp_type *type, bool *named) {
    kp_node *n = *argument;
    if (n->kind != KP_NODE_KEYWORD) {
        if (*named)
            kp_check_fail(c, n, "an argument without a name follows one with a name");
        return i;
    }
    int32_t index = kp_type_field_of(type, n->u.keyword.name->text);
    if (index < 0)
        fail_field(c, n->first, type, n->u.keyword.name);
    *named = true;
    *argument = n->u.keyword.value;
    return (uint32_t)index;
}

static kp_node *field_value(kp_checker *c, kp_node *n, const kp_type *type, uint32_t index) {
    char where[160];
    const kp_type_field *field = &type->fields[index];
    kp_node *value = kp_check_expr(c, n);
    snprintf(where, sizeof where, "'%.60s' of %.60s", field->name, type->name);
    kp_check_array_alias(c, value);
    return kp_check_coerce(c, value, field->type, kp_arena_text(&c->unit->arena, where, strlen(where)));
}

// Arguments are worked out in the order in which they are written.
kp_node *kp_check_struct_make(kp_checker *c, kp_node *n, const kp_type *type) {
    kp_list list = n->u.call.list;
    uint32_t *positions = KP_UNIT_NEW(c->unit, uint32_t, list.count);
    bool named = false, *given = KP_UNIT_NEW(c->unit, bool, type->field_count);
    if (list.count > type->field_count)
        kp_check_fail(c, n, "%s has %u field%s, but these are %u", type->name, type->field_count,
                      type->field_count == 1 ? "" : "s", list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t at = positions[i] = place_of(c, &list.items[i], i, type, &named);
        if (given[at])
            kp_check_fail(c, list.items[i], "%s gets '%s' twice", type->name, type->fields[at].name);
        given[at] = true;
        list.items[i] = field_value(c, list.items[i], type, at);
    }
    for (uint32_t i = 0; i < type->field_count && list.count != 0; i++) {
        if (!given[i])
            kp_check_fail(c, n, "%s needs a value for '%s'", type->name, type->fields[i].name);
    }
    kp_node *made = kp_check_new(c, KP_NODE_MAKE, n, type);
    made->u.make.list = list;
    made->u.make.positions = positions;
    return made;
}

// ---------------------------------------------------------------------------------------------------------------------
// One object with two names
// ---------------------------------------------------------------------------------------------------------------------

static const kp_node *root_of(const kp_node *n) {
    while (n->kind == KP_NODE_SUBSCRIPT || n->kind == KP_NODE_FIELD || n->kind == KP_NODE_SWIZZLE)
        n = n->kind == KP_NODE_SUBSCRIPT ? n->u.subscript.object
            : n->kind == KP_NODE_FIELD   ? n->u.field.operand
                                         : n->u.swizzle.operand;
    return n;
}

bool kp_check_struct_shares(const kp_node *n) {
    const kp_node *root = root_of(n);
    if (n->kind == KP_NODE_COND)
        return kp_check_struct_shares(n->u.cond.yes) || kp_check_struct_shares(n->u.cond.no);
    if (root->kind == KP_NODE_INVOKE)
        return root->u.invoke.instance->shares;
    return root->kind == KP_NODE_BUFFER || (root->kind == KP_NODE_VARIABLE && root->u.symbol->name != NULL);
}

// The variable with a name that the value is, or may be, or is in, and of which something is assigned somewhere.
static const kp_symbol *changed_in(const kp_node *n) {
    if (n->kind == KP_NODE_COND) {
        const kp_symbol *yes = changed_in(n->u.cond.yes);
        return yes != NULL ? yes : changed_in(n->u.cond.no);
    }
    const kp_node *root = root_of(n);
    bool changed = root->kind == KP_NODE_VARIABLE && root->u.symbol->name != NULL && root->u.symbol->changed;
    return changed ? root->u.symbol : NULL;
}

// What to write instead of `value`; it stands for an element where a loop's variable is the target.
static const char *copy_of(kp_checker *c, const kp_node *value, const kp_node *target) {
    bool loop = target != NULL && value->kind == KP_NODE_SUBSCRIPT && value->first == target->first;
    const char *text = kp_check_text(c, loop ? value->u.subscript.object : value);
    char mend[128];
    int length;
    if (loop)
        length = snprintf(mend, sizeof mend, "go over range(len(%s)), and write %s[k].copy()", text, text);
    else if (value->kind == KP_NODE_COND)
        length = snprintf(mend, sizeof mend, "write (%s).copy()", text);
    else
        length = snprintf(mend, sizeof mend, "write %s.copy()", text);
    return kp_arena_text(&c->unit->arena, mend, (size_t)length);
}

void kp_check_struct_alias(kp_checker *c, const kp_node *value, const kp_node *target) {
    const kp_node *root = target != NULL ? root_of(target) : NULL;
    if (root != NULL && root->kind == KP_NODE_BUFFER)
        return; // Python copies too
    const kp_symbol *from = changed_in(value);
    if (from != NULL && (root == NULL || root->kind != KP_NODE_VARIABLE || root->u.symbol != from))
        kp_check_fail(c, value, "in Python this would be '%s' itself, in which something is assigned elsewhere; %s",
                      from->name->text, copy_of(c, value, target));
    if (root != NULL && root->kind == KP_NODE_VARIABLE && root->u.symbol->changed && kp_check_struct_shares(value))
        kp_check_fail(c, value,
                      "in Python '%s' would be this %s itself, and an assignment to a field of the one changes the "
                      "other; %s",
                      root->u.symbol->name != NULL ? kp_check_text(c, target) : "it", value->type->name,
                      copy_of(c, value, target));
}

void kp_check_struct_change(kp_checker *c, const kp_node *target) {
    const kp_node *root = root_of(target);
    if (root == target || root->kind != KP_NODE_VARIABLE)
        return;
    const kp_symbol *symbol = root->u.symbol;
    if (symbol->kind == KP_SYMBOL_VALUE && kp_type_is_struct(symbol->type))
        kp_check_fail(c, target, "in Python this would change the caller's '%s' too; change a copy: x = %s.copy()",
                      symbol->name->text, symbol->name->text);
}
