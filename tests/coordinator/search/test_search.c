#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/model/domain.h"
#include "coordinator/search/objective.h"
#include "coordinator/search/search.h"
#include "coordinator/search/strategy.h"

static struct domain *domain;
static struct search *search;

/* Points 0 .. 8 of one tunable; the baseline is the last but one. */
static void begin(const struct search_options *more)
{
    const struct domain_tunable tunable = { .levels = 9, .ordered = true };
    struct search_options options = *more;

    if (!domain) {
        domain = domain_new(&tunable, 1);
        for (uint16_t i = 0; i < 9; i++)
            domain_add(domain, &i);
    }
    options.domain = domain;
    options.shapes = options.shapes ? options.shapes : 1;
    assert_int_equal(search_new(&options, &search, NULL), 0);
}

static int teardown(void **state)
{
    (void)state;
    search_free(search);
    domain_free(domain);
    search = NULL;
    domain = NULL;
    return 0;
}

/* Ask, and check which unit of which point is wanted. */
static void wanted(int unit, int point, int rung)
{
    struct search_want want;

    assert_int_equal(search_ask(search, &want), STRATEGY_POINT);
    assert_int_equal(want.unit, unit);
    assert_int_equal(search_point(search, unit), point);
    assert_int_equal(want.rung, rung);
    assert_true(search_is_out(search, unit));
}

static void the_baseline_is_wanted_and_never_asked_for(void **state)
{
    struct search_want want;

    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = 1, .evaluations = 4 });
    assert_int_equal(search_units(search), 1);
    assert_true(search_is_out(search, 0));
    wanted(1, 0, 0);
    wanted(2, 2, 0); /* not 1, which is out */
    wanted(3, 3, 0);
    assert_int_equal(search_ask(search, &want), STRATEGY_DONE);
    assert_int_equal(search_out(search), 4);
}

static void a_baseline_outside_counts_as_no_evaluation(void **state)
{
    size_t steps;

    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = -1, .evaluations = 1 });
    assert_true(search_settle(search, 0, 0, STRATEGY_TIMED, 2));
    search_steps(search, &steps);
    assert_int_equal(steps, 0); /* there is nothing to teach */
    wanted(1, 0, 0);
}

static void the_headline_decides_when_all_shapes_are_settled(void **state)
{
    struct strategy_state now;

    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = 7, .shapes = 2 });
    wanted(1, 0, 0);
    assert_false(search_settle(search, 1, 0, STRATEGY_TIMED, 3));
    assert_true(search_is_out(search, 1));
    assert_true(search_settle(search, 1, 1, STRATEGY_TIMED, 5));
    assert_false(search_is_out(search, 1));
    search_state(search, &now);
    assert_int_equal(now.timed, 1);
    assert_true(now.best_time == 3);
}

static void another_shape_decides_when_it_is_the_objective(void **state)
{
    struct strategy_state now;

    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = 7, .shapes = 2, .objective = 1 });
    wanted(1, 0, 0);
    assert_false(search_settle(search, 1, 0, STRATEGY_LOST, 0));
    assert_true(search_settle(search, 1, 1, STRATEGY_TIMED, 5));
    search_state(search, &now);
    assert_true(now.best_time == 5);
    assert_false(search_settle(search, 1, 0, STRATEGY_TIMED, 3));
    assert_true(search_settle(search, 1, 1, STRATEGY_TIMED, 4));
    search_state(search, &now);
    assert_true(now.best_time == 4);
}

/* 2 and 8; then the second one is measured again. */
static void the_geometric_mean_is_told_and_told_again(void **state)
{
    struct strategy_state now;

    (void)state;
    begin(&(struct search_options){ .strategy = "exhaustive",
                                    .baseline = 7,
                                    .shapes = 2,
                                    .objective = OBJECTIVE_ALL });
    wanted(1, 0, 0);
    assert_false(search_settle(search, 1, 1, STRATEGY_TIMED, 8));
    assert_true(search_settle(search, 1, 0, STRATEGY_TIMED, 2));
    search_state(search, &now);
    assert_true(fabs(now.best_time - 4) < 1e-12);
    assert_false(search_settle(search, 1, 1, STRATEGY_TIMED, 8));
    assert_true(search_settle(search, 1, 1, STRATEGY_TIMED, 2));
    search_state(search, &now);
    assert_true(fabs(now.best_time - 2) < 1e-12);
    wanted(2, 1, 0);
    assert_false(search_settle(search, 2, 0, STRATEGY_TIMED, 1));
    assert_true(search_settle(search, 2, 1, STRATEGY_LOST, 0));
    search_state(search, &now);
    assert_int_equal(now.timed, 1);
}

