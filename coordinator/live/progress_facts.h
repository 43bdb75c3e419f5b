/* progress_facts.h - what is shown of a sweep while it runs
 *
 * Made by the coordinator from what it knows (coordinator/state), and by
 * 'watch' from the database (coordinator/inspect).  Texts are borrowed.
 */
#ifndef FA_COORDINATOR_LIVE_PROGRESS_FACTS_H
#define FA_COORDINATOR_LIVE_PROGRESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/estimate/estimate.h"

enum progress_kind {
    PROGRESS_TRIED,    /* configurations (tally.h) */
    PROGRESS_CHECKED,  /* the same, at shapes of their own: no time counts */
    PROGRESS_BUILT,    /* builds alone; 'correct' are those built */
    PROGRESS_MEASURED, /* measurements of blocks */
};

enum progress_lane_state {
    PROGRESS_LANE_AWAY,  /* not connected yet, or no more */
    PROGRESS_LANE_WAITS, /* for another sweep: 'text' says whose */
    PROGRESS_LANE_SETUP, /* connected, not ready */
    PROGRESS_LANE_IDLE,  /* measures nothing */
    PROGRESS_LANE_MEASURES /* 'text' */,
    PROGRESS_LANE_LOST,   /* silent */
    PROGRESS_LANE_FAILED, /* not used any more: 'text' says why */
};

/* A GPU, or a host whose GPUs are not known. */
struct progress_lane {
    const char *host;
    int gpu; /* its number on the host; -1: none, or not known */
    enum progress_lane_state state;
    int building;      /* builds that run on the host, at its first lane */
    const char *key;   /* of what it measures */
    const char *text;  /* its tunables; or see 'state' */
    double measured_s; /* so far */
};

/* The fastest configuration so far, at the headline shape. */
struct progress_best {
    double s;          /* NaN: none is correct yet */
    double baseline_s; /* NaN: it has no time */
    const char *text;  /* its tunables */
};

struct progress_money {
    double usd;       /* spent; NaN when no host has a price */
    double usd_per_h; /* of the hosts in use that have one */
    int unpriced;     /* hosts without one */
};

struct progress_facts {
    const char *name;
    enum progress_kind kind;
    int total;    /* of that kind, asked for */
    int settled;  /* have an end */
    int correct;  /* of these */
    int building; /* leases out */
    int measuring;
    int hosts_ready, hosts; /* 0 hosts: the sweep has ended */
    double elapsed_s;
    struct estimate_range left_s; /* NaN: not known */
    double cap_s;                 /* until a cap ends it; 0: no cap */
    struct progress_best best;
    struct progress_money money;
    const struct progress_lane *lanes;
    size_t n_lanes;
};

#endif
