// kp/runtime.h - devices, memory, pipelines, and sequences of work on them.
//
// A normal program, in order:
//
//     kp_manager_create      one Vulkan device, with its queues and memory
//     kp_tensor_create       an array with a host side and a device side
//     kp_algorithm_create    a program (kp_compile, or SPIR-V of your own) with memory bound to it
//     kp_sequence_create     a list of ops
//     kp_record_sync_device  host side -> device side
//     kp_record_dispatch     run the algorithm
//     kp_record_sync_local   device side -> host side
//     kp_sequence_eval       do it, and wait; again and again if you like
//     kp_tensor_data         read the result
//     kp_*_destroy           in any order
//
// Barriers between ops are computed from what each op reads and writes. So is the order of sequences: one that uses
// what another wrote, or writes what another uses, runs after it, on whatever queues the two are, in the order of their
// evaluations; sequences that share nothing, or only read it, may overlap. Objects belong to the manager that made
// them; using one with another manager's is KP_ERROR_ARGUMENT. Destroying the manager releases what its children hold
// on the device at once (work in flight is waited for); the children stay valid handles that answer KP_ERROR_STATE
// until destroyed too. Destroying an object that work in flight uses is fine: its resources go when that work is done.
//
// Threads: a manager may be used from many threads. One sequence is used by one thread at a time; so is one tensor's
// host side, which kp does not guard.
#ifndef KP_RUNTIME_H
#define KP_RUNTIME_H

#include <kp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kp_manager kp_manager;
typedef struct kp_algorithm kp_algorithm;
typedef struct kp_sequence kp_sequence;

// Tensors and images are both memory: what an algorithm binds and an op works on. The three names are one C type, so
// that arrays of either need no casts; a call that needs one kind answers KP_ERROR_TYPE for the other.
typedef struct kp_memory kp_memory;
typedef kp_memory kp_tensor;
typedef kp_memory kp_image;

// ---------------------------------------------------------------------------------------------------------------------
// Devices
// ---------------------------------------------------------------------------------------------------------------------

typedef enum kp_device_type {
    KP_DEVICE_OTHER,
    KP_DEVICE_INTEGRATED,
    KP_DEVICE_DISCRETE,
    KP_DEVICE_VIRTUAL,
    KP_DEVICE_CPU
} kp_device_type;

#define KP_MAX_QUEUE_FAMILIES 16
#define KP_MAX_MEMORY_HEAPS 16

// A queue by its use, in the place of a family's index in kp_manager_desc.queue_families: one that kernels run on, of a
// family without graphics where there is one; and one that only copies, or else one that kernels run on.
#define KP_FAMILY_COMPUTE UINT32_C(0xFFFFFFFE)
#define KP_FAMILY_TRANSFER UINT32_C(0xFFFFFFFF)

// What a device may or may not have. kp enables all of it; a program that needs what is not there is refused by its
// name. X(name, meaning)
#define KP_DEVICE_FEATURES(X)                                                                    \
    X(float16, "arithmetic on f16")                                                              \
    X(float64, "arithmetic on f64")                                                              \
    X(int8, "arithmetic on i8 and u8")                                                           \
    X(int16, "arithmetic on i16 and u16")                                                        \
    X(int64, "arithmetic on i64 and u64")                                                        \
    X(storage8, "8-bit elements in buffers")                                                     \
    X(storage16, "16-bit elements in buffers")                                                   \
    X(uniform8, "8-bit elements in uniform buffers")                                             \
    X(uniform16, "16-bit elements in uniform buffers")                                           \
    X(push8, "8-bit push constants")                                                             \
    X(push16, "16-bit push constants")                                                           \
    X(atomic_int64, "64-bit integer atomics on buffers")                                         \
    X(atomic_int64_shared, "64-bit integer atomics on shared memory")                            \
    X(atomic_float32_add, "atomic addition of f32 on buffers; kernels of kp_compile do without") \
    X(atomic_float32_add_shared, "... on shared memory")                                         \
    X(atomic_float64_add, "atomic addition of f64 on buffers")                                   \
    X(atomic_float16_add, "atomic addition of f16 on buffers")                                   \
    X(atomic_float32_min_max, "atomic minimum and maximum of f32 on buffers")                    \
    X(scalar_layout, "scalarBlockLayout: structs and vectors packed as in C")                    \
    X(uniform_standard_layout, "uniform buffers laid out as storage buffers")                    \
    X(subgroup_extended_types, "subgroup operations on 8-, 16- and 64-bit numbers and f16")      \
    X(subgroup_size_control, "kernels may ask for a subgroup size")                              \
    X(integer_dot_product, "dot products of integers")                                           \
    X(memory_model, "vulkanMemoryModel")                                                         \
    X(zero_shared_memory, "shared memory that starts as zeros")                                  \
    X(cooperative_matrix, "VK_NV_cooperative_matrix")                                            \
    X(shader_clock, "clocks in kernels")                                                         \
    X(robust_access, "an index out of range reaches no other memory")                            \
    X(robust_access2, "... and reads zero, to the byte")                                         \
    X(timeline_semaphores, "several queues, and kp_semaphore_create's timelines")                \
    X(push_descriptors, "VK_KHR_push_descriptor: rebinding costs nothing")                       \
    X(memory_budget, "VK_EXT_memory_budget: kp_manager_memory knows what others use")            \
    X(host_import, "VK_EXT_external_memory_host: a program's own memory as a host side")         \
    X(memory_fd, "VK_KHR_external_memory_fd: tensors shared by file descriptor")                 \
    X(dma_buf, "VK_EXT_external_memory_dma_buf: ... with other drivers and devices")             \
    X(semaphore_fd, "VK_KHR_external_semaphore_fd: semaphores shared by file descriptor")        \
    X(portability, "not all of Vulkan, as on macOS (VK_KHR_portability_subset)")

