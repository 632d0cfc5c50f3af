// See pixels.h.
#include "pixels.h"

#include "barrier.h"
#include "guard.h"

static VkImageType type_of(uint32_t dimensions) {
    return dimensions == 1 ? VK_IMAGE_TYPE_1D : dimensions == 2 ? VK_IMAGE_TYPE_2D : VK_IMAGE_TYPE_3D;
}

static VkImageViewType view_type_of(uint32_t dimensions) {
    return dimensions == 1 ? VK_IMAGE_VIEW_TYPE_1D : dimensions == 2 ? VK_IMAGE_VIEW_TYPE_2D : VK_IMAGE_VIEW_TYPE_3D;
}

VkImageSubresourceLayers kp_pixels_layers(void) {
    return (VkImageSubresourceLayers){.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1};
}

static const VkImageSubresourceRange whole = {
    .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1};

kp_pixels_uses kp_pixels_query(const kp_device *device, VkFormat format) {
    const VkFormatFeatureFlags copies = VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    VkFormatProperties p;
    device->instance->GetPhysicalDeviceFormatProperties(device->physical, format, &p);
    VkFormatFeatureFlags has = p.optimalTilingFeatures;
    bool copied = (has & copies) == copies;
    return (kp_pixels_uses){.storage = copied && (has & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT) != 0,
                            .sampled = copied && (has & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) != 0,
                            .linear = (has & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT) != 0};
}

static VkImageUsageFlags usage_of(kp_pixels_uses uses) {
    return VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
           (uses.storage ? VK_IMAGE_USAGE_STORAGE_BIT : 0) | (uses.sampled ? VK_IMAGE_USAGE_SAMPLED_BIT : 0);
}

static kp_result check_extent(const kp_device *device, const kp_pixels_desc *desc, const VkExtent3D *most) {
    const uint32_t limits[3] = {most->width, most->height, most->depth};
    const uint32_t wanted[3] = {desc->extent.width, desc->extent.height, desc->extent.depth};
    static const char *const names[3] = {"width", "height", "depth"};
    for (uint32_t i = 0; i < desc->dimensions; i++) {
        if (wanted[i] > limits[i])
            return kp_error_set(KP_ERROR_LIMIT, "maxImageDimension%uD of %s is %u for %s, the %s is %u",
                                desc->dimensions, device->info.name, limits[i], desc->format_name, names[i], wanted[i]);
    }
    return KP_OK;
}

// What the device says of images of this kind. Whether they can be shared, as a mask.
static VkResult query_kind(const kp_device *device, const kp_pixels_desc *desc, kp_pixels_uses uses,
                           VkImageFormatProperties *out, VkExternalMemoryFeatureFlags *sharing) {
    VkExternalImageFormatProperties external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 all = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    const VkPhysicalDeviceExternalImageFormatInfo share = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, .handleType = desc->share.handle_type};
    VkPhysicalDeviceImageFormatInfo2 info = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
                                             .format = desc->format,
                                             .type = type_of(desc->dimensions),
                                             .tiling = VK_IMAGE_TILING_OPTIMAL,
                                             .usage = usage_of(uses)};
    if (desc->share.handle_type != 0) {
        all.pNext = &external;
        info.pNext = &share;
    }
    VkResult result = device->instance->GetPhysicalDeviceImageFormatProperties2(device->physical, &info, &all);
    *out = all.imageFormatProperties;
    *sharing = external.externalMemoryProperties.externalMemoryFeatures;
    return result;
}

// The extension that sharing needs, and what the driver does with it.
static kp_result check_share(const kp_device *device, const kp_pixels_desc *desc, kp_pixels_uses uses) {
    VkImageFormatProperties p;
    VkExternalMemoryFeatureFlags has = 0;
    if (desc->share.handle_type == 0)
        return KP_OK;
    if (!device->features.memory_fd)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "%s lacks VK_KHR_external_memory_fd, which sharing memory needs",
                            device->info.name);
    VkExternalMemoryFeatureFlagBits wants =
        desc->share.imported ? VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT : VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
    VkResult result = query_kind(device, desc, uses, &p, &has);
    if (result == VK_SUCCESS && (has & wants) != 0)
        return check_extent(device, desc, &p.maxExtent);
    return kp_error_set(KP_ERROR_UNSUPPORTED, "%s has VK_KHR_external_memory_fd, but cannot %s %u-D images of %s by it",
                        device->info.name, desc->share.imported ? "import" : "export", desc->dimensions,
                        desc->format_name);
}

