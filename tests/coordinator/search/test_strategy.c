#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/strategy.h"

static const char *const all[] = { "exhaustive", "random",       "lhs",
                                   "tpe",        "local",        "genetic",
                                   "bayes",      "bayes-penalty" };
#define ALL_N (sizeof(all) / sizeof(all[0]))

/* 10 x 10 x 4, the last one not ordered.  Level 3 of it is illegal with an even
 * first level: 350 points. */
static struct domain *box(void)
{
    const struct domain_tunable tunables[] = {
        { .levels = 10, .ordered = true },
        { .levels = 10, .ordered = true },
        { .levels = 4 },
    };
    struct domain *domain = domain_new(tunables, 3);

    for (uint16_t a = 0; a < 10; a++)
        for (uint16_t b = 0; b < 10; b++)
            for (uint16_t c = 0; c < 4; c++)
                if (c != 3 || a % 2 == 1)
                    domain_add(domain, (uint16_t[]){ a, b, c });
    return domain;
}

/* Fastest at (7, 2, 1), 1.0; the right half of the second axis fails. */
static double time_of(const struct domain *domain, int point)
{
    const uint16_t *at = domain_point(domain, point);

    if (at[1] >= 5)
        return 0;
    return 1 + 0.1 * abs(at[0] - 7) + 0.2 * abs(at[1] - 2) + 0.3 * (at[2] != 1);
}

static struct strategy *open(const char *text, const struct domain *domain,
                             int budget, uint64_t seed)
{
    struct strategy *strategy;
    struct err err;

    assert_int_equal(strategy_new(text, domain, budget, seed, &strategy, &err),
                     0);
    return strategy;
}

static void answer(struct strategy *strategy, const struct domain *domain,
                   int point)
{
    double time = time_of(domain, point);

    strategy_tell(strategy, point, time > 0 ? STRATEGY_TIMED : STRATEGY_FAILED,
                  time);
}

/* Ask and tell to the end, with 'slots' pending, told in random order.  Returns
 * how many points there were, and fills them in in the order they were
 * asked. */
static int drive(struct strategy *strategy, const struct domain *domain,
                 int slots, int *asked)
{
    int pending[32], waiting = 0, n = 0, told = 0;

    for (;;) {
        while (waiting < slots &&
               strategy_ask(strategy, &asked[n]) == STRATEGY_POINT)
            pending[waiting++] = asked[n++];
        if (waiting == 0)
            return n;
        told = (told + 7) % waiting;
        answer(strategy, domain, pending[told]);
        pending[told] = pending[--waiting];
    }
}

static void no_method_asks_for_a_point_twice(void **state)
{
    struct domain *domain = box();

    (void)state;
    for (size_t m = 0; m < ALL_N; m++) {
        struct strategy *strategy = open(all[m], domain, 0, 1);
        int asked[400], seen[350] = { 0 }, n;

        n = drive(strategy, domain, 4, asked);
        assert_int_equal(n, 350);
        for (int i = 0; i < n; i++)
            assert_int_equal(seen[asked[i]]++, 0);
        strategy_free(strategy);
    }
    domain_free(domain);
}

static void the_same_seed_repeats_and_another_does_not(void **state)
{
    struct domain *domain = box();

    (void)state;
    for (size_t m = 1; m < ALL_N; m++) {
        int asked[3][400];

        for (int i = 0; i < 3; i++) {
            struct strategy *strategy = open(all[m], domain, 60, i < 2 ? 5 : 6);

            assert_int_equal(drive(strategy, domain, 3, asked[i]), 60);
            strategy_free(strategy);
        }
        assert_memory_equal(asked[0], asked[1], 60 * sizeof(int));
        assert_memory_not_equal(asked[0], asked[2], 60 * sizeof(int));
    }
    domain_free(domain);
}

static void exhaustive_goes_in_order_and_ends(void **state)
{
    struct domain *domain = box();
    struct strategy *strategy = open("exhaustive", domain, 0, 1);
    int asked[400], point;

    (void)state;
    assert_int_equal(drive(strategy, domain, 1, asked), 350);
    for (int i = 0; i < 350; i++)
        assert_int_equal(asked[i], i);
    assert_int_equal(strategy_ask(strategy, &point), STRATEGY_DONE);
    strategy_free(strategy);
    domain_free(domain);
}

static void the_budget_is_not_passed(void **state)
{
    struct domain *domain = box();

    (void)state;
    for (size_t m = 0; m < ALL_N; m++) {
        struct strategy *strategy = open(all[m], domain, 37, 1);
        int asked[400];

        assert_int_equal(drive(strategy, domain, 5, asked), 37);
        strategy_free(strategy);
    }
    domain_free(domain);
}

/* Ten points of ten levels: each level occurs once, in both ordered
 * tunables. */
