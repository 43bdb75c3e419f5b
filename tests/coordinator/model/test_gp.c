#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/model/gp.h"

/* 30 x 4 points; the second tunable does not matter. */
static struct domain *strip(void)
{
    const struct domain_tunable tunables[] = {
        { .levels = 30, .ordered = true },
        { .levels = 4 },
    };
    struct domain *domain = domain_new(tunables, 2);

    for (uint16_t i = 0; i < 120; i++)
        domain_add(domain, (uint16_t[]){ i / 4, i % 4 });
    return domain;
}

static void a_row_with_a_value_is_certain_and_far_points_are_not(void **state)
{
    struct domain *domain = strip();
    struct gp *gp = gp_new(domain, 8, 8);
    struct gp_kernel kernel;
    int row;

    (void)state;
    gp_kernel_init(&kernel, domain);
    kernel.noise = 1e-6;
    gp_reset(gp, &kernel);
    gp_put_candidate(gp, 0, 40);
    gp_put_candidate(gp, 1, 119);
    row = gp_add_row(gp, 40);
    gp_set(gp, 0, row, 2.0);
    assert_float_equal(gp_mean(gp, 0, 0), 2.0, 1e-3);
    assert_true(gp_doubt(gp, 0) < 1e-3);
    assert_true(gp_mean(gp, 0, 1) < 1.5);
    assert_true(gp_doubt(gp, 1) > 0.2);
    gp_free(gp);
    domain_free(domain);
}

static void a_row_without_a_value_takes_doubt_and_shifts_nothing(void **state)
{
    struct domain *domain = strip();
    struct gp *gp = gp_new(domain, 8, 8);
    struct gp_kernel kernel;
    double mean, doubt;

    (void)state;
    gp_kernel_init(&kernel, domain);
    gp_reset(gp, &kernel);
    gp_put_candidate(gp, 0, 48);
    gp_set(gp, 0, gp_add_row(gp, 4), 1.0);
    mean = gp_mean(gp, 0, 0);
    doubt = gp_doubt(gp, 0);
    gp_add_row(gp, 52);
    assert_float_equal(gp_mean(gp, 0, 0), mean, 1e-12);
    assert_true(gp_doubt(gp, 0) < doubt);
    gp_free(gp);
    domain_free(domain);
}

/* Values that come late and out of order give the same result as those in
 * order. */
static void the_order_of_values_does_not_matter(void **state)
{
    const int points[] = { 3, 50, 77, 110 };
    const double values[] = { 0.5, -1, 2, 0.25 };
    struct domain *domain = strip();
    struct gp *a = gp_new(domain, 8, 8), *b = gp_new(domain, 8, 8);
    struct gp_kernel kernel;

    (void)state;
    gp_kernel_init(&kernel, domain);
    gp_reset(a, &kernel);
    gp_reset(b, &kernel);
    gp_put_candidate(b, 0, 60);
    for (int i = 0; i < 4; i++)
        gp_set(a, 0, gp_add_row(a, points[i]), values[i]);
    for (int i = 0; i < 4; i++)
        gp_add_row(b, points[i]);
    for (int i = 3; i >= 0; i--)
        gp_set(b, 0, i, values[i]);
    gp_put_candidate(a, 0, 60);
    assert_float_equal(gp_mean(a, 0, 0), gp_mean(b, 0, 0), 1e-5);
    assert_float_equal(gp_doubt(a, 0), gp_doubt(b, 0), 1e-5);
    gp_free(a);
    gp_free(b);
    domain_free(domain);
}

/* What is believed of a pending point follows from all results: it is moved
 * behind one that came later. */
static void forgotten_rows_leave_no_trace(void **state)
{
    struct domain *domain = strip();
    struct gp *kept = gp_new(domain, 8, 8), *fresh = gp_new(domain, 8, 8);
    struct gp_kernel kernel;

    (void)state;
    gp_kernel_init(&kernel, domain);
    gp_reset(kept, &kernel);
    gp_reset(fresh, &kernel);
    gp_put_candidate(kept, 0, 60);
    gp_put_candidate(fresh, 0, 60);
    gp_set(kept, 0, gp_add_row(kept, 3), 0.5);
    gp_add_row(kept, 50);
    gp_set(kept, 0, gp_add_row(kept, 110), -2);
    gp_keep(kept, 1);
    gp_set(kept, 0, gp_add_row(kept, 77), 2);
    gp_add_row(kept, 50);
    gp_set(fresh, 0, gp_add_row(fresh, 3), 0.5);
    gp_set(fresh, 0, gp_add_row(fresh, 77), 2);
    gp_add_row(fresh, 50);
    assert_float_equal(gp_mean(kept, 0, 0), gp_mean(fresh, 0, 0), 1e-5);
    assert_float_equal(gp_doubt(kept, 0), gp_doubt(fresh, 0), 1e-5);
    assert_float_equal(gp_row_mean(kept, 0, 2), gp_row_mean(fresh, 0, 2), 1e-9);
    assert_true(gp_row_mean(kept, 0, 2) > 0);
    assert_in_range((int)(1000 * gp_row_doubt(kept, 2)), 1, 1001);
    gp_free(kept);
    gp_free(fresh);
    domain_free(domain);
}

static void the_fit_learns_which_tunable_matters(void **state)
{
    struct domain *domain = strip();
    struct gp_kernel kernel;
    double values[40];
    int points[40];

    (void)state;
    for (int i = 0; i < 40; i++) {
        points[i] = i * 3;
        values[i] = sin(domain_point(domain, points[i])[0] / 4.0);
    }
    gp_kernel_init(&kernel, domain);
    gp_fit(&kernel, domain, points, values, 40);
    assert_true(kernel.apart[0] > 5 * kernel.differ[1]);
    assert_true(kernel.variance > 0.1);
    domain_free(domain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_with_a_value_is_certain_and_far_points_are_not),
        cmocka_unit_test(a_row_without_a_value_takes_doubt_and_shifts_nothing),
        cmocka_unit_test(the_order_of_values_does_not_matter),
        cmocka_unit_test(forgotten_rows_leave_no_trace),
        cmocka_unit_test(the_fit_learns_which_tunable_matters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
