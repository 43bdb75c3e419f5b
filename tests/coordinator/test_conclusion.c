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
#include "common/mem.h"
#include "coordinator/bench.h"
#include "coordinator/conclusion.h"
#include "coordinator/json_out.h"
#include "coordinator/report.h"
#include "coordinator/report_cost.h"
#include "coordinator/report_print.h"
#include "coordinator/store.h"
#include "coordinator/winner.h"
#include "report_fixture.h"
#include "store_fixture.h"

/* Of the report's fixture: the baseline and three others. */
static const char *const keys[] = { "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0",
                                    "c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1",
                                    "c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4",
                                    "c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3" };

#define BLOCKS 20

struct scene {
    struct store *store;
    struct contest contest;
    enum contest_kind kind;
    int n_gpus;
    double times[3]; /* of the baseline and the finalists, ms */
    double odd[3];   /* at the second shape; 0: it has none */
    bool reports;    /* the text is the report of it all */

    size_t shape;          /* of the winner */
    char winner[HASH_HEX]; /* what winner.h makes of it */
    const char *state;
    double low_s;
};

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

/* 0.2 % this way and that, the same for two contestants only by chance. */
static double wobble(int block, size_t contestant, int sample)
{
    unsigned x = (unsigned)block * 7919u + (unsigned)contestant * 104729u +
                 (unsigned)sample * 1299709u;

    x = (x ^ x >> 13) * 0x5bd1e995u;
    return 1 + 0.004 * ((double)(x >> 8 & 0xffff) / 65535 - 0.5);
}

static void put_at(struct scene *s, size_t shape, int block, size_t contestant,
                   const char *outcome)
{
    char *nonce = mem_printf("x%lld-%d-%zu-%zu", (long long)s->contest.pass,
                             block, contestant, shape);
    double ms = shape ? s->odd[contestant] : s->times[contestant];
    struct store_result result = fixture_result(nonce, keys[contestant]);
    double samples[5];
    struct err err = { "" };

    for (int i = 0; i < 5; i++)
        samples[i] = 1e-3 * ms * wobble(block, contestant, i);
    result.shape = s->contest.shapes[shape].name;
    result.purpose = "confirm";
    result.round = contest_round(&s->contest, block);
    result.gpu = block % s->n_gpus ? "GPU-2" : "GPU-1";
    result.outcome = outcome;
    result.samples =
        (struct reals){ samples, strcmp(outcome, "correct") == 0 ? 5 : 0 };
    ok(store_result_put(s->store, &result, &err), &err);
    free(nonce);
}

static void put_result(struct scene *s, int block, size_t contestant,
                       const char *outcome)
{
    for (size_t shape = 0; shape < s->contest.n_shapes; shape++)
        put_at(s, shape, block, contestant, outcome);
}

/* A contest of the baseline and 'finalists' others, and one rejected. */
static void begin(struct scene *s, const char *path, size_t finalists)
{
    struct err err = { "" };

    s->store = report_fixture(path);
    s->contest = (struct contest){ .sweep = 1,
                                   .kind = s->kind,
                                   .seed = 1,
                                   .blocks = BLOCKS,
                                   .samples = 5,
                                   .rules = VERDICT_RULES,
                                   .possible = 3,
                                   .cut = (double)NAN };
    contest_add(&s->contest, keys[0], CONTEST_BASELINE, "");
    for (size_t i = 1; i <= finalists; i++)
        contest_add(&s->contest, keys[i], CONTEST_FINALIST, "");
    contest_add(&s->contest, keys[3], CONTEST_REJECTED, "wrong at odd-17");
    for (size_t i = 0; i < s->contest.n; i++)
        snprintf(s->contest.contestants[i].source_key, HASH_HEX, "5c");
    s->contest.n_shapes = s->odd[0] > 0 ? 2 : 1;
    s->contest.shapes = mem_new(2, sizeof(*s->contest.shapes));
    for (size_t i = 0; i < s->contest.n_shapes; i++) {
        s->contest.shapes[i].name = mem_strdup(i ? "odd" : "n16m");
        snprintf(s->contest.shapes[i].measure_key, HASH_HEX, "3e");
    }
    ok(contest_put(s->store, &s->contest, &err), &err);
    assert_int_equal(s->contest.pass, 1);
}

static void run_blocks(struct scene *s, int blocks)
{
    for (int b = 1; b <= blocks; b++)
        for (size_t i = 0; i < s->contest.n_running; i++)
            put_result(s, b, i, "correct");
}

