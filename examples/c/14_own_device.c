// 14 kp on a Vulkan device that the program made itself, as a renderer or another library has one: kp uses what it is
// told to be enabled, and destroys nothing of it. You should see
//
//     1 4 9

#include "example.h"

#include <kp/vulkan.h>

#define vk(call)                                          \
    do {                                                  \
        if ((call) != VK_SUCCESS) {                       \
            fprintf(stderr, "Vulkan fails: %s\n", #call); \
            exit(1);                                      \
        }                                                 \
    } while (0)

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
static kp_vulkan_queue queue;

static void find_family(void) {
    VkQueueFamilyProperties families[16];
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, NULL);
    count = count < 16 ? count : 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    while (queue.family < count && (families[queue.family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
        queue.family++;
}

// The program's own business.
static void open_vulkan(void) {
    uint32_t one = 1;
    vk(vkCreateInstance(
        &(VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &(VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                                                         .apiVersion = VK_API_VERSION_1_1}},
        NULL, &instance));
    if (vkEnumeratePhysicalDevices(instance, &one, &physical) < 0 || one == 0) {
        fprintf(stderr, "there is no Vulkan device\n");
        exit(77);
    }
    find_family();
    vkGetPhysicalDeviceFeatures2(physical, &features); // here: all of Vulkan 1.0's
    vk(vkCreateDevice(
        physical,
        &(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                              .pNext = &features,
                              .queueCreateInfoCount = 1,
                              .pQueueCreateInfos =
                                  &(VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                             .queueFamilyIndex = queue.family,
                                                             .queueCount = 1,
                                                             .pQueuePriorities = &(float){1}}},
        NULL, &device));
    vkGetDeviceQueue(device, queue.family, 0, &queue.queue);
}

static void compute(kp_manager *mgr) {
    kp_tensor *x;
    kp_program *program;
    kp_algorithm *square;
    kp_sequence *seq;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &x));
    check(kp_compile("def square(i: Index, x: Array[f32]):\n"
                     "    x[i] = x[i] * x[i]\n",
                     NULL, &program));
    check(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = &x, .memory_count = 1}, &square));
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, &x, 1));
    check(kp_record_dispatch(seq, square, NULL));
    check(kp_record_sync_local(seq, &x, 1));
    check(kp_sequence_eval(seq));
    const float *data = kp_tensor_data(x);
    printf("%g %g %g\n", (double)data[0], (double)data[1], (double)data[2]);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
    kp_program_destroy(program);
    kp_tensor_destroy(x);
}

int main(void) {
    kp_manager *mgr;
    open_vulkan();
    check(kp_vulkan_adopt_device(&(kp_vulkan_device_desc){.get_instance_proc_addr = vkGetInstanceProcAddr,
                                                          .instance = instance,
                                                          .api_version = VK_API_VERSION_1_1,
                                                          .physical_device = physical,
                                                          .device = device,
                                                          .queues = &queue,
                                                          .queue_count = 1,
                                                          .features = &features},
                                 NULL, &mgr));
    compute(mgr);
    kp_manager_destroy(mgr); // before the device
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
