/* result_check.h - refuse results that cannot be true
 *
 * msg.c checks types and ranges; this checks that the fields agree.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_REACTOR_RESULT_CHECK_H
#define FA_COORDINATOR_REACTOR_RESULT_CHECK_H

struct err;
struct msg;

/* Check a BUILT, MEASURED or RAN.  ERR_PROTO: an outcome that its stage does
 * not have, an artifact or nonce that is not a hash, samples that add up to
 * more than the time the GPU was held or are too short, or a correct
 * measurement without a sample. */
int result_check(const struct msg *msg, struct err *err);

#endif
