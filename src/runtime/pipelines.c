// See pipelines.h. Nothing slow happens under the lock: what is missing is made outside of it, and if another thread
// was quicker, its work is used and one's own thrown away.
#include "pipelines.h"

#include "base/alloc.h"
#include "base/str.h"
#include "capabilities.h"
#include "float_rules.h"
#include "loop_guard.h"
#include "manager.h"
#include "pairs.h"
#include "validate.h"
#include "vulkan/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_IDLE = 64,      // kernels that nobody holds
    LAUNCH_SPECS = 6,   // constants of base/launch.h
    MAX_BINDING = 4095, // drivers make a table as long as the highest binding
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

static kp_result check_capabilities(const kp_device *device, const kp_reflect *reflect, const char *label) {
    for (size_t i = 0; i < reflect->capability_count; i++) {
        uint32_t capability = reflect->capabilities[i];
        const char *feature = kp_capabilities_missing(&device->features, capability);
        const char *name = kp_capabilities_name(capability);
        if (feature != NULL && name != NULL)
            return kp_error_set(KP_ERROR_UNSUPPORTED,
                                "algorithm '%s': %s lacks %s, which the module's capability %s needs", label,
                                device->info.name, feature, name);
        if (feature != NULL)
            return kp_error_set(KP_ERROR_UNSUPPORTED,
                                "algorithm '%s': %s lacks %s, which the module's capability %u needs", label,
                                device->info.name, feature, capability);
    }
    return KP_OK;
}

// Vulkan's type, or VK_DESCRIPTOR_TYPE_MAX_ENUM for what cannot be bound.
static VkDescriptorType descriptor_of(kp_reflect_kind kind) {
    switch (kind) {
    case KP_REFLECT_STORAGE_BUFFER:
        return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    case KP_REFLECT_UNIFORM_BUFFER:
        return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    case KP_REFLECT_STORAGE_IMAGE:
        return VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    case KP_REFLECT_SAMPLED_IMAGE:
        return VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
    case KP_REFLECT_COMBINED_IMAGE_SAMPLER:
        return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    case KP_REFLECT_SAMPLER:
        return VK_DESCRIPTOR_TYPE_SAMPLER;
    default:
        return VK_DESCRIPTOR_TYPE_MAX_ENUM;
    }
}

static kp_result check_binding(const kp_reflect_binding *b, const char *label) {
    const char *kind = kp_reflect_kind_name(b->kind);
    if (descriptor_of(b->kind) == VK_DESCRIPTOR_TYPE_MAX_ENUM)
        return kp_error_set(
            KP_ERROR_UNSUPPORTED,
            "algorithm '%s': binding %u of set %u is a %s; only buffers, images and samplers can be bound", label,
            b->binding, b->set, kind);
    if (b->binding > MAX_BINDING)
        return kp_error_set(KP_ERROR_LIMIT, "algorithm '%s': binding numbers go up to %d, the module uses binding %u",
                            label, MAX_BINDING, b->binding);
    if (b->count != 1)
        return kp_error_set(KP_ERROR_UNSUPPORTED,
                            "algorithm '%s': binding %u of set %u is an array of %ss; only single ones can be bound",
                            label, b->binding, b->set, kind);
    if (b->arrayed || b->multisampled)
        return kp_error_set(KP_ERROR_UNSUPPORTED, "algorithm '%s': binding %u of set %u is a %s with %s; none has them",
                            label, b->binding, b->set, kind, b->arrayed ? "layers" : "samples");
    return KP_OK;
}

// That a pipeline may have that many.
static kp_result check_counts(const kp_device *device, const kp_reflect *reflect, const char *label) {
    const kp_info_limits *l = &device->limits;
    uint32_t n[5] = {reflect->reports};
    for (size_t i = 0; i < reflect->binding_count; i++) {
        kp_reflect_kind kind = reflect->bindings[i].kind;
        bool both = kind == KP_REFLECT_COMBINED_IMAGE_SAMPLER;
        n[0] += kind == KP_REFLECT_STORAGE_BUFFER;
        n[1] += kind == KP_REFLECT_UNIFORM_BUFFER;
        n[2] += kind == KP_REFLECT_STORAGE_IMAGE;
        n[3] += kind == KP_REFLECT_SAMPLED_IMAGE || both;
        n[4] += kind == KP_REFLECT_SAMPLER || both;
    }
    const struct {
        const char *name;
        uint32_t most;
    } limits[5] = {{"StorageBuffers", l->max_storage_buffers},
                   {"UniformBuffers", l->max_uniform_buffers},
                   {"StorageImages", l->max_storage_images},
                   {"SampledImages", l->max_sampled_images},
                   {"Samplers", l->max_samplers}};
    for (unsigned i = 0; i < 5; i++) {
        if (n[i] > limits[i].most)
            return kp_error_set(KP_ERROR_LIMIT, "algorithm '%s': maxPerStageDescriptor%s is %u, the module binds %u",
                                label, limits[i].name, limits[i].most, n[i]);
    }
    return KP_OK;
}