// Operations of a subgroup, as in VkSubgroupFeatureFlagBits.
typedef enum kp_subgroup_ops {
    KP_SUBGROUP_BASIC = 0x1,
    KP_SUBGROUP_VOTE = 0x2,
    KP_SUBGROUP_ARITHMETIC = 0x4,
    KP_SUBGROUP_BALLOT = 0x8,
    KP_SUBGROUP_SHUFFLE = 0x10,
    KP_SUBGROUP_SHUFFLE_RELATIVE = 0x20,
    KP_SUBGROUP_CLUSTERED = 0x40,
    KP_SUBGROUP_QUAD = 0x80,
} kp_subgroup_ops;

// What is known about a device before a manager is made on it.
typedef struct kp_device_info {
    uint32_t index;                     // position in kp_devices; kp_manager_desc.device takes it
    char name[256];                     // as the driver reports it
    char driver[256];                   // driver's name and version
    uint8_t uuid[16];                   //
    kp_device_type type;                //
    uint32_t vendor_id;                 //
    uint32_t api_version;               // as VK_MAKE_API_VERSION
    uint64_t memory;                    // bytes of its largest device-local heap
    bool unified;                       // host and device share memory
    uint32_t max_workgroup_count[3];    // workgroups per dispatch, each axis
    uint32_t max_workgroup_size[3];     // invocations per workgroup, each axis
    uint32_t max_workgroup_invocations; // invocations per workgroup, in all
    uint32_t max_push_constants;        // bytes
    uint64_t max_buffer_range;          // bytes of one bound storage buffer
    uint64_t max_allocation;            // bytes of one allocation
    uint32_t subgroup_size;             // what it runs unless asked for another
    uint32_t min_subgroup_size;         // the least that can be asked for; equal to the next where none can be
    uint32_t max_subgroup_size;         //
    uint32_t max_shared_memory;         // bytes per workgroup
    bool timestamps;                    // kp_sequence_timestamps works
    double timestamp_period;            // nanoseconds per tick
    uint32_t subgroup_ops;              // in kernels: sum of kp_subgroup_ops
    uint32_t device_id;                 // the vendor's number of the product
    uint32_t driver_id;                 // VkDriverId; 0: unknown
    uint32_t driver_version;            // in the vendor's own form
    uint8_t driver_uuid[16];            // changes with what makes memory and semaphores incompatible (kp/external.h)
    uint32_t max_storage_buffers;       // bound by one kernel
    uint32_t max_uniform_buffers;       //
    uint32_t max_storage_images;        //
    uint32_t max_sampled_images;        //
    uint32_t max_samplers;              //
    uint32_t max_uniform_range;         // bytes of one bound uniform buffer
    uint32_t storage_alignment;         // bytes: where in a tensor a view that is bound as a storage buffer may begin
    uint32_t uniform_alignment;         // ... as a uniform buffer
    uint32_t max_image_size[3];         // pixels on an axis of a 1-D, a 2-D and a 3-D image
    uint32_t max_allocations;           // live device allocations
    uint32_t memory_heap_count;         //
    struct {
        uint64_t bytes;
        bool device_local;
    } memory_heaps[KP_MAX_MEMORY_HEAPS];
#define KP_X(name, meaning) bool name;
    KP_DEVICE_FEATURES(KP_X)
#undef KP_X
    uint32_t queue_family_count; //
    struct {
        uint32_t count;                   // queues in the family
        bool compute, transfer, graphics; //
    } queue_families[KP_MAX_QUEUE_FAMILIES];
} kp_device_info;

// Writes at most `capacity` devices to `infos`, in Vulkan's order, a card that two drivers offer only once (the same
// UUID, vendor, device and type: the first driver's counts); `*count` is how many there are in all. `infos` may
// be NULL when `capacity` is 0. A machine without a loader, a driver or a device has none: KP_OK and 0. Thread-safety:
// any.
KP_API kp_result kp_devices(kp_device_info *infos, size_t capacity, size_t *count);

