/* confirmation_looks.h - looks at a confirmation while its blocks come
 *
 * What a look decides is a function of the stored results (sequential.h).
 */
#ifndef FA_COORDINATOR_PASSES_CONFIRMATION_LOOKS_H
#define FA_COORDINATOR_PASSES_CONFIRMATION_LOOKS_H

#include <stdbool.h>

struct confirmation_pass;
struct err;
struct sequential;
struct sweep;

/* Replay the stored results; looks that were made before are not repeated.
 * out    [n_running], who is wrong or was dropped for a fault
 * found  until the next call; NULL after an error, ERR_STORE */
int confirmation_looks_replay(struct sweep *sweep, struct confirmation_pass *c,
                              bool *out, const struct sequential **found,
                              struct err *err);
/* Later blocks are those that the last look wants. */
void confirmation_looks_apply(struct confirmation_pass *c,
                              const struct sequential *found);
/* Look now, and say so. */
void confirmation_looks_take(struct sweep *sweep, struct confirmation_pass *c);
/* It was closed, and its end is stored: take the last look, and say so. */
void confirmation_looks_close(struct sweep *sweep, struct confirmation_pass *c);

#endif
