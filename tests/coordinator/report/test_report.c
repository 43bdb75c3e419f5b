#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/report/report_sections.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_where.h"
#include "coordinator/result/stored_spec.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

typedef void render(const struct report_view *view, FILE *to);

static void check(struct store *store, render *print, size_t top,
                  const char *golden)
{
    struct report_view view = { .top = top };
    struct report *report;
    struct report_cost *cost = NULL;
    struct conclusion *conclusion = NULL;
    struct err err = { "" };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (report_load(store, &report, &err) < 0 ||
        stored_spec_metrics(report, &err) < 0 ||
        report_cost_load(store, &cost, &err) < 0 ||
        conclusion_load(store, report, cost, CONFIRMATION_CONFIRM, &conclusion,
                        &err) < 0)
        fail_msg("%s", err.text);
    view.report = report;
    view.cost = cost;
    view.conclusion = conclusion;
    print(&view, to);
    fclose(to);
    assert_null(strchr(text, '\033'));
    golden_check(golden, text);
    free(text);
    conclusion_free(conclusion);
    report_free(report);
    report_cost_free(cost);
    store_close(store);
}

static void print_json(const struct report_view *view, FILE *to)
{
    struct err err;

    assert_int_equal(report_json(view, to, &err), 0);
}

static void print_csv(const struct report_view *view, FILE *to)
{
    struct err err;

    assert_int_equal(report_csv(view, to, &err), 0);
}

static void the_table_ranks_and_groups_failures(void **state)
{
    check(report_fixture(*state), report_table, 0, "report.txt");
}

static void a_report_says_its_verdicts_first_and_shows_them_later(void **state)
{
    struct scene s = { .n_gpus = 2,
                       .times = { 1, 0.8, 0.9 },
                       .odd = { 1, 1.1, 0.85 } };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    report_table(&(struct report_view){ .report = s.report,
                                        .cost = s.cost,
                                        .conclusion = s.conclusion },
                 to);
    fclose(to);
    golden_check("report_verdict.txt", text);
    free(text);
    scene_close(&s);
}

