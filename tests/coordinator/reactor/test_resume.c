/* What a later run makes of what is written down of a sweep. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/clock.h"
#include "common/hash.h"
#include "coordinator/artifacts/kept_artifacts.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/reactor/resume.h"
#include "coordinator/schedule/bill.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/stored_work.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    err = (struct err){ "" };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static struct store_lease lease_before(int64_t id, int unit, const char *stage)
{
    bool build = strcmp(stage, "build") == 0;

    return (struct store_lease){ .epoch = 900,
                                 .id = id,
                                 .config =
                                     plan_unit(rig.sweep.work.plan, unit)->key,
                                 .shape = build ? "" : "n5k",
                                 .purpose = build ? "kernel" : "screen",
                                 .stage = stage,
                                 .attempt = 1,
                                 .host = "a",
                                 .gpu = build ? "" : "GPU-0-0",
                                 .leased_utc = 5 };
}

static void put_lease(struct store_lease lease)
{
    assert_int_equal(store_lease_put(rig.sweep.mail.store, &lease, &err), 0);
}

static void a_lease_of_an_earlier_run_is_known_by_all_that_it_was(void **state)
{
    struct store_lease lease = lease_before(4, 2, "measure");
    struct msg msg = { .type = MSG_MEASURED,
                       .epoch = 900,
                       .measured = { .work = { .lease = 4,
                                               .id = { .config = lease.config,
                                                       .shape = "n5k",
                                                       .purpose = "screen",
                                                       .stage = "measure" } },
                                     .gpu = lease.gpu } };

    (void)state;
    rig_run(&rig, 900);
    put_lease(lease);
    assert_int_equal(resume_was_leased(&rig.sweep, 0, &msg, &err), 1);
    assert_int_equal(resume_was_leased(&rig.sweep, 1, &msg, &err), 0);
    msg.measured.work.lease = 5;
    assert_int_equal(resume_was_leased(&rig.sweep, 0, &msg, &err), 0);
    msg.measured.work.lease = 4;
    msg.epoch = 901;
    assert_int_equal(resume_was_leased(&rig.sweep, 0, &msg, &err), 0);
    msg.epoch = 900;
    msg.measured.work.id.round = 1;
    assert_int_equal(resume_was_leased(&rig.sweep, 0, &msg, &err), 0);
    msg.measured.work.id.round = 0;
    msg.measured.gpu = "GPU-of-another";
    assert_int_equal(resume_was_leased(&rig.sweep, 0, &msg, &err), 0);
}

static void open_leases_end_and_may_be_adopted(void **state)
{
    (void)state;
    rig_run(&rig, 900);
    put_lease(lease_before(1, 2, "build"));
    put_lease(lease_before(2, 3, "measure"));
    put_lease(lease_before(3, 0, "build"));
    rig.sweep.mail.pace.rows = 0;
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'cancelled'"), 3);
    assert_int_equal(rig.sweep.mail.pace.rows, 3); /* to be committed */
    assert_int_equal(rig.sweep.work.left.n, 3);
    assert_true(resume_was_given(&rig.sweep, 0, JOB_BUILD, 0, 0));
    assert_true(resume_was_given(&rig.sweep, 0, JOB_BUILD, 2, 0));
    assert_true(resume_was_given(&rig.sweep, 0, JOB_MEASURE, 3, 0));
    assert_false(resume_was_given(&rig.sweep, 1, JOB_BUILD, 2, 0));
    assert_false(resume_was_given(&rig.sweep, 0, JOB_BUILD, 3, 0));
    assert_false(resume_was_given(&rig.sweep, 0, JOB_MEASURE, 2, 0));
    assert_false(resume_was_given(&rig.sweep, 0, JOB_MEASURE, 3, 1));
}

static void put_ended(struct store_lease lease, const char *ending)
{
    put_lease(lease);
    assert_int_equal(store_lease_end(rig.sweep.mail.store, lease.epoch,
                                     lease.id, ending, 1, &err),
                     0);
}

