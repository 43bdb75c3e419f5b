/* On which inputs a kernel is checked. */
#include "coordinator/spec/spec_trials.h"

#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/spec/spec_internal.h"

/* Seeds of every check; the second is not the first configuration's luck. */
#define SEEDS 2

static const char *const edge_names[SPEC_EDGES] = {
    [SPEC_EDGE_ZEROS] = "zeros",
    [SPEC_EDGE_TIES] = "ties",
    [SPEC_EDGE_LARGE] = "large",
    [SPEC_EDGE_TINY] = "tiny",
};

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
    return spec_read_flaw(r, json->at, "it is one of zeros ties large tiny",
                          "edge '%.64s' is unknown",
                          json->kind == JSON_TEXT ? json->text
                                                  : json_kind_name(json->kind));
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

/* Do its values have edges? */
static bool is_random(const struct spec_argument *argument)
{
    return argument->buffer && strncmp(argument->type, "int", 3) != 0 &&
           (strcmp(argument->fill, "normal") == 0 ||
            strcmp(argument->fill, "uniform") == 0 ||
            strcmp(argument->fill, "ramp") == 0);
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

void spec_trials(const struct spec *spec, struct buf *to)
{
    const struct spec_measure *measure = &spec->measure;
    bool random = false, infinities = false;

    for (size_t i = 0; i < spec->n_arguments; i++) {
        random |= is_random(&spec->arguments[i]);
        infinities |= spec->arguments[i].infinities;
    }
    buf_printf(to, "%d", measure->proof ? measure->proof_seeds : SEEDS);
    if (random && measure->proof)
        put_edges(to, measure->edges, ' ');
    else if (random)
        put_edges(to, measure->edges & ~(1u << SPEC_EDGE_LARGE), '+');
    if (infinities && measure->proof)
        buf_printf(to, " infinities");
}
