#include "coordinator/process/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/process/stderr_tail.h"

#define STOP_MS 2000 /* time for a relay to flush and for ssh to close */

extern char **environ;

static int spawn(const char *const argv[], int stdio, int errors, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, defaults;
    int rc;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, stdio, 0);
    posix_spawn_file_actions_adddup2(&actions, stdio, 1);
    posix_spawn_file_actions_adddup2(&actions, errors, 2);
    rc = posix_spawnp(pid, argv[0], &actions, &attr, (char *const *)argv,
                      environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return rc;
}

int subprocess_start(const char *const argv[], struct subprocess *out,
                     struct err *err)
{
    int pair[2] = { -1, -1 }, pipes[2] = { -1, -1 }, rc = 0;

    *out = (struct subprocess){ .fd = -1, .errors = -1 };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        pipe2(pipes, O_CLOEXEC) < 0)
        rc = errno;
    else
        rc = spawn(argv, pair[1], pipes[1], &out->pid);
    if (rc == 0) {
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        fcntl(pipes[0], F_SETFL, O_NONBLOCK);
        out->fd = pair[0];
        out->errors = pipes[0];
        pair[0] = pipes[0] = -1;
    }
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            close(pair[i]);
        if (pipes[i] >= 0)
            close(pipes[i]);
    }
    if (rc != 0) {
        out->pid = 0;
        return err_set(err, ERR_SYSTEM, "program '%s': %s", argv[0],
                       strerror(rc));
    }
    return 0;
}

int subprocess_wait(struct subprocess *child, int64_t deadline_ns, int *status,
                    struct err *err)
{
    int fd = (int)syscall(SYS_pidfd_open, child->pid, 0), how;
    struct pollfd end = { .fd = fd, .events = POLLIN };
    int rc = fd < 0 ? -1 : poll_until(&end, 1, deadline_ns);
    pid_t pid = waitpid(child->pid, &how, WNOHANG);

    if (fd >= 0)
        close(fd);
    if (pid == 0 || rc < 0)
        return err_set(err, ERR_NETWORK, "the program did not end in time");
    child->pid = 0;
    *status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
    return 0;
}

void subprocess_stop(struct subprocess *child)
{
    pid_t pid = child->pid;
    int64_t soon = clock_boot_ns() + STOP_MS * NS_PER_MS;
    int status;

    if (child->fd >= 0)
        close(child->fd);
    if (child->errors >= 0)
        close(child->errors);
    child->fd = child->errors = -1;
    if (pid > 0 && subprocess_wait(child, soon, &status, NULL) < 0) {
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    child->pid = 0;
}

/* Read what has arrived; 1 at end-of-file. */
static int collect(int fd, struct buf *out, struct stderr_tail *errors)
{
    char bytes[8192];
    ssize_t n = read(fd, bytes, sizeof(bytes));

    if (n > 0 && out)
        buf_add(out, bytes, (size_t)n);
    if (n > 0 && errors)
        stderr_tail_add(errors, bytes, (size_t)n);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

int subprocess_output(const char *const argv[], int64_t deadline_ns,
                      struct buf *out, struct stderr_tail *errors, int *status,
                      struct err *err)
{
    struct subprocess child;
    int rc = subprocess_start(argv, &child, err);
    struct pollfd fds[2];

    if (rc < 0)
        return rc;
    shutdown(child.fd, SHUT_WR);
    fds[0] = (struct pollfd){ .fd = child.fd, .events = POLLIN };
    fds[1] = (struct pollfd){ .fd = child.errors, .events = POLLIN };
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll_until(fds, 2, deadline_ns) < 0)
            break;
        if (fds[0].revents && collect(fds[0].fd, out, NULL))
            fds[0].fd = -1;
        if (fds[1].revents && collect(fds[1].fd, NULL, errors))
            fds[1].fd = -1;
    }
    rc = subprocess_wait(&child, deadline_ns, status, err);
    if (rc < 0)
        err_within(err, rc, "%s", argv[0]);
    subprocess_stop(&child);
    return rc;
}
