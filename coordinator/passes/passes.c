#include "coordinator/passes/passes.h"

/* Passes that lead order before those that fill the gaps. */
const struct pass_ops *const sweep_passes[] = {
    &confirmation_pass, &profile_pass, &search_pass, &canary_pass, NULL,
};
