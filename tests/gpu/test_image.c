// Images: formats, storage and sampled use, copies, what is refused. A format that a driver lacks is refused by its
// name.
#include "gpu.h"

#include <math.h>

#include <kp/vulkan.h>

// NULL where the device has no such images, which must be said so.
static kp_image *image_of(kp_manager *mgr, const kp_image_desc *desc) {
    kp_image *image = NULL;
    kp_result result = kp_image_create(mgr, desc, &image);
    if (result == KP_OK)
        return image;
    gpu_fails(result, KP_ERROR_UNSUPPORTED, "image '*': * has no *-D images of VK_FORMAT_*", "kp_image_create",
              __FILE__, __LINE__);
    assert_null(image);
    return NULL;
}

static kp_image *floats(kp_manager *mgr, const char *label, uint32_t width, uint32_t height, const float *data) {
    kp_image *image = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = width, .height = height, .data = data, .label = label}, &image));
    return image;
}

static void eval_once(kp_manager *mgr, kp_memory *in, kp_memory *out) {
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &in, 1));
    if (out != in)
        OK(kp_record_copy(seq, LIST(in, out), 2));
    OK(kp_sequence_eval(seq));
    memset(kp_tensor_data(out), 0xAA, (size_t)kp_tensor_bytes(out));
    OK(kp_record_sync_local(seq, &out, 1));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
}

// ---------------------------------------------------------------------------------------------------------------------
// Formats
// ---------------------------------------------------------------------------------------------------------------------

static unsigned round_trip(kp_manager *mgr, kp_dtype dtype, bool normalized, uint32_t channels, uint32_t axes) {
    unsigned char data[4 * 4 * 5 * 3 * 2];
    kp_image_desc desc = {.dtype = dtype, .normalized = normalized, .channels = channels, .width = 5, .data = data};
    size_t count = 5 * channels;
    if (axes > 1)
        count *= desc.height = 3;
    if (axes > 2)
        count *= desc.depth = 2;
    size_t bytes = count * kp_dtype_size(dtype);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(1 + (7 * i) % 59); // no NaN, no -128: those need not keep their bits
    kp_image *image = image_of(mgr, &desc);
    if (image == NULL)
        return 0;
    uint64_t shape[KP_MAX_DIMS];
    assert_int_equal(kp_tensor_shape(image, shape), axes + 1);
    assert_int_equal(shape[axes], channels);
    assert_int_equal(shape[axes - 1], 5);
    assert_int_equal(kp_tensor_count(image), count);
    assert_int_equal(kp_tensor_bytes(image), bytes);
    assert_int_equal(kp_tensor_dtype(image), dtype);
    assert_true(kp_memory_is_image(image));
    assert_memory_equal(kp_tensor_data(image), data, bytes);
    eval_once(mgr, image, image);
    assert_memory_equal(kp_tensor_data(image), data, bytes);
    kp_image_destroy(image);
    return 1;
}

static void every_format_comes_back_unchanged_or_is_refused_by_name(void **state) {
    kp_manager *mgr = *state;
    const kp_dtype dtypes[] = {KP_F32, KP_F16, KP_I8, KP_I16, KP_I32, KP_U8, KP_U16, KP_U32};
    unsigned there = 0;
    for (size_t i = 0; i < COUNT_OF(dtypes); i++) {
        for (uint32_t channels = 1; channels <= 4; channels++) {
            for (uint32_t axes = 1; axes <= 3; axes++) {
                there += round_trip(mgr, dtypes[i], false, channels, axes);
                if (kp_dtype_size(dtypes[i]) == 1)
                    there += round_trip(mgr, dtypes[i], true, channels, axes);
            }
        }
    }
    assert_true(there >= 60); // every device has most of those with 1, 2 and 4 channels
}

static void the_formats_of_vulkan_that_all_devices_have_are_there(void **state) {
    kp_manager *mgr = *state;
    const kp_image_desc descs[] = {{.dtype = KP_F32, .channels = 1},
                                   {.dtype = KP_F32, .channels = 4},
                                   {.dtype = KP_U32, .channels = 1},
                                   {.dtype = KP_I32, .channels = 4},
                                   {.dtype = KP_F16, .channels = 4},
                                   {.dtype = KP_U8, .channels = 4},
                                   {.dtype = KP_U8, .channels = 4, .normalized = true}};
    for (size_t i = 0; i < COUNT_OF(descs); i++) {
        kp_image_desc desc = descs[i];
        kp_image *image = NULL;
        desc.width = desc.height = 9;
        OK(kp_image_create(mgr, &desc, &image));
        kp_image_destroy(image);
    }
}

