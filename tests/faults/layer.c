// layer.c - a Vulkan layer that makes the n-th call of a kind fail, and counts what is made and destroyed. See layer.h.
//
// One table (CALLS) lists the calls that can fail: each gets a wrapper that asks `must_fail` and else calls the next
// layer. A second table (DESTROYS) lists what takes objects away. Both count by object type.
#include "layer.h"

#include "../layer_link.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a call may answer: the codes that the specification lists for it.
enum {
    H = 1,
    D = 2,
    L = 4,
    I = 8,
    T = 16
}; // out of host memory, of device memory, device lost, initialization failed, timeout

// X(name, codes, object that it makes, parameters, arguments): device-level calls with a VkResult.
// clang-format off
#define CALLS(X) \
    X(AllocateMemory, H | D, MEMORY, (VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *host, VkDeviceMemory *out), (device, info, host, out)) \
    X(MapMemory, H | D, NOTHING, (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags flags, void **out), (device, memory, offset, size, flags, out)) \
    X(FlushMappedMemoryRanges, H | D, NOTHING, (VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges), (device, count, ranges)) \
    X(InvalidateMappedMemoryRanges, H | D, NOTHING, (VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges), (device, count, ranges)) \
    X(CreateBuffer, H | D, BUFFER, (VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *host, VkBuffer *out), (device, info, host, out)) \
    X(BindBufferMemory, H | D, NOTHING, (VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset), (device, buffer, memory, offset)) \
    X(CreateImage, H | D, IMAGE, (VkDevice device, const VkImageCreateInfo *info, const VkAllocationCallbacks *host, VkImage *out), (device, info, host, out)) \
    X(BindImageMemory, H | D, NOTHING, (VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset), (device, image, memory, offset)) \
    X(CreateImageView, H | D, IMAGE_VIEW, (VkDevice device, const VkImageViewCreateInfo *info, const VkAllocationCallbacks *host, VkImageView *out), (device, info, host, out)) \
    X(CreateSampler, H | D, SAMPLER, (VkDevice device, const VkSamplerCreateInfo *info, const VkAllocationCallbacks *host, VkSampler *out), (device, info, host, out)) \
    X(CreateShaderModule, H | D, SHADER_MODULE, (VkDevice device, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *host, VkShaderModule *out), (device, info, host, out)) \
    X(CreateDescriptorSetLayout, H | D, SET_LAYOUT, (VkDevice device, const VkDescriptorSetLayoutCreateInfo *info, const VkAllocationCallbacks *host, VkDescriptorSetLayout *out), (device, info, host, out)) \
    X(CreatePipelineLayout, H | D, PIPELINE_LAYOUT, (VkDevice device, const VkPipelineLayoutCreateInfo *info, const VkAllocationCallbacks *host, VkPipelineLayout *out), (device, info, host, out)) \
    X(CreatePipelineCache, H | D, PIPELINE_CACHE, (VkDevice device, const VkPipelineCacheCreateInfo *info, const VkAllocationCallbacks *host, VkPipelineCache *out), (device, info, host, out)) \
    X(GetPipelineCacheData, H | D, NOTHING, (VkDevice device, VkPipelineCache cache, size_t *size, void *out), (device, cache, size, out)) \
    X(CreateComputePipelines, H | D, PIPELINE, (VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *host, VkPipeline *out), (device, cache, count, infos, host, out)) \
    X(CreateDescriptorPool, H | D, DESCRIPTOR_POOL, (VkDevice device, const VkDescriptorPoolCreateInfo *info, const VkAllocationCallbacks *host, VkDescriptorPool *out), (device, info, host, out)) \
    X(AllocateDescriptorSets, H | D, NOTHING, (VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out), (device, info, out)) \
    X(CreateCommandPool, H | D, COMMAND_POOL, (VkDevice device, const VkCommandPoolCreateInfo *info, const VkAllocationCallbacks *host, VkCommandPool *out), (device, info, host, out)) \
    X(ResetCommandPool, D, NOTHING, (VkDevice device, VkCommandPool pool, VkCommandPoolResetFlags flags), (device, pool, flags)) \
    X(AllocateCommandBuffers, H | D, NOTHING, (VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out), (device, info, out)) \
    X(BeginCommandBuffer, H | D, NOTHING, (VkCommandBuffer device, const VkCommandBufferBeginInfo *info), (device, info)) \
    X(EndCommandBuffer, H | D, NOTHING, (VkCommandBuffer device), (device)) \
    X(CreateQueryPool, H | D, QUERY_POOL, (VkDevice device, const VkQueryPoolCreateInfo *info, const VkAllocationCallbacks *host, VkQueryPool *out), (device, info, host, out)) \
    X(GetQueryPoolResults, H | D | L, NOTHING, (VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count, size_t size, void *out, VkDeviceSize stride, VkQueryResultFlags flags), (device, pool, first, count, size, out, stride, flags)) \
    X(CreateFence, H | D, FENCE, (VkDevice device, const VkFenceCreateInfo *info, const VkAllocationCallbacks *host, VkFence *out), (device, info, host, out)) \
    X(ResetFences, D, NOTHING, (VkDevice device, uint32_t count, const VkFence *fences), (device, count, fences)) \
    X(GetFenceStatus, H | D | L, NOTHING, (VkDevice device, VkFence fence), (device, fence)) \
    X(WaitForFences, H | D | L | T, NOTHING, (VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout), (device, count, fences, all, timeout)) \
    X(CreateSemaphore, H | D, SEMAPHORE, (VkDevice device, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *host, VkSemaphore *out), (device, info, host, out)) \
    X(GetSemaphoreCounterValue, H | D | L, NOTHING, (VkDevice device, VkSemaphore semaphore, uint64_t *out), (device, semaphore, out)) \
    X(WaitSemaphores, H | D | L | T, NOTHING, (VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout), (device, info, timeout)) \
    X(SignalSemaphore, H | D, NOTHING, (VkDevice device, const VkSemaphoreSignalInfo *info), (device, info)) \
    X(GetMemoryFdKHR, H, NOTHING, (VkDevice device, const VkMemoryGetFdInfoKHR *info, int *out), (device, info, out)) \
    X(GetSemaphoreFdKHR, H, NOTHING, (VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *out), (device, info, out)) \
    X(ImportSemaphoreFdKHR, H, NOTHING, (VkDevice device, const VkImportSemaphoreFdInfoKHR *info), (device, info)) \
    X(QueueSubmit, H | D | L, NOTHING, (VkQueue device, uint32_t count, const VkSubmitInfo *submits, VkFence fence), (device, count, submits, fence)) \
    X(QueueWaitIdle, H | D | L, NOTHING, (VkQueue device), (device)) \
    X(DeviceWaitIdle, H | D | L, NOTHING, (VkDevice device), (device))

