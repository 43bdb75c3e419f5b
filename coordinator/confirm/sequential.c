#include "coordinator/confirm/sequential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/confirm/best_set.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/speedup.h"
#include "coordinator/stats/spending.h"
#include "coordinator/stats/stats.h"

/* Of each comparison of the best with one that ties.  Nothing is claimed by it,
 * so it need not hold for all of them together. */
#define CHOICE_CONFIDENCE 0.6

/* Later looks are this share of the blocks apart: the more there are, the less
 * a group changes. */
#define LOOK_SHARE 8

/* A look waits until there are so many blocks for each GPU, on average. */
#define GPU_BLOCKS 5

/* The samples of one shape, as blocks.h takes them. */
struct samples {
    struct block_sample *items;
    size_t n, cap;
};

struct replay {
    const struct sequential_design *design;
    const bool *out;
    struct sequential *to;
    size_t rows;            /* shapes, and their mean if it is asked about */
    struct samples *shapes; /* [rows] of the active candidates in complete
                             * blocks */
    bool *slower;           /* [rows][candidates] */
    size_t looked_at;       /* samples of the headline, at the last look */
    struct spending base;   /* of the speedups over the baseline */
    struct spending tie;    /* of the comparisons with the leader */
    double base_level;      /* one-sided, of the look */
    int *gpus;              /* that have complete blocks */
    int n_gpus;
};

static bool is_active(const struct replay *r, size_t candidate)
{
    return !r->out[candidate] && !r->to->candidates[candidate].dropped;
}

static bool is_finalist(const struct replay *r, size_t candidate)
{
    return candidate > 0 && candidate != r->design->over;
}

/* An external baseline is no part of a block. */
static bool is_needed(const struct replay *r, size_t candidate)
{
    return is_active(r, candidate) &&
           (candidate == 0 || is_finalist(r, candidate));
}

static size_t count_finalists(const struct replay *r)
{
    size_t n = 0;

    for (size_t c = 1; c < r->design->candidates; c++)
        n += is_finalist(r, c) && !r->out[c];
    return n;
}

/* ---- when to look ---- */

/* compared  with what the speedups are over */
static int first_look(const struct sequential_design *design, size_t compared)
{
    double alpha = design->rules.alpha / 2 / (double)compared;
    int n = design->group;

    while (ldexp(1, -n) >
           spending_spent(alpha, (double)n / PROCESS_PLAN_LEAST / design->most))
        n += design->group;
    return n;
}

int sequential_first(const struct sequential_design *design)
{
    return first_look(design,
                      design->candidates > 1 ? design->candidates - 1 : 1);
}

/* Each GPU should have a block to make meanwhile. */
static int look_after(const struct replay *r, int blocks)
{
    int group = r->design->group, most = r->to->most;
    int step = blocks / LOOK_SHARE;

    step = step > group ? step : group;
    step = step > r->n_gpus ? step : r->n_gpus;
    return blocks < most && blocks + step > most ? most : blocks + step;
}

/* ---- what a look says ---- */

/* What is asked of one shape. */
struct question {
    struct blocks *blocks;
    size_t reference;         /* what the speedups are over */
    struct block_time *times; /* [candidates] */
    struct speedup *over;     /* [candidates] of the active finalists */
    bool *tied;               /* [candidates] active and not slower */
    bool *slower;             /* [candidates] than another one, at some look */
    size_t best;
};

/* 2 for success, 1 for FAST, as verdict.h has it. */
static int standing(const struct replay *r, const struct question *q, size_t c)
{
    const struct verdict_rules *rules = &r->design->rules;
    double most = 1 + rules->floor;

    if (!is_finalist(r, c) || !(q->over[c].lo > most) ||
        speedup_p_above(q->blocks, c, q->reference, most) > r->base_level)
        return 0;
    return q->over[c].lo >= rules->target ? 2 : 1;
}

/* The fastest of those that tie and have the strongest evidence. */
static size_t best_of(const struct replay *r, const struct question *q)
{
    size_t n = r->design->candidates, best = 0;
    int highest = 0;

    for (size_t c = 1; c < n; c++) {
        int more = q->tied[c] ? standing(r, q, c) - highest : -1;

        if (more < 0 || (more == 0 && best > 0 &&
                         q->times[c].seconds >= q->times[best].seconds))
            continue;
        best = c;
        highest += more;
    }
    return best;
}

