#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/slurm/slurm_times.h"

/* Lines of sacct -X -D -n -P, SLURM_TIME_FORMAT=%s. */
static const char accounting[] =
    "12_1|COMPLETED|1795868908|1795869508\n"
    "12_2|CANCELLED by 0|1795868908|1795868911\n"
    "12_3|PREEMPTED|1795868908|1795868950\n"
    "12_3|REQUEUED|1795869000|1795869050\n"
    "12_3|RUNNING|1795869100|Unknown\n"
    "12_[4-6]|PENDING|Unknown|Unknown\n"
    "12_7|CANCELLED by 1000|Unknown|1795868911\n" /* never started */
    "12_8|CANCELLED by 1000|None|1795868911\n"    /* likewise, 23.02 */
    "12_9|CANCELLED by 0|1795868911|1795868911\n" /* likewise, 20.11 */
    "13_1|NODE_FAIL|1795868908|1795868999\n"
    "13_2|COMPLETED|1795868908|Unknown\n" /* lost by Slurm */
    "14|FAILED|1795868908|1795868909\n";

#define ASSERT_SPAN(span, job, number, start, end)     \
    do {                                               \
        assert_int_equal((span).array, job);           \
        assert_int_equal((span).task, number);         \
        assert_int_equal((span).start_s, 1795##start); \
        assert_int_equal((span).end_s, end);           \
    } while (0)

static void each_run_of_a_task_is_a_span(void **state)
{
    struct slurm_times times = { .list = NULL };

    (void)state;
    assert_int_equal(slurm_times_read(accounting, &times, NULL), 0);
    assert_int_equal(times.n, 6);
    ASSERT_SPAN(times.list[0], 12, 1, 868908, 1795869508);
    ASSERT_SPAN(times.list[1], 12, 2, 868908, 1795868911);
    ASSERT_SPAN(times.list[2], 12, 3, 868908, 1795868950);
    ASSERT_SPAN(times.list[3], 12, 3, 869000, 1795869050);
    ASSERT_SPAN(times.list[4], 12, 3, 869100, 0);
    ASSERT_SPAN(times.list[5], 13, 1, 868908, 1795868999);
    slurm_times_fini(&times);
}

static void times_of_another_form_are_no_times(void **state)
{
    struct slurm_times times = { .list = NULL };

    (void)state;
    assert_int_equal(
        slurm_times_read("12_1|COMPLETED|2026-11-28T12:00:00|Unknown\n", &times,
                         NULL),
        0);
    assert_int_equal(times.n, 0);
}

static void another_form_is_refused_with_its_line(void **state)
{
    static const char *const rows[] = { "Slurm accounting storage is disabled",
                                        "12_1|RUNNING|1795868908",
                                        "12_1|RUNNING|1|2|3",
                                        "0_1|RUNNING|1795868908|Unknown",
                                        "12.batch|RUNNING|1795868908|Unknown",
                                        "12_x|RUNNING|1795868908|Unknown" };
    struct slurm_times times = { .list = NULL };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(slurm_times_read(rows[i], &times, &err), ERR_PROTO);
    assert_string_equal(err.text,
                        "sacct answers '12_x|RUNNING|1795868908|Unknown'");
    assert_int_equal(times.n, 0);
}

static void squeue_knows_what_the_database_does_not_know_yet(void **state)
{
    const struct slurm_job jobs[] = {
        { .array = 12,
          .task = 3,
          .state = SLURM_ENDED,
          .start_s = 1795869100,
          .end_s = 1795869160 },
        { .array = 12,
          .task = 1,
          .state = SLURM_ENDED,
          .start_s = 1795868908,
          .end_s = 1795869999 }, /* has an end */
        { .array = 15, .task = 1, .state = SLURM_RUNS, .start_s = 1795869170 },
        { .array = 15, .task = 2, .state = SLURM_WAITS },
        { .array = 15,
          .task = 3,
          .state = SLURM_ENDED,
          .start_s = 1795868911,
          .end_s = 1795868911 },
        { .array = 15, .task = 4, .state = SLURM_ENDED, .start_s = 1795868911 },
    };
    struct slurm_times times = { .list = NULL };

    (void)state;
    assert_int_equal(slurm_times_read(accounting, &times, NULL), 0);
    slurm_times_join(&times, jobs, sizeof(jobs) / sizeof(jobs[0]));
    assert_int_equal(times.n, 7);
    ASSERT_SPAN(times.list[0], 12, 1, 868908, 1795869508);
    ASSERT_SPAN(times.list[4], 12, 3, 869100, 1795869160);
    ASSERT_SPAN(times.list[6], 15, 1, 869170, 0);
    slurm_times_fini(&times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_run_of_a_task_is_a_span),
        cmocka_unit_test(times_of_another_form_are_no_times),
        cmocka_unit_test(another_form_is_refused_with_its_line),
        cmocka_unit_test(squeue_knows_what_the_database_does_not_know_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
