#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/msg.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_world.h"

static struct sim_world world;
static struct sim_run run;

static int setup(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    run = (struct sim_run){ .world = &world };
    sim_trace_add(&world.trace, (struct sim_record){ .kind = SIM_BEGIN,
                                                     .host = SIM_NOBODY,
                                                     .type = -1,
                                                     .epoch = 1 });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sim_trace_fini(&world.trace);
    return 0;
}

static void at(int64_t s, enum sim_kind kind, int host, struct msg msg)
{
    msg.epoch = 1;
    sim_trace_msg(&world.trace, kind, s * NS_PER_S, host, &msg, 1);
}

static struct msg result(const char *nonce)
{
    return (struct msg){ .type = MSG_BUILT,
                         .built = { .work.lease = 1,
                                    .result = { .nonce = nonce,
                                                .outcome = "built" } } };
}

static struct msg ack(const char *const *nonce)
{
    return (struct msg){ .type = MSG_ACK, .ack.nonces = { nonce, 1 } };
}

static struct msg lease(int64_t number, const char *gpu)
{
    return (struct msg){ .type = MSG_MEASURE,
                         .measure = { .work.lease = number,
                                      .launch = { .gpu = gpu,
                                                  .artifact = "a",
                                                  .limit_ms = 10000 } } };
}

static void commit_for(int64_t at_s, int64_t took_s)
{
    sim_trace_add(&world.trace,
                  (struct sim_record){ .kind = SIM_COMMIT,
                                       .at_ns = at_s * NS_PER_S,
                                       .host = SIM_NOBODY,
                                       .type = -1,
                                       .number = 1,
                                       .limit_ms = took_s * 1000 });
}

static void commit(void)
{
    commit_for(0, 0);
}

/* The host speaks, and is spoken to, once a second. */
static void beat(int from_s, int until_s)
{
    for (int s = from_s; s < until_s; s++) {
        at(s, SIM_TAKEN, 0, (struct msg){ .type = MSG_BEAT });
        at(s, SIM_SENT, 0, (struct msg){ .type = MSG_BEAT });
    }
}

static void acknowledged_before_commit_is_found(void **state)
{
    static const char *const nonce = "n1";

    (void)state;
    commit();
    at(1, SIM_TAKEN, 0, result("n1"));
    at(1, SIM_SENT, 0, ack(&nonce));
    sim_check_delivery(&run);
    assert_int_equal(run.n, 1);
    assert_string_equal(run.findings[0].check, "I1");
}

static void acknowledged_after_commit_is_right(void **state)
{
    static const char *const nonce = "n1";

    (void)state;
    at(1, SIM_TAKEN, 0, result("n1"));
    commit();
    at(1, SIM_SENT, 0, ack(&nonce));
    sim_check_delivery(&run);
    assert_int_equal(run.n, 0);
}

static void result_of_a_killed_run_is_not_committed_by_the_next(void **state)
{
    static const char *const nonce = "n1";

    (void)state;
    at(1, SIM_TAKEN, 0, result("n1"));
    sim_trace_add(&world.trace, (struct sim_record){ .kind = SIM_BEGIN,
                                                     .host = SIM_NOBODY,
                                                     .type = -1,
                                                     .epoch = 2 });
    commit();
    at(2, SIM_SENT, 0, ack(&nonce));
    sim_check_delivery(&run);
    assert_int_equal(run.n, 1);
}

static void gpu_of_two_hosts_is_found(void **state)
{
    (void)state;
    at(1, SIM_TAKEN, 0, (struct msg){ .type = MSG_BEAT });
    at(1, SIM_TAKEN, 1, (struct msg){ .type = MSG_BEAT });
    at(1, SIM_SENT, 0, lease(1, "GPU-1"));
    at(2, SIM_SENT, 1, lease(2, "GPU-1"));
    sim_check_leases(&run);
    assert_int_equal(run.n, 1);
    assert_string_equal(run.findings[0].check, "I4");
}