static void what_no_image_can_be_is_refused(void **state) {
    kp_manager *mgr = *state;
    kp_image *image = NULL;
    FAILS(kp_image_create(mgr, &(kp_image_desc){.label = "i"}, &image), KP_ERROR_ARGUMENT,
          "image 'i': 0 x 0 x 0 pixels: an image has at least one of each axis");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 2, .depth = 2, .label = "i"}, &image), KP_ERROR_ARGUMENT,
          "image 'i': 2 x 0 x 2 pixels: an image has at least one of each axis");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 2, .channels = 5, .label = "i"}, &image), KP_ERROR_ARGUMENT,
          "image 'i': 5 channels, at most 4 are possible");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 2, .dtype = KP_F64, .label = "i"}, &image), KP_ERROR_TYPE,
          "image 'i': there are no images of f64");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 2, .dtype = KP_U16, .normalized = true}, &image),
          KP_ERROR_TYPE, "image 'image': there are no images of normalized u16");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 2, .dtype = (kp_dtype)99}, &image), KP_ERROR_ARGUMENT,
          "image 'image': 99 is not an element type");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 1 << 20, .height = 1, .label = "wide"}, &image),
          KP_ERROR_LIMIT, "image 'wide': maxImageDimension2D of * is * for VK_FORMAT_R32_SFLOAT, the width is 1048576");
    FAILS(
        kp_image_create(mgr, &(kp_image_desc){.width = UINT32_MAX, .height = UINT32_MAX, .depth = UINT32_MAX}, &image),
        KP_ERROR_LIMIT, "image 'image': *");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 1, .memory_type = KP_MEMORY_STORAGE, .data = &(float){1}},
                          &image),
          KP_ERROR_ARGUMENT, "image 'image': a storage image has no host side to hold data");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 1, .dtype = KP_U32, .filter = KP_FILTER_LINEAR}, &image),
          KP_ERROR_UNSUPPORTED, "image 'image': * cannot sample VK_FORMAT_R32_UINT with a linear filter");
    FAILS(kp_image_create(mgr, NULL, &image), KP_ERROR_ARGUMENT, "kp_image_create: desc is NULL");
    FAILS(kp_image_create(NULL, &(kp_image_desc){.width = 1}, &image), KP_ERROR_ARGUMENT, "*manager is NULL");
    assert_null(image);
    image = floats(mgr, "i", 2, 2, NULL);
    kp_tensor *view = NULL;
    FAILS(kp_tensor_view(image, NULL, &view), KP_ERROR_TYPE, "image 'i': only tensors have parts that are views");
    kp_image *words = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.dtype = KP_U32, .width = 3, .label = "w"}, &words));
    kp_tensor *tensor = gpu_floats(mgr, "t", 4, NULL);
    kp_algorithm *square = gpu_multiply(mgr, tensor, tensor, tensor);
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_dispatch_indirect(seq, square, words, 0, NULL), KP_ERROR_TYPE,
          "*the counts of an indirect dispatch are a tensor, 'w' is an image");
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(tensor);
    kp_image_destroy(words);
    kp_vulkan_buffer buffer;
    FAILS(kp_vulkan_from_tensor(image, &buffer), KP_ERROR_TYPE, "kp_vulkan_from_tensor: 'i' is an image");
    kp_vulkan_image native;
    OK(kp_vulkan_from_image(image, &native));
    assert_true(native.image != VK_NULL_HANDLE && native.format == VK_FORMAT_R32_SFLOAT && native.extent.height == 2);
    kp_image_destroy(image);
}

// ---------------------------------------------------------------------------------------------------------------------
// Storage
// ---------------------------------------------------------------------------------------------------------------------

static void a_kernel_reads_and_writes_images(void **state) {
    kp_manager *mgr = *state;
    kp_image *a = floats(mgr, "a", 3, 1, (float[]){123, 153, 231}), *b = floats(mgr, "b", 3, 1, (float[]){2, 4, 8}),
             *out = floats(mgr, "out", 3, 1, NULL);
    kp_algorithm *multiply = gpu_algorithm(mgr,
                                           "layout(binding = 0, r32f) uniform image2D a;\n"
                                           "layout(binding = 1, r32f) uniform image2D b;\n"
                                           "layout(binding = 2, r32f) uniform image2D c;\n"
                                           "void main() { ivec2 at = ivec2(gl_GlobalInvocationID.x, 0);\n"
                                           "  imageStore(c, at, imageLoad(a, at) * imageLoad(b, at)); }\n",
                                           &(kp_algorithm_desc){.memory = LIST(a, b, out), .memory_count = 3});
    gpu_once(mgr, multiply, LIST(a, b, out), 3, NULL); // as many workgroups as `a` has elements
    assert_memory_equal(kp_tensor_data(out), ((float[]){246, 612, 1848}), 12);
    kp_algorithm_destroy(multiply);
    kp_image_destroy(a);
    kp_image_destroy(b);
    kp_image_destroy(out);
}

// A kernel with an index on two axes goes over the image that it writes, whichever that is at the time.
static void a_kernel_of_ours_goes_over_the_image_that_it_writes(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = NULL;
    OK(kp_compile("def turn(at: Index2, a: Image2D[f32], b: Image2D[f32]):\n"
                  "    b[at] = a[a.size - 1 - at]\n",
                  NULL, &program));
    const kp_param *b = &program->params[2];
    assert_int_equal(b->kind, KP_PARAM_IMAGE);
    assert_string_equal(b->type, "Image2D[f32]");
    assert_string_equal(b->format, "r32f");
    assert_int_equal(b->ndim, 2);
    assert_true(b->writes && !b->reads);
    float data[12];
    for (int i = 0; i < 12; i++)
        data[i] = (float)i;
    kp_image *small[2] = {floats(mgr, "a", 3, 2, data), floats(mgr, "b", 3, 2, NULL)};
    kp_image *large[2] = {floats(mgr, "c", 4, 3, data), floats(mgr, "d", 4, 3, NULL)};
    kp_algorithm *turn = NULL;
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = small, .memory_count = 2}, &turn));
    kp_program_destroy(program);
    gpu_once(mgr, turn, small, 2, NULL);
    for (int i = 0; i < 6; i++)
        assert_float_equal(((float *)kp_tensor_data(small[1]))[i], data[5 - i], 0);
    OK(kp_algorithm_bind(turn, large, 2));
    gpu_once(mgr, turn, large, 2, NULL);
    for (int i = 0; i < 12; i++)
        assert_float_equal(((float *)kp_tensor_data(large[1]))[i], data[11 - i], 0);
    FAILS(kp_algorithm_bind(turn, LIST(large[0], small[0]), 1), KP_ERROR_ARGUMENT,
          "algorithm 'turn': the module uses *");
    kp_algorithm_destroy(turn);
    for (int i = 0; i < 2; i++) {
        kp_image_destroy(small[i]);
        kp_image_destroy(large[i]);
    }
}

