/* cmd_run.h - what the commands share that put hosts to work: sweep, resume,
 * fuzz (in cmd_sweep.c, cmd_search.c) */
#ifndef FA_COORDINATOR_CMD_RUN_H
#define FA_COORDINATOR_CMD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/arch.h"
#include "coordinator/history.h"
#include "coordinator/hosts.h"
#include "coordinator/sweep.h"
#include "coordinator/terms.h"

struct err;
struct replay;
struct space;
struct spec;

/* Flags. */
struct run_settings {
    const char *hosts, *db, *device, *arch, *ssh, *log, *strategy;
    const char *record, *cards; /* of a replay, else NULL */
    double speed_up;            /* 0: not given */
    bool accept_new_host_keys, dry_run, fresh, quiet;
    double budget_usd, max_hours;
    int64_t linger_s;
    int64_t seed, evaluations; /* of a strategy; -1: not given */
};

#define RUN_SETTINGS                                                        \
    {                                                                       \
        .ssh = "libssh2", .arch = ARCH_DEFAULT, .linger_s = SWEEP_LINGER_S, \
        .seed = -1, .evaluations = -1                                       \
    }

struct run {
    struct run_settings set;
    char *sweep;       /* path of the sweep file; NULL: that of the record */
    bool runs_kernels; /* so that no record can answer */
    char *db;
    char *was_device, *was_hosts; /* resume: what the database says */
    char *was_record, *was_cards;
    char *was_strategy;
    bool was_searched; /* 'terms' are those of the database */
    struct terms terms;
    char was_arch[HISTORY_ARCH_BYTES];
    char *hosts_file; /* absolute, "" for this machine alone */
    struct spec *spec;
    struct replay *replay; /* NULL: kernels are run */
    struct hosts hosts;
};

/* Check the settings, read the sweep file and the hosts, then do the work,
 * then free all that 'run' holds.  Returns the exit code of the program: that
 * of 'work', or of what was wrong, which has been printed. */
int run_command(struct run *run, int (*work)(struct run *, void *), void *arg);

/* From within 'work': sweep_run() over run->db, with the settings put into
 * 'options'.  Returns its exit code; an error has been printed. */
int run_engine(struct run *run, const struct sweep_options *options,
               struct err *err);

/* cmd_replay.c.  Read --device replay=FILE and what belongs to it; other
 * devices are left alone. */
int run_choose_record(struct run *run, struct err *err);
/* The record, and its sweep file. */
int run_load_record(struct run *run, struct err *err);
/* What the settings of a stored sweep say of its record, if it has one. */
void run_recall_record(struct run *run, const char *settings);
/* cmd_search.c: --strategy, --evaluations and --seed, over what the database of
 * a resumed sweep says, over the sweep file. */
int run_terms(struct run *run, struct err *err);
/* What would be searched, for --dry-run. */
int run_print_search(const struct run *run, const struct space *space,
                     int64_t passed, struct err *err);
/* '--strategy help': true when the list has been printed. */
bool run_lists_strategies(const struct run_settings *set);

#endif