// The names of the extensions that the driver has for a device, which kp_manager_desc.extensions may enable. Writes at
// most `capacity`; `*count` is how many there are. KP_ERROR_INDEX. Thread-safety: any.
typedef char kp_extension_name[256];
KP_API kp_result kp_device_extensions(uint32_t index, kp_extension_name *names, size_t capacity, size_t *count);

// ---------------------------------------------------------------------------------------------------------------------
// Manager
// ---------------------------------------------------------------------------------------------------------------------

typedef enum kp_toggle { KP_DEFAULT = 0, KP_ON = 1, KP_OFF = 2 } kp_toggle;

// What kernels of a manager print in an evaluation: the lines of one dispatch, in the order of its invocations, in
// Python's notation. Called in the thread that waits for the evaluation; not at all where there is nothing. `text` is
// valid during the call only. The function must not wait for a sequence of the manager.
typedef void (*kp_print_fn)(void *payload, const char *text, size_t length);

// All fields may be zero.
typedef struct kp_manager_desc {
    const char *device; // which device: an index ("1"), a UUID (32 hex digits, dashes allowed), or part of a name, any
                        // case. NULL: $KP_DEVICE; unset or empty: the best, discrete before integrated before
                        // virtual before CPU
    const uint32_t *queue_families; // one queue is taken from each entry's family, which may come as often as it has
                                    // queues (kp_device_info); on one that only copies no kernel runs. An entry may be
                                    // KP_FAMILY_COMPUTE or KP_FAMILY_TRANSFER: a queue of its own where one is left, or
                                    // else one that another entry has too, so that these work on every device
    size_t queue_family_count;      // at most 256; 0: one KP_FAMILY_COMPUTE
    const char *const *extensions;  // device extensions to enable, on top of those that kp uses itself
    size_t extension_count;         //
    kp_toggle unified;      // OFF: use staging even where host and device share memory. DEFAULT: on, or off where
                            // $KP_UNIFIED is "0"
    kp_toggle validation;   // the Khronos validation layer with synchronization checks, its messages to the log;
                            // DEFAULT: off, or on where $KP_VALIDATION is "1". A layer that is not there: one warning
    kp_toggle regroup;      // OFF: kernels launch as their module says, one invocation a workgroup. DEFAULT: on, or off
                            // where $KP_REGROUP is "0"
    kp_toggle labels;       // names for debuggers (VK_EXT_debug_utils: RenderDoc and others) on objects and around each
                            // op, where the loader has them. DEFAULT: on with validation, or where $KP_LABELS is "1"
    const char *label;      // name in messages; NULL: the device's
    kp_print_fn print;      // NULL: what kernels print goes to the log, as KP_LOG_INFO, a line at a time
    void *print_payload;    //
    kp_toggle print_places; // a print that begins a line comes behind its file, its line and its kernel, as in
                            // "sum.py:3: total: "; DEFAULT: on in the log and where $KP_PRINT_PLACES is "1", else off
    uint32_t print_bytes;   // room for the prints of one dispatch: 8 bytes a print, and 4 for each number (64-bit ones
                            // 8); what finds none is counted. 0: 1 MiB
} kp_manager_desc;

// KP_ERROR_NO_DEVICE when there is no loader, driver or device; KP_ERROR_ARGUMENT for a device or queue family that
// does not exist (the message lists those that do). KP_ERROR_STATE in a child that was forked from
// a process that used Vulkan (docs/laws.md). `desc` may be NULL. Thread-safety: any.
KP_API kp_result kp_manager_create(const kp_manager_desc *desc, kp_manager **out);

// Waits for the manager's work in flight. Thread-safety: one at a time per manager, and no other call on it meanwhile.
KP_API void kp_manager_destroy(kp_manager *manager);

// The device that it runs on. Thread-safety: any.
KP_API kp_result kp_manager_device(const kp_manager *manager, kp_device_info *out);

// Number of queues, at least 1; a sequence names one by its index. 0 for NULL. Thread-safety: any.
KP_API uint32_t kp_manager_queue_count(const kp_manager *manager);

// What the manager holds on the device.
typedef struct kp_memory_stats {
    uint64_t used;         // bytes in live tensors, both sides
    uint64_t reserved;     // bytes in device allocations
    uint64_t peak;         // the most that `reserved` has been
    uint32_t allocations;  // live device allocations
    uint64_t budget;       // bytes of the device's own memory that this process may have, as the driver says at this
                           // moment (VK_EXT_memory_budget), or else the size of that memory
    uint64_t device_usage; // bytes of it that this process has; without that extension, that this manager has
} kp_memory_stats;

// Thread-safety: any.
KP_API kp_result kp_manager_memory(const kp_manager *manager, kp_memory_stats *out);

