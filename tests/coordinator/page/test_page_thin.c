#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/page/page_thin.h"
#include "coordinator/result/report.h"

/* Configurations that are all selected, without a time yet. */
static struct report *made(size_t n_configs, size_t n_shapes)
{
    struct report *report = mem_new(1, sizeof(*report));

    report->n_shapes = n_shapes;
    report->n_configs = n_configs;
    report->configs = mem_new(n_configs, sizeof(*report->configs));
    report->cells = mem_new(n_configs * n_shapes, sizeof(*report->cells));
    for (size_t i = 0; i < n_configs; i++) {
        report->configs[i].selected = true;
        report->configs[i].cells = report->cells + i * n_shapes;
        for (size_t s = 0; s < n_shapes; s++)
            report->configs[i].cells[s].summary.median = (double)NAN;
    }
    return report;
}

static void dropped(struct report *report)
{
    free(report->configs);
    free(report->cells);
    free(report);
}

static void time_is(struct report *report, size_t config, size_t shape,
                    double seconds)
{
    report->configs[config].cells[shape].summary.median = seconds;
}

static void one_or_two_shapes_have_all_times(void **state)
{
    size_t *places;

    (void)state;
    for (size_t shapes = 0; shapes <= 2; shapes++) {
        struct report *report = made(6000, shapes);

        assert_int_equal(page_thin(report, &places), 0);
        assert_null(places);
        dropped(report);
    }
}

static void few_configurations_have_all_times(void **state)
{
    struct report *report = made(PAGE_THIN_LEAST / 11, 12);
    size_t *places;

    (void)state;
    assert_int_equal(page_thin(report, &places), 0);
    assert_null(places);
    dropped(report);
}

static void the_fastest_of_each_shape_stay_and_the_baseline(void **state)
{
    enum {
        SHAPES = 1 + PAGE_THIN_LEAST / 3
    }; /* so three configurations */

    struct report *report = made(12, SHAPES);
    size_t *places;

    (void)state;
    report->configs[8].baseline = true;
    for (size_t s = 0; s < SHAPES; s++) {
        time_is(report, 7, s, 3e-6);
        time_is(report, 10, s, s == 1 ? 1e-6 : 5e-6);
        time_is(report, 8, s, 9e-6);
        time_is(report, 2, s, 7e-6);
    }
    assert_int_equal(page_thin(report, &places), 3);
    assert_int_equal(places[0], 7);
    assert_int_equal(places[1], 8);
    assert_int_equal(places[2], 10);
    free(places);

    report->configs[6].selected = false; /* those behind it move up */
    report->configs[8].selected = false;
    assert_int_equal(page_thin(report, &places), 3);
    assert_int_equal(places[0], 2);
    assert_int_equal(places[1], 6);
    assert_int_equal(places[2], 8);
    free(places);
    dropped(report);
}

static void the_times_do_not_grow_with_the_shapes(void **state)
{
    (void)state;
    for (size_t shapes = 3; shapes <= 48; shapes *= 4) {
        struct report *report = made(5000, shapes);
        size_t *places, n;

        for (size_t i = 0; i < 5000; i++)
            for (size_t s = 0; s < shapes; s++)
                time_is(report, i, s, (double)(1 + (i * (s + 7)) % 4999));
        n = page_thin(report, &places);
        assert_in_range(n, 1, 5000 / (shapes - 1));
        free(places);
        dropped(report);
    }
}

static void where_nothing_has_a_time_the_baseline_stays(void **state)
{
    struct report *report = made(6000, 3);
    size_t *places;

    (void)state;
    report->configs[9].baseline = true;
    assert_int_equal(page_thin(report, &places), 1);
    assert_int_equal(places[0], 9);
    free(places);
    dropped(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_or_two_shapes_have_all_times),
        cmocka_unit_test(few_configurations_have_all_times),
        cmocka_unit_test(the_fastest_of_each_shape_stay_and_the_baseline),
        cmocka_unit_test(the_times_do_not_grow_with_the_shapes),
        cmocka_unit_test(where_nothing_has_a_time_the_baseline_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