// X(name, object, parameters, arguments, handle): what destroys one object.
#define DESTROYS(X) \
    X(FreeMemory, MEMORY, VkDeviceMemory) \
    X(DestroyBuffer, BUFFER, VkBuffer) \
    X(DestroyImage, IMAGE, VkImage) \
    X(DestroyImageView, IMAGE_VIEW, VkImageView) \
    X(DestroySampler, SAMPLER, VkSampler) \
    X(DestroyShaderModule, SHADER_MODULE, VkShaderModule) \
    X(DestroyDescriptorSetLayout, SET_LAYOUT, VkDescriptorSetLayout) \
    X(DestroyPipelineLayout, PIPELINE_LAYOUT, VkPipelineLayout) \
    X(DestroyPipelineCache, PIPELINE_CACHE, VkPipelineCache) \
    X(DestroyPipeline, PIPELINE, VkPipeline) \
    X(DestroyDescriptorPool, DESCRIPTOR_POOL, VkDescriptorPool) \
    X(DestroyCommandPool, COMMAND_POOL, VkCommandPool) \
    X(DestroyQueryPool, QUERY_POOL, VkQueryPool) \
    X(DestroyFence, FENCE, VkFence) \
    X(DestroySemaphore, SEMAPHORE, VkSemaphore)

