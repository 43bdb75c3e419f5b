/* msg.h - what fa-coord and fa-worker say to each other (docs/protocol.md)
 *
 * One message is one MessagePack map in one ZeroMQ frame.  Both programs
 * encode and decode from the same field table (msg_fields.h): unknown fields
 * are ignored, a missing one is ERR_PROTO naming "TYPE.field" unless it is
 * optional, an ill-typed one always is, and every length, count and number has
 * a ceiling there.
 *
 * Each type has a struct of its own; 'type' says which of them holds, and no
 * other may be read.  Parts that several types share are read by msg_work(),
 * msg_launch() and msg_result().
 *
 * Ownership: an encoded message only borrows what its fields point to.  A
 * decoded one owns all of it until msg_fini().
 * Thread rule: no state; any thread.
 */
#ifndef FA_COMMON_MSG_H
#define FA_COMMON_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/msg_file.h"
#include "common/msg_host.h"
#include "common/msg_result.h"
#include "common/msg_work.h"

#define MSG_PROTOCOL 1          /* the only version spoken */
#define MSG_BYTES_MAX (2 << 20) /* ZMQ_MAXMSGSIZE on both sides */
#define MSG_DETAIL_MAX 4096     /* bytes of a reason, or of another text */

enum msg_type {
    MSG_HELLO,
    MSG_INVITE,
    MSG_WELCOME,
    MSG_GPU,
    MSG_READY,
    MSG_TROUBLE,
    MSG_BUNDLE,
    MSG_BUILD,
    MSG_BUILT,
    MSG_MEASURE,
    MSG_MEASURED,
    MSG_TOOL,
    MSG_RAN,
    MSG_STARTED,
    MSG_REFUSE,
    MSG_WANT,
    MSG_FETCH,
    MSG_ARTIFACT,
    MSG_MISSING,
    MSG_ACK,
    MSG_CANCEL,
    MSG_BEAT,
    MSG_STOP,
    MSG_BYE,
    MSG_TYPES,
};

struct msg {
    enum msg_type type;
    int64_t epoch; /* of the coordinator's run; UTC ns at its start */
    union {
        union {                           /* msg_result.h */
            struct msg_measured measured; /* the largest, and first: { 0 }
                                             clears the whole union */
            struct msg_built built;
            struct msg_ran ran;
            struct msg_ack ack;
        };
        union { /* msg_work.h */
            struct msg_build build;
            struct msg_measure measure;
            struct msg_tool tool;
            struct msg_started started;
            struct msg_refuse refuse;
            struct msg_cancel cancel;
        };
        union { /* msg_host.h */
            struct msg_hello hello;
            struct msg_invite invite;
            struct msg_welcome welcome;
            struct msg_gpu gpu;
            struct msg_ready ready;
            struct msg_trouble trouble;
            struct msg_beat beat;
            struct msg_stop stop;
            struct msg_bye bye;
        };
        union { /* msg_file.h */
            struct msg_bundle bundle;
            struct msg_want want;
            struct msg_fetch fetch;
            struct msg_artifact artifact;
            struct msg_missing missing;
        };
    };
    size_t bytes; /* of the frame that was decoded */
    void **owned; /* decoded memory; private to msg.c */
    size_t n_owned;
};

const char *msg_type_name(enum msg_type type);
/* What a worker keeps in its journal until it is acknowledged. */
bool msg_is_result(enum msg_type type);

/* Append the encoding of 'msg' to 'out'.  ERR_INPUT naming "TYPE.field" when
 * msg_decode() would not take it: over its ceiling (the caller must cut texts
 * first) or out of range.  A text that is NULL is "". */
int msg_encode(const struct msg *msg, struct buf *out, struct err *err);

/* Decode one frame.  ERR_PROTO leaves '*out' empty. */
int msg_decode(const void *bytes, size_t len, struct msg *out, struct err *err);
void msg_fini(struct msg *msg);

#endif
