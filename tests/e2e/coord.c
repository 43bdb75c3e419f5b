#include "tests/e2e/coord.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/frame.h"
#include "coordinator/link/router.h"
#include "worker/store/build_dir.h"

#define LAST_WORDS_NS (3 * NS_PER_S)
#define WORKER FA_BINARY_DIR "/bin/fa-worker"
#define TURN_MS 20

static int64_t deadline_ns(void)
{
    return clock_boot_ns() + COORD_WAIT_S * NS_PER_S;
}

void coord_open(struct coord *coord)
{
    char router[64];
    struct err err;

    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    *coord = (struct coord){ .epoch = 1000,
                             .owner = { .id = "0000000000000000000000000000"
                                              "0001",
                                        .command = "1111111111111111111111111"
                                                   "1111111",
                                        .user = "ada",
                                        .machine = "laptop",
                                        .database = "/home/ada/flash.db",
                                        .pid = 4711 },
                             .linger_ms = 1000 * COORD_WAIT_S, /* no BEAT */
                             .relay = -1,
                             .in = -1,
                             .out = -1,
                             .err = -1,
                             .worker = -1 };
    snprintf(coord->folder, sizeof(coord->folder), "/tmp/fa-agent-XXXXXX");
    assert_non_null(mkdtemp(coord->folder));
    snprintf(coord->work, sizeof(coord->work), "%s/work", coord->folder);
    snprintf(router, sizeof(router), "%s/router", coord->folder);
    coord->zctx = zmq_ctx_new();
    if (router_open(coord->zctx, router, 1, NULL, &coord->server, &err) < 0)
        fail_msg("%s", err.text);
    buf_init(&coord->login, FRAME_NOISE_MAX);
    buf_init(&coord->said, FRAME_NOISE_MAX);
}

static void hang_up(struct coord *coord)
{
    pump_free(coord->pump);
    coord->pump = NULL;
    if (coord->in >= 0) {
        close(coord->in);
        close(coord->out);
        close(coord->err);
    }
    coord->in = -1;
    coord->route_len = 0;
}

void coord_cut(struct coord *coord)
{
    if (coord->relay > 0) {
        kill(coord->relay, SIGKILL);
        waitpid(coord->relay, NULL, 0);
    }
    coord->relay = -1;
    hang_up(coord);
}

void coord_close(struct coord *coord)
{
    coord_cut(coord);
    if (coord->worker > 0) {
        kill(coord->worker, SIGKILL);
        waitpid(coord->worker, NULL, 0);
    }
    router_close(coord->server);
    zmq_ctx_term(coord->zctx);
    buf_fini(&coord->login);
    buf_fini(&coord->said);
    assert_true(build_dir_remove_tree(coord->folder));
}

