#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/state/outbox.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static char sent[1024]; /* "HOST:TYPE nonces... " of each message */

static int keep_sent(void *self, size_t host, const struct msg *msg,
                     struct err *err)
{
    size_t at = strlen(sent);

    (void)self;
    (void)err;
    at += (size_t)snprintf(sent + at, sizeof(sent) - at, "%zu:%s ", host,
                           msg_type_name(msg->type));
    for (size_t i = 0; msg->type == MSG_ACK && i < msg->ack.nonces.n; i++)
        at += (size_t)snprintf(sent + at, sizeof(sent) - at, "%s ",
                               msg->ack.nonces.items[i]);
    assert_int_equal(msg->epoch, RIG_EPOCH);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    rig.sweep.reactor.io.link.send = keep_sent;
    sent[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* Only what is on disk is acknowledged, and once. */
static void results_are_acknowledged_after_the_commit(void **state)
{
    struct err err;

    (void)state;
    snprintf(rig.sweep.fleet.hosts[1].acks[2], HASH_HEX, "of before");
    outbox_acknowledge(&rig.sweep, 1, "n1");
    outbox_acknowledge(&rig.sweep, 1, "n2");
    assert_string_equal(sent, "");
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_string_equal(sent, "1:ACK n1 n2 ");
    outbox_acknowledge(&rig.sweep, 0, "n3");
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_string_equal(sent, "1:ACK n1 n2 0:ACK n3 ");
}

static void what_cannot_be_committed_is_not_acknowledged(void **state)
{
    struct err err;

    (void)state;
    outbox_acknowledge(&rig.sweep, 0, "n1");
    rig.disk_full = true;
    assert_true(outbox_commit(&rig.sweep, &err) < 0);
    assert_string_equal(sent, "");
    rig.disk_full = false;
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_string_equal(sent, "0:ACK n1 ");
}

static void without_a_row_nothing_is_committed(void **state)
{
    int before = rig.commits;
    struct err err;

    (void)state;
    rig.sweep.mail.pace.rows = 0;
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_int_equal(rig.commits, before);
    outbox_acknowledge(&rig.sweep, 0, "n1");
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_int_equal(rig.commits, before + 1);
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_int_equal(rig.commits, before + 1);
}

/* Its worker offers the others again. */
static void one_commit_acknowledges_256_of_a_host(void **state)
{
    const struct host_state *host = &rig.sweep.fleet.hosts[0];
    struct err err;

    (void)state;
    for (int i = 0; i < 257; i++)
        outbox_acknowledge(&rig.sweep, 0, "n1");
    assert_int_equal(host->n_acks, 256);
    assert_int_equal(outbox_commit(&rig.sweep, &err), 0);
    assert_int_equal(strlen(sent), strlen("0:ACK ") + 256 * strlen("n1 "));
}

static void what_is_for_all_goes_to_those_that_are_connected(void **state)
{
    struct msg msg = { .type = MSG_BYE };

    (void)state;
    rig_ready(&rig, 1, 1, 1);
    sent[0] = '\0';
    outbox_send_all(&rig.sweep, &msg);
    assert_string_equal(sent, "1:BYE ");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(results_are_acknowledged_after_the_commit),
        CASE(what_cannot_be_committed_is_not_acknowledged),
        CASE(without_a_row_nothing_is_committed),
        CASE(one_commit_acknowledges_256_of_a_host),
        CASE(what_is_for_all_goes_to_those_that_are_connected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
