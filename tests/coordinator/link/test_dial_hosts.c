#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "tests/coordinator/link/dial_stage.h"

/* The second host is behind the end of the list. */
static void hosts_that_dial_back_are_found(void **state)
{
    struct host list[2] = { { .role = HOST_BOTH }, { .dial.back = true } };
    struct hosts hosts = { .list = list, .n = 1 };

    (void)state;
    assert_false(dial_hosts_any(&hosts));
    hosts.n = 2;
    assert_true(dial_hosts_any(&hosts));
}

static void a_line_of_slurm_is_found(void **state)
{
    struct host list[2] = { { .dial.back = true },
                            { .dial = { .back = true, .slurm.task = 1 } } };
    struct hosts hosts = { .list = list, .n = 1 };

    (void)state;
    assert_false(dial_hosts_slurm(&hosts));
    hosts.n = 2;
    assert_true(dial_hosts_slurm(&hosts));
}

static bool is_there(const char *folder, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* They are on disk, so that the next command has them too. */
static void each_host_has_an_invitation_of_its_own(void **state)
{
    struct dial_stage *stage = *state;
    struct invite desk, late;
    struct dial_keys *again;
    char folder[96], ours[96];
    struct err err;

    dial_stage_open(stage);
    desk = dial_stage_invitation(stage, 1);
    late = dial_stage_invitation(stage, 4);
    assert_string_not_equal(desk.secret_key, late.secret_key);
    assert_string_equal(desk.server_key, late.server_key);
    assert_string_equal(desk.owner.machine, "desk");
    assert_string_equal(late.owner.machine, "late");
    assert_string_equal(desk.owner.user, "invitation");
    assert_string_equal(desk.owner.database, "-");
    assert_string_not_equal(desk.owner.id, desk.owner.command);
    assert_int_equal(desk.epoch, 1);
    assert_int_equal(desk.linger_ms, 90000);
    snprintf(ours, sizeof(ours), "tcp://127.0.0.1:%d",
             dial_keys_port(stage->keys));
    assert_string_equal(desk.endpoint, ours);
    snprintf(folder, sizeof(folder), "%s.invitations", stage->db);
    assert_false(is_there(folder, "box"));
    assert_int_equal(dial_keys_open(stage->db, &again, &err), 0);
    assert_string_equal(dial_keys_host(again, "late", &err)->secret_key,
                        late.secret_key);
    dial_keys_close(again);
}

static void only_a_worker_that_dials_back_is_one(void **state)
{
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    assert_false(dial_hosts_has(NULL, 1));
    assert_false(dial_hosts_has(stage->dial, 0));
    assert_true(dial_hosts_has(stage->dial, 1));
    dial_stage_no_news(stage, 0);
}

static void the_port_of_earlier_invitations_is_used_again(void **state)
{
    struct dial_stage *stage = *state;
    struct err err;
    int port;

    assert_int_equal(listen_free_port(&stage->listen, &port, &err), 0);
    dial_keys_set_port(stage->keys, port);
    dial_stage_open(stage);
    assert_int_equal(dial_keys_port(stage->keys), port);
    (void)dial_stage_worker(stage, 1, DIAL_STAGE_EPOCH, 1);
    assert_true(dial_stage_takes(stage, 1));
}

static void a_port_that_is_asked_for_comes_first(void **state)
{
    struct dial_stage *stage = *state;
    int earlier;
    struct err err;

    assert_int_equal(listen_free_port(&stage->listen, &earlier, &err), 0);
    assert_int_equal(
        listen_free_port(&stage->listen, &stage->listen.port, &err), 0);
    dial_keys_set_port(stage->keys, earlier);
    dial_stage_open(stage);
    assert_int_equal(dial_keys_port(stage->keys), stage->listen.port);
}

static void where_nothing_can_be_kept_it_does_not_open(void **state)
{
    struct dial_stage *stage = *state;
    struct err err;

    snprintf(stage->db, sizeof(stage->db), "%s/none/s.db", stage->folder);
    dial_keys_close(stage->keys);
    assert_int_equal(dial_keys_open(stage->db, &stage->keys, &err), 0);
    assert_int_equal(dial_stage_try(stage, &err), ERR_SYSTEM);
    assert_int_equal(dial_stage_line.started, 0);
}

static void secret_keys_are_wiped_after_use(void **state)
{
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    assert_int_equal(dial_stage_wiped_invites, 1);
    assert_int_equal(dial_stage_wiped_texts, 1);
    (void)dial_stage_worker(stage, 1, 1, 1);
    assert_false(dial_stage_takes(stage, 1)); /* so it is invited */
    assert_int_equal(dial_stage_wiped_invites, 2);
    assert_int_equal(dial_stage_wiped_texts, 2);
    dial_stage_wiped = 0;
    dial_hosts_close(stage->dial);
    stage->dial = NULL;
    assert_int_equal(dial_stage_wiped, 1);
}

static void the_first_news_is_how_its_worker_is_started(void **state)
{
    struct dial_stage *stage = *state;
    struct host_thread_news news;
    char file[96];

    dial_stage_open(stage);
    news = dial_stage_await(stage, 1, HOST_THREADS_WAITING);
    snprintf(file, sizeof(file), "%s.invitations/desk", stage->db);
    assert_non_null(strstr(news.text, "fa-worker --invitation FILE"));
    assert_non_null(strstr(news.text, file));
    dial_stage_no_news(stage, 1);
}

/* The worker of host 1, which is there. */
static void *attached(struct dial_stage *stage)
{
    void *worker = dial_stage_worker(stage, 1, DIAL_STAGE_EPOCH, 1);

    assert_true(dial_stage_takes(stage, 1));
    dial_stage_await(stage, 1, HOST_THREADS_WAITING);
    dial_stage_await(stage, 1, HOST_THREADS_ATTACHED);
    dial_stage_no_news(stage, 1);
    return worker;
}

static void a_worker_of_another_run_is_invited_to_this_one(void **state)
{
    struct dial_stage *stage = *state;
    struct invite before, invite;
    void *worker;
    struct msg msg;
    struct err err;

    dial_stage_open(stage);
    before = dial_stage_invitation(stage, 1);
    worker = dial_stage_worker(stage, 1, 1, 1);
    assert_false(dial_stage_takes(stage, 1));
    msg = dial_stage_read(worker);
    assert_int_equal(msg.type, MSG_INVITE);
    assert_int_equal(msg.epoch, DIAL_STAGE_EPOCH);
    assert_int_equal(
        invite_parse(msg.invite.text, strlen(msg.invite.text), &invite, &err),
        0);
    msg_fini(&msg);
    assert_int_equal(invite.epoch, DIAL_STAGE_EPOCH);
    assert_int_equal(invite.linger_ms, 30000);
    assert_string_equal(invite.owner.database, "/home/ada/sweep.db");
    assert_string_equal(invite.server_key, before.server_key);
    assert_string_equal(invite.public_key, before.public_key);
    assert_string_equal(invite.secret_key, before.secret_key);
    assert_string_equal(invite.endpoint, before.endpoint);
    assert_string_equal(dial_stage_log(), "");
    dial_stage_await(stage, 1, HOST_THREADS_WAITING);
    dial_stage_no_news(stage, 1);
    dial_stage_hello(worker, DIAL_STAGE_EPOCH, 1);
    assert_true(dial_stage_takes(stage, 1));
    dial_stage_has_read_all(stage, 1, worker);
    dial_stage_await(stage, 1, HOST_THREADS_ATTACHED);
}

static void an_invitation_that_nobody_gets_is_in_the_log(void **state)
{
    const struct msg beat = { .type = MSG_BEAT, .epoch = 1 };
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    assert_false(dial_hosts_hear(stage->dial, 1, &beat, 5));
    assert_non_null(strstr(dial_stage_log(), "INVITE-FAILED"));
    assert_non_null(strstr(dial_stage_log(), "no connection"));
}

static void a_worker_that_says_bye_has_ended(void **state)
{
    const struct msg bye = { .type = MSG_BYE, .epoch = DIAL_STAGE_EPOCH };
    struct dial_stage *stage = *state;
    struct host_thread_news news;
    void *worker;

    dial_stage_open(stage);
    worker = attached(stage);
    dial_stage_say(worker, &bye);
    assert_true(dial_stage_takes(stage, 1));
    news = dial_stage_await(stage, 1, HOST_THREADS_BROKEN);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_string_equal(news.text, "its worker has ended");
    dial_stage_await(stage, 1, HOST_THREADS_WAITING);
    dial_stage_no_news(stage, 1);
}

static void a_silent_worker_has_to_come_again(void **state)
{
    struct dial_stage *stage = *state;
    void *worker;

    dial_stage_open(stage);
    worker = attached(stage);
    dial_hosts_reconnect(stage->dial, 1);
    assert_string_equal(dial_stage_await(stage, 1, HOST_THREADS_BROKEN).text,
                        "its worker is silent");
    dial_stage_await(stage, 1, HOST_THREADS_WAITING);
    dial_hosts_reconnect(stage->dial, 1); /* it is not there */
    dial_stage_no_news(stage, 1);
    dial_stage_hello(worker, DIAL_STAGE_EPOCH, 1);
    assert_true(dial_stage_takes(stage, 1));
    dial_stage_await(stage, 1, HOST_THREADS_ATTACHED);
}

static void a_host_that_is_dismissed_has_no_news(void **state)
{
    struct dial_stage *stage = *state;

    dial_stage_open(stage);
    dial_hosts_dismiss(stage->dial, 1);
    (void)dial_stage_worker(stage, 1, DIAL_STAGE_EPOCH, 1);
    assert_false(dial_stage_takes(stage, 1));
    dial_stage_no_news(stage, 1);
}

#define TWO                                                               \
    "two workers have the invitation of desk: fa-worker 1 on node7, and " \
    "fa-worker 2 on node7, which is sent away"

static void the_second_worker_of_an_invitation_is_sent_away(void **state)
{
    const struct msg beat = { .type = MSG_BEAT, .epoch = DIAL_STAGE_EPOCH };
    struct dial_stage *stage = *state;
    struct host_thread_news news;
    void *first, *second;
    struct msg msg;

    dial_stage_open(stage);
    first = attached(stage);
    dial_stage_now_ns += NS_PER_S;
    second = dial_stage_worker(stage, 1, DIAL_STAGE_EPOCH, 2);
    assert_false(dial_stage_takes(stage, 1));
    msg = dial_stage_read(first); /* is it still there? */
    assert_int_equal(msg.type, MSG_BEAT);
    assert_int_equal(msg.epoch, DIAL_STAGE_EPOCH);
    msg_fini(&msg);
    dial_stage_no_news(stage, 1);
    dial_stage_now_ns += NS_PER_S;
    dial_stage_say(first, &beat);
    assert_true(dial_stage_takes(stage, 1));
    dial_stage_hello(second, DIAL_STAGE_EPOCH, 2);
    assert_false(dial_stage_takes(stage, 1));
    msg = dial_stage_read(second);
    assert_int_equal(msg.type, MSG_STOP);
    assert_int_equal(msg.epoch, DIAL_STAGE_EPOCH);
    assert_string_equal(msg.stop.what, "now");
    assert_memory_equal(msg.stop.text, TWO, strlen(TWO));
    msg_fini(&msg);
    news = dial_stage_await(stage, 1, HOST_THREADS_REMARK);
    assert_memory_equal(news.text, TWO, strlen(TWO));
    dial_stage_no_news(stage, 1);
    dial_stage_has_read_all(stage, 1, first);
}

/* It was killed and started again. */
static void a_worker_whose_connection_is_gone_makes_room(void **state)
{
    struct dial_stage *stage = *state;
    struct host_thread_news news;
    void *second;
    int turn = 0;

    dial_stage_open(stage);
    zmq_close(attached(stage));
    stage->workers[0] = NULL;
    second = dial_stage_worker(stage, 1, DIAL_STAGE_EPOCH, 2);
    assert_false(dial_stage_takes(stage, 1));
    /* the ROUTER may have heard of the second before */
    for (; dial_hosts_news(stage->dial, 1, &news) != 1; turn++) {
        assert_true(turn < 20000);
        dial_stage_hello(second, DIAL_STAGE_EPOCH, 2);
        assert_false(dial_stage_takes(stage, 1));
    }
    assert_int_equal(news.event, HOST_THREADS_BROKEN);
    assert_string_equal(news.text, "its connection is gone");
    dial_stage_await(stage, 1, HOST_THREADS_WAITING);
    dial_stage_hello(second, DIAL_STAGE_EPOCH, 2);
    assert_true(dial_stage_takes(stage, 1));
    dial_stage_await(stage, 1, HOST_THREADS_ATTACHED);
}

static void a_rival_takes_the_place_of_a_silent_worker(void **state)
{
    struct dial_stage *stage = *state;
    void *second;

    dial_stage_open(stage);
    (void)attached(stage);
    dial_stage_now_ns += NS_PER_S;
    second = dial_stage_worker(stage, 1, DIAL_STAGE_EPOCH, 2);
    assert_false(dial_stage_takes(stage, 1));
    dial_stage_now_ns += 8 * NS_PER_S;
    dial_stage_hello(second, DIAL_STAGE_EPOCH, 2);
    assert_false(dial_stage_takes(stage, 1));
    assert_string_equal(dial_stage_await(stage, 1, HOST_THREADS_BROKEN).text,
                        "its worker is silent");
    dial_stage_await(stage, 1, HOST_THREADS_WAITING);
    dial_stage_hello(second, DIAL_STAGE_EPOCH, 2);
    assert_true(dial_stage_takes(stage, 1));
    dial_stage_await(stage, 1, HOST_THREADS_ATTACHED);
}

#define CASE(test)                                           \
    cmocka_unit_test_setup_teardown(test, dial_stage_set_up, \
                                    dial_stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_that_dial_back_are_found),
        cmocka_unit_test(a_line_of_slurm_is_found),
        CASE(each_host_has_an_invitation_of_its_own),
        CASE(only_a_worker_that_dials_back_is_one),
        CASE(the_port_of_earlier_invitations_is_used_again),
        CASE(a_port_that_is_asked_for_comes_first),
        CASE(where_nothing_can_be_kept_it_does_not_open),
        CASE(secret_keys_are_wiped_after_use),
        CASE(the_first_news_is_how_its_worker_is_started),
        CASE(a_worker_of_another_run_is_invited_to_this_one),
        CASE(an_invitation_that_nobody_gets_is_in_the_log),
        CASE(a_worker_that_says_bye_has_ended),
        CASE(a_silent_worker_has_to_come_again),
        CASE(a_host_that_is_dismissed_has_no_news),
        CASE(the_second_worker_of_an_invitation_is_sent_away),
        CASE(a_worker_whose_connection_is_gone_makes_room),
        CASE(a_rival_takes_the_place_of_a_silent_worker),
    };

    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
