#include "coordinator/model_sweeps/model_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/tasks/run_budget.h"

#define EXEC_FAILED 127
#define NO_CHILD                                         \
    (struct model_child)                                 \
    {                                                    \
        .end = -1, .out = -1, .errors = -1, .budget = -1 \
    }
#define ARGUMENTS_MAX 254 /* six times the flags of a command */

/* In the child, until the program runs. */
static void become(char *const argv[], const int *fds, pid_t parent)
{
    sigset_t none;

    sigemptyset(&none);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent ||
        setsid() < 0 || dup2(fds[0], 0) < 0 || dup2(fds[1], 1) < 0 ||
        dup2(fds[2], 2) < 0 || fcntl(fds[3], F_SETFD, 0) < 0 ||
        sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        _exit(EXEC_FAILED);
    execv(argv[0], argv);
    _exit(EXEC_FAILED);
}

static int start(char *const argv[], const int *fds, struct model_child *out)
{
    pid_t parent = getpid();
    char budget[16];

    snprintf(budget, sizeof(budget), "%d", fds[3]);
    setenv(RUN_BUDGET_VARIABLE, budget, 1);
    out->pid = fork();
    if (out->pid < 0)
        return errno;
    if (out->pid == 0)
        become(argv, fds, parent);
    unsetenv(RUN_BUDGET_VARIABLE);
    out->end = (int)syscall(SYS_pidfd_open, out->pid, 0);
    return out->end < 0 ? errno : 0;
}

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* One child that could be started, but not watched, is ended. */
static void drop(struct model_child *child)
{
    if (child->pid > 0) {
        kill(child->pid, SIGKILL);
        waitpid(child->pid, NULL, 0);
    }
    *child = NO_CHILD;
}

int model_child_start(char *const arguments[], struct model_child *out,
                      struct err *err)
{
    int outs[2] = { -1, -1 }, errors[2] = { -1, -1 }, budget[2] = { -1, -1 };
    int rc = 0;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char self[PATH_MAX] = "";
    char *argv[ARGUMENTS_MAX + 2] = { self };
    size_t n = 0;

    *out = NO_CHILD;
    while (n < ARGUMENTS_MAX && arguments[n]) {
        argv[n + 1] = arguments[n];
        n++;
    }
    if (null < 0 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
        pipe2(outs, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0 ||
        pipe2(budget, O_CLOEXEC) < 0)
        rc = errno;
    if (rc == 0)
        rc = start(argv, (const int[]){ null, outs[1], errors[1], budget[0] },
                   out);
    if (rc == 0) {
        fcntl(outs[0], F_SETFL, O_NONBLOCK);
        fcntl(errors[0], F_SETFL, O_NONBLOCK);
        out->out = outs[0];
        out->errors = errors[0];
        out->budget = budget[1];
        outs[0] = errors[0] = budget[1] = -1;
    } else {
        drop(out);
    }
    close_all(&null, 1);
    close_all(outs, 2);
    close_all(errors, 2);
    close_all(budget, 2);
    return rc == 0 ? 0
                   : err_set(err, ERR_SYSTEM, "fa-coord cannot run itself: %s",
                             strerror(rc));
}

void model_child_more(const struct model_child *child, double usd)
{
    char line[40];
    int n = snprintf(line, sizeof(line), "%.17g\n", usd);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    ssize_t written =
        child->budget < 0 ? 0 : write(child->budget, line, (size_t)n);

    (void)written; /* one that ends does not need it */
    signal(SIGPIPE, before);
}

int model_child_reap(struct model_child *child)
{
    int how = 0;

    close_all((int[]){ child->end, child->out, child->errors, child->budget },
              4);
    waitpid(child->pid, &how, 0);
    *child = NO_CHILD;
    return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}
