// See semaphore.h, and kp/external.h.
#include "semaphore.h"

#include "base/alloc.h"
#include "vulkan/names.h"

#include <kp/vulkan.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Lifetime
// ---------------------------------------------------------------------------------------------------------------------

static void unref(kp_semaphore *semaphore) {
    if (atomic_fetch_sub_explicit(&semaphore->refs, 1, memory_order_acq_rel) != 1)
        return;
    kp_manager_release(semaphore->manager);
    kp_alloc_free(semaphore->label);
    kp_alloc_free(semaphore);
}

bool kp_semaphore_hold(kp_semaphore *semaphore) {
    if (!kp_manager_hold_child(&semaphore->holds, &semaphore->alive))
        return false;
    atomic_fetch_add_explicit(&semaphore->refs, 1, memory_order_relaxed);
    return true;
}

// The work that used it is done, but Mesa's drivers look at a semaphore once more after they have signalled a
// submission's fence (vk_queue_submit_cleanup, in 22.3 and later): so it goes when many others have, or with the
// manager.
static void retire(kp_manager *manager, VkSemaphore handle) {
    unsigned slot = atomic_fetch_add_explicit(&manager->retirements, 1, memory_order_relaxed) % KP_MANAGER_RETIRED;
    VkSemaphore old = atomic_exchange(&manager->retired[slot], handle);
    if (old != VK_NULL_HANDLE)
        manager->device->vk.vkDestroySemaphore(manager->device->handle, old, NULL);
}

void kp_semaphore_clear_retired(kp_manager *manager) {
    for (unsigned i = 0; i < KP_MANAGER_RETIRED; i++)
        retire(manager, VK_NULL_HANDLE);
}

static void drop(kp_semaphore *semaphore) {
    if (atomic_fetch_sub_explicit(&semaphore->holds, 1, memory_order_acq_rel) != 1)
        return;
    if (!semaphore->foreign)
        retire(semaphore->manager, semaphore->handle);
    semaphore->handle = VK_NULL_HANDLE;
}

void kp_semaphore_let_go(kp_semaphore *semaphore) {
    drop(semaphore);
    unref(semaphore);
}

void kp_semaphore_kill(kp_semaphore *semaphore) {
    if (atomic_exchange(&semaphore->alive, false))
        drop(semaphore);
}

void kp_semaphore_destroy(kp_semaphore *semaphore) {
    if (semaphore == NULL || kp_manager_forked(semaphore->manager))
        return;
    kp_manager_reap(semaphore->manager);
    kp_manager_unlink(semaphore->manager, &semaphore->manager->semaphores, &semaphore->link);
    kp_semaphore_kill(semaphore);
    unref(semaphore);
}

// ---------------------------------------------------------------------------------------------------------------------
// Making one
// ---------------------------------------------------------------------------------------------------------------------

static VkSemaphoreTypeCreateInfo type_of(const kp_semaphore_desc *desc) {
    return (VkSemaphoreTypeCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                       .semaphoreType =
                                           desc->binary ? VK_SEMAPHORE_TYPE_BINARY : VK_SEMAPHORE_TYPE_TIMELINE,
                                       .initialValue = desc->value};
}

static kp_result check_kind(const kp_device *device, const kp_semaphore_desc *desc, const char *label) {
    if (desc->binary && desc->value != 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': a binary semaphore has no value, %llu was given", label,
                            (unsigned long long)desc->value);
    if (!desc->binary && !device->features.timeline.timelineSemaphore)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "semaphore '%s': %s lacks timelineSemaphore", label,
                            device->info.name);
    const kp_handle_type handle = desc->exported != KP_HANDLE_NONE ? desc->exported : desc->imported;
    if (handle != KP_HANDLE_NONE && handle != KP_HANDLE_OPAQUE_FD && handle != KP_HANDLE_SYNC_FD)
        return kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': semaphores are shared by OPAQUE_FD and SYNC_FD alone",
                            label);
    if (handle == KP_HANDLE_SYNC_FD && !desc->binary)
        return kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': SYNC_FD is for binary semaphores, this is a timeline",
                            label);
    return KP_OK;
}

