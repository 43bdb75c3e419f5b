/* winner.h - which configuration a sweep chose, and how sure that is
 *
 * The one place that decides it: exports and whatever else needs "the winner"
 * ask here.
 */
#ifndef FA_COORDINATOR_CONCLUSION_WINNER_H
#define FA_COORDINATOR_CONCLUSION_WINNER_H

#include <stddef.h>

struct conclusion;
struct err;
struct report;
struct report_config;
struct store;
struct stored_spec;

struct winner {
    const struct report_config *config; /* of the report */
    const char *shape;    /* where it is the best; NULL: named by the user */
    const char *state;    /* "confirmed", "measured, not confirmed", ... */
    double low_s, high_s; /* interval of the time there; NaN: none */
};

enum {
    WINNER_NONE = 1
};

/* By what was screened, the best configuration at one shape of the report, 0
 * being the headline.  0, or WINNER_NONE when none is correct for every
 * shape, with the reason in 'err'. */
int winner_find(const struct report *report, size_t shape, struct winner *out,
                struct err *err);

/* What its confirmation makes of that: the best of the shape where it beats
 * the baseline, else the baseline.  One that is not done, or is emulated, or
 * was of other shapes, only passes over what turned out wrong. */
void winner_confirm(const struct report *report,
                    const struct conclusion *conclusion, struct winner *winner);

/* Both at once, from the database of the report; 'shape' is a name, NULL for
 * the headline.  0, WINNER_NONE, ERR_INPUT for a shape that the sweep has not,
 * or ERR_STORE */
int winner_load(struct store *store, const struct report *report,
                const char *shape, struct winner *out, struct err *err);

/* The same for the configuration that 'which' means: A=1,B=2 or the first
 * digits of a key; it may wait to be measured.  ERR_INPUT when there is no such
 * configuration, or it was measured and has no valid time. */
int winner_named(const struct report *report, struct stored_spec *stored,
                 const char *which, struct winner *out, struct err *err);

#endif
