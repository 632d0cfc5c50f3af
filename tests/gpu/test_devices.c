// Devices: listing and choosing them, queues, what is missing, several managers at once.
#include "gpu.h"

#include <kp/vulkan.h>

#include <ctype.h>

static kp_device_info devices[16];

static size_t list(void) {
    size_t count = 0;
    OK(kp_devices(devices, COUNT_OF(devices), &count));
    assert_true(count >= 1);
    return count;
}

static void devices_are_listed(void **state) {
    (void)state;
    size_t count = list(), all = 0;
    OK(kp_devices(NULL, 0, &all));
    assert_int_equal(all, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(devices[i].index, i);
        assert_true(devices[i].name[0] != '\0' && devices[i].driver[0] != '\0');
        assert_true(devices[i].memory != 0 && devices[i].max_buffer_range != 0 && devices[i].max_allocation != 0);
        assert_true(devices[i].max_workgroup_count[0] >= 65535);
        assert_true(devices[i].max_workgroup_invocations >= 128 && devices[i].max_push_constants >= 128);
        assert_true(devices[i].queue_family_count >= 1);
    }
    FAILS(kp_devices(NULL, 1, &all), KP_ERROR_ARGUMENT, "kp_devices: infos is NULL");
    FAILS(kp_devices(devices, 1, NULL), KP_ERROR_ARGUMENT, "kp_devices: count is NULL");
}

static void expect_device(const char *text, size_t index) {
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.device = text}, &mgr));
    assert_int_equal(gpu_device(mgr).index, index);
    kp_manager_destroy(mgr);
    setenv("KP_DEVICE", text, 1);
    OK(kp_manager_create(NULL, &mgr));
    assert_int_equal(gpu_device(mgr).index, index);
    kp_manager_destroy(mgr);
    unsetenv("KP_DEVICE");
}

static void a_device_is_found_by_index_name_and_uuid(void **state) {
    (void)state;
    size_t count = list();
    char text[300];
    for (size_t i = 0; i < count; i++) {
        bool only = true;
        for (size_t k = 0; k < count; k++)
            only = only && (k == i || (strcmp(devices[k].name, devices[i].name) != 0 &&
                                       memcmp(devices[k].uuid, devices[i].uuid, 16) != 0));
        snprintf(text, sizeof text, "%zu", i);
        expect_device(text, i);
        if (!only)
            continue;
        snprintf(text, sizeof text, "%s", devices[i].name);
        expect_device(text, i);
        for (char *c = text; *c != '\0'; c++)
            *c = (char)toupper((unsigned char)*c);
        expect_device(text + 1, i); // a part, any case
        char *at = text;
        for (int k = 0; k < 16; k++)
            at += sprintf(at, "%02X%s", devices[i].uuid[k], k == 3 || k == 5 || k == 7 || k == 9 ? "-" : "");
        expect_device(text, i);
    }
}

static void an_unknown_device_is_refused_with_those_that_there_are(void **state) {
    (void)state;
    size_t count = list();
    kp_manager *mgr = NULL;
    char words[512];
    snprintf(words, sizeof words, "there is no device '99'; there are: 0 (%s)%s", devices[0].name,
             count > 1 ? ", *" : "");
    FAILS(kp_manager_create(&(kp_manager_desc){.device = "99"}, &mgr), KP_ERROR_ARGUMENT, words);
    FAILS(kp_manager_create(&(kp_manager_desc){.device = "no such card"}, &mgr), KP_ERROR_ARGUMENT,
          "there is no device 'no such card'; there are: *");
    FAILS(kp_manager_create(&(kp_manager_desc){.device = "ffffffff-ffff-ffff-ffff-ffffffffffff"}, &mgr),
          KP_ERROR_ARGUMENT, "there is no device 'ffffffff-*'; there are: *");
    FAILS(kp_manager_create(&(kp_manager_desc){.device = "99999999999999999999"}, &mgr), KP_ERROR_ARGUMENT, "*");
    assert_null(mgr);
    FAILS(kp_manager_create(NULL, NULL), KP_ERROR_ARGUMENT, "kp_manager_create: out is NULL");
}

