// Which buffers and images a kernel overwrites: what they held does not matter, so nobody has to bring it. Plain cases
// alone are seen, where every invocation comes by: `x[i] = ...` for the Index i, and of views and images on as many
// axes as the index, `v[i.y, i.x]`, `image[i]`, `image[i.x, i.y]`.
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

// Whether a variable is the kernel's index, on so many axes.
static bool is_index(const kp_kernel *kernel, const kp_node *n, uint32_t axes) {
    static const kp_input inputs[] = {KP_INPUT_INDEX, KP_INPUT_INDEX2, KP_INPUT_INDEX3};
    if (n->kind != KP_NODE_VARIABLE || n->u.symbol->stored || n->u.symbol->changed)
        return false;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const kp_check_param *p = &kernel->params[i];
        if (p->symbol == n->u.symbol)
            return p->kind == KP_PARAM_INPUT && p->input == inputs[axes - 1];
    }
    return false;
}

// i.x, i.y or i.z
static bool is_part(const kp_kernel *kernel, const kp_node *n, uint32_t axes, uint32_t component) {
    return n->kind == KP_NODE_SWIZZLE && n->u.swizzle.count == 1 && n->u.swizzle.components[0] == component &&
           is_index(kernel, n->u.swizzle.operand, axes);
}

// The first axes of a view in its order, up to `last`: i.z * shape[1] + i.y.
static bool is_row(const kp_kernel *kernel, const kp_node *n, const kp_symbol *view, uint32_t axes, uint32_t last) {
    if (last == 0)
        return is_part(kernel, n, axes, axes - 1);
    if (n->kind != KP_NODE_BINARY || n->op != KP_TOKEN_PLUS || n->u.binary.left->kind != KP_NODE_BINARY)
        return false;
    const kp_node *rows = n->u.binary.left, *length = rows->u.binary.right;
    return rows->op == KP_TOKEN_STAR && length->kind == KP_NODE_SHAPE && length->u.shape.symbol == view &&
           length->u.shape.axis == last && is_row(kernel, rows->u.binary.left, view, axes, last - 1) &&
           is_part(kernel, n->u.binary.right, axes, axes - 1 - last);
}

// (i.x, i.y)
static bool is_pixel(const kp_kernel *kernel, const kp_node *n, uint32_t axes) {
    if (n->kind != KP_NODE_CONSTRUCT || n->u.list.count != axes)
        return is_index(kernel, n, axes);
    for (uint32_t i = 0; i < axes; i++) {
        if (!is_part(kernel, n->u.list.items[i], axes, i))
            return false;
    }
    return true;
}

static bool is_own(const kp_kernel *kernel, const kp_node *index, const kp_symbol *buffer, uint32_t axes) {
    if (kp_type_is_image(buffer->type))
        return is_pixel(kernel, index, axes);
    return axes == 1 ? is_index(kernel, index, 1) : is_row(kernel, index, buffer, axes, axes - 1);
}

static bool stores(const kp_kernel *kernel, const kp_node *assign, const kp_symbol *buffer, uint32_t axes) {
    const kp_list *targets = &assign->u.assign.targets;
    for (uint32_t i = 0; i < targets->count && assign->u.assign.value != NULL; i++) {
        const kp_node *t = targets->items[i];
        if (t->kind == KP_NODE_SUBSCRIPT && t->u.subscript.object->kind == KP_NODE_BUFFER && !t->from_end &&
            t->u.subscript.object->u.symbol == buffer && is_own(kernel, t->u.subscript.index, buffer, axes))
            return true;
    }
    return false;
}

bool kp_check_fills(const kp_kernel *kernel, const kp_symbol *buffer, uint32_t axes) {
    if (buffer->reads || !buffer->writes)
        return false;
    // Bytes between the fields of a struct are not stored.
    if (!kp_type_is_image(buffer->type) && kp_type_is_struct(kp_type_leaf(buffer->type->element)))
        return false;
    for (const kp_node *n = kernel->function->body; n != NULL && !may_leave(n); n = n->next) {
        if (n->kind == KP_NODE_ASSIGN && stores(kernel, n, buffer, axes))
            return true;
    }
    return false;
}
