// The parameters of a kernel: what each annotation, pyshader tuple or type from the caller stands for, and where it is
// bound. An annotation is parsed as an expression and read here:
//
//     type      := NAME | 'Array' '[' type ']' | 'Array' '(' [length ','] type ')' | 'Vector' '(' n ',' type ')'
//     image     := ('Image1D' | ... | 'Texture3D') '[' type [',' format] ']'                       (check_image.c)
//     parameter := type | image | INPUT | 'Const' '[' type ']' | '(' resource ',' slot ',' type ')'
//     INPUT     := 'Index' | 'Index2' | 'LocalIndex' | ... (check.h)
//
// Each name may come through modules (kp.Array, ps.f32) and each part may be in quotes.
#include "checker.h"

#include "builtin.h"
#include "fold.h"
#include "habit.h"
#include "texts.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *type;
} inputs[] = {
#define KP_X(name, text, type) [KP_INPUT_##name] = {text, type},
    KP_INPUTS(KP_X)
#undef KP_X
};

// ---------------------------------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------------------------------

// What stands in quotes, parsed; any other node as it is.
static kp_node *unquote(kp_checker *c, kp_node *n) {
    uint32_t start, end;
    if (n->kind != KP_NODE_STRING)
        return n;
    if (n->first != kp_ast_last(n) || !kp_lexer_string(c->unit, n->first, &start, &end))
        kp_check_fail(c, n, "a type in quotes is one plain string");
    return kp_parser_text(c->unit, start, end);
}

static bool is_named(kp_checker *c, const kp_node *n, const char *text) {
    const kp_name *name = kp_check_path(c, n);
    return name != NULL && strcmp(name->text, text) == 0;
}

static const char *closest_type(const char *text) {
    static const char *const others[] = {"Array", "Index", "Index2", "Index3"};
    uint32_t length = (uint32_t)strlen(text);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (kp_error_distance(text, length, others[i], (uint32_t)strlen(others[i]), 2) < 2)
            return others[i];
    }
    for (kp_dtype dtype = 0; dtype < KP_DTYPE_COUNT; dtype++) {
        for (uint32_t n = 1; n <= 4; n++) {
            const char *name = kp_type_vector(dtype, n)->name;
            if (kp_error_distance(text, length, name, (uint32_t)strlen(name), 2) < 2)
                return name;
        }
        for (uint32_t n = 2; n <= 4; n++) {
            const char *name = kp_type_matrix(dtype, n, n)->name;
            if (name != NULL && kp_error_distance(text, length, name, (uint32_t)strlen(name), 2) < 2)
                return name;
        }
    }
    return NULL;
}

// A scalar or vector called by name.
static const kp_type *named_type(kp_checker *c, const kp_node *n) {
    const kp_name *name = kp_check_path(c, n);
    if (name == NULL)
        return NULL;
    const kp_type *type = kp_check_struct_named(c, n);
    if (type == NULL)
        type = kp_type_find(name->text);
    if (type != NULL)
        return type;
    if (strcmp(name->text, "Struct") == 0)
        kp_check_fail(c, n, "Struct needs its fields, as in Struct(position=vec3, mass=f32)");
    for (kp_input input = KP_INPUT_INDEX; input < KP_INPUT_GLOBAL_ID; input++) {
        if (strcmp(name->text, inputs[input].name) == 0)
            kp_check_fail(c, n, "%s is for a parameter only", name->text);
    }
    if (strcmp(name->text, "Const") == 0 || strcmp(name->text, "Uniform") == 0)
        kp_check_fail(c, n, "%s[...] is for a parameter only", name->text);
    const char *hint = kp_habit_name(c->unit, name->text);
    if (*hint != '\0')
        kp_check_fail(c, n, "there is no type '%s'%s", name->text, hint);
    const char *close = closest_type(name->text);
    if (close != NULL)
        kp_check_fail(c, n, "there is no type '%s'; did you mean %s?", name->text, close);
    kp_check_fail(c, n, "there is no type '%s'; a kernel has f32, i32, u8, bool, vec2 ..., Array[...] and Index",
                  name->text);
}

static uint32_t constant_size(kp_checker *c, kp_node *n, const char *what, int64_t least, int64_t most) {
    int64_t value = kp_check_constant_int(c, n, what);
    if (value < least || value > most)
        kp_check_fail(c, n, "%s is between %lld and %lld, not %lld", what, (long long)least, (long long)most,
                      (long long)value);
    return (uint32_t)value;
}

