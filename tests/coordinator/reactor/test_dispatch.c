/* Leases go out, orders come to an end, and rows are committed before that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/reactor/dispatch.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/outbox.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct err err;

/* A pass that counts what it is told. */
static struct {
    int ended, without_result, lost, measured, settled, ups, downs;
    enum outcome outcome;
    const char *died, *reason;
    int samples;
} told;

static void on_ended(struct sweep *sweep, struct pass *pass,
                     const struct sched_lease *lease, const struct msg *result)
{
    (void)sweep;
    (void)pass;
    (void)lease;
    told.ended++;
    told.without_result += !result;
}

static void on_lost(struct sweep *sweep, struct pass *pass,
                    const struct sched_lease *lease, const char *died,
                    const char *reason)
{
    (void)sweep;
    (void)pass;
    (void)lease;
    told.lost++;
    told.died = died;
    told.reason = reason;
}

static void on_measured(struct sweep *sweep, struct pass *pass,
                        const struct sched_lease *job,
                        const struct msg_measured *result)
{
    (void)sweep;
    (void)pass;
    (void)job;
    (void)result;
    told.measured++;
}

static void on_settled(struct sweep *sweep, struct pass *pass, int unit,
                       int shape, enum outcome outcome, double median_s)
{
    (void)sweep;
    (void)pass;
    (void)unit;
    (void)shape;
    (void)median_s;
    told.settled++;
    told.outcome = outcome;
}

static void on_host_up(struct sweep *sweep, struct pass *pass, size_t host)
{
    (void)sweep;
    (void)pass;
    (void)host;
    told.ups++;
}

static void on_host_down(struct sweep *sweep, struct pass *pass, size_t host)
{
    (void)sweep;
    (void)pass;
    (void)host;
    told.downs++;
}

static int samples_of(const struct sweep *sweep, const struct pass *pass,
                      const struct sched_lease *lease)
{
    (void)sweep;
    (void)pass;
    (void)lease;
    return told.samples;
}

static const struct pass_ops listens = {
    .name = "listens",
    .purposes = 1U << SCHED_CANARY | 1U << SCHED_AGAIN,
    .ended = on_ended,
    .lost = on_lost,
    .measured = on_measured,
    .settled = on_settled,
    .host_up = on_host_up,
    .host_down = on_host_down,
    .amounts.samples = samples_of,
};

/* Two hosts; unit 0 is built on host a, and its measurement is settled. */
static int set_up(void **state)
{
    struct rig_sent sent;

    (void)state;
    rig_open(&rig, 2);
    memset(&told, 0, sizeof(told));
    rig.sweep.passes.list[0] = (struct pass){ &listens, 0, &told };
    rig.sweep.passes.n = 1;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_int_equal(rig_dispatch(&rig), 3);
    sent = *rig_last(&rig, MSG_MEASURE);
    assert_int_equal(rig_measured(&rig, &sent, "correct", 1e-3), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static int64_t place(enum sched_purpose purpose, int round)
{
    return orders_place(&rig.sweep, &(struct sched_order){ .unit = 0,
                                                           .shape = 0,
                                                           .host = 0,
                                                           .gpu = 0,
                                                           .purpose = purpose,
                                                           .round = round });
}

static void each_lease_has_a_row_before_it_is_sent(void **state)
{
    (void)state;
    assert_int_equal(rig_rows(&rig, "lease"), 5);
    assert_int_equal(
        rig_rows(&rig,
                 "lease WHERE id = 1 AND stage = 'build' AND purpose = "
                 "'reference' AND host = 'a' AND attempt = 1 AND epoch = 1000"),
        1);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE stage = 'measure' AND purpose = 'screen' "
                       "AND shape = 'n5k' AND gpu = 'GPU-0-0'"),
        1);
    assert_int_equal(rig.commits, 2);
    assert_int_equal(told.settled, 1);
    assert_int_equal(told.outcome, OUTCOME_CORRECT);
    assert_int_equal(told.measured, 1);
}

static void limits_are_those_of_the_file_and_some_slack(void **state)
{
    (void)state;
    assert_int_equal(rig_last(&rig, MSG_BUILD)->limit_ms, 300000);
    assert_int_equal(rig_last(&rig, MSG_MEASURE)->limit_ms, 10000 + 30000);
    rig.options.device = "cuda";
    assert_int_equal(dispatch_limit_ms(&rig.sweep, JOB_MEASURE),
                     10000 + 125000);
    rig.options.device = "cpu";
}

