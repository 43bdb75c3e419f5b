/* test_conclusion.c - the best configuration, by shape and by objective */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/result/report.h"
#include "coordinator/search/objective.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

static void assert_winner(const struct scene *s, const char *key,
                          const char *state)
{
    struct winner winner = scene_winner(s, 0);

    assert_string_equal(winner.config->key, key);
    assert_string_equal(winner.state, state);
}

static void a_winner_and_what_ties_with_it(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.763, 0.7632 } };
    const struct conclusion *c;
    struct winner winner;
    char *text;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_string_equal(
        c->sentence, "BLOCK_SIZE=128 VECTOR=true is 1.311x the baseline, 95 "
                     "% interval [1.311, 1.312], confirmed on 2 GPUs; 1 other "
                     "ties with it");
    assert_true(c->success);
    winner = scene_winner(&s, 0);
    assert_string_equal(winner.config->key, scene_keys[1]);
    assert_string_equal(winner.state, "confirmed");
    assert_true(winner.low_s > 0.00076 && winner.low_s < 0.00077);
    text = scene_text(&s);
    golden_check("conclusion.txt", text);
    free(text);
    scene_close(&s);
}

/* Blocks that were made after the question was answered count for nothing. */
static void a_pass_with_looks_ends_at_the_look_that_answers(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1, 0.763, 0.9 },
                       .looks = { .group = 2, .most = 80 } };
    const struct conclusion *c;
    char *text;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_int_equal(c->confirmation.looks.most, 80);
    assert_int_equal(c->blocks.looks->end, SEQUENTIAL_CLEAR);
    assert_int_equal(c->blocks.looks->looks, 1);
    assert_int_equal(c->blocks.complete, c->blocks.looks->used);
    assert_in_range(c->blocks.complete, 8, 14);
    assert_int_equal(c->blocks.broken, 0);
    assert_true(c->success);
    assert_int_equal(c->best, 1);
    assert_int_equal(c->shapes[0].n_tied, 1);
    text = scene_text(&s);
    assert_non_null(strstr(text, "\"end\": \"clear\""));
    assert_non_null(strstr(text, "10 of at most 80 blocks, because the "
                                 "question is answered; looked at 1 time,"));
    free(text);
    scene_close(&s);
}

/* The second finalist is 0.2 % faster than the first, which has the lower
 * point. */
static void check_tie(const char *path, bool same_code, size_t best)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1, 0.8016, 0.8 },
                       .same_code = same_code };
    const struct conclusion *c;

    scene_begin(&s, path, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_true(c->entries[1].config->point < c->entries[2].config->point);
    assert_int_equal(c->shapes[0].leader, 2);
    assert_int_equal(c->shapes[0].n_tied, 2);
    assert_int_equal(c->best, best);
    scene_close(&s);
}

static void the_faster_of_two_that_tie_is_named(void **state)
{
    check_tie(*state, false, 2);
}

static void of_two_with_one_machine_code_the_lower_point_is_named(void **state)
{
    check_tie(*state, true, 1);
}

/* The fastest of the screening, which the fixture ranks first. */
static void a_wrong_configuration_is_not_exported(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.7 } };

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, 7);
    scene_put(&s, 8, 1, "correctness");
    scene_end(&s, false);
    assert_string_equal(
        s.conclusion->sentence,
        "nothing is confirmed yet: 7 of 20 blocks are complete");
    assert_winner(&s, scene_keys[0], "measured, not confirmed");
    scene_close(&s);
}

static void every_shape_has_a_verdict_of_its_own(void **state)
{
    struct scene s = { .n_gpus = 2,
                       .times = { 1, 0.8, 0.9 },
                       .odd = { 1, 1.1, 0.85 } };
    const struct conclusion *c;
    struct winner winner;
    char *text;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_non_null(strstr(c->sentence, "BLOCK_SIZE=128 VECTOR=true is 1.25"));
    assert_string_equal(c->shapes[0].sentence, c->sentence);
    assert_non_null(strstr(c->shapes[1].sentence,
                           "BLOCK_SIZE=64 VECTOR=false is 1.177x the "
                           "baseline, 95 % interval ["));
    text = scene_text(&s);
    assert_non_null(strstr(text, "\nAt odd: BLOCK_SIZE=64 VECTOR=false is"));
    assert_true(c->shapes[0].best == 1 && c->shapes[1].best == 2);
    assert_int_equal(c->best, 1);
    winner = scene_winner(&s, 1);
    assert_string_equal(winner.config->key, scene_keys[2]);
    assert_string_equal(winner.state, "confirmed");
    assert_true(winner.low_s > 0.000845 && winner.low_s < 0.00085);
    free(text);
    scene_close(&s);
}

/* Wrong in a block: it is out, and the blocks count for the others. */
static void one_that_was_wrong_in_a_block_cannot_win(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.5, 0.8 } };
    const struct conclusion *c;

    scene_begin(&s, *state, 2);
    for (int b = 1; b <= SCENE_BLOCKS; b++)
        for (size_t i = 0; i < 3; i++)
            if (i != 1 || b <= 4)
                scene_put(&s, b, i,
                          b == 4 && i == 1 ? "correctness" : "correct");
    scene_end(&s, true);
    c = s.conclusion;
    assert_int_equal(c->n, 2);
    assert_int_equal(c->n_rejected, 2);
    assert_int_equal(c->blocks.complete, SCENE_BLOCKS);
    assert_non_null(strstr(c->sentence, "BLOCK_SIZE=64 VECTOR=false is 1.25"));
    scene_close(&s);
}

