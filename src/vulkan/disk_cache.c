// See disk_cache.h. A file is a header of ours, which says whose data it is and how to tell that it is whole, and what
// vkGetPipelineCacheData gave. Before a file is replaced, what another process has written meanwhile is merged in.
#include "disk_cache.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "device.h"
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "kpcache1"

enum {
    MAX_BYTES = 256 << 20, // beyond it a file is not ours, or not worth it
    MAX_FRESH = 256,       // pipelines that one cache takes in
};

typedef struct header {
    char magic[8];
    uint8_t device_uuid[VK_UUID_SIZE], cache_uuid[VK_UUID_SIZE];
    uint32_t vendor, device, driver, reserved;
    uint64_t size, hash; // of the data behind it
} header;

void kp_disk_cache_init(kp_disk_cache *cache) { pthread_mutex_init(&cache->lock, NULL); }

// A message that only who asked for a folder wants to read as a warning.
static void tell(const char *words, const char *path, const char *why) {
    kp_str text = {0};
    kp_str_format(&text, "pipeline cache: %s %s%s%s", words, path, why != NULL ? ": " : "", why != NULL ? why : "");
    if (text.data != NULL)
        kp_guard_log(why != NULL && getenv("KP_CACHE_DIR") != NULL ? KP_LOG_WARNING : KP_LOG_DEBUG, text.data);
    kp_str_free(&text);
}

// ---------------------------------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------------------------------

// False: there is no place for caches.
static bool write_folder(kp_str *out) {
    const char *own = getenv("KP_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own != NULL) {
        kp_str_format(out, "%s", own);
        return own[0] != '\0';
    }
    if (xdg != NULL && xdg[0] == '/')
        kp_str_format(out, "%s/kp", xdg);
    else if (home != NULL && home[0] == '/')
        kp_str_format(out, "%s/.cache/kp", home);
    return out->length != 0;
}

static header header_of(const kp_device *device) {
    VkPhysicalDeviceProperties p;
    device->instance->GetPhysicalDeviceProperties(device->physical, &p);
    header h = {.magic = MAGIC, .vendor = p.vendorID, .device = p.deviceID, .driver = p.driverVersion};
    memcpy(h.device_uuid, device->info.uuid, sizeof h.device_uuid);
    memcpy(h.cache_uuid, p.pipelineCacheUUID, sizeof h.cache_uuid);
    return h;
}

// NULL: off, or no memory.
static char *file_path(const header *h) {
    kp_str path = {0};
    if (!write_folder(&path)) {
        kp_str_free(&path);
        return NULL;
    }
    kp_str_format(&path, "/");
    for (unsigned i = 0; i < sizeof h->device_uuid; i++)
        kp_str_format(&path, "%02x", h->device_uuid[i]);
    kp_str_format(&path, "-%08x.pipelines", h->driver);
    return kp_str_take(&path);
}

// The folders on the way to a file; those that are there already are fine.
static void make_folders(const char *path) {
    char *part = kp_alloc_text(path);
    for (char *slash = part != NULL ? strchr(part + 1, '/') : NULL; slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0700);
        *slash = '/';
    }
    kp_alloc_free(part);
}

// All bytes to a file, or from it into `bytes`.
static bool move_all(int file, const void *bytes, size_t size, bool out) {
    for (char *at = (char *)(uintptr_t)bytes; size != 0;) {
        ssize_t n = out ? write(file, at, size) : read(file, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------------------------------

// What is wrong with a file's header; NULL: nothing.
static const char *judge(const header *found, const header *own, uint64_t file_size) {
    header same = *found;
    same.size = same.hash = 0;
    if (memcmp(found->magic, MAGIC, sizeof found->magic) != 0)
        return "not a pipeline cache of kp's";
    if (memcmp(&same, own, sizeof same) != 0)
        return "of another device or driver";
    if (found->size != file_size - sizeof *found)
        return "cut short";
    return NULL;
}

// The data of an open file, checked. NULL: it is no good, and `*why` says why.
static void *read_data(int file, const header *own, size_t *size, const char **why) {
    struct stat info;
    header found;
    *why = "cannot be read";
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return NULL;
    *why = "too short or too long";
    if (info.st_size < (off_t)sizeof found || info.st_size > MAX_BYTES)
        return NULL;
    *why = "cannot be read";
    if (!move_all(file, &found, sizeof found, false))
        return NULL;
    *why = judge(&found, own, (uint64_t)info.st_size);
    if (*why != NULL)
        return NULL;
    *size = (size_t)found.size;
    void *data = kp_alloc_new(*size);
    *why = data == NULL ? "no memory for it" : "damaged";
    if (data != NULL && move_all(file, data, *size, false) && kp_map_hash(data, *size) == found.hash)
        return data;
    kp_alloc_free(data);
    return NULL;
}

// NULL: there is none, or none that is good.
static void *load(const char *path, const header *own, size_t *size) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        if (errno != ENOENT)
            tell("cannot open", path, strerror(errno));
        return NULL;
    }
    const char *why;
    void *data = read_data(file, own, size, &why);
    close(file);
    tell(data != NULL ? "read" : "not used:", path, data != NULL ? NULL : why);
    return data;
}

static VkPipelineCache make(kp_device *device, const void *data, size_t size) {
    VkPipelineCache handle = VK_NULL_HANDLE;
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = data != NULL ? size : 0,
                                            .pInitialData = data};
    return device->vk.vkCreatePipelineCache(device->handle, &info, NULL, &handle) == VK_SUCCESS ? handle
                                                                                                : VK_NULL_HANDLE;
}

