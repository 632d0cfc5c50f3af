// Images: memory whose device side is a VkImage. The host side holds its pixels in rows, without gaps, and is a buffer
// of its own on every device: what an image's memory looks like is the driver's secret.
#include "image.h"

#include "base/alloc.h"
#include "external.h"
#include "recording.h"
#include "vulkan/command.h"
#include "vulkan/guard.h"

#include <kp/vulkan.h>

#include <string.h>

bool kp_memory_is_image(const kp_memory *memory) { return memory != NULL && memory->format != NULL; }

static kp_result check_desc(const kp_image_desc *desc, const char *label) {
    if (kp_dtype_size(desc->dtype) == 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "image '%s': %d is not an element type", label, (int)desc->dtype);
    if (desc->channels > 4)
        return kp_error_set(KP_ERROR_ARGUMENT, "image '%s': %u channels, at most 4 are possible", label,
                            desc->channels);
    if (desc->width == 0 || (desc->height == 0 && desc->depth != 0))
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "image '%s': %u x %u x %u pixels: an image has at least one of each axis", label,
                            desc->width, desc->height, desc->depth);
    if ((unsigned)desc->memory_type > KP_MEMORY_DEVICE_AND_HOST)
        return kp_error_set(KP_ERROR_ARGUMENT, "image '%s': %d is not a memory type", label, (int)desc->memory_type);
    if (desc->memory_type == KP_MEMORY_STORAGE && desc->data != NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "image '%s': a storage image has no host side to hold data", label);
    if ((unsigned)desc->filter > KP_FILTER_LINEAR || (unsigned)desc->address_mode > KP_ADDRESS_MODE_CLAMP_TO_BORDER)
        return kp_error_set(KP_ERROR_ARGUMENT, "image '%s': %d is not a filter, or %d not an address mode", label,
                            (int)desc->filter, (int)desc->address_mode);
    return KP_OK;
}

static VkSamplerAddressMode address_mode_of(kp_address_mode mode) {
    switch (mode) {
    case KP_ADDRESS_MODE_REPEAT:
        return VK_SAMPLER_ADDRESS_MODE_REPEAT;
    case KP_ADDRESS_MODE_MIRRORED_REPEAT:
        return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    case KP_ADDRESS_MODE_CLAMP_TO_BORDER:
        return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
    case KP_ADDRESS_MODE_CLAMP_TO_EDGE:
    default:
        return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    }
}

kp_pixels_sampling kp_image_sampling(const kp_memory *image, const kp_reflect_binding *binding) {
    kp_pixels_sampling how = {.filter = image->filter,
                              .address_mode = image->address_mode,
                              .unnormalized = binding->unnormalized,
                              .integers = image->format->reads != KP_F32};
    if (binding->filter != 0)
        how.filter = binding->filter - 1 == KP_FILTER_LINEAR ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
    if (binding->address_mode != 0)
        how.address_mode = address_mode_of((kp_address_mode)(binding->address_mode - 1));
    else if (binding->unnormalized && how.address_mode != VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER)
        how.address_mode = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    return how;
}

static kp_address_mode address_mode_from(VkSamplerAddressMode mode) {
    switch (mode) {
    case VK_SAMPLER_ADDRESS_MODE_REPEAT:
        return KP_ADDRESS_MODE_REPEAT;
    case VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT:
        return KP_ADDRESS_MODE_MIRRORED_REPEAT;
    case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER:
        return KP_ADDRESS_MODE_CLAMP_TO_BORDER;
    default:
        return KP_ADDRESS_MODE_CLAMP_TO_EDGE;
    }
}

// The format, and how it is sampled.
static kp_result describe_pixels(const kp_image_desc *desc, const char *label, kp_memory *image) {
    const kp_device *device = image->manager->device;
    uint32_t channels = desc->channels != 0 ? desc->channels : 1;
    image->format = kp_format_find(desc->dtype, desc->normalized, channels);
    if (image->format == NULL)
        return kp_error_set(KP_ERROR_TYPE, "image '%s': there are no images of %s%s", label,
                            desc->normalized ? "normalized " : "", kp_dtype_name(desc->dtype));
    image->uses = kp_pixels_query(device, image->format->vulkan);
    if (desc->filter == KP_FILTER_LINEAR && !image->uses.linear)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "image '%s': %s cannot sample %s with a linear filter", label,
                            device->info.name, image->format->name);
    image->filter = desc->filter == KP_FILTER_LINEAR ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
    image->address_mode = address_mode_of(desc->address_mode);
    return KP_OK;
}

