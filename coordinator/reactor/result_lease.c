#include "coordinator/reactor/result_lease.h"

#include <math.h>
#include <string.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/spec/spec.h"

/* The clocks of two machines may differ a little. */
#define WALL_SLACK 1.05
#define WALL_SLACK_S 0.01

#define ERROR_SLACK (1 + 1e-9) /* printed, and read again */

static int check_errors(const struct msg_measured *measured,
                        const struct result_lease *lease, struct err *err)
{
    if (!outcome_is(measured->result.outcome, OUTCOME_CORRECT))
        return 0;
    if (measured->relative_l2 > lease->relative_l2 * ERROR_SLACK)
        return err_set(err, ERR_PROTO,
                       "MEASURED is correct with a relative_l2 of %g, above "
                       "the tolerance of %g",
                       measured->relative_l2, lease->relative_l2);
    if (measured->max_error > lease->max_error * ERROR_SLACK)
        return err_set(err, ERR_PROTO,
                       "MEASURED is correct with a max_error of %g, above "
                       "the tolerance of %g",
                       measured->max_error, lease->max_error);
    return 0;
}

static int check_gpu(const char *uuid, const struct result_lease *lease,
                     struct err *err)
{
    char gpu[HASH_HEX];

    hash_of(uuid, strlen(uuid), gpu);
    return strcmp(gpu, lease->gpu) == 0
               ? 0
               : err_set(err, ERR_PROTO, "it ran on another GPU, %.64s", uuid);
}

static int check_measured(const struct msg_measured *measured,
                          const struct result_lease *lease, struct err *err)
{
    if (measured->samples.n > (size_t)lease->samples_most)
        return err_set(err, ERR_PROTO,
                       "MEASURED has %zu samples, and was asked for %d",
                       measured->samples.n, lease->samples_most);
    if (measured->held_s > lease->wall_s * WALL_SLACK + WALL_SLACK_S)
        return err_set(err, ERR_PROTO,
                       "MEASURED held its GPU for %g s within %g s",
                       measured->held_s, lease->wall_s);
    return check_errors(measured, lease, err);
}

int result_lease_check(const struct msg *msg, const struct result_lease *lease,
                       struct err *err)
{
    int rc;

    if (msg->type == MSG_RAN)
        return check_gpu(msg->ran.gpu, lease, err);
    if (msg->type != MSG_MEASURED)
        return 0;
    rc = check_gpu(msg->measured.gpu, lease, err);
    return rc < 0 ? rc : check_measured(&msg->measured, lease, err);
}

void result_lease_tolerance(const struct spec *spec, struct result_lease *out)
{
    out->relative_l2 = out->max_error = 0;
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];
        const struct spec_tolerance *tolerance = &argument->tolerance;

        if (!argument->output)
            continue;
        out->relative_l2 =
            fmax(out->relative_l2,
                 tolerance->exact ? INFINITY : tolerance->relative_l2);
        out->max_error = fmax(
            out->max_error, tolerance->exact ? INFINITY : tolerance->max_error);
    }
}