#define OBJECTS(X) \
    X(NOTHING) X(MEMORY) X(BUFFER) X(IMAGE) X(IMAGE_VIEW) X(SAMPLER) X(SHADER_MODULE) X(SET_LAYOUT) X(PIPELINE_LAYOUT) \
    X(PIPELINE_CACHE) X(PIPELINE) X(DESCRIPTOR_POOL) X(COMMAND_POOL) X(QUERY_POOL) X(FENCE) X(SEMAPHORE) X(DEVICE) X(INSTANCE)

// Calls above the device; their wrappers are written by hand.
#define INSTANCE_CALLS(X) \
    X(CreateInstance, H | D | I, NOTHING) \
    X(EnumeratePhysicalDevices, H | D | I, NOTHING) \
    X(EnumerateDeviceExtensionProperties, H | D, NOTHING) \
    X(CreateDevice, H | D | L | I, NOTHING)
// clang-format on

#define UNPACK(...) __VA_ARGS__

typedef enum object {
#define X(name) OBJECT_##name,
    OBJECTS(X)
#undef X
        OBJECT_COUNT
} object;

typedef enum call {
#define X(name, ...) CALL_##name,
    INSTANCE_CALLS(X) CALLS(X)
#undef X
        CALL_COUNT
} call;

static const char *const object_names[] = {
#define X(name) #name,
    OBJECTS(X)
#undef X
};

static const kp_fault_call call_table[] = {
#define X(name, codes, ...) {#name, (codes)},
    INSTANCE_CALLS(X) CALLS(X)
#undef X
};

// ---------------------------------------------------------------------------------------------------------------------
// What the test asks for, and what it may ask
// ---------------------------------------------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int call; // CALL_COUNT: none
    unsigned left;
    VkResult code;
    bool lost;
    unsigned counts[CALL_COUNT];
    long live[OBJECT_COUNT];
} state = {.call = CALL_COUNT};

static void arm(size_t which, unsigned nth, int code) {
    pthread_mutex_lock(&lock);
    state.call = nth != 0 ? (int)which : CALL_COUNT;
    state.left = nth;
    state.code = (VkResult)code;
    state.lost = false;
    memset(state.counts, 0, sizeof state.counts);
    pthread_mutex_unlock(&lock);
}

static bool struck(void) {
    pthread_mutex_lock(&lock);
    bool came = state.call != CALL_COUNT && state.left == 0;
    pthread_mutex_unlock(&lock);
    return came;
}

static unsigned count_of(size_t which) {
    pthread_mutex_lock(&lock);
    unsigned count = state.counts[which];
    pthread_mutex_unlock(&lock);
    return count;
}

static size_t live(char *text, size_t size) {
    size_t kinds = 0;
    text[0] = '\0';
    pthread_mutex_lock(&lock);
    for (size_t i = OBJECT_NOTHING + 1; i < OBJECT_INSTANCE; i++) { // kp keeps one instance open on purpose
        if (state.live[i] == 0)
            continue;
        size_t length = strlen(text);
        snprintf(text + length, size - length, "%s %ld, ", object_names[i], state.live[i]);
        kinds++;
    }
    pthread_mutex_unlock(&lock);
    return kinds;
}

LAYER_API const kp_fault_layer kp_fault = {
    .calls = call_table, .call_count = CALL_COUNT, .arm = arm, .struck = struck, .count = count_of, .live = live};

// True when this call is the one; then *code is its answer.
static bool must_fail(call which, VkResult *code) {
    pthread_mutex_lock(&lock);
    state.counts[which]++;
    bool fails = state.call == (int)which && state.left > 0 && --state.left == 0;
    if (fails) {
        *code = state.code;
        state.lost = state.code == VK_ERROR_DEVICE_LOST;
    } else if (state.lost && (call_table[which].codes & L) != 0 && which != CALL_CreateDevice) {
        *code = VK_ERROR_DEVICE_LOST; // a lost device stays lost
        fails = true;
    }
    pthread_mutex_unlock(&lock);
    return fails;
}

static void made(object what, long count) {
    pthread_mutex_lock(&lock);
    state.live[what] += count;
    pthread_mutex_unlock(&lock);
}

// ---------------------------------------------------------------------------------------------------------------------
// The next layer's functions
// ---------------------------------------------------------------------------------------------------------------------

