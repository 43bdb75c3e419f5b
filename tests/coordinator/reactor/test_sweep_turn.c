/* Whole runs: what one turn does, and how long it may take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "coordinator/state/records.h"
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

/* The process sleeps for 20 s, once. */
static void sleep_long(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns > 10)
        r->now_ns += 20 * NS_PER_S;
}

static void what_the_process_slept_is_not_blamed_on_hosts(void **state)
{
    const char *heard;

    (void)state;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, sleep_long, 40, &err), 6);
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "LONG-TURN ms=20100"));
    assert_non_null(strstr(heard, "HOST-SILENT host=a ms=15100"));
}

/* A turn of exactly a second more than its wait is not long. */
static void sleep_a_second(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns > 10)
        r->now_ns += 900 * NS_PER_MS;
}

static void a_turn_of_a_second_is_not_long(void **state)
{
    (void)state;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, sleep_a_second, 10, &err), 6);
    assert_null(strstr(rig_heard(&rig), "LONG-TURN"));
}

/* Turns 11 and 12 compute for 100 ms and a little longer. */
static void compute(struct rig *r)
{
    whole_run_step_with_host(r);
    r->cpu_ns += r->turns == 11   ? 100 * NS_PER_MS
                 : r->turns == 12 ? 101 * NS_PER_MS
                                  : 1000;
}

static void a_turn_that_computes_for_long_is_in_the_log(void **state)
{
    const char *heard, *first;

    (void)state;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, compute, 10, &err), 6);
    heard = rig_heard(&rig);
    first = strstr(heard, "BUSY-TURN");
    assert_non_null(first);
    assert_memory_equal(first, "BUSY-TURN cpu_ms=101", 20);
    assert_null(strstr(first + 1, "BUSY-TURN"));
    assert_non_null(strstr(heard, "cpu_ms=201 busiest_us=101000"));
}

/* A wait of 100 ms, and so much more, in turn 11. */
static int64_t more_ns;

static void sleep_once(struct rig *r)
{
    r->now_ns += r->turns == 11 ? more_ns : 0;
}

static void a_wait_is_long_from_a_second_more_on(void **state)
{
    (void)state;
    rig_listen(&rig);
    more_ns = NS_PER_S;
    assert_int_equal(whole_run(&rig, sleep_once, 3.6, &err), 6);
    assert_null(strstr(rig_heard(&rig), "LONG-TURN"));
    rig.turns = 0;
    rig_listen(&rig);
    more_ns = NS_PER_S + NS_PER_MS;
    assert_int_equal(whole_run(&rig, sleep_once, 3.6, &err), 6);
    assert_non_null(strstr(rig_heard(&rig), "LONG-TURN ms=1101"));
}

/* A pass that takes so long in the 11th turn. */
static int choose_nothing(struct sweep *sweep, struct pass *pass,
                          int64_t passed, struct err *why)
{
    (void)sweep;
    (void)passed;
    (void)why;
    pass->state = &rig;
    return 0;
}

static void work_once(struct sweep *sweep, struct pass *pass)
{
    struct rig *r = pass->state;

    (void)sweep;
    r->now_ns += r->turns == 11 ? more_ns : 0;
}

static int freed;

static void free_pass(struct pass *pass)
{
    assert_ptr_equal(pass->state, &rig);
    freed++;
}

/* A pass that leads is over in the 11th turn. */
static int led;

static int take_the_lead(struct sweep *sweep, struct pass *pass,
                         struct err *why)
{
    (void)sweep;
    (void)why;
    pass->state = &rig;
    return 1;
}

static bool is_turn_11(const struct sweep *sweep, const struct pass *pass)
{
    const struct rig *r = pass->state;

    (void)sweep;
    return r->turns >= 11;
}

static void end_the_lead(struct sweep *sweep, struct pass *pass)
{
    (void)sweep;
    assert_ptr_equal(pass->state, &rig);
    led++;
}

