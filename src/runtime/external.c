// See external.h, and kp/external.h: tensors in memory that others have too. Semaphores are semaphore.c.
#include "external.h"

#include "tensor.h"

#include <kp/external.h>

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

// The root's contents are held.
static kp_result export_held(const kp_memory *tensor, kp_external_memory *out) {
    const kp_memory *root = tensor->root;
    kp_device *device = root->device;
    kp_heap_fd made;
    kp_result result = kp_heap_export_fd(device, root->device_side.chunk, root->share.handle_type, &made);
    if (result != KP_OK)
        return kp_error_set(result, "tensor '%s': %s", tensor->label, kp_last_error());
    *out = (kp_external_memory){.fd = made.fd,
                                .type = as_handle(made.handle_type),
                                .size = made.size,
                                .offset = root->device_side.memory_offset + tensor->offset,
                                .memory_type = made.type,
                                .dedicated = made.dedicated};
    memcpy(out->device_uuid, device->info.uuid, sizeof out->device_uuid);
    memcpy(out->driver_uuid, device->limits.driver_uuid, sizeof out->driver_uuid);
    return KP_OK;
}

kp_result kp_tensor_export(const kp_tensor *tensor, kp_external_memory *out) {
    if (tensor == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_tensor_export: %s is NULL", tensor == NULL ? "tensor" : "out");
    kp_result result = kp_manager_check(tensor->manager, kp_memory_kind(tensor), tensor->label);
    if (result != KP_OK)
        return result;
    if (tensor->format != NULL)
        return kp_error_set(KP_ERROR_TYPE, "kp_tensor_export: '%s' is an image", tensor->label);
    kp_memory *held = (kp_memory *)(uintptr_t)tensor; // const to the caller
    if (tensor->bytes == 0 || !kp_memory_hold(held))
        return kp_error_set(KP_ERROR_STATE, "tensor '%s' is %s", tensor->label,
                            tensor->bytes == 0 ? "empty: it has no memory" : "destroyed");
    if (tensor->root->share.handle_type == 0 || tensor->root->share.imported)
        result = kp_error_set(KP_ERROR_STATE, "tensor '%s' was not made to be exported (kp_tensor_desc.exported)",
                              tensor->label);
    else
        result = export_held(tensor, out);
    kp_memory_let_go(held);
    return result;
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

static kp_result check_uuid(const char *label, const char *what, const uint8_t theirs[16], const uint8_t ours[16]) {
    char a[33], b[33];
    if (agree(theirs, ours))
        return KP_OK;
    write_uuid(theirs, a);
    write_uuid(ours, b);
    return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': the memory is of the %s %s, the manager's is %s", label, what,
                        a, b);
}

static kp_result check_import(const kp_manager *manager, const kp_external_memory *from, const kp_tensor_desc *desc) {
    const char *label = desc->label != NULL ? desc->label : "tensor";
    const kp_device *device = manager->device;
    if (from->type != KP_HANDLE_OPAQUE_FD && from->type != KP_HANDLE_DMA_BUF)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': %d is not a handle type to import from", label,
                            (int)from->type);
    if (desc->data != NULL || desc->fill != NULL || desc->exported != KP_HANDLE_NONE)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': imported memory %s", label,
                            desc->exported != KP_HANDLE_NONE ? "cannot be exported again" : "has its contents");
    if (from->dedicated && from->offset != 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': memory dedicated to one buffer has it at 0, not at %llu",
                            label, (unsigned long long)from->offset);
    if (from->type == KP_HANDLE_DMA_BUF)
        return KP_OK;
    kp_result result = check_uuid(label, "device", from->device_uuid, device->info.uuid);
    return result == KP_OK ? check_uuid(label, "driver", from->driver_uuid, device->limits.driver_uuid) : result;
}

kp_result kp_tensor_import(kp_manager *manager, const kp_external_memory *from, const kp_tensor_desc *desc,
                           kp_tensor **out) {
    kp_result result = kp_tensor_check(manager, desc, out, "kp_tensor_import");
    if (result == KP_OK && from == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_tensor_import: from is NULL");
    if (result == KP_OK)
        result = check_import(manager, from, desc);
    if (result != KP_OK)
        return result;
    kp_tensor_given given = {.share = {.imported = true,
                                       .from = {.fd = from->fd,
                                                .size = from->size,
                                                .offset = from->offset,
                                                .type = from->memory_type,
                                                .dedicated = from->dedicated}}};
    kp_external_memory_handle(from->type, &given.share.handle_type);
    given.share.from.handle_type = given.share.handle_type;
    return kp_tensor_make(manager, desc, &given, out);
}
