#include "coordinator/process/notifier.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/process/event_queue.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/process/stderr_tail.h"

#define TOLD_LINES 2     /* of the stderr of a command that failed */
#define SAID_NS NS_PER_S /* a longer wait at the end is said */
#define TURN_MS 20
#define LEAVE SIGUSR1 /* to the process that runs the commands */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

enum {
    N_SIGNALS = sizeof(signals) / sizeof(signals[0])
};

/* In the process that runs the commands. */
struct runner {
    const char *const *argv;
    int64_t limit_ns;
    int in;    /* -1 when no event follows */
    int leave; /* signalfd: nobody waits any more */
    bool is_left;
    int64_t end_by; /* then: when all but the last must be done */

    struct event_queue queue;
    struct subprocess child;
    int pidfd; /* -1: no command runs */
    int64_t deadline_ns;
    struct stderr_tail errors;

    int64_t events, failed;
    char why[sizeof(((struct err *)0)->text)]; /* of the last failure */
};

static bool is_running(const struct runner *runner)
{
    return runner->pidfd >= 0;
}

static void note_failure(struct runner *runner, const char *why)
{
    char said[160] = "";

    stderr_tail_say(&runner->errors, TOLD_LINES, said, sizeof(said));
    snprintf(runner->why, sizeof(runner->why), "%.60s%s%s", why,
             *said ? ": " : "", said);
    runner->failed++;
}

/* A socket's buffer takes a whole event. */
static void hand_over(const struct subprocess *child, const char *object,
                      int64_t dropped)
{
    char *line = mem_printf("{\"dropped\": %" PRId64 ",%s\n", dropped,
                            object + (*object == '{'));

    (void)send(child->fd, line, strlen(line), MSG_NOSIGNAL);
    shutdown(child->fd, SHUT_WR);
    free(line);
}

static void start_next(struct runner *runner)
{
    bool is_last = runner->in < 0 && runner->queue.n == 1;
    int64_t now = clock_boot_ns();
    char *object = event_queue_take(&runner->queue);
    struct err err;

    runner->errors = (struct stderr_tail){ .len = 0 };
    runner->deadline_ns = now + runner->limit_ns;
    if (runner->in < 0 && !is_last)
        runner->deadline_ns = int64_min(runner->deadline_ns, runner->end_by);
    if (subprocess_start(runner->argv, &runner->child, &err) < 0) {
        note_failure(runner, err.text);
    } else {
        runner->pidfd = (int)syscall(SYS_pidfd_open, runner->child.pid, 0);
        hand_over(&runner->child, object, runner->queue.dropped);
        if (runner->pidfd < 0) { /* no more processes or descriptors */
            note_failure(runner, strerror(errno));
            subprocess_stop(&runner->child);
        }
    }
    free(object);
}

/* Is there something?  At its end the descriptor is closed. */
static void drain(int *fd, struct stderr_tail *to)
{
    char bytes[4096];
    ssize_t n = read(*fd, bytes, sizeof(bytes));

    if (n > 0 && to)
        stderr_tail_add(to, bytes, (size_t)n);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close(*fd);
        *fd = -1;
    }
}

static void end_command(struct runner *runner, bool in_time)
{
    char why[64];
    int status = 0;

    if (runner->child.errors >= 0)
        drain(&runner->child.errors, &runner->errors);
    if (in_time &&
        subprocess_wait(&runner->child, clock_boot_ns(), &status, NULL) == 0) {
        snprintf(why, sizeof(why), "exit code %d", status);
        if (status != 0)
            note_failure(runner, why);
    } else {
        snprintf(why, sizeof(why), "killed after %" PRId64 " s",
                 runner->limit_ns / NS_PER_S);
        note_failure(runner, why);
        kill(-runner->child.pid, SIGKILL);
    }
    subprocess_stop(&runner->child);
    close(runner->pidfd);
    runner->pidfd = -1;
}

