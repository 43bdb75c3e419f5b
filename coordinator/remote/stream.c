#include "coordinator/remote/stream.h"

#include "coordinator/remote/backend.h"

int stream_read(struct stream *stream, void *bytes, size_t cap, size_t *n,
                struct err *err)
{
    *n = 0;
    return stream->ops->read(stream, bytes, cap, n, err);
}

int stream_write(struct stream *stream, const void *bytes, size_t len,
                 size_t *n, struct err *err)
{
    *n = 0;
    return stream->ops->write(stream, bytes, len, n, err);
}

int stream_shut(struct stream *stream, struct err *err)
{
    return stream->ops->shut(stream, err);
}

bool stream_poll(struct stream *stream, bool want_read, bool want_write,
                 struct pollfd fds[STREAM_FDS])
{
    for (int i = 0; i < STREAM_FDS; i++)
        fds[i] = (struct pollfd){ .fd = -1 };
    return stream->ops->poll(stream, want_read, want_write, fds);
}

int stream_wait(struct stream *stream, int64_t deadline_ns, int *status,
                struct err *err)
{
    return stream->ops->wait(stream, deadline_ns, status, err);
}

void stream_said(const struct stream *stream, char *out, size_t size)
{
    stderr_tail_say(&stream->errors, REMOTE_SAID_LINES, out, size);
}

void stream_close(struct stream *stream)
{
    if (!stream)
        return;
    stream->remote->streaming = false;
    stream->ops->close(stream);
}
