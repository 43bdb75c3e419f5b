/* watch_process.h - is the process of the newest run still there?
 *
 * A command that does several steps (a sweep, its proof, its confirmation)
 * closes the database between them.
 */
#ifndef FA_COORDINATOR_INSPECT_WATCH_PROCESS_H
#define FA_COORDINATOR_INSPECT_WATCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct store;

/* The newest run has ended, on this machine, and its process is there. */
int watch_process_is_at_work(struct store *store, bool *out, struct err *err);

/* Is there a process with this pid that started before 'utc_ns'?  If so, the
 * pid has not been given to another one since. */
bool watch_process_is_there(int64_t pid, int64_t utc_ns);

#endif
