#include "worker/main/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/frame.h"
#include "common/invite.h"
#include "common/pump.h"
#include "worker/agent/claim.h"
#include "worker/agent/control.h"
#include "worker/main/peer_program.h"
#include "worker/main/start.h"
#include "worker/store/instance.h"
#include "worker/store/workdir.h"

#define INVITE_NS (60 * NS_PER_S) /* the coordinator sends it at once */
#define OFFER_MS 12000            /* a worker that is ending has 10 s */
#define AGAIN_MS 200
#define START_AGAIN_MS 1000 /* a worker that finds no free GPU is a process */
#define NOTE_NS                                                                \
    (5 * NS_PER_S)              /* so that the coordinator knows that it waits \
                                 */
#define DRAIN_NS (5 * NS_PER_S) /* to deliver the worker's last messages */

struct relay {
    const struct instance *instance;
    int in, out; /* the channel; moved away from 0 and 1 */
    int control; /* open while the worker runs; -1 later */
    struct pump *pump;
    int again_ms;           /* between two offers */
    int64_t note_ns;        /* when the coordinator is told again */
    int64_t drain_until_ns; /* set when the worker has ended */
};

/* So that nothing that prints or reads by accident disturbs the stream. */
static int move_away(struct relay *relay, struct err *err)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    relay->in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    relay->out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (null < 0 || relay->in < 0 || relay->out < 0 || dup2(null, 0) < 0 ||
        dup2(null, 1) < 0)
        return err_set(err, ERR_SYSTEM, "standard streams: %s",
                       strerror(errno));
    close(null);
    return 0;
}

static int say_magic(const struct relay *relay, struct err *err)
{
    char line[FRAME_MAGIC_BYTES];
    size_t len = frame_magic(FA_VERSION, line);

    if (write(relay->out, line, len) != (ssize_t)len) /* fits a pipe */
        return err_set(err, ERR_NETWORK,
                       "the coordinator closed the connection");
    return 0;
}

/* Read up to the end of the invitation.  '*len' is all that was read. */
static int read_text(int fd, char text[INVITE_BYTES_MAX], size_t *len,
                     struct err *err)
{
    int64_t until_ns = clock_boot_ns() + INVITE_NS;
    int end = 0;

    for (*len = 0; end == 0;) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        int64_t left_ns = until_ns - clock_boot_ns();
        ssize_t n;

        if (left_ns <= 0)
            return err_set(err, ERR_NETWORK, "no invitation arrived");
        if (poll(&wait, 1, (int)(left_ns / NS_PER_MS) + 1) <= 0)
            continue;
        n = read(fd, text + *len, INVITE_BYTES_MAX - *len);
        if (n <= 0)
            return err_set(err, ERR_NETWORK,
                           "the coordinator closed the connection before it "
                           "sent an invitation");
        *len += (size_t)n;
        end = invite_end(text, *len, err);
    }
    return end;
}

/* Listen where the worker will connect, and feed what came after the
 * invitation. */
static int open_pump(struct relay *relay, struct invite *invite,
                     const char *rest, size_t len, struct err *err)
{
    char path[PUMP_PATH_MAX + 1];
    int rc;

    if (strcmp(invite->endpoint, INVITE_RELAY) == 0) {
        snprintf(path, sizeof(path), "%s/relay-%d.sock", relay->instance->home,
                 (int)getpid());
        unlink(path); /* left by a dead process with the same pid */
        rc = pump_listen(path, &relay->pump, err);
        if (rc < 0)
            return rc;
        snprintf(invite->endpoint, sizeof(invite->endpoint), "ipc://%s", path);
        return pump_feed(relay->pump, rest, len, err);
    }
    return err_set(err, ERR_INPUT,
                   "invitation: the endpoint must be '" INVITE_RELAY
                   "' when it comes through a relay");
}

