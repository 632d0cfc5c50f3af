// See requirements.h. A message names what Vulkan calls the limit or the feature.
#include "requirements.h"

#include "base/error.h"
#include "capabilities.h"

enum { MAX_BINDING = 4095 }; // drivers make a table as long as the highest binding

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

VkDescriptorType kp_requirements_descriptor(kp_reflect_kind kind) {
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
    if (kp_requirements_descriptor(b->kind) == VK_DESCRIPTOR_TYPE_MAX_ENUM)
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

kp_result kp_requirements_check(const kp_device *device, const kp_reflect *reflect, uint32_t subgroup_size,
                                const char *label) {
    kp_result result = check_capabilities(device, reflect, label);
    if (result == KP_OK)
        result = check_atomics(device, reflect, label);
    if (result == KP_OK)
        result = check_subgroups(device, reflect, subgroup_size, label);
    return result == KP_OK ? check_bindings(device, reflect, label) : result;
}

kp_result kp_requirements_check_sizes(const kp_device *device, const kp_reflect_sizes *sizes, uint32_t subgroup_size,
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
