#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/normal.h"
#include "coordinator/stats/spending.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

/* Five equal looks at 2.5 % on one side: the bounds that Lan and DeMets'
 * program prints for their function like Pocock's. */
static void five_looks_have_the_published_bounds(void **state)
{
    static const double bounds[] = { 2.438, 2.427, 2.410, 2.397, 2.386 };
    struct spending spending;

    (void)state;
    spending_init(&spending, 0.025);
    for (int k = 1; k <= 5; k++)
        assert_near(normal_quantile(1 - spending_look(&spending, k / 5.0)),
                    bounds[k - 1], 0.0006);
}

static void one_look_has_all_of_it(void **state)
{
    struct spending spending;

    (void)state;
    spending_init(&spending, 0.025);
    assert_near(spending_look(&spending, 1), 0.025, 1e-9);
    assert_near(spending_spent(0.025, 0.5), 0.01550287, 1e-8);
    assert_near(spending_spent(0.025, 1), 0.025, 1e-12);
}

/* A look that is the first and the last has all of it, wherever it is. */
static void the_last_look_has_all_that_is_left(void **state)
{
    struct spending spending;

    (void)state;
    spending_init(&spending, 0.025);
    assert_near(spending_last(&spending, 0.2), 0.025, 1e-9);
    spending_init(&spending, 0.025);
    assert_near(spending_look(&spending, 0.2), 0.00738, 1e-5);
    assert_in_range(1e6 * spending_last(&spending, 0.3), 18000, 24000);
}

#define LOOKS_MAX 20

/* Of 20,000 walks without drift that are looked at so often, at shares that
 * nobody planned; 'last': of fewer looks than there might be. */
static int crossings(int looks, bool last)
{
    struct noise_stream stream = noise_stream(1);
    struct spending spending;
    double bounds[LOOKS_MAX], share = 0, shares[LOOKS_MAX];
    int crossed = 0;

    spending_init(&spending, 0.05);
    for (int k = 0; k < looks; k++) {
        double level;

        shares[k] = share = fmin(1, share + (k % 3 + 1) / 39.0);
        level = last && k == looks - 1 ? spending_last(&spending, share)
                                       : spending_look(&spending, share);
        bounds[k] = normal_quantile(1 - level) * sqrt(share);
    }
    for (int i = 0; i < 20000; i++) {
        double at = 0;
        int k = 0;

        for (; k < looks; k++) {
            at += noise_normal(&stream) *
                  sqrt(shares[k] - (k > 0 ? shares[k - 1] : 0));
            if (at > bounds[k])
                break;
        }
        crossed += k < looks;
    }
    return crossed;
}

static void a_walk_crosses_as_often_as_alpha_says(void **state)
{
    (void)state; /* three sigma */
    assert_in_range(crossings(LOOKS_MAX, false), 1000 - 93, 1000 + 93);
    assert_in_range(crossings(6, true), 1000 - 93, 1000 + 93);
    assert_in_range(crossings(6, false), 0, 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_looks_have_the_published_bounds),
        cmocka_unit_test(one_look_has_all_of_it),
        cmocka_unit_test(the_last_look_has_all_that_is_left),
        cmocka_unit_test(a_walk_crosses_as_often_as_alpha_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
