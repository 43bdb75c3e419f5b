/* The news that a host thread sends, with a script as the worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/hash.h"
#include "coordinator/link/host_thread.h"
#include "coordinator/remote/deploy.h"
#include "tests/coordinator/link/stand_in.h"

#define WAIT_MS 20000
#define STILL_MS                                                       \
    2000        /* much longer than a host thread needs to say a thing \
                 */
#define FEW 100 /* looks at the clock of a thread that waits */

/* Time that stands still for the program under test; 0: it passes.  With a
 * step, each look at the clock takes so long. */
static _Atomic int64_t frozen_ns, step_ns;
static _Atomic int looks; /* at the clock */

int clock_gettime(clockid_t id, struct timespec *out)
{
    long rc = syscall(SYS_clock_gettime, id, out);
    int64_t ns;

    if (id != CLOCK_BOOTTIME)
        return (int)rc;
    ns = atomic_fetch_add(&frozen_ns, step_ns);
    looks++;
    if (ns)
        *out = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
    return (int)rc;
}

static void freeze(void)
{
    frozen_ns = clock_boot_ns();
}

/* What is wiped; the library's own does the same. */
static _Atomic int wiped_invites, wiped_texts;

void sodium_memzero(void *const bytes, const size_t len)
{
    memset(bytes, 0, len);
    wiped_invites += len == sizeof(struct invite);
    wiped_texts += len == INVITE_BYTES_MAX;
}

struct stage {
    struct stand_in stand_in;
    struct host host;
    struct worker_binary program;
    char router[64];
    void *zctx;
    struct host_thread *thread;
};

static int set_up(void **state)
{
    static struct stage stage;

    stage = (struct stage){ .thread = NULL };
    stand_in_open(&stage.stand_in);
    stage.host = stand_in_host(&stage.stand_in, "box");
    snprintf(stage.router, sizeof(stage.router), "%s/router",
             stage.stand_in.folder);
    frozen_ns = step_ns = 0;
    wiped_invites = wiped_texts = 0;
    *state = &stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;

    stand_in_close(&stage->stand_in);
    return 0;
}

static void start(struct stage *stage, const char *script)
{
    struct host_threads_options options = { .socket_path = stage->router };
    struct host_thread_task task = { .index = 3,
                                     .host = &stage->host,
                                     .program = &stage->program,
                                     .invite = { .epoch = 7,
                                                 .linger_ms = 1000 } };
    struct err err;

    snprintf(task.invite.endpoint, sizeof(task.invite.endpoint), "%s",
             INVITE_RELAY);
    stage->zctx = zmq_ctx_new();
    stand_in_write(stage->stand_in.program, script);
    if (worker_binary_load(stage->stand_in.program, &stage->program, &err) <
            0 ||
        host_thread_start(stage->zctx, &task, &options, &stage->thread, &err) <
            0)
        fail_msg("%s", err.text);
}

static bool hears(struct stage *stage, long ms, struct host_thread_news *out)
{
    zmq_pollitem_t item = { .socket = host_thread_socket(stage->thread),
                            .events = ZMQ_POLLIN };

    return zmq_poll(&item, 1, ms) > 0 &&
           host_thread_recv(stage->thread, out) == 1;
}

static struct host_thread_news await(struct stage *stage,
                                     enum host_threads_event event)
{
    struct host_thread_news news;

    if (!hears(stage, WAIT_MS, &news))
        fail_msg("no news, and not %d", event);
    if (news.event != event)
        fail_msg("news %d instead of %d: %s", news.event, event, news.text);
    assert_int_equal(news.host, 3);
    return news;
}

static void await_upload(struct stage *stage)
{
    await(stage, HOST_THREADS_CONNECTING);
    await(stage, HOST_THREADS_UPLOADING);
}

/* Tell it to end; it ends, whatever it is doing. */
static void end(struct stage *stage)
{
    int64_t until_ns = clock_boot_ns() + WAIT_MS * NS_PER_MS;

    host_thread_dismiss(stage->thread);
    assert_true(host_thread_join(stage->thread, until_ns));
    zmq_ctx_term(stage->zctx);
    worker_binary_fini(&stage->program);
}

/* The file in the work folder exists and contains this text. */
static void await_heard(struct stage *stage, const char *file, const char *text)
{
    char path[96], content[4096];

    snprintf(path, sizeof(path), "%s/%s", stage->host.workdir, file);
    for (int turn = 0; turn < WAIT_MS / 10; turn++) {
        FILE *stream = fopen(path, "r");
        size_t n = stream ? fread(content, 1, sizeof(content), stream) : 0;
        bool there = stream && n >= strlen(text) &&
                     memmem(content, n, text, strlen(text));

        if (stream)
            fclose(stream);
        if (there)
            return;
        poll(NULL, 0, 10);
    }
    fail_msg("'%s' is not in %s", text, path);
}

