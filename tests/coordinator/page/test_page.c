#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/page/page.h"
#include "coordinator/page/page_data.h"
#include "coordinator/page/page_history.h"
#include "coordinator/page/page_plot.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/stored_spec.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

typedef void render(const struct report_view *view,
                    const struct page_history *history, FILE *to);

static char *written(struct store *store, render *render_one, size_t selected)
{
    struct report *report;
    struct report_cost *cost = NULL;
    struct conclusion *conclusion = NULL;
    struct page_history history;
    struct err err = { "" };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (report_load(store, &report, &err) < 0 ||
        stored_spec_metrics(report, &err) < 0 ||
        report_cost_load(store, &cost, &err) < 0 ||
        conclusion_load(store, report, cost, CONFIRMATION_CONFIRM, &conclusion,
                        &err) < 0 ||
        page_history_load(store, report, &history, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = selected; i < report->n_configs; i++)
        report->configs[i].selected = false;
    render_one(&(struct report_view){ .report = report,
                                      .cost = cost,
                                      .conclusion = conclusion },
               &history, to);
    fclose(to);
    page_history_fini(&history);
    conclusion_free(conclusion);
    report_cost_free(cost);
    report_free(report);
    store_close(store);
    return text;
}

static int count(const char *text, const char *what)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void the_data_have_a_column_for_each_figure(void **state)
{
    char *text = written(report_fixture(*state), page_data_json, 5);
    char *configs = strstr(text, "\"configs\"");
    char *end = strstr(text, "\"verdict\"");

    assert_non_null(configs);
    assert_non_null(end);
    *end = '\0';
    golden_check("page_configs.txt", configs);
    free(text);
}

static void ranks_stand_there_when_some_are_left_out(void **state)
{
    char *text = written(report_fixture(*state), page_data_json, 2);

    assert_non_null(strstr(text, "\"n\": 2,\n    \"ranked\": 2,"));
    assert_non_null(strstr(text, "\"rank\": [1,2]"));
    free(text);
}

static void put_plot(const struct report_view *view,
                     const struct page_history *history, FILE *to)
{
    (void)history;
    page_plot_ranking(view->report, view->conclusion, to);
}

static void the_plot_has_a_dot_for_each_ranked_configuration(void **state)
{
    char *text = written(report_fixture(*state), put_plot, 5);

    assert_int_equal(count(text, "<circle"), 2);
    assert_int_equal(count(text, "class=\"base\""), 1);
    assert_non_null(strstr(text, "BLOCK_SIZE=128 VECTOR=true"));
    assert_null(strstr(text, "nan"));
    assert_int_equal(count(text, "<g"), count(text, "</g>"));
    free(text);
}

static void without_a_time_there_is_no_plot(void **state)
{
    char *text = written(report_fixture_negative(*state), put_plot, 5);

    assert_string_equal(text, "");
    free(text);
}

static void confirmed_intervals_are_in_the_plot(void **state)
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
    page_plot_ranking(s.report, s.conclusion, to);
    fclose(to);
    assert_true(count(text, "class=\"confirmed\"") >= 2);
    free(text);
    scene_close(&s);
}

static void put_page(const struct report_view *view,
                     const struct page_history *history, FILE *to)
{
    page_write(view, history, NULL, to);
}

static void put_live_page(const struct report_view *view,
                          const struct page_history *history, FILE *to)
{
    page_write(view, history, "0123", to);
}

static void only_a_page_that_is_served_may_connect(void **state)
{
    char *text = written(report_fixture(*state), put_live_page, 5);

    assert_int_equal(count(text, "<p id=\"live\" data-version=\"0123\">"), 1);
    assert_int_equal(count(text, "connect-src 'self'"), page_has_pictures());
    free(text);
}

/* With D3 or without, the tables and the plot are there, and what is a script
 * is named in the policy. */
static void a_page_has_tables_whether_or_not_it_has_pictures(void **state)
{
    char *text = written(report_fixture(*state), put_page, 5);
    int scripts = count(text, "<script>");

    assert_non_null(strstr(text, "<svg"));
    assert_non_null(strstr(text, "<table>"));
    assert_int_equal(scripts > 0, page_has_pictures());
    assert_int_equal(count(text, "id=\"data\""), page_has_pictures());
    assert_int_equal(count(text, "built without D3"), !page_has_pictures());
    assert_int_equal(count(text, "'sha256-"), scripts + 1);
    assert_int_equal(count(text, "<p id=\"live\""), 0);
    assert_int_equal(count(text, "connect-src"), 0);
    assert_int_equal(count(text, "</script>"), scripts + page_has_pictures());
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_data_have_a_column_for_each_figure,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            ranks_stand_there_when_some_are_left_out, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(
            the_plot_has_a_dot_for_each_ranked_configuration, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(without_a_time_there_is_no_plot,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(confirmed_intervals_are_in_the_plot,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            a_page_has_tables_whether_or_not_it_has_pictures, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(only_a_page_that_is_served_may_connect,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
