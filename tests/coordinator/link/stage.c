#include "tests/coordinator/link/stage.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>
#include <zmq.h>

#include "common/clock.h"
#include "coordinator/link/host_thread.h"
#include "coordinator/link/wake.h"

_Atomic int64_t stage_frozen_ns, stage_step_ns;
_Atomic int stage_looks, stage_polls, stage_wiped_invites, stage_wiped_texts;
_Atomic bool stage_takes_none;

int clock_gettime(clockid_t id, struct timespec *out)
{
    long rc = syscall(SYS_clock_gettime, id, out);
    int64_t ns;

    if (id != CLOCK_BOOTTIME)
        return (int)rc;
    ns = atomic_fetch_add(&stage_frozen_ns, stage_step_ns);
    stage_looks++;
    if (ns)
        *out = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
    return (int)rc;
}

void stage_freeze(void)
{
    stage_frozen_ns = clock_boot_ns();
}

/* The library's own does the same. */
void sodium_memzero(void *const bytes, const size_t len)
{
    memset(bytes, 0, len);
    stage_wiped_invites += len == sizeof(struct invite);
    stage_wiped_texts += len == INVITE_BYTES_MAX;
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    if (stage_takes_none) {
        errno = EAGAIN;
        return -1;
    }
    return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

static int (*library_poll)(zmq_pollitem_t *, int, long);

int zmq_poll(zmq_pollitem_t *items, int n, long ms)
{
    stage_polls++;
    return library_poll(items, n, ms);
}

int stage_set_up(void **state)
{
    static struct stage stage;

    stage = (struct stage){ .thread = NULL };
    stand_in_open(&stage.stand_in);
    stage.host = stand_in_host(&stage.stand_in, "box");
    snprintf(stage.router, sizeof(stage.router), "%s/router",
             stage.stand_in.folder);
    *(void **)&library_poll = dlsym(RTLD_NEXT, "zmq_poll");
    stage_frozen_ns = stage_step_ns = 0;
    stage_takes_none = false;
    stage_wiped_invites = stage_wiped_texts = 0;
    *state = &stage;
    return 0;
}

int stage_tear_down(void **state)
{
    struct stage *stage = *state;

    stand_in_close(&stage->stand_in);
    return 0;
}

void stage_start(struct stage *stage, const char *script)
{
    struct host_threads_options options = { .socket_path = stage->router,
                                            .rents = stage->rents };
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

bool stage_hears(struct stage *stage, long ms, struct host_thread_news *out)
{
    struct wake *wake = host_thread_wake(stage->thread);
    zmq_pollitem_t item = { .socket = wake->socket, .events = ZMQ_POLLIN };

    if (zmq_poll(&item, 1, ms) <= 0)
        return false;
    wake_touch(wake);
    return host_thread_recv(stage->thread, out) == 1;
}

struct host_thread_news stage_await(struct stage *stage,
                                    enum host_threads_event event)
{
    struct host_thread_news news;

    if (!stage_hears(stage, STAGE_WAIT_MS, &news))
        fail_msg("no news, and not %d", event);
    if (news.event != event)
        fail_msg("news %d instead of %d: %s", news.event, event, news.text);
    assert_int_equal(news.host, 3);
    return news;
}

void stage_await_upload(struct stage *stage)
{
    stage_await(stage, HOST_THREADS_CONNECTING);
    stage_await(stage, HOST_THREADS_UPLOADING);
}

void stage_end(struct stage *stage)
{
    int64_t until_ns = clock_boot_ns() + STAGE_WAIT_MS * NS_PER_MS;

    host_thread_dismiss(stage->thread);
    assert_true(host_thread_join(stage->thread, until_ns));
    zmq_ctx_term(stage->zctx);
    worker_binary_fini(&stage->program);
}

void stage_await_heard(struct stage *stage, const char *file, const char *text)
{
    char path[96], content[4096];

    snprintf(path, sizeof(path), "%s/%s", stage->host.workdir, file);
    for (int turn = 0; turn < STAGE_WAIT_MS / 10; turn++) {
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

void stage_let_go_on(const struct stage *stage, const char *name)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/%s", stage->host.workdir, name);
    stand_in_write(path, "");
}

void stage_await_look(int before)
{
    for (int turn = 0; stage_looks == before && turn < STAGE_WAIT_MS / 10;
         turn++)
        (void)poll(NULL, 0, 10);
    assert_true(stage_looks > before);
}