static void a_worker_that_speaks_is_attached(void **state)
{
    struct stage *stage = *state;

    start(stage, "head -c 200000 /dev/zero; echo\n" STAND_IN_MAGIC STAND_IN_OPEN
                     STAND_IN_STAYS);
    await_upload(stage);
    await(stage, HOST_THREADS_ATTACHED);
    await_heard(stage, "heard", "epoch 7\n");
    assert_int_equal(wiped_texts, 1);
    assert_int_equal(wiped_invites, 0);
    end(stage);
    assert_int_equal(wiped_invites, 1);
}

/* A file that the script waits for. */
static void let_go_on(const struct stage *stage, const char *name)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/%s", stage->host.workdir, name);
    stand_in_write(path, "");
}

/* The thread looks at the clock once more than 'before'. */
static void await_look(int before)
{
    for (int turn = 0; looks == before && turn < WAIT_MS / 10; turn++)
        (void)poll(NULL, 0, 10);
    assert_true(looks > before);
}

/* Over SSH nothing ends a wait for a session that is idle but its deadline.
 * Here each look at the clock takes as long as the invitation has, so a wait
 * before it is written finds the deadline gone by. */
static void an_invitation_is_written_before_anything_is_waited_for(void **state)
{
    struct stage *stage = *state;
    int before;

    freeze();
    start(stage, "touch \"$3/up\"\n"
                 "while ! test -e \"$3/more\"; do sleep 0.01; done\n"
                 "echo Last login: today\n"
                 "while ! test -e \"$3/go\"; do sleep 0.01; done\n"
                 "printf 'fa-relay 1 0.1.0\\n"
                 "\\001\\000\\001\\000\\000\\000\\000\\000'\n" //
          STAND_IN_STAYS);
    await_upload(stage);
    await_heard(stage, "up", "");
    before = looks;
    let_go_on(stage, "more");
    await_look(before); /* so it waits for the magic line, and looks no more */
    step_ns = 20 * NS_PER_S;
    let_go_on(stage, "go");
    await(stage, HOST_THREADS_ATTACHED);
    await_heard(stage, "heard", "epoch 7\n");
    step_ns = 0;
    end(stage);
}

