// Host side to device side. With a shared side there is nothing to do.
#include "op.h"

#include "sequence.h"

static kp_result prepare(kp_op *op, const char *who) {
    for (size_t i = 0; i < op->memory_count; i++) {
        if (op->memory[i]->type == KP_MEMORY_STORAGE)
            return kp_error_set(KP_ERROR_STATE, "%s: tensor '%s' is a storage tensor, which has no host side to sync",
                                who, op->memory[i]->label);
        kp_result result = kp_memory_need_host(op->memory[i]);
        if (result != KP_OK)
            return result;
    }
    return KP_OK;
}

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    for (size_t i = 0; i < op->memory_count; i++)
        kp_recorder_copy(recorder, op->memory[i], KP_SIDE_HOST, op->memory[i], KP_SIDE_DEVICE);
    return recorder->result;
}

static const kp_op_kind kind = {"sync_device", sizeof(kp_op), prepare, record, NULL};

kp_result kp_record_sync_device(kp_sequence *sequence, kp_memory *const *memory, size_t count) {
    kp_op *op = NULL;
    kp_result result = kp_op_create(&kind, sequence, memory, count, &op);
    return result == KP_OK ? kp_sequence_add(sequence, op) : result;
}
