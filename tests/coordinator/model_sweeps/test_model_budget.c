#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/model_sweeps/model_budget.h"

static struct model_budget models[3];

/* Rates, and what was spent before. */
static void set(double a, double b, double c, double spent_a, double spent_b,
                double spent_c)
{
    models[0] =
        (struct model_budget){ .usd_per_hour = a, .spent_usd = spent_a };
    models[1] =
        (struct model_budget){ .usd_per_hour = b, .spent_usd = spent_b };
    models[2] =
        (struct model_budget){ .usd_per_hour = c, .spent_usd = spent_c };
}

static void assert_usd(double a, double b, double c)
{
    const double want[] = { a, b, c };

    for (size_t i = 0; i < 3; i++)
        if (fabs(models[i].usd - want[i]) > 1e-9)
            fail_msg("model %zu has $%g, not $%g", i, models[i].usd, want[i]);
}

static void shares_are(double whole, double a, double b, double c)
{
    model_budget_share(whole, models, 3);
    assert_usd(a, b, c);
}

static void a_budget_buys_all_models_the_same_hours(void **state)
{
    (void)state;
    set(1, 3, 1, 0, 0, 0);
    shares_are(10, 2, 6, 2);
    set(1, 0, 4, 0, 0, 0);
    shares_are(10, 2, 0, 8);
    set(0, 0, 0, 0, 0, 0);
    shares_are(9, 3, 3, 3);
    set(1, 2, 3, 0, 0, 0);
    shares_are(0, 0, 0, 0);
}

static void what_was_spent_is_no_longer_shared(void **state)
{
    (void)state;
    set(1, 3, 1, 2, 1, 0); /* each within its share */
    shares_are(10, 2, 6, 2);
    set(1, 3, 1, 4, 1, 0); /* one had got more */
    shares_are(10, 4, 4.5, 1.5);
    set(1, 3, 1, 4, 1, 1.75); /* and so, then, had another */
    shares_are(10, 4, 4.25, 1.75);
    set(1, 3, 1, 6, 6, 0); /* all of it is gone */
    shares_are(10, 6, 6, 0);
    assert_true(models[2].is_limited && model_budget_is_used_up(&models[2]));
}

static void end_is(double whole, size_t which, double spent, double a, double b,
                   double c)
{
    const double want[] = { a, b, c };
    double more[3];

    model_budget_end(whole, models, 3, which, spent, more);
    for (size_t i = 0; i < 3; i++)
        if (fabs(more[i] - want[i]) > 1e-9)
            fail_msg("model %zu gets $%g, not $%g", i, more[i], want[i]);
}

static void what_one_leaves_goes_to_the_others(void **state)
{
    (void)state;
    set(1, 3, 1, 0, 0, 0);
    shares_are(10, 2, 6, 2);
    end_is(10, 0, 0.4, 0, 1.2, 0.4);
    assert_usd(2, 7.2, 2.4);
    end_is(10, 2, 2, 0, 0.4, 0);
    assert_usd(2, 7.6, 2.4);
    end_is(10, 1, 7, 0, 0, 0); /* none is left to have it */
}

/* The last launches of a sweep end after its budget. */
static void
what_one_spent_too_much_is_taken_from_what_another_leaves(void **state)
{
    (void)state;
    set(1, 1, 1, 0, 0, 0);
    shares_are(9, 3, 3, 3);
    end_is(9, 0, 3.5, 0, 0, 0);
    end_is(9, 1, 2.25, 0, 0, 0.25);
    assert_usd(3, 3, 3.25);
}

static void one_without_a_price_neither_gets_nor_leaves(void **state)
{
    (void)state;
    set(1, 0, 3, 0, 0, 0);
    shares_are(8, 2, 0, 6);
    end_is(8, 1, 0, 0, 0, 0);
    end_is(8, 0, 1, 0, 0, 1);
    set(0, 0, 0, 0, 0, 0); /* but if none has one, all are alike */
    shares_are(9, 3, 3, 3);
    end_is(9, 0, 0, 0, 1.5, 1.5);
}

static void one_that_has_nothing_left_waits(void **state)
{
    (void)state;
    set(1, 3, 0, 4, 1, 0);
    model_budget_share(10, models, 3);
    assert_true(model_budget_is_used_up(&models[0]));
    assert_false(model_budget_is_used_up(&models[1]));
    assert_false(model_budget_is_used_up(&models[2])); /* not limited */
    end_is(10, 1, 2, 4, 0, 0);
    assert_false(model_budget_is_used_up(&models[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_buys_all_models_the_same_hours),
        cmocka_unit_test(what_was_spent_is_no_longer_shared),
        cmocka_unit_test(what_one_leaves_goes_to_the_others),
        cmocka_unit_test(
            what_one_spent_too_much_is_taken_from_what_another_leaves),
        cmocka_unit_test(one_without_a_price_neither_gets_nor_leaves),
        cmocka_unit_test(one_that_has_nothing_left_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
