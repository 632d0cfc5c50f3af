// See algorithm.h. Making one: what is bound is held against the module's bindings, and against the program's
// parameters where there is a program.
#include "algorithm.h"

#include "base/alloc.h"
#include "base/extent.h"
#include "base/str.h"
#include "base/structs.h"
#include "image.h"
#include "vulkan/guard.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Lifetime
// ---------------------------------------------------------------------------------------------------------------------

void kp_algorithm_ref(kp_algorithm *algorithm) { atomic_fetch_add_explicit(&algorithm->refs, 1, memory_order_relaxed); }

static void unref_all(kp_memory **memory, size_t count) {
    for (size_t i = 0; memory != NULL && i < count; i++)
        kp_memory_unref(memory[i]);
    kp_alloc_free(memory);
}

static void free_struct(kp_algorithm *algorithm) {
    unref_all(algorithm->memory, algorithm->memory_count);
    kp_memory_unref(algorithm->first);
    for (size_t i = 0; i < algorithm->param_count; i++) {
        kp_alloc_free(algorithm->params[i].words);
        kp_alloc_free(algorithm->params[i].structure);
    }
    kp_alloc_free(algorithm->params);
    kp_constants_free(&algorithm->constants);
    kp_alloc_free(algorithm->push);
    kp_alloc_free(algorithm->shapes);
    kp_alloc_free(algorithm->label);
    kp_alloc_free(algorithm);
}

void kp_algorithm_unref(kp_algorithm *algorithm) {
    if (algorithm == NULL || atomic_fetch_sub_explicit(&algorithm->refs, 1, memory_order_acq_rel) != 1)
        return;
    kp_manager *manager = algorithm->manager;
    free_struct(algorithm);
    kp_manager_release(manager);
}

bool kp_algorithm_hold(kp_algorithm *algorithm) {
    if (!kp_manager_hold_child(&algorithm->holds, &algorithm->alive))
        return false;
    if (atomic_load(&algorithm->alive))
        return true;
    kp_algorithm_let_go(algorithm);
    return false;
}

static void put_retired(kp_algorithm *algorithm) {
    for (size_t i = 0; i < algorithm->retired_count; i++)
        kp_pipelines_put(algorithm->manager, algorithm->retired[i]);
    kp_alloc_free(algorithm->retired);
    algorithm->retired = NULL;
    algorithm->retired_count = 0;
}

void kp_algorithm_let_go(kp_algorithm *algorithm) {
    if (atomic_fetch_sub_explicit(&algorithm->holds, 1, memory_order_acq_rel) != 1)
        return;
    put_retired(algorithm);
    kp_pipelines_put(algorithm->manager, algorithm->kernel);
}

void kp_algorithm_kill(kp_algorithm *algorithm) {
    if (atomic_exchange(&algorithm->alive, false))
        kp_algorithm_let_go(algorithm);
}

void kp_algorithm_destroy(kp_algorithm *algorithm) {
    if (algorithm == NULL || kp_manager_forked(algorithm->manager))
        return;
    kp_manager_reap(algorithm->manager);
    kp_manager_unlink(algorithm->manager, &algorithm->manager->algorithms, &algorithm->link);
    kp_algorithm_kill(algorithm);
    kp_algorithm_unref(algorithm);
}

bool kp_algorithm_alive(const kp_algorithm *algorithm) {
    return algorithm != NULL && atomic_load(&algorithm->alive) && !kp_manager_forked(algorithm->manager);
}

