// runtime/reflect on what shaderc makes of GLSL and HLSL: the modules that users bring.
#include "test.h"

#include "runtime/reflect.h"

#include <kp/shader.h>
#include <spirv/unified1/spirv.h>

static kp_reflect *reflect_text(const char *text, kp_shader_language language) {
    kp_program *program;
    kp_reflect *r;
    assert_ok(kp_shader_compile(text, strlen(text), &(kp_shader_desc){.language = language}, &program));
    assert_ok(kp_reflect_create(&(kp_reflect_desc){.bytes = program->words, .size = program->word_count * 4}, &r));
    kp_program_destroy(program);
    return r;
}

static kp_reflect *reflect_glsl(const char *text) {
    char *whole = malloc(strlen(text) + 200);
    assert_non_null(whole);
    sprintf(whole, "#version 450\n#extension GL_EXT_samplerless_texture_functions : require\n%s%s",
            strstr(text, "local_size") ? "" : "layout(local_size_x = 1) in;\n", text);
    kp_reflect *r = reflect_text(whole, KP_SHADER_GLSL);
    free(whole);
    return r;
}

static const kp_reflect_binding *only(const kp_reflect *r) {
    assert_int_equal(r->binding_count, 1);
    return &r->bindings[0];
}

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        const char *declaration, *use;
        kp_reflect_kind kind;
        bool reads, writes;
    } rows[] = {
        {"buffer B { float x[]; } b;", "b.x[0] = 1;", KP_REFLECT_STORAGE_BUFFER, false, true},
        {"buffer B { float x[]; } b;", "b.x[0] += 1;", KP_REFLECT_STORAGE_BUFFER, true, true},
        {"readonly buffer B { float x[]; } b;", "float f = b.x[0];", KP_REFLECT_STORAGE_BUFFER, true, false},
        {"buffer B { uint x; } b;", "atomicMax(b.x, 3u);", KP_REFLECT_STORAGE_BUFFER, true, true},
        {"buffer B { float x[]; } b;", "int n = b.x.length();", KP_REFLECT_STORAGE_BUFFER, false, false},
        {"uniform U { vec4 x; } u;", "vec4 v = u.x;", KP_REFLECT_UNIFORM_BUFFER, true, false},
        {"uniform sampler2D s;", "vec4 v = textureLod(s, vec2(0), 0.0);", KP_REFLECT_COMBINED_IMAGE_SAMPLER, true,
         false},
        {"uniform sampler2D s;", "ivec2 v = textureSize(s, 0);", KP_REFLECT_COMBINED_IMAGE_SAMPLER, false, false},
        {"uniform texture2D t;", "vec4 v = texelFetch(t, ivec2(0), 0);", KP_REFLECT_SAMPLED_IMAGE, true, false},
        {"uniform samplerBuffer s;", "vec4 v = texelFetch(s, 0);", KP_REFLECT_UNIFORM_TEXEL_BUFFER, true, false},
        {"uniform textureBuffer s;", "vec4 v = texelFetch(s, 0);", KP_REFLECT_UNIFORM_TEXEL_BUFFER, true, false},
    };
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        char text[512];
        snprintf(text, sizeof text, "layout(set = 2, binding = 9) %s\nvoid main() { %s }\n", rows[k].declaration,
                 rows[k].use);
        kp_reflect *r = reflect_glsl(text);
        const kp_reflect_binding *b = only(r);
        if (b->set != 2 || b->binding != 9 || b->kind != rows[k].kind || b->reads != rows[k].reads ||
            b->writes != rows[k].writes || b->count != 1)
            fail_msg("%s: %s %s %s", text, kp_reflect_kind_name(b->kind), b->reads ? "read" : "",
                     b->writes ? "written" : "");
        kp_reflect_destroy(r);
    }
}

