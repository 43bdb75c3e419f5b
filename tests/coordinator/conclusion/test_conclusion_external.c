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
#include "coordinator/store/store.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

static void put_external(struct scene *s, int block, const char *outcome,
                         const char *detail, double ms)
{
    char *nonce = mem_printf("e%d", block);
    char *output = mem_printf("{\"name\": \"torch flash\", \"samples\": "
                              "[%.9f, %.9f, %.9f]}",
                              1e-3 * ms * scene_wobble(block, 9, 0),
                              1e-3 * ms * scene_wobble(block, 9, 1),
                              1e-3 * ms * scene_wobble(block, 9, 2));
    const struct store_tool row = {
        .nonce = nonce,
        .epoch = REPORT_FIXTURE_EPOCH,
        .purpose = "external",
        .name = "pytorch",
        .config = scene_keys[0],
        .shape = "n16m",
        .round = confirmation_round(&s->confirmation, block),
        .attempt = 1,
        .key = "e7",
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
    assert_string_equal(c->external->says, "torch flash");
    assert_int_equal(c->external->ran, 9);
    against = &c->external->shapes[0];
    assert_true(fabs(against->time.seconds - 0.9e-3) < 2e-6);
    assert_true(fabs(against->over[1].value - 1.2) < 0.002);
    assert_true(against->over[1].lo > 1.19 && against->over[1].hi < 1.21);
    assert_true(fabs(against->over[0].value - 0.9) < 0.002);
    assert_int_equal(against->over[1].n_blocks, 8);
    assert_non_null(strstr(c->sentence, "is 1.33")); /* the same as without the
                                                      * external baseline */
    golden_check("conclusion_external.txt",
                 strstr(text, "\nExternal baseline"));
    assert_non_null(strstr(text, "\"name\": \"pytorch\""));
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
    assert_int_equal(c->external->ran, 0);
    assert_non_null(strstr(text,
                           "The external baseline pytorch has no time: gpu1: "
                           "failed: exit status 2: PyTorch is needed\n"));
    assert_true(c->success);
    free(text);
    scene_close(&s);
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
    assert_int_equal(c->external->failed, 1);
    assert_non_null(strstr(text,
                           "The external baseline pytorch has no time: gpu1: "
                           "crash: signal 9 (SIGKILL)\n"));
    free(text);
    scene_close(&s);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_external_baseline_is_compared_in_its_blocks),
        TEST(without_a_time_of_the_external_baseline_it_is_said_why),
        TEST(an_external_baseline_that_only_crashes_has_no_time_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