/* Returns 1, or 0 if the channel has ended. */
static int read_channel(struct relay *relay, struct err *err)
{
    char bytes[FRAME_PAYLOAD_MAX];
    size_t room = pump_room(relay->pump);
    ssize_t n =
        read(relay->in, bytes, room < sizeof(bytes) ? room : sizeof(bytes));

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return 0;
    return pump_feed(relay->pump, bytes, (size_t)n, err) < 0 ? ERR_PROTO : 1;
}

static int write_channel(struct relay *relay)
{
    size_t len;
    const void *bytes = pump_output(relay->pump, &len);
    ssize_t n = len ? write(relay->out, bytes, len) : 0;

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    pump_sent(relay->pump, (size_t)n);
    return 1;
}

/* Between two offers: let the notes go out.  ERR_NETWORK when the coordinator
 * is gone. */
static int rest(struct relay *relay, struct err *err)
{
    struct pollfd wait = { .fd = relay->in, .events = POLLIN };
    int rc = 1;

    if (poll(&wait, 1, relay->again_ms) > 0)
        rc = read_channel(relay, err);
    if (rc == 1)
        rc = write_channel(relay);
    return rc == 0 ? err_set(err, ERR_NETWORK,
                             "the coordinator closed the connection")
                   : err_only(rc);
}

/* The worker is another sweep's: say whose, again and again, because a
 * coordinator that hears nothing gives up the connection. */
static void say_busy(struct relay *relay, const char *why)
{
    int64_t now_ns = clock_boot_ns();

    if (now_ns < relay->note_ns || !why[0])
        return;
    pump_say(relay->pump, why);
    relay->note_ns = now_ns + NOTE_NS;
}

static int offer_once(struct relay *relay, const struct invite *invite,
                      struct err *err)
{
    int rc = start_worker(relay->instance, &relay->control, err);

    relay->again_ms = rc == CLAIM_BUSY ? START_AGAIN_MS : AGAIN_MS;
    if (rc != 0)
        return rc == CLAIM_BUSY    ? CONTROL_BUSY
               : rc == ERR_NETWORK ? ERR_SYSTEM
                                   : rc;
    rc = control_offer(relay->control, invite, OFFER_MS, err);
    if (rc != 0) {
        close(relay->control);
        relay->control = -1;
    }
    return rc;
}

/* The worker has taken the invitation, so it is this sweep's, but another
 * version started it, whose builds and times may differ.  It keeps its results
 * in the journal, where its successor finds them.  Nothing of it has gone to
 * the coordinator: nothing is pumped yet. */
static bool replaces(struct relay *relay)
{
    pid_t pid;

    if (!peer_program_differs(relay->control, &pid))
        return false;
    pump_say(relay->pump, "its worker is of another version, from an earlier "
                          "run, and is replaced");
    kill(pid, SIGTERM); /* if it is gone, so much the better */
    close(relay->control);
    relay->control = -1;
    return true;
}

/* A worker that is ending hangs up; when it has ended, the next one is started.
 * That of another sweep is waited for as long as the coordinator wants. */
static int offer(struct relay *relay, const struct invite *invite,
                 struct err *err)
{
    int64_t until_ns = clock_boot_ns() + OFFER_MS * NS_PER_MS;

    for (;;) {
        struct err gone;
        int rc = offer_once(relay, invite, err);

        if (rc == CONTROL_BUSY)
            say_busy(relay, err->text);
        if (rc == CONTROL_BUSY || (rc == 0 && replaces(relay))) {
            until_ns = clock_boot_ns() + OFFER_MS * NS_PER_MS;
        } else if (rc != ERR_NETWORK || clock_boot_ns() >= until_ns) {
            return rc;
        }
        rc = rest(relay, &gone);
        if (rc < 0)
            return err_set(err, rc, "%s", gone.text);
    }
}

