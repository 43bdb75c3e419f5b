#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/notes/notices.h"
#include "coordinator/reactor/results.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static char told[512];
static double best_s, usd;

static void keep(void *arg, const struct sweep_notice *notice)
{
    static const char *const kinds[] = {
        [SWEEP_NOTICE_LOST] = "lost",
        [SWEEP_NOTICE_READY] = "ready",
        [SWEEP_NOTICE_BEST] = "best",
        [SWEEP_NOTICE_END] = "end",
    };
    size_t used = strlen(told);

    assert_ptr_equal(arg, &rig);
    snprintf(told + used, sizeof(told) - used, "%s %s %s\n",
             kinds[notice->kind], notice->host ? notice->host : "-",
             notice->why ? notice->why : "-");
    best_s = notice->best_s;
    usd = notice->usd;
}

static int setup(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    rig.options.watch.notify = keep;
    rig.options.watch.arg = &rig;
    told[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void hosts_are_told_when_they_come_and_go(void **state)
{
    (void)state;
    notices_host_ready(&rig.sweep, 1);
    results_host_lost(&rig.sweep, 1, "silent for 30 s");
    assert_string_equal(told, "ready b -\nlost b silent for 30 s\n");
    assert_true(isnan(usd)); /* no host has a price */
}

static void measure(double median_s)
{
    struct rig_sent sent;

    rig_dispatch(&rig);
    sent = *rig_last(&rig, MSG_MEASURE);

    assert_int_equal(rig_measured(&rig, &sent, "correct", median_s), 0);
}

static void a_best_is_told_once_and_only_if_it_is_faster(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    told[0] = '\0';
    notices_turn(&rig.sweep); /* nothing is known before the first turn */
    rig_build_two(&rig);
    measure(2e-3);
    notices_turn(&rig.sweep);
    notices_turn(&rig.sweep);
    assert_string_equal(told, "best - -\n");
    assert_float_equal(best_s, 2e-3, 1e-12);
    notices_end(&rig.sweep);
    assert_string_equal(told, "best - -\nend - -\n");
}

/* A run that continues knows the best of the run before. */
static void what_was_the_best_before_is_not_told_again(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    measure(2e-3);
    told[0] = '\0';
    notices_turn(&rig.sweep); /* the first turn */
    notices_turn(&rig.sweep);
    assert_string_equal(told, "");
}

static void without_an_onlooker_nothing_is_told(void **state)
{
    (void)state;
    rig.options.watch.notify = NULL;
    results_host_lost(&rig.sweep, 1, "why");
    notices_turn(&rig.sweep);
    notices_end(&rig.sweep);
    assert_string_equal(told, "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(hosts_are_told_when_they_come_and_go),
        TEST(a_best_is_told_once_and_only_if_it_is_faster),
        TEST(what_was_the_best_before_is_not_told_again),
        TEST(without_an_onlooker_nothing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
