#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/spec/search_settings.h"

static struct err err;

/* 1,000 points on 16 slots and one GPU: 0.05 s each, 50 s. */
static struct search_settings_plan plan(const char *strategy, int evaluations,
                                        double hours)
{
    const struct search_settings settings = { .strategy = strategy,
                                              .evaluations = evaluations };
    const struct search_settings_scope scope = {
        .points = 1000, .shapes = 1, .hours = hours, .slots = 16, .gpus = 1
    };
    struct search_settings_plan out;

    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    return out;
}

static void auto_is_exhaustive_while_all_fit(void **state)
{
    struct search_settings_plan out = plan("auto", 0, 0);

    (void)state;
    assert_string_equal(out.strategy, "exhaustive");
    assert_true(out.all);
    assert_int_equal(out.evaluations, 1000);
    assert_string_equal(out.why, "there is no cap");
    assert_true(plan("auto", 1000, 0).all);
    assert_string_equal(plan("auto", 1000, 0).why, "all 1000 fit");
    assert_true(plan("auto", 0, 0.02).all);
}

static struct search_settings_plan plan_of(enum effort effort,
                                           const char *strategy,
                                           int evaluations, int64_t points)
{
    const struct search_settings settings = { .strategy = strategy,
                                              .evaluations = evaluations,
                                              .effort = effort };
    const struct search_settings_scope scope = {
        .points = points, .shapes = 1, .hours = 0.001, .slots = 16, .gpus = 1
    };
    struct search_settings_plan out;

    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    return out;
}

static void little_effort_is_limited_by_seconds(void **state)
{
    struct search_settings_plan out = plan_of(EFFORT_QUICK, "auto", 0, 1000);

    (void)state;
    assert_string_equal(out.strategy, "bayes");
    assert_int_equal(out.evaluations, 200);
    assert_true(out.limit_s == 11);
    assert_int_equal(out.least, 24);
    assert_string_equal(out.why, "effort quick, ends after 11 s");
    assert_true(out.most_out > 1000); /* as many as there are places */
    out = plan_of(EFFORT_QUICK, "auto", 0, 24);
    assert_true(out.all);
    assert_true(out.limit_s == 0);
}

static void what_is_chosen_is_not_limited(void **state)
{
    struct search_settings_plan out = plan_of(EFFORT_QUICK, "auto", 50, 1000);

    (void)state;
    assert_int_equal(out.evaluations, 50);
    assert_true(out.limit_s == 0);
    assert_true(plan_of(EFFORT_QUICK, "bayes", 0, 1000).limit_s == 0);
    assert_int_equal(plan_of(EFFORT_QUICK, "bayes", 0, 1000).evaluations, 1000);
    assert_int_equal(plan_of(EFFORT_QUICK, "lhs:30", 0, 1000).evaluations, 30);
}

static void full_effort_tries_all_whatever_the_caps(void **state)
{
    struct search_settings_plan out = plan_of(EFFORT_FULL, "auto", 0, 1000);

    (void)state;
    assert_string_equal(plan_of(EFFORT_NORMAL, "auto", 0, 1000).strategy,
                        "bayes");
    assert_string_equal(out.strategy, "exhaustive");
    assert_true(out.all);
    assert_string_equal(out.why, "effort full, all 1000");
    assert_int_equal(plan_of(EFFORT_FULL, "auto", 50, 1000).evaluations, 50);
}

static void the_plan_says_how_many_are_in_flight(void **state)
{
    const struct search_settings settings = { .strategy = "bayes",
                                              .in_flight = 16 };
    const struct search_settings_scope scope = {
        .points = 1000, .shapes = 1, .slots = 16, .gpus = 1
    };
    struct search_settings_plan out;

    (void)state;
    assert_string_equal(plan("bayes", 100, 0).in_flight,
                        ", at most 1/6 of the rest in flight");
    assert_string_equal(plan("lhs:20,bayes", 100, 0).in_flight,
                        ", at most 1/6 of the rest in flight");
    assert_string_equal(plan("external:x", 0, 0).in_flight,
                        ", at most 1/6 of the rest in flight");
    assert_string_equal(plan("lhs:20", 0, 0).in_flight, "");
    assert_int_equal(search_settings_plan(&settings, &scope, &out, NULL), 0);
    assert_string_equal(out.in_flight, ", at most 16 in flight");
}

static void auto_searches_when_evaluations_or_hours_are_few(void **state)
{
    struct search_settings_plan out = plan("auto", 999, 0);

    (void)state;
    assert_string_equal(out.strategy, "bayes");
    assert_false(out.all);
    assert_int_equal(out.evaluations, 999);
    assert_string_equal(out.why, "999 evaluations are fewer than all 1000");
    out = plan("auto", 0, 0.01);
    assert_string_equal(out.strategy, "bayes");
    assert_int_equal(out.evaluations, 1000); /* the clock ends it */
    assert_string_equal(out.why,
                        "all 1000 would take about 0.014 of 0.01 hours");
}

