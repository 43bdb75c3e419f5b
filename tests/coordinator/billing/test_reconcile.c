#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/billing/reconcile.h"

/* Runs with clocks that begin at UTC 1000 and 2000. */
#define FIRST(from, to)                        \
    {                                          \
        1, (from)-1000, (to)-1000, from, false \
    }
#define SECOND(from, to)                       \
    {                                          \
        2, (from)-2000, (to)-2000, from, false \
    }
#define PROOF(from, to)                       \
    {                                         \
        9, (from)-1500, (to)-1500, from, true \
    }

static struct reconcile_edit *edits;
static size_t n_edits;

#define RECONCILE(held, ...)                                           \
    do {                                                               \
        const int64_t spans[][2] = { __VA_ARGS__ };                    \
                                                                       \
        reconcile_spans(held, sizeof(held) / sizeof((held)[0]), spans, \
                        sizeof(spans) / sizeof(spans[0]));             \
    } while (0)

static void reconcile_spans(const struct reconcile_held *held, size_t n,
                            const int64_t spans[][2], size_t n_spans)
{
    struct reconcile_allocation *list = calloc(n_spans, sizeof(*list));

    assert_non_null(list);
    for (size_t i = 0; i < n_spans; i++) {
        list[i].start_utc = spans[i][0];
        list[i].end_utc = spans[i][1];
    }
    free(edits);
    n_edits = reconcile(held, n, list, n_spans, &edits);
    free(list);
}

#define ASSERT_EDIT(i, kind, of, from, to)        \
    do {                                          \
        assert_int_equal(edits[i].what, kind);    \
        assert_int_equal(edits[i].held, of);      \
        assert_int_equal(edits[i].from_ns, from); \
        assert_int_equal(edits[i].to_ns, to);     \
    } while (0)

static int tear_down(void **state)
{
    (void)state;
    free(edits);
    edits = NULL;
    return 0;
}

static void what_is_exact_stays(void **state)
{
    const struct reconcile_held held[] = { FIRST(1100, 1200) };

    (void)state;
    RECONCILE(held, { 1100, 1200 });
    assert_int_equal(n_edits, 0);
}

static void minutes_before_and_after_the_worker_are_added(void **state)
{
    const struct reconcile_held held[] = { FIRST(1100, 1200) };

    (void)state;
    RECONCILE(held, { 1070, 1260 });
    assert_int_equal(n_edits, 2);
    ASSERT_EDIT(0, RECONCILE_BEFORE, 0, 70, 100);
    ASSERT_EDIT(1, RECONCILE_AFTER, 0, 200, 260);
}

static void what_reaches_over_an_allocation_is_cut(void **state)
{
    const struct reconcile_held held[] = { FIRST(1100, 1200) };

    (void)state;
    RECONCILE(held, { 1110, 1190 });
    assert_int_equal(n_edits, 2);
    ASSERT_EDIT(0, RECONCILE_CUT, 0, 100, 110);
    ASSERT_EDIT(1, RECONCILE_CUT, 0, 190, 200);
}

/* A job that was requeued between two answers of squeue. */
static void a_gap_between_two_allocations_is_cut(void **state)
{
    const struct reconcile_held held[] = { FIRST(1100, 1200) };

    (void)state;
    RECONCILE(held, { 1160, 1200 }, { 1100, 1140 });
    assert_int_equal(n_edits, 1);
    ASSERT_EDIT(0, RECONCILE_CUT, 0, 140, 160);
}

static void gaps_between_runs_are_filled_in_the_clock_of_the_first(void **state)
{
    const struct reconcile_held held[] = { FIRST(1100, 1200), FIRST(1210, 1300),
                                           SECOND(2050, 2100) };

    (void)state;
    RECONCILE(held, { 1100, 2100 });
    assert_int_equal(n_edits, 2);
    ASSERT_EDIT(0, RECONCILE_AFTER, 0, 200, 210);
    ASSERT_EDIT(1, RECONCILE_AFTER, 1, 300, 1050);
}

static void the_time_of_a_proof_counts_and_stays(void **state)
{
    const struct reconcile_held held[] = { FIRST(1100, 1200), PROOF(1510, 1600),
                                           SECOND(2050, 2100) };

    (void)state;
    RECONCILE(held, { 1100, 1590 }, { 2000, 2100 });
    assert_int_equal(n_edits, 2);
    ASSERT_EDIT(0, RECONCILE_AFTER, 0, 200, 510);
    ASSERT_EDIT(1, RECONCILE_BEFORE, 2, 0, 50);
}

/* squeue forgets jobs after 300 s, where accounting is off. */
static void what_is_not_known_stays(void **state)
{
    const struct reconcile_held held[] = { FIRST(1100, 1200),
                                           FIRST(1300, 1400) };

    (void)state;
    RECONCILE(held, { 1300, 1400 });
    assert_int_equal(n_edits, 0);
}

/* Its coordinator was killed before the job started. */
static void a_job_that_nobody_saw_is_added(void **state)
{
    const struct reconcile_held before[] = { FIRST(1100, 1200) };
    const struct reconcile_held after[] = { SECOND(2050, 2100) };
    const struct reconcile_held proof[] = { PROOF(1510, 1600) };

    (void)state;
    RECONCILE(before, { 1500, 1600 });
    assert_int_equal(n_edits, 1);
    ASSERT_EDIT(0, RECONCILE_AFTER, 0, 500, 600);
    RECONCILE(after, { 1500, 1600 });
    assert_int_equal(n_edits, 1);
    ASSERT_EDIT(0, RECONCILE_BEFORE, 0, -500, -400);
    RECONCILE(proof, { 1700, 1800 });
    assert_int_equal(n_edits, 0);
}

/* The first could not be stopped when the second was acquired. */
static void time_in_two_priced_allocations_counts_once(void **state)
{
    const struct reconcile_held all[] = { FIRST(1100, 1500) };
    const struct reconcile_held killed[] = { FIRST(1100, 1200),
                                             SECOND(1250, 1300) };
    const double rate = 2;
    struct reconcile_allocation inside[] = { { 1100, 1500, &rate },
                                             { 1200, 1300, &rate } };
    struct reconcile_allocation late[] = { { 1100, 1400, &rate },
                                           { 1250, 1500, &rate } };

    (void)state;
    n_edits = reconcile(all, 1, inside, 2, &edits);
    assert_int_equal(n_edits, 0);
    free(edits);
    n_edits = reconcile(killed, 2, late, 2, &edits);
    assert_int_equal(n_edits, 3);
    ASSERT_EDIT(0, RECONCILE_AFTER, 0, 200, 250);
    ASSERT_EDIT(1, RECONCILE_AFTER, 1, -700, -600);
    ASSERT_EDIT(2, RECONCILE_AFTER, 1, -600, -500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_exact_stays, tear_down),
        cmocka_unit_test_teardown(minutes_before_and_after_the_worker_are_added,
                                  tear_down),
        cmocka_unit_test_teardown(what_reaches_over_an_allocation_is_cut,
                                  tear_down),
        cmocka_unit_test_teardown(a_gap_between_two_allocations_is_cut,
                                  tear_down),
        cmocka_unit_test_teardown(
            gaps_between_runs_are_filled_in_the_clock_of_the_first, tear_down),
        cmocka_unit_test_teardown(the_time_of_a_proof_counts_and_stays,
                                  tear_down),
        cmocka_unit_test_teardown(what_is_not_known_stays, tear_down),
        cmocka_unit_test_teardown(time_in_two_priced_allocations_counts_once,
                                  tear_down),
        cmocka_unit_test_teardown(a_job_that_nobody_saw_is_added, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
