#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/schedule/sched.h"

/* Unit 0 is the baseline, as in a plan. */
enum {
    REFERENCE_OF_3 = 3
};

static struct sched *three_units(int hosts)
{
    return sched_new((struct sched_limits){
        .units = 3, .shapes = 1, .hosts = hosts, .attempts = 2 });
}

/* Everything is built, on host 0. */
static void build_all(struct sched *sched)
{
    for (int unit = 0; unit <= REFERENCE_OF_3; unit++)
        sched_built_at(sched, unit, 0);
}

/* Nothing is left to screen, as when all was measured in an earlier run. */
static void settle_all(struct sched *sched)
{
    for (int unit = 0; unit < REFERENCE_OF_3; unit++)
        sched_settled(sched, JOB_MEASURE, unit, 0, true);
}

static int64_t order(struct sched *sched, int unit, int host, int gpu,
                     int round)
{
    return sched_order(sched, &(struct sched_order){ .unit = unit,
                                                     .host = host,
                                                     .gpu = gpu,
                                                     .purpose = SCHED_CANARY,
                                                     .round = round });
}

/* The next lease: a measurement of 'unit' for order 'id' (0: screening). */
static struct sched_lease take(struct sched *sched, int unit, int64_t id)
{
    struct sched_lease lease;

    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.stage, JOB_MEASURE);
    assert_int_equal(lease.unit, unit);
    assert_int_equal(lease.order, id);
    return lease;
}

static void take_build(struct sched *sched, int unit)
{
    struct sched_lease lease;

    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.stage, JOB_BUILD);
    assert_int_equal(lease.unit, unit);
    assert_true(sched_apply(sched, JOB_BUILD, unit, 0, JOB_EV_RESULT, 0));
}

static void orders_go_in_their_order_before_all_else(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    int64_t first, second;

    (void)state;
    build_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    first = order(sched, 2, 0, 0, 7);
    second = sched_order(sched, &(struct sched_order){ .unit = 0,
                                                       .purpose = SCHED_CONFIRM,
                                                       .round = 3,
                                                       .fresh = true });
    assert_true(first > 0 && second > 0 && first != second);
    assert_int_equal(sched_open_jobs(sched), 3 + 2);
    lease = take(sched, 2, first);
    assert_int_equal(lease.purpose, SCHED_CANARY);
    assert_int_equal(lease.round, 7);
    assert_int_equal(lease.attempt, 1);
    assert_false(lease.fresh);
    assert_false(sched_next(sched, &lease)); /* the GPU is taken */
    assert_ptr_equal(sched_order_lease(sched, first), sched_lease_on(sched, 0));
    assert_true(sched_order_apply(sched, first, JOB_EV_RESULT));
    assert_null(sched_order_lease(sched, first));
    lease = take(sched, 0, second);
    assert_int_equal(lease.purpose, SCHED_CONFIRM);
    assert_true(lease.fresh);
    assert_true(sched_order_apply(sched, second, JOB_EV_REJECT));
    lease = take(sched, 0, 0);
    assert_int_equal(lease.purpose, SCHED_SCREEN);
    assert_int_equal(lease.round, 0);
    assert_int_equal(sched_open_jobs(sched), 3);
    sched_free(sched);
}

static void each_gpu_has_its_own(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    int64_t one, zero;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 2, 2);
    one = order(sched, 0, 0, 1, 0);
    lease = take(sched, 0, one);
    assert_int_equal(lease.gpu, 1);
    assert_false(sched_next(sched, &lease)); /* GPU 0 was asked for nothing */
    zero = order(sched, 0, 0, 0, 1);
    lease = take(sched, 0, zero);
    assert_int_equal(lease.gpu, 0);
    sched_free(sched);
}

