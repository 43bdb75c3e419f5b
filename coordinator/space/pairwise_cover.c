#include "coordinator/space/pairwise_cover.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define AXES_MAX 64 /* of a sweep file */
#define PAIRS_MAX (AXES_MAX * (AXES_MAX - 1) / 2)
#define WORD_BITS 64
#define NONE SIZE_MAX

/* Points as rows of values, one an axis. */
struct rows {
    uint16_t *values;
    size_t n;
    size_t room; /* capacity */
};

struct pair {
    size_t a, b; /* axes */
    size_t base; /* of its bits; the value of b varies fastest */
};

struct pairwise_cover {
    size_t axes;
    int64_t sizes[AXES_MAX], strides[AXES_MAX];
    struct pair pairs[PAIRS_MAX];
    size_t n_pairs;
    uint64_t *missing; /* a bit for each pair that is still missing */
    uint64_t seed;
    struct rows witnesses; /* points with a pair that no earlier point had */
    struct rows sample;    /* a sample of the other points */
    int level;             /* zero bits in the hash of a sampled point */
};

struct pairwise_cover *pairwise_cover_new(const size_t *sizes, size_t axes,
                                          uint64_t seed)
{
    struct pairwise_cover *cover = mem_new(1, sizeof(*cover));
    int64_t stride = 1;
    size_t bits = 0;

    assert(axes >= 1 && axes <= AXES_MAX);
    cover->axes = axes;
    cover->seed = seed;
    for (size_t i = axes; i-- > 0;) {
        cover->sizes[i] = (int64_t)sizes[i];
        cover->strides[i] = stride;
        stride *= cover->sizes[i];
    }
    /* A single axis is paired with itself: the pairs are its values. */
    for (size_t a = 0; a < axes; a++)
        for (size_t b = axes == 1 ? 0 : a + 1; b < axes; b++) {
            cover->pairs[cover->n_pairs++] = (struct pair){ a, b, bits };
            bits += sizes[a] * sizes[b];
        }
    cover->missing = mem_new(bits / WORD_BITS + 1, sizeof(*cover->missing));
    return cover;
}

void pairwise_cover_free(struct pairwise_cover *cover)
{
    if (!cover)
        return;
    free(cover->missing);
    free(cover->witnesses.values);
    free(cover->sample.values);
    free(cover);
}

static int64_t number_of(const struct pairwise_cover *cover,
                         const uint16_t *values)
{
    int64_t number = 0;

    for (size_t i = 0; i < cover->axes; i++)
        number += values[i] * cover->strides[i];
    return number;
}

static size_t bit_of(const struct pairwise_cover *cover,
                     const struct pair *pair, const uint16_t *values)
{
    return pair->base + values[pair->a] * (size_t)cover->sizes[pair->b] +
           values[pair->b];
}

static size_t count_missing(const struct pairwise_cover *cover,
                            const uint16_t *values)
{
    size_t n = 0;

    for (size_t i = 0; i < cover->n_pairs; i++) {
        size_t bit = bit_of(cover, &cover->pairs[i], values);

        n += cover->missing[bit / WORD_BITS] >> (bit % WORD_BITS) & 1;
    }
    return n;
}

/* Mark its pairs as missing, or as covered.  True if any changed. */
static bool set_missing(struct pairwise_cover *cover, const uint16_t *values,
                        bool missing)
{
    bool changed = false;

    for (size_t i = 0; i < cover->n_pairs; i++) {
        size_t bit = bit_of(cover, &cover->pairs[i], values);
        uint64_t mask = UINT64_C(1) << (bit % WORD_BITS);
        uint64_t *word = &cover->missing[bit / WORD_BITS];

        changed = changed || !(*word & mask) == missing;
        *word = missing ? *word | mask : *word & ~mask;
    }
    return changed;
}

