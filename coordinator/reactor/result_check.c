#include "coordinator/reactor/result_check.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/msg.h"

/* A worker's own clock may be a little off the GPU's. */
#define HELD_SLACK 1.05
#define HELD_SLACK_S 0.01

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static double sum_of(struct reals reals)
{
    double sum = 0;

    for (size_t i = 0; i < reals.n; i++)
        sum += reals.items[i];
    return sum;
}

/* Samples and a word for them come together. */
static int check_sampling(const struct msg *msg, struct err *err)
{
    static const char *const words[] = { "none", "fixed", "settled", "loser",
                                         "unstable" };

    if (!is_one_of(msg->sampling, words, 5))
        return err_set(err, ERR_PROTO, "MEASURED.sampling is '%.20s'",
                       msg->sampling);
    if ((strcmp(msg->sampling, "none") == 0) != (msg->samples.n == 0))
        return err_set(err, ERR_PROTO,
                       "MEASURED.sampling is '%s' with %zu samples",
                       msg->sampling, msg->samples.n);
    return 0;
}

static int check_measured(const struct msg *msg, struct err *err)
{
    static const char *const words[] = { "correct", "constraints",
                                         "runtime", "correctness",
                                         "timeout", "crash" };
    double sum = sum_of(msg->samples) + sum_of(msg->rejected);

    if (!is_one_of(msg->outcome, words, 6))
        return err_set(err, ERR_PROTO, "MEASURED.outcome is '%.20s'",
                       msg->outcome);
    if (check_sampling(msg, err) < 0)
        return ERR_PROTO;
    if (sum > msg->held_s * HELD_SLACK + HELD_SLACK_S)
        return err_set(err, ERR_PROTO,
                       "MEASURED.samples add up to %g s, more than the %g s "
                       "the GPU was held",
                       sum, msg->held_s);
    if (strcmp(msg->outcome, "correct") == 0 && msg->samples.n == 0)
        return err_set(err, ERR_PROTO, "MEASURED is correct without a sample");
    if (strcmp(msg->outcome, "correct") == 0 &&
        !(isfinite(msg->relative_l2) && isfinite(msg->max_error)))
        return err_set(err, ERR_PROTO,
                       "MEASURED is correct with errors of %g and %g",
                       msg->relative_l2, msg->max_error);
    return 0;
}

static int check_built(const struct msg *msg, struct err *err)
{
    static const char *const words[] = { "built", "compile", "timeout",
                                         "crash" };

    if (!is_one_of(msg->outcome, words, 4))
        return err_set(err, ERR_PROTO, "BUILT.outcome is '%.20s'",
                       msg->outcome);
    if (strcmp(msg->outcome, "built") == 0 && !hash_is_hex(msg->artifact))
        return err_set(err, ERR_PROTO, "BUILT.artifact is no hash");
    return 0;
}

static int check_ran(const struct msg *msg, struct err *err)
{
    static const char *const words[] = { "ran", "missing", "failed", "timeout",
                                         "crash" };
    bool known = false;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        known = known || strcmp(words[i], msg->outcome) == 0;
    if (!known)
        return err_set(err, ERR_PROTO, "RAN.outcome is '%.20s'", msg->outcome);
    if (strcmp(msg->outcome, "ran") == 0 && msg->status != 0)
        return err_set(err, ERR_PROTO, "RAN has run with exit status %lld",
                       (long long)msg->status);
    return 0;
}

int result_check(const struct msg *msg, struct err *err)
{
    if (!hash_is_hex(msg->nonce))
        return err_set(err, ERR_PROTO, "a result's nonce is no hash");
    if (msg->type == MSG_RAN)
        return check_ran(msg, err);
    return msg->type == MSG_BUILT ? check_built(msg, err)
                                  : check_measured(msg, err);
}
