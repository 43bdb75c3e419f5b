/* bench.h - the baseline and the winners at each shape, in blocks
 *
 * Winners differ by shape.  So a bench compares the baseline, the winner of the
 * headline and the winner of each of its shapes, all of them at all of these
 * shapes.  The same blocks then show what a shape's own winner gains there, and
 * what it costs at other shapes.  The user may name further configurations.
 *
 * Everything is derived from the conclusion of a pass and from the floors of
 * its report.  No state; any thread.
 */
#ifndef FA_COORDINATOR_CONCLUSION_BENCH_H
#define FA_COORDINATOR_CONCLUSION_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "coordinator/conclusion/winner.h"

struct conclusion;
struct conclusion_shape;
struct confirmation;
struct err;
struct report;
struct report_config;
struct speedup;

struct bench {
    const struct report_config *baseline;
    struct winner headline; /* never the baseline */
    struct winner *own;     /* of each shape; no configuration if that is the
                             * baseline or not known */
    size_t n;
    const struct report_config **named; /* by the user */
    size_t n_named;
};

/* Choose the configurations to compare at these shapes (names, 'n' of them).
 * Texts are borrowed.
 * verdict  of the sweep's confirmation, in any state
 * ERR_INPUT if there are fewer than two. */
int bench_choose(const struct report *report, const struct conclusion *verdict,
                 const char *const *shapes, size_t n, struct bench *out,
                 struct err *err);
/* Add this configuration; no effect if it takes part already. */
void bench_add(struct bench *bench, const struct report_config *config);
void bench_fini(struct bench *bench);

/* Convert to candidates, each once, the baseline first. */
void bench_enter(const struct bench *bench, struct confirmation *confirmation);

/* "baseline", "best at s512, s512_causal", or the first digits of its key; the
 * caller frees it. */
char *bench_name(const struct bench *bench, const struct report_config *config);
/* How certain it is that this is the best there, or "named"; NULL for the
 * baseline. */
const char *bench_state(const struct bench *bench,
                        const struct report_config *config);
/* The winner of a shape; NULL if it has none, or none that takes part. */
const struct winner *bench_own(const struct bench *bench, const char *shape);

/* The speedup of a shape's winner over the headline's, in blocks of that shape.
 * Its interval has the confidence of those over the baseline, which hold for
 * all configurations of the bench together.
 * False if they are the same, or not both measured. */
bool bench_gain(const struct bench *bench, const struct conclusion *conclusion,
                const struct conclusion_shape *shape, struct speedup *out);

/* The result: a table with a row for each configuration at each shape; an
 * object for programs (docs/confirm.md). */
void bench_print(const struct bench *bench, const struct conclusion *conclusion,
                 const struct report *report, FILE *to);
void bench_json(const struct bench *bench, const struct conclusion *conclusion,
                const struct report *report, FILE *to);

#endif
