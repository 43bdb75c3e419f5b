/* The hosts of a line of Slurm: what its thread is told, and what it tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/slurm/slurm_use.h"
#include "tests/coordinator/link/dial_stage.h"

static void its_thread_is_started_for_its_first_host(void **state)
{
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    assert_int_equal(dial_stage_line.started, 1);
    assert_int_equal(dial_stage_line.first, 2);
    assert_ptr_equal(dial_hosts_socket(stage->dial, 0),
                     slurm_thread_socket(&dial_stage_line));
    assert_null(dial_hosts_socket(stage->dial, 1));
    assert_null(dial_hosts_socket(NULL, 0));
    dial_hosts_close(stage->dial);
    stage->dial = NULL;
    assert_int_equal(dial_stage_line.stopped, 1);
}

/* By the name of its jobs, the next command finds them. */
static void what_its_jobs_need_is_in_their_folder(void **state)
{
    struct dial_stage *stage = *state;
    char name[SLURM_NAME_BYTES], path[256];
    struct invite first, second;

    dial_stage_open(stage);
    slurm_files_name(&stage->list[2], dial_keys_server(stage->keys)->public_key,
                     name);
    assert_string_equal(dial_keys_job(stage->keys, 0), name);
    assert_null(dial_keys_job(stage->keys, 1));
    snprintf(path, sizeof(path), "%s/%s/job.sh", stage->list[2].workdir, name);
    assert_int_equal(access(path, X_OK), 0);
    slurm_files_name(&stage->list[5], dial_keys_server(stage->keys)->public_key,
                     name);
    snprintf(path, sizeof(path), "%s/%s", stage->list[5].workdir, name);
    assert_int_equal(access(path, F_OK), -1); /* behind the end */
    first = dial_stage_invitation(stage, 2);
    second = dial_stage_invitation(stage, 3);
    assert_string_not_equal(first.secret_key, second.secret_key);
}

static void its_thread_hears_who_has_come(void **state)
{
    const struct msg beat = { .type = MSG_BEAT, .epoch = DIAL_STAGE_EPOCH };
    struct dial_stage *stage = *state;
    void *node;

    dial_stage_open(stage);
    node = dial_stage_worker(stage, 3, DIAL_STAGE_EPOCH, 1);
    assert_true(dial_stage_takes(stage, 3));
    dial_stage_say(node, &beat);
    assert_true(dial_stage_takes(stage, 3));
    (void)dial_stage_worker(stage, 1, DIAL_STAGE_EPOCH, 1);
    assert_true(dial_stage_takes(stage, 1));
    for (int host = 0; host < 8; host++)
        assert_int_equal(dial_stage_line.came[host], host == 3);
}

static void its_thread_hears_who_is_dismissed(void **state)
{
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    for (size_t host = 1; host < 5; host++)
        if (host != 2)
            dial_hosts_dismiss(stage->dial, host);
    for (int host = 0; host < 8; host++)
        assert_int_equal(dial_stage_line.dismissed[host], host == 3);
}

static void tell(size_t host, enum slurm_change change, const char *text)
{
    struct slurm_news *news = &dial_stage_line.news[dial_stage_line.n_news++];

    assert_true(dial_stage_line.n_news <= DIAL_STAGE_NEWS);
    *news = (struct slurm_news){
        .host = host, .change = change, .runs_s = 40, .ended_s = 50
    };
    snprintf(news->text, sizeof(news->text), "%s", text);
}

static void a_host_waits_for_what_slurm_says(void **state)
{
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    assert_string_equal(dial_stage_await(stage, 3, HOST_THREADS_WAITING).text,
                        "Slurm is asked for its node");
    tell(3, SLURM_QUEUED, "its job waits: Priority");
    tell(3, SLURM_SAME, "nothing");
    assert_string_equal(dial_stage_await(stage, 3, HOST_THREADS_WAITING).text,
                        "its job waits: Priority");
    dial_stage_no_news(stage, 3);
    assert_string_equal(dial_stage_await(stage, 2, HOST_THREADS_WAITING).text,
                        "Slurm is asked for its node");
}

static void a_job_starts_and_ends(void **state)
{
    struct dial_stage *stage = *state;
    struct host_thread_news news;

    dial_stage_open(stage);
    dial_stage_await(stage, 3, HOST_THREADS_WAITING);
    tell(3, SLURM_STARTED, "");
    assert_int_equal(dial_stage_await(stage, 3, HOST_THREADS_CONNECTING).code,
                     40);
    dial_stage_no_news(stage, 3);
    tell(3, SLURM_LEFT, "its job was cancelled");
    news = dial_stage_await(stage, 3, HOST_THREADS_BROKEN);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_string_equal(news.text, "its job was cancelled");
    assert_int_equal(dial_stage_await(stage, 3, HOST_THREADS_JOB_ENDED).code,
                     50);
    assert_string_equal(dial_stage_await(stage, 3, HOST_THREADS_WAITING).text,
                        "its job was cancelled");
    dial_stage_no_news(stage, 3);
}

/* Nothing that Slurm says of it afterwards is news. */
static void a_host_that_slurm_never_gives_is_given_up(void **state)
{
    struct dial_stage *stage = *state;
    struct host_thread_news news;

    dial_stage_open(stage);
    tell(3, SLURM_NEVER, "no such partition");
    news = dial_stage_await(stage, 3, HOST_THREADS_GAVE_UP);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_string_equal(news.text, "no such partition");
    dial_stage_no_news(stage, 3);
    tell(3, SLURM_STARTED, "");
    dial_stage_no_news(stage, 3);
}