// Gives back to the driver what is kept for reuse: empty blocks of memory, pipelines that no algorithm uses, command
// buffers. Never needed for kp's own sake: an allocation that finds no room takes back what is kept.
// Thread-safety: any.
KP_API kp_result kp_manager_trim(kp_manager *manager);

// ---------------------------------------------------------------------------------------------------------------------
// Tensors
// ---------------------------------------------------------------------------------------------------------------------

// Kompute's four kinds. On a device with unified memory DEVICE, HOST and DEVICE_AND_HOST are the same.
typedef enum kp_memory_type {
    KP_MEMORY_DEVICE,          // device-local, with a host side; syncs copy
    KP_MEMORY_HOST,            // host-visible; the device works on the host side itself; syncs cost nothing
    KP_MEMORY_STORAGE,         // device-local, no host side; syncs are KP_ERROR_STATE
    KP_MEMORY_DEVICE_AND_HOST, // device-local and host-visible at once where there is such memory, else as DEVICE
} kp_memory_type;

// Ways to share memory and semaphores with others (kp/external.h).
typedef enum kp_handle_type {
    KP_HANDLE_NONE,      //
    KP_HANDLE_OPAQUE_FD, // a file descriptor for the same driver on the same device (VK_KHR_external_memory_fd)
    KP_HANDLE_DMA_BUF,   // Linux's own, memory alone, for other drivers and devices (VK_EXT_external_memory_dma_buf)
    KP_HANDLE_SYNC_FD,   // Linux's and Android's sync file, binary semaphores alone (VK_KHR_external_semaphore_fd)
} kp_handle_type;

#define KP_MAX_DIMS 8

// All fields may be zero but the size, which is `count`, or else `ndim` and `shape`.
typedef struct kp_tensor_desc {
    kp_dtype dtype; // zero: KP_F32
    uint64_t count; // elements; 0 with ndim 0 is an empty tensor, on which every op does nothing
    uint32_t ndim;  // axes; 0: one, of `count`. When given, `count` is 0 or the product of `shape`
    uint64_t shape[KP_MAX_DIMS];
    const void *data;   // copied to the host side; NULL: zeros
    const void *fill;   // without data: one element, with which the host side is filled
    bool uninitialized; // without data: leave the host side as it is, which is quicker for large outputs
    bool import_data;   // make `data` itself the host side where the device can use that memory, which must be
                        // writable and stay until `release`; else copy it, as ever. kp_tensor_data tells
    void (*release)(void *payload); // called once, when `data` is not used any more, which is at once where it was
                                    // copied; not when creation fails. On any thread that calls kp, and must not call
                                    // it. NULL: nothing to do
    void *release_payload;          //
    kp_memory_type memory_type;     //
    kp_handle_type exported;    // memory that can be exported as such, which it has to itself. An empty tensor has none
    const char *label;          // name in messages and for debuggers; NULL: "tensor"
    const kp_struct *structure; // elements are structs, such as kp_param.structure of a program's parameter, which
                                // a kernel that takes the tensor is held to; it is copied. NULL: they are not
    uint32_t item_size;         // or of structs that kp knows nothing more of: bytes of one. 0: of `dtype`
} kp_tensor_desc;

// Makes both sides. The device side holds nothing definite until a sync or a kernel has written it (with unified memory
// it is the host side). KP_ERROR_LIMIT, KP_ERROR_DEVICE_MEMORY, KP_ERROR_HOST_MEMORY, KP_ERROR_ARGUMENT; smaller
// requests still work after any of them. Thread-safety: any.
KP_API kp_result kp_tensor_create(kp_manager *manager, const kp_tensor_desc *desc, kp_tensor **out);

// All fields may be zero.
typedef struct kp_tensor_view_desc {
    uint64_t first;              // element of the tensor that is the view's first
    uint64_t count;              // elements; 0 with ndim 0: all from `first` on
    uint32_t ndim;               // axes; 0: one, or the tensor's own where the view is all of it
    uint64_t shape[KP_MAX_DIMS]; //
    const char *label;           // NULL: the tensor's
} kp_tensor_view_desc;

// A tensor that is a part of another one, or all of it in another shape: the same memory on both sides, of the same
// dtype and memory type. It works wherever a tensor does: a sync moves the view's part alone, and barriers know that
// views of one tensor share memory. It keeps the contents, so the tensor may be destroyed first. Binding it to an
// algorithm needs a `first` whose byte is a multiple of the device's minStorageBufferOffsetAlignment (256 bytes is
// enough for any device), or else kp_algorithm_create answers KP_ERROR_LIMIT. A kernel that writes out of a view's
// range never reaches another tensor; on a device without robustBufferAccess2 it may reach the rest of this one. `desc`
// may be NULL. KP_ERROR_INDEX beyond the tensor, KP_ERROR_ARGUMENT, KP_ERROR_LIMIT, KP_ERROR_STATE,
// KP_ERROR_HOST_MEMORY. Thread-safety: any.
KP_API kp_result kp_tensor_view(kp_tensor *tensor, const kp_tensor_view_desc *desc, kp_tensor **out);

