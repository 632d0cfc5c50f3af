// kp/vulkan.h - the native handles, for programs that use Vulkan beside kp. The only header with Vulkan types.
#ifndef KP_VULKAN_H
#define KP_VULKAN_H

#include <kp/external.h>
#include <vulkan/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// A device of your own
// ---------------------------------------------------------------------------------------------------------------------

typedef struct kp_vulkan_queue {
    VkQueue queue;
    uint32_t family; // one that computes
} kp_vulkan_queue;

// What there is, and what of it is enabled: kp uses nothing else, and destroys none of it.
typedef struct kp_vulkan_device_desc {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr; // NULL: of the system's Vulkan loader
    VkInstance instance;                              //
    uint32_t api_version;                             // VkApplicationInfo.apiVersion of the instance: 1.1 or newer
    VkPhysicalDevice physical_device;                 //
    VkDevice device;                                  //
    const kp_vulkan_queue *queues;                    // the manager's, in this order; each once
    size_t queue_count;                               // at least 1
    const char *const *extensions;                    // of the device, those that are enabled
    size_t extension_count;                           //
    const VkPhysicalDeviceFeatures2 *features;        // those that are enabled, with the structs for more of them that
                                                      // VkDeviceCreateInfo had in its chain; NULL: none
    bool debug_utils;                                 // the instance has VK_EXT_debug_utils: objects get names
    void (*lock)(void *payload, VkQueue queue);       // called before each use of a queue, and
    void (*unlock)(void *payload, VkQueue queue);     // this after it; they must not call kp. NULL: kp has the queues
    void *lock_payload;                               // to itself, or the program sees to it
} kp_vulkan_device_desc;

// A manager on it. What kp would enable on a device of its own is worth enabling here as well: robustBufferAccess above
// all, without which an index out of range may reach other memory, the types that kernels are to have, and
// timelineSemaphore, which several queues need. A program that needs what is not enabled is refused with its name.
//
// Instance and device must outlive the manager and all its kp_views (they may outlive the manager itself, and hold
// memory); destroy those first, in any order. Of `desc`, which may be NULL, device, queue_families, extensions and
// validation must be zero. Messages of a validation layer go where the instance sends them. kp_device_info.index of
// the device is UINT32_MAX. KP_ERROR_ARGUMENT, KP_ERROR_UNSUPPORTED, KP_ERROR_HOST_MEMORY. Thread-safety: any.
KP_API kp_result kp_vulkan_adopt_device(const kp_vulkan_device_desc *native, const kp_manager_desc *desc,
                                        kp_manager **out);

// ---------------------------------------------------------------------------------------------------------------------
// Handles of kp's
// ---------------------------------------------------------------------------------------------------------------------

// Handles that kp owns (or adopted); valid until the manager is destroyed.
typedef struct kp_vulkan_manager {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;                 // the manager's first; submit to it only while no other thread uses the manager
    uint32_t queue_family;         //
    uint32_t api_version;          // that kp uses of Vulkan: the instance's, or the device's if lower
    const char *const *extensions; // of the device, those that kp enabled for itself
    size_t extension_count;        //
    const VkPhysicalDeviceFeatures2 *features; // enabled, with its chain
} kp_vulkan_manager;

// KP_ERROR_STATE when the manager is destroyed. Thread-safety: any.
KP_API kp_result kp_vulkan_from_manager(const kp_manager *manager, kp_vulkan_manager *out);

// Queue `index` of the manager, and its family; submit to it only while no other thread uses the manager.
// KP_ERROR_INDEX. Thread-safety: any.
KP_API kp_result kp_vulkan_from_queue(const kp_manager *manager, uint32_t index, VkQueue *queue, uint32_t *family);

// The device side of a tensor; valid until it is destroyed. Its usage is storage, transfer source and destination.
// Where the manager's queues, with the one that it may have for copies (kp_tensor_upload), are of several families, its
// sharing mode is concurrent between them.
typedef struct kp_vulkan_buffer {
    VkBuffer buffer;            //
    VkDeviceSize offset;        // of the tensor's first byte in it
    VkDeviceSize size;          // bytes
    VkDeviceMemory memory;      // shared with other tensors; VK_NULL_HANDLE for an adopted buffer
    VkDeviceSize memory_offset; // of the tensor's first byte in that
} kp_vulkan_buffer;

// KP_ERROR_STATE for an empty or dead tensor, KP_ERROR_TYPE for an image. Thread-safety: any.
KP_API kp_result kp_vulkan_from_tensor(const kp_tensor *tensor, kp_vulkan_buffer *out);

