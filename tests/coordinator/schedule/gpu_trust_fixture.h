/* gpu_trust_fixture.h - GPUs whose trust a test asks for, step by step
 *
 * Times are seconds.  What is expected is asserted.
 */
#ifndef FA_TESTS_COORDINATOR_SCHEDULE_GPU_TRUST_FIXTURE_H
#define FA_TESTS_COORDINATOR_SCHEDULE_GPU_TRUST_FIXTURE_H

#include <stdbool.h>

#include "coordinator/schedule/gpu_trust.h"

#define TRUST_JOBS 20

/* A canary after three measurements, a rest of 5 s, at most 8 repetitions; for
 * the caller to free. */
struct gpu_trust *trust_three_then_one(void);

/* The next step, which there must be. */
struct gpu_trust_step trust_next(struct gpu_trust *trust, double now_s);
void trust_expect(struct gpu_trust *trust, double now_s, enum gpu_trust_act act,
                  int gpu);
void trust_expect_text(struct gpu_trust *trust, enum gpu_trust_act act, int gpu,
                       const char *text); /* at time 0 */
/* 'over': nothing is left to be measured. */
void trust_expect_nothing(struct gpu_trust *trust, double now_s, bool over);

/* The GPU joins, and its canary takes 'seconds' at time 0. */
void trust_start(struct gpu_trust *trust, int gpu, double seconds);
/* Jobs 'first' to 'first' + 2 from 'at_s' on, and the canary that is due
 * then. */
void trust_batch(struct gpu_trust *trust, int gpu, int first, double at_s,
                 double canary_s);

#endif