static const kp_type *value_type(kp_checker *c, kp_node *n);

// Vector(n, type)
static const kp_type *vector_call(kp_checker *c, kp_node *n) {
    if (n->u.call.list.count != 2)
        kp_check_fail(c, n, "Vector takes a number of components and a type, as in Vector(3, f32)");
    uint32_t count = constant_size(c, n->u.call.list.items[0], "the number of components", 2, 4);
    const kp_type *type = value_type(c, n->u.call.list.items[1]);
    if (type->kind != KP_TYPE_SCALAR)
        kp_check_fail(c, n, "the components of a vector are scalars, not %s", type->name);
    return kp_type_vector(type->dtype, count);
}

// Matrix(columns, rows, type)
static const kp_type *matrix_call(kp_checker *c, kp_node *n) {
    if (n->u.call.list.count != 3)
        kp_check_fail(c, n, "Matrix takes how many columns and rows, and a type, as in Matrix(4, 4, f32)");
    uint32_t columns = constant_size(c, n->u.call.list.items[0], "the number of columns", 2, 4);
    uint32_t rows = constant_size(c, n->u.call.list.items[1], "the number of rows", 2, 4);
    const kp_type *type = value_type(c, n->u.call.list.items[2]);
    if (type->kind != KP_TYPE_SCALAR || !kp_type_is_float(type))
        kp_check_fail(c, n, "a matrix is made of f32, f16 or f64, not of %s", type->name);
    return kp_type_matrix(type->dtype, rows, columns);
}

// A type that fits in a variable.
static const kp_type *value_type(kp_checker *c, kp_node *n) {
    n = unquote(c, n);
    if (n->kind == KP_NODE_CALL && is_named(c, n->u.call.callee, "Matrix"))
        return matrix_call(c, n);
    if (n->kind == KP_NODE_CALL && is_named(c, n->u.call.callee, "Vector"))
        return vector_call(c, n);
    const kp_type *structure = kp_check_struct_type(c, n);
    if (structure != NULL)
        return structure;
    const kp_type *array = kp_signature_array_type(c, n);
    if (array != NULL && array->length != 0)
        return array;
    if (array != NULL)
        kp_check_fail(c, n, "%s is for a parameter only; an array in a variable has a length, as in Array(16, %s)",
                      array->name, array->element->name);
    const kp_type *image = kp_check_image_type(c, n);
    if (image != NULL)
        kp_check_fail(c, n, "%s is for a parameter only", image->name);
    if (n->kind == KP_NODE_SUBSCRIPT)
        n = n->u.subscript.object; // says what is wrong with its name
    else if (n->kind == KP_NODE_CALL)
        n = n->u.call.callee;
    const kp_type *type = named_type(c, n);
    if (type == NULL)
        kp_check_fail(c, n, "expected a type such as f32 or vec2 here");
    return type;
}

static const kp_type *element_type(kp_checker *c, kp_node *n) {
    n = unquote(c, n);
    const kp_name *name = kp_check_path(c, n);
    if (name != NULL && strncmp(name->text, "Index", 5) == 0)
        kp_check_fail(c, n, "the elements of an array are scalars or vectors, not %s", name->text);
    return value_type(c, n);
}

// Array[type, axes]
static const kp_type *view_type(kp_checker *c, const kp_node *n, kp_list list) {
    if (list.count != 2)
        kp_check_fail(c, n, "Array takes a type, and perhaps a number of axes, as in Array[f32, 2]");
    const kp_type *element = element_type(c, list.items[0]);
    if (list.items[1]->kind == KP_NODE_NAME && kp_type_find(list.items[1]->u.name->text) != NULL)
        kp_check_fail(c, list.items[1],
                      "an Array has one type of elements, and behind it the number of axes, as in Array[%s, 2]",
                      element->name);
    uint32_t axes = constant_size(c, list.items[1], "the number of axes", 1, 3);
    if (axes > 1 && kp_type_is_matrix(element))
        kp_check_fail(c, n, "the elements of a view with axes are scalars or vectors, not %s", element->name);
    return kp_type_view(c->unit, element, axes);
}

