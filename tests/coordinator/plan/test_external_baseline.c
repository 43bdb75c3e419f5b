#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/plan/external_baseline.h"
#include "coordinator/spec/spec.h"
#include "tests/coordinator/spec/spec_fixture.h"

#define SHAPES                                                       \
    "{ \"name\": \"s512\", \"N\": 32, \"S\": 512, \"CAUSAL\": 0 }, " \
    "{ \"name\": \"odd\", \"N\": -1, \"S\": 7, \"CAUSAL\": 1 }"

static struct spec *with(const char *external)
{
    static char more[1024];

    snprintf(more, sizeof(more), ", \"external_baseline\": %s", external);
    return spec_fixture(&(struct spec_parts){
        .shapes = SHAPES,
        .grid = "S",
        .arguments = "{ \"name\": \"o\", \"type\": \"fp32\", "
                     "\"shape\": [\"S\"], \"output\": true }",
        .more = more });
}

static void missing_settings_have_defaults(void **state)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){ 0 });
    const struct spec_external *is;

    (void)state;
    assert_int_equal(spec->externals.n, 0);
    assert_null(spec->confirm.against);
    spec_free(spec);
    spec = with("{ \"name\": \"torch\", \"command\": [\"python3\"] }");
    assert_int_equal(spec->externals.n, 1);
    is = spec->externals.list;
    assert_string_equal(is->name, "torch");
    assert_int_equal(is->n_command, 1);
    assert_int_equal(is->n_files, 0);
    assert_int_equal(is->blocks, 8);
    assert_int_equal(is->samples, 20);
    assert_true(is->timeout_s == 120);
    spec_free(spec);
}

static void several_are_kept_in_their_order(void **state)
{
    struct spec *spec =
        with("[{ \"name\": \"torch\", \"command\": [\"python3\"] },"
             " { \"name\": \"cudnn\", \"command\": [\"bench\", \"{S}\"],"
             " \"blocks\": 5 }], \"confirm\": { \"against\": \"cudnn\","
             " \"blocks_max\": 40, \"blocks_group\": 4 }");

    (void)state;
    assert_int_equal(spec->externals.n, 2);
    assert_string_equal(spec->externals.list[0].name, "torch");
    assert_int_equal(spec->externals.list[0].blocks, 8);
    assert_string_equal(spec->externals.list[1].command[1], "{S}");
    assert_int_equal(spec->externals.list[1].blocks, 5);
    assert_string_equal(spec->confirm.against, "cudnn");
    assert_int_equal(spec->confirm.blocks_max, 40);
    assert_int_equal(spec->confirm.blocks_group, 4);
    spec_for_record(spec);
    assert_int_equal(spec->externals.n, 0);
    assert_null(spec->confirm.against);
    spec_free(spec);
}

static void placeholders_become_the_numbers_of_the_shape(void **state)
{
    struct spec *spec =
        with("{ \"name\": \"torch\", \"command\": [\"python3\", \"m.py\", "
             "\"{N},{S},{CAUSAL}\", \"-n{samples}\", \"{}{ S}{1}$(id) {\", "
             "\"\"], \"samples\": 10 }");
    const struct spec_external *is = spec->externals.list;
    char **command = external_baseline_command(spec, is, &spec->shapes.list[1]);

    (void)state;
    assert_string_equal(command[0], "python3");
    assert_string_equal(command[2], "-1,7,1");
    assert_string_equal(command[3], "-n10");
    assert_string_equal(command[4], "{}{ S}{1}$(id) {");
    assert_string_equal(command[5], "");
    external_baseline_command_free(is, command);
    spec_free(spec);
}

static void a_question_is_a_list_of_texts(void **state)
{
    struct spec *spec =
        with("{ \"name\": \"torch\", \"command\": [\"python3\"], \"ask\": "
             "[\"-n{samples}\", \"a \\\"b\\\"\", \"{S}\"], "
             "\"samples\": 10 }");
    const struct spec_external *is = spec->externals.list;
    char **command = external_baseline_command(spec, is, &spec->shapes.list[1]);
    char *ask = external_baseline_ask(spec, is, &spec->shapes.list[1]);
    char first[HASH_HEX], key[HASH_HEX];

    (void)state;
    assert_string_equal(ask, "[\"-n10\", \"a \\\"b\\\"\", \"7\"]");
    external_baseline_key(is, command, NULL, "b0", first);
    external_baseline_key(is, command, ask, "b0", key);
    assert_string_not_equal(key, first);
    free(ask);
    external_baseline_command_free(is, command);
    spec_free(spec);
    spec = with("{ \"name\": \"torch\", \"command\": [\"python3\"] }");
    assert_null(external_baseline_ask(spec, spec->externals.list,
                                      &spec->shapes.list[0]));
    spec_free(spec);
}

