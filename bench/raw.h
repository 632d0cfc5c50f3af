// raw.h - Vulkan by hand: what a program without kp would write, as the peer of the benchmarks.
//
// raw_open makes an instance and a device of its own; raw_adopt borrows a kp manager's, so that both sides of a
// comparison use the same device, queue and buffers. Any failure ends the program.
#ifndef KP_BENCH_RAW_H
#define KP_BENCH_RAW_H

#include <kp/vulkan.h>

// X(name): every function used, but the three that come before there is an instance.
#define RAW_FUNCTIONS(X)                        \
    X(vkAllocateCommandBuffers)                 \
    X(vkAllocateDescriptorSets)                 \
    X(vkBeginCommandBuffer)                     \
    X(vkCmdBindDescriptorSets)                  \
    X(vkCmdBindPipeline)                        \
    X(vkCmdCopyBuffer)                          \
    X(vkCmdDispatch)                            \
    X(vkCmdPipelineBarrier)                     \
    X(vkCmdPushConstants)                       \
    X(vkCreateCommandPool)                      \
    X(vkCreateComputePipelines)                 \
    X(vkCreateDescriptorPool)                   \
    X(vkCreateDescriptorSetLayout)              \
    X(vkCreateDevice)                           \
    X(vkCreateFence)                            \
    X(vkCreatePipelineLayout)                   \
    X(vkCreateShaderModule)                     \
    X(vkDestroyCommandPool)                     \
    X(vkDestroyDescriptorPool)                  \
    X(vkDestroyDescriptorSetLayout)             \
    X(vkDestroyFence)                           \
    X(vkDestroyPipeline)                        \
    X(vkDestroyPipelineLayout)                  \
    X(vkDestroyShaderModule)                    \
    X(vkEndCommandBuffer)                       \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetDeviceQueue)                         \
    X(vkGetFenceStatus)                         \
    X(vkGetPhysicalDeviceProperties)            \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkQueueSubmit)                            \
    X(vkResetFences)                            \
    X(vkUpdateDescriptorSets)                   \
    X(vkWaitForFences)

typedef struct raw {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
#define RAW_X(name) PFN_##name name;
    RAW_FUNCTIONS(RAW_X)
#undef RAW_X
} raw;

// The program's end takes it down: an instance, the best device (discrete before integrated before virtual before CPU)
// and its first compute queue.
void raw_open(raw *vk);
void raw_adopt(raw *vk, const kp_manager *manager);

#define RAW_MAX_BUFFERS 8

typedef struct raw_pipeline_desc {
    const kp_program *program;
    const char *entry;                     //
    kp_tensor *const *tensors;             // bindings 0, 1, 2, ... of set 0
    uint32_t tensor_count;                 // at most RAW_MAX_BUFFERS
    const VkSpecializationInfo *constants; // NULL: the module's defaults
    uint32_t push_size;                    // bytes
} raw_pipeline_desc;

typedef struct raw_pipeline {
    VkShaderModule module;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipeline pipeline;
} raw_pipeline;

void raw_pipeline_create(raw *vk, const raw_pipeline_desc *desc, raw_pipeline *out);
void raw_pipeline_destroy(raw *vk, raw_pipeline *pipeline);

typedef struct raw_commands {
    VkCommandPool pool;
    VkCommandBuffer buffer;
    VkFence fence;
} raw_commands;

void raw_commands_begin(raw *vk, raw_commands *out);
void raw_commands_end(raw *vk, raw_commands *commands);
void raw_commands_destroy(raw *vk, raw_commands *commands);

// Between raw_commands_begin and raw_commands_end. `push` is the pipeline's whole push constant block, or NULL.
void raw_dispatch(raw *vk, raw_commands *commands, const raw_pipeline *pipeline, const void *push, uint32_t push_size,
                  uint32_t x, uint32_t y, uint32_t z);
void raw_copy(raw *vk, raw_commands *commands, const kp_tensor *from, const kp_tensor *to);
// A dispatch after a dispatch, a copy after a copy, the host after a dispatch: each sees what came before.
void raw_barrier_dispatch(raw *vk, raw_commands *commands);
void raw_barrier_copy(raw *vk, raw_commands *commands);
void raw_barrier_host(raw *vk, raw_commands *commands);

// Submits and waits: asks the fence again and again for `spin` seconds, then blocks.
void raw_run(raw *vk, raw_commands *commands, double spin);

#endif
