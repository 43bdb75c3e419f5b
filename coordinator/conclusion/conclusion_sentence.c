/* The conclusion as a sentence, and one for each shape. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/search/objective.h"

#define TEXT_MAX (1 << 16) /* enough for two configurations */

/* ---- the sentence */

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* Factors near 1 and narrow intervals need three digits.  An interval that ends
 * beside 1 needs four, to show on which side it is. */
static int digits(const struct speedup *s)
{
    bool near = s->value > 0.9 && s->value < 1.1;

    if ((s->lo > 1 && s->lo < 1.0005) || (s->hi < 1 && s->hi > 0.9995))
        return 4;
    return near || s->hi - s->lo < 0.01 ? 3 : 2;
}

static void put_interval(struct buf *to, const struct conclusion *c,
                         const struct speedup *s)
{
    if (isfinite(s->hi))
        buf_printf(to, "%.4g %% interval [%.*f, %.*f]",
                   100 * (1 - c->confirmation.rules.alpha), digits(s), s->lo,
                   digits(s), s->hi);
    else
        buf_printf(to, "of %zu block%s, too few for an interval", s->n_blocks,
                   plural(s->n_blocks));
}

/* Where the best was compared, if that is not the first shape. */
static void put_where(struct buf *to, const struct conclusion *c,
                      const struct conclusion_shape *shape)
{
    if (shape->at == OBJECTIVE_ALL)
        buf_printf(to, " by the geometric mean of %zu shapes",
                   c->confirmation.n_shapes);
    else if (shape == c->shapes && shape->at > 0)
        buf_printf(to, " at %s", shape->name);
}

/* Over what the rule is against. */
static void put_best(struct buf *to, const struct conclusion *c,
                     const struct conclusion_shape *shape,
                     const struct conclusion_reference *rule,
                     const char *const *names)
{
    const struct finding *f = &rule->findings[shape->best];
    double target = c->confirmation.rules.target;

    buf_printf(to, "%s is %.*fx %s", names[shape->best], digits(&f->speedup),
               f->speedup.value, rule->name);
    put_where(to, c, shape);
    buf_printf(to, ", ");
    put_interval(to, c, &f->speedup);
    buf_printf(to, ", confirmed on %zu GPU%s", rule->n_gpus,
               plural(rule->n_gpus));
    if (!f->success)
        buf_printf(to, "; the target of %.4gx is not %sreached", target,
                   f->speedup.hi < target ? "" : "shown to be ");
}

/* What holds for all finalists: at most the floor, and none certainly above
 * 1. */
static bool all_end_within(const struct conclusion *c,
                           const struct finding *findings, double most)
{
    for (size_t i = 1; i < c->n; i++)
        if (!(findings[i].speedup.hi <= most))
            return false;
    return true;
}

static bool any_is_faster(const struct conclusion *c,
                          const struct finding *findings)
{
    for (size_t i = 1; i < c->n; i++)
        if (findings[i].speedup.lo > 1)
            return true;
    return false;
}

static void put_negative(struct buf *to, const struct conclusion *c,
                         const struct conclusion_shape *shape,
                         const struct conclusion_reference *rule,
                         const char *const *names)
{
    const struct finding *f = &rule->findings[shape->best];
    double floor = c->confirmation.rules.floor;
    bool sided = f->speedup.lo > 1 || f->speedup.hi < 1;

    buf_printf(to, "nothing %s %s",
               all_end_within(c, rule->findings, 1 + floor)
                   ? "beats"
                   : "is shown to beat",
               rule->name);
    if (any_is_faster(c, rule->findings))
        buf_printf(to, " by more than %.2g %%", 100 * floor);
    put_where(to, c, shape);
    buf_printf(to, ": the best of %zu finalist%s, %s, is ", c->n - 1,
               plural(c->n - 1), names[shape->best]);
    if (sided)
        buf_printf(to, "%s than %s, ", verdict_side(&f->speedup), rule->name);
    buf_printf(to, "%.*fx as fast, ", digits(&f->speedup), f->speedup.value);
    put_interval(to, c, &f->speedup);
    buf_printf(to, " (%s) on %zu GPU%s", verdict_name(f->verdict), rule->n_gpus,
               plural(rule->n_gpus));
}

/* The rule is against one that has no time. */
static void put_unknown(struct buf *to, const struct conclusion *c,
                        const struct conclusion_shape *shape,
                        const struct conclusion_reference *rule,
                        const char *const *names)
{
    const struct conclusion_external *external =
        conclusion_external_find(c, rule->name);
    bool why = external && *external->why;

    buf_printf(to, "nothing is shown to beat %s, which has no time%s%s%s",
               rule->name, why ? " (" : "", why ? external->why : "",
               why ? ")" : "");
    put_where(to, c, shape);
    buf_printf(to, "; the best of %zu finalist%s is %s", c->n - 1,
               plural(c->n - 1), names[shape->best]);
}

