// Finding the device that the caller means.
#ifndef KP_SRC_RUNTIME_DEVICES_H
#define KP_SRC_RUNTIME_DEVICES_H

#include "vulkan/info.h"

#include <kp/runtime.h>

kp_device_type kp_devices_type(VkPhysicalDeviceType type);

// The device's facts as the public header has them.
kp_device_info kp_devices_describe(const kp_info *info, const kp_info_limits *limits, const kp_features *features);

// `text` as kp_manager_desc.device; NULL or "": the best. `from` is what says so, for the message, or NULL: the caller.
// KP_ERROR_NO_DEVICE when there is none at all, KP_ERROR_ARGUMENT when none is called so.
kp_result kp_devices_choose(const kp_instance *instance, const char *text, const char *from, uint32_t *out);

#endif
