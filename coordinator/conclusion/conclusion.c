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

/* The strength of its evidence. */
static int standing(const struct finding *f)
{
    return f->success ? 2 : f->verdict == VERDICT_FAST ? 1 : 0;
}

/* Among those that tie, prefer those with the strongest evidence: a candidate
 * that was measured badly must not be reported as the winner. */
static size_t take_from_tie(const struct conclusion *c,
                            const struct finding *findings)
{
    struct best_set_choice *choices = mem_new(c->n, sizeof(*choices));
    int highest = 0;
    size_t best;

    for (size_t i = 0; i < c->n; i++)
        if (findings[i].tied && standing(&findings[i]) > highest)
            highest = standing(&findings[i]);
    for (size_t i = 0; i < c->n; i++) {
        const struct conclusion_entry *entry = &c->entries[i];

        choices[i] = (struct best_set_choice){
            .eligible = findings[i].tied && standing(&findings[i]) == highest,
            .seconds = findings[i].time.seconds,
            .code = entry->code,
            .number = entry->config ? entry->config->point : INT64_MAX,
        };
    }
    best = best_set_choose(choices, c->n);
    free(choices);
    return best;
}

/* By the looks, if there were any. */
static size_t find(const struct conclusion *c,
                   const struct conclusion_shape *shape, size_t at)
{
    const struct verdict_rules *rules = &c->confirmation.rules;
    const struct sequential *looks = c->blocks.looks;
    double *levels;
    bool *tied;
    size_t leader;

    if (c->confirmation.looks.group == 0)
        return analysis_findings(shape->blocks, 0, rules, shape->findings);
    levels = mem_new(c->n, sizeof(*levels));
    tied = mem_new(c->n, sizeof(*tied));
    for (size_t i = 0; i < c->n; i++) {
        size_t candidate = c->entries[i].candidate;

        levels[i] = looks->candidates[candidate].level;
        tied[i] = looks->tied[at * c->confirmation.n + candidate];
    }
    leader = analysis_findings_at(shape->blocks, 0, rules,
                                  &(struct analysis_look){ levels, tied },
                                  shape->findings);
    free(tied);
    free(levels);
    return leader;
}

static void judge_shape(struct conclusion *c, size_t at,
                        const struct conclusion_sample *samples, size_t n)
{
    struct conclusion_shape *shape = &c->shapes[at];
    struct block_sample *mine = mem_new(n, sizeof(*mine));
    size_t n_mine = 0;

    for (size_t i = 0; i < n; i++)
        if (samples[i].shape == at)
            mine[n_mine++] = samples[i].sample;
    shape->name = c->confirmation.shapes[at].name;
    shape->blocks = blocks_new(mine, n_mine, c->n);
    shape->findings = mem_new(c->n, sizeof(*shape->findings));
    shape->leader = find(c, shape, at);
    shape->best = take_from_tie(c, shape->findings);
    for (size_t i = 0; i < c->n; i++)
        shape->n_tied += shape->findings[i].tied;
    free(mine);
}

void conclusion_judge(struct conclusion *c,
                      const struct conclusion_sample *samples, size_t n)
{
    c->best = BEST_SET_NONE;
    if (c->n > 0) {
        c->n_shapes = c->confirmation.n_shapes;
        c->shapes = mem_new(c->n_shapes, sizeof(*c->shapes));
    }
    for (size_t at = 0; at < c->n_shapes; at++)
        judge_shape(c, at, samples, n);
    if (c->n_shapes > 0)
        c->best = c->shapes[0].best;
    c->success = c->state == CONCLUSION_DONE && !c->emulated &&
                 c->best != BEST_SET_NONE &&
                 c->shapes[0].findings[c->best].success;
}

const char *conclusion_reason(const struct conclusion *c,
                              const struct conclusion_entry *rejected)
{
    const char *reason = c->confirmation.candidates[rejected->candidate].reason;

    /* Killed after its result was stored, before the reason was. */
    return *reason ? reason : "it was wrong in a block";
}

bool conclusion_rejects(const struct conclusion *c,
                        const struct report_config *config)
{
    for (size_t i = 0; i < c->n_rejected; i++)
        if (c->rejected[i].config == config)
            return true;
    return false;
}

void conclusion_entry_fini(struct conclusion_entry *entry)
{
    free(entry->name);
    free(entry->code);
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