static kp_result check(const kp_algorithm *algorithm, const char *function) {
    if (algorithm == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: algorithm is NULL", function);
    kp_result result = kp_manager_check(algorithm->manager, "algorithm", algorithm->label);
    if (result == KP_OK && !atomic_load(&algorithm->alive))
        result = kp_error_set(KP_ERROR_STATE, "algorithm '%s' is destroyed", algorithm->label);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory and push constants
// ---------------------------------------------------------------------------------------------------------------------

// "binding 2 of set 0 ('out')"
static void name_binding(const kp_reflect_binding *b, char *text, size_t size) {
    if (b->name != NULL && b->name[0] != '\0')
        snprintf(text, size, "binding %u of set %u ('%.100s')", b->binding, b->set, b->name);
    else
        snprintf(text, size, "binding %u of set %u", b->binding, b->set);
}

// `name` is the binding's, for messages, here and below.
static kp_result check_image_bound(const kp_algorithm *algorithm, const kp_reflect_binding *b, const kp_memory *image,
                                   const char *name) {
    const char *device = algorithm->manager->device->info.name, *format = image->format->name;
    if (b->kind == KP_REFLECT_SAMPLER)
        return KP_OK;
    if (b->kind == KP_REFLECT_STORAGE_IMAGE ? !image->uses.storage : !image->uses.sampled)
        return kp_error_set(KP_ERROR_UNSUPPORTED,
                            "algorithm '%s': %s is a %s, for which %s cannot use %s of image '%s'", algorithm->label,
                            name, kp_reflect_kind_name(b->kind), device, format, image->label);
    if (b->dimensions != image->dimensions)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': %s is %u-D, image '%s' is %u-D", algorithm->label, name,
                            b->dimensions, image->label, image->dimensions);
    if (b->format != 0 && b->format != image->format->spirv)
        return kp_error_set(KP_ERROR_TYPE, "algorithm '%s': %s has the format %s, image '%s' %s (%s)", algorithm->label,
                            name, kp_format_spirv_name(b->format), image->label,
                            kp_format_spirv_name(image->format->spirv), format);
    if (b->has_dtype && b->dtype != image->format->reads)
        return kp_error_set(KP_ERROR_TYPE, "algorithm '%s': %s reads %s, image '%s' has %s of %s", algorithm->label,
                            name, kp_dtype_name(b->dtype), image->label, kp_dtype_name(image->format->reads), format);
    if (b->kind == KP_REFLECT_COMBINED_IMAGE_SAMPLER && kp_image_sampling(image, b).filter == VK_FILTER_LINEAR &&
        !image->uses.linear)
        return kp_error_set(KP_ERROR_UNSUPPORTED,
                            "algorithm '%s': %s has a linear filter, with which %s cannot sample %s of image '%s'",
                            algorithm->label, name, device, format, image->label);
    return KP_OK;
}

static kp_result check_bound(const kp_algorithm *algorithm, const kp_reflect_binding *b, const kp_memory *memory) {
    const kp_device *device = algorithm->manager->device;
    char name[160];
    name_binding(b, name, sizeof name);
    bool buffer = b->kind == KP_REFLECT_STORAGE_BUFFER || b->kind == KP_REFLECT_UNIFORM_BUFFER;
    if (buffer != (memory->format == NULL))
        return kp_error_set(KP_ERROR_TYPE, "algorithm '%s': %s is a %s, '%s' is %s", algorithm->label, name,
                            kp_reflect_kind_name(b->kind), memory->label, buffer ? "an image" : "a tensor");
    if (!buffer)
        return check_image_bound(algorithm, b, memory, name);
    bool uniform = b->kind == KP_REFLECT_UNIFORM_BUFFER;
    if ((uniform && memory->bytes != 0 ? kp_memory_uniform_range(memory) : memory->bytes) < b->min_size)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': %s needs at least %llu bytes, tensor '%s' has %llu",
                            algorithm->label, name, (unsigned long long)b->min_size, memory->label,
                            (unsigned long long)memory->bytes);
    uint64_t alignment = uniform ? device->limits.uniform_alignment : device->limits.storage_alignment;
    if (memory->offset % alignment != 0)
        return kp_error_set(
            KP_ERROR_LIMIT,
            "algorithm '%s': %s of %s is %llu bytes, tensor '%s' for %s is a view that begins at byte %llu",
            algorithm->label, uniform ? "minUniformBufferOffsetAlignment" : "minStorageBufferOffsetAlignment",
            device->info.name, (unsigned long long)alignment, memory->label, name, (unsigned long long)memory->offset);
    if (uniform && b->min_size > device->limits.max_uniform_range)
        return kp_error_set(KP_ERROR_LIMIT, "algorithm '%s': maxUniformBufferRange is %u bytes, %s has %llu",
                            algorithm->label, device->limits.max_uniform_range, name, (unsigned long long)b->min_size);
    return KP_OK;
}

