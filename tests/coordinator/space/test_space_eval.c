/* The values that a space computes for one configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "tests/coordinator/space/space_fixture.h"

static void geometry_follows_configuration_and_shape(void **state)
{
    struct value values[2], derived[1];
    struct space_argument arguments[3];
    struct space_launch launch;

    (void)state;
    open_fine(&(struct spec_parts){
        .derived = "\"TILE\": \"A * 10\"",
        .grid = "ceil(1.0 * N / TILE)",
        .arguments = "{ \"name\": \"o\", \"type\": \"fp32\", \"shape\": "
                     "[\"N\", 3], \"output\": true },"
                     "{ \"name\": \"n\", \"type\": \"int32\", \"value\": \"N\" "
                     "}, { \"name\": \"x\", \"type\": \"fp32\", \"value\": "
                     "\"1 / 2.0\" }" });
    space_values(space, 2, values);
    assert_int_equal(space_derive(space, values, derived, &err), 0);
    assert_int_equal(derived[0].integer, 20);
    assert_int_equal(
        space_launch(space, values, &spec->shapes.list[0], &launch, &err), 0);
    assert_int_equal(launch.grid[0], 5);
    assert_int_equal(launch.grid[2], 1);
    assert_int_equal(launch.block[0], 32);
    assert_int_equal(launch.smem, 0);
    values[0].integer = 7; /* outside the axes */
    assert_int_equal(
        space_launch(space, values, &spec->shapes.list[0], &launch, &err), 0);
    assert_int_equal(launch.grid[0], 2);
    assert_int_equal(
        space_arguments(space, values, &spec->shapes.list[0], arguments, &err),
        0);
    assert_int_equal(arguments[0].count, 300);
    assert_int_equal(arguments[1].value.integer, 100);
    assert_true(arguments[2].value.real == 0.5);
    assert_int_equal(
        space_reference_launch(space, &spec->shapes.list[0], &launch, &err), 0);
    assert_int_equal(launch.grid[0], 100);
}

static void the_tunables_of_launch_and_arguments_are_known(void **state)
{
    (void)state;
    open_fine(&(struct spec_parts){ .grid = "A + 1" });
    assert_int_equal(space_work_axes(space), 1);
    teardown(NULL);
    open_fine(
        &(struct spec_parts){ .grid = "N", .derived = "\"D\": \"B * 2\"" });
    assert_int_equal(space_work_axes(space), 2);
    teardown(NULL);
    open_fine(&(struct spec_parts){ .grid = "N" });
    assert_int_equal(space_work_axes(space), 0);
}

static int64_t derive(int64_t number)
{
    struct value values[2], derived[2];

    space_values(space, number, values);
    assert_int_equal(space_derive(space, values, derived, &err), 0);
    assert_string_equal(derived[1].text, values[0].integer > 1 ? "y" : "n");
    return derived[0].integer;
}

/* No rule names B, so every second result is already known. */
static void derived_values_are_those_of_each_point_in_any_order(void **state)
{
    (void)state;
    open_fine(&(struct spec_parts){
        .derived = "\"D\": \"A * 10\", \"T\": \"iif(A > 1, 'y', 'n')\"" });
    assert_int_equal(derive(0), 10);
    assert_int_equal(derive(1), 10);
    assert_int_equal(derive(2), 20);
    assert_int_equal(derive(3), 20);
    assert_int_equal(derive(1), 10);
}

static void a_derived_text_is_held_to_the_characters_of_values(void **state)
{
    struct value values[2], derived[1];

    (void)state;
    open_fine(&(struct spec_parts){
        .derived = "\"D\": \"iif(A = 1, 'fine', 'a b')\"" });
    space_values(space, 0, values);
    assert_int_equal(space_derive(space, values, derived, &err), 0);
    assert_string_equal(derived[0].text, "fine");
    space_values(space, 2, values);
    assert_int_equal(space_derive(space, values, derived, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "derived value 'D' yields a b for A=2"));
}

static void metrics_and_floors_have_units_of_their_own(void **state)
{
    struct value values[2];
    double number;
    int floor;

    (void)state;
    open_fine(&(struct spec_parts){
        .more = ", \"metrics\": { \"rate\": { \"value\": \"N / time_s\" } },"
                "\"floors\": { \"low\": \"0.001\", \"dram\": \"N * 3e9 / "
                "dram_bytes_per_s\", \"none\": \"N / 0\" }" });
    space_values(space, 0, values);
    assert_int_equal(space_metric(space, 0, values, &spec->shapes.list[0], 0.5,
                                  &number, &err),
                     0);
    assert_true(number == 200);
    assert_int_equal(
        space_floor(space, &spec->shapes.list[0], &number, &floor, &err), 0);
    assert_int_equal(floor, 1);
    assert_true(fabs(number - 1) < 1e-12);
}

static void a_configuration_outside_the_axes_meets_the_gates_too(void **state)
{
    struct value values[2];

    (void)state;
    open_fine(&(struct spec_parts){
        .gates = "{ \"name\": \"g\", \"reject\": \"A > 10\" },"
                 "{ \"name\": \"h\", \"reject\": \"1 / (A - 3) > 5\" }" });
    space_values(space, 0, values);
    assert_int_equal(space_rejected_by(space, values, &err), SPACE_PASSES);
    values[0].integer = 11;
    assert_int_equal(space_rejected_by(space, values, &err), 0);
    values[0].integer = 3;
    assert_int_equal(space_rejected_by(space, values, &err), SPACE_ERROR);
    assert_non_null(strstr(err.text, "gate 'h' yields NULL for A=3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            the_tunables_of_launch_and_arguments_are_known, teardown),
        cmocka_unit_test_teardown(geometry_follows_configuration_and_shape,
                                  teardown),
        cmocka_unit_test_teardown(
            derived_values_are_those_of_each_point_in_any_order, teardown),
        cmocka_unit_test_teardown(
            a_derived_text_is_held_to_the_characters_of_values, teardown),
        cmocka_unit_test_teardown(metrics_and_floors_have_units_of_their_own,
                                  teardown),
        cmocka_unit_test_teardown(
            a_configuration_outside_the_axes_meets_the_gates_too, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
