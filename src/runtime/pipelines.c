// See pipelines.h. Nothing slow happens under the lock: what is missing is made outside of it, and if another thread
// was quicker, its work is used and one's own thrown away.
#include "pipelines.h"

#include "base/alloc.h"
#include "float_rules.h"
#include "known_zeros.h"
#include "loop_guard.h"
#include "manager.h"
#include "pairs.h"
#include "requirements.h"
#include "specs.h"
#include "validate.h"
#include "vulkan/guard.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_IDLE = 64,    // kernels that nobody holds
    LAUNCH_SPECS = 6, // constants of base/launch.h
};

void kp_pipelines_init(kp_pipelines *cache) { pthread_mutex_init(&cache->lock, NULL); }

// ---------------------------------------------------------------------------------------------------------------------
// Modules
// ---------------------------------------------------------------------------------------------------------------------

static void free_module(kp_device *device, kp_pipelines_module *module) {
    if (module == NULL)
        return;
    kp_pipeline_layout_destroy(device, &module->layout);
    kp_pipeline_module_destroy(device, module->handle);
    kp_pipeline_module_destroy(device, module->pairs);
    kp_reflect_destroy(module->reflect);
    kp_map_free(&module->kernels);
    kp_alloc_free(module->key);
    kp_alloc_free(module);
}

