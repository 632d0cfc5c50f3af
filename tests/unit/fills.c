// kp_param.fills: said of buffers that each invocation overwrites, and of no others.
#include "test.h"

#include <kp/compiler.h>

static bool fills(const char *body) {
    char source[1024];
    snprintf(source, sizeof source,
             "def helper(x: f32):\n    return x + 1.0\n\n\n"
             "def k(i: Index, n: i32, a: Array[f32], out: Array[f32]):\n%s",
             body);
    kp_program *program;
    assert_ok(kp_compile(source, NULL, &program));
    bool answer = program->params[3].fills;
    assert_false(program->params[0].fills || program->params[1].fills || program->params[2].fills);
    kp_program_destroy(program);
    return answer;
}

static void test_buffers_that_are_overwritten(void **state) {
    (void)state;
    assert_true(fills("    out[i] = a[i]\n"));
    assert_true(fills("    x = out[i] = helper(a[i])\n"));
    assert_true(fills("    total = 0.0\n    for k in range(n):\n        if k == 3:\n            break\n"
                      "        total += a[k]\n    out[i] = total\n"));
    assert_true(fills("    out[i] = a[i]\n    if i < n:\n        return\n    out[0] = 2.0\n"));
    assert_true(fills("    if i < n:\n        out[0] = 1.0\n    out[i] = a[i]\n"));
}

static void test_buffers_that_keep_something(void **state) {
    (void)state;
    assert_false(fills("    pass\n"));
    assert_false(fills("    out[i] += a[i]\n"));
    assert_false(fills("    out[i] = out[i] + 1.0\n"));
    assert_false(fills("    if i < n:\n        out[i] = a[i]\n"));
    assert_false(fills("    if i < n:\n        out[i] = 1.0\n    else:\n        out[0] = 2.0\n"));
    assert_false(fills("    if i < n:\n        return\n    out[i] = a[i]\n"));
    assert_false(
        fills("    for k in range(n):\n        while k < 3:\n            if a[k] > 1.0:\n                return\n"
              "            k += 1\n    out[i] = a[i]\n"));
    assert_false(fills("    for k in range(n):\n        pass\n    else:\n        return\n    out[i] = a[i]\n"));
    assert_false(fills("    return\n    out[i] = a[i]\n"));
    assert_false(fills("    for k in range(n):\n        out[i] = a[k]\n"));
    assert_false(fills("    out[i + 1] = a[i]\n"));
    assert_false(fills("    out[n] = a[i]\n"));
    assert_false(fills("    i += 1\n    out[i] = a[i]\n"));
    assert_false(fills("    out[i] = a[i]\n    i = 0\n"));
    assert_false(fills("    k = i\n    out[k] = a[k]\n"));
}

static void assert_fills(const char *source, bool wanted) {
    kp_program *program;
    assert_ok(kp_compile(source, NULL, &program));
    if (program->params[1].fills != wanted)
        fail_msg("%s fills %d", source, program->params[1].fills);
    kp_program_destroy(program);
}

static void test_views_images_and_elements(void **state) {
    (void)state;
    static const char *const yes[] = {
        "def k(i: Index, out: Array[vec3]):\n    out[i] = vec3(1.0, 2.0, 3.0)\n",
        "def k(i: Index2, out: Array[f32, 2]):\n    out[i.y, i.x] = 1.0\n",
        "def k(i: Index3, out: Array[vec2, 3]):\n    out[i.z, i.y, i.x] = vec2(1.0, 2.0)\n",
        "def k(i: Index, out: Image1D[f32]):\n    out[i] = 1.0\n",
        "def k(at: Index2, out: Image2D[vec4, \"rgba8\"]):\n    write(out, at, vec4(1.0))\n",
        "def k(at: Index3, out: Image3D[i32]):\n    out[at.x, at.y, at.z] = 1\n",
    };
    static const char *const no[] = {
        "@kernel(local_size=64)\ndef k(i: LocalIndex, out: Array[f32]):\n    out[i] = 1.0\n",
        "def k(i: Index2, out: Array[f32]):\n    out[i.x] = 1.0\n",
        "def k(i: Index2, out: Array[f32, 2]):\n    out[i.x, i.y] = 1.0\n",
        "def k(i: Index2, out: Array[f32, 2]):\n    out[i.y, i.y] = 1.0\n",
        "def k(i: Index2, out: Array[f32, 2]):\n    out[i.y, i.x + 1] = 1.0\n",
        "def k(i: Index2, out: Array[f32, 2]):\n    i.x = 0\n    out[i.y, i.x] = 1.0\n",
        "def k(i: Index3, out: Array[f32, 2]):\n    out[i.y, i.x] = 1.0\n",
        "def k(i: Index2, out: Array[f32, 2]):\n    out[i.y, i.x] = 1.0\n    out[0, 0] = out[1, 1]\n",
        "def k(i: Index, out: Array[vec3]):\n    out[i].x = 1.0\n",
        "def k(i: Index, out: Image2D[f32]):\n    out[i, i] = 1.0\n",
        "def k(at: Index2, out: Image2D[f32]):\n    out[at.x, at.x] = 1.0\n",
        "def k(at: Index2, out: Image2D[f32]):\n    out[at] = out[at] + 1.0\n",
        "class P(Struct):\n    a: f64\n    b: f32\n\ndef k(i: Index, out: Array[P]):\n    out[i] = P(1.0, 2.0)\n",
    };
    for (size_t k = 0; k < sizeof yes / sizeof *yes; k++)
        assert_fills(yes[k], true);
    for (size_t k = 0; k < sizeof no / sizeof *no; k++)
        assert_fills(no[k], false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_that_are_overwritten),
        cmocka_unit_test(test_buffers_that_keep_something),
        cmocka_unit_test(test_views_images_and_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
