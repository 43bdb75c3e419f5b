/* measure.h - checks and times one configuration
 *
 * 1. load       the artifact, and read what it costs
 * 2. reference  inputs and reference of the problem, unless resident
 * 3. check      for each trial: make ready what the kernel writes, launch
 *               once, look at the guards and the values
 * 4. time       load the artifact again; warm-ups, then the samples.  Each
 *               launch has the values of another trial and other poison, and
 *               what it writes is compared with its own reference; clocks and
 *               temperatures are read before, during and after
 * 5. repeat     more such launches, if the request wants them: for races
 * 6. recheck    all inputs, references and guards
 *
 * An 'untimed' request leaves out 4 and 5: under a profiler, times are wrong,
 * and a GPU that waits for its host is delayed.
 *
 * Samples are single launches between two events, in seconds.  sampler.h says
 * how many are taken, and which are rejected; rejected ones are reported too.
 * 'timeout_s' of the request is for all launches of 3 and 4 together; those of
 * 5 take at most half of it once more; making the reference has its own limit.
 */
#ifndef FA_WORKER_RUNNER_MEASURE_H
#define FA_WORKER_RUNNER_MEASURE_H

#include <stdio.h>

#include "worker/runner/device/device.h"
#include "worker/runner/resident.h"
#include "worker/runner/wire/wire_reply.h"
#include "worker/runner/wire/wire_request.h"

/* Fill in 'reply': a result, or an error if the request could not be carried
 * out, so that nothing is known about the kernel.  If that is the fault of the
 * reference, the reply says so.  Stages are written to
 * 'progress' as they begin. */
void measure(struct device *device, struct resident *resident,
             const struct wire_measure *want, FILE *progress,
             struct wire_reply *reply);

#endif