// Rows of a NumPy array: depth, height, width, channels.
static void describe_shape(const kp_image_desc *desc, kp_memory *image) {
    const uint32_t axes[3] = {desc->depth, desc->height, desc->width};
    image->count = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (axes[i] != 0)
            image->shape[image->ndim++] = axes[i];
    }
    image->dimensions = image->ndim;
    image->shape[image->ndim++] = image->format->channels;
    image->extent = (VkExtent3D){desc->width, desc->height != 0 ? desc->height : 1, desc->depth != 0 ? desc->depth : 1};
}

// 32 bits times 32 bits times 32 bits may not fit.
static kp_result describe_size(const char *label, kp_memory *image) {
    size_t size = kp_dtype_size(image->format->dtype);
    for (uint32_t i = 0; i < image->ndim; i++) {
        if (image->count > UINT64_MAX / image->shape[i] / size)
            return kp_error_set(KP_ERROR_LIMIT, "image '%s': %u x %u x %u pixels are more than 2^64 bytes", label,
                                image->extent.width, image->extent.height, image->extent.depth);
        image->count *= image->shape[i];
    }
    image->bytes = image->count * size;
    return KP_OK;
}

static kp_result describe(const kp_image_desc *desc, kp_memory *image) {
    const char *label = desc->label != NULL ? desc->label : "image";
    kp_result result = check_desc(desc, label);
    if (result == KP_OK)
        result = describe_pixels(desc, label, image);
    if (result != KP_OK)
        return result;
    describe_shape(desc, image);
    result = describe_size(label, image);
    if (result != KP_OK)
        return result;
    image->dtype = desc->dtype;
    image->type = desc->memory_type;
    image->undefined = desc->uninitialized && desc->data == NULL;
    image->label = kp_alloc_text(label);
    return image->label != NULL ? KP_OK : kp_error_host_memory(strlen(label));
}

static kp_result submit(kp_memory *image, kp_command *command) {
    kp_manager *manager = image->manager;
    kp_order_plan plan;
    kp_guard_lock(&manager->order_lock);
    kp_order_begin(&plan, manager->order, manager->device->all_queue_count, 0, manager->order_waits);
    const kp_command_order order = {.number = plan.number};
    kp_result result = kp_command_submit(manager->device, &manager->device->queues[0], command, &order);
    if (result == KP_OK) {
        kp_order_pass(&plan);
        kp_order_use(&plan, &image->order, KP_ORDER_WRITE);
    }
    kp_guard_unlock(&manager->order_lock);
    return result;
}

kp_result kp_image_settle(kp_memory *image, kp_recording **out) {
    kp_device *device = image->device;
    kp_recording *recording = NULL;
    kp_result result = kp_recording_create(image->manager, 0, 0, image->label, &recording);
    if (result != KP_OK)
        return result;
    recording->memory = kp_alloc_zero(1, sizeof *recording->memory);
    if (recording->memory == NULL)
        result = kp_error_host_memory(sizeof *recording->memory);
    if (result == KP_OK)
        result = kp_command_begin(device, recording->command);
    if (result == KP_OK) {
        kp_pixels_settle(device, recording->command->buffer, &image->pixels);
        if (image->share.handle_type != 0)
            kp_pixels_change_owner(device, recording->command->buffer, &image->pixels, recording->queue->family, false);
        result = kp_command_end(device, recording->command);
    }
    if (result == KP_OK)
        result = submit(image, recording->command);
    if (result != KP_OK) {
        kp_recording_destroy(recording);
        return result;
    }
    recording->running = true;
    *out = recording;
    return KP_OK;
}

