/* result_check.h - what a worker may not say of a result
 *
 * Types and ranges are msg.c's; here is what the fields must be together.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_REACTOR_RESULT_CHECK_H
#define FA_COORDINATOR_REACTOR_RESULT_CHECK_H

struct err;
struct msg;

/* A BUILT, MEASURED or RAN.  ERR_PROTO: an outcome that is no word of its
 * stage, an artifact or nonce that is no hash, samples that add up to more than
 * the time the GPU was held, or a correct measurement without a sample. */
int result_check(const struct msg *msg, struct err *err);

#endif
