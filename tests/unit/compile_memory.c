// What a compile takes of memory, counted at base/alloc.h, whose place this file takes: bytes, not times, so that the
// answer is the same everywhere. What counts is what was written to, since the system gives nothing else: kernels of
// ten times as many lines need ten times as much, and no line needs a lot.
#include "test.h"

#include "base/alloc.h"

#include <kp/compiler.h>

// ---------------------------------------------------------------------------------------------------------------------
// The allocator: each block knows its size, and tells when it is freed how far it was written to
// ---------------------------------------------------------------------------------------------------------------------

typedef union header {
    size_t size;
    max_align_t align;
} header;

enum { UNTOUCHED = 0xDB };

static size_t live;    // blocks in use
static size_t asked;   // bytes of all blocks so far
static size_t written; // ... of those that are freed, up to the last that was written to

void *kp_alloc_new(size_t size) {
    header *block = malloc(sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    live++;
    asked += size;
    return memset(block + 1, UNTOUCHED, size);
}

void *kp_alloc_zero(size_t count, size_t size) {
    void *block = size != 0 && count > SIZE_MAX / 2 / size ? NULL : kp_alloc_new(count * size);
    return block != NULL ? memset(block, 0, count * size) : NULL;
}

void *kp_alloc_resize(void *old, size_t size) {
    void *block = kp_alloc_new(size);
    if (block != NULL && old != NULL) {
        size_t before = ((header *)old - 1)->size;
        memcpy(block, old, before < size ? before : size);
        kp_alloc_free(old);
    }
    return block;
}

char *kp_alloc_text(const char *text) {
    char *copy = text != NULL ? kp_alloc_new(strlen(text) + 1) : NULL;
    return copy != NULL ? strcpy(copy, text) : NULL;
}

void kp_alloc_free(void *block) {
    if (block == NULL)
        return;
    const unsigned char *bytes = block;
    size_t size = ((header *)block - 1)->size;
    while (size > 0 && bytes[size - 1] == UNTOUCHED)
        size--;
    live--;
    written += size;
    free((header *)block - 1);
}

void kp_alloc_fail_at(size_t n) { (void)n; }

// ---------------------------------------------------------------------------------------------------------------------
// Kernels, whose lines are all as long
// ---------------------------------------------------------------------------------------------------------------------

enum { FEW = 500, MANY = 5000, LINE_ROOM = 100 };

typedef void write_fn(char *text, int lines);

// Assignments to new names, loops and branches.
static void write_statements(char *text, int lines) {
    static const char *const forms[] = {
        "    v%05d = v%05d * 0.5 + a[i + %5d]\n", "    for k%05d in range(3):  # %05d %d\n",
        "        v%05d += a[k%05d] * %5d.0\n",    "    if v%05d > a[0]:  # %05d %d\n",
        "        v%05d = max(v%05d, %5d.5)\n",
    };
    text += sprintf(text, "def statements(i: Index, a: Array[f32]):\n    v00000 = a[i]\n");
    for (int n = 0, v = 0; n < lines; n++) {
        int form = n % 5;
        v += form == 0;
        const int numbers[5][3] = {{v, v - 1, n}, {n, 0, 0}, {v, n - 1, n}, {v, 0, 0}, {v, v, n}};
        text += sprintf(text, forms[form], numbers[form][0], numbers[form][1], numbers[form][2]);
    }
    sprintf(text, "    a[i] = v00000\n");
}

// One line after the other, dense: as many tokens as a text has.
static void write_sums(char *text, int lines) {
    text += sprintf(text, "def sums(i: Index, a: Array[f32]):\n    x=y=z=a[i]\n");
    for (int n = 0; n < lines; n++)
        text += sprintf(text, "    x=y*z+x-y*x+z*z-x*y;y=x*y+z-(x+y*z)*(x-z)\n");
    sprintf(text, "    a[i]=x+y\n");
}

// Functions of five lines, and a call of each.
static void write_helpers(char *text, int lines) {
    for (int n = 0; n < lines / 5; n++) {
        text += sprintf(text, "def f%05d(x, y):\n    if x > y:\n        return x - y\n    return y * x\n", n);
    }
    text += sprintf(text, "def helpers(i: Index, a: Array[f32]):\n    v = a[i]\n");
    for (int n = 0; n < lines / 5; n++)
        text += sprintf(text, "    v = f%05d(v, a[0])\n", n);
    sprintf(text, "    a[i] = v\n");
}

// Ways out of one loop, each past more locals than the one before.
static void write_exits(char *text, int lines) {
    text += sprintf(text, "def exits(i: Index, a: Array[f32]):\n    v = a[i]\n    while v > 0:\n");
    for (int n = 0; n < lines / 3; n++)
        text += sprintf(text, "        w%05d = v + 1.0\n        if w%05d > v:\n            break\n", n, n);
    sprintf(text, "    a[i] = v\n");
}

static void write_prints(char *text, int lines) {
    text += sprintf(text, "def prints(i: Index, a: Array[f32]):\n    v = a[i]\n");
    for (int n = 0; n < lines; n++)
        text += sprintf(text, n % 2 == 0 ? "    print('value %05d', v)\n" : "    assert v > 0, 'value %05d'\n", n);
    sprintf(text, "    a[i] = v\n");
}

// Names from outside of the kernel, each another constant.
static void write_constants(char *text, int lines) {
    for (int n = 0; n < lines / 2; n++)
        text += sprintf(text, "C%05d = %5d.25\n", n, n);
    text += sprintf(text, "def constants(i: Index, a: Array[f32]):\n    v = a[i]\n");
    for (int n = 0; n < lines / 2; n++)
        text += sprintf(text, "    v += C%05d * %5d.75\n", n, n);
    sprintf(text, "    a[i] = v\n");
}

// Bytes written to, in compiling so many lines; no more than three times as many may be asked for.
static size_t measure(write_fn *write, int lines) {
    char *text = malloc((size_t)(lines + 8) * LINE_ROOM);
    assert_non_null(text);
    write(text, lines);
    asked = written = 0;
    kp_program *program;
    assert_ok(kp_compile(text, NULL, &program));
    kp_program_destroy(program);
    free(text);
    assert_int_equal(live, 0);
    if (asked > 3 * written)
        fail_msg("%d lines ask for %zu bytes, but write to %zu", lines, asked, written);
    return written;
}

static void check(write_fn *write, size_t most_a_line) {
    size_t few = measure(write, FEW), many = measure(write, MANY);
    if (many > few * (MANY / FEW) * 11 / 10)
        fail_msg("%d lines take %zu bytes, but %d take %zu, which is %.1f times as much", FEW, few, MANY, many,
                 (double)many / (double)few);
    if (many > MANY * most_a_line)
        fail_msg("%d lines take %zu bytes, which is %zu a line", MANY, many, many / MANY);
}

static void test_statements(void **state) {
    (void)state;
    check(write_statements, 1500);
}

static void test_dense_lines(void **state) {
    (void)state;
    check(write_sums, 5400);
}

static void test_functions(void **state) {
    (void)state;
    check(write_helpers, 1100);
}

static void test_exits_of_a_loop(void **state) {
    (void)state;
    check(write_exits, 800);
}

static void test_prints(void **state) {
    (void)state;
    check(write_prints, 1300);
}

static void test_constants(void **state) {
    (void)state;
    check(write_constants, 800);
}

static void test_nothing_is_left_after_an_error(void **state) {
    (void)state;
    kp_program *program;
    assert_int_equal(kp_compile("def f(i: Index, a: Array[f32]):\n    a[i] = b\n", NULL, &program), KP_ERROR_COMPILE);
    assert_int_equal(live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_dense_lines),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_exits_of_a_loop),
        cmocka_unit_test(test_prints),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_nothing_is_left_after_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