/* The workers of hosts 2 and 3, which have come now. */
static void both_come(struct dial_stage *stage, void *nodes[2])
{
    dial_stage_open(stage);
    for (size_t i = 0; i < 2; i++) {
        nodes[i] = dial_stage_worker(stage, 2 + i, DIAL_STAGE_EPOCH, 1);
        assert_true(dial_stage_takes(stage, 2 + i));
        dial_stage_await(stage, 2 + i, HOST_THREADS_WAITING);
        dial_stage_await(stage, 2 + i, HOST_THREADS_ATTACHED);
    }
}

/* Slurm is late: its worker is there already. */
static void a_worker_that_is_there_waits_for_nothing(void **state)
{
    struct dial_stage *stage = *state;
    void *nodes[2];

    both_come(stage, nodes);
    tell(3, SLURM_QUEUED, "its job waits: Priority");
    dial_stage_no_news(stage, 3);
}

static void await_drain(void *node)
{
    struct msg msg = dial_stage_read(node);

    assert_int_equal(msg.type, MSG_STOP);
    assert_int_equal(msg.epoch, DIAL_STAGE_EPOCH);
    assert_string_equal(msg.stop.what, "drain");
    msg_fini(&msg);
}

static void a_node_without_work_is_given_back_once(void **state)
{
    const struct msg build = { .type = MSG_BUILD };
    struct dial_stage *stage = *state;
    void *nodes[2];

    both_come(stage, nodes);
    dial_stage_now_ns += NS_PER_S;
    dial_hosts_sent(stage->dial, 3, &build);
    dial_stage_now_ns += SLURM_USE_IDLE_NS - NS_PER_S - 1;
    dial_hosts_step(stage->dial);
    dial_stage_has_read_all(stage, 2, nodes[0]);
    dial_stage_now_ns += NS_PER_S - 1;
    dial_hosts_step(stage->dial); /* it is looked at every second */
    dial_stage_has_read_all(stage, 2, nodes[0]);
    dial_stage_now_ns += 1;
    dial_hosts_step(stage->dial);
    await_drain(nodes[0]);
    dial_stage_has_read_all(stage, 3, nodes[1]);
    dial_stage_now_ns += NS_PER_S;
    dial_hosts_step(stage->dial);
    dial_stage_has_read_all(stage, 2, nodes[0]);
}

static void every_order_is_work_and_nothing_else(void **state)
{
    static const struct {
        enum msg_type type;
        bool is_work;
    } rows[] = { { MSG_BUILD, true },
                 { MSG_MEASURE, true },
                 { MSG_TOOL, true },
                 { MSG_BEAT, false } };
    struct dial_stage *stage = *state;
    void *nodes[2];

    both_come(stage, nodes);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct msg msg = { .type = rows[i].type };
        const struct msg tool = { .type = MSG_TOOL };

        dial_stage_now_ns += SLURM_USE_BUSY_NS;
        dial_hosts_sent(stage->dial, 2, &tool);
        dial_hosts_sent(stage->dial, 3, &msg);
        dial_hosts_step(stage->dial);
        assert_int_equal(dial_stage_line.grows, rows[i].is_work);
    }
}

static void a_result_is_work(void **state)
{
    const struct msg ran = { .type = MSG_RAN, .epoch = DIAL_STAGE_EPOCH },
                     beat = { .type = MSG_BEAT, .epoch = DIAL_STAGE_EPOCH };
    struct dial_stage *stage = *state;
    void *nodes[2];

    both_come(stage, nodes);
    for (int is_result = 0; is_result < 2; is_result++) {
        dial_stage_now_ns += SLURM_USE_BUSY_NS;
        for (size_t host = 2; host < 4; host++)
            assert_true(
                dial_hosts_hear(stage->dial, host, is_result ? &ran : &beat,
                                router_connection(stage->router, host)));
        dial_hosts_step(stage->dial);
        assert_int_equal(dial_stage_line.grows, is_result);
    }
}

/* They have not dialled back: nobody knows if they are too few. */
static void a_line_that_waits_does_not_grow(void **state)
{
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    dial_stage_line.grows = true;
    dial_hosts_step(stage->dial);
    assert_false(dial_stage_line.grows);
    assert_int_equal(dial_stage_line.n_grows, 1);
}

static void a_line_is_looked_at_every_second(void **state)
{
    struct dial_stage *stage = *state;

    dial_hosts_step(NULL);
    dial_stage_open(stage);
    for (int second = 1; second < 4; second++) {
        dial_hosts_step(stage->dial);
        dial_stage_now_ns += NS_PER_S - 1;
        dial_hosts_step(stage->dial);
        assert_int_equal(dial_stage_line.n_grows, second);
        dial_stage_now_ns += 1;
    }
}

#define CASE(test)                                           \
    cmocka_unit_test_setup_teardown(test, dial_stage_set_up, \
                                    dial_stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(its_thread_is_started_for_its_first_host),
        CASE(what_its_jobs_need_is_in_their_folder),
        CASE(its_thread_hears_who_has_come),
        CASE(its_thread_hears_who_is_dismissed),
        CASE(a_host_waits_for_what_slurm_says),
        CASE(a_job_starts_and_ends),
        CASE(a_host_that_slurm_never_gives_is_given_up),
        CASE(a_worker_that_is_there_waits_for_nothing),
        CASE(a_node_without_work_is_given_back_once),
        CASE(every_order_is_work_and_nothing_else),
        CASE(a_result_is_work),
        CASE(a_line_that_waits_does_not_grow),
        CASE(a_line_is_looked_at_every_second),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
