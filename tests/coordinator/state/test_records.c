#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(rows_wait_for_a_commit_since_the_first),
        CASE(a_row_that_cannot_be_written_ends_the_sweep),
        CASE(the_facts_of_a_gpu_are_names_and_numbers),
        CASE(intervals_are_put_before_what_they_are_part_of),
        CASE(so_are_many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