// That the device has such images, and that large.
static kp_result check(const kp_device *device, const kp_pixels_desc *desc, kp_pixels_uses uses) {
    VkImageFormatProperties p;
    VkResult result = VK_ERROR_FORMAT_NOT_SUPPORTED;
    if (uses.storage || uses.sampled)
        result = device->instance->GetPhysicalDeviceImageFormatProperties(
            device->physical, desc->format, type_of(desc->dimensions), VK_IMAGE_TILING_OPTIMAL, usage_of(uses), 0, &p);
    if (result == VK_ERROR_FORMAT_NOT_SUPPORTED)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "%s has no %u-D images of %s", device->info.name, desc->dimensions,
                            desc->format_name);
    if (result < 0)
        return kp_device_check((kp_device *)(uintptr_t)device, result, "vkGetPhysicalDeviceImageFormatProperties");
    kp_result checked = check_extent(device, desc, &p.maxExtent);
    return checked == KP_OK ? check_share(device, desc, uses) : checked;
}

static kp_result make(kp_device *device, const kp_pixels_desc *desc, kp_pixels_uses uses, kp_pixels *pixels) {
    bool many = device->named_family_count > 1; // arrays alone go by the queue for copies
    const VkExternalMemoryImageCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
                                                      .handleTypes = desc->share.handle_type};
    return KP_VK(device, CreateImage, device->handle,
                 &(VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                      .pNext = external.handleTypes != 0 ? &external : NULL,
                                      .imageType = type_of(desc->dimensions),
                                      .format = desc->format,
                                      .extent = desc->extent,
                                      .mipLevels = 1,
                                      .arrayLayers = 1,
                                      .samples = VK_SAMPLE_COUNT_1_BIT,
                                      .tiling = VK_IMAGE_TILING_OPTIMAL,
                                      .usage = usage_of(uses),
                                      .sharingMode = many ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
                                      .queueFamilyIndexCount = many ? device->named_family_count : 0,
                                      .pQueueFamilyIndices = device->families},
                 NULL, &pixels->handle);
}

// Shared memory is dedicated to its image, as drivers like it.
static kp_result give_memory(kp_device *device, const kp_pixels_desc *desc, kp_pixels *pixels) {
    kp_heap_want want = {.preferred = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                         .avoided = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                         .image = pixels->handle,
                         .exported = desc->share.imported ? 0 : desc->share.handle_type,
                         .dedicated = true,
                         .label = desc->label};
    device->vk.vkGetImageMemoryRequirements(device->handle, pixels->handle, &want.needs);
    pixels->size = want.needs.size;
    kp_result result = desc->share.imported ? kp_heap_import_fd(device, &want, &desc->share.from, &pixels->chunk)
                                            : kp_heap_alloc(device, &want, &pixels->chunk);
    if (result != KP_OK)
        return result;
    // What is imported lies where its offset says.
    VkDeviceSize alignment = desc->share.imported ? want.needs.alignment : kp_heap_alignment(device, &want);
    return KP_VK(device, BindImageMemory, device->handle, pixels->handle, kp_heap_memory(pixels->chunk),
                 kp_heap_offset(pixels->chunk, alignment));
}

kp_result kp_pixels_create(kp_device *device, const kp_pixels_desc *desc, kp_pixels *out) {
    kp_pixels pixels = {.extent = desc->extent};
    kp_pixels_uses uses = kp_pixels_query(device, desc->format);
    kp_result result = check(device, desc, uses);
    if (result == KP_OK)
        result = make(device, desc, uses, &pixels);
    if (result == KP_OK)
        result = give_memory(device, desc, &pixels);
    if (result == KP_OK)
        result = KP_VK(device, CreateImageView, device->handle,
                       &(VkImageViewCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                                .image = pixels.handle,
                                                .viewType = view_type_of(desc->dimensions),
                                                .format = desc->format,
                                                .subresourceRange = whole},
                       NULL, &pixels.view);
    if (result != KP_OK) {
        kp_pixels_destroy(device, &pixels);
        return result;
    }
    kp_device_name(device, VK_OBJECT_TYPE_IMAGE, KP_DEVICE_HANDLE(pixels.handle), desc->label);
    kp_device_name(device, VK_OBJECT_TYPE_IMAGE_VIEW, KP_DEVICE_HANDLE(pixels.view), desc->label);
    *out = pixels;
    return KP_OK;
}

