// raw.c - see raw.h. The shortest correct Vulkan for each step, in the order in which a program takes them.
#include "raw.h"

#include "bench.h"
#include <dlfcn.h>
#include <string.h>

#define raw_check(call) bench_require((call) == VK_SUCCESS, #call)

// A function pointer of any type from the loader; the detour through memcpy is what ISO C allows.
#define RAW_LOAD(target, instance, name)                                          \
    do {                                                                          \
        PFN_vkVoidFunction loaded = (get_instance_proc_addr)((instance), (name)); \
        bench_require(loaded != NULL, (name));                                    \
        memcpy(&(target), &loaded, sizeof(target));                               \
    } while (0)

static void load_functions(raw *vk) {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = vk->get_instance_proc_addr;
#define RAW_X(name) RAW_LOAD(vk->name, vk->instance, #name);
    RAW_FUNCTIONS(RAW_X)
#undef RAW_X
}

// ---------------------------------------------------------------------------------------------------------------------
// Instance and device
// ---------------------------------------------------------------------------------------------------------------------

static void create_instance(raw *vk) {
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    bench_require(loader != NULL, "dlopen libvulkan.so.1");
    void *symbol = dlsym(loader, "vkGetInstanceProcAddr");
    bench_require(symbol != NULL, "vkGetInstanceProcAddr");
    memcpy(&vk->get_instance_proc_addr, &symbol, sizeof symbol);

    PFN_vkGetInstanceProcAddr get_instance_proc_addr = vk->get_instance_proc_addr;
    PFN_vkCreateInstance create;
    RAW_LOAD(create, NULL, "vkCreateInstance");
    raw_check(create(
        &(VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &(VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                                                         .apiVersion = VK_API_VERSION_1_1}},
        NULL, &vk->instance));
    load_functions(vk);
}

// Lower is better; the order that kp uses.
static int rank(VkPhysicalDeviceType type) {
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    default:
        return 3;
    }
}

static void choose_device(raw *vk) {
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    VkResult result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, devices);
    bench_require((result == VK_SUCCESS || result == VK_INCOMPLETE) && count > 0, "vkEnumeratePhysicalDevices");
    int best = 4;
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        vk->vkGetPhysicalDeviceProperties(devices[i], &properties);
        if (rank(properties.deviceType) < best) {
            best = rank(properties.deviceType);
            vk->physical_device = devices[i];
        }
    }
}

static void create_device(raw *vk) {
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(vk->physical_device, &count, families);
    while (vk->family < count && !(families[vk->family].queueFlags & VK_QUEUE_COMPUTE_BIT)) {
        vk->family++;
    }
    bench_require(vk->family < count, "a queue family with compute");
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = vk->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = (float[]){1}};
    raw_check(vk->vkCreateDevice(vk->physical_device,
                                 &(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                                       .queueCreateInfoCount = 1,
                                                       .pQueueCreateInfos = &queue},
                                 NULL, &vk->device));
    vk->vkGetDeviceQueue(vk->device, vk->family, 0, &vk->queue);
}

void raw_open(raw *vk) {
    *vk = (raw){0};
    create_instance(vk);
    choose_device(vk);
    create_device(vk);
}

