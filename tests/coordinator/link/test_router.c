#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sodium.h>
#include <zmq.h>

#include "common/clock.h"
#include "coordinator/link/router.h"

#define WAIT_NS (5 * NS_PER_S)
#define PATH_BYTES_MAX 107 /* of a socket's address */

/* What is wiped; the library's own does the same. */
static size_t wiped;

void sodium_memzero(void *const bytes, const size_t len)
{
    memset(bytes, 0, len);
    wiped += len == CURVE_KEY_BYTES;
}

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
    if (router_open(stage.zctx, stage.path, 2, NULL, &stage.server, NULL) < 0)
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

/* Both are of host 0. */
static void a_newer_connection_can_be_turned_back(void **state)
{
    struct stage *stage = *state;
    struct msg beat = { .type = MSG_BEAT },
               stop = { .type = MSG_STOP, .stop.what = "now" }, msg;
    uint64_t connection[2];
    int wait_ms = 5000;
    void *dealers[2];
    char reply[256];
    size_t host;

    for (int i = 0; i < 2; i++) {
        dealers[i] = dial(stage, stage->public_key[0], stage->secret_key[0]);
        zmq_setsockopt(dealers[i], ZMQ_RCVTIMEO, &wait_ms, sizeof(wait_ms));
        for (int j = 0; j < 2; j++) { /* however often they speak */
            say(dealers[i], &beat);
            assert_int_equal(
                listen_for(stage->server, WAIT_NS, &host, &msg, NULL), 1);
            msg_fini(&msg);
        }
        connection[i] = router_connection(stage->server, 0);
    }
    assert_true(connection[0] != connection[1]);
    router_turn_back(stage->server, 0);
    assert_true(router_connection(stage->server, 0) == connection[0]);
    assert_int_equal(router_send(stage->server, 0, &stop, NULL), 0);
    assert_true(zmq_recv(dealers[0], reply, sizeof(reply), 0) > 0);
    for (int i = 0; i < 2; i++)
        zmq_close(dealers[i]);
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

static void an_empty_message_is_none(void **state)
{
    struct stage *stage = *state;
    void *dealer = dial(stage, stage->public_key[0], stage->secret_key[0]);
    struct msg beat = { .type = MSG_BEAT }, msg;
    struct err err;
    size_t host = 99;

    zmq_send(dealer, "", 0, 0);
    say(dealer, &beat);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, &err),
                     ERR_PROTO);
    assert_int_equal(host, 0);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, &err), 1);
    msg_fini(&msg);
    zmq_close(dealer);
}

/* However many frames a message has, the next one is a message again. */
static void a_message_of_many_frames_is_passed_over(void **state)
{
    static const char *const frames[] = { "two", "", "id", "body", "" };
    struct stage *stage = *state;
    void *dealer = dial(stage, stage->public_key[0], stage->secret_key[0]);
    struct msg beat = { .type = MSG_BEAT }, msg;
    struct err err;
    size_t host;

    for (int i = 0; i < 5; i++)
        zmq_send(dealer, frames[i], strlen(frames[i]), i < 4 ? ZMQ_SNDMORE : 0);
    say(dealer, &beat);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, &err),
                     ERR_PROTO);
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, &err), 1);
    msg_fini(&msg);
    zmq_close(dealer);
}

/* As long as ZeroMQ has them. */
static void a_peer_may_choose_a_name_of_255_bytes(void **state)
{
    struct stage *stage = *state;
    void *dealer = zmq_socket(stage->zctx, ZMQ_DEALER);
    struct msg stop = { .type = MSG_STOP, .stop.what = "now" }, msg;
    int wait_ms = 5000;
    char name[255], endpoint[96], reply[256];
    size_t host = 99;

    memset(name, 'n', sizeof(name));
    assert_int_equal(zmq_setsockopt(dealer, ZMQ_ROUTING_ID, name, sizeof(name)),
                     0);
    zmq_setsockopt(dealer, ZMQ_RCVTIMEO, &wait_ms, sizeof(wait_ms));
    snprintf(endpoint, sizeof(endpoint), "ipc://%s", stage->path);
    assert_int_equal(curve_client(dealer, router_public_key(stage->server),
                                  stage->public_key[1], stage->secret_key[1],
                                  NULL),
                     0);
    assert_int_equal(zmq_connect(dealer, endpoint), 0);
    say(dealer, &stop); /* of some length */
    assert_int_equal(listen_for(stage->server, WAIT_NS, &host, &msg, NULL), 1);
    assert_int_equal(host, 1);
    msg_fini(&msg);
    assert_int_equal(router_send(stage->server, 1, &stop, NULL), 0);
    assert_true(zmq_recv(dealer, reply, sizeof(reply), 0) > 0);
    zmq_close(dealer);
}

