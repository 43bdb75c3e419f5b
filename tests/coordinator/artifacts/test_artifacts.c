#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/reactor/results.h"
#include "coordinator/spec/spec.h"
#include "coordinator/artifacts/artifacts.h"
#include "coordinator/state/leases.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define AGAIN_NS (10 * NS_PER_S) /* a host is asked again without a chunk */

static struct rig rig;
static char hash[HASH_HEX]; /* of unit 0's artifact, "cubin" */

/* Host a has built the reference and unit 0; host b has a GPU, host c too.
 * Each measures, and host b builds. */
static int set_up(void **state)
{
    struct hash sum;

    (void)state;
    rig_open(&rig, 3);
    rig_ready(&rig, 0, 1, 1);
    rig_build_two(&rig);
    rig_ready(&rig, 1, 0, 1);
    rig_ready(&rig, 2, 0, 1);
    rig_lease(&rig, 1, JOB_BUILD, 4);
    for (size_t i = 0; i < 3; i++)
        rig_lease(&rig, i, JOB_MEASURE, 5 + (int)i);
    hash_init(&sum);
    hash_add(&sum, "cubin", 5);
    hash_end(&sum, hash);
    memcpy(rig.sweep.work.artifacts[0], hash, HASH_HEX);
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

static void ask(size_t from, const char *what, const char *of)
{
    assert_int_equal(
        rig_take(&rig, from,
                 (struct msg){ .type = MSG_WANT,
                               .want = { .what = what, .hash = of } }),
        0);
}

static void want(size_t from)
{
    ask(from, MSG_WANT_ARTIFACT, hash);
}

static void missing(size_t from)
{
    assert_int_equal(
        rig_take(&rig, from,
                 (struct msg){ .type = MSG_MISSING, .missing.hash = hash }),
        0);
}

static void chunk(size_t from, int64_t offset, const char *text)
{
    assert_int_equal(
        rig_take(
            &rig, from,
            (struct msg){ .type = MSG_ARTIFACT,
                          .artifact = { .hash = hash,
                                        .offset = offset,
                                        .total = 5,
                                        .chunk = { text, strlen(text) } } }),
        0);
}

static void what_is_wanted_is_asked_for_where_it_lies(void **state)
{
    (void)state;
    want(1);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 1);
    assert_int_equal(rig_last(&rig, MSG_FETCH)->host, 0);
    assert_string_equal(rig_last(&rig, MSG_FETCH)->hash, hash);
    want(2);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 1); /* it comes for both */
    chunk(0, 0, "cub");
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 2);
    assert_int_equal(rig.sweep.work.n_fetches, 1);
    chunk(0, 3, "in");
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 4);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
    assert_false(host(0)->conduct.condemned);
}

static void what_nobody_built_is_missing(void **state)
{
    (void)state;
    memcpy(hash, "0123456789abcdef0123456789abcdef", HASH_HEX);
    want(1);
    assert_string_equal(rig_last(&rig, MSG_MISSING)->hash, hash);
    assert_int_equal(rig_last(&rig, MSG_MISSING)->host, 1);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

static void a_bundle_is_sent_and_another_is_missing(void **state)
{
    struct msg_bundle bundle;

    (void)state;
    plan_bundle(rig.sweep.work.plan, 0, &bundle);
    ask(1, MSG_WANT_BUNDLE, bundle.hash);
    assert_string_equal(rig_last(&rig, MSG_BUNDLE)->hash, bundle.hash);
    assert_int_equal(rig_count(&rig, MSG_BUNDLE), 1);
    plan_bundle(rig.sweep.work.plan, plan_units(rig.sweep.work.plan), &bundle);
    ask(1, MSG_WANT_BUNDLE, bundle.hash);
    assert_int_equal(rig_count(&rig, MSG_BUNDLE), 2);
    ask(1, MSG_WANT_BUNDLE, "0123456789abcdef0123456789abcdef");
    assert_int_equal(rig_count(&rig, MSG_BUNDLE), 2);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 1);
}

static bool has_bundle(struct sweep *sweep, struct pass *pass, const char *of,
                       struct msg_bundle *out)
{
    (void)sweep;
    (void)pass;
    out->hash = of;
    return of[0] == '0';
}

static void a_bundle_of_a_pass_is_sent(void **state)
{
    static const struct pass_ops ops = { .commands.bundle = has_bundle };
    struct msg ask = { .type = MSG_WANT,
                       .want = { .what = MSG_WANT_BUNDLE,
                                 .hash = "0123456789abcdef0123456789abcdef",
                                 .offset = -1 } };

    (void)state;
    rig.sweep.passes.list[0] = (struct pass){ &ops, 0, &rig };
    rig.sweep.passes.n = 1;
    assert_int_equal(rig_take(&rig, 1, ask), 0);
    assert_string_equal(rig_last(&rig, MSG_BUNDLE)->hash, ask.want.hash);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 0);
    ask.want.hash = "1123456789abcdef0123456789abcdef";
    assert_int_equal(rig_take(&rig, 1, ask), 0);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 1);
}

