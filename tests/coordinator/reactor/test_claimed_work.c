/* What a worker that comes says it has in work: of this run, of an earlier one,
 * or of none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/reactor/results.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    rig_listen(&rig);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void what_the_same_worker_does_not_know_never_arrived(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'refused'"), 2);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 0);
}

static void what_another_worker_does_not_know_died_with_the_first(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    rig_come(&rig, 0, 8, NULL, 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 2);
}

/* Two workers may have one invitation: what one of them loses to the other is
 * no try of the configuration. */
static void what_a_worker_elsewhere_does_not_know_is_no_try(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    strcpy(rig.sweep.fleet.hosts[0].worker.machine, "another");
    rig_come(&rig, 0, 8, NULL, 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'refused'"), 2);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 0);
}

/* They wait for files that only their own host would be sent. */
static void what_it_does_under_its_other_name_is_cancelled(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    rig_come(&rig, 1, 7, NULL, 0);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 2);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->host, 1);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, 1);
    assert_int_equal(rig_count(&rig, MSG_STOP), 0);
}

static void claim(char *text, size_t size, const struct rig_sent *build)
{
    snprintf(text, size, "vector_add/%s//%s/0/build/1", build->config,
             build->purpose);
}

static void what_it_still_does_goes_on(void **state)
{
    const char *running[2];
    char text[2][128];

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    for (int i = 0; i < 2; i++) {
        claim(text[i], sizeof(text[i]),
              i ? rig_last(&rig, MSG_BUILD) : rig_first(&rig, MSG_BUILD));
        running[i] = text[i];
    }
    rig_come(&rig, 0, 7, running, 2);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending IS NOT NULL"), 0);
    assert_int_equal(sched_leases(rig.sweep.work.sched), 2);
}

