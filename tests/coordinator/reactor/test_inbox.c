#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/reactor/inbox.h"
#include "coordinator/schedule/ledger.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;

/* Host a has a slot and a GPU, and two builds; host b is not there. */
static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    rig_ready(&rig, 0, 1, 1);
    assert_int_equal(rig_dispatch(&rig), 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static struct host_state *host(size_t i)
{
    return &rig.sweep.fleet.hosts[i];
}

static int refuse(int64_t lease)
{
    return rig_take(&rig, 0,
                    (struct msg){ .type = MSG_REFUSE,
                                  .refuse = { .lease = lease,
                                              .text = "the disk is full" } });
}

/* What is granted, newest first, is refused. */
static void refuse_next(void)
{
    const struct sched_lease *lease = sched_lease_on(rig.sweep.work.sched, 0);

    if (!lease) {
        sched_host_pause(rig.sweep.work.sched, 0, false);
        assert_true(rig_dispatch(&rig) > 0);
        lease = sched_lease_on(rig.sweep.work.sched, 0);
    }
    assert_int_equal(refuse(lease->id), 0);
}

static void a_refused_lease_is_given_again(void **state)
{
    (void)state;
    assert_int_equal(refuse(1), 0);
    assert_int_equal(host(0)->conduct.refusals, 1);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE id = 1 AND ending = 'refused'"), 1);
    assert_int_equal(rig_dispatch(&rig), 1);
    assert_string_equal(rig_last(&rig, MSG_BUILD)->purpose, "reference");
}

/* Without the artifact it cannot be measured; with it, it could have been. */
static void a_refusal_for_want_of_an_artifact_is_free(void **state)
{
    (void)state;
    assert_int_equal(rig_built(&rig, rig_first(&rig, MSG_BUILD), "built"), 0);
    assert_int_equal(rig_built(&rig, rig_last(&rig, MSG_BUILD), "built"), 0);
    assert_true(rig_dispatch(&rig) > 0);
    assert_int_equal(refuse(rig_last(&rig, MSG_MEASURE)->lease), 0);
    assert_int_equal(host(0)->conduct.refusals, 1);
    assert_true(rig_dispatch(&rig) > 0);
    sched_vanished(rig.sweep.work.sched, 0);
    assert_int_equal(refuse(rig_last(&rig, MSG_MEASURE)->lease), 0);
    assert_int_equal(host(0)->conduct.refusals, 1);
}

static void three_refusals_are_free_and_then_it_rests(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        refuse_next();
    assert_int_equal(host(0)->conduct.rests_ns, 0);
    refuse_next();
    assert_int_equal(host(0)->conduct.rests_ns, RIG_START_NS + 50 * NS_PER_MS);
    refuse_next();
    assert_int_equal(host(0)->conduct.rests_ns, RIG_START_NS + 100 * NS_PER_MS);
    for (int i = 0; i < 5; i++)
        refuse_next();
    assert_int_equal(host(0)->conduct.rests_ns,
                     RIG_START_NS + 3200 * NS_PER_MS);
    refuse_next();
    assert_int_equal(host(0)->conduct.rests_ns,
                     RIG_START_NS + 3200 * NS_PER_MS);
}

static void twenty_refusals_are_the_end(void **state)
{
    (void)state;
    for (int i = 0; i < 19; i++)
        refuse_next();
    assert_false(host(0)->conduct.condemned);
    refuse_next();
    assert_true(host(0)->conduct.condemned);
    assert_int_equal(host(0)->conn.code, ERR_PROTO);
    assert_string_equal(host(0)->conn.why, "the disk is full");
}

static void the_first_refusal_is_told(void **state)
{
    const char *heard;

    (void)state;
    progress_free(rig.sweep.reactor.progress);
    rig.sweep.reactor.progress = progress_new(false);
    rig_listen(&rig);
    for (int i = 0; i < 3; i++)
        refuse_next();
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "a: it refused a lease: the disk is full"));
    assert_null(strstr(strstr(heard, "a: it refused") + 1, "a: it refused"));
    assert_non_null(strstr(heard, "LEASE-REFUSED job=1 host=a why=the disk is "
                                  "full"));
}

