// kp/external.h - memory and semaphores that are shared with other managers, processes, devices and libraries, by file
// descriptor (Linux and other POSIX systems).
//
//     one side                                              the other, in another process or through another API
//     kp_tensor_create     with .exported                   kp_tensor_import    the same bytes
//     kp_tensor_export     a file descriptor                kp_semaphore_import
//     kp_semaphore_create  with .exported                   kp_sequence_submit  .waits: after the other's work
//     kp_semaphore_export  a file descriptor
//     kp_sequence_submit   .signals: when its work is done
//
// A file descriptor that comes from here is the caller's to close; one that is given is duplicated, and stays the
// caller's too. It keeps the memory alive, whatever is destroyed. Between the two sides kp knows no order: whoever uses
// the memory after the other does so after a semaphore, or after waiting for the work on the host.
#ifndef KP_EXTERNAL_H
#define KP_EXTERNAL_H

#include <kp/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Memory
// ---------------------------------------------------------------------------------------------------------------------

// Whose memory it is.
typedef enum kp_external_kind {
    KP_EXTERNAL_UNKNOWN, // nobody says: its size is compared, and nothing else
    KP_EXTERNAL_TENSOR,  // a tensor's: bytes as they are
    KP_EXTERNAL_IMAGE,   // an image's, as its driver lays it out
} kp_external_kind;

// An image, as kp_image_desc says it, zeros filled in.
typedef struct kp_external_image {
    kp_dtype dtype;                          //
    bool normalized;                         //
    uint32_t channels, width, height, depth; // height 0: 1-D; depth 0: not 3-D
} kp_external_image;

// What the other side has to know. CUDA, for one, takes `fd` and `size` (cuImportExternalMemory), and maps the buffer
// at `offset`.
typedef struct kp_external_memory {
    int fd;                  //
    kp_handle_type type;     //
    uint64_t size;           // bytes of the memory behind it, as a whole
    uint64_t offset;         // of the tensor's first byte; 0 for an image
    uint32_t memory_type;    // Vulkan's index of it on the device; a dma-buf does not need it
    bool dedicated;          // it is for one buffer or image alone, as an image's always is
    uint8_t device_uuid[16]; // of the device, and
    uint8_t driver_uuid[16]; // of the driver that it belongs to. Zeros: not known, and not compared
    kp_external_kind kind;   // zero: not known
    kp_external_image image; // for KP_EXTERNAL_IMAGE
} kp_external_memory;

// A new file descriptor for the memory of a tensor that was made with kp_tensor_desc.exported, or of a view of one.
// KP_ERROR_STATE for another one, an empty one or a dead one, KP_ERROR_TYPE for an image. Thread-safety: any.
KP_API kp_result kp_tensor_export(const kp_tensor *tensor, kp_external_memory *out);

// A tensor in that memory, which has the contents that it has: `data`, `fill` and `exported` must be zero. The memory
// type means what it does elsewhere; where the memory is nothing that the host sees, the host side is a copy, which
// syncs bring over. KP_ERROR_UNSUPPORTED names the extension that the device lacks; KP_ERROR_ARGUMENT for what is no
// such memory, belongs to another device or driver, or is too small; KP_ERROR_TYPE for an image's; else as
// kp_tensor_create. Thread-safety: any.
KP_API kp_result kp_tensor_import(kp_manager *manager, const kp_external_memory *from, const kp_tensor_desc *desc,
                                  kp_tensor **out);

// The same of an image that was made with kp_image_desc.exported. KP_ERROR_STATE for another one or a dead one,
// KP_ERROR_TYPE for a tensor. Thread-safety: any.
KP_API kp_result kp_image_export(const kp_image *image, kp_external_memory *out);

// An image in that memory, with the contents that it has, of the same element type, channels and pixels: only the same
// driver knows how an image lies in memory. Of `desc` `data` and `exported` must be zero; filter and address mode are
// its own. Others that know the memory as a VkImage have it in the layout GENERAL, and of Vulkan's external queue
// family, between kp's evaluations. KP_ERROR_UNSUPPORTED where the device lacks the extension, or cannot share such
// images; KP_ERROR_ARGUMENT as kp_tensor_import, and for another image's memory; KP_ERROR_TYPE for a tensor's; else as
// kp_image_create. Thread-safety: any.
KP_API kp_result kp_image_import(kp_manager *manager, const kp_external_memory *from, const kp_image_desc *desc,
                                 kp_image **out);

// ---------------------------------------------------------------------------------------------------------------------
// Semaphores
// ---------------------------------------------------------------------------------------------------------------------

