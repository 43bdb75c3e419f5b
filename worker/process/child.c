#include "worker/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "worker/process/sandbox_landlock.h"
#include "worker/process/supervisor.h"

#define REAP_NS NS_PER_MS /* between closing its pipe and becoming a zombie */

struct child {
    struct child *next; /* in 'children' */
    pid_t keeper;
    bool reaped;
    int keeper_status;
    struct supervisor_report report;
    bool reported;
    enum child_state state;
    struct child_end end;
    int64_t started_ns, limit_at_ns; /* INT64_MAX: none */
    int64_t kill_at_ns, killed_at_ns;
    int64_t reap_at_ns;
    int in, out, err, report_fd; /* -1 once closed */
    bool interactive;
    struct capture captured_out, captured_err;
};

/* waitpid() works for the whole process, so this list must be process-wide. */
static struct child *children;
static enum supervisor_kind kind = SUPERVISOR_KINDS; /* until child_setup() */

void child_setup_from(enum supervisor_kind best)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };

    sigaction(SIGCHLD, &plain, NULL); /* SIG_IGN would prevent waiting */
    signal(SIGPIPE, SIG_IGN);         /* a child may end before it has read */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kind = best;
    while (kind != SUPERVISOR_SUBREAPER && !supervisor_can(kind, NULL))
        kind++;
}

void child_setup(void)
{
    if (kind == SUPERVISOR_KINDS)
        child_setup_from(SUPERVISOR_NAMESPACE);
}

const char *child_containment(void)
{
    static const char *const names[SUPERVISOR_KINDS] = {
        [SUPERVISOR_NAMESPACE] = "PID namespace",
        [SUPERVISOR_USER_NAMESPACE] = "PID namespace of a user namespace",
        [SUPERVISOR_SUBREAPER] = "sub-reaper",
    };

    child_setup();
    return names[kind];
}

void child_choose_means(struct sandbox *sandbox)
{
    child_setup();
    sandbox->means = SANDBOX_MOUNTS;
    if (kind != SUPERVISOR_SUBREAPER) {
        if (supervisor_can(kind, sandbox))
            return;
        sandbox->offline = false;
        if (supervisor_can(kind, sandbox))
            return;
    }
    sandbox->means =
        sandbox_landlock_is_here() ? SANDBOX_LANDLOCK : SANDBOX_NOTHING;
}

static bool is_keeper(pid_t pid)
{
    for (struct child *child = children; child; child = child->next)
        if (child->keeper == pid && !child->reaped)
            return true;
    return false;
}

/* A child that is not a keeper was orphaned by a killed keeper. */
static void reap(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (struct child *child = children; child; child = child->next)
            if (child->keeper == pid && !child->reaped) {
                child->reaped = true;
                child->keeper_status = status;
            }
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

struct pipes {
    int in[2], out[2], err[2], gate[2], report[2]; /* read end, write end */
};

static void pipes_close(struct pipes *pipes)
{
    int *fds = (int *)pipes;

    for (size_t i = 0; i < sizeof(*pipes) / sizeof(int); i++)
        close_fd(&fds[i]);
}

static int pipes_open(struct pipes *pipes, const struct child_spec *spec)
{
    const char *input = spec->input ? spec->input : "/dev/null";

    memset(pipes, 0xff, sizeof(*pipes));
    if (spec->interactive) {
        if (pipe2(pipes->in, O_CLOEXEC) < 0)
            return -1;
    } else if ((pipes->in[0] = open(input, O_RDONLY | O_CLOEXEC)) < 0) {
        return -1;
    }
    if (pipe2(pipes->out, O_CLOEXEC) < 0 || pipe2(pipes->err, O_CLOEXEC) < 0 ||
        pipe2(pipes->gate, O_CLOEXEC) < 0 ||
        pipe2(pipes->report, O_CLOEXEC) < 0)
        return -1;
    return 0;
}

static int take_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    if (taken >= 0)
        fcntl(taken, F_SETFL, fcntl(taken, F_GETFL) | O_NONBLOCK);
    return taken;
}

static struct child *child_new(const struct child_spec *spec, pid_t keeper,
                               struct pipes *pipes, int64_t now_ns)
{
    struct child *child = mem_new(1, sizeof(*child));