/* Is the best slower than no other by more than the floor? */
static bool is_chosen(const struct replay *r, const struct question *q)
{
    double least = 1 / (1 + r->design->rules.floor);

    for (size_t c = 1; c < r->design->candidates; c++) {
        struct speedup s;

        if (!q->tied[c] || c == q->best)
            continue;
        speedup_of(q->blocks, q->best, c, CHOICE_CONFIDENCE, &s);
        if (s.lo < least)
            return false;
    }
    return true;
}

static bool is_futile(const struct replay *r, const struct question *q,
                      size_t candidate)
{
    return q->over[candidate].hi <= 1 + r->design->rules.floor;
}

static enum sequential_end answer(const struct replay *r,
                                  const struct question *q)
{
    const struct verdict_rules *rules = &r->design->rules;
    const struct speedup *s = &q->over[q->best];
    bool nothing = true;

    for (size_t c = 1; c < r->design->candidates; c++)
        if (q->tied[c] && !is_futile(r, q, c))
            nothing = false;
    if (nothing ||
        (standing(r, q, q->best) > 0 &&
         (s->lo >= rules->target || s->hi < rules->target) && is_chosen(r, q)))
        return SEQUENTIAL_CLEAR;
    return log(s->hi / s->lo) <= rules->floor ? SEQUENTIAL_PRECISE
                                              : SEQUENTIAL_OPEN;
}

/* Of those that are measured, compare each with the leader. */
static void find_ties(const struct replay *r, struct question *q)
{
    size_t n = r->design->candidates, active = 0;
    bool *eligible = mem_new(n, sizeof(*eligible));
    struct verdict_rules rules = r->design->rules;

    for (size_t c = 1; c < n; c++) {
        eligible[c] = is_needed(r, c) && !q->slower[c];
        active += eligible[c];
    }
    /* best_set.h divides among the comparisons */
    rules.alpha = r->to->tie_level * (double)(active > 1 ? active - 1 : 1);
    best_set_by(q->blocks, q->times, eligible, &rules, q->tied);
    for (size_t c = 1; c < n; c++)
        q->slower[c] = q->slower[c] || (eligible[c] && !q->tied[c]);
    free(eligible);
}

/* Those that were dropped as no faster than the baseline tie with a best that
 * is not FAST either. */
static void put_ties(const struct replay *r, const struct question *q,
                     bool *tied)
{
    bool is_fast = standing(r, q, q->best) > 0;

    for (size_t c = 1; c < r->design->candidates; c++)
        tied[c] = q->tied[c] ||
                  (r->to->candidates[c].dropped && !is_fast && !q->slower[c]);
}

/* An external baseline that has no time does not keep the pass going: then it
 * ends as one whose rule is against the baseline. */
static size_t reference_at(const struct replay *r,
                           const struct samples *samples)
{
    for (size_t i = 0; i < samples->n; i++)
        if ((size_t)samples->items[i].candidate == r->design->over)
            return r->design->over;
    return 0;
}

/* Ask one shape.  'loses' keeps those that lose here, too. */
static enum sequential_end ask_shape(struct replay *r, size_t shape,
                                     bool *loses)
{
    size_t n = r->design->candidates;
    const struct samples *samples = &r->shapes[shape];
    struct question q = {
        .blocks = blocks_new(samples->items, samples->n, n),
        .reference = reference_at(r, samples),
        .times = mem_new(n, sizeof(*q.times)),
        .over = mem_new(n, sizeof(*q.over)),
        .tied = mem_new(n, sizeof(*q.tied)),
        .slower = &r->slower[shape * n],
    };
    enum sequential_end end;

    for (size_t c = 1; c < n; c++)
        if (is_needed(r, c))
            speedup_of(q.blocks, c, q.reference, 1 - 2 * r->base_level,
                       &q.over[c]);
    blocks_times(q.blocks, 0, q.times);
    find_ties(r, &q);
    q.best = best_of(r, &q);
    end = answer(r, &q);
    for (size_t c = 1; c < n; c++)
        loses[c] = loses[c] && (q.slower[c] || is_futile(r, &q, c));
    put_ties(r, &q, &r->to->tied[shape * n]);
    free(q.tied);
    free(q.over);
    free(q.times);
    blocks_free(q.blocks);
    return end;
}

