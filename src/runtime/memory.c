// See memory.h.
#include "image.h"

#include "base/alloc.h"
#include "vulkan/guard.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Lifetime
// ---------------------------------------------------------------------------------------------------------------------

const char *kp_memory_kind(const kp_memory *memory) { return memory->format != NULL ? "image" : "tensor"; }

void kp_memory_ref(kp_memory *memory) { atomic_fetch_add_explicit(&memory->refs, 1, memory_order_relaxed); }

void kp_memory_unref(kp_memory *memory) {
    if (memory == NULL || atomic_fetch_sub_explicit(&memory->refs, 1, memory_order_acq_rel) != 1)
        return;
    kp_manager_release(memory->manager);
    if (memory->root != memory)
        kp_memory_unref(memory->root);
    kp_order_free(&memory->order);
    if (memory->root == memory)
        kp_alloc_free((void *)(uintptr_t)memory->structure);
    kp_alloc_free(memory->label);
    kp_alloc_free(memory);
}

bool kp_memory_hold(kp_memory *memory) {
    if (!kp_manager_hold_child(&memory->holds, &memory->alive))
        return false;
    if (atomic_load(&memory->alive))
        return true;
    kp_memory_let_go(memory);
    return false;
}

static void give_back(kp_memory *memory) {
    void (*release)(void *) = memory->release;
    memory->release = NULL;
    memory->borrowed = NULL;
    if (release != NULL)
        release(memory->release_payload);
}

static void free_contents(kp_memory *memory) {
    if (memory->root != memory) {
        kp_memory_let_go(memory->root);
        return;
    }
    uint64_t bytes = memory->device_side.size + memory->pixels.size + memory->host_side.size;
    if (memory->device != NULL) {
        kp_buffer_destroy(memory->device, &memory->device_side);
        kp_pixels_destroy(memory->device, &memory->pixels);
        kp_buffer_destroy(memory->device, &memory->host_side);
        kp_device_release(memory->device);
        memory->device = NULL;
    }
    atomic_fetch_sub_explicit(&memory->manager->used, bytes, memory_order_relaxed);
    give_back(memory);
}

void kp_memory_let_go(kp_memory *memory) {
    if (atomic_fetch_sub_explicit(&memory->holds, 1, memory_order_acq_rel) == 1)
        free_contents(memory);
}

void kp_memory_kill(kp_memory *memory) {
    if (atomic_exchange(&memory->alive, false))
        kp_memory_let_go(memory);
}

void kp_memory_destroy(kp_memory *memory) {
    if (memory == NULL || kp_manager_forked(memory->manager))
        return;
    kp_manager_reap(memory->manager);
    kp_manager_unlink(memory->manager, &memory->manager->memories, &memory->link);
    kp_memory_kill(memory);
    kp_memory_unref(memory);
}

