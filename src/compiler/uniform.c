// Barriers that only some invocations of a workgroup would reach, which leaves the others waiting for ever.
//
// A value varies when it comes from an index, a lane, an atomic or a subgroup operation, from memory at an index that
// varies, or from an assignment that only some invocations make. A helper's parameters vary when one call says so. A
// place is reached by some when a condition around it varies, or when some may have left before: by return, by break,
// or by continue in this round. Variables are followed as a whole, not by place in the text, until nothing changes;
// then one more walk looks at the barriers. What is only known from data (an element at an index that all share) counts
// as the same for all.
#include "checker.h"

#include "builtin.h"

typedef struct frame {
    struct frame *outer;
    kp_node *loop;
    const kp_node *continued; // some have gone on with the next round
} frame;

typedef struct walk {
    kp_checker *c;
    kp_instance *instance; // the helper that is being walked; NULL: the kernel
    frame *loop;
    const kp_node *left; // some have returned
    const kp_node *here; // why only some are at the current statement; NULL: all are
    bool changed, report;
} walk;

static bool varies(walk *w, const kp_node *n);
static void mark(walk *w, const kp_node *target, bool differs);

static bool any_varies(walk *w, kp_list list) {
    bool any = false;
    for (uint32_t i = 0; i < list.count; i++)
        any |= varies(w, list.items[i]);
    return any;
}

static bool compare_varies(walk *w, const kp_node *n) {
    bool any = false;
    for (uint32_t i = 0; i + 1 < n->u.compare.list.count; i++) {
        any |= varies(w, n->u.compare.lefts[i]);
        any |= varies(w, n->u.compare.rights[i]);
    }
    return any;
}

static bool builtin_varies(walk *w, const kp_node *n) {
    const kp_builtin *row = n->u.call.row;
    bool any = any_varies(w, n->u.call.list);
    if (row->rule == KP_BUILTIN_ATOMIC)
        return true;
    if (row->rule == KP_BUILTIN_SUBGROUP)
        return row->op != KP_SUBGROUP_SIZE && row->op != KP_SUBGROUP_COUNT;
    return any;
}

static void mark_symbol(walk *w, kp_symbol *symbol) {
    w->changed |= !symbol->varies;
    symbol->varies = true;
}

// The parameter of a helper that gets the argument number `i`.
static kp_symbol *parameter_of(const kp_node *invoke, uint32_t i) {
    const kp_instance *instance = invoke->u.invoke.instance;
    uint32_t place = invoke->u.invoke.positions[i], k = 0;
    while (!kp_symbol_is_passed(instance->params[k]) || place-- > 0)
        k++;
    return instance->params[k];
}

// A helper's body is walked on its own, with what all its calls bring together.
static bool invoke_varies(walk *w, const kp_node *n) {
    kp_instance *instance = n->u.invoke.instance;
    kp_list list = n->u.invoke.list;
    for (uint32_t i = 0; i < list.count; i++) {
        kp_symbol *param = parameter_of(n, i);
        if (varies(w, list.items[i]))
            mark_symbol(w, param);
        if (param->kind == KP_SYMBOL_ARRAY && param->varies) // the helper may have written it
            mark(w, list.items[i], true);
    }
    if (w->here != NULL && instance->why == NULL) {
        instance->why = w->here;
        w->changed = true;
    }
    return instance->varies;
}

