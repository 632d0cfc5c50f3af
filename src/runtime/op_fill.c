// One element into every place of a memory, on the device.
#include "op.h"

#include "sequence.h"

#include <string.h>

typedef struct fill {
    kp_op op;
    unsigned char element[8];
} fill;

static kp_result prepare(kp_op *op, const char *who) {
    const kp_memory *memory = op->memory[0];
    if (!kp_recorder_can_fill(memory))
        return kp_error_set(KP_ERROR_UNSUPPORTED,
                            "%s: tensor '%s' is a view of %llu bytes from byte %llu on: a fill of fewer than 8 bytes "
                            "has to begin and end at a multiple of 4",
                            who, memory->label, (unsigned long long)memory->bytes, (unsigned long long)memory->offset);
    return KP_OK;
}

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    if (op->memory[0]->bytes == 0)
        return recorder->result;
    return kp_recorder_fill(recorder, op->memory[0], KP_SIDE_DEVICE, ((const fill *)op)->element);
}

static const kp_op_kind kind = {"fill", sizeof(fill), prepare, record, NULL, NULL};

kp_result kp_record_fill(kp_sequence *sequence, kp_memory *memory, const void *element) {
    kp_op *op = NULL;
    char text[64];
    kp_result result = kp_op_create(&kind, sequence, &memory, 1, &op);
    if (result != KP_OK)
        return result;
    if (element == NULL) {
        kp_op_destroy(op);
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_record_fill: element is NULL");
    }
    if (memory->format != NULL && !kp_device_queue_computes(sequence->manager->device, sequence->queue)) {
        kp_op_destroy(op);
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: queue %u only copies, a fill of image '%s' needs one that computes",
                            sequence->who, sequence->queue, memory->label);
    }
    if (memory->format == NULL && memory->item != kp_dtype_size(memory->dtype)) {
        kp_op_destroy(op);
        return kp_error_set(KP_ERROR_TYPE, "fill: tensor '%s' holds %s, and a fill is for numbers", memory->label,
                            kp_memory_holds(memory, text));
    }
    memcpy(((fill *)op)->element, element, kp_dtype_size(memory->dtype));
    return kp_sequence_add(sequence, op);
}
