// runtime/devices, vulkan/info: which of several devices is taken, and what is believed of their memory. The devices
// are made up here.
#include "test.h"

#include "runtime/devices.h"
#include "vulkan/info.h"

typedef struct card {
    const char *name;
    VkPhysicalDeviceType type;
    uint32_t api_version;
    uint8_t uuid; // each byte
    uint64_t heaps[2];
} card;

#define V1_0 VK_API_VERSION_1_0
#define V1_3 VK_API_VERSION_1_3
#define OTHER VK_PHYSICAL_DEVICE_TYPE_OTHER
#define INTEGRATED VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
#define DISCRETE VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU
#define VIRTUAL VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU
#define CPU VK_PHYSICAL_DEVICE_TYPE_CPU

// A handle is the address of its card.
static const card *card_of(VkPhysicalDevice device) { return (const card *)(const void *)device; }

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out) {
    memset(out, 0, sizeof *out);
    out->apiVersion = card_of(device)->api_version;
    out->deviceType = card_of(device)->type;
    snprintf(out->deviceName, sizeof out->deviceName, "%s", card_of(device)->name);
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out) {
    VkPhysicalDeviceIDProperties *id = out->pNext;
    memset(id->deviceUUID, card_of(device)->uuid, sizeof id->deviceUUID);
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out) {
    memset(out, 0, sizeof *out);
    out->memoryHeapCount = 2;
    for (int i = 0; i < 2; i++)
        out->memoryHeaps[i] = (VkMemoryHeap){card_of(device)->heaps[i], i == 0 ? VK_MEMORY_HEAP_DEVICE_LOCAL_BIT : 0};
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
    (void)device, (void)families;
    *count = 0;
}

enum { MOST = 8 };
static VkPhysicalDevice handles[MOST];

static kp_instance with(const card *cards, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        handles[i] = (VkPhysicalDevice)(uintptr_t)&cards[i];
    return (kp_instance){.api_version = V1_3,
                         .GetPhysicalDeviceProperties = get_properties,
                         .GetPhysicalDeviceProperties2 = get_properties2,
                         .GetPhysicalDeviceMemoryProperties = get_memory,
                         .GetPhysicalDeviceQueueFamilyProperties = get_families,
                         .devices = handles,
                         .device_count = count};
}

static void takes(const card *cards, uint32_t count, const char *text, uint32_t right) {
    const kp_instance instance = with(cards, count);
    uint32_t found = UINT32_MAX;
    assert_ok(kp_devices_choose(&instance, text, NULL, &found));
    assert_int_equal(found, right);
}
#define TAKES(cards, text, right) takes(cards, COUNT_OF(cards), text, right)

static void the_best_kind_of_device_is_the_default(void **state) {
    (void)state;
    static const VkPhysicalDeviceType order[] = {DISCRETE, INTEGRATED, VIRTUAL, CPU, OTHER};
    for (size_t better = 0; better < COUNT_OF(order); better++) {
        for (size_t worse = better; worse < COUNT_OF(order); worse++) {
            const card cards[] = {{"w", order[worse], V1_3, 1, {0}},
                                  {"b", order[better], V1_3, 2, {0}},
                                  {"w", order[worse], V1_3, 3, {0}}};
            uint32_t right = better == worse ? 0 : 1; // of equals the first, which the system prefers
            TAKES(cards, NULL, right);
            TAKES(cards, "", right);
        }
    }
}

static void a_device_that_cannot_be_used_is_no_default(void **state) {
    (void)state;
    const card cards[] = {{"old card", DISCRETE, V1_0, 1, {0}}, {"llvmpipe", CPU, V1_3, 2, {0}}};
    TAKES(cards, NULL, 1);
    TAKES(cards, "old", 0); // for its own error to say why not
    const kp_instance instance = with(cards, 1), none = with(cards, 0);
    uint32_t found;
    assert_fails(kp_devices_choose(&instance, NULL, NULL, &found), KP_ERROR_NO_DEVICE,
                 "no usable Vulkan device: those that there are have Vulkan 1.0 only");
    assert_fails_like(kp_devices_choose(&none, NULL, NULL, &found), KP_ERROR_NO_DEVICE,
                      "no Vulkan device: the loader has ");
}

static void names_choose_the_best_that_has_them(void **state) {
    (void)state;
    const card cards[] = {{"GeForce RTX", INTEGRATED, V1_3, 0x11, {0}},
                          {"geforce GTX", DISCRETE, V1_3, 0x22, {0}},
                          {"llvmpipe", CPU, V1_3, 0xab, {0}}};
    TAKES(cards, "GEFORCE", 1);
    TAKES(cards, "rtx", 0);
    TAKES(cards, "2", 2);
    TAKES(cards, "abababab-abab-abab-abab-abababababab", 2);
    TAKES(cards, "11111111111111111111111111111111", 0);
    const kp_instance instance = with(cards, 3);
    uint32_t found;
    assert_fails(kp_devices_choose(&instance, "3", NULL, &found), KP_ERROR_ARGUMENT,
                 "there is no device '3'; there are: 0 (GeForce RTX), 1 (geforce GTX), 2 (llvmpipe)");
    assert_fails_like(kp_devices_choose(&instance, "Radeon", "KP_DEVICE", &found), KP_ERROR_ARGUMENT,
                      "KP_DEVICE: there is no device 'Radeon'; there are: 0 ");
}

// Some drivers tell of allocations larger than any of their heaps.
static void no_allocation_is_larger_than_the_largest_heap(void **state) {
    (void)state;
    static const uint64_t gib = (uint64_t)1 << 30;
    const card cards[] = {{"small", DISCRETE, V1_0, 1, {2 * gib, gib}}, {"host", DISCRETE, V1_0, 1, {gib, 3 * gib}}};
    const kp_instance instance = with(cards, 2); // of Vulkan 1.0, which sets no limit at all
    static kp_info info;
    static kp_info_limits limits;
    static kp_features features;
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(kp_info_query(&instance, i, NULL, &info, &limits, &features, NULL, NULL));
        assert_true(info.max_allocation == (i == 0 ? 2 : 3) * gib);
        assert_true(info.memory == (i == 0 ? 2 : 1) * gib);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_kind_of_device_is_the_default),
        cmocka_unit_test(a_device_that_cannot_be_used_is_no_default),
        cmocka_unit_test(names_choose_the_best_that_has_them),
        cmocka_unit_test(no_allocation_is_larger_than_the_largest_heap),
    };
    return cmocka_run_group_tests_name("unit.devices", tests, NULL, NULL);
}
