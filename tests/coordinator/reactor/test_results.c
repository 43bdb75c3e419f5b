#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/reactor/inbox.h"
#include "coordinator/reactor/results.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/state/outbox.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct rig_sent sent; /* a measurement of unit 0 on host a, lease 3 */
static struct rig_result result;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_int_equal(rig_dispatch(&rig), 3); /* and two builds */
    sent = *rig_last(&rig, MSG_MEASURE);
    rig_result_of(&sent, "correct", 0.25e-3, &result);
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

static void refused(size_t from, const char *text)
{
    char *said = mem_printf("event WHERE name='RESULT-REFUSED' AND text='%s: "
                            "%s'",
                            host(from)->host->name, text);
    int64_t before = rig_rows(&rig, said);

    host(from)->conduct.lies = 0;
    assert_int_equal(inbox_take(&rig.sweep, from, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, said), before + 1);
    assert_int_equal(host(from)->conduct.lies, 1);
    assert_int_equal(rig_rows(&rig, "result"), 0);
    free(said);
}

static void a_correct_result_settles_its_measurement(void **state)
{
    (void)state;
    host(0)->conduct.refusals = 2;
    rig.sweep.work.vanished[0] = 3;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig.sweep.work.count.settled, 1);
    assert_int_equal(rig.sweep.work.count.correct, 1);
    assert_int_equal(
        rig_rows(&rig, "outcome WHERE outcome = 'correct' AND abs(median_s - "
                       "0.00025) < 1e-9 AND attempts = 1"),
        1);
    assert_int_equal(rig_rows(&rig, "lease WHERE id = 3 AND ending = 'done'"),
                     1);
    assert_int_equal(host(0)->conduct.refusals, 0);
    assert_int_equal(rig.sweep.work.vanished[0], 0);
    assert_true(incumbents_high_s(rig.sweep.work.incumbents, 0) > 0);
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_int_equal(rig_count(&rig, MSG_ACK), 2); /* of builds, and of it */
}

static void a_wrong_result_settles_it_as_what_it_is(void **state)
{
    (void)state;
    assert_int_equal(rig_measured(&rig, &sent, "correctness", 0), 0);
    assert_int_equal(rig.sweep.work.count.settled, 1);
    assert_int_equal(rig.sweep.work.count.correct, 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correctness' AND "
                                    "median_s IS NULL AND reason = 'why'"),
                     1);
    assert_true(incumbents_high_s(rig.sweep.work.incumbents, 0) == 0);
}

/* Its acknowledgement was lost, so it gets another. */
static void one_that_comes_twice_is_kept_once(void **state)
{
    size_t acks = host(0)->n_acks;
    struct rig_sent build = *rig_first(&rig, MSG_BUILD);

    (void)state;
    assert_int_equal(rig_measured(&rig, &sent, "correct", 1e-3), 0);
    assert_int_equal(rig_measured(&rig, &sent, "correct", 1e-3), 0);
    assert_int_equal(rig_rows(&rig, "result"), 1);
    assert_int_equal(rig.sweep.work.count.settled, 1);
    assert_int_equal(host(0)->n_acks, acks + 2);
    assert_int_equal(rig_built(&rig, &build, "built"), 0);
    assert_int_equal(host(0)->n_acks, acks + 3);
}

static void a_lease_that_was_never_given_has_no_result(void **state)
{
    const char *text = "a result for a lease that was never given";

    (void)state;
    result.msg.measured.work.lease = 0;
    refused(0, text);
    result.msg.measured.work.lease = (int64_t)rig.sweep.work.n_issued + 1;
    refused(0, text);
    result.msg.measured.work.lease = (int64_t)rig.sweep.work.n_issued;
    refused(0, "a result for a lease of another host, or of other work");
}

/* It takes its lease with it, which goes back to the queue. */
static void a_lie_is_told_once(void **state)
{
    (void)state;
    result.msg.measured.gpu = "GPU-1-0";
    refused(0, "it ran on another GPU, GPU-1-0");
    assert_int_equal(rig_rows(&rig, "lease WHERE id = 3 AND ending = "
                                    "'refused'"),
                     1);
    for (int i = 0; i < 5; i++) /* it is offered again and again */
        assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(host(0)->conduct.lies, 1);
    assert_int_equal(rig_dispatch(&rig), 1);
    assert_int_equal(rig_last(&rig, MSG_MEASURE)->attempt, 1);
}

static void the_third_lie_is_too_many(void **state)
{
    (void)state;
    result.msg.measured.max_error = 1e9;
    for (int i = 0; i < 3; i++) {
        result.nonce[0] = (char)('a' + i);
        assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err),
                         i < 2 ? 0 : ERR_PROTO);
    }
    assert_non_null(strstr(err.text, "the third result that is refused: "
                                     "MEASURED is correct with a max_error of "
                                     "1e+09"));
}

