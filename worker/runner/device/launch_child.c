#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* pipe2() */
#endif
#include "worker/runner/device/launch_child.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker/runner/device/confine.h"
#include "worker/runner/device/device_host.h"
#include "worker/runner/device/object.h"
#include "worker/runner/wire/wire.h"

/* The emulator ends a launch at its limit of processor time with the name of
 * the thread.  A loop without a primitive is ended from outside, after the
 * grace.  A kernel that sleeps uses no processor: it is ended after that much
 * more of the wall's time, on a busy machine. */
#define WALL_FACTOR 4
#define GRACE_S 0.5 /* also for the end of a child that has hung up */

/* The file that device_load() opened, as the child sees it. */
#define OBJECT "/proc/self/fd/4"
_Static_assert(CONFINE_OBJECT == 4, "as in OBJECT");

/* Loading runs the object's constructors. */
#define LOAD_S 10.0

/* What the child is told to run.  It has no other memory of its parent's that
 * the arguments could be in. */
struct order {
    struct emulator_launch launch;
    double timeout_s;
    size_t n_args;
    uint64_t args[WIRE_ARGS_MAX]; /* each in the first bytes */
};

/* A socket keeps the bounds of its messages: one is there as a whole. */
static bool say(int socket, const void *data, size_t len)
{
    ssize_t n;

    do
        n = send(socket, data, len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len;
}

/* The length of the message; 0 at the end, -1 on an error. */
static ssize_t hear(int socket, void *data, size_t len)
{
    ssize_t n;

    do
        n = recv(socket, data, len, MSG_TRUNC);
    while (n < 0 && errno == EINTR);
    return n;
}

static void refuse(struct launch_child_reply *reply,
                   enum emulator_outcome outcome, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void refuse(struct launch_child_reply *reply,
                   enum emulator_outcome outcome, const char *fmt, ...)
{
    va_list args;

    reply->outcome = outcome;
    va_start(args, fmt);
    vsnprintf(reply->text, sizeof(reply->text), fmt, args);
    va_end(args);
}

/* Is the text of dlerror() about memory?  With too little, glibc names no error
 * for a descriptor, and another one for a file that is open here. */
static bool lacks_memory(const char *text)
{
    return strstr(text, strerror(ENOMEM)) ||
           strstr(text, "cannot create shared object descriptor") ||
           strstr(text, OBJECT ": cannot open shared object file");
}

/* What dlerror() says, of the file by its own name. */
static void refuse_object(const char *path, struct launch_child_reply *reply)
{
    const char *text = dlerror();
    size_t len = strlen(OBJECT);
    enum emulator_outcome outcome =
        !text || lacks_memory(text) ? EMULATOR_BROKEN : EMULATOR_REFUSED;

    if (text && strncmp(text, OBJECT, len) == 0)
        refuse(reply, outcome, "%s%s", path, text + len);
    else
        refuse(reply, outcome, "%s", text ? text : path);
}

/* The object must have been built for this version of the emulator. */
static void *open_object(const char *path, struct launch_child_reply *reply,
                         void **entry)
{
    void *object = dlopen(OBJECT, RTLD_NOW | RTLD_LOCAL);
    const int *abi = object ? dlsym(object, "fa_entry_abi") : NULL;

    *entry = object ? dlsym(object, "fa_entry") : NULL;
    if (!object)
        refuse_object(path, reply);
    else if (!abi || !*entry)
        refuse(reply, EMULATOR_REFUSED, "%s exports no fa_entry", path);
    else if (*abi != emulator_abi())
        refuse(reply, EMULATOR_REFUSED,
               "%s is built for emulator version %d, this is %d", path, *abi,
               emulator_abi());
    return object;
}

/* The entry of the object, and the shared memory that it declares; NULL if it
 * is refused. */
static void *load(const char *path, struct emulator_shared *shared,
                  struct launch_child_reply *reply)
{
    void *object, *entry;

    if (!object_bind_file(CONFINE_OBJECT, &shared->dynamic)) {
        refuse(reply, EMULATOR_BROKEN, "%s: %s", path, strerror(errno));
        return NULL;
    }
    object = open_object(path, reply, &entry);
    if (reply->outcome != EMULATOR_DONE)
        return NULL;
    object_statics(object, shared);
    return entry;
}

/* In the child. */
__attribute__((noreturn)) static void
serve(const struct launch_child_object *object, int socket, int output)
{
    struct launch_child_reply reply = { .outcome = EMULATOR_DONE };
    struct emulator_shared shared;
    struct order order;
    void *entry, *args[WIRE_ARGS_MAX];

    dup2(output, 1);
    dup2(output, 2);
    confine_start(socket, object->file);
    entry = load(object->path, &shared, &reply);
    confine_loaded();
    if (!confine_say(&reply, sizeof(reply)) || !entry ||
        hear(CONFINE_SOCKET, &order, sizeof(order)) != sizeof(order))
        _exit(0);
    for (size_t i = 0; i < order.n_args; i++)
        args[i] = &order.args[i];
    order.launch.args = args;
    memcpy(&order.launch.entry, &entry, sizeof(entry));
    order.launch.shared = shared;
    order.launch.armed = confine_armed;
    reply.outcome = emulator_run(&order.launch, order.timeout_s, reply.text,
                                 sizeof(reply.text));
    reply.bank_conflicts = emulator_bank_conflicts();
    reply.unordered = emulator_is_unordered();
    reply.met = emulator_blocks_meet();
    (void)confine_say(&reply, sizeof(reply)); /* nobody hears it otherwise */
    for (;;)
        pause(); /* until it is killed: nothing of it runs any more */
}

/* Take over how the child ended. */
__attribute__((noreturn)) static void die_like(const siginfo_t *end)
{
    if (end->si_code == CLD_EXITED)
        _exit(end->si_status);
    signal(end->si_status, SIG_DFL);
    raise(end->si_status);
    _exit(1);
}

/* Has it ended, or does it within the grace?  Where the kernel has no such
 * descriptor, the answer is no after the grace. */
static bool ends(pid_t pid)
{
#ifdef SYS_pidfd_open
    struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, pid, 0),
                          .events = POLLIN };
#else
    struct pollfd end = { .fd = -1 };
#endif
    bool ended = poll(&end, 1, (int)(GRACE_S * 1e3)) > 0;

    if (end.fd >= 0)
        close(end.fd);
    return ended;
}

