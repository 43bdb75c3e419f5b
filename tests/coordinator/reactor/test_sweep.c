/* Whole runs, in which time goes by in steps of 100 ms. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/state/records.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define STEP_NS (100 * NS_PER_MS)

static struct rig rig;
static struct err err;

/* Every turn lasts 100 ms, also one that waits for its COMMIT. */
static void step(struct rig *r)
{
    r->now_ns = RIG_START_NS + r->turns * STEP_NS;
}

/* Host a is there in the first turn, with a slot and a GPU. */
static void step_with_host(struct rig *r)
{
    step(r);
    if (r->turns != 1)
        return;
    r->news = (struct host_thread_news){ .event = HOST_THREADS_ATTACHED };
    r->has_news = true;
    rig_queue(r, 0, rig_hello(7));
    rig_queue(r, 0, rig_gpu("GPU-0"));
    rig_queue(r, 0, rig_is_ready());
}

static int run(void (*turn)(struct rig *), double seconds)
{
    const struct sweep_io io = rig_io(&rig);

    rig.turn = turn;
    rig.options.caps.max_hours = seconds / 3600;
    err = (struct err){ "" };
    return sweep_run_with(&io, rig.sweep.work.spec, &rig.hosts,
                          rig.sweep.mail.store, &rig.options, &err);
}

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

/* 36 turns, and one to say goodbye. */
static void the_cap_of_hours_ends_it_when_it_is_reached(void **state)
{
    (void)state;
    assert_int_equal(run(step, 3.6), 6);
    assert_string_equal(err.text, "the cap of 0.001 hours is reached");
    assert_int_equal(rig.turns, 37);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'budget'"), 1);
}

/* What 'resume' and 'status' read of it, also when nothing came of it. */
static void a_run_is_written_down_with_what_was_told(void **state)
{
    (void)state;
    rig.options.hosts_file = "/home/ada/hosts.txt";
    assert_int_equal(run(step, 3.6), 6);
    assert_int_equal(rig_rows(&rig, "run WHERE command = 'sweep' AND pid > 0"),
                     1);
    assert_int_equal(rig_number(&rig, "SELECT epoch FROM run"), rig.epoch);
    assert_int_equal(rig_rows(&rig, "request WHERE file = 'sweep.json' AND "
                                    "hosts_file = '/home/ada/hosts.txt'"),
                     1);
    assert_int_equal(rig_rows(&rig, "sweep"), 1);
}

static void without_caps_it_goes_on(void **state)
{
    (void)state;
    rig.options.caps.hours_before = 1000;
    rig.options.caps.budget_usd = 0;
    rig.list[0].has_rate = true;
    rig.list[0].rate = 1;
    rig.options.caps.max_hours = 0;
    assert_int_equal(run(step, 0), 3); /* nobody comes */
    assert_int_equal(rig.turns, 1201 + 1);
}

static void the_budget_ends_it_when_it_is_spent(void **state)
{
    (void)state;
    rig.list[0].has_rate = true;
    rig.list[0].rate = 3600; /* a dollar a second */
    rig.options.caps.budget_usd = 2;
    assert_int_equal(run(step, 0), 6);
    assert_string_equal(err.text, "the budget of $2 is spent");
    assert_int_equal(rig.turns, 20 + 1);
}

/* Heard at 0.1 s for the last time. */
static void a_silent_host_is_suspect_after_15_s_and_lost_after_30(void **state)
{
    const char *heard;

    (void)state;
    rig.options.quiet = false;
    rig_listen(&rig);
    assert_int_equal(run(step_with_host, 36), 6);
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "HOST-SILENT host=a ms=15100"));
    assert_null(strstr(strstr(heard, "HOST-SILENT") + 1, "HOST-SILENT"));
    assert_non_null(strstr(heard, "a: silent for 30 s; its work goes to "
                                  "others"));
    assert_int_equal(rig_number(&rig, "SELECT at_utc / 1000000 FROM event "
                                      "WHERE name = 'HOST-LOST'"),
                     1000000 + 100 + 30100);
    assert_int_equal(rig.reconnected[0], 1);
    assert_int_equal(rig.reconnected_ns, RIG_START_NS + 302 * STEP_NS);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 2);
}

