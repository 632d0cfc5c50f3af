// See command.h. The host waits for fences; timeline semaphores, which order queues, are signalled only where there are
// several that programs name, or when one waits for another: they cost each submission a little, and make lavapipe
// submit from a thread of its own.
#include "command.h"

#include "barrier.h"
#include "base/alloc.h"
#include "guard.h"

#include <time.h>

enum { MAX_IDLE = 64 };

static void destroy(kp_device *device, kp_command *command) {
    if (command->fence != VK_NULL_HANDLE)
        device->vk.vkDestroyFence(device->handle, command->fence, NULL);
    if (command->pool != VK_NULL_HANDLE)
        device->vk.vkDestroyCommandPool(device->handle, command->pool, NULL);
    kp_alloc_free(command);
}

static kp_command *take_idle(kp_device *device, uint32_t family) {
    kp_guard_lock(&device->command_lock);
    kp_command **at = &device->idle_commands;
    while (*at != NULL && (*at)->family != family)
        at = &(*at)->next;
    kp_command *command = *at;
    if (command != NULL) {
        *at = command->next;
        device->idle_command_count--;
        command->next = NULL;
    }
    kp_guard_unlock(&device->command_lock);
    return command;
}

static kp_result allocate(kp_device *device, kp_command *command) {
    kp_result result = KP_VK(device, AllocateCommandBuffers, device->handle,
                             &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                            .commandPool = command->pool,
                                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                            .commandBufferCount = 2},
                             command->buffers);
    command->buffer = command->buffers[1];
    return result;
}

static kp_result make(kp_device *device, uint32_t family, kp_command *command) {
    command->family = family;
    kp_result result = KP_VK(
        device, CreateCommandPool, device->handle,
        &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = family},
        NULL, &command->pool);
    if (result == KP_OK)
        result = allocate(device, command);
    if (result == KP_OK)
        result = KP_VK(device, CreateFence, device->handle,
                       &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL, &command->fence);
    return result;
}

kp_result kp_command_acquire(kp_device *device, uint32_t family, kp_command **out) {
    kp_command *command = take_idle(device, family);
    if (command == NULL) {
        command = kp_alloc_zero(1, sizeof *command);
        if (command == NULL)
            return kp_error_host_memory(sizeof *command);
        kp_result result = make(device, family, command);
        if (result != KP_OK) {
            destroy(device, command);
            return result;
        }
    }
    *out = command;
    return KP_OK;
}

void kp_command_name(kp_device *device, const kp_command *command, const char *name) {
    kp_device_name(device, VK_OBJECT_TYPE_COMMAND_POOL, KP_DEVICE_HANDLE(command->pool), name);
    kp_device_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER, KP_DEVICE_HANDLE(command->buffer), name);
    kp_device_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER, KP_DEVICE_HANDLE(command->buffers[0]), name);
    kp_device_name(device, VK_OBJECT_TYPE_FENCE, KP_DEVICE_HANDLE(command->fence), name);
}

void kp_command_give(kp_device *device, kp_command *command) {
    if (command == NULL)
        return;
    bool sound =
        !atomic_load(&device->lost) && device->vk.vkResetCommandPool(device->handle, command->pool, 0) == VK_SUCCESS;
    kp_guard_lock(&device->command_lock);
    bool keep = sound && device->idle_command_count < MAX_IDLE;
    if (keep) {
        command->next = device->idle_commands;
        device->idle_commands = command;
        device->idle_command_count++;
    }
    kp_guard_unlock(&device->command_lock);
    if (!keep)
        destroy(device, command);
}

void kp_command_drop_idle(kp_device *device) {
    kp_guard_lock(&device->command_lock);
    kp_command *list = device->idle_commands;
    device->idle_commands = NULL;
    device->idle_command_count = 0;
    kp_guard_unlock(&device->command_lock);
    while (list != NULL) {
        kp_command *next = list->next;
        destroy(device, list);
        list = next;
    }
}