static void test_storage_images(void **state) {
    (void)state;
    kp_reflect *r = reflect_glsl("layout(binding = 0, rgba8) uniform readonly image2D a;\n"
                                 "layout(binding = 1, r32ui) uniform uimage3D b;\n"
                                 "layout(binding = 2, r32f) uniform writeonly imageBuffer c;\n"
                                 "layout(binding = 3) uniform writeonly image1DArray d;\n"
                                 "void main() {\n"
                                 "    vec4 v = imageLoad(a, ivec2(0)); imageAtomicAdd(b, ivec3(0), 1u);\n"
                                 "    imageStore(c, 0, v); imageStore(d, ivec2(0), v);\n"
                                 "}\n");
    static const struct {
        kp_reflect_kind kind;
        uint32_t dimensions, format;
        kp_dtype dtype;
        bool arrayed, reads, writes;
    } rows[] = {
        {KP_REFLECT_STORAGE_IMAGE, 2, SpvImageFormatRgba8, KP_F32, false, true, false},
        {KP_REFLECT_STORAGE_IMAGE, 3, SpvImageFormatR32ui, KP_U32, false, true, true},
        {KP_REFLECT_STORAGE_TEXEL_BUFFER, 1, SpvImageFormatR32f, KP_F32, false, false, true},
        {KP_REFLECT_STORAGE_IMAGE, 1, SpvImageFormatUnknown, KP_F32, true, false, true},
    };
    assert_int_equal(r->binding_count, COUNT_OF(rows));
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        const kp_reflect_binding *b = &r->bindings[k];
        assert_int_equal(b->kind, rows[k].kind);
        assert_int_equal(b->dimensions, rows[k].dimensions);
        assert_int_equal(b->format, rows[k].format);
        assert_int_equal(b->dtype, rows[k].dtype);
        assert_int_equal(b->arrayed, rows[k].arrayed);
        assert_int_equal(b->reads, rows[k].reads);
        assert_int_equal(b->writes, rows[k].writes);
    }
    kp_reflect_destroy(r);
}

static void test_sampler_apart_from_its_image(void **state) {
    (void)state;
    kp_reflect *r = reflect_glsl("layout(binding = 0) uniform texture2DArray t;\n"
                                 "layout(binding = 1) uniform sampler s;\n"
                                 "void main() { vec4 v = textureLod(sampler2DArray(t, s), vec3(0), 0.0); }\n");
    assert_int_equal(r->binding_count, 2);
    assert_int_equal(r->bindings[0].kind, KP_REFLECT_SAMPLED_IMAGE);
    assert_true(r->bindings[0].arrayed && r->bindings[0].reads);
    assert_int_equal(r->bindings[1].kind, KP_REFLECT_SAMPLER);
    kp_reflect_destroy(r);
}

