/* What "right" means: how far outputs may be off, and on which inputs. */
#include "coordinator/spec/spec_check.h"

#include <math.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/spec/spec_internal.h"
#include "coordinator/text/suggest.h"

/* The smallest and the largest that a number may be. */
#define LEAST 1e-300
#define MOST 1e9

static const char *const keys[] = { "relative_l2", "max_error", "absolute",
                                    "ulp", "exact" };

enum {
    KEYS = 5,
    NUMBERS = 4
};

static const struct spec_tolerance none = {
    .relative_l2 = (double)INFINITY,
    .max_error = (double)INFINITY,
    .absolute = (double)INFINITY,
    .ulp = (double)INFINITY,
};

static bool is_integer(const struct spec_argument *argument)
{
    return strncmp(argument->type, "int", 3) == 0;
}

static int no_rule(const struct reader *r, const struct json *object,
                   const struct json *exact)
{
    bool others = false;

    for (size_t i = 0; i < NUMBERS; i++)
        others |= json_find(object, keys[i]) != NULL;
    if (exact && exact->truth && others)
        return spec_read_flaw(r, exact->at,
                              "an exact output needs no other rule; remove one",
                              "'exact' contradicts the other rules");
    if (!others && !(exact && exact->truth))
        return spec_read_flaw(
            r, object->at,
            "give relative_l2, max_error, absolute, ulp or \"exact\": true",
            "'tolerance' has no rule");
    return 0;
}

static int read_rules(struct reader *r, const struct json *object,
                      struct spec_tolerance *out)
{
    double *const numbers[] = { &out->relative_l2, &out->max_error,
                                &out->absolute, &out->ulp };
    const struct json *exact;

    *out = none;
    if (spec_read_object(r, object, "'tolerance'", keys, KEYS) < 0 ||
        spec_read_member(r, object, "exact", JSON_BOOL, false, &exact) < 0 ||
        no_rule(r, object, exact) < 0)
        return ERR_INPUT;
    out->exact = exact && exact->truth;
    for (size_t i = 0; i < NUMBERS; i++)
        if (spec_read_real(r, object, keys[i], LEAST, MOST, numbers[i]) < 0)
            return ERR_INPUT;
    return 0;
}

int spec_read_tolerance_of(struct reader *r, const struct json *json,
                           struct spec_argument *out)
{
    const struct json *object;

    if (spec_read_member(r, json, "tolerance", JSON_OBJECT, false, &object) < 0)
        return ERR_INPUT;
    if (!object) {
        out->tolerance = none;
        out->tolerance.exact = is_integer(out);
        return 0;
    }
    out->own_tolerance = true;
    if (is_integer(out) && json_find(object, "ulp"))
        return spec_read_flaw(r, json_find(object, "ulp")->at,
                              "use absolute, or exact, the default of integers",
                              "the type of '%s' has no ulp", out->name);
    return read_rules(r, object, &out->tolerance);
}

int spec_read_tolerance(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *object;
    bool needed = false;

    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        needed |= argument->output && !argument->own_tolerance &&
                  !argument->tolerance.exact;
    }
    if (spec_read_member(r, root, "tolerance", JSON_OBJECT, needed, &object) <
            0 ||
        (object && read_rules(r, object, &spec->tolerance) < 0))
        return ERR_INPUT;
    for (size_t i = 0; i < spec->n_arguments && object; i++)
        if (spec->arguments[i].output && !spec->arguments[i].own_tolerance &&
            !spec->arguments[i].tolerance.exact)
            spec->arguments[i].tolerance = spec->tolerance;
    return 0;
}

void spec_check_tolerance(const struct spec_tolerance *tolerance,
                          struct buf *to)
{
    const struct {
        const char *name;
        double most;
    } rules[] = { { "relative_l2", tolerance->relative_l2 },
                  { "max_error", tolerance->max_error },
                  { "absolute", tolerance->absolute },
                  { "ulp", tolerance->ulp } };

    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (isfinite(rules[i].most))
            buf_printf(to, " %s %.17g", rules[i].name, rules[i].most);
    if (tolerance->exact)
        buf_printf(to, " exact");
}

/* ---- trials */

/* Seeds of every check; the second is not the first configuration's luck. */
#define SEEDS 2

static const char *const edge_names[SPEC_EDGES] = {
    [SPEC_EDGE_ZEROS] = "zeros",     [SPEC_EDGE_TIES] = "ties",
    [SPEC_EDGE_LARGE] = "large",     [SPEC_EDGE_TINY] = "tiny",
    [SPEC_EDGE_EXTREME] = "extreme", [SPEC_EDGE_NEGATIVE] = "negative",
    [SPEC_EDGE_OFFSET] = "offset",
};

