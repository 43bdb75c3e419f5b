/* Whole runs: what is looked after in each turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/live/said.h"
#include "coordinator/rental/rental.h"
#include "tests/coordinator/reactor/whole_run.h"

static struct rig rig;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    rig_open_bare(&rig, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static int count(const char *text, const char *word)
{
    int n = 0;

    while ((text = strstr(text, word))) {
        text += strlen(word);
        n++;
    }
    return n;
}

/* It is lost after 30 s of silence, and comes again. */
static void step_with_two_comings(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns != 320)
        return;
    rig_queue(r, 0, rig_hello(8));
    rig_queue(r, 0, rig_gpu("GPU-0"));
    rig_queue(r, 0, rig_is_ready());
}

static void who_was_lost_is_told_again_when_it_is_ready(void **state)
{
    struct said *said = said_new();

    (void)state;
    rig.options.watch.said = said;
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, step_with_two_comings, 36, &err), 6);
    assert_int_equal(count(rig_heard(&rig), "a: ready: "), 2);
    said_free(said);
}

/* What a pass does in each turn. */
static void (*act)(struct sweep *sweep, int turn);

static int choose(struct sweep *sweep, struct pass *pass, int64_t passed,
                  struct err *why)
{
    (void)sweep;
    (void)passed;
    (void)why;
    pass->state = &rig;
    return 0;
}

static void turn_act(struct sweep *sweep, struct pass *pass)
{
    const struct rig *r = pass->state;

    act(sweep, r->turns);
}

static void free_pass(struct pass *pass)
{
    assert_ptr_equal(pass->state, &rig);
}

static const struct pass_ops acts = { .start = { .choose = choose },
                                      .turn = turn_act,
                                      .free = free_pass };
static const struct pass_ops *const passes[] = { &acts, NULL };

static int rested_turns;

static void rest_half_a_second(struct sweep *sweep, int turn)
{
    struct host_state *host = &sweep->fleet.hosts[0];

    if (turn == 11)
        host->conduct.rests_ns = rig.now_ns + NS_PER_S / 2;
    rested_turns += host->conduct.rests_ns != 0;
}

static void who_rests_is_woken_in_time(void **state)
{
    (void)state;
    rested_turns = 0;
    act = rest_half_a_second;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, whole_run_step_with_host, 3.6, &err), 6);
    assert_int_equal(rested_turns, 5);
}

static int late_turn;

static void look_for_late_work(struct sweep *sweep, int turn)
{
    const struct sched_lease *lease = sched_lease_on(sweep->work.sched, 0);

    if (lease && lease->late && !late_turn)
        late_turn = turn;
}

/* Another host may repeat it. */
static void what_is_out_for_10_s_is_late(void **state)
{
    (void)state;
    late_turn = 0;
    act = look_for_late_work;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, whole_run_step_with_host, 12, &err), 6);
    assert_int_equal(late_turn, 1 + 100 + 1);
}

static void a_machine_is_acquired(void **state)
{
    (void)state;
    snprintf(rig.list[0].rental.start, sizeof(rig.list[0].rental.start),
             "true");
    snprintf(rig.list[0].rental.stop, sizeof(rig.list[0].rental.stop), "true");
    rig.options.stay.rental.machines = rental_new(&rig.hosts, "/");
    rig.options.stay.rental.store = rig.sweep.mail.store;
    assert_int_equal(whole_run(&rig, whole_run_step, 3.6, &err), 6);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-STARTS'"), 1);
    assert_true(rig.rents);
    rental_free(rig.options.stay.rental.machines);
}

static int turns_of_leaving;

static void give_up_host_a(struct sweep *sweep, int turn)
{
    if (turn == 11)
        host_state_condemn(&sweep->fleet.hosts[0], ERR_NETWORK, "it dreams");
    turns_of_leaving += turn > 11 && rig.dismissed[0] == 0;
}

static void who_is_given_up_has_2_s_to_leave(void **state)
{
    (void)state;
    rig_close(&rig);
    rig_open_bare(&rig, 2);
    turns_of_leaving = 0;
    act = give_up_host_a;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, whole_run_step_with_host, 5, &err), 6);
    assert_int_equal(turns_of_leaving, 20);
    assert_int_equal(rig.dismissed[0], 1);
}