/* splitmix64 (Steele, Lea, Flood 2014) of the number and the seed. */
static uint64_t mix(const struct pairwise_cover *cover, int64_t number)
{
    uint64_t x = (uint64_t)number + (cover->seed + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static bool is_sampled(const struct pairwise_cover *cover, int64_t number)
{
    uint64_t mask = (UINT64_C(1) << cover->level) - 1;

    return (mix(cover, number) & mask) == 0;
}

static uint16_t *row(const struct pairwise_cover *cover,
                     const struct rows *rows, size_t i)
{
    return rows->values + i * cover->axes;
}

static void keep(const struct pairwise_cover *cover, struct rows *rows,
                 const uint16_t *values)
{
    size_t bytes = cover->axes * sizeof(*values);

    if (rows->n == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 64;
        rows->values = mem_grow(rows->values, rows->room, bytes);
    }
    memcpy(row(cover, rows, rows->n++), values, bytes);
}

/* Drop about half of the sample. */
static void thin_out(struct pairwise_cover *cover)
{
    struct rows *sample = &cover->sample;
    size_t kept = 0;

    cover->level++;
    for (size_t i = 0; i < sample->n; i++) {
        const uint16_t *values = row(cover, sample, i);

        if (is_sampled(cover, number_of(cover, values)))
            memmove(row(cover, sample, kept++), values,
                    cover->axes * sizeof(*values));
    }
    sample->n = kept;
}

void pairwise_cover_add(struct pairwise_cover *cover, int64_t number)
{
    uint16_t values[AXES_MAX];

    for (size_t i = 0; i < cover->axes; i++)
        values[i] = (uint16_t)(number / cover->strides[i] % cover->sizes[i]);
    if (set_missing(cover, values, true)) {
        keep(cover, &cover->witnesses, values);
        return;
    }
    if (!is_sampled(cover, number))
        return;
    keep(cover, &cover->sample, values);
    while (cover->sample.n > PAIRWISE_COVER_SAMPLE_MAX)
        thin_out(cover);
}

/* ---- choosing */

/* Points in lists by the most pairs they may still cover.  The first non-empty
 * list is looked at next. */
struct ranking {
    const uint16_t **points;
    uint64_t *hashes;
    size_t *order, *next; /* indices of points */
    size_t n;
    size_t heads[PAIRS_MAX + 1];
};

static int by_hash(const void *a, const void *b, void *arg)
{
    const struct ranking *ranking = arg;
    uint64_t x = ranking->hashes[*(const size_t *)a];
    uint64_t y = ranking->hashes[*(const size_t *)b];

    return (x > y) - (x < y);
}

static void push(struct ranking *ranking, size_t point, size_t most)
{
    ranking->next[point] = ranking->heads[most];
    ranking->heads[most] = point;
}

static void rank(const struct pairwise_cover *cover, struct ranking *out)
{
    const struct rows *kept[] = { &cover->witnesses, &cover->sample };
    size_t n = cover->witnesses.n + cover->sample.n;

    out->points = mem_new(n + 1, sizeof(*out->points));
    out->hashes = mem_new(n + 1, sizeof(*out->hashes));
    out->order = mem_new(n + 1, sizeof(*out->order));
    out->next = mem_new(n + 1, sizeof(*out->next));
    out->n = 0;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < kept[k]->n; i++, out->n++) {
            out->points[out->n] = row(cover, kept[k], i);
            out->hashes[out->n] =
                mix(cover, number_of(cover, out->points[out->n]));
            out->order[out->n] = out->n;
        }
    qsort_r(out->order, n, sizeof(*out->order), by_hash, out);
    for (size_t most = 0; most <= cover->n_pairs; most++)
        out->heads[most] = NONE;
    for (size_t i = n; i-- > 0;)
        push(out, out->order[i], cover->n_pairs);
}

static void ranking_fini(struct ranking *ranking)
{
    free(ranking->points);
    free(ranking->hashes);
    free(ranking->order);
    free(ranking->next);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

size_t pairwise_cover_choose(struct pairwise_cover *cover, int64_t **out)
{
    struct ranking ranking;
    size_t most = cover->n_pairs, n = 0;

    *out = NULL;
    rank(cover, &ranking);
    while (most > 0) {
        size_t point = ranking.heads[most], now;

        if (point == NONE) {
            most--;
            continue;
        }
        ranking.heads[most] = ranking.next[point];
        now = count_missing(cover, ranking.points[point]);
        if (now < most) {
            push(&ranking, point, now);
            continue;
        }
        (void)set_missing(cover, ranking.points[point], false);
        *out = mem_grow(*out, n + 1, sizeof(**out));
        (*out)[n++] = number_of(cover, ranking.points[point]);
    }
    ranking_fini(&ranking);
    if (n)
        qsort(*out, n, sizeof(**out), ascending);
    return n;
}
