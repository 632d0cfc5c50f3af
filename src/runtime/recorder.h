// Writes the commands of a recording's ops, with the barriers that they need between them (design decision 8).
//
// An op says what it is going to touch, then that it is ready, then records its command:
//
//     kp_recorder_touch(recorder, memory, KP_SIDE_DEVICE, access)     as often as needed
//     kp_recorder_ready(recorder)
//     vkCmd...
#ifndef KP_SRC_RUNTIME_RECORDER_H
#define KP_SRC_RUNTIME_RECORDER_H

#include "faults.h"
#include "memory.h"
#include "order.h"
#include "vulkan/barrier.h"
#include "vulkan/pipeline.h"

typedef enum kp_side { KP_SIDE_DEVICE, KP_SIDE_HOST } kp_side;

typedef struct kp_recorder_slot {
    kp_memory *memory;
    kp_barrier_state sides[2]; // of a shared memory only the first is used
} kp_recorder_slot;

typedef struct kp_recorder_touched {
    size_t slot;
    kp_side side;
    kp_barrier_access access;
} kp_recorder_touched;

typedef struct kp_recorder {
    kp_device *device;        //
    VkCommandBuffer commands; //
    kp_pipeline_pools *pools; // for descriptors
    kp_faults *faults;        // prepared for the ops; set by who begins
    bool computes;            // the queue does more than copy; likewise
    kp_recorder_slot *slots;  // one for each memory
    unsigned *uses;           // how each is used: flags of kp_order_how
    size_t slot_count;        //
    kp_map index;             // memory to slot + 1, when there are many
    kp_recorder_touched *touched;
    size_t touched_count, touched_capacity;
    size_t command_count;         // recorded by ops
    const struct kp_op *dispatch; // whose pipeline, memory and push constants are bound; NULL: unknown
    kp_result result;             // the first failure; all that follows does nothing
} kp_recorder;

// `memory` is all that the ops may touch, each once; `uses` gets how. What was submitted before is not the recorder's
// business (order.h).
kp_result kp_recorder_begin(kp_recorder *recorder, kp_device *device, VkCommandBuffer commands,
                            kp_pipeline_pools *pools, kp_memory *const *memory, unsigned *uses, size_t count);

// Records what makes the results visible to the host, frees the recorder, and answers how it all went.
kp_result kp_recorder_finish(kp_recorder *recorder);

void kp_recorder_touch(kp_recorder *recorder, kp_memory *memory, kp_side side, kp_barrier_access access);
kp_result kp_recorder_ready(kp_recorder *recorder);

// Takes over, and gives back, what others outside of the device have too; at the start and the end.
void kp_recorder_acquire(kp_recorder *recorder, uint32_t family);
void kp_recorder_release(kp_recorder *recorder, uint32_t family);

// Records a barrier between all that came before and all that follows.
void kp_recorder_fence_all(kp_recorder *recorder);

// One whole side into another, with the barriers.
kp_result kp_recorder_copy(kp_recorder *recorder, kp_memory *from, kp_side from_side, kp_memory *to, kp_side to_side);

// A part of a device side into that of another; one of them is an image, or both. Sizes are given.
kp_result kp_recorder_copy_region(kp_recorder *recorder, kp_memory *from, kp_memory *to, const kp_copy_region *region);

// An element of the memory's type into the whole of a side, with the barriers. Vulkan fills whole words: a view that
// begins or ends inside of one must have another one to copy from.
bool kp_recorder_can_fill(const kp_memory *memory);
kp_result kp_recorder_fill(kp_recorder *recorder, kp_memory *memory, kp_side side, const unsigned char *element);

#endif
