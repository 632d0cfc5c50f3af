// Finding the device that the caller means.
#ifndef KP_SRC_RUNTIME_DEVICES_H
#define KP_SRC_RUNTIME_DEVICES_H

#include "vulkan/info.h"

#include <kp/runtime.h>

// The device's facts as the public header has them.
kp_device_info kp_devices_describe(const kp_info *info);

// `text` as kp_manager_desc.device; NULL or "": the best. KP_ERROR_NO_DEVICE when there is none at all,
// KP_ERROR_ARGUMENT when none is called so.
kp_result kp_devices_choose(const kp_instance *instance, const char *text, uint32_t *out);

#endif
