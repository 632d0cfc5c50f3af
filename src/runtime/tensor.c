// Tensors: memory with a shape and an element type, parts of it that are tensors too, and views of its host side.
#include "tensor.h"

#include "base/alloc.h"
#include "base/structs.h"
#include "external.h"

#include <kp/vulkan.h>

#include <stdio.h>
#include <string.h>

// Elements of the shape, or KP_ERROR_ARGUMENT when it does not go with `count`, KP_ERROR_LIMIT when it does not fit in
// 64 bits.
static kp_result resolve_shape(const kp_tensor_desc *desc, const char *label, kp_memory *tensor) {
    if (desc->ndim > KP_MAX_DIMS)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': %u axes, at most %d are possible", label, desc->ndim,
                            KP_MAX_DIMS);
    uint64_t count = 1;
    bool too_many = false, empty = false;
    for (uint32_t i = 0; i < desc->ndim; i++) {
        tensor->shape[i] = desc->shape[i];
        empty = empty || desc->shape[i] == 0;
        too_many = too_many || (desc->shape[i] != 0 && count > UINT64_MAX / desc->shape[i]);
        count *= desc->shape[i];
    }
    if (empty)
        count = 0;
    else if (too_many)
        return kp_error_set(KP_ERROR_LIMIT, "tensor '%s': the shape has more than 2^64 elements", label);
    tensor->ndim = desc->ndim;
    if (desc->ndim == 0) {
        tensor->ndim = 1;
        tensor->shape[0] = count = desc->count;
    } else if (desc->count != 0 && desc->count != count) {
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': count is %llu, but the shape has %llu elements", label,
                            (unsigned long long)desc->count, (unsigned long long)count);
    }
    tensor->count = count;
    return KP_OK;
}

// What an element is.
static kp_result resolve_element(const kp_tensor_desc *desc, const char *label, kp_memory *tensor) {
    const kp_struct *structure = desc->structure;
    uint32_t item = structure != NULL ? structure->size : desc->item_size;
    tensor->dtype = item != 0 ? KP_U8 : desc->dtype;
    tensor->item = item != 0 ? item : (uint32_t)kp_dtype_size(desc->dtype);
    if (structure != NULL && desc->item_size != 0 && desc->item_size != structure->size)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': item_size is %u, but '%s' has %u bytes", label,
                            desc->item_size, structure->name != NULL ? structure->name : "", structure->size);
    if (item != 0 && desc->fill != NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': fill is for elements that are numbers", label);
    if (structure == NULL)
        return KP_OK;
    char who[288];
    kp_struct *copy = NULL;
    snprintf(who, sizeof who, "tensor '%.200s'", label);
    kp_result result = kp_structs_copy(structure, who, &copy);
    tensor->structure = copy;
    return result;
}

