// manager.c - what does a manager add to what the driver takes for an instance and a device?
//
// Each sample is a fresh process that has not touched Vulkan before, as in a program that starts up; it makes the one
// or the other and reports how long that took.
#include "bench.h"
#include "raw.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void create_manager(void) {
    kp_manager *manager;
    bench_check(kp_manager_create(NULL, &manager));
}

static void create_raw(void) {
    raw vk;
    raw_open(&vk);
}

// Milliseconds that `work` takes in a process of its own. It ends without taking anything down: the kernel does.
static double in_child(void (*work)(void)) {
    int ends[2];
    bench_require(pipe(ends) == 0, "pipe");
    pid_t child = fork();
    bench_require(child >= 0, "fork");
    if (child == 0) {
        double start = bench_now();
        work();
        double taken = 1e3 * (bench_now() - start);
        _exit(write(ends[1], &taken, sizeof taken) == sizeof taken ? 0 : 1);
    }
    close(ends[1]);
    double taken;
    ssize_t got = read(ends[0], &taken, sizeof taken);
    close(ends[0]);
    waitpid(child, NULL, 0);
    bench_require(got == sizeof taken, "a child's answer");
    return taken;
}

int main(int argc, char **argv) {
    bench_init("manager", argc, argv);
    size_t rounds = bench_option("rounds", bench_fewer(60));
    double *kp = calloc(rounds, sizeof *kp), *peer = calloc(rounds, sizeof *peer);
    bench_require(kp != NULL && peer != NULL, "calloc");
    in_child(create_manager);
    in_child(create_raw);
    for (size_t i = 0; i < rounds; i++) {
        if (i % 2 == 1) {
            peer[i] = in_child(create_raw);
        }
        kp[i] = in_child(create_manager);
        if (i % 2 == 0) {
            peer[i] = in_child(create_raw);
        }
    }
    bench_report(&(bench_row){.question = "a manager, in a fresh process",
                              .peer = "instance and device by hand",
                              .unit = "ms",
                              .limit = BENCH_RATIO_AT_MOST,
                              .value = 1.1},
                 kp, peer, rounds);
    free(kp);
    free(peer);
    return 0;
}
