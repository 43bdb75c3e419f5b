/* Commands that a pass orders, and what comes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/outcome.h"
#include "coordinator/reactor/inbox.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/reactor/results.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define NONCE "0123456789abcdef0123456789abcdef"
#define KEY "fedcba9876543210fedcba9876543210"

static struct rig rig;

/* A pass that profiles. */
static struct {
    int filled, judged, ended, lost;
    int64_t order; /* of the newest that ended */
    char outcome[16], died[16];
    bool refuses; /* what its command says is wrong */
} told;

static int fill(struct sweep *sweep, struct pass *pass,
                const struct sched_lease *lease, struct msg_tool *out,
                char key[HASH_HEX], struct err *err)
{
    (void)sweep;
    (void)pass;
    (void)lease;
    (void)err;
    told.filled++;
    out->launch.limit_ms = 60000;
    snprintf(key, HASH_HEX, "%s", KEY);
    return 0;
}

static const char *judge(const struct sweep *sweep, const struct pass *pass,
                         struct msg_ran *ran, struct err *why)
{
    (void)sweep;
    (void)pass;
    told.judged++;
    if (told.refuses) {
        snprintf(why->text, sizeof(why->text), "no number");
        ran->result.outcome = outcome_name(OUTCOME_FAILED);
        ran->result.detail = why->text;
    }
    return "ncu";
}

static void on_ended(struct sweep *sweep, struct pass *pass,
                     const struct sched_lease *lease, const struct msg *result)
{
    (void)sweep;
    (void)pass;
    told.ended++;
    told.order = lease->order;
    snprintf(told.outcome, sizeof(told.outcome), "%s",
             result ? result->ran.result.outcome : "dropped");
}

static void on_lost(struct sweep *sweep, struct pass *pass,
                    const struct sched_lease *lease, const char *died,
                    const char *reason)
{
    (void)sweep;
    (void)pass;
    (void)lease;
    (void)reason;
    told.lost++;
    snprintf(told.died, sizeof(told.died), "%s", died ? died : "");
}

static const struct pass_ops profiles = {
    .name = "profiles",
    .purposes = 1U << SCHED_PROFILE,
    .commands = { .fill = fill, .judge = judge },
    .ended = on_ended,
    .lost = on_lost,
};

/* Host a has built unit 0 and the reference; its GPU is to profile unit 0. */
static int set_up(void **state)
{
    const struct sched_order order = { .purpose = SCHED_PROFILE };

    (void)state;
    rig_open(&rig, 1);
    memset(&told, 0, sizeof(told));
    rig.sweep.passes.list[0] = (struct pass){ &profiles, 0, &told };
    rig.sweep.passes.n = 1;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    ledger_hold(rig.sweep.fleet.ledger, 0, RIG_START_NS);
    assert_true(orders_place(&rig.sweep, &order) > 0);
    assert_int_equal(rig_count(&rig, MSG_TOOL), 0);
    (void)rig_dispatch(&rig); /* and builds */
    assert_int_equal(rig_count(&rig, MSG_TOOL), 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static struct msg ran(const char *outcome, int64_t status)
{
    const struct rig_sent *sent = rig_last(&rig, MSG_TOOL);

    return (struct msg){
        .type = MSG_RAN,
        .epoch = RIG_EPOCH,
        .ran = { .work = { .lease = sent->lease,
                           .id = { .sweep = "vector_add",
                                   .config = sent->config,
                                   .shape = sent->shape,
                                   .purpose = "profile",
                                   .stage = "tool",
                                   .attempt = sent->attempt },
                           .key = KEY },
                 .result = { .nonce = NONCE,
                             .outcome = outcome,
                             .detail = "why",
                             .seconds = 2 },
                 .gpu = "GPU-0-0",
                 .status = status,
                 .output = "1 2 3",
                 .log = "" },
    };
}

static void a_command_is_sent_with_what_its_pass_filled_in(void **state)
{
    const struct rig_sent *sent = rig_last(&rig, MSG_TOOL);

    (void)state;
    assert_int_equal(told.filled, 1);
    assert_string_equal(sent->key, KEY);
    assert_string_equal(sent->purpose, "profile");
    assert_string_equal(sent->config, plan_unit(rig.sweep.work.plan, 0)->key);
    assert_int_equal(sent->limit_ms, 60000);
    assert_int_equal(rig.sweep.work.issued[sent->lease - 1].limit_ns,
                     60 * NS_PER_S);
    assert_int_equal(rig_rows(&rig, "lease WHERE purpose = 'profile' AND stage "
                                    "= 'tool' AND gpu = 'GPU-0-0'"),
                     1);
}

static void what_it_printed_is_kept_judged_and_acknowledged(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];
    size_t acks = host->n_acks;

    (void)state;
    host->conduct.refusals = 2;
    assert_int_equal(rig_take(&rig, 0, ran("ran", 0)), 0);
    assert_int_equal(
        rig_rows(&rig,
                 "tool WHERE name = 'ncu' AND purpose = 'profile' AND output = "
                 "'1 2 3' AND outcome = 'ran' AND counted = 1 AND status = 0"),
        1);
    assert_int_equal(told.judged, 1);
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.order, 1);
    assert_string_equal(told.outcome, "ran");
    assert_int_equal(host->n_acks, acks + 1);
    assert_int_equal(host->conduct.refusals, 0);
    assert_int_equal(sched_open_orders(rig.sweep.work.sched), 0);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE purpose = 'profile' AND ending = 'done'"),
        1);
}

