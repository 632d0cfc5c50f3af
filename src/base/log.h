// The log callback, as the layers use it. Never call these while holding a lock: the callback is the user's code.
#ifndef KP_SRC_BASE_LOG_H
#define KP_SRC_BASE_LOG_H

#include "error.h"

// Costs one relaxed load when nobody listens at this level.
void kp_log_write(kp_log_level level, const char *format, ...) KP_PRINTF(2, 3);

// True when somebody listens at this level: for messages that are dear to make.
bool kp_log_wants(kp_log_level level);

#endif
