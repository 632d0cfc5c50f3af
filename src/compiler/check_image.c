// Images: their types, pixels, sizes, and pyshader's functions for them.
//
// A pixel is a SUBSCRIPT of an image whose index is a vector (or, on one axis, a number), in the order x, y, z. That is
// not the order of a view, which is [row, column]; so of two numbers, those that are plainly in the other order are
// refused: img[y, x] would be silently wrong where the image is a square. What is meant so is written with a vector,
// img[at.yx].
//
// What pyshader calls a texture is declared here as "2d f32" (sampled, any format) or "2d rgba8" (stored, unless the
// kernel samples it); its pixels read as vec4 or, unsigned ones too, as ivec4.
#include "checker.h"

#include "base/launch.h"
#include "builtin.h"
#include "pixel.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

// "Image2D", "Texture3D"
static bool read_name(const kp_name *name, kp_type_use *use, uint32_t *axes) {
    if (name == NULL || name->length < 3 || strcmp(name->text + name->length - 1, "D") != 0)
        return false;
    const char *digit = name->text + name->length - 2;
    bool image = name->length == 7 && strncmp(name->text, "Image", 5) == 0;
    bool texture = name->length == 9 && strncmp(name->text, "Texture", 7) == 0;
    *use = texture ? KP_TYPE_TEXTURE : KP_TYPE_STORAGE;
    *axes = (uint32_t)(*digit - '0');
    return (image || texture) && *digit >= '1' && *digit <= '3';
}

static const char *text_of(kp_checker *c, const kp_node *n, const char *what) {
    uint32_t start, end;
    if (n->kind != KP_NODE_STRING || n->first != kp_ast_last(n) || !kp_lexer_string(c->unit, n->first, &start, &end))
        kp_check_fail(c, n, "%s", what);
    return kp_arena_text(&c->unit->arena, c->unit->text + start, end - start);
}

static const kp_pixel_format *format_of(kp_checker *c, const kp_node *at, const char *name) {
    const kp_pixel_format *format = kp_pixel_find(name);
    if (format != NULL)
        return format;
    const kp_pixel_format *near = kp_pixel_nearest(name);
    if (near != NULL)
        kp_check_fail(c, at, "there is no format '%s'; did you mean '%s'?", name, near->name);
    kp_check_fail(c, at, "there is no format '%s'; there are r32f, rgba8, r16ui and others like these", name);
}

static void want_texel(kp_checker *c, const kp_node *at, const kp_type *texel, bool image) {
    bool fits = kp_type_is_value(texel) && (texel->dtype == KP_F32 || texel->dtype == KP_I32 || texel->dtype == KP_U32);
    bool narrow = kp_type_is_value(texel) && kp_type_is_numeric(texel) &&
                  kp_type_size(texel->element != NULL ? texel->element : texel) < 4;
    if (!fits && narrow && image)
        kp_check_fail(c, at,
                      "a pixel reads as f32, i32, u32 or a vector of these, not as %s; how it is stored is its format, "
                      "as in Image2D[f32, \"r16f\"]",
                      texel->name);
    if (!fits)
        kp_check_fail(c, at, "a pixel reads as f32, i32, u32 or a vector of these, not as %s", texel->name);
    if (image && texel->components == 3)
        kp_check_fail(c, at, "an image has 1, 2 or 4 channels, not 3; write %s", kp_type_vector(texel->dtype, 4)->name);
}

static const kp_pixel_format *chosen_format(kp_checker *c, const kp_node *n, const kp_type *texel) {
    if (n == NULL)
        return kp_pixel_default(texel);
    const kp_pixel_format *format =
        format_of(c, n, text_of(c, n, "the format of an image is a text, as in Image2D[vec4, \"rgba8\"]"));
    if (format->reads != texel->dtype || format->channels != texel->components)
        kp_check_fail(c, n, "a pixel of the format %s is %s %s, not %s %s", format->name,
                      kp_check_article(kp_pixel_texel(format)), kp_pixel_texel(format), kp_check_article(texel->name),
                      texel->name);
    return format;
}

// The place of a word in a list, from 1; 0: it is not there.
static uint8_t place_of(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return (uint8_t)(i + 1);
    }
    return 0;
}

