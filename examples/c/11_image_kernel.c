// 11 images in a kernel of ours: a texture of four pixels, sampled between its pixels, becomes a larger picture of 8
// bits a pixel. The dispatch goes over the image that the kernel writes. You should see
//
//       0   0  50 100 100
//       0   0  50 100 100
//      50  50 100 150 150
//     100 100 150 200 200
//     100 100 150 200 200

#include "example.h"

static const char kernel[] = "def enlarge(at: Index2, small: Texture2D[f32], large: Image2D[f32, 'r8']):\n"
                             "    large[at] = small.sample(vec2(at) / 4.0)\n";

enum { SIZE = 5 };

int main(void) {
    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_program *program;
    check(kp_compile(kernel, NULL, &program));

    kp_image *image[2];
    const unsigned char pixels[4] = {0, 100, 100, 200};
    kp_image_desc small = {.dtype = KP_U8, .normalized = true, .width = 2, .height = 2, .data = pixels};
    small.filter = KP_FILTER_LINEAR;
    check(kp_image_create(mgr, &small, &image[0]));
    kp_image_desc large = {.dtype = KP_U8, .normalized = true, .width = SIZE, .height = SIZE};
    check(kp_image_create(mgr, &large, &image[1]));

    kp_algorithm *enlarge;
    check(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = image, .memory_count = 2},
                              &enlarge));
    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, image, 1));
    check(kp_record_dispatch(seq, enlarge, NULL));
    check(kp_record_sync_local(seq, &image[1], 1));
    check(kp_sequence_eval(seq));

    const unsigned char *to = kp_tensor_data(image[1]); // rows of pixels
    for (int y = 0; y < SIZE; y++) {
        for (int x = 0; x < SIZE; x++)
            printf("%4d", to[SIZE * y + x]);
        printf("\n");
    }

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(enlarge);
    kp_image_destroy(image[0]);
    kp_image_destroy(image[1]);
    kp_program_destroy(program);
    kp_manager_destroy(mgr);
    return 0;
}
