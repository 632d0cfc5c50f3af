// 12 structs: particles that fall, a struct in C and in the kernel. A tensor is told the program's struct, so that a
// kernel with another one is refused, and what all of them read is a uniform. The C compiler checks here what kpc's
// headers check by themselves: that both sides lay the struct out alike. You should see
//
//     height 9 8 7, speed -1 -2 -3
//     another struct: KP_ERROR_TYPE

#include "example.h"

#include <stddef.h>

typedef struct particle {
    float position[3];
    float speed;
} particle;

typedef struct settings {
    float gravity;
    float step;
} settings;

static const char *const source = "class Particle(Struct):\n"
                                  "    position: vec3\n"
                                  "    speed: f32\n"
                                  "\n"
                                  "class Settings(Struct):\n"
                                  "    gravity: f32\n"
                                  "    step: f32\n"
                                  "\n"
                                  "def fall(i: Index, particles: Array[Particle], s: Uniform[Settings]):\n"
                                  "    particles[i].speed -= s.gravity * s.step * f32(i + 1)\n"
                                  "    particles[i].position.y += s.step * particles[i].speed\n"
                                  "\n"
                                  "def other(i: Index, x: Array[Struct(a=i32, b=vec3)]):\n"
                                  "    x[i].a = 1\n";

static kp_program *compile(const char *kernel) {
    kp_program *program;
    check(kp_compile(source, &(kp_compile_desc){.kernel = kernel}, &program));
    return program;
}

int main(void) {
    particle start[3] = {{{0, 10, 0}, 0}, {{1, 10, 0}, 0}, {{2, 10, 0}, 0}};
    settings constants = {1, 1};

    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_program *program = compile("fall");
    const kp_struct *layout = program->params[1].structure; // parameter 0 is the index
    KP_ASSERT(offsetof(particle, speed) == 12 && sizeof(particle) == 16, "particle");
    if (layout->size != sizeof(particle) || layout->fields[1].offset != offsetof(particle, speed))
        return 1;

    kp_tensor *particles, *uniform;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.structure = layout, .count = 3, .data = start}, &particles));
    check(kp_tensor_create(
        mgr, &(kp_tensor_desc){.structure = program->params[2].structure, .count = 1, .data = &constants}, &uniform));
    kp_algorithm *fall;
    check(kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = program, .memory = (kp_memory *[]){particles, uniform}, .memory_count = 2},
        &fall));

    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, (kp_memory *[]){particles, uniform}, 2));
    check(kp_record_dispatch(seq, fall, NULL));
    check(kp_record_sync_local(seq, &particles, 1));
    check(kp_sequence_eval(seq));
    const particle *p = kp_tensor_data(particles);
    printf("height %g %g %g, speed %g %g %g\n", (double)p[0].position[1], (double)p[1].position[1],
           (double)p[2].position[1], (double)p[0].speed, (double)p[1].speed, (double)p[2].speed);

    kp_program *another = compile("other");
    kp_algorithm *refused;
    kp_result result = kp_algorithm_create(
        mgr, &(kp_algorithm_desc){.program = another, .memory = &particles, .memory_count = 1}, &refused);
    printf("another struct: %s\n", kp_result_name(result));

    kp_program_destroy(another);
    kp_program_destroy(program);
    kp_manager_destroy(mgr);
    return 0;
}
