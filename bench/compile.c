// compile.c - how long does a kernel take from text to SPIR-V? The peer is shaderc on GLSL that says the same, when its
// library is there. The kernels are the article's two, in the words in which Python hands them over. Then: does a
// kernel of 5,000 lines take more than ten of 500? The compiler's instructions are as many, but it needs ten times the
// memory.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char multiply_kernel[] = "def compute_multiply(index=(\"input\", \"GlobalInvocationId\", ps.ivec3),\n"
                                      "                     data1=(\"buffer\", 0, ps.Array(ps.f32)),\n"
                                      "                     data2=(\"buffer\", 1, ps.Array(ps.f32)),\n"
                                      "                     data3=(\"buffer\", 2, ps.Array(ps.f32))):\n"
                                      "    i = index.x\n"
                                      "    data3[i] = data1[i] * data2[i]\n";

static const char multiply_glsl[] = "#version 450\n"
                                    "layout(local_size_x = 1) in;\n"
                                    "layout(binding = 0) readonly buffer A { float data1[]; };\n"
                                    "layout(binding = 1) readonly buffer B { float data2[]; };\n"
                                    "layout(binding = 2) writeonly buffer C { float data3[]; };\n"
                                    "void main() {\n"
                                    "    uint i = gl_GlobalInvocationID.x;\n"
                                    "    data3[i] = data1[i] * data2[i];\n"
                                    "}\n";

static const char logistic_kernel[] =
    "def compute_gradients(index=(\"input\", \"GlobalInvocationId\", ps.ivec3),\n"
    "                      x_i=(\"buffer\", 0, ps.Array(ps.f32)),\n"
    "                      x_j=(\"buffer\", 1, ps.Array(ps.f32)),\n"
    "                      y=(\"buffer\", 2, ps.Array(ps.f32)),\n"
    "                      w_in=(\"buffer\", 3, ps.Array(ps.f32)),\n"
    "                      w_out_i=(\"buffer\", 4, ps.Array(ps.f32)),\n"
    "                      w_out_j=(\"buffer\", 5, ps.Array(ps.f32)),\n"
    "                      b_in=(\"buffer\", 6, ps.Array(ps.f32)),\n"
    "                      b_out=(\"buffer\", 7, ps.Array(ps.f32)),\n"
    "                      l_out=(\"buffer\", 8, ps.Array(ps.f32)),\n"
    "                      M=(\"buffer\", 9, ps.Array(ps.f32))):\n"
    "    i = index.x\n"
    "    m = M[0]\n"
    "\n"
    "    w_curr = vec2(w_in[0], w_in[1])  # noqa: F821  (a language name; needs no import)\n"
    "    b_curr = b_in[0]\n"
    "    x_curr = vec2(x_i[i], x_j[i])  # noqa: F821\n"
    "    y_curr = y[i]\n"
    "\n"
    "    # predict\n"
    "    z_dot = w_curr @ x_curr\n"
    "    z = z_dot + b_curr\n"
    "    y_hat = 1.0 / (1.0 + exp(-z))  # noqa: F821\n"
    "\n"
    "    # derivatives\n"
    "    d_z = y_hat - y_curr\n"
    "    d_w = (1.0 / m) * x_curr * d_z\n"
    "    d_b = (1.0 / m) * d_z\n"
    "\n"
    "    # log loss\n"
    "    loss = -((y_curr * log(y_hat)) + ((1.0 - y_curr) * log(1.0 - y_hat)))  # noqa: F821\n"
    "\n"
    "    w_out_i[i] = d_w.x\n"
    "    w_out_j[i] = d_w.y\n"
    "    b_out[i] = d_b\n"
    "    l_out[i] = loss\n";

