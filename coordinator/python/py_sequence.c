/* Items, slices and sums of lists and texts. */
#include <string.h>

#include "common/err.h"
#include "coordinator/python/py_function.h"

static bool has_places(const struct py_value *list)
{
    return list->kind == PY_TEXT ||
           (list->kind == PY_LIST && list->form != PY_FORM_SET &&
            list->form != PY_FORM_ONCE);
}

static size_t length(const struct py_value *list)
{
    return list->kind == PY_TEXT ? py_text_length(list->text) : list->n;
}

/* The characters from one to another, which is behind the last. */
static int put_characters(struct py_run *run, const struct py_node *node,
                          const char *text, size_t from, size_t n,
                          struct py_value *out)
{
    size_t begin = py_text_offset(text, from);
    size_t len = py_text_offset(text + begin, n);
    char *to;

    if (py_run_text(run, node->at, len, &to) < 0)
        return ERR_INPUT;
    memcpy(to, text + begin, len);
    *out = py_value_text(to);
    return 0;
}

int py_sequence_item(struct py_run *run, const struct py_node *node,
                     const struct py_value *list, const struct py_value *place,
                     struct py_value *out)
{
    struct py_flaw *flaw = run->flaw;
    py_int n = (py_int)length(list), at;

    if (!has_places(list) || !py_value_is_whole(place))
        return py_flaw_set(flaw, node->at, "%s has no such items",
                           py_value_kind_name(list->kind));
    at = place->integer < 0 ? place->integer + n : place->integer;
    if (at < 0 || at >= n) {
        char digits[PY_INT_BYTES];

        py_value_digits(place->integer, digits);
        return py_flaw_set(flaw, node->at,
                           "the list has %zu items, so it has no [%s]",
                           (size_t)n, digits);
    }
    if (list->kind == PY_TEXT)
        return put_characters(run, node, list->text, (size_t)at, 1, out);
    *out = list->items[at];
    return 0;
}

/* A place as Python clips it: from the end if it is below 0, and between 'low'
 * and 'high'. */
static py_int clipped(const struct py_value *part, py_int otherwise, py_int n,
                      py_int low, py_int high)
{
    py_int at = part->integer;

    if (part->kind == PY_NONE)
        return otherwise;
    if (at < 0)
        at += n;
    return at < low ? low : at > high ? high : at;
}

static size_t count(py_int from, py_int to, py_int step)
{
    if (step > 0 && from < to)
        return (size_t)((to - from - 1) / step) + 1;
    if (step < 0 && from > to)
        return (size_t)((from - to - 1) / -step) + 1;
    return 0;
}

static int slice_list(struct py_run *run, const struct py_node *node,
                      const struct py_value *list, py_int from, py_int step,
                      size_t n, struct py_value *out)
{
    struct py_value *items;

    if (py_run_list(run, node->at, n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < n; i++)
        items[i] = list->items[from + (py_int)i * step];
    *out = py_value_list(list->form, items, n);
    return 0;
}

static int slice_text(struct py_run *run, const struct py_node *node,
                      const char *text, py_int from, py_int step, size_t n,
                      struct py_value *out)
{
    char *to;

    if (step == 1)
        return put_characters(run, node, text, (size_t)from, n, out);
    if (py_run_text(run, node->at, strlen(text), &to) < 0)
        return ERR_INPUT;
    *out = py_value_text(to);
    for (size_t i = 0; i < n; i++) {
        size_t at = py_text_offset(text, (size_t)(from + (py_int)i * step));
        size_t len = py_text_offset(text + at, 1);

        memcpy(to, text + at, len);
        to += len;
    }
    return 0;
}

int py_sequence_slice(struct py_run *run, const struct py_node *node,
                      const struct py_value parts[4], struct py_value *out)
{
    const struct py_value *list = &parts[0];
    py_int n = (py_int)length(list), step = 1, from, to;
    struct py_flaw *flaw = run->flaw;
    bool back;

    for (size_t i = 1; i < 4; i++)
        if (!has_places(list) ||
            (parts[i].kind != PY_NONE && !py_value_is_whole(&parts[i])))
            return py_flaw_set(flaw, node->at, "%s has no such slice",
                               py_value_kind_name(list->kind));
    if (parts[3].kind != PY_NONE)
        step = parts[3].integer;
    if (step == 0)
        return py_flaw_set(flaw, node->at, "the step of a slice is 0");
    /* More than all items are one step. */
    step = step > n + 1 ? n + 1 : step < -n - 1 ? -n - 1 : step;
    back = step < 0;
    from = clipped(&parts[1], back ? n - 1 : 0, n, back ? -1 : 0,
                   back ? n - 1 : n);
    to = clipped(&parts[2], back ? -1 : n, n, back ? -1 : 0, back ? n - 1 : n);
    return list->kind == PY_TEXT ? slice_text(run, node, list->text, from, step,
                                              count(from, to, step), out)
                                 : slice_list(run, node, list, from, step,
                                              count(from, to, step), out);
}

bool py_sequence_joins(const struct py_value *value)
{
    return value->kind == PY_TEXT ||
           (value->kind == PY_LIST && value->form <= PY_FORM_TUPLE);
}

int py_sequence_sum(struct py_run *run, const struct py_node *node,
                    const struct py_value *a, const struct py_value *b,
                    struct py_value *out)
{
    struct py_value *items;
    char *text;

    if (a->kind == PY_TEXT) {
        if (py_run_text(run, node->at, strlen(a->text) + strlen(b->text),
                        &text) < 0)
            return ERR_INPUT;
        memcpy(text, a->text, strlen(a->text));
        memcpy(text + strlen(a->text), b->text, strlen(b->text));
        *out = py_value_text(text);
        return 0;
    }
    if (py_run_list(run, node->at, a->n + b->n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < a->n; i++)
        items[i] = a->items[i];
    for (size_t i = 0; i < b->n; i++)
        items[a->n + i] = b->items[i];
    *out = py_value_list(a->form, items, a->n + b->n);
    return 0;
}

int py_sequence_repeat(struct py_run *run, const struct py_node *node,
                       const struct py_value *value, py_int times,
                       struct py_value *out)
{
    size_t len = value->kind == PY_TEXT ? strlen(value->text) : value->n, n;
    struct py_value *items;
    char *text;

    n = times < 0                     ? 0
        : times > PY_EXPRESSION_STEPS ? PY_EXPRESSION_STEPS
                                      : (size_t)times;
    if (value->kind == PY_TEXT) {
        if (py_run_text(run, node->at, len * n, &text) < 0)
            return ERR_INPUT;
        for (size_t i = 0; i < n; i++)
            memcpy(text + i * len, value->text, len);
        *out = py_value_text(text);
        return 0;
    }
    if (py_run_list(run, node->at, len * n, &items) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < len; k++)
            items[i * len + k] = value->items[k];
    *out = py_value_list(value->form, items, len * n);
    return 0;
}
