#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/frame.h"
#include "common/pump.h"

#define TURNS 20000 /* limit, so that a test cannot hang */

/* A relay and a coordinator connected to each other, and the socket that the
 * second one dials. */
struct link {
    char folder[32], near[64], far[64];
    struct pump *relay;
    struct pump *coord;
    int server;
};

static int unix_socket(const char *path, bool serve)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int rc;

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    rc = serve ? bind(fd, (struct sockaddr *)&at, sizeof(at)) | listen(fd, 8)
               : connect(fd, (struct sockaddr *)&at, sizeof(at));
    assert_int_equal(rc, 0);
    return fd;
}

static int setup(void **state)
{
    struct link *link = calloc(1, sizeof(*link));

    snprintf(link->folder, sizeof(link->folder), "/tmp/fa-pump-XXXXXX");
    assert_non_null(mkdtemp(link->folder));
    snprintf(link->near, sizeof(link->near), "%s/near", link->folder);
    snprintf(link->far, sizeof(link->far), "%s/far", link->folder);
    link->server = unix_socket(link->far, true);
    assert_int_equal(pump_listen(link->near, &link->relay, NULL), 0);
    assert_int_equal(pump_dial(link->far, &link->coord, NULL), 0);
    *state = link;
    return 0;
}

static int teardown(void **state)
{
    struct link *link = *state;

    pump_free(link->relay);
    pump_free(link->coord);
    close(link->server);
    unlink(link->far);
    assert_int_equal(rmdir(link->folder), 0);
    free(link);
    return 0;
}

static void carry(struct pump *from, struct pump *to)
{
    size_t len, room = pump_room(to);
    const void *bytes = pump_output(from, &len);

    if (len > room)
        len = room;
    assert_int_equal(pump_feed(to, bytes, len, NULL), 0);
    pump_sent(from, len);
}

static void step(struct pump *pump)
{
    struct pollfd fds[PUMP_FDS_MAX];
    size_t n = pump_fds(pump, fds);

    assert_true(poll(fds, n, 0) >= 0);
    assert_int_equal(pump_step(pump, fds, n, NULL), 0);
}

static void turn(struct link *link)
{
    step(link->relay);
    carry(link->relay, link->coord);
    step(link->coord);
    carry(link->coord, link->relay);
}

static int accepted(struct link *link)
{
    int fd = -1;

    for (int i = 0; i < TURNS && fd < 0; i++) {
        turn(link);
        fd = accept4(link->server, NULL, NULL, SOCK_NONBLOCK);
    }
    assert_true(fd >= 0);
    return fd;
}

static size_t receive(struct link *link, int fd, char *to, size_t len)
{
    size_t got = 0;

    for (int i = 0; i < TURNS && got < len; i++) {
        ssize_t n;

        turn(link);
        n = recv(fd, to + got, len - got, 0);
        if (n > 0)
            got += (size_t)n;
    }
    return got;
}

static void a_connection_arrives_and_both_directions_flow(void **state)
{
    struct link *link = *state;
    int near = unix_socket(link->near, false), far = accepted(link);
    char text[6] = "";

    assert_int_equal(send(near, "hello", 5, 0), 5);
    assert_int_equal(receive(link, far, text, 5), 5);
    assert_string_equal(text, "hello");
    assert_int_equal(send(far, "world", 5, 0), 5);
    assert_int_equal(receive(link, near, text, 5), 5);
    assert_string_equal(text, "world");
    close(near);
    close(far);
}

static void two_connections_do_not_mix(void **state)
{
    struct link *link = *state;
    int a = unix_socket(link->near, false), far_a = accepted(link);
    int b = unix_socket(link->near, false), far_b = accepted(link);
    char text[2] = "";

    assert_int_equal(send(b, "b", 1, 0), 1);
    assert_int_equal(receive(link, far_b, text, 1), 1);
    assert_string_equal(text, "b");
    assert_int_equal(send(a, "a", 1, 0), 1);
    assert_int_equal(receive(link, far_a, text, 1), 1);
    assert_string_equal(text, "a");
    close(a), close(b), close(far_a), close(far_b);
}

