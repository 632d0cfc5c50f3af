// 04 a GLSL shader: kp runs any compute shader, here 8 workgroups of 32 invocations, each of which squares its own
// number. Needs libshaderc (without it the program says so and ends with code 77). You should see
//
//     0 1 4 9 ... 65025

#include "example.h"

#include <string.h>

static const char shader[] = "#version 450\n"
                             "layout(local_size_x = 32) in;\n"
                             "layout(binding = 0) buffer Values { uint values[]; };\n"
                             "void main() {\n"
                             "    uint i = gl_GlobalInvocationID.x;\n"
                             "    values[i] = i * i;\n"
                             "}\n";

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
    kp_tensor *values;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = 256}, &values));
    kp_algorithm *square;
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){.program = program, .memory = &values, .memory_count = 1, .workgroups = {256 / 32, 1, 1}},
        &square));

    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_dispatch(seq, square, NULL));
    check(kp_record_sync_local(seq, &values, 1));
    check(kp_sequence_eval(seq));

    const uint32_t *v = kp_tensor_data(values);
    printf("%u %u %u %u ... %u\n", v[0], v[1], v[2], v[3], v[255]);

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(values);
    kp_program_destroy(program);
    kp_manager_destroy(mgr);
    return 0;
}