/* 96 MiB and no more, however few messages they are. */
static void a_lease_explains_sixteen_messages(void **state)
{
    (void)state;
    host(0)->budget = (struct budget){ .at_ns = rig.now_ns };
    rig_lease(&rig, 0, JOB_BUILD, 5);
    for (int i = 0; i < 17; i++) {
        assert_false(host(0)->conduct.condemned);
        assert_int_equal(rig_take(&rig, 0, (struct msg){ .type = MSG_BEAT }),
                         0);
    }
    assert_true(host(0)->conduct.condemned);
}

static void each_chunk_that_was_not_asked_for_is_a_message(void **state)
{
    const struct msg chunk = { .type = MSG_ARTIFACT,
                               .artifact = { .hash = "a7" },
                               .bytes = 1 };

    (void)state;
    host(0)->budget = budget_full(rig.now_ns);
    host(0)->budget.messages = 1;
    assert_int_equal(rig_take(&rig, 0, chunk), 0);
    assert_false(host(0)->conduct.condemned);
    assert_int_equal(rig_take(&rig, 0, chunk), 0);
    assert_true(host(0)->conduct.condemned);
}

static void chunks_that_were_not_asked_for_are_a_flood(void **state)
{
    const struct msg chunk = { .type = MSG_ARTIFACT,
                               .bytes = MSG_CHUNK_MAX,
                               .artifact = { .hash = "aa", .total = 1 } };

    (void)state;
    host(0)->budget = budget_full(reactor_now(&rig.sweep));
    for (int i = 0; i < 96 * 4; i++)
        assert_int_equal(rig_take(&rig, 0, chunk), 0);
    assert_false(host(0)->conduct.condemned);
    assert_int_equal(rig_take(&rig, 0, chunk), 0);
    assert_true(host(0)->conduct.condemned);
    assert_string_equal(host(0)->conn.why,
                        "it floods: it sends more than its work explains");
}

static void who_rests_is_woken_in_time(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        refuse_next();
    inbox_wake_hosts(&rig.sweep, RIG_START_NS + 50 * NS_PER_MS - 1);
    assert_int_equal(rig_dispatch(&rig), 0);
    inbox_wake_hosts(&rig.sweep, RIG_START_NS + 50 * NS_PER_MS);
    assert_int_equal(host(0)->conduct.rests_ns, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
}

static void who_is_silent_is_not_woken(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        refuse_next();
    host(0)->suspect = true;
    inbox_wake_hosts(&rig.sweep, RIG_START_NS + NS_PER_S);
    assert_int_equal(rig_dispatch(&rig), 0);
    host(0)->suspect = false;
    host(0)->conduct.rests_ns = 1;
    host(0)->state = HOST_STATE_GREETED;
    inbox_wake_hosts(&rig.sweep, RIG_START_NS + NS_PER_S);
    assert_int_equal(rig_dispatch(&rig), 0);
}

static void
what_another_host_or_another_run_says_of_a_lease_is_ignored(void **state)
{
    struct msg msg = { .type = MSG_REFUSE,
                       .refuse = { .lease = 1, .text = "" } };
    struct err err;

    (void)state;
    rig_ready(&rig, 1, 1, 0);
    assert_int_equal(rig_take(&rig, 1, msg), 0);
    msg = (struct msg){ .type = MSG_STARTED, .started.lease = 1 };
    assert_int_equal(rig_take(&rig, 1, msg), 0);
    msg.epoch = RIG_EPOCH - 1;
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_int_equal(host(0)->conduct.refusals, 0);
    assert_int_equal(host(1)->conduct.refusals, 0);
    assert_int_equal(rig.sweep.work.issued[0].started_ns, 0);
    msg.epoch = RIG_EPOCH;
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), 0);
    assert_int_equal(rig.sweep.work.issued[0].started_ns, RIG_START_NS);
}

