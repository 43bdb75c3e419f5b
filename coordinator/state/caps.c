#include "coordinator/state/caps.h"

#include <math.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/state/progress_view.h"
#include "coordinator/state/reactor.h"
#include "coordinator/text/exit_code.h"

/* How many fit into the caps is said after so many, and when it changes so
 * much. */
#define FIT_TRIED 8
#define FIT_TIMES 2

/* What leads may end with what it has; otherwise the sweep fails. */
static void reach(struct sweep *sweep, const struct err *err)
{
    struct pass *lead = sweep->passes.lead;

    if (!lead || !lead->ops->end.close || !lead->ops->end.close(sweep, lead))
        reactor_fail(sweep, EXIT_CAP, err);
}

static void check_caps(struct sweep *sweep, int64_t now)
{
    const struct sweep_options *options = sweep->reactor.options;
    double hours =
        options->caps.hours_before +
        (double)(now - sweep->reactor.started_ns) / (3600.0 * (double)NS_PER_S);
    double usd = reactor_usd(sweep), budget = reactor_budget_usd(sweep);
    struct err err;

    if (options->caps.max_hours > 0 && hours >= options->caps.max_hours) {
        err_set(&err, ERR_INPUT, "the cap of %g hours is reached",
                options->caps.max_hours);
        reach(sweep, &err);
    }
    if (budget > 0 && usd >= budget) {
        err_set(&err, ERR_INPUT, "the budget of $%g is spent", budget);
        reach(sweep, &err);
    }
}

/* The baseline and another one, so that there is something to confirm. */
static bool can_confirm(const struct sweep *sweep)
{
    const struct tried *tried = &sweep->work.count.tried;

    return sweep->work.plan && tried->tally.correct > 1 &&
           !isnan(tried_best(tried, sweep->work.plan).baseline_s);
}

/* Say how many configurations fit by the pace of this run, which is the first
 * one, and again when that turns out to be quite different. */
static void say_fit(struct sweep *sweep, const struct progress_facts *facts,
                    double left_s)
{
    struct reactor *reactor = &sweep->reactor;
    double took_s;
    int fit;

    if (facts->settled < FIT_TRIED || sweep->fleet.past_builds ||
        sweep->work.n_issued == 0)
        return;
    took_s = (double)(reactor_now(sweep) - sweep->work.issued[0].granted_ns) /
             (double)NS_PER_S;
    fit = reserve_fit(facts->settled, took_s, left_s, facts->total);
    if (reactor->said_fit && fit < FIT_TIMES * reactor->said_fit &&
        reactor->said_fit < FIT_TIMES * fit)
        return;
    reactor->said_fit = fit;
    progress_say(reactor->progress,
                 "at this pace %s%d of %d configurations fit, and then their "
                 "confirmation",
                 fit < facts->total ? "about " : "all ", fit, facts->total);
}

/* Before more is spent: it will buy no verdict. */
static void say_none(struct sweep *sweep, double left_s)
{
    if (!sweep->reactor.said_none)
        progress_say(sweep->reactor.progress,
                     "what is left, %.2g s, is too little to confirm even one "
                     "configuration: the search continues to the cap, and ends "
                     "without a verdict",
                     left_s);
    sweep->reactor.said_none = true;
}

/* Give nothing out any more when what is left is what the confirmation takes.
 * If it is too little for any, the search goes on to the cap. */
static void check_reserve(struct sweep *sweep, int64_t now)
{
    struct reactor *reactor = &sweep->reactor;
    const struct reserve_pass *pass = reactor->options->caps.reserve;
    struct reserve_times times;
    struct progress_facts facts;
    enum reserve_step next;
    double left_s;

    if (!pass || reactor->closed_ns || reactor->ending || !can_confirm(sweep))
        return;
    left_s = reactor_left_s(sweep);
    if (isinf(left_s))
        return;
    times = reactor_times(sweep);
    next = reserve_next(pass, &times, left_s);
    progress_view_facts(sweep, &facts);
    say_fit(sweep, &facts, left_s - reserve_s(pass, &times));
    if (next == RESERVE_NONE)
        say_none(sweep, left_s);
    if (next != RESERVE_CLOSE)
        return;
    reactor->closed_ns = now;
    reactor->close_by_ns =
        now + (int64_t)(reserve_committed_s(&times) * (double)NS_PER_S);
    progress_say(reactor->progress,
                 "%d of %d configurations were tried; what is left, %.2g s, is "
                 "for the confirmation",
                 facts.settled, facts.total, left_s);
}

void caps_check(struct sweep *sweep, int64_t now)
{
    check_caps(sweep, now);
    check_reserve(sweep, now);
}
