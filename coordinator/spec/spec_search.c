/* How to search: strategy, evaluations, seed, race, objective. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/search/objective.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec_internal.h"
#include "coordinator/text/suggest.h"

#define METHODS                                                            \
    "choose auto, exhaustive, random, lhs, tpe, local, genetic, bayes or " \
    "bayes-penalty"

static int read_strategy(struct reader *r, const struct json *search)
{
    struct search_settings *settings = r->spec->search;
    const struct json *json;
    struct err why;

    if (spec_read_member(r, search, "strategy", JSON_TEXT, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    free((char *)(uintptr_t)settings->strategy);
    settings->strategy = mem_strdup(json->text);
    if (search_settings_command(settings))
        return spec_read_flaw(r, json->at,
                              "a sweep file cannot start programs; use "
                              "fa-coord sweep --strategy 'external:...'",
                              "the strategy is a program");
    if (search_settings_check(settings, &why) < 0)
        return spec_read_flaw(r, json->at, METHODS, "%s", why.text);
    return 0;
}

static bool is_shape(const struct spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->shapes.n; i++)
        if (strcmp(spec->shapes.list[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < spec->shapes.n_emulation; i++)
        if (strcmp(spec->shapes.emulation[i].name, name) == 0)
            return true;
    return false;
}

static int no_such_objective(const struct reader *r, const struct json *json)
{
    const struct spec *spec = r->spec;
    const char *names[2 * SPEC_SHAPES_MAX + 2] = { OBJECTIVE_HEADLINE,
                                                   OBJECTIVE_GEOMEAN };
    char ending[SUGGEST_BYTES], why[160];
    size_t n = 2;

    for (size_t i = 0; i < spec->shapes.n; i++)
        names[n++] = spec->shapes.list[i].name;
    for (size_t i = 0; i < spec->shapes.n_emulation; i++)
        names[n++] = spec->shapes.emulation[i].name;
    snprintf(why, sizeof(why),
             "write 'headline', 'geomean' or the name of a shape%s",
             suggest_ending(json->text, strlen(json->text), names, n, ending));
    return spec_read_flaw(r, json->at, why, "there is no shape '%.64s'",
                          json->text);
}

/* After reading the race, because one objective does not work with a race. */
static int read_objective(struct reader *r, const struct json *search)
{
    struct search_settings *settings = r->spec->search;
    const struct json *json;

    if (spec_read_member(r, search, "objective", JSON_TEXT, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    if (strcmp(json->text, OBJECTIVE_HEADLINE) != 0 &&
        strcmp(json->text, OBJECTIVE_GEOMEAN) != 0 &&
        !is_shape(r->spec, json->text))
        return no_such_objective(r, json);
    if (strcmp(json->text, OBJECTIVE_GEOMEAN) == 0 && settings->race.first > 0)
        return spec_read_flaw(r, json->at,
                              "a race measures the fastest again at one shape; "
                              "name that shape, or remove 'race'",
                              "'geomean' cannot be combined with 'race'");
    free((char *)(uintptr_t)settings->objective);
    settings->objective = mem_strdup(json->text);
    return 0;
}

static int read_race(struct reader *r, const struct json *search)
{
    static const char *const keys[] = { "first", "factor", "most" };
    struct successive_halving_rules *race = &r->spec->search->race;
    int64_t first = 5, factor = 3, most = 45;
    const struct json *object;

    if (spec_read_member(r, search, "race", JSON_OBJECT, false, &object) < 0)
        return ERR_INPUT;
    if (!object)
        return 0;
    if (spec_read_object(r, object, "'race'", keys, 3) < 0 ||
        spec_read_whole(r, object, "first", 1, 1000, &first) < 0 ||
        spec_read_whole(r, object, "factor", 2, 100, &factor) < 0 ||
        spec_read_whole(r, object, "most", 1, 1000, &most) < 0)
        return ERR_INPUT;
    if (most < first * factor)
        return spec_read_flaw(
            r, object->at,
            "the second rung takes 'factor' times as many samples as 'first'",
            "'most' is %d samples, but the second rung takes %d", (int)most,
            (int)(first * factor));
    *race =
        (struct successive_halving_rules){ (int)first, (int)factor, (int)most };
    return 0;
}

int spec_read_search(struct reader *r, const struct json *root)
{
    static const char *const keys[] = {
        "strategy", "evaluations", "seed", "race", "objective", "in_flight"
    };
    struct search_settings *settings = r->spec->search;
    const struct json *search;

    if (spec_read_member(r, root, "search", JSON_OBJECT, false, &search) < 0)
        return ERR_INPUT;
    if (!search)
        return 0;
    if (spec_read_object(r, search, "'search'", keys, 6) < 0 ||
        read_strategy(r, search) < 0 ||
        spec_read_whole(r, search, "evaluations", 1,
                        SEARCH_SETTINGS_EVALUATIONS_MAX,
                        &settings->evaluations) < 0 ||
        spec_read_whole(r, search, "seed", 0, (double)SEARCH_SETTINGS_SEED_MAX,
                        &settings->seed) < 0)
        return ERR_INPUT;
    if (spec_read_whole(r, search, "in_flight", 1,
                        SEARCH_SETTINGS_IN_FLIGHT_MAX,
                        &settings->in_flight) < 0 ||
        read_race(r, search) < 0)
        return ERR_INPUT;
    return read_objective(r, search);
}
