#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/slurm/slurm_pool.h"

static struct slurm_pool pool;

static int set_up(void **state)
{
    (void)state;
    slurm_pool_init(&pool, 2, 4);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slurm_pool_fini(&pool);
    return 0;
}

static const char *wanted(void)
{
    static char out[64];

    slurm_pool_wanted(&pool, 0, out, sizeof(out));
    return out;
}

static struct slurm_job job(int64_t array, int task, enum slurm_state state,
                            const char *reason)
{
    struct slurm_job job = { .array = array,
                             .task = task,
                             .state = state,
                             .runs_s = 3,
                             .word = "NODE_FAIL" };

    strcpy(job.reason, reason);
    return job;
}

#define TAKE(...)                                                 \
    slurm_pool_take(&pool, (struct slurm_job[]){ __VA_ARGS__ },   \
                    sizeof((struct slurm_job[]){ __VA_ARGS__ }) / \
                        sizeof(struct slurm_job))

static void submit(int64_t array)
{
    slurm_pool_submitted(&pool, wanted(), array);
}

static void one_waits_at_a_time_beyond_the_least(void **state)
{
    (void)state;
    assert_string_equal(wanted(), "1,2");
    submit(7);
    assert_string_equal(wanted(), "");
    TAKE(job(7, 1, SLURM_WAITS, "None"), job(7, 2, SLURM_RUNS, "None"));
    assert_int_equal(pool.tasks[0].change, SLURM_QUEUED);
    assert_string_equal(pool.tasks[0].text,
                        "its job 7_1 waits in the queue of Slurm");
    assert_int_equal(pool.tasks[1].change, SLURM_STARTED);
    assert_int_equal(pool.tasks[1].runs_s, 3);
    assert_string_equal(wanted(), "");
    TAKE(job(7, 1, SLURM_RUNS, "None"), job(7, 2, SLURM_RUNS, "None"));
    assert_string_equal(wanted(), "");
    pool.may_grow = true; /* and only with work */
    assert_string_equal(wanted(), "3");
    submit(8);
    TAKE(job(7, 1, SLURM_RUNS, "None"), job(7, 2, SLURM_RUNS, "None"),
         job(8, 3, SLURM_WAITS, "Resources"));
    assert_string_equal(pool.tasks[2].text,
                        "its job 8_3 waits in the queue of Slurm: Resources");
    assert_string_equal(wanted(), "");
}

static void a_job_that_ends_is_asked_for_again(void **state)
{
    (void)state;
    submit(7);
    TAKE(job(7, 1, SLURM_RUNS, "None"), job(7, 2, SLURM_RUNS, "None"));
    TAKE(job(7, 1, SLURM_ENDED, "NodeDown"), job(7, 2, SLURM_RUNS, "None"));
    assert_int_equal(pool.tasks[0].change, SLURM_LEFT);
    assert_string_equal(pool.tasks[0].text, "its job 7_1 has ended: NODE_FAIL");
    assert_string_equal(wanted(), "1");
    submit(9);
    /* the one that ended is still shown */
    TAKE(job(7, 1, SLURM_ENDED, "NodeDown"), job(9, 1, SLURM_RUNS, "None"),
         job(7, 2, SLURM_RUNS, "None"));
    assert_int_equal(pool.tasks[0].change, SLURM_STARTED);
}

static void a_requeued_job_has_lost_its_worker(void **state)
{
    (void)state;
    submit(7);
    TAKE(job(7, 1, SLURM_RUNS, "None"), job(7, 2, SLURM_RUNS, "None"));
    TAKE(job(7, 1, SLURM_WAITS, "BeginTime"), job(7, 2, SLURM_RUNS, "None"));
    assert_int_equal(pool.tasks[0].change, SLURM_LEFT);
    assert_string_equal(pool.tasks[0].text,
                        "its job 7_1 is back in the queue of Slurm: BeginTime");
    assert_string_equal(wanted(), "");
    TAKE(job(7, 1, SLURM_RUNS, "None"), job(7, 2, SLURM_RUNS, "None"));
    assert_int_equal(pool.tasks[0].change, SLURM_STARTED);
}

