// The native handles (kp/vulkan.h).
#include "sequence.h"

#include "vulkan/guard.h"

#include <kp/vulkan.h>

kp_result kp_vulkan_from_manager(const kp_manager *manager, kp_vulkan_manager *out) {
    kp_result result = kp_manager_check(manager, "kp_vulkan_from_manager", NULL);
    if (result == KP_OK && out == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_from_manager: out is NULL");
    if (result != KP_OK)
        return result;
    const kp_device *device = manager->device;
    *out = (kp_vulkan_manager){.get_instance_proc_addr = device->instance->get_proc,
                               .instance = device->instance->handle,
                               .physical_device = device->physical,
                               .device = device->handle,
                               .queue = device->queues[0].handle,
                               .queue_family = device->queues[0].family,
                               .api_version = device->limits.api_version,
                               .extensions = device->features.extensions,
                               .extension_count = device->features.extension_count,
                               .features = &device->features.core};
    return KP_OK;
}

kp_result kp_vulkan_from_queue(const kp_manager *manager, uint32_t index, VkQueue *queue, uint32_t *family) {
    kp_result result = kp_manager_check(manager, "kp_vulkan_from_queue", NULL);
    if (result != KP_OK)
        return result;
    if (queue == NULL || family == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_from_queue: %s is NULL", queue == NULL ? "queue" : "family");
    const kp_device *device = manager->device;
    if (index >= device->queue_count)
        return kp_error_set(KP_ERROR_INDEX, "kp_vulkan_from_queue: there is no queue %u, the manager has %u", index,
                            device->queue_count);
    *queue = device->queues[index].handle;
    *family = device->queues[index].family;
    return KP_OK;
}

kp_result kp_vulkan_from_tensor(const kp_tensor *tensor, kp_vulkan_buffer *out) {
    if (tensor == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_from_tensor: %s is NULL", tensor == NULL ? "tensor" : "out");
    kp_result result = kp_manager_check(tensor->manager, kp_memory_kind(tensor), tensor->label);
    if (result != KP_OK)
        return result;
    if (tensor->format != NULL)
        return kp_error_set(KP_ERROR_TYPE, "kp_vulkan_from_tensor: '%s' is an image", tensor->label);
    if (!atomic_load(&tensor->alive) || tensor->bytes == 0)
        return kp_error_set(KP_ERROR_STATE, "tensor '%s' is %s", tensor->label,
                            tensor->bytes == 0 ? "empty: it has no buffer" : "destroyed");
    const kp_buffer *side = &tensor->root->device_side;
    *out = (kp_vulkan_buffer){.buffer = side->handle, .offset = tensor->offset, .size = tensor->bytes};
    if (side->chunk != NULL) {
        out->memory = kp_heap_memory(side->chunk);
        out->memory_offset = side->memory_offset + tensor->offset;
    }
    return KP_OK;
}

kp_result kp_vulkan_from_algorithm(kp_algorithm *algorithm, kp_vulkan_algorithm *out) {
    if (algorithm == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_from_algorithm: %s is NULL",
                            algorithm == NULL ? "algorithm" : "out");
    kp_manager *manager = algorithm->manager;
    kp_result result = kp_manager_check(manager, "algorithm", algorithm->label);
    if (result != KP_OK)
        return result;
    if (!kp_algorithm_hold(algorithm))
        return kp_error_set(KP_ERROR_STATE, "algorithm '%s' is destroyed", algorithm->label);
    kp_algorithm_launch launch = {0};
    kp_vulkan_algorithm native = {.module = algorithm->kernel->module->handle,
                                  .layout = algorithm->kernel->module->layout.handle};
    kp_guard_read(&manager->changes);
    result = kp_algorithm_plan(algorithm, NULL, NULL, &launch);
    if (result == KP_OK && !launch.empty)
        result =
            kp_pipelines_variant_get(manager, algorithm->kernel, &launch.setting, algorithm->label, &native.pipeline);
    kp_guard_leave(&manager->changes);
    kp_algorithm_let_go(algorithm);
    if (result != KP_OK)
        return result;
    for (int i = 0; i < 3; i++)
        native.workgroups[i] = launch.empty ? 0 : launch.groups[i];
    *out = native;
    return KP_OK;
}

kp_result kp_vulkan_from_sequence(const kp_sequence *sequence, kp_vulkan_sequence *out) {
    if (sequence == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_from_sequence: %s is NULL",
                            sequence == NULL ? "sequence" : "out");
    kp_result result = kp_manager_check(sequence->manager, "sequence", sequence->label);
    if (result != KP_OK)
        return result;
    const kp_recording *recording = sequence->recording;
    *out = (kp_vulkan_sequence){.queue = recording->queue->handle,
                                .queue_family = recording->queue->family,
                                .commands = recording->command->buffer,
                                .fence = recording->command->fence};
    return KP_OK;
}
