#include "coordinator/confirm/finalists.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/stats.h"

struct entry {
    double log_s, variance;
    size_t at;
};

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->log_s != y->log_s)
        return (x->log_s > y->log_s) - (x->log_s < y->log_s);
    return (x->at > y->at) - (x->at < y->at);
}

void finalists_screen(const double *samples, size_t n, double scale,
                      struct screened *out)
{
    struct summary summary;
    double sum = 0, squares = 0;

    assert(n >= 1);
    stats_summary(samples, n, &summary);
    for (size_t i = 0; i < n; i++)
        sum += samples[i];
    for (size_t i = 0; i < n; i++)
        squares += pow(samples[i] - sum / (double)n, 2);
    *out = (struct screened){
        .seconds = scale * summary.median,
        .n_samples = n,
        .sd = n < 2 ? 0 : sqrt(squares / (double)(n - 1)) / summary.median,
    };
}

/* Variance of the log of a median.  For many normal samples it is that of a
 * mean times pi / 2, for few it is less.  The median of one or two samples is
 * their mean. */
double finalists_variance(const struct screened *s,
                          const struct finalist_rules *rules)
{
    double factor = s->n_samples < 3 ? 1 : M_PI_2;
    double noise = fmax(s->sd, rules->noise);

    assert(s->n_samples >= 1);
    return factor * noise * noise / (double)s->n_samples +
           rules->between * rules->between;
}

void finalists_over_all(const struct screened *each, size_t stride,
                        const struct finalist_rules *rules, size_t n_shapes,
                        struct screened *out)
{
    double logs = 0, variance = 0;

    for (size_t s = 0; s < n_shapes; s++) {
        struct finalist_rules alone = rules[s];

        alone.between = 0;
        logs += log(each[s * stride].seconds); /* NAN stays NAN */
        variance += finalists_variance(&each[s * stride], &alone);
    }
    *out = (struct screened){ .seconds = exp(logs / (double)n_shapes),
                              .n_samples = 1,
                              .sd = sqrt(variance) / (double)n_shapes };
}

static size_t enter(const struct screened *screened, size_t n,
                    const struct finalist_rules *rules, struct entry *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(screened[i].seconds))
            out[kept++] =
                (struct entry){ log(screened[i].seconds),
                                finalists_variance(&screened[i], rules), i };
    qsort(out, kept, sizeof(*out), by_time);
    return kept;
}

/* Entries are in order of time.  Only an earlier entry can beat one, and of two
 * earlier entries the slower one matters only if it is less noisy.  So only the
 * entries on this front are compared; there are few of them. */
static size_t count_possible(struct entry *sorted, size_t n, double z)
{
    struct entry *front = mem_new(n, sizeof(*front));
    size_t n_front = 0, possible = 0;

    for (size_t i = 0; i < n; i++) {
        const struct entry *mine = &sorted[i];
        bool beaten = false;

        for (size_t k = 0; k < n_front && !beaten; k++)
            beaten = mine->log_s - front[k].log_s >
                     z * sqrt(mine->variance + front[k].variance);
        if (n_front == 0 || mine->variance < front[n_front - 1].variance)
            front[n_front++] = *mine;
        if (!beaten)
            sorted[possible++] = *mine;
    }
    free(front);
    return possible;
}

/* The entries of one shape that could be the best there, fastest first. */
struct possible {
    struct entry *entries;
    size_t n;
};

static struct possible find_possible(const struct screened *screened, size_t n,
                                     const struct finalist_rules *rules)
{
    struct possible p = { .entries = mem_new(n + 1, sizeof(*p.entries)) };
    size_t n_in = enter(screened, n, rules, p.entries);
    double z =
        n_in < 2 ? 0 : -normal_quantile(rules->alpha / (double)(n_in - 1));

    p.n = count_possible(p.entries, n_in, z);
    return p;
}

/* The k-th of a shape: choose it if there is room, otherwise report it as left
 * out. */
static void take(const struct possible *shape, size_t k, size_t cap,
                 bool *chosen, struct finalists *out)
{
    const struct entry *mine = &shape->entries[k];

    if (chosen[mine->at])
        return;
    if (out->n_chosen < cap) {
        chosen[mine->at] = true;
        out->n_chosen++;
        return;
    }
    out->next = fmin(out->next, exp(mine->log_s - shape->entries[0].log_s));
}

static size_t count_all(const struct possible *shapes, size_t n_shapes,
                        size_t n)
{
    bool *seen = mem_new(n + 1, sizeof(*seen));
    size_t count = 0;

    for (size_t s = 0; s < n_shapes; s++)
        for (size_t k = 0; k < shapes[s].n; k++) {
            count += !seen[shapes[s].entries[k].at];
            seen[shapes[s].entries[k].at] = true;
        }
    free(seen);
    return count;
}

void finalists_choose(const struct screened *screened, size_t n,
                      const struct finalist_rules *rules, size_t n_shapes,
                      size_t cap, bool *chosen, struct finalists *out)
{
    struct possible *shapes = mem_new(n_shapes + 1, sizeof(*shapes));
    size_t deepest = 0;

    *out = (struct finalists){ .next = (double)NAN };
    for (size_t i = 0; i < n; i++)
        chosen[i] = false;
    for (size_t s = 0; s < n_shapes; s++) {
        shapes[s] = find_possible(&screened[s * n], n, &rules[s]);
        deepest = shapes[s].n > deepest ? shapes[s].n : deepest;
    }
    for (size_t k = 0; k < deepest; k++)
        for (size_t s = 0; s < n_shapes; s++)
            if (k < shapes[s].n)
                take(&shapes[s], k, cap, chosen, out);
    out->n_possible = count_all(shapes, n_shapes, n);
    for (size_t s = 0; s < n_shapes; s++)
        free(shapes[s].entries);
    free(shapes);
}
