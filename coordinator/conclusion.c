#include "coordinator/conclusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/blocks.h"
#include "coordinator/report.h"

#define TEXT_MAX 4096
#define KEYS 3 /* of the tie-break */

static double or_last(double key)
{
    return isnan(key) ? (double)INFINITY : key;
}

/* What can be said for it. */
static int standing(const struct finding *f)
{
    return f->success ? 2 : f->verdict == VERDICT_FAST ? 1 : 0;
}

/* Of those that tie, only those for which as much can be said as for any: one
 * that was measured badly must not be taken for one that won. */
static size_t take_from_tie(const struct conclusion *c,
                            const struct finding *findings)
{
    bool *tied = mem_new(c->n, sizeof(*tied));
    double *keys = mem_new(c->n * KEYS, sizeof(*keys));
    int highest = 0;
    size_t best;

    for (size_t i = 0; i < c->n; i++)
        if (findings[i].tied && standing(&findings[i]) > highest)
            highest = standing(&findings[i]);
    for (size_t i = 0; i < c->n; i++) {
        const struct conclusion_entry *entry = &c->entries[i];

        tied[i] = findings[i].tied && standing(&findings[i]) == highest;
        keys[i * KEYS] = or_last(entry->registers);
        keys[i * KEYS + 1] = or_last(entry->spill_bytes);
        keys[i * KEYS + 2] =
            entry->config ? (double)entry->config->point : (double)INFINITY;
    }
    best = tie_break(tied, c->n, keys, KEYS);
    free(keys);
    free(tied);
    return best;
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
    shape->name = c->contest.shapes[at].name;
    shape->blocks = blocks_new(mine, n_mine, c->n);
    shape->findings = mem_new(c->n, sizeof(*shape->findings));
    shape->leader =
        findings(shape->blocks, 0, &c->contest.rules, shape->findings);
    shape->best = take_from_tie(c, shape->findings);
    for (size_t i = 0; i < c->n; i++)
        shape->n_tied += shape->findings[i].tied;
    free(mine);
}

/* ---- the sentence */

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* Factors near 1 need their third digit, and narrow intervals show it. */
static int digits(const struct speedup *s)
{
    bool near = s->value > 0.9 && s->value < 1.1;

    return near || s->hi - s->lo < 0.01 ? 3 : 2;
}

static void put_interval(struct buf *to, const struct conclusion *c,
                         const struct speedup *s)
{
    if (isfinite(s->hi))
        buf_printf(to, "%.4g %% interval [%.*f, %.*f]",
                   100 * (1 - c->contest.rules.alpha), digits(s), s->lo,
                   digits(s), s->hi);
    else
        buf_printf(to, "of %zu block%s, too few for an interval", s->n_blocks,
                   plural(s->n_blocks));
}

static void put_best(struct buf *to, const struct conclusion *c,
                     const struct finding *f)
{
    buf_printf(to, "%s is %.*fx the baseline, ", c->entries[c->best].name,
               digits(&f->speedup), f->speedup.value);
    put_interval(to, c, &f->speedup);
    buf_printf(to, ", confirmed on %zu GPU%s", c->n_gpus, plural(c->n_gpus));
    if (!f->success && f->speedup.value < c->contest.rules.target)
        buf_printf(to, "; the target of %.4gx is not reached",
                   c->contest.rules.target);
    else if (!f->success)
        buf_printf(to,
                   "; the times of the two overlap, so the target of "
                   "%.4gx does not count as reached",
                   c->contest.rules.target);
}

static void put_negative(struct buf *to, const struct conclusion *c,
                         const struct finding *f)
{
    buf_printf(to, f->verdict == VERDICT_AMBG
                       ? "nothing is shown to beat the baseline: "
                       : "nothing beats the baseline: ");
    buf_printf(to, "the best of %zu finalist%s, %s, is %.*fx as fast, ",
               c->n - 1, plural(c->n - 1), c->entries[c->best].name,
               digits(&f->speedup), f->speedup.value);
    put_interval(to, c, &f->speedup);
    buf_printf(to, " (%s) on %zu GPU%s", verdict_name(f->verdict), c->n_gpus,
               plural(c->n_gpus));
}

static void put_ties(struct buf *to, size_t n_tied)
{
    if (n_tied > 1)
        buf_printf(to, "; %zu other%s with it", n_tied - 1,
                   n_tied == 2 ? " ties" : "s tie");
}

static void put_nobody(struct buf *to, const struct conclusion *c)
{
    if (c->n_rejected)
        buf_printf(to,
                   "nothing beats the baseline: none of %zu finalist%s is "
                   "right everywhere",
                   c->n_rejected, plural(c->n_rejected));
    else
        buf_printf(to, "nothing beats the baseline: no other configuration "
                       "is right");
}

static void put_verdict(struct buf *to, const struct conclusion *c)
{
    const struct finding *f;

    if (c->best == TIE_NONE) {
        put_nobody(to, c);
        return;
    }
    f = &c->shapes[0].findings[c->best];
    if (f->verdict == VERDICT_FAST)
        put_best(to, c, f);
    else
        put_negative(to, c, f);
    put_ties(to, c->shapes[0].n_tied);
    if (c->replayed)
        buf_printf(to, "; all by recorded times");
}

static void put_emulated(struct buf *to, const struct conclusion *c)
{
    buf_printf(to,
               "the cpu device emulates, and its times say nothing about a "
               "GPU: the baseline and %zu finalist%s ran and were right in "
               "%d block%s",
               c->n ? c->n - 1 : 0, plural(c->n ? c->n - 1 : 0), c->complete,
               plural((size_t)c->complete));
}

static char *make_sentence(const struct conclusion *c)
{
    struct buf to;

    buf_init(&to, TEXT_MAX);
    switch (c->state) {
    case CONCLUSION_NONE:
        buf_printf(&to, "nothing is confirmed: no finalist was compared with "
                        "the baseline yet");
        break;
    case CONCLUSION_BEGUN:
        buf_printf(&to,
                   "nothing is confirmed yet: %d of %d blocks are complete",
                   c->complete, c->contest.blocks);
        break;
    case CONCLUSION_FAILED:
        buf_printf(&to,
                   "nothing is confirmed: %d of %d blocks are complete, %d "
                   "lost a measurement%s%s",
                   c->complete, c->contest.blocks, c->broken,
                   c->contest.contestants[0].reason[0] ? "; the baseline: "
                                                       : "",
                   c->contest.contestants[0].reason);
        break;
    case CONCLUSION_DONE:
        if (c->emulated)
            put_emulated(&to, c);
        else
            put_verdict(&to, c);
        break;
    }
    return to.bytes;
}

void conclusion_judge(struct conclusion *c,
                      const struct conclusion_sample *samples, size_t n)
{
    c->best = TIE_NONE;
    if (c->n > 0) {
        c->n_shapes = c->contest.n_shapes;
        c->shapes = mem_new(c->n_shapes, sizeof(*c->shapes));
    }
    for (size_t at = 0; at < c->n_shapes; at++)
        judge_shape(c, at, samples, n);
    if (c->n_shapes > 0)
        c->best = c->shapes[0].best;
    c->success = c->state == CONCLUSION_DONE && !c->emulated &&
                 c->best != TIE_NONE && c->shapes[0].findings[c->best].success;
    c->sentence = make_sentence(c);
}

static void free_entries(struct conclusion_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(entries[i].name);
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
    }
    free(c->shapes);
    free_entries(c->entries, c->n);
    free_entries(c->rejected, c->n_rejected);
    contest_fini(&c->contest);
    free(c->sentence);
    free(c);
}