static void
an_order_waits_for_its_build_and_holds_up_no_other_work(void **state)
{
    struct sched *sched = three_units(1);
    int64_t id, behind;

    (void)state;
    sched_built_at(sched, REFERENCE_OF_3, 0);
    sched_built_at(sched, 1, 0);
    sched_host_up(sched, 0, 1, 1, 1);
    id = order(sched, 2, 0, 0, 0);
    behind = order(sched, 1, 0, 0, 0);
    take(sched, 1, 0); /* screened meanwhile */
    assert_true(sched_apply(sched, JOB_MEASURE, 1, 0, JOB_EV_RESULT, 0));
    take_build(sched, 2); /* before unit 0 */
    take(sched, 2, id);
    assert_true(sched_order_apply(sched, id, JOB_EV_RESULT));
    take(sched, 1, behind);
    sched_free(sched);
}

static void an_order_builds_a_settled_unit(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    int64_t id;

    (void)state;
    settle_all(sched);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_host_up(sched, 0, 1, 1, 1);
    id = order(sched, 1, 0, 0, 0);
    assert_int_equal(sched_open_jobs(sched), 3); /* two builds and it */
    take_build(sched, REFERENCE_OF_3);
    take_build(sched, 1);
    take(sched, 1, id);
    assert_true(sched_order_apply(sched, id, JOB_EV_RESULT));
    assert_int_equal(sched_open_jobs(sched), 0);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void a_cancelled_order_takes_its_builds_along(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    int64_t id;

    (void)state;
    settle_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    id = order(sched, 1, 0, 0, 0);
    assert_true(sched_order_cancel(sched, id));
    assert_false(sched_order_cancel(sched, id));
    assert_int_equal(sched_open_jobs(sched), 0);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void an_order_on_another_host_waits_until_that_has_it(void **state)
{
    struct sched *sched = three_units(2);
    struct sched_lease lease;
    int64_t id;

    (void)state;
    settle_all(sched);
    sched_host_up(sched, 0, 4, 0, 1); /* a builder */
    sched_host_up(sched, 1, 0, 1, 1);
    id = order(sched, 0, 1, 0, 0);
    take_build(sched, REFERENCE_OF_3);
    take_build(sched, 0);
    sched_host_pause(sched, 0, true);
    assert_false(sched_next(sched, &lease)); /* nobody to fetch it from */
    sched_host_pause(sched, 0, false);
    lease = take(sched, 0, id);
    assert_int_equal(lease.host, 1);
    assert_int_equal(sched_home(sched, 0), 0);
    sched_free(sched);
}

static void a_lost_order_is_tried_again_first_and_dropped_at_last(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    const char *why;
    int64_t id, behind;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    id = order(sched, 0, 0, 0, 5);
    behind = order(sched, 1, 0, 0, 6);
    take(sched, 0, id);
    assert_true(sched_order_apply(sched, id, JOB_EV_REFUSED)); /* not a try */
    take(sched, 0, id);
    assert_true(sched_order_apply(sched, id, JOB_EV_LOST));
    assert_false(sched_order_dropped(sched, &lease, &why));
    lease = take(sched, 0, id);
    assert_int_equal(lease.attempt, 2);
    assert_true(sched_order_apply(sched, id, JOB_EV_LOST));
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.id, 0);
    assert_int_equal(lease.order, id);
    assert_int_equal(lease.purpose, SCHED_CANARY);
    assert_int_equal(lease.round, 5);
    assert_string_equal(why, "its last attempt was lost");
    assert_false(sched_order_dropped(sched, &lease, &why));
    assert_false(sched_order_apply(sched, id, JOB_EV_RESULT)); /* late */
    take(sched, 1, behind);
    sched_free(sched);
}

static void a_late_result_ends_an_order_that_waits_again(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    int64_t id;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    id = order(sched, 0, 0, 0, 0);
    take(sched, 0, id);
    assert_true(sched_order_apply(sched, id, JOB_EV_LOST));
    assert_true(sched_order_apply(sched, id, JOB_EV_RESULT));
    assert_int_equal(sched_open_jobs(sched), 0);
    assert_false(sched_next(sched, &lease));
    sched_free(sched);
}

static void a_dead_host_drops_its_orders_and_not_those_of_others(void **state)
{
    struct sched *sched = three_units(2);
    struct sched_lease lease;
    const char *why;
    int64_t gone;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    sched_host_up(sched, 1, 1, 1, 1);
    gone = order(sched, 0, 0, 0, 0);
    assert_true(order(sched, 0, 1, 0, 1) > 0);
    sched_host_down(sched, 0);
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.order, gone);
    assert_string_equal(why, "its host is gone");
    assert_false(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(order(sched, 0, 0, 0, 2), 0); /* not up */
    assert_true(sched_next(sched, &lease)); /* built again, where it can be */
    assert_int_equal(lease.stage, JOB_BUILD);
    assert_int_equal(lease.host, 1);
    assert_int_equal(sched_open_jobs(sched), 2 + 1);
    sched_free(sched);
}

static void a_later_order_rebuilds_what_a_dead_host_had(void **state)
{
    struct sched *sched = three_units(2);
    struct sched_lease lease;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    sched_host_down(sched, 0); /* nothing was needed then */
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_host_up(sched, 1, 1, 1, 1);
    assert_true(order(sched, 2, 1, 0, 0) > 0);
    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.stage, JOB_BUILD);
    sched_free(sched);
}

