#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/store/store.h"
#include "coordinator/confirm/confirmation_replay.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/plan/external_times.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/store/store_fixture.h"

/* At the first shape; 'shift' tells the noise of one from that of another. */
static void put_run(struct scene *s, const char *name, size_t shift, int block,
                    const char *outcome, const char *detail, double ms)
{
    char *nonce = mem_printf("%s%d", name, block);
    char *output = mem_printf("{\"name\": \"torch %s\", \"samples\": "
                              "[%.9f, %.9f, %.9f]}",
                              name, 1e-3 * ms * scene_wobble(block, shift, 0),
                              1e-3 * ms * scene_wobble(block, shift, 1),
                              1e-3 * ms * scene_wobble(block, shift, 2));
    const struct store_tool row = {
        .nonce = nonce,
        .epoch = REPORT_FIXTURE_EPOCH,
        .purpose = "external",
        .name = name,
        .config = scene_keys[0],
        .shape = "n16m",
        .round = confirmation_round(&s->confirmation, block),
        .attempt = 1,
        .key = name,
        .host = "gpu1",
        .gpu = scene_gpu(s, block),
        .outcome = outcome,
        .detail = detail,
        .output = output,
        .log = "",
        .seconds = 4,
        .evidence = strcmp(outcome, "crash") == 0,
    };
    struct err err = { "" };

    if (store_tool_put(s->store, &row, &err) < 0)
        fail_msg("%s", err.text);
    free(nonce);
    free(output);
}

static void put_external(struct scene *s, int block, const char *outcome,
                         const char *detail, double ms)
{
    put_run(s, "flash", 9, block, outcome, detail, ms);
}

static void the_external_baseline_is_compared_in_its_blocks(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.75 } };
    const struct conclusion_against *against;
    const struct conclusion *c;
    char *text;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    for (int b = 1; b <= 8; b++)
        put_external(&s, b, "ran", "", 0.9);
    put_external(&s, SCENE_BLOCKS + 1, "ran", "",
                 7); /* of a block that broke */
    scene_end(&s, true);
    c = s.conclusion;
    text = scene_text(&s);
    assert_string_equal(c->externals.list[0].says, "torch flash");
    assert_int_equal(c->externals.list[0].ran, 9);
    against = &c->externals.list[0].shapes[0];
    assert_true(fabs(against->time.seconds - 0.9e-3) < 2e-6);
    assert_true(fabs(against->findings[1].speedup.value - 1.2) < 0.002);
    assert_true(against->findings[1].speedup.lo > 1.19 &&
                against->findings[1].speedup.hi < 1.21);
    assert_true(fabs(against->findings[0].speedup.value - 0.9) < 0.002);
    assert_int_equal(against->findings[1].speedup.n_blocks, 8);
    assert_non_null(strstr(c->sentence, "is 1.33")); /* the same as without the
                                                      * external baseline */
    golden_check("conclusion_external.txt",
                 strstr(text, "\nExternal baseline"));
    assert_non_null(strstr(text, "\"name\": \"flash\""));
    free(text);
    scene_close(&s);
}

static void without_a_time_of_the_external_baseline_it_is_said_why(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.75 } };
    const struct conclusion *c;
    char *text;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    put_external(&s, 2, "failed", "exit status 2: PyTorch is needed", 1);
    scene_end(&s, true);
    c = s.conclusion;
    text = scene_text(&s);
    assert_int_equal(c->externals.list[0].ran, 0);
    assert_non_null(strstr(text,
                           "The external baseline flash has no time: gpu1: "
                           "failed: exit status 2: PyTorch is needed\n"));
    assert_true(c->success);
    free(text);
    text = conclusion_external_missing(c);
    assert_string_equal(text, "flash has no time: gpu1: failed: exit status 2: "
                              "PyTorch is needed");
    free(text);
    scene_close(&s);
}