static void a_pass_that_leads_ends_it_and_is_no_sweep(void **state)
{
    static const struct pass_ops leads = { .start = { .lead = take_the_lead },
                                           .is_over = is_turn_11,
                                           .end.store = end_the_lead,
                                           .free = free_pass };
    static const struct pass_ops *const passes[] = { &leads, NULL };

    (void)state;
    led = 0;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, whole_run_step, 0, &err),
                     1); /* nothing was correct */
    assert_int_equal(rig.turns, 11 + 1);
    assert_int_equal(led, 1);
    assert_int_equal(rig_rows(&rig, "sweep"), 0);
    rig.turns = 0;
    rig.now_ns = RIG_START_NS;
    assert_int_equal(whole_run(&rig, whole_run_step, 0.5, &err),
                     6); /* it cannot end what it led */
    assert_int_equal(led, 1);
}

/* A cap of half a second closes it, if it can be closed. */
static bool closes;

static bool close_the_lead(struct sweep *sweep, struct pass *pass)
{
    struct rig *r = pass->state;

    (void)sweep;
    if (closes)
        r->turns = 11; /* then it is over */
    return closes;
}

static void a_cap_ends_what_a_lead_has(void **state)
{
    static const struct pass_ops leads = { .start = { .lead = take_the_lead },
                                           .is_over = is_turn_11,
                                           .end = { close_the_lead,
                                                    end_the_lead },
                                           .free = free_pass };
    static const struct pass_ops *const passes[] = { &leads, NULL };

    (void)state;
    led = 0;
    closes = true;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, whole_run_step, 0.5, &err), 1);
    assert_int_equal(led, 1);
    closes = false;
    rig.turns = 0;
    rig.now_ns = RIG_START_NS;
    assert_int_equal(whole_run(&rig, whole_run_step, 0.5, &err), 6);
    assert_int_equal(led, 1);
}

/* A row that comes in turn 11, long after the last COMMIT, is committed in that
 * turn. */
static int commits_before;

static void put_once(struct sweep *sweep, struct pass *pass)
{
    struct rig *r = pass->state;

    if (r->turns == 11) {
        commits_before = r->commits;
        records_put_event(sweep, "I", "HOST-LOST", "a");
    }
    if (r->turns == 12)
        assert_int_equal(r->commits, commits_before + 1);
}

static void a_row_alone_is_committed_at_once(void **state)
{
    static const struct pass_ops puts = { .start = { .choose = choose_nothing },
                                          .turn = put_once,
                                          .free = free_pass };
    static const struct pass_ops *const passes[] = { &puts, NULL };

    (void)state;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, NULL, 3.6, &err), 6);
    assert_true(rig.turns > 12);
}

static void the_work_of_a_turn_is_long_from_a_second_on(void **state)
{
    static const struct pass_ops slow = { .start = { .choose = choose_nothing },
                                          .turn = work_once,
                                          .free = free_pass };
    static const struct pass_ops *const passes[] = { &slow, NULL };

    (void)state;
    freed = 0;
    rig.options.passes = passes;
    rig_listen(&rig);
    more_ns = NS_PER_S;
    assert_int_equal(whole_run(&rig, NULL, 3.6, &err), 6);
    assert_null(strstr(rig_heard(&rig), "LONG-TURN"));
    rig.turns = 0;
    rig_listen(&rig);
    more_ns = NS_PER_S + NS_PER_MS;
    assert_int_equal(whole_run(&rig, NULL, 3.6, &err), 6);
    assert_non_null(strstr(rig_heard(&rig), "LONG-TURN ms=1101"));
    assert_int_equal(freed, 2);
}

/* Its host is found unusable in turn 11. */
static void condemn_once(struct sweep *sweep, struct pass *pass)
{
    struct rig *r = pass->state;

    if (r->turns == 11)
        host_state_condemn(&sweep->fleet.hosts[0], ERR_NETWORK, "it dreams");
}

static void who_is_found_unusable_is_given_up_in_the_next_turn(void **state)
{
    static const struct pass_ops condemns = { .start = { .choose =
                                                             choose_nothing },
                                              .turn = condemn_once,
                                              .free = free_pass };
    static const struct pass_ops *const passes[] = { &condemns, NULL };

    (void)state;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, whole_run_step_with_host, 0, &err), 3);
    assert_string_equal(err.text, "no host is left: a: it dreams");
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-FAILED' AND "
                                    "text = 'a: it dreams'"),
                     1);
    assert_string_equal(rig_first(&rig, MSG_STOP)->what, "now");
}

