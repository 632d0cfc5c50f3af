// Which earlier submissions a new one has to come after, of those that use the same memory. On the same queue a barrier
// at its start does it; on another queue it waits for that queue's timeline. Submissions that share nothing, or only
// read what they share, get neither, and may overlap.
//
// Submissions are numbered from 1 on each queue. Knows no Vulkan and no memory: whoever submits keeps a kp_order_state
// for each memory and a kp_order_queue for each queue, and, under one lock,
//
//     kp_order_begin(&plan, queues, queue_count, queue)
//     kp_order_need(&plan, &state, use)     for each memory
//     ... submits, with the plan's barrier and waits ...
//     kp_order_pass(&plan)                  if that went well, and then
//     kp_order_use(&plan, &state, use)      for each memory
#ifndef KP_SRC_RUNTIME_ORDER_H
#define KP_SRC_RUNTIME_ORDER_H

#include "base/error.h"

typedef enum kp_order_how { KP_ORDER_READ = 1, KP_ORDER_WRITE = 2 } kp_order_how; // flags

// What has been submitted to a queue. Zeroed: nothing.
typedef struct kp_order_queue {
    uint64_t last;    // number of the last submission
    uint64_t barrier; // number of the last one that began with a barrier
} kp_order_queue;

// The last uses of one memory.
typedef struct kp_order_state {
    uint64_t write;  // number of the last submission that wrote; 0: none
    uint32_t writer; // its queue
    uint64_t *reads; // by queue: number of the last one that read since then; 0: none
    uint64_t few[2]; // the same where there are at most two queues
} kp_order_state;

// What a submission to `queue` must do first.
typedef struct kp_order_plan {
    kp_order_queue *queues; // all of them
    uint32_t queue_count;   //
    uint32_t queue;         // that it goes to
    uint64_t number;        // that it gets
    bool barrier;           // begin with one
    uint64_t behind; // last submission to its own queue that it comes after, a barrier in between or not; 0: none
    uint64_t *waits; // by queue: wait until that submission is done; 0: none
    bool any_wait;   //
} kp_order_plan;

// Of memory that is made now: it may have been other memory until here, so that the first write comes after all that
// was submitted.
kp_result kp_order_init(kp_order_state *state, const kp_order_queue *queues, uint32_t queue_count);
void kp_order_free(kp_order_state *state); // a zeroed one is fine

// `waits` has room for queue_count numbers.
void kp_order_begin(kp_order_plan *plan, kp_order_queue *queues, uint32_t queue_count, uint32_t queue, uint64_t *waits);
void kp_order_need(kp_order_plan *plan, const kp_order_state *state, unsigned how);
void kp_order_pass(const kp_order_plan *plan);
void kp_order_use(const kp_order_plan *plan, kp_order_state *state, unsigned how);

#endif
