#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/model/domain.h"
#include "coordinator/search/successive_halving.h"

/* Points 0..n-1 in order; the time of each is its number. */
static struct domain *line(int n)
{
    const struct domain_tunable tunable = { .levels = n, .ordered = true };
    struct domain *domain = domain_new(&tunable, 1);

    for (int i = 0; i < n; i++)
        domain_add(domain, &(uint16_t){ (uint16_t)i });
    return domain;
}

static struct successive_halving *start(const struct domain *domain)
{
    const struct successive_halving_rules rules = { .first = 2,
                                                    .factor = 3,
                                                    .most = 20 };
    struct strategy *strategy;

    assert_int_equal(strategy_new("exhaustive", domain, 0, 1, &strategy, NULL),
                     0);
    return successive_halving_new(&strategy, domain_size(domain), &rules);
}

/* 9 points: rungs of 2, 6 and 18 samples, for 9, 3 and 1 of them. */
static void the_fastest_third_goes_on(void **state)
{
    struct domain *domain = line(9);
    struct successive_halving *halving = start(domain);
    int runs[3] = { 0 }, samples = 0;
    struct successive_halving_ask ask;

    (void)state;
    while (successive_halving_ask(halving, &ask) == STRATEGY_POINT) {
        runs[ask.rung]++;
        samples += ask.rung == 0 ? 2 : ask.samples * 2 / 3;
        assert_int_equal(ask.samples, ask.rung == 0   ? 2
                                      : ask.rung == 1 ? 6
                                                      : 18);
        successive_halving_tell(halving, ask.point, STRATEGY_TIMED,
                                1 + ask.point);
    }
    assert_int_equal(runs[0], 9);
    assert_int_equal(runs[1], 3);
    assert_int_equal(runs[2], 1);
    assert_int_equal(samples, 9 * 2 + 3 * 4 + 12);
    successive_halving_free(halving);
    domain_free(domain);
}

static void a_promotion_comes_before_a_new_point(void **state)
{
    struct domain *domain = line(9);
    struct successive_halving *halving = start(domain);
    struct successive_halving_ask ask;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    successive_halving_tell(halving, 2, STRATEGY_TIMED, 5);
    successive_halving_tell(halving, 0, STRATEGY_TIMED, 7);
    successive_halving_tell(halving, 1, STRATEGY_TIMED, 6);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    assert_int_equal(ask.point, 2);
    assert_int_equal(ask.rung, 1);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    assert_int_equal(ask.point, 3);
    successive_halving_free(halving);
    domain_free(domain);
}

static void it_waits_for_what_could_be_promoted(void **state)
{
    struct domain *domain = line(3);
    struct successive_halving *halving = start(domain);
    struct successive_halving_ask ask;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_WAIT);
    successive_halving_tell(halving, 0, STRATEGY_TIMED, 3);
    successive_halving_tell(halving, 1, STRATEGY_FAILED, 0);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_WAIT);
    successive_halving_tell(halving, 2, STRATEGY_TIMED, 2);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_DONE);
    successive_halving_free(halving);
    domain_free(domain);
}

static void the_strategy_learns_the_time_of_the_highest_rung(void **state)
{
    struct domain *domain = line(9);
    struct successive_halving *halving = start(domain);
    struct strategy_state now;
    struct successive_halving_ask ask;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    for (int i = 0; i < 3; i++)
        successive_halving_tell(halving, i, STRATEGY_TIMED, 1 + i);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    assert_int_equal(ask.point, 0);
    successive_halving_tell(halving, 0, STRATEGY_TIMED, 2.5); /* it was luck */
    successive_halving_state(halving, &now);
    assert_int_equal(now.best, 1);
    successive_halving_free(halving);
    domain_free(domain);
}

static void a_time_that_was_wrong_loses_its_place_on_the_rung(void **state)
{
    struct domain *domain = line(9);
    struct successive_halving *halving = start(domain);
    struct strategy_state now;
    struct successive_halving_ask ask;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    successive_halving_tell(halving, 0, STRATEGY_TIMED, 1);
    successive_halving_tell(halving, 1, STRATEGY_TIMED, 2);
    successive_halving_tell(halving, 0, STRATEGY_TIMED, 3);
    successive_halving_tell(halving, 2, STRATEGY_TIMED, 4);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    assert_int_equal(ask.point, 1);
    assert_int_equal(ask.rung, 1);
    successive_halving_tell(halving, 0, STRATEGY_FAILED, 0);
    successive_halving_state(halving, &now);
    assert_int_equal(now.timed, 2);
    assert_int_equal(now.best, 1);
    successive_halving_free(halving);
    domain_free(domain);
}

static void a_point_lost_on_the_way_keeps_its_time(void **state)
{
    struct domain *domain = line(9);
    struct successive_halving *halving = start(domain);
    struct strategy_state now;
    struct successive_halving_ask ask;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    for (int i = 0; i < 3; i++)
        successive_halving_tell(halving, i, STRATEGY_TIMED, 1 + i);
    assert_int_equal(successive_halving_ask(halving, &ask), STRATEGY_POINT);
    successive_halving_tell(halving, ask.point, STRATEGY_LOST, 0);
    successive_halving_state(halving, &now);
    assert_int_equal(now.best, 0);
    assert_int_equal(now.timed, 3);
    successive_halving_free(halving);
    domain_free(domain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_third_goes_on),
        cmocka_unit_test(a_promotion_comes_before_a_new_point),
        cmocka_unit_test(it_waits_for_what_could_be_promoted),
        cmocka_unit_test(the_strategy_learns_the_time_of_the_highest_rung),
        cmocka_unit_test(a_time_that_was_wrong_loses_its_place_on_the_rung),
        cmocka_unit_test(a_point_lost_on_the_way_keeps_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