kp_result kp_command_begin(kp_device *device, kp_command *command) {
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    kp_result result = KP_VK(device, ResetCommandPool, device->handle, command->pool, 0);
    if (result == KP_OK)
        result = KP_VK(device, BeginCommandBuffer, command->buffers[0], &info);
    if (result != KP_OK)
        return result;
    bool computes = device->info.queue_families[command->family].compute;
    kp_barrier_emit(device, command->buffers[0],
                    &(kp_barrier){.source = kp_barrier_on(kp_barrier_any_work, computes),
                                  .target = kp_barrier_on(kp_barrier_any_use, computes)});
    result = KP_VK(device, EndCommandBuffer, command->buffers[0]);
    return result == KP_OK ? KP_VK(device, BeginCommandBuffer, command->buffer, &info) : result;
}

kp_result kp_command_end(kp_device *device, kp_command *command) {
    return KP_VK(device, EndCommandBuffer, command->buffer);
}

enum { MAX_WAITS = 256 }; // queues that a submission may wait for: all but its own (KP_QUEUES_MAX)

// What a submission waits for, or signals.
typedef struct points {
    VkSemaphore semaphores[MAX_WAITS + KP_COMMAND_MAX_POINTS];
    uint64_t values[MAX_WAITS + KP_COMMAND_MAX_POINTS];
    uint32_t count;
} points;

static void add(points *list, VkSemaphore semaphore, uint64_t value) {
    list->semaphores[list->count] = semaphore;
    list->values[list->count++] = value;
}

static void list_waits(const kp_device *device, const kp_command_order *order, points *out) {
    for (uint32_t i = 0; order->waits != NULL && i < device->all_queue_count && out->count < MAX_WAITS; i++) {
        if (order->waits[i] != 0)
            add(out, device->queues[i].timeline, order->waits[i]);
    }
    for (uint32_t i = 0; i < order->after_count; i++)
        add(out, order->after[i].semaphore, order->after[i].value);
}

static void list_signals(const kp_queue *queue, const kp_command_order *order, points *out) {
    if (queue->tells)
        add(out, queue->timeline, order->number);
    for (uint32_t i = 0; i < order->signal_count; i++)
        add(out, order->signals[i].semaphore, order->signals[i].value);
}

// The queue's lock is held.
static kp_result submit(kp_device *device, kp_queue *queue, const kp_command *command, const kp_command_order *order) {
    VkPipelineStageFlags stages[MAX_WAITS + KP_COMMAND_MAX_POINTS];
    points waits, signals;
    waits.count = signals.count = 0;
    list_waits(device, order, &waits);
    list_signals(queue, order, &signals);
    for (uint32_t i = 0; i < waits.count; i++)
        stages[i] = kp_barrier_on(kp_barrier_any_use, device->info.queue_families[queue->family].compute).stage;
    bool timeline = queue->tells || order->waits != NULL || order->timelines;
    const VkTimelineSemaphoreSubmitInfo numbers = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                   .waitSemaphoreValueCount = waits.count,
                                                   .pWaitSemaphoreValues = waits.values,
                                                   .signalSemaphoreValueCount = signals.count,
                                                   .pSignalSemaphoreValues = signals.values};
    return KP_VK(device, QueueSubmit, queue->handle, 1,
                 &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = timeline ? &numbers : NULL,
                                 .waitSemaphoreCount = waits.count,
                                 .pWaitSemaphores = waits.count != 0 ? waits.semaphores : NULL,
                                 .pWaitDstStageMask = waits.count != 0 ? stages : NULL,
                                 .commandBufferCount = order->barrier ? 2 : 1,
                                 .pCommandBuffers = command->buffers + (order->barrier ? 0 : 1),
                                 .signalSemaphoreCount = signals.count,
                                 .pSignalSemaphores = signals.count != 0 ? signals.semaphores : NULL},
                 command->fence);
}

