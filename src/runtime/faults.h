// What kernels tell the host behind the back of the caller: that a loop was cut (loop_guard.h), the first fault of a
// checked kernel, what they print (base/launch.h). Each dispatch of a recording whose module tells something has a part
// of one buffer for it, which both sides see; the host clears the parts before each submission and reads them after it.
//
//     kp_faults_prepare(&faults, device, ops, count)     before recording: a buffer large enough
//     kp_faults_take(&faults, algorithm)                 for each dispatch: what to bind
//     kp_faults_arm(&faults)                             before each submission
//     kp_faults_check(&faults)                           after it
#ifndef KP_SRC_RUNTIME_FAULTS_H
#define KP_SRC_RUNTIME_FAULTS_H

#include "vulkan/buffer.h"

typedef struct kp_op kp_op;
typedef struct kp_algorithm kp_algorithm;

typedef struct kp_faults_part {
    const kp_algorithm *algorithm; // kept alive by the recording
    size_t offset;                 // in the buffer
    uint32_t room;                 // words of prints
} kp_faults_part;

typedef struct kp_faults {
    kp_buffer buffer;      // empty: never needed
    kp_faults_part *parts; // in the order of the ops
    size_t count, capacity;
    size_t used; // bytes taken
} kp_faults;

// Makes room for the dispatches among the ops, and forgets the parts taken before.
kp_result kp_faults_prepare(kp_faults *faults, kp_device *device, kp_op *const *ops, size_t count);
void kp_faults_destroy(kp_faults *faults, kp_device *device);

// The part of the next dispatch.
VkDescriptorBufferInfo kp_faults_take(kp_faults *faults, const kp_algorithm *algorithm);

// The host's sides of a submission. `check` hands on what was printed; then the first fault, in the order of the ops,
// is the result: KP_ERROR_LIMIT for a loop that was cut, or what kp_compile (kp/compiler.h) says of checked kernels.
void kp_faults_arm(const kp_faults *faults);
kp_result kp_faults_check(const kp_faults *faults);

#endif