static void an_image_tells_how_it_was_made(void **state) {
    kp_manager *mgr = *state;
    kp_image *image = NULL;
    kp_image_desc desc;
    OK(kp_image_create(mgr,
                       &(kp_image_desc){.dtype = KP_U8,
                                        .normalized = true,
                                        .channels = 4,
                                        .width = 5,
                                        .height = 3,
                                        .filter = KP_FILTER_LINEAR,
                                        .address_mode = KP_ADDRESS_MODE_MIRRORED_REPEAT,
                                        .memory_type = KP_MEMORY_STORAGE,
                                        .label = "photo"},
                       &image));
    OK(kp_image_describe(image, &desc));
    assert_true(desc.dtype == KP_U8 && desc.normalized && desc.channels == 4 && desc.data == NULL);
    assert_true(desc.width == 5 && desc.height == 3 && desc.depth == 0);
    assert_true(desc.filter == KP_FILTER_LINEAR && desc.address_mode == KP_ADDRESS_MODE_MIRRORED_REPEAT);
    assert_int_equal(desc.memory_type, KP_MEMORY_STORAGE);
    assert_string_equal(desc.label, "photo");
    kp_image_destroy(image);
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 7, .address_mode = KP_ADDRESS_MODE_CLAMP_TO_BORDER}, &image));
    OK(kp_image_describe(image, &desc));
    assert_true(desc.width == 7 && desc.height == 0 && desc.channels == 1 &&
                desc.address_mode == KP_ADDRESS_MODE_CLAMP_TO_BORDER);
    FAILS(kp_image_describe(NULL, &desc), KP_ERROR_ARGUMENT, "kp_image_describe: image is NULL");
    FAILS(kp_image_describe(image, NULL), KP_ERROR_ARGUMENT, "kp_image_describe: out is NULL");
    kp_tensor *tensor = gpu_floats(mgr, "t", 3, NULL);
    FAILS(kp_image_describe(tensor, &desc), KP_ERROR_TYPE, "kp_image_describe: 't' is a tensor");
    kp_tensor_destroy(tensor);
    kp_image_destroy(image);
}

static void bytes_are_numbers_from_0_to_1_where_they_are_normalized(void **state) {
    kp_manager *mgr = *state;
    unsigned char data[4 * 6];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 11);
    kp_image *image = NULL;
    OK(kp_image_create(
        mgr, &(kp_image_desc){.dtype = KP_U8, .normalized = true, .channels = 4, .width = 3, .height = 2, .data = data},
        &image));
    kp_algorithm *invert =
        gpu_algorithm(mgr,
                      "layout(binding = 0, rgba8) uniform image2D i;\n"
                      "void main() { ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
                      "  imageStore(i, at, vec4(1) - imageLoad(i, at)); }\n",
                      &(kp_algorithm_desc){.memory = &image, .memory_count = 1, .workgroups = {3, 2, 1}});
    gpu_once(mgr, invert, &image, 1, NULL);
    for (size_t i = 0; i < sizeof data; i++)
        assert_int_equal(((unsigned char *)kp_tensor_data(image))[i], 255 - data[i]);
    kp_algorithm_destroy(invert);
    kp_image_destroy(image);
}

static void lines_and_volumes_are_addressed_in_their_axes(void **state) {
    kp_manager *mgr = *state;
    kp_image *line = NULL, *volume = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.dtype = KP_I32, .width = 24, .label = "line"}, &line));
    OK(kp_image_create(mgr, &(kp_image_desc){.dtype = KP_I32, .width = 4, .height = 3, .depth = 2, .label = "volume"},
                       &volume));
    kp_algorithm *number =
        gpu_algorithm(mgr,
                      "layout(binding = 0, r32i) uniform writeonly iimage1D line;\n"
                      "layout(binding = 1, r32i) uniform writeonly iimage3D volume;\n"
                      "void main() { ivec3 at = ivec3(gl_GlobalInvocationID);\n"
                      "  int n = at.x + 4 * at.y + 12 * at.z;\n"
                      "  imageStore(line, 23 - n, ivec4(n));\n"
                      "  imageStore(volume, at, ivec4(n)); }\n",
                      &(kp_algorithm_desc){.memory = LIST(line, volume), .memory_count = 2, .workgroups = {4, 3, 2}});
    gpu_once(mgr, number, LIST(line, volume), 2, NULL);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(((int *)kp_tensor_data(volume))[i], i);
        assert_int_equal(((int *)kp_tensor_data(line))[i], 23 - i);
    }
    kp_algorithm_destroy(number);
    kp_image_destroy(line);
    kp_image_destroy(volume);
}

// Each dispatch moves the row on by one pixel, from one image to the other: without the barriers it would not arrive.
static void barriers_between_images_are_computed(void **state) {
    kp_manager *mgr = *state;
    enum { WIDTH = 64, STEPS = 40 };
    float start[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        start[i] = (float)i;
    kp_image *a = floats(mgr, "a", WIDTH, 1, start), *b = floats(mgr, "b", WIDTH, 1, NULL);
    const char *glsl = "layout(binding = 0, r32f) uniform readonly image2D a;\n"
                       "layout(binding = 1, r32f) uniform writeonly image2D b;\n"
                       "void main() { int i = int(gl_GlobalInvocationID.x);\n"
                       "  imageStore(b, ivec2((i + 1) % 64, 0), imageLoad(a, ivec2(i, 0))); }\n";
    kp_algorithm *there = gpu_algorithm(mgr, glsl, &(kp_algorithm_desc){.memory = LIST(a, b), .memory_count = 2}),
                 *back = gpu_algorithm(mgr, glsl, &(kp_algorithm_desc){.memory = LIST(b, a), .memory_count = 2});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &a, 1));
    for (int i = 0; i < STEPS; i++)
        OK(kp_record_dispatch(seq, i % 2 == 0 ? there : back, NULL));
    OK(kp_record_sync_local(seq, LIST(a, b), 2));
    for (int run = 0; run < 5; run++) {
        memcpy(kp_tensor_data(a), start, sizeof start);
        OK(kp_sequence_eval(seq));
        for (int i = 0; i < WIDTH; i++)
            assert_true(((float *)kp_tensor_data(a))[(i + STEPS) % WIDTH] == (float)i);
    }
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(there);
    kp_algorithm_destroy(back);
    kp_image_destroy(a);
    kp_image_destroy(b);
}