static void queue_families_are_checked(void **state) {
    (void)state;
    kp_manager *mgr = NULL;
    OK(kp_manager_create(NULL, &mgr));
    kp_device_info device = gpu_device(mgr);
    assert_int_equal(kp_manager_queue_count(mgr), 1);
    assert_int_equal(kp_manager_queue_count(NULL), 0);
    kp_manager_destroy(mgr);
    uint32_t family = 99, many[65];
    FAILS(kp_manager_create(&(kp_manager_desc){.queue_families = &family, .queue_family_count = 1, .label = "m"}, &mgr),
          KP_ERROR_ARGUMENT, "m: there is no queue family 99; families that compute: *queue*");
    for (family = 0; !device.queue_families[family].compute; family++)
        continue;
    uint32_t there = device.queue_families[family].count;
    for (size_t i = 0; i < COUNT_OF(many); i++)
        many[i] = family;
    char words[200];
    snprintf(words, sizeof words, "m: queue family %u was asked for %u queues and has %u; families that compute: *",
             family, there + 1, there);
    if (there < COUNT_OF(many))
        FAILS(kp_manager_create(
                  &(kp_manager_desc){.queue_families = many, .queue_family_count = there + 1, .label = "m"}, &mgr),
              KP_ERROR_ARGUMENT, words);
    uint32_t some = there < 4 ? there : 4;
    OK(kp_manager_create(&(kp_manager_desc){.queue_families = many, .queue_family_count = some}, &mgr));
    assert_int_equal(kp_manager_queue_count(mgr), some);
    kp_sequence *seq = NULL;
    OK(kp_sequence_create(mgr, &(kp_sequence_desc){.queue = some - 1}, &seq));
    kp_sequence_destroy(seq);
    FAILS(kp_sequence_create(mgr, &(kp_sequence_desc){.queue = some, .label = "s"}, &seq), KP_ERROR_INDEX,
          "sequence 's': there is no queue *, the manager has *");
    kp_manager_destroy(mgr);
    FAILS(kp_manager_create(&(kp_manager_desc){.queue_family_count = 1}, &mgr), KP_ERROR_ARGUMENT,
          "kp_manager_create: queue_families is NULL, but queue_family_count is 1");
}

static void extensions_are_checked_and_copied(void **state) {
    (void)state;
    kp_manager *mgr = NULL;
    char name[] = "VK_EXT_no_such_thing";
    const char *names[] = {name};
    FAILS(kp_manager_create(&(kp_manager_desc){.extensions = names, .extension_count = 1, .label = "m"}, &mgr),
          KP_ERROR_UNSUPPORTED, "m: the device has no extension 'VK_EXT_no_such_thing'");
    FAILS(kp_manager_create(
              &(kp_manager_desc){.extensions = (const char *[]){NULL}, .extension_count = 1, .label = "m"}, &mgr),
          KP_ERROR_ARGUMENT, "m: extension 0 is NULL");
    snprintf(name, sizeof name, "VK_KHR_maintenance1");
    kp_result result = kp_manager_create(&(kp_manager_desc){.extensions = names, .extension_count = 1}, &mgr);
    if (result == KP_ERROR_UNSUPPORTED)
        return; // an optional one
    OK(result);
    memset(name, 'x', sizeof name - 1);
    kp_tensor_destroy(gpu_floats(mgr, "t", 1, NULL));
    kp_manager_destroy(mgr);
    gpu_errors(); // the layer says that the extension is in the core already, which is the test's fault
}

static void managers_on_all_devices_work_at_once(void **state) {
    (void)state;
    size_t count = list();
    kp_manager *mgr[2][COUNT_OF(devices)];
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            char text[32];
            snprintf(text, sizeof text, "%zu", i);
            OK(kp_manager_create(&(kp_manager_desc){.device = text}, &mgr[round][i]));
        }
    }
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            kp_tensor *x = gpu_floats(mgr[round][i], "x", 3, (float[]){1, 2, 3});
            kp_algorithm *square = gpu_multiply(mgr[round][i], x, x, x);
            gpu_once(mgr[round][i], square, &x, 1, NULL);
            assert_memory_equal(kp_tensor_data(x), ((float[]){1, 4, 9}), 12);
            kp_algorithm_destroy(square);
            kp_tensor_destroy(x);
        }
    }
    for (size_t i = 0; i < count; i++) {
        kp_manager_destroy(mgr[1][i]);
        kp_manager_destroy(mgr[0][i]);
    }
}

