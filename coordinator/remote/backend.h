/* backend.h - what a way to reach a machine provides
 *
 * Private to remote.c, stream.c and the backends: ssh.c (libssh2) and
 * backend_process.c (the system's ssh, and no SSH).
 */
#ifndef FA_COORDINATOR_REMOTE_BACKEND_H
#define FA_COORDINATOR_REMOTE_BACKEND_H

#include "common/buf.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/process/stderr_tail.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/route.h"
#include "coordinator/remote/ssh_lacks.h"
#include "coordinator/remote/stream.h"

#define REMOTE_IDENTITY_BYTES 192
#define REMOTE_SAID_LINES 3 /* lines of stderr in an error text */

struct remote_ops {
    int (*start)(struct remote *remote, const char *command,
                 struct stream **out, struct err *err);
    void (*close)(struct remote *remote);
};

/* Every backend's struct begins with this. */
struct remote {
    const struct remote_ops *ops;
    const struct host *host; /* borrowed */
    struct route *route;     /* owned; NULL if it is no longer needed */
    struct buf remarks;
    char identity[REMOTE_IDENTITY_BYTES]; /* "" if it is not known */
    bool streaming;
};

struct stream_ops {
    int (*read)(struct stream *stream, void *bytes, size_t cap, size_t *n,
                struct err *err);
    int (*write)(struct stream *stream, const void *bytes, size_t len,
                 size_t *n, struct err *err);
    int (*shut)(struct stream *stream, struct err *err);
    bool (*poll)(struct stream *stream, bool want_read, bool want_write,
                 struct pollfd fds[STREAM_FDS]);
    int (*wait)(struct stream *stream, int64_t deadline_ns, int *status,
                struct err *err);
    void (*close)(struct stream *stream);
};

struct stream {
    const struct stream_ops *ops;
    struct remote *remote;
    struct stderr_tail errors; /* of stderr */
};

/* Fill in '*out'.  openssh_open() takes the route if it succeeds; the other one
 * needs it only until it returns.  If it fails, 'lacks' is what libssh2 would
 * have to do (ssh_lacks.h), or "" if the failure has another reason. */
int ssh_open(const struct route *route, char lacks[SSH_LACKS_BYTES],
             struct remote **out, struct err *err);
int openssh_open(struct route **route, struct remote **out, struct err *err);
int local_open(const struct host *host, struct remote **out, struct err *err);

#endif
