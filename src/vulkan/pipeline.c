// See pipeline.h. Push descriptors where the device has them and one set is enough; else a pool that grows by chunks.
#include "pipeline.h"

#include "base/alloc.h"

#include <string.h>

enum { SETS_PER_POOL = 64, DESCRIPTORS_PER_SET = 8 };

// ---------------------------------------------------------------------------------------------------------------------
// Layouts
// ---------------------------------------------------------------------------------------------------------------------

static kp_result create_set(kp_device *device, const kp_pipeline_layout *layout, uint32_t set,
                            VkDescriptorSetLayoutBinding *room, VkDescriptorSetLayout *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < layout->binding_count; i++) {
        if (layout->bindings[i].set == set)
            room[count++] = (VkDescriptorSetLayoutBinding){.binding = layout->bindings[i].binding,
                                                           .descriptorType = layout->bindings[i].type,
                                                           .descriptorCount = 1,
                                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    return KP_VK(device, CreateDescriptorSetLayout, device->handle,
                 &(VkDescriptorSetLayoutCreateInfo){
                     .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                     .flags = layout->push_descriptors ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR : 0,
                     .bindingCount = count,
                     .pBindings = room},
                 NULL, out);
}

static kp_result build_layout(kp_device *device, kp_pipeline_layout *layout, const char *label) {
    VkDescriptorSetLayoutBinding *room = kp_alloc_zero(layout->binding_count, sizeof *room);
    if (room == NULL)
        return kp_error_host_memory(layout->binding_count * sizeof *room);
    kp_result result = KP_OK;
    for (uint32_t set = 0; set < layout->set_count && result == KP_OK; set++)
        result = create_set(device, layout, set, room, &layout->sets[set]);
    kp_alloc_free(room);
    if (result != KP_OK)
        return result;
    for (uint32_t set = 0; set < layout->set_count; set++)
        kp_device_name(device, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, KP_DEVICE_HANDLE(layout->sets[set]), label);
    result = KP_VK(device, CreatePipelineLayout, device->handle,
                   &(VkPipelineLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                 .setLayoutCount = layout->set_count,
                                                 .pSetLayouts = layout->sets,
                                                 .pushConstantRangeCount = layout->push_size != 0 ? 1 : 0,
                                                 .pPushConstantRanges =
                                                     &(VkPushConstantRange){.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                                                            .size = layout->push_size}},
                   NULL, &layout->handle);
    if (result == KP_OK)
        kp_device_name(device, VK_OBJECT_TYPE_PIPELINE_LAYOUT, KP_DEVICE_HANDLE(layout->handle), label);
    return result;
}

kp_result kp_pipeline_layout_create(kp_device *device, const kp_pipeline_binding *bindings, uint32_t count,
                                    uint32_t push_size, const char *label, kp_pipeline_layout *out) {
    kp_pipeline_layout layout = {.binding_count = count, .push_size = push_size};
    if (count != 0)
        layout.set_count = bindings[count - 1].set + 1;
    layout.push_descriptors =
        layout.set_count == 1 && device->features.push_descriptors && count <= device->limits.max_push_descriptors;
    layout.bindings = kp_alloc_zero(count, sizeof *layout.bindings);
    layout.sets = kp_alloc_zero(layout.set_count, sizeof *layout.sets);
    kp_result result = KP_OK;
    if (layout.bindings == NULL || layout.sets == NULL) {
        result = kp_error_host_memory(count * sizeof *layout.bindings);
    } else {
        if (count != 0)
            memcpy(layout.bindings, bindings, count * sizeof *bindings);
        result = build_layout(device, &layout, label);
    }
    if (result != KP_OK) {
        kp_pipeline_layout_destroy(device, &layout);
        return result;
    }
    *out = layout;
    return KP_OK;
}

void kp_pipeline_layout_destroy(kp_device *device, kp_pipeline_layout *layout) {
    if (layout->handle != VK_NULL_HANDLE)
        device->vk.vkDestroyPipelineLayout(device->handle, layout->handle, NULL);
    for (uint32_t i = 0; layout->sets != NULL && i < layout->set_count; i++) {
        if (layout->sets[i] != VK_NULL_HANDLE)
            device->vk.vkDestroyDescriptorSetLayout(device->handle, layout->sets[i], NULL);
    }
    kp_alloc_free(layout->sets);
    kp_alloc_free(layout->bindings);
    *layout = (kp_pipeline_layout){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Modules and pipelines
// ---------------------------------------------------------------------------------------------------------------------

kp_result kp_pipeline_module_create(kp_device *device, const uint32_t *words, size_t word_count, const char *label,
                                    VkShaderModule *out) {
    VkShaderModule module = VK_NULL_HANDLE;
    kp_result result = KP_VK(device, CreateShaderModule, device->handle,
                             &(VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                                         .codeSize = word_count * sizeof *words,
                                                         .pCode = words},
                             NULL, &module);
    if (result != KP_OK)
        return result;
    kp_device_name(device, VK_OBJECT_TYPE_SHADER_MODULE, KP_DEVICE_HANDLE(module), label);
    *out = module;
    return KP_OK;
}

void kp_pipeline_module_destroy(kp_device *device, VkShaderModule module) {
    if (module != VK_NULL_HANDLE)
        device->vk.vkDestroyShaderModule(device->handle, module, NULL);
}

// Whether the cache had it not, as far as the driver tells.
static bool is_fresh(const VkPipelineCreationFeedback *feedback) {
    const VkPipelineCreationFeedbackFlags hit =
        VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT | VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    return (feedback->flags & hit) != hit;
}

kp_result kp_pipeline_create(kp_device *device, const kp_pipeline_desc *desc, VkPipeline *out) {
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkPipelineCache cache = kp_disk_cache_take(device);
    VkPipelineCreationFeedback whole = {0}, stage = {0};
    const VkPipelineCreationFeedbackCreateInfo feedback = {.sType =
                                                               VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
                                                           .pPipelineCreationFeedback = &whole,
                                                           .pipelineStageCreationFeedbackCount = 1,
                                                           .pPipelineStageCreationFeedbacks = &stage};
    bool told = device->limits.api_version >= VK_API_VERSION_1_3;
    bool special = desc->specialization.mapEntryCount != 0;
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = desc->subgroup_size};
    kp_result result =
        KP_VK(device, CreateComputePipelines, device->handle, cache, 1,
              &(VkComputePipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                             .pNext = told ? &feedback : NULL,
                                             .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                       .pNext = desc->subgroup_size != 0 ? &required : NULL,
                                                       .flags = desc->stage_flags,
                                                       .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                       .module = desc->module,
                                                       .pName = desc->entry,
                                                       .pSpecializationInfo = special ? &desc->specialization : NULL},
                                             .layout = desc->layout->handle,
                                             .basePipelineIndex = -1},
              NULL, &pipeline);
    kp_disk_cache_give(device, cache, result == KP_OK && is_fresh(&whole));
    if (result != KP_OK)
        return result;
    kp_device_name(device, VK_OBJECT_TYPE_PIPELINE, KP_DEVICE_HANDLE(pipeline), desc->label);
    *out = pipeline;
    return KP_OK;
}

void kp_pipeline_destroy(kp_device *device, VkPipeline pipeline) {
    if (pipeline != VK_NULL_HANDLE)
        device->vk.vkDestroyPipeline(device->handle, pipeline, NULL);
}

// ---------------------------------------------------------------------------------------------------------------------
// Descriptors
// ---------------------------------------------------------------------------------------------------------------------

void kp_pipeline_pools_reset(kp_device *device, kp_pipeline_pools *pools) {
    for (uint32_t i = 0; i < pools->count; i++) {
        kp_pipeline_pool *pool = &pools->pools[i];
        device->vk.vkResetDescriptorPool(device->handle, pool->handle, 0);
        pool->sets = pool->max_sets;
        pool->descriptors = pool->max_descriptors;
    }
    pools->current = 0;
}

void kp_pipeline_pools_destroy(kp_device *device, kp_pipeline_pools *pools) {
    for (uint32_t i = 0; i < pools->count; i++)
        device->vk.vkDestroyDescriptorPool(device->handle, pools->pools[i].handle, NULL);
    kp_alloc_free(pools->pools);
    *pools = (kp_pipeline_pools){0};
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static kp_result add_pool(kp_device *device, kp_pipeline_pools *pools, const kp_pipeline_layout *layout) {
    if (pools->count == pools->capacity) {
        uint32_t capacity = pools->capacity * 2 + 4;
        kp_pipeline_pool *list = kp_alloc_resize(pools->pools, capacity * sizeof *list);
        if (list == NULL)
            return kp_error_host_memory(capacity * sizeof *list);
        pools->pools = list;
        pools->capacity = capacity;
    }
    kp_pipeline_pool pool = {.max_sets = larger(layout->set_count, SETS_PER_POOL),
                             .max_descriptors = larger(layout->binding_count, SETS_PER_POOL * DESCRIPTORS_PER_SET)};
    pool.sets = pool.max_sets;
    pool.descriptors = pool.max_descriptors;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, pool.max_descriptors},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, pool.max_descriptors},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, pool.max_descriptors},
                                          {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, pool.max_descriptors},
                                          {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, pool.max_descriptors},
                                          {VK_DESCRIPTOR_TYPE_SAMPLER, pool.max_descriptors}};
    kp_result result = KP_VK(device, CreateDescriptorPool, device->handle,
                             &(VkDescriptorPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                           .maxSets = pool.max_sets,
                                                           .poolSizeCount = sizeof sizes / sizeof *sizes,
                                                           .pPoolSizes = sizes},
                             NULL, &pool.handle);
    if (result != KP_OK)
        return result;
    kp_device_name(device, VK_OBJECT_TYPE_DESCRIPTOR_POOL, KP_DEVICE_HANDLE(pool.handle), "descriptors");
    pools->pools[pools->count++] = pool;
    return KP_OK;
}

