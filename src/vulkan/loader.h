// The Vulkan loader (libvulkan), opened when first needed and kept until the process ends.
#ifndef KP_SRC_VULKAN_LOADER_H
#define KP_SRC_VULKAN_LOADER_H

#include "base/error.h"

#include <volk.h>

// KP_ERROR_NO_DEVICE when there is no loader, or one without Vulkan 1.1; a later call looks again. After KP_OK volk's
// loader-level functions (vkGetInstanceProcAddr, vkCreateInstance, vkEnumerateInstance...) may be called from any
// thread.
kp_result kp_loader_open(void);

#endif
