#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "coordinator/schedule/bill.h"
#include "coordinator/schedule/ledger.h"

struct book {
    struct ledger_interval rows[64];
    int n;
};

/* Like the store: a row with the same (host, start) is replaced. */
static void write_down(void *arg, const struct ledger_interval *interval)
{
    struct book *book = arg;

    for (int i = 0; i < book->n; i++) {
        if (book->rows[i].host == interval->host &&
            book->rows[i].start_ns == interval->start_ns) {
            book->rows[i] = *interval;
            return;
        }
    }
    book->rows[book->n++] = *interval;
}

static void assert_row(const struct book *book, int i, int64_t start,
                       int64_t end, enum ledger_category category)
{
    assert_in_range(i, 0, book->n - 1);
    assert_int_equal(book->rows[i].start_ns, start);
    assert_int_equal(book->rows[i].end_ns, end);
    assert_int_equal(book->rows[i].category, category);
}

static void a_quiet_host_is_acquired_set_up_and_idle(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 100);
    ledger_phase(ledger, 0, LEDGER_UPLOADING, 110);
    ledger_phase(ledger, 0, LEDGER_SETUP, 130);
    ledger_phase(ledger, 0, LEDGER_IDLE, 150);
    ledger_release(ledger, 0, 200);
    assert_int_equal(book.n, 4);
    assert_row(&book, 0, 100, 110, LEDGER_ACQUIRING);
    assert_row(&book, 1, 110, 130, LEDGER_UPLOADING);
    assert_row(&book, 2, 130, 150, LEDGER_SETUP);
    assert_row(&book, 3, 150, 200, LEDGER_IDLE);
    ledger_free(ledger);
}

static void measuring_leads_over_building(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 0);
    ledger_phase(ledger, 0, LEDGER_IDLE, 10);
    ledger_start(ledger, 0, 1, false, 20);
    ledger_start(ledger, 0, 2, true, 30);
    ledger_end(ledger, 0, 2, LEDGER_MEASURING, 50);
    ledger_end(ledger, 0, 1, LEDGER_BUILDING, 70);
    ledger_release(ledger, 0, 80);
    assert_int_equal(book.n, 6);
    assert_row(&book, 1, 10, 20, LEDGER_IDLE);
    assert_row(&book, 2, 20, 30, LEDGER_BUILDING);
    assert_row(&book, 3, 30, 50, LEDGER_MEASURING);
    assert_int_equal(book.rows[3].lease, 2);
    assert_row(&book, 4, 50, 70, LEDGER_BUILDING);
    assert_row(&book, 5, 70, 80, LEDGER_IDLE);
    ledger_free(ledger);
}

static void time_without_a_result_is_failed_or_lost(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 0);
    ledger_phase(ledger, 0, LEDGER_IDLE, 1);
    ledger_start(ledger, 0, 1, true, 2);
    ledger_end(ledger, 0, 1, LEDGER_FAILED, 5);
    ledger_start(ledger, 0, 2, true, 5);
    ledger_end(ledger, 0, 2, LEDGER_LOST, 9);
    ledger_release(ledger, 0, 9);
    assert_row(&book, 2, 2, 5, LEDGER_FAILED);
    assert_row(&book, 3, 5, 9, LEDGER_LOST);
    ledger_free(ledger);
}

static void a_flush_shows_the_open_interval_and_extends_it(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(2, write_down, &book);

    (void)state;
    ledger_hold(ledger, 1, 5);
    ledger_flush(ledger, 10);
    ledger_flush(ledger, 20);
    assert_int_equal(book.n, 1);
    assert_int_equal(book.rows[0].host, 1);
    assert_row(&book, 0, 5, 20, LEDGER_ACQUIRING);
    ledger_free(ledger);
}

/* Invariant I5: the intervals add up to the time held. */
static void intervals_have_no_gap_and_no_overlap(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);
    int64_t at = 3;

    (void)state;
    ledger_hold(ledger, 0, 3);
    ledger_phase(ledger, 0, LEDGER_IDLE, 7);
    ledger_start(ledger, 0, 1, false, 8);
    ledger_start(ledger, 0, 2, false, 9);
    ledger_end(ledger, 0, 2, LEDGER_FAILED, 11);
    ledger_start(ledger, 0, 3, true, 12);
    ledger_end(ledger, 0, 1, LEDGER_BUILDING, 15);
    ledger_flush(ledger, 16);
    ledger_end(ledger, 0, 3, LEDGER_LOST, 18);
    ledger_release(ledger, 0, 25);
    for (int i = 0; i < book.n; i++) {
        assert_int_equal(book.rows[i].start_ns, at);
        at = book.rows[i].end_ns;
    }
    assert_int_equal(at, 25);
    ledger_free(ledger);
}

