// Chooses how a regroupable kernel is launched: local size, items per invocation and the shape of the dispatch, from
// the device's limits and the extent (design decision 4, contract in base/launch.h). Pure: no state, no device, no
// allocation.
#ifndef KP_SRC_RUNTIME_LAUNCH_PLAN_H
#define KP_SRC_RUNTIME_LAUNCH_PLAN_H

#include "base/launch.h"

#include <kp/runtime.h>

// Drivers whose best setting was measured and is not that of a GPU.
typedef enum kp_launch_driver {
    KP_LAUNCH_DRIVER_OTHER,
    KP_LAUNCH_DRIVER_LAVAPIPE,    // VK_DRIVER_ID_MESA_LLVMPIPE
    KP_LAUNCH_DRIVER_SWIFTSHADER, // VK_DRIVER_ID_GOOGLE_SWIFTSHADER
} kp_launch_driver;

typedef struct kp_launch_device {
    uint32_t max_workgroup_count[3];
    uint32_t max_workgroup_size[3];
    uint32_t max_workgroup_invocations;
    uint32_t max_push_constants; // bytes
    uint32_t subgroup_size;      // 0: unknown
    kp_device_type type;
    kp_launch_driver driver;
} kp_launch_device;

typedef struct kp_launch_request {
    uint32_t extent[3]; // indices on each axis, at least 1
    uint32_t push_size; // bytes of the kernel's own push constants (kp_reflect.launch_push_offset serves too)
    bool loops; // the kernel has loops (kp_reflect.loops): on lavapipe it then gets one item an invocation, because
                // that driver ends all loops of an invocation, ours over the items too, after 65,535 rounds in all
    const char *label; // opens the messages: "algorithm 'blur'"; NULL: "launch"
} kp_launch_request;

typedef struct kp_launch_plan {
    bool blocks; // true: entry point KP_LAUNCH_BLOCKS_ENTRY. false (no room for kp_launch_push in the device's push
                 // constants): KP_LAUNCH_ENTRY with local size 1, without `push`
    uint32_t local[3];    // specialization constants of the pipeline: LOCAL_X, LOCAL_Y, LOCAL_Z,
    uint32_t items;       // ITEMS,
    bool adjacent;        // ADJACENT,
    bool folded;          // FOLDED
    uint32_t groups[3];   // arguments of the dispatch
    uint32_t push_offset; // where `push` lies: push_size, rounded up to a multiple of 4
    kp_launch_push push;
} kp_launch_plan;

// KP_ERROR_LIMIT, with the limit and both numbers, for an extent of 2^31 or more, and for one that the device cannot
// launch in any shape; KP_ERROR_ARGUMENT for an axis of 0. Safe from any thread.
kp_result kp_launch_plan_make(const kp_launch_device *device, const kp_launch_request *request, kp_launch_plan *out);

// A dispatch of at least `total` workgroups, with few idle ones. False when the device takes no such dispatch, or the
// workgroups' numbers would not fit 32 bits.
bool kp_launch_plan_fold(const uint32_t max[3], uint64_t total, uint32_t groups[3]);

#endif
