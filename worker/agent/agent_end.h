/* agent_end.h - how and when a worker ends
 */
#ifndef FA_WORKER_AGENT_AGENT_END_H
#define FA_WORKER_AGENT_AGENT_END_H

#include <stdbool.h>
#include <stdint.h>

enum agent_stop {
    AGENT_RUNS,
    AGENT_DRAINS, /* no new work; it ends when running work has ended */
    AGENT_STOPS,  /* ends now */
};

struct agent_end {
    enum agent_stop how;
    const char *why;
    char said[512]; /* by the coordinator, for 'why' */
    int64_t by_ns;
    int64_t asked_by; /* epoch of the coordinator that let it drain; 0: none */
    bool by_signal;
    bool is_abandoned;   /* its coordinator is silent, and does not come back */
    char poweroff[1024]; /* command for that case; "" none */
    int64_t kept_until_ns; /* for the next step of the command; 0: it is not */
};

#endif
