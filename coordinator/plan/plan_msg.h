/* plan_msg.h - the messages that a unit of a plan is built and measured by
 *
 * Thread rule: that of the plan.
 */
#ifndef FA_COORDINATOR_PLAN_PLAN_MSG_H
#define FA_COORDINATOR_PLAN_PLAN_MSG_H

struct err;
struct msg_build;
struct msg_bundle;
struct plan;

/* How a measurement is sampled: from 'least' to 'most' samples, until they
 * settle or are slower than the margin allows over the incumbent; as many as
 * that where the two are the same. */
struct plan_sampling {
    int least, most;
    double incumbent_s; /* the high end of the best median; 0: none */
};

/* As the sweep file says; 'incumbent_s' 0 for none. */
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

#endif