/* All that host a was sent is done in the next turn. */
static struct rig_result results[RIG_QUEUE];
static size_t n_answered;

static void step_and_answer(struct rig *r)
{
    whole_run_step_with_host(r);
    for (; n_answered < r->n_sent; n_answered++) {
        const struct rig_sent *sent = &r->sent[n_answered];
        struct rig_result *result = &results[r->n_queue];

        if (sent->type != MSG_BUILD && sent->type != MSG_MEASURE)
            continue;
        rig_result_of(sent, sent->type == MSG_BUILD ? "built" : "correct", 1e-3,
                      result);
        rig_queue(r, 0, result->msg);
    }
}

static void what_was_built_is_fetched_for_the_cache(void **state)
{
    struct artifact_cache *cache;
    char folder[64];

    (void)state;
    n_answered = 0;
    snprintf(folder, sizeof(folder), "%s/artifacts", rig.folder);
    assert_int_equal(artifact_cache_open(folder, 1 << 20, &cache, &err), 0);
    rig.options.cache = cache;
    assert_int_equal(whole_run(&rig, step_and_answer, 3.6, &err), 0);
    assert_true(rig_count(&rig, MSG_FETCH) > 0);
    artifact_cache_close(cache);
    assert_int_equal(rmdir(folder), 0);
}

/* A worker offers a result; no GPU comes, so there is no plan to judge it by.
 * What came from the network owns its texts: ASan tells. */
static void step_with_early_result(struct rig *r)
{
    const struct rig_sent lease = { .type = MSG_BUILD, .lease = 1 };
    struct rig_result result;

    whole_run_step(r);
    if (r->turns != 2)
        return;
    rig_result_of(&lease, "built", 0, &result);
    rig_queue(r, 0, rig_owned(&result.msg));
}

static void results_without_a_plan_are_freed_at_the_end(void **state)
{
    (void)state;
    rig.options.device = "cuda";
    assert_int_equal(whole_run(&rig, step_with_early_result, 1, &err), 6);
    assert_int_equal(rig_rows(&rig, "build"), 0);
    assert_int_equal(rig.n_taken, 1);
}

static int n_best, n_ended;

static void notice(void *arg, const struct sweep_notice *what)
{
    (void)arg;
    n_best += what->kind == SWEEP_NOTICE_BEST;
    n_ended += what->kind == SWEEP_NOTICE_END;
}

static int on_done(void *arg, const struct plan *plan, struct store *store,
                   struct err *why)
{
    (void)arg;
    (void)store;
    (void)why;
    n_ended += 10 * plan_units(plan);
    return 0;
}

static void an_onlooker_hears_of_the_best_and_of_the_end(void **state)
{
    (void)state;
    n_answered = 0;
    n_best = n_ended = 0;
    rig.options.done.tell = on_done;
    rig.options.watch.notify = notice;
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
    assert_int_equal(n_best, 1); /* all have the same time */
    assert_int_equal(n_ended, 1 + 10 * 30);
}

static void step_with_hello(struct rig *r)
{
    whole_run_step(r);
    if (r->turns != 1)
        return;
    r->news = (struct host_thread_news){ .event = HOST_THREADS_ATTACHED };
    r->has_news = true;
    rig_queue(r, 0, rig_hello(7));
}

static void who_is_long_not_ready_is_told(void **state)
{
    (void)state;
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, step_with_hello, 7, &err), 6);
    assert_int_equal(count(rig_heard(&rig), "a: not ready yet"), 1);
}

static void how_far_it_is_is_told_while_it_runs(void **state)
{
    (void)state;
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, whole_run_step, 11, &err), 6);
    assert_int_equal(count(rig_heard(&rig), " 0/30 tried "), 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(who_was_lost_is_told_again_when_it_is_ready),
        CASE(who_rests_is_woken_in_time),
        CASE(what_is_out_for_10_s_is_late),
        CASE(a_machine_is_acquired),
        CASE(who_is_given_up_has_2_s_to_leave),
        CASE(what_was_built_is_fetched_for_the_cache),
        CASE(results_without_a_plan_are_freed_at_the_end),
        CASE(an_onlooker_hears_of_the_best_and_of_the_end),
        CASE(who_is_long_not_ready_is_told),
        CASE(how_far_it_is_is_told_while_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