// The position in the caller's list for a binding: its number where there is one set, else its rank.
static size_t place_of(const kp_reflect *reflect, size_t index) {
    return reflect->set_count <= 1 ? reflect->bindings[index].binding : index;
}

// Finds the memory for each binding of the module. `*bound` has the reflection's count, each referred to.
static kp_result choose_memory(const kp_algorithm *algorithm, kp_memory *const *memory, size_t count,
                               kp_memory ***bound) {
    const kp_reflect *reflect = kp_algorithm_reflect(algorithm);
    char who[288], name[160];
    snprintf(who, sizeof who, "algorithm '%.200s'", algorithm->label);
    if (count != 0 && memory == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: memory is NULL, but memory_count is %zu", who, count);
    for (size_t i = 0; i < count; i++) {
        kp_result result = kp_memory_check(memory[i], algorithm->manager, who, i);
        if (result != KP_OK)
            return result;
    }
    for (size_t i = 0; i < reflect->binding_count; i++) {
        size_t place = place_of(reflect, i);
        name_binding(&reflect->bindings[i], name, sizeof name);
        if (place >= count)
            return kp_error_set(KP_ERROR_ARGUMENT, "%s: the module uses %s, but only %zu %s given", who, name, count,
                                count == 1 ? "memory is" : "memories are");
        kp_result result = check_bound(algorithm, &reflect->bindings[i], memory[place]);
        if (result != KP_OK)
            return result;
    }
    kp_memory **list = kp_alloc_zero(reflect->binding_count, sizeof *list);
    if (list == NULL)
        return kp_error_host_memory(reflect->binding_count * sizeof *list);
    for (size_t i = 0; i < reflect->binding_count; i++) {
        list[i] = memory[place_of(reflect, i)];
        kp_memory_ref(list[i]);
    }
    *bound = list;
    return KP_OK;
}

// How many numbers of a shape the kernel is passed for it.
static uint32_t shape_axes(const kp_algorithm_param *p) { return p->image || p->ndim < 2 ? 0 : p->ndim; }

static kp_result reserve_shapes(kp_algorithm *algorithm, const kp_program *program) {
    uint32_t words = 0;
    for (size_t i = 0; i < algorithm->param_count; i++)
        words += shape_axes(&algorithm->params[i]);
    algorithm->index_axes = kp_extent_axes(program);
    if (words == 0)
        return KP_OK;
    bool asked =
        kp_algorithm_reflect(algorithm)->push_size != 0; // else the kernel has no values, and asks for no shape
    algorithm->shape_size = asked ? words * (uint32_t)sizeof *algorithm->shapes : 0;
    if (algorithm->shape_size > kp_algorithm_reflect(algorithm)->push_size)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': the program has %u bytes of shapes, its module has %u",
                            algorithm->label, algorithm->shape_size, kp_algorithm_reflect(algorithm)->push_size);
    algorithm->shapes = kp_alloc_zero(words, sizeof *algorithm->shapes);
    return algorithm->shapes != NULL ? KP_OK : kp_error_host_memory(words * sizeof *algorithm->shapes);
}

