#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/slurm/slurm_answer.h"

/* As squeue 22.05 answered, with a line of a job that is no array. */
static const char answer[] =
    "12|1|RUNNING|1-02:03:04|1795868908|1795869208|None\n"
    "12|2|COMPLETING|0:07|1795868909|1795868916|None\n"
    "13|3|PENDING|0:00|1795869030|1795869330|Resources\n"
    "9|N/A|RUNNING|1:00|1795868908|1795869208|None\n"
    "11|1|NODE_FAIL|5:00|1795868000|1795868300|NodeDown\n"
    "14|4|PENDING|INVALID|N/A|N/A|launch failed requeued held\n";

static void each_line_is_a_task(void **state)
{
    struct slurm_job *jobs;
    size_t n;

    (void)state;
    assert_int_equal(slurm_answer_read(answer, &jobs, &n, NULL), 0);
    assert_int_equal(n, 5);
    assert_int_equal(jobs[0].array, 12);
    assert_int_equal(jobs[0].task, 1);
    assert_int_equal(jobs[0].state, SLURM_RUNS);
    assert_int_equal(jobs[0].runs_s, 86400 + 2 * 3600 + 3 * 60 + 4);
    assert_int_equal(jobs[1].state, SLURM_RUNS);
    assert_int_equal(jobs[2].state, SLURM_WAITS);
    assert_string_equal(jobs[2].reason, "Resources");
    assert_int_equal(jobs[3].state, SLURM_ENDED);
    assert_string_equal(jobs[3].word, "NODE_FAIL");
    assert_int_equal(jobs[4].runs_s, 0);
    assert_string_equal(jobs[4].reason, "launch failed requeued held");
    assert_int_equal(jobs[0].start_s, 1795868908);
    assert_int_equal(jobs[0].end_s, 0); /* Slurm has its limit there */
    assert_int_equal(jobs[2].start_s, 0);
    assert_int_equal(jobs[3].start_s, 1795868000);
    assert_int_equal(jobs[3].end_s, 1795868300);
    free(jobs);
    assert_int_equal(slurm_answer_read("", &jobs, &n, NULL), 0);
    assert_int_equal(n, 0);
}

static void another_form_is_refused_with_its_line(void **state)
{
    static const char *const rows[] = { "slurm_load_jobs error: Unable\n",
                                        "12|1|RUNNING|0:01\n",
                                        "x|1|RUNNING|0:01|1|2|None\n",
                                        "0|1|RUNNING|0:01|1|2|None\n",
                                        "12|one|RUNNING|0:01|1|2|None\n" };
    struct slurm_job *jobs;
    struct err err;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(slurm_answer_read(rows[i], &jobs, &n, &err),
                         ERR_PROTO);
    assert_string_equal(err.text,
                        "squeue answers '12|one|RUNNING|0:01|1|2|None'");
}

static void run_times_are_those_of_slurm(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = { { "0:07", 7 },       { "59:59", 3599 },
                 { "1:00:00", 3600 }, { "2-00:00:01", 172801 },
                 { "7", 7 },          { "", -1 },
                 { "UNLIMITED", -1 }, { "1:", -1 },
                 { "-1:00", -1 },     { "1:2:3:4", -1 } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(slurm_answer_seconds(rows[i].text), rows[i].seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_a_task),
        cmocka_unit_test(another_form_is_refused_with_its_line),
        cmocka_unit_test(run_times_are_those_of_slurm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
