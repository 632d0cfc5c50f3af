// The user's own op (kp/vulkan.h): a callback that records commands, and what it says they do.
#include "op.h"

#include "base/alloc.h"
#include "sequence.h"

#include <kp/vulkan.h>

typedef struct native {
    kp_op op; // its memory is that of the uses
    char *name;
    kp_vulkan_op desc; // the pointers in it but for the callbacks are not valid any more
    unsigned char *uses;
} native;

enum { READS = 1, WRITES = 2 };

static kp_barrier_access access_of(const native *n, size_t index) {
    VkPipelineStageFlags stages = n->desc.stages;
    VkAccessFlags access = 0;
    bool reads = (n->uses[index] & READS) != 0, writes = (n->uses[index] & WRITES) != 0;
    if ((stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) != 0)
        access |= (reads ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_UNIFORM_READ_BIT : 0) |
                  (writes ? VK_ACCESS_SHADER_WRITE_BIT : 0);
    if ((stages & VK_PIPELINE_STAGE_TRANSFER_BIT) != 0)
        access |= (reads ? VK_ACCESS_TRANSFER_READ_BIT : 0) | (writes ? VK_ACCESS_TRANSFER_WRITE_BIT : 0);
    if ((stages & VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT) != 0)
        access |= reads ? VK_ACCESS_INDIRECT_COMMAND_READ_BIT : 0;
    return (kp_barrier_access){stages, access};
}

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    const native *n = (const native *)op;
    for (size_t i = 0; i < op->memory_count; i++) {
        if (n->uses[i] != 0)
            kp_recorder_touch(recorder, op->memory[i], KP_SIDE_DEVICE, access_of(n, i));
    }
    kp_result result = kp_recorder_ready(recorder);
    if (result != KP_OK)
        return result;
    recorder->dispatch = NULL; // it may bind what it likes
    result = n->desc.record(n->desc.payload, recorder->device->handle, recorder->commands);
    if (result != KP_OK)
        return kp_error_set(result, "op '%s': its callback answered %s", n->name, kp_result_name(result));
    return KP_OK;
}

static void destroy(kp_op *op) {
    native *n = (native *)op;
    if (n->desc.destroy != NULL)
        n->desc.destroy(n->desc.payload);
    kp_alloc_free(n->name);
    kp_alloc_free(n->uses);
}

static const char *title(const kp_op *op) { return ((const native *)op)->name; }

static const kp_op_kind kind = {"native", sizeof(native), NULL, record, destroy, title};

// Where kp's own commands run on the sequence's queue.
static VkPipelineStageFlags stages_of(const kp_sequence *sequence) {
    bool computes = kp_device_queue_computes(sequence->manager->device, sequence->queue);
    return computes ? kp_barrier_any_use.stage : VK_PIPELINE_STAGE_TRANSFER_BIT;
}

static kp_result check(const kp_sequence *sequence, const kp_vulkan_op *desc) {
    if (desc == NULL || desc->record == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_record: %s is NULL", desc == NULL ? "desc" : "record");
    if (desc->use_count != 0 && desc->uses == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_record: uses is NULL, but use_count is %zu", desc->use_count);
    VkPipelineStageFlags unknown = desc->stages & ~kp_barrier_any_use.stage;
    if (unknown != 0)
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "kp_vulkan_record: stages may be compute shader, transfer and draw indirect, not 0x%x",
                            unknown);
    kp_result result = kp_sequence_check(sequence, "kp_vulkan_record");
    if (result == KP_OK && (desc->stages & ~stages_of(sequence)) != 0)
        result = kp_error_set(KP_ERROR_ARGUMENT, "%s: stages are 0x%x, but queue %u only copies", sequence->who,
                              desc->stages, sequence->queue);
    return result;
}

static kp_result make(kp_sequence *sequence, const kp_vulkan_op *desc, kp_op **out) {
    kp_memory **memory = kp_alloc_zero(desc->use_count, sizeof *memory);
    unsigned char *uses = kp_alloc_zero(desc->use_count, 1);
    char *name = kp_alloc_text(desc->name != NULL ? desc->name : "native");
    kp_op *op = NULL;
    kp_result result = KP_OK;
    if (memory == NULL || uses == NULL || name == NULL)
        result = kp_error_host_memory(desc->use_count * sizeof *memory);
    for (size_t i = 0; i < desc->use_count && result == KP_OK; i++) {
        memory[i] = desc->uses[i].memory;
        uses[i] = (unsigned char)((desc->uses[i].reads ? READS : 0) | (desc->uses[i].writes ? WRITES : 0));
    }
    if (result == KP_OK)
        result = kp_op_create(&kind, sequence, memory, desc->use_count, &op);
    kp_alloc_free(memory);
    if (result != KP_OK) {
        kp_alloc_free(uses);
        kp_alloc_free(name);
        return result;
    }
    native *n = (native *)op;
    n->name = name;
    n->uses = uses;
    n->desc = *desc;
    n->desc.stages = desc->stages != 0 ? desc->stages : stages_of(sequence);
    *out = op;
    return KP_OK;
}

kp_result kp_vulkan_record(kp_sequence *sequence, const kp_vulkan_op *desc) {
    kp_op *op = NULL;
    kp_result result = check(sequence, desc);
    if (result == KP_OK)
        result = make(sequence, desc, &op);
    if (result == KP_OK)
        return kp_sequence_add(sequence, op);
    if (desc != NULL && desc->destroy != NULL)
        desc->destroy(desc->payload);
    return result;
}