static void a_build_that_runs_is_paid_as_building(void **state)
{
    (void)state;
    ledger_hold(rig.sweep.fleet.ledger, 0, RIG_START_NS);
    ledger_phase(rig.sweep.fleet.ledger, 0, LEDGER_IDLE, RIG_START_NS);
    assert_int_equal(
        rig_take(&rig, 0,
                 (struct msg){ .type = MSG_STARTED, .started.lease = 1 }),
        0);
    rig.now_ns += NS_PER_S;
    ledger_flush(rig.sweep.fleet.ledger, rig.now_ns);
    assert_int_equal(
        rig_rows(&rig, "interval WHERE category = 'building' AND lease = 1"),
        1);
}

static void who_says_goodbye_loses_what_it_has(void **state)
{
    struct msg bye = { .type = MSG_BYE, .bye.text = "lingered" };

    (void)state;
    assert_int_equal(rig_take(&rig, 0, bye), 0);
    assert_int_equal(host(0)->state, HOST_STATE_AWAY);
    assert_string_equal(host(0)->conn.bye, "lingered");
    assert_int_equal(sched_leases(rig.sweep.work.sched), 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 2);
    assert_int_equal(rig.dismissed[0], 0);
    assert_int_equal(rig_take(&rig, 0, bye), 0); /* it is away */
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-LOST'"), 1);
}

