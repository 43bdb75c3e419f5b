/* stream.h - stdin and stdout of a remote program, as bytes
 *
 * Nothing here waits but stream_wait().  The loop of a user is: read until
 * nothing comes, write what there is, then poll what stream_poll() names.
 * Stderr is read along with stdout and its end kept.
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

/* Take what has arrived.  Returns 0 and how much (0: nothing now), STREAM_END,
 * or ERR_NETWORK. */
int stream_read(struct stream *stream, void *bytes, size_t cap, size_t *n,
                struct err *err);

/* Hand over what fits now: 0 and how much, or ERR_NETWORK. */
int stream_write(struct stream *stream, const void *bytes, size_t len,
                 size_t *n, struct err *err);

/* End its stdin.  Returns 1 when that is done, 0 when bytes handed over before
 * are still on their way: try again after a poll. */
int stream_shut(struct stream *stream, struct err *err);

/* Fill in what to poll for (fd -1: nothing).  Returns true when there is
 * something to read already, so that there is nothing to wait for. */
bool stream_poll(struct stream *stream, bool want_read, bool want_write,
                 struct pollfd fds[STREAM_FDS]);

/* The exit status, or 128 + signal.  Best after STREAM_END: what is still to be
 * read is lost, and a program may wait for it to be. */
int stream_wait(struct stream *stream, int64_t deadline_ns, int *status,
                struct err *err);

/* The last lines of stderr, without control characters. */
void stream_said(const struct stream *stream, char *out, size_t size);

/* The program's stdin ends; a child that stays is ended. */
void stream_close(struct stream *stream); /* NULL is fine */

#endif
