/* run_settings.h - the flags of the commands that use hosts
 *
 * One table has each flag once: its name, the commands that take it, and its
 * help text for each.  A command adds flags of its own.
 *
 * Pure, except for printing the help; any thread.
 */
#ifndef FA_COORDINATOR_TASKS_RUN_SETTINGS_H
#define FA_COORDINATOR_TASKS_RUN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/reactor/sweep.h"
#include "coordinator/spec/gpu_arch.h"

struct err;
struct option;
struct options;

enum run_kind {
    RUN_SWEEP,
    RUN_RESUME,
    RUN_CONFIRM,
    RUN_BENCH,
    RUN_PROFILE,
    RUN_EXPLAIN,
    RUN_FUZZ,
};

struct run_settings {
    const char *hosts, *db, *device, *arch, *strategy;
    const char *times;  /* a database that taught durations; or NULL */
    const char *effort; /* a word; NULL: that of the database */
    const char *warm;   /* a database or record to begin with, or NULL */
    struct {
        const char *ssh, *listen;
    } reach; /* how hosts are reached; listen: NULL unless given */
    struct {
        const char *log, *metrics, *on_event;
    } told;  /* who is told while it runs; or NULL */
    struct { /* of a replay, otherwise NULL */
        const char *record, *cards;
        double speed_up; /* below 0: not given */
    };
    bool accept_new_host_keys, dry_run, fresh, json, quiet;
    double budget_usd, max_hours;
    int64_t linger_s;
    struct {
        int64_t seed, evaluations, in_flight;
    } search; /* of a strategy; -1: not given */
    struct {
        const char *plan; /* which ones are worth it, as a word */
        const char *arch; /* by --arch; NULL: it was not given */
    } rented;             /* hosts */
};

#define RUN_SETTINGS                                                  \
    {                                                                 \
        .reach = { .ssh = "auto" }, .arch = GPU_ARCH_DEFAULT,         \
        .linger_s = SWEEP_LINGER_S, .rented = { .plan = "balanced" }, \
        .effort = "normal", .search = { -1, -1, -1 }, .speed_up = -1  \
    }

#define RUN_FLAGS_MAX 40

/* Copy the rows of the table that a command takes to 'out', [RUN_FLAGS_MAX].
 * Their values go into 'set'. Returns how many. */
size_t run_settings_flags(struct run_settings *set, enum run_kind kind,
                          struct option *out);

/* options_parse() for a command: its own flags in 'own', then those of this
 * table.  '--strategy help' prints help too. */
int run_settings_parse(struct run_settings *set, enum run_kind kind,
                       const struct options *own, int argc, char *argv[],
                       struct err *err);

/* Check the settings as far as they can be checked alone.  Splits 'replay=FILE'
 * into device and record.  ERR_INPUT */
int run_settings_check(struct run_settings *set, bool runs_kernels,
                       struct err *err);

/* suggest_ending() for the kinds of device. */
const char *run_settings_device_ending(const char *word, char *out);

#endif
