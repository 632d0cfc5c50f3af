// See recorder.h.
#include "recorder.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

enum { FEW = 24 }; // up to here a search is quicker than a map

static kp_result fail(kp_recorder *recorder, kp_result result) {
    if (recorder->result == KP_OK)
        recorder->result = result;
    return recorder->result;
}

kp_result kp_recorder_begin(kp_recorder *recorder, kp_device *device, VkCommandBuffer commands,
                            kp_pipeline_pools *pools, kp_memory *const *memory, unsigned *uses, size_t count) {
    *recorder =
        (kp_recorder){.device = device, .commands = commands, .pools = pools, .uses = uses, .slot_count = count};
    memset(uses, 0, count * sizeof *uses);
    recorder->slots = kp_alloc_zero(count, sizeof *recorder->slots);
    if (recorder->slots == NULL)
        return fail(recorder, kp_error_host_memory(count * sizeof *recorder->slots));
    for (size_t i = 0; i < count; i++) {
        kp_memory *root = memory[i]->root; // views of one root share a slot: the one that is found
        recorder->slots[i].memory = root;
        if (count > FEW && !kp_map_set(&recorder->index, &root, sizeof root, (void *)(uintptr_t)(i + 1)))
            return fail(recorder, kp_error_host_memory(sizeof memory[i]));
    }
    return KP_OK;
}

static size_t slot_of(const kp_recorder *recorder, kp_memory *memory) {
    memory = memory->root;
    if (recorder->slot_count > FEW)
        return (size_t)(uintptr_t)kp_map_get(&recorder->index, &memory, sizeof memory) - 1;
    size_t i = 0;
    while (i < recorder->slot_count && recorder->slots[i].memory != memory)
        i++;
    return i;
}

void kp_recorder_touch(kp_recorder *recorder, kp_memory *memory, kp_side side, kp_barrier_access access) {
    if (recorder->result != KP_OK)
        return;
    if (recorder->touched_count == recorder->touched_capacity) {
        size_t capacity = recorder->touched_capacity * 2 + 8;
        kp_recorder_touched *larger = kp_alloc_resize(recorder->touched, capacity * sizeof *larger);
        if (larger == NULL) {
            fail(recorder, kp_error_host_memory(capacity * sizeof *larger));
            return;
        }
        recorder->touched = larger;
        recorder->touched_capacity = capacity;
    }
    side = memory->shared ? KP_SIDE_DEVICE : side;
    size_t slot = slot_of(recorder, memory);
    recorder->uses[slot] |= kp_barrier_writes(access) ? KP_ORDER_READ | KP_ORDER_WRITE : KP_ORDER_READ;
    for (size_t i = 0; i < recorder->touched_count; i++) { // the same memory twice in one op: one access
        kp_recorder_touched *t = &recorder->touched[i];
        if (t->slot == slot && t->side == side) {
            t->access.stage |= access.stage;
            t->access.access |= access.access;
            return;
        }
    }
    recorder->touched[recorder->touched_count++] = (kp_recorder_touched){.slot = slot, .side = side, .access = access};
}

static void pass(kp_recorder *recorder, const kp_barrier *barrier) {
    kp_barrier_emit(recorder->device, recorder->commands, barrier);
    for (size_t i = 0; i < recorder->slot_count; i++) {
        kp_barrier_passed(&recorder->slots[i].sides[0], barrier);
        kp_barrier_passed(&recorder->slots[i].sides[1], barrier);
    }
}

kp_result kp_recorder_ready(kp_recorder *recorder) {
    if (recorder->result != KP_OK)
        return recorder->result;
    kp_barrier barrier = {0};
    for (size_t i = 0; i < recorder->touched_count; i++) {
        const kp_recorder_touched *t = &recorder->touched[i];
        kp_barrier_need(&recorder->slots[t->slot].sides[t->side], t->access, &barrier);
    }
    if (barrier.source.stage != 0)
        pass(recorder, &barrier);
    for (size_t i = 0; i < recorder->touched_count; i++) {
        const kp_recorder_touched *t = &recorder->touched[i];
        kp_barrier_use(&recorder->slots[t->slot].sides[t->side], t->access);
    }
    recorder->touched_count = 0;
    recorder->command_count++;
    return KP_OK;
}

