#include "coordinator/spec/search_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/effort.h"
#include "coordinator/search/objective.h"
#include "coordinator/search/search.h"
#include "coordinator/search/strategy.h"
#include "coordinator/stored/stored_params.h"
#include "coordinator/text/value.h"

/* Default evaluations of a strategy that learns: four landscapes of thousands
 * of points needed at most 150 (docs/strategies.md). */
#define EVALUATIONS 1000
#define SLOTS 4 /* default build slots of a host */
#define SPARE 4 /* times what should fit: the clock ends it */

const char *
search_settings_command(const struct search_settings *search_settings)
{
    size_t len = strlen(SEARCH_SETTINGS_EXTERNAL);

    return strncmp(search_settings->strategy, SEARCH_SETTINGS_EXTERNAL, len) ==
                   0
               ? search_settings->strategy + len
               : NULL;
}

static size_t words_of(const char *command)
{
    size_t n = 0;

    for (const char *at = command; *(at += strspn(at, " ")); n++)
        at += strcspn(at, " ");
    return n;
}

int search_settings_check(const struct search_settings *search_settings,
                          struct err *err)
{
    const char *command = search_settings_command(search_settings);
    bool bare = strcmp(search_settings->strategy, "external") == 0;
    int rc = 0;

    if (!command && !bare)
        rc = strategy_evaluations(search_settings->strategy, err);
    else if (bare || command[strspn(command, " ")] == '\0')
        rc = err_set(err, ERR_INPUT,
                     "strategy 'external:': the command is missing; write "
                     "'external:python3 my_strategy.py', for example");
    else if (words_of(command) > SEARCH_SETTINGS_WORDS_MAX)
        rc = err_set(err, ERR_INPUT,
                     "strategy 'external:': the command has %zu words, more "
                     "than %d; put it into a script",
                     words_of(command), SEARCH_SETTINGS_WORDS_MAX);
    else if (search_settings->race.first > 0)
        rc = err_set(
            err, ERR_INPUT,
            "an external strategy cannot race; remove 'race' from 'search'");
    if (rc >= 0 && search_settings->race.first > 0 &&
        strcmp(search_settings->objective, OBJECTIVE_GEOMEAN) == 0)
        rc = err_set(err, ERR_INPUT,
                     "a race measures one shape, but the objective 'geomean' "
                     "needs all shapes; remove 'race' from 'search', or name a "
                     "shape as 'objective'");
    return err_only(rc);
}

char *search_settings_split(const char *command,
                            const char *argv[SEARCH_SETTINGS_WORDS_MAX + 1])
{
    char *words = mem_strdup(command), *rest = words, *word;
    size_t n = 0;

    while (n < SEARCH_SETTINGS_WORDS_MAX &&
           (word = strtok_r(n ? NULL : words, " ", &rest)))
        argv[n++] = word;
    argv[n] = NULL;
    return words;
}

void search_settings_put(const struct search_settings *search_settings,
                         struct buf *out)
{
    buf_printf(out, "\"strategy\": ");
    value_quote(search_settings->strategy, out);
    buf_printf(out,
               ", \"evaluations\": %" PRId64 ", \"search_seed\": %" PRId64
               ", \"in_flight\": %" PRId64
               ", \"race_first\": %d, \"race_factor\": %d, "
               "\"race_most\": %d, \"effort\": \"%s\", \"objective\": ",
               search_settings->evaluations, search_settings->seed,
               search_settings->in_flight, search_settings->race.first,
               search_settings->race.factor, search_settings->race.most,
               effort_name(search_settings->effort));
    value_quote(search_settings->objective, out);
    buf_printf(out, ", ");
}

static double number_of(const struct stored_params *params, const char *name)
{
    const struct stored_param *param = stored_params_find(params, name);

    return param ? param->number : 0;
}

int search_settings_recall(const char *settings, struct search_settings *out,
                           char **strategy, struct err *err)
{
    struct stored_params params;
    const struct stored_param *text, *effort;
    int rc = stored_params_parse(settings, &params, err);

    *strategy = NULL;
    if (rc < 0)
        return rc;
    text = stored_params_find(&params, "strategy");
    *strategy = mem_strdup(text ? text->text : SEARCH_SETTINGS_AUTO);
    effort = stored_params_find(&params, "effort");
    *out = (struct search_settings){
        .strategy = *strategy,
        .objective = OBJECTIVE_HEADLINE,
        .effort = effort_recall(effort ? effort->text : NULL),
        .evaluations = (int64_t)number_of(&params, "evaluations"),
        .seed = (int64_t)number_of(&params, "search_seed"),
        .in_flight = (int64_t)number_of(&params, "in_flight"),
        .race = { .first = (int)number_of(&params, "race_first"),
                  .factor = (int)number_of(&params, "race_factor"),
                  .most = (int)number_of(&params, "race_most") },
    };
    stored_params_fini(&params);
    return 0;
}