static void a_lease_has_one_result(void **state)
{
    (void)state;
    assert_int_equal(rig_measured(&rig, &sent, "correct", 1e-3), 0);
    result.nonce[0] = 'f';
    host(0)->conduct.lies = 0;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(host(0)->conduct.lies, 1);
    assert_int_equal(rig_rows(&rig, "result"), 1);
}

static void the_first_lease_may_have_a_result(void **state)
{
    (void)state;
    assert_int_equal(rig_built(&rig, rig_first(&rig, MSG_BUILD), "built"), 0);
    assert_int_equal(rig_rows(&rig, "build"), 2); /* it was known */
}

static void the_lease_of_another_host_is_refused(void **state)
{
    (void)state;
    rig_ready(&rig, 1, 1, 1);
    refused(1, "a result for a lease of another host, or of other work");
}

static void the_same_worker_may_come_under_another_name(void **state)
{
    (void)state;
    rig_ready(&rig, 1, 1, 1);
    for (size_t i = 0; i < 2; i++) {
        host(i)->worker.pid = 7;
        snprintf(host(i)->worker.boot_id, sizeof(host(i)->worker.boot_id),
                 "b007");
    }
    assert_int_equal(inbox_take(&rig.sweep, 1, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "result"), 1);
}

static void another_artifact_was_measured(void **state)
{
    (void)state;
    result.msg.measured.artifact = "00000000000000000000000000000000";
    refused(0, "it measured another artifact");
}

static void no_such_purpose(void **state)
{
    (void)state;
    result.msg.measured.work.id.purpose = "external"; /* of a command */
    refused(0, "MEASURED is not for ''external''");
}

static void another_round_is_other_work(void **state)
{
    (void)state;
    result.msg.measured.work.id.round = 1; /* once more, and nobody asked */
    refused(0, "a result for a lease of another host, or of other work");
}

static void a_purpose_of_another_pass_is_other_work(void **state)
{
    (void)state;
    result.msg.measured.work.id.purpose = "canary";
    refused(0, "a result for a lease of another host, or of other work");
}

static void what_is_no_result_at_all_is_refused(void **state)
{
    (void)state;
    result.msg.measured.result.nonce = "1";
    refused(0, "a result''s nonce is no hash");
}

static void another_way_of_measuring_is_evidence(void **state)
{
    (void)state;
    result.msg.measured.work.key = "0000";
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(
        rig_rows(&rig, "result WHERE counted = 0 AND measure_key = ''"), 1);
    assert_int_equal(rig.sweep.work.count.settled, 0);
}

/* 'result' is of a lease of the run before this one. */
static void was_leased(void)
{
    struct store_lease lease = { .epoch = RIG_EPOCH - 1,
                                 .id = result.msg.measured.work.lease,
                                 .config = sent.config,
                                 .shape = sent.shape,
                                 .purpose = "screen",
                                 .stage = "measure",
                                 .attempt = 1,
                                 .host = "a",
                                 .gpu = "GPU-0-0",
                                 .leased_utc = 5 };

    result.msg.epoch = RIG_EPOCH - 1;
    rig_run(&rig, RIG_EPOCH - 1);
    assert_int_equal(store_lease_put(rig.sweep.mail.store, &lease, &err), 0);
}

/* A run before this one, of this database or of another. */
static void a_result_of_an_earlier_run_is_taken_if_it_was_leased(void **state)
{
    (void)state;
    result.msg.epoch = RIG_EPOCH - 1;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "result"), 0);
    assert_true(host(0)->conduct.has_foreign);
    was_leased();
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "result WHERE counted = 1"), 1);
    assert_int_equal(rig.sweep.work.count.settled, 1);
}

/* The worker got the same work again before it offered its result.  It would
 * run it, and have no room for the next lease. */
static void
a_result_of_an_earlier_lease_cancels_the_one_of_this_run(void **state)
{
    (void)state;
    was_leased();
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->host, 0);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, sent.lease);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE id = 3 AND ending = 'cancelled'"), 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE id = 3 AND ending = 'done'"),
                     0);
}

static void
an_adopted_lease_ends_with_the_result_of_an_earlier_one(void **state)
{
    (void)state;
    was_leased();
    rig.sweep.work.issued[2].adopted = true;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'cancelled'"), 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE id = 3 AND ending = 'done'"),
                     1);
}

static void an_earlier_run_gave_another_artifact(void **state)
{
    (void)state;
    was_leased();
    result.msg.measured.artifact = "00000000000000000000000000000000";
    refused(0, "it measured another artifact");
    result.msg.measured.artifact = /* the reference's */
        rig.sweep.work.artifacts[plan_units(rig.sweep.work.plan)];
    refused(0, "it measured another artifact");
    assert_int_equal(rig.sweep.work.count.settled, 0);
}