// A program of our compiler knows what its buffers hold; the words alone may well be meant for another type.
static kp_result keep_params(kp_algorithm *algorithm, const kp_program *program) {
    if (program == NULL || program->params == NULL)
        return KP_OK;
    algorithm->params = kp_alloc_zero(program->param_count, sizeof *algorithm->params);
    if (algorithm->params == NULL)
        return kp_error_host_memory(sizeof *algorithm->params);
    for (size_t i = 0; i < program->param_count; i++) {
        const kp_param *p = &program->params[i];
        bool kept_kind = p->kind == KP_PARAM_BUFFER || p->kind == KP_PARAM_UNIFORM || p->kind == KP_PARAM_IMAGE;
        if (!kept_kind || p->set != 0)
            continue;
        kp_str words = {0};
        kp_str_format(&words, "parameter '%s' is %s", p->name != NULL ? p->name : "",
                      p->type != NULL ? p->type : kp_dtype_name(p->dtype));
        kp_algorithm_param kept = {.binding = p->binding,
                                   .dtype = p->dtype,
                                   .image = p->kind == KP_PARAM_IMAGE,
                                   .ndim = p->ndim,
                                   .components = p->components,
                                   .writes = p->writes,
                                   .least = p->kind == KP_PARAM_UNIFORM ? p->size : 0,
                                   .words = kp_str_take(&words)};
        if (kept.words == NULL)
            return kp_error_host_memory(sizeof kept);
        kp_algorithm_param *place = &algorithm->params[algorithm->param_count++];
        *place = kept;
        kp_result result =
            p->structure != NULL ? kp_structs_copy(p->structure, algorithm->label, &place->structure) : KP_OK;
        if (result != KP_OK)
            return result;
    }
    return reserve_shapes(algorithm, program);
}

// Elements of a tensor that are of no known struct have the right size, or else numbers the right type.
static kp_result check_elements(const kp_algorithm *algorithm, const kp_algorithm_param *p, const kp_memory *memory) {
    char holds[64], text[256] = "";
    bool items = memory->structure == NULL && memory->item != kp_dtype_size(memory->dtype);
    bool fits = memory->dtype == p->dtype && (p->structure != NULL || (memory->structure == NULL && !items));
    if (p->structure != NULL)
        fits = memory->structure != NULL ? !kp_structs_differ(p->structure, memory->structure, text, sizeof text)
                                         : items && memory->item == p->structure->size;
    if (fits && memory->bytes < p->least)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': %s of %u bytes, tensor '%s' has %llu", algorithm->label,
                            p->words, p->least, memory->label, (unsigned long long)memory->bytes);
    if (fits)
        return KP_OK;
    bool elsewhere = strstr(text, "at byte") != NULL || strstr(text, " bytes, not ") != NULL;
    const char *mend = elsewhere ? " (NumPy: make the dtype with align=True; C: no packed struct)" : "";
    return kp_error_set(KP_ERROR_TYPE, "algorithm '%s': %s, tensor '%s' holds %s%s%s%s", algorithm->label, p->words,
                        memory->label, kp_memory_holds(memory, holds), text[0] != '\0' ? ": " : "", text, mend);
}

// `memory` is as choose_memory found it good.
static kp_result check_types(const kp_algorithm *algorithm, kp_memory *const *memory, size_t count) {
    for (size_t i = 0; i < algorithm->param_count; i++) {
        const kp_algorithm_param *p = &algorithm->params[i];
        kp_result result = !p->image && p->binding < count ? check_elements(algorithm, p, memory[p->binding]) : KP_OK;
        if (result != KP_OK)
            return result;
    }
    return KP_OK;
}

// How many axes of a tensor are those of its elements: the last ones, whose product is `components`. UINT32_MAX: none
// are.
static uint32_t element_axes(const kp_memory *memory, uint32_t components) {
    uint64_t product = 1;
    uint32_t axes = 0;
    while (product < components && axes < memory->ndim)
        product *= memory->shape[memory->ndim - ++axes];
    return product == components ? axes : UINT32_MAX;
}

static kp_result check_shape(const kp_algorithm *algorithm, const kp_algorithm_param *p, const kp_memory *memory) {
    uint32_t own = element_axes(memory, p->components), wanted = p->ndim + (p->components > 1);
    bool fits = own != UINT32_MAX && memory->ndim == p->ndim + own;
    if (!fits && (memory->ndim == wanted || (own == UINT32_MAX && memory->ndim > p->ndim)))
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "algorithm '%s': %s, tensor '%s' has %llu numbers on its last axis, not %u",
                            algorithm->label, p->words, memory->label,
                            (unsigned long long)memory->shape[memory->ndim - 1], p->components);
    if (!fits)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': %s, tensor '%s' has %u axes, not %u", algorithm->label,
                            p->words, memory->label, memory->ndim, wanted);
    if (memory->count > INT32_MAX)
        return kp_error_set(KP_ERROR_LIMIT, "algorithm '%s': %s, tensor '%s' has %llu numbers, at most %d are possible",
                            algorithm->label, p->words, memory->label, (unsigned long long)memory->count, INT32_MAX);
    return KP_OK;
}

