// See info.h. Devices of Vulkan 1.0 are described by their name and limits alone: kp cannot run on them.
#include "info.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static bool has_type(const VkPhysicalDeviceMemoryProperties *memory, VkMemoryPropertyFlags flags) {
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        if ((memory->memoryTypes[i].propertyFlags & flags) == flags)
            return true;
    }
    return false;
}

// Where there is cached memory but the shared kind is not (some AMD APUs), the host would read it at a crawl: then it
// is better to stage. Where no memory is cached (small boards), staging would not help.
VkMemoryPropertyFlags kp_info_unified_flags(VkPhysicalDeviceType type, const VkPhysicalDeviceMemoryProperties *memory) {
    const VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const VkMemoryPropertyFlags shared = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | host;
    if (type != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU && type != VK_PHYSICAL_DEVICE_TYPE_CPU)
        return 0;
    if (has_type(memory, shared | cached))
        return shared | cached;
    return has_type(memory, shared) && !has_type(memory, host | cached) ? shared : 0;
}

static void describe_queues(const kp_instance *instance, VkPhysicalDevice device, kp_info *info,
                            kp_info_limits *limits) {
    VkQueueFamilyProperties families[KP_INFO_MAX_FAMILIES];
    const VkQueueFlags others = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT; // no matter here
    uint32_t count = 0;
    instance->GetPhysicalDeviceQueueFamilyProperties(device, &count, NULL);
    count = count < KP_INFO_MAX_FAMILIES ? count : KP_INFO_MAX_FAMILIES;
    instance->GetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    info->queue_family_count = count;
    for (uint32_t i = 0; i < count; i++) {
        VkQueueFlags flags = families[i].queueFlags;
        bool work = (flags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT)) != 0;
        info->queue_families[i].count = families[i].queueCount;
        info->queue_families[i].compute = (flags & VK_QUEUE_COMPUTE_BIT) != 0;
        info->queue_families[i].transfer = work || (flags & VK_QUEUE_TRANSFER_BIT) != 0;
        info->queue_families[i].graphics = (flags & VK_QUEUE_GRAPHICS_BIT) != 0;
        limits->timestamp_bits[i] = families[i].timestampValidBits;
        limits->image_step[i] = families[i].minImageTransferGranularity;
        limits->only_copies[i] = (flags & ~others) == VK_QUEUE_TRANSFER_BIT;
        if (info->queue_families[i].compute && families[i].timestampValidBits != 0)
            info->timestamps = true;
    }
}

static void describe_memory(kp_info *info, kp_info_limits *limits, VkPhysicalDeviceType type) {
    const VkPhysicalDeviceMemoryProperties *memory = &limits->memory;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++) {
        uint64_t size = memory->memoryHeaps[i].size;
        largest = size > largest ? size : largest;
        if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 && size > info->memory)
            info->memory = size;
    }
    info->unified = kp_info_unified_flags(type, memory) != 0;
    if (info->max_allocation > largest)
        info->max_allocation = largest;
}

static void describe_limits(const VkPhysicalDeviceProperties *p, kp_info *info, kp_info_limits *limits) {
    const VkPhysicalDeviceLimits *l = &p->limits;
    snprintf(info->name, sizeof info->name, "%s", p->deviceName);
    info->type = p->deviceType;
    info->vendor_id = p->vendorID;
    info->api_version = p->apiVersion;
    memcpy(info->max_workgroup_count, l->maxComputeWorkGroupCount, sizeof info->max_workgroup_count);
    memcpy(info->max_workgroup_size, l->maxComputeWorkGroupSize, sizeof info->max_workgroup_size);
    info->max_workgroup_invocations = l->maxComputeWorkGroupInvocations;
    info->max_push_constants = l->maxPushConstantsSize;
    info->max_buffer_range = l->maxStorageBufferRange;
    info->max_shared_memory = l->maxComputeSharedMemorySize;
    info->timestamp_period = (double)l->timestampPeriod;
    limits->max_allocations = l->maxMemoryAllocationCount;
    limits->max_sets = l->maxBoundDescriptorSets;
    limits->max_storage_buffers = l->maxPerStageDescriptorStorageBuffers;
    limits->max_uniform_buffers = l->maxPerStageDescriptorUniformBuffers;
    limits->max_uniform_range = l->maxUniformBufferRange;
    limits->storage_alignment = l->minStorageBufferOffsetAlignment;
    limits->uniform_alignment = l->minUniformBufferOffsetAlignment;
    limits->image_granularity = l->bufferImageGranularity;
    limits->max_storage_images = l->maxPerStageDescriptorStorageImages;
    limits->max_sampled_images = l->maxPerStageDescriptorSampledImages;
    limits->max_samplers = l->maxPerStageDescriptorSamplers;
    limits->device_id = p->deviceID;
    limits->driver_version = p->driverVersion;
    limits->max_image_size[0] = l->maxImageDimension1D;
    limits->max_image_size[1] = l->maxImageDimension2D;
    limits->max_image_size[2] = l->maxImageDimension3D;
}