/* Print a fixture's confirmation as on a screen of so many columns. */
static void check_summary(const char *path, const char *columns,
                          const char *golden)
{
    struct scene s = { .n_gpus = 2,
                       .times = { 1, 0.8, 0.9 },
                       .odd = { 1, 1.1, 0.85 } };
    FILE *to = tmpfile();
    char text[8192];
    size_t len;

    setenv("COLUMNS", columns, 1);
    scene_begin(&s, path, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    report_summary(&(struct report_view){ .report = s.report,
                                          .cost = s.cost,
                                          .conclusion = s.conclusion },
                   to);
    rewind(to);
    len = fread(text, 1, sizeof(text) - 1, to);
    text[len] = '\0';
    fclose(to);
    golden_check(golden, text);
    scene_close(&s);
}

static void a_summary_fits_80_columns(void **state)
{
    check_summary(*state, "80", "report_summary_80.txt");
}

static void a_summary_fits_40_columns(void **state)
{
    check_summary(*state, "40", "report_summary_40.txt");
}

static void a_summary_without_a_confirmation_says_so(void **state)
{
    check(report_fixture(*state), report_summary, 0,
          "report_summary_screened.txt");
}

static void a_summary_of_failures_has_no_ranking(void **state)
{
    check(report_fixture_negative(*state), report_summary, 0,
          "report_summary_negative.txt");
}

static void sections_are_chosen_by_name(void **state)
{
    struct err err = { "" };
    report_sections_set set = 0;
    char *names;

    (void)state;
    assert_int_equal(report_sections_parse("gates,cost", &set, &err), 0);
    names = report_sections_names(set);
    assert_string_equal(names, "gates, cost");
    free(names);
    assert_int_equal(report_sections_parse("all", &set, &err), 0);
    assert_true(set == REPORT_SECTIONS_ALL);
}

static void an_unknown_section_is_refused(void **state)
{
    struct err err = { "" };
    report_sections_set set = 0;

    (void)state;
    assert_int_equal(report_sections_parse("gates,lesons", &set, &err),
                     ERR_INPUT);
    assert_string_equal(err.text,
                        "--show: there is no section 'lesons'; did you mean "
                        "'lessons'? there are ranking, confirmation, gpus, "
                        "floors, profiles, failures, lessons, gates, cost, "
                        "all");
    assert_int_equal(report_sections_parse("", &set, &err), ERR_INPUT);
    assert_int_equal(report_sections_parse("gates,", &set, &err), ERR_INPUT);
}

static void the_baseline_is_shown_below_the_top(void **state)
{
    check(report_fixture(*state), report_table, 1, "report_top1.txt");
}

static void a_sweep_without_a_winner_is_written_in_full(void **state)
{
    check(report_fixture_negative(*state), report_table, 0,
          "report_negative.txt");
}

static void rooflines(const struct report_view *view, FILE *to)
{
    report_roofline_table(view->report, to);
}

static void the_floors_are_shown_for_the_fastest_and_the_baseline(void **state)
{
    check(report_fixture(*state), rooflines, 0, "report_roofline.txt");
}

static void the_json_has_every_sample(void **state)
{
    check(report_fixture(*state), print_json, 0, "report.json");
}

static void the_csv_has_a_row_a_configuration_and_shape(void **state)
{
    check(report_fixture(*state), print_csv, 0, "report.csv");
}

static void the_cost_says_unpriced_and_never_0(void **state)
{
    check(report_fixture(*state), report_cost_table, 0, "report_cost.txt");
}

/* Half an hour of one host, and the proof 36 seconds more. */
static void where_no_host_has_a_price_there_are_no_dollars(void **state)
{
    struct report_cost_host host = { .name = (char *)"gpu1",
                                     .rate_usd_per_h = (double)NAN,
                                     .total_hours = 0.5,
                                     .usd = (double)NAN };
    const struct report_cost cost = { .hosts = &host,
                                      .n_hosts = 1,
                                      .unpriced = 1,
                                      .total_hours = 0.5,
                                      .total_usd = (double)NAN };
    const struct report report = { .n_configs = 10, .counts.tally.tried = 10 };
    const struct conclusion conclusion = {
        .confirmation = { .proof = { 0.01, (double)NAN } }
    };
    const struct report_view view = { .report = &report,
                                      .cost = &cost,
                                      .conclusion = &conclusion };
    size_t len;
    char *text;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    report_cost_table(&view, to);
    fclose(to);
    assert_null(strchr(text, '$'));
    assert_non_null(
        strstr(text, "no host has a price (rate=USD-PER-HOUR in hosts.txt)\n"
                     "checking the finalists at the fuzz shapes took another "
                     "0.0100 h\n\n"
                     "per configuration tried (10): 180 s\n"));
    free(text);
}

static void a_database_without_a_sweep_says_so(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct report *report;
    struct err err;

    assert_int_equal(report_load(store, &report, &err), ERR_INPUT);
    assert_null(report);
    assert_non_null(strstr(err.text, "sweep.db holds no sweep yet"));
    store_close(store);
}

static void results_of_older_sources_are_counted_and_not_ranked(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct store_config config = {
        REPORT_BASELINE, 1, 0, true, "{}", "[]", "new"
    };
    struct err err;

    assert_int_equal(store_config_put(store, &config, &err), 0);
    assert_int_equal(report_load(store, &report, &err), 0);
    assert_int_equal(report->counts.stale, 2);
    assert_int_equal(report->counts.outcomes[OUTCOME_PENDING], 2);
    assert_int_equal(report->configs[0].rank, 1);
    assert_int_equal(report->configs[1].rank, 0);
    report_free(report);
    store_close(store);
}

static void of_two_ways_to_measure_a_shape_the_newest_counts(void **state)
{
    struct store *store = report_fixture(*state);
    struct store_outcome newer = { REPORT_FASTER, "odd",       "5c",
                                   "3f",          "correct",   "",
                                   NULL,          (double)NAN, 1,
                                   INT64_MAX };
    struct report *report;
    struct err err;

    assert_int_equal(store_outcome_put(store, &newer, &err), 1);
    assert_int_equal(report_load(store, &report, &err), 0);
    assert_int_equal(report->counts.stale, 4); /* of 'odd' */
    for (size_t i = 0; i < report->n_configs; i++)
        assert_int_equal(report->configs[i].cells[1].outcome,
                         strcmp(report->configs[i].key, REPORT_FASTER) == 0
                             ? OUTCOME_CORRECT
                             : OUTCOME_PENDING);
    report_free(report);
    store_close(store);
}

static void a_build_that_fails_is_the_evidence_for_all_shapes(void **state)
{
    static const char key[] = REPORT_PENDING;
    struct store *store = report_fixture(*state);
    struct store_build build = fixture_build("b4", key);
    struct report *report;
    struct err err;

    build.epoch = REPORT_FIXTURE_EPOCH;
    build.outcome = "compile";
    build.registers = 40;
    assert_int_equal(store_build_put(store, &build, &err), 1);
    for (int shape = 0; shape < 2; shape++) {
        struct store_outcome outcome = { key,       shape ? "odd" : "n16m",
                                         "5c",      "3e",
                                         "compile", "no",
                                         "b4",      (double)NAN,
                                         1,         1 };

        assert_int_equal(store_outcome_put(store, &outcome, &err), 1);
    }
    assert_int_equal(report_load(store, &report, &err), 0);
    for (int shape = 0; shape < 2; shape++) {
        const struct report_cell *cell =
            &report_find(report, key)->cells[shape];

        assert_int_equal(cell->outcome, OUTCOME_COMPILE);
        assert_string_equal(cell->host, "gpu1");
        assert_int_equal(cell->registers, 40);
    }
    report_free(report);
    store_close(store);
}

static void outcomes_alone_give_the_progress(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *whole, *outcomes;
    struct err err;

    assert_int_equal(report_load(store, &whole, &err), 0);
    assert_int_equal(report_load_outcomes(store, &outcomes, &err), 0);
    assert_memory_equal(outcomes->counts.outcomes, whole->counts.outcomes,
                        sizeof(whole->counts.outcomes));
    assert_int_equal(outcomes->n_configs, whole->n_configs);
    assert_int_equal(outcomes->n_shapes, whole->n_shapes);
    assert_string_equal(outcomes->sweep.ending, whole->sweep.ending);
    assert_int_equal(outcomes->counts.stale, whole->counts.stale);
    for (size_t i = 0; i < outcomes->n_configs; i++) {
        const struct report_config *config = &outcomes->configs[i];

        assert_int_equal(config->outcome,
                         report_find(whole, config->key)->outcome);
        assert_int_equal(config->rank, 0);
    }
    report_free(whole);
    report_free(outcomes);
    store_close(store);
}

static void where_selects_by_tunable_and_time(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct err err;

    assert_int_equal(report_load(store, &report, &err), 0);
    assert_int_equal(
        report_where(report, "VECTOR AND median_s < 0.001 AND rank", &err), 0);
    assert_true(report->configs[0].selected);
    for (size_t i = 1; i < report->n_configs; i++)
        assert_false(report->configs[i].selected);
    report_free(report);
    store_close(store);
}

static void where_takes_unknown_registers_for_null(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct err err;

    assert_int_equal(report_load(store, &report, &err), 0);
    report->configs[0].cells[0].registers = -1;
    report->configs[0].cells[0].spill_bytes = 0;
    assert_int_equal(report_where(report, "registers < 64", &err), 0);
    assert_false(report->configs[0].selected);
    assert_int_equal(
        report_where(report, "registers IS NULL AND spill_bytes = 0", &err), 0);
    assert_true(report->configs[0].selected);
    report_free(report);
    store_close(store);
}

static void where_names_what_is_wrong_with_the_condition(void **state)
{
    static const struct {
        const char *condition, *flaw;
    } rows[] = {
        { "medain_s < 1",
          "no such column: medain_s; did you mean 'median_s'?" },
        { "VECTOR >", "something is missing at its end" },
        { "VECTOR AND (median_s < 1", "something is missing at its end" },
        { " ", "something is missing at its end" },
        { "VECTOR)", "near \")\": syntax error" },
        { "outcome = 'x", "unrecognized token: \"'x\"" },
        { "1; DROP TABLE x", "more than one statement" },
        { "1 LIMIT 2", "near \"LIMIT\": syntax error" },
        { "foo(1)", "no such function: foo" },
    };
    struct store *store = report_fixture(*state);
    struct report *report;
    struct err err;

    assert_int_equal(report_load(store, &report, &err), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char wanted[200];

        snprintf(wanted, sizeof(wanted), "--where '%s': %s", rows[i].condition,
                 rows[i].flaw);
        assert_int_equal(report_where(report, rows[i].condition, &err),
                         ERR_INPUT);
        assert_string_equal(err.text, wanted);
    }
    assert_int_equal(report_where(report, "BLOK = 1", &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "no such column: BLOK; the columns are "));
    assert_non_null(strstr(err.text, " VECTOR"));
    assert_non_null(strstr(err.text, " median_s "));
    report_free(report);
    store_close(store);
}

static void where_names_a_text_that_nothing_has(void **state)
{
    static const struct {
        const char *condition, *remark;
    } cases[] = {
        { "outcome = 'correct'", "" }, /* it selects some */
        { "outcome = 'crash'", "" },   /* a word, though none crashed */
        { "outcome = 'corect'",
          "--where: no configuration has 'corect'; did you mean 'correct'?" },
        { "registers < 0 OR reason = 'thraeds'",
          "--where: no configuration has 'thraeds'; did you mean 'threads'?" },
        { "host LIKE '%correc%'", "" },
        { "outcome = 'Bundesverfassungsgericht'", "" },
    };
    struct store *store = report_fixture(*state);
    struct report *report;
    struct err err;

    assert_int_equal(report_load(store, &report, &err), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err remark;

        assert_int_equal(report_where(report, cases[i].condition, &err), 0);
        report_where_remark(report, cases[i].condition, &remark);
        assert_string_equal(remark.text, cases[i].remark);
    }
    report_free(report);
    store_close(store);
}

static char *printed(const struct report_view *view, render *print)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    print(view, to);
    fclose(to);
    return text;
}