static bool enabled(kp_manager *mgr, const char *name) {
    kp_vulkan_manager handles;
    OK(kp_vulkan_from_manager(mgr, &handles));
    for (size_t i = 0; i < handles.extension_count; i++) {
        if (strcmp(handles.extensions[i], name) == 0)
            return true;
    }
    return false;
}

// A device that is not all of Vulkan is to be made with the extension that says so (behind extensions_layer.c there is
// one, which is not made otherwise), also where the program asks for it itself.
static void a_portability_device_is_made_as_one(void **state) {
    static const char name[] = "VK_KHR_portability_subset";
    const char *const names[] = {name};
    for (size_t asked = 0; asked < 2; asked++) {
        kp_manager *mgr = NULL;
        kp_result result =
            kp_manager_create(&(kp_manager_desc){.extensions = names, .extension_count = asked, .label = "m"}, &mgr);
        *state = mgr;
        if (asked == 1 && getenv("KP_TEST_EXTENSIONS") == NULL && result != KP_OK) {
            FAILS(result, KP_ERROR_UNSUPPORTED, "m: the device has no extension 'VK_KHR_portability_subset'");
            return;
        }
        OK(result);
        bool portable = gpu_device(mgr).portability;
        assert_true(portable || getenv("KP_TEST_EXTENSIONS") == NULL);
        assert_int_equal(enabled(mgr, name), portable);
        kp_tensor *x = gpu_floats(mgr, "x", 3, (float[]){1, 2, 3});
        kp_algorithm *square = gpu_multiply(mgr, x, x, x);
        gpu_once(mgr, square, &x, 1, NULL);
        assert_memory_equal(kp_tensor_data(x), ((float[]){1, 4, 9}), 12);
        kp_algorithm_destroy(square);
        kp_tensor_destroy(x);
        kp_manager_destroy(mgr);
        *state = NULL;
    }
}

static void without_a_driver_there_are_no_devices_and_a_clear_error(void **state) {
    (void)state;
    char *driver_files = getenv("VK_DRIVER_FILES"), *icd_files = getenv("VK_ICD_FILENAMES");
    char *kept[2] = {driver_files != NULL ? strdup(driver_files) : NULL, icd_files != NULL ? strdup(icd_files) : NULL};
    setenv("VK_DRIVER_FILES", "/nonexistent/icd.json", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent/icd.json", 1);
    size_t count = 7;
    OK(kp_devices(devices, COUNT_OF(devices), &count));
    assert_int_equal(count, 0);
    kp_manager *mgr = NULL;
    FAILS(kp_manager_create(NULL, &mgr), KP_ERROR_NO_DEVICE,
          "no Vulkan driver: the loader found none that works (Debian, Ubuntu: apt install mesa-vulkan-drivers, or the "
          "GPU "
          "vendor's; is VK_ICD_FILENAMES or VK_DRIVER_FILES set?)");
    unsetenv("VK_DRIVER_FILES");
    unsetenv("VK_ICD_FILENAMES");
    if (kept[0] != NULL)
        setenv("VK_DRIVER_FILES", kept[0], 1);
    if (kept[1] != NULL)
        setenv("VK_ICD_FILENAMES", kept[1], 1);
    free(kept[0]);
    free(kept[1]);
    gpu_errors();
    OK(kp_manager_create(NULL, &mgr)); // a later call looks again
    kp_manager_destroy(mgr);
}

static void a_missing_validation_layer_is_one_warning(void **state) {
    (void)state;
    setenv("VK_LAYER_PATH", "/nonexistent", 1);
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.validation = KP_ON}, &mgr));
    kp_manager_destroy(mgr);
    unsetenv("VK_LAYER_PATH");
    assert_true(
        gpu_matches(gpu_warning(), "validation was asked for, but VK_LAYER_KHRONOS_validation is not installed *"));
}