    child->keeper = keeper;
    child->interactive = spec->interactive;
    child->started_ns = now_ns;
    child->limit_at_ns =
        spec->limit_ns > 0 ? now_ns + spec->limit_ns : INT64_MAX;
    child->kill_at_ns = child->killed_at_ns = child->reap_at_ns = INT64_MAX;
    child->in = take_fd(&pipes->in[1]);
    child->out = take_fd(&pipes->out[0]);
    child->err = take_fd(&pipes->err[0]);
    child->report_fd = take_fd(&pipes->report[0]);
    capture_init(&child->captured_out,
                 spec->output_bytes > 0 ? spec->output_bytes : CAPTURE_HEAD);
    capture_init(&child->captured_err, CAPTURE_HEAD);
    child->next = children;
    children = child;
    return child;
}

int child_start(const struct child_spec *spec, int64_t now_ns,
                struct child **out, struct err *err)
{
    bool ruled = spec->sandbox && spec->sandbox->means == SANDBOX_LANDLOCK;
    int rules = ruled ? sandbox_landlock_open(spec->sandbox) : -1;
    struct pipes pipes;
    pid_t keeper = -1;

    child_setup();
    if (pipes_open(&pipes, spec) == 0 && (!ruled || rules >= 0))
        keeper = supervisor_start(&(struct supervisor_order){
            .kind = kind,
            .sandbox = spec->sandbox,
            .rules = rules,
            .argv = spec->argv,
            .env = spec->env,
            .folder = spec->folder,
            .in = pipes.in[0],
            .out = pipes.out[1],
            .err = pipes.err[1],
            .gate = pipes.gate[0],
            .report = pipes.report[1],
            .memory_bytes = spec->memory_bytes,
            .uid = getuid(),
            .gid = getgid(),
        });
    if (keeper < 0) {
        err_set(err, ERR_SYSTEM, "starting '%s': %s", spec->argv[0],
                strerror(errno));
        pipes_close(&pipes);
        close_fd(&rules);
        return ERR_SYSTEM;
    }
    close_fd(&rules);
    *out = child_new(spec, keeper, &pipes, now_ns);
    /* If the keeper is dead already, its report pipe shows that. */
    (void)!write(pipes.gate[1], "", 1);
    pipes_close(&pipes);
    return 0;
}

static size_t add_fd(struct pollfd *fds, size_t n, size_t max, int fd)
{
    if (fd < 0 || n == max)
        return n;
    fds[n] = (struct pollfd){ .fd = fd, .events = POLLIN };
    return n + 1;
}

