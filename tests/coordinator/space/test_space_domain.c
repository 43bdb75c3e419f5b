#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/config/config.h"
#include "coordinator/config/config_lookup.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_domain.h"
#include "tests/coordinator/spec/spec_fixture.h"

static struct spec *spec;
static struct space *space;
static struct space_domain *space_domain;
static struct err err;

static int make(const char *tunables, const char *gates)
{
    spec = spec_fixture(
        &(struct spec_parts){ .tunables = tunables,
                              .gates = gates,
                              .baseline = "\"A\": 8, \"MODE\": \"fast\"" });
    assert_int_equal(
        space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space, &err),
        0);
    return space_domain_new(spec, space, 0, &space_domain, &err);
}

static int teardown(void **state)
{
    (void)state;
    space_domain_free(space_domain);
    space_close(space);
    spec_free(spec);
    return 0;
}

/* Eleven tunables of eight values, of which more pass than can be listed: the
 * draw has its full size, and each value of a tunable has its share. */
static void of_very_many_points_a_draw_is_the_domain(void **state)
{
    char tunables[1000] = "", baseline[300] = "";
    int of_level[8] = { 0 };
    struct space_point point;
    const struct domain *domain;

    (void)state;
    for (int i = 0; i < 11; i++) {
        snprintf(tunables + strlen(tunables),
                 sizeof(tunables) - strlen(tunables),
                 "%s\"X%d\": [0, 1, 2, 3, 4, 5, 6, 7]", i ? ", " : "", i);
        snprintf(baseline + strlen(baseline),
                 sizeof(baseline) - strlen(baseline), "%s\"X%d\": 1",
                 i ? ", " : "", i);
    }
    spec = spec_fixture(&(struct spec_parts){
        .tunables = tunables,
        .baseline = baseline,
        .gates = "{ \"name\": \"g\", \"reject\": "
                 "\"(X0 + X1 + X2 + X3 + X4 + X5 + X6 + X7) % 8 = 7\" }" });
    assert_int_equal(
        space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space, &err),
        0);
    assert_int_equal(space_domain_new(spec, space, (INT64_C(1) << 33) / 8 * 7,
                                      &space_domain, &err),
                     0);
    domain = space_domain_domain(space_domain);
    assert_in_range(domain_size(domain), DOMAIN_DRAWN - 10, DOMAIN_DRAWN + 1);
    assert_true(space_domain_find(space_domain,
                                  space_number(space, spec->baseline.values)) >=
                0);
    for (int i = 0; i < domain_size(domain); i++)
        of_level[domain_point(domain, i)[10]]++;
    for (int level = 0; level < 8; level++) /* 9 standard deviations */
        assert_in_range(of_level[level], DOMAIN_DRAWN / 8 - 760,
                        DOMAIN_DRAWN / 8 + 760);
    assert_int_equal(space_next(space, &point, &err), 1);
    assert_int_equal(point.number, 0);
}

#define TUNABLES "\"A\": [8, 2, 4], \"MODE\": [\"slow\", \"fast\"]"
#define REALS "\"A\": [8, 0.1, 2.5e-7], \"MODE\": [\"slow\", \"fast\"]"

static void numbers_are_sorted_and_texts_keep_their_order(void **state)
{
    const struct external_strategy_tunable *tunables;
    uint16_t levels[2] = { 0, 1 }; /* 2 fast: the second of A's values */

    (void)state;
    assert_int_equal(make(TUNABLES, NULL), 0);
    tunables = space_domain_tunables(space_domain);
    assert_string_equal(tunables[0].name, "A");
    assert_string_equal(tunables[0].values[0], "2");
    assert_string_equal(tunables[0].values[2], "8");
    assert_string_equal(tunables[1].values[0], "\"slow\"");
    assert_true(domain_tunable(space_domain_domain(space_domain), 0)->ordered);
    assert_false(domain_tunable(space_domain_domain(space_domain), 1)->ordered);
    assert_int_equal(
        space_domain_number(
            space_domain,
            domain_find(space_domain_domain(space_domain), levels)),
        1 * 2 + 1);
}