static void those_without_a_time_share_a_sentence(void **state)
{
    char a[] = "a", b[] = "b", c[] = "c", why[] = "gpu1: no python3",
         other[] = "gpu1: no cuDNN";
    struct conclusion_external list[] = { { .name = a, .why = why },
                                          { .name = b, .why = why, .ran = 1 },
                                          { .name = c, .why = why } };
    const struct conclusion conclusion = { .externals = { .list = list,
                                                          .n = 3 } };
    char *text = conclusion_external_missing(&conclusion);

    (void)state;
    assert_string_equal(text, "a and c have no time: gpu1: no python3");
    free(text);
    list[1].ran = 0;
    list[2].why = other;
    text = conclusion_external_missing(&conclusion);
    assert_string_equal(text, "a, b and c have no time: for the first of them, "
                              "gpu1: no python3");
    free(text);
    for (size_t i = 0; i < 3; i++)
        list[i].ran = 1;
    assert_null(conclusion_external_missing(&conclusion));
}

static void
an_external_baseline_that_only_crashes_has_no_time_either(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.75 } };
    const struct conclusion *c;
    char *text;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    put_external(&s, 2, "crash", "signal 9 (SIGKILL)", 1);
    scene_end(&s, true);
    c = s.conclusion;
    text = scene_text(&s);
    assert_int_equal(c->externals.list[0].failed, 1);
    assert_non_null(strstr(text,
                           "The external baseline flash has no time: gpu1: "
                           "crash: signal 9 (SIGKILL)\n"));
    free(text);
    scene_close(&s);
}

/* 1.2x flash, 0.92x cudnn and the same as the baseline, in 20, 8 and 20
 * blocks. */
static void begin_with_three(struct scene *s, const char *path)
{
    scene_begin(s, path, 1);
    scene_put_blocks(s, SCENE_BLOCKS);
    for (int b = 1; b <= SCENE_BLOCKS; b++)
        put_run(s, "flash", 9, b, "ran", "", 1.2);
    for (int b = 1; b <= 8; b++)
        put_run(s, "cudnn", 10, b, "ran", "", 0.92);
    scene_end(s, true);
}

static void several_stand_beside_the_verdict_over_the_baseline(void **state)
{
    struct scene s = { .n_gpus = 2, .times = { 1.5, 1.001 } };
    const struct conclusion *c;

    begin_with_three(&s, *state);
    c = s.conclusion;
    assert_int_equal(c->externals.n, 2);
    assert_string_equal(c->externals.list[0].name, "cudnn");
    assert_string_equal(c->externals.list[1].name, "flash");
    assert_int_equal(
        c->externals.list[0].shapes[0].findings[1].speedup.n_blocks, 8);
    assert_int_equal(
        c->externals.list[1].shapes[0].findings[1].speedup.n_blocks, 20);
    assert_non_null(strstr(c->sentence, "x the baseline, 95 % interval ["));
    assert_non_null(strstr(c->sentence, ", confirmed on 2 GPUs; it is 0.9"));
    assert_non_null(strstr(c->sentence, "x cudnn ["));
    assert_non_null(strstr(c->sentence, "] and 1.19"));
    assert_non_null(strstr(c->sentence, "x flash ["));
    assert_true(c->success);
    scene_close(&s);
}

static void the_rule_may_be_against_an_external_baseline(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1, 1.0001 },
                       .against = "flash" };
    const struct conclusion *c;
    char *text;

    begin_with_three(&s, *state);
    c = s.conclusion;
    text = scene_text(&s);
    assert_int_equal(c->shapes[0].findings[1].verdict, VERDICT_SAME);
    assert_non_null(strstr(c->sentence, "BLOCK_SIZE=128 VECTOR=true is 1.2"));
    assert_non_null(strstr(c->sentence, "x flash, 95 % interval ["));
    assert_non_null(strstr(c->sentence, ", confirmed on 1 GPU; it is 0.92"));
    assert_non_null(strstr(c->sentence, "and the same as the baseline ["));
    assert_true(c->success && c->shapes[0].success);
    assert_non_null(strstr(text, "\"against\": \"flash\""));
    free(text);
    scene_close(&s);
}

