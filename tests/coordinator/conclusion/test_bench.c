#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/conclusion/bench.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/result/report.h"

/* Three shapes: the ranking is by the first one, and each of the others has a
 * different fastest configuration. */
static struct report_cell cells[4][3] = {
    { { .time_s = 1.0 }, { .time_s = 3.0 }, { .time_s = 2.0 } },
    { { .time_s = 1.1 }, { .time_s = 1.0 }, { .time_s = 1.5 } },
    { { .time_s = 1.2 }, { .time_s = 2.0 }, { .time_s = 1.0 } },
    { { .time_s = 1.3 }, { .time_s = 4.0 }, { .time_s = 4.0 } },
};

enum {
    FIRST,
    SECOND,
    THIRD,
    BASELINE
};

struct scene {
    struct report report;
    struct report_config configs[4];
    struct report_shape shapes[3];
    struct conclusion verdict;
    struct conclusion_entry entries[4];
    struct conclusion_shape judged[3];
    struct finding findings[3][4];
    struct bench bench;
    struct err err;
};

/* A sweep whose baseline is the last of four, not confirmed. */
static void set(struct scene *s)
{
    static const char *const names[] = { "s", "t", "u" };

    *s = (struct scene){ .verdict = { .best = BEST_SET_NONE } };
    for (int i = 0; i < 4; i++) {
        s->configs[i] = (struct report_config){ .rank = i + 1,
                                                .baseline = i == BASELINE,
                                                .cells = cells[i] };
        memset(s->configs[i].key, "1234"[i], HASH_HEX - 1);
    }
    for (int i = 0; i < 3; i++)
        s->shapes[i].name = (char *)names[i];
    s->report = (struct report){ .name = (char *)"x",
                                 .search.objective = (char *)"headline",
                                 .shapes = s->shapes,
                                 .n_shapes = 3,
                                 .configs = s->configs,
                                 .n_configs = 4 };
}

/* The baseline is entry 0, and the others follow in order.  'best' has
 * entries. */
static void confirm(struct scene *s, const size_t best[3])
{
    static const int order[] = { BASELINE, FIRST, SECOND, THIRD };

    for (int i = 0; i < 4; i++)
        s->entries[i].config = &s->configs[order[i]];
    for (int i = 0; i < 3; i++) {
        s->judged[i] = (struct conclusion_shape){ .name = s->shapes[i].name,
                                                  .findings = s->findings[i],
                                                  .best = best[i] };
        s->findings[i][best[i]].verdict = VERDICT_FAST;
    }
    s->verdict = (struct conclusion){ .state = CONCLUSION_DONE,
                                      .entries = s->entries,
                                      .n = 4,
                                      .shapes = s->judged,
                                      .n_shapes = 3,
                                      .best = best[0] };
}

static int choose(struct scene *s, const char *const *shapes, size_t n)
{
    return bench_choose(&s->report, &s->verdict, shapes, n, &s->bench, &s->err);
}

static void assert_name(const struct scene *s, int config, const char *name)
{
    char *is = bench_name(&s->bench, &s->configs[config]);

    assert_string_equal(is, name);
    free(is);
}

static void each_shape_has_its_own_winner(void **state)
{
    const char *const shapes[] = { "s", "t", "u" };
    struct confirmation confirmation = { 0 };
    struct scene s;

    (void)state;
    set(&s);
    confirm(&s, (size_t[]){ 1, 2, 2 });
    assert_int_equal(choose(&s, shapes, 3), 0);
    assert_name(&s, BASELINE, "baseline");
    assert_name(&s, FIRST, "best at s");
    assert_name(&s, SECOND, "best at t, u");
    assert_string_equal(bench_state(&s.bench, &s.configs[SECOND]), "confirmed");
    assert_null(bench_state(&s.bench, &s.configs[BASELINE]));
    bench_enter(&s.bench, &confirmation);
    assert_int_equal(confirmation.n, 3);
    assert_string_equal(confirmation.candidates[0].key,
                        s.configs[BASELINE].key);
    assert_string_equal(confirmation.candidates[1].key, s.configs[FIRST].key);
    assert_string_equal(confirmation.candidates[2].key, s.configs[SECOND].key);
    confirmation_fini(&confirmation);
    bench_fini(&s.bench);
}

static void the_headlines_winner_is_compared_at_another_shape_too(void **state)
{
    const char *const shapes[] = { "u" };
    struct scene s;

    (void)state;
    set(&s);
    confirm(&s, (size_t[]){ 1, 2, 3 });
    assert_int_equal(choose(&s, shapes, 1), 0);
    assert_ptr_equal(s.bench.headline.config, &s.configs[FIRST]);
    assert_name(&s, FIRST, "best at s");
    assert_name(&s, THIRD, "best at u");
    assert_ptr_equal(bench_own(&s.bench, "u")->config, &s.configs[THIRD]);
    assert_null(bench_own(&s.bench, "t"));
    bench_fini(&s.bench);
}

/* At t nothing was shown to beat the baseline. */
static void a_shape_won_by_the_baseline_has_no_winner_of_its_own(void **state)
{
    const char *const shapes[] = { "s", "t" };
    struct scene s;

    (void)state;
    set(&s);
    confirm(&s, (size_t[]){ 1, 2, 2 });
    s.findings[1][2].verdict = VERDICT_SAME;
    assert_int_equal(choose(&s, shapes, 2), 0);
    assert_null(bench_own(&s.bench, "t"));
    assert_ptr_equal(bench_own(&s.bench, "s")->config, &s.configs[FIRST]);
    bench_fini(&s.bench);
}

