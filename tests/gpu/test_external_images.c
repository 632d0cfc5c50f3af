// Images shared by file descriptor, between two managers: contents, kernels, lifetimes, and what is refused.
#include "gpu.h"

#include <kp/external.h>

#include <fcntl.h>
#include <unistd.h>

enum { MOST = 64 * 4 * 4 }; // bytes of the largest image here

static const kp_image_desc kinds[] = {
    {.dtype = KP_F32, .channels = 1, .width = 8, .height = 8},
    {.dtype = KP_F32, .channels = 4, .width = 16, .height = 4},
    {.dtype = KP_U8, .channels = 4, .normalized = true, .width = 9, .height = 5},
    {.dtype = KP_U8, .channels = 4, .width = 3, .height = 3, .depth = 3},
    {.dtype = KP_I32, .channels = 2, .width = 32},
    {.dtype = KP_F16, .channels = 4, .width = 7, .height = 7},
};

// An image that can be exported, or NULL where the device says why it has none.
static kp_image *exportable(kp_manager *mgr, const kp_image_desc *kind, const void *data) {
    kp_image_desc desc = *kind;
    kp_image *image = NULL;
    desc.exported = KP_HANDLE_OPAQUE_FD;
    desc.label = "x";
    desc.data = data;
    kp_result result = kp_image_create(mgr, &desc, &image);
    if (result == KP_ERROR_UNSUPPORTED) {
        FAILS(result, KP_ERROR_UNSUPPORTED,
              gpu_device(mgr).memory_fd
                  ? "image 'x': * has VK_KHR_external_memory_fd, but cannot export *-D images of VK_FORMAT_* by it"
                  : "image 'x': * lacks VK_KHR_external_memory_fd, which sharing memory needs");
        return NULL;
    }
    OK(result);
    return image;
}

static void sync(kp_manager *mgr, kp_image *image, bool up) {
    kp_sequence *seq = gpu_sequence(mgr);
    OK((up ? kp_record_sync_device : kp_record_sync_local)(seq, &image, 1));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
}

static kp_image *import(kp_manager *mgr, const kp_external_memory *from, const kp_image_desc *kind) {
    kp_image_desc desc = *kind;
    kp_image *image = NULL;
    desc.label = "y";
    OK(kp_image_import(mgr, from, &desc, &image));
    return image;
}

// Numbers that every format gives back as they are: bytes below 0x3c make halfs and floats that are no NaN.
static void fill(unsigned char *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)((i * 7 + seed) % 0x3c);
}

static void two_managers_have_one_image(void **state) {
    kp_manager *mgr = *state, *other = NULL;
    OK(kp_manager_create(NULL, &other));
    unsigned before = 0;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        unsigned char data[MOST];
        fill(data, sizeof data, (unsigned)k);
        kp_image *x = exportable(mgr, &kinds[k], data);
        if (x == NULL)
            continue;
        size_t bytes = (size_t)kp_tensor_bytes(x);
        assert_in_range(bytes, 1, MOST);
        kp_external_memory e;
        sync(mgr, x, true);
        OK(kp_image_export(x, &e));
        assert_true(e.fd >= 0 && e.type == KP_HANDLE_OPAQUE_FD && e.size >= bytes && e.offset == 0 && e.dedicated);
        kp_image *y = import(other, &e, &kinds[k]);
        close(e.fd);
        sync(other, y, false);
        assert_memory_equal(kp_tensor_data(y), data, bytes);
        fill(kp_tensor_data(y), bytes, 31); // and the other way
        memcpy(data, kp_tensor_data(y), bytes);
        sync(other, y, true);
        sync(mgr, x, false);
        assert_memory_equal(kp_tensor_data(x), data, bytes);
        kp_image_desc told;
        OK(kp_image_describe(x, &told));
        assert_int_equal(told.exported, KP_HANDLE_OPAQUE_FD);
        OK(kp_image_describe(y, &told));
        assert_int_equal(told.exported, KP_HANDLE_NONE);
        kp_image_destroy(x); // the other side keeps the memory
        memset(kp_tensor_data(y), 0, bytes);
        sync(other, y, false);
        assert_memory_equal(kp_tensor_data(y), data, bytes);
        kp_image_destroy(y);
        before = before == 0 ? gpu_open_descriptors() : before;
        assert_int_equal(gpu_open_descriptors(), before);
    }
    kp_manager_destroy(other);
}

