/* passes.h - all passes (pass_ops.h), for the code that starts a sweep
 */
#ifndef FA_COORDINATOR_PASSES_PASSES_H
#define FA_COORDINATOR_PASSES_PASSES_H

#include "coordinator/state/pass_ops.h"

extern const struct pass_ops search_pass;
extern const struct pass_ops canary_pass;
extern const struct pass_ops confirmation_pass;
extern const struct pass_ops profile_pass;

/* All of them, in the order in which their turns come; ends with NULL. */
extern const struct pass_ops *const sweep_passes[];

#endif