/* It was built once more since: both were made from these sources. */
static void an_earlier_run_may_have_had_an_older_build(void **state)
{
    struct store_build older = {
        .nonce = "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0",
        .epoch = RIG_EPOCH - 1,
        .config = sent.config,
        .purpose = "kernel",
        .attempt = 1,
        .source_key = "0000",
        .build_key = "",
        .host = "b", /* on another host */
        .outcome = "built",
        .detail = "",
        .artifact = "abababababababababababababababab",
        .log = "",
        .received_utc = 5,
    };

    (void)state;
    was_leased();
    result.msg.measured.artifact = older.artifact;
    assert_int_equal(store_build_put(rig.sweep.mail.store, &older, &err), 1);
    refused(0, "it measured another artifact"); /* of other sources */
    older.nonce = "b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1";
    older.source_key = plan_unit(rig.sweep.work.plan, 0)->source_key;
    assert_true(store_build_put(rig.sweep.mail.store, &older, &err) > 0);
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "result WHERE counted = 1"), 1);
}

/* Its key is of other sources than today's: it is evidence, of any build. */
static void an_earlier_run_may_have_had_other_sources(void **state)
{
    (void)state;
    was_leased();
    result.msg.measured.work.key = "0000";
    result.msg.measured.artifact = "00000000000000000000000000000000";
    refused(0, "it measured another artifact");
    result.msg.measured.artifact = sent.artifact;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "result WHERE counted = 0"), 1);
}

/* What was adopted on the word of a worker is done here after all. */
static void a_foreign_result_gives_an_adopted_lease_back(void **state)
{
    (void)state;
    rig.sweep.work.issued[2].adopted = true;
    result.msg.epoch = RIG_EPOCH - 1;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(
        rig_rows(&rig, "lease WHERE id = 3 AND ending = 'refused'"), 1);
}

static void a_foreign_result_leaves_a_lease_of_this_run_alone(void **state)
{
    (void)state;
    rig.sweep.fleet.hosts[0].budget = budget_full(rig.now_ns);
    result.msg.epoch = RIG_EPOCH - 1;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'refused'"), 0);
    /* it comes again every 2 s, and counts little */
    assert_true(rig.sweep.fleet.hosts[0].budget.messages == 4096 - 1.0 / 64);
}

static void a_build_that_fails_settles_its_measurement(void **state)
{
    struct rig_sent build = *rig_last(&rig, MSG_BUILD);

    (void)state;
    assert_int_equal(rig_built(&rig, &build, "compile"), 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'compile'"), 1);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'done'"), 3);
    assert_null(rig.sweep.reactor.ending);
}

static void without_its_reference_a_sweep_ends(void **state)
{
    (void)state;
    rig_close(&rig);
    rig_open(&rig, 1);
    rig_ready(&rig, 0, 1, 1);
    assert_int_equal(rig_dispatch(&rig), 2);
    assert_int_equal(rig_built(&rig, rig_first(&rig, MSG_BUILD), "compile"), 0);
    assert_int_equal(rig.sweep.reactor.exit_code, 2);
    assert_string_equal(rig.sweep.reactor.fatal.text,
                        "the reference could not be built: why");
}

static int take_blaming(const struct rig_sent *of, const char *outcome,
                        const char *blame, const char *detail)
{
    rig_result_of(of, outcome, 0, &result);
    msg_result_of(&result.msg)->blame = blame;
    msg_result_of(&result.msg)->detail = detail;
    return rig_take(&rig, of->host, result.msg);
}

/* The next configuration would not fit it either. */
static void
a_build_that_does_not_fit_the_sweep_file_ends_the_sweep(void **state)
{
    struct rig_sent build = *rig_last(&rig, MSG_BUILD);

    (void)state;
    assert_int_equal(take_blaming(&build, "compile", "sweep", "4 for 3"), 0);
    assert_int_equal(rig.sweep.reactor.exit_code, 2);
    assert_string_equal(rig.sweep.reactor.fatal.text, "4 for 3");
    assert_int_equal(rig_rows(&rig, "build WHERE outcome = 'compile'"), 1);
    assert_int_equal(rig_rows(&rig, "outcome"),
                     0); /* it is tried again when repaired */
}

static void keep_unbuilt(void *arg, bool reference, const char *why)
{
    char *told = arg;

    snprintf(told + strlen(told), 64 - strlen(told), "%s: %s\n",
             reference ? "reference" : "kernel", why);
}