/* One of several, such as "0.92x cudnn [0.91, 0.93]". */
static void put_over(struct buf *to, const struct finding *f, const char *name,
                     size_t at, size_t n)
{
    const struct speedup *s = &f->speedup;

    buf_printf(to, "%s", at == 0 ? "; it is " : at + 1 < n ? ", " : " and ");
    if (f->verdict == VERDICT_SAME && s->lo <= 1 && s->hi >= 1)
        buf_printf(to, "the same as %s", name);
    else
        buf_printf(to, "%.*fx %s", digits(s), s->value, name);
    if (isfinite(s->hi))
        buf_printf(to, " [%.*f, %.*f]", digits(s), s->lo, digits(s), s->hi);
    else
        buf_printf(to, " (%zu block%s, too few for an interval)", s->n_blocks,
                   plural(s->n_blocks));
}

/* Does it have a time at this shape, beside what the rule is against? */
static bool is_other(const struct conclusion *c,
                     const struct conclusion_external *external, size_t at)
{
    const char *against = c->confirmation.against;

    return external->shapes && !isnan(external->shapes[at].time.seconds) &&
           !(against && strcmp(external->name, against) == 0);
}

/* The best over everything else that it was compared with. */
static void put_others(struct buf *to, const struct conclusion *c,
                       const struct conclusion_shape *shape)
{
    size_t at = (size_t)(shape - c->shapes), done = 0;
    size_t n = c->confirmation.against != NULL;
    const struct conclusion_externals *all = &c->externals;

    for (size_t i = 0; i < all->n; i++)
        n += is_other(c, &all->list[i], at);
    for (size_t i = 0; i < all->n; i++)
        if (is_other(c, &all->list[i], at))
            put_over(to, &all->list[i].shapes[at].findings[shape->best],
                     all->list[i].name, done++, n);
    if (c->confirmation.against)
        put_over(to, &shape->findings[shape->best], "the baseline", done, n);
}

static void put_ties(struct buf *to, size_t n_tied)
{
    if (n_tied > 1)
        buf_printf(to, "; %zu other%s with it", n_tied - 1,
                   n_tied == 2 ? " ties" : "s tie");
}

static void put_nobody(struct buf *to, const struct conclusion *c)
{
    const char *against = c->confirmation.against;

    buf_printf(to, "nothing beats %s: ", against ? against : "the baseline");
    if (c->n_rejected)
        buf_printf(to, "none of %zu finalist%s is correct everywhere",
                   c->n_rejected, plural(c->n_rejected));
    else
        buf_printf(to, "no other configuration has a valid time");
}

static void put_verdict(struct buf *to, const struct conclusion *c,
                        const struct conclusion_shape *shape,
                        const char *const *names)
{
    struct conclusion_reference rule;

    if (!shape || shape->best == BEST_SET_NONE) {
        put_nobody(to, c);
        return;
    }
    rule = conclusion_external_rule(c, (size_t)(shape - c->shapes));
    if (!rule.findings)
        put_unknown(to, c, shape, &rule, names);
    else if (rule.findings[shape->best].verdict == VERDICT_FAST)
        put_best(to, c, shape, &rule, names);
    else
        put_negative(to, c, shape, &rule, names);
    put_others(to, c, shape);
    put_ties(to, shape->n_tied);
    if (shape->missed)
        buf_printf(to,
                   "; %s, which was the fastest there in the sweep, was not "
                   "compared",
                   shape->missed);
    if (c->replayed)
        buf_printf(to, "; all times are recorded ones");
}

static const char *at_most(const struct conclusion *c)
{
    return c->confirmation.looks.group > 0 ? "at most " : "";
}

static void put_failed(struct buf *to, const struct conclusion *c)
{
    const char *why = c->confirmation.candidates[0].reason;

    if (*why)
        buf_printf(to, "nothing is confirmed: the baseline failed: %s", why);
    else
        buf_printf(to,
                   "nothing is confirmed: only %d of %s%d blocks are "
                   "complete; %d lost a measurement",
                   c->blocks.complete, at_most(c),
                   confirmation_blocks_max(&c->confirmation), c->blocks.broken);
}

static void put_emulated(struct buf *to, const struct conclusion *c)
{
    if (c->n < 2) {
        put_nobody(to, c);
        return;
    }
    if (c->replayed) {
        buf_printf(to, "the times were recorded on the cpu device, which "
                       "emulates, so they say nothing about a GPU");
        return;
    }
    buf_printf(
        to,
        "the cpu device emulates, so its times say nothing about a GPU: the "
        "baseline and %zu finalist%s ran and were correct in %d block%s",
        c->n - 1, plural(c->n - 1), c->blocks.complete,
        plural((size_t)c->blocks.complete));
}