/* Of two builds, it has only the first. */
static void what_it_has_not_any_more_is_given_again(void **state)
{
    const struct rig_sent *build;
    const char *running;
    char text[128];

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    build = rig_first(&rig, MSG_BUILD);
    claim(text, sizeof(text), build);
    running = text;
    rig_come(&rig, 0, 7, &running, 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'refused'"), 1);
    assert_int_equal(sched_leases(rig.sweep.work.sched), 1);
    assert_int_equal(sched_lease_on(rig.sweep.work.sched, 0)->id, build->lease);
}

/* It measured for this run, and says so with one word wrong. */
static void a_measurement_is_known_by_shape_purpose_and_round(void **state)
{
    static const char *const forms[] = { "n5k/screen/0/measure", /* right */
                                         "n5k/screen/1/measure",
                                         "n5k/canary/0/measure",
                                         "n6k/screen/0/measure",
                                         "n5k/screen/0/measure/1" };
    const struct rig_sent *sent;
    const char *running;
    char text[160];

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig_build_two(&rig);
    for (size_t i = 0; i < 5; i++) {
        while (sched_lease_on(rig.sweep.work.sched, 0))
            sched_lease_apply(rig.sweep.work.sched,
                              sched_lease_on(rig.sweep.work.sched, 0)->id,
                              JOB_EV_REFUSED);
        assert_true(rig_dispatch(&rig) > 0);
        sent = rig_last(&rig, MSG_MEASURE);
        snprintf(text, sizeof(text), "vector_add/%s/%s/1", sent->config,
                 forms[i]);
        running = text;
        rig_come(&rig, 0, 7, &running, 1);
        assert_int_equal(sched_leases(rig.sweep.work.sched), i == 0);
    }
}

/* A claim alone would keep it from all others. */
static void what_it_was_never_given_is_not_adopted(void **state)
{
    const char *key = plan_unit(rig.sweep.work.plan, 3)->key;
    const char *running;
    char text[128];

    (void)state;
    snprintf(text, sizeof(text), "vector_add/%s//kernel/0/build/1", key);
    running = text;
    rig_come(&rig, 0, 7, &running, 1);
    assert_int_equal(sched_leases(rig.sweep.work.sched), 0);
    assert_non_null(strstr(rig_heard(&rig), "CLAIM-REFUSED host=a"));
}

static void what_an_earlier_run_gave_it_is_adopted(void **state)
{
    struct left_lease *left = mem_new(1, sizeof(*left));
    const char *running;
    char text[128];

    (void)state;
    *left = (struct left_lease){ .host = "a", .stage = JOB_BUILD, .unit = 3 };
    rig.sweep.work.left.list = left;
    rig.sweep.work.left.n = 1;
    snprintf(text, sizeof(text), "vector_add/%s//kernel/0/build/1",
             plan_unit(rig.sweep.work.plan, 3)->key);
    running = text;
    rig.now_ns += NS_PER_S;
    rig_come(&rig, 0, 7, &running, 1);
    assert_int_equal(sched_leases(rig.sweep.work.sched), 1);
    assert_true(rig.sweep.work.issued[0].adopted);
    assert_int_equal(rig.sweep.work.issued[0].started_ns, rig.now_ns);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE host = 'a' AND stage = 'build'"), 1);
    rig_come(&rig, 1, 8, &running, 1); /* it was a's */
    assert_int_equal(sched_leases(rig.sweep.work.sched), 1);
}

/* Unit 0 was given to host a by an earlier run, to be measured. */
static void a_screening_of_an_earlier_run_is_adopted(void **state)
{
    static const char *const forms[] = {
        "n5k/canary/0/measure", /* wrong */
        "n5k/screen/1/measure",  "n6k/screen/0/measure", "n5k/screen//measure",
        "n5k/screen/0x/measure", "n5k/screen/0/measure"
    };
    struct left_lease *left = mem_new(1, sizeof(*left));
    const char *running;
    char text[160];

    (void)state;
    *left = (struct left_lease){ .host = "a", .stage = JOB_MEASURE };
    rig.sweep.work.left.list = left;
    rig.sweep.work.left.n = 1;
    running = text;
    for (size_t i = 0; i < 6; i++) {
        snprintf(text, sizeof(text), "vector_add/%s/%s/1",
                 plan_unit(rig.sweep.work.plan, 0)->key, forms[i]);
        rig_come(&rig, 0, 7, &running, 1);
        assert_int_equal(sched_leases(rig.sweep.work.sched), i == 5);
    }
    assert_int_equal(
        rig_rows(
            &rig,
            "lease WHERE stage = 'measure' AND host = 'a' AND gpu = 'GPU-0'"),
        1);
}

/* The name of the sweep in it is of any length. */
static void an_identity_has_1023_bytes_at_most(void **state)
{
    struct left_lease *left = mem_new(1, sizeof(*left));
    const char *running;
    char text[1100];
    int rest = snprintf(text, sizeof(text), "/%s//kernel/0/build/1",
                        plan_unit(rig.sweep.work.plan, 3)->key);

    (void)state;
    *left = (struct left_lease){ .host = "a", .stage = JOB_BUILD, .unit = 3 };
    rig.sweep.work.left.list = left;
    rig.sweep.work.left.n = 1;
    running = text;
    for (int len = 1024; len >= 1023; len--) {
        snprintf(text, sizeof(text), "%0*d/%s//kernel/0/build/1", len - rest, 0,
                 plan_unit(rig.sweep.work.plan, 3)->key);
        assert_int_equal(strlen(text), len);
        rig_come(&rig, 0, 7, &running, 1);
        assert_int_equal(sched_leases(rig.sweep.work.sched), len == 1023);
    }
}

/* It was silent, and host b got its work. */
static void what_another_host_does_by_now_is_cancelled(void **state)
{
    const char *running;
    char text[128];

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    claim(text, sizeof(text), rig_first(&rig, MSG_BUILD));
    running = text;
    results_host_lost(&rig.sweep, 0, "silent");
    rig_come(&rig, 1, 8, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    rig_come(&rig, 0, 7, &running, 1);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 1);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->host, 0);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, 1);
    assert_int_equal(sched_leases(rig.sweep.work.sched), 2);
}