static void what_took_no_time_is_not_written_down(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 5);
    ledger_flush(ledger, 5);
    assert_int_equal(book.n, 0);
    ledger_phase(ledger, 0, LEDGER_SETUP, 5);
    ledger_phase(ledger, 0, LEDGER_IDLE, 4); /* not before it began */
    ledger_release(ledger, 0, 6);
    assert_int_equal(book.n, 1);
    assert_row(&book, 0, 5, 6, LEDGER_IDLE);
    ledger_free(ledger);
}

static void ten_at_once_lead_in_their_order(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 0);
    for (int lease = 1; lease <= 10; lease++)
        ledger_start(ledger, 0, lease, true, 0);
    ledger_end(ledger, 0, 5, LEDGER_LOST, 2); /* not the leading one */
    for (int lease = 1; lease <= 10; lease++)
        ledger_end(ledger, 0, lease, LEDGER_MEASURING, 10 * lease);
    ledger_release(ledger, 0, 110);
    assert_int_equal(book.n, 10);
    assert_int_equal(book.rows[0].lease, 1);
    assert_row(&book, 0, 0, 10, LEDGER_MEASURING);
    assert_int_equal(book.rows[4].lease, 6);
    assert_row(&book, 4, 40, 60, LEDGER_MEASURING);
    assert_int_equal(book.rows[8].lease, 10);
    assert_row(&book, 9, 100, 110, LEDGER_ACQUIRING);
    ledger_free(ledger);
}

static void what_has_ended_ends_nothing_else(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 0);
    ledger_start(ledger, 0, 1, true, 0);
    ledger_start(ledger, 0, 2, true, 0);
    ledger_end(ledger, 0, 2, LEDGER_MEASURING, 5);
    ledger_end(ledger, 0, 2, LEDGER_MEASURING, 6);
    ledger_release(ledger, 0, 9);
    assert_int_equal(book.n, 1);
    assert_row(&book, 0, 0, 9, LEDGER_MEASURING);
    assert_int_equal(book.rows[0].lease, 1);
    ledger_free(ledger);
}

/* Its worker left, and its work is given up later. */
static void work_that_ends_after_the_release_costs_nothing(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 100);
    ledger_start(ledger, 0, 1, false, 120);
    ledger_release(ledger, 0, 150);
    ledger_end(ledger, 0, 1, LEDGER_LOST, 180);
    ledger_hold(ledger, 0, 200);
    ledger_release(ledger, 0, 230);
    assert_int_equal(book.n, 3);
    assert_row(&book, 0, 100, 120, LEDGER_ACQUIRING);
    assert_row(&book, 1, 120, 150, LEDGER_BUILDING);
    assert_row(&book, 2, 200, 230, LEDGER_ACQUIRING);
    ledger_free(ledger);
}

static void held_twice_or_not_at_all_changes_nothing(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_phase(ledger, 0, LEDGER_IDLE, 1);
    ledger_start(ledger, 0, 1, true, 2);
    ledger_release(ledger, 0, 3);
    ledger_flush(ledger, 4);
    assert_int_equal(book.n, 0);
    ledger_hold(ledger, 0, 5);
    ledger_hold(ledger, 0, 7);
    ledger_release(ledger, 0, 9);
    assert_int_equal(book.n, 1);
    assert_row(&book, 0, 5, 9, LEDGER_ACQUIRING);
    ledger_free(ledger);
}

/* While work runs its phase changes unseen. */
static void a_phase_is_seen_when_no_work_runs(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_hold(ledger, 0, 0);
    ledger_start(ledger, 0, 1, false, 0);
    ledger_phase(ledger, 0, LEDGER_IDLE, 3);
    ledger_end(ledger, 0, 1, LEDGER_BUILDING, 5);
    ledger_phase(ledger, 0, LEDGER_IDLE, 6); /* as it was */
    ledger_release(ledger, 0, 8);
    assert_int_equal(book.n, 2);
    assert_row(&book, 0, 0, 5, LEDGER_BUILDING);
    assert_row(&book, 1, 5, 8, LEDGER_IDLE);
    assert_int_equal(book.rows[1].lease, 0);
    ledger_free(ledger);
}

