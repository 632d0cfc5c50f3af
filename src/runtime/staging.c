// See staging.h. An array moves in pieces. Each of some threads takes the next piece, copies it into a slot of its own
// and submits the device's copy of it, and meanwhile goes on with its other slot; downwards the other way round. So the
// processor and the device copy at the same time, and one core's memcpy, which is slower than a PCIe link, is not what
// the speed is.
#include "staging.h"

#include "base/alloc.h"
#include "memory.h"
#include "sequence.h"
#include "tensor.h"
#include "vulkan/guard.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 4 << 20, // bytes, at most
    COPIES_FROM =
        1 << 20, // bytes of an array that goes by a queue for copies: for less, a wait between queues costs more
};

typedef struct job {
    kp_manager *manager;
    kp_tensor *tensor;
    unsigned char *data;
    bool up;
    bool copies;          // by the queue for copies
    atomic_ullong next;   // byte that no thread has taken
    atomic_bool failed;   //
    pthread_mutex_t lock; // guards what follows: the first failure
    kp_result result;     //
    char words[512];      //
} job;

typedef struct worker {
    job *job;
    kp_staging_slot *slots; // two
    pthread_t thread;
} worker;

// ---------------------------------------------------------------------------------------------------------------------
// The op
// ---------------------------------------------------------------------------------------------------------------------

// The first memory's device side into the second's, as bytes.
static kp_result record(const kp_op *op, kp_recorder *recorder) {
    return kp_recorder_copy(recorder, op->memory[0], KP_SIDE_DEVICE, op->memory[1], KP_SIDE_DEVICE);
}

static const kp_op_kind kind = {"stage", sizeof(kp_op), NULL, record, NULL, NULL};

// ---------------------------------------------------------------------------------------------------------------------
// Slots
// ---------------------------------------------------------------------------------------------------------------------

// A queue for copies alone, where there is one: the program's, or else the device's own. Others: 0.
static uint32_t copy_queue(const kp_device *device) {
    for (uint32_t i = 0; i < device->all_queue_count; i++) {
        if (!kp_device_queue_computes(device, i))
            return i;
    }
    return 0;
}

// Memory of somebody else's, or that is shared, is not for a queue that the program knows nothing of.
static bool goes_by_copies(const kp_tensor *tensor) {
    uint32_t queue = copy_queue(tensor->manager->device);
    bool hidden = queue >= tensor->manager->device->queue_count,
         others = tensor->root->device_side.foreign || tensor->root->share.handle_type != 0;
    return queue != 0 && tensor->bytes >= COPIES_FROM && !(hidden && others);
}

static kp_sequence *sequence_of(const job *j, const kp_staging_slot *slot) { return slot->sequences[j->copies]; }

static kp_result make_sequence(const job *j, kp_staging_slot *slot) {
    if (sequence_of(j, slot) != NULL)
        return KP_OK;
    const kp_sequence_desc desc = {.queue = j->copies ? copy_queue(j->manager->device) : 0, .label = "staging"};
    return kp_sequence_open(j->manager, &desc, &slot->sequences[j->copies]);
}

static kp_result make_slot(const job *j, kp_staging_slot *slot) {
    kp_result result = KP_OK;
    if (slot->memory == NULL)
        result = kp_tensor_make(j->manager,
                                &(kp_tensor_desc){.dtype = KP_U8,
                                                  .count = PIECE,
                                                  .memory_type = KP_MEMORY_HOST,
                                                  .uninitialized = true,
                                                  .label = "staging"},
                                &(kp_tensor_given){0}, &slot->memory);
    return result == KP_OK ? make_sequence(j, slot) : result;
}

static void forget(kp_staging_slot *slot) {
    kp_tensor_destroy(slot->part);
    kp_tensor_destroy(slot->target);
    slot->part = slot->target = NULL;
}

// All of it, to be made anew. What is in flight goes on, and keeps what it uses.
static void drop_slot(kp_staging_slot *slot) {
    forget(slot);
    kp_sequence_destroy(slot->sequences[0]);
    kp_sequence_destroy(slot->sequences[1]);
    kp_tensor_destroy(slot->memory);
    *slot = (kp_staging_slot){0};
}