// Of views and images alone: for others it is the elements of the first memory.
static void set_view_extent(kp_algorithm *algorithm, const kp_algorithm_param *p, const kp_memory *memory) {
    const kp_param param = {
        .kind = p->image ? KP_PARAM_IMAGE : KP_PARAM_BUFFER, .ndim = p->ndim, .components = p->components};
    algorithm->has_view_extent =
        algorithm->index_axes != 0 && (p->image || p->ndim > 1) &&
        kp_extent_find(&param, algorithm->index_axes, memory->ndim, memory->shape, algorithm->view_extent);
}

static kp_result take_shapes(kp_algorithm *algorithm, kp_memory *const *memory, size_t count) {
    const kp_algorithm_param *params = algorithm->params;
    for (size_t i = 0; i < algorithm->param_count && algorithm->shapes != NULL; i++) {
        if (shape_axes(&params[i]) == 0 || params[i].binding >= count)
            continue;
        kp_result result = check_shape(algorithm, &params[i], memory[params[i].binding]);
        if (result != KP_OK)
            return result;
    }
    int32_t *at = algorithm->shapes;
    bool written = false;
    for (size_t i = 0; i < algorithm->param_count; i++) {
        const kp_algorithm_param *p = &params[i];
        uint32_t axes = at != NULL ? shape_axes(p) : 0;
        for (uint32_t axis = 0; p->binding < count && axis < axes; axis++)
            at[axis] = (int32_t)memory[p->binding]->shape[axis];
        if (p->writes && !written && p->binding < count)
            set_view_extent(algorithm, p, memory[p->binding]);
        written |= p->writes;
        at = at != NULL ? at + axes : NULL;
    }
    return KP_OK;
}

static void set_first(kp_algorithm *algorithm, kp_memory *first) {
    if (first != NULL)
        kp_memory_ref(first);
    kp_memory_unref(algorithm->first);
    algorithm->first = first;
}

// Around every change: no commands are recorded meanwhile, and those that were are recorded again.
static void begin_change(kp_algorithm *algorithm) { kp_guard_write(&algorithm->manager->changes); }

static void end_change(kp_algorithm *algorithm) {
    algorithm->version++;
    kp_guard_leave(&algorithm->manager->changes);
}

kp_result kp_algorithm_bind(kp_algorithm *algorithm, kp_memory *const *memory, size_t memory_count) {
    kp_memory **bound = NULL;
    kp_result result = check(algorithm, "kp_algorithm_bind");
    if (result == KP_OK)
        result = choose_memory(algorithm, memory, memory_count, &bound);
    if (result != KP_OK)
        return result;
    result = check_types(algorithm, memory, memory_count);
    if (result == KP_OK)
        result = take_shapes(algorithm, memory, memory_count);
    if (result != KP_OK) {
        unref_all(bound, kp_algorithm_reflect(algorithm)->binding_count);
        return result;
    }
    begin_change(algorithm);
    unref_all(algorithm->memory, algorithm->memory_count);
    algorithm->memory = bound;
    algorithm->memory_count = kp_algorithm_reflect(algorithm)->binding_count;
    set_first(algorithm, memory_count != 0 ? memory[0] : NULL);
    end_change(algorithm);
    return KP_OK;
}

kp_result kp_algorithm_constants(const kp_algorithm *algorithm, kp_param *constants, size_t capacity, size_t *count) {
    kp_result result = check(algorithm, "kp_algorithm_constants");
    if (result != KP_OK)
        return result;
    if (count == NULL || (constants == NULL && capacity != 0))
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': %s is NULL", algorithm->label,
                            count == NULL ? "count" : "constants");
    const kp_constants *c = &algorithm->constants;
    if (capacity != 0 && c->count != 0)
        memcpy(constants, c->list, (capacity < c->count ? capacity : c->count) * sizeof *constants);
    *count = c->count;
    return KP_OK;
}