/* Ask the handler of keys itself; the status code of its answer. */
static void ask_for_entry(struct stage *stage, const char *const *frames, int n,
                          char id[64], char code[64])
{
    void *req = zmq_socket(stage->zctx, ZMQ_REQ);
    int64_t until = clock_boot_ns() + WAIT_NS;
    char part[64] = "";
    int no_linger = 0;

    zmq_setsockopt(req, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    assert_int_equal(zmq_connect(req, "inproc://zeromq.zap.01"), 0);
    for (int i = 0; i < n; i++)
        zmq_send(req, frames[i], strlen(frames[i]),
                 i < n - 1 ? ZMQ_SNDMORE : 0);
    while (zmq_recv(req, part, sizeof(part) - 1, ZMQ_DONTWAIT) < 0) {
        assert_true(clock_boot_ns() < until);
        router_step(stage->server);
        (void)poll(NULL, 0, 1);
    }
    assert_memory_equal(part, "1.0", 4);
    memset(id, 0, 64);
    memset(code, 0, 64);
    assert_true(zmq_recv(req, id, 63, 0) >= 0);
    assert_int_equal(zmq_recv(req, code, 63, 0), 3);
    zmq_close(req);
}

static void a_request_for_entry_that_is_none_is_refused(void **state)
{
    static const char long_text[] =
        "a text that is too long to be kept in place by a message of ZeroMQ";
    static const char *const frames[] = { "1.0",     "77", "", "", "", "CURVE",
                                          long_text, "",   "", "", "", "",
                                          "",        "",   "", "", "" };
    static const int lengths[] = { 1, 2, 6, 7, 8, 16, 17 };
    struct stage *stage = *state;
    char id[64], code[64];

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        ask_for_entry(stage, frames, lengths[i], id, code);
        assert_string_equal(code, "400");
        if (lengths[i] < 17) /* of more, only the rest is answered */
            assert_string_equal(id, lengths[i] > 1 ? "77" : "");
    }
    assert_true(router_refused(stage->server) >= 7);
}

static void the_path_of_a_socket_has_107_bytes(void **state)
{
    struct stage *stage = *state;
    void *zctx = zmq_ctx_new();
    struct router *router = NULL;
    char path[PATH_BYTES_MAX + 2];
    struct err err;

    (void)snprintf(path, sizeof(path), "%s/%0*d", stage->folder,
                   (int)(PATH_BYTES_MAX + 1 - strlen(stage->folder) - 1), 0);
    assert_int_equal(strlen(path), PATH_BYTES_MAX + 1);
    assert_int_equal(router_open(zctx, path, 1, NULL, &router, &err),
                     ERR_SYSTEM);
    assert_non_null(strstr(err.text, "longer than the 107 bytes"));
    path[PATH_BYTES_MAX] = '\0';
    assert_int_equal(router_open(zctx, path, 1, NULL, &router, &err), 0);
    router_close(router);
    zmq_ctx_term(zctx);
    unlink(path);
}

static void its_secret_key_is_wiped(void **state)
{
    struct stage *stage = *state;
    void *zctx = zmq_ctx_new();
    struct router *router;
    char path[96];

    snprintf(path, sizeof(path), "%s/wiped", stage->folder);
    wiped = 0;
    assert_int_equal(router_open(zctx, path, 1, NULL, &router, NULL), 0);
    assert_true(wiped > 0);
    router_close(router);
    zmq_ctx_term(zctx);
    unlink(path);
}

#define CASE(test) \
    cmocka_unit_test_setup_teardown(test, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_sender_is_the_one_whose_key_it_is),
        CASE(an_answer_finds_its_way_back),
        CASE(a_newer_connection_can_be_turned_back),
        CASE(an_unknown_key_is_refused),
        CASE(a_connection_without_curve_is_refused),
        CASE(a_forgotten_key_is_refused),
        CASE(garbage_from_a_known_host_names_it),
        CASE(an_empty_message_is_none),
        CASE(a_message_of_many_frames_is_passed_over),
        CASE(a_peer_may_choose_a_name_of_255_bytes),
        CASE(a_request_for_entry_that_is_none_is_refused),
        CASE(the_path_of_a_socket_has_107_bytes),
        CASE(its_secret_key_is_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