// Array[type], Array[type, axes], Array(type), Array(length, type); NULL for anything else.
const kp_type *kp_signature_array_type(kp_checker *c, kp_node *n) {
    enum { MOST = 0x7FFFFFFF };
    if (n->kind == KP_NODE_SUBSCRIPT && is_named(c, n->u.subscript.object, "Array")) {
        kp_node *index = n->u.subscript.index;
        if (index->kind == KP_NODE_TUPLE)
            return view_type(c, n, index->u.list);
        return kp_type_array(c->unit, element_type(c, index), 0);
    }
    if (n->kind == KP_NODE_CALL && is_named(c, n->u.call.callee, "Array")) {
        kp_list list = n->u.call.list;
        if (list.count == 1)
            return kp_type_array(c->unit, element_type(c, list.items[0]), 0);
        if (list.count != 2)
            kp_check_fail(c, n, "Array takes a type, or a length and a type, as in Array(16, f32)");
        uint32_t length = constant_size(c, list.items[0], "the length of an array", 1, MOST);
        const kp_type *element = element_type(c, list.items[1]);
        if ((uint64_t)length * kp_type_size(element) > UINT32_MAX)
            kp_check_fail(c, n, "%u elements of %u bytes are more than an array can have", length,
                          kp_type_size(element));
        return kp_type_array(c->unit, element, length);
    }
    if (is_named(c, n, "Array"))
        kp_check_fail(c, n, "Array needs the type of its elements, as in Array[f32]");
    return NULL;
}

const kp_type *kp_signature_field_type(kp_checker *c, kp_node *annotation) { return value_type(c, annotation); }

const kp_type *kp_signature_value_type(kp_checker *c, kp_node *annotation) {
    const kp_type *type = value_type(c, annotation);
    kp_check_array_size(c, annotation, type);
    return type;
}

// ---------------------------------------------------------------------------------------------------------------------
// Parameters
// ---------------------------------------------------------------------------------------------------------------------

static void set_input(kp_check_param *param, kp_input input) {
    param->kind = KP_PARAM_INPUT;
    param->input = input;
    param->symbol->kind = KP_SYMBOL_VALUE;
    param->symbol->type = kp_type_find(inputs[input].type);
    param->type_name = input < KP_INPUT_GLOBAL_ID ? inputs[input].name : inputs[input].type;
}

static kp_param_kind bound_kind(const kp_type *type) {
    return type->kind == KP_TYPE_SAMPLER                                 ? KP_PARAM_SAMPLER
           : !kp_type_is_image(type)                                     ? KP_PARAM_BUFFER
           : type->use == KP_TYPE_STORAGE || type->use == KP_TYPE_EITHER ? KP_PARAM_IMAGE
                                                                         : KP_PARAM_TEXTURE;
}

static void set_bound(kp_check_param *param, const kp_type *type, uint32_t set, uint32_t binding) {
    param->kind = bound_kind(type);
    param->set = set;
    param->binding = binding;
    param->symbol->kind = KP_SYMBOL_BUFFER;
    param->symbol->type = type;
    param->type_name = type->name;
}

static void set_uniform(kp_checker *c, kp_check_param *param, kp_node *n, uint32_t set, uint32_t binding) {
    enum { MOST = 1 << 16 };
    char text[256];
    const kp_type *type = value_type(c, n);
    if (kp_type_size(type) > MOST)
        kp_check_fail(c, n, "a uniform has at most %d bytes, but %s has %u; pass a buffer, Array[...]", MOST,
                      type->name, kp_type_size(type));
    set_bound(param, type, set, binding);
    param->kind = KP_PARAM_UNIFORM;
    param->symbol->uniform = true;
    int length = snprintf(text, sizeof text, "Uniform[%.240s]", type->name);
    param->type_name = kp_arena_text(&c->unit->arena, text, (size_t)length);
}

// The text of a string literal, or the last name of ps.RES_INPUT.
static const char *word_of(kp_checker *c, kp_node *n) {
    uint32_t start, end;
    if (n->kind == KP_NODE_STRING && n->first == kp_ast_last(n) && kp_lexer_string(c->unit, n->first, &start, &end))
        return kp_arena_text(&c->unit->arena, c->unit->text + start, end - start);
    const kp_name *name = kp_check_path(c, n);
    if (name == NULL)
        kp_check_fail(c, n, "expected a string such as \"buffer\" here");
    return name->text;
}

