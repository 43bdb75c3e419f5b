/* The conclusion as a sentence, and one for each shape. */
#include <math.h>

#include "common/buf.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_internal.h"

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

static void put_best(struct buf *to, const struct conclusion *c,
                     const char *name, const struct finding *f)
{
    double target = c->confirmation.rules.target;

    buf_printf(to, "%s is %.*fx the baseline, ", name, digits(&f->speedup),
               f->speedup.value);
    put_interval(to, c, &f->speedup);
    buf_printf(to, ", confirmed on %zu GPU%s", c->n_gpus, plural(c->n_gpus));
    if (!f->success)
        buf_printf(to, "; the target of %.4gx is not %sreached", target,
                   f->speedup.hi < target ? "" : "shown to be ");
}

/* What holds for all finalists: at most the floor, and none certainly above
 * 1. */
static bool all_end_within(const struct conclusion *c,
                           const struct conclusion_shape *shape, double most)
{
    for (size_t i = 1; i < c->n; i++)
        if (!(shape->findings[i].speedup.hi <= most))
            return false;
    return true;
}

static bool any_is_faster(const struct conclusion *c,
                          const struct conclusion_shape *shape)
{
    for (size_t i = 1; i < c->n; i++)
        if (shape->findings[i].speedup.lo > 1)
            return true;
    return false;
}

static void put_negative(struct buf *to, const struct conclusion *c,
                         const struct conclusion_shape *shape)
{
    const struct finding *f = &shape->findings[shape->best];
    double floor = c->confirmation.rules.floor;
    bool sided = f->speedup.lo > 1 || f->speedup.hi < 1;

    buf_printf(to, "nothing %s the baseline",
               all_end_within(c, shape, 1 + floor) ? "beats"
                                                   : "is shown to beat");
    if (any_is_faster(c, shape))
        buf_printf(to, " by more than %.2g %%", 100 * floor);
    buf_printf(to, ": the best of %zu finalist%s, %s, is ", c->n - 1,
               plural(c->n - 1), c->entries[shape->best].name);
    if (sided)
        buf_printf(to, "%s than the baseline, ", verdict_side(&f->speedup));
    buf_printf(to, "%.*fx as fast, ", digits(&f->speedup), f->speedup.value);
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
                   "correct everywhere",
                   c->n_rejected, plural(c->n_rejected));
    else
        buf_printf(to, "nothing beats the baseline: no other configuration "
                       "has a valid time");
}

static void put_verdict(struct buf *to, const struct conclusion *c,
                        const struct conclusion_shape *shape)
{
    const struct finding *f;
    const char *name;

    if (!shape || shape->best == BEST_SET_NONE) {
        put_nobody(to, c);
        return;
    }
    f = &shape->findings[shape->best];
    name = c->entries[shape->best].name;
    if (f->verdict == VERDICT_FAST)
        put_best(to, c, name, f);
    else
        put_negative(to, c, shape);
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
    buf_printf(
        to,
        "the cpu device emulates, so its times say nothing about a GPU: the "
        "baseline and %zu finalist%s ran and were correct in %d block%s",
        c->n - 1, plural(c->n - 1), c->blocks.complete,
        plural((size_t)c->blocks.complete));
}

static char *make_sentence(const struct conclusion *c)
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
            put_verdict(&to, c, c->n_shapes > 0 ? c->shapes : NULL);
        break;
    }
    return to.bytes;
}

void conclusion_say(struct conclusion *c)
{
    bool says = c->state == CONCLUSION_DONE && !c->emulated;

    c->sentence = make_sentence(c);
    for (size_t i = 0; says && i < c->n_shapes; i++) {
        struct buf to;

        buf_init(&to, TEXT_MAX);
        put_verdict(&to, c, &c->shapes[i]);
        c->shapes[i].sentence = to.bytes;
    }
}