// One function by two names, for tensors and images. Sequences that recorded it answer KP_ERROR_STATE from now on.
// Thread-safety: one at a time per tensor.
KP_API void kp_memory_destroy(kp_memory *memory);
KP_API void kp_tensor_destroy(kp_tensor *tensor);

// The host side: `kp_tensor_bytes` bytes, aligned to 64 unless it was imported. NULL for a STORAGE tensor, an empty
// one, NULL, or one whose manager is gone. Valid until the tensor or its manager is destroyed; a kp_view keeps it
// longer. Thread-safety: one at a time per tensor; do not touch it while a sequence that uses the tensor is running.
KP_API void *kp_tensor_data(const kp_tensor *tensor);

// An array of the caller's to the device side and back, without the host side (unless that is the device side), in one
// call that blocks until it is done. `bytes` is the tensor's size. In pieces through memory that the manager keeps for
// it: several threads copy while the device does, so a large array moves faster than through the host side. From 1 MiB
// on that goes by a queue for copies alone, beside what kernels do meanwhile: one of the manager's, or else one that it
// opens for this where the device has such a family and memory of its own. Works for STORAGE tensors too.
// KP_ERROR_ARGUMENT for another size, KP_ERROR_TYPE for an image, KP_ERROR_STATE, KP_ERROR_HOST_MEMORY,
// KP_ERROR_DEVICE_MEMORY. Comes behind what was submitted before and uses the tensor. Thread-safety: any; one array
// moves at a time on a manager.
KP_API kp_result kp_tensor_upload(kp_tensor *tensor, const void *data, uint64_t bytes);
KP_API kp_result kp_tensor_download(kp_tensor *tensor, void *data, uint64_t bytes);

// Thread-safety of these: any. 0 and KP_F32 for NULL.
KP_API uint64_t kp_tensor_count(const kp_tensor *tensor); // elements
KP_API uint64_t kp_tensor_bytes(const kp_tensor *tensor);
KP_API kp_dtype kp_tensor_dtype(const kp_tensor *tensor);          // KP_U8 where elements are structs
KP_API uint32_t kp_tensor_item_size(const kp_tensor *tensor);      // bytes of an element; 0 for NULL
KP_API const kp_struct *kp_tensor_struct(const kp_tensor *tensor); // of its elements, as long as the tensor, or NULL
KP_API kp_memory_type kp_tensor_memory_type(const kp_tensor *tensor);
KP_API uint32_t kp_tensor_shape(const kp_tensor *tensor, uint64_t shape[KP_MAX_DIMS]); // returns the number of axes
KP_API bool kp_memory_alive(const kp_memory *memory); // false for NULL, and once its manager is destroyed

// A counted hold on a tensor's host side, which stays readable and writable while any view of it lives, whatever is
// destroyed meanwhile. KP_ERROR_STATE for a STORAGE tensor or a dead one. Thread-safety: any.
typedef struct kp_view kp_view;
KP_API kp_result kp_view_create(kp_tensor *tensor, kp_view **out);
KP_API void *kp_view_data(const kp_view *view);
KP_API void kp_view_destroy(kp_view *view);

// ---------------------------------------------------------------------------------------------------------------------
// Images
// ---------------------------------------------------------------------------------------------------------------------

// How a sampler reads between pixels, and beyond the image, in Vulkan's words. A texture of a kernel may say both
// itself (docs/language.md); then what the image says does not count.
typedef enum kp_filter {
    KP_FILTER_NEAREST, // the pixel that the place is in
    KP_FILTER_LINEAR,  // those around it, weighted
} kp_filter;
typedef enum kp_address_mode {
    KP_ADDRESS_MODE_CLAMP_TO_EDGE,   // the pixel at the edge
    KP_ADDRESS_MODE_REPEAT,          // from the start again
    KP_ADDRESS_MODE_MIRRORED_REPEAT, // there and back
    KP_ADDRESS_MODE_CLAMP_TO_BORDER, // zeros
} kp_address_mode;

// All fields may be zero but the width.
typedef struct kp_image_desc {
    kp_dtype dtype;               // of one channel: f32, f16, or an integer of 8, 16 or 32 bits; zero: KP_F32
    bool normalized;              // 8-bit integers that kernels see as floats, 0 to 1 (signed: -1 to 1)
    uint32_t channels;            // 1 to 4; 0: 1
    uint32_t width;               // pixels
    uint32_t height;              // rows; 0: a 1-D image
    uint32_t depth;               // slices; 0: not a 3-D image
    const void *data;             // copied to the host side; NULL: zeros
    bool uninitialized;           // without data: leave the host side as it is
    kp_memory_type memory_type;   // STORAGE: no host side; all others are the same for an image
    kp_filter filter;             // when it is sampled; coordinates go from 0 to 1 on each axis
    kp_address_mode address_mode; // ... on all axes
    kp_handle_type exported;      // OPAQUE_FD: kp_image_export works (kp/external.h); it has its memory to itself
    const char *label;            // name in messages and for debuggers; NULL: "image"
} kp_image_desc;

