// Statements. Control flow is structured in the plainest way: one merge block per selection, one continue block per
// loop, which holds a for loop's step; break and continue branch to the loop's labels, return ends the function.
#include "emitter.h"

#include "error.h"
#include "texts.h"

#include <string.h>

static void mark_line(kp_emitter *e, const kp_node *n) {
    if (e->unit->desc->no_debug_info || (e->instance != NULL && e->instance->library))
        return;
    const kp_texts_line in = kp_texts_line_of(e->unit, n->first);
    kp_text *text = in.text;
    if (in.number == e->line && e->s->block == e->line_block) // a line holds to the end of its block
        return;
    e->line = in.number;
    e->line_block = e->s->block;
    if (text->file_id == 0)
        text->file_id = kp_spirv_string(e->s, text->file, (uint32_t)strlen(text->file));
    kp_spirv_line(e->s, text->file_id, in.number, n->first->at - in.start + 1);
}

// True for a large array of one value.
static bool is_fill(const kp_node *n) {
    return n->kind == KP_NODE_ARRAY && n->u.array.list.count <= 1 && kp_emit_is_large(n->type);
}

// What a large value is copied from, to another place; NULL: it is no such.
static kp_node *source_of(kp_node *n) {
    kp_node *source = n->kind == KP_NODE_COPY ? n->u.operand : n;
    return kp_emit_in_memory(source) && kp_emit_is_large(n->type) ? source : NULL;
}

static bool is_copy(kp_node *n) { return source_of(n) != NULL; }

static uint32_t fill_value(kp_emitter *e, const kp_node *n) {
    if (n->u.array.list.count == 0)
        return 0;
    return kp_emit_expr(e, n->u.array.list.items[0]);
}

// True for an array that was made where it belongs.
static bool is_in_place(const kp_node *value, const kp_node *target) {
    return value->kind == KP_NODE_VARIABLE && target->kind == KP_NODE_VARIABLE && value->u.symbol->same != NULL &&
           value->u.symbol->same == target->u.symbol;
}

// All values are worked out before the first is stored; one that several targets get is worked out once.
static void emit_assign(kp_emitter *e, const kp_node *n) {
    enum { FEW = 8 };
    kp_list targets = n->u.assign.targets, values = n->u.assign.value->u.list;
    uint32_t few[FEW], *ids = few;
    if (values.count > FEW)
        ids = KP_UNIT_NEW(e->unit, uint32_t, values.count);
    for (uint32_t i = 0; i < values.count; i++) {
        kp_node *value = values.items[i];
        bool again = i > 0 && value == values.items[i - 1];
        if (is_in_place(value, targets.items[i]) || (values.count == 1 && is_copy(value)))
            continue;
        ids[i] = again ? ids[i - 1] : is_fill(value) ? fill_value(e, value) : kp_emit_expr(e, value);
    }
    for (uint32_t i = 0; i < targets.count; i++) {
        if (is_in_place(values.items[i], targets.items[i]))
            continue;
        kp_place place = kp_emit_place(e, targets.items[i]);
        if (is_fill(values.items[i])) {
            kp_emit_fill(e, &place, ids[i]);
        } else if (values.count == 1 && is_copy(values.items[i])) {
            kp_place from = kp_emit_place(e, source_of(values.items[i]));
            kp_emit_copy(e, &place, &from);
        } else {
            kp_emit_store(e, &place, ids[i]);
        }
    }
}

static void emit_augment(kp_emitter *e, const kp_node *n) {
    kp_place place = kp_emit_place(e, n->u.augment.target);
    uint32_t before = e->target;
    e->target = kp_emit_load(e, &place);
    uint32_t value = kp_emit_expr(e, n->u.augment.value);
    kp_emit_store(e, &place, value);
    e->target = before;
}

// Ends the current block with a branch, if it still is open; true when it was.
static bool go_to(kp_emitter *e, uint32_t label) {
    if (e->s->block == 0)
        return false;
    kp_spirv_branch(e->s, label);
    return true;
}

// A module may nest 1,023 levels of control flow. Expressions need some of them, which the parser counts.
static void nest(kp_emitter *e, const kp_node *n) {
    enum { DEEPEST = 700 };
    if (++e->nesting > DEEPEST)
        kp_error_at(e->unit, n->first, kp_ast_last(n),
                    "too many branches and loops are inside of each other here, where each "
                    "'elif' counts as well; the limit is %d",
                    DEEPEST);
}

typedef struct open_merge {
    uint32_t label;
    bool reached; // something branches there
} open_merge;

