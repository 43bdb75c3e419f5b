/* metrics.h - a file of metrics beside a running sweep
 *
 * A process of its own reads the database every METRICS_EVERY_NS and replaces
 * the file, so the loop of the sweep waits for neither.  It ends with the
 * process that started it.
 */
#ifndef FA_COORDINATOR_TOLD_METRICS_H
#define FA_COORDINATOR_TOLD_METRICS_H

#include <sys/types.h>

#include "common/clock.h"

struct err;

#define METRICS_EVERY_NS (5 * NS_PER_S)

struct metrics {
    const char *db, *file; /* borrowed */
    pid_t pid;             /* 0: none */
    int alive;             /* its other end is closed when we end */
};

/* Start, before any thread.  A file that cannot be written is ERR_INPUT. */
int metrics_start(const char *db, const char *file, struct metrics *out,
                  struct err *err);
/* End the process, and write the file a last time; nothing without one. */
void metrics_stop(struct metrics *metrics);

#endif