// Makes both sides. The host side has the channels of each pixel, the pixels of each row, the rows and the slices one
// after the other without gaps; a sync copies it, on every device. All functions of tensors work on it but
// kp_tensor_view: its shape is slices, rows, pixels, channels, without the axes that it does not have, its count that
// of all channels. Ops sync it, copy it, or a part of it, to and from tensors and images, fill it. An algorithm binds
// it where the module has a storage image, a sampled image, both with a sampler or a sampler alone (whose filter and
// address mode are the image's): dimensions, format and what a read gives are compared with the module's.
//
// KP_ERROR_UNSUPPORTED for a format that the device has no images of, by name: three channels often, and linear filters
// of 32-bit floats at times. KP_ERROR_TYPE for an element type that images do not have; else as kp_tensor_create.
// Submits a few commands to the manager's first queue, and does not wait for them unless it is exported. Thread-safety:
// any.
KP_API kp_result kp_image_create(kp_manager *manager, const kp_image_desc *desc, kp_image **out);

// As kp_memory_destroy.
KP_API void kp_image_destroy(kp_image *image);

// What an image was made with, zeros filled in, but without its data; the label is valid until it is destroyed.
// KP_ERROR_ARGUMENT for NULL, KP_ERROR_TYPE for a tensor. Thread-safety: any.
KP_API kp_result kp_image_describe(const kp_image *image, kp_image_desc *out);

// False for a tensor and for NULL. Thread-safety: any.
KP_API bool kp_memory_is_image(const kp_memory *memory);

// ---------------------------------------------------------------------------------------------------------------------
// Algorithms
// ---------------------------------------------------------------------------------------------------------------------

// One specialization constant. `value` points to one element of `dtype` (a bool is one byte here).
typedef struct kp_spec {
    uint32_t id;
    kp_dtype dtype;
    const void *value;
} kp_spec;

// `program`, or `spirv` and `spirv_size`, must be given; all else may be zero.
typedef struct kp_algorithm_desc {
    const kp_program *program; // need not outlive the call
    const void *spirv;         // a module of your own, any alignment, either byte order
    size_t spirv_size;         // bytes
    const char *entry;         // entry point; NULL: "main", or the only one there is
    kp_memory *const *memory;  // memory[k] is binding k of set 0; of a module with more sets the k-th of its bindings
    size_t memory_count;       // at least as many as that takes; what no binding takes is not used
    uint32_t workgroups[3];    // default launch in workgroups, as Vulkan counts; all zero: the view or image that the
                               // program writes first, or else (elements of memory[0], 1, 1)
    uint32_t extent[3];        // or in invocations, as kernels count; zero axes are 1. Give one of the two, or neither
    const kp_spec *specs;      //
    size_t spec_count;         //
    const void *push;          // default push constants; NULL: those that the kernel's source gives, if it gives all
    size_t push_size;          // bytes
    uint32_t subgroup_size;    // invocations in a subgroup; 0: as the program says, or else as the device chooses
    const char *label;         // name in messages and for debuggers; NULL: the program's name, or "algorithm"
} kp_algorithm_desc;

// Checks the module (KP_ERROR_SPIRV), and everything in `desc` against the module and the device's limits
// (KP_ERROR_ARGUMENT, KP_ERROR_TYPE, KP_ERROR_LIMIT, KP_ERROR_UNSUPPORTED), before the driver sees it. Modules and
// pipelines are cached by content in the manager: making the same algorithm again is cheap. What the driver compiled is
// kept on disk for the next process, in $KP_CACHE_DIR, or else $XDG_CACHE_HOME/kp or $HOME/.cache/kp, written when the
// manager is destroyed; empty: not kept. Thread-safety: any.
KP_API kp_result kp_algorithm_create(kp_manager *manager, const kp_algorithm_desc *desc, kp_algorithm **out);

// Sequences that recorded it answer KP_ERROR_STATE from now on. Thread-safety: one at a time per algorithm.
KP_API void kp_algorithm_destroy(kp_algorithm *algorithm);

// Changes what is bound, without a new pipeline; sequences that recorded the algorithm use the new memory from their
// next evaluation. `memory_count` must fit the module as in creation. Thread-safety: one at a time per algorithm, and
// none of the sequences that use it in another thread.
KP_API kp_result kp_algorithm_bind(kp_algorithm *algorithm, kp_memory *const *memory, size_t memory_count);