static void tuple_input(kp_checker *c, kp_check_param *param, kp_node *slot, kp_node *type_node) {
    const char *word = word_of(c, slot);
    kp_input input = KP_INPUT_GLOBAL_ID;
    while (input < KP_INPUT_COUNT && strcmp(inputs[input].name, word) != 0)
        input++;
    if (input == KP_INPUT_COUNT)
        kp_check_fail(c, slot,
                      "there is no input '%s'; a kernel has GlobalInvocationId, LocalInvocationId, WorkgroupId, "
                      "NumWorkgroups and LocalInvocationIndex",
                      word);
    const kp_type *type = value_type(c, type_node);
    const kp_type *right = kp_type_find(inputs[input].type);
    if (type->components != right->components || !kp_type_is_int(type))
        kp_check_fail(c, type_node, "the input %s is %s %s, not %s", word, kp_check_article(right->name), right->name,
                      type->name);
    set_input(param, input);
    param->symbol->type = type;
    param->type_name = type->name;
}

static const kp_type *tuple_type(kp_checker *c, const char *resource, kp_node *n) {
    if (strstr(resource, "texture") != NULL || strstr(resource, "TEXTURE") != NULL)
        return kp_check_texture_type(c, n);
    if (strstr(resource, "sampler") != NULL || strstr(resource, "SAMPLER") != NULL)
        return kp_check_sampler_type(c);
    n = unquote(c, n);
    const kp_type *type = kp_signature_array_type(c, n);
    return type != NULL ? type : element_type(c, n);
}

static void tuple_bound(kp_checker *c, kp_check_param *param, const char *resource, kp_node *slot, kp_node *type_node) {
    enum { MOST = 0xFFFF };
    uint32_t set = 0, binding;
    if (slot->kind == KP_NODE_TUPLE && slot->u.list.count == 2) {
        set = constant_size(c, slot->u.list.items[0], "a descriptor set", 0, MOST);
        binding = constant_size(c, slot->u.list.items[1], "a binding", 0, MOST);
    } else {
        binding = constant_size(c, slot, "a binding", 0, MOST);
    }
    if (strcmp(resource, "uniform") == 0 || strcmp(resource, "RES_UNIFORM") == 0)
        set_uniform(c, param, type_node, set, binding);
    else
        set_bound(param, tuple_type(c, resource, type_node), set, binding);
}

