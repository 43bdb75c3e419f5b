/* slurm_ask.h - Slurm's commands, asked
 *
 * A command that takes longer than 20 s is stopped.  'why' says in one line why
 * there is no answer.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_ASK_H
#define FA_COORDINATOR_SLURM_SLURM_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/slurm/slurm_pool.h"
#include "coordinator/slurm/slurm_times.h"

#define SLURM_ASK_ANSWER_MAX (4 << 20)
#define SLURM_ASK_WORDS_MAX 24 /* of a command */

struct buf;

/* Run a command, whose times are in seconds since 1970: 0 and its output, or
 * -1. */
int slurm_ask(const char *const argv[], struct buf *out,
              char why[SLURM_TEXT_BYTES]);

/* The jobs of this name that slurmctld knows, for the caller to free: 0, or
 * -1. */
int slurm_ask_jobs(const char *name, struct slurm_job **out, size_t *n,
                   char why[SLURM_TEXT_BYTES]);

/* Wait until no job of this name runs: until the deadline, or SIGINT, SIGTERM
 * or SIGHUP, which are blocked. */
void slurm_ask_until_ended(const char *name, int64_t deadline_ns);

/* When the nodes of this name were allocated in the last 'seconds', by sacct
 * and squeue: added to 'out'.  -1 if neither answers. */
int slurm_ask_times(const char *name, int64_t seconds, struct slurm_times *out,
                    char why[SLURM_TEXT_BYTES]);

#endif
