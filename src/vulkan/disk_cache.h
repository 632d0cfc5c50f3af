// The driver's compiled pipelines, kept on disk from one process to the next: one file for each device and driver
// version, in $KP_CACHE_DIR, or else "kp" in the user's folder for caches. An empty KP_CACHE_DIR switches it off.
//
// A cache never gets in the way: what cannot be read, or is not what this device's driver wrote, counts as absent, and
// what cannot be written is left. Files are checked whole before the driver sees them, and replaced by renaming, so
// that processes may share them.
//
// Drivers keep what they compile in it for good. So after some hundred new pipelines it is written, and an empty one
// takes its place; what that one comes to hold is not written.
#ifndef KP_SRC_VULKAN_DISK_CACHE_H
#define KP_SRC_VULKAN_DISK_CACHE_H

#include "base/error.h"

#include <pthread.h>
#include <volk.h>

typedef struct kp_device kp_device;

typedef struct kp_disk_cache {
    pthread_mutex_t lock;   // guards what follows
    bool opened;            //
    char *path;             // of the file; NULL: off
    VkPipelineCache handle; // VK_NULL_HANDLE: off
    size_t loaded;          // bytes of the file's data; 0: there was none
    size_t known;           // bytes of the cache's data when it was loaded: some drivers' are more than the file's
    unsigned users;         // threads that make a pipeline with it
    unsigned fresh;         // pipelines made with it that it did not have
    bool renewed;           // it is not the first: nothing is written any more
} kp_disk_cache;

void kp_disk_cache_init(kp_disk_cache *cache);

// What to make a pipeline with, until it is given back; loaded when first asked for. VK_NULL_HANDLE: nothing.
VkPipelineCache kp_disk_cache_take(kp_device *device);

// `fresh`: a pipeline was made that the cache did not have.
void kp_disk_cache_give(kp_device *device, VkPipelineCache handle, bool fresh);

// Writes what is new, and frees it all. No one else uses the device.
void kp_disk_cache_close(kp_device *device);

#endif