static char *make_sentence(const struct conclusion *c, const char *const *names)
{
    struct buf to;

    buf_init(&to, TEXT_MAX);
    switch (c->state) {
    case CONCLUSION_NONE:
        buf_printf(&to, "nothing is confirmed: %s", c->why_none);
        break;
    case CONCLUSION_BEGUN:
        buf_printf(&to,
                   "nothing is confirmed yet: %d of %s%d blocks are complete",
                   c->blocks.complete, at_most(c),
                   confirmation_blocks_max(&c->confirmation));
        break;
    case CONCLUSION_FAILED:
        put_failed(&to, c);
        break;
    case CONCLUSION_DONE:
        if (c->emulated)
            put_emulated(&to, c);
        else
            put_verdict(&to, c, c->n_shapes > 0 ? c->shapes : NULL, names);
        break;
    }
    return to.bytes;
}

/* ---- the checked launches */

static void add_proof(const struct conclusion *c,
                      const struct conclusion_entry *entry,
                      struct conclusion_checked *sum)
{
    const struct candidate *is = &c->confirmation.candidates[entry->candidate];

    conclusion_checked_add_proof(sum, is->proof_launches, is->proof_varied);
}

/* Of the configuration that a shape's sentence names. */
static char *say_checked(const struct conclusion *c,
                         const struct conclusion_shape *shape)
{
    const struct conclusion_reference rule =
        conclusion_external_rule(c, (size_t)(shape - c->shapes));
    const struct conclusion_entry *best = &c->entries[shape->best];
    bool all = shape->at == OBJECTIVE_ALL;
    size_t first = all ? 0 : (size_t)shape->at;
    struct conclusion_checked_claim claim = {
        .who =
            rule.findings && rule.findings[shape->best].verdict == VERDICT_FAST
                ? "It was"
                : "The best finalist was",
        .sum = conclusion_checked_of(c, best, shape->at),
        .n_shapes = all ? c->confirmation.n_shapes : 1,
        .least = INT64_MAX,
        .wanted = look_plan_launches(&c->confirmation),
        .rates = true,
    };

    for (size_t s = first; s < first + claim.n_shapes; s++) {
        int64_t launches = conclusion_checked_of(c, best, (int)s).launches;

        if (launches >= claim.least)
            continue;
        claim.least = launches;
        claim.at = c->confirmation.shapes[s].name;
    }
    add_proof(c, best, &claim.sum);
    return conclusion_checked_say(&claim);
}

/* Of all that were emulated: no configuration is named, and races are found in
 * another way than by their rate (docs/emulation.md). */
static char *say_emulated(const struct conclusion *c)
{
    struct conclusion_checked_claim claim = {
        .who = "They were",
        .n_shapes = c->confirmation.n_shapes,
        .at = c->confirmation.shapes[0].name,
    };

    for (size_t i = 0; i < c->n; i++) {
        const struct conclusion_checked of =
            conclusion_checked_of(c, &c->entries[i], OBJECTIVE_ALL);

        conclusion_checked_join(&claim.sum, &of);
        add_proof(c, &c->entries[i], &claim.sum);
    }
    return conclusion_checked_say(&claim);
}

/* That nobody counted is said once. */
static bool counts(const struct conclusion *c, size_t at)
{
    const struct conclusion_shape *shape = &c->shapes[at];

    return shape->best != BEST_SET_NONE &&
           (at == 0 ||
            conclusion_checked_of(c, &c->entries[shape->best], shape->at)
                    .known > 0);
}

/* A replay checked nothing. */
static void say_what_was_checked(struct conclusion *c)
{
    if (c->state != CONCLUSION_DONE || c->replayed || c->n < 2)
        return;
    if (c->emulated) {
        c->shapes[0].checked = say_emulated(c);
        return;
    }
    for (size_t i = 0; i < c->n_shapes; i++)
        if (counts(c, i))
            c->shapes[i].checked = say_checked(c, &c->shapes[i]);
}

char *conclusion_sentence_of(const struct conclusion *c,
                             const struct conclusion_shape *shape,
                             const char *const *names)
{
    struct buf to;

    if (!shape)
        return make_sentence(c, names);
    if (c->state != CONCLUSION_DONE || c->emulated)
        return NULL;
    buf_init(&to, TEXT_MAX);
    put_verdict(&to, c, shape, names);
    return to.bytes;
}

void conclusion_say(struct conclusion *c)
{
    const char **names = mem_new(c->n + 1, sizeof(*names));

    for (size_t i = 0; i < c->n; i++)
        names[i] = c->entries[i].name;
    c->sentence = conclusion_sentence_of(c, NULL, names);
    for (size_t i = 0; i < c->n_shapes; i++)
        c->shapes[i].sentence = conclusion_sentence_of(c, &c->shapes[i], names);
    free(names);
    say_what_was_checked(c);
}
