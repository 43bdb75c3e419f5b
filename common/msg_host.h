/* msg_host.h - the messages about a worker and its host (docs/protocol.md)
 *
 * Plain structs, parts of struct msg (msg.h says who owns what they point to).
 */
#ifndef FA_COMMON_MSG_HOST_H
#define FA_COMMON_MSG_HOST_H

#include <stdint.h>

#include "common/msg_values.h"

struct msg_hello {
    int64_t protocol;
    const char *version;
    const char *host;
    const char *boot_id;
    int64_t pid;
    int64_t cpus;
    struct texts running; /* identities in flight, msg_identity_text() */
    int64_t journal;      /* results on disk that await an ACK */
    int64_t lost; /* results that were damaged on its disk; -1: not known;
                   * optional */
};

/* To a worker that dialled back with the invitation of an earlier run. */
struct msg_invite {
    const char *text; /* invite_write() */
};

struct msg_welcome {
    int64_t protocol;
    const char *sweep;
    const char *device;   /* cuda cpu replay */
    const char *gpus;     /* all none 0,1 */
    const char *nvcc;     /* path of the compiler, "" to search */
    const char *allow;    /* folders shown to programs (sandbox_policy.h) */
    const char *poweroff; /* to run when the linger time is over; "" none */
    int64_t slots;        /* parallel builds; 0 means choose */
    int64_t beat_ms;
    int64_t linger_ms;
};

struct msg_gpu {
    int64_t index;
    const char *uuid;
    const char *name;
    const char *driver;
    struct texts facts; /* "sm_count 132" */
};

struct msg_ready {
    const char *toolkit; /* "nvcc 13.0.88", "g++ 12.2.0" */
    int64_t slots;       /* parallel builds */
    int64_t n_gpus;
    int64_t measure_credit; /* leases a GPU may hold, running one included */
    const char *warning;    /* what programs reach that they should not */
    const char *waits;      /* whose the GPUs are that it waits for */
};

struct msg_trouble {
    const char *what; /* toolkit runner device lock limits */
    const char *text;
};

struct msg_beat {
    int64_t journal; /* as in HELLO; the coordinator's is 0 */
};

struct msg_stop {
    const char *what; /* now next drain */
    const char *text; /* why; optional */
};

struct msg_bye {
    const char *text;
    int64_t journal; /* as in HELLO */
};

#endif
