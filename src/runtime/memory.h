// What an algorithm binds and an op works on: a device side and, for most, a host side.
//
// Lifetime in two counts. `holds` counts who needs the contents: the caller's handle, submissions in flight, views; the
// last to let go frees the buffers. `refs` counts who needs the struct: those, and the sequences and algorithms that
// remember it, so that they can say its name when it is gone.
//
// A view is a part of another memory, its root, whose contents and struct it holds; what has contents of its own is its
// own root. Views of views have the same root. Who touches contents goes by root and offset.
#ifndef KP_SRC_RUNTIME_MEMORY_H
#define KP_SRC_RUNTIME_MEMORY_H

#include "format.h"
#include "manager.h"
#include "order.h"
#include "vulkan/buffer.h"
#include "vulkan/pixels.h"

struct kp_memory {
    kp_list_link link;           // in the manager's list, while the handle lives
    kp_manager *manager;         // struct held
    kp_memory *root;             // itself, or what this is a view of
    uint64_t offset;             // bytes into the root
    atomic_uint refs, holds;     //
    atomic_bool alive;           // the handle lives, and so does the manager
    atomic_uint version;         // of a root: goes up when the host side is made: recordings then record again
    kp_device *device;           // held while there are contents
    char *label;                 //
    kp_memory_type type;         //
    kp_dtype dtype;              // of structs, and of what kp does not know: KP_U8
    uint32_t item;               // bytes of one element
    const kp_struct *structure;  // of an element, its root's; NULL: it is none
    uint32_t ndim;               //
    uint64_t shape[KP_MAX_DIMS]; //
    uint64_t count, bytes;       // elements, and their bytes; the buffers are a little larger
    bool shared;                 // the host side is the device side
    void *borrowed;              // the caller's memory that is the host side; NULL: none
    void (*release)(void *);     // called when it is not used any more; NULL: nobody waits
    void *release_payload;       //
    bool undefined;              // the host side need not start as `fill`
    unsigned char fill[8];       // one element, with which the host side starts
    kp_order_state order;        // of a root: submissions that used it; guarded by the manager's order_lock
    kp_buffer device_side;       // of a root that is a tensor
    kp_buffer_share share;       // how others have its memory, of a root; zeroed: they do not
    kp_buffer host_side;         // of a root; when not shared: made when first needed

    // Of images alone, which have no views, and whose host side is never the device side.
    const kp_format *format;           // NULL: it is a tensor
    kp_pixels pixels;                  // device side
    kp_pixels_uses uses;               //
    uint32_t dimensions;               // 1 to 3
    VkExtent3D extent;                 // axes that it does not have are 1
    VkFilter filter;                   // when sampled
    VkSamplerAddressMode address_mode; //
};

// What the elements are, for messages: "f32", "Particle", "items of 12 bytes".
const char *kp_memory_holds(const kp_memory *memory, char text[64]);

// "tensor" or "image", for messages.
const char *kp_memory_kind(const kp_memory *memory);

void kp_memory_ref(kp_memory *memory);
void kp_memory_unref(kp_memory *memory);
bool kp_memory_hold(kp_memory *memory); // false when it is destroyed
void kp_memory_let_go(kp_memory *memory);

// Ends the handle's life, once: for kp_memory_destroy and kp_manager_destroy.
void kp_memory_kill(kp_memory *memory);

// The host side, made if it is not there. KP_ERROR_STATE for STORAGE. An empty memory has none: KP_OK.
kp_result kp_memory_need_host(kp_memory *memory);
bool kp_memory_has_host(const kp_memory *memory); // there now (or shared)
void *kp_memory_host(const kp_memory *memory);    // NULL when not there

// Bytes that a kernel may see of it: whole words, since modules without 8- and 16-bit types work on those.
VkDeviceSize kp_memory_range(const kp_memory *memory);
VkDeviceSize kp_memory_uniform_range(const kp_memory *memory); // the same of a uniform buffer: rows of 16 bytes

// KP_ERROR_ARGUMENT for NULL and for another manager's, KP_ERROR_STATE for a dead one. `who` opens the message:
// "sequence 's'"; `index` is the position in the caller's list.
kp_result kp_memory_check(const kp_memory *memory, const kp_manager *manager, const char *who, size_t index);

// Space for all tensors of `bytes` on the device; KP_ERROR_LIMIT and so on as kp_tensor_create. Fills device_side, and
// links the memory into its manager: everything else is set. A device side that is foreign is taken as it is.
kp_result kp_memory_open(kp_memory *memory, const void *data);

// The same for a view: root, offset and bytes are set, and the caller holds the root's contents.
void kp_memory_open_view(kp_memory *memory);

#endif