static void set_once(kp_checker *c, const kp_node *n, const char *what, uint8_t *place, uint8_t value) {
    if (*place != 0)
        kp_check_fail(c, n, "a texture has one %s", what);
    *place = value;
}

// What a texture says of how it is sampled: the words behind its texel.
static void read_sampling(kp_checker *c, const kp_node *n, kp_type *type) {
#define KP_X(word) word,
    static const char *const filters[] = {KP_LAUNCH_FILTERS(KP_X)}, *const modes[] = {KP_LAUNCH_ADDRESS_MODES(KP_X)};
#undef KP_X
    const char *word = text_of(c, n, "how a texture is sampled is a text, as in Texture2D[f32, \"linear\"]");
    uint8_t filter = place_of(word, filters, sizeof filters / sizeof *filters);
    uint8_t mode = place_of(word, modes, sizeof modes / sizeof *modes);
    if (filter != 0)
        set_once(c, n, "filter", &type->filter, filter);
    else if (mode != 0)
        set_once(c, n, "address mode", &type->address_mode, mode);
    else if (strcmp(word, "unnormalized") == 0)
        type->unnormalized = true;
    else if (kp_pixel_find(word) != NULL)
        kp_check_fail(c, n, "a texture takes images of any format; leave out \"%s\"", word);
    else
        kp_check_fail(c, n,
                      "a texture is sampled by \"nearest\" or \"linear\", beyond its edges by \"clamp_to_edge\", "
                      "\"repeat\", \"mirrored_repeat\" or \"clamp_to_border\", at pixels where it is "
                      "\"unnormalized\"; there is no \"%s\"",
                      word);
}

// What Vulkan's samplers cannot do.
static void want_sampling(kp_checker *c, const kp_node *n, const kp_type *type) {
    enum { LINEAR = 2, TO_EDGE = 1, TO_BORDER = 4 };
    if (type->filter == LINEAR && type->dtype != KP_F32)
        kp_check_fail(c, n, "integers are not mixed; a \"linear\" texture reads as floats");
    if (type->unnormalized && type->axes == 3)
        kp_check_fail(c, n, "an \"unnormalized\" texture has one or two axes");
    if (type->unnormalized && type->address_mode != 0 && type->address_mode != TO_EDGE &&
        type->address_mode != TO_BORDER)
        kp_check_fail(c, n, "an \"unnormalized\" texture is \"clamp_to_edge\" or \"clamp_to_border\"");
}

// Image2D[texel], Image2D[texel, "format"], Texture2D[texel], Texture2D[texel, "linear", "repeat"]
const kp_type *kp_check_image_type(kp_checker *c, kp_node *n) {
    kp_type type = {.kind = KP_TYPE_IMAGE};
    bool whole = n->kind == KP_NODE_SUBSCRIPT;
    const kp_name *name = kp_check_path(c, whole ? n->u.subscript.object : n);
    if (!read_name(name, &type.use, &type.axes))
        return NULL;
    if (!whole)
        kp_check_fail(c, n, "%s needs the type of its pixels, as in %s[f32]", name->text, name->text);
    kp_node *index = n->u.subscript.index, *format = NULL;
    kp_list words = {0};
    if (index->kind == KP_NODE_TUPLE) {
        kp_list list = index->u.list;
        if (type.use == KP_TYPE_TEXTURE && list.count > 1)
            words = (kp_list){.items = list.items + 1, .count = list.count - 1};
        else if (list.count != 2)
            kp_check_fail(c, n, "%s takes the type of its pixels and perhaps their format, as in %s[vec4, \"rgba8\"]",
                          name->text, name->text);
        index = list.items[0];
        format = list.items[1];
    }
    const kp_node *sampling = words.count != 0 ? words.items[0] : NULL;
    const kp_type *texel = kp_signature_value_type(c, index);
    want_texel(c, index, texel, type.use == KP_TYPE_STORAGE);
    char text[128];
    size_t used = (size_t)snprintf(text, sizeof text, "%s[%s]", name->text, texel->name) - 1;
    if (type.use == KP_TYPE_STORAGE) {
        type.format = chosen_format(c, format, texel);
        if (type.format != kp_pixel_default(texel))
            snprintf(text, sizeof text, "%s[%s, \"%s\"]", name->text, texel->name, type.format->name);
    }
    type.element = texel;
    type.dtype = texel->dtype;
    type.name = text;
    for (uint32_t i = 0; i < words.count; i++) {
        read_sampling(c, words.items[i], &type);
        used += (size_t)snprintf(text + used, sizeof text - used, ", \"%s\"", text_of(c, words.items[i], ""));
    }
    if (sampling != NULL) {
        snprintf(text + used, sizeof text - used, "]");
        want_sampling(c, sampling, &type);
    }
    return kp_type_image(c->unit, &type);
}