static void closing_one_end_closes_the_other_after_the_last_byte(void **state)
{
    struct link *link = *state;
    int near = unix_socket(link->near, false), far = accepted(link);
    char text[8] = "";
    ssize_t n = -1;

    assert_int_equal(send(near, "last", 4, 0), 4);
    close(near);
    assert_int_equal(receive(link, far, text, 4), 4);
    for (int i = 0; i < TURNS && n < 0; i++) {
        turn(link);
        n = recv(far, text, 1, 0);
    }
    assert_int_equal(n, 0);
    close(far);
    turn(link);
    assert_int_equal(pump_streams(link->relay), 0);
    assert_int_equal(pump_streams(link->coord), 0);
}

static void a_refused_dial_closes_the_connection(void **state)
{
    struct link *link = *state;
    int near = unix_socket(link->near, false);
    char byte;
    ssize_t n = -1;

    close(link->server);
    for (int i = 0; i < TURNS && n < 0; i++) {
        turn(link);
        n = recv(near, &byte, 1, 0);
    }
    assert_int_equal(n, 0);
    close(near);
}

static void a_slow_reader_stops_the_stream_and_loses_nothing(void **state)
{
    enum {
        TOTAL = 8 << 20
    };
    struct link *link = *state;
    int near = unix_socket(link->near, false), far = accepted(link);
    char *sent = malloc(TOTAL), *got = malloc(TOTAL);
    size_t n_sent = 0, stuck = 0;

    for (size_t i = 0; i < TOTAL; i++)
        sent[i] = (char)(i * 2654435761u >> 24);
    while (stuck < 100) { /* nobody reads 'far' */
        ssize_t n = send(near, sent + n_sent, TOTAL - n_sent, 0);

        stuck = n > 0 ? 0 : stuck + 1;
        n_sent += n > 0 ? (size_t)n : 0;
        turn(link);
    }
    assert_true(n_sent < 4u << 20); /* two buffers and the kernel's */
    assert_int_equal(receive(link, far, got, n_sent), n_sent);
    assert_memory_equal(got, sent, n_sent);
    free(sent);
    free(got);
    close(near);
    close(far);
}

static int feed(struct pump *pump, const char *bytes, size_t len,
                struct err *err)
{
    return pump_feed(pump, bytes, len, err);
}

static void frames_out_of_order_are_refused_or_dropped(void **state)
{
    struct link *link = *state;
    struct err err;

    assert_int_equal(feed(link->relay, "\1\0\5\0\0\0\0\0", 8, &err), ERR_PROTO);
    assert_string_equal(err.text, "OPEN from the side that dials");
    assert_int_equal(feed(link->coord, "\2\0\5\0\1\0\0\0x", 9, &err), 0);
    assert_int_equal(feed(link->coord, "\3\0\5\0\0\0\0\0", 8, &err), 0);
    assert_int_equal(feed(link->coord, "\1\0\5\0\0\0\0\0", 8, &err), 0);
    assert_int_equal(feed(link->coord, "\1\0\5\0\0\0\0\0", 8, &err), ERR_PROTO);
    assert_string_equal(err.text, "OPEN of stream 5, which is open");
}

static void opening_without_end_is_refused(void **state)
{
    struct link *link = *state;
    struct err err;
    int rc = 0, i;

    for (i = 0; i < 1 << 16 && rc == 0; i++) {
        unsigned char head[FRAME_HEADER_BYTES];

        frame_put(&(struct frame){ FRAME_OPEN, (uint16_t)i, 0 }, head);
        rc = pump_feed(link->coord, head, sizeof(head), &err);
    }
    assert_true(pump_streams(link->coord) <= PUMP_STREAMS_MAX);
    for (; rc == 0 && i < 1 << 18; i++)
        rc = feed(link->coord, "\1\0\xff\xff\0\0\0\0", 8, &err);
    assert_int_equal(rc, ERR_PROTO);
}