static const char logistic_glsl[] = "#version 450\n"
                                    "layout(local_size_x = 1) in;\n"
                                    "layout(binding = 0) readonly buffer B0 { float x_i[]; };\n"
                                    "layout(binding = 1) readonly buffer B1 { float x_j[]; };\n"
                                    "layout(binding = 2) readonly buffer B2 { float y[]; };\n"
                                    "layout(binding = 3) readonly buffer B3 { float w_in[]; };\n"
                                    "layout(binding = 4) writeonly buffer B4 { float w_out_i[]; };\n"
                                    "layout(binding = 5) writeonly buffer B5 { float w_out_j[]; };\n"
                                    "layout(binding = 6) readonly buffer B6 { float b_in[]; };\n"
                                    "layout(binding = 7) writeonly buffer B7 { float b_out[]; };\n"
                                    "layout(binding = 8) writeonly buffer B8 { float l_out[]; };\n"
                                    "layout(binding = 9) readonly buffer B9 { float M[]; };\n"
                                    "void main() {\n"
                                    "    uint i = gl_GlobalInvocationID.x;\n"
                                    "    float m = M[0];\n"
                                    "    vec2 w_curr = vec2(w_in[0], w_in[1]);\n"
                                    "    float b_curr = b_in[0];\n"
                                    "    vec2 x_curr = vec2(x_i[i], x_j[i]);\n"
                                    "    float y_curr = y[i];\n"
                                    "    float z_dot = dot(w_curr, x_curr);\n"
                                    "    float z = z_dot + b_curr;\n"
                                    "    float y_hat = 1.0 / (1.0 + exp(-z));\n"
                                    "    float d_z = y_hat - y_curr;\n"
                                    "    vec2 d_w = (1.0 / m) * x_curr * d_z;\n"
                                    "    float d_b = (1.0 / m) * d_z;\n"
                                    "    float loss = -((y_curr * log(y_hat)) + ((1.0 - y_curr) * log(1.0 - y_hat)));\n"
                                    "    w_out_i[i] = d_w.x;\n"
                                    "    w_out_j[i] = d_w.y;\n"
                                    "    b_out[i] = d_b;\n"
                                    "    l_out[i] = loss;\n"
                                    "}\n";

static void compile_kernel(void *source) {
    kp_program *program;
    bench_check(kp_compile(source, NULL, &program));
    kp_program_destroy(program);
}

static void compile_glsl(void *source) {
    kp_program *program;
    bench_check(kp_shader_compile(source, strlen(source), NULL, &program));
    kp_program_destroy(program);
}

// A copy, since a context is not const.
static void compare(const char *question, const char *kernel, const char *glsl, double limit) {
    char kernel_text[4096], glsl_text[4096];
    memcpy(kernel_text, kernel, strlen(kernel) + 1);
    memcpy(glsl_text, glsl, strlen(glsl) + 1);

    kp_program *program;
    bool shaderc = kp_shader_compile(glsl, strlen(glsl), NULL, &program) == KP_OK;
    if (shaderc) {
        kp_program_destroy(program);
    } else {
        bench_note("no peer: %s", kp_last_error());
    }
    bench_row row = {.question = question,
                     .peer = shaderc ? "shaderc on GLSL" : NULL,
                     .unit = "us",
                     .rounds = 200,
                     .repeat = shaderc ? 3 : 30,
                     .limit = BENCH_KP_AT_MOST,
                     .value = limit};
    bench_compare(&row, compile_kernel, kernel_text, shaderc ? compile_glsl : NULL, glsl_text);
}

enum { LINES = 5000, LINE_ROOM = 80 };

// `lines` lines of assignments to new names, loops and branches.
static void write_long(char *text, int lines) {
    static const char *const forms[] = {"    v%d = v%d * 0.5 + a[i + %d]\n", "    for k%d in range(3):\n",
                                        "        v%d += a[k%d] * %d.0\n", "    if v%d > a[0]:\n",
                                        "        v%d = max(v%d, %d.5)\n"};
    int used = snprintf(text, LINE_ROOM, "def long(i: Index, a: Array[f32]):\n    v0 = a[i]\n");
    for (int n = 1, v = 0; n < lines; n++) {
        int form = n % 5;
        const int numbers[5][3] = {{v + 1, v, n}, {n, 0, 0}, {v, n - 1, n}, {v, 0, 0}, {v, v, n}};
        used += snprintf(text + used, LINE_ROOM, forms[form], numbers[form][0], numbers[form][1], numbers[form][2]);
        v += form == 0;
    }
    snprintf(text + used, LINE_ROOM, "        a[i] = v0\n    a[i] = v0\n");
}

static void compile_ten(void *source) {
    for (int n = 0; n < 10; n++)
        compile_kernel(source);
}

static void compare_lengths(void) {
    char *long_text = malloc((LINES + 4) * LINE_ROOM), *short_text = malloc((LINES + 4) * LINE_ROOM);
    bench_require(long_text != NULL && short_text != NULL, "memory for the text");
    write_long(long_text, LINES);
    write_long(short_text, LINES / 10);
    const bench_row row = {.question = "a kernel of 5,000 lines",
                           .peer = "ten of 500 lines",
                           .unit = "us",
                           .rounds = 40,
                           .limit = BENCH_RATIO_AT_MOST,
                           .value = 1.5};
    bench_compare(&row, compile_kernel, long_text, compile_ten, short_text);
    free(long_text);
    free(short_text);
}

int main(int argc, char **argv) {
    bench_init("compile", argc, argv);
    compare("multiply, text to SPIR-V", multiply_kernel, multiply_glsl, 60);
    compare("logistic regression, text to SPIR-V", logistic_kernel, logistic_glsl, 150);
    compare_lengths();
    return 0;
}
