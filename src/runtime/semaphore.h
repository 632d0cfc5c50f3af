// Semaphores of the program's own, which its submissions wait for and signal (kp/external.h). Those that order queues
// are the device's.
//
// Lifetime in two counts, as memory.h: `holds` counts who needs the VkSemaphore (the handle, submissions in flight),
// `refs` who needs the struct.
#ifndef KP_SRC_RUNTIME_SEMAPHORE_H
#define KP_SRC_RUNTIME_SEMAPHORE_H

#include "manager.h"

#include <kp/external.h>

struct kp_semaphore {
    kp_list_link link;       // in the manager's list, while the handle lives
    kp_manager *manager;     // struct held
    atomic_uint refs, holds; //
    atomic_bool alive;       // the handle lives, and so does the manager
    char *label;             //
    VkSemaphore handle;      // while there are holds
    bool binary;             //
    kp_handle_type exported; // as what it can be
    bool foreign;            // somebody else destroys the VkSemaphore
    atomic_bool shared;      // others may signal it: exported or imported, or they have the VkSemaphore
    atomic_bool pending;     // a binary one was signalled by what is submitted, and nobody waits for that yet
    uint64_t awaited;        // the most that what is submitted waits for; guarded by the manager's order_lock
    uint64_t promised;       // ... and the most that it sets
};

bool kp_semaphore_hold(kp_semaphore *semaphore); // false when it is destroyed
void kp_semaphore_let_go(kp_semaphore *semaphore);
void kp_semaphore_kill(kp_semaphore *semaphore);      // ends the handle's life, once
void kp_semaphore_clear_retired(kp_manager *manager); // when nothing runs any more

// What was submitted signals it, or waits for it. The manager's order_lock is held.
void kp_semaphore_submitted(kp_semaphore *semaphore, bool signals, uint64_t value);

// Ends the waits for it that nothing will meet any more, since the manager is being destroyed.
void kp_semaphore_relieve(kp_semaphore *semaphore);

// Checks the points of a submission; `who` opens messages.
kp_result kp_semaphore_check_points(const kp_manager *manager, const kp_submit_desc *desc, const char *who);

#endif