/* The rest of the caps is kept from turn 11 on; what is out may end within two
 * seconds. */
static void close_once(struct sweep *sweep, struct pass *pass)
{
    struct rig *r = pass->state;

    if (r->turns != 11)
        return;
    sweep->reactor.closed_ns = r->now_ns;
    sweep->reactor.close_by_ns = r->now_ns + 2 * NS_PER_S;
}

static void
a_closed_sweep_waits_for_what_is_out_until_its_time_is_up(void **state)
{
    static const struct pass_ops closes_it = { .start = { .choose =
                                                              choose_nothing },
                                               .turn = close_once,
                                               .free = free_pass };
    static const struct pass_ops *const passes[] = { &closes_it, NULL };
    int turns;

    (void)state;
    rig.options.passes = passes;
    (void)whole_run(&rig, whole_run_step_with_host, 0, &err);
    turns = rig.turns;
    assert_in_range(turns, 11 + 20, 11 + 20 + 20); /* and its goodbye */
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'budget'"), 1);
    rig_close(&rig);
    rig_open_bare(&rig, 1);
    rig.options.passes = passes;
    (void)whole_run(&rig, whole_run_step, 0, &err); /* nothing is out */
    assert_int_equal(rig.turns, 11 + 1);
}

/* Turn 11 is over before the COMMIT of its row is due.  The disk is full for
 * this COMMIT alone. */
static void put_two(struct sweep *sweep, struct pass *pass)
{
    struct rig *r = pass->state;

    if (r->turns < 10)
        return;
    records_put_event(sweep, "I", "HOST-LOST", "a");
    r->disk_full = r->turns == 11;
}

static void stand_still_once(struct rig *r)
{
    whole_run_step(r);
    if (r->turns == 11)
        r->now_ns -= WHOLE_RUN_STEP_NS;
    r->disk_full = false;
}

static void what_the_last_commit_cannot_keep_ends_it(void **state)
{
    static const struct pass_ops leads = { .start = { .lead = take_the_lead },
                                           .turn = put_two,
                                           .is_over = is_turn_11,
                                           .end.store = end_the_lead,
                                           .free = free_pass };
    static const struct pass_ops *const passes[] = { &leads, NULL };

    (void)state;
    led = 0;
    rig.options.passes = passes;
    assert_int_equal(whole_run(&rig, stand_still_once, 0, &err), 7);
    assert_string_equal(err.text, "the disk is full");
    assert_int_equal(led, 0);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-LOST'"), 1);
}

/* The worker says why it ends, and ends in the same turn. */
static void step_with_last_words(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns != 5)
        return;
    rig_queue(r, 0, (struct msg){ .type = MSG_BYE, .bye.text = "evicted" });
    r->news = (struct host_thread_news){ .event = HOST_THREADS_BROKEN,
                                         .code = ERR_NETWORK,
                                         .text = "its link ended" };
    r->has_news = true;
}

static void last_words_are_heard_before_the_link_ends(void **state)
{
    (void)state;
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, step_with_last_words, 3.6, &err), 6);
    assert_non_null(
        strstr(rig_heard(&rig), "a: its link ended: evicted; trying again"));
}

/* The first GPU comes, and a pass cannot begin with it. */
static int choose_code;

static int fail_to_choose(struct sweep *sweep, struct pass *pass,
                          int64_t passed, struct err *why)
{
    (void)sweep;
    (void)pass;
    (void)passed;
    return err_set(why, choose_code, "it cannot choose");
}

