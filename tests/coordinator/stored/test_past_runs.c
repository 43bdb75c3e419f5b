#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"
#include "coordinator/stored/past_runs.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)

static struct past_runs *open_history(struct store *store)
{
    struct past_runs *past;
    struct err err = { "" };

    if (past_runs_open(store, &past, &err) < 0)
        fail_msg("%s", err.text);
    return past;
}

static void the_current_sweep_is_found(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    struct store_sweep sweep;
    struct err err;

    assert_int_equal(past_runs_sweep(past, &sweep, &err), 1);
    assert_string_equal(sweep.name, "vector_add");
    assert_string_equal(sweep.arch, "sm_89");
    assert_int_equal(sweep.passed, 5);
    past_runs_close(past);
    store_close(store);
}

static void what_was_told_is_found_without_a_sweep(void **state)
{
    struct store_request was = { "/home/ada", "s.json", "/home/ada/hosts.txt",
                                 "cuda",      "sm_89",  "{}" };
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct past_runs *past = open_history(store);
    struct store_request got;
    struct err err;

    assert_int_equal(past_runs_request(past, &got, &err), 0);
    assert_int_equal(store_request_put(store, &was, &err), 0);
    was.hosts_file = "";
    assert_int_equal(store_request_put(store, &was, &err), 0);
    assert_int_equal(past_runs_request(past, &got, &err), 1);
    assert_string_equal(got.folder, "/home/ada");
    assert_string_equal(got.file, "s.json");
    assert_string_equal(got.hosts_file, "");
    assert_string_equal(got.device, "cuda");
    assert_string_equal(got.arch, "sm_89");
    assert_string_equal(got.settings, "{}");
    past_runs_close(past);
    store_close(store);
}

/* As formats 4 and 5 are, which are read without being changed. */
static void a_database_that_knows_no_requests_holds_none(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past;
    struct store_request got;
    struct err err;

    assert_int_equal(
        sql_run(store_db(store), "DROP TABLE request; DROP TABLE owner", &err),
        0);
    past = open_history(store);
    assert_int_equal(past_runs_request(past, &got, &err), 0);
    past_runs_close(past);
    store_close(store);
}

static void an_outcome_counts_for_its_sources_and_measuring_alone(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    struct store_outcome key = { .config = REPORT_FASTER,
                                 .shape = "n16m",
                                 .source_key = "5c",
                                 .measure_key = "3e" };
    struct past_runs_outcome out;
    struct err err;

    assert_int_equal(past_runs_outcome(past, &key, &out, &err), 1);
    assert_string_equal(out.outcome, "correct");
    assert_true(out.median_s == 0.0008);
    key.measure_key = "3f";
    assert_int_equal(past_runs_outcome(past, &key, &out, &err), 0);
    key.measure_key = "3e";
    key.source_key = "5d";
    assert_int_equal(past_runs_outcome(past, &key, &out, &err), 0);
    past_runs_close(past);
    store_close(store);
}

/* A query that is not over would keep its table from being changed. */
static void a_row_that_was_found_leaves_no_query_open(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    struct store_outcome key = { .config = REPORT_FASTER,
                                 .shape = "n16m",
                                 .source_key = "5c",
                                 .measure_key = "3e" };
    struct past_runs_outcome out;
    struct err err = { "" };

    assert_int_equal(past_runs_outcome(past, &key, &out, &err), 1);
    assert_int_equal(sql_run(store_db(store), "DROP TABLE outcome", &err), 0);
    assert_string_equal(err.text, "");
    past_runs_close(past);
    store_close(store);
}

struct counted {
    int n, correct, measured, baselines;
    int64_t points;
};

static void count_settled(void *arg, const struct past_runs_settled *settled)
{
    struct counted *counted = arg;

    assert_string_equal(settled->source_key, "5c");
    assert_string_equal(settled->measure_key, "3e");
    counted->n++;
    counted->correct += strcmp(settled->outcome, "correct") == 0;
    counted->measured += settled->measured;
}

static void count_config(void *arg, const struct past_runs_config *config)
{
    struct counted *counted = arg;

    assert_string_equal(config->source_key, "5c");
    assert_string_equal(config->warnings, "[]");
    counted->n++;
    counted->baselines += config->baseline;
    counted->points += config->point;
}