// "2d rgba8", "1d f32": what a parameter of pyshader's is.
const kp_type *kp_check_texture_type(kp_checker *c, kp_node *n) {
    static const char how[] =
        "the type of a texture is a text with its axes and its format or type, as in \"2d rgba8\" "
        "or \"2d f32\"";
    const char *text = text_of(c, n, how);
    char axes = 0, end = 0, what[32] = "";
    if (sscanf(text, "%cd %31s %c", &axes, what, &end) != 2 || axes < '1' || axes > '3')
        kp_check_fail(c, n, "%s", how);
    kp_type type = {.kind = KP_TYPE_IMAGE, .axes = (uint32_t)(axes - '0'), .use = KP_TYPE_PLAIN, .name = text};
    const kp_type *plain = kp_type_find(what);
    if (plain != NULL) {
        want_texel(c, n, plain, false);
        type.dtype = plain->dtype;
    } else {
        type.format = format_of(c, n, what);
        type.use = KP_TYPE_EITHER;
        type.dtype = type.format->reads;
    }
    type.element = kp_type_vector(type.dtype == KP_F32 ? KP_F32 : KP_I32, 4);
    return kp_type_image(c->unit, &type);
}

const kp_type *kp_check_sampler_type(kp_checker *c) {
    return kp_type_image(c->unit, &(kp_type){.kind = KP_TYPE_SAMPLER, .name = "sampler"});
}

kp_param kp_check_image_describe(const kp_check_param *param) {
    const kp_symbol *symbol = param->symbol;
    const kp_type *type = symbol->type;
    bool image = kp_type_is_image(type), stored = image && param->kind == KP_PARAM_IMAGE && !symbol->samples;
    kp_param p = {.name = symbol->name->text,
                  .type = param->type_name,
                  .kind = image && !stored ? KP_PARAM_TEXTURE : param->kind,
                  .dtype = stored ? type->format->dtype : type->dtype,
                  .components = stored  ? type->format->channels
                                : image ? type->element->components
                                        : 0,
                  .set = param->set,
                  .binding = param->binding,
                  .ndim = type->axes,
                  .reads = symbol->reads,
                  .writes = symbol->writes,
                  .format = stored ? type->format->name : NULL};
    p.size = (uint32_t)kp_dtype_size(p.dtype) * p.components;
    return p;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pixels
// ---------------------------------------------------------------------------------------------------------------------

static bool is_pixel(const kp_node *n) {
    return n->kind == KP_NODE_SUBSCRIPT && n->type != NULL && n->u.subscript.object->type != NULL &&
           kp_type_is_image(n->u.subscript.object->type);
}

void kp_check_image_alias(kp_checker *c, const kp_node *n) {
    if (kp_type_is_opaque(n->type))
        kp_check_fail(c, n, "'%s' is %s %s and cannot be in a variable%s", kp_check_text(c, n),
                      kp_check_article(n->type->name), n->type->name,
                      kp_type_is_image(n->type) ? "; read a pixel of it here" : "");
}

// What an index plainly is called: 'x', 'y', or neither.
static char called(const kp_node *n) {
    const char *name = n->kind == KP_NODE_NAME        ? n->u.name->text
                       : n->kind == KP_NODE_ATTRIBUTE ? n->u.attribute.name->text
                                                      : "";
    if (strcmp(name, "y") == 0 || strcmp(name, "row") == 0)
        return 'y';
    return strcmp(name, "x") == 0 || strcmp(name, "column") == 0 || strcmp(name, "col") == 0 ? 'x' : 0;
}

static const char *in_order(const kp_type *type) {
    return type->axes == 1 ? "x" : type->axes == 2 ? "x, y" : "x, y, z";
}

// Cutting 64 bits down to 32 might bring what is outside in.
static void refuse_wide(kp_checker *c, const kp_node *at) {
    if (at->kind != KP_NODE_CONST && kp_dtype_size(at->type->dtype) > sizeof(int32_t))
        kp_check_fail(c, at, "a pixel is counted in 32 bits, but this is %s; write %s(%s)", at->type->name,
                      kp_type_vector(KP_I32, at->type->components)->name, kp_check_text(c, at));
}

static kp_node *coordinate(kp_checker *c, kp_node *n, const char *image) {
    kp_node *at = kp_check_index(c, n);
    refuse_wide(c, at);
    at = kp_check_cast(c, at, kp_type_scalar(KP_I32));
    if (at->kind == KP_NODE_CONST && at->u.value.i < 0)
        kp_check_fail(c, n, "the pixels of '%s' are counted from 0, not from the end", image);
    return at;
}

static kp_node *coordinates(kp_checker *c, kp_node *n, const kp_node *index, const kp_node *image) {
    const kp_type *type = image->type;
    const char *name = kp_check_text(c, image);
    kp_list list = index->u.list;
    if (list.count != type->axes)
        kp_check_fail(c, index, "a pixel of '%s' is %s[%s], but these are %u numbers", name, name, in_order(type),
                      list.count);
    if (list.count > 1 && called(list.items[0]) == 'y' && called(list.items[1]) == 'x')
        kp_check_fail(c, index,
                      "a pixel of '%s' is %s[%s], x first, but these are y and x; write %s[ivec%u(...)] where that is "
                      "meant",
                      name, name, in_order(type), name, type->axes);
    kp_node *at = kp_check_new(c, KP_NODE_CONSTRUCT, n, kp_type_vector(KP_I32, type->axes));
    at->u.list = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, list.count), .count = list.count};
    for (uint32_t i = 0; i < list.count; i++)
        at->u.list.items[i] = coordinate(c, list.items[i], name);
    return at;
}

