/* progress.h - what the user sees while a sweep runs, on standard error
 *
 * On a terminal one updated line and a lane a GPU; elsewhere one plain line
 * every 10 s.  progress_say() prints a line that stays.
 */
#ifndef FA_COORDINATOR_STATE_PROGRESS_H
#define FA_COORDINATOR_STATE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress;

struct progress_lane {
    const char *host;
    const char *gpu;
    const char *text; /* the configuration it measures, "" when idle */
};

struct progress_facts {
    bool builds_only; /* then all are builds, and 'correct' those built */
    int total;        /* measurements asked for */
    int settled;
    int correct;
    int building; /* leases out */
    int measuring;
    int hosts_ready, hosts;
    double usd; /* NaN when no host has a price */
    const struct progress_lane *lanes;
    size_t n_lanes;
};

struct progress *progress_new(bool quiet);
void progress_free(struct progress *progress); /* leaves a clean line */
void progress_say(struct progress *progress, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Draw if it is time; 'force' draws now. */
void progress_show(struct progress *progress,
                   const struct progress_facts *facts, int64_t now_ns,
                   bool force);

/* The line itself, at most 'size' bytes; for tests. */
void progress_line(const struct progress_facts *facts, int64_t elapsed_ns,
                   double per_s, char *out, size_t size);

#endif
