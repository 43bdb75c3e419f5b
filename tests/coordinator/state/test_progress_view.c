#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/state/pass_ops.h"
#include "coordinator/state/progress_view.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct progress_facts facts;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    progress_free(rig.sweep.reactor.progress);
    rig.sweep.reactor.progress = progress_new(false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* These units, and of them those below 'correct' are. */
static void settle_from(int unit, int end, int correct)
{
    static const double time_s[] = { 4e-3, 2e-3, 3e-3 };

    for (; unit < end; unit++)
        tried_count(&rig.sweep.work.count.tried, rig.sweep.work.plan, unit, 0,
                    (struct tally_unit){ 1, unit < correct },
                    unit < 3 ? time_s[unit] : (double)NAN);
}

static void settle(int units, int correct)
{
    settle_from(0, units, correct);
}

/* What was said, without its time. */
static const char *heard_at(const char *heard)
{
    assert_true(strlen(heard) > strlen("2026-01-02T03:04:05Z "));
    return heard + strlen("2026-01-02T03:04:05Z ");
}

static void configurations_are_counted_by_what_settled_them(void **state)
{
    (void)state;
    settle(4, 3);
    progress_view_facts(&rig.sweep, &facts);
    assert_int_equal(facts.total, 30);
    assert_int_equal(facts.settled, 4);
    assert_int_equal(facts.correct, 3);
    assert_int_equal(facts.hosts, 2);
    assert_float_equal(facts.best.s, 2e-3, 1e-9);
}

static void what_a_command_names_is_checked(void **state)
{
    const struct plan_ask ask = { 0 };

    (void)state;
    settle(4, 3);
    rig.options.ask = &ask;
    progress_view_facts(&rig.sweep, &facts);
    assert_int_equal(facts.kind, PROGRESS_CHECKED);
    assert_int_equal(facts.correct, 3);
    assert_true(isnan(facts.best.s));
}

static void builds_are_counted_by_what_became_of_them(void **state)
{
    (void)state;
    rig.options.builds_only = true;
    sched_settled(rig.sweep.work.sched, JOB_BUILD, 0, 0, true);
    sched_settled(rig.sweep.work.sched, JOB_BUILD, 1, 0, true);
    sched_settled(rig.sweep.work.sched, JOB_BUILD, 29, 0, false);
    progress_view_facts(&rig.sweep, &facts);
    assert_int_equal(facts.total, 30);
    assert_int_equal(facts.settled, 3);
    assert_int_equal(facts.correct, 2);
    rig.sweep.work.count.left_out = 1; /* settled, and none of them */
    progress_view_facts(&rig.sweep, &facts);
    assert_int_equal(facts.total, 29);
    assert_int_equal(facts.settled, 2);
    assert_int_equal(facts.correct, 1);
}

/* The reference is none of them. */
static void the_reference_is_not_counted(void **state)
{
    (void)state;
    rig.options.builds_only = true;
    sched_settled(rig.sweep.work.sched, JOB_BUILD, 30, 0, true);
    progress_view_facts(&rig.sweep, &facts);
    assert_int_equal(facts.settled, 0);
}

static void what_is_out_and_who_is_ready_is_shown(void **state)
{
    const char *heard;

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_int_equal(rig_dispatch(&rig), 3);
    rig_listen(&rig);
    progress_view_show(&rig.sweep, RIG_START_NS, true);
    heard = rig_heard(&rig);
    assert_string_equal(heard_at(heard),
                        "0/30 tried  0 correct  0 failed  2 building  1 "
                        "measuring  1/2 hosts  0 s\n");
}

/* More than there are lanes for. */
static void seventeen_gpus_may_measure(void **state)
{
    enum {
        N = 17
    };
    struct rig_sent builds[N + 1];
    const char *heard;

    (void)state;
    rig_ready(&rig, 0, N, N); /* and one build is ahead */
    assert_int_equal(rig_dispatch(&rig), N + 1);
    memcpy(builds, &rig.sent[rig.n_sent - N - 1], sizeof(builds));
    for (size_t i = 0; i <= N; i++)
        assert_int_equal(rig_built(&rig, &builds[i], "built"), 0);
    rig_dispatch(&rig);
    rig_listen(&rig);
    progress_view_show(&rig.sweep, RIG_START_NS, true);
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "  17 measuring  1/2 hosts"));
}

static void a_lane_says_what_its_gpu_does(void **state)
{
    struct progress_view_lanes *lanes;
    const struct issued_lease *issued;

    (void)state;
    rig_ready(&rig, 0, 1, 2);
    rig_build_two(&rig);
    assert_int_equal(rig_dispatch(&rig), 3);
    progress_view_facts(&rig.sweep, &facts);
    issued = &rig.sweep.work.issued[rig.sweep.work.n_issued - 1];
    lanes = progress_view_look(&rig.sweep, issued->granted_ns + 2 * NS_PER_S,
                               &facts);
    assert_int_equal(facts.n_lanes, 3);
    assert_string_equal(facts.lanes[0].host, "a");
    assert_int_equal(facts.lanes[0].gpu, 0);
    assert_int_equal(facts.lanes[0].state, PROGRESS_LANE_MEASURES);
    assert_float_equal(facts.lanes[0].measured_s, 2, 1e-9);
    assert_int_equal(facts.lanes[0].building, facts.building);
    assert_int_equal(strlen(facts.lanes[0].key), HASH_HEX - 1);
    assert_non_null(strchr(facts.lanes[0].text, '='));
    assert_int_equal(facts.lanes[1].gpu, 1);
    assert_int_equal(facts.lanes[1].building, 0);
    assert_string_equal(facts.lanes[2].host, "b");
    assert_int_equal(facts.lanes[2].gpu, -1);
    progress_view_forget(lanes);
}

