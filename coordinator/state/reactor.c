#include "coordinator/state/reactor.h"

#include <math.h>

#include "common/clock.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/schedule/ledger.h"

#define S_PER_HOUR 3600.0

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

int64_t reactor_steady_utc(const struct sweep *sweep)
{
    return sweep->reactor.io.clock.steady_utc_ns(sweep->reactor.io.clock.self);
}

double reactor_usd(const struct sweep *sweep)
{
    struct bill bill = sweep->fleet.before;
    double usd_before = sweep->reactor.options->caps.usd_before;
    bool priced = bill_has_price(&bill) || usd_before > 0;

    for (size_t i = 0; i < sweep->fleet.n && !priced; i++)
        priced = sweep->fleet.hosts[i].host->has_rate;
    ledger_bill(sweep->fleet.ledger, reactor_now(sweep), &bill);
    return priced ? bill.priced_usd + usd_before : (double)NAN;
}

double reactor_budget_usd(const struct sweep *sweep)
{
    const struct sweep_caps *caps = &sweep->reactor.options->caps;

    return caps->budget_usd > 0 && caps->more_usd
               ? caps->budget_usd + caps->more_usd()
               : caps->budget_usd;
}

double reactor_left_s(const struct sweep *sweep)
{
    const struct sweep_caps *caps = &sweep->reactor.options->caps;
    int64_t ran_ns = reactor_now(sweep) - sweep->reactor.started_ns;
    struct reserve_caps left = {
        .max_s = caps->max_hours * S_PER_HOUR,
        .used_s =
            caps->hours_before * S_PER_HOUR + (double)ran_ns / (double)NS_PER_S,
        .max_usd = reactor_budget_usd(sweep),
        .used_usd = reactor_usd(sweep),
        .usd_per_h = ledger_usd_per_h(sweep->fleet.ledger),
    };

    return reserve_left_s(&left);
}

struct reserve_times reactor_times(const struct sweep *sweep)
{
    const struct work *work = &sweep->work;
    struct reserve_times now = RESERVE_TIMES_UNKNOWN;

    if (work->n_issued > 0)
        now.start_s =
            (double)(work->issued[0].granted_ns - sweep->reactor.started_ns) /
            (double)NS_PER_S;
    if (work->pace.mean_ns[JOB_BUILD] > 0)
        now.build_s = work->pace.mean_ns[JOB_BUILD] / (double)NS_PER_S;
    if (work->pace.mean_ns[JOB_MEASURE] > 0)
        now.measure_s = work->pace.mean_ns[JOB_MEASURE] / (double)NS_PER_S;
    return reserve_times_or(now, &sweep->fleet.past);
}