static void all_that_was_settled_and_asked_for_is_told(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    struct counted settled = { 0 }, configs = { 0 };
    struct err err;

    assert_int_equal(past_runs_settled(past, count_settled, &settled, &err), 0);
    assert_int_equal(settled.n, 8);
    assert_int_equal(settled.correct, 5);
    assert_int_equal(settled.measured, 8);
    assert_int_equal(past_runs_configs(past, count_config, &configs, &err), 0);
    assert_int_equal(configs.n, 5);
    assert_int_equal(configs.baselines, 1);
    assert_int_equal(configs.points, 10);
    past_runs_close(past);
    store_close(store);
}

static void the_newest_successful_build_is_found(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    struct store_build old = fixture_build("b1", "c1");
    struct store_build new = fixture_build("b2", "c1");
    struct store_build bad = fixture_build("b3", "c2");
    struct past_runs_build out;
    struct err err;

    fixture_run(store, FIXTURE_EPOCH);
    new.received_utc = old.received_utc + 1;
    new.host = "gpu2";
    bad.outcome = "compile";
    assert_int_equal(store_build_put(store, &old, &err), 1);
    assert_int_equal(store_build_put(store, &new, &err), 2);
    assert_int_equal(store_build_put(store, &bad, &err), 1);
    assert_int_equal(past_runs_build(past, "c1", "5c", &out, &err), 1);
    assert_string_equal(out.host, "gpu2");
    assert_string_equal(out.artifact, "a7");
    assert_int_equal(past_runs_build(past, "c2", "5c", &out, &err), 0);
    assert_int_equal(past_runs_build(past, "c1", "5d", &out, &err), 0);
    assert_int_equal(past_runs_built_on(past, "gpu2", &err), 1);
    assert_int_equal(past_runs_built_on(past, "gpu3", &err), 0);
    assert_int_equal(sql_run(store_db(store),
                             "UPDATE build SET artifact = 'a8'"
                             " WHERE nonce = 'b2'",
                             &err),
                     0);
    assert_int_equal(past_runs_build(past, "c1", "5c", &out, &err), ERR_STORE);
    assert_non_null(
        strstr(err.text, "the row 'build b2' is not as it was written"));
    past_runs_close(past);
    store_close(store);
}

static void put_lease_for(struct store *store, int64_t epoch, int64_t id,
                          const char *purpose, int64_t round,
                          const char *ending)
{
    struct store_lease lease = { .epoch = epoch,
                                 .id = id,
                                 .config = "c1",
                                 .shape = "n16m",
                                 .purpose = purpose,
                                 .stage = "measure",
                                 .round = round,
                                 .attempt = 1,
                                 .host = "gpu1",
                                 .gpu = "GPU-1",
                                 .leased_utc = epoch + id };
    struct err err;

    assert_int_equal(store_lease_put(store, &lease, &err), 0);
    if (ending)
        assert_int_equal(
            store_lease_end(store, epoch, id, ending, epoch + id + 1, &err), 0);
}

static void put_lease(struct store *store, int64_t epoch, int64_t id,
                      const char *ending)
{
    put_lease_for(store, epoch, id, "screen", 0, ending);
}

/* Besides the run of the fixture, at UTC - 1. */
static void put_runs(struct store *store)
{
    fixture_run(store, UTC - 1000);
    fixture_run(store, UTC + 1000);
}

static void take_loss(void *arg, const struct past_runs_loss *loss)
{
    assert_string_equal(loss->config, "c1");
    assert_string_equal(loss->stage, "measure");
    *(int64_t *)arg += loss->losses;
}

static void losses_before_the_sweep_changed_do_not_count(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    int64_t losses = 0;
    struct err err;

    put_runs(store);
    put_lease(store, UTC - 1000, 1, "lost"); /* an earlier run's */
    put_lease(store, UTC - 1, 1, "lost");    /* of the run that put it */
    put_lease(store, UTC - 1, 2, "done");
    put_lease(store, UTC + 1000, 1, "lost");
    /* Tries of an order, not of what is screened. */
    put_lease_for(store, UTC + 1000, 2, "canary", 0, "lost");
    put_lease_for(store, UTC + 1000, 3, "screen", 1, "lost");
    assert_int_equal(past_runs_losses(past, take_loss, &losses, &err), 0);
    assert_int_equal(losses, 2);
    past_runs_close(past);
    store_close(store);
}

struct ender {
    struct store *store;
    int n;
};

static void end_lease(void *arg, const struct store_lease *lease)
{
    struct ender *ender = arg;
    struct err err;

    ender->n++;
    assert_string_equal(lease->gpu, "GPU-1");
    assert_int_equal(store_lease_end(ender->store, lease->epoch, lease->id,
                                     "lost", UTC + 5000, &err),
                     0);
}