/* The worker knows the number of the lease that was given up. */
static void what_is_adopted_again_is_cancelled_by_its_first_number(void **state)
{
    const struct sched_lease *lease;
    const char *running;
    char text[128];

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 2);
    claim(text, sizeof(text), rig_first(&rig, MSG_BUILD));
    running = text;
    results_host_lost(&rig.sweep, 0, "silent");
    rig_come(&rig, 0, 7, &running, 1);
    lease = sched_lease_on(rig.sweep.work.sched, 0);
    assert_int_equal(lease->id, 3);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 0);
    results_expired(&rig.sweep, *lease);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 2);
    assert_int_equal(rig_first(&rig, MSG_CANCEL)->lease, 3);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, 1);
}

/* Its pass does not want it any more.  The same with another round or purpose
 * has no number in this run. */
static void an_order_that_was_given_up_is_cancelled(void **state)
{
    static const char *const forms[] = { "canary/3", "again/2", "canary/2" };
    struct sched *sched = rig.sweep.work.sched;
    const struct rig_sent *sent;
    const char *running;
    char text[160];
    int64_t order;

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig_build_two(&rig);
    while (sched_lease_on(sched, 0))
        sched_lease_apply(sched, sched_lease_on(sched, 0)->id, JOB_EV_REFUSED);
    order = sched_order(
        sched, &(struct sched_order){ .purpose = SCHED_CANARY, .round = 2 });
    rig_dispatch(&rig);
    sent = rig_last(&rig, MSG_MEASURE);
    assert_string_equal(sent->purpose, "canary");
    sched_order_apply(sched, order, JOB_EV_REFUSED);
    assert_true(sched_order_cancel(sched, order));
    running = text;
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), "vector_add/%s/n5k/%s/measure/1",
                 sent->config, forms[i]);
        rig_come(&rig, 0, 7, &running, 1);
        assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease,
                         i == 2 ? sent->lease : 0);
    }
}

/* The worker would be fuller than this run knows, for as long as they take. */
static void what_passes_of_an_earlier_run_ordered_is_cancelled(void **state)
{
    char text[2][160];
    const char *running[] = { text[0], text[1] };

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig_build_two(&rig);
    snprintf(text[0], sizeof(text[0]), "vector_add/%s/n5k/canary/2/measure/1",
             plan_unit(rig.sweep.work.plan, 0)->key);
    snprintf(text[1], sizeof(text[1]), "vector_add/%s/n5k/profile/0/tool/1",
             plan_unit(rig.sweep.work.plan, 0)->key);
    rig_come(&rig, 0, 7, running, 2);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 1);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, 0);
    assert_non_null(
        strstr(rig_heard(&rig), "CLAIM-CANCELLED earlier=2 host=a"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_the_same_worker_does_not_know_never_arrived),
        CASE(what_it_does_under_its_other_name_is_cancelled),
        CASE(what_another_worker_does_not_know_died_with_the_first),
        CASE(what_a_worker_elsewhere_does_not_know_is_no_try),
        CASE(what_it_still_does_goes_on),
        CASE(what_it_has_not_any_more_is_given_again),
        CASE(a_measurement_is_known_by_shape_purpose_and_round),
        CASE(what_it_was_never_given_is_not_adopted),
        CASE(what_an_earlier_run_gave_it_is_adopted),
        CASE(a_screening_of_an_earlier_run_is_adopted),
        CASE(an_identity_has_1023_bytes_at_most),
        CASE(what_another_host_does_by_now_is_cancelled),
        CASE(what_is_adopted_again_is_cancelled_by_its_first_number),
        CASE(an_order_that_was_given_up_is_cancelled),
        CASE(what_passes_of_an_earlier_run_ordered_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