/* A host that was out of reach may be at it still. */
static void leases_without_a_result_may_be_adopted(void **state)
{
    (void)state;
    rig_run(&rig, 900);
    put_ended(lease_before(1, 2, "build"), "lost");
    put_ended(lease_before(2, 3, "build"), "cancelled");
    put_ended(lease_before(3, 4, "build"), "done");
    put_ended(lease_before(4, 5, "build"), "refused");
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_true(resume_was_given(&rig.sweep, 0, JOB_BUILD, 2, 0));
    assert_true(resume_was_given(&rig.sweep, 0, JOB_BUILD, 3, 0));
    assert_false(resume_was_given(&rig.sweep, 0, JOB_BUILD, 4, 0));
    assert_false(resume_was_given(&rig.sweep, 0, JOB_BUILD, 5, 0));
    assert_false(resume_was_given(&rig.sweep, 1, JOB_BUILD, 2, 0));
}

/* The same configuration for another reason, or once more, is other work. */
static void only_a_screening_is_adopted_as_one(void **state)
{
    struct store_lease again = lease_before(1, 2, "measure"),
                       canary = lease_before(2, 3, "measure");
    struct issued_lease *given;

    (void)state;
    rig_run(&rig, 900);
    again.round = 1000;
    canary.purpose = "canary";
    put_lease(again);
    put_lease(canary);
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'cancelled'"), 2);
    assert_int_equal(rig.sweep.work.left.n, 0);
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_true(rig_dispatch(&rig) > 0);
    given = &rig.sweep.work.issued[rig_last(&rig, MSG_MEASURE)->lease - 1];
    assert_true(resume_was_given(&rig.sweep, 0, JOB_MEASURE, 0, 0));
    given->purpose = SCHED_CANARY;
    assert_false(resume_was_given(&rig.sweep, 0, JOB_MEASURE, 0, 0));
    given->purpose = SCHED_AGAIN;
    given->round = 1;
    assert_false(resume_was_given(&rig.sweep, 0, JOB_MEASURE, 0, 0));
}

static void what_this_run_gave_may_be_adopted_too(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    assert_int_equal(rig_dispatch(&rig), 2); /* the reference, and unit 0 */
    assert_true(resume_was_given(&rig.sweep, 0, JOB_BUILD, 0, 0));
    assert_false(resume_was_given(&rig.sweep, 1, JOB_BUILD, 0, 0));
    assert_false(resume_was_given(&rig.sweep, 0, JOB_BUILD, 1, 0));
    assert_false(resume_was_given(&rig.sweep, 0, JOB_MEASURE, 0, 0));
}

static void put_lost(int64_t id, int unit, const char *stage, int64_t epoch)
{
    struct store_lease lease = lease_before(id, unit, stage);

    lease.epoch = epoch;
    put_lease(lease);
    assert_int_equal(
        store_lease_end(rig.sweep.mail.store, epoch, id, "lost", 6, &err), 0);
}

/* The sweep is of this epoch; what was before had other sources. */
static void lost_before_it_has_fewer_tries(void **state)
{
    (void)state;
    rig_run(&rig, 900);
    put_lost(1, 2, "build", RIG_EPOCH);
    put_lost(2, 3, "measure", RIG_EPOCH);
    put_lost(3, 4, "build", 900);
    put_lost(4, 0, "build", RIG_EPOCH);
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_BUILD, 0, 0)->losses,
                     1);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_BUILD, 2, 0)->losses,
                     1);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_MEASURE, 3, 0)->losses,
                     1);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_BUILD, 3, 0)->losses,
                     0);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_BUILD, 4, 0)->losses,
                     0);
}

static void put_outcome(int unit, const char *word, double median_s)
{
    struct store_outcome row = {
        .config = plan_unit(rig.sweep.work.plan, unit)->key,
        .shape = "n5k",
        .source_key = plan_unit(rig.sweep.work.plan, unit)->source_key,
        .measure_key = plan_measure_key(rig.sweep.work.plan, 0),
        .outcome = word,
        .reason = "",
        .median_s = median_s,
        .attempts = 1,
        .settled_utc = 5,
    };

    assert_int_equal(store_outcome_put(rig.sweep.mail.store, &row, &err), 1);
}

static void what_is_settled_stays_so_and_what_was_lost_does_not(void **state)
{
    const char *heard;

    (void)state;
    progress_free(rig.sweep.reactor.progress);
    rig.sweep.reactor.progress = progress_new(false);
    put_outcome(1, "correct", 1e-3);
    put_outcome(2, "runtime", NAN);
    put_outcome(3, "lost", NAN);
    put_outcome(4, "constraints", NAN); /* of a gate that is gone */
    put_outcome(5, "crash", NAN);
    rig_listen(&rig);
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "3 of 30 measurements are stored already"));
    assert_non_null(strstr(heard, "2 old results are kept, not comparable"));
    assert_int_equal(rig.sweep.work.count.settled, 3);
    assert_int_equal(rig.sweep.work.count.correct, 1);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_MEASURE, 1, 0)->state,
                     JOB_DONE);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_MEASURE, 5, 0)->state,
                     JOB_FAILED);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_MEASURE, 3, 0)->state,
                     JOB_BLOCKED);
}

