// See buffer.h.
#include "buffer.h"

#define HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT

bool kp_buffer_can_share(const kp_device *device) {
    if (device->unified_flags != 0)
        return true;
    for (uint32_t i = 0; i < device->limits.memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = device->limits.memory.memoryTypes[i].propertyFlags;
        if ((flags & (LOCAL | HOST | CACHED)) == (LOCAL | HOST | CACHED))
            return true;
    }
    return false;
}

static kp_heap_want want_for(const kp_device *device, kp_buffer_kind kind) {
    switch (kind) {
    case KP_BUFFER_STAGING:
        return (kp_heap_want){.required = HOST, .preferred = CACHED, .avoided = LOCAL};
    case KP_BUFFER_SHARED:
        return (kp_heap_want){.required = device->unified_flags != 0 ? device->unified_flags : LOCAL | HOST | CACHED,
                              .preferred = CACHED};
    case KP_BUFFER_HOST_SHARED:
        return (kp_heap_want){.required = HOST, .preferred = CACHED};
    case KP_BUFFER_DEVICE:
    default:
        return (kp_heap_want){.preferred = LOCAL, .avoided = HOST | CACHED};
    }
}

static kp_result make(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, bool imported, VkBuffer *out) {
    const VkBufferUsageFlags copies = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const VkBufferUsageFlags kernels =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                       .handleTypes =
                                                           VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    bool many = device->family_count > 1;
    return KP_VK(device, CreateBuffer, device->handle,
                 &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .pNext = imported ? &external : NULL,
                                       .size = size,
                                       .usage = kind == KP_BUFFER_STAGING ? copies : copies | kernels,
                                       .sharingMode = many ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
                                       .queueFamilyIndexCount = many ? device->family_count : 0,
                                       .pQueueFamilyIndices = device->families},
                 NULL, out);
}

// `host`: NULL, or the caller's memory.
static kp_result create(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, void *host, VkDeviceSize bytes,
                        const char *label, kp_buffer *out) {
    kp_buffer buffer = {.size = size};
    kp_result result = make(device, kind, size, host != NULL, &buffer.handle);
    if (result != KP_OK)
        return result;
    kp_heap_want want = want_for(device, kind);
    want.buffer = buffer.handle;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer.handle, &want.needs);
    result = host != NULL ? kp_heap_import(device, &want, host, bytes, &buffer.chunk)
                          : kp_heap_alloc(device, &want, &buffer.chunk);
    if (result == KP_OK) {
        buffer.memory_offset = kp_heap_offset(buffer.chunk, want.needs.alignment);
        result = KP_VK(device, BindBufferMemory, device->handle, buffer.handle, kp_heap_memory(buffer.chunk),
                       buffer.memory_offset);
    }
    if (result != KP_OK) {
        kp_buffer_destroy(device, &buffer);
        return result;
    }
    if (kind != KP_BUFFER_DEVICE)
        buffer.mapped = kp_heap_mapped(buffer.chunk, want.needs.alignment);
    kp_device_name(device, VK_OBJECT_TYPE_BUFFER, KP_DEVICE_HANDLE(buffer.handle), label);
    *out = buffer;
    return KP_OK;
}

kp_result kp_buffer_create(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, const char *label,
                           kp_buffer *out) {
    return create(device, kind, size, NULL, 0, label, out);
}

kp_result kp_buffer_import(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, void *host, VkDeviceSize bytes,
                           const char *label, kp_buffer *out) {
    return create(device, kind, size, host, bytes, label, out);
}

void kp_buffer_destroy(kp_device *device, kp_buffer *buffer) {
    if (buffer->handle != VK_NULL_HANDLE && !buffer->foreign)
        device->vk.vkDestroyBuffer(device->handle, buffer->handle, NULL);
    kp_heap_free(device, buffer->chunk);
    *buffer = (kp_buffer){0};
}
