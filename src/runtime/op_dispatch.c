// Runs an algorithm, with a launch that is known now, or with one that lies in memory then.
#include "op.h"

#include "base/alloc.h"
#include "image.h"
#include "sequence.h"
#include "vulkan/guard.h"

#include <string.h>

typedef struct dispatch {
    kp_op op;
    uint32_t workgroups[3], extent[3]; // all zero: the algorithm's
    unsigned char *push;               // of the module's size; NULL: the algorithm's
    kp_algorithm_launch launch;        // made by prepare
    VkPipeline pipeline;               //
    uint64_t offset;                   // of an indirect launch, in op.memory[0]
} dispatch;

static kp_result prepare(kp_op *op, const char *who) {
    dispatch *d = (dispatch *)op;
    kp_algorithm *algorithm = op->algorithm;
    for (size_t i = 0; i < algorithm->memory_count; i++) {
        if (!atomic_load(&algorithm->memory[i]->alive))
            return kp_error_set(KP_ERROR_STATE, "%s: %s '%s', which algorithm '%s' binds, is destroyed", who,
                                kp_memory_kind(algorithm->memory[i]), algorithm->memory[i]->label, algorithm->label);
    }
    kp_result result = KP_OK;
    if (op->memory_count == 0) // else the launch stays zeroed: the module's entry as it is
        result = kp_algorithm_plan(algorithm, d->workgroups, d->extent, &d->launch);
    if (result != KP_OK || d->launch.empty)
        return result;
    if (kp_algorithm_push_size(algorithm) != 0 && d->push == NULL && algorithm->push == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: algorithm '%s' has %u bytes of push constants, none were given",
                            who, algorithm->label, kp_algorithm_push_size(algorithm));
    return kp_pipelines_variant_get(algorithm->manager, algorithm->kernel, &d->launch.setting, algorithm->label,
                                    &d->pipeline);
}

// What is written counts as read too: a store orders as much, and the validation layer (1.3.239), which follows one
// access chain only, takes what is written through two for read.
static void touch(const kp_algorithm *algorithm, kp_recorder *recorder) {
    const kp_reflect_binding *bindings = algorithm->kernel->module->reflect->bindings;
    for (size_t i = 0; i < algorithm->memory_count; i++) {
        bool uniform = bindings[i].kind == KP_REFLECT_UNIFORM_BUFFER;
        VkAccessFlags access =
            (bindings[i].reads ? uniform ? VK_ACCESS_UNIFORM_READ_BIT : VK_ACCESS_SHADER_READ_BIT : 0) |
            (bindings[i].writes ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT : 0);
        if (access != 0)
            kp_recorder_touch(recorder, algorithm->memory[i], KP_SIDE_DEVICE,
                              (kp_barrier_access){VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, access});
    }
}

// What the kernel may see. An array whose elements are no whole words ends with its last one, so that its length comes
// out right; everything else is whole words.
static VkDeviceSize range_of(const kp_memory *memory, const kp_reflect_binding *binding) {
    bool exact = binding->array_open && binding->array_stride % 4 != 0;
    return exact ? memory->bytes : kp_memory_range(memory);
}

// An empty array, whose length is 0 to the kernel: no buffer where the device takes that, or else less of one than an
// element has. Of elements of one byte there is one then, which is zero.
static VkDescriptorBufferInfo bound_to_nothing(const kp_device *device, const kp_memory *memory) {
    if (device->features.robustness2.nullDescriptor)
        return (VkDescriptorBufferInfo){.range = VK_WHOLE_SIZE};
    return (VkDescriptorBufferInfo){.buffer = memory->root->device_side.handle, .range = 1};
}

static VkDescriptorBufferInfo bound_buffer(const kp_device *device, const kp_memory *memory,
                                           const kp_reflect_binding *binding) {
    VkDeviceSize limit = device->limits.max_uniform_range;
    if (memory->bytes == 0)
        return bound_to_nothing(device, memory);
    bool uniform = binding->kind == KP_REFLECT_UNIFORM_BUFFER;
    VkDeviceSize size = uniform ? kp_memory_uniform_range(memory) : range_of(memory, binding);
    return (VkDescriptorBufferInfo){.buffer = memory->root->device_side.handle,
                                    .offset = memory->offset,
                                    .range = uniform && size > limit ? limit : size};
}

static kp_result bound_image(kp_device *device, const kp_memory *memory, const kp_reflect_binding *binding,
                             VkDescriptorImageInfo *out) {
    bool sampled = binding->kind == KP_REFLECT_SAMPLER || binding->kind == KP_REFLECT_COMBINED_IMAGE_SAMPLER;
    const kp_pixels_sampling how = kp_image_sampling(memory, binding);
    *out = (VkDescriptorImageInfo){.imageView = memory->pixels.view, .imageLayout = VK_IMAGE_LAYOUT_GENERAL};
    return sampled ? kp_pixels_sampler(device, &how, &out->sampler) : KP_OK;
}