// Of an instance or a device.
typedef struct table {
    void *key; // the loader's dispatch pointer, which a device's queues and command buffers share; NULL: free
    PFN_vkGetInstanceProcAddr next_instance;
    PFN_vkDestroyInstance DestroyInstance;
    PFN_vkEnumeratePhysicalDevices EnumeratePhysicalDevices;
    PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties;
    PFN_vkGetDeviceProcAddr next_device;
    PFN_vkDestroyDevice DestroyDevice;
#define X(name, ...) PFN_vk##name name;
    CALLS(X)
    DESTROYS(X)
#undef X
} table;

enum { TABLES = 128 };
static table tables[TABLES];

static void *key_of(const void *handle) { return *(void *const *)handle; }

// The caller has the lock.
static table *with_key(const void *key) {
    for (size_t i = 0; i < TABLES; i++) {
        if (tables[i].key == key)
            return &tables[i];
    }
    abort();
}

static table *table_of(const void *handle) {
    pthread_mutex_lock(&lock);
    table *found = with_key(key_of(handle));
    pthread_mutex_unlock(&lock);
    return found;
}

static void enter(const table *new) {
    pthread_mutex_lock(&lock);
    *with_key(NULL) = *new;
    pthread_mutex_unlock(&lock);
}

static void leave(table *old) {
    pthread_mutex_lock(&lock);
    old->key = NULL;
    pthread_mutex_unlock(&lock);
}

// Settling waits for queues, which another thread may be using just then.
static pthread_mutex_t queues = PTHREAD_MUTEX_INITIALIZER;

static bool uses_queues(call which) {
    return which == CALL_QueueSubmit || which == CALL_QueueWaitIdle || which == CALL_DeviceWaitIdle;
}

static void lock_queues(call which) {
    if (uses_queues(which))
        pthread_mutex_lock(&queues);
}

static void unlock_queues(call which) {
    if (uses_queues(which))
        pthread_mutex_unlock(&queues);
}

// A driver that is still at work must not see its objects destroyed, whatever the caller was told.
static void settle(call which, const table *next, const void *handle) {
    pthread_mutex_lock(&queues);
    if (which == CALL_WaitForFences || which == CALL_GetFenceStatus || which == CALL_WaitSemaphores ||
        which == CALL_GetSemaphoreCounterValue)
        next->DeviceWaitIdle((VkDevice)(uintptr_t)handle);
    if (which == CALL_QueueWaitIdle)
        next->QueueWaitIdle((VkQueue)(uintptr_t)handle);
    if (which == CALL_DeviceWaitIdle)
        next->DeviceWaitIdle((VkDevice)(uintptr_t)handle);
    pthread_mutex_unlock(&queues);
}

