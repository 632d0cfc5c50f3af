// Proves that a test run would notice a mistake: `probe lavapipe` exits with 0 when the manager runs on that driver and
// a fault committed on purpose (two writes to one buffer with no barrier between them) comes back through kp's log as a
// message of the validation layer's synchronization checks. Run with KP_VALIDATION=1 by tools/run_matrix.py.
#include <kp/kp.h>
#include <kp/vulkan.h>
#include <stdio.h>
#include <string.h>

static void count_hazards(void *hazards, kp_log_level level, const char *message) {
    if (level >= KP_LOG_ERROR && strstr(message, "SYNC-HAZARD-WRITE-AFTER-WRITE")) {
        ++*(int *)hazards;
    } else if (level >= KP_LOG_WARNING) {
        printf("log: %s\n", message);
    }
}

// Records the fault, submits nothing. False when Vulkan itself fails.
static bool write_twice(const kp_vulkan_manager *vk, const kp_vulkan_buffer *target) {
#define LOAD_INSTANCE(name) PFN_##name name = (PFN_##name)vk->get_instance_proc_addr(vk->instance, #name)
#define LOAD(name) PFN_##name name = (PFN_##name)vkGetDeviceProcAddr(vk->device, #name)
    LOAD_INSTANCE(vkGetDeviceProcAddr);
    LOAD(vkCreateCommandPool);
    LOAD(vkDestroyCommandPool);
    LOAD(vkAllocateCommandBuffers);
    LOAD(vkBeginCommandBuffer);
    LOAD(vkEndCommandBuffer);
    LOAD(vkCmdFillBuffer);

    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    if (vkCreateCommandPool(vk->device,
                            &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                                       .queueFamilyIndex = vk->queue_family},
                            NULL, &pool) != VK_SUCCESS) {
        return false;
    }
    bool fine =
        vkAllocateCommandBuffers(vk->device,
                                 &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                                .commandPool = pool,
                                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                                .commandBufferCount = 1},
                                 &commands) == VK_SUCCESS &&
        vkBeginCommandBuffer(
            commands, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}) == VK_SUCCESS;
    if (fine) {
        vkCmdFillBuffer(commands, target->buffer, target->offset, target->size, 1);
        vkCmdFillBuffer(commands, target->buffer, target->offset, target->size, 2);
        vkEndCommandBuffer(commands);
    }
    vkDestroyCommandPool(vk->device, pool, NULL);
    return fine;
}

// The name that each driver's device goes by.
static bool is_device_of(const char *driver, const kp_device_info *info) {
    const char *part = strcmp(driver, "lavapipe") == 0      ? "llvmpipe"
                       : strcmp(driver, "swiftshader") == 0 ? "SwiftShader"
                                                            : "NVIDIA";
    return strstr(info->name, part) != NULL;
}

int main(int argc, char **argv) {
    int hazards = 0, status = 1;
    kp_manager *mgr = NULL;
    kp_tensor *target = NULL;
    kp_device_info info = {0};
    kp_vulkan_manager vk;
    kp_vulkan_buffer buffer;

    kp_set_log(count_hazards, &hazards, KP_LOG_WARNING);
    if (argc != 2 || kp_manager_create(NULL, &mgr) != KP_OK || kp_manager_device(mgr, &info) != KP_OK ||
        kp_tensor_create(mgr, &(kp_tensor_desc){.count = 64}, &target) != KP_OK ||
        kp_vulkan_from_manager(mgr, &vk) != KP_OK || kp_vulkan_from_tensor(target, &buffer) != KP_OK ||
        !write_twice(&vk, &buffer)) {
        printf("probe: %s\n", kp_last_error());
    } else if (!is_device_of(argv[1], &info)) {
        printf("probe: wanted a device of %s, got %s\n", argv[1], info.name);
    } else if (hazards == 0) {
        printf("probe: the validation layer did not report a fault committed on purpose\n");
    } else {
        printf("%s: %s, %s\n", argv[1], info.name, info.driver);
        status = 0;
    }
    kp_tensor_destroy(target);
    kp_manager_destroy(mgr);
    kp_set_log(NULL, NULL, KP_LOG_NONE);
    return status;
}