/* It continues with the same points, and settled ones are not told again. */
static void a_geometric_mean_replays(void **state)
{
    const struct search_options options = { .strategy = "random:3,tpe",
                                            .baseline = 7,
                                            .seed = 3,
                                            .shapes = 2,
                                            .objective = OBJECTIVE_ALL };
    struct search_step steps[8];
    const struct search_step *made;
    struct search_want want;
    int next;
    size_t n;

    (void)state;
    begin(&options);
    assert_int_equal(search_ask(search, &want), STRATEGY_POINT);
    search_settle(search, 1, 0, STRATEGY_TIMED, 0.3);
    search_settle(search, 1, 1, STRATEGY_TIMED, 0.7);
    made = search_steps(search, &n);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        steps[i] = made[i];
    assert_int_equal(search_ask(search, &want), STRATEGY_POINT);
    next = search_point(search, want.unit);
    search_free(search);
    begin(&options);
    assert_true(search_replay(search, steps, n));
    assert_false(search_settle(search, 1, 0, STRATEGY_TIMED, 0.3));
    assert_false(search_settle(search, 1, 1, STRATEGY_TIMED, 0.7));
    assert_int_equal(search_ask(search, &want), STRATEGY_POINT);
    assert_int_equal(search_point(search, want.unit), next);
}

static void one_failed_shape_is_a_failure_at_once(void **state)
{
    struct strategy_state now;

    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = 7, .shapes = 2 });
    wanted(1, 0, 0);
    assert_true(search_settle(search, 1, 1, STRATEGY_FAILED, 0));
    assert_false(search_settle(search, 1, 0, STRATEGY_TIMED, 3));
    search_state(search, &now);
    assert_int_equal(now.failed, 1);
    assert_int_equal(now.timed, 0);
}

static void a_late_result_after_a_loss_is_told_again(void **state)
{
    struct strategy_state now;

    (void)state;
    begin(&(struct search_options){ .strategy = "exhaustive", .baseline = 7 });
    wanted(1, 0, 0);
    assert_true(search_settle(search, 1, 0, STRATEGY_LOST, 0));
    assert_false(search_settle(search, 1, 0, STRATEGY_LOST, 0));
    assert_true(search_settle(search, 1, 0, STRATEGY_TIMED, 3));
    assert_false(search_settle(search, 1, 0, STRATEGY_TIMED, 3));
    search_state(search, &now);
    assert_int_equal(now.timed, 1);
    assert_int_equal(search_out(search), 1); /* the baseline */
}

static void a_repeated_measurement_is_told_again(void **state)
{
    struct strategy_state now;
    size_t steps;

    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = 7, .shapes = 2 });
    wanted(1, 0, 0);
    assert_false(search_settle(search, 1, 0, STRATEGY_TIMED, 3));
    assert_true(search_settle(search, 1, 1, STRATEGY_TIMED, 5));
    assert_false(search_settle(search, 1, 1, STRATEGY_TIMED, 6));
    assert_true(search_settle(search, 1, 0, STRATEGY_TIMED, 4));
    assert_false(search_settle(search, 1, 0, STRATEGY_TIMED, 4));
    search_state(search, &now);
    assert_true(now.best_time == 4);
    assert_int_equal(search_out(search), 1); /* the baseline */
    assert_true(search_settle(search, 1, 1, STRATEGY_FAILED, 0));
    search_steps(search, &steps);
    assert_int_equal(steps, 4);
}

static void results_of_an_earlier_run_are_not_asked_for(void **state)
{
    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = 7, .evaluations = 4 });
    assert_int_equal(search_know(search, 0), 1);
    assert_int_equal(search_know(search, 0), 1);
    assert_false(search_is_wanted(search, 1));
    assert_true(search_settle(search, 1, 0, STRATEGY_TIMED, 3));
    wanted(2, 1, 0);
    assert_true(search_is_wanted(search, 2));
}

