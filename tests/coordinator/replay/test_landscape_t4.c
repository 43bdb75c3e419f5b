#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"

#define FILE_NAME "landscape_t4_test.json"

static int load(const char *text, struct landscape **out, struct err *err)
{
    FILE *file = fopen(FILE_NAME, "w");

    fputs(text, file);
    fclose(file);
    return landscape_load(FILE_NAME, out, err);
}

static struct landscape *land_of(const char *text)
{
    struct landscape *land = NULL;
    struct err err;

    if (load(text, &land, &err) < 0)
        fail_msg("%s in %s", err.text, text);
    return land;
}

/* As Kernel Tuner writes them: no metadata, the version at the end. */
#define KERNEL_TUNER                                                       \
    "{\"results\": [{\"timestamp\": \"2023-12-21\", \"configuration\": {"  \
    "\"BX\": 32, \"W\": 0.5, \"MODE\": \"a\"}, \"times\": {"               \
    "\"%s\": 661.5, \"framework\": 53.1, \"search_algorithm\": 0,"         \
    "\"validation\": 2, \"benchmark\": 7, \"runtimes\": [2.0, 3.0]},"      \
    "\"invalidity\": \"correct\", \"correctness\": 1, \"measurements\": [" \
    "{\"name\": \"time\", \"value\": 2.25, \"unit\": \"\"}],"              \
    "\"objectives\": [\"time\"]}, {\"invalidity\": \"constraints\","       \
    "\"times\": {}, \"configuration\": {\"MODE\": \"b\", \"BX\": 16,"      \
    "\"W\": 1}, \"correctness\": 1}], \"schema_version\": \"1.0.0\"}"

static void both_names_of_the_compile_time_are_read(void **state)
{
    static const char *const names[] = { "compilation", "compilation_time" };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct landscape *land;

        snprintf(text, sizeof(text), KERNEL_TUNER, names[i]);
        land = land_of(text);
        assert_int_equal(domain_size(land->domain), 2);
        assert_true(land->configs[0].compile_s == 0.6615);
        assert_true(land->configs[0].verify_s == 0.002);
        assert_true(land->configs[0].bench_s == 0.007);
        assert_true(land->configs[0].time_s == 0.00225);
        assert_int_equal(land->configs[0].samples_n, 2);
        assert_true(land->samples[1] == 0.003);
        assert_int_equal(land->configs[1].outcome, OUTCOME_CONSTRAINTS);
        assert_false(land->unclosed);
        landscape_free(land);
    }
}

static void the_tunables_are_found_in_the_configurations(void **state)
{
    char text[2048];
    struct landscape *land;

    (void)state;
    snprintf(text, sizeof(text), KERNEL_TUNER, "compilation");
    land = land_of(text);
    assert_int_equal(land->tunables_n, 3);
    assert_string_equal(land->tunables[0].name, "BX");
    assert_int_equal(land->tunables[0].n, 2);
    assert_string_equal(land->tunables[0].texts[0], "16");
    assert_true(land->tunables[1].ordered);
    assert_false(land->tunables[2].ordered);
    landscape_free(land);
}

#define ONE(rest) "{\"results\": [{\"configuration\": {\"A\": 1}, " rest