/* What the sweep measured before. */
static void screen(struct scene *s, size_t shape, const char *key,
                   double seconds)
{
    const char *name = s->contest.shapes[shape].name;
    char *nonce = mem_printf("s-%s-%s", key, name);
    struct store_result result = fixture_result(nonce, key);
    const double samples[] = { seconds, seconds * 1.001, seconds * 0.999 };
    struct err err = { "" };

    result.shape = name;
    result.outcome = "correct";
    result.samples = (struct reals){ samples, 3 };
    ok(store_result_put(s->store, &result, &err), &err);
    ok(store_outcome_put(s->store,
                         &(struct store_outcome){ key, name, "5c", "3e",
                                                  "correct", "", nonce, seconds,
                                                  1, 5 },
                         &err),
       &err);
    free(nonce);
}

/* The second configuration is the best at the headline, the third at odd. */
static void print_bench(const struct conclusion *c, const struct report *report,
                        FILE *to)
{
    struct winner own[] = {
        { .shape = "n16m", .state = "confirmed" },
        { .shape = "odd", .state = "measured, not confirmed" },
    };
    const struct bench bench = {
        .baseline = report_baseline(report),
        .headline = { .config = report_find(report, keys[1]),
                      .shape = "n16m",
                      .state = "confirmed" },
        .own = own,
        .n = 2,
    };

    own[0].config = report_find(report, keys[1]);
    own[1].config = report_find(report, keys[2]);
    bench_json(&bench, c, report, to);
    bench_print(&bench, c, report, to);
}

static struct conclusion *end(struct scene *s, bool ended, char **json)
{
    struct conclusion *c;
    struct report *report;
    struct cost *cost;
    struct err err = { "" };
    struct json_out out;
    struct winner winner;
    size_t len;
    FILE *to = open_memstream(json, &len);

    if (ended)
        ok(contest_put_end(s->store, &s->contest, false, &err), &err);
    ok(store_commit(s->store, &err), &err);
    ok(report_load(s->store, &report, &err), &err);
    ok(cost_load(s->store, &cost, &err), &err);
    ok(conclusion_load(s->store, report, cost, s->kind, &c, &err), &err);
    ok(winner_find(report, s->shape, &winner, &err), &err);
    winner_confirm(report, c, &winner);
    memcpy(s->winner, winner.config->key, HASH_HEX);
    s->state = winner.state;
    s->low_s = winner.low_s;
    if (s->reports) {
        report_table(&(struct report_view){ report, cost, c, NULL, NULL, 0 },
                     to);
    } else if (s->kind == CONTEST_BENCH) {
        print_bench(c, report, to);
    } else {
        json_out_init(&out, to);
        conclusion_json(c, &out, NULL);
        fprintf(to, "\n");
        conclusion_print(c, to);
    }
    fclose(to);
    contest_fini(&s->contest);
    cost_free(cost);
    report_free(report);
    store_close(s->store);
    return c;
}

static void check(struct scene *s, bool ended, const char *sentence)
{
    char *text;
    struct conclusion *c = end(s, ended, &text);

    assert_string_equal(c->sentence, sentence);
    conclusion_free(c);
    free(text);
}

static void a_winner_and_what_ties_with_it(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.763, 0.7632 } };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 2);
    run_blocks(&s, BLOCKS);
    c = end(&s, true, &text);
    assert_string_equal(
        c->sentence, "BLOCK_SIZE=128 VECTOR=true is 1.311x the baseline, 95 "
                     "% interval [1.311, 1.312], confirmed on 2 GPUs; 1 other "
                     "ties with it");
    assert_true(c->success);
    assert_string_equal(s.winner, keys[1]);
    assert_string_equal(s.state, "confirmed");
    assert_true(s.low_s > 0.00076 && s.low_s < 0.00077);
    golden_check("conclusion.txt", text);
    conclusion_free(c);
    free(text);
}

static void a_gain_below_the_target_is_said_and_no_success(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.96 } };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 1);
    run_blocks(&s, BLOCKS);
    c = end(&s, true, &text);
    assert_non_null(strstr(c->sentence, "is 1.04"));
    assert_non_null(strstr(c->sentence, "on 1 GPU; the target of 1.1x is not "
                                        "reached"));
    assert_false(c->success);
    conclusion_free(c);
    free(text);
}

