#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/state/leases.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define BUILD_LIMIT_S 300

static struct rig rig;

/* A build of the reference and one of unit 0 are out, to host a. */
static int two_builds(void **state)
{
    (void)state;
    rig_open(&rig, 1);
    rig_ready(&rig, 0, 1, 0); /* one slot, and one lease in waiting */
    assert_int_equal(rig_dispatch(&rig), 2);
    return 0;
}

static int over(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static const struct sched_lease *lease(int64_t id)
{
    return sched_lease_get(rig.sweep.work.sched, id);
}

static void
what_was_not_begun_has_its_limit_from_when_it_was_given(void **state)
{
    int64_t at = RIG_START_NS + (BUILD_LIMIT_S + 30) * NS_PER_S;

    (void)state;
    assert_int_equal(leases_deadline(&rig.sweep, lease(1)), at);
    assert_null(leases_expired(&rig.sweep, at));
    assert_non_null(leases_expired(&rig.sweep, at + 1));
}

static void what_has_begun_has_its_limit_from_then(void **state)
{
    (void)state;
    rig.now_ns += 20 * NS_PER_S;
    leases_started(&rig.sweep, lease(1));
    assert_int_equal(leases_deadline(&rig.sweep, lease(1)),
                     RIG_START_NS + (20 + BUILD_LIMIT_S + 30) * NS_PER_S);
}

/* The slots of a host are one place. */
static void what_waits_has_its_limit_from_when_its_place_moved(void **state)
{
    (void)state;
    rig.now_ns += 20 * NS_PER_S;
    leases_started(&rig.sweep, lease(1));
    assert_int_equal(leases_deadline(&rig.sweep, lease(2)),
                     RIG_START_NS + (20 + BUILD_LIMIT_S + 30) * NS_PER_S);
    leases_turn(&rig.sweep, rig.now_ns); /* what runs there has until 320 s */
    assert_int_equal(leases_deadline(&rig.sweep, lease(2)),
                     RIG_START_NS +
                         (20 + BUILD_LIMIT_S + BUILD_LIMIT_S + 30) * NS_PER_S);
    rig.now_ns += NS_PER_S;
    assert_int_equal(rig_built(&rig, &rig.sent[0], "built"), 0);
    leases_turn(&rig.sweep, rig.now_ns);
    assert_int_equal(leases_deadline(&rig.sweep, lease(2)),
                     RIG_START_NS + (21 + BUILD_LIMIT_S + 30) * NS_PER_S);
}

static void what_waits_behind_a_lost_lease_has_no_second_grace(void **state)
{
    struct sched_lease first = *lease(1);

    (void)state;
    leases_started(&rig.sweep, &first);
    rig.now_ns += (BUILD_LIMIT_S + 31) * NS_PER_S;
    leases_turn(&rig.sweep, rig.now_ns);
    leases_end(&rig.sweep, &first, LEASES_LOST, LEDGER_LOST);
    assert_true(sched_lease_apply(rig.sweep.work.sched, 1, JOB_EV_LOST));
    leases_turn(&rig.sweep, rig.now_ns);
    assert_int_equal(leases_deadline(&rig.sweep, lease(2)),
                     RIG_START_NS +
                         (BUILD_LIMIT_S + BUILD_LIMIT_S + 30) * NS_PER_S);
}

/* The other slot began something meanwhile. */
static void a_lost_lease_does_not_move_its_place_back(void **state)
{
    struct sched_lease first = *lease(1);

    (void)state;
    leases_started(&rig.sweep, &first);
    rig.now_ns += (BUILD_LIMIT_S + 10) * NS_PER_S;
    leases_started(&rig.sweep, lease(2));
    rig.now_ns += 21 * NS_PER_S;
    leases_end(&rig.sweep, &first, LEASES_LOST, LEDGER_LOST);
    assert_int_equal(rig.sweep.fleet.hosts[0].moved_ns[HOST_STATE_GPUS_MAX],
                     RIG_START_NS + (BUILD_LIMIT_S + 10) * NS_PER_S);
}

/* Its host was lost, or it was cancelled. */
static void what_ends_before_its_deadline_frees_its_place_then(void **state)
{
    struct sched_lease first = *lease(1);

    (void)state;
    leases_started(&rig.sweep, &first);
    rig.now_ns += (BUILD_LIMIT_S + 30) * NS_PER_S;
    leases_end(&rig.sweep, &first, LEASES_LOST, LEDGER_LOST);
    assert_int_equal(rig.sweep.fleet.hosts[0].moved_ns[HOST_STATE_GPUS_MAX],
                     rig.now_ns);
}

static bool is_late_at(int64_t id, int64_t after_ns)
{
    leases_turn(&rig.sweep, RIG_START_NS + after_ns);
    return lease(id)->late;
}

static void the_first_is_late_after_ten_seconds(void **state)
{
    (void)state;
    assert_false(is_late_at(1, 10 * NS_PER_S));
    assert_true(is_late_at(1, 10 * NS_PER_S + 1));
}

static void with_a_mean_of_2_s_it_is_late_after_6(void **state)
{
    (void)state;
    rig.sweep.work.pace.mean_ns[JOB_BUILD] = 2e9;
    assert_false(is_late_at(1, 6 * NS_PER_S));
    assert_true(is_late_at(1, 6 * NS_PER_S + 1));
}

static void it_is_never_late_within_a_second(void **state)
{
    (void)state;
    rig.sweep.work.pace.mean_ns[JOB_BUILD] = 1e6;
    assert_false(is_late_at(1, NS_PER_S));
    assert_true(is_late_at(1, NS_PER_S + 1));
}

static void lateness_counts_from_when_it_began(void **state)
{
    (void)state;
    rig.now_ns += 9 * NS_PER_S;
    leases_started(&rig.sweep, lease(1));
    assert_false(is_late_at(1, 19 * NS_PER_S));
    assert_false(is_late_at(2, 19 * NS_PER_S)); /* its place moved then */
    assert_true(is_late_at(1, 19 * NS_PER_S + 1));
    assert_true(is_late_at(2, 19 * NS_PER_S + 1));
}

static void
the_first_duration_is_the_mean_and_the_next_has_a_fifth(void **state)
{
    double *mean = &rig.sweep.work.pace.mean_ns[JOB_BUILD];

    (void)state;
    leases_started(&rig.sweep, lease(1));
    rig.now_ns += 2 * NS_PER_S;
    assert_int_equal(rig_built(&rig, &rig.sent[0], "built"), 0);
    assert_true(*mean == 2e9);
    leases_started(&rig.sweep, lease(2));
    rig.now_ns += 7 * NS_PER_S;
    assert_int_equal(rig_built(&rig, &rig.sent[1], "built"), 0);
    assert_true(*mean == 3e9);
}

/* One slow shape among fast ones leaves GPUs with less ahead for a while. */
static void gpus_have_more_ahead_as_measurements_are_short(void **state)
{
    static const struct {
        int64_t ms;
        int credit;
    } took[] = {
        { 5, 31 }, { 100, 4 }, { 5, 4 }, { 5, 4 }, { 5, 4 }, { 5, 5 }
    };
    double *longest_ns = &rig.sweep.work.pace.longest_measure_ns;

    (void)state;
    rig.sweep.fleet.hosts[0].worker.credit = 32;
    assert_int_equal(leases_credit(&rig.sweep, 0), 4);
    for (size_t i = 0; i < sizeof(took) / sizeof(took[0]); i++) {
        int64_t id = 3 + (int64_t)i;

        rig_lease(&rig, 0, JOB_MEASURE, (int)i);
        leases_started(&rig.sweep, lease(id));
        rig.now_ns += took[i].ms * NS_PER_MS;
        leases_end(&rig.sweep, lease(id), LEASES_DONE, LEDGER_MEASURING);
        assert_int_equal(leases_credit(&rig.sweep, 0), took[i].credit);
    }
    assert_true(*longest_ns > 43e6 && *longest_ns < 44e6);
    rig.sweep.fleet.hosts[0].worker.credit = 2;
    assert_int_equal(leases_credit(&rig.sweep, 0), 2);
}

static void what_was_lost_or_never_began_says_nothing_of_the_mean(void **state)
{
    struct sched_lease first = *lease(1), second = *lease(2);

    (void)state;
    leases_started(&rig.sweep, &first);
    rig.now_ns += 2 * NS_PER_S;
    rig.sweep.fleet.hosts[0].conduct.expired = 1;
    leases_end(&rig.sweep, &first, LEASES_LOST, LEDGER_LOST);
    leases_end(&rig.sweep, &second, LEASES_DONE, LEDGER_BUILDING);
    assert_true(rig.sweep.work.pace.mean_ns[JOB_BUILD] == 0);
    assert_int_equal(rig.sweep.fleet.hosts[0].conduct.expired, 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending IN ('lost', 'done')"),
                     2);
}

static void what_was_slept_is_added_to_all(void **state)
{
    (void)state;
    rig.now_ns += NS_PER_S;
    leases_started(&rig.sweep, lease(1));
    leases_forgive(&rig.sweep, 100 * NS_PER_S);
    assert_int_equal(leases_deadline(&rig.sweep, lease(1)),
                     RIG_START_NS + (101 + BUILD_LIMIT_S + 30) * NS_PER_S);
    assert_int_equal(leases_deadline(&rig.sweep, lease(2)),
                     RIG_START_NS + (101 + BUILD_LIMIT_S + 30) * NS_PER_S);
    assert_int_equal(rig.sweep.work.issued[0].granted_ns,
                     RIG_START_NS + 100 * NS_PER_S);
    assert_int_equal(rig.sweep.work.issued[1].started_ns, 0);
    assert_int_equal(rig.sweep.fleet.hosts[0].moved_ns[HOST_STATE_GPUS_MAX],
                     RIG_START_NS + 101 * NS_PER_S);
}

/* Each GPU is a place, and the slots are one of their own. */
static void what_the_first_gpu_began_moves_its_place_alone(void **state)
{
    const struct host_state *host = &rig.sweep.fleet.hosts[0];
    const int64_t slots_ns = host->moved_ns[HOST_STATE_GPUS_MAX];

    (void)state;
    rig_lease(&rig, 0, JOB_MEASURE, 0);
    rig.now_ns += 20 * NS_PER_S;
    leases_started(&rig.sweep, lease(3));
    assert_int_equal(lease(3)->gpu, 0);
    assert_int_equal(host->moved_ns[0], rig.now_ns);
    assert_int_equal(host->moved_ns[HOST_STATE_GPUS_MAX], slots_ns);
}

/* Work that was claimed, or given twice, is not to go on elsewhere. */
static void what_has_no_result_is_cancelled_with_what_repeats_it(void **state)
{
    struct issued_lease *issued;

    (void)state;
    rig_lease(&rig, 0, JOB_BUILD, 5);
    issued = rig.sweep.work.issued;
    issued[1] = issued[2];
    leases_cancel(&rig.sweep, 3);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 2); /* not of lease 1 */
    assert_int_equal(rig_first(&rig, MSG_CANCEL)->lease, 3);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, 2);
    snprintf(issued[1].nonce, sizeof(issued[1].nonce), "n1");
    leases_cancel(&rig.sweep, 3);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 3);
}

