#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/export/export.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

struct open {
    struct store *store;
    struct report *report;
    struct stored_spec stored;
    int shape; /* to be the best at */
    struct winner winner;
    struct export *export;
    struct err err;
};

/* The text that stands for 'old' in the sweep file that the database holds. */
static void edit(struct report *report, const char *old, const char *text)
{
    char *at = strstr(report->file.text, old), *edited;

    assert_non_null(at);
    edited = mem_printf("%.*s%s%s", (int)(at - report->file.text),
                        report->file.text, text, at + strlen(old));
    free(report->file.text);
    report->file.text = edited;
}

static struct open open_report(struct store *store)
{
    struct open open = { .store = store };

    if (report_load(store, &open.report, &open.err) < 0)
        fail_msg("%s", open.err.text);
    return open;
}

static int make(struct open *open)
{
    if (stored_spec_open(open->report, &open->stored, &open->err) < 0)
        fail_msg("%s", open->err.text);
    if (winner_find(open->report, open->shape, &open->winner, &open->err) != 0)
        fail_msg("%s", open->err.text);
    return export_make(open->report, &open->stored, &open->winner, open->store,
                       &open->export, &open->err);
}

static void close_all(struct open *open)
{
    export_free(open->export);
    stored_spec_close(&open->stored);
    report_free(open->report);
    store_close(open->store);
}

enum format {
    HEADER,
    JSON,
    FLAGS
};

static char *text_of(struct open *open, enum format format)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (format == HEADER)
        export_header(open->export, to);
    else if (format == FLAGS)
        export_flags(open->export, to);
    else if (export_json(open->export, to, &open->err) < 0)
        fail_msg("%s", open->err.text);
    fclose(to);
    return text;
}

static void exported(const char *path, enum format format, const char *golden)
{
    struct open open = open_report(report_fixture(path));
    char *text;

    if (make(&open) < 0)
        fail_msg("%s", open.err.text);
    text = text_of(&open, format);
    golden_check(golden, text);
    free(text);
    close_all(&open);
}

static void the_header_has_parameters_launch_and_origin(void **state)
{
    exported(*state, HEADER, "export.h.txt");
}

static void the_json_has_the_same_facts(void **state)
{
    exported(*state, JSON, "export.json");
}

static void the_flags_are_one_line(void **state)
{
    exported(*state, FLAGS, "export_flags.txt");
}

static void holds(struct open *open, const char *line)
{
    char *text;

    if (make(open) < 0)
        fail_msg("%s", open->err.text);
    text = text_of(open, HEADER);
    if (!strstr(text, line))
        fail_msg("no '%s' in\n%s", line, text);
    free(text);
    close_all(open);
}

static void a_fact_of_the_launch_can_be_another_gpus(void **state)
{
    struct open open = open_report(report_fixture(*state));

    edit(open.report, "\"N / BLOCK_SIZE\"",
         "\"min(N / BLOCK_SIZE, 8 * Sm_Count)\"");
    holds(&open, "#ifndef VECTOR_ADD_SM_COUNT\n"
                 "#define VECTOR_ADD_SM_COUNT 58\n#endif\n");
}

static void a_derived_text_is_quoted_and_named(void **state)
{
    struct open open = open_report(report_fixture(*state));

    edit(open.report, "\"launch\"",
         "\"derived\": { \"mode\": \"CASE WHEN VECTOR THEN 'fast' ELSE 'slow' "
         "END\", \"OFF\": \"-1\" }, \"launch\"");
    holds(&open, "#define VECTOR_ADD_MODE \"fast\"\n"
                 "#define VECTOR_ADD_MODE_FAST 1\n"
                 "#define VECTOR_ADD_OFF (-1)\n");
}

static void another_shape_has_another_winner(void **state)
{
    struct open open = open_report(report_fixture(*state));

    assert_int_equal(winner_find(open.report, 1, &open.winner, &open.err), 0);
    assert_ptr_equal(open.winner.config, &open.report->configs[0]);
    open.report->configs[1].cells[1].time_s = 0.0001;
    assert_int_equal(winner_find(open.report, 0, &open.winner, &open.err), 0);
    assert_ptr_equal(open.winner.config, &open.report->configs[0]);
    open.shape = 1;
    holds(&open, "best at        odd\n");
}

static void an_interval_is_stated(void **state)
{
    struct open open = open_report(report_fixture(*state));
    char *text;

    assert_int_equal(make(&open), 0);
    open.export->winner.low_s = 0.00079;
    open.export->winner.high_s = 0.00082;
    text = text_of(&open, HEADER);
    assert_non_null(strstr(text, "interval       790.000 to 820.000 us\n"));
    free(text);
    text = text_of(&open, JSON);
    assert_non_null(strstr(text, "\"interval_s\": [\n    0.00079,"));
    free(text);
    close_all(&open);
}

static void a_comment_cannot_be_ended_from_outside(void **state)
{
    struct open open = open_report(report_fixture(*state));

    free(open.report->arch);
    open.report->arch = mem_strdup("*/ /* x");
    holds(&open, "-arch=* / / * x\n");
}