/* A check wants to know them all. */
static void builds_that_fail_are_told_to_those_who_ask(void **state)
{
    struct rig_sent build = *rig_last(&rig, MSG_BUILD);
    char told[64] = "";

    (void)state;
    rig.options.unbuilt.tell = keep_unbuilt;
    rig.options.unbuilt.arg = told;
    assert_int_equal(take_blaming(&build, "compile", "sweep", "4 for 3"), 0);
    assert_string_equal(told, "kernel: 4 for 3\n");
    assert_null(rig.sweep.reactor.ending);
    rig_close(&rig);
    rig_open(&rig, 1);
    rig.options.unbuilt.tell = keep_unbuilt;
    rig.options.unbuilt.arg = told;
    rig_ready(&rig, 0, 1, 1);
    assert_int_equal(rig_dispatch(&rig), 2);
    assert_int_equal(rig_built(&rig, rig_first(&rig, MSG_BUILD), "compile"), 0);
    assert_string_equal(told, "kernel: 4 for 3\nreference: why\n");
    assert_null(rig.sweep.reactor.ending);
}

static void a_reference_that_fails_ends_the_sweep_of_one_host(void **state)
{
    (void)state;
    rig.sweep.fleet.n = 1;
    assert_int_equal(
        take_blaming(&sent, "crash", "reference", "reference: wild address"),
        0);
    assert_int_equal(rig.sweep.reactor.exit_code, 2);
    assert_string_equal(rig.sweep.reactor.fatal.text,
                        "the reference cannot be used at shape 'n5k': wild "
                        "address; found on a");
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'REFERENCE-FAILED'"),
                     1);
    assert_int_equal(rig_rows(&rig, "outcome"), 0);
    rig.sweep.fleet.n = 2;
}

static void a_reference_that_fails_is_tried_on_one_other_host(void **state)
{
    (void)state;
    rig_ready(&rig, 1, 1, 1);
    assert_int_equal(take_blaming(&sent, "crash", "reference", "bad"), 0);
    assert_null(rig.sweep.reactor.ending);
    assert_true(host(0)->conduct.condemned);
    assert_string_equal(host(0)->conn.why,
                        "the reference cannot be used there: bad; another "
                        "host tries it");
    results_host_lost(&rig.sweep, 0, "given up");
    host(0)->state = HOST_STATE_FAILED;
    rig_build_two(&rig);
    rig_dispatch(&rig);
    sent = *rig_last(&rig, MSG_MEASURE);
    assert_int_equal(sent.host, 1);
    assert_int_equal(take_blaming(&sent, "crash", "reference", "bad"), 0);
    assert_int_equal(rig.sweep.reactor.exit_code, 2);
    assert_string_equal(rig.sweep.reactor.fatal.text,
                        "the reference cannot be used at shape 'n5k': bad; "
                        "found on a and b");
}

/* The GPU that failed it may be replaced by now. */
static void an_earlier_run_blames_nothing(void **state)
{
    (void)state;
    was_leased();
    rig_result_of(&sent, "crash", 0, &result);
    msg_result_of(&result.msg)->blame = "reference";
    result.msg.epoch = RIG_EPOCH - 1;
    assert_int_equal(inbox_take(&rig.sweep, 0, &result.msg, &err), 0);
    assert_null(rig.sweep.reactor.ending);
    assert_false(host(0)->conduct.condemned);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_correct_result_settles_its_measurement),
        CASE(a_wrong_result_settles_it_as_what_it_is),
        CASE(one_that_comes_twice_is_kept_once),
        CASE(a_lease_that_was_never_given_has_no_result),
        CASE(a_lie_is_told_once),
        CASE(the_third_lie_is_too_many),
        CASE(a_lease_has_one_result),
        CASE(the_first_lease_may_have_a_result),
        CASE(the_lease_of_another_host_is_refused),
        CASE(the_same_worker_may_come_under_another_name),
        CASE(another_artifact_was_measured),
        CASE(no_such_purpose),
        CASE(another_round_is_other_work),
        CASE(a_purpose_of_another_pass_is_other_work),
        CASE(what_is_no_result_at_all_is_refused),
        CASE(another_way_of_measuring_is_evidence),
        CASE(a_result_of_an_earlier_run_is_taken_if_it_was_leased),
        CASE(a_result_of_an_earlier_lease_cancels_the_one_of_this_run),
        CASE(an_adopted_lease_ends_with_the_result_of_an_earlier_one),
        CASE(an_earlier_run_gave_another_artifact),
        CASE(an_earlier_run_may_have_had_an_older_build),
        CASE(an_earlier_run_may_have_had_other_sources),
        CASE(a_foreign_result_gives_an_adopted_lease_back),
        CASE(a_foreign_result_leaves_a_lease_of_this_run_alone),
        CASE(a_build_that_fails_settles_its_measurement),
        CASE(without_its_reference_a_sweep_ends),
        CASE(a_build_that_does_not_fit_the_sweep_file_ends_the_sweep),
        CASE(builds_that_fail_are_told_to_those_who_ask),
        CASE(a_reference_that_fails_ends_the_sweep_of_one_host),
        CASE(a_reference_that_fails_is_tried_on_one_other_host),
        CASE(an_earlier_run_blames_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
