/* plan_msg.h - the messages to build and measure a unit of a plan
 *
 * Thread rule: that of the plan.
 */
#ifndef FA_COORDINATOR_PLAN_PLAN_MSG_H
#define FA_COORDINATOR_PLAN_PLAN_MSG_H

#include "common/msg_values.h"

struct err;
struct msg_build;
struct msg_bundle;
struct plan;

/* How many samples a measurement takes: from 'least' to 'most', until they
 * settle or are slower than the incumbent by more than the margin.  If 'least'
 * equals 'most', exactly that many. */
struct plan_sampling {
    int least, most;
    double incumbent_s; /* the high end of the best median; 0: none */
    int repeats;        /* launches after them that are only checked */
};

/* As the sweep file says; 'incumbent_s' is 0 for no incumbent. */
struct plan_sampling plan_sampling(const struct plan *plan, double incumbent_s);

/* Fill the fields of a BUNDLE or a BUILD that depend on the unit, or say the
 * request of a launch; what they point to lives until the next call.
 * ERR_INPUT when a launch expression has no value for this configuration. */
void plan_bundle(struct plan *plan, int unit, struct msg_bundle *out);
int plan_build(struct plan *plan, int unit, struct msg_build *out,
               struct err *err);
int plan_measure(struct plan *plan, int unit, int shape,
                 const struct plan_sampling *sampling, const char **request,
                 struct err *err);
/* The hashes of the files that the requests at this shape name; valid until the
 * next call. */
struct texts plan_inputs(struct plan *plan, int shape);

#endif
