/* test_conclusion_sentence.c - the verdict in words, and what was checked */
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
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/result/report.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

/* The screening results. */
static void screen(struct scene *s, size_t shape, const char *key,
                   double seconds)
{
    const char *name = s->confirmation.shapes[shape].name;
    char *nonce = mem_printf("s-%s-%s", key, name);
    struct store_result result = fixture_result(nonce, key);
    const double samples[] = { seconds, seconds * 1.001, seconds * 0.999 };
    struct err err = { "" };

    result.id.shape = name;
    result.outcome = "correct";
    result.timing.samples = (struct reals){ samples, 3 };
    ok(store_result_put(s->store, &result, &err), &err);
    ok(store_outcome_put(s->store,
                         &(struct store_outcome){ key, name, "5c", "3e",
                                                  "correct", "", nonce, seconds,
                                                  1, 5 },
                         &err),
       &err);
    free(nonce);
}

static void check(struct scene *s, bool ended, const char *sentence)
{
    scene_end(s, ended);
    assert_string_equal(s->conclusion->sentence, sentence);
}

/* The first look has not been; what there is, is shown without intervals. */
static void a_pass_before_its_first_look_claims_nothing(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1, 0.763 },
                       .looks = { .group = 2, .most = 80 } };

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, 6);
    scene_end(&s, false);
    assert_string_equal(s.conclusion->sentence,
                        "nothing is confirmed yet: 6 of at most 80 blocks are "
                        "complete");
    assert_int_equal(s.conclusion->blocks.looks->looks, 0);
    assert_true(isinf(s.conclusion->shapes[0].findings[1].speedup.hi));
    scene_close(&s);
}

static void a_gain_below_the_target_is_no_success(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.96 } };
    const struct conclusion *c;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_non_null(strstr(c->sentence, "is 1.04"));
    assert_non_null(strstr(c->sentence, "on 1 GPU; the target of 1.1x is not "
                                        "reached"));
    assert_false(c->success);
    scene_close(&s);
}

/* The ratio is above the target, but its interval is not. */
static void a_target_within_the_interval_is_no_success(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.9094 } };
    const struct conclusion *c;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_true(c->shapes[0].findings[1].speedup.value > 1.1);
    assert_non_null(strstr(c->sentence, "on 1 GPU; the target of 1.1x is not "
                                        "shown to be reached"));
    assert_false(c->success);
    scene_close(&s);
}

/* As in databases where only the headline chose finalists. */
static void the_fastest_of_a_shape_that_was_not_compared_is_named(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.8 }, .odd = { 1, 1.1 } };
    const struct conclusion *c;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    for (size_t shape = 0; shape < 2; shape++)
        screen(&s, shape, scene_keys[2], shape ? 0.0005 : 0.0009);
    scene_end(&s, true);
    c = s.conclusion;
    assert_null(strstr(c->sentence, "not compared"));
    assert_non_null(strstr(c->shapes[1].sentence,
                           "(SLOW) on 1 GPU; BLOCK_SIZE=64 VECTOR=false, "
                           "which was the fastest there in the sweep, was not "
                           "compared"));
    scene_close(&s);
}

static void nothing_beats_the_baseline(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 1.0001, 1.05 } };
    const struct conclusion *c;
    struct winner winner;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_non_null(strstr(c->sentence,
                           "nothing beats the baseline: the best of 2 "
                           "finalists, BLOCK_SIZE=128 VECTOR=true, is 1.000x "
                           "as fast, 95 % interval"));
    assert_non_null(strstr(c->sentence, "(SAME) on 2 GPUs"));
    assert_non_null(strstr(c->shapes[0].checked,
                           "The best finalist was right in all 3,120 checked "
                           "launches, with the same bits for the same inputs"));
    winner = scene_winner(&s, 0);
    assert_string_equal(winner.config->key, scene_keys[0]);
    assert_string_equal(winner.state,
                        "the baseline, because nothing was shown to beat it");
    scene_close(&s);
}

/* The sentence of a pass whose finalists have these times. */
static void check_sides(const char *path, double first, double second,
                        const char *begins)
{
    struct scene s = { .n_gpus = 1, .times = { 1, first, second } };

    scene_begin(&s, path, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    if (strncmp(s.conclusion->sentence, begins, strlen(begins)) != 0)
        fail_msg("%s", s.conclusion->sentence);
    scene_close(&s);
}

static void a_gain_within_the_floor_is_faster_all_the_same(void **state)
{
    check_sides(*state, 0.998, 1.05,
                "nothing beats the baseline by more than 0.5 %: the best of 2 "
                "finalists, BLOCK_SIZE=128 VECTOR=true, is faster than the "
                "baseline, 1.00");
}

static void a_gain_that_may_matter_is_faster_all_the_same(void **state)
{
    check_sides(*state, 0.9955, 1.05,
                "nothing is shown to beat the baseline by more than 0.5 %: the "
                "best of 2 finalists, BLOCK_SIZE=128 VECTOR=true, is faster "
                "than the baseline, 1.00");
}

static void a_loss_is_said(void **state)
{
    check_sides(*state, 1.003, 1.05,
                "nothing beats the baseline: the best of 2 finalists, "
                "BLOCK_SIZE=128 VECTOR=true, is slower than the baseline, "
                "0.99");
}

static void without_a_finalist_nothing_beats_the_baseline(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1 } };

    scene_begin(&s, *state, 0);
    check(
        &s, true,
        "nothing beats the baseline: none of 1 finalist is correct everywhere");
    scene_close(&s);
}

