// See names.h. One table gives each code its name and its kp_result.
#include "names.h"

// X(code, kp_result)
#define RESULTS(X)                                              \
    X(VK_SUCCESS, KP_OK)                                        \
    X(VK_NOT_READY, KP_OK)                                      \
    X(VK_TIMEOUT, KP_OK)                                        \
    X(VK_EVENT_SET, KP_OK)                                      \
    X(VK_EVENT_RESET, KP_OK)                                    \
    X(VK_INCOMPLETE, KP_OK)                                     \
    X(VK_PIPELINE_COMPILE_REQUIRED, KP_OK)                      \
    X(VK_ERROR_OUT_OF_HOST_MEMORY, KP_ERROR_HOST_MEMORY)        \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY, KP_ERROR_DEVICE_MEMORY)    \
    X(VK_ERROR_INITIALIZATION_FAILED, KP_ERROR_DRIVER)          \
    X(VK_ERROR_DEVICE_LOST, KP_ERROR_DEVICE_LOST)               \
    X(VK_ERROR_MEMORY_MAP_FAILED, KP_ERROR_HOST_MEMORY)         \
    X(VK_ERROR_LAYER_NOT_PRESENT, KP_ERROR_UNSUPPORTED)         \
    X(VK_ERROR_EXTENSION_NOT_PRESENT, KP_ERROR_UNSUPPORTED)     \
    X(VK_ERROR_FEATURE_NOT_PRESENT, KP_ERROR_UNSUPPORTED)       \
    X(VK_ERROR_INCOMPATIBLE_DRIVER, KP_ERROR_NO_DEVICE)         \
    X(VK_ERROR_TOO_MANY_OBJECTS, KP_ERROR_LIMIT)                \
    X(VK_ERROR_FORMAT_NOT_SUPPORTED, KP_ERROR_UNSUPPORTED)      \
    X(VK_ERROR_FRAGMENTED_POOL, KP_ERROR_DEVICE_MEMORY)         \
    X(VK_ERROR_UNKNOWN, KP_ERROR_DRIVER)                        \
    X(VK_ERROR_OUT_OF_POOL_MEMORY, KP_ERROR_DEVICE_MEMORY)      \
    X(VK_ERROR_INVALID_EXTERNAL_HANDLE, KP_ERROR_DRIVER)        \
    X(VK_ERROR_FRAGMENTATION, KP_ERROR_DEVICE_MEMORY)           \
    X(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, KP_ERROR_DRIVER) \
    X(VK_ERROR_VALIDATION_FAILED_EXT, KP_ERROR_DRIVER)          \
    X(VK_ERROR_INVALID_SHADER_NV, KP_ERROR_SPIRV)               \
    X(VK_ERROR_NOT_PERMITTED_KHR, KP_ERROR_DRIVER)

// "VK_ERROR_DEVICE_LOST"; "VK_RESULT_?" for a code that is not known.
static const char *name_of(VkResult result) {
    switch (result) {
#define X(code, fits) \
    case code:        \
        return #code;
        RESULTS(X)
#undef X
    default:
        return "VK_RESULT_?";
    }
}

static kp_result as_kp(VkResult result) {
    switch (result) {
#define X(code, fits) \
    case code:        \
        return fits;
        RESULTS(X)
#undef X
    default:
        return result >= 0 ? KP_OK : KP_ERROR_DRIVER;
    }
}

kp_result kp_names_check(VkResult result, const char *call, const char *label) {
    kp_result fits = as_kp(result);
    if (fits == KP_OK)
        return KP_OK;
    return kp_error_set(fits, "%s%s%s: %s (%d)", label != NULL ? label : "", label != NULL ? ": " : "", call,
                        name_of(result), (int)result);
}