void kp_recorder_fence_all(kp_recorder *recorder) {
    if (recorder->result != KP_OK)
        return;
    const kp_barrier all = {.source = kp_barrier_on(kp_barrier_any_work, recorder->computes),
                            .target = kp_barrier_on(kp_barrier_any_use, recorder->computes)};
    pass(recorder, &all);
}

// A change of owners, between the queues of the device and others (Vulkan's external queue family).
static void change_owner(kp_recorder *recorder, const kp_memory *memory, uint32_t family, bool acquire) {
    if (memory->format != NULL) {
        kp_pixels_change_owner(recorder->device, recorder->commands, &memory->pixels, family, acquire);
        return;
    }
    const uint32_t ours = recorder->device->named_family_count > 1 ? VK_QUEUE_FAMILY_IGNORED : family;
    const uint32_t theirs = VK_QUEUE_FAMILY_EXTERNAL;
    const kp_barrier_access work = kp_barrier_on(kp_barrier_any_work, recorder->computes),
                            use = kp_barrier_on(kp_barrier_any_use, recorder->computes);
    recorder->device->vk.vkCmdPipelineBarrier(recorder->commands,
                                              acquire ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : work.stage,
                                              acquire ? use.stage : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 1,
                                              &(VkBufferMemoryBarrier){.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                                                       .srcAccessMask = acquire ? 0 : work.access,
                                                                       .dstAccessMask = acquire ? use.access : 0,
                                                                       .srcQueueFamilyIndex = acquire ? theirs : ours,
                                                                       .dstQueueFamilyIndex = acquire ? ours : theirs,
                                                                       .buffer = memory->device_side.handle,
                                                                       .size = VK_WHOLE_SIZE},
                                              0, NULL);
}

static void change_owners(kp_recorder *recorder, uint32_t family, bool acquire) {
    for (size_t i = 0; i < recorder->slot_count && recorder->result == KP_OK; i++) {
        kp_memory *root = recorder->slots[i].memory;
        if (root->share.handle_type != 0 && root->bytes != 0 && slot_of(recorder, root) == i)
            change_owner(recorder, root, family, acquire);
    }
}

void kp_recorder_acquire(kp_recorder *recorder, uint32_t family) { change_owners(recorder, family, true); }
void kp_recorder_release(kp_recorder *recorder, uint32_t family) { change_owners(recorder, family, false); }

// Of a side, but for the device side of an image; the memory begins at its offset in it.
static const kp_buffer *buffer_of(const kp_memory *memory, kp_side side) {
    const kp_memory *root = memory->root;
    return side == KP_SIDE_HOST && !root->shared ? &root->host_side : &root->device_side;
}

static bool in_pixels(const kp_memory *memory, kp_side side) {
    return memory->format != NULL && side == KP_SIDE_DEVICE;
}

static VkOffset3D offset_of(const uint32_t at[3]) {
    return (VkOffset3D){(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]};
}

static void copy_pixels(const kp_recorder *recorder, const kp_memory *from, kp_side from_side, const kp_memory *to,
                        kp_side to_side, const kp_copy_region *r) {
    const kp_device_functions *vk = &recorder->device->vk;
    const VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
    const VkImageSubresourceLayers layers = kp_pixels_layers();
    const VkExtent3D extent = {r->size[0], r->size[1], r->size[2]};
    bool up = in_pixels(to, to_side);
    const VkBufferImageCopy one = {.bufferOffset = up ? from->offset : to->offset,
                                   .imageSubresource = layers,
                                   .imageOffset = offset_of(up ? r->to : r->from),
                                   .imageExtent = extent};
    if (in_pixels(from, from_side) && up)
        vk->vkCmdCopyImage(recorder->commands, from->pixels.handle, layout, to->pixels.handle, layout, 1,
                           &(VkImageCopy){.srcSubresource = layers,
                                          .srcOffset = offset_of(r->from),
                                          .dstSubresource = layers,
                                          .dstOffset = offset_of(r->to),
                                          .extent = extent});
    else if (up)
        vk->vkCmdCopyBufferToImage(recorder->commands, buffer_of(from, from_side)->handle, to->pixels.handle, layout, 1,
                                   &one);
    else
        vk->vkCmdCopyImageToBuffer(recorder->commands, from->pixels.handle, layout, buffer_of(to, to_side)->handle, 1,
                                   &one);
}