static bool is_bound_resource(const char *name) {
    static const char *const names[] = {"buffer",     "uniform",     "texture",     "sampler",
                                        "RES_BUFFER", "RES_UNIFORM", "RES_TEXTURE", "RES_SAMPLER"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

// (resource, slot, type)
static void resolve_tuple(kp_checker *c, kp_check_param *param, kp_node *n) {
    kp_list list = n->u.list;
    if (list.count != 3)
        kp_check_fail(c, n, "a parameter's tuple is (resource, slot, type), as in (\"buffer\", 0, Array(f32))");
    const char *resource = word_of(c, list.items[0]);
    if (strcmp(resource, "input") == 0 || strcmp(resource, "RES_INPUT") == 0)
        tuple_input(c, param, list.items[1], list.items[2]);
    else if (is_bound_resource(resource))
        tuple_bound(c, param, resource, list.items[1], list.items[2]);
    else if (strncmp(resource, "RES_", 4) == 0)
        kp_check_fail(c, list.items[0], "kernels do not support the resource '%s' yet", resource);
    else
        kp_check_fail(c, list.items[0],
                      "there is no resource '%s'; a parameter is an \"input\", a \"buffer\", a \"uniform\", a "
                      "\"texture\" or a \"sampler\"",
                      resource);
}

// "Const[i32]"
static const char *const_name(kp_checker *c, const kp_type *type) {
    char text[32];
    int length = snprintf(text, sizeof text, "Const[%s]", type->name);
    return kp_arena_text(&c->unit->arena, text, (size_t)length);
}

static uint32_t bound_before(const kp_checker *c, const kp_check_param *param) {
    uint32_t count = 0;
    for (const kp_check_param *p = c->kernel->params; p < param; p++)
        count += kp_check_is_bound(p->kind);
    return count;
}

uint32_t kp_signature_push_size(const kp_type *type) {
    return kp_type_is_bool(type) ? 4 * type->components : kp_type_size(type);
}

static uint32_t push_align(const kp_type *type) {
    if (kp_type_is_struct(type))
        return type->align;
    uint32_t scalar = kp_signature_push_size(type) / type->components;
    if (kp_type_is_matrix(type)) // that of a row; one of three is made of scalars
        return scalar * (type->element->components == 3 ? 1 : type->element->components);
    return scalar * (type->components == 3 ? 4 : type->components);
}

static void set_constant(kp_checker *c, kp_check_param *param, const kp_type *type) {
    uint32_t size = kp_signature_push_size(type), align = push_align(type);
    param->kind = KP_PARAM_CONSTANT;
    param->symbol->kind = KP_SYMBOL_VALUE;
    param->symbol->type = type;
    param->type_name = type->name;
    param->offset = (c->kernel->push_size + align - 1) / align * align;
    c->kernel->push_size = param->offset + size;
}

// One of the native inputs. A kernel that knows of workgroups says how large they are.
static void resolve_input(kp_checker *c, kp_check_param *param, kp_input input, const kp_node *n) {
    set_input(param, input);
    if (input > KP_INPUT_INDEX3)
        kp_check_need_local_size(c, n, inputs[input].name);
    if (input == KP_INPUT_SIZE) {
        const uint32_t *size = c->kernel->local_size;
        param->symbol->fixed = true;
        param->symbol->value.i = (int64_t)size[0] * size[1] * size[2];
    }
}

// Const[type]: a specialization constant, with the next id.
static void resolve_spec(kp_checker *c, kp_check_param *param, kp_node *n) {
    const kp_type *type = value_type(c, n->u.subscript.index);
    if (type->kind != KP_TYPE_SCALAR)
        kp_check_fail(c, n, "a constant is a number or a bool, not %s %s", kp_check_article(type->name), type->name);
    param->kind = KP_PARAM_SPEC;
    for (const kp_check_param *p = c->kernel->params; p < param; p++)
        param->spec_id += p->kind == KP_PARAM_SPEC;
    param->symbol->type = type;
    param->symbol->spec = true;
    param->symbol->value = kp_type_is_float(type) ? (kp_value){.f = 1} : (kp_value){.i = 1};
    param->type_name = const_name(c, type);
}

static void resolve(kp_checker *c, kp_check_param *param, kp_node *n) {
    n = unquote(c, n);
    if (n->kind == KP_NODE_TUPLE) {
        resolve_tuple(c, param, n);
        return;
    }
    const kp_name *name = kp_check_path(c, n);
    for (kp_input input = KP_INPUT_INDEX; name != NULL && input < KP_INPUT_GLOBAL_ID; input++) {
        if (strcmp(name->text, inputs[input].name) == 0) {
            resolve_input(c, param, input, n);
            return;
        }
    }
    if (n->kind == KP_NODE_SUBSCRIPT && is_named(c, n->u.subscript.object, "Const")) {
        resolve_spec(c, param, n);
        return;
    }
    if (is_named(c, n, "Const"))
        kp_check_fail(c, n, "Const needs the type of the number, as in Const[i32]");
    if (n->kind == KP_NODE_SUBSCRIPT && is_named(c, n->u.subscript.object, "Uniform")) {
        set_uniform(c, param, n->u.subscript.index, 0, bound_before(c, param));
        return;
    }
    if (is_named(c, n, "Uniform"))
        kp_check_fail(c, n, "Uniform needs the type of what it holds, as in Uniform[Settings] or Uniform[vec4]");
    const kp_type *bound = kp_signature_array_type(c, n);
    if (bound == NULL)
        bound = kp_check_image_type(c, n);
    if (bound != NULL)
        set_bound(param, bound, 0, bound_before(c, param));
    else
        set_constant(c, param, value_type(c, n));
}

kp_node *kp_signature_given(kp_checker *c, uint32_t module, const char *name) {
    const kp_compile_desc *desc = c->unit->desc;
    const kp_param_type *params = module == 0 ? desc->params : desc->functions[module - 1].params;
    size_t count = module == 0 ? desc->param_count : desc->functions[module - 1].param_count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(params[i].name, name) == 0) {
            const kp_text *text = kp_texts_type(c->unit, module, i);
            return kp_parser_text(c->unit, text->at, text->at + text->length);
        }
    }
    return NULL;
}

// A default that is pyshader's tuple, or a type in quotes.
static bool is_type_default(const kp_node *value) {
    return value->kind == KP_NODE_TUPLE || value->kind == KP_NODE_STRING;
}