static void start_relay(struct coord *coord)
{
    int in[2], out[2], err[2];

    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) |
                         pipe2(err, O_CLOEXEC),
                     0);
    coord->relay = fork();
    assert_true(coord->relay >= 0);
    if (coord->relay == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        execl(WORKER, "fa-worker", "--attach", "--workdir", coord->work, NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    coord->in = in[1];
    coord->out = out[0];
    coord->err = err[0];
    fcntl(coord->in, F_SETFL, O_NONBLOCK);
    fcntl(coord->out, F_SETFL, O_NONBLOCK);
    fcntl(coord->err, F_SETFL, O_NONBLOCK);
}

static void send_invitation(struct coord *coord)
{
    struct invite invite = { .epoch = coord->epoch,
                             .linger_ms = coord->linger_ms,
                             .owner = coord->owner,
                             .endpoint = INVITE_RELAY };
    char text[INVITE_BYTES_MAX];
    size_t len;
    struct err err;

    assert_int_equal(router_admit(coord->server, 0, invite.public_key,
                                  invite.secret_key, &err),
                     0);
    snprintf(invite.server_key, sizeof(invite.server_key), "%s",
             coord->wrong_server_key ? invite.public_key
                                     : router_public_key(coord->server));
    memcpy(coord->secret_key, invite.secret_key, CURVE_KEY_BYTES);
    if (coord->invitation)
        (void)!write(coord->in, coord->invitation, strlen(coord->invitation));
    len = invite_write(&invite, text);
    if (!coord->invitation)
        assert_int_equal(write(coord->in, text, len), (ssize_t)len);
}

static void read_stderr(struct coord *coord)
{
    char text[1024];
    ssize_t n;

    while ((n = read(coord->err, text, sizeof(text))) > 0)
        buf_add(&coord->said, text, (size_t)n);
}

void coord_attach(struct coord *coord)
{
    int64_t until_ns = deadline_ns();
    char version[FRAME_VERSION_BYTES], router[64];
    size_t frames = 0;
    struct err err;

    hang_up(coord);
    buf_clear(&coord->login);
    buf_clear(&coord->said);
    coord->ended = false;
    start_relay(coord);
    while (frames == 0) {
        struct pollfd wait = { .fd = coord->out, .events = POLLIN };
        char bytes[256];
        ssize_t n = poll(&wait, 1, TURN_MS) > 0
                        ? read(coord->out, bytes, sizeof(bytes))
                        : -1;

        read_stderr(coord);
        if (n == 0 || clock_boot_ns() > until_ns)
            fail_msg("no magic: %s", buf_text(&coord->said));
        if (n > 0)
            buf_add(&coord->login, bytes, (size_t)n);
        assert_true(frame_find_magic(buf_text(&coord->login), coord->login.len,
                                     &frames, version, &err) >= 0);
    }
    assert_string_equal(version, FA_VERSION);
    snprintf(router, sizeof(router), "%s/router", coord->folder);
    assert_int_equal(pump_dial(router, &coord->pump, &err), 0);
    assert_int_equal(pump_feed(coord->pump, coord->login.bytes + frames,
                               coord->login.len - frames, &err),
                     0);
    send_invitation(coord);
}

static void carry(struct coord *coord)
{
    char bytes[FRAME_PAYLOAD_MAX];
    size_t len, room = pump_room(coord->pump);
    const void *output = pump_output(coord->pump, &len);
    ssize_t n;
    struct err err;

    if (len > 0 && (n = write(coord->in, output, len)) > 0)
        pump_sent(coord->pump, (size_t)n);
    n = read(coord->out, bytes, room < sizeof(bytes) ? room : sizeof(bytes));
    if (n == 0)
        coord->ended = true;
    if (n > 0 && pump_feed(coord->pump, bytes, (size_t)n, &err) < 0)
        fail_msg("%s", err.text);
    read_stderr(coord);
}

static void beat(struct coord *coord)
{
    struct msg msg = { .type = MSG_BEAT };
    int64_t now_ns = clock_boot_ns();

    if (!coord->beats || !coord->seen[MSG_HELLO] || now_ns < coord->beat_ns)
        return;
    msg.epoch = coord->epoch;
    (void)router_send(coord->server, 0, &msg, NULL); /* or it is cut off */
    coord->beat_ns = now_ns + COORD_BEAT_MS * NS_PER_MS;
}

static void turn(struct coord *coord)
{
    size_t output;
    zmq_pollitem_t items[PUMP_FDS_MAX + 4] = {
        { .socket = router_socket(coord->server), .events = ZMQ_POLLIN },
        { .socket = router_zap(coord->server), .events = ZMQ_POLLIN },
        { .fd = coord->out, .events = ZMQ_POLLIN },
    };
    struct pollfd fds[PUMP_FDS_MAX];
    size_t n = pump_fds(coord->pump, fds);
    int n_items = (int)n + 3;
    struct err err;

    for (size_t i = 0; i < n; i++)
        items[3 + i] =
            (zmq_pollitem_t){ .fd = fds[i].fd,
                              .events = fds[i].events & POLLOUT
                                            ? ZMQ_POLLIN | ZMQ_POLLOUT
                                            : ZMQ_POLLIN };
    (void)pump_output(coord->pump, &output); /* only whether there is any */
    if (output > 0)
        items[n_items++] =
            (zmq_pollitem_t){ .fd = coord->in, .events = ZMQ_POLLOUT };
    zmq_poll(items, n_items, TURN_MS);
    poll(fds, (nfds_t)n, 0);
    if (pump_step(coord->pump, fds, n, &err) < 0)
        fail_msg("%s", err.text);
    carry(coord);
    router_step(coord->server);
    beat(coord);
}

/* The next message, or false if no message has arrived. */
static bool take(struct coord *coord, struct msg *msg)
{
    size_t host;
    struct err err;
    int rc = router_recv(coord->server, &host, msg, &err);

    if (rc < 0)
        fail_msg("%s", err.text);
    if (rc == 0)
        return false;
    coord->seen[msg->type]++;
    if (msg->type == MSG_HELLO)
        coord->worker = (pid_t)msg->hello.pid;
    if (msg->type == MSG_WANT && coord->bundle) {
        struct msg answer = *coord->bundle;

        coord_send(coord, &answer);
    }
    return true;
}

void coord_await(struct coord *coord, enum msg_type type, struct msg *out)
{
    int64_t until_ns = deadline_ns();

    for (;;) {
        while (take(coord, out)) {
            if (out->type == type)
                return;
            if (out->type == MSG_TROUBLE)
                fail_msg("TROUBLE %s: %s", out->trouble.what,
                         out->trouble.text);
            msg_fini(out);
        }
        /* the relay's last bytes may still be on their way to the ROUTER */
        if (coord->ended && until_ns > clock_boot_ns() + LAST_WORDS_NS)
            until_ns = clock_boot_ns() + LAST_WORDS_NS;
        if (clock_boot_ns() > until_ns)
            fail_msg("no %s; the relay says: %s", msg_type_name(type),
                     buf_text(&coord->said));
        turn(coord);
    }
}

void coord_expect(struct coord *coord, enum msg_type type)
{
    struct msg msg;

    coord_await(coord, type, &msg);
    msg_fini(&msg);
}

void coord_idle(struct coord *coord, int64_t ms)
{
    int64_t until_ns = clock_boot_ns() + ms * NS_PER_MS;
    struct msg msg;

    while (clock_boot_ns() < until_ns && !coord->ended) {
        turn(coord);
        while (take(coord, &msg))
            msg_fini(&msg);
    }
}

int coord_await_end(struct coord *coord)
{
    int64_t until_ns = deadline_ns();
    int status;

    while (!coord->ended) {
        assert_true(clock_boot_ns() < until_ns);
        coord_idle(coord, TURN_MS);
    }
    assert_int_equal(waitpid(coord->relay, &status, 0), coord->relay);
    coord->relay = -1;
    read_stderr(coord);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void coord_send(struct coord *coord, struct msg *msg)
{
    struct err err;

    msg->epoch = coord->epoch;
    if (router_send(coord->server, 0, msg, &err) < 0)
        fail_msg("%s", err.text);
}

/* The ROUTER's name of the connection, from a message, which is dropped. */
static void learn_route(struct coord *coord)
{
    void *socket = router_socket(coord->server);
    int64_t until_ns = deadline_ns();
    char dropped[1];
    int n;

    while ((n = zmq_recv(socket, coord->route, sizeof(coord->route),
                         ZMQ_DONTWAIT)) < 0) {
        assert_true(clock_boot_ns() < until_ns);
        turn(coord);
    }
    coord->route_len = (size_t)n;
    zmq_recv(socket, dropped, sizeof(dropped), 0); /* has come with its name */
}

void coord_send_bytes(struct coord *coord, const void *bytes, size_t len)
{
    void *socket = router_socket(coord->server);

    if (coord->route_len == 0)
        learn_route(coord);
    assert_int_equal(
        zmq_send(socket, coord->route, coord->route_len, ZMQ_SNDMORE),
        (int)coord->route_len);
    assert_int_equal(zmq_send(socket, bytes, len, 0), (int)len);
}

void coord_welcome(struct coord *coord, const char *gpus, int64_t slots)
{
    struct msg msg = { .type = MSG_WELCOME,
                       .welcome = { .protocol = MSG_PROTOCOL,
                                    .sweep = "test",
                                    .device = "cpu",
                                    .gpus = gpus,
                                    .slots = slots,
                                    .beat_ms = COORD_BEAT_MS,
                                    .linger_ms = coord->linger_ms,
                                    .poweroff = coord->poweroff } };

    coord_expect(coord, MSG_HELLO);
    coord_send(coord, &msg);
}

void coord_up(struct coord *coord, int64_t slots)
{
    coord_attach(coord);
    coord_welcome(coord, "none", slots);
    coord_expect(coord, MSG_READY);
}

void coord_ack(struct coord *coord, const char *nonce)
{
    struct msg msg = { .type = MSG_ACK, .ack.nonces = { &nonce, 1 } };

    coord_send(coord, &msg);
}

void coord_stop(struct coord *coord, const char *what)
{
    struct msg msg = { .type = MSG_STOP, .stop.what = what };

    coord_send(coord, &msg);
}

int coord_reap_worker(struct coord *coord)
{
    int64_t until_ns = deadline_ns();
    int status;
    pid_t pid;

    while ((pid = waitpid(coord->worker, &status, WNOHANG)) == 0) {
        assert_true(clock_boot_ns() < until_ns);
        if (coord->pump)
            coord_idle(coord, TURN_MS);
        else
            poll(NULL, 0, TURN_MS);
    }
    assert_int_equal(pid, coord->worker);
    coord->worker = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