static void a_note_arrives_without_a_stream(void **state)
{
    struct link *link = *state;
    char note[FRAME_NOTE_MAX + 1], text[400];
    struct err err;

    assert_false(pump_heard(link->coord, note));
    pump_say(link->relay, "ada has it");
    pump_say(link->relay, "bob has it");
    turn(link);
    assert_true(pump_heard(link->coord, note));
    assert_string_equal(note, "bob has it");
    assert_false(pump_heard(link->coord, note));
    assert_false(pump_was_opened(link->coord));
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    pump_say(link->relay, text);
    turn(link);
    assert_true(pump_heard(link->coord, note));
    assert_int_equal(strlen(note), FRAME_NOTE_MAX);
    assert_int_equal(feed(link->relay, "\4\0\0\0\1\0\0\0x", 9, &err),
                     ERR_PROTO);
    assert_string_equal(err.text, "NOTE from the side that dials");
}

static void a_far_side_that_does_not_read_gets_no_more_notes(void **state)
{
    struct link *link = *state;
    size_t len;

    for (int i = 0; i < PUMP_BYTES_MAX / 8; i++)
        pump_say(link->relay, "one and another");
    (void)pump_output(link->relay, &len);
    assert_true(len <= PUMP_BYTES_MAX);
}

static void the_first_stream_is_noticed(void **state)
{
    struct link *link = *state;
    int near = unix_socket(link->near, false), far = accepted(link);

    assert_true(pump_was_opened(link->coord));
    assert_false(pump_was_opened(link->relay));
    close(near);
    close(far);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    char path[PUMP_PATH_MAX + 2];
    struct pump *pump;
    struct err err;

    (void)state;
    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(pump_listen(path, &pump, &err), ERR_INPUT);
    assert_int_equal(pump_dial(path, &pump, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "107 bytes"));
}

static void
a_dialled_stream_is_open_until_its_reader_has_closed_it(void **state)
{
    struct link *link = *state;
    int near = unix_socket(link->near, false), far = accepted(link);
    char text[6] = "";

    assert_int_equal(send(near, "hello", 5, 0), 5);
    close(near);
    for (int i = 0; i < TURNS; i++)
        turn(link);
    assert_int_equal(pump_streams(link->relay), 0);
    assert_int_equal(pump_streams(link->coord), 1);
    assert_int_equal(recv(far, text, 5, 0), 5);
    assert_int_equal(recv(far, text, 5, 0), 0);
    assert_int_equal(send(far, "world", 5, 0), 5);
    turn(link);
    assert_int_equal(pump_streams(link->coord), 1);
    close(far);
    turn(link);
    assert_int_equal(pump_streams(link->coord), 0);
}

static void
an_end_of_the_far_side_ends_all_streams_when_they_are_read(void **state)
{
    struct link *link = *state;
    int near[2], far[2];
    char text[6] = "";

    for (int i = 0; i < 2; i++) {
        near[i] = unix_socket(link->near, false);
        far[i] = accepted(link);
    }
    assert_int_equal(send(near[0], "hello", 5, 0), 5);
    for (int i = 0; i < TURNS; i++)
        turn(link);
    pump_end(link->coord);
    step(link->coord);
    assert_int_equal(pump_streams(link->coord), 2);
    close(far[1]);
    step(link->coord);
    assert_int_equal(pump_streams(link->coord), 1);
    assert_int_equal(recv(far[0], text, 5, 0), 5);
    assert_int_equal(recv(far[0], text, 5, 0), 0);
    close(far[0]);
    step(link->coord);
    assert_int_equal(pump_streams(link->coord), 0);
    close(near[0]);
    close(near[1]);
}

#define linked(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        linked(a_connection_arrives_and_both_directions_flow),
        linked(two_connections_do_not_mix),
        linked(closing_one_end_closes_the_other_after_the_last_byte),
        linked(a_refused_dial_closes_the_connection),
        linked(a_slow_reader_stops_the_stream_and_loses_nothing),
        linked(frames_out_of_order_are_refused_or_dropped),
        linked(opening_without_end_is_refused),
        linked(a_note_arrives_without_a_stream),
        linked(a_far_side_that_does_not_read_gets_no_more_notes),
        linked(the_first_stream_is_noticed),
        linked(a_dialled_stream_is_open_until_its_reader_has_closed_it),
        linked(an_end_of_the_far_side_ends_all_streams_when_they_are_read),
        cmocka_unit_test(a_path_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
