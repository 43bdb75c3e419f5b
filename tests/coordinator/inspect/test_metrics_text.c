#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/inspect/metrics_text.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/status.h"

static struct buf text;

static int open_text(void **state)
{
    (void)state;
    buf_init(&text, METRICS_TEXT_MAX);
    return 0;
}

static int close_text(void **state)
{
    (void)state;
    buf_fini(&text);
    return 0;
}

static void assert_line(const char *line)
{
    if (!strstr(buf_text(&text), line))
        fail_msg("'%s' is not in\n%s", line, buf_text(&text));
}

static void hours_become_seconds_and_words_labels(void **state)
{
    char host[] = "h", measuring[] = "measuring";
    struct report report = { .counts.outcomes[OUTCOME_COMPILE] = 3 };
    struct report_cost cost = { .n_hosts = 1,
                                .hours[LEDGER_MEASURING] = 0.5,
                                .proof.held_ns = INT64_C(60000000000),
                                .priced_usd = 1.25 };
    struct status_host hosts[] = { { .name = host, .category = measuring } };
    struct status status = {
        .running = true,
        .done = 2,
        .total = 8,
        .left_s = { 30, 40, 50 },
        .left_usd = { 0.25, 0.5, 1 },
        .hosts = hosts,
        .n_hosts = 1,
    };

    (void)state;
    metrics_text_put(&report, &cost, &status, &text);
    assert_line("# TYPE fa_coord_running gauge\nfa_coord_running 1\n");
    assert_line("\nfa_coord_configurations{outcome=\"compile\"} 3\n");
    assert_line("\nfa_coord_measurements 8\n");
    assert_line("\nfa_coord_measurements_settled 2\n");
    assert_line("\nfa_coord_host_seconds_total{category=\"measuring\"} 1800\n");
    assert_line("\nfa_coord_host_seconds_total{category=\"proof\"} 60\n");
    assert_line("\nfa_coord_cost_dollars_total 1.25\n");
    assert_line("# TYPE fa_coord_left_seconds gauge\n"
                "fa_coord_left_seconds{bound=\"low\"} 30\n"
                "fa_coord_left_seconds{bound=\"likely\"} 40\n"
                "fa_coord_left_seconds{bound=\"high\"} 50\n");
    assert_line("\nfa_coord_left_dollars{bound=\"high\"} 1\n");
    assert_line("\nfa_coord_hosts{state=\"measuring\"} 1\n");
    assert_line("\nfa_coord_hosts{state=\"idle\"} 0\n");
}

static void what_is_not_known_has_no_line(void **state)
{
    struct report report = { .n_configs = 0 };
    struct report_cost cost = { .n_hosts = 1, .unpriced = 1 };
    struct status status = { .running = false,
                             .left_s = { NAN, NAN, NAN },
                             .left_usd = { NAN, NAN, NAN } };

    (void)state;
    metrics_text_put(&report, &cost, &status, &text);
    assert_null(strstr(buf_text(&text), "best_seconds"));
    assert_null(strstr(buf_text(&text), "dollars"));
    assert_null(strstr(buf_text(&text), "left"));
    assert_line("\nfa_coord_unpriced_hosts 1\n");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_text, close_text)
    const struct CMUnitTest tests[] = {
        TEST(hours_become_seconds_and_words_labels),
        TEST(what_is_not_known_has_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
