// See reflect_bindings.h. A binding is a variable: its type says the kind, the type of the block its sizes, what was
// found in the functions its accesses.
#include "reflect_bindings.h"

#include "reflect_access.h"

#include <stdlib.h>

enum { DEEPEST = 64 };

// Takes the arrays of descriptors off a type; *count becomes their number.
static uint32_t strip_arrays(const kp_reflect_types *t, uint32_t type, uint32_t *count) {
    uint64_t n = 1;
    for (int depth = 0; depth < DEEPEST && type != KP_REFLECT_NONE; depth++) {
        kp_reflect_instruction i = kp_reflect_module_def(t->module, type);
        uint64_t length = 0;
        if (i.op == SpvOpTypeArray)
            kp_reflect_types_constant(t, kp_reflect_operand(&i, 3), &length);
        else if (i.op != SpvOpTypeRuntimeArray)
            break;
        n = kp_reflect_types_product(n, length);
        type = kp_reflect_types_before(t->module, type, 2);
    }
    *count = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    return type;
}

static kp_reflect_kind image_kind(uint32_t dim, bool storage) {
    if (dim == SpvDimBuffer)
        return storage ? KP_REFLECT_STORAGE_TEXEL_BUFFER : KP_REFLECT_UNIFORM_TEXEL_BUFFER;
    if (dim == SpvDimSubpassData)
        return KP_REFLECT_OTHER;
    return storage ? KP_REFLECT_STORAGE_IMAGE : KP_REFLECT_SAMPLED_IMAGE;
}

// `type` is an OpTypeImage.
static void describe_image(const kp_reflect_module *m, uint32_t type, kp_reflect_binding *b) {
    kp_reflect_instruction i = kp_reflect_module_def(m, type);
    uint32_t dim = kp_reflect_operand(&i, 3);
    b->kind = image_kind(dim, kp_reflect_operand(&i, 7) == 2);
    b->dimensions = dim == SpvDim1D || dim == SpvDimBuffer ? 1 : dim == SpvDim3D ? 3 : 2;
    b->arrayed = kp_reflect_operand(&i, 5) == 1 || dim == SpvDimCube;
    b->multisampled = kp_reflect_operand(&i, 6) == 1;
    b->format = kp_reflect_operand(&i, 8);
    uint32_t sampled = kp_reflect_types_before(m, type, 2);
    b->has_dtype = sampled != KP_REFLECT_NONE && kp_reflect_types_element(m, sampled, &b->dtype, &b->components);
    b->components = b->has_dtype ? 4 : 0;
}

// `type` is the block's OpTypeStruct.
static void describe_block(const kp_reflect_types *t, uint32_t type, kp_reflect_binding *b) {
    const kp_reflect_module *m = t->module;
    kp_reflect_instruction i = kp_reflect_module_def(m, type);
    b->min_size = t->rows[type].laid;
    if (i.count <= 2)
        return;
    uint32_t array = kp_reflect_types_before(m, type, i.count - 1),
             offset = m->members[m->defs[type].members + i.count - 3].offset;
    if (array == KP_REFLECT_NONE || offset == KP_REFLECT_NONE || m->defs[array].stride == KP_REFLECT_NONE)
        return;
    SpvOp op = kp_reflect_module_def(m, array).op;
    if (op != SpvOpTypeRuntimeArray && op != SpvOpTypeArray)
        return;
    b->array_open = op == SpvOpTypeRuntimeArray;
    b->array_offset = offset;
    b->array_stride = m->defs[array].stride;
    uint32_t element = kp_reflect_types_before(m, array, 2);
    b->has_dtype = element != KP_REFLECT_NONE && kp_reflect_types_element(m, element, &b->dtype, &b->components);
    b->components = b->has_dtype ? b->components : 0;
}

static void describe(const kp_reflect_types *t, uint32_t storage_class, uint32_t type, kp_reflect_binding *b) {
    b->kind = KP_REFLECT_OTHER;
    if (type == KP_REFLECT_NONE)
        return;
    switch (kp_reflect_module_def(t->module, type).op) {
    case SpvOpTypeStruct: {
        bool storage = storage_class == SpvStorageClassStorageBuffer || t->module->defs[type].buffer_block;
        b->kind = storage ? KP_REFLECT_STORAGE_BUFFER : KP_REFLECT_UNIFORM_BUFFER;
        describe_block(t, type, b);
        break;
    }
    case SpvOpTypeImage:
        describe_image(t->module, type, b);
        break;
    case SpvOpTypeSampledImage: {
        uint32_t image = kp_reflect_types_before(t->module, type, 2);
        if (image == KP_REFLECT_NONE || kp_reflect_module_def(t->module, image).op != SpvOpTypeImage)
            break;
        describe_image(t->module, image, b);
        if (b->kind == KP_REFLECT_SAMPLED_IMAGE)
            b->kind = KP_REFLECT_COMBINED_IMAGE_SAMPLER;
        break;
    }
    case SpvOpTypeSampler:
        b->kind = KP_REFLECT_SAMPLER;
        break;
    case SpvOpTypeAccelerationStructureKHR:
        b->kind = KP_REFLECT_ACCELERATION_STRUCTURE;
        break;
    default:
        break;
    }
}

