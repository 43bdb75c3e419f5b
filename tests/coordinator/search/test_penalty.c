#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/model/domain.h"
#include "coordinator/model/gp.h"
#include "coordinator/search/penalty.h"

static struct domain *domain;
static struct gp *gp;

/* A hundred points in a row; the first and the last are 1 apart. */
static int setup(void **state)
{
    const struct domain_tunable tunable = { .levels = 100, .ordered = true };
    struct gp_kernel kernel = { .apart = { 1 }, .noise = 1e-3, .variance = 1 };

    (void)state;
    domain = domain_new(&tunable, 1);
    for (uint16_t i = 0; i < 100; i++)
        domain_add(domain, &i);
    gp = gp_new(domain, 8, 8);
    gp_reset(gp, &kernel);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gp_free(gp);
    domain_free(domain);
    return 0;
}

static void the_slope_is_the_steepest_between_two_points(void **state)
{
    const int points[] = { 0, 99, 66 };
    const double values[] = { 0, 1, 2 };
    struct penalty penalty;

    (void)state;
    penalty_init(&penalty, gp, points, values, 3);
    assert_true(fabs(penalty.slope - 3) < 1e-6); /* 1 over a third */
}

/* The ball reaches 0.2 / 1 around point 50. */
static void candidates_in_a_ball_are_penalised(void **state)
{
    struct penalty penalty = { .slope = 1 };

    (void)state;
    assert_true(penalty_of(&penalty, gp, 50) == 1);
    penalty_add(&penalty, 50, 0.2, 0.02);
    assert_true(penalty_of(&penalty, gp, 50) < 1e-6);
    assert_true(penalty_of(&penalty, gp, 45) < 1e-3);
    assert_true(penalty_of(&penalty, gp, 90) > 0.99);
}

static void two_balls_multiply(void **state)
{
    struct penalty penalty = { .slope = 1 };
    double one;

    (void)state;
    penalty_add(&penalty, 50, 0.2, 0.1);
    one = penalty_of(&penalty, gp, 70);
    assert_in_range((int)(100 * one), 40, 60); /* at its border */
    penalty_add(&penalty, 50, 0.2, 0.1);
    assert_true(fabs(penalty_of(&penalty, gp, 70) - one * one) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slope_is_the_steepest_between_two_points),
        cmocka_unit_test(candidates_in_a_ball_are_penalised),
        cmocka_unit_test(two_balls_multiply),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
