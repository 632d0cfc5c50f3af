// See algorithm.h. What a launch means depends on the module: one of our compiler's works on indices, and is launched
// by blocks of them (base/launch.h); any other is launched as Vulkan does.
#include "algorithm.h"

#include <stdio.h>
#include <string.h>

static bool is_given(const uint32_t *axes) { return axes != NULL && (axes[0] | axes[1] | axes[2]) != 0; }

kp_result kp_algorithm_check_launch(const kp_algorithm *algorithm, const uint32_t *workgroups, const uint32_t *extent) {
    if (is_given(workgroups) && is_given(extent))
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': give workgroups or extent, not both", algorithm->label);
    return KP_OK;
}

// Indices on each axis, or workgroups where `in_workgroups` says so. `empty`: there is nothing to do.
static kp_result resolve_launch(const kp_algorithm *algorithm, const uint32_t *workgroups, const uint32_t *extent,
                                uint32_t axes[3], bool *in_workgroups, bool *empty) {
    *empty = false;
    kp_result result = kp_algorithm_check_launch(algorithm, workgroups, extent);
    if (result != KP_OK)
        return result;
    if (!is_given(workgroups) && !is_given(extent)) {
        workgroups = algorithm->workgroups;
        extent = algorithm->extent;
    }
    *in_workgroups = !is_given(extent);
    const uint32_t *given = is_given(extent) ? extent : workgroups;
    if (is_given(given)) {
        for (unsigned i = 0; i < 3; i++)
            axes[i] = given[i] != 0 ? given[i] : 1;
        return KP_OK;
    }
    if (algorithm->has_view_extent) {
        memcpy(axes, algorithm->view_extent, sizeof algorithm->view_extent);
        *in_workgroups = false;
        *empty = axes[0] == 0 || axes[1] == 0 || axes[2] == 0;
        return KP_OK;
    }
    if (algorithm->first == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "algorithm '%s': no launch was given, and there is no memory to take one from",
                            algorithm->label);
    uint64_t count = algorithm->first->count;
    *empty = count == 0;
    axes[0] = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count; // beyond every limit either way
    axes[1] = axes[2] = 1;
    return KP_OK;
}

// Whether a launch can go by pairs, and is large enough to be worth another pipeline.
static bool in_pairs(const kp_algorithm *algorithm, const uint32_t extent[3]) {
    enum { ENOUGH = 1 << 19, ELEMENT = 4 };
    if (algorithm->kernel->module->pairs == VK_NULL_HANDLE || extent[0] < ENOUGH || extent[0] > INT32_MAX ||
        extent[0] % 2 != 0 || extent[1] != 1 || extent[2] != 1)
        return false;
    uint32_t push_end = kp_algorithm_reflect(algorithm)->launch_push_offset + (uint32_t)sizeof(kp_launch_push);
    if (push_end > algorithm->manager->device->info.max_push_constants)
        return false; // then it cannot go by blocks
    for (size_t i = 0; i < algorithm->memory_count; i++) {
        const kp_memory *memory = algorithm->memory[i];
        if (memory->bytes / ELEMENT < extent[0] || memory->offset % (2 * ELEMENT) != 0)
            return false;
    }
    return true;
}

static kp_result plan_blocks(const kp_algorithm *algorithm, const uint32_t extent[3], kp_algorithm_launch *out) {
    const kp_reflect *reflect = kp_algorithm_reflect(algorithm);
    bool pairs = in_pairs(algorithm, extent);
    char who[288];
    snprintf(who, sizeof who, "algorithm '%.200s'", algorithm->label);
    kp_launch_plan plan;
    kp_result result =
        kp_launch_plan_make(&algorithm->manager->launch,
                            &(kp_launch_request){.extent = {pairs ? extent[0] / 2 : extent[0], extent[1], extent[2]},
                                                 .push_size = reflect->launch_push_offset,
                                                 .loops = reflect->loops,
                                                 .label = who},
                            &plan);
    if (result != KP_OK)
        return result;
    memcpy(out->groups, plan.groups, sizeof out->groups);
    if (!plan.blocks)
        return KP_OK;
    out->setting = (kp_pipelines_setting){.blocks = 1,
                                          .local = {plan.local[0], plan.local[1], plan.local[2]},
                                          .items = plan.items,
                                          .adjacent = plan.adjacent,
                                          .folded = plan.folded,
                                          .pairs = pairs};
    out->push = plan.push;
    out->push_offset = plan.push_offset;
    return KP_OK;
}

// More workgroups than the device takes on an axis, in a dispatch of another shape. False where that cannot be.
static bool fold_groups(const kp_algorithm *algorithm, kp_algorithm_launch *out) {
    const kp_info *info = &algorithm->manager->device->info;
    const kp_pipelines_module *module = algorithm->kernel->module;
    uint32_t offset = module->reflect->launch_push_offset, folded[3];
    uint64_t total = out->groups[0], most = UINT32_MAX;
    for (unsigned i = 1; i < 3 && total <= most; i++)
        total *= out->groups[i];
    if (!module->fold || total > most || offset + sizeof(kp_launch_push) > info->max_push_constants ||
        !kp_launch_plan_fold(info->max_workgroup_count, total, folded))
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if ((uint64_t)out->groups[i] * algorithm->kernel->sizes.local_size[i] > (uint64_t)INT32_MAX + 1)
            return false; // an index is an i32
    }
    memcpy(out->push.blocks, out->groups, sizeof out->groups);
    memcpy(out->groups, folded, sizeof out->groups);
    out->setting.groups = 1;
    out->push_offset = offset;
    return true;
}

static kp_result plan_groups(const kp_algorithm *algorithm, const uint32_t axes[3], bool in_workgroups,
                             kp_algorithm_launch *out) {
    const kp_info *info = &algorithm->manager->device->info;
    const uint32_t *local = algorithm->kernel->sizes.local_size;
    bool fits = true;
    for (unsigned i = 0; i < 3; i++) {
        out->groups[i] = in_workgroups ? axes[i] : (axes[i] - 1) / local[i] + 1;
        fits &= out->groups[i] <= info->max_workgroup_count[i];
    }
    uint64_t flat = (uint64_t)out->groups[0] * out->groups[1];
    fits &= flat <= UINT32_MAX && flat * out->groups[2] <= UINT32_MAX; // as in launch_plan.c
    if (fits || fold_groups(algorithm, out))
        return KP_OK;
    for (unsigned i = 0; i < 3; i++) {
        if (out->groups[i] > info->max_workgroup_count[i])
            return kp_error_set(
                KP_ERROR_LIMIT,
                "algorithm '%s': maxComputeWorkGroupCount on axis %c is %u, the launch has %u workgroups",
                algorithm->label, "xyz"[i], info -> max_workgroup_count[i], out -> groups[i]);
    }
    return kp_error_set(KP_ERROR_LIMIT, "algorithm '%s': %u x %u x %u workgroups, at most 2^32 - 1 in all are possible",
                        algorithm->label, out->groups[0], out->groups[1], out->groups[2]);
}

kp_result kp_algorithm_plan(const kp_algorithm *algorithm, const uint32_t *workgroups, const uint32_t *extent,
                            kp_algorithm_launch *out) {
    uint32_t axes[3] = {0};
    bool in_workgroups = false;
    memset(out, 0, sizeof *out);
    kp_result result = resolve_launch(algorithm, workgroups, extent, axes, &in_workgroups, &out->empty);
    if (result != KP_OK || out->empty)
        return result;
    if (algorithm->kernel->module->regroup)
        return plan_blocks(algorithm, axes, out);
    return plan_groups(algorithm, axes, in_workgroups, out);
}