/* What is sent to it does not arrive, so it greets again and again. */
static void step_with_hellos(struct rig *r)
{
    step(r);
    r->n_queue = r->n_taken = 0;
    rig_queue(r, 0, rig_hello(7));
    if (r->turns == 1)
        r->news = (struct host_thread_news){ .event = HOST_THREADS_ATTACHED };
    r->has_news = r->turns == 1;
}

static void who_says_only_hello_is_connected_again_after_30_s(void **state)
{
    (void)state;
    assert_int_equal(run(step_with_hellos, 36), 6);
    assert_int_equal(rig.reconnected[0], 1);
    assert_int_equal(rig.reconnected_ns, RIG_START_NS + 302 * STEP_NS);
}

/* It is there, and its two builds never end. */
static void step_with_beats(struct rig *r)
{
    step_with_host(r);
    if (r->turns % 10 == 0) {
        r->n_queue = r->n_taken = 0;
        rig_queue(r, 0, (struct msg){ .type = MSG_BEAT });
    }
}

static void a_lease_expires_at_its_deadline(void **state)
{
    (void)state;
    assert_int_equal(run(step_with_beats, 340), 6);
    assert_int_equal(rig_number(&rig, "SELECT min(at_utc) / 1000000 FROM event "
                                      "WHERE name = 'LEASE-EXPIRED'"),
                     1000000 + 100 + 330000 + 100);
    assert_int_equal(rig.closed, 1);
}

static void what_was_never_ready_is_not_silent(void **state)
{
    (void)state;
    rig_listen(&rig);
    assert_int_equal(run(step, 36), 6);
    assert_null(strstr(rig_heard(&rig), "HOST-SILENT"));
    assert_int_equal(rig.reconnected[0], 0);
}

static void a_beat_goes_out_every_5_s(void **state)
{
    (void)state;
    assert_int_equal(run(step_with_host, 15.3), 6);
    assert_int_equal(rig_count(&rig, MSG_BEAT), 4); /* 0.1, 5.1 ... 15.1 s */
}

static void step_with_signal(struct rig *r)
{
    step_with_host(r);
    if (r->turns == 10)
        (void)raise(SIGTERM);
}

/* Two builds are out and nobody answers. */
static void one_signal_lets_what_runs_finish_for_15_s(void **state)
{
    (void)state;
    assert_int_equal(run(step_with_signal, 0), 128 + SIGTERM);
    assert_int_equal(rig_count(&rig, MSG_STOP), 2);
    assert_string_equal(rig_first(&rig, MSG_STOP)->what, "drain");
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "now");
    assert_int_equal(rig.turns, 10 + 151 + 20);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'interrupted'"), 1);
}

static void step_with_two_signals(struct rig *r)
{
    step_with_signal(r);
    if (r->turns == 20)
        (void)raise(SIGINT);
}

static void a_second_signal_waits_for_2_s(void **state)
{
    const char *first, *second;

    (void)state;
    rig.options.quiet = false;
    rig_listen(&rig);
    assert_int_equal(run(step_with_two_signals, 0), 128 + SIGINT);
    assert_int_equal(rig.turns, 20 + 21 + 20);
    first = strstr(rig_heard(&rig), "stopping: finishing what runs; again");
    assert_non_null(first);
    second = strstr(first, "stopping at once");
    assert_non_null(second);
    assert_null(strstr(second + 1, "stopping"));
    assert_int_equal(rig_count(&rig, MSG_STOP), 3);
}

static void step_with_signal_alone(struct rig *r)
{
    step(r);
    if (r->turns == 10)
        (void)raise(SIGHUP);
}

static void a_signal_ends_it_at_once_where_nothing_runs(void **state)
{
    (void)state;
    assert_int_equal(run(step_with_signal_alone, 0), 128 + SIGHUP);
    assert_int_equal(rig.turns, 10 + 1);
    assert_int_equal(rig_count(&rig, MSG_STOP), 0); /* nobody is there */
}

