#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/conclusion/conclusion_checked.h"

static void a_sum_knows_of_how_many_it_is(void **state)
{
    struct conclusion_checked sum = { 0 }, all = { 0 };

    (void)state;
    conclusion_checked_add(&sum, 156, 0);
    conclusion_checked_add(&sum, -1, -1);
    conclusion_checked_add(&sum, 0, 0);
    assert_int_equal(sum.launches, 156);
    assert_int_equal(sum.measured, 3);
    assert_int_equal(sum.known, 2);
    assert_false(sum.varied);
    conclusion_checked_join(&all, &sum);
    assert_false(all.varied);
    conclusion_checked_add(&sum, 4, 1);
    conclusion_checked_add(&sum, 4, 0);
    conclusion_checked_join(&all, &sum);
    assert_int_equal(all.launches, 320);
    assert_int_equal(all.measured, 8);
    assert_int_equal(all.known, 6);
    assert_true(all.varied);
}

/* 1 - 0.999^3000 = 0.9503; 1 - (1 - 1/1100)^3000 = 0.9346 */
static void the_rarest_fault_that_is_seen_with_95_percent(void **state)
{
    (void)state;
    assert_int_equal(conclusion_checked_one_in(3000), 1000);
    assert_int_equal(conclusion_checked_one_in(2994), 990);
    assert_int_equal(conclusion_checked_one_in(1000000), 330000);
    assert_int_equal(conclusion_checked_one_in(60), 20);
    assert_int_equal(conclusion_checked_one_in(5), 2);
    assert_int_equal(conclusion_checked_one_in(4), 0);
    assert_int_equal(conclusion_checked_one_in(0), 0);
}

static void assert_says(const struct conclusion_checked_claim *claim,
                        const char *sentence)
{
    char *said = conclusion_checked_say(claim);

    assert_string_equal(said, sentence);
    free(said);
}

static void as_many_as_are_wanted(void **state)
{
    struct conclusion_checked_claim claim = { .who = "It was",
                                              .sum = { 3120, 20, 20, false, 0,
                                                       false },
                                              .n_shapes = 1,
                                              .at = "s512",
                                              .least = 3120,
                                              .wanted = 3000,
                                              .rates = true };

    (void)state;
    assert_says(&claim, "It was right in all 3,120 checked launches, with the "
                        "same bits for the same inputs; a fault in one launch "
                        "of 1,000 would have been found with 95 %");
    claim.sum.varied = true;
    assert_says(&claim,
                "It was right in all 3,120 checked launches, whose bits varied "
                "with the same inputs, within the tolerance (atomics?); a "
                "fault in one launch of 1,000 would have been found with 95 "
                "%");
    claim.rates = false;
    claim.wanted = 0;
    claim.sum.varied = false;
    claim.sum.launches = claim.least = 120;
    claim.who = "They were";
    assert_says(&claim, "They were right in all 120 checked launches, with the "
                        "same bits for the same inputs");
}

static void a_part_that_is_not_judged(void **state)
{
    struct conclusion_checked_claim claim = {
        .who = "It was",
        .sum = { .launches = 120, .measured = 1, .known = 1 },
        .n_shapes = 1
    };
    const struct conclusion_checked other = { .partly = true };

    (void)state;
    conclusion_checked_join(&claim.sum, &other);
    assert_says(&claim, "It was right in all 120 checked launches, with the "
                        "same bits for the same inputs; with some inputs a "
                        "part of the outputs was not judged ('fa-coord "
                        "explain' says which)");
}

static void fewer_than_are_wanted(void **state)
{
    struct conclusion_checked_claim claim = { .who = "It was",
                                              .sum = { 900, 20, 20, false, 0,
                                                       false },
                                              .n_shapes = 1,
                                              .at = "s512",
                                              .least = 900,
                                              .wanted = 3000,
                                              .rates = true };

    (void)state;
    assert_says(&claim, "It was right in all 900 checked launches, with the "
                        "same bits for the same inputs; that is fewer than the "
                        "3,000 that are wanted; a fault in one launch of 300 "
                        "would have been found with 95 %");
    claim.sum = (struct conclusion_checked){ 1234567, 40, 40, false, 0, false };
    claim.n_shapes = 2;
    assert_says(&claim,
                "It was right in all 1,234,567 checked launches at 2 shapes, "
                "with the same bits for the same inputs; that is fewer than "
                "the 3,000 that are wanted at each shape: 900 at s512; a fault "
                "in one launch of 300 would have been found at each shape with "
                "95 %");
}

/* Those of the proof are at other shapes: they say nothing about this one. */
static void the_launches_of_the_proof_belong_to_the_sum(void **state)
{
    struct conclusion_checked_claim claim = { .who = "It was",
                                              .sum = { 3120, 20, 20, false, 0,
                                                       false },
                                              .n_shapes = 1,
                                              .at = "s512",
                                              .least = 3120,
                                              .wanted = 3000,
                                              .rates = true };

    (void)state;
    conclusion_checked_add_proof(&claim.sum, -1, -1);
    assert_int_equal(claim.sum.launches, 3120);
    conclusion_checked_add_proof(&claim.sum, 400, 0);
    assert_int_equal(claim.sum.measured, 20);
    assert_says(&claim, "It was right in all 3,520 checked launches, 400 of "
                        "them in the proof and the others at s512, with the "
                        "same bits for the same inputs; a fault in one launch "
                        "of 1,000 would have been found at s512 with 95 %");
    claim.least = 2900;
    claim.n_shapes = 2;
    conclusion_checked_add_proof(&claim.sum, 20, 1);
    assert_says(&claim,
                "It was right in all 3,540 checked launches, 420 of them in "
                "the proof and the others at 2 shapes, whose bits varied with "
                "the same inputs, within the tolerance (atomics?); that is "
                "fewer than the 3,000 that are wanted at each shape: 2,900 at "
                "s512; a fault in one launch of 960 would have been found at "
                "each of these shapes with 95 %");
}

/* What some did not count may be enough, or may have varied. */
static void a_number_that_is_known_in_part_claims_no_more(void **state)
{
    struct conclusion_checked_claim claim = { .who = "It was",
                                              .sum = { 1560, 20, 10, false, 0,
                                                       false },
                                              .n_shapes = 1,
                                              .at = "s512",
                                              .least = 1560,
                                              .wanted = 3000,
                                              .rates = true };

    (void)state;
    assert_says(&claim,
                "It was right in all 1,560 checked launches of 10 "
                "measurements, with the same bits for the same inputs; 10 "
                "other measurements did not count the launches");
    claim.sum = (struct conclusion_checked){ 0, 20, 0, false, 0, false };
    assert_says(&claim, "How many launches were checked is not known");
    claim.sum.measured = 0;
    assert_null(conclusion_checked_say(&claim));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_knows_of_how_many_it_is),
        cmocka_unit_test(the_rarest_fault_that_is_seen_with_95_percent),
        cmocka_unit_test(as_many_as_are_wanted),
        cmocka_unit_test(a_part_that_is_not_judged),
        cmocka_unit_test(fewer_than_are_wanted),
        cmocka_unit_test(the_launches_of_the_proof_belong_to_the_sum),
        cmocka_unit_test(a_number_that_is_known_in_part_claims_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
