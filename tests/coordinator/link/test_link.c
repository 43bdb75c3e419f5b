/* The reactor's table of functions, over real threads and sockets, with a
 * script as the worker (next to this program, as fa-worker is). */
#include <dirent.h>
#include <dlfcn.h>
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
#include <zmq.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/curve.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/invite.h"
#include "common/log.h"
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
    bool rents;
    char db[64];
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
    snprintf(stage.db, sizeof(stage.db), "%s/s.db", stage.stand_in.folder);
    stage.owner = (struct owner){ .id = "0123456789abcdef0123456789abcdef",
                                  .command = "fedcba9876543210fedcba9876543210",
                                  .pid = 1,
                                  .since_utc = 1,
                                  .user = "ada",
                                  .machine = "here",
                                  .database = "/home/ada/sweep.db" };
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
    const struct sweep_link_options options = {
        .epoch = 7,
        .linger_s = 1,
        .owner = &stage->owner,
        .remote = &stage->remote,
        .rents = stage->rents,
        .dial = { .db = stage->db, .listen.address = "127.0.0.1" }
    };

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

/* The folder of this coordinator; false if it is not there. */
static bool find_run_dir(const struct stage *stage, char path[128])
{
    char start[64];
    DIR *dir = opendir(stage->stand_in.folder);
    struct dirent *entry;
    bool found = false;

    assert_non_null(dir);
    snprintf(start, sizeof(start), "fa-coord-%u-%d-", (unsigned)geteuid(),
             (int)getpid());
    while (!found && (entry = readdir(dir))) {
        found = strncmp(entry->d_name, start, strlen(start)) == 0;
        snprintf(path, 128, "%s/%.40s", stage->stand_in.folder, entry->d_name);
    }
    closedir(dir);
    return found;
}

