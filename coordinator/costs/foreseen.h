/* foreseen.h - what sweeps were thought to take, and what they took
 *
 * Each sweep or resume stores its estimate when it begins (forecast.h).  What
 * it took is the time until its last run ended or, while it runs or if it was
 * killed, until the last moment for which a host is known to have been held;
 * and the dollars of the hosts that it held for search, proof and confirmation.
 */
#ifndef FA_COORDINATOR_COSTS_FORESEEN_H
#define FA_COORDINATOR_COSTS_FORESEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

struct foreseen_range {
    double low, likely, high; /* NaN: it was not estimated */
};

struct foreseen_command {
    int64_t begun_utc;
    char from[32]; /* where the estimate came from */
    struct foreseen_range wall_s, usd;
    double took_s, took_usd; /* so far; dollars are NaN if unpriced */
    double held_s;           /* of all hosts */
    bool ended;              /* all it had to do was done */
};

struct foreseen {
    struct foreseen_command *list; /* in the order of time */
    size_t n;
};

/* Returns 0, and the caller calls foreseen_fini(); or ERR_STORE. */
int foreseen_load(struct store *store, struct foreseen *out, struct err *err);
void foreseen_fini(struct foreseen *foreseen); /* of zeros is fine */

/* The newest command; one that had nothing left to do only if there is no
 * other. NULL if there is none.  It points into 'foreseen'. */
const struct foreseen_command *foreseen_newest(const struct foreseen *foreseen);

/* Is that within the range?  false without one. */
bool foreseen_holds(const struct foreseen_range *range, double took);

#endif