static void want_input_at(size_t from, const char *of, int64_t offset)
{
    const struct msg ask = { .type = MSG_WANT,
                             .want = { MSG_WANT_INPUT, of, offset } };

    assert_int_equal(rig_take(&rig, from, ask), 0);
}

static void want_input(const char *of, int64_t offset)
{
    want_input_at(1, of, offset);
}

/* Of two windows and a byte. */
static void add_input(void)
{
    struct spec_inputs *inputs = &rig.sweep.work.spec->inputs;
    struct spec_input *input = mem_new(1, sizeof(*input));
    char *zeros = mem_new(2 * MSG_WINDOW_MAX + 1, 1);

    buf_init(&input->file, SPEC_INPUT_BYTES_MAX);
    buf_add(&input->file, zeros, 2 * MSG_WINDOW_MAX + 1);
    memcpy(input->hash, hash, HASH_HEX);
    *inputs = (struct spec_inputs){ input, 1 };
    free(zeros);
}

static void an_input_is_sent_window_by_window(void **state)
{
    (void)state;
    add_input();
    want_input(hash, 0);
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 4);
    assert_string_equal(rig_last(&rig, MSG_ARTIFACT)->hash, hash);
    assert_int_equal(rig_last(&rig, MSG_ARTIFACT)->host, 1);
    want_input(hash, MSG_WINDOW_MAX + 3 * MSG_CHUNK_MAX); /* the rest of it */
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 5);
    want_input(hash, 2 * MSG_WINDOW_MAX);
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 6);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 0);
    want_input(hash, 2 * MSG_WINDOW_MAX + 1); /* there is no more */
    want_input("0123456789abcdef0123456789abcdef", 0);
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 6);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 2);
}

/* The lease of that stage. */
static const struct sched_lease *lease_of(enum job_stage stage)
{
    const struct sched_lease *lease = NULL;

    for (int i = 0; (lease = sched_lease_at(rig.sweep.work.sched, i)); i++)
        if (lease->stage == stage)
            return lease;
    fail_msg("there is no such lease");
    return NULL;
}

static int64_t deadline_of(enum job_stage stage)
{
    return leases_deadline(&rig.sweep, lease_of(stage));
}

/* A window takes 16 s at 64 KiB/s, the slowest rate that counts. */
static void a_measurement_loses_no_time_while_inputs_arrive(void **state)
{
    int64_t build, measure;
    size_t at;

    (void)state;
    add_input();
    rig_dispatch(&rig);
    build = deadline_of(JOB_BUILD);
    measure = deadline_of(JOB_MEASURE);
    at = (size_t)lease_of(JOB_MEASURE)->host;
    want_input_at(at, hash, 0);
    assert_int_equal(deadline_of(JOB_MEASURE), measure);
    rig.now_ns += 9 * NS_PER_S;
    want_input_at(at, hash, MSG_WINDOW_MAX);
    assert_int_equal(deadline_of(JOB_MEASURE), measure + 9 * NS_PER_S);
    rig.now_ns += 60 * NS_PER_S;
    want_input_at(at, hash, 2 * MSG_WINDOW_MAX);
    assert_int_equal(deadline_of(JOB_MEASURE), measure + 25 * NS_PER_S);
    want_input_at(at, hash, 0); /* nothing new has arrived */
    assert_int_equal(deadline_of(JOB_MEASURE), measure + 25 * NS_PER_S);
    assert_int_equal(deadline_of(JOB_BUILD), build); /* it needs no inputs */
}

static void inputs_do_not_delay_what_has_begun(void **state)
{
    int64_t measure;
    size_t at;

    (void)state;
    add_input();
    rig_dispatch(&rig);
    at = (size_t)lease_of(JOB_MEASURE)->host;
    leases_started(&rig.sweep, lease_of(JOB_MEASURE));
    measure = deadline_of(JOB_MEASURE);
    want_input_at(at, hash, 0);
    rig.now_ns += 9 * NS_PER_S;
    want_input_at(at, hash, MSG_WINDOW_MAX);
    assert_int_equal(deadline_of(JOB_MEASURE), measure);
}

static void chunks_of_other_hosts_are_ignored(void **state)
{
    (void)state;
    want(1);
    chunk(2, 0, "cubin");
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 0);
    assert_int_equal(rig.sweep.work.n_fetches, 1);
}

