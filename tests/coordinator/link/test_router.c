#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "common/clock.h"
#include "coordinator/link/router.h"

#define WAIT_NS (5 * NS_PER_S)

struct stage {
    char folder[32], path[64];
    void *zctx;
    struct router *server;
    char public_key[2][CURVE_KEY_BYTES], secret_key[2][CURVE_KEY_BYTES];
};

static int open_stage(void **state)
{
    static struct stage stage;

    snprintf(stage.folder, sizeof(stage.folder), "/tmp/fa-server-XXXXXX");
    if (!mkdtemp(stage.folder))
        return -1;
    snprintf(stage.path, sizeof(stage.path), "%s/router", stage.folder);
    stage.zctx = zmq_ctx_new();
    if (router_open(stage.zctx, stage.path, 2, &stage.server, NULL) < 0)
        return -1;
    for (size_t i = 0; i < 2; i++)
        router_admit(stage.server, i, stage.public_key[i], stage.secret_key[i],
                     NULL);
    *state = &stage;
    return 0;
}

static int close_stage(void **state)
{
    struct stage *stage = *state;

    router_close(stage->server);
    zmq_ctx_term(stage->zctx);
    unlink(stage->path);
    return rmdir(stage->folder);
}

static void *dial(struct stage *stage, const char *public_key,
                  const char *secret_key)
{
    void *dealer = zmq_socket(stage->zctx, ZMQ_DEALER);
    char endpoint[96];

    snprintf(endpoint, sizeof(endpoint), "ipc://%s", stage->path);
    assert_int_equal(curve_client(dealer, router_public_key(stage->server),
                                  public_key, secret_key, NULL),
                     0);
    assert_int_equal(zmq_connect(dealer, endpoint), 0);
    return dealer;
}

static void say(void *dealer, const struct msg *msg)
{
    struct buf buf;

    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(msg, &buf, NULL), 0);
    zmq_send(dealer, buf.bytes, buf.len, 0);
    buf_fini(&buf);
}

/* Serve until a message comes (its code) or the deadline passes (0). */
static int listen_for(struct router *router, int64_t wait_ns, size_t *host,
                      struct msg *msg, struct err *err)
{
    int64_t until = clock_boot_ns() + wait_ns;
    int rc = 0;

    while (rc == 0 && clock_boot_ns() < until) {
        zmq_pollitem_t items[] = {
            { .socket = router_socket(router), .events = ZMQ_POLLIN },
            { .socket = router_zap(router), .events = ZMQ_POLLIN }
        };

        zmq_poll(items, 2, 20);
        router_step(router);
        rc = router_recv(router, host, msg, err);
    }
    return rc;
}

static void the_sender_is_the_one_whose_key_it_is(void **state)
{
    struct stage *stage = *state;
    void *dealer = dial(stage, stage->public_key[1], stage->secret_key[1]);
    struct msg beat = { .type = MSG_BEAT, .beat.journal = 3 }, msg;
    size_t host = 99;

    say(dealer, &beat);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, NULL), 1);
    assert_int_equal(host, 1);
    assert_int_equal(msg.beat.journal, 3);
    msg_fini(&msg);
    zmq_close(dealer);
}

static void an_answer_finds_its_way_back(void **state)
{
    struct stage *stage = *state;
    void *dealer = dial(stage, stage->public_key[0], stage->secret_key[0]);
    struct msg beat = { .type = MSG_BEAT },
               stop = { .type = MSG_STOP, .stop.what = "now" }, msg;
    char reply[256];
    int wait_ms = 5000, n;
    size_t host;

    zmq_setsockopt(dealer, ZMQ_RCVTIMEO, &wait_ms, sizeof(wait_ms));
    assert_int_equal(router_send(stage->server, 0, &stop, NULL), ERR_NETWORK);
    say(dealer, &beat);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, NULL), 1);
    msg_fini(&msg);
    assert_int_equal(router_send(stage->server, 0, &stop, NULL), 0);
    n = zmq_recv(dealer, reply, sizeof(reply), 0);
    assert_true(n > 0);
    assert_int_equal(msg_decode(reply, (size_t)n, &msg, NULL), 0);
    assert_string_equal(msg.stop.what, "now");
    msg_fini(&msg);
    zmq_close(dealer);
}

static void an_unknown_key_is_refused(void **state)
{
    struct stage *stage = *state;
    char public_key[CURVE_KEY_BYTES], secret_key[CURVE_KEY_BYTES];
    struct msg beat = { .type = MSG_BEAT }, msg;
    void *dealer;
    size_t host;

    assert_int_equal(curve_keypair(public_key, secret_key, NULL), 0);
    dealer = dial(stage, public_key, secret_key);
    say(dealer, &beat);
    assert_int_equal(listen_for(stage->server, NS_PER_S, &host, &msg, NULL), 0);
    assert_true(router_refused(stage->server) > 0);
    zmq_close(dealer);
}

static void a_connection_without_curve_is_refused(void **state)
{
    struct stage *stage = *state;
    void *dealer = zmq_socket(stage->zctx, ZMQ_DEALER);
    int no_linger = 0;
    char endpoint[96];
    struct msg beat = { .type = MSG_BEAT }, msg;
    size_t host;

    snprintf(endpoint, sizeof(endpoint), "ipc://%s", stage->path);
    zmq_setsockopt(dealer, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    assert_int_equal(zmq_connect(dealer, endpoint), 0);
    say(dealer, &beat);
    assert_int_equal(listen_for(stage->server, NS_PER_S, &host, &msg, NULL), 0);
    zmq_close(dealer);
}

static void a_forgotten_key_is_refused(void **state)
{
    struct stage *stage = *state;
    char public_key[CURVE_KEY_BYTES], secret_key[CURVE_KEY_BYTES];
    struct msg beat = { .type = MSG_BEAT }, msg;
    void *dealer;
    size_t host;

    router_admit(stage->server, 0, public_key, secret_key, NULL);
    dealer = dial(stage, stage->public_key[0], stage->secret_key[0]);
    say(dealer, &beat);
    assert_int_equal(listen_for(stage->server, NS_PER_S, &host, &msg, NULL), 0);
    zmq_close(dealer);
}

static void garbage_from_a_known_host_names_it(void **state)
{
    struct stage *stage = *state;
    void *dealer = dial(stage, stage->public_key[1], stage->secret_key[1]);
    struct err err;
    struct msg msg;
    size_t host = 99;

    zmq_send(dealer, "garbage", 7, 0);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, &err),
                     ERR_PROTO);
    assert_int_equal(host, 1);
    zmq_send(dealer, "two", 3, ZMQ_SNDMORE);
    zmq_send(dealer, "frames", 6, 0);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, &err),
                     ERR_PROTO);
    assert_string_equal(err.text, "message of more than one frame");
    zmq_close(dealer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_sender_is_the_one_whose_key_it_is,
                                        open_stage, close_stage),
        cmocka_unit_test_setup_teardown(an_answer_finds_its_way_back,
                                        open_stage, close_stage),
        cmocka_unit_test_setup_teardown(an_unknown_key_is_refused, open_stage,
                                        close_stage),
        cmocka_unit_test_setup_teardown(a_connection_without_curve_is_refused,
                                        open_stage, close_stage),
        cmocka_unit_test_setup_teardown(a_forgotten_key_is_refused, open_stage,
                                        close_stage),
        cmocka_unit_test_setup_teardown(garbage_from_a_known_host_names_it,
                                        open_stage, close_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