kp_result kp_command_submit(kp_device *device, kp_queue *queue, kp_command *command, const kp_command_order *order) {
    kp_result result = command->signalled ? KP_VK(device, ResetFences, device->handle, 1, &command->fence) : KP_OK;
    if (result != KP_OK)
        return result;
    command->signalled = false;
    command->number = order->number;
    atomic_fetch_add_explicit(&queue->pending, 1, memory_order_relaxed);
    kp_device_lock_queue(device, queue);
    result = submit(device, queue, command, order);
    kp_device_unlock_queue(device, queue);
    if (result != KP_OK)
        atomic_fetch_sub_explicit(&queue->pending, 1, memory_order_relaxed);
    else if (queue->tells)
        queue->promised = order->number;
    return result;
}

kp_result kp_command_promise(kp_device *device, kp_queue *queue, uint64_t number) {
    const VkTimelineSemaphoreSubmitInfo numbers = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                   .signalSemaphoreValueCount = 1,
                                                   .pSignalSemaphoreValues = &number};
    kp_device_lock_queue(device, queue);
    kp_result result = KP_VK(device, QueueSubmit, queue->handle, 1,
                             &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                             .pNext = &numbers,
                                             .signalSemaphoreCount = 1,
                                             .pSignalSemaphores = &queue->timeline},
                             VK_NULL_HANDLE);
    kp_device_unlock_queue(device, queue);
    if (result == KP_OK)
        queue->promised = number;
    return result;
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Nanoseconds to spin. A CPU driver does its work on the very cores that the spin would take.
static uint64_t spin_time(const kp_device *device) {
    return device->info.type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 0 : 50000;
}

static VkResult wait(kp_device *device, VkFence fence, uint64_t timeout) {
    uint64_t spin = spin_time(device);
    if (spin != 0 && timeout != 0) {
        uint64_t start = now();
        spin = spin < timeout ? spin : timeout;
        do {
            for (int i = 0; i < 16; i++) {
                VkResult result = device->vk.vkGetFenceStatus(device->handle, fence);
                if (result != VK_NOT_READY)
                    return result;
                relax();
            }
        } while (now() - start < spin);
        if (timeout != UINT64_MAX)
            timeout -= spin;
    }
    return device->vk.vkWaitForFences(device->handle, 1, &fence, VK_TRUE, timeout);
}

// A fence tells of all that was submitted to its queue before, too.
static void see_done(kp_queue *queue, uint64_t number) {
    uint64_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
    while (done < number && !atomic_compare_exchange_weak(&queue->done, &done, number)) {
    }
}

kp_result kp_command_wait(kp_device *device, kp_queue *queue, kp_command *command, uint64_t timeout) {
    VkResult result = wait(device, command->fence, timeout);
    if (result == VK_TIMEOUT || result == VK_NOT_READY)
        return kp_error_set(KP_ERROR_TIMEOUT, "%s: the work was not done within %llu ns", device->label,
                            (unsigned long long)timeout);
    kp_result checked = kp_device_check(device, result, "vkWaitForFences");
    if (checked != KP_OK && checked != KP_ERROR_DEVICE_LOST)
        return checked; // out of memory: it may still be running
    if (checked != KP_OK) {
        kp_command_abandon(device, queue, command);
        return checked;
    }
    see_done(queue, command->number);
    atomic_fetch_sub_explicit(&queue->pending, 1, memory_order_release);
    command->signalled = true;
    return KP_OK;
}

void kp_command_abandon(kp_device *device, kp_queue *queue, kp_command *command) {
    kp_device_lock_queue(device, queue);
    device->vk.vkQueueWaitIdle(queue->handle);
    kp_device_unlock_queue(device, queue);
    command->signalled = true; // perhaps
    atomic_fetch_sub_explicit(&queue->pending, 1, memory_order_release);
}

bool kp_command_done(kp_device *device, const kp_command *command) {
    return device->vk.vkGetFenceStatus(device->handle, command->fence) != VK_NOT_READY;
}