/* Its acknowledgement was lost. */
static void what_comes_twice_is_acknowledged_twice(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];
    size_t acks = host->n_acks;

    (void)state;
    assert_int_equal(rig_take(&rig, 0, ran("ran", 0)), 0);
    assert_int_equal(rig_take(&rig, 0, ran("ran", 0)), 0);
    assert_int_equal(rig_rows(&rig, "tool"), 1);
    assert_int_equal(host->n_acks, acks + 2);
    assert_int_equal(told.ended, 1);
}

static void what_the_pass_cannot_read_has_failed(void **state)
{
    (void)state;
    told.refuses = true;
    ledger_start(rig.sweep.fleet.ledger, 0, rig_last(&rig, MSG_TOOL)->lease,
                 true, RIG_START_NS);
    rig.now_ns += NS_PER_S;
    assert_int_equal(rig_take(&rig, 0, ran("ran", 0)), 0);
    assert_int_equal(
        rig_rows(&rig,
                 "tool WHERE outcome = 'failed' AND detail = 'no number'"),
        1);
    assert_string_equal(told.outcome, "failed");
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(rig_rows(&rig, "interval WHERE category = 'failed'"), 1);
}

static void what_has_run_is_paid_as_measuring(void **state)
{
    (void)state;
    ledger_start(rig.sweep.fleet.ledger, 0, rig_last(&rig, MSG_TOOL)->lease,
                 true, RIG_START_NS);
    rig.now_ns += NS_PER_S;
    assert_int_equal(rig_take(&rig, 0, ran("ran", 0)), 0);
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(rig_rows(&rig, "interval WHERE category = 'measuring'"),
                     1);
}

static void a_command_that_crashes_is_lost_to_its_pass(void **state)
{
    (void)state;
    assert_int_equal(rig_take(&rig, 0, ran("crash", -1)), 0);
    assert_int_equal(told.lost, 1);
    assert_string_equal(told.died, "why");
    assert_int_equal(told.ended, 0);
    assert_int_equal(rig_rows(&rig, "tool WHERE counted = 0"), 1);
    assert_int_equal(sched_open_orders(rig.sweep.work.sched), 1);
}

