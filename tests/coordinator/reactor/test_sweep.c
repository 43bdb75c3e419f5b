/* Whole runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
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

/* 36 turns, and one to say goodbye. */
static void the_cap_of_hours_ends_it_when_it_is_reached(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, whole_run_step, 3.6, &err), 6);
    assert_string_equal(err.text, "the cap of 0.001 hours is reached");
    assert_int_equal(rig.turns, 37);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'budget'"), 1);
}

static void the_cap_of_hours_counts_earlier_runs(void **state)
{
    (void)state;
    rig.options.caps.hours_before = 0.0005;
    assert_int_equal(whole_run(&rig, whole_run_step, 3.6, &err), 6);
    assert_string_equal(err.text, "the cap of 0.001 hours is reached");
    assert_int_equal(rig.turns, 19);
}

/* What 'resume' and 'status' read of it, also when nothing came of it. */
static void a_run_is_written_down_with_what_was_told(void **state)
{
    (void)state;
    rig.options.hosts_file = "/home/ada/hosts.txt";
    assert_int_equal(whole_run(&rig, whole_run_step, 3.6, &err), 6);
    assert_int_equal(rig_rows(&rig, "run WHERE command = 'sweep' AND pid > 0"),
                     1);
    assert_int_equal(rig_number(&rig, "SELECT epoch FROM run"), rig.epoch);
    assert_int_equal(rig_rows(&rig, "request WHERE file = 'sweep.json' AND "
                                    "hosts_file = '/home/ada/hosts.txt'"),
                     1);
    assert_int_equal(rig_rows(&rig, "sweep"), 1);
}

/* All steps of a command are one owner. */
static void hosts_hear_which_command_it_is(void **state)
{
    static const char command[HASH_HEX] = "0123456789abcdef0123456789abcdef";

    (void)state;
    rig.options.stay.command = command;
    assert_int_equal(whole_run(&rig, whole_run_step, 0.5, &err), 6);
    assert_string_equal(rig.command, command);
    assert_false(rig.rents);
}

static void without_caps_it_goes_on(void **state)
{
    (void)state;
    rig.options.caps.hours_before = 1000;
    rig.options.caps.budget_usd = 0;
    rig.list[0].has_rate = true;
    rig.list[0].rate = 1;
    rig.options.caps.max_hours = 0;
    assert_int_equal(whole_run(&rig, whole_run_step, 0, &err),
                     3); /* nobody comes */
    assert_int_equal(rig.turns, 1201 + 1);
}

static void the_budget_ends_it_when_it_is_spent(void **state)
{
    (void)state;
    rig.list[0].has_rate = true;
    rig.list[0].rate = 3600; /* a dollar a second */
    rig.options.caps.budget_usd = 2;
    assert_int_equal(whole_run(&rig, whole_run_step, 0, &err), 6);
    assert_string_equal(err.text, "the budget of $2 is spent");
    assert_int_equal(rig.turns, 20 + 1);
}

/* The host answers in the next turn: what is built, is built, and is right. */
static void step_with_answers(struct rig *r)
{
    static struct rig_result results[RIG_QUEUE];
    static size_t answered;

    if (r->turns <= 1)
        answered = 0;
    if (r->n_taken == r->n_queue)
        r->n_taken = r->n_queue = 0;
    whole_run_step_with_host(r);
    for (; answered < r->n_sent; answered++) {
        const struct rig_sent *sent = &r->sent[answered];
        struct rig_result *result = &results[r->n_queue];

        if (sent->type != MSG_BUILD && sent->type != MSG_MEASURE)
            continue;
        rig_result_of(sent, sent->type == MSG_BUILD ? "built" : "correct", 1e-3,
                      result);
        result->msg.epoch = r->epoch;
        rig_queue(r, 0, result->msg);
    }
}

/* Two configurations are correct after some turns; then the rest of 3.6 s is
 * what the confirmation takes. */
static void what_a_confirmation_takes_is_kept_back(void **state)
{
    const struct reserve_pass reserve = {
        .contestants = 2, .shapes = 1, .blocks = 10, .gpus = 1
    };
    bool held_back = false;

    (void)state;
    rig.options.caps.reserve = &reserve;
    rig.options.caps.held_back = &held_back;
    assert_int_equal(whole_run(&rig, step_with_answers, 3.6, &err), 0);
    assert_true(held_back);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'budget'"), 1);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correct'"), 2);
}

