#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/sampling.h"
#include "tests/coordinator/noise.h"

/* 1, 2, ... n shuffled, so that the ends of the interval are ranks. */
static void ramp(double *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s[(i * 7) % n] = (double)i + 1;
}

/* From the published table of the interval of a median, 95 %. */
static void the_interval_is_that_of_the_table(void **state)
{
    static const struct {
        size_t n;
        double lo, hi;
    } rows[] = {
        { 1, 1, 1 },   { 2, 1, 2 },    { 5, 1, 5 },    { 6, 1, 6 },
        { 8, 1, 8 },   { 9, 2, 8 },    { 11, 2, 10 },  { 12, 3, 10 },
        { 20, 6, 15 }, { 30, 10, 21 }, { 50, 18, 33 }, { 100, 40, 61 }
    };
    static const struct sampling_rules rules = SAMPLING_RULES;
    double s[100];
    struct sampling out;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ramp(s, rows[i].n);
        sampling_next(s, rows[i].n, &rules, &out);
        assert_true(out.lo == rows[i].lo && out.hi == rows[i].hi);
        assert_true(out.median == ((double)rows[i].n + 1) / 2);
    }
}

static void each_case_has_its_verdict(void **state)
{
    static const struct {
        double incumbent_s;
        size_t n;
        double s[8];
        const char *next;
    } rows[] = {
        { INFINITY, 1, { 1 }, "continue" },
        { 0.5, 4, { 1, 1, 1, 1 }, "continue" }, /* not even five */
        { INFINITY, 5, { 1, 1, 1, 1, 1 }, "settled" },
        { 0.5, 5, { 1, 1, 1, 1, 1 }, "settled" }, /* slow, and well known */
        { INFINITY, 5, { 1, 1.03, 1.01, 0.99, 1 }, "continue" },
        { 0.5, 5, { 1, 1.03, 1.01, 0.99, 1 }, "loser" },
        { 0.895, 5, { 1, 1.03, 1.01, 0.99, 1 }, "loser" }, /* 0.99 > 0.9845 */
        { 0.905, 5, { 1, 1.03, 1.01, 0.99, 1 }, "continue" },
        { 0.5, 5, { 0.54, 9, 9, 9, 9 }, "continue" }, /* its true time might be
                                                       * 0.54 */
        { INFINITY, 8, { 1, 1, 1, 1, 1.03, 1.03, 1.03, 1.03 }, "unstable" },
        { INFINITY, 8, { 1, 2, 1, 2, 1, 2, 1, 2 }, "unstable" },
        { 0.5, 8, { 1, 2, 1, 2, 1, 2, 1, 2 }, "loser" },
    };
    struct sampling_rules rules = SAMPLING_RULES;

    (void)state;
    rules.most = 8;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rules.incumbent_s = rows[i].incumbent_s;
        assert_string_equal(
            sampling_name(sampling_next(rows[i].s, rows[i].n, &rules, NULL)),
            rows[i].next);
    }
}

/* The first 8 of 30 are 10 % faster.  The interval of all samples (ranks 10 to
 * 21) does not show that, but the first half does. */
static void halves_that_differ_do_not_settle(void **state)
{
    struct sampling_rules rules = SAMPLING_RULES;
    struct sampling out;
    double s[30];

    (void)state;
    for (int i = 0; i < 30; i++)
        s[i] = i < 8 ? 0.9 : 1;
    rules.most = 100;
    assert_int_equal(sampling_next(s, 30, &rules, &out), SAMPLING_CONTINUE);
    assert_true(out.half_width == 0);
    assert_true(out.drift > 0.111 && out.drift < 0.112);
}

/* Draw samples until there is a verdict; 'ratio' is the true median over that
 * of the incumbent. */
static enum sampling_verdict draw(const struct noise *noise, double ratio,
                                  struct noise_stream *stream, size_t *n)
{
    struct sampling_rules rules = SAMPLING_RULES;
    double s[30];
    enum sampling_verdict next = SAMPLING_CONTINUE;

    rules.incumbent_s = 1;
    for (*n = 0; next == SAMPLING_CONTINUE; ++*n) {
        s[*n] = ratio * exp(noise_own(noise, stream));
        next = sampling_next(s, *n + 1, &rules, NULL);
    }
    return next;
}

/* With outliers (one in ten, 30 % slow): a configuration as fast as the
 * incumbent is not stopped because of them, and one that is 25 % slower is
 * stopped at once. */
static void losers_are_stopped_and_others_are_not(void **state)
{
    static const struct noise noise = { .sd = 0.02,
                                        .tail = 0.1,
                                        .tail_sd = 0.3 };
    struct noise_stream stream = noise_stream(11);
    size_t wrong = 0, stopped = 0, samples = 0, n;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        wrong += draw(&noise, 1.0, &stream, &n) == SAMPLING_LOSER;
        stopped += draw(&noise, 1.25, &stream, &n) == SAMPLING_LOSER;
        samples += n;
    }
    print_message("stopped: %zu of 5000 equals, %zu of 5000 losers, after "
                  "%.1f samples\n",
                  wrong, stopped, (double)samples / 5000);
    assert_int_equal(wrong, 0);
    assert_true(stopped >= 4700); /* the others settled first */
    assert_true(samples < 5000 * 6);
}

/* With 1 % of noise, a precision of 1 % is nearly always reached within the
 * cap. */
static void one_percent_noise_settles(void **state)
{
    static const struct noise noise = { .sd = 0.01 };
    struct noise_stream stream = noise_stream(12);
    size_t settled = 0, samples = 0, n;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        settled += draw(&noise, 1.0, &stream, &n) == SAMPLING_SETTLED;
        samples += n;
    }
    print_message("settled: %zu of 2000, after %.1f samples\n", settled,
                  (double)samples / 2000);
    assert_true(settled >= 1980);
    assert_true(samples < 2000 * 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_is_that_of_the_table),
        cmocka_unit_test(each_case_has_its_verdict),
        cmocka_unit_test(halves_that_differ_do_not_settle),
        cmocka_unit_test(losers_are_stopped_and_others_are_not),
        cmocka_unit_test(one_percent_noise_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
