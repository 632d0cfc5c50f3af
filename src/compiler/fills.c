// Which buffers a kernel overwrites: what they held does not matter, so nobody has to bring it. Plain cases alone are
// seen: `x[i] = ...` for the Index i, where every invocation comes by.
#include "check.h"

static bool may_leave(const kp_node *n);

static bool any_may_leave(const kp_node *first) {
    for (const kp_node *n = first; n != NULL; n = n->next) {
        if (may_leave(n))
            return true;
    }
    return false;
}

// Whether an invocation may leave the kernel in a statement.
static bool may_leave(const kp_node *n) {
    if (n->kind == KP_NODE_FOR || n->kind == KP_NODE_WHILE)
        return any_may_leave(n->u.loop.body) || any_may_leave(n->u.loop.other);
    for (uint32_t i = 0; n->kind == KP_NODE_IF && i < n->u.branches.count; i++) {
        if (any_may_leave(n->u.branches.branches[i].body))
            return true;
    }
    return n->kind == KP_NODE_RETURN;
}

static bool is_index(const kp_kernel *kernel, const kp_node *n) {
    if (n->kind != KP_NODE_VARIABLE || n->u.symbol->stored)
        return false;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const kp_check_param *p = &kernel->params[i];
        if (p->symbol == n->u.symbol)
            return p->kind == KP_PARAM_INPUT && p->input == KP_INPUT_INDEX && p->symbol->type->components == 1;
    }
    return false;
}

static bool stores(const kp_kernel *kernel, const kp_node *assign, const kp_symbol *buffer) {
    const kp_list *targets = &assign->u.assign.targets;
    for (uint32_t i = 0; i < targets->count && assign->u.assign.value != NULL; i++) {
        const kp_node *t = targets->items[i];
        if (t->kind == KP_NODE_SUBSCRIPT && t->u.subscript.object->kind == KP_NODE_BUFFER && !t->from_end &&
            t->u.subscript.object->u.symbol == buffer && is_index(kernel, t->u.subscript.index))
            return true;
    }
    return false;
}

bool kp_check_fills(const kp_kernel *kernel, const kp_symbol *buffer) {
    const kp_type *element = buffer->type->element;
    // Bytes between the fields of a struct are not stored.
    if (buffer->reads || !buffer->writes || kp_check_axes(buffer->type) != 1 ||
        kp_type_is_struct(kp_type_leaf(element)))
        return false;
    for (const kp_node *n = kernel->function->body; n != NULL && !may_leave(n); n = n->next) {
        if (n->kind == KP_NODE_ASSIGN && stores(kernel, n, buffer))
            return true;
    }
    return false;
}
