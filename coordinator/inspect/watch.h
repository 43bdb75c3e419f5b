/* watch.h - a sweep as its database shows it, for 'fa-coord watch'
 *
 * The facts of progress_facts.h, read from a database that another process may
 * be writing.
 */
#ifndef FA_COORDINATOR_INSPECT_WATCH_H
#define FA_COORDINATOR_INSPECT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/live/progress_facts.h"

struct err;
struct store;
struct watch;

/* Read it as it is at 'now_utc'.  A database whose sweep waits for its first
 * GPU has facts without counts.  ERR_STORE; ERR_INPUT if there is no sweep. */
int watch_load(struct store *store, int64_t now_utc, struct watch **out,
               struct err *err);
void watch_free(struct watch *watch); /* NULL is fine */

/* Live until watch_free(). */
const struct progress_facts *watch_facts(const struct watch *watch);
/* Is a coordinator at work on it?  Between the steps of its command it holds
 * no lock, so its process counts, too. */
bool watch_is_running(const struct watch *watch);

#endif
