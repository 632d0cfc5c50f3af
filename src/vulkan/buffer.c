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

#define COPIES (VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)
#define KERNELS \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT)

// Where a buffer's memory comes from; zeroed: from the heap.
typedef struct source {
    void *host; // the caller's memory, `bytes` of it
    VkDeviceSize bytes;
    const kp_buffer_share *share;
    bool dedicated; // ... that is exported
} source;

static VkExternalMemoryHandleTypeFlags handle_types(const source *from) {
    return from->host != NULL    ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
           : from->share != NULL ? from->share->handle_type
                                 : 0;
}

// What others have too goes by no queue that the program does not know of.
static uint32_t family_count(const kp_device *device, const source *from) {
    return from->share != NULL ? device->named_family_count : device->family_count;
}

static kp_result make(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, const source *from, VkBuffer *out) {
    const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                       .handleTypes = handle_types(from)};
    uint32_t families = family_count(device, from);
    bool many = families > 1;
    return KP_VK(device, CreateBuffer, device->handle,
                 &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .pNext = external.handleTypes != 0 ? &external : NULL,
                                       .size = size,
                                       .usage = kind == KP_BUFFER_STAGING ? COPIES : COPIES | KERNELS,
                                       .sharingMode = many ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
                                       .queueFamilyIndexCount = many ? families : 0,
                                       .pQueueFamilyIndices = device->families},
                 NULL, out);
}

static kp_result allocate(kp_device *device, kp_heap_want *want, const source *from, kp_heap_chunk **out) {
    if (from->host != NULL)
        return kp_heap_import(device, want, from->host, from->bytes, out);
    if (from->share != NULL && from->share->imported)
        return kp_heap_import_fd(device, want, &from->share->from, out);
    want->exported = from->share != NULL ? from->share->handle_type : 0;
    want->dedicated = from->dedicated;
    return kp_heap_alloc(device, want, out);
}

static kp_result create(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, const source *from,
                        const char *label, kp_buffer *out) {
    kp_buffer buffer = {.size = size};
    kp_result result = make(device, kind, size, from, &buffer.handle);
    if (result != KP_OK)
        return result;
    kp_heap_want want = want_for(device, kind);
    want.buffer = buffer.handle;
    want.label = label;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer.handle, &want.needs);
    result = allocate(device, &want, from, &buffer.chunk);
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
    return create(device, kind, size, &(source){0}, label, out);
}

kp_result kp_buffer_import(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, void *host, VkDeviceSize bytes,
                           const char *label, kp_buffer *out) {
    return create(device, kind, size, &(source){.host = host, .bytes = bytes}, label, out);
}

// KP_ERROR_UNSUPPORTED, or what the driver asks for.
static kp_result check_share(const kp_device *device, const kp_buffer_share *share, bool *dedicated) {
    bool dma = share->handle_type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    const char *extension = dma ? "VK_EXT_external_memory_dma_buf" : "VK_KHR_external_memory_fd";
    if (dma ? !device->features.dma_buf : !device->features.memory_fd)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "%s lacks %s, which sharing memory needs", device->info.name,
                            extension);
    VkExternalBufferProperties can = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    device->instance->GetPhysicalDeviceExternalBufferProperties(
        device->physical,
        &(VkPhysicalDeviceExternalBufferInfo){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
                                              .usage = COPIES | KERNELS,
                                              .handleType = share->handle_type},
        &can);
    VkExternalMemoryFeatureFlags has = can.externalMemoryProperties.externalMemoryFeatures;
    VkExternalMemoryFeatureFlagBits wants =
        share->imported ? VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT : VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
    if ((has & wants) == 0)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "%s has %s, but cannot %s buffers by it", device->info.name,
                            extension, share->imported ? "import" : "export");
    *dedicated = (has & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0;
    return KP_OK;
}

kp_result kp_buffer_create_shared(kp_device *device, kp_buffer_kind kind, VkDeviceSize size,
                                  const kp_buffer_share *share, const char *label, kp_buffer *out) {
    source from = {.share = share};
    kp_result result = check_share(device, share, &from.dedicated);
    return result == KP_OK ? create(device, kind, size, &from, label, out) : result;
}

void kp_buffer_destroy(kp_device *device, kp_buffer *buffer) {
    if (buffer->handle != VK_NULL_HANDLE && !buffer->foreign)
        device->vk.vkDestroyBuffer(device->handle, buffer->handle, NULL);
    kp_heap_free(device, buffer->chunk);
    *buffer = (kp_buffer){0};
}
