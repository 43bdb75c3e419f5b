/* result_lease.h - hold a result against the lease that it answers
 *
 * result_check.h asks whether a result can be true at all; this asks whether it
 * can be true of this lease.  Pure; any thread.
 */
#ifndef FA_COORDINATOR_REACTOR_RESULT_LEASE_H
#define FA_COORDINATOR_REACTOR_RESULT_LEASE_H

struct err;
struct msg;
struct spec;

/* What the coordinator knows of the lease. */
struct result_lease {
    const char *gpu;    /* hash_of() the UUID that it was given for */
    double wall_s;      /* from the lease to the result, here; INFINITY: the
                         * times are those of a record */
    int samples_most;   /* that were asked for */
    double relative_l2; /* that the loosest output may have; INFINITY: any */
    double max_error;   /* likewise */
};

/* Of a MEASURED or RAN; a BUILT is always right.  ERR_PROTO: it ran on another
 * GPU, has more samples than were asked for, held the GPU for longer than the
 * lease was out, or is correct with an error above the tolerance. */
int result_lease_check(const struct msg *msg, const struct result_lease *lease,
                       struct err *err);

/* Set the errors that the loosest output of a sweep may have. */
void result_lease_tolerance(const struct spec *spec, struct result_lease *out);

#endif
