/* import.h - a record as a database, without the time it took
 *
 * What a replay of the whole record would store, but each result holds all
 * recorded samples: one build, one measurement and one outcome a
 * configuration, of one host and one GPU that stand for the recorded ones.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_TASKS_IMPORT_H
#define FA_COORDINATOR_TASKS_IMPORT_H

struct err;
struct replay;
struct spec;
struct store;

/* Into an empty database.  'spec' is bound to the replay.  '*n' is how many
 * configurations there are. */
int import_put(struct store *store, const struct spec *spec,
               const struct replay *replay, int *n, struct err *err);

#endif
