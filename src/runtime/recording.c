// See recording.h.
#include "recording.h"

#include "base/alloc.h"
#include "vulkan/guard.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making and freeing
// ---------------------------------------------------------------------------------------------------------------------

kp_result kp_recording_create(kp_manager *manager, uint32_t queue, uint32_t timestamps, const char *label,
                              kp_recording **out) {
    kp_device *device = manager->device;
    kp_recording *recording = kp_alloc_zero(1, sizeof *recording);
    if (recording == NULL)
        return kp_error_host_memory(sizeof *recording);
    recording->manager = manager;
    recording->queue_index = queue;
    recording->queue = &device->queues[queue];
    recording->query_capacity = timestamps;
    kp_result result = kp_command_acquire(device, recording->queue->family, &recording->command);
    if (result == KP_OK && timestamps != 0 && kp_device_queue_computes(device, queue) &&
        device->limits.timestamp_bits[recording->queue->family] != 0)
        result = KP_VK(device, CreateQueryPool, device->handle,
                       &(VkQueryPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                                .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                                .queryCount = timestamps + 1},
                       NULL, &recording->queries);
    if (result != KP_OK) {
        kp_recording_destroy(recording);
        return result;
    }
    kp_command_name(device, recording->command, label);
    kp_device_name(device, VK_OBJECT_TYPE_QUERY_POOL, KP_DEVICE_HANDLE(recording->queries), label);
    *out = recording;
    return KP_OK;
}

void kp_recording_forget(kp_recording *recording) {
    for (size_t i = 0; i < recording->memory_count; i++)
        kp_memory_unref(recording->memory[i]);
    for (size_t i = 0; i < recording->algorithm_count; i++)
        kp_algorithm_unref(recording->algorithms[i]);
    kp_alloc_free(recording->memory);
    kp_alloc_free(recording->memory_versions);
    kp_alloc_free(recording->memory_uses);
    kp_alloc_free(recording->algorithms);
    kp_alloc_free(recording->algorithm_versions);
    recording->memory = NULL;
    recording->algorithms = NULL;
    recording->memory_versions = recording->memory_uses = recording->algorithm_versions = NULL;
    recording->memory_count = recording->algorithm_count = 0;
    recording->valid = false;
}

void kp_recording_destroy(kp_recording *recording) {
    if (recording == NULL)
        return;
    kp_device *device = recording->manager->device;
    kp_recording_forget(recording);
    kp_pipeline_pools_destroy(device, &recording->pools);
    kp_faults_destroy(&recording->faults, device);
    if (recording->queries != VK_NULL_HANDLE)
        device->vk.vkDestroyQueryPool(device->handle, recording->queries, NULL);
    kp_command_give(device, recording->command);
    kp_alloc_free(recording);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is used
// ---------------------------------------------------------------------------------------------------------------------

// A list of pointers, each once: searched from the end while short, by a map when long.
typedef struct collected {
    void **items;
    size_t count, capacity;
    kp_map seen;
} collected;

static kp_result collect(collected *list, void *item, bool *fresh) {
    enum { FEW = 24 };
    *fresh = false;
    for (size_t i = list->count; i > 0 && list->count <= FEW; i--) {
        if (list->items[i - 1] == item)
            return KP_OK;
    }
    if (list->count > FEW && kp_map_get(&list->seen, &item, sizeof item) != NULL)
        return KP_OK;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 8;
        void **larger = kp_alloc_resize(list->items, capacity * sizeof *larger);
        if (larger == NULL)
            return kp_error_host_memory(capacity * sizeof *larger);
        list->items = larger;
        list->capacity = capacity;
    }
    if (!kp_map_set(&list->seen, &item, sizeof item, item))
        return kp_error_host_memory(sizeof item);
    list->items[list->count++] = item;
    *fresh = true;
    return KP_OK;
}

static kp_result collect_memory(kp_memory *const *list, size_t count, collected *memory) {
    for (size_t i = 0; i < count; i++) {
        bool fresh;
        kp_result result = collect(memory, list[i], &fresh);
        if (result != KP_OK)
            return result;
        if (fresh)
            kp_memory_ref(list[i]);
    }
    return KP_OK;
}

static kp_result collect_op(const kp_op *op, collected *memory, collected *algorithms) {
    bool fresh;
    kp_algorithm *algorithm = op->algorithm;
    kp_result result = collect_memory(op->memory, op->memory_count, memory);
    if (algorithm == NULL || result != KP_OK)
        return result;
    result = collect_memory(algorithm->memory, algorithm->memory_count, memory);
    if (result == KP_OK)
        result = collect(algorithms, algorithm, &fresh);
    if (result == KP_OK && fresh)
        kp_algorithm_ref(algorithm);
    return result;
}

