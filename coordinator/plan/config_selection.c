#include "coordinator/plan/config_selection.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stored/stored_params.h"

#define TEXT_MAX 65536 /* of a configuration */

void config_selection_fini(struct config_selection *selection)
{
    for (size_t i = 0; i < selection->n_texts; i++)
        free(selection->texts[i]);
    free(selection->texts);
    free(selection->values);
    *selection = (struct config_selection){ 0 };
}

static struct value *add_row(struct config_selection *selection,
                             const struct spec *spec)
{
    struct value *row;

    selection->values =
        mem_grow(selection->values, (selection->n + 1) * spec->space.n_axes,
                 sizeof(*selection->values));
    row = selection->values + selection->n++ * spec->space.n_axes;
    memcpy(row, spec->baseline.values, spec->space.n_axes * sizeof(*row));
    return row;
}

static void keep_text(struct config_selection *selection, struct buf *text)
{
    selection->texts = mem_grow(selection->texts, selection->n_texts + 1,
                                sizeof(*selection->texts));
    selection->texts[selection->n_texts++] = text->bytes; /* takes ownership */
}

void config_selection_baseline(struct config_selection *selection,
                               const struct spec *spec)
{
    add_row(selection, spec);
}

int config_selection_named(struct config_selection *selection,
                           const struct spec *spec, const char *text,
                           struct err *err)
{
    struct value *row = add_row(selection, spec);
    struct buf kept;
    int rc;

    buf_init(&kept, TEXT_MAX);
    rc = config_parse_over(spec, text, row, &kept, err);
    keep_text(selection, &kept);
    if (rc < 0)
        selection->n--;
    return rc;
}

bool config_selection_params(struct config_selection *selection,
                             const struct spec *spec,
                             const struct stored_params *params)
{
    struct buf text;
    bool fits;

    buf_init(&text, TEXT_MAX);
    for (size_t p = 0; p < params->n; p++)
        buf_printf(&text, "%s%s=%s", p ? "," : "", params->items[p].name,
                   params->items[p].text);
    fits = params->n == spec->space.n_axes &&
           config_selection_named(selection, spec, buf_text(&text), NULL) == 0;
    buf_fini(&text);
    return fits;
}

/* ---- selecting in a space */

struct list {
    struct chosen *items;
    size_t n, cap, n_named;
};

static void add(struct list *list, struct chosen item)
{
    if (list->n == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 64;
        list->items = mem_grow(list->items, list->cap, sizeof(*list->items));
    }
    list->items[list->n++] = item;
}

static bool same_values(const struct spec *spec, const struct value *a,
                        const struct value *b)
{
    for (size_t i = 0; i < spec->space.n_axes; i++)
        if (!value_equal(&a[i], &b[i]))
            return false;
    return true;
}

static bool is_repeated(const struct config_selection *selection,
                        const struct spec *spec, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_values(spec, selection->values + j * spec->space.n_axes,
                        selection->values + i * spec->space.n_axes))
            return true;
    return false;
}

static int add_named(const struct config_selection *selection,
                     const struct spec *spec, struct space *space,
                     struct list *list, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < selection->n; i++) {
        const struct value *values = selection->values + i * spec->space.n_axes;
        struct chosen item = { .point = space_number(space, values) };

        if (is_repeated(selection, spec, i))
            continue;
        item.values = item.point < 0 ? values : NULL;
        rc = space_warned_by(space, values, &item.warned, err);
        add(list, item);
    }
    list->n_named = list->n;
    return rc;
}

/* A point that passes, unless it was named already. */
static void add_passing(struct list *list, const struct space_point *point)
{
    for (size_t i = 0; i < list->n_named; i++)
        if (list->items[i].point == point->number)
            return;
    add(list,
        (struct chosen){ .point = point->number, .warned = point->warned });
}

/* 'only' has the numbers to select, in order; NULL: all. */
static int add_points(struct space *space, const int64_t *only, size_t n_only,
                      struct list *list, struct err *err)
{
    struct space_point point;
    size_t at = 0;
    int rc;

    while ((rc = space_next(space, &point, err)) == 1) {
        if (only && (at == n_only || only[at] != point.number))
            continue;
        at++;
        add_passing(list, &point);
    }
    return rc;
}

static int add_cover(struct space *space, struct list *list, struct err *err)
{
    int64_t *points;
    size_t n;
    int rc = space_cover(space, &points, &n, err);

    if (rc == 0 && n > 0)
        rc = add_points(space, points, n, list, err);
    free(points);
    return rc;
}

int config_selection_resolve(const struct config_selection *selection,
                             const struct spec *spec, struct space *space,
                             struct chosen **out, size_t *n, struct err *err)
{
    struct list list = { 0 };
    int rc = add_named(selection, spec, space, &list, err);

    if (rc == 0 && selection->all)
        rc = add_points(space, NULL, 0, &list, err);
    else if (rc == 0 && selection->cover)
        rc = add_cover(space, &list, err);
    if (rc == 0 && list.n == 0)
        rc = err_set(err, ERR_INPUT,
                     "no configuration passes the gates; `fa-coord space` "
                     "shows what each gate rejects");
    if (rc < 0) {
        free(list.items);
        list = (struct list){ 0 };
    }
    *out = list.items;
    *n = list.n;
    return rc;
}
