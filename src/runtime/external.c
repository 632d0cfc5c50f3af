// See external.h, and kp/external.h: tensors and images in memory that others have too. Semaphores are semaphore.c.
#include "external.h"

#include "image.h"
#include "tensor.h"

#include <kp/external.h>

#include <stdio.h>
#include <string.h>

kp_result kp_external_memory_handle(kp_handle_type type, VkExternalMemoryHandleTypeFlagBits *out) {
    switch (type) {
    case KP_HANDLE_NONE:
        *out = 0;
        return KP_OK;
    case KP_HANDLE_OPAQUE_FD:
        *out = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
        return KP_OK;
    case KP_HANDLE_SYNC_FD: // for semaphores
        break;
    case KP_HANDLE_DMA_BUF:
        *out = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
        return KP_OK;
    }
    return KP_ERROR_ARGUMENT;
}

static kp_handle_type as_handle(VkExternalMemoryHandleTypeFlagBits type) {
    return type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT ? KP_HANDLE_DMA_BUF : KP_HANDLE_OPAQUE_FD;
}

static kp_external_image image_of(const kp_image_desc *desc) {
    return (kp_external_image){.dtype = desc->dtype,
                               .normalized = desc->normalized,
                               .channels = desc->channels != 0 ? desc->channels : 1,
                               .width = desc->width,
                               .height = desc->height,
                               .depth = desc->depth};
}

// The root's contents are held.
static kp_result export_held(const kp_memory *memory, kp_external_memory *out) {
    const kp_memory *root = memory->root;
    kp_device *device = root->device;
    bool image = root->format != NULL;
    kp_heap_fd made;
    kp_result result =
        kp_heap_export_fd(device, image ? root->pixels.chunk : root->device_side.chunk, root->share.handle_type, &made);
    if (result != KP_OK)
        return kp_error_set(result, "%s '%s': %s", kp_memory_kind(memory), memory->label, kp_last_error());
    *out = (kp_external_memory){.fd = made.fd,
                                .type = as_handle(made.handle_type),
                                .size = made.size,
                                .offset = image ? 0 : root->device_side.memory_offset + memory->offset,
                                .memory_type = made.type,
                                .dedicated = image || made.dedicated,
                                .kind = image ? KP_EXTERNAL_IMAGE : KP_EXTERNAL_TENSOR};
    if (image) {
        kp_image_desc desc;
        kp_image_describe(root, &desc);
        out->image = image_of(&desc);
    }
    memcpy(out->device_uuid, device->info.uuid, sizeof out->device_uuid);
    memcpy(out->driver_uuid, device->limits.driver_uuid, sizeof out->driver_uuid);
    return KP_OK;
}

// `memory` is of the right kind.
static kp_result export(const kp_memory *memory, kp_external_memory *out) {
    const char *kind = kp_memory_kind(memory);
    kp_memory *held = (kp_memory *)(uintptr_t)memory; // const to the caller
    kp_result result = KP_OK;
    if (memory->bytes == 0 || !kp_memory_hold(held))
        return kp_error_set(KP_ERROR_STATE, "%s '%s' is %s", kind, memory->label,
                            memory->bytes == 0 ? "empty: it has no memory" : "destroyed");
    if (memory->root->share.handle_type == 0 || memory->root->share.imported)
        result = kp_error_set(KP_ERROR_STATE, "%s '%s' was not made to be exported (kp_%s_desc.exported)", kind,
                              memory->label, kind);
    else
        result = export_held(memory, out);
    kp_memory_let_go(held);
    return result;
}

kp_result kp_tensor_export(const kp_tensor *tensor, kp_external_memory *out) {
    if (tensor == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_tensor_export: %s is NULL", tensor == NULL ? "tensor" : "out");
    kp_result result = kp_manager_check(tensor->manager, kp_memory_kind(tensor), tensor->label);
    if (result == KP_OK && tensor->format != NULL)
        result = kp_error_set(KP_ERROR_TYPE, "kp_tensor_export: '%s' is an image", tensor->label);
    return result == KP_OK ? export(tensor, out) : result;
}

kp_result kp_image_export(const kp_image *image, kp_external_memory *out) {
    if (image == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_image_export: %s is NULL", image == NULL ? "image" : "out");
    kp_result result = kp_manager_check(image->manager, kp_memory_kind(image), image->label);
    if (result == KP_OK && image->format == NULL)
        result = kp_error_set(KP_ERROR_TYPE, "kp_image_export: '%s' is a tensor", image->label);
    return result == KP_OK ? export(image, out) : result;
}

// Whether two UUIDs can be one: zeros are not known.
static bool agree(const uint8_t theirs[16], const uint8_t ours[16]) {
    static const uint8_t none[16];
    return memcmp(theirs, none, sizeof none) == 0 || memcmp(theirs, ours, sizeof none) == 0;
}

static void write_uuid(const uint8_t uuid[16], char text[33]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        text[2 * i] = digits[uuid[i] >> 4];
        text[2 * i + 1] = digits[uuid[i] & 15];
    }
    text[32] = '\0';
}

// What is imported, for messages.
typedef struct target {
    const char *kind, *label;
} target;

static kp_result check_uuid(target t, const char *what, const uint8_t theirs[16], const uint8_t ours[16]) {
    char a[33], b[33];
    if (agree(theirs, ours))
        return KP_OK;
    write_uuid(theirs, a);
    write_uuid(ours, b);
    return kp_error_set(KP_ERROR_ARGUMENT, "%s '%s': the memory is of the %s %s, the manager's is %s", t.kind, t.label,
                        what, a, b);
}

static kp_result check_import(const kp_manager *manager, const kp_external_memory *from, target t, bool has_data,
                              bool exported) {
    const kp_device *device = manager->device;
    if (from->type != KP_HANDLE_OPAQUE_FD && from->type != KP_HANDLE_DMA_BUF)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s '%s': %d is not a handle type to import from", t.kind, t.label,
                            (int)from->type);
    if (has_data || exported)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s '%s': imported memory %s", t.kind, t.label,
                            exported ? "cannot be exported again" : "has its contents");
    if (from->dedicated && from->offset != 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s '%s': memory dedicated to one %s has it at 0, not at %llu", t.kind,
                            t.label, t.kind, (unsigned long long)from->offset);
    if (from->type == KP_HANDLE_DMA_BUF)
        return KP_OK;
    kp_result result = check_uuid(t, "device", from->device_uuid, device->info.uuid);
    return result == KP_OK ? check_uuid(t, "driver", from->driver_uuid, device->limits.driver_uuid) : result;
}