/* The process sleeps for 20 s, once. */
static void sleep_long(struct rig *r)
{
    step_with_host(r);
    if (r->turns > 10)
        r->now_ns += 20 * NS_PER_S;
}

static void what_the_process_slept_is_not_blamed_on_hosts(void **state)
{
    const char *heard;

    (void)state;
    rig_listen(&rig);
    assert_int_equal(run(sleep_long, 40), 6);
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "LONG-TURN ms=20100"));
    assert_non_null(strstr(heard, "HOST-SILENT host=a ms=15100"));
}

/* A turn of exactly a second more than its wait is not long. */
static void sleep_a_second(struct rig *r)
{
    step_with_host(r);
    if (r->turns > 10)
        r->now_ns += 900 * NS_PER_MS;
}

static void a_turn_of_a_second_is_not_long(void **state)
{
    (void)state;
    rig_listen(&rig);
    assert_int_equal(run(sleep_a_second, 10), 6);
    assert_null(strstr(rig_heard(&rig), "LONG-TURN"));
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
    assert_int_equal(run(sleep_once, 3.6), 6);
    assert_null(strstr(rig_heard(&rig), "LONG-TURN"));
    rig.turns = 0;
    rig_listen(&rig);
    more_ns = NS_PER_S + NS_PER_MS;
    assert_int_equal(run(sleep_once, 3.6), 6);
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
                                           .end = end_the_lead,
                                           .free = free_pass };
    static const struct pass_ops *const passes[] = { &leads, NULL };

    (void)state;
    led = 0;
    rig.options.passes = passes;
    assert_int_equal(run(step, 0), 1); /* nothing was correct */
    assert_int_equal(rig.turns, 11 + 1);
    assert_int_equal(led, 1);
    assert_int_equal(rig_rows(&rig, "sweep"), 0);
    rig.turns = 0;
    rig.now_ns = RIG_START_NS;
    assert_int_equal(run(step, 0.5), 6); /* it cannot end what it led */
    assert_int_equal(led, 1);
}

/* A row that comes in turn 11 is committed in the next, which is 20 ms
 * later. */
static int commits_before;

static void put_once(struct sweep *sweep, struct pass *pass)
{
    struct rig *r = pass->state;

    if (r->turns == 11)
        records_put_event(sweep, "I", "HOST-LOST", "a");
    if (r->turns == 12)
        commits_before = r->commits;
    if (r->turns == 13)
        assert_int_equal(r->commits, commits_before + 1);
}

static void a_row_is_committed_after_20_ms(void **state)
{
    static const struct pass_ops puts = { .start = { .choose = choose_nothing },
                                          .turn = put_once,
                                          .free = free_pass };
    static const struct pass_ops *const passes[] = { &puts, NULL };

    (void)state;
    rig.options.passes = passes;
    assert_int_equal(run(NULL, 3.6), 6);
    assert_true(rig.turns > 13);
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
    assert_int_equal(run(NULL, 3.6), 6);
    assert_null(strstr(rig_heard(&rig), "LONG-TURN"));
    rig.turns = 0;
    rig_listen(&rig);
    more_ns = NS_PER_S + NS_PER_MS;
    assert_int_equal(run(NULL, 3.6), 6);
    assert_non_null(strstr(rig_heard(&rig), "LONG-TURN ms=1101"));
    assert_int_equal(freed, 2);
}

/* 513 messages come in the second turn. */
static size_t taken_at_once;

static void step_with_many(struct rig *r)
{
    step_with_host(r);
    if (r->turns == 2)
        for (int i = 0; i < 513; i++)
            rig_queue(r, 0, (struct msg){ .type = MSG_BEAT });
    if (r->turns == 3)
        taken_at_once = r->n_taken;
}

static void a_turn_takes_512_messages_and_leaves_the_rest(void **state)
{
    (void)state;
    assert_int_equal(run(step_with_many, 3.6), 6);
    assert_int_equal(taken_at_once, 3 + 512);
    assert_int_equal(rig.n_taken, 3 + 513);
}