static void a_goodbye_while_it_stops_leaves_the_rest_to_be_done(void **state)
{
    (void)state;
    rig.sweep.reactor.stopping = 1;
    assert_int_equal(
        rig_take(&rig, 0, (struct msg){ .type = MSG_BYE, .bye.text = "" }), 0);
    assert_int_equal(rig.dismissed[0], 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'refused'"), 2);
}

static void who_was_silent_and_speaks_gets_work_again(void **state)
{
    (void)state;
    host(0)->suspect = true;
    sched_host_pause(rig.sweep.work.sched, 0, true);
    assert_int_equal(rig_built(&rig, rig_first(&rig, MSG_BUILD), "built"), 0);
    assert_false(host(0)->suspect);
    assert_int_equal(rig_dispatch(&rig), 1);
}

static void who_was_lost_and_speaks_has_its_slots_and_gpus_again(void **state)
{
    (void)state;
    assert_int_equal(rig_built(&rig, rig_first(&rig, MSG_BUILD), "built"), 0);
    assert_int_equal(rig_built(&rig, rig_last(&rig, MSG_BUILD), "built"), 0);
    host(0)->suspect = host(0)->is_lost = true;
    sched_host_down(rig.sweep.work.sched, 0);
    assert_int_equal(rig_dispatch(&rig), 0);
    assert_int_equal(rig_take(&rig, 0, (struct msg){ .type = MSG_BEAT }), 0);
    assert_false(host(0)->is_lost);
    assert_int_equal(rig_dispatch(&rig), 2); /* builds, so it has a slot */
}

static void count_up(struct sweep *sweep, struct pass *pass, size_t up)
{
    (void)sweep;
    assert_int_equal(up, 0);
    ++*(int *)pass->state;
}

static void passes_hear_of_a_lost_host_that_speaks(void **state)
{
    static const struct pass_ops counts = { .host_up = count_up };
    int ups = 0;

    (void)state;
    rig.sweep.passes.list[0] = (struct pass){ &counts, 0, &ups };
    rig.sweep.passes.n = 1;
    host(0)->suspect = true;
    assert_int_equal(rig_take(&rig, 0, (struct msg){ .type = MSG_BEAT }), 0);
    assert_int_equal(ups, 0);
    host(0)->suspect = host(0)->is_lost = true;
    sched_host_down(rig.sweep.work.sched, 0);
    assert_int_equal(rig_take(&rig, 0, (struct msg){ .type = MSG_BEAT }), 0);
    assert_int_equal(ups, 1);
}

static void who_only_measures_gets_no_build_when_it_speaks_again(void **state)
{
    (void)state;
    rig.list[1].role = HOST_GPU;
    rig_ready(&rig, 1, 4, 1);
    host(1)->suspect = host(1)->is_lost = true;
    sched_host_down(rig.sweep.work.sched, 1);
    assert_int_equal(rig_take(&rig, 1, (struct msg){ .type = MSG_BEAT }), 0);
    assert_int_equal(rig_dispatch(&rig), 0);
}

static void what_a_failed_host_says_is_not_heard(void **state)
{
    (void)state;
    rig.now_ns += NS_PER_S;
    host(0)->conduct.condemned = true;
    assert_int_equal(refuse(1), 0);
    host(0)->conduct.condemned = false;
    host(0)->state = HOST_STATE_FAILED;
    assert_int_equal(refuse(1), 0);
    assert_int_equal(host(0)->conduct.refusals, 0);
    assert_int_equal(host(0)->conn.heard_ns, RIG_START_NS);
    host(0)->state = HOST_STATE_READY;
    assert_int_equal(refuse(1), 0);
    assert_int_equal(host(0)->conn.heard_ns, RIG_START_NS + NS_PER_S);
}

static void all_but_hello_show_that_it_hears(void **state)
{
    (void)state;
    host(0)->conn.deaf_ns = 5;
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_int_equal(host(0)->conn.deaf_ns, 5);
    assert_int_equal(rig_take(&rig, 0, (struct msg){ .type = MSG_BEAT }), 0);
    assert_int_equal(host(0)->conn.deaf_ns, 0);
}

static void results_before_the_plan_are_kept_and_taken_in_order(void **state)
{
    struct plan *plan = rig.sweep.work.plan;
    struct msg first = { .type = MSG_BUILT, .built.work.lease = 1 };
    struct msg second = { .type = MSG_MEASURED, .measured.work.lease = 2 };
    struct msg beat = { .type = MSG_BEAT }, out;
    size_t from;

    (void)state;
    assert_false(inbox_keep(&rig.sweep, 1, &first)); /* there is a plan */
    rig.sweep.work.plan = NULL;
    assert_false(inbox_keep(&rig.sweep, 1, &beat));
    assert_true(inbox_keep(&rig.sweep, 1, &first));
    assert_true(inbox_keep(&rig.sweep, 0, &second));
    assert_int_equal(host(1)->conn.heard_ns, RIG_START_NS);
    assert_false(inbox_next_kept(&rig.sweep, &from, &out));
    rig.sweep.work.plan = plan;
    assert_true(inbox_next_kept(&rig.sweep, &from, &out));
    assert_int_equal(from, 1);
    assert_int_equal(out.type, MSG_BUILT);
    assert_int_equal(out.built.work.lease, 1);
    assert_true(inbox_next_kept(&rig.sweep, &from, &out));
    assert_int_equal(out.type, MSG_MEASURED);
    assert_int_equal(out.measured.work.lease, 2);
    assert_false(inbox_next_kept(&rig.sweep, &from, &out));
}

/* Its key has the toolkit, which READY tells. */
static void a_build_before_ready_is_offered_again(void **state)
{
    const struct rig_sent *build = rig_first(&rig, MSG_BUILD);

    (void)state;
    host(0)->state = HOST_STATE_GREETED;
    assert_int_equal(rig_built(&rig, build, "built"), 0);
    host(0)->state = HOST_STATE_READY;
    assert_int_equal(rig_dispatch(&rig), 0); /* its slot is not free */
    assert_int_equal(rig_built(&rig, build, "built"), 0);
    assert_int_equal(rig_dispatch(&rig), 1);
}

/* What came from the network owns its texts. */
static void what_is_kept_and_never_taken_is_freed(void **state)
{
    struct plan *plan = rig.sweep.work.plan;
    struct rig_result result;
    struct msg owning;
    struct buf bytes;
    struct err err = { "" };

    (void)state;
    rig_result_of(rig_first(&rig, MSG_BUILD), "built", 0, &result);
    buf_init(&bytes, 64 << 10);
    if (msg_encode(&result.msg, &bytes, &err) < 0 ||
        msg_decode(bytes.bytes, bytes.len, &owning, &err) < 0)
        fail_msg("%s", err.text);
    buf_fini(&bytes);
    rig.sweep.work.plan = NULL;
    assert_true(inbox_keep(&rig.sweep, 0, &owning));
    rig.sweep.work.plan = plan;
    assert_null(owning.built.result.outcome); /* it is the inbox's */
}

static void no_more_than_32_mib_are_kept(void **state)
{
    struct plan *plan = rig.sweep.work.plan;
    struct msg msg = { .type = MSG_BUILT };

    (void)state;
    rig.sweep.work.plan = NULL;
    for (int i = 0; i < 2; i++) {
        msg = (struct msg){ .type = MSG_BUILT, .bytes = 16 << 20 };
        assert_true(inbox_keep(&rig.sweep, 0, &msg));
    }
    msg = (struct msg){ .type = MSG_BUILT, .bytes = 1 };
    assert_false(inbox_keep(&rig.sweep, 0, &msg));
    rig.sweep.work.plan = plan;
}

static void no_more_than_1024_are_kept(void **state)
{
    struct plan *plan = rig.sweep.work.plan;
    struct msg msg = { .type = MSG_BUILT };

    (void)state;
    rig.sweep.work.plan = NULL;
    for (int i = 0; i < 1024; i++) {
        msg.type = MSG_BUILT;
        assert_true(inbox_keep(&rig.sweep, 0, &msg));
    }
    msg.type = MSG_BUILT;
    assert_false(inbox_keep(&rig.sweep, 0, &msg));
    rig.sweep.work.plan = plan;
}

static void what_no_worker_says_breaks_the_protocol(void **state)
{
    struct msg msg = { .type = MSG_STOP, .epoch = RIG_EPOCH };
    struct err err;

    (void)state;
    assert_int_equal(inbox_take(&rig.sweep, 0, &msg, &err), ERR_PROTO);
    assert_string_equal(err.text, "STOP is not a worker's message");
}

static void trouble_is_the_end_of_a_host(void **state)
{
    (void)state;
    assert_int_equal(rig_take(&rig, 0,
                              (struct msg){ .type = MSG_TROUBLE,
                                            .trouble.text = "no compiler" }),
                     0);
    assert_int_equal(host(0)->state, HOST_STATE_FAILED);
    assert_int_equal(host(0)->conn.code, ERR_SYSTEM);
    assert_string_equal(host(0)->conn.why, "no compiler");
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "now");
    assert_int_equal(rig.dismissed[0], 0);
    assert_int_equal(
        rig_take(&rig, 0, (struct msg){ .type = MSG_BYE, .bye.text = "" }), 0);
    assert_int_equal(rig.dismissed[0], 1);
    assert_int_equal(
        rig_rows(&rig, "event WHERE name IN ('HOST-TROUBLE', 'HOST-LOST')"), 2);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_refused_lease_is_given_again),
        CASE(a_refusal_for_want_of_an_artifact_is_free),
        CASE(three_refusals_are_free_and_then_it_rests),
        CASE(twenty_refusals_are_the_end),
        CASE(the_first_refusal_is_told),
        CASE(a_lease_explains_sixteen_messages),
        CASE(each_chunk_that_was_not_asked_for_is_a_message),
        CASE(chunks_that_were_not_asked_for_are_a_flood),
        CASE(who_rests_is_woken_in_time),
        CASE(who_is_silent_is_not_woken),
        CASE(what_another_host_or_another_run_says_of_a_lease_is_ignored),
        CASE(a_build_that_runs_is_paid_as_building),
        CASE(who_says_goodbye_loses_what_it_has),
        CASE(a_goodbye_while_it_stops_leaves_the_rest_to_be_done),
        CASE(who_was_silent_and_speaks_gets_work_again),
        CASE(who_was_lost_and_speaks_has_its_slots_and_gpus_again),
        CASE(passes_hear_of_a_lost_host_that_speaks),
        CASE(who_only_measures_gets_no_build_when_it_speaks_again),
        CASE(what_a_failed_host_says_is_not_heard),
        CASE(all_but_hello_show_that_it_hears),
        CASE(results_before_the_plan_are_kept_and_taken_in_order),
        CASE(a_build_before_ready_is_offered_again),
        CASE(what_is_kept_and_never_taken_is_freed),
        CASE(no_more_than_32_mib_are_kept),
        CASE(no_more_than_1024_are_kept),
        CASE(what_no_worker_says_breaks_the_protocol),
        CASE(trouble_is_the_end_of_a_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