static int one_card(void *arg, const char *uuid)
{
    (void)arg;
    (void)uuid;
    return 0;
}

/* A pass and a report make the same looks. */
static void assert_replayed(const struct scene *s, const struct sequential *is)
{
    const struct confirmation_replay_ask ask = { one_card, NULL,
                                                 external_times };
    struct sequential *found;
    struct err err;
    bool out[8];

    assert_int_equal(confirmation_replay(s->store, &s->confirmation, &ask, out,
                                         &found, &err),
                     0);
    assert_int_equal(found->end, is->end);
    assert_int_equal(found->used, is->used);
    assert_int_equal(found->looks, is->looks);
    assert_false(out[0] || out[1]);
    sequential_free(found);
}

/* The looks end it. */
static void looks_ask_about_what_the_rule_is_against(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1.5, 1.0001 },
                       .against = "flash",
                       .looks = { 2, 70, false } };
    const struct finding *found;
    const struct sequential *looks;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    for (int b = 1; b <= SCENE_BLOCKS; b++)
        put_external(&s, b, "ran", "", 1.2);
    scene_end(&s, true);
    looks = s.conclusion->blocks.looks;
    found = s.conclusion->externals.list[0].shapes[0].findings;
    assert_int_equal(looks->end, SEQUENTIAL_CLEAR);
    assert_in_range(looks->used, 8, SCENE_BLOCKS);
    assert_replayed(&s, looks);
    assert_int_equal(found[1].speedup.n_blocks, looks->used);
    assert_near(found[1].speedup.value, 1.2, 0.002);
    assert_int_equal(found[1].verdict, VERDICT_FAST);
    assert_true(s.conclusion->success);
    assert_non_null(strstr(s.conclusion->sentence, "x flash, 95 % interval ["));
    scene_close(&s);
}

/* It beats the baseline by far, and flash by nothing. */
static void nothing_that_beats_it_ends_the_pass_too(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1.5, 1.0001 },
                       .against = "flash",
                       .looks = { 2, 70, false } };

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    for (int b = 1; b <= SCENE_BLOCKS; b++)
        put_external(&s, b, "ran", "", 0.9);
    scene_end(&s, true);
    assert_int_equal(s.conclusion->blocks.looks->end, SEQUENTIAL_CLEAR);
    assert_false(s.conclusion->success);
    assert_non_null(strstr(s.conclusion->sentence, "nothing beats flash: "));
    scene_close(&s);
}

static void a_target_over_an_external_baseline_may_be_missed(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1.5, 1.1 }, .against = "flash" };
    const struct conclusion *c;

    begin_with_three(&s, *state); /* 1.09x flash, 1.36x the baseline */
    c = s.conclusion;
    assert_non_null(strstr(c->sentence, "x flash, 95 % interval [1.0"));
    assert_non_null(
        strstr(c->sentence, "; the target of 1.1x is not reached; it is 0.8"));
    assert_non_null(strstr(c->sentence, "x cudnn ["));
    assert_non_null(strstr(c->sentence, "] and 1.36"));
    assert_false(c->success);
    scene_close(&s);
}

static void slower_than_what_the_rule_is_against_is_said_so(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1.5, 1.3 }, .against = "cudnn" };
    const struct conclusion *c;

    begin_with_three(&s, *state);
    c = s.conclusion;
    assert_non_null(strstr(c->sentence,
                           "nothing beats cudnn: the best of 1 finalist, "
                           "BLOCK_SIZE=128 VECTOR=true, is slower than cudnn, "
                           "0.7"));
    assert_non_null(strstr(c->sentence, "(SLOW) on 1 GPU; it is 0.92"));
    assert_false(c->success);
    scene_close(&s);
}

