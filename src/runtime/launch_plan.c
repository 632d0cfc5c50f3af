// See launch_plan.h. In order: a tier (how much one invocation and one workgroup should do, given driver and amount of
// work), a shape (the tier's invocations spread over the axes), the blocks that this makes, and a dispatch shape that
// the device takes.
//
// All sizes of a block are powers of two, so they divide 2^31 and no index of a block can reach beyond it: the shader's
// 32-bit sums cannot overflow. Few settings are used, since each one is a pipeline: three tiers; a launch on one axis
// has one shape a tier; on more axes the local sizes are powers of two, and x stops at 32.
#include "launch_plan.h"

#include "base/error.h"

#include <string.h>

enum { ROW = 32 }; // local size on x of launches on more than one axis: one line of 128 bytes of float32

typedef struct tier {
    uint64_t from;  // indices in the launch, at least
    uint32_t local; // invocations in a workgroup; 0: one subgroup
    uint32_t items; // indices for an invocation, on x
    bool adjacent;  //
} tier;

// Largest first; the last one starts at 0. The large settings are the measured ones of design decision 4; the smaller
// ones keep all units of the device at work: at the lower end of a tier there are some 128 to 1,024 workgroups on a
// GPU, 16 to 32 on a CPU.
static const tier gpu_tiers[] = {{1u << 20, 1024, 8, false}, {1u << 15, 256, 1, false}, {0, 0, 1, false}};
static const tier lavapipe_tiers[] = {{1u << 18, 1024, 8, true}, {1u << 11, 64, 1, false}, {0, 0, 1, false}};
static const tier swiftshader_tiers[] = {{1u << 17, 256, 32, true}, {1u << 11, 64, 1, false}, {0, 0, 1, false}};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The largest power of two that is at most `n`, and the smallest that is at least `n`; 1 for 0. n is at most 2^31.
static uint32_t power_below(uint32_t n) {
    uint32_t p = 1;
    while (p <= n / 2)
        p *= 2;
    return p;
}

static uint32_t power_above(uint32_t n) { return power_below(n) < n ? power_below(n) * 2 : power_below(n); }

