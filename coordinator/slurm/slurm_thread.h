/* slurm_thread.h - the thread that asks Slurm for the hosts of one line
 *
 * Slurm's commands take milliseconds or a minute, so each line of the hosts
 * file has a thread.  It asks squeue, decides by slurm_pool.h, and submits.
 * News goes one way and orders the other, over a PAIR socket pair; nothing else
 * is shared.  Only the starter may call these functions.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_THREAD_H
#define FA_COORDINATOR_SLURM_SLURM_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/slurm/slurm_pool.h"

struct err;
struct host;
struct slurm_thread;

struct slurm_news {
    size_t host; /* its index */
    enum slurm_change change;
    int64_t runs_s;  /* STARTED: so long ago */
    int64_t ended_s; /* LEFT: likewise, as far as Slurm says */
    char text[SLURM_TEXT_BYTES];
};

/* 'first' is the index of the line's first host, whose task is 1, and 'host'
 * that one, borrowed until the end; 'public_key' is copied. */
int slurm_thread_start(void *zctx, size_t first, const struct host *host,
                       const char *public_key, struct slurm_thread **out,
                       struct err *err);

/* To poll for news; _recv() takes one piece: 1, or 0. */
void *slurm_thread_socket(struct slurm_thread *thread);
int slurm_thread_recv(struct slurm_thread *thread, struct slurm_news *out);

/* The worker of a host has dialled back, or the host is no longer used. */
void slurm_thread_came(struct slurm_thread *thread, size_t host);
void slurm_thread_dismiss(struct slurm_thread *thread, size_t host);

/* There is work for another node, or no more. */
void slurm_thread_grows(struct slurm_thread *thread, bool grows);

/* End it; a command of Slurm that runs is waited for, 20 s at most.  The jobs
 * stay (slurm_files_cancel()). */
void slurm_thread_stop(struct slurm_thread *thread);

#endif
