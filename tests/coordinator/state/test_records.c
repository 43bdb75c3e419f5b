#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/confirm/confirmation.h"
#include "coordinator/sql/sql.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void rows_wait_for_a_commit_since_the_first(void **state)
{
    (void)state;
    rig.sweep.mail.pace.rows = 0;
    rig.now_ns = RIG_START_NS + 1;
    records_put_event(&rig.sweep, "W", "HOST-LOST", "a");
    rig.now_ns = RIG_START_NS + 2;
    records_put_event(&rig.sweep, "W", "HOST-LOST", "a");
    assert_int_equal(rig.sweep.mail.pace.rows, 2);
    assert_int_equal(rig.sweep.mail.pace.since_ns, RIG_START_NS + 1);
    assert_null(rig.sweep.reactor.ending);
}

static void a_row_that_cannot_be_written_ends_the_sweep(void **state)
{
    struct err err;
    size_t pending = rig.sweep.mail.pace.rows;

    (void)state;
    assert_int_equal(
        sql_run(store_db(rig.sweep.mail.store), "DROP TABLE event", &err), 0);
    records_put_event(&rig.sweep, "W", "HOST-LOST", "a");
    assert_non_null(rig.sweep.reactor.ending);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_DATABASE);
    assert_non_null(strstr(rig.sweep.reactor.fatal.text, "event"));
    assert_int_equal(rig.sweep.mail.pace.rows, pending);
}

/* What a worker says of a GPU, as far as it is a name and a number. */
static void the_facts_of_a_gpu_are_names_and_numbers(void **state)
{
    static const char *lines[] = { "sm_count 58", "clock 2.5", "alone",
                                   "none ",       "inf inf",   "Upper 1",
                                   "rest 1 2",    "last -4" };
    const struct msg msg = { .type = MSG_GPU,
                             .gpu = { .uuid = "GPU-7",
                                      .name = "NVIDIA L4",
                                      .driver = "1",
                                      .facts = { lines, 8 } } };

    (void)state;
    assert_int_equal(records_put_gpu(&rig.sweep, 0, "L4", &msg), 0);
    assert_int_equal(
        rig_rows(&rig, "gpu WHERE uuid = 'GPU-7' AND name = 'L4' AND facts = "
                       "'{\"sm_count\":58,\"clock\":2.5,\"last\":-4}'"),
        1);
}

static struct ledger_interval interval_of(int i)
{
    return (struct ledger_interval){ .start_ns = RIG_START_NS + i,
                                     .end_ns = RIG_START_NS + i + 1,
                                     .category = LEDGER_IDLE };
}

static void intervals_are_put_before_what_they_are_part_of(void **state)
{
    const struct ledger_interval interval = interval_of(0);
    const struct ledger_held held = { .start_ns = RIG_START_NS,
                                      .end_ns = RIG_START_NS + 1 };

    (void)state;
    rig.now_ns = RIG_START_NS + 5;
    records_put_interval(&rig.sweep, &interval);
    rig.now_ns = RIG_START_NS + 500;
    assert_int_equal(rig_rows(&rig, "interval"), 0);
    records_put_held(&rig.sweep, &held);
    assert_int_equal(rig_rows(&rig, "interval i, held h WHERE"
                                    " i.start_utc = h.start_utc"
                                    " AND i.end_ns = h.end_ns"),
                     1);
    records_put_held(&rig.sweep, &held);
    assert_int_equal(rig_rows(&rig, "interval"), 1);
}

static void so_are_many_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < MAIL_INTERVALS_MAX - 1; i++) {
        const struct ledger_interval interval = interval_of(i);

        records_put_interval(&rig.sweep, &interval);
    }
    assert_int_equal(rig_rows(&rig, "interval"), 0);
    for (int i = MAIL_INTERVALS_MAX - 1; i < MAIL_INTERVALS_MAX + 1; i++) {
        const struct ledger_interval interval = interval_of(i);

        records_put_interval(&rig.sweep, &interval);
    }
    assert_int_equal(rig_rows(&rig, "interval"), MAIL_INTERVALS_MAX);
}

/* The third was there before, and the host came back without it. */
static void what_is_ready_are_a_host_and_its_gpus(void **state)
{
    (void)state;
    rig_ready(&rig, 0, 1, 3);
    rig.sweep.fleet.hosts[0].n_gpus = 2;
    snprintf(rig.sweep.fleet.hosts[0].gpus[0].driver, 128, "550");
    records_put_ready(&rig.sweep, 0);
    assert_int_equal(rig_rows(&rig, "ready"), 3);
    assert_int_equal(rig_rows(&rig, "ready WHERE gpu='' AND driver=''"), 1);
    assert_int_equal(
        rig_rows(&rig, "ready WHERE gpu='GPU-0-0' AND driver='550'"), 1);
    assert_int_equal(rig_rows(&rig, "ready WHERE gpu='GPU-0-1'"), 1);
}

static void held_in(const char *phase)
{
    static int64_t start_ns = RIG_START_NS;
    const struct ledger_held held = { .start_ns = start_ns,
                                      .end_ns = start_ns + 1 };
    char rows[64];

    start_ns++;
    snprintf(rows, sizeof(rows), "held WHERE phase='%s' AND start_ns=%lld",
             phase, (long long)held.start_ns);
    records_put_held(&rig.sweep, &held);
    assert_int_equal(rig_rows(&rig, rows), 1);
}

static void what_a_host_is_held_for_is_named(void **state)
{
    struct confirmation confirmation = { .kind = CONFIRMATION_BENCH };
    const struct plan_ask ask = { 0 };

    (void)state;
    held_in("search");
    rig.options.ask = &ask;
    held_in("proof");
    rig.options.confirmation = &confirmation;
    held_in("bench");
    confirmation.kind = CONFIRMATION_CONFIRM;
    held_in("confirm");
    rig.options.builds_only = true;
    held_in("builds");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(rows_wait_for_a_commit_since_the_first),
        CASE(a_row_that_cannot_be_written_ends_the_sweep),
        CASE(the_facts_of_a_gpu_are_names_and_numbers),
        CASE(intervals_are_put_before_what_they_are_part_of),
        CASE(so_are_many_at_once),
        CASE(what_is_ready_are_a_host_and_its_gpus),
        CASE(what_a_host_is_held_for_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