static kp_result bind(const kp_algorithm *algorithm, kp_recorder *recorder) {
    const kp_pipelines_module *module = algorithm->kernel->module;
    kp_device *device = recorder->device;
    kp_pipeline_bound few[16] = {0}, *bound = few;
    kp_result result = KP_OK;
    size_t count = algorithm->memory_count + module->reports;
    if (count > sizeof few / sizeof *few)
        bound = kp_alloc_zero(count, sizeof *bound);
    if (bound == NULL)
        return kp_error_host_memory(count * sizeof *bound);
    for (size_t i = 0; i < algorithm->memory_count && result == KP_OK; i++) {
        const kp_reflect_binding *binding = &module->reflect->bindings[i];
        if (binding->kind == KP_REFLECT_UNIFORM_BUFFER || binding->kind == KP_REFLECT_STORAGE_BUFFER)
            bound[i].buffer = bound_buffer(device, algorithm->memory[i], binding);
        else
            result = bound_image(device, algorithm->memory[i], binding, &bound[i].image);
    }
    if (module->reports)
        bound[count - 1].buffer = kp_faults_take(recorder->faults, algorithm);
    if (result == KP_OK)
        result = kp_pipeline_bind(device, recorder->commands, &module->layout, bound, recorder->pools);
    if (bound != few)
        kp_alloc_free(bound);
    return result;
}

static const void *own_push(const dispatch *d) { return d->push != NULL ? d->push : d->op.algorithm->push; }

static bool pushes_launch(const dispatch *d) { return d->launch.setting.blocks || d->launch.setting.groups; }

// Those that `before`, on the same algorithm, has not pushed already; NULL: all of them.
static void push(const dispatch *d, const dispatch *before, kp_recorder *recorder) {
    const kp_algorithm *algorithm = d->op.algorithm;
    VkPipelineLayout layout = algorithm->kernel->module->layout.handle;
    uint32_t size = kp_algorithm_push_size(algorithm);
    if (size != 0 && (before == NULL || memcmp(own_push(d), own_push(before), size) != 0))
        recorder->device->vk.vkCmdPushConstants(recorder->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size,
                                                own_push(d));
    if (algorithm->shape_size != 0 && before == NULL)
        recorder->device->vk.vkCmdPushConstants(recorder->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, size,
                                                algorithm->shape_size, algorithm->shapes);
    if (pushes_launch(d) && (before == NULL || !pushes_launch(before) ||
                             memcmp(&d->launch.push, &before->launch.push, sizeof d->launch.push) != 0))
        recorder->device->vk.vkCmdPushConstants(recorder->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                                d->launch.push_offset, sizeof d->launch.push, &d->launch.push);
}

// Binds what the dispatch before it has not bound. Every report is another part of memory.
static kp_result bind_all(const dispatch *d, kp_recorder *recorder) {
    const dispatch *before = (const dispatch *)recorder->dispatch;
    const kp_algorithm *algorithm = d->op.algorithm;
    kp_result result = KP_OK;
    if (before == NULL || before->pipeline != d->pipeline)
        recorder->device->vk.vkCmdBindPipeline(recorder->commands, VK_PIPELINE_BIND_POINT_COMPUTE, d->pipeline);
    if (before != NULL && before->op.algorithm != algorithm)
        before = NULL;
    if (before == NULL || algorithm->kernel->module->reports)
        result = bind(algorithm, recorder);
    if (result == KP_OK)
        push(d, before, recorder);
    recorder->dispatch = result == KP_OK ? &d->op : NULL;
    return result;
}

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    const dispatch *d = (const dispatch *)op;
    if (d->launch.empty)
        return recorder->result;
    touch(op->algorithm, recorder);
    if (op->memory_count != 0)
        kp_recorder_touch(
            recorder, op->memory[0], KP_SIDE_DEVICE,
            (kp_barrier_access){VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_ACCESS_INDIRECT_COMMAND_READ_BIT});
    kp_result result = kp_recorder_ready(recorder);
    if (result != KP_OK)
        return result;
    result = bind_all(d, recorder);
    if (result != KP_OK)
        return result;
    const kp_device_functions *vk = &recorder->device->vk;
    const uint32_t *groups = d->launch.groups;
    if (op->memory_count == 0)
        vk->vkCmdDispatch(recorder->commands, groups[0], groups[1], groups[2]);
    else
        vk->vkCmdDispatchIndirect(recorder->commands, op->memory[0]->root->device_side.handle,
                                  op->memory[0]->offset + d->offset);
    return KP_OK;
}

static void destroy(kp_op *op) { kp_alloc_free(((dispatch *)op)->push); }