// The first pool, from the current one on, with room for the layout's sets.
static kp_result find_pool(kp_device *device, kp_pipeline_pools *pools, const kp_pipeline_layout *layout,
                           kp_pipeline_pool **out) {
    for (; pools->current < pools->count; pools->current++) {
        kp_pipeline_pool *pool = &pools->pools[pools->current];
        if (pool->sets >= layout->set_count && pool->descriptors >= layout->binding_count) {
            *out = pool;
            return KP_OK;
        }
    }
    kp_result result = add_pool(device, pools, layout);
    if (result == KP_OK)
        *out = &pools->pools[pools->current];
    return result;
}

static kp_result alloc_sets(kp_device *device, const kp_pipeline_layout *layout, kp_pipeline_pools *pools,
                            VkDescriptorSet *out) {
    kp_pipeline_pool *pool = NULL;
    kp_result result = find_pool(device, pools, layout, &pool);
    if (result != KP_OK)
        return result;
    pool->sets -= layout->set_count;
    pool->descriptors -= layout->binding_count;
    return KP_VK(device, AllocateDescriptorSets, device->handle,
                 &(VkDescriptorSetAllocateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                .descriptorPool = pool->handle,
                                                .descriptorSetCount = layout->set_count,
                                                .pSetLayouts = layout->sets},
                 out);
}