/* Without waiting for more: the pipe holds it all. */
static void pass_on_output(const struct launch_child *child)
{
    char part[4096];
    ssize_t n;

    while ((n = read(child->output, part, sizeof(part))) > 0)
        if (write(2, part, (size_t)n) < n)
            return; /* nobody reads it */
}

/* The other end of the socket is closed: the child ends, or the kernel has
 * closed it and goes on. */
static void hung_up(const struct launch_child *child,
                    struct launch_child_reply *reply)
{
    const pid_t pid = child->pid;
    siginfo_t info = { .si_code = 0 };
    bool ended = ends(pid);

    if (!ended)
        kill(pid, SIGKILL);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    if (ended || info.si_code == CLD_EXITED || info.si_status != SIGKILL) {
        pass_on_output(child);
        die_like(&info);
    }
    *reply = (struct launch_child_reply){
        .outcome = EMULATOR_FAULT,
        .text = "the kernel closed a descriptor of its process, and ran on"
    };
}

void launch_child_end(struct launch_child *child)
{
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    pass_on_output(child);
    close(child->socket);
    close(child->output);
}

static double clock_of(clockid_t clock)
{
    struct timespec now = { .tv_sec = 0 };

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The processor time of the child, so far. */
static double used_s(const struct launch_child *child)
{
    clockid_t clock = CLOCK_MONOTONIC;

    clock_getcpuclockid(child->pid, &clock);
    return clock_of(clock);
}

/* Stop it, so that what it has used is all that it uses. */
static double used_at_last_s(const struct launch_child *child)
{
    siginfo_t info;

    kill(child->pid, SIGSTOP);
    waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WEXITED | WNOWAIT);
    return used_s(child);
}

/* Is there something to hear before the child has used either limit? */
static bool says(const struct launch_child *child,
                 struct launch_child_limits limits)
{
    const double end = clock_of(CLOCK_MONOTONIC) + limits.wall_s,
                 end_used = used_s(child) + limits.processor_s + GRACE_S;
    struct pollfd socket = { .fd = child->socket, .events = POLLIN };
    double left_s;
    int n;

    do {
        left_s = end - clock_of(CLOCK_MONOTONIC);
        if (left_s > end_used - used_s(child))
            left_s = end_used - used_s(child);
        n = poll(&socket, 1, left_s > 0 ? (int)(left_s * 1e3) + 1 : 0);
    } while ((n < 0 && errno == EINTR) || (n == 0 && left_s > 0));
    return n != 0;
}

