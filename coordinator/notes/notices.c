#include "coordinator/notes/notices.h"

#include <math.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/plan/plan.h"
#include "coordinator/state/progress_view.h"
#include "coordinator/state/reactor.h"

#define NAME_BYTES 256

static const struct sweep_watch *watch_of(const struct sweep *sweep)
{
    return &sweep->reactor.options->watch;
}

/* NaN: unknown, or times do not count: a check, or blocks. */
static struct progress_best best_of(const struct sweep *sweep)
{
    struct progress_best none = { .s = (double)NAN, .baseline_s = (double)NAN };

    if (!sweep->work.plan || sweep->reactor.options->ask)
        return none;
    return tried_best(&sweep->work.count.tried, sweep->work.plan);
}

/* Add how far it is, and tell. */
static void tell(const struct sweep *sweep, struct sweep_notice notice)
{
    const struct sweep_watch *watch = watch_of(sweep);
    struct progress_best best = best_of(sweep);
    struct progress_facts facts;

    notice.best_s = best.s;
    notice.baseline_s = best.baseline_s;
    notice.usd = reactor_usd(sweep);
    if (sweep->work.plan) {
        progress_view_facts(sweep, &facts);
        notice.tried = facts.settled;
        notice.correct = facts.correct;
        notice.total = facts.total;
    }
    watch->notify(watch->arg, &notice);
}

void notices_host_lost(const struct sweep *sweep, size_t host, const char *why)
{
    if (watch_of(sweep)->notify)
        tell(sweep,
             (struct sweep_notice){ .kind = SWEEP_NOTICE_LOST,
                                    .host = sweep->fleet.hosts[host].host->name,
                                    .why = why });
}

void notices_host_ready(const struct sweep *sweep, size_t host)
{
    if (watch_of(sweep)->notify)
        tell(sweep, (struct sweep_notice){
                        .kind = SWEEP_NOTICE_READY,
                        .host = sweep->fleet.hosts[host].host->name });
}

static void tell_best(const struct sweep *sweep)
{
    int unit = sweep->work.count.tried.best;
    char text[NAME_BYTES];

    plan_display(sweep->work.plan, unit, text, sizeof(text));
    tell(sweep, (struct sweep_notice){
                    .kind = SWEEP_NOTICE_BEST,
                    .config = plan_unit(sweep->work.plan, unit)->key,
                    .text = text });
}

void notices_turn(struct sweep *sweep)
{
    double *told_s = &sweep->reactor.told_s, best_s;

    if (!watch_of(sweep)->notify || !sweep->work.plan)
        return;
    best_s = best_of(sweep).s;
    if (*told_s <= 0) /* the first turn with a plan */
        *told_s = isnan(best_s) ? (double)INFINITY : best_s;
    if (!(best_s < *told_s))
        return;
    *told_s = best_s;
    tell_best(sweep);
}

void notices_end(const struct sweep *sweep)
{
    if (watch_of(sweep)->notify)
        tell(sweep, (struct sweep_notice){ .kind = SWEEP_NOTICE_END });
}