/* The end of all shapes: open if one is, and precise if one is only that. */
static enum sequential_end ask(struct replay *r, bool *loses)
{
    enum sequential_end end = SEQUENTIAL_CLEAR;

    for (size_t shape = 0; shape < r->rows; shape++) {
        enum sequential_end one = ask_shape(r, shape, loses);

        if (one == SEQUENTIAL_OPEN || end == SEQUENTIAL_OPEN)
            end = SEQUENTIAL_OPEN;
        else if (one == SEQUENTIAL_PRECISE)
            end = SEQUENTIAL_PRECISE;
    }
    return end;
}

/* Processes that differ raise the cap, and with it what may be spent by now: so
 * this is decided once.  The aim is to tell a finalist at twice the floor from
 * one at the floor. */
static void set_cap(struct replay *r)
{
    struct sequential *to = r->to;
    struct process_plan plan = { r->design->samples, to->most };

    if (to->looks > 0 || to->last)
        return;
    process_noise_of(r->shapes[0].items, r->shapes[0].n, &to->noise);
    if (!to->noise.noticed)
        return;
    process_noise_plan(&to->noise, log1p(r->design->rules.floor), r->base.alpha,
                       &plan);
    to->most = plan.most;
    to->samples = plan.samples;
}

static double spend(const struct replay *r, struct spending *spending,
                    double share)
{
    return r->to->last ? spending_last(spending, share)
                       : spending_look(spending, share);
}

static void look(struct replay *r)
{
    const struct sequential_design *design = r->design;
    struct sequential *to = r->to;
    bool *loses = mem_new(design->candidates, sizeof(*loses));
    double share;

    set_cap(r);
    r->looked_at = r->shapes[0].n;
    to->used = to->next;
    to->looked =
        mem_grow(to->looked, (size_t)to->looks + 1, sizeof(*to->looked));
    to->looked[to->looks++] = to->used;
    share = (double)to->used / to->most;
    r->base_level = spend(r, &r->base, share);
    to->tie_level = spend(r, &r->tie, share);
    for (size_t c = 0; c < design->candidates; c++) {
        loses[c] = is_active(r, c) && is_finalist(r, c);
        if (!is_active(r, c))
            continue;
        to->candidates[c].level = 2 * r->base_level;
        to->candidates[c].looks = to->looks;
    }
    to->end = ask(r, loses);
    if (to->end == SEQUENTIAL_OPEN && to->last)
        to->end = SEQUENTIAL_BUDGET;
    else if (to->end == SEQUENTIAL_OPEN && to->used >= to->most)
        to->end = SEQUENTIAL_CAP;
    for (size_t c = 0; to->end == SEQUENTIAL_OPEN && c < design->candidates;
         c++)
        to->candidates[c].dropped = to->candidates[c].dropped || loses[c];
    if (to->end == SEQUENTIAL_OPEN)
        to->next = look_after(r, to->used);
    free(loses);
}

/* ---- the blocks, in order ---- */

static bool is_complete(const struct replay *r,
                        const struct sequential_result *results, size_t n)
{
    size_t wanted = 0, found = 0;

    for (size_t c = 0; c < r->design->candidates; c++)
        wanted += is_needed(r, c);
    for (size_t i = 0; i < n; i++)
        found += is_needed(r, results[i].candidate);
    return !r->out[0] && found > 0 && found == wanted * r->design->shapes;
}

static void put_sample(struct samples *to, struct block_sample sample)
{
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 256;
        to->items = mem_grow(to->items, to->cap, sizeof(*to->items));
    }
    to->items[to->n++] = sample;
}

static void take_samples(struct replay *r,
                         const struct sequential_result *result)
{
    for (size_t i = 0; i < result->n; i++)
        put_sample(&r->shapes[result->shape],
                   (struct block_sample){ (int)result->candidate, result->block,
                                          result->gpu, result->seconds[i] });
    r->to->candidates[result->candidate].last = result->block;
}

/* The geometric mean of the medians of each one's shapes.  A complete block has
 * them all, but for those of an external baseline. */
