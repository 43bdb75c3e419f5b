#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/config.h"
#include "coordinator/domain.h"
#include "coordinator/external.h"
#include "coordinator/grid.h"
#include "coordinator/known.h"
#include "coordinator/space.h"
#include "tests/coordinator/spec_fixture.h"

static struct spec *spec;
static struct space *space;
static struct grid *grid;
static struct err err;

static int make(const char *tunables, const char *gates)
{
    spec = spec_fixture(
        &(struct spec_parts){ .tunables = tunables,
                              .gates = gates,
                              .baseline = "\"A\": 8, \"MODE\": \"fast\"" });
    assert_int_equal(space_open(spec, arch_find("sm_89"), "cuda", &space, &err),
                     0);
    return grid_new(spec, space, 0, &grid, &err);
}

static int teardown(void **state)
{
    (void)state;
    grid_free(grid);
    space_close(space);
    spec_free(spec);
    return 0;
}

#define TUNABLES "\"A\": [8, 2, 4], \"MODE\": [\"slow\", \"fast\"]"
#define REALS "\"A\": [8, 0.1, 2.5e-7], \"MODE\": [\"slow\", \"fast\"]"

static void numbers_ascend_and_texts_stay(void **state)
{
    const struct external_tunable *tunables;
    uint16_t levels[2] = { 0, 1 }; /* 2 fast: the second of A's values */

    (void)state;
    assert_int_equal(make(TUNABLES, NULL), 0);
    tunables = grid_tunables(grid);
    assert_string_equal(tunables[0].name, "A");
    assert_string_equal(tunables[0].values[0], "2");
    assert_string_equal(tunables[0].values[2], "8");
    assert_string_equal(tunables[1].values[0], "\"slow\"");
    assert_true(domain_tunable(grid_domain(grid), 0)->ordered);
    assert_false(domain_tunable(grid_domain(grid), 1)->ordered);
    assert_int_equal(grid_number(grid, domain_find(grid_domain(grid), levels)),
                     1 * 2 + 1);
}

static void a_point_and_its_number_find_each_other(void **state)
{
    (void)state;
    assert_int_equal(
        make(TUNABLES, "{ \"name\": \"g\", \"reject\": \"A = 4\" }"), 0);
    assert_int_equal(domain_size(grid_domain(grid)), 4);
    for (int point = 0; point < 4; point++)
        assert_int_equal(grid_find(grid, grid_number(grid, point)), point);
    assert_int_equal(grid_find(grid, 4), -1); /* 4 slow is rejected */
    assert_int_equal(grid_find(grid, -1), -1);
    assert_int_equal(grid_find(grid, 6), -1);
}

static void nothing_that_passes_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(
        make(TUNABLES, "{ \"name\": \"g\", \"reject\": \"A > 0\" }"),
        ERR_INPUT);
    assert_string_equal(err.text,
                        "no configuration passes the gates; `fa-coord space` "
                        "shows what each of them rejects");
}

static void a_stored_configuration_has_its_number_by_its_values(void **state)
{
    (void)state;
    assert_int_equal(make(TUNABLES, NULL), 0);
    assert_int_equal(known_number(spec, "{\"A\": 8, \"MODE\": \"slow\"}"), 0);
    assert_int_equal(known_number(spec, "{\"MODE\": \"fast\", \"A\": 4}"), 5);
    assert_int_equal(known_number(spec, "{\"A\": 16, \"MODE\": \"slow\"}"), -1);
    assert_int_equal(known_number(spec, "{\"A\": 8}"), -1);
    assert_int_equal(known_number(spec, "{\"A\": 8, \"B\": 1}"), -1);
    assert_int_equal(known_number(spec, "[]"), -1);
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
        assert_int_equal(known_number(spec, buf_text(&text)), number);
        buf_fini(&text);
    }
}

static void what_a_gate_warns_of_is_last(void **state)
{
    (void)state;
    assert_int_equal(make(TUNABLES, "{ \"name\": \"g\", \"warn\": "
                                    "\"A > 4\", \"why\": \"it spills\" }"),
                     0);
    assert_int_equal(domain_size(grid_domain(grid)), 6);
    assert_int_equal(grid_number(grid, 0), 2); /* 2 slow */
    assert_int_equal(grid_number(grid, 3), 5); /* 4 fast */
    assert_int_equal(grid_number(grid, 4), 0); /* 8 slow */
    assert_int_equal(grid_number(grid, 5), 1);
    assert_int_equal(grid_find(grid, 1), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(numbers_ascend_and_texts_stay, teardown),
        cmocka_unit_test_teardown(a_point_and_its_number_find_each_other,
                                  teardown),
        cmocka_unit_test_teardown(reals_are_found_as_they_are_stored, teardown),
        cmocka_unit_test_teardown(nothing_that_passes_is_an_error, teardown),
        cmocka_unit_test_teardown(what_a_gate_warns_of_is_last, teardown),
        cmocka_unit_test_teardown(
            a_stored_configuration_has_its_number_by_its_values, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