// "4 x 3 pixels of 2 normalized u8"
static const char *write_image(const kp_external_image *image, char text[96]) {
    char size[40];
    int used = snprintf(size, sizeof size, "%u", image->width);
    if (image->height != 0)
        used += snprintf(size + used, sizeof size - (size_t)used, " x %u", image->height);
    if (image->depth != 0)
        snprintf(size + used, sizeof size - (size_t)used, " x %u", image->depth);
    snprintf(text, 96, "%s pixels of %u %s%s", size, image->channels, image->normalized ? "normalized " : "",
             kp_dtype_name(image->dtype));
    return text;
}

// Only a tensor's memory is bytes as they are.
static kp_result check_tensor(const kp_external_memory *from, target t) {
    char text[96];
    if (from->kind != KP_EXTERNAL_IMAGE)
        return KP_OK;
    return kp_error_set(KP_ERROR_TYPE, "tensor '%s': the memory is that of an image, of %s", t.label,
                        write_image(&from->image, text));
}

static bool same_image(const kp_external_image *a, const kp_external_image *b) {
    return a->dtype == b->dtype && a->normalized == b->normalized && a->channels == b->channels &&
           a->width == b->width && a->height == b->height && a->depth == b->depth;
}

static kp_result check_image(const kp_external_memory *from, const kp_image_desc *desc, target t) {
    char has[96], wants[96];
    const kp_external_image image = image_of(desc);
    if (from->type != KP_HANDLE_OPAQUE_FD)
        return kp_error_set(KP_ERROR_ARGUMENT, "image '%s': images are shared by OPAQUE_FD alone", t.label);
    if (from->kind == KP_EXTERNAL_TENSOR)
        return kp_error_set(KP_ERROR_TYPE, "image '%s': the memory is that of a tensor", t.label);
    if (from->kind != KP_EXTERNAL_IMAGE || same_image(&from->image, &image))
        return KP_OK;
    return kp_error_set(KP_ERROR_ARGUMENT, "image '%s' is to be %s, the memory is that of one of %s", t.label,
                        write_image(&image, wants), write_image(&from->image, has));
}

static kp_buffer_share share_of(const kp_external_memory *from) {
    kp_buffer_share share = {.imported = true,
                             .from = {.fd = from->fd,
                                      .size = from->size,
                                      .offset = from->offset,
                                      .type = from->memory_type,
                                      .dedicated = from->dedicated}};
    kp_external_memory_handle(from->type, &share.handle_type);
    share.from.handle_type = share.handle_type;
    return share;
}

kp_result kp_tensor_import(kp_manager *manager, const kp_external_memory *from, const kp_tensor_desc *desc,
                           kp_tensor **out) {
    kp_result result = kp_manager_check_making(manager, desc, out, "kp_tensor_import");
    if (result == KP_OK && from == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_tensor_import: from is NULL");
    if (result != KP_OK)
        return result;
    const target t = {"tensor", desc->label != NULL ? desc->label : "tensor"};
    result = check_import(manager, from, t, desc->data != NULL || desc->fill != NULL, desc->exported != KP_HANDLE_NONE);
    if (result == KP_OK)
        result = check_tensor(from, t);
    if (result != KP_OK)
        return result;
    return kp_tensor_make(manager, desc, &(kp_tensor_given){.share = share_of(from)}, out);
}

kp_result kp_image_import(kp_manager *manager, const kp_external_memory *from, const kp_image_desc *desc,
                          kp_image **out) {
    kp_result result = kp_manager_check_making(manager, desc, out, "kp_image_import");
    if (result == KP_OK && from == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_image_import: from is NULL");
    if (result != KP_OK)
        return result;
    const target t = {"image", desc->label != NULL ? desc->label : "image"};
    result = check_import(manager, from, t, desc->data != NULL, desc->exported != KP_HANDLE_NONE);
    if (result == KP_OK)
        result = check_image(from, desc, t);
    if (result != KP_OK)
        return result;
    const kp_buffer_share share = share_of(from);
    return kp_image_make(manager, desc, &share, out);
}