bool kp_memory_alive(const kp_memory *memory) {
    return memory != NULL && atomic_load(&memory->alive) && !kp_manager_forked(memory->manager);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sides
// ---------------------------------------------------------------------------------------------------------------------

// Bytes in whole units.
static VkDeviceSize whole(uint64_t bytes, uint64_t unit) {
    return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
}

// The bytes of a VkBuffer for `bytes` of data: whole rows of 16 bytes, since our modules read uniform buffers in those.
static VkDeviceSize buffer_size(uint64_t bytes) { return whole(bytes, 16); }

static VkDeviceSize range(const kp_memory *memory, uint64_t unit) {
    VkDeviceSize size = whole(memory->bytes, unit), room = memory->root->device_side.size - memory->offset;
    return size < room ? size : room;
}

VkDeviceSize kp_memory_range(const kp_memory *memory) { return range(memory, 4); }
VkDeviceSize kp_memory_uniform_range(const kp_memory *memory) { return range(memory, 16); }

static kp_result make_side(kp_memory *memory, kp_buffer_kind kind, kp_buffer *side) {
    VkDeviceSize size = memory->share.imported ? whole(memory->bytes, 4) : buffer_size(memory->bytes);
    bool share = memory->share.handle_type != 0 && memory->bytes != 0 && side == &memory->device_side;
    kp_result result = share ? kp_buffer_create_shared(memory->device, kind, size, &memory->share, memory->label, side)
                             : kp_buffer_create(memory->device, kind, size, memory->label, side);
    if (result != KP_OK)
        return kp_error_set(result, "%s '%s': %s", kp_memory_kind(memory), memory->label, kp_last_error());
    atomic_fetch_add_explicit(&memory->manager->used, side->size, memory_order_relaxed);
    bool others = share && memory->share.imported;
    if (side->mapped != NULL && !others) // what rounds it up: no kernel sees what was there before
        memset((unsigned char *)side->mapped + memory->bytes, 0, (size_t)(side->size - memory->bytes));
    return KP_OK;
}

static kp_result make_pixels(kp_memory *memory) {
    kp_result result = kp_pixels_create(memory->device,
                                        &(kp_pixels_desc){.format = memory->format->vulkan,
                                                          .format_name = memory->format->name,
                                                          .dimensions = memory->dimensions,
                                                          .extent = memory->extent,
                                                          .label = memory->label,
                                                          .share = memory->share},
                                        &memory->pixels);
    if (result != KP_OK)
        return kp_error_set(result, "image '%s': %s", memory->label, kp_last_error());
    atomic_fetch_add_explicit(&memory->manager->used, memory->pixels.size, memory_order_relaxed);
    return KP_OK;
}

static kp_buffer_kind device_kind(const kp_memory *memory, bool *shared) {
    const kp_manager *manager = memory->manager;
    *shared = memory->type != KP_MEMORY_STORAGE;
    if (memory->bytes == 0)
        return KP_BUFFER_HOST_SHARED; // zeros
    if (*shared && manager->unified)
        return KP_BUFFER_SHARED;
    if (memory->type == KP_MEMORY_HOST)
        return KP_BUFFER_HOST_SHARED;
    if (memory->type == KP_MEMORY_DEVICE_AND_HOST && kp_buffer_can_share(manager->device))
        return KP_BUFFER_SHARED;
    *shared = false;
    return KP_BUFFER_DEVICE;
}

// Doubles what is filled until all is.
static void repeat(unsigned char *host, size_t bytes, const unsigned char *element, size_t size) {
    memcpy(host, element, size);
    for (size_t done = size; done < bytes; done *= 2)
        memcpy(host + done, host, done < bytes - done ? done : bytes - done);
}

static void fill_host(kp_memory *memory, void *host, const void *data) {
    static const unsigned char zero[sizeof memory->fill];
    if (data != NULL)
        memcpy(host, data, (size_t)memory->bytes);
    else if (!memory->undefined && memcmp(memory->fill, zero, sizeof zero) == 0)
        memset(host, 0, (size_t)memory->bytes);
    else if (!memory->undefined && memory->bytes != 0)
        repeat(host, (size_t)memory->bytes, memory->fill, kp_dtype_size(memory->dtype));
}

bool kp_memory_has_host(const kp_memory *memory) { return memory->shared || atomic_load(&memory->root->version) != 0; }

void *kp_memory_host(const kp_memory *memory) {
    const kp_memory *root = memory->root;
    unsigned char *start = root->shared ? root->device_side.mapped : root->host_side.mapped;
    return start != NULL ? start + memory->offset : NULL;
}

static kp_result make_host(kp_memory *memory, const void *data) {
    kp_result result = make_side(memory, KP_BUFFER_STAGING, &memory->host_side);
    if (result != KP_OK)
        return result;
    fill_host(memory, memory->host_side.mapped, data);
    atomic_fetch_add(&memory->version, 1);
    return KP_OK;
}

kp_result kp_memory_need_host(kp_memory *memory) {
    if (memory->type == KP_MEMORY_STORAGE)
        return kp_error_set(KP_ERROR_STATE, "%s '%s': a storage %s has no host side", kp_memory_kind(memory),
                            memory->label, kp_memory_kind(memory));
    if (memory->bytes == 0 || kp_memory_has_host(memory))
        return KP_OK;
    kp_result result = KP_OK; // two threads may record the same tensor
    kp_guard_lock(&memory->manager->lock);
    if (!kp_memory_has_host(memory))
        result = make_host(memory->root, NULL);
    kp_guard_unlock(&memory->manager->lock);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making one
// ---------------------------------------------------------------------------------------------------------------------

static kp_result too_large(const kp_memory *memory, const char *limit, uint64_t most) {
    const char *kind = kp_memory_kind(memory);
    return kp_error_set(KP_ERROR_LIMIT, "%s '%s': %s of %s is %llu bytes, the %s has %llu", kind, memory->label, limit,
                        memory->manager->device->info.name, (unsigned long long)most, kind,
                        (unsigned long long)memory->bytes);
}

static kp_result check_size(const kp_memory *memory) {
    const kp_info *info = &memory->manager->device->info;
    VkDeviceSize size = buffer_size(memory->bytes);
    if (memory->bytes > SIZE_MAX - 16 || size < memory->bytes) // rounding up came round
        return kp_error_set(KP_ERROR_LIMIT, "%s '%s': %llu bytes are more than this program can address",
                            kp_memory_kind(memory), memory->label, (unsigned long long)memory->bytes);
    if (memory->format == NULL && size > info->max_buffer_range)
        return too_large(memory, "maxStorageBufferRange", info->max_buffer_range);
    if (size > info->max_allocation)
        return too_large(memory, "maxMemoryAllocationSize", info->max_allocation);
    return KP_OK;
}

static void start_life(kp_memory *memory) {
    atomic_store(&memory->refs, 1);
    atomic_store(&memory->holds, 1);
    atomic_store(&memory->alive, true);
    kp_manager_hold(memory->manager);
    kp_manager_link(memory->manager, &memory->manager->memories, &memory->link);
}

static kp_result init_order(kp_memory *memory) {
    kp_manager *manager = memory->manager;
    kp_guard_lock(&manager->order_lock);
    kp_result result = kp_order_init(&memory->order, manager->order, manager->device->all_queue_count);
    kp_guard_unlock(&manager->order_lock);
    return result;
}

// Makes the caller's memory the host side, and the device side too where they are one. False: it cannot be.
static bool borrow(kp_memory *memory, kp_buffer_kind kind) {
    kp_buffer *side = memory->shared ? &memory->device_side : &memory->host_side;
    if (memory->bytes == 0 || memory->bytes % 4 != 0 || // what rounds up the last word is not ours here
        kp_buffer_import(memory->device, memory->shared ? kind : KP_BUFFER_STAGING, buffer_size(memory->bytes),
                         memory->borrowed, memory->bytes, memory->label, side) != KP_OK)
        return false;
    atomic_fetch_add_explicit(&memory->manager->used, side->size, memory_order_relaxed);
    return true;
}

static kp_result make_device(kp_memory *memory) {
    if (memory->format != NULL)
        return make_pixels(memory);
    if (memory->device_side.foreign) {
        atomic_fetch_add_explicit(&memory->manager->used, memory->device_side.size, memory_order_relaxed);
        return KP_OK;
    }
    kp_result result = KP_OK;
    kp_buffer_kind kind = device_kind(memory, &memory->shared);
    if (memory->borrowed != NULL && !borrow(memory, kind))
        memory->borrowed = NULL;
    if (memory->device_side.handle == VK_NULL_HANDLE)
        result = make_side(memory, kind, &memory->device_side);
    memory->shared = memory->shared && memory->device_side.mapped != NULL; // imported: if the host sees it
    return result;
}

// The host side as it starts; without data it is made when first needed, where it is no part of the device side.
static kp_result start_host(kp_memory *memory, const void *data) {
    if (memory->borrowed != NULL)
        atomic_fetch_add(&memory->version, 1); // it is there, with its data
    else if (memory->shared && !memory->share.imported)
        fill_host(memory, memory->device_side.mapped, data);
    else if (data != NULL && memory->bytes != 0)
        return make_host(memory, data);
    return KP_OK;
}

kp_result kp_memory_open(kp_memory *memory, const void *data) {
    kp_recording *settling = NULL;
    kp_result result = check_size(memory);
    if (result != KP_OK)
        return result;
    memory->root = memory;
    memory->device = memory->manager->device;
    kp_device_hold(memory->device);
    result = make_device(memory);
    if (result == KP_OK)
        result = start_host(memory, data);
    if (result == KP_OK)
        result = init_order(memory);
    if (result == KP_OK && memory->format != NULL && !memory->share.imported)
        result = kp_image_settle(memory, &settling);
    if (result != KP_OK)
        goto fail;
    start_life(memory);
    if (settling != NULL)
        kp_image_leave(memory, settling);
    if (memory->borrowed == NULL)
        give_back(memory);
    return KP_OK;
fail:
    memory->release = NULL;
    kp_order_free(&memory->order);
    free_contents(memory);
    return result;
}

void kp_memory_open_view(kp_memory *memory) {
    kp_memory *root = memory->root;
    // Not kp_memory_hold: the root may not be alive any more where the caller has a view of it; its contents are.
    atomic_fetch_add_explicit(&root->holds, 1, memory_order_relaxed);
    kp_memory_ref(root);
    memory->shared = root->shared;
    start_life(memory);
}

kp_result kp_memory_check(const kp_memory *memory, const kp_manager *manager, const char *who, size_t index) {
    if (memory == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: memory[%zu] is NULL", who, index);
    if (memory->manager != manager)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s '%s' belongs to another manager", who, kp_memory_kind(memory),
                            memory->label);
    if (!atomic_load(&memory->alive))
        return kp_error_set(KP_ERROR_STATE, "%s: %s '%s' is destroyed", who, kp_memory_kind(memory), memory->label);
    return KP_OK;
}