/* 1,000 points on 16 slots for 72 s: at 0.05 s a measurement all fit, at 18 s a
 * build they do not. */
static void what_only_seems_to_fit_is_searched(void **state)
{
    const struct search_settings settings = { .strategy = "auto" };
    struct search_settings_scope scope = { .points = 1000,
                                           .shapes = 1,
                                           .hours = 0.02,
                                           .slots = 16,
                                           .gpus = 1,
                                           .guessed = true };
    struct search_settings_plan out;

    (void)state;
    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    assert_string_equal(out.strategy, "bayes");
    assert_string_equal(out.why, "no build time is known yet, and the cap may "
                                 "end it");
    scope.hours = 1; /* in which 1,000 builds of 18 s fit */
    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    assert_true(out.all);
    scope.hours = 0.02;
    scope.guessed = false;
    scope.build_s = 0.5;
    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    assert_true(out.all);
    scope.build_s = 2;
    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    assert_string_equal(out.why,
                        "all 1000 would take about 0.035 of 0.02 hours");
}

static void what_is_kept_for_the_confirmation_is_no_time_to_search(void **state)
{
    const struct search_settings settings = { .strategy = "auto" };
    struct search_settings_scope scope = { .points = 1000,
                                           .shapes = 1,
                                           .hours = 0.02,
                                           .slots = 16,
                                           .gpus = 1,
                                           .kept_s = 15 };
    struct search_settings_plan out;

    (void)state;
    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    assert_true(out.all); /* 50 s of 57 */
    scope.kept_s = 30;
    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    assert_string_equal(out.strategy, "bayes");
}

static void evaluations_are_as_said_or_as_the_methods_say(void **state)
{
    (void)state;
    assert_int_equal(plan("lhs:20,tpe:100", 0, 0).evaluations, 120);
    assert_int_equal(plan("lhs:20,tpe:100", 50, 0).evaluations, 50);
    assert_int_equal(plan("lhs:20,tpe:100", 500, 0).evaluations, 120);
    assert_int_equal(plan("lhs:20,tpe", 0, 0).evaluations, 1000);
    assert_int_equal(plan("exhaustive", 10, 0).evaluations, 10);
    assert_false(plan("exhaustive", 10, 0).all);
    assert_int_equal(plan("exhaustive", 5000, 0).evaluations, 1000);
    assert_true(plan("exhaustive", 5000, 0).all);
    assert_int_equal(plan("external:x", 0, 0).evaluations, 1000);
}

static void a_large_space_is_not_exhausted_by_accident(void **state)
{
    const struct search_settings_scope scope = {
        .points = 562041, .shapes = 2, .slots = 16, .gpus = 1
    };
    const struct search_settings_scope day = {
        .points = 562041, .shapes = 2, .slots = 16, .gpus = 1, .hours = 1
    };
    const struct search_settings bayes = { .strategy = "bayes" };
    struct search_settings_plan out;

    (void)state;
    assert_int_equal(search_settings_plan(&bayes, &scope, &out, &err), 0);
    assert_int_equal(out.evaluations, 1000);
    assert_int_equal(search_settings_plan(&bayes, &day, &out, &err), 0);
    assert_int_equal(out.evaluations, 144000); /* 4 times 36,000 in an hour */
}

static void more_points_than_can_be_searched_are_refused(void **state)
{
    static const char *const refused[] = { "exhaustive", "auto", "local",
                                           "random:9,tpe", "external:x" };
    static const char *const fine[] = { "bayes", "random:20,bayes" };
    const struct search_settings_scope scope = {
        .points = INT64_C(1) << 60, .shapes = 1, .slots = 1, .gpus = 1
    };
    struct search_settings settings = { .strategy = "auto", .evaluations = 10 };
    struct search_settings_plan out;

    (void)state;
    assert_int_equal(search_settings_plan(&settings, &scope, &out, &err), 0);
    assert_string_equal(out.strategy, "bayes");
    assert_int_equal(out.evaluations, 10);
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        settings = (struct search_settings){ .strategy = fine[i],
                                             .evaluations = 10000000 };
        assert_int_equal(search_settings_plan(&settings, &scope, &out, &err),
                         0);
        assert_true(out.drawn);
        assert_int_equal(out.evaluations, 65536);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        settings = (struct search_settings){ .strategy = refused[i] };
        assert_int_equal(search_settings_plan(&settings, &scope, &out, &err),
                         ERR_INPUT);
        assert_non_null(strstr(
            err.text, "1152921504606846976 configurations pass the gates; "));
    }
}