static void a_point_and_its_number_find_each_other(void **state)
{
    (void)state;
    assert_int_equal(
        make(TUNABLES, "{ \"name\": \"g\", \"reject\": \"A = 4\" }"), 0);
    assert_int_equal(domain_size(space_domain_domain(space_domain)), 4);
    for (int point = 0; point < 4; point++)
        assert_int_equal(
            space_domain_find(space_domain,
                              space_domain_number(space_domain, point)),
            point);
    assert_int_equal(space_domain_find(space_domain, 4),
                     -1); /* 4 slow is rejected */
    assert_int_equal(space_domain_find(space_domain, -1), -1);
    assert_int_equal(space_domain_find(space_domain, 6), -1);
}

static void a_space_without_points_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(
        make(TUNABLES, "{ \"name\": \"g\", \"reject\": \"A > 0\" }"),
        ERR_INPUT);
    assert_string_equal(err.text,
                        "no configuration passes the gates; `fa-coord space` "
                        "shows what each gate rejects");
}

static void a_stored_configuration_has_its_number_by_its_values(void **state)
{
    (void)state;
    assert_int_equal(make(TUNABLES, NULL), 0);
    assert_int_equal(
        config_lookup_number(spec, "{\"A\": 8, \"MODE\": \"slow\"}"), 0);
    assert_int_equal(
        config_lookup_number(spec, "{\"MODE\": \"fast\", \"A\": 4}"), 5);
    assert_int_equal(
        config_lookup_number(spec, "{\"A\": 16, \"MODE\": \"slow\"}"), -1);
    assert_int_equal(config_lookup_number(spec, "{\"A\": 8}"), -1);
    assert_int_equal(config_lookup_number(spec, "{\"A\": 8, \"B\": 1}"), -1);
    assert_int_equal(config_lookup_number(spec, "[]"), -1);
}

static void reals_are_found_as_they_are_stored(void **state)
{
    struct value values[2];
    struct buf text;

    (void)state;
    assert_int_equal(make(REALS, NULL), 0);
    for (int64_t number = 0; number < 6; number++) {
        buf_init(&text, 4096);
        space_values(space, number, values);
        config_json(spec, values, &text);
        assert_int_equal(config_lookup_number(spec, buf_text(&text)), number);
        buf_fini(&text);
    }
}

static void points_with_a_warning_come_last(void **state)
{
    (void)state;
    assert_int_equal(make(TUNABLES, "{ \"name\": \"g\", \"warn\": "
                                    "\"A > 4\", \"why\": \"it spills\" }"),
                     0);
    assert_int_equal(domain_size(space_domain_domain(space_domain)), 6);
    assert_int_equal(space_domain_number(space_domain, 0), 2); /* 2 slow */
    assert_int_equal(space_domain_number(space_domain, 3), 5); /* 4 fast */
    assert_int_equal(space_domain_number(space_domain, 4), 0); /* 8 slow */
    assert_int_equal(space_domain_number(space_domain, 5), 1);
    assert_int_equal(space_domain_find(space_domain, 1), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(of_very_many_points_a_draw_is_the_domain,
                                  teardown),
        cmocka_unit_test_teardown(numbers_are_sorted_and_texts_keep_their_order,
                                  teardown),
        cmocka_unit_test_teardown(a_point_and_its_number_find_each_other,
                                  teardown),
        cmocka_unit_test_teardown(reals_are_found_as_they_are_stored, teardown),
        cmocka_unit_test_teardown(a_space_without_points_is_an_error, teardown),
        cmocka_unit_test_teardown(points_with_a_warning_come_last, teardown),
        cmocka_unit_test_teardown(
            a_stored_configuration_has_its_number_by_its_values, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