// One capability stands for two features of the device.
static kp_result check_atomics(const kp_device *device, const kp_reflect *reflect, const char *label) {
    const kp_features *f = &device->features;
    const struct {
        bool used, there;
        const char *feature, *what;
    } rows[] = {
        {reflect->buffer_atomics64, f->atomic64.shaderBufferInt64Atomics, "shaderBufferInt64Atomics",
         "64-bit atomics on buffers"},
        {reflect->shared_atomics64, f->atomic64.shaderSharedInt64Atomics, "shaderSharedInt64Atomics",
         "64-bit atomics on shared memory"},
        {reflect->buffer_float_adds, f->atomic_float.shaderBufferFloat32AtomicAdd, "shaderBufferFloat32AtomicAdd",
         "atomic additions to f32 in buffers"},
        {reflect->shared_float_adds, f->atomic_float.shaderSharedFloat32AtomicAdd, "shaderSharedFloat32AtomicAdd",
         "atomic additions to f32 in shared memory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].used && !rows[i].there)
            return kp_error_set(KP_ERROR_UNSUPPORTED, "algorithm '%s': %s lacks %s, which %s need", label,
                                device->info.name, rows[i].feature, rows[i].what);
    }
    return KP_OK;
}

// What a module asks of subgroups.
static kp_result check_subgroups(const kp_device *device, const kp_reflect *reflect, uint32_t size, const char *label) {
    const kp_info *info = &device->info;
    if (reflect->extended_subgroups && !device->features.subgroup_types.shaderSubgroupExtendedTypes)
        return kp_error_set(KP_ERROR_UNSUPPORTED,
                            "algorithm '%s': %s lacks shaderSubgroupExtendedTypes, which subgroup operations on 8, 16 "
                            "and 64-bit numbers need",
                            label, info->name);
    if (size == 0)
        return KP_OK;
    if (device->limits.max_subgroups == 0)
        return size == info->subgroup_size
                   ? KP_OK
                   : kp_error_set(KP_ERROR_UNSUPPORTED,
                                  "algorithm '%s': a subgroup size of %u is asked for, %s has %u only", label, size,
                                  info->name, info->subgroup_size);
    if (size < info->min_subgroup_size || size > info->max_subgroup_size || (size & (size - 1)) != 0)
        return kp_error_set(KP_ERROR_LIMIT,
                            "algorithm '%s': a subgroup size of %u is asked for, %s has powers of two from %u to %u",
                            label, size, info->name, info->min_subgroup_size, info->max_subgroup_size);
    return KP_OK;
}

static kp_result check_bindings(const kp_device *device, const kp_reflect *reflect, const char *label) {
    for (size_t i = 0; i < reflect->binding_count; i++) {
        kp_result result = check_binding(&reflect->bindings[i], label);
        if (result != KP_OK)
            return result;
    }
    if (reflect->set_count > device->limits.max_sets)
        return kp_error_set(KP_ERROR_LIMIT, "algorithm '%s': maxBoundDescriptorSets is %u, the module uses %u sets",
                            label, device->limits.max_sets, reflect->set_count);
    kp_result result = check_counts(device, reflect, label);
    if (result != KP_OK)
        return result;
    if (reflect->push_size > device->info.max_push_constants)
        return kp_error_set(KP_ERROR_LIMIT,
                            "algorithm '%s': maxPushConstantsSize is %u bytes, the module has %u bytes of push "
                            "constants (a buffer can hold more)",
                            label, device->info.max_push_constants, reflect->push_size);
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
                                            .type = descriptor_of(reflect->bindings[i].kind)};
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

// Where it pays and can be: the module for two indices at a time.
static kp_result make_pairs(kp_manager *manager, kp_pipelines_module *module, const uint32_t *words, size_t count,
                            const char *label) {
    const kp_device *device = manager->device;
    uint32_t *paired = NULL;
    if (manager->launch.driver != KP_LAUNCH_DRIVER_LAVAPIPE || !device->features.core.features.shaderInt64 ||
        !module->regroup || module->reports)
        return KP_OK;
    kp_result result = kp_pairs_apply(words, count, &paired, &count);
    if (result == KP_OK && paired != NULL)
        result = kp_pipeline_module_create(manager->device, paired, count, label, &module->pairs);
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
    if (manager->device->limits.float_rules && (reflect->regroupable || reflect->foldable)) {
        result = kp_float_rules_apply(words, count, &ruled, &count);
        words = ruled;
    }
    if (result == KP_OK && module->guarded) {
        kp_pipeline_binding place = report_place(reflect);
        result = kp_loop_guard_apply(words, count, place.set, place.binding, &guarded, &count);
        words = guarded;
    }
    if (result == KP_OK)
        result = kp_pipeline_module_create(manager->device, words, count, label, &module->handle);
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
        result = check_capabilities(device, reflect, desc->label);
    if (result == KP_OK)
        result = check_atomics(device, reflect, desc->label);
    if (result == KP_OK)
        result = check_subgroups(device, reflect, desc->subgroup_size, desc->label);
    if (result == KP_OK)
        result = check_bindings(device, reflect, desc->label);
    if (result != KP_OK)
        return result;
    module->subgroup_size = device->limits.max_subgroups != 0 ? desc->subgroup_size : 0;
    module->regroup = manager->regroup && reflect->regroupable;
    module->fold = manager->regroup && reflect->foldable;
    module->guarded = manager->launch.driver == KP_LAUNCH_DRIVER_LAVAPIPE && reflect->loops;
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
// Specialization constants
// ---------------------------------------------------------------------------------------------------------------------

static bool is_launch_spec(uint32_t id) { return id >= KP_LAUNCH_SPEC_BASE && id <= KP_LAUNCH_SPEC_REPORT; }

static kp_result unknown_spec(const kp_reflect *reflect, uint32_t id, const char *label) {
    kp_str list = {0};
    for (size_t i = 0; i < reflect->spec_count; i++) {
        const kp_reflect_spec *s = &reflect->specs[i];
        if (!is_launch_spec(s->id))
            kp_str_format(&list, "%s%u (%s)", list.length != 0 ? ", " : "", s->id, kp_dtype_name(s->dtype));
    }
    kp_result result =
        kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': the module has no specialization constant %u; it has %s",
                     label, id, list.length != 0 ? list.data : "none");
    kp_str_free(&list);
    return result;
}

static bool is_float(kp_dtype dtype) { return dtype == KP_F16 || dtype == KP_F32 || dtype == KP_F64; }
static bool is_unsigned(kp_dtype dtype) {
    return dtype == KP_U8 || dtype == KP_U16 || dtype == KP_U32 || dtype == KP_U64;
}

// Whether bits of one type may stand for a constant of another: no number is taken for one of the other kind. Unsigned
// ones fit all of their size, as bits: an array of them is how Kompute's programs mix floats and integers.
static bool fits(kp_dtype given, kp_dtype own) {
    if (own == KP_BOOL && given == KP_U32) // as Vulkan has it
        return true;
    if (kp_dtype_size(given) != kp_dtype_size(own) || (given == KP_BOOL) != (own == KP_BOOL))
        return false;
    return is_float(given) == is_float(own) || is_unsigned(given);
}

static kp_result read_value(const kp_reflect *reflect, const kp_spec *spec, const char *label, kp_reflect_value *out) {
    const kp_reflect_spec *own = is_launch_spec(spec->id) ? NULL : kp_reflect_find_spec(reflect, spec->id);
    if (own == NULL)
        return unknown_spec(reflect, spec->id, label);
    size_t size = kp_dtype_size(spec->dtype);
    if (spec->value == NULL || size == 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': specialization constant %u has no %s", label, spec->id,
                            spec->value == NULL ? "value" : "element type");
    if (!fits(spec->dtype, own->dtype))
        return kp_error_set(KP_ERROR_TYPE,
                            "algorithm '%s': specialization constant %u is %s in the module, %s was given", label,
                            spec->id, kp_dtype_name(own->dtype), kp_dtype_name(spec->dtype));
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t bits = 0;
    switch (size) {
    case 1:
        memcpy(&b1, spec->value, 1);
        bits = spec->dtype == KP_BOOL ? b1 != 0 : b1;
        break;
    case 2:
        memcpy(&b2, spec->value, 2);
        bits = b2;
        break;
    case 4:
        memcpy(&b4, spec->value, 4);
        bits = b4;
        break;
    default:
        memcpy(&bits, spec->value, 8);
        break;
    }
    *out = (kp_reflect_value){.id = spec->id, .bits = bits};
    return KP_OK;
}

static int by_id(const void *a, const void *b) {
    uint32_t x = ((const kp_reflect_value *)a)->id, y = ((const kp_reflect_value *)b)->id;
    return (x > y) - (x < y);
}

static kp_result read_values(const kp_pipelines_desc *desc, const kp_reflect *reflect, kp_reflect_value **out) {
    if (desc->spec_count != 0 && desc->specs == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': specs is NULL, but spec_count is %zu", desc->label,
                            desc->spec_count);
    kp_reflect_value *values = kp_alloc_zero(desc->spec_count, sizeof *values); // zeroed: padding is part of the key
    if (values == NULL)
        return kp_error_host_memory(desc->spec_count * sizeof *values);
    kp_result result = KP_OK;
    for (size_t i = 0; i < desc->spec_count && result == KP_OK; i++) {
        kp_reflect_value value = {0};
        result = read_value(reflect, &desc->specs[i], desc->label, &value);
        if (result == KP_OK) {
            values[i].id = value.id;
            values[i].bits = value.bits;
        }
    }
    if (result == KP_OK) {
        qsort(values, desc->spec_count, sizeof *values, by_id);
        for (size_t i = 1; i < desc->spec_count && result == KP_OK; i++) {
            if (values[i].id == values[i - 1].id)
                result = kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': specialization constant %u is given twice",
                                      desc->label, values[i].id);
        }
    }
    if (result != KP_OK) {
        kp_alloc_free(values);
        return result;
    }
    *out = values;
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Kernels
// ---------------------------------------------------------------------------------------------------------------------

static kp_result check_sizes(const kp_device *device, const kp_reflect_sizes *sizes, uint32_t subgroup_size,
                             const char *label) {
    const kp_info *info = &device->info;
    uint64_t invocations = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        uint32_t size = sizes->local_size[axis];
        if (size == 0)
            return kp_error_set(KP_ERROR_SPIRV, "algorithm '%s': the module's local size on axis %c is 0 or unknown",
                                label, "xyz"[axis]);
        if (size > info->max_workgroup_size[axis])
            return kp_error_set(
                KP_ERROR_LIMIT,
                "algorithm '%s': maxComputeWorkGroupSize on axis %c is %u, the module's local size is %u", label,
                "xyz"[axis], info -> max_workgroup_size[axis], size);
        invocations *= size;
    }
    if (invocations > info->max_workgroup_invocations)
        return kp_error_set(
            KP_ERROR_LIMIT,
            "algorithm '%s': maxComputeWorkGroupInvocations is %u, the module's local size %u x %u x %u "
            "has %llu",
            label, info->max_workgroup_invocations, sizes->local_size[0], sizes->local_size[1], sizes->local_size[2],
            (unsigned long long)invocations);
    uint64_t most = (uint64_t)device->limits.max_subgroups * subgroup_size; // 0: not asked for, or not to choose
    if (most != 0 && invocations > most)
        return kp_error_set(KP_ERROR_LIMIT,
                            "algorithm '%s': maxComputeWorkgroupSubgroups is %u, a workgroup of %llu invocations in "
                            "subgroups of %u has more",
                            label, device->limits.max_subgroups, (unsigned long long)invocations, subgroup_size);
    if (sizes->shared_bytes != UINT64_MAX && sizes->shared_bytes > info->max_shared_memory)
        return kp_error_set(KP_ERROR_LIMIT,
                            "algorithm '%s': maxComputeSharedMemorySize is %u bytes, the module shares %llu", label,
                            info->max_shared_memory, (unsigned long long)sizes->shared_bytes);
    return KP_OK;
}

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
        result = check_sizes(manager->device, &kernel->sizes, desc->subgroup_size, desc->label);
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
    kp_result result = read_values(desc, module->reflect, &values);
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
    result = read_values(desc, module->reflect, &values);
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
