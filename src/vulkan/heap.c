// See heap.h. Sizes and offsets are multiples of a granule of 256 bytes, which is an alignment that most buffers are
// content with; a larger alignment is met by taking that much more.
#define _DEFAULT_SOURCE // madvise
#include "heap.h"

#include "base/alloc.h"
#include "device.h"
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULE ((VkDeviceSize)256)
#define FIRST_BLOCK ((VkDeviceSize)4 << 20)
#define LARGEST_BLOCK ((VkDeviceSize)64 << 20)
#define HUGE_BLOCK ((VkDeviceSize)32 << 20) // from here on malloc gives a mapping of its own
#define HUGE_PAGE ((uintptr_t)2 << 20)

struct kp_heap_block {
    kp_heap_block *next;
    VkDeviceMemory memory;
    VkDeviceSize size;
    unsigned char *mapped; // NULL when not host-visible
    kp_heap_chunk *first;  // in address order
    uint32_t type;         // memory type
    bool lone;             // made for one piece
    bool imported;         // of the caller's memory, which does not count
};

void kp_heap_init(kp_device *device) { pthread_mutex_init(&device->heap.lock, NULL); }

// ---------------------------------------------------------------------------------------------------------------------
// Chunks
// ---------------------------------------------------------------------------------------------------------------------

static unsigned bin_of(VkDeviceSize size) {
    VkDeviceSize granules = size / GRANULE;
    unsigned bin = 0;
    while (granules > 1 && bin < KP_HEAP_BINS - 1) {
        granules >>= 1;
        bin++;
    }
    return bin;
}

static void put_in_bin(kp_heap_type *type, kp_heap_chunk *chunk) {
    kp_heap_chunk **bin = &type->bins[bin_of(chunk->size)];
    chunk->is_free = true;
    chunk->newer = NULL;
    chunk->older = *bin;
    if (*bin != NULL)
        (*bin)->newer = chunk;
    *bin = chunk;
}

static void take_from_bin(kp_heap_type *type, kp_heap_chunk *chunk) {
    if (chunk->newer != NULL)
        chunk->newer->older = chunk->older;
    else
        type->bins[bin_of(chunk->size)] = chunk->older;
    if (chunk->older != NULL)
        chunk->older->newer = chunk->newer;
    chunk->older = chunk->newer = NULL;
    chunk->is_free = false;
}

// The first that is large enough, from the bin of its size on.
static kp_heap_chunk *find_free(const kp_heap_type *type, VkDeviceSize size) {
    for (unsigned bin = bin_of(size); bin < KP_HEAP_BINS; bin++) {
        for (kp_heap_chunk *chunk = type->bins[bin]; chunk != NULL; chunk = chunk->older) {
            if (chunk->size >= size)
                return chunk;
        }
    }
    return NULL;
}

// Takes `size` bytes from the front of a free chunk; the rest stays free. NULL: out of host memory, nothing changed.
static kp_heap_chunk *carve(kp_heap_type *type, kp_heap_chunk *chunk, VkDeviceSize size) {
    if (chunk->size > size) {
        kp_heap_chunk *rest = kp_alloc_zero(1, sizeof *rest);
        if (rest == NULL)
            return NULL;
        take_from_bin(type, chunk);
        *rest = (kp_heap_chunk){.block = chunk->block,
                                .offset = chunk->offset + size,
                                .size = chunk->size - size,
                                .before = chunk,
                                .after = chunk->after};
        if (rest->after != NULL)
            rest->after->before = rest;
        chunk->after = rest;
        chunk->size = size;
        put_in_bin(type, rest);
    } else {
        take_from_bin(type, chunk);
    }
    return chunk;
}

