// Reads a SPIR-V module: what an entry point binds, pushes, specializes and shares, and what it reads and writes.
//
//     kp_reflect_create(&(kp_reflect_desc){.bytes = ..., .size = ...}, &reflect)
//     reflect->words, reflect->entry, reflect->bindings ...      plain data, read it
//     kp_reflect_specialize(reflect, values, count, &sizes)      what depends on specialization constants
//     kp_reflect_destroy(reflect)
//
// Takes any bytes: rubbish is KP_ERROR_SPIRV, never a crash, and memory and time stay in proportion to the input. It
// does not judge whether a module is valid (validate.h does); it only makes sure that what it says holds.
#ifndef KP_SRC_RUNTIME_REFLECT_H
#define KP_SRC_RUNTIME_REFLECT_H

#include <kp/base.h>

#define KP_REFLECT_NO_SPEC UINT32_MAX // "no specialization constant"

// Descriptor types; X(name, words for messages).
#define KP_REFLECT_KINDS(X)                                                                   \
    X(STORAGE_BUFFER, "storage buffer")                                                       \
    X(UNIFORM_BUFFER, "uniform buffer")                                                       \
    X(STORAGE_IMAGE, "storage image")                                                         \
    X(SAMPLED_IMAGE, "sampled image")               /* without its sampler */                 \
    X(COMBINED_IMAGE_SAMPLER, "image with sampler") /* GLSL's sampler2D */                    \
    X(SAMPLER, "sampler")                           /* without an image */                    \
    X(UNIFORM_TEXEL_BUFFER, "uniform texel buffer") /* GLSL's samplerBuffer, textureBuffer */ \
    X(STORAGE_TEXEL_BUFFER, "storage texel buffer") /* GLSL's imageBuffer */                  \
    X(ACCELERATION_STRUCTURE, "acceleration structure")                                       \
    X(OTHER, "resource of an unknown kind")

typedef enum kp_reflect_kind {
#define KP_X(name, words) KP_REFLECT_##name,
    KP_REFLECT_KINDS(KP_X)
#undef KP_X
} kp_reflect_kind;

// "storage buffer". Static storage.
const char *kp_reflect_kind_name(kp_reflect_kind kind);

// One (set, binding) that the entry point uses. Sorted by set, then binding; each pair once.
typedef struct kp_reflect_binding {
    uint32_t set, binding; //
    kp_reflect_kind kind;  //
    uint32_t count;        // descriptors: 1, or the length of an array of them; 0: an array without a length
    bool reads, writes;    // what the entry point does to it, through any chain of accesses and calls
    const char *name;      // in the source; NULL when the module does not say
    uint64_t min_size;     // buffers: bytes of the members with a fixed size, the least that must be bound
    uint32_t array_offset; // buffers whose last member is an array: bytes before its first element
    uint32_t array_stride; // ... bytes from one element to the next; 0: no such array
    bool array_open;       // ... the array has no length of its own: it ends with the buffer
    bool has_dtype;        // ... its elements are scalars or vectors, described by:
    kp_dtype dtype;        // of one scalar (images: of what a read gives)
    uint32_t components;   // scalars in an element, 1 to 4
    uint32_t dimensions;   // images: 1, 2 or 3; a cube is 2; 0 for all else
    bool arrayed;          // images: layers, or cube faces
    bool multisampled;     // images
    uint32_t format;       // storage images: SpvImageFormat; 0 (unknown) needs a device feature
    uint32_t filter;       // images with samplers, of our compiler: 1 + kp_filter; 0: the image's
    uint32_t address_mode; // ... 1 + kp_address_mode; 0: the image's
    bool unnormalized;     // ... sampled at pixels, not from 0 to 1
} kp_reflect_binding;

// One specialization constant of the module.
typedef struct kp_reflect_spec {
    uint32_t id;      // SpecId
    kp_dtype dtype;   // KP_BOOL takes 4 bytes (VkBool32) in a VkSpecializationInfo
    uint64_t value;   // the default, its bits in the low bytes
    const char *name; // NULL when the module does not say
} kp_reflect_spec;

// One member of the push constants that is a scalar or a vector.
typedef struct kp_reflect_member_info {
    const char *name;    // NULL when the module does not say
    uint32_t offset;     // bytes
    kp_dtype dtype;      // of one scalar
    uint32_t components; // 1 to 4
} kp_reflect_member_info;

typedef struct kp_reflect_entry {
    const char *name;            //
    uint32_t model;              // SpvExecutionModel
    bool compute;                // model is GLCompute
    uint32_t local_size[3];      // compute: with the defaults of the specialization constants; 0: not computable
    uint32_t local_size_spec[3]; // SpecId that is this axis, or KP_REFLECT_NO_SPEC. An axis that is computed from some
                                 // has none: ask kp_reflect_specialize
} kp_reflect_entry;

