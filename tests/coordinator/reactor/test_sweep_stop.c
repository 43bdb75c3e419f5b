/* Whole runs that a signal ends. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
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

static void step_with_signal(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns == 10)
        (void)raise(SIGTERM);
}

/* Two builds are out and nobody answers. */
static void one_signal_lets_what_runs_finish_for_15_s(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_signal, 0, &err), 128 + SIGTERM);
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
    rig.options.watch.quiet = false;
    rig_listen(&rig);
    assert_int_equal(whole_run(&rig, step_with_two_signals, 0, &err),
                     128 + SIGINT);
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
    whole_run_step(r);
    if (r->turns == 10)
        (void)raise(SIGHUP);
}

static void a_signal_ends_it_at_once_where_nothing_runs(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_signal_alone, 0, &err),
                     128 + SIGHUP);
    assert_int_equal(rig.turns, 10 + 1);
    assert_int_equal(rig_count(&rig, MSG_STOP), 0); /* nobody is there */
}

/* What came from the network owns its texts: ASan tells. */
static struct msg goodbye(void)
{
    const struct msg bye = { .type = MSG_BYE, .bye.text = "it stops" };

    return rig_owned(&bye);
}

/* The last host that says BYE is the last that is waited for. */
static void step_with_goodbye(struct rig *r)
{
    whole_run_step_with_host(r);
    if (r->turns == 20)
        (void)raise(SIGINT);
    if (r->turns == 22)
        (void)raise(SIGINT);
    if (r->turns == 22 + 21 + 5)
        rig_queue(r, 0, (struct msg){ .type = MSG_BEAT });
    if (r->turns == 22 + 21 + 10)
        rig_queue(r, 0, goodbye());
}

static void who_says_goodbye_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(whole_run(&rig, step_with_goodbye, 0, &err), 128 + SIGINT);
    assert_int_equal(rig.turns, 22 + 21 + 10);
}

/* Descriptor 0 is one like another. */
/* Its worker ends without a word, in this turn. */
static int breaks_at;

static void step_with_break(struct rig *r)
{
    step_with_two_signals(r);
    if (r->turns == breaks_at) {
        r->news = (struct host_thread_news){ .event = HOST_THREADS_BROKEN };
        r->has_news = true;
    }
}

/* A new connection would start a worker, which nothing would end. */
static void who_has_ended_is_not_connected_again(void **state)
{
    (void)state;
    breaks_at = 41; /* the last turn before it is dismissed */
    assert_int_equal(whole_run(&rig, step_with_break, 0, &err), 128 + SIGINT);
    assert_int_equal(rig.turns, 41 + 1);
    assert_int_equal(rig.dismissed[0], 1);
    rig_close(&rig);
    rig_open_bare(&rig, 1);
    breaks_at = 43;
    assert_int_equal(whole_run(&rig, step_with_break, 0, &err), 128 + SIGINT);
    assert_int_equal(rig.turns, 43);
    assert_int_equal(rig.dismissed[0], 1);
}

static void the_descriptor_of_its_signals_is_closed(void **state)
{
    int in = dup(STDIN_FILENO);

    (void)state;
    close(STDIN_FILENO);
    assert_int_equal(whole_run(&rig, step_with_signal_alone, 0, &err),
                     128 + SIGHUP);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    (void)dup2(in, STDIN_FILENO);
    close(in);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_signal_lets_what_runs_finish_for_15_s),
        CASE(a_second_signal_waits_for_2_s),
        CASE(a_signal_ends_it_at_once_where_nothing_runs),
        CASE(who_says_goodbye_is_not_waited_for),
        CASE(who_has_ended_is_not_connected_again),
        CASE(the_descriptor_of_its_signals_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
