// A kernel with memory, push constants and a launch: what a dispatch runs.
//
// Lifetime in two counts, as memory.h: `holds` counts who needs the pipelines (the handle, submissions in flight),
// `refs` who needs the struct.
#ifndef KP_SRC_RUNTIME_ALGORITHM_H
#define KP_SRC_RUNTIME_ALGORITHM_H

#include "constants.h"
#include "memory.h"

// What a parameter of the program holds, when the program says so.
typedef struct kp_algorithm_param {
    uint32_t binding;     // of set 0
    kp_dtype dtype;       //
    bool image;           // it is one
    uint32_t ndim;        // 1, or 2 or 3 for a view; of an image
    uint32_t components;  // scalars in an element
    bool writes;          //
    uint32_t least;       // bytes of a uniform
    kp_struct *structure; // of an element; NULL: it is none
    char *words;          // "parameter 'x' is Array[f32]"
} kp_algorithm_param;

struct kp_algorithm {
    kp_list_link link;             // in the manager's list, while the handle lives
    kp_manager *manager;           // struct held
    atomic_uint refs, holds;       //
    atomic_bool alive;             // the handle lives, and so does the manager
    unsigned version;              // goes up with every change: recordings then record again
    char *label;                   //
    kp_pipelines_kernel *kernel;   // held while there are holds
    kp_pipelines_kernel **retired; // earlier ones that work in flight may use, likewise
    size_t retired_count;          //
    kp_memory **memory;            // by binding of the module's reflection, referred to
    size_t memory_count;           // the module's bindings
    kp_algorithm_param *params;    // of the program's buffers
    size_t param_count;            //
    kp_constants constants;        //
    kp_memory *first;              // memory[0] as the caller gave it, referred to; NULL: none
    unsigned char *push;           // default push constants, of the module's size; NULL: none
    size_t push_given;             // bytes that the caller gave
    int32_t *shapes;               // of the views, in the order of the parameters; NULL: there are none
    uint32_t shape_size;           // bytes of them
    uint32_t index_axes;           // how many the kernel's index has, where the program says so; else 0
    uint32_t view_extent[3];       // the launch that the first written parameter asks for, when it is a view
    bool has_view_extent;          // ... or an image
    uint32_t workgroups[3];        // default launch; all zero:
    uint32_t extent[3];            // this one; all zero too: the elements of `first`
};

static inline const kp_reflect *kp_algorithm_reflect(const kp_algorithm *algorithm) {
    return algorithm->kernel->module->reflect;
}

void kp_algorithm_ref(kp_algorithm *algorithm);
void kp_algorithm_unref(kp_algorithm *algorithm);
bool kp_algorithm_hold(kp_algorithm *algorithm); // false when it is destroyed
void kp_algorithm_let_go(kp_algorithm *algorithm);
void kp_algorithm_kill(kp_algorithm *algorithm); // ends the handle's life, once

// Checks that `size` bytes can be the module's push constants: exactly those, or with the padding that a C struct of
// them may have at its end.
kp_result kp_algorithm_check_push(const kp_algorithm *algorithm, const void *push, size_t size);

// Bytes of push constants that the caller passes.
uint32_t kp_algorithm_push_size(const kp_algorithm *algorithm);

// That not both are given; NULL and all zero are not.
kp_result kp_algorithm_check_launch(const kp_algorithm *algorithm, const uint32_t *workgroups, const uint32_t *extent);

// What a launch becomes on the device.
typedef struct kp_algorithm_launch {
    bool empty; // nothing to do: no elements
    kp_pipelines_setting setting;
    uint32_t groups[3];
    kp_launch_push push; // for setting.blocks and setting.groups
    uint32_t push_offset;
} kp_algorithm_launch;

// Either may be all zero, or NULL; both are: the algorithm's own.
kp_result kp_algorithm_plan(const kp_algorithm *algorithm, const uint32_t *workgroups, const uint32_t *extent,
                            kp_algorithm_launch *out);

#endif