// A place of the source that can tell something (base/launch.h).
typedef struct kp_reflect_site {
    uint32_t kind;                    // kp_launch_site
    uint32_t line, column;            //
    const char *text, *kernel, *file; //
} kp_reflect_site;

typedef struct kp_reflect {
    const uint32_t *words;              // the module in host byte order, aligned
    size_t word_count;                  //
    uint32_t version;                   // SPIR-V's, as in its header: 0x00010300 is 1.3
    const kp_reflect_entry *entries;    // all in the module
    size_t entry_count;                 //
    const kp_reflect_entry *entry;      // the chosen one; what follows is about it
    const kp_reflect_binding *bindings; //
    size_t binding_count;               //
    uint32_t set_count;                 // one past the highest set in `bindings`
    uint32_t push_offset;               // where the first member of the push constant block lies
    uint32_t push_size;                 // one past its last byte, a multiple of 4: what a caller pushes from byte 0
                                        // on. 0: no push constants
    const kp_reflect_member_info *push; // those of its members that are scalars or vectors
    size_t push_count;                  //
    uint64_t shared_bytes;              // workgroup memory with the default constants, tightly packed (a driver may
                                        // use more); UINT64_MAX: not computable
    bool loops;                         // has a loop (lavapipe cuts these at 65,535 rounds an invocation)
    bool subgroups;                     // has operations between the invocations of a subgroup, or asks for its size
    bool extended_subgroups;            // ... on integers of other than 32 bits, or f16
    bool buffer_atomics64;              // has atomics of 64 bits on buffers
    bool shared_atomics64;              // ... on workgroup memory
    bool buffer_float_adds;             // has atomic additions to f32 in buffers
    bool shared_float_adds;             // ... in workgroup memory
    const kp_reflect_spec *specs;       // of the whole module, sorted by id
    size_t spec_count;                  //
    const uint32_t *capabilities;       // SpvCapability, as declared
    size_t capability_count;            //
    const char *const *extensions;      // "SPV_KHR_..."
    size_t extension_count;             //
    bool regroupable;                   // keeps the contract of base/launch.h: the entry is "main", and "kp_blocks"
                                        // does the same by blocks
    bool reports;                       // has a buffer to tell things with, at:
    uint32_t report_set;                //
    uint32_t report_binding;            // it is not among `bindings`, but would be the last
    const kp_reflect_site *sites;       // what it can tell
    size_t site_count;                  //
    bool prints;                        // one of them is a print
    bool foldable;                      // the entry is "main", and "kp_groups" does the same in any shape of dispatch
    uint32_t launch_push_offset;        // regroupable or foldable: where kp_launch_push lies in the push constants
                                        // of the other entry
} kp_reflect;

typedef struct kp_reflect_desc {
    const void *bytes; // any alignment, either byte order
    size_t size;       //
    const char *entry; // NULL: "main", or the only compute entry point
    const char *label; // opens the messages: "algorithm 'blur'"; NULL: "SPIR-V"
} kp_reflect_desc;

// KP_ERROR_SPIRV when it is not a module that can be read, or has no compute entry point; KP_ERROR_ARGUMENT when the
// entry point is not there (the message lists those that are), is not for compute, or must be named;
// KP_ERROR_HOST_MEMORY. The bytes need not outlive the call.
kp_result kp_reflect_create(const kp_reflect_desc *desc, kp_reflect **out);
void kp_reflect_destroy(kp_reflect *reflect); // NULL is fine

// The value of one specialization constant: the bits in the low bytes, any non-zero is true for a bool.
typedef struct kp_reflect_value {
    uint32_t id;
    uint64_t bits;
} kp_reflect_value;

// What depends on them.
typedef struct kp_reflect_sizes {
    uint32_t local_size[3]; // 0: not computable
    uint64_t shared_bytes;  // as kp_reflect.shared_bytes
} kp_reflect_sizes;

// Constants that are not among `values` keep their defaults; ids that the module does not have are ignored, as Vulkan
// does. KP_ERROR_HOST_MEMORY. Safe from any thread.
kp_result kp_reflect_specialize(const kp_reflect *reflect, const kp_reflect_value *values, size_t value_count,
                                kp_reflect_sizes *out);

// The constant with that id, or NULL.
const kp_reflect_spec *kp_reflect_find_spec(const kp_reflect *reflect, uint32_t id);

// True when the module declares the capability (SpvCapability).
bool kp_reflect_has_capability(const kp_reflect *reflect, uint32_t capability);

#endif