/* The fastest of the screening, which the fixture ranks first. */
static void what_turned_out_wrong_is_not_exported(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.7 } };

    begin(&s, *state, 1);
    run_blocks(&s, 7);
    put_result(&s, 8, 1, "correctness");
    check(&s, false, "nothing is confirmed yet: 7 of 20 blocks are complete");
    assert_string_equal(s.winner, keys[0]);
    assert_string_equal(s.state, "measured, not confirmed");
}

static void every_shape_has_a_verdict_of_its_own(void **state)
{
    struct scene s = { .n_gpus = 2,
                       .times = { 1, 0.8, 0.9 },
                       .odd = { 1, 1.1, 0.85 },
                       .shape = 1 };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 2);
    run_blocks(&s, BLOCKS);
    c = end(&s, true, &text);
    assert_non_null(strstr(c->sentence, "BLOCK_SIZE=128 VECTOR=true is 1.25"));
    assert_string_equal(c->shapes[0].sentence, c->sentence);
    assert_non_null(strstr(c->shapes[1].sentence,
                           "BLOCK_SIZE=64 VECTOR=false is 1.177x the "
                           "baseline, 95 % interval ["));
    assert_non_null(strstr(text, "\nAt odd: BLOCK_SIZE=64 VECTOR=false is"));
    assert_true(c->shapes[0].best == 1 && c->shapes[1].best == 2);
    assert_int_equal(c->best, 1);
    assert_string_equal(s.winner, keys[2]);
    assert_string_equal(s.state, "confirmed");
    assert_true(s.low_s > 0.000845 && s.low_s < 0.00085);
    conclusion_free(c);
    free(text);
}

static void a_report_says_its_verdicts_first_and_shows_them_later(void **state)
{
    struct scene s = { .n_gpus = 2,
                       .times = { 1, 0.8, 0.9 },
                       .odd = { 1, 1.1, 0.85 },
                       .reports = true };
    char *text;

    begin(&s, *state, 2);
    run_blocks(&s, BLOCKS);
    conclusion_free(end(&s, true, &text));
    golden_check("report_verdict.txt", text);
    free(text);
}

/* As in databases whose finalists are those of the headline alone. */
static void the_fastest_of_a_shape_that_was_not_compared_is_named(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.8 }, .odd = { 1, 1.1 } };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 1);
    run_blocks(&s, BLOCKS);
    for (size_t shape = 0; shape < 2; shape++)
        screen(&s, shape, keys[2], shape ? 0.0005 : 0.0009);
    c = end(&s, true, &text);
    assert_null(strstr(c->sentence, "not compared"));
    assert_non_null(strstr(c->shapes[1].sentence,
                           "(SLOW) on 1 GPU; BLOCK_SIZE=64 VECTOR=false, "
                           "which was the fastest there in the sweep, was not "
                           "compared"));
    conclusion_free(c);
    free(text);
}

static void nothing_beats_the_baseline(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 1.0001, 1.05 } };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 2);
    run_blocks(&s, BLOCKS);
    c = end(&s, true, &text);
    assert_non_null(strstr(c->sentence,
                           "nothing beats the baseline: the best of 2 "
                           "finalists, BLOCK_SIZE=128 VECTOR=true, is 1.000x "
                           "as fast, 95 % interval"));
    assert_non_null(strstr(c->sentence, "(SAME) on 2 GPUs"));
    assert_string_equal(s.winner, keys[0]);
    assert_string_equal(s.state,
                        "the baseline, which nothing was shown to beat");
    conclusion_free(c);
    free(text);
}

static void put_external(struct scene *s, int block, const char *outcome,
                         const char *detail, double ms)
{
    char *nonce = mem_printf("e%d", block);
    char *output = mem_printf("{\"name\": \"torch flash\", \"samples\": "
                              "[%.9f, %.9f, %.9f]}",
                              1e-3 * ms * wobble(block, 9, 0),
                              1e-3 * ms * wobble(block, 9, 1),
                              1e-3 * ms * wobble(block, 9, 2));
    const struct store_tool row = {
        .nonce = nonce,
        .purpose = "external",
        .name = "pytorch",
        .config = keys[0],
        .shape = "n16m",
        .round = contest_round(&s->contest, block),
        .attempt = 1,
        .key = "e7",
        .host = "gpu1",
        .gpu = block % s->n_gpus ? "GPU-2" : "GPU-1",
        .outcome = outcome,
        .detail = detail,
        .output = output,
        .log = "",
        .seconds = 4,
        .evidence = strcmp(outcome, "crash") == 0,
    };
    struct err err = { "" };

    ok(store_tool_put(s->store, &row, &err), &err);
    free(nonce);
    free(output);
}

