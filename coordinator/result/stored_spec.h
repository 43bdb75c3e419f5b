/* stored_spec.h - the sweep file in a database, ready for evaluation
 *
 * Gates and metrics are evaluated from the text in the database, with the facts
 * that the sweep used, because the file on disk may have changed since.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_RESULT_STORED_SPEC_H
#define FA_COORDINATOR_RESULT_STORED_SPEC_H

#include "coordinator/space/space.h"
#include "coordinator/spec/spec.h"

struct err;
struct stored_params;
struct report;

/* The device facts that the sweep used. */
int stored_spec_facts(const struct report *report, struct gpu_arch_facts *out,
                      struct err *err);

struct stored_spec {
    struct spec *spec;
    struct space *space;
    struct value *values; /* one for each tunable, for stored_spec_values() */
};

int stored_spec_open(const struct report *report, struct stored_spec *out,
                     struct err *err);
void stored_spec_close(struct stored_spec *stored);

/* Fill in 'values' from stored parameters; texts are borrowed from there.
 * ERR_STORE if one is missing. */
int stored_spec_values(struct stored_spec *stored,
                       const struct stored_params *params, struct err *err);

/* Evaluate the floors of every shape, and the sweep's metrics for every cell
 * that has a median. */
int stored_spec_metrics(struct report *report, struct err *err);

/* The same in two steps, for a report that is read in parts: the floors and the
 * names of the metrics; then the metrics of a part. */
struct stored_metrics;
int stored_spec_metrics_open(struct report *report, struct stored_metrics **out,
                             struct err *err);
int stored_spec_metrics_of(struct stored_metrics *metrics, struct report *part,
                           struct err *err);
void stored_spec_metrics_close(struct stored_metrics *metrics); /* or NULL */

#endif