static void a_thread_that_is_at_work_is_not_joined_yet(void **state)
{
    struct stage *stage = *state;

    start(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await_upload(stage);
    await(stage, HOST_THREADS_ATTACHED);
    freeze();
    assert_false(host_thread_join(stage->thread, clock_boot_ns()));
    end(stage);
}

/* It is asked now and then, and not in a loop. */
static void a_thread_that_cannot_end_is_waited_for(void **state)
{
    struct stage *stage = *state;
    int before;

    start(stage, "touch \"$3/up\"; exec sleep 60\n");
    await_upload(stage);
    await_heard(stage, "up", "");
    before = looks;
    end(stage);
    assert_true(looks - before < FEW);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static void bytes_go_both_ways(void **state)
{
    struct stage *stage = *state;
    int listener = listen_at(stage->router), fd;
    char said[8] = "";

    start(stage, STAND_IN_MAGIC STAND_IN_OPEN
          "printf '\\002\\000\\001\\000\\005\\000\\000\\000hello'\n" //
          STAND_IN_STAYS);
    fd = accept(listener, NULL, NULL);
    assert_int_equal(recv(fd, said, 5, MSG_WAITALL), 5);
    assert_string_equal(said, "hello");
    assert_int_equal(send(fd, "world", 5, 0), 5);
    await_heard(stage, "heard", "world");
    end(stage);
    close(fd);
    close(listener);
}

/* 64 frames of 60000 bytes, which no buffer on the way holds. */
#define FRAMES 64
#define FRAME_BYTES 60000

static void what_the_router_does_not_read_waits(void **state)
{
    struct stage *stage = *state;
    int listener = listen_at(stage->router), fd;
    struct host_thread_news news;
    size_t got = 0;
    char block[4096];
    ssize_t n = 1;

    start(stage, STAND_IN_MAGIC STAND_IN_OPEN
          "touch \"$3/up\"; for i in 0 1 2 3 4 5 6 7; do for j in 0 1 2 3 4 "
          "5 6 7; do\n"
          "printf '\\002\\000\\001\\000\\140\\352\\000\\000'\n"
          "head -c 60000 /dev/zero\n"
          "done; done\n" STAND_IN_STAYS);
    await_upload(stage);
    await(stage, HOST_THREADS_ATTACHED);
    fd = accept(listener, NULL, NULL);
    await_heard(stage, "up", "");
    assert_false(hears(stage, STILL_MS / 4, &news));
    while (got < FRAMES * FRAME_BYTES && n > 0) {
        n = recv(fd, block, sizeof(block), 0);
        got += (size_t)(n > 0 ? n : 0);
    }
    assert_int_equal(got, FRAMES * FRAME_BYTES);
    end(stage);
    close(fd);
    close(listener);
}

static void a_worker_that_does_not_read_holds_nothing_up(void **state)
{
    struct stage *stage = *state;
    int listener = listen_at(stage->router), fd;
    struct pollfd out = { .events = POLLOUT };
    static char block[FRAME_BYTES];
    int rounds = 0;

    start(stage, STAND_IN_MAGIC STAND_IN_OPEN
          "printf '\\002\\000\\001\\000\\005\\000\\000\\000hello'\n" //
          "exec sleep 60\n");
    fd = accept(listener, NULL, NULL);
    assert_int_equal(recv(fd, block, 5, MSG_WAITALL), 5);
    out.fd = fd;
    while (rounds < FRAMES && poll(&out, 1, STILL_MS / 4) > 0) {
        (void)send(fd, block, sizeof(block), MSG_DONTWAIT);
        rounds++;
    }
    assert_true(rounds < FRAMES); /* it is full */
    end(stage);
    close(fd);
    close(listener);
}

/* Scripts that end, and the text of the resulting news. */
static const struct ending {
    const char *script;
    int code;
    const char *text; /* begins with this */
    bool attached;
} endings[] = {
    { "echo no libz here >&2; exit 127\n", ERR_NETWORK,
      "the worker could not be started: no libz here", false },
    { "echo This account is not available.; exit 1\n", ERR_NETWORK,
      "the worker could not be started: This account is not available.",
      false },
    { "exit 0\n", ERR_NETWORK, "the worker could not be started", false },
    { "echo fa-relay 2 9.9.9\n", ERR_PROTO, "", false },
    { "head -c 300000 /dev/zero\n", ERR_PROTO, "", false },
    { "printf '\\033[2Jno shell\\n'; exit 1\n", ERR_NETWORK,
      "the worker could not be started: ?[2Jno shell", false },
    { STAND_IN_MAGIC "sleep 0.2; echo fa-worker: it serves ada >&2; exit 1\n",
      ERR_NETWORK, "it serves ada", false },
    { STAND_IN_MAGIC "sleep 0.2; echo Killed >&2; exit 1\n", ERR_NETWORK,
      "the worker ended: Killed", false },
    { STAND_IN_MAGIC STAND_IN_OPEN "sleep 0.2; echo Killed >&2; exit 1\n",
      ERR_NETWORK, "the worker ended: Killed", true },
    { STAND_IN_MAGIC "echo this is no frame at all; sleep 5\n", ERR_PROTO, "",
      true },
};

static void an_end_is_reported_with_its_output(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const struct ending *ending = &endings[i];
        struct host_thread_news news;

        start(stage, ending->script);
        await_upload(stage);
        if (ending->attached)
            await(stage, HOST_THREADS_ATTACHED);
        news = await(stage, HOST_THREADS_BROKEN);
        assert_int_equal(news.code, ending->code);
        if (strncmp(news.text, ending->text, strlen(ending->text)) != 0)
            fail_msg("row %zu: '%s'", i, news.text);
        assert_true(strlen(news.text) > 0);
        end(stage);
    }
}

static void a_broken_connection_is_made_again(void **state)
{
    struct stage *stage = *state;

    start(stage, "test -e \"$3/again\" || { touch \"$3/again\"; exit 1; }\n" //
          STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await_upload(stage);
    await(stage, HOST_THREADS_BROKEN);
    await_upload(stage);
    await(stage, HOST_THREADS_ATTACHED);
    end(stage);
}

static void a_connection_is_made_again_when_it_is_asked_for(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    start(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await_upload(stage);
    await(stage, HOST_THREADS_ATTACHED);
    host_thread_reconnect(stage->thread);
    news = await(stage, HOST_THREADS_BROKEN);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_string_equal(news.text, "the host is silent; connecting again");
    await_upload(stage);
    await(stage, HOST_THREADS_ATTACHED);
    end(stage);
}

static void an_unusable_work_folder_ends_the_thread(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    snprintf(stage->host.workdir, sizeof(stage->host.workdir), "/proc/none");
    start(stage, STAND_IN_MAGIC);
    await_upload(stage);
    news = await(stage, HOST_THREADS_GAVE_UP);
    assert_int_equal(news.code, ERR_INPUT);
    assert_memory_equal(news.text, "deploy: the work folder '/proc/none'", 36);
    host_thread_reconnect(stage->thread); /* has nothing to break */
    assert_false(hears(stage, STILL_MS, &news));
    end(stage);
}

/* What ends the thread of a host that never worked is a pause for this one. */
static void a_host_that_worked_is_not_given_up(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news = { .event = HOST_THREADS_BROKEN };
    char away[sizeof(stage->host.workdir) + 8];

    snprintf(away, sizeof(away), "%s.away", stage->host.workdir);
    start(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    await_upload(stage);
    await(stage, HOST_THREADS_ATTACHED);
    assert_int_equal(rename(stage->host.workdir, away), 0);
    stand_in_write(stage->host.workdir, ""); /* no folder */
    host_thread_reconnect(stage->thread);
    await(stage, HOST_THREADS_BROKEN);
    await_upload(stage);
    assert_int_equal(await(stage, HOST_THREADS_BROKEN).code, ERR_INPUT);
    assert_int_equal(unlink(stage->host.workdir), 0);
    assert_int_equal(rename(away, stage->host.workdir), 0);
    while (news.event != HOST_THREADS_ATTACHED &&
           news.event != HOST_THREADS_GAVE_UP)
        assert_true(hears(stage, WAIT_MS, &news));
    assert_int_equal(news.event, HOST_THREADS_ATTACHED);
    end(stage);
}

static void a_far_side_without_the_magic_line_has_20_seconds(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;
    int before;

    freeze();
    start(stage, "touch \"$3/up\"; echo Last login: today\n"
                 "while ! test -e \"$3/more\"; do sleep 0.05; done\n"
                 "echo and more\n"
                 "while ! test -e \"$3/late\"; do sleep 0.05; done\n"
                 "echo and on; exec cat >/dev/null\n");
    await_upload(stage);
    await_heard(stage, "up", "");
    before = looks;
    let_go_on(stage, "more");
    await_look(before); /* so it knows how long it waits */
    assert_false(hears(stage, STILL_MS / 4, &news));
    assert_true(looks - before < FEW);
    frozen_ns += 20 * NS_PER_S - 1;
    let_go_on(stage, "late");
    assert_false(hears(stage, STILL_MS / 4, &news));
    frozen_ns += 1;
    news = await(stage, HOST_THREADS_BROKEN);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_memory_equal(news.text, "the worker did not answer in time: Last",
                        39);
    end(stage);
}

static void a_relay_without_a_worker_has_40_seconds(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;
    int before;

    freeze();
    start(stage, STAND_IN_MAGIC STAND_IN_STAYS);
    await_upload(stage);
    await_heard(stage, "heard", "epoch 7\n");
    frozen_ns += 40 * NS_PER_S;
    before = looks;
    assert_false(hears(stage, STILL_MS, &news));
    assert_true(looks - before < FEW);
    frozen_ns += 1;
    news = await(stage, HOST_THREADS_BROKEN);
    assert_string_equal(news.text, "the worker does not answer");
    end(stage);
}

static void it_ends_while_it_waits_for_the_magic_line(void **state)
{
    struct stage *stage = *state;

    start(stage, STAND_IN_STAYS);
    await_upload(stage);
    end(stage);
}

static void it_can_be_stopped_right_after_its_start(void **state)
{
    struct stage *stage = *state;

    for (int i = 0; i < 20; i++) {
        start(stage, STAND_IN_STAYS);
        end(stage);
    }
}

static void a_host_cannot_have_two_threads(void **state)
{
    struct stage *stage = *state;
    struct host_threads_options options = { .socket_path = stage->router };
    struct host_thread_task task = { .index = 3, .host = &stage->host };
    struct host_thread *second;
    struct err err;

    start(stage, STAND_IN_STAYS);
    assert_int_equal(
        host_thread_start(stage->zctx, &task, &options, &second, &err),
        ERR_SYSTEM);
    assert_null(second);
    assert_non_null(strstr(err.text, "Address already in use"));
    assert_int_equal(wiped_invites, 1);
    end(stage);
}

#define staged(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        staged(a_worker_that_speaks_is_attached),
        staged(an_invitation_is_written_before_anything_is_waited_for),
        staged(a_thread_that_is_at_work_is_not_joined_yet),
        staged(a_thread_that_cannot_end_is_waited_for),
        staged(bytes_go_both_ways),
        staged(what_the_router_does_not_read_waits),
        staged(a_worker_that_does_not_read_holds_nothing_up),
        staged(an_end_is_reported_with_its_output),
        staged(a_broken_connection_is_made_again),
        staged(a_connection_is_made_again_when_it_is_asked_for),
        staged(an_unusable_work_folder_ends_the_thread),
        staged(a_host_that_worked_is_not_given_up),
        staged(a_far_side_without_the_magic_line_has_20_seconds),
        staged(a_relay_without_a_worker_has_40_seconds),
        staged(it_ends_while_it_waits_for_the_magic_line),
        staged(it_can_be_stopped_right_after_its_start),
        staged(a_host_cannot_have_two_threads),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