kp_node *kp_check_pixel(kp_checker *c, kp_node *n, kp_node *image) {
    const kp_type *type = image->type;
    kp_node *index = n->u.subscript.index;
    if (index->kind == KP_NODE_TUPLE) {
        index = coordinates(c, n, index, image);
    } else if (type->axes == 1) {
        index = coordinate(c, index, kp_check_text(c, image));
    } else {
        index = kp_check_value(c, index);
        if (!kp_type_is_int(index->type) || index->type->components != type->axes)
            kp_check_fail(c, index, "a pixel of '%s' is %s[%s], or has an ivec%u, but this is %s",
                          kp_check_text(c, image), kp_check_text(c, image), in_order(type), type->axes,
                          index->type->name);
        refuse_wide(c, index);
        index = kp_check_cast(c, index, kp_type_vector(KP_I32, type->axes));
    }
    n->type = type->element;
    n->u.subscript.object = image;
    n->u.subscript.index = index;
    n->from_end = false;
    return n;
}

static _Noreturn void fail_both(kp_checker *c, const kp_node *n, const char *name) {
    kp_check_fail(c, n, "'%s' is sampled and written, which no image can be at once; pass it as two parameters", name);
}

// `image` is what is assigned to a part of: an image's pixel is fine, its size is not, and neither is a part of a
// pixel.
void kp_check_image_written(kp_checker *c, const kp_node *n, const kp_node *image) {
    if (is_pixel(image))
        kp_check_fail(c, n, "a pixel is written as a whole, as in %s = ...", kp_check_text(c, image));
    if (image->type == NULL || !kp_type_is_image(image->type))
        return;
    const kp_type *type = image->type;
    const char *name = kp_check_text(c, image);
    if (n->kind == KP_NODE_ATTRIBUTE)
        kp_check_fail(c, n, "'%s' is %s and keeps its size; assign to a pixel, as in %s[%s] = ...", name, type->name,
                      name, in_order(type));
    if (type->use == KP_TYPE_TEXTURE)
        kp_check_fail(c, n, "'%s' is a texture, which is read only; declare it Image%uD[%s] to write it", name,
                      type->axes, type->element->name);
    if (type->use == KP_TYPE_PLAIN)
        kp_check_fail(c, n, "'%s' is %s, which is read only; give its format, as in \"%ud rgba8\", to write it", name,
                      type->name, type->axes);
    if (image->u.symbol->samples)
        fail_both(c, n, name);
}

