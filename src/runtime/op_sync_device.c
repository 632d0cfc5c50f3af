// Host side to device side. With a shared side there is nothing to do.
#include "op.h"

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    for (size_t i = 0; i < op->memory_count; i++)
        kp_recorder_copy(recorder, op->memory[i], KP_SIDE_HOST, op->memory[i], KP_SIDE_DEVICE);
    return recorder->result;
}

static const kp_op_kind kind = {"sync_device", sizeof(kp_op), kp_op_need_host_sides, record, NULL, NULL};

kp_result kp_record_sync_device(kp_sequence *sequence, kp_memory *const *memory, size_t count) {
    return kp_op_record(&kind, sequence, memory, count);
}
