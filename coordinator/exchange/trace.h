/* trace.h - what hosts and GPUs did over time, for Perfetto and
 * chrome://tracing
 *
 * JSON of Chrome's trace events (the Trace Event Format): a process is a host,
 * a thread one lane of it: what the host was held for, its builds, each GPU.
 * Works that overlap stand in further lanes.
 */
#ifndef FA_COORDINATOR_EXCHANGE_TRACE_H
#define FA_COORDINATOR_EXCHANGE_TRACE_H

#include <stdio.h>

struct err;
struct store;

/* ERR_INPUT if the database has no times of day (it was imported), ERR_STORE.
 */
int trace_write(struct store *store, FILE *to, struct err *err);

#endif
