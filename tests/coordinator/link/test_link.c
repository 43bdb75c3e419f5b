/* The reactor's table of functions, over real threads and sockets, with a
 * script as the worker (next to this program, as fa-worker is). */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/msg.h"
#include "common/owner.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/link.h"
#include "tests/coordinator/link/stand_in.h"

#define WAIT_NS (20 * NS_PER_S)
#define HOSTS 2

struct stage {
    struct stand_in stand_in;
    char worker[256];
    struct host list[HOSTS];
    struct hosts hosts;
    struct owner owner;
    struct remote_options remote;
    struct link *link;
    struct sweep_link table;
};

static int set_up(void **state)
{
    static struct stage stage;
    ssize_t n;

    stage = (struct stage){ .link = link_new() };
    stand_in_open(&stage.stand_in);
    setenv("XDG_RUNTIME_DIR", stage.stand_in.folder, 1);
    n = readlink("/proc/self/exe", stage.worker, sizeof(stage.worker) - 16);
    assert_true(n > 0);
    strcpy(strrchr(stage.worker, '/'), "/fa-worker");
    stage.list[0] = stand_in_host(&stage.stand_in, "one");
    stage.list[1] = stand_in_host(&stage.stand_in, "two");
    stage.hosts = (struct hosts){ stage.list, HOSTS };
    stage.table = link_table(stage.link);
    *state = &stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;

    link_free(stage->link);
    unlink(stage->worker);
    stand_in_close(&stage->stand_in);
    return 0;
}

static int open_link(struct stage *stage, struct err *err)
{
    const struct sweep_link_options options = { .epoch = 7,
                                                .linger_s = 1,
                                                .owner = &stage->owner,
                                                .remote = &stage->remote };

    return stage->table.open(stage->table.self, &stage->hosts, &options, err);
}

static void open_with(struct stage *stage, const char *script)
{
    struct err err;

    stand_in_write(stage->worker, script);
    if (open_link(stage, &err) < 0)
        fail_msg("%s", err.text);
}

/* Wait for this news about a host, and ignore earlier news. */
static struct host_thread_news await(struct stage *stage, size_t host,
                                     enum host_threads_event event)
{
    int64_t until_ns = clock_boot_ns() + WAIT_NS;
    struct host_thread_news news = { .event = HOST_THREADS_CONNECTING };

    while (clock_boot_ns() < until_ns) {
        while (stage->table.news(stage->table.self, host, &news))
            if (news.event == event)
                return news;
        stage->table.wait(stage->table.self, NULL, 0, 100);
    }
    fail_msg("host %zu: no news %d; the last was %d", host, event, news.event);
    return news;
}

static void close_link(struct stage *stage)
{
    stage->table.close(stage->table.self);
    assert_int_equal(access(stage->stand_in.folder, F_OK), 0);
}

static void all_hosts_are_reached(void **state)
{
    struct stage *stage = *state;

    open_with(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    for (size_t i = 0; i < HOSTS; i++)
        assert_int_equal(await(stage, i, HOST_THREADS_ATTACHED).host, i);
    close_link(stage);
}

static void nothing_goes_to_a_host_that_has_not_spoken(void **state)
{
    struct stage *stage = *state;
    struct msg stop = { .type = MSG_STOP, .stop.what = "now" }, in;
    struct err err;
    size_t host;

    open_with(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await(stage, 0, HOST_THREADS_ATTACHED);
    assert_int_equal(stage->table.send(stage->table.self, 0, &stop, &err),
                     ERR_NETWORK);
    assert_string_equal(err.text, "no connection");
    assert_int_equal(stage->table.recv(stage->table.self, &host, &in, &err), 0);
    close_link(stage);
}

static void one_host_connects_again_and_the_other_is_dismissed(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    open_with(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await(stage, 0, HOST_THREADS_ATTACHED);
    await(stage, 1, HOST_THREADS_ATTACHED);
    stage->table.reconnect(stage->table.self, 0);
    stage->table.dismiss(stage->table.self, 1);
    await(stage, 0, HOST_THREADS_BROKEN);
    await(stage, 0, HOST_THREADS_ATTACHED);
    await(stage, 1, HOST_THREADS_ENDED);
    assert_int_equal(stage->table.news(stage->table.self, 1, &news), 0);
    close_link(stage);
}

static void a_descriptor_of_the_caller_ends_the_wait(void **state)
{
    struct stage *stage = *state;
    int64_t from_ns = clock_boot_ns();
    struct pollfd fd = { .events = POLLIN };
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    fd.fd = ends[0];
    open_with(stage, STAND_IN_STAYS);
    stage->table.wait(stage->table.self, &fd, 1, WAIT_NS / NS_PER_MS);
    assert_true(clock_boot_ns() - from_ns < WAIT_NS);
    close(ends[0]);
    close(ends[1]);
    close_link(stage);
}

static void without_the_worker_program_it_does_not_open(void **state)
{
    struct stage *stage = *state;
    struct err err;

    assert_int_equal(open_link(stage, &err), ERR_INPUT);
    assert_memory_equal(err.text, "fa-worker is not in /", 21);
    close_link(stage);
}

static void a_runtime_folder_that_is_too_long_is_refused(void **state)
{
    struct stage *stage = *state;
    char deep[160], command[200];
    struct err err;

    snprintf(deep, sizeof(deep), "%s/%0100d", stage->stand_in.folder, 0);
    snprintf(command, sizeof(command), "mkdir %s", deep);
    assert_int_equal(system(command), 0);
    setenv("XDG_RUNTIME_DIR", deep, 1);
    assert_int_equal(open_link(stage, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "set XDG_RUNTIME_DIR to a shorter"));
    close_link(stage);
}

#define staged(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        staged(all_hosts_are_reached),
        staged(nothing_goes_to_a_host_that_has_not_spoken),
        staged(one_host_connects_again_and_the_other_is_dismissed),
        staged(a_descriptor_of_the_caller_ends_the_wait),
        staged(without_the_worker_program_it_does_not_open),
        staged(a_runtime_folder_that_is_too_long_is_refused),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
