/* msg_work.h - the messages by which work is leased (docs/protocol.md)
 *
 * Plain structs, parts of struct msg (msg.h says who owns what they point to).
 */
#ifndef FA_COMMON_MSG_WORK_H
#define FA_COMMON_MSG_WORK_H

#include <stdint.h>

#include "common/msg_values.h"

struct msg;

#define MSG_COMMAND_MAX 64   /* arguments, the program included */
#define MSG_ASK_MAX 4000     /* bytes; a pipe takes them with one write */
#define MSG_ARGUMENTS_MAX 64 /* of a kernel */

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

/* What leases and results begin with. */
struct msg_work {
    int64_t lease; /* the coordinator's number for a piece of work in flight */
    struct msg_identity id;
    const char *key; /* of the build; of a measurement, what it is for */
};

/* What is launched on a GPU.  For a tool each text but 'gpu' may be "". */
struct msg_launch {
    const char *gpu; /* UUID */
    const char *artifact;
    const char *reference;
    const char *request; /* lines of worker/runner/wire/wire.h */
    struct texts inputs; /* hashes of files that the request names; optional */
    int64_t limit_ms;
};

struct msg_build {
    struct msg_work work;
    const char *bundle;
    const char *source;
    const char *header; /* text of the generated header */
    const char *entry;
    const char *standard;
    struct texts flags;
    const char *arch; /* sm_89; cpu */
    int64_t limit_ms;
    struct texts arguments; /* of the kernel: "NAME BYTES"; optional */
};

struct msg_measure {
    struct msg_work work;
    struct msg_launch launch;
    int64_t fresh; /* 1: by a new runner process */
};

struct msg_tool {
    struct msg_work work;
    struct msg_launch launch;
    const char *bundle;   /* "": none */
    struct texts command; /* the program, then its arguments */
    const char *ask; /* a line on its stdin; it stays for others.  optional */
};

struct msg_started {
    int64_t lease;
};

struct msg_refuse {
    int64_t lease;
    const char *text;
};

struct msg_cancel {
    int64_t lease;        /* 0: none */
    struct texts running; /* identities of work of earlier runs */
};

/* What a BUILD, MEASURE, TOOL, BUILT, MEASURED or RAN is about; NULL of any
 * other message.  msg_work_of() is the same, to write. */
const struct msg_work *msg_work(const struct msg *msg);
struct msg_work *msg_work_of(struct msg *msg);

/* Of a MEASURE or a TOOL; NULL of any other message. */
const struct msg_launch *msg_launch(const struct msg *msg);

/* "sweep/config/shape/purpose/round/stage/attempt". */
#define MSG_IDENTITY_BYTES 256
void msg_identity_text(const struct msg_identity *id,
                       char out[MSG_IDENTITY_BYTES]);

#endif