static void a_rule_against_one_without_a_time_is_not_met(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.75 }, .against = "flash" };
    const struct conclusion *c;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    put_external(&s, 1, "missing", "no such program", 1);
    scene_end(&s, true);
    c = s.conclusion;
    assert_non_null(strstr(
        c->sentence, "nothing is shown to beat flash, which has no time (gpu1: "
                     "missing: no such program); the best of 1 finalist is "
                     "BLOCK_SIZE=128 VECTOR=true; it is 1.33"));
    assert_false(c->success);
    scene_close(&s);
}

/* The finalist (1) and the external baseline (0) of the scene below. */
static struct blocks *two_in_blocks(int n)
{
    struct block_sample samples[64];
    struct blocks *blocks;
    size_t kept = 0;

    for (int b = 1; b <= n; b++) {
        for (int i = 0; i < 5; i++)
            samples[kept++] =
                (struct block_sample){ 1, b, 0,
                                       0.75e-3 * scene_wobble(b, 1, i) };
        for (int i = 0; i < 3; i++)
            samples[kept++] =
                (struct block_sample){ 0, b, 0,
                                       0.9e-3 * scene_wobble(b, 9, i) };
    }
    blocks = blocks_new(samples, kept, 2);
    return blocks;
}

/* A finalist and the baseline are one family, so each interval is of 97.5 %. */
static void intervals_over_it_hold_for_all_together(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.75 } };
    struct blocks *blocks = two_in_blocks(8);
    struct speedup alone, joint;
    const struct speedup *found;

    speedup_of(blocks, 1, 0, 0.95, &alone);
    speedup_of(blocks, 1, 0, 0.975, &joint);
    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    for (int b = 1; b <= 8; b++)
        put_external(&s, b, "ran", "", 0.9);
    scene_end(&s, true);
    found = &s.conclusion->externals.list[0].shapes[0].findings[1].speedup;
    assert_true(fabs(found->lo - joint.lo) < 1e-5);
    assert_true(fabs(found->hi - joint.hi) < 1e-5);
    assert_true(joint.hi - joint.lo > alone.hi - alone.lo + 1e-4);
    blocks_free(blocks);
    scene_close(&s);
}

/* It has times at the first shape alone, so none over all. */
static void over_all_shapes_it_needs_a_time_at_each(void **state)
{
    struct scene s = { .n_gpus = 1,
                       .times = { 1, 0.75 },
                       .odd = { 1, 0.75 },
                       .objective = "geomean",
                       .against = "flash" };
    const struct conclusion *c;

    scene_begin(&s, *state, 1);
    scene_put_blocks(&s, SCENE_BLOCKS);
    for (int b = 1; b <= 8; b++)
        put_external(&s, b, "ran", "", 0.9);
    scene_end(&s, true);
    c = s.conclusion;
    assert_string_equal(c->shapes[1].name, "n16m");
    assert_true(isnan(c->externals.list[0].shapes[0].time.seconds));
    assert_int_equal(
        c->externals.list[0].shapes[1].findings[1].speedup.n_blocks, 8);
    assert_non_null(strstr(c->sentence,
                           "nothing is shown to beat flash, which has no time "
                           "by the geometric mean of 2 shapes; the best of 1"));
    assert_false(c->success);
    assert_true(c->shapes[1].success);
    scene_close(&s);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_external_baseline_is_compared_in_its_blocks),
        TEST(without_a_time_of_the_external_baseline_it_is_said_why),
        cmocka_unit_test(those_without_a_time_share_a_sentence),
        TEST(an_external_baseline_that_only_crashes_has_no_time_either),
        TEST(several_stand_beside_the_verdict_over_the_baseline),
        TEST(the_rule_may_be_against_an_external_baseline),
        TEST(looks_ask_about_what_the_rule_is_against),
        TEST(nothing_that_beats_it_ends_the_pass_too),
        TEST(a_target_over_an_external_baseline_may_be_missed),
        TEST(slower_than_what_the_rule_is_against_is_said_so),
        TEST(a_rule_against_one_without_a_time_is_not_met),
        TEST(intervals_over_it_hold_for_all_together),
        TEST(over_all_shapes_it_needs_a_time_at_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
