// bench.h - what the C benchmarks share: a clock, interleaved samples, medians, and a row printed for people or as
// JSON.
//
// A benchmark answers one question by comparing kp with a peer that does the same work in the same run. Samples of the
// two alternate, so that a busy machine slows both; the ratio is the median of the ratios of neighbouring samples, and
// the spread is their lower and upper quartile. Every program takes --json (one JSON object a line), --quick (a tenth
// of the samples) and --rounds N (that many samples).
#ifndef KP_BENCH_BENCH_H
#define KP_BENCH_BENCH_H

#include <kp/kp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a row should reach. Reported, never asserted.
typedef enum bench_limit {
    BENCH_NO_LIMIT,
    BENCH_RATIO_AT_MOST, // kp / peer
    BENCH_RATIO_AT_LEAST,
    BENCH_KP_AT_MOST, // kp's own value, in the row's unit
    BENCH_KP_AT_LEAST,
} bench_limit;

typedef struct bench_row {
    const char *question; // "one recorded dispatch, evaluated"
    const char *peer;     // what kp is compared with; NULL: nothing
    const char *unit;     // "ns", "us", "ms", "s": time of a call; "GB/s": `bytes` over that time; else a plain number
    double bytes;         // moved by one call of kp, for "GB/s"
    double peer_bytes;    // and of the peer; 0: as many
    size_t rounds;        // samples of each side
    size_t repeat;        // calls in a sample; 0: 1
    bench_limit limit;    //
    double value;         // of the limit
} bench_row;

// The thing measured: does it once.
typedef void (*bench_work)(void *context);

// Takes the program's arguments and its name for the rows. Call it first.
void bench_init(const char *name, int argc, char **argv);

// The number after --<name> on the command line, or `otherwise`.
uint64_t bench_option(const char *name, uint64_t otherwise);
bool bench_flag(const char *name);

// `count`, or a tenth of it (at least 3) with --quick.
size_t bench_fewer(size_t count);

// Seconds, monotonic.
double bench_now(void);

// Runs both sides in turn, after one unmeasured sample of each, and prints the row. `peer` may be NULL.
void bench_compare(const bench_row *row, bench_work kp, void *kp_context, bench_work peer, void *peer_context);

// Prints a row from values measured elsewhere: `count` of each, in the row's unit; `peer` may be NULL.
void bench_report(const bench_row *row, const double *kp, const double *peer, size_t count);

// A line for people, left out with --json.
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The middle one of `count` values (the mean of the middle two). Reorders them.
double bench_median(double *values, size_t count);

// Ends the program with kp's words when a call fails.
#define bench_check(call) bench_require((call) == KP_OK, #call)
void bench_require(bool ok, const char *call);

#endif