size_t child_poll(const struct child *child, struct pollfd *fds, size_t max)
{
    size_t n = add_fd(fds, 0, max, child->err);

    n = add_fd(fds, n, max, child->report_fd);
    return child->interactive ? n : add_fd(fds, n, max, child->out);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t child_deadline_ns(const struct child *child)
{
    int64_t at = child->reap_at_ns;

    switch (child->state) {
    case CHILD_RUNNING:
        return earlier(at, child->limit_at_ns);
    case CHILD_STOPPING:
        if (child->killed_at_ns == INT64_MAX)
            return earlier(at, child->kill_at_ns);
        return earlier(at, child->killed_at_ns + CHILD_STUCK_NS);
    case CHILD_STUCK:
        return at;
    case CHILD_ENDED:
        break;
    }
    return INT64_MAX;
}

static void signal_keeper(const struct child *child, int signal)
{
    if (!child->reaped)
        kill(child->keeper, signal);
}

void child_pause(const struct child *child)
{
    signal_keeper(child, SUPERVISOR_PAUSE);
}

void child_go(const struct child *child)
{
    signal_keeper(child, SUPERVISOR_GO);
}

void child_stop(struct child *child, int64_t now_ns)
{
    if (child->state != CHILD_RUNNING)
        return;
    child->state = CHILD_STOPPING;
    child->kill_at_ns = now_ns + CHILD_GRACE_NS;
    signal_keeper(child, SIGTERM);
}

/* A sub-reaper must kill the others before it ends. */
void child_kill(struct child *child, int64_t now_ns)
{
    if (child->state == CHILD_ENDED || child->killed_at_ns != INT64_MAX)
        return;
    child->state = CHILD_STOPPING;
    child->killed_at_ns = now_ns;
    signal_keeper(child,
                  kind == SUPERVISOR_SUBREAPER ? SUPERVISOR_END : SIGKILL);
}

static void read_report(struct child *child)
{
    struct supervisor_report report;
    ssize_t n;

    while ((n = read(child->report_fd, &report, sizeof(report))) ==
           (ssize_t)sizeof(report)) {
        if (report.exec_errno != 0)
            child->report.exec_errno = report.exec_errno;
        child->report.status = report.status;
        child->reported = true;
    }
    if (n == 0)
        close_fd(&child->report_fd);
}

static void drain(struct capture *capture, int *fd)
{
    if (*fd >= 0 && !capture_drain(capture, *fd))
        close_fd(fd);
}

/* All its processes are gone, so the pipes hold all remaining output. */
static void finish(struct child *child, int64_t now_ns)
{
    int status = child->reported ? child->report.status : SIGKILL;

    if (!child->interactive)
        close_fd(&child->out);
    close_fd(&child->err);
    close_fd(&child->report_fd);
    if (child->report.exec_errno != 0) {
        const char *why = strerror(child->report.exec_errno);

        capture_add(&child->captured_err, why, strlen(why));
    }
    child->end.exited = WIFEXITED(status);
    child->end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    child->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    child->end.seconds = (double)(now_ns - child->started_ns) / 1e9;
    child->state = CHILD_ENDED;
}

static void check_time(struct child *child, int64_t now_ns)
{
    if (child->state == CHILD_RUNNING && now_ns >= child->limit_at_ns) {
        child->end.timed_out = true;
        child_stop(child, now_ns);
    }
    if (child->state != CHILD_STOPPING)
        return;
    if (child->killed_at_ns == INT64_MAX && now_ns >= child->kill_at_ns)
        child_kill(child, now_ns);
    if (child->killed_at_ns == INT64_MAX)
        return;
    /* If a keeper does not answer, kill it too; its orphans become our
     * children. */
    if (now_ns >= child->killed_at_ns + CHILD_GRACE_NS)
        signal_keeper(child, SIGKILL);
    if (now_ns >= child->killed_at_ns + CHILD_STUCK_NS)
        child->state = CHILD_STUCK;
}

enum child_state child_step(struct child *child, int64_t now_ns)
{
    if (child->state == CHILD_ENDED)
        return CHILD_ENDED;
    reap();
    if (child->report_fd >= 0)
        read_report(child);
    if (!child->interactive)
        drain(&child->captured_out, &child->out);
    drain(&child->captured_err, &child->err);
    child->reap_at_ns = INT64_MAX;
    if (child->reaped) {
        if (kind == SUPERVISOR_SUBREAPER)
            supervisor_kill_children(is_keeper);
        finish(child, now_ns);
    } else {
        if (child->report_fd < 0)
            child->reap_at_ns = now_ns + REAP_NS;
        check_time(child, now_ns);
    }
    return child->state;
}

enum child_state child_state(const struct child *child)
{
    return child->state;
}

const struct child_end *child_end(const struct child *child)
{
    return &child->end;
}

struct capture *child_stdout(struct child *child)
{
    return &child->captured_out;
}

struct capture *child_stderr(struct child *child)
{
    return &child->captured_err;
}

int child_in(const struct child *child)
{
    return child->in;
}

int child_out(const struct child *child)
{
    return child->interactive ? child->out : -1;
}

void child_close_in(struct child *child)
{
    close_fd(&child->in);
}

void child_free(struct child *child)
{
    struct child **link = &children;

    if (!child)
        return;
    child_kill(child, 0);
    while (*link != child)
        link = &(*link)->next;
    *link = child->next;
    close_fd(&child->in);
    close_fd(&child->out);
    close_fd(&child->err);
    close_fd(&child->report_fd);
    capture_fini(&child->captured_out);
    capture_fini(&child->captured_err);
    free(child);
}

void child_finish(struct child *child, int64_t ns)
{
    int64_t now_ns = clock_boot_ns(), until_ns = now_ns + ns;

    child_kill(child, now_ns);
    while (child_step(child, now_ns) != CHILD_ENDED && now_ns < until_ns) {
        struct pollfd fds[CHILD_FDS_MAX];
        int64_t wake_ns = earlier(child_deadline_ns(child), until_ns);
        int64_t wait_ms = (wake_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;

        poll(fds, (nfds_t)child_poll(child, fds, CHILD_FDS_MAX), (int)wait_ms);
        now_ns = clock_boot_ns();
    }
    child_free(child);
}

void child_end_text(const struct child_end *end, char out[CHILD_END_BYTES])
{
    const char *name = sigabbrev_np(end->signal);

    if (end->exited)
        snprintf(out, CHILD_END_BYTES, "exit status %d", end->status);
    else if (name)
        snprintf(out, CHILD_END_BYTES, "signal %d (SIG%s)", end->signal, name);
    else
        snprintf(out, CHILD_END_BYTES, "signal %d", end->signal);
}