/* Forty contestants take far longer than 3.6 s, and two do not. */
static void a_cap_that_pays_for_two_ends_with_them(void **state)
{
    const struct reserve_pass reserve = {
        .contestants = 40, .shapes = 1, .blocks = 10, .gpus = 1
    };
    bool held_back = false;

    (void)state;
    rig.options.caps.reserve = &reserve;
    rig.options.caps.held_back = &held_back;
    assert_int_equal(whole_run(&rig, step_with_answers, 3.6, &err), 0);
    assert_true(held_back);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'budget'"), 1);
}

/* So many blocks of two take longer, too. */
static void a_cap_that_pays_for_none_is_said_before_it_is_used_up(void **state)
{
    const struct reserve_pass reserve = {
        .contestants = 2, .shapes = 1, .blocks = 1000, .gpus = 1
    };
    bool held_back = false;
    const char *said;

    (void)state;
    rig.options.watch.quiet = false;
    rig.options.caps.reserve = &reserve;
    rig.options.caps.held_back = &held_back;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, step_with_answers, 3.6, &err), 0);
    assert_false(held_back);
    said = strstr(rig_heard(&rig), "too little to confirm even one "
                                   "configuration");
    assert_non_null(said);
    assert_null(strstr(said + 1, "too little to confirm"));
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correct'"), 30);
}

static void without_a_confirmation_nothing_is_kept_back(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_answers, 3.6, &err), 0);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'done'"), 1);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correct'"), 30);
}

/* Heard at 0.1 s for the last time. */
static void a_silent_host_is_suspect_after_15_s_and_lost_after_30(void **state)
{
    const char *heard;

    (void)state;
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, whole_run_step_with_host, 36, &err), 6);
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "HOST-SILENT host=a ms=15100"));
    assert_null(strstr(strstr(heard, "HOST-SILENT") + 1, "HOST-SILENT"));
    assert_non_null(strstr(heard, "a: silent for 30 s; its work goes to "
                                  "others"));
    assert_int_equal(rig_number(&rig, "SELECT at_utc / 1000000 FROM event "
                                      "WHERE name = 'HOST-LOST'"),
                     1000000 + 100 + 30100);
    assert_int_equal(rig.reconnected[0], 1);
    assert_int_equal(rig.reconnected_ns,
                     RIG_START_NS + 302 * WHOLE_RUN_STEP_NS);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'lost'"), 2);
}

/* What is sent to it does not arrive, so it greets again and again. */
static void step_with_hellos(struct rig *r)
{
    whole_run_step(r);
    r->n_queue = r->n_taken = 0;
    rig_queue(r, 0, rig_hello(7));
    if (r->turns == 1)
        r->news = (struct host_thread_news){ .event = HOST_THREADS_ATTACHED };
    r->has_news = r->turns == 1;
}

static void who_says_only_hello_is_connected_again_after_30_s(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_hellos, 36, &err), 6);
    assert_int_equal(rig.reconnected[0], 1);
    assert_int_equal(rig.reconnected_ns,
                     RIG_START_NS + 302 * WHOLE_RUN_STEP_NS);
}

/* It is there, and its two builds never end. */
static void step_with_beats(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns % 10 == 0) {
        r->n_queue = r->n_taken = 0;
        rig_queue(r, 0, (struct msg){ .type = MSG_BEAT });
    }
}

static void a_lease_expires_at_its_deadline(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_beats, 340, &err), 6);
    assert_int_equal(rig_number(&rig, "SELECT min(at_utc) / 1000000 FROM event "
                                      "WHERE name = 'LEASE-EXPIRED'"),
                     1000000 + 100 + 330000 + 100);
    assert_int_equal(rig.closed, 1);
}

/* The process sleeps for 20 s, once; its worker works on, and so much later
 * its result may come. */
static void step_with_beats_and_sleep(struct rig *r)
{
    step_with_beats(r);
    if (r->turns > 10)
        r->now_ns += 20 * NS_PER_S;
}

static void a_lease_expires_later_by_what_the_process_slept(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_beats_and_sleep, 360, &err), 6);
    assert_int_equal(rig_number(&rig, "SELECT min(at_utc) / 1000000 FROM event "
                                      "WHERE name = 'LEASE-EXPIRED'"),
                     1000000 + 100 + 330000 + 100 + 20100);
}

static void what_was_never_ready_is_not_silent(void **state)
{
    (void)state;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, whole_run_step, 36, &err), 6);
    assert_null(strstr(rig_heard(&rig), "HOST-SILENT"));
    assert_int_equal(rig.reconnected[0], 0);
}

