/* How to search: strategy, evaluations, seed, race, objective. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/objective.h"
#include "coordinator/spec_read.h"

#define METHODS \
    "there are auto, exhaustive, random, lhs, tpe, local, genetic and bayes"

static int read_strategy(struct reader *r, const struct json *search)
{
    struct terms *terms = &r->spec->search;
    const struct json *json;
    struct err why;

    if (read_member(r, search, "strategy", JSON_TEXT, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    free((char *)(uintptr_t)terms->strategy);
    terms->strategy = mem_strdup(json->text);
    if (terms_command(terms))
        return read_flaw(r, json->at,
                         "a sweep file starts no programs; write fa-coord "
                         "sweep --strategy 'external:...'",
                         "the strategy is a program");
    if (terms_check(terms, &why) < 0)
        return read_flaw(r, json->at, METHODS, "%s", why.text);
    return 0;
}

static bool is_shape(const struct spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->n_shapes; i++)
        if (strcmp(spec->shapes[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < spec->n_emulation_shapes; i++)
        if (strcmp(spec->emulation_shapes[i].name, name) == 0)
            return true;
    return false;
}

/* After the race, with which one of them does not go. */
static int read_objective(struct reader *r, const struct json *search)
{
    struct terms *terms = &r->spec->search;
    const struct json *json;

    if (read_member(r, search, "objective", JSON_TEXT, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    if (strcmp(json->text, OBJECTIVE_HEADLINE) != 0 &&
        strcmp(json->text, OBJECTIVE_GEOMEAN) != 0 &&
        !is_shape(r->spec, json->text))
        return read_flaw(r, json->at,
                         "it is 'headline', 'geomean' or the name of a shape",
                         "there is no shape '%.64s'", json->text);
    if (strcmp(json->text, OBJECTIVE_GEOMEAN) == 0 && terms->race.first > 0)
        return read_flaw(r, json->at,
                         "a race measures the fastest again at one shape: name "
                         "it, or give 'search' no 'race'",
                         "'geomean' does not go with a 'race'");
    free((char *)(uintptr_t)terms->objective);
    terms->objective = mem_strdup(json->text);
    return 0;
}

static int read_race(struct reader *r, const struct json *search)
{
    static const char *const keys[] = { "first", "factor", "most" };
    struct race_rules *race = &r->spec->search.race;
    int64_t first = 5, factor = 3, most = 45;
    const struct json *object;

    if (read_member(r, search, "race", JSON_OBJECT, false, &object) < 0)
        return ERR_INPUT;
    if (!object)
        return 0;
    if (read_object(r, object, "'race'", keys, 3) < 0 ||
        read_whole(r, object, "first", 1, 1000, &first) < 0 ||
        read_whole(r, object, "factor", 2, 100, &factor) < 0 ||
        read_whole(r, object, "most", 1, 1000, &most) < 0)
        return ERR_INPUT;
    if (most < first * factor)
        return read_flaw(r, object->at,
                         "the second rung has 'factor' times the samples of "
                         "the 'first'",
                         "'most' is %d samples, and the second rung %d",
                         (int)most, (int)(first * factor));
    *race = (struct race_rules){ (int)first, (int)factor, (int)most };
    return 0;
}

int read_search(struct reader *r, const struct json *root)
{
    static const char *const keys[] = { "strategy", "evaluations", "seed",
                                        "race", "objective" };
    struct terms *terms = &r->spec->search;
    const struct json *search;

    if (read_member(r, root, "search", JSON_OBJECT, false, &search) < 0)
        return ERR_INPUT;
    if (!search)
        return 0;
    if (read_object(r, search, "'search'", keys, 5) < 0 ||
        read_strategy(r, search) < 0 ||
        read_whole(r, search, "evaluations", 1, TERMS_EVALUATIONS_MAX,
                   &terms->evaluations) < 0 ||
        read_whole(r, search, "seed", 0, (double)TERMS_SEED_MAX, &terms->seed) <
            0)
        return ERR_INPUT;
    if (read_race(r, search) < 0)
        return ERR_INPUT;
    return read_objective(r, search);
}