static int n_told;

static void hear_of_settled(struct sweep *sweep, struct pass *pass, int unit,
                            int shape, enum outcome outcome, double median_s)
{
    (void)sweep;
    assert_ptr_equal(pass->state, &n_told);
    assert_int_equal(unit, 1);
    assert_int_equal(shape, 0);
    assert_int_equal(outcome, OUTCOME_CORRECT);
    assert_true(median_s == 1e-3);
    n_told++;
}

/* A search goes on from there. */
static void passes_hear_of_what_an_earlier_run_settled(void **state)
{
    static const struct pass_ops hears = { .settled = hear_of_settled };

    (void)state;
    n_told = 0;
    rig.sweep.passes.list[0] = (struct pass){ .ops = &hears, .state = &n_told };
    rig.sweep.passes.n = 1;
    put_outcome(1, "correct", 1e-3);
    put_outcome(3, "lost", NAN);
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_int_equal(n_told, 1);
}

/* The fastest time of an earlier run bounds the samples of this one, if its
 * samples agreed with each other. */
static void the_times_of_an_earlier_run_are_remembered(void **state)
{
    double noise = rig.sweep.work.spec->measure.noise;

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_true(rig_dispatch(&rig) > 0);
    assert_int_equal(
        rig_measured(&rig, rig_last(&rig, MSG_MEASURE), "correct", 1e-3), 0);
    incumbents_free(rig.sweep.work.incumbents);
    rig.sweep.work.incumbents = incumbents_new(1);
    put_outcome(1, "correct", 5e-4); /* without a result */
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_true(fabs(incumbents_high_s(rig.sweep.work.incumbents, 0) -
                     1e-3 * (1 + 2 * noise)) < 1e-12);
}

/* For a command that asks for certain configurations. */
static void what_crashed_is_repeated_when_it_is_asked_for(void **state)
{
    static const struct plan_ask ask = { NULL, NULL, 0 };
    const struct sched *sched = rig.sweep.work.sched;

    (void)state;
    rig.options.ask = &ask;
    put_outcome(0, "correct", 1e-3);
    put_outcome(1, "correct", 1e-3);
    put_outcome(2, "runtime", NAN);
    put_outcome(5, "crash", NAN);
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 0, 0)->state, JOB_DONE);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 1, 0)->state, JOB_DONE);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 2, 0)->state, JOB_FAILED);
    assert_int_equal(sched_job(sched, JOB_MEASURE, 5, 0)->state, JOB_BLOCKED);
    assert_int_equal(rig.sweep.work.count.settled, 3);
}

static void a_fresh_sweep_says_nothing_of_the_past(void **state)
{
    (void)state;
    progress_free(rig.sweep.reactor.progress);
    rig.sweep.reactor.progress = progress_new(false);
    rig_listen(&rig);
    assert_int_equal(resume_take_past(&rig.sweep, &err), 0);
    assert_string_equal(rig_heard(&rig), "");
}

static void sum_up(void *arg, const struct store_held *held)
{
    bill_add(arg, held->end_ns - held->start_ns, held->rate_usd_per_h);
}

/* At the rates of their times, whether or not the host was ever ready. */
static void what_was_spent_before_counts(void **state)
{
    struct store_held held = { .host = "a",
                               .epoch = RIG_EPOCH,
                               .start_ns = 0,
                               .end_ns = 1800 * NS_PER_S,
                               .rate_usd_per_h = 2,
                               .phase = "search" };
    struct bill bill = { 0 };

    (void)state;
    assert_int_equal(
        stored_work_held(rig.sweep.mail.store, sum_up, &bill, &err), 0);
    assert_int_equal(bill.held_ns, 0);
    assert_int_equal(store_held_put(rig.sweep.mail.store, &held, &err), 0);
    held.start_ns = held.end_ns;
    held.end_ns += 900 * NS_PER_S;
    held.rate_usd_per_h = 8;
    assert_int_equal(store_held_put(rig.sweep.mail.store, &held, &err), 0);
    assert_int_equal(
        stored_work_held(rig.sweep.mail.store, sum_up, &bill, &err), 0);
    assert_true(fabs(bill_usd(&bill) - 3) < 1e-9);
}

