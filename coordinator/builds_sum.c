#include "coordinator/builds_sum.h"

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

const char *const builds_limiters[BUILDS_LIMITERS] = { "registers", "smem",
                                                       "threads", "blocks" };

const char *builds_figure_name(enum builds_figure figure)
{
    return figures[figure].name;
}

int builds_figure_decimals(enum builds_figure figure)
{
    return figures[figure].decimals;
}

double builds_figure(const struct build_row *row, enum builds_figure figure)
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

struct builds_spread builds_spread(const struct builds *builds,
                                   enum builds_figure figure)
{
    double *values = mem_new(builds->n, sizeof(*values));
    struct builds_spread out = { 0 };

    for (size_t i = 0; i < builds->n; i++) {
        double value = builds_figure(&builds->rows[i], figure);

        if (!builds->rows[i].built || isnan(value))
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

size_t builds_built(const struct builds *builds)
{
    size_t n = 0;

    for (size_t i = 0; i < builds->n; i++)
        n += builds->rows[i].built;
    return n;
}

size_t builds_gate_hits(const struct builds *builds, enum builds_gate gate)
{
    size_t n = 0;

    for (size_t i = 0; i < builds->n; i++)
        n += builds->rows[i].hits >> gate & 1;
    return n;
}

size_t builds_limited(const struct builds *builds, const char *by)
{
    size_t n = 0;

    for (size_t i = 0; i < builds->n; i++)
        n += builds->rows[i].built &&
             strcmp(builds->rows[i].occupancy.limiter, by) == 0;
    return n;
}

/* Built first, by their code; then what failed, by reason; then the rest. */
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

static const struct build_row **sorted(const struct builds *builds)
{
    const struct build_row **rows =
        mem_new(builds->n, sizeof(struct build_row *));

    for (size_t i = 0; i < builds->n; i++)
        rows[i] = &builds->rows[i];
    qsort(rows, builds->n, sizeof(struct build_row *), by_end);
    return rows;
}

size_t builds_distinct(const struct builds *builds)
{
    const struct build_row **rows = sorted(builds);
    size_t n = 0;

    for (size_t i = 0; i < builds->n && rows[i]->built; i++)
        n += i == 0 || strcmp(rows[i - 1]->artifact, rows[i]->artifact) != 0;
    free(rows);
    return n;
}

struct builds_failure *builds_failures(const struct builds *builds, size_t *n)
{
    struct builds_failure *failures =
        mem_new(builds_failed(builds), sizeof(*failures));
    const struct build_row **rows = sorted(builds);

    *n = 0;
    for (size_t i = 0; i < builds->n; i++) {
        if (rows[i]->built || !rows[i]->known)
            continue;
        if (*n == 0 || compare(failures[*n - 1].first, rows[i]) != 0)
            failures[(*n)++].first = rows[i];
        failures[*n - 1].n++;
    }
    free(rows);
    return failures;
}
