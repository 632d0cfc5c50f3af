// Images: variables, pixels, sizes, samples.
//
// Vulkan drops what is written outside of an image, but leaves open what is read there; so a read is masked to 0. The
// instructions give four components, whatever the format has: those that the kernel asked for are taken out.
#include "emitter.h"

#include "base/launch.h"
#include "pixel.h"

#include <stdio.h>
#include <string.h>

static bool is_stored(const kp_symbol *symbol) {
    return symbol->type->use == KP_TYPE_STORAGE || (symbol->type->use == KP_TYPE_EITHER && !symbol->samples);
}

// ---------------------------------------------------------------------------------------------------------------------
// Variables
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t image_type(kp_emitter *e, const kp_symbol *symbol) {
    static const SpvDim dims[] = {SpvDim1D, SpvDim2D, SpvDim3D};
    const kp_type *type = symbol->type;
    bool stored = is_stored(symbol);
    uint32_t sampled = kp_emit_type(e, kp_type_scalar(type->dtype));
    return kp_spirv_type_image(e->s, sampled, dims[type->axes - 1], stored ? 2 : 1,
                               stored ? (SpvImageFormat)type->format->spirv : SpvImageFormatUnknown);
}

// What the variable holds: an image, one with its sampler, a sampler.
static uint32_t held_type(kp_emitter *e, const kp_symbol *symbol) {
    if (symbol->type->kind == KP_TYPE_SAMPLER)
        return kp_spirv_type_sampler(e->s);
    uint32_t image = image_type(e, symbol);
    return symbol->type->use == KP_TYPE_TEXTURE ? kp_spirv_type_sampled_image(e->s, image) : image;
}

static void declare_abilities(kp_emitter *e, const kp_symbol *symbol) {
    bool stored = is_stored(symbol);
    if (symbol->type->axes == 1)
        kp_spirv_capability(e->s, stored ? SpvCapabilityImage1D : SpvCapabilitySampled1D);
    if (stored && symbol->type->format->extended)
        kp_spirv_capability(e->s, SpvCapabilityStorageImageExtendedFormats);
}

// How it is sampled, where its type says so.
static void tell_sampling(kp_emitter *e, const kp_check_param *param) {
    const kp_type *type = param->symbol->type;
    char line[96];
    if (type->filter == 0 && type->address_mode == 0 && !type->unnormalized)
        return;
    int length = snprintf(line, sizeof line, KP_LAUNCH_SAMPLER "%u\n%u\n%u\n%u\n%u\n", param->set, param->binding,
                          type->filter, type->address_mode, type->unnormalized);
    kp_spirv_string(e->s, line, (uint32_t)length);
}

void kp_emit_image(kp_emitter *e, const kp_check_param *param) {
    kp_spirv *s = e->s;
    kp_symbol *symbol = param->symbol;
    bool image = kp_type_is_image(symbol->type);
    uint32_t pointer = kp_spirv_type_pointer(s, SpvStorageClassUniformConstant, held_type(e, symbol));
    symbol->id = kp_spirv_global(s, pointer, SpvStorageClassUniformConstant);
    kp_spirv_name(s, symbol->id, symbol->name->text);
    kp_spirv_decorate_with(s, symbol->id, SpvDecorationDescriptorSet, param->set);
    kp_spirv_decorate_with(s, symbol->id, SpvDecorationBinding, param->binding);
    if (!image)
        return;
    declare_abilities(e, symbol);
    tell_sampling(e, param);
    if (!is_stored(symbol))
        return;
    if (!symbol->writes)
        kp_spirv_decorate(s, symbol->id, SpvDecorationNonWritable);
    if (!symbol->reads)
        kp_spirv_decorate(s, symbol->id, SpvDecorationNonReadable);
    if (symbol->reads && symbol->writes && e->kernel->orders_memory)
        kp_spirv_decorate(s, symbol->id, SpvDecorationCoherent);
}

bool kp_emit_has_images(const kp_emitter *e) {
    for (uint32_t i = 0; i < e->kernel->param_count; i++) {
        const kp_symbol *symbol = e->kernel->params[i].symbol;
        if (kp_type_is_image(symbol->type) && symbol->writes)
            return true;
    }
    return false;
}

static uint32_t load_held(kp_emitter *e, const kp_symbol *symbol) {
    return kp_spirv_load(e->s, held_type(e, symbol), symbol->id);
}