static enum progress_lane_state lane_of_the_second_host(void)
{
    struct progress_view_lanes *lanes =
        progress_view_look(&rig.sweep, RIG_START_NS, &facts);
    enum progress_lane_state is = facts.lanes[facts.n_lanes - 1].state;

    progress_view_forget(lanes);
    return is;
}

static void a_lane_says_how_its_host_is(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[1];

    (void)state;
    progress_view_facts(&rig.sweep, &facts);
    assert_int_equal(lane_of_the_second_host(), PROGRESS_LANE_AWAY);
    host->state = HOST_STATE_GREETED;
    assert_int_equal(lane_of_the_second_host(), PROGRESS_LANE_SETUP);
    host->state = HOST_STATE_READY;
    assert_int_equal(lane_of_the_second_host(), PROGRESS_LANE_IDLE);
    host->suspect = true;
    assert_int_equal(lane_of_the_second_host(), PROGRESS_LANE_LOST);
    host->conn.waits = true;
    assert_int_equal(lane_of_the_second_host(), PROGRESS_LANE_WAITS);
    host->state = HOST_STATE_FAILED;
    assert_int_equal(lane_of_the_second_host(), PROGRESS_LANE_FAILED);
}

/* What was said of it before it came is over. */
static void why_a_host_is_not_there_is_said_until_it_comes(void **state)
{
    static const struct {
        enum host_state_state is;
        const char *text;
    } cases[] = { { HOST_STATE_AWAY, "no route" },
                  { HOST_STATE_GREETED, "" },
                  { HOST_STATE_READY, "" },
                  { HOST_STATE_FAILED, "no route" } };
    struct host_state *host = &rig.sweep.fleet.hosts[1];

    (void)state;
    snprintf(host->conn.why, sizeof(host->conn.why), "no route");
    progress_view_facts(&rig.sweep, &facts);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct progress_view_lanes *lanes;

        host->state = cases[i].is;
        lanes = progress_view_look(&rig.sweep, RIG_START_NS, &facts);
        assert_string_equal(facts.lanes[1].text, cases[i].text);
        progress_view_forget(lanes);
    }
}

static void what_is_out_to_a_gpu_that_is_gone_has_no_lane(void **state)
{
    struct progress_view_lanes *lanes;

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_lease(&rig, 0, JOB_MEASURE, 0);
    progress_view_facts(&rig.sweep, &facts);
    rig.sweep.fleet.hosts[0].n_gpus = 0;
    lanes = progress_view_look(&rig.sweep, RIG_START_NS, &facts);
    assert_int_equal(facts.measuring, 1);
    assert_int_equal(facts.lanes[0].gpu, -1);
    assert_int_equal(facts.lanes[0].state, PROGRESS_LANE_IDLE);
    progress_view_forget(lanes);
}

/* One that has failed costs no more, whatever its price. */
static void an_hour_costs_what_the_hosts_cost_that_are_left(void **state)
{
    (void)state;
    rig.list[0].has_rate = true;
    rig.list[0].rate = 2;
    progress_view_facts(&rig.sweep, &facts);
    assert_true(facts.money.usd_per_h == 2);
    assert_int_equal(facts.money.unpriced, 1);
    rig.sweep.fleet.hosts[0].state = HOST_STATE_FAILED;
    progress_view_facts(&rig.sweep, &facts);
    assert_true(facts.money.usd_per_h == 0);
    assert_int_equal(facts.money.unpriced, 1);
}

static int banned;

static bool bans_one(const struct sweep *sweep, const struct pass *pass,
                     size_t host, int gpu)
{
    (void)sweep;
    (void)pass;
    return host == 0 && gpu == banned;
}

static void a_gpu_in_quarantine_is_not_used(void **state)
{
    static const struct pass_ops ops = { .bans = bans_one };
    static const struct pass_ops *const all[] = { &ops, NULL };
    struct progress_view_lanes *lanes;

    (void)state;
    rig_ready(&rig, 0, 1, 2);
    pass_init(&rig.sweep.passes, all);
    rig.sweep.passes.list[0].state = &rig; /* it takes part */
    progress_view_facts(&rig.sweep, &facts);
    for (banned = 0; banned < 2; banned++) {
        lanes = progress_view_look(&rig.sweep, RIG_START_NS, &facts);
        assert_int_equal(facts.lanes[!banned].state, PROGRESS_LANE_IDLE);
        assert_int_equal(facts.lanes[banned].state, PROGRESS_LANE_FAILED);
        assert_string_equal(facts.lanes[banned].text, "quarantined");
        progress_view_forget(lanes);
    }
    rig.sweep.passes.n = 0;
}