static void where_nothing_won_the_best_finalist_is_compared(void **state)
{
    const char *const shapes[] = { "s" };
    struct scene s;

    (void)state;
    set(&s);
    confirm(&s, (size_t[]){ 3, 3, 3 });
    s.findings[0][3].verdict = VERDICT_AMBG;
    assert_int_equal(choose(&s, shapes, 1), 0);
    assert_ptr_equal(s.bench.headline.config, &s.configs[THIRD]);
    assert_string_equal(s.bench.headline.state,
                        "not shown to beat the baseline");
    assert_name(&s, THIRD, "best at s");
    assert_null(bench_own(&s.bench, "s"));
    bench_fini(&s.bench);
}

static void without_a_verdict_the_ranking_decides(void **state)
{
    const char *const shapes[] = { "t", "s", "new" };
    struct scene s;

    (void)state;
    set(&s);
    assert_int_equal(choose(&s, shapes, 3), 0);
    assert_name(&s, FIRST, "best at s");
    assert_name(&s, SECOND, "best at t");
    assert_string_equal(bench_state(&s.bench, &s.configs[SECOND]),
                        "measured, not confirmed");
    assert_null(bench_own(&s.bench, "new"));
    bench_fini(&s.bench);
}

/* They have no rank in the report. */
static void refuted_configurations_are_not_compared(void **state)
{
    const char *const shapes[] = { "s", "t" };
    struct scene s;

    (void)state;
    set(&s);
    s.configs[SECOND] = s.configs[THIRD];
    s.configs[SECOND].rank = 2;
    s.configs[THIRD] = s.configs[BASELINE];
    s.configs[THIRD].rank = 3;
    s.report.n_configs = 3;
    assert_int_equal(choose(&s, shapes, 2), 0);
    assert_ptr_equal(bench_own(&s.bench, "t")->config, &s.configs[SECOND]);
    bench_fini(&s.bench);
}

static void a_named_configuration_is_added_once(void **state)
{
    const char *const shapes[] = { "s" };
    struct confirmation confirmation = { 0 };
    struct scene s;

    (void)state;
    set(&s);
    confirm(&s, (size_t[]){ 1, 2, 2 });
    assert_int_equal(choose(&s, shapes, 1), 0);
    bench_add(&s.bench, &s.configs[THIRD]);
    bench_add(&s.bench, &s.configs[FIRST]);
    bench_add(&s.bench, &s.configs[BASELINE]);
    bench_add(&s.bench, &s.configs[THIRD]);
    bench_enter(&s.bench, &confirmation);
    assert_int_equal(confirmation.n, 3);
    assert_string_equal(confirmation.candidates[2].key, s.configs[THIRD].key);
    assert_name(&s, THIRD, "33333333");
    assert_name(&s, FIRST, "best at s");
    assert_name(&s, BASELINE, "baseline");
    assert_string_equal(bench_state(&s.bench, &s.configs[THIRD]), "named");
    assert_string_equal(bench_state(&s.bench, &s.configs[FIRST]), "confirmed");
    confirmation_fini(&confirmation);
    bench_fini(&s.bench);
}

static void a_bench_needs_more_than_the_baseline(void **state)
{
    const char *const shapes[] = { "s" };
    struct scene s;

    (void)state;
    set(&s);
    s.report.configs = &s.configs[BASELINE];
    s.report.n_configs = 1;
    assert_int_equal(choose(&s, shapes, 1), ERR_INPUT);
    assert_string_equal(
        s.err.text,
        "there are no two configurations to compare: only the baseline is "
        "correct for every shape; see 'fa-coord report'");
    s.configs[BASELINE].rank = 0;
    assert_int_equal(choose(&s, shapes, 1), ERR_INPUT);
    assert_non_null(strstr(s.err.text, "the baseline has no valid time"));
}

/* The geometric means are 1.82, 1.18 and 1.34. */
static void the_winner_is_that_of_the_objective(void **state)
{
    struct scene s;
    static const char *const shapes[] = { "s" };

    (void)state;
    set(&s);
    s.report.search.objective = (char *)"geomean";
    assert_int_equal(choose(&s, shapes, 1), 0);
    assert_ptr_equal(s.bench.headline.config, &s.configs[SECOND]);
    assert_string_equal(s.bench.headline.shape, "geomean");
    assert_name(&s, SECOND, "best at geomean");
    bench_fini(&s.bench);
    s.report.search.objective = (char *)"u";
    assert_int_equal(choose(&s, shapes, 1), 0);
    assert_ptr_equal(s.bench.headline.config, &s.configs[THIRD]);
    bench_fini(&s.bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_winner_is_that_of_the_objective),
        cmocka_unit_test(each_shape_has_its_own_winner),
        cmocka_unit_test(the_headlines_winner_is_compared_at_another_shape_too),
        cmocka_unit_test(a_shape_won_by_the_baseline_has_no_winner_of_its_own),
        cmocka_unit_test(where_nothing_won_the_best_finalist_is_compared),
        cmocka_unit_test(without_a_verdict_the_ranking_decides),
        cmocka_unit_test(refuted_configurations_are_not_compared),
        cmocka_unit_test(a_named_configuration_is_added_once),
        cmocka_unit_test(a_bench_needs_more_than_the_baseline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
