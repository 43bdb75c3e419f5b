#include "coordinator/report/build_listing_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

static const struct {
    const char *name;
    int decimals;
} figures[FIGURE_COUNT] = {
    [FIGURE_REGISTERS] = { "registers", 0 },
    [FIGURE_SPILL_BYTES] = { "spill_bytes", 0 },
    [FIGURE_STACK_BYTES] = { "stack_bytes", 0 },
    [FIGURE_SMEM_BYTES] = { "smem_bytes", 0 },
    [FIGURE_BLOCKS_PER_SM] = { "blocks_per_sm", 0 },
    [FIGURE_WARPS_PER_SM] = { "warps_per_sm", 0 },
    [FIGURE_OCCUPANCY] = { "occupancy", 2 },
    [FIGURE_BUILD_S] = { "build_s", 2 },
};

const char *const build_listing_limiters[BUILD_LISTING_LIMITERS] = {
    "registers", "smem", "threads", "blocks"
};

const char *build_listing_figure_name(enum build_listing_figure figure)
{
    return figures[figure].name;
}

int build_listing_figure_decimals(enum build_listing_figure figure)
{
    return figures[figure].decimals;
}

double build_listing_figure(const struct build_row *row,
                            enum build_listing_figure figure)
{
    switch (figure) {
    case FIGURE_REGISTERS:
        return (double)row->use.registers;
    case FIGURE_SPILL_BYTES:
        return (double)(row->use.spill_stores + row->use.spill_loads);
    case FIGURE_STACK_BYTES:
        return (double)row->use.stack_bytes;
    case FIGURE_SMEM_BYTES:
        return (double)(row->use.static_smem + row->dynamic_smem);
    case FIGURE_BLOCKS_PER_SM:
        return (double)row->occupancy.blocks_per_sm;
    case FIGURE_WARPS_PER_SM:
        return (double)row->occupancy.warps_per_sm;
    case FIGURE_OCCUPANCY:
        return row->occupancy.fraction;
    default:
        return row->seconds;
    }
}

struct build_listing_spread
build_listing_spread(const struct build_listing *listing,
                     enum build_listing_figure figure)
{
    double *values = mem_new(listing->n, sizeof(*values));
    struct build_listing_spread out = { 0 };

    for (size_t i = 0; i < listing->n; i++) {
        double value = build_listing_figure(&listing->rows[i], figure);

        if (!listing->rows[i].built || isnan(value))
            continue;
        values[out.n++] = value;
        out.above_zero += value > 0;
        out.sum += value;
    }
    if (out.n > 0)
        stats_summary(values, out.n, &out.all);
    free(values);
    return out;
}

size_t build_listing_built(const struct build_listing *listing)
{
    size_t n = 0;

    for (size_t i = 0; i < listing->n; i++)
        n += listing->rows[i].built;
    return n;
}

size_t build_listing_gate_hits(const struct build_listing *listing,
                               enum build_listing_gate gate)
{
    size_t n = 0;

    for (size_t i = 0; i < listing->n; i++)
        n += listing->rows[i].hits >> gate & 1;
    return n;
}

size_t build_listing_limited(const struct build_listing *listing,
                             const char *by)
{
    size_t n = 0;

    for (size_t i = 0; i < listing->n; i++)
        n += listing->rows[i].built &&
             strcmp(listing->rows[i].occupancy.limiter, by) == 0;
    return n;
}

/* Order: built ones by their code; then failures by reason; then the rest. */
static int compare(const struct build_row *x, const struct build_row *y)
{
    int order = (y->built - x->built) * 2 + (y->known - x->known);

    if (order == 0)
        order = strcmp(x->outcome, y->outcome);
    if (order == 0)
        order = strcmp(x->detail, y->detail);
    return order ? order : strcmp(x->artifact, y->artifact);
}

static int by_end(const void *a, const void *b)
{
    const struct build_row *x = *(const struct build_row *const *)a;
    const struct build_row *y = *(const struct build_row *const *)b;
    int order = compare(x, y);

    return order ? order : (x > y) - (x < y); /* in the order of the plan */
}

static const struct build_row **sorted(const struct build_listing *listing)
{
    const struct build_row **rows =
        mem_new(listing->n, sizeof(struct build_row *));

    for (size_t i = 0; i < listing->n; i++)
        rows[i] = &listing->rows[i];
    qsort(rows, listing->n, sizeof(struct build_row *), by_end);
    return rows;
}

size_t build_listing_distinct(const struct build_listing *listing)
{
    const struct build_row **rows = sorted(listing);
    size_t n = 0;

    for (size_t i = 0; i < listing->n && rows[i]->built; i++)
        n += i == 0 || strcmp(rows[i - 1]->artifact, rows[i]->artifact) != 0;
    free(rows);
    return n;
}

struct build_listing_failure *
build_listing_failures(const struct build_listing *listing, size_t *n)
{
    struct build_listing_failure *failures =
        mem_new(build_listing_failed(listing), sizeof(*failures));
    const struct build_row **rows = sorted(listing);

    *n = 0;
    for (size_t i = 0; i < listing->n; i++) {
        if (rows[i]->built || !rows[i]->known)
            continue;
        if (*n == 0 || compare(failures[*n - 1].first, rows[i]) != 0)
            failures[(*n)++].first = rows[i];
        failures[*n - 1].n++;
    }
    free(rows);
    return failures;
}