// a + b + ... is as deep as it is long: the left edge is walked in a loop. Everything is looked at, for calls in it.
static bool varies(walk *w, const kp_node *n) {
    bool any = false;
    for (; n->kind == KP_NODE_BINARY; n = n->u.binary.left)
        any |= varies(w, n->u.binary.right);
    switch (n->kind) {
    case KP_NODE_VARIABLE:
        return any | n->u.symbol->varies;
    case KP_NODE_UNARY:
        return any | varies(w, n->u.operand);
    case KP_NODE_CAST:
    case KP_NODE_COPY:
        return any | varies(w, n->u.operand);
    case KP_NODE_ARRAY:
        return any | any_varies(w, n->u.array.list);
    case KP_NODE_SWIZZLE:
        return any | varies(w, n->u.swizzle.operand);
    case KP_NODE_FIELD:
        return any | varies(w, n->u.field.operand);
    case KP_NODE_MAKE:
        return any | any_varies(w, n->u.make.list);
    case KP_NODE_COMPARE:
        return any | compare_varies(w, n);
    case KP_NODE_BOOL:
    case KP_NODE_CONSTRUCT:
    case KP_NODE_TUPLE:
        return any | any_varies(w, n->u.list);
    case KP_NODE_COND:
        any |= varies(w, n->u.cond.test);
        any |= varies(w, n->u.cond.yes);
        any |= varies(w, n->u.cond.no);
        return any;
    case KP_NODE_SUBSCRIPT:
        any |= varies(w, n->u.subscript.object);
        any |= varies(w, n->u.subscript.index);
        return any;
    case KP_NODE_BUILTIN:
        return any | builtin_varies(w, n);
    case KP_NODE_BOUNDED:
        return any | varies(w, n->u.bounded.at);
    case KP_NODE_TABLE:
        return any | varies(w, n->u.table.index);
    case KP_NODE_LIBRARY:
        return any | any_varies(w, n->u.invoke.list);
    case KP_NODE_INVOKE:
        return any | invoke_varies(w, n);
    default:
        return any;
    }
}

static void mark(walk *w, const kp_node *target, bool differs) {
    while (target->kind == KP_NODE_SWIZZLE || target->kind == KP_NODE_SUBSCRIPT || target->kind == KP_NODE_FIELD) {
        if (target->kind == KP_NODE_SUBSCRIPT)
            differs |= varies(w, target->u.subscript.index);
        target = target->kind == KP_NODE_SWIZZLE ? target->u.swizzle.operand
                 : target->kind == KP_NODE_FIELD ? target->u.field.operand
                                                 : target->u.subscript.object;
    }
    if (target->kind == KP_NODE_VARIABLE && differs)
        mark_symbol(w, target->u.symbol);
}

static _Noreturn void fail(walk *w, const kp_node *barrier, const kp_node *why) {
    const char *before = "the condition of line ", *after = " is not the same for all";
    if (why->kind == KP_NODE_RETURN)
        before = "some have left at the return of line ", after = "";
    else if (why->kind == KP_NODE_BREAK)
        before = "some have left the loop at the break of line ", after = "";
    else if (why->kind == KP_NODE_CONTINUE)
        before = "some have gone on at the continue of line ", after = "";
    else if (why->kind == KP_NODE_FOR)
        before = "the loop of line ", after = " has not as many rounds for all";
    kp_check_fail(w->c, barrier, "all invocations of a workgroup must reach a barrier, but %s%u%s", before,
                  kp_error_line(w->c->unit, why->first), after);
}

static void walk_block(walk *w, const kp_node *first, const kp_node *why);

static void walk_if(walk *w, const kp_node *n, const kp_node *why) {
    for (uint32_t i = 0; i < n->u.branches.count; i++) {
        const kp_branch *branch = &n->u.branches.branches[i];
        if (branch->test != NULL && varies(w, branch->test) && why == NULL)
            why = branch->test; // of the branches that follow, too
        walk_block(w, branch->body, why);
    }
}

static void walk_loop(walk *w, kp_node *n, const kp_node *why) {
    frame loop = {.outer = w->loop, .loop = n};
    const kp_node *inside = why != NULL ? why : n->u.loop.why;
    if (n->kind == KP_NODE_FOR) {
        bool differs = varies(w, n->u.loop.start);
        differs |= varies(w, n->u.loop.stop);
        differs |= varies(w, n->u.loop.step);
        if (inside == NULL && differs)
            inside = n;
        mark(w, n->u.loop.target, inside != NULL);
    } else if (varies(w, n->u.loop.test) && inside == NULL) {
        inside = n->u.loop.test;
    }
    w->loop = &loop;
    walk_block(w, n->u.loop.body, inside);
    w->loop = loop.outer;
    walk_block(w, n->u.loop.other, n->u.loop.breaks ? inside : why);
}

// Some go elsewhere here, the others do not.
static void walk_exit(walk *w, const kp_node *n, const kp_node *why) {
    if (why == NULL)
        return;
    if (n->kind == KP_NODE_CONTINUE) {
        w->loop->continued = n;
        return;
    }
    for (frame *f = w->loop; f != NULL; f = n->kind == KP_NODE_RETURN ? f->outer : NULL) {
        w->changed |= f->loop->u.loop.why == NULL;
        if (f->loop->u.loop.why == NULL)
            f->loop->u.loop.why = n;
    }
    if (n->kind == KP_NODE_RETURN && w->left == NULL)
        w->left = n;
}