static void lease_that_had_no_link_is_none(void **state)
{
    struct msg msg = lease(1, "GPU-1");

    (void)state;
    at(1, SIM_TAKEN, 0, (struct msg){ .type = MSG_BEAT });
    at(1, SIM_TAKEN, 1, (struct msg){ .type = MSG_BEAT });
    msg.epoch = 1;
    sim_trace_msg(&world.trace, SIM_SENT, 1 * NS_PER_S, 0, &msg, 0);
    at(2, SIM_SENT, 1, lease(2, "GPU-1"));
    sim_check_leases(&run);
    assert_int_equal(run.n, 0);
}

static void lease_past_its_limit_is_found(void **state)
{
    (void)state;
    at(1, SIM_SENT, 0, lease(1, "GPU-1"));
    beat(2, 73); /* its limit is 10 s */
    sim_check_leases(&run);
    assert_int_equal(run.n, 1);
    assert_string_equal(run.findings[0].check, "I8");
}

static void lease_within_its_limit_is_right(void **state)
{
    (void)state;
    at(1, SIM_SENT, 0, lease(1, "GPU-1"));
    beat(2, 72);
    sim_check_leases(&run);
    assert_int_equal(run.n, 0);
}

static void lease_is_forgiven_what_the_disk_was_slow(void **state)
{
    (void)state;
    at(1, SIM_SENT, 0, lease(1, "GPU-1"));
    commit_for(20, 15);
    beat(21, 87);
    sim_check_leases(&run);
    assert_int_equal(run.n, 0);
    beat(87, 89);
    sim_check_leases(&run);
    assert_int_equal(run.n, 1);
}

static void lease_that_ended_is_over(void **state)
{
    (void)state;
    at(1, SIM_SENT, 0, lease(1, "GPU-1"));
    at(2, SIM_TAKEN, 0,
       (struct msg){ .type = MSG_REFUSE,
                     .refuse = { .lease = 1, .text = "no" } });
    beat(2, 250);
    sim_check_leases(&run);
    assert_int_equal(run.n, 0);
}

/* Silent from 2 s to 33 s, with nothing sent at the end of it. */
static void lease_given_up_in_a_silence_is_over(void **state)
{
    (void)state;
    at(1, SIM_SENT, 0, lease(1, "GPU-1"));
    beat(2, 3);
    beat(33, 34);
    at(34, SIM_SENT, 0, lease(2, "GPU-1"));
    at(35, SIM_TAKEN, 0,
       (struct msg){ .type = MSG_REFUSE,
                     .refuse = { .lease = 2, .text = "no" } });
    beat(36, 250);
    sim_check_leases(&run);
    assert_int_equal(run.n, 0);
}

static void lease_is_not_over_by_a_silence_alone(void **state)
{
    (void)state;
    at(1, SIM_SENT, 0, lease(1, "GPU-1"));
    beat(2, 3);
    beat(33, 73);
    sim_check_leases(&run);
    assert_int_equal(run.n, 1);
}

