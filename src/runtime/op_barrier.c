// A barrier that the user asks for: all that came before against all that follows, whatever memory it names.
#include "op.h"

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    if (op->memory_count != 0)
        kp_recorder_fence_all(recorder);
    return recorder->result;
}

static const kp_op_kind kind = {"barrier", sizeof(kp_op), NULL, record, NULL, NULL};

kp_result kp_record_barrier(kp_sequence *sequence, kp_memory *const *memory, size_t count) {
    return kp_op_record(&kind, sequence, memory, count);
}