// Bytes of the cache's data as it is now.
static size_t data_size(kp_device *device) {
    size_t size = 0;
    VkResult result = device->vk.vkGetPipelineCacheData(device->handle, device->disk_cache.handle, &size, NULL);
    return result == VK_SUCCESS ? size : 0;
}

static void open_cache(kp_device *device) {
    kp_disk_cache *cache = &device->disk_cache;
    const header own = header_of(device);
    cache->path = file_path(&own);
    if (cache->path == NULL)
        return;
    size_t size = 0;
    void *data = load(cache->path, &own, &size);
    cache->handle = make(device, data, size);
    cache->loaded = data != NULL ? size : 0;
    cache->known = cache->handle != VK_NULL_HANDLE ? data_size(device) : 0;
    kp_alloc_free(data);
    kp_device_name(device, VK_OBJECT_TYPE_PIPELINE_CACHE, KP_DEVICE_HANDLE(cache->handle), "pipeline cache");
}

// None while one that is full waits for its users to leave.
VkPipelineCache kp_disk_cache_take(kp_device *device) {
    kp_disk_cache *cache = &device->disk_cache;
    kp_guard_lock(&cache->lock);
    if (!cache->opened)
        open_cache(device);
    cache->opened = true;
    VkPipelineCache handle = cache->fresh < MAX_FRESH ? cache->handle : VK_NULL_HANDLE;
    cache->users += handle != VK_NULL_HANDLE;
    kp_guard_unlock(&cache->lock);
    return handle;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------------------------------

// Beside the file, under a name of its own, and then in its place.
static bool replace(const char *path, const header *h, const void *data) {
    kp_str temporary = {0};
    kp_str_format(&temporary, "%s.XXXXXX", path);
    char *name = kp_str_take(&temporary);
    if (name == NULL)
        return false;
    int file = mkstemp(name);
    if (file < 0 && errno == ENOENT) {
        make_folders(path);
        memcpy(name + strlen(name) - 6, "XXXXXX", 6);
        file = mkstemp(name);
    }
    bool written = file >= 0 && move_all(file, h, sizeof *h, true) && move_all(file, data, (size_t)h->size, true);
    written = file >= 0 && close(file) == 0 && written && rename(name, path) == 0;
    if (!written) {
        int reason = errno;
        if (file >= 0)
            unlink(name);
        errno = reason;
    }
    kp_alloc_free(name);
    return written;
}

// Takes in what others have written since.
static void merge(kp_device *device, const header *own) {
    kp_disk_cache *cache = &device->disk_cache;
    size_t size = 0;
    void *data = load(cache->path, own, &size);
    VkPipelineCache other = data != NULL && size != cache->loaded ? make(device, data, size) : VK_NULL_HANDLE;
    if (other != VK_NULL_HANDLE) {
        device->vk.vkMergePipelineCaches(device->handle, cache->handle, 1, &other);
        device->vk.vkDestroyPipelineCache(device->handle, other, NULL);
    }
    kp_alloc_free(data);
}

static void save(kp_device *device) {
    kp_disk_cache *cache = &device->disk_cache;
    if (cache->loaded != 0 && data_size(device) == cache->known)
        return; // nothing new
    header own = header_of(device);
    merge(device, &own);
    size_t size = data_size(device);
    if (size == 0 || size > MAX_BYTES - sizeof own)
        return;
    void *data = kp_alloc_new(size);
    if (data != NULL && device->vk.vkGetPipelineCacheData(device->handle, cache->handle, &size, data) == VK_SUCCESS) {
        own.size = size;
        own.hash = kp_map_hash(data, size);
        bool written = replace(cache->path, &own, data);
        tell(written ? "wrote" : "cannot write", cache->path, written ? NULL : strerror(errno));
    }
    kp_alloc_free(data);
}

static void write_new(kp_device *device) {
    const kp_disk_cache *cache = &device->disk_cache;
    if (cache->fresh != 0 && !cache->renewed && !atomic_load(&device->lost))
        save(device);
}

static void renew(kp_device *device) {
    kp_disk_cache *cache = &device->disk_cache;
    write_new(device);
    device->vk.vkDestroyPipelineCache(device->handle, cache->handle, NULL);
    cache->handle = make(device, NULL, 0);
    kp_device_name(device, VK_OBJECT_TYPE_PIPELINE_CACHE, KP_DEVICE_HANDLE(cache->handle), "pipeline cache");
    cache->fresh = 0;
    cache->renewed = true;
}

void kp_disk_cache_give(kp_device *device, VkPipelineCache handle, bool fresh) {
    kp_disk_cache *cache = &device->disk_cache;
    if (handle == VK_NULL_HANDLE)
        return;
    kp_guard_lock(&cache->lock);
    cache->users--;
    cache->fresh += fresh;
    if (cache->fresh >= MAX_FRESH && cache->users == 0)
        renew(device);
    kp_guard_unlock(&cache->lock);
}

void kp_disk_cache_close(kp_device *device) {
    kp_disk_cache *cache = &device->disk_cache;
    if (cache->handle != VK_NULL_HANDLE) {
        write_new(device);
        device->vk.vkDestroyPipelineCache(device->handle, cache->handle, NULL);
    }
    kp_alloc_free(cache->path);
    pthread_mutex_destroy(&cache->lock);
}