// Replaces the default push constants; same size as at creation. As kp_algorithm_bind.
KP_API kp_result kp_algorithm_set_push(kp_algorithm *algorithm, const void *push, size_t push_size);

// Replaces the default launch: as in kp_algorithm_desc, where NULL is all zero. As kp_algorithm_bind.
KP_API kp_result kp_algorithm_set_launch(kp_algorithm *algorithm, const uint32_t workgroups[3],
                                         const uint32_t extent[3]);

// Replaces all specialization constants: those that are not given have the module's defaults again. A pipeline for them
// is made where the manager has none yet. After an error the algorithm is as it was. As kp_algorithm_bind.
KP_API kp_result kp_algorithm_set_specs(kp_algorithm *algorithm, const kp_spec *specs, size_t spec_count);

// The push constants (KP_PARAM_CONSTANT: name, dtype, components, offset, size, structure) and specialization constants
// (KP_PARAM_SPEC: name, dtype, spec_id) that can be given: for kernels of kp_compile its parameters, for other modules
// what they say, with "" for a name that is not there; push constants that are arrays, matrices or structs are left
// out. Writes at most `capacity`; `*count` is how many there are. Names are valid until the algorithm is destroyed.
// KP_ERROR_STATE when it is, or its manager. Thread-safety: any.
KP_API kp_result kp_algorithm_constants(const kp_algorithm *algorithm, kp_param *constants, size_t capacity,
                                        size_t *count);

// Bytes of push constants that the module takes; 0 for none, NULL, and a dead one. Thread-safety: any.
KP_API uint32_t kp_algorithm_push_bytes(const kp_algorithm *algorithm);

// False for NULL, and once its manager is destroyed. Thread-safety: any.
KP_API bool kp_algorithm_alive(const kp_algorithm *algorithm);

// ---------------------------------------------------------------------------------------------------------------------
// Sequences
// ---------------------------------------------------------------------------------------------------------------------

// All fields may be zero.
typedef struct kp_sequence_desc {
    uint32_t queue;      // index of the manager's queue
    uint32_t timestamps; // how many ops get a timestamp, at most 1,048,576; 0: none
    const char *label;   // NULL: "sequence"
} kp_sequence_desc;

// KP_ERROR_INDEX for a queue that the manager does not have. `desc` may be NULL. Thread-safety: any.
KP_API kp_result kp_sequence_create(kp_manager *manager, const kp_sequence_desc *desc, kp_sequence **out);

// Work in flight goes on; what it uses is released when it is done. Thread-safety: one at a time per sequence.
KP_API void kp_sequence_destroy(kp_sequence *sequence);

// Recording. Each call adds one op. The first one after an evaluation starts a fresh recording (as in Kompute). An op
// that fails to record leaves the sequence as it was. KP_ERROR_STATE while the sequence is running. Thread-safety of
// all: one at a time per sequence.

// Host side to device side, for each memory.
KP_API kp_result kp_record_sync_device(kp_sequence *sequence, kp_memory *const *memory, size_t count);

// Device side to host side, for each memory.
KP_API kp_result kp_record_sync_local(kp_sequence *sequence, kp_memory *const *memory, size_t count);

// memory[0] into all the others: same dtype and size, or KP_ERROR_TYPE and KP_ERROR_ARGUMENT; images of one shape, and
// tensors and images of as many elements, where a view begins at a multiple of 4 bytes and of a pixel. Device sides;
// the host sides of the targets are copied too, from the host side of memory[0], when the sequence is evaluated. At
// least two. Views of one tensor must not overlap.
KP_API kp_result kp_record_copy(kp_sequence *sequence, kp_memory *const *memory, size_t count);

// A part of an image.
typedef struct kp_copy_region {
    uint32_t from[3]; // pixel that it begins with in the memory that is copied from: x, y, z. Zeros for a tensor
    uint32_t to[3];   // ... that is copied to
    uint32_t size[3]; // pixels on each axis; 0: as many as the image has from there on (`from`, where both are images)
} kp_copy_region;

// A part of an image into another image, or into a tensor (or a view) of as many elements; or such a tensor into a part
// of an image; or one part of an image into another one. Device sides alone; a sync brings the result to the host. The
// dtypes are the same, and images have as many channels and axes; axes that an image does not have count as 1. A view
// begins as for kp_record_copy. `region` may be NULL: all of it. KP_ERROR_INDEX beyond an image, KP_ERROR_TYPE for two
// tensors or other dtypes, KP_ERROR_ARGUMENT for other sizes and for parts that overlap; KP_ERROR_UNSUPPORTED on a
// queue that only copies, where that takes images in larger blocks.
KP_API kp_result kp_record_copy_region(kp_sequence *sequence, kp_memory *from, kp_memory *to,
                                       const kp_copy_region *region);