static void an_hour_costs_its_rate_and_no_rate_is_no_price(void **state)
{
    (void)state;
    rig.now_ns += 1800 * NS_PER_S;
    assert_true(isnan(reactor_usd(&rig.sweep)));
    rig.list[1].has_rate = true;
    ledger_price(rig.sweep.fleet.ledger, 1, 3, rig.now_ns);
    ledger_hold(rig.sweep.fleet.ledger, 1, rig.now_ns);
    rig.now_ns += 1800 * NS_PER_S;
    assert_true(fabs(reactor_usd(&rig.sweep) - 1.5) < 1e-9);
    rig.sweep.fleet.before.priced_usd = 1;
    assert_true(fabs(reactor_usd(&rig.sweep) - 2.5) < 1e-9);
    ledger_release(rig.sweep.fleet.ledger, 1, rig.now_ns);
    rig.now_ns += 1800 * NS_PER_S;
    assert_true(fabs(reactor_usd(&rig.sweep) - 2.5) < 1e-9);
}

/* What a host built in an earlier run lies there still. */
static void a_build_of_the_same_host_and_toolkit_is_not_done_again(void **state)
{
    struct rig_sent reference;

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    reference = *rig_first(&rig, MSG_BUILD);
    assert_string_equal(reference.purpose, "reference");
    sched_vanished(rig.sweep.work.sched, 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    resume_take_cache(&rig.sweep, 1); /* another host */
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    resume_take_cache(&rig.sweep, 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), 0);
    sched_vanished(rig.sweep.work.sched, 0);
    snprintf(rig.sweep.fleet.hosts[0].worker.toolkit, 32, "g++ 13");
    resume_take_cache(&rig.sweep, 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
}

/* It is queued for the cache of the coordinator, as it was when it was built.
 */
static void who_comes_again_has_what_it_built(void **state)
{
    char folder[64], hash[HASH_HEX];
    struct artifact_cache *cache;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/artifacts", rig.folder);
    assert_int_equal(artifact_cache_open(folder, 1 << 20, &cache, &err), 0);
    rig.options.cache = cache;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    while (kept_artifacts_next(&rig.sweep, 0) >= 0)
        continue;
    memcpy(hash, rig.sweep.work.artifacts[0], HASH_HEX);
    sched_vanished(rig.sweep.work.sched, 0);
    sched_vanished(rig.sweep.work.sched, 30);
    rig.sweep.work.artifacts[0][0] = '\0';
    rig_ready(&rig, 0, 1, 1);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 30), 0);
    assert_string_equal(rig.sweep.work.artifacts[0], hash);
    assert_int_equal(kept_artifacts_next(&rig.sweep, 0), 0);
    assert_int_equal(rmdir(folder), 0);
    rig.options.cache = NULL;
    artifact_cache_close(cache);
}

/* Host b never built, but has the compiler of the host that did. */
static void what_the_coordinator_kept_is_for_all_with_its_compiler(void **state)
{
    char folder[64], path[128], hash[HASH_HEX];
    struct artifact_cache *cache;

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    snprintf(folder, sizeof(folder), "%s/artifacts", rig.folder);
    assert_int_equal(artifact_cache_open(folder, 1 << 20, &cache, &err), 0);
    rig.options.cache = cache;
    memcpy(hash, rig.sweep.work.artifacts[0], HASH_HEX);
    assert_int_equal(artifact_cache_put(cache, hash, "cubin", 5, &err), 0);
    sched_vanished(rig.sweep.work.sched, 0);
    rig.sweep.fleet.hosts[0].state = HOST_STATE_AWAY;
    snprintf(rig.sweep.fleet.hosts[1].worker.toolkit, 32, "g++ 13");
    resume_take_cache(&rig.sweep, 1);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    memcpy(rig.sweep.fleet.hosts[1].worker.toolkit,
           rig.sweep.fleet.hosts[0].worker.toolkit, 32);
    rig.sweep.fleet.hosts[0].state = rig.sweep.fleet.hosts[1].state =
        HOST_STATE_READY;
    resume_take_cache(&rig.sweep, 1); /* host a was the first of these */
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    snprintf(rig.sweep.fleet.hosts[0].worker.toolkit, 32, "g++ 13");
    resume_take_cache(&rig.sweep, 1);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), (int)rig.hosts.n);
    assert_string_equal(rig.sweep.work.artifacts[0], hash);
    snprintf(path, sizeof(path), "%s/%s", folder, hash);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    rig.options.cache = NULL;
    artifact_cache_close(cache);
}

