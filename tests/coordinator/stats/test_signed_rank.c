#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/signed_rank.h"
#include "tests/coordinator/near.h"

static void none_and_few_differences_bound_nothing(void **state)
{
    static const struct difference d[] = {
        { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 }
    };
    struct signed_rank out;

    (void)state;
    signed_rank(NULL, 0, 0.95, &out);
    assert_true(isnan(out.estimate) && out.p == 1 && isinf(out.lo));
    signed_rank(d, 4, 0.95, &out);
    assert_true(out.estimate == 2.5 && isinf(out.lo) && isinf(out.hi));
    assert_near(out.p, 0.125, 1e-12); /* 2 of 16 signs */
}

/* The positive rank sum 1+2+...+6 less 1 is 20. Two of 64 sign patterns give 20
 * or more, and two give 1 or less. */
static void p_counts_the_signs(void **state)
{
    static const struct difference d[] = {
        { -0.1, 0 }, { 0.2, 0 }, { 0.5, 0 }, { 0.7, 0 }, { 1.1, 0 }, { 9, 0 },
    };
    struct signed_rank out;

    (void)state;
    signed_rank(d, 6, 0.95, &out);
    assert_near(out.p, 4.0 / 64, 1e-12);
}

/* 2 of 64 sign patterns have 20 or more, and all but one have 1 or more. */
static void one_sided_p_knows_the_side(void **state)
{
    struct difference d[] = {
        { -0.1, 0 }, { 0.2, 0 }, { 0.5, 0 }, { 0.7, 0 }, { 1.1, 0 }, { 9, 0 },
    };
    struct signed_rank out;

    (void)state;
    signed_rank(NULL, 0, 0.95, &out);
    assert_true(out.p_above == 1);
    signed_rank(d, 6, 0.95, &out);
    assert_near(out.p_above, 2.0 / 64, 1e-12);
    for (int i = 0; i < 6; i++)
        d[i].value = -d[i].value;
    signed_rank(d, 6, 0.95, &out);
    assert_near(out.p_above, 63.0 / 64, 1e-12);
    d[0].value = -0.1;
    signed_rank(d, 6, 0.95, &out);
    assert_true(out.p_above == 1);
}

/* The table of the signed-rank test at 5 %, two-sided: for n = 10, rank sums of
 * 8 or less are rejected. */
static void critical_values_are_those_of_the_table(void **state)
{
    struct difference d[10];
    struct signed_rank out;

    (void)state;
    for (int i = 0; i < 10; i++)
        d[i] = (struct difference){ i + 1 == 8 ? -8 : i + 1, 0 };
    signed_rank(d, 10, 0.95, &out);
    assert_true(out.p < 0.05);
    for (int i = 0; i < 10; i++)
        d[i] = (struct difference){ i + 1 == 9 ? -9 : i + 1, 0 };
    signed_rank(d, 10, 0.95, &out);
    assert_true(out.p > 0.05);
}

/* Six values: 2 of 64 sign patterns are beyond the ends, 4 beyond the next
 * averages.  95 % is 0.6 of the way between. */
static void an_end_lies_between_two_steps(void **state)
{
    static const struct difference d[] = { { 6, 3 }, { 1, 3 }, { 4, 3 },
                                           { 2, 3 }, { 5, 3 }, { 3, 3 } };
    struct signed_rank out;

    (void)state;
    signed_rank(d, 6, 0.95, &out);
    assert_true(out.estimate == 3.5);
    assert_near(out.lo, 1 + 0.6 * 0.5, 1e-9);
    assert_near(out.hi, 6 - 0.6 * 0.5, 1e-9);
}

static void one_wild_block_moves_little(void **state)
{
    struct difference d[20];
    struct signed_rank calm, wild;

    (void)state;
    for (int i = 0; i < 20; i++)
        d[i] = (struct difference){ 0.001 * i, 0 };
    signed_rank(d, 20, 0.95, &calm);
    d[19].value = 1e6;
    signed_rank(d, 20, 0.95, &wild);
    assert_near(wild.estimate, calm.estimate, 0.001);
    assert_true(wild.hi < 0.02);
}

static void equal_differences_are_a_point(void **state)
{
    static const struct difference d[] = { { 0, 0 }, { 0, 0 }, { 0, 0 },
                                           { 0, 0 }, { 0, 0 }, { 0, 0 } };
    struct signed_rank out;

    (void)state;
    signed_rank(d, 6, 0.95, &out);
    assert_true(out.p == 1 && out.estimate == 0 && out.lo == 0 && out.hi == 0);
}

/* Forty blocks of one card have 0.10, eight of the other have 0: the interval
 * must span the gap. */
