#include "coordinator/passes/passes.h"

/* What leads orders before what fills the gaps. */
const struct pass_ops *const sweep_passes[] = {
    &confirmation_pass, &profile_pass, &search_pass, &canary_pass, NULL,
};
