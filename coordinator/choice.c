#include "coordinator/choice.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config.h"
#include "coordinator/report.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"

#define TEXT_MAX 65536 /* of a configuration */

void choice_fini(struct choice *choice)
{
    for (size_t i = 0; i < choice->n_texts; i++)
        free(choice->texts[i]);
    free(choice->texts);
    free(choice->values);
    *choice = (struct choice){ 0 };
}

static struct value *add_row(struct choice *choice, const struct spec *spec)
{
    struct value *row;

    choice->values = mem_grow(choice->values, (choice->n + 1) * spec->n_axes,
                              sizeof(*choice->values));
    row = choice->values + choice->n++ * spec->n_axes;
    memcpy(row, spec->baseline, spec->n_axes * sizeof(*row));
    return row;
}

static void keep_text(struct choice *choice, struct buf *text)
{
    choice->texts =
        mem_grow(choice->texts, choice->n_texts + 1, sizeof(*choice->texts));
    choice->texts[choice->n_texts++] = text->bytes; /* taken over */
}

void choice_baseline(struct choice *choice, const struct spec *spec)
{
    add_row(choice, spec);
}

int choice_named(struct choice *choice, const struct spec *spec,
                 const char *text, struct err *err)
{
    struct value *row = add_row(choice, spec);
    struct buf kept;
    int rc;

    buf_init(&kept, TEXT_MAX);
    rc = config_parse_over(spec, text, row, &kept, err);
    keep_text(choice, &kept);
    if (rc < 0)
        choice->n--;
    return rc;
}

bool choice_params(struct choice *choice, const struct spec *spec,
                   const struct params *params)
{
    struct buf text;
    bool fits;

    buf_init(&text, TEXT_MAX);
    for (size_t p = 0; p < params->n; p++)
        buf_printf(&text, "%s%s=%s", p ? "," : "", params->items[p].name,
                   params->items[p].text);
    fits = params->n == spec->n_axes &&
           choice_named(choice, spec, buf_text(&text), NULL) == 0;
    buf_fini(&text);
    return fits;
}

size_t choice_best(struct choice *choice, const struct spec *spec,
                   const struct report *report, size_t most)
{
    size_t found = 0;

    for (size_t i = 0; i < report->n_configs && found < most; i++) {
        if (!report->configs[i].rank)
            break; /* ranked ones come first */
        found += choice_params(choice, spec, &report->configs[i].params);
    }
    return found;
}

/* ---- in a space */

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
    for (size_t i = 0; i < spec->n_axes; i++)
        if (!value_equal(&a[i], &b[i]))
            return false;
    return true;
}

static bool is_repeated(const struct choice *choice, const struct spec *spec,
                        size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_values(spec, choice->values + j * spec->n_axes,
                        choice->values + i * spec->n_axes))
            return true;
    return false;
}

static int add_named(const struct choice *choice, const struct spec *spec,
                     struct space *space, struct list *list, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < choice->n; i++) {
        const struct value *values = choice->values + i * spec->n_axes;
        struct chosen item = { .point = space_number(space, values) };

        if (is_repeated(choice, spec, i))
            continue;
        item.values = item.point < 0 ? values : NULL;
        rc = space_warned_by(space, values, &item.warned, err);
        add(list, item);
    }
    list->n_named = list->n;
    return rc;
}

/* One that passes, unless it was named. */
static void add_passing(struct list *list, const struct space_point *point)
{
    for (size_t i = 0; i < list->n_named; i++)
        if (list->items[i].point == point->number)
            return;
    add(list,
        (struct chosen){ .point = point->number, .warned = point->warned });
}

/* 'only' are the numbers to take, in order; NULL for all. */
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

int choice_resolve(const struct choice *choice, const struct spec *spec,
                   struct space *space, struct chosen **out, size_t *n,
                   struct err *err)
{
    struct list list = { 0 };
    int rc = add_named(choice, spec, space, &list, err);

    if (rc == 0 && choice->all)
        rc = add_points(space, NULL, 0, &list, err);
    else if (rc == 0 && choice->cover)
        rc = add_cover(space, &list, err);
    if (rc == 0 && list.n == 0)
        rc = err_set(err, ERR_INPUT,
                     "no configuration passes the gates; `fa-coord space` "
                     "shows what each of them rejects");
    if (rc < 0) {
        free(list.items);
        list = (struct list){ 0 };
    }
    *out = list.items;
    *n = list.n;
    return rc;
}
