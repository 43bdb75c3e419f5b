/* coord.h - a small coordinator that attaches a real fa-worker
 *
 * It uses the real server (ROUTER, CURVE, ZAP) and the real pump.  The relay is
 * a child with pipes instead of an SSH channel.  Every wait has a deadline,
 * which fails the test.  The test process is a sub-reaper, so that it can wait
 * for workers.
 */
#ifndef FA_TESTS_E2E_COORD_H
#define FA_TESTS_E2E_COORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buf.h"
#include "common/invite.h"
#include "common/msg.h"
#include "common/pump.h"

#define COORD_BEAT_MS 500
#define COORD_WAIT_S 120 /* a runner is compiled, maybe on a busy machine */

struct router;

struct coord {
    char folder[40]; /* private; ROUTER socket and the worker's folder */
    char work[64];
    void *zctx;
    struct router *server;
    int64_t epoch;
    struct owner owner;
    int64_t linger_ms;
    const char *poweroff; /* of WELCOME; NULL: none */
    bool wrong_server_key;
    const char *invitation; /* sent in place of the real one; NULL: is not */
    bool beats;             /* it sends BEAT after the HELLO, while it
                             * runs */
    int64_t beat_ns;        /* due */
    char secret_key[CURVE_KEY_BYTES]; /* the worker's, of the last relay */

    pid_t relay;
    int in, out, err; /* of the relay: we write in, read the others */
    struct pump *pump;
    struct buf login; /* bytes before the frames */
    struct buf said;  /* on stderr */
    bool ended;       /* the channel has */

    unsigned char route[256]; /* of the worker's connection, for bytes */
    size_t route_len;

    const struct msg *bundle; /* answers WANT; NULL: does not */
    pid_t worker;             /* of the last HELLO */
    size_t seen[MSG_TYPES];
};

void coord_open(struct coord *coord);
void coord_close(struct coord *coord);

/* Start a new relay, read to its magic line, and send the invitation.  With
 * 'frames', only frames are written after that. */
void coord_attach(struct coord *coord);
/* SIGKILL to the relay. */
void coord_cut(struct coord *coord);

/* Run until a message of this type comes.  Other messages are counted and
 * dropped, and WANT is answered.  The caller ends with msg_fini(). */
void coord_await(struct coord *coord, enum msg_type type, struct msg *out);
/* The same, and drop the message. */
void coord_expect(struct coord *coord, enum msg_type type);
/* Run until the channel ends.  Returns the relay's exit status. */
int coord_await_end(struct coord *coord);
/* Run for a while, and drop all messages. */
void coord_idle(struct coord *coord, int64_t ms);

void coord_send(struct coord *coord, struct msg *msg);
/* Send what may not be a message.  After coord_attach(), the first of them
 * costs one message of the worker, which is not counted. */
void coord_send_bytes(struct coord *coord, const void *bytes, size_t len);
void coord_welcome(struct coord *coord, const char *gpus, int64_t slots);
/* Start a new relay and wait until a worker without GPUs is ready. */
void coord_up(struct coord *coord, int64_t slots);
void coord_ack(struct coord *coord, const char *nonce);
void coord_stop(struct coord *coord, const char *what);

/* Wait until the worker ends.  Returns its exit status, or -1 after a
 * signal. */
int coord_reap_worker(struct coord *coord);

#endif
