/* test_report_refuted.c - what a confirmation found wrong is a failure
 * wherever configurations are listed */
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
#include "coordinator/conclusion/winner.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/inspect/explain.h"
#include "coordinator/inspect/landscape_db.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/survey/survey.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define WHY "correctness at the fuzz shape odd17: relative L2 0.5"

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static struct report *report_of(struct store *store)
{
    struct report *report = NULL;
    struct err err = { "" };

    ok(report_load(store, &report, &err), &err);
    return report;
}

/* Another pass, in which the faster one is what 'role' and 'reason' say. */
static void put_pass(struct store *store, const char *source_key,
                     enum confirmation_role role, const char *reason)
{
    struct confirmation pass = { .sweep = 1, .blocks = 1, .samples = 5 };
    struct err err = { "" };

    pass.cut = (double)NAN;
    confirmation_add(&pass, REPORT_BASELINE, CONFIRMATION_BASELINE, "");
    confirmation_add(&pass, REPORT_FASTER, role, reason);
    for (size_t i = 0; i < pass.n; i++)
        strcpy(pass.candidates[i].source_key, source_key);
    ok(confirmation_put(store, &pass, &err), &err);
    ok(store_commit(store, &err), &err);
    confirmation_fini(&pass);
}

static void assert_faster(struct store *store, enum outcome outcome,
                          const char *reason)
{
    bool right = outcome == OUTCOME_CORRECT;
    struct report *report = report_of(store);
    const struct report_config *faster = report_find(report, REPORT_FASTER);
    const struct report_config *baseline = report_baseline(report);

    assert_int_equal(faster->outcome, outcome);
    assert_string_equal(faster->reason, reason);
    assert_int_equal(faster->rank, right ? 1 : 0);
    assert_int_equal(baseline->rank, right ? 2 : 1);
    assert_int_equal(isnan(faster->cells[0].time_s), !right);
    assert_int_equal(report->counts.outcomes[OUTCOME_CORRECT], right ? 2 : 1);
    report_free(report);
}

static void what_the_proof_refuted_has_no_rank_and_no_time(void **state)
{
    struct store *store = report_fixture(*state);

    assert_faster(store, OUTCOME_CORRECT, "");
    put_pass(store, "5c", CONFIRMATION_REJECTED, WHY);
    assert_faster(store, OUTCOME_CORRECTNESS, WHY);
    store_close(store);
}

static void how_it_failed_in_the_proof_is_its_outcome(void **state)
{
    static const char why[] = "timeout at the fuzz shape odd17: after 10 s";
    struct store *store = report_fixture(*state);

    put_pass(store, "5c", CONFIRMATION_REJECTED, why);
    assert_faster(store, OUTCOME_TIMEOUT, why);
    store_close(store);
}

/* Mended sources have results of their own. */
static void what_other_sources_did_does_not_count(void **state)
{
    struct store *store = report_fixture(*state);

    put_pass(store, "0ld", CONFIRMATION_REJECTED, WHY);
    assert_faster(store, OUTCOME_CORRECT, "");
    store_close(store);
}

/* Older versions did not store of which sources it was. */
static void a_pass_without_sources_is_about_what_was_there(void **state)
{
    struct store *store = report_fixture(*state);

    put_pass(store, "", CONFIRMATION_REJECTED, WHY);
    assert_faster(store, OUTCOME_CORRECTNESS, WHY);
    store_close(store);
}

/* It was proved again, with another tolerance perhaps. */
static void the_newest_pass_with_it_decides(void **state)
{
    struct store *store = report_fixture(*state);

    put_pass(store, "5c", CONFIRMATION_REJECTED, WHY);
    put_pass(store, "5c", CONFIRMATION_FINALIST, "");
    assert_faster(store, OUTCOME_CORRECT, "");
    put_pass(store, "5c", CONFIRMATION_FINALIST, WHY);
    assert_faster(store, OUTCOME_CORRECTNESS, WHY);
    store_close(store);
}

/* The coordinator was killed before it stored the reason. */
static void a_wrong_block_refutes_without_a_reason(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.7 } };

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, 2);
    scene_put(&s, 3, 1, "crash");
    scene_end(&s, false);
    assert_faster(s.store, OUTCOME_CRASH, "it was wrong in a block");
    scene_close(&s);
}

static void a_survey_and_a_landscape_say_the_same(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct landscape *landscape;
    struct survey *survey;
    int correct = 0;
    struct err err = { "" };

    put_pass(store, "5c", CONFIRMATION_REJECTED, WHY);
    assert_int_equal(survey_open(store, &survey, &err), 0);
    ok(survey_keep(survey, 1, &err), &err);
    assert_string_equal(survey_report(survey)->configs[0].key, REPORT_BASELINE);
    assert_int_equal(survey_report(survey)->counts.ranked, 1);
    survey_close(survey);

    report = report_of(store);
    ok(landscape_of_report(store, report, 0, &landscape, &err), &err);
    for (int i = 0; i < domain_size(landscape->domain); i++)
        correct += landscape->configs[i].outcome == OUTCOME_CORRECT;
    /* beside the baseline, the one that is wrong at the other shape alone */
    assert_int_equal(correct, 2);
    landscape_free(landscape);
    report_free(report);
    store_close(store);
}

static void explain_says_it_and_no_command_takes_it_for_right(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct stored_spec stored;
    struct explain explain;
    struct winner winner;
    struct err err = { "" };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    put_pass(store, "5c", CONFIRMATION_REJECTED, WHY);
    report = report_of(store);
    ok(stored_spec_open(report, &stored, &err), &err);
    ok(explain_find(report, &stored, "21e7", &explain, &err), &err);
    ok(explain_print(&explain, report, &stored, store, false, to, &err), &err);
    fclose(to);
    assert_non_null(strstr(text, "\nrefuted: " WHY "\n"));
    assert_non_null(
        strstr(text, "  n16m: correct in the sweep, before it was refuted"));
    assert_int_equal(winner_named(report, &stored, "21e7", &winner, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "has no valid time: correctness"));
    free(text);
    explain_fini(&explain);
    stored_spec_close(&stored);
    report_free(report);
    store_close(store);
}

/* A pass may find that it is right after all. */
static void before_any_confirmation_it_is_as_it_was_screened(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report = NULL;
    struct err err = { "" };

    put_pass(store, "5c", CONFIRMATION_REJECTED, WHY);
    ok(report_load_screened(store, &report, &err), &err);
    assert_string_equal(report->configs[0].key, REPORT_FASTER);
    assert_int_equal(report->configs[0].rank, 1);
    report_free(report);
    store_close(store);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_the_proof_refuted_has_no_rank_and_no_time),
        TEST(how_it_failed_in_the_proof_is_its_outcome),
        TEST(what_other_sources_did_does_not_count),
        TEST(a_pass_without_sources_is_about_what_was_there),
        TEST(the_newest_pass_with_it_decides),
        TEST(a_wrong_block_refutes_without_a_reason),
        TEST(a_survey_and_a_landscape_say_the_same),
        TEST(explain_says_it_and_no_command_takes_it_for_right),
        TEST(before_any_confirmation_it_is_as_it_was_screened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