static VkExternalSemaphoreHandleTypeFlagBits handle_type(kp_handle_type handle) {
    return handle == KP_HANDLE_SYNC_FD ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT
                                       : VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
}

// The extension, and what the driver does with it.
static kp_result check_share(const kp_device *device, const kp_semaphore_desc *desc, bool import, const char *label) {
    if (!device->features.semaphore_fd)
        return kp_error_set(KP_ERROR_UNSUPPORTED,
                            "semaphore '%s': %s lacks VK_KHR_external_semaphore_fd, which sharing one needs", label,
                            device->info.name);
    const kp_handle_type handle = import ? desc->imported : desc->exported;
    VkSemaphoreTypeCreateInfo type = type_of(desc);
    VkExternalSemaphoreProperties can = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    device->instance->GetPhysicalDeviceExternalSemaphoreProperties(
        device->physical,
        &(VkPhysicalDeviceExternalSemaphoreInfo){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                                                 .pNext = desc->binary ? NULL : &type,
                                                 .handleType = handle_type(handle)},
        &can);
    VkExternalSemaphoreFeatureFlagBits wants =
        import ? VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT : VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
    if ((can.externalSemaphoreFeatures & wants) != 0)
        return KP_OK;
    return kp_error_set(KP_ERROR_UNSUPPORTED,
                        "semaphore '%s': %s has VK_KHR_external_semaphore_fd, but cannot %s %s semaphores by %s", label,
                        device->info.name, import ? "import" : "export", desc->binary ? "binary" : "timeline",
                        handle == KP_HANDLE_SYNC_FD ? "SYNC_FD" : "it");
}

static kp_result make_handle(kp_device *device, const kp_semaphore_desc *desc, VkSemaphore *out) {
    VkSemaphoreTypeCreateInfo type = type_of(desc);
    const VkExportSemaphoreCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                .pNext = desc->binary ? NULL : &type,
                                                .handleTypes = handle_type(desc->exported)};
    const void *next = desc->exported != KP_HANDLE_NONE ? &export : export.pNext;
    return KP_VK(device, CreateSemaphore, device->handle,
                 &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = next}, NULL, out);
}

// The driver takes the descriptor that it is given where the import goes well: it gets one of its own. What SYNC_FD
// brings lasts until it is waited for.
static kp_result import(kp_device *device, VkSemaphore handle, int fd, kp_handle_type type, const char *label) {
    bool sync = type == KP_HANDLE_SYNC_FD, done = sync && fd == -1;
    int own = done ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0 && !done)
        return kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': the file descriptor %d: %s", label, fd,
                            strerror(errno));
    kp_result result = KP_VK(device, ImportSemaphoreFdKHR, device->handle,
                             &(VkImportSemaphoreFdInfoKHR){.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                                           .semaphore = handle,
                                                           .flags = sync ? VK_SEMAPHORE_IMPORT_TEMPORARY_BIT : 0,
                                                           .handleType = handle_type(type),
                                                           .fd = own});
    if (result != KP_OK && !done)
        close(own);
    if (result == KP_ERROR_DRIVER) // VK_ERROR_INVALID_EXTERNAL_HANDLE
        return kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': the file descriptor %d is no semaphore that %s can use",
                            label, fd, device->info.name);
    return result;
}

// Takes over `handle`, also when it fails.
static kp_result wrap(kp_manager *manager, const kp_semaphore_desc *desc, VkSemaphore handle, bool foreign,
                      kp_semaphore **out) {
    kp_device *device = manager->device;
    kp_semaphore *semaphore = kp_alloc_zero(1, sizeof *semaphore);
    char *label = kp_alloc_text(desc->label != NULL ? desc->label : "semaphore");
    if (semaphore == NULL || label == NULL) {
        kp_alloc_free(semaphore);
        kp_alloc_free(label);
        if (!foreign)
            device->vk.vkDestroySemaphore(device->handle, handle, NULL);
        return kp_error_host_memory(sizeof *semaphore);
    }
    *semaphore = (kp_semaphore){.manager = manager,
                                .label = label,
                                .handle = handle,
                                .binary = desc->binary,
                                .exported = desc->exported,
                                .foreign = foreign};
    atomic_store(&semaphore->shared, desc->exported != KP_HANDLE_NONE);
    atomic_store(&semaphore->refs, 1);
    atomic_store(&semaphore->holds, 1);
    atomic_store(&semaphore->alive, true);
    kp_device_name(device, VK_OBJECT_TYPE_SEMAPHORE, KP_DEVICE_HANDLE(handle), label);
    kp_manager_hold(manager);
    kp_manager_link(manager, &manager->semaphores, &semaphore->link);
    *out = semaphore;
    return KP_OK;
}