static void take_event(struct runner *runner)
{
    char bytes[NOTIFIER_BYTES_MAX];
    ssize_t n = recv(runner->in, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (n > 0) {
        event_queue_add(&runner->queue, bytes, (size_t)n);
        runner->events++;
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(runner->in);
        runner->in = -1;
        runner->end_by = clock_boot_ns() + runner->limit_ns;
    }
}

static void wait_and_take(struct runner *runner)
{
    bool runs = is_running(runner);
    struct pollfd fds[] = {
        { .fd = runner->in, .events = POLLIN },
        { .fd = runs ? runner->pidfd : -1, .events = POLLIN },
        { .fd = runs ? runner->child.fd : -1, .events = POLLIN },
        { .fd = runs ? runner->child.errors : -1, .events = POLLIN },
        { .fd = runner->leave, .events = POLLIN },
    };

    if (poll_until(fds, 5, runs ? runner->deadline_ns : INT64_MAX) < 0) {
        if (runs)
            end_command(runner, false);
        return;
    }
    if (fds[0].revents)
        take_event(runner);
    if (fds[2].revents)
        drain(&runner->child.fd, NULL);
    if (fds[3].revents)
        drain(&runner->child.errors, &runner->errors);
    if (fds[1].revents)
        end_command(runner, true);
    runner->is_left = fds[4].revents != 0;
}

static void serve(struct runner *runner)
{
    while (!runner->is_left &&
           (runner->in >= 0 || is_running(runner) || runner->queue.n > 0)) {
        if (runner->in < 0 && clock_boot_ns() >= runner->end_by)
            event_queue_keep_last(&runner->queue);
        if (!is_running(runner) && runner->queue.n > 0)
            start_next(runner);
        else
            wait_and_take(runner);
    }
    if (is_running(runner))
        kill(-runner->child.pid, SIGKILL);
}

static void say_failures(const struct runner *runner, const char *name)
{
    if (runner->queue.dropped > 0)
        fprintf(stderr,
                "fa-coord: warning: %s: %" PRId64 " of %" PRId64
                " events were dropped, because the command takes long\n",
                name, runner->queue.dropped, runner->events);
    if (runner->failed > 0)
        fprintf(stderr,
                "fa-coord: warning: %s: the command failed for %" PRId64
                " of %" PRId64 " events, last: %s\n",
                name, runner->failed, runner->events, runner->why);
}

/* Not ignored: the commands would ignore it, too. */
static void do_nothing(int signo)
{
    (void)signo;
}

static int open_leave(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, LEAVE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC); /* -1: it is killed instead */
}

int notifier_start(const char *const argv[], const char *name, int64_t limit_ns,
                   struct notifier *out, struct err *err)
{
    struct runner runner = { .argv = argv, .limit_ns = limit_ns, .pidfd = -1 };
    int ends[2];

    *out = (struct notifier){ .fd = -1, .name = name };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set(err, ERR_SYSTEM, "socketpair: %s", strerror(errno));
    fflush(NULL);
    out->pid = fork();
    if (out->pid == 0) {
        for (size_t i = 0; i < N_SIGNALS; i++)
            signal(signals[i], do_nothing);
        close(ends[1]);
        runner.in = ends[0];
        runner.leave = open_leave();
        serve(&runner);
        say_failures(&runner, name);
        _exit(0);
    }
    close(ends[0]);
    out->fd = ends[1];
    if (out->pid > 0)
        return 0;
    close(ends[1]);
    *out = (struct notifier){ .fd = -1 };
    return err_set(err, ERR_SYSTEM, "fork: %s", strerror(errno));
}

void notifier_send(struct notifier *notifier, const char *object, size_t len)
{
    if (notifier->fd < 0)
        return;
    if (len == 0 || len > NOTIFIER_BYTES_MAX ||
        send(notifier->fd, object, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        notifier->unsent++;
}

/* The first of the signals, if one comes in a moment; or 0. */
static int next_signal(const sigset_t *set)
{
    const struct timespec moment = { .tv_nsec = TURN_MS * NS_PER_MS };
    int signo = sigtimedwait(set, NULL, &moment);

    return signo > 0 ? signo : 0;
}

static void wait_for_end(const struct notifier *notifier, const sigset_t *set)
{
    int64_t say_ns = clock_boot_ns() + SAID_NS;

    while (waitpid(notifier->pid, NULL, WNOHANG) == 0) {
        if (next_signal(set))
            kill(notifier->pid, LEAVE);
        if (clock_boot_ns() < say_ns)
            continue;
        fprintf(stderr,
                "fa-coord: waiting for the command of %s, Ctrl-C ends that\n",
                notifier->name);
        say_ns = INT64_MAX;
    }
}

void notifier_stop(struct notifier *notifier)
{
    sigset_t set, before;

    if (notifier->pid <= 0)
        return;
    close(notifier->fd);
    sigemptyset(&set);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaddset(&set, signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    wait_for_end(notifier, &set);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    notifier->pid = 0;
    notifier->fd = -1;
}