void kp_image_leave(kp_memory *image, kp_recording *recording) {
    kp_memory_ref(image);
    atomic_fetch_add_explicit(&image->holds, 1, memory_order_relaxed); // its handle has one
    recording->memory[recording->memory_count++] = image;
    if (image->share.handle_type == 0) {
        kp_manager_adopt(image->manager, recording);
        return;
    }
    kp_recording_end(recording); // whoever imports the image knows nothing of this
    kp_recording_destroy(recording);
}

kp_result kp_image_make(kp_manager *manager, const kp_image_desc *desc, const kp_buffer_share *share, kp_image **out) {
    kp_manager_reap(manager);
    kp_memory *image = kp_alloc_zero(1, sizeof *image);
    if (image == NULL)
        return kp_error_host_memory(sizeof *image);
    image->manager = manager;
    image->share = *share;
    kp_result result = describe(desc, image);
    if (result == KP_OK)
        result = kp_memory_open(image, desc->data);
    if (result != KP_OK) {
        kp_alloc_free(image->label);
        kp_alloc_free(image);
        return result;
    }
    *out = image;
    return KP_OK;
}

kp_result kp_image_create(kp_manager *manager, const kp_image_desc *desc, kp_image **out) {
    kp_buffer_share share = {0};
    kp_result result = kp_manager_check_making(manager, desc, out, "kp_image_create");
    if (result != KP_OK)
        return result;
    if (desc->exported != KP_HANDLE_NONE && desc->exported != KP_HANDLE_OPAQUE_FD)
        return kp_error_set(KP_ERROR_ARGUMENT, "image '%s': images are shared by OPAQUE_FD alone",
                            desc->label != NULL ? desc->label : "image");
    kp_external_memory_handle(desc->exported, &share.handle_type);
    result = kp_image_make(manager, desc, &share, out);
    if (result == KP_ERROR_DEVICE_MEMORY && kp_staging_drop(&manager->staging))
        result = kp_image_make(manager, desc, &share, out);
    return result;
}

kp_result kp_image_describe(const kp_image *image, kp_image_desc *out) {
    if (image == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_image_describe: %s is NULL", image == NULL ? "image" : "out");
    if (image->format == NULL)
        return kp_error_set(KP_ERROR_TYPE, "kp_image_describe: '%s' is a tensor", image->label);
    *out = (kp_image_desc){.dtype = image->dtype,
                           .normalized = image->format->normalized,
                           .channels = image->format->channels,
                           .width = image->extent.width,
                           .height = image->dimensions > 1 ? image->extent.height : 0,
                           .depth = image->dimensions > 2 ? image->extent.depth : 0,
                           .uninitialized = image->undefined,
                           .memory_type = image->type,
                           .filter = image->filter == VK_FILTER_LINEAR ? KP_FILTER_LINEAR : KP_FILTER_NEAREST,
                           .address_mode = address_mode_from(image->address_mode),
                           .exported = image->share.handle_type != 0 && !image->share.imported ? KP_HANDLE_OPAQUE_FD
                                                                                               : KP_HANDLE_NONE,
                           .label = image->label};
    return KP_OK;
}

void kp_image_destroy(kp_image *image) { kp_memory_destroy(image); }

kp_result kp_vulkan_from_image(const kp_image *image, kp_vulkan_image *out) {
    if (image == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_from_image: %s is NULL", image == NULL ? "image" : "out");
    kp_result result = kp_manager_check(image->manager, kp_memory_kind(image), image->label);
    if (result != KP_OK)
        return result;
    if (image->format == NULL)
        return kp_error_set(KP_ERROR_TYPE, "kp_vulkan_from_image: '%s' is a tensor", image->label);
    if (!atomic_load(&image->alive))
        return kp_error_set(KP_ERROR_STATE, "image '%s' is destroyed", image->label);
    *out = (kp_vulkan_image){.image = image->pixels.handle,
                             .view = image->pixels.view,
                             .format = image->format->vulkan,
                             .layout = VK_IMAGE_LAYOUT_GENERAL,
                             .extent = image->extent};
    return KP_OK;
}
