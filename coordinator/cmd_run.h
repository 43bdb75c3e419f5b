/* cmd_run.h - what the commands share that put hosts to work: sweep, resume,
 * fuzz (in cmd_sweep.c) */
#ifndef FA_COORDINATOR_CMD_RUN_H
#define FA_COORDINATOR_CMD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/arch.h"
#include "coordinator/history.h"
#include "coordinator/hosts.h"
#include "coordinator/sweep.h"

struct err;
struct spec;

/* Flags. */
struct run_settings {
    const char *hosts, *db, *device, *arch, *ssh, *log;
    bool accept_new_host_keys, dry_run, fresh, quiet;
    double budget_usd, max_hours;
    int64_t linger_s;
};

#define RUN_SETTINGS                                                       \
    {                                                                      \
        .ssh = "libssh2", .arch = ARCH_DEFAULT, .linger_s = SWEEP_LINGER_S \
    }

struct run {
    struct run_settings set;
    char *sweep; /* path of the sweep file */
    char *db;
    char *was_device, *was_hosts; /* resume: what the database says */
    char was_arch[HISTORY_ARCH_BYTES];
    char *hosts_file; /* absolute, "" for this machine alone */
    struct spec *spec;
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

#endif
