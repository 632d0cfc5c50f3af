// A part of an image, to and from a tensor that holds its pixels alone, or to and from another image. Device sides
// alone: the host sides of an image and of its part would have to be cut row by row.
#include "op.h"
#include "sequence.h"

typedef struct region_op {
    kp_op op;
    kp_copy_region region; // sizes filled in
} region_op;

static kp_result record(const kp_op *op, kp_recorder *recorder) {
    return kp_recorder_copy_region(recorder, op->memory[0], op->memory[1], &((const region_op *)op)->region);
}

static const kp_op_kind kind = {"copy region", sizeof(region_op), NULL, record, NULL, NULL};

static void axes_of(const kp_memory *image, uint32_t axes[3]) {
    axes[0] = image->extent.width;
    axes[1] = image->extent.height;
    axes[2] = image->extent.depth;
}

// Sizes of zero become what the image has left.
static void fill_in(const kp_memory *image, const uint32_t start[3], uint32_t size[3]) {
    uint32_t axes[3];
    axes_of(image, axes);
    for (unsigned i = 0; i < 3; i++) {
        if (size[i] == 0 && start[i] < axes[i])
            size[i] = axes[i] - start[i];
    }
}

static kp_result check_inside(const kp_memory *image, const uint32_t start[3], const uint32_t size[3],
                              const char *who) {
    uint32_t axes[3];
    axes_of(image, axes);
    for (unsigned i = 0; i < 3; i++) {
        if (start[i] >= axes[i] || size[i] > axes[i] - start[i])
            return kp_error_set(KP_ERROR_INDEX, "%s: %u pixels from %u on, on axis %c, but image '%s' has %u", who,
                                size[i], start[i], "xyz"[i], image -> label, axes[i]);
    }
    return KP_OK;
}

static kp_result check_tensor(const kp_memory *tensor, const kp_memory *image, const uint32_t start[3],
                              const uint32_t size[3], const char *who) {
    uint64_t count = (uint64_t)size[0] * size[1] * size[2] * image->format->channels;
    if (start[0] != 0 || start[1] != 0 || start[2] != 0)
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "%s: tensor '%s' has no pixels to begin at (%u, %u, %u); give a view of it", who,
                            tensor->label, start[0], start[1], start[2]);
    if (tensor->count != count)
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "%s: tensor '%s' has %llu elements, %u x %u x %u pixels of image '%s' have %llu", who,
                            tensor->label, (unsigned long long)tensor->count, size[0], size[1], size[2], image->label,
                            (unsigned long long)count);
    return kp_op_copy_aligned(tensor, image, who);
}

static bool overlap(const kp_copy_region *r) {
    for (unsigned i = 0; i < 3; i++) {
        uint32_t low = r->from[i] < r->to[i] ? r->from[i] : r->to[i],
                 high = r->from[i] < r->to[i] ? r->to[i] : r->from[i];
        if (high - low >= r->size[i])
            return false;
    }
    return true;
}

static kp_result check_images(const kp_memory *from, const kp_memory *to, const kp_copy_region *r, const char *who) {
    if (from->format->channels != to->format->channels)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: image '%s' has %u channels, image '%s' has %u", who, from->label,
                            from->format->channels, to->label, to->format->channels);
    if (from->dimensions != to->dimensions)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: image '%s' has %u axes, image '%s' has %u", who, from->label,
                            from->dimensions, to->label, to->dimensions);
    if (from == to && overlap(r))
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: the parts of image '%s' overlap", who, from->label);
    return KP_OK;
}

static kp_result check(const kp_memory *from, const kp_memory *to, kp_copy_region *r, const char *who) {
    if (from->format == NULL && to->format == NULL)
        return kp_error_set(KP_ERROR_TYPE, "%s: '%s' and '%s' are tensors, which have views instead of regions", who,
                            from->label, to->label);
    kp_result result = kp_op_copy_same_elements(from, to, who);
    if (result != KP_OK)
        return result;
    fill_in(from->format != NULL ? from : to, from->format != NULL ? r->from : r->to, r->size);
    if (from->format != NULL)
        result = check_inside(from, r->from, r->size, who);
    if (result == KP_OK && to->format != NULL)
        result = check_inside(to, r->to, r->size, who);
    if (result != KP_OK)
        return result;
    if (from->format == NULL)
        return check_tensor(from, to, r->from, r->size, who);
    return to->format == NULL ? check_tensor(to, from, r->to, r->size, who) : check_images(from, to, r, who);
}

// Queues that only copy may do so in blocks of pixels alone; all others take any part.
static kp_result check_queue(const kp_sequence *sequence) {
    const kp_device *device = sequence->manager->device;
    uint32_t family = device->queues[sequence->queue].family;
    const VkExtent3D *step = &device->limits.image_step[family];
    if (step->width == 1 && step->height == 1 && step->depth == 1)
        return KP_OK;
    return kp_error_set(KP_ERROR_UNSUPPORTED,
                        "%s: queue %u copies images whole, or in blocks of %u x %u x %u pixels; record it for another",
                        sequence->who, sequence->queue, step->width, step->height, step->depth);
}

kp_result kp_record_copy_region(kp_sequence *sequence, kp_memory *from, kp_memory *to, const kp_copy_region *region) {
    kp_op *op = NULL;
    kp_memory *both[2] = {from, to};
    kp_result result = kp_op_create(&kind, sequence, both, 2, &op);
    if (result != KP_OK)
        return result;
    kp_copy_region *r = &((region_op *)op)->region;
    if (region != NULL)
        *r = *region;
    result = check(from, to, r, sequence->who);
    if (result == KP_OK)
        result = check_queue(sequence);
    if (result == KP_OK)
        return kp_sequence_add(sequence, op);
    kp_op_destroy(op);
    return result;
}
