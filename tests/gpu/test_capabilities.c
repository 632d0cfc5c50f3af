// Every SPIR-V capability that a compute module may declare: a module that does runs where the device has the feature,
// and else is refused by the feature's name. The modules do nothing but declare; what they would compute is for the
// tests of the language and of the drivers.
#include "gpu.h"

#include <spirv/unified1/spirv.h>

typedef struct row {
    uint32_t capability;
    const char *name;      // of the capability
    const char *extension; // SPIR-V's, that the module must declare; NULL: none
    const char *feature;   // named where it is not there
    int there;             // what kp_device_info says of it; -1: nothing
} row;

enum { MAX_WORDS = 128 };

typedef struct module {
    uint32_t words[MAX_WORDS];
    size_t count;
} module;

static void put(module *m, uint32_t op, const uint32_t *operands, size_t count) {
    assert_true(m->count + count + 1 <= MAX_WORDS);
    m->words[m->count++] = (uint32_t)(count + 1) << 16 | op;
    if (count != 0)
        memcpy(m->words + m->count, operands, count * sizeof *operands);
    m->count += count;
}
#define PUT(m, op, ...) \
    put((m), (op), (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void put_text(module *m, uint32_t op, const uint32_t *before, size_t before_count, const char *text) {
    uint32_t operands[24] = {0};
    if (before_count != 0)
        memcpy(operands, before, before_count * sizeof *before);
    assert_true(strlen(text) / 4 + 1 + before_count <= COUNT_OF(operands));
    memcpy(operands + before_count, text, strlen(text));
    put(m, op, operands, before_count + strlen(text) / 4 + 1);
}

// A kernel that does nothing.
static void build(module *m, const row *r) {
    enum { VOID = 1, FUNCTION, MAIN, LABEL, BOUND };
    bool vulkan_model = r->capability == SpvCapabilityVulkanMemoryModel;
    uint32_t version = r->capability == SpvCapabilityWorkgroupMemoryExplicitLayoutKHR ? 0x00010400 : 0x00010300;
    *m = (module){.words = {SpvMagicNumber, version, 0, BOUND, 0}, .count = 5};
    PUT(m, SpvOpCapability, SpvCapabilityShader);
    PUT(m, SpvOpCapability, r->capability);
    if (r->extension != NULL)
        put_text(m, SpvOpExtension, NULL, 0, r->extension);
    PUT(m, SpvOpMemoryModel, SpvAddressingModelLogical, vulkan_model ? SpvMemoryModelVulkan : SpvMemoryModelGLSL450);
    put_text(m, SpvOpEntryPoint, (const uint32_t[]){SpvExecutionModelGLCompute, MAIN}, 2, "main");
    PUT(m, SpvOpExecutionMode, MAIN, SpvExecutionModeLocalSize, 1, 1, 1);
    PUT(m, SpvOpTypeVoid, VOID);
    PUT(m, SpvOpTypeFunction, FUNCTION, VOID);
    PUT(m, SpvOpFunction, VOID, MAIN, SpvFunctionControlMaskNone, FUNCTION);
    PUT(m, SpvOpLabel, LABEL);
    put(m, SpvOpReturn, NULL, 0);
    put(m, SpvOpFunctionEnd, NULL, 0);
}

static void try(kp_manager *mgr, const row *r) {
    module m;
    kp_algorithm *algorithm = NULL;
    char words[256];
    build(&m, r);
    kp_result result = kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .spirv = m.words, .spirv_size = m.count * sizeof *m.words, .workgroups = {1, 1, 1}, .label = "k"},
        &algorithm);
    if (r->there >= 0 && (result == KP_OK) != (r->there != 0))
        fail_msg("%s: %s (%s), but the device says that it is %sthere", r->name, kp_result_name(result),
                 kp_last_error(), r->there ? "" : "not ");
    if (result != KP_OK) {
        snprintf(words, sizeof words, "algorithm 'k': * lacks %s, which the module's capability %s needs", r->feature,
                 r->name);
        FAILS(result, KP_ERROR_UNSUPPORTED, words);
        return;
    }
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, algorithm, NULL));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(algorithm);
}

