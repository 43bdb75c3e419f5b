/* winner.h - which configuration a sweep chose, and how sure that is
 *
 * The one place that decides it: exports and whatever else needs "the winner"
 * ask here.
 */
#ifndef FA_COORDINATOR_WINNER_H
#define FA_COORDINATOR_WINNER_H

struct err;
struct report;
struct report_config;
struct stored;

struct winner {
    const struct report_config *config; /* of the report */
    const char *state;    /* "measured, not confirmed", "not measured" */
    double low_s, high_s; /* interval of the headline's time; NaN: none */
};

enum {
    WINNER_NONE = 1
};

/* The best configuration of the headline shape.  0, or WINNER_NONE when none
 * is correct for every shape, with the reason in 'err'. */
int winner_find(const struct report *report, struct winner *out,
                struct err *err);

/* The same for the configuration that 'which' means: A=1,B=2 or the first
 * digits of a key; it may wait to be measured.  ERR_INPUT when there is no such
 * configuration, or it was measured and has no valid time. */
int winner_named(const struct report *report, struct stored *stored,
                 const char *which, struct winner *out, struct err *err);

#endif
