/* Maps points of the sweep to configurations of the record.  Each has its own
 * order of tunables and of values. */
#include "coordinator/replay/replay_internal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/spec/spec.h"

static bool is_level(const struct landscape_tunable *tunable, int level,
                     const struct value *value)
{
    const char *text = tunable->texts[level];
    double number = tunable->numbers[level];

    if (value->kind == VALUE_TEXT)
        return strcmp(text, value->text) == 0;
    if (!isnan(number))
        return number == value_number(value);
    return value->kind == VALUE_BOOL &&
           strcmp(text, value->integer ? "true" : "false") == 0;
}

static int *new_indices(size_t n)
{
    int *indices = mem_new(n, sizeof(*indices));

    for (size_t i = 0; i < n; i++)
        indices[i] = -1;
    return indices;
}

static void bind_axis(struct replay *replay, size_t a)
{
    const struct spec_axis *axis = &replay->spec->space.axes[a];
    const struct landscape_tunable *tunable =
        &replay->land->tunables[replay->tunable_of[a]];

    for (size_t v = 0; v < axis->n; v++)
        for (int level = 0; level < tunable->n; level++)
            if (is_level(tunable, level, &axis->values[v])) {
                replay->level_of[a][v] = level;
                replay->value_of[a][level] = (int)v;
            }
}

static int find_tunable(const struct landscape *land, const char *name)
{
    for (int t = 0; t < land->tunables_n; t++)
        if (strcmp(land->tunables[t].name, name) == 0)
            return t;
    return -1;
}

static bool stands_in_spec(const struct replay *replay, int point)
{
    const uint16_t *levels = domain_point(replay->land->domain, point);

    for (size_t a = 0; a < replay->spec->space.n_axes; a++)
        if (replay->value_of[a][levels[replay->tunable_of[a]]] < 0)
            return false;
    return true;
}

static int find_axes(struct replay *replay, struct err *err)
{
    const struct spec *spec = replay->spec;
    const struct landscape *land = replay->land;

    for (size_t a = 0; a < spec->space.n_axes; a++) {
        int t = find_tunable(land, spec->space.axes[a].name);

        if (t < 0)
            return spec_err(
                spec, spec->space.axes[a].at, err,
                "the sweep file of a replay must have the tunables of the "
                "record; `fa-coord import FILE --sweep SWEEP.json` makes one",
                "the record has no tunable '%s'", spec->space.axes[a].name);
        replay->tunable_of[a] = t;
        replay->level_of[a] = new_indices(spec->space.axes[a].n);
        replay->value_of[a] = new_indices((size_t)land->tunables[t].n);
        bind_axis(replay, a);
    }
    for (int t = 0; t < land->tunables_n; t++) {
        size_t a = 0;

        while (a < spec->space.n_axes && replay->tunable_of[a] != t)
            a++;
        if (a == spec->space.n_axes)
            return spec_err(spec, spec->space.axes_at, err,
                            "the sweep file of a replay must have all tunables "
                            "of the record",
                            "the record's tunable '%s' is missing",
                            land->tunables[t].name);
    }
    return 0;
}

/* In the order of the sweep: the last tunable varies fastest. */
static int by_values(const void *a, const void *b, void *arg)
{
    const struct replay *replay = arg;
    const uint16_t *x = domain_point(replay->land->domain, *(const int *)a);
    const uint16_t *y = domain_point(replay->land->domain, *(const int *)b);

    for (size_t i = 0; i < replay->spec->space.n_axes; i++) {
        int t = replay->tunable_of[i];
        int v = replay->value_of[i][x[t]], w = replay->value_of[i][y[t]];

        if (v != w)
            return v < w ? -1 : 1;
    }
    return 0;
}

/* Fill in the rows of values, after the configurations are sorted. */
static void list_points(struct replay *replay)
{
    replay->values =
        mem_new((size_t)replay->n * replay->n_axes, sizeof(*replay->values));
    for (int i = 0; i < replay->n; i++)
        replay_values(replay, i, replay->values + (size_t)i * replay->n_axes);
    replay->points = (struct space_only){ replay->values, (size_t)replay->n };
}

int replay_bind(struct replay *replay, const struct spec *spec, struct err *err)
{
    int size = domain_size(replay->land->domain);
    int rc;

    replay->spec = spec;
    replay->n_axes = spec->space.n_axes;
    replay->tunable_of = mem_new(spec->space.n_axes, sizeof(int));
    replay->level_of = mem_new(spec->space.n_axes, sizeof(int *));
    replay->value_of = mem_new(spec->space.n_axes, sizeof(int *));
    replay->configs = mem_new((size_t)size, sizeof(int));
    replay->n = 0;
    rc = find_axes(replay, err);
    for (int point = 0; rc == 0 && point < size; point++)
        if (stands_in_spec(replay, point))
            replay->configs[replay->n++] = point;
    if (rc == 0 && replay->n == 0)
        rc = spec_err(
            spec, spec->space.axes_at, err,
            "the sweep file of a replay must use the values of the record",
            "no recorded configuration has these values");
    if (rc < 0)
        return rc;
    qsort_r(replay->configs, (size_t)replay->n, sizeof(int), by_values, replay);
    list_points(replay);
    return 0;
}

void replay_unbind(struct replay *replay)
{
    for (size_t a = 0; a < replay->n_axes; a++) {
        free(replay->level_of[a]);
        free(replay->value_of[a]);
    }
    free(replay->level_of);
    free(replay->value_of);
    free(replay->tunable_of);
    free(replay->configs);
    free(replay->values);
    replay->level_of = replay->value_of = NULL;
    replay->tunable_of = replay->configs = NULL;
    replay->n_axes = 0;
    replay->spec = NULL;
    replay->values = NULL;
    replay->points = (struct space_only){ NULL, 0 };
}

const struct space_only *replay_points(const struct replay *replay)
{
    return replay ? &replay->points : NULL;
}

int replay_size(const struct replay *replay)
{
    return replay->n;
}

void replay_values(const struct replay *replay, int i, struct value *values)
{
    const struct spec *spec = replay->spec;
    const uint16_t *levels =
        domain_point(replay->land->domain, replay->configs[i]);

    for (size_t a = 0; a < spec->space.n_axes; a++)
        values[a] =
            spec->space.axes[a]
                .values[replay->value_of[a][levels[replay->tunable_of[a]]]];
}

static int find_value(const struct spec_axis *axis, const struct value *value)
{
    for (size_t v = 0; v < axis->n; v++)
        if (value_equal(&axis->values[v], value))
            return (int)v;
    return -1;
}

const struct landscape_config *replay_config(const struct replay *replay,
                                             const struct value *values)
{
    const struct spec *spec = replay->spec;
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    int point;

    for (size_t a = 0; a < spec->space.n_axes; a++) {
        int v = find_value(&spec->space.axes[a], &values[a]);

        if (v < 0 || replay->level_of[a][v] < 0)
            return NULL;
        levels[replay->tunable_of[a]] = (uint16_t)replay->level_of[a][v];
    }
    point = domain_find(replay->land->domain, levels);
    return point < 0 ? NULL : &replay->land->configs[point];
}