static void who_cannot_begin_ends_the_sweep_with_its_own_code(void **state)
{
    static const struct pass_ops fails = { .start.choose = fail_to_choose };
    static const struct pass_ops *const passes[] = { &fails, NULL };
    static const struct {
        int code, exit_code;
    } rows[] = {
        { ERR_STORE, 7 },
        { ERR_INPUT, 2 },
        { ERR_SYSTEM, 1 },
        /* what is wrong with a message is its host's fault */
        { ERR_PROTO, 3 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        choose_code = rows[i].code;
        rig.options.device = "cuda";
        rig.options.passes = passes;
        assert_int_equal(whole_run(&rig, whole_run_step_with_host, 0, &err),
                         rows[i].exit_code);
        assert_non_null(strstr(err.text, "it cannot choose"));
        tear_down(state);
        set_up(state);
    }
}

/* What came from the network owns its texts, and what a worker runs is kept. */
static void step_with_owner(struct rig *r)
{
    static const char *const runs[] = { "a line" };
    struct msg hello = rig_hello(7);
    const struct msg bye = { .type = MSG_BYE, .bye.text = "evicted" };

    whole_run_step_with_host(r);
    if (r->turns != 5)
        return;
    rig_queue(r, 0, rig_owned(&bye));
    hello.hello.running = (struct texts){ runs, 1 };
    rig_queue(r, 0, hello);
}

/* ASan tells. */
static void what_was_taken_is_freed(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_owner, 3.6, &err), 6);
    assert_int_equal(rig_rows(&rig, "event WHERE name = 'HOST-LOST'"), 1);
}

/* 513 messages come in the second turn. */
static size_t taken_at_once;

static void step_with_many(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns == 2)
        for (int i = 0; i < 513; i++)
            rig_queue(r, 0, (struct msg){ .type = MSG_BEAT });
    if (r->turns == 3)
        taken_at_once = r->n_taken;
}

static void a_turn_takes_512_messages_and_leaves_the_rest(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_many, 3.6, &err), 6);
    assert_int_equal(taken_at_once, 3 + 512);
    assert_int_equal(rig.n_taken, 3 + 513);
}

/* Time stands still from the second turn on, and in each turn the same result
 * comes once more: a row of its own, and one to acknowledge. */
static struct rig_result again;
static int turns_of_commit[3], n_commits;

static void step_and_repeat(struct rig *r)
{
    if (n_commits == 3) {
        r->now_ns += 3600 * NS_PER_S;
        return;
    }
    whole_run_step_with_host(r);
    if (r->turns == 1) {
        r->commits = 0;
        return;
    }
    r->now_ns = RIG_START_NS + 2 * WHOLE_RUN_STEP_NS;
    if (r->turns == 2)
        rig_result_of(rig_first(r, MSG_BUILD), "built", 0, &again);
    if (r->commits > n_commits)
        turns_of_commit[n_commits++] = r->turns;
    r->n_queue = r->n_taken = 0;
    rig_queue(r, 0, again.msg);
}

static void so_many_rows_are_committed_at_once(void **state)
{
    (void)state;
    n_commits = 0;
    assert_int_equal(whole_run(&rig, step_and_repeat, 3600, &err), 6);
    assert_int_equal(2 * (turns_of_commit[2] - turns_of_commit[1]), 256);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_the_process_slept_is_not_blamed_on_hosts),
        CASE(a_turn_of_a_second_is_not_long),
        CASE(a_turn_that_computes_for_long_is_in_the_log),
        CASE(a_wait_is_long_from_a_second_more_on),
        CASE(a_pass_that_leads_ends_it_and_is_no_sweep),
        CASE(a_cap_ends_what_a_lead_has),
        CASE(a_row_alone_is_committed_at_once),
        CASE(the_work_of_a_turn_is_long_from_a_second_on),
        CASE(who_is_found_unusable_is_given_up_in_the_next_turn),
        CASE(a_closed_sweep_waits_for_what_is_out_until_its_time_is_up),
        CASE(what_the_last_commit_cannot_keep_ends_it),
        CASE(last_words_are_heard_before_the_link_ends),
        CASE(who_cannot_begin_ends_the_sweep_with_its_own_code),
        CASE(what_was_taken_is_freed),
        CASE(a_turn_takes_512_messages_and_leaves_the_rest),
        CASE(so_many_rows_are_committed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