static struct ledger_held held_rows[16];
static int held_n;

/* Like the store, as write_down(). */
static void write_held(void *arg, const struct ledger_held *held)
{
    int i = 0;

    (void)arg;
    while (i < held_n && (held_rows[i].host != held->host ||
                          held_rows[i].start_ns != held->start_ns))
        i++;
    held_rows[i] = *held;
    held_n += i == held_n;
}

static void assert_held(int i, int64_t start, int64_t end, double rate)
{
    assert_in_range(i, 0, held_n - 1);
    assert_int_equal(held_rows[i].start_ns, start);
    assert_int_equal(held_rows[i].end_ns, end);
    assert_true(isnan(rate) ? isnan(held_rows[i].rate_usd_per_h)
                            : held_rows[i].rate_usd_per_h == rate);
}

static void another_rate_leaves_the_past_its_price(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(2, write_down, &book);
    struct bill bill = { 0 };

    (void)state;
    held_n = 0;
    ledger_keep_held(ledger, write_held);
    ledger_price(ledger, 0, 3600, 0);
    ledger_hold(ledger, 0, 0);
    ledger_hold(ledger, 1, 0);
    ledger_flush(ledger, 1000000000);
    ledger_price(ledger, 0, 3600, 1500000000); /* the same: nothing changes */
    ledger_price(ledger, 0, 7200, 2000000000);
    ledger_release(ledger, 0, 5000000000);
    ledger_release(ledger, 1, 5000000000);
    assert_int_equal(held_n, 3);
    assert_held(0, 0, 2000000000, 3600);
    assert_held(1, 0, 5000000000, (double)NAN);
    assert_held(2, 2000000000, 5000000000, 7200);
    ledger_bill(ledger, 9000000000, &bill);
    assert_int_equal(bill.held_ns, 10000000000);
    assert_int_equal(bill.unpriced_ns, 5000000000);
    assert_true(bill.priced_usd == 8);
    ledger_free(ledger);
}

static void a_host_held_for_no_time_is_not_written_down(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);
    struct bill bill = { 0 };

    (void)state;
    held_n = 0;
    ledger_keep_held(ledger, write_held);
    ledger_price(ledger, 0, 3600, 5);
    ledger_hold(ledger, 0, 5);
    ledger_flush(ledger, 5);
    ledger_bill(ledger, 4, &bill); /* the clock is not before its start */
    ledger_release(ledger, 0, 4);
    ledger_bill(ledger, 9, &bill);
    assert_int_equal(held_n, 0);
    assert_int_equal(bill.held_ns, 0);
    ledger_free(ledger);
}

static void an_hour_costs_what_the_hosts_cost_that_are_held(void **state)
{
    static const double rates[] = { 2, 0.5, NAN, 8 };
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(4, write_down, &book);

    (void)state;
    for (int host = 0; host < 4; host++)
        ledger_price(ledger, host, rates[host], 0);
    assert_true(ledger_usd_per_h(ledger) == 0);
    for (int host = 0; host < 3; host++)
        ledger_hold(ledger, host, 0);
    assert_true(ledger_usd_per_h(ledger) == 2.5);
    ledger_release(ledger, 0, 5);
    assert_true(ledger_usd_per_h(ledger) == 0.5);
    ledger_free(ledger);
}

/* So each interval is within one held interval, and has one price. */
static void another_rate_ends_what_was_under_way(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    ledger_price(ledger, 0, 3600, 0);
    ledger_hold(ledger, 0, 0);
    ledger_start(ledger, 0, 7, true, 10);
    ledger_price(ledger, 0, 3600, 20); /* the same */
    ledger_price(ledger, 0, 7200, 30);
    ledger_end(ledger, 0, 7, LEDGER_MEASURING, 50);
    assert_int_equal(book.n, 3);
    assert_row(&book, 1, 10, 30, LEDGER_MEASURING);
    assert_row(&book, 2, 30, 50, LEDGER_MEASURING);
    assert_int_equal(book.rows[2].lease, 7);
    ledger_free(ledger);
}