static void an_unknown_job_is_gone_after_three_answers(void **state)
{
    (void)state;
    submit(7);
    for (int i = 1; i < SLURM_MISSES; i++) {
        TAKE(job(7, 2, SLURM_RUNS, "None"));
        assert_int_equal(pool.tasks[0].change, SLURM_SAME);
    }
    TAKE(job(7, 2, SLURM_RUNS, "None"));
    assert_int_equal(pool.tasks[0].change, SLURM_LEFT);
    assert_string_equal(
        pool.tasks[0].text,
        "its job 7_1 has ended: Slurm does not know it any more");
    assert_string_equal(wanted(), "1");
}

static void jobs_of_a_coordinator_that_was_killed_are_taken_over(void **state)
{
    (void)state;
    TAKE(job(5, 1, SLURM_RUNS, "None"), job(5, 2, SLURM_ENDED, "None"),
         job(6, 3, SLURM_WAITS, "Priority"));
    assert_int_equal(pool.tasks[0].change, SLURM_STARTED);
    assert_int_equal(pool.tasks[1].change, SLURM_SAME);
    assert_int_equal(pool.tasks[2].change, SLURM_QUEUED);
    assert_string_equal(wanted(), "");
}

static void a_queue_that_never_starts_is_given_up(void **state)
{
    (void)state;
    submit(7);
    for (int i = 0; i < 20; i++)
        TAKE(job(7, 1, SLURM_WAITS, "Priority"),
             job(7, 2, SLURM_WAITS, "PartitionDown"));
    assert_false(pool.tasks[0].given_up);
    assert_true(pool.tasks[1].given_up);
    assert_string_equal(pool.tasks[1].text,
                        "its job 7_2 cannot start: PartitionDown");
}

static void jobs_without_a_worker_are_given_up(void **state)
{
    (void)state;
    for (int i = 1; i <= SLURM_WASTED; i++) {
        submit(i);
        if (i == 1)
            slurm_pool_came(&pool, 2);
        TAKE(job(i, 1, SLURM_ENDED, "None"), job(i, 2, SLURM_ENDED, "None"));
    }
    assert_int_equal(pool.tasks[0].change, SLURM_NEVER);
    assert_string_equal(pool.tasks[0].text,
                        "3 jobs ended before their worker dialled back, the "
                        "last one: NODE_FAIL");
    assert_int_equal(pool.tasks[1].change, SLURM_LEFT);
    assert_string_equal(wanted(), "2,3");
}

static void what_is_dismissed_is_not_asked_for(void **state)
{
    (void)state;
    slurm_pool_dismiss(&pool, 1);
    slurm_pool_dismiss(&pool, 3);
    assert_string_equal(wanted(), "2,4");
}

static void pauses_grow_while_sbatch_fails(void **state)
{
    char out[64];

    (void)state;
    slurm_pool_submitted(&pool, "1", 3);
    assert_false(slurm_pool_failed(&pool, 100));
    slurm_pool_wanted(&pool, 100 + 4 * NS_PER_S, out, sizeof(out));
    assert_string_equal(out, "");
    slurm_pool_wanted(&pool, 101 + 5 * NS_PER_S, out, sizeof(out));
    assert_string_equal(out, "2");
    for (int i = 0; i < 20; i++)
        slurm_pool_failed(&pool, 0);
    assert_int_equal(pool.next_ns, 300 * NS_PER_S);
}

static void if_sbatch_never_worked_all_is_given_up(void **state)
{
    (void)state;
    assert_true(slurm_pool_failed(&pool, 0));
    assert_true(pool.tasks[3].given_up);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_waits_at_a_time_beyond_the_least),
        CASE(a_job_that_ends_is_asked_for_again),
        CASE(a_requeued_job_has_lost_its_worker),
        CASE(an_unknown_job_is_gone_after_three_answers),
        CASE(jobs_of_a_coordinator_that_was_killed_are_taken_over),
        CASE(a_queue_that_never_starts_is_given_up),
        CASE(jobs_without_a_worker_are_given_up),
        CASE(what_is_dismissed_is_not_asked_for),
        CASE(pauses_grow_while_sbatch_fails),
        CASE(if_sbatch_never_worked_all_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