static void emit_branch(kp_emitter *e, const kp_branch *branch, bool last, open_merge *merge) {
    kp_spirv *s = e->s;
    nest(e, branch->test);
    uint32_t test = kp_emit_expr(e, branch->test);
    uint32_t yes = kp_spirv_id(s);
    *merge = (open_merge){.label = kp_spirv_id(s), .reached = last};
    uint32_t no = last ? merge->label : kp_spirv_id(s);
    kp_spirv_select_branch(s, test, yes, no, merge->label);
    kp_spirv_label(s, yes);
    kp_emit_block(e, branch->body);
    merge->reached |= go_to(e, merge->label);
    if (!last)
        kp_spirv_label(s, no);
}

// if a: ... elif b: ... else: ...   is   if a: ... else { if b: ... else ... }, built in a loop: the merges of those
// inside come first.
static void emit_if(kp_emitter *e, const kp_node *n) {
    open_merge *merges = KP_UNIT_NEW(e->unit, open_merge, n->u.branches.count);
    uint32_t open = 0;
    for (uint32_t i = 0; i < n->u.branches.count; i++) {
        const kp_branch *branch = &n->u.branches.branches[i];
        bool constant = branch->test == NULL || branch->test->kind == KP_NODE_CONST;
        if (constant && branch->test != NULL && branch->test->u.value.i == 0)
            continue;
        if (constant) {
            kp_emit_block(e, branch->body);
            break;
        }
        emit_branch(e, branch, i + 1 == n->u.branches.count, &merges[open++]);
    }
    for (; open > 0; open--) {
        open_merge *merge = &merges[open - 1];
        merge->reached |= go_to(e, merge->label);
        e->nesting--;
        kp_spirv_label(e->s, merge->label);
        if (!merge->reached)
            kp_spirv_unreachable(e->s);
    }
}

static void emit_exit(kp_emitter *e, const kp_node *n) {
    if (n->kind == KP_NODE_CONTINUE) {
        kp_spirv_branch(e->s, e->loop->next);
        return;
    }
    if (e->loop->broken != 0)
        kp_spirv_store(e->s, e->loop->broken, kp_spirv_constant_bool(e->s, true));
    kp_spirv_branch(e->s, e->loop->merge);
}

// ---------------------------------------------------------------------------------------------------------------------
// Loops
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t bool_variable(kp_emitter *e) { return kp_emit_variable(e, kp_type_scalar(KP_BOOL), NULL); }

// A loop's else runs unless a break left the loop.
static void emit_loop_else(kp_emitter *e, const kp_node *n, uint32_t broken) {
    kp_spirv *s = e->s;
    if (n->u.loop.other == NULL)
        return;
    if (broken == 0) {
        kp_emit_block(e, n->u.loop.other);
        return;
    }
    uint32_t other = kp_spirv_id(s), merge = kp_spirv_id(s);
    uint32_t was_broken = kp_spirv_load(s, e->type_bool, broken);
    kp_spirv_select_branch(s, was_broken, merge, other, merge);
    kp_spirv_label(s, other);
    kp_emit_block(e, n->u.loop.other);
    go_to(e, merge);
    kp_spirv_label(s, merge);
}

static kp_emitter_loop open_loop(kp_emitter *e, const kp_node *n) {
    kp_emitter_loop loop = {.outer = e->loop};
    loop.merge = kp_spirv_id(e->s);
    loop.next = kp_spirv_id(e->s);
    if (n->u.loop.other != NULL && n->u.loop.breaks) {
        loop.broken = bool_variable(e);
        kp_spirv_store(e->s, loop.broken, kp_spirv_constant_bool(e->s, false));
    }
    return loop;
}

// The header block, which holds the merge and nothing else; the code after it is in the block that follows. Returns the
// header's label.
//
// Loops over local arrays stay loops when they are long: a driver that sees each turn reach another element may unroll
// ten thousand of them, nested ones too, which takes it many seconds (lavapipe).
static uint32_t start_loop(kp_emitter *e, const kp_node *n, const kp_emitter_loop *loop) {
    enum { FEW = 16 };
    kp_spirv *s = e->s;
    uint32_t header = kp_spirv_id(s), inside = kp_spirv_id(s);
    kp_spirv_branch(s, header);
    kp_spirv_label(s, header);
    bool stays = e->kernel->has_arrays && n->kind == KP_NODE_FOR && n->u.loop.turns > FEW;
    kp_spirv_loop(s, loop->merge, loop->next, stays ? SpvLoopControlDontUnrollMask : SpvLoopControlMaskNone, inside);
    kp_spirv_label(s, inside);
    return header;
}

