// See scope.h.
#include "scope.h"

#include <string.h>

enum { FIRST_SLOTS = 8 };

static uint32_t slot_of(kp_symbol *const *slots, uint32_t capacity, const kp_name *name) {
    uint32_t i = name->hash & (capacity - 1);
    while (slots[i] != NULL && slots[i]->name != name)
        i = (i + 1) & (capacity - 1);
    return i;
}

kp_symbol *kp_scope_find(const kp_scope *scope, const kp_name *name) {
    kp_symbol *symbol = scope->capacity == 0 ? NULL : scope->slots[slot_of(scope->slots, scope->capacity, name)];
    return symbol != NULL && symbol->stands_for != NULL ? symbol->stands_for : symbol;
}

static void grow(kp_unit *unit, kp_scope *scope) {
    uint32_t capacity = scope->capacity == 0 ? FIRST_SLOTS : scope->capacity * 2;
    kp_symbol **slots = KP_UNIT_NEW(unit, kp_symbol *, capacity);
    for (uint32_t i = 0; i < scope->capacity; i++) {
        if (scope->slots[i] != NULL)
            slots[slot_of(slots, capacity, scope->slots[i]->name)] = scope->slots[i];
    }
    scope->slots = slots;
    scope->capacity = capacity;
}

kp_symbol *kp_scope_add(kp_unit *unit, kp_scope *scope, kp_symbol_kind kind, kp_name *name) {
    kp_symbol *symbol = KP_UNIT_NEW(unit, kp_symbol, 1);
    symbol->kind = kind;
    symbol->name = name;
    if (scope->last != NULL)
        scope->last->next = symbol;
    else
        scope->first = symbol;
    scope->last = symbol;
    if (name == NULL)
        return symbol;
    if (scope->count * 2 >= scope->capacity)
        grow(unit, scope);
    scope->slots[slot_of(scope->slots, scope->capacity, name)] = symbol;
    scope->count++;
    return symbol;
}

static kp_symbol *add_local(kp_unit *unit, kp_scope *scope, kp_name *name) {
    kp_symbol *symbol = kp_scope_add(unit, scope, KP_SYMBOL_LOCAL, name);
    for (const kp_changed *c = scope->changed; c != NULL; c = c->next)
        symbol->changed |= c->name == name;
    return symbol;
}

// A name that is not there yet may be one that is assigned further down, or one from outside.
static void note_change(kp_unit *unit, kp_scope *scope, kp_name *name) {
    kp_symbol *known = kp_scope_find(scope, name);
    if (known != NULL) {
        known->changed = true;
        return;
    }
    kp_changed *changed = KP_UNIT_NEW(unit, kp_changed, 1);
    *changed = (kp_changed){.name = name, .next = scope->changed};
    scope->changed = changed;
}

static void add_target(kp_unit *unit, kp_scope *scope, const kp_node *target) {
    if (target->kind == KP_NODE_TUPLE || target->kind == KP_NODE_LIST) {
        for (uint32_t i = 0; i < target->u.list.count; i++)
            add_target(unit, scope, target->u.list.items[i]);
    } else if (target->kind == KP_NODE_NAME) {
        kp_symbol *known = kp_scope_find(scope, target->u.name);
        if (known == NULL)
            known = add_local(unit, scope, target->u.name);
        known->stored = true;
    } else {
        while (target->kind == KP_NODE_SUBSCRIPT || target->kind == KP_NODE_ATTRIBUTE)
            target = target->kind == KP_NODE_SUBSCRIPT ? target->u.subscript.object : target->u.attribute.object;
        if (target->kind == KP_NODE_NAME)
            note_change(unit, scope, target->u.name);
    }
}

void kp_scope_add_locals(kp_unit *unit, kp_scope *scope, const kp_node *body) {
    for (const kp_node *n = body; n != NULL; n = n->next) {
        switch (n->kind) {
        case KP_NODE_ASSIGN:
            for (uint32_t i = 0; i < n->u.assign.targets.count; i++)
                add_target(unit, scope, n->u.assign.targets.items[i]);
            break;
        case KP_NODE_AUGMENT:
            add_target(unit, scope, n->u.augment.target);
            break;
        case KP_NODE_IF:
            for (uint32_t i = 0; i < n->u.branches.count; i++)
                kp_scope_add_locals(unit, scope, n->u.branches.branches[i].body);
            break;
        case KP_NODE_FOR:
            add_target(unit, scope, n->u.loop.target);
            kp_scope_add_locals(unit, scope, n->u.loop.body);
            kp_scope_add_locals(unit, scope, n->u.loop.other);
            break;
        case KP_NODE_WHILE:
            kp_scope_add_locals(unit, scope, n->u.loop.body);
            kp_scope_add_locals(unit, scope, n->u.loop.other);
            break;
        default:
            break;
        }
    }
}