// Its manifest is there, and its library is not, or not one for this process; or it is of another kind.
static void use_broken_layer(const char *extensions) {
    char folder[] = "layer_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/layer.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"file_format_version\": \"1.1.0\", \"layer\": {\"name\": \"VK_LAYER_KHRONOS_validation\", "
            "\"type\": \"GLOBAL\", \"library_path\": \"/nonexistent/layer.so\", \"api_version\": \"1.3.0\", "
            "\"implementation_version\": \"1\", \"description\": \"none\"%s}}\n",
            extensions);
    fclose(file);
    setenv("VK_LAYER_PATH", folder, 1);
    kp_manager *mgr = NULL;
    kp_result result = kp_manager_create(&(kp_manager_desc){.validation = KP_ON}, &mgr);
    unsetenv("VK_LAYER_PATH");
    remove(path);
    remove(folder);
    OK(result);
    kp_manager_destroy(mgr);
    assert_true(
        gpu_matches(gpu_warning(), "validation was asked for, but VK_LAYER_KHRONOS_validation cannot be loaded *"));
}

static void a_validation_layer_that_cannot_be_loaded_is_one_warning(void **state) {
    (void)state;
    use_broken_layer("");
    use_broken_layer(
        ", \"instance_extensions\": [{\"name\": \"VK_EXT_validation_features\", \"spec_version\": \"2\"}]");
}

// A fault made on purpose, beside kp, comes back through the log; kp's own work before it gives no message.
static void validation_messages_reach_the_log(void **state) {
    (void)state;
    kp_manager *mgr = NULL;
    kp_vulkan_manager native;
    OK(kp_manager_create(&(kp_manager_desc){.validation = KP_ON}, &mgr));
    if (gpu_warning()[0] != '\0') {
        kp_manager_destroy(mgr);
        skip();
    }
    kp_tensor *x = gpu_floats(mgr, "x", 3, (float[]){1, 2, 3});
    kp_algorithm *square = gpu_multiply(mgr, x, x, x);
    gpu_once(mgr, square, &x, 1, NULL);
    assert_int_equal(gpu_errors(), 0);
    OK(kp_vulkan_from_manager(mgr, &native));
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)native.get_instance_proc_addr(native.instance, "vkGetDeviceProcAddr");
    PFN_vkCreateFence create = (PFN_vkCreateFence)get(native.device, "vkCreateFence");
    PFN_vkDestroyFence destroy = (PFN_vkDestroyFence)get(native.device, "vkDestroyFence");
    VkFence fence = VK_NULL_HANDLE;
    assert_int_equal(
        create(native.device, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO}, NULL, &fence),
        VK_SUCCESS); // not the sType of a fence
    destroy(native.device, fence, NULL);
    assert_true(gpu_errors() != 0);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(x);
    kp_manager_destroy(mgr);
    assert_int_equal(gpu_errors(), 0);
}

// An argument chooses tests by their names, in which '*' stands for any text.
int main(int argc, char **argv) {
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    unsetenv("KP_DEVICE");
    const struct CMUnitTest tests[] = {
        GPU_BARE(devices_are_listed),
        GPU_BARE(a_device_is_found_by_index_name_and_uuid),
        GPU_BARE(an_unknown_device_is_refused_with_those_that_there_are),
        GPU_BARE(queue_families_are_checked),
        GPU_BARE(extensions_are_checked_and_copied),
        GPU_BARE(managers_on_all_devices_work_at_once),
        GPU_BARE(a_portability_device_is_made_as_one),
        GPU_BARE(without_a_driver_there_are_no_devices_and_a_clear_error),
        GPU_BARE(a_missing_validation_layer_is_one_warning),
        GPU_BARE(a_validation_layer_that_cannot_be_loaded_is_one_warning),
        GPU_BARE(validation_messages_reach_the_log),
    };
    return gpu_run("devices", tests);
}