// ---------------------------------------------------------------------------------------------------------------------
// Samplers
// ---------------------------------------------------------------------------------------------------------------------

static const char sample_glsl[] = "layout(binding = 0) uniform sampler2D i;\n"
                                  "layout(binding = 1) buffer At { vec2 at[]; };\n"
                                  "layout(binding = 2) buffer Out { float o[]; };\n"
                                  "void main() { uint k = gl_GlobalInvocationID.x; o[k] = texture(i, at[k]).x; }\n";

enum { SAMPLES = 6 };

// A kernel of ours whose texture says `words`; without them, GLSL, for which the image says how it is sampled.
static kp_algorithm *sampler_of(kp_manager *mgr, const char *words, kp_memory *const *memory) {
    char text[256];
    kp_program *program = NULL;
    kp_algorithm *algorithm = NULL;
    if (words == NULL)
        return gpu_algorithm(mgr, sample_glsl, &(kp_algorithm_desc){.memory = memory, .memory_count = 3});
    snprintf(text, sizeof text,
             "def k(i: Index, t: Texture2D[f32, %s], at: Array[vec2], o: Array[f32]):\n    o[i] = t.sample(at[i])\n",
             words);
    OK(kp_compile(text, NULL, &program));
    assert_int_equal(program->params[1].kind, KP_PARAM_TEXTURE);
    OK(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = memory, .memory_count = 3},
                           &algorithm));
    kp_program_destroy(program);
    return algorithm;
}

// A row of the four pixels 51 255 0 102, sampled.
static void sample(kp_manager *mgr, kp_filter filter, kp_address_mode mode, const char *words, const float *expected) {
    const float at[2 * SAMPLES] = {0.125f, 0.5f, 0.375f, 0.5f, 0.25f, 0.5f, 0.5f, 0.5f, -0.125f, 0.5f, 1.125f, 0.5f};
    kp_image *image = NULL;
    OK(kp_image_create(mgr,
                       &(kp_image_desc){.dtype = KP_U8,
                                        .normalized = true,
                                        .width = 4,
                                        .height = 1,
                                        .data = (unsigned char[]){51, 255, 0, 102},
                                        .filter = filter,
                                        .address_mode = mode},
                       &image));
    kp_tensor *places = gpu_floats(mgr, "at", 2 * SAMPLES, at), *out = gpu_floats(mgr, "out", SAMPLES, NULL);
    kp_algorithm *sampler = sampler_of(mgr, words, LIST(image, places, out));
    gpu_once(mgr, sampler, LIST(image, places, out), 3, &(kp_dispatch_desc){.workgroups = {SAMPLES, 1, 1}});
    for (int i = 0; i < SAMPLES; i++) {
        if (expected[i] >= 0)
            assert_true(fabsf(((float *)kp_tensor_data(out))[i] - expected[i]) < 0.01f);
    }
    kp_algorithm_destroy(sampler);
    kp_tensor_destroy(places);
    kp_tensor_destroy(out);
    kp_image_destroy(image);
}

static void samplers_do_as_the_image_says(void **state) {
    kp_manager *mgr = *state;
    // The middles of pixels 0 and 1, the edges between 0 and 1 and between 1 and 2 (nearest: either), and beyond.
    sample(mgr, KP_FILTER_NEAREST, KP_ADDRESS_MODE_CLAMP_TO_EDGE, NULL, (float[]){0.2f, 1, -1, -1, 0.2f, 0.4f});
    sample(mgr, KP_FILTER_NEAREST, KP_ADDRESS_MODE_REPEAT, NULL, (float[]){0.2f, 1, -1, -1, 0.4f, 0.2f});
    sample(mgr, KP_FILTER_NEAREST, KP_ADDRESS_MODE_MIRRORED_REPEAT, NULL, (float[]){0.2f, 1, -1, -1, 0.2f, 0.4f});
    sample(mgr, KP_FILTER_NEAREST, KP_ADDRESS_MODE_CLAMP_TO_BORDER, NULL, (float[]){0.2f, 1, -1, -1, 0, 0});
    sample(mgr, KP_FILTER_LINEAR, KP_ADDRESS_MODE_CLAMP_TO_EDGE, NULL, (float[]){0.2f, 1, 0.6f, 0.5f, 0.2f, 0.4f});
    sample(mgr, KP_FILTER_LINEAR, KP_ADDRESS_MODE_REPEAT, NULL, (float[]){0.2f, 1, 0.6f, 0.5f, 0.4f, 0.2f});
}