/* False if the child said nothing for that long. */
static bool await(const struct launch_child *child,
                  struct launch_child_limits limits,
                  struct launch_child_reply *reply)
{
    ssize_t len;

    if (!says(child, limits))
        return false;
    len = hear(child->socket, reply, sizeof(*reply));
    if (len <= 0)
        hung_up(child, reply);
    else if (len != sizeof(*reply) || reply->outcome > EMULATOR_BROKEN)
        *reply = (struct launch_child_reply){
            .outcome = EMULATOR_FAULT,
            .text = "its process sent something that is not a reply"
        };
    reply->text[sizeof(reply->text) - 1] = '\0';
    return true;
}

/* The pipe never blocks a kernel that prints more than it holds. */
static bool make_ends(int sockets[2], int pipes[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return false;
    if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) == 0)
        return true;
    close(sockets[0]);
    close(sockets[1]);
    return false;
}

static int fork_child(const struct launch_child_object *object,
                      struct launch_child *out, struct device_err *err)
{
    int sockets[2], pipes[2];

    if (!make_ends(sockets, pipes))
        return device_host_fail(err, DEVICE_BROKEN, "socketpair, pipe: %s",
                                strerror(errno));
    confine_hide();
    fflush(NULL);
    out->pid = fork();
    if (out->pid == 0)
        serve(object, sockets[1], pipes[1]);
    close(sockets[1]);
    close(pipes[1]);
    out->socket = sockets[0];
    out->output = pipes[0];
    if (out->pid > 0)
        return 0;
    close(sockets[0]);
    close(pipes[0]);
    return device_host_fail(err, DEVICE_BROKEN, "fork: %s", strerror(errno));
}

int launch_child_start(const struct launch_child_object *object,
                       struct launch_child *out, struct device_err *err)
{
    struct launch_child_reply reply;
    int rc = fork_child(object, out, err);

    if (rc < 0)
        return rc;
    if (!await(out, (struct launch_child_limits){ LOAD_S, LOAD_S }, &reply)) {
        launch_child_end(out);
        return device_host_fail(err, DEVICE_TIMEOUT,
                                "%s was not loaded within %.0f s", object->path,
                                LOAD_S);
    }
    if (reply.outcome != EMULATOR_DONE) {
        launch_child_end(out);
        return device_host_fail(
            err,
            reply.outcome == EMULATOR_REFUSED ? DEVICE_REFUSED : DEVICE_BROKEN,
            "%s", reply.text);
    }
    out->loaded_s = used_s(out);
    return 0;
}

struct launch_child_limits launch_child_limits(double timeout_s)
{
    return (struct launch_child_limits){ timeout_s,
                                         WALL_FACTOR * timeout_s + GRACE_S };
}

/* As for cuLaunchKernel, an argument is where it is, and nobody says how long
 * it is: of a shorter one, what lies behind it is sent as well, and not used.
 */
__attribute__((no_sanitize("address"))) static uint64_t
bytes_at(const void *argument)
{
    uint64_t bytes;

    memcpy(&bytes, argument, sizeof(bytes));
    return bytes;
}

int launch_child_run(struct launch_child *child,
                     const struct device_launch *launch,
                     struct emulator_order in_order,
                     struct launch_child_limits limits,
                     struct launch_child_reply *reply, double *seconds,
                     struct device_err *err)
{
    struct order order = {
        .launch = { .grid = { launch->grid[0], launch->grid[1],
                              launch->grid[2] },
                    .block = { launch->block[0], launch->block[1],
                               launch->block[2] },
                    .smem = launch->smem,
                    .order = in_order },
        .timeout_s = limits.processor_s,
        .n_args = launch->n_args,
    };
    bool heard;

    for (size_t i = 0; i < launch->n_args; i++)
        order.args[i] = bytes_at(launch->args[i]);
    heard = say(child->socket, &order, sizeof(order)) &&
            await(child, limits, reply);
    *seconds = used_at_last_s(child) - child->loaded_s;
    launch_child_end(child);
    if (!heard)
        return device_host_fail(
            err, DEVICE_TIMEOUT,
            "still running after %.3g s, without a barrier, "
            "an atomic or a fence where others could run",
            limits.processor_s);
    return 0;
}
