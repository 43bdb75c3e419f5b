#include "worker/runner/sampler.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "worker/runner/device/throttle.h"

#define CONFIDENCE 0.95

void sampler_init(struct sampler *sampler, const struct wire_measure *want,
                  struct wire_result *result)
{
    *sampler = (struct sampler){
        .rules = { .least = want->least,
                   .most = want->most,
                   .noise = want->noise,
                   .confidence = CONFIDENCE,
                   .margin = want->margin,
                   .incumbent_s = want->incumbent_s > 0 ? want->incumbent_s
                                                        : (double)INFINITY },
        .result = result,
    };
    result->n_samples = result->n_rejected = 0;
    result->sampling = WIRE_SAMPLING_NONE;
}

static bool is_fixed(const struct sampler *sampler)
{
    return sampler->rules.least == sampler->rules.most;
}

size_t sampler_batch(const struct sampler *sampler)
{
    size_t n = sampler->result->n_samples, left = sampler->rules.most - n;
    size_t next = sampler->rules.least;

    if (sampler->result->sampling != WIRE_SAMPLING_NONE)
        return 0;
    if (!is_fixed(sampler) && n > 0)
        next =
            n < sampler->rules.least ? sampler->rules.least - n : SAMPLER_STEP;
    if (next > left)
        next = left;
    return next < SAMPLER_BATCH ? next : SAMPLER_BATCH;
}

static enum wire_sampling verdict(const struct sampler *sampler)
{
    const struct wire_result *result = sampler->result;

    if (result->n_samples < sampler->rules.least)
        return WIRE_SAMPLING_NONE;
    if (sampler->spoilt)
        return WIRE_UNSTABLE;
    if (is_fixed(sampler))
        return WIRE_FIXED;
    switch (sampling_next(result->samples, result->n_samples, &sampler->rules,
                          NULL)) {
    case SAMPLING_CONTINUE:
        break;
    case SAMPLING_SETTLED:
        return WIRE_SETTLED;
    case SAMPLING_LOSER:
        return WIRE_LOSER;
    case SAMPLING_UNSTABLE:
        return WIRE_UNSTABLE;
    }
    return WIRE_SAMPLING_NONE;
}

static void reject(struct sampler *sampler, const double *seconds, size_t n,
                   uint64_t throttle)
{
    struct wire_result *result = sampler->result;

    assert(result->n_rejected + n <= WIRE_REJECTED_MAX);
    memcpy(result->rejected + result->n_rejected, seconds,
           n * sizeof(*seconds));
    result->n_rejected += n;
    sampler->rejections++;
    sampler->pausing = true;
    snprintf(result->detail, sizeof(result->detail),
             "%zu samples were rejected: %s", result->n_rejected,
             throttle_name(throttle));
}

void sampler_take(struct sampler *sampler, const double *seconds, size_t n,
                  uint64_t throttle)
{
    struct wire_result *result = sampler->result;

    sampler->pausing = false;
    if (throttle_spoils(throttle)) {
        if (sampler->rejections < SAMPLER_REJECTIONS) {
            reject(sampler, seconds, n, throttle);
            return;
        }
        sampler->spoilt = true;
    }
    memcpy(result->samples + result->n_samples, seconds, n * sizeof(*seconds));
    result->n_samples += n;
    result->sampling = verdict(sampler);
}
