#include "coordinator/schedule/sched_leases.h"

const char *sched_purpose_name(enum sched_purpose purpose)
{
    switch (purpose) {
    case SCHED_CANARY:
        return "canary";
    case SCHED_CONFIRM:
        return "confirm";
    case SCHED_EXTERNAL:
        return "external";
    case SCHED_PROFILE:
        return "profile";
    case SCHED_SCREEN:
    case SCHED_AGAIN:
        break;
    }
    return "screen";
}

bool sched_is_tool(enum sched_purpose purpose)
{
    return purpose == SCHED_EXTERNAL || purpose == SCHED_PROFILE;
}
