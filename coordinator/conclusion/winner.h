/* winner.h - the configuration that a sweep chose, and how certain it is
 *
 * Only this module decides it.  Exports and all others that need the winner ask
 * here.
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
    const char *shape;    /* where it is the best, or OBJECTIVE_GEOMEAN
                           * (objective.h); NULL: named by the user */
    int at;               /* of that shape in the report, or OBJECTIVE_ALL */
    const char *state;    /* "confirmed", "measured, not confirmed", ... */
    double low_s, high_s; /* interval of the time there; NaN: none */
};

enum {
    WINNER_NONE = 1
};

/* The best configuration by screening times at one shape of the report, or over
 * all (report_objective.h).  Returns 0, or WINNER_NONE with the reason in 'err'
 * if no configuration is correct for every shape. */
int winner_find(const struct report *report, int shape, struct winner *out,
                struct err *err);

/* Apply the confirmation: the winner is the best of the shape if it beats the
 * baseline, otherwise the baseline.  If the confirmation is incomplete,
 * emulated or for other shapes, nothing changes: what it found wrong has no
 * rank in the report (stored_refuted.h). */
void winner_confirm(const struct conclusion *conclusion, struct winner *winner);

/* The index of the shape with this name.  ERR_INPUT if there is none. */
int winner_shape(const struct report *report, const char *name, size_t *out,
                 struct err *err);

/* Both steps, from the database of the report.  'shape' is a name, or NULL for
 * the objective of the sweep.  Returns 0, WINNER_NONE, ERR_INPUT for a shape
 * that the sweep does not have, or ERR_STORE. */
int winner_load(struct store *store, const struct report *report,
                const char *shape, struct winner *out, struct err *err);

/* The same for the configuration that 'which' names: A=1,B=2 or the first
 * digits of a key.  It may be unmeasured.  ERR_INPUT if there is no such
 * configuration, or it was measured and has no valid time. */
int winner_named(const struct report *report, struct stored_spec *stored,
                 const char *which, struct winner *out, struct err *err);

#endif
