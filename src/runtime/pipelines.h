// The manager's cache of modules and pipelines, by content: making an algorithm from the same words again finds what
// the first one made.
//
//     module    words and entry point: reflection, shader module, layout
//     kernel    a module with its specialization constants; what an algorithm holds
//     variant   a kernel with a launch setting: one VkPipeline
//
// A kernel that nobody holds stays for a while, in case it comes back; the oldest of those go first.
#ifndef KP_SRC_RUNTIME_PIPELINES_H
#define KP_SRC_RUNTIME_PIPELINES_H

#include "base/map.h"
#include "launch_plan.h"
#include "reflect.h"
#include "vulkan/pipeline.h"

#include <kp/runtime.h>

typedef struct kp_pipelines_module {
    kp_map kernels;            // by specialization values
    unsigned kernel_count;     //
    void *key;                 // its key in the cache
    size_t key_size;           //
    kp_reflect *reflect;       //
    VkShaderModule handle;     //
    VkShaderModule pairs;      // what works on two indices at a time (pairs.h); VK_NULL_HANDLE: none
    kp_pipeline_layout layout; //
    uint32_t subgroup_size;    // asked for; 0: the device's choice
    bool regroup;              // launched by blocks
    bool fold;                 // can be launched in groups by a dispatch of any shape
    bool guarded;              // says when a loop was cut (loop_guard.h)
    bool reports;              // that, or what reflect->reports says: it has one binding more, the last (faults.h)
} kp_pipelines_module;

// The settings of kp_launch_plan that make another pipeline. Compared as bytes: all of it is set.
typedef struct kp_pipelines_setting {
    uint32_t blocks; // KP_LAUNCH_BLOCKS_ENTRY; 0: all up to `pairs` are 0
    uint32_t local[3];
    uint32_t items, adjacent, folded;
    uint32_t pairs;  // of module->pairs, by blocks
    uint32_t groups; // KP_LAUNCH_GROUPS_ENTRY, and all else 0
} kp_pipelines_setting;

typedef struct kp_pipelines_variant {
    struct kp_pipelines_variant *next;
    kp_pipelines_setting setting;
    VkPipeline pipeline;
} kp_pipelines_variant;

typedef struct kp_pipelines_kernel {
    kp_pipelines_module *module;               //
    unsigned users;                            // algorithms that hold it
    struct kp_pipelines_kernel *older, *newer; // in the list of idle ones
    kp_reflect_value *values;                  // its specialization constants, sorted by id
    size_t value_count;                        //
    kp_reflect_sizes sizes;                    // local size and shared memory with those
    kp_pipelines_variant *variants;            // linked
} kp_pipelines_kernel;

typedef struct kp_pipelines {
    pthread_mutex_t lock; // guards all of it
    kp_map modules;       // by words, entry point and subgroup size
    kp_pipelines_kernel *oldest_idle, *newest_idle;
    unsigned idle_count;
} kp_pipelines;

typedef struct kp_pipelines_desc {
    const void *bytes; // SPIR-V, either byte order
    size_t size;       //
    const char *entry; // NULL: kp_reflect's choice
    const kp_spec *specs;
    size_t spec_count;
    uint32_t subgroup_size; // 0: the device's choice
    const char *label;      // "x", of the algorithm
} kp_pipelines_desc;

void kp_pipelines_init(kp_pipelines *cache);
void kp_pipelines_destroy(kp_manager *manager); // everything; no kernel is in use any more

// Drops what nobody holds.
void kp_pipelines_trim(kp_manager *manager);

// Checks the module and the constants against each other and the device (errors as kp_algorithm_create), or finds them
// checked. The caller holds the kernel until kp_pipelines_put.
kp_result kp_pipelines_get(kp_manager *manager, const kp_pipelines_desc *desc, kp_pipelines_kernel **out);
// The same module with other constants; `kernel` is held, and so is what comes out.
kp_result kp_pipelines_sibling(kp_manager *manager, const kp_pipelines_kernel *kernel, const kp_spec *specs,
                               size_t spec_count, const char *label, kp_pipelines_kernel **out);
void kp_pipelines_put(kp_manager *manager, kp_pipelines_kernel *kernel);

// The pipeline for a launch setting, compiled when it is not there. It lives as long as the kernel is held.
kp_result kp_pipelines_variant_get(kp_manager *manager, kp_pipelines_kernel *kernel,
                                   const kp_pipelines_setting *setting, const char *label, VkPipeline *out);

#endif