// A kernel on one side writes, one on the other reads and writes in its turn.
static void kernels_of_both_sides_work_on_it(void **state) {
    static const char write[] = "layout(local_size_x = 8, local_size_y = 8) in;\n"
                                "layout(binding = 0, r32f) uniform image2D x;\n"
                                "void main() {\n"
                                "    ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n"
                                "    imageStore(x, p, imageLoad(x, p) * 2.0 + vec4(p.x + 10 * p.y));\n"
                                "}\n";
    kp_manager *mgr = *state, *other = NULL;
    OK(kp_manager_create(NULL, &other));
    float ones[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1.0f;
    kp_image *x = exportable(mgr, &kinds[0], ones);
    if (x == NULL) {
        kp_manager_destroy(other);
        return;
    }
    kp_external_memory e;
    OK(kp_image_export(x, &e)); // nothing has used it yet
    kp_image *y = import(other, &e, &kinds[0]);
    close(e.fd);
    const kp_algorithm_desc launch = {.memory_count = 1, .workgroups = {1, 1, 1}};
    kp_algorithm_desc ours = launch, theirs = launch;
    ours.memory = &x;
    theirs.memory = &y;
    kp_algorithm *a = gpu_algorithm(mgr, write, &ours), *b = gpu_algorithm(other, write, &theirs);
    kp_sequence *one = gpu_sequence(mgr), *two = gpu_sequence(other);
    OK(kp_record_sync_device(one, &x, 1));
    OK(kp_record_dispatch(one, a, NULL));
    OK(kp_sequence_eval(one));
    OK(kp_record_dispatch(two, b, NULL));
    OK(kp_record_sync_local(two, &y, 1));
    OK(kp_sequence_eval(two));
    const float *data = kp_tensor_data(y);
    for (int i = 0; i < 64; i++)
        assert_true(data[i] == (2.0f + (float)(i % 8 + 10 * (i / 8))) * 2.0f + (float)(i % 8 + 10 * (i / 8)));
    kp_sequence_destroy(one);
    kp_algorithm_destroy(a);
    kp_manager_destroy(mgr); // with the image
    *state = NULL;
    OK(kp_sequence_eval(two));
    const float last = 2.0f * ((2.0f + 77.0f) * 2.0f + 77.0f) + 77.0f;
    assert_true(data[63] == last);
    kp_sequence_destroy(two);
    kp_algorithm_destroy(b);
    kp_image_destroy(y);
    kp_image_destroy(x);
    kp_manager_destroy(other);
}

static void what_is_no_such_image_is_refused(void **state) {
    kp_manager *mgr = *state;
    kp_image *plain = NULL, *y = NULL, *x = exportable(mgr, &kinds[0], NULL);
    kp_tensor *tensor = gpu_floats(mgr, "t", 4, NULL);
    kp_external_memory good, e;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = 4, .label = "plain"}, &plain));
    FAILS(kp_image_export(plain, &e), KP_ERROR_STATE,
          "image 'plain' was not made to be exported (kp_image_desc.exported)");
    FAILS(kp_image_export(tensor, &e), KP_ERROR_TYPE, "kp_image_export: 't' is a tensor");
    FAILS(kp_tensor_export(plain, &e), KP_ERROR_TYPE, "kp_tensor_export: 'plain' is an image");
    FAILS(kp_image_export(NULL, &e), KP_ERROR_ARGUMENT, "kp_image_export: image is NULL");
    FAILS(kp_image_export(plain, NULL), KP_ERROR_ARGUMENT, "kp_image_export: out is NULL");
    FAILS(kp_image_create(mgr, &(kp_image_desc){.width = 4, .exported = KP_HANDLE_DMA_BUF, .label = "d"}, &y),
          KP_ERROR_ARGUMENT, "image 'd': images are shared by OPAQUE_FD alone");
    if (x != NULL) {
        kp_image_desc desc = kinds[0];
        desc.label = "y";
        OK(kp_image_export(x, &good));
        unsigned before = gpu_open_descriptors();
        FAILS(kp_image_import(mgr, NULL, &desc, &y), KP_ERROR_ARGUMENT, "kp_image_import: from is NULL");
        FAILS(kp_image_import(mgr, &good, NULL, &y), KP_ERROR_ARGUMENT, "kp_image_import: desc is NULL");
        e = good;
        e.device_uuid[0] ^= 1;
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': the memory is of the device *, the manager's is *");
        e = good;
        e.type = KP_HANDLE_DMA_BUF;
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': images are shared by OPAQUE_FD alone");
        e.type = KP_HANDLE_SYNC_FD;
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': 3 is not a handle type to import from");
        e = good;
        e.fd = -1;
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': *: the file descriptor -1: Bad file descriptor");
        e = good;
        e.offset = 65536;
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': memory dedicated to one image has it at 0, not at 65536");
        e = good;
        e.memory_type = 99;
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': *: the memory type 99, which the memory is said to have, is none of an image's here");
        e = good;
        e.kind = KP_EXTERNAL_UNKNOWN;
        desc.width = desc.height = 2048; // of another size, larger and smaller
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': *: the image needs * bytes from 0 on, the memory has *");
        desc = kinds[0];
        desc.label = "y";
        desc.exported = KP_HANDLE_OPAQUE_FD;
        FAILS(kp_image_import(mgr, &good, &desc, &y), KP_ERROR_ARGUMENT,
              "image 'y': imported memory cannot be exported again");
        desc.exported = KP_HANDLE_NONE;
        desc.data = &good;
        FAILS(kp_image_import(mgr, &good, &desc, &y), KP_ERROR_ARGUMENT, "image 'y': imported memory has its contents");
        desc.data = NULL;
        assert_int_equal(gpu_open_descriptors(), before); // none was kept
        OK(kp_image_import(mgr, &good, &desc, &y));
        FAILS(kp_image_export(y, &e), KP_ERROR_STATE, "image 'y' was not made to be exported *");
        kp_image_destroy(y);
        assert_int_equal(gpu_open_descriptors(), before);
        close(good.fd);
    }
    kp_manager_destroy(mgr);
    *state = NULL;
    FAILS(kp_image_export(plain, &e), KP_ERROR_STATE, "image 'plain': manager '*' is destroyed");
    kp_image_destroy(plain);
    kp_image_destroy(x);
    kp_tensor_destroy(tensor);
}