static void another_shape_or_file_is_another_key(void **state)
{
    struct spec *spec =
        with("{ \"name\": \"torch\", \"command\": [\"python3\", \"{S}\"] }");
    struct spec_external *is = spec->externals.list;
    char **a = external_baseline_command(spec, is, &spec->shapes.list[0]);
    char **b = external_baseline_command(spec, is, &spec->shapes.list[1]);
    char first[HASH_HEX], key[HASH_HEX];

    (void)state;
    external_baseline_key(is, a, NULL, "b0", first);
    external_baseline_key(is, a, NULL, "b0", key);
    assert_string_equal(key, first);
    external_baseline_key(is, a, NULL, "b1", key);
    assert_string_not_equal(key, first);
    external_baseline_key(is, b, NULL, "b0", key);
    assert_string_not_equal(key, first);
    is[0].name[0] = 'T'; /* the same command under another name */
    external_baseline_key(is, a, NULL, "b0", key);
    assert_string_not_equal(key, first);
    external_baseline_command_free(is, a);
    external_baseline_command_free(is, b);
    spec_free(spec);
}

static void samples_and_name_are_read(void **state)
{
    static const char text[] =
        "{\"name\": \"torch flash\", \"torch\": \"2.11\", \"samples\": "
        "[7.4e-05, 0.0000735, 1], \"median_s\": 7.4e-05}\n";
    struct external_baseline_output output;
    struct err err;

    (void)state;
    assert_int_equal(
        external_baseline_read(text, sizeof(text) - 1, 5, &output, &err), 0);
    assert_string_equal(output.name, "torch flash");
    assert_int_equal(output.n, 3);
    assert_true(output.samples[1] == 0.0000735);
    external_baseline_output_fini(&output);
    assert_int_equal(
        external_baseline_read("{\"samples\":[1]}", 15, 2, &output, &err), 0);
    assert_string_equal(output.name, "");
    external_baseline_output_fini(&output);
}

static void garbage_gives_a_one_line_error(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "", "it printed nothing" },
        { " \n", "it printed nothing" },
        { "hello", "it printed no JSON object: stdout:1:1: " },
        { "{\"samples\": [1]} {\"samples\": [1]}",
          "it printed no JSON object: stdout:1:18: " },
        { "{\"samples\": [nan]}", "it printed no JSON object: stdout:1:14: " },
        { "{\"samples\": [1e999]}",
          "it printed no JSON object: stdout:1:14: " },
        { "[1, 2]", "it printed a list, not an object" },
        { "{}", "its JSON has no list \"samples\" of seconds" },
        { "{\"samples\": 1}", "its JSON has no list \"samples\" of seconds" },
        { "{\"samples\": []}", "it printed 0 samples; print 1 to 1000" },
        { "{\"samples\": [1, -1]}",
          "sample 2 is not a time: seconds are numbers above 0" },
        { "{\"samples\": [0]}",
          "sample 1 is not a time: seconds are numbers above 0" },
        { "{\"samples\": [\"1\"]}",
          "sample 1 is not a time: seconds are numbers above 0" },
        { "{\"samples\": [73.5, 74]}",
          "its samples add up to 147.5 s and it ran for 5 s: are they in "
          "seconds?" },
        { "{\"name\": 1, \"samples\": [1]}",
          "its \"name\" is not a text of at most 64 bytes" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct external_baseline_output output;
        struct err err;

        assert_int_equal(external_baseline_read(rows[i].text,
                                                strlen(rows[i].text), 5,
                                                &output, &err),
                         ERR_INPUT);
        if (strncmp(err.text, rows[i].why, strlen(rows[i].why)) != 0)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_null(strchr(err.text, '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_settings_have_defaults),
        cmocka_unit_test(several_are_kept_in_their_order),
        cmocka_unit_test(placeholders_become_the_numbers_of_the_shape),
        cmocka_unit_test(a_question_is_a_list_of_texts),
        cmocka_unit_test(another_shape_or_file_is_another_key),
        cmocka_unit_test(samples_and_name_are_read),
        cmocka_unit_test(garbage_gives_a_one_line_error),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
