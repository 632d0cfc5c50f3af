// 08 an image: a box blur in GLSL reads through a sampler, whose wrap repeats the edge, and writes a storage image of 8
// bits a channel. One white pixel in the middle spreads over its neighbours. Needs libshaderc (without it the program
// says so and ends with code 77). You should see
//
//      0  0  0  0  0
//      0 28 28 28  0
//      0 28 28 28  0
//      0 28 28 28  0
//      0  0  0  0  0

#include "example.h"

#include <string.h>

static const char shader[] = "#version 450\n"
                             "layout(binding = 0) uniform sampler2D from;\n"
                             "layout(binding = 1, rgba8) uniform writeonly image2D to;\n"
                             "void main() {\n"
                             "    ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
                             "    vec4 sum = vec4(0);\n"
                             "    for (int y = -1; y <= 1; y++)\n"
                             "        for (int x = -1; x <= 1; x++)\n"
                             "            sum += texture(from, (vec2(at + ivec2(x, y)) + 0.5) / vec2(imageSize(to)));\n"
                             "    imageStore(to, at, sum / 9.0);\n"
                             "}\n";

enum { SIZE = 5 };

int main(void) {
    kp_program *program;
    kp_result result = kp_shader_compile(shader, strlen(shader), NULL, &program);
    if (result == KP_ERROR_UNSUPPORTED) {
        fprintf(stderr, "%s\n", kp_last_error());
        return 77;
    }
    check(result);

    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_image *image[2];
    kp_image_desc desc = {.dtype = KP_U8, .normalized = true, .channels = 4, .width = SIZE, .height = SIZE};
    check(kp_image_create(mgr, &desc, &image[0]));
    check(kp_image_create(mgr, &desc, &image[1]));
    unsigned char *from = kp_tensor_data(image[0]); // rows of pixels of four channels
    memset(from + 4 * (SIZE * 2 + 2), 255, 4);

    kp_algorithm *blur;
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){.program = program, .memory = image, .memory_count = 2, .workgroups = {SIZE, SIZE, 1}},
        &blur));
    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, image, 1));
    check(kp_record_dispatch(seq, blur, NULL));
    check(kp_record_sync_local(seq, &image[1], 1));
    check(kp_sequence_eval(seq));

    const unsigned char *to = kp_tensor_data(image[1]);
    for (int y = 0; y < SIZE; y++) {
        for (int x = 0; x < SIZE; x++)
            printf("%3d", to[4 * (SIZE * y + x)]);
        printf("\n");
    }

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(blur);
    kp_image_destroy(image[0]);
    kp_image_destroy(image[1]);
    kp_program_destroy(program);
    kp_manager_destroy(mgr);
    return 0;
}
