// Facts about a physical device.
#ifndef KP_SRC_VULKAN_INFO_H
#define KP_SRC_VULKAN_INFO_H

#include "features.h"

#include <kp/base.h>

enum { KP_INFO_MAX_FAMILIES = 16 };

// What the runtime tells its callers of it (kp_device_info in kp/runtime.h, which explains the fields).
typedef struct kp_info {
    uint32_t index; // in the instance's list
    char name[256], driver[256];
    uint8_t uuid[16];
    VkPhysicalDeviceType type;
    uint32_t vendor_id, api_version;
    uint64_t memory;
    bool unified;
    uint32_t max_workgroup_count[3], max_workgroup_size[3], max_workgroup_invocations;
    uint32_t max_push_constants;
    uint64_t max_buffer_range, max_allocation;
    uint32_t subgroup_size, min_subgroup_size, max_subgroup_size, max_shared_memory;
    bool timestamps;
    double timestamp_period;
    uint32_t queue_family_count;
    struct {
        uint32_t count;
        bool compute, transfer, graphics;
    } queue_families[KP_INFO_MAX_FAMILIES];
} kp_info;

// What is for kp alone.
typedef struct kp_info_limits {
    uint32_t api_version; // the device's, at most the instance's: what kp uses of it
    VkDriverId driver;    // 0: unknown
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t max_allocations;                      // live device allocations
    uint32_t max_sets;                             // descriptor sets in a pipeline layout
    uint32_t max_push_descriptors;                 // 0: no push descriptors
    uint32_t max_storage_buffers;                  // storage buffers of one pipeline
    uint32_t max_uniform_buffers;                  // uniform buffers of one pipeline
    uint32_t max_uniform_range;                    // bytes of one bound uniform buffer
    uint64_t storage_alignment, uniform_alignment; // of where a bound buffer begins
    uint64_t import_alignment;                     // of host memory that is imported; 0: none can be
    uint64_t image_granularity;                    // bytes that are not shared by a buffer and an image
    uint32_t max_storage_images;                   // of one pipeline
    uint32_t max_sampled_images;                   // of one pipeline
    uint32_t max_samplers;                         // of one pipeline
    uint8_t driver_uuid[16];                       //
    uint32_t device_id, driver_version;            //
    uint32_t max_image_size[3];                    // on an axis of a 1-D, a 2-D, a 3-D image
    uint32_t float_rules;                          // widths of floats, as a sum, whose NaN, infinity and -0.0 are kept
                                                   // when a module asks for that
    uint32_t max_subgroups;                        // in a workgroup whose subgroup size was asked for
    uint32_t timestamp_bits[KP_INFO_MAX_FAMILIES]; // by family; 0: no timestamps
    VkExtent3D image_step[KP_INFO_MAX_FAMILIES];   // ... parts of images that it copies begin and end at multiples
    bool only_copies[KP_INFO_MAX_FAMILIES];        // by family: transfers, and nothing else that takes the device
} kp_info_limits;

// Fills all three; `index` is the position in the instance's list, `given` what is enabled of the device, NULL for all
// that it has. KP_ERROR_HOST_MEMORY, KP_ERROR_DRIVER.
// `list` (NULL: not wanted) gets the device's extensions, to be freed with kp_alloc_free.
kp_result kp_info_query(const kp_instance *instance, uint32_t index, const kp_features_given *given, kp_info *info,
                        kp_info_limits *limits, kp_features *features, VkExtensionProperties **list,
                        uint32_t *list_count);

// Memory that host and device share and that the host can read at full speed: the type flags to ask for, or 0 when the
// device is not of that kind.
VkMemoryPropertyFlags kp_info_unified_flags(VkPhysicalDeviceType type, const VkPhysicalDeviceMemoryProperties *memory);

#endif
