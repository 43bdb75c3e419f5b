#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/replay/landscape_prior.h"
#include "coordinator/search/external_strategy.h"

/* The record: A is 1, 2 or 4, MODE is a or b, OLD is 0 or 1.  A time is
 * A + 10 for b + 100 for OLD of 1; A of 4 with b failed. */
static char name_a[] = "A", name_mode[] = "MODE", name_old[] = "OLD";
static char one[] = "1", two[] = "2", four[] = "4", a[] = "a", b[] = "b",
            zero[] = "0";
static char *texts_a[] = { one, two, four }, *texts_mode[] = { a, b },
            *texts_old[] = { zero, one };

static struct landscape_config configs[12];

static struct domain *domain_of(const int *levels, int n)
{
    struct domain_tunable tunables[3] = { { 0 } };
    struct domain *domain;
    uint16_t point[3];
    int points = 1;

    for (int t = 0; t < n; t++) {
        tunables[t] = (struct domain_tunable){ .levels = levels[t] };
        points *= levels[t];
    }
    domain = domain_new(tunables, n);
    for (int i = 0; i < points; i++) {
        int rest = i;

        for (int t = 0; t < n; rest /= levels[t], t++)
            point[t] = (uint16_t)(rest % levels[t]);
        domain_add(domain, point);
    }
    return domain;
}

static double time_of(int a_value, int mode, int old)
{
    return a_value + 10 * mode + 100 * old;
}

static double *prior_of(const int *levels, int n,
                        const struct external_strategy_tunable *tunables,
                        int *known, struct buf *odd)
{
    static const int there[] = { 3, 2, 2 }, a_values[] = { 1, 2, 4 };
    struct landscape_tunable recorded[] = {
        { .name = name_a, .n = 3, .texts = texts_a },
        { .name = name_mode, .n = 2, .texts = texts_mode },
        { .name = name_old, .n = 2, .texts = texts_old },
    };
    struct domain *domain = domain_of(levels, n);
    struct landscape land = { .tunables = recorded,
                              .tunables_n = 3,
                              .domain = domain_of(there, 3),
                              .configs = configs,
                              .best = 0 };
    double *prior;

    for (int i = 0; i < 12; i++) {
        const uint16_t *point = domain_point(land.domain, i);
        bool failed = point[0] == 2 && point[1] == 1;

        configs[i].time_s =
            failed ? 0 : time_of(a_values[point[0]], point[1], point[2]);
    }
    prior = landscape_prior(&land, domain, tunables, known, odd);
    domain_free(land.domain);
    domain_free(domain);
    return prior;
}

static void values_are_found_by_name_in_any_order(void **state)
{
    static const char *const modes[] = { "\"b\"", "\"a\"" };
    static const char *const numbers[] = { "8", "4", "2.0" };
    static const struct external_strategy_tunable tunables[] = {
        { "MODE", modes }, { "A", numbers }
    };
    static const int levels[] = { 2, 3 };
    struct buf odd;
    double *prior;
    int known;

    (void)state;
    buf_init(&odd, 100);
    prior = prior_of(levels, 2, tunables, &known, &odd);
    assert_true(isnan(prior[0]) && isnan(prior[1])); /* 8 was not recorded */
    assert_true(isnan(prior[2]));                    /* b and 4 failed */
    assert_true(fabs(prior[3] - log(4)) < 1e-12);
    assert_true(fabs(prior[4] - log(12)) < 1e-12);
    assert_true(fabs(prior[5] - log(2)) < 1e-12);
    assert_int_equal(known, 3);
    assert_string_equal(buf_text(&odd), "OLD"); /* as in the best one: 0 */
    buf_fini(&odd);
    free(prior);
}

static void a_tunable_without_a_record_makes_no_difference(void **state)
{
    static const char *const numbers[] = { "1", "2" };
    static const char *const more[] = { "false", "true" };
    static const struct external_strategy_tunable tunables[] = {
        { "A", numbers }, { "NEW", more }
    };
    static const int levels[] = { 2, 2 };
    struct buf odd;
    double *prior;
    int known;

    (void)state;
    buf_init(&odd, 100);
    prior = prior_of(levels, 2, tunables, &known, &odd);
    assert_int_equal(known, 4);
    assert_true(prior[0] == prior[2] && prior[1] == prior[3]);
    assert_true(fabs(prior[1] - log(2)) < 1e-12);
    assert_string_equal(buf_text(&odd), "MODE OLD NEW");
    buf_fini(&odd);
    free(prior);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_name_in_any_order),
        cmocka_unit_test(a_tunable_without_a_record_makes_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
