#include "coordinator/state/reactor.h"

#include <math.h>

#include "common/clock.h"
#include "coordinator/hosts/hosts.h"

/* The ending in the run's row. */
static const char *ending_of(enum exit_code code)
{
    return code == EXIT_PARTIAL ? "partial"
           : code == EXIT_CAP   ? "budget"
                                : "error";
}

void reactor_fail(struct sweep *sweep, enum exit_code exit_code,
                  const struct err *why)
{
    if (sweep->reactor.ending)
        return;
    sweep->reactor.ending = ending_of(exit_code);
    sweep->reactor.exit_code = (int)exit_code;
    if (why)
        sweep->reactor.fatal = *why;
}

int64_t reactor_now(const struct sweep *sweep)
{
    return sweep->reactor.io.clock.boot_ns(sweep->reactor.io.clock.self);
}

int64_t reactor_utc(const struct sweep *sweep)
{
    return sweep->reactor.io.clock.utc_ns(sweep->reactor.io.clock.self);
}

double reactor_usd(const struct sweep *sweep)
{
    double usd = sweep->fleet.usd_before;
    bool priced = sweep->fleet.usd_before > 0;
    int64_t now = reactor_now(sweep);

    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *host_state = &sweep->fleet.hosts[i];

        if (!host_state->host->has_rate)
            continue;
        priced = true;
        usd += host_state->host->rate *
               (double)(now - sweep->reactor.started_ns) /
               (3600.0 * (double)NS_PER_S);
    }
    return priced ? usd : NAN;
}