static void the_time_is_read_in_any_unit(void **state)
{
    static const struct {
        const char *text;
        double time_s;
    } rows[] = {
        { ONE("\"times\": {\"runtimes\": [4]}}]}"), 0.004 },
        { ONE("\"times\": {\"runtimes\": [4]}}], "
              "\"metadata\": {\"timeunit\": \"seconds\"}}"),
          4 },
        { ONE("\"times\": {\"runtimes\": [4]}}], "
              "\"metadata\": {\"hardware\": {}, \"timeunit\": "
              "\"miliseconds\"}}"),
          0.004 },
        { ONE("\"times\": {\"runtimes\": [4]}}], "
              "\"metadata\": {\"timeunit\": \"Nanoseconds\"}}"),
          4e-9 },
        { ONE("\"measurements\": [{\"name\": \"time\", \"value\": 4}]}]}"),
          0.004 },
        { ONE("\"measurements\": [{\"value\": 4, \"unit\": \"us\", "
              "\"name\": \"time\"}]}]}"),
          4e-6 },
        { ONE("\"measurements\": [{\"name\": \"energy\", \"value\": 9, "
              "\"unit\": \"J\"}, {\"name\": \"kernel\", \"value\": 4, "
              "\"unit\": \"s\"}]}]}"),
          4 },
        { ONE("\"measurements\": [{\"name\": \"total\", \"value\": 9, "
              "\"unit\": \"ms\"}, {\"name\": \"time\", \"value\": 4, "
              "\"unit\": \"ms\"}]}]}"),
          0.004 },
        { ONE("\"measurements\": [{\"name\": \"time\", \"value\": \"4.5\", "
              "\"unit\": \"s\"}]}]}"),
          4.5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct landscape *land = land_of(rows[i].text);

        if (land->configs[0].time_s != rows[i].time_s)
            fail_msg("%s: %g", rows[i].text, land->configs[0].time_s);
        landscape_free(land);
    }
}

/* As KTT converted its results: only the measurement has a unit. */
static void the_unit_of_the_measurement_is_that_of_the_runtimes(void **state)
{
    static const struct {
        const char *text;
        double sample_s, compile_s;
    } rows[] = {
        { ONE("\"times\": {\"compilation_time\": 2e6, \"runtimes\": [96]}, "
              "\"measurements\": [{\"name\": \"TotalDuration\", \"value\": 96,"
              " \"unit\": \"Microseconds\"}]}]}"),
          96e-6, 2 },
        { ONE("\"times\": {\"compilation_time\": 2e3, \"runtimes\": [0.1]}, "
              "\"measurements\": [{\"name\": \"time\", \"value\": 96,"
              " \"unit\": \"us\"}]}]}"),
          1e-4, 2 },
        { ONE("\"times\": {\"compilation_time\": 2e6, \"runtimes\": [96]}, "
              "\"measurements\": [{\"name\": \"total\", \"value\": 96,"
              " \"unit\": \"us\"}]}, {\"configuration\": {\"A\": 2}, "
              "\"invalidity\": \"runtime\", \"times\": {\"compilation_time\": "
              "3e6}}]}"),
          96e-6, 2 },
    };
    struct landscape *land;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        land = land_of(rows[i].text);

        assert_float_equal(land->samples[0], rows[i].sample_s, 1e-12);
        assert_float_equal(land->configs[0].compile_s, rows[i].compile_s, 1e-9);
        assert_float_equal(land->configs[0].time_s, 96e-6, 1e-12);
        if (domain_size(land->domain) > 1) /* a failure after it */
            assert_float_equal(land->configs[1].compile_s, 3, 1e-9);
        landscape_free(land);
    }
}

/* KTT writes "32" for 32. */
static void ktt_has_its_numbers_in_quotes(void **state)
{
    static const char text[] =
        "{\"metadata\": {\"autotuner\": \"%s\", \"device\": \"RTX 500\", "
        "\"timeunit\": \"microseconds\"}, \"results\": ["
        "{\"configuration\": {\"A\": \"128\", \"B\": \"0.500000\", \"C\": "
        "\"x\"}, \"times\": {\"runtimes\": [4]}},"
        "{\"configuration\": {\"A\": \"32\", \"B\": \"0.250000\", \"C\": "
        "\"y\"}, \"times\": {\"runtimes\": [5]}}]}";
    char ktt[1024], other[1024];
    struct landscape *land;

    (void)state;
    snprintf(ktt, sizeof(ktt), text, "KTT");
    snprintf(other, sizeof(other), text, "fa-coord");
    land = land_of(ktt);
    assert_string_equal(land->device, "RTX 500");
    assert_true(land->tunables[0].ordered && land->tunables[1].ordered);
    assert_false(land->tunables[2].ordered);
    assert_true(land->tunables[0].numbers[0] == 32);
    assert_true(land->tunables[1].numbers[1] == 0.5);
    assert_int_equal(domain_size(land->domain), 2);
    landscape_free(land);
    land = land_of(other);
    assert_false(land->tunables[0].ordered);
    landscape_free(land);
}

