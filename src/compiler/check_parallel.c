// What the invocations of a workgroup do together: shared memory, barriers, atomics, subgroup operations.
#include "checker.h"

#include "builtin.h"

// The row of the language's own functions that a call means: those of the source go before.
static const kp_builtin *row_of(kp_checker *c, const kp_node *n) {
    const kp_name *name = n->kind == KP_NODE_CALL ? kp_check_path(c, n->u.call.callee) : NULL;
    const kp_builtin *row = name != NULL ? kp_builtin_find(name) : NULL;
    bool ours = row != NULL &&
                (row->rule == KP_BUILTIN_BARRIER || (row->rule == KP_BUILTIN_CUSTOM && row->op == KP_CALL_SHARED));
    return ours && kp_check_is_function(c, n->u.call.callee) ? NULL : row;
}

void kp_check_need_local_size(kp_checker *c, const kp_node *n, const char *what) {
    if (!c->kernel->has_local_size)
        kp_check_fail(c, n, "%s needs to know the size of a workgroup; write @kp.kernel(local_size=64)", what);
}

static void check_count(kp_checker *c, const kp_node *n, const kp_builtin *row) {
    uint32_t count = n->u.call.list.count;
    if (count < row->least || count > row->most)
        kp_check_fail(c, n, "%s takes %u argument%s, not %u", row->name, row->least, row->least == 1 ? "" : "s", count);
    for (uint32_t i = 0; i < count; i++) {
        if (n->u.call.list.items[i]->kind == KP_NODE_KEYWORD)
            kp_check_fail(c, n->u.call.list.items[i], "%s takes no names for its arguments", row->name);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Shared memory
// ---------------------------------------------------------------------------------------------------------------------

bool kp_check_is_shared(kp_checker *c, const kp_node *n) {
    const kp_builtin *row = row_of(c, n);
    return row != NULL && row->rule == KP_BUILTIN_CUSTOM && row->op == KP_CALL_SHARED;
}

// The length of an axis: a constant, or a Const parameter that the kernel does not change.
static kp_node *axis_length(kp_checker *c, kp_node *n) {
    enum { MOST = 1 << 24 };
    kp_node *length = kp_check_value(c, n);
    bool spec = length->kind == KP_NODE_VARIABLE && length->u.symbol->spec && !length->u.symbol->stored;
    if (!kp_type_is_int(length->type) || (length->kind != KP_NODE_CONST && !spec))
        kp_check_fail(c, n, "the length of shared memory is an integer constant or a Const[i32]");
    if (length->kind == KP_NODE_CONST && (length->u.value.i < 1 || length->u.value.i > MOST))
        kp_check_fail(c, n, "the length of shared memory is between 1 and %d, not %lld", MOST,
                      (long long)length->u.value.i);
    if (spec && length->type != kp_type_scalar(KP_I32))
        kp_check_fail(c, n, "the length of shared memory is a Const[i32], not a Const[%s]", length->type->name);
    return kp_check_cast(c, length, kp_type_scalar(KP_I32));
}

static void set_axes(kp_checker *c, kp_symbol *symbol, kp_node *shape) {
    if (shape->kind != KP_NODE_TUPLE) {
        symbol->axis_count = 1;
        symbol->axes[0] = axis_length(c, shape);
        return;
    }
    kp_list list = shape->u.list;
    if (list.count < 1 || list.count > 2)
        kp_check_fail(c, shape, "shared memory has one or two axes, not %u", list.count);
    symbol->axis_count = list.count;
    for (uint32_t i = 0; i < list.count; i++)
        symbol->axes[i] = axis_length(c, list.items[i]);
}

void kp_check_shared_place(kp_checker *c, const kp_node *n) {
    const kp_node *call = n->u.assign.value, *target = n->u.assign.targets.items[0];
    const kp_builtin *row = row_of(c, call);
    check_count(c, call, row);
    kp_check_need_local_size(c, call, "shared memory");
    if (n->u.assign.targets.count != 1 || target->kind != KP_NODE_NAME || n->u.assign.annotation != NULL)
        kp_check_fail(c, target, "shared memory has one name, as in tile = shared(f32, 256)");
    if (c->depth != 1)
        kp_check_fail(c, call, "shared memory belongs to the whole kernel; make it outside of branches and loops");
}

void kp_check_shared(kp_checker *c, kp_node *n) {
    kp_node *call = n->u.assign.value, *target = n->u.assign.targets.items[0];
    kp_check_shared_place(c, n);
    kp_symbol *symbol = kp_scope_find(&c->scope, target->u.name);
    if (symbol->kind != KP_SYMBOL_LOCAL || symbol->type != NULL)
        kp_check_fail(c, target, "'%s' is something else already; shared memory has a name of its own",
                      target->u.name->text);
    const kp_type *element = kp_signature_value_type(c, call->u.call.list.items[0]);
    set_axes(c, symbol, call->u.call.list.items[1]);
    symbol->kind = KP_SYMBOL_SHARED;
    symbol->type = kp_type_array(c->unit, element, 0);
    symbol->typed_at = target->first;
    symbol->stored = false;
    n->kind = KP_NODE_PASS;
}

// ---------------------------------------------------------------------------------------------------------------------
// Barriers
// ---------------------------------------------------------------------------------------------------------------------

bool kp_check_is_barrier(kp_checker *c, const kp_node *n) {
    const kp_builtin *row = row_of(c, n);
    return row != NULL && row->rule == KP_BUILTIN_BARRIER;
}

kp_node *kp_check_barrier(kp_checker *c, kp_node *n) {
    const kp_builtin *row = row_of(c, n);
    check_count(c, n, row);
    if (row->op != KP_BARRIER_DEVICE)
        kp_check_need_local_size(c, n, row->name);
    c->kernel->has_barrier |= row->op == KP_BARRIER_ALL;
    c->kernel->orders_memory = true;
    return kp_check_builtin(c, n, row, (kp_list){0}, NULL);
}

// ---------------------------------------------------------------------------------------------------------------------
// Atomics
// ---------------------------------------------------------------------------------------------------------------------

static bool is_bitwise(uint32_t op) { return op == KP_ATOMIC_AND || op == KP_ATOMIC_OR || op == KP_ATOMIC_XOR; }

// The buffer or shared memory that a place as written is in, or one of its arrays that a helper was given.
static kp_symbol *atomic_root(kp_checker *c, kp_node *place) {
    kp_node *root = place;
    while (root->kind == KP_NODE_SUBSCRIPT || root->kind == KP_NODE_ATTRIBUTE)
        root = root->kind == KP_NODE_SUBSCRIPT ? root->u.subscript.object : root->u.attribute.object;
    kp_symbol *symbol = root->kind == KP_NODE_NAME ? kp_check_find(c, root->u.name) : NULL;
    if (root->kind == KP_NODE_NAME && symbol == NULL)
        kp_check_expr(c, root); // fails where there is no such name
    if (symbol != NULL && symbol->kind == KP_SYMBOL_ARRAY)
        return symbol->in_buffer;
    bool memory = symbol != NULL && (symbol->kind == KP_SYMBOL_BUFFER || symbol->kind == KP_SYMBOL_SHARED) &&
                  !kp_type_is_opaque(symbol->type);
    return memory ? symbol : NULL;
}

// What it works on: a place, or an array and an index. *root: the buffer or shared memory that this is in.
static kp_node *atomic_place(kp_checker *c, kp_node *n, const kp_builtin *row, kp_symbol **root) {
    kp_list list = n->u.call.list;
    kp_node *place = list.items[0];
    *root = atomic_root(c, place);
    bool by_index = list.count == row->most;
    bool whole = place->kind == KP_NODE_NAME && *root != NULL && (*root)->type->kind == KP_TYPE_ARRAY;
    if (*root == NULL || (whole && !by_index))
        kp_check_fail(c, place,
                      "%s works on a number in a buffer or in shared memory, as in %s(a[i], x) or %s(a, i, x)",
                      row->name, row->name, row->name);
    if (by_index) {
        place = kp_check_new(c, KP_NODE_SUBSCRIPT, list.items[0], NULL);
        place->u.subscript.object = list.items[0];
        place->u.subscript.index = list.items[1];
    }
    (*root)->reads = (*root)->writes = true;
    return kp_check_target(c, place, true);
}

static kp_node *check_atomic(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_symbol *root;
    kp_node *place = atomic_place(c, n, row, &root);
    const kp_type *type = place->type;
    kp_dtype dtype = type->dtype;
    bool ints = dtype == KP_I32 || dtype == KP_U32 || dtype == KP_I64 || dtype == KP_U64;
    if (type->kind != KP_TYPE_SCALAR || (!ints && (dtype != KP_F32 || is_bitwise(row->op))))
        kp_check_fail(c, n, "%s works on i32, u32, i64%s u64%s, but '%s' holds %s", row->name,
                      is_bitwise(row->op) ? " and" : ",", is_bitwise(row->op) ? "" : " and f32",
                      kp_check_text(c, n->u.call.list.items[0]), type->name);
    if (dtype == KP_F32)
        root->float_atomics |= 1u << row->op;
    uint32_t values = row->most - 2, first = n->u.call.list.count - values;
    kp_list list = {.items = KP_UNIT_NEW(c->unit, kp_node *, 3), .count = values + 1};
    list.items[0] = place;
    for (uint32_t i = 0; i < values; i++)
        list.items[i + 1] =
            kp_check_coerce(c, kp_check_expr(c, n->u.call.list.items[first + i]), type, "the value of an atomic");
    return kp_check_builtin(c, n, row, list, type);
}

// ---------------------------------------------------------------------------------------------------------------------
// Subgroups
// ---------------------------------------------------------------------------------------------------------------------

static kp_node *lane_number(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_node *lane = kp_check_value(c, n);
    if (!kp_type_is_int(lane->type) || !kp_type_is_scalar(lane->type))
        kp_check_fail(c, n, "%s takes the number of a lane, but this is %s", row->name, lane->type->name);
    if (lane->kind == KP_NODE_CONST && lane->u.value.i < 0)
        kp_check_fail(c, n, "the number of a lane is not negative");
    return kp_check_cast(c, lane, kp_type_scalar(KP_U32));
}

static void want_operand(kp_checker *c, const kp_node *n, const kp_node *value, const kp_builtin *row) {
    if (value->type->kind == KP_TYPE_ARRAY)
        kp_check_fail(c, n, "%s takes values, but '%s' is a buffer; index it, as in %s[i]", row->name,
                      kp_check_text(c, n), kp_check_text(c, n));
    bool reduces = row->op >= KP_SUBGROUP_ADD;
    uint32_t which = (row->op - KP_SUBGROUP_ADD) % KP_SUBGROUP_REDUCTIONS;
    bool bitwise = reduces && which >= KP_SUBGROUP_AND - KP_SUBGROUP_ADD;
    if (!kp_type_is_value(value->type) || (reduces && !kp_type_is_numeric(value->type)) ||
        (bitwise && !kp_type_is_int(value->type)))
        kp_check_fail(c, n, "%s takes %s, but this is %s", row->name,
                      bitwise   ? "integers"
                      : reduces ? "numbers"
                                : "a scalar or a vector",
                      value->type->name);
}

static const kp_type *subgroup_type(const kp_builtin *row, const kp_type *operand) {
    switch ((kp_subgroup)row->op) {
    case KP_SUBGROUP_SIZE:
    case KP_SUBGROUP_LANE:
    case KP_SUBGROUP_ID:
    case KP_SUBGROUP_COUNT:
        return kp_type_scalar(KP_I32);
    case KP_SUBGROUP_ELECT:
    case KP_SUBGROUP_ANY_OF:
    case KP_SUBGROUP_ALL_OF:
        return kp_type_scalar(KP_BOOL);
    case KP_SUBGROUP_BALLOT:
        return kp_type_vector(KP_U32, 4);
    default:
        return operand;
    }
}

static kp_node *check_subgroup(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_list list = n->u.call.list;
    kp_check_need_local_size(c, n, row->name);
    if (row->op < KP_SUBGROUP_INPUTS)
        c->kernel->subgroup_inputs |= 1u << row->op;
    if (list.count > 0) {
        const kp_node *as_written = list.items[0];
        bool test = row->op == KP_SUBGROUP_ANY_OF || row->op == KP_SUBGROUP_ALL_OF || row->op == KP_SUBGROUP_BALLOT;
        list.items[0] = test ? kp_check_condition(c, list.items[0]) : kp_check_value(c, list.items[0]);
        want_operand(c, as_written, list.items[0], row);
    }
    if (list.count > 1)
        list.items[1] = lane_number(c, list.items[1], row);
    return kp_check_builtin(c, n, row, list, subgroup_type(row, list.count > 0 ? list.items[0]->type : NULL));
}

kp_node *kp_check_parallel(kp_checker *c, kp_node *n, const kp_builtin *row) {
    check_count(c, n, row);
    if (row->rule == KP_BUILTIN_BARRIER)
        kp_check_fail(c, n, "%s() gives no value; it stands on a line of its own", row->name);
    return row->rule == KP_BUILTIN_ATOMIC ? check_atomic(c, n, row) : check_subgroup(c, n, row);
}
