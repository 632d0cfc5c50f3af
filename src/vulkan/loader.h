// The Vulkan loader (libvulkan), opened when first needed and kept until the process ends.
#ifndef KP_SRC_VULKAN_LOADER_H
#define KP_SRC_VULKAN_LOADER_H

#include "base/error.h"

#include <volk.h>

// KP_ERROR_NO_DEVICE when there is no loader, or one without Vulkan 1.1; a later call looks again. After KP_OK volk's
// loader-level functions (vkGetInstanceProcAddr, vkCreateInstance, vkEnumerateInstance...) may be called from any
// thread.
kp_result kp_loader_open(void);

// To be held where instances and devices are made, loaded and destroyed, and where objects are named: for the names,
// the loader (1.3.239, for one) walks its list of all devices without a lock of its own, and crashes where another
// thread changes it.
void kp_loader_lock(void);
void kp_loader_unlock(void);

#endif
