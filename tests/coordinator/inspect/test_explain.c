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
#include "coordinator/inspect/explain.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

struct open {
    struct store *store;
    struct report *report;
    struct stored_spec stored;
};

static struct open open_all(const char *path)
{
    struct open open = { .store = report_fixture(path) };
    struct err err = { "" };

    if (report_load(open.store, &open.report, &err) < 0 ||
        stored_spec_open(open.report, &open.stored, &err) < 0)
        fail_msg("%s", err.text);
    return open;
}

static void close_all(struct open *open)
{
    stored_spec_close(&open->stored);
    report_free(open->report);
    store_close(open->store);
}

static void explained(const char *path, const char *which, bool json,
                      const char *golden)
{
    struct open open = open_all(path);
    struct explain explain;
    struct err err = { "" };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (explain_find(open.report, &open.stored, which, &explain, &err) < 0 ||
        explain_print(&explain, open.report, &open.stored, open.store, json, to,
                      &err) < 0)
        fail_msg("%s", err.text);
    fclose(to);
    golden_check(golden, text);
    free(text);
    explain_fini(&explain);
    close_all(&open);
}

static void refused(const char *path, const char *which, const char *text)
{
    struct open open = open_all(path);
    struct explain explain;
    struct err err = { "" };

    assert_int_equal(
        explain_find(open.report, &open.stored, which, &explain, &err),
        ERR_INPUT);
    assert_string_equal(err.text, text);
    close_all(&open);
}

static void a_ranked_one_shows_its_results(void **state)
{
    explained(*state, "21e7", false, "explain_ranked.txt");
}

static void a_failed_one_shows_why(void **state)
{
    explained(*state, "196b", false, "explain_failed.txt");
}

static void a_gated_one_names_its_gate(void **state)
{
    explained(*state, "BLOCK_SIZE=2048,VECTOR=true", false,
              "explain_gated.txt");
}

static void the_json_has_every_row(void **state)
{
    explained(*state, "21e7", true, "explain.json");
}

static void an_unknown_or_short_key_is_refused(void **state)
{
    refused(*state, "ff00",
            "no configuration of this sweep has a key that begins with "
            "'ff00'");
}

static void a_key_of_several_is_refused(void **state)
{
    refused(*state, "",
            "5 configurations have keys that begin with ''; give more digits");
}

static void the_metrics_of_the_sweep_file_are_evaluated(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct err err = { "" };

    assert_int_equal(report_load(store, &report, &err), 0);
    if (stored_spec_metrics(report, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(report->n_metrics, 1);
    assert_string_equal(report->metrics[0].unit, "GB/s");
    /* 12 bytes x 16777216 elements in 0.8 ms */
    assert_float_equal(report->configs[0].cells[0].metrics[0], 251.65824, 1e-5);
    assert_true(isnan(report->configs[4].cells[0].metrics[0]));
    report_free(report);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_ranked_one_shows_its_results),
        TEST(a_failed_one_shows_why),
        TEST(a_gated_one_names_its_gate),
        TEST(the_json_has_every_row),
        TEST(an_unknown_or_short_key_is_refused),
        TEST(a_key_of_several_is_refused),
        TEST(the_metrics_of_the_sweep_file_are_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