static const kp_constant *given_default(kp_checker *c, const kp_parameter *parameter) {
    const kp_compile_desc *desc = c->unit->desc;
    for (size_t i = 0; i < desc->default_count; i++) {
        if (strcmp(desc->defaults[i].name, parameter->token->name->text) == 0)
            return &desc->defaults[i];
    }
    return NULL;
}

static kp_node *default_of(kp_checker *c, const kp_parameter *parameter) {
    const kp_constant *given = given_default(c, parameter);
    kp_node *at = parameter->value != NULL ? parameter->value
                                           : kp_ast_node(c->unit, KP_NODE_NAME, parameter->token, parameter->token);
    kp_node *k = given != NULL ? kp_check_given(c, at, given) : kp_check_expr(c, parameter->value);
    if (k->kind != KP_NODE_CONST)
        kp_check_fail(c, at, "the default value of '%s' is not a constant", parameter->token->name->text);
    return k;
}

static void set_default(kp_checker *c, kp_check_param *param, const kp_parameter *parameter) {
    kp_node *k = default_of(c, parameter);
    bool number = param->kind == KP_PARAM_SPEC || param->kind == KP_PARAM_CONSTANT;
    if (!number || param->symbol->type->kind != KP_TYPE_SCALAR)
        kp_check_fail(c, k, "only a number has a default value, but '%s' is %s", parameter->token->name->text,
                      param->type_name);
    param->symbol->value = kp_check_coerce(c, k, param->symbol->type, "the default value")->u.value;
    param->optional = true;
}

// What stands behind an annotation, which has the type already, is no pyshader's type but a default value; this is one
// that the caller knows no number for.
static void refuse_odd_default(kp_checker *c, const kp_check_param *param, const kp_parameter *parameter) {
    const kp_node *value = parameter->value;
    bool odd = parameter->annotation != NULL && value != NULL;
    bool resource = odd && value->kind == KP_NODE_TUPLE && value->u.list.count == 3 &&
                    value->u.list.items[0]->kind == KP_NODE_STRING;
    if (!odd || resource)
        return;
    const char *name = parameter->token->name->text;
    bool number = param->kind == KP_PARAM_SPEC || param->kind == KP_PARAM_CONSTANT;
    if (!number || param->symbol->type->kind != KP_TYPE_SCALAR)
        kp_check_fail(c, value, "only a number has a default value, but '%s' is %s", name, param->type_name);
    kp_check_fail(c, value, "the default value of '%s' is a number, as in %s: %s = 1", name, name, param->type_name);
}

// A default value rather than pyshader's type: the caller knows, or the text has neither a tuple nor another type.
static bool has_default(kp_checker *c, const kp_parameter *parameter) {
    if (given_default(c, parameter) != NULL)
        return true;
    return parameter->value != NULL && !is_type_default(parameter->value) &&
           kp_signature_given(c, 0, parameter->token->name->text) == NULL;
}

// It has no type, and nothing that says one.
static bool is_open(kp_checker *c, const kp_parameter *parameter) {
    return parameter->annotation == NULL && parameter->value == NULL &&
           kp_signature_given(c, 0, parameter->token->name->text) == NULL;
}

// NULL: the default value says the type.
static kp_node *annotation_of(kp_checker *c, const kp_parameter *parameter) {
    kp_node *given = kp_signature_given(c, 0, parameter->token->name->text);
    if (given != NULL)
        return given;
    if (parameter->annotation != NULL || has_default(c, parameter))
        return parameter->annotation;
    if (parameter->value == NULL)
        kp_error_at(c->unit, parameter->token, NULL,
                    "the parameter '%s' has no type; write %s: Array[f32], %s: Index or %s: f32",
                    parameter->token->name->text, parameter->token->name->text, parameter->token->name->text,
                    parameter->token->name->text);
    return parameter->value;
}

bool kp_signature_hints(kp_checker *c, kp_node *n, kp_list *out) {
    n = unquote(c, n);
    bool tuple = n->kind == KP_NODE_SUBSCRIPT &&
                 (is_named(c, n->u.subscript.object, "tuple") || is_named(c, n->u.subscript.object, "Tuple"));
    if (tuple && n->u.subscript.index->kind == KP_NODE_TUPLE)
        *out = n->u.subscript.index->u.list;
    return tuple;
}