static void where_that_selects_nothing_says_so_instead_of_a_table(void **state)
{
    struct store *store = report_fixture(*state);
    struct conclusion conclusion = { .state = CONCLUSION_NONE };
    struct report_view view = { .conclusion = &conclusion };
    struct report *report;
    struct err err;
    char *text;

    assert_int_equal(report_load(store, &report, &err), 0);
    assert_int_equal(report_where(report, "BLOCK_SIZE = 999", &err), 0);
    view.report = report;
    text = printed(&view, report_ranking_print);
    assert_string_equal(text, "\nNo configuration that --where selects has a "
                              "correct result and a time.\n");
    free(text);
    report_free(report);
    store_close(store);
}

static void print_counts(const struct report_view *view, FILE *to)
{
    report_head_counts(view->report, to);
}

/* A device that cannot launch one, or a record that calls it invalid, is no
 * gate. */
static void constraints_of_gates_and_of_devices_are_apart(void **state)
{
    const struct report report = {
        .counts = { .configurations = 9,
                    .passed = 6,
                    .outcomes = { [OUTCOME_CORRECT] = 4,
                                  [OUTCOME_CONSTRAINTS] = 5 } },
    };
    const struct report_view view = { .report = &report };
    char *text = printed(&view, print_counts);

    (void)state;
    assert_non_null(strstr(text, "rejected by gates               3\n"
                                 "constraints                     2\n"));
    free(text);
}

