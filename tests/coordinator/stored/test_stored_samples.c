#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/stored/stored_samples.h"

enum {
    MOST = 4096 /* samples of a measurement */
};

static void samples_are_read_in_their_order(void **state)
{
    size_t n;
    double *samples = stored_samples_read("[1e-3, 2e-3,0.5]", &n);

    (void)state;
    assert_int_equal(n, 3);
    assert_true(samples[0] == 1e-3 && samples[1] == 2e-3 && samples[2] == 0.5);
    free(samples);
}

static void without_samples_there_is_nothing(void **state)
{
    static const char *const texts[] = { "", "[]", "[ ]" };
    size_t n = 7;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_null(stored_samples_read(texts[i], &n));
        assert_int_equal(n, 0);
        assert_true(isnan(stored_samples_median(texts[i])));
    }
}

static void the_median_is_that_of_the_samples(void **state)
{
    (void)state;
    assert_true(stored_samples_median("[4]") == 4);
    assert_true(stored_samples_median("[9,1,2]") == 2);
    assert_true(stored_samples_median("[9,1,2,4]") == 3);
}

/* Of so many ones and a two at the end. */
static size_t read_ones(size_t ones)
{
    char *text = calloc(2 * ones + 4, 1);
    double *samples;
    size_t n;

    text[0] = '[';
    for (size_t i = 0; i < ones; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    memcpy(text + 1 + 2 * ones, "2]", 2);
    samples = stored_samples_read(text, &n);
    assert_true(samples[n - 1] == (n == ones + 1 ? 2 : 1));
    free(samples);
    free(text);
    return n;
}

static void no_more_are_read_than_a_measurement_has(void **state)
{
    (void)state;
    assert_int_equal(read_ones(MOST - 1), MOST);
    assert_int_equal(read_ones(MOST), MOST);
    assert_int_equal(read_ones(2 * MOST), MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_read_in_their_order),
        cmocka_unit_test(without_samples_there_is_nothing),
        cmocka_unit_test(the_median_is_that_of_the_samples),
        cmocka_unit_test(no_more_are_read_than_a_measurement_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
