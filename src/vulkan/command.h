// A command buffer with a pool and a fence of its own: what a sequence records into and submits. They are kept for
// reuse by the device, so that short-lived sequences are cheap.
#ifndef KP_SRC_VULKAN_COMMAND_H
#define KP_SRC_VULKAN_COMMAND_H

#include "device.h"

struct kp_command {
    kp_command *next; // in the device's list of idle ones
    VkCommandPool pool;
    VkCommandBuffer buffers[2]; // a barrier between all earlier work on the queue and all later, and
    VkCommandBuffer buffer;     // what is recorded: buffers[1]
    VkFence fence;
    bool signalled;  // the fence is, since the last submission
    uint64_t number; // of the last submission
    uint32_t family; // of the pool: it must be submitted to a queue of that family
};

// `out` is untouched when it fails.
kp_result kp_command_acquire(kp_device *device, uint32_t family, kp_command **out);
void kp_command_give(kp_device *device, kp_command *command); // back; not while it runs. NULL is fine
void kp_command_drop_idle(kp_device *device);                 // destroys those that were given back

// For debuggers.
void kp_command_name(kp_device *device, const kp_command *command, const char *name);

// Starts afresh; the buffer may be submitted many times, but not while it runs.
kp_result kp_command_begin(kp_device *device, kp_command *command);
kp_result kp_command_end(kp_device *device, kp_command *command);

// A semaphore of the program's own.
typedef struct kp_command_point {
    VkSemaphore semaphore;
    uint64_t value; // of a timeline
} kp_command_point;

enum { KP_COMMAND_MAX_POINTS = 64 };

// What a submission comes after, and what comes after it.
typedef struct kp_command_order {
    bool barrier;          // all earlier work on the queue
    const uint64_t *waits; // by queue of the device: the number that its timeline must reach, 0 for none. NULL: none
    uint64_t number;       // that the queue's own timeline reaches when the submission is done
    const kp_command_point *after, *signals; // of the program's own, at most KP_COMMAND_MAX_POINTS of each
    uint32_t after_count, signal_count;      //
    bool timelines;                          // some of them are timelines
} kp_command_order;

// Numbers must go up on a queue: the caller keeps its submissions in order.
kp_result kp_command_submit(kp_device *device, kp_queue *queue, kp_command *command, const kp_command_order *order);

// Makes the queue's timeline reach `number`, that of its last submission, when all that was submitted is done: for a
// queue that does not tell of each.
kp_result kp_command_promise(kp_device *device, kp_queue *queue, uint64_t number);

// Waits for the submission, at most `timeout` nanoseconds: a short spin, then blocking (design decision 7).
// KP_ERROR_TIMEOUT; KP_ERROR_DEVICE_LOST. After KP_OK it may be submitted again.
kp_result kp_command_wait(kp_device *device, kp_queue *queue, kp_command *command, uint64_t timeout);

// Gives up on a submission that cannot be waited for: what it uses may be freed then. Waits for the queue as far as the
// driver still can.
void kp_command_abandon(kp_device *device, kp_queue *queue, kp_command *command);

// A look: true when it would not wait, whatever it would answer.
bool kp_command_done(kp_device *device, const kp_command *command);

#endif
