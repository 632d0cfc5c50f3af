// A manager: one device with its caches, and the list of what was made from it.
//
// Lifetime in two counts. `refs` counts who needs the struct: the caller's handle, and each child's handle. What the
// manager holds on the device goes when the caller destroys it, however many children there are; they see `alive` and
// answer KP_ERROR_STATE from then on.
#ifndef KP_SRC_RUNTIME_MANAGER_H
#define KP_SRC_RUNTIME_MANAGER_H

#include "base/list.h"
#include "launch_plan.h"
#include "order.h"
#include "pipelines.h"
#include "staging.h"
#include "vulkan/device.h"

#include <kp/runtime.h>

typedef struct kp_recording kp_recording;

enum { KP_MANAGER_RETIRED = 64 };

struct kp_manager {
    atomic_uint refs;           //
    atomic_bool alive;          // false once destroyed
    unsigned fork_count;        // of the process that made it
    kp_device *device;          // held; NULL once destroyed
    char *label;                //
    bool unified;               // tensors' host and device sides are one
    bool regroup;               // kernels of our compiler are launched by blocks
    kp_launch_device launch;    // for kp_launch_plan_make
    kp_print_fn print;          // NULL: to the log
    void *print_payload;        //
    bool print_places;          // prints tell their file, line and kernel
    uint32_t print_words;       // room for the prints of a dispatch
    kp_pipelines pipelines;     // cache
    kp_staging staging;         // for arrays on their way
    _Atomic(uint64_t) used;     // bytes in live tensors
    pthread_rwlock_t changes;   // held to read while commands are recorded, to write while an algorithm changes
    pthread_mutex_t order_lock; // held around a submission and what it is ordered by:
    kp_order_queue *order;      // by queue; the memories' order too
    uint64_t *order_waits;      // room for a plan's
    pthread_mutex_t lock;       // guards the lists below
    kp_list memories;           // live handles
    kp_list algorithms;         //
    kp_list sequences;          //
    kp_list semaphores;         //
    _Atomic(VkSemaphore) retired[KP_MANAGER_RETIRED]; // semaphore.c: to be destroyed
    atomic_uint retirements;                          // so far
    kp_recording *orphans;                            // in flight, their sequences destroyed, or without one
    atomic_bool has_orphans;                          // a look without the lock
};

// The usual first lines of a call: KP_ERROR_ARGUMENT for NULL, KP_ERROR_STATE for a destroyed manager and in a forked
// child, KP_ERROR_DEVICE_LOST. `object` names who asks: "tensor 'x'", or NULL for the manager itself.
kp_result kp_manager_check(const kp_manager *manager, const char *kind, const char *label);

// The same, at the door of a function that makes something: neither is NULL.
kp_result kp_manager_check_making(const kp_manager *manager, const void *desc, const void *out, const char *function);

// True in a child of the process that made the manager: nothing of it may be touched there.
bool kp_manager_forked(const kp_manager *manager);

// Makes one on a device, which it takes over, also when it fails. Of `desc` it needs what is not about the device.
kp_result kp_manager_open(kp_device *device, const kp_manager_desc *desc, kp_manager **out);

void kp_manager_hold(kp_manager *manager);
void kp_manager_release(kp_manager *manager);

// A child's handle comes, and goes.
void kp_manager_link(kp_manager *manager, kp_list *list, kp_list_link *link);
void kp_manager_unlink(kp_manager *manager, kp_list *list, kp_list_link *link);

// Keeps a recording that runs, until it is done.
void kp_manager_adopt(kp_manager *manager, kp_recording *recording);

// Frees what finished submissions of destroyed sequences held. Cheap when there are none.
void kp_manager_reap(kp_manager *manager);

// One more hold on a child whose handle lives: false where nobody has one, or the handle is gone. It may go meanwhile.
bool kp_manager_hold_child(atomic_uint *holds, const atomic_bool *alive);

#endif
