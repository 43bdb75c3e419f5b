/* fa-worker with only a folder as argument: the invitation comes from stdin,
 * and the coordinator listens on TCP (here on loopback). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/invite.h"
#include "coordinator/link/router.h"
#include "worker/store/build_dir.h"

#define WORKER FA_BINARY_DIR "/bin/fa-worker"
#define WAIT_NS (60 * NS_PER_S)
#define TURN_MS 20
#define EPOCH 1000

struct bare {
    char folder[32], work[48];
    void *zctx;
    struct router *server;
    struct invite invite;
    pid_t worker;
};

static int open_bare(void **state)
{
    static struct bare bare;
    char router[48];
    size_t size = sizeof(bare.invite.endpoint);

    signal(SIGPIPE, SIG_IGN);
    bare = (struct bare){ .invite = { .epoch = EPOCH,
                                      .linger_ms = 30000,
                                      .owner.id = "000000000000000000000000"
                                                  "00000001",
                                      .owner.command = "0000000000000000000000"
                                                       "0000000002" } };
    snprintf(bare.folder, sizeof(bare.folder), "/tmp/fa-bare-XXXXXX");
    if (!mkdtemp(bare.folder))
        return -1;
    snprintf(bare.work, sizeof(bare.work), "%s/work", bare.folder);
    snprintf(router, sizeof(router), "%s/router", bare.folder);
    bare.zctx = zmq_ctx_new();
    if (router_open(bare.zctx, router, 1, NULL, &bare.server, NULL) < 0 ||
        zmq_bind(router_socket(bare.server), "tcp://127.0.0.1:*") < 0 ||
        zmq_getsockopt(router_socket(bare.server), ZMQ_LAST_ENDPOINT,
                       bare.invite.endpoint, &size) < 0 ||
        router_admit(bare.server, 0, bare.invite.public_key,
                     bare.invite.secret_key, NULL) < 0)
        return -1;
    memcpy(bare.invite.server_key, router_public_key(bare.server),
           CURVE_KEY_BYTES);
    *state = &bare;
    return 0;
}

static int close_bare(void **state)
{
    struct bare *bare = *state;

    if (bare->worker > 0) {
        kill(bare->worker, SIGKILL);
        waitpid(bare->worker, NULL, 0);
    }
    router_close(bare->server);
    zmq_ctx_term(bare->zctx);
    return build_dir_remove_tree(bare->folder) ? 0 : -1;
}

/* Start the worker and give it the invitation on its stdin. */
static void start(struct bare *bare)
{
    char text[INVITE_BYTES_MAX];
    size_t len = invite_write(&bare->invite, text);
    int in[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    bare->worker = fork();
    assert_true(bare->worker >= 0);
    if (bare->worker == 0) {
        dup2(in[0], 0);
        execl(WORKER, "fa-worker", "--workdir", bare->work, NULL);
        _exit(127);
    }
    close(in[0]);
    assert_int_equal(write(in[1], text, len), (ssize_t)len);
    close(in[1]);
}

/* Serve until a message of this type comes, at most for 'wait_ns'. */
static bool await(struct bare *bare, enum msg_type type, int64_t wait_ns)
{
    int64_t until_ns = clock_boot_ns() + wait_ns;
    bool came = false;

    while (!came && clock_boot_ns() < until_ns) {
        zmq_pollitem_t items[] = {
            { .socket = router_socket(bare->server), .events = ZMQ_POLLIN },
            { .socket = router_zap(bare->server), .events = ZMQ_POLLIN },
        };
        struct msg msg;
        size_t host;

        zmq_poll(items, 2, TURN_MS);
        router_step(bare->server);
        while (!came && router_recv(bare->server, &host, &msg, NULL) == 1) {
            came = msg.type == type;
            msg_fini(&msg);
        }
    }
    return came;
}

static void send_to_worker(struct bare *bare, struct msg *msg)
{
    msg->epoch = EPOCH;
    assert_int_equal(router_send(bare->server, 0, msg, NULL), 0);
}

static void an_invited_worker_comes_over_tcp_and_ends_when_told(void **state)
{
    struct bare *bare = *state;
    struct msg welcome = { .type = MSG_WELCOME,
                           .welcome = { .protocol = MSG_PROTOCOL,
                                        .sweep = "s",
                                        .device = "cpu",
                                        .gpus = "none",
                                        .beat_ms = 1000,
                                        .linger_ms = 30000 } };
    struct msg stop = { .type = MSG_STOP, .stop.what = "now" };
    int status;

    start(bare);
    assert_true(await(bare, MSG_HELLO, WAIT_NS));
    send_to_worker(bare, &welcome);
    assert_true(await(bare, MSG_READY, WAIT_NS));
    send_to_worker(bare, &stop);
    assert_true(await(bare, MSG_BYE, WAIT_NS));
    assert_int_equal(waitpid(bare->worker, &status, 0), bare->worker);
    bare->worker = 0;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_worker_with_a_forged_key_is_not_heard(void **state)
{
    struct bare *bare = *state;

    assert_int_equal(
        curve_keypair(bare->invite.public_key, bare->invite.secret_key, NULL),
        0);
    start(bare);
    assert_false(await(bare, MSG_HELLO, 2 * NS_PER_S));
    assert_true(router_refused(bare->server) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_invited_worker_comes_over_tcp_and_ends_when_told, open_bare,
            close_bare),
        cmocka_unit_test_setup_teardown(a_worker_with_a_forged_key_is_not_heard,
                                        open_bare, close_bare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