static void has_tried_seven(const struct sweep *sweep, const struct pass *pass,
                            struct progress_facts *out)
{
    (void)sweep;
    (void)pass;
    out->settled = 7;
}

static void a_pass_has_a_say_in_what_is_shown(void **state)
{
    static const struct pass_ops ops = { .progress = has_tried_seven };
    static const struct pass_ops *const all[] = { &ops, NULL };

    (void)state;
    pass_init(&rig.sweep.passes, all);
    rig.sweep.passes.list[0].state = &rig;
    progress_view_facts(&rig.sweep, &facts);
    assert_int_equal(facts.settled, 7);
    rig.sweep.passes.n = 0;
}

static void without_a_plan_there_is_nothing_to_show(void **state)
{
    struct plan *plan = rig.sweep.work.plan;

    (void)state;
    rig_listen(&rig);
    rig.sweep.work.plan = NULL;
    progress_view_show(&rig.sweep, RIG_START_NS, true);
    rig.sweep.work.plan = plan;
    assert_string_equal(rig_heard(&rig), "");
}

/* A line at most every 10 s where there is no terminal. */
static void lines_come_every_10_s(void **state)
{
    const char *heard;

    (void)state;
    rig_listen(&rig);
    progress_view_show(&rig.sweep, RIG_START_NS, false);
    progress_view_show(&rig.sweep, RIG_START_NS + 10 * NS_PER_S - 1, false);
    settle(10, 0);
    progress_view_show(&rig.sweep, RIG_START_NS + 10 * NS_PER_S, false);
    progress_view_show(&rig.sweep, RIG_START_NS + 20 * NS_PER_S - 1, false);
    heard = rig_heard(&rig);
    assert_string_equal(heard_at(heard),
                        "10/30 tried  0 correct  10 failed  0 building  0 "
                        "measuring  0/2 hosts  10 s, 11-34 s left\n");
}

/* Nothing is foretold from a second or less, and nothing when all is done. */
static void what_is_left_is_foretold_after_a_second(void **state)
{
    const char *heard;

    (void)state;
    rig_listen(&rig);
    progress_view_show(&rig.sweep, RIG_START_NS, false);
    settle(10, 0);
    progress_view_show(&rig.sweep, RIG_START_NS + NS_PER_S, true);
    settle_from(10, 30, 0);
    progress_view_show(&rig.sweep, RIG_START_NS + 3600 * NS_PER_S, true);
    heard = rig_heard(&rig);
    assert_null(strstr(heard, "left"));
    assert_non_null(strstr(heard, "  1 s\n"));
    assert_non_null(strstr(heard, "  1 h 00 min\n"));
}

/* On a terminal, which shows more than a line does. */
static void the_best_is_named_with_its_values(void **state)
{
    struct winsize window = { .ws_row = 24, .ws_col = 200 };
    int far, near, before = dup(STDERR_FILENO);
    char name[256], text[8192], *best;
    ssize_t n;

    (void)state;
    settle(3, 3); /* the second has the least time */
    plan_display(rig.sweep.work.plan, 1, name, sizeof(name));
    best = mem_printf(": %s\r\n", name);
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    assert_int_equal(openpty(&far, &near, NULL, NULL, &window), 0);
    assert_int_equal(dup2(near, STDERR_FILENO), STDERR_FILENO);
    progress_free(rig.sweep.reactor.progress);
    rig.sweep.reactor.progress = progress_new(false);
    progress_view_show(&rig.sweep, RIG_START_NS, true);
    n = read(far, text, sizeof(text) - 1);
    progress_free(rig.sweep.reactor.progress);
    rig.sweep.reactor.progress = NULL;
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    close(before);
    close(near);
    close(far);
    assert_true(n > 0);
    text[n] = '\0';
    assert_non_null(strstr(text, best));
    free(best);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(configurations_are_counted_by_what_settled_them),
        CASE(what_a_command_names_is_checked),
        CASE(builds_are_counted_by_what_became_of_them),
        CASE(the_reference_is_not_counted),
        CASE(what_is_out_and_who_is_ready_is_shown),
        CASE(seventeen_gpus_may_measure),
        CASE(a_lane_says_what_its_gpu_does),
        CASE(a_lane_says_how_its_host_is),
        CASE(why_a_host_is_not_there_is_said_until_it_comes),
        CASE(what_is_out_to_a_gpu_that_is_gone_has_no_lane),
        CASE(an_hour_costs_what_the_hosts_cost_that_are_left),
        CASE(a_gpu_in_quarantine_is_not_used),
        CASE(a_pass_has_a_say_in_what_is_shown),
        CASE(without_a_plan_there_is_nothing_to_show),
        CASE(lines_come_every_10_s),
        CASE(the_best_is_named_with_its_values),
        CASE(what_is_left_is_foretold_after_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
