// The driver's compiled pipelines, kept on disk from one process to the next: one file for each device and driver
// version, in $KP_CACHE_DIR, or else "kp" in the user's folder for caches. An empty KP_CACHE_DIR switches it off.
//
// A cache never gets in the way: what cannot be read, or is not what this device's driver wrote, counts as absent, and
// what cannot be written is left. Files are checked whole before the driver sees them, and replaced by renaming, so
// that processes may share them.
#ifndef KP_SRC_VULKAN_DISK_CACHE_H
#define KP_SRC_VULKAN_DISK_CACHE_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <volk.h>

typedef struct kp_device kp_device;

typedef struct kp_disk_cache {
    pthread_mutex_t lock;   // guards what follows, until `opened`
    bool opened;            //
    char *path;             // of the file; NULL: off
    VkPipelineCache handle; // VK_NULL_HANDLE: off
    size_t loaded;          // bytes of the file's data; 0: there was none
    size_t known;           // bytes of the cache's data when it was loaded: some drivers' are more than the file's
    atomic_bool dirty;      // a pipeline was made with it
} kp_disk_cache;

void kp_disk_cache_init(kp_disk_cache *cache);

// What to make pipelines with; loaded when first asked for. VK_NULL_HANDLE: nothing.
VkPipelineCache kp_disk_cache_get(kp_device *device);

// Writes what is new, and frees it all. No one else uses the device.
void kp_disk_cache_close(kp_device *device);

#endif