// Properties that structs of Vulkan 1.1 and of extensions hold.
static void describe_more(const kp_instance *instance, VkPhysicalDevice device, kp_info *info, kp_info_limits *limits,
                          kp_features *features, const VkExtensionProperties *list, uint32_t list_count) {
    uint32_t minor = VK_API_VERSION_MINOR(limits->api_version);
    bool has_driver = minor >= 2 || kp_features_has_extension(list, list_count, "VK_KHR_driver_properties");
    bool has_limit = minor >= 3 || kp_features_has_extension(list, list_count, "VK_KHR_maintenance4");
    VkPhysicalDeviceMaintenance4Properties limit = {.sType =
                                                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    VkPhysicalDeviceSubgroupSizeControlProperties control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDevicePushDescriptorPropertiesKHR push = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties sizes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                    .pNext = &subgroup};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, .pNext = &sizes};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    void **end = &subgroup.pNext;
    if (has_driver) {
        *end = &driver;
        end = &driver.pNext;
    }
    if (has_limit) {
        *end = &limit;
        end = &limit.pNext;
    }
    if (features->subgroup_size.subgroupSizeControl) {
        *end = &control;
        end = &control.pNext;
    }
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    if (features->host_import) {
        *end = &import;
        end = &import.pNext;
    }
    VkPhysicalDeviceFloatControlsProperties floats = {.sType =
                                                          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
    if (minor >= 2) {
        *end = &floats;
        end = &floats.pNext;
    }
    if (features->push_descriptors)
        *end = &push;
    instance->GetPhysicalDeviceProperties2(device, &all);

    memcpy(info->uuid, id.deviceUUID, sizeof info->uuid);
    memcpy(limits->driver_uuid, id.driverUUID, sizeof limits->driver_uuid);
    info->max_allocation = sizes.maxMemoryAllocationSize;
    info->subgroup_size = info->min_subgroup_size = info->max_subgroup_size = subgroup.subgroupSize;
    if ((control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
        info->min_subgroup_size = control.minSubgroupSize;
        info->max_subgroup_size = control.maxSubgroupSize;
        limits->max_subgroups = control.maxComputeWorkgroupSubgroups;
    }
    if ((subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0)
        features->subgroup_ops = subgroup.supportedOperations;
    if (has_limit && limit.maxBufferSize != 0 && limit.maxBufferSize < info->max_buffer_range)
        info->max_buffer_range = limit.maxBufferSize;
    limits->max_push_descriptors = push.maxPushDescriptors;
    limits->float_rules = (floats.shaderSignedZeroInfNanPreserveFloat16 ? 16u : 0) |
                          (floats.shaderSignedZeroInfNanPreserveFloat32 ? 32u : 0) |
                          (floats.shaderSignedZeroInfNanPreserveFloat64 ? 64u : 0);
    limits->import_alignment = import.minImportedHostPointerAlignment;
    limits->driver = driver.driverID;
    if (driver.driverName[0] != '\0')
        snprintf(info->driver, sizeof info->driver, "%.120s%s%.120s", driver.driverName,
                 driver.driverInfo[0] != '\0' ? " " : "", driver.driverInfo);
}

kp_result kp_info_query(const kp_instance *instance, uint32_t index, const kp_features_given *given, kp_info *info,
                        kp_info_limits *limits, kp_features *features, VkExtensionProperties **list,
                        uint32_t *list_count) {
    VkPhysicalDevice device = instance->devices[index];
    *info = (kp_info){.index = index};
    *limits = (kp_info_limits){0};
    memset(features, 0, sizeof *features);
    VkPhysicalDeviceProperties p;
    instance->GetPhysicalDeviceProperties(device, &p);
    describe_limits(&p, info, limits);
    snprintf(info->driver, sizeof info->driver, "version %u.%u.%u", VK_API_VERSION_MAJOR(p.driverVersion),
             VK_API_VERSION_MINOR(p.driverVersion), VK_API_VERSION_PATCH(p.driverVersion));
    instance->GetPhysicalDeviceMemoryProperties(device, &limits->memory);
    VkExtensionProperties *extensions = NULL;
    uint32_t count = 0;
    info->max_allocation = UINT64_MAX;
    limits->api_version = p.apiVersion < instance->api_version ? p.apiVersion : instance->api_version;
    if (p.apiVersion >= VK_API_VERSION_1_1) {
        kp_result result = given != NULL ? kp_features_given_extensions(given, &extensions, &count)
                                         : kp_features_extensions(instance, device, &extensions, &count);
        if (result != KP_OK)
            return result;
        kp_features_query(instance, device, limits->api_version, extensions, count, features);
        if (given != NULL)
            kp_features_restrict(features, given);
        describe_more(instance, device, info, limits, features, extensions, count);
    }
    describe_memory(info, limits, p.deviceType);
    describe_queues(instance, device, info, limits);
    if (list != NULL) {
        *list = extensions;
        *list_count = count;
    } else {
        kp_alloc_free(extensions);
    }
    return KP_OK;
}