static void a_latin_hypercube_uses_every_level_once(void **state)
{
    const struct domain_tunable tunables[] = {
        { .levels = 10, .ordered = true },
        { .levels = 10, .ordered = true },
        { .levels = 5 },
    };
    struct domain *domain = domain_new(tunables, 3);
    int used[3][10] = { { 0 } }, asked[16];
    struct strategy *strategy;

    (void)state;
    for (uint16_t i = 0; i < 500; i++)
        domain_add(domain, (uint16_t[]){ i / 50, i / 5 % 10, i % 5 });
    strategy = open("lhs:10", domain, 0, 3);
    assert_int_equal(drive(strategy, domain, 10, asked), 10);
    for (int i = 0; i < 10; i++)
        for (int t = 0; t < 3; t++)
            used[t][domain_point(domain, asked[i])[t]]++;
    for (int level = 0; level < 10; level++) {
        assert_int_equal(used[0][level], 1);
        assert_int_equal(used[1][level], 1);
        assert_int_equal(used[2][level], level < 5 ? 2 : 0);
    }
    strategy_free(strategy);
    domain_free(domain);
}

/* Without repair a quarter of the rows would be illegal.  A repaired design
 * still has every level of the first two tunables about twice. */
static void a_repaired_hypercube_stays_even(void **state)
{
    struct domain *domain = box();
    struct strategy *strategy = open("lhs:20", domain, 0, 4);
    int used[10] = { 0 }, asked[32];

    (void)state;
    assert_int_equal(drive(strategy, domain, 20, asked), 20);
    for (int i = 0; i < 20; i++)
        used[domain_point(domain, asked[i])[1]]++;
    for (int level = 0; level < 10; level++)
        assert_in_range(used[level], 1, 3);
    strategy_free(strategy);
    domain_free(domain);
}

static int failures_in_the_first(const char *text, int n)
{
    struct domain *domain = box();
    int asked[400], failed = 0;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct strategy *strategy = open(text, domain, n, seed);

        drive(strategy, domain, 2, asked);
        for (int i = 0; i < n; i++)
            failed += time_of(domain, asked[i]) == 0;
        strategy_free(strategy);
    }
    domain_free(domain);
    return failed / 5;
}

/* Half of all points fail; a method that learns tries few of them. */
static void failures_teach(void **state)
{
    (void)state;
    assert_in_range(failures_in_the_first("random", 40), 16, 24);
    assert_in_range(failures_in_the_first("tpe", 40), 0, 14);
    assert_in_range(failures_in_the_first("genetic", 40), 0, 14);
    assert_in_range(failures_in_the_first("bayes", 40), 0, 14);
    assert_in_range(failures_in_the_first("bayes-penalty", 40), 0, 14);
}

static void the_learning_methods_find_the_best(void **state)
{
    static const char *const texts[] = { "tpe",          "local",
                                         "genetic",      "bayes",
                                         "lhs:10,tpe",   "auto",
                                         "bayes-penalty" };
    struct domain *domain = box();

    (void)state;
    for (size_t m = 0; m < sizeof(texts) / sizeof(texts[0]); m++) {
        struct strategy *strategy = open(texts[m], domain, 150, 7);
        struct strategy_state end;
        int asked[400];

        drive(strategy, domain, 3, asked);
        strategy_state(strategy, &end);
        if (end.best_time != 1.0)
            fail_msg("%s found only %g", texts[m], end.best_time);
        strategy_free(strategy);
    }
    domain_free(domain);
}

static void pending_points_push_the_next_ask_away(void **state)
{
    struct domain *domain = box();
    struct strategy *strategy = open("bayes", domain, 100, 2);
    int asked[8], point;

    (void)state;
    for (int i = 0; i < 30; i++) {
        assert_int_equal(strategy_ask(strategy, &point), STRATEGY_POINT);
        answer(strategy, domain, point);
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(strategy_ask(strategy, &asked[i]), STRATEGY_POINT);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(asked[i], asked[j]);
    }
    for (int i = 7; i >= 0; i--)
        answer(strategy, domain, asked[i]);
    assert_int_equal(strategy_ask(strategy, &point), STRATEGY_POINT);
    strategy_free(strategy);
    domain_free(domain);
}

static void results_of_an_earlier_run_count(void **state)
{
    struct domain *domain = box();
    struct strategy *strategy = open("lhs:20,tpe:10", domain, 0, 2);
    struct strategy_state now;
    int asked[400];

    (void)state;
    for (int point = 0; point < 25; point++)
        answer(strategy, domain, point);
    assert_int_equal(drive(strategy, domain, 1, asked), 5);
    for (int i = 0; i < 5; i++)
        assert_in_range(asked[i], 25, 349);
    strategy_state(strategy, &now);
    assert_int_equal(now.asked, 30);
    assert_string_equal(now.method, "");
    strategy_free(strategy);
    domain_free(domain);
}