static void samplers_do_as_the_kernel_says(void **state) {
    kp_manager *mgr = *state;
    sample(mgr, KP_FILTER_NEAREST, KP_ADDRESS_MODE_CLAMP_TO_EDGE, "'linear', 'repeat'",
           (float[]){0.2f, 1, 0.6f, 0.5f, 0.4f, 0.2f});
    sample(mgr, KP_FILTER_LINEAR, KP_ADDRESS_MODE_REPEAT, "'clamp_to_border', 'nearest'",
           (float[]){0.2f, 1, -1, -1, 0, 0});
    sample(mgr, KP_FILTER_LINEAR, KP_ADDRESS_MODE_REPEAT, "'clamp_to_edge'",
           (float[]){0.2f, 1, 0.6f, 0.5f, 0.2f, 0.4f});
    sample(mgr, KP_FILTER_NEAREST, KP_ADDRESS_MODE_REPEAT, "'linear'", (float[]){0.2f, 1, 0.6f, 0.5f, 0.4f, 0.2f});
    sample(mgr, KP_FILTER_NEAREST, KP_ADDRESS_MODE_REPEAT, "'unnormalized'",
           (float[]){0.2f, 0.2f, 0.2f, 0.2f, 0.2f, 1});
}

static void images_and_samplers_may_be_separate(void **state) {
    kp_manager *mgr = *state;
    const unsigned char bytes[4] = {10, 20, 30, 40};
    kp_image *image = NULL, *settings = NULL;
    OK(kp_image_create(
        mgr, &(kp_image_desc){.dtype = KP_U8, .normalized = true, .width = 4, .height = 1, .data = bytes}, &image));
    OK(kp_image_create(
        mgr, &(kp_image_desc){.dtype = KP_U8, .normalized = true, .width = 1, .height = 1, .filter = KP_FILTER_LINEAR},
        &settings)); // bound for its filter alone
    kp_tensor *out = gpu_floats(mgr, "out", 2, NULL);
    kp_algorithm *read = gpu_algorithm(mgr,
                                       "layout(binding = 0) uniform texture2D i;\n"
                                       "layout(binding = 1) uniform sampler s;\n"
                                       "layout(binding = 2) buffer Out { float o[]; };\n"
                                       "void main() { o[0] = textureLod(sampler2D(i, s), vec2(0.5, 0.5), 0).x;\n"
                                       "  o[1] = texelFetch(sampler2D(i, s), ivec2(3, 0), 0).x; }\n",
                                       &(kp_algorithm_desc){.memory = LIST(image, settings, out), .memory_count = 3});
    gpu_once(mgr, read, LIST(image, settings, out), 3, &(kp_dispatch_desc){.workgroups = {1, 1, 1}});
    assert_true(fabsf(((float *)kp_tensor_data(out))[0] - 25.0f / 255.0f) < 0.002f);
    assert_true(fabsf(((float *)kp_tensor_data(out))[1] - 40.0f / 255.0f) < 0.002f);
    kp_algorithm_destroy(read);
    kp_tensor_destroy(out);
    kp_image_destroy(image);
    kp_image_destroy(settings);
}

static void the_module_must_fit_the_image(void **state) {
    kp_manager *mgr = *state;
    kp_image *image = floats(mgr, "i", 4, 4, NULL), *line = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 4, .label = "line"}, &line));
    kp_algorithm *algorithm = NULL;
    const struct {
        const char *glsl;
        kp_result result;
        const char *words;
    } rows[] = {
        {"layout(binding = 0, rgba8) uniform image2D x;\nvoid main() { imageStore(x, ivec2(0), vec4(1)); }\n",
         KP_ERROR_TYPE,
         "algorithm 'a': binding 0 of set 0 ('x') has the format rgba8, image 'i' r32f (VK_FORMAT_R32_SFLOAT)"},
        {"layout(binding = 0, r32f) uniform image3D x;\nvoid main() { imageStore(x, ivec3(0), vec4(1)); }\n",
         KP_ERROR_ARGUMENT, "algorithm 'a': binding 0 of set 0 ('x') is 3-D, image 'i' is 2-D"},
        {"layout(binding = 0) uniform usampler2D x;\nlayout(binding = 1) buffer O { uint o; };\n"
         "void main() { o = texture(x, vec2(0)).x; }\n",
         KP_ERROR_TYPE, "algorithm 'a': binding 0 of set 0 ('x') reads u32, image 'i' has f32 of VK_FORMAT_R32_SFLOAT"},
        {"layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[0] = 1; }\n", KP_ERROR_TYPE,
         "algorithm 'a': binding 0 of set 0 ('X') is a storage buffer, 'i' is an image"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        kp_program *program = gpu_glsl(rows[i].glsl);
        FAILS(kp_algorithm_create(mgr,
                                  &(kp_algorithm_desc){
                                      .program = program, .memory = LIST(image, line), .memory_count = 2, .label = "a"},
                                  &algorithm),
              rows[i].result, rows[i].words);
        kp_program_destroy(program);
    }
    assert_null(algorithm);
    kp_image_destroy(image);
    kp_image_destroy(line);
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies and fills
// ---------------------------------------------------------------------------------------------------------------------

static void tensors_and_images_are_copied_both_ways_on_both_sides(void **state) {
    kp_manager *mgr = *state;
    float data[12], other[12];
    for (int i = 0; i < 12; i++) {
        data[i] = (float)i + 0.5f;
        other[i] = -1;
    }
    kp_tensor *from = gpu_floats(mgr, "from", 12, data), *to = gpu_floats(mgr, "to", 12, other);
    kp_image *one = floats(mgr, "one", 4, 3, other), *two = floats(mgr, "two", 4, 3, other);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &from, 1));
    OK(kp_record_copy(seq, LIST(from, one), 2));
    OK(kp_record_copy(seq, LIST(one, two), 2));
    OK(kp_record_copy(seq, LIST(two, to), 2));
    OK(kp_sequence_eval(seq));
    kp_memory *all[] = {one, two, to};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_memory_equal(kp_tensor_data(all[i]), data, sizeof data); // host sides follow
        memset(kp_tensor_data(all[i]), 0, sizeof data);
    }
    if (gpu_unified(mgr))
        memcpy(kp_tensor_data(to), data, sizeof data); // its device side is its host side
    OK(kp_record_sync_local(seq, all, 3));
    OK(kp_sequence_eval(seq));
    for (size_t i = 0; i < COUNT_OF(all); i++)
        assert_memory_equal(kp_tensor_data(all[i]), data, sizeof data); // and device sides
    kp_image *small = floats(mgr, "small", 3, 4, NULL), *words = NULL;
    FAILS(kp_record_copy(seq, LIST(one, small), 2), KP_ERROR_ARGUMENT,
          "*image 'one' is 4 x 3 x 1 of 1 channels, image 'small' is 3 x 4 x 1 of 1");
    OK(kp_image_create(mgr, &(kp_image_desc){.dtype = KP_U32, .width = 4, .height = 3, .label = "words"}, &words));
    FAILS(kp_record_copy(seq, LIST(from, words), 2), KP_ERROR_TYPE,
          "*tensor 'from' holds f32, image 'words' holds u32");
    kp_tensor *few = gpu_floats(mgr, "few", 11, NULL);
    FAILS(kp_record_copy(seq, LIST(few, one), 2), KP_ERROR_ARGUMENT,
          "*tensor 'few' has 11 elements, image 'one' has 12");
    kp_sequence_destroy(seq);
    kp_memory *rest[] = {from, to, one, two, small, words, few};
    for (size_t i = 0; i < COUNT_OF(rest); i++)
        kp_memory_destroy(rest[i]);
}