static void nobody_searched_an_import(void **state)
{
    const struct report report = {
        .search = { .method = (char *)"", .effort = "normal", .headline = true }
    };
    char *text = report_head_strategy(&report);

    (void)state;
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_table_ranks_and_groups_failures),
        TEST(a_report_says_its_verdicts_first_and_shows_them_later),
        TEST(a_summary_fits_80_columns),
        TEST(a_summary_fits_40_columns),
        TEST(a_summary_without_a_confirmation_says_so),
        TEST(a_summary_of_failures_has_no_ranking),
        TEST(sections_are_chosen_by_name),
        TEST(an_unknown_section_is_refused),
        TEST(the_baseline_is_shown_below_the_top),
        TEST(a_sweep_without_a_winner_is_written_in_full),
        TEST(the_floors_are_shown_for_the_fastest_and_the_baseline),
        TEST(the_json_has_every_sample),
        TEST(the_csv_has_a_row_a_configuration_and_shape),
        TEST(the_cost_says_unpriced_and_never_0),
        TEST(where_no_host_has_a_price_there_are_no_dollars),
        TEST(a_database_without_a_sweep_says_so),
        TEST(results_of_older_sources_are_counted_and_not_ranked),
        TEST(of_two_ways_to_measure_a_shape_the_newest_counts),
        TEST(a_build_that_fails_is_the_evidence_for_all_shapes),
        TEST(outcomes_alone_give_the_progress),
        TEST(where_selects_by_tunable_and_time),
        TEST(where_takes_unknown_registers_for_null),
        TEST(where_names_what_is_wrong_with_the_condition),
        TEST(where_names_a_text_that_nothing_has),
        TEST(where_that_selects_nothing_says_so_instead_of_a_table),
        cmocka_unit_test(constraints_of_gates_and_of_devices_are_apart),
        cmocka_unit_test(nobody_searched_an_import),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
