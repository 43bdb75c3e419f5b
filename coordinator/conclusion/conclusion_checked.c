#include "coordinator/conclusion/conclusion_checked.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/buf.h"

#define TEXT_MAX 4096
#define COUNT_MAX 32 /* characters of a number with commas */

void conclusion_checked_add(struct conclusion_checked *sum, int64_t launches,
                            int64_t varied)
{
    sum->measured++;
    if (launches < 0)
        return;
    sum->known++;
    sum->launches += launches;
    sum->varied = sum->varied || varied == 1;
}

void conclusion_checked_add_proof(struct conclusion_checked *sum,
                                  int64_t launches, int64_t varied)
{
    if (launches < 0)
        return;
    sum->launches += launches;
    sum->proof += launches;
    sum->varied = sum->varied || varied == 1;
}

void conclusion_checked_join(struct conclusion_checked *sum,
                             const struct conclusion_checked *other)
{
    sum->launches += other->launches;
    sum->measured += other->measured;
    sum->known += other->known;
    sum->varied = sum->varied || other->varied;
    sum->proof += other->proof;
    sum->partly = sum->partly || other->partly;
}

int64_t conclusion_checked_one_in(int64_t launches)
{
    double most;
    int64_t unit = 1, n;

    if (launches < 1)
        return 0;
    most = 1 / (1 - pow(0.05, 1 / (double)launches));
    n = (int64_t)most;
    while (n / unit >= 100)
        unit *= 10;
    n = n / unit * unit;
    return n < 2 ? 0 : n;
}

/* 3120 as "3,120". */
static const char *count_text(int64_t n, char out[COUNT_MAX])
{
    char digits[COUNT_MAX];
    int len = snprintf(digits, sizeof(digits), "%" PRId64, n), to = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
    return out;
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void put_right(struct buf *to,
                      const struct conclusion_checked_claim *claim)
{
    const struct conclusion_checked *sum = &claim->sum;
    char launches[COUNT_MAX], proof[COUNT_MAX];

    buf_printf(to, "%s right in all %s checked launches", claim->who,
               count_text(sum->launches, launches));
    if (sum->proof > 0)
        buf_printf(to, ", %s of them in the proof and the others",
                   count_text(sum->proof, proof));
    if (claim->n_shapes > 1)
        buf_printf(to, " at %zu shapes", claim->n_shapes);
    else if (sum->proof > 0)
        buf_printf(to, " at %s", claim->at);
    if (sum->known < sum->measured)
        buf_printf(to, " of %zu measurement%s", sum->known,
                   plural((int64_t)sum->known));
    buf_printf(to, ", %s",
               sum->varied ? "whose bits varied with the same inputs, within "
                             "the tolerance (atomics?)"
                           : "with the same bits for the same inputs");
    if (sum->known < sum->measured)
        buf_printf(to, "; %zu other measurement%s did not count the launches",
                   sum->measured - sum->known,
                   plural((int64_t)(sum->measured - sum->known)));
}

/* The shapes that are not those of the proof. */
static void put_where(struct buf *to,
                      const struct conclusion_checked_claim *claim)
{
    if (claim->n_shapes > 1)
        buf_printf(to, " at each %s",
                   claim->sum.proof > 0 ? "of these shapes" : "shape");
    else if (claim->sum.proof > 0)
        buf_printf(to, " at %s", claim->at);
}

static void put_few(struct buf *to,
                    const struct conclusion_checked_claim *claim)
{
    char few[COUNT_MAX], many[COUNT_MAX];

    if (claim->n_shapes == 1 && claim->sum.proof == 0)
        buf_printf(to, "; that is fewer than the %s that are wanted",
                   count_text(claim->wanted, many));
    else
        buf_printf(to,
                   "; that is fewer than the %s that are wanted at each "
                   "shape: %s at %s",
                   count_text(claim->wanted, many),
                   count_text(claim->least, few), claim->at);
}

/* A number that is known in part shows neither that there are enough launches
 * nor that there are too few. */
static void put_enough(struct buf *to,
                       const struct conclusion_checked_claim *claim)
{
    int64_t one_in = conclusion_checked_one_in(claim->least);
    char many[COUNT_MAX];

    if (claim->least < claim->wanted)
        put_few(to, claim);
    if (!claim->rates || one_in == 0)
        return;
    buf_printf(to, "; a fault in one launch of %s would have been found",
               count_text(one_in, many));
    put_where(to, claim);
    buf_printf(to, " with 95 %%");
}

char *conclusion_checked_say(const struct conclusion_checked_claim *claim)
{
    struct buf to;

    if (claim->sum.measured == 0)
        return NULL;
    buf_init(&to, TEXT_MAX);
    if (claim->sum.known == 0)
        buf_printf(&to, "How many launches were checked is not known");
    else
        put_right(&to, claim);
    if (claim->sum.known == claim->sum.measured)
        put_enough(&to, claim);
    if (claim->sum.partly)
        buf_printf(&to, "; with some inputs a part of the outputs was not "
                        "judged ('fa-coord explain' says which)");
    return to.bytes;
}