static void an_incomplete_pass_confirms_nothing(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.7 } };

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, 7);
    scene_put(&s, 8, 0, "correct"); /* killed right after this */
    check(&s, false, "nothing is confirmed yet: 7 of 20 blocks are complete");
    assert_string_equal(scene_winner(&s, 0).state, "measured, not confirmed");
    scene_close(&s);
}

static void without_a_confirmation_the_state_is_none(void **state)
{
    struct scene s = { .store = report_fixture(*state) };

    check(&s, false,
          "nothing is confirmed: no finalist was compared with the baseline "
          "yet");
    scene_close(&s);
}

/* A result of an older version has no count, which is not 0. */
static void launches_that_nobody_counted_are_not_known(void **state)
{
    struct scene s = {
        .n_gpus = 1, .times = { 1, 0.8 }, .odd = { 1, 0.8 }, .launches = -1
    };
    char *text;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS - 1);
    s.launches = 100;
    scene_put(&s, SCENE_BLOCKS, 0, "correct");
    s.launches = -1;
    scene_put(&s, SCENE_BLOCKS, 1, "correct");
    scene_end(&s, true);
    assert_string_equal(s.conclusion->shapes[0].checked,
                        "How many launches were checked is not known");
    assert_null(s.conclusion->shapes[1].checked);
    text = scene_text(&s);
    assert_non_null(strstr(text, "\"launches\": null,"));
    assert_non_null(strstr(text, "\"launches\": 100,"));
    free(text);
    scene_close(&s);
}

static void emulated_times_give_no_verdict(void **state)
{
    struct conclusion c = { .state = CONCLUSION_DONE,
                            .emulated = true,
                            .blocks.complete = 3 };
    struct conclusion_entry entries[2] = { { .code = (char *)"" },
                                           { .code = (char *)"" } };
    struct conclusion_checked checked[2] = { { 12, 3, 3, false, 0, false },
                                             { 15, 3, 3, true, 0, false } };
    struct conclusion_sample samples[6];
    struct confirmation_shape shape = { .name = (char *)"n" };
    struct candidate candidates[2] = { { .proof_launches = 30 },
                                       { .proof_launches = -1 } };

    (void)state;
    for (int i = 0; i < 6; i++)
        samples[i] =
            (struct conclusion_sample){ 0,
                                        { i % 2, i / 2, 0, i % 2 ? 0.5 : 1 } };
    entries[1].candidate = 1;
    c.confirmation.candidates = candidates;
    c.confirmation.shapes = &shape;
    c.confirmation.n_shapes = 1;
    c.confirmation.rules = (struct verdict_rules)VERDICT_RULES;
    c.entries = entries;
    c.n = 2;
    entries[0].checked = &checked[0];
    entries[1].checked = &checked[1];
    conclusion_judge(&c, 0, samples, 6);
    conclusion_say(&c);
    assert_string_equal(c.shapes[0].checked,
                        "They were right in all 57 checked launches, 30 of "
                        "them in the proof and the others at n, whose bits "
                        "varied with the same inputs, within the tolerance "
                        "(atomics?)");
    free(c.shapes[0].checked);
    assert_string_equal(
        c.sentence,
        "the cpu device emulates, so its times say nothing about a GPU: the "
        "baseline and 1 finalist ran and were correct in 3 blocks");
    assert_false(c.success);
    free(c.sentence);
    c.replayed = true;
    conclusion_say(&c);
    assert_string_equal(c.sentence,
                        "the times were recorded on the cpu device, which "
                        "emulates, so they say nothing about a GPU");
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
        TEST(a_pass_before_its_first_look_claims_nothing),
        TEST(a_gain_below_the_target_is_no_success),
        TEST(a_target_within_the_interval_is_no_success),
        TEST(the_fastest_of_a_shape_that_was_not_compared_is_named),
        TEST(nothing_beats_the_baseline),
        TEST(a_gain_within_the_floor_is_faster_all_the_same),
        TEST(a_gain_that_may_matter_is_faster_all_the_same),
        TEST(a_loss_is_said),
        TEST(without_a_finalist_nothing_beats_the_baseline),
        TEST(an_incomplete_pass_confirms_nothing),
        TEST(without_a_confirmation_the_state_is_none),
        TEST(launches_that_nobody_counted_are_not_known),
        cmocka_unit_test(emulated_times_give_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
