// transfer.c - how fast do 256 MiB go to the device and back? On what lies in the host side already (kp's own staging
// memory, and the program's memory imported), and on what has to be copied there first, as from any array. The peer is
// CUDA's driver, where there is one: a copy of pinned memory for the first kind, of pageable memory for the second.
// Without CUDA the peer is memcpy.
#include "bench.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct side {
    kp_tensor *tensor;
    kp_sequence *up, *down;
    void *array; // NULL: what lies in the host side moves; else this does
    size_t bytes;
} side;

typedef struct cuda {
    int (*to_device)(uint64_t, const void *, size_t);
    int (*to_host)(void *, uint64_t, size_t);
    uint64_t device;
    void *host;
    size_t bytes;
} cuda;

static kp_sequence *sequence(kp_manager *mgr, kp_tensor *tensor, bool up) {
    kp_sequence *seq;
    bench_check(kp_sequence_create(mgr, NULL, &seq));
    bench_check((up ? kp_record_sync_device : kp_record_sync_local)(seq, &tensor, 1));
    return seq;
}

static void make(kp_manager *mgr, void *array, bool import, size_t bytes, side *out) {
    kp_tensor_desc desc = {.count = bytes / sizeof(float), .data = array, .import_data = import};
    bench_check(kp_tensor_create(mgr, &desc, &out->tensor));
    out->up = sequence(mgr, out->tensor, true);
    out->down = sequence(mgr, out->tensor, false);
    out->array = NULL;
    out->bytes = bytes;
}

static void drop(side *s) {
    kp_sequence_destroy(s->up);
    kp_sequence_destroy(s->down);
    kp_tensor_destroy(s->tensor);
}

static void up(void *context) {
    side *s = context;
    if (s->array != NULL)
        bench_check(kp_tensor_upload(s->tensor, s->array, s->bytes));
    else
        bench_check(kp_sequence_eval(s->up));
}

static void down(void *context) {
    side *s = context;
    if (s->array != NULL)
        bench_check(kp_tensor_download(s->tensor, s->array, s->bytes));
    else
        bench_check(kp_sequence_eval(s->down));
}

static void cuda_up(void *context) {
    cuda *c = context;
    bench_require(c->to_device(c->device, c->host, c->bytes) == 0, "cuMemcpyHtoD");
}

static void cuda_down(void *context) {
    cuda *c = context;
    bench_require(c->to_host(c->host, c->device, c->bytes) == 0, "cuMemcpyDtoH");
}

// Fetches a function of CUDA's driver; C has no pointer for both kinds of things.
static bool fetch(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

// Two ways to copy, pageable memory and pinned. False without CUDA.
static bool open_cuda(void *array, size_t bytes, cuda *pageable, cuda *pinned) {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *),
        (*alloc)(uint64_t *, size_t), (*host)(void **, size_t), gpu = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    if (library == NULL || !fetch(library, "cuInit", &init) || !fetch(library, "cuDeviceGet", &get) ||
        !fetch(library, "cuDevicePrimaryCtxRetain", &retain) || !fetch(library, "cuCtxSetCurrent", &current) ||
        !fetch(library, "cuMemAlloc_v2", &alloc) || !fetch(library, "cuMemAllocHost_v2", &host) ||
        !fetch(library, "cuMemcpyHtoD_v2", &pageable->to_device) ||
        !fetch(library, "cuMemcpyDtoH_v2", &pageable->to_host))
        return false;
    if (init(0) != 0 || get(&gpu, 0) != 0 || retain(&context, gpu) != 0 || current(context) != 0 ||
        alloc(&pageable->device, bytes) != 0)
        return false;
    pageable->bytes = bytes;
    *pinned = *pageable;
    pageable->host = array;
    return host(&pinned->host, bytes) == 0;
}

typedef struct plain {
    void *from, *to;
    size_t bytes;
} plain;

static void copy(void *context) {
    plain *p = context;
    memcpy(p->to, p->from, p->bytes);
}

static void compare(const char *question, side *s, bool upwards, cuda *c, const char *peer, plain *p, double target) {
    bench_row row = {.question = question,
                     .peer = c != NULL ? peer : "memcpy",
                     .unit = "GB/s",
                     .bytes = (double)s->bytes,
                     .rounds = bench_fewer(30),
                     .limit = c != NULL ? BENCH_RATIO_AT_LEAST : BENCH_NO_LIMIT,
                     .value = target};
    bench_compare(&row, upwards ? up : down, s,
                  c == NULL ? copy
                  : upwards ? cuda_up
                            : cuda_down,
                  c != NULL ? (void *)c : (void *)p);
}

int main(int argc, char **argv) {
    bench_init("transfer", argc, argv);
    size_t bytes = (size_t)bench_option("mib", 256) << 20;
    kp_manager *mgr;
    bench_check(kp_manager_create(&(kp_manager_desc){.unified = KP_OFF}, &mgr));
    void *array = aligned_alloc(1 << 21, bytes), *other = aligned_alloc(1 << 21, bytes);
    bench_require(array != NULL && other != NULL, "aligned_alloc");
    memset(array, 1, bytes);
    memset(other, 1, bytes);
    cuda pageable = {0}, pinned = {0};
    bool has_cuda = open_cuda(other, bytes, &pageable, &pinned);
    plain p = {array, other, bytes};
    side own, imported;
    make(mgr, array, false, bytes, &own);
    make(mgr, array, true, bytes, &imported);
    bench_note("imported: %s", kp_tensor_data(imported.tensor) == array ? "yes" : "no, copied");
    cuda *fast = has_cuda ? &pinned : NULL, *slow = has_cuda ? &pageable : NULL;
    compare("up, what lies in the host side", &own, true, fast, "CUDA, pinned", &p, 0.9);
    compare("down, to the host side", &own, false, fast, "CUDA, pinned", &p, 0.9);
    compare("up, imported memory", &imported, true, fast, "CUDA, pinned", &p, 0.9);
    compare("down, imported memory", &imported, false, fast, "CUDA, pinned", &p, 0.9);
    own.array = array;
    compare("up, from an array", &own, true, slow, "CUDA, pageable", &p, 1.5);
    compare("down, to an array", &own, false, slow, "CUDA, pageable", &p, 1.5);
    drop(&own);
    drop(&imported);
    kp_manager_destroy(mgr);
    free(array);
    free(other);
    return 0;
}
