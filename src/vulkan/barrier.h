// Which barrier is needed between two accesses, if any (design decision 8). Knows no memory: whoever records keeps one
// kp_barrier_state for each thing that can be accessed, and asks.
//
//     kp_barrier_need(&state, access, &barrier)     for each thing that the next command touches
//     kp_barrier_emit(...) and, for every state, kp_barrier_passed(&state, &barrier)     if it is not empty
//     kp_barrier_use(&state, access)                for each thing that the command touches
#ifndef KP_SRC_VULKAN_BARRIER_H
#define KP_SRC_VULKAN_BARRIER_H

#include "device.h"

typedef struct kp_barrier_access {
    VkPipelineStageFlags stage;
    VkAccessFlags access;
} kp_barrier_access;

// All that kp's commands do, and all that they may make use of.
extern const kp_barrier_access kp_barrier_any_work, kp_barrier_any_use;

// What of an access a queue can do that only copies, if it is one.
kp_barrier_access kp_barrier_on(kp_barrier_access access, bool computes);

// A global memory barrier; empty when source.stage is 0.
typedef struct kp_barrier {
    kp_barrier_access source, target;
} kp_barrier;

// What a command buffer has done to one thing so far. Zeroed: nothing, and what came before the command buffer is
// visible.
typedef struct kp_barrier_state {
    kp_barrier_access write;      // the last write
    kp_barrier_access visible;    // where a barrier has made it visible since
    VkPipelineStageFlags reads;   // stages that read since the write
    VkPipelineStageFlags ordered; // stages that a barrier has put behind those reads
} kp_barrier_state;

bool kp_barrier_writes(kp_barrier_access access);

// Adds to `barrier` what must come between `state` and an access.
void kp_barrier_need(const kp_barrier_state *state, kp_barrier_access next, kp_barrier *barrier);

// Notes that the barrier was recorded.
void kp_barrier_passed(kp_barrier_state *state, const kp_barrier *barrier);

// Notes that the access was recorded.
void kp_barrier_use(kp_barrier_state *state, kp_barrier_access access);

// Records the barrier, unless it is empty.
void kp_barrier_emit(kp_device *device, VkCommandBuffer commands, const kp_barrier *barrier);

#endif