/* They would hide the errors of all other values, or are all values. */
#define ALONE                                          \
    (1u << SPEC_EDGE_LARGE | 1u << SPEC_EDGE_EXTREME | \
     1u << SPEC_EDGE_NEGATIVE | 1u << SPEC_EDGE_OFFSET)
/* No integer has them. */
#define FLOATS_ALONE (1u << SPEC_EDGE_EXTREME | 1u << SPEC_EDGE_OFFSET)

static int no_such_edge(const struct reader *r, const struct json *json)
{
    char ending[SUGGEST_BYTES] = "", why[160];

    if (json->kind == JSON_TEXT)
        (void)suggest_ending(json->text, strlen(json->text), edge_names,
                             SPEC_EDGES, ending);
    snprintf(why, sizeof(why),
             "it is one of zeros ties large tiny extreme "
             "negative offset%s",
             ending);
    return spec_read_flaw(r, json->at, why, "edge '%.64s' is unknown",
                          json->kind == JSON_TEXT ? json->text
                                                  : json_kind_name(json->kind));
}

static int read_edge(const struct reader *r, const struct json *json,
                     unsigned *edges)
{
    for (unsigned edge = 0; edge < SPEC_EDGES && json->kind == JSON_TEXT;
         edge++) {
        if (strcmp(json->text, edge_names[edge]) != 0)
            continue;
        if (*edges >> edge & 1u)
            return spec_read_flaw(r, json->at, "name each edge once",
                                  "there are two edges '%s'", json->text);
        *edges |= 1u << edge;
        return 0;
    }
    return no_such_edge(r, json);
}

int spec_read_trials(struct reader *r, const struct json *measure)
{
    struct spec_measure *out = &r->spec->measure;
    int64_t seeds = out->proof_seeds;
    const struct json *edges;

    if (spec_read_whole(r, measure, "proof_seeds", SEEDS, SPEC_SEEDS_MAX,
                        &seeds) < 0 ||
        spec_read_member(r, measure, "edges", JSON_ARRAY, false, &edges) < 0)
        return ERR_INPUT;
    out->proof_seeds = (int)seeds;
    if (!edges)
        return 0;
    out->edges = 0;
    for (size_t i = 0; i < edges->n; i++)
        if (read_edge(r, &edges->items[i], &out->edges) < 0)
            return ERR_INPUT;
    return 0;
}

/* Are its values floats with edges? */
static bool is_random(const struct spec_argument *argument)
{
    return argument->buffer && strncmp(argument->type, "int", 3) != 0 &&
           (strcmp(argument->fill, "normal") == 0 ||
            strcmp(argument->fill, "uniform") == 0 ||
            strcmp(argument->fill, "ramp") == 0);
}

static bool is_drawn(const struct spec_argument *argument)
{
    return argument->buffer && (strcmp(argument->fill, "range") == 0 ||
                                strcmp(argument->fill, "sorted") == 0 ||
                                strcmp(argument->fill, "permutation") == 0);
}

int spec_read_infinities(struct reader *r, const struct json *json,
                         struct spec_argument *out)
{
    const struct json *infinities;

    if (spec_read_member(r, json, "infinities", JSON_BOOL, false, &infinities) <
        0)
        return ERR_INPUT;
    out->infinities = infinities && infinities->truth;
    if (!out->infinities || (is_random(out) && !out->output))
        return 0;
    return spec_read_flaw(r, infinities->at,
                          "an input of a float type, with the fill normal, "
                          "uniform or ramp",
                          "'%s' cannot have infinities", out->name);
}

static void put_edges(struct buf *to, unsigned edges, char between)
{
    char before = ' ';

    for (unsigned edge = 0; edge < SPEC_EDGES; edge++) {
        if (!(edges >> edge & 1u))
            continue;
        buf_printf(to, "%c%s", before, edge_names[edge]);
        before = between;
    }
}

void spec_check_trials(const struct spec *spec, struct buf *to)
{
    const struct spec_measure *measure = &spec->measure;
    bool random = false, drawn = false, infinities = false;
    unsigned edges = measure->edges;

    for (size_t i = 0; i < spec->n_arguments; i++) {
        random |= is_random(&spec->arguments[i]);
        drawn |= is_drawn(&spec->arguments[i]);
        infinities |= spec->arguments[i].infinities;
    }
    buf_printf(to, "%d", measure->proof ? measure->proof_seeds : SEEDS);
    if (!random)
        edges &= drawn ? ~FLOATS_ALONE : 0;
    if (measure->proof)
        put_edges(to, edges, ' ');
    else
        put_edges(to, edges & ~ALONE, '+');
    if (infinities && measure->proof)
        buf_printf(to, " infinities");
}