// Replaces what is used by what the ops use now.
static kp_result collect_all(kp_recording *recording, kp_op *const *ops, size_t count) {
    collected memory = {0}, algorithms = {0};
    kp_result result = KP_OK;
    kp_recording_forget(recording);
    for (size_t i = 0; i < count && result == KP_OK; i++)
        result = collect_op(ops[i], &memory, &algorithms);
    kp_map_free(&memory.seen);
    kp_map_free(&algorithms.seen);
    recording->memory = (kp_memory **)memory.items; // also after a failure: forget frees them
    recording->memory_count = memory.count;
    recording->algorithms = (kp_algorithm **)algorithms.items;
    recording->algorithm_count = algorithms.count;
    if (result != KP_OK)
        return result;
    recording->memory_versions = kp_alloc_zero(memory.count, sizeof *recording->memory_versions);
    recording->memory_uses = kp_alloc_zero(memory.count, sizeof *recording->memory_uses);
    recording->algorithm_versions = kp_alloc_zero(algorithms.count, sizeof *recording->algorithm_versions);
    if (recording->memory_versions == NULL || recording->memory_uses == NULL || recording->algorithm_versions == NULL)
        return kp_error_host_memory((memory.count + algorithms.count) * sizeof(unsigned));
    return KP_OK;
}

static bool is_current(const kp_recording *recording) {
    if (!recording->valid)
        return false;
    for (size_t i = 0; i < recording->algorithm_count; i++) {
        if (recording->algorithms[i]->version != recording->algorithm_versions[i])
            return false;
    }
    for (size_t i = 0; i < recording->memory_count; i++) {
        if (atomic_load_explicit(&recording->memory[i]->root->version, memory_order_relaxed) !=
            recording->memory_versions[i])
            return false;
    }
    return true;
}

static void let_go_of_semaphores(kp_recording *recording) {
    for (size_t i = 0; i < recording->semaphore_count; i++)
        kp_semaphore_let_go(recording->semaphores[i]);
    recording->semaphore_count = 0;
}

static void let_go(kp_recording *recording, size_t memory_count, size_t algorithm_count) {
    for (size_t i = 0; i < memory_count; i++)
        kp_memory_let_go(recording->memory[i]);
    for (size_t i = 0; i < algorithm_count; i++)
        kp_algorithm_let_go(recording->algorithms[i]);
}

static kp_result hold_semaphores(kp_recording *recording, const kp_submit_desc *desc, const char *who) {
    for (size_t i = 0; i < desc->wait_count + desc->signal_count; i++) {
        const kp_semaphore_point *point = i < desc->wait_count ? &desc->waits[i] : &desc->signals[i - desc->wait_count];
        if (!kp_semaphore_hold(point->semaphore)) {
            let_go_of_semaphores(recording);
            return kp_error_set(KP_ERROR_STATE, "%s: semaphore '%s' is destroyed", who, point->semaphore->label);
        }
        recording->semaphores[recording->semaphore_count++] = point->semaphore;
    }
    return KP_OK;
}