static void a_lost_point_counts_and_teaches_nothing(void **state)
{
    struct domain *domain = box();
    struct strategy *strategy = open("random", domain, 2, 2);
    struct strategy_state now;
    int point;

    (void)state;
    assert_int_equal(strategy_ask(strategy, &point), STRATEGY_POINT);
    strategy_tell(strategy, point, STRATEGY_LOST, 0);
    strategy_state(strategy, &now);
    assert_int_equal(now.asked, 1);
    assert_int_equal(now.pending + now.timed + now.failed, 0);
    assert_int_equal(now.best, -1);
    strategy_free(strategy);
    domain_free(domain);
}

static void the_better_time_of_a_second_tell_counts(void **state)
{
    struct domain *domain = box();
    struct strategy *strategy = open("random", domain, 0, 2);
    struct strategy_state now;

    (void)state;
    strategy_tell(strategy, 3, STRATEGY_TIMED, 2.0);
    strategy_tell(strategy, 4, STRATEGY_TIMED, 2.1);
    strategy_tell(strategy, 3, STRATEGY_TIMED, 2.2);
    strategy_state(strategy, &now);
    assert_int_equal(now.best, 4);
    assert_int_equal(now.timed, 2);
    strategy_free(strategy);
    domain_free(domain);
}

/* The fastest point by far gets a slower time.  A method that has forgotten the
 * first time ends where one ends that never heard it. */
static void a_replaced_time_leaves_no_trace(void **state)
{
    static const char *const learning[] = { "tpe", "local", "genetic", "bayes",
                                            "bayes-penalty" };
    struct domain *domain = box();
    int wrong = domain_find(domain, (uint16_t[]){ 0, 4, 0 });

    (void)state;
    for (size_t m = 0; m < 5; m++)
        for (int fails = 0; fails < 2; fails++) {
            struct strategy *strategy = open(learning[m], domain, 150, 5);
            struct strategy_state now;
            int point;

            strategy_tell(strategy, wrong, STRATEGY_TIMED, 0.01);
            for (int n = 0; n < 20; n++) {
                assert_int_equal(strategy_ask(strategy, &point),
                                 STRATEGY_POINT);
                answer(strategy, domain, point);
            }
            strategy_tell(strategy, wrong,
                          fails ? STRATEGY_FAILED : STRATEGY_TIMED, 9.9);
            while (strategy_ask(strategy, &point) == STRATEGY_POINT)
                answer(strategy, domain, point);
            strategy_state(strategy, &now);
            if (now.best_time > 1.25)
                fail_msg("%s: %g", learning[m], now.best_time);
            strategy_free(strategy);
        }
    domain_free(domain);
}

static void methods_follow_each_other(void **state)
{
    struct domain *domain = box();
    struct strategy *strategy = open("lhs:20,tpe:30", domain, 0, 2);
    struct strategy_state now;
    int point;

    (void)state;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(strategy_ask(strategy, &point), STRATEGY_POINT);
        strategy_state(strategy, &now);
        assert_string_equal(now.method, i < 20 ? "lhs" : "tpe");
        answer(strategy, domain, point);
    }
    assert_int_equal(strategy_ask(strategy, &point), STRATEGY_DONE);
    strategy_free(strategy);
    domain_free(domain);
}

static void auto_is_exhaustive_while_it_fits(void **state)
{
    struct domain *domain = box();
    struct strategy *covers = open("auto", domain, 350, 1);
    struct strategy *less = open("auto", domain, 349, 1);
    struct strategy_state now;

    (void)state;
    strategy_state(covers, &now);
    assert_string_equal(now.method, "exhaustive");
    strategy_state(less, &now);
    assert_string_equal(now.method, "bayes");
    strategy_free(covers);
    strategy_free(less);
    domain_free(domain);
}

static void bad_texts_are_refused_with_the_remedy(void **state)
{
    static const struct row {
        const char *text, *message;
    } rows[] = {
        { "", "a name is missing" },
        { "lhs:20,", "a name is missing" },
        { "tpee", "there is no 'tpee'; did you mean 'tpe'?" },
        { "quantum", "choose auto, exhaustive, random, lhs" },
        { "lhs,tpe", "only the last method may have no number, and 'lhs'" },
        { "lhs:0,tpe", "'0' is not a number of evaluations" },
        { "lhs:-5", "'-5' is not a number of evaluations" },
        { "lhs:20x", "'20x' is not a number of evaluations" },
        { "lhs:,tpe", "'' is not a number of evaluations" },
        { "lhs:99999999999999999999", "is not a number of evaluations" },
        { "a_name_that_is_so_long_that_it_leaves_no_room_for_any_message_at_all"
          "_however_short_it_is_and_whatever_else_there_is_to_say_of_what_is_"
          "wrong_with_it,and_one_more_of_that_kind_to_be_sure_that_it_is_long",
          "choose auto, exhaustive" },
    };
    struct domain *domain = box();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strategy *strategy;
        struct err err;

        assert_int_equal(
            strategy_new(rows[i].text, domain, 0, 1, &strategy, &err),
            ERR_INPUT);
        if (!strstr(err.text, rows[i].message))
            fail_msg("\"%s\" lacks \"%s\"", err.text, rows[i].message);
    }
    domain_free(domain);
}