static void begin_random(void)
{
    begin(&(struct search_options){
        .strategy = "random:3,tpe", .baseline = 7, .seed = 3 });
}

static int ask_point(void)
{
    struct search_want want;

    return search_ask(search, &want) == STRATEGY_POINT
               ? search_point(search, want.unit)
               : -1;
}

static void a_replay_goes_on_to_the_same_points(void **state)
{
    struct search_step steps[16];
    const struct search_step *made;
    int next[3];
    size_t n;

    (void)state;
    begin_random();
    for (int i = 0; i < 2; i++)
        ask_point();
    search_settle(search, 2, 0, STRATEGY_TIMED, 4);
    search_settle(search, 0, 0, STRATEGY_FAILED, 0);
    search_settle(search, 2, 0, STRATEGY_TIMED, 5); /* again */
    made = search_steps(search, &n);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++)
        steps[i] = made[i];
    for (int i = 0; i < 3; i++)
        next[i] = ask_point();
    search_free(search);
    begin_random();
    assert_true(search_replay(search, steps, n));
    assert_true(search_is_out(search, 1));
    assert_false(search_is_out(search, 2));
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask_point(), next[i]);
}

/* Results in another order lead to the same points. */
static void in_a_window_a_seed_repeats(void **state)
{
    int first[6], n = 0;

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        struct search_want want;

        begin(&(struct search_options){ .strategy = "bayes",
                                        .baseline = 7,
                                        .seed = 3,
                                        .in_flight = 3,
                                        .window = 3 });
        n = 0;
        assert_int_equal(search_ask(search, &want), STRATEGY_POINT);
        assert_int_equal(search_ask(search, &want), STRATEGY_POINT);
        assert_int_equal(search_ask(search, &want), STRATEGY_WAIT);
        for (int unit = turn ? 2 : 0; unit >= 0 && unit < 3;
             unit += turn ? -1 : 1) {
            assert_false(search_settle(search, unit, 0, STRATEGY_TIMED,
                                       5 + search_point(search, unit)));
            while (search_ask(search, &want) == STRATEGY_POINT) {
                int point = search_point(search, want.unit);

                if (turn)
                    assert_int_equal(point, first[n]);
                first[n++] = point;
            }
        }
        assert_int_equal(n, 3);
        search_free(search);
    }
    search = NULL;
}

static void in_a_window_all_is_told_before_the_end(void **state)
{
    struct search_want want;
    size_t steps;

    (void)state;
    begin(&(struct search_options){ .strategy = "exhaustive",
                                    .baseline = 0,
                                    .evaluations = 3,
                                    .window = 8 });
    wanted(1, 1, 0);
    wanted(2, 2, 0);
    search_settle(search, 2, 0, STRATEGY_FAILED, 0);
    search_settle(search, 0, 0, STRATEGY_TIMED, 2);
    assert_int_equal(search_ask(search, &want), STRATEGY_WAIT);
    search_settle(search, 1, 0, STRATEGY_LOST, 0);
    assert_int_equal(search_ask(search, &want), STRATEGY_DONE);
    search_steps(search, &steps);
    assert_int_equal(steps, 5);
    assert_int_equal(search_out(search), 0);
}

static void another_strategy_is_told_what_is_known(void **state)
{
    const struct search_step steps[] = {
        { SEARCH_ASKED, 5, 0, 0 },   { SEARCH_ASKED, 6, 0, 0 },
        { SEARCH_TIMED, 6, 0, 2.5 }, { SEARCH_ASKED, 8, 0, 0 },
        { SEARCH_LOST, 5, 0, 0 },
    };
    struct strategy_state now;

    (void)state;
    begin(&(struct search_options){ .strategy = "exhaustive", .baseline = 7 });
    assert_false(search_replay(search, steps, 5));
    search_state(search, &now);
    assert_int_equal(now.timed, 1);
    assert_int_equal(now.best, 6);
    assert_int_equal(search_point(search, 1),
                     0); /* what it asked for instead */
    assert_int_equal(search_units(search), 3);
    wanted(3, 1, 0);
}