// Waits for the submissions that use the tensor: where the host reaches it itself, nothing else would.
static kp_result await_users(const job *j, kp_staging_slot *slot) {
    kp_memory *tensor = j->tensor;
    kp_result result = make_sequence(j, slot);
    if (result == KP_OK)
        result = (j->up ? kp_record_sync_device : kp_record_sync_local)(sequence_of(j, slot), &tensor, 1);
    if (result == KP_OK)
        result = kp_sequence_eval(sequence_of(j, slot));
    if (result != KP_OK)
        drop_slot(slot);
    return result;
}

// Submits the copy of the bytes from `first` on.
static kp_result start(const job *j, kp_staging_slot *slot, uint64_t first, uint64_t bytes) {
    unsigned char *data = j->data + first;
    kp_result result = make_slot(j, slot);
    if (result == KP_OK)
        result = kp_tensor_view(slot->memory, &(kp_tensor_view_desc){.count = bytes}, &slot->part);
    if (result == KP_OK)
        result = kp_tensor_bytes_view(j->tensor, first, bytes, &slot->target);
    if (result == KP_OK) {
        kp_memory *up[2] = {slot->part, slot->target}, *down[2] = {slot->target, slot->part};
        result = kp_op_record(&kind, sequence_of(j, slot), j->up ? up : down, 2);
    }
    if (result == KP_OK && j->up)
        memcpy(kp_tensor_data(slot->memory), data, (size_t)bytes);
    if (result == KP_OK)
        result = kp_sequence_eval_async(sequence_of(j, slot));
    if (result != KP_OK) {
        drop_slot(slot);
        return result;
    }
    slot->to = j->up ? NULL : data;
    return KP_OK;
}

// Waits for the piece in flight, if there is one, and takes it out.
static kp_result finish(const job *j, kp_staging_slot *slot) {
    if (slot->part == NULL)
        return KP_OK;
    kp_result result = kp_sequence_await(sequence_of(j, slot), UINT64_MAX);
    if (result == KP_OK && slot->to != NULL)
        memcpy(slot->to, kp_tensor_data(slot->part), (size_t)slot->part->bytes);
    if (result == KP_OK)
        forget(slot);
    else
        drop_slot(slot);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Threads
// ---------------------------------------------------------------------------------------------------------------------

static void fail(job *j, kp_result result) {
    pthread_mutex_lock(&j->lock);
    if (j->result == KP_OK) {
        j->result = result;
        snprintf(j->words, sizeof j->words, "%s", kp_last_error());
    }
    pthread_mutex_unlock(&j->lock);
    atomic_store(&j->failed, true);
}

// Where the host reaches the tensor itself, there is nothing to submit.
static void copy_shared(const job *j, uint64_t first, uint64_t bytes) {
    unsigned char *host = (unsigned char *)kp_memory_host(j->tensor) + first, *data = j->data + first;
    memcpy(j->up ? host : data, j->up ? data : host, (size_t)bytes);
}

static void *work(void *payload) {
    worker *w = payload;
    job *j = w->job;
    bool shared = j->tensor->shared;
    kp_result result = KP_OK;
    for (unsigned turn = 0; result == KP_OK && !atomic_load(&j->failed); turn++) {
        uint64_t first = atomic_fetch_add(&j->next, PIECE);
        if (first >= j->tensor->bytes)
            break;
        uint64_t left = j->tensor->bytes - first, bytes = left < PIECE ? left : PIECE;
        kp_staging_slot *slot = &w->slots[turn % 2];
        if (shared) {
            copy_shared(j, first, bytes);
        } else {
            result = finish(j, slot);
            if (result == KP_OK)
                result = start(j, slot, first, bytes);
        }
    }
    for (unsigned k = 0; k < 2; k++) {
        kp_result last = finish(j, &w->slots[k]);
        result = result == KP_OK ? last : result;
    }
    if (result != KP_OK)
        fail(j, result);
    return NULL;
}

// Half of the cores, but both of two, and no more than there are pieces for.
static unsigned thread_count(const job *j) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t most = cores < 2 ? 1 : cores < 4 ? 2 : (uint64_t)cores / 2;
    most = most < KP_STAGING_THREADS ? most : KP_STAGING_THREADS;
    uint64_t pieces = (j->tensor->bytes - 1) / PIECE + 1;
    return (unsigned)(pieces < most ? pieces : most);
}