static kp_result describe(const kp_tensor_desc *desc, kp_memory *tensor) {
    const char *label = desc->label != NULL ? desc->label : "tensor";
    if (kp_dtype_size(desc->dtype) == 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': %d is not an element type", label, (int)desc->dtype);
    if ((unsigned)desc->memory_type > KP_MEMORY_DEVICE_AND_HOST)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': %d is not a memory type", label, (int)desc->memory_type);
    if (desc->memory_type == KP_MEMORY_STORAGE && desc->data != NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': a storage tensor has no host side to hold data", label);
    if (desc->memory_type == KP_MEMORY_STORAGE && desc->fill != NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': a storage tensor has no host side to fill; record a fill",
                            label);
    if (!tensor->share.imported && kp_external_memory_handle(desc->exported, &tensor->share.handle_type) != KP_OK)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': %d is not a handle type", label, (int)desc->exported);
    if (desc->exported != KP_HANDLE_NONE && desc->import_data)
        return kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': memory of your own (import_data) cannot be exported",
                            label);
    kp_result result = resolve_element(desc, label, tensor);
    if (result == KP_OK)
        result = resolve_shape(desc, label, tensor);
    if (result != KP_OK)
        return result;
    const size_t size = tensor->item;
    if (tensor->count > UINT64_MAX / size)
        return kp_error_set(KP_ERROR_LIMIT, "tensor '%s': %llu elements of %zu bytes are more than 2^64 bytes", label,
                            (unsigned long long)tensor->count, size);
    tensor->bytes = tensor->count * size;
    tensor->type = desc->memory_type;
    tensor->undefined = desc->uninitialized && desc->data == NULL && desc->fill == NULL;
    tensor->borrowed = desc->import_data ? (void *)(uintptr_t)desc->data : NULL;
    tensor->release = desc->release;
    tensor->release_payload = desc->release_payload;
    if (desc->fill != NULL)
        memcpy(tensor->fill, desc->fill, size);
    tensor->label = kp_alloc_text(label);
    return tensor->label != NULL ? KP_OK : kp_error_host_memory(strlen(label));
}

kp_result kp_tensor_make(kp_manager *manager, const kp_tensor_desc *desc, const kp_tensor_given *given,
                         kp_tensor **out) {
    kp_manager_reap(manager);
    kp_memory *tensor = kp_alloc_zero(1, sizeof *tensor);
    if (tensor == NULL)
        return kp_error_host_memory(sizeof *tensor);
    tensor->manager = manager;
    tensor->device_side = given->foreign;
    tensor->share = given->share;
    kp_result result = describe(desc, tensor);
    if (result == KP_OK)
        result = kp_memory_open(tensor, desc->data);
    if (result != KP_OK) {
        kp_alloc_free((void *)(uintptr_t)tensor->structure);
        kp_alloc_free(tensor->label);
        kp_alloc_free(tensor);
        return result;
    }
    *out = tensor;
    return KP_OK;
}

kp_result kp_tensor_create(kp_manager *manager, const kp_tensor_desc *desc, kp_tensor **out) {
    const kp_tensor_given given = {0};
    kp_result result = kp_manager_check_making(manager, desc, out, "kp_tensor_create");
    if (result != KP_OK)
        return result;
    result = kp_tensor_make(manager, desc, &given, out);
    if (result == KP_ERROR_DEVICE_MEMORY && kp_staging_drop(&manager->staging))
        result = kp_tensor_make(manager, desc, &given, out);
    return result;
}

kp_result kp_vulkan_adopt_buffer(kp_manager *manager, VkBuffer buffer, VkDeviceSize size, const kp_tensor_desc *desc,
                                 kp_tensor **out) {
    kp_result result = kp_manager_check_making(manager, desc, out, "kp_vulkan_adopt_buffer");
    if (result != KP_OK)
        return result;
    if (buffer == VK_NULL_HANDLE)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_buffer: buffer is VK_NULL_HANDLE");
    if (desc->memory_type != KP_MEMORY_DEVICE && desc->memory_type != KP_MEMORY_STORAGE)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_vulkan_adopt_buffer: the memory type must be DEVICE or STORAGE");
    kp_tensor *tensor = NULL;
    result = kp_tensor_make(manager, desc,
                            &(kp_tensor_given){.foreign = {.handle = buffer, .size = size, .foreign = true}}, &tensor);
    if (result != KP_OK)
        return result;
    const unsigned long long needs = (tensor->bytes + 3) / 4 * 4;
    if (needs == 0 || needs > size) {
        result = kp_error_set(KP_ERROR_ARGUMENT, "tensor '%s': needs %llu bytes, the buffer has %llu", tensor->label,
                              needs, (unsigned long long)size);
        kp_tensor_destroy(tensor);
        return result;
    }
    *out = tensor;
    return KP_OK;
}

void kp_tensor_destroy(kp_tensor *tensor) { kp_memory_destroy(tensor); }

// ---------------------------------------------------------------------------------------------------------------------
// Parts of a tensor
// ---------------------------------------------------------------------------------------------------------------------

// The shape and the place of a view of `tensor`.
static kp_result describe_view(const kp_tensor *tensor, const kp_tensor_view_desc *desc, kp_memory *view) {
    const char *label = desc->label != NULL ? desc->label : tensor->label;
    size_t size = tensor->item;
    kp_tensor_desc all = {.count = desc->count, .ndim = desc->ndim};
    memcpy(all.shape, desc->shape, sizeof all.shape);
    if (desc->count == 0 && desc->ndim == 0 && desc->first == 0) {
        all.ndim = tensor->ndim;
        memcpy(all.shape, tensor->shape, sizeof all.shape);
    } else if (desc->count == 0 && desc->ndim == 0 && desc->first < tensor->count) {
        all.count = tensor->count - desc->first;
    }
    kp_result result = resolve_shape(&all, label, view);
    if (result != KP_OK)
        return result;
    if (desc->first > tensor->count || view->count > tensor->count - desc->first)
        return kp_error_set(KP_ERROR_INDEX,
                            "tensor '%s': a view of %llu elements from element %llu on, the tensor has %llu",
                            tensor->label, (unsigned long long)view->count, (unsigned long long)desc->first,
                            (unsigned long long)tensor->count);
    view->offset = tensor->offset + desc->first * size;
    view->bytes = view->count * size;
    view->dtype = tensor->dtype;
    view->item = tensor->item;
    view->structure = tensor->structure;
    view->type = tensor->type;
    memcpy(view->fill, tensor->fill, sizeof view->fill);
    view->label = kp_alloc_text(label);
    return view->label != NULL ? KP_OK : kp_error_host_memory(strlen(label));
}

// It is a root of its own, with a description of its own.
static kp_result open_empty_view(kp_memory *view) {
    kp_struct *copy = NULL;
    kp_result result = view->structure != NULL ? kp_structs_copy(view->structure, view->label, &copy) : KP_OK;
    view->structure = copy;
    view->offset = 0;
    if (result == KP_OK)
        result = kp_memory_open(view, NULL);
    if (result != KP_OK)
        kp_alloc_free(copy);
    return result;
}

static kp_result make_view(kp_tensor *tensor, const kp_tensor_view_desc *desc, kp_tensor **out) {
    kp_memory *view = kp_alloc_zero(1, sizeof *view);
    if (view == NULL)
        return kp_error_host_memory(sizeof *view);
    view->manager = tensor->manager;
    view->root = tensor->root;
    kp_result result = describe_view(tensor, desc, view);
    if (result == KP_OK && view->bytes == 0) { // nothing to share, and nothing of the tensor may be bound in its place
        result = open_empty_view(view);
    } else if (result == KP_OK) {
        kp_memory_open_view(view);
    }
    if (result != KP_OK) {
        kp_alloc_free(view->label);
        kp_alloc_free(view);
        return result;
    }
    *out = view;
    return KP_OK;
}

kp_result kp_tensor_view(kp_tensor *tensor, const kp_tensor_view_desc *desc, kp_tensor **out) {
    if (tensor == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_tensor_view: %s is NULL", tensor == NULL ? "tensor" : "out");
    kp_result result = kp_manager_check(tensor->manager, kp_memory_kind(tensor), tensor->label);
    if (result != KP_OK)
        return result;
    const kp_tensor_view_desc all = {0};
    if (tensor->format != NULL)
        return kp_error_set(KP_ERROR_TYPE, "image '%s': only tensors have parts that are views", tensor->label);
    if (!kp_memory_hold(tensor))
        return kp_error_set(KP_ERROR_STATE, "%s '%s' is destroyed", kp_memory_kind(tensor), tensor->label);
    result = make_view(tensor, desc != NULL ? desc : &all, out);
    kp_memory_let_go(tensor);
    return result;
}

kp_result kp_tensor_bytes_view(kp_tensor *tensor, uint64_t first, uint64_t bytes, kp_tensor **out) {
    kp_memory *view = kp_alloc_zero(1, sizeof *view);
    char *label = kp_alloc_text(tensor->label);
    bool made = view != NULL && label != NULL;
    if (!made || !kp_memory_hold(tensor)) {
        kp_alloc_free(view);
        kp_alloc_free(label);
        return made ? kp_error_set(KP_ERROR_STATE, "tensor '%s' is destroyed", tensor->label)
                    : kp_error_host_memory(sizeof *view);
    }
    view->manager = tensor->manager;
    view->root = tensor->root;
    view->label = label;
    view->type = tensor->type;
    view->dtype = KP_U8;
    view->item = view->ndim = 1;
    view->offset = tensor->offset + first;
    view->count = view->bytes = view->shape[0] = bytes;
    kp_memory_open_view(view);
    kp_memory_let_go(tensor);
    *out = view;
    return KP_OK;
}

// ---------------------------------------------------------------------------------------------------------------------
// Facts
// ---------------------------------------------------------------------------------------------------------------------

void *kp_tensor_data(const kp_tensor *tensor) {
    if (!kp_memory_alive(tensor) || tensor->bytes == 0 || tensor->type == KP_MEMORY_STORAGE)
        return NULL;
    // The tensor is const to the caller: that its host side is made only now is not for him to see.
    if (kp_memory_need_host((kp_memory *)(uintptr_t)tensor) != KP_OK)
        return NULL;
    return kp_memory_host(tensor);
}

uint64_t kp_tensor_count(const kp_tensor *tensor) { return tensor != NULL ? tensor->count : 0; }
uint64_t kp_tensor_bytes(const kp_tensor *tensor) { return tensor != NULL ? tensor->bytes : 0; }
kp_dtype kp_tensor_dtype(const kp_tensor *tensor) { return tensor != NULL ? tensor->dtype : KP_F32; }

uint32_t kp_tensor_item_size(const kp_tensor *tensor) { return tensor != NULL ? tensor->item : 0; }
const kp_struct *kp_tensor_struct(const kp_tensor *tensor) { return tensor != NULL ? tensor->structure : NULL; }

// "structs (position, velocity)"
static void list_fields(const kp_struct *structure, char text[64]) {
    size_t used = (size_t)snprintf(text, 64, "structs (");
    for (size_t i = 0; i < structure->field_count && used < 64; i++)
        used += (size_t)snprintf(text + used, 64 - used, "%s%s", i > 0 ? ", " : "", structure->fields[i].name);
    if (used < 63)
        snprintf(text + used, 64 - used, ")");
    else
        memcpy(text + 59, "...)", 5);
}

const char *kp_memory_holds(const kp_memory *memory, char text[64]) {
    if (memory->structure != NULL && memory->structure->name == NULL)
        list_fields(memory->structure, text);
    else if (memory->structure != NULL)
        snprintf(text, 64, "%.60s", memory->structure->name);
    else if (memory->format == NULL && memory->item != kp_dtype_size(memory->dtype))
        snprintf(text, 64, "items of %u bytes", memory->item);
    else
        snprintf(text, 64, "%s", kp_dtype_name(memory->dtype));
    return text;
}

kp_memory_type kp_tensor_memory_type(const kp_tensor *tensor) {
    return tensor != NULL ? tensor->type : KP_MEMORY_DEVICE;
}

uint32_t kp_tensor_shape(const kp_tensor *tensor, uint64_t shape[KP_MAX_DIMS]) {
    if (tensor == NULL)
        return 0;
    if (shape != NULL)
        memcpy(shape, tensor->shape, sizeof tensor->shape);
    return tensor->ndim;
}

// ---------------------------------------------------------------------------------------------------------------------
// Holds on the host side
// ---------------------------------------------------------------------------------------------------------------------

struct kp_view {
    kp_memory *memory; // held and referred to
    void *data;        // NULL for an empty tensor
};

kp_result kp_view_create(kp_tensor *tensor, kp_view **out) {
    if (tensor == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_view_create: %s is NULL", tensor == NULL ? "tensor" : "out");
    kp_result result = kp_manager_check(tensor->manager, kp_memory_kind(tensor), tensor->label);
    if (result != KP_OK)
        return result;
    kp_view *view = kp_alloc_zero(1, sizeof *view);
    if (view == NULL)
        return kp_error_host_memory(sizeof *view);
    if (!kp_memory_hold(tensor)) {
        kp_alloc_free(view);
        return kp_error_set(KP_ERROR_STATE, "%s '%s' is destroyed", kp_memory_kind(tensor), tensor->label);
    }
    result = kp_memory_need_host(tensor);
    if (result != KP_OK) {
        kp_memory_let_go(tensor);
        kp_alloc_free(view);
        return result;
    }
    kp_memory_ref(tensor);
    *view = (kp_view){.memory = tensor, .data = tensor->bytes != 0 ? kp_memory_host(tensor) : NULL};
    *out = view;
    return KP_OK;
}

void *kp_view_data(const kp_view *view) { return view != NULL ? view->data : NULL; }

void kp_view_destroy(kp_view *view) {
    if (view == NULL || kp_manager_forked(view->memory->manager))
        return;
    kp_memory_let_go(view->memory);
    kp_memory_unref(view->memory);
    kp_alloc_free(view);
}