static void a_beat_goes_out_every_5_s(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, whole_run_step_with_host, 15.3, &err), 6);
    assert_int_equal(rig_count(&rig, MSG_BEAT), 4); /* 0.1, 5.1 ... 15.1 s */
}

/* The first turn ends at 0.1 s. */
static int64_t written_ms;

static void step_and_read_hours(struct rig *r)
{
    whole_run_step(r);
    if (r->turns == 12)
        written_ms = rig_number(r, "SELECT (end_ns - start_ns) / 1000000 FROM "
                                   "interval WHERE category = 'acquiring'");
}

static void the_hours_of_a_host_are_written_each_second(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_and_read_hours, 3.6, &err), 6);
    assert_int_equal(written_ms, 1100);
}

/* Nothing was done that could be told. */
static void where_nothing_is_settled_there_is_no_last_line(void **state)
{
    (void)state;
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, whole_run_step, 3.6, &err), 6);
    assert_null(strstr(rig_heard(&rig), " tried "));
}

static void a_message_against_the_protocol_ends_its_host(void **state)
{
    (void)state;
    rig_queue(&rig, 0, (struct msg){ .type = MSG_WELCOME });
    assert_int_equal(whole_run(&rig, whole_run_step, 0, &err), 3);
    assert_string_equal(err.text, "no usable host: a: it broke the protocol: "
                                  "WELCOME is not a worker's message");
    assert_int_equal(rig.dismissed[0], 1); /* it had not said HELLO */
    assert_int_equal(rig.turns, 1 + 1);
}

static void what_cannot_be_committed_ends_it(void **state)
{
    (void)state;
    rig.disk_full = true;
    assert_int_equal(whole_run(&rig, whole_run_step, 0, &err), 7);
    assert_string_equal(err.text, "the disk is full");
    assert_int_equal(rig.turns, 0);
}

static void fill_the_disk(struct rig *r)
{
    whole_run_step_with_host(r);
    r->disk_full = r->turns == 5;
}

static void a_disk_that_fills_up_ends_it(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, fill_the_disk, 36, &err),
                     6); /* nothing was to be kept */
    rig_close(&rig);
    rig_open_bare(&rig, 1);
    rig.turns = 4; /* in the turn in which the host comes and gets leases */
    assert_int_equal(whole_run(&rig, fill_the_disk, 36, &err), 7);
    assert_string_equal(err.text, "the disk is full");
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

static void it_is_done_when_all_is_measured(void **state)
{
    (void)state;
    n_answered = 0;
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
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
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
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
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
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
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
    assert_non_null(strstr(rig_heard(&rig), "30/30 tried  30 correct"));
}

/* Only a run that ends well has a next step. */
static void a_run_with_a_next_step_keeps_its_hosts(void **state)
{
    (void)state;
    n_answered = 0;
    rig.options.stay.more_follows = true;
    assert_int_equal(whole_run(&rig, whole_run_step_with_host, 3.6, &err), 6);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "now");
    rig_close(&rig);
    rig_open_bare(&rig, 1);
    n_answered = 0;
    rig.options.stay.more_follows = true;
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "next");
}

/* Nothing comes from a host; nothing was connected. */
static void run_again_without_hosts(int code)
{
    rig.epoch = 0;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, whole_run_step, 3.6, &err), code);
}

/* The plan depends on the facts of its GPU, which an earlier run has stored. */
static void a_finished_sweep_on_a_gpu_connects_to_no_host(void **state)
{
    (void)state;
    n_answered = 0;
    rig.options.device = "cuda";
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
    assert_int_equal(rig_rows(&rig, "outcome WHERE outcome = 'correct'"), 60);
    rig.options.watch.quiet = false;
    run_again_without_hosts(0);
    assert_non_null(strstr(rig_heard(&rig), "60 of 60 measurements are stored "
                                            "already"));
    assert_non_null(strstr(rig_heard(&rig), "nothing is left to do: no host "
                                            "is used"));
    assert_int_equal(rig.epoch, 0);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'done'"), 2);
    assert_int_equal(rig_rows(&rig, "sweep WHERE arch = 'sm_89'"), 1);
}

