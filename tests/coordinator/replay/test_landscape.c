#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"

#define FILE_NAME "landscape_test.json"

#define HEAD                                                               \
    "{\"device_name\": \"GPU\", \"kernel_name\": \"k\",\n"                 \
    "\"tune_params\": {\"BX\": [64, 16, 32], \"MODE\": [\"a\", \"b\"]},\n" \
    "\"cache\": {\n"

#define FAST                                                             \
    "\"16,a\": {\"BX\": 16, \"MODE\": \"a\", \"time\": 2.5, \"times\": " \
    "[2.0, 3.0], \"compile_time\": 900, \"extra\": {\"deep\": [1, {}]}}"

static int load(const char *text, struct landscape **out, struct err *err)
{
    FILE *file = fopen(FILE_NAME, "w");

    fputs(text, file);
    fclose(file);
    return landscape_load(FILE_NAME, out, err);
}

static void a_cache_is_read_with_samples_and_durations(void **state)
{
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(load(HEAD FAST "}}", &land, &err), 0);
    assert_string_equal(land->device, "GPU");
    assert_false(land->unclosed);
    assert_int_equal(domain_size(land->domain), 1);
    assert_int_equal(land->configs[0].outcome, OUTCOME_CORRECT);
    assert_float_equal(land->configs[0].time_s, 0.0025, 1e-12);
    assert_float_equal(land->configs[0].compile_s, 0.9, 1e-12);
    assert_int_equal(land->configs[0].samples_n, 2);
    assert_float_equal(land->samples[1], 0.003, 1e-12);
    landscape_free(land);
}

static void numbers_ascend_and_texts_are_not_ordered(void **state)
{
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(load(HEAD FAST "}}", &land, &err), 0);
    assert_true(land->tunables[0].ordered);
    assert_string_equal(land->tunables[0].texts[0], "16");
    assert_string_equal(land->tunables[0].texts[2], "64");
    assert_false(land->tunables[1].ordered);
    assert_int_equal(domain_point(land->domain, 0)[0], 0);
    landscape_free(land);
}

static void failures_are_recorded_as_failures(void **state)
{
    static const char text[] = HEAD FAST
        ",\"b\":{\"BX\":32,\"MODE\":\"a\",\"time\":\"CompilationFailedConfig\"}"
        ",\"c\":{\"BX\":64,\"MODE\":\"a\",\"time\":\"RuntimeFailedConfig\"}"
        ",\"d\":{\"BX\":64,\"MODE\":\"b\",\"time\":\"InvalidConfig\"}"
        ",\"e\":{\"BX\":32,\"MODE\":\"b\",\"time\":1e20}}}";
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(load(text, &land, &err), 0);
    assert_int_equal(domain_size(land->domain), 5);
    assert_int_equal(land->configs[1].outcome, OUTCOME_COMPILE);
    assert_int_equal(land->configs[2].outcome, OUTCOME_RUNTIME);
    assert_int_equal(land->configs[3].outcome, OUTCOME_CONSTRAINTS);
    assert_int_equal(land->configs[4].outcome, OUTCOME_RUNTIME);
    assert_int_equal(land->best, 0);
    landscape_free(land);
}

static void a_failure_may_be_an_object(void **state)
{
    static const char text[] =
        HEAD FAST ",\"b\":{\"BX\":32,\"MODE\":\"a\",\"time\":{\"kind\": "
                  "\"error\", \"n\": [1],"
                  "\"__error__\": \"CompilationFailedConfig\"}}"
                  ",\"c\":{\"BX\":64,\"MODE\":\"a\",\"time\":{\"error\": "
                  "\"Segfault\"}}}}";
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(load(text, &land, &err), 0);
    assert_int_equal(land->configs[1].outcome, OUTCOME_COMPILE);
    assert_null(land->configs[1].reason);
    assert_int_equal(land->configs[2].outcome, OUTCOME_RUNTIME);
    assert_string_equal(land->configs[2].reason, "recorded as 'Segfault'");
    landscape_free(land);
}

#define CUT_KEY CUT "\"MO"
#define CUT_NUMBER CUT "\"MODE\": \"b\", \"time\": 1.5"
#define CUT_LIST CUT "\"MODE\": \"b\", \"times\": [1"
#define CUT ",\n\"16,b\": {\"BX\": 16, "

/* Wherever its writer stopped, what was whole before is kept. */
static void an_unclosed_file_is_read_as_far_as_it_goes(void **state)
{
    static const char *const ends[] = { "",      "}",        ",",
                                        CUT_KEY, CUT_NUMBER, CUT_LIST };

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct landscape *land;
        struct err err;
        char text[600];

        snprintf(text, sizeof(text), "%s%s", HEAD FAST, ends[i]);
        assert_int_equal(load(text, &land, &err), 0);
        assert_true(land->unclosed);
        assert_int_equal(domain_size(land->domain), 1);
        landscape_free(land);
    }
}

