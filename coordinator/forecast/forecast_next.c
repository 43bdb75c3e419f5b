/* What is said at the end of a command that can be continued. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/forecast/forecast.h"
#include "coordinator/live/live_text.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/tasks/run.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/shell_word.h"

#define S_PER_HOUR 3600

#define GUESS_TIMES 2 /* so much longer it may take than was guessed */

/* Without times the highest is of no use. */
static double most_of(const struct forecast *forecast,
                      const struct estimate_range *range, double reserve)
{
    return forecast->learnt_from ? range->high + reserve
                                 : GUESS_TIMES * (range->likely + reserve);
}

/* The end of the search must not be taken for what a cap keeps back. */
static double rest_s(const struct forecast *forecast)
{
    return forecast->run ? most_of(forecast, &forecast->estimate.wall_s,
                                   forecast->reserve_s)
                         : (double)INFINITY;
}

static double rest_usd(const struct forecast *forecast)
{
    double reserve_usd =
        forecast->reserve_s / S_PER_HOUR * forecast->estimate.usd_per_hour;

    return forecast->run
               ? most_of(forecast, &forecast->estimate.usd, reserve_usd)
               : (double)INFINITY;
}

static bool has_price(const struct run *run)
{
    for (size_t i = 0; i < run->hosts.n; i++)
        if (run->hosts.list[i].has_rate)
            return true;
    return false;
}

/* The caps of the run as flags, for a command that would have none without: a
 * cap belongs to one run.  A budget without a price would be refused. */
static void put_caps(const struct forecast *forecast, const struct run *run,
                     bool raised)
{
    double usd = run->set.budget_usd, hours = run->set.max_hours;

    if (raised) {
        usd = reserve_raised(usd, forecast->spent_usd, rest_usd(forecast));
        hours = reserve_raised(hours, 0, rest_s(forecast) / S_PER_HOUR);
    }
    if (usd > 0 && has_price(run))
        fprintf(stderr, " --budget %g", usd);
    if (hours > 0)
        fprintf(stderr, " --max-hours %g", hours);
    fputc('\n', stderr);
}

static void say_rest(const struct forecast *forecast)
{
    const struct estimate *estimate = &forecast->estimate;
    char s[LIVE_TEXT_BYTES], usd[LIVE_TEXT_BYTES];

    if (forecast->spent_usd > 0)
        fprintf(stderr, "%s is spent, and ",
                live_text_usd(forecast->spent_usd, usd));
    if (forecast->learnt_from)
        fprintf(stderr, "the rest takes %s",
                live_text_left(&estimate->wall_s, s));
    else
        fprintf(stderr, "the rest takes perhaps %s",
                live_text_duration(estimate->wall_s.likely, s));
    if (estimate->priced > 0)
        fprintf(stderr, " and %s",
                forecast->learnt_from
                    ? live_text_left_usd(&estimate->usd, usd)
                    : live_text_usd(estimate->usd.likely, usd));
    fprintf(stderr, "; ");
}

void forecast_say_next(const struct forecast *forecast, const struct run *run,
                       int code, const char *command)
{
    bool raised = code == EXIT_CAP;
    char *db;

    if (!exit_code_is_resumable(code))
        return;
    db = shell_word(run->db);
    fprintf(stderr, "nothing is lost; ");
    if (forecast->run && isfinite(rest_s(forecast)))
        say_rest(forecast);
    fprintf(stderr, "to continue%s: fa-coord %s %s",
            raised ? ", raise the limit with --budget or --max-hours" : "",
            command, db);
    free(db);
    put_caps(forecast, run, raised);
}
