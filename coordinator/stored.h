/* stored.h - the sweep file of a database, ready to be asked again
 *
 * What a gate says of a configuration, or a metric of a time, is asked of the
 * text that the database holds, with the facts the sweep used; the file on
 * disk may have changed since.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_STORED_H
#define FA_COORDINATOR_STORED_H

#include "coordinator/space.h"
#include "coordinator/spec.h"

struct err;
struct params;
struct report;

/* The device facts that the sweep used. */
int stored_facts(const struct report *report, struct arch_facts *out,
                 struct err *err);

struct stored {
    struct spec *spec;
    struct space *space;
    struct value *values; /* one a tunable, for stored_values() */
};

int stored_open(const struct report *report, struct stored *out,
                struct err *err);
void stored_close(struct stored *stored);

/* Fill in 'values' from stored parameters, whose texts are borrowed.
 * ERR_STORE when one is missing. */
int stored_values(struct stored *stored, const struct params *params,
                  struct err *err);

/* Evaluate the floors of every shape, and the sweep's metrics for every cell
 * that has a median. */
int report_metrics(struct report *report, struct err *err);

#endif