static void gzip_is_read_and_a_cut_one_is_refused(void **state)
{
    struct landscape *land;
    struct err err;
    gzFile file = gzopen(FILE_NAME, "wb");

    (void)state;
    gzputs(file, HEAD FAST "}}");
    gzclose(file);
    assert_int_equal(landscape_load(FILE_NAME, &land, &err), 0);
    landscape_free(land);
    assert_int_equal(truncate(FILE_NAME, 60), 0);
    assert_int_equal(landscape_load(FILE_NAME, &land, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "damaged or cut off"));
}

static void bad_files_are_refused_with_their_line(void **state)
{
    static const struct row {
        const char *text, *message;
    } rows[] = {
        { "", ":1: the file is empty" },
        { "[1]", ":1: this is not a Kernel Tuner cache" },
        { "{\"a\" 1}", ":1: no ':' after \"a\"" },
        { "{\"a\": 1 \"b\": 2}", ":1: '\"' where a ',' belongs" },
        { "{\"a\": +1}", ":1: '+1' is not JSON" },
        { "{\"a\": 1}", "no configurations" },
        { "{\"cache\": {}}", "no \"tune_params\"" },
        { "{\"results\": [{}]}", "a T4 file" },
        { "\x01", "the byte 0x01 is not JSON" },
        { "{\"tune_params\": {}}", "\"tune_params\" is empty" },
        { "{\"tune_params\": {\"A\": []}}", "'A' has no values" },
        { "{\"tune_params\": {\"A\": [[1]]}}", "a list or an object" },
        { HEAD "\"x\": {\"BX\": 8}}}",
          ":4: configuration \"x\": BX=8 is not among the values" },
        { HEAD "\"x\": {\"BX\": 16, \"time\": 1}}}",
          "\"x\": it has no 'MODE'" },
        { HEAD "\"x\": {\"BX\": 16, \"MODE\": \"a\"}}}", "it has no \"time\"" },
        { HEAD "\"x\": {\"time\": -1}}}", "the time is -1 ms" },
        { HEAD "\"x\": {\"time\": 0}}}", "\"x\": the time is 0 ms" },
        { HEAD "\"x\": {\"time\": \"1.5\"}}}", "the text \"1.5\"" },
        { HEAD "\"x\": {\"time\": true}}}", "neither milliseconds nor" },
        { HEAD "\"x\": {\"time\": {\"a\": 1}}}}",
          "\"time\" is an object without a text" },
        { HEAD "\"x\": {\"times\": [\"a\"]}}}", "is not a number" },
        { HEAD FAST "}} x", "'x' after the end" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct landscape *land;
        struct err err;

        assert_int_equal(load(rows[i].text, &land, &err), ERR_INPUT);
        if (!strstr(err.text, rows[i].message))
            fail_msg("\"%s\" lacks \"%s\"", err.text, rows[i].message);
    }
}

/* As Python writes what is not ASCII. */
static void surrogate_pairs_are_one_character(void **state)
{
    static const char *const rows[][2] = {
        { "\\ud83d\\ude00!", "\xf0\x9f\x98\x80!" },
        { "a\\ud83d", "a\xef\xbf\xbd" },
        { "\\ud83dx\\ude00", "\xef\xbf\xbdx\xef\xbf\xbd" },
        { "\\ud83d\\n", "\xef\xbf\xbd?" },
        { "\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct landscape *land;
        struct err err;
        char text[600];

        snprintf(text, sizeof(text),
                 "{\"kernel_name\": \"%s\", \"tune_params\": {\"BX\": [16], "
                 "\"MODE\": [\"a\"]}, \"cache\": {" FAST "}}",
                 rows[i][0]);
        assert_int_equal(load(text, &land, &err), 0);
        assert_string_equal(land->kernel, rows[i][1]);
        landscape_free(land);
    }
}

/* Sorted by name, the cache stands before what its values are. */
static void the_members_may_come_in_any_order(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf{\"cache\": {\"2\": {\"A\": 2, \"time\": 3}},"
        "\"device_name\": \"G\\u001b[31m\", \"tune_params\": {\"A\": [1, 2]}}";
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(load(text, &land, &err), 0);
    assert_int_equal(domain_size(land->domain), 1);
    assert_int_equal(land->tunables_n, 1);
    assert_int_equal(land->tunables[0].n, 2);
    assert_string_equal(land->device, "G?[31m");
    assert_false(land->unclosed);
    landscape_free(land);
}

/* Without a mean: its samples, another objective's failure, or nothing. */
static void a_time_may_be_in_another_member_or_missing(void **state)
{
    static const char text[] =
        HEAD "\"a\":{\"BX\":16,\"MODE\":\"a\",\"times\":[1,null,3]}"
             ",\"b\":{\"BX\":32,\"MODE\":\"a\",\"time\":[2,4]}"
             ",\"c\":{\"BX\":64,\"MODE\":\"a\",\"time\":null}"
             ",\"d\":{\"BX\":64,\"MODE\":\"b\",\"GFLOP/s\":\"InvalidConfig\"}"
             ",\"e\":{\"BX\":32,\"MODE\":\"b\",\"time\":\"OutOfMemory\"}}}";
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(load(text, &land, &err), 0);
    assert_float_equal(land->configs[0].time_s, 0.002, 1e-12);
    assert_int_equal(land->configs[0].samples_n, 2);
    assert_float_equal(land->configs[1].time_s, 0.003, 1e-12);
    assert_int_equal(land->configs[2].outcome, OUTCOME_RUNTIME);
    assert_string_equal(land->configs[2].reason, "recorded without a time");
    assert_int_equal(land->configs[3].outcome, OUTCOME_CONSTRAINTS);
    assert_int_equal(land->configs[4].outcome, OUTCOME_RUNTIME);
    assert_string_equal(land->configs[4].reason, "recorded as 'OutOfMemory'");
    assert_int_equal(land->best, 0);
    landscape_free(land);
}

static void the_time_of_a_configuration_is_read(void **state)
{
    static const struct {
        const char *text;
        int64_t utc;
    } rows[] = {
        { "2023-12-21 10:44:42.236642+00:00", INT64_C(1703155482236642000) },
        { "2023-12-21T10:44:42.236Z", INT64_C(1703155482236000000) },
        { "2023-12-21 10:44:42 UTC", INT64_C(1703155482000000000) },
        { "2023-12-21 12:14:42+01:30", INT64_C(1703155482000000000) },
        { "2023-12-21 02:44:42.5-08:00", INT64_C(1703155482500000000) },
        { "2023-12-21 10:44:42", INT64_C(1703155482000000000) },
        { "1971-01-01 00:00:00", INT64_C(31536000000000000) },
        { "1970-12-31 23:59:59", 0 },
        { "2262-01-01 00:00:00", 0 },
        { "2023-13-21 10:44:42", 0 },
        { "2023-12-21 24:44:42", 0 },
        { "2023-12-21", 0 },
        { "2023-12-21 10:44:42 CET", 0 },
        { "2023-12-21 10:44:42+1:30x", 0 },
        { "", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct landscape *land;
        struct err err;
        char text[1024];

        snprintf(text, sizeof(text),
                 "{\"tune_params\": {\"A\": [1]}, \"cache\": {\"1\": {"
                 "\"A\": 1, \"time\": 2, \"timestamp\": \"%s\"}}}",
                 rows[i].text);
        assert_int_equal(load(text, &land, &err), 0);
        if (land->configs[0].recorded_utc != rows[i].utc)
            fail_msg("%s is %lld", rows[i].text,
                     (long long)land->configs[0].recorded_utc);
        landscape_free(land);
        snprintf(text, sizeof(text),
                 "{\"results\": [{\"configuration\": {\"A\": 1}, "
                 "\"timestamp\": \"%s\", \"times\": {\"runtimes\": [2]}}]}",
                 rows[i].text);
        assert_int_equal(load(text, &land, &err), 0);
        assert_true(land->configs[0].recorded_utc == rows[i].utc);
        landscape_free(land);
    }
}

static void a_folder_is_refused_as_a_record(void **state)
{
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(landscape_load(".", &land, &err), ERR_INPUT);
    assert_string_equal(err.text, ". is a folder; name a file in it");
}

static void a_repeated_configuration_counts_once(void **state)
{
    struct landscape *land;
    struct err err;

    (void)state;
    assert_int_equal(load(HEAD FAST "," FAST "}}", &land, &err), 0);
    assert_int_equal(land->repeated, 1);
    assert_int_equal(domain_size(land->domain), 1);
    landscape_free(land);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cache_is_read_with_samples_and_durations),
        cmocka_unit_test(numbers_ascend_and_texts_are_not_ordered),
        cmocka_unit_test(failures_are_recorded_as_failures),
        cmocka_unit_test(a_failure_may_be_an_object),
        cmocka_unit_test(an_unclosed_file_is_read_as_far_as_it_goes),
        cmocka_unit_test(gzip_is_read_and_a_cut_one_is_refused),
        cmocka_unit_test(bad_files_are_refused_with_their_line),
        cmocka_unit_test(surrogate_pairs_are_one_character),
        cmocka_unit_test(the_members_may_come_in_any_order),
        cmocka_unit_test(a_time_may_be_in_another_member_or_missing),
        cmocka_unit_test(the_time_of_a_configuration_is_read),
        cmocka_unit_test(a_folder_is_refused_as_a_record),
        cmocka_unit_test(a_repeated_configuration_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