// A tensor whose device side is a buffer of your own, of the manager's device: bound to memory, `size` bytes long, made
// for storage and transfers both ways (and for indirect dispatches, if it is used so), and shared between the families
// of the manager's queues. It must outlive the tensor and the work that uses it; kp does not destroy it, and knows
// nothing of what others do with it. The host side is a copy, which syncs bring over. The memory type is DEVICE or
// STORAGE; all else is as kp_tensor_create. KP_ERROR_ARGUMENT where the buffer is too small. Thread-safety: any.
KP_API kp_result kp_vulkan_adopt_buffer(kp_manager *manager, VkBuffer buffer, VkDeviceSize size,
                                        const kp_tensor_desc *desc, kp_tensor **out);

// The device side of an image; valid until it is destroyed. Its usage is transfer source and destination, and storage
// and sampled as far as the device has them for its format.
typedef struct kp_vulkan_image {
    VkImage image;
    VkImageView view;     // of all of it
    VkFormat format;      //
    VkImageLayout layout; // that it is in, and is to be left in, between sequences
    VkExtent3D extent;    //
} kp_vulkan_image;

// KP_ERROR_TYPE for a tensor, KP_ERROR_STATE for a dead image. Thread-safety: any.
KP_API kp_result kp_vulkan_from_image(const kp_image *image, kp_vulkan_image *out);

// Valid until the semaphore is destroyed. KP_ERROR_STATE. Thread-safety: any.
KP_API kp_result kp_vulkan_from_semaphore(const kp_semaphore *semaphore, VkSemaphore *out);

// A semaphore of your own, of the manager's device, for kp_sequence_submit; `desc` says whether it is binary, and may
// be NULL. It must outlive kp's and the work that uses it; kp does not destroy it. KP_ERROR_ARGUMENT,
// KP_ERROR_UNSUPPORTED. Thread-safety: any.
KP_API kp_result kp_vulkan_adopt_semaphore(kp_manager *manager, VkSemaphore semaphore, const kp_semaphore_desc *desc,
                                           kp_semaphore **out);

// What a dispatch of the algorithm binds; valid until the algorithm changes or is destroyed.
typedef struct kp_vulkan_algorithm {
    VkShaderModule module;   //
    VkPipelineLayout layout; // with the descriptor set layouts of the module's bindings
    VkPipeline pipeline;    // of its default launch, compiled now if it was not yet; VK_NULL_HANDLE where that is empty
    uint32_t workgroups[3]; // of that launch, as vkCmdDispatch takes them
} kp_vulkan_algorithm;

// KP_ERROR_STATE for a dead one; else as a dispatch of it. Thread-safety: one at a time per algorithm.
KP_API kp_result kp_vulkan_from_algorithm(kp_algorithm *algorithm, kp_vulkan_algorithm *out);

// What an evaluation of the sequence submits; valid until it records anew or is destroyed.
typedef struct kp_vulkan_sequence {
    VkQueue queue;            //
    uint32_t queue_family;    //
    VkCommandBuffer commands; // with what was recorded, from the first evaluation on
    VkFence fence;            // signalled when an evaluation is done; a wait for it is kp_sequence_await's
} kp_vulkan_sequence;

// KP_ERROR_STATE for a dead one. Thread-safety: one at a time per sequence.
KP_API kp_result kp_vulkan_from_sequence(const kp_sequence *sequence, kp_vulkan_sequence *out);

// ---------------------------------------------------------------------------------------------------------------------
// An op of your own
// ---------------------------------------------------------------------------------------------------------------------

// What an op does with the device side of one memory; kp computes the barriers around it from this.
typedef struct kp_vulkan_use {
    kp_memory *memory;
    bool reads, writes;
} kp_vulkan_use;

typedef struct kp_vulkan_op {
    const char *name;            // in messages, profiles and debuggers; NULL: "native"
    const kp_vulkan_use *uses;   // everything of kp's that it touches
    size_t use_count;            //
    VkPipelineStageFlags stages; // at which it does: compute shader, transfer, draw indirect. 0: any of the three

    // Records commands, any that the queue's family allows outside a render pass; barriers among them are its own
    // business. Called at the first evaluation, and again when the sequence has to record anew, on the thread that
    // evaluates: it must neither use the sequence nor change an algorithm. It may bind what it likes: kp binds all that
    // it needs before each command. Anything but KP_OK is the result of the evaluation, and the sequence stays usable.
    kp_result (*record)(void *payload, VkDevice device, VkCommandBuffer commands);

    // Called once, when the op is dropped, or could not be recorded. What commands in flight use must outlive them: the
    // op may be dropped before. NULL: nothing to do.
    void (*destroy)(void *payload);
    void *payload;
} kp_vulkan_op;

// Adds the op to the sequence. KP_ERROR_ARGUMENT, KP_ERROR_STATE as other kp_record_*. Thread-safety: one at a time per
// sequence.
KP_API kp_result kp_vulkan_record(kp_sequence *sequence, const kp_vulkan_op *desc);

#ifdef __cplusplus
}
#endif

#endif