// What no thread could be had for, the others do.
static void run(job *j, kp_staging *staging) {
    worker workers[KP_STAGING_THREADS];
    unsigned count = thread_count(j), started = 1;
    for (unsigned k = 0; k < count; k++)
        workers[k] = (worker){.job = j, .slots = &staging->slots[2 * k]};
    while (started < count && pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (unsigned k = 1; k < started; k++)
        pthread_join(workers[k].thread, NULL);
}

// ---------------------------------------------------------------------------------------------------------------------
// The doors
// ---------------------------------------------------------------------------------------------------------------------

static kp_result check(const kp_tensor *tensor, const void *data, uint64_t bytes, const char *who) {
    if (tensor == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: tensor is NULL", who);
    kp_result result = kp_manager_check(tensor->manager, kp_memory_kind(tensor), tensor->label);
    if (result != KP_OK)
        return result;
    if (tensor->format != NULL)
        return kp_error_set(KP_ERROR_TYPE, "%s: '%s' is an image; copy a tensor to it", who, tensor->label);
    if (!kp_memory_alive(tensor))
        return kp_error_set(KP_ERROR_STATE, "tensor '%s' is destroyed", tensor->label);
    if (bytes != tensor->bytes)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: tensor '%s' has %llu bytes, %llu were given", who, tensor->label,
                            (unsigned long long)tensor->bytes, (unsigned long long)bytes);
    if (data == NULL && bytes != 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: data is NULL, tensor '%s' has %llu bytes", who, tensor->label,
                            (unsigned long long)bytes);
    return KP_OK;
}

static kp_result move(kp_tensor *tensor, unsigned char *data, bool up) {
    job j = {.manager = tensor->manager,
             .tensor = tensor,
             .data = data,
             .up = up,
             .copies = !tensor->shared && goes_by_copies(tensor)};
    kp_staging *staging = &tensor->manager->staging;
    pthread_mutex_init(&j.lock, NULL);
    kp_guard_lock(&staging->lock);
    kp_result result = tensor->shared ? await_users(&j, &staging->slots[0]) : KP_OK;
    if (result == KP_OK)
        run(&j, staging);
    kp_guard_unlock(&staging->lock);
    pthread_mutex_destroy(&j.lock);
    if (result != KP_OK)
        return result;
    return j.result == KP_OK ? KP_OK : kp_error_set(j.result, "tensor '%s': %s", tensor->label, j.words);
}

kp_result kp_tensor_upload(kp_tensor *tensor, const void *data, uint64_t bytes) {
    kp_result result = check(tensor, data, bytes, "kp_tensor_upload");
    return result != KP_OK || bytes == 0 ? result : move(tensor, (unsigned char *)(uintptr_t)data, true);
}

kp_result kp_tensor_download(kp_tensor *tensor, void *data, uint64_t bytes) {
    kp_result result = check(tensor, data, bytes, "kp_tensor_download");
    return result != KP_OK || bytes == 0 ? result : move(tensor, data, false);
}

void kp_staging_init(kp_staging *staging) { pthread_mutex_init(&staging->lock, NULL); }

bool kp_staging_drop(kp_staging *staging) {
    bool some = false;
    kp_guard_lock(&staging->lock);
    for (unsigned k = 0; k < KP_STAGING_SLOTS; k++) {
        some = some || staging->slots[k].memory != NULL;
        drop_slot(&staging->slots[k]);
    }
    kp_guard_unlock(&staging->lock);
    return some;
}

void kp_staging_destroy(kp_staging *staging) { pthread_mutex_destroy(&staging->lock); }
