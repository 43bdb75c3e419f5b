/* build.h - one configuration from source to artifact
 *
 * Sources, the generated header and all files of the compiler are in a private
 * folder DIR/tmp/build-XXXXXX, which is removed with the build.  nvcc passes
 * its arguments to a shell.  So text from outside is an argument only if every
 * byte of it is known to be harmless; all other text is passed in files.
 * Poll-driven (child.h).
 */
#ifndef FA_WORKER_BUILD_BUILD_H
#define FA_WORKER_BUILD_BUILD_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/msg_result.h"
#include "common/msg_values.h"
#include "common/outcome.h"
#include "worker/store/cache.h"

struct build;
struct sandbox;

#define BUILD_LIMIT_NS (300 * INT64_C(1000000000)) /* default */
#define BUILD_LOG_MAX MSG_LOG_MAX

/* Shared by all builds of a worker; outlives them. */
struct build_tools {
    struct cache *cache;
    const char *compiler;          /* path */
    const char *toolkit;           /* its name and version */
    const struct sandbox *sandbox; /* of the worker; NULL: none */
    /* The hash of what build_start_header() made, once it is in the cache; NULL
     * or "": builds for the cpu device read the header's text. */
    const char *header;
};

/* Borrowed by build_start() during the call, which stages what it needs. */
struct build_job {
    const char *key; /* 32 hex digits */
    struct texts names;
    struct blobs contents;
    const char *source; /* one of names */
    const char *header; /* text, included before the source */
    const char *entry;
    const char *standard; /* "c++17" */
    struct texts flags;
    const char *arch;       /* "sm_89", "cpu" */
    struct texts arguments; /* "NAME BYTES" each; none: not checked */
    int64_t limit_ns;       /* 0: BUILD_LIMIT_NS */
};

/* 'outcome' is one of: built, compile, timeout, crash (a fault of the machine,
 * not of the source). */
struct build_result {
    enum outcome outcome;
    char *detail; /* the first error; "" when built */
    char *log;    /* output of the compiler, the first error first */
    bool cached;
    bool unfit; /* compile: it is not the kernel that the sweep file has */
    double seconds;
    struct cache_build made; /* if built */
};

void build_result_fini(struct build_result *result);

/* Always returns a build, which may have ended already (cached, refused). */
struct build *build_start(const struct build_tools *tools,
                          const struct build_job *job, int64_t now_ns);
/* Build fa-runner for 'device' from the embedded sources; the artifact is an
 * executable. */
struct build *build_start_runner(const struct build_tools *tools,
                                 const char *device, int64_t now_ns);
/* Build fa-facts, which knows the facts of a GPU and is built sooner
 * (worker/runner/cuda/facts_device.c). */
struct build *build_start_facts(const struct build_tools *tools,
                                int64_t now_ns);
/* Compile the header that kernels for the cpu device begin with; only where
 * compiler_has_header(). */
struct build *build_start_header(const struct build_tools *tools,
                                 int64_t now_ns);
void build_free(struct build *build); /* kills; NULL is fine */

size_t build_poll(const struct build *build, struct pollfd *fds, size_t max);
int64_t build_deadline_ns(const struct build *build);
bool build_step(struct build *build, int64_t now_ns); /* true: ended */
void build_kill(struct build *build, int64_t now_ns); /* it has not ended yet */
/* After it has ended: move the result to the caller, who calls fini. */
void build_take_result(struct build *build, struct build_result *out);

#endif