/* Killed here, a coordinator leaves both, and what follows extends the second.
 */
static void the_first_interval_comes_with_what_was_held(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);

    (void)state;
    held_n = 0;
    ledger_keep_held(ledger, write_held);
    ledger_hold(ledger, 0, 100);
    ledger_phase(ledger, 0, LEDGER_SETUP, 110);
    assert_int_equal(book.n, 1);
    assert_held(0, 100, 110, (double)NAN);
    ledger_phase(ledger, 0, LEDGER_IDLE, 150);
    assert_held(0, 100, 110, (double)NAN);
    ledger_price(ledger, 0, 3600, 200);
    ledger_phase(ledger, 0, LEDGER_SETUP, 210);
    assert_int_equal(held_n, 2);
    assert_held(0, 100, 200, (double)NAN);
    assert_held(1, 200, 210, 3600);
    ledger_release(ledger, 0, 300);
    ledger_hold(ledger, 0, 400);
    ledger_phase(ledger, 0, LEDGER_SETUP, 410);
    assert_int_equal(held_n, 3);
    assert_held(2, 400, 410, 3600);
    ledger_free(ledger);
}

/* A host that never becomes ready costs as much as the others. */
static void all_the_time_that_is_held_is_on_the_bill(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);
    struct bill bill = { 0 };

    (void)state;
    ledger_price(ledger, 0, 3600, 0);
    ledger_hold(ledger, 0, 0);
    ledger_bill(ledger, 2000000000, &bill);
    assert_true(bill_usd(&bill) == 2);
    ledger_release(ledger, 0, 3000000000);
    ledger_hold(ledger, 0, 7000000000);
    bill = (struct bill){ 0 };
    ledger_bill(ledger, 8000000000, &bill);
    assert_true(bill_usd(&bill) == 4);
    ledger_free(ledger);
}

/* Slurm says when its job ended. */
static void an_end_may_be_heard_later(void **state)
{
    struct book book = { .n = 0 };
    struct ledger *ledger = ledger_new(1, write_down, &book);
    struct bill bill = { 0 };

    (void)state;
    ledger_price(ledger, 0, 3600, 0);
    ledger_hold(ledger, 0, 0);
    ledger_phase(ledger, 0, LEDGER_IDLE, 2000000000);
    ledger_flush(ledger, 6000000000);
    ledger_release(ledger, 0, 5000000000);
    assert_int_equal(book.n, 2);
    assert_row(&book, 1, 2000000000, 5000000000, LEDGER_IDLE);
    ledger_bill(ledger, 9000000000, &bill);
    assert_true(bill_usd(&bill) == 5);
    ledger_hold(ledger, 0, 4000000000); /* the next job; clocks differ */
    ledger_release(ledger, 0, 7000000000);
    assert_row(&book, 2, 5000000000, 7000000000, LEDGER_ACQUIRING);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_rate_leaves_the_past_its_price),
        cmocka_unit_test(a_host_held_for_no_time_is_not_written_down),
        cmocka_unit_test(an_hour_costs_what_the_hosts_cost_that_are_held),
        cmocka_unit_test(another_rate_ends_what_was_under_way),
        cmocka_unit_test(the_first_interval_comes_with_what_was_held),
        cmocka_unit_test(all_the_time_that_is_held_is_on_the_bill),
        cmocka_unit_test(a_quiet_host_is_acquired_set_up_and_idle),
        cmocka_unit_test(measuring_leads_over_building),
        cmocka_unit_test(time_without_a_result_is_failed_or_lost),
        cmocka_unit_test(a_flush_shows_the_open_interval_and_extends_it),
        cmocka_unit_test(intervals_have_no_gap_and_no_overlap),
        cmocka_unit_test(what_took_no_time_is_not_written_down),
        cmocka_unit_test(ten_at_once_lead_in_their_order),
        cmocka_unit_test(what_has_ended_ends_nothing_else),
        cmocka_unit_test(work_that_ends_after_the_release_costs_nothing),
        cmocka_unit_test(held_twice_or_not_at_all_changes_nothing),
        cmocka_unit_test(an_end_may_be_heard_later),
        cmocka_unit_test(a_phase_is_seen_when_no_work_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