// The module forbids it? NonWritable and NonReadable may stand on the variable, or on each member of its block.
static void apply_decorations(const kp_reflect_module *m, uint32_t variable, uint32_t type, kp_reflect_binding *b) {
    bool no_write = m->defs[variable].non_writable, no_read = m->defs[variable].non_readable;
    if (type != KP_REFLECT_NONE && kp_reflect_module_def(m, type).op == SpvOpTypeStruct) {
        uint32_t count = kp_reflect_module_def(m, type).count - 2;
        const kp_reflect_member *members = &m->members[m->defs[type].members];
        bool none_written = count != 0, none_read = count != 0;
        for (uint32_t k = 0; k < count; k++) {
            none_written &= members[k].non_writable;
            none_read &= members[k].non_readable;
        }
        no_write |= none_written;
        no_read |= none_read;
    }
    b->writes &= !no_write;
    b->reads &= !no_read;
}

static bool is_resource(uint32_t storage_class) {
    return storage_class == SpvStorageClassUniformConstant || storage_class == SpvStorageClassUniform ||
           storage_class == SpvStorageClassStorageBuffer;
}

static kp_reflect_binding read_binding(const kp_reflect_types *t, uint32_t row, uint8_t flags) {
    const kp_reflect_def *def = &t->module->defs[row];
    kp_reflect_binding b = {.set = def->set, .binding = def->binding};
    b.name = kp_reflect_module_name(t->module, row);
    if (def->set == KP_REFLECT_NONE || def->binding == KP_REFLECT_NONE)
        kp_reflect_module_fail(t->module, KP_ERROR_SPIRV, "variable %u ('%.64s') has no %s", (unsigned)def->id,
                               b.name != NULL ? b.name : "",
                               def->set == KP_REFLECT_NONE ? "descriptor set" : "binding");
    uint32_t type = strip_arrays(t, kp_reflect_types_pointee(t->module, row), &b.count);
    describe(t, kp_reflect_types_storage_class(t->module, row), type, &b);
    b.reads = (flags & KP_REFLECT_READ) != 0;
    b.writes = (flags & KP_REFLECT_WRITE) != 0 && b.kind != KP_REFLECT_UNIFORM_BUFFER;
    apply_decorations(t->module, row, type, &b);
    if (b.name == NULL && type != KP_REFLECT_NONE)
        b.name = kp_reflect_module_name(t->module, type);
    return b;
}

int kp_reflect_bindings_order(const void *a, const void *b) {
    const kp_reflect_binding *x = a, *y = b;
    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    return x->binding < y->binding ? -1 : x->binding > y->binding;
}

// Two variables at one place see the same memory.
static void merge(const kp_reflect_types *t, kp_reflect_binding *to, const kp_reflect_binding *from) {
    if (to->kind != from->kind)
        kp_reflect_module_fail(t->module, KP_ERROR_SPIRV, "set %u, binding %u is a %s and a %s", (unsigned)to->set,
                               (unsigned)to->binding, kp_reflect_kind_name(to->kind), kp_reflect_kind_name(from->kind));
    kp_reflect_binding both = to->array_stride != 0 || from->array_stride == 0 ? *to : *from;
    both.reads = to->reads || from->reads;
    both.writes = to->writes || from->writes;
    both.min_size = to->min_size > from->min_size ? to->min_size : from->min_size;
    both.count = to->count == 0 || from->count == 0 ? 0 : to->count > from->count ? to->count : from->count;
    if (both.has_dtype && from->has_dtype && to->has_dtype &&
        (from->dtype != to->dtype || from->components != to->components))
        both.has_dtype = false;
    *to = both;
}

kp_reflect_binding *kp_reflect_bindings_read(const kp_reflect_types *t, const uint8_t *flags, size_t *count) {
    size_t most = 0, n = 0;
    for (uint32_t row = 0; row < t->module->global_count; row++)
        most += flags[row] != 0 && is_resource(kp_reflect_types_storage_class(t->module, row));
    kp_reflect_binding *all = kp_reflect_module_alloc(t->module, t->module->keep, most, sizeof *all);
    for (uint32_t row = 0; row < t->module->global_count; row++) {
        if (flags[row] != 0 && is_resource(kp_reflect_types_storage_class(t->module, row)))
            all[n++] = read_binding(t, row, flags[row]);
    }
    qsort(all, most, sizeof *all, kp_reflect_bindings_order);
    n = 0;
    for (size_t k = 0; k < most; k++) {
        if (n != 0 && kp_reflect_bindings_order(&all[n - 1], &all[k]) == 0)
            merge(t, &all[n - 1], &all[k]);
        else
            all[n++] = all[k];
    }
    *count = n;
    return all;
}
