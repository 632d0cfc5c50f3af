// 19 large arrays: a tensor without a host side, filled from an array of the program's and read into another. The copy
// goes in pieces through memory that the device reads, several threads at work while the device copies the piece
// before. You should see the speed, and
//
//     right: 16777216 of 16777216

#include "example.h"

#include <time.h>

enum { COUNT = 1 << 24 };

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
    uint32_t *in = malloc(COUNT * sizeof *in), *out = calloc(COUNT, sizeof *out);
    if (!in || !out)
        return 1;
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = 3 * i;

    kp_manager *mgr;
    kp_tensor *x;
    check(kp_manager_create(NULL, &mgr));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT, .memory_type = KP_MEMORY_STORAGE},
                           &x));
    double start = now();
    check(kp_tensor_upload(x, in, COUNT * sizeof *in));
    double middle = now();
    check(kp_tensor_download(x, out, COUNT * sizeof *out));
    double end = now();

    const double gigabytes = 1e-9 * COUNT * sizeof *in;
    printf("up %.1f GB/s, down %.1f GB/s\n", gigabytes / (middle - start), gigabytes / (end - middle));
    uint32_t right = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        right += out[i] == 3 * i;
    printf("right: %u of %u\n", (unsigned)right, (unsigned)COUNT);

    kp_tensor_destroy(x);
    kp_manager_destroy(mgr);
    free(in);
    free(out);
    return 0;
}