static void an_order_needs_its_build(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    const char *why;
    int64_t id;

    (void)state;
    sched_host_up(sched, 0, 4, 1, 1);
    id = order(sched, 1, 0, 0, 0);
    for (int i = 0; i < 2; i++)
        assert_true(sched_next(sched, &lease));
    assert_true(sched_apply(sched, JOB_BUILD, 1, 0, JOB_EV_REJECT, 0));
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.order, id);
    assert_string_equal(why, "it cannot be built");
    assert_int_equal(order(sched, 1, 0, 0, 1), 0);
    id = order(sched, 2, 0, 0, 0);
    assert_true(
        sched_apply(sched, JOB_BUILD, REFERENCE_OF_3, 0, JOB_EV_REJECT, 0));
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.order, id);
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void
an_artifact_that_vanished_is_built_before_the_order_goes_on(void **state)
{
    struct sched *sched = three_units(1);
    int64_t id;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    id = order(sched, 0, 0, 0, 0);
    take(sched, 0, id);
    sched_vanished(sched, 0);
    assert_true(sched_order_apply(sched, id, JOB_EV_REFUSED));
    take_build(sched, 0);
    take(sched, 0, id);
    sched_free(sched);
}

static void a_gpu_that_is_gone_takes_its_orders_along(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    const char *why;
    int64_t second;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 2, 1);
    assert_true(order(sched, 0, 0, 0, 0) > 0);
    second = order(sched, 0, 0, 1, 1);
    sched_host_up(sched, 0, 1, 1, 1); /* a new connection has one */
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.order, second);
    assert_false(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(order(sched, 0, 0, 1, 2), 0); /* it has no such GPU */
    sched_orders_drop(sched, 0, 2, "it was never there");
    assert_false(sched_order_dropped(sched, &lease, &why));
    sched_orders_drop(sched, 0, 0, "it is another GPU now");
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_string_equal(why, "it is another GPU now");
    assert_int_equal(sched_open_jobs(sched), 0);
    sched_free(sched);
}

static void what_a_gpu_that_is_gone_loses_is_dropped(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    const char *why;
    int64_t id;

    (void)state;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 2, 1);
    id = order(sched, 0, 0, 1, 0);
    take(sched, 0, id);
    sched_host_up(sched, 0, 1, 1, 1);
    assert_false(sched_order_dropped(sched, &lease, &why)); /* it runs */
    assert_true(sched_order_apply(sched, id, JOB_EV_LOST));
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.order, id);
    assert_string_equal(why, "its GPU is gone");
    sched_free(sched);
}

