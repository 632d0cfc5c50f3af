// See loader.h. Debian's volk keeps its function pointers in globals and does not lock: they are written once each,
// under the lock, and every reader has passed through the lock before.
#include "loader.h"

#include "guard.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; // of the loader's instances and devices

void kp_loader_lock(void) { kp_guard_lock(&list_lock); }
void kp_loader_unlock(void) { kp_guard_unlock(&list_lock); }

kp_result kp_loader_open(void) {
    pthread_mutex_lock(&lock);
    if (!is_open)
        is_open = volkInitialize() == VK_SUCCESS && vkGetInstanceProcAddr != NULL && vkCreateInstance != NULL;
    bool found = is_open;
    bool modern = found && vkEnumerateInstanceVersion != NULL;
    pthread_mutex_unlock(&lock);
    if (!found)
        return kp_error_set(KP_ERROR_NO_DEVICE,
                            "no Vulkan loader: libvulkan.so.1 cannot be opened (Debian, Ubuntu: apt "
                            "install libvulkan1 mesa-vulkan-drivers)");
    if (!modern)
        return kp_error_set(KP_ERROR_NO_DEVICE, "the Vulkan loader is too old: it knows Vulkan 1.0 only, 1.1 is needed "
                                                "(Debian, Ubuntu: apt install libvulkan1)");
    return KP_OK;
}