// One element of the memory's dtype, copied now, into all of its device side (with unified memory that is the host side
// too). KP_ERROR_UNSUPPORTED for a view of less than 8 bytes that does not begin and end at a multiple of 4.
KP_API kp_result kp_record_fill(kp_sequence *sequence, kp_memory *memory, const void *element);

// All fields may be zero: as the algorithm has it.
typedef struct kp_dispatch_desc {
    uint32_t workgroups[3]; // instead of the algorithm's launch
    uint32_t extent[3];     // ... or this; one of the two
    const void *push;       // instead of the algorithm's push constants; copied
    size_t push_size;       // bytes; the whole block
} kp_dispatch_desc;

// Runs the algorithm, with what is bound to it when the sequence is evaluated. `desc` may be NULL. KP_ERROR_ARGUMENT
// for a launch that is said twice, and for push constants of another size; KP_ERROR_LIMIT for one that the device has
// not, also at the evaluation.
KP_API kp_result kp_record_dispatch(kp_sequence *sequence, kp_algorithm *algorithm, const kp_dispatch_desc *desc);

// As kp_record_dispatch, with the workgroups that lie in `counts` (u32, or i32) when it runs: three in a row, `offset`
// bytes from its start, a multiple of 4. So a kernel can say how much the next one has to do. A kernel of kp_compile
// with a local size of its own has that many invocations in each workgroup, so for n of them the number to write is
// (n + local_size - 1) // local_size, and it takes n from a buffer to leave out the rest. One without runs once per
// workgroup here, since nobody knows its extent when the blocks of other launches are made: that is for small numbers.
// None may exceed max_workgroup_count: that is the program's care, since nobody else sees them. `desc` may have push
// constants only. KP_ERROR_TYPE, KP_ERROR_ARGUMENT.
KP_API kp_result kp_record_dispatch_indirect(kp_sequence *sequence, kp_algorithm *algorithm, kp_tensor *counts,
                                             uint64_t offset, const kp_dispatch_desc *desc);

// A barrier between all that came before and all that follows, for each memory. Never needed for right results.
KP_API kp_result kp_record_barrier(kp_sequence *sequence, kp_memory *const *memory, size_t count);

// Drops what was recorded. KP_ERROR_STATE while running.
KP_API kp_result kp_sequence_clear(kp_sequence *sequence);

// Drops all ops but the first `count`, so that several that belong together can be taken back when one of them does not
// record. KP_ERROR_STATE while running.
KP_API kp_result kp_sequence_truncate(kp_sequence *sequence, size_t count);

// Ends recording: the next kp_record_* starts afresh, and evaluation replays. Evaluation does this by itself.
KP_API kp_result kp_sequence_end(kp_sequence *sequence);

// Records the same ops again, for what the library cannot see to have changed. Never needed after kp_algorithm_*.
KP_API kp_result kp_sequence_rerecord(kp_sequence *sequence);

// Submits what is recorded. kp_sequence_eval waits for it; after kp_sequence_eval_async, call kp_sequence_await. An
// empty recording is fine and submits nothing. KP_ERROR_STATE while running, or when an object that was recorded is
// destroyed. Blocks: eval until done, eval_async for the submit only.
KP_API kp_result kp_sequence_eval(kp_sequence *sequence);
KP_API kp_result kp_sequence_eval_async(kp_sequence *sequence);

// Waits for kp_sequence_eval_async at most `timeout` nanoseconds (UINT64_MAX: for ever; 0: only looks).
// KP_ERROR_TIMEOUT leaves it running. KP_ERROR_STATE when nothing was submitted since the last await.
KP_API kp_result kp_sequence_await(kp_sequence *sequence, uint64_t timeout);

KP_API bool kp_sequence_is_running(const kp_sequence *sequence);   // submitted and not yet awaited
KP_API bool kp_sequence_is_recording(const kp_sequence *sequence); // ops recorded since the last evaluation or end
KP_API bool kp_sequence_alive(const kp_sequence *sequence);        // false once its manager is destroyed
KP_API size_t kp_sequence_op_count(const kp_sequence *sequence);   // ops recorded

// What op `index` is called, for profiles: "dispatch 'multiply'", "copy 'a', 'b'". Writes at most `size` bytes, with a
// zero at the end. KP_ERROR_INDEX. Thread-safety: as recording.
KP_API kp_result kp_sequence_op_name(const kp_sequence *sequence, size_t index, char *text, size_t size);

// Device ticks of the last evaluation: one at its start, then one after each of the first kp_sequence_desc.timestamps
// ops. Writes at most `capacity`; `*count` is how many there are. KP_ERROR_STATE before an evaluation or without
// timestamps, KP_ERROR_UNSUPPORTED on a device without them.
KP_API kp_result kp_sequence_timestamps(kp_sequence *sequence, uint64_t *ticks, size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
