#include "coordinator/page/page_thin.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/result/report.h"

struct timed {
    double median;
    size_t place;
};

static int by_median(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->median != y->median)
        return x->median < y->median ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static size_t count_selected(const struct report *report)
{
    size_t n = 0;

    for (size_t i = 0; i < report->n_configs; i++)
        n += report->configs[i].selected;
    return n;
}

/* The places of those that have a time at a shape, the fastest first, at most
 * 'most'; SIZE_MAX stands after the last. */
static void put_fastest(const struct report *report, size_t shape,
                        struct timed *timed, size_t most, size_t *fastest)
{
    size_t n = 0, place = 0;

    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];

        if (!config->selected)
            continue;
        if (isfinite(config->cells[shape].summary.median))
            timed[n++] =
                (struct timed){ config->cells[shape].summary.median, place };
        place++;
    }
    qsort(timed, n, sizeof(*timed), by_median);
    for (size_t k = 0; k < most; k++)
        fastest[k] = k < n ? timed[k].place : SIZE_MAX;
}

static bool take(bool *taken, size_t place)
{
    if (place == SIZE_MAX || taken[place])
        return false;
    taken[place] = true;
    return true;
}

/* The place of the baseline among the selected ones; SIZE_MAX: not one. */
static size_t baseline_place(const struct report *report)
{
    size_t place = 0;

    for (size_t i = 0; i < report->n_configs; i++) {
        if (report->configs[i].selected && report->configs[i].baseline)
            return place;
        place += report->configs[i].selected;
    }
    return SIZE_MAX;
}

static size_t take_in_turn(const struct report *report, size_t selected,
                           size_t most, bool *taken)
{
    size_t *fastest = mem_new(report->n_shapes * most, sizeof(*fastest));
    struct timed *timed = mem_new(selected, sizeof(*timed));
    size_t n = take(taken, baseline_place(report));

    for (size_t s = 0; s < report->n_shapes; s++)
        put_fastest(report, s, timed, most, fastest + s * most);
    for (size_t k = 0; k < most; k++)
        for (size_t s = 0; s < report->n_shapes && n < most; s++)
            n += take(taken, fastest[s * most + k]);
    free(timed);
    free(fastest);
    return n;
}

size_t page_thin(const struct report *report, size_t **places)
{
    size_t selected = count_selected(report), times = 3 * selected / 4;
    size_t n = 0, most;
    bool *taken;

    *places = NULL;
    if (report->n_shapes < 3)
        return 0;
    most = (times > PAGE_THIN_LEAST ? times : PAGE_THIN_LEAST) /
           (report->n_shapes - 1);
    if (most == 0 || most >= selected)
        return 0;
    taken = mem_new(selected, sizeof(*taken));
    *places = mem_new(most, sizeof(**places));
    (void)take_in_turn(report, selected, most, taken);
    for (size_t place = 0; place < selected; place++)
        if (taken[place])
            (*places)[n++] = place;
    free(taken);
    return n;
}
