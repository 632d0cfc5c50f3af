// Structs and uniforms from C: a kernel's struct against a C struct, tensors that are told theirs, and what is refused.
#include "gpu.h"

typedef struct particle {
    float position[3];
    uint32_t id;
    float mass;
} particle;

typedef struct settings {
    float gain;
    float offset[3];
} settings;

static const char *const source = "class Particle(Struct):\n"
                                  "    position: vec3\n"
                                  "    id: u32\n"
                                  "    mass: f32\n"
                                  "class Settings(Struct):\n"
                                  "    gain: f32\n"
                                  "    offset: vec3\n"
                                  "def move(i: Index, p: Array[Particle], s: Uniform[Settings], t: Settings):\n"
                                  "    p[i].position = p[i].position * s.gain + t.offset\n"
                                  "    p[i].id += u32(1)\n"
                                  "def other(i: Index, p: Array[Struct(position=vec3, id=i32, mass=f32)]):\n"
                                  "    p[i].mass = 1.0\n"
                                  "def plain(i: Index, x: Array[u32]):\n"
                                  "    x[i] = u32(1)\n";

static kp_program *compile(const char *kernel) {
    kp_program *program = NULL;
    OK(kp_compile(source, &(kp_compile_desc){.kernel = kernel}, &program));
    return program;
}

static void a_program_describes_its_structs(void **state) {
    (void)state;
    kp_program *program = compile("move");
    const kp_struct *s = program->params[1].structure;
    assert_string_equal(s->name, "Particle");
    assert_int_equal(s->size, sizeof(particle));
    assert_int_equal(s->align, 4);
    assert_int_equal(s->field_count, 3);
    assert_string_equal(s->fields[0].type, "vec3");
    assert_int_equal(s->fields[0].components, 3);
    assert_int_equal(s->fields[1].offset, offsetof(particle, id));
    assert_int_equal(s->fields[2].offset, offsetof(particle, mass));
    assert_int_equal(program->params[2].kind, KP_PARAM_UNIFORM);
    assert_int_equal(program->params[2].size, sizeof(settings));
    assert_int_equal(program->params[3].kind, KP_PARAM_CONSTANT);
    assert_int_equal(program->push_size, sizeof(settings));
    kp_program_destroy(program);
}

static void structs_and_uniforms_reach_the_kernel(void **state) {
    kp_manager *mgr = *state;
    kp_program *program = compile("move");
    const particle start[2] = {{{1, 2, 3}, 7, 9}, {{4, 5, 6}, 8, 9}};
    const settings uniform = {2, {0, 0, 0}}, push = {0, {1, 1, 1}};
    kp_tensor *p = NULL, *raw = NULL, *s = NULL, *part = NULL;
    OK(kp_tensor_create(
        mgr, &(kp_tensor_desc){.structure = program->params[1].structure, .count = 2, .data = start, .label = "p"},
        &p));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.item_size = sizeof(particle), .count = 2, .label = "raw"}, &raw));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.item_size = sizeof uniform, .count = 1, .data = &uniform}, &s));
    assert_int_equal(kp_tensor_bytes(p), sizeof start);
    assert_int_equal(kp_tensor_item_size(p), sizeof(particle));
    assert_int_equal(kp_tensor_dtype(p), KP_U8);
    assert_string_equal(kp_tensor_struct(p)->fields[2].name, "mass");
    assert_null(kp_tensor_struct(raw));
    OK(kp_tensor_view(p, &(kp_tensor_view_desc){.first = 1}, &part));
    assert_int_equal(kp_tensor_bytes(part), sizeof(particle));
    assert_ptr_equal(kp_tensor_data(part), (char *)kp_tensor_data(p) + sizeof(particle));
    kp_algorithm *move = NULL;
    OK(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = program, .memory = LIST(p, s), .memory_count = 2, .push = &push, .push_size = sizeof push},
        &move));
    kp_program_destroy(program);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, LIST(p, s), 2));
    OK(kp_record_dispatch(seq, move, NULL));
    OK(kp_record_sync_local(seq, &p, 1));
    OK(kp_sequence_eval(seq));
    const particle *now = kp_tensor_data(p);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            assert_true(now[i].position[k] == 2 * start[i].position[k] + 1);
        assert_int_equal(now[i].id, start[i].id + 1);
        assert_true(now[i].mass == 9);
    }
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(move);
    kp_tensor_destroy(part);
    kp_tensor_destroy(p);
    kp_tensor_destroy(raw);
    kp_tensor_destroy(s);
}