// A timeline semaphore is a number that goes up: an evaluation may wait until it is reached, and set it when it is
// done; the host may do both too. A binary one is set by one evaluation and waited for by one, in turns.
typedef struct kp_semaphore kp_semaphore;

// All fields may be zero.
typedef struct kp_semaphore_desc {
    bool binary;             // zero: a timeline; SYNC_FD is for binary ones
    uint64_t value;          // that a timeline starts with
    kp_handle_type exported; // OPAQUE_FD or SYNC_FD: kp_semaphore_export works
    kp_handle_type imported; // for kp_semaphore_import: what the descriptor is; NONE: OPAQUE_FD
    const char *label;       // name in messages and for debuggers; NULL: "semaphore"
} kp_semaphore_desc;

// KP_ERROR_UNSUPPORTED names the feature or extension that the device lacks: timelineSemaphore,
// VK_KHR_external_semaphore_fd, or a kind of semaphore that the driver does not export. `desc` may be NULL.
// Thread-safety: any.
KP_API kp_result kp_semaphore_create(kp_manager *manager, const kp_semaphore_desc *desc, kp_semaphore **out);

// The semaphore behind a file descriptor of OPAQUE_FD: both sides have the same one from then on. `desc` says whether
// it is binary, as it was made; its value and `exported` must be zero. Or, with `imported` SYNC_FD, a binary semaphore
// that is set when the descriptor's work is done, once: one evaluation may wait for that, and then it is like any other
// that kp makes. Of SYNC_FD -1 stands for work that is done already. KP_ERROR_UNSUPPORTED, KP_ERROR_ARGUMENT.
// Thread-safety: any.
KP_API kp_result kp_semaphore_import(kp_manager *manager, int fd, const kp_semaphore_desc *desc, kp_semaphore **out);

// A new file descriptor for a semaphore that was made with kp_semaphore_desc.exported; KP_ERROR_STATE for another one.
// Of OPAQUE_FD it is the semaphore itself; of SYNC_FD the one signal that was submitted last and nobody waits for yet,
// which the descriptor takes over as a wait would: KP_ERROR_STATE where there is none. It may be -1 there, for work
// that is done. Thread-safety: any.
KP_API kp_result kp_semaphore_export(const kp_semaphore *semaphore, int *fd);

// Work in flight that uses it goes on. Thread-safety: one at a time per semaphore.
KP_API void kp_semaphore_destroy(kp_semaphore *semaphore);

// Of a timeline, by the host; KP_ERROR_TYPE for a binary one. Its value now; its value from now on, which must be above
// all that it has had; and waiting until it has reached `value`, at most `timeout` nanoseconds (UINT64_MAX: for ever;
// KP_ERROR_TIMEOUT). Thread-safety of these: any.
KP_API kp_result kp_semaphore_value(const kp_semaphore *semaphore, uint64_t *value);
KP_API kp_result kp_semaphore_signal(kp_semaphore *semaphore, uint64_t value);
KP_API kp_result kp_semaphore_wait(kp_semaphore *semaphore, uint64_t value, uint64_t timeout);

// One semaphore, and the value that a timeline must have reached, or gets.
typedef struct kp_semaphore_point {
    kp_semaphore *semaphore;
    uint64_t value; // of a timeline
} kp_semaphore_point;

enum { KP_MAX_SEMAPHORE_POINTS = 64 };

// All fields may be zero; at most KP_MAX_SEMAPHORE_POINTS of each.
typedef struct kp_submit_desc {
    const kp_semaphore_point *waits; // before anything of the sequence runs
    size_t wait_count;
    const kp_semaphore_point *signals; // when all of it is done
    size_t signal_count;
} kp_submit_desc;

// As kp_sequence_eval_async, after and before those semaphores; kp_sequence_await waits for it. A wait that is never
// met holds up all that is submitted to the queue afterwards. kp_manager_destroy ends a wait that only the host could
// still meet; one for a semaphore that others have too (exported, imported, adopted) holds it up. A binary semaphore's
// signal must have been submitted before its wait is, and be waited for before the next: KP_ERROR_STATE, unless others
// have it too. KP_ERROR_ARGUMENT for a semaphore that is to get two values, or one that is not above what is waited
// for, or a binary one that is waited for twice. `desc` may be NULL. Thread-safety: as kp_sequence_eval_async.
KP_API kp_result kp_sequence_submit(kp_sequence *sequence, const kp_submit_desc *desc);

#ifdef __cplusplus
}
#endif

#endif
