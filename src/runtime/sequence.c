// See sequence.h. Ops are kept as they were recorded; the commands are made from them at the first evaluation after a
// change, and replayed from then on.
#include "sequence.h"

#include "base/alloc.h"
#include "base/str.h"
#include "vulkan/guard.h"

#include <string.h>

enum { MAX_TIMESTAMPS = 1 << 20 }; // drivers multiply the number without a look, and take 64 bytes and more for each

// ---------------------------------------------------------------------------------------------------------------------
// Checks
// ---------------------------------------------------------------------------------------------------------------------

static kp_result check_alive(const kp_sequence *sequence, const char *function) {
    if (sequence == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: sequence is NULL", function);
    return kp_manager_check(sequence->manager, "sequence", sequence->label);
}

kp_result kp_sequence_check(const kp_sequence *sequence, const char *function) {
    kp_result result = check_alive(sequence, function);
    if (result == KP_OK && sequence->started)
        return kp_error_set(KP_ERROR_STATE, "sequence '%s' is running: await it first", sequence->label);
    return result;
}

bool kp_sequence_is_running(const kp_sequence *sequence) { return sequence != NULL && sequence->started; }

bool kp_sequence_is_recording(const kp_sequence *sequence) {
    return sequence != NULL && !sequence->ended && sequence->op_count != 0;
}

bool kp_sequence_alive(const kp_sequence *sequence) {
    return sequence != NULL && atomic_load(&sequence->alive) && !kp_manager_forked(sequence->manager);
}

size_t kp_sequence_op_count(const kp_sequence *sequence) { return sequence != NULL ? sequence->op_count : 0; }

kp_result kp_sequence_op_name(const kp_sequence *sequence, size_t index, char *text, size_t size) {
    if (sequence == NULL || text == NULL || size == 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_sequence_op_name: %s",
                            sequence == NULL ? "sequence is NULL"
                            : text == NULL   ? "text is NULL"
                                             : "size is 0");
    if (index >= sequence->op_count)
        return kp_error_set(KP_ERROR_INDEX, "sequence '%s': there is no op %zu, it has %zu", sequence->label, index,
                            sequence->op_count);
    kp_op_describe(sequence->ops[index], text, size);
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making and freeing
// ---------------------------------------------------------------------------------------------------------------------

kp_result kp_sequence_open(kp_manager *manager, const kp_sequence_desc *desc, kp_sequence **out) {
    const char *label = desc->label != NULL ? desc->label : "sequence";
    kp_manager_reap(manager);
    kp_sequence *sequence = kp_alloc_zero(1, sizeof *sequence);
    if (sequence == NULL)
        return kp_error_host_memory(sizeof *sequence);
    sequence->manager = manager;
    sequence->queue = desc->queue;
    sequence->timestamps = desc->timestamps;
    kp_str who = {0};
    kp_str_format(&who, "sequence '%s'", label);
    sequence->who = kp_str_take(&who);
    sequence->label = kp_alloc_text(label);
    kp_result result = sequence->label == NULL || sequence->who == NULL
                           ? kp_error_host_memory(strlen(label))
                           : kp_recording_create(manager, desc->queue, desc->timestamps, label, &sequence->recording);
    if (result != KP_OK) {
        kp_alloc_free(sequence->who);
        kp_alloc_free(sequence->label);
        kp_alloc_free(sequence);
        return result;
    }
    atomic_store(&sequence->alive, true);
    kp_manager_hold(manager);
    kp_manager_link(sequence->manager, &sequence->manager->sequences, &sequence->link);
    *out = sequence;
    return KP_OK;
}

kp_result kp_sequence_create(kp_manager *manager, const kp_sequence_desc *desc, kp_sequence **out) {
    kp_result result = kp_manager_check(manager, "kp_sequence_create", NULL);
    if (result != KP_OK)
        return result;
    if (out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_sequence_create: out is NULL");
    const kp_sequence_desc defaults = {0};
    desc = desc != NULL ? desc : &defaults;
    const char *label = desc->label != NULL ? desc->label : "sequence";
    if (desc->queue >= manager->device->queue_count)
        return kp_error_set(KP_ERROR_INDEX, "sequence '%s': there is no queue %u, the manager has %u", label,
                            desc->queue, manager->device->queue_count);
    if (desc->timestamps > MAX_TIMESTAMPS)
        return kp_error_set(KP_ERROR_LIMIT, "sequence '%s': at most %d ops get a timestamp, %u were asked for", label,
                            MAX_TIMESTAMPS, desc->timestamps);
    return kp_sequence_open(manager, desc, out);
}

static void drop_ops(kp_sequence *sequence) {
    for (size_t i = 0; i < sequence->op_count; i++)
        kp_op_destroy(sequence->ops[i]);
    sequence->op_count = 0;
}

// Leaves a recording that still runs to the manager.
static void leave_recording(kp_sequence *sequence) {
    kp_manager *manager = sequence->manager;
    kp_recording *recording = sequence->recording;
    if (recording == NULL)
        return;
    sequence->recording = NULL;
    if (!recording->running) {
        kp_recording_destroy(recording);
        return;
    }
    kp_manager_adopt(manager, recording);
    kp_manager_reap(manager);
}

void kp_sequence_kill(kp_sequence *sequence) {
    atomic_store(&sequence->alive, false);
    sequence->started = false;
    kp_recording_destroy(sequence->recording);
    sequence->recording = NULL;
}

void kp_sequence_destroy(kp_sequence *sequence) {
    if (sequence == NULL || kp_manager_forked(sequence->manager))
        return;
    kp_manager_unlink(sequence->manager, &sequence->manager->sequences, &sequence->link);
    leave_recording(sequence);
    drop_ops(sequence);
    kp_manager_release(sequence->manager);
    kp_alloc_free(sequence->ops);
    kp_alloc_free(sequence->who);
    kp_alloc_free(sequence->label);
    kp_alloc_free(sequence);
}

// ---------------------------------------------------------------------------------------------------------------------
// Recording
// ---------------------------------------------------------------------------------------------------------------------

static kp_result reserve(kp_sequence *sequence) {
    if (sequence->op_count < sequence->op_capacity)
        return KP_OK;
    size_t capacity = sequence->op_capacity * 2 + 4;
    kp_op **larger = kp_alloc_resize(sequence->ops, capacity * sizeof *larger);
    if (larger == NULL)
        return kp_error_host_memory(capacity * sizeof *larger);
    sequence->ops = larger;
    sequence->op_capacity = capacity;
    return KP_OK;
}

kp_result kp_sequence_add(kp_sequence *sequence, kp_op *op) {
    kp_guard_read(&sequence->manager->changes);
    kp_result result = op->kind->prepare != NULL ? op->kind->prepare(op, sequence->who) : KP_OK;
    kp_guard_leave(&sequence->manager->changes);
    if (result == KP_OK)
        result = reserve(sequence);
    if (result != KP_OK) {
        kp_op_destroy(op);
        return result;
    }
    if (sequence->ended)
        drop_ops(sequence);
    sequence->ended = false;
    sequence->ops[sequence->op_count++] = op;
    sequence->recording->valid = false;
    return KP_OK;
}

kp_result kp_sequence_clear(kp_sequence *sequence) {
    kp_result result = kp_sequence_check(sequence, "kp_sequence_clear");
    if (result != KP_OK)
        return result;
    drop_ops(sequence);
    kp_recording_forget(sequence->recording);
    sequence->ended = false;
    return KP_OK;
}

kp_result kp_sequence_truncate(kp_sequence *sequence, size_t count) {
    kp_result result = kp_sequence_check(sequence, "kp_sequence_truncate");
    if (result != KP_OK || count >= sequence->op_count)
        return result;
    while (sequence->op_count > count)
        kp_op_destroy(sequence->ops[--sequence->op_count]);
    sequence->recording->valid = false;
    return KP_OK;
}

kp_result kp_sequence_end(kp_sequence *sequence) {
    kp_result result = kp_sequence_check(sequence, "kp_sequence_end");
    if (result == KP_OK)
        sequence->ended = true;
    return result;
}

kp_result kp_sequence_rerecord(kp_sequence *sequence) {
    kp_result result = kp_sequence_check(sequence, "kp_sequence_rerecord");
    if (result == KP_OK)
        sequence->recording->valid = false;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Evaluation
// ---------------------------------------------------------------------------------------------------------------------

static kp_result start(kp_sequence *sequence, const kp_submit_desc *desc, const char *function) {
    kp_result result = kp_sequence_check(sequence, function);
    if (result == KP_OK)
        result = kp_semaphore_check_points(sequence->manager, desc, sequence->who);
    if (result != KP_OK)
        return result;
    kp_manager_reap(sequence->manager);
    sequence->ended = true;
    sequence->stamped = 0;
    if (sequence->op_count == 0 && desc->wait_count == 0 && desc->signal_count == 0)
        return KP_OK;
    result = kp_recording_start(sequence->recording, sequence->ops, sequence->op_count, desc, sequence->who);
    if (result == KP_OK)
        sequence->stamped = sequence->recording->query_count;
    return result;
}

static kp_result finish(kp_sequence *sequence, uint64_t timeout) {
    kp_result result = kp_recording_wait(sequence->recording, timeout);
    sequence->started = sequence->recording->running;
    return result;
}

kp_result kp_sequence_eval(kp_sequence *sequence) {
    kp_result result = start(sequence, &(kp_submit_desc){0}, "kp_sequence_eval");
    return result == KP_OK ? finish(sequence, UINT64_MAX) : result;
}

kp_result kp_sequence_submit(kp_sequence *sequence, const kp_submit_desc *desc) {
    const kp_submit_desc none = {0};
    kp_result result = start(sequence, desc != NULL ? desc : &none, "kp_sequence_submit");
    if (result == KP_OK)
        sequence->started = true;
    return result;
}

kp_result kp_sequence_eval_async(kp_sequence *sequence) {
    kp_result result = start(sequence, &(kp_submit_desc){0}, "kp_sequence_eval_async");
    if (result == KP_OK)
        sequence->started = true;
    return result;
}

kp_result kp_sequence_await(kp_sequence *sequence, uint64_t timeout) {
    kp_result result = check_alive(sequence, "kp_sequence_await");
    if (result == KP_ERROR_DEVICE_LOST && sequence->started) // what it held may go
        return finish(sequence, 0) == KP_OK ? result : KP_ERROR_DEVICE_LOST;
    if (result != KP_OK)
        return result;
    if (!sequence->started)
        return kp_error_set(KP_ERROR_STATE,
                            "sequence '%s': nothing to await, nothing was submitted since the last await",
                            sequence->label);
    return finish(sequence, timeout);
}

kp_result kp_sequence_timestamps(kp_sequence *sequence, uint64_t *ticks, size_t capacity, size_t *count) {
    kp_result result = kp_sequence_check(sequence, "kp_sequence_timestamps");
    if (result != KP_OK)
        return result;
    if (count == NULL || (ticks == NULL && capacity != 0))
        return kp_error_set(KP_ERROR_ARGUMENT, "sequence '%s': %s is NULL", sequence->label,
                            count == NULL ? "count" : "ticks");
    kp_device *device = sequence->manager->device;
    uint32_t bits = device->limits.timestamp_bits[device->queues[sequence->queue].family];
    if (bits == 0)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "sequence '%s': %s has no timestamps", sequence->label,
                            device->info.name);
    if (sequence->timestamps == 0 || sequence->stamped == 0)
        return kp_error_set(KP_ERROR_STATE, "sequence '%s': %s", sequence->label,
                            sequence->timestamps == 0 ? "made without timestamps" : "not evaluated yet");
    size_t n = sequence->stamped < capacity ? sequence->stamped : capacity;
    if (n != 0)
        result = KP_VK(device, GetQueryPoolResults, device->handle, sequence->recording->queries, 0, (uint32_t)n,
                       n * sizeof *ticks, ticks, sizeof *ticks, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != KP_OK)
        return result;
    for (size_t i = 0; i < n && bits < 64; i++)
        ticks[i] &= ((uint64_t)1 << bits) - 1;
    *count = sequence->stamped;
    return KP_OK;
}