// Makes `chunk` one with the neighbour behind it.
static void swallow(kp_heap_chunk *chunk, kp_heap_chunk *after) {
    chunk->size += after->size;
    chunk->after = after->after;
    if (after->after != NULL)
        after->after->before = chunk;
    kp_alloc_free(after);
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t vulkan_heap(const kp_device *device, uint32_t type) {
    return device->limits.memory.memoryTypes[type].heapIndex;
}

static kp_result check_room(const kp_device *device, uint32_t type, VkDeviceSize size) {
    uint32_t index = vulkan_heap(device, type);
    VkDeviceSize all = device->limits.memory.memoryHeaps[index].size, held = device->heap.held[index];
    if (size > all || held > all - size)
        return kp_error_set(
            KP_ERROR_DEVICE_MEMORY, "%s: out of device memory: %llu bytes wanted, %llu of %llu bytes of heap %u in use",
            device->label, (unsigned long long)size, (unsigned long long)held, (unsigned long long)all, index);
    if (device->heap.allocations >= device->limits.max_allocations)
        return kp_error_set(KP_ERROR_DEVICE_MEMORY, "%s: maxMemoryAllocationCount is %u, all are in use", device->label,
                            device->limits.max_allocations);
    return KP_OK;
}

// The driver has less than the heap says: others use it too.
static kp_result driver_is_out(const kp_device *device, uint32_t type, VkDeviceSize size) {
    uint32_t index = vulkan_heap(device, type);
    return kp_error_set(KP_ERROR_DEVICE_MEMORY,
                        "%s: out of device memory: %llu bytes wanted, %llu of %llu bytes of heap %u in use here, the "
                        "driver has no more",
                        device->label, (unsigned long long)size, (unsigned long long)device->heap.held[index],
                        (unsigned long long)device->limits.memory.memoryHeaps[index].size, index);
}

// A CPU driver's device memory is plain memory that nobody has touched yet. Large blocks of it ask for huge pages, as
// NumPy does for its arrays: 2^24 floats are multiplied in two thirds of the time. Only advice, so its result does not
// matter.
static void ask_for_huge_pages(const kp_device *device, const kp_heap_block *block) {
#ifdef MADV_HUGEPAGE
    if (device->info.type != VK_PHYSICAL_DEVICE_TYPE_CPU || block->size < HUGE_BLOCK)
        return;
    uintptr_t begin = ((uintptr_t)block->mapped + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = ((uintptr_t)block->mapped + (uintptr_t)block->size) / HUGE_PAGE * HUGE_PAGE;
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); // NOLINT(performance-no-int-to-ptr)
#else
    (void)device, (void)block;
#endif
}

static kp_result map_block(kp_device *device, kp_heap_block *block) {
    if ((device->limits.memory.memoryTypes[block->type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0)
        return KP_OK;
    void *mapped = NULL;
    kp_result result = KP_VK(device, MapMemory, device->handle, block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    block->mapped = mapped;
    if (result == KP_OK)
        ask_for_huge_pages(device, block);
    return result;
}

static kp_result allocate(kp_device *device, kp_heap_block *block, const kp_heap_want *want) {
    bool exported = want != NULL && want->exported != 0;
    const VkMemoryDedicatedAllocateInfo dedicated = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                                     .buffer = want != NULL ? want->buffer : VK_NULL_HANDLE,
                                                     .image = want != NULL ? want->image : VK_NULL_HANDLE};
    const void *next = want != NULL && (!exported || want->dedicated) ? &dedicated : NULL;
    const VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                               .pNext = next,
                                               .handleTypes = exported ? want->exported : 0};
    return KP_VK(device, AllocateMemory, device->handle,
                 &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = exported ? &export : next,
                                         .allocationSize = block->size,
                                         .memoryTypeIndex = block->type},
                 NULL, &block->memory);
}

// For debuggers. `label`: of the one thing that it is for, or NULL.
static void name_block(const kp_device *device, const kp_heap_block *block, const char *label) {
    char text[160];
    snprintf(text, sizeof text, "%s%.100s%smemory of type %u", label != NULL ? "'" : "", label != NULL ? label : "",
             label != NULL ? "', " : "block, ", block->type);
    kp_device_name(device, VK_OBJECT_TYPE_DEVICE_MEMORY, KP_DEVICE_HANDLE(block->memory), text);
}

// A new block, not linked yet, all of it one free chunk that is in no bin yet. `want` is what a lone one is for.
static kp_result make_block(kp_device *device, uint32_t type, VkDeviceSize size, const kp_heap_want *want,
                            kp_heap_block **out) {
    kp_result result = check_room(device, type, size);
    if (result != KP_OK)
        return result;
    kp_heap_block *block = kp_alloc_zero(1, sizeof *block);
    kp_heap_chunk *chunk = kp_alloc_zero(1, sizeof *chunk);
    if (block == NULL || chunk == NULL) {
        result = kp_error_host_memory(sizeof *block);
        goto fail;
    }
    *block = (kp_heap_block){.size = size, .first = chunk, .type = type, .lone = want != NULL};
    *chunk = (kp_heap_chunk){.block = block, .size = size};
    result = allocate(device, block, want);
    if (result == KP_ERROR_DEVICE_MEMORY)
        result = driver_is_out(device, type, size);
    if (result == KP_OK)
        result = map_block(device, block);
    if (result != KP_OK)
        goto fail;
    name_block(device, block, want != NULL ? want->label : NULL);
    device->heap.held[vulkan_heap(device, type)] += size;
    device->heap.reserved += size;
    device->heap.allocations++;
    if (device->heap.reserved > device->heap.peak)
        device->heap.peak = device->heap.reserved;
    *out = block;
    return KP_OK;
fail:
    if (block != NULL && block->memory != VK_NULL_HANDLE)
        device->vk.vkFreeMemory(device->handle, block->memory, NULL);
    kp_alloc_free(block);
    kp_alloc_free(chunk);
    return result;
}

// The block is not linked any more, or never was; its chunks are in no bin.
static void free_block(kp_device *device, kp_heap_block *block) {
    if (!block->imported) {
        device->heap.held[vulkan_heap(device, block->type)] -= block->size;
        device->heap.reserved -= block->size;
    }
    device->heap.allocations--;
    device->vk.vkFreeMemory(device->handle, block->memory, NULL); // unmaps
    for (kp_heap_chunk *chunk = block->first; chunk != NULL;) {
        kp_heap_chunk *after = chunk->after;
        kp_alloc_free(chunk);
        chunk = after;
    }
    kp_alloc_free(block);
}

static void link_block(kp_heap_type *type, kp_heap_block *block) {
    block->next = type->blocks;
    type->blocks = block;
    if (!block->lone)
        put_in_bin(type, block->first);
}

static void unlink_block(kp_heap_type *type, kp_heap_block *block) {
    kp_heap_block **at = &type->blocks;
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
}

// Size of the next shared block that is to hold a piece of `size`.
static VkDeviceSize block_size(const kp_device *device, uint32_t type, VkDeviceSize size) {
    VkDeviceSize all = device->limits.memory.memoryHeaps[vulkan_heap(device, type)].size;
    VkDeviceSize next = FIRST_BLOCK;
    for (uint32_t i = 0; i < device->heap.types[type].growth && next < LARGEST_BLOCK; i++)
        next *= 2;
    while (next < size * 2 && next < LARGEST_BLOCK)
        next *= 2;
    while (next > size && next > all / 8) // small heaps
        next /= 2;
    if (next > device->info.max_allocation)
        next = device->info.max_allocation / GRANULE * GRANULE;
    if (size > next / 16) // whole pieces, as others of that size are likely: a third of 64 MiB is left by two of 22
        next -= next % size;
    return next > size ? next : size;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pieces
// ---------------------------------------------------------------------------------------------------------------------

static kp_result alloc_lone(kp_device *device, uint32_t type, const kp_heap_want *want, kp_heap_chunk **out) {
    kp_heap_block *block = NULL;
    kp_result result = make_block(device, type, want->needs.size, want, &block);
    if (result != KP_OK)
        return result;
    link_block(&device->heap.types[type], block);
    *out = block->first;
    return KP_OK;
}

static kp_result alloc_shared(kp_device *device, uint32_t index, VkDeviceSize size, kp_heap_chunk **out) {
    kp_heap_type *type = &device->heap.types[index];
    kp_heap_chunk *chunk = find_free(type, size);
    if (chunk == NULL) {
        kp_heap_block *block = NULL;
        VkDeviceSize roomy = block_size(device, index, size);
        kp_result result = make_block(device, index, roomy, NULL, &block);
        if (result == KP_ERROR_DEVICE_MEMORY && roomy > size) // no room to be generous
            result = make_block(device, index, size, NULL, &block);
        if (result != KP_OK)
            return result;
        type->growth++;
        link_block(type, block);
        chunk = block->first;
    }
    chunk = carve(type, chunk, size);
    if (chunk == NULL)
        return kp_error_host_memory(sizeof *chunk);
    *out = chunk;
    return KP_OK;
}

static kp_result alloc_from(kp_device *device, uint32_t type, const kp_heap_want *want, kp_heap_chunk **out) {
    VkDeviceSize alignment = kp_heap_alignment(device, want),
                 unit = want->image != VK_NULL_HANDLE ? alignment : GRANULE;
    VkDeviceSize size = (want->needs.size + unit - 1) / unit * unit;
    size = (size + GRANULE - 1) / GRANULE * GRANULE;
    if (alignment > GRANULE)
        size += alignment - GRANULE;
    if (size > LARGEST_BLOCK / 2 || want->exported != 0)
        return alloc_lone(device, type, want, out);
    return alloc_shared(device, type, size, out);
}

// How well a memory type fits: higher is better, negative does not do.
static int rate(const kp_device *device, const kp_heap_want *want, uint32_t type) {
    const VkMemoryPropertyFlags never = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
                                        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
    VkMemoryPropertyFlags flags = device->limits.memory.memoryTypes[type].propertyFlags;
    if ((want->needs.memoryTypeBits >> type & 1) == 0 || (flags & want->required) != want->required ||
        (flags & never) != 0)
        return -1;
    int points = 100;
    for (VkMemoryPropertyFlags bit = 1; bit <= VK_MEMORY_PROPERTY_HOST_CACHED_BIT; bit <<= 1)
        points += 10 * ((flags & want->preferred & bit) != 0) - ((flags & want->avoided & bit) != 0);
    return points;
}

// The best memory type among those not tried yet, or VK_MAX_MEMORY_TYPES.
static uint32_t best_type(const kp_device *device, const kp_heap_want *want, uint32_t tried) {
    uint32_t best = VK_MAX_MEMORY_TYPES;
    int points = -1;
    for (uint32_t i = 0; i < device->limits.memory.memoryTypeCount; i++) {
        int p = (tried >> i & 1) != 0 ? -1 : rate(device, want, i);
        if (p > points) {
            points = p;
            best = i;
        }
    }
    return best;
}

// From the best memory type that has room.
static kp_result alloc_best(kp_device *device, const kp_heap_want *want, kp_heap_chunk **out) {
    kp_result result = KP_OK;
    uint32_t tried = 0;
    do {
        uint32_t type = best_type(device, want, tried);
        if (type == VK_MAX_MEMORY_TYPES) {
            if (tried == 0)
                result = kp_error_set(KP_ERROR_UNSUPPORTED, "%s: no memory type has the properties 0x%x", device->label,
                                      (unsigned)want->required);
            break; // else the words of the last try
        }
        tried |= 1u << type;
        result = alloc_from(device, type, want, out);
    } while (result == KP_ERROR_DEVICE_MEMORY);
    return result;
}

// Frees the empty blocks that are kept for what comes next; false when there are none.
static bool free_empty(kp_device *device) {
    bool some = false;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_TYPES; i++) {
        kp_heap_type *type = &device->heap.types[i];
        for (kp_heap_block *block = type->blocks, *next; block != NULL; block = next) {
            next = block->next;
            if (block->lone || !block->first->is_free || block->first->after != NULL)
                continue;
            take_from_bin(type, block->first);
            unlink_block(type, block);
            free_block(device, block);
            some = true;
        }
        if (type->blocks == NULL)
            type->growth = 0;
    }
    return some;
}

kp_result kp_heap_alloc(kp_device *device, const kp_heap_want *want, kp_heap_chunk **out) {
    if (want->needs.size > device->info.max_allocation)
        return kp_error_set(KP_ERROR_LIMIT, "%s: maxMemoryAllocationSize is %llu bytes, %llu are wanted", device->label,
                            (unsigned long long)device->info.max_allocation, (unsigned long long)want->needs.size);
    kp_guard_lock(&device->heap.lock);
    kp_result result = alloc_best(device, want, out);
    if (result == KP_ERROR_DEVICE_MEMORY && free_empty(device))
        result = alloc_best(device, want, out);
    kp_guard_unlock(&device->heap.lock);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory of the caller's
// ---------------------------------------------------------------------------------------------------------------------

// The pages that hold the bytes, as a block of one chunk that begins where they do.
typedef struct pages {
    unsigned char *start;
    VkDeviceSize size, offset;
} pages;

static bool find_pages(const kp_device *device, const kp_heap_want *want, void *host, VkDeviceSize bytes, pages *out) {
    VkDeviceSize page = device->limits.import_alignment;
    if (!device->features.host_import || page == 0)
        return false;
    out->offset = (uintptr_t)host % page;
    out->start = (unsigned char *)host - out->offset;
    out->size = (out->offset + bytes + page - 1) / page * page;
    return out->offset % want->needs.alignment == 0 && out->offset + want->needs.size <= out->size;
}

// The memory type to import as, or VK_MAX_MEMORY_TYPES.
static uint32_t import_type(const kp_device *device, const kp_heap_want *want, const pages *p) {
    VkMemoryHostPointerPropertiesEXT can = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (device->vk.vkGetMemoryHostPointerPropertiesEXT(
            device->handle, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, p->start, &can) != VK_SUCCESS)
        return VK_MAX_MEMORY_TYPES;
    kp_heap_want narrow = *want;
    narrow.needs.memoryTypeBits &= can.memoryTypeBits;
    return best_type(device, &narrow, 0);
}

// A block of what somebody else has: `info` says what, all but where. The heap's lock is held.
static kp_result import_block(kp_device *device, const VkMemoryAllocateInfo *info, VkDeviceSize offset,
                              kp_heap_chunk **out) {
    if (device->heap.allocations >= device->limits.max_allocations)
        return kp_error_set(KP_ERROR_DEVICE_MEMORY, "%s: maxMemoryAllocationCount is %u, all are in use", device->label,
                            device->limits.max_allocations);
    kp_heap_block *block = kp_alloc_zero(1, sizeof *block);
    kp_heap_chunk *chunk = kp_alloc_zero(1, sizeof *chunk);
    kp_result result = block == NULL || chunk == NULL ? kp_error_host_memory(sizeof *block) : KP_OK;
    if (result == KP_OK)
        result = KP_VK(device, AllocateMemory, device->handle, info, NULL, &block->memory);
    if (result != KP_OK) {
        kp_alloc_free(block);
        kp_alloc_free(chunk);
        return result;
    }
    block->size = info->allocationSize;
    block->first = chunk;
    block->type = info->memoryTypeIndex;
    block->lone = block->imported = true;
    *chunk = (kp_heap_chunk){.block = block, .offset = offset, .size = block->size - offset};
    device->heap.allocations++;
    link_block(&device->heap.types[block->type], block);
    name_block(device, block, "imported");
    *out = chunk;
    return KP_OK;
}

kp_result kp_heap_import(kp_device *device, const kp_heap_want *want, void *host, VkDeviceSize bytes,
                         kp_heap_chunk **out) {
    pages p;
    uint32_t type = VK_MAX_MEMORY_TYPES;
    if (find_pages(device, want, host, bytes, &p))
        type = import_type(device, want, &p);
    if (type == VK_MAX_MEMORY_TYPES)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "%s: cannot import this memory", device->label);
    const VkImportMemoryHostPointerInfoEXT from = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                   .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                                   .pHostPointer = p.start};
    kp_guard_lock(&device->heap.lock);
    kp_result result = import_block(device,
                                    &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                            .pNext = &from,
                                                            .allocationSize = p.size,
                                                            .memoryTypeIndex = type},
                                    p.offset, out);
    if (result == KP_OK)
        (*out)->block->mapped = p.start;
    kp_guard_unlock(&device->heap.lock);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory behind file descriptors