// img.size: an i32, ivec2 or ivec3; img.width, img.height, img.depth.
kp_node *kp_check_image_member(kp_checker *c, kp_node *n, const kp_node *image) {
    static const char *const sides[] = {"width", "height", "depth"};
    const kp_type *type = image->type;
    const char *name = n->u.attribute.name->text, *called = kp_check_text(c, image);
    kp_node *size = kp_check_new(c, KP_NODE_LENGTH, n, kp_type_vector(KP_I32, type->axes));
    size->u.symbol = image->u.symbol;
    if (strcmp(name, "size") == 0)
        return size;
    for (uint32_t axis = 0; axis < type->axes; axis++) {
        if (strcmp(name, sides[axis]) != 0)
            continue;
        if (type->axes == 1)
            return size;
        kp_node *side = kp_check_new(c, KP_NODE_SWIZZLE, n, kp_type_scalar(KP_I32));
        side->u.swizzle.operand = size;
        side->u.swizzle.count = 1;
        side->u.swizzle.components[0] = (uint8_t)axis;
        return side;
    }
    if (strcmp(name, "shape") == 0)
        kp_check_fail(c, n, "'%s' is an image: its size is %s.size, %s, where a view has a shape, rows first", called,
                      called,
                      type->axes == 1   ? "its width"
                      : type->axes == 2 ? "(width, height)"
                                        : "(width, height, depth)");
    kp_check_fail(c, n, "'%s' is %s and has no '%s'; it has size, read, %s", called, type->name, name,
                  type->use == KP_TYPE_STORAGE ? "write" : "sample");
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions and methods
// ---------------------------------------------------------------------------------------------------------------------

static kp_node *image_argument(kp_checker *c, kp_node *n, const char *function) {
    kp_node *image = kp_check_expr(c, n);
    if (image->kind != KP_NODE_BUFFER || !kp_type_is_image(image->type))
        kp_check_fail(c, n, "%s takes an image, but this is %s", function, image->type->name);
    return image;
}

static kp_node *sample_at(kp_checker *c, kp_node *n, const kp_node *image) {
    const kp_type *wanted = kp_type_vector(KP_F32, image->type->axes);
    kp_node *at = kp_check_expr(c, n);
    if (kp_type_is_int(at->type) && !kp_type_is_literal(at->type))
        kp_check_fail(c, n, "sample takes a place from 0 to 1 as %s %s, but this is %s; %s.read(...) gives a pixel",
                      kp_check_article(wanted->name), wanted->name, at->type->name, kp_check_text(c, image));
    return kp_check_coerce(c, at, wanted, "the place that sample takes");
}

// sample(texture, at), sample(texture, sampler, at)
static kp_node *check_sample(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_list list = n->u.call.list;
    kp_node *image = list.items[0] = image_argument(c, list.items[0], row->name);
    const kp_type *type = image->type;
    const char *name = kp_check_text(c, image);
    bool apart = type->use == KP_TYPE_PLAIN || type->use == KP_TYPE_EITHER;
    if (type->use == KP_TYPE_STORAGE)
        kp_check_fail(c, n, "'%s' is %s, which is not sampled; declare it Texture%uD[%s]", name, type->name, type->axes,
                      type->element->name);
    if (apart && list.count == 2)
        kp_check_fail(c, n, "'%s' has no sampler of its own; write %s.sample(sampler, ...)", name, name);
    if (!apart && list.count == 3)
        kp_check_fail(c, n, "'%s' has a sampler of its own; write %s.sample(%s(...))", name, name,
                      kp_type_vector(KP_F32, type->axes)->name);
    if (apart) {
        kp_node *sampler = list.items[1] = kp_check_expr(c, list.items[1]);
        if (sampler->kind != KP_NODE_BUFFER || sampler->type->kind != KP_TYPE_SAMPLER)
            kp_check_fail(c, sampler, "sample takes a sampler here, but this is %s", sampler->type->name);
        sampler->u.symbol->reads = true;
    }
    list.items[list.count - 1] = sample_at(c, list.items[list.count - 1], image);
    if (image->u.symbol->writes)
        fail_both(c, n, name);
    image->u.symbol->reads = image->u.symbol->samples = true;
    return kp_check_builtin(c, n, row, list, type->element);
}

static void want_plain(kp_checker *c, kp_list list, const char *name) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.items[i]->kind == KP_NODE_KEYWORD)
            kp_check_fail(c, list.items[i], "%s takes no names for its arguments", name);
    }
}