static void a_module_runs_or_names_the_feature_that_is_missing(void **state) {
    kp_manager *mgr = *state;
    const kp_device_info d = gpu_device(mgr);
    const int ops = (int)d.subgroup_ops;
#define ROW(name, extension, feature, there) \
    { SpvCapability##name, #name, extension, feature, there }
    const row rows[] = {
        ROW(Float16, NULL, "shaderFloat16", d.float16),
        ROW(Float64, NULL, "shaderFloat64", d.float64),
        ROW(Int8, NULL, "shaderInt8", d.int8),
        ROW(Int16, NULL, "shaderInt16", d.int16),
        ROW(Int64, NULL, "shaderInt64", d.int64),
        ROW(StorageBuffer16BitAccess, "SPV_KHR_16bit_storage", "storageBuffer16BitAccess", d.storage16),
        ROW(UniformAndStorageBuffer16BitAccess, "SPV_KHR_16bit_storage", "uniformAndStorageBuffer16BitAccess",
            d.uniform16),
        ROW(StoragePushConstant16, "SPV_KHR_16bit_storage", "storagePushConstant16", d.push16),
        ROW(StorageBuffer8BitAccess, "SPV_KHR_8bit_storage", "storageBuffer8BitAccess", d.storage8),
        ROW(UniformAndStorageBuffer8BitAccess, "SPV_KHR_8bit_storage", "uniformAndStorageBuffer8BitAccess", d.uniform8),
        ROW(StoragePushConstant8, "SPV_KHR_8bit_storage", "storagePushConstant8", d.push8),
        ROW(AtomicFloat32AddEXT, "SPV_EXT_shader_atomic_float_add", "shaderBufferFloat32AtomicAdd",
            d.atomic_float32_add || d.atomic_float32_add_shared),
        ROW(AtomicFloat64AddEXT, "SPV_EXT_shader_atomic_float_add", "shaderBufferFloat64AtomicAdd", -1),
        ROW(AtomicFloat16AddEXT, "SPV_EXT_shader_atomic_float16_add", "shaderBufferFloat16AtomicAdd", -1),
        ROW(AtomicFloat32MinMaxEXT, "SPV_EXT_shader_atomic_float_min_max", "shaderBufferFloat32AtomicMinMax", -1),
        ROW(AtomicFloat64MinMaxEXT, "SPV_EXT_shader_atomic_float_min_max", "shaderBufferFloat64AtomicMinMax", -1),
        ROW(AtomicFloat16MinMaxEXT, "SPV_EXT_shader_atomic_float_min_max", "shaderBufferFloat16AtomicMinMax", -1),
        ROW(VariablePointersStorageBuffer, "SPV_KHR_variable_pointers", "variablePointersStorageBuffer", -1),
        ROW(VariablePointers, "SPV_KHR_variable_pointers", "variablePointers", -1),
        ROW(VulkanMemoryModel, "SPV_KHR_vulkan_memory_model", "vulkanMemoryModel", d.memory_model),
        ROW(ImageQuery, NULL, "", 1),
        ROW(Image1D, NULL, "", 1),
        ROW(Sampled1D, NULL, "", 1),
        ROW(ImageBuffer, NULL, "", 1),
        ROW(SampledBuffer, NULL, "", 1),
        ROW(StorageImageExtendedFormats, NULL, "shaderStorageImageExtendedFormats", -1),
        ROW(StorageImageReadWithoutFormat, NULL, "shaderStorageImageReadWithoutFormat", -1),
        ROW(StorageImageWriteWithoutFormat, NULL, "shaderStorageImageWriteWithoutFormat", -1),
        ROW(ImageGatherExtended, NULL, "shaderImageGatherExtended", -1),
        ROW(MinLod, NULL, "shaderResourceMinLod", -1),
        ROW(UniformBufferArrayDynamicIndexing, NULL, "shaderUniformBufferArrayDynamicIndexing", -1),
        ROW(SampledImageArrayDynamicIndexing, NULL, "shaderSampledImageArrayDynamicIndexing", -1),
        ROW(StorageBufferArrayDynamicIndexing, NULL, "shaderStorageBufferArrayDynamicIndexing", -1),
        ROW(StorageImageArrayDynamicIndexing, NULL, "shaderStorageImageArrayDynamicIndexing", -1),
        ROW(GroupNonUniform, NULL, "subgroup basic operations", (ops & KP_SUBGROUP_BASIC) != 0),
        ROW(GroupNonUniformVote, NULL, "subgroup vote operations", (ops & KP_SUBGROUP_VOTE) != 0),
        ROW(GroupNonUniformArithmetic, NULL, "subgroup arithmetic operations", (ops & KP_SUBGROUP_ARITHMETIC) != 0),
        ROW(GroupNonUniformBallot, NULL, "subgroup ballot operations", (ops & KP_SUBGROUP_BALLOT) != 0),
        ROW(GroupNonUniformShuffle, NULL, "subgroup shuffle operations", (ops & KP_SUBGROUP_SHUFFLE) != 0),
        ROW(GroupNonUniformShuffleRelative, NULL, "subgroup relative shuffle operations",
            (ops & KP_SUBGROUP_SHUFFLE_RELATIVE) != 0),
        ROW(GroupNonUniformClustered, NULL, "subgroup clustered operations", (ops & KP_SUBGROUP_CLUSTERED) != 0),
        ROW(GroupNonUniformQuad, NULL, "subgroup quad operations", (ops & KP_SUBGROUP_QUAD) != 0),
        ROW(SubgroupBallotKHR, "SPV_KHR_shader_ballot", "VK_EXT_shader_subgroup_ballot", -1),
        ROW(SubgroupVoteKHR, "SPV_KHR_subgroup_vote", "VK_EXT_shader_subgroup_vote", -1),
        ROW(GroupNonUniformPartitionedNV, "SPV_NV_shader_subgroup_partitioned", "VK_NV_shader_subgroup_partitioned",
            -1),
        ROW(ShaderClockKHR, "SPV_KHR_shader_clock", "shaderSubgroupClock", -1),
        ROW(DotProduct, "SPV_KHR_integer_dot_product", "shaderIntegerDotProduct", d.integer_dot_product),
        ROW(WorkgroupMemoryExplicitLayoutKHR, "SPV_KHR_workgroup_memory_explicit_layout",
            "workgroupMemoryExplicitLayout", -1),
        ROW(ShaderSMBuiltinsNV, "SPV_NV_shader_sm_builtins", "shaderSMBuiltins", -1),
        ROW(CooperativeMatrixNV, "SPV_NV_cooperative_matrix", "cooperativeMatrix", d.cooperative_matrix),
        ROW(RayQueryKHR, "SPV_KHR_ray_query", "rayQuery", 0),
        ROW(RuntimeDescriptorArray, "SPV_EXT_descriptor_indexing", "runtimeDescriptorArray", 0),
    };
#undef ROW
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        try(mgr, &rows[i]);
}

// What kp says of a device before there is a manager is what the manager's device says.
static void devices_tell_the_same_with_and_without_a_manager(void **state) {
    static kp_device_info listed[16];
    size_t count = 0;
    const kp_device_info own = gpu_device(*state);
    OK(kp_devices(listed, COUNT_OF(listed), &count));
    assert_true(own.index < count);
    const kp_device_info *same = &listed[own.index];
#define KP_X(name, meaning) assert_int_equal(same->name, own.name);
    KP_DEVICE_FEATURES(KP_X)
#undef KP_X
    assert_int_equal(same->subgroup_ops, own.subgroup_ops);
    assert_memory_equal(same->driver_uuid, own.driver_uuid, 16);
    assert_true(own.memory_heap_count != 0 && own.memory_heaps[0].bytes != 0);
    uint64_t largest = 0;
    for (uint32_t i = 0; i < own.memory_heap_count; i++)
        largest = own.memory_heaps[i].device_local && own.memory_heaps[i].bytes > largest ? own.memory_heaps[i].bytes
                                                                                          : largest;
    assert_int_equal(largest, own.memory);
    // Vulkan's least.
    assert_true(own.max_storage_buffers >= 4 && own.max_uniform_buffers >= 12 && own.max_samplers >= 16);
    assert_true(own.max_uniform_range >= 16384 && own.storage_alignment <= 256 && own.uniform_alignment <= 256);
    assert_true(own.max_image_size[0] >= 4096 && own.max_image_size[1] >= 4096 && own.max_image_size[2] >= 256);
    assert_true(own.max_allocations >= 4096 && own.driver_id != 0);
    assert_true(own.timeline_semaphores && own.robust_access);
}

static void extensions_are_listed(void **state) {
    (void)state;
    static kp_extension_name names[1024];
    size_t count = 0, again = 0;
    OK(kp_device_extensions(0, NULL, 0, &count));
    assert_true(count > 10 && count < COUNT_OF(names));
    OK(kp_device_extensions(0, names, COUNT_OF(names), &again));
    assert_int_equal(again, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(strncmp(names[i], "VK_", 3), 0);
    FAILS(kp_device_extensions(99, names, 1, &count), KP_ERROR_INDEX,
          "kp_device_extensions: there is no device 99, there are *");
    FAILS(kp_device_extensions(0, NULL, 1, &count), KP_ERROR_ARGUMENT, "kp_device_extensions: names is NULL");
    FAILS(kp_device_extensions(0, names, 1, NULL), KP_ERROR_ARGUMENT, "kp_device_extensions: count is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(a_module_runs_or_names_the_feature_that_is_missing),
        GPU_TEST(devices_tell_the_same_with_and_without_a_manager),
        GPU_BARE(extensions_are_listed),
    };
    return gpu_run("capabilities", tests);
}
