// A Vulkan layer that hides what a driver has for atomics on floats, and counts what modules do with it:
//
//     KP_TEST_ATOMICS=all       hides nothing
//     KP_TEST_ATOMICS=shared    leaves those in shared memory
//     KP_TEST_ATOMICS=add       leaves additions, and hides exchanges
//     KP_TEST_ATOMICS=none      hides the lot
//
// The test finds kp_test_atomic_adds in the library. For one driver.
#include "../layer_link.h"

#include <spirv/unified1/spirv.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

extern atomic_uint kp_test_atomic_adds;
LAYER_API atomic_uint kp_test_atomic_adds; // OpAtomicFAddEXT in all modules so far

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkGetPhysicalDeviceFeatures2 next_features;
static PFN_vkCreateShaderModule next_module;

static bool is_face(const char *name) {
    const char *face = getenv("KP_TEST_ATOMICS");
    return face != NULL && strcmp(face, name) == 0;
}

static void hide(VkPhysicalDeviceShaderAtomicFloatFeaturesEXT *f) {
    if (is_face("none") || is_face("shared"))
        f->shaderBufferFloat32Atomics = f->shaderBufferFloat32AtomicAdd = VK_FALSE;
    if (is_face("none"))
        f->shaderSharedFloat32Atomics = f->shaderSharedFloat32AtomicAdd = VK_FALSE;
    if (is_face("add"))
        f->shaderBufferFloat32Atomics = f->shaderSharedFloat32Atomics = VK_FALSE;
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out) {
    next_features(device, out);
    for (VkBaseOutStructure *s = out->pNext; s != NULL; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT)
            hide((VkPhysicalDeviceShaderAtomicFloatFeaturesEXT *)s);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkShaderModule *out) {
    size_t count = info->codeSize / sizeof *info->pCode;
    for (size_t at = 5; at < count && info->pCode[at] >> SpvWordCountShift != 0;
         at += info->pCode[at] >> SpvWordCountShift) {
        if ((info->pCode[at] & SpvOpCodeMask) == SpvOpAtomicFAddEXT)
            atomic_fetch_add(&kp_test_atomic_adds, 1);
    }
    return next_module(device, info, host, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *host, VkInstance *out) {
    VkResult result = layer_create_instance(info, host, out, &next_instance);
    if (result == VK_SUCCESS)
        LAYER_NEXT(next_features, next_instance, *out, GetPhysicalDeviceFeatures2);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *host, VkDevice *out) {
    VkResult result = layer_create_device(physical, info, host, out, &next_device);
    if (result == VK_SUCCESS)
        LAYER_NEXT(next_module, next_device, *out, CreateShaderModule);
    return result;
}

LAYER(next_instance, next_device, LAYER_CALL(CreateInstance, create_instance), LAYER_CALL(CreateDevice, create_device),
      LAYER_CALL(GetPhysicalDeviceFeatures2, get_features), LAYER_CALL(CreateShaderModule, create_module))
