/* cmd_run.h - what the commands share that put hosts to work: sweep, resume,
 * confirm, bench, fuzz (in cmd_sweep.c, cmd_search.c, cmd_fuzz.c) */
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
struct fuzz;
struct plan_ask;
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
    int64_t began_ns; /* the command: caps count all of its passes */
};

/* What the database run->db says of its sweep: file, hosts, device; what the
 * settings say already stays (in cmd_resume.c). */
int run_recall(struct run *run, struct err *err);
/* Free all that 'run' holds, where there is no run_command() to do it. */
void run_free(struct run *run);

/* Check the settings, read the sweep file and the hosts, then do the work,
 * then free all that 'run' holds.  Returns the exit code of the program: that
 * of 'work', or of what was wrong, which has been printed. */
int run_command(struct run *run, int (*work)(struct run *, void *), void *arg);

/* The 'work' of sweep and resume: all passes. */
int run_sweep(struct run *run, void *arg);

/* From within 'work': sweep_run() over run->db, with the settings put into
 * 'options'.  Returns its exit code; an error has been printed. */
int run_engine(struct run *run, const struct sweep_options *options,
               struct err *err);

/* The database of what fuzz finds, for the caller to free: of X.db it is
 * X.fuzz.db. */
char *fuzz_path(const char *db);
/* Likewise: prove what is asked for right, over that database.  'out' is what
 * came of it, for the caller to fuzz_fini(), when 'judged' is set; 'usd_before'
 * is spent already of a budget (in cmd_fuzz.c). */
int run_fuzz(struct run *run, const struct plan_ask *ask, double usd_before,
             struct fuzz *out, bool *judged);
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
