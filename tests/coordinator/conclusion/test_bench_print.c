#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/conclusion/bench.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/result/report.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

/* The second configuration is the best at the headline, the third at odd. */
static struct bench bench_of(const struct scene *s, struct winner own[2])
{
    const struct report *report = s->report;

    own[0] = (struct winner){ .shape = "n16m",
                              .state = "confirmed",
                              .config = report_find(report, scene_keys[1]) };
    own[1] = (struct winner){ .shape = "odd",
                              .state = "measured, not confirmed",
                              .config = report_find(report, scene_keys[2]) };
    return (struct bench){ .baseline = report_baseline(report),
                           .headline = own[0],
                           .own = own,
                           .n = 2 };
}

static char *shown(const struct scene *s)
{
    const struct report *report = s->report;
    struct winner own[2];
    const struct bench bench = bench_of(s, own);
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    bench_json(&bench, s->conclusion, report, to);
    bench_print(&bench, s->conclusion, report, to);
    fclose(to);
    return text;
}

/* The floor of n16m is 0.6 ms: 60 % of it, 78.6 % and 75 %. */
static void a_bench_shows_who_is_best_at_which_shape(void **state)
{
    struct scene s = { .kind = CONFIRMATION_BENCH,
                       .n_gpus = 2,
                       .times = { 1, 0.763, 0.8 },
                       .odd = { 1, 1.1, 0.85 } };
    char *text;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    text = shown(&s);
    golden_check("bench.txt", text);
    free(text);
    scene_close(&s);
}

/* Two finalists: each interval is of 97.5 %. */
static void a_gain_has_the_confidence_of_the_speedups(void **state)
{
    struct scene s = { .kind = CONFIRMATION_BENCH,
                       .n_gpus = 1,
                       .times = { 1, 0.763, 0.8 },
                       .odd = { 1, 1.1, 0.85 } };
    const struct conclusion_shape *shape;
    struct speedup gain, joint;
    struct winner own[2];
    struct bench bench;

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    bench = bench_of(&s, own);
    shape = &s.conclusion->shapes[1];
    assert_true(bench_gain(&bench, s.conclusion, shape, &gain));
    speedup_of(shape->blocks, 2, 1, 0.975, &joint);
    assert_true(gain.value == joint.value);
    assert_true(gain.lo == joint.lo && gain.hi == joint.hi);
    scene_close(&s);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bench_shows_who_is_best_at_which_shape),
        TEST(a_gain_has_the_confidence_of_the_speedups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
