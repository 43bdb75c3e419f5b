/* export_dispatch.h - the best configuration at every shape of a sweep, as a
 * table in C
 *
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_EXPORT_EXPORT_DISPATCH_H
#define FA_COORDINATOR_EXPORT_EXPORT_DISPATCH_H

#include <stdio.h>

struct err;
struct report;
struct store;
struct stored_spec;

/* ERR_INPUT if a shape has no winner (WINNER_NONE of winner.h is one), or the
 * launch cannot be computed; ERR_STORE. */
int export_dispatch(struct store *store, const struct report *report,
                    struct stored_spec *stored, FILE *to, struct err *err);

#endif