static void take_means(struct replay *r,
                       const struct sequential_result *results, size_t n)
{
    size_t shapes = r->design->shapes;
    double *logs = mem_new(r->design->candidates, sizeof(*logs));
    size_t *counts = mem_new(r->design->candidates, sizeof(*counts));

    for (size_t i = 0; i < n; i++) {
        struct summary summary;

        stats_summary(results[i].seconds, results[i].n, &summary);
        logs[results[i].candidate] += log(summary.median);
        counts[results[i].candidate]++;
    }
    for (size_t c = 0; c < r->design->candidates; c++)
        if (is_active(r, c) && counts[c] == shapes)
            put_sample(&r->shapes[shapes],
                       (struct block_sample){ (int)c, results[0].block,
                                              results[0].gpu,
                                              exp(logs[c] / (double)shapes) });
    free(counts);
    free(logs);
}

static void note_gpu(struct replay *r, int gpu)
{
    for (int i = 0; i < r->n_gpus; i++)
        if (r->gpus[i] == gpu)
            return;
    r->gpus = mem_grow(r->gpus, (size_t)r->n_gpus + 1, sizeof(*r->gpus));
    r->gpus[r->n_gpus++] = gpu;
}

static void take_block(struct replay *r,
                       const struct sequential_result *results, size_t n)
{
    struct sequential *to = r->to;
    bool complete = is_complete(r, results, n);

    to->blocks = mem_grow(to->blocks, to->n_blocks + 1, sizeof(*to->blocks));
    to->blocks[to->n_blocks++] =
        (struct sequential_block){ results[0].block, results[0].gpu, complete };
    if (!complete || to->end != SEQUENTIAL_OPEN)
        return;
    r->to->complete++;
    note_gpu(r, results[0].gpu);
    for (size_t i = 0; i < n; i++)
        if (is_active(r, results[i].candidate))
            take_samples(r, &results[i]);
    if (r->design->over_all)
        take_means(r, results, n);
    if (r->design->group == 0 || r->to->complete < to->next)
        return;
    if (r->to->complete < GPU_BLOCKS * r->n_gpus && r->to->complete < to->most)
        to->next = look_after(r, to->next);
    else
        look(r);
}

static void set_levels(struct replay *r)
{
    const struct sequential_design *design = r->design;
    size_t finalists = count_finalists(r);
    size_t compared = finalists + (design->over > 0);
    double each = compared > 1 ? (double)compared : 1;
    double rivals = finalists > 2 ? (double)finalists - 1 : 1;

    r->to->most = design->most;
    r->to->samples = design->samples;
    if (design->group > 0) {
        r->to->next = first_look(design, compared > 1 ? compared : 1);
        if (r->to->next > design->most)
            r->to->next = design->most;
    }
    spending_init(&r->base, design->rules.alpha / 2 / each);
    spending_init(&r->tie, fmin(design->rules.alpha / rivals, 0.49));
    for (size_t c = 0; c < design->candidates; c++)
        r->to->candidates[c].level =
            design->group == 0 ? design->rules.alpha / each : 0;
    r->to->tie_level = design->rules.alpha / rivals;
}

static void begin(struct replay *r, const struct sequential_design *design,
                  const bool *out)
{
    struct sequential *to = mem_new(1, sizeof(*to));

    *r = (struct replay){ .design = design,
                          .out = out,
                          .to = to,
                          .rows = design->shapes + design->over_all };
    r->shapes = mem_new(r->rows, sizeof(*r->shapes));
    r->slower = mem_new(r->rows * design->candidates, sizeof(*r->slower));
    to->tied = mem_new(r->rows * design->candidates, sizeof(*to->tied));
    to->candidates = mem_new(design->candidates, sizeof(*to->candidates));
    to->noise = (struct process_noise){ NAN, NAN, NAN, NAN, false };
    set_levels(r);
}

/* The last look, before 'most' blocks.  One that was just made stays as it was:
 * the same blocks say no more. */
static void close_early(struct replay *r)
{
    struct sequential *to = r->to;

    if (!r->design->closed || r->design->group == 0 ||
        to->end != SEQUENTIAL_OPEN || to->complete == 0)
        return;
    if (to->complete > to->used) {
        to->last = true;
        to->next = to->complete;
        look(r);
    } else
        to->end = SEQUENTIAL_BUDGET;
    to->next = to->used;
}

