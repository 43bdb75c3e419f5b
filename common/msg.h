/* msg.h - what fa-coord and fa-worker say to each other (docs/protocol.md)
 *
 * One message is one MessagePack map in one ZeroMQ frame.  Both programs
 * encode and decode from the same field table (msg.c): unknown fields are
 * ignored, a missing or ill-typed one is ERR_PROTO naming "TYPE.field", and
 * every length, count and number has a ceiling there.
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

#define MSG_PROTOCOL 1            /* the only version spoken */
#define MSG_BYTES_MAX (2 << 20)   /* ZMQ_MAXMSGSIZE on both sides */
#define MSG_DETAIL_MAX 4096       /* bytes of a reason, or of another text */
#define MSG_LOG_MAX (64 << 10)    /* compiler output, head and tail */
#define MSG_CHUNK_MAX (256 << 10) /* artifact bytes in one ARTIFACT */
/* Standard output of a command; ncu's table of one launch is 160 KiB. */
#define MSG_OUTPUT_MAX (512 << 10)
#define MSG_COMMAND_MAX 64 /* its arguments, the program included */
#define MSG_SAMPLES_MAX 4096
#define MSG_FILES_MAX 256

enum msg_type {
    MSG_HELLO,
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

struct bytes {
    const void *data;
    size_t len;
};

struct texts {
    const char *const *items;
    size_t n;
};

struct blobs {
    const struct bytes *items;
    size_t n;
};

struct reals {
    const double *items;
    size_t n;
};

/* Which piece of work a lease or a result is about.
 * 'config' is a configuration's key, or a build key's for a reference. */
struct msg_identity {
    const char *sweep;
    const char *config;
    const char *shape;   /* "" for a build */
    const char *purpose; /* screen canary confirm; kernel reference; external
                            profile */
    const char *stage;   /* build measure tool */
    int64_t round;
    int64_t attempt;
};

/* One struct for all messages: a message uses the fields its table names
 * (docs/protocol.md), the others stay zero or NULL. */
struct msg {
    enum msg_type type;
    int64_t epoch; /* of the coordinator's run; UTC ns at its start */

    int64_t lease; /* the coordinator's number for a piece of work in flight */
    struct msg_identity id;
    const char *nonce; /* 32 hex digits, one a result, made by the worker */

    /* HELLO, WELCOME, GPU, READY */
    int64_t protocol;
    const char *version;
    const char *host;
    const char *boot_id;
    int64_t pid;
    int64_t cpus;
    struct texts running; /* identities in flight, msg_identity_text() */
    int64_t journal;      /* results on disk that await an ACK */
    const char *device;   /* cuda cpu replay */
    const char *gpus;     /* all none 0,1 */
    const char *nvcc;     /* path of the compiler, "" to search */
    int64_t slots;        /* parallel builds; in WELCOME 0 means choose */
    int64_t beat_ms;
    int64_t linger_ms;
    const char *gpu; /* UUID */
    int64_t index;
    const char *name;
    const char *driver;
    struct texts facts;  /* "sm_count 132" */
    const char *toolkit; /* "nvcc 13.0.88", "g++ 12.2.0" */
    int64_t n_gpus;
    int64_t measure_credit; /* leases a GPU may hold, running one included */

    /* BUNDLE, BUILD, BUILT */
    const char *hash;
    struct texts names;
    struct blobs contents;
    const char *key; /* build key; of a measurement, what its result is for */
    const char *bundle;
    const char *source;
    const char *header; /* text of the generated header */
    const char *entry;
    const char *standard;
    struct texts flags;
    const char *arch; /* sm_89; cpu */
    int64_t limit_ms;
    const char *outcome;
    const char *detail;
    const char *artifact;
    int64_t artifact_bytes;
    const char *log;
    double seconds; /* of the slot or GPU, as the worker saw it */
    int64_t cached;
    int64_t registers;
    int64_t spill_bytes;
    int64_t static_smem;

    /* MEASURE, MEASURED */
    const char *reference;
    const char *request; /* lines of worker/runner/wire/wire.h */
    int64_t fresh;       /* 1: by a new runner process */
    const char *argument;
    double relative_l2;
    double max_error;
    int64_t max_at;
    struct reals samples;  /* seconds */
    const char *sampling;  /* none fixed settled loser unstable */
    struct reals rejected; /* samples that do not count, seconds */
    const char *l2;        /* none warm flush, or "rotate COPIES" */
    int64_t blocked;       /* 1: each batch was queued before it began */
    struct reals clock_mhz;
    struct reals temp_c;
    struct reals power_w;
    struct reals throttle;
    double held_s;

    /* TOOL, RAN */
    struct texts command; /* the program, then its arguments */
    int64_t status;       /* it exited with, -1 when it did not exit */
    const char *output;

    /* ARTIFACT, ACK, the rest */
    int64_t offset;
    int64_t total;
    struct bytes chunk;
    struct texts nonces;
    const char *what;
    const char *text;

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

/* "sweep/config/shape/purpose/round/stage/attempt", and back. */
#define MSG_IDENTITY_BYTES 256
void msg_identity_text(const struct msg_identity *id,
                       char out[MSG_IDENTITY_BYTES]);

#endif