static void the_external_baseline_is_compared_in_its_blocks(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.75 } };
    const struct conclusion_against *against;
    struct conclusion *c;
    char *text;

    begin(&s, *state, 1);
    run_blocks(&s, BLOCKS);
    for (int b = 1; b <= 8; b++)
        put_external(&s, b, "ran", "", 0.9);
    put_external(&s, BLOCKS + 1, "ran", "", 7); /* of a block that broke */
    c = end(&s, true, &text);
    assert_string_equal(c->external->says, "torch flash");
    assert_int_equal(c->external->ran, 9);
    against = &c->external->shapes[0];
    assert_true(fabs(against->time.seconds - 0.9e-3) < 2e-6);
    assert_true(fabs(against->over[1].value - 1.2) < 0.002);
    assert_true(against->over[1].lo > 1.19 && against->over[1].hi < 1.21);
    assert_true(fabs(against->over[0].value - 0.9) < 0.002);
    assert_int_equal(against->over[1].n_blocks, 8);
    assert_non_null(strstr(c->sentence, "is 1.33")); /* as without it */
    golden_check("conclusion_external.txt",
                 strstr(text, "\nExternal baseline"));
    assert_non_null(strstr(text, "\"name\": \"pytorch\""));
    conclusion_free(c);
    free(text);
}

static void without_a_time_of_the_external_baseline_it_is_said_why(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.75 } };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 1);
    run_blocks(&s, BLOCKS);
    put_external(&s, 2, "failed", "exit status 2: PyTorch is needed", 1);
    c = end(&s, true, &text);
    assert_int_equal(c->external->ran, 0);
    assert_non_null(
        strstr(text, "There is no time of the external baseline pytorch: gpu1: "
                     "failed: exit status 2: PyTorch is needed\n"));
    assert_true(c->success);
    conclusion_free(c);
    free(text);
}

static void
an_external_baseline_that_only_crashes_has_no_time_either(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.75 } };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 1);
    run_blocks(&s, BLOCKS);
    put_external(&s, 2, "crash", "signal 9 (SIGKILL)", 1);
    c = end(&s, true, &text);
    assert_int_equal(c->external->failed, 1);
    assert_non_null(
        strstr(text, "There is no time of the external baseline pytorch: gpu1: "
                     "crash: signal 9 (SIGKILL)\n"));
    conclusion_free(c);
    free(text);
}

static void without_a_finalist_nothing_beats_the_baseline(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1 } };

    begin(&s, *state, 0);
    check(&s, true,
          "nothing beats the baseline: none of 1 finalist is right everywhere");
}

static void what_is_not_finished_is_not_confirmed(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.7 } };

    begin(&s, *state, 1);
    run_blocks(&s, 7);
    put_result(&s, 8, 0, "correct"); /* and then it was killed */
    check(&s, false, "nothing is confirmed yet: 7 of 20 blocks are complete");
    assert_string_equal(s.state, "measured, not confirmed");
}

/* Wrong in a block: out, and the blocks count for the others. */
static void one_that_was_wrong_in_a_block_cannot_win(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.5, 0.8 } };
    struct conclusion *c;
    char *text;

    begin(&s, *state, 2);
    for (int b = 1; b <= BLOCKS; b++)
        for (size_t i = 0; i < 3; i++)
            if (i != 1 || b <= 4)
                put_result(&s, b, i,
                           b == 4 && i == 1 ? "correctness" : "correct");
    c = end(&s, true, &text);
    assert_int_equal(c->n, 2);
    assert_int_equal(c->n_rejected, 2);
    assert_int_equal(c->complete, BLOCKS);
    assert_non_null(strstr(c->sentence, "BLOCK_SIZE=64 VECTOR=false is 1.25"));
    conclusion_free(c);
    free(text);
}

static void nothing_was_confirmed_at_all(void **state)
{
    struct scene s = { .store = report_fixture(*state) };

    check(&s, false,
          "nothing is confirmed: no finalist was compared with the baseline "
          "yet");
}

