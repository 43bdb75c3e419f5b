#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "coordinator/page/page_plot.h"

static void assert_near(double is, double wanted)
{
    if (fabs(is - wanted) > 1e-9 * wanted)
        fail_msg("%.17g is not %.17g", is, wanted);
}

static void steps_are_one_two_or_five(void **state)
{
    (void)state;
    assert_near(page_plot_step(10, 10), 1);
    assert_near(page_plot_step(10, 6), 2);
    assert_near(page_plot_step(10, 3), 5);
    assert_near(page_plot_step(10, 1), 10);
    assert_near(page_plot_step(0.03, 6), 0.005);
    assert_near(page_plot_step(61, 6), 20);
}

static void never_more_steps_than_asked_for(void **state)
{
    (void)state;
    for (double span = 1e-9; span < 1e9; span *= 1.37)
        for (int most = 1; most < 12; most++) {
            double step = page_plot_step(span, most);

            assert_true(span / step <= most * (1 + 1e-6));
            assert_true(span / step > most / 2.6);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_one_two_or_five),
        cmocka_unit_test(never_more_steps_than_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