static void bytes_that_do_not_match_condemn_their_host(void **state)
{
    (void)state;
    want(1);
    chunk(0, 0, "cub");
    chunk(0, 3, "on");
    assert_true(host(0)->conduct.condemned);
    assert_int_equal(host(0)->conn.code, ERR_PROTO);
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 1);
}

static void chunks_out_of_order_are_ignored(void **state)
{
    (void)state;
    want(1);
    chunk(0, 3, "in");
    chunk(0, 0, "cub");
    chunk(0, 0, "cub"); /* it was asked once */
    chunk(0, 2, "bi");
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 1);
    assert_int_equal(rig.sweep.work.n_fetches, 1);
    chunk(0, 3, "in");
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 2);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
    assert_false(host(0)->conduct.condemned);
}

/* Asked twice, it answers twice. */
static void an_answer_that_begins_again_is_summed_from_there(void **state)
{
    (void)state;
    want(1);
    chunk(0, 0, "cub");
    artifacts_turn(&rig.sweep, RIG_START_NS + AGAIN_NS);
    chunk(0, 0, "cub");
    chunk(0, 3, "in");
    assert_false(host(0)->conduct.condemned);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

static void what_nobody_asked_for_costs_its_sender(void **state)
{
    (void)state;
    for (int i = 0; i < 4096; i++)
        chunk(0, 0, "cubin");
    assert_false(host(0)->conduct.condemned);
    chunk(0, 0, "cubin");
    assert_true(host(0)->conduct.condemned);
}

static void a_host_without_work_gets_nothing(void **state)
{
    struct msg_bundle bundle;

    (void)state;
    plan_bundle(rig.sweep.work.plan, 0, &bundle);
    ask(2, MSG_WANT_BUNDLE, bundle.hash); /* it does not build */
    assert_int_equal(rig_count(&rig, MSG_BUNDLE), 0);
    results_host_lost(&rig.sweep, 2, "gone");
    want(2);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

static void a_lease_needs_its_files_a_few_times(void **state)
{
    struct msg_bundle bundle;

    (void)state;
    plan_bundle(rig.sweep.work.plan, 0, &bundle);
    for (int i = 0; i < 20; i++)
        ask(1, MSG_WANT_BUNDLE, bundle.hash);
    assert_int_equal(rig_count(&rig, MSG_BUNDLE), 8);
}

/* A chunk now and then is no answer. */
static void an_answer_that_drips_is_asked_for_again(void **state)
{
    (void)state;
    want(1);
    rig.now_ns += 9 * NS_PER_S;
    chunk(0, 0, "c");
    artifacts_turn(&rig.sweep, RIG_START_NS + AGAIN_NS);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 2);
}

static void it_is_asked_again_after_10_s_and_three_times_in_all(void **state)
{
    (void)state;
    want(1);
    artifacts_turn(&rig.sweep, RIG_START_NS + AGAIN_NS - 1);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 1);
    artifacts_turn(&rig.sweep, RIG_START_NS + AGAIN_NS);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 2);
    artifacts_turn(&rig.sweep, RIG_START_NS + 2 * AGAIN_NS);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 3);
    assert_false(host(0)->conduct.condemned);
    artifacts_turn(&rig.sweep, RIG_START_NS + 3 * AGAIN_NS);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 3);
    assert_true(host(0)->conduct.condemned);
    assert_int_equal(host(0)->conn.code, ERR_NETWORK);
}

/* A mebibyte may take 32 s more. */
static void a_chunk_puts_the_next_question_off(void **state)
{
    struct msg part = {
        .type = MSG_ARTIFACT,
        .artifact = { .hash = hash, .total = 1 << 20, .chunk = { "c", 1 } }
    };

    (void)state;
    want(1);
    for (int s = 5; s < 42; s++) {
        rig.now_ns = RIG_START_NS + s * NS_PER_S;
        assert_int_equal(rig_take(&rig, 0, part), 0);
        part.artifact.offset++;
        artifacts_turn(&rig.sweep, rig.now_ns);
        assert_int_equal(rig_count(&rig, MSG_FETCH), 1);
    }
    artifacts_turn(&rig.sweep, RIG_START_NS + 42 * NS_PER_S);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 2);
}

static void a_host_that_is_away_is_asked_when_it_is_back(void **state)
{
    (void)state;
    host(0)->suspect = true;
    want(1);
    host(0)->suspect = false;
    host(0)->state = HOST_STATE_AWAY;
    artifacts_turn(&rig.sweep, RIG_START_NS);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 0);
    host(0)->state = HOST_STATE_READY;
    artifacts_turn(&rig.sweep, RIG_START_NS);
    assert_int_equal(rig_count(&rig, MSG_FETCH), 1);
}

