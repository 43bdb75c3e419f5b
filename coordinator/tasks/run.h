/* run.h - shared by the commands that use hosts: sweep, resume, confirm, bench,
 * profile, explain --sanitize, fuzz (in run.c unless noted) */
#ifndef FA_COORDINATOR_TASKS_RUN_H
#define FA_COORDINATOR_TASKS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/tasks/run_settings.h"

struct bill;
struct err;
struct fuzz;
struct landscape;
struct on_event;
struct plan_ask;
struct replay;
struct run_rental;
struct said;
struct space;
struct spec;
struct store;

struct run {
    struct run_settings set;
    char *sweep;       /* path of the sweep file; NULL: the record's */
    bool runs_kernels; /* it must run kernels, so a record cannot answer */
    char *db;
    struct { /* resume: from the database */
        char *device, *hosts, *record, *cards, *strategy;
        bool searched; /* 'search_settings' come from there */
        char arch[PAST_RUNS_ARCH_BYTES];
    } was;
    struct search_settings search_settings;
    char *hosts_file; /* absolute; "" for this machine only */
    struct spec *spec;
    struct replay *replay;  /* NULL: kernels really run */
    struct landscape *warm; /* of --warm, or NULL */
    struct hosts hosts;
    int64_t began_ns; /* start of the command: caps cover all of its passes */
    char command[HASH_HEX];    /* of owner.h; drawn */
    struct run_rental *rental; /* run_rental.c; NULL: no host is rented */
    struct on_event *on_event; /* NULL: no command is told */
    struct said *said;         /* what its runs said of the hosts */
    struct {                   /* stored when its database is first opened */
        char *forecast;        /* JSON (forecast.h); NULL: none */
        bool is_stored;
    } begun;
    char *leaves_out;  /* what the effort makes the run leave out, or NULL */
    bool more_follows; /* run_engine() is not the last of this command */
    struct { /* said when its machines are released; NULL: nothing is */
        void (*say)(const struct run *run, int code);
        const char *command; /* that goes on */
    } next;
};

/* The work of a command inside run_command(). Returns its exit code. */
typedef int run_work(struct run *run, void *arg);

/* Check the settings, read the sweep file and the hosts, do the work, and free
 * everything in 'run'. Returns the exit code of the program: that of 'work', or
 * that of an error, which has been printed. */
int run_command(struct run *run, run_work *work, void *arg);

/* The same for a command that continues a database: settings that were not
 * given (sweep, file, hosts, device) come from run->db.
 * rc  result of parsing the flags and finding run->db: 0, OPTIONS_HELP, or an
 *     error, which is printed */
int run_by_db(struct run *run, int rc, struct err *err, run_work *work,
              void *arg);

/* Of a run whose sweep file is read: --db, or NAME.db beside that file; of
 * --hosts FILE#MODEL it is NAME.MODEL.db.  For the caller to free. */
char *run_database(const struct run *run);

run_work run_sweep; /* of sweep and resume: all passes (in cmd_sweep.c) */

/* Inside 'work': sweep_run() over run->db, with the settings added to
 * 'options'. Returns its exit code; an error has been printed. */
int run_engine(struct run *run, const struct sweep_options *options,
               struct err *err);

/* The path of the fuzz database, for the caller to free: X.fuzz.db for X.db. */
char *run_fuzz_path(const char *db);
/* Prove the selected configurations right, over that database (in run_fuzz.c).
 * If 'judged' is set, 'out' has the result (call fuzz_fini()). 'usd_before' is
 * the part of the budget that was spent before, but for proofs. */
int run_fuzz(struct run *run, const struct plan_ask *ask, double usd_before,
             struct fuzz *out, bool *judged);
/* Copy what hosts were held for there, to 'to', the database 'db', to commit,
 * and add it to 'bill', which may be NULL. */
int run_fuzz_bill(const char *db, struct store *to, struct bill *bill,
                  struct err *err);
/* run_slurm.c: correct what nodes of Slurm were held for in the database, if it
 * is there and they were asked for.  'ends': their jobs were all cancelled, and
 * are waited for. */
void run_slurm_reconcile(const struct run *run, bool ends);
/* run_record.c: load the record and its sweep file. */
int run_load_record(struct run *run, struct err *err);
/* Of run->db: what was not given.  A moved sweep file is followed there. */
int run_recall(struct run *run, struct err *err);
/* run_effort.c: apply --effort to settings and sweep file.  What it leaves out
 * is in run->leaves_out. */
int run_effort(struct run *run, struct err *err);
void run_say_effort(const struct run *run); /* before the first host */
/* run_search.c: --strategy, --evaluations and --seed.  The command line wins
 * over the database of a resumed sweep, and that over the sweep file. */
int run_terms(struct run *run, struct err *err);
/* What would be searched, for --dry-run; 'out' borrows from the run. */
int run_plan_search(const struct run *run, const struct space *space,
                    int64_t passed, struct search_settings_plan *out,
                    struct err *err);

#endif