static void what_cannot_be_sent_is_taken_back_and_its_host_rests(void **state)
{
    (void)state;
    assert_int_equal(rig_built(&rig, rig_last(&rig, MSG_BUILD), "built"), 0);
    rig.is_deaf[0] = true;
    assert_int_equal(rig_dispatch(&rig), 0);
    assert_true(rig_rows(&rig, "lease WHERE ending = 'refused'") > 0);
    assert_int_equal(rig.sweep.fleet.hosts[0].conduct.rests_ns,
                     RIG_START_NS + NS_PER_S);
    rig.is_deaf[0] = false;
    assert_int_equal(rig_dispatch(&rig), 0); /* until it is woken */
}

static void while_it_stops_nothing_goes_out(void **state)
{
    (void)state;
    assert_true(place(SCHED_CANARY, 0) > 0);
    rig.sweep.reactor.stopping = 1;
    assert_int_equal(rig_dispatch(&rig), 0);
    rig.sweep.reactor.stopping = 0;
    assert_int_equal(rig_dispatch(&rig), 1);
}

static void what_cannot_be_committed_is_not_sent(void **state)
{
    (void)state;
    assert_true(place(SCHED_CANARY, 0) > 0);
    rig.disk_full = true;
    assert_int_equal(rig_dispatch(&rig), 0);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_DATABASE);
}

static void an_order_ends_with_its_result(void **state)
{
    struct rig_sent sent;

    (void)state;
    assert_true(place(SCHED_CANARY, 0) > 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    sent = *rig_last(&rig, MSG_MEASURE);
    assert_string_equal(sent.purpose, "canary");
    assert_int_equal(rig_measured(&rig, &sent, "correct", 1e-3), 0);
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.without_result, 0);
    assert_int_equal(sched_open_orders(rig.sweep.work.sched), 0);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE purpose = 'canary' AND ending = 'done'"),
        1);
}

static void an_order_that_is_dropped_ends_without_one(void **state)
{
    (void)state;
    assert_true(place(SCHED_CANARY, 0) > 0);
    sched_orders_drop(rig.sweep.work.sched, 0, 0, "its GPU is gone");
    rig_listen(&rig);
    orders_drop(&rig.sweep);
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.without_result, 1);
    assert_non_null(strstr(rig_heard(&rig), "ORDER-DROPPED purpose=canary"));
}

static void passes_hear_of_it_before_they_order_more(void **state)
{
    (void)state;
    assert_true(place(SCHED_CANARY, 0) > 0);
    sched_orders_drop(rig.sweep.work.sched, 0, 0, "its GPU is gone");
    dispatch_ask(&rig.sweep);
    assert_int_equal(told.ended, 1);
}

static void an_order_that_crashes_is_lost_to_its_pass(void **state)
{
    struct rig_sent sent;

    (void)state;
    assert_true(place(SCHED_CANARY, 0) > 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    sent = *rig_last(&rig, MSG_MEASURE);
    assert_int_equal(rig_measured(&rig, &sent, "crash", 0), 0);
    assert_int_equal(told.lost, 1);
    assert_string_equal(told.died, "why");
    assert_int_equal(told.ended, 0);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE purpose = 'canary' AND ending = 'lost'"),
        1);
}