static void refused(struct open *open, const char *text)
{
    assert_int_equal(make(open), ERR_INPUT);
    if (!strstr(open->err.text, text))
        fail_msg("no '%s' in '%s'", text, open->err.text);
    close_all(open);
}

static void two_macros_of_one_name_are_refused(void **state)
{
    struct open open = open_report(report_fixture(*state));

    edit(open.report, "\"launch\"",
         "\"derived\": { \"VECTOR_ADD_VECTOR\": \"1\" }, \"launch\"");
    refused(&open, "would define 'VECTOR_ADD_VECTOR' twice");
}

static void a_launch_that_cannot_be_c_names_its_place(void **state)
{
    struct open open = open_report(report_fixture(*state));

    edit(open.report, "\"N / BLOCK_SIZE\"", "\"ceil(1.0 * N / BLOCK_SIZE)\"");
    refused(&open, "the launch cannot be exported to C: '1.0' is not a whole "
                   "number");
}

static void without_a_valid_time_there_is_no_winner(void **state)
{
    struct open open = open_report(report_fixture_negative(*state));

    assert_int_equal(winner_find(open.report, 0, &open.winner, &open.err),
                     WINNER_NONE);
    assert_string_equal(
        open.err.text,
        "the sweep 'vector_add' has no winner: none of its 5 configurations is "
        "correct for every shape so far; see 'fa-coord report'");
    close_all(&open);
}

static void named(const char *path, const char *which, const char *text)
{
    struct open open = open_report(report_fixture(path));

    assert_int_equal(stored_spec_open(open.report, &open.stored, &open.err), 0);
    if (text) {
        assert_int_equal(winner_named(open.report, &open.stored, which,
                                      &open.winner, &open.err),
                         ERR_INPUT);
        assert_string_equal(open.err.text, text);
    } else {
        assert_int_equal(winner_named(open.report, &open.stored, which,
                                      &open.winner, &open.err),
                         0);
        assert_int_equal(open.winner.config->rank, 2);
    }
    close_all(&open);
}

static void another_configuration_can_be_named(void **state)
{
    named(*state, "f869", NULL);
}

static void a_pending_configuration_can_be_named(void **state)
{
    struct open open = open_report(report_fixture(*state));

    assert_int_equal(stored_spec_open(open.report, &open.stored, &open.err), 0);
    assert_int_equal(winner_named(open.report, &open.stored, "de0a",
                                  &open.winner, &open.err),
                     0);
    assert_string_equal(open.winner.state, "not measured");
    assert_int_equal(open.winner.config->rank, 0);
    close_all(&open);
}

static void a_wrong_configuration_is_refused(void **state)
{
    named(*state, "196b",
          "BLOCK_SIZE=64 VECTOR=true has no valid time: correctness, relative "
          "L2 0.031 of out, 1e-06 allowed; see 'fa-coord explain'");
}

static void an_unknown_configuration_is_refused(void **state)
{
    named(*state, "BLOCK_SIZE=96,VECTOR=true",
          "BLOCK_SIZE=96 VECTOR=true is not a configuration of this sweep: the "
          "sweep has no BLOCK_SIZE=96; it has 64, 128, 256, 512");
}

static void a_gated_configuration_is_refused(void **state)
{
    named(*state, "BLOCK_SIZE=2048,VECTOR=true",
          "gate 'threads' rejects BLOCK_SIZE=2048 VECTOR=true");
}

static void is_prefix(const char *sweep, const char *expected)
{
    char *prefix = export_prefix(sweep);

    assert_string_equal(prefix, expected);
    free(prefix);
}

static void a_prefix_is_a_name_that_c_leaves_to_programs(void **state)
{
    (void)state;
    is_prefix("flash-attention", "FLASH_ATTENTION");
    is_prefix("a--b_", "A_B");
    is_prefix("3d", "FA_3D");
    is_prefix("_x", "FA_X");
    is_prefix("-", "FA");
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_header_has_parameters_launch_and_origin),
        TEST(the_json_has_the_same_facts),
        TEST(the_flags_are_one_line),
        TEST(a_fact_of_the_launch_can_be_another_gpus),
        TEST(a_derived_text_is_quoted_and_named),
        TEST(another_shape_has_another_winner),
        TEST(an_interval_is_stated),
        TEST(a_comment_cannot_be_ended_from_outside),
        TEST(two_macros_of_one_name_are_refused),
        TEST(a_launch_that_cannot_be_c_names_its_place),
        TEST(without_a_valid_time_there_is_no_winner),
        TEST(another_configuration_can_be_named),
        TEST(a_pending_configuration_can_be_named),
        TEST(a_wrong_configuration_is_refused),
        TEST(an_unknown_configuration_is_refused),
        TEST(a_gated_configuration_is_refused),
        cmocka_unit_test(a_prefix_is_a_name_that_c_leaves_to_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
