#include "coordinator/space/space_domain.h"

#include <assert.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stats/prng.h"

#define VALUE_BYTES_MAX 65536

struct axis {
    int *value_at; /* [n] index in the file of each level's value */
    int *level_of; /* the inverse */
    int64_t stride, n;
    double *numbers; /* [n] of the levels, or NULL */
    char **json;     /* [n] likewise */
};

struct space_domain {
    const struct spec *spec;
    struct domain *domain;
    struct axis axes[SPEC_AXES_MAX];
    struct external_strategy_tunable tunables[SPEC_AXES_MAX];
};

static int by_number(const void *a, const void *b, void *arg)
{
    const struct value *values = arg;
    double x = value_number(&values[*(const int *)a]);
    double y = value_number(&values[*(const int *)b]);

    return (x > y) - (x < y);
}

static bool is_ordered(const struct spec_axis *axis)
{
    return axis->kind == VALUE_INT || axis->kind == VALUE_REAL;
}

static char *json_of(const struct value *value)
{
    struct buf text;

    buf_init(&text, VALUE_BYTES_MAX);
    value_json(value, &text);
    return text.bytes;
}

static void set_axis(struct axis *out, const struct spec_axis *axis,
                     int64_t stride)
{
    *out = (struct axis){ .stride = stride, .n = (int64_t)axis->n };
    out->value_at = mem_new(axis->n, sizeof(int));
    out->level_of = mem_new(axis->n, sizeof(int));
    out->json = mem_new(axis->n, sizeof(char *));
    for (size_t i = 0; i < axis->n; i++)
        out->value_at[i] = (int)i;
    if (is_ordered(axis)) {
        out->numbers = mem_new(axis->n, sizeof(double));
        qsort_r(out->value_at, axis->n, sizeof(int), by_number, axis->values);
    }
    for (size_t level = 0; level < axis->n; level++) {
        const struct value *value = &axis->values[out->value_at[level]];

        out->level_of[out->value_at[level]] = (int)level;
        out->json[level] = json_of(value);
        if (out->numbers)
            out->numbers[level] = value_number(value);
    }
}

static void set_axes(struct space_domain *space_domain)
{
    struct domain_tunable tunables[SPEC_AXES_MAX];
    const struct spec *spec = space_domain->spec;
    int64_t stride = 1;

    for (size_t i = spec->space.n_axes; i-- > 0;) {
        const struct spec_axis *axis = &spec->space.axes[i];

        set_axis(&space_domain->axes[i], axis, stride);
        stride *= (int64_t)axis->n;
        tunables[i] =
            (struct domain_tunable){ .levels = (int)axis->n,
                                     .ordered = is_ordered(axis),
                                     .values = space_domain->axes[i].numbers };
        space_domain->tunables[i] = (struct external_strategy_tunable){
            axis->name, (const char *const *)space_domain->axes[i].json
        };
    }
    space_domain->domain = domain_new(tunables, (int)spec->space.n_axes);
}

static void levels_of(const struct space_domain *space_domain, int64_t number,
                      uint16_t *levels)
{
    for (size_t i = 0; i < space_domain->spec->space.n_axes; i++) {
        const struct axis *axis = &space_domain->axes[i];

        levels[i] = (uint16_t)axis->level_of[number / axis->stride % axis->n];
    }
}

