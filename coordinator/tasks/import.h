/* import.h - converts a record to a database, without waiting
 *
 * It stores what a replay of the whole record would store, except that each
 * result has all recorded samples.  Each configuration has one build, one
 * measurement and one outcome, on one host and one GPU that stand for the
 * recorded ones.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_TASKS_IMPORT_H
#define FA_COORDINATOR_TASKS_IMPORT_H

struct err;
struct replay;
struct spec;
struct store;

/* Import into an empty database.  'spec' is bound to the replay.  '*n' is the
 * number of configurations. */
int import_put(struct store *store, const struct spec *spec,
               const struct replay *replay, int *n, struct err *err);

#endif