/* No more than it has waited, and only what waits there for its files. */
static void files_that_arrive_move_what_waits_for_them(void **state)
{
    const struct issued_lease *issued;

    (void)state;
    rig_lease(&rig, 0, JOB_MEASURE, 0);
    issued = rig.sweep.work.issued;
    rig.now_ns += 3 * NS_PER_S;
    leases_arrived(&rig.sweep, 1, NS_PER_S);
    assert_int_equal(issued[2].arriving_ns, 0);
    leases_arrived(&rig.sweep, 0, NS_PER_S);
    assert_int_equal(issued[2].arriving_ns, NS_PER_S);
    leases_arrived(&rig.sweep, 0, 5 * NS_PER_S);
    assert_int_equal(issued[2].arriving_ns, 4 * NS_PER_S);
    assert_int_equal(issued[0].arriving_ns, 0);
    leases_started(&rig.sweep, lease(3));
    leases_arrived(&rig.sweep, 0, NS_PER_S);
    assert_int_equal(issued[2].arriving_ns, 4 * NS_PER_S);
}

static void a_gpu_is_held_by_the_work_that_is_out_to_it(void **state)
{
    (void)state;
    assert_false(leases_hold_gpu(&rig.sweep, 0, 0));
    rig_lease(&rig, 0, JOB_MEASURE, 0);
    assert_true(leases_hold_gpu(&rig.sweep, 0, 0));
    assert_false(leases_hold_gpu(&rig.sweep, 0, 1));
    assert_false(leases_hold_gpu(&rig.sweep, 1, 0));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, two_builds, over)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_not_begun_has_its_limit_from_when_it_was_given),
        CASE(what_has_begun_has_its_limit_from_then),
        CASE(what_waits_has_its_limit_from_when_its_place_moved),
        CASE(what_waits_behind_a_lost_lease_has_no_second_grace),
        CASE(a_lost_lease_does_not_move_its_place_back),
        CASE(what_ends_before_its_deadline_frees_its_place_then),
        CASE(the_first_is_late_after_ten_seconds),
        CASE(with_a_mean_of_2_s_it_is_late_after_6),
        CASE(it_is_never_late_within_a_second),
        CASE(lateness_counts_from_when_it_began),
        CASE(the_first_duration_is_the_mean_and_the_next_has_a_fifth),
        CASE(gpus_have_more_ahead_as_measurements_are_short),
        CASE(what_was_lost_or_never_began_says_nothing_of_the_mean),
        CASE(what_was_slept_is_added_to_all),
        CASE(what_the_first_gpu_began_moves_its_place_alone),
        CASE(what_has_no_result_is_cancelled_with_what_repeats_it),
        CASE(files_that_arrive_move_what_waits_for_them),
        CASE(a_gpu_is_held_by_the_work_that_is_out_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
