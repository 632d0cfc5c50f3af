// Which queues of a device to open: those that are asked for, by the family's index or by use, and one for copies that
// goes beside them.
#ifndef KP_SRC_VULKAN_QUEUES_H
#define KP_SRC_VULKAN_QUEUES_H

#include "info.h"

// In the place of a family's index (KP_FAMILY_COMPUTE and KP_FAMILY_TRANSFER in kp/runtime.h).
#define KP_QUEUES_COMPUTE (UINT32_MAX - 1)
#define KP_QUEUES_TRANSFER UINT32_MAX

enum { KP_QUEUES_MAX = 256 };

typedef struct kp_queues_plan {
    uint32_t count, named;                   // queues; those that were asked for, which come first
    uint32_t families[KP_QUEUES_MAX + 1];    // by queue: its family, and
    uint32_t indices[KP_QUEUES_MAX + 1];     // its index in that
    uint32_t owners[KP_QUEUES_MAX + 1];      // the first queue that is the same one as this: itself, or an earlier one
    uint32_t opened[KP_INFO_MAX_FAMILIES];   // by family: its queues that are used
    uint32_t used[KP_INFO_MAX_FAMILIES];     // families that have some, in the order of their first queue
    uint32_t used_count, named_family_count; // of the named queues alone
} kp_queues_plan;

typedef struct kp_queues_request {
    const uint32_t *families; // by queue: an index, or one of the two above
    size_t count;             // 0: one for compute
    bool indices_alone;       // there are no uses
    bool copies;              // one of a family that only copies as well, where there is one and none was asked for
    const char *label;        // the device's, for messages
} kp_queues_request;

// A use gets a queue of its own where one is left, or else shares one. KP_ERROR_ARGUMENT for families that are not
// there, or have too few queues; KP_ERROR_LIMIT for more than KP_QUEUES_MAX; KP_ERROR_UNSUPPORTED where nothing
// computes.
kp_result kp_queues_choose(const kp_info *info, const kp_info_limits *limits, const kp_queues_request *request,
                           kp_queues_plan *out);

#endif
