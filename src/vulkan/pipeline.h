// Compute pipelines: shader modules, layouts, pipelines, and the descriptors that a dispatch binds.
#ifndef KP_SRC_VULKAN_PIPELINE_H
#define KP_SRC_VULKAN_PIPELINE_H

#include "device.h"

typedef struct kp_pipeline_binding {
    uint32_t set, binding;
    VkDescriptorType type;
} kp_pipeline_binding;

typedef struct kp_pipeline_layout {
    VkPipelineLayout handle;       //
    VkDescriptorSetLayout *sets;   // set_count of them; sets without bindings too
    uint32_t set_count;            //
    kp_pipeline_binding *bindings; // sorted by set, then binding
    uint32_t binding_count;        //
    uint32_t push_size;            // bytes
    bool push_descriptors;         // set 0 is pushed; else sets come from a pool
} kp_pipeline_layout;

// `push_size` is a multiple of 4. `bindings` are copied. `*out` is written only on KP_OK.
kp_result kp_pipeline_layout_create(kp_device *device, const kp_pipeline_binding *bindings, uint32_t count,
                                    uint32_t push_size, const char *label, kp_pipeline_layout *out);
void kp_pipeline_layout_destroy(kp_device *device, kp_pipeline_layout *layout); // a zeroed one is fine

kp_result kp_pipeline_module_create(kp_device *device, const uint32_t *words, size_t word_count, const char *label,
                                    VkShaderModule *out);
void kp_pipeline_module_destroy(kp_device *device, VkShaderModule module);

typedef struct kp_pipeline_desc {
    VkShaderModule module;
    const char *entry;
    const kp_pipeline_layout *layout;
    VkSpecializationInfo specialization; // no entries: none
    VkPipelineShaderStageCreateFlags stage_flags;
    uint32_t subgroup_size; // asked for; 0: not
    const char *label;
} kp_pipeline_desc;

// The driver compiles here: slow.
kp_result kp_pipeline_create(kp_device *device, const kp_pipeline_desc *desc, VkPipeline *out);
void kp_pipeline_destroy(kp_device *device, VkPipeline pipeline);

// Descriptor pools of one command buffer, for layouts without push descriptors. Zeroed: empty.
typedef struct kp_pipeline_pool {
    VkDescriptorPool handle;
    uint32_t max_sets, sets;               // in all, and left
    uint32_t max_descriptors, descriptors; // of each type
} kp_pipeline_pool;

typedef struct kp_pipeline_pools {
    kp_pipeline_pool *pools;
    uint32_t count, capacity;
    uint32_t current; // the one that sets come from
} kp_pipeline_pools;

void kp_pipeline_pools_reset(kp_device *device, kp_pipeline_pools *pools); // takes all sets back
void kp_pipeline_pools_destroy(kp_device *device, kp_pipeline_pools *pools);

// What is bound to one binding: the one of the two that its type has.
typedef union kp_pipeline_bound {
    VkDescriptorBufferInfo buffer;
    VkDescriptorImageInfo image; // or sampler
} kp_pipeline_bound;

// Records: binds one to each binding of the layout, in their order.
kp_result kp_pipeline_bind(kp_device *device, VkCommandBuffer commands, const kp_pipeline_layout *layout,
                           const kp_pipeline_bound *bound, kp_pipeline_pools *pools);

#endif