uint32_t kp_algorithm_push_bytes(const kp_algorithm *algorithm) {
    return algorithm != NULL && atomic_load(&algorithm->alive) ? kp_algorithm_push_size(algorithm) : 0;
}

uint32_t kp_algorithm_push_size(const kp_algorithm *algorithm) {
    return kp_algorithm_reflect(algorithm)->push_size - algorithm->shape_size;
}

static size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

// A struct of C is padded to a multiple of 8 bytes where it has a member of 8, and of 16 where it has a vec3 or larger:
// it may be larger than what the module takes, but no smaller than such a member.
static bool fits_push(size_t need, size_t size) {
    return size == need || (need > 8 && size == round_up(need, 8)) || (need >= 12 && size == round_up(need, 16));
}

kp_result kp_algorithm_check_push(const kp_algorithm *algorithm, const void *push, size_t size) {
    size_t need = kp_algorithm_push_size(algorithm);
    uint32_t limit = algorithm->manager->device->info.max_push_constants;
    if (push == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': push is NULL, but push_size is %zu", algorithm->label,
                            size);
    if (size > limit)
        return kp_error_set(KP_ERROR_LIMIT,
                            "algorithm '%s': maxPushConstantsSize is %u bytes, %zu were given (a buffer can hold more)",
                            algorithm->label, limit, size);
    if (need == 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': the module has no push constants, %zu bytes were given",
                            algorithm->label, size);
    if (!fits_push(need, size))
        return kp_error_set(KP_ERROR_ARGUMENT,
                            "algorithm '%s': the module has %zu bytes of push constants, %zu were given",
                            algorithm->label, need, size);
    return KP_OK;
}

static kp_result set_push(kp_algorithm *algorithm, const void *push, size_t size) {
    kp_result result = kp_algorithm_check_push(algorithm, push, size);
    if (result != KP_OK)
        return result;
    size_t need = kp_algorithm_push_size(algorithm);
    if (algorithm->push == NULL)
        algorithm->push = kp_alloc_new(need);
    if (algorithm->push == NULL)
        return kp_error_host_memory(need);
    memcpy(algorithm->push, push, need);
    algorithm->push_given = size;
    return KP_OK;
}

// What the source gives the push constants, if it gives one to each of them.
static kp_result set_default_push(kp_algorithm *algorithm) {
    size_t need = kp_algorithm_push_size(algorithm), given = 0;
    const kp_constants *c = &algorithm->constants;
    for (size_t i = 0; i < c->count; i++) {
        if (c->list[i].kind == KP_PARAM_CONSTANT && !c->list[i].optional)
            return KP_OK;
        given += c->list[i].kind == KP_PARAM_CONSTANT;
    }
    if (given == 0 || need == 0)
        return KP_OK;
    unsigned char *push = kp_alloc_zero(need, 1);
    if (push == NULL)
        return kp_error_host_memory(need);
    for (size_t i = 0; i < c->count; i++) {
        const kp_param *p = &c->list[i];
        for (size_t k = 0; p->kind == KP_PARAM_CONSTANT && k < p->size && p->offset + k < need; k++)
            push[p->offset + k] = (unsigned char)(p->default_bits >> 8 * k);
    }
    kp_result result = set_push(algorithm, push, need);
    kp_alloc_free(push);
    return result;
}

kp_result kp_algorithm_set_push(kp_algorithm *algorithm, const void *push, size_t push_size) {
    kp_result result = check(algorithm, "kp_algorithm_set_push");
    if (result != KP_OK)
        return result;
    if (algorithm->push != NULL && push_size != algorithm->push_given)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': made with %zu bytes of push constants, %zu were given",
                            algorithm->label, algorithm->push_given, push_size);
    begin_change(algorithm);
    result = set_push(algorithm, push, push_size);
    end_change(algorithm);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making one
// ---------------------------------------------------------------------------------------------------------------------