/* 5, 15 and 45 samples. */
static void the_fastest_third_is_wanted_once_more(void **state)
{
    const struct successive_halving_rules race = { 5, 3, 45 };
    struct strategy_state now;

    (void)state;
    begin(&(struct search_options){
        .strategy = "exhaustive", .baseline = 8, .race = &race });
    for (int point = 0; point < 3; point++)
        wanted(point + 1, point, 0);
    for (int unit = 1; unit < 4; unit++)
        search_settle(search, unit, 0, STRATEGY_TIMED, 10 - unit);
    wanted(3, 2, 1);
    assert_int_equal(search_rung(search, 3), 1);
    assert_false(
        search_settle(search, 3, 0, STRATEGY_TIMED, 1)); /* is settled */
    search_settle_rung(search, 3, STRATEGY_TIMED, 6.5);
    assert_false(search_is_out(search, 3));
    search_state(search, &now);
    assert_true(now.best_time == 6.5);
    wanted(4, 3, 0);
}

static void fewer_units_are_out_when_few_evaluations_are_left(void **state)
{
    (void)state;
    assert_int_equal(search_ahead(19, 200), 19);
    assert_int_equal(search_ahead(19, 60), 10);
    assert_int_equal(search_ahead(19, 3), 1);
    assert_int_equal(search_ahead(19, 0), 19); /* it does not learn */
    assert_int_equal(search_ahead(0, 200), 0);
}

static void a_search_that_learns_has_less_room(void **state)
{
    (void)state;
    begin(&(struct search_options){ .strategy = "bayes", .baseline = 0 });
    assert_int_equal(search_room(search, 1000), 1); /* 8 are left */
    search_free(search);
    begin(&(struct search_options){ .strategy = "random", .baseline = 0 });
    assert_int_equal(search_room(search, 1000), 1000);
    search_free(search);
    begin(&(struct search_options){
        .strategy = "bayes", .baseline = 0, .in_flight = 64 });
    assert_int_equal(search_room(search, 1000), 64);
    assert_int_equal(search_room(search, 5), 5);
}

/* In a window too: two are out, however many places wait. */
static void a_window_has_the_limit(void **state)
{
    struct search_want want;

    (void)state;
    begin(&(struct search_options){
        .strategy = "random", .baseline = 0, .in_flight = 2, .window = 8 });
    assert_int_equal(search_ask(search, &want), STRATEGY_POINT);
    assert_int_equal(search_ask(search, &want), STRATEGY_WAIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_baseline_is_wanted_and_never_asked_for,
                                  teardown),
        cmocka_unit_test_teardown(a_baseline_outside_counts_as_no_evaluation,
                                  teardown),
        cmocka_unit_test_teardown(
            the_headline_decides_when_all_shapes_are_settled, teardown),
        cmocka_unit_test_teardown(
            another_shape_decides_when_it_is_the_objective, teardown),
        cmocka_unit_test_teardown(the_geometric_mean_is_told_and_told_again,
                                  teardown),
        cmocka_unit_test_teardown(a_geometric_mean_replays, teardown),
        cmocka_unit_test_teardown(one_failed_shape_is_a_failure_at_once,
                                  teardown),
        cmocka_unit_test_teardown(a_late_result_after_a_loss_is_told_again,
                                  teardown),
        cmocka_unit_test_teardown(a_repeated_measurement_is_told_again,
                                  teardown),
        cmocka_unit_test_teardown(results_of_an_earlier_run_are_not_asked_for,
                                  teardown),
        cmocka_unit_test_teardown(a_replay_goes_on_to_the_same_points,
                                  teardown),
        cmocka_unit_test_teardown(in_a_window_a_seed_repeats, teardown),
        cmocka_unit_test_teardown(in_a_window_all_is_told_before_the_end,
                                  teardown),
        cmocka_unit_test_teardown(another_strategy_is_told_what_is_known,
                                  teardown),
        cmocka_unit_test_teardown(the_fastest_third_is_wanted_once_more,
                                  teardown),
        cmocka_unit_test_teardown(
            fewer_units_are_out_when_few_evaluations_are_left, teardown),
        cmocka_unit_test_teardown(a_search_that_learns_has_less_room, teardown),
        cmocka_unit_test_teardown(a_window_has_the_limit, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