// ---------------------------------------------------------------------------------------------------------------------

static const char *kind_of(const kp_heap_want *want) { return want->image != VK_NULL_HANDLE ? "an image" : "a buffer"; }

// The memory type that it is imported as.
static kp_result fd_type(kp_device *device, const kp_heap_want *want, const kp_heap_fd *from, uint32_t *out) {
    if (from->handle_type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) {
        if (from->type >= device->limits.memory.memoryTypeCount || (want->needs.memoryTypeBits >> from->type & 1) == 0)
            return kp_error_set(KP_ERROR_ARGUMENT,
                                "%s: the memory type %u, which the memory is said to have, is none "
                                "of %s's here",
                                device->label, from->type, kind_of(want));
        *out = from->type;
        return KP_OK;
    }
    VkMemoryFdPropertiesKHR can = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    kp_result result = KP_VK(device, GetMemoryFdPropertiesKHR, device->handle, from->handle_type, from->fd, &can);
    if (result != KP_OK)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: the file descriptor %d is no dma-buf that it can use",
                            device->label, from->fd);
    kp_heap_want narrow = *want;
    narrow.needs.memoryTypeBits &= can.memoryTypeBits;
    narrow.required = 0;
    *out = best_type(device, &narrow, 0);
    return *out != VK_MAX_MEMORY_TYPES ? KP_OK
                                       : kp_error_set(KP_ERROR_UNSUPPORTED,
                                                      "%s: no memory type of a buffer fits the "
                                                      "dma-buf",
                                                      device->label);
}