// The image alone.
static uint32_t load_image(kp_emitter *e, const kp_symbol *symbol) {
    uint32_t held = load_held(e, symbol);
    if (symbol->type->use != KP_TYPE_TEXTURE)
        return held;
    return kp_spirv_unary(e->s, SpvOpImage, image_type(e, symbol), held);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sizes
// ---------------------------------------------------------------------------------------------------------------------

static const kp_type *ints(const kp_symbol *symbol, kp_dtype dtype) {
    return kp_type_vector(dtype, symbol->type->axes);
}

static uint32_t size_of(kp_emitter *e, const kp_symbol *symbol, uint32_t image) {
    uint32_t type = kp_emit_type(e, ints(symbol, KP_I32));
    kp_spirv_capability(e->s, SpvCapabilityImageQuery);
    if (is_stored(symbol))
        return kp_spirv_unary(e->s, SpvOpImageQuerySize, type, image);
    return kp_spirv_binary(e->s, SpvOpImageQuerySizeLod, type, image, kp_spirv_constant(e->s, e->type_i32, 0));
}

uint32_t kp_emit_image_size(kp_emitter *e, const kp_symbol *symbol) {
    return size_of(e, symbol, load_image(e, symbol));
}

// ---------------------------------------------------------------------------------------------------------------------
// Pixels
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t unsigned_of(kp_emitter *e, const kp_symbol *symbol, uint32_t value) {
    return kp_spirv_unary(e->s, SpvOpBitcast, kp_emit_type(e, ints(symbol, KP_U32)), value);
}

static uint32_t axis_of(kp_emitter *e, const kp_symbol *symbol, uint32_t value, uint32_t axis) {
    return symbol->type->axes == 1 ? value : kp_spirv_extract(e->s, e->type_u32, value, axis);
}

// A fault where the pixel is outside. Gives a bool that says so where the invocation goes on; else 0.
static uint32_t check_inside(kp_emitter *e, const kp_node *n, const kp_symbol *symbol, uint32_t at) {
    uint32_t axes = symbol->type->axes;
    if (!e->unit->desc->checked)
        return 0;
    uint32_t size = unsigned_of(e, symbol, kp_emit_image_size(e, symbol)), places = unsigned_of(e, symbol, at);
    uint32_t outside = kp_spirv_binary(e->s, SpvOpUGreaterThanEqual, kp_emit_bool_type(e, axes), places, size);
    if (axes > 1)
        outside = kp_spirv_unary(e->s, SpvOpAny, e->type_bool, outside);
    size_t room = symbol->name->length + 2;
    char *text = KP_UNIT_NEW(e->unit, char, room);
    snprintf(text, room, "%u%s", axes, symbol->name->text);
    kp_emit_fault_data data = {.text = text, .word_count = 6};
    for (uint32_t axis = 0; axis < 3; axis++) {
        data.words[axis] = axis < axes ? axis_of(e, symbol, places, axis) : kp_spirv_constant(e->s, e->type_u32, 0);
        data.words[3 + axis] = axis < axes ? axis_of(e, symbol, size, axis) : data.words[axis];
    }
    kp_emit_fault(e, KP_LAUNCH_SITE_PIXEL, n, outside, &data);
    return e->kernel->has_barrier ? outside : 0;
}

kp_place kp_emit_pixel_place(kp_emitter *e, kp_node *n) {
    const kp_symbol *symbol = n->u.subscript.object->u.symbol;
    uint32_t at = kp_emit_expr(e, n->u.subscript.index);
    return (kp_place){.type = n->type, .image = symbol, .index = at, .outside = check_inside(e, n, symbol, at)};
}

// The components of a vec4 that `type` has, and its sign.
static uint32_t narrow(kp_emitter *e, const kp_symbol *symbol, uint32_t four) {
    static const uint8_t first[] = {0, 1, 2, 3};
    const kp_type *type = symbol->type->element, *read = kp_type_vector(symbol->type->dtype, type->components);
    uint32_t value = four;
    if (type->components == 1)
        value = kp_spirv_extract(e->s, kp_emit_type(e, read), four, 0);
    else if (type->components < 4)
        value = kp_spirv_shuffle(e->s, kp_emit_type(e, read), four, first, type->components);
    return read == type ? value : kp_spirv_unary(e->s, SpvOpBitcast, kp_emit_type(e, type), value);
}

static uint32_t four_type(kp_emitter *e, const kp_symbol *symbol) {
    return kp_emit_type(e, kp_type_vector(symbol->type->dtype, 4));
}

// `value` where the pixel is inside of the image, else 0.
static uint32_t mask(kp_emitter *e, const kp_symbol *symbol, uint32_t image, uint32_t at, uint32_t value) {
    kp_spirv *s = e->s;
    const kp_type *type = symbol->type->element;
    uint32_t size = unsigned_of(e, symbol, size_of(e, symbol, image)), id = kp_emit_type(e, type);
    uint32_t bools = kp_emit_bool_type(e, symbol->type->axes);
    uint32_t inside = kp_spirv_binary(s, SpvOpULessThan, bools, unsigned_of(e, symbol, at), size);
    if (symbol->type->axes > 1)
        inside = kp_spirv_unary(s, SpvOpAll, e->type_bool, inside);
    if (type->components > 1) {
        uint32_t parts[4] = {inside, inside, inside, inside};
        inside = kp_spirv_construct(s, kp_emit_bool_type(e, type->components), parts, type->components);
    }
    return kp_spirv_select(s, id, inside, value, kp_spirv_constant_null(s, id));
}

uint32_t kp_emit_read_pixel(kp_emitter *e, const kp_place *place) {
    const kp_symbol *symbol = place->image;
    uint32_t image = load_image(e, symbol), type = four_type(e, symbol), four;
    if (is_stored(symbol)) {
        four = kp_spirv_binary(e->s, SpvOpImageRead, type, image, place->index);
    } else {
        uint32_t operands[4] = {image, place->index, SpvImageOperandsLodMask, kp_spirv_constant(e->s, e->type_i32, 0)};
        four = kp_spirv_instruction(e->s, SpvOpImageFetch, type, operands, 4);
    }
    uint32_t value = narrow(e, symbol, four);
    bool faulted = e->unit->desc->checked && !e->kernel->has_barrier;
    return faulted ? value : mask(e, symbol, image, place->index, value);
}

// All four components, whatever the format has.
static uint32_t widen(kp_emitter *e, const kp_symbol *symbol, uint32_t value) {
    const kp_type *type = symbol->type->element, *stored = kp_type_vector(symbol->type->dtype, type->components);
    if (stored != type)
        value = kp_spirv_unary(e->s, SpvOpBitcast, kp_emit_type(e, stored), value);
    if (type->components == 4)
        return value;
    uint32_t parts[4] = {value}, count = 1;
    uint32_t zero = kp_spirv_constant_null(e->s, kp_emit_type(e, kp_type_scalar(symbol->type->dtype)));
    for (uint32_t i = type->components; i < 4; i++)
        parts[count++] = zero;
    return kp_spirv_construct(e->s, four_type(e, symbol), parts, count);
}

void kp_emit_write_pixel(kp_emitter *e, const kp_place *place, uint32_t value) {
    uint32_t image = load_image(e, place->image);
    uint32_t operands[3] = {image, place->index, widen(e, place->image, value)};
    kp_spirv_effect(e->s, SpvOpImageWrite, operands, 3);
}

// ---------------------------------------------------------------------------------------------------------------------
// Samples
// ---------------------------------------------------------------------------------------------------------------------

uint32_t kp_emit_sample(kp_emitter *e, kp_node *n) {
    kp_list list = n->u.call.list;
    const kp_symbol *symbol = list.items[0]->u.symbol;
    uint32_t at = kp_emit_expr(e, list.items[list.count - 1]), held = load_held(e, symbol);
    if (list.count == 3) {
        uint32_t both = kp_spirv_type_sampled_image(e->s, image_type(e, symbol));
        held = kp_spirv_binary(e->s, SpvOpSampledImage, both, held, load_held(e, list.items[1]->u.symbol));
    }
    uint32_t level = kp_emit_number(e, kp_type_scalar(KP_F32), 0);
    uint32_t operands[4] = {held, at, SpvImageOperandsLodMask, level};
    return narrow(e, symbol,
                  kp_spirv_instruction(e->s, SpvOpImageSampleExplicitLod, four_type(e, symbol), operands, 4));
}