static void test_elements(void **state) {
    (void)state;
    static const struct {
        const char *members;
        uint64_t min_size;
        uint32_t offset, stride;
        bool open, has_dtype;
        kp_dtype dtype;
        uint32_t components;
    } rows[] = {
        {"float x[];", 0, 0, 4, true, true, KP_F32, 1},
        {"uvec2 x[];", 0, 0, 8, true, true, KP_U32, 2},
        {"vec3 x[];", 0, 0, 16, true, true, KP_F32, 3},
        {"int n; ivec4 x[];", 4, 16, 16, true, true, KP_I32, 4},
        {"double x[];", 0, 0, 8, true, true, KP_F64, 1},
        {"uint x[3];", 12, 0, 4, false, true, KP_U32, 1},
        {"mat3 x[];", 0, 0, 48, true, false, KP_F32, 0},
        {"float x[][5];", 0, 0, 20, true, false, KP_F32, 0},
        {"S x[];", 0, 0, 32, true, false, KP_F32, 0},
        {"vec4 x;", 16, 0, 0, false, false, KP_F32, 0},
        {"mat4 x;", 64, 0, 0, false, false, KP_F32, 0},
        {"layout(row_major) mat2x3 x;", 24, 0, 0, false, false, KP_F32, 0},
        {"S x;", 20, 0, 0, false, false, KP_F32, 0},
    };
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "struct S { vec4 v; float f; };\n"
                 "layout(binding = 0, std430) buffer B { %s } b;\nlayout(binding = 1) buffer C { int n; } c;\n"
                 "void main() { c.n = int(b.%s); }\n",
                 rows[k].members,
                 strstr(rows[k].members, "S x[]")      ? "x[0].f"
                 : strstr(rows[k].members, "S x;")     ? "x.f"
                 : strstr(rows[k].members, "mat3 x[]") ? "x[0][0].x"
                 : strstr(rows[k].members, "[][5]")    ? "x[0][0]"
                 : strstr(rows[k].members, "vec4 x;")  ? "x.x"
                 : strstr(rows[k].members, "mat")      ? "x[0].x"
                 : strstr(rows[k].members, "vec")      ? "x[0].x"
                                                       : "x[0]");
        kp_reflect *r = reflect_glsl(text);
        const kp_reflect_binding *b = &r->bindings[0];
        if (b->min_size != rows[k].min_size || b->array_offset != rows[k].offset || b->array_stride != rows[k].stride ||
            b->array_open != rows[k].open || b->has_dtype != rows[k].has_dtype || b->components != rows[k].components ||
            (b->has_dtype && b->dtype != rows[k].dtype))
            fail_msg("%s: at least %d bytes, elements at %u, %u apart, open %d, %s x %u", rows[k].members,
                     (int)b->min_size, (unsigned)b->array_offset, (unsigned)b->array_stride, b->array_open,
                     b->has_dtype ? kp_dtype_name(b->dtype) : "?", (unsigned)b->components);
        kp_reflect_destroy(r);
    }
}

static void test_arrays_of_descriptors(void **state) {
    (void)state;
    kp_reflect *r = reflect_glsl("layout(binding = 0) buffer B { float x[]; } b[4];\n"
                                 "layout(binding = 1) uniform sampler2D s[3];\n"
                                 "void main() { b[2].x[0] = textureLod(s[1], vec2(0), 0.0).x; }\n");
    assert_int_equal(r->bindings[0].count, 4);
    assert_int_equal(r->bindings[0].array_stride, 4);
    assert_true(r->bindings[0].writes && !r->bindings[0].reads);
    assert_int_equal(r->bindings[1].count, 3);
    assert_int_equal(r->bindings[1].kind, KP_REFLECT_COMBINED_IMAGE_SAMPLER);
    assert_true(r->bindings[1].reads);
    kp_reflect_destroy(r);
}

static void test_through_functions(void **state) {
    (void)state;
    kp_reflect *r = reflect_glsl("layout(binding = 0) buffer A { float x[]; } a;\n"
                                 "layout(binding = 1) buffer B { float x[]; } b;\n"
                                 "layout(binding = 2) buffer C { float x[]; } c;\n"
                                 "layout(binding = 3, r32f) uniform image2D i;\n"
                                 "layout(binding = 4, r32f) uniform image2D j;\n"
                                 "float get(uint k) { return a.x[k]; }\n"
                                 "void put(uint k) { b.x[k] = get(k); }\n"
                                 "void unused() { c.x[0] = 1; }\n"
                                 "void draw(writeonly image2D to) { imageStore(to, ivec2(0), vec4(1)); }\n"
                                 "void main() { put(3); draw(i); draw(j); }\n");
    assert_int_equal(r->binding_count, 4); // without c
    assert_true(r->bindings[0].reads && !r->bindings[0].writes);
    assert_true(!r->bindings[1].reads && r->bindings[1].writes);
    assert_true(r->bindings[2].writes && r->bindings[3].writes);
    kp_reflect_destroy(r);
}

