// One VkBuffer in a piece of memory of the right kind. A buffer of its own for each tensor side makes robust buffer
// access guard the tensor: what is out of its range never touches a neighbour.
#ifndef KP_SRC_VULKAN_BUFFER_H
#define KP_SRC_VULKAN_BUFFER_H

#include "device.h"

typedef enum kp_buffer_kind {
    KP_BUFFER_DEVICE,      // kernels work on it; the host need not see it
    KP_BUFFER_STAGING,     // the host works on it, cached where possible; copies only
    KP_BUFFER_SHARED,      // both do, in the device's own memory: fails where there is no such memory
    KP_BUFFER_HOST_SHARED, // both do, in host memory
} kp_buffer_kind;

// A buffer in memory that others have too.
typedef struct kp_buffer_share {
    VkExternalMemoryHandleTypeFlagBits handle_type; // 0: it is not shared
    bool imported;                                  // from `fd`; else to be exported
    kp_heap_fd from;                                //
} kp_buffer_share;

typedef struct kp_buffer {
    VkBuffer handle;            // VK_NULL_HANDLE: none
    VkDeviceSize size;          // of the VkBuffer
    void *mapped;               // NULL when the host does not see it
    kp_heap_chunk *chunk;       // NULL: of memory that is somebody else's
    VkDeviceSize memory_offset; // where it begins in the chunk's VkDeviceMemory
    bool foreign;               // somebody else destroys the handle
} kp_buffer;

// True when KP_BUFFER_SHARED memory exists that the host reads at full speed.
bool kp_buffer_can_share(const kp_device *device);

// Errors as kp_heap_alloc. `*out` is written only on KP_OK.
kp_result kp_buffer_create(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, const char *label,
                           kp_buffer *out);

// The same in memory of the caller's, `bytes` from `host` on, which must stay. Where the device cannot use that memory:
// KP_ERROR_UNSUPPORTED, or any other.
kp_result kp_buffer_import(kp_device *device, kp_buffer_kind kind, VkDeviceSize size, void *host, VkDeviceSize bytes,
                           const char *label, kp_buffer *out);

// The same in memory that can be exported, or is imported. KP_ERROR_UNSUPPORTED where the device cannot, with the
// extension that it lacks.
kp_result kp_buffer_create_shared(kp_device *device, kp_buffer_kind kind, VkDeviceSize size,
                                  const kp_buffer_share *share, const char *label, kp_buffer *out);
void kp_buffer_destroy(kp_device *device, kp_buffer *buffer); // an empty one is fine; it is empty afterwards

#endif
