// runtime/order: whatever is submitted, two submissions that use the same memory and do not both read are ordered, by a
// barrier or through the timelines; and what shares nothing is not held up.
#include "test.h"

#include "runtime/order.h"

enum { QUEUES = 3, MEMORIES = 5, SUBMISSIONS = 400 };

typedef struct submission {
    uint32_t queue;
    uint64_t number;
    unsigned how[MEMORIES];
    bool before[SUBMISSIONS]; // those that are done when this one starts
} submission;

typedef struct world {
    uint32_t queue_count;
    kp_order_queue queues[QUEUES];
    kp_order_state memory[MEMORIES];
    submission list[SUBMISSIONS];
    unsigned count;
    bool barrier;           // of the last one
    uint64_t waits[QUEUES]; //
} world;

static void open_world(world *w, uint32_t queue_count) {
    memset(w, 0, sizeof *w);
    w->queue_count = queue_count;
    for (unsigned i = 0; i < MEMORIES; i++)
        assert_ok(kp_order_init(&w->memory[i], w->queues, queue_count));
}

static void close_world(world *w) {
    for (unsigned i = 0; i < MEMORIES; i++)
        kp_order_free(&w->memory[i]);
}

// A barrier, and each wait, takes along what that one comes after.
static void take_along(const world *w, submission *s, const submission *other, unsigned index) {
    s->before[index] = true;
    for (unsigned i = 0; i < w->count; i++)
        s->before[i] = s->before[i] || other->before[i];
}

static void submit(world *w, uint32_t queue, const unsigned how[MEMORIES]) {
    submission *s = &w->list[w->count];
    kp_order_plan plan;
    kp_order_begin(&plan, w->queues, w->queue_count, queue, w->waits);
    for (unsigned m = 0; m < MEMORIES; m++)
        kp_order_need(&plan, &w->memory[m], how[m]);
    kp_order_pass(&plan);
    for (unsigned m = 0; m < MEMORIES; m++)
        kp_order_use(&plan, &w->memory[m], how[m]);
    s->queue = queue;
    s->number = plan.number;
    memcpy(s->how, how, sizeof s->how);
    w->barrier = plan.barrier;
    assert_int_equal(plan.any_wait, w->waits[0] != 0 || w->waits[1] != 0 || w->waits[2] != 0);
    uint64_t barrier = w->queues[queue].barrier; // all before it are before this one
    for (unsigned i = 0; i < w->count; i++) {
        const submission *o = &w->list[i];
        if (o->queue == queue ? o->number < barrier : o->number <= w->waits[o->queue] && w->waits[o->queue] != 0)
            take_along(w, s, o, i);
    }
    w->count++;
}

static bool conflict(const submission *a, const submission *b) {
    for (unsigned m = 0; m < MEMORIES; m++) {
        if (a->how[m] != 0 && b->how[m] != 0 && ((a->how[m] | b->how[m]) & KP_ORDER_WRITE) != 0)
            return true;
    }
    return false;
}

static void check_last(const world *w) {
    const submission *s = &w->list[w->count - 1];
    for (unsigned i = 0; i + 1 < w->count; i++) {
        if (conflict(s, &w->list[i]) && !s->before[i])
            fail_msg("submission %u on queue %u does not come after %u on queue %u", w->count - 1, s->queue, i,
                     w->list[i].queue);
    }
}

static void conflicting_submissions_are_always_ordered(void **state) {
    (void)state;
    static world w;
    test_random random = {.state = 7};
    for (uint32_t queue_count = 1; queue_count <= QUEUES; queue_count++) {
        for (unsigned round = 0; round < 8; round++) {
            open_world(&w, queue_count);
            for (unsigned i = 0; i < SUBMISSIONS; i++) {
                unsigned how[MEMORIES];
                for (unsigned m = 0; m < MEMORIES; m++)
                    how[m] = test_below(&random, 3) == 0 ? test_below(&random, 4) : 0;
                submit(&w, test_below(&random, queue_count), how);
                check_last(&w);
            }
            close_world(&w);
        }
    }
}

static void what_shares_nothing_is_not_held_up(void **state) {
    (void)state;
    static world w;
    open_world(&w, 2);
    const unsigned writes_0[MEMORIES] = {KP_ORDER_WRITE}, writes_1[MEMORIES] = {0, KP_ORDER_WRITE};
    const unsigned reads_0[MEMORIES] = {KP_ORDER_READ, 0, KP_ORDER_WRITE};
    const unsigned reads_too[MEMORIES] = {KP_ORDER_READ, 0, 0, KP_ORDER_WRITE};
    submit(&w, 0, writes_0);
    assert_false(w.barrier);
    submit(&w, 0, writes_1); // overlaps the first, on the same queue
    assert_false(w.barrier);
    submit(&w, 0, reads_0);
    assert_true(w.barrier);
    submit(&w, 0, reads_too); // reads what the one before reads, behind the same barrier
    assert_false(w.barrier);
    submit(&w, 1, writes_1); // another queue: waits for the writer alone
    assert_false(w.barrier);
    assert_int_equal(w.waits[0], 2);
    submit(&w, 1, writes_0); // for all readers
    assert_int_equal(w.waits[0], 4);
    close_world(&w);
}

static void new_memory_comes_after_all_there_was(void **state) {
    (void)state;
    static world w;
    open_world(&w, 2);
    const unsigned writes_0[MEMORIES] = {KP_ORDER_WRITE}, writes_4[MEMORIES] = {0, 0, 0, 0, KP_ORDER_WRITE};
    submit(&w, 0, writes_0);
    kp_order_free(&w.memory[4]);
    assert_ok(kp_order_init(&w.memory[4], w.queues, 2));
    submit(&w, 1, writes_4);
    assert_int_equal(w.waits[0], 1);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflicting_submissions_are_always_ordered),
        cmocka_unit_test(what_shares_nothing_is_not_held_up),
        cmocka_unit_test(new_memory_comes_after_all_there_was),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