static void test_push_specialization_and_shared_memory(void **state) {
    (void)state;
    kp_reflect *r = reflect_glsl("layout(local_size_x_id = 3, local_size_y = 2) in;\n"
                                 "layout(constant_id = 5) const float scale = 2.5;\n"
                                 "layout(constant_id = 6) const bool on = true;\n"
                                 "layout(constant_id = 9) const int rows = -4;\n"
                                 "layout(push_constant) uniform P { layout(offset = 16) uint k; vec2 v; } p;\n"
                                 "layout(binding = 0) buffer B { float x[]; } b;\n"
                                 "shared float tile[gl_WorkGroupSize.x * 4 - rows];\n"
                                 "void main() { tile[p.k] = scale; barrier(); if (on) b.x[0] = tile[0] + p.v.x; }\n");
    assert_int_equal(r->push_offset, 16);
    assert_int_equal(r->push_size, 32);
    assert_int_equal(r->entry->local_size_spec[0], 3);
    assert_int_equal(r->entry->local_size_spec[1], KP_REFLECT_NO_SPEC);
    assert_int_equal(r->entry->local_size[1], 2);
    assert_int_equal(r->shared_bytes, 4 * (4 + 4));
    assert_int_equal(kp_reflect_find_spec(r, 5)->dtype, KP_F32);
    assert_int_equal(kp_reflect_find_spec(r, 6)->dtype, KP_BOOL);
    assert_int_equal(kp_reflect_find_spec(r, 9)->dtype, KP_I32);
    assert_int_equal(kp_reflect_find_spec(r, 9)->value, 0xFFFFFFFC);
    const kp_reflect_value values[] = {{9, (uint32_t)-10}, {3, 64}};
    kp_reflect_sizes sizes;
    assert_ok(kp_reflect_specialize(r, values, COUNT_OF(values), &sizes));
    assert_int_equal(sizes.local_size[0], 64);
    assert_int_equal(sizes.local_size[1], 2);
    assert_int_equal(sizes.shared_bytes, 4 * (64 * 4 + 10));
    kp_reflect_destroy(r);
}

static void test_loops(void **state) {
    (void)state;
    kp_reflect *with = reflect_glsl("layout(binding = 0) buffer B { int x[]; } b;\n"
                                    "void main() { for (int k = 0; k < b.x[1]; k++) b.x[0] += k; }\n");
    kp_reflect *without = reflect_glsl("layout(binding = 0) buffer B { int x[]; } b;\nvoid main() { b.x[0] = 1; }\n");
    assert_true(with->loops);
    assert_false(without->loops);
    kp_reflect_destroy(with);
    kp_reflect_destroy(without);
}

static void test_hlsl(void **state) {
    (void)state;
    kp_reflect *r =
        reflect_text("[[vk::binding(0)]] StructuredBuffer<float> a;\n"
                     "[[vk::binding(1)]] RWStructuredBuffer<float> b;\n"
                     "[[vk::binding(2)]] cbuffer C { float scale; };\n"
                     "[numthreads(8, 4, 1)] void main(uint3 i : SV_DispatchThreadID) { b[i.x] = a[i.x] * scale; }\n",
                     KP_SHADER_HLSL);
    assert_int_equal(r->binding_count, 3);
    assert_int_equal(r->bindings[0].kind, KP_REFLECT_STORAGE_BUFFER);
    assert_true(r->bindings[0].reads && !r->bindings[0].writes);
    assert_true(!r->bindings[1].reads && r->bindings[1].writes);
    assert_int_equal(r->bindings[1].array_stride, 4);
    assert_int_equal(r->bindings[2].kind, KP_REFLECT_UNIFORM_BUFFER);
    assert_int_equal(r->entry->local_size[0], 8);
    assert_int_equal(r->entry->local_size[1], 4);
    kp_reflect_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_storage_images),
        cmocka_unit_test(test_sampler_apart_from_its_image),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_arrays_of_descriptors),
        cmocka_unit_test(test_through_functions),
        cmocka_unit_test(test_push_specialization_and_shared_memory),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_hlsl),
    };
    return cmocka_run_group_tests_name("reflect_glsl", tests, NULL, NULL);
}