// What people and type checkers read is no business of the compiler's: a hint counts when it is a type of the language.
const kp_type *kp_signature_hint(kp_checker *c, kp_node *n) {
    n = unquote(c, n);
    const kp_node *named = n->kind == KP_NODE_SUBSCRIPT ? n->u.subscript.object
                           : n->kind == KP_NODE_CALL    ? n->u.call.callee
                                                        : n;
    const kp_name *name = kp_check_path(c, named);
    if (name == NULL)
        return NULL;
    for (kp_input input = KP_INPUT_INDEX; input <= KP_INPUT_INDEX3; input++) {
        if (strcmp(name->text, inputs[input].name) == 0)
            return kp_type_find(inputs[input].type);
    }
    bool known = kp_type_find(name->text) != NULL || strcmp(name->text, "Array") == 0 ||
                 strcmp(name->text, "Vector") == 0 || strcmp(name->text, "Struct") == 0 ||
                 strcmp(name->text, "Matrix") == 0 || kp_check_struct_named(c, named) != NULL;
    const kp_type *image = known ? NULL : kp_check_image_type(c, n);
    if (!known)
        return image;
    const kp_type *array = kp_signature_array_type(c, n);
    return array != NULL ? array : value_type(c, n);
}

static void refuse_clash(kp_checker *c, uint32_t index, const kp_function *function) {
    const kp_check_param *param = &c->kernel->params[index];
    for (uint32_t i = 0; i < index && kp_check_is_bound(param->kind); i++) {
        const kp_check_param *other = &c->kernel->params[i];
        if (kp_check_is_bound(other->kind) && other->set == param->set && other->binding == param->binding)
            kp_error_at(c->unit, function->parameters[index].token, NULL, "'%s' and '%s' have the same binding %u",
                        function->parameters[i].token->name->text, function->parameters[index].token->name->text,
                        param->binding);
    }
}

static void refuse_unknown_names(kp_checker *c, const kp_function *function) {
    for (size_t i = 0; i < c->unit->desc->param_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < function->parameter_count && !found; k++)
            found = strcmp(function->parameters[k].token->name->text, c->unit->desc->params[i].name) == 0;
        if (!found)
            kp_error_at(c->unit, function->token, NULL, "%s has no parameter '%s', for which a type is given",
                        function->token->name->text, c->unit->desc->params[i].name);
    }
}

static void resolve_local_size(kp_checker *c, kp_node *n) {
    uint64_t total = 1;
    if (n->kind == KP_NODE_LIST)
        n->kind = KP_NODE_TUPLE;
    kp_list one = {.items = &n, .count = 1};
    kp_list list = n->kind == KP_NODE_TUPLE ? n->u.list : one;
    if (list.count < 1 || list.count > 3)
        kp_check_fail(c, n, "local_size has one to three numbers, as in local_size=(16, 16)");
    for (uint32_t i = 0; i < 3; i++) {
        c->kernel->local_size[i] = i < list.count ? constant_size(c, list.items[i], "a local size", 1, 65536) : 1;
        total *= c->kernel->local_size[i];
    }
    if (total > 65536)
        kp_check_fail(c, n, "a local size of %llu invocations is more than any device has", (unsigned long long)total);
    c->kernel->has_local_size = true;
}

// What the caller says goes before what the text says.
static void resolve_sizes(kp_checker *c, const kp_function *function) {
    enum { MOST = 128 };
    const kp_compile_desc *desc = c->unit->desc;
    kp_kernel *kernel = c->kernel;
    if (desc->local_size[0] != 0) {
        uint64_t total = 1;
        if (desc->local_size[1] == 0 && desc->local_size[2] > 1)
            kp_error_at(c->unit, function->token, NULL, "a local size is at least 1 on each axis");
        for (uint32_t i = 0; i < 3; i++) {
            kernel->local_size[i] = desc->local_size[i] != 0 ? desc->local_size[i] : 1;
            total = total <= UINT16_MAX + 1u ? total * kernel->local_size[i] : total;
        }
        if (total > UINT16_MAX + 1u)
            kp_error_at(c->unit, function->token, NULL, "a local size of %u x %u x %u is more than any device has",
                        kernel->local_size[0], kernel->local_size[1], kernel->local_size[2]);
        kernel->has_local_size = true;
    } else if (function->local_size != NULL && function->local_size->kind != KP_NODE_NONE) {
        resolve_local_size(c, function->local_size);
    }
    kernel->subgroup_size = desc->subgroup_size;
    if (desc->subgroup_size == 0 && function->subgroup_size != NULL && function->subgroup_size->kind != KP_NODE_NONE)
        kernel->subgroup_size = constant_size(c, function->subgroup_size, "a subgroup size", 1, MOST);
    uint32_t size = kernel->subgroup_size;
    if (size > MOST || (size & (size - 1)) != 0)
        kp_error_at(c->unit, function->token, NULL, "a subgroup size is a power of two up to %d, not %u", MOST, size);
    if (size != 0 && !kernel->has_local_size)
        kp_error_at(c->unit, function->token, NULL,
                    "a kernel with a subgroup size has a local size too, as in local_size=%u", size);
}