#define X(name, codes, object, parameters, arguments)                      \
    static VKAPI_ATTR VkResult VKAPI_CALL wrap_##name(UNPACK parameters) { \
        const table *next = table_of(device);                              \
        VkResult result;                                                   \
        if (must_fail(CALL_##name, &result)) {                             \
            if (result == VK_ERROR_DEVICE_LOST)                            \
                settle(CALL_##name, next, device);                         \
            return result;                                                 \
        }                                                                  \
        lock_queues(CALL_##name);                                          \
        result = next->name arguments;                                     \
        unlock_queues(CALL_##name);                                        \
        if (result == VK_SUCCESS && OBJECT_##object != OBJECT_NOTHING)     \
            made(OBJECT_##object, 1);                                      \
        return result;                                                     \
    }
CALLS(X)
#undef X

#define X(name, object, type)                                                                                        \
    static VKAPI_ATTR void VKAPI_CALL wrap_##name(VkDevice device, type handle, const VkAllocationCallbacks *host) { \
        table_of(device)->name(device, handle, host);                                                                \
        if (handle != VK_NULL_HANDLE)                                                                                \
            made(OBJECT_##object, -1);                                                                               \
    }
DESTROYS(X)
#undef X

// ---------------------------------------------------------------------------------------------------------------------
// Instances and devices
// ---------------------------------------------------------------------------------------------------------------------

static VKAPI_ATTR void VKAPI_CALL wrap_DestroyInstance(VkInstance instance, const VkAllocationCallbacks *host) {
    table *old = table_of(instance);
    old->DestroyInstance(instance, host);
    leave(old);
    made(OBJECT_INSTANCE, -1);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_CreateInstance(const VkInstanceCreateInfo *info,
                                                          const VkAllocationCallbacks *host, VkInstance *out) {
    table new = {0};
    VkResult result;
    if (must_fail(CALL_CreateInstance, &result))
        return result;
    result = layer_create_instance(info, host, out, &new.next_instance);
    if (result != VK_SUCCESS)
        return result;
    new.key = key_of(*out);
    LAYER_NEXT(new.DestroyInstance, new.next_instance, *out, DestroyInstance);
    LAYER_NEXT(new.EnumeratePhysicalDevices, new.next_instance, *out, EnumeratePhysicalDevices);
    LAYER_NEXT(new.EnumerateDeviceExtensionProperties, new.next_instance, *out, EnumerateDeviceExtensionProperties);
    enter(&new);
    made(OBJECT_INSTANCE, 1);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_EnumeratePhysicalDevices(VkInstance instance, uint32_t *count,
                                                                    VkPhysicalDevice *out) {
    VkResult result;
    if (must_fail(CALL_EnumeratePhysicalDevices, &result))
        return result;
    return table_of(instance)->EnumeratePhysicalDevices(instance, count, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_EnumerateDeviceExtensionProperties(VkPhysicalDevice device,
                                                                              const char *layer, uint32_t *count,
                                                                              VkExtensionProperties *out) {
    VkResult result;
    if (must_fail(CALL_EnumerateDeviceExtensionProperties, &result))
        return result;
    if (layer != NULL && strcmp(layer, KP_FAULT_LAYER) == 0) {
        *count = 0;
        return VK_SUCCESS;
    }
    return table_of(device)->EnumerateDeviceExtensionProperties(device, layer, count, out);
}

static VKAPI_ATTR void VKAPI_CALL wrap_DestroyDevice(VkDevice device, const VkAllocationCallbacks *host) {
    if (device == VK_NULL_HANDLE)
        return;
    table *old = table_of(device);
    old->DestroyDevice(device, host);
    leave(old);
    made(OBJECT_DEVICE, -1);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                        const VkAllocationCallbacks *host, VkDevice *out) {
    table new = {0};
    VkResult result;
    if (must_fail(CALL_CreateDevice, &result))
        return result;
    result = layer_create_device(physical, info, host, out, &new.next_device);
    if (result != VK_SUCCESS)
        return result;
    new.key = key_of(*out);
    LAYER_NEXT(new.DestroyDevice, new.next_device, *out, DestroyDevice);
#define X(name, ...) LAYER_NEXT(new.name, new.next_device, *out, name);
    CALLS(X)
    DESTROYS(X)
#undef X
    enter(&new);
    made(OBJECT_DEVICE, 1);
    return VK_SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------------------
// What the loader asks for
// ---------------------------------------------------------------------------------------------------------------------

static PFN_vkVoidFunction device_wrapper(const char *name) {
#define X(call, ...)                   \
    if (strcmp(name, "vk" #call) == 0) \
        return (PFN_vkVoidFunction)wrap_##call;
    CALLS(X)
    DESTROYS(X)
#undef X
    if (strcmp(name, "vkDestroyDevice") == 0)
        return (PFN_vkVoidFunction)wrap_DestroyDevice;
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name) {
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    PFN_vkVoidFunction next = table_of(device)->next_device(device, name), wrapper = device_wrapper(name);
    return next != NULL && wrapper != NULL ? wrapper : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name) {
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_instance_proc_addr;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    if (strcmp(name, "vkDestroyInstance") == 0)
        return (PFN_vkVoidFunction)wrap_DestroyInstance;
#define X(call, ...)                   \
    if (strcmp(name, "vk" #call) == 0) \
        return (PFN_vkVoidFunction)wrap_##call;
    INSTANCE_CALLS(X)
#undef X
    PFN_vkVoidFunction wrapper = device_wrapper(name);
    if (wrapper != NULL)
        return wrapper;
    return instance != VK_NULL_HANDLE ? table_of(instance)->next_instance(instance, name) : NULL;
}

LAYER_NEGOTIATE(get_instance_proc_addr, get_device_proc_addr)