static void emit_loop_body(kp_emitter *e, const kp_node *n, kp_emitter_loop *loop) {
    nest(e, n);
    e->loop = loop;
    kp_emit_block(e, n->u.loop.body);
    e->loop = loop->outer;
    e->nesting--;
    go_to(e, loop->next);
    kp_spirv_label(e->s, loop->next);
}

// Always true, which no driver can know: `turns` goes 0, ~0, 0, ~0 ... A `while True` without another way out than its
// breaks would be miscompiled by drivers that run the invocations of a group in the lanes of vectors (lavapipe,
// SwiftShader): a value that is loaded in the loop and used after it is kept once for all lanes, and the lanes that
// have left the loop lose it in the turns of the others. This way out makes it a phi, which has a value for each lane.
static uint32_t is_not_over(kp_emitter *e, uint32_t turns) {
    const kp_type *u32 = kp_type_scalar(KP_U32);
    uint32_t now = kp_spirv_load(e->s, e->type_u32, turns);
    return kp_emit_compare(e, KP_TOKEN_NOT_EQUAL, u32, now, kp_emit_number(e, u32, 1));
}

// How many signed integers a test puts in order.
static uint32_t count_orders(const kp_node *n) {
    uint32_t count = 0;
    for (; n->kind == KP_NODE_BINARY; n = n->u.binary.left)
        count += count_orders(n->u.binary.right);
    if (n->kind == KP_NODE_UNARY)
        return count + count_orders(n->u.operand);
    for (uint32_t i = 0; n->kind == KP_NODE_BOOL && i < n->u.list.count; i++)
        count += count_orders(n->u.list.items[i]);
    if (n->kind != KP_NODE_COMPARE || kp_check_is_member(n))
        return count;
    for (uint32_t i = 0; i + 1 < n->u.compare.list.count; i++)
        count += kp_type_is_signed(n->u.compare.lefts[i]->type) && !kp_lexer_is_equality(n->u.compare.ops[i]);
    return count;
}

// NVIDIA's compiler (580) loses the round of 0 of a loop that goes up by 1, in i32 or i64, from -2 or below, where it
// cannot unroll the loop: a second end as in `-9 < j < 1` is enough for that, and so is a call of one of its routines
// (divisions of 64-bit integers, f64 and f16; f32 to i64). It does so in whatever way the test is written, unless the
// loop ends by `!=`, or another way out comes first.
static bool may_lose_round(const kp_emitter *e, const kp_node *test) {
    return test->kind != KP_NODE_CONST && (e->kernel->has_other_widths || count_orders(test) > 1);
}

// The loop goes on where `test` holds. What follows is in a block of its own.
static void emit_way_out(kp_emitter *e, uint32_t test, const kp_emitter_loop *loop) {
    kp_spirv *s = e->s;
    uint32_t body = kp_spirv_id(s), leave = kp_spirv_id(s);
    kp_spirv_select_branch(s, test, body, leave, body);
    kp_spirv_label(s, leave);
    kp_spirv_branch(s, loop->merge);
    kp_spirv_label(s, body);
}

static void emit_while(kp_emitter *e, const kp_node *n) {
    kp_spirv *s = e->s;
    kp_node *test = n->u.loop.test;
    bool constant = test->kind == KP_NODE_CONST;
    if (constant && test->u.value.i == 0) {
        kp_emit_block(e, n->u.loop.other);
        return;
    }
    kp_emitter_loop loop = open_loop(e, n);
    bool has_turns = constant ? n->u.loop.breaks : may_lose_round(e, test);
    uint32_t turns = has_turns ? kp_emit_variable(e, kp_type_scalar(KP_U32), NULL) : 0;
    uint32_t header = start_loop(e, n, &loop);
    if (has_turns || !constant) {
        uint32_t body = kp_spirv_id(s);
        kp_spirv_branch_if(s, has_turns ? is_not_over(e, turns) : kp_emit_expr(e, test), body, loop.merge);
        kp_spirv_label(s, body);
    }
    if (has_turns && !constant)
        emit_way_out(e, kp_emit_expr(e, test), &loop);
    emit_loop_body(e, n, &loop);
    if (has_turns)
        kp_spirv_store(s, turns, kp_spirv_unary(s, SpvOpNot, e->type_u32, kp_spirv_load(s, e->type_u32, turns)));
    kp_spirv_branch(s, header);
    kp_spirv_label(s, loop.merge);
    if (constant && !n->u.loop.breaks)
        kp_spirv_unreachable(s);
    else
        emit_loop_else(e, n, loop.broken);
}

