#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/variance_ratio.h"
#include "tests/coordinator/near.h"

/* Points of Fisher's tables. */
static void tails_are_those_of_the_tables(void **state)
{
    (void)state;
    assert_near(variance_ratio_p(3.00, 9, 10), 0.0510, 0.0005);
    assert_near(variance_ratio_p(2.12, 10, 40), 0.0455, 0.0005);
    assert_near(variance_ratio_p(1.93, 60, 60), 0.0060, 0.0002);
}

static void equal_variances_are_likely(void **state)
{
    (void)state;
    assert_near(variance_ratio_p(1, 100, 100), 0.5, 1e-12);
    assert_true(variance_ratio_p(0.01, 50, 100) > 0.999999);
    assert_true(variance_ratio_p(100, 50, 100) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_those_of_the_tables),
        cmocka_unit_test(equal_variances_are_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
