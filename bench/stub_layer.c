// A Vulkan layer that can answer for the driver when work is submitted and waited for: everything else of an evaluation
// is kp's own time then, and the layer's clock says when the driver was first called. call.py loads it a second time,
// by its path, for the two variables at the end. For one device and one thread at a time.
#include "../tests/layer_link.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

LAYER_API extern int32_t stub_answers; // not 0: the driver is not called
LAYER_API extern int64_t stub_first;   // nanoseconds of CLOCK_MONOTONIC at the first call since it was 0
LAYER_API extern int64_t stub_calls;   // how many there were

int32_t stub_answers;
int64_t stub_first, stub_calls;

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkQueueSubmit next_submit;
static PFN_vkResetFences next_reset;
static PFN_vkWaitForFences next_wait;
static PFN_vkGetFenceStatus next_status;

// Whether to answer.
static int note(void) {
    stub_calls++;
    if (stub_first == 0) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        stub_first = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    }
    return stub_answers;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
    return note() ? VK_SUCCESS : next_submit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL reset(VkDevice device, uint32_t count, const VkFence *fences) {
    return note() ? VK_SUCCESS : next_reset(device, count, fences);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all,
                                           uint64_t timeout) {
    return note() ? VK_SUCCESS : next_wait(device, count, fences, all, timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL status(VkDevice device, VkFence fence) {
    return note() ? VK_SUCCESS : next_status(device, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *host, VkInstance *out) {
    return layer_create_instance(info, host, out, &next_instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    VkResult result = layer_create_device(physical, info, host, out, &next_device);
    if (result == VK_SUCCESS) {
        LAYER_NEXT(next_submit, next_device, *out, QueueSubmit);
        LAYER_NEXT(next_reset, next_device, *out, ResetFences);
        LAYER_NEXT(next_wait, next_device, *out, WaitForFences);
        LAYER_NEXT(next_status, next_device, *out, GetFenceStatus);
    }
    return result;
}

LAYER(next_instance, next_device, LAYER_CALL(QueueSubmit, submit), LAYER_CALL(ResetFences, reset),
      LAYER_CALL(WaitForFences, wait), LAYER_CALL(GetFenceStatus, status), LAYER_CALL(CreateInstance, create_instance),
      LAYER_CALL(CreateDevice, create_device))