// a * b, or UINT64_MAX when it does not fit.
static uint64_t product(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

static uint64_t product3(const uint32_t v[3]) { return product(product(v[0], v[1]), v[2]); }

static uint32_t blocks_for(uint32_t extent, uint32_t block) { return (extent - 1) / block + 1; }

static tier choose_tier(const kp_launch_device *device, const kp_launch_request *request) {
    const tier *t = gpu_tiers;
    if (device->driver == KP_LAUNCH_DRIVER_SWIFTSHADER)
        t = swiftshader_tiers;
    else if (device->driver == KP_LAUNCH_DRIVER_LAVAPIPE || device->type == KP_DEVICE_CPU)
        t = lavapipe_tiers;
    uint64_t indices = product3(request->extent);
    while (indices < t->from)
        t++;
    tier chosen = *t;
    if (chosen.local == 0)
        chosen.local = device->subgroup_size != 0 ? device->subgroup_size : ROW;
    chosen.local = power_below(smaller(chosen.local, device->max_workgroup_invocations));
    if (device->driver == KP_LAUNCH_DRIVER_LAVAPIPE && request->loops)
        chosen.items = 1;
    return chosen;
}

// Spreads t->local invocations over the axes, none longer than its extent needs. One axis: all on x. More: x keeps a
// row of ROW, or more where y and z are too thin to take the rest; z gets at least 4; a launch that is thin on x is
// full on y.
static void choose_shape(const kp_launch_device *device, const uint32_t extent[3], const tier *t,
                         kp_launch_plan *plan) {
    const uint32_t *max = device->max_workgroup_size;
    uint64_t others = (uint64_t)power_above(smaller(extent[1], t->local)) * power_above(smaller(extent[2], t->local));
    uint32_t row = 1;
    while (row * others < t->local)
        row *= 2;
    bool one_axis = others == 1;
    uint32_t x = one_axis ? t->local : smaller(row > ROW ? row : ROW, power_above(extent[0]));
    plan->local[0] = power_below(smaller(smaller(x, t->local), max[0]));
    uint32_t left = t->local / plan->local[0];
    uint32_t y = extent[2] == 1 || left < 8 ? left : left / smaller(4, power_above(extent[2]));
    plan->local[1] = power_below(smaller(smaller(y, power_above(extent[1])), max[1]));
    left /= plan->local[1];
    plan->local[2] = power_below(smaller(smaller(left, power_above(extent[2])), max[2]));
    bool several = t->items > 1 && extent[0] / t->items >= plan->local[0];
    plan->items = several ? t->items : 1;
    plan->adjacent = several && t->adjacent;
}

bool kp_launch_plan_fold(const uint32_t max[3], uint64_t total, uint32_t groups[3]) {
    if (total > product3(max) || total > UINT32_MAX)
        return false;
    uint64_t rows = (total - 1) / max[0] + 1;
    uint64_t z = (rows - 1) / max[1] + 1;
    uint64_t y = (rows - 1) / z + 1;
    uint64_t x = (total - 1) / (y * z) + 1;
    groups[0] = (uint32_t)x;
    groups[1] = (uint32_t)y;
    groups[2] = (uint32_t)z;
    return product3(groups) <= UINT32_MAX;
}

// Also in all: the CPU drivers count workgroups in 32 bits, and run too few of more.
static bool inside(const uint32_t groups[3], const uint32_t max[3]) {
    return groups[0] <= max[0] && groups[1] <= max[1] && groups[2] <= max[2] && product3(groups) <= UINT32_MAX;
}

static kp_result check(const kp_launch_device *device, const kp_launch_request *request, const char *label) {
    for (int axis = 0; axis < 3; axis++) {
        if (request->extent[axis] == 0)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: extent on %c is 0", label, "xyz"[axis]);
        if (request->extent[axis] > INT32_MAX)
            return kp_error_set(KP_ERROR_LIMIT, "%s: extent on %c is %u, the most is %d", label, "xyz"[axis],
                                (unsigned)request -> extent[axis], INT32_MAX);
        if (device->max_workgroup_count[axis] == 0 || device->max_workgroup_size[axis] == 0)
            return kp_error_set(KP_ERROR_LIMIT, "%s: the device launches no workgroups on %c", label, "xyz"[axis]);
    }
    return KP_OK;
}

static kp_result refuse(const kp_launch_device *device, const kp_launch_request *request, const char *label,
                        const uint32_t groups[3]) {
    const uint32_t *e = request->extent, *g = groups, *m = device->max_workgroup_count;
    return kp_error_set(
        KP_ERROR_LIMIT,
        "%s: extent (%u, %u, %u) needs %u x %u x %u workgroups, the device takes %u x %u x %u, and at most "
        "2^32 in all",
        label, (unsigned)e[0], (unsigned)e[1], (unsigned)e[2], (unsigned)g[0], (unsigned)g[1], (unsigned)g[2],
        (unsigned)m[0], (unsigned)m[1], (unsigned)m[2]);
}

// The module as it is: one workgroup for each index, nothing pushed but the kernel's own.
static kp_result plan_single(const kp_launch_device *device, const kp_launch_request *request, const char *label,
                             kp_launch_plan *plan) {
    if (!inside(request->extent, device->max_workgroup_count))
        return refuse(device, request, label, request->extent);
    plan->blocks = plan->adjacent = plan->folded = false;
    plan->items = 1;
    for (int axis = 0; axis < 3; axis++) {
        plan->local[axis] = 1;
        plan->groups[axis] = request->extent[axis];
    }
    return KP_OK;
}

static kp_result plan_blocks(const kp_launch_device *device, const kp_launch_request *request, const char *label,
                             kp_launch_plan *plan) {
    tier t = choose_tier(device, request);
    choose_shape(device, request->extent, &t, plan);
    plan->blocks = true;
    for (int axis = 0; axis < 3; axis++) {
        uint32_t block = axis == 0 ? plan->local[0] * plan->items : plan->local[axis];
        plan->push.extent[axis] = request->extent[axis];
        plan->push.blocks[axis] = blocks_for(request->extent[axis], block);
    }
    memcpy(plan->groups, plan->push.blocks, sizeof plan->groups);
    plan->folded = !inside(plan->groups, device->max_workgroup_count);
    if (plan->folded && !kp_launch_plan_fold(device->max_workgroup_count, product3(plan->push.blocks), plan->groups))
        return refuse(device, request, label, plan->push.blocks);
    return KP_OK;
}

kp_result kp_launch_plan_make(const kp_launch_device *device, const kp_launch_request *request, kp_launch_plan *out) {
    const char *label = request->label != NULL ? request->label : "launch";
    kp_result result = check(device, request, label);
    if (result != KP_OK)
        return result;
    kp_launch_plan plan = {0};
    uint64_t push_offset = ((uint64_t)request->push_size + 3) / 4 * 4;
    bool room = push_offset + sizeof(kp_launch_push) <= device->max_push_constants;
    plan.push_offset = room ? (uint32_t)push_offset : 0;
    result = room ? plan_blocks(device, request, label, &plan) : plan_single(device, request, label, &plan);
    if (result == KP_OK)
        *out = plan;
    return result;
}