static void what_does_not_fit_is_refused(void **state) {
    kp_manager *mgr = *state;
    kp_program *move = compile("move"), *other = compile("other"), *plain = compile("plain");
    const kp_struct *structure = move->params[1].structure;
    kp_tensor *p = NULL, *wrong = NULL, *s = NULL, *small = NULL, *refused = NULL, *bytes = NULL;
    kp_algorithm *none = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.structure = structure, .count = 2, .label = "p"}, &p));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.item_size = 24, .count = 2, .label = "wrong"}, &wrong));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.item_size = 16, .count = 1, .label = "s"}, &s));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.item_size = 16, .count = 0, .label = "small"}, &small));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U8, .count = 40, .label = "bytes"}, &bytes));
    kp_field moved[3];
    memcpy(moved, structure->fields, sizeof moved);
    moved[2].offset = 17;
    const kp_struct packed = {.name = "packed", .size = 21, .align = 1, .fields = moved, .field_count = 3};
    kp_tensor *tight = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.structure = &packed, .count = 2, .label = "tight"}, &tight));
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = move, .memory = LIST(tight, s), .memory_count = 2},
                              &none),
          KP_ERROR_TYPE,
          "*parameter 'p' is Array[Particle], tensor 'tight' holds packed: field 'mass' is at byte 17, not "
          "16*align=True*");
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = move, .memory = LIST(wrong, s), .memory_count = 2},
                              &none),
          KP_ERROR_TYPE, "*parameter 'p' is Array[Particle], tensor 'wrong' holds items of 24 bytes");
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = move, .memory = LIST(bytes, s), .memory_count = 2},
                              &none),
          KP_ERROR_TYPE, "*parameter 'p' is Array[Particle], tensor 'bytes' holds u8");
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = other, .memory = &p, .memory_count = 1}, &none),
          KP_ERROR_TYPE, "*tensor 'p' holds Particle: field 'id' is u32, not i32");
    FAILS(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = plain, .memory = &p, .memory_count = 1}, &none),
          KP_ERROR_TYPE, "*parameter 'x' is Array[u32], tensor 'p' holds Particle");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.structure = structure, .count = 1, .fill = moved}, &refused),
          KP_ERROR_ARGUMENT, "*fill is for elements that are numbers");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.structure = structure, .item_size = 24, .count = 1}, &refused),
          KP_ERROR_ARGUMENT, "*item_size is 24, but 'Particle' has 20 bytes");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.structure = &(kp_struct){.size = 4}, .count = 1}, &refused),
          KP_ERROR_ARGUMENT, "*a struct without fields");
    kp_sequence *seq = gpu_sequence(mgr);
    FAILS(kp_record_fill(seq, p, moved), KP_ERROR_TYPE, "*tensor 'p' holds Particle, and a fill is for numbers");
    FAILS(kp_record_copy(seq, LIST(p, bytes), 2), KP_ERROR_TYPE, "*tensor 'p' holds Particle, tensor 'bytes' holds u8");
    FAILS(kp_record_copy(seq, LIST(p, wrong), 2), KP_ERROR_TYPE,
          "*'p' holds Particle, *'wrong' holds items of 24 bytes");
    kp_sequence_destroy(seq);
    kp_program_destroy(move);
    kp_program_destroy(other);
    kp_program_destroy(plain);
    for (size_t i = 0; i < 6; i++)
        kp_tensor_destroy((kp_tensor *[]){p, wrong, s, small, bytes, tight}[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        GPU_BARE(a_program_describes_its_structs),
        GPU_TEST(structs_and_uniforms_reach_the_kernel),
        GPU_TEST(what_does_not_fit_is_refused),
    };
    return gpu_run("structs", tests);
}