static void bad_settings_have_their_message(void **state)
{
    static const struct {
        struct search_settings search_settings;
        const char *text;
    } cases[] = {
        { { .strategy = "bays" },
          "strategy 'bays': there is no 'bays'; did you mean 'bayes'?" },
        { { .strategy = "external: " },
          "strategy 'external:': the command is missing; write "
          "'external:python3 my_strategy.py', for example" },
        { { .strategy = "external" },
          "strategy 'external:': the command is missing; write "
          "'external:python3 my_strategy.py', for example" },
        { { .strategy = "external:x 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 "
                        "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 "
                        "7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5" },
          "strategy 'external:': the command has 65 words, more than 64; put "
          "it into a script" },
        { { .strategy = "external:x", .race = { 5, 3, 45 } },
          "an external strategy cannot race; remove 'race' from 'search'" },
        { { .strategy = "tpe", .race = { 5, 3, 45 }, .objective = "geomean" },
          "a race measures one shape, but the objective 'geomean' needs all "
          "shapes; remove 'race' from 'search', or name a shape as "
          "'objective'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(search_settings_check(&cases[i].search_settings, &err),
                         ERR_INPUT);
        assert_string_equal(err.text, cases[i].text);
    }
}

static void a_command_is_words_without_quotes(void **state)
{
    const char *argv[SEARCH_SETTINGS_WORDS_MAX + 1];
    char *words = search_settings_split("python3  my.py -n 3 ", argv);

    (void)state;
    assert_string_equal(argv[0], "python3");
    assert_string_equal(argv[1], "my.py");
    assert_string_equal(argv[2], "-n");
    assert_string_equal(argv[3], "3");
    assert_null(argv[4]);
    free(words);
}

static void stored_settings_are_recalled(void **state)
{
    const struct search_settings settings = { .strategy = "external:a \"b\"",
                                              .evaluations = 200,
                                              .in_flight = 24,
                                              .seed = 7,
                                              .race = { 5, 3, 45 },
                                              .effort = EFFORT_QUICK,
                                              .objective = "long" };
    struct search_settings back;
    char *strategy;
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    buf_printf(&text, "{");
    search_settings_put(&settings, &text);
    buf_printf(&text, "\"device\": \"cpu\"}");
    assert_int_equal(
        search_settings_recall(buf_text(&text), &back, &strategy, &err), 0);
    assert_string_equal(back.strategy, "external:a \"b\"");
    assert_int_equal(back.evaluations, 200);
    assert_int_equal(back.in_flight, 24);
    assert_int_equal(back.seed, 7);
    assert_int_equal(back.race.most, 45);
    assert_int_equal(back.effort, EFFORT_QUICK);
    assert_string_equal(back.objective, "headline"); /* the file says it */
    free(strategy);
    buf_fini(&text);
}

static void resources_come_from_the_hosts_file(void **state)
{
    static const char text[] = "a slots=8 gpus=0,1\nb role=builder slots=32\n"
                               "c role=gpu\nd\n";
    struct hosts hosts;
    int slots, gpus;

    (void)state;
    assert_int_equal(
        hosts_parse("hosts.txt", text, sizeof(text) - 1, &hosts, &err), 0);
    search_settings_hosts(&hosts, &slots, &gpus);
    assert_int_equal(slots, 8 + 32 + 4);
    assert_int_equal(gpus, 2 + 1 + 1);
    hosts_fini(&hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_is_exhaustive_while_all_fit),
        cmocka_unit_test(little_effort_is_limited_by_seconds),
        cmocka_unit_test(what_is_chosen_is_not_limited),
        cmocka_unit_test(full_effort_tries_all_whatever_the_caps),
        cmocka_unit_test(the_plan_says_how_many_are_in_flight),
        cmocka_unit_test(auto_searches_when_evaluations_or_hours_are_few),
        cmocka_unit_test(what_only_seems_to_fit_is_searched),
        cmocka_unit_test(
            what_is_kept_for_the_confirmation_is_no_time_to_search),
        cmocka_unit_test(evaluations_are_as_said_or_as_the_methods_say),
        cmocka_unit_test(a_large_space_is_not_exhausted_by_accident),
        cmocka_unit_test(more_points_than_can_be_searched_are_refused),
        cmocka_unit_test(bad_settings_have_their_message),
        cmocka_unit_test(a_command_is_words_without_quotes),
        cmocka_unit_test(stored_settings_are_recalled),
        cmocka_unit_test(resources_come_from_the_hosts_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