static void an_order_that_is_wrong_is_over_too(void **state)
{
    struct rig_sent sent;

    (void)state;
    assert_true(place(SCHED_CANARY, 0) > 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    sent = *rig_last(&rig, MSG_MEASURE);
    assert_int_equal(rig_measured(&rig, &sent, "correctness", 0), 0);
    assert_int_equal(told.ended, 1);
    assert_int_equal(rig.sweep.work.count.correct, 1); /* of screening */
}

/* The newest of the repetitions counts. */
static void measured_again_it_is_settled_again(void **state)
{
    struct rig_result result;

    (void)state;
    assert_true(place(SCHED_AGAIN, 1) > 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    rig_result_of(rig_last(&rig, MSG_MEASURE), "correctness", 0, &result);
    result.msg.measured.work.id.round = 1;
    assert_int_equal(rig_take(&rig, 0, result.msg), 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correctness'"),
                     1);
    assert_int_equal(rig.sweep.work.count.correct, 0);
    assert_int_equal(rig.sweep.work.count.settled, 1);
    assert_int_equal(told.settled, 2);
    assert_int_equal(told.measured, 2);
    assert_true(place(SCHED_AGAIN, 2) > 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    rig_result_of(rig_last(&rig, MSG_MEASURE), "correct", 2e-3, &result);
    result.msg.measured.work.id.round = 2;
    assert_int_equal(rig_take(&rig, 0, result.msg), 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correct' AND "
                                    "abs(median_s - 0.002) < 1e-9"),
                     1);
    assert_int_equal(rig.sweep.work.count.correct, 1);
    assert_null(rig.sweep.reactor.ending);
}

/* What lies in the cache of its host is not built once more. */
static void an_order_takes_what_an_earlier_run_built(void **state)
{
    struct sched *sched = rig.sweep.work.sched;
    int reference = plan_units(rig.sweep.work.plan);

    (void)state;
    sched_vanished(sched, 0);
    sched_vanished(sched, reference);
    sched_vanished(sched, 1); /* was never built */
    assert_true(place(SCHED_CANARY, 0) > 0);
    assert_int_equal(sched_home(sched, 0), 0);
    assert_int_equal(sched_home(sched, reference), 0);
    assert_int_equal(sched_home(sched, 1), -1);
}

/* A rung of a race tells the search nothing. */
static void a_rung_settles_nothing_for_the_passes(void **state)
{
    struct rig_result result;

    (void)state;
    assert_true(place(SCHED_AGAIN, SWEEP_RUNG_ROUNDS) > 0);
    assert_int_equal(rig_dispatch(&rig), 1);
    rig_result_of(rig_last(&rig, MSG_MEASURE), "correct", 2e-3, &result);
    result.msg.measured.work.id.round = SWEEP_RUNG_ROUNDS;
    assert_int_equal(rig_take(&rig, 0, result.msg), 0);
    assert_int_equal(told.settled, 1);
    assert_int_equal(told.measured, 2);
}

static void passes_hear_of_hosts(void **state)
{
    (void)state;
    assert_int_equal(told.ups, 1);
    rig_ready(&rig, 1, 1, 1);
    assert_int_equal(told.ups, 2);
    assert_int_equal(
        rig_take(&rig, 1, (struct msg){ .type = MSG_BYE, .bye.text = "" }), 0);
    assert_int_equal(told.downs, 1);
}

static void without_rows_there_is_no_commit(void **state)
{
    int before;

    (void)state;
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    before = rig.commits;
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_int_equal(rig.commits, before);
}

static void no_more_than_256_acknowledgements_go_at_once(void **state)
{
    struct host_state *b = &rig.sweep.fleet.hosts[1];

    (void)state;
    for (int i = 0; i < ACKS_MAX; i++)
        outbox_acknowledge(&rig.sweep, 1, "0123456789abcdef0123456789abcdef");
    assert_int_equal(b->n_acks, ACKS_MAX);
    outbox_acknowledge(&rig.sweep, 1, "ff23456789abcdef0123456789abcdef");
    assert_int_equal(b->n_acks, ACKS_MAX);
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_int_equal(b->n_acks, 0);
    assert_int_equal(rig_last(&rig, MSG_ACK)->host, 1);
}

static void messages_to_all_go_to_who_is_there(void **state)
{
    (void)state;
    outbox_send_all(&rig.sweep, &(struct msg){ .type = MSG_BEAT });
    assert_int_equal(rig_count(&rig, MSG_BEAT), 1);
    rig.sweep.fleet.hosts[1].state = HOST_STATE_GREETED;
    outbox_send_all(&rig.sweep, &(struct msg){ .type = MSG_BEAT });
    assert_int_equal(rig_count(&rig, MSG_BEAT), 3);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_lease_has_a_row_before_it_is_sent),
        CASE(limits_are_those_of_the_file_and_some_slack),
        CASE(what_cannot_be_sent_is_taken_back_and_its_host_rests),
        CASE(while_it_stops_nothing_goes_out),
        CASE(what_cannot_be_committed_is_not_sent),
        CASE(an_order_ends_with_its_result),
        CASE(an_order_that_is_dropped_ends_without_one),
        CASE(passes_hear_of_it_before_they_order_more),
        CASE(an_order_that_crashes_is_lost_to_its_pass),
        CASE(an_order_that_is_wrong_is_over_too),
        CASE(measured_again_it_is_settled_again),
        CASE(an_order_takes_what_an_earlier_run_built),
        CASE(a_rung_settles_nothing_for_the_passes),
        CASE(passes_hear_of_hosts),
        CASE(without_rows_there_is_no_commit),
        CASE(no_more_than_256_acknowledgements_go_at_once),
        CASE(messages_to_all_go_to_who_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