static void more_blocks_on_one_card_do_not_outvote_the_other(void **state)
{
    struct difference d[48];
    struct signed_rank out;

    (void)state;
    for (int i = 0; i < 48; i++)
        d[i] =
            (struct difference){ (i < 40 ? 0.1 : 0) + 1e-5 * (i % 8), i < 40 };
    signed_rank(d, 48, 0.95, &out);
    assert_true(out.lo < 0.001 && out.hi > 0.099);
    assert_true(out.estimate > 0.0 && out.estimate < 0.101);
}

/* Three cards agree and a fourth differs: the majority decides, the odd one
 * widens the interval. */
static void cards_that_agree_give_one_interval(void **state)
{
    struct difference d[40];
    struct signed_rank out;

    (void)state;
    for (int i = 0; i < 40; i++)
        d[i] = (struct difference){ 0.02 + 1e-4 * ((i * 7) % 10), i / 10 };
    signed_rank(d, 40, 0.95, &out);
    assert_true(out.lo > 0.02 && out.hi < 0.021 && out.p < 1e-6);
}

/* The approximation takes over at 129 values; both must agree there. */
static void exact_and_approximate_agree_where_they_meet(void **state)
{
    struct difference d[129];
    struct signed_rank exact, approximate;

    (void)state;
    for (int i = 0; i < 128; i++)
        d[i] = (struct difference){ sin(i * 12.9898) + 0.15, 0 };
    d[128] = (struct difference){ 1e-9, 0 }; /* of the lowest rank */
    signed_rank(d, 128, 0.95, &exact);
    signed_rank(d, 129, 0.95, &approximate);
    assert_true(exact.p > 0.001 && exact.p < 0.1);
    assert_near(exact.p, approximate.p, 0.15 * exact.p);
    assert_near(exact.lo, approximate.lo, 0.02);
    assert_near(exact.hi, approximate.hi, 0.02);
}

static bool same(const struct signed_rank *a, const struct signed_rank *b)
{
    return a->n == b->n && a->estimate == b->estimate && a->lo == b->lo &&
           a->hi == b->hi && a->p == b->p && a->p_above == b->p_above;
}

/* One of other sizes is of no use, and does no harm. */
static void a_law_changes_nothing(void **state)
{
    static const size_t sizes[] = { 25, 15 }, others[] = { 15, 25 };
    struct signed_rank_law *law = signed_rank_law_new(sizes, 2);
    struct signed_rank_law *other = signed_rank_law_new(others, 2);
    struct difference d[40];
    struct signed_rank alone, by_law, by_other;

    (void)state;
    for (int i = 0; i < 40; i++)
        d[i] = (struct difference){ sin(i * 12.9898) + 0.2, i >= 25 };
    signed_rank(d, 40, 0.95, &alone);
    signed_rank_by(law, d, 40, 0.95, &by_law);
    signed_rank_by(other, d, 40, 0.95, &by_other);
    assert_true(alone.p < 0.1);
    assert_true(same(&alone, &by_law));
    assert_true(same(&alone, &by_other));
    assert_true(signed_rank_p_above(law, d, 40) == alone.p_above);
    assert_true(signed_rank_p_above(NULL, d, 0) == 1);
    signed_rank_law_free(other);
    signed_rank_law_free(law);
}

static void ends_that_are_not_asked_for_are_infinite(void **state)
{
    struct difference d[40];
    struct signed_rank with, without;

    (void)state;
    for (int i = 0; i < 40; i++)
        d[i] = (struct difference){ sin(i * 12.9898) + 0.2, 0 };
    signed_rank(d, 40, 0.95, &with);
    signed_rank(d, 40, 0, &without);
    assert_true(isinf(without.lo) && isinf(without.hi));
    assert_true(without.estimate == with.estimate && without.p == with.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_and_few_differences_bound_nothing),
        cmocka_unit_test(p_counts_the_signs),
        cmocka_unit_test(one_sided_p_knows_the_side),
        cmocka_unit_test(critical_values_are_those_of_the_table),
        cmocka_unit_test(an_end_lies_between_two_steps),
        cmocka_unit_test(one_wild_block_moves_little),
        cmocka_unit_test(equal_differences_are_a_point),
        cmocka_unit_test(more_blocks_on_one_card_do_not_outvote_the_other),
        cmocka_unit_test(cards_that_agree_give_one_interval),
        cmocka_unit_test(exact_and_approximate_agree_where_they_meet),
        cmocka_unit_test(a_law_changes_nothing),
        cmocka_unit_test(ends_that_are_not_asked_for_are_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
