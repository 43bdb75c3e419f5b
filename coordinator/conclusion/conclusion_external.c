/* The external baselines next to the candidates: their times in the blocks. */
#include "coordinator/conclusion/conclusion_external.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/plan/external_baseline.h"
#include "coordinator/result/evidence.h"

/* ---- runs ---- */

static void take_times(struct conclusion_external *external, size_t shape,
                       int block, const struct external_baseline_output *output)
{
    for (size_t i = 0; i < output->n; i++) {
        if (external->n_times == external->cap) {
            external->cap = external->cap ? 2 * external->cap : 256;
            external->times = mem_grow(external->times, external->cap,
                                       sizeof(*external->times));
        }
        external->times[external->n_times++] =
            (struct conclusion_external_time){ shape, block,
                                               output->samples[i] };
    }
}

static void replace_text(char **text, char *by)
{
    free(*text);
    *text = by;
}

/* Runs come by name. */
static struct conclusion_external *external_named(struct conclusion *c,
                                                  const char *name)
{
    struct conclusion_externals *all = &c->externals;

    if (all->n > 0 && strcmp(all->list[all->n - 1].name, name) == 0)
        return &all->list[all->n - 1];
    all->list = mem_grow(all->list, all->n + 1, sizeof(*all->list));
    all->list[all->n] = (struct conclusion_external){ .name = mem_strdup(name),
                                                      .says = mem_strdup(""),
                                                      .why = mem_strdup("") };
    return &all->list[all->n++];
}

static void take_run(void *arg, const struct evidence_external *run)
{
    struct conclusion *c = arg;
    struct conclusion_external *external = external_named(c, run->name);
    int64_t first = confirmation_round(&c->confirmation, 0);
    struct external_baseline_output output;
    struct err why = { "" };
    bool ran = outcome_is(run->outcome, OUTCOME_RAN);

    if (ran && external_baseline_read(run->output, strlen(run->output),
                                      run->seconds, &output, &why) == 0) {
        external->ran++;
        replace_text(&external->says, mem_strdup(output.name));
        take_times(external, (size_t)run->shape, (int)(run->round - first),
                   &output);
        external_baseline_output_fini(&output);
        return;
    }
    if (external->failed++ == 0)
        replace_text(
            &external->why,
            mem_printf("%s: %s: %s", run->host,
                       ran ? outcome_name(OUTCOME_GARBAGE) : run->outcome,
                       ran ? why.text : run->detail));
}

int conclusion_external_load(struct conclusion *c, struct store *store,
                             struct err *err)
{
    const struct confirmation *confirmation = &c->confirmation;
    int64_t first = confirmation_round(confirmation, 0);

    return evidence_externals(store, confirmation->pass, first,
                              first + CONFIRMATION_ROUNDS, take_run, c, err);
}

void conclusion_external_free(struct conclusion *c)
{
    for (size_t k = 0; k < c->externals.n; k++) {
        struct conclusion_external *external = &c->externals.list[k];

        for (size_t i = 0; external->shapes && i < c->n_shapes; i++)
            free(external->shapes[i].findings);
        free(external->shapes);
        free(external->times);
        free(external->name);
        free(external->says);
        free(external->why);
    }
    free(c->externals.list);
}

/* ---- comparisons ---- */

static const struct conclusion_sample *
find_block(const struct conclusion_sample *samples, size_t n, size_t shape,
           int block)
{
    for (size_t i = 0; i < n; i++)
        if (samples[i].shape == shape && samples[i].sample.block == block)
            return &samples[i];
    return NULL;
}

/* Its samples in blocks that count for the entries; 'out' has room for all. */
static size_t take_samples(const struct conclusion *c,
                           const struct conclusion_external *external,
                           const struct conclusion_sample *samples, size_t n,
                           struct conclusion_sample *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < external->n_times; i++) {
        const struct conclusion_external_time *time = &external->times[i];
        const struct conclusion_sample *in =
            find_block(samples, n, time->shape, time->block);

        if (in)
            out[kept++] =
                (struct conclusion_sample){ time->shape,
                                            { (int)c->n, time->block,
                                              in->sample.gpu, time->seconds } };
    }
    return kept;
}

/* The blocks with the entries and, as the last candidate, the external
 * baseline. */
