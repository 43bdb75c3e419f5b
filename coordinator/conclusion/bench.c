#include "coordinator/conclusion/bench.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_objective.h"

/* The first one in the ranking that is not the baseline. */
static const struct report_config *fastest_other(const struct report *report)
{
    for (size_t i = 0; i < report->n_configs; i++)
        if (report->configs[i].rank && !report->configs[i].baseline)
            return &report->configs[i];
    return NULL;
}

/* If the baseline won, another one is still needed for comparison: the best
 * finalist, otherwise the first of the ranking. */
static void replace_baseline(const struct report *report,
                             const struct conclusion *c, struct winner *winner)
{
    bool done = c->state == CONCLUSION_DONE && c->best != BEST_SET_NONE;

    winner->config = done ? c->entries[c->best].config : NULL;
    if (!winner->config)
        winner->config = fastest_other(report);
    if (done)
        winner->state = "not shown to beat the baseline";
}

static void choose_own(const struct report *report, const struct conclusion *c,
                       const char *name, struct winner *out)
{
    struct err none;
    size_t at;

    *out = (struct winner){ .shape = name };
    if (!report_find_shape(report, name, &at) ||
        winner_find(report, (int)at, out, &none) != 0)
        return;
    winner_confirm(c, out);
    if (out->config->baseline)
        out->config = NULL;
}

int bench_choose(const struct report *report, const struct conclusion *verdict,
                 const char *const *shapes, size_t n, struct bench *out,
                 struct err *err)
{
    const struct report_config *baseline = report_baseline(report);
    bool is = baseline && baseline->rank;

    *out = (struct bench){ .baseline = baseline };
    if (is && winner_find(report, report_objective(report), &out->headline,
                          err) == 0) {
        winner_confirm(verdict, &out->headline);
        if (out->headline.config->baseline)
            replace_baseline(report, verdict, &out->headline);
    }
    if (!out->headline.config)
        return err_set(err, ERR_INPUT,
                       "there are no two configurations to compare: %s; see "
                       "'fa-coord report'",
                       is ? "only the baseline is correct for every shape"
                          : "the baseline has no valid time");
    out->own = mem_new(n, sizeof(*out->own));
    for (; out->n < n; out->n++)
        choose_own(report, verdict, shapes[out->n], &out->own[out->n]);
    return 0;
}

void bench_add(struct bench *bench, const struct report_config *config)
{
    bench->named =
        mem_grow(bench->named, bench->n_named + 1, sizeof(*bench->named));
    bench->named[bench->n_named++] = config;
}

void bench_fini(struct bench *bench)
{
    free(bench->own);
    free(bench->named);
    *bench = (struct bench){ 0 };
}

static void enter(struct confirmation *confirmation, const char *key)
{
    for (size_t i = 0; i < confirmation->n; i++)
        if (strcmp(confirmation->candidates[i].key, key) == 0)
            return;
    confirmation_add(confirmation, key, CONFIRMATION_FINALIST, "");
}

void bench_enter(const struct bench *bench, struct confirmation *confirmation)
{
    confirmation_add(confirmation, bench->baseline->key, CONFIRMATION_BASELINE,
                     "");
    confirmation_add(confirmation, bench->headline.config->key,
                     CONFIRMATION_FINALIST, "");
    for (size_t i = 0; i < bench->n; i++)
        if (bench->own[i].config)
            enter(confirmation, bench->own[i].config->key);
    for (size_t i = 0; i < bench->n_named; i++)
        enter(confirmation, bench->named[i]->key);
}

/* ---- who is who */

char *bench_name(const struct bench *bench, const struct report_config *config)
{
    const char *headline = bench->headline.shape;
    bool is_best = config == bench->headline.config;
    char *name;

    if (config == bench->baseline)
        return mem_strdup("baseline");
    name = is_best ? mem_printf("best at %s", headline) : NULL;
    for (size_t i = 0; i < bench->n; i++) {
        const struct winner *own = &bench->own[i];
        char *longer;

        if (own->config != config ||
            (is_best && strcmp(own->shape, headline) == 0))
            continue;
        longer = mem_printf("%s%s%s", name ? name : "best at ",
                            name ? ", " : "", own->shape);
        free(name);
        name = longer;
    }
    return name ? name : mem_printf("%.8s", config->key);
}

const char *bench_state(const struct bench *bench,
                        const struct report_config *config)
{
    if (config == bench->headline.config)
        return bench->headline.state;
    for (size_t i = 0; i < bench->n; i++)
        if (bench->own[i].config == config)
            return bench->own[i].state;
    return config == bench->baseline ? NULL : "named";
}

const struct winner *bench_own(const struct bench *bench, const char *shape)
{
    for (size_t i = 0; i < bench->n; i++)
        if (bench->own[i].config && strcmp(bench->own[i].shape, shape) == 0)
            return &bench->own[i];
    return NULL;
}

static size_t entry_of(const struct conclusion *c,
                       const struct report_config *config)
{
    size_t i = 0;

    while (i < c->n && c->entries[i].config != config)
        i++;
    return i;
}

bool bench_gain(const struct bench *bench, const struct conclusion *c,
                const struct conclusion_shape *shape, struct speedup *out)
{
    const struct winner *own = bench_own(bench, shape->name);
    size_t a, b;

    if (!own || own->config == bench->headline.config)
        return false;
    a = entry_of(c, own->config);
    b = entry_of(c, bench->headline.config);
    if (a == c->n || b == c->n)
        return false;
    speedup_of(shape->blocks, a, b,
               analysis_confidence(c->n - 1, c->confirmation.rules.alpha), out);
    return out->n_blocks > 0;
}
