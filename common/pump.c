#include "common/pump.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/frame.h"
#include "common/mem.h"

#define INPUT_MAX (2 * (FRAME_PAYLOAD_MAX + FRAME_HEADER_BYTES))
/* Reserve for CLOSE frames when the buffer is full.  They must not wait for it
 * to empty, or two full sides would wait for each other.  8192 of them mean an
 * attack or a bug. */
#define RESERVE_BYTES (64 << 10)
#define BACKLOG 16

struct stream {
    int fd;
    uint16_t id;
    bool closing;  /* the far side has closed it: write the rest, then close */
    bool lingers;  /* all is written; closed when the reader has closed it */
    struct buf in; /* bytes from the far side for the socket */
};

struct pump {
    char path[PUMP_PATH_MAX + 1];
    int listener; /* -1: this side dials */
    uint16_t next_id;
    size_t turn; /* the stream that is read first */
    struct stream streams[PUMP_STREAMS_MAX];
    size_t n_streams;
    struct buf input;              /* frames not parsed yet */
    struct buf output;             /* frames for the far side */
    char note[FRAME_NOTE_MAX + 1]; /* "": none that was not asked for */
    bool opened;                   /* a stream, by the far side */
};

static int address(const char *path, struct sockaddr_un *out, struct err *err)
{
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (strlen(path) > PUMP_PATH_MAX)
        return err_set(err, ERR_INPUT,
                       "'%s': longer than the %d bytes of a socket's path",
                       path, PUMP_PATH_MAX);
    memcpy(out->sun_path, path, strlen(path) + 1);
    return 0;
}

static struct pump *pump_new(const char *path, int listener)
{
    struct pump *pump = mem_new(1, sizeof(*pump));

    snprintf(pump->path, sizeof(pump->path), "%s", path);
    pump->listener = listener;
    buf_init(&pump->input, INPUT_MAX);
    buf_init(&pump->output, PUMP_BYTES_MAX + RESERVE_BYTES);
    return pump;
}

int pump_listen(const char *path, struct pump **out, struct err *err)
{
    struct sockaddr_un at;
    int rc = address(path, &at, err), fd;

    if (rc < 0)
        return rc;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        listen(fd, BACKLOG) < 0) {
        rc = err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    *out = pump_new(path, fd);
    return 0;
}

int pump_dial(const char *path, struct pump **out, struct err *err)
{
    struct sockaddr_un at;
    int rc = address(path, &at, err);

    if (rc == 0)
        *out = pump_new(path, -1);
    return rc;
}

static void stream_end(struct stream *stream)
{
    close(stream->fd);
    buf_fini(&stream->in);
}

void pump_free(struct pump *pump)
{
    if (!pump)
        return;
    for (size_t i = 0; i < pump->n_streams; i++)
        stream_end(&pump->streams[i]);
    if (pump->listener >= 0) {
        close(pump->listener);
        unlink(pump->path);
    }
    buf_fini(&pump->input);
    buf_fini(&pump->output);
    free(pump);
}

static struct stream *find(struct pump *pump, uint16_t id)
{
    for (size_t i = 0; i < pump->n_streams; i++)
        if (pump->streams[i].id == id)
            return &pump->streams[i];
    return NULL;
}

static struct stream *add(struct pump *pump, int fd, uint16_t id)
{
    struct stream *stream = &pump->streams[pump->n_streams++];

    *stream = (struct stream){ .fd = fd, .id = id };
    buf_init(&stream->in, PUMP_BYTES_MAX);
    return stream;
}

static void drop(struct pump *pump, struct stream *stream)
{
    stream_end(stream);
    *stream = pump->streams[--pump->n_streams];
}

/* Send a frame without payload.  False if even the reserve is full. */
static bool put(struct pump *pump, enum frame_type type, uint16_t id)
{
    unsigned char head[FRAME_HEADER_BYTES];

    frame_put(&(struct frame){ .type = type, .stream = id }, head);
    return buf_add(&pump->output, head, sizeof(head));
}

static int flooded(struct err *err)
{
    return err_set(err, ERR_PROTO,
                   "the far side opens streams and does not read");
}

