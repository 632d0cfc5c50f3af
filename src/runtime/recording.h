// The commands of a sequence's ops, and all that they need while they run: command buffer, descriptors, queries, and
// the memory and algorithms that they use.
#ifndef KP_SRC_RUNTIME_RECORDING_H
#define KP_SRC_RUNTIME_RECORDING_H

#include "op.h"
#include "semaphore.h"
#include "vulkan/command.h"

struct kp_recording {
    kp_recording *next;      // in the manager's list of orphans
    kp_manager *manager;     // alive as long as this is
    uint32_t queue_index;    // of the manager's
    kp_queue *queue;         //
    kp_command *command;     //
    kp_pipeline_pools pools; //
    VkQueryPool queries;     // VK_NULL_HANDLE: no timestamps
    uint32_t query_capacity; // ops that get one
    uint32_t query_count;    // recorded, with the one at the start
    bool valid;              // the commands were recorded, and nothing has changed that kp sees
    bool running;            // submitted, not yet seen done
    size_t command_count;    // 0: there is nothing to submit but barriers
    kp_faults faults;        // of the commands

    // What the ops use, each once, referred to; held from start to end of a submission. With the versions recorded.
    kp_memory **memory;
    unsigned *memory_versions;
    unsigned *memory_uses; // flags of kp_order_how
    size_t memory_count;
    kp_algorithm **algorithms;
    unsigned *algorithm_versions;
    size_t algorithm_count;

    kp_semaphore *semaphores[2 * KP_MAX_SEMAPHORE_POINTS]; // of the submission in flight, held
    size_t semaphore_count;
};

// `timestamps`: how many ops get one; 0: none. `label` is for debuggers.
kp_result kp_recording_create(kp_manager *manager, uint32_t queue, uint32_t timestamps, const char *label,
                              kp_recording **out);
void kp_recording_destroy(kp_recording *recording); // not while it runs; NULL is fine

// Submits the ops, recording them first where that is needed, after and before the semaphores, which were checked.
// `who` opens messages.
kp_result kp_recording_start(kp_recording *recording, kp_op *const *ops, size_t count, const kp_submit_desc *desc,
                             const char *who);

// KP_ERROR_TIMEOUT; what kernels had to tell (faults.h); KP_ERROR_DEVICE_LOST. `running` says whether it still is.
kp_result kp_recording_wait(kp_recording *recording, uint64_t timeout);

// Ends the waits for semaphores that nothing will meet any more, since the manager is being destroyed.
void kp_recording_relieve(kp_recording *recording);

// Waits in any case: a submission that cannot be waited for counts as done.
void kp_recording_end(kp_recording *recording);

// Forgets what the ops use, so that it can be freed. Not while it runs.
void kp_recording_forget(kp_recording *recording);

#endif
