#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/normal.h"
#include "tests/coordinator/near.h"

static void quantiles_are_those_of_the_tables(void **state)
{
    (void)state;
    assert_near(normal_quantile(0.5), 0, 1e-12);
    assert_near(normal_quantile(0.975), 1.959963984540054, 1e-12);
    assert_near(normal_quantile(0.025), -1.959963984540054, 1e-12);
    assert_near(normal_quantile(1e-9), -5.997807015007687, 1e-9);
}

static void the_tails_keep_their_digits(void **state)
{
    (void)state;
    assert_near(normal_cdf(0), 0.5, 1e-15);
    assert_near(normal_cdf(-10) * 1e24, 7.619853024160525, 1e-9);
    assert_near(normal_cdf(1.0), 0.841344746068543, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_tables),
        cmocka_unit_test(the_tails_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