/* The first turn ends at 0.1 s. */
static int64_t written_ms;

static void step_and_read_hours(struct rig *r)
{
    step(r);
    if (r->turns == 12)
        written_ms = rig_number(r, "SELECT (end_ns - start_ns) / 1000000 FROM "
                                   "interval WHERE category = 'acquiring'");
}

static void the_hours_of_a_host_are_written_each_second(void **state)
{
    (void)state;
    assert_int_equal(run(step_and_read_hours, 3.6), 6);
    assert_int_equal(written_ms, 1100);
}

/* Nothing was done that could be told. */
static void where_nothing_is_settled_there_is_no_last_line(void **state)
{
    (void)state;
    rig.options.quiet = false;
    rig_listen(&rig);
    assert_int_equal(run(step, 3.6), 6);
    assert_null(strstr(rig_heard(&rig), "measured"));
}

/* The last host that says BYE is the last that is waited for. */
static void step_with_goodbye(struct rig *r)
{
    step_with_host(r);
    if (r->turns == 20)
        (void)raise(SIGINT);
    if (r->turns == 22)
        (void)raise(SIGINT);
    if (r->turns == 22 + 21 + 5)
        rig_queue(r, 0, (struct msg){ .type = MSG_BEAT });
    if (r->turns == 22 + 21 + 10)
        rig_queue(r, 0, (struct msg){ .type = MSG_BYE, .bye.text = "" });
}

static void who_says_goodbye_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(run(step_with_goodbye, 0), 128 + SIGINT);
    assert_int_equal(rig.turns, 22 + 21 + 10);
}

static void a_message_against_the_protocol_ends_its_host(void **state)
{
    (void)state;
    rig_queue(&rig, 0, (struct msg){ .type = MSG_WELCOME });
    assert_int_equal(run(step, 0), 3);
    assert_string_equal(err.text, "no usable host: a: it broke the protocol: "
                                  "WELCOME is not a worker's message");
    assert_int_equal(rig.dismissed[0], 1);
    assert_int_equal(rig.turns, 1 + 1);
}

static void what_cannot_be_committed_ends_it(void **state)
{
    (void)state;
    rig.disk_full = true;
    assert_int_equal(run(step, 0), 7);
    assert_string_equal(err.text, "the disk is full");
    assert_int_equal(rig.turns, 0);
}

static void fill_the_disk(struct rig *r)
{
    step_with_host(r);
    r->disk_full = r->turns == 5;
}

static void a_disk_that_fills_up_ends_it(void **state)
{
    (void)state;
    assert_int_equal(run(fill_the_disk, 36), 6); /* nothing was to be kept */
    rig_close(&rig);
    rig_open_bare(&rig, 1);
    rig.turns = 4; /* in the turn in which the host comes and gets leases */
    assert_int_equal(run(fill_the_disk, 36), 7);
    assert_string_equal(err.text, "the disk is full");
}

/* Descriptor 0 is one like another. */
static void the_descriptor_of_its_signals_is_closed(void **state)
{
    int in = dup(STDIN_FILENO);

    (void)state;
    close(STDIN_FILENO);
    assert_int_equal(run(step_with_signal_alone, 0), 128 + SIGHUP);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    (void)dup2(in, STDIN_FILENO);
    close(in);
}

/* All that host a was sent is done in the next turn. */
static struct rig_result results[RIG_QUEUE];
static size_t n_answered;

static void step_and_answer(struct rig *r)
{
    step_with_host(r);
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
    step_with_host(r);
    if (r->turns == 1) {
        r->commits = 0;
        return;
    }
    r->now_ns = RIG_START_NS + 2 * STEP_NS;
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
    assert_int_equal(run(step_and_repeat, 3600), 6);
    assert_int_equal(2 * (turns_of_commit[2] - turns_of_commit[1]), 256);
}