// What it has of what programs can do without, as kp_need.
static uint32_t device_has(const kp_device *device) {
    const VkPhysicalDeviceShaderAtomicFloatFeaturesEXT *f = &device->features.atomic_float;
    return (f->shaderBufferFloat32AtomicAdd ? (uint32_t)KP_NEED_BUFFER_ADD : 0) |
           (f->shaderSharedFloat32AtomicAdd ? (uint32_t)KP_NEED_SHARED_ADD : 0) |
           (f->shaderBufferFloat32Atomics ? (uint32_t)KP_NEED_BUFFER_EXCHANGE : 0) |
           (f->shaderSharedFloat32Atomics ? (uint32_t)KP_NEED_SHARED_EXCHANGE : 0);
}

// The module for the device. `size`: its bytes; SIZE_MAX when they do not fit.
static const void *choose_words(const kp_algorithm *algorithm, const kp_algorithm_desc *desc, size_t *size) {
    const kp_program *program = desc->program;
    *size = desc->spirv_size;
    if (program == NULL)
        return desc->spirv;
    uint32_t has = device_has(algorithm->manager->device);
    const uint32_t *words = program->words;
    size_t count = program->word_count;
    for (size_t i = program->alternative_count; i-- > 0;) {
        const kp_alternative *a = &program->alternatives[i];
        if ((a->needs & ~has) == 0) {
            words = a->words;
            count = a->word_count;
        }
    }
    *size = count <= SIZE_MAX / sizeof *words ? count * sizeof *words : SIZE_MAX;
    return words;
}

// All that can fail.
static kp_result build(kp_algorithm *algorithm, const kp_algorithm_desc *desc) {
    const kp_program *program = desc->program;
    const char *label = desc->label != NULL                        ? desc->label
                        : program != NULL && program->name != NULL ? program->name
                                                                   : "algorithm";
    algorithm->label = kp_alloc_text(label);
    if (algorithm->label == NULL)
        return kp_error_host_memory(strlen(label));
    if ((program != NULL) == (desc->spirv != NULL))
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': %s", label,
                            program != NULL ? "give a program or SPIR-V, not both"
                                            : "no program and no SPIR-V was given");
    size_t size;
    const void *words = choose_words(algorithm, desc, &size);
    kp_result result =
        kp_pipelines_get(algorithm->manager,
                         &(kp_pipelines_desc){.bytes = words,
                                              .size = size,
                                              .entry = desc->entry,
                                              .specs = desc->specs,
                                              .spec_count = desc->spec_count,
                                              .subgroup_size = desc->subgroup_size != 0 ? desc->subgroup_size
                                                               : program != NULL        ? program->subgroup_size
                                                                                        : 0,
                                              .label = label},
                         &algorithm->kernel);
    if (result == KP_OK)
        result = choose_memory(algorithm, desc->memory, desc->memory_count, &algorithm->memory);
    if (result != KP_OK)
        return result;
    algorithm->memory_count = kp_algorithm_reflect(algorithm)->binding_count;
    set_first(algorithm, desc->memory_count != 0 ? desc->memory[0] : NULL);
    result = keep_params(algorithm, program);
    if (result == KP_OK)
        result = kp_constants_read(&algorithm->constants, program, kp_algorithm_reflect(algorithm));
    if (result == KP_OK)
        result = check_types(algorithm, desc->memory, desc->memory_count);
    if (result == KP_OK)
        result = take_shapes(algorithm, desc->memory, desc->memory_count);
    if (result == KP_OK && desc->push_size != 0)
        result = set_push(algorithm, desc->push, desc->push_size);
    else if (result == KP_OK && desc->push == NULL)
        result = set_default_push(algorithm);
    if (result != KP_OK)
        return result;
    result = kp_algorithm_check_launch(algorithm, desc->workgroups, desc->extent);
    if (result != KP_OK)
        return result;
    memcpy(algorithm->workgroups, desc->workgroups, sizeof algorithm->workgroups);
    memcpy(algorithm->extent, desc->extent, sizeof algorithm->extent);
    return KP_OK;
}

