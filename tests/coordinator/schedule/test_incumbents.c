#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/sampling.h"
#include "coordinator/schedule/incumbents.h"

static const double fast[] = { 10, 11, 10, 10, 12 }, slow[] = { 20, 20, 21 };

static void before_the_first_result_there_is_no_incumbent(void **state)
{
    struct incumbents *incumbents = incumbents_new(2);

    (void)state;
    assert_true(incumbents_high_s(incumbents, 0) == 0);
    assert_true(incumbents_high_s(incumbents, 1) == 0);
    incumbents_free(incumbents);
}

static void each_shape_has_its_own_by_the_high_end_of_a_median(void **state)
{
    struct incumbents *incumbents = incumbents_new(2);

    (void)state;
    incumbents_saw(incumbents, 1, &(struct reals){ slow, 3 }, "settled");
    assert_true(incumbents_high_s(incumbents, 1) == 21);
    incumbents_saw(incumbents, 1, &(struct reals){ fast, 5 }, "fixed");
    assert_true(incumbents_high_s(incumbents, 1) == 12);
    incumbents_saw(incumbents, 1, &(struct reals){ slow, 3 }, "settled");
    assert_true(incumbents_high_s(incumbents, 1) == 12);
    assert_true(incumbents_high_s(incumbents, 0) == 0);
    incumbents_free(incumbents);
}

static void unstable_samples_make_no_incumbent(void **state)
{
    struct incumbents *incumbents = incumbents_new(1);

    (void)state;
    incumbents_saw(incumbents, 0, &(struct reals){ fast, 5 }, "unstable");
    incumbents_saw(incumbents, 0, &(struct reals){ fast, 5 }, "loser");
    incumbents_saw(incumbents, 0, &(struct reals){ fast, 0 }, "none");
    assert_true(incumbents_high_s(incumbents, 0) == 0);
    incumbents_free(incumbents);
}

static void a_thousand_samples_make_an_incumbent_and_no_more(void **state)
{
    static double samples[SAMPLING_MAX + 1];
    struct incumbents *incumbents = incumbents_new(1);

    (void)state;
    for (size_t i = 0; i <= SAMPLING_MAX; i++)
        samples[i] = 10;
    incumbents_saw(incumbents, 0, &(struct reals){ samples, 1001 }, "fixed");
    assert_true(incumbents_high_s(incumbents, 0) == 0);
    incumbents_saw(incumbents, 0, &(struct reals){ samples, 1000 }, "fixed");
    assert_true(incumbents_high_s(incumbents, 0) == 10);
    incumbents_free(incumbents);
}

static void medians_of_earlier_runs_count_with_their_noise(void **state)
{
    struct incumbents *incumbents = incumbents_new(1);

    (void)state;
    assert_true(incumbents_is_new(incumbents, 0, 8, 0.25));
    incumbents_remember(incumbents, 0, 8, 0.25);
    assert_true(incumbents_high_s(incumbents, 0) == 12);
    assert_false(incumbents_is_new(incumbents, 0, 8, 0.25));
    assert_true(incumbents_is_new(incumbents, 0, 7.9, 0.25));
    incumbents_free(incumbents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_first_result_there_is_no_incumbent),
        cmocka_unit_test(each_shape_has_its_own_by_the_high_end_of_a_median),
        cmocka_unit_test(unstable_samples_make_no_incumbent),
        cmocka_unit_test(a_thousand_samples_make_an_incumbent_and_no_more),
        cmocka_unit_test(medians_of_earlier_runs_count_with_their_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