/* Its artifact would be measured for what it was not built of. */
static void a_build_whose_row_was_changed_ends_the_sweep(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    sched_vanished(rig.sweep.work.sched, 0);
    (void)rig_number(&rig, "UPDATE build SET artifact = 'a7'"
                           " WHERE purpose = 'kernel' RETURNING 1");
    resume_take_cache(&rig.sweep, 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_DATABASE);
    assert_non_null(strstr(rig.sweep.reactor.fatal.text,
                           "'fa-coord recover' copies the rest"));
}

static int count_statement(unsigned what, void *n, void *stmt, void *text)
{
    (void)what;
    (void)stmt;
    (void)text;
    ++*(int *)n;
    return 0;
}

/* Otherwise a thousand hosts would ask a million times each. */
static void a_host_that_never_built_is_asked_about_once(void **state)
{
    struct sqlite3 *db = store_db(rig.sweep.mail.store);
    int statements = 0;

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    assert_int_equal(
        sqlite3_trace_v2(db, SQLITE_TRACE_STMT, count_statement, &statements),
        SQLITE_OK);
    resume_take_cache(&rig.sweep, 1);
    assert_int_equal(statements, 1);
    sqlite3_trace_v2(db, 0, NULL, NULL);
}

/* It may have rolled back what is not committed yet. */
static void a_database_that_cannot_be_read_then_ends_the_sweep(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    (void)rig_number(&rig, "ALTER TABLE build RENAME TO missing");
    sched_vanished(rig.sweep.work.sched, 0);
    resume_take_cache(&rig.sweep, 0);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_DATABASE);
    assert_true(rig.sweep.reactor.ending);
}

static void so_does_one_that_cannot_be_read_for_an_order(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    (void)rig_number(&rig, "ALTER TABLE build RENAME TO missing");
    sched_vanished(rig.sweep.work.sched, 0);
    resume_take_built(&rig.sweep, 0);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_DATABASE);
}

static void only_who_is_ready_has_what_it_built(void **state)
{
    struct host_state *a = &rig.sweep.fleet.hosts[0];

    (void)state;
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    sched_vanished(rig.sweep.work.sched, 0);
    a->state = HOST_STATE_GREETED;
    resume_take_built(&rig.sweep, 0);
    a->state = HOST_STATE_READY;
    a->is_lost = true;
    resume_take_built(&rig.sweep, 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    a->is_lost = false;
    resume_take_built(&rig.sweep, 0);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_lease_of_an_earlier_run_is_known_by_all_that_it_was),
        CASE(open_leases_end_and_may_be_adopted),
        CASE(leases_without_a_result_may_be_adopted),
        CASE(only_a_screening_is_adopted_as_one),
        CASE(what_this_run_gave_may_be_adopted_too),
        CASE(lost_before_it_has_fewer_tries),
        CASE(what_is_settled_stays_so_and_what_was_lost_does_not),
        CASE(passes_hear_of_what_an_earlier_run_settled),
        CASE(the_times_of_an_earlier_run_are_remembered),
        CASE(what_crashed_is_repeated_when_it_is_asked_for),
        CASE(a_fresh_sweep_says_nothing_of_the_past),
        CASE(what_was_spent_before_counts),
        CASE(an_hour_costs_its_rate_and_no_rate_is_no_price),
        CASE(a_build_of_the_same_host_and_toolkit_is_not_done_again),
        CASE(a_host_that_never_built_is_asked_about_once),
        CASE(a_database_that_cannot_be_read_then_ends_the_sweep),
        CASE(so_does_one_that_cannot_be_read_for_an_order),
        CASE(who_comes_again_has_what_it_built),
        CASE(what_the_coordinator_kept_is_for_all_with_its_compiler),
        CASE(a_build_whose_row_was_changed_ends_the_sweep),
        CASE(only_who_is_ready_has_what_it_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
