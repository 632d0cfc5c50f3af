// Device memory in pieces: few large allocations, shared by many buffers (drivers may allow as few as 4,096).
//
// Each memory type has blocks that start at 4 MiB and double up to 64 MiB; a piece of more than half of that gets a
// block of its own. A block is cut into chunks, kept in address order, the free ones also in bins by size. Blocks that
// become empty go back to the driver, but for one small one for each type. Host-visible blocks stay mapped.
#ifndef KP_SRC_VULKAN_HEAP_H
#define KP_SRC_VULKAN_HEAP_H

#include "base/error.h"

#include <pthread.h>
#include <volk.h>

typedef struct kp_device kp_device;
typedef struct kp_heap_block kp_heap_block;

// A piece of memory.
typedef struct kp_heap_chunk {
    kp_heap_block *block;
    VkDeviceSize offset, size;            // in the block
    struct kp_heap_chunk *before, *after; // neighbours in the block
    struct kp_heap_chunk *older, *newer;  // in the bin; only when free
    bool is_free;                         //
} kp_heap_chunk;

enum { KP_HEAP_BINS = 40 };

typedef struct kp_heap_type {
    kp_heap_block *blocks;             // linked
    kp_heap_chunk *bins[KP_HEAP_BINS]; // free chunks; bin n: below 2^(n + 1) granules
    uint32_t growth;                   // blocks made by size so far, for the next one's size
} kp_heap_type;

typedef struct kp_heap {
    pthread_mutex_t lock;
    kp_heap_type types[VK_MAX_MEMORY_TYPES];
    VkDeviceSize held[VK_MAX_MEMORY_HEAPS]; // bytes allocated from each of Vulkan's heaps
    uint64_t reserved, peak;                // bytes in device allocations
    uint32_t allocations;                   // live ones
} kp_heap;

typedef struct kp_heap_want {
    VkMemoryRequirements needs;               //
    VkMemoryPropertyFlags required;           // a type without these does not do
    VkMemoryPropertyFlags preferred;          // the more of these the better
    VkMemoryPropertyFlags avoided;            // and the fewer of these
    VkBuffer buffer;                          // that it is for, or
    VkImage image;                            // this one
    VkExternalMemoryHandleTypeFlags exported; // memory that can be exported as such; 0: it need not be
    bool dedicated;                           // ... to nothing but the buffer or image
    const char *label;                        // of what it is for, for debuggers; NULL: none
} kp_heap_want;

// Memory of others.
typedef struct kp_heap_fd {
    int fd;                                         // stays the caller's
    VkExternalMemoryHandleTypeFlagBits handle_type; //
    VkDeviceSize size, offset;                      // of the memory, and of the piece in it
    uint32_t type;                                  // memory type; for a dma-buf it is found
    bool dedicated;                                 // to the buffer or image that it was made for
} kp_heap_fd;

void kp_heap_init(kp_device *device);
void kp_heap_destroy(kp_device *device); // all blocks; the lock stays

// KP_ERROR_DEVICE_MEMORY, KP_ERROR_HOST_MEMORY, KP_ERROR_LIMIT (one allocation beyond the device's limit),
// KP_ERROR_UNSUPPORTED (no memory type has what is required).
kp_result kp_heap_alloc(kp_device *device, const kp_heap_want *want, kp_heap_chunk **out);
void kp_heap_free(kp_device *device, kp_heap_chunk *chunk); // NULL is fine

// A piece that is `bytes` of host memory of the caller's, which must stay. KP_ERROR_UNSUPPORTED where the device cannot
// use that memory; the words are of no interest to users.
kp_result kp_heap_import(kp_device *device, const kp_heap_want *want, void *host, VkDeviceSize bytes,
                         kp_heap_chunk **out);

// A piece of memory that is behind a file descriptor. KP_ERROR_ARGUMENT where the driver finds no such memory there.
kp_result kp_heap_import_fd(kp_device *device, const kp_heap_want *want, const kp_heap_fd *from, kp_heap_chunk **out);

// The memory that a piece of its own, made with `exported`, is all of, as a file descriptor of the caller's.
kp_result kp_heap_export_fd(kp_device *device, const kp_heap_chunk *chunk, VkExternalMemoryHandleTypeFlagBits type,
                            kp_heap_fd *out);

// Gives back the empty blocks that are kept for what comes next.
void kp_heap_trim(kp_device *device);

// What this process may have of the device's own memory, all heaps of it, and what it has of it, as the driver says; or
// else the size of those heaps and what kp itself has of them.
void kp_heap_budget(kp_device *device, uint64_t *budget, uint64_t *usage);

// What the piece is aligned to: to be given to kp_heap_offset and kp_heap_mapped. More than is needed for an image: no
// buffer comes as near to it as the device's bufferImageGranularity forbids.
VkDeviceSize kp_heap_alignment(const kp_device *device, const kp_heap_want *want);

VkDeviceMemory kp_heap_memory(const kp_heap_chunk *chunk);
VkDeviceSize kp_heap_offset(const kp_heap_chunk *chunk, VkDeviceSize alignment); // the first one aligned so
void *kp_heap_mapped(const kp_heap_chunk *chunk, VkDeviceSize alignment);        // NULL when not host-visible

#endif
