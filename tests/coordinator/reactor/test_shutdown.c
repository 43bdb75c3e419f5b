/* How a sweep ends: its exit code, its rows, and who is told. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/reactor/shutdown.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
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

static void errors_have_their_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(ERR_INPUT), 2);
    assert_int_equal(exit_code_of(ERR_NETWORK), 3);
    assert_int_equal(exit_code_of(ERR_AUTH), 4);
    assert_int_equal(exit_code_of(ERR_STORE), 7);
    assert_int_equal(exit_code_of(ERR_SYSTEM), 1);
}

static void a_sweep_without_a_correct_configuration_has_no_winner(void **state)
{
    (void)state;
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 1);
    assert_string_equal(err.text,
                        "all is settled and no configuration is correct; "
                        "'fa-coord report' and 'fa-coord explain CONFIG' tell "
                        "why");
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'done'"), 1);
}

/* A pass may be over while builds for it are out; an interrupted run leaves
 * its leases to the next one. */
static void what_is_out_at_the_end_is_cancelled(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 1);
    assert_int_equal(rig_dispatch(&rig), 2);
    rig.sweep.reactor.stopping = 1;
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig_rows(&rig, "lease WHERE ended_utc IS NULL"), 2);
    rig.sweep.reactor.stopping = 0;
    rig.sweep.reactor.ending = "budget";
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig_rows(&rig, "lease WHERE ended_utc IS NULL"), 2);
    rig.sweep.reactor.ending = NULL;
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig_rows(&rig, "lease WHERE ending = 'cancelled'"), 2);
}

static void what_cannot_be_committed_at_the_end_is_told(void **state)
{
    (void)state;
    rig.disk_full = true;
    rig.sweep.work.count.correct = 1;
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 7);
    assert_string_equal(err.text, "the disk is full");
}

static void a_pass_over_what_is_asked_for_needs_no_winner(void **state)
{
    static const struct plan_ask ask = { NULL, NULL, 0 };

    (void)state;
    rig.options.ask = &ask;
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 0);
}

static void with_one_it_is_done(void **state)
{
    (void)state;
    rig.sweep.work.count.correct = 1;
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 0);
    assert_string_equal(err.text, "");
}

static void builds_alone_need_no_winner(void **state)
{
    (void)state;
    rig.options.builds_only = true;
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 0);
}

static void the_first_reason_to_end_counts(void **state)
{
    struct err first = { "the first" }, second = { "the second" };

    (void)state;
    reactor_fail(&rig.sweep, EXIT_CAP, &first);
    reactor_fail(&rig.sweep, EXIT_DATABASE, &second);
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 6);
    assert_string_equal(err.text, "the first");
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'budget'"), 1);
}

static void what_the_disk_refused_is_not_kept(void **state)
{
    struct err full = { "the disk is full" };

    (void)state;
    assert_int_equal(store_commit(rig.sweep.mail.store, &err), 0);
    records_put_event(&rig.sweep, "W", "HOST-LOST", "a");
    reactor_fail(&rig.sweep, EXIT_DATABASE, &full);
    shutdown_close_books(&rig.sweep, &err);
    assert_string_equal(err.text, "the disk is full");
    assert_int_equal(rig_rows(&rig, "event"), 0);
}

static int done_code;

static int on_done(void *arg, const struct plan *plan, struct store *store,
                   struct err *why)
{
    (void)plan;
    (void)store;
    ++*(int *)arg;
    return done_code < 0 ? err_set(why, done_code, "it did not like it") : 0;
}

/* Without a correct configuration there is nothing to go on with. */
static void hosts_stay_only_for_a_step_that_will_be(void **state)
{
    (void)state;
    rig.options.stay.more_follows = true;
    rig_come(&rig, 0, 7, NULL, 0);
    shutdown_dismiss(&rig.sweep);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "now");
    rig.sweep.work.count.correct = 1;
    shutdown_dismiss(&rig.sweep);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "next");
}

/* So that no call finds a clean one by chance. */
__attribute__((noinline)) static void dirty_the_stack(void)
{
    volatile unsigned char bytes[4096];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0xff;
}

static void only_the_signals_that_stop_it_are_taken(void **state)
{
    const int taken[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction pipe;
    sigset_t before, after;
    int fd;

    (void)state;
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    dirty_the_stack();
    fd = shutdown_open_signals(&err);
    assert_true(fd >= 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, &after), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(sigismember(&after, taken[i]), 1);
    assert_int_equal(sigismember(&after, SIGUSR1), 0);
    assert_int_equal(sigismember(&after, SIGCHLD), 0);
    assert_int_equal(sigaction(SIGPIPE, NULL, &pipe), 0);
    assert_ptr_equal(pipe.sa_handler, SIG_IGN); /* a host may end any time */
    close(fd);
}

static void the_plan_asked_for_is_handed_over_at_the_end(void **state)
{
    int calls = 0;

    (void)state;
    rig.options.done.tell = on_done;
    rig.options.done.arg = &calls;
    done_code = 0;
    shutdown_hand_over(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 0);
    done_code = ERR_INPUT;
    shutdown_hand_over(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 2);
    assert_string_equal(err.text, "it did not like it");
    rig.sweep.reactor.exit_code = 7;
    shutdown_hand_over(&rig.sweep, &err);
    assert_int_equal(calls, 2);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(errors_have_their_exit_codes),
        CASE(a_sweep_without_a_correct_configuration_has_no_winner),
        CASE(what_is_out_at_the_end_is_cancelled),
        CASE(what_cannot_be_committed_at_the_end_is_told),
        CASE(a_pass_over_what_is_asked_for_needs_no_winner),
        CASE(with_one_it_is_done),
        CASE(builds_alone_need_no_winner),
        CASE(the_first_reason_to_end_counts),
        CASE(what_the_disk_refused_is_not_kept),
        CASE(hosts_stay_only_for_a_step_that_will_be),
        CASE(only_the_signals_that_stop_it_are_taken),
        CASE(the_plan_asked_for_is_handed_over_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
