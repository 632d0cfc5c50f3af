// See faults.h.
#include "faults.h"

#include "base/alloc.h"
#include "loop_guard.h"
#include "op.h"

#include <string.h>

enum { PART = 256 }; // bytes; no device wants storage buffers aligned to more

static bool tells(const kp_op *op) { return op->algorithm != NULL && op->algorithm->kernel->module->guarded; }

static kp_result reserve(kp_faults *faults, kp_device *device, size_t count) {
    if (count <= faults->capacity)
        return KP_OK;
    kp_faults_destroy(faults, device);
    faults->parts = kp_alloc_zero(count, sizeof *faults->parts);
    if (faults->parts == NULL)
        return kp_error_host_memory(count * sizeof *faults->parts);
    kp_result result =
        kp_buffer_create(device, KP_BUFFER_HOST_SHARED, (VkDeviceSize)count * PART, "faults", &faults->buffer);
    faults->capacity = result == KP_OK ? count : 0;
    return result;
}

kp_result kp_faults_prepare(kp_faults *faults, kp_device *device, kp_op *const *ops, size_t count) {
    size_t needed = 0;
    for (size_t i = 0; i < count; i++)
        needed += tells(ops[i]);
    faults->count = 0;
    return needed != 0 ? reserve(faults, device, needed) : KP_OK;
}

void kp_faults_destroy(kp_faults *faults, kp_device *device) {
    kp_buffer_destroy(device, &faults->buffer);
    kp_alloc_free(faults->parts);
    *faults = (kp_faults){0};
}

VkDescriptorBufferInfo kp_faults_take(kp_faults *faults, const kp_algorithm *algorithm) {
    kp_faults_part *part = &faults->parts[faults->count];
    *part = (kp_faults_part){.algorithm = algorithm, .offset = faults->count * PART};
    faults->count++;
    return (VkDescriptorBufferInfo){.buffer = faults->buffer.handle, .offset = part->offset, .range = PART};
}

static void *host_side(const kp_faults *faults, const kp_faults_part *part) {
    return (unsigned char *)faults->buffer.mapped + part->offset;
}

void kp_faults_arm(const kp_faults *faults) {
    static const kp_loop_guard armed = {.rounds = KP_LOOP_GUARD_TURNS, .again = KP_LOOP_GUARD_TURNS};
    for (size_t i = 0; i < faults->count; i++)
        memcpy(host_side(faults, &faults->parts[i]), &armed, sizeof armed);
}

kp_result kp_faults_check(const kp_faults *faults) {
    for (size_t i = 0; i < faults->count; i++) {
        const kp_faults_part *part = &faults->parts[i];
        kp_loop_guard guard;
        memcpy(&guard, host_side(faults, part), sizeof guard);
        if (guard.cut != 0)
            return kp_error_set(
                KP_ERROR_LIMIT,
                "algorithm '%s': the driver, lavapipe, ends the loops of an invocation after %d rounds in "
                "all, which were not enough; its results are wrong",
                part->algorithm->label, KP_LOOP_GUARD_ROUNDS);
    }
    return KP_OK;
}
