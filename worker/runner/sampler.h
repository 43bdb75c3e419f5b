/* sampler.h - how many samples to take, and which of them count
 *
 *   sampler_init()
 *   while ((n = sampler_batch())) { time n launches; sampler_take(); }
 *
 * Samples are taken in batches until common/sampling.h has its verdict.  If
 * the least and the most samples are the same number, exactly that many are
 * taken.  A batch that was taken while the GPU protected itself
 * (throttle.h) is kept among the rejected samples and taken again, after a
 * pause.  When that has happened SAMPLER_REJECTIONS times, what comes next
 * is taken as it is and called unstable.
 *
 * Pure; one thread.
 */
#ifndef FA_WORKER_RUNNER_SAMPLER_H
#define FA_WORKER_RUNNER_SAMPLER_H

#include "common/sampling.h"
#include "worker/runner/wire/wire_reply.h"
#include "worker/runner/wire/wire_request.h"

enum {
    SAMPLER_BATCH = 50, /* at most: what the device queues at once */
    SAMPLER_STEP = 5,   /* after the first batch, between two looks */
    SAMPLER_REJECTIONS = 3
};

/* NVML's readings are new every tenth of a second. */
#define SAMPLER_PAUSE_S 0.1

struct sampler {
    struct sampling_rules rules;
    struct wire_result *result; /* borrowed: samples, rejected, sampling */
    unsigned rejections;
    bool pausing; /* SAMPLER_PAUSE_S before the next batch */
    bool spoilt;  /* some of the samples that count */
};

void sampler_init(struct sampler *sampler, const struct wire_measure *want,
                  struct wire_result *result);

/* How many samples the next batch has; 0 when the verdict stands. */
size_t sampler_batch(const struct sampler *sampler);

/* A batch and the reasons that were read while and after it was taken.  The
 * result's detail tells of rejected ones. */
void sampler_take(struct sampler *sampler, const double *seconds, size_t n,
                  uint64_t throttle);

#endif
