/* stream.h - stdin and stdout of a remote program, as bytes
 *
 * Only stream_wait() blocks.  A caller's loop reads until nothing comes, writes
 * what it has, and polls what stream_poll() names.  Stderr is read along with
 * stdout, and its last lines are kept.
 * Thread rule: the thread of the remote.
 */
#ifndef FA_COORDINATOR_REMOTE_STREAM_H
#define FA_COORDINATOR_REMOTE_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct stream;

#define STREAM_END 1 /* the program closed its stdout */
#define STREAM_FDS 2

/* Read what has arrived.  Returns 0 and the number of bytes (0: nothing yet),
 * STREAM_END, or ERR_NETWORK. */
int stream_read(struct stream *stream, void *bytes, size_t cap, size_t *n,
                struct err *err);

/* Write what fits now: 0 and the number of bytes, or ERR_NETWORK. */
int stream_write(struct stream *stream, const void *bytes, size_t len,
                 size_t *n, struct err *err);

/* Close its stdin.  Returns 1 when that is done.  Returns 0 while bytes written
 * before are still on their way: try again after a poll. */
int stream_shut(struct stream *stream, struct err *err);

/* Fill in what to poll for (fd -1: nothing). Returns true if there is already
 * something to read: do not wait then. */
bool stream_poll(struct stream *stream, bool want_read, bool want_write,
                 struct pollfd fds[STREAM_FDS]);

/* The exit status, or 128 + signal.  Call it after STREAM_END: earlier, unread
 * output is lost, and the program may be waiting for it to be read. */
int stream_wait(struct stream *stream, int64_t deadline_ns, int *status,
                struct err *err);

/* The last lines of stderr, without control characters. */
void stream_said(const struct stream *stream, char *out, size_t size);

/* Closes the program's stdin.  A local child that does not end is killed. */
void stream_close(struct stream *stream); /* NULL is fine */

#endif