static int gpus_of(const struct host *host)
{
    int n = 1;

    if (strcmp(host->gpus, "none") == 0 || host->role == HOST_BUILDER)
        return 0;
    for (const char *c = host->gpus; *c; c++)
        n += *c == ',';
    return n;
}

static int slots_of(const struct host *host)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (host->role == HOST_GPU)
        return 0;
    if (host->slots > 0)
        return host->slots;
    return host->local && cores > 0 ? (int)cores : SLOTS;
}

void search_settings_hosts(const struct hosts *hosts, int *slots, int *gpus)
{
    *slots = *gpus = 0;
    for (size_t i = 0; i < hosts->n; i++) {
        *slots += slots_of(&hosts->list[i]);
        *gpus += gpus_of(&hosts->list[i]);
    }
    if (*slots < 1)
        *slots = 1;
    if (*gpus < 1)
        *gpus = 1;
}

static double seconds_at(const struct search_settings_scope *scope,
                         double points, double build_s)
{
    double each =
        scope->measure_s > 0 ? scope->measure_s : SEARCH_SETTINGS_MEASURE_S;
    double build = points * build_s / scope->slots;
    double measure = points * scope->shapes * each / scope->gpus;

    return build > measure ? build : measure;
}

static double seconds(const struct search_settings_scope *scope, double points)
{
    return seconds_at(scope, points,
                      scope->build_s > 0 ? scope->build_s
                                         : SEARCH_SETTINGS_BUILD_S);
}

/* Of the cap, without what the confirmation takes. */
static double hours_of(const struct search_settings_scope *scope)
{
    return scope->hours - scope->kept_s / 3600;
}

/* Would all fit even if builds were slow?  Only then they are tried in order:
 * a cap that ends an exhaustive search leaves a part of the space out. */
static bool is_sure(const struct search_settings_scope *scope)
{
    return !scope->guessed ||
           seconds_at(scope, (double)scope->points,
                      SEARCH_SETTINGS_BUILD_MOST_S) < hours_of(scope) * 3600;
}

/* The default number of evaluations. */
static int64_t usual(const struct search_settings_scope *scope)
{
    double fit = SPARE * hours_of(scope) * 3600 / seconds(scope, 1);

    return fit > DOMAIN_POINTS_MAX ? DOMAIN_POINTS_MAX
           : fit > EVALUATIONS     ? (int64_t)fit
                                   : EVALUATIONS;
}

/* All that there is, or as many as the seconds allow. */
static void decide_by_effort(enum effort effort, int64_t points,
                             struct search_settings_plan *out)
{
    bool all = effort == EFFORT_FULL || points <= EFFORT_QUICK_LEAST;

    out->strategy = all ? "exhaustive" : "bayes";
    if (all)
        snprintf(out->why, sizeof(out->why), "effort %s, all %" PRId64,
                 effort_name(effort), points);
    else
        snprintf(out->why, sizeof(out->why), "effort %s, ends after %g s",
                 effort_name(effort), EFFORT_QUICK_SEARCH_S);
}

static void decide(const struct search_settings *search_settings,
                   const struct search_settings_scope *scope,
                   struct search_settings_plan *out)
{
    double hours = seconds(scope, (double)scope->points) / 3600;
    bool few = search_settings->evaluations > 0 &&
               search_settings->evaluations < scope->points;
    bool slow = scope->hours > 0 && hours > hours_of(scope);
    bool unsure = scope->hours > 0 && !is_sure(scope);

