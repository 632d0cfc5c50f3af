// bench.c - see bench.h. Samples are kept per round and reduced once, at the end.
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *bench_name = "";
static int argument_count;
static char **arguments;

void bench_init(const char *name, int argc, char **argv) {
    bench_name = name;
    argument_count = argc;
    arguments = argv;
}

// Index of --<name> on the command line; 0 when it is not there.
static int find_option(const char *name) {
    for (int i = 1; i < argument_count; i++) {
        if (strncmp(arguments[i], "--", 2) == 0 && strcmp(arguments[i] + 2, name) == 0) {
            return i;
        }
    }
    return 0;
}

bool bench_flag(const char *name) { return find_option(name) != 0; }

uint64_t bench_option(const char *name, uint64_t otherwise) {
    int at = find_option(name);
    return at != 0 && at + 1 < argument_count ? strtoull(arguments[at + 1], NULL, 0) : otherwise;
}

size_t bench_fewer(size_t count) {
    if (!bench_flag("quick")) {
        return count;
    }
    return count < 30 ? 3 : count / 10;
}

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_require(bool ok, const char *call) {
    if (!ok) {
        fprintf(stderr, "%s: %s: %s\n", bench_name, call, kp_last_error());
        exit(EXIT_FAILURE);
    }
}

void bench_note(const char *format, ...) {
    if (bench_flag("json")) {
        return;
    }
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The value below which a share of `q` lies; `sorted` is in order.
static double quantile(const double *sorted, size_t count, double q) {
    double at = q * (double)(count - 1);
    size_t below = (size_t)at;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

double bench_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return quantile(values, count, 0.5);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reports
// ---------------------------------------------------------------------------------------------------------------------

typedef struct summary {
    double kp, peer;         // medians
    double ratio, low, high; // median and quartiles of kp / peer, or of kp alone when there is no peer
} summary;

static summary summarize(const double *kp, const double *peer, size_t count) {
    double *values = malloc(count * sizeof *values);
    bench_require(values != NULL, "malloc");
    summary s = {0};
    memcpy(values, kp, count * sizeof *values);
    s.kp = bench_median(values, count);
    if (peer != NULL) {
        memcpy(values, peer, count * sizeof *values);
        s.peer = bench_median(values, count);
        for (size_t i = 0; i < count; i++) {
            values[i] = kp[i] / peer[i];
        }
        s.ratio = bench_median(values, count);
    }
    s.low = quantile(values, count, 0.25);
    s.high = quantile(values, count, 0.75);
    free(values);
    return s;
}

static const char *const limit_words[] = {"", "ratio <= ", "ratio >= ", "kp <= ", "kp >= "};

static bool is_met(const bench_row *row, const summary *s) {
    switch (row->limit) {
    case BENCH_RATIO_AT_MOST:
        return s->ratio <= row->value;
    case BENCH_RATIO_AT_LEAST:
        return s->ratio >= row->value;
    case BENCH_KP_AT_MOST:
        return s->kp <= row->value;
    case BENCH_KP_AT_LEAST:
        return s->kp >= row->value;
    case BENCH_NO_LIMIT:
        break;
    }
    return true;
}

static void print_json(const bench_row *row, const summary *s, size_t count) {
    printf("{\"bench\": \"%s\", \"question\": \"%s\", \"unit\": \"%s\", \"kp\": %.6g", bench_name, row->question,
           row->unit, s->kp);
    if (row->peer != NULL) {
        printf(", \"peer\": %.6g, \"peer_name\": \"%s\", \"ratio\": %.6g", s->peer, row->peer, s->ratio);
    }
    printf(", \"low\": %.6g, \"high\": %.6g, \"rounds\": %zu", s->low, s->high, count);
    if (row->limit != BENCH_NO_LIMIT) {
        printf(", \"limit\": \"%s%g\", \"met\": %s", limit_words[row->limit], row->value,
               is_met(row, s) ? "true" : "false");
    }
    printf("}\n");
}

static void print_text(const bench_row *row, const summary *s) {
    printf("%s: kp %.4g %s", row->question, s->kp, row->unit);
    if (row->peer != NULL) {
        printf(", %s %.4g %s, ratio %.3g", row->peer, s->peer, row->unit, s->ratio);
    }
    printf(" (%.3g to %.3g)", s->low, s->high);
    if (row->limit != BENCH_NO_LIMIT) {
        printf("; target %s%g: %s", limit_words[row->limit], row->value, is_met(row, s) ? "met" : "MISSED");
    }
    putchar('\n');
}

void bench_report(const bench_row *row, const double *kp, const double *peer, size_t count) {
    summary s = summarize(kp, peer, count);
    if (bench_flag("json")) {
        print_json(row, &s, count);
    } else {
        print_text(row, &s);
    }
    fflush(stdout);
}

// ---------------------------------------------------------------------------------------------------------------------
// Samples
// ---------------------------------------------------------------------------------------------------------------------

// One sample of `work`, in the row's unit.
static double sample(const bench_row *row, double bytes, bench_work work, void *context) {
    size_t repeat = row->repeat != 0 ? row->repeat : 1;
    double start = bench_now();
    for (size_t i = 0; i < repeat; i++) {
        work(context);
    }
    double seconds = (bench_now() - start) / (double)repeat;
    if (strcmp(row->unit, "GB/s") == 0) {
        return bytes / seconds * 1e-9;
    }
    double scale = strcmp(row->unit, "ns") == 0   ? 1e9
                   : strcmp(row->unit, "us") == 0 ? 1e6
                   : strcmp(row->unit, "ms") == 0 ? 1e3
                                                  : 1;
    return seconds * scale;
}

void bench_compare(const bench_row *row, bench_work kp, void *kp_context, bench_work peer, void *peer_context) {
    size_t rounds = bench_option("rounds", bench_fewer(row->rounds));
    double peer_bytes = row->peer_bytes > 0 ? row->peer_bytes : row->bytes;
    double *values = malloc(2 * rounds * sizeof *values);
    bench_require(values != NULL && rounds > 0, "rounds");
    sample(row, row->bytes, kp, kp_context);
    if (peer != NULL) {
        sample(row, peer_bytes, peer, peer_context);
    }
    for (size_t i = 0; i < rounds; i++) {
        // Who goes first alternates too: the second of a pair may find warm caches, or a busier machine.
        if (peer != NULL && i % 2 == 1) {
            values[rounds + i] = sample(row, peer_bytes, peer, peer_context);
        }
        values[i] = sample(row, row->bytes, kp, kp_context);
        if (peer != NULL && i % 2 == 0) {
            values[rounds + i] = sample(row, peer_bytes, peer, peer_context);
        }
    }
    bench_report(row, values, peer != NULL ? values + rounds : NULL, rounds);
    free(values);
}