// Pixel (x, y, z) of a 7 x 5 x 3 image is 100 z + 10 y + x, and its negative.
static kp_image *volume(kp_manager *mgr, const char *label, float sign) {
    float data[3 * 5 * 7 * 2];
    for (int i = 0; i < 3 * 5 * 7; i++) {
        data[2 * i] = sign * (float)(i / 35 * 100 + i / 7 % 5 * 10 + i % 7);
        data[2 * i + 1] = -data[2 * i];
    }
    kp_image *image = NULL;
    OK(kp_image_create(
        mgr, &(kp_image_desc){.channels = 2, .width = 7, .height = 5, .depth = 3, .data = data, .label = label},
        &image));
    return image;
}

static float at(const kp_image *image, int x, int y, int z) {
    return ((const float *)kp_tensor_data(image))[2 * (35 * z + 7 * y + x)];
}

static void parts_of_images_are_copied(void **state) {
    kp_manager *mgr = *state;
    kp_image *from = volume(mgr, "from", 1), *to = volume(mgr, "to", 1000);
    kp_tensor *part = gpu_floats(mgr, "part", 3 * 2 * 2 * 2, NULL);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(from, to), 2));
    OK(kp_record_copy_region(seq, from, part, &(kp_copy_region){.from = {4, 1, 1}, .size = {3, 2, 2}}));
    OK(kp_record_copy_region(seq, part, to, &(kp_copy_region){.to = {0, 3, 0}, .size = {3, 2, 2}}));
    OK(kp_record_copy_region(seq, to, to, &(kp_copy_region){.from = {0, 3, 0}, .to = {3, 0, 2}, .size = {3, 2, 1}}));
    OK(kp_record_copy_region(seq, from, to, &(kp_copy_region){.from = {6, 4, 2}, .to = {6, 0, 0}}));
    OK(kp_record_sync_local(seq, LIST(part, to), 2));
    OK(kp_sequence_eval(seq));
    const float *out = kp_tensor_data(part);
    for (int i = 0; i < 12; i++) {
        float wanted = (float)((i / 6 + 1) * 100 + (i / 3 % 2 + 1) * 10 + i % 3 + 4);
        assert_true(out[2 * i] == wanted && out[2 * i + 1] == -wanted);
        assert_true(at(to, i % 3, 3 + i / 3 % 2, i / 6) == wanted);
    }
    assert_true(at(to, 3, 0, 2) == 114 && at(to, 5, 1, 2) == 126);
    assert_true(at(to, 6, 0, 0) == 246 && at(to, 6, 1, 0) == 16000 && at(to, 2, 0, 2) == 202000);
    kp_sequence_destroy(seq);
    kp_memory *all[] = {from, to, part};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        kp_memory_destroy(all[i]);
}

static void parts_that_do_not_fit_are_refused(void **state) {
    kp_manager *mgr = *state;
    kp_image *image = floats(mgr, "i", 4, 3, NULL);
    kp_tensor *t = gpu_floats(mgr, "t", 6, NULL);
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_copy_region(seq, image, NULL, NULL), KP_ERROR_ARGUMENT, "*memory[1] is NULL");
    FAILS(kp_record_copy_region(NULL, image, t, NULL), KP_ERROR_ARGUMENT, "*");
    FAILS(kp_record_copy_region(seq, t, t, NULL), KP_ERROR_TYPE,
          "sequence 'sequence': 't' and 't' are tensors, which have views instead of regions");
    FAILS(kp_record_copy_region(seq, image, t, &(kp_copy_region){.from = {4}}), KP_ERROR_INDEX,
          "sequence 'sequence': 0 pixels from 4 on, on axis x, but image 'i' has 4");
    FAILS(kp_record_copy_region(seq, t, image, &(kp_copy_region){.to = {0, 1}, .size = {2, UINT32_MAX}}),
          KP_ERROR_INDEX, "sequence 'sequence': 4294967295 pixels from 1 on, on axis y, but image 'i' has 3");
    FAILS(kp_record_copy_region(seq, t, image, &(kp_copy_region){.from = {1}}), KP_ERROR_ARGUMENT,
          "sequence 'sequence': tensor 't' has no pixels to begin at (1, 0, 0); give a view of it");
    FAILS(kp_record_copy_region(seq, t, image, NULL), KP_ERROR_ARGUMENT,
          "sequence 'sequence': tensor 't' has 6 elements, 4 x 3 x 1 pixels of image 'i' have 12");
    FAILS(kp_record_copy_region(seq, image, image, &(kp_copy_region){.to = {1, 2}, .size = {2, 1}, .from = {2, 2}}),
          KP_ERROR_ARGUMENT, "sequence 'sequence': the parts of image 'i' overlap");
    assert_int_equal(kp_sequence_op_count(seq), 0);
    OK(kp_record_copy_region(seq, image, t, &(kp_copy_region){.from = {2}}));
    kp_image_destroy(image);
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE, "*image 'i'*is destroyed");
    kp_sequence_destroy(seq);
    kp_tensor_destroy(t);
}

