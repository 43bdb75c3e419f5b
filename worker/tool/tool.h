/* tool.h - runs a command of the sweep's user
 *
 * The command is an external baseline or a profiler: a program and its
 * arguments, without a shell, contained like a kernel (child.h). It runs in a
 * private folder DIR/tmp/build-XXXXXX/src with the files that were sent along;
 * the folder is removed afterwards.  It sees only its GPU, and of the home and
 * work folders only its own, fa-runner and the files of its request.  It has
 * network: it may be a client of something.  It is killed at its
 * time limit, and when it writes more than TOOL_OUTPUT_MAX. Poll-driven
 * (child.h).
 */
#ifndef FA_WORKER_TOOL_TOOL_H
#define FA_WORKER_TOOL_TOOL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/msg_result.h"
#include "common/msg_values.h"
#include "common/outcome.h"
#include "worker/runner/wire/wire_request.h"

struct sandbox;
struct tool;

#define TOOL_LIMIT_NS (300 * INT64_C(1000000000)) /* default */
#define TOOL_OUTPUT_MAX MSG_OUTPUT_MAX            /* of stdout; more kills it */
#define TOOL_NOISE_MAX (16 << 20)                 /* of stderr, likewise */
/* Address space limit on a device without a driver; a driver reserves far
 * more. */
#define TOOL_MEMORY_BYTES (UINT64_C(16) << 30)
/* An argument that is replaced by the path of fa-runner. */
#define TOOL_RUNNER "{runner}"

/* Shared by all tools of a worker; outlives them. */
struct tool_box {
    const char *dir;      /* the work folder */
    const char *device;   /* cuda cpu */
    const char *compiler; /* path: programs are also looked for in its folder */
    const char *runner;   /* path of fa-runner */
    const struct sandbox *sandbox; /* of the worker; NULL: none */
};

/* Borrowed by tool_start() during the call. */
struct tool_job {
    const char *gpu;       /* UUID */
    struct texts names;    /* of the files */
    struct blobs contents; /* ... one each */
    struct texts command;  /* a path, or a name to look for in PATH */
    /* A line on its stdin, which it answers with a line; it stays for others.
     * NULL: its stdin is empty or a request, and it ends. */
    const char *ask;
    /* A request on fa-runner's stdin, checked but not timed; NULL: none. */
    const struct wire_request *request;
    int64_t limit_ns; /* of a run; 0: TOOL_LIMIT_NS */
};

/* 'outcome' is one of: ran (exit status 0), missing (no such program on this
 * host), failed, timeout, crash (a fault of the machine, not of the
 * command). */
struct tool_result {
    enum outcome outcome;
    char *detail; /* one line for a person; "" when it ran */
    int status;   /* -1: it did not exit */
    char *output; /* stdout, without NUL bytes */
    char *log;    /* stderr, head and tail, likewise */
    double seconds;
};

void tool_result_fini(struct tool_result *result);

enum tool_state {
    TOOL_RUNS,
    TOOL_WAITS, /* it has answered; its processes are stopped until it is asked
                 * again */
    TOOL_ENDED,
    TOOL_STUCK, /* KILL does not end it: the driver blocks it */
};

/* Always returns a tool, which may have ended already. */
struct tool *tool_start(const struct tool_box *box, const struct tool_job *job,
                        int64_t now_ns);
void tool_free(struct tool *tool); /* kills; NULL is fine */
/* Ask one that waits, and was started for the same command and files.  False if
 * it cannot be asked any more: start another one. */
bool tool_ask(struct tool *tool, const struct tool_job *job, int64_t now_ns);

size_t tool_poll(const struct tool *tool, struct pollfd *fds, size_t max);
int64_t tool_deadline_ns(const struct tool *tool);
enum tool_state tool_step(struct tool *tool, int64_t now_ns);
void tool_kill(struct tool *tool, int64_t now_ns); /* it has not ended yet */
/* After it has answered, has ended or is stuck: move the result to the caller,
 * who calls fini. */
void tool_take_result(struct tool *tool, struct tool_result *out);

#endif