// The large one's memory is not for a small one either.
static void memory_of_another_image_is_refused(void **state) {
    kp_manager *mgr = *state;
    const kp_image_desc large = {.width = 512, .height = 512};
    kp_image *x = exportable(mgr, &large, NULL), *y = NULL;
    kp_external_memory e;
    if (x == NULL)
        return;
    OK(kp_image_export(x, &e));
    kp_image_desc desc = kinds[0];
    desc.label = "y";
    e.kind = KP_EXTERNAL_UNKNOWN; // as others may say it
    FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
          "image 'y': *: the image needs * bytes, the memory has *: it was made for another one");
    close(e.fd);
    kp_image_destroy(x);
}

// All of these need as many bytes as the image has.
static void another_form_of_image_is_refused(void **state) {
    static const struct {
        kp_image_desc desc;
        const char *words;
    } others[] = {
        {{.dtype = KP_F32, .width = 16, .height = 4}, "16 x 4 pixels of 1 f32"},
        {{.dtype = KP_F32, .width = 8, .height = 4, .depth = 2}, "8 x 4 x 2 pixels of 1 f32"},
        {{.dtype = KP_F32, .width = 64}, "64 pixels of 1 f32"},
        {{.dtype = KP_I32, .width = 8, .height = 8}, "8 x 8 pixels of 1 i32"},
        {{.dtype = KP_U8, .channels = 4, .width = 8, .height = 8}, "8 x 8 pixels of 4 u8"},
        {{.dtype = KP_U8, .channels = 4, .normalized = true, .width = 8, .height = 8},
         "8 x 8 pixels of 4 normalized u8"},
        {{.dtype = KP_F16, .channels = 2, .width = 8, .height = 8}, "8 x 8 pixels of 2 f16"},
    };
    kp_manager *mgr = *state;
    kp_image *y = NULL, *x = exportable(mgr, &kinds[0], NULL);
    kp_external_memory e;
    if (x == NULL)
        return;
    OK(kp_image_export(x, &e));
    assert_int_equal(e.kind, KP_EXTERNAL_IMAGE);
    assert_true(e.image.dtype == KP_F32 && !e.image.normalized && e.image.channels == 1 && e.image.width == 8 &&
                e.image.height == 8 && e.image.depth == 0);
    unsigned before = gpu_open_descriptors();
    for (size_t k = 0; k < COUNT_OF(others); k++) {
        kp_image_desc desc = others[k].desc;
        char words[160];
        desc.label = "y";
        snprintf(words, sizeof words, "image 'y' is to be %s, the memory is that of one of 8 x 8 pixels of 1 f32",
                 others[k].words);
        FAILS(kp_image_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT, words);
    }
    kp_image_desc own = kinds[0]; // how it is sampled is each side's own affair
    own.address_mode = KP_ADDRESS_MODE_MIRRORED_REPEAT;
    OK(kp_image_import(mgr, &e, &own, &y));
    kp_image_destroy(y);
    FAILS(kp_tensor_import(mgr, &e, &(kp_tensor_desc){.count = 64, .label = "t"}, &y), KP_ERROR_TYPE,
          "tensor 't': the memory is that of an image, of 8 x 8 pixels of 1 f32");
    assert_int_equal(gpu_open_descriptors(), before);
    close(e.fd);
    kp_image_destroy(x);
}

