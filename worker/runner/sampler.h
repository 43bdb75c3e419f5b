/* sampler.h - how many samples to take, and which ones count
 *
 *   sampler_init()
 *   while ((n = sampler_batch())) { time n launches; sampler_take(); }
 *
 * Samples are taken in batches until common/sampling.h has its verdict.  If the
 * least and the most samples are the same number, exactly that many are taken.
 * If the GPU protected itself during a batch (throttle.h), the batch is
 * rejected and taken again after a pause.  After SAMPLER_REJECTIONS rejected
 * batches, the next one is accepted as it is, and the result is unstable.
 *
 * Pure; one thread.
 */
#ifndef FA_WORKER_RUNNER_SAMPLER_H
#define FA_WORKER_RUNNER_SAMPLER_H

#include "common/sampling.h"
#include "worker/runner/wire/wire_reply.h"
#include "worker/runner/wire/wire_request.h"

enum {
    SAMPLER_BATCH = 50, /* at most: what the device can queue at once */
    SAMPLER_STEP = 5,   /* samples between two decisions, after the first
                         * batch */
    SAMPLER_REJECTIONS = 3
};

/* NVML updates its readings every tenth of a second. */
#define SAMPLER_PAUSE_S 0.1

struct sampler {
    struct sampling_rules rules;
    struct wire_result *result; /* borrowed: samples, rejected, sampling */
    unsigned rejections;
    bool pausing; /* SAMPLER_PAUSE_S before the next batch */
    bool spoilt;  /* some of the accepted samples */
};

void sampler_init(struct sampler *sampler, const struct wire_measure *want,
                  struct wire_result *result);

/* The number of samples of the next batch; 0 when the verdict is final. */
size_t sampler_batch(const struct sampler *sampler);

/* Take a batch and the throttle reasons that were read during and after it.
 * The result's detail mentions rejected samples. */
void sampler_take(struct sampler *sampler, const double *seconds, size_t n,
                  uint64_t throttle);

#endif