static void open_leases_of_a_killed_run_can_be_ended(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    struct ender ender = { store, 0 };
    struct err err;

    put_runs(store);
    put_lease(store, UTC - 1, 1, NULL);
    put_lease(store, UTC - 1, 2, "done");
    put_lease(store, UTC + 1000, 1, NULL); /* of this run */
    assert_int_equal(
        past_runs_open_leases(past, UTC + 1000, end_lease, &ender, &err), 0);
    assert_int_equal(ender.n, 1);
    assert_int_equal(
        past_runs_open_leases(past, UTC + 1000, end_lease, &ender, &err), 0);
    assert_int_equal(ender.n, 1);
    past_runs_close(past);
    store_close(store);
}

static void the_architecture_is_in_the_facts(void **state)
{
    struct store *store = report_fixture(*state);
    struct past_runs *past = open_history(store);
    struct store_sweep sweep = { .facts = "{\"arch\": 90}" };
    char arch[PAST_RUNS_ARCH_BYTES] = "";
    struct err err = { "" };

    assert_int_equal(past_runs_arch(past, &sweep, arch, &err), 0);
    assert_string_equal(arch, "sm_90");
    sweep.facts = "{}";
    assert_int_equal(past_runs_arch(past, &sweep, arch, &err), 0);
    assert_string_equal(arch, "");
    sweep.facts = "no JSON";
    assert_int_equal(past_runs_arch(past, &sweep, arch, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "sweep.db: malformed JSON"));
    past_runs_close(past);
    store_close(store);
}

static void a_sweep_over_what_was_asked_for_says_so(void **state)
{
    static const struct {
        const char *settings;
        bool asked;
    } rows[] = {
        { "{\"asked\": true}", true },
        { "{\"asked\": false}", false },
        { "{\"asked\": 1}", true },
        { "{\"attempts\": 3}", false },
        { "{}", false },
        { "not JSON", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct store_sweep sweep = { .settings = rows[i].settings };

        assert_int_equal(past_runs_asked(&sweep), rows[i].asked);
    }
}

static void add_step(void *arg, const struct store_step *step)
{
    char *told = arg;

    snprintf(told + strlen(told), 64 - strlen(told), "%s %lld, ", step->kind,
             (long long)step->point);
}

static void steps_of_a_search_come_in_their_order(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_step step = { 1, 1, "timed", FIXTURE_KEY, 20, 0, 0.25 };
    struct past_runs *past;
    char told[64] = "";
    struct err err = { "" };

    fixture_owners(store, FIXTURE_KEY);
    assert_int_equal(store_step_put(store, &step, &err), 0);
    step.position = 0;
    step.point = 10;
    assert_int_equal(store_step_put(store, &step, &err), 0);
    past = open_history(store);
    assert_int_equal(past_runs_steps(past, 1, add_step, told, &err), 0);
    assert_string_equal(told, "timed 10, timed 20, ");
    assert_int_equal(past_runs_steps(past, 2, add_step, told, &err), 0);
    assert_string_equal(told, "timed 10, timed 20, ");
    past_runs_close(past);
    store_close(store);
}

static void a_database_without_a_table_has_no_past(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char *text = mem_printf("%s: no such table: outcome", (char *)*state);
    struct past_runs *past;
    struct err err = { "" };

    assert_int_equal(sql_run(store_db(store), "DROP TABLE outcome", &err), 0);
    assert_int_equal(past_runs_open(store, &past, &err), ERR_STORE);
    assert_null(past);
    assert_string_equal(err.text, text);
    free(text);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_current_sweep_is_found),
        TEST(what_was_told_is_found_without_a_sweep),
        TEST(a_database_that_knows_no_requests_holds_none),
        TEST(an_outcome_counts_for_its_sources_and_measuring_alone),
        TEST(a_row_that_was_found_leaves_no_query_open),
        TEST(all_that_was_settled_and_asked_for_is_told),
        TEST(the_newest_successful_build_is_found),
        TEST(losses_before_the_sweep_changed_do_not_count),
        TEST(open_leases_of_a_killed_run_can_be_ended),
        TEST(steps_of_a_search_come_in_their_order),
        TEST(a_database_without_a_table_has_no_past),
        TEST(the_architecture_is_in_the_facts),
        cmocka_unit_test(a_sweep_over_what_was_asked_for_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
