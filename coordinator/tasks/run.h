/* run.h - what the commands share that put hosts to work: sweep, resume,
 * confirm, bench, profile, fuzz (in run.c, where nothing else is said) */
#ifndef FA_COORDINATOR_TASKS_RUN_H
#define FA_COORDINATOR_TASKS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/store/past_runs.h"
#include "coordinator/tasks/run_settings.h"

struct err;
struct fuzz;
struct plan_ask;
struct replay;
struct space;
struct spec;

struct run {
    struct run_settings set;
    char *sweep;       /* path of the sweep file; NULL: that of the record */
    bool runs_kernels; /* so that no record can answer */
    char *db;
    char *was_device, *was_hosts; /* resume: what the database says */
    char *was_record, *was_cards;
    char *was_strategy;
    bool was_searched; /* 'search_settings' are those of the database */
    struct search_settings search_settings;
    char was_arch[PAST_RUNS_ARCH_BYTES];
    char *hosts_file; /* absolute, "" for this machine alone */
    struct spec *spec;
    struct replay *replay; /* NULL: kernels are run */
    struct hosts hosts;
    int64_t began_ns; /* the command: caps count all of its passes */
};

/* What a command does, within run_command(): its exit code. */
typedef int run_work(struct run *run, void *arg);

/* Check the settings, read the sweep file and the hosts, then do the work,
 * then free all that 'run' holds.  Returns the exit code of the program: that
 * of 'work', or of what was wrong, which has been printed. */
int run_command(struct run *run, run_work *work, void *arg);

/* The end of a command that takes up a database: recall what run->db says of
 * its sweep, file, hosts and device, where the settings say nothing, and then
 * run_command().
 * rc  what came of the flags and of finding run->db: 0, OPTIONS_HELP, or an
 *     error, which is printed */
int run_by_db(struct run *run, int rc, struct err *err, run_work *work,
              void *arg);

/* Of a run that ended with 'code': what the user types to go on, if so. */
void run_say_how_to_go_on(const struct run *run, int code, const char *command);

/* The work of sweep and resume: all passes (in cmd_sweep.c). */
run_work run_sweep;

/* From within 'work': sweep_run() over run->db, with the settings put into
 * 'options'.  Returns its exit code; an error has been printed. */
int run_engine(struct run *run, const struct sweep_options *options,
               struct err *err);

/* The database of what fuzz finds, for the caller to free: of X.db it is
 * X.fuzz.db. */
char *run_fuzz_path(const char *db);
/* Likewise: prove what is asked for right, over that database.  'out' is what
 * came of it, for the caller to fuzz_fini(), when 'judged' is set; 'usd_before'
 * is spent already of a budget (in run_fuzz.c). */
int run_fuzz(struct run *run, const struct plan_ask *ask, double usd_before,
             struct fuzz *out, bool *judged);
/* run_record.c.  The record, and its sweep file. */
int run_load_record(struct run *run, struct err *err);
/* What the settings of a stored sweep say of its record, if it has one. */
void run_recall_record(struct run *run, const char *settings);
/* run_search.c: --strategy, --evaluations and --seed, over what the database of
 * a resumed sweep says, over the sweep file. */
int run_terms(struct run *run, struct err *err);
/* What would be searched, for --dry-run. */
int run_print_search(const struct run *run, const struct space *space,
                     int64_t passed, struct err *err);

#endif