/* Whole blocks. */
static void take_results(struct replay *r,
                         const struct sequential_result *results, size_t n)
{
    int looks = r->to->looks;
    size_t end;

    for (size_t from = 0; from < n; from = end) {
        for (end = from; end < n && results[end].block == results[from].block;)
            end++;
        take_block(r, &results[from], end - from);
    }
    close_early(r);
    if (r->to->looks > looks)
        process_noise_of(r->shapes[0].items, r->looked_at, &r->to->noise);
}

/* What was found stays. */
static struct sequential *end_replay(struct replay *r)
{
    for (size_t row = 0; row < r->rows; row++)
        free(r->shapes[row].items);
    free(r->shapes);
    free(r->slower);
    free(r->gpus);
    return r->to;
}

struct sequential *sequential_replay(const struct sequential_design *design,
                                     const struct sequential_result *results,
                                     size_t n, const bool *out)
{
    struct replay r;

    begin(&r, design, out);
    take_results(&r, results, n);
    return end_replay(&r);
}

void sequential_free(struct sequential *sequential)
{
    if (!sequential)
        return;
    free(sequential->looked);
    free(sequential->blocks);
    free(sequential->candidates);
    free(sequential->tied);
    free(sequential);
}

/* ---- a pass that goes on ---- */

struct sequential_course {
    struct sequential_design design;
    bool *out;                        /* [candidates] */
    struct replay replay;             /* its 'to' is NULL before the first */
    struct sequential_result *before; /* [n] that it took */
    size_t n;
};

struct sequential_course *
sequential_course_new(const struct sequential_design *design)
{
    struct sequential_course *course = mem_new(1, sizeof(*course));

    course->design = *design;
    course->out = mem_new(design->candidates, sizeof(*course->out));
    return course;
}

static void forget(struct sequential_course *course)
{
    if (course->replay.to)
        sequential_free(end_replay(&course->replay));
    course->replay.to = NULL;
    for (size_t i = 0; i < course->n; i++)
        free((double *)course->before[i].seconds); /* a copy of ours */
    free(course->before);
    course->before = NULL;
    course->n = 0;
}

void sequential_course_free(struct sequential_course *course)
{
    if (!course)
        return;
    forget(course);
    free(course->out);
    free(course);
}

static bool is_same(const struct sequential_result *a,
                    const struct sequential_result *b)
{
    return a->candidate == b->candidate && a->shape == b->shape &&
           a->block == b->block && a->gpu == b->gpu && a->n == b->n &&
           memcmp(a->seconds, b->seconds, a->n * sizeof(*a->seconds)) == 0;
}

/* Do these results only add blocks to those of before? */
static bool goes_on(const struct sequential_course *course,
                    const struct sequential_result *results, size_t n,
                    const bool *out)
{
    size_t before = course->n;

    if (!course->replay.to || n < before ||
        memcmp(out, course->out, course->design.candidates * sizeof(*out)) != 0)
        return false;
    for (size_t i = 0; i < before; i++)
        if (!is_same(&results[i], &course->before[i]))
            return false;
    return before == 0 || n == before ||
           results[before].block != results[before - 1].block;
}

static void remember(struct sequential_course *course,
                     const struct sequential_result *results, size_t n)
{
    course->before = mem_grow(course->before, n + 1, sizeof(*course->before));
    for (size_t i = course->n; i < n; i++) {
        course->before[i] = results[i];
        course->before[i].seconds =
            mem_dup(results[i].seconds, results[i].n * sizeof(double));
    }
    course->n = n;
}

const struct sequential *
sequential_course_go_on(struct sequential_course *course,
                        const struct sequential_result *results, size_t n,
                        const bool *out)
{
    if (!goes_on(course, results, n, out)) {
        forget(course);
        memcpy(course->out, out, course->design.candidates * sizeof(*out));
        begin(&course->replay, &course->design, course->out);
    }
    take_results(&course->replay, n > 0 ? &results[course->n] : results,
                 n - course->n);
    remember(course, results, n);
    return course->replay.to;
}

bool sequential_counts(const struct sequential *sequential, size_t candidate,
                       int block)
{
    size_t from = 0, to = sequential->n_blocks;

    if (block > sequential->candidates[candidate].last)
        return false;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (sequential->blocks[middle].number > block)
            to = middle;
        else
            from = middle;
    }
    return to > from && sequential->blocks[from].number == block &&
           sequential->blocks[from].complete;
}