static kp_result map_imported(kp_device *device, kp_heap_block *block) {
    const VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if ((device->limits.memory.memoryTypes[block->type].propertyFlags & host) != host)
        return KP_OK;
    return map_block(device, block);
}

// The driver takes the descriptor that it is given where the import goes well: it gets one of its own.
static kp_result import_fd(kp_device *device, const kp_heap_want *want, const kp_heap_fd *from, uint32_t type, int own,
                           kp_heap_chunk **out) {
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = want->buffer, .image = want->image};
    const VkImportMemoryFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                          .pNext = from->dedicated ? &dedicated : NULL,
                                          .handleType = from->handle_type,
                                          .fd = own};
    kp_result result = import_block(device,
                                    &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                            .pNext = &info,
                                                            .allocationSize = from->size,
                                                            .memoryTypeIndex = type},
                                    from->offset, out);
    if (result == KP_ERROR_DRIVER) // VK_ERROR_INVALID_EXTERNAL_HANDLE
        result = kp_error_set(KP_ERROR_ARGUMENT, "%s: the file descriptor %d is no memory that it can use",
                              device->label, from->fd);
    return result;
}

kp_result kp_heap_import_fd(kp_device *device, const kp_heap_want *want, const kp_heap_fd *from, kp_heap_chunk **out) {
    if (from->offset % want->needs.alignment != 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s begins at a multiple of %llu bytes, the offset is %llu",
                            device->label, kind_of(want), (unsigned long long)want->needs.alignment,
                            (unsigned long long)from->offset);
    if (from->offset > from->size || want->needs.size > from->size - from->offset)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s needs %llu bytes from %llu on, the memory has %llu",
                            device->label, want->image != VK_NULL_HANDLE ? "the image" : "the buffer",
                            (unsigned long long)want->needs.size, (unsigned long long)from->offset,
                            (unsigned long long)from->size);
    if (want->image != VK_NULL_HANDLE && from->dedicated && want->needs.size != from->size)
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "%s: the image needs %llu bytes, the memory has %llu: it was made for another one",
                            device->label, (unsigned long long)want->needs.size, (unsigned long long)from->size);
    struct stat file; // a CPU driver's memory is one, and what lies behind its end is not there
    if (fstat(from->fd, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode) || S_ISDIR(file.st_mode)))
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: the file descriptor %d is a %s, not memory", device->label,
                            from->fd,
                            S_ISDIR(file.st_mode)    ? "folder"
                            : S_ISSOCK(file.st_mode) ? "socket"
                                                     : "pipe");
    if (fstat(from->fd, &file) == 0 && S_ISREG(file.st_mode) && (VkDeviceSize)file.st_size < from->size)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: the memory is said to have %llu bytes, its file has %llu",
                            device->label, (unsigned long long)from->size, (unsigned long long)file.st_size);
    uint32_t type = 0;
    int own = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: the file descriptor %d: %s", device->label, from->fd,
                            strerror(errno));
    kp_result result = fd_type(device, want, from, &type);
    kp_heap_chunk *chunk = NULL;
    kp_guard_lock(&device->heap.lock);
    if (result == KP_OK)
        result = import_fd(device, want, from, type, own, &chunk);
    if (result == KP_OK)
        result = map_imported(device, chunk->block);
    kp_guard_unlock(&device->heap.lock);
    if (chunk == NULL)
        close(own);
    if (result == KP_OK)
        *out = chunk;
    else
        kp_heap_free(device, chunk);
    return result;
}

