// A Vulkan layer that counts what kp records and submits, and tells where memory is mapped and what objects and ops are
// called. The test finds all that commands_layer.h has in the library. For one driver.
#include "commands_layer.h"

#include "../layer_link.h"

#include <stdatomic.h>
#include <stdio.h>

extern atomic_uint kp_test_commands[COMMAND_KINDS];
LAYER_API atomic_uint kp_test_commands[COMMAND_KINDS];

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkMapMemory next_map;
static PFN_vkCmdPipelineBarrier next_barrier;
static PFN_vkCmdCopyBuffer next_copy;
static PFN_vkCmdDispatch next_dispatch;
static PFN_vkQueueSubmit next_submit;
static PFN_vkSetDebugUtilsObjectNameEXT next_set_name;
static PFN_vkCmdBeginDebugUtilsLabelEXT next_begin_label;

enum { MOST = 256 };
static struct {
    uint64_t memory;
    unsigned char *at;
} maps[MOST];
static unsigned map_count;

// Where the memory was mapped last; NULL: it never was. For tests of one thread.
LAYER_API void *kp_test_mapped(uint64_t memory) {
    for (unsigned i = map_count; i-- > 0;) {
        if (maps[i].memory == memory)
            return maps[i].at;
    }
    return NULL;
}

enum { NAME = 64 };
static struct {
    VkObjectType type;
    uint64_t handle;
    char text[NAME];
} names[MOST];
static char labels[MOST][NAME];
static unsigned name_count, label_count;

LAYER_API const char *kp_test_name(int type, uint64_t handle) {
    for (unsigned i = name_count; i-- > 0;) {
        if ((int)names[i].type == type && (handle == 0 || names[i].handle == handle))
            return names[i].text;
    }
    return NULL;
}

LAYER_API const char *kp_test_label(unsigned back) {
    return back < label_count ? labels[label_count - 1 - back] : NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL set_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info) {
    if (name_count < MOST) {
        names[name_count].type = info->objectType;
        names[name_count].handle = info->objectHandle;
        snprintf(names[name_count++].text, NAME, "%s", info->pObjectName);
    }
    return next_set_name != NULL ? next_set_name(device, info) : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer commands, const VkDebugUtilsLabelEXT *info) {
    if (label_count < MOST)
        snprintf(labels[label_count++], NAME, "%s", info->pLabelName);
    if (next_begin_label != NULL)
        next_begin_label(commands, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                          VkDeviceSize size, VkMemoryMapFlags flags, void **out) {
    VkResult result = next_map(device, memory, offset, size, flags, out);
    if (result == VK_SUCCESS && map_count < MOST) {
        maps[map_count].memory = LAYER_NUMBER(memory);
        maps[map_count++].at = (unsigned char *)*out - offset;
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                                          VkDependencyFlags flags, uint32_t count, const VkMemoryBarrier *memory,
                                          uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                                          uint32_t image_count, const VkImageMemoryBarrier *images) {
    atomic_fetch_add(&kp_test_commands[COMMAND_BARRIER], 1);
    next_barrier(commands, from, to, flags, count, memory, buffer_count, buffers, image_count, images);
}

static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count,
                                       const VkBufferCopy *regions) {
    atomic_fetch_add(&kp_test_commands[COMMAND_COPY], 1);
    next_copy(commands, from, to, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    atomic_fetch_add(&kp_test_commands[COMMAND_DISPATCH], 1);
    next_dispatch(commands, x, y, z);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
    atomic_fetch_add(&kp_test_commands[COMMAND_SUBMIT], 1);
    return next_submit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *host, VkInstance *out) {
    return layer_create_instance(info, host, out, &next_instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    VkResult result = layer_create_device(physical, info, host, out, &next_device);
    if (result != VK_SUCCESS)
        return result;
    LAYER_NEXT(next_map, next_device, *out, MapMemory);
    LAYER_NEXT(next_barrier, next_device, *out, CmdPipelineBarrier);
    LAYER_NEXT(next_copy, next_device, *out, CmdCopyBuffer);
    LAYER_NEXT(next_dispatch, next_device, *out, CmdDispatch);
    LAYER_NEXT(next_submit, next_device, *out, QueueSubmit);
    LAYER_NEXT(next_set_name, next_device, *out, SetDebugUtilsObjectNameEXT);
    LAYER_NEXT(next_begin_label, next_device, *out, CmdBeginDebugUtilsLabelEXT);
    return VK_SUCCESS;
}

LAYER(next_instance, next_device, LAYER_CALL(CreateInstance, create_instance), LAYER_CALL(CreateDevice, create_device),
      LAYER_CALL(MapMemory, map), LAYER_CALL(CmdPipelineBarrier, barrier), LAYER_CALL(CmdCopyBuffer, copy),
      LAYER_CALL(CmdDispatch, dispatch), LAYER_CALL(QueueSubmit, submit),
      LAYER_CALL(SetDebugUtilsObjectNameEXT, set_name), LAYER_CALL(CmdBeginDebugUtilsLabelEXT, begin_label))