static bool is_waiting(const kp_node *n) {
    return n->kind == KP_NODE_BUILTIN && n->u.call.row->rule == KP_BUILTIN_BARRIER &&
           n->u.call.row->op == KP_BARRIER_ALL;
}

static void walk_return(walk *w, const kp_node *n, const kp_node *why) {
    bool differs = n->u.operand != NULL && varies(w, n->u.operand);
    if (w->instance != NULL && (differs || why != NULL) && !w->instance->varies)
        w->instance->varies = w->changed = true;
    walk_exit(w, n, why);
}

static void walk_statement(walk *w, kp_node *n, const kp_node *why) {
    bool differs;
    switch (n->kind) {
    case KP_NODE_ASSIGN:
        for (uint32_t i = 0; i < n->u.assign.targets.count; i++) {
            differs = varies(w, n->u.assign.value->u.list.items[i]);
            mark(w, n->u.assign.targets.items[i], why != NULL || differs);
        }
        break;
    case KP_NODE_AUGMENT:
        differs = varies(w, n->u.augment.value);
        mark(w, n->u.augment.target, why != NULL || differs);
        break;
    case KP_NODE_UNPACK:
        differs = varies(w, n->u.unpack.value);
        for (uint32_t i = 0; i < n->u.unpack.targets.count; i++)
            mark(w, n->u.unpack.targets.items[i], why != NULL || differs);
        break;
    case KP_NODE_EXPRESSION:
        if (w->report && why != NULL && is_waiting(n->u.operand))
            fail(w, n->u.operand, why);
        varies(w, n->u.operand);
        break;
    case KP_NODE_IF:
        walk_if(w, n, why);
        break;
    case KP_NODE_WHILE:
    case KP_NODE_FOR:
        walk_loop(w, n, why);
        break;
    case KP_NODE_BREAK:
    case KP_NODE_CONTINUE:
        walk_exit(w, n, why);
        break;
    case KP_NODE_RETURN:
        walk_return(w, n, why);
        break;
    case KP_NODE_ASSERT:
        varies(w, n->u.report.test);
        break;
    case KP_NODE_PRINT:
        any_varies(w, n->u.report.list);
        break;
    default:
        break;
    }
}

static void walk_block(walk *w, const kp_node *first, const kp_node *why) {
    for (const kp_node *n = first; n != NULL; n = n->next) {
        const kp_node *here = why != NULL ? why : w->left;
        if (here == NULL && w->loop != NULL)
            here = w->loop->continued;
        w->here = here;
        walk_statement(w, (kp_node *)(uintptr_t)n, here);
    }
}

// The kernel, then each helper; true when something changed.
static bool walk_all(kp_checker *c, bool report) {
    walk w = {.c = c, .report = report};
    walk_block(&w, c->kernel->function->body, NULL);
    bool changed = w.changed;
    for (kp_instance *instance = c->kernel->instances; instance != NULL; instance = instance->next) {
        w = (walk){.c = c, .report = report, .instance = instance};
        walk_block(&w, instance->function->body, instance->why);
        changed |= w.changed;
    }
    return changed;
}

static bool input_varies(kp_input input) {
    switch (input) {
    case KP_INPUT_SIZE:
    case KP_INPUT_SIZE2:
    case KP_INPUT_SIZE3:
    case KP_INPUT_GROUP:
    case KP_INPUT_GROUP2:
    case KP_INPUT_GROUP3:
    case KP_INPUT_GROUPS:
    case KP_INPUT_GROUPS2:
    case KP_INPUT_GROUPS3:
    case KP_INPUT_WORKGROUP_ID:
    case KP_INPUT_WORKGROUP_COUNT:
        return false;
    default:
        return true;
    }
}

void kp_uniform_run(kp_checker *c) {
    const kp_kernel *kernel = c->kernel;
    const uint32_t *size = kernel->local_size;
    if (!kernel->has_barrier || (uint64_t)size[0] * size[1] * size[2] == 1)
        return;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (kernel->params[i].kind == KP_PARAM_INPUT)
            kernel->params[i].symbol->varies = input_varies(kernel->params[i].input);
    }
    while (walk_all(c, false)) {
    }
    walk_all(c, true);
}
