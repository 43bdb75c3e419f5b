/* gpu.h - one GPU and the fa-runner process that holds it
 *
 *   STARTING --facts--> IDLE --measure--> BUSY --reply--> IDLE
 *   STARTING --facts, from fa-facts--> KNOWN --fa-runner is built--> STARTING
 *      ^                 runner replaced: died, hung, poisoned   |
 *      '---------------------------------------------------------'
 *   STARTING --no device, lock held--> TROUBLE
 *   any --SIGKILL does not reap--> TROUBLE (quarantined)
 *
 * A failure in a runner that had measured before may be caused by an earlier
 * kernel, that of a reference too.  So the measurement is repeated in a fresh
 * runner before the failure counts.  A GPU is locked with flock() by its UUID
 * across all workers of the machine, except for "cpu" and "replay" devices.
 * fa-runner sees only the files of its request (runner_dir.h, sandbox.h).
 * Poll-driven (child.h).
 */
#ifndef FA_WORKER_GPU_GPU_H
#define FA_WORKER_GPU_GPU_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/outcome.h"
#include "worker/runner/wire/wire_reply.h"

struct gpu;
struct sandbox;

#define GPU_LIMIT_NS (120 * INT64_C(1000000000)) /* default */

enum {
    GPU_UUID_BYTES = 80
};

struct gpu_spec {
    const char *device;            /* cuda cpu replay */
    const char *gpu;               /* index or UUID, as CUDA numbers them */
    const char *runner;            /* path of fa-runner, or of fa-facts */
    bool facts_only;               /* it is fa-facts; gpu_use() follows */
    const char *dir;               /* the worker's folder */
    const char *home;              /* the work folder, which names what is no
                                    * GPU; NULL: 'dir' */
    const struct sandbox *sandbox; /* of the worker; NULL: none.  Outlives the
                                    * GPU */
    size_t spares;                 /* runners that wait open (gpu_spares.h) */
};

enum gpu_state {
    GPU_STARTING,
    GPU_KNOWN, /* has facts, and cannot measure yet */
    GPU_IDLE,
    GPU_BUSY,
    GPU_TROUBLE, /* permanent; gpu_trouble() says why */
};

/* A request as in MEASURE (docs/protocol.md), and the paths that it lacks. */
struct gpu_job {
    int64_t lease;
    const char *request;
    const char *artifact;
    const char *reference;
    const char *inputs; /* of struct request_paths */
    int64_t limit_ns;   /* 0: GPU_LIMIT_NS */
    bool fresh;         /* by a runner that has measured nothing yet */
};

/* 'outcome': correct constraints runtime correctness timeout crash. */
struct gpu_result {
    int64_t lease;
    enum outcome outcome;
    char detail[WIRE_TEXT_MAX];
    double seconds;          /* time on this GPU, repeats included */
    bool repeated;           /* it was measured again in a fresh runner */
    bool reference;          /* a crash: the reference is of no use */
    struct wire_result wire; /* zero samples, NaN and -1 where not known */
};

int gpu_open(const struct gpu_spec *spec, int64_t now_ns, struct gpu **out,
             struct err *err);
void gpu_close(struct gpu *gpu); /* kills; NULL is fine */
/* fa-runner is built: measure with it. */
void gpu_use(struct gpu *gpu, const char *runner, int64_t now_ns);

size_t gpu_poll(const struct gpu *gpu, struct pollfd *fds, size_t max);
int64_t gpu_deadline_ns(const struct gpu *gpu);
enum gpu_state gpu_step(struct gpu *gpu, int64_t now_ns);

enum gpu_state gpu_state(const struct gpu *gpu);
const char *gpu_trouble(const struct gpu *gpu);
/* Its number, as in the hosts file; "" while it is not locked, as emulated ones
 * never are. */
const char *gpu_index(const struct gpu *gpu);
bool gpu_is_taken(const struct gpu *gpu); /* by another worker */
/* Available after it was KNOWN or IDLE: its UUID ("CPU-...", "REPLAY-...") and
 * its facts. */
const char *gpu_uuid(const struct gpu *gpu);
const char *gpu_fact(const struct gpu *gpu, const char *name); /* "" if none */
const struct wire_fact *gpu_facts(const struct gpu *gpu, size_t *n);

/* Only in state IDLE. ERR_PROTO if the request is malformed. */
int gpu_measure(struct gpu *gpu, const struct gpu_job *job, int64_t now_ns,
                struct err *err);
/* Cancel the current measurement; no result follows. */
void gpu_cancel(struct gpu *gpu, int64_t now_ns);
/* The GPU is held by a tool that cannot be killed. */
void gpu_quarantine(struct gpu *gpu, const char *why, int64_t now_ns);
/* The result since the last call, if there is one. */
bool gpu_next_result(struct gpu *gpu, struct gpu_result *out);

#endif