static void memory_of_a_tensor_is_refused(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *t = NULL, *part = NULL;
    kp_image *y = NULL;
    kp_external_memory e;
    kp_result result = kp_tensor_create(mgr, &(kp_tensor_desc){.count = 65536, .exported = KP_HANDLE_OPAQUE_FD}, &t);
    if (result == KP_ERROR_UNSUPPORTED)
        return; // test_external.c looks at its words
    OK(result);
    OK(kp_tensor_view(t, &(kp_tensor_view_desc){.count = 64}, &part));
    for (int k = 0; k < 2; k++) {
        OK(kp_tensor_export(k == 0 ? t : part, &e));
        assert_int_equal(e.kind, KP_EXTERNAL_TENSOR);
        FAILS(kp_image_import(mgr, &e, &(kp_image_desc){.width = 8, .height = 8, .label = "y"}, &y), KP_ERROR_TYPE,
              "image 'y': the memory is that of a tensor");
        close(e.fd);
    }
    kp_tensor_destroy(part);
    kp_tensor_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_TEST(two_managers_have_one_image),      GPU_TEST(kernels_of_both_sides_work_on_it),
        GPU_TEST(what_is_no_such_image_is_refused), GPU_TEST(memory_of_another_image_is_refused),
        GPU_TEST(another_form_of_image_is_refused), GPU_TEST(memory_of_a_tensor_is_refused),
    };
    return gpu_run("external_images", tests);
}