static void a_view_is_copied_to_an_image_from_where_a_pixel_may_begin(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = gpu_floats(mgr, "t", 64, NULL), *good = NULL, *odd = NULL;
    for (int i = 0; i < 64; i++)
        ((float *)kp_tensor_data(t))[i] = (float)i;
    OK(kp_tensor_view(t, &(kp_tensor_view_desc){.first = 20, .count = 16, .label = "good"}, &good));
    OK(kp_tensor_view(t, &(kp_tensor_view_desc){.first = 21, .count = 16, .label = "odd"}, &odd));
    kp_image *image = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.channels = 4, .width = 2, .height = 2, .label = "i"}, &image));
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &t, 1));
    OK(kp_record_copy(seq, LIST(good, image), 2));
    OK(kp_record_sync_local(seq, &image, 1));
    OK(kp_sequence_eval(seq));
    for (int i = 0; i < 16; i++)
        assert_true(((float *)kp_tensor_data(image))[i] == (float)(20 + i));
    FAILS(kp_record_copy(seq, LIST(odd, image), 2), KP_ERROR_UNSUPPORTED,
          "*tensor 'odd' is a view that begins at byte 84: a copy between it and image 'i' has to begin at a multiple "
          "of 16");
    kp_sequence_destroy(seq);
    kp_tensor_destroy(odd);
    kp_tensor_destroy(good);
    kp_tensor_destroy(t);
    kp_image_destroy(image);
}

static void fill_image(kp_manager *mgr, const kp_image_desc *desc, const void *element) {
    kp_image *image = image_of(mgr, desc);
    if (image == NULL)
        return;
    size_t size = kp_dtype_size(desc->dtype);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_fill(seq, image, element));
    OK(kp_record_sync_local(seq, &image, 1));
    OK(kp_sequence_eval(seq));
    for (uint64_t i = 0; i < kp_tensor_count(image); i++)
        assert_memory_equal((char *)kp_tensor_data(image) + i * size, element, size);
    kp_sequence_destroy(seq);
    kp_image_destroy(image);
}

static void a_fill_reaches_every_channel(void **state) {
    kp_manager *mgr = *state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        kp_image_desc desc = {.channels = channels, .width = 7, .height = 5};
        fill_image(mgr, &desc, &(float){1.25f});
        desc.dtype = KP_F16;
        fill_image(mgr, &desc, &(uint16_t){0xC100}); // -2.5
        desc.dtype = KP_I32;
        fill_image(mgr, &desc, &(int32_t){-123456789});
        desc.dtype = KP_U16;
        fill_image(mgr, &desc, &(uint16_t){60000});
        desc.dtype = KP_I16;
        fill_image(mgr, &desc, &(int16_t){-30000});
        desc.dtype = KP_I8;
        fill_image(mgr, &desc, &(int8_t){-100});
        desc.normalized = true;
        fill_image(mgr, &desc, &(int8_t){-100});
        desc.dtype = KP_U8;
        fill_image(mgr, &desc, &(uint8_t){200});
        desc.normalized = false;
        fill_image(mgr, &desc, &(uint8_t){200});
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory
// ---------------------------------------------------------------------------------------------------------------------

static void many_images_and_tensors_share_memory_and_keep_apart(void **state) {
    kp_manager *mgr = *state;
    enum { N = 300 };
    static kp_memory *all[N];
    for (uint32_t i = 0; i < N; i++) {
        uint32_t width = 1 + i * 7 % 23, height = 1 + i * 5 % 11;
        all[i] = i % 2 == 0 ? floats(mgr, "image", width, height, NULL)
                            : gpu_floats(mgr, "tensor", (uint64_t)width * height, NULL);
        for (uint32_t k = 0; k < width * height; k++)
            ((float *)kp_tensor_data(all[i]))[k] = (float)(i * 1000 + k);
    }
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, all, N));
    OK(kp_sequence_eval(seq));
    for (uint32_t i = 0; i < N; i += 2)
        memset(kp_tensor_data(all[i]), 0, (size_t)kp_tensor_bytes(all[i]));
    OK(kp_record_sync_local(seq, all, N));
    OK(kp_sequence_eval(seq));
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t k = 0; k < kp_tensor_count(all[i]); k++)
            assert_true(((float *)kp_tensor_data(all[i]))[k] == (float)(i * 1000 + k));
    }
    kp_memory_stats stats;
    OK(kp_manager_memory(mgr, &stats));
    assert_true(stats.allocations <= 12);
    kp_sequence_destroy(seq);
    for (uint32_t i = 0; i < N; i++)
        kp_memory_destroy(all[i]);
    OK(kp_manager_memory(mgr, &stats));
    assert_int_equal(stats.used, 0);
}