static void it_is_done_when_all_is_measured(void **state)
{
    (void)state;
    n_answered = 0;
    assert_int_equal(run(step_and_answer, 0), 0);
    assert_string_equal(err.text, "");
    assert_int_equal(rig_count(&rig, MSG_BUILD), 31);
    assert_int_equal(rig_count(&rig, MSG_MEASURE), 30);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correct'"), 30);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'done'"), 61);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'done'"), 1);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "now");
    assert_int_equal(rig_rows(&rig, "interval WHERE category = 'idle'") > 0, 1);
}

static void builds_alone_need_no_reference_and_no_measurement(void **state)
{
    (void)state;
    n_answered = 0;
    rig.options.builds_only = true;
    assert_int_equal(run(step_and_answer, 0), 0);
    assert_string_equal(err.text, "");
    assert_int_equal(rig_count(&rig, MSG_BUILD), 30);
    assert_int_equal(rig_count(&rig, MSG_MEASURE), 0);
    assert_int_equal(rig_rows(&rig, "lease WHERE purpose = 'kernel'"), 30);
}

/* Each of 5 block sizes with each of 4 numbers of items, and the baseline is
 * one of these. */
static void a_cover_is_built_with_the_baseline(void **state)
{
    (void)state;
    n_answered = 0;
    rig.options.builds_only = rig.options.cover = true;
    rig.options.quiet = false;
    rig_listen(&rig);
    assert_int_equal(run(step_and_answer, 0), 0);
    assert_non_null(strstr(rig_heard(&rig), "20/20 built  0 failed"));
    assert_int_equal(rig_count(&rig, MSG_BUILD), 20);
    assert_int_equal(
        rig_rows(&rig, "lease JOIN config ON key = config WHERE baseline = 1"),
        1);
}

/* What is left is told to whoever is at the terminal. */
static void the_last_line_says_what_was_done(void **state)
{
    (void)state;
    n_answered = 0;
    rig.options.quiet = false;
    rig_listen(&rig);
    assert_int_equal(run(step_and_answer, 0), 0);
    assert_non_null(strstr(rig_heard(&rig), "30/30 measured  30 correct"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_cap_of_hours_ends_it_when_it_is_reached),
        CASE(a_run_is_written_down_with_what_was_told),
        CASE(without_caps_it_goes_on),
        CASE(the_budget_ends_it_when_it_is_spent),
        CASE(a_silent_host_is_suspect_after_15_s_and_lost_after_30),
        CASE(who_says_only_hello_is_connected_again_after_30_s),
        CASE(a_lease_expires_at_its_deadline),
        CASE(what_was_never_ready_is_not_silent),
        CASE(a_beat_goes_out_every_5_s),
        CASE(one_signal_lets_what_runs_finish_for_15_s),
        CASE(a_second_signal_waits_for_2_s),
        CASE(a_signal_ends_it_at_once_where_nothing_runs),
        CASE(what_the_process_slept_is_not_blamed_on_hosts),
        CASE(a_turn_of_a_second_is_not_long),
        CASE(a_wait_is_long_from_a_second_more_on),
        CASE(a_pass_that_leads_ends_it_and_is_no_sweep),
        CASE(a_row_is_committed_after_20_ms),
        CASE(the_work_of_a_turn_is_long_from_a_second_on),
        CASE(a_turn_takes_512_messages_and_leaves_the_rest),
        CASE(the_hours_of_a_host_are_written_each_second),
        CASE(where_nothing_is_settled_there_is_no_last_line),
        CASE(who_says_goodbye_is_not_waited_for),
        CASE(a_message_against_the_protocol_ends_its_host),
        CASE(what_cannot_be_committed_ends_it),
        CASE(a_disk_that_fills_up_ends_it),
        CASE(the_descriptor_of_its_signals_is_closed),
        CASE(so_many_rows_are_committed_at_once),
        CASE(it_is_done_when_all_is_measured),
        CASE(builds_alone_need_no_reference_and_no_measurement),
        CASE(a_cover_is_built_with_the_baseline),
        CASE(the_last_line_says_what_was_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