static void copy(const kp_recorder *recorder, const kp_memory *from, kp_side from_side, const kp_memory *to,
                 kp_side to_side) {
    const VkExtent3D *all = in_pixels(from, from_side) ? &from->extent : &to->extent;
    if (in_pixels(from, from_side) || in_pixels(to, to_side))
        copy_pixels(recorder, from, from_side, to, to_side,
                    &(kp_copy_region){.size = {all->width, all->height, all->depth}});
    else
        recorder->device->vk.vkCmdCopyBuffer(recorder->commands, buffer_of(from, from_side)->handle,
                                             buffer_of(to, to_side)->handle, 1,
                                             &(VkBufferCopy){from->offset, to->offset, from->bytes});
}

static kp_result touch_both(kp_recorder *recorder, kp_memory *from, kp_side from_side, kp_memory *to, kp_side to_side) {
    kp_recorder_touch(recorder, from, from_side,
                      (kp_barrier_access){VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT});
    kp_recorder_touch(recorder, to, to_side,
                      (kp_barrier_access){VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT});
    return kp_recorder_ready(recorder);
}

kp_result kp_recorder_copy(kp_recorder *recorder, kp_memory *from, kp_side from_side, kp_memory *to, kp_side to_side) {
    bool same_side = from_side == to_side || from->root->shared;
    if (from->bytes == 0)
        return recorder->result;
    if (from->root == to->root && same_side && from->offset == to->offset) { // a sync of shared sides: nothing but its
                                                                             // place among other work
        recorder->uses[slot_of(recorder, from)] |= to_side == KP_SIDE_HOST ? KP_ORDER_READ : KP_ORDER_WRITE;
        return recorder->result;
    }
    kp_result result = touch_both(recorder, from, from_side, to, to_side);
    if (result == KP_OK)
        copy(recorder, from, from_side, to, to_side);
    return result;
}

kp_result kp_recorder_copy_region(kp_recorder *recorder, kp_memory *from, kp_memory *to, const kp_copy_region *region) {
    kp_result result = touch_both(recorder, from, KP_SIDE_DEVICE, to, KP_SIDE_DEVICE);
    if (result == KP_OK)
        copy_pixels(recorder, from, KP_SIDE_DEVICE, to, KP_SIDE_DEVICE, region);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Fills
// ---------------------------------------------------------------------------------------------------------------------

// Bytes of a buffer to be filled: all of them, and the whole words among them.
typedef struct span {
    VkDeviceSize begin, end, first, last;
} span;

static span span_of(const kp_memory *memory) {
    const kp_memory *root = memory->root;
    span s = {.begin = memory->offset, .end = memory->offset + memory->bytes};
    if (memory->offset + memory->bytes == root->bytes)
        s.end = (s.end + 3) / 4 * 4; // what rounds it up belongs to nobody
    s.first = (s.begin + 3) / 4 * 4;
    s.last = s.end / 4 * 4;
    return s;
}

bool kp_recorder_can_fill(const kp_memory *memory) {
    span s = span_of(memory);
    return (s.begin == s.first && s.end == s.last) || s.last >= s.first + 4;
}

static void order_copies(const kp_recorder *recorder) {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    kp_barrier_emit(recorder->device, recorder->commands,
                    &(kp_barrier){{stage, VK_ACCESS_TRANSFER_WRITE_BIT},
                                  {stage, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT}});
}

static void copy_within(const kp_recorder *recorder, VkBuffer buffer, VkDeviceSize from, VkDeviceSize to,
                        VkDeviceSize size) {
    if (size != 0)
        recorder->device->vk.vkCmdCopyBuffer(recorder->commands, buffer, buffer, 1, &(VkBufferCopy){from, to, size});
}

// An element of 8 bytes whose halves differ: some of them, and then copies of what is there, twice as much each time.
static void fill_wide(const kp_recorder *recorder, VkBuffer buffer, const span *s, const unsigned char element[8]) {
    unsigned char some[4096];
    VkDeviceSize size = s->end - s->begin, done = size < sizeof some ? size : sizeof some;
    for (size_t i = 0; i < sizeof some; i++)
        some[i] = element[i % 8];
    recorder->device->vk.vkCmdUpdateBuffer(recorder->commands, buffer, s->begin, done, some);
    for (; done < size; done *= 2) {
        order_copies(recorder);
        copy_within(recorder, buffer, s->begin, s->begin + done, done < size - done ? done : size - done);
    }
}

// The whole words, and from the first of them what lies before and from the last what comes after.
static void fill_words(const kp_recorder *recorder, VkBuffer buffer, const span *s, uint32_t word) {
    recorder->device->vk.vkCmdFillBuffer(recorder->commands, buffer, s->first, s->last - s->first, word);
    if (s->begin == s->first && s->end == s->last)
        return;
    order_copies(recorder);
    copy_within(recorder, buffer, s->begin + 4, s->begin, s->first - s->begin);
    copy_within(recorder, buffer, s->last - 4, s->last, s->end - s->last);
}

static float half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    float mantissa = (float)(bits & 1023) / 1024.0f, value;
    if (exponent == 31)
        value = (bits & 1023) != 0 ? NAN : INFINITY;
    else
        value = exponent == 0 ? ldexpf(mantissa, -14) : ldexpf(1.0f + mantissa, exponent - 15);
    return bits >> 15 != 0 ? -value : value;
}

