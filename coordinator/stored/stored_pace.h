/* stored_pace.h - what a database teaches about the pace of a sweep
 *
 * How long builds and measurements took on its hosts, what these hosts are, and
 * how long its runs took.  Durations of a replay are those of the record; the
 * wall time of its runs is not.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_STORED_PACE_H
#define FA_COORDINATOR_STORED_STORED_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

#define STORED_PACE_RUNS 8

struct stored_pace_host {
    char name[256];
    int64_t slots, gpus; /* 0: none, or not known */
    int64_t builds;      /* by a compiler */
    double build_s;      /* their mean; NaN: none */
};

/* A run that measured configurations. */
struct stored_pace_run {
    int64_t builds, slots; /* on all hosts that built */
    int64_t measurements, gpus;
    double build_s, measure_s; /* all together */
    double start_s;            /* until its first lease */
    double wall_s;             /* from there to its last result */
};

struct stored_pace_kind {
    int64_t n;
    double mean_s, square_s2; /* means; NaN: none */
};

struct stored_pace {
    char device[16];  /* of the newest sweep; "": there is none */
    bool same_space;  /* its sweep file is the one asked about */
    double speed_up;  /* of a replay; 0: none */
    int64_t settled;  /* configurations of the newest sweep */
    double confirm_s; /* proof and confirmation, on average; NaN: none was */
    struct stored_pace_kind build, measure;
    struct stored_pace_run runs[STORED_PACE_RUNS]; /* the newest ones */
    size_t n_runs;
    struct stored_pace_host *hosts;
    size_t n_hosts;
};

/* 'spec' is the text of a sweep file.  Returns 0, and the caller calls
 * stored_pace_fini(); or ERR_STORE. */
int stored_pace_load(struct store *store, const char *spec,
                     struct stored_pace *out, struct err *err);
void stored_pace_fini(struct stored_pace *pace); /* of zeros is fine */

const struct stored_pace_host *stored_pace_find(const struct stored_pace *pace,
                                                const char *name);

#endif