static uint32_t two(kp_emitter *e, SpvOp op, const kp_type *type, uint32_t a, uint32_t b) {
    return kp_spirv_binary(e->s, op, kp_emit_type(e, type), a, b);
}

// What the numbers of a range are counted in.
static const kp_type *counter_type(const kp_node *n) {
    const kp_type *type = n->u.loop.target->type, *step = n->u.loop.step->type;
    bool wide = kp_dtype_size(type->dtype) == 8 || kp_dtype_size(step->dtype) == 8;
    return kp_type_scalar(wide ? KP_U64 : KP_U32);
}

// How many numbers range(start, stop, step) has, without overflow: the distance of the ends, less one, divided by the
// size of the step, plus one, where the ends are in the step's order. `c` is the counter's type, `type` that of the
// ends.
static uint32_t count_up(kp_emitter *e, const kp_type *c, const kp_type *type, uint32_t from, uint32_t to,
                         uint32_t stride) {
    uint32_t one = kp_emit_number(e, c, 1), zero = kp_emit_number(e, c, 0);
    uint32_t some = kp_emit_compare(e, KP_TOKEN_LESS, type, from, to);
    uint32_t end = kp_emit_cast(e, type, c, to);
    uint32_t distance = two(e, SpvOpISub, c, end, kp_emit_cast(e, type, c, from));
    uint32_t count = two(e, SpvOpUDiv, c, two(e, SpvOpISub, c, distance, one), stride);
    return kp_spirv_select(e->s, kp_emit_type(e, c), some, two(e, SpvOpIAdd, c, count, one), zero);
}

static uint32_t count_of(kp_emitter *e, const kp_type *c, const kp_node *n, uint32_t start, uint32_t stop,
                         uint32_t step) {
    kp_spirv *s = e->s;
    const kp_type *type = n->u.loop.target->type, *step_type = n->u.loop.step->type;
    uint32_t c_id = kp_emit_type(e, c), zero = kp_emit_number(e, c, 0), one = kp_emit_number(e, c, 1);
    uint32_t bits = kp_emit_cast(e, step_type, c, step);
    if (!kp_type_is_signed(step_type)) {
        uint32_t none = kp_emit_bool_op(e, SpvOpIEqual, bits, zero);
        uint32_t count = count_up(e, c, type, start, stop, kp_spirv_select(s, c_id, none, one, bits));
        return kp_spirv_select(s, c_id, none, zero, count);
    }
    if (n->u.loop.step->kind == KP_NODE_CONST) {
        int64_t value = n->u.loop.step->u.value.i;
        int64_t size = value < 0 ? (int64_t)(0 - (uint64_t)value) : value;
        uint32_t stride = kp_emit_constant(e, c, (kp_value){.i = size});
        return value > 0 ? count_up(e, c, type, start, stop, stride) : count_up(e, c, type, stop, start, stride);
    }
    uint32_t down = kp_emit_bool_op(e, SpvOpSLessThan, step, kp_emit_number(e, step_type, 0));
    uint32_t none = kp_emit_bool_op(e, SpvOpIEqual, bits, zero); // Python raises ValueError; here the loop is empty
    uint32_t size = kp_spirv_select(s, c_id, down, two(e, SpvOpISub, c, zero, bits), bits);
    size = kp_spirv_select(s, c_id, none, one, size);
    uint32_t id = kp_emit_type(e, type);
    uint32_t low = kp_spirv_select(s, id, down, stop, start), high = kp_spirv_select(s, id, down, start, stop);
    return kp_spirv_select(s, c_id, none, zero, count_up(e, c, type, low, high, size));
}

// With a step of 1 or -1 the running number itself cannot overflow before it meets the end.
static bool counts_by_one(const kp_node *step) {
    if (step->kind != KP_NODE_CONST)
        return false;
    bool down = step->u.value.i == -1 && kp_type_is_signed(step->type);
    return step->u.value.i == 1 || down;
}

// See may_lose_round: the number may go up by 1 from below 0 to an end of 1, or to one that the driver knows to be 1.
static bool range_may_lose_round(const kp_emitter *e, const kp_node *n) {
    const kp_node *start = n->u.loop.start, *stop = n->u.loop.stop;
    if (n->u.loop.step->kind != KP_NODE_CONST || n->u.loop.step->u.value.i != 1)
        return false;
    bool from_below = start->kind != KP_NODE_CONST || start->u.value.i < 0;
    bool to_one = stop->kind != KP_NODE_CONST || stop->u.value.i == 1;
    return from_below && to_one && kp_type_is_signed(n->u.loop.target->type) && e->kernel->has_other_widths;
}

