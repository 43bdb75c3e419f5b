#include "coordinator/grid.h"

#include <assert.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/domain.h"
#include "coordinator/external.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"

#define VALUE_BYTES_MAX 65536

struct axis {
    int *value_at; /* [n] which value of the file a level is */
    int *level_of; /* the other way round */
    int64_t stride, n;
    double *numbers; /* [n] of the levels, or NULL */
    char **json;     /* [n] likewise */
};

struct grid {
    const struct spec *spec;
    struct domain *domain;
    struct axis axes[SPEC_AXES_MAX];
    struct external_tunable tunables[SPEC_AXES_MAX];
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

static void set_axes(struct grid *grid)
{
    struct domain_tunable tunables[SPEC_AXES_MAX];
    const struct spec *spec = grid->spec;
    int64_t stride = 1;

    for (size_t i = spec->n_axes; i-- > 0;) {
        const struct spec_axis *axis = &spec->axes[i];

        set_axis(&grid->axes[i], axis, stride);
        stride *= (int64_t)axis->n;
        tunables[i] =
            (struct domain_tunable){ .levels = (int)axis->n,
                                     .ordered = is_ordered(axis),
                                     .values = grid->axes[i].numbers };
        grid->tunables[i] = (struct external_tunable){
            axis->name, (const char *const *)grid->axes[i].json
        };
    }
    grid->domain = domain_new(tunables, (int)spec->n_axes);
}

static void levels_of(const struct grid *grid, int64_t number, uint16_t *levels)
{
    for (size_t i = 0; i < grid->spec->n_axes; i++) {
        const struct axis *axis = &grid->axes[i];

        levels[i] = (uint16_t)axis->level_of[number / axis->stride % axis->n];
    }
}

static void add_point(struct grid *grid, int64_t number)
{
    uint16_t levels[SPEC_AXES_MAX];

    levels_of(grid, number, levels);
    domain_add(grid->domain, levels);
}

/* Those that a gate warns of are the last. */
static int add_points(struct grid *grid, struct space *space, struct err *err)
{
    int64_t *late = NULL;
    int late_n = 0, late_cap = 0, rc;
    struct space_point point;

    while ((rc = space_next(space, &point, err)) == 1) {
        if (domain_size(grid->domain) + late_n == DOMAIN_POINTS_MAX) {
            rc = err_set(err, ERR_INPUT,
                         "more than %d configurations pass the gates, and "
                         "no strategy searches more; use fewer values",
                         DOMAIN_POINTS_MAX);
            break;
        }
        if (!point.warned) {
            add_point(grid, point.number);
            continue;
        }
        if (late_n == late_cap) {
            late_cap = late_cap ? 2 * late_cap : 1024;
            late = mem_grow(late, (size_t)late_cap, sizeof(*late));
        }
        late[late_n++] = point.number;
    }
    for (int i = 0; rc == 0 && i < late_n; i++)
        add_point(grid, late[i]);
    free(late);
    if (rc == 0 && domain_size(grid->domain) == 0)
        return err_set(err, ERR_INPUT,
                       "no configuration passes the gates; `fa-coord space` "
                       "shows what each of them rejects");
    return rc;
}

int grid_new(const struct spec *spec, struct space *space, int64_t passed,
             struct grid **out, struct err *err)
{
    struct grid *grid = mem_new(1, sizeof(*grid));
    int rc;

    grid->spec = spec;
    set_axes(grid);
    if (passed <= DOMAIN_POINTS_MAX)
        domain_reserve(grid->domain, (int)passed);
    rc = add_points(grid, space, err);
    if (rc < 0) {
        grid_free(grid);
        grid = NULL;
    }
    *out = grid;
    return rc;
}

void grid_free(struct grid *grid)
{
    if (!grid)
        return;
    for (size_t i = 0; i < grid->spec->n_axes; i++) {
        struct axis *axis = &grid->axes[i];

        for (int64_t level = 0; level < axis->n; level++)
            free(axis->json[level]);
        free(axis->json);
        free(axis->numbers);
        free(axis->value_at);
        free(axis->level_of);
    }
    domain_free(grid->domain);
    free(grid);
}

const struct domain *grid_domain(const struct grid *grid)
{
    return grid->domain;
}

int64_t grid_number(const struct grid *grid, int point)
{
    const uint16_t *levels = domain_point(grid->domain, point);
    int64_t number = 0;

    for (size_t i = 0; i < grid->spec->n_axes; i++)
        number += grid->axes[i].value_at[levels[i]] * grid->axes[i].stride;
    return number;
}

int grid_find(const struct grid *grid, int64_t number)
{
    uint16_t levels[SPEC_AXES_MAX];

    if (number < 0 || number >= grid->axes[0].stride * grid->axes[0].n)
        return -1;
    levels_of(grid, number, levels);
    return domain_find(grid->domain, levels);
}

const struct external_tunable *grid_tunables(const struct grid *grid)
{
    return grid->tunables;
}
