/* bench.h - the baseline and the winners at each shape, in blocks
 *
 * Winners differ by shape.  So a bench compares the baseline, the winner of
 * the headline and the winner of each shape it is about, all of them at all
 * of these shapes: what a shape's own winner gains there, and what it costs
 * elsewhere, is read from the same blocks.  The user may name others to be
 * measured with them.
 *
 * Opinions over a conclusion of a confirmation, and the floors of the report it
 * was loaded with.  No state; any thread.
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
    struct winner *own;     /* of each shape; without a configuration where
                               that is the baseline, or not known */
    size_t n;
    const struct report_config **named; /* by the user */
    size_t n_named;
};

/* Who is to be compared at these shapes, by name, 'n' of them; texts are
 * borrowed.
 * verdict  of the sweep's confirmation, whatever its state
 * ERR_INPUT when there are no two. */
int bench_choose(const struct report *report, const struct conclusion *verdict,
                 const char *const *shapes, size_t n, struct bench *out,
                 struct err *err);
/* Measure this one as well; naming one that takes part anyway changes
 * nothing. */
void bench_add(struct bench *bench, const struct report_config *config);
void bench_fini(struct bench *bench);

/* The same as candidates, each once, the baseline first. */
void bench_enter(const struct bench *bench, struct confirmation *confirmation);

/* "baseline", "best at s512, s512_causal", or the first digits of its key; the
 * caller frees it. */
char *bench_name(const struct bench *bench, const struct report_config *config);
/* How sure it is that this is the best there, or "named"; NULL for the
 * baseline. */
const char *bench_state(const struct bench *bench,
                        const struct report_config *config);
/* The winner of a shape; NULL when it has none, or it is not of the bench. */
const struct winner *bench_own(const struct bench *bench, const char *shape);

/* The winner of a shape over that of the headline, in blocks of that shape:
 * false where the two are one, or were not both measured. */
bool bench_gain(const struct bench *bench, const struct conclusion *conclusion,
                const struct conclusion_shape *shape, struct speedup *out);

/* What came of it: a table with a row for each configuration at each shape;
 * an object for programs (docs/confirm.md). */
void bench_print(const struct bench *bench, const struct conclusion *conclusion,
                 const struct report *report, FILE *to);
void bench_json(const struct bench *bench, const struct conclusion *conclusion,
                const struct report *report, FILE *to);

#endif