/* It was leased when its unit had to be built again, and could not be. */
static void what_cannot_be_built_again_is_dropped_when_it_comes_back(void **s)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    const char *why;
    int64_t id;

    (void)s;
    build_all(sched);
    settle_all(sched);
    sched_host_up(sched, 0, 1, 1, 1);
    id = order(sched, 0, 0, 0, 0);
    take(sched, 0, id);
    sched_vanished(sched, 0);
    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.stage, JOB_BUILD);
    assert_true(sched_apply(sched, JOB_BUILD, 0, 0, JOB_EV_REJECT, 0));
    assert_false(sched_order_dropped(sched, &lease, &why)); /* it runs */
    assert_true(sched_order_apply(sched, id, JOB_EV_LOST));
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.order, id);
    assert_string_equal(why, "it cannot be built any more");
    sched_free(sched);
}

static void an_order_of_a_held_unit_waits_for_its_release(void **state)
{
    struct sched *sched = three_units(1);
    struct sched_lease lease;
    const char *why;
    int64_t id;

    (void)state;
    for (int unit = 0; unit < REFERENCE_OF_3; unit++)
        sched_hold(sched, unit);
    sched_host_up(sched, 0, 4, 1, 1);
    id = order(sched, 0, 0, 0, 0);
    take_build(sched, REFERENCE_OF_3);
    assert_false(sched_next(sched, &lease));
    sched_release(sched, 1);
    sched_release(sched, 0);
    take_build(sched, 0); /* before what was released earlier */
    take(sched, 0, id);
    id = order(sched, 2, 0, 0, 0);
    sched_drop(sched, 2);
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_int_equal(lease.order, id);
    assert_string_equal(why, "its configuration is no longer wanted");
    assert_true(order(sched, 2, 0, 0, 1) > 0); /* but it can be had */
    take_build(sched, 2);
    sched_free(sched);
}

static void a_resting_gpu_takes_only_orders(void **state)
{
    struct sched *sched = three_units(2);
    struct sched_lease lease;
    int64_t id;

    (void)state;
    build_all(sched);
    sched_host_up(sched, 0, 0, 1, 1);
    sched_gpu_rest(sched, 0, 0, true);
    assert_false(sched_next(sched, &lease));
    id = order(sched, 2, 0, 0, 0);
    take(sched, 2, id);
    assert_true(sched_order_apply(sched, id, JOB_EV_RESULT));
    sched_host_up(sched, 0, 0, 1, 1); /* a new connection changes nothing */
    assert_false(sched_next(sched, &lease));
    sched_host_up(sched, 1, 0, 1, 1); /* what lies there goes elsewhere */
    lease = take(sched, 0, 0);
    assert_int_equal(lease.host, 1);
    /* Nor does what was lost wait for it. */
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_LOST));
    lease = take(sched, 0, 0);
    assert_int_equal(lease.host, 1);
    sched_gpu_rest(sched, 0, 0, false);
    lease = take(sched, 1, 0);
    assert_int_equal(lease.host, 0);
    sched_free(sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_go_in_their_order_before_all_else),
        cmocka_unit_test(each_gpu_has_its_own),
        cmocka_unit_test(
            an_order_waits_for_its_build_and_holds_up_no_other_work),
        cmocka_unit_test(an_order_builds_a_settled_unit),
        cmocka_unit_test(a_cancelled_order_takes_its_builds_along),
        cmocka_unit_test(an_order_on_another_host_waits_until_that_has_it),
        cmocka_unit_test(a_lost_order_is_tried_again_first_and_dropped_at_last),
        cmocka_unit_test(a_late_result_ends_an_order_that_waits_again),
        cmocka_unit_test(a_dead_host_drops_its_orders_and_not_those_of_others),
        cmocka_unit_test(a_later_order_rebuilds_what_a_dead_host_had),
        cmocka_unit_test(an_order_needs_its_build),
        cmocka_unit_test(
            an_artifact_that_vanished_is_built_before_the_order_goes_on),
        cmocka_unit_test(a_gpu_that_is_gone_takes_its_orders_along),
        cmocka_unit_test(what_a_gpu_that_is_gone_loses_is_dropped),
        cmocka_unit_test(
            what_cannot_be_built_again_is_dropped_when_it_comes_back),
        cmocka_unit_test(an_order_of_a_held_unit_waits_for_its_release),
        cmocka_unit_test(a_resting_gpu_takes_only_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