// What can be told without reading them.
static kp_result check_bytes(const kp_pipelines_desc *desc) {
    if (desc->bytes == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': the program has no words", desc->label);
    if (desc->size > PTRDIFF_MAX)
        return kp_error_set(KP_ERROR_SPIRV, "algorithm '%s': no module has %zu bytes", desc->label, desc->size);
    return KP_OK;
}

// Words, then the subgroup size, then the entry point's name.
static kp_result make_key(const kp_pipelines_desc *desc, void **key, size_t *size) {
    const char *entry = desc->entry != NULL ? desc->entry : "";
    size_t length = strlen(entry);
    *size = desc->size + sizeof desc->subgroup_size + 1 + length;
    *key = kp_alloc_new(*size);
    if (*key == NULL)
        return kp_error_host_memory(*size);
    unsigned char *bytes = *key;
    memcpy(bytes, desc->bytes, desc->size);
    bytes += desc->size;
    memcpy(bytes, &desc->subgroup_size, sizeof desc->subgroup_size);
    bytes += sizeof desc->subgroup_size;
    bytes[0] = desc->entry != NULL;
    memcpy(bytes + 1, entry, length);
    return KP_OK;
}

// Where the module's report lies, or a place behind all others, so that descriptors need no more sets.
static kp_pipeline_binding report_place(const kp_reflect *reflect) {
    kp_pipeline_binding place = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    if (reflect->reports) {
        place.set = reflect->report_set;
        place.binding = reflect->report_binding;
    } else if (reflect->binding_count != 0) {
        const kp_reflect_binding *last = &reflect->bindings[reflect->binding_count - 1];
        place.set = last->set;
        place.binding = last->binding + 1;
    }
    return place;
}

static kp_result make_layout(kp_manager *manager, kp_pipelines_module *module, const char *label) {
    const kp_reflect *reflect = module->reflect;
    uint32_t count = (uint32_t)reflect->binding_count + module->reports;
    kp_pipeline_binding *bindings = kp_alloc_zero(count, sizeof *bindings);
    if (bindings == NULL)
        return kp_error_host_memory(count * sizeof *bindings);
    for (size_t i = 0; i < reflect->binding_count; i++)
        bindings[i] = (kp_pipeline_binding){.set = reflect->bindings[i].set,
                                            .binding = reflect->bindings[i].binding,
                                            .type = kp_requirements_descriptor(reflect->bindings[i].kind)};
    if (module->reports)
        bindings[count - 1] = report_place(reflect);
    uint32_t push_size = reflect->push_size;
    uint32_t with_launch = reflect->launch_push_offset + (uint32_t)sizeof(kp_launch_push);
    if (module->regroup || module->fold)
        push_size = with_launch <= manager->device->info.max_push_constants ? with_launch : push_size;
    kp_result result = kp_pipeline_layout_create(manager->device, bindings, count, push_size, label, &module->layout);
    kp_alloc_free(bindings);
    return result;
}

static bool is_own(const kp_reflect *reflect) { return reflect->regroupable || reflect->foldable; }

static bool is_lavapipe(const kp_manager *manager) { return manager->launch.driver == KP_LAUNCH_DRIVER_LAVAPIPE; }

// Of words that are nearly as the device gets them: lavapipe must not know the zeros of kernels of kp's compiler.
static kp_result create(kp_manager *manager, const kp_reflect *reflect, const uint32_t *words, size_t count,
                        const char *label, VkShaderModule *out) {
    uint32_t *hidden = NULL;
    size_t hidden_count;
    kp_result result = KP_OK;
    if (is_lavapipe(manager) && is_own(reflect))
        result = kp_known_zeros_apply(words, count, &hidden, &hidden_count);
    if (result == KP_OK && hidden != NULL)
        result = kp_pipeline_module_create(manager->device, hidden, hidden_count, label, out);
    else if (result == KP_OK)
        result = kp_pipeline_module_create(manager->device, words, count, label, out);
    kp_alloc_free(hidden);
    return result;
}

// Where it pays and can be: the module for two indices at a time.
static kp_result make_pairs(kp_manager *manager, kp_pipelines_module *module, const uint32_t *words, size_t count,
                            const char *label) {
    const kp_device *device = manager->device;
    uint32_t *paired = NULL;
    if (!is_lavapipe(manager) || !device->features.core.features.shaderInt64 || !module->regroup || module->reports)
        return KP_OK;
    kp_result result = kp_pairs_apply(words, count, &paired, &count);
    if (result == KP_OK && paired != NULL)
        result = create(manager, module->reflect, paired, count, label, &module->pairs);
    kp_alloc_free(paired);
    return result;
}

// The module as the device gets it: kernels of kp's compiler keep Python's rules for NaN and -0.0 where it can be asked
// for them, and a driver that cuts loops says so.
static kp_result make_handle(kp_manager *manager, kp_pipelines_module *module, const char *label) {
    const kp_reflect *reflect = module->reflect;
    const uint32_t *words = reflect->words;
    size_t count = reflect->word_count;
    uint32_t *ruled = NULL, *guarded = NULL;
    kp_result result = KP_OK;
    uint32_t widths = manager->device->limits.float_rules;
    if (widths != 0 && is_own(reflect)) {
        result = kp_float_rules_apply(words, count, widths, &ruled, &count);
        words = ruled;
    }
    if (result == KP_OK && module->guarded) {
        kp_pipeline_binding place = report_place(reflect);
        result = kp_loop_guard_apply(words, count, place.set, place.binding, &guarded, &count);
        words = guarded;
    }
    if (result == KP_OK)
        result = create(manager, reflect, words, count, label, &module->handle);
    if (result == KP_OK)
        result = make_pairs(manager, module, words, count, label);
    kp_alloc_free(ruled);
    kp_alloc_free(guarded);
    return result;
}

// All that can fail.
static kp_result build_module(kp_manager *manager, const kp_pipelines_desc *desc, kp_pipelines_module *module) {
    kp_device *device = manager->device;
    char name[256];
    snprintf(name, sizeof name, "algorithm '%.200s'", desc->label);
    kp_result result = kp_reflect_create(
        &(kp_reflect_desc){.bytes = desc->bytes, .size = desc->size, .entry = desc->entry, .label = name},
        &module->reflect);
    if (result != KP_OK)
        return result;
    const kp_reflect *reflect = module->reflect;
    result = kp_validate_module(&(kp_validate_desc){
        .words = reflect->words,
        .word_count = reflect->word_count,
        .api_version = device->limits.api_version,
        .spirv_1_4 = device->features.spirv_1_4,
        .scalar_block_layout = device->features.scalar.scalarBlockLayout,
        .uniform_standard_layout = device->features.standard.uniformBufferStandardLayout,
        .workgroup_scalar_layout = device->features.shared_layout.workgroupMemoryExplicitLayoutScalarBlockLayout,
        .local_size_id = device->features.maintenance4.maintenance4,
        .label = name});
    if (result == KP_OK)
        result = kp_requirements_check(device, reflect, desc->subgroup_size, desc->label);
    if (result != KP_OK)
        return result;
    module->subgroup_size = device->limits.max_subgroups != 0 ? desc->subgroup_size : 0;
    module->regroup = manager->regroup && reflect->regroupable;
    module->fold = manager->regroup && reflect->foldable;
    module->guarded = is_lavapipe(manager) && reflect->loops;
    module->reports = module->guarded || reflect->reports;
    result = make_handle(manager, module, desc->label);
    if (result == KP_OK)
        result = make_layout(manager, module, desc->label);
    return result;
}

// Takes the key over, also when it fails.
static kp_result make_module(kp_manager *manager, const kp_pipelines_desc *desc, void *key, size_t key_size,
                             kp_pipelines_module **out) {
    kp_pipelines_module *module = kp_alloc_zero(1, sizeof *module);
    if (module == NULL) {
        kp_alloc_free(key);
        return kp_error_host_memory(sizeof *module);
    }
    module->key = key;
    module->key_size = key_size;
    kp_result result = build_module(manager, desc, module);
    if (result != KP_OK) {
        free_module(manager->device, module);
        return result;
    }
    *out = module;
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Kernels
// ---------------------------------------------------------------------------------------------------------------------

static void free_kernel(kp_device *device, kp_pipelines_kernel *kernel) {
    if (kernel == NULL)
        return;
    for (kp_pipelines_variant *v = kernel->variants; v != NULL;) {
        kp_pipelines_variant *next = v->next;
        kp_pipeline_destroy(device, v->pipeline);
        kp_alloc_free(v);
        v = next;
    }
    kp_alloc_free(kernel->values);
    kp_alloc_free(kernel);
}

static const void *kernel_key(const kp_reflect_value *values, size_t count, size_t *size) {
    *size = count * sizeof *values;
    return values;
}

// Takes the values over, also when it fails.
static kp_result make_kernel(kp_manager *manager, const kp_pipelines_desc *desc, const kp_reflect *reflect,
                             kp_reflect_value *values, kp_pipelines_kernel **out) {
    kp_pipelines_kernel *kernel = kp_alloc_zero(1, sizeof *kernel);
    if (kernel == NULL) {
        kp_alloc_free(values);
        return kp_error_host_memory(sizeof *kernel);
    }
    kernel->values = values;
    kernel->value_count = desc->spec_count;
    kp_result result = kp_reflect_specialize(reflect, values, desc->spec_count, &kernel->sizes);
    if (result == KP_OK)
        result = kp_requirements_check_sizes(manager->device, &kernel->sizes, desc->subgroup_size, desc->label);
    if (result != KP_OK) {
        free_kernel(manager->device, kernel);
        return result;
    }
    *out = kernel;
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// The cache. These run under its lock, but for the last two.
// ---------------------------------------------------------------------------------------------------------------------

static void leave_idle(kp_pipelines *cache, kp_pipelines_kernel *kernel) {
    if (kernel->older != NULL)
        kernel->older->newer = kernel->newer;
    else
        cache->oldest_idle = kernel->newer;
    if (kernel->newer != NULL)
        kernel->newer->older = kernel->older;
    else
        cache->newest_idle = kernel->older;
    kernel->older = kernel->newer = NULL;
    cache->idle_count--;
}

static void hold(kp_pipelines *cache, kp_pipelines_kernel *kernel) {
    if (kernel->users++ == 0)
        leave_idle(cache, kernel);
}

static void make_idle(kp_pipelines *cache, kp_pipelines_kernel *kernel) {
    kernel->older = cache->newest_idle;
    if (kernel->older != NULL)
        kernel->older->newer = kernel;
    else
        cache->oldest_idle = kernel;
    cache->newest_idle = kernel;
    cache->idle_count++;
}

// Takes a kernel nobody holds, and its module when it was the last, out of the cache, and frees them.
static void evict(kp_device *device, kp_pipelines *cache, kp_pipelines_kernel *kernel) {
    kp_pipelines_module *module = kernel->module;
    size_t size;
    const void *key = kernel_key(kernel->values, kernel->value_count, &size);
    leave_idle(cache, kernel);
    kp_map_remove(&module->kernels, key, size);
    free_kernel(device, kernel);
    if (--module->kernel_count == 0) {
        kp_map_remove(&cache->modules, module->key, module->key_size);
        free_module(device, module);
    }
}

void kp_pipelines_put(kp_manager *manager, kp_pipelines_kernel *kernel) {
    kp_pipelines *cache = &manager->pipelines;
    kp_guard_lock(&cache->lock);
    if (--kernel->users == 0) {
        make_idle(cache, kernel);
        if (cache->idle_count > MAX_IDLE)
            evict(manager->device, cache, cache->oldest_idle);
    }
    kp_guard_unlock(&cache->lock);
}

void kp_pipelines_trim(kp_manager *manager) {
    kp_pipelines *cache = &manager->pipelines;
    kp_guard_lock(&cache->lock);
    while (cache->oldest_idle != NULL)
        evict(manager->device, cache, cache->oldest_idle);
    kp_guard_unlock(&cache->lock);
}

void kp_pipelines_destroy(kp_manager *manager) {
    kp_pipelines *cache = &manager->pipelines;
    while (cache->oldest_idle != NULL)
        evict(manager->device, cache, cache->oldest_idle);
    kp_map_free(&cache->modules);
    pthread_mutex_destroy(&cache->lock);
}

// The kernel of a module in the cache, made when it is not there.
static kp_result find_kernel(kp_manager *manager, const kp_pipelines_desc *desc, kp_pipelines_module *module,
                             kp_pipelines_kernel **out) {
    kp_pipelines *cache = &manager->pipelines;
    kp_reflect_value *values = NULL;
    kp_result result = kp_specs_read(module->reflect, desc->specs, desc->spec_count, desc->label, &values);
    if (result != KP_OK)
        return result;
    size_t size;
    const void *kernel_bytes = kernel_key(values, desc->spec_count, &size);
    kp_pipelines_kernel *kernel = kp_map_get(&module->kernels, kernel_bytes, size);
    if (kernel != NULL) {
        kp_alloc_free(values);
        hold(cache, kernel);
        *out = kernel;
        return KP_OK;
    }
    result = make_kernel(manager, desc, module->reflect, values, &kernel); // quick: the driver compiles later
    if (result != KP_OK)
        return result;
    if (!kp_map_set(&module->kernels, kernel_bytes, size, kernel)) {
        free_kernel(manager->device, kernel);
        return kp_error_host_memory(size);
    }
    kernel->module = module;
    kernel->users = 1;
    module->kernel_count++;
    *out = kernel;
    return KP_OK;
}

kp_result kp_pipelines_sibling(kp_manager *manager, const kp_pipelines_kernel *kernel, const kp_spec *specs,
                               size_t spec_count, const char *label, kp_pipelines_kernel **out) {
    const kp_pipelines_desc desc = {
        .specs = specs, .spec_count = spec_count, .subgroup_size = kernel->module->subgroup_size, .label = label};
    kp_guard_lock(&manager->pipelines.lock);
    kp_result result = find_kernel(manager, &desc, kernel->module, out);
    kp_guard_unlock(&manager->pipelines.lock);
    return result;
}

// A module is only safe outside the lock while one of its kernels is held. So a new module enters the cache together
// with its first kernel, and the constants of a known module are read under the lock. NULL: not there.
static kp_result find(kp_manager *manager, const kp_pipelines_desc *desc, const void *key, size_t key_size,
                      kp_pipelines_kernel **out) {
    kp_pipelines_module *module = kp_map_get(&manager->pipelines.modules, key, key_size);
    *out = NULL;
    return module != NULL ? find_kernel(manager, desc, module, out) : KP_OK;
}

static kp_result add(kp_manager *manager, kp_pipelines_module *module, kp_pipelines_kernel *kernel) {
    size_t size;
    const void *key = kernel_key(kernel->values, kernel->value_count, &size);
    if (!kp_map_set(&module->kernels, key, size, kernel))
        return kp_error_host_memory(size);
    if (!kp_map_set(&manager->pipelines.modules, module->key, module->key_size, module))
        return kp_error_host_memory(module->key_size);
    kernel->module = module;
    kernel->users = 1;
    module->kernel_count = 1;
    return KP_OK;
}

// A module that the cache does not have, with its first kernel. Takes the key over.
static kp_result make_both(kp_manager *manager, const kp_pipelines_desc *desc, void *key, size_t key_size,
                           kp_pipelines_kernel **out) {
    kp_pipelines *cache = &manager->pipelines;
    kp_pipelines_module *module = NULL;
    kp_pipelines_kernel *kernel = NULL;
    kp_reflect_value *values = NULL;
    kp_result result = make_module(manager, desc, key, key_size, &module);
    if (result != KP_OK)
        return result;
    result = kp_specs_read(module->reflect, desc->specs, desc->spec_count, desc->label, &values);
    if (result == KP_OK)
        result = make_kernel(manager, desc, module->reflect, values, &kernel);
    if (result == KP_OK) {
        kp_pipelines_kernel *other = NULL;
        kp_guard_lock(&cache->lock);
        result = find(manager, desc, module->key, module->key_size, &other);
        if (result == KP_OK && other == NULL) {
            result = add(manager, module, kernel);
            if (result == KP_OK) {
                other = kernel;
                kernel = NULL;
                module = NULL;
            }
        }
        kp_guard_unlock(&cache->lock);
        if (result == KP_OK)
            *out = other;
    }
    free_kernel(manager->device, kernel);
    free_module(manager->device, module);
    return result;
}

kp_result kp_pipelines_get(kp_manager *manager, const kp_pipelines_desc *desc, kp_pipelines_kernel **out) {
    kp_pipelines *cache = &manager->pipelines;
    kp_pipelines_kernel *kernel = NULL;
    void *key = NULL;
    size_t key_size = 0;
    kp_result result = check_bytes(desc);
    if (result == KP_OK)
        result = make_key(desc, &key, &key_size);
    if (result != KP_OK)
        return result;
    kp_guard_lock(&cache->lock);
    result = find(manager, desc, key, key_size, &kernel);
    kp_guard_unlock(&cache->lock);
    if (result != KP_OK || kernel != NULL)
        kp_alloc_free(key);
    else
        result = make_both(manager, desc, key, key_size, &kernel);
    if (result == KP_OK)
        *out = kernel;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Variants
// ---------------------------------------------------------------------------------------------------------------------

static VkPipeline find_variant(const kp_pipelines_kernel *kernel, const kp_pipelines_setting *setting) {
    for (const kp_pipelines_variant *v = kernel->variants; v != NULL; v = v->next) {
        if (memcmp(&v->setting, setting, sizeof *setting) == 0)
            return v->pipeline;
    }
    return VK_NULL_HANDLE;
}

// The constants of the kernel and, by blocks, of the launch, as Vulkan takes them: 8 bytes for each, low bytes first
// used (which is why a 4-byte value is copied as one).
typedef struct specialization {
    VkSpecializationMapEntry *entries;
    unsigned char *data;
    uint32_t count;
} specialization;

static void add_value(specialization *s, uint32_t id, kp_dtype dtype, uint64_t bits) {
    size_t size = dtype == KP_BOOL ? sizeof(VkBool32) : kp_dtype_size(dtype);
    unsigned char *at = s->data + s->count * 8u;
    uint8_t b1 = (uint8_t)bits;
    uint16_t b2 = (uint16_t)bits;
    uint32_t b4 = (uint32_t)bits;
    memcpy(at, size == 1 ? (void *)&b1 : size == 2 ? (void *)&b2 : size == 4 ? (void *)&b4 : (void *)&bits, size);
    s->entries[s->count] = (VkSpecializationMapEntry){.constantID = id, .offset = s->count * 8u, .size = size};
    s->count++;
}

static kp_result make_specialization(const kp_pipelines_kernel *kernel, const kp_pipelines_setting *setting,
                                     specialization *s) {
    size_t room = kernel->value_count + LAUNCH_SPECS;
    s->entries = kp_alloc_zero(room, sizeof *s->entries);
    s->data = kp_alloc_zero(room, 8);
    if (s->entries == NULL || s->data == NULL)
        return kp_error_host_memory(room * sizeof *s->entries);
    for (size_t i = 0; i < kernel->value_count; i++) {
        const kp_reflect_value *v = &kernel->values[i];
        add_value(s, v->id, kp_reflect_find_spec(kernel->module->reflect, v->id)->dtype, v->bits);
    }
    if (setting->blocks) {
        add_value(s, KP_LAUNCH_SPEC_LOCAL_X, KP_U32, setting->local[0]);
        add_value(s, KP_LAUNCH_SPEC_LOCAL_Y, KP_U32, setting->local[1]);
        add_value(s, KP_LAUNCH_SPEC_LOCAL_Z, KP_U32, setting->local[2]);
        add_value(s, KP_LAUNCH_SPEC_ITEMS, KP_U32, setting->items);
        add_value(s, KP_LAUNCH_SPEC_ADJACENT, KP_BOOL, setting->adjacent);
        add_value(s, KP_LAUNCH_SPEC_FOLDED, KP_BOOL, setting->folded);
    }
    return KP_OK;
}

// For a module with subgroup operations: the size that the kernel reads is the one that it runs with, and a workgroup
// is cut into full subgroups where it can be.
static VkPipelineShaderStageCreateFlags subgroup_flags(const kp_device *device, const kp_pipelines_kernel *kernel) {
    const kp_features *f = &device->features;
    const kp_reflect *reflect = kernel->module->reflect;
    VkPipelineShaderStageCreateFlags flags = 0;
    if (!reflect->subgroups || !f->subgroup_size.subgroupSizeControl)
        return 0;
    uint32_t size = kernel->module->subgroup_size;
    if (size == 0)
        flags = VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT;
    size = size != 0 ? size : device->info.max_subgroup_size;
    if (f->subgroup_size.computeFullSubgroups && kernel->sizes.local_size[0] % size == 0)
        flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    return flags;
}

static kp_result make_variant(kp_manager *manager, const kp_pipelines_kernel *kernel,
                              const kp_pipelines_setting *setting, const char *label, kp_pipelines_variant **out) {
    specialization s = {0};
    kp_pipelines_variant *variant = kp_alloc_zero(1, sizeof *variant);
    kp_result result =
        variant == NULL ? kp_error_host_memory(sizeof *variant) : make_specialization(kernel, setting, &s);
    if (result == KP_OK) {
        variant->setting = *setting;
        result = kp_pipeline_create(
            manager->device,
            &(kp_pipeline_desc){.module = setting->pairs ? kernel->module->pairs : kernel->module->handle,
                                .entry = setting->blocks   ? KP_LAUNCH_BLOCKS_ENTRY
                                         : setting->groups ? KP_LAUNCH_GROUPS_ENTRY
                                                           : kernel->module->reflect->entry->name,
                                .layout = &kernel->module->layout,
                                .subgroup_size = kernel->module->subgroup_size,
                                .stage_flags = subgroup_flags(manager->device, kernel),
                                .specialization = {.mapEntryCount = s.count,
                                                   .pMapEntries = s.entries,
                                                   .dataSize = s.count * 8u,
                                                   .pData = s.data},
                                .label = label},
            &variant->pipeline);
        if (result != KP_OK)
            result = kp_error_set(result, "algorithm '%s': %s", label, kp_last_error());
    }
    kp_alloc_free(s.entries);
    kp_alloc_free(s.data);
    if (result != KP_OK) {
        kp_alloc_free(variant);
        return result;
    }
    *out = variant;
    return KP_OK;
}

kp_result kp_pipelines_variant_get(kp_manager *manager, kp_pipelines_kernel *kernel,
                                   const kp_pipelines_setting *setting, const char *label, VkPipeline *out) {
    kp_pipelines *cache = &manager->pipelines;
    kp_guard_lock(&cache->lock);
    VkPipeline found = find_variant(kernel, setting);
    kp_guard_unlock(&cache->lock);
    if (found == VK_NULL_HANDLE) {
        kp_pipelines_variant *variant = NULL;
        kp_result result = make_variant(manager, kernel, setting, label, &variant);
        if (result != KP_OK)
            return result;
        kp_guard_lock(&cache->lock);
        found = find_variant(kernel, setting);
        if (found == VK_NULL_HANDLE) {
            variant->next = kernel->variants;
            kernel->variants = variant;
            found = variant->pipeline;
            variant = NULL;
        }
        kp_guard_unlock(&cache->lock);
        if (variant != NULL) {
            kp_pipeline_destroy(manager->device, variant->pipeline);
            kp_alloc_free(variant);
        }
    }
    *out = found;
    return KP_OK;
}
