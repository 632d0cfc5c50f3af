// Vulkan's result codes as words and as kp_results.
#ifndef KP_SRC_VULKAN_NAMES_H
#define KP_SRC_VULKAN_NAMES_H

#include "base/error.h"

#include <volk.h>

// KP_OK for a success code. Otherwise stores "<call>: <code>" (with `label`: "<label>: <call>: <code>") and returns the
// kp_result that fits.
kp_result kp_names_check(VkResult result, const char *call, const char *label);

#endif
