/* sweep.h - run a sweep: the reactor of fa-coord
 *
 * One thread owns the ROUTER, the timers, the database and all state; each
 * host has a thread of the host threads that moves bytes.  A turn of the loop
 * takes what has arrived, hands out what can be handed out, and commits.
 *
 * After a turn that took longer than a second (a commit, a sleeping laptop),
 * deadlines are moved by as much and the sockets are read before anything is
 * given up.
 */
#ifndef FA_COORDINATOR_REACTOR_SWEEP_H
#define FA_COORDINATOR_REACTOR_SWEEP_H

#include "common/err.h"
#include "coordinator/state/sweep_options.h"

struct hosts;
struct spec;
struct store;
struct sweep_io;

/* Run until everything is settled, no host can continue, or it is told to stop.
 * 'store' is open for writing and stays the caller's.  Returns the exit code
 * of the program (docs/exit-codes.md); 'err' is filled unless it is 0. */
int sweep_run(struct spec *spec, const struct hosts *hosts, struct store *store,
              const struct sweep_options *options, struct err *err);

/* The same with the caller's clock, network and disk (the simulation). */
int sweep_run_with(const struct sweep_io *io, struct spec *spec,
                   const struct hosts *hosts, struct store *store,
                   const struct sweep_options *options, struct err *err);

#endif