static void a_command_that_is_refused_is_sent_again(void **state)
{
    const int64_t lease = rig_last(&rig, MSG_TOOL)->lease;

    (void)state;
    assert_int_equal(
        rig_take(&rig, 0,
                 (struct msg){ .type = MSG_REFUSE,
                               .refuse = { .lease = lease, .text = "busy" } }),
        0);
    assert_int_equal(
        rig_rows(&rig,
                 "lease WHERE purpose = 'profile' AND ending = 'refused'"),
        1);
    (void)rig_dispatch(&rig);
    assert_int_equal(rig_count(&rig, MSG_TOOL), 2);
    assert_int_equal(rig_take(&rig, 0, ran("ran", 0)), 0);
    assert_int_equal(told.ended, 1);
}

/* One attempt less, and the next is its last. */
static void a_command_whose_lease_is_lost_is_sent_again(void **state)
{
    (void)state;
    for (int attempt = 1; attempt <= 2; attempt++) {
        const struct sched_lease *lease = sched_lease_get(
            rig.sweep.work.sched, rig_last(&rig, MSG_TOOL)->lease);

        assert_int_equal(rig_last(&rig, MSG_TOOL)->attempt, attempt);
        results_lose(&rig.sweep, *lease, OUTCOME_LOST, "silent");
        assert_int_equal(told.lost, attempt);
        (void)rig_dispatch(&rig);
    }
    assert_int_equal(rig_count(&rig, MSG_TOOL), 2);
    assert_int_equal(sched_open_orders(rig.sweep.work.sched), 0);
}

static void what_nobody_ordered_is_refused(void **state)
{
    struct msg msg = ran("ran", 0);
    struct err err;

    (void)state;
    msg.ran.work.lease = 1000;
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_int_equal(rig.sweep.fleet.hosts[0].conduct.lies, 1);
    assert_int_equal(rig_rows(&rig, "tool"), 0);
}

/* A result that an earlier run asked for goes to the pass, without an order. */
static void a_result_of_an_earlier_run_is_for_its_pass(void **state)
{
    struct msg msg = ran("ran", 0);
    const struct store_lease lease = { .epoch = 900,
                                       .id = msg.ran.work.lease,
                                       .config = msg.ran.work.id.config,
                                       .shape = "n5k",
                                       .purpose = "profile",
                                       .stage = "tool",
                                       .attempt = 1,
                                       .host = "a",
                                       .gpu = "GPU-0-0",
                                       .leased_utc = 5 };
    struct err err = { "" };

    (void)state;
    rig_run(&rig, 900);
    assert_int_equal(store_lease_put(rig.sweep.mail.store, &lease, &err), 0);
    msg.epoch = 900;
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.order, 0);
    assert_int_equal(sched_open_orders(rig.sweep.work.sched), 1);
    msg.ran.result.nonce = KEY;
    msg.ran.result.outcome = "crash";
    msg.ran.status = -1;
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_int_equal(told.ended, 1);
    assert_int_equal(rig_rows(&rig, "tool"), 2);
}

/* It belongs to a database that this one is not: it stays where it is. */
static void a_result_of_another_database_is_left_there(void **state)
{
    struct host_state *host = &rig.sweep.fleet.hosts[0];
    size_t acks = host->n_acks;
    struct msg msg = ran("ran", 0);
    struct err err;

    (void)state;
    msg.epoch = 900;
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "tool"), 0);
    assert_int_equal(host->n_acks, acks);
    assert_true(host->conduct.has_foreign);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_command_is_sent_with_what_its_pass_filled_in),
        CASE(what_it_printed_is_kept_judged_and_acknowledged),
        CASE(what_comes_twice_is_acknowledged_twice),
        CASE(what_the_pass_cannot_read_has_failed),
        CASE(what_has_run_is_paid_as_measuring),
        CASE(a_command_that_crashes_is_lost_to_its_pass),
        CASE(a_command_that_is_refused_is_sent_again),
        CASE(a_command_whose_lease_is_lost_is_sent_again),
        CASE(what_nobody_ordered_is_refused),
        CASE(a_result_of_an_earlier_run_is_for_its_pass),
        CASE(a_result_of_another_database_is_left_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
