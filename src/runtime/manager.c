// See manager.h.
#include "manager.h"

#include "algorithm.h"
#include "base/alloc.h"
#include "base/log.h"
#include "devices.h"
#include "memory.h"
#include "semaphore.h"
#include "sequence.h"
#include "vulkan/guard.h"
#include "vulkan/queues.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PRINT_BYTES = 1 << 20 };

// ---------------------------------------------------------------------------------------------------------------------
// Forks. A child has a copy of the handles, but no device behind them.
// ---------------------------------------------------------------------------------------------------------------------

static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;
static atomic_uint forks; // between this process and the one that loaded kp

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

bool kp_manager_forked(const kp_manager *manager) {
    return atomic_load_explicit(&forks, memory_order_relaxed) != manager->fork_count;
}

// ---------------------------------------------------------------------------------------------------------------------
// Checks and counts
// ---------------------------------------------------------------------------------------------------------------------

kp_result kp_manager_check(const kp_manager *manager, const char *kind, const char *label) {
    if (manager == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: manager is NULL", kind);
    const char *open = label != NULL ? " '" : "", *close = label != NULL ? "'" : "";
    label = label != NULL ? label : "";
    if (kp_manager_forked(manager))
        return kp_error_set(KP_ERROR_STATE,
                            "%s%s%s%s: manager '%s' belongs to the parent process; Vulkan does not survive a fork",
                            kind, open, label, close, manager->label);
    if (!atomic_load(&manager->alive))
        return kp_error_set(KP_ERROR_STATE, "%s%s%s%s: manager '%s' is destroyed", kind, open, label, close,
                            manager->label);
    if (atomic_load_explicit(&manager->device->lost, memory_order_relaxed))
        return kp_error_set(KP_ERROR_DEVICE_LOST, "%s%s%s%s: manager '%s' has lost its device", kind, open, label,
                            close, manager->label);
    return KP_OK;
}

kp_result kp_manager_check_making(const kp_manager *manager, const void *desc, const void *out, const char *function) {
    kp_result result = kp_manager_check(manager, function, NULL);
    if (result == KP_OK && (desc == NULL || out == NULL))
        result = kp_error_set(KP_ERROR_ARGUMENT, "%s: %s is NULL", function, desc == NULL ? "desc" : "out");
    return result;
}

void kp_manager_hold(kp_manager *manager) { atomic_fetch_add_explicit(&manager->refs, 1, memory_order_relaxed); }

void kp_manager_release(kp_manager *manager) {
    if (atomic_fetch_sub_explicit(&manager->refs, 1, memory_order_acq_rel) != 1)
        return;
    kp_staging_destroy(&manager->staging);
    pthread_mutex_destroy(&manager->lock);
    pthread_mutex_destroy(&manager->order_lock);
    pthread_rwlock_destroy(&manager->changes);
    kp_alloc_free(manager->order);
    kp_alloc_free(manager->order_waits);
    kp_alloc_free(manager->label);
    kp_alloc_free(manager);
}

bool kp_manager_hold_child(atomic_uint *holds, const atomic_bool *alive) {
    unsigned count = atomic_load_explicit(holds, memory_order_relaxed);
    do {
        if (count == 0 || !atomic_load(alive))
            return false;
    } while (!atomic_compare_exchange_weak(holds, &count, count + 1));
    return true;
}

void kp_manager_link(kp_manager *manager, kp_list *list, kp_list_link *link) {
    pthread_mutex_lock(&manager->lock);
    kp_list_add(list, link);
    pthread_mutex_unlock(&manager->lock);
}

void kp_manager_unlink(kp_manager *manager, kp_list *list, kp_list_link *link) {
    pthread_mutex_lock(&manager->lock);
    kp_list_remove(list, link);
    pthread_mutex_unlock(&manager->lock);
}

void kp_manager_adopt(kp_manager *manager, kp_recording *recording) {
    pthread_mutex_lock(&manager->lock);
    recording->next = manager->orphans;
    manager->orphans = recording;
    atomic_store(&manager->has_orphans, true);
    pthread_mutex_unlock(&manager->lock);
}

void kp_manager_reap(kp_manager *manager) {
    if (!atomic_load_explicit(&manager->has_orphans, memory_order_relaxed) || !atomic_load(&manager->alive))
        return;
    kp_recording *done = NULL;
    kp_guard_lock(&manager->lock);
    for (kp_recording **at = &manager->orphans; *at != NULL;) {
        kp_recording *recording = *at;
        if (kp_command_done(manager->device, recording->command)) {
            *at = recording->next;
            recording->next = done;
            done = recording;
        } else {
            at = &recording->next;
        }
    }
    atomic_store(&manager->has_orphans, manager->orphans != NULL);
    kp_guard_unlock(&manager->lock);
    while (done != NULL) {
        kp_recording *next = done->next;
        kp_recording_end(done);
        kp_recording_destroy(done);
        done = next;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Making one
// ---------------------------------------------------------------------------------------------------------------------

// What the caller asks for, or else the environment.
static bool choose(kp_toggle toggle, const char *variable, const char *word, bool otherwise) {
    if (toggle != KP_DEFAULT)
        return toggle == KP_ON;
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, word) == 0 ? !otherwise : otherwise;
}

static kp_launch_device launch_device(const kp_device *device) {
    kp_launch_device launch = {.max_workgroup_invocations = device->info.max_workgroup_invocations,
                               .max_push_constants = device->info.max_push_constants,
                               .subgroup_size = device->info.subgroup_size,
                               .type = kp_devices_type(device->info.type),
                               .driver = KP_LAUNCH_DRIVER_OTHER};
    memcpy(launch.max_workgroup_count, device->info.max_workgroup_count, sizeof launch.max_workgroup_count);
    memcpy(launch.max_workgroup_size, device->info.max_workgroup_size, sizeof launch.max_workgroup_size);
    if (device->limits.driver == VK_DRIVER_ID_MESA_LLVMPIPE)
        launch.driver = KP_LAUNCH_DRIVER_LAVAPIPE;
    else if (device->limits.driver == VK_DRIVER_ID_GOOGLE_SWIFTSHADER)
        launch.driver = KP_LAUNCH_DRIVER_SWIFTSHADER;
    return launch;
}

static kp_result open_device(const kp_manager_desc *desc, kp_device **out) {
    kp_instance *instance = NULL;
    kp_result result = kp_instance_create(choose(desc->validation, "KP_VALIDATION", "1", false),
                                          choose(desc->labels, "KP_LABELS", "1", false), &instance);
    if (result != KP_OK)
        return result;
    uint32_t index = 0;
    const char *from = desc->device == NULL ? "KP_DEVICE" : NULL;
    result = kp_devices_choose(instance, from != NULL ? getenv(from) : desc->device, from, &index);
    if (result != KP_OK) {
        kp_instance_destroy(instance);
        return result;
    }
    return kp_device_create(instance,
                            &(kp_device_desc){.index = index,
                                              .families = desc->queue_families,
                                              .family_count = desc->queue_family_count,
                                              .separate = !choose(desc->unified, "KP_UNIFIED", "0", true),
                                              .extensions = desc->extensions,
                                              .extension_count = desc->extension_count,
                                              .label = desc->label},
                            out);
}

_Static_assert(KP_FAMILY_COMPUTE == KP_QUEUES_COMPUTE && KP_FAMILY_TRANSFER == KP_QUEUES_TRANSFER,
               "the library's names for uses of queues");

static kp_result check_desc(const kp_manager_desc *desc) {
    if (desc->queue_family_count != 0 && desc->queue_families == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "kp_manager_create: queue_families is NULL, but queue_family_count is %zu",
                            desc->queue_family_count);
    if (desc->extension_count != 0 && desc->extensions == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_manager_create: extensions is NULL, but extension_count is %zu",
                            desc->extension_count);
    return KP_OK;
}

// What can fail: all but the device, which is set.
static kp_result allocate(kp_manager *manager) {
    const kp_device *device = manager->device;
    manager->label = kp_alloc_text(device->label);
    manager->order = kp_alloc_zero(device->all_queue_count, sizeof *manager->order);
    manager->order_waits = kp_alloc_zero(device->all_queue_count, sizeof *manager->order_waits);
    return manager->label != NULL && manager->order != NULL && manager->order_waits != NULL
               ? KP_OK
               : kp_error_host_memory(strlen(device->label));
}

static void init(kp_manager *manager, const kp_manager_desc *desc) {
    const kp_device *device = manager->device;
    atomic_store(&manager->refs, 1);
    atomic_store(&manager->alive, true);
    manager->fork_count = atomic_load(&forks);
    manager->unified = device->unified_flags != 0 && choose(desc->unified, "KP_UNIFIED", "0", true);
    manager->regroup = choose(desc->regroup, "KP_REGROUP", "0", true);
    manager->launch = launch_device(device);
    manager->print = desc->print;
    manager->print_payload = desc->print_payload;
    bool to_log = desc->print == NULL && desc->print_places == KP_DEFAULT;
    manager->print_places = to_log || choose(desc->print_places, "KP_PRINT_PLACES", "1", false);
    manager->print_words = (desc->print_bytes != 0 ? desc->print_bytes : DEFAULT_PRINT_BYTES) / 4;
    pthread_mutex_init(&manager->lock, NULL);
    pthread_mutex_init(&manager->order_lock, NULL);
    pthread_rwlock_init(&manager->changes, NULL);
    kp_pipelines_init(&manager->pipelines);
    kp_staging_init(&manager->staging);
}

kp_result kp_manager_open(kp_device *device, const kp_manager_desc *desc, kp_manager **out) {
    pthread_once(&forks_watched, watch_forks);
    kp_manager *manager = kp_alloc_zero(1, sizeof *manager);
    if (manager == NULL) {
        kp_device_release(device);
        return kp_error_host_memory(sizeof *manager);
    }
    manager->device = device;
    kp_result result = allocate(manager);
    if (result != KP_OK) {
        kp_device_release(device);
        kp_alloc_free(manager->label);
        kp_alloc_free(manager->order);
        kp_alloc_free(manager->order_waits);
        kp_alloc_free(manager);
        return result;
    }
    init(manager, desc);
    kp_log_write(KP_LOG_DEBUG, "manager '%s': device %u, %s, %s; %u queue%s%s, %s memory", manager->label,
                 device->info.index, device->info.name, device->info.driver, device->queue_count,
                 device->queue_count == 1 ? "" : "s",
                 device->all_queue_count > device->queue_count ? " and one for copies" : "",
                 manager->unified ? "unified" : "separate");
    *out = manager;
    return KP_OK;
}

kp_result kp_manager_create(const kp_manager_desc *desc, kp_manager **out) {
    const kp_manager_desc defaults = {0};
    desc = desc != NULL ? desc : &defaults;
    if (out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_manager_create: out is NULL");
    kp_device *device = NULL;
    kp_result result = check_desc(desc);
    if (result == KP_OK)
        result = open_device(desc, &device);
    return result == KP_OK ? kp_manager_open(device, desc, out) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Destroying one
// ---------------------------------------------------------------------------------------------------------------------

static void relieve_recordings(kp_manager *manager) {
    for (kp_recording *r = manager->orphans; r != NULL; r = r->next)
        kp_recording_relieve(r);
    for (KP_LIST_EACH(kp_sequence, s, &manager->sequences))
        kp_recording_relieve(s->recording);
}

static void end_recordings(kp_manager *manager) {
    while (manager->orphans != NULL) {
        kp_recording *recording = manager->orphans;
        manager->orphans = recording->next;
        kp_recording_end(recording);
        kp_recording_destroy(recording);
    }
    for (KP_LIST_EACH(kp_sequence, s, &manager->sequences)) {
        kp_recording_end(s->recording);
        kp_sequence_kill(s);
    }
}

void kp_manager_destroy(kp_manager *manager) {
    if (manager == NULL || kp_manager_forked(manager) || !atomic_load(&manager->alive))
        return;
    kp_staging_drop(&manager->staging);
    relieve_recordings(manager);
    kp_device_wait(manager->device);
    end_recordings(manager);
    for (KP_LIST_EACH(kp_semaphore, s, &manager->semaphores))
        kp_semaphore_kill(s);
    kp_semaphore_clear_retired(manager);
    for (KP_LIST_EACH(kp_algorithm, a, &manager->algorithms))
        kp_algorithm_kill(a);
    kp_pipelines_destroy(manager);
    for (KP_LIST_EACH(kp_memory, m, &manager->memories))
        kp_memory_kill(m);
    atomic_store(&manager->alive, false);
    kp_device_release(manager->device); // views may still hold it
    manager->device = NULL;
    kp_manager_release(manager);
}

// ---------------------------------------------------------------------------------------------------------------------
// Facts
// ---------------------------------------------------------------------------------------------------------------------

kp_result kp_manager_device(const kp_manager *manager, kp_device_info *out) {
    kp_result result = kp_manager_check(manager, "kp_manager_device", NULL);
    if (result == KP_OK && out == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_manager_device: out is NULL");
    if (result == KP_OK)
        *out = kp_devices_describe(&manager->device->info, &manager->device->limits, &manager->device->features);
    return result;
}

uint32_t kp_manager_queue_count(const kp_manager *manager) {
    return manager != NULL && atomic_load(&manager->alive) ? manager->device->queue_count : 0;
}

kp_result kp_manager_memory(const kp_manager *manager, kp_memory_stats *out) {
    kp_result result = kp_manager_check(manager, "kp_manager_memory", NULL);
    if (result == KP_OK && out == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_manager_memory: out is NULL");
    if (result != KP_OK)
        return result;
    kp_heap *heap = &manager->device->heap;
    kp_guard_lock(&heap->lock);
    *out = (kp_memory_stats){.used = atomic_load_explicit(&manager->used, memory_order_relaxed),
                             .reserved = heap->reserved,
                             .peak = heap->peak,
                             .allocations = heap->allocations};
    kp_guard_unlock(&heap->lock);
    kp_heap_budget(manager->device, &out->budget, &out->device_usage);
    return KP_OK;
}

kp_result kp_manager_trim(kp_manager *manager) {
    kp_result result = kp_manager_check(manager, "kp_manager_trim", NULL);
    if (result != KP_OK)
        return result;
    kp_manager_reap(manager);
    kp_staging_drop(&manager->staging);
    kp_pipelines_trim(manager);
    kp_command_drop_idle(manager->device);
    kp_heap_trim(manager->device);
    return KP_OK;
}
