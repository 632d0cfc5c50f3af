// The first memory into all the others, both sides. The host sides are copied by the device too, in their place among
// the ops, so that a sync before or after the copy means what it says. A host side that nobody has asked for yet holds
// what it was created with: it is not made for this.
#include "base/structs.h"
#include "op.h"

// Parts of one tensor, but not the same part.
static bool overlap(const kp_memory *from, const kp_memory *to) {
    return from->root == to->root && from->offset != to->offset && from->offset < to->offset + to->bytes &&
           to->offset < from->offset + from->bytes;
}

// The pixels of an image, and as many elements.
static kp_result check_pixels(const kp_memory *from, const kp_memory *to, const char *who) {
    if (from->format != NULL && to->format != NULL) {
        if (from->format->channels == to->format->channels && from->dimensions == to->dimensions &&
            from->extent.width == to->extent.width && from->extent.height == to->extent.height &&
            from->extent.depth == to->extent.depth)
            return KP_OK;
        return kp_error_set(
            KP_ERROR_ARGUMENT, "%s: image '%s' is %u x %u x %u of %u channels, image '%s' is %u x %u x %u of %u", who,
            from->label, from->extent.width, from->extent.height, from->extent.depth, from->format->channels, to->label,
            to->extent.width, to->extent.height, to->extent.depth, to->format->channels);
    }
    return from->format != NULL ? kp_op_copy_aligned(to, from, who) : kp_op_copy_aligned(from, to, who);
}

kp_result kp_op_copy_aligned(const kp_memory *tensor, const kp_memory *image, const char *who) {
    uint64_t pixel = kp_dtype_size(image->dtype) * image->format->channels, unit = pixel % 4 == 0 ? pixel : pixel * 4;
    if (tensor->offset % unit != 0)
        return kp_error_set(
            KP_ERROR_UNSUPPORTED,
            "%s: tensor '%s' is a view that begins at byte %llu: a copy between it and image '%s' has to "
            "begin at a multiple of %llu",
            who, tensor->label, (unsigned long long)tensor->offset, image->label, (unsigned long long)unit);
    return KP_OK;
}

static uint64_t item_of(const kp_memory *memory) {
    return memory->format != NULL ? kp_dtype_size(memory->dtype) : memory->item;
}

static bool same_elements(const kp_memory *from, const kp_memory *to) {
    char text[256];
    if (to->dtype != from->dtype || item_of(to) != item_of(from) ||
        (from->structure != NULL) != (to->structure != NULL))
        return false;
    return from->structure == NULL || !kp_structs_differ(from->structure, to->structure, text, sizeof text);
}

kp_result kp_op_copy_same_elements(const kp_memory *from, const kp_memory *to, const char *who) {
    char has[64], wants[64];
    if (same_elements(from, to))
        return KP_OK;
    return kp_error_set(KP_ERROR_TYPE, "%s: %s '%s' holds %s, %s '%s' holds %s", who, kp_memory_kind(from), from->label,
                        kp_memory_holds(from, has), kp_memory_kind(to), to->label, kp_memory_holds(to, wants));
}

static kp_result check(const kp_memory *from, const kp_memory *to, const char *who) {
    const char *from_kind = kp_memory_kind(from), *to_kind = kp_memory_kind(to);
    kp_result result = kp_op_copy_same_elements(from, to, who);
    if (result != KP_OK)
        return result;
    if (overlap(from, to))
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "%s: tensor '%s' and tensor '%s' overlap: bytes %llu and %llu of one tensor, %llu each",
                            who, from->label, to->label, (unsigned long long)from->offset,
                            (unsigned long long)to->offset, (unsigned long long)from->bytes);
    if (to->bytes != from->bytes)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s '%s' has %llu elements, %s '%s' has %llu", who, from_kind,
                            from->label, (unsigned long long)from->count, to_kind, to->label,
                            (unsigned long long)to->count);
    return from->format != NULL || to->format != NULL ? check_pixels(from, to, who) : KP_OK;
}

static kp_result prepare(kp_op *op, const char *who) {
    kp_memory *from = op->memory_count != 0 ? op->memory[0] : NULL;
    if (op->memory_count < 2)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: a copy needs at least 2 memories, %zu given", who,
                            op->memory_count);
    for (size_t i = 1; i < op->memory_count; i++) {
        kp_result result = check(from, op->memory[i], who);
        if (result != KP_OK)
            return result;
    }
    for (size_t i = 1; i < op->memory_count; i++) {
        kp_memory *to = op->memory[i];
        if (from->type == KP_MEMORY_STORAGE || to->type == KP_MEMORY_STORAGE)
            continue;
        kp_result result = KP_OK;
        if (!kp_memory_has_host(from) && kp_memory_has_host(to) && !kp_recorder_can_fill(to))
            result = kp_memory_need_host(from);
        if (result == KP_OK && kp_memory_has_host(from))
            result = kp_memory_need_host(to);
        if (result != KP_OK)
            return result;
    }
    return KP_OK;
}

static void copy_host(kp_recorder *recorder, kp_memory *from, kp_memory *to) {
    if (from->type == KP_MEMORY_STORAGE || to->type == KP_MEMORY_STORAGE || to->shared || !kp_memory_has_host(to))
        return;
    if (kp_memory_has_host(from))
        kp_recorder_copy(recorder, from, KP_SIDE_HOST, to, KP_SIDE_HOST);
    else
        kp_recorder_fill(recorder, to, KP_SIDE_HOST, from->fill);
}

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    kp_memory *from = op->memory[0];
    for (size_t i = 1; i < op->memory_count && from->bytes != 0; i++) {
        if (op->memory[i] == from)
            continue;
        kp_recorder_copy(recorder, from, KP_SIDE_DEVICE, op->memory[i], KP_SIDE_DEVICE);
        copy_host(recorder, from, op->memory[i]);
    }
    return recorder->result;
}

static const kp_op_kind kind = {"copy", sizeof(kp_op), prepare, record, NULL, NULL};

kp_result kp_record_copy(kp_sequence *sequence, kp_memory *const *memory, size_t count) {
    return kp_op_record(&kind, sequence, memory, count);
}