static kp_node *subscript_of(kp_checker *c, const kp_node *like, kp_node *image, kp_node *at) {
    kp_node *n = kp_check_new(c, KP_NODE_SUBSCRIPT, like, NULL);
    n->u.subscript.object = image;
    n->u.subscript.index = at;
    return n;
}

kp_node *kp_check_image_call(kp_checker *c, kp_node *n, const kp_builtin *row) {
    kp_list list = n->u.call.list;
    want_plain(c, list, row->name);
    if (row->op == KP_IMAGE_SAMPLE)
        return check_sample(c, n, row);
    if (row->op == KP_IMAGE_WRITE)
        kp_check_fail(c, n, "%s gives no value; it is a statement of its own", row->name);
    image_argument(c, list.items[0], row->name);
    return kp_check_expr(c, subscript_of(c, n, list.items[0], list.items[1]));
}

// The image of image.name(...); NULL: it is something else.
static const kp_node *object_of(kp_checker *c, const kp_node *call) {
    const kp_node *callee = call->u.call.callee;
    const kp_node *object = callee->kind == KP_NODE_ATTRIBUTE ? callee->u.attribute.object : NULL;
    const kp_symbol *symbol = object != NULL && object->kind == KP_NODE_NAME ? kp_check_find(c, object->u.name) : NULL;
    return symbol != NULL && symbol->type != NULL && kp_type_is_image(symbol->type) ? object : NULL;
}

// image.name(arguments) as name(image, arguments), and the function.
static const kp_builtin *as_function(kp_checker *c, const kp_node *call, kp_list *out) {
    const kp_node *object = object_of(c, call), *callee = call->u.call.callee;
    const kp_name *name = object != NULL ? callee->u.attribute.name : kp_check_path(c, callee);
    const kp_builtin *row = name != NULL ? kp_builtin_find(name) : NULL;
    *out = call->u.call.list;
    if (row == NULL || row->rule != KP_BUILTIN_IMAGE)
        return NULL;
    if (object == NULL)
        return row;
    kp_list given = *out;
    *out = (kp_list){.items = KP_UNIT_NEW(c->unit, kp_node *, given.count + 1), .count = given.count + 1};
    out->items[0] = (kp_node *)(uintptr_t)object;
    for (uint32_t i = 0; i < given.count; i++)
        out->items[i + 1] = given.items[i];
    if (out->count < row->least || out->count > row->most)
        kp_check_fail(c, call, "%s.%s takes %u%s argument%s, not %u", kp_check_text(c, object), row->name,
                      row->least - 1, row->most > row->least ? " or 2" : "",
                      row->least == 2 && row->most == 2 ? "" : "s", given.count);
    return row;
}

kp_node *kp_check_image_method(kp_checker *c, kp_node *n) {
    if (object_of(c, n) == NULL)
        return NULL;
    kp_list list;
    const kp_builtin *row = as_function(c, n, &list);
    if (row == NULL) {
        kp_check_attribute(c, n->u.call.callee); // says what it has instead
        kp_check_fail(c, n, "'%s' is no function; leave out the parentheses", kp_check_text(c, n->u.call.callee));
    }
    n->u.call.list = list;
    return kp_check_image_call(c, n, row);
}

// image.write(at, value) is image[at] = value.
bool kp_check_image_write(kp_checker *c, kp_node *n) {
    kp_list list;
    const kp_node *call = n->u.operand;
    const kp_builtin *row = call->kind == KP_NODE_CALL ? as_function(c, call, &list) : NULL;
    if (row == NULL || row->op != KP_IMAGE_WRITE || list.count != 3)
        return false;
    want_plain(c, list, row->name);
    image_argument(c, list.items[0], row->name);
    kp_node *target = subscript_of(c, call, list.items[0], list.items[1]);
    n->kind = KP_NODE_ASSIGN;
    kp_list targets = {.items = KP_UNIT_NEW(c->unit, kp_node *, 1), .count = 1};
    targets.items[0] = target;
    n->u.assign.targets = targets;
    n->u.assign.value = list.items[2];
    n->u.assign.annotation = NULL;
    return true;
}
