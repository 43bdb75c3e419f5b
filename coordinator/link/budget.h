/* budget.h - how much a host may send beyond what its work explains
 *
 * Token buckets (ITU-T I.371, "leaky bucket as a meter"): what a bucket has
 * grows with time and with each lease, up to its size, and each message takes
 * from it.  A host whose bucket is empty floods.  An honest worker repeats what
 * was not answered every 2 s, and its journal has 64 MiB at most.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_LINK_BUDGET_H
#define FA_COORDINATOR_LINK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
    double messages;
    double rows;   /* bytes of results for the database, and of chunks */
    int64_t at_ns; /* when they were counted; CLOCK_BOOTTIME */
};

struct budget budget_full(int64_t now_ns);
/* A lease was given: it explains a few messages. */
void budget_lease(struct budget *budget);

/* Take a message: false if there are too many. */
bool budget_message(struct budget *budget, int64_t now_ns);
/* Take a result that is here already, or belongs elsewhere: a worker repeats
 * it until it is acknowledged, so each counts little. */
bool budget_repetition(struct budget *budget, int64_t now_ns);
/* Take a result of an earlier run, which becomes a row, or a chunk that was not
 * asked for. */
bool budget_row(struct budget *budget, int64_t now_ns, size_t bytes);

#endif