kp_result kp_heap_export_fd(kp_device *device, const kp_heap_chunk *chunk, VkExternalMemoryHandleTypeFlagBits type,
                            kp_heap_fd *out) {
    int fd = -1;
    kp_result result = KP_VK(device, GetMemoryFdKHR, device->handle,
                             &(VkMemoryGetFdInfoKHR){.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                                     .memory = chunk->block->memory,
                                                     .handleType = type},
                             &fd);
    if (result == KP_OK)
        *out = (kp_heap_fd){.fd = fd, .handle_type = type, .size = chunk->block->size, .type = chunk->block->type};
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Giving back
// ---------------------------------------------------------------------------------------------------------------------

// Of the empty blocks one of the first size is kept, so that making and dropping a tensor again and again is cheap.
static bool worth_keeping(const kp_heap_type *type, const kp_heap_block *block) {
    if (block->lone || block->size > FIRST_BLOCK)
        return false;
    for (const kp_heap_block *other = type->blocks; other != NULL; other = other->next) {
        if (other != block && !other->lone && other->first->is_free && other->first->after == NULL)
            return false;
    }
    return true;
}

void kp_heap_free(kp_device *device, kp_heap_chunk *chunk) {
    if (chunk == NULL)
        return;
    kp_heap_block *block = chunk->block;
    kp_heap_type *type = &device->heap.types[block->type];
    kp_guard_lock(&device->heap.lock);
    if (!block->lone) {
        if (chunk->after != NULL && chunk->after->is_free) {
            take_from_bin(type, chunk->after);
            swallow(chunk, chunk->after);
        }
        if (chunk->before != NULL && chunk->before->is_free) {
            chunk = chunk->before;
            take_from_bin(type, chunk);
            swallow(chunk, chunk->after);
        }
        put_in_bin(type, chunk);
    }
    bool empty = block->lone || (block->first == chunk && chunk->after == NULL);
    if (empty && !worth_keeping(type, block)) {
        if (!block->lone) {
            take_from_bin(type, chunk);
            if (type->growth > 0)
                type->growth--;
        }
        unlink_block(type, block);
        free_block(device, block);
    }
    kp_guard_unlock(&device->heap.lock);
}

void kp_heap_trim(kp_device *device) {
    kp_guard_lock(&device->heap.lock);
    free_empty(device);
    kp_guard_unlock(&device->heap.lock);
}

void kp_heap_budget(kp_device *device, uint64_t *budget, uint64_t *usage) {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT said = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                             .pNext = &said};
    bool asked = device->features.memory_budget;
    if (asked)
        device->instance->GetPhysicalDeviceMemoryProperties2(device->physical, &all);
    *budget = *usage = 0;
    kp_guard_lock(&device->heap.lock);
    for (uint32_t i = 0; i < device->limits.memory.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &device->limits.memory.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0)
            continue;
        *budget += asked ? said.heapBudget[i] : heap->size;
        *usage += asked ? said.heapUsage[i] : device->heap.held[i];
    }
    kp_guard_unlock(&device->heap.lock);
}

void kp_heap_destroy(kp_device *device) {
    for (uint32_t i = 0; i < VK_MAX_MEMORY_TYPES; i++) {
        kp_heap_type *type = &device->heap.types[i];
        while (type->blocks != NULL) {
            kp_heap_block *block = type->blocks;
            type->blocks = block->next;
            free_block(device, block);
        }
        memset(type, 0, sizeof *type);
    }
}

VkDeviceSize kp_heap_alignment(const kp_device *device, const kp_heap_want *want) {
    VkDeviceSize needed = want->needs.alignment, apart = device->limits.image_granularity;
    return want->image != VK_NULL_HANDLE && needed < apart ? apart : needed;
}

VkDeviceMemory kp_heap_memory(const kp_heap_chunk *chunk) { return chunk->block->memory; }

VkDeviceSize kp_heap_offset(const kp_heap_chunk *chunk, VkDeviceSize alignment) {
    return (chunk->offset + alignment - 1) / alignment * alignment;
}

void *kp_heap_mapped(const kp_heap_chunk *chunk, VkDeviceSize alignment) {
    return chunk->block->mapped != NULL ? chunk->block->mapped + kp_heap_offset(chunk, alignment) : NULL;
}