// The shapes of views come behind the push constants, in the order of the signature.
static void place_shapes(kp_checker *c) {
    for (uint32_t i = 0; i < c->kernel->param_count; i++) {
        kp_check_param *param = &c->kernel->params[i];
        if (param->kind != KP_PARAM_BUFFER || param->symbol->type->axes == 0)
            continue;
        param->shape_offset = c->kernel->push_size + c->kernel->shape_size;
        c->kernel->shape_size += 4 * param->symbol->type->axes;
    }
}

void kp_signature_run(kp_checker *c, const kp_function *function) {
    enum { MOST_BY_VALUE = 255 }; // what a SPIR-V function takes
    uint32_t by_value = 0;
    if (function->divider != NULL)
        kp_error_at(c->unit, function->divider, NULL,
                    "'%s' is for the functions that a kernel calls; what a kernel takes is passed in order or by name",
                    kp_lexer_spelling((kp_token_kind)function->divider->kind));
    refuse_unknown_names(c, function);
    resolve_sizes(c, function);
    if (function->returns != NULL && function->returns->kind != KP_NODE_NONE)
        kp_check_fail(c, function->returns, "a kernel returns nothing; it writes its results to buffers");
    c->kernel->params = KP_UNIT_NEW(c->unit, kp_check_param, function->parameter_count);
    kp_scope scope = {0}; // the parameters' names are not in scope in their annotations
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const kp_parameter *parameter = &function->parameters[i];
        if (kp_scope_find(&scope, parameter->token->name) != NULL)
            kp_error_at(c->unit, parameter->token, NULL, "there are two parameters '%s'", parameter->token->name->text);
        kp_check_param *param = &c->kernel->params[i];
        param->symbol = kp_scope_add(c->unit, &scope, KP_SYMBOL_VALUE, parameter->token->name);
        param->symbol->typed_at = parameter->token;
        param->symbol->reached = true;
        c->kernel->param_count++;
        if (c->open && is_open(c, parameter)) {
            param->kind = KP_PARAM_CONSTANT;
            continue;
        }
        kp_node *annotation = annotation_of(c, parameter);
        if (annotation != NULL)
            resolve(c, param, annotation);
        else
            set_constant(c, param, kp_check_settle_type(default_of(c, parameter)->type));
        if (has_default(c, parameter))
            set_default(c, param, parameter);
        else
            refuse_odd_default(c, param, parameter);
        by_value += !kp_check_is_bound(param->kind) && param->kind != KP_PARAM_SPEC;
        if (by_value > MOST_BY_VALUE)
            kp_error_at(c->unit, parameter->token, NULL, "a kernel has at most %d parameters that are not buffers",
                        MOST_BY_VALUE);
        refuse_clash(c, i, function);
    }
    c->kernel->push_size = (c->kernel->push_size + 3) / 4 * 4; // what Vulkan pushes is whole words
    place_shapes(c);
    c->scope = scope;
}

uint64_t kp_signature_default_bits(const kp_symbol *symbol) {
    kp_dtype dtype = symbol->type->dtype;
    float f = (float)symbol->value.f;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    uint64_t bits = (uint64_t)symbol->value.i; // of f64 those of the double
    if (dtype == KP_F32)
        bits = word;
    else if (dtype == KP_F16)
        bits = kp_fold_half_bits(symbol->value.f);
    size_t size = kp_dtype_size(dtype);
    return size == 8 ? bits : bits & (((uint64_t)1 << 8 * size) - 1);
}
