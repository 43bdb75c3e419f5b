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
static char *shown(const struct scene *s)
{
    const struct report *report = s->report;
    struct winner own[] = {
        { .shape = "n16m", .state = "confirmed" },
        { .shape = "odd", .state = "measured, not confirmed" },
    };
    const struct bench bench = {
        .baseline = report_baseline(report),
        .headline = { .config = report_find(report, scene_keys[1]),
                      .shape = "n16m",
                      .state = "confirmed" },
        .own = own,
        .n = 2,
    };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    own[0].config = report_find(report, scene_keys[1]);
    own[1].config = report_find(report, scene_keys[2]);
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

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bench_shows_who_is_best_at_which_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
