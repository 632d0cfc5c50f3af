// Locks that are held across Vulkan calls. A validation message may arrive in the middle of such a call, and the log
// callback is the user's code, which must never run while kp holds a lock: so messages that arrive under a guard are
// kept, and written when the thread has left its last guard.
#ifndef KP_SRC_VULKAN_GUARD_H
#define KP_SRC_VULKAN_GUARD_H

#include "base/log.h"

#include <pthread.h>

void kp_guard_lock(pthread_mutex_t *lock);
void kp_guard_unlock(pthread_mutex_t *lock); // writes the messages that were kept, when it was the thread's last

// The same of a lock that many may read under, or one write.
void kp_guard_read(pthread_rwlock_t *lock);
void kp_guard_write(pthread_rwlock_t *lock);
void kp_guard_leave(pthread_rwlock_t *lock);

// Logs the text now, or when this thread has left its last guard.
void kp_guard_log(kp_log_level level, const char *text);

#endif