static bool is_buffer(VkDescriptorType type) {
    return type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER || type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
}

static void fill_writes(const kp_pipeline_layout *layout, const kp_pipeline_bound *bound, const VkDescriptorSet *sets,
                        VkWriteDescriptorSet *writes) {
    for (uint32_t i = 0; i < layout->binding_count; i++)
        writes[i] =
            (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                   .dstSet = sets != NULL ? sets[layout->bindings[i].set] : VK_NULL_HANDLE,
                                   .dstBinding = layout->bindings[i].binding,
                                   .descriptorCount = 1,
                                   .descriptorType = layout->bindings[i].type,
                                   .pImageInfo = is_buffer(layout->bindings[i].type) ? NULL : &bound[i].image,
                                   .pBufferInfo = is_buffer(layout->bindings[i].type) ? &bound[i].buffer : NULL};
}

static kp_result bind_sets(kp_device *device, VkCommandBuffer commands, const kp_pipeline_layout *layout,
                           const kp_pipeline_bound *bound, kp_pipeline_pools *pools, VkWriteDescriptorSet *writes) {
    VkDescriptorSet *sets = kp_alloc_zero(layout->set_count, sizeof *sets);
    if (sets == NULL)
        return kp_error_host_memory(layout->set_count * sizeof *sets);
    kp_result result = alloc_sets(device, layout, pools, sets);
    if (result == KP_OK) {
        fill_writes(layout, bound, sets, writes);
        device->vk.vkUpdateDescriptorSets(device->handle, layout->binding_count, writes, 0, NULL);
        device->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout->handle, 0,
                                           layout->set_count, sets, 0, NULL);
    }
    kp_alloc_free(sets);
    return result;
}

kp_result kp_pipeline_bind(kp_device *device, VkCommandBuffer commands, const kp_pipeline_layout *layout,
                           const kp_pipeline_bound *bound, kp_pipeline_pools *pools) {
    if (layout->binding_count == 0)
        return KP_OK;
    VkWriteDescriptorSet *writes = kp_alloc_zero(layout->binding_count, sizeof *writes);
    if (writes == NULL)
        return kp_error_host_memory(layout->binding_count * sizeof *writes);
    kp_result result = KP_OK;
    if (layout->push_descriptors) {
        fill_writes(layout, bound, NULL, writes);
        device->vk.vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout->handle, 0,
                                             layout->binding_count, writes);
    } else {
        result = bind_sets(device, commands, layout, bound, pools, writes);
    }
    kp_alloc_free(writes);
    return result;
}