static int do_not_block(struct relay *relay, struct err *err)
{
    if (fcntl(relay->in, F_SETFL, O_NONBLOCK) < 0 ||
        fcntl(relay->out, F_SETFL, O_NONBLOCK) < 0)
        return err_set(err, ERR_SYSTEM, "channel: %s", strerror(errno));
    return 0;
}

static int hand_over(struct relay *relay, struct err *err)
{
    char text[INVITE_BYTES_MAX];
    struct invite invite;
    size_t len;
    int end = read_text(relay->in, text, &len, err), rc = end;

    if (end > 0)
        rc = invite_parse(text, (size_t)end, &invite, err);
    if (rc == 0) {
        rc = open_pump(relay, &invite, text + end, len - (size_t)end, err);
        if (rc == 0)
            rc = do_not_block(relay, err);
        if (rc == 0)
            rc = offer(relay, &invite, err);
        invite_wipe(&invite);
    }
    sodium_memzero(text, sizeof(text));
    return rc;
}

/* The worker sends nothing after its answer, so input here means
 * end-of-file. */
static void look_after_worker(struct relay *relay, short revents)
{
    if (!revents)
        return;
    close(relay->control);
    relay->control = -1;
    relay->drain_until_ns = clock_boot_ns() + DRAIN_NS;
}

static bool is_drained(struct relay *relay)
{
    size_t len;

    if (relay->control >= 0)
        return false;
    pump_output(relay->pump, &len);
    return clock_boot_ns() >= relay->drain_until_ns ||
           (len == 0 && pump_streams(relay->pump) == 0);
}

enum {
    IN,
    OUT,
    CONTROL,
    FIRST
};

static void await(struct relay *relay, struct pollfd *fds, size_t *n)
{
    size_t len;

    pump_output(relay->pump, &len);
    fds[IN] = (struct pollfd){ .fd = pump_room(relay->pump) ? relay->in : -1,
                               .events = POLLIN };
    fds[OUT] = (struct pollfd){ .fd = relay->out, .events = len ? POLLOUT : 0 };
    fds[CONTROL] = (struct pollfd){ .fd = relay->control, .events = POLLIN };
    *n = FIRST + pump_fds(relay->pump, fds + FIRST);
    (void)poll(fds, (nfds_t)*n, relay->control < 0 ? 100 : -1);
}

/* One turn.  Returns 1, 0 if everything is over, or ERR_*. */
static int turn(struct relay *relay, struct err *err)
{
    struct pollfd fds[FIRST + PUMP_FDS_MAX] = { 0 };
    size_t n;
    int rc;

    await(relay, fds, &n);
    look_after_worker(relay, fds[CONTROL].revents);
    if (fds[IN].revents) {
        rc = read_channel(relay, err);
        if (rc != 1)
            return rc;
    }
    rc = pump_step(relay->pump, fds + FIRST, n - FIRST, err);
    if (rc < 0)
        return rc;
    if (fds[OUT].revents & (POLLERR | POLLHUP) || write_channel(relay) == 0)
        return 0;
    return !is_drained(relay);
}

static int attach(struct relay *relay, struct err *err)
{
    int rc = move_away(relay, err), probe;

    if (rc < 0)
        return rc;
    rc = start_worker(relay->instance, &probe, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        close(probe);
    rc = say_magic(relay, err);
    if (rc == 0)
        rc = hand_over(relay, err);
    if (rc < 0)
        return rc;
    do
        rc = turn(relay, err);
    while (rc == 1);
    return rc;
}

int relay_run(const struct instance *instance)
{
    struct relay relay = {
        .instance = instance, .in = -1, .out = -1, .control = -1
    };
    struct err err;
    int rc;

    signal(SIGPIPE, SIG_IGN); /* the write says that the channel has ended */
    workdir_tidy(instance->home);
    rc = attach(&relay, &err);
    if (rc < 0)
        fprintf(stderr, "fa-worker: %s\n", err.text);
    pump_free(relay.pump);
    return rc < 0 ? 1 : 0;
}
