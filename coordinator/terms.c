#include "coordinator/terms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/domain.h"
#include "coordinator/hosts.h"
#include "coordinator/objective.h"
#include "coordinator/params.h"
#include "coordinator/strategy.h"
#include "coordinator/value.h"

/* Of a strategy that learns, where nobody says how many: four landscapes of
 * thousands of points needed at most 150 (docs/strategies.md). */
#define EVALUATIONS 1000
#define SLOTS 4 /* of a host, where nobody says */
#define SPARE 4 /* times what should fit: the clock ends it, not the count */

const char *terms_command(const struct terms *terms)
{
    size_t len = strlen(TERMS_EXTERNAL);

    return strncmp(terms->strategy, TERMS_EXTERNAL, len) == 0
               ? terms->strategy + len
               : NULL;
}

static size_t words_of(const char *command)
{
    size_t n = 0;

    for (const char *at = command; *(at += strspn(at, " ")); n++)
        at += strcspn(at, " ");
    return n;
}

int terms_check(const struct terms *terms, struct err *err)
{
    const char *command = terms_command(terms);
    bool bare = strcmp(terms->strategy, "external") == 0;
    int rc = 0;

    if (!command && !bare)
        rc = strategy_evaluations(terms->strategy, err);
    else if (bare || command[strspn(command, " ")] == '\0')
        rc = err_set(err, ERR_INPUT,
                     "strategy 'external:': a command is missing, as in "
                     "'external:python3 my_strategy.py'");
    else if (words_of(command) > TERMS_WORDS_MAX)
        rc = err_set(err, ERR_INPUT,
                     "strategy 'external:': the command has %zu words, and "
                     "%d are the most; put it into a script",
                     words_of(command), TERMS_WORDS_MAX);
    else if (terms->race.first > 0)
        rc = err_set(err, ERR_INPUT,
                     "an external strategy does not race: give 'search' no "
                     "'race'");
    if (rc >= 0 && terms->race.first > 0 &&
        strcmp(terms->objective, OBJECTIVE_GEOMEAN) == 0)
        rc = err_set(err, ERR_INPUT,
                     "a race measures one shape again, and the objective "
                     "'geomean' is of all: give 'search' no 'race', or a shape "
                     "as its 'objective'");
    return rc < 0 ? rc : 0;
}

char *terms_split(const char *command, const char *argv[TERMS_WORDS_MAX + 1])
{
    char *words = mem_strdup(command), *rest = words, *word;
    size_t n = 0;

    while (n < TERMS_WORDS_MAX &&
           (word = strtok_r(n ? NULL : words, " ", &rest)))
        argv[n++] = word;
    argv[n] = NULL;
    return words;
}

void terms_settings(const struct terms *terms, struct buf *out)
{
    buf_printf(out, "\"strategy\": ");
    value_quote(terms->strategy, out);
    buf_printf(out,
               ", \"evaluations\": %" PRId64 ", \"search_seed\": %" PRId64
               ", \"race_first\": %d, \"race_factor\": %d, "
               "\"race_most\": %d, \"objective\": ",
               terms->evaluations, terms->seed, terms->race.first,
               terms->race.factor, terms->race.most);
    value_quote(terms->objective, out);
    buf_printf(out, ", ");
}

static double number_of(const struct params *params, const char *name)
{
    const struct param *param = params_find(params, name);

    return param ? param->number : 0;
}

int terms_recall(const char *settings, struct terms *out, char **strategy,
                 struct err *err)
{
    struct params params;
    const struct param *text;
    int rc = params_parse(settings, &params, err);

    *strategy = NULL;
    if (rc < 0)
        return rc;
    text = params_find(&params, "strategy");
    *strategy = mem_strdup(text ? text->text : TERMS_AUTO);
    *out = (struct terms){
        .strategy = *strategy,
        .objective = OBJECTIVE_HEADLINE,
        .evaluations = (int64_t)number_of(&params, "evaluations"),
        .seed = (int64_t)number_of(&params, "search_seed"),
        .race = { .first = (int)number_of(&params, "race_first"),
                  .factor = (int)number_of(&params, "race_factor"),
                  .most = (int)number_of(&params, "race_most") },
    };
    params_fini(&params);
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

void terms_hosts(const struct hosts *hosts, int *slots, int *gpus)
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

static double seconds(const struct terms_scope *scope, double points)
{
    double build = points * TERMS_BUILD_S / scope->slots;
    double measure = points * scope->shapes * TERMS_MEASURE_S / scope->gpus;

    return build > measure ? build : measure;
}

/* Evaluations when they are not said. */
static int64_t usual(const struct terms_scope *scope)
{
    double fit = SPARE * scope->hours * 3600 / seconds(scope, 1);

    return fit > DOMAIN_POINTS_MAX ? DOMAIN_POINTS_MAX
           : fit > EVALUATIONS     ? (int64_t)fit
                                   : EVALUATIONS;
}

static void decide(const struct terms *terms, const struct terms_scope *scope,
                   struct terms_plan *out)
{
    double hours = seconds(scope, (double)scope->points) / 3600;
    bool few = terms->evaluations > 0 && terms->evaluations < scope->points;
    bool slow = scope->hours > 0 && hours > scope->hours;

    out->strategy = few || slow ? "bayes" : "exhaustive";
    if (few)
        snprintf(out->why, sizeof(out->why),
                 "%" PRId64 " evaluations are fewer than all %" PRId64,
                 terms->evaluations, scope->points);
    else if (slow)
        snprintf(out->why, sizeof(out->why),
                 "all %" PRId64 " would take about %.2g of %.2g hours",
                 scope->points, hours, scope->hours);
    else if (terms->evaluations > 0 || scope->hours > 0)
        snprintf(out->why, sizeof(out->why), "all %" PRId64 " fit",
                 scope->points);
    else
        snprintf(out->why, sizeof(out->why), "there is no cap");
}

int terms_plan(const struct terms *terms, const struct terms_scope *scope,
               struct terms_plan *out, struct err *err)
{
    int64_t most = scope->points, sum = 0;

    *out = (struct terms_plan){ .strategy = terms->strategy };
    if (scope->points > DOMAIN_POINTS_MAX)
        return err_set(err, ERR_INPUT,
                       "%" PRId64 " configurations pass the gates, and no "
                       "strategy searches more than %d; use fewer values",
                       scope->points, DOMAIN_POINTS_MAX);
    if (strcmp(terms->strategy, TERMS_AUTO) == 0)
        decide(terms, scope, out);
    if (!terms_command(terms))
        sum = strategy_evaluations(out->strategy, err);
    if (sum < 0)
        return ERR_INPUT;
    if (sum > 0 && (terms->evaluations == 0 || terms->evaluations > sum))
        most = sum; /* its methods ask for no more */
    else if (terms->evaluations > 0)
        most = terms->evaluations;
    else if (strcmp(out->strategy, "exhaustive") != 0)
        most = usual(scope);
    if (most > scope->points)
        most = scope->points;
    out->evaluations = (int)most;
    out->all = strcmp(out->strategy, "exhaustive") == 0 &&
               most == scope->points && terms->race.first == 0;
    return 0;
}
