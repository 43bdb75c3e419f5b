#include "coordinator/reactor/result_check.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "common/sampling.h"
#include "coordinator/state/work.h"

/* A worker's own clock may be a little off the GPU's. */
#define HELD_SLACK 1.05
#define HELD_SLACK_S 0.01

#define SHORTEST_S \
    1e-9 /* two cycles of the fastest GPUs; no launch is shorter */

/* Words for samples in addition to those of enum sampling_verdict. */
#define UNTIMED "none"
#define FIXED "fixed"

/* Is it one of these outcomes? */
static bool is_one_of(const char *word, const enum outcome *outcomes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (outcome_is(word, outcomes[i]))
            return true;
    return false;
}

static bool is_sampling(const char *word)
{
    static const enum sampling_verdict verdicts[] = { SAMPLING_SETTLED,
                                                      SAMPLING_LOSER,
                                                      SAMPLING_UNSTABLE };

    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
        if (strcmp(word, sampling_name(verdicts[i])) == 0)
            return true;
    return strcmp(word, UNTIMED) == 0 || strcmp(word, FIXED) == 0;
}

static double sum_of(struct reals reals)
{
    double sum = 0;

    for (size_t i = 0; i < reals.n; i++)
        sum += reals.items[i];
    return sum;
}

static int check_lengths(struct reals samples, struct err *err)
{
    for (size_t i = 0; i < samples.n; i++)
        if (!(samples.items[i] >= SHORTEST_S))
            return err_set(err, ERR_PROTO,
                           "MEASURED has a sample of %g s, and no launch is "
                           "that short",
                           samples.items[i]);
    return 0;
}

/* Samples and a word for them come together. */
static int check_sampling(const struct msg_measured *measured, struct err *err)
{
    if (!is_sampling(measured->sampling))
        return err_set(err, ERR_PROTO, "MEASURED.sampling is '%.20s'",
                       measured->sampling);
    if ((strcmp(measured->sampling, UNTIMED) == 0) !=
        (measured->samples.n == 0))
        return err_set(err, ERR_PROTO,
                       "MEASURED.sampling is '%s' with %zu samples",
                       measured->sampling, measured->samples.n);
    return 0;
}

/* Each sample is a launch that was found right, also one that does not count.
 * An older worker sends neither. */
static int check_launches(const struct msg_measured *measured, struct err *err)
{
    const struct msg_checked *checked = &measured->checked;
    size_t samples = measured->samples.n + measured->rejected.n;

    if ((checked->launches < 0) != (checked->varied < 0))
        return err_set(err, ERR_PROTO,
                       "MEASURED.checked and MEASURED.varied are not both "
                       "there");
    if (checked->launches >= 0 && (uint64_t)checked->launches < samples)
        return err_set(err, ERR_PROTO,
                       "MEASURED.checked is %lld with %zu samples",
                       (long long)checked->launches, samples);
    if (checked->varied > 0 && checked->launches == 0)
        return err_set(err, ERR_PROTO,
                       "MEASURED.varied is 1 without a checked launch");
    return 0;
}

static int check_measured(const struct msg_measured *measured, struct err *err)
{
    static const enum outcome words[] = { OUTCOME_CORRECT, OUTCOME_CONSTRAINTS,
                                          OUTCOME_RUNTIME, OUTCOME_CORRECTNESS,
                                          OUTCOME_TIMEOUT, OUTCOME_CRASH };
    double sum = sum_of(measured->samples) + sum_of(measured->rejected);

    if (!is_one_of(measured->result.outcome, words, 6))
        return err_set(err, ERR_PROTO, "MEASURED.outcome is '%.20s'",
                       measured->result.outcome);
    if (check_sampling(measured, err) < 0 ||
        check_lengths(measured->samples, err) < 0 ||
        check_lengths(measured->rejected, err) < 0)
        return ERR_PROTO;
    if (check_launches(measured, err) < 0)
        return ERR_PROTO;
    if (sum > measured->held_s * HELD_SLACK + HELD_SLACK_S)
        return err_set(err, ERR_PROTO,
                       "MEASURED.samples add up to %g s, more than the %g s "
                       "the GPU was held",
                       sum, measured->held_s);
    if (outcome_is(measured->result.outcome, OUTCOME_CORRECT) &&
        measured->samples.n == 0)
        return err_set(err, ERR_PROTO, "MEASURED is correct without a sample");
    if (outcome_is(measured->result.outcome, OUTCOME_CORRECT) &&
        !(isfinite(measured->relative_l2) && isfinite(measured->max_error)))
        return err_set(err, ERR_PROTO,
                       "MEASURED is correct with errors of %g and %g",
                       measured->relative_l2, measured->max_error);
    return 0;
}

static int check_built(const struct msg_built *built, struct err *err)
{
    static const enum outcome words[] = { OUTCOME_BUILT, OUTCOME_COMPILE,
                                          OUTCOME_TIMEOUT, OUTCOME_CRASH };
    const char *purpose = built->work.id.purpose;

    if (!is_one_of(built->result.outcome, words, 4))
        return err_set(err, ERR_PROTO, "BUILT.outcome is '%.20s'",
                       built->result.outcome);
    if (!work_is_build_purpose(purpose))
        return err_set(err, ERR_PROTO, "BUILT is not for '%.20s'", purpose);
    if (outcome_is(built->result.outcome, OUTCOME_BUILT) &&
        !hash_is_hex(built->artifact))
        return err_set(err, ERR_PROTO, "BUILT.artifact is no hash");
    return 0;
}

static int check_ran(const struct msg_ran *ran, struct err *err)
{
    static const enum outcome words[] = { OUTCOME_RAN, OUTCOME_MISSING,
                                          OUTCOME_FAILED, OUTCOME_TIMEOUT,
                                          OUTCOME_CRASH };

    if (!is_one_of(ran->result.outcome, words, 5))
        return err_set(err, ERR_PROTO, "RAN.outcome is '%.20s'",
                       ran->result.outcome);
    if (outcome_is(ran->result.outcome, OUTCOME_RAN) && ran->status != 0)
        return err_set(err, ERR_PROTO, "RAN has run with exit status %lld",
                       (long long)ran->status);
    return 0;
}

int result_check(const struct msg *msg, struct err *err)
{
    if (!hash_is_hex(msg_result(msg)->nonce))
        return err_set(err, ERR_PROTO, "a result's nonce is no hash");
    if (msg->type == MSG_RAN)
        return check_ran(&msg->ran, err);
    return msg->type == MSG_BUILT ? check_built(&msg->built, err)
                                  : check_measured(&msg->measured, err);
}