    if (!few && search_settings->effort != EFFORT_NORMAL) {
        decide_by_effort(search_settings->effort, scope->points, out);
        return;
    }
    out->strategy = few || slow || unsure ? "bayes" : "exhaustive";
    if (few)
        snprintf(out->why, sizeof(out->why),
                 "%" PRId64 " evaluations are fewer than all %" PRId64,
                 search_settings->evaluations, scope->points);
    else if (slow)
        snprintf(out->why, sizeof(out->why),
                 "all %" PRId64 " would take about %.2g of %.2g hours",
                 scope->points, hours, scope->hours);
    else if (unsure)
        snprintf(out->why, sizeof(out->why),
                 "no build time is known yet, and the cap may end it");
    else if (search_settings->evaluations > 0 || scope->hours > 0)
        snprintf(out->why, sizeof(out->why), "all %" PRId64 " fit",
                 scope->points);
    else
        snprintf(out->why, sizeof(out->why), "there is no cap");
}

static void say_in_flight(const struct search_settings *search_settings,
                          struct search_settings_plan *out)
{
    out->most_out = search_settings->in_flight;
    if (search_settings->in_flight > 0)
        snprintf(out->in_flight, sizeof(out->in_flight),
                 ", at most %" PRId64 " in flight", search_settings->in_flight);
    else if (out->limit_s > 0) /* seconds count, not evaluations */
        out->most_out = SEARCH_SETTINGS_IN_FLIGHT_MAX;
    else if (search_settings_command(search_settings) ||
             strategy_learns(out->strategy))
        snprintf(out->in_flight, sizeof(out->in_flight),
                 ", at most 1/%d of the rest in flight", SEARCH_OUT_SHARE);
}

/* Can it choose among points drawn at random?  The other methods build points
 * or go from one to its neighbours, and find next to none of those in a draw.
 */
static bool draws(const char *strategy)
{
    static const char *const methods[] = { "bayes", "random" };

    for (const char *at = strategy;; at += strcspn(at, ",") + 1) {
        size_t len = strcspn(at, ":,");
        bool found = false;

        for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
            found |=
                strlen(methods[i]) == len && strncmp(at, methods[i], len) == 0;
        if (!found)
            return false;
        if (!at[strcspn(at, ",")])
            return true;
    }
}

static int refuse_many(const char *strategy, int64_t points, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%" PRId64 " configurations pass the gates; strategy "
                   "'%.40s' searches at most %d; use fewer values, or bayes or "
                   "random with --evaluations, which search %d drawn at random",
                   points, strategy, DOMAIN_POINTS_MAX, DOMAIN_DRAWN);
}

/* How many evaluations where nothing says it.  With little effort, seconds end
 * a search whose strategy was not chosen. */
static int64_t usual_or_quick(const struct search_settings *search_settings,
                              const struct search_settings_scope *scope,
                              struct search_settings_plan *out)
{
    int64_t most = usual(scope);
    bool chosen = strcmp(search_settings->strategy, SEARCH_SETTINGS_AUTO) != 0;

    if (chosen || search_settings->effort != EFFORT_QUICK)
        return most;
    out->limit_s = EFFORT_QUICK_SEARCH_S;
    out->least = EFFORT_QUICK_LEAST;
    return most < EFFORT_QUICK_EVALUATIONS ? most : EFFORT_QUICK_EVALUATIONS;
}

int search_settings_plan(const struct search_settings *search_settings,
                         const struct search_settings_scope *scope,
                         struct search_settings_plan *out, struct err *err)
{
    int64_t most = scope->points, sum = 0;
    bool exhaustive;

    *out =
        (struct search_settings_plan){ .strategy = search_settings->strategy };
    if (strcmp(search_settings->strategy, SEARCH_SETTINGS_AUTO) == 0)
        decide(search_settings, scope, out);
    exhaustive = strcmp(out->strategy, "exhaustive") == 0;
    out->drawn = scope->points > DOMAIN_POINTS_MAX;
    if (out->drawn && !draws(out->strategy))
        return refuse_many(out->strategy, scope->points, err);
    if (!search_settings_command(search_settings))
        sum = strategy_evaluations(out->strategy, err);
    if (sum < 0)
        return ERR_INPUT;
    if (sum > 0 && (search_settings->evaluations == 0 ||
                    search_settings->evaluations > sum))
        most = sum; /* its methods ask for no more */
    else if (search_settings->evaluations > 0)
        most = search_settings->evaluations;
    else if (!exhaustive)
        most = usual_or_quick(search_settings, scope, out);
    if (most > scope->points)
        most = scope->points;
    if (out->drawn && most > DOMAIN_DRAWN)
        most = DOMAIN_DRAWN;
    out->evaluations = (int)most;
    out->all =
        exhaustive && most == scope->points && search_settings->race.first == 0;
    say_in_flight(search_settings, out);
    return 0;
}