void raw_adopt(raw *vk, const kp_manager *manager) {
    kp_vulkan_manager native;
    bench_check(kp_vulkan_from_manager(manager, &native));
    *vk = (raw){.get_instance_proc_addr = native.get_instance_proc_addr,
                .instance = native.instance,
                .physical_device = native.physical_device,
                .device = native.device,
                .queue = native.queue,
                .family = native.queue_family};
    load_functions(vk);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pipelines
// ---------------------------------------------------------------------------------------------------------------------

static void create_layouts(raw *vk, const raw_pipeline_desc *desc, raw_pipeline *out) {
    VkDescriptorSetLayoutBinding bindings[RAW_MAX_BUFFERS];
    for (uint32_t i = 0; i < desc->tensor_count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    raw_check(vk->vkCreateDescriptorSetLayout(
        vk->device,
        &(VkDescriptorSetLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = desc->tensor_count,
                                           .pBindings = bindings},
        NULL, &out->set_layout));
    raw_check(vk->vkCreatePipelineLayout(
        vk->device,
        &(VkPipelineLayoutCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
            .setLayoutCount = 1,
            .pSetLayouts = &out->set_layout,
            .pushConstantRangeCount = desc->push_size > 0,
            .pPushConstantRanges =
                &(VkPushConstantRange){.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = desc->push_size}},
        NULL, &out->layout));
}

static void create_set(raw *vk, const raw_pipeline_desc *desc, raw_pipeline *out) {
    raw_check(vk->vkCreateDescriptorPool(
        vk->device,
        &(VkDescriptorPoolCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
            .maxSets = 1,
            .poolSizeCount = 1,
            .pPoolSizes = &(VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, desc->tensor_count}},
        NULL, &out->pool));
    raw_check(vk->vkAllocateDescriptorSets(
        vk->device,
        &(VkDescriptorSetAllocateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = out->pool,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &out->set_layout},
        &out->set));
    for (uint32_t i = 0; i < desc->tensor_count; i++) {
        kp_vulkan_buffer buffer;
        bench_check(kp_vulkan_from_tensor(desc->tensors[i], &buffer));
        vk->vkUpdateDescriptorSets(
            vk->device, 1,
            &(VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                    .dstSet = out->set,
                                    .dstBinding = i,
                                    .descriptorCount = 1,
                                    .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    .pBufferInfo =
                                        &(VkDescriptorBufferInfo){buffer.buffer, buffer.offset, buffer.size}},
            0, NULL);
    }
}

void raw_pipeline_create(raw *vk, const raw_pipeline_desc *desc, raw_pipeline *out) {
    *out = (raw_pipeline){0};
    create_layouts(vk, desc, out);
    create_set(vk, desc, out);
    raw_check(
        vk->vkCreateShaderModule(vk->device,
                                 &(VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                                             .codeSize = desc->program->word_count * sizeof(uint32_t),
                                                             .pCode = desc->program->words},
                                 NULL, &out->module));
    raw_check(vk->vkCreateComputePipelines(
        vk->device, VK_NULL_HANDLE, 1,
        &(VkComputePipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                       .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                 .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                 .module = out->module,
                                                 .pName = desc->entry,
                                                 .pSpecializationInfo = desc->constants},
                                       .layout = out->layout},
        NULL, &out->pipeline));
}

void raw_pipeline_destroy(raw *vk, raw_pipeline *pipeline) {
    vk->vkDestroyPipeline(vk->device, pipeline->pipeline, NULL);
    vk->vkDestroyShaderModule(vk->device, pipeline->module, NULL);
    vk->vkDestroyDescriptorPool(vk->device, pipeline->pool, NULL);
    vk->vkDestroyPipelineLayout(vk->device, pipeline->layout, NULL);
    vk->vkDestroyDescriptorSetLayout(vk->device, pipeline->set_layout, NULL);
}

// ---------------------------------------------------------------------------------------------------------------------
// Commands
// ---------------------------------------------------------------------------------------------------------------------

void raw_commands_begin(raw *vk, raw_commands *out) {
    raw_check(vk->vkCreateCommandPool(
        vk->device,
        &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = vk->family},
        NULL, &out->pool));
    raw_check(vk->vkAllocateCommandBuffers(
        vk->device,
        &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandPool = out->pool,
                                       .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                       .commandBufferCount = 1},
        &out->buffer));
    raw_check(vk->vkCreateFence(vk->device, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL,
                                &out->fence));
    raw_check(vk->vkBeginCommandBuffer(
        out->buffer, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
}

void raw_commands_end(raw *vk, raw_commands *commands) { raw_check(vk->vkEndCommandBuffer(commands->buffer)); }

void raw_commands_destroy(raw *vk, raw_commands *commands) {
    vk->vkDestroyFence(vk->device, commands->fence, NULL);
    vk->vkDestroyCommandPool(vk->device, commands->pool, NULL);
}

void raw_dispatch(raw *vk, raw_commands *commands, const raw_pipeline *pipeline, const void *push, uint32_t push_size,
                  uint32_t x, uint32_t y, uint32_t z) {
    vk->vkCmdBindPipeline(commands->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
    vk->vkCmdBindDescriptorSets(commands->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1,
                                &pipeline->set, 0, NULL);
    if (push != NULL) {
        vk->vkCmdPushConstants(commands->buffer, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size, push);
    }
    vk->vkCmdDispatch(commands->buffer, x, y, z);
}

void raw_copy(raw *vk, raw_commands *commands, const kp_tensor *from, const kp_tensor *to) {
    kp_vulkan_buffer source, target;
    bench_check(kp_vulkan_from_tensor(from, &source));
    bench_check(kp_vulkan_from_tensor(to, &target));
    vk->vkCmdCopyBuffer(commands->buffer, source.buffer, target.buffer, 1,
                        &(VkBufferCopy){.srcOffset = source.offset, .dstOffset = target.offset, .size = source.size});
}

static void barrier(raw *vk, raw_commands *commands, VkPipelineStageFlags before, VkPipelineStageFlags after,
                    VkAccessFlags reads) {
    VkAccessFlags writes =
        before == VK_PIPELINE_STAGE_TRANSFER_BIT ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_SHADER_WRITE_BIT;
    vk->vkCmdPipelineBarrier(
        commands->buffer, before, after, 0, 1,
        &(VkMemoryBarrier){.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = writes, .dstAccessMask = reads},
        0, NULL, 0, NULL);
}

void raw_barrier_dispatch(raw *vk, raw_commands *commands) {
    barrier(vk, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void raw_barrier_copy(raw *vk, raw_commands *commands) {
    barrier(vk, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

void raw_barrier_host(raw *vk, raw_commands *commands) {
    barrier(vk, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

void raw_run(raw *vk, raw_commands *commands, double spin) {
    raw_check(vk->vkQueueSubmit(vk->queue, 1,
                                &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                                .commandBufferCount = 1,
                                                .pCommandBuffers = &commands->buffer},
                                commands->fence));
    VkResult result = VK_NOT_READY;
    if (spin > 0) {
        double until = bench_now() + spin;
        while (result == VK_NOT_READY && bench_now() < until) {
            result = vk->vkGetFenceStatus(vk->device, commands->fence);
        }
    }
    if (result == VK_NOT_READY) {
        result = vk->vkWaitForFences(vk->device, 1, &commands->fence, VK_TRUE, UINT64_MAX);
    }
    raw_check(result);
    raw_check(vk->vkResetFences(vk->device, 1, &commands->fence));
}