/* The host that built it wants it: it is nowhere. */
static void what_its_own_host_wants_is_built_again(void **state)
{
    (void)state;
    want(0);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 1);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    assert_int_equal(rig.sweep.work.vanished[0], 1);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

static void what_is_missing_there_is_missing_for_all_who_wait(void **state)
{
    (void)state;
    want(1);
    want(2);
    missing(2); /* it was not asked */
    assert_int_equal(rig_count(&rig, MSG_MISSING), 0);
    missing(0);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 2);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
}

static void what_its_host_misses_unasked_is_built_again(void **state)
{
    (void)state;
    artifacts_missing(&rig.sweep, 1, hash);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), 0);
    artifacts_missing(&rig.sweep, 0, hash);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
}

/* Units 0 and 2 are the same binary. */
static void the_same_binary_vanishes_from_a_host_for_all_its_units(void **state)
{
    struct sched *sched = rig.sweep.work.sched;

    (void)state;
    memcpy(rig.sweep.work.artifacts[2], hash, HASH_HEX);
    sched_built_at(sched, 2, 0);
    assert_int_equal(sched_home(sched, 2), 0);
    want(1);
    missing(0);
    assert_int_equal(sched_home(sched, 0), -1);
    assert_int_equal(sched_home(sched, 2), -1);
}

static void the_same_binary_is_had_from_the_host_of_another_unit(void **state)
{
    struct sched *sched = rig.sweep.work.sched;

    (void)state;
    memcpy(rig.sweep.work.artifacts[2], hash, HASH_HEX);
    sched_built_at(sched, 2, 1);
    artifacts_missing(&rig.sweep, 0, hash);
    assert_int_equal(sched_home(sched, 0), -1);
    assert_int_equal(sched_home(sched, 2), 1);
    want(2);
    assert_int_equal(rig_count(&rig, MSG_MISSING), 0);
    assert_int_equal(rig_last(&rig, MSG_FETCH)->host, 1);
}

static void five_that_vanish_in_a_row_condemn_who_built_them(void **state)
{
    size_t before;

    (void)state;
    rig.sweep.work.vanished[0] = 3;
    artifacts_missing(&rig.sweep, 0, hash);
    assert_false(host(0)->conduct.condemned);
    before = rig.n_sent;
    assert_int_equal(rig_dispatch(&rig), 2);
    while (rig.sent[before].type != MSG_BUILD) /* it is the first of them */
        before++;
    assert_int_equal(rig_built(&rig, &rig.sent[before], "built"), 0);
    artifacts_missing(&rig.sweep, 0, rig.sweep.work.artifacts[0]);
    assert_true(host(0)->conduct.condemned);
    assert_string_equal(host(0)->conn.why,
                        "it lost an artifact that it had built, "
                        "five times in a row");
}

static void a_host_that_went_wants_nothing_any_more(void **state)
{
    (void)state;
    want(1);
    want(2);
    artifacts_forget_host(&rig.sweep, 1);
    assert_int_equal(rig.sweep.work.n_fetches, 1);
    chunk(0, 0, "cub");
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 1);
    assert_int_equal(rig_last(&rig, MSG_ARTIFACT)->host, 2);
    artifacts_forget_host(&rig.sweep, 2);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_wanted_is_asked_for_where_it_lies),
        CASE(what_nobody_built_is_missing),
        CASE(a_bundle_is_sent_and_another_is_missing),
        CASE(a_bundle_of_a_pass_is_sent),
        CASE(an_input_is_sent_window_by_window),
        CASE(a_measurement_loses_no_time_while_inputs_arrive),
        CASE(inputs_do_not_delay_what_has_begun),
        CASE(chunks_of_other_hosts_are_ignored),
        CASE(bytes_that_do_not_match_condemn_their_host),
        CASE(chunks_out_of_order_are_ignored),
        CASE(what_nobody_asked_for_costs_its_sender),
        CASE(a_host_without_work_gets_nothing),
        CASE(a_lease_needs_its_files_a_few_times),
        CASE(an_answer_that_drips_is_asked_for_again),
        CASE(an_answer_that_begins_again_is_summed_from_there),
        CASE(it_is_asked_again_after_10_s_and_three_times_in_all),
        CASE(a_chunk_puts_the_next_question_off),
        CASE(a_host_that_is_away_is_asked_when_it_is_back),
        CASE(what_its_own_host_wants_is_built_again),
        CASE(what_is_missing_there_is_missing_for_all_who_wait),
        CASE(what_its_host_misses_unasked_is_built_again),
        CASE(the_same_binary_vanishes_from_a_host_for_all_its_units),
        CASE(the_same_binary_is_had_from_the_host_of_another_unit),
        CASE(five_that_vanish_in_a_row_condemn_who_built_them),
        CASE(a_host_that_went_wants_nothing_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
