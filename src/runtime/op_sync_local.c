// Device side to host side. With a shared side there is nothing to copy; the end of the recording makes what the device
// wrote visible to the host.
#include "op.h"

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    for (size_t i = 0; i < op->memory_count; i++)
        kp_recorder_copy(recorder, op->memory[i], KP_SIDE_DEVICE, op->memory[i], KP_SIDE_HOST);
    return recorder->result;
}

static const kp_op_kind kind = {"sync_local", sizeof(kp_op), kp_op_need_host_sides, record, NULL, NULL};

kp_result kp_record_sync_local(kp_sequence *sequence, kp_memory *const *memory, size_t count) {
    return kp_op_record(&kind, sequence, memory, count);
}