void kp_pixels_destroy(kp_device *device, kp_pixels *pixels) {
    if (pixels->view != VK_NULL_HANDLE)
        device->vk.vkDestroyImageView(device->handle, pixels->view, NULL);
    if (pixels->handle != VK_NULL_HANDLE)
        device->vk.vkDestroyImage(device->handle, pixels->handle, NULL);
    kp_heap_free(device, pixels->chunk);
    *pixels = (kp_pixels){0};
}

void kp_pixels_change_owner(kp_device *device, VkCommandBuffer commands, const kp_pixels *pixels, uint32_t family,
                            bool acquire) {
    const uint32_t ours = device->named_family_count > 1 ? VK_QUEUE_FAMILY_IGNORED : family;
    const uint32_t theirs = VK_QUEUE_FAMILY_EXTERNAL;
    bool computes = device->info.queue_families[family].compute;
    const kp_barrier_access work = kp_barrier_on(kp_barrier_any_work, computes),
                            use = kp_barrier_on(kp_barrier_any_use, computes);
    device->vk.vkCmdPipelineBarrier(commands, acquire ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : work.stage,
                                    acquire ? use.stage : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 0, NULL, 1,
                                    &(VkImageMemoryBarrier){.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                                            .srcAccessMask = acquire ? 0 : work.access,
                                                            .dstAccessMask = acquire ? use.access : 0,
                                                            .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
                                                            .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                                            .srcQueueFamilyIndex = acquire ? theirs : ours,
                                                            .dstQueueFamilyIndex = acquire ? ours : theirs,
                                                            .image = pixels->handle,
                                                            .subresourceRange = whole});
}

void kp_pixels_settle(kp_device *device, VkCommandBuffer commands, const kp_pixels *pixels) {
    bool computes = kp_device_queue_computes(device, 0);
    const kp_barrier_access use = kp_barrier_on(kp_barrier_any_use, computes);
    const VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                          .dstAccessMask = use.access,
                                          .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                          .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = pixels->handle,
                                          .subresourceRange = whole};
    device->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, use.stage, 0, 0, NULL, 0, NULL, 1,
                                    &barrier);
}

// By all that there is to choose.
static unsigned number_of(const kp_pixels_sampling *how) {
    unsigned linear = how->filter == VK_FILTER_LINEAR, mode = (unsigned)how->address_mode % 4;
    return ((linear * 4 + mode) * 2 + how->unnormalized) * 2 + how->integers;
}

kp_result kp_pixels_sampler(kp_device *device, const kp_pixels_sampling *how, VkSampler *out) {
    VkSampler *kept = &device->samplers[number_of(how)];
    kp_result result = KP_OK;
    kp_guard_lock(&device->command_lock);
    bool fresh = *kept == VK_NULL_HANDLE;
    if (fresh)
        result = KP_VK(device, CreateSampler, device->handle,
                       &(VkSamplerCreateInfo){.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                              .magFilter = how->filter,
                                              .minFilter = how->filter,
                                              .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
                                              .addressModeU = how->address_mode,
                                              .addressModeV = how->address_mode,
                                              .addressModeW = how->address_mode,
                                              .borderColor = how->integers ? VK_BORDER_COLOR_INT_TRANSPARENT_BLACK
                                                                           : VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK,
                                              .unnormalizedCoordinates = how->unnormalized},
                       NULL, kept);
    *out = *kept;
    kp_guard_unlock(&device->command_lock);
    if (fresh)
        kp_device_name(device, VK_OBJECT_TYPE_SAMPLER, KP_DEVICE_HANDLE(*out), "sampler");
    return result;
}

void kp_pixels_destroy_samplers(kp_device *device) {
    for (unsigned i = 0; i < KP_DEVICE_SAMPLERS; i++) {
        if (device->samplers[i] != VK_NULL_HANDLE)
            device->vk.vkDestroySampler(device->handle, device->samplers[i], NULL);
    }
}