// A hidden number runs from start by step; the body gets a copy in the loop's variable, so that assigning to that
// changes nothing about the loop. Steps other than 1 and -1 are counted down, since start + step may overflow.
static void emit_for(kp_emitter *e, const kp_node *n) {
    kp_spirv *s = e->s;
    const kp_type *type = n->u.loop.target->type, *counter = counter_type(n);
    uint32_t type_id = kp_emit_type(e, type);
    bool simple = counts_by_one(n->u.loop.step), equality = range_may_lose_round(e, n);
    uint32_t start = kp_emit_expr(e, n->u.loop.start);
    uint32_t stop = kp_emit_expr(e, n->u.loop.stop);
    uint32_t step = kp_emit_expr(e, n->u.loop.step);
    uint32_t number = kp_emit_variable(e, type, NULL), left = 0;
    kp_spirv_store(s, number, start);
    if (equality) { // the end is not below the start
        uint32_t some = kp_emit_compare(e, KP_TOKEN_LESS, type, start, stop);
        stop = kp_spirv_select(s, type_id, some, stop, start);
    }
    if (!simple) {
        left = kp_emit_variable(e, counter, NULL);
        kp_spirv_store(s, left, count_of(e, counter, n, start, stop, step));
    }
    kp_emitter_loop loop = open_loop(e, n);
    uint32_t header = start_loop(e, n, &loop), body = kp_spirv_id(s);
    uint32_t now = kp_spirv_load(s, type_id, number), goes_on;
    if (simple) {
        kp_token_kind order = n->u.loop.step->u.value.i > 0 ? KP_TOKEN_LESS : KP_TOKEN_GREATER;
        goes_on = kp_emit_compare(e, equality ? KP_TOKEN_NOT_EQUAL : order, type, now, stop);
    } else {
        uint32_t turns = kp_spirv_load(s, kp_emit_type(e, counter), left);
        goes_on = kp_emit_compare(e, KP_TOKEN_NOT_EQUAL, counter, turns, kp_emit_number(e, counter, 0));
    }
    kp_spirv_branch_if(s, goes_on, body, loop.merge);
    kp_spirv_label(s, body);
    kp_place target = kp_emit_place(e, n->u.loop.target);
    kp_emit_store(e, &target, now);
    emit_loop_body(e, n, &loop);
    now = kp_spirv_load(s, type_id, number);
    kp_spirv_store(s, number, two(e, SpvOpIAdd, type, now, kp_emit_cast(e, n->u.loop.step->type, type, step)));
    if (!simple) {
        uint32_t turns = kp_spirv_load(s, kp_emit_type(e, counter), left);
        kp_spirv_store(s, left, two(e, SpvOpISub, counter, turns, kp_emit_number(e, counter, 1)));
    }
    kp_spirv_branch(s, header);
    kp_spirv_label(s, loop.merge);
    emit_loop_else(e, n, loop.broken);
}

// ---------------------------------------------------------------------------------------------------------------------

static void emit_statement(kp_emitter *e, const kp_node *n) {
    mark_line(e, n);
    switch (n->kind) {
    case KP_NODE_ASSIGN:
        emit_assign(e, n);
        break;
    case KP_NODE_AUGMENT:
        emit_augment(e, n);
        break;
    case KP_NODE_IF:
        emit_if(e, n);
        break;
    case KP_NODE_WHILE:
        emit_while(e, n);
        break;
    case KP_NODE_FOR:
        emit_for(e, n);
        break;
    case KP_NODE_BREAK:
    case KP_NODE_CONTINUE:
        emit_exit(e, n);
        break;
    case KP_NODE_RETURN:
        kp_emit_return(e, n);
        break;
    case KP_NODE_UNPACK:
        kp_emit_unpack(e, n);
        break;
    case KP_NODE_EXPRESSION:
        if (n->u.operand->kind != KP_NODE_BUFFER) // a name that stands alone
            kp_emit_expr(e, n->u.operand);
        break;
    case KP_NODE_ASSERT:
        kp_emit_assert(e, n);
        break;
    case KP_NODE_PRINT:
        kp_emit_print(e, n);
        break;
    default:
        break;
    }
}

void kp_emit_block(kp_emitter *e, const kp_node *first) {
    for (const kp_node *n = first; n != NULL && e->s->block != 0; n = n->next)
        emit_statement(e, n);
}
