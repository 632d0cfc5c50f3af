// One VkImage, with its view, in a piece of device memory, and the samplers that images are read through.
//
// An image lives in the layout GENERAL, which storage images need and every other use allows: so barriers between its
// uses are those of a buffer. It is made in no layout; whoever makes it records kp_pixels_settle once.
#ifndef KP_SRC_VULKAN_PIXELS_H
#define KP_SRC_VULKAN_PIXELS_H

#include "buffer.h"

typedef struct kp_pixels {
    VkImage handle;       // VK_NULL_HANDLE: none
    VkImageView view;     //
    VkDeviceSize size;    // bytes of device memory
    kp_heap_chunk *chunk; //
    VkExtent3D extent;    // axes that it does not have are 1
} kp_pixels;

typedef struct kp_pixels_desc {
    VkFormat format;         //
    const char *format_name; // for messages
    uint32_t dimensions;     // 1 to 3
    VkExtent3D extent;       //
    const char *label;       //
    kp_buffer_share share;   // how others have its memory, which it has to itself then; zeroed: they do not
} kp_pixels_desc;

// What the device can do with images of a format; the usage of all that kp makes.
typedef struct kp_pixels_uses {
    bool storage, sampled; // bound so
    bool linear;           // sampled between pixels
} kp_pixels_uses;
kp_pixels_uses kp_pixels_query(const kp_device *device, VkFormat format);

// KP_ERROR_UNSUPPORTED for a format that the device has no images of, by name; KP_ERROR_LIMIT beyond its sizes; else as
// kp_heap_alloc. `*out` is written only on KP_OK.
kp_result kp_pixels_create(kp_device *device, const kp_pixels_desc *desc, kp_pixels *out);
void kp_pixels_destroy(kp_device *device, kp_pixels *pixels); // an empty one is fine; it is empty afterwards

// Records a change of owners between the queues of a family and others (Vulkan's external queue family), in the image's
// layout: before the first use of what others have, and after the last.
void kp_pixels_change_owner(kp_device *device, VkCommandBuffer commands, const kp_pixels *pixels, uint32_t family,
                            bool acquire);

// Records what brings a new image into its layout. Its contents are undefined then.
void kp_pixels_settle(kp_device *device, VkCommandBuffer commands, const kp_pixels *pixels);

typedef struct kp_pixels_sampling {
    VkFilter filter;
    VkSamplerAddressMode address_mode; // on all axes
    bool unnormalized;                 // coordinates count pixels, rather than going from 0 to 1
    bool integers;                     // what lies beyond the border are integers
} kp_pixels_sampling;

// The sampler that does so. It lives as long as the device.
kp_result kp_pixels_sampler(kp_device *device, const kp_pixels_sampling *how, VkSampler *out);
void kp_pixels_destroy_samplers(kp_device *device);

// All of it, as commands take it.
VkImageSubresourceLayers kp_pixels_layers(void);

#endif