// One channel as a clear takes it.
static VkClearColorValue color_of(const kp_format *format, const unsigned char *element) {
    VkClearColorValue color = {.uint32 = {0}};
    int16_t medium;
    uint16_t bits;
    memcpy(&medium, element, sizeof medium);
    memcpy(&bits, element, sizeof bits);
    switch (format->dtype) {
    case KP_F16:
        color.float32[0] = half(bits);
        break;
    case KP_U8:
        if (format->normalized)
            color.float32[0] = (float)element[0] / 255.0f;
        else
            color.uint32[0] = element[0];
        break;
    case KP_I8:
        if (format->normalized)
            color.float32[0] =
                element[0] == 128 ? -1.0f : (float)(element[0] < 128 ? element[0] : element[0] - 256) / 127.0f;
        else
            color.int32[0] = element[0] < 128 ? element[0] : element[0] - 256;
        break;
    case KP_U16:
        color.uint32[0] = bits;
        break;
    case KP_I16:
        color.int32[0] = medium;
        break;
    default: // 32 bits
        memcpy(&color.uint32[0], element, sizeof color.uint32[0]);
        break;
    }
    for (unsigned i = 1; i < 4; i++)
        color.uint32[i] = color.uint32[0];
    return color;
}

static void fill_pixels(const kp_recorder *recorder, const kp_memory *image, const unsigned char *element) {
    const VkClearColorValue color = color_of(image->format, element);
    recorder->device->vk.vkCmdClearColorImage(
        recorder->commands, image->pixels.handle, VK_IMAGE_LAYOUT_GENERAL, &color, 1,
        &(VkImageSubresourceRange){.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1});
}

kp_result kp_recorder_fill(kp_recorder *recorder, kp_memory *memory, kp_side side, const unsigned char *element) {
    VkBuffer buffer = buffer_of(memory, side)->handle;
    kp_recorder_touch(recorder, memory, side,
                      (kp_barrier_access){VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT});
    kp_result result = kp_recorder_ready(recorder);
    if (result != KP_OK)
        return result;
    if (in_pixels(memory, side)) {
        fill_pixels(recorder, memory, element);
        return KP_OK;
    }
    size_t size = kp_dtype_size(memory->dtype);
    span s = span_of(memory);
    unsigned char words[8];
    for (size_t i = 0; i < sizeof words; i++)
        words[i] = element[i % size];
    uint32_t word;
    memcpy(&word, words, sizeof word);
    if (memcmp(words, words + 4, 4) == 0)
        fill_words(recorder, buffer, &s, word);
    else
        fill_wide(recorder, buffer, &s, words);
    return KP_OK;
}

// What the device wrote and the host can see.
static void show_host(kp_recorder *recorder) {
    kp_barrier barrier = {.target = {VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT}};
    for (size_t i = 0; i < recorder->slot_count; i++) {
        const kp_recorder_slot *slot = &recorder->slots[i];
        const kp_barrier_access *write = &slot->sides[slot->memory->shared ? 0 : 1].write;
        barrier.source.stage |= write->stage;
        barrier.source.access |= write->access;
    }
    if (recorder->faults->count != 0) {
        barrier.source.stage |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        barrier.source.access |= VK_ACCESS_SHADER_WRITE_BIT;
    }
    kp_barrier_emit(recorder->device, recorder->commands, &barrier);
}

kp_result kp_recorder_finish(kp_recorder *recorder) {
    if (recorder->result == KP_OK)
        show_host(recorder);
    kp_alloc_free(recorder->slots);
    kp_alloc_free(recorder->touched);
    kp_map_free(&recorder->index);
    return recorder->result;
}