static kp_result check_arguments(const kp_manager *manager, kp_semaphore **out, const char *function) {
    kp_result result = kp_manager_check(manager, function, NULL);
    if (result == KP_OK && out == NULL)
        result = kp_error_set(KP_ERROR_ARGUMENT, "%s: out is NULL", function);
    return result;
}

static const char *label_of(const kp_semaphore_desc *desc) { return desc->label != NULL ? desc->label : "semaphore"; }

kp_result kp_semaphore_create(kp_manager *manager, const kp_semaphore_desc *desc, kp_semaphore **out) {
    const kp_semaphore_desc defaults = {0};
    desc = desc != NULL ? desc : &defaults;
    kp_result result = check_arguments(manager, out, "kp_semaphore_create");
    if (result == KP_OK)
        result = check_kind(manager->device, desc, label_of(desc));
    if (result == KP_OK && desc->imported != KP_HANDLE_NONE)
        result = kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': imported is for kp_semaphore_import", label_of(desc));
    if (result == KP_OK && desc->exported != KP_HANDLE_NONE)
        result = check_share(manager->device, desc, false, label_of(desc));
    VkSemaphore handle = VK_NULL_HANDLE;
    if (result == KP_OK)
        result = make_handle(manager->device, desc, &handle);
    return result == KP_OK ? wrap(manager, desc, handle, false, out) : result;
}

kp_result kp_semaphore_import(kp_manager *manager, int fd, const kp_semaphore_desc *desc, kp_semaphore **out) {
    const kp_semaphore_desc defaults = {0};
    desc = desc != NULL ? desc : &defaults;
    kp_result result = check_arguments(manager, out, "kp_semaphore_import");
    if (result == KP_OK)
        result = check_kind(manager->device, desc, label_of(desc));
    if (result == KP_OK && (desc->value != 0 || desc->exported != KP_HANDLE_NONE))
        result = kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': an imported semaphore %s", label_of(desc),
                              desc->value != 0 ? "has its value" : "cannot be exported again");
    if (result == KP_OK)
        result = check_share(manager->device, desc, true, label_of(desc));
    VkSemaphore handle = VK_NULL_HANDLE;
    if (result == KP_OK)
        result = make_handle(manager->device, desc, &handle);
    if (result != KP_OK)
        return result;
    result = import(manager->device, handle, fd, desc->imported, label_of(desc));
    if (result != KP_OK) {
        manager->device->vk.vkDestroySemaphore(manager->device->handle, handle, NULL);
        return result;
    }
    result = wrap(manager, desc, handle, false, out);
    if (result == KP_OK)
        atomic_store(&(*out)->shared, true);
    return result;
}

kp_result kp_vulkan_adopt_semaphore(kp_manager *manager, VkSemaphore semaphore, const kp_semaphore_desc *desc,
                                    kp_semaphore **out) {
    const kp_semaphore_desc defaults = {0};
    desc = desc != NULL ? desc : &defaults;
    kp_result result = check_arguments(manager, out, "kp_vulkan_adopt_semaphore");
    if (result == KP_OK && semaphore == VK_NULL_HANDLE)
        result = kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_semaphore: semaphore is VK_NULL_HANDLE");
    if (result == KP_OK)
        result = check_kind(manager->device, desc, label_of(desc));
    if (result == KP_OK && (desc->value != 0 || desc->exported != KP_HANDLE_NONE || desc->imported != KP_HANDLE_NONE))
        result = kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': an adopted semaphore %s", label_of(desc),
                              desc->value != 0                   ? "has its value"
                              : desc->exported != KP_HANDLE_NONE ? "is not kp's to export"
                                                                 : "is not imported");
    return result == KP_OK ? wrap(manager, desc, semaphore, true, out) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Use