static void a_failure_counts_whatever_was_measured(void **state)
{
    static const struct {
        const char *text;
        enum outcome outcome;
    } rows[] = {
        { ONE("\"invalidity\": \"timeout\", \"times\": {\"runtimes\": [1]}}]}"),
          OUTCOME_TIMEOUT },
        { ONE("\"invalidity\": \"compile\", \"measurements\": []}]}"),
          OUTCOME_COMPILE },
        { ONE("\"invalidity\": \"correctness\", \"measurements\": [{\"name\":"
              " \"time\", \"value\": \"InvalidConfig\"}]}]}"),
          OUTCOME_CORRECTNESS },
        { ONE("\"invalidity\": \"broken\"}]}"), OUTCOME_RUNTIME },
        { ONE("\"invalidity\": \"Compile\"}]}"), OUTCOME_COMPILE },
        { ONE("\"invalidity\": \"compile\", \"measurements\": [{\"name\":"
              " \"time\", \"value\": 0.0}]}]}"),
          OUTCOME_COMPILE },
        { ONE("\"measurements\": [{\"name\": \"time\", \"value\": 0}],"
              " \"invalidity\": \"constraints\"}]}"),
          OUTCOME_CONSTRAINTS },
        { ONE("\"invalidity\": \"Correct\", \"times\": {\"runtimes\": [1]}"
              "}]}"),
          OUTCOME_CORRECT },
        { ONE("\"correctness\": 0, \"invalidity\": \"correct\", \"times\": "
              "{\"runtimes\": [1]}}]}"),
          OUTCOME_CORRECTNESS },
        { ONE("\"invalidity\": \"timeout\", \"correctness\": 0}]}"),
          OUTCOME_TIMEOUT },
        { ONE("\"correctness\": 1.0, \"times\": {\"runtimes\": [1]}}]}"),
          OUTCOME_CORRECT },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct landscape *land = land_of(rows[i].text);

        assert_int_equal(land->configs[0].outcome, rows[i].outcome);
        landscape_free(land);
    }
}

static void a_file_that_was_cut_off_is_read_as_far_as_it_goes(void **state)
{
    static const char *const ends[] = {
        "",
        "{",
        "{\"configuration\": {\"A\": 2}, \"times\": {\"runti",
        "{\"configuration\": {\"A\": 2, \"NE",
        "{\"configuration\": {\"NEW\":",
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct landscape *land;

        snprintf(text, sizeof(text), ONE("\"times\": {\"runtimes\": [4]}}, %s"),
                 ends[i]);
        land = land_of(text);
        assert_true(land->unclosed);
        assert_int_equal(domain_size(land->domain), 1);
        assert_int_equal(land->tunables_n, 1);
        landscape_free(land);
    }
}

static void a_flaw_names_file_line_and_result(void **state)
{
    static const char *const rows[][2] = {
        { ONE("\"invalidity\": \"correct\"}]}"),
          FILE_NAME ":1: configuration \"results[0]\": it is valid and has no "
                    "time" },
        { "{\"results\": {}}", "\"results\" must be a list" },
        { "{\"results\": []}", "\"results\" has no configurations" },
        { "{\"results\": [\n7]}", ":2: configuration \"results[0]\": a result "
                                  "must be an object" },
        { ONE("\"times\": {\"runtimes\": [1]}}, {\"times\": {}}]}"),
          "\"results[1]\": it has no \"configuration\"" },
        { ONE("\"times\": {\"runtimes\": [1]}}, {\"configuration\": {\"B\": 1},"
              "\"times\": {\"runtimes\": [1]}}]}"),
          "\"results[0]\": it has no 'B'" },
        { "{\"results\": [{\"configuration\": [1]}]}",
          "\"configuration\" is not an object" },
        { "{\"results\": [{\"configuration\": {\"A\": [1]}}]}",
          "a value of 'A' is a list or an object" },
        { ONE("\"times\": {\"runtimes\": [\"x\"]}}]}"), "is not a number" },
        { ONE("\"measurements\": [{\"name\": \"time\", \"value\": -1}]}]}"),
          "it must be above 0" },
        { ONE("\"measurements\": [3]}]}"), "a measurement is not an object" },
        { ONE("\"times\": {}}], \"metadata\": {\"timeunit\": \"weeks\"}}"),
          "the time unit 'weeks' is not known" },
        { "{\"Metadata\": {}, \"Results\": [{\"Configuration\": []}]}",
          "let KTT write T4, which is its output format JSON_T4" },
    };
    struct landscape *land;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(load(rows[i][0], &land, &err), ERR_INPUT);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("no '%s' in: %s", rows[i][1], err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_names_of_the_compile_time_are_read),
        cmocka_unit_test(the_tunables_are_found_in_the_configurations),
        cmocka_unit_test(the_time_is_read_in_any_unit),
        cmocka_unit_test(the_unit_of_the_measurement_is_that_of_the_runtimes),
        cmocka_unit_test(ktt_has_its_numbers_in_quotes),
        cmocka_unit_test(a_failure_counts_whatever_was_measured),
        cmocka_unit_test(a_file_that_was_cut_off_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_flaw_names_file_line_and_result),
    };
    int failed = cmocka_run_group_tests_name("coordinator/replay/landscape_t4",
                                             tests, NULL, NULL);

    unlink(FILE_NAME);
    return failed;
}
