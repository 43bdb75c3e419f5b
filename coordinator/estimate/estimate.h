/* estimate.h - how long machines take for an amount of work, and for how much
 *
 * From the times of builds and measurements, as ranges: what was measured in
 * this space errs least, what earlier sweeps took errs more, and defaults are
 * hardly more than limits.  Builds and measurements overlap, so the slower of
 * the two counts; how much longer sweeps took than that ('stretch') is learnt,
 * too.  Nine of ten sweeps shall end within their range
 * (test_estimate_calibration.c).
 *
 * Pure: literals in, literals out.  Times are seconds, prices dollars an hour.
 */
#ifndef FA_COORDINATOR_ESTIMATE_ESTIMATE_H
#define FA_COORDINATOR_ESTIMATE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

enum estimate_source {
    ESTIMATE_THIS_SPACE, /* compiled and measured in part */
    ESTIMATE_EARLIER,    /* another sweep */
    ESTIMATE_DEFAULTS,   /* nothing was measured */
    ESTIMATE_THIS_SWEEP, /* of one that runs: what it did so far */
};

/* "this space, in part", "an earlier sweep", "defaults", "this sweep, so far"
 */
const char *estimate_source_text(enum estimate_source source);

struct estimate_range {
    double low, likely, high;
};

/* Seconds of a build and of a measurement, if none was timed. */
extern const struct estimate_range estimate_default_build,
    estimate_default_measure;

/* It is so narrow that one number says it: within 10 %. */
bool estimate_is_narrow(const struct estimate_range *range);

/* The durations of one kind of work. */
struct estimate_pace {
    double n; /* that were measured; 0: none */
    double mean_s, sd_s;
};

/* The mean duration of what is left; 'pace' has n > 0. */
struct estimate_range estimate_mean(const struct estimate_pace *pace,
                                    double left, enum estimate_source source);

struct estimate_times {
    enum estimate_source source;
    struct estimate_pace build, measure; /* on one core; on one GPU */
    double stretch; /* of earlier runs, over the work alone; 0: not known */
    /* From a command to its first lease; 0: not known */
    struct estimate_range start_s;
    bool is_local;   /* no host is reached over a network */
    double speed_up; /* of a replay, which waits for so much less; 0: none */
};

/* Machines that are alike.  What the hosts file leaves open and no database
 * knows has a range. */
struct estimate_machine {
    const char *name;                  /* of the first; borrowed */
    int count;                         /* in the hosts file */
    struct estimate_range slots, gpus; /* of each; 0: none */
    bool has_rate;
    double rate;
    double build_s; /* of a build here; 0: as everywhere */
    struct {
        bool is;         /* rented, by start= */
        bool comes_late; /* when the builds end */
        double boot_s, min_s, round_s;
    } rental;
};

/* What is paid for a machine that was held for so long: min_bill= at least, and
 * a multiple of round=.  0: without it. */
double estimate_billed_s(double held_s, double min_s, double round_s);

struct estimate_work {
    double builds, measurements;  /* that are left */
    struct estimate_range then_s; /* a confirmation: all machines that measure
                                   * are held, and the builders */
};

struct estimate {
    struct estimate_range build_core_s, measure_gpu_s; /* the work */
    struct estimate_range wall_s;
    struct estimate_range usd; /* of priced ones; NaN if none is */
    size_t machines, priced;
    double usd_per_hour; /* of the priced ones, together */
};

/* What is to be done, where, at what pace. */
struct estimate_problem {
    const struct estimate_machine *machines;
    size_t n;
    struct estimate_times times;
    struct estimate_work work;
};

/* A run, or the part of one that searched: its work, where, and how long that
 * took. */
struct estimate_ran {
    double builds, build_s, slots;
    double measurements, measure_s, gpus;
    double wall_s;
};
/* How much longer it took than its work alone; 0: that is not known. */
double estimate_stretch(const struct estimate_ran *ran);

/* The fleet has counts[i] of machine i; NULL: all.  One that cannot measure
 * what is left, or build it, takes infinitely long. */
void estimate_make(const struct estimate_problem *problem, const int *counts,
                   struct estimate *out);

#endif