static void an_emulated_one_claims_nothing(void **state)
{
    struct conclusion c = { .state = CONCLUSION_DONE,
                            .emulated = true,
                            .complete = 3 };
    struct conclusion_entry entries[2] = { { .registers = 1 },
                                           { .registers = 1 } };
    struct conclusion_sample samples[6];
    struct contest_shape shape = { .name = (char *)"n" };

    (void)state;
    for (int i = 0; i < 6; i++)
        samples[i] =
            (struct conclusion_sample){ 0,
                                        { i % 2, i / 2, 0, i % 2 ? 0.5 : 1 } };
    c.contest.shapes = &shape;
    c.contest.n_shapes = 1;
    c.contest.rules = (struct verdict_rules)VERDICT_RULES;
    c.entries = entries;
    c.n = 2;
    conclusion_judge(&c, samples, 6);
    conclusion_say(&c);
    assert_string_equal(c.sentence,
                        "the cpu device emulates, and its times say nothing "
                        "about a GPU: the baseline and 1 finalist ran and were "
                        "right in 3 blocks");
    assert_false(c.success);
    blocks_free(c.shapes[0].blocks);
    free(c.shapes[0].findings);
    free(c.shapes);
    free(c.sentence);
}

/* The floor of n16m is 0.6 ms: 60 % of it, 78.6 % and 75 %. */
static void a_bench_shows_who_is_best_at_which_shape(void **state)
{
    struct scene s = { .kind = CONTEST_BENCH,
                       .n_gpus = 2,
                       .times = { 1, 0.763, 0.8 },
                       .odd = { 1, 1.1, 0.85 } };
    char *text;

    begin(&s, *state, 2);
    run_blocks(&s, BLOCKS);
    conclusion_free(end(&s, true, &text));
    golden_check("bench.txt", text);
    free(text);
}

/* The second is always 10 % faster than the baseline; the third is faster or
 * slower by turns, with fewer registers: it ties, and is not the best. */
static void one_that_was_measured_badly_is_not_taken_from_the_tie(void **state)
{
    struct conclusion c = { .state = CONCLUSION_DONE,
                            .complete = 10,
                            .n_gpus = 1 };
    struct conclusion_entry entries[3] = { { .registers = 64 },
                                           { .registers = 64,
                                             .name = (char *)"A=1" },
                                           { .registers = 32 } };
    struct conclusion_sample samples[30];
    struct contest_shape shape = { .name = (char *)"n" };

    (void)state;
    for (int i = 0; i < 30; i++) {
        int block = i / 3;
        double noisy = block % 2 ? 0.7 : 1.1, seconds[] = { 1, 0.9, noisy };

        samples[i] = (struct conclusion_sample){
            0, { i % 3, block, 0, seconds[i % 3] + 1e-4 * block }
        };
    }
    c.contest.shapes = &shape;
    c.contest.n_shapes = 1;
    c.contest.rules = (struct verdict_rules)VERDICT_RULES;
    c.entries = entries;
    c.n = 3;
    conclusion_judge(&c, samples, 30);
    assert_true(c.shapes[0].findings[2].tied);
    assert_int_equal(c.shapes[0].findings[2].verdict, VERDICT_AMBG);
    assert_int_equal(c.shapes[0].findings[1].verdict, VERDICT_FAST);
    assert_int_equal(c.best, 1);
    blocks_free(c.shapes[0].blocks);
    free(c.shapes[0].findings);
    free(c.shapes);
    free(c.sentence);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_winner_and_what_ties_with_it),
        TEST(a_gain_below_the_target_is_said_and_no_success),
        TEST(what_turned_out_wrong_is_not_exported),
        TEST(every_shape_has_a_verdict_of_its_own),
        TEST(a_report_says_its_verdicts_first_and_shows_them_later),
        TEST(the_fastest_of_a_shape_that_was_not_compared_is_named),
        TEST(nothing_beats_the_baseline),
        TEST(the_external_baseline_is_compared_in_its_blocks),
        TEST(without_a_time_of_the_external_baseline_it_is_said_why),
        TEST(an_external_baseline_that_only_crashes_has_no_time_either),
        TEST(without_a_finalist_nothing_beats_the_baseline),
        TEST(what_is_not_finished_is_not_confirmed),
        TEST(one_that_was_wrong_in_a_block_cannot_win),
        TEST(nothing_was_confirmed_at_all),
        TEST(a_bench_shows_who_is_best_at_which_shape),
        cmocka_unit_test(an_emulated_one_claims_nothing),
        cmocka_unit_test(one_that_was_measured_badly_is_not_taken_from_the_tie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