// ---------------------------------------------------------------------------------------------------------------------

void kp_semaphore_submitted(kp_semaphore *semaphore, bool signals, uint64_t value) {
    uint64_t *most = signals ? &semaphore->promised : &semaphore->awaited;
    atomic_store(&semaphore->pending, signals);
    *most = value > *most ? value : *most;
}

void kp_semaphore_relieve(kp_semaphore *semaphore) {
    const kp_device *device = semaphore->manager->device;
    uint64_t now = UINT64_MAX;
    if (semaphore->binary || semaphore->foreign || atomic_load(&semaphore->shared) ||
        device->vk.vkGetSemaphoreCounterValue(device->handle, semaphore->handle, &now) != VK_SUCCESS ||
        semaphore->awaited <= now || semaphore->promised > now)
        return;
    device->vk.vkSignalSemaphore(device->handle,
                                 &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                                          .semaphore = semaphore->handle,
                                                          .value = semaphore->awaited});
}

// Alive and held: to be let go.
static kp_result enter(const kp_semaphore *semaphore, const char *function, kp_semaphore **out) {
    if (semaphore == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: semaphore is NULL", function);
    kp_result result = kp_manager_check(semaphore->manager, "semaphore", semaphore->label);
    *out = (kp_semaphore *)(uintptr_t)semaphore; // const to the caller
    if (result == KP_OK && !kp_semaphore_hold(*out))
        result = kp_error_set(KP_ERROR_STATE, "semaphore '%s' is destroyed", semaphore->label);
    return result;
}

static kp_result enter_timeline(const kp_semaphore *semaphore, const char *function, kp_semaphore **out) {
    kp_result result = enter(semaphore, function, out);
    if (result != KP_OK || !semaphore->binary)
        return result;
    kp_semaphore_let_go(*out);
    return kp_error_set(KP_ERROR_TYPE, "semaphore '%s' is binary: the host cannot see it", semaphore->label);
}

// Of SYNC_FD the signal that was submitted, which the descriptor takes away.
static kp_result export_held(kp_semaphore *semaphore, int *fd) {
    kp_device *device = semaphore->manager->device;
    bool sync = semaphore->exported == KP_HANDLE_SYNC_FD;
    if (sync && !atomic_exchange(&semaphore->pending, false))
        return kp_error_set(KP_ERROR_STATE,
                            "semaphore '%s' has no signal to export: submit work that signals it, and export it once "
                            "for each, before anything waits for it",
                            semaphore->label);
    kp_result result = KP_VK(device, GetSemaphoreFdKHR, device->handle,
                             &(VkSemaphoreGetFdInfoKHR){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                                        .semaphore = semaphore->handle,
                                                        .handleType = handle_type(semaphore->exported)},
                             fd);
    if (sync && result != KP_OK)
        atomic_store(&semaphore->pending, true);
    return result;
}

kp_result kp_semaphore_export(const kp_semaphore *semaphore, int *fd) {
    kp_semaphore *held = NULL;
    if (fd == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_semaphore_export: fd is NULL");
    kp_result result = enter(semaphore, "kp_semaphore_export", &held);
    if (result != KP_OK)
        return result;
    if (semaphore->exported == KP_HANDLE_NONE)
        result = kp_error_set(KP_ERROR_STATE, "semaphore '%s' was not made to be exported (kp_semaphore_desc.exported)",
                              semaphore->label);
    else
        result = export_held(held, fd);
    kp_semaphore_let_go(held);
    return result;
}

kp_result kp_semaphore_value(const kp_semaphore *semaphore, uint64_t *value) {
    kp_semaphore *held = NULL;
    if (value == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_semaphore_value: value is NULL");
    kp_result result = enter_timeline(semaphore, "kp_semaphore_value", &held);
    if (result != KP_OK)
        return result;
    kp_device *device = semaphore->manager->device;
    result = KP_VK(device, GetSemaphoreCounterValue, device->handle, semaphore->handle, value);
    kp_semaphore_let_go(held);
    return result;
}

kp_result kp_semaphore_signal(kp_semaphore *semaphore, uint64_t value) {
    kp_semaphore *held = NULL;
    uint64_t now = 0;
    kp_result result = enter_timeline(semaphore, "kp_semaphore_signal", &held);
    if (result != KP_OK)
        return result;
    kp_device *device = semaphore->manager->device;
    result = KP_VK(device, GetSemaphoreCounterValue, device->handle, semaphore->handle, &now);
    if (result == KP_OK && value <= now)
        result = kp_error_set(KP_ERROR_ARGUMENT, "semaphore '%s': its value is %llu, which cannot become %llu",
                              semaphore->label, (unsigned long long)now, (unsigned long long)value);
    if (result == KP_OK)
        result = KP_VK(device, SignalSemaphore, device->handle,
                       &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                                .semaphore = semaphore->handle,
                                                .value = value});
    kp_semaphore_let_go(held);
    return result;
}

kp_result kp_semaphore_wait(kp_semaphore *semaphore, uint64_t value, uint64_t timeout) {
    kp_semaphore *held = NULL;
    kp_result result = enter_timeline(semaphore, "kp_semaphore_wait", &held);
    if (result != KP_OK)
        return result;
    kp_device *device = semaphore->manager->device;
    VkResult waited = device->vk.vkWaitSemaphores(device->handle,
                                                  &(VkSemaphoreWaitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                                                         .semaphoreCount = 1,
                                                                         .pSemaphores = &semaphore->handle,
                                                                         .pValues = &value},
                                                  timeout);
    if (waited == VK_TIMEOUT)
        result = kp_error_set(KP_ERROR_TIMEOUT, "semaphore '%s' did not reach %llu within %llu ns", semaphore->label,
                              (unsigned long long)value, (unsigned long long)timeout);
    else
        result = kp_device_check(device, waited, "vkWaitSemaphores");
    kp_semaphore_let_go(held);
    return result;
}

kp_result kp_vulkan_from_semaphore(const kp_semaphore *semaphore, VkSemaphore *out) {
    kp_semaphore *held = NULL;
    if (out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_from_semaphore: out is NULL");
    kp_result result = enter(semaphore, "kp_vulkan_from_semaphore", &held);
    if (result != KP_OK)
        return result;
    *out = semaphore->handle;
    atomic_store(&held->shared, true);
    kp_semaphore_let_go(held);
    return KP_OK;
}

static kp_result check_list(const kp_manager *manager, const kp_semaphore_point *points, size_t count, const char *what,
                            const char *who) {
    if (count > KP_MAX_SEMAPHORE_POINTS)
        return kp_error_set(KP_ERROR_LIMIT, "%s: at most %d %s, %zu were given", who, KP_MAX_SEMAPHORE_POINTS, what,
                            count);
    if (count != 0 && points == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s is NULL, but there are to be %zu", who, what, count);
    for (size_t i = 0; i < count; i++) {
        const kp_semaphore *semaphore = points[i].semaphore;
        if (semaphore == NULL)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: %s[%zu].semaphore is NULL", who, what, i);
        if (semaphore->manager != manager)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: semaphore '%s' belongs to another manager", who,
                                semaphore->label);
        if (!atomic_load(&semaphore->alive))
            return kp_error_set(KP_ERROR_STATE, "%s: semaphore '%s' is destroyed", who, semaphore->label);
    }
    return KP_OK;
}

// A timeline only goes up. What is in flight may still raise it: that is for the program to know.
static kp_result check_signals(const kp_manager *manager, const kp_submit_desc *desc, const char *who) {
    kp_device *device = manager->device;
    for (size_t i = 0; i < desc->signal_count; i++) {
        const kp_semaphore_point *point = &desc->signals[i];
        uint64_t now = 0;
        if (point->semaphore->binary)
            continue;
        if (!kp_semaphore_hold(point->semaphore))
            return kp_error_set(KP_ERROR_STATE, "%s: semaphore '%s' is destroyed", who, point->semaphore->label);
        kp_result result = KP_VK(device, GetSemaphoreCounterValue, device->handle, point->semaphore->handle, &now);
        if (result == KP_OK && point->value <= now)
            result =
                kp_error_set(KP_ERROR_ARGUMENT, "%s: the value of semaphore '%s' is %llu, which cannot become %llu",
                             who, point->semaphore->label, (unsigned long long)now, (unsigned long long)point->value);
        kp_semaphore_let_go(point->semaphore);
        if (result != KP_OK)
            return result;
    }
    return KP_OK;
}

// In one submission a semaphore gets one value, above the one that is waited for, and a binary one is waited for once.
static kp_result check_once(const kp_submit_desc *desc, const char *who) {
    for (size_t i = 0; i < desc->signal_count; i++) {
        const kp_semaphore_point *point = &desc->signals[i];
        for (size_t k = 0; k < i; k++) {
            if (desc->signals[k].semaphore == point->semaphore)
                return kp_error_set(KP_ERROR_ARGUMENT, "%s: signals[%zu] and signals[%zu] are one semaphore, '%s'", who,
                                    k, i, point->semaphore->label);
        }
        for (size_t k = 0; k < desc->wait_count && !point->semaphore->binary; k++) {
            if (desc->waits[k].semaphore == point->semaphore && desc->waits[k].value >= point->value)
                return kp_error_set(KP_ERROR_ARGUMENT,
                                    "%s: the value of semaphore '%s' cannot become %llu after a wait for %llu", who,
                                    point->semaphore->label, (unsigned long long)point->value,
                                    (unsigned long long)desc->waits[k].value);
        }
    }
    for (size_t i = 0; i < desc->wait_count; i++) {
        for (size_t k = 0; k < i && desc->waits[i].semaphore->binary; k++) {
            if (desc->waits[k].semaphore == desc->waits[i].semaphore)
                return kp_error_set(KP_ERROR_ARGUMENT, "%s: waits[%zu] and waits[%zu] are one binary semaphore, '%s'",
                                    who, k, i, desc->waits[i].semaphore->label);
        }
    }
    return KP_OK;
}

static bool waits_for(const kp_submit_desc *desc, const kp_semaphore *semaphore) {
    for (size_t i = 0; i < desc->wait_count; i++) {
        if (desc->waits[i].semaphore == semaphore)
            return true;
    }
    return false;
}

// Whether a binary one that nobody else has is signalled, or will be by what is submitted; `otherwise` of all others.
static bool is_set(const kp_semaphore *semaphore, bool otherwise) {
    bool known = semaphore->binary && !semaphore->foreign && !atomic_load(&semaphore->shared);
    return known ? atomic_load(&semaphore->pending) : otherwise;
}

// A wait without a signal would never end, and may hold up the driver itself.
static kp_result check_turns(const kp_submit_desc *desc, const char *who) {
    for (size_t i = 0; i < desc->wait_count; i++) {
        if (!is_set(desc->waits[i].semaphore, true))
            return kp_error_set(KP_ERROR_STATE,
                                "%s: the binary semaphore '%s' has no signal to wait for: submit what signals it first",
                                who, desc->waits[i].semaphore->label);
    }
    for (size_t i = 0; i < desc->signal_count; i++) {
        const kp_semaphore *semaphore = desc->signals[i].semaphore;
        if (is_set(semaphore, false) && !waits_for(desc, semaphore))
            return kp_error_set(KP_ERROR_STATE,
                                "%s: the binary semaphore '%s' is signalled already, and nothing has waited for that",
                                who, semaphore->label);
    }
    return KP_OK;
}

kp_result kp_semaphore_check_points(const kp_manager *manager, const kp_submit_desc *desc, const char *who) {
    kp_result result = check_list(manager, desc->waits, desc->wait_count, "waits", who);
    if (result == KP_OK)
        result = check_list(manager, desc->signals, desc->signal_count, "signals", who);
    if (result == KP_OK)
        result = check_once(desc, who);
    if (result == KP_OK)
        result = check_turns(desc, who);
    return result == KP_OK ? check_signals(manager, desc, who) : result;
}