/* Of the same measurement, by another lease of another host or by its own. */
static void measurement_is_over_but_for_a_crash_elsewhere(void **state)
{
    static const struct {
        const char *outcome;
        int host;
        size_t findings;
    } rows[] = {
        { "crash", 1, 1 },
        { "crash", 0, 0 },
        { "runtime", 1, 0 },
        { "correct", 0, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        at(1, SIM_SENT, 0, lease(1, "GPU-1"));
        at(2, SIM_TAKEN, rows[i].host,
           (struct msg){
               .type = MSG_MEASURED,
               .measured = {
                   .work.lease = 2,
                   .result = { .nonce = "n1", .outcome = rows[i].outcome } } });
        beat(2, 73);
        sim_check_leases(&run);
        assert_int_equal(run.n, rows[i].findings);
        teardown(state);
        setup(state);
    }
}

static void crash(int64_t number)
{
    at(1, SIM_TAKEN, 0,
       (struct msg){
           .type = MSG_MEASURED,
           .measured = { .work = { .lease = number,
                                   .id = { .config = "c1",
                                           .shape = "s",
                                           .purpose = "screen" } },
                         .result = { .nonce = "n1", .outcome = "crash" } } });
}

/* Three tries, and one lease that was out beside the last. */
static void crashes_without_end_are_found(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        at(1, SIM_SENT, 0, lease(n, "GPU-1"));
    for (int64_t n = 1; n <= 4; n++)
        crash(n);
    crash(4); /* sent again */
    sim_check_crashes(&run);
    assert_int_equal(run.n, 0);
    crash(5);
    sim_check_crashes(&run);
    assert_int_equal(run.n, 1);
    assert_string_equal(run.findings[0].check, "F3");
}

/* ---- claims, of a host 'gpu1' */

static int setup_claims(void **state)
{
    setup(state);
    snprintf(world.scene.hosts[0].name, sizeof(world.scene.hosts[0].name),
             "gpu1");
    world.scene.vices[0] = SIM_CLAIMS;
    return fixture_setup(state);
}

static int teardown_claims(void **state)
{
    teardown(NULL);
    return fixture_teardown(state);
}

static void put_lease(struct store *store, int64_t epoch)
{
    struct store_lease row = { .epoch = epoch,
                               .id = 1,
                               .config = "c1",
                               .shape = "n16m",
                               .purpose = "screen",
                               .stage = "measure",
                               .host = "gpu1",
                               .gpu = "" };
    struct err err = { "" };

    fixture_run(store, epoch);
    if (store_lease_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static void claim(int64_t epoch)
{
    static const char *const item = "t/c1/n16m/screen/0/measure/1";
    struct msg hello = { .type = MSG_HELLO,
                         .epoch = epoch,
                         .hello = { .boot_id = "b", .running = { &item, 1 } } };

    sim_trace_msg(&world.trace, SIM_TAKEN, 2 * NS_PER_S, 0, &hello, 1);
}

static void lease_that_is_only_claimed_is_found(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_owners(store, "c1");
    put_lease(store, 1);
    claim(1);
    sim_check_claims(&run, store);
    assert_int_equal(run.n, 1);
    assert_string_equal(run.findings[0].check, "I4");
    store_close(store);
}

static void lease_that_is_refused_is_right(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    claim(1);
    sim_check_claims(&run, store);
    assert_int_equal(run.n, 0);
    store_close(store);
}

/* The coordinator was killed between COMMIT and sending. */
static void lease_that_an_earlier_life_committed_may_be_claimed(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_owners(store, "c1");
    put_lease(store, 1);
    put_lease(store, 2);
    claim(2);
    sim_check_claims(&run, store);
    assert_int_equal(run.n, 0);
    store_close(store);
}

int main(void)
{
#define CLAIMS(name) \
    cmocka_unit_test_setup_teardown(name, setup_claims, teardown_claims)
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(acknowledged_before_commit_is_found),
        CASE(acknowledged_after_commit_is_right),
        CASE(result_of_a_killed_run_is_not_committed_by_the_next),
        CASE(gpu_of_two_hosts_is_found),
        CASE(lease_that_had_no_link_is_none),
        CASE(lease_past_its_limit_is_found),
        CASE(lease_within_its_limit_is_right),
        CASE(lease_is_forgiven_what_the_disk_was_slow),
        CASE(lease_that_ended_is_over),
        CASE(lease_given_up_in_a_silence_is_over),
        CASE(lease_is_not_over_by_a_silence_alone),
        CASE(measurement_is_over_but_for_a_crash_elsewhere),
        CASE(crashes_without_end_are_found),
        CLAIMS(lease_that_is_only_claimed_is_found),
        CLAIMS(lease_that_is_refused_is_right),
        CLAIMS(lease_that_an_earlier_life_committed_may_be_claimed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