static struct blocks *join(const struct conclusion *c,
                           const struct conclusion_external *external,
                           const struct conclusion_sample *samples, size_t n,
                           int at)
{
    const struct conclusion_scope scope = { at, c->n + 1,
                                            c->confirmation.n_shapes };
    size_t most = external->n_times, kept;
    struct block_sample *all = mem_new(n + most, sizeof(*all));
    struct conclusion_sample *theirs = mem_new(most, sizeof(*theirs));
    struct blocks *blocks;

    most = take_samples(c, external, samples, n, theirs);
    kept = conclusion_samples_at(samples, n, &scope, all);
    kept += conclusion_samples_at(theirs, most, &scope, &all[kept]);
    blocks = blocks_new(all, kept, c->n + 1);
    free(theirs);
    free(all);
    return blocks;
}

static size_t count_gpus(const struct blocks *blocks, size_t candidate)
{
    int *gpus = mem_new(blocks_count(blocks) + 1, sizeof(*gpus));
    size_t n = blocks_gpus(blocks, gpus), count = 0;

    for (size_t i = 0; i < n; i++) {
        struct speedup itself;

        speedup_on(blocks, candidate, candidate, gpus[i], 0.5, &itself);
        count += itself.n_blocks > 0;
    }
    free(gpus);
    return count;
}

/* The others were in the blocks before the first look. */
static bool asked_by_looks(const struct conclusion *c,
                           const struct conclusion_external *external)
{
    return c->confirmation.looks.group > 0 && c->confirmation.against &&
           strcmp(c->confirmation.against, external->name) == 0;
}

static void judge(const struct conclusion *c,
                  const struct conclusion_external *external,
                  const struct conclusion_sample *samples, size_t n,
                  size_t shape)
{
    struct conclusion_against *against = &external->shapes[shape];
    struct blocks *blocks = join(c, external, samples, n, c->shapes[shape].at);

    against->findings = mem_new(c->n + 1, sizeof(*against->findings));
    if (asked_by_looks(c, external)) {
        double *levels = mem_new(c->n + 1, sizeof(*levels));
        bool *tied = mem_new(c->n + 1, sizeof(*tied));

        conclusion_after_looks(c, c->shapes[shape].at, levels, tied);
        levels[c->n] = c->confirmation.rules.alpha; /* it is 1 over itself */
        (void)analysis_findings_at(blocks, c->n, &c->confirmation.rules,
                                   &(struct analysis_look){ levels, tied },
                                   against->findings);
        free(tied);
        free(levels);
    } else {
        (void)analysis_findings(blocks, c->n, &c->confirmation.rules,
                                against->findings); /* no one leads here */
    }
    against->time = against->findings[c->n].time;
    against->n_gpus = count_gpus(blocks, c->n);
    blocks_free(blocks);
}

void conclusion_external_judge(struct conclusion *c,
                               const struct conclusion_sample *samples,
                               size_t n)
{
    for (size_t k = 0; c->n_shapes > 0 && k < c->externals.n; k++) {
        struct conclusion_external *external = &c->externals.list[k];

        external->shapes = mem_new(c->n_shapes, sizeof(*external->shapes));
        for (size_t i = 0; i < c->n_shapes; i++)
            judge(c, external, samples, n, i);
    }
}

const struct conclusion_external *
conclusion_external_find(const struct conclusion *c, const char *name)
{
    for (size_t i = 0; i < c->externals.n; i++)
        if (strcmp(c->externals.list[i].name, name) == 0)
            return &c->externals.list[i];
    return NULL;
}

struct conclusion_reference conclusion_external_rule(const struct conclusion *c,
                                                     size_t shape)
{
    const char *name = c->confirmation.against;
    const struct conclusion_external *external;
    const struct conclusion_against *against;

    if (!name)
        return (struct conclusion_reference){ "the baseline",
                                              c->shapes[shape].findings,
                                              c->n_gpus };
    external = conclusion_external_find(c, name);
    against = external && external->shapes ? &external->shapes[shape] : NULL;
    if (!against || isnan(against->time.seconds))
        return (struct conclusion_reference){ name, NULL, 0 };
    return (struct conclusion_reference){ name, against->findings,
                                          against->n_gpus };
}
