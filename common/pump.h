/* pump.h - carries many local connections over one byte stream
 *
 *   far side <-- bytes --> pump <--> unix sockets of this side
 *
 * The stream may be a pipe or an SSH channel, so the pump never touches it: the
 * owner feeds received bytes and takes bytes to send.  A pump either listens
 * (the relay: every connection becomes a stream) or dials (the coordinator:
 * every stream becomes a connection). Each direction buffers at most
 * PUMP_BYTES_MAX; a slow socket delays all connections instead of using more
 * memory.
 *
 * One turn of the owner:
 *   n = pump_fds(pump, fds); poll(fds and the stream: read it only while
 *   pump_room() > 0, write it while pump_output() has bytes);
 *   pump_feed(); pump_step(); pump_sent();
 *
 * Thread rule: one thread, no state outside the object.
 */
#ifndef FA_COMMON_PUMP_H
#define FA_COMMON_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/frame.h"

#define PUMP_BYTES_MAX (1 << 20)
#define PUMP_STREAMS_MAX 64
#define PUMP_FDS_MAX (PUMP_STREAMS_MAX + 1)
#define PUMP_PATH_MAX 107 /* bytes of a unix socket's path */

struct pump;

/* Listen on 'path', which must not exist; pump_free() removes it.  ERR_INPUT if
 * it is too long, or ERR_SYSTEM. */
int pump_listen(const char *path, struct pump **out, struct err *err);

/* Connect to 'path' for every stream.  A refused connection closes its stream,
 * so the listener may start later.  ERR_INPUT if the path is too long. */
int pump_dial(const char *path, struct pump **out, struct err *err);
void pump_free(struct pump *pump); /* closes its connections; NULL is fine */

/* Bytes from the far side, at most pump_room() at once.  ERR_PROTO. */
size_t pump_room(const struct pump *pump);
int pump_feed(struct pump *pump, const void *bytes, size_t len,
              struct err *err);

/* Bytes for the far side, valid until the next call.  Then report how many were
 * sent. */
const void *pump_output(const struct pump *pump, size_t *len);
void pump_sent(struct pump *pump, size_t len);

/* The local sockets and the events to poll for; then, with revents filled in,
 * move as much as possible.  pump_step() may be called with n = 0. ERR_PROTO as
 * pump_feed(). */
size_t pump_fds(struct pump *pump, struct pollfd fds[PUMP_FDS_MAX]);
int pump_step(struct pump *pump, const struct pollfd *fds, size_t n,
              struct err *err);

/* The far side is gone: as if it had closed every stream.  Of the side that
 * dials, a stream is open until its reader has read all that came, and has
 * closed its end. */
void pump_end(struct pump *pump);
size_t pump_streams(const struct pump *pump); /* open now */

/* Of the side that listens: a note for the far side, at most FRAME_NOTE_MAX
 * bytes of it. */
void pump_say(struct pump *pump, const char *text);
/* Of the side that dials: the newest note since the last call, if there is
 * one; and has any stream been opened yet? */
bool pump_heard(struct pump *pump, char text[FRAME_NOTE_MAX + 1]);
bool pump_was_opened(const struct pump *pump);

#endif