/* [points] the logarithm of the time in a base; NAN where it failed. */
static double *prior_of(const struct domain *domain, double sign)
{
    double *prior = mem_new((size_t)domain_size(domain), sizeof(*prior));

    for (int point = 0; point < domain_size(domain); point++) {
        double time = time_of(domain, point);

        prior[point] = time > 0 ? sign * log(round(50 * time)) : (double)NAN;
    }
    return prior;
}

/* Points that the base cannot tell apart count once. */
static void a_warm_search_begins_with_the_fastest_of_the_base(void **state)
{
    static const double fastest[] = { 1, 1.1, 1.2, 1.3, 1.4, 1.5 };
    struct domain *domain = box();
    double *prior = prior_of(domain, 1);

    (void)state;
    for (size_t m = 0; m < ALL_N; m++) {
        struct strategy *strategy = open(all[m], domain, 40, 1);
        int asked[40];

        strategy_warm(strategy, prior);
        assert_int_equal(drive(strategy, domain, 1, asked), 40);
        for (size_t i = 0; i < 6; i++)
            assert_true(fabs(time_of(domain, asked[i]) - fastest[i]) < 1e-9);
        strategy_free(strategy);
    }
    free(prior);
    domain_free(domain);
}

/* Evaluations of bayes until the best point. */
static int needed(const struct domain *domain, const double *prior)
{
    struct strategy *strategy = open("bayes", domain, 0, 1);
    int point, n = 0;

    if (prior)
        strategy_warm(strategy, prior);
    do {
        assert_int_equal(strategy_ask(strategy, &point), STRATEGY_POINT);
        answer(strategy, domain, point);
        n++;
    } while (time_of(domain, point) != 1);
    strategy_free(strategy);
    return n;
}

static void a_base_that_misleads_costs_little(void **state)
{
    struct domain *domain = box();
    double *wrong = prior_of(domain, -1);

    (void)state;
    assert_true(needed(domain, wrong) <= needed(domain, NULL) + 12);
    free(wrong);
    domain_free(domain);
}

/* The base does not have the best points, so a mean leads to their places. */
static void times_of_the_base_are_the_mean_of_bayes(void **state)
{
    struct domain *domain = box();
    double *prior = prior_of(domain, 1);
    struct strategy_state now;
    struct strategy *strategy = open("bayes", domain, 0, 1);
    int point, n = 0;

    (void)state;
    for (int i = 0; i < domain_size(domain); i++)
        if (!isnan(prior[i]) && time_of(domain, i) < 1.55)
            prior[i] = (double)NAN;
    strategy_warm(strategy, prior);
    do {
        assert_int_equal(strategy_ask(strategy, &point), STRATEGY_POINT);
        answer(strategy, domain, point);
        strategy_state(strategy, &now);
        n++;
    } while (now.best_time > 1.1 + 1e-9);
    assert_true(n <= 40); /* of 350 */
    strategy_free(strategy);
    free(prior);
    domain_free(domain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_method_asks_for_a_point_twice),
        cmocka_unit_test(a_warm_search_begins_with_the_fastest_of_the_base),
        cmocka_unit_test(a_base_that_misleads_costs_little),
        cmocka_unit_test(times_of_the_base_are_the_mean_of_bayes),
        cmocka_unit_test(the_same_seed_repeats_and_another_does_not),
        cmocka_unit_test(exhaustive_goes_in_order_and_ends),
        cmocka_unit_test(the_budget_is_not_passed),
        cmocka_unit_test(a_latin_hypercube_uses_every_level_once),
        cmocka_unit_test(a_repaired_hypercube_stays_even),
        cmocka_unit_test(failures_teach),
        cmocka_unit_test(the_learning_methods_find_the_best),
        cmocka_unit_test(pending_points_push_the_next_ask_away),
        cmocka_unit_test(results_of_an_earlier_run_count),
        cmocka_unit_test(a_lost_point_counts_and_teaches_nothing),
        cmocka_unit_test(the_better_time_of_a_second_tell_counts),
        cmocka_unit_test(a_replaced_time_leaves_no_trace),
        cmocka_unit_test(methods_follow_each_other),
        cmocka_unit_test(auto_is_exhaustive_while_it_fits),
        cmocka_unit_test(bad_texts_are_refused_with_the_remedy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