/* What was looked at to find out leaves no trace. */
static void an_unfinished_sweep_on_a_gpu_waits_for_its_host(void **state)
{
    (void)state;
    n_answered = 0;
    rig.options.device = "cuda";
    assert_int_equal(whole_run(&rig, step_and_answer, 1, &err), 6);
    assert_true(rig_rows(&rig, "outcome") < 60);
    rig.options.watch.quiet = false;
    run_again_without_hosts(6);
    assert_int_equal(rig.epoch, rig_number(&rig, "SELECT max(epoch) FROM run"));
    assert_null(strstr(rig_heard(&rig), "already"));
    assert_int_equal(rig_rows(&rig, "run"), 2);
}

/* Nothing is left to do, so the second run ends, too. */
static void a_run_with_a_wrong_belief_is_followed_by_another(void **state)
{
    bool refuted = true;

    (void)state;
    n_answered = 0;
    assert_int_equal(whole_run(&rig, step_and_answer, 0, &err), 0);
    assert_int_equal(sweep_run(rig.sweep.work.spec, &rig.hosts,
                               rig.sweep.mail.store, &rig.options, &err),
                     0);
    assert_int_equal(rig_rows(&rig, "run"), 1 + 1);
    rig.options.stay.rental.refuted = &refuted;
    assert_int_equal(sweep_run(rig.sweep.work.spec, &rig.hosts,
                               rig.sweep.mail.store, &rig.options, &err),
                     0);
    assert_int_equal(rig_rows(&rig, "run"), 1 + 1 + 2);
}

static int forget_outcomes(struct sweep *sweep, struct pass *pass,
                           struct err *why)
{
    (void)pass;
    return sql_run(store_db(sweep->mail.store), "DELETE FROM outcome", why);
}

static int choose_nothing(struct sweep *sweep, struct pass *pass,
                          int64_t passed, struct err *why)
{
    (void)sweep;
    (void)passed;
    (void)why;
    pass->state = &rig;
    return 0;
}

static void free_nothing(struct pass *pass)
{
    (void)pass;
}

/* The plan that is made only to find out whether something is left. */
static void what_a_pass_changes_to_find_out_is_dropped(void **state)
{
    static const struct pass_ops forgets = {
        .start = { .choose = choose_nothing, .begin = forget_outcomes },
        .free = free_nothing
    };
    static const struct pass_ops *const passes[] = { &forgets, NULL };
    int64_t rows;

    (void)state;
    n_answered = 0;
    rig.options.device = "cuda";
    assert_int_equal(whole_run(&rig, step_and_answer, 1, &err), 6);
    rows = rig_rows(&rig, "outcome");
    assert_true(rows > 0);
    rig.options.passes = passes;
    run_again_without_hosts(6);
    assert_int_equal(rig_rows(&rig, "outcome"), rows);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_cap_of_hours_ends_it_when_it_is_reached),
        CASE(the_cap_of_hours_counts_earlier_runs),
        CASE(a_run_is_written_down_with_what_was_told),
        CASE(hosts_hear_which_command_it_is),
        CASE(without_caps_it_goes_on),
        CASE(the_budget_ends_it_when_it_is_spent),
        CASE(what_a_confirmation_takes_is_kept_back),
        CASE(a_cap_that_pays_for_two_ends_with_them),
        CASE(a_cap_that_pays_for_none_is_said_before_it_is_used_up),
        CASE(without_a_confirmation_nothing_is_kept_back),
        CASE(a_silent_host_is_suspect_after_15_s_and_lost_after_30),
        CASE(who_says_only_hello_is_connected_again_after_30_s),
        CASE(a_lease_expires_at_its_deadline),
        CASE(a_lease_expires_later_by_what_the_process_slept),
        CASE(what_was_never_ready_is_not_silent),
        CASE(a_beat_goes_out_every_5_s),
        CASE(the_hours_of_a_host_are_written_each_second),
        CASE(where_nothing_is_settled_there_is_no_last_line),
        CASE(a_message_against_the_protocol_ends_its_host),
        CASE(what_cannot_be_committed_ends_it),
        CASE(a_disk_that_fills_up_ends_it),
        CASE(it_is_done_when_all_is_measured),
        CASE(builds_alone_need_no_reference_and_no_measurement),
        CASE(a_cover_is_built_with_the_baseline),
        CASE(the_last_line_says_what_was_done),
        CASE(a_run_with_a_next_step_keeps_its_hosts),
        CASE(a_finished_sweep_on_a_gpu_connects_to_no_host),
        CASE(a_run_with_a_wrong_belief_is_followed_by_another),
        CASE(what_a_pass_changes_to_find_out_is_dropped),
        CASE(an_unfinished_sweep_on_a_gpu_waits_for_its_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