// The driver compiles now, not in the first dispatch. A launch that does not work out is for the dispatch to report,
// which may have one of its own.
static kp_result compile(const kp_algorithm *algorithm, kp_pipelines_kernel *kernel) {
    kp_algorithm_launch launch;
    VkPipeline pipeline;
    if (kp_algorithm_plan(algorithm, NULL, NULL, &launch) != KP_OK || launch.empty) {
        if (kernel->module->regroup)
            return KP_OK; // the setting is not known yet
        launch.setting = (kp_pipelines_setting){0};
    }
    return kp_pipelines_variant_get(algorithm->manager, kernel, &launch.setting, algorithm->label, &pipeline);
}

kp_result kp_algorithm_set_launch(kp_algorithm *algorithm, const uint32_t workgroups[3], const uint32_t extent[3]) {
    static const uint32_t none[3] = {0};
    kp_result result = check(algorithm, "kp_algorithm_set_launch");
    if (result == KP_OK)
        result = kp_algorithm_check_launch(algorithm, workgroups, extent);
    if (result != KP_OK)
        return result;
    begin_change(algorithm);
    memcpy(algorithm->workgroups, workgroups != NULL ? workgroups : none, sizeof algorithm->workgroups);
    memcpy(algorithm->extent, extent != NULL ? extent : none, sizeof algorithm->extent);
    end_change(algorithm);
    return KP_OK;
}

// Room to keep one more kernel that work in flight uses.
static kp_result reserve_retired(kp_algorithm *algorithm) {
    size_t size = (algorithm->retired_count + 1) * sizeof(kp_pipelines_kernel *);
    kp_pipelines_kernel **longer = kp_alloc_resize(algorithm->retired, size);
    if (longer == NULL)
        return kp_error_host_memory(size);
    algorithm->retired = longer;
    return KP_OK;
}

// Work in flight may still use the old kernel: it is put when only the handle holds the algorithm, or with it.
static void change_kernel(kp_algorithm *algorithm, kp_pipelines_kernel *kernel) {
    begin_change(algorithm);
    algorithm->retired[algorithm->retired_count++] = algorithm->kernel;
    algorithm->kernel = kernel;
    if (atomic_load(&algorithm->holds) == 1)
        put_retired(algorithm);
    end_change(algorithm);
}

kp_result kp_algorithm_set_specs(kp_algorithm *algorithm, const kp_spec *specs, size_t spec_count) {
    kp_pipelines_kernel *kernel = NULL;
    kp_result result = check(algorithm, "kp_algorithm_set_specs");
    if (result == KP_OK)
        result =
            kp_pipelines_sibling(algorithm->manager, algorithm->kernel, specs, spec_count, algorithm->label, &kernel);
    if (result != KP_OK)
        return result;
    result = compile(algorithm, kernel);
    if (result == KP_OK)
        result = reserve_retired(algorithm);
    if (result == KP_OK)
        change_kernel(algorithm, kernel);
    else
        kp_pipelines_put(algorithm->manager, kernel);
    return result;
}

kp_result kp_algorithm_create(kp_manager *manager, const kp_algorithm_desc *desc, kp_algorithm **out) {
    kp_result result = kp_manager_check_making(manager, desc, out, "kp_algorithm_create");
    if (result != KP_OK)
        return result;
    kp_algorithm *algorithm = kp_alloc_zero(1, sizeof *algorithm);
    if (algorithm == NULL)
        return kp_error_host_memory(sizeof *algorithm);
    algorithm->manager = manager;
    result = build(algorithm, desc);
    if (result == KP_OK)
        result = compile(algorithm, algorithm->kernel);
    if (result != KP_OK) {
        if (algorithm->kernel != NULL)
            kp_pipelines_put(manager, algorithm->kernel);
        free_struct(algorithm);
        return result;
    }
    atomic_store(&algorithm->refs, 1);
    atomic_store(&algorithm->holds, 1);
    atomic_store(&algorithm->alive, true);
    kp_manager_hold(manager);
    kp_manager_link(algorithm->manager, &algorithm->manager->algorithms, &algorithm->link);
    *out = algorithm;
    return KP_OK;
}