static void a_storage_image_computes_but_has_no_host_side(void **state) {
    kp_manager *mgr = *state;
    kp_image *image = NULL;
    kp_tensor *out = gpu_floats(mgr, "out", 16, NULL);
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 4, .height = 4, .memory_type = KP_MEMORY_STORAGE, .label = "s"},
                       &image));
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_fill(seq, image, &(float){3}));
    OK(kp_record_copy(seq, LIST(image, out), 2));
    OK(kp_record_sync_local(seq, &out, 1));
    OK(kp_sequence_eval(seq));
    assert_true(((float *)kp_tensor_data(out))[15] == 3.0f);
    assert_null(kp_tensor_data(image));
    FAILS(kp_record_sync_local(seq, &image, 1), KP_ERROR_STATE,
          "*image 's' is a storage image, which has no host side to sync");
    kp_sequence_destroy(seq);
    kp_tensor_destroy(out);
    kp_image_destroy(image);
}

// Making one waits for nobody; many that nobody uses come and go.
static void images_are_made_while_other_work_runs(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 2}, &x));
    kp_algorithm *slow = gpu_algorithm(mgr,
                                       "layout(local_size_x = 16) in;\n"
                                       "layout(binding = 0) buffer X { uint x[]; };\n"
                                       "void main() { uint s = x[0]; for (uint i = 0; i < 30000; i++)\n"
                                       "  s = s * 1664525 + 1013904223; x[1] = s; }\n",
                                       &(kp_algorithm_desc){.memory = &x, .memory_count = 1});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, slow, &(kp_dispatch_desc){.workgroups = {4000, 1, 1}}));
    OK(kp_sequence_eval_async(seq));
    bool before = kp_sequence_await(seq, 0) == KP_ERROR_TIMEOUT; // a quick device may be done already
    const float data[4] = {1, 2, 3, 4};
    kp_image *image = floats(mgr, "i", 2, 2, data), *other = floats(mgr, "other", 2, 2, NULL);
    if (before && gpu_device(mgr).type == KP_DEVICE_CPU) // which does one submission after the other
        assert_int_equal(kp_sequence_await(seq, 0), KP_ERROR_TIMEOUT);
    if (before)
        OK(kp_sequence_await(seq, UINT64_MAX));
    eval_once(mgr, image, other);
    assert_memory_equal(kp_tensor_data(other), data, sizeof data);
    for (int i = 0; i < 500; i++)
        kp_image_destroy(floats(mgr, "none", 3, 3, NULL));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(slow);
    kp_tensor_destroy(x);
    kp_image_destroy(image);
    kp_image_destroy(other);
}

static void images_are_destroyed_in_any_order(void **state) {
    kp_manager *mgr = *state;
    kp_image *image = floats(mgr, "i", 64, 64, NULL), *other = floats(mgr, "o", 8, 8, NULL);
    kp_algorithm *scale =
        gpu_algorithm(mgr,
                      "layout(binding = 0, r32f) uniform image2D i;\n"
                      "void main() { ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
                      "  imageStore(i, at, imageLoad(i, at) + 1.0); }\n",
                      &(kp_algorithm_desc){.memory = &image, .memory_count = 1, .workgroups = {64, 64, 1}});
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &image, 1));
    for (int i = 0; i < 10; i++)
        OK(kp_record_dispatch(seq, scale, NULL));
    OK(kp_record_sync_local(seq, &image, 1));
    kp_view *view = NULL;
    OK(kp_view_create(image, &view));
    OK(kp_sequence_eval_async(seq));
    kp_image_destroy(image);
    OK(kp_sequence_await(seq, UINT64_MAX));
    assert_true(((const float *)kp_view_data(view))[4095] == 10.0f);
    FAILS(kp_sequence_eval(seq), KP_ERROR_STATE, "*image 'i'*is destroyed");
    kp_manager_destroy(mgr);
    *state = NULL;
    assert_true(((const float *)kp_view_data(view))[0] == 10.0f);
    assert_null(kp_tensor_data(other));
    kp_view_destroy(view);
    kp_image_destroy(other);
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(scale);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(every_format_comes_back_unchanged_or_is_refused_by_name),
        GPU_TEST(the_formats_of_vulkan_that_all_devices_have_are_there),
        GPU_TEST(what_no_image_can_be_is_refused),
        GPU_TEST(a_kernel_reads_and_writes_images),
        GPU_TEST(a_kernel_of_ours_goes_over_the_image_that_it_writes),
        GPU_TEST(an_image_tells_how_it_was_made),
        GPU_TEST(bytes_are_numbers_from_0_to_1_where_they_are_normalized),
        GPU_TEST(lines_and_volumes_are_addressed_in_their_axes),
        GPU_TEST(barriers_between_images_are_computed),
        GPU_TEST(samplers_do_as_the_image_says),
        GPU_TEST(samplers_do_as_the_kernel_says),
        GPU_TEST(images_and_samplers_may_be_separate),
        GPU_TEST(the_module_must_fit_the_image),
        GPU_TEST(tensors_and_images_are_copied_both_ways_on_both_sides),
        GPU_TEST(parts_of_images_are_copied),
        GPU_TEST(parts_that_do_not_fit_are_refused),
        GPU_TEST(a_view_is_copied_to_an_image_from_where_a_pixel_may_begin),
        GPU_TEST(a_fill_reaches_every_channel),
        GPU_TEST(many_images_and_tensors_share_memory_and_keep_apart),
        GPU_TEST(a_storage_image_computes_but_has_no_host_side),
        GPU_TEST(images_are_made_while_other_work_runs),
        GPU_TEST(images_are_destroyed_in_any_order),
    };
    return gpu_run("image", tests);
}