static void close_link(struct stage *stage)
{
    char path[128];

    stage->table.close(stage->table.self);
    assert_false(find_run_dir(stage, path));
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

/* What a host was invited with, once it is in this file. */
static struct invite invitation_in(const char *path)
{
    int64_t until_ns = clock_boot_ns() + WAIT_NS;
    char text[INVITE_BYTES_MAX];
    struct invite invite = { .epoch = 0 };
    struct err err = { "" };
    int end;

    while (clock_boot_ns() < until_ns) {
        FILE *file = fopen(path, "r");
        size_t n = file ? fread(text, 1, sizeof(text), file) : 0;

        if (file)
            fclose(file);
        end = invite_end(text, n, &err);
        if (end > 0) {
            if (invite_parse(text, (size_t)end, &invite, &err) < 0)
                fail_msg("%s", err.text);
            return invite;
        }
        (void)poll(NULL, 0, 10);
    }
    fail_msg("no invitation came: %s", err.text);
    return invite;
}

/* A worker that has the invitation of host 1, on the ROUTER's own socket. */
static void *dial(const struct stage *stage, void *zctx)
{
    void *dealer = zmq_socket(zctx, ZMQ_DEALER);
    struct invite invite;
    int no_linger = 0;
    char path[128], endpoint[160];

    snprintf(path, sizeof(path), "%s/heard", stage->list[1].workdir);
    invite = invitation_in(path);
    assert_true(find_run_dir(stage, path));
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/router", path);
    zmq_setsockopt(dealer, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    assert_int_equal(curve_client(dealer, invite.server_key, invite.public_key,
                                  invite.secret_key, NULL),
                     0);
    assert_int_equal(zmq_connect(dealer, endpoint), 0);
    return dealer;
}

static void messages_go_to_and_from_a_host(void **state)
{
    struct stage *stage = *state;
    const struct msg beat = { .type = MSG_BEAT, .beat.journal = 3 },
                     stop = { .type = MSG_STOP, .stop.what = "now" };
    int64_t until_ns = clock_boot_ns() + WAIT_NS;
    void *zctx = zmq_ctx_new(), *dealer;
    int wait_ms = (int)(WAIT_NS / NS_PER_MS);
    size_t host = 99;
    struct buf bytes;
    struct err err;
    struct msg in;
    char reply[64];

    snprintf(stage->list[1].workdir, sizeof(stage->list[1].workdir), "%s/other",
             stage->stand_in.folder);
    open_with(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await(stage, 1, HOST_THREADS_ATTACHED);
    dealer = dial(stage, zctx);
    buf_init(&bytes, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&beat, &bytes, &err), 0);
    assert_true(zmq_send(dealer, bytes.bytes, bytes.len, 0) > 0);
    buf_fini(&bytes);
    while (stage->table.recv(stage->table.self, &host, &in, &err) == 0) {
        assert_true(clock_boot_ns() < until_ns);
        stage->table.wait(stage->table.self, NULL, 0, 100);
    }
    assert_int_equal(host, 1);
    assert_int_equal(in.type, MSG_BEAT);
    assert_int_equal(in.beat.journal, 3);
    msg_fini(&in);
    assert_int_equal(stage->table.send(stage->table.self, 1, &stop, &err), 0);
    zmq_setsockopt(dealer, ZMQ_RCVTIMEO, &wait_ms, sizeof(wait_ms));
    assert_true(zmq_recv(dealer, reply, sizeof(reply), 0) > 0);
    zmq_close(dealer);
    zmq_ctx_term(zctx);
    close_link(stage);
}

/* The worker of host 1, which dials back; as of which run? */
static void say_hello(void *dealer, int64_t epoch)
{
    const struct msg hello = { .type = MSG_HELLO,
                               .epoch = epoch,
                               .hello = { .protocol = 1,
                                          .version = "0.1.0",
                                          .host = "node7",
                                          .boot_id = "0f0f0f0f-0f0f-4f0f-8f0f-"
                                                     "0f0f0f0f0f0f",
                                          .pid = 1,
                                          .cpus = 1 } };
    struct buf bytes;
    struct err err;

    buf_init(&bytes, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&hello, &bytes, &err), 0);
    assert_true(zmq_send(dealer, bytes.bytes, bytes.len, 0) > 0);
    buf_fini(&bytes);
}

/* The next message is of host 1, and ends a wait. */
static void await_message(struct stage *stage, enum msg_type type)
{
    int64_t until_ns = clock_boot_ns() + WAIT_NS;
    size_t host = 99;
    struct err err;
    struct msg in;

    while (stage->table.recv(stage->table.self, &host, &in, &err) == 0) {
        assert_true(clock_boot_ns() < until_ns);
        stage->table.wait(stage->table.self, NULL, 0, WAIT_NS / NS_PER_MS);
    }
    assert_true(clock_boot_ns() < until_ns); /* it has ended the wait */
    assert_int_equal(host, 1);
    assert_int_equal(in.type, type);
    msg_fini(&in);
}

static void *dial_back(const struct stage *stage, void *zctx)
{
    void *dealer = zmq_socket(zctx, ZMQ_DEALER);
    struct invite invite;
    int no_linger = 0;
    char path[128];

    snprintf(path, sizeof(path), "%s.invitations/two", stage->db);
    invite = invitation_in(path);
    zmq_setsockopt(dealer, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    assert_int_equal(curve_client(dealer, invite.server_key, invite.public_key,
                                  invite.secret_key, NULL),
                     0);
    assert_int_equal(zmq_connect(dealer, invite.endpoint), 0);
    return dealer;
}

/* The other one is reached from here. */
static void a_worker_may_dial_back(void **state)
{
    struct stage *stage = *state;
    void *zctx = zmq_ctx_new(), *dealer;
    struct host_thread_news news;

    stage->list[1].dial.back = true;
    open_with(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await(stage, 0, HOST_THREADS_ATTACHED);
    await(stage, 1, HOST_THREADS_WAITING);
    dealer = dial_back(stage, zctx);
    say_hello(dealer, 1); /* that of its invitation is not for the reactor */
    say_hello(dealer, 7);
    await_message(stage, MSG_HELLO);
    await(stage, 1, HOST_THREADS_ATTACHED);
    stage->table.reconnect(stage->table.self, 1);
    await(stage, 1, HOST_THREADS_BROKEN);
    say_hello(dealer, 7);
    await_message(stage, MSG_HELLO);
    stage->table.dismiss(stage->table.self, 1);
    assert_int_equal(stage->table.news(stage->table.self, 1, &news), 0);
    zmq_close(dealer);
    zmq_ctx_term(zctx);
    close_link(stage);
}

/* A stranger knocks; how often was that logged by the time it was refused? */
static int logged_for_a_stranger(struct stage *stage, void *zctx,
                                 const char *log_text)
{
    int64_t until_ns = clock_boot_ns() + NS_PER_S;
    void *dealer = zmq_socket(zctx, ZMQ_DEALER);
    struct invite invite = { .epoch = 7 };
    int no_linger = 0, times = 0;
    char path[128], endpoint[160];

    assert_true(find_run_dir(stage, path));
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/router", path);
    snprintf(path, sizeof(path), "%s/heard", stage->list[1].workdir);
    invite = invitation_in(path);
    zmq_setsockopt(dealer, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    assert_int_equal(curve_keypair(invite.public_key, invite.secret_key, NULL),
                     0);
    assert_int_equal(curve_client(dealer, invite.server_key, invite.public_key,
                                  invite.secret_key, NULL),
                     0);
    assert_int_equal(zmq_connect(dealer, endpoint), 0);
    while (clock_boot_ns() < until_ns)
        stage->table.wait(stage->table.self, NULL, 0, 50);
    zmq_close(dealer);
    for (const char *at = log_text; (at = strstr(at, "CLIENTS-REFUSED")); at++)
        times++;
    return times;
}

/* There may be many. */
static void strangers_are_in_the_log_now_and_then(void **state)
{
    struct stage *stage = *state;
    void *zctx = zmq_ctx_new();
    static char text[65536];
    FILE *file = fmemopen(text, sizeof(text), "w");

    setbuf(file, NULL);
    log_setup(file, LOG_W);
    open_with(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await(stage, 1, HOST_THREADS_ATTACHED);
    stage->table.wait(stage->table.self, NULL, 0, 50);
    assert_null(strstr(text, "CLIENTS-REFUSED"));
    for (int i = 0; i < 2; i++)
        assert_int_equal(logged_for_a_stranger(stage, zctx, text), 1);
    zmq_ctx_term(zctx);
    close_link(stage);
    log_setup(stderr, LOG_E);
    fclose(file);
}

static void a_rented_host_is_parked_until_it_is_acquired(void **state)
{
    struct stage *stage = *state;

#ifdef __SANITIZE_THREAD__
    skip(); /* it does not see how ZeroMQ hands the place over */
#endif
    stage->rents = true;
    snprintf(stage->list[1].rental.start, sizeof(stage->list[1].rental.start),
             "true");
    open_with(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await(stage, 0, HOST_THREADS_ATTACHED);
    await(stage, 1, HOST_THREADS_PARKED);
    stage->table.rented(stage->table.self, 1, &stage->list[1]);
    await(stage, 1, HOST_THREADS_ATTACHED);
    stage->table.park(stage->table.self, 1);
    await(stage, 1, HOST_THREADS_PARKED);
    close_link(stage);
}

/* There is nobody to end it. */
static void a_wait_lasts_as_long_as_it_may(void **state)
{
    struct stage *stage = *state;
    int64_t from_ns;

    stage->hosts.n = 0;
    open_with(stage, STAND_IN_STAYS);
    from_ns = clock_boot_ns();
    stage->table.wait(stage->table.self, NULL, 0, 100);
    assert_true(clock_boot_ns() - from_ns >= 99 * NS_PER_MS);
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
        staged(messages_go_to_and_from_a_host),
        staged(a_worker_may_dial_back),
        staged(strangers_are_in_the_log_now_and_then),
        staged(a_rented_host_is_parked_until_it_is_acquired),
        staged(a_wait_lasts_as_long_as_it_may),
        staged(one_host_connects_again_and_the_other_is_dismissed),
        staged(a_descriptor_of_the_caller_ends_the_wait),
        staged(without_the_worker_program_it_does_not_open),
        staged(a_runtime_folder_that_is_too_long_is_refused),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