static void add_point(struct space_domain *space_domain, int64_t number)
{
    uint16_t levels[SPEC_AXES_MAX];

    levels_of(space_domain, number, levels);
    domain_add(space_domain->domain, levels);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Where points come from: all that pass, or those of a draw. */
struct source {
    struct space *space;
    int64_t *ranks; /* drawn, in ascending order; NULL: all */
    size_t n, at;
};

/* A rank may be drawn twice; the domain keeps a point once. */
static void draw_ranks(const struct spec *spec, int64_t passed,
                       struct source *source)
{
    struct prng prng;

    if (passed <= DOMAIN_POINTS_MAX)
        return;
    prng_init(&prng, (uint64_t)spec->measure.seed);
    source->n = DOMAIN_DRAWN;
    source->ranks = mem_new(source->n, sizeof(*source->ranks));
    for (size_t i = 0; i < source->n; i++)
        source->ranks[i] = (int64_t)prng_below(&prng, (uint64_t)passed);
    qsort(source->ranks, source->n, sizeof(*source->ranks), ascending);
}

static int next_of(struct source *source, struct space_point *out,
                   struct err *err)
{
    if (!source->ranks)
        return space_next(source->space, out, err);
    if (source->at == source->n)
        return 0;
    return space_at(source->space, source->ranks[source->at++], out, err) < 0
               ? ERR_INPUT
               : 1;
}

/* A draw has the baseline too, so that the strategy knows its time. */
static int add_baseline(struct space_domain *space_domain,
                        const struct source *source, struct err *err)
{
    const struct value *values = space_domain->spec->baseline.values;
    int64_t number =
        source->ranks && values ? space_number(source->space, values) : -1;
    int gate;

    if (number < 0)
        return 0;
    gate = space_rejected_by(source->space, values, err);
    if (gate == SPACE_PASSES)
        add_point(space_domain, number);
    return gate == SPACE_ERROR ? ERR_INPUT : 0;
}

/* Points that a gate warns of come last. */
static int add_points(struct space_domain *space_domain, struct source *source,
                      struct err *err)
{
    int64_t *late = NULL;
    int late_n = 0, late_cap = 0, rc;
    struct space_point point;

    while ((rc = next_of(source, &point, err)) == 1) {
        if (domain_size(space_domain->domain) + late_n == DOMAIN_POINTS_MAX) {
            rc = err_set(err, ERR_INPUT,
                         "more than %d configurations pass the gates, too many "
                         "for any strategy; use fewer values",
                         DOMAIN_POINTS_MAX);
            break;
        }
        if (!point.warned) {
            add_point(space_domain, point.number);
            continue;
        }
        if (late_n == late_cap) {
            late_cap = late_cap ? 2 * late_cap : 1024;
            late = mem_grow(late, (size_t)late_cap, sizeof(*late));
        }
        late[late_n++] = point.number;
    }
    for (int i = 0; rc == 0 && i < late_n; i++)
        add_point(space_domain, late[i]);
    free(late);
    if (rc == 0)
        rc = add_baseline(space_domain, source, err);
    if (rc == 0 && domain_size(space_domain->domain) == 0)
        return err_set(err, ERR_INPUT,
                       "no configuration passes the gates; `fa-coord space` "
                       "shows what each gate rejects");
    return rc;
}

int space_domain_new(const struct spec *spec, struct space *space,
                     int64_t passed, struct space_domain **out, struct err *err)
{
    struct space_domain *space_domain = mem_new(1, sizeof(*space_domain));
    struct source source = { .space = space };
    int rc;

    space_domain->spec = spec;
    set_axes(space_domain);
    if (passed <= DOMAIN_POINTS_MAX)
        domain_reserve(space_domain->domain, (int)passed);
    draw_ranks(spec, passed, &source);
    rc = add_points(space_domain, &source, err);
    free(source.ranks);
    if (rc < 0) {
        space_domain_free(space_domain);
        space_domain = NULL;
    }
    *out = space_domain;
    return rc;
}

void space_domain_free(struct space_domain *space_domain)
{
    if (!space_domain)
        return;
    for (size_t i = 0; i < space_domain->spec->space.n_axes; i++) {
        struct axis *axis = &space_domain->axes[i];

        for (int64_t level = 0; level < axis->n; level++)
            free(axis->json[level]);
        free(axis->json);
        free(axis->numbers);
        free(axis->value_at);
        free(axis->level_of);
    }
    domain_free(space_domain->domain);
    free(space_domain);
}

const struct domain *
space_domain_domain(const struct space_domain *space_domain)
{
    return space_domain->domain;
}

int64_t space_domain_number(const struct space_domain *space_domain, int point)
{
    const uint16_t *levels = domain_point(space_domain->domain, point);
    int64_t number = 0;

    for (size_t i = 0; i < space_domain->spec->space.n_axes; i++)
        number += space_domain->axes[i].value_at[levels[i]] *
                  space_domain->axes[i].stride;
    return number;
}

int space_domain_find(const struct space_domain *space_domain, int64_t number)
{
    uint16_t levels[SPEC_AXES_MAX];

    if (number < 0 ||
        number >= space_domain->axes[0].stride * space_domain->axes[0].n)
        return -1;
    levels_of(space_domain, number, levels);
    return domain_find(space_domain->domain, levels);
}

const struct external_strategy_tunable *
space_domain_tunables(const struct space_domain *space_domain)
{
    return space_domain->tunables;
}