// Keeps all that is used from being freed, or says what is destroyed.
static kp_result hold(kp_recording *recording, const char *who) {
    for (size_t i = 0; i < recording->memory_count; i++) {
        if (!kp_memory_hold(recording->memory[i])) {
            let_go(recording, i, 0);
            return kp_error_set(KP_ERROR_STATE, "%s: %s '%s', which it recorded, is destroyed", who,
                                kp_memory_kind(recording->memory[i]), recording->memory[i]->label);
        }
    }
    for (size_t i = 0; i < recording->algorithm_count; i++) {
        if (!kp_algorithm_hold(recording->algorithms[i])) {
            let_go(recording, recording->memory_count, i);
            return kp_error_set(KP_ERROR_STATE, "%s: algorithm '%s', which it recorded, is destroyed", who,
                                recording->algorithms[i]->label);
        }
    }
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Commands
// ---------------------------------------------------------------------------------------------------------------------

static void stamp(kp_recording *recording) {
    if (recording->queries == VK_NULL_HANDLE || recording->query_count > recording->query_capacity)
        return;
    kp_device *device = recording->manager->device;
    VkPipelineStageFlagBits stage =
        recording->query_count == 0 ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
    device->vk.vkCmdWriteTimestamp(recording->command->buffer, stage, recording->queries, recording->query_count);
    recording->query_count++;
}

static void begin_label(const kp_recording *recording, const kp_op *op) {
    const kp_device_functions *vk = &recording->manager->device->vk;
    if (vk->vkCmdBeginDebugUtilsLabelEXT == NULL)
        return;
    char text[256];
    kp_op_describe(op, text, sizeof text);
    vk->vkCmdBeginDebugUtilsLabelEXT(
        recording->command->buffer,
        &(VkDebugUtilsLabelEXT){.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = text});
}

static void end_label(const kp_recording *recording) {
    const kp_device_functions *vk = &recording->manager->device->vk;
    if (vk->vkCmdEndDebugUtilsLabelEXT != NULL)
        vk->vkCmdEndDebugUtilsLabelEXT(recording->command->buffer);
}

static kp_result record_ops(kp_recording *recording, kp_op *const *ops, size_t count) {
    kp_device *device = recording->manager->device;
    kp_recorder recorder;
    kp_result result = kp_recorder_begin(&recorder, device, recording->command->buffer, &recording->pools,
                                         recording->memory, recording->memory_uses, recording->memory_count);
    recorder.faults = &recording->faults;
    recorder.computes = kp_device_queue_computes(device, recording->queue_index);
    kp_recorder_acquire(&recorder, recording->queue->family);
    recording->query_count = 0;
    if (recording->queries != VK_NULL_HANDLE)
        device->vk.vkCmdResetQueryPool(recording->command->buffer, recording->queries, 0,
                                       recording->query_capacity + 1);
    stamp(recording);
    for (size_t i = 0; i < count && result == KP_OK; i++) {
        begin_label(recording, ops[i]);
        result = ops[i]->kind->record(ops[i], &recorder);
        end_label(recording);
        stamp(recording);
    }
    recording->command_count = recorder.command_count;
    kp_recorder_release(&recorder, recording->queue->family);
    kp_result end = kp_recorder_finish(&recorder);
    return result != KP_OK ? result : end;
}

// All that is used is held.
static kp_result record(kp_recording *recording, kp_op *const *ops, size_t count, const char *who) {
    kp_device *device = recording->manager->device;
    kp_result result = KP_OK;
    for (size_t i = 0; i < count && result == KP_OK; i++) {
        if (ops[i]->kind->prepare != NULL)
            result = ops[i]->kind->prepare(ops[i], who);
    }
    if (result != KP_OK)
        return result;
    for (size_t i = 0; i < recording->memory_count; i++)
        recording->memory_versions[i] = atomic_load(&recording->memory[i]->root->version);
    for (size_t i = 0; i < recording->algorithm_count; i++)
        recording->algorithm_versions[i] = recording->algorithms[i]->version;
    kp_pipeline_pools_reset(device, &recording->pools);
    result = kp_faults_prepare(&recording->faults, device, ops, count);
    if (result == KP_OK)
        result = kp_command_begin(device, recording->command);
    if (result != KP_OK)
        return result;
    result = record_ops(recording, ops, count);
    kp_result end = kp_command_end(device, recording->command);
    return result != KP_OK ? result : end;
}

// Takes out the waits for queues that have nothing under way: the host has seen all of their work done.
static void drop_idle_waits(const kp_device *device, kp_order_plan *plan) {
    plan->any_wait = false;
    for (uint32_t i = 0; i < plan->queue_count; i++) {
        if (plan->waits[i] != 0 && atomic_load_explicit(&device->queues[i].pending, memory_order_acquire) == 0)
            plan->waits[i] = 0;
        plan->any_wait = plan->any_wait || plan->waits[i] != 0;
    }
}

// Sees to it that what is waited for will be told.
static kp_result promise_waits(kp_manager *manager, const kp_order_plan *plan) {
    kp_result result = KP_OK;
    for (uint32_t i = 0; i < plan->queue_count && result == KP_OK; i++) {
        kp_queue *queue = &manager->device->queues[i];
        if (plan->waits[i] > queue->promised)
            result = kp_command_promise(manager->device, queue, manager->order[i].last);
    }
    return result;
}

// True when a barrier has to come first. Work that the host has waited for is behind all that it submits from now on.
static bool needs_barrier(const kp_recording *recording, const kp_order_plan *plan) {
    return plan->barrier && atomic_load_explicit(&recording->queue->pending, memory_order_acquire) != 0;
}

// True when the commands have to be submitted: they do something, or they must wait for what others do. With shared
// memory a sync is nothing but that wait, which a barrier of another submission's does not take off it.
static bool has_work(const kp_recording *recording, const kp_order_plan *plan) {
    return recording->command_count != 0 || recording->semaphore_count != 0 || recording->query_count != 0 ||
           plan->any_wait || plan->behind > atomic_load_explicit(&recording->queue->done, memory_order_acquire);
}

static void list_points(const kp_semaphore_point *points, size_t count, kp_command_point *out, bool *timelines) {
    for (size_t i = 0; i < count; i++) {
        out[i] = (kp_command_point){points[i].semaphore->handle, points[i].value};
        *timelines = *timelines || !points[i].semaphore->binary;
    }
}

// Puts the commands behind the submissions that they depend on, and submits them, if there is anything to do.
static kp_result submit(kp_recording *recording, const kp_submit_desc *desc) {
    kp_manager *manager = recording->manager;
    kp_order_plan plan;
    kp_command_point after[KP_MAX_SEMAPHORE_POINTS], signals[KP_MAX_SEMAPHORE_POINTS];
    bool timelines = false;
    list_points(desc->waits, desc->wait_count, after, &timelines);
    list_points(desc->signals, desc->signal_count, signals, &timelines);
    kp_result result = KP_OK;
    kp_guard_lock(&manager->order_lock);
    kp_order_begin(&plan, manager->order, manager->device->all_queue_count, recording->queue_index,
                   manager->order_waits);
    for (size_t i = 0; i < recording->memory_count; i++)
        kp_order_need(&plan, &recording->memory[i]->root->order, recording->memory_uses[i]);
    drop_idle_waits(manager->device, &plan);
    if (plan.any_wait)
        result = promise_waits(manager, &plan);
    if (result == KP_OK && has_work(recording, &plan)) {
        const kp_command_order order = {.barrier = needs_barrier(recording, &plan),
                                        .waits = plan.any_wait ? plan.waits : NULL,
                                        .number = plan.number,
                                        .after = after,
                                        .after_count = (uint32_t)desc->wait_count,
                                        .signals = signals,
                                        .signal_count = (uint32_t)desc->signal_count,
                                        .timelines = timelines};
        kp_faults_arm(&recording->faults);
        result = kp_command_submit(manager->device, recording->queue, recording->command, &order);
        recording->running = result == KP_OK;
    }
    if (recording->running) {
        for (size_t i = 0; i < recording->semaphore_count; i++) // the waits come first
            kp_semaphore_submitted(recording->semaphores[i], i >= desc->wait_count,
                                   i < desc->wait_count ? after[i].value : signals[i - desc->wait_count].value);
        kp_order_pass(&plan);
        for (size_t i = 0; i < recording->memory_count; i++)
            kp_order_use(&plan, &recording->memory[i]->root->order, recording->memory_uses[i]);
    }
    kp_guard_unlock(&manager->order_lock);
    return result;
}

// Commands that fit the ops as they are now; `*held` says whether what they use is held, whatever comes out.
static kp_result make_current(kp_recording *recording, kp_op *const *ops, size_t count, const char *who, bool *held) {
    bool current = is_current(recording);
    kp_result result = current ? KP_OK : collect_all(recording, ops, count);
    if (result == KP_OK)
        result = hold(recording, who);
    *held = result == KP_OK;
    if (!current && result == KP_OK) {
        result = record(recording, ops, count, who);
        recording->valid = result == KP_OK;
    }
    return result;
}

kp_result kp_recording_start(kp_recording *recording, kp_op *const *ops, size_t count, const kp_submit_desc *desc,
                             const char *who) {
    bool held = false;
    kp_guard_read(&recording->manager->changes);
    kp_result result = make_current(recording, ops, count, who, &held);
    kp_guard_leave(&recording->manager->changes);
    if (result == KP_OK)
        result = hold_semaphores(recording, desc, who);
    if (result == KP_OK)
        result = submit(recording, desc);
    if (held && !recording->running)
        let_go(recording, recording->memory_count, recording->algorithm_count);
    if (!recording->running)
        let_go_of_semaphores(recording);
    return result;
}

kp_result kp_recording_wait(kp_recording *recording, uint64_t timeout) {
    if (!recording->running)
        return KP_OK;
    kp_result result = kp_command_wait(recording->manager->device, recording->queue, recording->command, timeout);
    if (result == KP_OK || result == KP_ERROR_DEVICE_LOST) {
        recording->running = false;
        let_go_of_semaphores(recording);
        let_go(recording, recording->memory_count, recording->algorithm_count);
    }
    return result == KP_OK ? kp_faults_check(&recording->faults) : result;
}

void kp_recording_relieve(kp_recording *recording) {
    for (size_t i = 0; recording->running && i < recording->semaphore_count; i++)
        kp_semaphore_relieve(recording->semaphores[i]);
}

void kp_recording_end(kp_recording *recording) {
    kp_recording_wait(recording, UINT64_MAX);
    if (!recording->running)
        return;
    kp_command_abandon(recording->manager->device, recording->queue, recording->command);
    recording->running = false;
    let_go_of_semaphores(recording);
    let_go(recording, recording->memory_count, recording->algorithm_count);
}