/* The first finalist is the best at the headline, 1.25x and 1x; the second by
 * the geometric mean, 1.176x and 1.25x. */
static void the_verdict_follows_the_objective(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1, 0.8, 0.85 },
                       .odd = { 1, 1, 0.8 },
                       .objective = "geomean",
                       .launches = 45,
                       .proof = 240,
                       .unjudged = true };
    const struct conclusion *c;
    struct winner winner;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_int_equal(c->n_shapes, 3);
    assert_string_equal(c->shapes[0].name, "geomean");
    assert_string_equal(c->shapes[1].name, "n16m");
    assert_int_equal(c->best, 2);
    assert_int_equal(c->shapes[1].best, 1);
    assert_true(fabs(c->shapes[0].findings[2].speedup.value - 1.2127) < 2e-3);
    assert_true(fabs(c->shapes[0].findings[1].speedup.value - 1.1180) < 2e-3);
    assert_non_null(strstr(c->sentence, "x the baseline by the geometric mean "
                                        "of 2 shapes, 95 % interval [1.21"));
    assert_string_equal(
        c->shapes[0].checked,
        "It was right in all 2,040 checked launches, 240 of them in the proof "
        "and the others at 2 shapes, with the same bits for the same inputs; "
        "that is fewer than the 3,000 that are wanted at each shape: 900 at "
        "n16m; a fault in one launch of 300 would have been found at each of "
        "these shapes with 95 %");
    assert_non_null(strstr(c->shapes[1].checked,
                           "right in all 1,140 checked launches, 240 of them "
                           "in the proof and the others at n16m, whose bits "
                           "varied"));
    assert_non_null(strstr(c->shapes[1].checked, "was not judged"));
    assert_true(c->success);
    winner = scene_winner(&s, OBJECTIVE_ALL);
    assert_string_equal(winner.config->key, scene_keys[2]);
    assert_string_equal(winner.shape, "geomean");
    assert_string_equal(winner.state, "confirmed");
    scene_close(&s);
}

static void the_looks_follow_the_objective(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1, 0.8, 0.85 },
                       .odd = { 1, 1, 0.8 },
                       .objective = "geomean",
                       .looks = { 2, 80, true } };
    const struct conclusion *c;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_true(c->confirmation.looks.over_all); /* it was stored */
    assert_int_equal(c->blocks.looks->end, SEQUENTIAL_CLEAR);
    assert_int_equal(c->n_shapes, 3);
    assert_string_equal(c->shapes[0].name, "geomean");
    assert_int_equal(c->shapes[0].n_tied, 1);
    assert_int_equal(c->best, 2);
    assert_int_equal(c->shapes[1].best, 1);
    assert_int_equal(c->shapes[2].best, 2);
    assert_true(c->success);
    scene_close(&s);
}

/* 1.25x at the headline is not asked for. */
static void the_objective_may_be_another_shape(void **state)
{
    struct scene s = {
        .n_gpus = 1, .times = { 1, 0.8 }, .odd = { 1, 0.95 }, .objective = "odd"
    };
    const struct conclusion *c;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    c = s.conclusion;
    assert_int_equal(c->n_shapes, 2);
    assert_string_equal(c->shapes[0].name, "odd");
    assert_string_equal(c->shapes[1].name, "n16m");
    assert_non_null(strstr(c->sentence, "x the baseline at odd, 95 % "));
    assert_non_null(strstr(c->sentence, "; the target of 1.1x is not reached"));
    assert_false(c->success);
    assert_true(c->shapes[1].success);
    scene_close(&s);
}

/* The second is always 10 % faster than the baseline.  The third is faster or
 * slower in turn, and faster on the whole: it leads, but is not the best. */
static void the_tie_break_ignores_badly_measured_ones(void **state)
{
    struct conclusion c = { .state = CONCLUSION_DONE,
                            .blocks.complete = 10,
                            .n_gpus = 1 };
    struct conclusion_entry entries[3] = { { .code = (char *)"" },
                                           { .code = (char *)"",
                                             .name = (char *)"A=1" },
                                           { .code = (char *)"" } };
    struct conclusion_sample samples[30];
    struct confirmation_shape shape = { .name = (char *)"n" };

    (void)state;
    for (int i = 0; i < 30; i++) {
        int block = i / 3;
        double noisy = block % 2 ? 0.6 : 1.1, seconds[] = { 1, 0.9, noisy };

        samples[i] = (struct conclusion_sample){
            0, { i % 3, block, 0, seconds[i % 3] + 1e-4 * block }
        };
    }
    c.confirmation.shapes = &shape;
    c.confirmation.n_shapes = 1;
    c.confirmation.rules = (struct verdict_rules)VERDICT_RULES;
    c.entries = entries;
    c.n = 3;
    conclusion_judge(&c, 0, samples, 30);
    assert_int_equal(c.shapes[0].leader, 2);
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
        TEST(the_verdict_follows_the_objective),
        TEST(the_looks_follow_the_objective),
        TEST(the_objective_may_be_another_shape),
        TEST(a_pass_with_looks_ends_at_the_look_that_answers),
        TEST(the_faster_of_two_that_tie_is_named),
        TEST(of_two_with_one_machine_code_the_lower_point_is_named),
        TEST(a_wrong_configuration_is_not_exported),
        TEST(every_shape_has_a_verdict_of_its_own),
        TEST(one_that_was_wrong_in_a_block_cannot_win),
        cmocka_unit_test(the_tie_break_ignores_badly_measured_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
