// 23 memory: what a manager holds, how it gives back what is idle, a tensor in the program's own memory, and numbers
// that stay readable when all else is gone. The log says what kp chose. You should see
//
//     used: 4096 bytes more by a tensor of 1024 floats
//     idle after a trim: 0 bytes
//     released once: 1
//     still there: 3
// and the log's lines on stderr.

#include "example.h"

static void log_line(void *payload, kp_log_level level, const char *message) {
    (void)payload;
    fprintf(stderr, "%d: %s\n", (int)level, message);
}

static void count(void *payload) { ++*(int *)payload; }

static kp_memory_stats stats_of(const kp_manager *mgr) {
    kp_memory_stats stats;
    check(kp_manager_memory(mgr, &stats));
    return stats;
}

int main(void) {
    enum { COUNT = 16384, BYTES = COUNT * sizeof(float) };
    kp_set_log(log_line, NULL, KP_LOG_INFO);
    kp_manager *mgr;
    kp_tensor *x, *own;
    kp_view *view;
    check(kp_manager_create(NULL, &mgr));

    uint64_t before = stats_of(mgr).used;
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 1024, .memory_type = KP_MEMORY_STORAGE}, &x));
    printf("used: %d bytes more by a tensor of 1024 floats\n", (int)(stats_of(mgr).used - before));
    kp_tensor_destroy(x);
    check(kp_manager_trim(mgr));
    printf("idle after a trim: %d bytes\n", (int)(stats_of(mgr).reserved - stats_of(mgr).used));

    // The program's own pages, where the device can use them; else kp copies them, and says so by releasing them.
    int released = 0;
    float *pages = aligned_alloc(65536, BYTES);
    if (pages == NULL)
        return 1;
    pages[1] = 3;
    check(kp_tensor_create(
        mgr,
        &(kp_tensor_desc){
            .count = COUNT, .data = pages, .import_data = true, .release = count, .release_payload = &released},
        &own));
    check(kp_view_create(own, &view)); // holds the host side, whatever it is
    kp_tensor_destroy(own);
    kp_manager_destroy(mgr);
    float kept = ((const float *)kp_view_data(view))[1];
    kp_view_destroy(view);
    printf("released once: %d\n", released);
    printf("still there: %g\n", (double)kept);
    free(pages);
    return 0;
}
