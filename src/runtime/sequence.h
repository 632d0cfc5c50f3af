// A list of ops, and the recording that runs them.
#ifndef KP_SRC_RUNTIME_SEQUENCE_H
#define KP_SRC_RUNTIME_SEQUENCE_H

#include "recording.h"

struct kp_sequence {
    kp_list_link link;   // in the manager's list
    kp_manager *manager; // struct held
    atomic_bool alive;   // so is the manager
    char *label;         //
    char *who;           // "sequence 'x'", for messages
    kp_op **ops;         //
    size_t op_count, op_capacity;
    kp_recording *recording; // NULL once the manager is destroyed
    uint32_t queue;          // index of the manager's
    uint32_t timestamps;     // as asked for
    uint32_t stamped;        // timestamps of the last evaluation
    bool ended;              // evaluated or ended since the last op: the next op starts afresh
    bool started;            // submitted, not yet awaited
};

// As kp_sequence_create, on any queue of the device: what is given is right.
kp_result kp_sequence_open(kp_manager *manager, const kp_sequence_desc *desc, kp_sequence **out);

// KP_ERROR_ARGUMENT for NULL, KP_ERROR_STATE for a dead or running one, KP_ERROR_DEVICE_LOST.
kp_result kp_sequence_check(const kp_sequence *sequence, const char *function);

// Adds the op, or starts afresh with it. Takes it over, also when it fails.
kp_result kp_sequence_add(kp_sequence *sequence, kp_op *op);

// What the manager does to it when it is destroyed; nothing runs any more.
void kp_sequence_kill(kp_sequence *sequence);

#endif