static int dial(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    memcpy(at.sun_path, path, strlen(path) + 1);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int take_open(struct pump *pump, uint16_t id, struct err *err)
{
    int fd;

    if (pump->listener >= 0)
        return err_set(err, ERR_PROTO, "OPEN from the side that dials");
    pump->opened = true;
    if (find(pump, id))
        return err_set(err, ERR_PROTO, "OPEN of stream %u, which is open", id);
    fd = pump->n_streams < PUMP_STREAMS_MAX ? dial(pump->path) : -1;
    if (fd >= 0)
        add(pump, fd, id);
    else if (!put(pump, FRAME_CLOSE, id))
        return flooded(err);
    return 0;
}

/* Handle one frame.  Returns 0 if its stream has no room for it.  Frames of a
 * stream that this side has closed may still arrive: they are dropped. */
static int take_frame(struct pump *pump, const struct frame *frame,
                      const char *payload, struct err *err)
{
    struct stream *stream = find(pump, frame->stream);
    int rc;

    switch (frame->type) {
    case FRAME_OPEN:
        rc = take_open(pump, frame->stream, err);
        return rc < 0 ? rc : 1;
    case FRAME_DATA:
        if (!stream || stream->closing)
            return 1;
        if (stream->in.max - stream->in.len < frame->len)
            return 0;
        buf_add(&stream->in, payload, frame->len);
        return 1;
    case FRAME_CLOSE:
        if (stream)
            stream->closing = true;
        return 1;
    case FRAME_NOTE:
        if (pump->listener >= 0)
            return err_set(err, ERR_PROTO, "NOTE from the side that dials");
        snprintf(pump->note, sizeof(pump->note), "%.*s", (int)frame->len,
                 payload);
        return 1;
    }
    return 1;
}

static int take_input(struct pump *pump, struct err *err)
{
    size_t at = 0;
    int rc = 1;

    while (rc == 1) {
        const char *bytes = buf_text(&pump->input) + at;
        struct frame frame;

        rc = frame_get(bytes, pump->input.len - at, &frame, err);
        if (rc != 1)
            break;
        rc = take_frame(pump, &frame, bytes + FRAME_HEADER_BYTES, err);
        if (rc == 1)
            at += FRAME_HEADER_BYTES + frame.len;
    }
    buf_take(&pump->input, at);
    return err_only(rc);
}

size_t pump_room(const struct pump *pump)
{
    return pump->input.max - pump->input.len;
}

int pump_feed(struct pump *pump, const void *bytes, size_t len, struct err *err)
{
    assert(len <= pump_room(pump));
    buf_add(&pump->input, bytes, len);
    return take_input(pump, err);
}

const void *pump_output(const struct pump *pump, size_t *len)
{
    *len = pump->output.len;
    return pump->output.bytes;
}

void pump_sent(struct pump *pump, size_t len)
{
    buf_take(&pump->output, len);
}

static bool can_send(const struct pump *pump)
{
    return pump->output.len + FRAME_HEADER_BYTES < PUMP_BYTES_MAX;
}

size_t pump_fds(struct pump *pump, struct pollfd fds[PUMP_FDS_MAX])
{
    bool send = can_send(pump);
    size_t n = 0;

    for (size_t i = 0; i < pump->n_streams; i++) {
        struct stream *stream = &pump->streams[i];
        short events =
            stream->lingers || (send && !stream->closing) ? POLLIN : 0;

        if (stream->in.len > 0)
            events |= POLLOUT;
        if (events)
            fds[n++] = (struct pollfd){ .fd = stream->fd, .events = events };
    }
    if (pump->listener >= 0 && send && pump->n_streams < PUMP_STREAMS_MAX)
        fds[n++] = (struct pollfd){ .fd = pump->listener, .events = POLLIN };
    return n;
}

static void accept_one(struct pump *pump)
{
    int fd = accept4(pump->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return; /* the peer left, or no descriptor is free: try again later */
    while (find(pump, pump->next_id))
        pump->next_id++;
    add(pump, fd, pump->next_id);
    put(pump, FRAME_OPEN, pump->next_id++);
}

/* Write as much as the socket takes.  False if it is closed. */
static bool flush(struct stream *stream)
{
    while (stream->in.len > 0) {
        ssize_t n = send(stream->fd, stream->in.bytes, stream->in.len,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        buf_take(&stream->in, (size_t)n);
    }
    return true;
}

/* Read once, and send a DATA frame.  False if the socket is closed. */
static bool slurp(struct pump *pump, struct stream *stream)
{
    unsigned char frame[FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX];
    size_t room = PUMP_BYTES_MAX - FRAME_HEADER_BYTES - pump->output.len;
    ssize_t n =
        recv(stream->fd, frame + FRAME_HEADER_BYTES,
             room < FRAME_PAYLOAD_MAX ? room : FRAME_PAYLOAD_MAX, MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    frame_put(&(struct frame){ .type = FRAME_DATA,
                               .stream = stream->id,
                               .len = (uint32_t)n },
              frame);
    buf_add(&pump->output, frame, FRAME_HEADER_BYTES + (size_t)n);
    return true;
}

static short revents_of(const struct pollfd *fds, size_t n, int fd)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i].fd == fd)
            return fds[i].revents;
    return 0;
}

/* The far side has closed the stream, and all is written.  Has the reader
 * closed it, too?  Then it has read everything.  A relay does not wait: its
 * worker may be frozen. */
static bool has_been_read(const struct pump *pump, struct stream *stream,
                          short revents)
{
    char block[4096]; /* what the reader still says has no receiver */
    ssize_t n = 1;

    if (pump->listener >= 0)
        return true;
    if (!stream->lingers && shutdown(stream->fd, SHUT_WR) < 0)
        return true;
    stream->lingers = true;
    if (!revents)
        return false;
    while (n > 0)
        n = recv(stream->fd, block, sizeof(block), MSG_DONTWAIT);
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

/* Returns 1 while the stream is open, 0 if it was dropped, or ERR_PROTO. */
static int step_stream(struct pump *pump, struct stream *stream, short revents,
                       struct err *err)
{
    bool alive = stream->lingers || flush(stream);

    if (stream->closing && alive && stream->in.len == 0 &&
        !has_been_read(pump, stream, revents))
        return 1;
    if (stream->closing && (!alive || stream->in.len == 0)) {
        drop(pump, stream);
        return 0;
    }
    if (alive && !stream->closing && revents & (POLLIN | POLLHUP | POLLERR) &&
        can_send(pump))
        alive = slurp(pump, stream);
    if (alive)
        return 1;
    if (!put(pump, FRAME_CLOSE, stream->id))
        return flooded(err);
    drop(pump, stream);
    return 0;
}

int pump_step(struct pump *pump, const struct pollfd *fds, size_t n,
              struct err *err)
{
    pump->turn++;
    for (size_t i = pump->n_streams; i-- > 0;) {
        struct stream *stream;
        int rc;

        /* The first stream to be read gets the room, so they take turns.
         * Dropping one moves the last stream, which at worst waits for the next
         * step. */
        stream = &pump->streams[(i + pump->turn) % pump->n_streams];
        rc = step_stream(pump, stream, revents_of(fds, n, stream->fd), err);
        if (rc < 0)
            return rc;
        if (pump->n_streams == 0)
            break;
    }
    if (pump->listener >= 0 && revents_of(fds, n, pump->listener) & POLLIN &&
        can_send(pump) && pump->n_streams < PUMP_STREAMS_MAX)
        accept_one(pump);
    return take_input(pump, err); /* frames that waited for a slow socket */
}

void pump_end(struct pump *pump)
{
    for (size_t i = 0; i < pump->n_streams; i++)
        pump->streams[i].closing = true;
}

size_t pump_streams(const struct pump *pump)
{
    return pump->n_streams;
}

void pump_say(struct pump *pump, const char *text)
{
    unsigned char head[FRAME_HEADER_BYTES];
    size_t len = strnlen(text, FRAME_NOTE_MAX);

    assert(len > 0);
    frame_put(&(struct frame){ .type = FRAME_NOTE, .len = (uint32_t)len },
              head);
    /* a far side that does not read has no use for it */
    if (pump->output.len + sizeof(head) + len < PUMP_BYTES_MAX) {
        buf_add(&pump->output, head, sizeof(head));
        buf_add(&pump->output, text, len);
    }
}

bool pump_heard(struct pump *pump, char text[FRAME_NOTE_MAX + 1])
{
    memcpy(text, pump->note, sizeof(pump->note));
    pump->note[0] = '\0';
    return text[0] != '\0';
}

bool pump_was_opened(const struct pump *pump)
{
    return pump->opened;
}
