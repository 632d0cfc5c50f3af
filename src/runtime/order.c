// See order.h. A read comes after the last write; a write comes after the last write and all reads since. What lies
// before a queue's last barrier is behind all that follows on that queue already.
#include "order.h"

#include "base/alloc.h"

#include <string.h>

enum { FEW = 2 }; // queues that need no list

kp_result kp_order_init(kp_order_state *state, const kp_order_queue *queues, uint32_t queue_count) {
    *state = (kp_order_state){0};
    if (queue_count > FEW) {
        state->reads = kp_alloc_zero(queue_count, sizeof *state->reads);
        if (state->reads == NULL)
            return kp_error_host_memory(queue_count * sizeof *state->reads);
    }
    uint64_t *reads = queue_count > FEW ? state->reads : state->few;
    for (uint32_t i = 0; i < queue_count; i++)
        reads[i] = queues[i].last;
    return KP_OK;
}

void kp_order_free(kp_order_state *state) {
    kp_alloc_free(state->reads);
    *state = (kp_order_state){0};
}

void kp_order_begin(kp_order_plan *plan, kp_order_queue *queues, uint32_t queue_count, uint32_t queue,
                    uint64_t *waits) {
    *plan = (kp_order_plan){
        .queues = queues, .queue_count = queue_count, .queue = queue, .number = queues[queue].last + 1, .waits = waits};
    memset(waits, 0, queue_count * sizeof *waits);
}

static void after(kp_order_plan *plan, uint32_t queue, uint64_t number) {
    if (number == 0)
        return;
    if (queue == plan->queue) {
        plan->barrier = plan->barrier || number >= plan->queues[queue].barrier;
        plan->behind = number > plan->behind ? number : plan->behind;
    } else {
        plan->waits[queue] = number > plan->waits[queue] ? number : plan->waits[queue];
        plan->any_wait = true;
    }
}

static uint64_t *reads_of(const kp_order_plan *plan, kp_order_state *state) {
    return plan->queue_count > FEW ? state->reads : state->few;
}

void kp_order_need(kp_order_plan *plan, const kp_order_state *state, unsigned how) {
    if (how != 0)
        after(plan, state->writer, state->write);
    if ((how & KP_ORDER_WRITE) == 0)
        return;
    const uint64_t *reads = plan->queue_count > FEW ? state->reads : state->few;
    for (uint32_t i = 0; i < plan->queue_count; i++)
        after(plan, i, reads[i]);
}

void kp_order_pass(const kp_order_plan *plan) {
    kp_order_queue *queue = &plan->queues[plan->queue];
    queue->last = plan->number;
    if (plan->barrier)
        queue->barrier = plan->number;
}

void kp_order_use(const kp_order_plan *plan, kp_order_state *state, unsigned how) {
    uint64_t *reads = reads_of(plan, state);
    if ((how & KP_ORDER_WRITE) != 0) {
        memset(reads, 0, plan->queue_count * sizeof *reads);
        state->writer = plan->queue;
        state->write = plan->number;
    } else if (how != 0) {
        reads[plan->queue] = plan->number;
    }
}
