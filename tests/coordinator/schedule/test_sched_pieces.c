#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/schedule/sched.h"
#include "coordinator/schedule/sched_internal.h"
#include "coordinator/schedule/sched_pieces.h"

/* "b0" a build, "m0" a measurement, "o1" an order, and what holds it. */
struct listed {
    char text[256];
};

static void note(void *arg, const struct sched_piece *piece)
{
    static const char *const holds[] = { "none", "queue", "lease", "build",
                                         "caller" };
    struct listed *listed = arg;
    size_t n = strlen(listed->text);
    char kind = piece->order ? 'o' : piece->stage == JOB_BUILD ? 'b' : 'm';

    snprintf(listed->text + n, sizeof(listed->text) - n, "%s%c%d %s",
             n ? ", " : "", kind,
             piece->order ? (int)piece->order : piece->unit,
             holds[piece->hold]);
}

static void assert_pieces(const struct sched *sched, const char *text)
{
    struct listed listed = { "" };

    sched_pieces(sched, note, &listed);
    assert_string_equal(listed.text, text);
}

/* One configuration, and the reference, which is unit 1. */
static struct sched *one_unit(void)
{
    return sched_new((struct sched_limits){
        .units = 1, .shapes = 1, .hosts = 2, .attempts = 2 });
}

static int64_t order(struct sched *sched, int host)
{
    return sched_order(
        sched, &(struct sched_order){ .host = host, .purpose = SCHED_CANARY });
}

static void builds_are_queued_and_measurements_wait_for_them(void **state)
{
    struct sched *sched = one_unit();

    (void)state;
    assert_pieces(sched, "b0 queue, b1 queue, m0 build");
    sched_built_at(sched, 1, 0);
    assert_pieces(sched, "b0 queue, m0 build");
    sched_built_at(sched, 0, 0);
    assert_pieces(sched, "m0 queue");
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    assert_pieces(sched, "");
    sched_free(sched);
}

static void what_is_handed_out_is_leased_until_it_is_lost(void **state)
{
    struct sched *sched = one_unit();
    struct sched_lease lease;

    (void)state;
    sched_built_at(sched, 1, 0);
    sched_built_at(sched, 0, 0);
    sched_host_up(sched, 0, 1, 1, 1);
    assert_true(sched_next(sched, &lease));
    assert_pieces(sched, "m0 lease");
    assert_true(sched_lease_apply(sched, lease.id, JOB_EV_LOST));
    assert_pieces(sched, "m0 queue");
    sched_free(sched);
}

static void a_unit_that_is_held_waits_for_the_caller(void **state)
{
    struct sched *sched = one_unit();

    (void)state;
    sched_hold(sched, 0);
    assert_pieces(sched, "b0 caller, b1 queue, m0 build");
    sched_release(sched, 0);
    assert_pieces(sched, "b0 queue, b1 queue, m0 build");
    sched_free(sched);
}

static void orders_wait_for_builds_and_for_their_gpu(void **state)
{
    struct sched *sched = one_unit();
    struct sched_lease lease;
    const char *why;

    (void)state;
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    sched_host_up(sched, 0, 1, 1, 1);
    sched_host_up(sched, 1, 0, 1, 1);
    assert_int_equal(order(sched, 1), 1);
    assert_pieces(sched, "b0 queue, b1 queue, o1 build");
    sched_built_at(sched, 1, 0);
    sched_built_at(sched, 0, 0);
    assert_pieces(sched, "o1 queue");
    sched_host_down(sched, 1);
    assert_pieces(sched, "o1 queue"); /* to be told that it is dropped */
    assert_true(sched_order_is_open(sched, 1));
    assert_false(sched_order_is_open(sched, 0)); /* none is of that number */
    assert_false(sched_order_is_open(sched, 2));
    assert_true(sched_order_dropped(sched, &lease, &why));
    assert_false(sched_order_is_open(sched, 1));
    assert_pieces(sched, "");
    sched_free(sched);
}

static void a_unit_is_open_until_all_of_it_is_measured(void **state)
{
    struct sched *sched = sched_new((struct sched_limits){
        .units = 2, .shapes = 2, .hosts = 1, .attempts = 2 });

    (void)state;
    assert_true(sched_unit_is_open(sched, 0));
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    assert_true(sched_unit_is_open(sched, 0));
    sched_settled(sched, JOB_MEASURE, 0, 1, false);
    assert_false(sched_unit_is_open(sched, 0));
    assert_true(sched_unit_is_open(sched, 1));
    sched_free(sched);
}

/* No call of sched.h leads there: these are the faults it is to find. */
static void what_stands_nowhere_is_found(void **state)
{
    struct sched *sched = one_unit();

    (void)state;
    int_queue_remove(&sched->units.builds, 0); /* the reference */
    assert_pieces(sched, "b0 queue, b1 none, m0 build");
    sched->jobs.list[1].state = JOB_DONE;
    sched->jobs.list[0].state = JOB_DONE;
    assert_pieces(sched, "m0 none"); /* nobody says that it can start */
    sched->jobs.list[2].state = JOB_LEASED;
    assert_pieces(sched, "m0 none"); /* under a lease that there is not */
    sched_free(sched);
}

static void an_order_that_stands_nowhere_is_found(void **state)
{
    struct sched *sched = one_unit();

    (void)state;
    sched_settled(sched, JOB_MEASURE, 0, 0, true);
    sched_host_up(sched, 0, 1, 1, 1);
    sched_built_at(sched, 1, 0);
    sched_built_at(sched, 0, 0);
    assert_int_equal(order(sched, 0), 1);
    int_queue_remove(&sched->hosts[0].asked[0], 0);
    assert_pieces(sched, "b0 queue, b1 queue, o1 none");
    sched_free(sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_are_queued_and_measurements_wait_for_them),
        cmocka_unit_test(what_is_handed_out_is_leased_until_it_is_lost),
        cmocka_unit_test(a_unit_that_is_held_waits_for_the_caller),
        cmocka_unit_test(orders_wait_for_builds_and_for_their_gpu),
        cmocka_unit_test(a_unit_is_open_until_all_of_it_is_measured),
        cmocka_unit_test(what_stands_nowhere_is_found),
        cmocka_unit_test(an_order_that_stands_nowhere_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
