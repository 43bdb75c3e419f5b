#include "coordinator/conclusion/conclusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/result/report.h"
#include "coordinator/search/objective.h"

/* The strength of its evidence: it reached the target over what the rule is
 * against, or it is faster than the baseline. */
static int standing(const struct conclusion_reference *rule,
                    const struct conclusion_shape *shape, size_t entry)
{
    if (rule->findings && rule->findings[entry].success)
        return 2;
    return shape->findings[entry].verdict == VERDICT_FAST;
}

/* Among those that tie, prefer those with the strongest evidence: a candidate
 * that was measured badly must not be reported as the winner. */
static size_t take_from_tie(const struct conclusion *c,
                            const struct conclusion_shape *shape,
                            const struct conclusion_reference *rule)
{
    struct best_set_choice *choices = mem_new(c->n, sizeof(*choices));
    int highest = 0;
    size_t best;

    for (size_t i = 0; i < c->n; i++)
        if (shape->findings[i].tied && standing(rule, shape, i) > highest)
            highest = standing(rule, shape, i);
    for (size_t i = 0; i < c->n; i++) {
        const struct conclusion_entry *entry = &c->entries[i];

        choices[i] = (struct best_set_choice){
            .eligible =
                shape->findings[i].tied && standing(rule, shape, i) == highest,
            .seconds = shape->findings[i].time.seconds,
            .code = entry->code,
            .number = entry->config ? entry->config->point : INT64_MAX,
        };
    }
    best = best_set_choose(choices, c->n);
    free(choices);
    return best;
}

void conclusion_after_looks(const struct conclusion *c, int at, double *levels,
                            bool *tied)
{
    const struct sequential *looks = c->blocks.looks;
    size_t row = at == OBJECTIVE_ALL ? c->confirmation.n_shapes : (size_t)at;
    size_t each = c->confirmation.n + (c->confirmation.against != NULL);

    for (size_t i = 0; i < c->n; i++) {
        size_t candidate = c->entries[i].candidate;

        levels[i] = looks->candidates[candidate].level;
        tied[i] = looks->tied[row * each + candidate];
    }
}

/* By the looks, if there were any. */
static size_t find(const struct conclusion *c,
                   const struct conclusion_shape *shape)
{
    const struct verdict_rules *rules = &c->confirmation.rules;
    double *levels;
    bool *tied;
    size_t leader;

    if (c->confirmation.looks.group == 0)
        return analysis_findings(shape->blocks, 0, rules, shape->findings);
    levels = mem_new(c->n, sizeof(*levels));
    tied = mem_new(c->n, sizeof(*tied));
    conclusion_after_looks(c, shape->at, levels, tied);
    leader = analysis_findings_at(shape->blocks, 0, rules,
                                  &(struct analysis_look){ levels, tied },
                                  shape->findings);
    free(tied);
    free(levels);
    return leader;
}

static void judge_shape(struct conclusion *c, struct conclusion_shape *shape,
                        const struct conclusion_sample *samples, size_t n)
{
    const struct conclusion_scope scope = { shape->at, c->n,
                                            c->confirmation.n_shapes };
    struct block_sample *mine = mem_new(n, sizeof(*mine));
    size_t n_mine = conclusion_samples_at(samples, n, &scope, mine);

    shape->blocks = blocks_new(mine, n_mine, c->n);
    shape->findings = mem_new(c->n, sizeof(*shape->findings));
    shape->leader = find(c, shape);
    for (size_t i = 0; i < c->n; i++)
        shape->n_tied += shape->findings[i].tied;
    free(mine);
}

static void add_shape(struct conclusion *c, int at)
{
    c->shapes[c->n_shapes++] = (struct conclusion_shape){
        .name = at == OBJECTIVE_ALL ? OBJECTIVE_GEOMEAN
                                    : c->confirmation.shapes[at].name,
        .at = at
    };
}

/* The objective's first, then the others in their order. */
static void list_shapes(struct conclusion *c, int objective)
{
    size_t n = c->confirmation.n_shapes;

    c->shapes = mem_new(n + 1, sizeof(*c->shapes));
    if (n > 0)
        add_shape(c, objective);
    for (int at = 0; at < (int)n; at++)
        if (at != objective)
            add_shape(c, at);
}

static void choose(struct conclusion *c, size_t at)
{
    struct conclusion_shape *shape = &c->shapes[at];
    struct conclusion_reference rule = conclusion_external_rule(c, at);

    shape->best = take_from_tie(c, shape, &rule);
    shape->success = c->state == CONCLUSION_DONE && !c->emulated &&
                     shape->best != BEST_SET_NONE && rule.findings &&
                     rule.findings[shape->best].success;
}

void conclusion_judge(struct conclusion *c, int objective,
                      const struct conclusion_sample *samples, size_t n)
{
    c->best = BEST_SET_NONE;
    if (c->n > 0)
        list_shapes(c, objective);
    for (size_t at = 0; at < c->n_shapes; at++)
        judge_shape(c, &c->shapes[at], samples, n);
    conclusion_external_judge(c, samples, n);
    for (size_t at = 0; at < c->n_shapes; at++)
        choose(c, at);
    if (c->n_shapes > 0) {
        c->best = c->shapes[0].best;
        c->success = c->shapes[0].success;
    }
}

const char *conclusion_reason(const struct conclusion *c,
                              const struct conclusion_entry *rejected)
{
    const char *reason = c->confirmation.candidates[rejected->candidate].reason;

    /* Killed after its result was stored, before the reason was. */
    return *reason ? reason : "it was wrong in a block";
}

struct conclusion_checked
conclusion_checked_of(const struct conclusion *c,
                      const struct conclusion_entry *entry, int at)
{
    struct conclusion_checked sum = { 0 };

    if (!entry->checked)
        return sum;
    if (at != OBJECTIVE_ALL)
        return entry->checked[at];
    for (size_t s = 0; s < c->confirmation.n_shapes; s++)
        conclusion_checked_join(&sum, &entry->checked[s]);
    return sum;
}

void conclusion_entry_fini(struct conclusion_entry *entry)
{
    free(entry->name);
    free(entry->code);
    free(entry->checked);
}

static void free_entries(struct conclusion_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        conclusion_entry_fini(&entries[i]);
    free(entries);
}

void conclusion_free(struct conclusion *c)
{
    if (!c)
        return;
    conclusion_external_free(c);
    for (size_t i = 0; i < c->n_shapes; i++) {
        blocks_free(c->shapes[i].blocks);
        free(c->shapes[i].findings);
        free(c->shapes[i].missed);
        free(c->shapes[i].sentence);
        free(c->shapes[i].checked);
    }
    free(c->shapes);
    free_entries(c->entries, c->n);
    free_entries(c->rejected, c->n_rejected);
    confirmation_fini(&c->confirmation);
    sequential_free(c->blocks.looks);
    free(c->why_none);
    free(c->sentence);
    free(c);
}