static const kp_op_kind kind = {"dispatch", sizeof(dispatch), prepare, record, destroy, NULL};
static const kp_op_kind indirect_kind = {"dispatch_indirect", sizeof(dispatch), prepare, record, destroy, NULL};

static kp_result fill(dispatch *d, kp_algorithm *algorithm, const kp_dispatch_desc *desc) {
    kp_algorithm_ref(algorithm);
    d->op.algorithm = algorithm;
    if (desc == NULL)
        return KP_OK;
    memcpy(d->workgroups, desc->workgroups, sizeof d->workgroups);
    memcpy(d->extent, desc->extent, sizeof d->extent);
    if (desc->push_size == 0)
        return KP_OK;
    kp_result result = kp_algorithm_check_push(algorithm, desc->push, desc->push_size);
    if (result != KP_OK)
        return result;
    d->push = kp_alloc_new(desc->push_size);
    if (d->push == NULL)
        return kp_error_host_memory(desc->push_size);
    memcpy(d->push, desc->push, desc->push_size);
    return KP_OK;
}

static kp_result fill_locked(dispatch *d, kp_algorithm *algorithm, const kp_dispatch_desc *desc) {
    kp_guard_read(&algorithm->manager->changes);
    kp_result result = fill(d, algorithm, desc);
    kp_guard_leave(&algorithm->manager->changes);
    return result;
}

// Takes the op over, also when it fails.
static kp_result add(kp_sequence *sequence, kp_algorithm *algorithm, const kp_dispatch_desc *desc, kp_op *op) {
    kp_result result = KP_OK;
    const char *who = sequence->who;
    if (algorithm == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "%s: algorithm is NULL", who);
    else if (algorithm->manager != sequence->manager)
        result =
            kp_error_set(KP_ERROR_ARGUMENT, "%s: algorithm '%s' belongs to another manager", who, algorithm->label);
    else if (!kp_device_queue_computes(sequence->manager->device, sequence->queue))
        result = kp_error_set(KP_ERROR_ARGUMENT, "%s: queue %u only copies, algorithm '%s' needs one that computes",
                              who, sequence->queue, algorithm->label);
    else if (!atomic_load(&algorithm->alive))
        result = kp_error_set(KP_ERROR_STATE, "%s: algorithm '%s' is destroyed", who, algorithm->label);
    else
        result = fill_locked((dispatch *)op, algorithm, desc);
    if (result == KP_OK)
        return kp_sequence_add(sequence, op);
    kp_op_destroy(op);
    return result;
}

kp_result kp_record_dispatch(kp_sequence *sequence, kp_algorithm *algorithm, const kp_dispatch_desc *desc) {
    kp_op *op = NULL;
    kp_result result = kp_op_create(&kind, sequence, NULL, 0, &op);
    return result == KP_OK ? add(sequence, algorithm, desc, op) : result;
}

static bool any(const uint32_t axes[3]) { return (axes[0] | axes[1] | axes[2]) != 0; }

static kp_result check_counts(const kp_memory *counts, uint64_t offset, const char *who) {
    if (counts->format != NULL)
        return kp_error_set(KP_ERROR_TYPE, "%s: the counts of an indirect dispatch are a tensor, '%s' is an image", who,
                            counts->label);
    if (counts->dtype != KP_U32 && counts->dtype != KP_I32)
        return kp_error_set(KP_ERROR_TYPE, "%s: the counts of an indirect dispatch are u32, tensor '%s' holds %s", who,
                            counts->label, kp_dtype_name(counts->dtype));
    if (offset % 4 != 0 || offset > counts->bytes || counts->bytes - offset < 3 * sizeof(uint32_t))
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "%s: an indirect dispatch reads 12 bytes at a multiple of 4, tensor '%s' has %llu bytes, "
                            "and the offset is %llu",
                            who, counts->label, (unsigned long long)counts->bytes, (unsigned long long)offset);
    return KP_OK;
}

kp_result kp_record_dispatch_indirect(kp_sequence *sequence, kp_algorithm *algorithm, kp_tensor *counts,
                                      uint64_t offset, const kp_dispatch_desc *desc) {
    kp_op *op = NULL;
    kp_result result = kp_op_create(&indirect_kind, sequence, &counts, 1, &op);
    if (result != KP_OK)
        return result;
    result = check_counts(counts, offset, sequence->who);
    if (result == KP_OK && desc != NULL && (any(desc->workgroups) || any(desc->extent)))
        result = kp_error_set(KP_ERROR_ARGUMENT, "%s: an indirect dispatch takes its launch from tensor '%s'",
                              sequence->who, counts->label);
    if (result != KP_OK) {
        kp_op_destroy(op);
        return result;
    }
    ((dispatch *)op)->offset = offset;
    return add(sequence, algorithm, desc, op);
}
