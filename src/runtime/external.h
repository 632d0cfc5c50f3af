// Memory and semaphores that are shared by file descriptor.
#ifndef KP_SRC_RUNTIME_EXTERNAL_H
#define KP_SRC_RUNTIME_EXTERNAL_H

#include "base/error.h"

#include <kp/runtime.h>
#include <volk.h>

// Vulkan's word for it; 0 for NONE. KP_ERROR_ARGUMENT, without words, for what is none of them.
kp_result kp_external_memory_handle(kp_handle_type type, VkExternalMemoryHandleTypeFlagBits *out);

#endif
